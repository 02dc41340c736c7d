"""Metrics of one clustering as calls on rows, or proximities, and labels (CONV-EVIDENCE)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, overload

from refclust.backends.session import Session
from refclust.data.accepting.door import dataset, labels_of
from refclust.data.dataset import Dataset, Dense
from refclust.errors import BadOption, LabelLengthMismatch, NotSymmetric
from refclust.formulas.clustered import Clustered
from refclust.formulas.contingency import Count, without_noise
from refclust.formulas.vectors import Vector
from refclust.metrics import catalogue
from refclust.metrics.catalogue import Entry, Formula
from refclust.metrics.contingency import NO_NOISE, checked_policy, exact_weights
from refclust.metrics.score import Score, evaluate, evaluate_all

__all__ = ["InternalMetric", "clustered", "internal_scorer", "score_clustering"]


@dataclass(frozen=True, slots=True)
class InternalMetric:
    """A metric of one clustering, ready to be called on rows or proximities with labels."""

    entry: Entry

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


def score_clustering(
    rows: Any = None,
    labels: Any = None,
    *,
    profile: str | None = None,
    backend: str | None = None,
    heavy: bool | None = None,
    **keywords: Any,
) -> dict[str, Score]:
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
    session: Session | None = None,  # noqa: ARG001  (passes over rows and pairs will run on it)
) -> Clustered:
    """Rows, or proximities, with the cluster of each, checked; objects of weight 0 are left out.

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
    clusters = Clustered.of(_Rows(data), names, counts)
    if proximity is None:
        return clusters
    return Clustered(
        clusters.labels,
        clusters.clusters,
        None,
        _square(data, similarities=similarities),
        similarities,
        clusters.weights,
    )


class _Rows(Sequence[Vector]):
    """The rows of a data set as vectors, made when they are asked for."""

    def __init__(self, data: Dataset) -> None:
        self.data = data

    def __len__(self) -> int:
        return self.data.n

    @overload
    def __getitem__(self, i: int) -> Vector: ...

    @overload
    def __getitem__(self, i: slice) -> list[Vector]: ...

    def __getitem__(self, i: int | slice) -> Vector | list[Vector]:
        if isinstance(i, slice):
            return list(map(self.__getitem__, range(*i.indices(self.data.n))))
        return self.data.row(i)


def _names(data: Dataset, labels: Any) -> tuple[Hashable, ...]:
    names = data.labels if labels is None else labels_of(labels)
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
    names: tuple[Hashable, ...],
    counts: list[Count] | None,
    noise: Hashable,
    policy: str,
    proximity: Any,
) -> tuple[tuple[Hashable, ...], list[Count] | None, Dataset]:
    """Treat the objects that no cluster holds, as CT-NOISE does for two labelings."""
    if policy == "ignore":
        kept = [i for i, name in enumerate(names) if name != noise]
        return _selected(data, names, counts, kept, proximity)
    side, _, _ = without_noise(names, names, None, noise=noise, policy=policy)
    return tuple(side), counts, data


def _without_zeros(
    data: Dataset, names: tuple[Hashable, ...], counts: list[Count] | None, proximity: Any
) -> tuple[Dataset, tuple[Hashable, ...], list[Count] | None]:
    if counts is None or all(counts):
        return data, names, counts
    kept = [i for i, count in enumerate(counts) if count]
    names, counts, data = _selected(data, names, counts, kept, proximity)
    return data, names, counts


def _selected(
    data: Dataset,
    names: tuple[Hashable, ...],
    counts: list[Count] | None,
    kept: list[int],
    proximity: Any,
) -> tuple[tuple[Hashable, ...], list[Count] | None, Dataset]:
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
