"""Newton's steps in the volumes of components with one full shape (chapter 32, GMM-COVM).

With the shape eliminated, what is left to be made small is, for each unit of weight,
log |T| + d sum(p_k log v_k)  with  T = sum(S_k / v_k)  and  p_k = N_k / N.  The determinant is a
polynomial in 1 / v_k without negative coefficients, so this is convex in the logarithms of the
volumes. In coordinates in which T is the identity, and with X_k = S_k / v_k there, its gradient is
d p_k - tr X_k, and its second derivatives are those of a network of conductors: tr(X_k X_l) joins
k and l. Elimination in a network adds and divides only, so small conductances, which make turns
slow, keep their digits. Coordinates are renewed in every step: what is computed of X_k is then as
good for a long shape as for a round one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from typing import Final

from refclust.mixture.covariance.parts import (
    Block,
    Blocks,
    Degenerate,
    Effort,
    Maximised,
    check_volumes,
    flat,
    scaled,
    square_matrix,
    weighed,
)
from refclust.numbers.eigen import congruent, transposed
from refclust.numbers.linalg import NotPositive, cholesky, inverse_lower, log_determinant

_LONGEST: Final = 64.0  # no step changes a logarithm of a volume by more
_EQUAL: Final = 2.0**-44  # differences of objectives, per unit of weight, that rounding may make


@dataclass(frozen=True, slots=True)
class _State:
    """Factors of volumes, and scatters in coordinates in which their weighed sum is the identity.

    The coordinates of column j are combinations of the first columns up to j.
    """

    factors: Block
    scatters: Blocks
    weighed: Blocks  # the scatters in units of the factors
    traces: Block  # of these

    def change(self, due: Block) -> float:
        """By how much of itself a turn changes a volume at most."""
        return max(abs(x / y - 1) for x, y in zip(self.traces, due, strict=True))


def hastened(
    counts: Block, scatters: Blocks, volumes: Block, effort: Effort, count: int
) -> Maximised:
    """VEE after ``count`` turns that did not suffice: Newton's steps, or turns that gain more.

    Spec: GMM-COVM

    >>> counts, scatters = (1.0, 1.0), ((1.0, 0.0, 0.0, 4.0), (4.0, 0.0, 0.0, 16.0))
    >>> hastened(counts, scatters, (2.0, 8.0), Effort(0.0, 9), 0).covariances
    ((1.0, 0.0, 0.0, 4.0), (4.0, 0.0, 0.0, 16.0))
    """
    # Elimination is one component after the other: their order must not depend on the caller.
    order = sorted(range(len(counts)), key=lambda k: (counts[k], scatters[k], volumes[k]))
    total, size = math.fsum(counts), math.isqrt(len(scatters[0]))
    shares = tuple(counts[k] / total for k in order)
    due = scaled(shares, size)
    change = math.inf
    try:
        parts = tuple(scaled(scatters[k], 1 / volumes[k]) for k in order)
        state = _state((1.0,) * len(order), parts)
        state = _state(state.factors, state.scatters)  # the first coordinates may be rough
        while count < effort.limit and change > effort.tolerance:
            _check(state.traces, order)
            state = _next(state, shares, due)
            change = state.change(due)
            count += 1
            reached = tuple(v * state.factors[order.index(k)] for k, v in enumerate(volumes))
            check_volumes(reached)
            pooled = weighed(scatters, reached)
            cholesky(square_matrix(pooled))  # as singular for turns as for these steps
    except NotPositive as fault:
        raise Degenerate(None, fault.column) from None
    covariances = tuple(scaled(pooled, v / total) for v in reached)
    return Maximised(covariances, count, change <= effort.tolerance)


def _check(traces: Block, order: Sequence[int]) -> None:
    """A component whose trace is lost in rounding has no volume."""
    for k, value in zip(order, traces, strict=True):
        if not value > 0:
            raise Degenerate(k)


def _state(factors: Block, scatters: Blocks) -> _State:
    """The state of scatters in any coordinates, or ``NotPositive``."""
    inverse = transposed(inverse_lower(cholesky(square_matrix(weighed(scatters, factors)))))
    seen = tuple(flat(congruent(square_matrix(scatter), inverse)) for scatter in scatters)
    parts = tuple(scaled(s, 1 / v) for s, v in zip(seen, factors, strict=True))
    diagonal = len(inverse) + 1
    return _State(factors, seen, parts, tuple(math.fsum(x[::diagonal]) for x in parts))


def _next(state: _State, shares: Block, due: Block) -> _State:
    """The state after the better one of a turn and Newton's step.

    No turn lowers the objective, so no step does; where rounding hides which is better, it is the
    one that leaves less to be done.
    """
    turn = _centred([math.log(x / y) for x, y in zip(state.traces, due, strict=True)], shares)
    after_turn = _state(_moved(state, turn), state.scatters)
    newton = _newton(state, due)
    if newton is None:
        return after_turn
    newton, fall = _shortened(state, _centred(newton, shares))
    gain = fall - _fall(state, turn)
    if gain < -_EQUAL:
        return after_turn
    after_newton = _state(_moved(state, newton), state.scatters)
    better = gain > _EQUAL or after_newton.change(due) <= after_turn.change(due)
    return after_newton if better else after_turn


def _newton(state: _State, due: Block) -> Block | None:
    """Newton's step, but for a constant; none where components have nothing in common."""
    parts = state.weighed
    size = len(parts)
    net = [[math.fsum(map(mul, x, y)) for y in parts] for x in parts]
    flow = [x - y for x, y in zip(state.traces, due, strict=True)]
    degrees = [0.0] * size
    for j in range(size - 1, 0, -1):
        degrees[j] = math.fsum(net[j][:j])
        if not degrees[j] > 0:
            return None
        for k in range(j):
            share = net[j][k] / degrees[j]
            flow[k] += share * flow[j]
            for m in range(j):
                net[k][m] += share * net[j][m]
    steps = [0.0]
    for j in range(1, size):
        steps.append(math.fsum((flow[j], *map(mul, net[j], steps))) / degrees[j])
    return tuple(steps) if all(map(math.isfinite, steps)) else None


def _shortened(state: _State, steps: Block) -> tuple[Block, float]:
    """The steps, halved for as long as the objective gains by it, and what it gains in all."""
    longest = max(map(abs, steps))
    if longest > _LONGEST:
        steps = scaled(steps, _LONGEST / longest)
    fall = _fall(state, steps)
    while True:
        half = scaled(steps, 0.5)
        less = _fall(state, half)
        if fall > -math.inf and not less > fall + _EQUAL:
            return steps, fall
        steps, fall = half, less


def _centred(steps: Sequence[float], shares: Block) -> Block:
    """The steps less their mean: the determinant is then all that changes in the objective."""
    mean = math.fsum(map(mul, steps, shares))
    return tuple(x - mean for x in steps)


def _fall(state: _State, steps: Block) -> float:
    """By how much centred steps lower the logarithm of the determinant: twice what they gain."""
    try:
        lower = cholesky(square_matrix(weighed(state.scatters, _moved(state, steps))))
    except NotPositive:
        return -math.inf
    return -log_determinant(lower)


def _moved(state: _State, steps: Block) -> Block:
    return tuple(v * math.exp(s) for v, s in zip(state.factors, steps, strict=True))
