"""The calls of mixtures of counts under densities that no estimate makes (chapter 81).

Components may ask for columns, rule columns out and have no share, each of them, the first as well
as the last; and the kernels are for any numbers, those below 0 too.
"""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING, Final

from refclust.kernels.mixtures.multinomial import Terms
from refclust.kernels.mixtures.shared import HARD, SOFT
from refclust.kernels.points import Points
from refclust.numbers.sampling import below, stream

if TYPE_CHECKING:
    from refclust.testing.scripts.lockstep import Script

_BARRED: Final = 5  # one slope in so many is -inf


def term_calls(made: Script, k: int) -> None:
    """Posteriors and steps, with columns that must be there and columns that must not."""
    points = Points(made.data[0])
    for barred in (False, True):
        note = "slopes of -inf here and there" if barred else ""
        terms = _terms(points.d, k, barred=barred)
        made.call("multinomial.posterior", terms, barred, k=k, note=note)
        made.call("multinomial.em_step", terms, HARD if barred else SOFT, k=k, note=note)
    for idle in sorted({0, k // 2, k - 1}):
        note = f"columns that must be there, but for component {idle}"
        asking = _asking(points, _terms(points.d, k, barred=False), idle)
        made.call("multinomial.posterior", asking, True, k=k, note=note)
        made.call("multinomial.em_step", asking, SOFT, k=k, note=note)


def _terms(d: int, k: int, *, barred: bool) -> Terms:
    rng = stream(1000 * d + k)
    slopes = array("d")
    for _ in range(k * d):
        slope = 3.0 * rng.random() - 2.0
        slopes.append(-math.inf if barred and not below(rng, _BARRED) else slope)
    offsets = array("d", (-rng.random() * k for _ in range(k)))
    if k > 2:
        offsets[k // 3] = -math.inf
    return Terms(offsets, slopes)


def _asking(points: Points, terms: Terms, idle: int) -> Terms:
    """Each component but one asks for the first columns that some row has."""
    n, k = points.n, terms.k
    some = [tuple(points.nonzero[(c * n) // k][0][: 1 + c % 3]) for c in range(k)]
    some[idle] = ()
    return Terms(terms.offsets, terms.slopes, certain=tuple(some))
