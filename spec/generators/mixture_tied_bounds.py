"""How far covariances of tied models may be off: scatters in doubles, and turns that stop."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath

from .mixture_bounds import Matrix, U
from .mixture_gaussian_bounds import absolute_moments
from .mixture_tied import (
    PLACES,
    Pair,
    angle_of,
    as_seen,
    common_angle,
    estimated,
    product_of,
    real,
    size_of,
    spread_along,
    trace_of,
    turned,
    variances_along,
)

Placed = tuple[int, list[float], float]  # component, row, weight
ITERATED = ("VEI", "VEE", "VEV", "VVE", "EVE")
STOP = 2.0**-38  # GMM-COVM ends its turns at a quarter of that


def spread_errors(
    model: str, s: list[Pair], n: list[Fraction], rows: list[Placed], old: Matrix
) -> list[Pair]:
    """What errors of the scatters move, to first order, and where turns may stop."""
    whole = [sum(w * x[j] for _, x, w in rows) / sum(w for _, _, w in rows) for j in (0, 1)]
    here = estimated(model, s, n)
    far = [[0.0] * 3 for _ in here]
    for k, before in enumerate(old):
        mass = [w * (own == k) for own, _, w in rows]
        mean = [
            sum(m * x[j] for m, (_, x, _) in zip(mass, rows, strict=True)) / sum(mass)
            for j in (0, 1)
        ]
        around = [
            absolute_moments([x for _, x, _ in rows], mass, mean, centre)
            for centre in (mean, before, whole)
        ]
        for place, (i, j) in enumerate(PLACES):
            # No share is off, and the means are, by less than their bound squared.
            error = (len(rows) + 12) * U * max(one[i][j] for one in around)
            nudge = mpmath.mpf(2) ** -60
            parts = list(map(real, s[k]))
            parts[place] += nudge
            after = estimated(model, [(*parts,) if c == k else one for c, one in enumerate(s)], n)
            for c in (0, 1):
                for at in range(3):
                    slope = abs(after[c][at] - here[c][at]) / nudge
                    far[c][at] += float(slope) * error + 8 * U * float(abs(here[c][at])) / 6
    late = _late(model, s, n)
    return [
        tuple(x + float(y) for x, y in zip(*pair, strict=True))  # type: ignore[misc]
        for pair in zip(far, late, strict=True)
    ]


def _late(model: str, s: list[Pair], n: list[Fraction]) -> list[Pair]:
    """How far from the maximum turns may end that change nothing by more than their limit.

    Near the maximum a turn leaves a share c of the distance, so it was at most 1/(1 - c) of the
    last change away before it. The share is found by beginning a little off.
    """
    here = estimated(model, s, n)
    if model not in ITERATED:
        return [(0, 0, 0)] * 2
    own: list[Pair] = [tuple(map(real, one)) for one in s]
    counts = list(map(real, n))
    if model[1] == "E":
        return _late_volumes(model, own, counts, here)
    angle = common_angle(model, own, counts)
    little = mpmath.mpf(2) ** -50
    share = (_sweep(model, own, counts, angle + little) - angle) / little
    slopes = []
    for one in own:
        a, b, c = turned(one, -angle)
        slopes += [abs(2 * b) / a, abs(2 * b) / c]
    left = STOP / (1 - abs(share)) / max(slopes)
    return _apart(here, [spread_along(model, own, counts, angle + x) for x in (left, -left)])


def _late_volumes(model: str, s: list[Pair], n: list[Any], here: list[Pair]) -> list[Pair]:
    """The same where a common shape and the volumes take turns; both volumes may change."""
    along = as_seen(model, s)
    ratio = mpmath.sqrt(size_of(here[0]) / size_of(here[1]))
    little = mpmath.mpf(2) ** -50
    share = (_turn(along, n, ratio * (1 + little))[1] / ratio - 1) / little
    left = 2 * STOP / (1 - abs(share))
    ends = [_turn(along, n, ratio * (1 + x))[0] for x in (left, -left)]
    if model == "VEV":
        ends = [
            [turned(one, angle_of(scatter)) for one, scatter in zip(end, s, strict=True)]
            for end in ends
        ]
    return _apart(here, ends)


def _apart(here: list[Pair], ends: list[list[Pair]]) -> list[Pair]:
    """How far, entry by entry, the farther of two ends is."""
    found = []
    for k, one in enumerate(here):
        found.append(tuple(max(abs(x - end[k][at]) for end in ends) for at, x in enumerate(one)))
    return found


def _turn(s: list[Pair], n: list[Any], ratio: Any) -> tuple[list[Pair], Any]:
    """The covariances after a turn with T = S_1 + r S_2, and the ratio of their volumes."""
    shape = tuple(one + ratio * other for one, other in zip(*s, strict=True))
    sizes = [trace_of(product_of(shape, one)) / (2 * m) for one, m in zip(s, n, strict=True)]
    found = [tuple(size * x for x in shape) for size in sizes]
    return found, sizes[0] / sizes[1]


def _sweep(model: str, s: list[Pair], n: list[Any], angle: Any) -> Any:
    """The best angle for the variances along another one."""
    cos = sin = mpmath.mpf(0)
    for one, (a, _, c) in zip(s, variances_along(model, s, n, angle), strict=True):
        cos += (1 / c - 1 / a) * (one[0] - one[2]) / 2
        sin += (1 / c - 1 / a) * one[1]
    found = mpmath.atan2(sin, cos) / 2
    return found + mpmath.pi / 2 * mpmath.nint((angle - found) / (mpmath.pi / 2))
