"""Finding backends: healthy ones are ready, broken ones are records, and nobody is harmed."""

from __future__ import annotations

from pathlib import Path

import pytest

import refclust
from refclust.backends.plugins import discovery
from refclust.errors import BackendRefused, BadOption, UnknownBackend
from tests.backends.plugins import GOOD, earned, installed


def states() -> dict[str, tuple[str, str]]:
    return {record.name: (record.state, record.reason) for record in discovery.discover()}


def test_the_built_in_backends_are_always_there() -> None:
    first, second = discovery.discover()[:2]
    assert (first.name, first.distribution, first.version, first.state) == (
        "reference",
        "refclust",
        refclust.__version__,
        "ready",
    )
    assert (second.name, second.state) == ("loopback", "ready")


def test_a_plugin_is_found_by_its_entry_point(tmp_path: Path) -> None:
    with installed(tmp_path, goodplugin=GOOD):
        record = discovery.find("quick")
    assert (record.distribution, record.version, record.state) == ("goodplugin", "1.2.3", "ready")


def test_broken_plugins_are_reported_and_harm_nobody(tmp_path: Path) -> None:
    wrong_version = GOOD.replace("api_version = 1", "api_version = 7").replace("quick", "old")
    misspelt = GOOD.replace("refclust_register_backends", "refclust_register_backend")
    with installed(
        tmp_path,
        goodplugin=GOOD,
        importless="import no_such_library",
        misspelt=misspelt,
        raising="raise RuntimeError('out of order')",
        wrongversion=wrong_version,
    ):
        found = states()
        earned("quick")
        assert refclust.rand([0, 0, 1], [0, 1, 1]).provenance.kernels[0].backend == "quick"
        with pytest.raises(BackendRefused, match="No module named 'no_such_library'") as refused:
            discovery.find("importless")
    assert refused.value.exit_code == 4
    assert found["quick"] == ("ready", "")
    assert found["importless"] == (
        "failed",
        "ModuleNotFoundError: No module named 'no_such_library'",
    )
    assert found["raising"] == ("failed", "RuntimeError: out of order")
    assert found["misspelt"][0] == "failed"
    assert "unknown hook 'refclust_register_backend'" in found["misspelt"][1]
    assert found["old"] == (
        "refused",
        "it speaks version 7 of the kernel protocol, this refclust speaks 1",
    )


def test_two_backends_of_one_name_are_refused(tmp_path: Path) -> None:
    with (
        installed(tmp_path, goodplugin=GOOD, otherplugin=GOOD),
        pytest.raises(
            BackendRefused, match=r"offered twice, by goodplugin 1\.2\.3 and otherplugin"
        ),
    ):
        discovery.find("quick")


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownBackend, match="no backend is called 'qick'; installed: auto, ref"):
        discovery.find("qick")


@pytest.mark.parametrize(("value", "present"), [("1", False), ("TRUE", False), ("0", True)])
def test_plugins_can_be_switched_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, present: bool
) -> None:
    with installed(tmp_path, goodplugin=GOOD):
        monkeypatch.setenv("REFCLUST_DISABLE_PLUGINS", value)
        assert ("quick" in states()) is present


def test_the_switch_takes_no_third_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFCLUST_DISABLE_PLUGINS", "maybe")
    with pytest.raises(BadOption, match="REFCLUST_DISABLE_PLUGINS='maybe': use 1 or 0"):
        discovery.discover()
