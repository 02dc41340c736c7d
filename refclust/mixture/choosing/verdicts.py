"""What each criterion says about clusterings into K = a, ..., b clusters (chapter 34)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from refclust.cluster.objective import rounded
from refclust.mixture.choosing import gap
from refclust.mixture.choosing.table import Verdict, shown

_LEAST_FOR_ELBOW: Final = 3


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, and what was worked out for it: values by their names, for every candidate."""

    verdict: Verdict
    values: Sequence[Mapping[str, float]]


def by_value(
    criterion: str, ks: Sequence[int], values: Sequence[float | Fraction | None], better: str
) -> Judgement:
    """Choose the best value; of equals the fewest clusters, by stability the most.

    Spec: MS-BEST, MS-STAB

    >>> by_value("silhouette", [1, 2, 3], [None, 0.5, 0.25], "higher").verdict.why
    'largest silhouette 0.5000; next K = 3 at 0.2500'
    """
    sign, many = (-1 if better == "higher" else 1), (-1 if criterion == "stability" else 1)
    places = sorted(
        (place for place, value in enumerate(values) if value is not None),
        key=lambda place: (sign * (values[place] or 0), many * ks[place]),
    )
    doubles = [None if value is None else _double(value) for value in values]
    criteria = [{} if value is None else {criterion: value} for value in doubles]
    if not places:
        why = f"{criterion} has no value for any of these numbers of clusters"
        return Judgement(Verdict(criterion, None, why), criteria)
    best = doubles[places[0]]
    assert best is not None
    superlative = "largest" if better == "higher" else "smallest"
    why = f"{superlative} {criterion} {shown(criterion, best)}"
    if len(places) > 1:
        following = doubles[places[1]]
        assert following is not None
        tie = values[places[1]] == values[places[0]]
        other = f"K = {ks[places[1]]}"
        why += f"; so has {other}" if tie else f"; next {other} at {shown(criterion, following)}"
    return Judgement(Verdict(criterion, places[0], why), criteria)


def by_gap(
    ks: Sequence[int], rss: Sequence[Fraction | None], logs: Sequence[Sequence[float]], rule: str
) -> Judgement:
    """Choose by a rule of the gap statistic.

    Spec: MS-GAP, MS-GAPRULE
    """
    curve = [None if left is None else gap.log_rss(left) for left in rss]
    gaps = gap.gaps(curve, logs)
    values = [{} if own is None else {"gap": own.value, "gap-error": own.error} for own in gaps]
    chosen = gap.chosen_gap(gaps, rule)
    known = [own for own in gaps if own is not None]
    if chosen is not None:
        reach = _at_once(ks, known, chosen) if rule == "Tibs2001SEmax" else None
        why = reach or _near_peak(ks, known, chosen, rule)
    elif len(known) < 2:
        why = "fewer than two numbers of clusters have a gap: none is chosen"
    else:
        why = "no K has a gap that is at least the next one less its error: none is chosen"
    return Judgement(Verdict("gap", chosen, f"{why} ({rule})"), values)


def _at_once(ks: Sequence[int], gaps: Sequence[gap.Gap], chosen: int) -> str:
    following = gaps[chosen + 1]
    return (
        f"the first K whose gap, {shown('gap', gaps[chosen].value)}, is at least that of "
        f"K = {ks[chosen + 1]} less its error, {shown('gap', following.value)} - "
        f"{shown('gap', following.error)}"
    )


def _near_peak(ks: Sequence[int], gaps: Sequence[gap.Gap], chosen: int, rule: str) -> str:
    peak = gap.chosen_gap(gaps, rule.replace("SEmax", "max"))
    assert peak is not None
    height = shown("gap", gaps[peak].value)
    which = "the largest gap" if rule.startswith("global") else "the first maximum of the gap"
    end = f"; K = {ks[peak]} is the last one that has a gap, more may be better"
    more = end if peak == len(gaps) - 1 else ""
    if chosen == peak:
        return f"{which}, {height}{more}"
    return (
        f"the first K whose gap, {shown('gap', gaps[chosen].value)}, is within the error of "
        f"{which}, {height} - {shown('gap', gaps[peak].error)} at K = {ks[peak]}{more}"
    )


def by_elbow(ks: Sequence[int], rss: Sequence[Fraction | None]) -> Judgement:
    """Choose the elbow of the residual sums of squares.

    Spec: MS-ELBOW
    """
    curve = [(k, left) for k, left in zip(ks, rss, strict=True) if left is not None]
    heights = gap.elbow_heights(curve) if len(curve) >= _LEAST_FOR_ELBOW else None
    if heights is None:
        why = "RSS does not fall over at least three numbers of clusters: no elbow, none is chosen"
        return Judgement(Verdict("elbow", None, why), [{} for _ in ks])
    height = {k: rounded(x) for (k, _), x in zip(curve, heights, strict=True)}
    values = [{"elbow": height[k]} if k in height else {} for k in ks]
    k = gap.elbow(curve)
    assert k is not None
    why = (
        "RSS lies farthest below the line between its ends, "
        f"by {shown('elbow', height[k])} of its fall"
    )
    return Judgement(Verdict("elbow", ks.index(k), why), values)


def _double(value: float | Fraction) -> float:
    return rounded(value) if isinstance(value, Fraction) else value


def agreed(verdicts: Sequence[Verdict], ks: Sequence[int]) -> str:
    """Where criteria agree, in one sentence; nothing if there is only one of them.

    Spec: KM-KSEL

    >>> three, also = Verdict("gap", 1, ""), Verdict("stability", 1, "")
    >>> agreed([three, also], [2, 3])
    'both criteria choose K = 3'
    >>> agreed([Verdict("silhouette", 0, ""), three, also], [2, 3])
    'the criteria disagree, 1 for K = 2, 2 for K = 3; silhouette decides'
    """
    if len(verdicts) < 2:
        return ""
    counts = Counter(verdict.chosen for verdict in verdicts)
    names = {place: "none" if place is None else f"K = {ks[place]}" for place in counts}
    if len(counts) == 1:
        every = "both" if len(verdicts) == 2 else f"all {len(verdicts)}"
        return f"{every} criteria choose {names[verdicts[0].chosen]}"
    parts = ", ".join(f"{count} for {names[place]}" for place, count in counts.items())
    return f"the criteria disagree, {parts}; {verdicts[0].criterion} decides"
