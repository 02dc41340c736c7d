"""Scores, tables of scores, reports and explanations as HTML for a notebook (OUT-HTML)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from refclust.data.frames import frame
from refclust.formulas.evidence import Evidence
from refclust.numbers.reading import told
from refclust.numbers.reals.drawn import derivation_html
from refclust.shown import page
from refclust.shown.page import Fact, Markup
from refclust.trace import clauses

if TYPE_CHECKING:
    from refclust.metrics.calls.classes import Report
    from refclust.metrics.explain import Explanation
    from refclust.metrics.score import Score


class Scores(dict[str, "Score"]):
    """Scores by the names of their metrics: a dict that a notebook shows as a table."""

    def _repr_html_(self) -> str:
        lines = [
            (
                page.code(name),
                score.origin.entry.title,
                value_text(score),
                _fraction_text(score),
                _range_text(score),
                score.better,
                ", ".join(score.spec),
            )
            for name, score in self.items()
        ]
        head = ["metric", "title", "value", "exactly", "range", "better", "clauses"]
        return page.block(f"{len(self)} scores", page.table(head, lines))

    def to_frame(self) -> Any:
        """A ``pandas.DataFrame``, a row for each metric."""
        scores = list(self.values())
        return frame(
            {
                "value": [float(score) for score in scores],
                "undefined": [score.undefined for score in scores],
                "low": [score.range[0] for score in scores],
                "high": [score.range[1] for score in scores],
                "better": [score.better for score in scores],
                "clauses": [", ".join(score.spec) for score in scores],
            },
            index=list(self),
        )


def value_text(score: Score) -> str:
    """The value as it is read: digits, infinity, or that there is none."""
    if math.isnan(score):
        return "undefined"
    if math.isinf(score):
        return "∞" if score > 0 else "−∞"
    return str(score) if score.certified else f"≈ {score} ± {score.bound:.2g}"


def _fraction_text(score: Score) -> str:
    if score.undefined is not None:
        return score.undefined
    if not score.evidence.is_small:
        return ""
    fraction = score.fraction
    return "" if fraction is None or fraction.denominator == 1 else told(fraction)


def _range_text(score: Score) -> str:
    ends = ("∞" if math.isinf(end) else f"{end:g}".replace("-", "−") for end in score.range)
    low, high = ends
    return f"{'−' if score.range[0] == -math.inf else ''}{low} to {high}"


def score_html(score: Score) -> str:
    """A score with its formula, range and clauses."""
    facts: list[Fact] = [("value", Markup(f"<strong>{page.html(value_text(score))}</strong>"))]
    if score.undefined is not None:
        facts.append(("why", score.undefined))
    elif exactly := _fraction_text(score):
        facts.append(("exactly", exactly))
    facts += [
        ("range", f"{_range_text(score)}; better: {score.better}"),
        ("evidence", score.evidence.size()),
    ]
    known = clauses.load(clauses.spec_root())
    formulas = []
    for name in score.spec:
        if name in known:
            facts.append((name, known[name].title))
            formulas += [page.formula(latex) for latex in known[name].formulas]
    title = f"{score.origin.entry.title} ({score.name})"
    return page.block(title, page.facts(facts), *formulas)


def explanation_html(explanation: Explanation, value: str) -> str:
    """An explanation with its evidence, formulas and derivation; ``value`` is its last line."""
    score = explanation.score
    parts = [evidence_html(score.evidence)]
    for formula in explanation.formulas:
        parts.append(page.paragraph(f"{formula.clause}  {formula.title}"))
        parts += map(page.formula, formula.latex)
    if explanation.derivation is not None:
        parts.append(derivation_html(explanation.derivation))
    parts.append(page.paragraph(value))
    if score.matching is not None:
        pairs = ", ".join(f"{cluster} ↔ {label}" for cluster, label in score.matching)
        parts.append(page.paragraph(f"matching: {pairs}"))
    if explanation.others:
        rows = [
            (other.library, page.code(other.call), other.prints) for other in explanation.others
        ]
        parts.append(page.table(["library", "call", "prints"], rows, "other libraries"))
    return page.block(f"{score.origin.entry.title} ({score.name})", *parts)


def evidence_html(evidence: Evidence) -> str:
    """The table behind a score, or how much there is."""
    grid = evidence.grid()
    if grid is None or grid.is_large:
        return page.paragraph(evidence.size())
    sums = grid.row_sums
    rows: list[list[object]] = [
        [name, *map(told, numbers), *([] if sums is None else [told(sums[i])])]
        for i, (name, numbers) in enumerate(grid.rows)
    ]
    if grid.column_sums is not None:
        corner = [] if sums is None or grid.total is None else [told(grid.total)]
        rows.append(["Σ", *map(told, grid.column_sums), *corner])
    head = ["", *grid.columns, *([] if sums is None else ["Σ"])]
    return page.table(head, rows, grid.caption)


def report_html(report: Report) -> str:
    """Precision, recall and F1 of the classes."""
    head = ["class", "precision", "recall", "F1", "support"]
    lines = [
        (
            row.name,
            *map(value_text, (row.precision, row.recall, row.f1)),
            told(Fraction(row.support)),
        )
        for row in (*report.classes, *report.averages)
    ]
    accuracy: list[Fact] = [("accuracy", value_text(report.accuracy))]
    shown = page.facts(accuracy), page.table(head, lines), evidence_html(report.confusion)
    return page.block("Classification report", *shown)


def report_frame(report: Report) -> Any:
    """A ``pandas.DataFrame`` of the classes and their averages."""
    rows = (*report.classes, *report.averages)
    columns: Mapping[str, Iterable[Any]] = {
        name: [float(getattr(row, name)) for row in rows]
        for name in ("precision", "recall", "f1", "support")
    }
    listed = {name: list(column) for name, column in columns.items()}
    return frame(listed, index=[row.name for row in rows])
