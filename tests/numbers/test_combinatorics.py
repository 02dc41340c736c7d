"""Exact counting against plain enumeration of draws, tables and permutations."""

from __future__ import annotations

import inspect
import itertools
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.errors import TooLarge
from refclust.numbers.combinatorics import (
    _rows_of,
    expected_maximum,
    hypergeometric,
    pairs,
    table_statistics,
)
from tests.numbers.effort import examples

groupings = st.lists(st.integers(1, 4), min_size=1, max_size=4).filter(lambda g: sum(g) <= 10)


def objects(groups: Sequence[int]) -> list[int]:
    return [j for j, size in enumerate(groups) for _ in range(size)]


@pytest.mark.spec("NUM-BINOM")
def test_pairs() -> None:
    for count in range(30):
        assert pairs(count) == len(list(itertools.combinations(range(count), 2)))
    assert pairs(10**30) == (10**60 - 10**30) // 2


@pytest.mark.spec("NUM-HYPER", "NUM-BINOM")
def test_hypergeometric_probabilities_by_enumeration() -> None:
    for population in range(7):
        for drawn, marked in itertools.product(range(population + 1), repeat=2):
            draws = list(itertools.combinations(range(population), drawn))
            found = Counter(sum(x < marked for x in draw) for draw in draws)
            for hits in range(-2, population + 3):
                wanted = Fraction(found[hits], len(draws))
                assert hypergeometric(drawn, marked, population, hits) == wanted
                assert hypergeometric(marked, drawn, population, hits) == wanted


@pytest.mark.spec("NUM-HYPER")
@examples(50)
@given(st.integers(0, 300), st.data())
def test_hypergeometric_probabilities_add_up(population: int, data: st.DataObject) -> None:
    drawn = data.draw(st.integers(0, population))
    marked = data.draw(st.integers(0, population))
    law = [hypergeometric(drawn, marked, population, hits) for hits in range(drawn + 1)]
    assert sum(law) == 1
    mean = sum(hits * p for hits, p in enumerate(law))
    assert mean * population == drawn * marked


def slow_expected_maximum(drawn: int, groups: Sequence[int]) -> Fraction:
    """By a plain table of coefficients instead of one long integer."""
    expectation = Fraction()
    for bound in range(max(groups) + 1):
        coefficients = [1] + [0] * drawn
        for group in groups:
            coefficients = [
                sum(
                    coefficients[degree - c] * math.comb(group, c)
                    for c in range(min(bound, group, degree) + 1)
                )
                for degree in range(drawn + 1)
            ]
        expectation += 1 - Fraction(coefficients[drawn], math.comb(sum(groups), drawn))
    return expectation


@examples(150)
@given(groupings, st.data())
def test_expected_maximum_by_enumeration(groups: list[int], data: st.DataObject) -> None:
    drawn = data.draw(st.integers(0, sum(groups)))
    draws = list(itertools.combinations(objects(groups), drawn))
    largest = sum(max(Counter(draw).values(), default=0) for draw in draws)
    wanted = Fraction(largest, len(draws))
    assert expected_maximum(drawn, groups) == wanted
    assert slow_expected_maximum(drawn, groups) == wanted


@examples(100)
@given(st.lists(st.integers(1, 15), min_size=1, max_size=6), st.data())
def test_expected_maximum_of_larger_draws(groups: list[int], data: st.DataObject) -> None:
    # More than half of all objects drawn: coefficients on the way exceed the last one.
    drawn = data.draw(st.integers(0, sum(groups)))
    assert expected_maximum(drawn, groups) == slow_expected_maximum(drawn, groups)


def test_expected_maximum_at_its_ends() -> None:
    assert expected_maximum(0, [3, 2]) == 0
    assert expected_maximum(1, [3, 2]) == 1
    assert expected_maximum(5, [5]) == 5
    assert expected_maximum(6, [5, 2]) == Fraction(30, 7)
    assert expected_maximum(7, [5, 2]) == 5
    assert expected_maximum(4, [1] * 9) == 1


def test_the_limit_of_expected_maximum() -> None:
    # Bounds from the mean 4 to 9 need a product each, and one more is counted for what is left:
    # 7 products of 10 factors of 41 coefficients, each a bit longer than C(100, 40).
    work = 7 * 10 * 41 * (math.comb(100, 40).bit_length() + 1)
    with pytest.raises(TooLarge) as error:
        expected_maximum(40, [10] * 10, limit=work - 1)
    assert str(error.value) == (
        f"the expected maximum of 40 objects in 10 groups needs about {work} bit operations, "
        f"more than the limit {work - 1}"
    )
    assert expected_maximum(40, [10] * 10, limit=work) == slow_expected_maximum(40, [10] * 10)
    # More than half of the objects: the longest coefficient is the middle one.
    work = 2 * 41 * (math.comb(60, 30).bit_length() + 1)
    with pytest.raises(TooLarge, match=f"about {work} bit"):
        expected_maximum(40, [30, 30], limit=work - 1)
    assert expected_maximum(40, [30, 30], limit=work) == slow_expected_maximum(40, [30, 30])
    # Only one group is larger than the mean 3: no product is needed.
    work = 4 * 13 * (math.comb(36, 12).bit_length() + 1)
    with pytest.raises(TooLarge, match=f"about {work} bit"):
        expected_maximum(12, [2, 30, 2, 2], limit=work - 1)
    assert expected_maximum(12, [2, 30, 2, 2], limit=work) == slow_expected_maximum(
        12, [2, 30, 2, 2]
    )
    with pytest.raises(TooLarge, match=r"more than the limit 200000000$"):
        expected_maximum(10**4, [10**3] * 100)


# -- tables -------------------------------------------------------------------------------------

Table = tuple[tuple[int, ...], ...]


def add_row(so_far: Table, index: int, cells: tuple[int, ...]) -> Table:
    assert index == len(so_far)
    return (*so_far, cells)


def all_tables(rows: Sequence[int], columns: Sequence[int]) -> dict[Table, Fraction]:
    """The law of the table by going through all permutations."""
    clusters, classes = objects(rows), objects(columns)
    found: Counter[Table] = Counter()
    for order in itertools.permutations(classes):
        cells = Counter(zip(clusters, order, strict=True))
        found[tuple(tuple(cells[i, j] for j in range(len(columns))) for i in range(len(rows)))] += 1
    return {table: Fraction(n, math.factorial(len(classes))) for table, n in found.items()}


MARGINS = [
    ([3], [3]),
    ([2, 1], [3]),
    ([3], [1, 2]),
    ([2, 2], [2, 2]),
    ([3, 2], [1, 4]),
    ([1, 2, 3], [2, 2, 2]),
    ([4, 2], [1, 2, 3]),
    ([1, 1, 1, 1], [2, 1, 1]),
    ([2, 2, 3], [3, 4]),
    ([0, 3], [2, 1]),
    ([2, 1], [0, 3]),
    ([], [0]),
]


@pytest.mark.spec("NUM-TABLES")
@pytest.mark.parametrize(("rows", "columns"), MARGINS)
def test_the_law_of_the_table_by_all_permutations(rows: list[int], columns: list[int]) -> None:
    start: Table = ()
    law = table_statistics(rows, columns, start, add_row)
    assert law == all_tables(rows, columns)
    for table, probability in law.items():
        top = math.prod(map(math.factorial, [*rows, *columns]))
        bottom = math.prod(math.factorial(cell) for row in table for cell in row)
        assert probability == Fraction(top, math.factorial(sum(rows)) * bottom)


@pytest.mark.spec("NUM-TABLES")
@pytest.mark.parametrize(("rows", "columns"), MARGINS)
def test_the_law_of_a_statistic_merges_tables(rows: list[int], columns: list[int]) -> None:
    law = table_statistics(
        rows, columns, 5, lambda so_far, index, cells: so_far + (index + 1) * max(cells)
    )
    wanted: Counter[int] = Counter()
    for table, probability in all_tables(rows, columns).items():
        value = 5 + sum((index + 1) * max(cells) for index, cells in enumerate(table))
        wanted[value] += probability  # type: ignore[assignment]
    assert law == wanted
    assert sum(law.values()) == 1


@pytest.mark.spec("NUM-TABLES")
def test_the_limit_of_the_tables() -> None:
    start: Table = ()
    rows, columns = [2, 2], [2, 2]
    assert len(table_statistics(rows, columns, start, add_row, limit=6)) == 3
    with pytest.raises(TooLarge) as error:
        table_statistics(rows, columns, start, add_row, limit=5)
    assert str(error.value) == (
        "the tables with row sums [2, 2] and column sums [2, 2] need more than 5 rows to be dealt"
    )
    with pytest.raises(TooLarge, match=r"more than 1000 rows to be dealt$"):
        # The first row alone has too many ways to be dealt: the limit must stop it on the way.
        table_statistics([100, 100], [20] * 10, start, add_row, limit=1000)
    assert inspect.signature(table_statistics).parameters["limit"].default == 300_000


@examples(100)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=4), st.integers(0, 10))
def test_the_ways_to_fill_a_row(left: list[int], size: int) -> None:
    wanted = [
        cells
        for cells in itertools.product(*(range(have + 1) for have in left))
        if sum(cells) == size
    ]
    assert list(_rows_of(size, tuple(left))) == wanted
