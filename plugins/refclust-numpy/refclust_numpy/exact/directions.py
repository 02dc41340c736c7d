"""Rows scaled to length one: double-doubles where they prove the rounding, integers elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from refclust.kernels.clusters import directions as reference
from refclust_numpy.exact.floats import ROUND, Array, settled, two_product, two_square, two_sum
from refclust_numpy.rows import Rows, segment_sums

_BLOCK = 1 << 18


def directions(rows: Rows) -> Any:
    """Keeps the contract of kmeans.directions: every component the nearest double."""
    out = np.empty(rows.values.size)
    doubtful: list[Array] = []
    for begin, end in rows.blocks(_BLOCK):
        if rows.dense:
            first, last = begin * rows.d, end * rows.d
            counts = np.full(end - begin, rows.d)
        else:
            first, last = int(rows.starts[begin]), int(rows.starts[end])
            counts = rows.counts[begin:end]
        values = rows.values.reshape(-1)[first:last].astype(np.float64)
        out[first:last], sure = _scaled(values, counts)
        doubtful.append(begin + np.flatnonzero(~sure))
    left = np.concatenate(doubtful)
    if left.size:
        _exactly(rows, left, out)
    return memoryview(out)  # type: ignore[arg-type]


def _scaled(values: Array, counts: Array) -> tuple[Array, Array]:
    """Numbers over the lengths of their rows, and the rows for which all of that is proven.

    Let u = 2**-53, and y a row times the power of two that brings its largest component to between
    1/2 and 1; where a component is below 2**-400 of it, nothing is claimed, so nothing underflows.
    Squares are exact as p + f. With high the rounded sums of p, taken one by one, and g their
    errors, the sum of all f and g is below 4 m u of the whole and errs by at most 2 m u of that:
    8 m**2 u**2. The root and the quotient, each a double and its correction, add 2**-100 each.
    """
    filled = counts > 0
    starts = (np.cumsum(counts) - counts)[filled]
    sizes = np.abs(values)
    largest, least = np.zeros(counts.size), np.ones(counts.size)
    if values.size:
        largest[filled] = np.maximum.reduceat(sizes, starts)
        least[filled] = np.minimum.reduceat(np.where(sizes > 0, sizes, np.inf), starts)
    _, exponents = np.frexp(largest)
    safe = np.abs(exponents) < 900
    factor = np.ldexp(1.0, np.where(safe, -exponents, 0))
    safe &= (least * factor >= 2.0**-400) | (largest == 0)
    y = values * np.repeat(factor, counts)
    squares, errors = two_square(y)
    high, rest = _added(squares, counts)
    high, rest = two_sum(high, rest + segment_sums(errors, counts))
    r0 = np.sqrt(high)
    p, f = two_product(r0, r0)
    r1 = (((high - p) - f) + rest) / (2.0 * r0)
    m = counts.astype(np.float64)
    share = np.repeat(8.0 * m * m * ROUND * ROUND + 2.0**-96, counts)
    root, correction = np.repeat(r0, counts), np.repeat(r1, counts)
    quotient = y / root
    p, f = two_product(quotient, root)
    q, q_rest = two_sum(quotient, (((y - p) - f) - quotient * correction) / root)
    wrong = ~settled(q, q_rest, np.abs(q) * share) & (values != 0)
    safe &= segment_sums(wrong.astype(np.int64), counts) == 0
    q[values == 0] = 0.0
    return q, safe


def _added(terms: Array, counts: Array) -> tuple[Array, Array]:
    """The sums of consecutive terms, added one after another, and what the roundings left."""
    order = np.argsort(-counts, kind="stable")  # so that rows still under way stand in front
    ends = np.searchsorted(-counts[order], -np.arange(counts.max(initial=0)), side="left")
    first = (np.cumsum(counts) - counts)[order]
    high, rest = np.zeros(counts.size), np.zeros(counts.size)
    for place, end in enumerate(ends.tolist()):
        high[:end], error = two_sum(high[:end], terms[first[:end] + place])
        rest[:end] += error
    back = np.empty_like(order)
    back[order] = np.arange(order.size)
    return high[back], rest[back]


def _exactly(rows: Rows, left: Array, out: Array) -> None:
    units = np.frombuffer(reference.directions(rows.some_points(left)))  # type: ignore[arg-type]
    if rows.dense:
        out.reshape(rows.n, rows.d)[left] = units.reshape(left.size, rows.d)
    else:
        out[rows.picked(left)[0]] = units
