"""When sums of distances are right: each within a relative bound that no cancelling can break.

u is half a unit in the last place of 1, d the number of columns. Let a sum be of w |x - y|, or of
w |x - y|**2.

- A difference of two doubles is rounded once: u of itself, wherever the origin is. One from a point
  c + r, where r is what rounding to the double c lost, is (x - c) - r. If x = c it is exact; else
  |x - c| is at most twice what is left, so two roundings give 3 u, and a fourth is that of r.
- The square of a difference then errs by 8 u and one rounding; any order of adding d squares adds
  d - 1 more: (d + 8) u; the root has half of that and is rounded.
- The product with w is rounded once, and so may w be that a caller was given as a fraction.
- The sum: at most 64 roundings touch any one term. So sums are taken in blocks, by halves, or with
  the rest that each addition loses; one long chain of additions is not.

All terms have one sign, so relative errors of terms are those of the sum: (d + 74) u, and
(d + 80) u with terms of second order. What underflows on the way is below 2**-1000 a term.
Expanded squares, |x|**2 - 2 x.y + |y|**2, err by u |x|**2 instead, which no bound here covers.

``math.dist`` and ``math.hypot`` err by less than 2 u and ``math.fsum`` by u, so the reference is
within 16 u of the exact sum: that is what an answer is held against.

Fine sums are two doubles each, the second what the first leaves, and err by some u**2. Two doubles
that are added, or multiplied with a fused operation, leave a rest that is a double itself.

- x - y is s + e, exactly, with e at most u s. (x - c) - r is s' + f + e with exact sums for s' and
  f; adding f and e costs 3 u**2, since |x - c| is at most twice what is left.
- Its square is that of s, exactly two doubles, and 2 s e; leaving out e**2 and rounding the small
  part costs 35 u**2. What an addition to the sum of squares loses goes to a low part, which after j
  of them is below (j + 7) u of the sum and is rounded each time: with d columns less than
  8 (d + 8)**2 u**2.
- The root r of the first part, and (h - r**2 + l) / 2 r, err by half of that and 8 u**2; the
  product with a weight by 5 u**2.
- Sums of terms are kept in the same way, at most 1024 in one chain, which costs 3 * 2**20 u**2;
  joining n / 64 of them, with the low part brought back below u each time, 4 u**2 a join.

Together less than ((d + 8)**2 + 2**20 + n / 64) 8 u**2, and 8 u**2 is 2**-103: some 2**-83.
The reference has integers, and rounds twice.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from refclust.kernels.contracts.comparing import TINY, not_numbers
from refclust.kernels.points import Points
from refclust.numbers.argmin import ROUND

_ANSWER: Final = 80  # roundings, beside those of the squares
_REFERENCE: Final = 16
_COARSE: Final = 2.0**-20
_CHAINED: Final = 1 << 20
_FINE_REFERENCE: Final = 2.0**-100
_NEARLY_ALL: Final = sys.float_info.max * (1.0 - 2.0**-30)  # above, a sum may be infinite or not


def relative_bound(d: int) -> float:
    """By how much of itself a sum of distances in d columns may err.

    Spec: KER-DISTSUM, KER-CENTREDIST

    >>> relative_bound(16) / ROUND
    96.0
    """
    return (d + _ANSWER) * ROUND


def fine_bound(n: int, d: int) -> float:
    """By how much of itself a fine sum of at most n distances in d columns may err.

    Spec: KER-FINESUM, KER-CENTREDIST

    >>> fine_bound(1000, 16) < 2.0**-82
    True
    """
    return ((d + 8) ** 2 + _CHAINED + n / 64) * 2.0**-103


@dataclass(frozen=True, slots=True)
class Lengths:
    """Sums of distances as a flat buffer of doubles, each within a relative bound.

    >>> from array import array
    >>> Lengths().fault(array("d", [2.0]), array("d", [2.1]))
    'sum 0: 2.1 instead of 2.0, 0.05 of it apart, 9.5e-07 allowed'
    """

    name: str = "Lengths"

    def malformed(self, answer: Any) -> str | None:
        """Ask for a flat buffer of doubles that are numbers."""
        return not_numbers("sums", answer)

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare coarsely, without the data."""
        return self.malformed(answer) or _apart(reference, answer, _COARSE, 1)

    def judged(self, points: Points, args: Sequence[Any], due: Any, answer: Any) -> str | None:  # noqa: ARG002
        """Compare every sum within its bound."""
        allowed = relative_bound(points.d) + _REFERENCE * ROUND
        return self.malformed(answer) or _apart(due, answer, allowed, points.n)


def _apart(due: Any, answer: Any, allowed: float, terms: int) -> str | None:
    right, numbers = memoryview(due).tolist(), memoryview(answer).tolist()
    if len(right) != len(numbers):
        return f"{len(numbers)} sums instead of {len(right)}"
    for place, (x, y) in enumerate(zip(right, numbers, strict=True)):
        off = abs(x - y)
        if x == y or (off < math.inf and off <= allowed * x + terms * TINY):
            continue
        if min(x, y) > _NEARLY_ALL:
            continue
        gap = off / x if x else math.inf
        return f"sum {place}: {y!r} instead of {x!r}, {gap:.2g} of it apart, {allowed:.2g} allowed"
    return None


@dataclass(frozen=True, slots=True)
class FineLengths:
    """Sums of distances as doubles, then what each of these leaves: within a bound beyond doubles.

    >>> from array import array
    >>> FineLengths().fault(array("d", [2.0, 0.0]), array("d", [2.0, 1e-3]))
    'sum 0: 2.0 + 0.001 instead of 2.0 + 0.0, 0.0005 of it apart, 9.5e-07 allowed'
    """

    name: str = "FineLengths"

    def malformed(self, answer: Any) -> str | None:
        """Ask for a flat buffer of doubles that are numbers, two for each sum."""
        wrong = not_numbers("sums", answer)
        if wrong is None and len(memoryview(answer)) % 2:
            wrong = f"{len(memoryview(answer))} doubles, and every sum is two"
        return wrong

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare coarsely, without the data."""
        return self.malformed(answer) or _fine_apart(reference, answer, _COARSE, 1)

    def judged(self, points: Points, args: Sequence[Any], due: Any, answer: Any) -> str | None:  # noqa: ARG002
        """Compare every sum within its bound."""
        allowed = fine_bound(points.n, points.d) + _FINE_REFERENCE
        return self.malformed(answer) or _fine_apart(due, answer, allowed, points.n)


def _fine_apart(due: Any, answer: Any, allowed: float, terms: int) -> str | None:
    right, numbers = memoryview(due).tolist(), memoryview(answer).tolist()
    if len(right) != len(numbers):
        return f"{len(numbers)} doubles instead of {len(right)}"
    half = len(right) // 2
    for place in range(half):
        high, rest, x, y = *right[place::half], *numbers[place::half]
        if (high, rest) == (x, y) or min(high, x) > _NEARLY_ALL:
            continue
        # Differences of near doubles are exact; an infinite one is far from every other.
        off = abs((x - high) + (y - rest))
        if off < math.inf and off <= allowed * high + terms * TINY:
            continue
        gap = off / high if high else math.inf
        told = f"{x!r} + {y!r} instead of {high!r} + {rest!r}"
        return f"sum {place}: {told}, {gap:.2g} of it apart, {allowed:.2g} allowed"
    return None
