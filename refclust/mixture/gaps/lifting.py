"""Sums over rows with missing cells, in all columns (MISS-MU and MISS-SIG of chapter 36).

What is expected of a row in a component is an affine function of the cells that are seen. So the
sums over the rows of a pattern, in the columns that are seen, tell those in all columns: no pass
over rows is needed for what is missing.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul

from refclust.kernels.blocks import blocks
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures.gaussian import Moments, Spread
from refclust.kernels.mixtures.shared import Doubles, floats
from refclust.kernels.points import Vector
from refclust.mixture.gaps.densities import Conditional, Part
from refclust.mixture.gaps.patterns import Pattern


@dataclass(frozen=True, slots=True)
class ExpectedMoments(Moments):
    """Expected sums over rows; beside them what the certificate needs to know.

    ``hidden`` is the sum of w q times the entropy of the missing cells; ``sizes`` has of every
    component and column how large the terms of its second moment are together.
    """

    hidden: float
    sizes: Doubles


@dataclass(frozen=True, slots=True)
class Lifted:
    """The sums of one pattern in all columns."""

    counts: list[float]
    firsts: list[float]
    seconds: list[float]
    sizes: list[float]
    hidden: list[float]


def lifted(
    sums: Moments | Sequence[float],
    pattern: Pattern,
    part: Part,
    means: Sequence[Vector],
    points: Sequence[Vector],
    spread: Spread,
) -> Lifted:
    """The sums of a pattern in all columns around points, from those in the columns it sees.

    Where no column is seen, the sums are the counts alone. ``means`` are those of the densities.

    Spec: MISS-MU, MISS-SIG
    """
    s = len(pattern.seen)
    if isinstance(sums, Moments):
        counts = floats(sums.counts)
        firsts = blocks(sums.firsts, s)
        seconds = blocks(sums.seconds, s * s if spread == "full" else s)
    else:
        counts, firsts, seconds = list(sums), [[] for _ in sums], [[] for _ in sums]
    made = Lifted(counts, [], [], [], [])
    order = _places((*pattern.seen, *pattern.missing))
    for k, (n, first, second) in enumerate(zip(counts, firsts, seconds, strict=True)):
        if not pattern.missing:
            made.firsts.extend(first)
            made.seconds.extend(second)
            made.sizes.extend(second[:: s + 1] if spread == "full" else second)
            continue
        conditional = part.conditionals[k]
        made.hidden.append(n * conditional.entropy)
        whole = _component(n, first, second, pattern, conditional, means[k], points[k], spread)
        made.firsts.extend(whole.firsts[j] for j in order)
        made.sizes.extend(whole.sizes[j] for j in order)
        made.seconds.extend(line[j] for line in whole.lines(order) for j in order)
    return made


@dataclass(frozen=True, slots=True)
class _Whole:
    """The sums of one component, columns that are seen first."""

    firsts: list[float]
    seconds: list[list[float]]  # a matrix, or its diagonal as one line
    sizes: list[float]

    def lines(self, order: Sequence[int]) -> list[list[float]]:
        """The lines of the second moments in the order of the columns."""
        return self.seconds if len(self.seconds) == 1 else [self.seconds[i] for i in order]


def _component(
    n: float,
    first: Sequence[float],
    second: Sequence[float],
    pattern: Pattern,
    conditional: Conditional,
    mean: Vector,
    point: Vector,
    spread: Spread,
) -> _Whole:
    """First and second moments of a component, and sizes of these, seen columns first.

    A missing cell is expected at slope (x - point) + shift from its own point: the shift is what
    the point differs from the mean, seen through the slopes.
    """
    s = len(pattern.seen)
    ways = [point[j] - mean[j] for j in pattern.seen]
    shifts = [mean[j] - point[j] for j in pattern.missing]
    reach = [abs(x) for x in shifts]
    squares = [max(x, 0.0) for x in (second[:: s + 1] if spread == "full" else second)]
    if spread == "diagonal":
        missing = [n * x for x in shifts]
        own = [n * (x * x + c) for x, c in zip(shifts, conditional.left[0], strict=True)]
        return _Whole([*first, *missing], [[*second, *own]], [*squares, *own])
    if any(ways):
        slopes = conditional.slopes
        shifts = [x + _product(row, ways) for x, row in zip(shifts, slopes, strict=True)]
        reach = [
            x + sum(abs(a * b) for a, b in zip(row, ways, strict=True))
            for x, row in zip(reach, slopes, strict=True)
        ]
    lines = [list(second[i * s : (i + 1) * s]) for i in range(s)]
    pulled = [_product(row, first) for row in conditional.slopes]
    # Of a missing and a seen cell: slopes times moments, and the shift times the first moment.
    crossed = [
        [_product(row, line) + x * f for line, f in zip(lines, first, strict=True)]
        for row, x in zip(conditional.slopes, shifts, strict=True)
    ]
    own_lines = [
        [
            math.fsum(
                (
                    _product(row, line),
                    pulled[a] * shifts[b],
                    n * (shifts[a] * shifts[b] + conditional.left[a][b]),
                )
            )
            for b, row in enumerate(conditional.slopes)
        ]
        for a, line in enumerate(crossed)
    ]
    sizes = _sizes(n, squares, conditional, reach)
    return _Whole(
        [*first, *(f + n * x for f, x in zip(pulled, shifts, strict=True))],
        _bordered(lines, crossed, own_lines),
        [*squares, *sizes],
    )


def _sizes(
    n: float, squares: Sequence[float], conditional: Conditional, reach: Sequence[float]
) -> list[float]:
    """No less than the second moments of missing cells, of which roundings are a share."""
    roots = list(map(math.sqrt, squares))
    return [
        (sum(abs(b) * r for b, r in zip(row, roots, strict=True)) + math.sqrt(n) * x) ** 2
        + n * conditional.left[a][a]
        for a, (row, x) in enumerate(zip(conditional.slopes, reach, strict=True))
    ]


def _bordered(
    lines: list[list[float]], crossed: list[list[float]], own: list[list[float]]
) -> list[list[float]]:
    """A symmetric matrix from its blocks; of the last one the lower half counts."""
    s, m = len(lines), len(own)
    upper = [[*lines[i], *(crossed[a][i] for a in range(m))] for i in range(s)]
    lower = [[*crossed[a], *(own[max(a, b)][min(a, b)] for b in range(m))] for a in range(m)]
    return upper + lower


def _places(order: Sequence[int]) -> list[int]:
    """Where each column stands in an order.

    >>> _places((2, 0, 1))
    [1, 2, 0]
    """
    places = [0] * len(order)
    for place, j in enumerate(order):
        places[j] = place
    return places


def together(every: Sequence[Lifted], around: CentreMatrix, spread: Spread) -> ExpectedMoments:
    """The sums of all patterns, each rounded once more.

    Spec: MISS-MU, MISS-SIG
    """

    def added(columns: Sequence[Sequence[float]]) -> array[float]:
        return array("d", map(math.fsum, zip(*columns, strict=True)))

    return ExpectedMoments(
        added([each.counts for each in every]),
        added([each.firsts for each in every]),
        added([each.seconds for each in every]),
        around,
        spread,
        math.fsum(entropy for each in every for entropy in each.hidden),
        added([each.sizes for each in every]),
    )


def _product(left: Sequence[float], right: Sequence[float]) -> float:
    return math.fsum(map(mul, left, right))
