"""Sums of distances from objects to clusters, and between clusters."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cached_property, partial
from typing import Final

from refclust.kernels.pairs.integers import Cell, bits_for, table
from refclust.kernels.pairs.lengths import added
from refclust.metrics.passes.decimals import between
from refclust.metrics.passes.silhouette_intervals import Sums, of_fine
from refclust.metrics.passes.source import FIRST, Source
from refclust.numbers.real import Interval, Real

_FINE: Final = "silhouette.fine_sums"


class PairSums:
    """One pass over all pairs serves every sum, in doubles or at some number of bits."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._tables: dict[int, list[list[Cell]]] = {}
        self._twins: dict[tuple[int, int, int], list[tuple[int, Real]]] = {}
        self._known: dict[tuple[int, int], Real] = {}

    @cached_property
    def doubles(self) -> list[float]:
        """The sums of every object to every cluster in doubles, weights in units."""
        source = self._source
        kernel = "silhouette.distance_sums"
        return source.doubles(kernel, source.numbers, source.k, k=source.n)

    @cached_property
    def integers(self) -> Sums | None:
        """The sums of every object to every cluster between integers, to the first digits."""
        source = self._source
        if self._quick:
            return of_fine(self._fine, source.n, source.d)
        self._cell(FIRST, 0, 0)
        rows = self._tables[bits_for(FIRST)]
        cells = [cell for i in range(source.n) for cell in rows[source.lines.place[i]]]
        lows = [cell.low for cell in cells]
        return Sums(lows, [cell.low + cell.slack for cell in cells], cells[0].shift)

    @cached_property
    def _quick(self) -> bool:
        """Whether a kernel has the first digits sooner than integers."""
        source = self._source
        return source.whole and source.elsewhere(_FINE, source.numbers, source.k, k=source.n)

    @cached_property
    def _fine(self) -> list[float]:
        source = self._source
        return source.doubles(_FINE, source.numbers, source.k, k=source.n)

    def _cell(self, digits: int, i: int, k: int) -> Cell:
        bits, lines = bits_for(digits), self._source.lines
        if bits not in self._tables:
            counts = [self._source.counts[i] for i in lines.order]
            self._tables[bits] = table(lines, counts, bits)
        return self._tables[bits][lines.place[i]][k]

    def of_object(self, i: int, k: int) -> Real:
        """The sum of distances from object i to the objects of cluster k."""
        if (i, k) not in self._known:
            self._known[i, k] = self._of_object(i, k)
        return self._known[i, k]

    def _of_object(self, i: int, k: int) -> Real:
        source = self._source
        if not source.certified or self._apart(i, k):
            return self._enclosed(i, k)
        cell = self._cell(FIRST, i, k)
        if not cell.slack:
            return Real(cell.ends()[0] / source.unit)
        # Sums of the very same distances are one number, which no digits would show.
        twins = self._twins.setdefault((i, cell.low, cell.slack), [])
        for other, twin in twins:
            if self._gaps(i, other) == self._gaps(i, k):
                return twin
        twins.append((k, self._enclosed(i, k)))
        return twins[-1][1]

    def _apart(self, i: int, k: int) -> bool:
        """Whether fine sums tell one from those of the object to all other clusters, and from 0."""
        sums = self.integers if self._quick else None
        if sums is None:
            return False
        first = i * self._source.k
        low, high = sums.lows[first + k], sums.highs[first + k]
        places = (p for p in range(first, first + self._source.k) if p != first + k)
        return low > 0 and all(sums.lows[p] > high or sums.highs[p] < low for p in places)

    def _between(self, low: int, high: int, unit: int, digits: int) -> Interval:
        """Decimals around integers of the fine sums' unit, over another unit."""
        assert self.integers is not None
        shift = self.integers.shift
        return between(
            low << max(-shift, 0), (high - low) << max(-shift, 0), unit << max(shift, 0), digits
        )

    def _gaps(self, i: int, k: int) -> Counter[Fraction]:
        return self._source.gaps([i], self._source.groups[k])

    def _enclosed(self, i: int, k: int) -> Real:
        source = self._source

        def interval(digits: int) -> Interval:
            place = i * source.k + k
            if not source.certified:
                return source.around(self.doubles[place], digits)
            if digits <= FIRST and self._quick and self.integers is not None:
                ends = self.integers.lows[place], self.integers.highs[place]
                return self._between(*ends, source.unit, digits)
            cell = self._cell(digits, i, k)
            return between(cell.low, cell.slack, source.unit << cell.shift, digits)

        def rational() -> Real | None:
            cell = self._cell(FIRST, i, k)
            return None if cell.slack else Real(cell.ends()[0] / source.unit)

        gaps, terms = partial(self._gaps, i, k), source.sizes[k]
        exact = rational if source.certified else None
        return source.real(interval, gaps, terms=terms, unit=source.unit, exact=exact)

    def of_clusters(self, k: int, other: int) -> Real:
        """The sum of distances over ordered pairs of objects of two clusters."""
        source, ours = self._source, self._source.groups[k]
        weights = [source.counts[i] for i in ours]

        def interval(digits: int) -> Interval:
            if not source.certified:
                places = (i * source.k + other for i in ours)
                sums = (w * self.doubles[p] for w, p in zip(weights, places, strict=True))
                return source.around(added(sums) / source.unit, digits)
            if digits <= FIRST and self._quick and self.integers is not None:
                low, high = (
                    sum(w * side[i * source.k + other] for w, i in zip(weights, ours, strict=True))
                    for side in (self.integers.lows, self.integers.highs)
                )
                return self._between(low, high, source.unit**2, digits)
            cells = [self._cell(digits, i, other) for i in ours]
            low = sum(w * cell.low for w, cell in zip(weights, cells, strict=True))
            slack = sum(w * cell.slack for w, cell in zip(weights, cells, strict=True))
            return between(low, slack, source.unit**2 << cells[0].shift, digits)

        def gaps() -> Counter[Fraction]:
            counts: Counter[Fraction] = Counter()
            for i, weight in zip(ours, weights, strict=True):
                for gap, count in self._gaps(i, other).items():
                    counts[gap] += weight * count
            return counts

        terms = len(ours) * source.sizes[other]
        return source.real(interval, gaps, terms=terms, unit=source.unit**2)
