"""The kernels of seeding over prepared rows: squared distances with bounds, exact on doubt.

Keeps the contracts of ``seeding.potential``, ``seeding.locate``, ``seeding.best_candidate`` and
``seeding.farthest``. Estimates of squared distances are doubles with the errors the reference
states (``refclust.kernels.seeding``): of dense rows relative, 4 (d + 10) 2**-53, of sparse rows
4 (m + 40) 2**-53 (|x| + |c|)**2. Where dense rows are packed, singles say first which rows can
change at all: a squared distance in singles errs by at most (d + 40) 2**-24 1.1 (|y| + |e|)**2, of
which d + 4 come from the products (see ``refclust_numba.assignment``) and the rest from the
lengths, which are rounded up by 2**-20.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from refclust.kernels import seeding as reference
from refclust.kernels.fields import Euclidean
from refclust.kernels.seeding import Potential
from refclust.numbers.argmin import ROUND, locate_exact
from refclust_numba import limbs
from refclust_numba.assignment import TINY
from refclust_numba.centres import grouped
from refclust_numba.compiling import compiled
from refclust_numba.limbs import carry, deposit_product
from refclust_numba.prepared import Rows, joined_span
from refclust_numba.screening import GROUP, ROWS, scores
from refclust_numba.threads import chunks, even, shared

_SCALES: Final = 400  # exponents of a scale whose square is an ordinary double
_NO_SINGLES = np.empty((0, 0), np.float32)


def potential(rows: Rows, centre: tuple[float, ...], before: Potential | None = None) -> Potential:
    """Bring in one more centre."""
    if not rows.d:
        return reference.potential(rows.points, centre, before)
    new = np.array(centre, np.float64)
    if before is None:
        squares = np.empty(rows.n)
        _measure(rows, new, squares)
        return Potential((centre,), np.zeros(rows.n, np.int32), squares, rows)  # type: ignore[arg-type]
    old = _believed(rows, before)
    squares = old.copy()
    nearest = np.frombuffer(before.nearest, np.int32).copy()
    name = len(before.centres)
    if rows.dense:
        doubtful = _closer_dense(rows, new, name, nearest, squares)
    else:
        made = np.empty(rows.n)
        _measure(rows, new, made)
        slack = _slack(rows, (*before.centres, centre))
        doubt = (old + made) * (4 * ROUND) + slack
        closer = made + doubt < old
        doubtful = np.nonzero(~closer & ~(made > old + doubt))[0]
        nearest[closer] = name
        squares = np.where(closer, made, old)
    centres = (*before.centres, centre)
    if len(doubtful):
        for i in _prefer(rows, centres, nearest, name, doubtful):
            nearest[i] = name
            squares[i] = _one_square(rows, i, new)
    return Potential(centres, nearest, squares, rows)  # type: ignore[arg-type]


def _prefer(rows: Rows, centres: Any, nearest: Any, name: int, doubtful: Any) -> list[int]:
    """Which of the rows in doubt are strictly nearer to the new centre, in integers."""
    used = sorted({int(nearest[i]) for i in doubtful})
    # Equal centres need no look: the old one keeps the row. Of the others each pair is decided.
    vectors = np.array([centres[k] for k in used] + [centres[name]])
    place = {k: index for index, k in enumerate(used)}
    same = {k for k in used if centres[k] == centres[name]}
    asked = np.array([i for i in doubtful.tolist() if int(nearest[i]) not in same], np.int64)
    if not len(asked):
        return []
    (top, low), (centre_top, centre_low) = rows.span, joined_span(vectors.reshape(-1))
    cut = limbs.scale(
        np.array([max(top, centre_top) + centre_top + 2]),
        min(low, centre_low) + centre_low,
        8 * rows.d + 8,
    )
    if cut is not None and rows.dense:
        other = np.array([place[int(nearest[i])] for i in asked.tolist()], np.int64)
        magic = np.ascontiguousarray(cut.magic[:, 0])
        won = nearer_rows(rows.table, vectors, asked, other, magic, cut.width)
        return [int(i) for i in asked[won]]
    field = Euclidean(rows.subset(asked), [tuple(v) for v in vectors.tolist()])
    last = len(used)
    return [
        i
        for at, i in enumerate(asked.tolist())
        if field.exact(at, [place[int(nearest[i])], last]) == last
    ]


@compiled
def nearer_rows(table, vectors, asked, other, magic, width):  # type: ignore[no-untyped-def]
    """For each row whether the last centre is strictly nearer than the other one named."""
    d = table.shape[1]
    won = np.zeros(asked.shape[0], np.bool_)
    score = np.empty(magic.shape[0], np.int64)
    last = vectors.shape[0] - 1
    for place in range(asked.shape[0]):
        i, k = asked[place], other[place]
        score[:] = 0
        for j in range(d):
            x = np.float64(table[i, j])
            a, b = vectors[last, j], vectors[k, j]
            if a != b:
                deposit_product(score, a, a, magic, 1)
                deposit_product(score, b, b, magic, -1)
                deposit_product(score, x + x, a, magic, -1)
                deposit_product(score, x + x, b, magic, 1)
        carry(score, width)
        won[place] = score[0] < 0
    return won


def _believed(rows: Rows, before: Potential) -> Any:
    """The estimates of a potential, made anew if another backend made it."""
    if before.made_by is rows:
        return np.frombuffer(before.squares, np.float64)
    squares, made = np.empty(rows.n), np.empty(rows.n)
    nearest = np.frombuffer(before.nearest, np.int32)
    for k, centre in enumerate(before.centres):
        _measure(rows, np.array(centre), made)
        own = nearest == k
        squares[own] = made[own]
    return squares


def _measure(rows: Rows, centre: Any, into: Any) -> None:
    """Estimated squared distances of all rows to one centre."""
    pieces = even(rows.n, 4096)
    if rows.dense:
        shared(lambda p, _: measure_dense(rows.table, centre, into, *pieces[p]), len(pieces))
        return
    square, lengths = float((centre * centre).sum()), _lengths(rows)
    shared(
        lambda p, _: measure_sparse(
            rows.starts, rows.columns, rows.values, lengths, centre, square, into, *pieces[p]
        ),
        len(pieces),
    )


def _one_square(rows: Rows, i: int, centre: Any) -> float:
    into = np.empty(rows.n if not rows.dense else i + 1)
    if rows.dense:
        measure_dense(rows.table, centre, into, i, i + 1)
    else:
        square, lengths = float((centre * centre).sum()), _lengths(rows)
        measure_sparse(
            rows.starts, rows.columns, rows.values, lengths, centre, square, into, i, i + 1
        )
    return float(into[i])


def _lengths(rows: Rows) -> Any:
    """The squared lengths of sparse rows."""
    if "squares" not in rows.memory:
        found = np.empty(rows.n)
        pieces = even(rows.n, 4096)
        shared(lambda p, _: row_squares(rows.starts, rows.values, found, *pieces[p]), len(pieces))
        rows.memory["squares"] = found
    return rows.memory["squares"]


@compiled
def row_squares(starts, values, into, begin, end):  # type: ignore[no-untyped-def]
    """The squared lengths of some sparse rows."""
    for i in range(begin, end):
        square = 0.0
        for place in range(starts[i], starts[i + 1]):
            square += np.float64(values[place]) * np.float64(values[place])
        into[i] = square


@compiled
def measure_dense(table, centre, into, begin, end):  # type: ignore[no-untyped-def]
    """Squared distances of some rows, by differences; eight sums, so that none waits for another.

    In any order the sum of d squares errs by less than d roundings of itself.
    """
    d = table.shape[1]
    part = np.empty(8)
    for i in range(begin, end):
        part[:] = 0.0
        whole = d - d % 8
        for j in range(0, whole, 8):
            for lane in range(8):
                t = np.float64(table[i, j + lane]) - centre[j + lane]
                part[lane] += t * t
        total = 0.0
        for j in range(whole, d):
            t = np.float64(table[i, j]) - centre[j]
            total += t * t
        for lane in range(8):
            total += part[lane]
        into[i] = total


@compiled
def measure_sparse(  # type: ignore[no-untyped-def]
    starts, columns, values, lengths, centre, square, into, begin, end
):
    """|x|**2 + |c|**2 - 2 x.c of some sparse rows, at least 0."""
    for i in range(begin, end):
        product = 0.0
        for place in range(starts[i], starts[i + 1]):
            product += np.float64(values[place]) * centre[columns[place]]
        into[i] = max(lengths[i] + (square - 2.0 * product), 0.0)


def _slack(rows: Rows, centres: Any) -> Any:
    """The absolute error of the square of each sparse row."""
    longest = max(float(np.sqrt(np.dot(c, c))) for c in map(np.asarray, centres))
    sizes = np.diff(rows.starts)
    both = np.sqrt(_lengths(rows)) + longest * (1.0 + 2.0**-20)
    return 4 * (sizes + 40) * ROUND * both * both * (1 + 2.0**-20) + TINY


def _closer_dense(rows: Rows, centre: Any, name: int, nearest: Any, squares: Any) -> Any:
    """Bring nearest and squares up to date where it is proven; return the rows in doubt."""
    packed, known = rows.packed, _candidate_squares(rows, centre)
    pieces = even(-(-rows.n // ROWS), 16)
    doubts: list[Any] = [None] * len(pieces)
    blocks, lengths = np.empty((0, 1, 1), np.float32), np.empty(0, np.float32)
    moved, length, factor = np.empty(0, np.float32), 0.0, 1.0
    if packed is not None and 2.0**-_SCALES < packed.factor < 2.0**_SCALES:
        scaled = (centre - packed.offset) * packed.factor
        length = float(np.sqrt((scaled * scaled).sum())) * (1.0 + 2.0**-20)
        if length < 2.0**50:
            moved, factor = scaled.astype(np.float32), packed.factor
            blocks, lengths = packed.blocks, packed.lengths

    def work(piece: int, _worker: int) -> None:
        begin, end = pieces[piece]
        doubts[piece] = closer_blocks(
            rows.table, blocks, lengths, moved, length, factor, known, centre, name, nearest,
            squares, begin, end,
        )  # fmt: skip

    shared(work, len(pieces))
    return np.concatenate(doubts)


@compiled
def closer_blocks(  # type: ignore[no-untyped-def]
    table, blocks, lengths, moved, length, factor, known, centre, name, nearest, squares, begin, end
):
    """Go over to a new centre where it is proven nearer, block by block."""
    n, d = table.shape
    relative = 4 * (d + 10) * 2.0**-53
    share = (d + 40) * 2.0**-24 * 1.1
    fixed = (d + 4) * 2.0**-130
    square_factor = factor * factor * (1.0 + 2.0**-30)
    near = np.empty(ROWS, np.float32)
    asked = np.ones(ROWS, np.int32)
    made = np.empty(1)
    left = np.empty(min(n, end * ROWS) - begin * ROWS, np.int64)
    waiting = 0
    screened = moved.shape[0] > 0
    flat = blocks.reshape(-1)
    for b in range(begin, end):
        first = b * ROWS
        size = min(ROWS, n - first)
        base = np.uint64(first)
        if screened:
            if known.shape[0]:
                for r in range(np.uint64(size)):
                    near[r] = known[base + r]
            else:
                near[:] = np.float32(0.0)
                place = np.uint64(first * d)
                for j in range(np.uint64(d)):
                    c = moved[j]
                    for r in range(np.uint64(ROWS)):
                        t = flat[place + r] - c
                        near[r] += t * t
                    place += np.uint64(ROWS)
            count = 0
            for r in range(np.uint64(size)):
                both = np.float64(lengths[base + r]) + length
                bound = share * both * both + fixed
                far = np.float64(near[r]) - bound > squares[base + r] * square_factor
                asked[r] = 0 if far else 1
                count += asked[r]
            if count == 0:
                continue
        for r in range(size):
            if asked[r] == 0:
                continue
            i = first + r
            old = squares[i]
            measure_dense(table[i : i + 1], centre, made, 0, 1)
            square = made[0]
            doubt = (old + square) * relative + TINY
            if square + doubt < old:
                nearest[i] = name
                squares[i] = square
            elif not square > old + doubt:
                left[waiting] = i
                waiting += 1
    return left[:waiting].copy()


def _candidate_squares(rows: Rows, centre: Any) -> Any:
    """What ``best_candidate`` kept of this centre: the squares in singles, or nothing."""
    kept = rows.memory.get("candidates")
    if kept is not None:
        names, squares = kept
        place = names.get(centre.tobytes())
        if place is not None:
            return squares[place]
    return np.empty(0, np.float32)


def locate(rows: Rows, before: Potential | None, r: float, by: str = "squares") -> int:
    """Say on which row the random number r falls."""
    if before is None:
        return _fall(rows, np.ones(rows.n, np.bool_), r)
    if by == "distinct":
        return _fall(rows, ~_equal(rows, before), r)
    squares = _believed(rows, before)
    kept = rows.memory.get("masses")
    if kept is None or kept[0] is not before:
        masses = squares * rows.weights if rows.weighted else squares
        sums = np.cumsum(masses)
        error = 2 * (_relative(rows) + ROUND) * float(sums[-1])
        slack = TINY if rows.dense else _slack(rows, before.centres)
        weighed = rows.weights * slack if rows.weighted else np.broadcast_to(slack, (rows.n,))
        kept = rows.memory["masses"] = (before, sums, error + 4 * float(weighed.sum()))
    _, sums, error = kept
    found = _draw(sums, error, r)
    return reference.place(rows.points, _plain(before), r, by) if found is None else found


def _relative(rows: Rows) -> float:
    return 4 * (rows.d + 10) * ROUND if rows.dense else 4 * ROUND


def _draw(sums: Any, error: float, r: float) -> int | None:
    """The least i with sums[i] > r * whole, if it is proven; as ``refclust.numbers.argmin``."""
    whole = float(sums[-1])
    doubt = 4 * (error + (len(sums) + 4) * (ROUND * whole + 5e-324))
    target = r * whole
    i = int(np.searchsorted(sums, target, side="right"))
    if not np.isfinite(doubt) or i >= len(sums) or not sums[i] - target > doubt:
        return None
    return i if i == 0 or target - sums[i - 1] > doubt else None


def _fall(rows: Rows, allowed: Any, r: float) -> int:
    """A draw by weight among the allowed rows."""
    if not rows.weighted:
        counted = np.cumsum(allowed, dtype=np.int64)
        numerator, denominator = r.as_integer_ratio()
        place = int(np.searchsorted(counted, numerator * int(counted[-1]) // denominator, "right"))
        return place if place < rows.n else -1
    sums = np.cumsum(np.where(allowed, rows.weights, 0.0))
    found = _draw(sums, 0.0, r)
    if found is None:
        exact = [
            w if yes else 0 for w, yes in zip(rows.points.weights, allowed.tolist(), strict=True)
        ]
        found = locate_exact(exact, r)
    return found if found < rows.n else -1


def _equal(rows: Rows, before: Potential) -> Any:
    """Which rows equal their nearest centre: a distance is 0 only then."""
    nearest = np.frombuffer(before.nearest, np.int32)
    equal = np.empty(rows.n, np.bool_)
    vectors = np.array(before.centres)
    if rows.dense:
        equal_dense(rows.table, vectors, nearest, equal)
    else:
        filled = np.count_nonzero(vectors, axis=1)
        equal_sparse(rows.starts, rows.columns, rows.values, vectors, filled, nearest, equal)
    return equal


@compiled
def equal_dense(table, vectors, nearest, equal):  # type: ignore[no-untyped-def]
    """Mark the rows that equal the centre named for them."""
    for i in range(table.shape[0]):
        same = True
        for j in range(table.shape[1]):
            if np.float64(table[i, j]) != vectors[nearest[i], j]:
                same = False
                break
        equal[i] = same


@compiled
def equal_sparse(starts, columns, values, vectors, filled, nearest, equal):  # type: ignore[no-untyped-def]
    """Mark the sparse rows that equal the centre named for them."""
    for i in range(nearest.shape[0]):
        k = nearest[i]
        count, same = 0, True
        for place in range(starts[i], starts[i + 1]):
            x = np.float64(values[place])
            if x != vectors[k, columns[place]]:
                same = False
                break
            if x != 0.0:
                count += 1
        equal[i] = same and count == filled[k]


def best_candidate(rows: Rows, before: Potential, candidates: tuple[int, ...]) -> int:
    """Say which row, as the next centre, would leave the least potential, the first of equals."""
    if not rows.d:
        return reference.best_candidate(rows.points, _plain(before), candidates)
    vectors, first = _whole_rows(rows, candidates)
    if len(first) == 1:
        return candidates[first[0]]
    old = _believed(rows, before)
    totals, errors = _quick_totals(rows, vectors, old)
    best = _least(totals, errors)
    if best is None:
        asked = [k for k in range(len(first)) if not totals[k] - errors[k] > min(totals + errors)]
        totals, errors = _slow_totals(rows, before, vectors[asked], old)
        place = _least(totals, errors)
        if place is None:
            some = tuple(candidates[first[k]] for k in asked)
            return reference.best_candidate(rows.points, _plain(before), some)
        best = asked[place]
    return candidates[first[best]]


def _least(totals: Any, errors: Any) -> int | None:
    """The index of the least total, if it is proven."""
    best = int(np.argmin(totals))
    others = np.delete(totals - errors, best)
    return best if bool((others > totals[best] + errors[best]).all()) else None


def _plain(before: Potential) -> Potential:
    """A potential as the reference takes it; it makes its own estimates."""
    return Potential(before.centres, before.nearest, before.squares, None)


def _whole_rows(rows: Rows, candidates: tuple[int, ...]) -> tuple[Any, list[int]]:
    """The rows that differ among some, and the first place of each."""
    if rows.dense:
        whole = np.asarray(rows.table[list(candidates)], np.float64) + 0.0
    else:
        whole = np.zeros((len(candidates), rows.d))
        for place, i in enumerate(candidates):
            own = slice(int(rows.starts[i]), int(rows.starts[i + 1]))
            whole[place, rows.columns[own]] = rows.values[own]
        whole += 0.0
    seen: dict[bytes, int] = {}
    for place in range(len(candidates)):
        seen.setdefault(whole[place].tobytes(), place)
    first = list(seen.values())
    return whole[first], first


def _quick_totals(rows: Rows, vectors: Any, old: Any) -> tuple[Any, Any]:
    """Totals in singles, and bounds of their errors; infinite bounds where singles do not serve."""
    count = len(vectors)
    nothing = np.zeros(count), np.full(count, np.inf)
    packed = rows.packed if rows.dense else None
    rows.memory.pop("candidates", None)
    if packed is None or not 2.0**-_SCALES < packed.factor < 2.0**_SCALES:
        return nothing
    scaled = (vectors - packed.offset) * packed.factor
    halves = 0.5 * (scaled * scaled).sum(axis=1)
    length = float(np.sqrt(2 * halves.max())) * (1.0 + 2.0**-20)
    if not length < 2.0**50:
        return nothing
    group, starts = grouped(scaled, halves)
    kept = np.empty((count, len(packed.lengths)), np.float32)
    pieces = chunks(len(packed.blocks), max(16, -(-len(packed.blocks) // 16)))
    # One sum for each chunk of rows, so that threads cannot change the order of additions.
    totals, errors = np.zeros((len(pieces), count)), np.zeros((len(pieces), count))

    def work(piece: int, _worker: int) -> None:
        begin, end = pieces[piece]
        total_blocks(
            packed.blocks, packed.lengths, group, starts, length, packed.factor, old,
            rows.weights, kept, totals[piece], errors[piece], begin, end,
        )  # fmt: skip

    shared(work, len(pieces))
    # Rows are already scaled, by an exact power of two; the places are kept for ``potential``.
    rows.memory["candidates"] = ({v.tobytes(): k for k, v in enumerate(vectors)}, kept)
    sums = totals.sum(axis=0)
    rounding = (rows.n + 64) * ROUND + 2 * _relative(rows)
    return sums, (errors.sum(axis=0) + sums * rounding) * (1.0 + 2.0**-20) + TINY


@compiled
def total_blocks(  # type: ignore[no-untyped-def]
    blocks, lengths, group, starts, length, factor, old, weights, kept, totals, errors, begin, end
):
    """Add up, over some blocks, the smaller of old and new squares for each candidate.

    The error of a row counts only where the new centre might be the nearer one.
    """
    n, d = old.shape[0], blocks.shape[1]
    count = kept.shape[0]
    out = np.empty((group.shape[0] * GROUP, ROWS), np.float32)
    share = (d + 40) * 2.0**-24 * 1.1
    fixed = (d + 4) * 2.0**-130
    square_factor = factor * factor
    bound, limit, base = np.empty(ROWS), np.empty(ROWS), np.empty(ROWS)
    weight = np.ones(ROWS)
    # One sum per lane, so that lanes do not wait for each other; they are added up at the end.
    sums, doubts = np.zeros((count, ROWS)), np.zeros((count, ROWS))
    for b in range(begin, end):
        first = np.uint64(b * ROWS)
        size = np.uint64(min(ROWS, n - b * ROWS))
        scores(
            blocks.ctypes.data + 4 * b * ROWS * d, group.ctypes.data, starts.ctypes.data, d,
            group.shape[0], out.ctypes.data,
        )  # fmt: skip
        for r in range(size):
            own = np.float64(lengths[first + r])
            bound[r] = share * (own + length) * (own + length) + fixed
            base[r] = own * own
            limit[r] = old[first + r] * square_factor
        if weights.shape[0]:
            for r in range(size):
                weight[r] = weights[first + r]
        for k in range(np.uint64(count)):
            for r in range(size):
                square = 2.0 * np.float64(out[k, r]) + base[r]
                square = square if square > 0.0 else 0.0
                kept[k, first + r] = np.float32(square)
                sums[k, r] += weight[r] * (square if square < limit[r] else limit[r])
                doubts[k, r] += weight[r] * (bound[r] if square - bound[r] < limit[r] else 0.0)
    for k in range(count):
        totals[k] = sums[k].sum()
        errors[k] = doubts[k].sum()


def _slow_totals(rows: Rows, before: Potential, vectors: Any, old: Any) -> tuple[Any, Any]:
    """Totals in doubles with the bounds of the reference."""
    made = np.empty(rows.n)
    totals = np.empty(len(vectors))
    for k, vector in enumerate(vectors):
        _measure(rows, vector, made)
        smaller = np.minimum(old, made)
        totals[k] = float((smaller * rows.weights if rows.weighted else smaller).sum())
    if rows.dense:
        weight = float(rows.weights.sum()) if rows.weighted else float(rows.n)
        slack = 4 * TINY * weight
    else:
        centres = (*before.centres, *(tuple(v) for v in vectors.tolist()))
        each = _slack(rows, centres)
        slack = 4 * float((each * rows.weights if rows.weighted else each).sum())
    # Pairwise sums of n terms of one sign err by far less than (n / 64 + 64) roundings.
    return totals, totals * (4 * _relative(rows) + (rows.n / 64 + 64) * ROUND) + slack


def farthest(rows: Rows, before: Potential, labels: Any = None, cluster: int = 0) -> int:
    """Say which row of positive weight is farthest from its centre, the lowest of equals."""
    counted = rows.weights > 0 if rows.weighted else np.ones(rows.n, np.bool_)
    if labels is not None:
        counted = counted & (np.frombuffer(memoryview(labels), np.int32) == cluster)
    asked = np.nonzero(counted)[0]
    if not len(asked) or not rows.d:
        return reference.farthest(rows.points, _plain(before), labels, cluster)
    squares = _believed(rows, before)[asked]
    slack = 4 * (TINY if rows.dense else float(_slack(rows, before.centres)[asked].max()))
    greatest = squares.max()
    doubtful = asked[~(squares * (1 + 4 * _relative(rows)) + slack < greatest)]
    nearest = np.frombuffer(before.nearest, np.int32)
    best, most = -1, 0
    if len(doubtful) == 1 and greatest > 2 * slack:
        return int(doubtful[0])
    points = rows.subset(doubtful)
    field = reference._Squares(points, before.centres)
    for place, i in enumerate(doubtful.tolist()):
        exact = field.exact_square(place, int(nearest[i]))
        if exact > most:
            best, most = i, exact
    return best
