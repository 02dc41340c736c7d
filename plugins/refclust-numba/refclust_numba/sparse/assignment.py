"""Nearest centres of sparse rows, on the same ladder as dense ones.

*Singles.* With m numbers in a row the score |c|**2 / 2 - x.c (see ``sparse.grouped``) errs
by at most (m + 4) 2**-24 1.02 (|x| |c| + |c|**2 / 2) (``refclust_numba.dense.assignment``); two
scores farther apart than twice that, times 1.1, are in proven order. Call that distance the bound.

*What the last call proved.* The table holds exactly e, the start exactly h, the row exactly y. If a
centre goes from e to e' and from h to h', its score y.e + h changes by at least
h' - h - |y| |e' - e|, and both computed scores err by half a bound at most. So the least score of a
group of centres changes by no less than the least of these, 0 among them if a centre of the group
stayed, and a bound; a group whose least score stays beyond the row's own centre by a bound is not
looked at. As a function of |y| the least of those changes is concave: between the shortest row and
the longest one it is nowhere below its chord, and the chord is what is used. A group none of whose
centres changed keeps its scores.

*Doubles* for the centres that singles leave in doubt: |c|**2 - 2 x.c errs by
(m + 200) 2**-53 (|x| + |c|)**2, where 200 covers the sum of squares, see
``refclust_numba.sparse.grouped``.
*Integers* in limbs decide the rest; under the cosine the reference does.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from refclust.kernels.clusters.nearness import Cosine, Euclidean
from refclust_numba.centres import distinct, units
from refclust_numba.dense.ladder import TINY
from refclust_numba.exact import limbs
from refclust_numba.exact.limbs import carry, deposit_product, is_less
from refclust_numba.lowlevel.build import LANES
from refclust_numba.lowlevel.compiling import compiled, inlined, room
from refclust_numba.lowlevel.threads import chunks, even, in_threads, threads
from refclust_numba.prepared import Rows, joined_span
from refclust_numba.sparse.grouped import (
    Centres,
    Changes,
    GroupedCentres,
    Known,
    SparseRows,
    bring,
    empty,
    gather,
)
from refclust_numba.sparse.lanes import sparse_least, sparse_scores
from refclust_numba.sparse.versions import Versions

_HUGE: Final = 2.0**60
# Squares of centres lose up to 2**-1074 a column by underflow. Times the square of a factor up to
# this one that is below 2**-270, far within the bound; beyond it nothing is left of small centres.
_FACTOR: Final = 2.0**400
_ROWS: Final = 512


def nearest(rows: Rows, table: Any, metric: str) -> Any:
    """The labels of all sparse rows."""
    if len(table) == 1:
        rows.rungs["float32"] += rows.n
        return np.zeros(rows.n, np.int32)
    cosine = metric == "cosine"
    vectors = units(table) if cosine else table
    known = rows.memory.pop("grouped", None)
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
        left = fields.screen(labels, changes)
        rows.memory["grouped"] = known
    rows.rungs["float32"] += rows.n - len(left)
    if len(left):
        undecided = fields.climb(labels, left)
        rows.rungs["float64"] += len(left) - len(undecided)
        if len(undecided):
            _exactly(fields, table, labels, undecided)
    return labels


def _moved(rows: Rows, grouped: GroupedCentres, table: Any, vectors: Any, unit: float) -> Changes:
    """Bring the table up to date; tell which centres are new, and how a group's least score falls.

    It does by no more than slope times the length of the row plus drop; 0 and 0 is: not at all.
    """
    states = Versions.of(rows).known(table)
    fresh = grouped.states != states
    gather(grouped, fresh)
    drift = bring(grouped, vectors, fresh, unit)
    grouped.states = states
    start = grouped.start.copy()
    start[grouped.places] = 0.0 if grouped.cosine else 0.5 * grouped.squares * unit * unit
    change = (start.astype(np.float64) - grouped.start)[grouped.places]
    grouped.start = start
    lengths = np.zeros(1) if rows.singles is None else rows.singles.lengths
    ends = float(lengths.min()), float(lengths.max())
    slopes, drops = np.zeros(len(grouped.table)), np.zeros(len(grouped.table))
    for g in range(len(grouped.table)):
        members = grouped.places // LANES == g
        own = np.nonzero(fresh & members)[0]
        if len(own):
            short, long = (float((change[own] - end * drift[own]).min()) for end in ends)
            if len(own) < np.count_nonzero(members):
                short, long = min(short, 0.0), min(long, 0.0)  # the others stayed where they were
            slope = (long - short) / (ends[1] - ends[0]) if ends[1] > ends[0] else 0.0
            drop = short - slope * ends[0]
            # More than the roundings of this line, and not 0 if any score changed.
            parts = float(np.abs(change[own]).max() + ends[1] * drift[own].max())
            drop -= 2.0**-38 * (parts + abs(slope) * ends[1])
            usable = np.isfinite(slope) and np.isfinite(drop)
            slopes[g], drops[g] = (slope, drop) if usable else (0.0, -np.inf)
    return Changes(np.append(fresh, False)[grouped.names], slopes, drops)


class _Fields:
    """The rows and the centres of one call, as the rungs take them."""

    def __init__(
        self, rows: Rows, grouped: GroupedCentres, vectors: Any, longest: float, cosine: bool
    ) -> None:
        self.source, self.grouped, self.cosine = rows, grouped, cosine
        single = rows.singles
        reach = longest if cosine or single is None else longest * single.factor
        half = 0.0 if cosine else 0.5 * reach * reach
        self.screened = (
            single is not None
            and (cosine or single.factor <= _FACTOR)
            and reach < _HUGE
            and bool(np.isfinite(grouped.squares).all())
        )
        self.rows = SparseRows(
            starts=rows.starts,
            columns=rows.columns,
            values=rows.values,
            singles=_NONE if single is None else single.values,
            lengths=np.zeros(rows.n) if single is None else single.lengths,
        )
        self.centres = Centres(
            table=grouped.table,
            start=grouped.start,
            places=grouped.places,
            vectors=vectors,
            squares=grouped.squares,
            reach=float(reach),
            half=float(half),
            longest=float(longest),
            screened=self.screened,
            cosine=cosine,
        )

    def screen(self, labels: Any, changes: Changes) -> Any:
        """Label what singles prove; return the rows they do not."""
        grouped, own = self.grouped, self.centres
        # Scores from before err by what was the reach then.
        reach, half = max(grouped.reach, own.reach), max(grouped.half, own.half)
        grouped.reach, grouped.half = own.reach, own.half
        centres = own._replace(reach=reach, half=half)
        known = Known(grouped.own, grouped.best, grouped.low, grouped.names)
        n = self.source.n
        return np.concatenate(
            in_threads(
                lambda b, e: screen_rows(self.rows, centres, changes, known, labels, b, e),
                # Large chunks: each one reads the whole table.
                chunks(n, max(_ROWS, -(-n // threads()))),
            )
        )

    def climb(self, labels: Any, left: Any) -> Any:
        """Label what doubles prove; return the rows they do not."""
        return np.concatenate(
            in_threads(
                lambda b, e: climb_rows(self.rows, self.centres, left[b:e], labels),
                even(len(left), 16),
            )
        )


_NONE: Final = np.empty(0, np.float32)


@compiled
def screen_rows(rows, centres, changes, known, labels, begin, end):  # type: ignore[no-untyped-def]
    """Label some rows by their scores in singles, group by group; return those in doubt.

    Only groups that may hold a centre as near as the row's own are looked at.
    """
    bounds = room(end - begin, np.float64)
    for i in range(begin, end):
        bounds[i - begin] = bound_of(rows, centres, i)
    looked = np.zeros(end - begin, np.bool_)  # whether the row's own group was looked at
    for g in range(centres.table.shape[0]):
        if changes.slopes[g] != 0.0 or changes.drops[g] != 0.0:
            let_fall(rows, changes, known, bounds, g, begin, end)
            look_at_home(rows, centres, changes, known, looked, g, begin, end)
    for g in range(centres.table.shape[0]):
        look_around(rows, centres, known, bounds, looked, g, begin, end)
    return settle(centres, known, bounds, labels, begin, end)


@inlined
def bound_of(rows, centres, i):  # type: ignore[no-untyped-def]
    """How far two scores of a row must lie apart to be in proven order."""
    m = rows.starts[i + 1] - rows.starts[i]
    share = 2 * 1.1 * (m + 4) * 2.0**-24
    return share * (rows.lengths[i] * centres.reach + centres.half) + (m + 4) * 2.0**-138 * max(
        1.0, centres.reach
    )


@inlined
def limit_of(best, bound):  # type: ignore[no-untyped-def]
    """What a score must exceed to be proven greater than the best one."""
    return (np.float64(best) + bound) + abs(np.float64(best)) * 2.0**-22


@inlined
def let_fall(rows, changes, known, bounds, g, begin, end):  # type: ignore[no-untyped-def]
    """Lower what is known of a group by as much as its scores may have fallen."""
    low, lengths = known.low, rows.lengths
    drop, slope = changes.drops[g], changes.slopes[g]
    for i in range(begin, end):
        fallen = np.float64(low[g, i]) + (drop + slope * lengths[i] - bounds[i - begin])
        low[g, i] = np.float32(fallen - abs(fallen) * 2.0**-22)


@inlined
def look_at_home(  # type: ignore[no-untyped-def]
    rows, centres, changes, known, looked, g, begin, end
):
    """Look at a group for the rows whose own centre is in it and has changed."""
    own, fresh = known.own, changes.fresh
    for i in range(begin, end):
        if own[i] >= 0 and own[i] // LANES == g and fresh[own[i]]:
            looked[i - begin] = look(rows, centres, known, g, i)


@inlined
def look_around(  # type: ignore[no-untyped-def]
    rows, centres, known, bounds, looked, g, begin, end
):
    """Look at a group for the rows that may have a nearer centre in it."""
    own, best, low = known.own, known.best, known.low
    for i in range(begin, end):
        at_home = own[i] >= 0 and own[i] // LANES == g
        if (at_home and looked[i - begin]) or low[g, i] > limit_of(best[i], bounds[i - begin]):
            continue
        looked[i - begin] |= look(rows, centres, known, g, i)


@inlined
def look(rows, centres, known, g, i):  # type: ignore[no-untyped-def]
    """Score one row and one group; say whether the row's own centre is in the group now."""
    own, best, low = known.own, known.best, known.low
    first = rows.starts[i]
    lane, least, second = sparse_least(
        rows.columns, rows.singles, first, rows.starts[i + 1] - first, centres.table,
        centres.start, g, centres.table.shape[1],
    )  # fmt: skip
    at_home = own[i] >= 0 and own[i] // LANES == g
    if not (at_home or own[i] < 0 or least < best[i]):
        low[g, i] = least
        return False
    if own[i] >= 0 and not at_home:
        home = own[i] // LANES
        low[home, i] = min(low[home, i], best[i])
    best[i] = least
    own[i] = g * LANES + lane
    low[g, i] = second
    return True


@inlined
def settle(centres, known, bounds, labels, begin, end):  # type: ignore[no-untyped-def]
    """Name the centres that were found; return the rows in which another one may be as near."""
    own, best, low = known.own, known.best, known.low
    left = room(end - begin, np.int64)
    waiting = 0
    for i in range(begin, end):
        limit = limit_of(best[i], bounds[i - begin])
        near = False
        for g in range(centres.table.shape[0]):
            if not low[g, i] > limit:
                near = True
        labels[i] = known.names[own[i]]
        if near:
            # Another rung may name another centre: this one is now like all others.
            home = own[i] // LANES
            low[home, i] = min(low[home, i], best[i])
            own[i] = -1
            best[i] = np.float32(np.inf)
            left[waiting] = i
            waiting += 1
    return left[:waiting].copy()


@compiled
def doubles(rows, centres, i, score, precise):  # type: ignore[no-untyped-def]
    """|c|**2 - 2 x.c (or minus the cosine) of one row, infinite for centres singles prove farther.

    Returns what a value must exceed to be proven greater than the least.
    """
    first, last = rows.starts[i], rows.starts[i + 1]
    limit = np.inf
    if centres.screened:
        for g in range(centres.table.shape[0]):
            sparse_scores(
                rows.columns, rows.singles, first, last - first, centres.table, centres.start, g,
                centres.table.shape[1], score,
            )  # fmt: skip
        limit = limit_of(score.min(), bound_of(rows, centres, i))
    length = 0.0
    for place in range(first, last):
        length += np.float64(rows.values[place]) * np.float64(rows.values[place])
    length = np.sqrt(length)
    least = np.inf
    for c in range(centres.vectors.shape[0]):
        precise[c] = np.inf
        if centres.screened and score[centres.places[c]] > limit:
            continue
        product = 0.0
        for place in range(first, last):
            product += np.float64(rows.values[place]) * centres.vectors[c, rows.columns[place]]
        precise[c] = -product if centres.cosine else centres.squares[c] - 2.0 * product
        least = min(least, precise[c])
    m = last - first
    if centres.cosine:
        return least + 4 * (m + 12) * 2.0**-53 * length + TINY
    both = length + centres.longest
    return least + 8 * (m + 200) * 2.0**-53 * both * both + TINY


@compiled
def climb_rows(rows, centres, asked, labels):  # type: ignore[no-untyped-def]
    """Label the rows asked for as far as doubles prove it; return the others."""
    k = centres.vectors.shape[0]
    score, precise = room(centres.start.shape[0], np.float32), room(k, np.float64)
    left = room(asked.shape[0], np.int64)
    waiting = 0
    for i in asked:
        edge = doubles(rows, centres, i, score, precise)
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
    rows = fields.source
    if not fields.cosine:
        top, low = rows.span
        centre_top, centre_low = joined_span(centres.reshape(-1))
        both = max(top, centre_top) + centre_top + 2
        cut = limbs.scale(np.array([both]), min(low, centre_low) + centre_low, 4 * rows.d + 8)
        if cut is not None:
            magic = np.ascontiguousarray(cut.magic[:, 0])
            in_threads(
                lambda b, e: exact_rows(
                    fields.rows, fields.centres, left[b:e], labels, magic, cut.width
                ),
                even(len(left), 64),
            )
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
def exact_rows(rows, centres, asked, labels, magic, width):  # type: ignore[no-untyped-def]
    """The lowest index of the least |c|**2 - 2 x.c, among centres doubles cannot tell apart."""
    k, count = centres.vectors.shape[0], magic.shape[0]
    score, precise = room(centres.start.shape[0], np.float32), room(k, np.float64)
    own = np.zeros((k, count), np.int64)
    known = np.zeros(k, np.bool_)
    value, best = room(count, np.int64), room(count, np.int64)
    for i in asked:
        edge = doubles(rows, centres, i, score, precise)
        label = -1
        for c in range(k):
            if precise[c] > edge:
                continue
            if not known[c]:
                add_square(own[c], centres.vectors, c, magic)
                known[c] = True
            value[:] = own[c]
            for place in range(rows.starts[i], rows.starts[i + 1]):
                x = np.float64(rows.values[place])
                deposit_product(value, x + x, centres.vectors[c, rows.columns[place]], magic, -1)
            carry(value, width)
            if label < 0 or is_less(value, best):
                best[:] = value
                label = c
        labels[i] = label


@inlined
def add_square(into, vectors, c, magic):  # type: ignore[no-untyped-def]
    """Add the exact square of the length of a centre to limbs."""
    for j in range(vectors.shape[1]):
        if vectors[c, j] != 0.0:
            deposit_product(into, vectors[c, j], vectors[c, j], magic, 1)
