"""Mixtures of words by hand: estimates, smoothing, coefficients, fractions (chapter 31)."""

from __future__ import annotations

import math
from array import array

import pytest

from refclust.data.accepting.door import dataset
from refclust.kernels.mixtures.words import logs
from refclust.kernels.points import Points
from refclust.mixture.families.counts.coefficients import log_coefficient, row_log_coefficient
from refclust.mixture.families.counts.parameters import CountParameters, terms_of
from tests.mixture.tools import bernoulli, check_numbers, multinomial

PLANE = Points(dataset([[0, 0]]))
ROWS = [[4, 0, 1], [5, 1, 0], [0, 3, 3], [1, 1, 1]]


@pytest.mark.spec("MMIX-LL", "MMIX-ESTEP", "MMIX-PI", "MMIX-THETA")
def test_one_iteration_by_hand() -> None:
    """Two coins, three documents; the shares are 9/10, 1/2 and 1/10."""
    start = CountParameters((0.5, 0.5), ((0.75, 0.25), (0.25, 0.75)))
    rows = [[2, 0], [1, 1], [0, 2]]
    fit = multinomial(rows, parameters=start, limit=1, tolerance=None, trace="parameters")
    before = math.log(5 / 16) + math.log(3 / 16) + math.log(5 / 16)
    assert fit.trace[0].log_likelihood == pytest.approx(before, abs=1e-15)
    # T = 2 * 0.9 + 0.5 = 2.3 and 0.5 + 2 * 0.1 = 0.7 of 3 words.
    assert fit.parameters.weights == pytest.approx((0.5, 0.5), abs=1e-16)
    first, second = fit.parameters.probabilities
    assert first == pytest.approx((2.3 / 3, 0.7 / 3), abs=1e-15)
    assert second == pytest.approx((0.7 / 3, 2.3 / 3), abs=1e-15)


@pytest.mark.spec("BMIX-LL", "BMIX-ESTEP", "BMIX-THETA")
def test_one_iteration_of_presences_by_hand() -> None:
    start = CountParameters((0.5, 0.5), ((0.75,), (0.25,)))
    fit = bernoulli([[1], [1], [0]], parameters=start, limit=1, tolerance=None)
    # Shares of the first: 3/4, 3/4, 1/4; N = 7/4, T = 6/4.
    assert fit.parameters.weights[0] == pytest.approx(7 / 12, abs=1e-15)
    assert fit.parameters.probabilities[0][0] == pytest.approx(6 / 7, abs=1e-15)
    assert fit.parameters.probabilities[1][0] == pytest.approx(2 / 5, abs=1e-15)
    assert fit.trace[0].log_likelihood == pytest.approx(3 * math.log(0.5), abs=1e-15)


@pytest.mark.spec("NB-MEST", "MMIX-PRIOR")
def test_given_shares_of_imagined_words() -> None:
    fit = multinomial(ROWS, labels=[0, 0, 1, 1], m=4, p=[0.5, 0.25, 0.25], limit=0)
    assert tuple(fit.parameters.probabilities[0]) == (11 / 15, 2 / 15, 2 / 15)
    terms = [
        4 * p * math.log(theta)
        for row in fit.parameters.probabilities
        for theta, p in zip(row, (0.5, 0.25, 0.25), strict=True)
    ]
    assert fit.log_prior == pytest.approx(math.fsum(terms), rel=1e-15)
    presence = bernoulli([[1, 0], [0, 0]], 1, m=2, p=[1.0, 0.0])
    assert tuple(presence.parameters.probabilities[0]) == (3 / 4, 0.0)
    # A share of 0 or 1 has nothing to say about the other outcome.
    assert presence.log_prior == pytest.approx(2 * math.log(3 / 4) + 2 * math.log(1.0), abs=1e-15)


@pytest.mark.spec("MMIX-PRIOR", "EM-PRIOR")
def test_parameters_that_the_prior_excludes() -> None:
    start = CountParameters((0.5, 0.5), ((0.5, 0.5, 0.0), (0.25, 0.25, 0.5)))
    rows = [[4, 1, 0], [5, 1, 0], [0, 3, 3]]
    fit = multinomial(rows, parameters=start, m=1.0)
    assert fit.trace[0].objective == -math.inf
    assert math.isfinite(fit.trace[0].log_likelihood)
    assert fit.trace[1].gain == math.inf
    assert fit.monotone.holds
    assert fit.monotone.ascents[0].verdict == "rises"
    assert math.isfinite(fit.objective)


@pytest.mark.spec("MMIX-COEF")
def test_the_coefficient() -> None:
    assert math.exp(row_log_coefficient([2, 1, 1])) == pytest.approx(12.0, rel=1e-14)
    assert row_log_coefficient([0, 5]) == 0.0
    assert row_log_coefficient([]) == 0.0
    assert log_coefficient(ROWS) == pytest.approx(math.log(5 * 6 * 20 * 6), rel=1e-14)
    half = math.lgamma(3.0) - math.lgamma(2.5) - math.lgamma(1.5)
    assert row_log_coefficient([1.5, 0.5]) == pytest.approx(half, rel=1e-14)


@pytest.mark.spec("MMIX-COUNTS")
def test_fractions_on_purpose() -> None:
    rows = [[0.5, 1.25, 0.0], [2.5, 0.0, 0.125], [0.0, 0.75, 3.5]]
    fit = multinomial(rows, 2, counts="fractional", seed=1)
    check_numbers(fit)
    assert fit.monotone.holds
    assert fit.settings["counts"] == "fractional"
    double = multinomial([[8 * x for x in row] for row in rows], 1, seed=1)
    single = multinomial(rows, 1, counts="fractional", seed=1)
    assert double.log_likelihood == pytest.approx(8 * single.log_likelihood, rel=1e-14)
    assert tuple(double.parameters.probabilities) == tuple(single.parameters.probabilities)


@pytest.mark.spec("BMIX-LL")
def test_words_that_must_be_there() -> None:
    one = CountParameters((0.5, 0.5), ((1.0, 0.5), (0.5, 0.5)))
    terms = terms_of(one, logs(PLANE, array("d", [1.0, 0.5, 0.5, 0.5]), "bernoulli"), "bernoulli")
    assert terms.certain == ((0,), ())
    fit = bernoulli([[1, 0], [0, 1], [1, 1]], parameters=one, limit=0)
    assert fit.labels.tolist() == [0, 1, 0]
    assert fit.trace[0].log_likelihood == pytest.approx(
        2 * math.log(0.25 + 0.125) + math.log(0.125), abs=1e-15
    )
    assert logs(PLANE, array("d", [1.0, 0.0]), "multinomial").slopes[1] == -math.inf


@pytest.mark.spec("MMIX-ALG", "EM-CONV")
def test_what_is_separate_is_found() -> None:
    rows = [[9, 1, 0, 0], [8, 2, 0, 0], [10, 3, 0, 0], [0, 0, 7, 4], [0, 0, 5, 5], [0, 0, 9, 2]]
    for start in ("kmeans", "random", "points"):
        fit = multinomial(rows, 2, start=start, restarts=5, seed=1)
        assert fit.labels[0] != fit.labels[3]
        assert len(set(fit.labels[:3])) == len(set(fit.labels[3:])) == 1
        assert fit.parameters.weights == pytest.approx((0.5, 0.5), abs=1e-6)
        assert fit.free_parameters == 1 + 2 * 3
    assert bernoulli([[float(x > 0) for x in row] for row in rows], 2, m=0.1).free_parameters == 9
