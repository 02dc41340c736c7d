"""Tables of other libraries as named columns, recognised by what they offer (DATA-ACCEPT).

Three ways to get at columns cover the tables in use: ``column_names`` and ``column(j)`` (Arrow),
``get_columns()`` (polars), ``columns`` and ``iloc`` (pandas). None of them is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, its length, and functions that get its values when they are due."""

    name: Any
    length: int
    values: Callable[[], Sequence[Any]]
    first_missing: Callable[[], int | None]


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
    )


def _of_polars(name: Any, column: Any) -> Column:
    return Column(
        name,
        len(column),
        column.to_list,
        lambda: _first_true(column.is_null().to_list()) if column.null_count() else None,
    )


def _of_pandas(name: Any, column: Any) -> Column:
    # This library writes NaN for what is missing, so NaN counts as missing here.
    return Column(name, len(column), column.tolist, lambda: _first_true(column.isna().tolist()))


def _first_true(flags: list[bool]) -> int | None:
    return flags.index(True) if True in flags else None
