"""Small expressions over rationals, with their exact value or certified digits."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

from .balls import arb_enclosure, iv_enclosure, sign
from .exact import Expr, Node
from .normal import rational_value
from .values import Irrational, Json, encode
from .writer import VectorFile

Tree = str | list["Tree"]
FORMULAS = ["NUM-DIGITS", "NUM-REAL", "NUM-ROUND"]
UNIT = 2**53


def expr_of(tree: Tree) -> Expr:
    """An expression from its JSON form."""
    if isinstance(tree, str):
        return Fraction(tree)
    head, *rest = tree
    assert isinstance(head, str)
    return Node(head, tuple(expr_of(part) for part in rest))


def log(value: object) -> Tree:
    """The tree of a logarithm."""
    return ["log", str(value)]


def root(value: object) -> Tree:
    """The tree of a square root."""
    return ["sqrt", str(value)]


def rationals() -> Iterator[tuple[str, Tree]]:
    """Rational arithmetic: midpoints, subnormal numbers, cancellation."""
    yield "third", ["/", "1", "3"]
    yield "tenths", ["-", ["+", "1/10", "2/10"], "3/10"]
    yield "sum-of-many", ["+", *[f"1/{k}" for k in range(1, 31)]]
    yield "product", ["*", *[f"{k}/{k + 2}" for k in range(1, 20)]]
    yield "power", ["^", "3/7", "25"]
    yield "power-negative", ["^", "3/7", "-25"]
    yield "power-zero", ["^", "3/7", "0"]
    yield "midpoint-down", str(UNIT + 1)
    yield "midpoint-up", str(UNIT + 3)
    yield "midpoint-one", f"{UNIT + 1}/{UNIT}"
    yield "midpoint-one-more", ["+", f"{UNIT + 1}/{UNIT}", ["/", "1", ["^", "10", "400"]]]
    yield "midpoint-one-less", ["-", f"{UNIT + 1}/{UNIT}", ["/", "1", ["^", "10", "400"]]]
    yield "midpoint-negative", str(-UNIT - 1)
    for name, top in (("half", 1), ("three-halves", 3), ("five-halves", 5)):
        yield f"subnormal-{name}", ["/", str(top), ["^", "2", "1075"]]
    yield "subnormal-just-above-half", ["/", ["+", "1", "1/1000000"], ["^", "2", "1075"]]
    yield "subnormal-third", ["/", "1/3", ["^", "2", "1060"]]
    yield "smallest-normal-midpoint", ["/", str(2 * UNIT - 1), ["^", "2", "1075"]]
    yield "largest", ["*", str(UNIT - 1), ["^", "2", "971"]]
    yield "below-overflow", ["-", ["*", str(2 * UNIT - 1), ["^", "2", "970"]], "1"]


def zeros() -> Iterator[tuple[str, Tree]]:
    """Exact zeros and rationals behind logarithms and roots."""
    yield "log6", ["-", ["-", log(6), log(2)], log(3)]
    yield "sqrt6", ["-", ["*", root(2), root(3)], root(6)]
    yield "square", ["-", ["-", ["^", ["+", "1", root(2)], "2"], "3"], ["*", "2", root(2)]]
    yield "sqrt50", ["-", root(50), ["*", "5", root(2)]]
    yield "conjugate", ["-", ["*", ["-", root(3), root(2)], ["+", root(3), root(2)]], "1"]
    yield "log-one", log(1)
    yield "log-square", ["-", ["^", ["+", log(2), log(3)], "2"], ["^", log(6), "2"]]
    yield "log-product", ["-", ["*", log(4), log(9)], ["*", "4", log(2), log(3)]]
    yield "log-inverse", ["+", log("7/11"), log("11/7")]
    yield "log-third-powers", ["-", log(27), ["*", "3", log(3)]]
    yield "log-root", ["-", ["log", root(5)], ["*", "1/2", log(5)]]
    yield (
        "information-independent",
        ["+", ["*", "1/3", log(1)], ["*", "2/3", ["-", ["-", log("4/9"), log("2/3")], log("2/3")]]],
    )
    yield "cube", ["/", log(8), log(2)]
    yield "three-halves", ["/", log(27), log(9)]
    yield "sum-ratio", ["/", ["+", log(12), log(18)], log(6)]
    yield "long-ratio", ["/", log(10**30), log(10**7)]
    yield "ratio-negative", ["/", log("1/32"), log(4)]
    yield "root-ratio", ["/", root(72), root(2)]
    yield "root-rational", root("81/16")
    yield "root-decimal", root("1/100")
    yield "root-of-product", ["*", root("2/3"), root("3/2")]
    yield "log-square-ratio", ["/", ["*", log(3), log(3)], ["^", log(3), "2"]]
    yield "exp-log", ["exp", log(5)]
    yield "exp-log-ratio", ["exp", ["-", log(3), log(10)]]
    yield "log-exp", ["log", ["exp", "7/3"]]
    yield "log-midpoint", ["/", ["/", ["*", str(UNIT + 1), log(4)], log(2)], "2"]
    yield "log-midpoint-up", ["/", ["/", ["*", str(UNIT + 3), log(9)], log(3)], "2"]
    yield "log-midpoint-small", ["/", ["*", f"{UNIT + 1}/{UNIT * 3}", log(27)], log(3)]
    yield "root-midpoint", ["*", ["*", root(2), root(8)], f"{UNIT + 1}/4"]
    yield "root-midpoint-square", root((UNIT + 1) ** 2)
    yield "root-midpoint-square-up", root((UNIT + 3) ** 2)
    yield "log-midpoint-sum", ["+", str(UNIT), ["/", log(125), ["*", "3", log(5)]]]
    draw = random.Random(5)
    for number in range(20):
        powers = [int(draw.random() * 9) - 4 for _ in range(4)]
        whole = Fraction(1)
        for prime, power in zip((2, 3, 5, 7), powers, strict=True):
            whole *= Fraction(prime) ** power
        terms: list[Tree] = [
            ["*", str(-k), log(p)] for p, k in zip((2, 3, 5, 7), powers, strict=True)
        ]
        yield f"random-{number + 1:02d}", ["+", log(whole), *terms]


def plain() -> Iterator[tuple[str, Tree]]:
    """Ordinary irrational numbers, large and small."""
    for value in (2, 3, 10, 97, 10**6 + 3, 2**61 - 1, 10**40 + 1):
        yield f"log-{len(str(value))}-{value % 1000}", log(value)
    for power in (1, 3, 8, 16, 20, 40, 100):
        yield f"log-near-one-above-{power}", log(1 + Fraction(1, 10**power))
        yield f"log-near-one-below-{power}", log(1 - Fraction(1, 10 ** (power + 1)))
    for text in ("2", "3", "5", str(10**20 + 1), "2/3", "1/7", f"1/{10**31}"):
        yield f"root-{text[:3].replace('/', '-')}-{len(text)}", root(text)
    for a, b in ((3, 2), (2, 3), (10, 2), (7, 10), (10**9 + 7, 10**9 + 9), (2, 10**12)):
        yield f"ratio-{a % 100}-{b % 100}-{len(str(b))}", ["/", log(a), log(b)]
    for top in (
        "1",
        "-1",
        "1/2",
        "10",
        "-10",
        "100",
        "709",
        "-700",
        "-708",
        "-740",
        "-745",
        "1/1000000000000000000000",
        "-1/1000000000000000000000",
    ):
        name = top.replace("-", "minus-").replace("/", "-over-")[:18].rstrip("-0") or "zero"
        yield f"exp-{name}-{len(top)}", ["exp", top]
    yield "difference-of-logs", ["-", log(10**20 + 1), log(10**20)]
    yield "difference-of-roots", ["-", root(10**40 + 1), str(10**20)]
    yield "difference-of-close-roots", ["-", ["+", root(10), root(11)], root(42)]
    yield "near-integer", ["*", ["exp", "1"], ["exp", "-1/10000000000000000"]]
    yield "golden-power", ["-", ["^", ["/", ["+", "1", root(5)], "2"], "40"], "228826127"]
    yield "nested", ["sqrt", ["+", "2", root(2)]]
    yield "log-log", ["log", log(1000)]
    yield "log-of-sum", ["log", ["+", "1", root(2)]]
    yield "exp-root", ["exp", root(2)]
    yield "tiny-product", ["*", ["exp", "-300"], ["exp", "-300"], log(2)]
    yield "tiny-subnormal", ["*", ["exp", "-700"], ["exp", "-40"], log(3)]
    yield "nmi-like", ["/", ["-", log(6), log(5)], ["sqrt", ["*", log(2), log(3)]]]
    yield "bits", ["/", ["+", ["*", "-2/3", log("2/3")], ["*", "-1/3", log("1/3")]], log(2)]


def hard() -> Iterator[tuple[str, Tree]]:
    """Numbers very close to the midpoint between two doubles, or to a double."""
    middle = f"{UNIT + 1}/{UNIT}"
    for size in (40, 100, 300):
        tiny: Tree = ["exp", f"-{size}"]
        yield f"just-above-middle-{size}", ["+", middle, tiny]
        yield f"just-below-middle-{size}", ["-", middle, tiny]
    square = Fraction(UNIT + 1, UNIT) ** 2
    for power in (100, 200, 400):
        yield f"root-above-middle-{power}", root(square + Fraction(1, 2**power))
        yield f"root-below-middle-{power}", root(square - Fraction(1, 2**power))
    above, below = square + Fraction(1, 2**130), 1 - Fraction(1, 2**190)
    yield "product-of-roots", ["*", root(above), root(below)]
    # The hardest of the first integers and of a grid, by how far the value is from a midpoint.
    for op, step in (("log", Fraction(1)), ("exp", Fraction(1, 128)), ("sqrt", Fraction(1))):
        ranked = sorted(
            (_distance(Node(op, (k * step,))), k)
            for k in range(2, 1500)
            if op != "sqrt" or int(k**0.5) ** 2 != k
        )
        for _, k in ranked[:12]:
            yield f"hard-{op}-{k}", [op, str(k * step)]


def _distance(expr: Node) -> Fraction:
    """How far a number is from the middle of its neighbouring doubles, in units of their gap."""
    low, high = arb_enclosure(expr, 400)
    number = (low + high) / 2
    nearest = Fraction(float(number))
    gap = Fraction(2) ** (len(bin(int(number))) - 2 - 53)
    return abs(abs(number - nearest) / gap - Fraction(1, 2))


def grown() -> Iterator[tuple[str, Tree]]:
    """Random trees, built so that every logarithm and root is of a positive number."""
    draw = random.Random(6)

    def leaf() -> str:
        return str(Fraction(1 + int(draw.random() * 40), 1 + int(draw.random() * 12)))

    def positive(depth: int) -> Tree:
        kind = int(draw.random() * 7) if depth else 0
        match kind:
            case 1:
                return ["+", positive(depth - 1), positive(depth - 1), leaf()]
            case 2:
                return ["*", positive(depth - 1), positive(depth - 1)]
            case 3:
                return ["/", positive(depth - 1), positive(depth - 1)]
            case 4:
                return ["log", ["+", "1", positive(depth - 1)]]
            case 5:
                return ["sqrt", positive(depth - 1)]
            case 6:
                return ["exp", ["-", "1", ["sqrt", positive(depth - 1)]]]
        return leaf()

    for number in range(100):
        tree = positive(3)
        if number % 2:
            tree = ["-", tree, positive(3)]
        if number % 5 == 0:
            tree = ["^", tree, str(int(draw.random() * 5) + 2)]
        yield f"{number + 1:03d}", tree


def files() -> list[VectorFile]:
    """The file of expressions."""
    file = VectorFile(
        "05-numbers/real.json",
        "numbers.real",
        "Expressions and their nearest doubles",
        {
            "rational": "rational arithmetic",
            "zero": "rational although it does not look so",
            "plain": "irrational",
            "hard": "close to the middle between two doubles",
            "grown": "random trees",
        },
        list(FORMULAS),
    )
    for flag, trees in (
        ("rational", rationals()),
        ("zero", zeros()),
        ("plain", plain()),
        ("hard", hard()),
        ("grown", grown()),
    ):
        for name, tree in trees:
            expr = expr_of(tree)
            value = rational_value(expr)
            if value is not None:
                _contained(expr, value)
            assert flag not in ("rational", "zero") or value is not None, name
            shown = encode(value if value is not None else Irrational(expr, expr))
            side = (value > 0) - (value < 0) if value is not None else sign(expr)
            expect: dict[str, Json] = {"value": shown, "sign": encode(Fraction(side))}
            more = {"zero": ["NUM-ZERO"], "rational": ["NUM-NEAR"]}.get(flag, [])
            if isinstance(tree, list) and tree[0] == "sqrt":
                more = ["NUM-NEAR"]
            given: dict[str, Json] = {"expression": _json(tree)}
            file.add(
                f"real-{flag}-{name}",
                given,
                expect,
                flags=[flag],
                formulas=sorted([*FORMULAS, *more]) if more else None,
            )
    return [file]


def _json(tree: Tree) -> Json:
    return tree if isinstance(tree, str) else [_json(part) for part in tree]


def _contained(expr: Expr, value: Fraction) -> None:
    """Both witnesses must enclose the value that the normal form gives."""
    for low, high in (arb_enclosure(expr, 4000), iv_enclosure(expr, 4000)):
        assert low <= value <= high, "the normal form is wrong"
