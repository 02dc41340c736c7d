"""Poisson and geometric mixtures: held to the formulas of chapter 35, state by state."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import refclust
from refclust.errors import BadOption, FeatureMismatch, RefclustError
from refclust.formulas import counts as room
from refclust.formulas import mixtures
from refclust.mixture.certified import certified_log_likelihood
from refclust.mixture.families.counts.means import MeanParameters
from refclust.mixture.families.named import record
from refclust.mixture.families.named.geometric import geometric_mixture, geometric_steps
from refclust.mixture.families.named.poisson import poisson_mixture, poisson_steps
from refclust.mixture.predict import assignments
from refclust.mixture.sample import sample
from refclust.mixture.theory import decomposition
from refclust.numbers.real import log

FITS: dict[str, Any] = {"poisson": poisson_mixture, "geometric": geometric_mixture}
STEPS: dict[str, Any] = {"poisson": poisson_steps, "geometric": geometric_steps}
LAWS: dict[str, Any] = {"poisson": room.poisson, "geometric": room.geometric}
LIKELIHOODS: dict[str, Any] = {
    "poisson": room.poisson_log_likelihood,
    "geometric": room.geometric_log_likelihood,
}
IMAGINED: dict[str, Any] = {"poisson": room.without_factorials, "geometric": room.geometric}
U = 2.0**-53
ROWS = [[3, 0, 1], [4, 1, 0], [2, 0, 0], [0, 7, 2], [1, 9, 3], [0, 8, 0]]
START = MeanParameters((0.5, 0.5), ((2.0, 1.0, 0.5), (1.0, 6.0, 2.0)))

families = pytest.mark.parametrize("family", ["poisson", "geometric"])
rows_of_counts = st.lists(
    st.lists(st.integers(0, 9), min_size=2, max_size=2), min_size=2, max_size=5
)
positive = st.integers(1, 24).map(lambda x: x / 4)


def size_of(rows: list[list[int]], parameters: MeanParameters) -> float:
    """A generous bound on the sum of the absolute terms of a log-likelihood."""
    logs = [abs(math.log(mu)) + mu + 1 for means in parameters.means for mu in means]
    most = max(logs) * len(parameters.means[0]) + 2 * max(-math.log(w) for w in parameters.weights)
    return sum(most * (1 + sum(row)) + sum(math.lgamma(x + 1) for x in row) for row in rows)


@families
@pytest.mark.spec("PMIX-LL", "GEO-LL", "CM-LL")
@given(rows=rows_of_counts, means=st.lists(positive, min_size=4, max_size=4))
def test_likelihoods_are_those_of_the_room(family: str, rows: Any, means: Any) -> None:
    state = MeanParameters((0.25, 0.75), (tuple(means[:2]), tuple(means[2:])))
    exact = LIKELIHOODS[family](rows, [1] * len(rows), (state.weights, state.means))
    fit = FITS[family](rows, parameters=state, limit=0, backend="reference")
    assert abs(Fraction(fit.log_likelihood) - Fraction(float(exact))) <= 64 * U * size_of(
        rows, state
    )
    certified = certified_log_likelihood(state, rows, family=family)
    assert certified.low <= exact.enclosure(40)[1]
    assert exact.enclosure(40)[0] <= certified.high


@families
@pytest.mark.spec("CM-MU", "CM-PRIOR", "EM-MSTEP")
@pytest.mark.parametrize(("m", "p"), [(0, None), (2, None), (1.5, [1.0, 2.0, 0.25])])
def test_a_step_is_the_one_of_the_room(family: str, m: float, p: Any) -> None:
    steps = STEPS[family](ROWS, parameters=START, m=m, p=p, limit=1, backend="reference")
    for _ in steps:
        pass
    fit, ones = steps.result(), [1] * len(ROWS)
    own = p or [float(Fraction(sum(column), len(ROWS))) for column in zip(*ROWS, strict=True)]
    mixture = (START.weights, START.means)

    def density(x: Any, mu: Any) -> Any:
        return room.row_probability(x, mu, LAWS[family])

    q = [mixtures.responsibilities(x, mixture, density) for x in ROWS]
    for k in range(2):
        due = room.means(ROWS, ones, [row[k] for row in q], m, own)
        for mu, exact in zip(fit.parameters.means[k], due, strict=True):
            assert abs(mu - float(exact)) <= 2**9 * U * float(exact)
    if m:
        prior = float(room.log_prior(fit.parameters.means, m, own, IMAGINED[family]))
        assert abs(fit.log_prior - prior) <= 2**9 * U * (1 + abs(prior) + 20 * m)


@families
@pytest.mark.spec("CM-MU", "EM-CONV")
@given(rows=rows_of_counts, m=st.sampled_from([0, 1]), seed=st.integers(0, 3))
def test_no_iteration_falls(family: str, rows: Any, m: int, seed: int) -> None:
    rows = [[x + 1, y] for x, y in rows]
    different = {tuple(row) for row in rows}
    fit = FITS[family](rows, min(2, len(different)), m=m, seed=seed, limit=20, backend="reference")
    assert fit.monotone.standing != "falls"


@families
@pytest.mark.spec("CM-MU")
@given(rows=rows_of_counts, shift=st.sampled_from([-1 / 8, 1 / 8]), j=st.integers(0, 1))
def test_the_mean_is_the_best_of_all(family: str, rows: Any, shift: float, j: int) -> None:
    """CM-MU is the arg max of the likelihood of one component, whatever the law."""
    rows = [[x + 1, y + 1] for x, y in rows]
    ones, law = [1] * len(rows), LAWS[family]
    best = room.means(rows, ones, ones, 0, [0, 0])
    moved = [mu * (1 + Fraction(shift)) if i == j else mu for i, mu in enumerate(best)]

    def likelihood(mu: Any) -> Any:
        return mixtures.log_likelihood(
            rows, ones, ([1], [mu]), lambda x, mean: room.row_probability(x, mean, law)
        )

    assert likelihood(best) > likelihood(moved)


@families
@pytest.mark.spec("CM-PRIOR")
def test_the_prior_is_the_likelihood_of_imagined_rows(family: str) -> None:
    """Whole imagined rows, counted twice, are as good as two real ones, but for factorials."""
    mu: list[Fraction | int] = [3, Fraction(1, 2)]
    row = [2, 1]
    prior = room.log_prior([mu], 2, row, IMAGINED[family])
    real = LIKELIHOODS[family]([row], [2], ([1], [mu]))
    left_out = Fraction(1, 4) if family == "poisson" else Fraction(1)  # (1 / 2!)^2
    assert real == prior + log(left_out)


@families
def test_integer_weights_are_copies(family: str) -> None:
    weights = [1, 2, 3, 1, 2, 1]
    copies = [row for row, w in zip(ROWS, weights, strict=True) for _ in range(w)]
    options = {"parameters": START, "limit": 5, "backend": "reference"}
    by_weight = FITS[family](ROWS, weights=weights, **options)
    by_copies = FITS[family](copies, **options)
    for a, b in zip(by_weight.parameters.means, by_copies.parameters.means, strict=True):
        assert a == pytest.approx(b, rel=2**-40)


@families
def test_a_row_under_a_mixture(family: str) -> None:
    found = assignments(START, ROWS, family=family)
    for i, row in enumerate(ROWS):
        exact = LIKELIHOODS[family]([row], [1], (START.weights, START.means))
        assert found.log_likelihoods[i] == pytest.approx(float(exact), rel=2**-44)
    parts = decomposition([(0.5, 0.5)] * 6, START, ROWS, family=family)
    assert abs(parts.gap) < 1e-10


@families
@pytest.mark.spec("EM-SAMPLE")
def test_samples_have_the_means_of_the_mixture(family: str) -> None:
    drawn = sample(START, 4000, family=family, seed=3)
    for k in range(2):
        own = [row for row, label in zip(drawn.rows, drawn.labels, strict=True) if label == k]
        for j, mu in enumerate(START.means[k]):
            mean = math.fsum(row[j] for row in own) / len(own)
            variance = mu if family == "poisson" else mu + mu * mu
            assert abs(mean - mu) < 5 * math.sqrt(variance / len(own))  # five standard errors


@families
def test_a_column_without_counts(family: str) -> None:
    fit = FITS[family]([[1, 0], [2, 0], [9, 0]], 2, seed=1)
    assert [means[1] for means in fit.parameters.means] == [0.0, 0.0]
    with pytest.raises(RefclustError) as refused:
        assignments(fit.parameters, [[1, 1]], family=family)
    assert refused.value.code == "impossible-row"


@families
@pytest.mark.parametrize(
    ("rows", "options", "code"),
    [
        ([[1, -1]], {}, "negative-count"),
        ([[1, 0.5]], {}, "fractional-count"),
        ([[1, 1]], {"m": -1}, "bad-option"),
        ([[1, 1]], {"m": 1, "p": [1]}, "dimension-mismatch"),
        ([[1, 1]], {"m": 1, "p": [1, -1]}, "bad-option"),
        ([[1, 1]], {"parameters": {"weights": [1], "means": [[1]]}}, "dimension-mismatch"),
        ([[1, 1]], {"parameters": {"weights": [1], "means": [[1, -2]]}}, "bad-option"),
    ],
)
def test_what_is_refused(family: str, rows: Any, options: Any, code: str) -> None:
    with pytest.raises(RefclustError) as refused:
        FITS[family](rows, 1, **options)
    assert refused.value.code == code


def test_parameters_of_another_family_are_refused() -> None:
    with pytest.raises(BadOption, match="a Poisson mixture has MeanParameters"):
        assignments({"weights": [1]}, [[1]], family="poisson")  # type: ignore[arg-type]
    with pytest.raises(FeatureMismatch):
        assignments(START, [[1]], family="geometric")


@families
def test_they_are_public_by_their_names(family: str) -> None:
    assert getattr(refclust, f"{family}_mixture") is FITS[family]
    assert getattr(refclust, f"{family}_steps") is STEPS[family]
    assert record(family).name == family
