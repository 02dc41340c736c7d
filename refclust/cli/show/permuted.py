"""Whether clusterings agree with the truth better than permuted labels would (ST-LABELS)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from refclust.cli.output import say, say_data, say_json
from refclust.cli.show import tables
from refclust.cli.show.pieces import Piece, Title, Words, rendered
from refclust.cli.show.scores.rendering import plain_value, rounded, score_json
from refclust.cli.show.tables import Table, in_csv
from refclust.numbers.reading import written

if TYPE_CHECKING:
    from refclust.cli.options.evidence.cases import EvidenceCase
    from refclust.cli.options.scoring import Writing
    from refclust.metrics.sampled.permuted_labels import LabelTest

SCHEMA: Final = "refclust-permutation/1"
P_LABELS: Final = (
    "p is the chance of so good a value if labels were dealt to the objects at random. It is not "
    "the chance that the clustering is random, nor how good it is; a large p proves nothing."
)


@dataclass(frozen=True, slots=True)
class PermutedCase:
    """What permuting the labels of one clustering says, metric by metric."""

    name: str
    size: str
    tests: tuple[LabelTest, ...]

    @classmethod
    def of(
        cls, case: EvidenceCase, keys: Sequence[str], samples: int, seed: int, backend: str | None
    ) -> PermutedCase:
        """Test every metric on one clustering."""
        from refclust.metrics.sampled.permuted_labels import label_permutation

        tests = (
            label_permutation(key, case.evidence, samples=samples, seed=seed, backend=backend)
            for key in keys
        )
        return cls(case.name, case.evidence.size(), tuple(tests))


def show_permuted(cases: Sequence[PermutedCase], writing: Writing) -> None:
    """Write the tests in the form that was asked for."""
    match writing.chosen:
        case "json":
            say_json(_json(cases))
        case "csv":
            say_data(tables.csv(_table(cases, None, exact=True)))
        case "text" | "markdown" | "latex" as form:
            say(rendered(_pieces(cases, writing.digits_of(form)), form).rstrip("\n"))


def _pieces(cases: Sequence[PermutedCase], digits: int | None) -> Iterator[Piece]:
    yield Title(cases[0].size if len(cases) == 1 else f"{len(cases)} clusterings")
    yield _table(cases, digits, exact=False)
    if any(not test.certified for case in cases for test in case.tests):
        yield Words("Drawn tables estimate p; what was counted out is exact.")
    yield Words(P_LABELS)


def _table(cases: Sequence[PermutedCase], digits: int | None, *, exact: bool) -> Table:
    rows = [
        [
            case.name,
            test.observed.name,
            in_csv(test.observed) if exact else plain_value(test.observed, digits),
            repr(float(test.p)) if digits is None else rounded(float(test.p), digits),
            "counted" if test.certified else "drawn",
            str(test.tables),
        ]
        for case in cases
        for test in case.tests
    ]
    head = ["clustering", "metric", "value", "p", "tables", "number"]
    return Table(head, rows, words=frozenset((0, 1, 4)))


def _json(cases: Sequence[PermutedCase]) -> dict[str, Any]:
    from refclust.version import __version__

    return {
        "schema": SCHEMA,
        "refclust": __version__,
        "cases": [
            {
                "name": case.name,
                "tests": [
                    {
                        "score": score_json(test.observed),
                        "p": float(test.p),
                        "exact": written(test.p),
                        "certified": test.certified,
                        "bound": test.bound,
                        "tables": test.tables,
                        "seed": test.seed,
                    }
                    for test in case.tests
                ],
            }
            for case in cases
        ],
        "p_value": P_LABELS,
    }
