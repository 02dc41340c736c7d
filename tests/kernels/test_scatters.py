"""Scatter matrices from the sums of a pass, whatever their size (chapters 32 and 80)."""

from __future__ import annotations

import math
import random
from array import array
from dataclasses import replace
from fractions import Fraction

import pytest

from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures.gaussian import Moments, Spread
from refclust.kernels.mixtures.scatters import Scatters, moved_part, scatters
from tests.kernels.mixture_witness import judged, points_of

NAME = "gaussian.scatters"
SIZES = (0, -557, -1022, -1060, 516, 1000)  # exponents of weights
SPREADS: tuple[Spread, ...] = ("full", "diagonal")


def sums(seed: int, d: int, spread: Spread, weight: int, size: int = 0) -> Moments:
    """Sums of two components of weights near 2**weight, of rows near 2**size."""
    rng = random.Random(seed)
    counts = [math.ldexp(rng.uniform(0.5, 1), weight) for _ in range(2)]
    firsts = [math.ldexp(rng.uniform(-1, 1), weight + size) for _ in range(2 * d)]
    seconds: list[float] = []
    for _ in counts:
        square = [[math.ldexp(rng.uniform(2, 9), weight + 2 * size) for _ in range(d)]
                  for _ in range(d)]  # fmt: skip
        both = [[square[max(i, j)][min(i, j)] for j in range(d)] for i in range(d)]
        kept = [(i, j) for i in range(d) for j in range(d) if spread == "full" or i == j]
        seconds += [both[i][j] for i, j in kept]
    around = CentreMatrix.of([(0.0,) * d] * 2)
    return Moments(array("d", counts), array("d", firsts), array("d", seconds), around, spread)


def careless(moments: Moments) -> array[float]:
    """The textbook's difference, product first: what leaves the range of doubles on the way."""
    d, full = moments.around.d, moments.spread == "full"
    size, found = d * d if full else d, array("d")
    for place, second in enumerate(moments.seconds):
        c, inside = divmod(place, size)
        i, j = divmod(inside, d) if full else (inside, inside)
        product = moments.firsts[c * d + i] * moments.firsts[c * d + j]
        found.append(second - product / moments.counts[c])
    return found


@pytest.mark.spec("GMM-RECENTRE", "KER-WHITEN")
@pytest.mark.parametrize("weight", SIZES)
@pytest.mark.parametrize("spread", SPREADS)
def test_no_product_leaves_the_range_of_doubles(spread: Spread, weight: int) -> None:
    for seed in range(10):
        moments = sums(seed, 3, spread, weight)
        answer = scatters(points_of([(0.0,) * 3]), moments, ())
        d, full = 3, spread == "full"
        for place, x in enumerate(answer):
            c, inside = divmod(place, d * d if full else d)
            i, j = divmod(inside, d) if full else (inside, inside)
            f, g, n = (Fraction(y) for y in (
                moments.firsts[c * d + i], moments.firsts[c * d + j], moments.counts[c]
            ))  # fmt: skip
            second = Fraction(moments.seconds[place])
            # Two roundings of the product, one of the difference; a subnormal result another.
            allowed = 2.0**-53 * float(3 * abs(f * g / n) + abs(second)) + math.ulp(0.0)
            assert abs(Fraction(x) - (second - f * g / n)) <= Fraction(allowed)


@pytest.mark.spec("GMM-RECENTRE")
def test_usual_sums_keep_their_bits() -> None:
    for seed in range(50):
        for spread in SPREADS:
            moments = sums(seed, 2, spread, 3, seed % 7)
            assert scatters(points_of([(0.0, 0.0)]), moments, ()) == careless(moments)


@pytest.mark.spec("GMM-RECENTRE")
def test_exponents_apart() -> None:
    assert moved_part(2.0**-600, -(2.0**-600), 2.0**-600) == -(2.0**-600)
    assert moved_part(2.0**600, 2.0**600, 2.0**600) == 2.0**600
    assert moved_part(5e-324, 3.0, 5e-324) == 3.0
    assert moved_part(0.0, 1.0, 5e-324) == 0.0


@pytest.mark.spec("KER-WHITEN")
@pytest.mark.parametrize("spread", SPREADS)
def test_the_contract_sees_products_that_underflow_or_overflow(spread: Spread) -> None:
    """It would not, were it to take the reference's answer for the truth."""
    points = points_of([(0.0, 0.0)])
    for weight in (-557, 516):
        moments = sums(1, 2, spread, weight)
        wrong = careless(moments)
        told = Scatters().judged(points, (moments, ()), wrong, wrong)
        assert told is not None
        assert told.startswith("scatters[0]: ") or told == "scatters: a NaN"
        assert judged(NAME, points, (moments, ()), scatters(points, moments, ())) is None


@pytest.mark.spec("KER-WHITEN")
def test_the_contract_is_as_sharp_as_it_says() -> None:
    points, moments = points_of([(0.0, 0.0)]), sums(2, 2, "full", 0)
    floor = (0.5, 0.25)
    right = scatters(points, moments, floor)
    assert judged(NAME, points, (moments, floor), right) is None
    assert judged(NAME, points, (moments, ()), right) is not None
    for place in range(len(right)):
        wrong = right[:]
        # Terms are below 9 + 2 + 1/2, of which 4 u are allowed.
        wrong[place] += 2.0**-47
        assert judged(NAME, points, (moments, floor), wrong) is not None
    lopsided = right[:]
    lopsided[1] = math.nextafter(right[1], 9)
    assert (
        judged(NAME, points, (moments, floor), lopsided) == "component 0 is not symmetric at (0, 1)"
    )
    flat = replace(sums(2, 2, "diagonal", 0), seconds=array("d", bytes(32)))
    flat = replace(flat, firsts=array("d", bytes(32)))
    negative = array("d", [-(5e-324), 0, 0, 0])
    told = judged(NAME, points, (flat, ()), negative)
    assert told == "component 0 has a negative variance in column 0"
    infinite = array("d", [math.inf, *right[1:]])
    assert judged(NAME, points, (moments, floor), infinite) is not None
