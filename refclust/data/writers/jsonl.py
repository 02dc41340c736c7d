"""Sparse rows as lines of JSON, a piece at a time, however many columns there are (DATA-WRITE)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, compress, count
from typing import Any, Final

from refclust.data.dataset import Dataset, Sparse
from refclust.limits import within

_AROUND: Final = len('"": 0, ')  # a name that has a zero


def json_text(value: Any) -> str:
    """A value as JSON, which has no NaN and no infinity: these are a ``ValueError``.

    >>> json_text({"é": 0.5})
    '{"é": 0.5}'
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def object_lines(
    data: Dataset, matrix: Sparse, beside: Mapping[str, Sequence[Any]]
) -> Iterator[str]:
    """The objects of all rows, in pieces; ``beside`` are the columns that are no features.

    The first row names with a zero what no row has, or that would be lost.

    Spec: DATA-WRITE, DATA-LIMIT
    """
    unused = bytearray(b"\1") * matrix.d
    for column in matrix.columns:
        unused[column] = 0
    within("line", _size(data, unused), "the first row, which names the columns of zeros,")
    return chain(_first(data, beside, unused), _others(data, beside))


def _first(data: Dataset, beside: Mapping[str, Sequence[Any]], unused: bytearray) -> Iterator[str]:
    row = data.row(0)
    assert isinstance(row, dict)
    entries: Iterator[tuple[str, Any]] = chain(
        ((name, values[0]) for name, values in beside.items()),
        ((data.feature_name(column), 0) for column in compress(count(), unused)),
        ((data.feature_name(column), value) for column, value in row.items()),
    )
    sign = ""
    yield "{"
    for name, value in entries:
        yield f"{sign}{json_text(name)}: {json_text(value)}"
        sign = ", "
    yield "}\n"


def _others(data: Dataset, beside: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    for i in range(1, data.n):
        row = data.row(i)
        assert isinstance(row, dict)
        content: dict[str, Any] = {name: values[i] for name, values in beside.items()}
        content |= {data.feature_name(column): value for column, value in row.items()}
        yield json_text(content) + "\n"


def _size(data: Dataset, unused: bytearray) -> int:
    """How many bytes the columns take that no row has."""
    if data.features is not None:
        names = compress(map(str, data.features), unused)
        return sum(_AROUND + len(name.encode(errors="replace")) for name in names)
    digits = range(1, len(str(data.d)) + 1)
    begins = [(size, 10 ** (size - 1) if size > 1 else 0) for size in digits]
    return sum((_AROUND + size) * unused.count(1, begin, 10**size) for size, begin in begins)
