"""``refclust select``: how many components, and which covariance model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from refclust.cli.commands.fit import files as fit_files
from refclust.cli.commands.fit import running as fit_run
from refclust.cli.options import data as dataio
from refclust.cli.options import fit as opt
from refclust.cli.options.groups import together
from refclust.cli.options.labelings import BackendName, Json
from refclust.cli.output import columns, counted, say_json
from refclust.cli.show.spreadsheets import SpreadsheetSafe
from refclust.errors import BadOption
from refclust.escape import for_line
from refclust.fitting.options import members
from refclust.mixture.choosing.options import SelectCall
from refclust.mixture.options import Climb

if TYPE_CHECKING:
    from refclust.mixture.choosing.table import Candidate, Selection

SCHEMA: Final = "refclust-selection/1"
MOST_K: Final = 10_000
_ABREAST: Final = 7  # covariance models in one line: half of them all
_FACTS: Final = {
    "log-likelihood": "log_likelihood",
    "free": "free_parameters",
    "in use": "used",
    "iterations": "iterations",
}


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
    refclust select iris.csv --label-column label --model kmeans -k 1..8 --criterion gap
    """
    asked = replace(call, k=numbers(k), covariance=[name.strip() for name in covariance.split(",")])
    outputs = fit_files.Outputs(files.out, files.labels, None, files.force, files.spreadsheet_safe)
    if files.out == "-":
        raise BadOption("--out needs a file; only --labels can go to standard output")
    outputs.check(inputs=[data, reading.stop_words], as_json=files.as_json)
    from refclust.mixture.choosing.selection import select as choose

    source = dataio.read(data, reading)

    def fitted(live: fit_run.Live) -> Selection:
        def watch(done: int, whole: int, name: str) -> None:
            live.where = f"after {done} of {whole} fits"
            live.tell(f"{done} of {whole} fits done, the last one {name}")

        return choose(
            **vars(replace(asked, data=source.data, backend=files.backend, after_candidate=watch))
        )

    chosen = fit_run.run(fitted, None)
    if chosen.fit is not None:
        fit_files.write(outputs, source, chosen.fit, chosen.fit.labels, None)
    if files.as_json:
        written = {"model": outputs.model, "labels": outputs.labels}
        say_json(
            {"schema": SCHEMA, "format": source.format, **selection_json(chosen), "files": written}
        )
    else:
        head = f"{counted(source.data.n, 'row')}, {counted(source.data.d, 'feature')}"
        lines = [f"{head}; {_what(chosen)}", "", *table(chosen), "", *verdict(chosen)]
        fit_files.tell(lines, [], outputs)


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


def table(selection: Selection) -> list[str]:
    """Return the candidates as a table: one a line, or K down and covariance models across."""
    names = list(dict.fromkeys(candidate.covariance for candidate in selection.candidates))
    return _square(selection, names) if len(names) > 1 else _lines(selection)


def verdict(selection: Selection) -> list[str]:
    """Return which candidate is the best and why, and what went wrong with others."""
    lines = [f"* {selection.best.name}: {selection.why}"] if selection.best else [selection.why]
    wrong = [candidate for candidate in selection.candidates if candidate.error is not None]
    for code in dict.fromkeys(candidate.error for candidate in wrong):
        alike = [candidate for candidate in wrong if candidate.error == code]
        of = alike[0].name if len(alike) == 1 else f"{alike[0].name} and {len(alike) - 1} more"
        why = for_line(str(alike[0].message))
        lines.append(f"- {of} could not be fitted: {why} [{code}]")
    for candidate in selection.candidates:
        lines += [
            f"- {candidate.name} is in doubt: {for_line(reason)}" for reason in candidate.doubts
        ]
    if selection.left_out:
        lines.append(
            f"- {', '.join(selection.left_out)} have no conjugate prior, so no evidence: left out"
        )
    return lines


def _what(selection: Selection) -> str:
    kind = "k-means" if selection.model == "kmeans" else f"{selection.model} mixtures"
    return f"{kind} by {selection.criterion}"


def _square(selection: Selection, names: Sequence[str | None]) -> list[str]:
    from refclust.mixture.choosing.table import TITLES

    by_place = {
        (candidate.k, candidate.covariance): i for i, candidate in enumerate(selection.candidates)
    }
    lines = [TITLES[selection.criterion]]
    for begin in range(0, len(names), _ABREAST):
        some = names[begin : begin + _ABREAST]
        rows = [["K", *(f"{name} " for name in some)]]
        for k in dict.fromkeys(candidate.k for candidate in selection.candidates):
            rows.append([str(k), *(_cell(selection, by_place[k, name]) for name in some)])
        lines += columns(rows, right=frozenset(range(len(some) + 1)))
    return lines


def _cell(selection: Selection, place: int) -> str:
    value = _value(selection.candidates[place], selection.criterion)
    return f"{value}{'*' if place == selection.chosen else ' '}"


def _lines(selection: Selection) -> list[str]:
    keys = list(
        dict.fromkeys(key for candidate in selection.candidates for key in candidate.values)
    )
    heads = [
        (title, name)
        for title, name in _FACTS.items()
        if any(getattr(candidate, name) is not None for candidate in selection.candidates)
    ]
    rows = [["", "K", *(title for title, _ in heads), *keys]]
    for place, candidate in enumerate(selection.candidates):
        facts = [_fact(getattr(candidate, name)) for _, name in heads]
        values = [_value(candidate, key) for key in keys]
        rows.append(["*" if place == selection.chosen else "", str(candidate.k), *facts, *values])
    return columns(rows, right=frozenset(range(1, len(rows[0]))))


def _fact(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _value(candidate: Candidate, key: str) -> str:
    from refclust.mixture.choosing.table import shown

    if key not in candidate.values:
        return "-"
    return f"{candidate.values[key]:.6g}" if key == "rss" else shown(key, candidate.values[key])


def selection_json(selection: Selection) -> dict[str, Any]:
    """Return all about a selection, for programs; what is infinite is told in words."""
    return {
        "model": selection.model,
        "criterion": selection.criterion,
        "chosen": selection.chosen,
        "why": selection.why,
        "candidates": [_candidate_json(candidate) for candidate in selection.candidates],
        "left_out": list(selection.left_out),
    }


def _candidate_json(candidate: Candidate) -> dict[str, Any]:
    return {
        "k": candidate.k,
        "covariance": candidate.covariance,
        "log_likelihood": candidate.log_likelihood,
        "free_parameters": candidate.free_parameters,
        "iterations": candidate.iterations,
        "in_use": candidate.used,
        "values": {key: _number(x) for key, x in candidate.values.items()},
        "doubts": list(candidate.doubts),
        "error": None
        if candidate.error is None
        else {"code": candidate.error, "message": candidate.message},
    }


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else "inf" if value > 0 else "-inf"
