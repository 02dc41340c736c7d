"""Normal forms: zeros are seen, nothing else is taken for zero, and the form has the value."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from random import Random

import pytest

from refclust.errors import Undecided
from refclust.numbers.real import Interval, Real, enclosed, exp, log, sqrt, total
from refclust.numbers.reals import normal
from refclust.numbers.reals.intervals import Unresolved, arithmetic, enclose
from refclust.numbers.reals.normal import Letter, NormalForms, Polynomial
from tests.numbers.effort import SCALE
from tests.numbers.expressions import as_real, below, ends, metric_like, tree

pytestmark = pytest.mark.spec("NUM-ZERO")

P, Q = 1009, 1000003
TINY = Fraction(1, 10**40)
L2, L3 = log(2), log(3)
HALF = Fraction(1, 2)


def is_zero(x: Real) -> bool:
    return NormalForms(x).is_zero(x)


def value(forms: NormalForms, x: Real, digits: int = 80) -> Interval:
    """The value of the normal form, worked out with many digits."""
    form = forms.of(x)
    numbers = arithmetic(digits)
    return numbers.divide(forms._enclose(form.top, digits), forms._enclose(form.bottom, digits))


ZEROS: list[Real] = [
    Real(0),
    log(1),
    L2 - L2,
    log(12) - 2 * L2 - L3,
    log(P * Q) - log(P) - log(Q),
    log(Fraction(P, Q)) - log(P) + log(Q),
    log(P**3) - 3 * log(P),
    log(P**4) / log(P**2) - 2,
    log(8) / L2 - 3,
    (L2 + L3) ** 3 - L2**3 - 3 * L2**2 * L3 - 3 * L2 * L3**2 - L3**3,
    L2**-2 * L2**2 - 1,
    (L2 + 1) ** -1 * (L2 + 1) - 1,
    1 / L2 + 1 / L3 - log(6) / (L2 * L3),
    (1 + 1 / L2) * L2 - L2 - 1,
    (1 + 1 / L2 + 1 / L3) * L2 * L3 - L2 * L3 - L2 - L3,
    1 / (1 + 1 / (1 + 1 / L2)) - (L2 + 1) / (2 * L2 + 1),
    sqrt(0),
    sqrt(4) - 2,
    sqrt(Fraction(9, 4)) - Fraction(3, 2),
    sqrt(2) * sqrt(3) - sqrt(6),
    sqrt(8) - 2 * sqrt(2),
    sqrt(Fraction(1, 2)) - sqrt(2) / 2,
    sqrt(Fraction(2, 27)) - sqrt(6) / 9,
    sqrt(P) * sqrt(Q) - sqrt(P * Q),
    sqrt(P**3) - P * sqrt(P),
    sqrt(2) ** 10 - 32,
    sqrt(2) ** -4 - Fraction(1, 4),
    (sqrt(2) + sqrt(3)) ** 2 - 5 - 2 * sqrt(6),
    1 / (sqrt(3) - sqrt(2)) - sqrt(3) - sqrt(2),
    sqrt(5 + 2 * sqrt(6)) - sqrt(2) - sqrt(3),
    sqrt(3 - 2 * sqrt(2)) - sqrt(2) + 1,
    sqrt(L2 * L2) - L2,
    sqrt((L2 - L3) ** 2) - L3 + L2,
    L2 / sqrt(L2 * L2) - 1,
    sqrt(L2 / L3) * sqrt(L3 / L2) - 1,
    sqrt(L2) * sqrt(L3) - sqrt(L2 * L3),
    sqrt(L2 / (L3 - L2)) - sqrt(L2) / sqrt(L3 - L2),
    sqrt((-L2) / (L2 - L3)) - sqrt(L2) / sqrt(L3 - L2),
    sqrt(L2 / L3 / L3) - sqrt(L2) / L3,
    sqrt(L2 + 1 + 2 * sqrt(L2)) - sqrt(L2) - 1,
    sqrt(L2 + 1 - 2 * sqrt(L2)) + sqrt(L2) - 1,
    1 - sqrt(1 + L2 - sqrt(L2**2)),
    sqrt(sqrt(L2**4)) - L2,
    sqrt(sqrt(16)) - 2,
    sqrt(1 + L2 - L2) - 1,
    sqrt(L2 + L3 + 2 * sqrt(L2 * L3)) - sqrt(L2) - sqrt(L3),
    log(sqrt(4)) - L2,
    log(sqrt(6)) - (L2 + L3) / 2,
    log(sqrt(2) / sqrt(3)) - (L2 - L3) / 2,
    log(sqrt(2) / 3) - L2 / 2 + L3,
    log(2 * sqrt(3) * sqrt(5)) - log(60) / 2,
    log(3 / sqrt(2)) - L3 + L2 / 2,
    log(exp(3) * 2) - 3 - L2,
    log(exp(Fraction(3, 4)) / sqrt(2)) - Fraction(3, 4) + L2 / 2,
    log(exp(-2)) + 2,
    exp(L2) - 2,
    exp(-L2) - HALF,
    exp(L2 / 2) - sqrt(2),
    exp(L2 / 2 - 3 * L3 / 2) * sqrt(27) - sqrt(2),
    exp(3 * log(P)) - P**3,
    exp(1) * exp(2) - exp(3),
    exp(HALF) ** 2 - exp(1),
    exp(HALF) * exp(Fraction(1, 3)) - exp(Fraction(5, 6)),
    exp(1) * exp(-1) - 1,
    exp(2 + L3) - 3 * exp(1) ** 2,
    exp(-2 - L3) * 3 * exp(2) - 1,
    exp(0) - 1,
    exp(L2 - L2) - 1,
    exp(L2 * L3) - exp(L3 * L2),
    exp(L2 / 3) - exp(log(16) / 12),
    exp(sqrt(8)) - exp(2 * sqrt(2)),
    log(L2 * 2) - log(L2 + L2),
    log(L2 / L3) - log(log(4) / 2 / L3) + log(1),
    log(sqrt(Q**2) + 1) - log(Q + 1),
    sqrt(sqrt(Q**2) + 1) - sqrt(Q + 1),
    log(L2 - L2 + P * Q) - log(P) - log(Q),
    total([]),
    total([L2 / 3] * 9) - 3 * L2,
    L2.named("a") - L2,
    0 * exp(L2 * L2),
    (L2 + L3) * 0,
    0 / L2,
]


@pytest.mark.parametrize("place", range(len(ZEROS)))
def test_zeros_are_seen(place: int) -> None:
    x = ZEROS[place]
    low, high = enclose(x, 200)
    assert low <= 0 <= high
    assert high - low < Decimal("1e-90")
    assert is_zero(x)
    assert is_zero(-x)
    assert is_zero(x * (L2 + sqrt(3)))
    assert is_zero(x / (L2 - 5))
    assert is_zero(sqrt(x * x))
    assert is_zero(x.named("zero") + x)
    # Just beside zero, however near, is not zero.
    assert not is_zero(x + TINY)
    assert not is_zero(x + TINY * L2)
    assert not is_zero(x - TINY * sqrt(2))
    assert not is_zero(x + TINY * exp(1))
    assert not is_zero(x + exp(L2 * L3))
    assert not is_zero(x + sqrt(L2 + TINY))


@pytest.mark.parametrize("part", range(5))
def test_the_normal_form_has_the_value_of_the_tree(part: int) -> None:
    for seed in range(part * 60 * SCALE, (part + 1) * 60 * SCALE):
        rng = Random(seed)
        x = tree(rng, 1 + below(rng, 3)) if seed % 2 else metric_like(rng)
        y = as_real(x)
        low, high = value(NormalForms(y), y)
        found = ends(x, 400)
        assert found is not None
        assert Fraction(low) <= found[1]
        assert found[0] <= Fraction(high)
        assert high - low <= Decimal("1e-20") * max(abs(low), abs(high))


@pytest.mark.parametrize("place", range(len(ZEROS)))
def test_the_normal_form_of_parts_of_zeros_has_their_value(place: int) -> None:
    # A part of a zero is not zero itself, so that a wrong denominator shows.
    x = ZEROS[place]
    for part in (x + 2, 1 / (x + 2), (x + L2) / (x + L3), sqrt(x + L2) / 3):
        low, high = value(NormalForms(part), part)
        below_, above = enclose(part, 80)
        assert low <= above
        assert below_ <= high
        assert high - low < Decimal("1e-30")


# -- the same number with the other sign of a root ----------------------------------------------


@pytest.mark.parametrize(
    "x",
    [
        sqrt(L2 * L2) + L2,
        sqrt((L2 - L3) ** 2) - L2 + L3,
        sqrt(5 + 2 * sqrt(6)) + sqrt(2) + sqrt(3),
        sqrt(3 - 2 * sqrt(2)) - 1 + sqrt(2) - 2,
        sqrt(L2 + 1 - 2 * sqrt(L2)) - sqrt(L2) + 1,
        1 + sqrt(1 + L2 - sqrt(L2**2)),
        L2 / sqrt(L2 * L2) + 1,
        sqrt(L2 / (L3 - L2)) + sqrt(L2) / sqrt(L3 - L2),
        sqrt((-L2) / (L2 - L3)) + sqrt(L2) / sqrt(L3 - L2),
        sqrt(L2 + L3 + 2 * sqrt(L2 * L3)) - sqrt(L2) + sqrt(L3),
        sqrt(L2) + sqrt(L3),
        sqrt(L2) * 2,
        sqrt(L2 + 1),
        L2 - 1,
        sqrt(2) - 1,
        exp(1) - Fraction(2718281828, 10**9),
        (1 + 1 / L2) - 1,
    ],
)
def test_what_is_not_zero_is_not_taken_for_zero(x: Real) -> None:
    assert not is_zero(x)
    assert not is_zero(-x)
    assert not is_zero(x / L3)


def test_a_divisor_that_vanishes_is_refused() -> None:
    for x in (1 / (L2 - L2), (log(6) - L2 - L3) ** -1, L3 / (sqrt(L2 * L2) - L2), Real(2) / 0):
        with pytest.raises(ZeroDivisionError, match=r"^a divisor is exactly zero$"):
            is_zero(x)


def test_the_first_forms() -> None:
    forms = NormalForms(log(12) + sqrt(12))
    form = forms.of(Fraction(1, 3) * log(12) - 5)
    assert form.bottom == {(): 1}
    assert form.top == {
        ((Letter("log", 2), 1),): Fraction(2, 3),
        ((Letter("log", 3), 1),): Fraction(1, 3),
        (): -5,
    }
    assert forms.of(sqrt(12)).top == {((Letter("root", 3), 1),): 2}
    assert forms.of(L2**3 / L3).bottom == {((Letter("log", 3), 1),): 1}
    assert forms.of(L2**3 / L3).top == {((Letter("log", 2), 3),): 1}
    assert forms.of(L2 / 4).bottom == {(): 1}
    assert forms.of(0 * L2 / L3).bottom == {(): 1}
    assert forms.of(Real(7) ** 0 + L2**0).top == {(): 2}
    assert forms.of(sqrt(L2)).top == {((Letter("root-of", 0), 1),): 1}
    assert forms.of(sqrt(L3)).top == {((Letter("root-of", 1), 1),): 1}
    assert forms.of(sqrt(L2) + sqrt(L3) * sqrt(L3)).top == {
        ((Letter("root-of", 0), 1),): 1,
        ((Letter("log", 3), 1),): 1,
    }
    assert forms.of(exp(L2 * L3)).top == {((Letter("tree", 0), 1),): 1}
    assert forms.of(exp(L2 * L2)).top == {((Letter("tree", 1), 1),): 1}
    assert forms.of(exp(L3 * L2)).top == {((Letter("tree", 0), 1),): 1}
    assert forms.of(exp(Fraction(3, 4))).top == {((Letter("exp", 4), 3),): 1}
    assert forms.of(exp(-2)).bottom == {((Letter("exp", 1), 2),): 1}


def test_constants() -> None:
    for x, wanted in (
        (Real("2/3"), Fraction(2, 3)),
        (sqrt(2) * sqrt(2) / 10**40, Fraction(2, 10**40)),
        (L2 - L2, Fraction(0)),
        (sqrt(sqrt(Q**4)) + 1, Fraction(Q + 1)),
        (sqrt(sqrt(Q**2) + 1) ** 2, Fraction(Q + 1)),
        (L2, None),
        (L2 + 1, None),
        (1 / L2, None),
        (sqrt(2), None),
    ):
        assert NormalForms(x).constant(x) == wanted


# -- numbers known by enclosures ----------------------------------------------------------------


def test_enclosed_numbers_show_their_form_or_stay_letters() -> None:
    known = enclosed(lambda digits: L2.enclosure(digits), lambda: log(4) / 2)
    assert is_zero(known - L2)
    assert is_zero(log(2 * known) - log(known + L2))
    assert not is_zero(known - L3)
    unknown = enclosed(lambda digits: L2.enclosure(digits))
    other = enclosed(lambda digits: L2.enclosure(digits))
    assert is_zero(unknown - unknown)
    assert is_zero((unknown + 1) ** 2 - unknown**2 - 2 * unknown - 1)
    assert not is_zero(unknown - other)
    assert not is_zero(unknown - L2)
    whole = enclosed(lambda _: (Decimal(Q + 1), Decimal(Q + 1)), lambda: Real(Q + 1))
    assert is_zero(log(whole) - log(Q + 1))
    assert is_zero(log(whole) - log(whole))


# -- enclosures that never narrow ---------------------------------------------------------------


def vague(low: int, high: int) -> Real:
    return enclosed(lambda _: (Decimal(low), Decimal(high)))


def test_a_zero_that_is_not_shown_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    # z might be zero: then z + sqrt(z²) is zero whatever the sign of the root.
    monkeypatch.setattr(normal, "_DIGITS", (30, 60))
    z = log(exp(L2**2)) - L2**2
    assert not is_zero(z)
    assert not is_zero(z + sqrt(z * z))
    assert not is_zero(z - sqrt(z * z))
    with pytest.raises(
        Undecided, match=r"^60 digits do not settle the sign of a divisor under a root$"
    ):
        is_zero(sqrt(L2 / z))


def test_five_thousand_digits_are_tried() -> None:
    assert normal._DIGITS == (30, 60, 120, 240, 480, 960, 1920, 3840, 5000)


def test_trees_among_the_letters_may_need_more_digits() -> None:
    gap = sqrt(2) - Fraction(sqrt(2).enclosure(50)[0])
    x = exp(L2 * L2) / (gap + L2 - L2)
    letter = log(1 / gap + L2)
    with pytest.raises(Unresolved):
        enclose(letter, 30)
    assert is_zero(sqrt(letter * letter) - letter)
    assert not is_zero(sqrt(letter * letter) + letter)
    assert is_zero(sqrt(x * x) - x)
    assert is_zero(sqrt(L2 / letter) * sqrt(letter / L2) - 1)


def test_signs_of_polynomials() -> None:
    forms = NormalForms(L2 * L3 * sqrt(5))
    for x, sign in ((L2 - L3, -1), (L3 - L2, 1), (sqrt(5) - 2, 1), (L2 * L3 - sqrt(5), -1)):
        assert forms._sign(forms.of(x).top) == sign
    assert forms._sign({(): Fraction(1, 10**90)}) == 1
    near = Fraction(L2.enclosure(100)[0])
    assert forms._sign(forms.of(L2 - near).top) == 1
    assert forms._sign(forms.of(near - L2).top) == -1


def test_which_of_two_values_it_is() -> None:
    forms = NormalForms(L2)
    zero: Polynomial = {}
    one: Polynomial = {(): Fraction(1)}
    minus: Polynomial = {(): Fraction(-1)}
    assert forms._is_nearer_to_zero_than(zero, one)
    assert forms._is_nearer_to_zero_than(zero, minus)
    assert not forms._is_nearer_to_zero_than(one, one)
    assert not forms._is_nearer_to_zero_than(minus, minus)
    for bounds, other, wanted in (
        ((-1, 1), 2, True),
        ((-1, 1), -2, True),
        ((-1, 1), 1, False),
        ((-1, 1), -1, False),
        ((0, 1), 1, False),
        ((0, 1), 2, True),
        ((-1, 0), -2, True),
        ((1, 2), 3, False),
        ((-2, -1), -3, False),
    ):
        x = vague(*bounds)
        top = forms.of(x).top
        assert forms._is_nearer_to_zero_than(top, {(): Fraction(other)}) is wanted


# -- sums with several denominators -------------------------------------------------------------


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_sums_over_different_denominators_in_any_order(order: tuple[int, ...]) -> None:
    terms = [Real(1), 1 / L2, L3 / L2, 1 / (L2 + L3)]
    x = total([terms[i] for i in order])
    top = (L2 + 1 + L3) * (L2 + L3) + L2
    assert is_zero(x - top / (L2 * (L2 + L3)))
    assert not is_zero(x - top / (L2 * (L2 - L3)))


@pytest.mark.parametrize(
    "build", [lambda x: x + 1, lambda x: 1 + x, lambda x: x - 1, lambda x: x * x, lambda x: 1 / x]
)
def test_working_with_a_form_leaves_it_as_it_was(build: Callable[[Real], Real]) -> None:
    # Polynomials are shared by the forms of all trees; none may change under another's hands.
    for x in (Real(1), L2, 1 / L2, 1 + 1 / L2, sqrt(L2), sqrt(1 + L2 - sqrt(L2**2))):
        forms = NormalForms(x + L3)
        form = forms.of(x)
        before = dict(form.top), dict(form.bottom)
        for y in (build(x), x + build(x), total([x, 1 / L3, build(x), 1 / L2]) - build(x)):
            forms._vanishes(forms.of(y).top)
            combined = forms._sum([form, form, forms.of(build(x)), forms.of(1 / L3)])
            forms._vanishes(combined.top)
            forms._product([form, form])
            assert (form.top, form.bottom) == before


# -- sums of roots ------------------------------------------------------------------------------


def test_equal_sums_of_different_roots() -> None:
    assert sqrt(2) + sqrt(8) == sqrt(18)
    assert sqrt(Fraction(1, 2)) + sqrt(Fraction(9, 2)) == sqrt(8)
    large = 10**40 + 1
    assert sqrt(large) + sqrt(4 * large) + sqrt(5) == sqrt(5) + sqrt(9 * large)
    assert sqrt(10**30) + sqrt(10**30 + 2) < 2 * sqrt(10**30 + 1)


def test_too_much_work_shows_nothing_but_costs_little() -> None:
    # Quotients by different sums of roots: written over one bottom they would have 10^20 terms.
    bottoms = [total(sqrt(p + 7 * q) for p in range(2, 30)) for q in range(12)]
    x = total(1 / bottom for bottom in bottoms)
    assert x.fraction is None
    assert not is_zero(x - x)  # zero, but not shown
    assert float(x - 1) == float(x.enclosure(40)[0] - 1)
    few = 1 / bottoms[0] + 1 / bottoms[1]
    assert is_zero(few - (bottoms[0] + bottoms[1]) / (bottoms[0] * bottoms[1]))
