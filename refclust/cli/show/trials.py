"""Methods compared over several trials: ranks, Friedman, Nemenyi, and pair by pair (chapter 53)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, Final

from refclust.cli.show import tables
from refclust.cli.show.pieces import Piece, Title, Words
from refclust.cli.show.scores.rendering import P_VALUE, plain_value, score_json, value_text
from refclust.cli.show.tables import Table, in_csv
from refclust.formulas.outcomes import Measurements
from refclust.metrics.catalogue import find
from refclust.metrics.score import Score, evaluate

SCHEMA: Final = "refclust-trials/1"


@dataclass(frozen=True, slots=True)
class MethodPair:
    """Two methods, and the p-values of their difference by name."""

    names: tuple[str, str]
    gap: Fraction  # of the mean ranks
    scores: dict[str, Score]


@dataclass(frozen=True, slots=True)
class TrialComparison:
    """Methods over several trials, all together and pair by pair."""

    measurements: Measurements
    alpha: float
    ranks: tuple[Fraction, ...]
    together: dict[str, Score]
    pairs: list[MethodPair]

    @classmethod
    def of(cls, measurements: Measurements, alpha: float) -> TrialComparison:
        """Put the methods to every test."""
        from refclust.formulas.significance import mean_ranks

        ranks = tuple(map(Fraction, mean_ranks(measurements)))  # type: ignore[arg-type]
        together = {
            "Friedman": evaluate(find("friedman"), measurements, {}),
            "Iman and Davenport": evaluate(find("friedman"), measurements, {"form": "f"}),
            "critical difference": evaluate(
                find("critical_difference"), measurements, {"alpha": str(alpha)}
            ),
        }
        places = combinations(range(len(measurements.names)), 2)
        pairs = [_pair(measurements, ranks, i, j) for i, j in places]
        return cls(measurements, alpha, ranks, together, pairs)

    def adjusted(self) -> list[float | None]:
        """Wilcoxon's p-values of all pairs by Holm's rule; none where there is no p-value."""
        from refclust.formulas.significance import holm

        p = [pair.scores["Wilcoxon"].fraction for pair in self.pairs]
        kept = iter(holm([value for value in p if value is not None]))
        return [None if value is None else float(next(kept)) for value in p]

    def table(self, shown: Callable[[Score], str]) -> Table:
        """The table of pairs."""
        head = ["first", "second", "ranks apart", *(f"p {name}" for name in self.pairs[0].scores)]
        rows = [
            [
                *pair.names,
                f"{float(pair.gap):.6g}",
                *map(shown, pair.scores.values()),
                "undefined" if adjusted is None else repr(adjusted),
            ]
            for pair, adjusted in zip(self.pairs, self.adjusted(), strict=True)
        ]
        return Table([*head, "p Holm"], rows, words=frozenset((0, 1)))

    def pieces(self, digits: int | None = None) -> Iterator[Piece]:
        """What is shown: mean ranks, all methods together, every pair, what p means."""
        names, n = self.measurements.names, len(self.measurements.values)
        yield Title(f"{len(names)} methods, {n} trials")
        columns = zip(*self.measurements.values, strict=True)
        yield Table(
            ["method", "mean", "mean rank"],
            [
                [name, f"{float(sum(column) / n):.6g}", f"{float(rank):.6g}"]
                for name, column, rank in zip(names, columns, self.ranks, strict=True)
            ],
        )
        yield Words("Rank 1 has the least value.")
        told = {name: value_text(score, digits=digits) for name, score in self.together.items()}
        yield Words(
            f"All together: Friedman's test p = {told['Friedman']}, with Iman and Davenport's F "
            f"p = {told['Iman and Davenport']}. At the level {self.alpha:g} mean ranks differ "
            f"(Nemenyi) that are more than {told['critical difference']} apart."
        )
        yield self.table(lambda score: plain_value(score, digits))
        yield Words("Nemenyi's p allows for all pairs; p Holm is Wilcoxon's, adjusted for them.")
        yield Words(P_VALUE)

    def csv(self) -> str:
        """The table of pairs as CSV."""
        return tables.csv(self.table(in_csv))

    def json(self) -> dict[str, Any]:
        """Everything a program may want to know."""
        from refclust.version import __version__

        names = self.measurements.names
        return {
            "schema": SCHEMA,
            "refclust": __version__,
            "trials": len(self.measurements.values),
            "alpha": self.alpha,
            "methods": [
                {"name": name, "mean_rank": float(rank)}
                for name, rank in zip(names, self.ranks, strict=True)
            ],
            "friedman": score_json(self.together["Friedman"]),
            "iman_davenport": score_json(self.together["Iman and Davenport"]),
            "critical_difference": score_json(self.together["critical difference"]),
            "pairs": [
                {
                    "methods": list(pair.names),
                    "ranks_apart": float(pair.gap),
                    "tests": {name: score_json(score) for name, score in pair.scores.items()},
                    "holm": adjusted,
                }
                for pair, adjusted in zip(self.pairs, self.adjusted(), strict=True)
            ],
        }


def _pair(measurements: Measurements, ranks: tuple[Fraction, ...], i: int, j: int) -> MethodPair:
    """Two of the methods."""
    names = measurements.names[i], measurements.names[j]
    two = Measurements(names, tuple((row[i], row[j]) for row in measurements.values))
    tests = {
        "Nemenyi": evaluate(find("nemenyi"), measurements, {"first": i, "second": j}),
        "Wilcoxon": evaluate(find("wilcoxon"), two, {}),
    }
    if len(two.values) > 1:
        tests["t"] = evaluate(find("paired_t"), two, {})
    return MethodPair(names, abs(ranks[i] - ranks[j]), tests)
