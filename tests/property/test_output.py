"""Text from data is shown, never interpreted: properties of every way out (chapter 06)."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from refclust import escape
from refclust.data.accepting.door import dataset
from refclust.data.writers.writing import WRITERS

SIGNS = "\\xu01abcABU-+=@'\"`*_[]<>&|$#~!()/:.,{}%^\n\r\t \x00\x1b\x07\x7f\x85\x9b"
OTHERS = (
    "\u061c\u200b\u200c\u200d\u200e\u202e\u2028\u2066\ufeff\ufe0f\ue000\U000e0041\U0010ffff\ud800"
)
LETTERS = "éß日مین\u0301कि\u094dല👩❤️Σ→"
texts = st.text(st.sampled_from(SIGNS + OTHERS + LETTERS) | st.characters(), max_size=12)
HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
ESCAPE = re.compile(r"(\\+)(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})?")


def read_back(shown: str) -> str:
    """What a text was before it was shown: the rule of OUT-TERM, the other way round."""

    def plain(found: re.Match[str]) -> str:
        slashes, code = found[1], found[2]
        if not code:
            looks = re.match(
                r"x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}", shown[found.end() :]
            )
            return slashes[: len(slashes) // 2] if looks else slashes
        sign = chr(int(code[1:], 16)) if len(slashes) % 2 else code
        return slashes[: len(slashes) // 2] + sign

    return ESCAPE.sub(plain, shown)


@pytest.mark.spec("OUT-TERM")
@given(texts)
@example("\\\x1b")
@example(r"\x1b")
@example(r"\\x1b")
@example("\\\\\x1b")
@example(r"C:\new\x1B")
def test_what_is_shown_can_be_read_back(text: str) -> None:
    shown = escape.for_terminal(text)
    assert HIDDEN.search(shown) is None
    assert read_back(shown) == text


@pytest.mark.spec("OUT-TERM")
@given(texts)
def test_the_net_leaves_what_was_shown_before(text: str) -> None:
    shown = escape.for_terminal(text)
    assert escape.for_line(shown) == escape.for_lines(shown) == shown
    assert HIDDEN.search(escape.for_line(text)) is None
    assert HIDDEN.search(escape.for_lines(text).replace("\n", "")) is None
    assert escape.for_lines(text).count("\n") == text.count("\n")


@pytest.mark.spec("OUT-TERM")
@given(
    st.text(
        st.characters(
            categories=("Lu", "Ll", "Lo", "Nd", "Sm"), exclude_characters="\u115f\u1160\u3164\uffa0"
        )
    )
)
def test_ordinary_text_stays(text: str) -> None:
    assert escape.for_terminal(text) == text


@pytest.mark.spec("OUT-JSON")
@given(st.dictionaries(texts, texts | st.lists(texts)), st.booleans())
def test_json_keeps_its_value(content: dict[str, object], plain: bool) -> None:
    shown = escape.for_json(json.dumps(content, ensure_ascii=plain, indent=2))
    assert json.loads(shown) == content
    assert HIDDEN.search(shown.replace("\n", "")) is None


def rendered(markdown: str) -> tuple[str, set[str]]:
    """The text of one paragraph as a renderer has it, and the kinds of its pieces."""
    tokens = MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse(markdown)
    inline = [token for token in tokens if token.type == "inline"]
    pieces = [child for token in inline for child in token.children or ()]
    kinds = {token.type for token in tokens if token.type != "inline"}
    return "".join(child.content for child in pieces), kinds | {child.type for child in pieces}


@pytest.mark.spec("OUT-MARKDOWN")
@given(texts)
@example("<script>alert(1)</script>")
@example("[a](http://b) ![c](d) <http://e> www.f.org")
@example("12. x")
@example("- x")
@example("===")
@example("---")
@example("    code")
@example("&amp; ~~x~~ **y** `z` $w$")
def test_markdown_shows_the_text(text: str) -> None:
    shown = escape.for_terminal(text)
    for before, behind in (("", ""), ("a ", " b"), ("# ", ""), ("a\n\n", "")):
        told, kinds = rendered(f"{before}{escape.for_markdown(text)}{behind}")
        known = before.strip("# \n")
        assert told == (f"{known} {shown}{behind}" if before == "a " else f"{known}{shown}"), before
        assert kinds <= {
            "paragraph_open",
            "paragraph_close",
            "heading_open",
            "heading_close",
            "text",
        }


@pytest.mark.spec("OUT-MARKDOWN")
@given(st.lists(texts, min_size=2, max_size=4), st.lists(texts, min_size=2, max_size=4))
def test_a_table_of_markdown_has_its_cells(head: list[str], row: list[str]) -> None:
    row = (row + head)[: len(head)]
    lines = [f"| {' | '.join(map(escape.for_markdown, cells))} |" for cells in (head, row)]
    lines.insert(1, "|---" * len(head) + "|")
    tokens = MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse("\n".join(lines))
    cells = [token for token in tokens if token.type == "inline"]
    told = ["".join(child.content for child in token.children or ()) for token in cells]
    assert told == [escape.for_terminal(text) for text in (*head, *row)]
    assert {child.type for token in cells for child in token.children or ()} <= {"text"}


LATEX = re.compile(
    r"\\text(backslash|asciitilde|asciicircum|less|greater|asciigrave)\{\}|\\symbol\{34\}"
    r"|\\[&%$#_{}]|\$\\(?:to|ge|le)\$|\\dots\{\}|\\ |\{[\[*]\}|\{\}|[^\\{}$&#%_^~<>\"`\n\r\t]"
)
MEANT = {
    r"\textbackslash{}": "\\",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textasciigrave{}": "`",
    r"\symbol{34}": '"',
    r"$\to$": "→",
    r"$\ge$": "≥",
    r"$\le$": "≤",
    r"\dots{}": "…",
    r"\ ": " ",
    "{[}": "[",
    "{*}": "*",
    "{}": "",
}


def typeset(latex: str) -> str:
    """What LaTeX sets, if it is made of harmless pieces only."""
    told, place = "", 0
    while place < len(latex):
        found = LATEX.match(latex, place)
        assert found is not None, latex[place:]
        piece = found[0]
        told += MEANT.get(piece, piece[-1])
        place = found.end()
    return told


@pytest.mark.spec("OUT-LATEX")
@given(texts)
@example(r"\input{x} & 50% #1 _a^b ~ $x$ ^^5c")
@example("[2cm]")
@example("*x")
@example("a -- b --- c '' ,,")
@example("  a  b  ")
def test_latex_sets_the_text(text: str) -> None:
    latex = escape.for_latex(text)
    assert typeset(latex) == escape.for_terminal(text)
    assert not latex.startswith(("[", "*", " "))
    assert not latex.endswith(" ") or latex.endswith("\\ ")
    assert re.search(r"--|''|,,|  ", latex) is None


@pytest.mark.spec("DATA-FORMULA")
@given(texts, texts)
@example("=x", "'=x")
def test_two_texts_stay_two_in_a_spreadsheet(one: str, other: str) -> None:
    safe = escape.for_csv(one)
    assert not escape.is_formula(safe)
    assert safe == one or safe == f"'{one}"
    assert (safe == escape.for_csv(other)) == (one == other)


@pytest.mark.spec("DATA-FORMULA")
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_no_formulas(number: float) -> None:
    assert escape.for_csv(repr(number)) == repr(number)
    assert escape.for_csv(f"+{abs(number)!r}") == f"+{abs(number)!r}"


cells = st.text(
    st.sampled_from(",;\"\t\n\r=+-@'\x1b\x9b\u202e|$<日") | st.characters(codec="utf-8"), min_size=1
).filter(lambda text: text == text.strip() and "\x00" not in text)


@pytest.mark.spec("DATA-FORMULA", "DATA-WRITE", "OUT-DATA")
@given(st.lists(cells, min_size=2, max_size=2, unique=True), cells)
@example(["\ufeffa", "b"], "=cmd()")
def test_tables_are_read_back_to_the_letter(names: list[str], label: str) -> None:
    rows = [[-1.5, 2.0], [3.0, 4.5]]
    if {"label", "id", "weight"} & set(names):
        return
    data = dataset(rows, features=names, labels=[label, "x"])
    for name, sign in (("csv", ","), ("tsv", "\t")):
        text = b"".join(WRITERS[name].chunks(data)).decode()
        read = list(
            csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=sign)
        )
        assert read[0] == [*names, "label"]
        assert [row[2] for row in read[1:]] == [label, "x"]


@pytest.mark.spec("OUT-TERM")
@given(texts)
def test_width_is_that_of_the_signs(text: str) -> None:
    shown = escape.for_terminal(text)
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in shown)
    assert 0 <= escape.width(shown) <= len(shown) + wide
    assert escape.width(escape.left(shown, 40)) == escape.width(escape.right(shown, 40))
