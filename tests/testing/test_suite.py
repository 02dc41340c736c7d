"""The kit under pytest, as the author of a backend runs it: by name, without any code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from refclust.testing import pytest_plugin, suite
from tests.backends.plugins import GOOD, installed

pytestmark = pytest.mark.long  # by `pytest -m long`

WRONG = GOOD.replace(
    'return KERNELS["contingency.table"].reference(data)',
    "return {cell: 1 for cell in KERNELS['contingency.table'].reference(data)}",
)


def run(*arguments: str, backend: str | None = None, folder: Path) -> tuple[int, str]:
    """Run pytest as a user does; the entry point is there whether refclust is installed or not."""
    info = folder / "options-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: options\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[pytest11]\nrefclust = refclust.testing.pytest_plugin\n"
    )
    environment = {name: value for name, value in os.environ.items() if "REFCLUST" not in name}
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), *sys.path])
    if backend is not None:
        environment["REFCLUST_BACKEND"] = backend
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "--pyargs", "refclust.testing.suite", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


class Asked:
    """Stands for what pytest hands to a module that makes tests."""

    def __init__(self, **options: Any) -> None:
        self.config = SimpleNamespace(option=SimpleNamespace(**options))
        self.cases: list[tuple[str, str, str]] = []
        self.ids: list[str] = []

    def parametrize(self, names: Any, cases: Any, ids: Any) -> None:
        assert names == ("backend", "check", "kernel")
        self.cases, self.ids = cases, ids


@pytest.mark.spec("BK-KIT")
def test_a_backend_that_is_wrong(tmp_path: Path) -> None:
    with installed(tmp_path, wrong_plugin=WRONG):
        code, told = run("--refclust-backend=quick", "--refclust-quick", folder=tmp_path)
    assert code == 1
    assert "contingency.table on labels: at (" in told
    assert ": 1 instead of " in told
    assert "test_backend_keeps_its_contracts[labels-contingency.table]" in told


def test_nobody_is_named(tmp_path: Path) -> None:
    code, told = run(folder=tmp_path)
    assert code == 1
    assert "name a backend: pytest --pyargs refclust.testing.suite" in told


def test_the_environment_names_one(tmp_path: Path) -> None:
    with installed(tmp_path, good_plugin=GOOD):
        code, told = run(
            "--refclust-quick", "-k", "labels or protocol", backend="quick", folder=tmp_path
        )
    assert code == 0
    assert "10 passed" in told


def test_one_test_for_each_check_and_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REFCLUST_BACKEND", raising=False)
    asked = Asked(refclust_backend="loopback", refclust_quick=True)
    suite.pytest_generate_tests(asked)
    assert len(set(asked.ids)) == len(asked.cases) > 200
    assert ("loopback", "ties", "kmeans.assign") in asked.cases
    assert ("loopback", "protocol", "(backend)") in asked.cases
    assert not [case for case in asked.cases if case[1] in ("threads", "large")]
    for case in asked.cases[:30]:
        suite.test_backend_keeps_its_contracts(*case)


def test_a_backend_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REFCLUST_BACKEND", raising=False)
    asked = Asked(refclust_backend="nobody", refclust_quick=True)
    suite.pytest_generate_tests(asked)
    assert asked.cases == [("nobody", "protocol", "(backend)")]
    with pytest.raises(AssertionError, match="unknown-backend"):
        suite.test_backend_keeps_its_contracts(*asked.cases[0])


def test_without_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REFCLUST_BACKEND", raising=False)
    asked = Asked()
    suite.pytest_generate_tests(asked)
    assert asked.ids == ["protocol-(backend)"]
    with pytest.raises(AssertionError, match="name a backend"):
        suite.test_backend_keeps_its_contracts(*asked.cases[0])


def test_the_options() -> None:
    added: dict[str, dict[str, Any]] = {}

    class Group:
        def addoption(self, name: str, **how: Any) -> None:
            added[name] = how

    pytest_plugin.pytest_addoption(SimpleNamespace(getgroup=lambda *_: Group()))
    assert set(added) == {"--refclust-backend", "--refclust-quick"}
    assert added["--refclust-backend"]["default"] is None
