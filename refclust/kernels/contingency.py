"""The kernel that counts: label pairs to the cells of a contingency table (chapter 40)."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Hashable, ItemsView, Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass
from typing import Any

from refclust.formulas.contingency import Cell, Count
from refclust.kernels.contracts.basic import Exact
from refclust.kernels.contracts.merging import CELLS
from refclust.kernels.registry import kernel

__all__ = ["Cell", "CellTable", "Count", "ExactCells", "LabelPairs", "table"]


@dataclass(frozen=True, slots=True)
class LabelPairs:
    """The data of the kernel: for each object its cluster, its class and maybe its weight.

    Labels are a sequence of anything that can be hashed, or a flat buffer of integers.
    """

    clusters: Sequence[Hashable]
    classes: Sequence[Hashable]
    weights: Sequence[Count] | None = None


class CellTable(Mapping[Cell, int]):
    """The cells that are not empty in flat buffers, row by row, with what follows from them.

    ``clusters`` and ``classes`` are the distinct labels in ascending order; cell number c counts
    ``counts[c]`` objects of the cluster number ``rows[c]`` in the class number ``columns[c]``.
    ``row_sums`` and ``column_sums`` are the sizes of the groups; ``sizes`` tells how many cells
    there are of each count. As a mapping it is the same as the dict of the cells.

    >>> cells = CellTable.of_dict({(7, 1): 2, (5, 1): 1})
    >>> cells.clusters, list(cells.rows), list(cells.row_sums), cells[7, 1]
    ([5, 7], [0, 1], [1, 2], 2)
    """

    __slots__ = (
        "_dict",
        "classes",
        "clusters",
        "column_sums",
        "columns",
        "counts",
        "row_sums",
        "rows",
        "sizes",
    )

    def __init__(
        self,
        names: tuple[Sequence[Hashable], Sequence[Hashable]],
        cells: tuple[Any, Any, Any],
        sums: tuple[Any, Any],
        sizes: dict[Count, int],
    ) -> None:
        """Take the labels, the places and counts of the cells, the sums and the sizes."""
        self.clusters, self.classes = names
        self.rows, self.columns, self.counts = [_view(part) for part in cells]
        self.row_sums, self.column_sums = [_view(part) for part in sums]
        self.sizes = sizes
        self._dict: dict[Cell, int] | None = None

    @classmethod
    def of_dict(cls, cells: Mapping[Cell, int]) -> CellTable:
        """Put cells with sortable labels and positive counts into flat buffers."""
        names = [sorted({cell[side] for cell in cells}) for side in (0, 1)]  # type: ignore[type-var]
        places = [{name: place for place, name in enumerate(side)} for side in names]
        sums = [array("q", bytes(8 * len(side))) for side in names]
        flat = array("i"), array("i"), array("q")
        placed = ((places[0][a], places[1][b], count) for (a, b), count in cells.items())
        for i, j, count in sorted(placed):
            sums[0][i] += count
            sums[1][j] += count
            for buffer, value in zip(flat, (i, j, count), strict=True):
                buffer.append(value)
        return cls((names[0], names[1]), flat, (sums[0], sums[1]), dict(Counter(cells.values())))

    def exact(self) -> dict[Cell, int]:
        """Return the cells as a plain dict, made when first asked for."""
        if self._dict is None:
            clusters = map(self.clusters.__getitem__, self.rows)
            classes = map(self.classes.__getitem__, self.columns)
            cells = zip(clusters, classes, strict=True)
            self._dict = dict(zip(cells, self.counts, strict=True))
        return self._dict

    def by_place(self) -> CellTable:
        """Return the same cells under the numbers of their rows and columns."""
        return CellTable(
            (range(len(self.clusters)), range(len(self.classes))),
            (self.rows, self.columns, self.counts),
            (self.row_sums, self.column_sums),
            self.sizes,
        )

    def malformed(self) -> str | None:
        """Say what cannot be right, without looking at single cells."""
        for name in ("rows", "columns", "counts", "row_sums", "column_sums"):
            view = getattr(self, name)
            if view.ndim != 1 or not view.contiguous or view.format not in tuple("ilq"):
                return f"its {name} are not a flat buffer of integers"
        if not len(self.rows) == len(self.columns) == len(self.counts) == sum(self.sizes.values()):
            return "its buffers and sizes tell of different numbers of cells"
        labels = len(self.clusters), len(self.classes)
        if (len(self.row_sums), len(self.column_sums)) != labels:
            return "it has not one sum for each label"
        objects = sum(size * cells for size, cells in self.sizes.items())
        if not sum(self.row_sums) == sum(self.column_sums) == objects:
            return "its sums and sizes tell of different numbers of objects"
        if not all(type(x) is int for pair in self.sizes.items() for x in pair):
            return "its sizes are not plain integers"
        return None

    def __getitem__(self, cell: Cell) -> int:
        return self.exact()[cell]

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.exact())

    def __len__(self) -> int:
        return len(self.counts)

    def __reduce__(self) -> tuple[type[CellTable], tuple[Any, ...]]:
        # Views belong to whoever made them; a pickle holds their numbers.
        cells = _array(self.rows), _array(self.columns), _array(self.counts)
        sums = _array(self.row_sums), _array(self.column_sums)
        return CellTable, ((self.clusters, self.classes), cells, sums, self.sizes)

    def items(self) -> ItemsView[Cell, int]:
        """Return the cells with their counts, row by row."""
        return self.exact().items()

    def values(self) -> ValuesView[int]:
        """Return the counts, row by row."""
        return self.exact().values()


@dataclass(frozen=True, slots=True)
class ExactCells(Exact):
    """``Exact``, for a dict of cells or for a ``CellTable`` of the same content.

    >>> ExactCells().fault({(0, 0): 2}, CellTable.of_dict({(0, 0): 3}))
    'at (0, 0): 3 instead of 2'
    """

    def malformed(self, answer: Any) -> str | None:
        """Ask for a plain dict of plain numbers, or for buffers that fit together."""
        if isinstance(answer, CellTable):
            return answer.malformed()
        return Exact.malformed(self, answer)

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Compare entry by entry; what a table says about its cells must be true of them."""
        if not isinstance(answer, CellTable):
            return Exact.fault(self, reference, answer)
        wrong = answer.malformed() or Exact.fault(self, reference, answer.exact())
        if wrong:
            return wrong
        due = CellTable.of_dict(reference)
        for name in ("clusters", "classes"):
            actual, labels = list(getattr(answer, name)), list(getattr(due, name))
            if actual != labels or list(map(type, actual)) != list(map(type, labels)):
                return f"the {name} are {actual} instead of {labels}"
        for name in ("rows", "columns", "counts", "row_sums", "column_sums", "sizes"):
            if getattr(answer, name) != getattr(due, name):
                return f"the {name.replace('_', ' ')} are not those of the cells in their order"
        return None


@kernel("contingency.table", contract=ExactCells(), merge=CELLS)
def table(data: LabelPairs) -> dict[Cell, Count]:
    """Count, for each cluster and class that meet, the objects (or the weight) in both.

    Spec: CT-TABLE, CT-WEIGHT, KER-CT

    >>> table(LabelPairs("aab", "xyx"))
    {('a', 'x'): 1, ('a', 'y'): 1, ('b', 'x'): 1}
    """
    clusters, classes = _listed(data.clusters), _listed(data.classes)
    if data.weights is None:
        return dict(Counter(zip(clusters, classes, strict=True)))
    cells: dict[Cell, Count] = {}
    for cluster, label, weight in zip(clusters, classes, data.weights, strict=True):
        cells[cluster, label] = cells.get((cluster, label), 0) + weight
    return cells


def _view(buffer: Any) -> memoryview[int]:
    return memoryview(buffer)


def _array(view: memoryview[int]) -> array[int]:
    return array(view.format, view.tobytes())


def _listed(labels: Sequence[Hashable]) -> Sequence[Hashable]:
    # Plain integers, whatever the array: and a list is gone through faster than a buffer.
    return labels.tolist() if hasattr(labels, "tolist") else labels
