"""Scores of one case or of several side by side, in every form of output."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from refclust.cli.output import columns, counted, room, say, say_data, say_json
from refclust.cli.show import tables
from refclust.cli.show.scores.rendering import (
    ARROWS,
    P_VALUE,
    families,
    gives_p_value,
    provenance_json,
    score_json,
    score_lines,
    value_text,
    wrapped,
)
from refclust.cli.show.tables import Table, in_csv
from refclust.escape import for_terminal

if TYPE_CHECKING:
    from refclust.backends.session import Session
    from refclust.cli.options.scoring import Form, Writing
    from refclust.formulas.evidence import Evidence
    from refclust.metrics.score import Score

SCHEMA: Final = "refclust-score/1"
SCHEMA_OF_SEVERAL: Final = "refclust-score-table/1"
NOUNS: Final = dict.fromkeys(("confusion", "probabilities", "label_sets"), "classifier")
NOTHING: Final = "–"
_MOST_BITS: Final = 12_000  # of an integer in JSON; Python writes no longer ones


@dataclass(frozen=True, slots=True)
class Scored:
    """The scores of one case, and why metrics were left out."""

    name: str
    evidence: Evidence
    scores: list[Score]
    left_out: dict[str, str]

    def score(self, key: str) -> Score | None:
        """The score of a metric, if there is one."""
        return next((score for score in self.scores if score.name == key), None)


@dataclass(frozen=True, slots=True)
class MetricRow:
    """What one metric says of every case."""

    key: str
    scores: tuple[Score | None, ...]

    @property
    def better(self) -> str:
        """The direction of the metric."""
        return next(score.better for score in self.scores if score is not None)

    @property
    def best(self) -> frozenset[int]:
        """Which cases have the best value in the metric's direction; ties are all best."""
        values = {
            place: float(score)
            for place, score in enumerate(self.scores)
            if score is not None and not math.isnan(score)
        }
        if self.better == "neither" or len(values) < 2:
            return frozenset()
        best = (max if self.better == "higher" else min)(values.values())
        return frozenset(place for place, value in values.items() if value == best)


def show(
    cases: Sequence[Scored],
    session: Session,
    writing: Writing,
    *,
    named: bool,
    profile: str | None,
) -> None:
    """Write the scores in the form that was asked for."""
    form = writing.chosen
    if form == "json":
        say_json(score_report(cases, session))
    elif form == "csv":
        say_data(tables.csv(score_table(cases, form)))
    elif form == "text":
        say("\n".join(_text(cases, writing, grouped=not named, profile=profile)))
    else:
        parts = [tables.written(score_table(cases, form, digits=writing.digits_of(form)), form)]
        parts += [P_VALUE] if any(map(gives_p_value, cases[0].scores)) else []
        say("\n\n".join(parts))


def rows_of(cases: Sequence[Scored]) -> list[MetricRow]:
    """The metrics in the order of the cases, each with its scores."""
    keys = dict.fromkeys(score.name for case in cases for score in case.scores)
    return [MetricRow(key, tuple(case.score(key) for case in cases)) for key in keys]


def score_table(cases: Sequence[Scored], form: Form, *, digits: int | None = None) -> Table:
    """Metrics by cases, for Markdown, LaTeX and CSV."""
    rows = rows_of(cases)
    names = ["value"] if len(cases) == 1 else [case.name for case in cases]
    cell = in_csv if form == "csv" else lambda score: _cell(score, digits)
    return Table(
        ["metric", "better", *names],
        [[row.key, row.better, *map(cell, row.scores)] for row in rows],
        words=frozenset((0, 1)),
        marked=frozenset((i, j + 2) for i, row in enumerate(rows) for j in row.best),
    )


def _cell(score: Score | None, digits: int | None) -> str:
    return NOTHING if score is None else value_text(score, digits=digits)


def _text(
    cases: Sequence[Scored], writing: Writing, *, grouped: bool, profile: str | None
) -> Iterator[str]:
    yield from _head(cases, profile)
    yield ""
    if len(cases) == 1:
        [case] = cases
        digits, verbose = writing.digits, writing.verbose
        yield from score_lines(case.scores, grouped=grouped, verbose=verbose, digits=digits)
    else:
        yield from _side_by_side(cases, writing, grouped=grouped)
    if writing.draw:
        from refclust.cli.show.scores.shading import drawn

        for case in cases:
            yield ""
            if len(cases) > 1:
                yield for_terminal(case.name)
            yield from drawn(case.evidence)
    if any(gives_p_value(score) for case in cases for score in case.scores):
        yield ""
        yield wrapped(P_VALUE)


def _head(cases: Sequence[Scored], profile: str | None) -> Iterator[str]:
    from refclust.metrics.profiles import find

    arrows = "↑ higher is better, ↓ lower is better"
    if len(cases) == 1:
        yield f"{cases[0].evidence.size()}; {arrows}"
    else:
        noun = NOUNS.get(cases[0].evidence.kind, "clustering")
        yield f"{counted(len(cases), noun)}; {arrows}, {tables.MARK} the best of its row"
        sizes = [[for_terminal(case.name), case.evidence.size()] for case in cases]
        yield from (f"  {line}" for line in columns(sizes))
    if profile is not None:
        library = find(profile)
        yield f"by the rules of {library.library} {library.version}"


def _side_by_side(cases: Sequence[Scored], writing: Writing, *, grouped: bool) -> Iterator[str]:
    """One table, or one of each family of metrics; what is undefined is told below."""
    every = [score for case in cases for score in case.scores]
    rows = rows_of(cases)
    parts = [("metric", rows)]
    if grouped:
        parts = [(family, [r for r in rows if _family(r) == family]) for family in families(every)]
    for place, (family, members) in enumerate(parts):
        if place:
            yield ""
        cells = [
            [f"{row.key} {ARROWS[row.better]}".rstrip()]
            + [_cell(score, writing.digits) for score in row.scores]
            for row in members
        ]
        marked = frozenset((i, j + 1) for i, row in enumerate(members) for j in row.best)
        head = [family, *(case.name for case in cases)]
        table = Table(head, cells, frozenset(range(len(head))), marked)
        yield from tables.text(table, most=room()).split("\n")
    reasons = {
        f"{row.key} of {for_terminal(case.name)} is undefined ({score.undefined})": None
        for row in rows
        for case, score in zip(cases, row.scores, strict=True)
        if score is not None and score.undefined is not None
    }
    if reasons:
        yield ""
        yield from reasons


def _family(row: MetricRow) -> str:
    return next(score.origin.entry.family for score in row.scores if score is not None)


def score_report(cases: Sequence[Scored], session: Session) -> dict[str, Any]:
    """Everything a program may want to know about scores."""
    from refclust.version import __version__

    facts: dict[str, Any] = {"refclust": __version__, "evidence": cases[0].evidence.kind}
    provenance = {"provenance": provenance_json(session.provenance())}
    if len(cases) == 1:
        return {"schema": SCHEMA, **facts, **_case_json(cases[0]), **provenance}
    return {
        "schema": SCHEMA_OF_SEVERAL,
        **facts,
        "cases": [{"name": case.name, **_case_json(case)} for case in cases],
        "best": {row.key: sorted(row.best) for row in rows_of(cases)},
        **provenance,
    }


def _case_json(case: Scored) -> dict[str, Any]:
    from refclust.numbers.reading import written

    total: Any = case.evidence.total
    if not isinstance(total, int) or total.bit_length() > _MOST_BITS:
        total = written(total)
    return {
        "n": total,
        **_groups(case.evidence),
        "scores": [score_json(score) for score in case.scores],
        "left_out": [{"key": key, "reason": reason} for key, reason in case.left_out.items()],
    }


def _groups(evidence: Evidence) -> dict[str, Any]:
    """How many clusters and classes the evidence has, as far as it has them."""
    from refclust.formulas.clustered import Clustered
    from refclust.metrics.contingency import Contingency

    if evidence.kind == "confusion":
        from refclust.cli.show.scores.class_report import ReportView
        from refclust.formulas.confusion import Confusion

        assert isinstance(evidence, Confusion)
        return {"classes": len(evidence.labels), "report": ReportView.of(evidence).json()}
    if isinstance(evidence, Contingency):
        return {"clusters": len(evidence.row), "classes": len(evidence.col)}
    return {"clusters": evidence.k} if isinstance(evidence, Clustered) else {}
