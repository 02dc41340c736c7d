"""``refclust explain``: the derivation of a score or of a step, with the user's own numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from refclust.cli.options.complete import complete_metric
from refclust.cli.options.data import DataOptions
from refclust.cli.options.evidence import labelings as shared
from refclust.cli.options.evidence.options import READING, EvidenceOptions
from refclust.cli.options.explaining import ExplainedForm, Page
from refclust.cli.options.groups import together
from refclust.cli.output import json_text, note
from refclust.errors import BadOption

if TYPE_CHECKING:
    from refclust.metrics.score import Score

_TAKEN: Final = {
    "em": "--row, --format, --out and --backend",
    "kmeans": "--row, --start, --format and --out",
}


@together(Page, "page")
@together(DataOptions, "reading", leave_out=READING)
@together(EvidenceOptions, "evidence")
def explain(
    key: Annotated[
        str,
        typer.Argument(
            metavar="KEY",
            help="A metric such as nmi or nmi[average=min]; em or kmeans for an iteration.",
            autocompletion=complete_metric,
        ),
    ],
    profile: shared.Profile = None,
    backend: shared.BackendName = None,
    *,
    evidence: EvidenceOptions,
    reading: DataOptions,
    page: Page,
) -> None:
    """Explain a score: the evidence, the formula, every step with your numbers, the value.

    `em MODEL DATA` works one iteration of EM through instead: densities, responsibilities, the
    M-step, and what was gained. `kmeans MODEL DATA` does so for k-means: the draws of the start,
    distances, sums, new centres, RSS, and the labels that change.

    \b
    refclust explain nmi true.txt pred.txt
    refclust explain ari --table table.csv --format latex --out ari.tex
    refclust explain mcnemar true.txt a.txt b.txt
    refclust explain silhouette --data iris.csv --label-column species labels.txt
    refclust explain em iris.model.json iris.csv --row 17
    refclust explain kmeans flowers.model.json flowers.csv --start
    """
    page.check()
    if page.start and key != "kmeans":
        raise BadOption("--start belongs to explain kmeans")
    if key in _TAKEN:
        alone = replace(evidence, files=None) == EvidenceOptions() and reading == DataOptions()
        if not alone or len(evidence.files or []) > 2 or profile is not None:
            raise BadOption(f"explain {key} takes MODEL, DATA, {_TAKEN[key]}")
        page.write(_step(key, evidence.files or [], page, backend))
        return
    if page.row is not None:
        raise BadOption("--row belongs to explain em and kmeans: a score has no rows of its own")
    _explain_score(key, evidence, reading, page, profile=profile, backend=backend)


def _step(key: str, files: list[str], page: Page, backend: str | None) -> str:
    """Work a step of EM or of k-means through."""
    model, data = [*files, None, None][:2]
    if key == "em":
        from refclust.cli.commands.explain.em import explain_em

        return explain_em(model, data, row=page.row or 0, form=page.form, backend=backend)
    if backend is not None:
        raise BadOption("--backend: explain kmeans computes by the definitions, on no backend")
    from refclust.cli.commands.explain.kmeans import explain_kmeans

    return explain_kmeans(model, data, row=page.row or 0, first=page.start, form=page.form)


def _explain_score(
    key: str,
    evidence: EvidenceOptions,
    reading: DataOptions,
    page: Page,
    *,
    profile: str | None,
    backend: str | None,
) -> None:
    from refclust import metrics  # noqa: F401  (importing it fills the catalogue)
    from refclust.backends.session import Session
    from refclust.cli.options.evidence.cases import read_cases
    from refclust.cli.show.scores.rendering import backend_note
    from refclust.metrics import catalogue
    from refclust.metrics.score import evaluate

    entry, options = catalogue.parse_key(key)
    entry.checked(options)
    kind = evidence.kind([entry])
    session = Session(backend)
    cases = read_cases(kind, evidence, reading, session)
    if len(cases) > 1:
        raise BadOption(f"{len(cases)} cases; one score is explained at a time")
    score = evaluate(entry, cases[0].evidence, dict(options), profile=profile, session=session)
    page.write(_written(score, page.form))
    kernels = backend_note(session.provenance())
    if kernels:
        note(kernels)


def _written(score: Score, form: ExplainedForm) -> str:
    """The explanation of a score; that of a p-value says what it is not."""
    from refclust.cli.show.scores.rendering import P_VALUE, explanation_json, gives_p_value, wrapped

    explanation = score.explain()
    match form:
        case "json":
            return json_text(explanation_json(explanation), indent=2)
        case "text":
            text = explanation.text()
        case "markdown":
            text = explanation.markdown()
        case "latex":
            text = explanation.latex()
    return f"{text.rstrip()}\n\n{wrapped(P_VALUE)}" if gives_p_value(score) else text
