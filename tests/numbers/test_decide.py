"""Decisions: nearest doubles, signs, digits and fractions against flint and mpmath; refusals."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from random import Random

import pytest

from refclust.errors import NotFinite, Undecided
from refclust.numbers.real import Interval, Real, enclosed, exp, log, sqrt, total
from refclust.numbers.reals import decide, intervals
from refclust.numbers.reals.decide import (
    digits,
    enclosure,
    nearest_double,
    rational_value,
    sign,
)
from tests.numbers.effort import SCALE
from tests.numbers.expressions import (
    Expression,
    as_real,
    below,
    ends,
    is_digits,
    is_nearest_double,
    metric_like,
    mpmath_ends,
    rounded,
    sign_of,
    tree,
)
from tests.numbers.witness import OVERFLOW, is_nearest, midpoints

ZERO = log(6) - log(2) - log(3)
HIDDEN = log(exp(log(2) ** 2)) - log(2) ** 2  # zero, but no normal form shows it


def generated(seed: int) -> Expression:
    rng = Random(seed)
    return metric_like(rng) if seed % 2 else tree(rng, 1 + below(rng, 4))


# -- against flint and mpmath -------------------------------------------------------------------


@pytest.mark.spec("NUM-ROUND", "NUM-DIGITS", "NUM-ZERO")
@pytest.mark.parametrize("part", range(20))
def test_readings_agree_with_flint(part: int) -> None:
    for seed in range(part * 100 * SCALE, (part + 1) * 100 * SCALE):
        x = generated(seed)
        y = as_real(x)
        assert is_nearest_double(x, float(y))
        count = 1 + seed % 60
        assert is_digits(x, count, y.digits(count))
        assert y.sign() == sign_of(x)


@pytest.mark.spec("NUM-ZERO")
@pytest.mark.parametrize("part", range(10))
def test_comparisons_agree_with_flint(part: int) -> None:
    for seed in range(part * 60 * SCALE, (part + 1) * 60 * SCALE):
        x, y = generated(seed), generated(seed + 1)
        smaller = sign_of(("-", x, y)) < 0
        left, right = as_real(x), as_real(y)
        assert (left < right) is smaller
        assert (left > right) is not smaller
        assert (left <= right) is smaller
        assert (left >= right) is not smaller
        assert left != right


@pytest.mark.spec("NUM-ROUND")
@pytest.mark.parametrize("part", range(5))
def test_doubles_agree_with_mpmath(part: int) -> None:
    for seed in range(part * 40 * SCALE, (part + 1) * 40 * SCALE):
        x = generated(10**6 + seed)
        double = float(as_real(x))
        low, high = mpmath_ends(x, 120)
        assert is_nearest(double, low)
        assert is_nearest(double, high)
        ball = ends(x, 400)
        assert ball is not None
        assert ball[0] <= high
        assert low <= ball[1]


@pytest.mark.spec("NUM-ROUND", "NUM-ZERO")
def test_numbers_a_hair_beside_a_midpoint() -> None:
    # log(2) and sqrt(2) cut off after many digits differ from themselves by next to nothing.
    for seed in range(150):
        rng = Random(seed)
        double = math.ldexp(rng.random() + 0.5, below(rng, 200) - 100)
        middle = midpoints(double)[below(rng, 2)]
        places = 30 + below(rng, 200)
        x = log(2) if seed % 2 else sqrt(2)
        cut = Fraction(x.enclosure(places)[0])
        for side in (1, -1):
            y = middle + side * (x - cut)
            found = float(y)
            assert is_nearest(found, middle + Fraction(side, 10 ** (2 * places)))
            assert float(-y) == -found
            assert (y > middle) is (side > 0)


# -- exact cases --------------------------------------------------------------------------------


@pytest.mark.spec("NUM-ROUND")
def test_exact_midpoints_go_to_the_even_neighbour() -> None:
    one = log(8) / log(2) / 3
    for seed in range(100):
        rng = Random(seed)
        double = math.ldexp(rng.random() + 0.5, below(rng, 2000) - 1000)
        for middle in midpoints(double):
            disguised = [middle * one, middle + ZERO, sqrt(middle**2), one / (1 / Real(middle))]
            x = disguised[seed % 4]
            assert is_nearest(float(x), middle)
            assert float(x) == float(Real(middle))
            assert float(-x) == -float(x)


@pytest.mark.spec("NUM-ROUND")
@pytest.mark.parametrize("disguise", [lambda x: x + ZERO, lambda x: x * sqrt(2) / sqrt(2)])
def test_the_ends_of_the_range(disguise: Callable[[Real], Real]) -> None:
    least = Fraction(5e-324)
    for value, double in (
        (least / 2, 0.0),
        (least * Fraction(3, 2), 1e-323),
        (least, 5e-324),
        (least / 4, 0.0),
        (least * Fraction(51, 100), 5e-324),
        (OVERFLOW - 1, 1.7976931348623157e308),
        (Fraction(1.7976931348623157e308), 1.7976931348623157e308),
        (Fraction(0), 0.0),
    ):
        for signed, wanted in ((value, double), (-value, -double)):
            found = float(disguise(Real(signed)))
            assert found == wanted
            assert math.copysign(1, found) == (-1 if wanted < 0 else 1)
    for beyond in (OVERFLOW, OVERFLOW + 1, Fraction(10**400)):
        for value in (beyond, -beyond):
            with pytest.raises(NotFinite):
                float(disguise(Real(value)))
    with pytest.raises(
        NotFinite, match=r"^the exact value is about 1\.970e\+434, beyond the largest double$"
    ):
        float(exp(1000))
    assert float(exp(-1000)) == 0.0
    assert math.copysign(1, float(-exp(-1000))) == 1.0
    assert float(exp(-744)) == 1e-323
    assert float(exp(709)) == 8.218407461554972e307


@pytest.mark.spec("NUM-ZERO")
def test_signs() -> None:
    assert sign(Real(0)) == 0
    assert sign(Real("-1/7")) == -1
    assert sign(Real("1/7")) == 1
    assert sign(log(2)) == 1
    assert sign(log(Fraction(1, 2))) == -1
    assert sign(ZERO) == 0
    assert sign(0 * log(2)) == 0
    assert sign(log(1)) == 0
    assert sign(sqrt(2) - sqrt(2)) == 0
    near = Fraction(log(2).enclosure(900)[0])
    assert sign(log(2) - near) == 1
    assert sign(near - log(2)) == -1


def test_an_interval_that_is_the_point_zero_is_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decide, "_equals", None)  # no normal form is needed
    assert sign(enclosed(lambda _: (Decimal(0), Decimal(0)))) == 0
    assert sign(enclosed(lambda _: (Decimal(0), Decimal(0))) * log(2)) == 0


# -- digits -------------------------------------------------------------------------------------


@pytest.mark.spec("NUM-DIGITS")
@pytest.mark.parametrize(
    ("x", "count", "text"),
    [
        (Real("1/2"), 40, "0.5"),
        (Real("1/3"), 5, "0.33333"),
        (Real("-2/3"), 5, "-0.66667"),
        (Real("1/8"), 2, "0.12"),
        (Real("3/8"), 2, "0.38"),
        (Real("5/2"), 1, "2"),
        (Real("7/2"), 1, "4"),
        (Real(0), 3, "0"),
        (Real(10**39), 2, "1" + "0" * 39),
        (Real(10**40), 2, "1.0E+40"),
        (Real(123456), 2, "120000"),
        (Real(Fraction(1, 10**6)), 2, "0.000001"),
        (Real(Fraction(1, 10**7)), 2, "1E-7"),
        (sqrt(2), 1, "1"),
        (sqrt(2), 30, "1.41421356237309504880168872421"),
        (-sqrt(2) / 10**9, 4, "-1.414E-9"),
        (sqrt(2) * 10**40, 4, "1.414E+40"),
        (sqrt(2) * 10**39, 4, "1414" + "0" * 36),
        (log(8) / log(4), 9, "1.5"),
        (sqrt(Fraction(1, 64)), 2, "0.12"),
        (ZERO, 5, "0"),
        (99 + sqrt(2) / 2, 2, "100"),
    ],
)
def test_digits(x: Real, count: int, text: str) -> None:
    assert digits(x, count) == text
    assert x.digits(count) == text


@pytest.mark.spec("NUM-DIGITS")
def test_forty_digits_unless_told() -> None:
    assert log(2).digits() == digits(log(2)) == "0.6931471805599453094172321214581765680755"


@pytest.mark.spec("NUM-DIGITS")
def test_every_number_of_digits() -> None:
    for x in (("log", ("leaf", 2)), ("exp", ("leaf", Fraction(-7, 2))), ("sqrt", ("leaf", 1000))):
        for count in range(1, 61):
            assert is_digits(x, count, as_real(x).digits(count))
    for value in (Fraction(355, 113), Fraction(-1, 7), Fraction(5, 2**70)):
        for count in range(1, 61):
            assert Fraction(Decimal(Real(value).digits(count))) == rounded(value, count)
    assert is_digits(("sqrt", ("leaf", 3)), 3000, sqrt(3).digits(3000))


@pytest.mark.spec("NUM-DIGITS")
def test_digits_behind_a_long_row_of_zeros_or_nines() -> None:
    cut = Fraction(log(2).enclosure(300)[0])
    assert digits(1 + log(2) - cut, 5) == "1.0000"
    assert digits(1 - log(2) + cut, 5) == "1.0000"
    difference = ("-", ("log", ("leaf", 2)), ("leaf", cut))
    assert is_digits(difference, 3, digits(log(2) - cut, 3))


@pytest.mark.spec("NUM-DIGITS")
def test_the_ladder_of_digits_starts_above_the_count(monkeypatch: pytest.MonkeyPatch) -> None:
    x = log(2)
    asked = _record(monkeypatch)
    digits(x, 20)
    assert asked[-1] == 30
    digits(x, 21)
    assert asked[-1] == 31
    digits(x, 100)
    assert asked[-1] == 110


# -- fractions ----------------------------------------------------------------------------------


@pytest.mark.spec("NUM-ZERO")
def test_rational_values() -> None:
    assert rational_value(Real("3/8")) == Fraction(3, 8)
    assert rational_value(log(8) / log(4)) == Fraction(3, 2)
    assert rational_value(log(4) / log(8) - 1) == Fraction(-1, 3)
    assert rational_value(ZERO) == 0
    assert rational_value(ZERO + 5) == 5
    assert rational_value(sqrt(Fraction(9, 49))) == Fraction(3, 7)
    assert rational_value(exp(log(2) - log(2))) == 1
    for x in (log(2), sqrt(2), exp(1), log(2) / log(3), sqrt(2) + sqrt(3)):
        assert rational_value(x) is None
    # An irrational number very close to a simple one is not taken for it.
    cut = Fraction(log(2).enclosure(500)[0])
    assert rational_value(5 + log(2) - cut) is None
    assert rational_value(log(2) - cut) is None


@pytest.mark.spec("NUM-ZERO")
def test_the_longest_denominator_that_is_found() -> None:
    for denominator in (10**30 - 1, 10**29 + 1, 997):
        assert rational_value(Fraction(1, denominator) + ZERO) == Fraction(1, denominator)
    assert rational_value(Fraction(1, 10**30) + ZERO) is None
    assert rational_value(Fraction(1, 10**30) + ZERO, 124) == Fraction(1, 10**30)
    assert rational_value(Fraction(1, 10**31) + ZERO, 124) is None
    assert rational_value(10**50 + ZERO) == 10**50


@pytest.mark.spec("NUM-DIGITS")
def test_numbers_of_billions_of_digits_are_not_written_out() -> None:
    assert exp(10**12).digits(5) == "1.7858E+434294481903"
    assert exp(-(10**12)).digits(5) == "5.5998E-434294481904"
    assert exp(10**12).fraction is None
    assert (sqrt(2) * exp(-(10**12))).fraction is None
    assert exp(10**12) > exp(10**12 - 1)
    # Integers of up to 110 digits are found in disguise.
    for unit in (1, -1):
        assert (unit * 2 * 10**109 + ZERO).fraction == unit * 2 * 10**109
        assert (unit * 2 * 10**110 + ZERO).fraction is None
        assert rational_value(unit * 2 * 10**110 + ZERO, 121) == unit * 2 * 10**110
        # Roots alone have no limit.
        assert (unit * sqrt(2) * sqrt(8) * 10**500).fraction == unit * 4 * 10**500
        assert (unit * sqrt(2) * sqrt(8) / 10**500).fraction == Fraction(unit * 4, 10**500)
    assert (sqrt(2) * sqrt(3) / 10**500).fraction is None


@pytest.mark.parametrize("seed", range(40))
def test_disguised_fractions_are_found(seed: int) -> None:
    rng = Random(seed)
    value = Fraction(below(rng, 10**12) - 5 * 10**11, 1 + below(rng, 10**12))
    a, b = 2 + below(rng, 50), 2 + below(rng, 50)
    for x in (
        value * log(a**b) / log(a) / b,
        value * sqrt(a) * sqrt(b) / sqrt(a * b),
        value + log(a) + log(b) - log(a * b),
        (sqrt(value * value + 2) - 1) * (sqrt(value * value + 2) + 1) - value * value - 1 + value,
    ):
        assert x.fraction == value
        assert x == value
        assert float(x) == float(Real(value))


@pytest.mark.parametrize("seed", range(60))
def test_the_simplest_fraction_between_two(seed: int) -> None:
    rng = Random(seed)
    low = Fraction(below(rng, 2000) - 1000, 1 + below(rng, 60))
    high = low + Fraction(below(rng, 40), 1 + below(rng, 900))
    if low <= 0 <= high:
        low, high = low + 40, high + 40
    found = decide._simplest_between(low, high, 10**6)
    assert found is not None
    assert low <= found <= high
    assert decide._simplest_between(low, high, found.denominator + 1) == found
    assert decide._simplest_between(low, high, found.denominator) is None
    assert decide._simplest_between(-high, -low, found.denominator) is None
    for denominator in range(1, found.denominator):
        assert math.floor(high * denominator) < low * denominator  # nothing simpler fits
    assert decide._simplest_between(-high, -low, 10**6) == -found
    fitting = [
        Fraction(n, found.denominator)
        for n in range(math.ceil(low * found.denominator), math.floor(high * found.denominator) + 1)
    ]
    assert abs(found) == min(map(abs, fitting))


# -- the ladder ---------------------------------------------------------------------------------

RUNGS = [30, 60, 120, 240, 480, 960, 1920, 3840, 5000]


def _record(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    asked: list[int] = []
    plain = intervals.enclose

    def enclose(x: Real, count: int, *, cut: list[Real] | None = None) -> Interval:
        asked.append(count)
        return plain(x, count, cut=cut)

    monkeypatch.setattr(intervals, "enclose", enclose)
    return asked


def _vague(width: int = 0) -> Real:
    """A number between -1 and 1 of which nothing more is ever known."""
    half = Decimal(10) ** -width
    return enclosed(lambda _: (-half, half))


@pytest.mark.spec("NUM-ROUND", "NUM-ZERO")
def test_the_rungs_of_the_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _record(monkeypatch)
    for decision in (sign, nearest_double):
        asked.clear()
        with pytest.raises(Undecided, match=r"^5000 digits do not settle this number: \? \+ 0$"):
            decision(_vague() + 0)
        assert asked == RUNGS
    asked.clear()
    assert sign(log(2)) == 1
    assert asked == [30]
    asked.clear()
    enclosure(sqrt(2))
    enclosure(sqrt(2), 7)
    enclosure(sqrt(2), 9000)
    assert asked == [30, 7, 9000]
    assert Undecided.code == "undecided"


@pytest.mark.spec("NUM-ZERO")
def test_the_normal_form_is_asked_once_and_from_sixty_digits_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    questions: list[Fraction] = []
    asked = _record(monkeypatch)

    def equals(_: Real, value: Fraction) -> bool:
        assert asked[-1] >= 60
        questions.append(value)
        return False

    monkeypatch.setattr(decide, "_equals", equals)
    monkeypatch.setattr(decide, "MOST_DIGITS", 500)
    with pytest.raises(Undecided):
        sign(ZERO)
    assert asked == [30, 60, 120, 240, 480, 500]
    assert questions == [0]
    questions.clear()
    with pytest.raises(Undecided):
        float(_vague())
    assert questions == [0]
    questions.clear()
    middle = 1 + Fraction(1, 2**53)
    with pytest.raises(Undecided):
        float(middle + ZERO)
    assert questions == [middle]


@pytest.mark.spec("NUM-ZERO")
def test_at_sixty_digits_the_question_is_already_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _record(monkeypatch)
    assert sign(ZERO) == 0
    assert asked == [30, 60]
    asked.clear()
    assert float(1 + Fraction(1, 2**53) + ZERO) == 1.0
    assert asked == [30, 60]
    asked.clear()
    with pytest.raises(ZeroDivisionError):
        float(1 / ZERO)
    assert asked == [30, 60, 30, 60]


def test_suspects() -> None:
    largest = 1.7976931348623157e308
    one, next_one = 1.0, math.nextafter(1.0, 2.0)
    suspect = decide._suspect
    assert suspect(Decimal(-1), Decimal(1), -1.0, 1.0) == 0
    assert suspect(Decimal(0), Decimal(1), 0.0, 1.0) == 0
    assert suspect(Decimal(-1), Decimal(0), -1.0, 0.0) == 0
    assert suspect(Decimal(1), Decimal(2), one, next_one) == 1 + Fraction(1, 2**53)
    assert suspect(Decimal(1), Decimal(2), 1.0, 1.5) is None
    assert suspect(Decimal(1), Decimal(2), largest, math.inf) == OVERFLOW
    assert suspect(Decimal(-2), Decimal(-1), -math.inf, -largest) == -OVERFLOW
    assert suspect(Decimal(1), Decimal(2), 1e300, math.inf) is None
    assert suspect(Decimal(1), Decimal(2), 0.0, 5e-324) == Fraction(1, 2**1075)


# -- refusals -----------------------------------------------------------------------------------

READINGS: list[Callable[[Real], object]] = [
    float,
    sign,
    digits,
    rational_value,
    enclosure,
    hash,
    bool,
]


@pytest.mark.spec("NUM-REAL")
@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize(
    "x",
    [
        Real(1) / 0,
        Real(0) ** -1,
        1 / ZERO,
        log(2) / (sqrt(6) - sqrt(2) * sqrt(3)),
        ZERO**-3,
        1 / sqrt(ZERO),
        log(Real(0)),
        log(ZERO),
        2 * log(0) + log(2),
        exp(1 / ZERO),
        0 * (1 / ZERO),
        sqrt(1 / ZERO),
        1 / (log(2) / sqrt(log(2) * log(2)) - 1),
        1 / (1 / ZERO),
    ],
)
def test_an_exact_zero_is_not_divided_by(reading: Callable[[Real], object], x: Real) -> None:
    with pytest.raises(ZeroDivisionError):
        reading(x)


@pytest.mark.spec("NUM-REAL")
@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize(
    "x",
    [
        log(-1),
        sqrt(-1),
        log(log(2) - log(3)),
        sqrt(log(2) - log(3)),
        2 * log(-3) + log(2),
        0 * sqrt(-2),
        1 + sqrt(log(2) - Fraction(log(2).enclosure(100)[1])) / 10**60,
        exp(-1000) * sqrt(log(2) - Fraction(log(2).enclosure(100)[1])),
        log(log(2) - Fraction(log(2).enclosure(100)[1])),
        sqrt(ZERO - Fraction(1, 10**300)),
    ],
)
def test_logarithms_and_roots_of_negative_numbers(
    reading: Callable[[Real], object], x: Real
) -> None:
    with pytest.raises(
        NotFinite, match=r"^the logarithm or the root of a negative number is not real$"
    ):
        reading(x)


@pytest.mark.spec("NUM-REAL")
def test_the_message_names_the_zero() -> None:
    with pytest.raises(
        ZeroDivisionError,
        match=r"^a divisor, or the argument of a logarithm, is exactly zero$",
    ):
        float(1 / ZERO)


@pytest.mark.spec("NUM-ROUND")
def test_divisors_next_to_zero_may_have_either_sign() -> None:
    for x in (log(2), sqrt(2)):
        for places in (40, 100, 300):
            low, high = map(Fraction, x.enclosure(places))
            for cut in (low, high):
                gap = x - cut
                assert float(1 / gap * gap) == 1.0
                assert sign(1 / gap) == sign(gap) == (1 if cut == low else -1)
                assert sign(gap**-1) == sign(gap)
                assert sign(gap**-2) == 1
                assert sign(sqrt(gap * gap) / gap) == sign(gap)
    cut = Fraction(log(2).enclosure(100)[0])
    assert sign(log(log(2) - cut)) == -1
    assert sign(sqrt(log(2) - cut)) == 1
    # Two doubtful arguments in one tree: the first is harmless, the second is not.
    with pytest.raises(NotFinite):
        float(1 / (log(2) - cut) + log(cut - log(2)))
    with pytest.raises(ZeroDivisionError):
        float(1 / (log(2) - cut) + 1 / ZERO)
    with pytest.raises(NotFinite):
        float(sqrt(cut - log(2)) / (cut - log(2)))


@pytest.mark.spec("NUM-REAL", "NUM-ZERO")
def test_roots_of_zero_are_zero() -> None:
    assert float(sqrt(ZERO)) == 0.0
    assert sqrt(ZERO) == 0
    assert float(3 + sqrt(ZERO)) == 3.0
    assert (3 + sqrt(ZERO)).fraction == 3
    assert sqrt(ZERO + 4) == 2
    assert sqrt(sqrt(ZERO)) == 0
    assert sqrt(Real(0)) == 0


@pytest.mark.spec("NUM-ROUND", "NUM-ZERO", "NUM-DIGITS")
@pytest.mark.parametrize(
    ("reading", "x", "formula"),
    [
        (sign, HIDDEN, "log(exp(log(2)^2)) − log(2)^2"),
        (float, HIDDEN, "log(exp(log(2)^2)) − log(2)^2"),
        (bool, HIDDEN * 2, "(log(exp(log(2)^2)) − log(2)^2) · 2"),
        (rational_value, HIDDEN, "log(exp(log(2)^2)) − log(2)^2"),
        (
            float,
            1 + Fraction(1, 2**53) + HIDDEN,
            "log(exp(log(2)^2)) − log(2)^2 + 9007199254740993/9007199254740992",
        ),
        (float, 1 / HIDDEN, "log(exp(log(2)^2)) − log(2)^2"),
        (float, sqrt(HIDDEN) + 5, "log(exp(log(2)^2)) − log(2)^2"),
        (
            lambda x: digits(x, 1),
            HIDDEN + Fraction(5, 2),
            "log(exp(log(2)^2)) − log(2)^2 + 5/2",
        ),
        (enclosure, log(HIDDEN), "log(exp(log(2)^2)) − log(2)^2"),
        (sign, _vague(), "?"),
    ],
)
def test_undecided_and_never_a_guess(
    monkeypatch: pytest.MonkeyPatch, reading: Callable[[Real], object], x: Real, formula: str
) -> None:
    monkeypatch.setattr(decide, "MOST_DIGITS", 150)
    with pytest.raises(Undecided) as error:
        reading(x)
    assert str(error.value) == f"150 digits do not settle this number: {formula}"


@pytest.mark.spec("NUM-ZERO")
def test_five_thousand_digits_are_tried() -> None:
    assert decide.MOST_DIGITS == 5000
    assert (decide.FIRST_DIGITS, decide.DOUBTFUL_DIGITS) == (30, 60)
    assert sign(sqrt(2) - Fraction(sqrt(2).enclosure(4900)[0])) == 1
    with pytest.raises(Undecided):
        sign(sqrt(2) - Fraction(sqrt(2).enclosure(5200)[0]))
    with pytest.raises(Undecided):
        enclosure(1 / _vague())


def test_where_undecided_elsewhere_the_double_is_known() -> None:
    # 2 plus a hidden zero is not seen to be rational; its double is certain all the same.
    assert float(HIDDEN + 2) == 2.0
    assert (HIDDEN + 2).digits(10) in ("2", "2.000000000")
    assert (HIDDEN + 2).fraction is None
    assert float(total([HIDDEN, HIDDEN, 5])) == 5.0
