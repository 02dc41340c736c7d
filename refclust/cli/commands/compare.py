"""``refclust compare``: is one classifier better than another? (chapter 53)."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from refclust.cli.options.evidence import ColumnTrue, Delimiter, EvidenceOptions
from refclust.cli.options.groups import together
from refclust.cli.options.scoring import Writing
from refclust.cli.output import say, say_data, say_json
from refclust.errors import BadOption


@together(Writing, "writing", leave_out=("draw", "verbose"))
def compare(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="TRUE A B [C …]",
            help="The true labels and what each classifier said, FILE or FILE:COLUMN.",
        ),
    ],
    column_true: ColumnTrue = None,
    column_pred: Annotated[
        list[str] | None,
        typer.Option(metavar="C", help="A column with answers, of A or of TRUE; repeat it."),
    ] = None,
    delimiter: Delimiter = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            metavar="C", help="Column of ids by which rows of files meet. [the column id, if any]"
        ),
    ] = None,
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
    """Compare classifiers on one test set: McNemar, exchanges, bootstrap, Cochran.

    \b
    refclust compare true.txt a.txt b.txt
    refclust compare answers.csv --column-true y --column-pred bayes --column-pred tree
    refclust compare true.txt a.txt b.txt c.txt --statistic macro_f1 --format latex
    """
    from refclust import metrics  # noqa: F401  (importing it fills the catalogue)
    from refclust.cli.options.answers import read_classifiers
    from refclust.cli.options.labelings import delimiter_sign
    from refclust.cli.show.comparison import Comparison
    from refclust.cli.show.worked import rendered

    writing.check()
    if column_pred and not files[1:] and column_true is None:
        raise BadOption("--column-pred names columns of TRUE: give --column-true too")
    named = EvidenceOptions(
        files=files,
        column_true=column_true,
        column_pred=column_pred,
        delimiter=delimiter_sign(delimiter),
    )
    drawing = {"statistic": statistic, "samples": samples, "seed": seed}
    comparison = Comparison.of(read_classifiers(named, id_column), drawing)
    match writing.chosen:
        case "json":
            say_json(comparison.json())
        case "csv":
            say_data(comparison.csv())
        case "text" | "markdown" | "latex" as form:
            say(rendered(comparison.pieces(writing.digits_of(form)), form).rstrip("\n"))
