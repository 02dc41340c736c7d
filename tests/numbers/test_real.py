"""Exact reals: building, refusing, comparing, hashing, exact identities."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from refclust.errors import BadNumber, NotFinite
from refclust.numbers import real as module
from refclust.numbers.real import (
    Enclosure,
    Real,
    enclosed,
    exp,
    leaf_value,
    log,
    maximum,
    minimum,
    node,
    plain_fraction,
    postorder,
    real,
    sqrt,
    total,
)
from tests.numbers.expressions import below

pytestmark = pytest.mark.spec("NUM-REAL")

THIRD = Fraction(1, 3)


# -- building -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (3, Fraction(3)),
        (-2, Fraction(-2)),
        (THIRD, THIRD),
        (0.1, Fraction(3602879701896397, 36028797018963968)),
        (-0.0, Fraction(0)),
        (5e-324, Fraction(1, 2**1074)),
        ("3/8", Fraction(3, 8)),
        ("-0.125", Fraction(-1, 8)),
        (10**500, Fraction(10**500)),
    ],
)
def test_a_leaf_holds_exactly_what_was_given(given: int | float | str, value: Fraction) -> None:
    assert leaf_value(Real(given)) == value
    assert leaf_value(real(given)) == value
    assert Real(given).fraction == value
    assert leaf_value(Real(Real(given))) == value


def test_a_real_made_of_a_real_is_the_same_tree() -> None:
    x = log(2) + 1
    copy = Real(x)
    assert (copy.op, copy.args, copy.content) == (x.op, x.args, x.content)
    power = x**3
    assert Real(power).content == 3
    assert real(x) is x


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_are_no_reals(value: float) -> None:
    with pytest.raises(NotFinite, match=f"^{value} is not a real number$"):
        Real(value)


@pytest.mark.parametrize("value", [True, False, None, 1j, Decimal(1), [1], b"1"])
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(BadNumber, match=r"is not a number$"):
        Real(value)  # type: ignore[arg-type]
    with pytest.raises(BadNumber):
        log(value)  # type: ignore[arg-type]
    with pytest.raises(BadNumber):
        total([1, value])  # type: ignore[list-item]


BINARY: list[Callable[[object, object], object]] = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
]


@pytest.mark.parametrize("operation", BINARY)
@pytest.mark.parametrize("other", [True, False, "1", None, Decimal(1), 1j])
def test_arithmetic_takes_numbers_only(
    operation: Callable[[object, object], object], other: object
) -> None:
    for x in (Real(2), log(2)):
        with pytest.raises(TypeError) as right:
            operation(x, other)
        with pytest.raises(TypeError) as left:
            operation(other, x)
        assert right.type is left.type is TypeError


@pytest.mark.spec("NUM-REAL")
@pytest.mark.parametrize("operation", BINARY)
def test_a_float_is_the_rational_that_it_is(
    operation: Callable[[object, object], object],
) -> None:
    tenth = Fraction(3602879701896397, 36028797018963968)
    for x in (Real(2), log(2)):
        assert operation(x, 0.1) == operation(x, tenth)
        assert operation(0.1, x) == operation(tenth, x)
        for value in (math.nan, math.inf):
            with pytest.raises(NotFinite):
                operation(x, value)


@pytest.mark.parametrize("exponent", [True, 0.5, 2.0, Fraction(1, 2), "2", Real(2)])
def test_only_integers_are_exponents(exponent: object) -> None:
    with pytest.raises(TypeError):
        Real(2) ** exponent  # type: ignore[operator]


@pytest.mark.parametrize("operation", BINARY)
@pytest.mark.parametrize("other", [3, Fraction(-2, 7), 1])
def test_the_four_operations_from_both_sides(
    operation: Callable[[object, object], object], other: int | Fraction
) -> None:
    value = Fraction(5, 3)
    for x in (Real(value), sqrt(value * value), Real(value).named("a")):
        for found, wanted in (
            (operation(x, other), operation(value, other)),
            (operation(other, x), operation(other, value)),
            (operation(x, Real(other)), operation(value, other)),
        ):
            assert isinstance(found, Real)
            assert found == wanted
            assert found.fraction == wanted


def test_the_tree_is_what_was_written() -> None:
    x, y = log(2), log(3)
    for made, op, args in (
        (x + y, "sum", (x, y)),
        (x * y, "product", (x, y)),
        (x / y, "quotient", (x, y)),
        (x**-2, "power", (x,)),
        (exp(x), "exp", (x,)),
        (sqrt(x), "sqrt", (x,)),
        (log(x), "log", (x,)),
        (total([x, y, x]), "sum", (x, y, x)),
        (x.named("a"), "named", (x,)),
    ):
        assert made.op == op
        assert len(made.args) == len(args)
        assert all(a is b for a, b in zip(made.args, args, strict=True))
    assert (x**-2).content == -2
    assert (x - y).args[0] is x
    assert (x - y).args[1].args[1] is y
    assert [leaf_value(arg) for arg in (3 * Real(2)).args] == [3, 2]
    assert [leaf_value(arg) for arg in (3 / Real(2)).args] == [3, 2]
    assert [leaf_value(arg) for arg in (3 - Real(2)).args] == [3, -2]
    assert x.named("a").content == ("a", "a")
    assert x.named("a", r"\alpha").content == ("a", r"\alpha")
    assert x.named("a", "").content == ("a", "")
    assert +x is x
    assert (-Real(THIRD)).op == "leaf"
    assert leaf_value(-Real(THIRD)) == -THIRD
    assert leaf_value((-x).args[0]) == -1
    assert node("leaf", (), THIRD).fraction == THIRD


def test_abs() -> None:
    x = log(2) - log(3)
    assert abs(x) == log(3) - log(2)
    assert abs(-x) is not x
    assert abs(-x) == -x
    y = log(3)
    assert abs(y) is y
    zero = log(6) - log(2) - log(3)
    assert abs(zero) is zero


def test_a_sum_of_nothing_is_zero() -> None:
    assert total([]).fraction == 0
    assert float(total([])) == 0.0
    assert total([]) + log(2) == log(2)


# -- comparing ----------------------------------------------------------------------------------

LADDER: list[Real] = [
    Real(-3),
    -log(3),
    log(Fraction(1, 2)),
    Real(0),
    log(2),
    log(3) - log(Fraction(1, 1)) - Fraction(1, 10),
    log(3),
    sqrt(2),
    sqrt(2) + Fraction(1, 10**50),
    exp(1),
    Real(3),
]


def test_comparisons_put_everything_in_order() -> None:
    for (i, x), (j, y) in itertools.product(enumerate(LADDER), repeat=2):
        assert (x < y) == (i < j)
        assert (x <= y) == (i <= j)
        assert (x > y) == (i > j)
        assert (x >= y) == (i >= j)
        assert (x == y) == (i == j)
        assert (x != y) == (i != j)
    for x in LADDER:
        assert bool(x) == (x != 0)


def test_equal_trees_compare_as_equal() -> None:
    x, y = log(6), log(2) + log(3)
    assert x == y
    assert x <= y
    assert x >= y
    assert not x < y
    assert not x > y
    assert (x != y) is False
    assert not bool(x - y)


def test_comparison_with_plain_numbers() -> None:
    assert log(8) / log(2) == 3
    assert log(8) / log(2) == 3.0
    assert log(8) / log(4) == Fraction(3, 2)
    assert Fraction(3, 2) == log(8) / log(4)
    assert Real(1) / 10 != 0.1
    assert Real(0.1) == 0.1
    assert log(2) < 0.6931471805599454
    assert log(2) > 0.6931471805599453
    assert log(2) <= 1
    assert operator.ge(1, log(2))
    assert operator.lt(0, log(2))
    assert Fraction(1, 2) <= sqrt(Fraction(1, 4))


@pytest.mark.parametrize("other", ["1", None, True, math.inf, math.nan, 1j, Decimal(1)])
def test_comparison_with_what_is_no_real(other: object) -> None:
    one = Real(1)
    assert (one == other) is False
    assert (one != other) is True
    orders: list[Callable[[Any, Any], object]] = [
        operator.lt,
        operator.le,
        operator.gt,
        operator.ge,
    ]
    for operation in orders:
        with pytest.raises(TypeError):
            operation(one, other)


def test_hashes_follow_equality() -> None:
    same: list[list[object]] = [
        [log(8) / log(2), 3, Fraction(3), 3.0, Real(3), sqrt(9)],
        [sqrt(2) / sqrt(8), Fraction(1, 2), 0.5, Real("1/2")],
        [Real(0.1), 0.1, Fraction(0.1)],
        [log(6) - log(2) - log(3), 0, 0.0, Real(0)],
        [log(6), log(2) + log(3), log(36) / 2],
        [sqrt(2), 2 / sqrt(2), sqrt(8) / 2],
        [-sqrt(Fraction(1, 9)), Fraction(-1, 3), Real(-1) / 3],
    ]
    for group in same:
        assert len({hash(x) for x in group}) == 1
        assert len(set(group)) == 1
    assert len({hash(group[0]) for group in same}) == len(same)
    assert hash(log(2)) == hash(0.6931471805599453)
    assert hash(exp(1000)) == hash(exp(500) ** 2)
    for power in (30, 239):  # denominators longer than ``fraction`` looks for
        hidden = log(8) / log(2) / 10**power
        assert hidden == Fraction(3, 10**power)
        assert hash(hidden) == hash(Fraction(3, 10**power))


def test_minimum_and_maximum_take_the_first_of_equals() -> None:
    x, y, z = log(6), log(2) + log(3), log(5)
    assert minimum(x, y) is x
    assert maximum(x, y) is x
    assert minimum(y, x, z) is z
    assert maximum(z, y, x) is y
    assert minimum(z, 1, x) == 1
    assert maximum(Fraction(1, 2), 2, z) == 2
    assert minimum(3) == 3
    assert maximum(x) is x


def test_repr() -> None:
    assert repr(Real("3/8") + 1) == "Real('11/8')"
    assert repr(Real(-4)) == "Real('-4')"
    assert repr(log(2)) == "Real(0.69314718055994531)"
    assert repr(sqrt(4)) == "Real('2')"
    assert repr(Real(2**3999)) == f"Real('{2**3999}')"
    assert repr(Real(Fraction(1, 2**3999))) == f"Real('1/{2**3999}')"
    assert repr(Real(2**4000)) == "Real(1.3182040934309431E+1204)"
    assert repr(Real(Fraction(1, 2**4000))) == "Real(7.5860787034673786E-1205)"
    assert repr(Real(10) ** 5000) == "Real(1.0000000000000000E+5000)"


# -- leaves known by enclosures -----------------------------------------------------------------


def test_the_exact_form_is_made_once_and_only_when_asked() -> None:
    asked: list[int] = []

    def exact() -> Real:
        asked.append(1)
        return log(2)

    x = enclosed(lambda digits: log(2).enclosure(digits), exact)
    assert float(x) == 0.6931471805599453
    assert asked == []
    assert x == log(2)
    assert x - log(2) == 0
    assert asked == [1]
    assert Enclosure(lambda _: (Decimal(1), Decimal(1))).form() is None


def test_enclosures_are_asked_for_more_digits_until_they_do() -> None:
    asked: list[int] = []

    def interval(digits: int) -> tuple[Decimal, Decimal]:
        asked.append(digits)
        width = Decimal(10) ** (-digits // 10)
        return Decimal("0.3") - width, Decimal("0.3") + width

    assert float(enclosed(interval)) == 0.3
    assert asked == [30, 60, 120, 240]


# -- walking ------------------------------------------------------------------------------------


def test_postorder_yields_every_node_once_arguments_first() -> None:
    a, b = log(2), log(3)
    shared = a * b
    root = (shared + a) / (shared - b) + shared**2
    order = list(postorder(root))
    places = {id(x): place for place, x in enumerate(order)}
    assert len(places) == len(order)
    assert order[-1] is root
    for x in order:
        assert all(places[id(arg)] < places[id(x)] for arg in x.args)
    assert {id(x) for x in (a, b, shared, root)} <= set(places)
    assert [id(x) for x in postorder(root, lambda _: ())] == [id(root)]


def test_postorder_goes_from_left_to_right() -> None:
    leaves = [Real(k) for k in range(5)]
    assert [x for x in postorder(total(leaves)) if x.op == "leaf"] == leaves


def test_plain_fraction_is_rational_arithmetic_and_roots_of_squares() -> None:
    assert plain_fraction((Real(1) / 3 - 2) * Fraction(3, 5) + total([1, 2, 3])) == 5
    assert plain_fraction(Real(2).named("a") ** -3) == Fraction(1, 8)
    assert plain_fraction(Real(Fraction(-2, 3)) ** 3) == Fraction(-8, 27)
    assert plain_fraction(Real(0) ** 0) == 1
    assert plain_fraction(sqrt(Fraction(4, 9)) + 1) == Fraction(5, 3)
    for x in (
        log(1),
        sqrt(2),
        sqrt(-4),
        exp(0),
        enclosed(lambda _: (Decimal(1), Decimal(1))),
        0 * log(2),
    ):
        assert plain_fraction(x) is None


# -- identities ---------------------------------------------------------------------------------


def _numbers(count: int) -> list[tuple[Fraction, Fraction, int]]:
    rng = Random(7)
    made = []
    for _ in range(count):
        size = 10 ** (1 + below(rng, 15))
        a, b = (Fraction(1 + below(rng, size), 1 + below(rng, 50)) for _ in range(2))
        made.append((a, b, 2 + below(rng, 6)))
    return made


@pytest.mark.spec("NUM-ZERO")
@pytest.mark.parametrize(("a", "b", "k"), _numbers(60))
def test_generated_identities(a: Fraction, b: Fraction, k: int) -> None:
    assume_not_one = a + 1
    two = [
        (log(a * b), log(a) + log(b)),
        (log(a / b), log(a) - log(b)),
        (log(a**k), k * log(a)),
        (sqrt(a) * sqrt(b), sqrt(a * b)),
        (sqrt(a) / sqrt(b), sqrt(a / b)),
        ((sqrt(a) + sqrt(b)) ** 2, a + b + 2 * sqrt(a * b)),
        ((sqrt(a) - sqrt(b)) * (sqrt(a) + sqrt(b)), Real(a - b)),
        (1 / (sqrt(a + 1) + sqrt(a)), sqrt(a + 1) - sqrt(a)),
        (log(assume_not_one**k) / log(assume_not_one), Real(k)),
        (log(sqrt(a * a)), log(a)),
        (sqrt(log(assume_not_one) ** 2), log(assume_not_one)),
        (log(assume_not_one) / sqrt(log(assume_not_one) * log(assume_not_one)), Real(1)),
        (sqrt(a * a + 2 * a * b + b * b), Real(a + b)),
        (exp(log(a) + log(b)), exp(log(a * b))),
        ((log(a) + b) ** 2, log(a) ** 2 + 2 * b * log(a) + b * b),
        (total([log(a), log(b), -log(a * b), b]), Real(b)),
        (1 + 1 / log(assume_not_one), (log(assume_not_one) + 1) / log(assume_not_one)),
        (sqrt(1 / log(assume_not_one)), 1 / sqrt(log(assume_not_one))),
    ]
    for left, right in two:
        assert left == right
        assert (left - right).sign() == 0
        assert not left < right
        assert not left > right
        assert float(left) == float(right)
        tiny = Fraction(1, 10**70)
        assert left + tiny > right
        assert left < right + tiny
        assert left.fraction == right.fraction


@pytest.mark.long
def test_a_hundred_thousand_terms() -> None:
    x = total(Fraction(1, 1 + i % 3) * log(2 + i % 250) for i in range(100_000))
    short = total(
        sum(Fraction(1, 1 + i % 3) for i in range(k, 100_000, 250)) * log(2 + k) for k in range(250)
    )
    assert float(x) == float(short)
    assert sum(1 for _ in postorder(x)) == 4 * 100_000 + 1


def test_a_thousand_terms_are_decided_exactly() -> None:
    x = total(Fraction(1, 3) * log(Fraction(i + 1, i)) for i in range(1, 1001))
    assert x * 3 == log(7) + log(11) + log(13)


@pytest.mark.long
def test_a_tree_of_depth_fifty_thousand() -> None:
    up = log(2)
    for _ in range(50_000):
        up = up + 1
    assert float(up) == 50_000.69314718056
    assert up == log(2) + 50_000
    root = Real(2)
    for _ in range(25_000):
        root = sqrt(root + 2)
    assert float(root) == 2.0


def test_shared_parts_are_worked_out_once() -> None:
    x = log(2)
    for _ in range(300):
        x = x + x
    assert float(x) == 0.6931471805599453 * 2.0**300
    assert x == 2**300 * log(2)
    y = sqrt(2)
    for _ in range(60):
        y = y * y / 2 * sqrt(2)
    assert y == sqrt(2)
    calls: list[int] = []

    def interval(digits: int) -> tuple[Decimal, Decimal]:
        calls.append(digits)
        return log(2).enclosure(digits)

    z = enclosed(interval)
    for _ in range(100):
        z = z + z
    assert float(z) == 0.6931471805599453 * 2.0**100
    assert calls == [30]


def test_the_constants_name_the_operations() -> None:
    names = ["LEAF", "SUM", "PRODUCT", "QUOTIENT", "POWER", "LOG", "EXP", "SQRT", "NAMED"]
    assert [getattr(module, name) for name in [*names, "ENCLOSED"]] == [
        "leaf",
        "sum",
        "product",
        "quotient",
        "power",
        "log",
        "exp",
        "sqrt",
        "named",
        "enclosed",
    ]
