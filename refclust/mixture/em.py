"""The one EM loop: expectation, maximisation, until the objective rises no more (chapter 30).

The driver owns everything random and every policy; kernels do the passes over the rows, families
know their formulas, the journal keeps and judges what happened. It is an iterator: each pass is
handed out before the next one begins.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar

from refclust.data.dataset import Fingerprint
from refclust.fitting.checkpoint import Checkpoint, Fitting, whole_provenance
from refclust.fitting.draws import Draws
from refclust.fitting.rows import Rows
from refclust.kernels.clusters.kmeans import copied
from refclust.kernels.mixtures.shared import SOFT, EMStep
from refclust.mixture import starts
from refclust.mixture.course import progress as progresses
from refclust.mixture.course.journal import Journal
from refclust.mixture.course.progress import Progress
from refclust.mixture.course.progress_read import ProgressReader
from refclust.mixture.course.repair import all_collapsed, best_run, impossible, repaired
from refclust.mixture.families.family import Collapsed, Densities, Family, Point
from refclust.mixture.families.gaussian.ranges import total_weight
from refclust.mixture.families.gaussian.recentre import beyond_range
from refclust.mixture.options import EMOptions
from refclust.mixture.results import Iteration, MixtureFit, Reason
from refclust.mixture.variations import damped, rule_of

P = TypeVar("P")
D = TypeVar("D", bound=Densities)
M = TypeVar("M")

USUAL: Final = 20  # iterations, to estimate how long a fit will take


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
        beginning: P | array[int] | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self._family, self._rows, self._options, self._beginning = family, rows, options, beginning
        self._checkpoint = checkpoint
        self._weight = total_weight(rows.data) / family.unit
        watched = options.trace != "none" or checkpoint is not None
        self._fingerprint = (
            Fingerprint(text=rows.data.digest(), preparation=rows.data.preparation)
            if watched
            else Fingerprint(rows.data)
        )
        progress: Progress[P] = Progress()
        if checkpoint is not None:
            reader = ProgressReader(family, options, rows.data.n)
            progress = checkpoint.begin(self._fitting(), reader, progress, rows.session)
        self._journal = Journal(family, options, self._weight, progress)
        self._draws = Draws(options.seed, progress.draws)
        self._last: tuple[Point[P, D], EMStep[M]] | None = None  # the pass handed out last
        self._best: tuple[int, Point[P, D]] | None = None  # of the best run seen here
        self._states = self._runs()

    def __iter__(self) -> Iterator[State[P]]:
        return self

    @property
    def restarts(self) -> int:
        """How many runs there will be in all."""
        return self._options.restarts

    def __next__(self) -> State[P]:
        try:
            return next(self._states)
        except (KeyboardInterrupt, MemoryError):
            self.save()
            if self._checkpoint is not None:
                self._checkpoint.let_go()
            if self._last is None:  # nothing was handed out yet: begin the run again if asked
                progress = self._journal.progress
                used = progress.draws if progress.pending is None else progress.pending.draws
                self._draws = Draws(self._options.seed, used)
                self._states = self._runs()
            raise
        except OverflowError:
            raise beyond_range() from None

    def _runs(self) -> Iterator[State[P]]:
        """Expectation and maximisation in turns, run after run.

        Spec: EM-ALG, EM-RESTART
        """
        journal, passes = self._journal, self._family.passes
        while len(journal.finished) < self._options.restarts:
            point: Point[P, D] | None = self._first()
            while point is not None:
                rule = rule_of(self._options, point.densities, self._rows.data, self._draws)
                step = passes.step(point.densities, rule)  # E
                if step.log_likelihood == -math.inf:
                    raise impossible(self._family, self._rows, point)
                number, (iteration, stopped) = len(journal.finished), journal.seen(point, step)
                if stopped is not None:
                    self._end(stopped, point, step)
                    yield State(number, iteration, point.parameters, stopped)
                    break
                self._last = (point, step)
                yield State(number, iteration, point.parameters, None)
                point = self._maximised(point, step)  # M
                if self._checkpoint is not None and self._checkpoint.due():
                    self.save()

    def _first(self) -> Point[P, D]:
        """Where the next run begins, or goes on after a stop.

        Spec: EM-INIT
        """
        if self._journal.pending is None:
            self._journal.begin(self._start(), self._draws.used)
        pending = self._journal.pending
        assert pending is not None
        point = starts.ready(self._family, pending.parameters)
        if pending.prior is not None:
            log_prior, rounding = pending.prior
            point = replace(point, log_prior=log_prior, rounding=rounding)
        return point

    def _start(self) -> P:
        family, k, rows = self._family, self._options.k, self._family.passes.rows
        match self._options.start:
            case "kmeans":
                return starts.from_kmeans(family, rows, k, self._draws)
            case "random":
                return starts.from_responsibilities(family, rows, k, self._draws)
            case "varied" if not self._journal.finished:
                return starts.from_kmeans(family, rows, k, self._draws)
            case "points" | "varied":
                return starts.from_points(family, rows, k, self._draws)
            case "labels":
                assert isinstance(self._beginning, array)
                return starts.from_labels(family, self._beginning, k)
            case _:
                assert not isinstance(self._beginning, array)
                assert self._beginning is not None
                return self._beginning  # read at the door

    def _maximised(self, point: Point[P, D], step: EMStep[M]) -> Point[P, D] | None:
        """The M-step; nothing if a component collapsed and that ends the run.

        Spec: EM-MSTEP, EM-GEM, GMM-COLLAPSE
        """
        family, options, journal = self._family, self._options, self._journal
        try:
            following = family.following(step.moments, point.parameters)
        except Collapsed as collapsed:
            pending = journal.pending
            assert pending is not None
            place = pending.done + 1, len(pending.events)
            rows, policy = family.passes.rows, options.collapse
            event, instead = repaired(family, rows, point, collapsed, policy, place)
            journal.repaired(event, instead, self._draws.used)
            if instead is None:
                self._end("collapsed", point, step)
            return instead
        if options.variation == "generalized":
            following = damped(family, point, following, step, options.damping)
        journal.moved(following, self._draws.used, step)
        return following.point

    def _end(self, reason: Reason, point: Point[P, D], step: EMStep[M]) -> None:
        """Turn the current run into a finished one."""
        journal = self._journal
        assert journal.pending is not None
        best = journal.pending.best
        if best is not None and best[1] != point.parameters:
            # Sampled steps wander: what counts is the best place they came to.
            point = starts.ready(self._family, best[1])
            step = self._family.passes.step(point.densities, SOFT)
        journal.ended(reason, point, step, self._draws.used)
        self._last = None
        latest = len(journal.finished) - 1
        if best_run(journal.finished) == latest:
            self._best = latest, point

    def save(self) -> None:
        """Write the checkpoint, if there is one, as of the last whole iteration."""
        if self._checkpoint is not None:
            content = progresses.content_of(self._journal.progress, self._family)
            self._checkpoint.write(self._fitting(), content, self._rows.session.provenance())

    def result(self) -> MixtureFit[P]:
        """The fit; if passes are left, it ends with the reason ``caller`` where it stands.

        Spec: EM-ALG, EM-RESTART
        """
        journal = self._journal
        if self._last is None and not journal.finished:
            next(self)
        if journal.pending is not None and self._last is not None:
            self._end("caller", *self._last)
            self._states = iter(())
        if self._checkpoint is not None and len(journal.finished) == self._options.restarts:
            self._checkpoint.done()
        return self._fit()

    def _fitting(self) -> Fitting:
        beginning = self._beginning
        start: Any = None
        if isinstance(beginning, array):
            start = beginning.tolist()
        elif beginning is not None:
            start = self._family.content(beginning)
        options = {
            **self._options.as_json(),
            **self._family.settings,
            "given": start,
            "made by": self._rows.made_by(self._family.kernel, self._options.k),
        }
        return Fitting(self._family.name, self._fingerprint.text, options)

    def _fit(self) -> MixtureFit[P]:
        options, runs, data = self._options, self._journal.finished, self._rows.data
        best = best_run(runs)
        run = runs[best]
        if run.stopped == "collapsed":
            raise all_collapsed(runs)
        # The best run may have ended before a checkpoint.
        known = self._best is not None and self._best[0] == best
        point = (
            self._best[1] if known and self._best else starts.ready(self._family, run.parameters)
        )
        labels = copied(self._family.passes.posterior(point.densities, full=False).labels)
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
            weight=self._journal.whole(self._weight),
            n=data.n,
            d=data.d,
            features=data.features,
            fingerprint=self._fingerprint,
            provenance=whole_provenance(self._rows.session, self._checkpoint),
        )
