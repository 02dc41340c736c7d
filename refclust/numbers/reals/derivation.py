"""The derivation of an exact real, with its own numbers in it (chapter 05, NUM-STEPS).

Named nodes become steps. Each step shows the formula in terms of earlier names, the same formula
with their values, and the value. A sum of more than eight terms is shown as Σ with a table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from refclust.numbers.real import (
    ENCLOSED,
    EXP,
    LEAF,
    LOG,
    NAMED,
    POWER,
    PRODUCT,
    QUOTIENT,
    SQRT,
    SUM,
    Real,
    leaf_value,
    postorder,
)

LONGEST_SUM = 8
LONGEST_TABLE = 60
DIGITS = 40
TERM_DIGITS = 20
_DEEPEST = 40
_MOST_NODES = 2000  # shared parts are written out each time, so depth alone bounds nothing
_MOST_BITS = 4000  # a longer integer is no longer read, and Python refuses to print far longer ones

# How tightly each kind of node binds; a looser argument needs parentheses.
_BINDING = {SUM: 1, PRODUCT: 2, QUOTIENT: 2, POWER: 4}


@dataclass(frozen=True, slots=True)
class Notation:
    """How one output format writes arithmetic."""

    times: str
    minus: str
    quotient: Callable[[str, str], str]
    power: Callable[[str, int], str]
    function: Callable[[str, str], str]
    group: Callable[[str], str]
    sigma: Callable[[int, int], str]
    rational: Callable[[Fraction], str]
    latex: bool

    def decimal(self, x: Real, digits: int) -> str:
        """Write a number in decimals."""
        return x.digits(digits).replace("-", self.minus)


def _is_readable(value: Fraction) -> bool:
    return max(value.numerator.bit_length(), value.denominator.bit_length()) <= _MOST_BITS


def _text_rational(value: Fraction) -> str:
    if not _is_readable(value):
        return Real(value).digits(TERM_DIGITS).replace("-", "−")
    return str(value).replace("-", "−")


def _latex_rational(value: Fraction) -> str:
    if not _is_readable(value):
        return Real(value).digits(TERM_DIGITS)
    if value.denominator == 1:
        return str(value.numerator)
    minus = "-" if value < 0 else ""
    return rf"{minus}\tfrac{{{abs(value.numerator)}}}{{{value.denominator}}}"


_TEXT_FUNCTIONS = {LOG: "log", EXP: "exp", SQRT: "√"}

TEXT = Notation(
    times=" · ",
    minus="−",
    quotient=lambda top, bottom: f"{top} / {bottom}",
    power=lambda base, exponent: f"{base}^{exponent}",
    function=lambda op, argument: f"{_TEXT_FUNCTIONS[op]}({argument})",
    group=lambda inside: f"({inside})",
    sigma=lambda number, count: f"Σ({count} terms, table {number})",
    rational=_text_rational,
    latex=False,
)
LATEX = Notation(
    times=r"\cdot ",
    minus="-",
    quotient=lambda top, bottom: rf"\frac{{{top}}}{{{bottom}}}",
    power=lambda base, exponent: f"{base}^{{{exponent}}}",
    function=lambda op, argument: (
        rf"\sqrt{{{argument}}}" if op == SQRT else rf"\{op}\left({argument}\right)"
    ),
    group=lambda inside: rf"\left({inside}\right)",
    sigma=lambda number, count: rf"\textstyle\sum_{{\text{{{count} terms, table {number}}}}}",
    rational=_latex_rational,
    latex=True,
)


@dataclass(frozen=True, slots=True)
class Table:
    """The terms of one long sum."""

    number: int
    terms: tuple[Real, ...]


@dataclass(frozen=True, slots=True)
class DerivationStep:
    """One named number: its symbol, its tree and its value."""

    symbol: str
    latex: str
    tree: Real
    exact: Fraction | None
    decimal: str


@dataclass(frozen=True, slots=True)
class Derivation:
    """The steps that lead to a number, in the order in which they can be computed.

    Spec: NUM-STEPS

    >>> from refclust.numbers.real import log
    >>> half = (log(2) / log(4)).named("x")
    >>> print(half.steps().text())
    x = log(2) / log(4)
      = 1/2
      = 0.5
    """

    steps: tuple[DerivationStep, ...]
    tables: tuple[Table, ...] = field(default=())

    def headline(self) -> str:
        """Return the last formula on one line."""
        step = self.steps[-1]
        return f"{step.symbol} = {_Writer(TEXT, self.tables).write(step.tree)}"

    def text(self) -> str:
        """Return the derivation for a terminal."""
        lines: list[str] = []
        for step in self.steps:
            indent = " " * (len(step.symbol) + 1)
            first, *rest = _readings(step, TEXT, self.tables)
            lines.append(f"{step.symbol} = {first}")
            lines.extend(f"{indent}= {reading}" for reading in rest)
        for table in self.tables:
            lines += ["", f"table {table.number}: the {len(table.terms)} terms of the sum"]
            rows = _rows(table, TEXT, self.tables)
            width = max(len(formula) for formula, _ in rows)
            lines.extend(f"  {formula:<{width}}  {value}" for formula, value in rows)
        return "\n".join(lines)

    def markdown(self) -> str:
        """Return the derivation as Markdown with formulas in LaTeX."""
        lines: list[str] = []
        for step in self.steps:
            body = " \\\\\n&= ".join(_readings(step, LATEX, self.tables))
            lines += ["$$", "\\begin{aligned}", f"{step.latex} &= {body}", "\\end{aligned}", "$$"]
            lines.append("")
        for table in self.tables:
            lines += [f"Table {table.number}: the {len(table.terms)} terms of the sum.", ""]
            lines += ["| term | value |", "|---|---|"]
            rows = _rows(table, LATEX, self.tables)
            lines.extend(f"| ${formula}$ | {value} |" for formula, value in rows)
            lines.append("")
        return "\n".join(lines).rstrip()

    def latex(self) -> str:
        """Return the derivation as LaTeX for the amsmath and longtable packages."""
        lines: list[str] = []
        for step in self.steps:
            body = " \\\\\n  &= ".join(_readings(step, LATEX, self.tables))
            lines += ["\\begin{align*}", f"  {step.latex} &= {body}", "\\end{align*}"]
        for table in self.tables:
            lines += ["\\begin{longtable}{lr}", "  term & value \\\\ \\hline"]
            rows = _rows(table, LATEX, self.tables)
            lines.extend(f"  ${formula}$ & {value} \\\\" for formula, value in rows)
            lines.append("\\end{longtable}")
        return "\n".join(lines)


def derive(root: Real) -> Derivation:
    """Return the derivation of a number.

    Spec: NUM-STEPS

    >>> from refclust.numbers.real import Real
    >>> derive(Real(1) / 3).headline()
    'x = 1 / 3'
    """
    named = [x for x in postorder(root) if x.op == NAMED]
    if root.op != NAMED:
        taken = {x.content[0] for x in named if isinstance(x.content, tuple)}
        free = "x"
        while free in taken:
            free += "'"
        named.append(root.named(free))
    steps, seen = [], set()
    for x in named:
        assert isinstance(x.content, tuple)
        symbol, latex = x.content
        if symbol not in seen:
            seen.add(symbol)
            steps.append(DerivationStep(symbol, latex, x.args[0], x.fraction, x.digits(DIGITS)))
    return Derivation(tuple(steps), _tables(root))


def formula(root: Real) -> str:
    """Return the formula of a number on one line, without working out anything.

    Spec: NUM-STEPS

    >>> from refclust.numbers.real import log
    >>> formula(log(2) / 3)
    'log(2) / 3'
    """
    return _Writer(TEXT, _tables(root), blind=True).write(root)


def _tables(root: Real) -> tuple[Table, ...]:
    sums = [x for x in postorder(root) if x.op == SUM and len(x.args) > LONGEST_SUM]
    return tuple(Table(number, x.args) for number, x in enumerate(sums, start=1))


def _readings(step: DerivationStep, notation: Notation, tables: tuple[Table, ...]) -> list[str]:
    """Return the formula, the formula with numbers, the fraction and the decimals."""
    formula = _Writer(notation, tables).write(step.tree)
    numbers = _Writer(notation, tables, values=True).write(step.tree)
    exact = []
    if step.exact is not None and _is_readable(step.exact):
        exact.append(notation.rational(step.exact))
    candidates = [formula, numbers, *exact, step.decimal.replace("-", notation.minus)]
    return [text for i, text in enumerate(candidates) if text not in candidates[:i]]


def _rows(table: Table, notation: Notation, tables: tuple[Table, ...]) -> list[tuple[str, str]]:
    writer = _Writer(notation, tables)
    shown = table.terms[:LONGEST_TABLE]
    rows = [(writer.write(term), notation.decimal(term, TERM_DIGITS)) for term in shown]
    hidden = len(table.terms) - len(shown)
    return [*rows, ("…", f"and {hidden} more")] if hidden else rows


class _Writer:
    """Writes a tree in one notation, names as symbols or as their values."""

    def __init__(
        self,
        notation: Notation,
        tables: tuple[Table, ...],
        *,
        values: bool = False,
        blind: bool = False,
    ) -> None:
        self._notation = notation
        self._numbers = {id(table.terms): table.number for table in tables}
        self._values = values
        self._blind = blind  # evaluate nothing
        self._written = 0

    def write(self, x: Real, depth: int = 0) -> str:
        notation = self._notation
        self._written = self._written + 1 if depth else 1
        if depth > _DEEPEST or self._written > _MOST_NODES:
            return "…"
        if x.op == LEAF:
            return notation.rational(leaf_value(x))
        if x.op == NAMED:
            assert isinstance(x.content, tuple)
            return self._value(x) if self._values else x.content[notation.latex]
        if x.op == ENCLOSED:
            return "?" if self._blind else notation.decimal(x, TERM_DIGITS)
        if x.op == SUM:
            return self._sum(x, depth)
        if x.op == PRODUCT:
            return self._product(x, depth)
        if x.op == QUOTIENT:
            # The bar of a fraction holds its parts together; a stroke needs parentheses.
            binding = 0 if notation.latex else 3
            top, bottom = (self._argument(arg, binding, depth) for arg in x.args)
            return notation.quotient(top, bottom)
        if x.op == POWER:
            assert isinstance(x.content, int)
            return notation.power(self._argument(x.args[0], 5, depth), x.content)
        return notation.function(x.op, self.write(x.args[0], depth + 1))

    def _value(self, x: Real) -> str:
        exact = x.fraction
        if exact is None:
            return self._notation.decimal(x, TERM_DIGITS)
        return self._notation.rational(exact)

    def _argument(self, x: Real, binding: int, depth: int) -> str:
        written = self.write(x, depth + 1)
        own = _BINDING.get(x.op, 5)
        if x.op == LEAF or (x.op == NAMED and self._values):
            own = 3 if written.startswith("\\") else 2 if "/" in written else 5
        if written.startswith(self._notation.minus):
            own = min(own, 2)
        return written if own >= binding else self._notation.group(written)

    def _sum(self, x: Real, depth: int) -> str:
        if id(x.args) in self._numbers:
            return self._notation.sigma(self._numbers[id(x.args)], len(x.args))
        if not x.args:
            return "0"
        parts = [self._argument(x.args[0], 1, depth)]
        for term in x.args[1:]:
            written = self._argument(term, 2, depth)
            negative = written.startswith(self._notation.minus)
            sign = self._notation.minus if negative else "+"
            parts.append(f"{sign} {written.removeprefix(self._notation.minus)}")
        return " ".join(parts)

    def _product(self, x: Real, depth: int) -> str:
        factors = list(x.args)
        minus = ""
        if len(factors) > 1 and factors[0].op == LEAF and leaf_value(factors[0]) == -1:
            minus, factors = self._notation.minus, factors[1:]
        written = [self._argument(factor, 2, depth) for factor in factors]
        # A second sign in front or after a dot would not be read as one.
        for place, text in enumerate(written):
            if text.startswith(self._notation.minus) and (place or minus):
                written[place] = self._notation.group(text)
        return minus + self._notation.times.join(written)
