"""Means that move far, weights and columns at the edges of doubles (GMM-RECENTRE, GMM-RANGE)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from refclust.classify.discriminants import lda, qda
from refclust.data.accepting.door import dataset
from refclust.errors import DegenerateCovariance, NotFinite
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.mixture.families.gaussian.ranges import column_deviation
from refclust.mixture.predict import assignments
from tests.mixture.tools import U, beliefs, check_numbers, gaussian

SIX = [[0.0], [1.0], [2.0], [9.0], [10.0], [12.0]]
HALVES = [0, 0, 0, 1, 1, 1]
HUGE, TINY = (1e156, 1e300, 2.0**1000), (1e-160, 1e-300, 5e-324)


def start(*means: float, variance: float = 1.0, form: Any = "full") -> GaussianParameters:
    k = len(means)
    return GaussianParameters((1 / k,) * k, tuple((m,) for m in means), ((variance,),) * k, form)


# -- means that move far --------------------------------------------------------------------------


@pytest.mark.spec("GMM-RECENTRE", "GMM-SIG")
def test_a_component_of_next_to_no_weight_has_its_own_variance() -> None:
    """Of rows 0 to 3 a mean at 31 sees row 3, and row 2 with a share of exp(-31) beside it.

    log p(x, k) is at least -450.5 - log(2), so by KER-POSTERIOR it errs by less than 11 * 450.5 u,
    and the share of two rows, a quotient of two such quotients, by four times as much. The rest,
    of row 1 (exp(-63) of row 3's) and of the sums, is below 2**-45.
    """
    fit = gaussian(
        [[0.0], [1.0], [2.0], [3.0]], parameters=start(0.0, 31.0), limit=1, tolerance=None
    )
    share = math.exp(-31.0)
    due = share / (1.0 + share) ** 2
    assert fit.parameters.spreads[1][0] == pytest.approx(due, rel=4 * 11 * 450.5 * U + 2.0**-45)
    assert fit.parameters.spreads[0][0] == 1.25
    assert fit.monotone.holds


@pytest.mark.spec("GMM-RECENTRE")
@pytest.mark.parametrize("away", [2.0**10, 2.0**40, 2.0**80, -(2.0**200)])
@pytest.mark.parametrize("unit", [2.0**-900, 1.0, 2.0**900])
@pytest.mark.parametrize("labelled", [False, True])
def test_however_far_a_mean_begins(away: float, unit: float, labelled: bool) -> None:
    """All rows belong to the one component, so shares are exact and the variance a fraction."""
    values = [0.0, 2.0**-20, 3 * 2.0**-20, 1.0, 1.0 + 2.0**-30]
    exact = [Fraction(x) for x in values]
    mean = sum(exact) / 5
    due = float(sum((x - mean) ** 2 for x in exact) / 5)
    rows, weights = [[x] for x in values], [unit] * 5
    if labelled:
        fit = gaussian(rows, labels=[0] * 5, weights=weights, limit=0)
    else:
        given = start(away, variance=away**2)
        fit = gaussian(rows, parameters=given, weights=weights, limit=1, tolerance=None)
    assert fit.parameters.spreads[0][0] == pytest.approx(due, rel=2.0**13 * (5 + 8) * U)
    assert fit.parameters.means[0][0] == pytest.approx(float(mean), rel=4 * U)
    assert fit.sizes == (5 * unit,)


@pytest.mark.spec("GMM-RECENTRE")
def test_near_means_cost_one_pass() -> None:
    fit = gaussian(SIX, 2, seed=1, limit=3, tolerance=None)
    calls = {run.kernel: run.calls for run in fit.provenance.kernels}
    assert calls["gaussian.em_step"] == 4
    # Two for the mean and the variance of the columns, two for the start.
    assert calls["gaussian.moments"] == 4


@pytest.mark.spec("GMM-COLLAPSE")
def test_weight_so_small_that_squares_lose_digits_is_a_collapse() -> None:
    """A mean at 40: N is about exp(-680), and row 2 has a share of exp(-40) beside row 3."""
    rows = [[0.0], [1.0], [2.0], [3.0]]
    with pytest.raises(DegenerateCovariance, match="component 1 has lost its spread"):
        gaussian(rows, parameters=start(0.0, 40.0), limit=1, tolerance=None)
    fit = gaussian(
        rows, parameters=start(0.0, 40.0, form="spherical"), covariance="EII", limit=1,
        tolerance=None,
    )  # fmt: skip
    assert fit.parameters.spreads[0] == fit.parameters.spreads[1]
    assert fit.parameters.spreads[0][0] == pytest.approx(1.25, rel=8 * U)


# -- weights --------------------------------------------------------------------------------------


@pytest.mark.spec("GMM-RANGE")
@pytest.mark.parametrize("exponent", [-1074, -1000, -531, 518, 996, 1000])
@pytest.mark.parametrize("variation", ["em", "hard", "stochastic"])
@pytest.mark.parametrize("floor", [0.0, 0.5])
def test_weights_times_a_power_of_two(exponent: int, variation: Any, floor: float) -> None:
    """The same fit to the bit; sums over rows are that many times as large, but for the floor."""
    unit = math.ldexp(1.0, exponent)
    options = {"seed": 3, "limit": 4, "tolerance": None, "variation": variation}
    one = gaussian(SIX, 2, weights=[1.0] * 6, **options)
    two = gaussian(SIX, 2, weights=[unit] * 6, **options)
    assert two.parameters == one.parameters
    assert two.labels == one.labels
    assert [i.gain for i in two.trace] == [i.gain for i in one.trace]
    assert two.sizes == tuple(n * unit for n in one.sizes)
    assert two.weight == 6 * unit
    for name in ("log_likelihood", "objective", "entropy"):
        assert getattr(two, name) == getattr(one, name) * unit
    for a, b in zip(one.monotone.ascents, two.monotone.ascents, strict=True):
        assert (b.before, b.bound, b.after) == (a.before * unit, a.bound * unit, a.after * unit)
    if floor and -1000 < exponent < 1000:
        # A floor of so many times the weight is the same prior for each unit of weight.
        one = gaussian(SIX, 2, weights=[1.0] * 6, floor=floor, **options)
        two = gaussian(SIX, 2, weights=[unit] * 6, floor=floor * unit, **options)
        assert two.parameters == one.parameters
        assert two.log_prior == one.log_prior * unit


@pytest.mark.spec("GMM-RANGE", "QDA-PARAM")
@pytest.mark.parametrize("weight", [*HUGE, *TINY])
@pytest.mark.parametrize("train", [qda, lda])
def test_supervised_twins(weight: float, train: Any) -> None:
    one = train(SIX, HALVES, weights=[1.0] * 6, backend="reference")
    two = train(SIX, HALVES, weights=[weight] * 6, backend="reference")
    # Weights that are no power of two are rounded once when they are added up.
    for a, b in zip(one.parameters.spreads, two.parameters.spreads, strict=True):
        assert b == pytest.approx(a, rel=16 * U)
    assert two.sizes == (3 * weight, 3 * weight)
    assert two.log_likelihood == pytest.approx(one.log_likelihood * weight, rel=64 * U, abs=5e-324)


@pytest.mark.spec("GMM-RANGE", "EM-PRED")
@pytest.mark.parametrize("weight", [*HUGE, *TINY])
def test_prediction(weight: float) -> None:
    fit = gaussian(SIX, 2, weights=[weight] * 6, labels=HALVES, limit=0)
    check_numbers(fit)
    found = assignments(fit.parameters, [[1.5], [11.0]], family="gaussian", backend="reference")
    assert found.labels.tolist() == [0, 1]


@pytest.mark.spec("GMM-RANGE")
def test_what_weights_allow_is_told() -> None:
    with pytest.raises(NotFinite, match=r"the weights add up to 6e\+300; .* 8.7e-19 to 1.2e\+18"):
        beliefs(SIX, 2, weights=[1e300] * 6)
    with pytest.raises(NotFinite, match="the weights add up to more than the largest double"):
        gaussian(SIX, 2, weights=[1e308] * 6)
    with pytest.raises(NotFinite, match="beyond the range of doubles"):  # J is about -13 times W
        gaussian(SIX, 2, weights=[2e307] * 6)
    with pytest.raises(NotFinite, match="beyond the range of doubles"):
        qda(SIX, HALVES, weights=[2e307] * 6, backend="reference")
    with pytest.raises(NotFinite, match=r"the floor is 1e\+20, which the weights are too small"):
        gaussian(SIX, 2, weights=[1e-300] * 6, floor=1e20)


# -- columns --------------------------------------------------------------------------------------


def scaled(unit: float) -> list[list[float]]:
    return [[x / 12 * unit] for (x,) in SIX]


@pytest.mark.spec("GMM-RANGE")
@pytest.mark.parametrize("unit", [1e308, 1e200, 1e152, 1e-131, 1e-200, 1e-310])
@pytest.mark.parametrize("covariance", ["EII", "VVI", "VVV"])
def test_columns_out_of_range_are_named(unit: float, covariance: str) -> None:
    deviation = f"{0.3988 * unit:.3g}".partition("e")[2]
    with pytest.raises(NotFinite) as told:
        gaussian(scaled(unit), 2, covariance=covariance)
    assert str(told.value).startswith("the standard deviation of column 0 is ")
    assert f"e{deviation}; so that" in str(told.value)
    assert "3.6e-130 to 1.3e+150 is allowed" in str(told.value)
    with pytest.raises(NotFinite, match="column 1 is"):
        gaussian([[1.0 * i, *row] for i, row in enumerate(scaled(1e308))], 2, covariance=covariance)


@pytest.mark.spec("GMM-RANGE")
def test_the_ends_of_the_range() -> None:
    for unit in (2.0**499, 2.0**-428):
        fit, usual = gaussian(scaled(unit), 2, seed=1), gaussian(scaled(1.0), 2, seed=1)
        assert fit.labels == usual.labels
        due = tuple((variance * unit * unit,) for (variance,) in usual.parameters.spreads)
        assert fit.parameters.spreads == due
    # What one column lacks another has, if there is one variance for both.
    narrow = [[*a, *b] for a, b in zip(scaled(1.0), scaled(1e-200), strict=True)]
    check_numbers(gaussian(narrow, 2, covariance="VII", seed=1))
    with pytest.raises(NotFinite, match="column 1 is"):
        gaussian(narrow, 2, covariance="VVI", seed=1)


@pytest.mark.spec("GMM-RANGE")
def test_a_row_without_weight_widens_nothing() -> None:
    fit = gaussian([*SIX, [1e308]], 2, weights=[1.0] * 6 + [0.0], covariance="VII", limit=2)
    check_numbers(fit)


@pytest.mark.spec("GMM-RANGE")
def test_means_to_start_from_have_a_range() -> None:
    with pytest.raises(NotFinite, match=r"mean 1 of the parameters given is at 1e\+160"):
        gaussian(SIX, parameters=start(0.0, 1e160, variance=1e300))


@pytest.mark.spec("GMM-RANGE")
def test_deviations_of_any_size() -> None:
    rows = [{0: 3e-310}, {}, {0: 3e-310, 1: 1.5e308}, {1: -1.5e308}]
    sparse = dataset(rows, weights=[1, 1, 1, 0])
    assert column_deviation(sparse, 0) == pytest.approx(math.sqrt(2) * 1e-310, rel=1e-12)
    assert column_deviation(sparse, 1) == pytest.approx(math.sqrt(2) / 2 * 1e308, rel=4 * U)
    both = dataset([[1.7e308], [-1.7e308]])
    assert column_deviation(both, 0) == 1.7e308
