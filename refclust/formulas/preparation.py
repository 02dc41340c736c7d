"""Chapter 07: preparation. Columns of a table on one scale, without gaps, categories as numbers.

A column is its cells with a weight for each; a cell of weight 2 is the same as two cells. The
room rounds nothing: at the door centre and divisor, then every scaled value, become doubles.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction

from refclust.formulas.undefined import ratio
from refclust.formulas.vectors import Exact, Number, exact, total
from refclust.numbers.real import Real, real, sqrt

# -- what to take off, and what to divide by ------------------------------------------------


def standard(column: Sequence[Number], weights: Sequence[Number]) -> tuple[Exact, Real]:
    """The mean of a column and its standard deviation, the divisor being the whole weight.

    Defines: PREP-STANDARD

    >>> centre, divisor = standard([1, 3, 8], [1, 1, 2])
    >>> centre, divisor * divisor == Fraction(19, 2)
    (Fraction(5, 1), True)
    """
    whole = total(weights)
    mean = total(w * exact(x) for x, w in zip(column, weights, strict=True)) / whole
    squares = total(w * (exact(x) - mean) ** 2 for x, w in zip(column, weights, strict=True))
    return mean, sqrt(squares / whole)


def span(column: Sequence[Number], weights: Sequence[Number]) -> tuple[Exact, Exact]:
    """The least cell of a column, and how far the largest is from it.

    Defines: PREP-RANGE

    >>> span([4, 9, 100], [1, 1, 0])
    (Fraction(4, 1), Fraction(5, 1))
    """
    counted = [exact(x) for x, w in zip(column, weights, strict=True) if w > 0]
    return min(counted), max(counted) - min(counted)


def quantile(column: Sequence[Number], weights: Sequence[Number], p: Number) -> Exact:
    """The middle of the two cells at which the share of weight reaches p, and passes it.

    Defines: PREP-QUANTILE

    >>> quantile([1, 2, 4, 9], [1, 1, 1, 1], Fraction(1, 2))
    Fraction(3, 1)
    """
    counted = sorted((exact(x), w) for x, w in zip(column, weights, strict=True))
    share = p * total(w for _, w in counted)
    below = [total(w for _, w in counted[: i + 1]) for i in range(len(counted))]
    reached = next(x for (x, _), weight in zip(counted, below, strict=True) if weight >= share)
    passed = next(x for (x, _), weight in zip(counted, below, strict=True) if weight > share)
    return (reached + passed) / 2


def robust(column: Sequence[Number], weights: Sequence[Number]) -> tuple[Exact, Exact]:
    """The median of a column, and how far its quartiles are apart.

    Defines: PREP-ROBUST

    >>> robust([1, 2, 4, 9], [1, 1, 1, 1])
    (Fraction(3, 1), Fraction(5, 1))
    """
    low, median, high = (quantile(column, weights, Fraction(i, 4)) for i in (1, 2, 3))
    return median, high - low


def scaled(x: Number, centre: Number, divisor: Number) -> Exact:
    """A cell on the scale of its column.

    Defines: PREP-SCALED

    >>> scaled(7, 4, 2)
    Fraction(3, 2)
    """
    return (exact(x) - exact(centre)) / exact(divisor)


def in_units(z: Number, centre: Number, divisor: Number) -> Exact:
    """A scaled number in the units of the user.

    Defines: PREP-UNITS

    >>> in_units(Fraction(3, 2), 4, 2)
    Fraction(7, 1)
    """
    return exact(centre) + exact(divisor) * exact(z)


# -- gaps and categories --------------------------------------------------------------------


def fill(column: Sequence[Number | None], weights: Sequence[Number], policy: str) -> Exact:
    """What the missing cells of a column become: the mean or the median of those that are there.

    Defines: PREP-FILL

    >>> fill([1, None, 4], [1, 5, 2], "mean"), fill([1, None, 4], [1, 5, 1], "median")
    (Fraction(3, 1), Fraction(5, 2))
    """
    there = [(x, w) for x, w in zip(column, weights, strict=True) if x is not None]
    cells, shares = [x for x, _ in there], [w for _, w in there]
    if policy == "median":
        return quantile(cells, shares, Fraction(1, 2))
    return total(w * exact(x) for x, w in there) / total(shares)


def one_hot(cell: Hashable, categories: Sequence[Hashable], weight: Number) -> tuple[Exact, ...]:
    """A category as a number for each of all: the weight at its own place, 0 elsewhere.

    Defines: PREP-ONEHOT

    >>> one_hot("rainy", ["overcast", "rainy", "sunny"], 1)
    (Fraction(0, 1), Fraction(1, 1), Fraction(0, 1))
    """
    return tuple(exact(weight) if cell == category else Fraction(0) for category in categories)


def gower(x: Sequence[Hashable], y: Sequence[Hashable], ranges: Sequence[Number | None]) -> Real:
    """How far two rows are apart, as a mean over the columns that are there in both.

    Defines: DIST-GOWER

    >>> gower([1, "red", None], [3, "blue", 7], [8, None, 9])
    Real('5/8')
    """
    apart = [
        _apart(a, b, width)
        for a, b, width in zip(x, y, ranges, strict=True)
        if a is not None and b is not None
    ]
    return ratio(total(apart), len(apart), undefined="no column is there in both rows")


def _apart(a: Hashable, b: Hashable, width: Number | None) -> Exact:
    """Of numbers a share of their range; of categories, which have none, whether they differ."""
    if a == b:
        return Fraction(0)
    if width is None:
        return Fraction(1)
    return exact(abs(real(a) - real(b))) / exact(width)  # type: ignore[arg-type]
