"""VEE where turns are slow: Newton's steps in the volumes, judged in exact arithmetic.

The scatters are nearly singular, each in directions of its own, so that components share next to
nothing; turns alone then change volumes by a factor near 1 for hundreds of times, or stand still in
the rounding of an ill-conditioned shape.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import mp

from refclust.formulas.gaussian import balanced
from refclust.mixture.covariance import newton as shapes_newton
from refclust.mixture.covariance import volumes as shapes_volumes
from refclust.mixture.covariance.models import TOLERANCE, maximised
from refclust.mixture.covariance.parts import (
    Block,
    Blocks,
    Degenerate,
    Effort,
    Maximised,
    square_matrix,
)
from tests.mixture.tools import gaussian, standing

U = 2.0**-53
Problem = tuple[Block, Blocks]


def problem(k: int, d: int, small: float, wide: int, seed: int, *, turned: bool) -> Problem:
    """Scatters that are wide in some directions and small in all others, and their counts."""
    random = np.random.default_rng(seed)
    counts, scatters = [], []
    for _ in range(k):
        if turned:
            axes = np.linalg.qr(random.normal(size=(d, d)))[0]
        else:
            axes = np.eye(d)[random.permutation(d)]
        along = np.where(np.arange(d) < wide, 1.0, small) * np.exp(random.normal(size=d))
        matrix = axes @ np.diag(along) @ axes.T * np.exp(3 * random.normal())
        scatters.append(tuple(((matrix + matrix.T) / 2).ravel().tolist()))
        counts.append(float(random.uniform(5, 30)))
    return tuple(counts), tuple(scatters)


SLOW = (
    problem(2, 2, 1e-8, 1, 1, turned=True),
    problem(2, 2, 1e-12, 1, 0, turned=True),
    problem(3, 3, 1e-4, 1, 2, turned=True),
    problem(3, 3, 1e-12, 1, 3, turned=True),
    problem(3, 3, 1e-4, 1, 0, turned=False),
    problem(3, 3, 1e-8, 1, 3, turned=False),
    problem(3, 3, 1e-12, 1, 0, turned=False),
    problem(4, 5, 1e-8, 2, 1, turned=True),
    problem(4, 4, 1e-12, 1, 0, turned=True),
)


def conditioned(scatter: Block) -> float:
    """The condition of a matrix whose diagonal is scaled to 1, which is what rounding meets."""
    matrix = np.array(square_matrix(scatter))
    roots = np.sqrt(np.diag(matrix))
    return float(np.linalg.cond(matrix / np.outer(roots, roots)))


def objective(counts: Block, scatters: Blocks, covariances: Blocks) -> Any:
    """Minus half the sum of N log|C| + tr(S / C), in fifty digits."""
    parts = zip(counts, map(square_matrix, scatters), map(square_matrix, covariances), strict=True)
    return sum(
        -(
            n * mp.log(mp.det(mp.matrix(c)))
            + sum((mp.matrix(c) ** -1 * mp.matrix(s))[j, j] for j in range(len(s)))
        )
        / 2
        for n, s, c in parts
    )


@pytest.mark.spec("GMM-COVM")
@pytest.mark.parametrize("given", SLOW)
@pytest.mark.long
def test_few_iterations_where_turns_need_hundreds(given: Problem) -> None:
    counts, scatters = given
    before: Blocks | None = None
    for _ in range(500):  # the first iteration is always a turn
        once = maximised("VEE", counts, scatters, before=before, limit=1)
        assert not once.converged
        before = once.covariances
    found = maximised("VEE", counts, scatters)
    assert found.converged
    assert found.iterations <= 50
    # Volumes are those of a turn to 2**-40. Entries of the shape err by 5u of the roots of their
    # diagonal entries (quotients, products, a sum), its factor and inverse by 3u each, traces of
    # products by as much again: below 32u, times the condition and d when volumes are taken.
    size = math.isqrt(len(scatters[0]))
    slack = TOLERANCE + 32 * U * size * conditioned(found.covariances[0])
    matrices = [square_matrix(scatter) for scatter in scatters]
    sigmas = [square_matrix(covariance) for covariance in found.covariances]
    assert balanced("VEE", counts, matrices, sigmas, Fraction(slack))


@pytest.mark.spec("GMM-COVM")
@pytest.mark.parametrize("given", SLOW)
def test_no_step_lowers_the_objective(given: Problem) -> None:
    counts, scatters = given
    last = maximised("VEE", counts, scatters)
    with mp.workdps(50):
        values = [
            objective(counts, scatters, maximised("VEE", counts, scatters, limit=t).covariances)
            for t in range(1, last.iterations + 1)
        ]
        # 2**-44 is what rounding may hide of a step, and a covariance errs as a matrix.
        slack = sum(counts) * (2.0**-44 + 32 * U * conditioned(last.covariances[0]))
        for old, new in itertools.pairwise(values):
            assert new >= old - slack
        assert max(values) <= values[-1] + slack


@pytest.mark.spec("GMM-COVM", "GMM-SCALE")
@pytest.mark.parametrize("given", SLOW)
@pytest.mark.parametrize("e", [-31, 20])
def test_units_and_order_change_nothing_else(given: Problem, e: int) -> None:
    counts, scatters = given
    plain = maximised("VEE", counts, scatters)
    assert plain.iterations > 24
    large = maximised(
        "VEE", counts, tuple(tuple(math.ldexp(x, 2 * e) for x in s) for s in scatters)
    )
    due = tuple(tuple(math.ldexp(x, 2 * e) for x in c) for c in plain.covariances)
    assert (large.covariances, large.iterations) == (due, plain.iterations)
    back = maximised("VEE", counts[::-1], scatters[::-1])
    assert (back.covariances[::-1], back.iterations) == (plain.covariances, plain.iterations)


@pytest.mark.spec("GMM-COVM")
def test_newton_solves_the_second_derivatives() -> None:
    counts, scatters = problem(4, 3, 1e-2, 1, 5, turned=True)
    shares = np.array(counts) / sum(counts)
    state = shapes_newton._state((1.0,) * 4, scatters)
    steps = shapes_newton._newton(state, tuple((3 * shares).tolist()))
    parts = np.array(state.weighed)
    second = np.diag(np.array(state.traces)) - parts @ parts.T
    flow = np.array(state.traces) - 3 * shares
    assert steps is not None
    assert second @ np.array(steps) == pytest.approx(flow, abs=1e-12)


@pytest.mark.spec("GMM-COVM")
def test_a_single_component_and_nothing_in_common() -> None:
    (count, *_), (scatter, *_) = problem(2, 3, 1e-4, 1, 2, turned=True)
    effort = Effort(TOLERANCE, 9)
    alone = shapes_newton.hastened((count,), (scatter,), (1.0,), effort, 0)
    assert (alone.iterations, alone.converged) == (1, True)
    assert alone.covariances[0] == pytest.approx([x / count for x in scatter], rel=8 * U)
    # Each component fills a plane of its own, with its share: every volume is as good.
    apart = ((1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 3.0))
    same = shapes_newton.hastened((2.0, 2.0), apart, (1.0, 1.0), effort, 0)
    assert same.covariances[0] == pytest.approx((0.25, 0.0, 0.0, 0.75), rel=8 * U)
    assert same.converged
    # With unequal shares there is no maximum, and none is claimed.
    never = shapes_newton.hastened((2.0, 3.0), apart, (1.0, 1.0), effort, 0)
    assert (never.iterations, never.converged) == (9, False)
    with pytest.raises(Degenerate, match="component 0") as caught:
        shapes_newton.hastened(
            (2.0, 3.0), ((0.0,) * 4, (1.0, 0.0, 0.0, 3.0)), (1.0, 1.0), effort, 0
        )
    assert caught.value.component == 0


@pytest.mark.spec("GMM-COVM", "EM-CONV")
def test_em_does_not_fall_with_slow_scatters(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    rows, labels = [], []
    for k in range(3):
        axes = np.linalg.qr(random.normal(size=(3, 3)))[0]
        n = 20 + 5 * k
        rows += ((random.normal(size=(n, 3)) * (1.0, 0.01, 0.01)) @ axes.T + 3 * k).tolist()
        labels += [k] * n
    seen = []

    def spied(*arguments: Any) -> Maximised:
        seen.append(shapes_newton.hastened(*arguments))
        return seen[-1]

    monkeypatch.setattr(shapes_volumes, "hastened", spied)
    found = gaussian(rows, 3, covariance="VEE", labels=labels, limit=20, tolerance=0.0)
    assert found.monotone.standing == standing(found) == "holds"
    assert seen
    assert all(one.converged and one.iterations <= 50 for one in seen)
