"""A data set as arrays over its own buffers, with what is worked out about it once."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from refclust.data.dataset import Dataset, Dense, dense, sparse
from refclust.kernels.clusters.kmeans import LloydStep
from refclust.kernels.clusters.seeding import Potential
from refclust.kernels.points import Points
from refclust_numpy.drawing import Draws
from refclust_numpy.exact.floats import Array, exponent, largest, lowest_bit, square_sums
from refclust_numpy.packing import Packed, power

_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """What the last pass of k-means left for the next."""

    labels: Array
    centres: Array
    margins: Array  # times the scale of the rows


class Rows:
    """The rows of a data set; nothing is copied, singles stay singles.

    ``rungs`` counts how many rows were decided on which rung of the ladder, for reports.
    """

    def __init__(self, data: Dataset) -> None:
        matrix = data.matrix
        self.data, self.n, self.d = data, data.n, data.d
        self.dense = isinstance(matrix, Dense)
        self.rungs: Counter[str] = Counter()
        self.memory: Memory | None = None
        self.last: LloydStep | None = None  # of k-means
        self.draws: tuple[Potential, Draws] | None = None  # of seeding
        self.scores: dict[tuple[float, ...], Array] = {}  # of the last candidates, in singles
        self._lowest: tuple[int, bool] | None = None  # whether all numbers were looked at
        values = np.asarray(matrix.values)
        self.values: Array = values
        if isinstance(matrix, Dense):
            self.values = values.reshape(self.n, self.d)
        else:
            self.starts: Array = np.asarray(matrix.starts)
            self.columns: Array = np.asarray(matrix.columns)
        self.weights: Array | None = None if data.weights is None else np.asarray(data.weights)

    @cached_property
    def points(self) -> Points:
        """The rows as the reference takes them: slow and large, for what nothing else decides."""
        return Points(self.data)

    @cached_property
    def counts(self) -> Array:
        """How many numbers each sparse row has."""
        return np.diff(self.starts).astype(np.int64)

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """The least and the greatest value of each dense column."""
        # Many rows as one long row: short ones are slow to compare.
        side = max(1, min(_BLOCK // max(self.d, 1), self.n) // 64)
        even = self.values[: self.n - self.n % side].reshape(self.n // side, side * self.d)
        rest = self.values[self.n - self.n % side :]
        low, high = (
            np.vstack([ends(even, axis=0).reshape(side, self.d), rest]) for ends in (np.min, np.max)
        )
        return low.min(axis=0).astype(np.float64), high.max(axis=0).astype(np.float64)

    @cached_property
    def middle(self) -> Array:
        """A point amid the dense rows: about the mean of them all."""
        with np.errstate(all="ignore"):
            step = max(1, self.n * max(self.d, 1) >> 20)  # a million numbers tell enough
            middle: Array = self.values[::step].mean(axis=0, dtype=np.float64)
            return middle

    @cached_property
    def packed(self) -> Packed:
        """The dense rows in singles, about the middle."""
        return Packed(self, centred=True)

    @cached_property
    def packed_directions(self) -> Packed:
        """The dense rows in singles, about the origin, for cosines."""
        return Packed(self, centred=False)

    @cached_property
    def scale(self) -> float:
        """The power of two that brings all numbers close to 1; 0.0 if none does."""
        return self.packed.scale if self.dense else power(self.largest)

    @cached_property
    def largest(self) -> float:
        """The largest magnitude of any number."""
        return max(map(largest, self.box)) if self.dense and self.d else largest(self.values)

    @cached_property
    def smallest(self) -> float:
        """The least magnitude of any number that is not zero; infinite if all are."""
        return _smallest(self.values.reshape(-1))

    @cached_property
    def weight_sizes(self) -> tuple[float, float]:
        """The least weight that is not zero and the largest."""
        if self.weights is None:
            return 1.0, 1.0
        return _smallest(self.weights), largest(self.weights)

    @cached_property
    def lengths(self) -> Array:
        """The length of each sparse row, off by at most m / 2 + 3 roundings for m numbers."""
        lengths, scale = np.zeros(self.n), self.scale or 1.0
        with np.errstate(all="ignore"):
            for begin, end in self.blocks(_BLOCK):
                # Scaled: squares of small numbers would underflow, and a length would be 0.
                values = self.values[self.starts[begin] : self.starts[end]] * np.float64(scale)
                lengths[begin:end] = self.segment_sums(values * values, begin, end)
            return np.sqrt(lengths) / scale

    def blocks(self, size: int, most: int = 1 << 17) -> list[tuple[int, int]]:
        """The rows in blocks of about ``size`` numbers and at most ``most`` rows, at least one."""
        if self.dense:
            step = max(1, min(size // max(self.d, 1), most))
            return [(begin, min(begin + step, self.n)) for begin in range(0, self.n, step)]
        cuts = [0]
        while cuts[-1] < self.n:
            goal = int(self.starts[cuts[-1]]) + size
            after = int(np.searchsorted(self.starts, goal, side="right")) - 1
            cuts.append(min(max(after, cuts[-1] + 1), cuts[-1] + most, self.n))
        return list(pairwise(cuts))

    def segment_sums(self, terms: Array, begin: int, end: int) -> Array:
        """Add up the terms of each of some sparse rows; the terms may have further axes."""
        counts = self.counts[begin:end]
        return segment_sums(terms, counts)

    def lowest_bit(self, limit: int) -> int:
        """The exponent of the lowest bit in the data, or some exponent below ``limit`` if lower."""
        if self._lowest is None or (not self._lowest[1] and self._lowest[0] >= limit):
            self._lowest = self._find_lowest(limit)
        return self._lowest[0]

    def _find_lowest(self, limit: int) -> tuple[int, bool]:
        flat, lowest = self.values.reshape(-1), 1 << 20
        for begin in range(0, flat.size, _BLOCK):
            bit = lowest_bit(flat[begin : begin + _BLOCK])
            if bit is not None and bit < lowest:
                lowest = bit
                if lowest < limit:
                    return lowest, False
        return lowest, True

    def row(self, i: int) -> tuple[float, ...]:
        """One row with its zeros."""
        whole = np.zeros(self.d)
        if self.dense:
            whole[:] = self.values[i]
        else:
            begin, end = self.starts[i], self.starts[i + 1]
            whole[self.columns[begin:end]] = self.values[begin:end]
        return tuple(whole.tolist())

    def some_points(self, rows: Sequence[int]) -> Points:
        """A few rows as the reference takes them, without their weights, which may all be 0."""
        chosen = np.asarray(rows, dtype=np.intp)
        if self.dense:
            values = array("d", self.values[chosen].astype(np.float64).tobytes())
            return Points(dense(values, self.d))
        places, counts = self.picked(chosen)
        starts = array("q", np.concatenate([[0], np.cumsum(counts)]).astype(np.int64).tobytes())
        columns = array("q", self.columns[places].astype(np.int64).tobytes())
        values = array("d", self.values[places].astype(np.float64).tobytes())
        return Points(sparse(starts, columns, values, self.d))

    def picked(self, rows: Array) -> tuple[Array, Array]:
        """The places of all numbers of some sparse rows, and how many each of them has."""
        counts = self.counts[rows]
        ends = np.cumsum(counts)
        first = np.asarray(self.starts)[rows] - (ends - counts)
        return np.repeat(first, counts) + np.arange(ends[-1] if ends.size else 0), counts


def segment_sums(terms: Array, counts: Array) -> Array:
    """Add up consecutive terms, so many at a time, maybe none."""
    sums = np.zeros((counts.size, *terms.shape[1:]), dtype=terms.dtype)
    filled = np.flatnonzero(counts)
    if filled.size:
        starts = (np.cumsum(counts) - counts)[filled]
        sums[filled] = np.add.reduceat(terms, starts, axis=0)
    return sums


def matrix(centres: Any) -> Array:
    """Centres as an array of K rows of doubles, without a copy where they are a buffer."""
    values = getattr(centres, "values", None)
    if isinstance(values, memoryview):
        return np.asarray(values).reshape(centres.k, centres.d)
    return np.asarray([tuple(centre) for centre in centres], dtype=np.float64)


def distinct(centres: Array) -> Array:
    """The index of the first of each group of equal centres, in ascending order."""
    seen: dict[bytes, int] = {}
    for k, centre in enumerate(centres + 0.0):  # no negative zeros: equal numbers, equal bytes
        seen.setdefault(centre.tobytes(), k)
    return np.fromiter(seen.values(), dtype=np.intp)


def lengths(centres: Array) -> Array:
    """The lengths of centres, scaled against overflow."""
    size = largest(centres)
    if not 2.0**-500 < size < 2.0**500:
        return np.array([math.hypot(*centre) for centre in centres.tolist()])
    return np.sqrt(square_sums(centres))


def integers(labels: Sequence[int]) -> Array:
    """Labels of whatever backend as an array, without a copy."""
    return np.asarray(memoryview(labels))  # type: ignore[arg-type]


def _smallest(values: Array) -> float:
    """The least magnitude but 0: bits without the sign are ordered as magnitudes are."""
    kind: Any = np.uint64 if values.dtype == np.float64 else np.uint32
    none = np.iinfo(kind).max
    least = none
    for begin in range(0, values.size, _BLOCK):
        bits: Array = values[begin : begin + _BLOCK].view(kind) << kind(1)
        bits -= kind(1)  # makes 0 the largest
        least = min(least, int(bits.min()))
    if least == none:
        return math.inf
    return float(np.array([(least + 1) // 2], dtype=kind).view(values.dtype)[0])


def fits_grid(rows: Rows, centres: Array) -> bool:
    """Whether squared distances come out of plain doubles without any rounding.

    All numbers are multiples of one power of two; differences, their squares and the sums of d
    squares are then integers of that unit, exact as long as they stay below 2**53 of it.
    """
    low, high = rows.box
    with np.errstate(all="ignore"):
        spans = np.maximum(high, centres.max(axis=0)) - np.minimum(low, centres.min(axis=0))
    size = largest(spans)
    if size == 0.0:
        return True
    if not 2.0**-400 < size < 2.0**400:
        return False
    # |x - c| < 2**e, so d (2**(e - unit))**2 <= 2**53 is asked for.
    bits = (53 - max(rows.d, 1).bit_length()) // 2
    limit = exponent(size) - bits
    own = lowest_bit(centres)
    if own is not None and own < limit:
        return False
    return rows.lowest_bit(limit) >= limit
