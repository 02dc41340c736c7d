"""The sums of an M-step as exact rationals.

Rows and their masses are cut into limbs so short that products of limbs, and the sums of these over
a block of rows, stay whole numbers below 2**53 of some unit: a matrix product of limbs in doubles
is exact, in whatever order it adds. Masses w q may be as small as doubles get, so rows are taken
together whose masses are of about one size, scaled by a power of two; so are the rows themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final, NamedTuple

import numpy as np

from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures import exact_moments as reference
from refclust.kernels.mixtures.exact_moments import ExactMoments, ExactTallies
from refclust_numpy.exact.floats import Array, exponent, largest, two_product
from refclust_numpy.exact.limbs import Bins, Grid
from refclust_numpy.rows import Rows, matrix

_ROWS: Final = 1 << 13  # rows of a block
_NUMBERS: Final = 1 << 18  # and numbers
_WIDTH: Final = (52 - _ROWS.bit_length()) // 2  # bits of a limb: _ROWS products are below 2**52
_BAND: Final = 64  # masses within so many powers of two are taken together
_RANGE: Final = 400  # from the least number but 0 to the largest, in powers of two


class Band(NamedTuple):
    """Some rows of a block; their masses over 2**shift, as doubles that add up to them."""

    rows: Array
    masses: list[Array]
    shift: int


class Totals:
    """Exact sums of many places at once: whole numbers for each unit that occurs."""

    def __init__(self) -> None:
        self._of: dict[int, Any] = {}

    def add(self, sums: Array, unit: int, shift: int) -> None:
        """Add 2**shift times sums that are whole multiples, below 2**53, of 2**unit."""
        whole: Any = np.ldexp(sums, -unit).astype(np.int64).astype(object)
        unit += shift
        self._of[unit] = self._of[unit] + whole if unit in self._of else whole

    def fractions(self, size: int) -> list[Fraction]:
        """All sums, one after another."""
        low = min((0, *self._of))
        totals = [0] * size
        for unit, whole in self._of.items():
            for place, number in enumerate(whole.reshape(-1).tolist()):
                totals[place] += number << (unit - low)
        return [Fraction(total, 1 << -low) for total in totals]


def exact_moments(rows: Rows, q: Any, k: int, around: Any, spread: Any) -> ExactMoments:
    """Keeps the contract of gaussian.exact_moments."""
    if not _ordinary(rows):
        return reference.exact_moments(rows.points, q, k, around, spread)
    d, full, unit = rows.d, spread == "full", _unit(rows)
    sums = [Totals() for _ in range(k)]
    _add_moments(rows, np.asarray(memoryview(q)), sums, full=full)
    counts: list[Fraction] = []
    firsts: list[Fraction] = []
    seconds: list[Fraction] = []
    points = matrix(around)
    for total, point in zip(sums, points.tolist(), strict=True):
        moments = total.fractions((d + 1) ** 2 if full else 2 * d + 1)
        n, f, a = moments[0], [unit * x for x in moments[1 : d + 1]], [Fraction(x) for x in point]
        counts.append(n)
        firsts += (x - n * p for x, p in zip(f, a, strict=True))
        for i in range(d):
            for j in range(d) if full else (i,):
                s = unit * unit * moments[(i + 1) * (d + 1) + j + 1 if full else d + 1 + i]
                # Sums around the origin, moved: that costs no digit, since none is rounded.
                seconds.append(s - a[i] * f[j] - a[j] * f[i] + n * a[i] * a[j])
    centres = CentreMatrix.of(around)
    return ExactMoments(tuple(counts), tuple(firsts), tuple(seconds), centres, spread)


def _add_moments(rows: Rows, shares: Array, sums: list[Totals], *, full: bool) -> None:
    """Add up w q (1, x)(1, x)' of each component, or only its first row and diagonal."""
    for begin, end in rows.blocks(_NUMBERS, _ROWS):
        values = np.ones((end - begin, rows.d + 1))
        values[:, 1:] = _scaled(rows, rows.values[begin:end])
        limbs = _cut(values)
        for k, total in enumerate(sums):
            for band in _bands(rows, shares, begin, end, k, len(sums)):
                inner = [(unit, limb[band.rows]) for unit, limb in limbs]
                for mass in band.masses:
                    for part in two_product(values[band.rows], mass[:, None]):
                        for unit, piece in _cut(part):
                            for other_unit, other in inner:
                                products = _product(piece, other, full=full)
                                total.add(products, unit + other_unit, band.shift)


def _product(first: Array, other: Array, *, full: bool) -> Array:
    if full:
        return first.T @ other
    diagonal = (first[:, 1:] * other[:, 1:]).sum(axis=0)
    return np.concatenate([first[:, 0] @ other, diagonal])


def exact_tallies(rows: Rows, q: Any, k: int) -> ExactTallies:
    """Keeps the contract of multinomial.exact_tallies."""
    if not _ordinary(rows):
        return reference.exact_tallies(rows.points, q, k)
    shares, d = np.asarray(memoryview(q)), rows.d
    bins: dict[tuple[int, int], Bins] = {}
    # Of a row a bin takes at most four numbers below 2**66: two products for each part of a mass.
    grid = Grid.of(_BAND + 2, 4 * rows.n)
    for begin, end in rows.blocks(_NUMBERS, _ROWS):
        for c in range(k):
            for band in _bands(rows, shares, begin, end, c, k):
                into = bins.setdefault((c, band.shift), Bins(grid, d + 1))
                values, repeats, columns = _numbers(rows, begin + band.rows)
                for mass in band.masses:
                    into.add(np.full(mass.size, d), mass.copy())
                    for part in two_product(values, np.repeat(mass, repeats)):
                        into.add(columns, part)
    totals = [[Fraction(0)] * (d + 1) for _ in range(k)]
    for (c, shift), some in bins.items():
        numbers, places = some.integers()
        for column in some.filled().tolist():
            totals[c][column] += Fraction(numbers[column], 1 << places) * Fraction(2) ** shift
    unit = _unit(rows)
    return ExactTallies(
        tuple(total[d] for total in totals), tuple(unit * x for t in totals for x in t[:d])
    )


def _numbers(rows: Rows, chosen: Array) -> tuple[Array, Any, Array]:
    """The numbers of some rows, how many a row has, their columns."""
    if rows.dense:
        values = _scaled(rows, rows.values[chosen])
        return values.reshape(-1), rows.d, np.tile(np.arange(rows.d), chosen.size)
    places, counts = rows.picked(chosen)
    return _scaled(rows, rows.values[places]), counts, rows.columns[places]


def _bands(rows: Rows, shares: Array, begin: int, end: int, k: int, count: int) -> Iterator[Band]:
    """The rows of a block that count for a component, by the size of w q."""
    if shares.dtype == np.int32:
        q = (shares[begin:end] == k).astype(np.float64)
    else:
        q = shares[begin * count : end * count].reshape(-1, count)[:, k]
    weights = None if rows.weights is None else rows.weights[begin:end]
    chosen = np.flatnonzero(q if weights is None else (q != 0) & (weights != 0))
    high, size = np.frexp(q[chosen])
    low = np.zeros_like(high)
    if weights is not None:
        of_weights, more = np.frexp(weights[chosen])
        (high, low), size = two_product(high, of_weights), size + more
    places = size // _BAND
    for place in np.unique(places).tolist():
        some = np.flatnonzero(places == place)
        left = size[some] - place * _BAND
        masses = [np.ldexp(part[some], left) for part in (high, low) if part.any()]
        yield Band(chosen[some], masses, place * _BAND)


def _cut(values: Array) -> list[tuple[int, Array]]:
    """Numbers as limbs of _WIDTH bits that add up to them, each with the exponent of its unit."""
    grid, rest = Grid(exponent(largest(values)), _WIDTH), values.copy()
    limbs: list[tuple[int, Array]] = []
    while rest.any():
        unit = grid.unit(len(limbs))
        grate = 1.5 * 2.0 ** (52 + unit)  # doubles near this number are one unit apart
        limb = rest + grate
        limb -= grate
        rest -= limb
        limbs.append((unit, limb))
    return limbs


def _ordinary(rows: Rows) -> bool:
    """Whether no product of the lowest bits of two rows and a mass is below the least double.

    Scaled rows are below 1, their lowest bits above 2**-(_RANGE + 54). Those of a product with a
    mass, which is at least 1/4 and has at most 106 bits, are above 2**-(_RANGE + 54 + 108).
    """
    return not rows.largest or exponent(rows.largest) - exponent(rows.smallest) < _RANGE


def _scaled(rows: Rows, values: Array) -> Array:
    scaled: Array = np.ldexp(values.astype(np.float64), -exponent(rows.largest))
    return scaled


def _unit(rows: Rows) -> Fraction:
    return Fraction(2) ** exponent(rows.largest)
