"""Screens: a matrix product with a proven bound tells the nearest centre of nearly every row.

A screen works on a chunk of rows at a time and in singles first; where those leave too many rows in
doubt, doubles take over for the rest of the pass. Scores are held centre by centre, so that the
least of each row are found by operations on whole arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from refclust_numpy.exact.floats import ROUND, SINGLE, Array, additions, square_sums
from refclust_numpy.nearest.ladder import Ladder
from refclust_numpy.packing import multiply
from refclust_numpy.rows import Rows, segment_sums

_SCORES = 1 << 17  # numbers of a chunk of scores
_NUMBERS: Final = 1 << 19  # numbers of a chunk of rows
_WORTH: Final = 1 << 20  # products from which on SciPy is worth its import


class Scores(NamedTuple):
    """Scores of some rows, centre by centre, and the squares, lengths and numbers of the rows."""

    found: Array
    squares: Array
    sizes: Array
    counts: Array | int


class Answer(NamedTuple):
    """Where the answer goes."""

    labels: Array
    margins: Array | None


class _Screen:
    """What dense and sparse screens share: which scores are proven, and who decides the rest."""

    def __init__(self, ladder: Ladder, scale: float, offset: Array | float, singles: bool) -> None:
        self.ladder, self.rows = ladder, ladder.rows
        self.scale, self.offset = scale, offset
        self.k, self.d = ladder.centres.shape
        self.kinds: list[tuple[type[np.floating[Any]], float]] = [(np.float64, ROUND)]
        if singles:
            self.kinds.insert(0, (np.float32, SINGLE))
        self._set(*self.kinds.pop(0))
        self.numbers = np.arange(self.k, dtype=np.uint8 if self.k <= 256 else np.uint32)[:, None]

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
            self.longest = float(1.01 * np.sqrt(squares.max()))

    def _doubt(self, sizes: Array, counts: Array | int) -> Array:
        """Twice the error of the scores of each row, given |x| and its numbers m.

        An entry of x and of c is moved, scaled and rounded to the kind of floats: at most 2 u each,
        so 4 u of every product. The products of m entries and the constant are added in some
        order, fused or not: (m + 2) u of the sum of their magnitudes, which is at most
        2 |x| |c| + |c|^2. The constant is rounded once more, and so is the bound when compared.
        In doubles, |c|^2 is off by additions + 2 roundings and a unit centre by additions + 8.
        Together less than ((m + 16) u + (additions + 16) ROUND) (2 |x| |c| + |c|^2). Sizes are
        taken 1 percent too large, which covers their own errors, those of this bound, which is
        worked out in the kind of floats, and terms of second order. Numbers below 2**20 lose less
        than m 2**-120 by underflow, and a size, whose squares may underflow, less than d 2**-60.
        """
        unit = 2.04 * (self.u * (counts + 16) + ROUND * (additions(self.d) + 16))
        with np.errstate(all="ignore"):
            size = 1.01 * (sizes + self.d * 2.0**-60)
            if not self.ladder.cosine:
                size = (2.0 * size + self.longest) * self.longest
            doubt: Array = unit * size + (self.d + 8) * 2.0**-120
            return doubt.astype(self.kind, copy=False)

    def _sort_out(self, names: slice | Array, scores: Scores, work: Array, into: Answer) -> None:
        """Take rows with one possible centre and send the others up the ladder.

        ``names`` are the rows, in ascending order. Where too many climb, the next kind of floats
        takes over.
        """
        estimates, labels = scores.found, into.labels
        least, second = _two_least(estimates, work)
        doubt = self._doubt(scores.sizes, scores.counts)
        with np.errstate(all="ignore"):
            reaches = least + doubt
            # The one place of the least score; where there are more, the row is in doubt.
            labels[names] = np.multiply(estimates == least, self.numbers).max(axis=0)
            doubtful = np.flatnonzero(~(second > reaches))  # what is no number stays in doubt
        self.rows.rungs[self.kind.__name__] += least.size - doubtful.size
        if doubtful.size:
            i, k = np.nonzero(~(estimates[:, doubtful] > reaches[doubtful]).T)
            places = doubtful[i]
            climbing = places + names.start if isinstance(names, slice) else names[places]
            self.ladder.decide(climbing, k, labels)
        if into.margins is not None:
            margins = self._margins(least, second, scores, doubt)
            margins[doubtful] = 0.0
            into.margins[names] = margins
        if self.kinds and 16 * doubtful.size > least.size:
            self._set(*self.kinds.pop(0))

    def _margins(self, first: Array, second: Array, scores: Scores, doubt: Array) -> Array:
        """How much farther than the nearest centre every other one is, at the least.

        A score and |x|^2 add up to a squared distance. ``doubt`` is twice the error of a score, a
        square errs by m + 8 roundings of itself, and roots and differences by a few of theirs,
        as does the margin when it is made a single.
        """
        with np.errstate(all="ignore"):
            error = scores.squares * (1.02 * (scores.counts + 16) * self.u)
            error = error + doubt + 2.0**-100
            near = np.sqrt(np.maximum(first + scores.squares + error, 0.0))
            far = np.sqrt(np.maximum(second + scores.squares - error, 0.0))
            margins: Array = (1 - 2.0**-20) * far - (1 + 2.0**-20) * near
        # A score that overflows is proven larger, but whatever is taken away, it would stay so.
        margins[margins == np.inf] = 0.0
        return margins

    def _all_up(self, chosen: Array | None, into: Answer) -> None:
        """Numbers too large or too small for the screen: everybody climbs."""
        names = np.arange(self.rows.n) if chosen is None else chosen
        if into.margins is not None:
            into.margins[names] = 0.0
        step = max(1, _SCORES // self.k)
        for begin in range(0, names.size, step):
            some = names[begin : begin + step]
            pairs = np.repeat(some, self.k), np.tile(np.arange(self.k), some.size)
            self.ladder.decide(*pairs, into.labels)


def _two_least(scores: Array, work: Array) -> tuple[Array, Array]:
    """The least and the second least of each column of at least two rows.

    Rows play in pairs: the least is among the lower ones, the second least among them too or the
    least of all higher ones. ``work`` has room for both halves. What is no number stays none.
    """
    lower, higher = work
    second: Array | None = None
    rows = len(scores)
    while rows > 1:
        half, odd = divmod(rows, 2)
        upper, other = scores[:half], scores[half : 2 * half]
        top = np.maximum(upper, other, out=higher[:half]).min(axis=0)
        second = top if second is None else np.minimum(second, top, out=second)
        np.minimum(upper, other, out=lower[:half])
        if odd:
            lower[half] = scores[rows - 1]
        scores, rows = lower, half + odd
    assert second is not None
    return scores[0].copy(), second


class _Dense(_Screen):
    """Scores of dense rows, by the packed copy of them."""

    def __init__(self, ladder: Ladder) -> None:
        rows = ladder.rows
        self.packed = rows.packed_directions if ladder.cosine else rows.packed
        packed = self.packed
        super().__init__(ladder, packed.scale, packed.offset, packed.singles)

    def run(self, labels: Array, chosen: Array | None = None, margins: Array | None = None) -> None:
        """Write the labels of some rows, or of all, and maybe their margins."""
        n, into = self.rows.n if chosen is None else chosen.size, Answer(labels, margins)
        if not self.scale or not n:
            self._all_up(chosen, into)
            return
        step = min(max(64, min(_SCORES // self.k, _NUMBERS // (self.d + 1))), n)
        kind: Any = None
        for begin in range(0, n, step):
            m = min(step, n - begin)
            if kind is not self.kind:
                kind = self.kind
                centres = np.hstack([self.vectors, self.constants[:, None]])
                room = np.empty((self.k, step), dtype=kind)
                work = np.empty((2, (self.k + 1) // 2, step), dtype=kind)
            names = slice(begin, begin + m) if chosen is None else chosen[begin : begin + m]
            columns, squares, sizes = self._columns(names)
            estimates = multiply(centres, columns, room[:, :m])
            self._sort_out(names, Scores(estimates, squares, sizes, self.d), work[:, :, :m], into)

    def _columns(self, names: slice | Array) -> tuple[Array, Array, Array]:
        """Some rows as columns, with a one at the end of each, their squares and their lengths."""
        packed = self.packed
        if self.kind is np.float32:
            if isinstance(names, slice):
                chosen = packed.columns[:, names]
            else:
                chosen = packed.columns.take(names, axis=1)  # faster than an index
            return chosen, packed.squares[names], packed.sizes[names]
        moved = packed.moved(names)
        columns: Array = np.ones((self.d + 1, len(moved)))
        columns[:-1] = moved.T
        squares = square_sums(moved)
        return columns, squares, np.sqrt(squares)


class _Sparse(_Screen):
    """Scores of sparse rows, by SciPy if it is there."""

    def __init__(self, ladder: Ladder) -> None:
        rows = ladder.rows
        # The bounds leave out terms of second order.
        singles = (int(rows.counts.max(initial=0)) + 24) * SINGLE <= 0.005
        super().__init__(ladder, rows.scale, 0.0, singles)

    def run(self, labels: Array, chosen: Array | None = None, margins: Array | None = None) -> None:
        """Write the labels of some rows, or of all, and maybe their margins."""
        rows, into = self.rows, Answer(labels, margins)
        if not self.scale:
            self._all_up(chosen, into)
            return
        multiplier = csr_kind(rows, self.k)
        kind: Any = None
        for names in self._chunks(chosen, bool(multiplier)):
            if kind is not self.kind:
                kind = self.kind
                table = np.ascontiguousarray(self.vectors.T)
            counts = rows.counts[names]
            places: Any = (
                slice(int(rows.starts[names.start]), int(rows.starts[names.stop]))
                if isinstance(names, slice)
                else rows.picked(names)[0]
            )
            x, columns = (rows.values[places] * self.scale).astype(kind), rows.columns[places]
            if multiplier:
                starts = np.concatenate([[0], np.cumsum(counts)]).astype(columns.dtype)
                scores = multiplier((x, columns, starts), shape=(counts.size, self.d)) @ table
            else:
                scores = segment_sums(table[columns] * x[:, None], counts)
            estimates = np.ascontiguousarray(scores.T)
            estimates += self.constants[:, None]
            sizes = rows.lengths[names] * self.scale
            work = np.empty((2, (self.k + 1) // 2, counts.size), dtype=kind)
            self._sort_out(names, Scores(estimates, sizes * sizes, sizes, counts), work, into)

    def _chunks(self, chosen: Array | None, products: bool) -> Iterator[slice | Array]:
        """The rows a few at a time."""
        rows, most = self.rows, max(1, _SCORES // self.k)
        numbers = _NUMBERS if products else max(1, 4 * _SCORES // self.k)
        if chosen is None:
            yield from (slice(begin, end) for begin, end in rows.blocks(numbers, most))
            return
        step = max(1, min(most, numbers * rows.n // max(rows.values.size, 1)))
        for begin in range(0, chosen.size, step):
            yield chosen[begin : begin + step]


def screen(ladder: Ladder) -> _Dense | _Sparse:
    """The screen for the rows of a ladder."""
    return _Dense(ladder) if ladder.rows.dense else _Sparse(ladder)


def csr_kind(rows: Rows, k: int) -> Any:
    """The sparse matrices of SciPy, if it is there and worth its import."""
    if rows.values.size * k < _WORTH:
        return None
    try:
        from scipy.sparse import csr_array
    except ImportError:
        return None
    return csr_array
