"""Saboteurs of trees, of tables and of good manners: one fault each (chapter 81)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable
from ctypes import c_int32
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise as neighbours
from typing import Any

from refclust.data.dataset import Dataset
from refclust.errors import RefclustError
from refclust.kernels import contingency, distances, information, linkage
from refclust.kernels.clusters import kmeans, means
from refclust.kernels.clusters.kmeans import ClusterSums
from refclust.kernels.contingency import LabelPairs
from refclust.kernels.information import Margins
from refclust.kernels.points import Points
from refclust.testing.saboteurs.arithmetic.rows import (
    expanded,
    rows_of,
)
from refclust.testing.saboteurs.obvious.kmeans import float_sums
from refclust.testing.saboteurs.saboteur import Functions, Saboteur


def assorted() -> Iterable[Saboteur]:
    """All saboteurs of trees, tables and manners."""
    return (*_of_trees(), *_of_tables(), *_of_manners())


# -- distances and trees --------------------------------------------------------------------------


def _of_trees() -> Iterable[Saboteur]:
    def measured(points: Points, metric: str) -> array[float]:
        right = distances.pairwise(points, metric)
        rows, n = rows_of(points), points.n
        if metric == "cosine":
            return right
        pairs = ((rows[i], rows[j]) for i in range(n) for j in range(i + 1, n))
        power = 2 if metric == "sqeuclidean" else 1
        return array("d", (math.dist(a, b) ** power for a, b in pairs))

    def multiplied(points: Points, metric: str) -> array[float]:
        right = distances.pairwise(points, metric)
        rows, n = rows_of(points), points.n
        if metric != "sqeuclidean":
            return right
        pairs = ((rows[i], rows[j]) for i in range(n) for j in range(i + 1, n))
        return array("d", (expanded(a, b) for a, b in pairs))

    def silent(points: Points, metric: str) -> array[float]:
        try:
            return distances.pairwise(points, metric)
        except RefclustError:
            return array("d", [math.nan]) * (points.n * (points.n - 1) // 2)

    def backwards(condensed: Any, n: int, name: str) -> Any:
        right = linkage.agglomerate(condensed, n, name)
        for place, (earlier, later) in enumerate(neighbours(right)):
            if (
                earlier[2] == later[2] and max(later[:2]) < n
            ):  # equally close pairs of rows, the last first
                return (*right[:place], (*later[:3], 2), (*earlier[:3], 2), *right[place + 2 :])
        return right

    def reordered(condensed: Any, n: int, name: str) -> Any:
        right = linkage.agglomerate(condensed, n, name)
        if name != "average" or n < 3:
            return right
        return tuple((a, b, _reassociated(h), s) if s > 2 else (a, b, h, s) for a, b, h, s in right)

    def destroyed(condensed: Any, n: int, name: str) -> Any:
        right = linkage.agglomerate(condensed, n, name)
        if len(condensed):
            condensed[0] = math.inf  # worked on in place
        return right

    yield Saboteur("distances-by-dist", "last place", {"distances.pairwise": measured})
    yield Saboteur("distances-expanded", "expanded", {"distances.pairwise": multiplied})
    yield Saboteur("errors-swallowed", "raising the error", {"distances.pairwise": silent})
    yield Saboteur("merges-the-last-pair", "first one is due", {"linkage.agglomerate": backwards})
    yield Saboteur("merges-reordered", "another order", {"linkage.agglomerate": reordered})
    yield Saboteur("distances-destroyed", "changed its input", {"linkage.agglomerate": destroyed})


def _reassociated(height: float) -> float:
    """As if a product and a sum had been rounded together."""
    return math.nextafter(height, math.inf)


# -- tables ---------------------------------------------------------------------------------------


def _of_tables() -> Iterable[Saboteur]:
    def wrapping(pairs: LabelPairs) -> dict[Any, Any]:
        right = contingency.table(pairs)
        if any(isinstance(count, Fraction) for count in right.values()):
            return right
        return {cell: c_int32(int(count)).value for cell, count in right.items()}

    def rounded(pairs: LabelPairs) -> dict[Any, Any]:
        right = contingency.table(pairs)
        return {cell: Fraction(float(count)) for cell, count in right.items()}

    def dropped(pairs: LabelPairs) -> dict[Any, Any]:
        right = contingency.table(pairs)
        last = list(pairs.classes)[-1:]
        return {cell: count for cell, count in right.items() if [cell[1]] != last}

    def alike(pairs: LabelPairs) -> dict[Any, Any]:
        right: dict[Any, Any] = {}
        for (cluster, label), count in contingency.table(pairs).items():
            key = str(cluster), str(label)
            right[key] = right.get(key, 0) + count
        first = {(str(a), str(b)): (a, b) for a, b in reversed(list(contingency.table(pairs)))}
        return {first[key]: count for key, count in right.items()}

    def narrow(margins: Margins, digits: int) -> tuple[Decimal, Decimal]:
        low, high = information.expected_mi(margins, digits)
        middle = Decimal(float((low + high) / 2))  # the nearest double is not the value
        return middle, middle

    def wide(margins: Margins, digits: int) -> tuple[Decimal, Decimal]:  # noqa: ARG001
        low, high = information.expected_mi(margins, 30)
        return low - Decimal("1e-12"), high + Decimal("1e-12")

    def floating(margins: Margins, digits: int) -> tuple[float, float]:
        low, high = information.expected_mi(margins, digits)
        return math.nextafter(float(low), -1.0), math.nextafter(float(high), 9e9)

    yield Saboteur("counts-of-32-bits", "32 bits", {"contingency.table": wrapping})
    yield Saboteur("counts-in-doubles", "in floats", {"contingency.table": rounded})
    yield Saboteur("a-class-dropped", "is missing", {"contingency.table": dropped})
    yield Saboteur("labels-as-text", "look alike", {"contingency.table": alike})
    yield Saboteur("interval-too-narrow", "misses", {"information.expected_mi": narrow})
    yield Saboteur("interval-never-shrinks", "must shrink", {"information.expected_mi": wide})
    yield Saboteur("interval-of-floats", "finite decimals", {"information.expected_mi": floating})


# -- manners --------------------------------------------------------------------------------------


def _of_manners() -> Iterable[Saboteur]:
    def mutating(points: Points, labels: Any, k: int) -> ClusterSums:
        right = kmeans.accumulate(points, labels, k)
        if isinstance(labels, array):
            labels[0] = k - 1 - labels[0]  # a work buffer, it thought
        return right

    def writing(points: Points, labels: Any, k: int) -> tuple[Fraction, ...]:
        right = kmeans.squares(points, labels, k)
        values = points.data.matrix.values.obj
        if isinstance(values, array) and points.n > 1:
            values.reverse()  # sorted in place, or centred
        return right

    def failing(*_: Any) -> None:
        raise ZeroDivisionError("division by zero")

    def mistaken(points: Points, metric: str) -> array[float]:
        if metric == "no-such-metric":
            raise ValueError(metric)
        return distances.pairwise(points, metric)

    def picky(points: Points, labels: Any, k: int) -> tuple[Fraction, ...]:
        assert labels.typecode == "i"  # buffers of others have no typecode
        return kmeans.squares(points, labels, k)

    def flat_only(points: Points, sums: Any, centres: Any) -> tuple[Fraction, ...]:
        assert centres.values.format == "d"  # plain tuples have no buffer
        return means.residual(points, sums, centres)

    assign = {"kmeans.assign": kmeans.assign}
    yield Saboteur("arrays-only", "AttributeError", {"kmeans.squares": picky})
    yield Saboteur("matrices-only", "AttributeError", {"kmeans.residual": flat_only})
    yield Saboteur("labels-overwritten", "changed its input", {"kmeans.accumulate": mutating})
    yield Saboteur("rows-overwritten", "the data", {"kmeans.squares": writing})
    yield Saboteur("answers-overwritten", "earlier answer", _reusing())
    yield Saboteur("stale-by-shape", "stale prepared data", assign, make=_by(_shape))
    yield Saboteur("stale-by-address", "stale prepared data", assign, make=_by(id))
    yield Saboteur("declines", "declined", assign, refusal="too few rows")
    yield Saboteur("raises", "ZeroDivisionError", {"kmeans.means": failing})
    yield Saboteur("another-error", "ValueError", {"distances.pairwise": mistaken})
    yield Saboteur("prepare-raises", "prepare raised", assign, make=failing)
    yield Saboteur("another-version", "version 0", assign, api_version=0)
    yield Saboteur("no-kernel", "none of the kernels", {"kmeans.everything": failing})
    yield _threaded()
    yield _reduced()


def _reusing() -> Functions:
    """One buffer of labels for all answers about the same rows."""
    buffers: dict[int, array[int]] = {}

    def assign(points: Points, centres: Any, metric: str) -> array[int]:
        right = kmeans.assign(points, centres, metric)
        buffer = buffers.setdefault(id(points), right)
        buffer[:] = right
        return buffer

    return {"kmeans.assign": assign}


def _by(key: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Prepares data once for each key, which says too little about them."""
    known: dict[Any, Any] = {}

    def make(data: Any) -> Any:
        # A copy is kept, so that the data themselves can go and leave their address to others.
        return known.setdefault(key(data), Points(data.select(range(data.n))))

    return make


def _shape(data: Dataset) -> Any:
    return data.kind, data.n, data.d


def _threaded() -> Saboteur:
    """With more than one thread each adds up its part in doubles."""
    number = [1]

    def accumulate(points: Points, labels: array[int], k: int) -> ClusterSums:
        if number[0] == 1:
            return kmeans.accumulate(points, labels, k)
        return float_sums(math.fsum, points, labels, k)

    def set_threads(count: int) -> None:
        number[0] = count

    functions = {"kmeans.accumulate": accumulate}
    return Saboteur("threads-in-doubles", "with 2 threads", functions, set_threads=set_threads)


def _reduced() -> Saboteur:
    """An interval that holds the value, but another one for each number of threads."""
    number = [1]

    def expected_mi(margins: Margins, digits: int) -> tuple[Decimal, Decimal]:
        low, high = information.expected_mi(margins, digits)
        with localcontext() as context:
            context.prec = 200
            return low - number[0] * Decimal("1e-40"), high

    def set_threads(count: int) -> None:
        number[0] = count

    functions = {"information.expected_mi": expected_mi}
    return Saboteur("threads-reduce-anyhow", "not that of one thread", functions,
                    set_threads=set_threads)  # fmt: skip
