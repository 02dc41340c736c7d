"""Sessions: the selection rule, one preparation, provenance, and trouble told plainly."""

from __future__ import annotations

from pathlib import Path

import pytest

import refclust
from refclust.backends.protocol import Problem
from refclust.backends.session import Session
from refclust.errors import BackendContract, BackendFailure, BackendRefused, UnknownBackend
from refclust.kernels.contingency import LabelPairs
from tests.backends.plugins import GOOD, earned, installed

DATA = LabelPairs("aab", "xyy")
PROBLEM = Problem("labels", 3)
CELLS = {("a", "x"): 1, ("a", "y"): 1, ("b", "y"): 1}


def test_auto_takes_the_reference_when_nothing_else_is_there() -> None:
    session = Session()
    assert session.run("contingency.table", PROBLEM, DATA) == CELLS
    (run,) = session.provenance().kernels
    assert (run.kernel, run.backend, run.calls) == ("contingency.table", "reference", 1)
    assert session.provenance().requested == "auto"
    assert session.provenance().refclust == refclust.__version__
    assert run.seconds > 0


def test_argument_wins_over_environment_wins_over_auto(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFCLUST_BACKEND", "loopback")
    assert Session().requested == "loopback"
    assert Session("reference").requested == "reference"
    monkeypatch.setenv("REFCLUST_BACKEND", "nosuch")
    with pytest.raises(UnknownBackend, match="nosuch"):
        Session()


def test_auto_takes_the_fastest_that_supports_the_problem(tmp_path: Path) -> None:
    with installed(tmp_path, goodplugin=GOOD):
        earned("quick")
        small, large = Session(), Session()
        assert small.run("contingency.table", PROBLEM, DATA) == CELLS
        assert large.run("contingency.table", Problem("labels", 2000), DATA) == CELLS
    assert small.provenance().kernels[0].backend == "quick"
    assert small.provenance().kernels[0].distribution == "goodplugin"
    assert large.provenance().kernels[0].backend == "reference"


def test_auto_takes_no_backend_that_is_only_bounded(tmp_path: Path) -> None:
    with installed(tmp_path, loose=GOOD.replace('"exact"', '"bounded"')):
        session = Session()
        session.run("contingency.table", PROBLEM, DATA)
    assert session.provenance().kernels[0].backend == "reference"


def test_auto_passes_over_a_backend_that_fails_when_asked(tmp_path: Path) -> None:
    broken = GOOD.replace('return {"contingency.table": self.table}', "raise ImportError('numpy')")
    with installed(tmp_path, broken=broken):
        session = Session()
        assert session.run("contingency.table", PROBLEM, DATA) == CELLS
    assert session.provenance().kernels[0].backend == "reference"


def test_a_named_backend_falls_back_kernel_by_kernel_and_says_so(tmp_path: Path) -> None:
    with installed(tmp_path, goodplugin=GOOD):
        score = refclust.ami([0, 0, 1, 1], [0, 1, 1, 1], backend="quick")
        declined = Session("quick")
        declined.run("contingency.table", Problem("labels", 5000), DATA)
    runs = {run.kernel: run for run in score.provenance.kernels}
    assert runs["contingency.table"].backend == "quick"
    assert runs["contingency.table"].reason == "asked for by name"
    assert runs["information.expected_mi"].backend == "reference"
    assert runs["information.expected_mi"].reason == "quick: it has no such kernel"
    assert declined.provenance().kernels[0].reason == "quick: too many"


def test_a_named_backend_without_any_kernel_is_refused(tmp_path: Path) -> None:
    empty = GOOD.replace('{"contingency.table": self.table}', "{}")
    with (
        installed(tmp_path, empty=empty),
        pytest.raises(BackendRefused, match="'quick' offers none of the kernels contingency"),
    ):
        Session("quick")


def test_data_are_prepared_once_and_each_kernel_is_bound_once(tmp_path: Path) -> None:
    counting = GOOD.replace(
        "def prepare(self, data):",
        "def prepare(self, data):\n            Quick.prepared = getattr(Quick, 'prepared', 0) + 1",
    )
    with installed(tmp_path, counting=counting):
        session = Session("quick")
        for _ in range(3):
            session.run("contingency.table", PROBLEM, DATA)
        import counting as plugin  # type: ignore[import-not-found]

        assert plugin.Quick.prepared == 1
    assert session.provenance().kernels[0].calls == 3


def test_an_exception_in_a_backend_is_its_failure_never_a_fallback(tmp_path: Path) -> None:
    failing = GOOD.replace(
        'return KERNELS["contingency.table"].reference(data)', "raise KeyError('gone')"
    )
    with (
        installed(tmp_path, failing=failing),
        pytest.raises(BackendFailure) as caught,
    ):
        Session("quick").run("contingency.table", PROBLEM, DATA)
    assert str(caught.value) == (
        "the backend 'quick' (failing 1.2.3) failed in contingency.table: KeyError: 'gone'"
    )
    assert caught.value.exit_code == 4


def test_an_answer_of_the_wrong_kind_breaks_the_contract(tmp_path: Path) -> None:
    leaking = GOOD.replace(
        'return KERNELS["contingency.table"].reference(data)', "return {('a', 'x'): 1.0}"
    )
    with (
        installed(tmp_path, leaking=leaking),
        pytest.raises(BackendContract, match="a float, not a plain int or Fraction"),
    ):
        Session("quick").run("contingency.table", PROBLEM, DATA)


def test_a_bug_in_the_reference_shows_itself() -> None:
    with pytest.raises(AttributeError):
        Session("reference").run("contingency.table", PROBLEM, "no label pairs")


def test_released_data_are_prepared_again() -> None:
    session = Session("reference")
    pairs = LabelPairs("ab", "xy")
    problem = Problem("labels", 2)
    session.run("contingency.table", problem, pairs)
    assert session._prepared
    session.release(LabelPairs("ab", "xy"))  # equal, but not the same object
    assert session._prepared
    session.release(pairs)
    assert not session._prepared
    assert session.run("contingency.table", problem, pairs) == {("a", "x"): 1, ("b", "y"): 1}


FAMILY = """
    import pluggy

    from refclust.backends.builtin import Reference
    from refclust.backends.protocol import Estimate

    class Half:
        name = "half"
        api_version = 1
        accuracy = "exact"

        def kernels(self):
            known = Reference().kernels()
            return {name: known[name] for name in ("kmeans.lloyd_step", "kmeans.means")}

        def supports(self, kernel, problem):
            # Quick in passes over the rows, slow where the reference is quick.
            return Estimate(0.0 if kernel == "kmeans.lloyd_step" else 1e9)

        def prepare(self, data):
            return Reference().prepare(data)

        def export(self, value):
            return value

    @pluggy.HookimplMarker("refclust")
    def refclust_register_backends():
        return [Half()]
"""


@pytest.mark.spec("BK-SELECT")
def test_kernels_of_one_family_stay_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFCLUST_DISABLE_PLUGINS", "0")
    with installed(tmp_path, rc_half=FAMILY):
        earned("half")
        fit = refclust.kmeans([[0.0], [1.0], [9.0]], centres=[[0.0], [9.0]])
    ran = {run.kernel: (run.backend, run.reason) for run in fit.provenance.kernels}
    assert ran["kmeans.lloyd_step"] == ("half", "the fastest that supports the problem")
    assert ran["kmeans.means"] == ("half", "where kmeans.lloyd_step runs")
    # What that backend lacks goes where it is quickest.
    assert ran["kmeans.squares"] == ("reference", "the fastest that supports the problem")
    assert fit.labels.tolist() == [0, 0, 1]


def test_a_backend_that_cannot_tell_its_rungs_has_failed(tmp_path: Path) -> None:
    told_by = "def decided(self, prepared):\n            return {'all': 3}\n\n        def export("
    telling = GOOD.replace("def export(", told_by)
    with installed(tmp_path, goodplugin=telling):
        session = Session("quick")
        session.run("contingency.table", PROBLEM, DATA)
        told = session.provenance().decided
    assert [(one.backend, one.rung, one.rows) for one in told] == [("quick", "all", 3)]
    broken = telling.replace("{'all': 3}", "1 / 0")
    with installed(tmp_path, badplugin=broken.replace('"quick"', '"vague"')):
        session = Session("vague")
        session.run("contingency.table", PROBLEM, DATA)
        with pytest.raises(BackendFailure, match=r"'vague' cannot tell .*ZeroDivisionError"):
            session.provenance()


@pytest.mark.spec("BK-SESSION")
def test_calls_of_a_kind_that_is_declined_go_to_the_reference(tmp_path: Path) -> None:
    picky = GOOD.replace('Refusal("too many") if problem.n > 1000', 'Refusal("no weights") if '
                         '"weights" in problem.traits')  # fmt: skip
    with installed(tmp_path, picky_plugin=picky):
        session = Session("quick")
        weighted = LabelPairs("aab", "xyy", [1, 2, 3])
        assert session.run("contingency.table", PROBLEM, DATA) == CELLS
        assert session.run("contingency.table", PROBLEM, weighted)["b", "y"] == 3
        assert session.run("contingency.table", PROBLEM, DATA) == CELLS
        runs = session.provenance().kernels
    assert [(run.backend, run.calls, run.reason) for run in runs] == [
        ("quick", 2, "asked for by name"),
        ("reference", 1, "quick: no weights"),
    ]
