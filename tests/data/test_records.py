"""Records: whatever an annotation declares is read, written, described and refused by it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Generic, Literal, TypeVar

import jsonschema
import pytest

from refclust.data.files import parts
from refclust.data.files.document import Node, parse, written
from refclust.data.files.parts import Known, Part
from refclust.data.files.records import (
    FAMILY,
    GIVEN,
    IN_ARRAY,
    INLINED,
    ONE_KEY,
    UNWRITTEN,
    Chosen,
    Key,
    part_of,
    plain,
    read,
    taken,
    values_by_path,
)
from refclust.errors import BadModel, BadOption

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Place:
    x: float
    y: Annotated[float, parts.double(0, 1, above=True)]


@dataclass(frozen=True, slots=True)
class Choice:
    near: Annotated[int, parts.whole(0, "n", less=1)] | None = None
    far: float | None = None


@dataclass(frozen=True, slots=True)
class Extras:
    name: str | None = None
    flags: tuple[bool, ...] | None = None

    def __post_init__(self) -> None:
        if self.name == "":
            raise BadOption("the name is empty")


@dataclass(frozen=True, slots=True)
class Round:
    radius: Annotated[float, parts.double(0)]


@dataclass(frozen=True, slots=True)
class Square:
    side: Annotated[float, parts.double(0)]


def shape_of(known: Known) -> type:
    found: type = known["shapes"][known[FAMILY]]
    return found


@dataclass(frozen=True, slots=True)
class Whole(Generic[P]):
    kind: Literal["one", "other"]
    shape: Annotated[Any, Chosen(shape_of), INLINED]
    size: Annotated[Fraction, Key("weight")]
    level: Annotated[float, parts.double(null=-math.inf)]
    top: Annotated[int, parts.whole(0, "places", less=1)]
    places: Annotated[tuple[Annotated[Place, parts.on_line], ...], parts.items("n")]
    corner: Annotated[Place, IN_ARRAY]
    choice: Annotated[Choice, ONE_KEY]
    extras: Annotated[Extras, GIVEN]
    limits: tuple[Annotated[float, parts.real()], str]
    share: Annotated[tuple[float, ...], parts.doubles(least=0)] | float
    words: Annotated[frozenset[str], parts.in_order]
    inner: P
    note: Annotated[str, UNWRITTEN] = "none"

    def check(self, node: Node, _known: Known) -> None:
        if self.kind == "other" and self.top:
            node.entry("top").fail("0 is due for the other kind")


INNER = Part(lambda node, _: node.text(), lambda _defs, _known: {"type": "string"})
KNOWN = {"n": 2, FAMILY: "round", "shapes": {"round": Round, "square": Square}, "P": INNER}
SAMPLE: Whole[str] = Whole(
    "one",
    Round(1.5),
    Fraction(7, 2),
    -math.inf,
    1,
    (Place(0.0, 0.5), Place(-0.0, 1.0)),
    Place(2.0, 0.25),
    Choice(near=1),
    Extras(flags=(True, False)),
    (math.inf, "above"),
    (0.5, 2.0),
    frozenset(("b", "a")),
    "inside",
)
TEXT = """{
 "kind": "one",
 "radius": 1.5,
 "weight": "7/2",
 "level": null,
 "top": 1,
 "places": [
  {"x": 0.0, "y": 0.5},
  {"x": -0.0, "y": 1.0}
 ],
 "corner": [2.0, 0.25],
 "choice": {
  "near": 1
 },
 "extras": {
  "flags": [true, false]
 },
 "limits": ["inf", "above"],
 "share": [0.5, 2.0],
 "words": ["a", "b"],
 "inner": "inside"
}
"""


def validator() -> Any:
    defs: dict[str, Any] = {}
    found = part_of(Whole).schema(defs, KNOWN)
    assert found == {"$ref": "#/$defs/round.Whole"}
    return jsonschema.Draft202012Validator({**found, "$defs": defs})


@pytest.mark.spec("MODEL-DOC", "MODEL-LOAD")
def test_a_record_is_written_and_read_as_declared() -> None:
    assert written(plain(SAMPLE, KNOWN)) == TEXT
    assert read(Whole, parse(TEXT, "m"), KNOWN) == SAMPLE
    assert json.dumps(plain(SAMPLE, KNOWN, line=True)) == json.dumps(json.loads(TEXT))
    # The word for infinity is one of checkpoints, which have no schema.
    assert validator().is_valid({**json.loads(TEXT), "limits": [1.0, "above"]})


@pytest.mark.spec("MODEL-LOAD")
@pytest.mark.parametrize(
    ("key", "value", "complaint", "seen"),
    [
        ("kind", "both", "kind: the string 'both'; one of one, other is needed", True),
        ("radius", -1, "radius: -1; a number of at least 0 is needed", True),
        ("side", 1, "unknown key 'side'; the keys are kind, radius, weight, level, top", True),
        ("weight", "14/4", "weight: the string '14/4'; a rational number of at least 0", False),
        ("level", "low", "level: the string 'low'; a finite number is needed", True),
        ("top", 2, "top: 2; an integer from 0 to 1 is needed", False),
        ("places", [], "places: an array of 0 items; 2 are due", False),
        ("corner", [2.0], "corner: an array of 1 items; 2 are due", True),
        ("corner", [2.0, 0], "corner[1]: 0; a number above 0 is needed", True),
        ("corner", [2.0, 1.5], "corner[1]: 1.5; a number from 0 to 1 is needed", True),
        ("choice", {"near": 2}, "choice.near: 2; an integer from 0 to 1 is needed", False),
        ("choice", {}, 'choice: an object with one key is needed: {"near": number} or', True),
        ("choice", {"near": 1, "far": 1}, "choice: an object with one key is needed", True),
        ("extras", {"name": None}, "extras.name: null; a string is needed", True),
        ("extras", {"name": ""}, "extras: the name is empty", False),
        ("extras", {"size": 1}, "extras: unknown key 'size'; the keys are name, flags", True),
        ("limits", ["low", "x"], "limits[0]: the string 'low'; a finite number is needed", True),
        ("share", [-1], "share[0]: -1; a number of at least 0 is needed", True),
        ("share", "much", "share: the string 'much'; a finite number is needed", True),
        ("words", ["a", 1], "words[1]: 1; a string is needed", True),
        ("inner", 1, "inner: 1; a string is needed", True),
        ("note", "x", "unknown key 'note'", True),
        ("kind", "other", "top: 0 is due for the other kind", False),
    ],
)
def test_what_is_wrong_is_refused_with_its_path(
    key: str, value: Any, complaint: str, seen: bool
) -> None:
    top = {**json.loads(TEXT), "limits": [1.0, "above"], key: value}
    with pytest.raises(BadModel) as refused:
        read(Whole, parse(json.dumps(top), "m"), KNOWN)
    assert str(refused.value).startswith(f"m: {complaint}")
    assert validator().is_valid(top) is not seen


@pytest.mark.parametrize("key", json.loads(TEXT))
def test_every_key_is_needed(key: str) -> None:
    top = json.loads(TEXT)
    del top[key]
    with pytest.raises(BadModel, match=f"m: the key {key!r} is missing; the keys are kind, rad"):
        read(Whole, parse(json.dumps(top), "m"), KNOWN)
    assert not validator().is_valid(top)


def test_the_class_is_chosen_by_the_family() -> None:
    square = {**KNOWN, FAMILY: "square"}
    top = {**json.loads(TEXT), "side": 3}
    del top["radius"]
    assert read(Whole, parse(json.dumps(top), "m"), square).shape == Square(3.0)


def test_records_of_what_has_the_same_names() -> None:
    assert taken(Place, {"x": 1, "y": 1, "z": 2}) == Place(1.0, 1.0)
    assert taken(Choice, {"far": 2}) == Choice(far=2.0)
    assert taken(Place, SAMPLE.corner, x=5.0) == Place(5.0, 0.25)
    found = values_by_path(SAMPLE, "params")
    assert (found["params.radius"], found["params.top"]) == (1.5, 1)
