"""Certified log-likelihoods against a library of arbitrary precision (EM-CERT)."""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from refclust.data.accepting.door import dataset
from refclust.errors import RefclustError
from refclust.mixture.certified import Certified, certified_log_likelihood
from refclust.mixture.families.counts.parameters import CountParameters
from refclust.mixture.families.exact import pi
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from tests.mixture.tools import bernoulli, gaussian, multinomial

PLANE = GaussianParameters(
    (0.3, 0.7), ((0.1, -0.2), (2.0, 1.0)), ((1.0, 0.25, 0.25, 0.5), (2.0, -0.5, -0.5, 1.0)), "full"
)
ROWS = [[0.5, 0.25], [1.5, -0.75], [3.0, 2.0]]


def exact(parameters: GaussianParameters, rows: Any, weights: Any) -> Any:
    """The same sum with 80 digits."""
    with mpmath.workdps(80):
        whole = mpmath.mpf(0)
        for row, w in zip(rows, weights, strict=True):
            density = mpmath.mpf(0)
            for share, mean, covariance in zip(
                parameters.weights, parameters.means, parameters.covariances, strict=True
            ):
                matrix = mpmath.matrix([[mpmath.mpf(x) for x in line] for line in covariance])
                away = mpmath.matrix(
                    [mpmath.mpf(a) - mpmath.mpf(b) for a, b in zip(row, mean, strict=True)]
                )
                square = (away.T * matrix**-1 * away)[0]
                top = mpmath.exp(-square / 2) / mpmath.sqrt(mpmath.det(2 * mpmath.pi * matrix))
                density += mpmath.mpf(share) * top
            whole += mpmath.mpf(w) * mpmath.log(density)
        return +whole


@pytest.mark.spec("EM-CERT")
@pytest.mark.parametrize("digits", [5, 15, 28, 29, 30, 50, 70])
def test_against_eighty_digits(digits: int) -> None:
    weights = [1.0, 0.5, 3.0]
    found = certified_log_likelihood(
        PLANE, dataset(ROWS, weights=weights), family="gaussian", digits=digits
    )
    with mpmath.workdps(80):
        due = exact(PLANE, ROWS, weights)
        assert mpmath.mpf(str(found.low)) <= due <= mpmath.mpf(str(found.high))
    assert found.width < Decimal(10) ** -(digits - 1)
    if digits >= 28:
        assert float(found) == float(due)


@pytest.mark.spec("EM-CERT", "NUM-ROUND")
@pytest.mark.parametrize("digits", [1, 10, 27, 28, 29, 60, 200])
def test_pi_lies_between_its_ends(digits: int) -> None:
    low, high = pi(digits)
    with mpmath.workdps(digits + 20):
        assert mpmath.mpf(str(low)) < mpmath.pi < mpmath.mpf(str(high))
    assert high - low <= Decimal(10) ** -digits * 2
    with decimal.localcontext(decimal.Context(prec=3)):
        assert pi(digits) == (low, high)


@pytest.mark.spec("EM-CERT")
def test_the_callers_decimal_context_does_not_matter() -> None:
    found = certified_log_likelihood(PLANE, ROWS, family="gaussian")
    with decimal.localcontext(decimal.Context(prec=4)):
        again = certified_log_likelihood(PLANE, ROWS, family="gaussian")
        assert (again.low, again.high) == (found.low, found.high)
        assert float(again) == float(found)
        assert again.distance(float(found)) == found.distance(float(found))


@pytest.mark.spec("EM-CERT", "MMIX-LL")
def test_words_are_logarithms_of_rationals() -> None:
    two = CountParameters((0.25, 0.75), ((0.5, 0.5, 0.0), (0.125, 0.375, 0.5)))
    rows = [[3, 1, 0], [0, 0, 2], [0, 0, 0], [7, 7, 0]]
    likelihood = Fraction(1)
    for row in rows:
        one = Fraction(0)
        for weight, thetas in zip(two.weights, two.probabilities, strict=True):
            term = Fraction(weight)
            for x, theta in zip(row, thetas, strict=True):
                term *= Fraction(theta) ** x
            one += term
        likelihood *= one
    found = certified_log_likelihood(two, rows, family="multinomial", digits=40)
    with mpmath.workdps(60):
        due = mpmath.log(mpmath.mpf(likelihood.numerator) / likelihood.denominator)
        assert mpmath.mpf(str(found.low)) <= due <= mpmath.mpf(str(found.high))


@pytest.mark.spec("EM-CERT", "EM-CONV")
def test_fits_report_within_their_bounds() -> None:
    """What a fit reports is within the rounding of its last certificate of the exact value."""
    rows = [[0.0, 1.0], [1.0, 0.5], [9.0, 2.0], [10.0, 3.5], [4.0, 4.0], [8.0, 1.0]]
    for fit in (
        gaussian(rows, 2, covariance="VVI", floor=0.1),
        multinomial([[4, 0, 1], [5, 1, 0], [0, 3, 3], [1, 1, 1]], 2, m=0.5),
        bernoulli([[1, 0], [1, 1], [0, 1], [0, 0]], 2, m=0.5),
    ):
        data = {"gaussian": rows, "multinomial": [[4, 0, 1], [5, 1, 0], [0, 3, 3], [1, 1, 1]]}.get(
            fit.family, [[1, 0], [1, 1], [0, 1], [0, 0]]
        )
        enclosed = certified_log_likelihood(fit.parameters, data, family=fit.family)
        # The constant is added last: half a unit of it and of the sum.
        last = abs(fit.weight * fit.constant) + abs(fit.log_likelihood)
        allowed = fit.monotone.ascents[-1].rounding + 4 * 2.0**-53 * last
        assert enclosed.distance(fit.log_likelihood) <= allowed


@pytest.mark.spec("EM-CERT")
def test_densities_far_beyond_doubles() -> None:
    tiny = GaussianParameters((0.5, 0.5), ((0.0,), (9.0,)), ((1e-300,), (1e-300,)), "spherical")
    found = certified_log_likelihood(tiny, [[1.0]], family="gaussian")
    assert found.low <= Decimal("-5e299") * Decimal("0.999999")
    assert float(found) == pytest.approx(-5e299, rel=1e-15)
    assert found.low < found.high
    many = certified_log_likelihood(tiny, [[1.0]], family="gaussian", digits=400)
    assert found.low <= many.low <= many.high <= found.high
    assert many.width < Decimal("1e-90")


@pytest.mark.spec("EM-CERT")
@pytest.mark.parametrize(
    ("parameters", "data", "family", "digits", "code"),
    [
        (PLANE, ROWS, "gaussian", 0, "bad-option"),
        (PLANE, ROWS, "gaussian", 1001, "bad-option"),
        (PLANE, ROWS, "gaussian", "x", "bad-option"),
        (PLANE, ROWS, "words", 30, "bad-option"),
        (PLANE, [[1.0]], "gaussian", 30, "dimension-mismatch"),
        (
            GaussianParameters((1.0,), ((0.0, 0.0),), ((1.0, 1.0, 1.0, 1.0),), "full"),
            ROWS,
            "gaussian",
            30,
            "degenerate-covariance",
        ),
        (CountParameters((1.0,), ((1.0, 0.0),)), [[0, 1]], "multinomial", 30, "impossible-row"),
        (CountParameters((1.0,), ((1.0, 0.5),)), [[0, 1]], "bernoulli", 30, "impossible-row"),
    ],
)
def test_what_is_refused(parameters: Any, data: Any, family: str, digits: Any, code: str) -> None:
    with pytest.raises(RefclustError) as caught:
        certified_log_likelihood(parameters, data, family=family, digits=digits)
    assert caught.value.code == code


def test_impossible_rows_of_weight_zero_and_components_of_weight_zero() -> None:
    one = CountParameters((1.0, 0.0), ((1.0, 0.0), (0.5, 0.5)))
    data = dataset([[3, 0], [0, 1]], weights=[1.0, 0.0])
    assert float(certified_log_likelihood(one, data, family="multinomial")) == 0.0


def test_distance_is_never_too_small() -> None:
    found = Certified(Decimal("0.1"), Decimal("0.2"))
    assert found.distance(0.0) >= Decimal("0.2")
    assert Fraction(found.distance(0.3)) >= Fraction(3, 10) - Fraction(1, 10) - Fraction(1, 10**16)
    assert math.isclose(float(found), 0.15)
