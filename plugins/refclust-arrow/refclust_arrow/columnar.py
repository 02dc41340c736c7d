"""Tables of Parquet, Feather and Arrow files as typed columns (DATA-ARROW)."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import nan
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from refclust.data.dataset import Dataset, Dense
from refclust.data.files.source import display_name
from refclust.data.preparing.frames import beside
from refclust.data.readers.cells import shown
from refclust.data.readers.formats import Options, Plan, check_options
from refclust.data.readers.tables.framed import USABLE, plan_of, rows_of
from refclust.data.readers.tables.layout import layout
from refclust.data.typed import Column, Frame, kind_of, of_numbers
from refclust.errors import BadFile, EmptyFile
from refclust.limits import within

_MAGIC: Final = {"parquet": (b"PAR1",), "feather": (b"FEA1",), "arrow": (b"ARROW1",)}
_INDEX: Final = re.compile(r"__index_level_[0-9]+__")  # what pandas calls an index without a name


def frame(name: str, path: str, options: Options, rows: int | None = None) -> Frame:
    """Read a table with all its columns, as they are typed there; maybe only some rows.

    Spec: DATA-ARROW
    """
    check_options(name, options, USABLE)
    file = display_name(path)
    with _told(name, file):
        table = _table(name, path, file)
        table.validate(full=True)  # offsets of a damaged file would lead anywhere
        if rows is not None:
            table = table.slice(0, rows)
        if not table.num_columns or (not table.num_rows and rows is None):
            raise EmptyFile(f"{file} has {table.num_rows} rows and {table.num_columns} columns")
        columns = tuple(
            _column(str(field.name), table.column(j), file) for j, field in enumerate(table.schema)
        )
    return Frame(columns, table.num_rows, file)


def read(name: str, path: str, options: Options) -> Dataset:
    """Read a table whose features are all numbers.

    Spec: DATA-ARROW
    """
    return numbers_of(frame(name, path, options), options)


def numbers_of(table: Frame, options: Options) -> Dataset:
    """The rows of a typed table at the speed of NumPy, if every feature is a finite number.

    Spec: DATA-ARROW
    """
    columns = layout(table.file, table.names, replace(options, header=table.named))
    features = [table.columns[j] for j in columns.features]
    if columns.categorical or any(column.numbers is None for column in features):
        return rows_of(table, options)
    values = np.empty((table.n, len(features)))
    for j, column in enumerate(features):
        values[:, j] = np.asarray(column.numbers)
    if not np.isfinite(values).all() or any(column.texts is not None for column in features):
        return rows_of(table, options)
    around = beside(table, columns)
    return Dataset(
        Dense(buffer_of(values), table.n, len(features)),
        ids=around.ids,
        features=tuple(table.names[j] for j in columns.features) if table.named else None,
        labels=around.labels,
        weights=None if around.weights is None else memoryview(around.weights).toreadonly(),
    )


def buffer_of(values: Any) -> memoryview:
    """The numbers of an array, row after row, as a buffer nobody writes to."""
    numbers: Any = np.ascontiguousarray(values).reshape(-1)
    return memoryview(numbers).toreadonly()


def plan(name: str, path: str, options: Options) -> Plan:
    """Tell what the columns hold."""
    return plan_of(name, frame(name, path, options), options)


def sniff(name: str, path: str) -> float:
    """Judge by the first bytes.

    Spec: DATA-READ
    """
    with open(path, "rb") as stream:
        start = stream.read(8)
    return 0.95 if start.startswith(_MAGIC[name]) else 0.0


def _table(name: str, path: str, file: str) -> Any:
    if name == "parquet":
        import pyarrow.parquet as parquet

        source = parquet.ParquetFile(path)
        shape = source.metadata
        within("memory", 8 * shape.num_rows * shape.num_columns, f"{file}: a table of its shape")
        return source.read(use_pandas_metadata=False)
    with pa.memory_map(path) as stream:
        if name == "feather" and stream.read(4) == b"FEA1":
            import pyarrow.feather as feather

            return feather.read_table(path)
        stream.seek(0)
        if stream.read(6) == b"ARROW1":
            stream.seek(0)
            return pa.ipc.open_file(stream).read_all()
        stream.seek(0)
        return pa.ipc.open_stream(stream).read_all()


@contextmanager
def _told(name: str, file: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, OverflowError) as error:
        reason = " ".join(str(error).split())[:200]
        raise BadFile(f"{file} is no {name} file that can be read: {reason}") from None


def _column(name: str, cells: Any, file: str) -> Column:
    kind = cells.type
    if pa.types.is_null(kind):
        return Column(name, "missing-only", None, (None,) * len(cells))
    if pa.types.is_boolean(kind):
        words = {True: "true", False: "false", None: None}
        return _texts(name, [words[x] for x in cells.to_pylist()], ("false", "true"))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        numbers = pc.cast(cells, pa.float64(), safe=False)
        filled = pc.fill_null(numbers, nan).combine_chunks()
        column = of_numbers(name, buffer_of(filled.to_numpy(zero_copy_only=False)))
        return replace(column, kind="id") if _INDEX.fullmatch(name) else column
    if pa.types.is_decimal(kind):
        exact = cells.to_pylist()
        return of_numbers(name, array("d", (nan if x is None else float(x) for x in exact)))
    if pa.types.is_dictionary(kind):
        return _categories(name, cells.unify_dictionaries())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or _is_view(kind):
        return _texts(name, cells.to_pylist())
    if pa.types.is_temporal(kind):
        texts = [None if x is None else str(x) for x in pc.cast(cells, pa.string()).to_pylist()]
        column = _texts(name, texts)
        return column if column.kind == "missing-only" else replace(column, kind="date")
    raise BadFile(
        f"{file}: the column {shown(name)} holds {kind}; numbers, texts, categories, truth values "
        "and dates are read"
    )


def _texts(name: str, texts: list[str | None], categories: tuple[str, ...] | None = None) -> Column:
    column = Column(name, "nominal", None, tuple(texts), categories, None)
    return replace(column, kind=kind_of(column))


def _categories(name: str, cells: Any) -> Column:
    words = cells.chunk(0).dictionary.to_pylist() if cells.num_chunks else []
    spelled: Callable[[Any], str | None] = lambda x: None if x is None else str(x)  # noqa: E731
    categories = tuple(str(word) for word in words if word is not None)
    return _texts(name, [spelled(x) for x in cells.to_pylist()], categories)


def _is_view(kind: Any) -> bool:
    check = getattr(pa.types, "is_string_view", None)
    return bool(check is not None and check(kind))
