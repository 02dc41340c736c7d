"""The kernels of mixtures over rows of counts (chapter 31), multinomial and Bernoulli.

Keeps KER-POSTERIOR and KER-EMSTEP: every product and sum is rounded once or fused, exp and log err
by a few units. What overflows beyond them is left to the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from refclust.kernels.mixtures import multinomial as reference
from refclust.kernels.mixtures.multinomial import Tallies, Terms
from refclust.kernels.mixtures.shared import SOFT, EMStep, Posterior, Rule
from refclust_numba.lowlevel.arrays import array_over, doubles, fixed
from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.threads import chunks, even, in_threads, shared, threads
from refclust_numba.mixtures.blocks import Choice
from refclust_numba.mixtures.multinomial.lanes import WIDEST
from refclust_numba.mixtures.multinomial.passes import (
    add_counts,
    assigned_rows,
    lay,
    posterior_rows,
    share_rows,
    unlay,
)
from refclust_numba.mixtures.multinomial.records import OBJECTIVES, Certain, Densities, Span, layout
from refclust_numba.mixtures.multinomial.rows import Counted, counted, room
from refclust_numba.mixtures.sizes import BLOCK, sizes
from refclust_numba.prepared import Rows

# Writes the shares of chunks of rows: which rows; shares; what they tell.
Write: TypeAlias = Callable[[Span, Any, Any], None]


def em_step(rows: Rows, terms: Terms, rule: Rule = SOFT) -> EMStep[Tallies]:
    """Keeps the contract of ``multinomial.em_step``."""
    if not rows.d:
        return reference.em_step(rows.points, terms, rule)
    samples = rule.samples if rule.draws is not None and len(rule.draws) else 0
    top = rule.top if 0 < rule.top < terms.k else 0
    choice = Choice(top, samples, doubles(b"" if rule.draws is None else rule.draws))
    weights = fixed(rows.weights)
    known, groups, width = counted(rows), *_lines(terms.k)
    with room(rows, groups, rows.d, width) as table:
        made, certain = _laid(terms, table), _certain(terms, rows.d)

        def write(span: Span, shares: Any, chunk_sums: Any) -> None:
            with room(rows, _size(made)) as work:
                share_rows(
                    known.lists, known.packed, made, certain, choice, weights, span, work, shares,
                    chunk_sums,
                )  # fmt: skip

        objective, tallies = _passed(rows, known, terms.k, write)
    if tallies is None or np.isnan(objective).any():
        return reference.em_step(rows.points, terms, rule)
    log_likelihood, bound, entropy = objective.tolist()
    return EMStep(log_likelihood, bound, entropy, tallies)


def moments(rows: Rows, q: Any, k: int) -> Tallies:
    """Keeps the contract of ``multinomial.moments``."""
    if not rows.d:
        return reference.moments(rows.points, q, k)
    assigned = memoryview(q)
    labelled = assigned.format == "i"
    labels = fixed(array_over(assigned if labelled else b"", np.int32))
    numbers, weights = doubles(b"" if labelled else assigned), fixed(rows.weights)

    def write(span: Span, shares: Any, chunk_sums: Any) -> None:
        assigned_rows(labels, numbers, k, weights, span, shares, chunk_sums)

    tallies = _passed(rows, counted(rows), k, write)[1]
    return reference.moments(rows.points, q, k) if tallies is None else tallies


def posterior(rows: Rows, terms: Terms, full: bool) -> Posterior:
    """Keeps the contract of ``multinomial.posterior``."""
    if not rows.d:
        return reference.posterior(rows.points, terms, full)
    labels, logs = np.empty(rows.n, np.int32), np.empty(rows.n)
    joint = np.empty(rows.n * terms.k if full else 0)
    known, groups, width = counted(rows), *_lines(terms.k)
    with room(rows, groups, rows.d, width) as table:
        made, certain = _laid(terms, table), _certain(terms, rows.d)

        def run(begin: int, end: int) -> None:
            with room(rows, _size(made)) as work:
                posterior_rows(known.lists, made, certain, begin, end, work, labels, logs, joint)

        in_threads(run, chunks(rows.n, sizes().chunk_rows))
    if np.isnan(logs).any():
        return reference.posterior(rows.points, terms, full)
    return Posterior(_flat(labels), _flat(logs), _flat(joint) if full else None)


def _lines(k: int) -> tuple[int, int]:
    """Groups of components and the lanes of each: sums of a group fit into registers."""
    groups = -(-k // WIDEST)
    return groups, -(-k // (groups * DOUBLES)) * DOUBLES


def _flat(values: Any) -> Any:
    """A flat array as a buffer that nobody writes to."""
    return values.data.toreadonly()


def _laid(terms: Terms, table: Any) -> Densities:
    """Densities as compiled code takes them; slopes are laid out column by column."""
    k, (groups, d, width) = terms.k, table.shape
    slopes = doubles(terms.slopes)
    pieces = even(d, sizes().columns)
    never = any(in_threads(lambda b, e: lay(slopes, k, table, b, e), pieces))
    offsets = np.full(groups * width, -np.inf)
    offsets[:k] = doubles(terms.offsets)
    return Densities(k, groups * width, d, bool(never), slopes, table, offsets)


def _size(densities: Densities) -> int:
    """How many doubles a worker's room holds."""
    return int(layout.py_func(densities.k, densities.lanes).end)


def _certain(terms: Terms, d: int) -> Certain:
    """How many columns each component asks for, and for each column the components that do."""
    asked = [sorted(set(must)) for must in terms.certain or ()]
    due = np.array([len(must) for must in asked], np.float64)
    if not due.any():
        return Certain(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))
    columns = np.concatenate([np.array(must, np.int64) for must in asked])
    order = np.argsort(columns, kind="stable")
    names = np.repeat(np.arange(terms.k), due.astype(np.int64))[order]
    lists = np.searchsorted(columns[order], np.arange(d + 1))
    return Certain(due, lists, names)


def _passed(rows: Rows, known: Counted, k: int, write: Write) -> tuple[Any, Tallies | None]:
    """Write the shares of stretches of rows and add up their counts, if nothing overflows."""
    n, d, packed, chunk = rows.n, rows.d, known.packed, sizes().chunk_rows
    groups, width = _lines(k)
    size = max(chunk, sizes().shares // (groups * width) // chunk * chunk)
    blocks = len(packed.firsts) - 1
    chunk_sums = np.empty((-(-n // chunk), OBJECTIVES + k))
    room_for = -(-min(size, n) // BLOCK) * BLOCK
    with room(rows, groups, room_for, width) as shares, room(rows, groups, d, width) as table:
        for before, after in chunks(n, size):

            def write_piece(begin: int, end: int, before: int = before) -> None:
                write(Span(before + begin, before + end, before, chunk), shares, chunk_sums)

            def add(task: int, _worker: int, before: int = before, after: int = after) -> None:
                g, b = divmod(task, blocks)
                add_counts(packed, b, before, after, shares, table, g)

            # Few large pieces: each goes through all lines of the table.
            piece = -(-(after - before) // (2 * threads() * chunk)) * chunk
            in_threads(write_piece, chunks(after - before, piece))
            shared(add, groups * blocks)
        pool = rows.buffers("sums", k * d)
        sums = pool.free()
        fine = all(in_threads(lambda b, e: unlay(table, k, sums, b, e), even(d, sizes().columns)))
    whole = chunk_sums.sum(axis=0)
    counts = np.ascontiguousarray(whole[OBJECTIVES:])
    if not fine or not np.isfinite(counts).all():
        return whole[:OBJECTIVES], None
    return whole[:OBJECTIVES], Tallies(_flat(counts), memoryview(pool.finished(sums)))
