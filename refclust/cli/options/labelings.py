"""The options that ``score`` and ``explain`` share, and how they become one contingency table."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from refclust.cli.options.complete import complete_backend, complete_profile
from refclust.cli.output import note
from refclust.errors import BadOption

if TYPE_CHECKING:
    from refclust.backends.session import Session
    from refclust.metrics.contingency import Contingency

NoisePolicy: TypeAlias = Literal["ordinary", "singletons", "ignore"]

TrueFile = Annotated[
    str | None,
    typer.Argument(metavar="[TRUE]", help="File of the true labels; - is standard input."),
]
PredFile = Annotated[
    str | None,
    typer.Argument(
        metavar="[PRED]", help="File of the predicted labels; left out: another column of TRUE."
    ),
]
Table = Annotated[
    str | None,
    typer.Option(
        "--table",
        metavar="FILE",
        help="A contingency table instead of labels: CSV, TSV or JSON, rows are clusters.",
    ),
]
Header = Annotated[
    bool, typer.Option("--header", help="The table's first row and first column are names.")
]
ColumnTrue = Annotated[
    str | None,
    typer.Option(metavar="C", help="Column of the true labels, by name or by number from 1."),
]
ColumnPred = Annotated[
    str | None, typer.Option(metavar="C", help="Column of the predicted labels.")
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        metavar="D", help="What separates columns: one character, or tab. [.csv: comma, .tsv: tab]"
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(metavar="FILE[:COLUMN]", help="One weight per object: 3, 0.25 or 1/3."),
]
Noise = Annotated[
    str | None, typer.Option(metavar="LABEL", help="The label that means: in no cluster.")
]
Policy = Annotated[
    NoisePolicy | None,
    typer.Option(help="What noise is: a group like any other, groups of one, or left out."),
]
Profile = Annotated[
    str | None,
    typer.Option(
        metavar="P",
        help="What another library would print: sklearn, genieclust, torchmetrics, …",
        autocompletion=complete_profile,
    ),
]
BackendName = Annotated[
    str | None,
    typer.Option(  # in the words of the core, which would take too long to import for a help
        "--backend",
        metavar="B",
        help="Who runs the kernels: auto, reference or a plugin. [$REFCLUST_BACKEND, else auto]",
        autocompletion=complete_backend,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")]


@dataclass(frozen=True, slots=True)
class Labelings:
    """What the user named as input, as typed."""

    true: str | None
    pred: str | None
    table: str | None = None
    header: bool = False
    column_true: str | None = None
    column_pred: str | None = None
    delimiter: str | None = None
    weights: str | None = None
    noise: str | None = None
    noise_policy: str | None = None

    def read(self, session: Session) -> Contingency:
        """Read the files and count the table."""
        named = replace(self, delimiter=delimiter_sign(self.delimiter))
        return _read_table(named) if named.table is not None else _read_labels(named, session)


def delimiter_sign(text: str | None) -> str | None:
    """The sign that a user named as delimiter."""
    if text is None:
        return None
    sign = {"tab": "\t", "\\t": "\t", "comma": ",", "space": " ", "semicolon": ";"}.get(text, text)
    if len(sign) != 1 or sign in '\r\n"':
        raise BadOption(f"--delimiter {text!r}: one character is needed, or the word tab")
    return sign


def _read_table(named: Labelings) -> Contingency:
    from refclust.data.tables import read_table
    from refclust.metrics.contingency import Contingency

    extra = {
        "TRUE": named.true,
        "PRED": named.pred,
        "--column-true": named.column_true,
        "--column-pred": named.column_pred,
        "--weights": named.weights,
        "--noise": named.noise,
        "--noise-policy": named.noise_policy,
    }
    spelled = [option for option, value in extra.items() if value is not None]
    if spelled:
        raise BadOption(f"--table replaces the labels, so {', '.join(spelled)} cannot go with it")
    assert named.table is not None
    file = read_table(named.table, header=named.header, delimiter=named.delimiter)
    table = Contingency.of_rows(file.rows)
    if file.clusters is None or file.classes is None:
        return table
    # Groups without an object are dropped on entry; the numbers say which are left.
    clusters = tuple(file.clusters[int(str(i))] for i in table.clusters)
    classes = tuple(file.classes[int(str(j))] for j in table.classes)
    return replace(table, clusters=clusters, classes=classes)


def _read_labels(named: Labelings, session: Session) -> Contingency:
    from refclust.data.labels import read_weights, same_length
    from refclust.metrics.contingency import NO_NOISE, contingency

    if named.header:
        raise BadOption("--header goes with --table; CSV and TSV files of labels always have one")
    true, pred = _sides(named)
    weights = None if named.weights is None else _weights_side(named.weights)
    _check_sources([side for side in (true, pred, weights) if side is not None], named)
    labels_true, labels_pred = _both(true, pred, named.delimiter)
    same_length([(true.shown, labels_true), (pred.shown, labels_pred)])
    _check_noise(named.noise, labels_true, labels_pred)
    counts = None
    if weights is not None:
        counts = read_weights(weights.file, column=weights.column, delimiter=named.delimiter)
        same_length([(true.shown, labels_true), (weights.shown, counts)])
    return contingency(
        labels_true,
        labels_pred,
        weights=counts,
        noise=NO_NOISE if named.noise is None else named.noise,
        noise_policy=named.noise_policy,
        session=session,
    )


@dataclass(frozen=True, slots=True)
class _Side:
    """One file with the column to read of it."""

    file: str
    column: str | None

    @property
    def shown(self) -> str:
        from refclust.data.files.textfile import display_name

        name = display_name(self.file)
        return name if self.column is None else f"{name} (column {self.column})"


def _sides(named: Labelings) -> tuple[_Side, _Side]:
    if named.true is None:
        raise BadOption("nothing to read: give the files TRUE and PRED, or --table FILE")
    if named.pred is not None:
        return _Side(named.true, named.column_true), _Side(named.pred, named.column_pred)
    if named.column_true is None or named.column_pred is None:
        raise BadOption(
            f"PRED is missing: give a second file, or two columns of {named.true} with "
            "--column-true and --column-pred"
        )
    return _Side(named.true, named.column_true), _Side(named.true, named.column_pred)


def _weights_side(text: str) -> _Side:
    """Split FILE:COLUMN, unless a file has the whole name."""
    file, colon, column = text.rpartition(":")
    if not colon or not file or not column or os.path.exists(text):
        return _Side(text, None)
    return _Side(file, column)


def _check_sources(sides: list[_Side], named: Labelings) -> None:
    from refclust.data.files.source import refuse_twice
    from refclust.data.labels import is_delimited

    files = [side.file for side in sides]
    if named.pred is None:
        files.remove(sides[1].file)  # one file, read once for both columns
    refuse_twice(files)
    if named.delimiter is not None and not any(
        is_delimited(side.file, column=side.column) for side in sides
    ):
        raise BadOption("--delimiter separates columns: name one, or give .csv or .tsv files")


def _check_noise(noise: str | None, *sides: list[str]) -> None:
    if noise is not None and not any(noise in labels for labels in sides):
        note(f"no label is {noise!r}, so nothing is noise")


def _both(true: _Side, pred: _Side, delimiter: str | None) -> tuple[list[str], list[str]]:
    from refclust.data.labels import read_columns, read_labels

    if true.file == pred.file and true.column is not None and pred.column is not None:
        first, second = read_columns(true.file, [true.column, pred.column], delimiter=delimiter)
        return first, second
    return (
        read_labels(true.file, column=true.column, delimiter=delimiter),
        read_labels(pred.file, column=pred.column, delimiter=delimiter),
    )
