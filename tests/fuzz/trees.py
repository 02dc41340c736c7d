"""Changes of JSON documents: any node of the tree dropped, repeated, moved, retyped or grown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from tests.fuzz.cases import Draw
from tests.fuzz.numerals import hostile, odd, word

_VALUES: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, 1, -1, 2, 0.5, -0.0, 1e308, 1e-320, 10**18, -(10**30), 2**53 + 1),
    *("", "0", "1", "1/3", "nan", "0x1p-3", [], {}, [[]], [None], {"": 0}, [0] * 40, "x" * 2000),
    *(float("nan"), float("inf"), float("-inf"), "1e999999999", 1 << 63, 1 << 31, 10**400),
)  # fmt: skip


def changed(draw: Draw, tree: Any) -> Any:
    """A deep copy of a tree after one change somewhere in it."""
    copy = json.loads(json.dumps(tree))
    places = list(_places(copy, 4000)) if isinstance(copy, dict | list) else []
    if not places:
        return _value(draw)
    holder, key = _chosen(draw, places)
    match draw.upto(9):
        case 0 | 1 | 2:
            holder[key] = _value(draw)
        case 3:
            del holder[key]
        case 4 if isinstance(holder, dict):
            holder[draw.pick((key + "s", word(draw), odd(draw), ""))] = holder[key]
        case 4 | 5 if isinstance(holder, list):
            holder.insert(draw.upto(len(holder)), holder[key])
        case 6:
            other, place = _chosen(draw, places)
            holder[key], other[place] = json.loads(json.dumps((other[place], holder[key])))
        case 7:
            holder[key] = _grown(draw, holder[key])
        case 8:
            holder[key] = _near(draw, holder[key])
        case _:
            holder[key] = draw.pick(([holder[key]], {"value": holder[key]}, str(holder[key])[:400]))
    return copy


def dumped(draw: Draw, tree: Any) -> bytes:
    """A tree as JSON, now and then with a key twice or a number written at length."""
    text = json.dumps(tree, ensure_ascii=draw.chance(0.5), indent=1 if draw.chance(0.2) else None)
    if draw.chance(0.04):
        text = text.replace("{", draw.pick(('{"format": 1, ', '{"n": 1, ', '{"": {}, ')), 1)
    if draw.chance(0.03):
        text = text.replace(": 0", f": {hostile(draw) or 0}", 1)
    return text.encode("utf-8", "surrogatepass")


def _places(tree: Any, most: int) -> Iterator[tuple[Any, Any]]:
    todo = [tree]
    while todo and most > 0:
        node = todo.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node))
        for key in keys:
            most -= 1
            yield node, key
            if isinstance(node[key], dict | list):
                todo.append(node[key])


def _chosen(draw: Draw, places: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """A place; numbers in long lists are many, so half of the time it is a key of an object."""
    if draw.chance(0.5):
        named = [place for place in places if isinstance(place[0], dict)]
        if named:
            return draw.pick(named)
    return draw.pick(places)


def _value(draw: Draw) -> Any:
    match draw.upto(5):
        case 0:
            return hostile(draw)
        case 1:
            return draw.pick((odd, word))(draw)
        case _:
            return json.loads(json.dumps(draw.pick(_VALUES)))


def _grown(draw: Draw, value: Any) -> Any:
    if isinstance(value, list):
        return (value * draw.pick((2, 3, 50)))[:5000]
    if isinstance(value, dict):
        return {**value, word(draw): _value(draw)}
    if isinstance(value, str):
        return value * draw.pick((2, 100)) if len(value) < 1000 else value[:1]
    nested: Any = value
    for _ in range(draw.pick((1, 5, 150))):
        nested = [nested]
    return nested


def _near(draw: Draw, value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        large = abs(value) > 2**1000  # as doubles such integers do not exist
        return draw.pick((value + 1, value - 1, -value, value * 2, 0 if large else value * 1e300))
    if isinstance(value, str) and value:
        at = draw.upto(len(value) - 1)
        return value[:at] + draw.pick(("0", "f", "A", "é", "")) + value[at + 1 :]
    return _value(draw)
