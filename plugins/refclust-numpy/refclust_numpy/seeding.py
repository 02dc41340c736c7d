"""Seeding: squared distances to the nearest centre so far, and the decisions that hang on them.

Estimates with proven bounds decide; where they leave a doubt, exact numbers do, on the few rows
that are in doubt if possible, on all of them by the reference if not.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from refclust.kernels import seeding as reference
from refclust.kernels.points import binary
from refclust.kernels.seeding import Potential
from refclust.numbers.argmin import locate_exact
from refclust_numpy.floats import ROUND, TINY, Array, additions, square_sums
from refclust_numpy.ladder import Ladder
from refclust_numpy.rows import Rows, integers, lengths, matrix, segment_sums

_NUMBERS = 1 << 15  # numbers held at a time
_BLOCK = 1024


def potential(rows: Rows, centre: Any, before: Potential | None = None) -> Potential:
    """Keeps the contract of seeding.potential: a row goes over where it is strictly nearer."""
    centre = tuple(centre)
    if before is None:
        nearest = np.zeros(rows.n, dtype=np.int32)
        squares = _Squares(rows, np.array([centre])).estimates(np.array(centre))
        return Potential((centre,), nearest, squares, rows)  # type: ignore[arg-type]
    centres = (*before.centres, centre)
    field = _Squares(rows, matrix(centres))
    squares = field.estimates(field.centres[-1])
    old, new = field.believed(before), len(before.centres)
    nearest = integers(before.nearest).copy()
    with np.errstate(all="ignore"):
        doubt = (old + squares) * field.relative + field.slacks
        over = squares + doubt < old
        doubtful = np.flatnonzero(~over & ~(squares > old + doubt))
    if doubtful.size:
        # A row that is its old centre stays: nothing is strictly nearer.
        doubtful = doubtful[field.apart(nearest, doubtful)]
        labels = nearest.copy()
        pairs = np.stack([nearest[doubtful], np.full(doubtful.size, new)], axis=1)
        Ladder(rows, field.centres, "euclidean").decide(
            np.repeat(doubtful, 2), pairs.reshape(-1), labels
        )
        over[doubtful] = labels[doubtful] == new
    nearest[over] = new
    return Potential(centres, nearest, np.where(over, squares, old), rows)  # type: ignore[arg-type]


def locate(rows: Rows, before: Potential | None, r: float, by: str = "squares") -> int:
    """Keeps the contract of seeding.locate: the row on which the random number falls."""
    if before is None:
        if rows.weights is None:
            numerator, denominator = r.as_integer_ratio()
            return numerator * rows.n // denominator  # masses of 1: the share is the row
        return _locate(rows.weights, 0.0, r, lambda: binary(_list(rows.weights))[0])
    field = _Squares(rows, matrix(before.centres))
    if by == "distinct":
        apart = field.apart(integers(before.nearest), np.arange(rows.n))
        if rows.weights is None:
            return _locate_exact(apart, r)
        masses = rows.weights * apart
        return _locate(masses, 0.0, r, lambda: binary(_list(masses))[0])
    squares, weights = field.believed(before), rows.weights
    with np.errstate(all="ignore"):
        masses = squares if weights is None else weights * squares
        # Half the doubt of two squares is the error of one; the product is rounded once more.
        error = (field.relative + 2 * ROUND) * _total(masses)
        error += _total(field.slacks if weights is None else weights * field.slacks)
    if not masses.any():
        counted = np.arange(rows.n) if weights is None else np.flatnonzero(weights)
        if not field.apart(integers(before.nearest), counted).any():
            return -1  # every row that counts is a centre already

    def exact() -> list[int]:
        own = Potential(before.centres, array("i", integers(before.nearest).tobytes()), array("d"))
        pairs = reference._exact_masses(rows.points, own)
        return [w * s for w, s in pairs]

    return _locate(masses, error, r, exact)


def best_candidate(rows: Rows, before: Potential, candidates: tuple[int, ...]) -> int:
    """Keeps the contract of seeding.best_candidate: the row that leaves the least potential."""
    chosen = dict.fromkeys(rows.row(i) for i in candidates)  # equal rows count once
    first = {row: i for i, row in reversed([(i, rows.row(i)) for i in candidates])}
    if len(chosen) == 1:
        return candidates[0]
    centres = matrix([*before.centres, *chosen])
    field = _Squares(rows, centres)
    old, weights = field.believed(before), rows.weights
    with np.errstate(all="ignore"):
        totals = []
        for centre in centres[len(before.centres) :]:
            least = np.minimum(old, field.estimates(centre))
            totals.append(_total(least if weights is None else weights * least))
        slack = 4 * _total(field.slacks if weights is None else weights * field.slacks)
        # A total is as far off as its terms, the product with the weight and the additions.
        reach = min(totals) * (1 + 8 * (field.relative + (_BLOCK + 8) * ROUND)) + slack
        doubtful = [k for k, total in enumerate(totals) if not total > reach]
    if len(doubtful) == 1:
        return first[list(chosen)[doubtful[0]]]
    exact = [list(chosen)[k] for k in doubtful]
    kept = tuple(first[row] for row in exact)
    own = Potential(before.centres, array("i", integers(before.nearest).tobytes()), array("d"))
    return reference.best_candidate(rows.points, own, kept)


def farthest(rows: Rows, before: Potential, labels: Any = None, cluster: int = 0) -> int:
    """Keeps the contract of seeding.farthest: the farthest row of positive weight."""
    asked = np.ones(rows.n, dtype=bool) if rows.weights is None else rows.weights > 0
    if labels is not None:
        asked &= integers(labels) == cluster
    chosen = np.flatnonzero(asked)
    if not chosen.size:
        return -1
    field = _Squares(rows, matrix(before.centres))
    nearest = integers(before.nearest)
    with np.errstate(all="ignore"):
        squares = field.believed(before)[chosen]
        slack = 4 * float(np.max(np.broadcast_to(field.slacks, rows.n)[chosen]))
        reach = squares * (1 + 4 * field.relative) + slack
        doubtful = chosen[~(reach < squares.max())]
    doubtful = doubtful[field.apart(nearest, doubtful)]
    if doubtful.size <= 1:
        return int(doubtful[0]) if doubtful.size else -1
    known: dict[tuple[tuple[float, ...], int], Fraction] = {}
    best, square = -1, Fraction(0)
    for i in doubtful.tolist():
        key = rows.row(i), int(nearest[i])
        if key not in known:
            known[key] = _exact_square(key[0], before.centres[key[1]])
        if known[key] > square:
            best, square = i, known[key]
    return best


class _Squares:
    """Squared distances to some centres: estimates, and how far off they may be."""

    def __init__(self, rows: Rows, centres: Array) -> None:
        self.rows, self.centres = rows, centres

    def estimates(self, centre: Array) -> Array:
        """Estimated squared distances of all rows to one of the centres."""
        rows, answer = self.rows, np.empty(self.rows.n)
        with np.errstate(all="ignore"):
            for begin, end in rows.blocks(_NUMBERS):
                if rows.dense:
                    answer[begin:end] = _sum_squares(rows.values[begin:end] - centre)
                    continue
                places = slice(int(rows.starts[begin]), int(rows.starts[end]))
                terms = rows.values[places] * centre[rows.columns[places]]
                products = segment_sums(terms, rows.counts[begin:end])
                answer[begin:end] = self._expanded(
                    rows.lengths[begin:end], products, lengths(centre[None, :])
                )
        return answer

    def believed(self, before: Potential) -> Array:
        """The estimates of a potential, made anew if they are not from these rows."""
        rows = self.rows
        if before.made_by is rows:
            return np.asarray(before.squares)
        nearest, answer = integers(before.nearest), np.empty(rows.n)
        sizes = lengths(self.centres)
        with np.errstate(all="ignore"):
            for begin, end in rows.blocks(_NUMBERS):
                names = nearest[begin:end]
                if rows.dense:
                    answer[begin:end] = _sum_squares(rows.values[begin:end] - self.centres[names])
                    continue
                counts = rows.counts[begin:end]
                places = slice(int(rows.starts[begin]), int(rows.starts[end]))
                of_row = np.repeat(names, counts)
                terms = rows.values[places] * self.centres[of_row, rows.columns[places]]
                products = segment_sums(terms, counts)
                answer[begin:end] = self._expanded(rows.lengths[begin:end], products, sizes[names])
        return answer

    def _expanded(self, x: Array, products: Array, c: Array) -> Array:
        return np.maximum(x * x + (c * c - 2.0 * products), 0.0)

    @property
    def relative(self) -> float:
        """Half the relative doubt of dense squares, and the roundings of comparing them.

        A difference is rounded once, the sum of the squares ``additions`` times.
        """
        return 4 * (additions(self.rows.d) + 10) * ROUND if self.rows.dense else 4 * ROUND

    @property
    def slacks(self) -> Any:
        """The absolute error of each square.

        Of a sparse row with m numbers: x.x errs by m + 4, c.c by additions + 4 and 2 x.c by m + 2
        roundings of terms that are together at most (|x| + |c|)^2.
        """
        rows = self.rows
        if rows.dense:
            return TINY
        with np.errstate(all="ignore"):
            longest = lengths(self.centres).max()
            unit = 4 * (rows.counts + additions(rows.d) + 16) * ROUND
            return unit * (rows.lengths + longest) ** 2 + TINY

    def apart(self, nearest: Array, chosen: Array) -> Array:
        """For some rows whether they differ from the centre named for them; this is exact."""
        rows = self.rows
        answer = np.empty(chosen.size, dtype=bool)
        filled = np.count_nonzero(self.centres, axis=1)
        width = rows.d if rows.dense else int(rows.counts.max(initial=1))
        step = max(1, _NUMBERS // max(width, 1))
        for begin in range(0, chosen.size, step):
            some = chosen[begin : begin + step]
            names = nearest[some]
            if rows.dense:
                found = (rows.values[some] != self.centres[names]).any(axis=1)
            else:
                places, counts = rows.picked(some)
                of_row = np.repeat(names, counts)
                differ = rows.values[places] != self.centres[of_row, rows.columns[places]]
                # All its numbers are the centre's, and the centre has no others.
                found = segment_sums(differ.astype(np.int64), counts) > 0
                found |= counts != filled[names]
            answer[begin : begin + step] = found
        return answer


def _sum_squares(differences: Array) -> Array:
    if differences.shape[1] <= 256:
        answer: Array = np.einsum("ij,ij->i", differences, differences)
        return answer
    return square_sums(differences)


def _exact_square(x: tuple[float, ...], c: tuple[float, ...]) -> Fraction:
    whole, shift = binary([*x, *c])
    d = len(x)
    total = sum((a - b) ** 2 for a, b in zip(whole[:d], whole[d:], strict=True))
    return Fraction(total, 1 << (2 * shift))


def _list(values: Any) -> list[float]:
    listed: list[float] = np.asarray(values).tolist()
    return listed


def _blocks(masses: Any) -> Array:
    values = np.broadcast_to(np.asarray(masses, dtype=np.float64), np.shape(masses))
    return np.add.reduceat(values, np.arange(0, values.size, _BLOCK))


def _total(masses: Any) -> float:
    """The sum of numbers of one sign, off by at most _BLOCK + 1 roundings of itself."""
    if np.ndim(masses) == 0:
        return float(masses)
    try:
        return math.fsum(_blocks(masses).tolist())
    except OverflowError:
        return math.inf  # no estimate: exact numbers will decide


def _locate_exact(masses: Array, r: float) -> int:
    """The place of r among whole masses; -1 if there is no mass."""
    shares = np.cumsum(masses, dtype=np.int64)
    numerator, denominator = r.as_integer_ratio()
    goal = numerator * int(shares[-1]) // denominator
    row = int(np.searchsorted(shares, goal, side="right"))
    return row if row < shares.size else -1


def _locate(masses: Array, error: float, r: float, exact: Callable[[], list[int]]) -> int:
    """The least i whose masses up to i exceed the share r of all, by sums of blocks.

    ``error`` bounds that of any partial sum, roundings of the sums aside. A running sum of blocks
    and of masses within one block rounds less than blocks + 2 _BLOCK times, always less than u of
    the total.
    """
    with np.errstate(all="ignore"):
        sums = np.cumsum(_blocks(masses))
        whole = float(sums[-1])
        doubt = 4 * (error + (sums.size + 2 * _BLOCK + 8) * (ROUND * whole + 5e-324))
        goal = r * whole
        block = int(np.searchsorted(sums, goal, side="right"))
        if math.isfinite(doubt) and block < sums.size:
            begin = block * _BLOCK
            inside = np.cumsum(masses[begin : begin + _BLOCK])
            inside += sums[block - 1] if block else 0.0
            i = int(np.searchsorted(inside, goal, side="right"))
            below = inside[i - 1] if i else (sums[block - 1] if block else -math.inf)
            if i < inside.size and inside[i] - goal > doubt and goal - below > doubt:
                return begin + i
    row = locate_exact(exact(), r)
    return row if row < masses.size else -1
