"""K-means from the definitions of chapter 10, in fractions: slow, and plainly what they say.

Distances are compared as exact fractions, centres are exact weighted means rounded once, sums of
squares are added up row by row (never by the expanded form), cosines are compared by the sign of
the product and the square of the quotient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from .kmeans_numbers import Refusal, Roots, nearest, nearest_root
from .kmeans_seeding import Row, Weights, gap

UNCHANGED, TOLERANCE, OBJECTIVE, LIMIT = range(4)


@dataclass(frozen=True, slots=True)
class Rules:
    """How a run goes on and ends."""

    metric: str = "euclidean"
    empty: str = "farthest"
    tolerance: Fraction | None = None
    limit: int = 300


@dataclass(frozen=True, slots=True)
class Step:
    """One iteration."""

    labels: list[int]
    changed: int
    rss: Fraction
    centres: list[Row] | None = None  # after the update, if there was one
    rss_updated: Fraction | None = None


@dataclass(slots=True)
class Run:
    """One run from one start."""

    start: list[Row]
    labels: list[int] = field(default_factory=list)
    centres: list[Row] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    emptied: list[tuple[int, int, int]] = field(default_factory=list)
    stopped: int = UNCHANGED


def product(x: Row, y: Row) -> Fraction:
    """The dot product."""
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))


def direction(x: Row) -> Row:
    """A row scaled to length 1, each component rounded once (KM-COSROWS)."""
    square = product(x, x)
    if not square:
        raise Refusal("zero-vector")
    return tuple(Fraction(nearest_root(a * a / square)) * (-1 if a < 0 else 1) for a in x)


def nearest_centre(x: Row, centres: Sequence[Row]) -> int:
    """The lowest index of the least squared distance (KM-ASSIGN)."""
    gaps = [gap(x, c) for c in centres]
    return gaps.index(min(gaps))


def best_cosine(x: Row, centres: Sequence[Row]) -> int:
    """The lowest index of the largest cosine (KM-COSASSIGN)."""
    values = []
    for c in centres:
        along = product(x, c)
        # The sign times the square grows with the cosine itself.
        values.append((1 if along > 0 else -1) * along * along / product(c, c))
    return values.index(max(values))


def assign(rows: Sequence[Row], centres: Sequence[Row], metric: str) -> list[int]:
    """One label per row."""
    rule = best_cosine if metric == "cosine" else nearest_centre
    return [rule(x, centres) for x in rows]


def weight_and_sum(
    rows: Sequence[Row], weights: Weights, labels: Sequence[int], k: int
) -> tuple[Fraction, Row]:
    """The weight and the weighted sum of a cluster (KER-SUMS)."""
    members = [i for i, label in enumerate(labels) if label == k]
    total = sum((weights[i] for i in members), Fraction(0))
    columns = range(len(rows[0]))
    return total, tuple(
        sum((weights[i] * rows[i][column] for i in members), Fraction(0)) for column in columns
    )


def mean(weight: Fraction, total: Row) -> Row:
    """The rounded mean of a cluster (KM-CENTROID)."""
    return tuple(Fraction(nearest(part / weight)) for part in total)


def rss(
    rows: Sequence[Row], weights: Weights, labels: Sequence[int], centres: Sequence[Row]
) -> Fraction:
    """The residual sum of squares, row by row (KM-RSS); a label below 0 belongs to no centre."""
    total = Fraction(0)
    for x, w, label in zip(rows, weights, labels, strict=True):
        if label >= 0:
            total += w * gap(x, centres[label])
    return total


def within(
    rows: Sequence[Row], weights: Weights, labels: Sequence[int], centres: Sequence[Row], k: int
) -> Fraction:
    """The residual sum of squares of one cluster."""
    return rss(rows, weights, [label if label == k else -1 for label in labels], centres)


def total_cosine(
    rows: Sequence[Row], weights: Weights, labels: Sequence[int], centres: Sequence[Row]
) -> Roots:
    """The sum of the cosines by clusters (KM-COSOBJ)."""
    terms = []
    for k, c in enumerate(centres):
        _, total = weight_and_sum(rows, weights, labels, k)
        terms.append((product(total, c), 1 / product(c, c)))
    return Roots(tuple(terms))


def cosine_by_rows(
    rows: Sequence[Row], weights: Weights, labels: Sequence[int], centres: Sequence[Row]
) -> Roots:
    """The same row by row, each with a root of its own."""
    terms = []
    for x, w, label in zip(rows, weights, labels, strict=True):
        if label >= 0:
            c = centres[label]
            terms.append((w * product(x, c), 1 / product(c, c)))
    return Roots(tuple(terms))


def farthest_row(
    rows: Sequence[Row], weights: Weights, candidates: Sequence[int], centres: Sequence[Row]
) -> int:
    """The row that counts and is farthest from its nearest centre, -1 where that is at 0."""
    best, found = Fraction(0), -1
    for i in candidates:
        if weights[i] > 0 and centres:
            distance = min(gap(rows[i], c) for c in centres)
            if distance > best:
                best, found = distance, i
    return found


@dataclass(slots=True)
class Updated:
    """The centres after an update, what became of empty clusters, and the labels renumbered."""

    centres: list[Row]
    emptied: list[tuple[int, int]]
    labels: list[int]


def update(
    rows: Sequence[Row], weights: Weights, labels: list[int], centres: list[Row], rules: Rules
) -> Updated:
    """Every centre to the mean of its rows (KM-UPDATE), empty ones by the policy (KM-EMPTY)."""
    moved: dict[int, Row] = {}
    empty: list[int] = []
    for k in range(len(centres)):
        weight, total = weight_and_sum(rows, weights, labels, k)
        if weight:
            centre = mean(weight, total)
            if rules.metric != "cosine" or any(centre):
                moved[k] = centre
                continue
        empty.append(k)
    filled = [k for k in range(len(centres)) if k not in empty]
    emptied: list[tuple[int, int]] = []
    measured = [centres[k] for k in filled]
    # Only clusters that are not empty give a row, so the others count as if they had no spread.
    sums = [
        within(rows, weights, labels, centres, k) if k in filled else Fraction(0)
        for k in range(len(centres) if empty else 0)
    ]
    for k in empty:
        row = -1
        if rules.empty == "error":
            raise Refusal("empty-cluster")
        if rules.empty == "farthest":
            row = farthest_row(rows, weights, range(len(rows)), measured)
        elif rules.empty == "split" and max(sums) > 0:
            donor = sums.index(max(sums))
            sums[donor] = Fraction(0)
            members = [i for i, label in enumerate(labels) if label == donor]
            row = farthest_row(rows, weights, members, [centres[donor]])
        if row >= 0:
            moved[k] = rows[row]
            measured.append(rows[row])
        elif rules.empty != "drop":
            moved[k] = centres[k]
        emptied.append((k, row))
    left = sorted(moved)
    if not left:
        raise Refusal("empty-cluster")  # dropping the last cluster leaves nothing
    renumbered = [left.index(label) if label in moved else -1 for label in labels]
    return Updated([moved[k] for k in left], emptied, renumbered)


def lloyd(rows: Sequence[Row], weights: Weights, start: list[Row], rules: Rules) -> Run:
    """One run (KM-ALG) until one of the reasons of KM-STOP."""
    run = Run(start)
    cosine = rules.metric == "cosine"
    centres, before = start, [-2] * len(rows)
    last: Roots | None = None
    run.stopped = LIMIT  # unless another reason comes first
    for t in range(1, rules.limit + 1):
        labels = assign(rows, centres, rules.metric)
        changed = sum(a != b for a, b in zip(labels, before, strict=True))
        value = rss(rows, weights, labels, centres)
        if not cosine:
            assert not run.steps or value <= (run.steps[-1].rss_updated or 0), "PROP-KM-1"
            assert rules.empty == "drop" or labels not in [s.labels for s in run.steps[:-1]]
        new = update(rows, weights, labels, centres, rules)
        if not changed and all(row < 0 for _, row in new.emptied):
            assert cosine or new.centres == centres, "the update would have changed something"
            run.steps.append(Step(labels, 0, value))
            run.labels, run.centres, run.stopped = labels, centres, UNCHANGED
            return run
        updated = rss(rows, weights, new.labels, new.centres)
        assert cosine or updated <= value, "PROP-KM-1"
        run.steps.append(Step(labels, changed, value, new.centres, updated))
        run.emptied += [(t, k, row) for k, row in new.emptied]
        centres, before = new.centres, new.labels
        # Both objectives as something that should rise; a rational is a root of 1.
        goal = (
            total_cosine(rows, weights, before, centres)
            if cosine
            else Roots(((-updated, Fraction(1)),))
        )
        if last is not None:
            gain = goal + last.times(Fraction(-1))
            size = last if cosine else last.times(Fraction(-1))
            slack = rules.tolerance
            if slack is not None and (gain + size.times(-slack)).sign() <= 0:
                run.stopped = TOLERANCE
                break
            if cosine and gain.sign() <= 0:
                run.stopped = OBJECTIVE
                break
        last = goal
    run.centres = centres
    run.labels = assign(rows, centres, rules.metric)
    return run


def best_run(rows: Sequence[Row], weights: Weights, runs: Sequence[Run], metric: str) -> int:
    """The run with the least RSS or the largest cosine, the earliest of equals (KM-RESTART)."""
    best = 0
    for r, run in enumerate(runs):
        first, other = runs[best], run
        if metric == "cosine":
            one = total_cosine(rows, weights, first.labels, first.centres)
            two = total_cosine(rows, weights, other.labels, other.centres)
            better = (two + one.times(Fraction(-1))).sign() > 0
        else:
            better = rss(rows, weights, other.labels, other.centres) < rss(
                rows, weights, first.labels, first.centres
            )
        best = r if better else best
    return best
