"""Explanations: why a score is what it is, with the user's own numbers (chapter 00, CONV-SCORE).

Three renderings of one content: the evidence, the clause's formula, the derivation, the value, and
what other libraries print where they differ.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from refclust.errors import ProfileLacksMetric, Undecided
from refclust.escape import for_latex, for_markdown, for_terminal, left, right, width
from refclust.formulas.evidence import Evidence
from refclust.metrics import profiles
from refclust.metrics.pickled import LeftBehind
from refclust.metrics.score import Score, evaluate
from refclust.numbers.reading import told
from refclust.numbers.real import ENCLOSED, NAMED, Enclosure
from refclust.numbers.reals.derivation import Derivation
from refclust.trace import clauses

_Shown: TypeAlias = Callable[[object], str]

_IN_ASCII: Final = {"Σ": "sum", "≈": "about", "±": "+/-", "−": "-", "∞": "infinity", "…": "..."}


@dataclass(frozen=True, slots=True)
class Formula:
    """One clause behind a score."""

    clause: str
    title: str
    latex: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Other:
    """What another library prints."""

    library: str
    call: str
    prints: str


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """A score with its evidence, its formulas, its derivation and what others would print."""

    score: Score
    formulas: tuple[Formula, ...]
    derivation: Derivation | None
    others: tuple[Other, ...]

    def __repr__(self) -> str:
        return f"<Explanation: {self.score.name} = {self.score}>"

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """The explanation for a notebook, its formulas drawn.

        Spec: OUT-HTML
        """
        from refclust.metrics.drawn import explanation_html

        return explanation_html(self, _value_line(self.score))

    def text(self) -> str:
        """Return the explanation for a terminal."""
        parts = [
            f"{self.score.name}: {self.score.origin.entry.title}",
            _text_evidence(self.score.evidence),
        ]
        if self.derivation is not None:
            parts.append(self.derivation.text())
        parts.append(_value_line(self.score))
        matching = self.score.matching
        if matching is not None:
            parts.append(f"matching: {_matched(matching, for_terminal)}")
        if self.others:
            names, calls = (
                max(len(text) for text in texts)
                for texts in zip(*((o.library, o.call) for o in self.others), strict=True)
            )
            lines = [
                f"  {other.library:<{names}}  {other.call:<{calls}}  {other.prints}"
                for other in self.others
            ]
            parts.append("\n".join(["other libraries:", *lines]))
        clauses = ", ".join(f"{formula.clause} ({formula.title})" for formula in self.formulas)
        parts.append(f"clauses: {clauses}")
        return "\n\n".join(parts)

    def markdown(self) -> str:
        """Return the explanation as Markdown with LaTeX formulas."""
        parts = [
            f"# {self.score.origin.entry.title} (`{self.score.name}`)",
            _markdown_evidence(self.score.evidence),
        ]
        for formula in self.formulas:
            parts.append(f"**{formula.clause}** {formula.title}")
            parts.extend(f"$$\n{latex}\n$$" for latex in formula.latex)
        if self.derivation is not None:
            parts.append(self.derivation.markdown())
        parts.append(_value_line(self.score))
        if self.score.matching is not None:
            parts.append(f"Matching: {_matched(self.score.matching, for_markdown)}")
        if self.others:
            rows = [
                f"| {other.library} | `{other.call}` | {other.prints} |" for other in self.others
            ]
            parts.append("\n".join(["| library | call | prints |", "|---|---|---|", *rows]))
        return "\n\n".join(parts)

    def latex(self) -> str:
        """Return the explanation as LaTeX; it needs amsmath and longtable."""
        title = f"{self.score.origin.entry.title} ({self.score.name})"
        parts = [rf"\paragraph{{{_escaped(title)}}}", _latex_evidence(self.score.evidence)]
        parts += [rf"\[ {latex} \]" for formula in self.formulas for latex in formula.latex]
        if self.derivation is not None:
            parts.append(self.derivation.latex())
        parts.append(_escaped(_value_line(self.score)))
        if self.others:
            lines = [
                rf"\item {_escaped(f'{other.library}, {other.call}: {other.prints}')}"
                for other in self.others
            ]
            parts.append("\n".join([r"\begin{itemize}", *lines, r"\end{itemize}"]))
        return "\n\n".join(parts)


def explain(score: Score) -> Explanation:
    """Return the explanation of a score."""
    known = clauses.load(clauses.spec_root())
    formulas = tuple(
        Formula(name, known[name].title, known[name].formulas)
        for name in score.spec
        if name in known
    )
    derivation = None
    if score.exact is not None:
        named = score.exact
        if named.op == ENCLOSED and isinstance(named.content, Enclosure):  # known by its ends
            named = named.content.form() or named
        if named.op != NAMED:
            named = named.named(score.origin.entry.name, rf"\mathrm{{{_escaped(score.name)}}}")
        with contextlib.suppress(Undecided):  # a pickle of rows has few digits
            derivation = named.steps()
    return Explanation(score, formulas, derivation, _others(score))


def _others(score: Score) -> tuple[Other, ...]:
    """Collect what the other libraries print for the same call, where it is not the same."""
    entry, evidence = score.origin.entry, score.evidence
    if isinstance(evidence, LeftBehind):  # nothing can be worked out from it
        return ()
    asked = {
        name: value for name, value in score.origin.options.items() if value != entry.defaults[name]
    }
    others = []
    for profile in profiles.PROFILES.values():
        try:
            options = profile.options(entry, asked)
        except ProfileLacksMetric:
            continue
        theirs = evaluate(entry, evidence, asked, profile=profile.name)
        quirks = [
            quirk.text
            for quirk in profiles.QUIRKS
            if (quirk.profile, quirk.metric) == (profile.name, entry.name)
            and quirk.when(evidence, options)
        ]
        differs = repr(float(theirs)) != repr(float(score))
        if not differs and not quirks:
            continue
        prints = theirs.undefined or str(theirs)
        changed = [
            f"{name}={value}"
            for name, value in options.items()
            if value != score.origin.options[name]
        ]
        notes = [f"({', '.join(changed)} by default)"] if changed else []
        prints = " ".join([prints, *notes])
        others.append(
            Other(
                f"{profile.library} {profile.version}",
                profile.rules[entry.name].call,
                "; ".join([prints, *quirks]),
            )
        )
    return tuple(others)


def _value_line(score: Score) -> str:
    if score.undefined is not None:
        word = "undefined" if math.isnan(score) else f"{'+' if score > 0 else '−'}∞"
        return f"value: {word} ({score.undefined})"
    if not score.certified:
        return f"value: ≈ {score} ± {score.bound:.2g}, an estimate, not certified"
    fraction = score.fraction
    exact = (
        f"exactly {told(fraction)}, " if fraction is not None and fraction.denominator > 1 else ""
    )
    return f"value: {exact}nearest double {score} = {float(score).hex()}"


def _matched(matching: Iterable[tuple[Hashable, Hashable]], shown: _Shown) -> str:
    return ", ".join(f"{shown(cluster)} ↔ {shown(label)}" for cluster, label in matching)


def _cells(evidence: Evidence, shown: _Shown, margin: str = "Σ") -> list[list[str]] | None:
    """Return the table worth showing, with its margins, as text; ``None`` if there is none."""
    grid = evidence.grid()
    if grid is None or grid.is_large:
        return None
    sums = grid.row_sums
    head = ["", *map(shown, grid.columns), *([] if sums is None else [margin])]
    body = [
        [shown(name), *map(told, numbers), *([] if sums is None else [told(sums[i])])]
        for i, (name, numbers) in enumerate(grid.rows)
    ]
    if grid.column_sums is None:
        return [head, *body]
    corner = [] if sums is None or grid.total is None else [told(grid.total)]
    return [head, *body, [margin, *map(told, grid.column_sums), *corner]]


def _caption(evidence: Evidence) -> str:
    grid = evidence.grid()
    return "" if grid is None else grid.caption


def _text_evidence(evidence: Evidence) -> str:
    cells = _cells(evidence, for_terminal)
    if cells is None:
        return evidence.size()
    first, *others = (max(map(width, column)) for column in zip(*cells, strict=True))
    lines = [
        "  ".join([left(name, first), *map(right, numbers, others)]) for name, *numbers in cells
    ]
    return "\n".join([_caption(evidence), *("  " + line for line in lines)])


def _markdown_evidence(evidence: Evidence) -> str:
    cells = _cells(evidence, for_markdown)
    if cells is None:
        return evidence.size() + "."
    lines = [f"| {' | '.join(row)} |" for row in cells]
    rule = "|---" + "|---:" * (len(cells[0]) - 1) + "|"
    caption = _caption(evidence)
    return "\n".join([caption[:1].upper() + caption[1:] + ".", "", lines[0], rule, *lines[1:]])


def _latex_evidence(evidence: Evidence) -> str:
    cells = _cells(evidence, for_latex, "sum")
    if cells is None:
        return evidence.size() + "."
    lines = [" & ".join(row) + r" \\" for row in cells]
    columns = "l" + "r" * (len(cells[0]) - 1)
    return "\n".join(
        [
            r"\begin{center}",
            rf"\begin{{tabular}}{{{columns}}}",
            lines[0] + r" \hline",
            *lines[1:],
            r"\end{tabular}",
            r"\end{center}",
        ]
    )


def _escaped(words: str) -> str:
    """Our own words for LaTeX, which has few signs beyond ASCII without packages."""
    return for_latex("".join(_IN_ASCII.get(sign, sign) for sign in words))
