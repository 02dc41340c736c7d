"""Random contingency tables with given margins, for Monte Carlo estimates (chapter 05, NUM-RAND).

A uniformly random permutation of the labels gives a table whose cells follow one another as
hypergeometric draws. Drawing cells instead of shuffling labels makes the cost independent of n.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

_NEGLIGIBLE = 2.0**-200


def random_table(rng: Random, rows: Sequence[int], columns: Sequence[int]) -> list[list[int]]:
    """Draw a table with these row and column sums as a random permutation would give it.

    Spec: NUM-RAND

    >>> random_table(Random(1), [2, 2], [3, 1])
    [[2, 0], [1, 1]]
    """
    left = list(columns)
    table = []
    for size in rows:
        population, open_places, cells = sum(left), size, []
        for have in left:
            taken = hypergeometric_draw(rng, open_places, have, population)
            cells.append(taken)
            open_places -= taken
            population -= have
        left = [have - taken for have, taken in zip(left, cells, strict=True)]
        table.append(cells)
    return table


def hypergeometric_draw(rng: Random, drawn: int, marked: int, population: int) -> int:
    """Draw the number of marked objects among ``drawn`` ones, by inverting from the mode outwards.

    Spec: NUM-RAND, NUM-HYPER

    >>> [hypergeometric_draw(Random(seed), 5, 10, 20) for seed in range(6)]
    [5, 3, 1, 3, 3, 2]
    """
    least, most = max(0, drawn + marked - population), min(drawn, marked)
    if least == most:
        return least
    mode = min(max((drawn + 1) * (marked + 1) // (population + 2), least), most)
    up = down = mode
    p_up = p_down = math.exp(
        _log_binomial(marked, mode)
        + _log_binomial(population - marked, drawn - mode)
        - _log_binomial(population, drawn)
    )
    rest = rng.random() - p_up
    # What is far below a rounding error of the rest ends the walk. Do not wait for 0.0: the least
    # double times 0.9 is the least double again, and millions of values may follow.
    while rest >= 0 and (
        (up < most and p_up > _NEGLIGIBLE) or (down > least and p_down > _NEGLIGIBLE)
    ):
        if up < most:
            p_up *= (drawn - up) * (marked - up)
            up += 1
            p_up /= up * (population - drawn - marked + up)
            rest -= p_up
            if rest < 0:
                return up
        if down > least:
            p_down *= down * (population - drawn - marked + down)
            down -= 1
            p_down /= (drawn - down) * (marked - down)
            rest -= p_down
            if rest < 0:
                return down
    # Rounding may leave a small rest when all values are used up: the mode takes it. It is about
    # 2**-52 times log(population!): 1e-12 for a thousand objects, 1e-8 for a million.
    return mode


def _log_binomial(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
