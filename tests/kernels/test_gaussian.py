"""The kernels of normal densities, from their definitions (chapters 32 and 80)."""

from __future__ import annotations

import math
from array import array
from dataclasses import replace
from fractions import Fraction

import pytest

from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures.gaussian import (
    Gaussians,
    Moments,
    em_step,
    moments,
    posterior,
)
from refclust.kernels.mixtures.shared import HARD, SOFT, Rule
from refclust.numbers.nearest import nearest
from tests.kernels import mixture_witness as witness

# All lengths here are whole numbers, so that nothing is rounded.
ROWS = [(1.0, 1.0), (4.0, -3.0), (1.0, 9.0)]
MEANS = CentreMatrix.of([(1.0, 1.0), (1.0, 9.0)])
FULL = Gaussians(array("d", [0, -1]), MEANS, array("d", [1, 0, 2, 0.5, 4, 0, 0, 0.75]), "full")


@pytest.mark.spec("GMM-ESTEP", "GAU-PDF", "KER-POSTERIOR")
def test_densities_of_three_forms() -> None:
    points = witness.points_of(ROWS)
    full = posterior(points, FULL, True)
    # x - m is (0, 0), (3, -4), (0, 8) and (0, -8), (3, -12), (0, 0); W makes of these (0, 0),
    # (3, 4), (0, 4) and (0, -6), (12, -9), (0, 0).
    assert full.joint == array("d", [0.0, -19.0, -12.5, -113.5, -8.0, -1.0])
    assert full.labels.tolist() == [0, 0, 1]
    diagonal = Gaussians(array("d", [0, 0]), MEANS, array("d", [4, 1.25, 1, 0.75]), "diagonal")
    found = posterior(points, diagonal, True)
    assert found.joint is not None
    assert found.joint.tolist()[::2] == [0.0, -84.5, -50.0]
    spherical = Gaussians(array("d", [0, -math.inf]), MEANS, array("d", [2, 1]), "spherical")
    found = posterior(points, spherical, True)
    assert found.joint == array("d", [0.0, -math.inf, -50.0, -math.inf, -128.0, -math.inf])
    assert found.log_likelihoods == array("d", [0.0, -50.0, -128.0])
    assert (FULL.k, FULL.spread, spherical.spread, diagonal.spread) == (
        2,
        "full",
        *["diagonal"] * 2,
    )


@pytest.mark.spec("KER-POSTERIOR")
def test_what_is_above_the_diagonal_is_not_looked_at() -> None:
    whitening = array("d", FULL.whitening)
    whitening[1] = whitening[5] = math.nan
    points = witness.points_of(ROWS)
    assert posterior(points, replace(FULL, whitening=whitening), True) == posterior(
        points, FULL, True
    )


@pytest.mark.spec("KER-POSTERIOR", "DATA-SET")
def test_an_offset_of_all_rows_does_no_harm() -> None:
    moved = [tuple(x + 2.0**30 for x in row) for row in ROWS]
    means = CentreMatrix.of([tuple(x + 2.0**30 for x in row) for row in MEANS])
    due = posterior(witness.points_of(ROWS), FULL, True)
    assert posterior(witness.points_of(moved), replace(FULL, means=means), True) == due


@pytest.mark.spec("KER-POSTERIOR", "KER-MOMENTS", "KER-EMSTEP")
def test_sparse_rows_are_rows() -> None:
    thin = witness.sparse_points([{j: x for j, x in enumerate(row) if x} for row in ROWS], 2)
    points = witness.points_of(ROWS)
    assert thin.filled == points.filled
    assert posterior(thin, FULL, True) == posterior(points, FULL, True)
    assert em_step(thin, FULL, HARD) == em_step(points, FULL, HARD)
    labels = array("i", [1, 0, -1])
    for spread in ("full", "diagonal"):
        assert moments(thin, labels, 2, MEANS, spread) == moments(points, labels, 2, MEANS, spread)


@pytest.mark.spec("GMM-NK", "GMM-MU", "GMM-SIG", "KER-MOMENTS")
def test_moments_of_labels_and_of_shares() -> None:
    points = witness.points_of(ROWS, [1.0, 2.0, 0.5])
    found = moments(points, array("i", [0, 1, 0]), 2, MEANS, "full")
    assert found.counts == array("d", [1.5, 2.0])
    assert found.firsts == array("d", [0.0, 4.0, 6.0, -24.0])
    assert found.seconds == array("d", [0.0, 0.0, 0.0, 32.0, 18.0, -72.0, -72.0, 288.0])
    assert (found.around, found.spread) == (MEANS, "full")
    shares = array("d", [1, 0, 0, 1, 1, 0])
    assert moments(points, shares, 2, MEANS, "full") == found
    assert moments(points, shares, 2, MEANS, "diagonal").seconds == array(
        "d", [0.0, 32.0, 18.0, 288.0]
    )
    none = moments(points, array("i", [-1, -1, -1]), 1, CentreMatrix.of([(5.0, 5.0)]), "full")
    assert none.counts == array("d", [0.0])
    assert not any(none.firsts)
    assert not any(none.seconds)


@pytest.mark.spec("KER-MOMENTS")
@pytest.mark.parametrize("seed", range(12))
def test_every_sum_is_rounded_once(seed: int) -> None:
    """Products of dyadic numbers of few bits are exact, so only the sums are rounded: once each."""
    rows = [(1e16 * (-1) ** i, i / 8 + seed, 0.5 - i % 3) for i in range(9)]
    points = witness.points_of(rows)
    around = ((0.0, 0.5, -0.25), (1.0, float(seed), 0.0))
    q = [[Fraction((i * 3 + seed) % 5, 4), Fraction(i % 2)] for i in range(9)]
    flat = array("d", (float(x) for row in q for x in row))
    found = moments(points, flat, 2, CentreMatrix.of(around), "full")
    exact = [
        sum(
            share[k] * (Fraction(row[i]) - Fraction(around[k][i]))
            for share, row in zip(q, rows, strict=True)
        )
        for k in range(2)
        for i in (1, 2)
    ]
    due = [nearest(x.numerator, x.denominator) for x in map(Fraction, exact)]
    assert [found.firsts[3 * k + i] for k in range(2) for i in (1, 2)] == due
    assert found.counts.tolist() == [float(sum(share[k] for share in q)) for k in range(2)]


@pytest.mark.spec("GMM-ESTEP", "KER-EMSTEP")
def test_a_step_is_a_posterior_and_its_moments() -> None:
    points = witness.points_of(ROWS, [1.0, 0.0, 3.0])
    found = posterior(points, FULL, False)
    hard = em_step(points, FULL, HARD)
    assert hard.moments == moments(points, found.labels, 2, MEANS, "full")
    assert (hard.bound, hard.entropy) == (0.0 + 3 * -1.0, 0.0)
    soft = em_step(points, FULL)
    logs = found.log_likelihoods
    assert soft.log_likelihood == soft.bound == math.fsum([logs[0], 3.0 * logs[2]])
    assert em_step(points, FULL, SOFT, None) == soft
    elsewhere = CentreMatrix.of([(1.0, 1.0), (0.0, 0.0)])
    assert em_step(points, FULL, SOFT, elsewhere).moments.around == elsewhere
    assert em_step(points, FULL, Rule(top=7)).moments == soft.moments


@pytest.mark.spec("KER-EMSTEP")
def test_a_row_that_nobody_can_have_made() -> None:
    alone = replace(FULL, offsets=array("d", [-math.inf, -math.inf]))
    step = em_step(witness.points_of(ROWS), alone)
    assert (step.log_likelihood, step.bound, step.entropy) == (-math.inf, -math.inf, 0.0)
    assert not any(step.moments.counts)
    assert posterior(witness.points_of(ROWS), alone, False).labels.tolist() == [0, 0, 0]


@pytest.mark.spec("KER-EMSTEP")
def test_arguments_in_other_clothes() -> None:
    view = Gaussians(
        memoryview(array("d", FULL.offsets)).toreadonly(),
        MEANS.rows(),  # type: ignore[arg-type]
        memoryview(array("d", FULL.whitening)).toreadonly(),
        "full",
    )
    points = witness.points_of(ROWS)
    rule = Rule(draws=memoryview(array("d", [0.1, 0.6, 0.9])).toreadonly(), samples=1)
    assert em_step(points, view, rule) == em_step(points, FULL, rule)
    assert isinstance(em_step(points, view, rule).moments, Moments)


@pytest.mark.spec("KER-MOMENTS")
def test_sums_beyond_the_doubles_are_infinite_and_no_share_counts_for_nothing() -> None:
    far = witness.points_of([(1.7e308, 1.0), (-1.7e308, 1.0), (3.0, 2.0)])
    around = CentreMatrix.of([(-1.7e308, 0.0), (0.0, 0.0), (1.7e308, 0.0)])
    found = moments(far, array("i", [0, 2, 1]), 3, around, "full")
    # The rows that are infinitely far from the second point have no share in it.
    assert found.firsts.tolist() == [math.inf, 1.0, 3.0, 2.0, -math.inf, 1.0]
    assert found.seconds.tolist()[4:8] == [9.0, 6.0, 6.0, 4.0]
    assert found.seconds.tolist()[:4] == [math.inf, math.inf, math.inf, 1.0]
    assert found.seconds.tolist()[8:] == [math.inf, -math.inf, -math.inf, 1.0]
    both = moments(far, array("i", [0, 0, 0]), 1, CentreMatrix.of([(0.0, 0.0)]), "diagonal")
    assert (both.firsts.tolist(), both.seconds.tolist()) == ([3.0, 4.0], [math.inf, 6.0])
