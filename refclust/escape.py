"""Text from data is shown, never interpreted: one function for each place it goes to (chapter 06).

Labels, names of features, ids, paths and names of plugins are whatever their makers put there. A
terminal acts on controls, Markdown, LaTeX and HTML on their signs, a spreadsheet on formulas; here
they all become signs that show what is there. Ordinary text of any script stays as it is.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, TypeAlias

_Ranges: TypeAlias = tuple[tuple[str, str], ...]

# Stated as ranges, not by the categories of unicodedata: the same on every version of Python.
_HIDDEN: Final = (
    "\x00-\x1f\x7f-\x9f"  # controls, C0 and C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # what reorders text
    "\u2028\u2029"  # ends of lines and paragraphs
    "\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"  # what nobody sees
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\ud800-\udfff\ufdd0-\ufdef"  # no characters
    "\ufffe\uffff\U0001fffe\U0001ffff\U0002fffe\U0002ffff"
    "\ue000-\uf8ff\U0003fffe-\U0010ffff"  # without an agreed shape; tags and selectors
)
_MARKS: Final = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
# Scripts whose words are written with joiners: Arabic to Mandaic, the Indic ones to Sinhala,
# Tibetan and Myanmar, Khmer and Mongolian, Arabic forms.
_JOINING: Final[_Ranges] = (
    ("\u0620", "\u08ff"),
    ("\u0900", "\u0dff"),
    ("\u0f00", "\u109f"),
    ("\u1780", "\u18af"),
    ("\ufb50", "\ufdcf"),
    ("\ufe70", "\ufefc"),
)
_PICTURES: Final[_Ranges] = (
    ("\xa9", "\xa9"),
    ("\xae", "\xae"),
    ("\u203c", "\u2bff"),
    ("\u3030", "\u303d"),
    ("\u3297", "\u3299"),
    ("\U0001f000", "\U0001faff"),
)
_IDEOGRAPHS: Final[_Ranges] = (
    ("\u3400", "\u9fff"),
    ("\uf900", "\ufaff"),
    ("\U00020000", "\U0003ffff"),
)
_VIRAMAS: Final = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca"
_ESCAPE: Final = r"(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
_LATEX: Final = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "`": r"\textasciigrave{}",
    '"': r"\symbol{34}",  # babel makes it a command in some languages
    "→": r"$\to$",
    "≥": r"$\ge$",
    "≤": r"$\le$",
    "…": r"\dots{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
_HTML: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
_FORMULA: Final = "=+-@\t\r＝＋－＠"


def for_terminal(value: object) -> str:
    r"""A text from data for a terminal: two different texts never become the same.

    What is hidden becomes ``\xHH``, ``\uHHHH`` or ``\UHHHHHHHH``. A backslash stays, but those
    before such an escape, or before what looks like one, are doubled.

    Spec: OUT-TERM

    >>> print(for_terminal("a\x1b[31m"), for_terminal(r"a\x1b[31m"), for_terminal(r"C:\new"))
    a\x1b[31m a\\x1b[31m C:\new
    """
    text = str(value)
    if _is_plain(text):
        return text
    if "\\" in text:
        text = _slashes().sub(r"\1\1", text)
    if _first_mark().match(text):
        # It would sit on the sign of the layout that stands before it.
        return _code(text[0]) + for_line(text[1:])
    return for_line(text)


def for_line(text: str) -> str:
    r"""A line that is laid out already, with all that is hidden in it shown.

    Spec: OUT-TERM

    >>> print(for_line("cannot read a\nb"))
    cannot read a\x0ab
    """
    return text if _is_plain(text) else _hidden().sub(_shown, text)


def for_lines(text: str) -> str:
    """Lines that are laid out already: ``for_line``, but line ends stay.

    Spec: OUT-TERM
    """
    return "\n".join(map(for_line, text.split("\n")))


def for_markdown(value: object) -> str:
    r"""A text from data inside a line of Markdown, in a sentence or in a cell.

    Spec: OUT-MARKDOWN

    >>> print(for_markdown("<b>|$x$"), for_markdown("- a"), for_markdown("-1.5"))
    \<b\>\|\$x\$ \- a -1.5
    """
    text = re.sub(
        r"[\\`*_\[\]<>&|$#~!@]|:(?=//)|(?<=[wW]{3})\."
        r"|\A(?:[-+](?=[-+ ]|\Z)|=(?==* *\Z))",
        r"\\\g<0>",
        for_terminal(value),
    )
    text = re.sub(r"\A([0-9]{1,9})([.)])(?= |\Z)", r"\1\\\2", text)
    return re.sub(r"\A\s+|\s+\Z", lambda match: "".join(f"&#{ord(x)};" for x in match[0]), text)


def for_latex(value: object) -> str:
    r"""A text from data in the text of a LaTeX document.

    Spec: OUT-LATEX

    >>> print(for_latex(r"\input{x} & 50%"))
    \textbackslash{}input\{x\} \& 50\%
    """
    text = "".join(_LATEX.get(sign, sign) for sign in for_terminal(value))
    text = re.sub(r"(?<=-)-|(?<=')'|(?<=,),", r"{}\g<0>", text)  # no ligatures
    text = re.sub(r"\A[\[*]", r"{\g<0>}", text)  # the row before ends in \\, which may take both
    return re.sub(r"\A +|(?<= ) +| \Z", lambda match: r"\ " * len(match[0]), text)


def for_html(value: object) -> str:
    r"""A text from data in HTML: in the text of an element, or in an attribute within quotes.

    Spec: OUT-HTML

    >>> print(for_html("<b onclick='x'>&amp;"))
    &lt;b onclick=&#39;x&#39;&gt;&amp;amp;
    """
    return "".join(_HTML.get(sign, sign) for sign in for_terminal(value))


def for_json(text: str) -> str:
    r"""A JSON text, its hidden characters written as escapes: the same value when it is read.

    Spec: OUT-JSON

    >>> print(for_json('{"a": "\x9b1m\u202e"}'))
    {"a": "\u009b1m\u202e"}
    """
    return "\n".join(
        line if _is_plain(line) else _hidden().sub(_json_shown, line) for line in text.split("\n")
    )


def for_csv(cell: str) -> str:
    """A text for a spreadsheet, which takes it for a text and not for a formula.

    Numbers stay. Two different texts never become the same.

    Spec: DATA-FORMULA

    >>> for_csv("=1+1"), for_csv("-1.5"), for_csv("'=1+1")
    ("'=1+1", '-1.5', "''=1+1")
    """
    return f"'{cell}" if is_formula(cell.lstrip("'")) else cell


def is_formula(cell: str) -> bool:
    """Tell whether a spreadsheet may take a text for a formula; a number is none.

    Spec: DATA-FORMULA

    >>> is_formula("@SUM(A1)"), is_formula("-1.5e3"), is_formula("a=b"), is_formula("-x")
    (True, False, False, True)
    """
    return cell[:1] in _FORMULA and bool(cell) and _number().fullmatch(cell) is None


def width(text: str) -> int:
    """How many columns of a terminal a text takes: wide signs two, combining ones none.

    Spec: OUT-TERM

    >>> width("abc"), width("東京"), width("e\u0301")
    (3, 4, 1)
    """
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width  # start-up is quicker without it

    return sum(
        0
        if category(sign) in ("Mn", "Me", "Cf")
        else 2
        if east_asian_width(sign) in ("W", "F")
        else 1
        for sign in text
    )


def left(text: str, columns: int) -> str:
    """Fill up a text on its right, so that it stands on the left."""
    return text + " " * (columns - width(text))


def right(text: str, columns: int) -> str:
    """Fill up a text on its left, so that it stands on the right."""
    return " " * (columns - width(text)) + text


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and "\\" not in text


def _shown(match: re.Match[str]) -> str:
    return match[0] if _belongs(match) else _code(match[0])


def _json_shown(match: re.Match[str]) -> str:
    if _belongs(match):
        return match[0]
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def _code(sign: str) -> str:
    number = ord(sign)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _belongs(match: re.Match[str]) -> bool:
    """Whether a joiner or a selector of variants stands where words and pictures have it."""
    sign, text = match[0], match.string
    before = text[match.start() - 1 : match.start()]
    after = text[match.end() : match.end() + 1]
    if "\ufe00" <= sign <= "\ufe0f":
        keycap = before != "" and before in "0123456789#*" and after == "\u20e3"
        return keycap or _within(before, _PICTURES + _IDEOGRAPHS + _JOINING)
    if "\U000e0100" <= sign <= "\U000e01ef":
        return _within(before, _IDEOGRAPHS)
    if sign == "\u200d" and _within(after, _PICTURES):
        return before == "\ufe0f" or _within(before, _PICTURES)
    if sign in "\u200c\u200d\u180b\u180c\u180d":
        ends = before != "" and before in _VIRAMAS  # half a letter, at the end of a word too
        return ends or (_within(before, _JOINING) and _within(after, _JOINING))
    return False


def _within(sign: str, ranges: _Ranges) -> bool:
    seen = sign != "" and _hidden().match(sign) is None
    return seen and any(low <= sign <= high for low, high in ranges)


# Compiled when they are needed: a start that shows plain text does not wait for them.


@cache
def _hidden() -> re.Pattern[str]:
    return re.compile(f"[{_HIDDEN}]")


@cache
def _slashes() -> re.Pattern[str]:
    return re.compile(rf"(\\+)(?={_ESCAPE}|[{_HIDDEN}])")


@cache
def _first_mark() -> re.Pattern[str]:
    return re.compile(f"[{_MARKS}]")


@cache
def _number() -> re.Pattern[str]:
    return re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
