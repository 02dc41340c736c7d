"""What one fuzzed input is, what a target does with it, and how that may end."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final, TypeVar

T = TypeVar("T")
FORMAT: Final = "refclust-fuzz-case/1"
ACCEPTED: Final = "ok"


class Draw(Random):
    """Random numbers of one input, with the words that generators use."""

    def chance(self, share: float) -> bool:
        """Whether something of this probability happens."""
        return self.random() < share

    def pick(self, choices: Sequence[T]) -> T:
        """One of some things."""
        return choices[int(self.random() * len(choices))]

    def upto(self, most: int, least: int = 0) -> int:
        """A whole number between two bounds, both included."""
        return least + int(self.random() * (most - least + 1))


@dataclass(frozen=True, slots=True)
class Case:
    """One input: files of a scratch folder, and what is done with them, in plain JSON values."""

    files: Mapping[str, bytes]
    call: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ended:
    """How an input ended: accepted or refused with a code; ``told`` must be the same again."""

    code: str
    told: str = ""


class Broken(Exception):
    """A promise that is not kept, though nothing was raised."""

    def __init__(self, promise: str, told: str) -> None:
        super().__init__(f"{promise}: {told}")
        self.promise, self.told = promise, told


def nothing() -> None:
    """Prepare nothing."""


@dataclass(frozen=True, slots=True)
class Target:
    """One fuzzed part: how inputs are made, and what is done with one in the scratch folder."""

    name: str
    make: Callable[[Draw], Case]
    run: Callable[[Case], Ended]
    share: int = 100  # of a number of inputs for all targets
    least: float = 0.25  # share that must be accepted: else the fuzzer sees doors, never rooms
    prepare: Callable[[], None] = nothing  # once, before the workers are forked


def case_of(target: Target, seed: int, number: int) -> Case:
    """The input of that number, the same in every process."""
    return target.make(Draw(f"{seed}:{target.name}:{number}"))


def written(target: str, case: Case, found: str) -> str:
    """A case as a text that ``--replay`` reads."""
    files = {name: _plain(content) for name, content in case.files.items()}
    document = {"format": FORMAT, "target": target, "found": found, "call": dict(case.call)}
    return json.dumps({**document, "files": files}, indent=1, ensure_ascii=True) + "\n"


def read(text: str) -> tuple[str, Case]:
    """The name of the target and the case of such a text.

    >>> read(written("csv", Case({"a": b"1\\xff"}, {"k": 2}), "nothing"))
    ('csv', Case(files={'a': b'1\\xff'}, call={'k': 2}))
    """
    document = json.loads(text)
    if document["format"] != FORMAT:
        raise SystemExit(f"no saved case: its format is {document['format']!r}")
    files = {name: _content(entry) for name, entry in document["files"].items()}
    return document["target"], Case(files, document["call"])


def _plain(content: bytes) -> dict[str, str]:
    try:
        return {"text": content.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


def _content(entry: Mapping[str, str]) -> bytes:
    if "text" in entry:
        return entry["text"].encode("utf-8", "surrogatepass")
    return base64.b64decode(entry["base64"])
