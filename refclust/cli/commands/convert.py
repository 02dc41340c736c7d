"""``refclust convert``: data from one format to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from refclust.cli.options import data as dataio
from refclust.cli.options.complete import complete_written
from refclust.cli.options.evidence.labelings import Json
from refclust.cli.options.fit import Force
from refclust.cli.output import check_output, counted, note, say_bytes, say_json
from refclust.cli.show.spreadsheets import SpreadsheetSafe, refuse_other, table
from refclust.errors import BadOption
from refclust.escape import for_terminal

if TYPE_CHECKING:
    from refclust.data.dataset import Dataset
    from refclust.data.writers.writing import Writer

SCHEMA: Final = "refclust-convert/1"
_PARTS: Final = {
    "ids": "ids",
    "features": "names of features",
    "labels": "labels",
    "weights": "weights",
}


@dataio.reads
def convert(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="File or folder to read; - is standard input.")
    ],
    target: Annotated[
        str, typer.Argument(metavar="OUT", help="File to write; - is standard output.")
    ],
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="F",
            help="Format to write: csv, tsv, jsonl, npy, npz, svmlight, matrixmarket. [by name]",
            autocompletion=complete_written,
        ),
    ] = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    force: Force = False,
    as_json: Json = False,
    *,
    reading: dataio.DataOptions,
) -> None:
    """Convert data from one format to another; the doubles stay the same, bit for bit.

    \b
    refclust convert iris.csv iris.npz --label-column label
    refclust convert counts.svmlight counts.mtx.gz --base 0
    refclust convert texts/ counts.jsonl --min-df 2
    refclust convert table.tsv - --to csv
    """
    from refclust.data.writers import writing as writers

    writer = writers.choose(target, to)
    if target == dataio.STDIN and as_json:
        raise BadOption("--json and the data cannot share standard output; name a file")
    refuse_other(writer.name, safe=spreadsheet_safe)
    dataio.refuse_same([target], [source])
    check_output(target, force=force)
    read = dataio.read(source, reading)
    data = table(read.data, form=writer.name, safe=spreadsheet_safe)
    if target != dataio.STDIN:
        writers.write(target, data, format=to, force=force)
    else:
        _print(writer, data)
    held = writer.holds(data)
    lost = [part for part in _PARTS if getattr(data, part) is not None and part not in held]
    if as_json:
        _say_json(data, read.format, writer.name, lost, target)
    elif target != dataio.STDIN:
        shape = f"{counted(data.n, 'row')}, {counted(data.d, 'feature')}"
        note(f"wrote {for_terminal(target)}: {shape}, {read.format} to {writer.name}")
    if lost:
        parts = " and ".join(_PARTS[part] for part in lost)
        note(f"{writer.name} has no place for {parts}; they are left out")


def _say_json(data: Dataset, source_format: str, form: str, lost: list[str], target: str) -> None:
    say_json(
        {
            "schema": SCHEMA,
            "rows": data.n,
            "features": data.d,
            "from": source_format,
            "to": form,
            "lost": lost,
            "file": target,
        }
    )


def _print(writer: Writer, data: Dataset) -> None:
    if data.kind not in writer.kinds:
        raise BadOption(f"{writer.name} does not hold {data.kind} rows; jsonl does")
    text = writer.name not in ("npy", "npz")
    say_bytes(writer.chunks(data), what=writer.name, is_text=text)
