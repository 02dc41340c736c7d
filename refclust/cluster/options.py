"""The options of k-means, checked once, at the door (chapter 10)."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from typing import Any, get_args

from refclust.cluster.results import Detail, Metric, Policy, Start
from refclust.errors import BadOption
from refclust.fitting.checks import named, runs, whole
from refclust.numbers.reading import shown
from refclust.numbers.sampling import stream


@dataclass(frozen=True, slots=True)
class KMeansOptions:
    """Everything that decides a fit besides the rows and a given start."""

    k: int
    start: Start
    metric: Metric
    seed: int
    restarts: int
    trials: int | None
    empty: Policy
    tolerance: float | None
    limit: int
    trace: Detail

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        named("metric", self.metric, get_args(Metric))
        named("start", self.start, get_args(Start))
        named("empty", self.empty, get_args(Policy))
        named("trace", self.trace, get_args(Detail))
        stream(self.seed)
        runs("restarts", self.restarts)
        whole("limit", self.limit, 1)
        if self.trials is not None:
            runs("trials", self.trials)
            if self.start != "greedy":
                raise BadOption(f"trials belong to the start 'greedy', not to {self.start!r}")
        if self.tolerance is not None:
            tolerance: Any = self.tolerance  # whatever a caller without types gave
            number = isinstance(tolerance, int | float) and not isinstance(tolerance, bool)
            if not number or not 0 <= tolerance <= sys.float_info.max:
                raise BadOption(
                    f"the tolerance is {shown(tolerance)}; a number of at least 0 is needed"
                )
        if self.restarts > 1 and self.start in ("given", "labels"):
            raise BadOption(
                f"{self.restarts} restarts from one given start would all be the same; 1 is enough"
            )

    def as_json(self) -> dict[str, Any]:
        """The options as plain values, in a fixed order."""
        return asdict(self)
