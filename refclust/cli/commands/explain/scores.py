"""``refclust explain``: the derivation of a score or of a step, with the user's own numbers."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import typer

from refclust.cli.options import labelings as inputs
from refclust.cli.options.complete import complete_metric
from refclust.cli.output import check_output, note, write_file
from refclust.errors import BadOption

_TAKEN: Final = {
    "em": "--row, --format, --out and --backend",
    "kmeans": "--row, --start, --format and --out",
}


def explain(
    key: Annotated[
        str,
        typer.Argument(
            metavar="KEY",
            help="A metric such as nmi or nmi[average=min]; em or kmeans for an iteration.",
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
        typer.Option("--row", metavar="I", help="Which row em and kmeans follow, from 0. [0]"),
    ] = None,
    start: Annotated[
        bool,
        typer.Option("--start", help="kmeans: from the centres that the best run started with."),
    ] = False,
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
    M-step, and what was gained. `kmeans MODEL DATA` does so for k-means: the draws of the start,
    distances, sums, new centres, RSS, and the labels that change.

    \b
    refclust explain nmi true.txt pred.txt
    refclust explain ari --table table.csv --format latex --out ari.tex
    refclust explain em iris.model.json iris.csv --row 17
    refclust explain kmeans flowers.model.json flowers.csv --start
    """
    check_output(out, force=force)
    labelings = inputs.Labelings(
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
    if start and key != "kmeans":
        raise BadOption("--start belongs to explain kmeans")
    if key in ("em", "kmeans"):
        if labelings != inputs.Labelings(true=true, pred=pred) or profile is not None:
            raise BadOption(f"explain {key} takes MODEL, DATA, {_TAKEN[key]}")
        if key == "em":
            from refclust.cli.commands.explain.em import explain_em

            written = explain_em(true, pred, row=row or 0, form=form, backend=backend)
        else:
            if backend is not None:
                raise BadOption(
                    "--backend: explain kmeans computes by the definitions, on no backend"
                )
            from refclust.cli.commands.explain.kmeans import explain_kmeans

            written = explain_kmeans(true, pred, row=row or 0, first=start, form=form)
        _write(written, out, force=force)
        return
    if row is not None:
        raise BadOption("--row belongs to explain em and kmeans: a score has no rows of its own")
    from refclust import metrics  # noqa: F401  (importing it fills the catalogue)
    from refclust.backends.session import Session
    from refclust.cli.show.scores import backend_note
    from refclust.metrics import catalogue
    from refclust.metrics.score import evaluate

    entry, options = catalogue.parse_key(key)
    entry.checked(options)
    session = Session(backend)
    score = evaluate(
        entry, labelings.read(session), dict(options), profile=profile, session=session
    )
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
