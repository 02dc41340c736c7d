"""Agglomerative clustering: distances, then merges, then perhaps a cut (chapter 20)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from typing import Any

from refclust.backends.protocol import Problem
from refclust.backends.session import Session
from refclust.cluster.gower import gower_distances
from refclust.cluster.options import AgglomerativeCall
from refclust.cluster.tree import Merge, Tree
from refclust.data.accepting.door import dataset, doubles
from refclust.data.accepting.trust import items
from refclust.data.dataset import Dataset, Dense
from refclust.errors import BadOption, EmptyInput, NotFinite, NotSymmetric
from refclust.fitting.checks import named
from refclust.fitting.memory import for_distances
from refclust.fitting.options import takes
from refclust.kernels.distances import METRICS
from refclust.kernels.linkage import SQUARED
from refclust.numbers.reading import shown

GIVEN = "given"
GOWER = "gower"


@takes(AgglomerativeCall)
def agglomerative(call: AgglomerativeCall) -> Tree:
    """Merge the closest clusters of rows, or of objects with given distances, into one tree.

    With ``k`` or ``height`` the tree is cut there and the result has labels. Distances are given
    as a square matrix, or row after row above its diagonal.

    Spec: HC-AGG

    >>> tree = agglomerative([[0], [1], [5]], linkage="single", k=2)
    >>> tree.merges
    (Merge(a=0, b=1, height=1.0, size=2), Merge(a=2, b=3, height=4.0, size=3))
    >>> tree.labels
    (0, 0, 1)
    >>> agglomerative(distances=[[0, 3, 2], [3, 0, 1], [2, 1, 0]], linkage="complete").leaf_order()
    (0, 1, 2)
    """
    _check(call)
    squared = call.linkage in SQUARED
    session = call.session or Session(call.backend)
    if call.distances is not None:
        condensed, n = given_distances(call.distances)
        if squared:
            condensed = _squares(condensed, call.linkage)
    elif call.metric == GOWER:
        condensed = gower_distances(call.data)
        n = math.isqrt(2 * len(condensed)) + 1
    else:
        rows = dataset(call.data)
        if rows.weights is not None:
            raise BadOption("the rows have weights; agglomerative clustering counts rows only")
        n = rows.n
        for_distances(n)
        measured = "sqeuclidean" if squared else call.metric
        condensed = session.run("distances.pairwise", _problem(rows), rows, measured)
    problem = Problem("distances", n, len(condensed))
    merges = session.run("linkage.agglomerate", problem, condensed, n, call.linkage)
    tree = Tree(
        n,
        tuple(Merge(*merge) for merge in merges),
        call.linkage,
        GIVEN if call.distances is not None else call.metric,
        provenance=session.provenance(),
    )
    if call.k is not None:
        return _with_labels(tree, tree.cut(call.k))
    return tree if call.height is None else _with_labels(tree, tree.cut_height(call.height))


def pairwise_distances(
    data: Any,
    *,
    metric: str = "euclidean",
    backend: str | None = None,
    session: Session | None = None,
) -> array[float]:
    """The distances of all pairs of rows in condensed form: (0, 1), (0, 2), ..., (1, 2), ...

    Spec: KER-PAIR, DIST-L2, VEC-SQDIST, DIST-COS, DIST-GOWER

    >>> pairwise_distances([[0, 0], [3, 4], [0, 8]])
    array('d', [5.0, 8.0, 5.0])
    """
    named("metric", metric, (*METRICS, GOWER))
    if metric == GOWER:
        return gower_distances(data)
    rows = dataset(data)
    for_distances(rows.n)
    session = session or Session(backend)
    return array("d", session.run("distances.pairwise", _problem(rows), rows, metric))


def given_distances(distances: Any) -> tuple[array[float], int]:
    """A distance matrix, checked, in condensed form, and the number of its objects.

    Spec: HC-GIVEN

    >>> given_distances([[0, 3, 2], [3, 0, 1], [2, 1, 0]])
    (array('d', [3.0, 2.0, 1.0]), 3)
    >>> given_distances([3, 2, 1])
    (array('d', [3.0, 2.0, 1.0]), 3)
    """
    flat = _flat(distances)
    if flat is not None:
        values = array("d", doubles(flat, "distance {}".format))
        n = math.isqrt(2 * len(values)) + 1
        if n * (n - 1) // 2 != len(values):
            raise NotSymmetric(
                f"{len(values)} distances in a row; n objects have n(n - 1)/2: 1, 3, 6, 10, ..."
            )
    else:
        values, n = _upper_triangle(dataset(distances))
    _check_values(values, n)
    return values, n


def _check(call: AgglomerativeCall) -> None:
    """Refuse what is not one set of rows or distances, measured and cut in one way."""
    if call.linkage in SQUARED and call.metric != "euclidean":
        raise BadOption(
            f"linkage={shown(call.linkage)} is about means in space and needs "
            f"metric='euclidean', not {shown(call.metric)}"
        )
    if call.k is not None and call.height is not None:
        raise BadOption("k and height are two ways to cut; give one of them")
    if (call.data is None) == (call.distances is None):
        raise BadOption("give either data or distances")
    if call.distances is not None and call.metric != "euclidean":
        raise BadOption(f"metric={shown(call.metric)} says nothing when distances are given")


def _problem(rows: Dataset) -> Problem:
    # Every row is measured to every row, as if all of them were centres.
    return Problem(rows.kind, rows.n, len(rows.matrix.values), rows.n)


def _with_labels(tree: Tree, labels: tuple[int, ...]) -> Tree:
    return Tree(tree.n, tree.merges, tree.linkage, tree.metric, labels, tree.provenance)


def _flat(distances: Any) -> list[Any] | None:
    """The distances as a list if they stand in a row, or None if they are a matrix."""
    if isinstance(distances, Dataset):
        return None
    shape = getattr(distances, "shape", None)
    if isinstance(shape, tuple):
        return list(distances.tolist()) if len(shape) == 1 else None

    def refusal() -> BadOption:
        return BadOption(
            "distances are a square matrix, or the numbers above its diagonal in a row, "
            f"not {shown(distances)}"
        )

    if isinstance(distances, (str, bytes)) or not isinstance(distances, Iterable):
        raise refusal()
    listed = items(distances, refusal)
    if not listed:
        raise EmptyInput("there are no distances; for one object give [[0]]")
    first = listed[0]
    return None if isinstance(first, Iterable) and not isinstance(first, str) else listed


def _upper_triangle(square: Dataset) -> tuple[array[float], int]:
    n, matrix = square.n, square.matrix
    if not isinstance(matrix, Dense) or square.d != n:
        raise NotSymmetric(
            f"the distances have {n} rows and {square.d} columns; a dense square matrix is needed"
        )
    values = array("d")
    for i in range(n):
        row = matrix.values[i * n : (i + 1) * n]
        if row[i] != 0:
            raise NotSymmetric(f"the distance of object {i} to itself is {row[i]!r}, not 0")
        if row.tolist() != matrix.values[i::n].tolist():
            j = next(j for j in range(n) if row[j] != matrix.values[j * n + i])
            raise NotSymmetric(
                f"the distances of objects {i} and {j} differ: {row[j]!r} in row {i}, "
                f"{matrix.values[j * n + i]!r} in row {j}"
            )
        values.extend(row[i + 1 :])
    return values, n


def _check_values(values: array[float], n: int) -> None:
    # NaN fails every comparison, so this asks that all are true instead of that none is false.
    if all(0 <= value < math.inf for value in values):
        return
    pairs = ((i, j) for i in range(n) for j in range(i + 1, n))
    for (i, j), value in zip(pairs, values, strict=True):
        if not math.isfinite(value):
            raise NotFinite(f"the distance of objects {i} and {j} is {value!r}")
        if value < 0:
            raise NotSymmetric(f"the distance of objects {i} and {j} is {value!r}, below 0")


def _squares(distances: array[float], linkage: str) -> array[float]:
    squares = array("d", [d * d for d in distances])
    if math.inf in squares:
        raise NotFinite(
            f"linkage={shown(linkage)} works on squares, and that of {max(distances)!r} is "
            "too large"
        )
    return squares
