"""The only random vocabulary: a stream of numbers, an index below k, a shuffled list.

Realises NUM-RAND of chapter 05. Everything is built on ``random.Random.random``, the one method
whose sequence Python promises to keep for a given integer seed. Never call ``randrange``,
``shuffle``, ``sample`` or ``choice``: their outcomes have changed between Python versions.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import TypeVar

from refclust.errors import BadOption
from refclust.numbers.reading import shown

T = TypeVar("T")

# The doubles of ``random()`` are the multiples of 2**-53, so more than 2**53 outcomes cannot all
# occur.
MOST_OUTCOMES = 2**53


def stream(seed: int) -> random.Random:
    """The stream of random numbers that belongs to a non-negative integer seed.

    Defines: NUM-RAND

    >>> stream(0).random()
    0.8444218515250481
    """
    # Python drops the sign of an integer seed: -1 would silently be the stream of 1. Other kinds
    # of seeds are hashed, some of them differently in every process.
    if not _is_integer(seed) or seed < 0:
        raise BadOption(f"the seed is {shown(seed)}; an integer of at least 0 is needed")
    return random.Random(seed)


def below(rng: random.Random, k: int) -> int:
    """The index floor(k u) in 0, ..., k - 1 for the next u of the stream, decided exactly.

    Spec: NUM-RAND

    >>> rng = stream(0)
    >>> [below(rng, 10) for _ in range(5)]
    [8, 7, 4, 2, 5]
    """
    if not _is_integer(k) or not 1 <= k <= MOST_OUTCOMES:
        raise BadOption(f"the number of outcomes is {shown(k)}; integers go from 1 to 2**53")
    # In integers, because a float product k * u may round up to the next index. Since u < 1, the
    # exact floor needs no clamp to stay below k.
    numerator, denominator = rng.random().as_integer_ratio()
    return k * numerator // denominator


def shuffled(rng: random.Random, items: Iterable[T]) -> list[T]:
    """The items in random order, by the downward Fisher-Yates exchange: n - 1 draws for n items.

    Spec: NUM-RAND

    >>> shuffled(stream(0), "abcde")
    ['c', 'a', 'b', 'd', 'e']
    """
    order = list(items)
    for last in range(len(order) - 1, 0, -1):
        chosen = below(rng, last + 1)
        order[last], order[chosen] = order[chosen], order[last]
    return order


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
