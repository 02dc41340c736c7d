"""Assignment: a matrix product with a proven bound screens the rows, doubtful ones climb on.

The screen works on a chunk of rows at a time and in singles first; where those leave too many rows
in doubt, doubles take over for the rest of the pass. Decisions are exact on every rung, so neither
the order in which a BLAS adds, nor its threads, nor the kind of floats can change a label.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from refclust_numpy.floats import ROUND, SINGLE, Array, additions, largest, square_sums
from refclust_numpy.ladder import Ladder
from refclust_numpy.rows import Memory, Rows, distinct, matrix, segment_sums

_SCORES = 1 << 17  # numbers of a chunk of scores
_NUMBERS = 1 << 19  # numbers of a chunk of rows
_ALONE = 1 << 18  # products that one thread of a BLAS does alone


def assign(rows: Rows, centres: Any, metric: str = "euclidean") -> Array:
    """Keeps the contract of kmeans.assign."""
    given = matrix(centres)
    first = distinct(given)  # of equal centres the lowest index gets everything
    labels = np.zeros(rows.n, dtype=np.int32)
    if first.size > 1:
        ladder = Ladder(rows, given[first] if first.size < len(given) else given, metric)
        screen = _Dense(ladder) if rows.dense else _Sparse(ladder)
        screen.run(labels)
        labels = labels if first.size == len(given) else first[labels].astype(np.int32)
    elif first[0]:
        labels[:] = first[0]
    return labels


def assign_again(rows: Rows, centres: Any, before: Any, metric: str) -> Array:
    """Labels as ``assign`` gives them, looking only at rows that may have changed theirs.

    After a pass every dense row has a margin: so much farther than its own centre are all others,
    at the least. When centres move, distances change by no more than the moves, so a row whose
    margin exceeds the move of its own centre plus the largest move of another keeps its label; it
    is not even a tie. (Hamerly 2010, with the margin kept instead of two bounds.)
    """
    given, memory, rows.memory = matrix(centres), rows.memory, None
    if not rows.dense or metric == "cosine" or not 1 < distinct(given).size == len(given):
        return assign(rows, centres, metric)
    chosen = None
    if memory is not None and memory.labels is before and memory.centres.shape == given.shape:
        labels, margins = before.copy(), memory.margins
        with np.errstate(all="ignore"):
            step = np.sqrt(square_sums(given - memory.centres))
            # Squares that underflow would hide a move below 2**-500.
            step = step * (1 + 4 * (additions(rows.d) + 8) * ROUND) + 2.0**-500
            others = np.full(step.size, step.max())
            widest = int(step.argmax())
            others[widest] = np.delete(step, widest).max()
            margins -= (step + others)[before]
            margins *= 1 - 2.0**-48  # more than the roundings of what was taken away
            chosen = np.flatnonzero(~(margins > 0.0))
        if 4 * chosen.size > 3 * rows.n:
            chosen = None
        else:
            rows.rungs["kept"] += rows.n - chosen.size
    else:
        labels, margins = np.zeros(rows.n, dtype=np.int32), np.zeros(rows.n)
    _Dense(Ladder(rows, given, metric)).run(labels, chosen, margins)
    labels.flags.writeable = False  # they stand for the margins
    rows.memory = Memory(labels, given, margins)
    return labels


class _Screen:
    """What dense and sparse screens share: which scores are proven, and who decides the rest.

    All numbers are below 2**20, scaled by one power of two if need be, and the largest is above
    2**-20, so that singles neither overflow nor lose a number that matters.
    """

    def __init__(self, ladder: Ladder) -> None:
        self.ladder, self.rows = ladder, ladder.rows
        self.k, self.d = ladder.centres.shape
        self.offset = np.zeros(self.d)
        if self.rows.dense and not ladder.cosine:
            self.offset = ladder.centres.mean(axis=0)
        self.scale = self._scale()
        self.kinds: list[tuple[type[np.floating[Any]], float]] = [
            (np.float32, SINGLE),
            (np.float64, ROUND),
        ]
        if self._roundings() * SINGLE > 0.005:
            del self.kinds[0]  # the bounds below leave out terms of second order
        self._set(*self.kinds.pop(0))

    def _scale(self) -> float:
        """The power of two, 0.0 if there is none that helps."""
        size = max(self._reach(), 0.0)
        if not 2.0**-900 < size < 2.0**900:
            return 0.0
        if 2.0**-20 < size < 2.0**20:
            return 1.0  # close enough to 1
        return float(2.0 ** -math.frexp(size)[1])

    def _reach(self) -> float:
        rows, ladder = self.rows, self.ladder
        if ladder.cosine or not rows.dense:
            return max(rows.largest, 0.0 if ladder.cosine else largest(ladder.centres))
        low, high = rows.box
        with np.errstate(all="ignore"):
            parts = (low - self.offset, high - self.offset, ladder.centres - self.offset)
            return float(np.max([largest(part) for part in parts]))

    def _set(self, kind: type[np.floating[Any]], u: float) -> None:
        """Prepare the centres for scores of one kind of floats.

        The score of a centre is |c|^2 - 2 x.c, with x and c moved by the offset and scaled, which
        differs from the squared distance by |x|^2 only; under the cosine it is -x.c / |c|.
        """
        self.kind, self.u = kind, u
        if self.ladder.cosine:
            self.vectors = (-self.ladder.units).astype(kind)
            self.constants = np.zeros(self.k, dtype=kind)
            self.longest = 0.0
            return
        with np.errstate(all="ignore"):
            moved = (self.ladder.centres - self.offset) * self.scale
            squares = square_sums(moved)
        self.vectors = (-2.0 * moved).astype(kind)
        self.constants = squares.astype(kind)
        self.longest = 1.01 * math.sqrt(squares.max())

    def _roundings(self) -> int:
        m = self.d if self.rows.dense else int(self.rows.counts.max(initial=0))
        return m + 24

    def _doubt(self, sizes: Array, counts: Array | int) -> Array:
        """Twice the error of the scores of each row, given |x| and its numbers m.

        An entry of x and of c is moved, scaled and rounded to the kind of floats: at most 2 u each,
        so 4 u of every product. The products of m entries and the constant are added in some
        order, fused or not: (m + 2) u of the sum of their magnitudes, which is at most
        2 |x| |c| + |c|^2. The constant is rounded once more, and so is the bound when compared.
        In doubles, |c|^2 is off by additions + 2 roundings and a unit centre by additions + 8.
        Together less than ((m + 16) u + (additions + 16) ROUND) (2 |x| |c| + |c|^2). Sizes are
        taken 1 percent too large, which covers their own errors and terms of second order.
        Numbers below 2**20 lose less than m 2**-120 by underflow, and a size, whose squares may
        underflow, less than d 2**-60.
        """
        with np.errstate(all="ignore"):
            unit = 2.04 * (self.u * (counts + 16) + ROUND * (additions(self.d) + 16))
            size = 1.01 * (sizes + self.d * 2.0**-60)
            if not self.ladder.cosine:
                size = (2.0 * size + self.longest) * self.longest
            doubt: Array = (unit * size + (self.d + 8) * 2.0**-120).astype(self.kind)
            return doubt

    def _sort_out(
        self, names: Array, hits: Array, reaches: Array, by_centre: bool, labels: Array
    ) -> Array | None:
        """Take the rows with one possible centre, send the others up the ladder and say which.

        ``names`` are the rows, in ascending order, ``hits`` the places of scores within reach of
        the least, in a matrix of centres by rows or of rows by centres.
        """
        rows, name = reaches.size, self.kind.__name__
        if by_centre:
            k, i = np.divmod(hits, rows) if rows & (rows - 1) else _parts(hits, rows)
        else:
            i, k = np.divmod(hits, self.k)
        labels[names[i]] = k
        # A least score that is a number is within its own reach, so every row has a hit then.
        if hits.size == rows and np.isfinite(reaches).all():
            self.rows.rungs[name] += rows
            return None
        found = np.bincount(i, minlength=rows)
        doubtful = found[i] > 1
        pair_rows, pair_centres = i[doubtful], k[doubtful]
        lost = np.flatnonzero(found == 0)
        if lost.size:
            pair_rows = np.concatenate([pair_rows, np.repeat(lost, self.k)])
            pair_centres = np.concatenate([pair_centres, np.tile(np.arange(self.k), lost.size)])
        order = np.lexsort((pair_centres, pair_rows))
        self.ladder.decide(names[pair_rows[order]], pair_centres[order], labels)
        sure = int(np.count_nonzero(found == 1))
        self.rows.rungs[name] += sure
        if self.kinds and 16 * (rows - sure) > rows:
            self._set(*self.kinds.pop(0))
        climbed: Array = names[found != 1]
        return climbed

    def _all_up(self, names: Array, labels: Array) -> None:
        """Numbers too large or too small for the screen: everybody climbs."""
        step = max(1, _SCORES // self.k)
        for begin in range(0, names.size, step):
            chosen = names[begin : begin + step]
            pairs = np.repeat(chosen, self.k), np.tile(np.arange(self.k), chosen.size)
            self.ladder.decide(*pairs, labels)


def _parts(hits: Array, rows: int) -> tuple[Array, Array]:
    """Quotient and remainder for a power of two."""
    return hits >> (rows.bit_length() - 1), hits & (rows - 1)


class _Dense(_Screen):
    def run(self, labels: Array, chosen: Array | None = None, margins: Array | None = None) -> None:
        """Write the labels of some rows, or of all, and maybe their margins."""
        rows = self.rows
        n = rows.n if chosen is None else chosen.size
        if margins is not None:
            margins[slice(None) if chosen is None else chosen] = 0.0
        if not self.scale or not n:
            self._all_up(np.arange(n) if chosen is None else chosen, labels)
            return
        step = 1 << max(6, min(_SCORES // self.k, _NUMBERS // (self.d + 1)).bit_length() - 1)
        step = min(step, 1 << (n - 1).bit_length())
        moved = np.empty((step, self.d))
        # As many copies as rows: two whole arrays are subtracted much faster than rows one by one.
        offsets = np.tile(self.offset, (step, 1))
        kind: Any = None
        for begin in range(0, n, step):
            m = min(step, n - begin)
            if kind is not self.kind:
                kind = self.kind
                x = np.ones((step, self.d + 1), dtype=kind)
                c = np.hstack([self.vectors, self.constants[:, None]])
                scores = np.empty((self.k, step), dtype=kind)
            names = np.arange(begin, begin + m) if chosen is None else chosen[begin : begin + m]
            values = rows.values[begin : begin + m] if chosen is None else rows.values[names]
            np.subtract(values, offsets[:m], out=moved[:m])
            if self.scale != 1.0:
                moved[:m] *= self.scale
            x[:m, :-1] = moved[:m]
            found = scores if m == step else np.empty((self.k, m), dtype=kind)
            _multiply(c, x[:m], found)
            squares = np.einsum("ij,ij->i", x[:m, :-1], x[:m, :-1])
            least = found.min(axis=0)
            doubt = self._doubt(np.sqrt(squares), self.d)
            reaches = least + doubt
            hits = np.flatnonzero(found <= reaches)
            u = self.u
            climbed = self._sort_out(names, hits, reaches, True, labels)
            if margins is not None:
                found.reshape(-1)[hits] = np.inf
                margins[names] = self._margins(least, found.min(axis=0), squares, doubt, u)
                if climbed is not None:
                    margins[climbed] = 0.0

    def _margins(
        self, first: Array, second: Array, squares: Array, doubt: Array, u: float
    ) -> Array:
        """How much farther than the nearest centre every other one is, at the least.

        A score and |x|^2 add up to a squared distance. ``doubt`` is twice the error of a score, a
        square errs by d + 8 roundings of itself, and roots and differences of doubles by a few of
        theirs.
        """
        with np.errstate(all="ignore"):
            square = squares.astype(np.float64)
            error = doubt.astype(np.float64) + 1.02 * (self.d + 16) * u * square + 2.0**-100
            near = np.sqrt(np.maximum(first + square + error, 0.0))
            far = np.sqrt(np.maximum(second + square - error, 0.0))
            margins: Array = ((far - near) - 2.0**-48 * (far + near)) / self.scale
            return margins


def _multiply(c: Array, x: Array, scores: Array) -> None:
    """Products of all centres with all rows.

    A BLAS that shares out work this small among threads has them wait for each other; in parts
    below its threshold it does not.
    """
    part = _ALONE // (c.shape[0] * c.shape[1])
    if part < 256 or part >= len(x):
        np.matmul(c, x.T, out=scores)
        return
    for begin in range(0, len(x), part):
        np.matmul(c, x[begin : begin + part].T, out=scores[:, begin : begin + part])


class _Sparse(_Screen):
    def run(self, labels: Array) -> None:
        """Write the label of every row."""
        if not self.scale:
            self._all_up(np.arange(self.rows.n), labels)
            return
        rows = self.rows
        multiply = _multiplier(rows, self.k)
        kind: Any = None
        numbers = _NUMBERS if multiply else max(1, 4 * _SCORES // self.k)
        for begin, end in rows.blocks(numbers, max(1, 4 * _SCORES // self.k)):
            if kind is not self.kind:
                kind = self.kind
                table = np.ascontiguousarray(self.vectors.T)
            first, last = int(rows.starts[begin]), int(rows.starts[end])
            x = (rows.values[first:last] * self.scale).astype(kind)
            columns = rows.columns[first:last]
            if multiply:
                starts = rows.starts[begin : end + 1] - first
                scores = multiply((x, columns, starts), shape=(end - begin, self.d)) @ table
            else:
                scores = segment_sums(table[columns] * x[:, None], rows.counts[begin:end])
            scores += self.constants
            sizes = rows.lengths[begin:end] * self.scale
            reaches = scores.min(axis=1)
            reaches += self._doubt(sizes, rows.counts[begin:end])
            hits = np.flatnonzero(scores <= reaches[:, None])
            self._sort_out(np.arange(begin, end), hits, reaches, False, labels)


def _multiplier(rows: Rows, k: int) -> Any:
    """The sparse matrices of SciPy, if it is there and worth its import."""
    if rows.values.size * k < 1 << 20:
        return None
    try:
        from scipy.sparse import csr_array
    except ImportError:
        return None
    return csr_array
