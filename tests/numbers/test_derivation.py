"""Derivations: what each shape looks like in text and LaTeX, steps, tables, and their limits."""

from __future__ import annotations

from fractions import Fraction

import pytest

from refclust.numbers.real import Real, enclosed, exp, log, node, sqrt, total
from refclust.numbers.reals import derivation
from refclust.numbers.reals.derivation import DIGITS, DerivationStep, Table, derive, formula

pytestmark = pytest.mark.spec("NUM-STEPS")

A = log(2).named("a", r"\alpha")
B = Real("-2/3").named("b")
C = Real("2/3").named("c")
LN2 = "0.6931471805599453094172321214581765680755"
SHORT = "0.69314718055994530942"
NEGATIVE = enclosed(lambda digits: (-log(3)).enclosure(digits))

# The tree, its formula, the formula with numbers, and both in LaTeX.
SHAPES = [
    (A + B, "a + b", f"{SHORT} − 2/3", r"\alpha + b", rf"{SHORT} - \tfrac{{2}}{{3}}"),
    (
        (A - B) * (A + 1) / (B * 3),
        "((a − b) · (a + 1)) / (b · 3)",
        f"(({SHORT} − (−2/3)) · ({SHORT} + 1)) / (−2/3 · 3)",
        r"\frac{\left(\alpha - b\right)\cdot \left(\alpha + 1\right)}{b\cdot 3}",
        rf"\frac{{\left({SHORT} - \left(-\tfrac{{2}}{{3}}\right)\right)"
        rf"\cdot \left({SHORT} + 1\right)}}{{-\tfrac{{2}}{{3}}\cdot 3}}",
    ),
    (
        (A * B) ** 2,
        "(a · b)^2",
        f"({SHORT} · (−2/3))^2",
        r"\left(\alpha\cdot b\right)^{2}",
        rf"\left({SHORT}\cdot \left(-\tfrac{{2}}{{3}}\right)\right)^{{2}}",
    ),
    (
        Real("1/2") ** 3 + Real("-1/2") ** 2,
        "(1/2)^3 + (−1/2)^2",
        None,
        r"\left(\tfrac{1}{2}\right)^{3} + \left(-\tfrac{1}{2}\right)^{2}",
        None,
    ),
    (
        -(A + B),
        "−(a + b)",
        f"−({SHORT} − 2/3)",
        r"-\left(\alpha + b\right)",
        rf"-\left({SHORT} - \tfrac{{2}}{{3}}\right)",
    ),
    (
        -(-2 * log(3)),
        "−(−2 · log(3))",
        None,
        r"-\left(-2\cdot \log\left(3\right)\right)",
        None,
    ),
    (2 * (-log(3)), "2 · (−log(3))", None, r"2\cdot \left(-\log\left(3\right)\right)", None),
    (
        1 / (1 / (A + 2)),
        "1 / (1 / (a + 2))",
        f"1 / (1 / ({SHORT} + 2))",
        r"\frac{1}{\frac{1}{\alpha + 2}}",
        rf"\frac{{1}}{{\frac{{1}}{{{SHORT} + 2}}}}",
    ),
    (
        (log(3) / 7) ** -2,
        "(log(3) / 7)^-2",
        None,
        r"\left(\frac{\log\left(3\right)}{7}\right)^{-2}",
        None,
    ),
    (
        exp(sqrt(A)),
        "exp(√(a))",
        f"exp(√({SHORT}))",
        r"\exp\left(\sqrt{\alpha}\right)",
        rf"\exp\left(\sqrt{{{SHORT}}}\right)",
    ),
    (
        total([log(2), -3, Fraction(1, 2) * log(5), Fraction(-1, 2)]),
        "log(2) − 3 + 1/2 · log(5) − 1/2",
        None,
        r"\log\left(2\right) - 3 + \tfrac{1}{2}\cdot \log\left(5\right) - \tfrac{1}{2}",
        None,
    ),
    (total([]), "0", None, "0", None),
    (
        B**2 * B,
        "b^2 · b",
        "(−2/3)^2 · (−2/3)",
        r"b^{2}\cdot b",
        r"\left(-\tfrac{2}{3}\right)^{2}\cdot \left(-\tfrac{2}{3}\right)",
    ),
    (
        (A**2) ** 3,
        "(a^2)^3",
        f"({SHORT}^2)^3",
        r"\left(\alpha^{2}\right)^{3}",
        rf"\left({SHORT}^{{2}}\right)^{{3}}",
    ),
    (
        A * Fraction(1, 3) * -2,
        "a · 1/3 · (−2)",
        f"{SHORT} · 1/3 · (−2)",
        r"\alpha\cdot \tfrac{1}{3}\cdot \left(-2\right)",
        rf"{SHORT}\cdot \tfrac{{1}}{{3}}\cdot \left(-2\right)",
    ),
    (
        NEGATIVE**2 + 1,
        "(−1.0986122886681096914)^2 + 1",
        None,
        r"\left(-1.0986122886681096914\right)^{2} + 1",
        None,
    ),
    (
        A - (A - 1),
        "a − (a − 1)",
        f"{SHORT} − ({SHORT} − 1)",
        r"\alpha - \left(\alpha - 1\right)",
        rf"{SHORT} - \left({SHORT} - 1\right)",
    ),
    (
        B / B,
        "b / b",
        "(−2/3) / (−2/3)",
        r"\frac{b}{b}",
        r"\frac{-\tfrac{2}{3}}{-\tfrac{2}{3}}",
    ),
    (
        log(Fraction(3, 7)) / Fraction(2, 5),
        "log(3/7) / (2/5)",
        None,
        r"\frac{\log\left(\tfrac{3}{7}\right)}{\tfrac{2}{5}}",
        None,
    ),
    ((log(2) + 1) + (log(3) + 2), "log(2) + 1 + (log(3) + 2)", None, None, None),
    (-log(2) + log(3), "−log(2) + log(3)", None, None, None),
    (2 * log(3) / 5 * 7, "(2 · log(3)) / 5 · 7", None, None, None),
    (Real(-1) * log(2) * 3, "−log(2) · 3", None, None, None),
    (node("product", (Real(-1),)), "−1", None, "-1", None),
    (node("product", (Real(3), log(2), log(5))), "3 · log(2) · log(5)", None, None, None),
    (Real("-7/3") + log(2), "−7/3 + log(2)", None, None, None),
    (Real(-3) / log(2), "(−3) / log(2)", None, None, None),
    (C**2 / C, "c^2 / c", "(2/3)^2 / (2/3)", None, None),
    (
        C**2 * C,
        "c^2 · c",
        "(2/3)^2 · 2/3",
        r"c^{2}\cdot c",
        r"\left(\tfrac{2}{3}\right)^{2}\cdot \tfrac{2}{3}",
    ),
    (log(2) + Real(-5), "log(2) − 5", None, r"\log\left(2\right) - 5", None),
]


@pytest.mark.parametrize("place", range(len(SHAPES)))
def test_shapes(place: int) -> None:
    x, plain, numbers, latex, latex_numbers = SHAPES[place]
    steps = x.steps()
    assert steps.headline() == f"x = {plain}"
    lines = steps.text().splitlines()
    first = lines.index(f"x = {plain}")
    rest = [line.removeprefix("  = ") for line in lines[first + 1 :]]
    if numbers is not None:
        assert rest.pop(0) == numbers
    exact, decimal = x.fraction, x.digits(DIGITS).replace("-", "−")
    wanted = [] if exact is None else [str(exact).replace("-", "−")]
    wanted += [decimal] if decimal not in wanted else []
    assert rest == [line for line in wanted if line != plain]
    if latex is not None:
        written = steps.latex().split("\\begin{align*}\n")[-1].splitlines()
        assert written[0] == f"  x &= {latex} \\\\" or written[0] == f"  x &= {latex}"
        if latex_numbers is not None:
            assert written[1] == f"  &= {latex_numbers} \\\\"


def test_formulas_work_out_nothing() -> None:
    refused = enclosed(lambda _: pytest.fail("nobody may ask"))
    assert formula(1 / (refused - 2)) == "1 / (? − 2)"
    assert formula(refused.named("E")) == "E"
    assert formula(log(0) / 0) == "log(0) / 0"


def test_text_of_a_whole_derivation() -> None:
    ratio = (A + B).named("r", r"\rho") / A
    assert ratio.steps().text() == "\n".join(
        [
            "a = log(2)",
            f"  = {LN2}",
            "b = −2/3",
            "  = −0.6666666666666666666666666666666666666667",
            "r = a + b",
            f"  = {SHORT} − 2/3",
            "  = 0.02648051389327864275056545479150990140883",
            "x = r / a",
            f"  = 0.026480513893278642751 / {SHORT}",
            "  = 0.03820330607402439509338354599873857504890",
        ]
    )
    named = log(2).named("long name")
    assert named.steps().text() == f"long name = log(2)\n          = {LN2}"


def test_latex_and_markdown_of_a_whole_derivation() -> None:
    x = (A - 1).named("y", "Y")
    assert x.steps().latex() == "\n".join(
        [
            r"\begin{align*}",
            r"  \alpha &= \log\left(2\right) \\",
            f"  &= {LN2}",
            r"\end{align*}",
            r"\begin{align*}",
            r"  Y &= \alpha - 1 \\",
            rf"  &= {SHORT} - 1 \\",
            "  &= -0.3068528194400546905827678785418234319245",
            r"\end{align*}",
        ]
    )
    assert x.steps().markdown() == "\n".join(
        [
            "$$",
            r"\begin{aligned}",
            r"\alpha &= \log\left(2\right) \\",
            f"&= {LN2}",
            r"\end{aligned}",
            "$$",
            "",
            "$$",
            r"\begin{aligned}",
            r"Y &= \alpha - 1 \\",
            rf"&= {SHORT} - 1 \\",
            "&= -0.3068528194400546905827678785418234319245",
            r"\end{aligned}",
            "$$",
        ]
    )


def test_steps_hold_symbol_tree_and_value() -> None:
    half = (log(2) / log(4)).named("h", "H")
    steps = (half + A).steps().steps
    assert [step.symbol for step in steps] == ["h", "a", "x"]
    assert steps[0] == DerivationStep("h", "H", half.args[0], Fraction(1, 2), "0.5")
    assert steps[1].exact is None
    assert steps[1].decimal == LN2
    assert derive(half).steps == (steps[0],)
    # A name used twice is one step, the first.
    assert [step.symbol for step in (A * A + log(2).named("a")).steps().steps] == ["a", "x"]


def test_the_result_takes_a_name_that_is_free() -> None:
    assert log(2).steps().headline() == "x = log(2)"
    x = log(2).named("x", "X")
    assert (x + 1).steps().headline() == "x' = x + 1"
    assert (x + log(3).named("x'")).steps().headline() == "x'' = x + x'"
    assert x.steps().headline() == "x = log(2)"


# -- long sums ----------------------------------------------------------------------------------


def test_a_sum_of_eight_terms_is_written_out() -> None:
    eight = total(log(k) for k in range(2, 10))
    assert eight.steps().tables == ()
    assert eight.steps().headline().count("log") == 8


def test_a_sum_of_nine_terms_is_a_table() -> None:
    nine = total(-log(k) for k in range(2, 11))
    other = total([log(3)] * 9)
    steps = (nine / other).named("q").steps()
    assert steps.headline() == "q = (Σ(9 terms, table 1)) / (Σ(9 terms, table 2))"
    assert formula(nine) == "Σ(9 terms, table 1)"
    assert steps.tables == (Table(1, nine.args), Table(2, other.args))
    text = steps.text().split("\n\n")
    assert text[1].splitlines()[:3] == [
        "table 1: the 9 terms of the sum",
        "  −log(2)   −0.69314718055994530942",
        "  −log(3)   −1.0986122886681096914",
    ]
    assert text[1].splitlines()[-1] == "  −log(10)  −2.3025850929940456840"
    assert text[2].splitlines()[0] == "table 2: the 9 terms of the sum"
    assert len(text[2].splitlines()) == 10
    latex = steps.latex()
    assert (
        r"\frac{\textstyle\sum_{\text{9 terms, table 1}}}"
        r"{\textstyle\sum_{\text{9 terms, table 2}}}" in latex
    )
    assert "\n".join(
        [
            r"\begin{longtable}{lr}",
            r"  term & value \\ \hline",
            r"  $-\log\left(2\right)$ & -0.69314718055994530942 \\",
        ]
    ) in (latex)
    assert latex.endswith(
        "  $\\log\\left(3\\right)$ & 1.0986122886681096914 \\\\\n\\end{longtable}"
    )
    markdown = steps.markdown()
    assert "\n\nTable 1: the 9 terms of the sum.\n\n| term | value |\n|---|---|\n" in markdown
    assert "| $-\\log\\left(2\\right)$ | -0.69314718055994530942 |\n" in markdown
    assert "\n\nTable 2: the 9 terms of the sum.\n\n" in markdown
    assert markdown.endswith("| $\\log\\left(3\\right)$ | 1.0986122886681096914 |")


def test_a_long_product_is_no_table() -> None:
    product = node("product", tuple(log(k) for k in range(2, 12)))
    assert product.steps().tables == ()
    assert formula(product).count("log") == 10


def test_sixty_rows_of_a_table_are_shown() -> None:
    for count, last in ((60, "log(7)"), (61, "…"), (100, "…")):
        steps = total([log(7)] * count).steps()
        lines = steps.text().split("\n\n")[1].splitlines()
        assert lines[0] == f"table 1: the {count} terms of the sum"
        assert lines[-1].split()[0] == last
        assert len(lines) == 1 + min(count, 61)
        if count > 60:
            assert lines[-1].split(maxsplit=1)[1] == f"and {count - 60} more"


# -- limits -------------------------------------------------------------------------------------


def chain(depth: int) -> Real:
    x = log(2)
    for _ in range(depth):
        x = sqrt(x)
    return x


def test_deep_trees_are_cut_off() -> None:
    # 40 levels below the top are written: 39 roots and the logarithm with its leaf.
    assert formula(chain(39)) == "√(" * 39 + "log(2)" + ")" * 39
    assert formula(chain(40)) == "√(" * 40 + "log(…)" + ")" * 40
    assert formula(chain(50_000)) == "√(" * 41 + "…" + ")" * 41
    x = log(2)
    for _ in range(41):
        x = x + 1
    assert formula(x).startswith("… + … + 1 + 1")


def test_shared_parts_do_not_multiply_without_end() -> None:
    x = log(2)
    for _ in range(60):
        x = x * x + 1
    written = formula(x)
    assert written.count("…") > 0
    assert len(written) < 20_000
    steps = (log(2) + 1).steps()
    assert "…" not in steps.text()


def test_two_thousand_nodes_are_written() -> None:
    def wide(width: int) -> Real:
        # A product of so many logarithms: each is two nodes, the product is one more.
        return node("product", tuple(log(2) for _ in range(width)))

    assert formula(wide(999)).endswith("log(2)")
    assert formula(sqrt(wide(999))) == f"√({formula(wide(999))})"
    assert formula(sqrt(sqrt(wide(999)))).endswith("log(…)))")


def test_every_row_of_a_table_has_its_own_allowance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derivation, "_MOST_NODES", 4)
    steps = total([2 * log(3)] * 9).steps()
    assert steps.text().count("2 · log(3)") == 9
    assert formula(2 * log(3)) == "2 · log(3)"
    assert formula(2 * log(3) + 1) == "2 · log(…) + …"
    monkeypatch.setattr(derivation, "_MOST_NODES", 5)
    assert formula(2 * log(3) + 1) == "2 · log(3) + …"


def test_nested_fractions_take_no_time_in_latex() -> None:
    x = log(2)
    for _ in range(18):
        x = 1 / (1 + x)
    assert x.steps().latex().count(r"\frac") == 18


def test_long_integers_are_rounded() -> None:
    x = Real(10**2000) + log(2)
    assert x.steps().headline() == "x = 1.0000000000000000000E+2000 + log(2)"
    assert (-(10**2000) + log(2)).steps().headline().endswith(" − 1.0000000000000000000E+2000")
    y = Real(Fraction(-1, 10**2000)).named("tiny")
    assert (y * 2).steps().text().splitlines() == [
        "tiny = −1E−2000",
        "x = tiny · 2",
        "  = −1E−2000 · 2",
        "  = −2E−2000",
    ]
    assert (y * 2).steps().latex().splitlines()[1] == "  tiny &= -1E-2000"
    assert Real(Fraction(10**2000, 3)).steps().text().splitlines() == [
        "x = 3.3333333333333333333E+1999",
        "  = 3.333333333333333333333333333333333333333E+1999",
    ]
    assert (Real(10**2000) + 1).steps().text().splitlines() == [
        "x = 1.0000000000000000000E+2000 + 1",
        "  = 1.000000000000000000000000000000000000000E+2000",
    ]
    longest = 2**4000 - 1
    assert formula(Real(longest)) == str(longest)
    assert formula(Real(Fraction(1, longest))) == f"1/{longest}"
    assert "E+1204" in formula(Real(longest + 1))
    assert Real(longest).steps().text().splitlines()[0] == f"x = {longest}"
