"""The iterations of k-means: assign and update until nothing changes (KM-ALG of chapter 10).

The driver owns everything random and every policy; kernels do the passes over the rows. It is an
iterator: each iteration is handed out before the next one begins, so progress bars, early stopping
and pictures need nothing else.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from refclust.backends.session import Session
from refclust.cluster.course import progress as progresses
from refclust.cluster.course.progress import Progress
from refclust.cluster.course.progress_read import ProgressReader
from refclust.cluster.directions import unit_rows
from refclust.cluster.objective import (
    best_run,
    exact_rss,
    exact_within,
    mean_square,
    rounded,
    total_cosine,
)
from refclust.cluster.options import KMeansOptions
from refclust.cluster.results import Centres, Iteration, KMeansFit, Reason, Run
from refclust.cluster.seeding import STARTS
from refclust.cluster.update import NOTHING_TO_TREAT, empty_clusters, treat, update, without
from refclust.data.dataset import Dataset, Fingerprint
from refclust.fitting.checkpoint import Checkpoint, Fitting, whole_provenance
from refclust.fitting.draws import Draws
from refclust.fitting.memory import for_centres
from refclust.fitting.rows import Rows
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.kmeans import Labels, LloydStep, copied
from refclust.numbers.real import Real

USUAL: Final = 20  # iterations, to estimate how long a fit will take


@dataclass(frozen=True, slots=True)
class State:
    """Where a fit stands after an iteration."""

    run: int  # from 0
    iteration: Iteration
    _centres: CentreMatrix
    stopped: Reason | None
    _labels: Labels

    @property
    def centres(self) -> Centres:
        """The centres after this iteration.

        Spec: KM-ALG
        """
        return self._centres.rows()

    @property
    def labels(self) -> array[int]:
        """The labels of this iteration, copied out of the backend when asked for."""
        return copied(self._labels)


@dataclass(frozen=True, slots=True)
class _Closing:
    """The last pass of a run, with what was found out about it."""

    run: int
    step: LloydStep
    residuals: tuple[Fraction, ...]
    squares: tuple[Fraction, ...] | None = None


class Steps:
    """The iterations of a fit, one after another; ``result`` ends it and returns the fit.

    Spec: KM-ALG
    """

    def __init__(
        self,
        data: Dataset,
        options: KMeansOptions,
        first_centres: CentreMatrix | None,
        session: Session,
        checkpoint: Checkpoint | None = None,
        draws: Draws | None = None,
    ) -> None:
        for_centres(options.k, data.d)
        self._options = options
        self._first_centres = first_centres
        self._session = session
        cosine = options.metric == "cosine"
        calls = options.restarts * min(options.limit, USUAL)
        seen = unit_rows(data, session, options.k, calls) if cosine else data
        self._rows = Rows(seen, session, calls)
        self._checkpoint = checkpoint
        self._watched = options.trace != "none"
        # Hashing takes longer than an iteration: a fit that nobody watches leaves it for later.
        self._fingerprint = (
            Fingerprint(text=data.digest(), preparation=data.preparation)
            if self._watched
            else Fingerprint(data)
        )
        self._progress = Progress()
        if checkpoint is not None:
            reader = ProgressReader(options, data.n, data.d)
            self._progress = checkpoint.begin(self._fitting(), reader, self._progress, session)
        self._draws = Draws(options.seed, self._progress.draws) if draws is None else draws
        self._best: _Closing | None = None  # of the best run seen here
        self._square: Fraction | None = None  # the squared lengths of all rows together
        self._d = data.d
        self._step, self._flat_means, self._residuals, self._cosine_terms = (
            self._rows.kernel(f"kmeans.{name}", options.k)
            for name in ("lloyd_step", "means", "residual", "cosine_terms")
        )
        self._states = self._runs()

    def __iter__(self) -> Iterator[State]:
        return self

    @property
    def restarts(self) -> int:
        """How many runs there will be in all."""
        return self._options.restarts

    def __next__(self) -> State:
        try:
            return next(self._states)
        except (KeyboardInterrupt, MemoryError):
            self.save()
            if self._checkpoint is not None:
                self._checkpoint.let_go()
            raise

    def save(self) -> None:
        """Write the checkpoint, if there is one, as of the last whole iteration."""
        if self._checkpoint is not None:
            content = progresses.content_of(self._progress)
            self._checkpoint.write(self._fitting(), content, self._session.provenance())

    def result(self) -> KMeansFit:
        """The fit; if iterations are left, it ends with the reason ``caller`` where it stands.

        Spec: KM-ALG, KM-RESTART
        """
        if self._progress.centres is None and not self._progress.finished:
            next(self)
        if self._progress.centres is not None:
            self._end("caller", self._progress, None)
        if self._checkpoint is not None and len(self._progress.finished) == self._options.restarts:
            self._checkpoint.done()
        return self._fit()

    def release(self) -> None:
        """Let the session forget the rows."""
        self._session.release(self._rows.data)

    def _fitting(self) -> Fitting:
        start = (
            None
            if self._first_centres is None
            else [list(centre) for centre in self._first_centres]
        )
        options = {**self._options.as_json(), "given": start}
        return Fitting("kmeans", self._fingerprint.text, options)

    def _runs(self) -> Iterator[State]:
        """Assign, update and stop in turns, run after run.

        Spec: KM-ALG, KM-RESTART
        """
        options, metric = self._options, self._options.metric
        while len(self._progress.finished) < options.restarts:
            previous, objective = self._begun()
            while self._progress.centres is not None:
                progress, centres = self._progress, self._progress.centres
                number = progress.done + 1
                step: LloydStep = self._step(centres, previous, metric)  # assign
                # Under the cosine the means also tell which clusters are empty.
                means = self._means(step) if metric == "cosine" else None
                empty = empty_clusters(step.sums, means)
                treated = NOTHING_TO_TREAT
                if empty:
                    treated = treat(self._rows, step, centres, empty, options.empty, number)
                if not step.changed and not treated.moved:
                    iteration = self._iteration(number, step, centres, None)
                    final = self._advanced(progress, iteration)
                    yield self._ended("unchanged", final, iteration, step, step)
                    break
                moved = means or self._means(step)  # update
                if empty:
                    moved = update(moved, centres, empty, treated)
                left = without(step, treated.dropped) if treated.dropped else step
                after = self._objective(left, moved)
                iteration = self._iteration(number, step, centres, (moved, after))
                following = replace(
                    self._advanced(progress, iteration),
                    previous=centres,
                    dropped=tuple(sorted(treated.dropped)),
                    centres=moved,
                    emptied=progress.emptied + treated.told,
                )
                stopped = self._reason(number, objective, after)  # stop
                if stopped is not None:
                    # Closing takes another pass: until it is done, this iteration is not done.
                    yield self._ended(stopped, following, iteration, None, step, left)
                    break
                self._progress = following
                previous, objective = left, after
                if self._checkpoint is not None and self._checkpoint.due():
                    self.save()
                yield State(len(progress.finished), iteration, moved, None, step.labels)

    def _begun(self) -> tuple[LloydStep | None, Fraction | Real | None]:
        """Choose where a run begins; after a stop, work out what the last iteration left behind.

        Spec: KM-INIT, KM-CKPT
        """
        if self._progress.centres is None:
            start = CentreMatrix.of(
                self._start() if self._first_centres is None else self._first_centres
            )
            self._progress = replace(
                self._progress, start=start, centres=start, draws=self._draws.used
            )
        progress = self._progress
        if progress.previous is None:
            return None, None
        assert progress.centres is not None
        step: LloydStep = self._step(progress.previous, None, self._options.metric)
        step = without(step, frozenset(progress.dropped))
        return step, self._objective(step, progress.centres)

    def _start(self) -> Centres:
        options = self._options
        extra = {"trials": options.trials} if options.start == "greedy" else {}
        return STARTS[options.start](self._rows, options.k, self._draws, **extra)

    def _means(self, step: LloydStep) -> CentreMatrix:
        return CentreMatrix.flat(self._flat_means(step.sums), self._d)

    def _advanced(self, progress: Progress, iteration: Iteration) -> Progress:
        trace = (*progress.trace, iteration) if self._watched else ()
        return replace(progress, done=progress.done + 1, trace=trace)

    def _squares(self, labels: Labels, k: int) -> tuple[Fraction, ...]:
        own = self._options.k
        squares: tuple[Fraction, ...] = self._rows.call("kmeans.squares", labels, k, k=own)
        self._square = sum(squares, Fraction(0))
        return squares

    def _rss(self, step: LloydStep, centres: CentreMatrix) -> Fraction:
        if self._square is None:
            # All rows in one cluster: the labels of a step may leave out what was dropped.
            self._squares(array("i", bytes(4 * self._rows.data.n)), 1)
        assert self._square is not None
        return exact_rss(self._square, self._residuals(step.sums, centres))

    def _objective(self, step: LloydStep, centres: CentreMatrix) -> Fraction | Real | None:
        """What decides whether to go on, if anything but the labels does."""
        if self._options.metric == "cosine":
            return total_cosine(self._cosine_terms(step.sums, centres))
        if not self._watched and self._options.tolerance is None:
            return None
        return self._rss(step, centres)

    def _reason(
        self, number: int, before: Fraction | Real | None, after: Fraction | Real | None
    ) -> Reason | None:
        """Why to stop after this update, if there is a reason.

        Spec: KM-STOP
        """
        tolerance = self._options.tolerance
        if before is not None and after is not None:
            if isinstance(after, Real):
                if tolerance is not None and after - before <= Real(Fraction(tolerance)) * before:
                    return "tolerance"
                if not after > before:
                    return "objective"
            elif tolerance is not None and before - after <= Fraction(tolerance) * before:
                return "tolerance"
        return "limit" if number >= self._options.limit else None

    def _iteration(
        self,
        number: int,
        step: LloydStep,
        centres: CentreMatrix,
        updated: tuple[CentreMatrix, Fraction | Real | None] | None,
    ) -> Iteration:
        if not self._watched:
            return Iteration(number, step.changed, None, None, None)
        cosine = self._options.metric == "cosine"
        after = None
        if updated is not None and isinstance(updated[1], Fraction):
            after = rounded(updated[1])
        moved = centres if updated is None else updated[0]
        detail = self._options.trace
        return Iteration(
            iteration=number,
            changed=step.changed,
            rss=rounded(self._rss(step, centres)),
            rss_updated=after,
            cosine=float(total_cosine(self._cosine_terms(step.sums, centres))) if cosine else None,
            centres=None if detail == "scalars" else moved.rows(),
            labels=copied(step.labels) if detail == "full" else None,
        )

    def _ended(
        self,
        reason: Reason,
        progress: Progress,
        iteration: Iteration,
        last: LloydStep | None,
        step: LloydStep,
        before: LloydStep | None = None,
    ) -> State:
        """Close the run and hand out its last state."""
        assert progress.centres is not None
        self._end(reason, progress, last, before)
        number = len(progress.finished)
        return State(number, iteration, progress.centres, reason, step.labels)

    def _end(
        self,
        reason: Reason,
        progress: Progress,
        last: LloydStep | None,
        before: LloydStep | None = None,
    ) -> None:
        """Turn the current run into a finished one; its labels belong to its centres.

        If there is no last step under them yet, one is made, maybe after a step before.
        """
        assert progress.centres is not None
        assert progress.start is not None
        cosine = self._options.metric == "cosine"
        if last is None:
            last = self._step(progress.centres, before, self._options.metric)
        residuals = self._residuals(last.sums, progress.centres)
        squares = None
        if self._square is None:
            squares = self._squares(last.labels, len(progress.centres))
        assert self._square is not None
        rss = exact_rss(self._square, residuals)
        terms = self._cosine_terms(last.sums, progress.centres) if cosine else ()
        run = Run(
            rss=rounded(rss),
            exact_rss=rss,
            cosine=float(total_cosine(terms)) if cosine else None,
            cosine_terms=terms,
            iterations=progress.done,
            stopped=reason,
            matrix=progress.centres,
            first=progress.start,
            emptied=progress.emptied,
            trace=progress.trace,
        )
        self._progress = Progress((*progress.finished, run), draws=self._draws.used)
        number = len(progress.finished)
        if self._best is None or best_run(self._progress.finished) == number:
            self._best = _Closing(number, last, residuals, squares)

    def _fit(self) -> KMeansFit:
        options, runs, data = self._options, self._progress.finished, self._rows.data
        best = best_run(runs)
        run = runs[best]
        closing = self._best
        if closing is None or closing.run != best:  # it ended before a checkpoint
            step = self._step(run.matrix, None, options.metric)
            closing = _Closing(best, step, self._residuals(step.sums, run.matrix))
        step, squares = closing.step, closing.squares
        if squares is None:
            squares = self._squares(step.labels, len(run.matrix))
        within = exact_within(squares, closing.residuals)
        unit = 1 << step.sums.weight_shift
        sizes = tuple(Fraction(weight, unit) for weight in step.sums.weights)
        return KMeansFit(
            labels=copied(step.labels),
            matrix=run.matrix,
            sizes=sizes,
            within=tuple(map(rounded, within)),
            exact_within=within,
            rss=run.rss,
            mean_square=mean_square(run.exact_rss, sizes),
            cosine=run.cosine,
            iterations=run.iterations,
            stopped=run.stopped,
            best=best,
            runs=runs,
            k=options.k,
            metric=options.metric,
            start=options.start,
            seed=options.seed,
            restarts=options.restarts,
            empty=options.empty,
            tolerance=options.tolerance,
            limit=options.limit,
            trials=options.trials,
            n=data.n,
            d=data.d,
            features=data.features,
            fingerprint=self._fingerprint,
            provenance=whole_provenance(self._session, self._checkpoint),
        )
