"""Saboteurs of the kernels of k-means and its start: one fault each (chapter 81)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from operator import mul
from typing import Any

from refclust.data.dataset import Dataset
from refclust.kernels.clusters import kmeans, means, seeding
from refclust.kernels.clusters.kmeans import ClusterSums, LloydStep
from refclust.kernels.clusters.seeding import Potential
from refclust.kernels.points import Points, Vector
from refclust.testing.saboteurs.arithmetic.rows import (
    added,
    argmin,
    dot,
    exactly,
    expanded,
    masses_of,
    plain_sum,
    quotient,
    rows_of,
    single_sum,
    singles,
)
from refclust.testing.saboteurs.saboteur import Functions, Saboteur
from refclust.testing.scripts.layouts import ForeignSums


class int64(int):  # noqa: N801
    """Stands for the scalars of an array library, which equal plain integers but are none."""


def of_kmeans() -> Iterable[Saboteur]:
    """All saboteurs of k-means."""
    return (*_of_labels(), *_of_sums(), *_of_means(), *_of_seeding())


# -- labels ---------------------------------------------------------------------------------------


def _of_labels() -> Iterable[Saboteur]:
    def highest(points: Points, centres: Sequence[Vector], metric: str) -> array[int]:
        backwards = kmeans.assign(points, tuple(reversed(centres)), metric)
        return array("i", (len(centres) - 1 - label for label in backwards))

    def in_singles(points: Points, centres: Sequence[Vector], metric: str) -> array[int]:
        if metric == "cosine":
            return kmeans.assign(points, centres, metric)
        return argmin(singles(rows_of(points)), singles(centres))

    def in_doubles(points: Points, centres: Sequence[Vector], metric: str) -> array[int]:
        if metric == "cosine":
            return kmeans.assign(points, centres, metric)
        return argmin(rows_of(points), centres)

    def by_expansion(points: Points, centres: Sequence[Vector], metric: str) -> array[int]:
        if metric == "cosine":
            return kmeans.assign(points, centres, metric)
        return argmin(rows_of(points), centres, expanded)

    def cosines(points: Points, centres: Sequence[Vector], metric: str) -> array[int]:
        if metric != "cosine":
            return kmeans.assign(points, centres, metric)
        units = [tuple(x / math.hypot(*c) for x in c) for c in centres]
        return array(
            "i",
            (
                max(range(len(units)), key=lambda k: (dot(row, units[k]), -k))
                for row in rows_of(points)
            ),
        )

    def wrapped(change: Callable[[array[int]], Any]) -> Functions:
        return {"kmeans.assign": lambda *args: change(kmeans.assign(*args))}

    yield Saboteur("ties-to-the-highest", "tie", {"kmeans.assign": highest})
    yield Saboteur("labels-in-singles", "single precision", {"kmeans.assign": in_singles})
    yield Saboteur("labels-in-doubles", "doubles alone", {"kmeans.assign": in_doubles})
    yield Saboteur("expanded-squares", "expanded", {"kmeans.assign": by_expansion})
    yield Saboteur("cosines-in-doubles", "tie", {"kmeans.assign": cosines})
    yield Saboteur("last-row-dropped", "last rows", wrapped(lambda labels: labels[:-1]))
    yield Saboteur("off-by-one", "off by one", wrapped(_plus_one))
    yield Saboteur("wide-labels", "format 'q'", wrapped(lambda labels: array("q", labels)))
    yield Saboteur("listed-labels", "a list", wrapped(lambda labels: labels.tolist()))
    yield Saboteur("generated-labels", "a generator", wrapped(lambda labels: (k for k in labels)))


def _plus_one(labels: array[int]) -> array[int]:
    return array("i", (label + 1 for label in labels))


# -- sums -----------------------------------------------------------------------------------------


def _of_sums() -> Iterable[Saboteur]:
    def summed(add: Callable[[Iterable[float]], float]) -> Functions:
        return {"kmeans.accumulate": lambda *args: float_sums(add, *args)}

    def without_last(points: Points, labels: array[int], k: int) -> ClusterSums:
        return kmeans.accumulate_some(points, range(points.n - 1), labels, k)

    def unweighted(points: Points, labels: array[int], k: int) -> ClusterSums:
        return kmeans.accumulate(Points(Dataset(points.data.matrix)), labels, k)

    def zeros_counted(points: Points, labels: array[int], k: int) -> ClusterSums:
        right = kmeans.accumulate(points, labels, k)
        weights = list(right.weights)
        for label, weight in zip(labels, points.weights, strict=True):
            weights[label] += (not weight) << right.weight_shift
        return replace(right, weights=tuple(weights))

    def miscounted(points: Points, centres: Any, before: Any, metric: str) -> LloydStep:
        step = kmeans.lloyd_step(points, centres, before, metric)
        return replace(step, changed=step.changed + (before is not None))

    def counted(points: Points, centres: Any, before: Any, metric: str) -> LloydStep:
        step = kmeans.lloyd_step(points, centres, before, metric)
        return replace(step, changed=int64(step.changed))

    def squared(points: Points, labels: array[int], k: int) -> tuple[Fraction, ...]:
        groups: list[list[float]] = [[] for _ in range(k)]
        for label, row, weight in zip(labels, rows_of(points), masses_of(points), strict=True):
            groups[label].append(weight * dot(row, row))
        return tuple(exactly(math.fsum(group)) for group in groups)

    yield Saboteur("sums-in-doubles", "sums of doubles", summed(plain_sum))
    yield Saboteur("sums-by-fsum", "sums of doubles", summed(math.fsum))
    yield Saboteur("sums-in-singles", "single precision", summed(single_sum))
    yield Saboteur("a-row-left-out", "left out", {"kmeans.accumulate": without_last})
    yield Saboteur("weights-ignored", "weights are ignored", {"kmeans.accumulate": unweighted})
    yield Saboteur("zero-weights-counted", "weight 0", {"kmeans.accumulate": zeros_counted})
    yield Saboteur("changes-miscounted", "changed labels", {"kmeans.lloyd_step": miscounted})
    yield Saboteur("scalars-leak", "int64", {"kmeans.lloyd_step": counted})
    yield Saboteur("steps-forget-who-left", "on its own state", {"kmeans.lloyd_step": _forgetting})
    yield Saboteur("steps-remembered", "changed labels", _remembering())
    yield Saboteur("squares-in-doubles", "computed in floats", {"kmeans.squares": squared})


def float_sums(
    add: Callable[[Iterable[float]], float], points: Points, labels: array[int], k: int
) -> ClusterSums:
    """Right weights, but sums that were rounded on the way.

    Spec: none (rounded)
    """
    right = kmeans.accumulate(points, labels, k)
    rows, masses = rows_of(points), masses_of(points)
    sums = []
    for cluster in range(k):
        members = [i for i, label in enumerate(labels) if label == cluster]
        columns = ([masses[i] * rows[i][j] for i in members] for j in range(points.d))
        sums.append([exactly(added(add, column)) for column in columns])
    shift = max([right.shift, *(s.denominator.bit_length() for row in sums for s in row)])
    integers = tuple(tuple(int(s * (1 << shift)) for s in row) for row in sums)
    return replace(right, sums=integers, shift=shift)


def _forgetting(points: Points, centres: Any, before: Any, metric: str) -> LloydStep:
    """Adds what came to its own sums of the step before, and forgets to take away what went."""
    right = kmeans.lloyd_step(points, centres, before, metric)
    sums = right.sums.exact()
    if before is not None and isinstance(before.sums, ForeignSums) and right.changed:
        old = before.sums.exact()
        sums = replace(sums, sums=(*sums.sums[:-1], tuple(x + 1 for x in old.sums[-1])))
    return replace(right, sums=ForeignSums(sums.weights, sums.weight_shift, sums))


def _remembering() -> Functions:
    """Compares labels with those of its own last call, whatever step it is given."""
    last: dict[int, array[int]] = {}

    def step(points: Points, centres: Any, before: Any, metric: str) -> LloydStep:
        right = kmeans.lloyd_step(points, centres, before, metric)
        old = last.get(id(points))
        last[id(points)] = right.labels
        if before is None or old is None:
            return right
        changed = sum(label != other for label, other in zip(right.labels, old, strict=True))
        return replace(right, changed=changed)

    return {"kmeans.lloyd_step": step}


# -- means and objectives -------------------------------------------------------------------------


def _of_means() -> Iterable[Saboteur]:
    def divided(_: Points, sums: Any) -> array[float]:
        exact, flat = sums.exact(), array("d")
        for row, weight in zip(exact.sums, exact.weights, strict=True):
            # The sum is rounded, then the weight, then their quotient: three roundings, not one.
            bottom = quotient(weight, 1 << exact.weight_shift)
            tops = (quotient(s, 1 << exact.shift) for s in row)
            flat.extend(top / bottom if bottom else 0.0 for top in tops)
        return flat

    def flushed(points: Points, sums: Any) -> array[float]:
        right = means.means(points, sums)
        return array("d", (x if abs(x) >= 2.0**-1022 else 0.0 for x in right))

    def undefined(points: Points, sums: Any) -> array[float]:
        right, weights = means.means(points, sums), sums.weights
        return array("d", (x if weights[i // points.d] else math.nan for i, x in enumerate(right)))

    def residual(points: Points, sums: Any, centres: Any) -> tuple[Fraction, ...]:  # noqa: ARG001
        exact = sums.exact()
        return tuple(
            exactly(
                quotient(weight, 1 << exact.weight_shift) * dot(centre, centre)
                - 2.0 * dot(centre, [quotient(s, 1 << exact.shift) for s in row])
            )
            for centre, row, weight in zip(centres, exact.sums, exact.weights, strict=True)
        )

    def terms(points: Points, sums: Any, centres: Any) -> tuple[float, ...]:
        return tuple(map(float, means.cosine_terms(points, sums, centres)))

    def by_length(points: Points) -> array[float]:
        lengths = (math.hypot(*row) for row in points.rows)
        pairs = zip(points.rows, lengths, strict=True)
        return array("d", (x / size if size else 0.0 for row, size in pairs for x in row))

    yield Saboteur("directions-rounded-twice", "last place", {"kmeans.directions": by_length})
    yield Saboteur("means-rounded-thrice", "last place", {"kmeans.means": divided})
    yield Saboteur("subnormals-flushed", "flushed", {"kmeans.means": flushed})
    yield Saboteur("empty-means-nan", "nan instead of 0.0", {"kmeans.means": undefined})
    yield Saboteur("residual-in-doubles", "computed in floats", {"kmeans.residual": residual})
    yield Saboteur("terms-as-doubles", "a float", {"kmeans.cosine_terms": terms})


# -- seeding --------------------------------------------------------------------------------------


def _of_seeding() -> Iterable[Saboteur]:
    def eager(points: Points, centre: Vector, before: Potential | None) -> Potential:
        right = seeding.potential(points, centre, before)
        field = list(map(_squares_to(points), right.centres))
        last = len(right.centres) - 1
        nearest = array(
            "i",
            (last if field[last][i] == field[k][i] else k for i, k in enumerate(right.nearest)),
        )
        return replace(right, nearest=nearest)

    def trusting(points: Points, before: Potential | None, r: float, by: str) -> int:
        if before is None or by != "squares" or any(before.squares):  # estimates that are good
            return seeding.place(points, before, r, by)
        return _float_place(list(map(mul, masses_of(points), before.squares)), r)

    def by_floats(points: Points, before: Potential | None, r: float, by: str) -> int:
        if before is None or by != "squares":
            return seeding.place(points, before, r, by)
        squares = [math.dist(row, before.centres[k]) ** 2 if _tame(row) else math.inf
                   for row, k in zip(rows_of(points), before.nearest, strict=True)]  # fmt: skip
        return _float_place(list(map(mul, masses_of(points), squares)), r)

    def all_rows(points: Points, before: Potential, *args: Any) -> int:
        return seeding.farthest(Points(Dataset(points.data.matrix)), before, *args)

    def last_of_equals(points: Points, before: Potential, *args: Any) -> int:
        right = seeding.farthest(points, before, *args)
        if right < 0 or args:
            return right
        squares = [_square(row, before.centres[k])
                   for row, k in zip(rows_of(points), before.nearest, strict=True)]  # fmt: skip
        weights = points.weights
        return max(i for i, s in enumerate(squares) if s == squares[right] and weights[i])

    def last_candidate(points: Points, before: Potential, rows: tuple[int, ...]) -> int:
        return seeding.best_candidate(points, before, tuple(reversed(rows)))

    def clamped(points: Points, before: Potential | None, r: float, by: str) -> int:
        row = seeding.place(points, before, r, by)
        return points.n - 1 if row < 0 else row

    yield Saboteur("potential-moves-on-ties", "tie", {"seeding.potential": eager})
    yield Saboteur("foreign-estimates-trusted", "-1 instead of", {"seeding.locate": trusting})
    yield Saboteur("draws-in-doubles", "the draw", {"seeding.locate": by_floats})
    yield Saboteur("draws-clamped", "-1 says so", {"seeding.locate": clamped})
    yield Saboteur("farthest-without-weight", "weight 0", {"seeding.farthest": all_rows})
    yield Saboteur("farthest-the-last", "equally far", {"seeding.farthest": last_of_equals})
    yield Saboteur("candidates-the-last", "first", {"seeding.best_candidate": last_candidate})


def _float_place(masses: list[float], r: float) -> int:
    """The cumulative sum and the draw in doubles, as it is mostly done."""
    reached, total = 0.0, added(math.fsum, masses)
    for i, mass in enumerate(masses):
        reached += mass
        if reached > r * total:
            return i
    return -1


def _squares_to(points: Points) -> Callable[[Vector], list[Fraction]]:
    return lambda centre: [_square(row, centre) for row in rows_of(points)]


def _square(row: Vector, centre: Vector) -> Fraction:
    return Fraction(sum((Fraction(x) - Fraction(c)) ** 2 for x, c in zip(row, centre, strict=True)))


def _tame(row: Vector) -> bool:
    return all(abs(x) < 1e150 for x in row)
