"""``refclust select``: how many components, and which covariance model."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from refclust.cli.commands.fit import files as fit_files
from refclust.cli.commands.fit import running as fit_run
from refclust.cli.options import data as dataio
from refclust.cli.options import fit as opt
from refclust.cli.options.groups import together
from refclust.cli.options.labelings import BackendName, Json
from refclust.cli.output import counted, say_json
from refclust.cli.show.selections import table, title, verdict
from refclust.cli.show.spreadsheets import SpreadsheetSafe
from refclust.errors import BadOption
from refclust.fitting.options import members
from refclust.mixture.choosing.options import SelectCall
from refclust.mixture.options import Climb

if TYPE_CHECKING:
    from refclust.mixture.choosing.table import Candidate, Selection
    from refclust.models.clusters import Cut

SCHEMA: Final = "refclust-selection/1"
MOST_K: Final = 10_000


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is written of the model chosen, and how it is told, as typed."""

    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write the model chosen, as JSON."),
    ] = None
    labels: opt.LabelsFile = None
    spreadsheet_safe: SpreadsheetSafe = False
    force: opt.Force = False
    backend: BackendName = None
    as_json: Json = False


# How EM climbs is the business of the fit of one model.
_LEFT_OUT: Final = {"p", *members(Climb)} - {"seed", "restarts", "tolerance", "limit"}


@dataio.reads
@together(Chosen, "files")
@together(SelectCall, "call", leave_out=_LEFT_OUT)
def select(
    data: dataio.DataFile,
    k: Annotated[
        str,
        typer.Option("-k", "--k", metavar="K", help="Numbers to try: 1..10, or 2,3,5, or 4."),
    ] = "1..9",
    covariance: Annotated[
        str,
        typer.Option(
            "--covariance",
            metavar="C",
            help="Covariance models to try: one, several with commas between, or all.",
        ),
    ] = "full",
    *,
    call: SelectCall,
    files: Chosen,
    reading: dataio.DataOptions,
) -> None:
    """Fit many models, print what each costs, and mark the best.

    \b
    refclust select iris.csv --label-column label -k 1..5 --covariance all
    refclust select iris.csv --label-column label --criterion evidence
    refclust select texts/ --model multinomial -k 2..8 --m 1 --criterion cv --folds 5
    refclust select iris.csv --label-column label --model kmeans -k 1..8
    refclust select iris.csv --label-column label --model agglomerative --criterion gap,stability
    """
    asked = replace(
        call,
        k=numbers(k),
        covariance=_names(covariance),
        criterion=_names(call.criterion) if isinstance(call.criterion, str) else None,
    )
    outputs = fit_files.Outputs(files.out, files.labels, None, files.force, files.spreadsheet_safe)
    if files.out == "-":
        raise BadOption("--out needs a file; only --labels can go to standard output")
    outputs.check(inputs=[data, reading.stop_words], as_json=files.as_json)
    from refclust.mixture.choosing.selection import select as choose

    normal = asked.model in ("gaussian", "variational-gaussian")
    source = dataio.read(data, reading, constants="drop" if normal else None)

    def fitted(live: fit_run.Live) -> Selection:
        def watch(done: int, whole: int, name: str) -> None:
            live.where = f"after {done} of {whole} fits"
            live.tell(f"{done} of {whole} fits done, the last one {name}")

        return choose(
            **vars(replace(asked, data=source.data, backend=files.backend, after_candidate=watch))
        )

    chosen = fit_run.run(fitted, None)
    if chosen.fit is not None:
        assert chosen.fit.labels is not None
        fit_files.write(outputs, source, chosen.fit, chosen.fit.labels, _cut(chosen))
    if files.as_json:
        written = {"model": outputs.model, "labels": outputs.labels}
        say_json(
            {"schema": SCHEMA, "format": source.format, **selection_json(chosen), "files": written}
        )
    else:
        head = f"{counted(source.data.n, 'row')}, {counted(source.data.d, 'feature')}"
        lines = [f"{head}; {title(chosen)}", "", *table(chosen), "", *verdict(chosen)]
        fit_files.tell(lines, [], outputs)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _cut(selection: Selection) -> Cut | None:
    """Where the tree chosen is cut, if it is one."""
    if selection.model != "agglomerative" or selection.best is None:
        return None
    from refclust.models.clusters import Cut

    return Cut(k=selection.best.k)


def numbers(text: str) -> list[int]:
    """Return the numbers that 1..10, 2,3,5 or 4 means.

    >>> numbers("1..3,7"), numbers(" 4 ")
    ([1, 2, 3, 7], [4])
    """
    listed: list[int] = []
    for part in text.split(","):
        low, dots, high = (piece.strip() for piece in part.partition(".."))
        ends = (low, high) if dots else (low, low)
        if not all(end.isascii() and end.isdecimal() and len(end) <= 6 for end in ends):
            raise BadOption(f"-k {text}: give 1..10 for a range, 2,3,5 for some, or 4 for one")
        first, last = map(int, ends)
        if not 1 <= first <= last <= MOST_K:
            raise BadOption(f"-k {text}: whole numbers from 1 to {MOST_K}, the smaller first")
        listed.extend(range(first, last + 1))
    return listed


def selection_json(selection: Selection) -> dict[str, Any]:
    """Return all about a selection, for programs; what is infinite is told in words."""
    return {
        "model": selection.model,
        "criterion": selection.criterion,
        "chosen": selection.chosen,
        "why": selection.why,
        "candidates": [_candidate_json(candidate) for candidate in selection.candidates],
        "left_out": list(selection.left_out),
        "verdicts": [
            {"criterion": verdict.criterion, "chosen": verdict.chosen, "why": verdict.why}
            for verdict in selection.verdicts
        ],
        "notes": list(selection.notes),
    }


def _candidate_json(candidate: Candidate) -> dict[str, Any]:
    return {
        "k": candidate.k,
        "covariance": candidate.covariance,
        "log_likelihood": candidate.log_likelihood,
        "free_parameters": candidate.free_parameters,
        "iterations": candidate.iterations,
        "limit_reached": candidate.limit,
        "in_use": candidate.used,
        "values": {key: _number(x) for key, x in candidate.values.items()},
        "doubts": list(candidate.doubts),
        "error": None
        if candidate.error is None
        else {"code": candidate.error, "message": candidate.message},
    }


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else "inf" if value > 0 else "-inf"
