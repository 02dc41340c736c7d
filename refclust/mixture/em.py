"""The one EM loop: expectation, maximisation, until the objective rises no more (chapter 30).

The driver owns everything random and every policy; kernels do the passes over the rows and families
know their formulas. It is an iterator: each pass is handed out before the next one begins.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar

from refclust.cluster.checkpoint import Checkpoint, Fitting, whole_provenance
from refclust.cluster.seeding import Draws, Rows
from refclust.data.dataset import Fingerprint
from refclust.kernels.kmeans import copied
from refclust.kernels.mixture import HARD, SOFT, EMStep, Rule
from refclust.mixture import progress as progresses
from refclust.mixture import starts
from refclust.mixture.certificate import ascent
from refclust.mixture.families import Collapsed, Densities, Family, Following, Point
from refclust.mixture.options import EMOptions
from refclust.mixture.progress import Before, Pending, Progress, Reached
from refclust.mixture.progress_read import ProgressReader
from refclust.mixture.ranges import total_weight
from refclust.mixture.recentre import beyond_range
from refclust.mixture.repair import all_collapsed, best_run, impossible, repaired
from refclust.mixture.results import Iteration, MixtureFit, Reason, Run

P = TypeVar("P")
D = TypeVar("D", bound=Densities)
M = TypeVar("M")

USUAL: Final = 20  # iterations, to estimate how long a fit will take
_MOST_TRIALS: Final = 20


@dataclass(frozen=True, slots=True)
class State(Generic[P]):
    """Where a fit stands after a pass over the rows."""

    run: int  # from 0
    iteration: Iteration[P]
    parameters: P
    stopped: Reason | None


class EMSteps(Generic[P, D, M]):
    """The passes of a fit, one after another; ``result`` ends it and returns the fit.

    Spec: EM-ALG
    """

    def __init__(
        self,
        family: Family[P, D, M],
        rows: Rows,
        options: EMOptions,
        given: P | array[int] | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self._family, self._rows, self._options, self._given = family, rows, options, given
        self._checkpoint = checkpoint
        self._weight = total_weight(rows.data) / family.unit
        watched = options.trace != "none" or checkpoint is not None
        self._fingerprint = (
            Fingerprint(text=rows.data.digest()) if watched else Fingerprint(rows.data)
        )
        self._progress: Progress[P] = Progress()
        if checkpoint is not None:
            reader = ProgressReader(family, options, rows.data.n)
            self._progress = checkpoint.begin(self._fitting(), reader, self._progress, rows.session)
        self._draws = Draws(options.seed, self._progress.draws)
        self._last: tuple[Point[P, D], EMStep[M]] | None = None  # the pass handed out last
        self._best: tuple[int, Point[P, D]] | None = None  # of the best run seen here
        self._states = self._all_runs()

    def __iter__(self) -> Iterator[State[P]]:
        return self

    def __next__(self) -> State[P]:
        try:
            return next(self._states)
        except (KeyboardInterrupt, MemoryError):
            self.save()
            if self._checkpoint is not None:
                self._checkpoint.let_go()
            if self._last is None:  # nothing was handed out yet: begin the run again if asked
                pending = self._progress.pending
                used = self._progress.draws if pending is None else pending.draws
                self._draws = Draws(self._options.seed, used)
                self._states = self._all_runs()
            raise
        except OverflowError:
            raise beyond_range() from None

    def save(self) -> None:
        """Write the checkpoint, if there is one, as of the last whole iteration."""
        if self._checkpoint is not None:
            told = progresses.told(self._progress, self._family)
            self._checkpoint.write(self._fitting(), told, self._rows.session.provenance())

    def result(self) -> MixtureFit[P]:
        """The fit; if passes are left, it ends with the reason ``caller`` where it stands.

        Spec: EM-ALG, EM-RESTART
        """
        if self._last is None and not self._progress.finished:
            next(self)
        if self._progress.pending is not None and self._last is not None:
            self._end("caller", *self._last)
            self._states = iter(())
        if self._checkpoint is not None and len(self._progress.finished) == self._options.restarts:
            self._checkpoint.done()
        return self._fit()

    def _fitting(self) -> Fitting:
        given = self._given
        told: Any = None
        if isinstance(given, array):
            told = given.tolist()
        elif given is not None:
            told = self._family.told(given)
        options = {
            **self._options.as_json(),
            **self._family.settings,
            "given": told,
            "made by": self._rows.made_by(self._family.kernel, self._options.k),
        }
        return Fitting(self._family.name, self._fingerprint.text, options)

    def _all_runs(self) -> Iterator[State[P]]:
        while len(self._progress.finished) < self._options.restarts:
            if self._progress.pending is None:
                first = self._start()
                pending = Pending(start=first, parameters=first, draws=self._draws.used)
                self._progress = replace(self._progress, pending=pending)
            yield from self._one_run()

    def _start(self) -> P:
        family, k = self._family, self._options.k
        match self._options.start:
            case "kmeans":
                return starts.from_kmeans(family, self._rows, k, self._draws)
            case "random":
                return starts.from_responsibilities(family, self._rows, k, self._draws)
            case "varied" if not self._progress.finished:
                return starts.from_kmeans(family, self._rows, k, self._draws)
            case "points" | "varied":
                return starts.from_points(family, self._rows, k, self._draws)
            case "labels":
                assert isinstance(self._given, array)
                return starts.from_labels(family, self._given, k)
            case _:
                assert not isinstance(self._given, array)
                assert self._given is not None
                return self._given  # read at the door

    def _one_run(self) -> Iterator[State[P]]:
        assert self._progress.pending is not None
        point = starts.ready(self._family, self._progress.pending.parameters)
        if self._progress.pending.prior is not None:
            log_prior, rounding = self._progress.pending.prior
            point = replace(point, log_prior=log_prior, rounding=rounding)
        while True:
            step = self._family.step(point, self._rule(point.densities.k))
            stopped = self._seen(point, step)
            pending = self._progress.pending
            assert pending is not None
            number, seen = len(self._progress.finished), pending.trace[-1]
            if stopped is not None:
                self._end(stopped, point, step)
                yield State(number, seen, point.parameters, stopped)
                return
            self._last = (point, step)
            yield State(number, seen, point.parameters, None)
            following = self._following(point, step)
            if following is None:
                self._end("collapsed", point, step)
                return
            point = following
            if self._checkpoint is not None and self._checkpoint.due():
                self.save()

    def _rule(self, k: int) -> Rule:
        """How this pass makes responsibilities of posteriors.

        Spec: EM-ESTEP, CEM-ASSIGN, EM-VAR, EM-STOCH, EM-MC
        """
        options = self._options
        if options.sampled:
            count = self._rows.data.n * options.samples
            draws = array("d", (self._draws.next() for _ in range(count)))
            return Rule(draws=draws, samples=options.samples)
        if options.variation == "hard":
            return HARD
        return Rule(top=min(options.top, k)) if options.top else SOFT

    def _seen(self, point: Point[P, D], step: EMStep[M]) -> Reason | None:
        """Take down what a pass found, judge the step before it, and tell why to stop, if so.

        Spec: EM-STOP, EM-CONV, EM-PRIOR
        """
        pending, options = self._progress.pending, self._options
        assert pending is not None
        if step.log_likelihood == -math.inf:
            raise impossible(self._family, self._rows, point)
        reached = step.log_likelihood if options.sampled else step.bound
        objective = reached + point.log_prior
        rounding = 0.0
        if options.certified:
            known = step.bound - step.entropy  # E_q[log p(X, Z)] here
            own = self._family.rounding(step.moments, point.densities, known)
            rounding = own + point.rounding
        gain, ascents = None, pending.ascents
        before = pending.before
        if before is not None:
            gain = (objective - before.objective) / self._weight
            if before.bound is not None:
                total = before.rounding + rounding
                judged = before.objective, before.bound, objective, total
                ascents = (*ascents, ascent(pending.done, *map(self._whole, judged)))
        shift = self._weight * self._family.constant
        told = point.parameters if options.trace == "parameters" else None
        likelihood = self._whole(step.log_likelihood + shift)
        seen = Iteration(pending.done, likelihood, self._whole(objective + shift), gain, told)
        best = pending.best
        if options.sampled and (best is None or objective > best[0]):
            best = (objective, point.parameters)
        pending = replace(
            pending,
            trace=(*pending.trace, seen),
            ascents=ascents,
            best=best,
            now=Reached(objective, rounding),
        )
        self._progress = replace(self._progress, pending=pending)
        enough = options.tolerance is not None and gain is not None and gain <= options.tolerance
        if enough and not options.sampled:
            return "tolerance"
        return "limit" if pending.done >= options.limit else None

    def _following(self, point: Point[P, D], step: EMStep[M]) -> Point[P, D] | None:
        """The M-step; nothing if a component collapsed and that ends the run.

        Spec: EM-MSTEP, EM-GEM
        """
        family, pending = self._family, self._progress.pending
        assert pending is not None
        assert pending.now is not None
        try:
            made = family.following(step.moments, point.parameters)
        except Collapsed as collapsed:
            return self._collapsed(point, collapsed)
        if self._options.variation == "generalized":
            made = self._damped(point, made, step)
        following = made.point
        before = Before(pending.now.objective)
        if self._options.certified:
            expected = made.expected
            if expected is None:
                expected = family.expected(step.moments, following.densities)
            bound = expected + step.entropy + following.log_prior
            own = family.rounding(step.moments, following.densities, expected)
            rounding = pending.now.rounding + own + following.rounding
            before = Before(pending.now.objective, bound, rounding)
        self._go_on(following, before)
        return following

    def _damped(
        self, point: Point[P, D], whole: Following[P, D], step: EMStep[M]
    ) -> Following[P, D]:
        """Parameters on the way to those of the M-step that raise the bound, too.

        Spec: EM-GEM
        """
        family, share = self._family, self._options.damping
        least = family.expected(step.moments, point.densities) + point.log_prior
        for _ in range(_MOST_TRIALS):
            between = family.blended(point.parameters, whole.point.parameters, share)
            try:
                trial = family.point(between)
            except Collapsed:
                break
            expected = family.expected(step.moments, trial.densities)
            if expected + trial.log_prior >= least:
                return Following(trial, expected)
            share = (1.0 + share) / 2.0
        return whole

    def _whole(self, x: float) -> float:
        """A sum over the rows in the weights that were given, not in units.

        Spec: GMM-RANGE
        """
        found = x * self._family.unit
        if math.isinf(found) and math.isfinite(x):
            raise beyond_range()
        return found

    def _go_on(self, following: Point[P, D], before: Before | None) -> None:
        pending = self._progress.pending
        assert pending is not None
        pending = replace(
            pending,
            parameters=following.parameters,
            done=pending.done + 1,
            draws=self._draws.used,
            prior=(following.log_prior, following.rounding),
            before=before,
        )
        self._progress = replace(self._progress, pending=pending)

    def _collapsed(self, point: Point[P, D], collapsed: Collapsed) -> Point[P, D] | None:
        """Do with a collapsed component what the policy says, and take it down.

        Spec: GMM-COLLAPSE
        """
        pending = self._progress.pending
        assert pending is not None
        event, following = repaired(
            self._family,
            self._rows,
            point,
            collapsed,
            self._options.collapse,
            (pending.done + 1, len(pending.events)),
        )
        pending = replace(pending, events=(*pending.events, event))
        self._progress = replace(self._progress, pending=pending)
        if following is not None:
            # What was changed by hand is no ascent: nothing is compared across it.
            self._go_on(following, None)
        return following

    def _end(self, reason: Reason, point: Point[P, D], step: EMStep[M]) -> None:
        """Turn the current run into a finished one."""
        pending = self._progress.pending
        assert pending is not None
        if pending.best is not None and pending.best[1] != point.parameters:
            # Sampled steps wander: what counts is the best place they came to.
            point = starts.ready(self._family, pending.best[1])
            step = self._family.step(point, SOFT)
        shift = self._weight * self._family.constant
        reached = step.log_likelihood if self._options.sampled else step.bound
        run = Run(
            log_likelihood=self._whole(step.log_likelihood + shift),
            objective=self._whole(reached + point.log_prior + shift),
            log_prior=self._whole(point.log_prior),
            entropy=self._whole(step.entropy),
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
        runs = (*self._progress.finished, run)
        self._progress = Progress(runs, self._draws.used)
        self._last = None
        if best_run(runs) == len(runs) - 1:
            self._best = len(runs) - 1, point

    def _fit(self) -> MixtureFit[P]:
        options, runs, data = self._options, self._progress.finished, self._rows.data
        best = best_run(runs)
        run = runs[best]
        if run.stopped == "collapsed":
            raise all_collapsed(runs)
        # The best run may have ended before a checkpoint.
        known = self._best is not None and self._best[0] == best
        point = (
            self._best[1] if known and self._best else starts.ready(self._family, run.parameters)
        )
        labels = copied(self._family.posterior(point, full=False).labels)
        return MixtureFit(
            labels=labels,
            parameters=run.parameters,
            log_likelihood=run.log_likelihood,
            objective=run.objective,
            log_prior=run.log_prior,
            entropy=run.entropy,
            sizes=run.sizes,
            iterations=run.iterations,
            stopped=run.stopped,
            best=best,
            runs=runs,
            family=self._family.name,
            settings=self._family.settings,
            k=options.k,
            start=options.start,
            variation=options.variation,
            options=options.as_json(),
            free_parameters=self._family.free_parameters(point.densities.k),
            constant=self._family.constant,
            weight=self._whole(self._weight),
            n=data.n,
            d=data.d,
            features=data.features,
            fingerprint=self._fingerprint,
            provenance=whole_provenance(self._rows.session, self._checkpoint),
        )
