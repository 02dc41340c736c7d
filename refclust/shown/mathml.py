r"""Formulas in LaTeX as MathML, which a browser shows by itself: no script, no network (OUT-HTML).

It knows the LaTeX that clauses and derivations are written in. What it does not know is shown as
the command it is; no formula, however broken, is an error here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from refclust.escape import for_html
from refclust.shown import signs

_TOKEN: Final = re.compile(r"\\[a-zA-Z]+\*?|\\.|[0-9]+(?:\.[0-9]+)?|\s+|.", re.DOTALL)
_PLAIN: Final = re.compile(r"[\w\s\[\]=.,:;()+*/|<>'’^-]*")
_DEEPEST: Final = 60
_LEFT: Final = ' style="text-align:left"'
_RIGHT: Final = ' style="text-align:right"'


class _Atom(NamedTuple):
    """One part of a formula, and where its bounds go."""

    markup: str
    limits: bool = False
    function: bool = False  # followed by a small space


def mathml(latex: str, *, block: bool = False) -> str:
    r"""A formula as a ``math`` element, with its LaTeX inside for whoever copies it.

    Spec: OUT-HTML

    >>> mathml("x^2").split("<semantics>")[1].split("<annotation")[0]
    '<msup><mi>x</mi><mn>2</mn></msup>'
    """
    parser = _Parser(latex)
    rows = []
    while True:
        rows.append(parser.row(frozenset()))
        if not parser.left:
            break
        parser.next()  # a brace, an end or a mark of a column that belongs to nothing
    body = _grouped("".join(rows))
    display = ' display="block"' if block else ""
    source = (
        f'<annotation encoding="application/x-tex">{for_html(_on_one_line(latex))}</annotation>'
    )
    return f"<math{display}><semantics>{body}{source}</semantics></math>"


def unknown_commands(latex: str) -> list[str]:
    """The commands of a formula that are shown as they are.

    >>> unknown_commands(r"\\frac{1}{2} \\hocus x")
    ['\\\\hocus']
    """
    parser = _Parser(latex)
    while parser.left:
        parser.row(frozenset())
        parser.next()
    return parser.unknown


def _on_one_line(latex: str) -> str:
    return " ".join(latex.split())


def _grouped(markup: str) -> str:
    """One element: a lone one as it is, else all in a row."""
    single = re.fullmatch(r"<(mi|mn|mo|mtext)[^<>]*>[^<>]*</\1>", markup)
    nested = markup.startswith(("<mfrac", "<msqrt", "<msu", "<mun", "<mov", "<mrow"))
    return markup if single or (nested and _is_single(markup)) else f"<mrow>{markup}</mrow>"


def _is_single(markup: str) -> bool:
    """Whether the first element ends where the text ends."""
    depth = 0
    for match in re.finditer(r"<(/?)\w[^<>]*?(/?)>", markup):
        if match[2]:
            continue
        depth += -1 if match[1] else 1
        if not depth:
            return match.end() == len(markup)
    return False


def _identifier(text: str) -> str:
    upright = ' mathvariant="normal"' if len(text) == 1 else ""
    return f"<mi{upright}>{for_html(text)}</mi>"


def _fence(sign: str, size: float | None = None) -> str:
    if sign in (".", ""):
        return ""
    stretch = (
        ' stretchy="false"'
        if size is None
        else f' stretchy="true" symmetric="true" minsize="{size}em" maxsize="{size}em"'
    )
    return f"<mo{stretch}>{for_html(sign)}</mo>"


def _space(width: float) -> str:
    return f'<mspace width="{width}em"/>'


class _Parser:
    """Reads a formula from left to right."""

    def __init__(self, latex: str) -> None:
        self._tokens = _TOKEN.findall(latex)
        self._place = 0
        self._depth = 0
        self.unknown: list[str] = []

    @property
    def left(self) -> bool:
        """Whether something is still to be read."""
        return self._place < len(self._tokens)

    def peek(self) -> str:
        """The next token that is no blank; empty at the end."""
        while self.left and self._tokens[self._place].isspace():
            self._place += 1
        return self._tokens[self._place] if self.left else ""

    def next(self) -> str:
        """Take the next token that is no blank."""
        token = self.peek()
        self._place += 1
        return token

    def row(self, ends: frozenset[str]) -> str:
        """All parts up to one of some tokens, or to what can only end something."""
        if self._depth > _DEEPEST:
            rest = "".join(self._tokens[self._place :])
            self._place = len(self._tokens)
            return f"<mtext>{for_html(rest)}</mtext>"
        self._depth += 1
        parts = []
        while (token := self.peek()) and token not in ends:
            if token in ("}", "&", "\\\\", "\\right", "\\end"):
                break
            atom = self.scripted(self.atom())
            parts.append(atom.markup)
            follows = self.peek()
            if atom.function and follows and follows not in ends:
                bracket = follows in ("(", "[", "}", "&", ",", "=", "\\left", "\\bigl", "\\Bigl")
                parts.append("" if bracket or follows in ("\\,", "\\;") else _space(0.167))
        self._depth -= 1
        return "".join(parts)

    def scripted(self, atom: _Atom) -> _Atom:
        """A part with what stands below and above it."""
        below, above = "", ""
        while (token := self.peek()) in ("_", "^", "'", "\\limits", "\\nolimits"):
            self.next()
            if token == "'":
                above += "<mo>′</mo>"
            elif token == "_":
                below += self.argument()
            elif token == "^":
                above += self.argument()
            else:
                atom = atom._replace(limits=token == "\\limits")
        if not below and not above:
            return atom
        base = _grouped(atom.markup)
        names = ("munder", "mover", "munderover") if atom.limits else ("msub", "msup", "msubsup")
        if below and above:
            markup = f"<{names[2]}>{base}{_grouped(below)}{_grouped(above)}</{names[2]}>"
        else:
            name = names[0] if below else names[1]
            markup = f"<{name}>{base}{_grouped(below or above)}</{name}>"
        return _Atom(markup, False, atom.function)

    def argument(self) -> str:
        """What a command is applied to: a group, or the next part."""
        if self.peek() == "{":
            self.next()
            markup = self.row(frozenset(["}"]))
            self._take("}")
            return markup
        token = self.peek()
        if token[:1].isdecimal() and len(token) > 1:  # \frac12 is a half
            self._tokens[self._place : self._place + 1] = [token[0], token[1:]]
        return self.atom().markup if token not in ("", "}", "&", "\\right") else ""

    def raw(self) -> str:
        """The text of a group as it is written, or the next token."""
        if self.peek() != "{":
            return self.next()
        self.next()
        depth, texts = 1, []
        while self.left:
            token = self._tokens[self._place]
            self._place += 1
            depth += (token == "{") - (token == "}")
            if not depth:
                break
            texts.append(token)
        return "".join(texts)

    def atom(self) -> _Atom:
        """The next part, without its bounds."""
        token = self.next()
        if token == "{":
            markup = self.row(frozenset(["}"]))
            self._take("}")
            return _Atom(_grouped(markup))
        if token.startswith("\\") and len(token) > 1:
            return self._command(token[1:])
        if token[:1].isdecimal():
            return _Atom(f"<mn>{for_html(token)}</mn>")
        if token.isalpha():
            return _Atom(f"<mi>{for_html(token)}</mi>")
        if token in ("(", ")", "[", "]", "|", "/"):
            return _Atom(_fence(token))
        shown = {"-": "−", "*": "∗", "~": "\u00a0"}.get(token, token)
        return _Atom(f"<mo>{for_html(shown)}</mo>")

    def _take(self, token: str) -> None:
        if self.peek() == token:
            self.next()

    def _command(self, name: str) -> _Atom:
        special = _SPECIAL.get(name)
        if special is not None:
            return special(self)
        if name in signs.LETTERS:
            return _Atom(f"<mi>{signs.LETTERS[name]}</mi>")
        if name in signs.UPRIGHT:
            return _Atom(_identifier(signs.UPRIGHT[name]))
        if name == "mid":
            return _Atom('<mo stretchy="false" lspace="0.28em" rspace="0.28em">∣</mo>')
        if name in signs.OPERATORS:
            return _Atom(f"<mo>{signs.OPERATORS[name]}</mo>")
        if name in signs.LARGE:
            return _Atom(f"<mo>{signs.LARGE[name]}</mo>", limits=True)
        if name in signs.INTEGRALS:
            return _Atom(f"<mo>{signs.INTEGRALS[name]}</mo>")
        if name in signs.FUNCTIONS or name in signs.LIMITED:
            return _Atom(f"<mi>{name}</mi>", limits=name in signs.LIMITED, function=True)
        if name in signs.SPACES:
            return _Atom(_space(signs.SPACES[name]))
        if name in signs.FENCES:
            return _Atom(_fence(signs.FENCES[name]))
        if name in signs.ACCENTS:
            return self._accent(name)
        if name in signs.SIZES:
            return _Atom(_fence(self._delimiter(), signs.SIZES[name]))
        if len(name) == 1 and not name.isalpha():  # \_ \# \% \& \$
            return _Atom(f"<mi>{for_html(name)}</mi>")
        self.unknown.append(f"\\{name}")
        return _Atom(f"<mtext>{for_html(chr(92) + name)}</mtext>")

    def _accent(self, name: str) -> _Atom:
        base = _grouped(self.argument())
        sign = signs.ACCENTS[name]
        if name in ("overline", "widehat", "widetilde"):
            return _Atom(f'<mover>{base}<mo stretchy="true">{sign}</mo></mover>')
        return _Atom(f'<mover accent="true">{base}<mo stretchy="false">{sign}</mo></mover>')

    def _delimiter(self) -> str:
        token = self.next()
        if token.startswith("\\"):
            return signs.FENCES.get(token[1:], token[1:])
        return "" if token == "." else token

    # -- commands with a rule of their own -----------------------------------------------------

    def fraction(self) -> _Atom:
        top, bottom = _grouped(self.argument()), _grouped(self.argument())
        return _Atom(f"<mfrac>{top}{bottom}</mfrac>")

    def small_fraction(self) -> _Atom:
        return _Atom(f'<mstyle displaystyle="false">{self.fraction().markup}</mstyle>')

    def large_fraction(self) -> _Atom:
        return _Atom(f'<mstyle displaystyle="true">{self.fraction().markup}</mstyle>')

    def binomial(self) -> _Atom:
        top, bottom = _grouped(self.argument()), _grouped(self.argument())
        inside = f'<mfrac linethickness="0">{top}{bottom}</mfrac>'
        return _Atom(f"<mrow><mo>(</mo>{inside}<mo>)</mo></mrow>")

    def root(self) -> _Atom:
        if self.peek() == "[":
            self.next()
            degree = _grouped(self.row(frozenset(["]"])))
            self._take("]")
            return _Atom(f"<mroot>{_grouped(self.argument())}{degree}</mroot>")
        return _Atom(f"<msqrt>{self.argument()}</msqrt>")

    def text(self) -> _Atom:
        """Words, maybe with formulas in them."""
        parts = re.split(r"(?<!\\)\$", self.raw())
        markup = []
        for place, part in enumerate(parts):
            if place % 2:
                markup.append(_Parser(part).row(frozenset()))
            elif part:
                words = re.sub(r"\A | \Z", "\u00a0", _words(part))
                markup.append(f"<mtext>{for_html(words)}</mtext>")
        return _Atom(_grouped("".join(markup)) if markup else "")

    def code(self) -> _Atom:
        text = for_html(_words(self.raw()))
        return _Atom(f'<mtext style="font-family:monospace">{text}</mtext>')

    def upright(self) -> _Atom:
        raw = self.raw()
        words = _words(raw)
        if "\\" not in words and _PLAIN.fullmatch(words):
            return _Atom(_identifier(words), function=len(words) > 1)
        return _Atom(_grouped(_Parser(raw).row(frozenset())))

    def operator(self) -> _Atom:
        return self.upright()._replace(function=True)

    def limited_operator(self) -> _Atom:
        return self.upright()._replace(limits=True, function=True)

    def lettered(self, letter: Callable[[str], str]) -> _Atom:
        """Letters in another shape."""
        raw = self.raw()
        if raw.startswith("\\"):
            known = {**signs.LETTERS, **signs.UPRIGHT}.get(raw[1:].strip())
            raw = raw if known is None else known
        return _Atom(_identifier("".join(map(letter, raw))))

    def modulo(self) -> _Atom:
        inside = self.argument()
        return _Atom(f"{_space(1.0)}<mo>(</mo><mi>mod</mi>{_space(0.333)}{inside}<mo>)</mo>")

    def between(self) -> _Atom:
        """``\\left( … \\right)``, as high as what is inside."""
        opening = self._delimiter()
        inside = self.row(frozenset())
        closing = ""
        if self.peek() == "\\right":
            self.next()
            closing = self._delimiter()
        left, right = (
            f'<mo fence="true">{for_html(sign)}</mo>' if sign else "" for sign in (opening, closing)
        )
        return _Atom(f"<mrow>{left}{inside}{right}</mrow>")

    def environment(self) -> _Atom:
        """``cases``, ``aligned`` and matrices."""
        name = self.raw()
        rows: list[list[str]] = [[""]]
        while self.left and self.peek() != "\\end":
            rows[-1][-1] += self.row(frozenset())
            token = self.peek()
            if token == "&":
                self.next()
                rows[-1].append("")
            elif token == "\\\\":
                self.next()
                rows.append([""])
            elif token != "\\end":
                self.next()  # a brace that belongs to nothing
        if self.left:
            self.next()
            self.raw()
        return _Atom(_tabled(name, [row for row in rows if any(row)]))

    def nothing(self) -> _Atom:
        """A command that only changes the size of what follows, which MathML decides itself."""
        return _Atom("")

    def wide(self) -> _Atom:
        return _Atom(f"<munder>{_grouped(self.argument())}<mo>_</mo></munder>")

    def modulus(self) -> _Atom:
        return _Atom('<mo lspace="0.28em" rspace="0.28em">mod</mo>')

    def binary(self) -> _Atom:
        return _Atom(_grouped(self.argument()))


def _tabled(name: str, rows: list[list[str]]) -> str:
    aligned = name.startswith(("aligned", "align"))
    lines = []
    for row in rows:
        cells = []
        for place, cell in enumerate(row):
            style = _LEFT if name == "cases" or (aligned and place % 2) else ""
            style = _RIGHT if aligned and place % 2 == 0 else style
            inside = f'<mstyle displaystyle="true">{cell}</mstyle>' if aligned else cell
            cells.append(f"<mtd{style}>{inside}</mtd>")
        lines.append(f"<mtr>{''.join(cells)}</mtr>")
    table = f"<mtable>{''.join(lines)}</mtable>"
    left, right = {"cases": ("{", ""), "pmatrix": ("(", ")"), "bmatrix": ("[", "]")}.get(
        name, ("", "")
    )
    before, after = (f'<mo fence="true">{sign}</mo>' if sign else "" for sign in (left, right))
    return f"<mrow>{before}{table}{after}</mrow>"


def _words(text: str) -> str:
    """The text that LaTeX would set, without the commands that only protect signs."""
    text = re.sub(r"\\textbackslash\{\}", "\x00", text)
    named = {"asciitilde": "~", "asciicircum": "^", "less": "<", "greater": ">"}
    text = re.sub(r"\\text(\w+)\{\}", lambda match: named.get(match[1], "`"), text)
    text = text.replace(r"\symbol{34}", '"').replace(r"\dots{}", "…")
    text = re.sub(
        r"\\([&%$#_{} ,;])", lambda match: match[1] if match[1] not in ",;" else " ", text
    )
    return text.replace("{}", "").replace("---", "—").replace("--", "–").replace("\x00", "\\")


_SPECIAL: Final[dict[str, Callable[[_Parser], _Atom]]] = {
    "frac": _Parser.fraction,
    "tfrac": _Parser.small_fraction,
    "dfrac": _Parser.large_fraction,
    "binom": _Parser.binomial,
    "sqrt": _Parser.root,
    "text": _Parser.text,
    "textrm": _Parser.text,
    "texttt": _Parser.code,
    "mathtt": _Parser.code,
    "mathrm": _Parser.upright,
    "operatorname": _Parser.operator,
    "operatorname*": _Parser.limited_operator,
    "mathbf": lambda parser: parser.lettered(signs.bold),
    "boldsymbol": lambda parser: parser.lettered(signs.bold),
    "mathcal": lambda parser: parser.lettered(signs.script),
    "mathbb": lambda parser: parser.lettered(signs.double),
    "left": _Parser.between,
    "begin": _Parser.environment,
    "pmod": _Parser.modulo,
    "bmod": _Parser.modulus,
    "underline": _Parser.wide,
    "mathbin": _Parser.binary,
    "mathrel": _Parser.binary,
    "textstyle": _Parser.nothing,
    "displaystyle": _Parser.nothing,
    "scriptstyle": _Parser.nothing,
    "limits": _Parser.nothing,
    "nolimits": _Parser.nothing,
}
