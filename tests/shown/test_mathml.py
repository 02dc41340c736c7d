"""Formulas as MathML: every formula of the specification is known, and none is an error."""

from __future__ import annotations

import html
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.escape import for_html, for_terminal
from refclust.shown.markdown import markdown
from refclust.shown.mathml import mathml, unknown_commands
from refclust.trace.clauses import load, spec_root


def inside(latex: str) -> str:
    """What a formula becomes, without what is around it."""
    whole = mathml(latex)
    assert whole.startswith("<math><semantics>")
    return whole.removeprefix("<math><semantics>").partition("<annotation")[0]


def formulas() -> list[tuple[str, str]]:
    """Every formula of the specification, with the clause it stands in."""
    every = []
    for clause in load(spec_root()).values():
        prose = re.sub(r"```.*?```", "", clause.text, flags=re.DOTALL)
        prose = re.sub(r"\$\$.*?\$\$", "", re.sub(r"`[^`]*`", "", prose), flags=re.DOTALL)
        found = [*clause.formulas, *re.findall(r"\$([^$]+)\$", prose)]
        every += [(clause.id, latex) for latex in found]
    return every


def test_every_formula_of_the_specification_is_known() -> None:
    every = formulas()
    assert len(every) > 2000
    for clause, latex in every:
        assert unknown_commands(latex) == [], (clause, latex)
        ElementTree.fromstring(mathml(latex, block=True))


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"\frac12", "<mfrac><mn>1</mn><mn>2</mn></mfrac>"),
        (r"\sqrt{2}", "<msqrt><mn>2</mn></msqrt>"),
        ("x_i^2", "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>"),
        (r"\sum_{i}", "<munder><mo>∑</mo><mi>i</mi></munder>"),
        (r"\mathcal C", '<mi mathvariant="normal">𝒞</mi>'),
        ("a<b", "<mrow><mi>a</mi><mo>&lt;</mo><mi>b</mi></mrow>"),
        (r"\text{<script>}", "<mtext>&lt;script&gt;</mtext>"),
        (r"\log x", '<mrow><mi>log</mi><mspace width="0.167em"/><mi>x</mi></mrow>'),
        (
            r"\left(x\right)",
            '<mrow><mo fence="true">(</mo><mi>x</mi><mo fence="true">)</mo></mrow>',
        ),
        (r"\mathrm{adjusted\_rand}", "<mi>adjusted_rand</mi>"),
        (r"\hocus", "<mtext>\\hocus</mtext>"),
    ],
)
def test_what_formulas_become(latex: str, expected: str) -> None:
    assert inside(latex) == expected


def test_cases_are_a_table() -> None:
    root = ElementTree.fromstring(mathml(r"\begin{cases} 1 & a \\ 0 & b \end{cases}"))
    assert len(root.findall(".//mtr")) == 2
    assert len(root.findall(".//mtd")) == 4


@given(st.text(alphabet=r"\{}^_&$abc123 ()[]<>'\"leftrightbegincasesfracsqrt", max_size=60))
def test_no_formula_is_an_error(latex: str) -> None:
    ElementTree.fromstring(mathml(latex))


@pytest.mark.spec("OUT-HTML")
@given(st.text(max_size=60))
def test_text_in_html_is_what_a_terminal_shows(text: str) -> None:
    marked = for_html(text)
    assert not set("<>\"'") & set(marked)
    assert html.unescape(marked) == for_terminal(text)


@given(st.text(max_size=60))
def test_no_text_is_an_element(text: str) -> None:
    shown = mathml(rf"\text{{{text}}}")
    assert "<script" not in shown
    ElementTree.fromstring(shown)


def test_deep_formulas_end() -> None:
    ElementTree.fromstring(mathml("{" * 500 + "x" + "}" * 500))


def test_every_clause_is_well_formed_html() -> None:
    for clause in load(spec_root()).values():
        shown = clause._repr_html_()
        ElementTree.fromstring(shown.replace("&nbsp;", " "))
        assert "<script" not in shown


def test_markdown_of_clauses() -> None:
    shown = markdown("a `x<y` $n^2$\n\n- one\n  more\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    assert "<code>x&lt;y</code>" in shown
    assert "<msup><mi>n</mi><mn>2</mn></msup>" in shown
    assert "<li>one more</li><li>two</li>" in shown
    assert shown.count("<tr") == 2
    assert markdown("[a](javascript:x)") == '<p style="margin:.5em 0">a</p>'
    assert '<a href="https://x.org">a</a>' in markdown("[a](https://x.org)")
    assert markdown("```\n<b>\n```").endswith("<code>&lt;b&gt;</code></pre>")
