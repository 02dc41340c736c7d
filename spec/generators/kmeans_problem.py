"""One problem of k-means: its numbers as the files write them, its checks, and its answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from .kmeans_numbers import Refusal, double, listed, rational, short_hex, whole
from .kmeans_seeding import Row, by_name, need_rows
from .kmeans_witness import (
    Rules,
    Run,
    best_run,
    cosine_by_rows,
    direction,
    lloyd,
    mean,
    rss,
    total_cosine,
    weight_and_sum,
    within,
)
from .make_sampling import Twister
from .values import Json

Number = int | float
Given = Sequence[Number] | Mapping[str, Number] | Mapping[int, Number]
Expect = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Problem:
    """Everything a fit is given."""

    rows: Sequence[Given]
    k: int | None = None
    start: str = "k-means++"
    centres: Sequence[Given] | None = None
    labels: Sequence[int | str] | None = None
    weights: Sequence[Number] | None = None
    metric: str | None = None
    seed: int | None = None
    restarts: int | None = None
    trials: int | None = None
    empty: str | None = None
    tolerance: Number | None = None
    limit: int | None = None
    by: str | None = None

    def written(self) -> dict[str, Json]:
        """The input of a case."""
        start: Json = self.start
        if self.centres is not None:
            start = {"centres": [vector(row) for row in self.centres]}
        elif self.labels is not None:
            start = {"labels": [*self.labels]}
        given: dict[str, Json] = {"rows": [vector(row) for row in self.rows], "start": start}
        if self.weights is not None:
            given["weights"] = [number(weight) for weight in self.weights]
        if self.tolerance is not None:
            given["tolerance"] = number(self.tolerance)
        for name in ("k", "seed", "restarts", "trials", "limit"):
            value: int | None = getattr(self, name)
            if value is not None:
                given[name] = str(value)
        for name in ("metric", "empty", "by"):
            word: str | None = getattr(self, name)
            if word is not None:
                given[name] = word
        return given


def number(value: Number) -> str:
    """A number as the files write it: an integer, or a double in hexadecimal.

    >>> number(3), number(3.0), number(0.1)
    ('3', '3', '0x1.999999999999ap-4')
    """
    if isinstance(value, int) or (value == int(value) if math.isfinite(value) else False):
        text = str(int(value))
        if len(text) <= 17:
            return text
    return short_hex(float(value)) if math.isfinite(value) else str(value)


def vector(row: Given) -> Json:
    """A row as the files write it."""
    if isinstance(row, Mapping):
        pairs: list[Json] = [[key, number(value)] for key, value in row.items()]
        return {"sparse": pairs}
    return [number(value) for value in row]


@dataclass(slots=True)
class Data:
    """Checked rows and weights, as fractions."""

    rows: list[Row]
    weights: list[Fraction]
    keys: list[str] | list[int] | None  # the columns of sparse rows


def exact(value: Number) -> Fraction:
    """A double as the fraction it is."""
    if not math.isfinite(value):
        raise Refusal("not-finite")
    return Fraction(float(value))


def dense(row: Given, keys: Sequence[str] | Sequence[int] | None) -> Row:
    """A row as fractions, sparse ones over the sorted keys of the data."""
    if isinstance(row, Mapping):
        assert keys is not None
        stored: dict[str | int, Number] = dict(row.items())
        if set(stored) - set(keys):
            raise Refusal("feature-mismatch")
        return tuple(exact(stored.get(key, 0)) for key in keys)
    return tuple(exact(value) for value in row)


def checked(problem: Problem) -> Data:
    """The data, or a refusal."""
    if not problem.rows:
        raise Refusal("empty-input")
    found: set[str | int] = set()
    for row in problem.rows:
        found |= set(row) if isinstance(row, Mapping) else set()
    sparse = isinstance(problem.rows[0], Mapping)
    keys = sorted(found, key=lambda key: (str(type(key)), key)) if sparse else None
    rows = [dense(row, keys) for row in problem.rows]  # type: ignore[arg-type]
    if len({len(row) for row in rows}) > 1:
        raise Refusal("ragged-rows")
    weights = [exact(w) for w in problem.weights] if problem.weights else [Fraction(1)] * len(rows)
    if len(weights) != len(rows):
        raise Refusal("label-length-mismatch")
    if min(weights) < 0:
        raise Refusal("negative-count")
    if not any(weights):
        raise Refusal("bad-weight")
    if problem.metric == "cosine":
        rows = [direction(row) for row in rows]
    return Data(rows, weights, keys)  # type: ignore[arg-type]


def rules_of(problem: Problem) -> Rules:
    """The rules of the runs, with their defaults."""
    tolerance = problem.tolerance
    return Rules(
        metric=problem.metric or "euclidean",
        empty=problem.empty or "farthest",
        tolerance=None if tolerance is None else exact(tolerance),
        limit=300 if problem.limit is None else problem.limit,
    )


def start_of(problem: Problem, data: Data, stream: Twister) -> list[Row]:
    """The initial centres of one run (KM-INIT)."""
    n = len(data.rows)
    if problem.centres is not None:
        centres = [dense(row, data.keys) for row in problem.centres]
        if not 1 <= len(centres) <= n:
            raise Refusal("k-out-of-range")
        if any(len(c) != len(data.rows[0]) for c in centres):
            raise Refusal("dimension-mismatch")
    elif problem.labels is not None:
        groups = sorted(set(problem.labels))
        numbers = [groups.index(label) for label in problem.labels]
        centres = [
            mean(*weight_and_sum(data.rows, data.weights, numbers, g)) for g in range(len(groups))
        ]
    else:
        assert problem.k is not None
        if not 1 <= problem.k <= n:
            raise Refusal("k-out-of-range")
        centres = by_name(problem.start, data.rows, data.weights, problem.k, stream, problem.trials)
    if problem.metric == "cosine" and not all(any(c) for c in centres):
        raise Refusal("zero-vector")
    return centres


def starts(problem: Problem) -> list[list[Row]]:
    """The initial centres of all runs: one stream serves them one after another."""
    data, stream = checked(problem), Twister(problem.seed or 0)
    return [start_of(problem, data, stream) for _ in range(problem.restarts or 1)]


@dataclass(slots=True)
class Fit:
    """All runs of a problem, and which is the best."""

    data: Data
    runs: list[Run]
    best: int
    metric: str

    @property
    def run(self) -> Run:
        """The best run."""
        return self.runs[self.best]


def solve(problem: Problem) -> Fit:
    """Run k-means as the chapter says."""
    data, rules, stream = checked(problem), rules_of(problem), Twister(problem.seed or 0)
    runs = [
        lloyd(data.rows, data.weights, start_of(problem, data, stream), rules)
        for _ in range(problem.restarts or 1)
    ]
    best = best_run(data.rows, data.weights, runs, rules.metric)
    return Fit(data, runs, best, rules.metric)


def rows_of(centres: Sequence[Row]) -> dict[str, Json]:
    """Centres as a list of lists of doubles."""
    return listed([listed([double(value) for value in c]) for c in centres])


def integers(values: Sequence[int]) -> dict[str, Json]:
    """A list of labels or counts."""
    return listed([whole(value) for value in values])


FINAL = ("labels", "centres", "rss", "mean_square", "sizes", "within", "iterations", "stopped")
TRACE = ("trace.labels", "trace.centres", "trace.rss", "trace.rss_updated", "trace.changed")
ALL = (*FINAL, *TRACE)


def answers(fit: Fit, keys: Sequence[str]) -> Expect:
    """What a case expects, key by key."""
    return {key: answer(fit, key) for key in keys}


def answer(fit: Fit, key: str) -> Json:
    """One value of a fit."""
    run, rows, weights = fit.run, fit.data.rows, fit.data.weights
    steps = run.steps

    def total() -> Fraction:
        return rss(rows, weights, run.labels, run.centres)

    match key:
        case "labels":
            return integers(run.labels)
        case "centres":
            return rows_of(run.centres)
        case "rss":
            return rational(total())
        case "exact_rss":
            return {"exact": str(total())}
        case "mean_square":
            return rational(total() / sum(weights, Fraction(0)))
        case "cosine":
            first = total_cosine(rows, weights, run.labels, run.centres)
            return first.encoded(cosine_by_rows(rows, weights, run.labels, run.centres))
        case "sizes":
            ks = range(len(run.centres))
            return listed([whole(weight_and_sum(rows, weights, run.labels, k)[0]) for k in ks])
        case "within":
            ks = range(len(run.centres))
            parts = [within(rows, weights, run.labels, run.centres, k) for k in ks]
            return listed([rational(part) for part in parts])
        case "iterations":
            return whole(len(steps))
        case "stopped":
            return whole(run.stopped)
        case "start":
            return rows_of(run.start)
        case "emptied":
            return listed([integers(event) for event in run.emptied])
        case "runs.rss":
            return listed([rational(rss(rows, weights, r.labels, r.centres)) for r in fit.runs])
        case "runs.iterations":
            return integers([len(r.steps) for r in fit.runs])
        case "runs.stopped":
            return integers([r.stopped for r in fit.runs])
        case "best":
            return whole(fit.best)
        case "trace.labels":
            return listed([integers(step.labels) for step in steps])
        case "trace.changed":
            return integers([step.changed for step in steps])
        case "trace.rss":
            return listed([rational(step.rss) for step in steps])
        case "trace.centres":
            return listed([rows_of(step.centres) for step in steps if step.centres is not None])
        case "trace.rss_updated":
            return listed([rational(s.rss_updated) for s in steps if s.rss_updated is not None])
    raise ValueError(key)


def bisect(problem: Problem) -> Expect:
    """Top-down k-means (HC-BISECT): labels, centres, RSS and sizes of the leaves."""
    data, rules, stream = checked(problem), rules_of(problem), Twister(problem.seed or 0)
    n, k = len(data.rows), problem.k
    assert k is not None
    if not 1 <= k <= n:
        raise Refusal("k-out-of-range")
    need_rows(data.rows, data.weights, k)

    def different(members: list[int]) -> bool:
        return len({data.rows[i] for i in members if data.weights[i] > 0}) > 1

    def part(members: list[int]) -> Data:
        rows, weights = [data.rows[i] for i in members], [data.weights[i] for i in members]
        return Data(rows, weights, data.keys)

    def size(leaf: tuple[list[int], Row]) -> Fraction:
        members, centre = leaf
        some = part(members)
        if problem.by == "size":
            return sum(some.weights, Fraction(0))
        return rss(some.rows, some.weights, [0] * len(members), [centre])

    everything = list(range(n))
    middle = mean(*weight_and_sum(data.rows, data.weights, [0] * n, 0))
    # Leaves in the order of the walk: the two children stand where their parent stood.
    leaves: list[tuple[list[int], Row]] = [(everything, middle)]
    pair = replace(problem, k=2, metric=None)
    while len(leaves) < k:
        open_ones = [leaf for leaf in leaves if different(leaf[0])]
        chosen = min(open_ones, key=lambda leaf: (-size(leaf), leaf[0][0]))
        some = part(chosen[0])
        runs = [
            lloyd(some.rows, some.weights, start_of(pair, some, stream), rules)
            for _ in range(problem.restarts or 1)
        ]
        run = runs[best_run(some.rows, some.weights, runs, rules.metric)]
        assert set(run.labels) == {0, 1}, "a split left one side empty"
        place = leaves.index(chosen)
        leaves[place : place + 1] = [
            ([i for i, label in zip(chosen[0], run.labels, strict=True) if label == side], c)
            for side, c in enumerate(run.centres)
        ]
    labels = [next(j for j, (members, _) in enumerate(leaves) if i in members) for i in range(n)]
    centres = [centre for _, centre in leaves]
    residual = rss(data.rows, data.weights, labels, centres)
    sizes = [weight_and_sum(data.rows, data.weights, labels, j)[0] for j in range(k)]
    return {
        "labels": integers(labels),
        "centres": rows_of(centres),
        "rss": rational(residual),
        "sizes": listed([whole(s) for s in sizes]),
    }
