"""K-means from any data: the start, the options and the door (chapter 10).

``kmeans_steps`` hands out the iterations, ``kmeans`` runs them to the end.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable
from typing import Any, TypedDict, Unpack, cast

from refclust.backends.session import Session
from refclust.cluster.directions import unit_rows
from refclust.cluster.options import KMeansOptions
from refclust.cluster.results import Detail, KMeansFit, Metric, Policy, Start
from refclust.cluster.seeding import STARTS, group_means
from refclust.cluster.steps import USUAL, Steps
from refclust.data.accepting.door import dataset, labels_of
from refclust.data.dataset import Dataset, Dense
from refclust.errors import BadOption, DimensionMismatch, LabelLengthMismatch, ZeroVector
from refclust.fitting.checkpoint import Checkpoint
from refclust.fitting.checks import clusters
from refclust.fitting.memory import for_centres
from refclust.fitting.rows import Rows
from refclust.kernels.centres import CentreMatrix
from refclust.numbers.reading import shown


class KMeansArguments(TypedDict, total=False):
    """The options of ``kmeans``, for type checkers; ``kmeans_steps`` has their defaults."""

    start: str
    centres: Any
    labels: Iterable[Hashable] | None
    metric: Metric
    weights: Iterable[Any] | None
    seed: int
    restarts: int
    trials: int | None
    empty: Policy
    tolerance: float | None
    limit: int
    trace: Detail
    backend: str | None
    session: Session | None
    checkpoint: Checkpoint | None


def kmeans_steps(
    data: Any,
    k: int | None = None,
    *,
    start: str = "k-means++",
    centres: Any = None,
    labels: Iterable[Hashable] | None = None,
    metric: Metric = "euclidean",
    weights: Iterable[Any] | None = None,
    seed: int = 0,
    restarts: int = 1,
    trials: int | None = None,
    empty: Policy = "farthest",
    tolerance: float | None = None,
    limit: int = 300,
    trace: Detail = "centres",
    backend: str | None = None,
    session: Session | None = None,
    checkpoint: Checkpoint | None = None,
) -> Steps:
    """Begin a k-means fit and return its iterations.

    Spec: KM-ALG

    >>> [state.iteration.rss for state in kmeans_steps([[0], [1], [9]], centres=[[0], [1]])]
    [64.0, 17.0, 0.5]
    """
    rows = dataset(data) if weights is None else dataset(data, weights=weights)
    session = Session(backend) if session is None else session
    chosen, given = _given(rows, start, centres, labels, metric, session)
    if given is not None and isinstance(k, int) and k != len(given):
        raise BadOption(f"k is {shown(k)}, but {len(given)} centres were given to start from")
    count = clusters(len(given) if given is not None and k is None else k, rows.n)
    options = KMeansOptions(
        count, chosen, metric, seed, restarts, trials, empty, tolerance, limit, trace
    )
    return Steps(rows, options, given, session, checkpoint)


def kmeans(data: Any, k: int | None = None, **options: Unpack[KMeansArguments]) -> KMeansFit:
    """Cluster rows by k-means and return the best of all runs; options as ``kmeans_steps``.

    Spec: KM-ALG, KM-RESTART

    >>> fit = kmeans([[0, 0], [0, 1], [4, 0], [4, 1]], centres=[[0, 0], [4, 0]])
    >>> fit.labels.tolist(), fit.rss, fit.stopped
    ([0, 0, 1, 1], 1.0, 'unchanged')
    """
    steps = kmeans_steps(data, k, **options)
    for _ in steps:
        pass
    return steps.result()


def _given(
    rows: Dataset,
    start: Any,
    centres: Any,
    labels: Iterable[Hashable] | None,
    metric: Metric,
    session: Session,
) -> tuple[Start, CentreMatrix | None]:
    """The name of the start and, if it was given, its centres."""
    if centres is None and labels is None:
        if not isinstance(start, str) or start not in STARTS:
            raise BadOption(
                f"start is {shown(start)}; allowed are {', '.join(STARTS)}, or give "
                "centres or labels"
            )
        return cast(Start, start), None
    if centres is not None and labels is not None:
        raise BadOption("centres and labels were both given; a fit starts from one of them")
    if centres is not None:
        return "given", _given_centres(rows, centres, metric)
    assert labels is not None
    names = labels_of(labels)
    if len(names) != rows.n:
        raise LabelLengthMismatch(f"{len(names)} labels to start from, for {rows.n} rows")
    k = len(set(names))
    for_centres(k, rows.d)
    scaled = unit_rows(rows, session, k, USUAL) if metric == "cosine" else rows
    return "labels", _directed(group_means(Rows(scaled, session, USUAL), names), metric)


def _given_centres(rows: Dataset, centres: Any, metric: Metric) -> CentreMatrix:
    features = rows.features
    if rows.kind == "sparse" and features is None:
        features = tuple(range(rows.d))
    given = dataset(centres, features=features) if rows.kind == "sparse" else dataset(centres)
    if given.kind != rows.kind and rows.kind == "dense":
        raise DimensionMismatch("the centres are sparse, the rows dense; give both in one form")
    if given.d != rows.d:
        raise DimensionMismatch(f"the centres have {given.d} components, the rows {rows.d}")
    return _directed(CentreMatrix.flat(_filled(given), given.d), metric)


def _filled(given: Dataset) -> array[float]:
    """All numbers of some rows, row after row, the zeros of sparse ones included."""
    matrix = given.matrix
    if isinstance(matrix, Dense):
        return array("d", matrix.values.tolist())
    values = array("d", bytes(8 * given.n * given.d))
    for i in range(given.n):
        for place in range(matrix.starts[i], matrix.starts[i + 1]):
            values[i * given.d + matrix.columns[place]] = matrix.values[place]
    return values


def _directed(centres: CentreMatrix, metric: Metric) -> CentreMatrix:
    """The centres to start from, all of which must have a direction under the cosine."""
    for k in range(len(centres)):
        if metric == "cosine" and not any(centres.row(k)):
            raise ZeroVector(f"centre {k} to start from is the zero vector: it has no direction")
    return centres
