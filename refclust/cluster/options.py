"""The options of k-means, checked once, at the door (chapter 10)."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final, get_args

from refclust.cluster.results import Detail, Metric, Policy, Start
from refclust.errors import BadOption, KOutOfRange
from refclust.limits import within
from refclust.numbers.reading import shown
from refclust.numbers.sampling import stream

_BITS: Final = 63  # of a whole number: what any backend can count


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


def clusters(k: Any, n: int) -> int:
    """The number of clusters, from 1 to the number of rows.

    Spec: KM-INIT

    >>> clusters(3, 10)
    3
    """
    if not isinstance(k, int) or isinstance(k, bool):
        raise BadOption(f"k is {shown(k)}; a whole number from 1 to {n} is needed")
    if not 1 <= k <= n:
        raise KOutOfRange(f"k is {shown(k)}; from 1 to {n} clusters can be made of {n} rows")
    return k


def named(option: str, value: Any, allowed: Iterable[str]) -> None:
    """Refuse a value that is not one of the names allowed."""
    names = list(allowed)
    if not isinstance(value, str) or value not in names:
        raise BadOption(f"{option} is {shown(value)}; allowed are {', '.join(names)}")


def whole(option: str, value: Any, least: int) -> None:
    """Refuse what is not a whole number of at least ``least``."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise BadOption(f"{option} is {shown(value)}; a whole number of at least {least} is needed")
    if value.bit_length() > _BITS:
        raise BadOption(f"{option} is above 2**{value.bit_length() - 1}; it goes up to 2**{_BITS}")


def runs(option: str, value: Any) -> None:
    """Refuse what is not a number of runs, or more of them than anybody waits for."""
    whole(option, value, 1)
    within("runs", value, f"{option}={shown(value)}")
