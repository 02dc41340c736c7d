"""Decimal intervals: every operation encloses, and no wider than one rounding at each end."""

from __future__ import annotations

import itertools
from decimal import MAX_EMAX, Decimal
from fractions import Fraction
from random import Random

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from refclust.errors import NotFinite
from refclust.numbers.real import Interval, Real, enclosed, exp, log, node, sqrt, total
from refclust.numbers.reals import intervals
from refclust.numbers.reals.intervals import Arithmetic, Unresolved, arithmetic, enclose
from tests.numbers.effort import SCALE, examples
from tests.numbers.expressions import as_real, contains, ends, metric_like, tree
from tests.numbers.witness import rational

pytestmark = pytest.mark.spec("NUM-ROUND")


def down(value: Fraction, digits: int) -> Fraction:
    """The greatest decimal of so many digits that is not above the value."""
    if not value:
        return value
    size = abs(value)
    exponent = len(str(size.numerator)) - len(str(size.denominator))
    if size < Fraction(10) ** exponent:
        exponent -= 1
    unit = Fraction(10) ** (exponent - digits + 1)
    return value // unit * unit


def up(value: Fraction, digits: int) -> Fraction:
    """The least decimal of so many digits that is not below the value."""
    return -down(-value, digits)


def exact(x: Interval) -> tuple[Fraction, Fraction]:
    return Fraction(x[0]), Fraction(x[1])


def ratios(low: int, high: int) -> tuple[Fraction, Fraction]:
    return Fraction(low), Fraction(high)


def span(low: int | str, high: int | str) -> Interval:
    return Decimal(low), Decimal(high)


short = st.builds(lambda n, e: Decimal(n).scaleb(e), st.integers(-999, 999), st.integers(-3, 2))
spans = st.tuples(short, short).map(lambda pair: (min(pair), max(pair)))
positive_spans = st.tuples(short.map(abs), short.map(abs)).map(lambda p: (min(p), max(p)))
SAMPLES = [
    (Decimal(a), Decimal(b))
    for a, b in [(-3, -2), (-3, 0), (-3, 2), (0, 0), (0, 2), (1, 1), (2, 7), (-7, 1), (-1, 7)]
]


@examples(300)
@given(spans, spans, st.integers(1, 5))
def test_products_are_enclosed_tightly(x: Interval, y: Interval, digits: int) -> None:
    products = [a * b for a, b in itertools.product(exact(x), exact(y))]
    wanted = down(min(products), digits), up(max(products), digits)
    assert exact(Arithmetic(digits).multiply(x, y)) == wanted


@pytest.mark.parametrize(("x", "y"), list(itertools.product(SAMPLES, repeat=2)))
def test_every_combination_of_signs(x: Interval, y: Interval) -> None:
    numbers = Arithmetic(10)
    products = [a * b for a, b in itertools.product(exact(x), exact(y))]
    assert exact(numbers.multiply(x, y)) == (min(products), max(products))
    sums = (Fraction(x[0]) + Fraction(y[0]), Fraction(x[1]) + Fraction(y[1]))
    assert exact(numbers.add([x, y])) == sums
    if not y[0] <= 0 <= y[1]:
        quotients = [a / b for a, b in itertools.product(exact(x), exact(y))]
        wanted = down(min(quotients), 10), up(max(quotients), 10)
        assert exact(numbers.divide(x, y)) == wanted


@examples(200)
@given(spans, spans, st.integers(1, 5))
def test_quotients_and_sums_are_enclosed_tightly(x: Interval, y: Interval, digits: int) -> None:
    numbers = Arithmetic(digits)
    low, high = Fraction(0), Fraction(0)
    for a, b in map(exact, (x, y, x)):
        low, high = down(low + a, digits), up(high + b, digits)
    assert exact(numbers.add([x, y, x])) == (low, high)
    if y[0] > 0 or y[1] < 0:
        quotients = [a / b for a, b in itertools.product(exact(x), exact(y))]
        wanted = down(min(quotients), digits), up(max(quotients), digits)
        assert exact(numbers.divide(x, y)) == wanted


def test_a_sum_of_nothing() -> None:
    assert Arithmetic(5).add([]) == span(0, 0)


@examples(200)
@given(st.fractions(), st.integers(1, 40))
def test_rationals_are_enclosed_tightly(value: Fraction, digits: int) -> None:
    found = Arithmetic(digits).rational(value)
    assert exact(found) == (down(value, digits), up(value, digits))


@examples(200)
@given(spans, st.integers(-7, 9), st.integers(2, 6))
def test_powers_enclose_every_power(x: Interval, exponent: int, digits: int) -> None:
    if exponent < 0 and x[0] <= 0 <= x[1]:
        return
    low, high = exact(Arithmetic(digits).power(x, exponent))
    a, b = exact(x)
    for k in range(5):
        assert low <= (a + (b - a) * k / 4) ** exponent <= high
    if exponent % 2 == 0:
        assert low >= 0


def test_powers_of_points_are_sharp() -> None:
    numbers = Arithmetic(50)
    for base in (-3, -1, 1, 2, 10):
        point = (Decimal(base), Decimal(base))
        for exponent in range(20):
            assert exact(numbers.power(point, exponent)) == (base**exponent,) * 2
    half = (Decimal(2), Decimal(2))
    assert exact(numbers.power(half, -3)) == (Fraction(1, 8),) * 2
    across = (Decimal(-1), Decimal(3))
    assert exact(numbers.power(across, 0)) == ratios(1, 1)
    assert exact(numbers.power(across, 1)) == ratios(-1, 3)
    assert exact(numbers.power(across, 2)) == ratios(0, 9)
    assert exact(numbers.power((Decimal(-3), Decimal(-2)), 2)) == ratios(4, 9)
    assert exact(numbers.power((Decimal(-3), Decimal(-2)), 3)) == ratios(-27, -8)


def ball(operation: str, value: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    found = ends((operation, ("leaf", value)), bits)
    assert found is not None
    return found


@examples(200)
@given(
    st.sampled_from(["log", "exp", "sqrt"]),
    st.integers(1, 10**40),
    st.integers(-45, 5),
    st.integers(3, 50),
)
def test_functions_are_enclosed_within_three_units(
    operation: str, mantissa: int, shift: int, digits: int
) -> None:
    # The correctly rounded value is off by half a unit, and one step each way encloses it.
    value = Decimal(mantissa).scaleb(shift)
    if operation == "exp" and value > 10**3:
        value = value.scaleb(-45)
    numbers = Arithmetic(digits)
    low, high = exact(getattr(numbers, operation)((value, value)))
    below, above = ball(operation, Fraction(value), 600)
    assert low <= above
    assert below <= high
    size = max(abs(low), abs(high))
    unit = size - down(size * (1 - Fraction(1, 10 ** (digits + 2))), digits)
    assert high - low <= 3 * unit


def test_functions_of_a_span_take_its_ends() -> None:
    numbers = Arithmetic(8)
    ends_ = (Decimal(2), Decimal(5))
    for operation in ("log", "exp", "sqrt"):
        function = getattr(numbers, operation)
        at_low, at_high = function((ends_[0],) * 2), function((ends_[1],) * 2)
        assert function(ends_) == (at_low[0], at_high[1])
        assert at_low[0] < at_low[1]


def test_functions_at_their_exact_points() -> None:
    numbers = Arithmetic(8)
    zero, one, two, ten = Decimal(0), Decimal(1), Decimal(2), Decimal(10)
    assert numbers.log((one, one)) == span(0, 0)
    assert numbers.log((one, two))[0] == 0
    assert numbers.log((Decimal("0.5"), one))[1] == 0
    assert numbers.exp((zero, zero)) == span(1, 1)
    assert numbers.exp((zero, two))[0] == 1
    assert numbers.exp((-two, zero))[1] == 1
    assert numbers.sqrt((zero, zero)) == span(0, 0)
    assert numbers.sqrt((-two, zero)) == span(0, 0)
    assert numbers.sqrt((-two, Decimal(4)))[0] == 0
    assert numbers.sqrt((Decimal(4), Decimal(4))) == (Decimal("1.9999999"), Decimal("2.0000001"))
    assert numbers.sqrt((Decimal("1e-30"), ten))[0] > 0
    assert numbers.log((ten, ten)) == (Decimal("2.3025850"), Decimal("2.3025852"))
    assert numbers.exp((one, one)) == (Decimal("2.7182817"), Decimal("2.7182819"))


@examples(100)
@given(st.integers(1, 10**60), st.integers(1, 10**60), st.integers(5, 60))
def test_logarithms_of_rationals(top: int, bottom: int, digits: int) -> None:
    value = Fraction(top, bottom)
    numbers = Arithmetic(digits)
    low, high = exact(numbers.log_rational(value))
    a, b = exact(numbers.log_integer(value.numerator))
    c, d = exact(numbers.log_integer(value.denominator))
    assert (low, high) == (down(a - d, digits), up(b - c, digits))
    below, above = ball("log", value, 600)
    assert low <= above
    assert below <= high
    # Each logarithm is below 150 and known to 10**(3 - digits), so is the difference of two.
    assert high - low <= 8 * Fraction(10) ** (3 - digits)


@pytest.mark.parametrize("power", [10, 50, 200, 1000])
def test_logarithms_next_to_one(power: int) -> None:
    for value in (Fraction(2**power + 1, 2**power), Fraction(10**power - 1, 10**power)):
        below, above = ball("log", value, 8000)
        for digits in (30, 60, 700):
            low, high = exact(Arithmetic(digits).log_rational(value))
            assert low < below
            assert above < high
            assert high - low < Fraction(10) ** (6 - digits)


def test_logarithms_of_integers_far_longer_than_the_digits() -> None:
    numbers = Arithmetic(30)
    for value in (10**3000 + 1, 3**5000, 2**20000 - 1, 10**29 + 1):
        low, high = exact(numbers.log_integer(value))
        below, above = ball("log", Fraction(value), 400)
        assert low < below
        assert above < high
        assert high - low < Fraction(1, 10**24)


def test_logarithms_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "_LOG_CACHE_LIMIT", 3)
    numbers = Arithmetic(10)
    first = numbers.log_integer(2)
    assert numbers.log_integer(2) is first
    numbers.log_integer(3)
    numbers.log_integer(5)
    assert numbers.log_integer(2) is first
    numbers.log_integer(7)  # the fourth: the cache starts again
    assert numbers.log_integer(2) is not first
    assert numbers.log_integer(2) == first
    assert len(numbers._logs) == 2
    assert arithmetic(10) is arithmetic(10)
    assert intervals._LOG_CACHE_LIMIT == 3


def test_the_cache_holds_many_logarithms() -> None:
    assert intervals._LOG_CACHE_LIMIT == 200_000
    assert arithmetic.cache_info().maxsize == 16


# -- trees --------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", range(10))
def test_random_trees_are_enclosed(part: int) -> None:
    for seed in range(part * 60 * SCALE, (part + 1) * 60 * SCALE):
        rng = Random(seed)
        x = tree(rng, 3) if seed % 2 else metric_like(rng)
        for digits in (4, 9, 30, 100):
            try:
                low, high = enclose(as_real(x), digits)
            except Unresolved:
                assert digits < 30
                continue
            assert contains(low, high, x)
            if digits == 100:
                # Leaves within 10**-24 of 1 and roots of them cost some digits, never half of all.
                assert high - low <= Decimal("1e-50") * max(abs(low), abs(high))


@pytest.mark.parametrize(
    ("x", "culprit", "may_be_negative"),
    [
        (lambda a: 1 / a, "itself", True),
        (lambda a: a**-2, "itself", True),
        (lambda a: log(a), "itself", False),
        (lambda a: sqrt(a - 1), "minus one", False),
        (lambda a: total([3 * log(-2), a]), "leaf", False),
        (lambda a: total([3 * log(0), a]), "leaf", False),
        (lambda a: log(-2) * a, "leaf", False),
        (lambda a: log(0) * a, "leaf", False),
    ],
)
def test_what_straddles_zero_is_named(x: object, culprit: str, may_be_negative: bool) -> None:
    zero = log(6) - log(2) - log(3)
    assert callable(x)
    with pytest.raises(Unresolved, match=r"^an interval straddles zero$") as stuck:
        enclose(x(zero), 30)
    assert stuck.value.may_be_negative is may_be_negative
    if culprit == "itself":
        assert stuck.value.culprit is zero
    elif culprit == "leaf":
        assert stuck.value.culprit.op == "leaf"
    else:
        assert stuck.value.culprit.args[0] is zero


def test_ends_at_zero_are_not_divided_by() -> None:
    for low, high in ((0, 1), (-1, 0), (0, 0), (-1, 1)):
        x = enclosed(lambda _, low=low, high=high: (Decimal(low), Decimal(high)))  # type: ignore[misc]
        with pytest.raises(Unresolved):
            enclose(1 / x, 30)
        with pytest.raises(Unresolved):
            enclose(x**-1, 30)
        assert enclose(x**0, 30) == span(1, 1)
    for low, high in ((1, 2), (-2, -1)):
        x = enclosed(lambda _, low=low, high=high: (Decimal(low), Decimal(high)))  # type: ignore[misc]
        assert enclose(1 / x, 30) == enclose(x**-1, 30)
    x = enclosed(lambda _: (Decimal(0), Decimal(1)))
    with pytest.raises(Unresolved):
        enclose(log(x), 30)
    assert enclose(sqrt(x), 5) == span(0, "1.0001")
    assert enclose(sqrt(enclosed(lambda _: (Decimal(-1), Decimal(0)))), 5) == span(0, 0)


def test_roots_cut_off_at_zero_are_reported() -> None:
    zero, positive = log(6) - log(2) - log(3), log(2)
    cut: list[Real] = []
    low, high = enclose(sqrt(zero) + sqrt(positive) + zero + sqrt(0), 30, cut=cut)
    assert low < sqrt(positive).enclosure(60)[0] < high
    assert len(cut) == 1
    assert cut[0] is zero


def test_the_digits_reach_the_enclosures() -> None:
    asked: list[int] = []

    def interval(digits: int) -> Interval:
        asked.append(digits)
        return Decimal(2), Decimal(3)

    assert enclose(enclosed(interval).named("a") * 2, 17) == span(4, 6)
    assert asked == [17]


def test_short_sums_of_logarithms_and_everything_else() -> None:
    two, three, five, part = (("leaf", Fraction(value)) for value in ("2", "3", "5", "3/7"))
    for x in (
        ("total", ("*", part, ("log", two)), ("*", three, ("log", part)), five),
        ("total", ("*", ("log", two), part), ("*", ("log", two), ("log", three)), two),
        ("total", ("*", two, ("*", ("log", three), ("log", five))), ("*", two, three)),
        ("total", ("*", two, ("log", ("sqrt", five))), ("*", two, ("sqrt", five)), ("log", two)),
        ("*", two, ("log", three)),
        ("total", ("*", two, ("log", three))),
    ):
        low, high = enclose(as_real(x), 30)
        assert contains(low, high, x)
        assert 0 < high - low < Decimal("1e-27")


def test_products_of_three_factors() -> None:
    x = node("product", (Real(2), log(3), log(5)))
    for y in (x, total([x]), total([node("product", (log(5), Real(2), log(3)))])):
        low, high = enclose(y, 30)
        assert low < enclose(2 * log(3) * log(5), 60)[0] < high
        assert high - low < Decimal("1e-27")
    assert enclose(node("product", ()), 30) == span(1, 1)


def test_numbers_beyond_the_decimals() -> None:
    huge = exp(10**19)
    for x in (huge, huge / 2, exp(-10) ** -(10**19), -huge):
        with pytest.raises(
            NotFinite, match=rf"^a part of the number lies beyond 10\*\*{MAX_EMAX}$"
        ):
            enclose(x, 30)
    low, high = enclose(exp(-(10**19)), 30)
    assert low <= 0 < high < Decimal("1e-999999999999999000")


def test_flint_is_as_precise_as_asked() -> None:
    # The judge must be narrower than what it judges.
    old = ctx.prec
    ctx.prec = 600
    try:
        assert float(arb(rational(Fraction(2))).log().rad()) < 1e-170
    finally:
        ctx.prec = old
