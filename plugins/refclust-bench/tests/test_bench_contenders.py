"""Who takes part in the benchmark."""

from __future__ import annotations

import pytest

from refclust.errors import BadOption, UnknownBackend
from refclust_bench import contenders, peers
from refclust_bench.workloads import WORKLOADS


@pytest.fixture
def no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFCLUST_DISABLE_PLUGINS", "1")


@pytest.mark.usefixtures("no_plugins")
def test_without_plugins_the_reference_takes_part_where_it_can() -> None:
    assert contenders.backends(None) == ["reference", "auto"]
    small, large = (WORKLOADS["KM-A"].case("blobs", quick=quick) for quick in (True, False))
    taking_part, left_out = contenders.contenders(small, ["reference", "auto"], [], [1, 2])
    assert [(contender.name, contender.threads) for contender in taking_part] == [
        ("refclust reference", (1,))
    ]
    assert [contender.name for contender in left_out] == ["refclust auto"]
    taking_part, left_out = contenders.contenders(large, ["reference"], [], [1, 2])
    assert taking_part == []
    assert left_out[0].reason == "the pure core would take minutes"
    # Workloads of the pure core run on it, whatever was asked for.
    taking_part, _ = contenders.contenders(
        WORKLOADS["PY-1"].case("blobs", quick=False), [], [], [1]
    )
    assert [contender.name for contender in taking_part] == ["refclust reference"]


@pytest.mark.usefixtures("no_plugins")
def test_backends_are_asked_for_by_name() -> None:
    assert contenders.backends("loopback, auto") == ["loopback", "auto"]
    with pytest.raises(UnknownBackend, match="no backend is called 'gpu'"):
        contenders.backends("gpu")


@pytest.mark.usefixtures("no_plugins")
def test_a_backend_runs_with_every_number_of_threads() -> None:
    case = WORKLOADS["KM-A"].case("blobs", quick=False)
    taking_part, _ = contenders.contenders(case, ["loopback"], [], [1, 8])
    assert [(contender.name, contender.threads) for contender in taking_part] == [
        ("refclust loopback", (1, 8))
    ]
    assert taking_part[0].warm_up == ({"limit": 20, "backend": "loopback"},)


def test_peers_that_are_missing_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(peers.PEERS, "nltk", peers.Peer("nltk", "no_such_module_at_all"))
    monkeypatch.setitem(peers.PEERS, "scipy", peers.Peer("scipy", "json.no.such"))
    assert peers.missing(["nltk"]) == ["nltk is not installed; pip install nltk"]
    assert peers.PEERS["scipy"].version is None
    case = WORKLOADS["PY-1"].case("blobs", quick=True)
    taking_part, left_out = contenders.contenders(case, ["reference"], ["nltk"], [1])
    assert [contender.name for contender in taking_part] == ["refclust reference"]
    assert [(contender.name, contender.reason) for contender in left_out] == [
        ("nltk", "not installed")
    ]
    assert contenders.contenders(case, ["reference"], [], [1])[1] == []


def test_peers_are_asked_for_by_name() -> None:
    assert peers.asked(None) == list(peers.PEERS)
    assert peers.asked("NLTK,") == ["nltk"]
    with pytest.raises(BadOption, match="no peer is called 'weka'; there are: none, scikit-learn"):
        peers.asked("weka")
