"""Choosing the number of clusters of k-means, by the gap statistic or the elbow (chapter 34)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from refclust.backends.session import Session
from refclust.cluster.fit import kmeans
from refclust.cluster.objective import rounded
from refclust.cluster.options import KMeansCall
from refclust.cluster.results import KMeansFit
from refclust.data.accepting.door import dataset
from refclust.errors import BadOption, DataError
from refclust.fitting.rows import Rows
from refclust.mixture.choosing import gap
from refclust.mixture.choosing.options import Criterion, Watcher
from refclust.mixture.choosing.table import Candidate, Selection, failed, shown

_LEAST_FOR_ELBOW: Final = 3


def select_kmeans(
    call: KMeansCall,
    ks: Sequence[int],
    criterion: Criterion,
    references: int,
    watch: Watcher,
) -> Selection:
    """Cluster the rows of a call for every K, and choose by the rule of the criterion.

    Spec: KM-KSEL, MS-GAP, MS-ELBOW
    """
    ks = sorted(ks)
    if criterion == "gap":
        gap.check_range(ks)
    elif len(ks) < _LEAST_FOR_ELBOW:
        raise BadOption(f"an elbow needs at least three numbers of clusters; {len(ks)} were given")
    steps = len(ks) + (references if criterion == "gap" else 0)
    seen = _fitted(call, ks, watch, steps)
    if criterion == "elbow":
        return _by_elbow(seen)
    logs: list[list[float]] = []
    rows = Rows(dataset(call.data), call.session or Session())
    for curve in gap.reference_curves(rows, ks, references, call):
        logs.append(curve)
        watch(len(ks) + len(logs), steps, f"reference set {len(logs)}")
    return _by_gap(seen, logs)


class _Seen:
    """All K with their candidates and, where there is one, their fit."""

    def __init__(self) -> None:
        self.candidates: list[Candidate] = []
        self.fits: list[KMeansFit | None] = []

    def selection(
        self, criterion: Criterion, values: Sequence[dict[str, float]], chosen: int | None, why: str
    ) -> Selection:
        candidates = tuple(
            replace(candidate, values={**candidate.values, **more})
            for candidate, more in zip(self.candidates, values, strict=True)
        )
        fit = None if chosen is None else self.fits[chosen]
        return Selection("kmeans", criterion, candidates, chosen, why, fit)


def _fitted(call: KMeansCall, ks: Sequence[int], watch: Watcher, steps: int) -> _Seen:
    seen, first = _Seen(), None
    for k in ks:
        try:
            fit = kmeans(**vars(replace(call, k=k)))
        except DataError as error:
            first = first or error
            seen.candidates.append(failed(k, None, error))
            seen.fits.append(None)
        else:
            values = {"rss": fit.rss}
            seen.candidates.append(Candidate(k, iterations=fit.iterations, values=values))
            seen.fits.append(fit)
        watch(len(seen.fits), steps, seen.candidates[-1].name)
    if first is not None and not any(seen.fits):
        raise first
    return seen


def _by_gap(seen: _Seen, logs: Sequence[Sequence[float]]) -> Selection:
    curve = [None if fit is None else gap.log_rss(gap.rss_of(fit)) for fit in seen.fits]
    gaps = gap.gaps(curve, logs)
    values = [{} if own is None else {"gap": own.value, "gap-error": own.error} for own in gaps]
    chosen = gap.first_gap(gaps)
    if chosen is None:
        why = "no K has a gap that is at least the next one less its error: none is chosen"
        return seen.selection("gap", values, None, why)
    own, following = gaps[chosen], gaps[chosen + 1]
    assert own is not None
    assert following is not None
    k = seen.candidates[chosen].k
    why = (
        f"the first K whose gap, {shown('gap', own.value)}, is at least that of K = {k + 1} less "
        f"its error, {shown('gap', following.value)} - {shown('gap', following.error)}"
    )
    return seen.selection("gap", values, chosen, why)


def _by_elbow(seen: _Seen) -> Selection:
    curve = [
        (candidate.k, gap.rss_of(fit))
        for candidate, fit in zip(seen.candidates, seen.fits, strict=True)
        if fit is not None
    ]
    heights = gap.elbow_heights(curve) if len(curve) >= _LEAST_FOR_ELBOW else None
    if heights is None:
        why = "RSS does not fall over at least three numbers of clusters: no elbow, none is chosen"
        return seen.selection("elbow", [{} for _ in seen.fits], None, why)
    height: dict[int, Fraction] = {k: x for (k, _), x in zip(curve, heights, strict=True)}
    values = [
        {"elbow": rounded(height[candidate.k])} if candidate.k in height else {}
        for candidate in seen.candidates
    ]
    k = gap.elbow(curve)
    chosen = next(i for i, candidate in enumerate(seen.candidates) if candidate.k == k)
    why = (
        "RSS lies farthest below the line between its ends, "
        f"by {shown('elbow', values[chosen]['elbow'])} of its fall"
    )
    return seen.selection("elbow", values, chosen, why)
