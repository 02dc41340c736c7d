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
from refclust.vectors.answers import Answer


def hierarchical(given: dict[str, Any], key: str, session: Session) -> Answer:
    """Answer one key of a case of ``cluster.hierarchical``."""
    if key == "distances":
        rows = [_row(row) for row in given["rows"]]
        return pairwise_distances(rows, metric=given["metric"], backend=session.requested).tolist()
    name, _, option = key.rstrip("]").partition("[")
    if name not in _OF_A_TREE:
        raise BadVectorFile(f"no reading of a tree is called {key!r}")
    return _OF_A_TREE[name](_tree(json.dumps(given), session.requested), option)


# A case asks for several keys of one tree; the last one is kept.
@lru_cache(maxsize=1)
def _tree(text: str, backend: str) -> Tree:
    given = json.loads(text)
    options: dict[str, Any] = {name: given[name] for name in ("linkage", "metric") if name in given}
    if "k" in given:
        options["k"] = int(given["k"])
    if "height" in given:
        options["height"] = float(Fraction(given["height"]))
    if "distances" in given:
        options["distances"] = [
            _row(row) if isinstance(row, list) else _number(row) for row in given["distances"]
        ]
    else:
        options["data"] = [_row(row) for row in given["rows"]]
    return agglomerative(**options, backend=backend)


def _row(given: Any) -> Any:
    if isinstance(given, dict):
        return {key: _number(value) for key, value in given["sparse"]}
    return [_number(value) for value in given]


def _number(text: str) -> float | Fraction:
    if "0x" in text:
        return float.fromhex(text)
    return float(text) if text in ("nan", "inf", "-inf") else Fraction(text)


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
