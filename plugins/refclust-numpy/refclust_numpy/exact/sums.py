"""Exact sums of clusters in limbs, means as the nearest doubles, and exact sums of squares."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from refclust.kernels.clusters import kmeans as reference
from refclust.kernels.clusters.kmeans import ClusterSums, LloydStep
from refclust.kernels.points import binary
from refclust.numbers.nearest import nearest
from refclust_numpy.exact.floats import (
    ROUND,
    Array,
    exponent,
    largest,
    settled,
    two_product,
    two_square,
    two_sum,
)
from refclust_numpy.exact.limbs import HIGHEST, Bins, Grid, cut_squares, totals
from refclust_numpy.nearest.assign import assign_again
from refclust_numpy.rows import Rows, integers, matrix

_BLOCK = 1 << 14  # numbers held at a time: a handful of arrays of them fit a cache
_MANY, _ROWS = 1 << 22, 1 << 13  # the same where parts of them are worked on one by one
_DEEPEST = -1074 + 110  # products of lowest bits stay representable, with room to spare


class LimbSums:
    """The exact weights and sums of clusters, the sums still in limbs."""

    def __init__(self, rows: Rows, bins: Bins, weights: tuple[int, ...], weight_shift: int) -> None:
        self.made_by, self.bins = rows, bins
        self.weights, self.weight_shift = weights, weight_shift

    def exact(self) -> ClusterSums:
        """The sums as plain integers over a power of two."""
        totals, shift = self.bins.integers()
        d = self.made_by.d
        sums = tuple(tuple(totals[k * d : (k + 1) * d]) for k in range(len(self.weights)))
        return ClusterSums(self.weights, self.weight_shift, sums, shift)

    def weight(self, k: int) -> Fraction:
        """The weight of a cluster."""
        return Fraction(self.weights[k], 1 << self.weight_shift)


def accumulate(rows: Rows, labels: Any, k: int) -> LimbSums | ClusterSums:
    """Keeps the contract of kmeans.accumulate."""
    groups = integers(labels)
    if not _ordinary(rows):
        return reference.accumulate(rows.points, _for_reference(groups), k)
    bins = Bins(_grid(rows), k * rows.d)
    for begin, end in rows.blocks(_BLOCK):
        _add(bins, rows, slice(begin, end), groups[begin:end])
    return LimbSums(rows, bins, *_weights(rows, groups, k))


def lloyd_step(rows: Rows, centres: Any, before: Any, metric: str = "euclidean") -> LloydStep:
    """Keeps the contract of kmeans.lloyd_step."""
    labels: Any = assign_again(rows, centres, metric)
    k, last = len(centres), rows.last
    moved = None if before is None else np.flatnonzero(labels != integers(before.labels))
    changed = rows.n if moved is None else int(moved.size)
    sums = _changed(rows, labels, moved, before, k) if moved is not None else None
    if sums is None and last is not None:
        since = np.flatnonzero(labels != integers(last.labels))
        sums = _changed(rows, labels, since, last, k)
    rows.last = LloydStep(labels, changed, sums or accumulate(rows, labels, k))
    return rows.last


def _changed(rows: Rows, labels: Array, moved: Array, before: LloydStep, k: int) -> LimbSums | None:
    """The sums of a step before, brought up to date, if they are ours and few rows moved.

    Sums are exact, so adding what came and taking what went gives the same as starting anew.
    """
    sums, old = before.sums, integers(before.labels)
    if not isinstance(sums, LimbSums) or sums.made_by is not rows or len(sums.weights) != k:
        return None
    if 3 * moved.size > rows.n:
        return None
    bins = sums.bins.copy()
    step = max(1, _BLOCK * rows.n // max(rows.values.size, 1))  # rows of about so many numbers
    for begin in range(0, moved.size, step):
        some = moved[begin : begin + step]
        there = old[some] >= 0
        _add(bins, rows, some[~there], labels[some[~there]])
        some = some[there]
        _add(bins, rows, some, labels[some], old[some])
    if rows.weights is not None:
        return LimbSums(rows, bins, *_weights(rows, labels, k))
    came = np.bincount(labels[moved], minlength=k)
    gone = np.bincount(old[moved][old[moved] >= 0], minlength=k)
    return LimbSums(rows, bins, tuple((np.array(sums.weights) + came - gone).tolist()), 0)


def _add(
    bins: Bins, rows: Rows, chosen: slice | Array, labels: Array, old: Array | None = None
) -> None:
    """Add some rows to clusters, and maybe take them from others."""
    if not labels.size:
        return
    values, repeats, columns = _numbers(rows, chosen)

    def groups(labels: Array) -> Array:
        starts = labels.astype(np.intp) * rows.d
        if rows.dense:
            return np.add(starts[:, None], columns).reshape(-1)
        return np.repeat(starts, repeats) + columns

    places = groups(labels), None if old is None else groups(old)
    if rows.weights is None:
        bins.add(places[0], values, places[1])
        return
    for part in two_product(values, np.repeat(rows.weights[chosen], repeats)):
        bins.add(places[0], part, places[1])


def _numbers(rows: Rows, chosen: slice | Array) -> tuple[Array, Array | int, Array]:
    """The numbers of some rows, in an array of their own, how many a row has, their columns."""
    if rows.dense:
        values = rows.values[chosen].astype(np.float64)
        return values.reshape(-1), rows.d, np.arange(rows.d)
    if isinstance(chosen, slice):
        places: Any = slice(int(rows.starts[chosen.start]), int(rows.starts[chosen.stop]))
        repeats = rows.counts[chosen]
    else:
        places, repeats = rows.picked(chosen)
    return rows.values[places].astype(np.float64), repeats, rows.columns[places]


def _grid(rows: Rows) -> Grid:
    top = exponent(rows.largest)
    if rows.weights is None:
        return Grid.of(top, rows.n)
    return Grid.of(top + exponent(rows.weight_sizes[1]), 2 * rows.n)


def _ordinary(rows: Rows) -> bool:
    """Whether the numbers are such that limbs and exact products neither overflow nor underflow."""
    if exponent(rows.largest) > HIGHEST:
        return False
    if rows.weights is None or rows.largest == 0.0:
        return True
    lightest, heaviest = rows.weight_sizes
    return (
        exponent(rows.largest) + max(exponent(heaviest), 0) <= HIGHEST
        and exponent(heaviest) <= HIGHEST
        and exponent(rows.smallest) + min(exponent(lightest), 0) > _DEEPEST
    )


def _weights(rows: Rows, labels: Array, k: int) -> tuple[tuple[int, ...], int]:
    if rows.weights is None:
        return tuple(np.bincount(labels, minlength=k).tolist()), 0
    bins = Bins(Grid.of(exponent(rows.weight_sizes[1]), rows.n), k)
    bins.add(labels.astype(np.intp), rows.weights.copy())
    totals, shift = bins.integers()
    return tuple(totals), shift


def _for_reference(labels: Array) -> Any:
    """Labels as the reference indexes them."""
    return np.ascontiguousarray(labels).data


def means(rows: Rows, sums: Any) -> memoryview:
    """Keeps the contract of kmeans.means."""
    # Not the array: whoever takes numbers out of it would get NumPy's.
    return _means(rows, sums).data


def _means(rows: Rows, sums: Any) -> Array:
    """All means as an array, a few at a time."""
    d = rows.d
    if not isinstance(sums, LimbSums) or sums.made_by.d != d:
        return _exact_means(sums.exact())
    answer = np.zeros(len(sums.weights) * d)
    exact = [Fraction(w, 1 << sums.weight_shift) for w in sums.weights]
    weights = np.repeat(np.array([float(w) for w in exact]), d)
    rests = np.repeat(np.array([float(w - Fraction(float(w))) for w in exact]), d)
    for begin in range(0, answer.size, _BLOCK):
        levels = [level[begin : begin + _BLOCK] for level in sums.bins.levels]
        filled = [level != 0 for level in levels]
        places = np.flatnonzero(np.logical_or.reduce(filled)) if filled else np.empty(0, np.intp)
        if not places.size:
            continue
        cells = places + begin
        with np.errstate(all="ignore"):
            of_cells = weights[cells], rests[cells]
            value, sure = _quotients([level[places] for level in levels], *of_cells)
        answer[cells] = value + 0.0
        for cell in cells[~sure].tolist():
            total, shift = sums.bins.cell(cell)
            whole = sums.weights[cell // d] << shift
            answer[cell] = nearest(total << sums.weight_shift, whole) if total else 0.0
    return answer


def _quotients(levels: Sequence[Array], weight: Array, rest: Array) -> tuple[Array, Array]:
    """Sums in limbs over weights, each two doubles, and where these are the nearest doubles.

    S / W in double-double: q = S_1 / W leaves the exact remainder r = S - q W up to a few roundings
    of its own small size, and q + r / W is then right to about 2**-100.
    """
    high, low, dropped = _double_double(levels)
    first = high / weight
    product, error = two_product(first, weight)
    # high - product is exact: both are within a few units of each other. Its error, that of
    # low and of the products with what the weight leaves are all below u of u |S|.
    remainder = (((high - product) - error) + low) - first * rest
    second = remainder / weight
    value, left = two_sum(first, second)
    # second is a few roundings of itself off, plus those of the remainder's terms; |low| and
    # |remainder| are below 4 u |S|, so 32 u (u |q|) is ample, and what was dropped counts.
    doubt = 64 * ROUND * (np.abs(second) + ROUND * np.abs(first)) + 2 * dropped / weight
    sure = settled(value, left, doubt) & (np.abs(value) > 2.0**-900)
    open_ = np.flatnonzero(~sure)
    if open_.size:
        # Halfway between two doubles, exactly? If all of S = first W + second W holds without
        # any rounding, the quotient is first + second, and their sum is rounded as it has to be.
        gap, lost = two_sum(high[open_], -product[open_])
        gap, more = two_sum(gap, -error[open_])
        gap, most = two_sum(gap, low[open_])
        back, odd = two_product(second[open_], weight[open_])
        whole = (gap == back) & (np.abs(value[open_]) > 2.0**-400)
        for part in (lost, more, most, odd, rest[open_], dropped[open_]):
            whole &= part == 0
        # No product above underflows: an odd bit would be far above 2**-1074.
        whole &= (np.abs(second[open_]) > 2.0**-600) & (weight[open_] < 2.0**400)
        sure[open_] = whole & (weight[open_] > 2.0**-400)
    return value, sure


def _double_double(levels: Sequence[Array]) -> tuple[Array, Array, Array]:
    """Limbs as two doubles, and a bound of what these leave out.

    Every level is added exactly to the pair and its error kept as long as there is room.
    """
    high, low = np.zeros_like(levels[0]), np.zeros_like(levels[0])
    dropped = np.zeros_like(high)
    for level in levels:
        high, error = two_sum(high, level)
        low, lost = two_sum(low, error)
        dropped += np.abs(lost)
    high, low = two_sum(high, low)
    return high, low, dropped * (1 + 64 * ROUND)


def _exact_means(sums: ClusterSums) -> Array:
    cells = []
    for weight, cluster in zip(sums.weights, sums.sums, strict=True):
        whole = weight << sums.shift
        cells += [nearest(s << sums.weight_shift, whole) if s and whole else 0.0 for s in cluster]
    return np.array(cells, dtype=np.float64)


def residual(rows: Rows, sums: Any, centres: Any) -> tuple[Fraction, ...]:
    """Keeps the contract of kmeans.residual: W |c|^2 - 2 c.S of each cluster."""
    c = matrix(centres)
    products, squares = _products(rows, sums, c), _squares(c)
    weights = [Fraction(w, 1 << sums.weight_shift) for w in sums.weights]
    return tuple(
        w * square - 2 * product if w else Fraction(0)
        for w, square, product in zip(weights, squares, products, strict=True)
    )


def cosine_terms(rows: Rows, sums: Any, centres: Any) -> tuple[Fraction, ...]:
    """Keeps the contract of kmeans.cosine_terms: the signed square of S.c / |c|."""
    c = matrix(centres)
    products, squares = _products(rows, sums, c), _squares(c)
    return tuple(
        product * abs(product) / square if product else Fraction(0)
        for square, product in zip(squares, products, strict=True)
    )


def _products(rows: Rows, sums: Any, centres: Array) -> tuple[Fraction, ...]:
    """c.S of each cluster."""
    k, d = centres.shape
    if isinstance(sums, LimbSums) and sums.made_by.d == rows.d == d:
        cells = np.flatnonzero(centres)
        flat = centres.reshape(-1)[cells]
        low = exponent(_least(flat)) + sums.bins.grid.unit(max(len(sums.bins.levels) - 1, 0))
        tops = [exponent(largest(level)) for level in sums.bins.levels]
        top = exponent(largest(flat)) + max(tops, default=0)
        if low > _DEEPEST and max(top, exponent(largest(flat))) < HIGHEST:
            terms = [t for level in sums.bins.levels for t in two_product(flat, level[cells])]
            return totals(terms, cells // d, k) if terms else (Fraction(0),) * k
    exact = sums.exact()
    answer = []
    for centre, s in zip(centres.tolist(), exact.sums, strict=True):
        c, t = binary(centre)
        total = sum(a * b for a, b in zip(c, s, strict=True))
        answer.append(Fraction(total, 1 << (exact.shift + t)))
    return tuple(answer)


def _squares(centres: Array) -> tuple[Fraction, ...]:
    """|c|^2 of each centre."""
    if 2 * exponent(_least(centres)) > _DEEPEST and 2 * exponent(largest(centres)) < HIGHEST:
        k, d = centres.shape
        cells = np.flatnonzero(centres)
        return totals(two_square(centres.reshape(-1)[cells]), cells // max(d, 1), k)
    answer = []
    for centre in centres.tolist():
        c, t = binary(centre)
        answer.append(Fraction(sum(a * a for a in c), 1 << (2 * t)))
    return tuple(answer)


def _least(values: Array) -> float:
    sizes = np.abs(values[values != 0])
    return float(sizes.min()) if sizes.size else 1.0


def squares(rows: Rows, labels: Any, k: int) -> tuple[Fraction, ...]:
    """Keeps the contract of kmeans.squares: the sum of w |x|^2 of each cluster."""
    numbers = integers(labels)
    lightest, heaviest = rows.weight_sizes
    top = 2 * exponent(rows.largest) + max(exponent(heaviest), 0)
    low = 2 * exponent(rows.smallest) if rows.largest else 0
    low += min(exponent(lightest), 0) - (0 if rows.weights is None else 106)
    if not (top < HIGHEST and low > _DEEPEST and exponent(heaviest) < HIGHEST):
        return reference.squares(rows.points, _for_reference(numbers), k)
    bins = Bins(Grid.of(top, 4 * max(rows.n, rows.values.size)), k)
    for begin, end in rows.blocks(_MANY if rows.dense else _BLOCK, _ROWS):
        groups = numbers[begin:end].astype(np.intp)
        weights = None if rows.weights is None else rows.weights[begin:end]
        if rows.dense:
            values = rows.values[begin:end]
            products, long = cut_squares(values, exponent(rows.largest))
            for product in products:
                for piece in _weighed(product, weights):
                    bins.add(groups, piece)
            groups, values = groups[long], values[long].astype(np.float64)
            weights = None if weights is None else weights[long]
        else:
            values = rows.values[rows.starts[begin] : rows.starts[end]].astype(np.float64)[:, None]
            groups = np.repeat(groups, rows.counts[begin:end])
            weights = None if weights is None else np.repeat(weights, rows.counts[begin:end])
        for part in two_square(values):
            for piece in _weighed(part, weights):
                bins.add_rows(groups, piece)
    return bins.fractions()


def _weighed(values: Array, weights: Array | None) -> Sequence[Array]:
    """Numbers, or rows of numbers, times weights, exactly, as some arrays to be added up."""
    if weights is None:
        return [values]
    return two_product(values, weights if values.ndim == 1 else weights[:, None])
