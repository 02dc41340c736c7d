"""Typed tables whose features are all numbers, as rows: what readers of frames give (PREP-KIND)."""

from __future__ import annotations

from dataclasses import replace

from refclust.data.dataset import Dataset
from refclust.data.preparing import frames
from refclust.data.preparing.asked import NOTHING
from refclust.data.readers.cells import listed, shown
from refclust.data.readers.formats import Options, Plan, check_options
from refclust.data.readers.tables.layout import layout, role_hint
from refclust.data.typed import Frame
from refclust.errors import BadCell, EmptyFile

USABLE = ("id_column", "label_column", "weight_column", "columns", "exclude", "categorical")


def rows_of(frame: Frame, options: Options) -> Dataset:
    """The rows of a typed table, if all its features are numbers; else the first that is none.

    Spec: PREP-KIND
    """
    if not frame.n:
        raise EmptyFile(f"{frame.file} has no row")
    columns = layout(frame.file, frame.names, replace(options, header=frame.named))
    for j in columns.features:
        column = frame.columns[j]
        if column.numbers is None and j not in columns.categorical:
            cells = (column.raw or column.texts or ())[:1]
            raise BadCell(
                f"{frame.place(0, j)} is {shown(str(cells[0]))}, which is not a number"
                f"{role_hint(j, columns)}"
            )
    around = frames.beside(frame, columns)
    return frames.encoded(frame, columns.features, around, columns, NOTHING)


def plan_of(name: str, frame: Frame, options: Options) -> Plan:
    """What a typed table holds, column by column."""
    check_options(name, options, USABLE)
    kinds: dict[str, list[str]] = {}
    for column in frame.columns:
        kinds.setdefault(column.kind, []).append(column.name)
    facts = [("columns", str(len(frame.columns)))]
    facts += [(kind, f"{len(names)}: {listed(names)}") for kind, names in kinds.items()]
    return Plan(name, "dense", tuple(facts))
