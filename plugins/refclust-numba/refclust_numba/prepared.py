"""Data made ready once per session: arrays over the caller's buffers, and what is made of them."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

import numpy as np

from refclust.data.dataset import Dataset, Dense
from refclust.kernels.points import Points
from refclust_numba.blocks import blocks
from refclust_numba.dense.packing import Packed, Singles, Sizes, pack, singles, sizes
from refclust_numba.exact import limbs
from refclust_numba.exact.cluster_sums import padded
from refclust_numba.lowlevel.arrays import Reused, aligned, array_over
from refclust_numba.lowlevel.threads import even, in_threads

RUNGS: Final = ("float32", "float64", "double-double", "integers", "reference")


class Rows:
    """The rows of a data set for compiled kernels; nothing is copied but what is computed with.

    ``rungs`` counts how many rows each rung of the ladder decided so far.
    """

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self.n, self.d = data.n, data.d
        matrix = data.matrix
        self.dense = isinstance(matrix, Dense)
        self.values = _flat(matrix.values)
        if not isinstance(matrix, Dense):
            self.starts = _integers(matrix.starts, np.int64)
            self.columns = _integers(matrix.columns, np.int32)
        self.weights = array_over(data.weights or b"", np.float64)
        self.weighted = data.weights is not None
        self.rungs = dict.fromkeys(RUNGS, 0)
        self.label_buffers = Reused(self.n, np.int32)
        self.memory: dict[Any, Any] = {}  # what a kernel keeps for the next call

    def buffers(self, name: str, size: int) -> Reused:
        """Buffers of doubles for the answers of one kind, kept from call to call."""
        key = ("buffers", name, size)
        if key not in self.memory:
            self.memory[key] = Reused(size, np.float64)
        pool: Reused = self.memory[key]
        return pool

    @cached_property
    def table(self) -> Any:
        """Dense rows as a matrix."""
        return self.values.reshape(self.n, self.d)

    @cached_property
    def points(self) -> Points:
        """The rows as the reference sees them, for what is left to it."""
        return Points(self.data)

    @cached_property
    def sizes(self) -> Sizes:
        """How large the numbers of dense rows are."""
        return sizes(self)

    def read(self) -> None:
        """Pack dense rows now, if ever: the same look at the numbers tells their sizes."""
        if self.dense and self.d and "packed" not in self.__dict__:
            _ = self.packed

    @cached_property
    def span(self) -> tuple[int, int]:
        """An exponent above all numbers, and the place of the lowest bit of any."""
        if self.dense and self.d:
            return int(self.sizes.tops.max()), self.sizes.low
        return joined_span(self.values)

    @cached_property
    def weight_span(self) -> tuple[int, int]:
        """The same for the weights; without weights all are 1."""
        return joined_span(self.weights) if self.weighted else (1, 0)

    @cached_property
    def scale(self) -> limbs.Scale | None:
        """How the sums of clusters are cut into limbs."""
        top, low = self.span
        weight_top, weight_low = self.weight_span
        if top == -2000:
            top, low = 1, 0
        if self.dense and self.d:
            tops = np.where(self.sizes.tops == -2000, low + 1, self.sizes.tops)
        else:
            tops = np.full(max(self.d, 1), top, np.int64)
        # A product with a weight is deposited as two doubles.
        terms = 2 * self.n if self.weighted else self.n
        tops = tops + (weight_top if self.weighted else 0)
        # Two limbs of dense rows go through registers side by side: one has no way of its own.
        return limbs.scale(tops, low + weight_low, terms, 2 if self.dense else 1)

    @cached_property
    def magic(self) -> tuple[Any, Any]:
        """The magic numbers of the sums, so many columns that vectors fit, and of the weights."""
        assert self.scale is not None
        assert self.weight_scale is not None
        magic = aligned((self.scale.count, padded(self.d)), np.float64)
        magic[:] = 1.0
        magic[:, : self.d] = self.scale.magic
        return magic, np.ascontiguousarray(self.weight_scale.magic[:, 0])

    @cached_property
    def weight_scale(self) -> limbs.Scale | None:
        """How the weights of clusters are cut into limbs."""
        top, low = self.weight_span
        return limbs.scale(np.array([top]), low, self.n)

    @cached_property
    def packed(self) -> Packed | None:
        """Dense rows in single precision, a block at a time column by column."""
        packed, number_sizes = pack(self)
        if number_sizes is not None:
            self.__dict__.setdefault("sizes", number_sizes)
        return packed

    @cached_property
    def singles(self) -> Singles | None:
        """The numbers of sparse rows in single precision."""
        return singles(self)

    def subset(self, rows: Any) -> Points:
        """Some rows as the reference sees them, without weights: those rows might have none."""
        return Points(Dataset(self.data.matrix).select([int(i) for i in rows]))


def joined_span(values: Any) -> tuple[int, int]:
    """``limbs.span`` of all values, by all threads."""
    spans = in_threads(lambda b, e: limbs.span(values, b, e), even(len(values), blocks.numbers))
    return max(int(t) for t, _ in spans), min(int(low) for _, low in spans)


def _flat(values: memoryview) -> Any:
    return array_over(values, np.float32 if values.format == "f" else np.float64)


def _integers(values: memoryview, kind: Any) -> Any:
    """Positions as integers of one kind, in place if they are; never written to."""
    integers = np.asarray(values).astype(kind, copy=False)
    integers.flags.writeable = False
    return integers
