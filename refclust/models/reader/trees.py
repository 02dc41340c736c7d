"""The parts of a model file that are trees: of splits, and of merges (chapter 11, MODEL-TREE)."""

from __future__ import annotations

from typing import Final, Literal

from refclust.cluster.tree import Merge
from refclust.data.files.document import Node
from refclust.kernels.distances import METRICS as MEASURES
from refclust.kernels.linkage import LINKAGES
from refclust.models.reader.kmeans import (
    METRICS,
    MOST_CLUSTERS,
    STARTS,
    check_room,
    read_centres,
)
from refclust.models.records.clusters import (
    AgglomerativeFitted,
    AgglomerativeParams,
    BisectingFitted,
    BisectingParams,
    Child,
    Cut,
    DataFacts,
    FlatSplit,
)

GIVEN: Final = "given"
_ORDERS: Final[tuple[Literal["rss", "size"], ...]] = ("rss", "size")


def read_bisecting_params(node: Node) -> BisectingParams:
    """Read what a bisecting fit was asked for."""
    k, metric, by, start, seed, restarts, limit = node.members(
        "k", "metric", "by", "start", "seed", "restarts", "limit"
    )
    return BisectingParams(
        k.whole(1, MOST_CLUSTERS),
        metric.one_of(METRICS),
        by.one_of(_ORDERS),
        start.one_of(STARTS),
        seed.whole(0, None),
        restarts.whole(1, None),
        limit.whole(1, None),
    )


def read_bisecting(node: Node, params: BisectingParams, data: DataFacts) -> BisectingFitted:
    """Read what a bisecting fit found."""
    rss, mean_square, sizes, within, centres, splits = node.members(
        "rss", "mean_square", "sizes", "within", "centres", "splits"
    )
    k = params.k
    nodes = splits.items(k - 1)
    check_room(splits, 2 * len(nodes), data)
    found = read_centres(centres, data, directed=False)
    if len(found) != k:
        centres.fail(f"{len(found)} centres; params.k is {k}")
    tree = tuple(_split(item, params, data) for item in nodes)
    _check_tree(nodes, tree)
    return BisectingFitted(
        rss.double(0),
        mean_square.double(0),
        tuple(size.rational() for size in sizes.items(k)),
        within.doubles(k, 0),
        found,
        tree,
    )


def _split(node: Node, params: BisectingParams, data: DataFacts) -> FlatSplit:
    rss, rss_after, children, centres = node.members("rss", "rss_after", "children", "centres")
    first, second = children.items(2)
    centres.items(2)
    one, other = read_centres(centres, data, directed=params.metric == "cosine")
    return FlatSplit(
        rss.double(0),
        rss_after.double(0),
        (_child(first, params.k), _child(second, params.k)),
        (one, other),
    )


def _child(node: Node, k: int) -> Child:
    if node.mapping().keys() == {"split"}:
        return Child("split", node.entry("split").whole(1, k - 2))
    if node.mapping().keys() == {"cluster"}:
        return Child("cluster", node.entry("cluster").whole(0, k - 1))
    return node.fail('an object with one key is needed: {"split": number} or {"cluster": number}')


def _check_tree(nodes: list[Node], tree: tuple[FlatSplit, ...]) -> None:
    """Walk the tree, first child first: splits and clusters must come in their order, each once."""
    due = {"split": 1, "cluster": 0}
    todo = [(0, side) for side in (1, 0)] if tree else []
    while todo:
        parent, side = todo.pop()
        child = tree[parent].children[side]
        if child.index != due[child.kind]:
            place = nodes[parent].entry("children").item(side)
            place.fail(
                f"the {child.kind} {child.index}; {due[child.kind]} is the next one in a walk "
                "that goes to the first child first"
            )
        due[child.kind] += 1
        if child.kind == "split":
            todo += [(child.index, 1), (child.index, 0)]
    if tree and due["split"] < len(tree):
        nodes[due["split"]].fail("no split leads here")


def read_agglomerative_params(node: Node, data: DataFacts) -> AgglomerativeParams:
    """Read how a tree of merges was asked for."""
    linkage, metric, cut = node.members("linkage", "metric", "cut")
    measured = metric.one_of((*MEASURES, GIVEN))
    if (measured == GIVEN) != (data.kind == "distances"):
        metric.fail(f"{measured} does not go with data.kind, {data.kind}")
    return AgglomerativeParams(
        linkage.one_of((*LINKAGES, GIVEN)), measured, cut.maybe(lambda given: _cut(given, data.n))
    )


def read_agglomerative(node: Node, data: DataFacts) -> AgglomerativeFitted:
    """Read a tree of merges: every cluster but the last is merged once, into a larger one.

    Spec: MODEL-LOAD
    """
    (merges,) = node.members("merges")
    sizes = dict.fromkeys(range(data.n), 1) if len(merges.items()) == data.n - 1 else {}
    found: list[Merge] = []
    for made, item in enumerate(merges.items(data.n - 1), start=data.n):
        a, b, height, size = item.items(4)
        one, other = a.whole(0, made - 1), b.whole(0, made - 1)
        if one >= other:
            item.fail(f"clusters {one} and {other}; the smaller of two numbers comes first")
        for cluster in (a, b):
            if cluster.value not in sizes:
                cluster.fail(f"cluster {cluster.value} is part of another merge")
        sizes[made] = sizes.pop(one) + sizes.pop(other)
        if size.whole(2) != sizes[made]:
            size.fail(f"{size.value}; the two clusters hold {sizes[made]} rows")
        found.append(Merge(one, other, height.double(), sizes[made]))
    return AgglomerativeFitted(tuple(found))


def _cut(node: Node, n: int) -> Cut:
    if node.mapping().keys() == {"k"}:
        return Cut(k=node.entry("k").whole(1, n))
    if node.mapping().keys() == {"height"}:
        return Cut(height=node.entry("height").double())
    return node.fail('an object with one key is needed: {"k": number} or {"height": number}')
