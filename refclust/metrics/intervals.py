"""Intervals of a rate by name: what a share of successes says about its chance (chapter 54)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from refclust.errors import BadOption, EmptyInput, TooLarge, WrongCount
from refclust.formulas import intervals as room
from refclust.limits import within
from refclust.numbers.reading import exact_value, shown
from refclust.numbers.real import Rational, Real, real
from refclust.numbers.sampling import below, stream

__all__ = ["METHODS", "RateInterval", "rate_interval"]

LEVEL: Final = Fraction(19, 20)
MOST_JEFFREYS: Final = 1_000  # trials; the share of a beta law takes as many terms
MOST_RESAMPLED: Final = 2_000  # trials whose resampled law is written out

FORMULAS: Final[Mapping[str, Callable[[int, int, Rational], room.Ends]]] = {
    "wilson": room.wilson_interval,
    "wilson-corrected": room.wilson_corrected_interval,
    "wald": room.wald_interval,
    "agresti-coull": room.agresti_coull_interval,
    "clopper-pearson": room.clopper_pearson_interval,
    "jeffreys": room.jeffreys_interval,
}
METHODS: Final = (*FORMULAS, "bootstrap")


@dataclass(frozen=True, slots=True)
class RateInterval:
    """An interval for the chance of success; ``float(interval.low)`` is the nearest double."""

    low: Real
    high: Real
    level: Fraction
    method: str

    def __repr__(self) -> str:
        return (
            f"RateInterval({float(self.low)!r}, {float(self.high)!r}, "
            f"level={self.level}, method={self.method!r})"
        )


def rate_interval(
    successes: int,
    trials: int,
    *,
    level: Any = LEVEL,
    method: str = "wilson",
    samples: int | None = None,
    seed: int = 0,
) -> RateInterval:
    """Return an interval for the chance behind so many successes in so many trials.

    ``samples`` and ``seed`` are for ``method="bootstrap"``: without samples, all the ways to draw
    the trials again are counted.

    Spec: IV-WILSON, IV-WILSONCC, IV-WALD, IV-AGRESTI, IV-CLOPPER, IV-JEFFREYS, IV-BOOT

    >>> rate_interval(8, 10)
    RateInterval(0.4901624715366417, 0.9433178485456247, level=19/20, method='wilson')
    """
    share = _level(level)
    _counts(successes, trials)
    if method not in METHODS:
        raise BadOption(f"method={shown(method)}; allowed: {', '.join(METHODS)}")
    if method != "bootstrap":
        if samples is not None:
            raise BadOption(f"samples={shown(samples)} is for method='bootstrap', not {method!r}")
        if method == "jeffreys" and trials > MOST_JEFFREYS:
            raise TooLarge(
                f"{trials:,} trials; Jeffreys' interval is worked out up to {MOST_JEFFREYS:,}; "
                "clopper-pearson and wilson take any number"
            )
        return RateInterval(*FORMULAS[method](successes, trials, share), share, method)
    law = _law(successes, trials, samples, seed)
    low, high = room.percentile_interval(law, share)
    return RateInterval(real(low), real(high), share, method)


def _law(k: int, n: int, samples: int | None, seed: int) -> Mapping[Fraction, int]:
    if samples is None:
        if n > MOST_RESAMPLED:
            raise TooLarge(
                f"{n:,} trials have too many resampled rates to write out; give samples=9999"
            )
        return room.resampled_law(k, n)
    if type(samples) is not int or samples < 1:
        raise BadOption(f"samples={shown(samples)}: a whole number of at least 1 is needed")
    within("terms", samples * n, f"{samples:,} times {n:,} trials drawn again")
    rng = stream(seed)
    return Counter(Fraction(sum(below(rng, n) < k for _ in range(n)), n) for _ in range(samples))


def _level(level: Any) -> Fraction:
    share = exact_value(level, "the level")
    if share is None or not 0 < share < 1:
        raise BadOption(f"level={shown(level)}; a number between 0 and 1 is needed, such as '0.95'")
    return share


def _counts(successes: Any, trials: Any) -> None:
    for name, count in (("successes", successes), ("trials", trials)):
        if type(count) is not int or count < 0:
            raise WrongCount(f"{name}={shown(count)}: a whole number of at least 0 is needed")
    if trials == 0:
        raise EmptyInput("there is no trial, so there is no rate")
    if successes > trials:
        raise WrongCount(f"{successes:,} successes in {trials:,} trials")
