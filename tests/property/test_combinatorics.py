"""Properties of exact counting."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.errors import TooLarge
from refclust.numbers.combinatorics import (
    count_rows,
    hypergeometric,
    pairs,
    table_statistics,
    tables_with_margins,
)

sizes = st.lists(st.integers(1, 4), min_size=1, max_size=3)


@pytest.mark.spec("NUM-BINOM", "PC-NPAIRS")
@given(st.integers(0, 10**20), st.integers(0, 10**20))
def test_pairs_of_a_union(a: int, b: int) -> None:
    assert pairs(a + b) == pairs(a) + pairs(b) + a * b


@pytest.mark.spec("NUM-BINOM", "NUM-HYPER")
@given(st.integers(1, 60), st.data())
def test_the_roles_of_drawn_and_marked_can_be_exchanged(n: int, data: st.DataObject) -> None:
    a, b = data.draw(st.integers(0, n)), data.draw(st.integers(0, n))
    for hits in range(n + 1):
        assert hypergeometric(a, b, n, hits) == hypergeometric(b, a, n, hits)


@st.composite
def margins(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    rows = draw(sizes)
    left, columns = sum(rows), []
    while left:
        columns.append(draw(st.integers(1, left)))
        left -= columns[-1]
    return rows, columns


@pytest.mark.spec("NUM-TABLES")
@given(margins())
def test_the_law_of_a_table_is_the_one_of_factorials(given: tuple[list[int], list[int]]) -> None:
    rows, columns = given
    empty: tuple[tuple[int, ...], ...] = ()
    law = table_statistics(rows, columns, empty, lambda so_far, _, cells: (*so_far, cells))
    assert sum(law.values()) == 1
    for table, chance in law.items():
        top = math.prod(map(math.factorial, [*rows, *columns]))
        cells = math.prod(math.factorial(cell) for row in table for cell in row)
        assert chance == Fraction(top, math.factorial(sum(rows)) * cells)
        assert [sum(row) for row in table] == rows
        assert [sum(column) for column in zip(*table, strict=True)] == columns


@pytest.mark.spec("NUM-TABLES", "NUM-HYPER")
@given(margins())
def test_a_cell_of_a_random_table_is_hypergeometric(given: tuple[list[int], list[int]]) -> None:
    rows, columns = given
    law = table_statistics(
        rows, columns, 0, lambda so_far, i, cells: cells[0] if i == 0 else so_far
    )
    for hits, chance in law.items():
        assert chance == hypergeometric(rows[0], columns[0], sum(rows), hits)


@pytest.mark.spec("NUM-TABLES")
@given(st.lists(st.integers(0, 5), min_size=1, max_size=5), st.data())
def test_rows_are_counted_without_being_dealt(left: list[int], data: st.DataObject) -> None:
    size = data.draw(st.integers(0, sum(left) + 1))
    rest = sum(left) - size
    dealt = len(list(tables_with_margins([size, rest], left))) if rest >= 0 else 0
    assert count_rows(size, left, 10**6) == dealt
    most = data.draw(st.integers(1, 40))
    assert (count_rows(size, left, most) > most) == (dealt > most)
    assert count_rows(size, left, most) <= dealt


@pytest.mark.spec("NUM-TABLES")
def test_a_refusal_costs_no_row_that_it_refuses() -> None:
    asked = 0

    def add_row(so_far: int, _: int, cells: tuple[int, ...]) -> int:
        nonlocal asked
        asked += 1
        return so_far + max(cells)

    # Four objects, each a cluster and a class: 4 rows, then 4 · 3, 6 · 2 and 4 · 1.
    assert table_statistics([1] * 4, [1] * 4, 0, add_row, limit=32) == {4: Fraction(1)}
    assert asked == 32
    with pytest.raises(TooLarge, match="more than 31 rows"):
        table_statistics([1] * 4, [1] * 4, 0, add_row, limit=31)
    assert asked == 32 + 28  # all but the last four
    with pytest.raises(TooLarge, match="more than 20000 rows"):
        table_statistics([10] * 4, [10] * 4, 0, add_row, limit=20_000)
    assert asked == 60 + math.comb(13, 3)  # ten objects in four columns that hold ten each
