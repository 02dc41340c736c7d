"""``refclust explain``: the derivation of one score, with the user's own numbers."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from refclust.cli import inputs
from refclust.cli.complete import complete_metric
from refclust.cli.output import note, refuse_existing, write_file


def explain(
    key: Annotated[
        str,
        typer.Argument(
            metavar="KEY",
            help="A metric such as nmi or nmi[average=min].",
            autocompletion=complete_metric,
        ),
    ],
    true: inputs.TrueFile = None,
    pred: inputs.PredFile = None,
    table: inputs.Table = None,
    header: inputs.Header = False,
    column_true: inputs.ColumnTrue = None,
    column_pred: inputs.ColumnPred = None,
    delimiter: inputs.Delimiter = None,
    weights: inputs.Weights = None,
    noise: inputs.Noise = None,
    noise_policy: inputs.Policy = None,
    profile: inputs.Profile = None,
    backend: inputs.BackendName = None,
    form: Annotated[
        Literal["text", "markdown", "latex"], typer.Option("--format", help="How to write it.")
    ] = "text",
    out: Annotated[
        str, typer.Option(metavar="FILE", help="Where to write it; - is standard output.")
    ] = "-",
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")] = False,
) -> None:
    """Explain a score: the table, the formula, every step with your numbers, the value.

    \b
    refclust explain nmi true.txt pred.txt
    refclust explain ari --table table.csv --format latex --out ari.tex
    """
    given = inputs.Given(
        true=true,
        pred=pred,
        table=table,
        header=header,
        column_true=column_true,
        column_pred=column_pred,
        delimiter=delimiter,
        weights=weights,
        noise=noise,
        noise_policy=noise_policy,
    )
    from refclust import metrics  # noqa: F401  (importing it fills the catalogue)
    from refclust.backends.session import Session
    from refclust.cli.render import backend_note
    from refclust.metrics import catalogue
    from refclust.metrics.score import evaluate

    entry, options = catalogue.parse_key(key)
    entry.checked(options)
    refuse_existing(out, force=force)
    session = Session(backend)
    score = evaluate(entry, given.read(session), dict(options), profile=profile, session=session)
    explanation = score.explain()
    written = {
        "text": explanation.text,
        "markdown": explanation.markdown,
        "latex": explanation.latex,
    }[form]()
    write_file(out, written, force=force)
    if out != "-":
        note(f"wrote {out}")
    told = backend_note(session.provenance())
    if told:
        note(told)
