"""Metrics as calls: what a user writes to score two labelings (chapter 00, CONV-SCORE)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from refclust.backends.session import Session
from refclust.data.accepting.spellings import spelled
from refclust.errors import BadOption
from refclust.metrics import catalogue
from refclust.metrics.catalogue import Entry, Formula
from refclust.metrics.contingency import NO_NOISE, Contingency, contingency
from refclust.metrics.drawn import Scores
from refclust.metrics.score import Score, evaluate, evaluate_all


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of two labelings, ready to be called on labels or on a table."""

    entry: Entry

    @spelled
    def __call__(
        self,
        labels_true: Any,
        labels_pred: Any = None,
        *,
        weights: Iterable[Any] | None = None,
        noise: Hashable = NO_NOISE,
        noise_policy: str | None = None,
        profile: str | None = None,
        backend: str | None = None,
        **options: Any,
    ) -> Score:
        """Score predicted labels against true ones, or a table of rows = clusters."""
        session = Session(backend)
        table = table_of(
            labels_true,
            labels_pred,
            weights=weights,
            noise=noise,
            noise_policy=noise_policy,
            session=session,
        )
        return evaluate(self.entry, table, options, profile=profile, session=session)

    def __repr__(self) -> str:
        return f"<refclust metric {self.entry.name}>"


def scorer(formula: Formula) -> Metric:
    """Return the metric that a formula declares."""
    return Metric(catalogue.ENTRIES[formula.__name__])


@spelled
def score(key: str, labels_true: Any, labels_pred: Any = None, **keywords: Any) -> Score:
    """Score with a metric given by its key, such as ``"nmi"`` or ``"nmi[average=min]"``.

    Spec: CONV-SCORE

    >>> score("wallace[given=classes]", [[2, 1], [0, 2]]).fraction
    Fraction(1, 2)
    """
    entry, options = catalogue.parse_key(key)
    return Metric(entry)(labels_true, labels_pred, **{**options, **keywords})


@spelled
def score_all(
    labels_true: Any,
    labels_pred: Any = None,
    *,
    profile: str | None = None,
    backend: str | None = None,
    heavy: bool | None = None,
    **keywords: Any,
) -> Scores:
    """Score with every metric at its default options, counting the labels only once.

    Metrics that enumerate tables are left out above ``HEAVY_LIMIT`` objects unless ``heavy`` says
    otherwise; metrics that a profile lacks, that need whole weights, that are too large to be
    worked out or beyond the doubles, are left out too.

    Spec: CONV-SCORE

    >>> score_all([[2, 1], [0, 2]])["rand"].fraction
    Fraction(3, 5)
    """
    session = Session(backend)
    table = table_of(labels_true, labels_pred, session=session, **keywords)
    return evaluate_all(table, profile=profile, heavy=heavy, session=session)


def table_of(labels_true: Any, labels_pred: Any = None, **keywords: Any) -> Contingency:
    """Return the table of two labelings, or of the rows given in their place."""
    if labels_pred is not None:
        return contingency(labels_true, labels_pred, **keywords)
    for name in ("weights", "noise", "noise_policy"):
        value = keywords.get(name)
        if value is not None and value is not NO_NOISE:
            raise BadOption(f"{name} goes with two labelings; a table has its weights in its cells")
    if isinstance(labels_true, Contingency):
        return labels_true
    return Contingency.of_rows(labels_true)
