"""``refclust compare``: is one classifier better than another? (chapter 53)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from refclust.cli.options.evidence.options import ColumnTrue, Delimiter, EvidenceOptions
from refclust.cli.options.groups import together
from refclust.cli.options.scoring import Writing
from refclust.cli.output import say, say_data, say_json
from refclust.errors import BadOption

if TYPE_CHECKING:
    from refclust.cli.show.scores.comparison import Comparison
    from refclust.cli.show.trials import TrialComparison


Answers: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TRUE A B [C …]",
        help="The true labels and what each classifier said, FILE or FILE:COLUMN.",
    ),
]
Trials: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--trials",
        metavar="FILE",
        help="Instead: what methods reached, a CSV file, a column per method, a row per trial.",
    ),
]
IdColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="C", help="Column of ids by which rows of files meet. [the column id, if any]"
    ),
]


@together(Writing, "writing", leave_out=("draw", "verbose"))
def compare(
    files: Answers = None,
    trials: Trials = None,
    alpha: Annotated[
        float, typer.Option(metavar="A", help="The level of the critical difference of --trials.")
    ] = 0.05,
    column_true: ColumnTrue = None,
    column_pred: Annotated[
        list[str] | None,
        typer.Option(metavar="C", help="A column with answers, of A or of TRUE; repeat it."),
    ] = None,
    delimiter: Delimiter = None,
    id_column: IdColumn = None,
    statistic: Annotated[
        Literal["accuracy", "macro_f1", "kappa"],
        typer.Option(help="What exchanging and drawing again compare."),
    ] = "accuracy",
    samples: Annotated[
        int, typer.Option(metavar="N", min=1, help="Draws, where counting out takes too long.")
    ] = 1999,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of these draws.")] = 0,
    *,
    writing: Writing,
) -> None:
    """Compare classifiers on one test set, or methods over several trials.

    Classifiers by McNemar's test, exchanges, bootstrap and Cochran's Q; methods by ranks (Friedman,
    Nemenyi with its critical difference, Wilcoxon with Holm) and by the paired t-test.

    \b
    refclust compare true.txt a.txt b.txt
    refclust compare answers.csv --column-true y --column-pred bayes --column-pred tree
    refclust compare true.txt a.txt b.txt c.txt --statistic macro_f1 --format latex
    refclust compare --trials accuracies.csv
    """
    from refclust import metrics  # noqa: F401  (importing it fills the catalogue)
    from refclust.cli.options.evidence.labelings import delimiter_sign
    from refclust.cli.show.pieces import rendered

    writing.check()
    comparison: Comparison | TrialComparison
    sign = delimiter_sign(delimiter)
    if trials is not None:
        if files or column_true or column_pred or id_column:
            raise BadOption("--trials FILE holds what methods reached: no labels go with it")
        comparison = _of_trials(trials, sign, alpha)
    else:
        named = EvidenceOptions(
            files=files, column_true=column_true, column_pred=column_pred, delimiter=sign
        )
        drawing = {"statistic": statistic, "samples": samples, "seed": seed}
        comparison = _of_answers(named, id_column, drawing)
    match writing.chosen:
        case "json":
            say_json(comparison.json())
        case "csv":
            say_data(comparison.csv())
        case "text" | "markdown" | "latex" as form:
            say(rendered(comparison.pieces(writing.digits_of(form)), form).rstrip("\n"))


def _of_answers(
    named: EvidenceOptions, id_column: str | None, drawing: dict[str, Any]
) -> Comparison:
    """Compare what classifiers said of the same objects."""
    from refclust.cli.options.evidence.answers import read_classifiers
    from refclust.cli.show.scores.comparison import Comparison

    if not named.files:
        raise BadOption("name the true labels and what classifiers said, or --trials FILE")
    if named.column_pred and not named.files[1:] and named.column_true is None:
        raise BadOption("--column-pred names columns of TRUE: give --column-true too")
    return Comparison.of(read_classifiers(named, id_column), drawing)


def _of_trials(trials: str, sign: str | None, alpha: float) -> TrialComparison:
    """Compare what methods reached in the same trials."""
    from refclust.cli.options.data import DataOptions
    from refclust.cli.options.evidence.answers import read_trials
    from refclust.cli.show.trials import TrialComparison

    named = EvidenceOptions(trials=trials, delimiter=sign)
    return TrialComparison.of(read_trials(named, DataOptions()), alpha)
