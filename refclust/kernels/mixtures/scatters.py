"""Scatter matrices around the means of components, from the sums of a pass (chapter 32)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any, Final

from refclust.kernels.blocks import blocks
from refclust.kernels.contracts.comparing import not_numbers
from refclust.kernels.mixtures.gaussian import Moments
from refclust.kernels.mixtures.shared import floats
from refclust.kernels.points import Points, Vector
from refclust.kernels.registry import kernel
from refclust.numbers.argmin import ROUND

_LEAST: Final = Fraction(math.ulp(0.0))  # of both sides, half of it each: a result may be subnormal


def moved_part(f: float, g: float, n: float) -> float:
    """f g / n, what a second moment has too much if the mean is not the point of the sums.

    Exponents are kept apart: whatever the size of sums and weight, only the result can leave the
    range of doubles. Elsewhere the bits are those of (f * g) / n; the product comes first, so that
    both sides of a diagonal are the same.

    Spec: GMM-RECENTRE

    >>> moved_part(4.0, 4.0, 2.0), moved_part(2.0**-600, 2.0**-600, 2.0**-600) == 2.0**-600
    (8.0, True)
    """
    (a, i), (b, j), (c, k) = math.frexp(f), math.frexp(g), math.frexp(n)
    return math.ldexp(a * b / c, i + j - k)


def central_scatters(moments: Moments) -> list[Vector]:
    """The scatter of each component around its mean: d*d numbers, or the d on the diagonal.

    Spec: GMM-SIG, CEM-SIG, QDA-PARAM
    """
    d, full = moments.around.d, moments.spread == "full"
    scatters: list[Vector] = []
    for count, first, second in zip(
        moments.counts,
        blocks(moments.firsts, d),
        blocks(moments.seconds, d * d if full else d),
        strict=True,
    ):
        n = count or 1.0  # all sums of a component without weight are zero
        if full:
            products = [moved_part(f, g, n) for f in first for g in first]
            scatters.append(tuple(s - p for s, p in zip(second, products, strict=True)))
        else:
            products = [moved_part(f, f, n) for f in first]
            scatters.append(tuple(max(s - p, 0.0) for s, p in zip(second, products, strict=True)))
    return scatters


@dataclass(frozen=True, slots=True)
class Scatters:
    """Each number is within 4 u of the terms it is made of, M, f f' / n and the floor.

    It is compared with the exact value of these sums, and what is allowed beside 4 u is one
    subnormal: neither a product nor a quotient on the way may leave the range of doubles. Both
    halves of a matrix are the same to the bit; a variance is never negative.
    """

    name: str = "Scatters"

    def malformed(self, answer: Any) -> str | None:
        """Ask for a flat buffer of doubles."""
        return not_numbers("scatters", answer)

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare sizes only: values are judged against their terms."""
        size, actual = len(memoryview(reference)), len(memoryview(answer))
        return self.malformed(answer) or (
            None if size == actual else f"{actual} numbers instead of {size}"
        )

    def judged(self, points: Points, args: Sequence[Any], due: Any, answer: Any) -> str | None:
        """Compare every number with its exact value, and the halves of matrices."""
        wrong = self.fault(due, answer)
        if wrong:
            return wrong
        moments, prior = args
        d, full = points.d, moments.spread == "full"
        size = d * d if full else d
        numbers = floats(answer)
        for place, (exact, terms) in enumerate(_exact_scatters(moments, prior)):
            x = numbers[place]
            allowed = 4 * Fraction(ROUND) * terms + _LEAST
            if not math.isfinite(x) or abs(Fraction(x) - exact) > allowed:
                return (
                    f"scatters[{place}]: {x!r} instead of {float(exact)!r}, "
                    f"{float(allowed):.2g} allowed"
                )
            c, inside = divmod(place, size)
            i, j = divmod(inside, d) if full else (inside, inside)
            if full and x != numbers[c * size + j * d + i]:
                return f"component {c} is not symmetric at ({i}, {j})"
            if not full and x < 0.0:
                return f"component {c} has a negative variance in column {j}"
        return None


def _exact_scatters(
    moments: Moments, prior: Sequence[float]
) -> Iterator[tuple[Fraction, Fraction]]:
    """Every number of all scatters as a fraction, and how large its terms are together."""
    d, full = moments.around.d, moments.spread == "full"
    size = d * d if full else d
    firsts = list(map(Fraction, floats(moments.firsts)))
    for place, second in enumerate(map(Fraction, floats(moments.seconds))):
        c, inside = divmod(place, size)
        i, j = divmod(inside, d) if full else (inside, inside)
        product = firsts[c * d + i] * firsts[c * d + j] / Fraction(moments.counts[c] or 1.0)
        floor = Fraction(prior[j]) if prior and i == j else Fraction(0)
        central = second - product
        if not full:
            central = max(central, Fraction(0))
        yield central + floor, abs(second) + abs(product) + floor


@kernel("gaussian.scatters", contract=Scatters())
def scatters(
    points: Points,  # noqa: ARG001  (kernels get the rows first; the sums have all that is needed)
    moments: Moments,
    prior: Sequence[float],
) -> array[float]:
    """Find the scatter of every component around its mean, a floor on the diagonal added.

    Spec: GMM-SIG, GMM-FLOOR, KER-WHITEN

    >>> from refclust.data.dataset import dense
    >>> from refclust.kernels.centres import CentreMatrix
    >>> line = Points(dense(array("d", [1, 3]), 1))
    >>> sums = Moments(array("d", [2]), array("d", [4]), array("d", [10]),
    ...                CentreMatrix.of([(0.0,)]), "full")
    >>> scatters(line, sums, (0.5,))
    array('d', [2.5])
    """
    flat = array("d", chain.from_iterable(central_scatters(moments)))
    if not prior:
        return flat
    d = moments.around.d
    step, size = (d + 1, d * d) if moments.spread == "full" else (1, d)
    for begin in range(0, len(flat), size):
        for j, psi in enumerate(prior):
            flat[begin + j * step] += psi
    return flat
