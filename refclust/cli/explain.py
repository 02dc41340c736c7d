"""``refclust explain``: the derivation of a score or of a step, with the user's own numbers."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from refclust.cli import inputs
from refclust.cli.complete import complete_metric
from refclust.cli.output import note, refuse_existing, write_file
from refclust.errors import BadOption


def explain(
    key: Annotated[
        str,
        typer.Argument(
            metavar="KEY",
            help="A metric such as nmi or nmi[average=min]; em for a step of EM.",
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
    row: Annotated[
        int | None,
        typer.Option("--row", metavar="I", help="Which row explain em follows, from 0. [0]"),
    ] = None,
    form: Annotated[
        Literal["text", "markdown", "latex"], typer.Option("--format", help="How to write it.")
    ] = "text",
    out: Annotated[
        str, typer.Option(metavar="FILE", help="Where to write it; - is standard output.")
    ] = "-",
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")] = False,
) -> None:
    """Explain a score: the table, the formula, every step with your numbers, the value.

    `em MODEL DATA` works one iteration of EM through instead: densities, responsibilities, the
    M-step, and what was gained.

    \b
    refclust explain nmi true.txt pred.txt
    refclust explain ari --table table.csv --format latex --out ari.tex
    refclust explain em iris.model.json iris.csv --row 17
    """
    refuse_existing(out, force=force)
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
    if key == "em":
        if given != inputs.Given(true=true, pred=pred) or profile is not None:
            raise BadOption("explain em takes MODEL, DATA, --row, --format, --out and --backend")
        from refclust.cli.explain_em import explain_em

        _write(explain_em(true, pred, row=row or 0, form=form, backend=backend), out, force=force)
        return
    if row is not None:
        raise BadOption("--row belongs to explain em: a score has no rows of its own")
    from refclust import metrics  # noqa: F401  (importing it fills the catalogue)
    from refclust.backends.session import Session
    from refclust.cli.render import backend_note
    from refclust.metrics import catalogue
    from refclust.metrics.score import evaluate

    entry, options = catalogue.parse_key(key)
    entry.checked(options)
    session = Session(backend)
    score = evaluate(entry, given.read(session), dict(options), profile=profile, session=session)
    explanation = score.explain()
    written = {
        "text": explanation.text,
        "markdown": explanation.markdown,
        "latex": explanation.latex,
    }[form]()
    _write(written, out, force=force)
    told = backend_note(session.provenance())
    if told:
        note(told)


def _write(written: str, out: str, *, force: bool) -> None:
    write_file(out, written, force=force)
    if out != "-":
        from refclust.escape import for_terminal

        note(f"wrote {for_terminal(out)}")
