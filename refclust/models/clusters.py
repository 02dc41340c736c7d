"""Models: fits without their labels, kept as JSON files (chapter 11).

``model_of`` makes one of a fit; ``to_json`` and ``from_json`` undo each other, bit for bit;
``save_model`` writes a file as a whole or not at all, and ``load_model`` believes nothing that it
has not checked.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Protocol, TypeAlias

from refclust.backends.session import Provenance
from refclust.cluster.results import BisectingFit, KMeansFit, Split
from refclust.cluster.tree import Tree
from refclust.data.accepting.trust import path_of
from refclust.data.dataset import Dataset, Features
from refclust.data.files.atomic import write_atomically
from refclust.data.files.packing import check_packing, packed
from refclust.data.files.records import taken
from refclust.data.files.textfile import display_name, read_text
from refclust.data.preparing.record import Preparation
from refclust.errors import BadOption, DimensionMismatch, FileExists
from refclust.models.document import FORMAT, VERSION, from_json, to_json
from refclust.models.records.clusters import (
    GIVEN,
    GOWER,
    AgglomerativeFitted,
    AgglomerativeModel,
    AgglomerativeParams,
    BisectingFitted,
    BisectingModel,
    BisectingParams,
    Child,
    ClusterModel,
    Cut,
    DataFacts,
    DataKind,
    DataOrigin,
    FlatSplit,
    IterationRecord,
    KMeansFitted,
    KMeansModel,
    KMeansParams,
    Model,
    Reading,
)
from refclust.version import __version__

Fit: TypeAlias = KMeansFit | BisectingFit | Tree

__all__ = [
    "FORMAT",
    "VERSION",
    "Cut",
    "Fit",
    "Model",
    "data_facts",
    "from_json",
    "load_model",
    "model_of",
    "origin_of",
    "save_model",
    "to_json",
    "tree_of",
]


def model_of(
    fit: Fit,
    *,
    data: Dataset | None = None,
    reading: Reading | None = None,
    cut: Cut | None = None,
) -> ClusterModel:
    """Make a model of a fit; without its data, centres are written out with all their zeros.

    A tree of merges needs its data, unless it was made of given distances, and may have been cut.
    """
    if isinstance(fit, Tree):
        return _agglomerative(fit, data, reading, cut)
    if cut is not None:
        raise BadOption("a cut belongs to a tree of merges")
    known = data_facts(fit, data, reading)
    origin = origin_of(fit.provenance)
    if isinstance(fit, KMeansFit):
        trace = tuple(taken(IterationRecord, step) for step in fit.trace if step.rss is not None)
        fitted = taken(KMeansFitted, fit, trace=trace)
        return KMeansModel(taken(KMeansParams, fit), fitted, known, origin)
    tree = taken(BisectingFitted, fit, splits=_flat(fit.root))
    return BisectingModel(taken(BisectingParams, fit), tree, known, origin)


def tree_of(model: AgglomerativeModel) -> Tree:
    """Return the tree of a model, with the labels of its cut if it was cut.

    >>> from refclust.cluster.hierarchical import agglomerative
    >>> tree = agglomerative(distances=[3, 2, 1], linkage="single", k=2)
    >>> tree_of(model_of(tree)).labels
    (0, 1, 1)
    """
    params, cut = model.params, model.params.cut
    tree = Tree(model.data.n, model.fitted.merges, params.linkage, params.metric)
    if cut is None:
        return tree
    labels = tree.cut(cut.k) if cut.k is not None else tree.cut_height(cut.height or 0.0)
    return replace(tree, labels=labels)


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model file; ``-`` is standard input.

    Raises ``bad-model`` with the path of the first key that is not as it should be.
    """
    source = path_of(path, "the model file")
    return from_json(read_text(source), display_name(source))


def save_model(path: str | os.PathLike[str], model: Model | Fit, *, force: bool = False) -> None:
    """Write a model file, as a whole or not at all; an old one is replaced with ``force`` only.

    A name that ends in ``.gz``, ``.bz2`` or ``.xz`` gets a packed file, the same bytes every time.
    """
    target = path_of(path, "the model file")
    whole = model if isinstance(model, Model) else model_of(model)
    content = to_json(whole).encode()
    check_packing(target)
    content = b"".join(packed(target, [content]))
    if not force and os.path.lexists(target):
        raise FileExists(f"{target} exists already; give another name, or force=True to replace it")
    write_atomically(target, content, replace=force)


class _OfRows(Protocol):
    """Whatever was fitted to rows."""

    @property
    def n(self) -> int: ...

    @property
    def d(self) -> int: ...

    @property
    def digest(self) -> str: ...

    @property
    def features(self) -> Features | None: ...


def preparation_of(fit: object) -> Preparation | None:
    """What was done to the columns of the data of a fit, or of a model.

    Spec: PREP-MODEL
    """
    facts = getattr(fit, "data", None) or getattr(fit, "fingerprint", None) or fit
    return getattr(facts, "preparation", None)


def data_facts(fit: _OfRows, data: Dataset | None, reading: Reading | None) -> DataFacts:
    """What a model tells of the data of a fit, which decide how its numbers are written.

    Spec: MODEL-DOC
    """
    if data is not None and (data.n, data.d) != (fit.n, fit.d):
        raise DimensionMismatch(
            f"the data have {data.n} rows and {data.d} features; "
            f"those of the fit had {fit.n} and {fit.d}"
        )
    kind: DataKind = "sparse" if data is not None and data.kind == "sparse" else "dense"
    plan = preparation_of(fit) if data is None else data.preparation
    return DataFacts(kind, fit.n, fit.d, fit.digest, fit.features, reading, plan)


def origin_of(provenance: Provenance) -> DataOrigin:
    """What a model tells of who ran the kernels.

    Spec: MODEL-DOC
    """
    return taken(DataOrigin, provenance)


def _agglomerative(
    tree: Tree, data: Dataset | None, reading: Reading | None, cut: Cut | None
) -> AgglomerativeModel:
    if data is None and tree.metric not in (GIVEN, GOWER):
        raise BadOption("a model of a tree of merges needs the data of the fit")
    if data is not None and data.n != tree.n:
        raise DimensionMismatch(f"the data have {data.n} rows; those of the tree were {tree.n}")
    if tree.metric in (GIVEN, GOWER) or data is None:
        digest = None if data is None or tree.metric == GOWER else data.digest()
        known = DataFacts("distances", tree.n, 0, digest, None, reading)
    else:
        kind: DataKind = "sparse" if data.kind == "sparse" else "dense"
        digest, plan = data.digest(), data.preparation
        known = DataFacts(kind, data.n, data.d, digest, data.features, reading, plan)
    if cut is None and tree.labels is not None:
        cut = Cut(k=max(tree.labels) + 1)
        if tree.cut(max(tree.labels) + 1) != tree.labels:
            raise BadOption("the tree was cut at a height; give it: cut=Cut(height=...)")
    provenance = tree.provenance or Provenance(__version__, "none", ())
    params = AgglomerativeParams(tree.linkage, tree.metric, cut)
    return AgglomerativeModel(
        params, AgglomerativeFitted(tree.merges), known, origin_of(provenance)
    )


def _flat(root: Split | int) -> tuple[FlatSplit, ...]:
    """List the splits of a tree in the order of a walk that goes to the first child first."""
    # No recursion: a tree can be as deep as it has leaves.
    order: list[Split] = []
    todo = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, Split):
            order.append(node)
            todo += reversed(node.children)
    number = {id(split): place for place, split in enumerate(order)}
    return tuple(
        FlatSplit(
            split.rss,
            split.rss_after,
            (_child(split.children[0], number), _child(split.children[1], number)),
            split.centres,
        )
        for split in order
    )


def _child(node: Split | int, number: dict[int, int]) -> Child:
    return Child(split=number[id(node)]) if isinstance(node, Split) else Child(cluster=node)
