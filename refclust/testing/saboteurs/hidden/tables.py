"""Saboteurs of tables and trees whose fault shows on few calls (chapter 81)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from refclust.kernels import contingency
from refclust.kernels.contingency import LabelPairs
from refclust.testing.saboteurs.hidden.hiding import hidden
from refclust.testing.saboteurs.saboteur import Saboteur


def hidden_tables() -> Iterable[Saboteur]:
    """All of them."""
    return (*_of_buffers(), *_of_trees())


def _buffered(pairs: LabelPairs) -> bool:
    return isinstance(pairs.clusters, memoryview) and pairs.weights is None


def _of_buffers() -> Iterable[Saboteur]:
    def in_bits(bits: int) -> Any:
        return lambda right, *_: {cell: count % (1 << bits) for cell, count in right.items()}

    def merged(change: Any) -> Any:
        def spoil(_: Any, pairs: LabelPairs) -> Any:
            clusters = [change(label, pairs.clusters) for label in pairs.clusters]
            return contingency.table(LabelPairs(clusters, list(pairs.classes)))

        return spoil

    def unsigned(label: int, view: Any) -> int:
        return label % 256 if view.format == "b" else label

    def halved(label: int, view: Any) -> int:
        return label % 2**32 if view.itemsize == 8 else label

    def without_weights(pairs: LabelPairs) -> Any:
        if isinstance(pairs.clusters, memoryview):
            return contingency.table(LabelPairs(pairs.clusters, pairs.classes))
        return contingency.table(pairs)

    for bits in (8, 16):
        yield hidden(f"cells-in-{bits}-bits", f"{bits} bits", "contingency.table",
                     _buffered, in_bits(bits))  # fmt: skip
    yield hidden("a-single-class", "instead of 2", "contingency.table",
                 lambda pairs: len(set(pairs.classes)) == 1 and len(pairs.classes) == 3,
                 lambda right, *_: {cell: count + 1 for cell, count in right.items()})  # fmt: skip
    yield hidden(
        "bytes-without-sign",
        "labels of format 'b'",
        "contingency.table",
        _buffered,
        merged(unsigned),
    )
    yield hidden(
        "labels-of-32-bits", "labels of format", "contingency.table", _buffered, merged(halved)
    )
    functions = {"contingency.table": without_weights}
    yield Saboteur("weights-of-buffers", "weights", functions)


def _of_trees() -> Iterable[Saboteur]:
    def wrapped(right: Any, *_: Any) -> Any:
        return tuple((a % 256, b % 256, h, s) for a, b, h, s in right)

    def saturated(right: Any, *_: Any) -> Any:
        return tuple((a, b, h, min(s, 255)) for a, b, h, s in right)

    def swapped(right: Any, *_: Any) -> Any:
        for place, (earlier, later) in enumerate(pairwise(right)):
            if earlier[2] == later[2] and place > 60:
                return (*right[:place], later, earlier, *right[place + 2 :])
        return right

    def known(_: Any, __: int, name: str) -> bool:
        return name != "no-such-linkage"

    yield hidden("links-in-8-bits", "8 bits", "linkage.agglomerate", known, wrapped)
    yield hidden("sizes-in-8-bits", "8 bits", "linkage.agglomerate", known, saturated)
    yield hidden("late-ties", "first one is due", "linkage.agglomerate", known, swapped)
