"""``refclust select``: how many components, and which covariance model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

import typer

from refclust.cli.commands.fit import files as fit_files
from refclust.cli.commands.fit import running as fit_run
from refclust.cli.options import data as dataio
from refclust.cli.options import fit as opt
from refclust.cli.options.labelings import BackendName, Json
from refclust.cli.output import columns, counted, say_json
from refclust.cli.show.spreadsheets import SpreadsheetSafe
from refclust.errors import BadOption
from refclust.escape import for_line

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
ModelName: TypeAlias = Literal["gaussian", "multinomial", "bernoulli", "kmeans"]
CriterionName: TypeAlias = Literal[
    "bic", "aic", "icl", "icl-soft", "cv", "evidence", "importance", "gap", "elbow"
]


@dataio.reads
def select(
    data: dataio.DataFile,
    k: Annotated[
        str,
        typer.Option("-k", "--k", metavar="K", help="Numbers to try: 1..10, or 2,3,5, or 4."),
    ] = "1..9",
    model: Annotated[
        ModelName, typer.Option("--model", help="Which kind of mixture, or k-means.")
    ] = "gaussian",
    covariance: Annotated[
        str,
        typer.Option(
            "--covariance",
            metavar="C",
            help="Covariance models to try: one, several with commas between, or all.",
        ),
    ] = "full",
    criterion: Annotated[
        CriterionName | None,
        typer.Option(
            "--criterion", help="What decides. [bic; for k-means gap]", show_default=False
        ),
    ] = None,
    folds: Annotated[
        int | None, typer.Option("--folds", metavar="F", help="Folds of --criterion cv. [10]")
    ] = None,
    references: Annotated[
        int | None,
        typer.Option("--references", metavar="B", help="Random sets of --criterion gap. [20]"),
    ] = None,
    seed: opt.Seed = 0,
    restarts: Annotated[
        int | None,
        typer.Option("--restarts", metavar="R", help="Runs of each fit. [5; for k-means 1]"),
    ] = None,
    floor: Annotated[
        float | None,
        typer.Option("--floor", metavar="F", help="A prior against collapse, for gaussian. [0]"),
    ] = None,
    m: Annotated[
        float | None,
        typer.Option("--m", metavar="M", help="Imagined observations of each component. [0]"),
    ] = None,
    counts: Annotated[
        Literal["whole", "fractional"] | None,
        typer.Option("--counts", help="Whether fractions such as tf-idf are allowed. [whole]"),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option("--tolerance", metavar="T", help="Stop when a row gains no more than this."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", help="The largest number of iterations of a run."),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--start", metavar="S", help="Where fits begin: kmeans, points, random, …"),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write the model chosen, as JSON."),
    ] = None,
    labels: opt.LabelsFile = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    force: opt.Force = False,
    backend: BackendName = None,
    as_json: Json = False,
    *,
    given: dataio.Given,
) -> None:
    """Fit many models, print what each costs, and mark the best.

    \b
    refclust select iris.csv --label-column label -k 1..5 --covariance all
    refclust select iris.csv --label-column label --criterion evidence
    refclust select texts/ --model multinomial -k 2..8 --m 1 --criterion cv --folds 5
    refclust select iris.csv --label-column label --model kmeans -k 1..8 --criterion gap
    """
    asked = numbers(k)
    outputs = fit_files.Outputs(out, labels, None, force, spreadsheet_safe)
    if out == "-":
        raise BadOption("--out needs a file; only --labels can go to standard output")
    if out is not None and criterion in ("evidence", "importance"):
        raise BadOption("beliefs about a mixture have no model file; --out goes with a likelihood")
    outputs.check(inputs=[data, given.stop_words], as_json=as_json)
    wanted: dict[str, Any] = {
        "folds": folds,
        "references": references,
        "floor": floor,
        "m": m,
        "counts": counts,
        "tolerance": tolerance,
        "limit": limit,
        "start": start,
        "restarts": restarts,
    }
    from refclust.mixture.choosing.selection import select as selected

    source = dataio.read(data, given)

    def fitted(live: fit_run.Live) -> Selection:
        def told(done: int, whole: int, name: str) -> None:
            live.where = f"after {done} of {whole} fits"
            live.tell(f"{done} of {whole} fits done, the last one {name}")

        return selected(
            source.data,
            k=asked,
            model=model,
            covariance=[one.strip() for one in covariance.split(",")],
            criterion=criterion,
            seed=seed,
            backend=backend,
            after_candidate=told,
            **{name: one for name, one in wanted.items() if one is not None},
        )

    found = fit_run.run(fitted, None)
    if found.fit is not None:
        fit_files.write(outputs, source, found.fit, found.fit.labels, None)
    if as_json:
        files = {"model": outputs.model, "labels": outputs.labels}
        say_json(
            {"schema": SCHEMA, "format": source.format, **selection_json(found), "files": files}
        )
    else:
        head = f"{counted(source.data.n, 'row')}, {counted(source.data.d, 'feature')}"
        lines = [f"{head}; {_what(found)}", "", *table(found), "", *verdict(found)]
        fit_files.tell(lines, [], outputs)


def numbers(text: str) -> list[int]:
    """Return the numbers that 1..10, 2,3,5 or 4 means.

    >>> numbers("1..3,7"), numbers(" 4 ")
    ([1, 2, 3, 7], [4])
    """
    found: list[int] = []
    for part in text.split(","):
        low, dots, high = (one.strip() for one in part.partition(".."))
        ends = (low, high) if dots else (low, low)
        if not all(one.isascii() and one.isdecimal() and len(one) <= 6 for one in ends):
            raise BadOption(f"-k {text}: give 1..10 for a range, 2,3,5 for some, or 4 for one")
        first, last = map(int, ends)
        if not 1 <= first <= last <= MOST_K:
            raise BadOption(f"-k {text}: whole numbers from 1 to {MOST_K}, the smaller first")
        found.extend(range(first, last + 1))
    return found


def table(found: Selection) -> list[str]:
    """Return the candidates as a table: one a line, or K down and covariance models across."""
    names = list(dict.fromkeys(one.covariance for one in found.candidates))
    return _square(found, names) if len(names) > 1 else _lines(found)


def verdict(found: Selection) -> list[str]:
    """Return which candidate is the best and why, and what went wrong with others."""
    lines = [f"* {found.best.name}: {found.why}"] if found.best else [found.why]
    wrong = [one for one in found.candidates if one.error is not None]
    for code in dict.fromkeys(one.error for one in wrong):
        alike = [one for one in wrong if one.error == code]
        of = alike[0].name if len(alike) == 1 else f"{alike[0].name} and {len(alike) - 1} more"
        why = for_line(str(alike[0].message))
        lines.append(f"- {of} could not be fitted: {why} [{code}]")
    for one in found.candidates:
        lines += [f"- {one.name} is in doubt: {for_line(reason)}" for reason in one.doubts]
    if found.left_out:
        lines.append(
            f"- {', '.join(found.left_out)} have no conjugate prior, so no evidence: left out"
        )
    return lines


def _what(found: Selection) -> str:
    kind = "k-means" if found.model == "kmeans" else f"{found.model} mixtures"
    return f"{kind} by {found.criterion}"


def _square(found: Selection, names: Sequence[str | None]) -> list[str]:
    from refclust.mixture.choosing.table import TITLES

    by_place = {(one.k, one.covariance): i for i, one in enumerate(found.candidates)}
    lines = [TITLES[found.criterion]]
    for begin in range(0, len(names), _ABREAST):
        some = names[begin : begin + _ABREAST]
        rows = [["K", *(f"{name} " for name in some)]]
        for k in dict.fromkeys(one.k for one in found.candidates):
            rows.append([str(k), *(_cell(found, by_place[k, name]) for name in some)])
        lines += columns(rows, right=frozenset(range(len(some) + 1)))
    return lines


def _cell(found: Selection, place: int) -> str:
    told = _value(found.candidates[place], found.criterion)
    return f"{told}{'*' if place == found.chosen else ' '}"


def _lines(found: Selection) -> list[str]:
    keys = list(dict.fromkeys(key for one in found.candidates for key in one.values))
    heads = [
        (title, name)
        for title, name in _FACTS.items()
        if any(getattr(one, name) is not None for one in found.candidates)
    ]
    rows = [["", "K", *(title for title, _ in heads), *keys]]
    for place, one in enumerate(found.candidates):
        facts = [_fact(getattr(one, name)) for _, name in heads]
        values = [_value(one, key) for key in keys]
        rows.append(["*" if place == found.chosen else "", str(one.k), *facts, *values])
    return columns(rows, right=frozenset(range(1, len(rows[0]))))


def _fact(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _value(one: Candidate, key: str) -> str:
    from refclust.mixture.choosing.table import shown

    if key not in one.values:
        return "-"
    return f"{one.values[key]:.6g}" if key == "rss" else shown(key, one.values[key])


def selection_json(found: Selection) -> dict[str, Any]:
    """Return all about a selection, for programs; what is infinite is told in words."""
    return {
        "model": found.model,
        "criterion": found.criterion,
        "chosen": found.chosen,
        "why": found.why,
        "candidates": [_candidate_json(one) for one in found.candidates],
        "left_out": list(found.left_out),
    }


def _candidate_json(one: Candidate) -> dict[str, Any]:
    return {
        "k": one.k,
        "covariance": one.covariance,
        "log_likelihood": one.log_likelihood,
        "free_parameters": one.free_parameters,
        "iterations": one.iterations,
        "in_use": one.used,
        "values": {key: _number(x) for key, x in one.values.items()},
        "doubts": list(one.doubts),
        "error": None if one.error is None else {"code": one.error, "message": one.message},
    }


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else "inf" if value > 0 else "-inf"
