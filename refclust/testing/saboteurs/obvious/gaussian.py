"""Saboteurs of the kernels of normal densities: one fault each (chapter 81)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures import gaussian, scatters, whitening
from refclust.kernels.mixtures.gaussian import Gaussians, Moments
from refclust.kernels.mixtures.shared import SOFT, EMStep, Posterior, Rule, floats, shares
from refclust.kernels.points import Points
from refclust.testing.saboteurs.arithmetic.mixtures import (
    central,
    expanded_joint,
    in_singles,
    joint_of,
    naive_log,
    ones,
    posterior_by,
    raw,
    single_joint,
    step_by,
    transposed,
    weighted,
    without_last,
    zeros_counted,
)
from refclust.testing.saboteurs.saboteur import Functions, Saboteur


class float64(float):  # noqa: N801
    """Stands for the scalars of an array library, which equal plain floats but are none."""


def of_gaussians() -> Iterable[Saboteur]:
    """All saboteurs of normal densities."""
    return (
        *_of_posteriors(),
        *_of_moments(),
        *_of_steps(),
        *_of_matrices(),
        *_of_manners(),
    )


# -- posteriors -----------------------------------------------------------------------------------


def _of_posteriors() -> Iterable[Saboteur]:
    def changed(change: Callable[[Points, Posterior], Posterior]) -> Functions:
        def posterior(points: Points, densities: Gaussians, full: bool) -> Posterior:
            return change(points, gaussian.posterior(points, densities, full))

        return {"gaussian.posterior": posterior}

    def by(joint: Callable[[Points, Any], Any]) -> Functions:
        return {"gaussian.posterior": posterior_by(joint)}

    def normed(points: Points, densities: Gaussians) -> list[tuple[float, ...]]:
        whole = 0.5 * points.d * math.log(2.0 * math.pi)
        return [tuple(x - whole for x in row) for row in joint_of(points, densities)]

    def last_of_equals(points: Points, right: Posterior) -> Posterior:
        if right.joint is None:
            return right
        flat = floats(right.joint)
        k = len(flat) // points.n
        rows = (flat[i * k : (i + 1) * k] for i in range(points.n))
        last = (max(c for c in range(k) if row[c] == max(row)) for row in rows)
        return replace(right, labels=array("i", last))

    def underflowing(points: Points, densities: Gaussians, full: bool) -> Posterior:
        right = gaussian.posterior(points, densities, full)
        logs = array("d", map(naive_log, joint_of(points, densities)))
        return replace(right, log_likelihoods=logs)

    def greedy(points: Points, densities: Gaussians, full: bool) -> Posterior:  # noqa: ARG001
        return gaussian.posterior(points, densities, True)

    def in_part(_: Points, right: Posterior) -> Posterior:
        return replace(right, log_likelihoods=in_singles(right.log_likelihoods))

    def off_by_one(_: Points, right: Posterior) -> Posterior:
        return replace(right, labels=array("i", (label + 1 for label in right.labels)))

    yield Saboteur("densities-in-singles", "single precision", by(single_joint))
    yield Saboteur("densities-expanded", "expanded", by(expanded_joint))
    yield Saboteur("densities-with-pi", "a constant", by(normed))
    yield Saboteur("log-sums-in-singles", "its own log p(x, k)", changed(in_part))
    yield Saboteur("components-last-of-equals", "is first at", changed(last_of_equals))
    yield Saboteur("components-off-by-one", "labels", changed(off_by_one))
    yield Saboteur("densities-underflow", "underflows", {"gaussian.posterior": underflowing})
    yield Saboteur("joint-unasked", "not asked for", {"gaussian.posterior": greedy})


# -- moments --------------------------------------------------------------------------------------


def _of_moments() -> Iterable[Saboteur]:
    def on(change: Callable[[list[float]], list[float]]) -> Functions:
        return {
            "gaussian.moments": lambda points, *args: gaussian.moments(
                weighted(points, change), *args
            )
        }

    def wrapped(points: Points, q: Any, k: int, *args: Any) -> Moments:
        if memoryview(q).format == "i":
            q = array("i", (label % k for label in q))
        return gaussian.moments(points, q, k, *args)

    def centred(points: Points, *args: Any) -> Moments:
        return central(gaussian.moments(points, *args))

    def lopsided(points: Points, *args: Any) -> Moments:
        right = gaussian.moments(points, *args)
        seconds = array("d", floats(right.seconds))
        if right.spread == "full" and points.d > 1 and right.counts[0]:
            seconds[1] = math.nextafter(seconds[1], math.inf)
        return replace(right, seconds=seconds)

    def misplaced(points: Points, *args: Any) -> Moments:
        right = gaussian.moments(points, *args)
        return replace(right, around=CentreMatrix.of([(0.0,) * points.d] * len(right.counts)))

    def in_single_precision(points: Points, *args: Any) -> Moments:
        right = gaussian.moments(points, *args)
        return replace(right, firsts=in_singles(right.firsts), seconds=in_singles(right.seconds))

    yield Saboteur("moments-without-weights", "weights are ignored", on(ones))
    yield Saboteur("moments-of-weight-0", "weight 0", on(zeros_counted))
    yield Saboteur("moments-without-a-row", "left out", on(without_last))
    yield Saboteur("moments-of-nobody", "label -1", {"gaussian.moments": wrapped})
    yield Saboteur("moments-from-the-origin", "moved afterwards", {"gaussian.moments": raw})
    yield Saboteur("moments-around-means", "around the means", {"gaussian.moments": centred})
    yield Saboteur("moments-lopsided", "not symmetric", {"gaussian.moments": lopsided})
    yield Saboteur("moments-elsewhere", "around:", {"gaussian.moments": misplaced})
    yield Saboteur(
        "moments-in-singles", "single precision", {"gaussian.moments": in_single_precision}
    )


# -- steps ----------------------------------------------------------------------------------------


def _of_steps() -> Iterable[Saboteur]:
    def changed(change: Callable[[EMStep[Any], Rule], EMStep[Any]]) -> Functions:
        def step(points: Points, densities: Gaussians, rule: Rule, around: Any) -> EMStep[Any]:
            return change(gaussian.em_step(points, densities, rule, around), rule)

        return {"gaussian.em_step": step}

    def unnormed(row: Sequence[float], rule: Rule, draws: Sequence[float]) -> Sequence[float]:
        right = shares(row, rule, draws)
        if rule.top or draws or right.log_likelihood == -math.inf:
            return right.q
        return [math.exp(x - right.log_likelihood) for x in row]

    def turned(points: Points, densities: Any, rule: Rule, around: Any) -> EMStep[Any]:
        rule = transposed(rule) if rule.draws is not None else rule
        return gaussian.em_step(points, densities, rule, around)

    def at_means(points: Points, densities: Any, rule: Rule, around: Any) -> EMStep[Any]:
        right = gaussian.em_step(points, densities, rule)
        kept = right.moments.around if around is None else around
        return replace(right, moments=replace(right.moments, around=kept))

    def always_soft(points: Points, densities: Any, rule: Rule, around: Any) -> EMStep[Any]:  # noqa: ARG001
        return gaussian.em_step(points, densities, SOFT, around)

    def without_zeros(points: Points, *args: Any) -> EMStep[Any]:
        return gaussian.em_step(weighted(points, zeros_counted), *args)

    def no_entropy(right: EMStep[Any], rule: Rule) -> EMStep[Any]:
        return replace(right, bound=right.bound - right.entropy) if rule.top else right

    yield Saboteur("steps-expanded", "expanded", {"gaussian.em_step": step_by(expanded_joint)})
    yield Saboteur(
        "shares-of-log-p", "add up to one", {"gaussian.em_step": step_by(joint_of, unnormed)}
    )
    yield Saboteur("rules-ignored", "rule is ignored", {"gaussian.em_step": always_soft})
    yield Saboteur("draws-turned", "row after row", {"gaussian.em_step": turned})
    yield Saboteur("points-ignored", "ignored", {"gaussian.em_step": at_means})
    yield Saboteur("steps-of-weight-0", "weight 0", {"gaussian.em_step": without_zeros})
    yield Saboteur("bounds-without-entropy", "entropy is missing", changed(no_entropy))
    yield Saboteur("bounds-of-log-p", "in the place of the bound", changed(
        lambda right, _: replace(right, bound=right.log_likelihood)))  # fmt: skip
    yield Saboteur("entropy-negative", "wrong sign", changed(
        lambda right, _: replace(right, entropy=-right.entropy)))  # fmt: skip
    yield Saboteur("objectives-leak", "float64", changed(
        lambda right, _: replace(right, log_likelihood=float64(right.log_likelihood))))  # fmt: skip


# -- matrices and manners -------------------------------------------------------------------------


def _of_matrices() -> Iterable[Saboteur]:
    def rounded(points: Points, covariances: Any, form: Any) -> array[float]:
        return in_singles(whitening.whitening(points, covariances, form))

    def turned(points: Points, covariances: Any, form: Any) -> array[float]:
        right, d = whitening.whitening(points, covariances, form), points.d
        if form != "full":
            return right
        size, k = d * d, len(right) // (d * d)
        places = (c * size + j * d + i for c in range(k) for i in range(d) for j in range(d))
        return array("d", map(right.__getitem__, places))

    def dividing(points: Points, covariances: Any, form: Any) -> array[float]:
        right = whitening.whitening(points, covariances, form)
        return array("d", (x or math.inf for x in right)) if form != "full" else right

    def half(points: Points, seconds: Any, white: Any, form: Any) -> array[float]:
        if form != "full":
            return whitening.traces(points, seconds, white, form)
        d = points.d
        lower = (x if i % (d * d) // d >= i % d else 0.0 for i, x in enumerate(floats(seconds)))
        return whitening.traces(points, array("d", lower), white, form)

    def narrow(points: Points, moments: Any, prior: Any) -> array[float]:
        return in_singles(scatters.scatters(points, moments, prior))

    def raw(points: Points, moments: Any, prior: Any) -> array[float]:
        zeros = array("d", bytes(8 * len(moments.firsts)))
        return scatters.scatters(points, replace(moments, firsts=zeros), prior)

    def uneven(points: Points, moments: Any, prior: Any) -> array[float]:
        right = scatters.scatters(points, moments, prior)
        if moments.spread == "full" and points.d > 1:
            right[1] = math.nextafter(right[1], math.inf)
        return right

    yield Saboteur("whitening-in-singles", "component 0", {"gaussian.whitening": rounded})
    yield Saboteur("whitening-turned", "above the diagonal", {"gaussian.whitening": turned})
    yield Saboteur("whitening-divides", "not finite", {"gaussian.whitening": dividing})
    yield Saboteur("traces-of-one-half", "component 0", {"gaussian.traces": half})
    yield Saboteur("scatters-in-singles", "scatters[", {"gaussian.scatters": narrow})
    yield Saboteur("scatters-not-central", "scatters[", {"gaussian.scatters": raw})
    yield Saboteur("scatters-of-one-half", "not symmetric", {"gaussian.scatters": uneven})


def _of_manners() -> Iterable[Saboteur]:
    def writing(points: Points, densities: Gaussians, full: bool) -> Posterior:
        right = gaussian.posterior(points, densities, full)
        if isinstance(densities.offsets, array):
            densities.offsets[0] += 1.0  # a work buffer, it thought
        return right

    def drawing(points: Points, densities: Gaussians, rule: Rule, around: Any) -> EMStep[Any]:
        right = gaussian.em_step(points, densities, rule, around)
        if isinstance(rule.draws, array):
            rule.draws.reverse()
        return right

    def flat_only(points: Points, densities: Gaussians, rule: Rule, around: Any) -> EMStep[Any]:
        assert densities.means.values.format == "d"  # plain tuples have no buffer
        return gaussian.em_step(points, densities, rule, around)

    yield Saboteur("densities-overwritten", "changed its input", {"gaussian.posterior": writing})
    yield Saboteur("draws-overwritten", "changed its input", {"gaussian.em_step": drawing})
    yield Saboteur("means-of-matrices-only", "AttributeError", {"gaussian.em_step": flat_only})
