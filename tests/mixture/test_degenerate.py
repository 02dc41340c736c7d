"""Data and parameters at the edge: singular, tiny, huge, empty; never a NaN, never a traceback."""

from __future__ import annotations

import math
from typing import Any

import pytest

from refclust.errors import DegenerateCovariance, ImpossibleRow, NotFinite, RefclustError
from refclust.mixture.families.counts.parameters import CountParameters
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.mixture.predict import assignments
from refclust.mixture.results import MixtureFit
from tests.mixture.tools import (
    FITS,
    MODELS,
    MONOTONE,
    STARTS,
    beliefs,
    bernoulli,
    check_numbers,
    gaussian,
    multinomial,
    standing,
    word_beliefs,
)

POLICIES = ("end", "drop", "reset")
SPHERICAL = ("EII", "VII")


def tried(name: str, data: Any, k: int, **options: Any) -> MixtureFit[Any] | str:
    """A fit without a NaN in it, or the code of the error."""
    try:
        fit = FITS[name](data, k, **options)
    except RefclustError as error:
        assert "\n" not in str(error)  # noqa: PT017
        return error.code
    check_numbers(fit)
    assert fit.monotone.standing == standing(fit)
    return fit


SINGULAR: dict[str, list[list[float]]] = {
    "one row": [[1.0, 2.0]],
    "two rows": [[1.0, 2.0], [2.0, 1.0]],
    "equal rows": [[1.0, 2.0]] * 5,
    "two places": [[0.0, 0.0]] * 3 + [[1.0, 5.0]] * 3,
    "collinear": [[float(x), 2.0 * x] for x in range(6)],
    "nearly collinear": [[float(x), 2.0 * x + 1e-12 * (x % 2)] for x in range(6)],
    "a constant column": [[float(x), 3.0] for x in range(6)],
    "a nearly constant column": [[float(x), 3.0 + 4e-16 * (x % 2)] for x in range(6)],
    "duplicates": [[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [2.0, 2.0], [3.0, 1.0]],
    "subnormal": [[x * 5e-324, x % 3 * 5e-324] for x in range(6)],
    "tiny": [[x * 1e-160, x % 3 * 1e-160] for x in range(6)],
    "huge": [[x * 1e150, x % 3 * 1e150] for x in range(6)],
    "too large": [[x * 1e200, x % 3 * 1e200] for x in range(6)],
    "largest": [[1.7e308, 0.0], [-1.7e308, 1.0], [1.7e308, 2.0], [0.0, 0.0]],
    "mixed": [[x * 1e-150, x % 3 * 1e150] for x in range(6)],
    "offset": [[1e15 + x, x % 3 - 1e15] for x in range(6)],
}


@pytest.mark.spec("GMM-COLLAPSE", "GMM-FLOOR")
@pytest.mark.parametrize("name", SINGULAR)
def test_singular_points(name: str) -> None:
    rows = SINGULAR[name]
    for model in MODELS:
        for start, policy in zip(STARTS, POLICIES, strict=True):
            for floor in (0.0, 0.1):
                found = tried(
                    "gaussian",
                    rows,
                    min(2, len(rows)),
                    covariance=model,
                    start=start,
                    collapse=policy,
                    floor=floor,
                    limit=15,
                )
                if isinstance(found, str):
                    assert found in ("degenerate-covariance", "k-out-of-range", "not-finite")


@pytest.mark.spec("GMM-COLLAPSE")
def test_a_constant_column_is_named() -> None:
    with pytest.raises(DegenerateCovariance, match="column 1 has the same value in all rows"):
        gaussian(SINGULAR["a constant column"], 2)
    fit = gaussian(SINGULAR["a constant column"], 2, covariance="EII")
    assert fit.converged
    # A row that does not count does not make a column vary.
    rows = [*SINGULAR["a constant column"], [1.0, 99.0]]
    with pytest.raises(DegenerateCovariance, match="column 1"):
        gaussian(rows, 2, weights=[1] * 6 + [0])


@pytest.mark.spec("GMM-COLLAPSE")
@pytest.mark.parametrize("policy", POLICIES)
def test_policies(policy: str) -> None:
    """A component that shrinks onto two equal rows."""
    rows = [[0.0], [0.0], [3.0], [4.0], [5.0], [7.0], [11.0]]
    start = GaussianParameters((0.5, 0.5), ((0.0,), (6.0,)), ((1.0,), (9.0,)), "full")
    if policy == "end":
        with pytest.raises(DegenerateCovariance) as caught:
            gaussian(rows, parameters=start, collapse=policy)
        for told in ("iteration", "component 0 has lost its spread", "rows 0, 1", "floor=1e-6"):
            assert told in str(caught.value)
        return
    fit = gaussian(rows, parameters=start, collapse=policy, limit=400)
    event = fit.runs[0].events[0]
    assert event.component == 0
    assert event.rows == (0, 1)
    assert event.done == {"drop": "dropped", "reset": "reset"}[policy]
    check_numbers(fit)
    # Nothing is compared across the repair.
    judged = {one.iteration for one in fit.monotone.ascents}
    assert event.iteration not in judged
    assert judged >= set(range(1, event.iteration))
    if policy == "drop":
        assert len(fit.parameters.weights) == 1
        assert fit.parameters.weights == (1.0,)
        assert fit.parameters.means[0][0] == pytest.approx(30 / 7, rel=1e-14)
        assert fit.free_parameters == 2
        assert set(fit.labels) == {0}


@pytest.mark.spec("GMM-COLLAPSE")
def test_a_reset_component_goes_to_the_row_that_is_explained_least() -> None:
    rows = [[0.0], [0.0], [3.0], [4.0], [5.0], [7.0], [100.0]]
    start = GaussianParameters((0.5, 0.5), ((0.0,), (6.0,)), ((1e-3,), (90.0,)), "full")
    seen = gaussian(
        rows, parameters=start, collapse="reset", limit=1, trace="parameters", tolerance=None
    )
    assert seen.runs[0].events[0].done == "reset"
    fresh = seen.trace[1].parameters
    assert fresh is not None
    assert fresh.means[0] == (100.0,)
    assert fresh.weights == (0.5, 0.5)
    mean = 119 / 7
    variance = math.fsum((row[0] - mean) ** 2 for row in rows) / 7
    assert fresh.spreads[0][0] == pytest.approx(variance, rel=1e-14)
    # A row of weight 0 is never chosen.
    again = gaussian(
        [*rows, [1000.0]],
        parameters=start,
        collapse="reset",
        limit=1,
        trace="parameters",
        weights=[1] * 7 + [0],
    )
    assert again.trace[1].parameters is not None
    assert again.trace[1].parameters.means[0] == (100.0,)


@pytest.mark.spec("GMM-COLLAPSE")
@pytest.mark.parametrize("policy", POLICIES)
def test_what_all_share_cannot_be_repaired(policy: str) -> None:
    rows = [[0.0], [0.0], [5.0], [5.0]]
    with pytest.raises(DegenerateCovariance):
        gaussian(rows, labels=[0, 0, 1, 1], covariance="EII", collapse=policy)
    with pytest.raises(DegenerateCovariance):
        gaussian([[0.0]] * 3, 1, covariance="VII", collapse=policy)


@pytest.mark.spec("GMM-COLLAPSE", "EM-CONV")
def test_a_repaired_component_stays_in_the_model() -> None:
    """Tied covariances stay tied after a reset, so the M-step after it does not fall."""
    rows = SINGULAR["duplicates"]
    for model in MODELS:
        for seed in range(6):
            found = tried(
                "gaussian",
                rows,
                3,
                covariance=model,
                variation="hard",
                collapse="reset",
                start="random",
                floor=0.05,
                seed=seed,
                limit=30,
                trace="parameters",
            )
            if isinstance(found, str) or model not in ("EII", "EEI", "EEE"):
                continue
            for one in found.trace:
                assert one.parameters is not None
                assert len(set(one.parameters.spreads)) == 1


@pytest.mark.spec("GMM-COLLAPSE")
def test_the_eleventh_collapse_ends_a_run() -> None:
    rows = [[0.0]] * 4 + [[5.0]] * 4 + [[5.5]]
    found = tried("gaussian", rows, 3, start="random", collapse="reset", limit=3000, seed=1)
    if isinstance(found, str):
        assert found == "degenerate-covariance"
    else:
        assert len(found.runs[0].events) <= 10


@pytest.mark.spec("GMM-COLLAPSE", "CEM-NK")
@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("policy", POLICIES)
def test_components_without_rows(name: str, policy: str) -> None:
    """Hard assignments leave a component without rows; the weight of another one is 0."""
    rows = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    for variation in ("hard", "stochastic"):
        for start in STARTS:
            options: dict[str, Any] = {"floor": 0.1} if name == "gaussian" else {"m": 1.0}
            found = tried(
                name, rows, 3, variation=variation, collapse=policy, start=start, limit=9, **options
            )
            if isinstance(found, str):
                assert found == "degenerate-covariance"


@pytest.mark.spec("EM-ALG", "GMM-COLLAPSE")
@pytest.mark.parametrize("name", FITS)
def test_as_many_components_as_rows(name: str) -> None:
    rows = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]]
    options: dict[str, Any] = {"floor": 0.1} if name == "gaussian" else {"m": 0.5}
    for start in STARTS:
        found = tried(name, rows, 4, start=start, **options)
        assert not isinstance(found, str)
        assert len(found.sizes) == 4


# -- words ----------------------------------------------------------------------------------------


@pytest.mark.spec("MMIX-COUNTS", "NB-LIK")
def test_one_document_and_empty_ones() -> None:
    fit = multinomial([[2, 1]], 1)
    assert tuple(fit.parameters.probabilities[0]) == (2 / 3, 1 / 3)
    assert fit.log_likelihood == pytest.approx(2 * math.log(2 / 3) + math.log(1 / 3), abs=1e-15)
    empty = multinomial([[0, 0], [0, 0]], 1)
    assert (empty.log_likelihood, tuple(empty.parameters.probabilities[0])) == (0.0, (0.5, 0.5))
    for start in ("random",):
        found = tried("multinomial", [[0, 0, 0]] * 3, 2, start=start)
        assert not isinstance(found, str)
        assert found.log_likelihood == pytest.approx(0.0, abs=1e-15)
    mixed = multinomial([[3, 0], [0, 0], [0, 2]], labels=[0, 0, 1])
    # The empty document goes by the weights, which go by it: they have their shares of 2 rows.
    assert mixed.log_likelihood <= 0
    assert math.fsum(mixed.sizes) == pytest.approx(3.0, abs=1e-14)
    assert bernoulli([[0, 0]] * 3, 1).log_likelihood == 0.0
    assert bernoulli([[1, 1]] * 3, 1).log_likelihood == 0.0


@pytest.mark.spec("MMIX-COUNTS")
def test_a_word_that_never_occurs() -> None:
    rows = [[3, 1, 0], [1, 2, 0], [0, 4, 0]]
    for start in STARTS:
        fit = multinomial(rows, 2, start=start, seed=1)
        assert all(row[2] == 0 for row in fit.parameters.probabilities)
        smooth = multinomial(rows, 2, start=start, seed=1, m=3)
        assert all(0 < row[2] < 0.5 for row in smooth.parameters.probabilities)
        presence = bernoulli([[float(x > 0) for x in row] for row in rows], 2, start=start)
        assert all(row[2] == 0 for row in presence.parameters.probabilities)
    lost = multinomial(rows, 2).parameters
    with pytest.raises(ImpossibleRow):
        assignments(lost, [[0, 0, 1]], family="multinomial")


@pytest.mark.spec("NB-LIK", "MMIX-LL", "EM-ESTEP")
def test_a_document_of_a_hundred_thousand_words() -> None:
    """log p is about -1e5: its exponential is 0, its shares are not lost."""
    two = CountParameters((0.5, 0.5), ((0.5, 0.5), (0.5 + 2.0**-20, 0.5 - 2.0**-20)))
    found = assignments(two, [[50_000, 50_000]], family="multinomial")
    assert found.log_likelihoods[0] < -69_000
    # log-odds: 50000 (log(1 + d) + log(1 - d)) = 50000 log(1 - d^2), d = 2^-19.
    odds = math.exp(50_000 * math.log1p(-(2.0**-38)))
    assert found.responsibilities(0)[1] == pytest.approx(odds / (1 + odds), rel=1e-9)
    fit = multinomial([[100_000, 1], [1, 100_000], [60_000, 40_000]], 2, seed=1)
    assert fit.monotone.standing == standing(fit)
    check_numbers(fit)


@pytest.mark.spec("GMM-ESTEP", "EM-ESTEP", "GAU-PDF")
def test_a_density_of_exp_minus_a_hundred_thousand() -> None:
    two = GaussianParameters((0.5, 0.5), ((0.0,), (1.0,)), ((1.0,), (1.0,)), "spherical")
    x = math.sqrt(2e5)
    found = assignments(two, [[-x]], family="gaussian")
    assert found.log_likelihoods[0] < -100_000
    q = found.responsibilities(0)
    assert q[0] == 1.0
    assert q[1] == pytest.approx(math.exp(-x - 0.5), rel=1e-9)
    far = gaussian([[0.0], [1.0], [2.0], [1e4], [1e4 + 1]], parameters=two, covariance="EII")
    check_numbers(far)


@pytest.mark.spec("MIX-MARGLL", "GMM-LL")
@pytest.mark.parametrize(
    ("function", "data", "options"),
    [
        (gaussian, [[0.0], [1e200], [3e200]], {}),
        (gaussian, [[0.0], [1.7e308], [-1.7e308]], {"covariance": "EII"}),
        (multinomial, [[1.7e308, 1], [1.7e308, 2], [1, 1]], {}),
        (multinomial, [[3, 1], [1, 2], [1, 1]], {"m": 1.7e308}),
        (bernoulli, [[1, 0], [0, 1], [1, 1]], {"m": 1.7e308}),
        (gaussian, [[0.0], [1.0], [2.0]], {"weights": [1e308, 1e308, 1e308]}),
    ],
)
def test_what_is_beyond_doubles_is_told(function: Any, data: Any, options: dict[str, Any]) -> None:
    with pytest.raises(NotFinite) as caught:
        function(data, 2, **options)
    assert caught.value.code == "not-finite"


@pytest.mark.spec("MIX-MARGLL", "PROP-EM-W")
def test_a_row_of_weight_zero_may_be_anywhere() -> None:
    rows = [[1.0], [2.0], [4.0]]
    base = gaussian(rows, 1)
    for place in range(4):
        more, weights = [*rows], [1.0, 1.0, 1.0]
        more.insert(place, [-1.7e308])
        weights.insert(place, 0.0)
        fit = gaussian(more, 1, weights=weights)
        assert fit.parameters == base.parameters
        assert fit.log_likelihood == base.log_likelihood
    words = multinomial([[1, 1, 0], [2, 1, 0], [0, 0, 9]], 1, weights=[1, 1, 0])
    assert tuple(words.parameters.probabilities[0]) == (0.6, 0.4, 0.0)
    assert math.isfinite(words.log_likelihood)


@pytest.mark.parametrize("weights", [[5e-324] * 6, [1e-3, 1e3, 1, 1, 1, 1], [1e-9] * 6])
@pytest.mark.parametrize("name", FITS)
def test_strange_weights(name: str, weights: list[float]) -> None:
    rows = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    options: dict[str, Any] = {"floor": 0.1} if name == "gaussian" else {"m": 1.0}
    for start in STARTS:
        for variation in MONOTONE[:2]:
            tried(name, rows, 2, weights=weights, start=start, variation=variation, **options)


@pytest.mark.parametrize("name", SINGULAR)
def test_beliefs_on_singular_points(name: str) -> None:
    for k in (1, 2):
        try:
            fit = beliefs(SINGULAR[name], k, limit=20, start="random")
        except RefclustError as error:
            assert error.code in ("degenerate-covariance", "k-out-of-range", "not-finite")  # noqa: PT017
        else:
            check_numbers(fit)
            assert fit.monotone.standing == standing(fit)


def test_beliefs_on_empty_documents() -> None:
    fit = word_beliefs([[0, 0], [0, 0]], 2, start="random")
    check_numbers(fit)
    assert fit.objective == pytest.approx(0.0, abs=1.0)
    assert fit.monotone.standing == standing(fit)


@pytest.mark.spec("EM-PRED", "EM-ESTEP")
def test_what_helps_a_row_that_nobody_made_depends_on_the_family() -> None:
    two = GaussianParameters((0.5, 0.5), ((0.0,), (1.0,)), ((0.5,), (0.5,)), "full")
    with pytest.raises(ImpossibleRow) as caught:
        assignments(two, [[0.0], [1e200], [-1e200]], family="gaussian")
    assert str(caught.value) == (
        "row 1 is too far from every component for doubles, 2 of 3 rows in all; check its numbers, "
        "or let impossible='prior' decide by the shares of the components"
    )
    words = CountParameters((0.5, 0.5), ((1.0, 0.0), (1.0, 0.0)))
    with pytest.raises(ImpossibleRow) as caught:
        assignments(words, [[1, 0], [0, 1]], family="multinomial")
    assert str(caught.value) == (
        "row 1 has probability zero under every component, 1 of 2 rows in all; smooth the "
        "probabilities (m > 0), or let impossible='prior' decide by the shares of the components"
    )
    with pytest.raises(ImpossibleRow) as caught:
        multinomial([[1, 0], [0, 1], [2, 0]], parameters=words)
    assert str(caught.value) == (
        "row 1 has probability zero under every component, 1 of 3 rows in all; start elsewhere, "
        "or smooth the probabilities (m > 0)"
    )
