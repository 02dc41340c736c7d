"""The silhouette of every object and of every cluster, in one call (chapter 46)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from refclust.backends.session import Session
from refclust.formulas.clustered import Clustered
from refclust.metrics import catalogue
from refclust.metrics.calls.clusterings import clustered
from refclust.metrics.score import Score, evaluate

__all__ = ["Silhouettes", "silhouettes"]


@dataclass(frozen=True, slots=True)
class Silhouettes:
    """Silhouettes by objects and by clusters, each a score that explains itself."""

    points: tuple[Score, ...]  # in the order of the rows; objects of weight 0 are left out
    clusters: dict[Hashable, Score]
    mean: Score

    def worst(self, count: int = 10) -> tuple[int, ...]:
        """The objects of the least silhouettes, the worst first: they may belong elsewhere."""
        return tuple(sorted(range(len(self.points)), key=lambda i: self.points[i])[:count])


def silhouettes(
    rows: Any = None,
    labels: Any = None,
    *,
    backend: str | None = None,
    **keywords: Any,
) -> Silhouettes:
    """Return the silhouette of every object, of every cluster, and their mean over objects.

    Takes what ``silhouette`` takes: rows or ``proximity=``, labels, ``weights=``, ``noise=``.

    Spec: INT-SIL, INT-SILK, INT-SILAVG

    >>> widths = silhouettes([[0], [1], [5]], ["a", "a", "b"])
    >>> [s.fraction for s in widths.points], widths.clusters["a"].fraction, widths.worst(1)
    ([Fraction(4, 5), Fraction(3, 4), Fraction(0, 1)], Fraction(31, 40), (2,))
    """
    session = Session(backend)
    evidence: Clustered = clustered(rows, labels, session=session, **keywords)
    entry = catalogue.find("silhouette")

    def score(**options: Any) -> Score:
        return evaluate(entry, evidence, options, session=session)

    return Silhouettes(
        tuple(score(point=i) for i in range(evidence.n)),
        {name: score(cluster=k) for k, name in enumerate(evidence.clusters)},
        score(),
    )
