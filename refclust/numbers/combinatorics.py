"""Exact counting: binomials, hypergeometric probabilities, tables with given margins (chapter 05).

Chance correction compares a table with all tables that the n! permutations of the labels produce.
Their row and column sums are fixed, and a cell, a row or a whole table follows a hypergeometric
law, so every expectation here is a rational number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from operator import mul, sub
from typing import Final, TypeVar

from refclust.errors import TooLarge
from refclust.numbers.reading import shown

Statistic = TypeVar("Statistic", bound=Hashable)

_BIT_WORK: Final = 4 * 10**9  # for binomials; 300,000 rows of 2000 objects take less


def pairs(count: int) -> int:
    """Return the number of unordered pairs of ``count`` objects.

    Spec: NUM-BINOM, PC-NPAIRS

    >>> pairs(5)
    10
    """
    return count * (count - 1) // 2


def hypergeometric(drawn: int, marked: int, population: int, hits: int) -> Fraction:
    """Return the probability that ``drawn`` objects hold exactly ``hits`` of the marked ones.

    Spec: NUM-HYPER

    >>> hypergeometric(2, 2, 4, 1)
    Fraction(2, 3)
    """
    if not 0 <= hits <= drawn:
        return Fraction()
    ways = math.comb(marked, hits) * math.comb(population - marked, drawn - hits)
    return Fraction(ways, math.comb(population, drawn))


def central_moments(drawn: int, marked: int, population: int, most: int) -> tuple[list[int], int]:
    """Return E[(nX − ab)^m] for m = 0, …, most as integers over one common denominator.

    X is hypergeometric: a objects drawn of n, b of them marked. Its factorial moments are
    E[X(X − 1)…(X − r + 1)] = (a)_r (b)_r / (n)_r with (x)_r = x(x − 1)…(x − r + 1); Stirling's
    numbers make them powers of X, the binomial theorem powers of nX − ab.

    Spec: NUM-HYPER

    >>> central_moments(2, 2, 4, 2)
    ([12, 0, 64], 12)
    """
    a, b, n = drawn, marked, population
    last = min(most, a, b)
    factorial_moments = [math.prod(range(n - last + 1, n + 1))]
    for r in range(last):
        factorial_moments.append(factorial_moments[-1] * (a - r) * (b - r) // (n - r))
    stirling, powers = [1], [factorial_moments[0]]
    for m in range(1, most + 1):
        stirling = [0, *(stirling[r - 1] + r * stirling[r] for r in range(1, m)), 1]
        powers.append(sum(map(mul, stirling, factorial_moments)) * n**m)
    shifts = [1]
    for _ in range(most):
        shifts.append(shifts[-1] * -a * b)
    moments = [
        sum(math.comb(m, j) * powers[j] * shifts[m - j] for j in range(m + 1))
        for m in range(most + 1)
    ]
    return moments, factorial_moments[0]


def expected_maximum(drawn: int, groups: Sequence[int], *, limit: int = 2 * 10**8) -> Fraction:
    """Return the expected size of the largest group among ``drawn`` objects.

    It is the sum of P(max > t). From t = drawn/2 on, and where only one group is larger than t, no
    two groups can exceed t at once, so their chances add up. Below, P(max ≤ t) is the coefficient
    of x^drawn in ∏_j Σ_{c≤t} C(m_j, c) x^c, over C(n, drawn).

    Spec: PUR-EXP

    >>> expected_maximum(2, [2, 2]), expected_maximum(3, [2, 2, 2])
    (Fraction(4, 3), Fraction(8, 5))
    """
    population = sum(groups)
    ordered = sorted(groups, reverse=True)
    second = ordered[1] if len(ordered) > 1 else 0
    least = -(-drawn // len(groups))  # the largest group holds at least the mean
    single = min((drawn + 1) // 2, second)  # from here on one group at most exceeds t
    # No coefficient of the products below exceeds C(n, c) for some c ≤ drawn.
    chosen, work = min(drawn, population // 2), (max(single - least, 0) + 1) * len(groups)
    work *= drawn + 1
    # A binomial coefficient may itself be out of reach, so a bound below it is looked at first.
    if work * _least_bits(population, chosen) <= limit:
        width = math.comb(population, chosen).bit_length() + 1
        work *= width
    else:
        work *= _least_bits(population, chosen)
    if work > limit:
        raise TooLarge(
            f"the expected maximum of {shown(drawn)} objects in {len(groups)} groups needs about "
            f"{shown(work)} bit operations, more than the limit {limit}"
        )
    ways = math.comb(population, drawn)
    beyond = least * ways  # P(max > t) = 1 for every t below
    for bound in range(least, single):
        beyond += ways - _ways_within(bound, drawn, groups, width)
    start = max(least, single)
    for group in groups:
        # Σ_t P(n_j > t) from the start counts each value above it by its excess.
        for hits in range(start + 1, min(group, drawn) + 1):
            chances = math.comb(group, hits) * math.comb(population - group, drawn - hits)
            beyond += (hits - start) * chances
    return Fraction(beyond, ways)


def _ways_within(bound: int, drawn: int, groups: Sequence[int], width: int) -> int:
    """Count the draws in which no group exceeds the bound.

    One big integer holds a whole polynomial, ``width`` bits to a coefficient, so that multiplying
    integers multiplies polynomials.
    """
    mask = (1 << width * (drawn + 1)) - 1
    product = 1
    for group in groups:
        choices = sum(math.comb(group, c) << width * c for c in range(min(bound, group, drawn) + 1))
        product = product * choices & mask
    return product >> width * drawn


def table_statistics(
    rows: Sequence[int],
    columns: Sequence[int],
    start: Statistic,
    add_row: Callable[[Statistic, int, tuple[int, ...]], Statistic],
    *,
    limit: int = 300_000,
) -> dict[Statistic, Fraction]:
    """Return the law of a statistic over the tables that permuting the labels produces.

    The statistic is built up row by row: ``add_row(so_far, row index, cells)``. Rows are dealt out
    of what the columns have left, so tables that agree on both are counted together. The limit is
    on the rows dealt: on the work, that is, not on what it leaves behind.

    Spec: NUM-TABLES

    >>> table_statistics([2, 2], [2, 2], 0, lambda so_far, _, cells: so_far + max(cells))
    {4: Fraction(1, 3), 2: Fraction(2, 3)}
    """
    _refuse_huge(rows, columns)
    # What the columns have left, and with it the law of the statistic so far, in ways.
    states: dict[tuple[int, ...], dict[Statistic, int]] = {tuple(columns): {start: 1}}
    objects = sum(columns)
    # The bits of Π C(n_j, k_j) are at most Σ n_j: where few objects are dealt none need be counted.
    weighed = limit * (objects + len(columns)) * ((objects >> 8) + 1) > _BIT_WORK
    dealt = work = 0
    for index, size in enumerate(rows):
        # Counted before they are dealt, so that a refusal is not paid with the work it refuses.
        dealt += _count_deals(states, size, limit - dealt)
        if dealt > limit:
            raise TooLarge(
                f"the tables with row sums {_sums(rows)} and column sums {_sums(columns)} "
                f"need more than {limit} rows to be dealt"
            )
        following: dict[tuple[int, ...], dict[Statistic, int]] = {}
        for left, law_so_far in states.items():
            for cells in _rows_of(size, left):
                if weighed:
                    work += len(law_so_far) * sum(map(_binomial_work, left, cells))
                    if work > _BIT_WORK:
                        _refuse_work(rows, columns, work)
                deals = math.prod(map(math.comb, left, cells))
                law_then = following.setdefault(tuple(map(sub, left, cells)), {})
                for so_far, ways in law_so_far.items():
                    statistic = add_row(so_far, index, cells)
                    law_then[statistic] = law_then.get(statistic, 0) + ways * deals
        states = following
    law: dict[Statistic, int] = {}
    for law_at_end in states.values():
        for statistic, ways in law_at_end.items():
            law[statistic] = law.get(statistic, 0) + ways
    everything = sum(law.values())
    return {statistic: Fraction(ways, everything) for statistic, ways in law.items()}


def tables_with_margins(
    rows: Sequence[int], columns: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield every table of counts with these row and column sums, row by row.

    Spec: NUM-TABLES

    >>> list(tables_with_margins([1, 1], [1, 1]))
    [((0, 1), (1, 0)), ((1, 0), (0, 1))]
    """
    if not rows:
        yield ()
        return
    for first in _rows_of(rows[0], tuple(columns)):
        left = [have - take for have, take in zip(columns, first, strict=True)]
        for others in tables_with_margins(rows[1:], left):
            yield (first, *others)


def _refuse_huge(rows: Sequence[int], columns: Sequence[int]) -> None:
    """Refuse, before the first row is dealt, what its middle shows to be out of reach."""
    if not rows or len(columns) < 2:
        return
    size, first, later = rows[0], columns[0], sum(columns[1:])
    low, high = max(0, size - later), min(size, first)
    middle = (low + high) // 2
    least = _binomial_work(first, middle) * max(high - low, 1) // 4
    if least > _BIT_WORK:
        _refuse_work(rows, columns, least)


def _refuse_work(rows: Sequence[int], columns: Sequence[int], work: int) -> None:
    raise TooLarge(
        f"the tables with row sums {_sums(rows)} and column sums {_sums(columns)} need about "
        f"{shown(work)} bit operations or more, and the limit is {_BIT_WORK}"
    )


def _sums(sizes: Sequence[int]) -> str:
    return f"[{', '.join(map(shown, sizes))}]"


def _least_bits(n: int, k: int) -> int:
    """A number of bits that C(n, k) has at least, since C(n, k) ≥ (n/k)^k."""
    few = min(k, n - k)
    return few * ((n // few).bit_length() - 1) + 1 if few else 1


def _binomial_work(n: int, k: int) -> int:
    bits = _least_bits(n, k)
    return bits * ((bits >> 8) + 1)


def _count_deals(
    states: Mapping[tuple[int, ...], Mapping[Statistic, int]], size: int, most: int
) -> int:
    """How many rows are dealt out of all these remainders; beyond ``most``, at least so many."""
    dealt = 0
    for left, law in states.items():
        dealt += len(law) * count_rows(size, left, most)
        if dealt > most:
            break
    return dealt


def count_rows(size: int, left: Sequence[int], most: int) -> int:
    """Return how many ways there are to take ``size`` objects from the columns' remainders.

    Beyond ``most`` it is some number above it, since no more need be known.

    Spec: NUM-TABLES

    >>> count_rows(2, (2, 2), 100), count_rows(3, (1, 1, 5), 100), count_rows(4, (1, 1), 100)
    (3, 4, 0)
    """
    *others, largest = sorted(left)
    # As many ways to take some as to leave them; with the fewer of both the lists stay short.
    taken = min(size, sum(left) - size)
    if taken < 0:
        return 0
    first, last = max(0, taken - largest), min(taken, sum(others))
    if last - first >= most:
        return last - first + 1  # each of these sums can be had from the others
    ways = [1]  # to take 0, 1, … objects from the columns so far
    for column in others:
        sums = [*accumulate(ways)]
        end = min(len(ways) + column, last + 1)
        sums += [sums[-1]] * (end - len(ways))
        ways = [sums[t] - (sums[t - column - 1] if t > column else 0) for t in range(end)]
    return sum(ways[first:])


def _rows_of(size: int, left: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield every way to take ``size`` objects from the columns' remainders."""
    if len(left) == 1:
        if size <= left[0]:
            yield (size,)
        return
    later = sum(left[1:])
    for take in range(max(0, size - later), min(size, left[0]) + 1):
        for rest in _rows_of(size - take, left[1:]):
            yield (take, *rest)
