"""From log p(x, k) of a block of rows to responsibilities: posteriors, the top m, draws.

A block holds ``BLOCK`` rows, component after component: row r of component k is at k * BLOCK + r.
Nothing here knows which family the densities are of.
"""

# ruff: noqa: ARG001  (arguments of generated functions are used by position)

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import types

from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import compiled, generated
from refclust_numba.lowlevel.elementary import INFINITY, LEAST, Emit

BLOCK: Final = 128  # rows
VECTORS: Final = BLOCK // DOUBLES
_GROUP: Final = 8  # components


@generated
def share(
    typingctx: Any, joint: Any, q: Any, k: Any, weights: Any, factors: Any, found: Any, totals: Any
) -> Any:
    """Write each row's posteriors times its factor to ``q``, and log p(x) to ``found``.

    Adds weight times log p(x) and weight times the entropy, lane by lane, to two vectors at
    ``totals``; rows of weight 0 add nothing. ``q`` may be where ``joint`` is. All arguments but k
    are addresses.

    Errors, in units of u = 2**-53: exp 2; the sum 8, for components come in groups of 8 whose sums
    are added up together with the rests; the inverse and two products 3. So a posterior errs by at
    most 13 u, beside the error of log p(x, k), however many components there are.
    """

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        emit = Emit(context, builder)
        joint, q, weights, factors, found, totals = (
            emit.pointer(args[i]) for i in (0, 1, 3, 4, 5, 6)
        )
        k, none = args[2], emit.all(-INFINITY)
        groups = builder.udiv(emit.index(k, _GROUP - 1), emit.number(_GROUP))
        all_logs, all_entropies = (
            emit.variable(emit.load(totals, 0)), emit.variable(emit.load(totals, DOUBLES))
        )  # fmt: skip
        with emit.loop(VECTORS) as vector:
            row = (vector.index, DOUBLES)
            top = emit.variable(none)
            with emit.loop(k) as one:
                x = emit.load(joint, (one.index, BLOCK), row)
                known = builder.load(top)
                builder.store(emit.where(">", x, known, x, known), top)
            peak = builder.load(top)
            # No component can have made such a row: every difference from 0 is -inf, every q 0.
            start = emit.where("==", peak, none, emit.all(0.0), peak)
            mass, rest, mixed = emit.variable(), emit.variable(), emit.variable()
            with emit.loop(groups) as group:
                first = emit.index((group.index, _GROUP))
                some = emit.variable()
                with emit.loop(emit.least(builder.sub(k, first), _GROUP)) as one:
                    place = ((emit.index(first, one.index), BLOCK), row)
                    below = emit.minus(emit.load(joint, *place), start)
                    least = emit.all(LEAST)
                    bounded = emit.where(">", below, least, below, least)
                    part = emit.where(">", below, least, emit.exp(bounded), emit.all(0.0))
                    emit.add(part, some)
                    emit.add_product(part, bounded, mixed)
                    emit.store(part, q, *place)
                total, error = emit.two_sum(builder.load(mass), builder.load(some))
                builder.store(total, mass)
                emit.add(error, rest)
            whole = emit.plus(builder.load(mass), builder.load(rest))
            whole = emit.where("==", peak, none, emit.all(1.0), whole)
            log = emit.log(whole)
            log_sum = emit.where("==", peak, none, none, emit.plus(start, log))
            inverse = builder.fdiv(emit.all(1.0), whole)
            entropy = emit.minus(log, emit.times(builder.load(mixed), inverse))
            weight = emit.load(weights, row)
            # A row of weight 0 counts for nothing, even if no component can have made it.
            told = emit.times(weight, log_sum)
            told = emit.where("==", weight, emit.all(0.0), emit.all(0.0), told)
            emit.add(told, all_logs)
            emit.add_product(weight, entropy, all_entropies)
            emit.store(log_sum, found, row)
            factor = emit.times(emit.load(factors, row), inverse)
            with emit.loop(k) as one:
                place = ((one.index, BLOCK), row)
                emit.store(emit.times(emit.load(q, *place), factor), q, *place)
        emit.store(builder.load(all_logs), totals, 0)
        emit.store(builder.load(all_entropies), totals, DOUBLES)
        return context.get_dummy_value()

    addresses = [types.intp] * 7
    return types.none(*addresses), generate


@generated
def most_probable(typingctx: Any, joint: Any, k: Any, target: Any) -> Any:
    """Write the component of the largest log p(x, k) of each row as a double, the first of equals.

    It is 0 for a row that no component can have made.
    """

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        emit = Emit(context, builder)
        joint, target = emit.pointer(args[0]), emit.pointer(args[2])
        with emit.loop(VECTORS) as vector:
            row = (vector.index, DOUBLES)
            top, where = emit.variable(emit.all(-INFINITY)), emit.variable()
            with emit.loop(args[1]) as one:
                x = emit.load(joint, (one.index, BLOCK), row)
                name = emit.splat(builder.uitofp(one.index, x.type.element))
                known, index = builder.load(top), builder.load(where)
                builder.store(emit.where(">", x, known, name, index), where)
                builder.store(emit.where(">", x, known, x, known), top)
            emit.store(builder.load(where), target, row)
        return context.get_dummy_value()

    return types.none(types.intp, types.intp, types.intp), generate


@generated
def number_at(typingctx: Any, address: Any) -> Any:
    """The double at an address."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.load(Emit(context, builder).pointer(args[0]))

    return types.float64(types.intp), generate


@generated
def _kept(typingctx: Any, joint: Any, kept: Any, k: Any, top: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        emit = Emit(context, builder)
        joint, kept, k, top = emit.pointer(args[0]), emit.pointer(args[1]), args[2], args[3]
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
                with emit.loop(k) as one:
                    x, own = emit.load(joint, (one.index, BLOCK), row), name(one.index)
                    known, place = builder.load(best), builder.load(at)
                    after = before(builder.load(value), builder.load(index), x, own)
                    better = builder.and_(after, before(x, own, known, place))
                    builder.store(builder.select(better, x, known), best)
                    builder.store(builder.select(better, own, place), at)
                builder.store(builder.load(best), value)
                builder.store(builder.load(at), index)
            with emit.loop(k) as one:
                x, own = emit.load(joint, (one.index, BLOCK), row), name(one.index)
                gone = before(builder.load(value), builder.load(index), x, own)
                emit.store(builder.select(gone, none, x), kept, (one.index, BLOCK), row)
        return context.get_dummy_value()

    return types.none(*[types.intp] * 4), generate


@compiled
def keep_top(work, joint, kept, k, top):  # type: ignore[no-untyped-def]
    """Copy a block to ``kept`` with -inf for all but the ``top`` most probable of each row.

    Of equals those with the lowest index are kept.
    """
    base = work.ctypes.data
    _kept(base + 8 * joint, base + 8 * kept, k, top)


@compiled
def draw(work, joint, q, k, weights, draws, samples, rows, totals):  # type: ignore[no-untyped-def]
    """Turn the posteriors of some rows into weighted shares of components drawn from them.

    ``draws`` are the random numbers of these rows, ``weights`` is an address. Adds weight times the
    bound and weight times the entropy to two numbers at ``totals``.
    """
    reached, counts = np.empty(k), np.empty(k, np.int64)
    for r in range(rows):
        weight = number_at(weights + 8 * r)
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
                if draws[r * samples + s] < reached[middle]:
                    high = middle
                else:
                    low = middle + 1
            counts[low] += 1
        entropy, mean = 0.0, 0.0
        for c in range(k):
            part = counts[c] / samples
            work[q + c * BLOCK + r] = weight * part
            if counts[c]:
                entropy -= part * np.log(part)
                mean += part * work[joint + c * BLOCK + r]
        work[totals] += weight * (mean + entropy)
        work[totals + 1] += weight * entropy
    for r in range(rows, BLOCK):
        for c in range(k):
            work[q + c * BLOCK + r] = 0.0
