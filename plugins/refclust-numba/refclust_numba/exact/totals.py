"""The sums of clusters as the kernels hand them around: limbs, opened only by their makers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from refclust.kernels.clusters.kmeans import ClusterSums
from refclust_numba.exact.limbs import Scale
from refclust_numba.lowlevel.arrays import array_over
from refclust_numba.prepared import Rows


@dataclass(eq=False)
class LimbSums:
    """The sums of clusters as limbs; only the rows that made them open them."""

    rows: Rows = field(repr=False)
    own: Any = field(repr=False)  # clusters x limbs x columns, or nothing if handed on
    counts: Any = field(repr=False)  # clusters x limbs of the weights
    handed: Callable[[], Any] | None = field(default=None, repr=False)  # makes them again

    @property
    def limbs(self) -> Any:
        """The limbs; if later sums took them over, made anew by taking their changes back."""
        if self.own is None:
            assert self.handed is not None
            self.own, self.handed = self.handed(), None
        return self.own

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """The exact weight of each cluster times 2**weight_shift."""
        if not self.rows.weighted:
            return tuple(self.counts[:, 0].tolist())
        cut = present(self.rows.weight_scale)
        up = max(cut.unit(0), 0)
        return tuple(cut.integer(cluster_limbs) << up for cluster_limbs in self.counts)

    @property
    def weight_shift(self) -> int:
        """The power of two that makes all weights integers."""
        return max(-present(self.rows.weight_scale).unit(0), 0) if self.rows.weighted else 0

    def exact(self) -> ClusterSums:
        """The same as plain integers."""
        cut, k, d = present(self.rows.scale), len(self.limbs), self.rows.d
        units = [cut.unit(j) for j in range(d)]
        shift = max(0, -min(units, default=0))
        sums = tuple(
            tuple(cut.integer(self.limbs[c, :, j]) << (shift + units[j]) for j in range(d))
            for c in range(k)
        )
        return ClusterSums(self.weights, self.weight_shift, sums, shift)


def present(cut: Scale | None) -> Scale:
    """A cut that is known to be there."""
    assert cut is not None
    return cut


def cells(rows: Rows) -> bool:
    """Whether sums of these rows are made in limbs; if not, the reference makes them."""
    return rows.scale is not None and rows.weight_scale is not None and rows.d > 0


def buffer(labels: Any) -> Any:
    """Labels of any backend as an array."""
    return array_over(labels, np.int32)
