"""Ways to damage a JSON document: flipped bits, cuts, and values that do not belong there."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

HUGE: Final = "@huge@"  # stands for what ``json.dumps`` would not write
RAW: Final = {
    "@huge@": "1e400",
    "@minus@": "-1e400",
    "@nan@": "NaN",
    "@long@": "9" * 100_000,
    "@deep@": "[" * 100_000 + "]" * 100_000,
    "@deeper@": '{"a":' * 3000 + "0" + "}" * 3000,
    "@twice@": '{"a": 1, "a": 2}',
}
VALUES: Final[tuple[Any, ...]] = (
    *RAW,
    None,
    True,
    0,
    1,
    -1,
    2,
    10**9,
    10**18,
    10**30,
    0.5,
    -1.5,
    1e300,
    5e-324,
    "",
    "x",
    "1/3",
    "-7",
    "7" * 5000,
    "1/" + "3" * 5000,
    [],
    {},
    [[]],
    [0.0],
    [1, 1],
    [-1],
    [0] * 5,
    {"a": 1},
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """All paths into a document."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from places(inner, (*path, at))


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The document with another value at a place."""
    if not path:
        return value
    made = copy.deepcopy(document)
    _part(made, path[:-1])[path[-1]] = value
    return made


def forgeries(document: Any) -> list[tuple[str, Callable[[], Any]]]:
    """How to make the document with one value replaced, left out, repeated or turned round."""
    found: list[tuple[str, Callable[[], Any]]] = []
    for path in places(document):
        for value in VALUES:
            found.append((f"{path} = {str(value)[:30]}", partial(changed, document, path, value)))
        if path:
            for way in (_left_out, _twice, _turned):
                found.append((f"{path} {way.__name__}", partial(way, document, path)))
    return found


def _left_out(document: Any, path: tuple[Any, ...]) -> Any:
    made = copy.deepcopy(document)
    del _part(made, path[:-1])[path[-1]]
    return made


def _twice(document: Any, path: tuple[Any, ...]) -> Any:
    made = copy.deepcopy(document)
    part = _part(made, path[:-1])
    if isinstance(part, list):
        part.insert(path[-1], copy.deepcopy(part[path[-1]]))
    else:
        part[f"{path[-1]} "] = part[path[-1]]
    return made


def _turned(document: Any, path: tuple[Any, ...]) -> Any:
    old = _part(document, path)
    return changed(document, path, old[::-1] if isinstance(old, list | str) else [old])


def _part(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


def text(document: Any) -> str:
    """The document as text, with what JSON has no words for."""
    found = json.dumps(document)
    for word, raw in RAW.items():
        found = found.replace(f'"{word}"', raw)
    return found


def flipped(content: bytes, seed: int) -> Iterator[tuple[str, bytes]]:
    """Every byte with one bit flipped."""
    rng = random.Random(seed)
    for at in range(len(content)):
        made = bytearray(content)
        made[at] ^= 1 << rng.randrange(8)
        yield f"byte {at}", bytes(made)


def cut(content: bytes) -> Iterator[tuple[str, bytes]]:
    """The beginnings of all lengths."""
    for length in range(len(content)):
        yield f"{length} bytes", content[:length]
