"""What a fit takes down of its passes: objectives, gains, the certificate, events (chapter 30).

The loop makes passes and M-steps; the journal judges and keeps them. What it holds is the progress
that a checkpoint writes, so a fit that goes on after a stop reads the same journal.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Generic, TypeVar

from refclust.kernels.mixtures.shared import EMStep
from refclust.mixture.course.certificate import ascent
from refclust.mixture.course.progress import Before, Pending, Progress, Reached
from refclust.mixture.families.family import Densities, Family, Following, Point
from refclust.mixture.families.gaussian.recentre import beyond_range
from refclust.mixture.options import EMOptions
from refclust.mixture.results import Event, Iteration, Reason, Run

P = TypeVar("P")
D = TypeVar("D", bound=Densities)
M = TypeVar("M")


class Journal(Generic[P, D, M]):
    """The runs of a fit, finished ones and the one under way."""

    def __init__(
        self,
        family: Family[P, D, M],
        options: EMOptions,
        weight: float,
        progress: Progress[P],
    ) -> None:
        self.finished, self.pending = progress.finished, progress.pending
        self._draws = progress.draws  # used by the runs that have ended
        self._family, self._options, self._weight = family, options, weight
        self._sampled, self._certified = options.sampled, options.certified

    @property
    def progress(self) -> Progress[P]:
        """All of it, for a checkpoint."""
        return Progress(self.finished, self._draws, self.pending)

    def begin(self, start: P, draws: int) -> None:
        """Open a run."""
        self.pending = Pending(start=start, parameters=start, draws=draws)

    def seen(self, point: Point[P, D], step: EMStep[M]) -> tuple[Iteration[P], Reason | None]:
        """Take down a pass, judge the M-step before it, and tell why to stop, if so.

        Spec: EM-STOP, EM-CONV, EM-PRIOR
        """
        pending, options = self.pending, self._options
        assert pending is not None
        reached = step.log_likelihood if self._sampled else step.bound
        objective = reached + point.log_prior
        rounding = 0.0
        if self._certified:
            expected = step.bound - step.entropy  # E_q[log p(X, Z)] here
            own = self._family.passes.rounding(step.moments, point.densities, expected)
            rounding = own + point.rounding
        gain, ascents, before = None, pending.ascents, pending.before
        if before is not None:
            gain = (objective - before.objective) / self._weight
            if before.bound is not None:
                compared = before.objective, before.bound, objective, before.rounding + rounding
                ascents = (*ascents, ascent(pending.done, *map(self.whole, compared)))
        shift = self._weight * self._family.constant
        iteration = Iteration(
            pending.done,
            self.whole(step.log_likelihood + shift),
            self.whole(objective + shift),
            gain,
            point.parameters if options.trace == "parameters" else None,
        )
        best = pending.best
        if self._sampled and (best is None or objective > best[0]):
            best = (objective, point.parameters)
        self.pending = replace(
            pending,
            trace=(*pending.trace, iteration),
            ascents=ascents,
            best=best,
            now=Reached(objective, rounding),
        )
        enough = options.tolerance is not None and gain is not None and gain <= options.tolerance
        if enough and not self._sampled:
            return iteration, "tolerance"
        return iteration, "limit" if pending.done >= options.limit else None

    def moved(self, following: Following[P, D], draws: int, step: EMStep[M] | None) -> None:
        """Take down an M-step, with the bound that it reached from a pass.

        Without a pass, parameters were changed by hand: that is no ascent, and nothing is compared
        across it.

        Spec: EM-CONV, EM-MSTEP
        """
        pending, point = self.pending, following.point
        assert pending is not None
        now = pending.now
        assert now is not None
        before = None if step is None else Before(now.objective)
        if self._certified and step is not None:
            passes, expected = self._family.passes, following.expected
            if expected is None:
                expected = passes.expected(step.moments, point.densities)
            bound = expected + step.entropy + point.log_prior
            own = passes.rounding(step.moments, point.densities, expected)
            before = Before(now.objective, bound, now.rounding + own + point.rounding)
        self.pending = replace(
            pending,
            parameters=point.parameters,
            done=pending.done + 1,
            draws=draws,
            prior=(point.log_prior, point.rounding),
            before=before,
        )

    def repaired(self, event: Event, instead: Point[P, D] | None, draws: int) -> None:
        """Take down what became of a collapsed component.

        Spec: GMM-COLLAPSE
        """
        assert self.pending is not None
        self.pending = replace(self.pending, events=(*self.pending.events, event))
        if instead is not None:
            self.moved(Following(instead), draws, None)

    def ended(self, reason: Reason, point: Point[P, D], step: EMStep[M], draws: int) -> None:
        """Close the run under way, at a point and the pass made there."""
        pending = self.pending
        assert pending is not None
        shift = self._weight * self._family.constant
        reached = step.log_likelihood if self._sampled else step.bound
        run = Run(
            log_likelihood=self.whole(step.log_likelihood + shift),
            objective=self.whole(reached + point.log_prior + shift),
            log_prior=self.whole(point.log_prior),
            entropy=self.whole(step.entropy),
            # After an interrupt the last pass handed out may lie one M-step back.
            iterations=pending.trace[-1].iteration,
            stopped=reason,
            parameters=point.parameters,
            start=pending.start,
            sizes=self._family.sizes(step.moments),
            events=pending.events,
            ascents=pending.ascents,
            trace=pending.trace,
        )
        self.finished, self.pending, self._draws = (*self.finished, run), None, draws

    def whole(self, x: float) -> float:
        """A sum over the rows in the weights that were given, not in units.

        Spec: GMM-RANGE
        """
        product = x * self._family.unit
        if math.isinf(product) and math.isfinite(x):
            raise beyond_range()
        return product
