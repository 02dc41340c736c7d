"""The one door for data given in Python: rows, arrays, sparse matrices, tables (chapter 09).

Realises DATA-ACCEPT of chapter 09. Other libraries are recognised by what their objects offer and
never imported. A number that is no double becomes the nearest one here; buffers of doubles or
singles in the right layout are used in place, so their owner must not change them afterwards.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from itertools import chain, pairwise
from numbers import Real as RealNumber
from typing import Any, Final, TypeAlias

from refclust.data.accepting.frames import columns_of, matrix_of, whole_of
from refclust.data.accepting.matrices import Doubles, looks_sparse, sparse_matrix
from refclust.data.accepting.trust import items, iterator
from refclust.data.align import aligned
from refclust.data.dataset import (
    DOUBLES,
    GAP,
    GAP_ADVICE,
    Dataset,
    Dense,
    Features,
    Sparse,
    buffer_in_place,
    readonly,
    with_gaps,
)
from refclust.errors import (
    BadLabel,
    BadNumber,
    BadWeight,
    DimensionMismatch,
    EmptyInput,
    FeatureMismatch,
    MissingValue,
    MixedKeys,
    NanLabel,
    NotFinite,
    RaggedRows,
    RefclustError,
)
from refclust.numbers.reading import shown, written

__all__ = ["aligned", "dataset", "doubles", "labels_of"]

Matrix: TypeAlias = Dense | Sparse
_PLAIN: Final = frozenset((int, float))
_ROWS: Final = frozenset((list, tuple))
_FLOATS: Final = {float}
_CHUNK: Final = 1 << 16
_ONE_DIMENSION: Final = (
    "rows are needed: for one feature reshape to (n, 1) or give [[x] for x in data], "
    "for one row reshape to (1, d) or give [data]"
)


def dataset(
    data: Any,
    *,
    ids: Iterable[object] | None = None,
    features: Iterable[Any] | None = None,
    labels: Iterable[Hashable] | None = None,
    weights: Iterable[Any] | None = None,
    gaps: bool = False,
) -> Dataset:
    """A data set of whatever holds rows of numbers, with what is said about the rows beside it.

    With ``gaps`` None and NaN are cells that are missing; otherwise they are refused.

    Spec: DATA-ACCEPT, MISS-CELL

    >>> dataset([[1, 2.5], [3, 4]], ids="ab").row(1)
    (3.0, 4.0)
    >>> words = dataset([{"dog": 2, "cat": 1}, {}])
    >>> words.features, words.row(0)
    (('cat', 'dog'), {0: 1.0, 1: 2.0})
    """
    names = None if features is None else _features(features)
    if isinstance(data, Dataset):
        if data.gaps and not gaps:
            raise _missing(data)
        known = data if names is None else replace(data, features=names)
    else:
        matrix, read_names = _matrix(data, names, gaps=gaps)
        matrix, some = with_gaps(matrix) if gaps else (matrix, False)
        known = Dataset(matrix, features=read_names if names is None else names, gaps=some)
    parts: dict[str, Any] = {}
    if ids is not None:
        parts["ids"] = tuple(map(_text, _sequence(ids, "ids")))
    if labels is not None:
        parts["labels"] = labels_of(labels)
    if weights is not None:
        parts["weights"] = _weights(weights)
    return replace(known, **parts) if parts else known


def doubles(
    values: Sequence[Any],
    place: Callable[[int], str],
    kind: type[RefclustError] = BadNumber,
) -> Sequence[float]:
    """The nearest doubles of numbers; ``place`` says where the one at a position stands.

    Spec: DATA-ACCEPT

    >>> from fractions import Fraction
    >>> doubles([1, Fraction(1, 3)], "number {}".format)
    [1.0, 0.3333333333333333]
    """
    types = set(map(type, values))
    if types == {float}:
        return values
    if types <= _PLAIN:
        with suppress(OverflowError):  # one of them is too large; below it is named
            return list(map(float, values))
    return [_double(value, place, i, kind) for i, value in enumerate(values)]


def _doubles_or_gaps(
    values: Sequence[Any],
    place: Callable[[int], str],
    kind: type[RefclustError] = BadNumber,
) -> Sequence[float]:
    """The nearest doubles of numbers, and NaN for what is missing."""
    if set(map(type, values)) <= _PLAIN:
        return doubles(values, place, kind)
    kept = [GAP if value is None or _is_nan(value) else value for value in values]
    return doubles(kept, place, kind)


def _missing(data: Dataset) -> MissingValue:
    """What to say of the first cell that is missing where every cell is needed."""
    row, column = data.position(next(i for i, x in enumerate(data.matrix.values) if x != x))
    return MissingValue(
        f"row {data.row_name(row)}, column {data.feature_name(column)} is missing; {GAP_ADVICE}; "
        "elsewhere every cell is needed: drop the row, or fill the cell"
    )


def _double(value: Any, place: Callable[[int], str], i: int, kind: type[RefclustError]) -> float:
    if type(value) is float:
        return value
    if type(value) is not int:
        value = _native(value)
    if value is None:
        raise MissingValue(f"{place(i)} is missing (None); a number is needed")
    # Other libraries register their real numbers here; their truth values are none.
    if isinstance(value, bool) or not isinstance(value, RealNumber):
        raise kind(
            f"{place(i)} is {_shown(value)}; an int, float or Fraction is needed "
            "(a truth value is not a number)"
        )
    try:
        return float(value)
    except OverflowError:
        raise NotFinite(f"{place(i)} is beyond the range of doubles, about 1.8e308") from None


def _matrix(data: Any, names: Features | None, *, gaps: bool) -> tuple[Matrix, Features | None]:
    taken = _doubles_or_gaps if gaps else doubles
    if looks_sparse(data):  # before mappings: one layout is a mapping from places to numbers
        return sparse_matrix(data, doubles), None
    if isinstance(data, Mapping):
        raise BadNumber(
            "the data are one mapping; give a sequence of rows: [mapping] for one sparse row, "
            "list(zip(*columns.values())) for columns of equal length"
        )
    if isinstance(data, (str, bytes, bytearray, os.PathLike)):
        raise BadNumber(
            f"the data are {_shown(data)}; rows of numbers are needed, not a file name: "
            "refclust.read(path) reads a file"
        )
    columns = columns_of(data)
    if columns is not None:
        called = [column.name for column in columns]
        # The numbers that a table without names gets for its columns are no names.
        features = None if called == list(range(len(called))) else _features(called)
        return matrix_of(columns, whole_of(data), taken, gaps=gaps), features
    shape = _shape(data)
    if shape is not None:
        return _array(data, shape, taken), None

    def refusal() -> RefclustError:
        return BadNumber(
            f"the data are {_shown(data)}; a sequence of rows, an array of two dimensions, "
            "a sparse matrix or a table is needed"
        )

    rows = _native(data)
    if isinstance(rows, Set) or not isinstance(rows, Iterable):
        raise refusal()
    return _rows(iterator(rows, refusal), names, taken)


# -- arrays ---------------------------------------------------------------------------------------


def _shape(data: Any) -> tuple[int, ...] | None:
    """The shape of an array of numbers; None for anything that must be looked at row by row."""
    try:
        with memoryview(data) as view:
            shape, objects = view.shape, view.format == "O"
    except (TypeError, ValueError, BufferError):
        shape, objects = getattr(data, "shape", None), False
        if not callable(getattr(data, "tolist", None)):
            return None
    if objects and len(shape or ()) == 1:
        return None  # an array of rows
    if not isinstance(shape, tuple):
        return None
    sizes: tuple[Any, ...] = shape
    if not all(isinstance(size, int) and size >= 0 for size in sizes):
        raise DimensionMismatch(f"the data have the shape {shown(shape)}; sizes are whole numbers")
    return shape


def _array(data: Any, shape: tuple[int, ...], taken: Doubles) -> Dense:
    if len(shape) == 1:
        raise DimensionMismatch(f"the data have one dimension of {shape[0]}; {_ONE_DIMENSION}")
    if len(shape) != 2:
        raise DimensionMismatch(f"the data have {len(shape)} dimensions; rows and columns are two")
    n, d = shape
    if not n or not d:
        raise EmptyInput(f"the array has the shape {shape}; at least one row and column is needed")
    if getattr(data, "mask", None) is None:  # a mask is not in the buffer
        in_place = buffer_in_place(data)
        if in_place is not None:
            return Dense(in_place, n, d)
    values = array(DOUBLES)
    for i, row in enumerate(_array_rows(data, n, d)):
        if not isinstance(row, list) or len(row) != d:
            raise RaggedRows(f"row {i} of the array is {shown(row)}; its shape says {d} numbers")
        values.extend(taken(row, lambda j, i=i: f"row {i}, column {j}"))  # type: ignore[misc]
    if len(values) != n * d:
        raise RaggedRows(f"the array has {len(values)} numbers; its shape says {n} rows of {d}")
    return Dense(readonly(values), n, d)


def _array_rows(data: Any, n: int, d: int) -> Iterator[Sequence[Any]]:
    """The rows as lists, not many at a time: a Python object takes four times its double."""
    if isinstance(data, memoryview):
        rows: list[Any] = data.tolist()
        yield from rows
        return
    step = max(1, _CHUNK // d)
    for begin in range(0, n, step):
        yield from data[begin : begin + step].tolist()


# -- rows -----------------------------------------------------------------------------------------


def _rows(
    rows: Iterator[Any], names: Features | None, taken: Doubles
) -> tuple[Matrix, Features | None]:
    try:
        first = next(rows)
    except StopIteration:
        raise EmptyInput("there are no rows; a data set needs at least one") from None
    every = chain((first,), rows)
    if isinstance(first, Mapping):
        return _sparse_rows(every, names)
    return _dense_rows(every, taken), None


def _dense_rows(rows: Iterable[Any], taken: Doubles) -> Dense:
    values, n, d = array(DOUBLES), 0, -1
    for i, handed in enumerate(rows):
        if type(handed) in _ROWS and len(handed) == d and set(map(type, handed)) == _FLOATS:
            values.extend(handed)  # what most callers give, without all the questions
            n = i + 1
            continue
        row = _native(handed)
        if isinstance(handed, Mapping):
            raise DimensionMismatch(f"row 0 is dense and row {i} is sparse; give all in one form")
        if isinstance(row, RealNumber) and not isinstance(row, bool):
            raise DimensionMismatch(f"row {i} is the number {shown(row)}; {_ONE_DIMENSION}")
        if isinstance(row, (str, bytes, bytearray)) or not isinstance(row, Sequence):
            raise BadNumber(
                f"row {i} is {_shown(handed)}; a row is a sequence of numbers, "
                "or a mapping from keys to numbers"
            )
        if type(row) not in _ROWS:
            row = items(row, lambda: BadNumber("a row is a sequence of numbers"))
        if d not in (-1, len(row)):
            raise RaggedRows(
                f"row 0 has {d} numbers and row {i} has {len(row)}; all rows need the same number"
            )
        d, n = len(row), i + 1
        values.extend(taken(row, lambda j, i=i: f"row {i}, column {j}"))  # type: ignore[misc]
    if d == 0:
        raise EmptyInput(f"there are {n} rows without a number; at least one column is needed")
    return Dense(readonly(values), n, d)


def _sparse_rows(rows: Iterable[Any], names: Features | None) -> tuple[Sparse, Features]:
    seen: dict[Any, int] = {name: j for j, name in enumerate(names or ())}
    key_type = type(names[0]) if names else None
    starts, met, numbers = array("q", [0]), array("q"), array(DOUBLES)
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise DimensionMismatch(f"row 0 is sparse and row {i} is not; give all in one form")
        for name, value in row.items():
            key = _key(name, i)
            if key_type not in (None, type(key)):
                raise MixedKeys(
                    f"row {i} has the key {key!r} and others are {key_type.__name__}; "
                    "keys are all strings or all integers"
                )
            key_type = type(key)
            if key not in seen and names is not None:
                raise FeatureMismatch(f"row {i} has the key {key!r}, which is no feature given")
            number = _double(value, lambda _, i=i, key=key: f"row {i}, key {key!r}", 0, BadNumber)  # type: ignore[misc]
            column = seen.setdefault(key, len(seen))
            if number:
                met.append(column)
                numbers.append(number)
        starts.append(len(met))
    features: Any = tuple(sorted(seen)) if names is None else names
    place = array("q", bytes(8 * len(seen)))
    for new, key in enumerate(features):
        place[seen[key]] = new
    columns, values = array("q"), array(DOUBLES)
    for begin, end in pairwise(starts):
        entries = sorted(
            zip(map(place.__getitem__, met[begin:end]), numbers[begin:end], strict=True)
        )
        columns.extend(column for column, _ in entries)
        values.extend(value for _, value in entries)
    matrix = Sparse(
        readonly(starts), readonly(columns), readonly(values), len(starts) - 1, len(features)
    )
    return matrix, features


def _key(name: Any, i: int) -> str | int:
    key = _native(name)
    if isinstance(key, str):
        return str(key)
    if isinstance(key, bool) or not isinstance(key, int):
        raise MixedKeys(f"row {i} has the key {_shown(name)}; keys are all strings or all integers")
    return int(key)


# -- what is known about rows and columns ---------------------------------------------------------


def _features(features: Iterable[Any]) -> Features:
    """Names as they are if all are strings or all integers, else as text."""
    names = _sequence(features, "features")
    if set(map(type, names)) in ({int}, {str}):
        return tuple(names)
    names = [_native(name) for name in names]
    if all(isinstance(name, int) and not isinstance(name, bool) for name in names):
        return tuple(map(int, names))
    return tuple(map(_text, names))


def _text(value: object) -> str:
    return written(value) if isinstance(value, int) and type(value) is not bool else str(value)


def labels_of(source: Iterable[Any]) -> tuple[Hashable, ...]:
    """The labels of rows, all hashable and none of them NaN.

    Spec: DATA-ACCEPT

    >>> labels_of("ab")
    ('a', 'b')
    """
    labels = _sequence(source, "labels")
    try:
        distinct = set(labels)
    except (TypeError, ValueError):  # the latter by a view of memory that can be written
        for i, label in enumerate(labels):
            try:
                hash(label)
            except (TypeError, ValueError):
                raise BadLabel(f"the label of row {i} is {_shown(label)}, not hashable") from None
        raise
    if any(map(_is_nan, distinct)):
        i = next(i for i, label in enumerate(labels) if _is_nan(label))
        raise NanLabel(f"the label of row {i} is NaN, which equals no label, not even itself")
    return tuple(labels)


def _weights(weights: Iterable[Any]) -> memoryview:
    in_place = buffer_in_place(weights) if getattr(weights, "ndim", 0) == 1 else None
    if in_place is not None and in_place.format == DOUBLES:
        return in_place
    values = _sequence(weights, "weights")
    return readonly(array(DOUBLES, doubles(values, lambda i: f"the weight of row {i}", BadWeight)))


def _is_nan(label: Any) -> bool:
    try:
        return bool(label != label)
    except (TypeError, ValueError, ArithmeticError):  # a missing value that refuses to be compared
        return True


def _sequence(source: Any, what: str) -> list[Any]:
    def refusal() -> RefclustError:
        return BadLabel(f"{what} are a sequence, one for each, not {_shown(source)}")

    values = _native(source)
    if isinstance(values, Set) or not isinstance(values, Iterable):
        raise refusal()
    return items(values, refusal)


def _native(value: Any) -> Any:
    """What stands behind an array or a number taken from one; anything else as it is."""
    if isinstance(value, (int, float, str, list, tuple)):
        return value
    for name in ("tolist", "to_list", "to_pylist", "as_py"):
        method = getattr(value, name, None)
        if callable(method):
            return method()
    return value


def _shown(value: object) -> str:
    """A value and its type, short enough for a message of one line."""
    return f"{shown(value)} ({type(value).__name__})"
