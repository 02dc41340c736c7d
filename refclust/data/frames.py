"""Data frames for whoever has pandas: made of plain columns when asked for, and only then.

pandas is looked up by its name, so that the core depends on nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from refclust.errors import LabelLengthMismatch, MissingPlugin


def frame(columns: Mapping[str, Sequence[Any]], index: Sequence[Any] | None = None) -> Any:
    """A ``pandas.DataFrame`` of some columns.

    Raises ``missing-plugin`` where pandas is not installed.
    """
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise MissingPlugin(
            "pandas is not installed, and a frame is made by it: pip install pandas"
        ) from None
    return pandas.DataFrame({name: list(column) for name, column in columns.items()}, index=index)


def joined(data: Any, columns: Mapping[str, Sequence[Any]]) -> Any:
    """The user's own frame with columns added, or a frame of the columns alone.

    A column that is there already keeps its numbers; the new one gets a stroke behind its name.
    """
    if not (hasattr(data, "assign") and hasattr(data, "index") and hasattr(data, "columns")):
        return frame(columns)
    for name, column in columns.items():
        if len(column) != len(data):
            raise LabelLengthMismatch(
                f"the frame has {len(data)} rows, and {len(column)} are known of {name}"
            )
    taken = set(data.columns)
    added = {}
    for name, column in columns.items():
        free = name
        while free in taken:
            free += "_"
        added[free] = list(column)
    return data.assign(**added)
