"""K-means from any data: the call, where it starts, and the door (chapter 10).

``kmeans_steps`` hands out the iterations, ``kmeans`` runs them to the end.
"""

from __future__ import annotations

from array import array
from typing import Any, cast

from refclust.backends.session import Session
from refclust.cluster.directions import unit_rows
from refclust.cluster.kmeans import USUAL, LloydSteps
from refclust.cluster.options import KMeansCall, KMeansOptions, Metric, Start
from refclust.cluster.results import KMeansFit
from refclust.cluster.seeding import group_means, usual_trials
from refclust.data.accepting.door import dataset, labels_of
from refclust.data.dataset import Dataset, Dense
from refclust.errors import BadOption, DimensionMismatch, LabelLengthMismatch, ZeroVector
from refclust.fitting.checks import clusters
from refclust.fitting.memory import for_centres
from refclust.fitting.options import LEFT_OPEN, takes
from refclust.fitting.rows import Rows
from refclust.kernels.centres import CentreMatrix
from refclust.numbers.reading import shown


@takes(KMeansCall)
def kmeans_steps(call: KMeansCall) -> LloydSteps:
    """Begin a k-means fit and return its iterations.

    Spec: KM-ALG

    >>> [state.iteration.rss for state in kmeans_steps([[0], [1], [9]], centres=[[0], [1]])]
    [64.0, 17.0, 0.5]
    """
    rows = dataset(call.data, weights=call.weights)
    session = call.session or Session(call.backend)
    start, centres = _start(call, rows, session)
    if centres is not None and isinstance(call.k, int) and call.k != len(centres):
        raise BadOption(
            f"k is {shown(call.k)}, but {len(centres)} centres were given to start from"
        )
    k = clusters(len(centres) if centres is not None and call.k is None else call.k, rows.n)
    trials = call.trials
    if trials is None and start == "greedy" and call.start is LEFT_OPEN:
        trials = 2 * usual_trials(k)
    options = call.become(KMeansOptions, k=k, start=start, trials=trials)
    return LloydSteps(rows, options, centres, session, call.checkpoint)


@takes(KMeansCall)
def kmeans(call: KMeansCall) -> KMeansFit:
    """Cluster rows by k-means and return the best of all runs.

    Spec: KM-ALG, KM-RESTART

    >>> fit = kmeans([[0, 0], [0, 1], [4, 0], [4, 1]], centres=[[0, 0], [4, 0]])
    >>> fit.labels.tolist(), fit.rss, fit.stopped
    ([0, 0, 1, 1], 1.0, 'unchanged')
    """
    steps = kmeans_steps(**vars(call))
    for _ in steps:
        pass
    return steps.result()


def _start(call: KMeansCall, rows: Dataset, session: Session) -> tuple[Start, CentreMatrix | None]:
    """The name of the start and, unless it is drawn, its centres."""
    if call.centres is not None:
        return "given", _aligned(rows, call.centres, call.metric)
    if call.labels is None:
        return "greedy" if call.start is LEFT_OPEN else cast(Start, call.start), None
    names = labels_of(call.labels)
    if len(names) != rows.n:
        raise LabelLengthMismatch(f"{len(names)} labels to start from, for {rows.n} rows")
    k = len(set(names))
    for_centres(k, rows.d)
    scaled = unit_rows(rows, session, k, USUAL) if call.metric == "cosine" else rows
    return "labels", _directed(group_means(Rows(scaled, session, USUAL), names), call.metric)


def _aligned(rows: Dataset, centres: Any, metric: Metric) -> CentreMatrix:
    """Centres to start from, over the features of the rows."""
    features = rows.features
    if rows.kind == "sparse" and features is None:
        features = tuple(range(rows.d))
    starts = dataset(centres, features=features) if rows.kind == "sparse" else dataset(centres)
    if starts.kind != rows.kind and rows.kind == "dense":
        raise DimensionMismatch("the centres are sparse, the rows dense; give both in one form")
    if starts.d != rows.d:
        raise DimensionMismatch(f"the centres have {starts.d} components, the rows {rows.d}")
    return _directed(CentreMatrix.flat(_filled(starts), starts.d), metric)


def _filled(rows: Dataset) -> array[float]:
    """All numbers of some rows, row after row, the zeros of sparse ones included."""
    matrix = rows.matrix
    if isinstance(matrix, Dense):
        return array("d", matrix.values.tolist())
    values = array("d", bytes(8 * rows.n * rows.d))
    for i in range(rows.n):
        for place in range(matrix.starts[i], matrix.starts[i + 1]):
            values[i * rows.d + matrix.columns[place]] = matrix.values[place]
    return values


def _directed(centres: CentreMatrix, metric: Metric) -> CentreMatrix:
    """The centres to start from, all of which must have a direction under the cosine."""
    for k in range(len(centres)):
        if metric == "cosine" and not any(centres.row(k)):
            raise ZeroVector(f"centre {k} to start from is the zero vector: it has no direction")
    return centres
