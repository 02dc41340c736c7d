"""The options that say what metrics are given, shared by ``score`` and ``explain``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

import typer

from refclust.cli.options.complete import complete_format
from refclust.errors import BadOption, WrongEvidence

if TYPE_CHECKING:
    from refclust.formulas.evidence import Kind
    from refclust.metrics.catalogue import Entry

NoisePolicy: TypeAlias = Literal["ordinary", "singletons", "ignore"]

# How evidence of each kind is given on the command line.
GIVEN_BY: Final[dict[Kind, str]] = {
    "labelings": "TRUE PRED, or --table FILE",
    "rows": "--data X LABELS",
    "proximities": "--data X LABELS, or --proximity FILE LABELS",
    "memberships": "--memberships FILE",
    "two_memberships": "--memberships A B",
    "confusion": "--classification TRUE PRED",
    "probabilities": "--proba FILE TRUE",
    "label_sets": "--label-sets TRUE PRED",
    "raters": "--raters FILE",
    "classifiers": "TRUE A B",
    "measurements": "--trials FILE",
}
READING: Final = ("format", "header", "delimiter")  # options for reading that are spelled here
KINDS: Final[dict[str, Kind]] = {  # options that say of which kind the evidence is
    "data": "rows",
    "proximity": "proximities",
    "classification": "confusion",
    "proba": "probabilities",
    "label_sets": "label_sets",
    "raters": "raters",
    "memberships": "memberships",
    "trials": "measurements",
}
# What else goes with each kind; --delimiter goes with all.
_LABELS: Final = frozenset(("files", "column_true", "column_pred", "weights"))
_CLUSTERS: Final = frozenset(("noise", "noise_policy"))
_ROWS: Final = _CLUSTERS | {"files", "column_pred", "weights", "header", "data_format"}
USED: Final[dict[Kind, frozenset[str]]] = {
    "labelings": _LABELS | _CLUSTERS | {"table", "header"},
    "rows": _ROWS | {"data"},
    "proximities": _ROWS | {"proximity", "similarities"},
    "confusion": _LABELS | {"classification", "table", "header", "classes", "positive", "costs"},
    "probabilities": frozenset(
        ("files", "column_true", "weights", "proba", "label_sets", "classes", "positive", "header")
    ),
    "label_sets": frozenset(("files", "weights", "label_sets", "classes")),
    "raters": frozenset(("raters", "counts", "weights", "classes", "header")),
    "memberships": frozenset(("memberships", "weights", "header")),
    "two_memberships": frozenset(("memberships", "files", "weights", "header")),
    "classifiers": _LABELS,
    "measurements": frozenset(("trials", "header")),
}
_PLAIN: Final[tuple[Kind, ...]] = ("labelings", "confusion", "classifiers")  # files of labels

ColumnTrue = Annotated[
    str | None,
    typer.Option(metavar="C", help="Column of the true labels, by name or by number from 1."),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        metavar="D",
        help="What separates columns: one character, or tab. [.csv: comma, .tsv: tab]",
    ),
]


@dataclass(frozen=True, slots=True)
class EvidenceOptions:
    """What the user named as evidence, as typed; every field is an option of its own."""

    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TRUE PRED …]",
            help="Files of labels, FILE or FILE:COLUMN: the truth and one or more predictions; "
            "with --data or --proximity one or more clusterings, or models that make them. "
            "- is standard input.",
        ),
    ] = None
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="X", help="Score clusters of these rows; - is stdin."),
    ] = None
    proximity: Annotated[
        str | None,
        typer.Option(
            "--proximity", metavar="FILE", help="Score clusters by this matrix of distances."
        ),
    ] = None
    similarities: Annotated[
        bool, typer.Option("--similarities", help="The matrix holds similarities, not distances.")
    ] = False
    classification: Annotated[
        bool,
        typer.Option("--classification", help="The labels are classes: score answers, not groups."),
    ] = False
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            metavar="FILE",
            help="A table of counts instead of labels: CSV, TSV or JSON, rows are clusters; with "
            "--classification rows are true classes.",
        ),
    ] = None
    proba: Annotated[
        list[str] | None,
        typer.Option(
            "--proba",
            metavar="FILE",
            help="Scores or probabilities: a CSV file, a column per class or one of the positive "
            "class, as `refclust predict --proba` writes them; with TRUE. May be repeated.",
        ),
    ] = None
    label_sets: Annotated[
        bool,
        typer.Option(
            "--label-sets",
            help="Every line of TRUE and PRED holds several labels: a,b or none. With --proba: of "
            "TRUE.",
        ),
    ] = False
    raters: Annotated[
        str | None,
        typer.Option(
            "--raters",
            metavar="FILE",
            help="Judgements: a CSV file, a column per rater; empty cells are missing.",
        ),
    ] = None
    counts: Annotated[
        bool, typer.Option("--counts", help="Columns of --raters are categories: how often said.")
    ] = False
    memberships: Annotated[
        str | None,
        typer.Option(
            "--memberships",
            metavar="FILE",
            help="Shares of objects in clusters: a CSV file, a column per cluster; with further "
            "such files, each of them is compared with it.",
        ),
    ] = None
    trials: Annotated[
        str | None,
        typer.Option(
            "--trials",
            metavar="FILE",
            help="What methods reached: a CSV file, a column per method, a row per trial.",
        ),
    ] = None
    classes: Annotated[
        str | None,
        typer.Option(
            "--classes", metavar="A,B,…", help="All classes or categories, in their order. [sorted]"
        ),
    ] = None
    positive: Annotated[
        str | None,
        typer.Option(metavar="CLASS", help="The class that binary metrics look at. [of 0/1: 1]"),
    ] = None
    costs: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="What mistakes cost: a table, rows are true classes."),
    ] = None
    column_true: ColumnTrue = None
    column_pred: Annotated[
        list[str] | None,
        typer.Option(metavar="C", help="Column of the predicted labels; may be repeated."),
    ] = None
    weights: Annotated[
        str | None,
        typer.Option(metavar="FILE[:COLUMN]", help="One weight per object: 3, 0.25 or 1/3."),
    ] = None
    noise: Annotated[
        str | None, typer.Option(metavar="LABEL", help="The label that means: in no cluster.")
    ] = None
    noise_policy: Annotated[
        NoisePolicy | None,
        typer.Option(help="What noise is: a group like any other, groups of one, or left out."),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header", help="Whether the first row (of a table: and column) is names."
        ),
    ] = None
    delimiter: Delimiter = None
    data_format: Annotated[
        str | None,
        typer.Option(
            "--data-format",
            metavar="F",
            help="Format of the data. [by name, else by content; `refclust formats` lists all]",
            autocompletion=complete_format,
        ),
    ] = None

    def said(self) -> Kind | None:
        """The kind of evidence that an option names, if one does."""
        named = [name for name in KINDS if getattr(self, name)]
        if named == ["proba", "label_sets"]:
            return "probabilities"
        if len(named) > 1:
            options = " and ".join(f"--{name.replace('_', '-')}" for name in named)
            raise BadOption(f"{options} are evidence of different kinds; give one")
        for option, value, home in (
            ("--counts", self.counts, "raters"),
            ("--similarities", self.similarities, "proximity"),
        ):
            if value and getattr(self, home) is None:
                raise BadOption(f"{option} says what --{home} FILE holds")
        if named == ["memberships"] and self.files:
            return "two_memberships"
        return KINDS[named[0]] if named else None

    def kind(self, entries: Sequence[Entry]) -> Kind:
        """The kind of evidence that was given, which every named metric must be able to use.

        Spec: CONV-EVIDENCE
        """
        from refclust.metrics.catalogue import NEEDS, USES

        kind = self.said()
        if kind is None:
            kind = entries[0].evidence if entries and self.table is None else "labelings"
            kind = kind if kind in _PLAIN else "labelings"
        for entry in entries:
            if kind not in USES[entry.evidence]:
                raise WrongEvidence(
                    f"{entry.name} needs {NEEDS[entry.evidence]}: give {GIVEN_BY[entry.evidence]}"
                )
        return kind


def kind_said(params: Mapping[str, object]) -> Kind | None:
    """The kind of evidence that a call which is not complete names, for completion."""
    return next((kind for name, kind in KINDS.items() if params.get(name)), None)
