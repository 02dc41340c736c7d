"""Is a clustering better than chance? Permuting labels, for any metric of two labelings (53).

Tables with the margins of the given one are counted out where they are few, and drawn from a seeded
stream otherwise; a p-value that is drawn says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import isnan, sqrt
from typing import Any, Final

from refclust.backends.session import Session
from refclust.errors import WeightsNotInteger, WrongEvidence
from refclust.formulas.contingency import Contingency
from refclust.formulas.matching import permuted
from refclust.metrics import catalogue
from refclust.metrics.adjusted.estimates import drawn_tables
from refclust.metrics.calls.labelings import table_of
from refclust.metrics.catalogue import Entry
from refclust.metrics.score import Score, evaluate
from refclust.numbers.real import real

__all__ = ["LabelTest", "label_permutation"]

MOST_TABLES: Final = 20_000  # tables that are counted out
MOST_GROUPS: Final = 60  # on a side; more have too many tables, or one
SAMPLES: Final = 999


@dataclass(frozen=True, slots=True)
class LabelTest:
    """How often permuted labels score as well; ``p`` is a fraction, drawn or counted."""

    p: Fraction
    observed: Score
    tables: int  # how many tables were looked at, the given one among them
    certified: bool  # whether all tables were counted out
    bound: float  # the standard error of a p that was drawn, else 0
    seed: int | None

    def __float__(self) -> float:
        return float(self.p)


def label_permutation(
    key: str,
    labels_true: Any,
    labels_pred: Any = None,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    backend: str | None = None,
    **keywords: Any,
) -> LabelTest:
    """Return the chance that permuted labels reach as good a value of a metric, by its key.

    ``better`` of the metric says what is good; where neither is, large values are taken as good.

    Spec: ST-LABELS, ST-MC

    >>> test = label_permutation("adjusted_rand", "aaabbb", "xxxyyy")
    >>> test.p, test.tables
    (Fraction(1, 10), 4)
    """
    session = Session(backend)
    entry, options = catalogue.parse_key(key)
    if entry.evidence != "labelings":
        raise WrongEvidence(f"{entry.name} compares no two labelings: there is nothing to permute")
    table = table_of(labels_true, labels_pred, session=session, **keywords)
    if not table.is_integer:
        raise WeightsNotInteger("labels of objects are permuted, so weights must be whole numbers")
    observed = evaluate(entry, table, dict(options), session=session)
    rank = _Rank(entry, options, observed, session)
    every = _every(table)
    if every is not None:
        extreme = sum((chance for each, chance in every if rank.is_extreme(each)), Fraction())
        return LabelTest(extreme, observed, len(every), True, 0.0, None)
    drawn = drawn_tables(table, samples=samples, seed=seed, what="a permutation test")
    count = sum(rank.is_extreme(Contingency.of_rows(rows)) for rows in drawn)
    p = Fraction(1 + count, 1 + samples)
    error = sqrt(float(p) * (1 - float(p)) / samples)
    return LabelTest(p, observed, 1 + samples, False, error, seed)


def _every(table: Contingency) -> list[tuple[Contingency, Fraction]] | None:
    """All tables with these margins and their chances, if they are few enough."""
    if max(len(table.row), len(table.col)) > MOST_GROUPS:
        return None
    first: Iterator[tuple[Contingency, Fraction]] = islice(permuted(table), MOST_TABLES + 1)
    tables = list(first)
    return tables if len(tables) <= MOST_TABLES else None


class _Rank:
    """Whether a table scores as well as the given one; equal values are found exactly."""

    def __init__(
        self, entry: Entry, options: dict[str, str], observed: Score, session: Session
    ) -> None:
        self.entry, self.options, self.observed, self.session = entry, options, observed, session
        self.direction = -1 if entry.better == "lower" else 1
        self.known: dict[tuple[tuple[object, ...], ...], bool] = {}

    def is_extreme(self, table: Contingency) -> bool:
        """Whether a table is at least as good; one without a value counts as such."""
        key = tuple(sorted(map(tuple, table.rows())))  # the order of clusters does not matter
        if key not in self.known:
            self.known[key] = self._compared(table)
        return self.known[key]

    def _compared(self, table: Contingency) -> bool:
        value = evaluate(self.entry, table, dict(self.options), session=self.session)
        if isnan(value) or isnan(self.observed):
            return True
        # Nearest doubles keep the order of exact numbers, so only equal ones need a second look.
        if float(value) != float(self.observed):
            return self.direction * (float(value) - float(self.observed)) > 0
        if value.exact is None or self.observed.exact is None:
            return True
        return self.direction * (real(value.exact) - self.observed.exact).sign() >= 0
