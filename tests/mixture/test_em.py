"""The EM loop by examples: options at the door, the iterator, stopping, restarts, kinds of data."""

from __future__ import annotations

import math
from array import array
from typing import Any

import pytest

import refclust as fits
from refclust.backends.protocol import Problem
from refclust.backends.session import Session
from refclust.data.accepting.door import dataset
from refclust.errors import BadLabel, BadOption, DegenerateCovariance, RefclustError
from refclust.mixture.bayes.fit import variational_gaussian, variational_multinomial
from refclust.mixture.course.certificate import Certificate, ascent
from refclust.mixture.families.counts.parameters import CountParameters
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from tests.mixture.tools import (
    FITS,
    beliefs,
    bernoulli,
    check_numbers,
    gaussian,
    multinomial,
    told,
    word_beliefs,
)

POINTS = [[0.0, 1.0], [1.0, 0.5], [9.0, 2.0], [10.0, 3.5], [4.0, 4.0], [8.0, 1.0], [2.0, 2.0]]
WORDS = [[4, 0, 1], [5, 1, 0], [0, 3, 3], [1, 1, 1], [0, 4, 2]]
BITS = [[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 0]]
DATA: dict[str, Any] = {"gaussian": POINTS, "multinomial": WORDS, "bernoulli": BITS}
HUGE = 10**400
NAN = float("nan")

WRONG: dict[str, list[Any]] = {
    "restarts": [None, 0, -1, 1.5, "x", {}, [], NAN, True, object()],
    "limit": [-1, 1.5, "x", [], NAN, True],
    "tolerance": [-1e-9, NAN, math.inf, "x", [], HUGE, True],
    "seed": [-1, 1.5, "x", None, [], True],
    "top": [1, -1, "x", 1.5, []],
    "samples": [0, 2, "x", 1.5, -1],
    "damping": [0.5, 0, -1, "x", NAN, HUGE],
    "variation": ["EM", "", None, 5, [], {}],
    "start": ["given", "labels", "k-means", None, 5, []],
    "collapse": ["stop", None, 5, []],
    "trace": ["full", None, 5, True],
    "labels": [[None, 1, 1, 1, 1, 1, 1]],
    "parameters": [5, "x", [], {}, {"weights": 5}, {"weights": [1.0]}, object()],
    "limt": [5],
}


@pytest.mark.spec("EM-INIT", "ERROR-DOOR")
@pytest.mark.parametrize("labels", [5, 1.5, [[0]] * 7])
def test_labels_to_start_from_are_labels(labels: Any) -> None:
    with pytest.raises(BadLabel) as caught:
        gaussian(POINTS, None, labels=labels)
    assert "\n" not in str(caught.value)


@pytest.mark.spec("EM-ALG", "EM-STOP", "EM-INIT")
@pytest.mark.parametrize("option", WRONG)
def test_options_are_checked_at_the_door(option: str) -> None:
    for value in WRONG[option]:
        with pytest.raises(BadOption) as caught:
            gaussian(POINTS, None if option in ("labels", "parameters") else 2, **{option: value})
        assert caught.value.code == "bad-option"
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("k", [None, "2", 2.0, True, [], NAN])
def test_the_number_of_components_is_a_whole_number(k: Any) -> None:
    with pytest.raises(BadOption):
        gaussian(POINTS, k)


@pytest.mark.spec("EM-ALG")
@pytest.mark.parametrize("k", [0, -1, 8, HUGE])
def test_there_are_as_many_components_as_rows_at_most(k: int) -> None:
    with pytest.raises(RefclustError) as caught:
        gaussian(POINTS, k)
    assert caught.value.code == "k-out-of-range"


@pytest.mark.parametrize(
    ("function", "options", "code"),
    [
        (gaussian, {"floor": -1.0}, "bad-option"),
        (gaussian, {"floor": HUGE}, "bad-option"),
        (gaussian, {"floor": "x"}, "bad-option"),
        (gaussian, {"floor": math.inf}, "bad-option"),
        (gaussian, {"covariance": "XYZ"}, "bad-option"),
        (gaussian, {"covariance": []}, "bad-option"),
        (gaussian, {"covariance": None}, "bad-option"),
        (gaussian, {"covariance": "EVE", "variation": "generalized"}, "bad-option"),
        (gaussian, {"weights": [1.0]}, "label-length-mismatch"),
        (gaussian, {"weights": [0.0] * 7}, "bad-weight"),
        (gaussian, {"weights": [-1.0] + [1.0] * 6}, "bad-weight"),
        (gaussian, {"weights": [1e308] * 7}, "not-finite"),
        (gaussian, {"labels": [0, 1]}, "label-length-mismatch"),
        (gaussian, {"labels": [NAN, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0]}, "nan-label"),
        (gaussian, {"labels": [0, 1, 1, 1, 0, 0, 1], "parameters": {}}, "bad-option"),
        (gaussian, {"labels": [0, 1, 2, 1, 0, 0, 1]}, "bad-option"),
        (gaussian, {"variation": "top", "top": 3}, "bad-option"),
        (gaussian, {"variation": "top"}, "bad-option"),
        (gaussian, {"variation": "monte-carlo", "samples": 0}, "bad-option"),
        (gaussian, {"variation": "generalized", "damping": 1.5}, "bad-option"),
        (gaussian, {"labels": [0, 1, 1, 1, 0, 0, 1], "restarts": 2}, "bad-option"),
        (gaussian, {"backend": "nope"}, "unknown-backend"),
        (multinomial, {"m": -1.0}, "bad-option"),
        (multinomial, {"m": HUGE}, "bad-option"),
        (multinomial, {"m": "x"}, "bad-option"),
        (multinomial, {"p": 5}, "bad-option"),
        (multinomial, {"p": ["a", "b", "c"]}, "bad-option"),
        (multinomial, {"p": [NAN, 0.5, 0.5]}, "bad-option"),
        (multinomial, {"p": [0.5, 0.5, 0.5]}, "bad-option"),
        (multinomial, {"p": [-0.5, 1.0, 0.5]}, "bad-option"),
        (multinomial, {"p": []}, "dimension-mismatch"),
        (multinomial, {"p": [0.5, 0.5]}, "dimension-mismatch"),
        (multinomial, {"counts": "some"}, "bad-option"),
        (multinomial, {"counts": None}, "bad-option"),
        (bernoulli, {"m": NAN}, "bad-option"),
        (bernoulli, {"p": [2.0, 0.5, 0.5]}, "bad-option"),
        (beliefs, {"alpha": 0}, "bad-option"),
        (beliefs, {"alpha": HUGE}, "bad-option"),
        (beliefs, {"beta": -1.0}, "bad-option"),
        (beliefs, {"nu": 1.0}, "bad-option"),
        (beliefs, {"nu": "x"}, "bad-option"),
        (word_beliefs, {"alpha": NAN}, "bad-option"),
        (word_beliefs, {"concentration": 0.0}, "bad-option"),
        (word_beliefs, {"concentration": []}, "bad-option"),
    ],
)
def test_what_a_family_refuses(function: Any, options: dict[str, Any], code: str) -> None:
    data = POINTS if function in (gaussian, beliefs) else WORDS
    data = BITS if function is bernoulli else data
    with pytest.raises(RefclustError) as caught:
        function(data, 2, **options)
    found = caught.value.code
    assert found == code or (code in ("bad-weight", "label-length-mismatch", "unknown-backend")), (
        found
    )
    assert "\n" not in str(caught.value)


GOOD = GaussianParameters((0.5, 0.5), ((0.0, 0.0), (9.0, 3.0)), ((1.0, 0.0, 0.0, 1.0),) * 2, "full")
BAD_PARAMETERS: list[tuple[dict[str, Any], str]] = [
    ({"spreads": ((0.0,) * 4,) * 2}, "degenerate-covariance"),
    ({"spreads": ((-1.0, 0.0, 0.0, 1.0),) * 2}, "degenerate-covariance"),
    ({"spreads": ((1.0, 2.0, 2.0, 1.0),) * 2}, "degenerate-covariance"),
    ({"spreads": ((1e-320, 0.0, 0.0, 1e-320),) * 2}, "degenerate-covariance"),
    ({"spreads": ((1.0, 0.5, 0.0, 1.0),) * 2}, "bad-option"),
    ({"spreads": ((math.inf, 0.0, 0.0, 1.0),) * 2}, "not-finite"),
    ({"means": ((NAN, 0.0), (1.0, 1.0))}, "not-finite"),
    ({"means": (("a", 0.0), (1.0, 1.0))}, "bad-option"),
    ({"means": ((0.0,), (1.0,))}, "dimension-mismatch"),
    ({"means": ((0.0, 0.0),)}, "dimension-mismatch"),
    ({"spreads": ((1.0,), (1.0,))}, "dimension-mismatch"),
    ({"weights": (0.5, 0.6)}, "bad-option"),
    ({"weights": (NAN, 0.5)}, "bad-option"),
    ({"weights": (-0.5, 1.5)}, "bad-option"),
    ({"weights": ("a", "b")}, "bad-option"),
    ({"form": "fulll"}, "bad-option"),
    ({"form": "diagonal", "spreads": ((1.0, 1.0),) * 2}, "bad-option"),
]


@pytest.mark.spec("EM-INIT")
@pytest.mark.parametrize(("change", "code"), BAD_PARAMETERS)
def test_given_parameters_must_be_a_mixture(change: dict[str, Any], code: str) -> None:
    parts = {name: getattr(GOOD, name) for name in ("weights", "means", "spreads", "form")}
    with pytest.raises(RefclustError) as caught:
        gaussian(POINTS, parameters=GaussianParameters(**{**parts, **change}))
    assert caught.value.code == code


@pytest.mark.spec("EM-INIT")
def test_given_parameters_may_be_plain_values() -> None:
    plain = {"weights": [1], "means": [[1, 1]], "spreads": [[4, 0, 0, 4]]}
    one = gaussian(POINTS, parameters=plain)
    other = gaussian(
        POINTS,
        parameters=GaussianParameters((1.0,), ((1.0, 1.0),), ((4.0, 0.0, 0.0, 4.0),), "full"),
    )
    assert told(one) == told(other)
    words = {"weights": [0.5, 0.5], "probabilities": [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]}
    assert multinomial(WORDS, parameters=words).converged
    for wrong in ({"weights": "ab", "probabilities": []}, GOOD, {"weights": [1.0]}):
        with pytest.raises(BadOption):
            multinomial(WORDS, parameters=wrong)


# -- the iterator ---------------------------------------------------------------------------------


@pytest.mark.spec("EM-ALG", "EM-STOP")
@pytest.mark.parametrize("name", DATA)
def test_passes_are_handed_out_one_by_one(name: str) -> None:
    steps = {
        "gaussian": fits.gaussian_steps,
        "multinomial": fits.multinomial_steps,
        "bernoulli": fits.bernoulli_steps,
    }[name](DATA[name], 2, seed=3, trace="parameters", backend="reference")  # type: ignore[operator]
    seen = list(steps)
    fit = steps.result()
    assert [state.iteration for state in seen] == list(fit.trace)
    assert [state.stopped for state in seen] == [None] * fit.iterations + [fit.stopped]
    assert [told(state.parameters) for state in seen] == [told(i.parameters) for i in fit.trace]
    assert {state.run for state in seen} == {0}
    assert told(steps.result()) == told(fit)
    assert told(fit) == told(FITS[name](DATA[name], 2, seed=3, trace="parameters"))


@pytest.mark.spec("EM-STOP")
@pytest.mark.parametrize("taken", [0, 1, 2, 4])
def test_a_caller_may_stop_anywhere(taken: int) -> None:
    steps = fits.multinomial_steps(WORDS, 2, seed=1, restarts=2, backend="reference", tolerance=0.0)
    for _ in range(taken):
        next(steps)
    fit = steps.result()
    assert fit.stopped == "caller"
    assert fit.iterations == max(taken - 1, 0)
    assert len(fit.runs) == 1
    whole = multinomial(WORDS, 2, seed=1, restarts=2, tolerance=0.0, limit=fit.iterations)
    assert told(fit.parameters) == told(whole.runs[0].parameters)
    assert not fit.converged
    assert list(steps) == []


@pytest.mark.spec("EM-STOP", "EM-ALG")
def test_a_limit_of_zero_is_the_start() -> None:
    fit = multinomial([[4, 0], [5, 1], [0, 3]], labels=["a", "a", "b"], limit=0)
    assert fit.parameters.weights == (2 / 3, 1 / 3)
    assert tuple(fit.parameters.probabilities) == ((0.9, 0.1), (0.0, 1.0))
    assert (fit.iterations, fit.stopped, len(fit.trace)) == (0, "limit", 1)
    due = [
        4 * math.log(0.9) + math.log(2 / 3),
        5 * math.log(0.9) + math.log(0.1) + math.log(2 / 3),
        math.log(2 / 3 * 0.1**3 + 1 / 3),
    ]
    assert fit.log_likelihood == pytest.approx(math.fsum(due), abs=1e-14)


@pytest.mark.spec("EM-RESTART")
def test_restarts_keep_the_first_of_equals() -> None:
    fit = gaussian([[0.0], [1.0], [10.0], [11.0]], 2, covariance="EII", restarts=5, seed=2)
    best = max(run.objective for run in fit.runs)
    assert fit.best == [run.objective for run in fit.runs].index(best)
    assert all(run.stopped == "tolerance" for run in fit.runs)


@pytest.mark.spec("EM-RESTART", "GMM-COLLAPSE")
def test_collapsed_runs_are_no_candidates() -> None:
    numbers = (3.0, 3.25, 0.25, 2.0, 4.0, 13.75, 13.0, 12.25, 13.75, 12.75)
    rows = [[x] for x in numbers]
    fit = gaussian(rows, 3, start="random", restarts=8, seed=0, limit=300)
    reasons = [run.stopped for run in fit.runs]
    assert "collapsed" in reasons
    assert fit.stopped != "collapsed"
    good = [run.objective for run in fit.runs if run.stopped != "collapsed"]
    assert fit.objective == max(good)
    lost = next(run for run in fit.runs if run.stopped == "collapsed")
    assert lost.events[-1].done == "ended"
    assert lost.events[-1].iteration == lost.iterations + 1
    with pytest.raises(DegenerateCovariance, match="in all 3 runs; in the first: in iteration"):
        gaussian([[0.0], [0.0], [5.0], [6.0]], 2, restarts=3, start="points", limit=10**4)


@pytest.mark.parametrize("detail", ["none", "scalars", "parameters"])
def test_what_a_trace_holds(detail: str) -> None:
    fit = gaussian(POINTS, 1, trace=detail)
    told_of = [one.parameters is not None for one in fit.trace]
    assert set(told_of) == {detail == "parameters"}
    assert len(fit.digest) == 64
    check_numbers(fit)


@pytest.mark.spec("EM-CONV")
def test_verdicts() -> None:
    assert ascent(1, 0.0, 1.0, 2.0, 0.1).verdict == "rises"
    assert ascent(1, 0.0, -0.05, 0.0, 0.1).verdict == "within rounding"
    assert ascent(1, 0.0, -0.2, 5.0, 0.1).verdict == "falls"
    assert ascent(1, 0.0, 5.0, 4.8, 0.1).verdict == "falls"
    assert ascent(1, 0.0, 0.1, 0.1, 0.1).verdict == "within rounding"
    one = ascent(3, 1.0, 1.5, 2.25, 0.0)
    assert (one.maximisation, one.expectation, one.iteration) == (0.5, 0.75, 3)
    fell = ascent(4, 0.0, -1.0, 0.0, 0.1)
    for promised in (True, False):
        found = Certificate((one, fell), promised)
        assert (found.standing, found.holds) == ("falls", False)
    for ascents, promised, standing, holds in (
        ((one,), True, "holds", True),
        ((one,), False, "not promised", None),
        ((), True, "not watched", None),
        ((), False, "not promised", None),
    ):
        found = Certificate(ascents, promised)
        assert (found.standing, found.holds) == (standing, holds)


@pytest.mark.spec("EM-CONV")
@pytest.mark.parametrize("detail", ["none", "scalars"])
@pytest.mark.parametrize(
    ("variation", "watched"),
    [
        ("em", "holds"),
        ("generalized", "holds"),
        ("hard", "not promised"),
        ("top", "not promised"),
        ("stochastic", "not promised"),
        ("monte-carlo", "not promised"),
    ],
)
def test_a_certificate_says_only_what_somebody_saw(
    detail: str, variation: str, watched: str
) -> None:
    more = {"top": 1} if variation == "top" else {}
    fit = gaussian(POINTS, 2, variation=variation, trace=detail, floor=0.1, limit=3, **more)
    assert fit.iterations > 0
    due = "not watched" if (detail, watched) == ("none", "holds") else watched
    assert fit.monotone.standing == due
    assert fit.monotone.holds is (True if due == "holds" else None)
    assert gaussian(POINTS, 2, limit=0).monotone.standing == "not watched"


@pytest.mark.spec("EM-CONV", "GMM-COLLAPSE")
@pytest.mark.parametrize("policy", ["drop", "reset"])
def test_a_repair_ends_the_promise(policy: str) -> None:
    rows = [[0.0], [0.0], [3.0], [4.0], [5.0], [7.0], [11.0]]
    start = GaussianParameters((0.5, 0.5), ((0.0,), (6.0,)), ((1.0,), (9.0,)), "full")
    fit = gaussian(rows, parameters=start, collapse=policy, limit=400)
    assert fit.runs[0].events
    assert fit.monotone.ascents
    assert fit.monotone.standing == "not promised"


@pytest.mark.spec("EM-CONV", "EM-PRIOR")
@pytest.mark.parametrize(
    ("function", "data", "options"),
    [
        (multinomial, [[3, 1], [1, 2], [0, 3]], {"m": 1e8, "start": "points"}),
        (multinomial, [[1e15, 1], [3, 1e15], [1e15, 1e15]], {}),
        (multinomial, [[1e15, 7, 1], [1e15, 1, 2], [3e15, 5, 0]], {"start": "random"}),
        (bernoulli, [[1], [0], [1], [1], [0]], {"m": 1e8}),
        (bernoulli, [[1, 0], [0, 0], [1, 1], [1, 0], [0, 1]], {"m": 1e12}),
        (gaussian, [[0.0], [1.0], [3.0], [4.5], [9.0]], {"floor": 1e8}),
        (gaussian, [[0.0], [1.0], [3.0], [4.5], [9.0]], {"floor": 1e12, "covariance": "EII"}),
        (beliefs, [[0.0], [1.0], [3.0], [4.5], [9.0]], {"alpha": 1e12}),
        (beliefs, [[0.0, 1.0], [1.0, 0.0], [3.0, 3.0], [4.5, 7.0]], {"nu": 1e10, "beta": 1e12}),
        (word_beliefs, [[3, 1], [1, 2], [0, 3]], {"alpha": 1e12, "concentration": 1e12}),
        (word_beliefs, [[3, 1], [1, 2], [0, 3]], {"concentration": 1e6}),
    ],
)
def test_strong_priors_and_huge_counts_are_no_falls(
    function: Any, data: Any, options: dict[str, Any]
) -> None:
    """The bound on rounding has the terms of the prior in it, however large they are."""
    for seed in range(4):
        fit = function(data, 2, seed=seed, limit=60, tolerance=0.0, **options)
        assert fit.monotone.holds
        check_numbers(fit)


# -- what data may be -----------------------------------------------------------------------------


@pytest.mark.spec("EM-ALG")
@pytest.mark.parametrize("name", DATA)
def test_sparse_rows_are_the_same_rows(name: str) -> None:
    rows = DATA[name]
    sparse = [{j: x for j, x in enumerate(row) if x} for row in rows]
    options: dict[str, Any] = {"m": 0.5} if name != "gaussian" else {"covariance": "VVI"}
    for start in ("kmeans", "random", "points"):
        one = FITS[name](rows, 2, start=start, seed=1, **options)
        data = dataset(sparse, features=range(len(rows[0])))
        other = FITS[name](data, 2, start=start, seed=1, **options)
        # Bounds on rounding know how long rows are, so certificates may differ; fits do not.
        assert told(one.parameters) == told(other.parameters)
        assert (one.objective, one.iterations, one.labels) == (
            other.objective,
            other.iterations,
            other.labels,
        )


@pytest.mark.spec("EM-ALG")
@pytest.mark.parametrize("name", DATA)
def test_singles_names_and_lists_of_weights(name: str) -> None:
    rows = DATA[name]
    weights = [float(1 + i % 3) for i in range(len(rows))]
    options: dict[str, Any] = {"m": 0.5} if name != "gaussian" else {"floor": 0.01}
    base = FITS[name](rows, 2, weights=weights, seed=4, **options)
    flat = array("f", [x for row in rows for x in row])
    singles = memoryview(flat).cast("B").cast("f", [len(rows), len(rows[0])])
    named = dataset(rows, features=[f"word {j}" for j in range(len(rows[0]))])
    for data, masses in (
        (singles, weights),
        (named, tuple(weights)),
        (dataset(rows, weights=weights), None),
        ([tuple(row) for row in rows], array("d", weights)),
        (rows, iter(weights)),
    ):
        found = FITS[name](data, 2, weights=masses, seed=4, **options)
        assert told(found.runs) == told(base.runs)
        assert found.labels == base.labels
    assert FITS[name](named, 2, **options).features == named.features
    assert base.weight == math.fsum(weights)


def test_arrays_and_frames() -> None:
    numpy = pytest.importorskip("numpy")
    base = gaussian(POINTS, 2, floor=0.01)
    for kind in (numpy.float64, numpy.float32):
        assert told(gaussian(numpy.array(POINTS, dtype=kind), 2, floor=0.01).runs) == told(
            base.runs
        )
    column_first = numpy.asfortranarray(numpy.array(POINTS))
    assert told(gaussian(column_first, 2, floor=0.01).runs) == told(base.runs)
    words = multinomial(WORDS, 2, m=1)
    assert told(multinomial(numpy.array(WORDS), 2, m=1).runs) == told(words.runs)
    shares = numpy.array([0.5, 0.25, 0.25])
    assert multinomial(WORDS, 2, m=1, p=shares).settings["p"] == [0.5, 0.25, 0.25]
    scipy = pytest.importorskip("scipy.sparse")
    assert told(multinomial(scipy.csr_matrix(numpy.array(WORDS)), 2, m=1).runs) == told(words.runs)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(POINTS, columns=["a", "b"])
    found = gaussian(frame, 2, floor=0.01)
    assert told(found.runs) == told(base.runs)
    assert found.features == ("a", "b")


@pytest.mark.spec("EM-ALG")
@pytest.mark.parametrize("name", DATA)
def test_backends_agree_within_rounding(name: str) -> None:
    options: dict[str, Any] = {"m": 0.5} if name != "gaussian" else {"floor": 0.01}
    one = FITS[name](DATA[name], 2, seed=1, **options)
    for backend in ("loopback",):
        other = FITS[name](DATA[name], 2, seed=1, backend=backend, **options)
        assert told(other.runs) == told(one.runs)
    session = Session("reference")
    again = FITS[name](DATA[name], 2, seed=1, backend=None, session=session, **options)
    assert told(again.runs) == told(one.runs)


def test_beliefs_take_the_same_options() -> None:
    assert variational_gaussian(POINTS, 2, seed=1, backend="reference").monotone.holds
    assert variational_multinomial(WORDS, 2, seed=1, backend="reference").monotone.holds
    start = CountParameters((0.5, 0.5), ((0.5, 0.25, 0.25),) * 2)
    with pytest.raises(BadOption):
        variational_multinomial(WORDS, 2, parameters=start, backend="reference")


class Interrupted(Session):
    """A session in which somebody presses Ctrl-C during the call of that number."""

    def __init__(self, after: int) -> None:
        super().__init__("reference")
        self.left = after

    def run(self, kernel: str, problem: Problem, data: Any, *args: Any) -> Any:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return super().run(kernel, problem, data, *args)


@pytest.mark.spec("EM-STOP", "EM-ALG")
def test_a_result_after_an_interrupt_is_that_of_the_last_pass() -> None:
    rows = [[0.0], [1.0], [3.0], [8.0], [9.0], [12.0]]
    seen = 0
    for call in range(1, 60):
        passes = 0
        try:
            steps = fits.gaussian_steps(rows, 2, session=Interrupted(call), covariance="EII")
            for _ in steps:
                passes += 1
        except KeyboardInterrupt:
            if passes:
                fit = steps.result()
                seen += 1
                assert fit.stopped == "caller"
                assert fit.iterations == passes - 1
                same = gaussian(rows, 2, covariance="EII", limit=passes - 1, tolerance=None)
                assert told(fit.parameters) == told(same.parameters)
                assert list(steps) == []  # what was ended stays ended
        else:
            break
    assert seen > 3
