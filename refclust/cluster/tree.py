"""Trees of merges: what agglomerative clustering returns, and how to cut and read it (chapter 20).

The table of merges is the usual one: rows are clusters 0 to n - 1, the merge number t makes the
cluster n + t, and each merge names the two clusters it joins, its height and its size.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Annotated, Any

from refclust.backends.session import Provenance
from refclust.data.files.parts import whole
from refclust.data.frames import frame, joined
from refclust.errors import BadOption, KOutOfRange
from refclust.fitting.fitted import Fitted
from refclust.numbers.reading import shown
from refclust.shown.page import Summary


@dataclass(frozen=True, slots=True)
class Merge:
    """Two clusters become one."""

    a: int  # the smaller of the two cluster numbers
    b: int
    height: float
    size: Annotated[int, whole(2)]


@dataclass(frozen=True, slots=True, repr=False)
class Tree(Fitted):
    """All merges from single rows to one cluster; ``labels`` are those of the cut asked for.

    >>> tree = Tree(3, (Merge(0, 2, 1.0, 2), Merge(1, 3, 4.0, 3)))
    >>> tree.cut(2), tree.cut_height(5.0)
    ((0, 1, 0), (0, 0, 0))
    """

    n: int
    merges: tuple[Merge, ...]
    linkage: str = "given"
    metric: str = "given"
    labels: tuple[int, ...] | None = None
    provenance: Provenance | None = None

    def _summary(self) -> Summary:
        from refclust.cluster.summary import of_tree

        return of_tree(self)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """The labels of the cut, for NumPy."""
        if self.labels is None:
            raise AttributeError("the tree was not cut, so there are no labels; see .cut(k)")
        view = memoryview(array("i", self.labels)).toreadonly()
        return {"version": 3, "shape": (self.n,), "typestr": f"=i{view.itemsize}", "data": view}

    def to_frame(self, data: Any = None) -> Any:
        """A ``pandas.DataFrame`` of the merges; of data its rows with the cluster of each.

        Spec: HC-CUT
        """
        if data is not None:
            if self.labels is None:
                raise BadOption("the tree was not cut, so there are no labels; fit it with k=...")
            return joined(data, {"cluster": self.labels})
        names = ("a", "b", "height", "size")
        return frame({name: [getattr(merge, name) for merge in self.merges] for name in names})

    def cut(self, k: int) -> tuple[int, ...]:
        """The k clusters that are left after the first n - k merges, as labels of the rows.

        Spec: HC-CUT

        >>> Tree(3, (Merge(0, 2, 1.0, 2), Merge(1, 3, 4.0, 3))).cut(3)
        (0, 1, 2)
        """
        if not isinstance(k, Integral) or isinstance(k, bool):
            raise BadOption(f"k={shown(k)}; a number of clusters from 1 to {self.n} is needed")
        if not 1 <= k <= self.n:
            raise KOutOfRange(f"k={k} for {self.n} rows; from 1 to {self.n} clusters are possible")
        return self._labels(lambda step: step < self.n - k)

    def cut_height(self, height: float) -> tuple[int, ...]:
        """The largest clusters in which no merge is higher than this, as labels of the rows.

        Spec: HC-CUTH

        >>> Tree(3, (Merge(0, 2, 1.0, 2), Merge(1, 3, 4.0, 3))).cut_height(1.0)
        (0, 1, 0)
        """
        if not _is_number(height):
            raise BadOption(f"height={shown(height)}; a number is needed")
        # With inversions a merge may be lower than one inside it: the highest one counts.
        highest: list[float] = []
        for merge in self.merges:
            inside = (highest[c - self.n] for c in (merge.a, merge.b) if c >= self.n)
            highest.append(max(merge.height, *inside, -math.inf))
        return self._labels(lambda step: highest[step] <= height)

    def cophenetic(self) -> array[float]:
        """The height at which each pair of rows comes together: (0, 1), (0, 2), ..., (1, 2), ...

        Spec: HC-COPH

        >>> Tree(3, (Merge(0, 2, 1.0, 2), Merge(1, 3, 4.0, 3))).cophenetic()
        array('d', [4.0, 1.0, 4.0])
        """
        n = self.n
        heights = array("d", bytes(4 * n * (n - 1)))
        members: dict[int, list[int]] = {i: [i] for i in range(n)}
        for step, merge in enumerate(self.merges):
            left, right = members.pop(merge.a), members.pop(merge.b)
            for i in left:
                for j in right:
                    low, high = (i, j) if i < j else (j, i)
                    heights[low * n - low * (low + 1) // 2 + high - low - 1] = merge.height
            members[n + step] = left + right
        return heights

    def leaf_order(self) -> tuple[int, ...]:
        """The rows as a dendrogram lists them: of two joined clusters, the one with row i first.

        i is the smallest row of both. So no branches cross, and the order starts with row 0.

        Spec: HC-LEAF

        >>> Tree(3, (Merge(0, 2, 1.0, 2), Merge(1, 3, 4.0, 3))).leaf_order()
        (0, 2, 1)
        """
        orders: dict[int, list[int]] = {i: [i] for i in range(self.n)}
        for step, merge in enumerate(self.merges):
            # The first of an order is its smallest row, since that held for both parts.
            first, second = sorted((orders.pop(merge.a), orders.pop(merge.b)))
            orders[self.n + step] = first + second
        (order,) = orders.values()
        return tuple(order)

    @property
    def inversions(self) -> int:
        """How many merges are lower than one of the clusters they join.

        Spec: HC-INV

        >>> Tree(3, (Merge(0, 1, 2.0, 2), Merge(2, 3, 1.5, 3))).inversions
        1
        """
        heights = [0.0] * self.n + [merge.height for merge in self.merges]
        return sum(merge.height < max(heights[merge.a], heights[merge.b]) for merge in self.merges)

    def _labels(self, taken: Callable[[int], bool]) -> tuple[int, ...]:
        """The labels after some merges, numbered in the order of the clusters' smallest rows."""
        members: dict[int, list[int]] = {i: [i] for i in range(self.n)}
        for step, merge in enumerate(self.merges):
            if taken(step):
                members[self.n + step] = members.pop(merge.a) + members.pop(merge.b)
        labels = [0] * self.n
        for label, rows in enumerate(sorted(members.values(), key=min)):
            for row in rows:
                labels[row] = label
        return tuple(labels)


def _is_number(value: object) -> bool:
    """Whether this is a real number, of whatever library, and no truth value and not NaN."""
    return not isinstance(value, bool) and isinstance(value, Real) and value == value
