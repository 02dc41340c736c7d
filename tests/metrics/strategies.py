"""Labelings and tables that tests draw: small, full of ties, and often degenerate."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from hypothesis import settings
from hypothesis import strategies as st

from refclust.metrics.contingency import Contingency
from refclust.numbers.combinatorics import pairs


def some(examples: int) -> settings:
    """Ask for so many examples by default, and for as many times more as the profile does."""
    return settings(max_examples=examples * max(1, settings().max_examples // 100))


class Pair(NamedTuple):
    """Two labelings of the same objects."""

    true: list[int]
    pred: list[int]


@st.composite
def labelings(draw: st.DrawFn, *, least: int = 1, most: int = 12) -> Pair:
    """Two labelings; one in four has a side that is one group or all singletons."""
    n = draw(st.integers(least, most))
    sides = []
    for _ in range(2):
        groups = draw(st.sampled_from([1, 2, 2, 3, 3, 4, 5, n]))
        label = st.integers(0, groups - 1)
        free = st.lists(label, min_size=n, max_size=n)
        sides.append(list(range(n)) if groups == n > 1 else draw(free))
    return Pair(*sides)


@st.composite
def proper_labelings(draw: st.DrawFn, *, most: int = 7) -> Pair:
    """Two labelings, each with two groups at least and two objects in one of them."""
    n = draw(st.integers(3, most))
    sides = []
    for _ in range(2):
        free = draw(st.lists(st.integers(0, 3), min_size=n - 3, max_size=n - 3))
        sides.append(draw(st.permutations([0, 1, 0, *free])))
    return Pair(*sides)


cells = st.sampled_from([0, 0, 1, 1, 2, 3, 4, 5, 7, 12, 30, 100])


@st.composite
def tables(draw: st.DrawFn, *, most_groups: int = 4) -> Contingency:
    """A table of counts, at least one of them positive, with rows of zeros now and then."""
    r, k = draw(st.integers(1, most_groups)), draw(st.integers(1, most_groups))
    rows = [[draw(cells) for _ in range(k)] for _ in range(r)]
    if not any(map(any, rows)):
        rows[0][0] = 1
    return Contingency.of_rows(rows)


@st.composite
def rational_tables(draw: st.DrawFn) -> Contingency:
    """A table of weights with denominators."""
    share = st.fractions(0, 5, max_denominator=12)
    r, k = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    rows = [[draw(share) for _ in range(k)] for _ in range(r)]
    if not any(map(any, rows)):
        rows[0][0] = Fraction(1, 3)
    return Contingency.of_rows(rows)


@st.composite
def distributions(draw: st.DrawFn, *, size: int | None = None) -> list[Fraction]:
    """Probabilities that add up to one, zeros among them."""
    length = draw(st.integers(1, 5)) if size is None else size
    weights = draw(st.lists(st.integers(0, 6), min_size=length, max_size=length))
    whole = sum(weights)
    if whole == 0:
        weights[0] = whole = 1
    return [Fraction(weight, whole) for weight in weights]


def labels_of(table: Contingency) -> Pair:
    """Two labelings that a table of counts counts."""
    both = [cell for cell, count in table.cells() for _ in range(int(count))]
    return Pair([j for _, j in both], [i for i, _ in both])


def is_one(sizes: tuple[int | Fraction, ...]) -> bool:
    """Whether a partition is one group."""
    return len(sizes) == 1


def is_single(sizes: tuple[int | Fraction, ...]) -> bool:
    """Whether every group of a partition is a single object."""
    return set(sizes) == {1}


def number_of_pairs(table: Contingency) -> int:
    """The number of unordered pairs of objects."""
    return pairs(int(table.total))
