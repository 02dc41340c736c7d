"""From log p(x, k) of a block of rows to responsibilities: posteriors, the top m, draws.

A block holds ``BLOCK`` rows, component after component: row r of component k is at k * BLOCK + r.
Everything is in a worker's room, an array of doubles; all other arguments are places in it, or
numbers. Nothing here knows which family the densities are of.
"""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import types

from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import compiled, generated, room
from refclust_numba.lowlevel.elementary import INFINITY, LEAST, PARTS, STRANDS, Emit
from refclust_numba.lowlevel.memory import Memory
from refclust_numba.mixtures.logs import log_of
from refclust_numba.mixtures.sizes import BLOCK

VECTORS: Final = BLOCK // DOUBLES
TURNS: Final = BLOCK // STRANDS
_GROUP: Final = 8  # components


class _RowVector:
    """One vector of rows of a block on its way to shares."""

    def __init__(self, emit: Emit, work: Memory, k: Any, row: Any) -> None:
        self._emit, self._work, self._k, self._row = emit, work, k, row

    def peak(self, joint: Any) -> Any:
        """The greatest log p(x, k) of each row."""
        emit, top = self._emit, self._emit.variable(self._emit.all(-INFINITY))
        with emit.loop(self._k) as component:
            x = emit.load(self._work, joint, (component.index, BLOCK), self._row)
            known = emit.builder.load(top)
            emit.builder.store(emit.where(">", x, known, x, known), top)
        return emit.builder.load(top)

    def exponentials(self, joint: Any, q: Any, start: Any) -> tuple[Any, Any]:
        """Write e = exp(log p(x, k) - start); the sums of e, and of e times its logarithm.

        Components come in groups, whose sums are added up together with the rests.
        """
        emit, builder, least = self._emit, self._emit.builder, self._emit.all(LEAST)
        mass, rest, mixed = emit.variable(), emit.variable(), emit.variable()
        groups = builder.udiv(emit.index(self._k, _GROUP - 1), emit.number(_GROUP))
        with emit.loop(groups) as group:
            first = emit.index((group.index, _GROUP))
            some = emit.variable()
            with emit.loop(emit.least(builder.sub(self._k, first), _GROUP)) as member:
                place = ((emit.index(first, member.index), BLOCK), self._row)
                below = emit.minus(emit.load(self._work, joint, *place), start)
                bounded = emit.where(">", below, least, below, least)
                part = emit.where(">", below, least, emit.exp(bounded), emit.all(0.0))
                emit.add(part, some)
                emit.add_product(part, bounded, mixed)
                emit.store(part, self._work, q, *place)
            total, error = emit.two_sum(builder.load(mass), builder.load(some))
            builder.store(total, mass)
            emit.add(error, rest)
        return emit.plus(builder.load(mass), builder.load(rest)), builder.load(mixed)

    def scale(self, q: Any, factor: Any) -> None:
        """Multiply every number of the rows."""
        emit = self._emit
        with emit.loop(self._k) as component:
            place = (q, (component.index, BLOCK), self._row)
            emit.store(emit.times(emit.load(self._work, *place), factor), self._work, *place)


@generated
def share(
    typingctx: Any, work: Any, joint: Any, q: Any, k: Any, weights: Any, factors: Any,
    log_sums: Any, totals: Any,
) -> Any:  # fmt: skip
    """Write each row's posteriors times its factor to ``q``, and log p(x) to ``log_sums``.

    Adds weight times log p(x) and weight times the entropy, strand by strand, to ``STRANDS``
    numbers each at ``totals``; rows of weight 0 add nothing. ``q`` may be where ``joint`` is.

    Errors, in units of u = 2**-53: exp 2; the sum 8, for components come in groups of 8 whose sums
    are added up together with the rests; the inverse and two products 3. So a posterior errs by at
    most 13 u, beside the error of log p(x, k), however many components there are.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emit(context, builder, signature, args)
        work, (joint, q, k, weights, factors, log_sums, totals) = emit.memory(0), args[1:]
        none, zero, unit = emit.all(-INFINITY), emit.all(0.0), emit.all(1.0)
        with emit.loop(PARTS) as part:
            strands = (part.index, DOUBLES)
            logs = emit.variable(emit.load(work, totals, strands))
            entropies = emit.variable(emit.load(work, totals, STRANDS, strands))
            with emit.loop(TURNS) as turn:
                row = emit.index((turn.index, STRANDS), strands)
                rows = _RowVector(emit, work, k, row)
                peak = rows.peak(joint)
                # No component can have made such a row: every difference from 0 is -inf, every q 0.
                start = emit.where("==", peak, none, zero, peak)
                whole, mixed = rows.exponentials(joint, q, start)
                whole = emit.where("==", peak, none, unit, whole)
                log = emit.log(whole)
                log_sum = emit.where("==", peak, none, none, emit.plus(start, log))
                inverse = builder.fdiv(unit, whole)
                entropy = emit.fused(emit.opposite(mixed), inverse, log)
                weight = emit.load(work, weights, row)
                # A row of weight 0 counts for nothing, even if no component can have made it.
                weighted = emit.times(weight, log_sum)
                emit.add(emit.where("==", weight, zero, zero, weighted), logs)
                emit.add_product(weight, entropy, entropies)
                emit.store(log_sum, work, log_sums, row)
                rows.scale(q, emit.times(emit.load(work, factors, row), inverse))
            emit.store(builder.load(logs), work, totals, strands)
            emit.store(builder.load(entropies), work, totals, STRANDS, strands)
        return emit.none()

    return types.none(work, *[types.intp] * 7), generate


@generated
def most_probable(typingctx: Any, work: Any, joint: Any, k: Any, target: Any) -> Any:
    """Write the component of the largest log p(x, k) of each row as a double, the first of equals.

    It is 0 for a row that no component can have made.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emit(context, builder, signature, args)
        work, (joint, k, target) = emit.memory(0), args[1:]
        with emit.loop(VECTORS) as vector:
            row = (vector.index, DOUBLES)
            top, where = emit.variable(emit.all(-INFINITY)), emit.variable()
            with emit.loop(k) as component:
                x = emit.load(work, joint, (component.index, BLOCK), row)
                name = emit.splat(builder.uitofp(component.index, x.type.element))
                known, index = builder.load(top), builder.load(where)
                builder.store(emit.where(">", x, known, name, index), where)
                builder.store(emit.where(">", x, known, x, known), top)
            emit.store(builder.load(where), work, target, row)
        return emit.none()

    return types.none(work, types.intp, types.intp, types.intp), generate


@generated
def _kept(typingctx: Any, work: Any, joint: Any, kept: Any, k: Any, top: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emit(context, builder, signature, args)
        work, (joint, kept, k, top) = emit.memory(0), args[1:]
        none = emit.all(-INFINITY)

        def name(index: Any) -> Any:
            return emit.splat(builder.sitofp(index, none.type.element))

        def less(a: Any, b: Any) -> Any:
            return builder.fcmp_ordered("<", a, b)

        def before(x: Any, i: Any, y: Any, j: Any) -> Any:
            """Whether (x, i) comes before (y, j): by falling values, then by rising indices."""
            same = builder.fcmp_ordered("==", x, y)
            return builder.or_(less(y, x), builder.and_(same, less(i, j)))

        with emit.loop(VECTORS) as vector:
            row = (vector.index, DOUBLES)
            value, index = emit.variable(emit.all(INFINITY)), emit.variable(emit.all(-1.0))
            with emit.loop(top):
                # The next one in that order.
                best, at = emit.variable(none), emit.variable(name(k))
                with emit.loop(k) as component:
                    x = emit.load(work, joint, (component.index, BLOCK), row)
                    own = name(component.index)
                    known, place = builder.load(best), builder.load(at)
                    after = before(builder.load(value), builder.load(index), x, own)
                    better = builder.and_(after, before(x, own, known, place))
                    builder.store(builder.select(better, x, known), best)
                    builder.store(builder.select(better, own, place), at)
                builder.store(builder.load(best), value)
                builder.store(builder.load(at), index)
            with emit.loop(k) as component:
                x = emit.load(work, joint, (component.index, BLOCK), row)
                own = name(component.index)
                gone = before(builder.load(value), builder.load(index), x, own)
                chosen = builder.select(gone, none, x)
                emit.store(chosen, work, kept, (component.index, BLOCK), row)
        return emit.none()

    return types.none(work, *[types.intp] * 4), generate


@compiled
def keep_top(work, joint, kept, k, top):  # type: ignore[no-untyped-def]
    """Copy a block to ``kept`` with -inf for all but the ``top`` most probable of each row.

    Of equals those with the lowest index are kept.
    """
    _kept(work, joint, kept, k, top)


@compiled
def draw(  # type: ignore[no-untyped-def]
    work, joint, q, k, weights, draws, first, samples, rows, totals
):
    """Turn the posteriors of some rows into weighted shares of components drawn from them.

    The random numbers of these rows begin at place ``first`` of ``draws``. Adds weight times the
    bound and weight times the entropy to two numbers at ``totals``.
    """
    reached, counts = room(k, np.float64), room(k, np.int64)
    for r in range(rows):
        weight = work[weights + r]
        total, last = 0.0, -1
        for c in range(k):
            share_of = work[q + c * BLOCK + r]
            total += share_of
            reached[c], counts[c] = total, 0
            if share_of > 0.0:
                last = c
        if last < 0:
            if weight != 0.0:
                work[totals] = -np.inf
            continue
        for s in range(samples):
            low, high = 0, last
            while low < high:
                middle = (low + high) // 2
                if draws[first + r * samples + s] < reached[middle]:
                    high = middle
                else:
                    low = middle + 1
            counts[low] += 1
        entropy, mean = 0.0, 0.0
        for c in range(k):
            part = counts[c] / samples
            work[q + c * BLOCK + r] = weight * part
            if counts[c]:
                entropy -= part * log_of(part)
                mean += part * work[joint + c * BLOCK + r]
        work[totals] += weight * (mean + entropy)
        work[totals + 1] += weight * entropy
    for r in range(rows, BLOCK):
        for c in range(k):
            work[q + c * BLOCK + r] = 0.0
