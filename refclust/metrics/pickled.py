"""What a pickle holds of a score, and the score made of it again (chapter 00, CONV-SCORE).

The tree behind a score may hold open kernels, so a pickle has what it is worked out from: tables
as they are; of rows, which may be many, the number alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from refclust.backends.session import Provenance
from refclust.errors import Undecided
from refclust.formulas.clustered import Clustered
from refclust.formulas.evidence import Evidence, Grid, Kind
from refclust.metrics import catalogue
from refclust.metrics.score import Evaluation, Score
from refclust.numbers.real import Real, enclosed

Settled: TypeAlias = Fraction | tuple[str, str] | None
_DIGITS = 60  # of a number that is no fraction


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """Evidence of rows that a pickle did not take along: its kind and size are known."""

    kind: Kind
    total: int | Fraction
    words: str
    similarities: bool
    is_integer: bool
    is_empty: bool = False
    is_small: bool = False

    def grid(self) -> Grid | None:
        """There is no table."""
        return None

    def size(self) -> str:
        """How much there was, in words."""
        return self.words


def parts(score: Score) -> tuple[Any, ...]:
    """What ``restored`` makes the same score of.

    Spec: CONV-SCORE
    """
    origin = score.origin
    evidence: Evidence = origin.evidence
    exact: Settled = None
    if isinstance(evidence, Clustered):
        exact = _settled(origin.exact)
        evidence = LeftBehind(
            evidence.kind,
            evidence.total,
            evidence.size(),
            evidence.similarities,
            evidence.is_integer,
        )
    elif isinstance(evidence, LeftBehind):
        exact = _settled(origin.exact)
    facts = (origin.undefined, origin.certified, origin.bound, origin.profile)
    return (
        float(score),
        origin.entry.name,
        origin.options,
        evidence,
        exact,
        facts,
        origin.provenance,
    )


def restored(
    value: float,
    metric: str,
    options: dict[str, Any],
    evidence: Evidence,
    exact: Settled,
    facts: tuple[str | None, bool, float, str | None],
    provenance: Provenance,
) -> Score:
    """The score that a pickle holds.

    Spec: CONV-SCORE
    """
    number = None
    if isinstance(exact, tuple):
        low, high = map(Decimal, exact)
        number = enclosed(lambda _digits: (low, high))
    elif exact is not None:
        number = Real(exact)
    entry = catalogue.find(metric)
    return Score(value, Evaluation(entry, options, evidence, number, *facts, provenance))


def _settled(value: Real | None) -> Settled:
    """An exact number without what made it: a fraction, or decimals on both sides of it."""
    if value is None:
        return None
    fraction = value.fraction
    if fraction is not None:
        return fraction
    try:
        low, high = value.enclosure(_DIGITS)
    except Undecided:  # sums in doubles have few digits
        low, high = value.enclosure()
    return str(low), str(high)
