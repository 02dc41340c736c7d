"""Tables of other libraries as named columns, recognised by what they offer (DATA-ACCEPT).

Three ways to get at columns cover the tables in use: ``column_names`` and ``column(j)`` (Arrow),
``get_columns()`` (polars), ``columns`` and ``iloc`` (pandas). None of them is imported.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from refclust.data.accepting.matrices import Doubles
from refclust.data.dataset import (
    DOUBLES,
    SINGLES,
    Dense,
    buffer_in_place,
    first_not_finite,
    readonly,
)
from refclust.errors import EmptyInput, MissingValue, NotFinite


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, its length, and functions that get its values when they are due."""

    name: Any
    length: int
    values: Callable[[], Sequence[Any]]
    first_missing: Callable[[], int | None]
    view: Callable[[], memoryview | None]  # its numbers as they lie in memory, if they are floats


def whole_of(data: Any) -> memoryview | None:
    """The numbers of a table that is kept as one array of floats, row after row; usually not."""
    if len(set(getattr(data, "dtypes", ()))) != 1:
        return None
    return _floats(data, 2)


def _floats(table: Any, dimensions: int) -> memoryview | None:
    """The floats that an object hands out as an array, without a look at them."""
    hand_out = getattr(table, "to_numpy", None)
    try:
        view = memoryview(hand_out()) if callable(hand_out) else None
    except (TypeError, ValueError, BufferError, NotImplementedError):
        return None
    if view is None or view.format not in (DOUBLES, SINGLES) or view.ndim != dimensions:
        return None
    return view


def columns_of(data: Any) -> list[Column] | None:
    """The columns of a table, or None if the object is no table that we know.

    >>> columns_of([[1, 2], [3, 4]]) is None
    True
    """
    if hasattr(data, "column_names") and callable(getattr(data, "column", None)):
        names = list(data.column_names)
        return [_of_arrow(name, data.column(j)) for j, name in enumerate(names)]
    if callable(getattr(data, "get_columns", None)):
        names = list(data.columns)
        return [
            _of_polars(name, column) for name, column in zip(names, data.get_columns(), strict=True)
        ]
    if hasattr(data, "iloc") and hasattr(data, "columns"):
        # By position: two columns of a pandas table may have the same name.
        names = list(data.columns)
        return [_of_pandas(name, data.iloc[:, j]) for j, name in enumerate(names)]
    return None


def _of_arrow(name: Any, column: Any) -> Column:
    return Column(
        name,
        len(column),
        column.to_pylist,
        lambda: _first_true(column.is_null().to_pylist()) if column.null_count else None,
        lambda: _floats(column, 1),
    )


def _of_polars(name: Any, column: Any) -> Column:
    return Column(
        name,
        len(column),
        column.to_list,
        lambda: _first_true(column.is_null().to_list()) if column.null_count() else None,
        lambda: _floats(column, 1),
    )


def _of_pandas(name: Any, column: Any) -> Column:
    # This library writes NaN for what is missing, so NaN counts as missing here.
    return Column(
        name,
        len(column),
        column.tolist,
        lambda: _first_true(column.isna().tolist()),
        lambda: _floats(column, 1),
    )


def _first_true(flags: list[bool]) -> int | None:
    return flags.index(True) if True in flags else None


def matrix_of(
    columns: Sequence[Column], whole: memoryview | None, doubles: Doubles, *, gaps: bool = False
) -> Dense:
    """The rows of a table; ``doubles`` turns numbers that are no floats into doubles.

    With ``gaps`` cells may be missing: ``doubles`` then makes NaN of them.

    Spec: DATA-ACCEPT, MISS-CELL
    """
    if not columns or not columns[0].length:
        rows = columns[0].length if columns else 0
        raise EmptyInput(f"the table has {rows} rows and {len(columns)} columns; one each is due")
    n, d = columns[0].length, len(columns)
    values = None if whole is None else buffer_in_place(whole)
    if values is None:
        values = _beside([column.view() for column in columns], n)
    if values is None or (not gaps and first_not_finite(values) is not None):
        values = _one_by_one(columns, n, doubles, gaps=gaps)
    return Dense(values, n, d)


def _beside(views: Sequence[memoryview | None], n: int) -> memoryview | None:
    """Columns of floats of one kind as rows: a single column in place, several in a new buffer."""
    formats = {None if view is None else view.format for view in views}
    code = formats.pop()
    if formats or code is None:
        return None
    if len(views) == 1:
        return buffer_in_place(views[0])
    values: array[float] = array(code, bytes(n * len(views) * array(code).itemsize))
    into = memoryview(values)
    for j, view in enumerate(views):
        into[j :: len(views)] = view  # type: ignore[assignment]
    return readonly(values)


def _one_by_one(columns: Sequence[Column], n: int, doubles: Doubles, *, gaps: bool) -> memoryview:
    """All numbers looked at one by one, so that an error can name the first that is none."""
    d = len(columns)
    values = array(DOUBLES, bytes(8 * n * d))
    for j, column in enumerate(columns):
        missing = None if gaps else column.first_missing()
        if missing is not None:
            raise MissingValue(f"row {missing}, column {column.name!r} is missing; fill or drop it")
        numbers = array(
            DOUBLES,
            doubles(column.values(), lambda i, name=column.name: f"row {i}, column {name!r}"),  # type: ignore[misc]
        )
        wrong = None if gaps else first_not_finite(memoryview(numbers))
        if wrong is not None:
            raise NotFinite(
                f"row {wrong}, column {column.name!r} is {numbers[wrong]!r}; only finite numbers "
                "are allowed"
            )
        values[j::d] = numbers
    return readonly(values)
