"""The progress of a fit of a mixture from a checkpoint, checked like foreign input (EM-CKPT).

A checksum guards against accidents only. Every size, number and counter is within what the options
of the fit allow; parameters are checked by their family as given ones are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from refclust.data.files.document import Node
from refclust.data.files.parts import Part
from refclust.data.files.records import read
from refclust.mixture.course.progress import Pending, Progress
from refclust.mixture.families.family import Densities, Family
from refclust.mixture.options import EMOptions
from refclust.mixture.results import Iteration, Run

P = TypeVar("P")
D = TypeVar("D", bound=Densities)
M = TypeVar("M")


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
        options = self.options
        # Random numbers: for every start, and for every pass of sampled steps.
        passes = (options.limit + 1) * options.samples if options.sampled else 0
        known = {
            "P": Part(lambda part, _: self._parameters(part), lambda _defs, _known: {}),
            "n": self.n,
            "k": options.k,
            "limit": options.limit,
            "draws allowed": options.restarts * ((passes + options.k) * self.n + options.k),
        }
        progress: Progress[P] = read(Progress, node, known)
        finished, pending = node.entry("finished"), node.entry("pending")
        if len(progress.finished) + (progress.pending is not None) > options.restarts:
            finished.fail(f"more runs than the {options.restarts} that were asked for")
        for item, run in zip(finished.items(), progress.finished, strict=True):
            self._check_run(item, run)
        if progress.pending is not None:
            self._check_pending(pending, progress.pending)
        return progress

    def _check_pending(self, node: Node, pending: Pending[P]) -> None:
        self._check_trace(node.entry("trace"), pending.trace)
        if len(pending.trace) != pending.done:
            trace = node.entry("trace")
            trace.fail(f"{len(pending.trace)} iterations; {pending.done} were made")

    def _check_run(self, node: Node, run: Run[P]) -> None:
        self._check_trace(node.entry("trace"), run.trace)
        weights: Any = next(iter(self.family.content(run.parameters).values()))
        node.entry("sizes").doubles(len(weights), 0)
        if len(run.trace) != run.iterations + 1:
            trace = node.entry("trace")
            trace.fail(f"{len(run.trace)} passes; {run.iterations} iterations were made")
        if run.stopped == "collapsed" and not run.events:
            node.entry("events").fail("nothing; the run ended because a component collapsed")

    def _check_trace(self, node: Node, trace: Sequence[Iteration[P]]) -> None:
        for due, (item, step) in enumerate(zip(node.items(), trace, strict=True)):
            item.entry("iteration").whole(due, due)
            if (step.parameters is not None) != (self.options.trace == "parameters"):
                item.entry("parameters").wrong("what the options of the trace say")

    def _parameters(self, node: Node) -> P:
        """Parameters of the family, in plain numbers, of as many components as there may be."""
        plain: dict[str, Any] = {}
        for key in node.mapping():
            items = node.entry(key).items()
            # A row of each component, or one number of each: shares, or what is believed of them.
            rows = bool(items) and isinstance(items[0].value, list)
            plain[key] = (
                tuple(item.doubles() for item in items) if rows else node.entry(key).doubles()
            )
        k, count = self.options.k, len(plain.get("weights") or plain.get("alpha") or ())
        if not (1 if self.options.collapse == "drop" else k) <= count <= k:
            node.fail(f"{count} components; {k} are due")
        parameters = self.family.read(plain)
        node.members(*self.family.content(parameters))
        return parameters
