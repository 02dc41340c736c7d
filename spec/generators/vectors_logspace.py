"""Makes 05-numbers/logspace.json: sums, shares and products of logarithms with derived bounds.

Values come from Arb balls of the definitions, with mpmath intervals as second witness. A program
passes when its answer lies within ``bound`` of ``decimal``; what has no bound must be equal.

The bounds, with u = 2**-53, are those of one careful evaluation in doubles by a library whose
exp, log, expm1 and log1p err by less than one ulp (2u of the value). For log-weights x with maximum
m, d = m - x, and s the sum of exp(-d) over all weights but one maximum:

- L = log(1 + s): u (d + 2) for each exp, u for the sum, 2u for log1p, so
  u (sum of (d + 3) exp(-d) / (1 + s) + 2 L);
- logsumexp = m + L: u of the result more;
- a log-share (x - m) - L: u d and u of the result more;
- log(1 - exp x): 5u of the value, because the outer function magnifies 2u by at most 1/ln 2;
- x log y: 3u of the value.

A factor 1 + 2**-20 covers terms in u**2, and (n + 2) 2**-1074 the subnormal range.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

from flint import arb

from .vectors_common import (
    Json,
    ball,
    ball_compare,
    encode_irrational,
    file_text,
    interval,
    middle,
    mpmath,
    rounded_up,
    use_precision,
    witnesses_meet,
)

PATH = "05-numbers/logspace.json"
TITLE = "Sums, shares and products kept as logarithms"
NOTES = {
    "numbers": "strings: a double in C99 hexadecimal, -inf, or what must be refused: nan, inf",
    "pass": "an answer passes when it is within bound of decimal; exact and infinite values must "
    "be equal; binary64 is the nearest double, for information",
    "log_shares": "one logarithm per log-weight, in the order given",
    "log1mexp": "log(1 - exp(x)) for x <= 0",
    "xlogy": "x log y, with 0 log y = 0",
}
U = Fraction(1, 2**53)
SLACK = 1 + Fraction(1, 2**20)
TINY = Fraction(1, 2**1074)
NEGATIVE: dict[str, Json] = {"infinite": "-"}


def written(value: float) -> str:
    """A double as the file writes it."""
    return value.hex() if math.isfinite(value) else str(value)


def certified(first: arb, second: Any, bound: Fraction) -> dict[str, Json]:
    """A value by both witnesses, with its bound."""
    assert witnesses_meet(first, second)
    return {**encode_irrational(first, ball_compare(first)), "bound": rounded_up(bound)}


def exactly(value: float) -> dict[str, Json]:
    """A value that is a double and must be met exactly."""
    return {"exact": str(Fraction(value))}


def sum_case(slug: str, weights: list[float], description: str) -> Json:
    """Sum and shares of log-weights, at least one above -inf."""
    finite = [Fraction(x) for x in weights if x > -math.inf]
    total, second = arb(0), mpmath.iv.mpf(0)
    for x in finite:
        total += ball(x).exp()
        second += mpmath.iv.exp(interval(x))
    value, second = total.log(), mpmath.iv.log(second)
    error = excess_bound(finite)
    if len(finite) == 1:
        # By the theorem of Lindemann and Weierstrass the only rational values.
        log_total = exactly(max(weights))
        shares = [NEGATIVE if x == -math.inf else exactly(0.0) for x in weights]
    else:
        log_total = certified(value, second, error + U * abs(middle(value)) * SLACK)
        shares = [
            NEGATIVE if x == -math.inf else share(Fraction(x), max(finite), value, second, error)
            for x in weights
        ]
    expect: dict[str, Json] = {
        "logsumexp": log_total,
        "log_total": log_total,
        "log_shares": {"list": [*shares]},
    }
    given: dict[str, Json] = {"log_weights": [written(x) for x in weights]}
    return case(slug, given, expect, ["NUM-LSE", "NUM-NORM"], description)


def share(x: Fraction, top: Fraction, value: arb, second: Any, error: Fraction) -> dict[str, Json]:
    """One log-share with its bound."""
    result = ball(x) - value
    bound = error + U * ((top - x) + abs(middle(result))) * SLACK
    return certified(result, interval(x) - second, bound)


def excess_bound(xs: list[Fraction]) -> Fraction:
    """The bound on L."""
    gaps = sorted(max(xs) - x for x in xs)[1:]
    s, weighted = arb(0), arb(0)
    for d in gaps:
        s += (-ball(d)).exp()
        weighted += ball(d + 3) * (-ball(d)).exp()
    bound = weighted / (1 + s) + 2 * (1 + s).log()
    return U * middle(bound) * SLACK + (len(xs) + 2) * TINY


def complement_case(slug: str, x: float, description: str) -> Json:
    """log(1 - exp(x)) for x below 0."""
    given = Fraction(x)
    first = (1 - ball(given).exp()).log()
    second = mpmath.iv.log(1 - mpmath.iv.exp(interval(given)))
    bound = 5 * U * abs(middle(first)) + 2 * TINY
    expect: dict[str, Json] = {"log1mexp": certified(first, second, bound)}
    return case(slug, {"x": written(x)}, expect, ["NUM-L1ME"], description)


def product_case(slug: str, x: float, y: float, description: str) -> Json:
    """x log y for positive y other than 1 and x other than 0."""
    first = ball(Fraction(x)) * ball(Fraction(y)).log()
    second = interval(Fraction(x)) * mpmath.iv.log(interval(Fraction(y)))
    bound = 3 * U * abs(middle(first)) * SLACK + TINY
    given: dict[str, Json] = {"x": written(x), "y": written(y)}
    expect: dict[str, Json] = {"xlogy": certified(first, second, bound)}
    return case(slug, given, expect, ["NUM-XLOGY"], description)


def case(
    slug: str,
    given: dict[str, Json],
    expect: dict[str, Json],
    formulas: list[str],
    description: str,
) -> Json:
    """One case."""
    return {
        "id": f"log-{slug}",
        "input": given,
        "expect": expect,
        "formulas": [*formulas],
        "description": description,
    }


def refused(slug: str, weights: list[float], key: str, code: str, clause: str) -> Json:
    """Log-weights that a function refuses."""
    given: dict[str, Json] = {"log_weights": [written(x) for x in weights]}
    return case(slug, given, {key: {"error": code}}, [clause], "refused")


def fixed(slug: str, key: str, x: float, y: float | None, value: dict[str, Json]) -> Json:
    """A value or error of log1mexp or xlogy that is known without computing."""
    given: dict[str, Json] = {"x": written(x)}
    if y is not None:
        given["y"] = written(y)
    clause = {"log1mexp": "NUM-L1ME", "xlogy": "NUM-XLOGY"}[key]
    return case(slug, given, {key: value}, [clause], "known limit or refusal")


def cases() -> list[Json]:
    """All cases, fixed ones first."""
    use_precision()
    inf, nan, ln2 = math.inf, math.nan, math.log(2)
    found = [
        sum_case("two-equal", [0.0, 0.0], "log 2"),
        sum_case("far-below", [-1e5, -1e5], "exp underflows without the shift"),
        sum_case("far-above", [1e5, 1e5 - 1], "exp overflows without the shift"),
        sum_case("offset-shares", [-1e5, -1e5 + 1e-11, -99990.0], "shares keep their digits"),
        sum_case("tiny-difference", [0.0, 1e-300], "a difference of 1e-300"),
        sum_case("tiny-differences", [-1e-300, 0.0, 1e-300], "differences of 1e-300"),
        sum_case("dominated", [0.0, -50.0], "log(1 + s) would give 0"),
        sum_case("dominated-more", [-700.0, 0.0], "a sum near the least normal double"),
        sum_case("many-small", [0.0, 0.0] + [-37.0] * 64, "a running sum would lose them all"),
        sum_case("cancelling", [-ln2, -ln2], "a sum near 0"),
        sum_case("with-zero-weight", [-inf, 1.0, 2.0], "-inf is a weight of zero"),
        sum_case("single", [-745.25], "one weight is its own sum"),
        sum_case("single-among-zeros", [-inf, 3.5, -inf], "one weight above zero"),
        sum_case("hundred", [-math.log1p(i) for i in range(100)], "a hundred weights"),
        refused("no-weights", [], "logsumexp", "empty-input", "NUM-LSE"),
        refused("no-weights-shares", [], "log_shares", "empty-input", "NUM-NORM"),
        refused("nan-weight", [0.0, nan], "logsumexp", "not-finite", "NUM-LSE"),
        refused("infinite-weight", [inf, 0.0], "logsumexp", "not-finite", "NUM-LSE"),
        refused("infinite-share", [inf, 0.0], "log_shares", "not-finite", "NUM-NORM"),
        refused("zero-weights", [-inf, -inf], "log_shares", "bad-distribution", "NUM-NORM"),
        case(
            "zero-sum",
            {"log_weights": ["-inf", "-inf"]},
            {"logsumexp": NEGATIVE},
            ["NUM-LSE"],
            "a sum of zeros",
        ),
        fixed("complement-of-one", "log1mexp", 0.0, None, NEGATIVE),
        fixed("complement-of-zero", "log1mexp", -inf, None, exactly(0.0)),
        fixed("complement-above", "log1mexp", 1e-300, None, {"error": "bad-distribution"}),
        fixed("complement-nan", "log1mexp", nan, None, {"error": "not-finite"}),
        fixed("zero-log-zero", "xlogy", 0.0, 0.0, exactly(0.0)),
        fixed("zero-log-five", "xlogy", 0.0, 5.0, exactly(0.0)),
        fixed("two-log-one", "xlogy", 2.0, 1.0, exactly(0.0)),
        fixed("one-log-zero", "xlogy", 1.0, 0.0, NEGATIVE),
        fixed("log-negative", "xlogy", 1.0, -1.0, {"error": "bad-distribution"}),
        fixed("log-nan", "xlogy", 0.0, nan, {"error": "not-finite"}),
        fixed("log-infinite", "xlogy", 0.0, inf, {"error": "not-finite"}),
    ]
    for x in (
        -1e-300,
        -5e-324,
        -1e-17,
        -1e-9,
        -0.002,
        -0.003,
        -0.01,
        -0.03,
        -0.1,
        -0.5,
        -ln2,
        -0.7,
        -1.0,
        -37.0,
        -700.0,
        -740.0,
    ):
        slug = f"complement-{-x:.3g}"
        found.append(complement_case(slug, x, "log of one minus a probability"))
    for x, y in (
        (0.25, 0.25),
        (1.0, 1 - 2.0**-53),
        (3.0, 1 + 2.0**-52),
        (1e-300, 5e-324),
        (1e300, 1e300),
        (-2.0, 1e-5),
        (5e-324, 0.5),
    ):
        found.append(product_case(f"product-{x:.3g}-{y:.17g}", x, y, "x log y"))
    rng = random.Random(5)
    for base in (0.0, -1e3, -1e4, -1e5):
        for size in (2, 3, 7):
            weights = [base - 60 * rng.random() ** 3 for _ in range(size)]
            slug = f"ladder-{-base:.0f}-{size}"
            found.append(sum_case(slug, weights, "random log-weights on an offset"))
    return found


def text() -> str:
    """The whole file."""
    return file_text("numbers.logspace", TITLE, NOTES, cases())
