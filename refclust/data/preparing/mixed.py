"""Tables whose columns stay what they are, numbers, categories and gaps, for Gower's distance."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from refclust.data.preparing import deciding, frames
from refclust.data.preparing.asked import Asked
from refclust.data.readers.cells import number_in
from refclust.data.readers.formats import Options
from refclust.data.readers.tables.layout import arranged
from refclust.data.typed import Frame, named_class
from refclust.errors import BadOption


@dataclass(frozen=True, slots=True)
class Mixed:
    """The columns of rows: doubles, or texts that name categories; None where missing."""

    columns: tuple[tuple[float | str | None, ...], ...]
    nominal: tuple[bool, ...]
    n: int
    ids: tuple[str, ...] | None = None
    labels: tuple[Hashable, ...] | None = None
    notes: tuple[str, ...] = ()
    file: str = ""  # as messages call it


def mixed(frame: Frame, options: Options) -> Mixed:
    """The features of a table as they are; columns of categories need not be named.

    Spec: DIST-GOWER, PREP-DEFAULT
    """
    columns = arranged(frame.file, frame.names, replace(options, header=frame.named))
    if columns.weight is not None:
        raise BadOption("the rows have weights; a tree counts rows only")
    nominal = {
        j
        for j in columns.features
        if (column := frame.columns[j]).kind == "nominal"
        and column.numbers is None
        and (options.columns is not None or not named_class(column.name))
    }
    columns = replace(columns, categorical=columns.categorical | nominal)
    features, left_out = deciding.used(frame, columns, options, Asked())
    around = frames.beside(frame, columns)
    for j in features:
        wrong = None if j in columns.categorical else frame.columns[j].no_number()
        if wrong is not None:
            number_in(frames.texts_of(frame.columns[j])[wrong], frame.place(wrong, j))
    cells = [
        tuple(frame.columns[j].names()) if j in columns.categorical else frame.columns[j].cells
        for j in features
    ]
    notes = (deciding.note_of(left_out, columns, frame.named),) if left_out else ()
    kinds = tuple(j in columns.categorical for j in features)
    return Mixed(tuple(cells), kinds, frame.n, around.ids, around.labels, notes, frame.file)
