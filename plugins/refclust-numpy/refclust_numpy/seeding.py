"""Seeding: squared distances to the nearest centre so far, and the decisions that hang on them.

Estimates with proven bounds decide; where they leave a doubt, exact numbers do, on the few rows
that are in doubt if possible, on all of them by the reference if not.
"""

from __future__ import annotations

from array import array
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from refclust.kernels.clusters import seeding as reference
from refclust.kernels.clusters.masses import beyond as exact_beyond
from refclust.kernels.clusters.seeding import LEAST, Potential
from refclust.kernels.points import binary
from refclust_numpy.drawing import BLOCK, Draws, locate_whole, total
from refclust_numpy.exact.floats import (
    ROUND,
    TINY,
    Array,
    additions,
    exponent,
    largest,
    square_sums,
)
from refclust_numpy.exact.limbs import HIGHEST, totals
from refclust_numpy.exact.sums import accumulate, residual, squares
from refclust_numpy.nearest.ladder import Ladder
from refclust_numpy.nearest.singles import Singles, plausible, screened
from refclust_numpy.rows import Rows, integers, lengths, matrix, segment_sums

_NUMBERS = 1 << 15  # numbers held at a time


def potential(rows: Rows, centre: Any, before: Potential | None = None) -> Potential:
    """Keeps the contract of seeding.potential: a row goes over where it is strictly nearer."""
    centre = tuple(centre)
    if before is None:
        nearest = np.zeros(rows.n, dtype=np.int32)
        squares = _Squares(rows, (centre,)).estimates(np.array(centre))
        return Potential((centre,), nearest, squares, rows)  # type: ignore[arg-type]
    field = _Squares(rows, (*before.centres, centre))
    vector, new = np.array(centre), len(before.centres)
    squares, nearest = field.believed(before).copy(), integers(before.nearest).copy()
    if screened(rows):
        chosen = Singles(rows, [centre]).near(squares)
        estimates = field.some_estimates(vector, chosen)
    else:
        chosen, estimates = np.arange(rows.n), field.estimates(vector)
    old, slacks = squares[chosen], field.slacks
    with np.errstate(all="ignore"):
        doubt = (old + estimates) * field.relative + (slacks if rows.dense else slacks[chosen])
        over = estimates + doubt < old
        doubtful = np.flatnonzero(~over & ~(estimates > old + doubt))
    if doubtful.size:
        # A row that is its old centre stays: nothing is strictly nearer.
        doubtful = doubtful[field.apart(nearest, chosen[doubtful])]
        names, labels = chosen[doubtful], nearest.copy()
        pairs = np.stack([nearest[names], np.full(names.size, new)], axis=1)
        Ladder(rows, field.centres, "euclidean").decide(
            np.repeat(names, 2), pairs.reshape(-1), labels
        )
        over[doubtful] = labels[names] == new
    gone = chosen[over]
    nearest[gone], squares[gone] = new, estimates[over]
    return Potential(field.tuples, nearest, squares, rows)  # type: ignore[arg-type]


def locate(rows: Rows, before: Potential | None, r: float, by: str = "squares") -> int:
    """Keeps the contract of seeding.locate: the row on which the random number falls."""
    if before is None:
        if rows.weights is None:
            numerator, denominator = r.as_integer_ratio()
            return numerator * rows.n // denominator  # masses of 1: the share is the row
        return Draws(rows.weights, 0.0).locate(r, lambda: binary(_list(rows.weights))[0])
    field = _Squares(rows, before.centres)
    if by == "distinct":
        apart = field.apart(integers(before.nearest), np.arange(rows.n))
        if rows.weights is None:
            return locate_whole(apart, r)
        masses = rows.weights * apart
        return Draws(masses, 0.0).locate(r, lambda: binary(_list(masses))[0])
    if rows.draws is None or rows.draws[0] is not before:
        rows.draws = before, _draws(rows, field, before)  # many draws are from one potential
    draws = rows.draws[1]
    if not draws.whole:
        counted = np.arange(rows.n) if rows.weights is None else np.flatnonzero(rows.weights)
        if not field.apart(integers(before.nearest), counted).any():
            return -1  # every row that counts is a centre already

    def exact() -> list[int]:
        own = Potential(before.centres, array("i", integers(before.nearest).tobytes()), array("d"))
        return reference.exact_masses(rows.points, own, "squares")[0]

    return draws.locate(r, exact)


def mass(rows: Rows, before: Potential | None, by: str = "squares") -> tuple[Fraction]:
    """Keeps the contract of seeding.mass: the sums of clusters make that of w |x - c|^2."""
    if before is not None and by == "squares":
        nearest, k = integers(before.nearest), len(before.centres)
        sums = accumulate(rows, nearest, k)
        terms = (*squares(rows, nearest, k), *residual(rows, sums, before.centres))
        return (sum(terms, Fraction(0)),)
    counted = np.ones(rows.n, dtype=bool)
    if before is not None:
        field = _Squares(rows, before.centres)
        counted = field.apart(integers(before.nearest), np.arange(rows.n))
    if rows.weights is None:
        return (Fraction(int(np.count_nonzero(counted))),)
    weights = rows.weights[counted]
    if exponent(largest(weights)) > HIGHEST:
        numbers, shift = binary(_list(weights))
        return (Fraction(sum(numbers), 1 << shift),)
    [total_weight] = totals([weights.copy()], np.zeros(weights.size, np.intp), 1)
    return (total_weight,)


def beyond(rows: Rows, before: Potential | None, passed: Fraction, by: str = "squares") -> int:
    """Keeps the contract of seeding.beyond: the first row whose masses up to it exceed a mass."""

    def exact() -> int:
        own = before and Potential(
            before.centres, array("i", integers(before.nearest).tobytes()), array("d")
        )
        return exact_beyond(rows.points, own, passed, by)

    if before is not None and by == "squares":
        return _draws(rows, _Squares(rows, before.centres), before).beyond(passed, exact)
    masses = np.ones(rows.n) if rows.weights is None else rows.weights
    if before is not None:
        field = _Squares(rows, before.centres)
        masses = masses * field.apart(integers(before.nearest), np.arange(rows.n))
    return Draws(masses, 0.0).beyond(passed, exact)


def _draws(rows: Rows, field: _Squares, before: Potential) -> Draws:
    squares, weights = field.believed(before), rows.weights
    with np.errstate(all="ignore"):
        masses = squares if weights is None else weights * squares
        # Half the doubt of two squares is the error of one; the product is rounded once more.
        error = (field.relative + 2 * ROUND) * total(masses)
        error += total(field.slacks if weights is None else weights * field.slacks)
        error += rows.n * LEAST
    return Draws(masses, error)


def best_candidate(rows: Rows, before: Potential, candidates: tuple[int, ...]) -> int:
    """Keeps the contract of seeding.best_candidate: the row that leaves the least potential."""
    first: dict[tuple[float, ...], int] = {}  # equal rows count once
    for i in candidates:
        first.setdefault(rows.row(i), i)
    chosen = list(first)
    if len(chosen) == 1:
        return candidates[0]
    field = _Squares(rows, (*before.centres, *chosen))
    old, weights = field.believed(before), rows.weights
    if screened(rows):
        chosen = [chosen[k] for k in plausible(rows, old, chosen)]
        if len(chosen) == 1:
            return first[chosen[0]]
    with np.errstate(all="ignore"):
        totals = []
        for centre in chosen:
            least = np.minimum(old, field.estimates(np.array(centre)))
            totals.append(total(least if weights is None else weights * least))
        slack = 4 * total(field.slacks if weights is None else weights * field.slacks)
        slack += 4 * rows.n * LEAST
        # A total is as far off as its terms, the product with the weight and the additions.
        reach = min(totals) * (1 + 8 * (field.relative + (BLOCK + 8) * ROUND)) + slack
        doubtful = [k for k, potential_sum in enumerate(totals) if not potential_sum > reach]
    if len(doubtful) == 1:
        return first[chosen[doubtful[0]]]
    kept = tuple(first[chosen[k]] for k in doubtful)
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
    field = _Squares(rows, before.centres)
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

    def __init__(self, rows: Rows, centres: tuple[tuple[float, ...], ...]) -> None:
        self.rows, self.tuples = rows, centres

    @cached_property
    def centres(self) -> Array:
        """The centres as an array."""
        return matrix(self.tuples)

    def some_estimates(self, centre: Array, chosen: Array) -> Array:
        """Estimated squared distances of some dense rows to one of the centres."""
        answer, step = np.empty(chosen.size), max(1, _NUMBERS // max(self.rows.d, 1))
        with np.errstate(all="ignore"):
            for begin in range(0, chosen.size, step):
                values = self.rows.values[chosen[begin : begin + step]]
                answer[begin : begin + step] = _sum_squares(values - centre)
        return answer

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
                differing = (rows.values[some] != self.centres[names]).any(axis=1)
            else:
                places, counts = rows.picked(some)
                of_row = np.repeat(names, counts)
                differ = rows.values[places] != self.centres[of_row, rows.columns[places]]
                # All its numbers are the centre's, and the centre has no others. Not ``counts``:
                # a row may store zeros, where a component of its direction underflowed.
                differing = segment_sums(differ.astype(np.int64), counts) > 0
                present = segment_sums((rows.values[places] != 0.0).astype(np.int64), counts)
                differing |= present != filled[names]
            answer[begin : begin + step] = differing
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
