"""``refclust compare``: is one classifier better than another? (chapter 53)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from refclust.cli.options import labelings as inputs
from refclust.cli.output import say, say_data, say_json
from refclust.errors import BadOption

if TYPE_CHECKING:
    from refclust.cli.show.worked import Piece
    from refclust.formulas.outcomes import Outcomes
    from refclust.metrics.score import Score

SCHEMA: Final = "refclust-compare/1"
WORDS: Final = (
    "p is the chance of a difference at least as large if both are equally good. It is not the "
    "chance that they are equally good, nor the size of the difference; a large p proves nothing."
)


def compare(
    true: Annotated[str, typer.Argument(metavar="TRUE", help="The true labels, or a CSV file.")],
    classifiers: Annotated[
        list[str] | None,
        typer.Argument(metavar="A B [C …]", help="What each classifier said, one file each."),
    ] = None,
    column_true: inputs.ColumnTrue = None,
    column_pred: Annotated[
        list[str] | None,
        typer.Option(
            "--column-pred", metavar="NAME", help="A column of TRUE with answers; repeat it."
        ),
    ] = None,
    delimiter: inputs.Delimiter = None,
    statistic: Annotated[
        Literal["accuracy", "macro_f1", "kappa"],
        typer.Option(help="What exchanging and drawing again compare."),
    ] = "accuracy",
    samples: Annotated[
        int, typer.Option(metavar="N", min=1, help="Draws, where counting out takes too long.")
    ] = 1999,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of these draws.")] = 0,
    form: Annotated[
        Literal["text", "markdown", "latex", "csv"],
        typer.Option("--format", help="How to write it."),
    ] = "text",
    as_json: inputs.Json = False,
) -> None:
    """Compare classifiers on one test set: McNemar, exchanges, bootstrap, Cochran.

    \b
    refclust compare true.txt a.txt b.txt
    refclust compare answers.csv --column-true y --column-pred bayes --column-pred tree
    refclust compare true.txt a.txt b.txt c.txt --statistic macro_f1 --format latex
    """
    from refclust.metrics.calls.classifiers import outcomes

    columns = column_pred or []
    names, truth, answers = _read(true, classifiers or [], column_true, columns, delimiter)
    pairs = [
        Pair.of(
            outcomes(truth, answers[i], answers[j], names=(names[i], names[j])),
            {"statistic": statistic, "samples": samples, "seed": seed},
        )
        for i, j in combinations(range(len(names)), 2)
    ]
    result = Comparison(outcomes(truth, *answers, names=names), pairs, statistic)
    if as_json:
        say_json(result.json())
    elif form == "csv":
        say_data(result.csv())
    else:
        from refclust.cli.commands.explain.model import rendered

        say(rendered(result.pieces(), form).rstrip("\n"))


def _read(
    true: str,
    files: Sequence[str],
    column_true: str | None,
    columns: Sequence[str],
    delimiter: str | None,
) -> tuple[list[str], list[str], list[list[str]]]:
    """The names of the classifiers, the truth and the answers."""
    from refclust.data.files.source import refuse_twice
    from refclust.data.labels import read_columns, read_labels, same_length

    sign = inputs.delimiter_sign(delimiter)
    if columns:
        if files or column_true is None:
            raise BadOption(
                "--column-pred names columns of TRUE: give --column-true too, and no other file"
            )
        truth, *answers = read_columns(true, [column_true, *columns], delimiter=sign)
        names = list(columns)
    else:
        refuse_twice([true, *files])
        truth = read_labels(true, column=column_true, delimiter=sign)
        answers = [read_labels(file, column=None, delimiter=sign) for file in files]
        names = list(files)
    if len(names) < 2:
        raise BadOption("name at least two classifiers: files A and B, or --column-pred twice")
    same_length([(true, truth), *zip(names, answers, strict=True)])
    return names, truth, answers


@dataclass(frozen=True, slots=True)
class Pair:
    """Two classifiers, and the p-values of their difference by name."""

    outcomes: Outcomes
    scores: dict[str, Score]

    @classmethod
    def of(cls, outcomes: Outcomes, drawing: dict[str, Any]) -> Pair:
        """Put two classifiers to every test."""
        from refclust import metrics  # noqa: F401  (importing it fills the catalogue)
        from refclust.metrics.catalogue import find
        from refclust.metrics.score import evaluate

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

    def adjusted(self) -> list[float]:
        """The exact p-values of all pairs by Holm's rule."""
        from refclust.formulas.significance import holm

        exact = [pair.scores["exact"].fraction for pair in self.pairs]
        return [float(p) for p in holm([p for p in exact if p is not None])]

    def cochran(self) -> Score:
        """Cochran's test of all classifiers together."""
        from refclust.metrics.catalogue import find
        from refclust.metrics.score import evaluate

        return evaluate(find("cochran"), self.outcomes, {})

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Head and rows of the table of pairs."""
        from refclust.cli.show.scores import value_text
        from refclust.formulas.significance import mcnemar_table

        head = ["first", "second", "only first right", "only second right"]
        rows = []
        for pair, adjusted in zip(self.pairs, self.adjusted(), strict=True):
            _, b, c, _ = mcnemar_table(pair.outcomes)
            p = [value_text(score) for score in pair.scores.values()]
            rows.append([*pair.outcomes.names, str(b), str(c), *p, repr(adjusted)])
        return [*head, *(f"p {label}" for label in self.pairs[0].scores), "p Holm"], rows

    def pieces(self) -> Iterator[Piece]:
        """What is shown: who is right how often, every pair, what p means."""
        from refclust.cli.show.scores import value_text
        from refclust.cli.show.worked import Table, Title, Words

        n, names = self.outcomes.total, self.outcomes.names
        yield Title(f"{len(names)} classifiers, {n} objects")
        yield Table(
            ["classifier", "right", "accuracy"],
            [
                [name, str(right), f"{float(right) / float(n):.6g}"]
                for name, right in zip(names, self.outcomes.rights, strict=True)
            ],
            words=frozenset((0,)),
        )
        head, rows = self.table()
        for place, row in enumerate(rows):
            yield Title(f"{row[0]} against {row[1]}")
            yield Table(
                ["quantity", "value"],
                [[name, cell] for name, cell in zip(head[2:], row[2:], strict=True)],
                words=frozenset((0,)),
            )
            drawn = [
                f"{label} ± {score.bound:.2g}"
                for label, score in self.pairs[place].scores.items()
                if not score.certified and score.undefined is None
            ]
            if drawn:
                yield Words(f"Drawn, not counted out: {', '.join(drawn)} ({self.statistic}).")
        if len(names) > 2:
            yield Words(f"All together, Cochran's test: p = {value_text(self.cochran())}.")
        yield Words(WORDS)

    def csv(self) -> str:
        """The table of pairs as CSV."""
        import csv
        import io

        text = io.StringIO()
        head, rows = self.table()
        csv.writer(text, lineterminator="\n").writerows([head, *rows])
        return text.getvalue()

    def json(self) -> dict[str, Any]:
        """Everything a program may want to know."""
        from refclust.cli.show.scores import score_json
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
