"""Coprime bases: integers written as products of pairwise coprime numbers (chapter 05, NUM-ZERO).

Gcds do the work, so that nothing has to be factored into primes: two logarithms are compared by
their exponents over a common base whatever the size of the integers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

_SIEVE_LIMIT = 1000
SMALL_PRIMES: tuple[int, ...] = tuple(
    p for p in range(2, _SIEVE_LIMIT) if all(p % d for d in range(2, math.isqrt(p) + 1))
)


class NotGenerated(ValueError):
    """A number is no product of the base's elements."""

    def __init__(self, number: int) -> None:
        super().__init__(f"{number} is not a product of the base")
        self.number = number


class CoprimeBase:
    """Pairwise coprime integers above 1, none a perfect square, that generate the given numbers.

    Spec: NUM-ZERO

    >>> base = CoprimeBase([12, 18, 35 * 1009, 1009])
    >>> base.exponents(12), base.exponents(1009)
    ({2: 2, 3: 1}, {1009: 1})
    """

    __slots__ = ("_large", "_large_set")

    def __init__(self, numbers: Iterable[int]) -> None:
        # Small primes are taken out first: what is left is usually one prime, found by look-up,
        # and the quadratic refinement sees only the rest.
        self._large: list[int] = []
        for cofactor in {_without_small_primes(number)[1] for number in numbers}:
            _refine(self._large, cofactor)
        self._large_set = set(self._large)

    def exponents(self, number: int) -> dict[int, int]:
        """Return the exponent of each base element in ``number``, zeros left out."""
        if number < 1:
            raise ValueError(f"{number} is no product of numbers above 1")
        powers, cofactor = _without_small_primes(number)
        if cofactor in self._large_set:
            powers[cofactor] = 1
            return powers
        for element in self._large:
            while cofactor % element == 0:
                powers[element] = powers.get(element, 0) + 1
                cofactor //= element
            if cofactor == 1:
                break
        if cofactor != 1:
            raise NotGenerated(number)
        return powers


def _without_small_primes(number: int) -> tuple[dict[int, int], int]:
    powers: dict[int, int] = {}
    for prime in SMALL_PRIMES:
        if prime * prime > number:
            break
        while number % prime == 0:
            powers[prime] = powers.get(prime, 0) + 1
            number //= prime
    if 1 < number < _SIEVE_LIMIT:  # a prime: no smaller one divides it
        powers[number] = powers.get(number, 0) + 1
        number = 1
    return powers, number


def _refine(base: list[int], number: int) -> None:
    """Add ``number`` to the base, splitting elements until all are coprime again."""
    pending = [number]
    while pending:
        candidate = pending.pop()
        root = math.isqrt(candidate)
        if candidate == 1:
            continue
        if root * root == candidate:
            pending.append(root)
            continue
        for position, element in enumerate(base):
            shared = math.gcd(candidate, element)
            if shared > 1:
                del base[position]
                pending += [shared, element // shared, candidate // shared]
                break
        else:
            base.append(candidate)
