"""Smaller inputs with the same fault: halves, lines, bytes and fields left out while it stays."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from tests.fuzz.cases import Case

TRIALS: Final = 250
SECONDS: Final = 4.0


def minimised(case: Case, same: Callable[[Case], bool]) -> Case:
    """The smallest case that was found within the bounds; ``same`` says whether it still fails."""
    end, trials = time.monotonic() + SECONDS, 0
    going = True
    while going:
        going = False
        for smaller in _smaller(case):
            trials += 1
            if trials > TRIALS or time.monotonic() > end:
                return case
            if same(smaller):
                case, going = smaller, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    for name, content in case.files.items():
        yield Case({key: case.files[key] for key in case.files if key != name}, case.call)
        for part in (*_pruned_text(content), *_shorter(content)):
            yield Case({**case.files, name: part}, case.call)
    for call in _pruned(dict(case.call)):
        yield Case(case.files, call)


def _pruned_text(content: bytes) -> Iterator[bytes]:
    """A JSON document with one node left out."""
    try:
        tree = json.loads(content)
    except (ValueError, RecursionError):
        return
    if isinstance(tree, dict | list):
        for smaller in itertools.islice(_pruned(tree), TRIALS):
            yield json.dumps(smaller).encode()


def _shorter(content: bytes) -> Iterator[bytes]:
    """Lines, then bytes, left out: long stretches first."""
    letters = [content[i : i + 1] for i in range(len(content))]
    for pieces in (content.splitlines(keepends=True), letters):
        size = len(pieces) // 2
        while size:
            for start in range(0, len(pieces), size):
                yield b"".join(pieces[:start] + pieces[start + size :])
            size //= 2


def _pruned(tree: Any) -> Iterator[Any]:
    """A JSON tree with one node left out, those near the root first."""
    todo: list[tuple[Any, ...]] = [()]
    for path in todo:
        node = _at(tree, path)
        keys = list(node) if isinstance(node, dict) else range(len(node))
        for key in keys:
            copy = json.loads(json.dumps(tree))
            del _at(copy, path)[key]
            yield copy
        todo += [(*path, key) for key in keys if isinstance(node[key], dict | list)]


def _at(tree: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return tree
