"""Corrections for chance whose expectation is estimated (chapter 41, EXP-MC).

The expectation runs over all n! ways to permute the labels. It is exact where the tables can be
enumerated; beyond a stated size it is a seeded Monte Carlo estimate that says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from refclust.errors import BadOption, TooLarge
from refclust.formulas.contingency import Contingency
from refclust.formulas.matching import adjusted
from refclust.limits import within
from refclust.numbers.random_tables import random_table
from refclust.numbers.reading import shown
from refclust.numbers.real import Rational, Real
from refclust.numbers.sampling import stream

SAMPLES: Final = 1000
SEED: Final = 0
MOST_OBJECTS: Final = 1 << 40


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value that is not certified: an estimate with its standard error."""

    value: float
    standard_error: float
    samples: int
    seed: int


def estimated(
    table: Contingency,
    value: Real,
    statistic: Callable[[list[list[int]]], float],
    *,
    samples: Rational,
    seed: Rational,
) -> Estimate:
    """Estimate a chance-corrected value from random tables with the margins of this one.

    Spec: EXP-MC

    >>> table = Contingency.of_rows([[3, 0], [0, 3]])
    >>> estimated(table, Real(1), lambda _: 0.25, samples=10, seed=1)
    Estimate(value=1.0, standard_error=0.0, samples=10, seed=1)
    """
    count, start = _whole("samples", samples, least=2), _whole("seed", seed, least=0)
    tables = drawn_tables(table, samples=count, seed=start, what="an estimate")
    draws = [statistic(drawn) for drawn in tables]
    mean = math.fsum(draws) / count
    if mean == 1:
        raise TooLarge(f"each of {count} random tables gives 1: too few samples for an estimate")
    variance = math.fsum((draw - mean) ** 2 for draw in draws) / (count - 1)
    # The derivative of (v − e)/(1 − e) by e is (v − 1)/(1 − e)².
    slope = (1 - float(value)) / (1 - mean) ** 2
    error = abs(slope) * math.sqrt(variance / count)
    return Estimate(float(adjusted(value, Fraction(mean))), error, count, start)


def drawn_tables(
    table: Contingency, *, samples: Rational, seed: Rational, what: str
) -> Iterator[list[list[int]]]:
    """Draw random tables with the margins of this one.

    Spec: EXP-MC, NUM-RAND

    >>> table = Contingency.of_rows([[1, 0], [0, 1]])
    >>> list(drawn_tables(table, samples=2, seed=0, what="it"))
    [[[0, 1], [1, 0]], [[0, 1], [1, 0]]]
    """
    count, start = _whole("samples", samples, least=1), _whole("seed", seed, least=0)
    rows, columns = [int(size) for size in table.row], [int(size) for size in table.col]
    if sum(rows) > MOST_OBJECTS:
        raise TooLarge(
            f"random tables of {shown(sum(rows))} objects would not be random: their chances are "
            f"doubles, which serve up to {MOST_OBJECTS:,} objects"
        )
    within("terms", _steps(rows, columns, count), f"{what} from {count:,} random tables")
    rng = stream(start)
    return (random_table(rng, rows, columns) for _ in range(count))


def _steps(rows: Sequence[int], columns: Sequence[int], count: int) -> int:
    """How many steps the draws take: a cell is sought from its mode outwards, by its spread."""
    n = sum(rows)
    spreads = math.fsum(
        math.sqrt(a / n * b * (1 - a / n) * (1 - b / n)) for a in rows for b in columns
    )
    return count * (len(rows) * len(columns) + math.ceil(spreads))


def _whole(name: str, value: Rational, *, least: int) -> int:
    if Fraction(value).denominator != 1 or value < least:
        raise BadOption(f"{name}={shown(value)}: a whole number, {least} or more, is needed")
    return int(value)
