"""Every key of a document missing, of another type, or beside one that nobody knows."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Final

WRONG: Final[tuple[Any, ...]] = (None, True, -1, 0.5, "?", [], {})


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths to all values of a document; of an array to the first and the last item."""
    if isinstance(value, dict):
        keys: list[Any] = list(value)
    elif isinstance(value, list):
        keys = sorted({0, len(value) - 1}) if value else []
    else:
        keys = []
    for key in keys:
        yield (*path, key)
        yield from places(value[key], (*path, key))


def damaged(document: Any, wrong: tuple[Any, ...] = WRONG) -> Iterator[tuple[str, Any]]:
    """Documents with one thing wrong, each with what was done to it."""
    for path in places(document):
        name = ".".join(map(str, path))
        for value in wrong:
            top = copy.deepcopy(document)
            _at(top, path[:-1])[path[-1]] = value
            yield f"{name} = {value!r}", top
        if isinstance(path[-1], str):
            top = copy.deepcopy(document)
            del _at(top, path[:-1])[path[-1]]
            yield f"{name} missing", top
        if isinstance(_at(document, path), dict):
            top = copy.deepcopy(document)
            _at(top, path)["extra"] = 1
            yield f"{name}.extra = 1", top


def _at(top: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        top = top[key]
    return top
