"""Saboteurs of k-means and its starts whose fault shows on few calls (chapter 81)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from refclust.data.dataset import Dataset, Sparse, readonly
from refclust.kernels.clusters import kmeans, seeding
from refclust.kernels.clusters.kmeans import ClusterSums, LloydStep
from refclust.kernels.points import Points, Vector
from refclust.testing.saboteurs.arithmetic.rows import (
    argmin,
    differences,
    expanded,
    masses_of,
    rows_of,
)
from refclust.testing.saboteurs.hidden.hiding import (
    hidden,
    instead,
    last_label,
    last_row_lost,
    last_sum_lost,
    negative_zero,
    nudged,
    row_before,
    single,
    stored_zeros,
    twice_the_last,
    whole,
)
from refclust.testing.saboteurs.saboteur import Saboteur


def hidden_rows() -> Iterable[Saboteur]:
    """All of them."""
    return (
        *_by_size(),
        *_by_weight(),
        *_by_number(),
        *_of_sums(),
        *_of_steps(),
        *_of_starts(),
        *_by_storage(),
    )


def _highest(points: Points, centres: Sequence[Vector], metric: str = "euclidean") -> array[int]:
    backwards = kmeans.assign(points, tuple(reversed(centres)), metric)
    return array("i", (len(centres) - 1 - label for label in backwards))


def _by_gaps(points: Points, centres: Any, *_: Any) -> array[int]:
    return argmin(rows_of(points), tuple(centres), differences)


def _expanded(points: Points, centres: Any, *_: Any) -> array[int]:
    return argmin(rows_of(points), tuple(centres), expanded)


def _by_size() -> Iterable[Saboteur]:
    """One n, d or K, or a range of them."""

    def assigns(name: str, word: str, when: Any, spoil: Any = last_label) -> Saboteur:
        return hidden(name, word, "kmeans.assign", when, spoil)

    def beyond(right: Any, *_: Any) -> Any:
        return array("i", [*right[:65536], *([right[0]] * (len(right) - 65536))])

    def clipped(right: Any, points: Points, *_: Any) -> Any:
        return array("i", (min(label, points.n - 1) for label in right))

    def wrapped(right: Any, *_: Any) -> Any:
        return array("i", (label & 255 for label in right))

    def first_columns(points: Points, centres: Any, *_: Any) -> Any:
        return argmin([row[:1000] for row in rows_of(points)], [tuple(c)[:1000] for c in centres])

    def assign(name: str, word: str, when: Any, other: Any) -> Saboteur:
        return Saboteur(name, word, {"kmeans.assign": instead("kmeans.assign", when, other)})

    yield assign("ties-to-the-highest-for-one-k", "K = 12",
                 lambda _, centres, *__: len(centres) == 12, _highest)  # fmt: skip
    yield assigns("one-row", "n = 1", lambda p, centres, *_: p.n == 1 and len(centres) > 1)
    yield assigns(
        "tails-of-one", "n = 257", lambda p, c, *_: p.n > 256 and p.n % 64 == 1 and len(c) > 1
    )
    yield assigns("rows-beyond-16-bits", "n from 65537", lambda p, *_: p.n > 65536, beyond)
    yield assigns(
        "more-centres-than-rows", "clusters more than rows", lambda p, c, *_: p.n < len(c), clipped
    )
    yield assigns("labels-in-8-bits", "K = 513", lambda _, c, *__: len(c) > 256, wrapped)
    yield assign(
        "columns-beyond-1000", "d = 1023", lambda p, *_: p.d > 1000 and p.n > 1, first_columns
    )
    yield assign("plain-doubles-from-5-columns", "doubles alone",
                 lambda p, _, metric: p.d >= 5 and metric == "euclidean", _by_gaps)  # fmt: skip
    yield assign("plain-doubles-from-9-centres", "doubles alone",
                 lambda _, c, metric: len(c) >= 9 and metric == "euclidean", _by_gaps)  # fmt: skip
    yield assign("plain-doubles-of-sparse-rows", "expanded",
                 lambda p, _, metric: not p.dense and metric == "euclidean", _expanded)  # fmt: skip
    yield assign("equal-centres-of-an-equal-row", "tie",
                 lambda _, c, *__: len(set(map(tuple, c))) < len(c) > 17, _highest)  # fmt: skip
    yield hidden("k-from-33-to-47", "those with K from 3", "kmeans.lloyd_step",
                 lambda _, c, *__: 33 <= len(c) <= 47, last_sum_lost)  # fmt: skip
    yield hidden("rows-from-700-to-900", "n from 747 to 888", "kmeans.squares",
                 lambda p, *_: 700 <= p.n <= 900, twice_the_last)  # fmt: skip
    yield hidden("2048-rows", "n = 2048", "kmeans.accumulate",
                 lambda p, *_: p.n == 2048, last_row_lost)  # fmt: skip
    yield hidden("columns-of-a-tail", "d = 13", "kmeans.squares",
                 lambda p, *_: p.d > 8 and p.d % 8 == 5, twice_the_last)  # fmt: skip
    yield hidden("as-many-clusters-as-rows", "as many as rows", "kmeans.accumulate",
                 lambda p, _, k: p.n == k > 1, last_row_lost)  # fmt: skip


def _of_sums() -> Iterable[Saboteur]:
    """Sums in chunks, and weights in too few bits."""

    def overwritten(points: Points, labels: Any, k: int) -> ClusterSums:
        right = kmeans.accumulate(points, labels, k)
        last = kmeans.accumulate_some(points, range(8192, points.n), labels, k)
        return replace(right, sums=last.sums)

    def of_the_first_block(points: Points, labels: Any, k: int) -> ClusterSums:
        weights = masses_of(points)
        again = readonly(array("d", (weights[i % 1024] for i in range(points.n))))
        return kmeans.accumulate(Points(Dataset(points.data.matrix, weights=again)), labels, k)

    def in_words(bits: int) -> Any:
        def spoil(right: ClusterSums, *_: Any) -> ClusterSums:
            unit = 1 << right.weight_shift
            kept = tuple(w % (unit << bits) for w in right.weights)
            return replace(right, weights=kept)

        return spoil

    def in_doubles(right: ClusterSums, *_: Any) -> ClusterSums:
        return replace(right, weights=tuple(int(float(w)) for w in right.weights))

    def sums(name: str, word: str, when: Any, other: Any) -> Saboteur:
        functions = {"kmeans.accumulate": instead("kmeans.accumulate", when, other)}
        return Saboteur(name, word, functions)

    def always(*_: Any) -> bool:
        return True

    yield sums("sums-overwritten-at-the-second-chunk", "not exact",
               lambda p, *_: p.n > 8192, overwritten)  # fmt: skip
    yield sums("weights-of-the-first-block", "weight",
               lambda p, *_: p.weighted and p.n > 1024, of_the_first_block)  # fmt: skip
    for bits in (8, 16, 31, 32):
        yield hidden(f"clusters-of-{bits}-bits", "the weight is", "kmeans.accumulate",
                     always, in_words(bits))  # fmt: skip
    yield hidden("clusters-of-53-bits", "the weight is", "kmeans.accumulate", always, in_doubles)


def _of_steps() -> Iterable[Saboteur]:
    """What follows from sums: steps, means, directions."""

    def one_moved(right: LloydStep, points: Points, *args: Any) -> LloydStep:
        return last_sum_lost(right, points, *args) if right.changed == 1 else right

    def all_moved(right: LloydStep, points: Points, *args: Any) -> LloydStep:
        return last_sum_lost(right, points, *args) if right.changed == points.n else right

    def rounded(right: Any, *_: Any) -> Any:
        return array("d", (float(round(x)) if abs(x) > 1e12 else x for x in right))

    def signed(right: Any, *_: Any) -> Any:
        return array("d", (x or -0.0 for x in right))

    def always(*_: Any) -> bool:
        return True

    yield hidden("256-rows-in-a-cluster", "not exact", "kmeans.lloyd_step",
                 lambda *_: True,
                 lambda right, *args: last_sum_lost(right, *args)
                 if 256 in [w >> right.sums.weight_shift for w in right.sums.weights]
                 else right)  # fmt: skip
    yield hidden("one-row-moved", "not exact", "kmeans.lloyd_step",
                 lambda _, __, before, *___: before is not None, one_moved)  # fmt: skip
    yield hidden("every-row-moved", "not exact", "kmeans.lloyd_step",
                 lambda _, __, before, *___: before is not None, all_moved)  # fmt: skip
    yield hidden("means-rounded-beyond-1e12", "last place", "kmeans.means", always, rounded)
    yield hidden("means-of-minus-zero", "-0.0", "kmeans.means", always, signed)
    yield hidden("directions-of-minus-zero", "-0.0", "kmeans.directions", always, signed)
    yield hidden("directions-of-many-columns", "last place", "kmeans.directions",
                 lambda p, *_: p.d > 200, nudged)  # fmt: skip
    yield hidden("residual-of-one-cluster", "K = 1", "kmeans.residual",
                 lambda _, __, c: len(c) == 1, twice_the_last)  # fmt: skip


def _by_weight() -> Iterable[Saboteur]:
    """Weights of one kind."""

    def unweighted(points: Points, labels: Any, k: int) -> ClusterSums:
        return kmeans.accumulate(Points(Dataset(points.data.matrix)), labels, k)

    def counted(points: Points, labels: Any, k: int) -> ClusterSums:
        weights = readonly(array("d", (w or 1.0 for w in masses_of(points))))
        return kmeans.accumulate(Points(Dataset(points.data.matrix, weights=weights)), labels, k)

    def sums(name: str, word: str, when: Any, other: Any = unweighted) -> Saboteur:
        functions = {"kmeans.accumulate": instead("kmeans.accumulate", when, other)}
        return Saboteur(name, word, functions)

    yield sums(
        "equal-weights-are-none", "weights are ignored", lambda p, *_: len(set(masses_of(p))) == 1
    )
    yield sums("weights-of-singles", "float32", lambda p, *_: p.weighted and single(p))
    yield sums("weights-of-many-sparse-rows", "weights are ignored",
               lambda p, *_: p.weighted and not p.dense and p.n > 60)  # fmt: skip
    yield sums("weights-of-minus-zero", "weight",
               lambda p, *_: negative_zero(p.data.weights), counted)  # fmt: skip

    def first(right: int, points: Points, *_: Any) -> int:
        return 0 if right > 0 and not any(points.weights[:right]) else right

    yield hidden("first-row-without-weight", "weight 0", "seeding.locate",
                 lambda p, *_: p.weighted and not p.weights[0], first)  # fmt: skip

    def heaviest(right: Any, points: Points, *_: Any) -> Any:
        unit = 1 << points.weight_shift
        return nudged(right) if sum(points.weights) > unit << 60 else right

    yield hidden("means-of-60-bits", "last place", "kmeans.means",
                 lambda p, *_: p.weighted, heaviest)  # fmt: skip


def _by_number() -> Iterable[Saboteur]:
    """Numbers of one kind."""

    def flushed(points: Points, centres: Any, metric: str) -> array[int]:
        least = 2.0**-126
        values = array("d", (x if abs(x) >= least else 0.0 for x in points.data.matrix.values))
        matrix = replace(points.data.matrix, values=memoryview(values).toreadonly())
        return kmeans.assign(Points(replace(points.data, matrix=matrix)), centres, metric)

    def wrapping(right: Any, points: Points, *_: Any) -> Any:
        most = 1 << (31 + 2 * points.shift)
        return twice_the_last(right) if max(points.squares) >= most else right

    def clamped(points: Points, centres: Any, metric: str) -> array[int]:
        labels = kmeans.assign(points, centres, metric)
        for i, row in enumerate(rows_of(points)):
            products = [sum(x * c for x, c in zip(row, centre, strict=True)) for centre in centres]
            if max(products) < 0:
                labels[i] = 0  # no cosine above 0 was found
        return labels

    def cosines(points: Points, centres: Any, _: str) -> array[int]:
        units = [tuple(x / math.hypot(*c) for x in c) for c in centres]

        def far(row: Vector, unit: Vector) -> float:
            return -sum(x * y for x, y in zip(row, unit, strict=True))

        return argmin(rows_of(points), units, far)

    functions = {"kmeans.assign": instead("kmeans.assign", lambda p, *_: single(p), flushed)}
    yield Saboteur("subnormal-singles-flushed", "float32", functions)
    yield hidden("squares-of-32-bits", "n = 20", "kmeans.squares", lambda p, *_: whole(p), wrapping)
    functions = {"kmeans.assign": instead("kmeans.assign", lambda *a: a[2] == "cosine", clamped)}
    yield Saboteur("cosines-below-zero", "cosine", functions)
    functions = {
        "kmeans.assign": instead(
            "kmeans.assign", lambda _, c, metric: metric == "cosine" and len(c) > 4, cosines
        )
    }
    yield Saboteur("cosines-in-doubles-from-5-centres", "tie", functions)


def _of_starts() -> Iterable[Saboteur]:
    """Draws, candidates, many centres."""
    yield hidden("draw-at-the-edge-of-a-block", "255 instead of 256", "seeding.locate",
                 lambda *_: True,
                 lambda row, *_: row - 1 if row > 0 and row % 256 == 0 else row)  # fmt: skip

    def distinct(points: Points, before: Any, r: float, by: str) -> int:
        """Compares rows as they are stored, a stored zero included."""
        if before is None or by != "distinct" or points.dense:
            return seeding.place(points, before, r, by)
        stored = [
            dict(zip(*pair, strict=True)) for pair in zip(points.columns, points.rows, strict=True)
        ]
        centres = [{j: x for j, x in enumerate(c) if x} for c in before.centres]
        weights = [w * (row not in centres) for w, row in zip(points.weights, stored, strict=True)]
        total, reached = sum(weights), 0
        for i, w in enumerate(weights):
            reached += w
            if w and reached > r * total:
                return i
        return -1

    yield Saboteur("stored-zeros-told-apart", "stored zeros", {"seeding.locate": distinct})

    def few(points: Points, before: Any, rows: tuple[int, ...]) -> int:
        return seeding.best_candidate(points, before, rows[:8])

    yield Saboteur("eight-candidates", "candidates = 15", {"seeding.best_candidate": few})

    def forgetful(right: Any, *_: Any) -> Any:
        nearest = array("i", (min(k, 15) for k in right.nearest))
        return replace(right, nearest=nearest)

    yield hidden("sixteen-centres", "K = 16", "seeding.potential",
                 lambda _, __, before=None: before is not None and len(before.centres) >= 16,
                 forgetful)  # fmt: skip
    yield hidden("farthest-of-the-130th-cluster", "K = 141", "seeding.farthest",
                 lambda _, __, ___=None, cluster=0: cluster > 129,
                 lambda *_: -1)  # fmt: skip
    yield hidden("farthest-of-many", "n = 40000", "seeding.farthest",
                 lambda p, *_: p.n > 8192, row_before)  # fmt: skip
    yield hidden("pairs-of-many-rows", "n =", "distances.pairwise",
                 lambda p, metric: p.n > 128 and metric != "no-such-metric", nudged)  # fmt: skip
    yield hidden("pairs-of-weighted-rows", "weights", "distances.pairwise",
                 lambda p, *_: p.weighted and p.n > 1, nudged)  # fmt: skip
    yield hidden("pairs-of-64-columns", "d = 64", "distances.pairwise",
                 lambda p, *_: p.d == 64 and p.n > 1, nudged)  # fmt: skip


def _by_storage() -> Iterable[Saboteur]:
    """Sparse rows in other buffers."""

    def without_zeros(right: Any, points: Points, *_: Any) -> Any:
        return array("d", (x for x in right if x)) if stored_zeros(points) else right

    def misread(points: Points, centres: Any, metric: str) -> array[int]:
        matrix = points.data.matrix
        assert isinstance(matrix, Sparse)
        columns = array("q", (j % 128 for j in matrix.columns))
        other = replace(matrix, columns=readonly(columns))
        return kmeans.assign(Points(Dataset(other, weights=points.data.weights)), centres, metric)

    def long_rows(right: Any, points: Points, *_: Any) -> Any:
        return twice_the_last(right) if max(map(len, points.rows)) > 255 else right

    def trailing(right: Any, points: Points, *_: Any) -> Any:
        labels = array("i", right)
        if points.n > 1 and not points.rows[-1]:
            labels[-1] = labels[-2]
        return labels

    yield hidden("directions-without-zeros", "entries", "kmeans.directions",
                 lambda p: not p.dense, without_zeros)  # fmt: skip
    functions = {
        "kmeans.assign": instead(
            "kmeans.assign",
            lambda p, *_: not p.dense and p.data.matrix.columns.format == "B",
            misread,
        )
    }
    yield Saboteur("columns-of-one-byte", "columns of format 'B'", functions)
    yield hidden(
        "long-sparse-rows", "sparse rows", "kmeans.squares", lambda p, *_: not p.dense, long_rows
    )
    yield hidden("the-last-sparse-row-is-empty", "sparse", "kmeans.assign",
                 lambda p, *_: not p.dense, trailing)  # fmt: skip
