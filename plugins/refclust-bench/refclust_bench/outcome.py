"""What a contender's run comes to: what the judge compares, and what the report tells beside it."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one run, in plain values."""

    labels: array[int] | None = None  # labels of the rows, or the rows chosen
    iterations: int | None = None
    value: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def digest(self) -> str:
        """The SHA-256 of everything that must not change from run to run."""
        hashed = hashlib.sha256(repr((self.iterations, self.value)).encode())
        if self.labels is not None:
            hashed.update(memoryview(self.labels))
        return hashed.hexdigest()


@dataclass(frozen=True, slots=True)
class Work:
    """A contender ready to run: only ``run`` is timed, ``told`` reads the result from it."""

    run: Callable[[], Any]
    told: Callable[[Any], Outcome]
    outside: bool = False  # whether the work is done by processes it starts


Maker: TypeAlias = Callable[[Any, Mapping[str, Any]], Work]  # from an input and options


def whole(values: Iterable[Any]) -> array[int]:
    """Labels of any kind of array as 32-bit integers.

    >>> whole([1, 0, 2])
    array('i', [1, 0, 2])
    """
    plain = getattr(values, "tolist", None)
    return array("i", plain() if callable(plain) else values)


def partition(labels: Iterable[int]) -> array[int]:
    """Labels renamed in the order in which they first occur, so that equal partitions are equal.

    >>> partition([7, 3, 7])
    array('i', [0, 1, 0])
    """
    names: dict[int, int] = {}
    return array("i", (names.setdefault(label, len(names)) for label in labels))
