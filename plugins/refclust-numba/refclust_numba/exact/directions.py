"""Rows scaled to length one, every component the nearest double.

Keeps the contract of ``kmeans.directions``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refclust.kernels.clusters import directions as reference
from refclust_numba.lowlevel.compiling import compiled, inlined, room
from refclust_numba.lowlevel.scalars import bits, power_of_two, two_product, two_sum
from refclust_numba.lowlevel.threads import even, in_threads
from refclust_numba.prepared import Rows


def directions(rows: Rows) -> Any:
    """All stored numbers, each divided by the length of its row."""
    out = np.empty(len(rows.values))
    starts = np.empty(0, np.int64) if rows.dense else rows.starts
    left = np.concatenate(
        in_threads(
            lambda b, e: scale_rows(rows.values, starts, rows.d, out, b, e), even(rows.n, 1024)
        )
    )
    if len(left):
        exact = np.frombuffer(reference.directions(rows.subset(left)))
        done = 0
        for i in left.tolist():
            begin, end = (i * rows.d, (i + 1) * rows.d) if rows.dense else starts[i : i + 2]
            out[begin:end] = exact[done : done + (end - begin)]
            done += end - begin
    return memoryview(out)  # type: ignore[arg-type]


@compiled
def scale_rows(values, starts, d, out, begin, end):  # type: ignore[no-untyped-def]
    """Scale some rows; return those that double-doubles could not decide.

    Numbers below 2**-400 of the largest of a row are left to integers, so nothing underflows.
    """
    left = room(end - begin, np.int64)
    waiting = 0
    for i in range(begin, end):
        first, last = (i * d, (i + 1) * d) if starts.shape[0] == 0 else (starts[i], starts[i + 1])
        largest, least = 0.0, np.inf
        for place in range(first, last):
            size = abs(np.float64(values[place]))
            largest = max(largest, size)
            if size != 0.0:
                least = min(least, size)
        if largest == 0.0:
            out[first:last] = 0.0
            continue
        exponent = ((bits(largest) >> 52) & 0x7FF) - 1022
        sure = -900 < exponent < 900
        if sure:
            factor = power_of_two(-exponent)
            sure = least * factor >= 2.0**-400 and scale_row(values, first, last, factor, out)
        if not sure:
            left[waiting] = i
            waiting += 1
    return left[:waiting].copy()


@inlined
def scale_row(values, first, last, factor, out):  # type: ignore[no-untyped-def]
    """Scale one row; say whether every quotient is proven.

    Let u = 2**-53, and y the row times the power of two that brings its largest component to
    between 1/2 and 1. The m squares are exact as p + f. Their sum high + rest errs by less than
    8 m**2 u**2 of itself: each low part is below 2 u of the sum, and m of them are rounded at most
    2 m times. The root r0 + r1 adds 2**-100, the quotient q0 + q1 as much again. So the exact
    quotient lies within E = (8 m**2 2**-106 + 2**-96) |q0| of q0 + q1; if both ends round to one
    double, so does it.
    """
    high, rest = 0.0, 0.0
    for place in range(first, last):
        y = np.float64(values[place]) * factor
        p, f = two_product(y, y)
        high, g = two_sum(high, p)
        rest += g + f
    high, rest = two_sum(high, rest)
    r0 = np.sqrt(high)
    p, f = two_product(r0, r0)
    r1 = (((high - p) - f) + rest) / (2.0 * r0)
    m = np.float64(last - first)
    share = 8.0 * m * m * 2.0**-106 + 2.0**-96
    sure = True
    for place in range(first, last):
        y = np.float64(values[place]) * factor
        q0 = y / r0
        p, f = two_product(q0, r0)
        q1 = (((y - p) - f) - q0 * r1) / r0
        spread = abs(q0) * share
        below, above = q0 + (q1 - spread), q0 + (q1 + spread)
        sure = sure and below == above
        out[place] = below + 0.0  # no negative zeros
    return sure
