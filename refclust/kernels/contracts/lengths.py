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
"""

from __future__ import annotations

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
_NEARLY_ALL: Final = sys.float_info.max * (1.0 - 2.0**-30)  # above, a sum may be infinite or not


def relative_bound(d: int) -> float:
    """By how much of itself a sum of distances in d columns may err.

    Spec: KER-DISTSUM, KER-CENTREDIST

    >>> relative_bound(16) / ROUND
    96.0
    """
    return (d + _ANSWER) * ROUND


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
        if x == y or abs(x - y) <= allowed * x + terms * TINY or min(x, y) > _NEARLY_ALL:
            continue
        gap = abs(x - y) / x if x else float("inf")
        return f"sum {place}: {y!r} instead of {x!r}, {gap:.2g} of it apart, {allowed:.2g} allowed"
    return None
