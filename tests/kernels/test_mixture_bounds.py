"""The bounds of mixtures: the reference keeps half of them, and choices they leave open.

Witnesses are rationals and numbers of 400 bits (``mixture_witness``).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refclust.kernels.contracts import mixtures as mixture_contract
from refclust.kernels.contracts.bounds import elementary, log_error, row_bounds
from refclust.kernels.mixtures import gaussian, multinomial
from refclust.kernels.mixtures.gaussian import Gaussians, Moments
from refclust.kernels.mixtures.multinomial import Tallies
from refclust.kernels.mixtures.shared import SOFT, EMStep, Rule, shares
from refclust.kernels.points import Points
from refclust.numbers.argmin import ROUND
from refclust.testing.saboteurs.arithmetic.mixtures import (
    joint_of,
)
from tests.kernels import mixture_witness as witness
from tests.kernels.mixture_witness import judged

NONE = -math.inf
FAMILIES = ["gaussian", "multinomial"]
SEEDS = st.integers(0, 2**32)


def made(seed: int, family: str) -> tuple[Points, Any]:
    return witness.some_gaussians(seed) if family == "gaussian" else witness.some_terms(seed)


def exact_step(points: Points, densities: Any, top: int) -> EMStep[Any]:
    """A step from the definition, each number the nearest double."""
    rows = [witness.row(logs, top) for logs in witness.joint(points, densities)]
    known = points.data.weights
    weights = [1.0] * points.n if known is None else known.tolist()

    def summed(terms: list[Any]) -> float:
        kept = [(w, x) for w, x in zip(weights, terms, strict=True) if w]
        if any(x == witness.MP.ninf for _, x in kept):
            return NONE
        return float(sum((witness.real(w) * x for w, x in kept), witness.MP.mpf(0)))

    objectives = (
        summed([row.log_likelihood for row in rows]),
        summed([row.bound for row in rows]),
        summed([row.entropy for row in rows]),
    )
    q = [row.q for row in rows]
    if not isinstance(densities, Gaussians):
        zeros = [(0.0,) * points.d] * densities.k
        counts, sums, _ = witness.moments(points, q, zeros)
        return EMStep(*objectives, Tallies(_doubles(counts), _doubles(sums)))
    counts, firsts, seconds = witness.moments(points, q, densities.means)
    d = points.d
    if densities.spread == "diagonal":
        seconds = [seconds[(k * d + i) * d + i] for k in range(densities.k) for i in range(d)]
    return EMStep(
        *objectives,
        Moments(
            _doubles(counts), _doubles(firsts), _doubles(seconds), densities.means, densities.spread
        ),
    )


def _doubles(values: list[Any]) -> array[float]:
    return array("d", map(float, values))


def rows_of(seed: int, family: str) -> Iterator[tuple[Any, Any, Any]]:
    """Of every row log p(x, k) of the reference, their bounds, and what they are."""
    module: Any = gaussian if family == "gaussian" else multinomial
    points, densities = made(seed, family)
    errors, exact = module._errors(points, densities), witness.joint(points, densities)
    return zip(module._joint(points, densities), errors, exact, strict=True)


@pytest.mark.spec("KER-POSTERIOR")
@pytest.mark.parametrize("family", FAMILIES)
@given(SEEDS)
@settings(max_examples=50, deadline=None)
def test_the_reference_keeps_half_the_bound_of_densities(family: str, seed: int) -> None:
    for ours, slack, exact in rows_of(seed, family):
        for x, e, right in zip(ours, slack, exact, strict=True):
            assert x == right or abs(x - right) <= e
        one, right = shares(ours, SOFT), witness.row(exact)
        if right.log_likelihood != witness.MP.ninf:
            assert abs(one.log_likelihood - right.log_likelihood) <= log_error(ours, slack)


@pytest.mark.spec("KER-EMSTEP")
@pytest.mark.parametrize("top", [0, 1, 2])
@pytest.mark.parametrize("family", FAMILIES)
@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_the_reference_keeps_half_the_bounds_of_a_row(family: str, top: int, seed: int) -> None:
    for ours, slack, exact in rows_of(seed, family):
        bounds, one = row_bounds(ours, slack, Rule(top=top), ()), shares(ours, Rule(top=top))
        right = witness.row(exact, top)
        if right.log_likelihood == witness.MP.ninf:
            assert one.log_likelihood == NONE
            continue
        terms = right.log_likelihood, right.bound, right.entropy
        for x, due, most in zip(bounds.terms, terms, bounds.allowed, strict=True):
            assert abs(x - due) <= most
        for q, due, most in zip(one.q, right.q, bounds.slack, strict=True):
            assert abs(q - due) <= most + 2.0**-1000


@pytest.mark.spec("KER-EMSTEP", "KER-MOMENTS")
@pytest.mark.parametrize("top", [0, 1, 3])
@pytest.mark.parametrize("family", FAMILIES)
@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_exact_steps_pass_at_half_the_bound(family: str, top: int, seed: int) -> None:
    points, densities = made(seed, family)
    answer = exact_step(points, densities, top)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mixture_contract, "BOTH", 1.1)
        assert judged(f"{family}.em_step", points, (densities, Rule(top=top)), answer) is None


@pytest.mark.spec("KER-EMSTEP")
def test_other_ways_to_the_same_numbers_pass() -> None:
    """Sums from left to right, exp(x - peak - log mass), the bound as sum q l + H."""

    def naive(points: Points, densities: Gaussians) -> EMStep[Any]:
        rows = numpy.array(joint_of(points, densities))
        peak = rows.max(axis=1)
        log = numpy.log(numpy.cumsum(numpy.exp(rows - peak[:, None]), axis=1)[:, -1])
        q = numpy.exp(rows - peak[:, None] - log[:, None])
        w = numpy.array(points.data.weights if points.weighted else [1.0] * points.n)
        with numpy.errstate(divide="ignore", invalid="ignore"):
            entropy = -numpy.where(q > 0, q * numpy.log(q), 0.0).sum(axis=1)
            bound = numpy.where(q > 0, q * rows, 0.0).sum(axis=1) + entropy
        x = numpy.array([points.whole_row(i) for i in range(points.n)])
        counts, firsts, seconds = (q * w[:, None]).sum(axis=0), [], []
        for k, mean in enumerate(densities.means):
            away = x - numpy.array(mean)
            share = (q[:, k] * w)[:, None]
            firsts += (share * away).sum(axis=0).tolist()
            block = away.T @ (share * away)
            block = (block + block.T) / 2
            seconds += (block if densities.spread == "full" else block.diagonal()).ravel().tolist()
        sums = Moments(
            array("d", counts), array("d", firsts), array("d", seconds), densities.means,
            densities.spread,
        )  # fmt: skip
        return EMStep(float(w @ (peak + log)), float(w @ bound), float(w @ entropy), sums)

    for seed in range(60):
        points, densities = witness.some_gaussians(seed)
        if all(math.isfinite(x) for x in densities.offsets):
            answer = naive(points, densities)
            assert judged("gaussian.em_step", points, (densities, SOFT), answer) is None


@pytest.mark.spec("KER-EMSTEP", "EM-VAR")
def test_ties_of_a_restricted_rule() -> None:
    """Of four components the last three are tied: any of them may be the second that is kept."""
    bounds = row_bounds((0.0, -1.0, -1.0, -1.0), (0.0,) * 4, Rule(top=2), ())
    stake = math.exp(-1.0) / (1.0 + math.exp(-1.0))
    assert bounds.slack[0] < 64 * ROUND
    for slack in bounds.slack[1:]:
        assert stake < slack < 1.05 * stake
    apart = row_bounds((0.0, -1.0, -1.5, -1.5), (0.0,) * 4, Rule(top=2), ())
    assert max(apart.slack) < 64 * ROUND


@pytest.mark.spec("KER-EMSTEP", "EM-STOCH")
def test_draws_on_an_edge() -> None:
    logs = (0.0, 0.0, -700.0)
    rule = Rule(draws=array("d", [0.25, 0.5]), samples=2)
    near = row_bounds(logs, (0.0,) * 3, rule, [0.25, 0.5])
    assert near.slack == (0.5,) * 3
    assert near.allowed[2] >= math.log(2.0)
    clear = row_bounds(logs, (0.0,) * 3, rule, [0.25, 0.6])
    assert clear.slack == (0.0,) * 3
    assert clear.allowed[1] < 64 * ROUND
    single = row_bounds(logs, (0.0,) * 3, rule, [0.5])
    assert single.allowed[2] < 64 * ROUND  # one draw has no entropy, whatever it is
    assert single.allowed[1] >= 700.0


@pytest.mark.spec("KER-POSTERIOR", "KER-EMSTEP")
def test_rows_whose_densities_doubles_cannot_tell() -> None:
    rough = row_bounds((0.0, -1.0), (0.5, 0.25), SOFT, ())
    assert rough.slack == (1.0, 1.0)
    assert rough.allowed[0] == pytest.approx(0.5)
    assert log_error((0.0, -1.0), (0.5, 0.25)) == pytest.approx(0.5)
    gone = row_bounds((0.0, -2000.0), (0.0, 0.5), SOFT, ())
    assert gone.slack[0] == elementary(2)
    assert gone.slack[1] == 0.0
