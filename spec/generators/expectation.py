"""Expected values when the labels of one side are shuffled, every permutation equally likely.

Three roads, compared with each other wherever more than one is open: all n! permutations of the
label list (n <= 6), all tables with the given margins with their exact weights, and urns emptied
one draw at a time (for quantities that are sums over cells or rows).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, lru_cache
from itertools import permutations, zip_longest
from math import comb, factorial, prod

Margin = tuple[int, ...]
Counts = tuple[tuple[int, ...], ...]

PERMUTATION_LIMIT = 6
TABLE_LIMIT = 40_000
CHECK_LIMIT = 2_000
URN_LIMIT = 2_000


def by_permutations(rows: Margin, columns: Margin) -> dict[Counts, int]:
    """How many of the n! permutations of one label list give each table."""
    true = [j for j, size in enumerate(columns) for _ in range(size)]
    pred = [i for i, size in enumerate(rows) for _ in range(size)]
    seen: Counter[Counts] = Counter()
    for shuffled in permutations(pred):
        cells = [[0] * len(columns) for _ in rows]
        for i, j in zip(shuffled, true, strict=True):
            cells[i][j] += 1
        seen[tuple(map(tuple, cells))] += 1
    return dict(seen)


def _row_choices(size: int, room: Margin) -> Iterator[tuple[int, ...]]:
    if len(room) == 1:
        yield (size,)
        return
    for first in range(max(0, size - sum(room[1:])), min(size, room[0]) + 1):
        for rest in _row_choices(size - first, room[1:]):
            yield (first, *rest)


@cache
def how_many_tables(rows: Margin, columns: Margin) -> int:
    """The number of tables of non-negative integers with these margins.

    >>> how_many_tables((2, 2), (2, 2))
    3
    """
    if len(rows) == 1:
        return 1
    return sum(
        how_many_tables(rows[1:], tuple(sorted(c - x for c, x in zip(columns, row, strict=True))))
        for row in _row_choices(rows[0], columns)
    )


def by_tables(rows: Margin, columns: Margin) -> dict[Counts, int]:
    """The same by listing tables: n_1! n_2! ... m_1! m_2! ... / (n_11! n_12! ...) for each."""

    def fill(left: Margin, room: Margin) -> Iterator[Counts]:
        if not left:
            yield ()
            return
        for row in _row_choices(left[0], room):
            rest = tuple(c - x for c, x in zip(room, row, strict=True))
            for below in fill(left[1:], rest):
                yield (row, *below)

    top = prod(map(factorial, rows)) * prod(map(factorial, columns))
    counts = {
        cells: top // prod(factorial(x) for row in cells for x in row)
        for cells in fill(rows, columns)
        if sum(map(sum, cells)) == sum(columns)
    }
    assert sum(counts.values()) == factorial(sum(rows)), "permutations got lost"
    return counts


@cache
def shuffled_tables(rows: Margin, columns: Margin) -> dict[Counts, int] | None:
    """How many permutations give each table, or None where that is out of reach."""
    if sum(rows) <= PERMUTATION_LIMIT:
        counts = by_permutations(rows, columns)
        assert counts == by_tables(rows, columns), "the two roads disagree"
        return counts
    if _too_many(rows, columns):
        return None
    return by_tables(rows, columns)


def _too_many(rows: Margin, columns: Margin) -> bool:
    # A first row alone can have more choices than we allow; look before counting.
    if sum(rows) > 200 or _first_row_choices(rows, columns) > TABLE_LIMIT:
        return True
    return how_many_tables(tuple(sorted(rows)), tuple(sorted(columns))) > TABLE_LIMIT


def _first_row_choices(rows: Margin, columns: Margin) -> int:
    return min(comb(size + len(columns) - 1, size) for size in rows)


def expected(
    rows: Margin, columns: Margin, measure: Callable[[Counts], Fraction]
) -> Fraction | None:
    """The mean of a rational measure over all permutations, None where out of reach.

    The measure must not depend on the order of rows or columns, so sorted margins are enough.
    """
    return _expected(tuple(sorted(rows)), tuple(sorted(columns)), measure)


@cache
def _expected(
    rows: Margin, columns: Margin, measure: Callable[[Counts], Fraction]
) -> Fraction | None:
    counts = shuffled_tables(rows, columns)
    if counts is None:
        return None
    by_value: dict[Fraction, int] = {}
    for cells, count in counts.items():
        value = measure(cells)
        by_value[value] = by_value.get(value, 0) + count
    parts = [value * count for value, count in by_value.items()]
    # Sums of neighbours, again and again: long denominators appear only in the last few.
    while len(parts) > 1:
        parts = [a + b for a, b in zip_longest(parts[::2], parts[1::2], fillvalue=Fraction(0))]
    return parts[0] / factorial(sum(rows))


def checkable(rows: Margin, columns: Margin) -> bool:
    """Whether there are so few tables that a second road through all of them costs little."""
    counts = shuffled_tables(tuple(sorted(rows)), tuple(sorted(columns)))
    return counts is not None and len(counts) <= CHECK_LIMIT


@lru_cache(maxsize=4096)
def urn(special: int, others: int, draws: int) -> tuple[Fraction, ...]:
    """Chances of 0, 1, 2, ... special objects when ``draws`` are taken without putting back.

    Counted draw by draw over ordered sequences of draws.

    >>> urn(1, 2, 1)
    (Fraction(2, 3), Fraction(1, 3))
    """
    ways = [1]
    for drawn in range(draws):
        following = [0] * (len(ways) + 1)
        for hits, count in enumerate(ways):
            if count:
                following[hits] += count * max(others - (drawn - hits), 0)
                following[hits + 1] += count * max(special - hits, 0)
        while following and not following[-1]:
            following.pop()
        ways = following
    sequences = prod(range(special + others - draws + 1, special + others + 1))
    assert sum(ways) == sequences
    return tuple(Fraction(count, sequences) for count in ways)


@cache
def expected_row(size: int, columns: Margin, measure: Callable[[Margin], int]) -> Fraction:
    """The mean of a measure of one row when ``size`` objects are drawn from all classes.

    >>> expected_row(2, (2, 1), max)
    Fraction(4, 3)
    """
    choose = [[comb(m, x) for x in range(min(m, size) + 1)] for m in columns]
    by_value: dict[int, int] = {}
    for row in _row_choices(size, columns):
        ways = prod(choose[j][x] for j, x in enumerate(row))
        value = measure(row)
        by_value[value] = by_value.get(value, 0) + ways
    top = sum(value * ways for value, ways in by_value.items())
    return Fraction(top, comb(sum(columns), size))
