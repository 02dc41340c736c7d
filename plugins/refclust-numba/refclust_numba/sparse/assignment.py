"""Nearest centres of sparse rows, on the same ladder as dense ones.

*Singles.* With m numbers in a row the score |c|**2 / 2 - x.c (see ``refclust_numba.sparse.side``) errs by
at most (m + 4) 2**-24 1.02 (|x| |c| + |c|**2 / 2) (see ``refclust_numba.dense.assignment``); two scores
farther apart than twice that, times 1.1, are in proven order. Call that distance the bound.

*What the last call proved.* The table holds exactly e, the start exactly h, the row exactly y. If a
centre goes from e to e' and from h to h', its score y.e + h changes by at least
h' - h - |y| |e' - e|, and both computed scores err by half a bound at most. So the least score of a
group of centres falls by no more than the least of these changes and a bound, and a group whose
least score stays beyond the row's own centre by a bound is not looked at. As a function of |y| the
least of those changes is concave: between the shortest row and the longest one it is nowhere below
its chord, and the chord is what is used. A group none of whose centres changed keeps its scores.

*Doubles* for the centres that singles leave in doubt: |c|**2 - 2 x.c errs by
(m + 200) 2**-53 (|x| + |c|)**2, where 200 covers the sum of squares (``refclust_numba.sparse.side``).
*Integers* in limbs decide the rest; under the cosine the reference does.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from refclust.kernels.fields import Cosine, Euclidean
from refclust_numba.centres import distinct, units
from refclust_numba.dense.ladder import TINY
from refclust_numba.exact import limbs
from refclust_numba.exact.limbs import carry, deposit_product, is_less
from refclust_numba.lowlevel.build import LANES
from refclust_numba.lowlevel.compiling import compiled, inlined
from refclust_numba.lowlevel.threads import chunks, even, spread, threads
from refclust_numba.prepared import Rows, joined_span
from refclust_numba.sparse.lanes import sparse_least, sparse_scores
from refclust_numba.sparse.side import Side, bring, empty, gather
from refclust_numba.sparse.versions import Versions

_HUGE: Final = 2.0**60
_ROWS: Final = 512


def nearest(rows: Rows, table: Any, metric: str) -> Any:
    """The labels of all sparse rows."""
    if len(table) == 1:
        rows.rungs["float32"] += rows.n
        return np.zeros(rows.n, np.int32)
    cosine = metric == "cosine"
    vectors = units(table) if cosine else table
    known = rows.memory.pop("side", None)
    if known is None or len(known.states) != len(table) or known.cosine != cosine:
        known = empty(rows, len(table), cosine)
    single = rows.singles
    unit = 1.0 if cosine or single is None else single.factor
    changes = _moved(rows, known, table, vectors, unit)
    if len(np.unique(known.marks + 1j * known.squares)) < len(table):
        centres, index = distinct(table)
        if len(index) < len(table):
            return index[nearest(rows, centres, metric)]
    longest = 1.0 + 2.0**-20
    if not cosine:
        longest = float(np.sqrt(known.squares.max())) * (1.0 + 2.0**-20)
    fields = _Fields(rows, known, vectors, longest, cosine)
    labels = np.empty(rows.n, np.int32)
    left = np.arange(rows.n)
    if fields.screened:
        left = fields.screen(labels, *changes)
        rows.memory["side"] = known
    rows.rungs["float32"] += rows.n - len(left)
    if len(left):
        undecided = fields.climb(labels, left)
        rows.rungs["float64"] += len(left) - len(undecided)
        if len(undecided):
            _exactly(fields, table, labels, undecided)
    return labels


def _moved(rows: Rows, side: Side, table: Any, vectors: Any, unit: float) -> tuple[Any, ...]:
    """Bring the table up to date; tell which centres are new, and how a group's least score falls.

    It does by no more than slope times the length of the row plus drop; 0 and 0 is: not at all.
    """
    states = Versions.of(rows).known(table)
    fresh = side.states != states
    gather(side, fresh)
    drift = bring(side, vectors, fresh, unit)
    side.states = states
    start = side.start.copy()
    start[side.places] = 0.0 if side.cosine else 0.5 * side.squares * unit * unit
    change = (start.astype(np.float64) - side.start)[side.places]
    side.start = start
    lengths = np.zeros(1) if rows.singles is None else rows.singles.lengths
    ends = float(lengths.min()), float(lengths.max())
    slopes, drops = np.zeros(len(side.table)), np.zeros(len(side.table))
    for g in range(len(side.table)):
        own = np.nonzero(fresh & (side.places // LANES == g))[0]
        if len(own):
            short, long = (float((change[own] - end * drift[own]).min()) for end in ends)
            slope = (long - short) / (ends[1] - ends[0]) if ends[1] > ends[0] else 0.0
            drop = short - slope * ends[0]
            # Twice 2**-40 of all parts is more than the roundings of this line.
            drop -= 2.0**-39 * (abs(short) + abs(long) + abs(slope) * ends[1])
            usable = np.isfinite(slope) and np.isfinite(drop)
            slopes[g], drops[g] = (slope, drop) if usable else (0.0, -np.inf)
    return np.append(fresh, False)[side.names], slopes, drops


class _Fields:
    """The rows and the centres of one call, as the rungs take them."""

    def __init__(self, rows: Rows, side: Side, vectors: Any, longest: float, cosine: bool) -> None:
        self.rows, self.side, self.vectors = rows, side, vectors
        self.longest, self.cosine = longest, cosine
        single = rows.singles
        reach = longest if cosine or single is None else longest * single.factor
        self.reach, self.half = reach, 0.0 if cosine else 0.5 * reach * reach
        self.screened = (
            single is not None and reach < _HUGE and bool(np.isfinite(side.squares).all())
        )
        self.row = (rows.starts, rows.columns, rows.values)
        self.singles = _NONE if single is None else single.values
        self.lengths = np.zeros(rows.n) if single is None else single.lengths

    def screen(self, labels: Any, fresh: Any, slopes: Any, drops: Any) -> Any:
        """Label what singles prove; return the rows they do not."""
        side = self.side
        # Scores from before err by what was the reach then.
        reach, half = max(side.reach, self.reach), max(side.half, self.half)
        side.reach, side.half = self.reach, self.half
        given = (self.rows.starts, self.rows.columns, self.singles, self.lengths)
        own = (side.own, side.best, side.low, side.names)
        return np.concatenate(
            spread(
                lambda b, e: screen_rows(
                    *given, side.table, side.start, reach, half, fresh, slopes, drops, *own,
                    labels, b, e,
                ),
                # Large chunks: each one reads the whole table.
                chunks(self.rows.n, max(_ROWS, -(-self.rows.n // threads()))),
            )
        )  # fmt: skip

    def climb(self, labels: Any, left: Any) -> Any:
        """Label what doubles prove; return the rows they do not."""
        return np.concatenate(
            spread(
                lambda b, e: climb_rows(*self.row, self.singles, *self.numbers, left[b:e], labels),
                even(len(left), 16),
            )
        )

    @property
    def numbers(self) -> tuple[Any, ...]:
        """What ``doubles`` needs to know of the centres."""
        side = self.side
        return (
            self.lengths, side.table, side.start, side.places, self.screened, self.reach, self.half,
            self.vectors, side.squares, self.longest, self.cosine,
        )  # fmt: skip


_NONE: Final = np.empty(0, np.float32)


@compiled
def screen_rows(  # type: ignore[no-untyped-def]
    starts, columns, singles, lengths, table, start, reach, half, fresh, slopes, drops, own, best,
    low, names, labels, begin, end,
):  # fmt: skip
    """Label some rows by their scores in singles, group by group; return those in doubt.

    Only groups that may hold a centre as near as the row's own are looked at.
    """
    groups, d = table.shape[0], table.shape[1]
    two = np.empty(2, np.float32)
    # Addresses are taken once: in the loop they would cost more than the scores.
    where, numbers, into = columns.ctypes.data, singles.ctypes.data, two.ctypes.data
    bounds = np.empty(end - begin)
    left = np.empty(end - begin, np.int64)
    waiting = 0
    for i in range(begin, end):
        m = starts[i + 1] - starts[i]
        share = 2 * 1.1 * (m + 4) * 2.0**-24
        bounds[i - begin] = share * (lengths[i] * reach + half) + (m + 4) * 2.0**-138 * max(
            1.0, reach
        )
    looked = np.zeros(end - begin, np.bool_)  # whether the row's own group was looked at
    for own_groups in (True, False):
        for g in range(groups):
            if own_groups and slopes[g] == 0.0 and drops[g] == 0.0:
                continue
            lines = table.ctypes.data + 4 * g * d * LANES
            begun = start.ctypes.data + 4 * g * LANES
            for i in range(begin, end):
                at_home = own[i] >= 0 and own[i] // LANES == g
                if own_groups:
                    fallen = np.float64(low[g, i]) + (
                        drops[g] + slopes[g] * lengths[i] - bounds[i - begin]
                    )
                    low[g, i] = np.float32(fallen - abs(fallen) * 2.0**-22)
                    if not at_home or not fresh[own[i]]:
                        continue
                elif (at_home and looked[i - begin]) or low[g, i] > limit_of(
                    best[i], bounds[i - begin]
                ):
                    continue
                first = starts[i]
                lane = sparse_least(
                    where + 4 * first, numbers + 4 * first, starts[i + 1] - first, lines, begun,
                    into,
                )  # fmt: skip
                if at_home or own[i] < 0 or two[0] < best[i]:
                    if own[i] >= 0 and not at_home:
                        home = own[i] // LANES
                        low[home, i] = min(low[home, i], best[i])
                    best[i] = two[0]
                    own[i] = g * LANES + lane
                    low[g, i] = two[1]
                    looked[i - begin] = True
                else:
                    low[g, i] = two[0]
    for i in range(begin, end):
        limit = limit_of(best[i], bounds[i - begin])
        near = False
        for g in range(groups):
            if not low[g, i] > limit:
                near = True
        labels[i] = names[own[i]]
        if near:
            # Another rung may name another centre: this one is now like all others.
            home = own[i] // LANES
            low[home, i] = min(low[home, i], best[i])
            own[i] = -1
            best[i] = np.float32(np.inf)
            left[waiting] = i
            waiting += 1
    return left[:waiting].copy()


@inlined
def limit_of(best, bound):  # type: ignore[no-untyped-def]
    """What a score must exceed to be proven greater than the best one."""
    return (np.float64(best) + bound) + abs(np.float64(best)) * 2.0**-22


@compiled
def doubles(  # type: ignore[no-untyped-def]
    starts, columns, values, singles, lengths, table, start, at, screened, reach, half, vectors,
    squares, longest, cosine, i, score, precise,
):  # fmt: skip
    """|c|**2 - 2 x.c (or minus the cosine) of one row, infinite for centres singles prove farther.

    Returns what a value must exceed to be proven greater than the least.
    """
    k = vectors.shape[0]
    first, m = starts[i], starts[i + 1] - starts[i]
    limit = np.inf
    if screened:
        for g in range(table.shape[0]):
            sparse_scores(
                columns.ctypes.data + 4 * first, singles.ctypes.data + 4 * first, m,
                table.ctypes.data + 4 * g * table.shape[1] * LANES,
                start.ctypes.data + 4 * g * LANES, score.ctypes.data + 4 * g * LANES,
            )  # fmt: skip
        share = 2 * 1.1 * (m + 4) * 2.0**-24
        bound = share * (lengths[i] * reach + half) + (m + 4) * 2.0**-138 * max(1.0, reach)
        limit = limit_of(score.min(), bound)
    length = 0.0
    for place in range(first, starts[i + 1]):
        length += np.float64(values[place]) * np.float64(values[place])
    length = np.sqrt(length)
    least = np.inf
    for c in range(k):
        precise[c] = np.inf
        if screened and score[at[c]] > limit:
            continue
        product = 0.0
        for place in range(first, starts[i + 1]):
            product += np.float64(values[place]) * vectors[c, columns[place]]
        precise[c] = -product if cosine else squares[c] - 2.0 * product
        least = min(least, precise[c])
    if cosine:
        return least + 4 * (m + 12) * 2.0**-53 * length + TINY
    return least + 8 * (m + 200) * 2.0**-53 * (length + longest) * (length + longest) + TINY


@compiled
def climb_rows(  # type: ignore[no-untyped-def]
    starts, columns, values, singles, lengths, table, start, at, screened, reach, half, vectors,
    squares, longest, cosine, asked, labels,
):  # fmt: skip
    """Label the rows asked for as far as doubles prove it; return the others."""
    k = vectors.shape[0]
    score, precise = np.empty(start.shape[0], np.float32), np.empty(k)
    left = np.empty(asked.shape[0], np.int64)
    waiting = 0
    for i in asked:
        edge = doubles(
            starts, columns, values, singles, lengths, table, start, at, screened, reach, half,
            vectors, squares, longest, cosine, i, score, precise,
        )  # fmt: skip
        label, near = 0, 0
        for c in range(k - 1, -1, -1):
            if not precise[c] > edge:
                label = c
                near += 1
        labels[i] = label
        if near != 1:
            left[waiting] = i
            waiting += 1
    return left[:waiting].copy()


def _exactly(fields: _Fields, centres: Any, labels: Any, left: Any) -> None:
    """Decide the last rows in integers."""
    rows = fields.rows
    if not fields.cosine:
        top, low = rows.span
        centre_top, centre_low = joined_span(centres.reshape(-1))
        both = max(top, centre_top) + centre_top + 2
        cut = limbs.scale(np.array([both]), min(low, centre_low) + centre_low, 4 * rows.d + 8)
        if cut is not None:
            magic = np.ascontiguousarray(cut.magic[:, 0])
            spread(
                lambda b, e: exact_rows(
                    *fields.row, fields.singles, *fields.numbers, left[b:e], labels, magic,
                    cut.width,
                ),
                even(len(left), 64),
            )  # fmt: skip
            rows.rungs["integers"] += len(left)
            return
    rows.rungs["reference"] += len(left)
    points = rows.subset(left)
    tuples = [tuple(centre) for centre in centres.tolist()]
    field = Cosine(points, tuples) if fields.cosine else Euclidean(points, tuples)
    everywhere = list(range(len(tuples)))
    for place, i in enumerate(left.tolist()):
        labels[i] = field.exact(place, everywhere)


@compiled
def exact_rows(  # type: ignore[no-untyped-def]
    starts, columns, values, singles, lengths, table, start, at, screened, reach, half, vectors,
    squares, longest, cosine, asked, labels, magic, width,
):  # fmt: skip
    """The lowest index of the least |c|**2 - 2 x.c, among centres doubles cannot tell apart."""
    k, d = vectors.shape
    count = magic.shape[0]
    score, precise = np.empty(start.shape[0], np.float32), np.empty(k)
    own = np.zeros((k, count), np.int64)
    known = np.zeros(k, np.bool_)
    value, best = np.empty(count, np.int64), np.empty(count, np.int64)
    for i in asked:
        edge = doubles(
            starts, columns, values, singles, lengths, table, start, at, screened, reach, half,
            vectors, squares, longest, cosine, i, score, precise,
        )  # fmt: skip
        label = -1
        for c in range(k):
            if precise[c] > edge:
                continue
            if not known[c]:
                for j in range(d):
                    if vectors[c, j] != 0.0:
                        deposit_product(own[c], vectors[c, j], vectors[c, j], magic, 1)
                known[c] = True
            value[:] = own[c]
            for place in range(starts[i], starts[i + 1]):
                x = np.float64(values[place])
                deposit_product(value, x + x, vectors[c, columns[place]], magic, -1)
            carry(value, width)
            if label < 0 or is_less(value, best):
                best[:] = value
                label = c
        labels[i] = label
