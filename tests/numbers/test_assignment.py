"""The best matching against every matching, ties, rectangles and long weights included."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.numbers.assignment import best_matching
from tests.numbers.effort import SCALE, examples
from tests.numbers.expressions import below

pytestmark = pytest.mark.spec("MATCH-HUNG")

Weights = Mapping[tuple[int, int], int]


def greatest_total(weights: Weights) -> int:
    """By trying every subset of columns for the rows so far."""
    rows = sorted({i for i, _ in weights})
    columns = sorted({j for _, j in weights})
    best = {frozenset[int](): 0}
    for i in rows:
        following = dict(best)
        for used, so_far in best.items():
            for j in columns:
                weight = weights.get((i, j), 0)
                if j not in used and weight > 0:
                    key = used | {j}
                    following[key] = max(following.get(key, 0), so_far + weight)
        best = following
    return max(best.values())


def check(weights: Weights) -> None:
    matching = best_matching(weights)
    assert list(matching) == sorted(matching)
    assert len({i for i, _ in matching}) == len({j for _, j in matching}) == len(matching)
    assert all(weights[pair] > 0 for pair in matching)
    assert sum(weights[pair] for pair in matching) == greatest_total(weights)


@examples(200)
@given(
    st.integers(1, 5).flatmap(
        lambda most: st.dictionaries(
            st.tuples(st.integers(0, 4), st.integers(0, 4)), st.integers(-1, most), max_size=25
        )
    )
)
def test_small_tables_with_many_ties(weights: dict[tuple[int, int], int]) -> None:
    check(weights)


@examples(100)
@given(
    st.dictionaries(
        st.tuples(st.integers(0, 4), st.integers(0, 4)), st.integers(0, 10**30), max_size=25
    )
)
def test_small_tables_with_long_weights(weights: dict[tuple[int, int], int]) -> None:
    check(weights)


@pytest.mark.parametrize("part", range(8))
def test_random_tables_of_every_shape(part: int) -> None:
    for seed in range(part * 60 * SCALE, (part + 1) * 60 * SCALE):
        rng = Random(seed)
        rows, columns = 1 + below(rng, 7), 1 + below(rng, 7)
        most = (2, 3, 10, 1000, 10**25)[below(rng, 5)]
        filled = 0.3 + 0.7 * rng.random()
        check(
            {
                (i, j): below(rng, most)
                for i, j in itertools.product(range(rows), range(columns))
                if rng.random() < filled
            }
        )


def test_all_weights_of_a_small_square() -> None:
    places = list(itertools.product(range(2), range(3)))
    for weights in itertools.product(range(3), repeat=6):
        check(dict(zip(places, weights, strict=True)))


def test_the_ends() -> None:
    assert best_matching({}) == ()
    assert best_matching({(0, 0): 0, (1, 2): -3}) == ()
    assert best_matching({(7, 9): 1}) == ((7, 9),)
    assert best_matching({(0, 0): 5, (1, 0): 5}) == ((0, 0),)
    assert best_matching({(1, 0): 5, (0, 0): 4}) == ((1, 0),)
    assert best_matching({(0, 0): 5, (0, 1): 6}) == ((0, 1),)


def test_the_result_does_not_depend_on_the_order_of_the_cells() -> None:
    rng = Random(5)
    for _ in range(40):
        cells = {(i, j): below(rng, 4) for i, j in itertools.product(range(4), range(4))}
        shuffled = sorted(cells.items(), key=lambda item: hash((item[0], 17)))
        assert best_matching(dict(shuffled)) == best_matching(cells)


def test_a_long_chain_of_exchanges() -> None:
    # The last row wants the column of the first, which then takes the next one's, and so on: that
    # costs 1 for each row moved. Where it costs more than it brings, the last row stays out.
    size = 60
    for gain, pushed in ((size + 1, True), (size - 1, False)):
        weights = {(i, i): 1000 for i in range(size)}
        weights |= {(i, i + 1): 999 for i in range(size)}
        weights[size, 0] = gain
        wanted = [(i, i + 1) for i in range(size)] + [(size, 0)]
        assert best_matching(weights) == tuple(wanted if pushed else [(i, i) for i in range(size)])
    weights = {(i, j): 1000 - abs(i - j) for i in range(size) for j in range(size)}
    matching = best_matching(weights)
    assert sum(weights[pair] for pair in matching) == 1000 * size


def test_large_tables_are_certified_by_prices() -> None:
    # w ≤ a_i + b_j with equality on a hidden permutation: its total is the greatest.
    for seed in range(5):
        rng = Random(seed)
        size = 40
        a = [1 + below(rng, 50) for _ in range(size)]
        b = [1 + below(rng, 50) for _ in range(size)]
        chance = [rng.random() for _ in range(size)]
        hidden = sorted(range(size), key=lambda i: chance[i])
        weights = {
            (i, j): a[i] + b[j] - (0 if hidden[i] == j else below(rng, 4))
            for i, j in itertools.product(range(size), repeat=2)
        }
        matching = best_matching(weights)
        assert sum(weights[pair] for pair in matching) == sum(a) + sum(b)
