"""Tables that may be opened in a spreadsheet: told of formulas in them, or without any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from refclust.cli.output import counted, note
from refclust.errors import BadOption

if TYPE_CHECKING:
    from refclust.data.dataset import Dataset

SpreadsheetSafe = Annotated[
    bool,
    typer.Option(
        "--spreadsheet-safe", help="Put ' before texts that a spreadsheet takes for formulas."
    ),
]
_TABLES: Final = ("csv", "tsv")


def refuse_other(form: str | None, *, safe: bool) -> None:
    """Refuse the option where no table is written.

    Spec: DATA-FORMULA
    """
    if safe and form not in _TABLES:
        raise BadOption("--spreadsheet-safe goes with data or labels written as csv or tsv")


def table(data: Dataset, *, form: str, safe: bool) -> Dataset:
    """A data set to be written: as it is, which is told if there are formulas, or harmless.

    Spec: DATA-FORMULA
    """
    from refclust.data.writers import spreadsheet

    if form not in _TABLES:
        return data
    formulas = spreadsheet.formulas(data.ids, data.features, data.labels)
    if safe and formulas:
        return spreadsheet.without_formulas(data)
    _tell(formulas)
    return data


def labelled(
    data: Dataset, labels: Sequence[Any], *, form: str, safe: bool
) -> tuple[Dataset, Sequence[Any]]:
    """Ids and labels to be written: as they are, which is told if there are formulas, or harmless.

    Spec: DATA-FORMULA
    """
    from refclust.data.writers import spreadsheet

    if form not in _TABLES:
        return data, labels
    formulas = spreadsheet.formulas(data.ids, labels)
    if safe and formulas:
        ids = None if data.ids is None else tuple(spreadsheet.harmless(data.ids))
        return replace(data, ids=ids), spreadsheet.harmless(labels)
    _tell(formulas)
    return data, labels


def _tell(formulas: int) -> None:
    if formulas:
        verb = "begins" if formulas == 1 else "begin"
        texts = f"{counted(formulas, 'text')} {verb} with =, +, - or @"
        note(f"{texts}: a spreadsheet would run formulas; --spreadsheet-safe puts ' before them")
