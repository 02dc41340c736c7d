"""Choosing the number of clusters: several criteria side by side (KM-KSEL, chapter 34)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from refclust.backends.protocol import Problem
from refclust.backends.session import REFERENCE, Session
from refclust.data.dataset import Dataset
from refclust.errors import BadOption, DataError, Undecided
from refclust.fitting.rows import Rows
from refclust.formulas.clustered import Clustered
from refclust.metrics import catalogue
from refclust.metrics.calls.clusterings import clustered
from refclust.metrics.score import HEAVY_LIMIT, evaluate
from refclust.mixture.choosing import gap, stability
from refclust.mixture.choosing.options import SelectCall, Watcher
from refclust.mixture.choosing.partitions import ClusterCall, Outcome, Partition, partitions
from refclust.mixture.choosing.table import METRICS, Candidate, Selection, failed
from refclust.mixture.choosing.verdicts import Judgement, by_elbow, by_gap, by_value

USUAL: Final = (*METRICS, "gap", "stability")
_LEAST_FOR_ELBOW: Final = 3
_QUICK: Final = 1 << 30  # rows times rows times columns that a backend measures in a second or two


@dataclass(frozen=True, slots=True)
class Clustering:
    """A way to make clusters, with its options."""

    model: str
    call: ClusterCall

    @property
    def session(self) -> Session:
        """Where its kernels run."""
        assert self.call.session is not None
        return self.call.session


def select_clusters(
    clustering: Clustering,
    rows: Dataset,
    ks: Sequence[int],
    asked: Sequence[str],
    call: SelectCall,
    watch: Watcher,
) -> Selection:
    """Cluster rows for every K, and choose by each criterion; the first of them decides.

    Spec: KM-KSEL, MS-BEST, MS-GAP, MS-STAB, MS-ELBOW
    """
    most = HEAVY_LIMIT if asked else most_compared(rows, clustering.session)
    criteria, notes = (list(asked), ()) if asked else usual(rows.n, ks, most)
    if "gap" in criteria:
        gap.check_range(ks)
    if "elbow" in criteria and len(ks) < _LEAST_FOR_ELBOW:
        raise BadOption(f"an elbow needs at least three numbers of clusters; {len(ks)} were given")
    judge = _Judge(clustering, rows, ks, call, watch, criteria)
    judgements = [judge.judged(criterion) for criterion in criteria]
    candidates = [_candidate(k, each) for k, each in zip(ks, judge.outcomes, strict=True)]
    for judgement in judgements:
        candidates = [
            replace(candidate, values={**candidate.values, **more})
            for candidate, more in zip(candidates, judgement.values, strict=True)
        ]
    verdicts = tuple(judgement.verdict for judgement in judgements)
    decided = verdicts[0]
    chosen = None if decided.chosen is None else judge.outcomes[decided.chosen]
    fit = chosen.fit if isinstance(chosen, Partition) else None
    return Selection(
        clustering.model,
        decided.criterion,
        tuple(candidates),
        decided.chosen,
        decided.why,
        fit,
        verdicts=verdicts,
        notes=(*notes, *judge.notes),
    )


def most_compared(rows: Dataset, session: Session) -> int:
    """How many rows are compared with every other without being asked: more by a fast backend.

    Spec: KM-KSEL
    """
    quick = math.isqrt(_QUICK // max(rows.d, 1))
    if rows.n <= HEAVY_LIMIT or rows.n > quick:
        return HEAVY_LIMIT
    problem = Problem(rows.kind, rows.n, len(rows.matrix.values), rows.n)
    runs_on = session.runs_on("silhouette.distance_sums", problem, rows)
    return HEAVY_LIMIT if runs_on == REFERENCE else quick


def usual(n: int, ks: Sequence[int], most: int = HEAVY_LIMIT) -> tuple[list[str], tuple[str, ...]]:
    """The criteria for n rows if none is asked for, and why others are left out.

    Spec: KM-KSEL
    """
    left_out: dict[str, str] = {}
    if n > most:
        left_out["silhouette"] = (
            f"silhouette compares every row with every other, which is slow above {most:,} "
            "rows: left out unless it is asked for"
        )
    if not gap.is_range(ks):
        left_out["gap"] = "the gap needs two or more numbers of clusters without a hole: left out"
    return [name for name in USUAL if name not in left_out], tuple(left_out.values())


def _candidate(k: int, outcome: Outcome) -> Candidate:
    if isinstance(outcome, DataError):
        return failed(k, None, outcome)
    values = {"rss": float(outcome.rss)}
    return Candidate(k, iterations=outcome.iterations, limit=outcome.limit, values=values)


class _Judge:
    """The clusterings of all K, and what criteria say of them."""

    def __init__(
        self,
        clustering: Clustering,
        rows: Dataset,
        ks: Sequence[int],
        call: SelectCall,
        watch: Watcher,
        criteria: Sequence[str],
    ) -> None:
        self._clustering, self._rows, self._ks, self._call = clustering, rows, ks, call
        self._watch, self._done = watch, 0
        more = {"gap": call.references, "stability": call.pairs}
        self._steps = len(ks) + sum(more.get(criterion, 0) for criterion in criteria)
        self._known: dict[int, Clustered] = {}  # by outcomes, which live as long
        self.notes: list[str] = []
        self.outcomes: list[Outcome] = []
        for k, outcome in zip(ks, partitions(clustering.call, rows, ks), strict=True):
            self.outcomes.append(outcome)
            self._tell(f"K = {k}")
        if not any(isinstance(outcome, Partition) for outcome in self.outcomes):
            first = self.outcomes[0]
            assert isinstance(first, DataError)
            raise first

    def _tell(self, name: str) -> None:
        self._done += 1
        self._watch(self._done, self._steps, name)

    def judged(self, criterion: str) -> Judgement:
        """What a criterion says."""
        if criterion == "gap":
            return self._by_gap()
        if criterion == "elbow":
            return by_elbow(self._ks, self._rss())
        if criterion == "stability":
            return by_value("stability", self._ks, self._stabilities(), "higher")
        better = catalogue.find(criterion).better
        scores = [self._score(criterion, outcome) for outcome in self.outcomes]
        return by_value(criterion, self._ks, scores, better)

    def _rss(self) -> list[Fraction | None]:
        return [each.rss if isinstance(each, Partition) else None for each in self.outcomes]

    def _by_gap(self) -> Judgement:
        rows = Rows(self._rows, self._clustering.session)
        references, seed = self._call.references, self._call.seed
        logs: list[list[float]] = []
        for curve in gap.reference_curves(
            rows, self._ks, references, self._clustering.call, seed=seed
        ):
            logs.append(curve)
            self._tell(f"reference set {len(logs)}")
        return by_gap(self._ks, self._rss(), logs, self._call.gap_rule)

    def _stabilities(self) -> list[Fraction | None]:
        pairs = []
        for each in stability.paired(
            self._clustering.call, self._rows, self._ks, self._call.pairs, seed=self._call.seed
        ):
            pairs.append(each)
            self._tell(f"pair of samples {len(pairs)}")
        return [stability.stability(column, self._rows) for column in zip(*pairs, strict=True)]

    def _evidence(self, outcome: Partition) -> Clustered:
        """The clusters of one outcome: criteria share what is added up of them."""
        if id(outcome) not in self._known:
            session = self._clustering.session
            self._known[id(outcome)] = clustered(self._rows, list(outcome.labels), session=session)
        return self._known[id(outcome)]

    def _score(self, name: str, outcome: Outcome) -> float | None:
        """The value of an internal metric; none where it is undefined or cannot be computed."""
        if not isinstance(outcome, Partition):
            return None
        session = self._clustering.session
        try:
            score = evaluate(catalogue.find(name), self._evidence(outcome), {}, session=session)
        except (DataError, Undecided) as error:
            note = f"{name} could not be computed: {error} [{error.code}]"
            if note not in self.notes:
                self.notes.append(note)
            return None
        return None if math.isnan(score) else float(score)
