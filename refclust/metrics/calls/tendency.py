"""Metrics of data without clusters, as calls on rows (CONV-EVIDENCE)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from refclust.backends.session import Session
from refclust.data.accepting.door import dataset
from refclust.data.accepting.spellings import spelled
from refclust.metrics import catalogue
from refclust.metrics.calls.clusterings import clustered
from refclust.metrics.catalogue import Entry, Formula
from refclust.metrics.score import Score, evaluate

__all__ = ["TendencyMetric", "tendency_scorer"]


@dataclass(frozen=True, slots=True)
class TendencyMetric:
    """A metric of rows alone: all of them count as one cluster."""

    entry: Entry

    @spelled
    def __call__(
        self,
        rows: Any,
        *,
        weights: Iterable[Any] | None = None,
        backend: str | None = None,
        **options: Any,
    ) -> Score:
        """Score rows."""
        session = Session(backend)
        data = dataset(rows)
        evidence = clustered(data, ["all"] * data.n, weights=weights, session=session)
        return evaluate(self.entry, evidence, options, session=session)

    def __repr__(self) -> str:
        return f"<refclust metric {self.entry.name}>"


def tendency_scorer(formula: Formula) -> TendencyMetric:
    """Return the metric of rows alone that a formula declares."""
    return TendencyMetric(catalogue.ENTRIES[formula.__name__])
