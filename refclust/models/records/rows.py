"""Centres, means and probabilities in a model file, dense or sparse as the data (chapter 11)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Any, Final, TypeAlias

from refclust.cluster.results import Centre
from refclust.data.files.document import LARGEST, Line, Node
from refclust.data.files.parts import Known, Part, Schema, Wrapper, doubles, read_by

# A sparse row is kept with all its zeros, so a short file could ask for a huge table.
MOST_NUMBERS: Final = 10**8
_DENSE: Final[Schema] = {"type": "array", "items": {"type": "number"}}
_PAIR: Final[Schema] = {
    "type": "array",
    "prefixItems": [{"type": "integer", "minimum": 0, "maximum": LARGEST}, {"type": "number"}],
    "items": False,
    "minItems": 2,
}
_SPARSE: Final[Schema] = {"type": "array", "items": _PAIR}


def sparse_pairs(row: Centre) -> list[tuple[int, float]]:
    """The columns and numbers of a row; all is kept but the zero without a sign.

    Spec: MODEL-DOC

    >>> sparse_pairs((0.0, 2.5, 0.0, -0.0))
    [(1, 2.5), (3, -0.0)]
    """
    return [(j, x) for j, x in enumerate(row) if x or math.copysign(1, x) < 0]


def _row() -> Part:
    """A row of as many numbers as the data have columns, written as the data were.

    Spec: MODEL-DOC, MODEL-LOAD
    """

    def read(node: Node, known: Known) -> Centre:
        if known["kind"] == "dense":
            return node.doubles(known["d"])
        return _from_pairs(node, known["d"])

    def plain(value: Centre, known: Known, line: bool) -> Any:
        numbers = value if known["kind"] == "dense" else sparse_pairs(value)
        return numbers if line else Line(numbers)

    def schema(defs: Schema, _known: Known) -> Schema:
        defs.setdefault("denseRow", _DENSE)
        defs.setdefault("sparseRow", _SPARSE)
        about = "All numbers of dense data; column and number, zeros left out, of sparse data."
        either = [{"$ref": "#/$defs/denseRow"}, {"$ref": "#/$defs/sparseRow"}]
        defs.setdefault("row", {"description": about, "anyOf": either})
        return {"$ref": "#/$defs/row"}

    def narrowed(known: Known) -> Schema | None:
        return {"$ref": f"#/$defs/{known['kind']}Row"} if "kind" in known else None

    return replace(
        doubles(),
        read=read,
        plain=plain,
        schema=schema,
        narrowed=narrowed,
        names=frozenset(("kind", "d")),
    )


def room(rows: int = 1) -> Wrapper:
    """Refuse more numbers than a model may hold, before any is made; an item has so many rows.

    Spec: MODEL-LOAD
    """

    def read(part: Part, node: Node, known: Known) -> Any:
        count, d = rows * len(node.items()), known["d"]
        if count * d > MOST_NUMBERS:
            node.fail(f"{count} centres of {d} numbers; {MOST_NUMBERS} numbers are allowed")
        return part.read(node, known)

    return read_by(read)


Row: TypeAlias = Annotated[Centre, _row()]
CentreRows: TypeAlias = Annotated[tuple[Row, ...], room()]


def directed(node: Node, rows: tuple[Centre, ...], known: Known) -> None:
    """Refuse a centre without a direction under the cosine.

    Spec: MODEL-LOAD
    """
    if known["params.metric"] == "cosine":
        for place, row in enumerate(rows):
            if not any(row):
                node.item(place).fail("the zero vector, which has no direction and no cosine")


def _from_pairs(node: Node, d: int) -> Centre:
    if type(node.value) is not list:
        node.wrong("an array of pairs")
    row, least = [0.0] * d, 0
    for place, pair in enumerate(node.value):
        # Only a suspect gets nodes of its own: a model may hold millions of pairs.
        if not _is_plain_pair(pair, least, d):
            pair = _pair(node.item(place), least, d)
        column, number = pair
        row[column], least = number, column + 1
    return tuple(row)


def _is_plain_pair(pair: Any, least: int, d: int) -> bool:
    return (
        type(pair) is list
        and len(pair) == 2
        and type(pair[0]) is int
        and least <= pair[0] < d
        and type(pair[1]) is float
        and pair[1] != 0
        and math.isfinite(pair[1])
    )


def _pair(node: Node, least: int, d: int) -> tuple[int, float]:
    column, number = node.items(2)
    place = column.whole(0, d - 1)
    if place < least:
        column.fail(f"column {place} after column {least - 1}; columns ascend")
    value = number.double()
    if not value and math.copysign(1, value) > 0:
        number.fail("a zero; zeros are left out")
    return place, value
