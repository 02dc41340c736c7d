"""A derivation as HTML, its formulas as MathML (chapters 05 and 06)."""

from __future__ import annotations

from refclust.numbers.reals.derivation import LATEX, Derivation, _readings, _rows
from refclust.shown import page


def derivation_html(derivation: Derivation) -> str:
    r"""The steps of a derivation below each other, then the terms of its long sums.

    Spec: NUM-STEPS, OUT-HTML

    >>> from refclust.numbers.real import log
    >>> "<mfrac>" in derivation_html((log(2) / log(4)).steps())
    True
    """
    parts = []
    for step in derivation.steps:
        body = r" \\ &= ".join(_readings(step, LATEX, derivation.tables))
        parts.append(page.formula(rf"\begin{{aligned}}{step.latex} &= {body}\end{{aligned}}"))
    for table in derivation.tables:
        terms = _rows(table, LATEX, derivation.tables)
        rows = [(page.inline(formula), value) for formula, value in terms]
        caption = f"table {table.number}: the {len(table.terms)} terms of the sum"
        parts.append(page.table(["term", "value"], rows, caption))
    return "".join(parts)
