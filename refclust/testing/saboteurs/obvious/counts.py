"""Saboteurs of the kernels of counts: one fault each (chapter 81)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from refclust.kernels.mixtures import multinomial, words
from refclust.kernels.mixtures.multinomial import Tallies, Terms
from refclust.kernels.mixtures.shared import EMStep, Posterior, Rule, floats
from refclust.kernels.points import Points
from refclust.testing.saboteurs.arithmetic.mixtures import (
    in_singles,
    once,
    ones,
    weighted,
    without_last,
)
from refclust.testing.saboteurs.arithmetic.rows import plain_sum
from refclust.testing.saboteurs.saboteur import Functions, Saboteur


def of_counts() -> Iterable[Saboteur]:
    """All saboteurs of counts."""

    def finite(points: Points, terms: Terms, full: bool) -> Posterior:
        slopes = array("d", (max(x, -700.0) for x in terms.slopes))
        return multinomial.posterior(points, replace(terms, slopes=slopes), full)

    def uncertain(points: Points, terms: Terms, full: bool) -> Posterior:
        return multinomial.posterior(points, replace(terms, certain=None), full)

    def multiplied(points: Points, terms: Terms, full: bool) -> Posterior:
        right = multinomial.posterior(points, terms, full)
        slopes = floats(terms.slopes)
        # In every row some word does not occur, and 0 times -inf is no number.
        wrong = math.nan if -math.inf in slopes else 0.0
        return replace(
            right, log_likelihoods=array("d", (x + wrong for x in right.log_likelihoods))
        )

    def present(points: Points, q: Any, k: int) -> Tallies:
        right = multinomial.moments(points, q, k)
        return replace(right, sums=multinomial.moments(once(points), q, k).sums)

    def added(points: Points, q: Any, k: int) -> Tallies:
        right = multinomial.moments(points, q, k)
        return replace(right, sums=in_singles(right.sums))

    def bare(points: Points, tallies: Tallies, m: float, p: Any, kind: Any) -> Any:  # noqa: ARG001
        return words.m_step(points, tallies, 0.0, p, kind)

    def in_part(points: Points, probabilities: Any, kind: Any) -> Any:
        right = words.logs(points, probabilities, kind)
        return replace(right, slopes=in_singles(right.slopes))

    def unweighted(points: Points, terms: Terms, rule: Rule) -> EMStep[Any]:
        return multinomial.em_step(weighted(points, ones), terms, rule)

    def without_a_row(points: Points, terms: Terms, rule: Rule) -> EMStep[Any]:
        return multinomial.em_step(weighted(points, without_last), terms, rule)

    yield Saboteur("words-never-impossible", "-inf says so", {"multinomial.posterior": finite})
    yield Saboteur("words-uncertain", "-inf says so", {"multinomial.posterior": uncertain})
    yield Saboteur("words-zero-times-inf", "a NaN", {"multinomial.posterior": multiplied})
    yield Saboteur("counts-of-presence", "every count were 1", {"multinomial.moments": present})
    yield Saboteur("counts-in-singles", "single precision", {"multinomial.moments": added})
    yield Saboteur(
        "count-steps-unweighted", "weights are ignored", {"multinomial.em_step": unweighted}
    )
    yield Saboteur("moments-overwritten", "earlier answer", _reusing())
    yield _threaded()
    yield Saboteur("words-nothing-imagined", "probabilities[", {"multinomial.m_step": bare})
    yield Saboteur("words-in-singles", "slopes[", {"multinomial.logs": in_part})
    yield Saboteur("count-steps-short", "left out", {"multinomial.em_step": without_a_row})


def _reusing() -> Functions:
    """One buffer of sums for all answers about the same rows."""
    buffers: dict[tuple[int, int], array[float]] = {}

    def moments(points: Points, q: Any, k: int) -> Tallies:
        right = multinomial.moments(points, q, k)
        sums = array("d", floats(right.sums))
        buffer = buffers.setdefault((id(points), k), sums)
        buffer[:] = sums
        return replace(right, sums=buffer)

    return {"multinomial.moments": moments}


def _threaded() -> Saboteur:
    """Right sums, but added up in as many parts as there are threads."""
    number = [1]

    def em_step(points: Points, terms: Terms, rule: Rule) -> EMStep[Any]:
        right = multinomial.em_step(points, terms, rule)
        logs = floats(multinomial.posterior(points, terms, False).log_likelihoods)
        if points.weighted or -math.inf in logs:
            return right
        parts = [plain_sum(logs[i :: number[0]]) for i in range(number[0])]
        return replace(right, log_likelihood=plain_sum(parts))

    def set_threads(count: int) -> None:
        number[0] = count

    functions = {"multinomial.em_step": em_step}
    return Saboteur("threads-in-parts", "not that of one thread", functions,
                    set_threads=set_threads)  # fmt: skip
