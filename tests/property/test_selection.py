"""What chapter 34 proves about criteria, bounds and folds holds on arbitrary data."""

from __future__ import annotations

import math
from array import array
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from refclust.backends.session import Session
from refclust.data.accepting.door import dataset
from refclust.errors import DegenerateCovariance
from refclust.fitting.draws import Draws
from refclust.fitting.rows import Rows
from refclust.fitting.splits import folds
from refclust.kernels.mixtures.shared import HARD, SOFT
from refclust.mixture.bayes.beliefs import CountBeliefs, GaussianBeliefs
from refclust.mixture.bayes.counts import VariationalCounts
from refclust.mixture.bayes.fit import (
    variational_bernoulli,
    variational_gaussian,
    variational_multinomial,
)
from refclust.mixture.bayes.gaussian import VariationalGaussian
from refclust.mixture.bayes.importance import (
    importance_estimate,
    importance_sampling,
    log_permanent,
)
from refclust.mixture.bayes.pareto import pareto_index, tail_size
from refclust.mixture.bayes.precisions import CONJUGATE
from refclust.mixture.choosing.criteria import aic, bic, criteria, icl, icl_soft
from refclust.mixture.choosing.gap import elbow, gaps
from refclust.mixture.choosing.selection import select
from refclust.mixture.families.counts.words import CountFamily
from refclust.mixture.families.gaussian.steps import GaussianFamily
from refclust.mixture.families.named.bernoulli import bernoulli_mixture
from refclust.mixture.families.named.gaussian import gaussian_mixture
from refclust.mixture.families.named.multinomial import multinomial_mixture
from refclust.mixture.passes import CountPasses, GaussianPasses
from tests.metrics.strategies import some
from tests.mixture.evidence_witness import (
    evidence_of_documents,
    evidence_of_line,
    evidence_of_presences,
    evidence_of_rows,
)

UNIT = 2.0**-53
DOCS = st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=3, max_size=5)
LINES = st.lists(
    st.integers(-80, 80).map(lambda x: x / 4), min_size=5, max_size=7, unique=True
).map(lambda xs: [[x] for x in xs])
PLANES = st.lists(
    st.tuples(st.integers(-20, 20), st.integers(-20, 20)), min_size=4, max_size=5, unique=True
).map(lambda pairs: [[x / 4, y / 4] for x, y in pairs])
FEATURES = st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), min_size=3, max_size=5)
NUMBERS = st.floats(-50, 50, allow_nan=False)


@pytest.mark.spec("PROP-MS-3", "MS-BIC", "MS-AIC", "MS-ICL")
@some(50)
@given(NUMBERS, st.integers(1, 40), st.floats(1, 1e6), st.floats(0, 9), st.floats(0, 9))
def test_criteria_differ_in_what_they_charge(
    log_likelihood: float, free: int, weight: float, doubt: float, more: float
) -> None:
    known = (log_likelihood, free, weight)
    plain = bic(*known)
    charge = free * (math.log(weight) - 2.0)
    size = 2 * abs(log_likelihood) + free * (math.log(weight) + 2.0)
    # Each side adds two or three terms, none above the size: four roundings at most.
    assert plain - aic(log_likelihood, free) == pytest.approx(charge, abs=8 * UNIT * size)
    assert plain <= icl(*known, doubt) <= icl_soft(*known, doubt + more)
    assert icl(*known, 0.0) == plain


@pytest.mark.spec("PROP-MS-3", "MS-ICL", "MS-BIC")
@some(12)
@given(LINES, st.integers(1, 3), st.sampled_from(["EII", "VII", "EEE"]))
def test_order_of_the_criteria_of_a_fit(rows: Any, k: int, covariance: str) -> None:
    fit = gaussian_mixture(rows, k, covariance=covariance, floor=0.1, limit=30)
    found = criteria(fit, rows)
    slack = 64 * UNIT * (abs(found.bic) + 1.0)
    assert found.bic <= found.icl <= found.icl_soft + slack
    if k == 1:
        assert found.bic == found.icl == found.icl_soft


@pytest.mark.spec("PROP-MS-3", "MS-ICL")
@some(10)
@given(st.lists(st.integers(1, 9), min_size=2, max_size=4))
def test_certain_components_cost_nothing(lengths: list[int]) -> None:
    """Each document has a word of its own: every row belongs to one component for certain."""
    n = len(lengths)
    docs = [[length if i == j else 0 for j in range(n)] for i, length in enumerate(lengths)]
    found = criteria(multinomial_mixture(docs, n, labels=range(n)), docs)
    assert found.icl == found.icl_soft == found.bic


@pytest.mark.spec("MS-CVLL")
@some(40)
@given(st.integers(2, 60), st.integers(2, 12), st.integers(0, 2**40))
def test_folds_are_a_partition(n: int, count: int, seed: int) -> None:
    assume(count <= n)
    dealt = folds(n, count, seed=seed)
    assert sorted(i for fold in dealt for i in fold) == list(range(n))
    assert {len(fold) for fold in dealt} <= {n // count, -(-n // count)}
    assert dealt == folds(n, count, seed=seed)


@pytest.mark.spec("MS-CVLL", "MS-BIC")
@some(12)
@given(DOCS, st.integers(2, 3), st.integers(0, 9))
def test_cross_validation_of_one_component(docs: list[list[int]], count: int, seed: int) -> None:
    """A product of rationals: the shares of words in the other folds, with m = 3."""
    found = select(docs, model="multinomial", k=[1], criterion="cv", folds=count, m=3.0, seed=seed)
    probability = Fraction(1)
    for fold in folds(len(docs), count, seed=seed):
        others = [doc for i, doc in enumerate(docs) if i not in fold]
        sums = [1 + sum(column) for column in zip(*others, strict=True)]
        for i in fold:
            for x, share in zip(docs[i], sums, strict=True):
                probability *= Fraction(share, sum(sums)) ** x
    wanted = (math.log(probability.numerator) - math.log(probability.denominator)) / len(docs)
    assert found.candidates[0].values["cv"] == pytest.approx(wanted, rel=1e-12, abs=1e-12)


@pytest.mark.spec("MS-BIC")
@some(8)
@given(st.lists(st.lists(st.integers(0, 1), min_size=2, max_size=2), min_size=3, max_size=6))
def test_selection_marks_the_smallest(rows: list[list[int]]) -> None:
    found = select(rows, model="bernoulli", k=[1], m=1.0)
    fit = bernoulli_mixture(rows, 1, m=1.0)
    assert found.candidates[0].values["bic"] == bic(fit.log_likelihood, 2, float(len(rows)))
    spread = [[float(i), float(sum(row))] for i, row in enumerate(rows)]
    table = select(spread, k=[1], covariance=["VII", "EII"])
    assert table.best is not None
    assert table.best.values["bic"] == min(one.values["bic"] for one in table.candidates)


@pytest.mark.spec("MS-VIID", "VB-GAUSS", "MS-IS")
@some(10)
@given(LINES, st.integers(0, 99))
def test_one_component_has_the_evidence_for_its_bound(rows: Any, seed: int) -> None:
    wanted = evidence_of_line(rows, 1, 1.0)
    fit = variational_gaussian(rows, 1)
    assert fit.objective == pytest.approx(wanted, rel=1e-11)
    found = importance_sampling(fit, rows, samples=4, seed=seed)
    assert found.log_evidence == pytest.approx(wanted, rel=1e-11)
    assert found.effective_size == pytest.approx(4.0, rel=1e-9)


@pytest.mark.spec("PROP-MS-1", "VB-GAUSS", "MS-VISEL")
@some(6)
@given(LINES, st.integers(2, 3))
def test_bound_below_the_evidence_of_numbers(rows: Any, k: int) -> None:
    few = rows[:5]
    fit = variational_gaussian(few, k, limit=50)
    assert fit.objective <= evidence_of_line(few, k, 1.0 / k) + 1e-9
    assert fit.monotone.holds
    assert all(b >= a for a, b in _steps(fit))


@pytest.mark.spec("PROP-MS-1", "VB-GAUSS", "VB-DIAG", "VB-BALL", "VB-COMMON", "MS-VIID", "MS-IS")
@pytest.mark.parametrize("covariance", CONJUGATE)
@some(6)
@given(PLANES, st.integers(1, 3), st.sampled_from([0.5, 2.0]), st.sampled_from([None, 3.5]))
def test_bound_below_the_evidence_of_rows(
    covariance: str, rows: Any, k: int, beta: float, nu: float | None
) -> None:
    """Against the sum over all assignments; with one component the bound is the evidence."""
    try:
        fit = variational_gaussian(rows, k, covariance=covariance, beta=beta, nu=nu, limit=50)
    except DegenerateCovariance:
        columns = list(zip(*rows, strict=True))
        assert any(len(set(column)) == 1 for column in columns) or collinear(rows)
        return
    wanted = evidence_of_rows(rows, k, 1.0 / k, covariance, beta=beta, nu=nu)
    assert fit.monotone.holds
    if k > 1:
        assert fit.objective <= wanted + 1e-9
        return
    assert fit.objective == pytest.approx(wanted, rel=1e-10, abs=1e-10)
    found = importance_sampling(fit, rows, samples=4)
    assert found.log_evidence == pytest.approx(wanted, rel=1e-10, abs=1e-10)


def collinear(rows: list[list[float]]) -> bool:
    """Whether all rows lie on one line; quarters are exact."""
    (a, b), (c, d) = rows[0], next(row for row in rows if row != rows[0])
    return all((x - a) * (d - b) == (y - b) * (c - a) for x, y in rows)


@pytest.mark.spec("PROP-MS-1", "VB-BERN", "MS-VIID", "MS-VISEL")
@some(10)
@given(FEATURES, st.integers(1, 3), st.sampled_from([0.5, 1.0, 4.0]))
def test_bound_below_the_evidence_of_features(rows: list[list[int]], k: int, weight: float) -> None:
    assume(len({tuple(row) for row in rows}) >= k)
    fit = variational_bernoulli(rows, k, concentration=weight, limit=50)
    wanted = evidence_of_presences(rows, k, 1.0 / k, weight)
    assert fit.objective <= wanted + 1e-9
    assert fit.monotone.holds
    if k == 1:
        assert fit.objective == pytest.approx(wanted, rel=1e-11, abs=1e-11)


def valued(rows: Any, covariance: str, labels: Any, nu: float | None) -> tuple[float, float]:
    """The bound of beliefs from labels, without entropy, and what it may be off as it says."""
    seen = Rows(dataset(rows), Session("reference"))
    k = max(labels) + 1
    normal = GaussianFamily(GaussianPasses(seen, k), covariance)
    family = VariationalGaussian(normal, 0.5, 1.5, nu)
    moments = family.moments(array("i", labels), k)
    point = family.point(family.maximised(moments, None))
    expected = family.passes.expected(moments, point.densities)
    value = expected + point.log_prior + len(rows) * family.constant
    size = abs(expected) + abs(point.log_prior) + len(rows) * abs(family.constant)
    error = family.passes.rounding(moments, point.densities, expected) + point.rounding
    return value, error + 4 * UNIT * size


@pytest.mark.spec("VB-DIAG", "VB-BALL", "VB-COMMON", "VB-GAUSS")
@pytest.mark.parametrize("covariance", CONJUGATE)
@some(15)
@given(LINES, st.data(), st.sampled_from([None, 0.25, 6.0]))
def test_one_column_has_two_models(
    covariance: str, rows: Any, data: st.DataObject, nu: float | None
) -> None:
    """In one column all that begin with V are VVV, all that begin with E are EEE: within bounds."""
    n = len(rows)
    labels = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    own, error = valued(rows, covariance, labels, nu)
    full, other = valued(rows, covariance[0] * 3, labels, nu)
    assert abs(own - full) <= error + other
    assert error + other < 1e-9


@pytest.mark.spec("PROP-MS-1", "VB-MULT", "MS-VIID", "MS-VISEL")
@some(8)
@given(DOCS, st.integers(1, 3))
def test_bound_below_the_evidence_of_documents(docs: list[list[int]], k: int) -> None:
    assume(len({tuple(doc) for doc in docs}) >= k)
    fit = variational_multinomial(docs, k, limit=50)
    wanted = evidence_of_documents(docs, k, 1.0 / k)
    assert fit.objective <= wanted + 1e-9
    assert fit.monotone.holds
    if k == 1:
        assert fit.objective == pytest.approx(wanted, rel=1e-11, abs=1e-11)


def _steps(fit: Any) -> list[tuple[float, float]]:
    """Objectives one after another, less what rounding may have done to them."""
    values = [one.objective for one in fit.trace]
    return [(a - 1e-10 * abs(a), b) for a, b in pairwise(values)]


@pytest.mark.spec("MS-VIE", "MS-VIM", "VB-GAUSS", "VB-DIAG", "VB-BALL", "VB-COMMON")
@pytest.mark.parametrize("covariance", CONJUGATE)
@some(10)
@given(LINES, st.data())
def test_variational_steps_are_maxima_for_numbers(
    covariance: str, rows: Any, data: st.DataObject
) -> None:
    """No other shares, and no other beliefs of the same form, give a larger bound."""
    seen = Rows(dataset(rows), Session("reference"))
    family = VariationalGaussian(GaussianFamily(GaussianPasses(seen, 2), covariance), 0.5)
    labels = array(
        "i", data.draw(st.lists(st.integers(0, 1), min_size=len(rows), max_size=len(rows)))
    )
    moments = family.moments(labels, 2)
    best = family.point(family.maximised(moments, None))
    reached = family.passes.expected(moments, best.densities) + best.log_prior
    factor = st.floats(0.5, 2.0)
    own = best.parameters
    nus, scales = (
        [data.draw(factor)] * 2 if covariance[0] == "E" else [data.draw(factor), data.draw(factor)]
        for _ in range(2)
    )
    other = GaussianBeliefs(
        tuple(a * data.draw(factor) for a in own.alpha),
        tuple(b * data.draw(factor) for b in own.beta),
        tuple(n * x for n, x in zip(own.nu, nus, strict=True)),
        tuple((mean[0] + data.draw(st.floats(-2, 2)),) for mean in own.means),
        tuple((scale[0] * x,) for scale, x in zip(own.scales, scales, strict=True)),
        covariance,
    )
    point = family.point(other)
    slack = 1e-11 * (abs(reached) + 1.0)
    assert family.passes.expected(moments, point.densities) + point.log_prior <= reached + slack
    soft, hard = (family.passes.step(point.densities, rule) for rule in (SOFT, HARD))
    given_labels = family.passes.expected(moments, point.densities)  # shares without entropy
    assert hard.bound <= soft.bound + slack
    assert given_labels <= hard.bound + slack


@pytest.mark.spec("MS-VIE", "MS-VIM", "VB-MULT")
@some(10)
@given(DOCS, st.data())
def test_variational_steps_are_maxima_for_documents(
    docs: list[list[int]], data: st.DataObject
) -> None:
    seen = Rows(dataset(docs), Session("reference"))
    family = VariationalCounts(CountFamily(CountPasses(seen, 2), "multinomial"), 0.5)
    labels = array(
        "i", data.draw(st.lists(st.integers(0, 1), min_size=len(docs), max_size=len(docs)))
    )
    moments = family.moments(labels, 2)
    best = family.point(family.maximised(moments, None))
    reached = family.passes.expected(moments, best.densities) + best.log_prior
    factor = st.floats(0.5, 2.0)
    other = CountBeliefs(
        tuple(a * data.draw(factor) for a in best.parameters.alpha),
        tuple(tuple(e * data.draw(factor) for e in eta) for eta in best.parameters.eta),
    )
    point = family.point(other)
    slack = 1e-11 * (abs(reached) + 1.0)
    assert family.passes.expected(moments, point.densities) + point.log_prior <= reached + slack
    soft, hard = (family.passes.step(point.densities, rule) for rule in (SOFT, HARD))
    assert family.passes.expected(moments, point.densities) <= hard.bound + slack
    assert hard.bound <= soft.bound + slack


@pytest.mark.spec("MS-VIPRUNE")
@some(25)
@given(LINES, st.floats(1e-3, 3.0), st.integers(2, 5))
def test_a_component_without_rows_has_its_prior(rows: Any, alpha: float, k: int) -> None:
    seen = Rows(dataset(rows), Session("reference"))
    family = VariationalGaussian(GaussianFamily(GaussianPasses(seen, k), "VVV"), alpha)
    moments = family.moments(array("i", [0] * len(rows)), k)  # all rows in the first
    beliefs = family.maximised(moments, None)
    n = len(rows)
    for share in beliefs.expected().weights[1:]:
        assert share == pytest.approx(alpha / (k * alpha + n), rel=1e-14)
    nothing = family.maximised(family.moments(array("i", [-1] * n), 1), None)
    assert beliefs.means[1] == nothing.means[0]
    assert beliefs.scales[1] == nothing.scales[0]
    assert (beliefs.beta[1], beliefs.nu[1]) == (nothing.beta[0], nothing.nu[0])


@pytest.mark.spec("MS-VISEL")
@some(4)
@given(DOCS)
def test_the_largest_bound_is_marked(docs: list[list[int]]) -> None:
    assume(len({tuple(doc) for doc in docs}) >= 2)
    found = select(
        docs, model="multinomial", k=[1, 2], criterion="evidence", restarts=1, tolerance=1e-8
    )
    bounds = [variational_multinomial(docs, k).objective for k in (1, 2)]
    assert [one.values["evidence"] for one in found.candidates] == bounds
    assert found.chosen == bounds.index(max(bounds))


@pytest.mark.spec("MS-IS")
@some(60)
@given(st.lists(st.floats(-2000, 300), min_size=1, max_size=30))
def test_effective_size_and_mean_lie_where_they_must(weights: list[float]) -> None:
    log_mean, size = importance_estimate(weights)
    assert 1.0 <= size <= len(weights)
    slack = 4 * UNIT * (max(map(abs, weights)) + 4.0)
    assert min(weights) - slack <= log_mean <= max(weights) + slack
    assert importance_estimate([weights[0]] * len(weights))[1] == len(weights)


@pytest.mark.spec("MS-IS")
@some(30)
@given(
    st.integers(1, 4).flatmap(
        lambda k: st.tuples(
            st.lists(st.lists(NUMBERS, min_size=k, max_size=k), min_size=k, max_size=k),
            st.permutations(range(k)),
        )
    )
)
def test_permanents_do_not_care_for_names(case: tuple[list[list[float]], list[int]]) -> None:
    matrix, order = case
    value = log_permanent(matrix)
    renamed = log_permanent([matrix[i] for i in order])
    assert renamed == pytest.approx(value, rel=1e-12, abs=1e-12)
    turned = log_permanent([list(column) for column in zip(*matrix, strict=True)])
    assert turned == pytest.approx(value, rel=1e-12, abs=1e-12)


@pytest.mark.spec("MS-GAP")
@some(50)
@given(st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=1, max_size=5), NUMBERS)
def test_gaps_of_moved_logarithms(references: list[list[float]], shift: float) -> None:
    """Data in other units: all logarithms move alike, and no gap does."""
    curve = [0.5, 0.25, -1.0]
    plain = gaps(curve, references)
    moved = gaps([x + shift for x in curve], [[x + shift for x in one] for one in references])
    for a, b in zip(plain, moved, strict=True):
        assert a is not None
        assert b is not None
        assert b.value == pytest.approx(a.value, abs=1e-12)
        assert b.error == pytest.approx(a.error, abs=1e-12)


@pytest.mark.spec("MS-GAP")
@some(4)
@given(LINES, st.integers(-3, 3))
def test_choice_by_gap_does_not_depend_on_the_unit(rows: Any, power: int) -> None:
    """Powers of two: reference sets and sums of squares are the same multiples, exactly."""
    asked: dict[str, Any] = {"model": "kmeans", "criterion": "gap", "k": [1, 2, 3], "references": 3}
    one = select(rows, **asked)
    other = select([[x * 2.0**power] for (x,) in rows], **asked)
    for a, b in zip(one.candidates, other.candidates, strict=True):
        assert b.values["rss"] == a.values["rss"] * 4.0**power
        assert b.values["gap"] == pytest.approx(a.values["gap"], abs=1e-12)
        assert b.values["gap-error"] == pytest.approx(a.values["gap-error"], abs=1e-12)


@pytest.mark.spec("MS-ELBOW")
@some(60)
@given(
    st.lists(st.fractions(0, 100, max_denominator=50), min_size=3, max_size=8),
    st.fractions(Fraction(1, 9), 9, max_denominator=9),
)
def test_elbow_by_its_definition(sums: list[Fraction], scale: Fraction) -> None:
    falling = sorted(sums, reverse=True)
    curve = list(enumerate(falling, 2))
    found = elbow(curve)
    if falling[0] == falling[-1]:
        assert found is None
        return
    a, b = 2, 1 + len(falling)
    height = {
        k: (falling[0] - rss) / (falling[0] - falling[-1]) - Fraction(k - a, b - a)
        for k, rss in curve
    }
    assert found == min(k for k in height if height[k] == max(height.values()))
    assert elbow([(k, scale * rss) for k, rss in curve]) == found


def witness_of_the_tail(logs: list[float]) -> Any:
    """MS-PARETO in fifty digits, sums written out."""
    with mpmath.workdps(50):
        ordered = sorted(logs)
        size = int(mpmath.ceil(min(mpmath.mpf(len(logs)) / 5, 3 * mpmath.sqrt(len(logs)))))
        tail = [mpmath.exp(mpmath.mpf(x) - ordered[-1]) for x in ordered[-size - 1 :]]
        xs = [t - tail[0] for t in tail[1:] if t > tail[0]]
        n, m = len(xs), 30 + math.isqrt(len(xs))

        def index(b: Any) -> Any:
            return mpmath.fsum(mpmath.log(1 - b * x) for x in xs) / n

        quarter = xs[(n + 2) // 4 - 1]  # floor(n / 4 + 1 / 2)
        grid = [
            1 / xs[-1] + (1 - mpmath.sqrt(m / (mpmath.mpf(j) - 0.5))) / (3 * quarter)
            for j in range(1, m + 1)
        ]
        masses = [(-b / index(b) * mpmath.exp(-index(b) - 1)) ** n for b in grid]
        mean = mpmath.fsum(b * w for b, w in zip(grid, masses, strict=True)) / mpmath.fsum(masses)
        return (n * index(mean) + 5) / (n + 10)


@pytest.mark.spec("MS-PARETO")
@some(25)
@given(st.integers(0, 2**20), st.integers(30, 150), st.sampled_from([0.1, 0.5, 1.5, 4.0]))
def test_the_tail_index_in_fifty_digits(seed: int, samples: int, heavy: float) -> None:
    """Excesses lose at most three digits to the cut, and the index is a mean of logarithms."""
    draws = Draws(seed)
    logs = [-heavy * math.log1p(-draws.next()) for _ in range(samples)]
    found = pareto_index(logs)
    assert found is not None
    assert found == pytest.approx(float(witness_of_the_tail(logs)), abs=1e-9)
    # Multiplied by one number, far beyond all doubles.
    assert pareto_index([x + 5000.0 for x in logs]) == pytest.approx(found, abs=1e-8)


@pytest.mark.spec("MS-PARETO")
@pytest.mark.parametrize("k", [0.2, 0.5, 0.8, 1.2])
def test_the_tail_index_of_pareto_weights(k: float) -> None:
    """Weights u^-k, on fixed random numbers: the tail is Pareto with the index k.

    The index of n excesses has the standard error (1 + k) / sqrt(n), asymptotically.
    """
    draws = Draws(5)
    logs = [-k * math.log1p(-draws.next()) for _ in range(10_000)]
    found = pareto_index(logs)
    assert found is not None
    assert abs(found - k) < 3 * (1 + k) / math.sqrt(tail_size(10_000))


@pytest.mark.spec("MS-PARETO")
def test_tails_that_are_none() -> None:
    assert pareto_index([0.0] * 20) is None
    assert pareto_index([3.0] * 50) == -math.inf
    assert pareto_index([-math.inf] * 50) is None
    assert pareto_index([0.0] * 49 + [1.0]) == math.inf
    assert pareto_index([0.0] * 40 + [float(i) for i in range(10)]) is not None


@pytest.mark.spec("MS-CHAIN", "MS-IS")
@some(10)
@given(
    st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2), min_size=3, max_size=4),
    st.integers(0, 1000),
)
def test_one_over_the_weights_of_a_chain(docs: list[list[int]], seed: int) -> None:
    """With one component 1/v is one over the evidence, at every step of every chain."""
    assume(all(any(doc) for doc in docs))
    fit = variational_multinomial(docs, 1)
    found = importance_sampling(fit, docs, samples=30, seed=seed)
    for one in found.chains:
        assert one.log_evidence == pytest.approx(found.log_evidence, rel=1e-9, abs=1e-9)
        assert one.standard_error < 1e-9
