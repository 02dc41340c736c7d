"""Exact sums of clusters in limbs, means as the nearest doubles, and exact sums of squares."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from refclust.kernels import kmeans as reference
from refclust.kernels.kmeans import ClusterSums, Step
from refclust.kernels.points import binary
from refclust.numbers.nearest import nearest
from refclust_numpy.assign import assign_again
from refclust_numpy.floats import (
    ROUND,
    Array,
    exponent,
    largest,
    settled,
    two_product,
    two_square,
    two_sum,
)
from refclust_numpy.limbs import HIGHEST, Bins, Grid, totals
from refclust_numpy.rows import Rows, integers, matrix

_BLOCK = 1 << 14  # numbers held at a time: a handful of arrays of them fit a cache
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
    given = integers(labels)
    if not _ordinary(rows):
        return reference.accumulate(rows.points, _plain(given), k)
    bins = Bins(_grid(rows), k * rows.d)
    for begin, end in rows.blocks(_BLOCK):
        _add(bins, rows, slice(begin, end), given[begin:end], 1.0)
    return LimbSums(rows, bins, *_weights(rows, given, k))


def lloyd_step(rows: Rows, centres: Any, before: Any, metric: str = "euclidean") -> Step:
    """Keeps the contract of kmeans.lloyd_step."""
    labels: Any = assign_again(rows, centres, None if before is None else before.labels, metric)
    k = len(centres)
    if before is None:
        return Step(labels, rows.n, accumulate(rows, labels, k))
    old = integers(before.labels)
    moved = np.flatnonzero(labels != old)
    sums = before.sums
    if (
        not isinstance(sums, LimbSums)
        or sums.made_by is not rows
        or len(sums.weights) != k
        or 3 * moved.size > rows.n
    ):
        return Step(labels, int(moved.size), accumulate(rows, labels, k))
    # Sums are exact, so adding what came and taking what went gives the same as starting anew.
    bins = sums.bins.copy()
    step = max(1, _BLOCK * rows.n // max(rows.values.size, 1))  # rows of about so many numbers
    for begin in range(0, moved.size, step):
        some = moved[begin : begin + step]
        _add(bins, rows, some, labels[some], 1.0)
        some = some[old[some] >= 0]
        _add(bins, rows, some, old[some], -1.0)
    return Step(labels, int(moved.size), LimbSums(rows, bins, *_weights(rows, labels, k)))


def _add(bins: Bins, rows: Rows, chosen: slice | Array, labels: Array, sign: float) -> None:
    """Add some rows, or take them away."""
    d = rows.d
    if rows.dense:
        values = rows.values[chosen] * np.float64(sign)
        groups = (labels.astype(np.intp)[:, None] * d + np.arange(d)).reshape(-1)
        values = values.reshape(-1)
        repeats: Array | int = d
    else:
        if isinstance(chosen, slice):
            places: Any = slice(int(rows.starts[chosen.start]), int(rows.starts[chosen.stop]))
            repeats = rows.counts[chosen]
        else:
            places, repeats = rows.picked(chosen)
        values = rows.values[places] * np.float64(sign)
        groups = np.repeat(labels.astype(np.intp) * d, repeats) + rows.columns[places]
    if rows.weights is None:
        bins.add(groups, values)
        return
    product, error = two_product(values, np.repeat(rows.weights[chosen], repeats))
    bins.add(groups, product)
    bins.add(groups, error)


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


def _plain(labels: Array) -> Any:
    """Labels as the reference indexes them."""
    return np.ascontiguousarray(labels).data


def means(rows: Rows, sums: Any) -> memoryview:
    """Keeps the contract of kmeans.means."""
    # Not the array: whoever takes numbers out of it would get NumPy's.
    return _means(rows, sums).data


def _means(rows: Rows, sums: Any) -> Array:
    """All means as an array.

    S / W in double-double: q = S_1 / W leaves the exact remainder r = S - q W up to a few roundings
    of its own small size, and q + r / W is then right to about 2**-100. Where that leaves the
    rounding to the nearest double open, the integers divide.
    """
    d = rows.d
    if not isinstance(sums, LimbSums) or sums.made_by.d != d:
        return _exact_means(sums.exact())
    answer = np.zeros(len(sums.weights) * d)
    cells = sums.bins.filled()
    if not cells.size:
        return answer
    with np.errstate(all="ignore"):
        high, low, dropped = _double_double([level[cells] for level in sums.bins.levels])
        exact = [Fraction(w, 1 << sums.weight_shift) for w in sums.weights]
        weight = np.array([float(w) for w in exact])[cells // d]
        rest = np.array([float(w - Fraction(float(w))) for w in exact])[cells // d]
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
        sure = settled(value, left, doubt) & (np.abs(value) > 2.0**-900) & np.isfinite(value)
    answer[cells] = value + 0.0
    for cell in cells[~sure].tolist():
        total, shift = sums.bins.cell(cell)
        whole = sums.weights[cell // d] << shift
        answer[cell] = nearest(total << sums.weight_shift, whole) if total else 0.0
    return answer


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
    given = integers(labels)
    lightest, heaviest = rows.weight_sizes
    top = 2 * exponent(rows.largest) + max(exponent(heaviest), 0)
    low = 2 * exponent(rows.smallest) if rows.largest else 0
    low += min(exponent(lightest), 0) - (0 if rows.weights is None else 106)
    if not (top < HIGHEST and low > _DEEPEST and exponent(heaviest) < HIGHEST):
        return reference.squares(rows.points, _plain(given), k)
    bins = Bins(Grid.of(top, 4 * max(rows.n, rows.values.size)), k)
    for begin, end in rows.blocks(_BLOCK):
        groups = given[begin:end].astype(np.intp)
        weights = None if rows.weights is None else rows.weights[begin:end]
        if rows.dense:
            values = rows.values[begin:end].astype(np.float64)
            long = _add_squares(bins, groups, values, weights, exponent(rows.largest))
            groups, values = groups[long], values[long]
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


def _add_squares(
    bins: Bins, groups: Array, values: Array, weights: Array | None, top: int
) -> Array:
    """Add the squares of whole rows and return the rows that need more bits than this can take.

    Every number is cut into at most three limbs a, b, c on a grid. Then |x|^2 consists of the
    inner products a.a, 2 a.b, 2 a.c + b.b, 2 b.c and c.c, which are whole numbers of their units
    and below 3 d 4**width < 2**53 of them: exact in doubles, in whatever order they are added.
    """
    n, d = values.shape
    grid = Grid(top, (50 - d.bit_length()) // 2)
    long: Array = np.zeros(n, dtype=bool)
    cut: list[Array] = []
    for level in range(3):
        # As in ``limbs``: doubles near this number are one unit apart.
        grate = 1.5 * 2.0 ** (52 + grid.unit(level))
        part = values + grate
        part -= grate
        values = values - part
        cut.append(part)
        if not values.any():
            break
    else:
        long = (values != 0).any(axis=1)
        for part in cut:
            part[long] = 0.0
    for total in range(2 * len(cut) - 1):
        product = np.zeros(n)
        for i in range(total // 2 + 1):
            if total - i < len(cut):
                twice = 1.0 if 2 * i == total else 2.0
                product += twice * np.einsum("ij,ij->i", cut[i], cut[total - i])
        for piece in _weighed(product, weights):
            bins.add(groups, piece)
    return np.flatnonzero(long)
