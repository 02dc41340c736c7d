"""The options of the EM loop, checked once, at the door (chapter 30)."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from typing import Any, Final, get_args

from refclust.errors import BadOption
from refclust.fitting.checks import named, runs, whole
from refclust.mixture.results import Detail, Policy, Start, Variation
from refclust.numbers.reading import shown
from refclust.numbers.sampling import stream

_SAMPLED: Final = ("stochastic", "monte-carlo")


@dataclass(frozen=True, slots=True)
class EMOptions:
    """Everything that decides a fit besides the rows, the family and given parameters."""

    k: int
    start: Start
    variation: Variation
    top: int
    samples: int
    damping: float
    seed: int
    restarts: int
    tolerance: float | None  # none: go on to the limit
    limit: int
    collapse: Policy
    trace: Detail

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        named("start", self.start, get_args(Start))
        named("variation", self.variation, get_args(Variation))
        named("collapse", self.collapse, get_args(Policy))
        named("trace", self.trace, get_args(Detail))
        stream(self.seed)
        runs("restarts", self.restarts)
        whole("limit", self.limit, 0)
        whole("top", self.top, 0)
        runs("samples", self.samples)
        if self.variation == "top" and not 1 <= self.top <= self.k:
            raise BadOption(f"top is {self.top}; from 1 to {self.k} components can be kept")
        if self.variation != "top" and self.top:
            raise BadOption(f"top belongs to the variation 'top', not to {self.variation!r}")
        if self.variation != "monte-carlo" and self.samples > 1:
            raise BadOption("several samples belong to the variation 'monte-carlo'")
        if not is_number(self.damping) or not 0 < self.damping <= 1:
            raise BadOption(f"damping is {shown(self.damping)}; above 0 and up to 1 is needed")
        if self.variation != "generalized" and self.damping != 1:
            raise BadOption("damping belongs to the variation 'generalized'")
        if self.tolerance is not None and not (is_number(self.tolerance) and self.tolerance >= 0):
            raise BadOption(
                f"the tolerance is {shown(self.tolerance)}; a number of at least 0 is needed"
            )
        if self.restarts > 1 and self.start in ("given", "labels") and not self.sampled:
            raise BadOption(
                f"{self.restarts} restarts from one given start would all be the same; 1 is enough"
            )

    @property
    def sampled(self) -> bool:
        """Whether the E-step draws components."""
        return self.variation in _SAMPLED

    @property
    def certified(self) -> bool:
        """Whether every iteration is judged: somebody watches, and something is promised."""
        return self.trace != "none" and not self.sampled

    def as_json(self) -> dict[str, Any]:
        """The options as plain values, in a fixed order."""
        return asdict(self)


def is_number(value: Any) -> bool:
    """Whether a value is a finite number, and no truth value."""
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return known and abs(value) <= sys.float_info.max  # exact for an int of any size
