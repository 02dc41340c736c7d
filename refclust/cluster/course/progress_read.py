"""The progress of a k-means fit from a checkpoint, checked like foreign input (KM-CKPT).

A checksum guards against accidents only. What is read here could have been written by a fit of
these options on these rows, as far as that can be seen without making it again: every size,
number and counter is within what the fit allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from refclust.cluster.course.progress import Progress
from refclust.cluster.objective import rounded
from refclust.cluster.options import KMeansOptions
from refclust.cluster.results import Iteration, Run
from refclust.cluster.seeding import most_draws
from refclust.data.files.document import Node
from refclust.data.files.records import read


@dataclass(frozen=True, slots=True)
class ProgressReader:
    """What a fit of these options on n rows of d numbers may have come to."""

    options: KMeansOptions
    n: int
    d: int

    def __call__(self, node: Node) -> Progress:
        """The progress that a document tells of.

        Spec: KM-CKPT
        """
        options = self.options
        known = {name: getattr(options, name) for name in ("k", "limit", "empty", "metric")}
        most = options.restarts * most_draws(options, self.d)
        known |= {"n": self.n, "d": self.d, "draws allowed": most}
        progress = read(Progress, node, known)
        for place, run in enumerate(progress.finished):
            self._check_run(node.entry("finished").item(place), run)
        self._check_trace(node.entry("trace"), progress.trace, progress.done)
        self._check(node, progress)
        return progress

    def _check(self, node: Node, progress: Progress) -> None:
        """Refuse parts that contradict each other."""
        under_way = progress.centres is not None
        if len(progress.finished) + under_way > self.options.restarts:
            node.fail(f"more runs than the {self.options.restarts} that were asked for")
        if (progress.start is not None) != under_way or (progress.previous is not None) != (
            progress.done > 0
        ):
            node.fail("centres and iterations do not fit together")
        if not under_way and (
            progress.done or progress.trace or progress.emptied or progress.dropped
        ):
            node.fail("iterations of a run that has no centres")
        gone = sorted(set(progress.dropped))
        before = 0 if progress.previous is None else len(progress.previous)
        after = 0 if progress.centres is None else len(progress.centres)
        if list(progress.dropped) != gone or (gone and gone[-1] >= before):
            node.entry("dropped").fail("clusters that are not there, or out of order")
        if progress.previous is not None and before - len(gone) != after:
            node.fail(f"{after} centres after {before}, of which {len(gone)} were dropped")

    def _check_run(self, node: Node, run: Run) -> None:
        node.entry("cosine_terms").items(len(run.matrix) if self.options.metric == "cosine" else 0)
        if rounded(run.exact_rss) != run.rss:
            node.entry("rss").fail(f"{run.rss!r}; exact_rss is another number")
        self._check_trace(node.entry("trace"), run.trace, run.iterations)

    def _check_trace(self, node: Node, trace: Sequence[Iteration], made: int) -> None:
        """Refuse other iterations than were made, and other detail than was asked for."""
        detail = self.options.trace
        for due, (item, step) in enumerate(zip(node.items(), trace, strict=True), start=1):
            item.entry("iteration").whole(due, due)
            if step.rss is None:
                item.entry("rss").wrong("a finite number")
            if (step.centres is None) != (detail == "scalars"):
                item.entry("centres").wrong("what the options of the trace say")
            if (step.labels is None) != (detail != "full"):
                item.entry("labels").wrong("what the options of the trace say")
        if len(trace) != (made if detail != "none" else 0):
            node.fail(f"{len(trace)} iterations; {made} were made")
