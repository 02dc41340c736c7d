"""New rows into the clusters of a fit or a model (chapter 11, MODEL-PREDICT)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from refclust.backends.protocol import Problem
from refclust.backends.session import Provenance, Session
from refclust.cluster.directions import unit_rows
from refclust.cluster.results import BisectingFit, Centre, Centres, KMeansFit, Metric
from refclust.cluster.tree import Tree
from refclust.data.accepting.door import dataset
from refclust.data.align import aligned
from refclust.data.dataset import Dataset, SparseRow
from refclust.data.exact import ExactVector, inner, read_vector
from refclust.errors import CannotPredict, KOutOfRange, LabelLengthMismatch, ZeroVector
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.kmeans import copied
from refclust.models.clusters import Fit, model_of
from refclust.models.records.clusters import (
    AgglomerativeModel,
    BisectingModel,
    ClusterModel,
    KMeansModel,
)
from refclust.models.units import as_fitted
from refclust.numbers.nearest import nearest_sqrt
from refclust.numbers.real import Real, sqrt


@dataclass(frozen=True, slots=True)
class Prediction:
    """The cluster of every new row, and how many of their features the model does not know.

    Spec: MODEL-PREDICT
    """

    labels: array[int]
    unseen: int
    provenance: Provenance


def predict(
    model: ClusterModel | Fit,
    data: Any,
    *,
    backend: str | None = None,
    session: Session | None = None,
) -> Prediction:
    """Put every row to its nearest centre, or send it down the tree of splits.

    Spec: MODEL-PREDICT

    >>> from refclust.cluster.fit import kmeans
    >>> fit = kmeans([[0, 0], [0, 1], [4, 0], [4, 1]], centres=[[0, 0], [4, 0]])
    >>> predict(fit, [[3, 7], [2, 0]]).labels.tolist()
    [1, 0]
    """
    known = _with_rule(model)
    session = Session(backend) if session is None else session
    rows, unseen = _rows(known, data, session)
    if isinstance(known, KMeansModel):
        labels = _nearest(session, rows, known.fitted.centres, known.params.metric)
    else:
        labels = _descended(session, rows, known)
    return Prediction(labels, unseen, session.provenance())


def distances(model: ClusterModel | Fit, data: Any, labels: Sequence[int]) -> array[float]:
    """How far each row is from the centre of the cluster it was put into.

    Spec: MODEL-DIST

    >>> from refclust.cluster.fit import kmeans
    >>> fit = kmeans([[0, 0], [0, 1], [4, 0], [4, 1]], centres=[[0, 0], [4, 0]])
    >>> distances(fit, [[3, 7], [0, 0.5]], [1, 0])
    array('d', [6.576473218982953, 0.0])
    """
    known = _with_rule(model)
    rows, _ = _rows(known, data, Session())
    if len(labels) != rows.n:
        raise LabelLengthMismatch(f"{len(labels)} labels for {rows.n} rows; one for each is due")
    k = len(known.fitted.centres)
    centres: dict[int, ExactVector] = {}
    lengths = array("d")
    for i, label in enumerate(labels):
        if not 0 <= label < k:
            raise KOutOfRange(f"row {i} has the label {label}; the model has 0 to {k - 1}")
        row = rows.row(i)
        if label not in centres:
            centre = known.fitted.centres[label]
            centres[label] = read_vector(_like(row, centre), f"the centre of cluster {label}")
        point, own_centre = read_vector(row, f"row {rows.row_name(i)}"), centres[label]
        if known.params.metric == "cosine":
            lengths.append(_cosine_distance(point, own_centre))
        else:
            lengths.append(_distance(point, own_centre))
    return lengths


def _with_rule(model: ClusterModel | Fit) -> KMeansModel | BisectingModel:
    if isinstance(model, Tree | AgglomerativeModel):
        raise CannotPredict(
            "a tree of merges has no rule for new rows; cut it, and fit k-means that starts from "
            "the labels of the cut: kmeans(data, labels=...)"
        )
    known = model_of(model) if isinstance(model, KMeansFit | BisectingFit) else model
    assert not isinstance(known, AgglomerativeModel)
    return known


def _rows(model: KMeansModel | BisectingModel, data: Any, session: Session) -> tuple[Dataset, int]:
    rows, unseen = aligned(dataset(as_fitted(model, data)), model.data.features, model.data.d)
    # Unknown features are dropped before rows are scaled: they would change the length of a row
    # but not the order of its cosines with the centres, which have none of them.
    cosine = model.params.metric == "cosine"
    return unit_rows(rows, session, model.params.k) if cosine else rows, unseen


def _nearest(session: Session, rows: Dataset, centres: Centres, metric: Metric) -> array[int]:
    problem = Problem(rows.kind, rows.n, len(rows.matrix.values), len(centres))
    labels = session.run("kmeans.assign", problem, rows, CentreMatrix.of(centres), metric)
    return labels if isinstance(labels, array) else copied(labels)


def _descended(session: Session, rows: Dataset, model: BisectingModel) -> array[int]:
    """Send all rows down the tree together, so that each split is one call of a kernel."""
    labels = array("i", bytes(4 * rows.n))
    splits = model.fitted.splits
    todo: list[tuple[int, Sequence[int]]] = [(0, range(rows.n))] if splits else []
    while todo:
        place, members = todo.pop()
        split = splits[place]
        chosen = rows if len(members) == rows.n else rows.select(members)
        sides = _nearest(session, chosen, split.centres, model.params.metric)
        if chosen is not rows:
            session.release(chosen)  # no other split sees these rows
        for side, child in enumerate(split.children):
            below = [i for i, went in zip(members, sides, strict=True) if went == side]
            if child.kind == "cluster":
                for i in below:
                    labels[i] = child.index
            elif below:
                todo.append((child.index, below))
    return labels


def _like(row: tuple[float, ...] | SparseRow, centre: Centre) -> tuple[float, ...] | SparseRow:
    """The centre in the form of a row: with its zeros, or without."""
    return {j: x for j, x in enumerate(centre) if x} if isinstance(row, dict) else centre


def _distance(x: ExactVector, c: ExactVector) -> float:
    p, q = x.denominator, c.denominator
    square = inner(x, x) * q * q - 2 * inner(x, c) * p * q + inner(c, c) * p * p
    return nearest_sqrt(square, (p * q) ** 2)


def _cosine_distance(x: ExactVector, c: ExactVector) -> float:
    """One minus the cosine, rounded once; the denominators cancel."""
    xc, cc = inner(x, c), inner(c, c)
    if not cc:
        raise ZeroVector(f"{c.name} is the zero vector, which has no direction")
    cosine = sqrt(Real(Fraction(xc * xc, inner(x, x) * cc)))
    return float(1 + cosine if xc < 0 else 1 - cosine)
