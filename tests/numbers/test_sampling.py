"""The random vocabulary: exact outcomes for fixed seeds, exact floors, honest refusals."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.errors import BadOption
from refclust.numbers.sampling import below, shuffled, stream


class Scripted(random.Random):
    """A stream that returns the numbers it was told to, and fails on any other method."""

    def __init__(self, numbers: list[float]) -> None:
        super().__init__(0)
        self.numbers = list(numbers)

    def random(self) -> float:
        return self.numbers.pop(0)

    def getrandbits(self, k: int, /) -> int:
        raise AssertionError(f"getrandbits({k}) was called; only random() may be")


@pytest.mark.spec("NUM-RAND")
@pytest.mark.parametrize(
    ("seed", "first", "draws", "order"),
    [
        (0, "0x1.b0580f98a7dbep-1", [8, 7, 4, 2, 5, 4, 7, 3], [6, 0, 3, 1, 2, 4, 5]),
        (1, "0x1.132d8f91b7584p-3", [1, 8, 7, 2, 4, 4, 6, 7], [2, 6, 4, 1, 3, 5, 0]),
        (2**64 + 7, "0x1.ecd9c9456e992p-1", [9, 3, 7, 6, 5, 9, 4, 2], [0, 4, 5, 2, 3, 1, 6]),
    ],
)
def test_pinned_outcomes(seed: int, first: str, draws: list[int], order: list[int]) -> None:
    assert stream(seed).random().hex() == first
    rng = stream(seed)
    assert [below(rng, 10) for _ in range(8)] == draws
    assert shuffled(stream(seed), range(7)) == order


@pytest.mark.spec("NUM-RAND")
@given(st.integers(0, 2**53 - 1), st.integers(1, 2**53))
def test_below_is_the_exact_floor(step: int, k: int) -> None:
    u = step / 2**53
    index = below(Scripted([u]), k)
    assert 0 <= index < k
    assert index <= k * Fraction(u) < index + 1


@pytest.mark.spec("NUM-RAND")
def test_a_float_product_would_round_to_the_next_index() -> None:
    # k u = j - 2**-53 lies just below the integer j, where doubles are coarser: the product of
    # floats is j itself.
    u, k = 6004799503160661 / 2**53, 3
    assert k * Fraction(u) == 2 - Fraction(1, 2**53)
    assert int(k * u) == 2
    assert below(Scripted([u]), k) == 1


@pytest.mark.spec("NUM-RAND")
def test_the_last_number_of_a_stream_stays_below_k() -> None:
    last = 1 - 2**-53
    for k in (1, 2, 3, 10, 2**52 + 1, 2**53 - 1, 2**53):
        assert below(Scripted([last]), k) == k - 1


@pytest.mark.spec("NUM-RAND")
def test_shuffle_goes_downwards() -> None:
    # Draws 0 of 4, 0 of 3, 0 of 2: 3 goes first, then 2, then 1.
    assert shuffled(Scripted([0.0, 0.0, 0.0]), [0, 1, 2, 3]) == [1, 2, 3, 0]
    # Always the last one left: nothing moves.
    assert shuffled(Scripted([0.99, 0.99, 0.99]), [0, 1, 2, 3]) == [0, 1, 2, 3]


@pytest.mark.spec("NUM-RAND")
def test_every_order_comes_from_exactly_one_path() -> None:
    # The draws of 4, 3 and 2 outcomes have 24 paths; each of the 24 orders comes from one.
    middle = [
        [(2 * a + 1) / 8, (2 * b + 1) / 6, (2 * c + 1) / 4]
        for a in range(4)
        for b in range(3)
        for c in range(2)
    ]
    orders = Counter(tuple(shuffled(Scripted(path), range(4))) for path in middle)
    assert len(orders) == 24
    assert set(orders.values()) == {1}


@pytest.mark.spec("NUM-RAND")
@given(st.lists(st.integers()), st.integers(0, 2**70))
def test_shuffled_keeps_the_items_and_its_input(items: list[int], seed: int) -> None:
    before = list(items)
    rng = stream(seed)
    assert Counter(shuffled(rng, items)) == Counter(items)
    assert items == before
    # n - 1 numbers were taken, none for an empty list.
    same = stream(seed)
    for _ in range(len(items) - 1):
        same.random()
    assert rng.random() == same.random()


@pytest.mark.spec("NUM-RAND")
@pytest.mark.parametrize("seed", [-1, 1.0, "1", None, True, b"1", Fraction(1)])
def test_only_integer_seeds(seed: Any) -> None:
    with pytest.raises(BadOption, match="seed is") as caught:
        stream(seed)
    assert caught.value.code == "bad-option"


@pytest.mark.spec("NUM-RAND")
@pytest.mark.parametrize("k", [0, -3, 2**53 + 1, 2.0, True, None])
def test_the_number_of_outcomes_is_checked(k: Any) -> None:
    with pytest.raises(BadOption, match="number of outcomes"):
        below(stream(0), k)
