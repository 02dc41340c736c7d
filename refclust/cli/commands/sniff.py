"""``refclust sniff``: how a file would be read; ``refclust formats``: what can be read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from refclust.cli.options import data as dataio
from refclust.cli.options.evidence.labelings import Json
from refclust.cli.output import columns, counted, say, say_json
from refclust.data.files.source import keeping
from refclust.errors import RefclustError
from refclust.escape import for_line, for_terminal

if TYPE_CHECKING:
    from refclust.data.dataset import Dataset
    from refclust.data.preparing.reading import Prepared
    from refclust.data.readers.formats import Options, Plan

SCHEMA: Final = "refclust-sniff/1"
UNREADABLE: Final = 3
_ROWS = 5
_CELLS = 8


@dataio.reads
def sniff(
    file: Annotated[str, typer.Argument(metavar="FILE", help="File or folder to look at.")],
    as_json: Json = False,
    *,
    reading: dataio.DataOptions,
) -> None:
    """Tell how a file would be read, show its first rows, and say what is doubtful.

    The whole file is read, so the answer is certain: exit 0 if it can be read, 3 if not.

    \b
    refclust sniff iris.csv
    refclust sniff iris.csv --label-column label
    refclust sniff counts.txt.gz --format svmlight --base 0
    """
    from refclust.backends.plugins import formats
    from refclust.data.preparing.reading import read_prepared

    options = reading.options()
    plan: Plan | None = None
    data: Dataset | None = None
    trouble: RefclustError | None = None
    try:
        with keeping(file):
            reader = formats.choose(file, reading.format)
            plan = reader.plan(file, options)
            prepared = read_prepared(reader, file, options, reading.asked())
            data = prepared.data
            plan = _settled(plan, prepared, options)
    except RefclustError as error:
        if error.code in ("bad-option", "file-not-found", "backend-refused"):
            raise  # this says nothing about what is in the file
        trouble = error
        if plan is not None:
            # What the beginning seemed to say of a cell is now said by who read the columns.
            plan = replace(plan, notes=tuple(n for n in plan.notes if "is not a number" not in n))
    if as_json:
        _say_json(file, plan, data, trouble)
    else:
        _say_text(file, plan, data, trouble)
    if trouble is not None:
        raise typer.Exit(UNREADABLE)


def _settled(plan: Plan, prepared: Prepared, options: Options) -> Plan:
    """A plan judged by the beginning of a file, once all of it was read.

    What columns hold is certain now, and cells that are no features may hold what they like.
    """
    data = prepared.data
    done = "" if data.preparation is None else data.preparation.said()
    if not prepared.notes and prepared.options == options and not done:
        return plan
    from refclust.data.readers.cells import listed

    names = [data.feature_name(j) for j in range(data.d)]
    shown = f"{data.d}" + ("" if data.features is None else f": {listed(names)}")
    facts = [(name, shown if name == "features" else text) for name, text in plan.facts]
    if done:
        facts.append(("prepared", done))
    doubts = [note for note in plan.notes if "column" not in note and "maybe ids" not in note]
    return replace(plan, facts=tuple(facts), notes=(*prepared.notes, *doubts))


def formats(
    limits: Annotated[
        bool, typer.Option("--limits", help="The limits on what a file may ask for, instead.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the formats that can be read and written, those of plugins included.

    \b
    refclust formats
    refclust formats --json
    refclust formats --limits
    """
    if limits:
        _say_limits(as_json)
        return
    from refclust.backends.plugins.formats import known
    from refclust.data.writers.writing import WRITERS

    rows: list[dict[str, Any]] = [
        {
            "name": entry.name,
            "suffixes": [] if entry.reader is None else list(entry.reader.suffixes),
            "summary": "" if entry.reader is None else entry.reader.summary,
            "written": entry.reader is not None and entry.name in WRITERS,
            "distribution": entry.distribution,
            "version": entry.version,
            "state": entry.state,
            "reason": entry.reason,
        }
        for entry in known()
    ]
    if as_json:
        say_json({"schema": "refclust-formats/1", "formats": rows})
        return
    cells = [["format", "endings", "written", "what it is"]]
    for row in rows:
        about = row["summary"] if row["state"] == "ready" else f"{row['state']}: {row['reason']}"
        if row["distribution"] != "refclust":
            about += f" ({row['distribution']} {row['version']})"
        written = "yes" if row["written"] else "-"
        cells.append([row["name"], " ".join(row["suffixes"]) or "-", written, about])
    say("\n".join(columns(cells)))
    say("\n.gz is unpacked everywhere; - is standard input; `refclust sniff FILE` tries a file")


def _say_limits(as_json: bool) -> None:
    from refclust.limits import LIMITS, VARIABLE, limit

    if as_json:
        rows = [
            {
                "name": bound.name,
                "limit": limit(bound.name),
                "default": bound.default,
                "unit": bound.unit,
                "meaning": bound.meaning,
            }
            for bound in LIMITS.values()
        ]
        say_json({"schema": "refclust-limits/1", "limits": rows})
        return
    cells = [["limit", "in force", "unit", "of what"]]
    cells += [
        [bound.name, f"{limit(bound.name):,}", bound.unit, bound.meaning]
        for bound in LIMITS.values()
    ]
    say("\n".join(columns(cells)))
    say(f"\nrefclust --limit NAME=SIZE COMMAND … sets one (k, m, g and t count), {VARIABLE} too")


def _say_text(
    file: str, plan: Plan | None, data: Dataset | None, trouble: RefclustError | None
) -> None:
    from refclust.data.files.textfile import display_name

    lines = [for_line(display_name(file)), ""]
    facts: list[tuple[str, str]] = []
    if plan is not None:
        facts = [("format", f"{plan.format} ({plan.kind})"), *plan.facts]
    if data is not None:
        facts += _found(data)
    lines += columns([[name, text] for name, text in facts]) if facts else []
    if data is not None:
        lines += ["", f"the first {counted(min(data.n, _ROWS), 'row')}", *_preview(data)]
    for doubt in () if plan is None else plan.notes:
        # One doubt about a cell is enough: what reading says of it is said last.
        if doubt.partition(" is ")[0] != str(trouble).partition(" is ")[0]:
            lines += ["", f"note: {for_line(doubt)}"]
    if trouble is None:
        lines += ["", "it can be read"]
    else:
        lines += ["", f"it cannot be read: {for_line(str(trouble))} [{trouble.code}]"]
    say("\n".join(lines))


def _found(data: Dataset) -> list[tuple[str, str]]:
    size = f"{counted(data.n, 'row')}, {counted(data.d, 'feature')}, {data.kind}"
    facts = [("read", size)]
    if data.kind == "sparse":
        entries = len(data.matrix.values)
        share = f", {100 * entries / (data.n * data.d):.3g}% of the cells" if data.d else ""
        facts.append(("entries", f"{entries:,}{share}"))
    if data.labels is not None:
        classes = sorted({str(label) for label in data.labels})
        few = ", ".join(map(for_terminal, classes[:_ROWS]))
        shown = few + (", …" if len(classes) > _ROWS else "")
        facts.append(("classes", f"{len(classes)}: {shown}"))
    if data.weights is not None:
        facts.append(("weights", f"{min(data.weights):g} to {max(data.weights):g}"))
    return facts


def _preview(data: Dataset) -> list[str]:
    """The first rows as a table: some columns of dense rows, some entries of sparse ones."""
    beside = [("id", data.ids), ("label", data.labels)]
    head = [name for name, values in beside if values is not None]
    dense = data.kind == "dense"
    many = data.d > _CELLS
    if dense:
        listed = range(min(data.d, _CELLS))
        head += [for_terminal(data.feature_name(j)) for j in listed] + ["…"] * many
    else:
        head.append("entries")
    rows = [head]
    for i in range(min(data.n, _ROWS)):
        cells = [for_terminal(values[i]) for _, values in beside if values is not None]
        row = data.row(i)
        if isinstance(row, dict):
            few = [(for_terminal(data.feature_name(j)), x) for j, x in [*row.items()][:_CELLS]]
            more = " …" if len(row) > _CELLS else ""
            cells.append(" ".join(f"{name}:{x:g}" for name, x in few) + more)
        else:
            cells += [f"{x:g}" for x in row[:_CELLS]] + ["…"] * many
        rows.append(cells)
    return [f"  {line}" for line in columns(rows)]


def _say_json(
    file: str, plan: Plan | None, data: Dataset | None, trouble: RefclustError | None
) -> None:
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "file": file,
        "readable": trouble is None,
        "format": None if plan is None else plan.format,
        "kind": None if plan is None else plan.kind,
        "facts": {} if plan is None else dict(plan.facts),
        "notes": [] if plan is None else list(plan.notes),
        "rows": None if data is None else data.n,
        "features": None if data is None else data.d,
        "digest": None if data is None else data.digest(),
        "first": None if data is None else [_first(data, i) for i in range(min(data.n, _ROWS))],
        "error": None if trouble is None else {"code": trouble.code, "message": str(trouble)},
    }
    say_json(content)


def _first(data: Dataset, i: int) -> dict[str, Any]:
    row = data.row(i)
    shown: Any = list(row)
    if isinstance(row, dict):
        shown = {data.feature_name(j): value for j, value in row.items()}
    return {
        "id": data.row_name(i),
        "label": None if data.labels is None else str(data.labels[i]),
        "row": shown,
    }
