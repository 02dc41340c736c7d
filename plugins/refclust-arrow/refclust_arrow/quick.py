"""Large CSV files at the speed of Arrow: the doubles of refclust, or nothing (BK-QUICK).

A file is plain if it is UTF-8 without a mark, a byte 0, a carriage return that does not belong to
CRLF, or a quote below its header. Then its rows are its lines, and Arrow cuts them as refclust
does. Whatever Arrow does not take for a number (an empty cell, ``+1``, ``1_000``, a decimal comma),
a line of another length, an empty line, NaN or an infinity ends the attempt: refclust reads the
file itself, and tells what is wrong, if anything is.
"""

from __future__ import annotations

import codecs
import sys
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyarrow import csv

from refclust.data.dataset import Dataset, Dense
from refclust.data.readers.formats import Options
from refclust.data.readers.tables.layout import Layout
from refclust.data.readers.tables.opening import begun
from refclust.errors import RefclustError
from refclust.limits import LIMITS, limit
from refclust_arrow.columnar import buffer_of

_PIECE: Final = 1 << 22  # bytes that are parsed at once: what comes of them stays in the cache
_SIGNS: Final = ",;|\t"


def read_csv(name: str, path: str, options: Options) -> Dataset | None:
    """Read a plain table of numbers; nothing if it is not plain.

    Spec: BK-QUICK
    """
    if any((options.encoding, options.text_column, options.categorical)):
        return None
    if options.decimal == "comma" or limit("line") < LIMITS["line"].default:
        return None
    try:
        sign = "\t" if name == "tsv" else options.delimiter
        table, rows, columns = begun(name, path, options, sign)
        rows.close()  # type: ignore[attr-defined]
    except RefclustError:
        return None
    if table.delimiter not in _SIGNS or table.skipped or table.raw.count("\n") != 1:
        return None
    lines = _lines(path, quotes=columns.names is not None)
    count = lines - (columns.names is not None)
    return None if lines == 0 or count < 1 else _parsed(path, table.delimiter, columns, count)


def _lines(path: str, *, quotes: bool) -> int:
    """How many lines a plain file has; 0 if it is not plain. Its first line may have ``quotes``."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    count, last = 0, b"\n"
    with open(path, "rb") as stream:
        if stream.read(3) == codecs.BOM_UTF8:
            return 0
        stream.seek(0)
        if quotes:
            stream.readline()
            count = 1
        while chunk := stream.read(_PIECE):
            if b'"' in chunk or 0 in chunk or b"\n" not in chunk:
                return 0
            if b"\r" in chunk:
                if chunk.endswith(b"\r"):
                    chunk += stream.read(1)
                if chunk.count(b"\r") != chunk.count(b"\r\n"):
                    return 0
            try:
                if not chunk.isascii() or decoder.getstate()[0]:
                    decoder.decode(chunk)
            except UnicodeDecodeError:
                return 0
            count += chunk.count(b"\n")
            last = chunk[-1:]
    if decoder.getstate()[0]:
        return 0
    return count + (last != b"\n")


def _parsed(path: str, sign: str, columns: Layout, count: int) -> Dataset | None:
    values = np.empty((count, len(columns.features)))
    beside: dict[int, list[Any]] = {
        place: [] for place in (columns.id, columns.label) if place is not None
    }
    weights = None if columns.weight is None else np.empty(count)
    at = 0
    with open(path, "rb") as stream:
        if columns.names is not None:
            stream.readline()
        while piece := stream.read(_PIECE):
            piece += stream.readline()
            batch = _batch(piece, sign, columns)
            if batch is None or at + batch.num_rows > count:
                return None
            span = slice(at, at + batch.num_rows)
            at += batch.num_rows
            for j, place in enumerate(columns.features):
                values[span, j] = batch.column(str(place)).to_numpy()
            if not np.isfinite(values[span]).all():
                return None
            for place, cells in beside.items():
                texts = batch.column(str(place)).to_pylist()
                if "" in texts:
                    return None
                cells += map(sys.intern, texts) if place == columns.label else texts
            if weights is not None:
                weights[span] = batch.column(str(columns.weight)).to_numpy()
    if at != count or not _usable(weights):
        return None
    names = columns.names
    return Dataset(
        Dense(buffer_of(values), count, len(columns.features)),
        ids=None if columns.id is None else tuple(beside[columns.id]),
        features=None if names is None else tuple(names[j] for j in columns.features),
        labels=None if columns.label is None else tuple(beside[columns.label]),
        weights=None if weights is None else buffer_of(weights),
    )


def _batch(piece: bytes, sign: str, columns: Layout) -> Any:
    """Some lines as a table of Arrow; nothing if a cell or a line is not as it must be."""
    texts = {columns.id, columns.label} - {None}
    asked = [*columns.features, *texts, *([] if columns.weight is None else [columns.weight])]
    types = {str(j): pa.string() if j in texts else pa.float64() for j in asked}
    try:
        return csv.read_csv(
            pa.BufferReader(piece),
            csv.ReadOptions(
                column_names=[str(j) for j in range(columns.width)], block_size=1 << 20
            ),
            csv.ParseOptions(delimiter=sign, quote_char=False, ignore_empty_lines=False),
            csv.ConvertOptions(
                column_types=types,
                include_columns=[str(j) for j in asked],
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except (pa.ArrowException, OSError):
        return None


def _usable(weights: Any) -> bool:
    return weights is None or bool(
        np.isfinite(weights).all() and (weights >= 0).all() and weights.any()
    )
