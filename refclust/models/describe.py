"""What is in a cluster: size, spread, characteristic features, typical rows (chapter 12).

All sums are integers over powers of two, so orders are decided exactly and numbers rounded once.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import nsmallest
from operator import mul
from typing import Any

from refclust.backends.session import Provenance, Session
from refclust.cluster.directions import unit_rows
from refclust.cluster.objective import exact_within, rounded
from refclust.cluster.results import Centre, Centres
from refclust.data.accepting.door import dataset
from refclust.data.align import aligned
from refclust.data.dataset import Dataset
from refclust.errors import BadOption, CannotPredict
from refclust.fitting.checks import whole
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.kmeans import accumulate, squares
from refclust.kernels.clusters.means import means, residual
from refclust.kernels.points import Points, binary
from refclust.models.clusters import tree_of
from refclust.models.features import Trait, data_traits, model_traits
from refclust.models.nearest import predict
from refclust.models.records.clusters import (
    AgglomerativeModel,
    ClassifierModel,
    MixtureModel,
    Model,
)
from refclust.models.units import as_fitted
from refclust.numbers.nearest import nearest_sqrt
from refclust.numbers.real import Real, sqrt


@dataclass(frozen=True, slots=True)
class Typical:
    """A row near the centre of its cluster.

    Spec: DESC-NEAR
    """

    row: int
    name: str
    distance: float


@dataclass(frozen=True, slots=True)
class Portrait:
    """One cluster.

    Spec: DESC-SHARE, DESC-SPREAD
    """

    cluster: int
    size: Fraction
    share: float
    rss: float | None
    mean_square: float | None
    root_mean_square: float | None
    traits: tuple[Trait, ...]
    typical: tuple[Typical, ...]


@dataclass(frozen=True, slots=True)
class Description:
    """All clusters of a model, or of data under a model."""

    clusters: tuple[Portrait, ...]
    metric: str
    labels: array[int] | None  # with data only
    provenance: Provenance


def describe(
    model: Model,
    data: Any = None,
    *,
    top: int = 10,
    typical: int = 3,
    labels: Sequence[int] | None = None,
    backend: str | None = None,
    session: Session | None = None,
) -> Description:
    """Describe the clusters of a model, with data those of the rows that the model puts into them.

    The components of a mixture and the classes of a classifier need the labels of the data, too.

    Spec: DESC-SHARE, DESC-SPREAD, DESC-TOP, DESC-NEAR

    >>> from refclust.cluster.fit import kmeans
    >>> from refclust.models.clusters import model_of
    >>> model = model_of(kmeans([[0, 7], [2, 7], [9, 7]], centres=[[0, 7], [9, 7]]))
    >>> first = describe(model).clusters[0]
    >>> first.size, first.mean_square, [(one.mean, one.difference) for one in first.traits]
    (Fraction(2, 1), 1.0, [(1.0, -2.6666666666666665)])
    """
    whole("top", top, 0)
    whole("typical", typical, 0)
    session = Session(backend) if session is None else session
    if data is None:
        return _of_model(model, top, session)
    prepared = as_fitted(model, data)
    rows, clusters, centres = _assigned(model, dataset(prepared), labels, session)
    return _of_data(rows, clusters, centres, _metric(model), top, typical, session)


def _of_model(model: Model, top: int, session: Session) -> Description:
    if isinstance(model, AgglomerativeModel):
        sizes = [Fraction(size) for size in _counts(_cut_labels(model))]
        portraits = [_portrait(k, sizes, None, (), ()) for k in range(len(sizes))]
    elif isinstance(model, MixtureModel | ClassifierModel):
        sizes, sparse = [*map(Fraction, model.fitted.sizes)], model.data.kind == "sparse"
        middles = model.fitted.parameters.middles
        known = model.data
        traits = model_traits(sizes, middles, known.features, sparse, top, known.preparation)
        portraits = [_portrait(k, sizes, None, traits[k], ()) for k in range(len(sizes))]
    else:
        fitted, sparse = model.fitted, model.data.kind == "sparse"
        known = model.data
        traits = model_traits(
            fitted.sizes, fitted.centres, known.features, sparse, top, known.preparation
        )
        within = [Fraction(rss) for rss in fitted.within]
        portraits = [
            _portrait(k, fitted.sizes, within[k], traits[k], ()) for k in range(len(fitted.centres))
        ]
    return Description(tuple(portraits), _metric(model), None, session.provenance())


def _metric(model: Model) -> str:
    """How far a row is from the centre of its cluster; that of a component is its mean."""
    return getattr(model.params, "metric", "euclidean")


def _of_data(
    data: Dataset,
    labels: array[int],
    centres: Centres,
    metric: str,
    top: int,
    typical: int,
    session: Session,
) -> Description:
    # The reference does these passes: with its powers of two all sums fit together.
    points, k = Points(data), len(centres)
    sums = accumulate(points, labels, k)
    within = exact_within(squares(points, labels, k), residual(points, sums, centres))
    sizes = [sums.weight(i) for i in range(k)]
    traits = data_traits(data, points, sums, top)
    near = [_typical(data, points, labels, i, centres[i], metric, typical) for i in range(k)]
    portraits = [_portrait(i, sizes, within[i], traits[i], near[i]) for i in range(k)]
    return Description(tuple(portraits), metric, labels, session.provenance())


def _portrait(
    k: int,
    sizes: Sequence[Fraction],
    rss: Fraction | None,
    traits: tuple[Trait, ...],
    near: tuple[Typical, ...],
) -> Portrait:
    size = sizes[k]
    average = None if rss is None or not size else rss / size
    root = None if average is None else nearest_sqrt(average.numerator, average.denominator)
    return Portrait(
        cluster=k,
        size=size,
        share=rounded(size / sum(sizes)),
        rss=None if rss is None else rounded(rss),
        mean_square=None if average is None else rounded(average),
        root_mean_square=root,
        traits=traits,
        typical=near,
    )


# -- which rows -----------------------------------------------------------------------------------


def _assigned(
    model: Model, data: Dataset, labels: Sequence[int] | None, session: Session
) -> tuple[Dataset, array[int], Centres]:
    """The rows as the model sees them, their clusters, and the centres of those."""
    if isinstance(model, AgglomerativeModel):
        return _of_tree(model, data)
    rows, _ = aligned(data, model.data.features, model.data.d)
    if isinstance(model, MixtureModel | ClassifierModel):
        if labels is None:
            raise BadOption("the rows of a mixture are described with their labels: labels=...")
        clusters = array("i", labels)
        return rows, clusters, _centres(rows, clusters, len(model.fitted.sizes))
    clusters = predict(model, rows, session=session).labels
    seen = unit_rows(rows, session) if model.params.metric == "cosine" else rows
    return seen, clusters, model.fitted.centres


def _of_tree(model: AgglomerativeModel, data: Dataset) -> tuple[Dataset, array[int], Centres]:
    labels = array("i", _cut_labels(model))
    if model.data.kind == "distances":
        raise BadOption("the tree was made of distances; its clusters have no features to describe")
    if data.digest() != model.data.digest:
        raise CannotPredict(
            "a tree of merges has no rule for new rows; these are other data than those of its fit"
        )
    seen = unit_rows(data) if model.params.metric == "cosine" else data
    return seen, labels, _centres(seen, labels, max(labels) + 1)


def _centres(data: Dataset, labels: array[int], k: int) -> Centres:
    """The means of some groups of rows."""
    points = Points(data)
    flat = means(points, accumulate(points, labels, k))
    return CentreMatrix.flat(flat, data.d).rows()


def _cut_labels(model: AgglomerativeModel) -> tuple[int, ...]:
    labels = tree_of(model).labels
    if labels is None:
        raise BadOption("the tree was not cut, so there are no clusters; fit it with k or a height")
    return labels


def _counts(labels: Sequence[int]) -> list[int]:
    counts = [0] * (max(labels) + 1)
    for label in labels:
        counts[label] += 1
    return counts


def _typical(
    data: Dataset,
    points: Points,
    labels: Sequence[int],
    k: int,
    centre: Centre,
    metric: str,
    count: int,
) -> tuple[Typical, ...]:
    """The rows nearest to the centre of their cluster.

    Spec: DESC-NEAR
    """
    c, t = binary(centre)
    cc: int = sum(map(mul, c, c))
    s = points.shift
    members = [i for i, label in enumerate(labels) if label == k]
    if metric == "cosine":
        if not cc:
            return ()

        def signed(i: int) -> Fraction:
            product = points.product(i, c)
            return Fraction(product * abs(product), points.squares[i] * cc)

        def far(i: int) -> float:
            square = signed(i)
            cosine = sqrt(Real(abs(square)))
            return float(1 + cosine if square < 0 else 1 - cosine)

        chosen = nsmallest(count, members, key=lambda i: (-signed(i), i))
    else:

        def square(i: int) -> int:
            cross: int = points.product(i, c) << (s + t + 1)
            own: int = points.squares[i] << 2 * t
            return own - cross + (cc << 2 * s)

        def far(i: int) -> float:
            return nearest_sqrt(square(i), 1 << 2 * (s + t))

        chosen = nsmallest(count, members, key=lambda i: (square(i), i))
    return tuple(Typical(i, data.row_name(i), far(i)) for i in chosen)
