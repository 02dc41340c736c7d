"""Exact decisions from estimates: the lowest index of a minimum or maximum, the place of a draw.

Realises NUM-DECIDE of chapter 05. Estimates in doubles settle nearly every case; where their proven
error leaves a doubt, the exact values, which are asked for only then, decide.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from operator import gt

ROUND: float = 2.0**-53  # the relative error of one operation on doubles


def first_minima(
    columns: Sequence[Sequence[float]],
    factor: float,
    slacks: Iterable[float],
    exact: Callable[[int, list[int]], int],
) -> list[int]:
    """For each row the lowest index of its least value, given one column of estimates per index.

    Two values of row i are proven different where their estimates a < b satisfy
    b > a * factor + slack_i; ``exact(i, indices)`` decides among the indices in doubt.

    Spec: NUM-DECIDE

    >>> first_minima([[1.0, 5.0], [1.0, 2.0]], 1.0, [0.0, 0.0], lambda i, indices: indices[0])
    [0, 1]
    """
    rows = list(zip(*columns, strict=True))
    least = list(map(min, rows))
    answers = list(map(tuple.index, rows, least))
    reaches = [value * factor + slack for value, slack in zip(least, slacks, strict=True)]
    # All but one are proven greater, or there is doubt; what is no number proves nothing.
    proven = sum(sum(map(gt, column, reaches)) for column in columns)
    if proven < len(rows) * (len(columns) - 1):
        for i, (row, reach) in enumerate(zip(rows, reaches, strict=True)):
            doubtful = [k for k, value in enumerate(row) if not value > reach]
            if len(doubtful) > 1:
                answers[i] = exact(i, doubtful)
    return answers


def first_maximum(
    estimates: Sequence[float], factor: float, slack: float, exact: Callable[[int], int]
) -> int:
    """The lowest index of the greatest value; ``exact(i)`` is the value at i, in some unit.

    Spec: NUM-DECIDE

    >>> first_maximum([1.0, 3.0, 3.0], 1.0, 0.0, lambda i: [1, 3, 3][i])
    1
    """
    greatest = max(estimates)
    doubtful = [i for i, value in enumerate(estimates) if not value * factor + slack < greatest]
    if len(doubtful) == 1:
        return doubtful[0]
    return max(doubtful, key=lambda i: (exact(i), -i))


def locate(
    masses: Sequence[float], error: float, r: float, exact: Callable[[], Sequence[int]]
) -> int:
    """The least i whose masses up to i add up to more than the share r of all masses.

    ``error`` bounds the error of any partial sum of the estimated masses, the rounding of the sums
    themselves aside; ``exact()`` gives all masses in some unit, and decides on doubt.

    Spec: KM-DRAW, NUM-DECIDE

    >>> locate([1.0, 0.0, 2.0, 1.0], 0.0, 0.25, lambda: [1, 0, 2, 1])
    2
    """
    # A running sum of n terms of one sign errs by at most n roundings of the total.
    sums = list(accumulate(masses))
    whole = sums[-1]
    doubt = 4 * (error + (len(sums) + 4) * (ROUND * whole + 5e-324))
    target = r * whole
    i = bisect_right(sums, target)
    if (
        math.isfinite(doubt)
        and i < len(sums)
        and sums[i] - target > doubt
        and (i == 0 or target - sums[i - 1] > doubt)
    ):
        return i
    return locate_exact(exact(), r)


def locate_exact(masses: Sequence[int], r: float) -> int:
    """The least i whose masses up to i add up to more than the share r, in integers.

    Without any mass there is no such i, and the answer is the number of masses.

    Spec: KM-DRAW

    >>> locate_exact([1, 0, 2, 1], 0.25), locate_exact([0, 0], 0.5)
    (2, 2)
    """
    shares = list(accumulate(masses))
    numerator, denominator = r.as_integer_ratio()
    # An integer exceeds r * total if and only if it exceeds the floor of that.
    return bisect_right(shares, numerator * shares[-1] // denominator)
