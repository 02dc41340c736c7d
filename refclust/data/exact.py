"""Reading vectors: from the numbers a caller gives to integers over one common denominator.

Realises REP-VEC of chapter 08. Every int, float and Fraction is a rational number, so nothing is
rounded here. A dense vector is a sequence of numbers. A sparse vector is a mapping whose keys are
all strings or all integers; what it leaves out is zero, and zeros are dropped. Anything that
offers ``tolist`` (an array, or a number taken from one) is read through it. All input of
``refclust.data.vectors`` is checked here and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Any, Protocol, TypeAlias

from refclust.data.accepting.trust import iterator
from refclust.errors import (
    BadNumber,
    DimensionMismatch,
    EmptyInput,
    MixedKeys,
    NotFinite,
    RaggedRows,
)
from refclust.numbers.reading import shown


class ArrayLike(Protocol):
    """An array of another library, recognised by its method only."""

    def tolist(self) -> Any:
        """The elements as plain Python objects."""


Number: TypeAlias = int | float | Fraction
Key: TypeAlias = str | int
DenseVector: TypeAlias = Sequence[Number] | ArrayLike
SparseVector: TypeAlias = Mapping[str, Number] | Mapping[int, Number]
Vector: TypeAlias = DenseVector | SparseVector


@dataclass(frozen=True, slots=True)
class ExactVector:
    """A vector times its common denominator, in integers, and where it came from."""

    entries: tuple[int, ...] | dict[Key, int]
    denominator: int
    key_type: type[Key] | None  # of a sparse vector that has keys
    name: str

    @property
    def kind(self) -> str:
        """How the vector was given."""
        return "dense" if isinstance(self.entries, tuple) else "sparse"


def inner(a: ExactVector, b: ExactVector) -> int:
    """The sum of the products of the integers that two comparable vectors share.

    Spec: VEC-DOT

    >>> inner(read_vector([0.5, 2], "x"), read_vector([3, 0.25], "y"))
    16
    """
    if isinstance(a.entries, tuple) and isinstance(b.entries, tuple):
        return sum(map(mul, a.entries, b.entries))
    assert isinstance(a.entries, dict)
    assert isinstance(b.entries, dict)
    short, long = sorted((a.entries, b.entries), key=len)
    return sum(value * long[key] for key, value in short.items() if key in long)


def read_vector(vector: Vector, name: str) -> ExactVector:
    """One vector, checked; ``name`` is what messages call it.

    Spec: REP-VEC

    >>> read_vector({"b": 0.5, "a": 3, "c": 0}, "x").entries
    {'b': 1, 'a': 6}
    """
    if isinstance(vector, Mapping):
        return _read_sparse(vector, name)
    components = _native(vector)
    if isinstance(components, (str, bytes, bytearray)) or not isinstance(components, Sequence):
        raise BadNumber(
            f"{name} is {_shown(vector)}; a vector is a sequence of numbers, "
            "or a mapping from keys to numbers"
        )
    ratios = [_ratio(value, name, position) for position, value in enumerate(components)]
    common = math.lcm(*{denominator for _, denominator in ratios})
    return ExactVector(tuple(p * (common // q) for p, q in ratios), common, None, name)


def read_pair(x: Vector, y: Vector) -> tuple[ExactVector, ExactVector]:
    """Two vectors, checked alone and against each other.

    Spec: REP-VEC
    """
    a, b = read_vector(x, "x"), read_vector(y, "y")
    _check_comparable(a, b)
    if isinstance(a.entries, tuple) and len(a.entries) != len(b.entries):
        raise DimensionMismatch(
            f"x has {len(a.entries)} components and y has {len(b.entries)}; "
            "dense vectors need the same number"
        )
    return a, b


def read_rows(rows: Iterable[Vector] | ArrayLike) -> list[ExactVector]:
    """The rows of a matrix, at least one, checked alone and against each other.

    Spec: REP-VEC
    """
    listing = _native(rows)

    def refusal() -> BadNumber:
        return BadNumber(f"the rows are {_shown(rows)}; a sequence of vectors is needed")

    if isinstance(listing, (str, bytes, bytearray, Mapping)) or not isinstance(listing, Iterable):
        raise refusal()
    vectors = [read_vector(row, f"rows[{i}]") for i, row in enumerate(iterator(listing, refusal))]
    if not vectors:
        raise EmptyInput("there are no rows; a matrix needs at least one")
    # An empty mapping has keys of no type, so the first row that has keys sets the type.
    first = next((v for v in vectors if v.key_type), vectors[0])
    for vector in vectors:
        _check_comparable(first, vector)
        if isinstance(first.entries, tuple) and len(first.entries) != len(vector.entries):
            raise RaggedRows(
                f"{first.name} has {len(first.entries)} components and {vector.name} has "
                f"{len(vector.entries)}; dense rows need the same number"
            )
    return vectors


def _read_sparse(vector: Mapping[Any, Any], name: str) -> ExactVector:
    key_type: type[Key] | None = None
    ratios: dict[Key, tuple[int, int]] = {}
    for given_key, value in vector.items():
        key = _native(given_key)
        is_integer = isinstance(key, int) and not isinstance(key, bool)
        if not is_integer and not isinstance(key, str):
            raise MixedKeys(
                f"{name} has the key {_shown(given_key)}; keys are all strings or all integers"
            )
        this_type: type[Key] = int if is_integer else str
        if key_type not in (None, this_type):
            raise MixedKeys(
                f"{name} has strings and integers as keys ({key!r} is one of them); "
                "keys are all strings or all integers"
            )
        key_type = this_type
        numerator, denominator = _ratio(value, name, key)
        if numerator:
            ratios[key] = numerator, denominator
    common = math.lcm(*{denominator for _, denominator in ratios.values()})
    entries = {key: p * (common // q) for key, (p, q) in ratios.items()}
    return ExactVector(entries, common, key_type, name)


def _ratio(value: Any, name: str, key: Key) -> tuple[int, int]:
    """The number as numerator and positive denominator in lowest terms."""
    number = _native(value)
    if isinstance(number, bool) or not isinstance(number, (int, float, Fraction)):
        raise BadNumber(
            f"{name}[{key!r}] is {_shown(value)}; an int, float or Fraction is needed "
            "(a truth value is not a number)"
        )
    if isinstance(number, float) and not math.isfinite(number):
        raise NotFinite(f"{name}[{key!r}] is {number!r}; only finite numbers are allowed")
    return number.as_integer_ratio()


def _check_comparable(a: ExactVector, b: ExactVector) -> None:
    if a.kind != b.kind:
        raise DimensionMismatch(
            f"{a.name} is {a.kind} and {b.name} is {b.kind}; give both in the same form"
        )
    if a.key_type and b.key_type and a.key_type is not b.key_type:
        raise MixedKeys(
            f"{a.name} has {a.key_type.__name__} keys and {b.name} has {b.key_type.__name__} "
            "keys; keys are all strings or all integers"
        )


def _native(value: Any) -> Any:
    """What stands behind an array or an array's scalar; anything else as it is."""
    if isinstance(value, (int, float, str, list, tuple)):
        return value
    to_list = getattr(value, "tolist", None)
    return to_list() if callable(to_list) else value


def _shown(value: object) -> str:
    """A value and its type, short enough for a message."""
    return f"{shown(value)} ({type(value).__name__})"
