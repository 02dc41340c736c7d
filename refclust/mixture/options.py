"""The options of mixtures and of their EM loop, each once (chapters 30 to 32 and 34).

A call is what the caller says; ``EMOptions`` are the options in force, as files keep them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias, get_args

from refclust.errors import BadOption
from refclust.fitting.checks import is_number as is_number
from refclust.fitting.checks import named, not_negative, runs, whole
from refclust.fitting.options import (
    LEFT_OPEN,
    LongCall,
    Option,
    Options,
    Restarts,
    Seed,
    unchecked,
)
from refclust.numbers.reading import shown

DrawnStart: TypeAlias = Literal["kmeans", "random", "points", "varied"]
Start: TypeAlias = Literal[DrawnStart, "labels", "given"]
Variation: TypeAlias = Literal["em", "hard", "top", "generalized", "stochastic", "monte-carlo"]
Policy: TypeAlias = Literal["end", "drop", "reset"]
Detail: TypeAlias = Literal["parameters", "scalars", "none"]
Counts: TypeAlias = Literal["whole", "fractional"]
Missing: TypeAlias = Literal["refuse", "integrate"]

_SAMPLED: Final = ("stochastic", "monte-carlo")
_LIMIT: Final = 1000
_SAMPLED_LIMIT: Final = 100
_SAMPLES: Final = 10
_DAMPING: Final = 0.5


def _share(option: str, value: Any) -> None:
    if not is_number(value) or not 0 < value <= 1:
        raise BadOption(f"{option} is {shown(value)}; above 0 and up to 1 is needed")


@dataclass(frozen=True, kw_only=True)
class Climb(Options):
    """What decides the runs of EM besides the rows, the family and where they start."""

    variation: Annotated[
        Variation, Option("Which EM; hard is classification EM.", "--variation")
    ] = "em"
    top: Annotated[
        int | None,
        Option(
            "Components a row keeps under the variation top.", "--top M", partial(whole, least=0)
        ),
    ] = None
    samples: Annotated[
        int | None, Option(f"Draws for each row of monte-carlo. [{_SAMPLES}]", "--samples S", runs)
    ] = None
    damping: Annotated[
        float | None,
        Option(f"Share of the way of generalized EM. [{_DAMPING}]", "--damping D", _share),
    ] = None
    seed: Seed = 0
    restarts: Restarts = 1
    tolerance: Annotated[
        float | None,
        Option(
            "Stop when the objective gains no more than this for each row.",
            "--tolerance T",
            not_negative,
        ),
    ] = 1e-8
    limit: Annotated[
        int | None,
        Option(
            "The largest number of iterations of a run. "
            f"[{_LIMIT}; {_SAMPLED_LIMIT} if components are drawn]",
            "--limit N",
            partial(whole, least=0),
        ),
    ] = None
    collapse: Annotated[
        Policy, Option("What becomes of a component that collapses.", "--collapse")
    ] = "end"
    trace: Annotated[Detail, Option("What is kept of every iteration.")] = "scalars"

    @property
    def sampled(self) -> bool:
        """Whether the E-step draws components."""
        return self.variation in _SAMPLED

    def settled(self, k: int, start: Start) -> EMOptions:
        """The options in force: what was left open is what is usual for the variation."""
        usual = {
            "top": 0,
            "samples": _SAMPLES if self.variation == "monte-carlo" else 1,
            "damping": _DAMPING if self.variation == "generalized" else 1.0,
            "limit": _SAMPLED_LIMIT if self.sampled else _LIMIT,
        }
        left_open = {name: x for name, x in usual.items() if getattr(self, name) is None}
        return self.become(EMOptions, k=k, start=start, **left_open)


_COMPONENTS: Final = Option("How many components.", "-k --components K")
_STARTS: Final = get_args(DrawnStart)
_START: Final = Option("Where to begin. [kmeans for numbers, points for counts]", "--start")


@dataclass(frozen=True, kw_only=True)
class EMOptions(Climb):
    """Everything that decides a fit besides the rows, the family and given parameters."""

    k: Annotated[int, _COMPONENTS]
    start: Annotated[Start, _START]
    top: int
    samples: int
    damping: float
    limit: int

    def check(self) -> None:
        """Refuse options that do not go together."""
        if self.variation == "top" and not 1 <= self.top <= self.k:
            raise BadOption(f"top is {self.top}; from 1 to {self.k} components can be kept")
        if self.variation != "top" and self.top:
            raise BadOption(f"top belongs to the variation 'top', not to {self.variation!r}")
        if self.variation != "monte-carlo" and self.samples > 1:
            raise BadOption("several samples belong to the variation 'monte-carlo'")
        if self.variation != "generalized" and self.damping != 1:
            raise BadOption("damping belongs to the variation 'generalized'")
        if self.restarts > 1 and self.start in ("given", "labels") and not self.sampled:
            raise BadOption(
                f"{self.restarts} restarts from one given start would all be the same; 1 is enough"
            )

    @property
    def certified(self) -> bool:
        """Whether every iteration is judged: somebody watches, and something is promised."""
        return self.trace != "none" and not self.sampled


@dataclass(frozen=True, kw_only=True)
class MixtureCall(Climb, LongCall):
    """What every mixture takes."""

    usual_start: ClassVar[DrawnStart] = "points"

    k: Annotated[int | None, _COMPONENTS] = field(default=None, kw_only=False)
    # Unless labels or parameters are given, one of the names: see below.
    start: Annotated[Any, replace(_START, check=unchecked, names=_STARTS, typed=str)] = LEFT_OPEN
    labels: Annotated[
        Iterable[Hashable] | None,
        Option(
            "Start from these groups, one label per row.",
            "--start-labels FILE[:COLUMN]",
            typed=str | None,
        ),
    ] = None
    parameters: Annotated[
        Any,
        Option("Start from the parameters of a model.", "--start-model MODEL", typed=str | None),
    ] = None

    def check(self) -> None:
        """Refuse a start that has no meaning."""
        drawn = self.parameters is None and self.labels is None
        start: Any = self.start  # whatever a caller without types gave
        if not isinstance(start, str) and hasattr(start, "__len__") and len(start):
            if not drawn:
                raise BadOption("a fit starts from responsibilities, labels or parameters: one")
        elif drawn and start is not LEFT_OPEN:
            named("start", start, (*_STARTS, "or a row of responsibilities for each row"))


@dataclass(frozen=True, kw_only=True)
class Floored(Options):
    """What families of numbers take against collapse."""

    floor: Annotated[
        float,
        Option(
            "A prior against collapse: this share of the variances joins every scatter.",
            "--floor F",
            not_negative,
        ),
    ] = 0.0


@dataclass(frozen=True, kw_only=True)
class Imagining(Options):
    """What families of counts take against words never seen."""

    m: Annotated[float, Option("Imagined observations of each component; 0 is none.", "--m M")] = (
        0.0
    )
    p: Annotated[
        Sequence[float] | None, Option("Of these, the share of each column. [all alike]", "--p")
    ] = None


Fractions: TypeAlias = Annotated[
    Counts, Option("Whether fractions such as tf-idf are allowed.", "--counts")
]


@dataclass(frozen=True, kw_only=True)
class Counting(Options):
    """Which counts a family of words takes."""

    counts: Fractions = "whole"


@dataclass(frozen=True, kw_only=True)
class Gapped(Options):
    """What families take that can do without a cell."""

    # On the command line it belongs to the options of reading.
    missing: Annotated[
        Missing, Option("Cells that are None or NaN: refuse them, or integrate over them.")
    ] = "refuse"


@dataclass(frozen=True, kw_only=True)
class GaussianCall(Floored, Gapped, MixtureCall):
    """What ``gaussian_mixture`` takes."""

    usual_start: ClassVar[DrawnStart] = "kmeans"

    covariance: Annotated[
        str,
        Option(
            "full, tied, diagonal, spherical, shared-spherical, or one of EII to VVV.",
            "--covariance C",
        ),
    ] = "full"


@dataclass(frozen=True, kw_only=True)
class MultinomialCall(Imagining, Counting, MixtureCall):
    """What ``multinomial_mixture`` takes."""


@dataclass(frozen=True, kw_only=True)
class BernoulliCall(Imagining, MixtureCall):
    """What ``bernoulli_mixture`` takes."""


@dataclass(frozen=True, kw_only=True)
class MeansCall(MixtureCall):
    """What mixtures of counts take that are given by means."""

    m: Annotated[float, Option("Imagined rows of each component; 0 is none.", "--m M")] = 0.0
    p: Annotated[
        Sequence[float] | None, Option("The means of imagined rows. [those of all rows]")
    ] = None


Shares: TypeAlias = Annotated[
    float | None, Option("The prior weight of each share; small ones empty components. [1/k]")
]


@dataclass(frozen=True, kw_only=True)
class NormalBelief(Options):
    """What is believed of normal densities before any row is seen."""

    alpha: Shares = None
    beta: Annotated[float, Option("How much the prior mean, that of the data, counts.")] = 1.0
    nu: Annotated[float | None, Option("Prior degrees of freedom, above d - 1. [d]")] = None


@dataclass(frozen=True, kw_only=True)
class WordBelief(Options):
    """What is believed of distributions of words before any row is seen."""

    alpha: Shares = None
    concentration: Annotated[float, Option("The prior weight of each word.")] = 1.0


@dataclass(frozen=True, kw_only=True)
class VariationalGaussianCall(NormalBelief, MixtureCall):
    """What ``variational_gaussian`` takes."""

    usual_start: ClassVar[DrawnStart] = "kmeans"

    covariance: Annotated[
        str, Option("A covariance model that has a conjugate prior: EII, VII, EEI, VVI, EEE, VVV.")
    ] = "full"


@dataclass(frozen=True, kw_only=True)
class VariationalMultinomialCall(WordBelief, Counting, MixtureCall):
    """What ``variational_multinomial`` takes."""


@dataclass(frozen=True, kw_only=True)
class VariationalBernoulliCall(WordBelief, MixtureCall):
    """What ``variational_bernoulli`` takes."""
