"""Metrics of one clustering as calls on rows, or proximities, and labels (CONV-EVIDENCE)."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import ne
from typing import Any, overload

from refclust.backends.session import Session
from refclust.data.accepting.door import dataset, labels_of
from refclust.data.accepting.spellings import spelled
from refclust.data.dataset import Dataset, Dense, readonly
from refclust.errors import BadOption, LabelLengthMismatch, NotSymmetric
from refclust.formulas.clustered import Clustered
from refclust.formulas.contingency import Count, ordered_labels, without_noise
from refclust.formulas.vectors import Vector
from refclust.metrics import catalogue
from refclust.metrics.catalogue import Entry, Formula
from refclust.metrics.contingency import (
    NO_NOISE,
    checked_policy,
    contingency,
    exact_weights,
    label_sequence,
)
from refclust.metrics.drawn import Scores
from refclust.metrics.moments import LEAST, Moments
from refclust.metrics.passes.kernels import LEAST as LEAST_PAIRED
from refclust.metrics.passes.kernels import KernelPasses
from refclust.metrics.score import Score, evaluate, evaluate_all

__all__ = ["InternalMetric", "clustered", "internal_scorer", "score_clustering"]


@dataclass(frozen=True, slots=True)
class InternalMetric:
    """A metric of one clustering, ready to be called on rows or proximities with labels."""

    entry: Entry

    @spelled
    def __call__(
        self,
        rows: Any = None,
        labels: Any = None,
        *,
        proximity: Any = None,
        similarities: bool = False,
        weights: Iterable[Any] | None = None,
        noise: Hashable = NO_NOISE,
        noise_policy: str | None = None,
        profile: str | None = None,
        backend: str | None = None,
        **options: Any,
    ) -> Score:
        """Score the clusters of rows, or of objects whose proximities are known."""
        session = Session(backend)
        evidence = clustered(
            rows,
            labels,
            proximity=proximity,
            similarities=similarities,
            weights=weights,
            noise=noise,
            noise_policy=noise_policy,
            session=session,
        )
        return evaluate(self.entry, evidence, options, profile=profile, session=session)

    def __repr__(self) -> str:
        return f"<refclust metric {self.entry.name}>"


def internal_scorer(formula: Formula) -> InternalMetric:
    """Return the metric of one clustering that a formula declares."""
    return InternalMetric(catalogue.ENTRIES[formula.__name__])


@spelled
def score_clustering(
    rows: Any = None,
    labels: Any = None,
    *,
    profile: str | None = None,
    backend: str | None = None,
    heavy: bool | None = None,
    **keywords: Any,
) -> Scores:
    """Score one clustering with every metric that rows, or proximities, allow.

    Spec: CONV-SCORE
    """
    session = Session(backend)
    evidence = clustered(rows, labels, session=session, **keywords)
    return evaluate_all(evidence, profile=profile, heavy=heavy, session=session)


def clustered(
    rows: Any = None,
    labels: Any = None,
    *,
    proximity: Any = None,
    similarities: bool = False,
    weights: Iterable[Any] | None = None,
    noise: Hashable = NO_NOISE,
    noise_policy: str | None = None,
    session: Session | None = None,
) -> Clustered:
    """Rows, or proximities, with the cluster of each, checked; objects of weight 0 are left out.

    Above a few dozen rows sums and extremes over pairs are found by passes (KER-DISTSUM and
    others), which kernels of the session make where exact ones would take too long.

    Spec: CONV-EVIDENCE, CT-NOISE, CT-WEIGHT

    >>> clustered([[0], [1], [5]], ["a", "a", "b"]).sizes
    (2, 1)
    """
    if (rows is None) == (proximity is None):
        raise BadOption("give either rows or proximity, and the labels of the clusters")
    if similarities and proximity is None:
        raise BadOption("similarities=True says what proximity holds; rows have distances")
    data = dataset(rows if proximity is None else proximity)
    names = _names(data, labels)
    counts = _weights(data, weights)
    if noise is not NO_NOISE or noise_policy is not None:
        policy = checked_policy(noise, noise_policy)
        names, counts, data = _without_noise(data, names, counts, noise, policy, proximity)
    data, names, counts = _without_zeros(data, names, counts, proximity)
    numbers, clusters, sizes = _numbered(names, session)
    known = None if counts is None else tuple(counts)
    if proximity is not None:
        square = _square(data, similarities=similarities)
        return Clustered(numbers, clusters, None, square, similarities, known)
    moments = _moments(data, numbers, clusters, known, session)
    passes = None
    if data.n > LEAST_PAIRED:
        sums = None if moments is None else moments.cluster_sums
        passes = KernelPasses(
            data, numbers, len(clusters), known, session, totals=sums, sizes=sizes
        )
        if moments is not None:
            moments.quick_squares = passes.quick_squares
    return Clustered(
        numbers,
        clusters,
        _LazyRows(data),
        weights=known,
        passes=passes,
        columns=None if data.kind == "dense" else range(data.d),
        moments=moments,
    )


def _numbered(
    names: Sequence[Hashable], session: Session | None
) -> tuple[Sequence[int], tuple[Hashable, ...], tuple[int, ...] | None]:
    """The number of each object's cluster, what clusters are called, their rows if known."""
    sizes = None
    if isinstance(names, memoryview):
        table = contingency(names, names, session=session)
        clusters, sizes = table.clusters, tuple(map(int, table.row))
        if clusters == tuple(range(len(clusters))):  # they are such numbers already
            return names if names.format == "i" else array("i", names), clusters, sizes
    else:
        clusters = ordered_labels(names)
    number = {cluster: k for k, cluster in enumerate(clusters)}
    return array("i", map(number.__getitem__, names)), clusters, sizes


def _moments(
    data: Dataset,
    numbers: Sequence[int],
    clusters: Sequence[Hashable],
    counts: tuple[Count, ...] | None,
    session: Session | None,
) -> Moments | None:
    """Sums by kernels, where there are many rows and their weights are doubles."""
    if data.n < LEAST:
        return None
    rows = data  # the same object, if it will do: it is neither checked nor made ready twice
    if counts is not None:
        try:
            weights = array("d", map(float, counts))
        except OverflowError:
            return None
        if any(map(ne, weights, counts)):
            return None
        rows = replace(data, weights=readonly(weights))
    elif data.weights is not None:
        rows = replace(data, weights=None)
    return Moments(rows, numbers, len(clusters), session or Session())


class _LazyRows(Sequence[Vector]):
    """The rows of a data set as vectors, made when they are asked for."""

    def __init__(self, data: Dataset) -> None:
        self.data = data

    def __len__(self) -> int:
        return self.data.n

    def __iter__(self) -> Iterator[Vector]:
        return self.data.rows()

    @overload
    def __getitem__(self, i: int) -> Vector: ...

    @overload
    def __getitem__(self, i: slice) -> list[Vector]: ...

    def __getitem__(self, i: int | slice) -> Vector | list[Vector]:
        if isinstance(i, slice):
            return list(map(self.__getitem__, range(*i.indices(self.data.n))))
        if not -self.data.n <= i < self.data.n:
            raise IndexError(f"row {i} of {self.data.n}")
        return self.data.row(i % self.data.n)


def _names(data: Dataset, labels: Any) -> Sequence[Hashable]:
    names: Sequence[Hashable] | None = data.labels
    if labels is not None:
        names = label_sequence(labels)
        if not isinstance(names, memoryview):  # which holds integers
            names = labels_of(labels)
    if names is None:
        raise BadOption("the labels of the clusters are missing: one for each row")
    if len(names) != data.n:
        raise LabelLengthMismatch(f"{len(names)} labels for {data.n} rows; one for each is due")
    return names


def _weights(data: Dataset, weights: Iterable[Any] | None) -> list[Count] | None:
    if weights is None:
        weights = data.weights
    return None if weights is None else exact_weights(weights, data.n)


def _without_noise(
    data: Dataset,
    names: Sequence[Hashable],
    counts: list[Count] | None,
    noise: Hashable,
    policy: str,
    proximity: Any,
) -> tuple[Sequence[Hashable], list[Count] | None, Dataset]:
    """Treat the objects that no cluster holds, as CT-NOISE does for two labelings."""
    if policy == "ignore":
        kept = [i for i, name in enumerate(names) if name != noise]
        return _selected(data, names, counts, kept, proximity)
    side, _, _ = without_noise(names, names, None, noise=noise, policy=policy)
    return tuple(side), counts, data


def _without_zeros(
    data: Dataset, names: Sequence[Hashable], counts: list[Count] | None, proximity: Any
) -> tuple[Dataset, Sequence[Hashable], list[Count] | None]:
    if counts is None or all(counts):
        return data, names, counts
    kept = [i for i, count in enumerate(counts) if count]
    names, counts, data = _selected(data, names, counts, kept, proximity)
    return data, names, counts


def _selected(
    data: Dataset,
    names: Sequence[Hashable],
    counts: list[Count] | None,
    kept: list[int],
    proximity: Any,
) -> tuple[Sequence[Hashable], list[Count] | None, Dataset]:
    rows = data.select(kept)
    if proximity is not None:
        rows = dataset([[row[j] for j in kept] for row in rows.rows()])
    return (
        tuple(names[i] for i in kept),
        None if counts is None else [counts[i] for i in kept],
        rows,
    )


def _square(data: Dataset, *, similarities: bool) -> Sequence[Sequence[float]]:
    """The rows of a symmetric matrix, of distances one that can be; or where it is none."""
    matrix, n = data.matrix, data.n
    if not isinstance(matrix, Dense) or data.d != n:
        raise NotSymmetric(
            f"the proximities have {n} rows and {data.d} columns; a dense square matrix is needed"
        )
    rows = [tuple(matrix.values[i * n : (i + 1) * n]) for i in range(n)]
    for i, (row, column) in enumerate(zip(rows, zip(*rows, strict=True), strict=True)):
        if row != column:
            j = next(j for j in range(n) if row[j] != column[j])
            raise NotSymmetric(
                f"the proximities of objects {i} and {j} differ: {row[j]!r} in row {i}, "
                f"{column[j]!r} in row {j}"
            )
        if not similarities and (row[i] != 0 or min(row) < 0):
            j = i if row[i] else row.index(min(row))
            raise NotSymmetric(
                f"the distance of objects {i} and {j} is {row[j]!r}; none is negative, and an "
                "object is 0 away from itself (similarities=True says that large means close)"
            )
    return rows
