"""Scatter matrices around the means of components, from the sums of a pass (chapter 32)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from refclust.kernels.gaussian import Moments
from refclust.kernels.mixture import plain
from refclust.kernels.mixture_apart import apart, not_numbers
from refclust.kernels.points import Points, Vector
from refclust.kernels.registry import kernel
from refclust.numbers.argmin import ROUND


def central_scatters(moments: Moments) -> list[Vector]:
    """The scatter of each component around its mean: d*d numbers, or the d on the diagonal.

    Spec: GMM-SIG, CEM-SIG, QDA-PARAM
    """
    d = moments.around.d
    firsts, seconds = plain(moments.firsts), plain(moments.seconds)
    found: list[Vector] = []
    for c, count in enumerate(moments.counts):
        n = count or 1.0  # all sums of a component without weight are zero
        first = firsts[c * d : (c + 1) * d]
        if moments.spread == "diagonal":
            block = seconds[c * d : (c + 1) * d]
            found.append(tuple(max(s - f * f / n, 0.0) for s, f in zip(block, first, strict=True)))
            continue
        lines: list[float] = []
        for i, f in enumerate(first):
            line = seconds[(c * d + i) * d : (c * d + i + 1) * d]
            # The product is rounded before it is divided: the same on both sides of the diagonal.
            lines += [s - f * g / n for s, g in zip(line, first, strict=True)]
        found.append(tuple(lines))
    return found


@dataclass(frozen=True, slots=True)
class Scatters:
    """Each number is within 4 u of the terms it is made of: M, f f' / n and the floor.

    Both halves of a matrix are the same to the bit; a variance is never negative.
    """

    name: str = "Scatters"

    def malformed(self, answer: Any) -> str | None:
        """Ask for a flat buffer of doubles."""
        return not_numbers("scatters", answer)

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare sizes only: values are judged against their terms."""
        one, other = len(memoryview(reference)), len(memoryview(answer))
        return self.malformed(answer) or (
            None if one == other else f"{other} numbers instead of {one}"
        )

    def judged(self, points: Points, args: Sequence[Any], due: Any, answer: Any) -> str | None:
        """Compare every number within its bound, and the halves of matrices."""
        wrong = self.fault(due, answer)
        if wrong:
            return wrong
        moments, prior = args
        d, full = points.d, moments.spread == "full"
        firsts, seconds = plain(moments.firsts), plain(moments.seconds)
        size = d * d if full else d
        allowed = []
        for place, second in enumerate(seconds):
            c, inside = divmod(place, size)
            i, j = divmod(inside, d) if full else (inside, inside)
            product = firsts[c * d + i] * firsts[c * d + j] / (moments.counts[c] or 1.0)
            floor = prior[j] if prior and i == j else 0.0
            allowed.append(8 * ROUND * (abs(second) + abs(product) + floor))
        wrong = apart("scatters", due, answer, allowed)
        given = plain(answer)
        for place, x in enumerate(given if full and not wrong else ()):
            c, inside = divmod(place, size)
            i, j = divmod(inside, d)
            if x != given[c * size + j * d + i]:
                return f"component {c} is not symmetric at ({i}, {j})"
        return wrong


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
    found = array("d", chain.from_iterable(central_scatters(moments)))
    if not prior:
        return found
    d = moments.around.d
    step, size = (d + 1, d * d) if moments.spread == "full" else (1, d)
    for begin in range(0, len(found), size):
        for j, psi in enumerate(prior):
            found[begin + j * step] += psi
    return found
