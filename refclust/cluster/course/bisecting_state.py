"""How far a bisecting fit has come: a tree of splits, and that as plain JSON values (KM-CKPT).

What is read from a checkpoint is checked like foreign input: a tree without loops whose leaves
share out the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any

from refclust.cluster.options import KMeansOptions
from refclust.cluster.results import Centre
from refclust.cluster.seeding import most_draws
from refclust.data.files.document import Node as Told
from refclust.data.files.parts import doubles, whole, wholes
from refclust.data.files.records import plain, read


@dataclass(frozen=True, slots=True)
class Node:
    """A leaf, or, once it has been split, an inner node of the tree under way."""

    rows: Annotated[Sequence[int], wholes(None, 0, "n", less=1, made=list)]
    centre: Annotated[Centre, doubles("d")]
    weight: Fraction
    rss: Fraction
    whole: bool = False  # it cannot be split
    limited: bool = False  # the run that split it, or tried to, stopped at the limit
    children: Annotated[tuple[int, int], wholes(2, 0, "places")] | None = None


@dataclass(frozen=True, slots=True)
class State:
    """The tree so far, and how many random numbers its splits have used."""

    nodes: tuple[Node, ...]
    draws: Annotated[int, whole(0, None)] = 0

    def leaves(self) -> int:
        """The number of clusters so far."""
        return sum(node.children is None for node in self.nodes)


def content_of(state: State) -> dict[str, Any]:
    """The state as plain values; only leaves have rows."""
    nodes = (node if node.children is None else replace(node, rows=()) for node in state.nodes)
    content: dict[str, Any] = plain(replace(state, nodes=tuple(nodes)), {}, line=True)
    return content


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
        state = read(State, node, {"n": self.n, "d": self.d, "places": 2 * self.n})
        tree, nodes = state.nodes, node.entry("nodes")
        splits = [branch for branch in tree if branch.children is not None]
        if not tree or len(tree) != 2 * len(splits) + 1 or len(splits) >= self.clusters:
            nodes.fail(f"{len(tree)} nodes, of which {len(splits)} are split, are no tree")
        self._check_tree(nodes.items(), tree)
        self._check_rows(nodes, tree)
        # Each split took one fit, and so did each leaf that turned out to be whole.
        fits = self.options.restarts * (len(splits) + sum(branch.whole for branch in tree))
        node.entry("draws").whole(0, fits * most_draws(self.options, self.d))
        return state

    def _check_tree(self, items: list[Told], tree: tuple[Node, ...]) -> None:
        """Refuse children that are not there, come twice, or come before their parents."""
        seen: set[int] = set()
        for at, (item, branch) in enumerate(zip(items, tree, strict=True)):
            if branch.children is None:
                continue
            first, second = branch.children
            if not (at < first < len(tree) - 1 and first % 2 and second == first + 1):
                item.entry("children").fail(f"{first} and {second} are no children of {at}")
            if first in seen or branch.whole:
                item.fail("a node that is split twice, or cannot be split and was")
            seen.add(first)

    def _check_rows(self, nodes: Told, tree: tuple[Node, ...]) -> None:
        """Refuse leaves that do not share out the rows."""
        owned = bytearray(self.n)
        for at, branch in enumerate(tree):
            rows = list(branch.rows)
            if (branch.children is None) != bool(rows) or rows != sorted(set(rows)):
                nodes.item(at).entry("rows").fail("rows out of order, or not those of a leaf")
            for row in rows:
                if owned[row]:
                    nodes.item(at).fail(f"row {row} is in two leaves")
                owned[row] = 1
        if not all(owned):
            nodes.fail(f"row {owned.index(0)} is in no leaf")
