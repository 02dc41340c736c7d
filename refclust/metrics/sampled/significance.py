"""Exchanging and resampling the answers of two classifiers, for any statistic (chapter 53).

Exchanges are counted out where there are few kinds of disagreement, and drawn from a seeded stream
otherwise; an estimate says so.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from fractions import Fraction
from itertools import accumulate, product
from math import comb, prod, sqrt
from typing import Final, TypeAlias

from refclust.errors import BadOption
from refclust.formulas.declared import metric
from refclust.formulas.outcomes import Outcomes
from refclust.formulas.significance import bootstrap_p, sampled_p, two_only
from refclust.limits import within
from refclust.metrics.adjusted.estimates import Estimate
from refclust.numbers.reading import shown
from refclust.numbers.real import Rational
from refclust.numbers.sampling import below, stream

Pairs: TypeAlias = Mapping[tuple[Hashable, Hashable], int]  # (truth, answer): how often
Cell: TypeAlias = tuple[Hashable, Hashable, Hashable]  # truth, first answer, second answer

MOST_EXCHANGES: Final = 20_000  # kinds of exchanges that are counted out
SAMPLES: Final = 9_999


def accuracy_of(pairs: Pairs) -> Fraction:
    """The share of right answers.

    Spec: ST-PERM

    >>> accuracy_of({("x", "x"): 3, ("x", "y"): 1})
    Fraction(3, 4)
    """
    return Fraction(sum(n for (y, z), n in pairs.items() if y == z), sum(pairs.values()))


def macro_f1_of(pairs: Pairs) -> Fraction:
    """The mean over all labels of 2TP/(2TP + FP + FN).

    Spec: ST-PERM

    >>> macro_f1_of({("x", "x"): 1, ("x", "y"): 1, ("y", "y"): 1})
    Fraction(2, 3)
    """
    sides: Counter[Hashable] = Counter()
    for (y, z), n in pairs.items():
        if n:
            sides[y] += n
            sides[z] += n
    scores = [Fraction(2 * pairs.get((label, label), 0), size) for label, size in sides.items()]
    return sum(scores, Fraction()) / len(scores)


def kappa_of(pairs: Pairs) -> Fraction:
    """Cohen's kappa; 0 where chance alone explains everything.

    Spec: ST-PERM

    >>> kappa_of({("x", "x"): 1, ("y", "y"): 1})
    Fraction(1, 1)
    """
    n, rows, columns = sum(pairs.values()), Counter[Hashable](), Counter[Hashable]()
    for (y, z), count in pairs.items():
        rows[y] += count
        columns[z] += count
    chance = Fraction(sum(rows[label] * columns[label] for label in rows), n * n)
    return Fraction() if chance == 1 else (accuracy_of(pairs) - chance) / (1 - chance)


STATISTICS: Final[Mapping[str, Callable[[Pairs], Fraction]]] = {
    "accuracy": accuracy_of,
    "macro_f1": macro_f1_of,
    "kappa": kappa_of,
}


@metric(
    "Paired permutation test, p-value",
    evidence="classifiers",
    range=(0, 1),
    better="neither",
    integer=True,
    choices={"statistic": tuple(STATISTICS)},
)
def permutation(
    outcomes: Outcomes,
    *,
    statistic: str = "accuracy",
    samples: Rational = SAMPLES,
    seed: Rational = 0,
) -> Fraction | Estimate:
    """The p-value of the difference of two classifiers when their answers may be exchanged.

    Spec: ST-PERM, ST-MC

    >>> permutation(Outcomes.of_counts(5, 10, 2, 80))
    Fraction(79, 2048)
    """
    cells, measure = _cells(outcomes), STATISTICS[statistic]
    observed = _difference(cells, measure)
    uneven = [cell for cell in cells if cell[1] != cell[2] and _matters(cell, statistic)]
    kinds = prod(cells[cell] + 1 for cell in uneven)
    if kinds <= MOST_EXCHANGES:
        extreme = sum(
            ways
            for exchanged, ways in _exchanges(cells, uneven)
            if abs(_difference(exchanged, measure)) >= abs(observed)
        )
        return Fraction(extreme, 2 ** sum(cells[cell] for cell in uneven))
    count, rng = _whole("samples", samples), stream(_seed(seed))
    within("terms", count * sum(cells[cell] for cell in uneven), f"{count:,} exchanges")
    draws = []
    for _ in range(count):
        turned = {cell: sum(below(rng, 2) for _ in range(cells[cell])) for cell in uneven}
        draws.append(_difference(_exchanged(cells, turned), measure))
    return _estimate(sampled_p(observed, draws), count, int(seed))


@metric(
    "Paired bootstrap test, p-value",
    evidence="classifiers",
    range=(0, 1),
    better="neither",
    integer=True,
    choices={"statistic": tuple(STATISTICS)},
)
def bootstrap(
    outcomes: Outcomes,
    *,
    statistic: str = "accuracy",
    samples: Rational = 1_999,
    seed: Rational = 0,
) -> Estimate:
    """The p-value of the difference of two classifiers when test objects are drawn again.

    Spec: ST-BOOT

    >>> bootstrap(Outcomes.of_counts(1, 3, 0, 2), samples=99).samples
    99
    """
    cells, measure = _cells(outcomes), STATISTICS[statistic]
    observed = _difference(cells, measure)
    count, rng = _whole("samples", samples), stream(_seed(seed))
    names, edges = list(cells), list(accumulate(cells.values()))
    n = edges[-1]
    within("terms", count * n, f"{count:,} test sets drawn again")
    draws = []
    for _ in range(count):
        drawn: Counter[Cell] = Counter()
        for _ in range(n):
            drawn[names[bisect_right(edges, below(rng, n))]] += 1
        draws.append(_difference(drawn, measure))
    return _estimate(bootstrap_p(observed, draws), count, int(seed))


def _cells(outcomes: Outcomes) -> dict[Cell, int]:
    two_only(outcomes.names)
    cells = {(y, a, b): int(n) for (y, (a, b)), n in outcomes.cells.items()}
    return dict(sorted(cells.items(), key=repr))  # draws must not depend on the order of rows


def _matters(cell: Cell, statistic: str) -> bool:
    """Whether exchanging the answers changes the statistic: of accuracy, if one is right."""
    truth, first, second = cell
    return statistic != "accuracy" or truth in (first, second)


def _difference(cells: Mapping[Cell, int], measure: Callable[[Pairs], Fraction]) -> Fraction:
    sides: tuple[Counter[tuple[Hashable, Hashable]], ...] = (Counter(), Counter())
    for (y, a, b), n in cells.items():
        sides[0][y, a] += n
        sides[1][y, b] += n
    return measure(sides[0]) - measure(sides[1])


def _exchanges(
    cells: Mapping[Cell, int], uneven: list[Cell]
) -> Iterator[tuple[dict[Cell, int], int]]:
    """Every number of exchanges in every cell, and in how many ways it comes about."""
    for numbers in product(*(range(cells[cell] + 1) for cell in uneven)):
        ways = prod(comb(cells[cell], j) for cell, j in zip(uneven, numbers, strict=True))
        yield _exchanged(cells, dict(zip(uneven, numbers, strict=True))), ways


def _exchanged(cells: Mapping[Cell, int], turned: Mapping[Cell, int]) -> dict[Cell, int]:
    moved: Counter[Cell] = Counter(cells)
    for (y, a, b), j in turned.items():
        moved[y, a, b] -= j
        moved[y, b, a] += j
    return dict(moved)


def _estimate(p: Fraction, samples: int, seed: int) -> Estimate:
    share = float(p)
    return Estimate(share, sqrt(share * (1 - share) / samples), samples, seed)


def _whole(name: str, value: Rational) -> int:
    if Fraction(value).denominator != 1 or value < 1:
        raise BadOption(f"{name}={shown(value)}: a whole number of at least 1 is needed")
    return int(value)


def _seed(value: Rational) -> int:
    if Fraction(value).denominator != 1 or value < 0:
        raise BadOption(f"seed={shown(value)}: a whole number of at least 0 is needed")
    return int(value)
