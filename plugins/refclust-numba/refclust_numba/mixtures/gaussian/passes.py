"""The compiled passes over blocks of rows under normal densities.

Rows come in blocks, blocks in batches that stay in the cache, batches in chunks. Sums of a chunk
never leave it until all are done, and how rows are cut depends on the sizes of the problem only: so
no answer depends on the number of threads, which take chunks one after another.
"""

from __future__ import annotations

from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import compiled, inlined
from refclust_numba.lowlevel.elementary import STRANDS
from refclust_numba.lowlevel.scalars import taken
from refclust_numba.mixtures.blocks import (
    clear_totals,
    fill_ones,
    fill_weights,
    look,
    share_out,
    tell,
)
from refclust_numba.mixtures.gaussian.blocks import add_masses, add_strands, turn_block
from refclust_numba.mixtures.gaussian.diagonal import COLUMNS, scaled, squared
from refclust_numba.mixtures.gaussian.full import OUT, SIDE, TILE, outer, whitened
from refclust_numba.mixtures.gaussian.records import layout, places_of
from refclust_numba.mixtures.gaussian.rows import MANY, add_rows
from refclust_numba.mixtures.sizes import BLOCK


@compiled
def read_block(blocks, b, work, into):  # type: ignore[no-untyped-def]
    """Write a block of rows column by column: the last ones have been copied and filled up."""
    d, volume = blocks.d, BLOCK * blocks.d
    first = (b if b < blocks.whole else b - blocks.whole) * volume
    if blocks.single:
        if b < blocks.whole:
            turn_block(blocks.singles, first, d, work, into)
        else:
            turn_block(blocks.last_singles, first, d, work, into)
    elif b < blocks.whole:
        turn_block(blocks.doubles, first, d, work, into)
    else:
        turn_block(blocks.last_doubles, first, d, work, into)


@compiled
def joint_block(work, block, densities, d, few, joint):  # type: ignore[no-untyped-def]
    """Write log p(x, k) of all rows of a block and all components."""
    means, whitening = densities.means, densities.whitening
    for c in range(densities.k):
        mean, own, into = c * densities.apart, c * densities.size, joint + c * BLOCK
        offset = densities.offsets[c]
        if densities.full:
            whitened(work, block, means, mean, whitening, own, d, offset, few, into)
        else:
            scaled(work, block, means, mean, whitening, own, d, offset, into)


@inlined
def _add_many(blocks, b, around, point, cut, work, room, masses, out, into):  # type: ignore[no-untyped-def]
    """Add the moments of a block of rows of many columns, read where they are."""
    d, points, near = blocks.d, around.points, cut.near
    first = (b if b < blocks.whole else b - blocks.whole) * BLOCK * d
    if blocks.single:
        values = blocks.singles if b < blocks.whole else blocks.last_singles
        add_rows(values, first, d, near, work, room, masses, points, point, out, into)
    else:
        numbers = blocks.doubles if b < blocks.whole else blocks.last_doubles
        add_rows(numbers, first, d, near, work, room, masses, points, point, out, into)


@compiled
def add_moments(  # type: ignore[no-untyped-def]
    blocks, first, count, around, cut, work, room, out, task
):
    """Add the moments of a batch of blocks, whose masses are known, to the sums of a chunk."""
    d, k, strands = blocks.d, around.k, room.strands
    for c in range(k):
        point, own = c * around.apart, task * out.shape[1] + STRANDS + c * cut.slots
        if around.full and d >= MANY:
            for b in range(count):
                masses = room.joint + (b * k + c) * BLOCK
                if add_masses(work, masses, out, own):
                    _add_many(
                        blocks, first + b, around, point, cut, work, room, masses, out,
                        own + STRANDS,
                    )  # fmt: skip
            continue
        for i in range(strands, strands + cut.slots * STRANDS):
            work[i] = 0.0
        into = strands + STRANDS
        for b in range(count):
            block, masses = b * room.volume, room.joint + (b * k + c) * BLOCK
            if not add_masses(work, masses, work, strands):
                continue
            if around.full:
                outer(
                    work, block, around.points, point, masses, room.gaps, room.weighed, into,
                    -(-d // TILE),
                )  # fmt: skip
            else:
                squared(work, block, around.points, point, masses, into, -(-d // COLUMNS))
        add_strands(work, strands, cut.slots // DOUBLES, out, own)


@inlined
def _clear(work, few, d):  # type: ignore[no-untyped-def]
    """Columns after the last one are zero, so that tiles may be whole."""
    for i in range(few + d * SIDE, few + (d + OUT) * SIDE):
        work[i] = 0.0


@compiled
def step_chunks(  # type: ignore[no-untyped-def]
    blocks, densities, around, choice, cut, turn, work, out
):
    """Share out the rows of chunks until none is left.

    Each chunk gets J, the bound, the entropy, and behind ``STRANDS`` numbers its moments.
    """
    n, d, k = blocks.n, blocks.d, densities.k
    room, number = layout(cut, d, k), -(-n // BLOCK)
    _clear(work, room.few, d)
    fill_ones(work, places_of(room, 0))
    while True:
        task = taken(turn)
        if task * cut.chunk >= number:
            break
        last = min((task + 1) * cut.chunk, number)
        clear_totals(work, room.totals)
        out[task, :] = 0.0
        for first in range(task * cut.chunk, last, cut.size):
            count = min(cut.size, last - first)
            for b in range(count):
                own, start = room.joint + b * k * BLOCK, (first + b) * BLOCK
                places, real = places_of(room, own), min(BLOCK, n - start)
                read_block(blocks, first + b, work, b * room.volume)
                joint_block(work, b * room.volume, densities, d, room.few, own)
                fill_weights(work, places, blocks.weights, start, real)
                shares = share_out(work, places, k, choice, start, real)
                if shares != own:
                    for i in range(k * BLOCK):
                        work[own + i] = work[shares + i]
            add_moments(blocks, first, count, around, cut, work, room, out, task)
        tell(work, room.totals, choice, out, task)


@inlined
def _given_masses(labels, q, k, work, places, start, real):  # type: ignore[no-untyped-def]
    """Write the masses of a block of rows that labels (-1: none) or n times K numbers tell."""
    own = places.block
    for i in range(own, own + k * BLOCK):
        work[i] = 0.0
    for r in range(real):
        mass, i = work[places.weights + r], start + r
        if labels.shape[0]:
            if 0 <= labels[i] < k:
                work[own + labels[i] * BLOCK + r] = mass
        else:
            for c in range(k):
                work[own + c * BLOCK + r] = mass * q[i * k + c]


@compiled
def moment_chunks(blocks, around, labels, q, cut, turn, work, out):  # type: ignore[no-untyped-def]
    """Add up the moments of chunks for given labels or responsibilities until none is left."""
    n, d, k = blocks.n, blocks.d, around.k
    room, number = layout(cut, d, k), -(-n // BLOCK)
    while True:
        task = taken(turn)
        if task * cut.chunk >= number:
            break
        last = min((task + 1) * cut.chunk, number)
        out[task, :] = 0.0
        for first in range(task * cut.chunk, last, cut.size):
            count = min(cut.size, last - first)
            for b in range(count):
                start = (first + b) * BLOCK
                places, real = places_of(room, room.joint + b * k * BLOCK), min(BLOCK, n - start)
                if not (around.full and d >= MANY):
                    read_block(blocks, first + b, work, b * room.volume)
                fill_weights(work, places, blocks.weights, start, real)
                _given_masses(labels, q, k, work, places, start, real)
            add_moments(blocks, first, count, around, cut, work, room, out, task)


@compiled
def posterior_chunks(  # type: ignore[no-untyped-def]
    blocks, densities, cut, turn, work, labels, logs, table
):
    """Write labels, log p(x) and, if there is room for it, log p(x, k) of chunks of rows."""
    n, d, k = blocks.n, blocks.d, densities.k
    room, number = layout(cut, d, k), -(-n // BLOCK)
    places = places_of(room, room.joint)
    _clear(work, room.few, d)
    fill_ones(work, places)
    clear_totals(work, room.totals)
    while True:
        task = taken(turn)
        if task * cut.chunk >= number:
            break
        for b in range(task * cut.chunk, min((task + 1) * cut.chunk, number)):
            read_block(blocks, b, work, 0)
            joint_block(work, 0, densities, d, room.few, room.joint)
            start = b * BLOCK
            look(work, places, k, start, min(BLOCK, n - start), labels, logs, table)
