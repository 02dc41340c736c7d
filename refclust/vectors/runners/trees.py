"""Refclust's own answers to the golden vectors of agglomerative clustering (chapter 20)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from refclust.backends.session import Session
from refclust.cluster.hierarchical import agglomerative, pairwise_distances
from refclust.cluster.tree import Tree
from refclust.errors import BadVectorFile
from refclust.vectors.answers import Answer, Input
from refclust.vectors.runners.numbers import number
from refclust.vectors.runners.products import vector


def hierarchical(inputs: Input, key: str, session: Session) -> Answer:
    """Answer one key of a case of ``cluster.hierarchical``."""
    if key == "distances":
        rows = [vector(row) for row in inputs["rows"]]
        return pairwise_distances(rows, metric=inputs["metric"], backend=session.requested).tolist()
    name, _, option = key.rstrip("]").partition("[")
    if name not in _OF_A_TREE:
        raise BadVectorFile(f"no reading of a tree is called {key!r}")
    return _OF_A_TREE[name](_tree(json.dumps(inputs), session.requested), option)


# A case asks for several keys of one tree; the last one is kept.
@lru_cache(maxsize=1)
def _tree(text: str, backend: str) -> Tree:
    inputs = json.loads(text)
    options: dict[str, Any] = {
        name: inputs[name] for name in ("linkage", "metric") if name in inputs
    }
    if "k" in inputs:
        options["k"] = int(inputs["k"])
    if "height" in inputs:
        options["height"] = float(Fraction(inputs["height"]))
    if "distances" in inputs:
        options["distances"] = [
            vector(row) if isinstance(row, list) else number(row) for row in inputs["distances"]
        ]
    else:
        options["data"] = [vector(row) for row in inputs["rows"]]
    return agglomerative(**options, backend=backend)


def _counts(values: tuple[int, ...]) -> list[Answer]:
    return [Fraction(value) for value in values]


_OF_A_TREE: Final[Mapping[str, Callable[[Tree, str], Answer]]] = {
    "merges": lambda tree, _: [
        [Fraction(m.a), Fraction(m.b), m.height, Fraction(m.size)] for m in tree.merges
    ],
    "cut": lambda tree, option: _counts(tree.cut(int(option.removeprefix("k=")))),
    "cut_height": lambda tree, option: _counts(
        tree.cut_height(float(Fraction(option.removeprefix("height="))))
    ),
    "cophenetic": lambda tree, _: tree.cophenetic().tolist(),
    "leaf_order": lambda tree, _: _counts(tree.leaf_order()),
    "inversions": lambda tree, _: Fraction(tree.inversions),
}
