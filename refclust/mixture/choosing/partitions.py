"""Rows in K clusters, for every K asked for: by k-means, by bisecting, by a tree (chapter 34)."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, TypeAlias

from refclust.backends.session import Session
from refclust.cluster.bisecting import bisecting
from refclust.cluster.fit import kmeans
from refclust.cluster.hierarchical import agglomerative
from refclust.cluster.objective import exact_within
from refclust.cluster.options import AgglomerativeCall, BisectingCall, KMeansCall
from refclust.cluster.results import BisectingFit, KMeansFit
from refclust.cluster.tree import Tree
from refclust.data.dataset import Dataset
from refclust.errors import DataError
from refclust.fitting.rows import Rows
from refclust.kernels.centres import CentreMatrix

ClusterCall: TypeAlias = KMeansCall | BisectingCall | AgglomerativeCall
ClusterFit: TypeAlias = KMeansFit | BisectingFit | Tree

CALLS: Final[Mapping[str, type[ClusterCall]]] = {
    "kmeans": KMeansCall,
    "bisecting": BisectingCall,
    "agglomerative": AgglomerativeCall,
}


@dataclass(frozen=True, slots=True)
class Partition:
    """Rows in K clusters, what is left of their squares, and how they were found."""

    k: int
    labels: Sequence[int]
    rss: Fraction
    fit: ClusterFit
    iterations: int | None = None
    limit: int | None = None  # of iterations, if the fit came to it before it converged


Outcome: TypeAlias = Partition | DataError  # why there are no K clusters


def partitions(
    call: ClusterCall, rows: Dataset, ks: Sequence[int], *, alone: bool = True
) -> Iterator[Outcome]:
    """Cluster rows as a call asks, for every K in turn; unless alone, nothing but clusters counts.

    Spec: KM-KSEL

    >>> from refclust.data.accepting.door import dataset
    >>> call = AgglomerativeCall(linkage="single")
    >>> for each in partitions(call, dataset([[0], [1], [5], [7]]), [2, 3]):
    ...     print(each.labels, each.rss)
    (0, 0, 1, 1) 5/2
    (0, 0, 1, 2) 1/2
    """
    if isinstance(call, AgglomerativeCall):
        return _of_tree(call, rows, ks)
    if isinstance(call, BisectingCall):
        return _each(ks, lambda k: _bisected(bisecting(**vars(replace(call, data=rows, k=k)))))
    unwatched = call if alone else replace(call, trace="none")
    return _each(ks, lambda k: _centred(kmeans(**vars(replace(unwatched, data=rows, k=k)))))


def _each(ks: Sequence[int], clustered: Callable[[int], Partition]) -> Iterator[Outcome]:
    for k in ks:
        try:
            yield clustered(k)
        except DataError as error:  # fewer different rows than clusters
            yield error


def _centred(fit: KMeansFit) -> Partition:
    limit = fit.limit if fit.stopped == "limit" else None
    rss = fit.runs[fit.best].exact_rss
    return Partition(fit.k, fit.labels, rss, fit, fit.iterations, limit)


def _bisected(fit: BisectingFit) -> Partition:
    limit = None if fit.converged else fit.limit
    return Partition(fit.k, fit.labels, Fraction(fit.rss), fit, limit=limit)


def _of_tree(call: AgglomerativeCall, rows: Dataset, ks: Sequence[int]) -> Iterator[Outcome]:
    tree = agglomerative(**vars(replace(call, data=rows)))
    own = Rows(rows, call.session or Session(call.backend))

    def cut(k: int) -> Partition:
        labels = tree.cut(k)
        return Partition(k, labels, residual(own, labels, k), replace(tree, labels=labels))

    return _each(ks, cut)


def residual(rows: Rows, labels: Sequence[int], k: int) -> Fraction:
    """The residual sum of squares of given clusters around their means.

    Spec: MS-GAP, KM-RSS
    """
    numbers = array("i", labels)
    sums = rows.call("kmeans.accumulate", numbers, k, k=k)
    centres = CentreMatrix.flat(rows.call("kmeans.means", sums), rows.data.d)
    squares = rows.call("kmeans.squares", numbers, k, k=k)
    return sum(exact_within(squares, rows.call("kmeans.residual", sums, centres)), Fraction(0))
