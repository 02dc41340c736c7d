"""A data set: rows of doubles, dense or sparse, with names, labels and weights, never changed.

Realises DATA-SET of chapter 09. The doubles are the data: a number that is no double becomes the
nearest one at the door, and everything after that is exact in those doubles. Numbers are kept in
compact buffers (8 bytes each, 4 if they came as float32), not as Python objects; buffers of
another library are used in place where they already have the right layout.
"""

from __future__ import annotations

import hashlib
import math
import sys
from array import array
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from refclust.data.accepting.buffers import surely_finite, surely_weights
from refclust.errors import (
    BadWeight,
    EmptyInput,
    FeatureMismatch,
    LabelLengthMismatch,
    NegativeCount,
    NotFinite,
    RaggedRows,
)

if TYPE_CHECKING:
    from refclust.data.preparing.record import Preparation

Features: TypeAlias = tuple[str, ...] | tuple[int, ...]
DenseRow: TypeAlias = tuple[float, ...]
SparseRow: TypeAlias = dict[int, float]  # column number to value, zeros left out

DOUBLES: Final = "d"
SINGLES: Final = "f"
INTEGERS: Final = frozenset("bBhHiIlLqQ")  # formats of buffers of integers of any width
_CHUNK: Final = 1 << 16
_GLANCE: Final = 1 << 11  # numbers of one glance: their bytes stay in the nearest cache
GAP: Final = math.nan  # the one NaN that stands for a missing cell
GAP_ADVICE: Final = (
    "a Gaussian mixture can do without a cell (missing='integrate', --missing integrate)"
)


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """All numbers of a matrix, row after row, in one read-only buffer of doubles or singles."""

    values: memoryview
    n: int
    d: int


@dataclass(frozen=True, slots=True, eq=False)
class Sparse:
    """The numbers that are not zero, row after row, with their columns in ascending order."""

    starts: memoryview  # n + 1 positions: row i is starts[i] to starts[i + 1]
    columns: memoryview
    values: memoryview
    n: int
    d: int


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Rows of finite doubles with what is known about them; build one with ``dataset``.

    Spec: DATA-SET
    """

    matrix: Dense | Sparse
    ids: tuple[str, ...] | None = None
    features: Features | None = None
    labels: tuple[Hashable, ...] | None = None
    weights: memoryview | None = None  # doubles of at least 0, not all 0
    preparation: Preparation | None = None  # what was done to the user's own columns
    gaps: bool = False  # whether cells of dense rows may be missing: NaN

    def __post_init__(self) -> None:
        """Check what can be checked without looking at rows one by one."""
        n, d = self.matrix.n, self.matrix.d
        if n == 0:
            raise EmptyInput("there are no rows; a data set needs at least one")
        _check_matrix(self.matrix, gaps=self.gaps)
        for name, column in (("ids", self.ids), ("labels", self.labels), ("weights", self.weights)):
            if column is not None and len(column) != n:
                raise LabelLengthMismatch(f"{len(column)} {name} for {n} rows; one for each is due")
        if self.features is not None:
            if len(self.features) != d:
                raise FeatureMismatch(f"{len(self.features)} feature names for {d} features")
            if len(set(self.features)) != d:
                twice = next(f for f in self.features if self.features.count(f) > 1)
                raise FeatureMismatch(f"the feature {twice!r} occurs twice")
        if self.weights is not None:
            _check_weights(self.weights)

    @property
    def n(self) -> int:
        """The number of rows.

        Spec: DATA-SET
        """
        return self.matrix.n

    @property
    def d(self) -> int:
        """The number of features.

        Spec: DATA-SET
        """
        return self.matrix.d

    @property
    def kind(self) -> str:
        """How the rows are stored: ``dense`` or ``sparse``."""
        return "dense" if isinstance(self.matrix, Dense) else "sparse"

    def __len__(self) -> int:
        return self.matrix.n

    def __repr__(self) -> str:
        return f"<Dataset: {self.n} {self.kind} rows, {self.d} features, {self.digest()[:12]}>"

    def row(self, i: int) -> DenseRow | SparseRow:
        """One row: all its numbers, or column by column those that are not zero.

        Spec: DATA-SET
        """
        matrix = self.matrix
        if isinstance(matrix, Dense):
            return tuple(matrix.values[i * matrix.d : (i + 1) * matrix.d])
        begin, end = matrix.starts[i], matrix.starts[i + 1]
        return dict(zip(matrix.columns[begin:end], matrix.values[begin:end], strict=True))

    def rows(self) -> Iterator[DenseRow | SparseRow]:
        """All rows in order.

        Spec: DATA-SET
        """
        return map(self.row, range(self.n))

    def feature_name(self, column: int) -> str:
        """What to call a column: its name, or its number from 0."""
        return str(column if self.features is None else self.features[column])

    def row_name(self, i: int) -> str:
        """What to call a row: its id, or its number from 0."""
        return str(i) if self.ids is None else self.ids[i]

    def position(self, place: int) -> tuple[int, int]:
        """The row and the column of a stored number.

        Spec: DATA-SET
        """
        return _position(self.matrix, place)

    def digest(self) -> str:
        """The SHA-256 of shape, numbers and weights, whatever buffers they are kept in.

        Spec: DATA-DIGEST
        """
        matrix = self.matrix
        digest = hashlib.sha256(f"refclust-data/1 {self.kind} {self.n} {self.d}\n".encode())
        if isinstance(matrix, Sparse):
            for positions in (matrix.starts, matrix.columns):
                _tell(digest, positions, "q")
        _tell(digest, matrix.values, DOUBLES)
        if self.weights is not None:
            digest.update(b"weights\n")
            _tell(digest, self.weights, DOUBLES)
        return digest.hexdigest()

    def select(self, rows: Sequence[int]) -> Dataset:
        """The data set of some rows, in the order given.

        Spec: DATA-SET
        """
        matrix = _selected(self.matrix, rows)
        matrix, gaps = with_gaps(matrix) if self.gaps else (matrix, False)
        return Dataset(
            matrix,
            None if self.ids is None else tuple(self.ids[i] for i in rows),
            self.features,
            None if self.labels is None else tuple(self.labels[i] for i in rows),
            None
            if self.weights is None
            else readonly(array(DOUBLES, (self.weights[i] for i in rows))),
            self.preparation,
            gaps,
        )


class Fingerprint:
    """The digest of a data set, worked out when it is first asked for; until then rows are kept.

    Spec: DATA-DIGEST

    >>> rows = dense(array("d", [1, 2]), 1)
    >>> Fingerprint(rows).text == rows.digest()
    True
    """

    __slots__ = ("_data", "_text", "preparation")

    def __init__(
        self,
        data: Dataset | None = None,
        text: str = "",
        preparation: Preparation | None = None,
    ) -> None:
        self._data, self._text = data, text
        # What was done to the columns belongs to the data as much as their numbers do.
        self.preparation = preparation if data is None else data.preparation

    @property
    def text(self) -> str:
        """The digest.

        Spec: DATA-DIGEST
        """
        if self._data is not None:
            self._text, self._data = self._data.digest(), None
        return self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fingerprint) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Fingerprint(text={self.text!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return Fingerprint, (None, self.text, self.preparation)


def readonly(values: array[float] | array[int]) -> memoryview:
    """A buffer nobody writes to any more."""
    return memoryview(values).toreadonly()


def buffer_in_place(data: Any) -> memoryview | None:
    """The numbers of a contiguous buffer of doubles or singles without a copy, if it is one."""
    try:
        view = memoryview(data)
    except (TypeError, ValueError, BufferError):
        return None
    native = ("@", "=", "<" if sys.byteorder == "little" else ">")
    code = view.format[1:] if view.format[:1] in native else view.format
    if code not in (DOUBLES, SINGLES) or not view.c_contiguous or not view.nbytes:
        return None
    flat: memoryview = view.cast("B").cast(code)  # type: ignore[call-overload]
    return flat.toreadonly()


def dense(values: array[float], d: int, **known: object) -> Dataset:
    """A data set of ``len(values) / d`` dense rows from numbers written row after row.

    >>> dense(array("d", [1, 2, 3, 4, 5, 6]), 3).row(1)
    (4.0, 5.0, 6.0)
    """
    n, left = divmod(len(values), d) if d else (0, len(values))
    if left:
        raise RaggedRows(f"{len(values)} numbers do not fill rows of {d}")
    return Dataset(Dense(readonly(values), n, d), **known)  # type: ignore[arg-type]


def sparse(
    starts: array[int], columns: array[int], values: array[float], d: int, **known: object
) -> Dataset:
    """A data set of sparse rows; columns ascend within a row, zeros are left out.

    >>> sparse(array("q", [0, 1, 1]), array("q", [2]), array("d", [7]), 3).row(0)
    {2: 7.0}
    """
    matrix = Sparse(readonly(starts), readonly(columns), readonly(values), len(starts) - 1, d)
    return Dataset(matrix, **known)  # type: ignore[arg-type]


def with_gaps(matrix: Dense | Sparse) -> tuple[Dense | Sparse, bool]:
    """A matrix whose missing cells all hold the same NaN, and whether there are any.

    Which NaN a cell holds means nothing, but the digest reads its bits.

    Spec: MISS-CELL

    >>> with_gaps(Dense(memoryview(array("d", [1.0, math.nan])), 1, 2))[1]
    True
    """
    if not isinstance(matrix, Dense) or first_not_finite(matrix.values) is None:
        return matrix, False
    cells = array(matrix.values.format, (x if x == x else GAP for x in matrix.values))
    return Dense(readonly(cells), matrix.n, matrix.d), any(x != x for x in cells)


def _check_matrix(matrix: Dense | Sparse, *, gaps: bool) -> None:
    wrong = first_not_finite(matrix.values)
    if wrong is not None and gaps and isinstance(matrix, Dense):
        wrong = next((i for i, x in enumerate(matrix.values) if math.isinf(x)), None)
    if wrong is None:
        return
    row, column = _position(matrix, wrong)
    value = matrix.values[wrong]
    advice = "" if value == value else f"; {GAP_ADVICE}"
    raise NotFinite(
        f"row {row}, column {column} is {value!r}; only finite numbers are allowed{advice}"
    )


def _position(matrix: Dense | Sparse, place: int) -> tuple[int, int]:
    if isinstance(matrix, Dense):
        return divmod(place, matrix.d)
    row = next(i for i in range(matrix.n) if matrix.starts[i + 1] > place)
    return row, matrix.columns[place]


def first_not_finite(values: memoryview) -> int | None:
    """The position of the first NaN or infinity, if there is one.

    Spec: DATA-SET

    >>> first_not_finite(memoryview(array("d", [1.0, math.inf])))
    1
    """
    if surely_finite(values):
        return None
    raw, width = values.cast("B"), values.itemsize
    # All bits of the exponent are ones in a number that is not finite, seven of them in the
    # highest byte: as long as that byte is never 7f or ff, nothing has to be looked at closely.
    highest = width - 1 if sys.byteorder == "little" else 0
    for begin in range(0, len(values), _GLANCE):
        top = bytes(raw[begin * width : (begin + _GLANCE) * width])[highest::width]
        if 0x7F in top or 0xFF in top:
            for place, value in enumerate(values[begin : begin + _GLANCE], begin):
                if not math.isfinite(value):
                    return place
    return None


def _check_weights(weights: memoryview) -> None:
    if surely_weights(weights):
        return
    for i, weight in enumerate(weights):
        if not math.isfinite(weight):
            raise NotFinite(f"the weight of row {i} is {weight!r}; a finite number is needed")
        if weight < 0:
            raise NegativeCount(f"the weight of row {i} is {weight!r}; at least 0 is needed")
    if not any(weights):
        raise BadWeight("all weights are 0; at least one row must count")


def _tell(digest: hashlib._Hash, values: memoryview, code: str) -> None:
    """Feed numbers to the digest as 64-bit little-endian words, a chunk at a time."""
    if values.format == code and values.contiguous and sys.byteorder == "little":
        digest.update(values.cast("B"))
        return
    for begin in range(0, len(values), _CHUNK):
        words: array[float] | array[int] = array(code, values[begin : begin + _CHUNK])
        if sys.byteorder == "big":
            words.byteswap()
        digest.update(words)


def _selected(matrix: Dense | Sparse, rows: Sequence[int]) -> Dense | Sparse:
    if isinstance(matrix, Dense):
        chosen = array(matrix.values.format)
        raw, width = matrix.values.cast("B"), matrix.d * matrix.values.itemsize
        for i in rows:
            chosen.frombytes(raw[i * width : (i + 1) * width])
        return Dense(readonly(chosen), len(rows), matrix.d)
    starts, columns, values = array("q", [0]), array("q"), array(DOUBLES)
    for i in rows:
        begin, end = matrix.starts[i], matrix.starts[i + 1]
        columns.extend(matrix.columns[begin:end])
        values.extend(matrix.values[begin:end])
        starts.append(len(values))
    return Sparse(readonly(starts), readonly(columns), readonly(values), len(rows), matrix.d)
