"""Values that no file can hold, from plain recipes: what a Python program may hand over.

A recipe is a JSON value. Numbers, texts and null are themselves, a list is a list; an object with
one key says how its value is made.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from tests.fuzz.cases import Draw
from tests.fuzz.numerals import odd, word


class Liar:
    """A sequence that is not what it says."""

    def __init__(self, kind: str, items: list[Any]) -> None:
        self.kind, self.items = kind, items

    def __repr__(self) -> str:
        return f"<liar {self.kind}>"

    def __len__(self) -> int:
        return {"long": len(self.items) + 3, "short": 0, "negative": -1}.get(
            self.kind, len(self.items)
        )

    def __getitem__(self, at: int) -> Any:
        return self.items[at]

    def __iter__(self) -> Iterator[Any]:
        if self.kind == "no-iterator":
            return 5  # type: ignore[return-value]
        return iter(self.items[1:] if self.kind == "changing" else self.items)


class Thing:
    """An object that is nothing in particular."""

    def __repr__(self) -> str:
        return "<thing>"


class Number:
    """An object that says it is a number."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __float__(self) -> float:
        if self.kind == "raises":
            raise ArithmeticError("no number today")
        return {"text": "1.0", "nan": float("nan"), "whole": 2}.get(self.kind, 1.5)  # type: ignore[return-value]

    def __repr__(self) -> str:
        return f"<number {self.kind}>"

    def __eq__(self, other: object) -> bool:
        return self.kind == "equal"

    def __hash__(self) -> int:
        return hash(self.kind)


class Matrix:
    """What offers compressed rows like a sparse matrix, sound or not."""

    def __init__(self, shape: Any, indptr: Any, indices: Any, data: Any) -> None:
        self.shape, self.data = shape, data
        self.indptr, self.indices = indptr, indices

    def __repr__(self) -> str:
        return "<matrix>"

    def tocsr(self) -> Matrix:
        """The rows, which these are already."""
        return self


def _numpy() -> Any:
    # Not before it is needed: without it, refclust takes other ways, and those are fuzzed, too.
    import numpy

    return numpy


def _recursive(_: Any) -> list[Any]:
    found: list[Any] = [1]
    found.append(found)
    return found


_MAKERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "float": float,
    "int": int,
    "fraction": Fraction,
    "decimal": Decimal,
    "complex": complex,
    "bytes": lambda text: text.encode(),
    "bytearray": lambda text: bytearray(text.encode()),
    "tuple": lambda items: tuple(map(built, items)),
    "set": lambda items: {one if isinstance(one, str) else repr(one) for one in items},
    "dict": lambda pairs: {_key(built(key)): built(value) for key, value in pairs},
    "generator": lambda items: (built(item) for item in items),
    "iterator": lambda items: iter([built(item) for item in items]),
    "range": range,
    "recursive": _recursive,
    "liar": lambda pair: Liar(pair[0], [built(item) for item in pair[1]]),
    "number": Number,
    "object": lambda _: Thing(),
    "path": Path,
    "type": lambda _: float,
    "function": lambda _: len,
    "array": lambda pair: array(pair[0], pair[1]),
    "memory": lambda items: memoryview(array("d", items)),
    "numpy": lambda pair: _numpy().array(pair[1], dtype=pair[0]),
    "strided": lambda items: _numpy().array(items, dtype="f8")[::-1, ::-1],
    "zero-d": lambda value: _numpy().array(value),
    "masked": lambda items: _numpy().ma.masked_equal(_numpy().array(items), 1),
    "csr": lambda parts: Matrix(*map(built, parts)),
    "ellipsis": lambda _: ...,
}


def built(recipe: Any) -> Any:
    """The value of a recipe."""
    if isinstance(recipe, list):
        return [built(item) for item in recipe]
    if isinstance(recipe, dict):
        ((kind, content),) = recipe.items()
        return _MAKERS[kind](content)
    return recipe


def _key(value: Any) -> Any:
    return value if value.__hash__ is not None else repr(value)


_SCALARS: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, 1, -1, 2, 3, 1.5, -0.0, 1e308, 5e-324, 2**53 + 1, 2**63, "", "1"),
    *({"float": "nan"}, {"float": "inf"}, {"float": "-inf"}, {"int": "1" + "0" * 400}, "nan"),
    *({"fraction": "1/3"}, {"fraction": "1e300"}, {"decimal": "0.1"}, {"decimal": "NaN"}),
    *({"decimal": "sNaN"}, {"decimal": "1e999999"}, {"decimal": "Infinity"}, {"complex": "1+2j"}),
    *({"bytes": "1"}, {"bytearray": "12"}, {"number": "text"}, {"number": "nan"}),
    *({"number": "whole"}, {"number": "raises"}, {"number": "equal"}, {"object": 0}),
    *({"type": 0}, {"function": 0}),
    *({"zero-d": 1.5}, {"numpy": ["f4", 0.1]}, {"numpy": ["i8", 7]}, {"numpy": ["M8[s]", 5]}),
    *({"ellipsis": 0}, {"path": "x"}, {"recursive": 0}, {"range": 3}, {"tuple": []}),
    *({"dict": []}, [], [[]]),
)  # fmt: skip
_DTYPES: Final = (
    *("f8", "f4", "f2", ">f8", "i8", "u1", "?", "c16", "O", "U3", "S2", "M8[s]", "m8[s]"),
    "longdouble",
)  # fmt: skip


def scalar(draw: Draw) -> Any:
    """The recipe of one value."""
    return draw.pick((odd, word))(draw) if draw.chance(0.1) else draw.pick(_SCALARS)


def changed(draw: Draw, recipe: Any) -> Any:
    """A recipe after one change: another value inside it, or another kind of container."""
    if isinstance(recipe, list) and recipe and draw.chance(0.75):
        at = draw.upto(len(recipe) - 1)
        match draw.upto(5):
            case 0:
                return [*recipe[:at], *recipe[at + 1 :]]
            case 1:
                return [*recipe[:at], recipe[at], *recipe[at:]]
            case _:
                return [*recipe[:at], changed(draw, recipe[at]), *recipe[at + 1 :]]
    if isinstance(recipe, dict) and draw.chance(0.6):
        ((kind, content),) = recipe.items()
        return {kind: changed(draw, content)}
    if isinstance(recipe, list) and draw.chance(0.7):
        return _clothed(draw, recipe)
    return scalar(draw)


def _clothed(draw: Draw, items: list[Any]) -> Any:
    """The same items in another container."""
    kind = draw.pick(("tuple", "generator", "iterator", "liar", "numpy", "array", "dict", "set",
                      "memory", "strided", "masked"))  # fmt: skip
    match kind:
        case "liar":
            lies = ("long", "short", "negative", "no-iterator", "changing", "none")
            return {kind: [draw.pick(lies), items]}
        case "numpy":
            return {kind: [draw.pick(_DTYPES), _plain(items)]}
        case "array":
            flat = [one for one in items if isinstance(one, int)]
            return {kind: [draw.pick("dfqb"), flat]}
        case "memory":
            return {kind: [one for one in items if isinstance(one, int | float)]}
        case "strided" | "masked":
            return {kind: [[1, 2], [3, 4]]}
        case "dict":
            keys = [draw.pick((i, str(i), word(draw))) for i in range(len(items))]
            return {kind: [list(pair) for pair in zip(keys, items, strict=True)]}
        case _:
            return {kind: items}


def _plain(items: list[Any]) -> list[Any]:
    """What an array library makes an array of, mostly."""
    if all(isinstance(one, list) for one in items) and len({len(one) for one in items}) == 1:
        return [[x if isinstance(x, int | float) else 0 for x in one] for one in items]
    return [x if isinstance(x, int | float) else 0 for x in items]
