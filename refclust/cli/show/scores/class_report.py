"""How well each class was predicted: a report for people, with the confusion table drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from refclust.cli.output import say, say_data
from refclust.cli.show import tables
from refclust.cli.show.scores.rendering import plain_value
from refclust.cli.show.scores.shading import drawn
from refclust.cli.show.tables import Table, in_csv
from refclust.escape import for_terminal
from refclust.metrics.calls.classes import ClassRow, Report, classification_report
from refclust.numbers.reading import told as number

if TYPE_CHECKING:
    from refclust.cli.options.scoring import Writing
    from refclust.formulas.confusion import Confusion
    from refclust.metrics.score import Score

RATES: Final = ("precision", "recall", "f1")
DECIMALS: Final = 4


@dataclass(frozen=True, slots=True)
class ReportView:
    """A report of classes as tables, lines and an object."""

    report: Report

    @classmethod
    def of(cls, confusion: Confusion, profile: str | None = None) -> ReportView:
        """Work out the report of a confusion table."""
        return cls(classification_report(confusion, profile=profile))

    @property
    def averages(self) -> list[ClassRow]:
        """The averages that are shown; micro is the accuracy, unless classes are not averaged."""
        confusion = self.report.confusion
        skipped = "micro" if confusion.named == len(confusion.labels) else None
        return [row for row in self.report.averages if row.name != skipped]

    def head(self, decimals: int) -> str:
        """How much there is, and how much of it is right."""
        right = f"{number(self.report.confusion.right)} of {number(self.report.confusion.total)}"
        rate = _rate(self.report.accuracy, decimals)
        return f"{self.report.confusion.size()}; accuracy {rate} ({right} right)"

    def table(self, decimals: int) -> Table:
        """Classes and averages by rates, for people."""
        lines = [(str(line.name), line) for line in self.report.classes]
        lines += [(f"{line.name} average", line) for line in self.averages]
        return Table(
            ["class", "precision", "recall", "F1", "support"],
            [
                [name, *(_rate(score, decimals) for score in rates(line)), number(line.support)]
                for name, line in lines
            ],
        )

    def csv(self) -> str:
        """The same for programs, every digit kept; a class may be called anything."""
        rows = [
            [kind, str(line.name), *map(in_csv, rates(line)), "", number(line.support)]
            for kind, lines in (("class", self.report.classes), ("average", self.averages))
            for line in lines
        ]
        total = number(self.report.confusion.total)
        rows.append(["all", "", "", "", "", in_csv(self.report.accuracy), total])
        return tables.csv(Table(["kind", "name", *RATES, "accuracy", "support"], rows))

    def json(self) -> dict[str, Any]:
        """The same as an object."""
        return {
            "classes": [
                {"class": str(line.name), **_line_json(line)} for line in self.report.classes
            ],
            "averages": {str(line.name): _line_json(line) for line in self.averages},
        }

    def lines(self, decimals: int) -> Iterator[str]:
        """The report for a terminal."""
        yield self.head(decimals)
        yield ""
        rows = tables.text(self.table(decimals)).split("\n")
        yield from rows[: -len(self.averages)]
        yield ""
        yield from rows[-len(self.averages) :]
        reasons = dict.fromkeys(
            f"{key} of {for_terminal(line.name)} is undefined ({score.undefined})"
            for line in self.report.classes
            for key, score in zip(RATES, rates(line), strict=True)
            if score.undefined is not None
        )
        yield from ["", *reasons] if reasons else []
        yield ""
        yield from drawn(self.report.confusion)


def show_report(confusion: Confusion, writing: Writing, profile: str | None) -> None:
    """Write the report in the form that was asked for."""
    report = ReportView.of(confusion, profile)
    decimals = DECIMALS if writing.digits is None else writing.digits
    form = writing.chosen
    if form == "csv":
        say_data(report.csv())
    elif form == "text":
        say("\n".join(report.lines(decimals)))
    elif form in ("markdown", "latex"):
        head = f"{report.head(decimals)}."
        say(f"{head}\n\n{tables.written(report.table(decimals), form)}")


def rates(row: ClassRow) -> tuple[Score, Score, Score]:
    """The rates of a row, in the order of RATES."""
    return row.precision, row.recall, row.f1


def _rate(score: Score, decimals: int) -> str:
    word = plain_value(score)
    return word if score.undefined is not None else f"{float(score):.{decimals}f}"


def _line_json(line: ClassRow) -> dict[str, Any]:
    values = {
        key: None if score.undefined is not None else float(score)
        for key, score in zip(RATES, rates(line), strict=True)
    }
    support = line.support
    return {**values, "support": support if isinstance(support, int) else number(support)}
