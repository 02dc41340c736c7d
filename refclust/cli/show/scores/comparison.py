"""Classifiers compared pair by pair: tables for people, one object for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from refclust.cli.show import tables
from refclust.cli.show.pieces import Piece, Title, Words
from refclust.cli.show.scores.rendering import P_VALUE, plain_value, score_json, value_text
from refclust.cli.show.tables import Table, in_csv
from refclust.formulas.outcomes import Outcomes
from refclust.metrics.catalogue import find
from refclust.metrics.score import Score, evaluate

SCHEMA: Final = "refclust-compare/1"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two classifiers, and the p-values of their difference by name."""

    outcomes: Outcomes
    scores: dict[str, Score]

    @classmethod
    def of(cls, outcomes: Outcomes, drawing: dict[str, Any]) -> Pair:
        """Put two classifiers to every test."""
        tests: dict[str, dict[str, Any]] = {
            "exact": {"name": "mcnemar"},
            "mid-p": {"name": "mcnemar", "form": "midp"},
            "chi2": {"name": "mcnemar", "form": "chi2"},
            "permutation": {"name": "permutation", **drawing},
            "bootstrap": {"name": "bootstrap", **drawing},
        }
        scores = {
            label: evaluate(find(options.pop("name")), outcomes, options)
            for label, options in tests.items()
        }
        return cls(outcomes, scores)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Classifiers on one test set, pair by pair."""

    outcomes: Outcomes
    pairs: list[Pair]
    statistic: str

    @classmethod
    def of(cls, outcomes: Outcomes, drawing: dict[str, Any]) -> Comparison:
        """Put every pair of classifiers to every test."""
        places = combinations(range(len(outcomes.names)), 2)
        pairs = [Pair.of(_two(outcomes, i, j), drawing) for i, j in places]
        return cls(outcomes, pairs, drawing["statistic"])

    def adjusted(self) -> list[float]:
        """The exact p-values of all pairs by Holm's rule."""
        from refclust.formulas.significance import holm

        exact = [pair.scores["exact"].fraction for pair in self.pairs]
        return [float(p) for p in holm([p for p in exact if p is not None])]

    def cochran(self) -> Score:
        """Cochran's test of all classifiers together."""
        return evaluate(find("cochran"), self.outcomes, {})

    def table(self, shown: Callable[[Score], str]) -> Table:
        """The table of pairs."""
        from refclust.formulas.significance import mcnemar_table

        head = ["first", "second", "only first right", "only second right"]
        rows = []
        for pair, adjusted in zip(self.pairs, self.adjusted(), strict=True):
            _, b, c, _ = mcnemar_table(pair.outcomes)
            p_values = [shown(score) for score in pair.scores.values()]
            rows.append([*pair.outcomes.names, str(b), str(c), *p_values, repr(adjusted)])
        labels = [f"p {label}" for label in self.pairs[0].scores]
        return Table([*head, *labels, "p Holm"], rows, words=frozenset((0, 1)))

    def pieces(self, digits: int | None = None) -> Iterator[Piece]:
        """What is shown: who is right how often, every pair, what p means."""
        n, names = self.outcomes.total, self.outcomes.names
        yield Title(f"{len(names)} classifiers, {n} objects")
        yield Table(
            ["classifier", "right", "accuracy"],
            [
                [name, str(right), f"{float(right) / float(n):.6g}"]
                for name, right in zip(names, self.outcomes.rights, strict=True)
            ],
        )
        table = self.table(lambda score: plain_value(score, digits))
        for place, row in enumerate(table.rows):
            yield Title(f"{row[0]} against {row[1]}")
            yield Table(["quantity", "value"], list(zip(table.head[2:], row[2:], strict=True)))
            drawn = [
                f"{label} ± {score.bound:.2g}"
                for label, score in self.pairs[place].scores.items()
                if not score.certified and score.undefined is None
            ]
            if drawn:
                yield Words(f"Drawn, not counted out: {', '.join(drawn)} ({self.statistic}).")
        if len(names) > 2:
            yield Words(f"All together, Cochran's test: p = {value_text(self.cochran())}.")
        yield Words(P_VALUE)

    def csv(self) -> str:
        """The table of pairs as CSV."""
        return tables.csv(self.table(in_csv))

    def json(self) -> dict[str, Any]:
        """Everything a program may want to know."""
        from refclust.version import __version__

        names, rights = self.outcomes.names, self.outcomes.rights
        return {
            "schema": SCHEMA,
            "refclust": __version__,
            "n": int(self.outcomes.total),
            "classifiers": [
                {"name": name, "right": int(right)}
                for name, right in zip(names, rights, strict=True)
            ],
            "pairs": [
                {
                    "classifiers": list(pair.outcomes.names),
                    "tests": {label: score_json(score) for label, score in pair.scores.items()},
                    "holm": adjusted,
                }
                for pair, adjusted in zip(self.pairs, self.adjusted(), strict=True)
            ],
            "cochran": score_json(self.cochran()) if len(names) > 2 else None,
        }


def _two(outcomes: Outcomes, i: int, j: int) -> Outcomes:
    """Two of the classifiers."""
    cells: Counter[tuple[Hashable, tuple[Hashable, ...]]] = Counter()
    for (label, answers), count in outcomes.cells.items():
        cells[label, (answers[i], answers[j])] += count  # type: ignore[assignment]
    return Outcomes((outcomes.names[i], outcomes.names[j]), cells)
