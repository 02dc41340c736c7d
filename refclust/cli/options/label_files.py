"""Labels that a command is given beside its data: ``FILE`` or ``FILE:COLUMN``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refclust.cli.options.data import DataOptions


def split(text: str | None) -> tuple[str | None, str | None]:
    """Split FILE:COLUMN, unless a file has the whole name."""
    file, colon, column = (text or "").rpartition(":")
    if text is None or not colon or not file or not column or os.path.exists(text):
        return text, None
    return file, column


def read(text: str, reading: DataOptions) -> list[str]:
    """Read one label per row, with the delimiter of the data if there is a choice."""
    from refclust.data.labels import is_delimited, read_labels

    path, column = split(text)
    assert path is not None
    sign = reading.sign() if is_delimited(path, column=column) else None
    return read_labels(path, column=column, delimiter=sign)
