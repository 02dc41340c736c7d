"""Coprime bases: coprime, no squares, and every number given is a product of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.numbers.reals.coprime import SMALL_PRIMES, CoprimeBase, NotGenerated, _refine
from tests.numbers.effort import examples

pytestmark = pytest.mark.spec("NUM-ZERO")

# Primes beyond the sieve, so that the refinement has to find them apart.
LARGE = [1009, 1013, 10007, 10009, 1000003, 2**31 - 1, 2**61 - 1]
atoms = st.sampled_from([2, 3, 5, 997, *LARGE])
numbers = st.lists(atoms, max_size=6).map(math.prod)


def is_square(number: int) -> bool:
    return math.isqrt(number) ** 2 == number


def elements(base: CoprimeBase, numbers: Iterable[int]) -> set[int]:
    return {element for number in numbers for element in base.exponents(number)}


@examples(200)
@given(st.lists(numbers, min_size=1, max_size=8))
def test_a_base_of_products_of_known_primes(given: list[int]) -> None:
    base = CoprimeBase(given)
    for number in given:
        powers = base.exponents(number)
        assert math.prod(b**e for b, e in powers.items()) == number
        assert all(e > 0 for e in powers.values())
    found = elements(base, given)
    assert all(b > 1 and not is_square(b) for b in found)
    assert all(math.gcd(a, b) == 1 for a, b in itertools.combinations(found, 2))
    # Products and quotients of what is generated are generated.
    assert base.exponents(math.prod(given)) is not None


@examples(100)
@given(st.lists(st.integers(1, 10**30), min_size=1, max_size=6), st.integers(2, 10**9))
def test_a_base_of_any_numbers(given: list[int], factor: int) -> None:
    given = [*given, *(number * factor for number in given), factor**2, factor**3]
    base = CoprimeBase(given)
    for number in given:
        assert math.prod(b**e for b, e in base.exponents(number).items()) == number
    found = elements(base, given)
    assert all(b > 1 and not is_square(b) for b in found)
    assert all(math.gcd(a, b) == 1 for a, b in itertools.combinations(found, 2))


def test_exponents() -> None:
    p, q = 1009, 1013
    assert CoprimeBase([p * q]).exponents(p * q) == {p * q: 1}
    assert CoprimeBase([p * q, p]).exponents(p * q) == {p: 1, q: 1}
    assert CoprimeBase([p**2]).exponents(p**2) == {p: 2}
    assert CoprimeBase([p**4]).exponents(p**4) == {p: 4}
    assert CoprimeBase([p**3]).exponents(p**3) == {p**3: 1}
    assert CoprimeBase([p**3, p**2]).exponents(p**3) == {p: 3}
    assert CoprimeBase([p**3 * q, p**2]).exponents(12 * p**3 * q) == {2: 2, 3: 1, p: 3, q: 1}
    assert CoprimeBase([p**6 * q**2]).exponents(p**6 * q**2) == {p**3 * q: 2}
    assert CoprimeBase([]).exponents(360) == {2: 3, 3: 2, 5: 1}
    assert CoprimeBase([p]).exponents(1) == {}
    assert CoprimeBase([p, q]).exponents(q) == {q: 1}
    assert CoprimeBase([]).exponents(997) == {997: 1}
    assert CoprimeBase([]).exponents(997**2) == {997: 2}
    assert CoprimeBase([]).exponents(2 * 997**2 * 991) == {2: 1, 991: 1, 997: 2}
    assert CoprimeBase([]).exponents(2**3 * 7 * 11) == {2: 3, 7: 1, 11: 1}
    assert CoprimeBase([]).exponents(3 * 3) == {3: 2}
    assert CoprimeBase([]).exponents(2) == {2: 1}


@pytest.mark.parametrize("number", [1009, 2 * 1009, 1009 * 1013**2, 1001 * 1009])
def test_what_is_not_generated(number: int) -> None:
    with pytest.raises(NotGenerated, match=f"^{number} is not a product of the base$") as error:
        CoprimeBase([1013]).exponents(number)
    assert error.value.number == number


@pytest.mark.parametrize("number", [0, -1, -1009])
def test_only_positive_integers_have_exponents(number: int) -> None:
    with pytest.raises(ValueError, match=f"^{number} is no product of numbers above 1$"):
        CoprimeBase([1009]).exponents(number)


def test_the_small_primes() -> None:
    assert SMALL_PRIMES[:10] == (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)
    assert len(SMALL_PRIMES) == 168
    assert SMALL_PRIMES[-1] == 997


def test_refining_in_place() -> None:
    base: list[int] = []
    _refine(base, 1)
    assert base == []
    _refine(base, 6)
    _refine(base, 6)
    assert base == [6]
    _refine(base, 16)
    assert sorted(base) == [2, 3]
    _refine(base, 30)
    assert sorted(base) == [2, 3, 5]
    _refine(base, 49 * 36)
    assert sorted(base) == [2, 3, 5, 7]


def test_long_numbers_take_no_time() -> None:
    a, b = 2**521 - 1, 2**607 - 1
    base = CoprimeBase([a * a * b, b * b * a])
    assert base.exponents(a**5 * b) == {a: 5, b: 1}
