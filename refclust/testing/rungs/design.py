"""Which combinations to try: orthogonal arrays, and sizes that miss no range (chapter 81).

Faults hide where several things come together. Trying all combinations of eight factors is too
much; an orthogonal array tries all combinations of any two or three of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

_RATIO: Final = 2.0**0.25


def orthogonal(levels: int, strength: int, factors: int) -> Iterator[tuple[int, ...]]:
    """Rows in which any ``strength`` of the factors take all combinations of levels, each once.

    The levels are the elements of a prime field, a row is a polynomial of degree below the
    strength, and a factor its value at one place; the last place is the leading coefficient. By
    so many values, at different places, a polynomial is determined, whatever they are.

    Spec: none (which data are made up)

    >>> sorted(orthogonal(2, 2, 3))
    [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)]
    """
    if factors > levels + 1:
        raise ValueError(f"{factors} factors; {levels} levels allow {levels + 1}")
    for coefficients in product(range(levels), repeat=strength):
        values = [
            sum(c * place**power for power, c in enumerate(coefficients)) % levels
            for place in range(min(factors, levels))
        ]
        yield tuple([*values, coefficients[-1]][:factors])


def sizes(least: int, most: int, *, each: int = 1) -> list[int]:
    """Sizes that leave no gap: all up to ``each``, then no range from a to 1.2 a is missed.

    Powers of two are there, with their neighbours and the sizes between two of them.

    Spec: none (which data are made up)

    >>> sizes(1, 20, each=4)
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 19]
    """
    grid = set(range(least, min(each, most) + 1))
    size = float(max(each, least, 1))
    while size <= most:
        grid.add(round(size))
        size *= _RATIO
    power = 1
    while power <= most:
        for centre in (power, 3 * power // 2):
            grid |= {centre - 1, centre, centre + 1}
        power *= 2
    return sorted(size for size in grid if least <= size <= most)
