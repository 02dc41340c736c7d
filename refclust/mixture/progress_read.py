"""The progress of a fit of a mixture from a checkpoint, checked like foreign input (EM-CKPT).

A checksum guards against accidents only. Every size, number and counter is within what the options
of the fit allow; parameters are checked by their family as given ones are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar, get_args

from refclust.data.files.document import Node
from refclust.mixture.certificate import Ascent, Verdict
from refclust.mixture.families.family import Densities, Family
from refclust.mixture.options import EMOptions
from refclust.mixture.progress import Before, Pending, Progress
from refclust.mixture.results import Event, Iteration, Reason, Run

P = TypeVar("P")
D = TypeVar("D", bound=Densities)
M = TypeVar("M")

_VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)
_REASONS: Final[tuple[Reason, ...]] = get_args(Reason)
_ENDS: Final = ("ended", "dropped", "reset")
_INFINITE: Final = ("inf", "-inf")  # JSON has no infinities


@dataclass(frozen=True, slots=True)
class ProgressReader(Generic[P, D, M]):
    """What a fit of these options on n rows may have come to."""

    family: Family[P, D, M]
    options: EMOptions
    n: int

    def __call__(self, node: Node) -> Progress[P]:
        """The progress that a document tells of.

        Spec: EM-CKPT
        """
        finished, draws, pending = node.members("finished", "draws", "pending")
        runs = tuple(map(self._run, finished.items()))
        if len(runs) + (pending.value is not None) > self.options.restarts:
            finished.fail(f"more runs than the {self.options.restarts} that were asked for")
        return Progress(runs, self._draws(draws), pending.maybe(self._pending))

    def _draws(self, node: Node) -> int:
        """Random numbers: for every start, and for every pass of sampled steps."""
        options = self.options
        passes = (options.limit + 1) * options.samples if options.sampled else 0
        return node.whole(0, options.restarts * ((passes + options.k) * self.n + options.k))

    def _pending(self, node: Node) -> Pending[P]:
        start, parameters, draws, done, prior, before, best, events, ascents, trace = node.members(
            "start",
            "parameters",
            "draws",
            "done",
            "prior",
            "before",
            "best",
            "events",
            "ascents",
            "trace",
        )
        made = done.whole(0, self.options.limit)
        seen = self._trace(trace)
        if len(seen) != made:
            trace.fail(f"{len(seen)} iterations; {made} were made")
        return Pending(
            start=self._parameters(start),
            parameters=self._parameters(parameters),
            draws=self._draws(draws),
            done=made,
            prior=prior.maybe(_prior),
            before=before.maybe(_before),
            best=best.maybe(self._best),
            events=self._events(events),
            ascents=self._ascents(ascents),
            trace=seen,
        )

    def _best(self, node: Node) -> tuple[float, P]:
        objective, parameters = node.items(2)
        return _real(objective), self._parameters(parameters)

    def _run(self, node: Node) -> Run[P]:
        likelihood, objective, prior, entropy, iterations, stopped, *parts = node.members(
            "log_likelihood",
            "objective",
            "log_prior",
            "entropy",
            "iterations",
            "stopped",
            "parameters",
            "start",
            "sizes",
            "events",
            "ascents",
            "trace",
        )
        parameters, start, sizes, events, ascents, trace = parts
        found = Run(
            log_likelihood=_real(likelihood),
            objective=_real(objective),
            log_prior=_real(prior),
            entropy=_real(entropy),
            iterations=iterations.whole(0, self.options.limit),
            stopped=stopped.one_of(_REASONS),
            parameters=self._parameters(parameters),
            start=self._parameters(start),
            sizes=sizes.doubles(len(parameters.value["weights"]), 0),
            events=self._events(events),
            ascents=self._ascents(ascents),
            trace=self._trace(trace),
        )
        if len(found.trace) != found.iterations + 1:
            trace.fail(f"{len(found.trace)} passes; {found.iterations} iterations were made")
        if found.stopped == "collapsed" and not found.events:
            events.fail("nothing; the run ended because a component collapsed")
        return found

    def _parameters(self, node: Node) -> P:
        """Parameters of the family, in plain numbers, of as many components as there may be."""
        plain: dict[str, Any] = {}
        for key in node.mapping():
            entry = node.entry(key)
            plain[key] = (
                entry.doubles()
                if key == "weights"
                else tuple(item.doubles() for item in entry.items())
            )
        k, count = self.options.k, len(plain.get("weights", ()))
        if not (1 if self.options.collapse == "drop" else k) <= count <= k:
            node.fail(f"{count} components; {k} are due")
        found = self.family.read(plain)
        node.members(*self.family.told(found))
        return found

    def _trace(self, node: Node) -> tuple[Iteration[P], ...]:
        return tuple(self._iteration(one, at) for at, one in enumerate(node.items()))

    def _iteration(self, node: Node, due: int) -> Iteration[P]:
        iteration, likelihood, objective, gain, parameters = node.members(
            "iteration", "log_likelihood", "objective", "gain", "parameters"
        )
        if (parameters.value is not None) != (self.options.trace == "parameters"):
            parameters.wrong("what the options of the trace say")
        return Iteration(
            iteration.whole(due, due),
            _real(likelihood),
            _real(objective),
            gain.maybe(_real),
            parameters.maybe(self._parameters),
        )

    def _events(self, node: Node) -> tuple[Event, ...]:
        return tuple(map(self._event, node.items()))

    def _event(self, node: Node) -> Event:
        iteration, component, why, rows, done = node.members(
            "iteration", "component", "why", "rows", "done"
        )
        return Event(
            iteration.whole(0, self.options.limit + 1),
            component.maybe(lambda given: given.whole(0, self.options.k - 1)),
            why.text(),
            tuple(rows.wholes(None, 0, self.n - 1)),
            done.one_of(_ENDS),
        )

    def _ascents(self, node: Node) -> tuple[Ascent, ...]:
        return tuple(map(self._ascent, node.items()))

    def _ascent(self, node: Node) -> Ascent:
        iteration, before, bound, after, rounding, verdict = node.members(
            "iteration", "before", "bound", "after", "rounding", "verdict"
        )
        return Ascent(
            iteration.whole(0, self.options.limit),
            _real(before),
            _real(bound),
            _real(after),
            _real(rounding),
            verdict.one_of(_VERDICTS),
        )


def _prior(node: Node) -> tuple[float, float]:
    logarithm, rounding = node.items(2)
    return _real(logarithm), _real(rounding)


def _before(node: Node) -> Before:
    objective, bound, rounding = node.members("objective", "bound", "rounding")
    return Before(_real(objective), bound.maybe(_real), _real(rounding))


def _real(node: Node) -> float:
    """A number; infinities are words, since an objective is one where a prior excludes a start."""
    if type(node.value) is str and node.value in _INFINITE:
        return float(node.value)
    return node.double()
