"""The exact mass that a draw is made from, and a draw over several parts of the rows (chapter 10).

``seeding.locate`` takes a share of the mass of its own rows. Where rows lie in several places, each
place tells its mass as a rational; the masses decide on which part the random number falls and how
much mass it passes by there, and that part says on which row.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from refclust.kernels.clusters.seeding import Potential, exact_masses
from refclust.kernels.contracts.basic import Equal, Rationals
from refclust.kernels.contracts.merging import RATIONALS
from refclust.kernels.points import Points
from refclust.kernels.registry import kernel


@kernel("seeding.mass", contract=Rationals(), merge=RATIONALS)
def mass(points: Points, before: Potential | None, by: str = "squares") -> tuple[Fraction]:
    """Add up the masses of the rows, exactly; what they are says ``seeding.locate``.

    Spec: KM-DRAW, KM-PP, KER-MASS

    >>> from array import array
    >>> from refclust.data.dataset import dense
    >>> from refclust.kernels.clusters.seeding import potential
    >>> line = Points(dense(array("d", [0, 0.5, 1]), 1))
    >>> mass(line, potential(line, (0.0,))), mass(line, None)
    ((Fraction(5, 4),), (Fraction(3, 1),))
    """
    masses, shift = exact_masses(points, before, by)
    return (Fraction(sum(masses), 1 << shift),)


@kernel("seeding.beyond", contract=Equal())
def beyond(points: Points, before: Potential | None, passed: Fraction, by: str = "squares") -> int:
    """Say which row is the first whose masses up to it add up to more than a given mass.

    Row -1 means: all of them together do not.

    Spec: KM-DRAW, KER-MASS

    >>> from array import array
    >>> from refclust.data.dataset import dense
    >>> line = Points(dense(array("d", [0, 1, 2]), 1))
    >>> beyond(line, None, Fraction(1)), beyond(line, None, Fraction(3))
    (1, -1)
    """
    masses, shift = exact_masses(points, before, by)
    # An integer exceeds a rational if and only if it exceeds the floor of that.
    goal = (passed.numerator << shift) // passed.denominator
    row = bisect_right(list(accumulate(masses)), goal)
    return row if row < points.n else -1


def part_of_draw(masses: Sequence[Fraction], r: float) -> tuple[int, Fraction]:
    """The part of the rows on which a random number falls, and the mass it passes by in that part.

    Parts come in the order of the rows. Without any mass there is no such part: it is -1.

    Spec: KM-DRAW, KER-MASS, BK-MERGE

    >>> part_of_draw([Fraction(1), Fraction(0), Fraction(3)], 0.5)
    (2, Fraction(1, 1))
    """
    reached = [Fraction(0), *accumulate(masses)]
    goal = Fraction(r) * reached[-1]
    part = bisect_right(reached, goal) - 1
    return (part, goal - reached[part]) if part < len(masses) else (-1, Fraction(0))
