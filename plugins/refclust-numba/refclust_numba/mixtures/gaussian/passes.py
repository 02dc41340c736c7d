"""The compiled passes over blocks of rows under normal densities.

Rows come in blocks, blocks in batches that stay in the cache, batches in chunks. Sums of a chunk
never leave it until all are done, and how rows are cut depends on the sizes of the problem only: so
no answer depends on the number of threads, which take chunks one after another.

Rows and tables of numbers are passed as addresses, so that one compilation serves all.
"""

from __future__ import annotations

from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import compiled, inlined
from refclust_numba.lowlevel.scalars import taken
from refclust_numba.mixtures.blocks import TOTALS, look, share_out, tell
from refclust_numba.mixtures.gaussian.blocks import add_lanes, add_masses, turn_block
from refclust_numba.mixtures.gaussian.full import OUT, SIDE, TILE, outer, whitened, width
from refclust_numba.mixtures.gaussian.plain import COLUMNS, scaled, squared
from refclust_numba.mixtures.gaussian.rows import MANY, add_rows
from refclust_numba.mixtures.responsibilities import BLOCK, VECTORS, number_at


@inlined
def layout(size, d, k, slots):  # type: ignore[no-untyped-def]
    """Where things are in a worker's room, counted in doubles; the last one is its size.

    In order: rows of a batch, their log p(x, k) or masses, one block of them as chosen, differences
    of some rows, differences of a block, one tile of them, lanes, log p(x), totals.
    """
    volume = width(d) * BLOCK
    joint = size * volume
    chosen = joint + size * k * BLOCK
    few = chosen + k * BLOCK
    gaps = few + (d + OUT) * SIDE
    weighed = gaps + (d + TILE) * BLOCK
    lanes = weighed + TILE * BLOCK
    found = lanes + slots * DOUBLES
    totals = found + BLOCK
    end = totals + TOTALS
    return volume, joint, chosen, few, gaps, weighed, lanes, found, totals, end


@inlined
def _source(rows, b):  # type: ignore[no-untyped-def]
    """The address of a block of rows: the last ones have been copied and filled up."""
    source, tail, whole, single, _, d = rows
    size = BLOCK * d * (4 if single else 8)
    return source + b * size if b < whole else tail + (b - whole) * size


@inlined
def _weights(rows, weights, b):  # type: ignore[no-untyped-def]
    """The address of the weights of a block of rows."""
    source, step, tail = weights
    whole = rows[2]
    return source + b * step if b < whole else tail + (b - whole) * BLOCK * 8


@compiled
def joint_block(block, densities, full, d, few, joint):  # type: ignore[no-untyped-def]
    """Write log p(x, k) of all rows of a block and all components."""
    k, apart, means, size, whitening, offsets = densities
    for c in range(k):
        mean, own = means + 8 * c * apart, whitening + 8 * c * size
        offset, into = number_at(offsets + 8 * c), joint + 8 * c * BLOCK
        if full:
            whitened(block, mean, own, d, offset, few, into)
        else:
            scaled(block, mean, own, d, offset, into)


@compiled
def add_moments(  # type: ignore[no-untyped-def]
    rows, first, count, k, around, apart, full, size, slots, work, base, sums
):
    """Add the moments of a batch of blocks, whose masses are known, to the sums of a chunk."""
    single, d = rows[3], rows[5]
    volume, joint, chosen, _, gaps, weighed, lanes, found, _, _ = layout(size, d, k, slots)
    for c in range(k):
        point, own = around + 8 * c * apart, sums + 8 * c * slots
        if full and d >= MANY:
            for b in range(count):
                masses, source = joint + (b * k + c) * BLOCK, _source(rows, first + b)
                if add_masses(base + 8 * masses, own):
                    add_rows(
                        work, base, source, single, d, masses, found, chosen, gaps, point,
                        own + 8 * DOUBLES,
                    )  # fmt: skip
            continue
        for i in range(lanes, lanes + slots * DOUBLES):
            work[i] = 0.0
        into = base + 8 * (lanes + DOUBLES)
        for b in range(count):
            block, masses = base + 8 * b * volume, base + 8 * (joint + (b * k + c) * BLOCK)
            if not add_masses(masses, base + 8 * lanes):
                continue
            if full:
                outer(
                    block, point, masses, base + 8 * gaps, base + 8 * weighed, into,
                    -(-d // TILE), VECTORS,
                )  # fmt: skip
            else:
                squared(block, point, masses, into, -(-d // COLUMNS), VECTORS)
        add_lanes(base + 8 * lanes, slots // DOUBLES, own)


@inlined
def _clear(work, few, d):  # type: ignore[no-untyped-def]
    """Columns after the last one are zero, so that tiles may be whole."""
    for i in range(few + d * SIDE, few + (d + OUT) * SIDE):
        work[i] = 0.0


@compiled
def step_chunks(  # type: ignore[no-untyped-def]
    rows, weights, densities, full, around, ones, rule, draws, cut, turn, work, out
):
    """Share out the rows of chunks until none is left.

    Each chunk gets J, the bound, the entropy, and behind ``DOUBLES`` numbers its moments.
    """
    single, n, d = rows[3], rows[4], rows[5]
    k, apart = densities[0], densities[1]
    size, chunk, slots = cut
    blocks = -(-n // BLOCK)
    base, results = work.ctypes.data, out.ctypes.data
    volume, joint, chosen, few, _, _, _, found, totals, _ = layout(size, d, k, slots)
    _clear(work, few, d)
    while True:
        task = taken(turn)
        if task * chunk >= blocks:
            break
        last = min((task + 1) * chunk, blocks)
        for i in range(totals, totals + TOTALS):
            work[i] = 0.0
        out[task, :] = 0.0
        for first in range(task * chunk, last, size):
            count = min(size, last - first)
            for b in range(count):
                block, own = base + 8 * b * volume, joint + b * k * BLOCK
                turn_block(_source(rows, first + b), single, d, block)
                joint_block(block, densities, full, d, base + 8 * few, base + 8 * own)
                start = (first + b) * BLOCK
                shares = share_out(
                    work, base, (own, chosen, found, totals), k, _weights(rows, weights, first + b),
                    ones, rule, draws, start, min(BLOCK, n - start),
                )  # fmt: skip
                if shares != own:
                    for i in range(k * BLOCK):
                        work[own + i] = work[shares + i]
            sums = results + 8 * (task * out.shape[1] + DOUBLES)
            add_moments(rows, first, count, k, around, apart, full, size, slots, work, base, sums)
        tell(work, totals, rule, out[task])


@compiled
def moment_chunks(  # type: ignore[no-untyped-def]
    rows, weights, k, labels, q, full, around, apart, cut, turn, work, out
):
    """Add up the moments of chunks for given labels or responsibilities until none is left."""
    single, n, d = rows[3], rows[4], rows[5]
    size, chunk, slots = cut
    blocks = -(-n // BLOCK)
    base, results = work.ctypes.data, out.ctypes.data
    volume, joint, _, _, _, _, _, _, _, _ = layout(size, d, k, slots)
    while True:
        task = taken(turn)
        if task * chunk >= blocks:
            break
        last = min((task + 1) * chunk, blocks)
        out[task, :] = 0.0
        for first in range(task * chunk, last, size):
            count = min(size, last - first)
            for b in range(count):
                if not (full and d >= MANY):
                    turn_block(_source(rows, first + b), single, d, base + 8 * b * volume)
                own, weight = joint + b * k * BLOCK, _weights(rows, weights, first + b)
                for i in range(own, own + k * BLOCK):
                    work[i] = 0.0
                start = (first + b) * BLOCK
                for r in range(min(BLOCK, n - start)):
                    mass, i = number_at(weight + 8 * r), start + r
                    if labels.shape[0]:
                        if 0 <= labels[i] < k:
                            work[own + labels[i] * BLOCK + r] = mass
                    else:
                        for c in range(k):
                            work[own + c * BLOCK + r] = mass * q[i * k + c]
            sums = results + 8 * (task * out.shape[1] + DOUBLES)
            add_moments(rows, first, count, k, around, apart, full, size, slots, work, base, sums)


@compiled
def posterior_chunks(  # type: ignore[no-untyped-def]
    rows, densities, full, ones, cut, turn, work, labels, logs, table
):
    """Write labels, log p(x) and, if there is room for it, log p(x, k) of chunks of rows."""
    single, n, d = rows[3], rows[4], rows[5]
    k = densities[0]
    size, chunk, slots = cut
    blocks = -(-n // BLOCK)
    base = work.ctypes.data
    _, joint, _, few, _, _, _, found, totals, _ = layout(size, d, k, slots)
    _clear(work, few, d)
    while True:
        task = taken(turn)
        if task * chunk >= blocks:
            break
        for b in range(task * chunk, min((task + 1) * chunk, blocks)):
            turn_block(_source(rows, b), single, d, base)
            joint_block(base, densities, full, d, base + 8 * few, base + 8 * joint)
            start = b * BLOCK
            look(
                work, base, (joint, found, totals), k, ones, start, min(BLOCK, n - start),
                labels, logs, table,
            )  # fmt: skip
