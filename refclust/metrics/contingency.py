"""Contingency tables: rows are clusters, columns are classes (chapter 40).

Labels, weights and tables are validated here, once; the formulas assume what this module grants:
no empty row, no empty column, no negative cell, every number an ``int`` or a ``Fraction``.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, TypeAlias

from refclust.backends.protocol import Problem
from refclust.backends.session import Session
from refclust.data.dataset import INTEGERS
from refclust.data.given import items, iterator
from refclust.errors import (
    BackendFailure,
    BadLabel,
    BadOption,
    BadTable,
    BadWeight,
    LabelLengthMismatch,
    NanLabel,
    NegativeCount,
    NotFinite,
    RaggedRows,
)
from refclust.kernels.contingency import Cell, CellTable, Count, LabelPairs
from refclust.numbers.reading import exact_value, refuse_long, shown

Labels: TypeAlias = Iterable[Hashable]
NOISE_POLICIES: Final = ("ordinary", "singletons", "ignore")
_LONGEST_VALUE: Final = 40  # in a message
_NDARRAY: Final = ("numpy", "ndarray")


class _NoNoise:
    """Stands for: no label means noise (``None`` may be a label)."""

    def __repr__(self) -> str:
        return "NO_NOISE"


NO_NOISE: Final = _NoNoise()


@dataclass(frozen=True, slots=True)
class Lonely:
    """The label that a noise object gets when noise objects are singletons."""

    position: int


@dataclass(frozen=True, slots=True, eq=False)
class Contingency:
    """How many objects (or how much weight) each cluster shares with each class.

    Spec: CT-TABLE

    >>> table = Contingency.of_rows([[2, 1], [0, 2]])
    >>> table.row, table.col, table.total
    ((3, 2), (2, 3), 5)
    """

    clusters: tuple[Hashable, ...]
    classes: tuple[Hashable, ...]
    counts: Mapping[tuple[int, int], Count]
    row: tuple[Count, ...]
    col: tuple[Count, ...]
    total: Count
    sizes: Mapping[Count, int]  # how many cells there are of each count

    def cells(self) -> Iterator[tuple[tuple[int, int], Count]]:
        """Yield the cells that are not empty, row by row."""
        return iter(self.counts.items())

    def rows(self) -> list[list[Count]]:
        """Return the table with its zeros, row by row."""
        full: list[list[Count]] = [[0] * len(self.col) for _ in self.row]
        for (i, j), n_ij in self.cells():
            full[i][j] = n_ij
        return full

    def largest_in_row(self) -> tuple[Count, ...]:
        """Return max_j n_ij for each cluster i."""
        largest: list[Count] = [0] * len(self.row)
        for (i, _), n_ij in self.cells():
            largest[i] = max(largest[i], n_ij)
        return tuple(largest)

    def largest_in_column(self) -> tuple[Count, ...]:
        """Return max_i n_ij for each class j."""
        return self.transposed().largest_in_row()

    def transposed(self) -> Contingency:
        """Return the table with the roles of clusters and classes exchanged."""
        turned = {(j, i): n_ij for (i, j), n_ij in self.cells()}
        counts = dict(sorted(turned.items()))
        return Contingency(
            self.classes, self.clusters, counts, self.col, self.row, self.total, self.sizes
        )

    @property
    def is_integer(self) -> bool:
        """Whether every cell is a whole number."""
        return all(n_ij.denominator == 1 for n_ij in self.sizes)

    @classmethod
    def of_cells(cls, cells: Mapping[Cell, Count]) -> Contingency:
        """Build a table from the counts of label pairs (cluster, class)."""
        if isinstance(cells, CellTable):
            return cls._of_buffers(cells)
        kept = {cell: count for cell, count in cells.items() if count}
        clusters = _ordered(cluster for cluster, _ in kept)
        classes = _ordered(label for _, label in kept)
        row_of = {cluster: i for i, cluster in enumerate(clusters)}
        col_of = {label: j for j, label in enumerate(classes)}
        counts: dict[tuple[int, int], Count] = {}
        row: list[Count] = [0] * len(clusters)
        col: list[Count] = [0] * len(classes)
        for (cluster, label), count in kept.items():
            i, j = row_of[cluster], col_of[label]
            counts[i, j] = count
            row[i] += count
            col[j] += count
        ordered = dict(sorted(counts.items()))
        sizes = Counter(ordered.values())
        return cls(clusters, classes, ordered, tuple(row), tuple(col), sum(row), sizes)

    @classmethod
    def _of_buffers(cls, cells: CellTable) -> Contingency:
        """Take over a table whose cells lie in order already; no cell is looked at."""
        row, col = tuple(cells.row_sums.tolist()), tuple(cells.column_sums.tolist())
        places: Any = cells.by_place()
        names = tuple(cells.clusters), tuple(cells.classes)
        return cls(*names, places, row, col, sum(row), cells.sizes)

    @classmethod
    def of_rows(cls, rows: Any) -> Contingency:
        """Build a table from its rows; rows and columns without an object are dropped."""
        table = _plain(rows)
        if not isinstance(table, Sequence) or isinstance(table, str):
            raise BadTable(f"a table is a sequence of rows, not a {type(table).__name__}")
        cells: dict[Cell, Count] = {}
        width: int | None = None
        for i, row in enumerate(map(_plain, table)):
            if not isinstance(row, Sequence) or isinstance(row, str):
                raise BadTable(f"row {i} of the table is {shown(row)}, not a sequence of numbers")
            width = len(row) if width is None else width
            if len(row) != width:
                raise RaggedRows(f"row {i} of the table has {len(row)} cells, row 0 has {width}")
            for j, cell in enumerate(row):
                cells[i, j] = _count(cell, f"cell ({i}, {j}) of the table", BadTable)
        refuse_long(cells.values(), "exact arithmetic with these cells")
        return cls.of_cells(cells)


def contingency(
    labels_true: Labels,
    labels_pred: Labels,
    *,
    weights: Iterable[Any] | None = None,
    noise: Hashable = NO_NOISE,
    noise_policy: str | None = None,
    session: Session | None = None,
) -> Contingency:
    """Count two labelings of the same objects into a table.

    Spec: CT-TABLE, CT-NOISE, CT-WEIGHT

    >>> contingency(["x", "x", "y"], [1, 2, 2]).rows()
    [[1, 0], [1, 1]]
    """
    classes, clusters = _labels(labels_true), _labels(labels_pred)
    if len(classes) != len(clusters):
        raise LabelLengthMismatch(
            f"{len(classes)} true labels and {len(clusters)} predicted labels: "
            "both must label the same objects"
        )
    counted = None if weights is None else _weights(weights, len(classes))
    if noise is not NO_NOISE or noise_policy is not None:
        clusters, classes, counted = _treat_noise(clusters, classes, counted, noise, noise_policy)
    session = session or Session()
    problem = Problem("labels", len(classes))
    try:
        cells = session.run("contingency.table", problem, LabelPairs(clusters, classes, counted))
    except (TypeError, ValueError, BackendFailure):
        _refuse_unhashable("true", classes)
        _refuse_unhashable("predicted", clusters)
        raise
    table = Contingency.of_cells(cells)
    for side, distinct, labels in (
        ("predicted", table.clusters, clusters),
        ("true", table.classes, classes),
    ):
        if not isinstance(labels, memoryview):  # which holds integers
            _refuse_nan(side, distinct, labels)
    return table


def _plain(values: Any) -> Any:
    """Turn the arrays of other libraries into lists, without importing those libraries."""
    return values.tolist() if hasattr(values, "tolist") else values


def _labels(values: Any) -> Sequence[Hashable]:
    buffer = _buffer(values)
    if buffer is not None:
        return buffer
    values = _plain(values)
    if type(values) in (list, tuple, str, range):
        return values  # type: ignore[no-any-return]
    return items(
        values,
        lambda: BadLabel(f"labels are a sequence, one label per object, not {shown(values)}"),
    )


def _buffer(values: Any) -> memoryview | None:
    """Return labels that lie in memory as a flat row of integers, where they lie; else ``None``.

    Only of types that are known to hide nothing: an array may have a mask beside its buffer.
    """
    values = _behind(values)
    kind = type(values)
    if kind not in (array, memoryview) and (kind.__module__, kind.__name__) != _NDARRAY:
        return None
    try:
        view = memoryview(values)
    except (TypeError, ValueError, BufferError):
        return None
    flat = view.ndim == 1 and view.c_contiguous and view.format in INTEGERS
    return view.toreadonly() if flat else None


def _behind(values: Any) -> Any:
    """Return the array that a column of another library can show without copying it."""
    library = type(values).__module__.partition(".")[0]
    if library == "pandas":
        return getattr(values, "values", None)
    if library == "pyarrow":
        try:
            return values.to_numpy(zero_copy_only=True)
        except (AttributeError, ImportError, NotImplementedError, TypeError, ValueError):
            return None
    return values


def _weights(values: Iterable[Any], expected: int) -> list[Count]:

    def refusal() -> BadWeight:
        return BadWeight(f"weights are a sequence, one per object, not {shown(values)}")

    counts = [
        _count(weight, f"the weight of object {position}", BadWeight)
        for position, weight in enumerate(iterator(_plain(values), refusal))
    ]
    if len(counts) != expected:
        raise LabelLengthMismatch(f"{len(counts)} weights for {expected} objects")
    refuse_long(set(counts), "exact arithmetic with these weights")
    return counts


def _count(value: Any, place: str, kind: type[BadTable] | type[BadWeight]) -> Count:
    """Return a count as an exact number, refusing what is none."""
    exact = None if isinstance(value, Decimal) else exact_value(value, place)
    if exact is None:
        if _is_not_finite(value):
            raise NotFinite(f"{place} is {value}; it must be finite")
        raise kind(f"{place} is {shown(value)}, which is not a number")
    if exact < 0:
        raise NegativeCount(f"{place} is {_told(value)}; it must not be negative")
    return exact.numerator if exact.denominator == 1 else exact


def _told(value: Any) -> str:
    return shown(value) if isinstance(value, int | Fraction) else str(value)[:_LONGEST_VALUE]


def _is_not_finite(value: Any) -> bool:
    """Tell whether a float or a text is NaN or an infinity."""
    text = value.strip().lower().lstrip("+-") if isinstance(value, str) else None
    return text in ("nan", "inf", "infinity") or (
        isinstance(value, float) and not math.isfinite(value)
    )


def _treat_noise(
    clusters: Sequence[Hashable],
    classes: Sequence[Hashable],
    weights: list[Count] | None,
    noise: Hashable,
    policy: str | None,
) -> tuple[Sequence[Hashable], Sequence[Hashable], list[Count] | None]:
    if not isinstance(policy, str) or policy not in NOISE_POLICIES or noise is NO_NOISE:
        given = "no noise label" if noise is NO_NOISE else f"the noise label {shown(noise)}"
        raise BadOption(
            f"{given} with the noise policy {shown(policy)}: name a noise label and one of the "
            f"policies {', '.join(NOISE_POLICIES)}"
        )
    # What cannot be hashed may refuse to be compared, too.
    for side, labels in (("noise", [noise]), ("true", classes), ("predicted", clusters)):
        _refuse_unhashable(side, labels)
    if policy == "singletons":
        alone = [
            [Lonely(i) if label == noise else label for i, label in enumerate(side)]
            for side in (clusters, classes)
        ]
        return alone[0], alone[1], weights
    if policy == "ignore":
        keep = [a != noise and b != noise for a, b in zip(clusters, classes, strict=True)]
        kept = None if weights is None else _kept(weights, keep)
        return _kept(clusters, keep), _kept(classes, keep), kept
    return clusters, classes, weights


def _kept(values: Sequence[Any], keep: list[bool]) -> list[Any]:
    return [value for value, stays in zip(values, keep, strict=True) if stays]


def _ordered(labels: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Return distinct labels in their natural order, or as met if they have none."""
    distinct = list(dict.fromkeys(labels))
    try:
        return tuple(sorted(distinct))  # type: ignore[type-var]
    except (TypeError, ArithmeticError):  # NaN of the decimals has no place among numbers
        return tuple(distinct)


def _refuse_unhashable(side: str, labels: Sequence[Any]) -> None:
    for position, label in enumerate(labels):
        try:
            hash(label)
        except (TypeError, ValueError):  # the latter by a view of memory that can be written
            raise BadLabel(
                f"the {side} label of object {position} is {shown(label)}, a "
                f"{type(label).__name__}, which cannot be hashed"
            ) from None


def _refuse_nan(side: str, distinct: tuple[Any, ...], labels: Sequence[Any]) -> None:
    if any(label != label for label in distinct):
        position = next(i for i, label in enumerate(labels) if label != label)
        raise NanLabel(
            f"the {side} label of object {position} is NaN, which equals no label, not even itself"
        )
