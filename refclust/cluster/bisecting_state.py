"""How far a bisecting fit has come: a tree of splits, and that as plain JSON values (KM-CKPT).

What is read from a checkpoint is checked like foreign input: a tree without loops whose leaves
share out the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from refclust.cluster.options import KMeansOptions
from refclust.cluster.results import Centre
from refclust.cluster.seeding import most_draws
from refclust.data.files.document import Node as Told


@dataclass(frozen=True, slots=True)
class Node:
    """A leaf, or, once it has been split, an inner node of the tree under way."""

    rows: Sequence[int]
    centre: Centre
    weight: Fraction
    rss: Fraction
    whole: bool = False  # it cannot be split
    children: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class State:
    """The tree so far, and how many random numbers its splits have used."""

    nodes: tuple[Node, ...]
    draws: int = 0

    def leaves(self) -> int:
        """The number of clusters so far."""
        return sum(node.children is None for node in self.nodes)


def told(state: State) -> dict[str, Any]:
    """The state as plain values."""
    nodes = [
        {
            "rows": list(node.rows) if node.children is None else [],
            "centre": list(node.centre),
            "weight": str(node.weight),
            "rss": str(node.rss),
            "whole": node.whole,
            "children": node.children,
        }
        for node in state.nodes
    ]
    return {"draws": state.draws, "nodes": nodes}


@dataclass(frozen=True, slots=True)
class StateReader:
    """What a fit of these options, into so many clusters, may have come to."""

    options: KMeansOptions
    clusters: int
    n: int
    d: int

    def __call__(self, node: Told) -> State:
        """The state that a document tells of.

        Spec: KM-CKPT
        """
        draws, nodes = node.members("draws", "nodes")
        items = nodes.items()
        found = tuple(map(self._node, items))
        splits = [one for one in found if one.children is not None]
        if not found or len(found) != 2 * len(splits) + 1 or len(splits) >= self.clusters:
            nodes.fail(f"{len(found)} nodes, of which {len(splits)} are split, are no tree")
        self._check_tree(items, found)
        self._check_rows(nodes, found)
        # Each split took one fit, and so did each leaf that turned out to be whole.
        fits = self.options.restarts * (len(splits) + sum(one.whole for one in found))
        most = fits * most_draws(self.options, self.d)
        return State(found, draws.whole(0, most))

    def _node(self, node: Told) -> Node:
        rows, centre, weight, rss, whole, children = node.members(
            "rows", "centre", "weight", "rss", "whole", "children"
        )
        pair = children.maybe(lambda given: given.wholes(2, 0, 2 * self.n))
        return Node(
            rows.wholes(None, 0, self.n - 1),
            centre.doubles(self.d),
            weight.rational(),
            rss.rational(),
            whole.flag(),
            None if pair is None else (pair[0], pair[1]),
        )

    def _check_tree(self, items: list[Told], found: tuple[Node, ...]) -> None:
        """Refuse children that are not there, come twice, or come before their parents."""
        seen: set[int] = set()
        for at, (item, one) in enumerate(zip(items, found, strict=True)):
            if one.children is None:
                continue
            first, second = one.children
            if not (at < first < len(found) - 1 and first % 2 and second == first + 1):
                item.entry("children").fail(f"{first} and {second} are no children of {at}")
            if first in seen or one.whole:
                item.fail("a node that is split twice, or cannot be split and was")
            seen.add(first)

    def _check_rows(self, nodes: Told, found: tuple[Node, ...]) -> None:
        """Refuse leaves that do not share out the rows."""
        owned = bytearray(self.n)
        for at, one in enumerate(found):
            rows = list(one.rows)
            if (one.children is None) != bool(rows) or rows != sorted(set(rows)):
                nodes.item(at).entry("rows").fail("rows out of order, or not those of a leaf")
            for row in rows:
                if owned[row]:
                    nodes.item(at).fail(f"row {row} is in two leaves")
                owned[row] = 1
        if not all(owned):
            nodes.fail(f"row {owned.index(0)} is in no leaf")
