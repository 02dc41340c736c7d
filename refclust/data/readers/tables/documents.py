"""A column of a delimited table as documents: words become features (DATA-CSV, DATA-TEXT)."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator
from dataclasses import replace

from refclust.data.dataset import DOUBLES, Dataset, readonly
from refclust.data.files.textfile import display_name
from refclust.data.readers.cells import BLANKS, check_weights, weight_in
from refclust.data.readers.formats import Options
from refclust.data.readers.tables.layout import arranged
from refclust.data.readers.tables.opening import begun, name_in, place_in, refuse_row
from refclust.data.text import PLAIN, counted_corpus


def read_texts(kind: str, path: str, options: Options, delimiter: str | None) -> Dataset:
    """Read one column of a table as documents; the others may be ids, labels and weights.

    Spec: DATA-CSV, DATA-TEXT
    """
    table, rows, columns = begun(kind, path, options, delimiter, arranged)
    [place] = columns.features
    file = display_name(path)
    ids: list[str] = []
    labels: list[str] = []
    weights = array(DOUBLES)

    def texts() -> Iterator[str]:
        blank = 0
        for row in rows:
            if len(row) != columns.width or (blank and row):
                if not row or (len(row) == 1 and row[0] and not row[0].strip(BLANKS)):
                    blank = blank or table.line
                    continue
                refuse_row(table, row, columns, blank)
            if columns.id is not None:
                ids.append(name_in(table, row, columns, columns.id))
            if columns.label is not None:
                labels.append(sys.intern(name_in(table, row, columns, columns.label)))
            if columns.weight is not None:
                cell = row[columns.weight]
                weights.append(weight_in(cell, place_in(table, columns, columns.weight)))
            yield row[place]

    data = counted_corpus(texts(), options.text or PLAIN, name=file).data
    check_weights(weights, file)
    return replace(
        data,
        ids=None if columns.id is None else tuple(ids),
        labels=None if columns.label is None else tuple(labels),
        weights=None if columns.weight is None else readonly(weights),
    )
