"""Do data cluster at all? Places and objects drawn from a seeded stream (chapter 48)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import dist, floor
from numbers import Rational
from typing import Any, Final, cast

from refclust.errors import BadOption
from refclust.formulas.clustered import Clustered
from refclust.formulas.declared import INFINITY, metric
from refclust.formulas.density import (
    columns,
    divergence,
    grid_cell,
    hopkins_ratio,
    length_bin,
)
from refclust.formulas.proximity import numbered
from refclust.formulas.undefined import Undefined
from refclust.formulas.vectors import Number, Vector, components, exact
from refclust.limits import within
from refclust.numbers.real import Real
from refclust.numbers.sampling import shuffled, stream

_NEAR: Final = 1e-9  # of an edge between bins: too near for doubles to decide


@metric("Hopkins' statistic", evidence="rows", range=(0, 1), better="neither", integer=True)
def hopkins(
    clustered: Clustered,
    *,
    exponent: Number | None = None,
    objects: Number | None = None,
    seed: Number = 0,
) -> Real:
    """How much farther random places are from the data than objects are from each other.

    Spec: TEND-HOPKINS, NUM-RAND

    >>> from refclust.formulas.clustered import Clustered
    >>> float(hopkins(Clustered.of([[0], [1], [2], [3]], "aaaa"), objects=2))
    0.25634677860453475
    """
    copies = [i for i in range(clustered.n) for _ in range(int(clustered.weight(i)))]
    if len(copies) < 2:
        raise Undefined("0/0: an object alone has no nearest other")
    m = max(1, len(copies) // 10) if objects is None else numbered("objects", objects, None)
    if m > len(copies):
        raise BadOption(f"objects={m} of {len(copies)}; allowed: 1 to {len(copies)}")
    within("terms", 2 * m * len(copies), f"{m:,} places and as many objects")
    power = columns(clustered) if exponent is None else numbered("exponent", exponent, None)
    rows = [clustered.points[i] for i in copies]
    rng = stream(numbered("seed", seed, None) if seed else 0)
    sample = shuffled(rng, range(len(rows)))[:m]
    box = Box.around(rows, clustered.columns)
    places = [box.place(box.drawn(rng)) for _ in range(m)]
    return hopkins_ratio(rows, places, sample, power)


@metric("Spatial histogram", evidence="rows", range=(0, INFINITY), better="neither", integer=True)
def spatial_histogram(
    clustered: Clustered,
    *,
    bins: Number = 5,
    samples: Number = 100,
    added: Number = 1,
    seed: Number = 0,
) -> Real:
    """How far the counts of rows in the cells of a grid are from those of evenly drawn places.

    Spec: TEND-SPATIAL, TEND-KL, NUM-RAND

    >>> from refclust.formulas.clustered import Clustered
    >>> float(spatial_histogram(Clustered.of([[0], [1], [8], [9]], "aaaa"), bins=3, samples=2))
    0.45824951090838156
    """
    rows = _copies(clustered)
    b, t, a = numbered("bins", bins, None), numbered("samples", samples, None), _added(added)
    within("terms", (t + 1) * len(rows), f"{t:,} samples of {len(rows):,} places")
    box = Box.around(rows, clustered.columns)

    def counts(places: Sequence[Sequence[Fraction]]) -> Counter[Hashable]:
        return Counter(grid_cell(x, box.low, box.high, b) for x in places)

    rng = stream(numbered("seed", seed, None) if seed else 0)
    nulls = [counts([box.drawn(rng) for _ in rows]) for _ in range(t)]
    cells = b ** sum(low != high for low, high in zip(box.low, box.high, strict=True))
    return divergence(counts([box.within(row) for row in rows]), nulls, cells, a)


@metric(
    "Distance distribution", evidence="rows", range=(0, INFINITY), better="neither", integer=True
)
def distance_distribution(
    clustered: Clustered,
    *,
    bins: Number = 20,
    samples: Number = 20,
    added: Number = 1,
    seed: Number = 0,
) -> Real:
    """How far the distances of rows are distributed from those of evenly drawn places.

    Spec: TEND-DISTANCES, TEND-KL, NUM-RAND

    >>> from refclust.formulas.clustered import Clustered
    >>> float(distance_distribution(Clustered.of([[0], [1], [8], [9]], "aaaa"), bins=3, samples=2))
    1.1093687088577049
    """
    rows = _copies(clustered)
    if len(rows) < 2:
        raise Undefined("0/0: there is no pair of objects")
    b, t, a = numbered("bins", bins, None), numbered("samples", samples, None), _added(added)
    within("terms", (t + 1) * len(rows) ** 2, f"the pairs of {t:,} samples")
    box = Box.around(rows, clustered.columns)
    rng = stream(numbered("seed", seed, None) if seed else 0)
    nulls = [_lengths(box, [box.drawn(rng) for _ in rows], b) for _ in range(t)]
    cells = 1 if box.low == box.high else b
    return divergence(_lengths(box, [box.within(row) for row in rows], b), nulls, cells, a)


@dataclass(frozen=True, slots=True)
class Box:
    """The box around rows: the least and the largest value of each column."""

    names: tuple[Any, ...] | None  # of the columns of sparse rows
    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]

    @classmethod
    def around(cls, rows: Sequence[Vector], columns: Sequence[Any] | None = None) -> Box:
        """Find the box; of sparse rows what is left out is zero.

        Spec: TEND-HOPKINS
        """
        sparse = isinstance(rows[0], Mapping)
        known = [components(row) for row in rows]
        names = columns
        if names is None:  # the order of columns must not depend on that of rows
            names = sorted({place for row in known for place in row}, key=_by_name)
        sides = [[_rational(row.get(name, 0)) for row in known] for name in names]
        low, high = tuple(map(min, sides)), tuple(map(max, sides))
        return cls(tuple(names) if sparse else None, low, high)

    def drawn(self, rng: random.Random) -> tuple[Fraction, ...]:
        """A place drawn evenly from the box, column by column.

        Spec: TEND-HOPKINS, TEND-SPATIAL
        """
        return tuple(
            low + Fraction(rng.random()) * (high - low)
            for low, high in zip(self.low, self.high, strict=True)
        )

    def place(self, x: tuple[Fraction, ...]) -> Vector:
        """A place as rows are written."""
        return x if self.names is None else dict(zip(self.names, x, strict=True))

    def within(self, row: Vector) -> tuple[Fraction, ...]:
        """A row as a place, all columns written out."""
        known = components(row)
        names = range(len(self.low)) if self.names is None else self.names
        return tuple(_rational(known.get(name, 0)) for name in names)


def _lengths(box: Box, places: Sequence[Sequence[Fraction]], bins: int) -> Counter[Hashable]:
    """How many pairs of places have a distance in each bin.

    Doubles decide where they are sure to. Seen from the low corner, in units of the diagonal, they
    are off by less than a part in 10^12 for a million columns; next to an edge numbers are exact.
    """
    sides = [high - low for low, high in zip(box.low, box.high, strict=True)]
    diagonal = sum((side * side for side in sides), Fraction())
    length = float(diagonal) ** 0.5
    if not 1e-100 < length < 1e100:  # squares of doubles would not do
        exact_ones = combinations(places, 2)
        return Counter(length_bin(_squared(x, y), diagonal, bins) for x, y in exact_ones)
    rough = [[float(x_c - a) for x_c, a in zip(x, box.low, strict=True)] for x in places]
    counts: Counter[Hashable] = Counter()
    for i, j in combinations(range(len(places)), 2):
        part = bins * dist(rough[i], rough[j]) / length
        if abs(part - round(part)) > _NEAR * bins:
            counts[min(floor(part), bins - 1)] += 1
        else:
            counts[length_bin(_squared(places[i], places[j]), diagonal, bins)] += 1
    return counts


def _squared(x: Sequence[Fraction], y: Sequence[Fraction]) -> Fraction:
    return sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), Fraction())


def _copies(clustered: Clustered) -> list[Vector]:
    return [
        clustered.points[i] for i in range(clustered.n) for _ in range(int(clustered.weight(i)))
    ]


def _rational(x: Number) -> Fraction:
    return Fraction(cast("Rational", x))  # coordinates are rationals


def _added(value: Number) -> Fraction:
    added = exact(value)
    if not isinstance(added, Fraction) or added < 0:
        raise BadOption(f"added={value}; allowed: a number of at least 0")
    return added


def _by_name(place: Any) -> tuple[bool, Any]:
    return isinstance(place, str), place
