"""The progress of a k-means fit from a checkpoint, checked like foreign input (KM-CKPT).

A checksum guards against accidents only. What is read here could have been written by a fit of
these options on these rows, as far as that can be seen without making it again: every size,
number and counter is within what the fit allows.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Final, get_args

from refclust.cluster.objective import rounded
from refclust.cluster.options import KMeansOptions
from refclust.cluster.progress import Progress
from refclust.cluster.results import Centres, Emptied, Iteration, Policy, Reason, Run
from refclust.cluster.seeding import most_draws
from refclust.data.files.document import Node
from refclust.kernels.centres import CentreMatrix

_POLICIES: Final[tuple[Policy, ...]] = get_args(Policy)
_REASONS: Final[tuple[Reason, ...]] = get_args(Reason)


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
        finished, draws, done, start, previous, dropped, centres, emptied, trace = node.members(
            "finished",
            "draws",
            "done",
            "start",
            "previous",
            "dropped",
            "centres",
            "emptied",
            "trace",
        )
        options = self.options
        most = options.restarts * most_draws(options, self.d)
        found = Progress(
            finished=tuple(map(self._run, finished.items())),
            draws=draws.whole(0, most),
            done=done.whole(0, options.limit),
            start=start.maybe(self._matrix),
            previous=previous.maybe(self._matrix),
            dropped=tuple(dropped.wholes(None, 0, options.k - 1)),
            centres=centres.maybe(self._matrix),
            emptied=tuple(map(self._emptied, emptied.items())),
            trace=self._trace(trace),
        )
        self._check(node, found)
        return found

    def _check(self, node: Node, found: Progress) -> None:
        """Refuse parts that contradict each other."""
        under_way = found.centres is not None
        if len(found.finished) + under_way > self.options.restarts:
            node.fail(f"more runs than the {self.options.restarts} that were asked for")
        if (found.start is not None) != under_way or (found.previous is not None) != (
            found.done > 0
        ):
            node.fail("centres and iterations do not fit together")
        if not under_way and (found.done or found.trace or found.emptied or found.dropped):
            node.fail("iterations of a run that has no centres")
        if len(found.trace) != (found.done if self.options.trace != "none" else 0):
            node.entry("trace").fail(f"{len(found.trace)} iterations; {found.done} were made")
        gone = sorted(set(found.dropped))
        before = 0 if found.previous is None else len(found.previous)
        after = 0 if found.centres is None else len(found.centres)
        if list(found.dropped) != gone or (gone and gone[-1] >= before):
            node.entry("dropped").fail("clusters that are not there, or out of order")
        if found.previous is not None and before - len(gone) != after:
            node.fail(f"{after} centres after {before}, of which {len(gone)} were dropped")

    def _run(self, node: Node) -> Run:
        rss, exact, cosine, terms, iterations, stopped, centres, start, emptied, trace = (
            node.members(
                "rss",
                "exact_rss",
                "cosine",
                "cosine_terms",
                "iterations",
                "stopped",
                "centres",
                "start",
                "emptied",
                "trace",
            )
        )
        matrix = self._matrix(centres)
        directed = self.options.metric == "cosine"
        found = Run(
            rss=rss.double(0),
            exact_rss=exact.rational(),
            cosine=self._cosine(cosine),
            cosine_terms=tuple(
                term.rational(signed=True) for term in terms.items(len(matrix) if directed else 0)
            ),
            iterations=iterations.whole(0, self.options.limit),
            stopped=stopped.one_of(_REASONS),
            matrix=matrix,
            first=self._matrix(start),
            emptied=tuple(map(self._emptied, emptied.items())),
            trace=self._trace(trace),
        )
        if rounded(found.exact_rss) != found.rss:
            rss.fail(f"{found.rss!r}; exact_rss is another number")
        if len(found.trace) != (found.iterations if self.options.trace != "none" else 0):
            trace.fail(f"{len(found.trace)} iterations; {found.iterations} were made")
        return found

    def _matrix(self, node: Node) -> CentreMatrix:
        return CentreMatrix.of(self._centres(node))

    def _centres(self, node: Node) -> Centres:
        """Centres, fewer than were asked for if some could be dropped."""
        rows = node.items()
        k = self.options.k
        if not (1 if self.options.empty == "drop" else k) <= len(rows) <= k:
            node.fail(f"{len(rows)} centres; {k} are due")
        return tuple(row.doubles(self.d) for row in rows)

    def _trace(self, node: Node) -> tuple[Iteration, ...]:
        return tuple(self._iteration(one, at) for at, one in enumerate(node.items(), start=1))

    def _iteration(self, node: Node, due: int) -> Iteration:
        iteration, changed, rss, updated, cosine, centres, labels = node.members(
            "iteration", "changed", "rss", "rss_updated", "cosine", "centres", "labels"
        )
        detail = self.options.trace
        if (centres.value is None) != (detail == "scalars"):
            centres.wrong("what the options of the trace say")
        if (labels.value is None) != (detail != "full"):
            labels.wrong("what the options of the trace say")
        return Iteration(
            iteration=iteration.whole(due, due),
            changed=changed.whole(0, self.n),
            rss=rss.double(0),
            rss_updated=updated.maybe(lambda given: given.double(0)),
            cosine=self._cosine(cosine),
            centres=centres.maybe(self._centres),
            labels=labels.maybe(
                lambda given: array("i", given.wholes(self.n, 0, self.options.k - 1))
            ),
        )

    def _emptied(self, node: Node) -> Emptied:
        iteration, cluster, policy, row = node.members("iteration", "cluster", "policy", "row")
        return Emptied(
            iteration.whole(1, self.options.limit),
            cluster.whole(0, self.options.k - 1),
            policy.one_of(_POLICIES),
            row.maybe(lambda given: given.whole(0, self.n - 1)),
        )

    def _cosine(self, node: Node) -> float | None:
        if self.options.metric == "cosine":
            return node.double()
        if node.value is not None:
            node.wrong("null, under the Euclidean metric,")
        return None
