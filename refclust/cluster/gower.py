"""Gower's distances between the rows of a mixed table: numbers, categories, gaps (DIST-GOWER).

Every distance is the nearest double of its exact value: all columns of numbers are brought to
integers over one denominator, the least common multiple of their ranges.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import isinf, lcm
from typing import Any

from refclust.data.preparing.mixed import Mixed, mixed
from refclust.data.preparing.scales import integers
from refclust.data.preparing.tables import frame_of
from refclust.data.readers.formats import Options
from refclust.errors import MissingValue, NotFinite
from refclust.fitting.memory import for_distances
from refclust.notes import tell
from refclust.numbers.nearest import nearest


def gower_distances(data: Any) -> array[float]:
    """The distances of all pairs of rows of a table: (0, 1), (0, 2), ..., (1, 2), ...

    Spec: DIST-GOWER

    >>> gower_distances([[1, "red", None], [3, "blue", 7], [9, "red", 5]])
    array('d', [0.625, 0.5, 0.9166666666666666])
    """
    table = data if isinstance(data, Mixed) else mixed(frame_of(data), Options())
    for note in table.notes:
        tell(note, warning=True)
    for_distances(table.n)
    rows, whole = _integers(table)
    distances = array("d")
    for i, row in enumerate(rows):
        for k in range(i + 1, len(rows)):
            apart, both = _apart(row, rows[k], table.nominal, whole)
            if not both:
                raise MissingValue(
                    f"{table.file or 'the table'}: rows {i} and {k} have no column that is there "
                    "in both, so their distance is 0/0; drop one of them, or fill in its cells"
                )
            distances.append(nearest(apart, both * whole))
    return distances


def _integers(table: Mixed) -> tuple[list[tuple[Any, ...]], int]:
    """The rows with numbers as integers, and what a range has become."""
    scaled: list[tuple[list[int], int, Sequence[Any]]] = []
    for column, nominal in zip(table.columns, table.nominal, strict=True):
        there: list[Any] = [cell for cell in column if cell is not None]
        if nominal or not there:
            scaled.append(([], 0, column))
            continue
        if any(map(isinf, there)):
            held = f"{table.file or 'the table'}: a column holds an infinity"
            raise NotFinite(f"{held}; only finite numbers are allowed")
        numbers, _ = integers(there)
        scaled.append((numbers, max(numbers) - min(numbers), column))
    whole = lcm(*(width for _, width, _ in scaled if width))
    columns: list[Sequence[Any]] = []
    for numbers, width, cells in scaled:
        if not numbers:
            columns.append(cells)
            continue
        factor = whole // width if width else 0
        following = iter(numbers)
        columns.append([None if cell is None else next(following) * factor for cell in cells])
    return [*zip(*columns, strict=True)], whole


def _apart(
    x: Sequence[Any], y: Sequence[Any], nominal: Sequence[bool], whole: int
) -> tuple[int, int]:
    """How far two rows are apart in all columns together, and in how many both have a cell."""
    apart = both = 0
    for a, b, is_nominal in zip(x, y, nominal, strict=True):
        if a is None or b is None:
            continue
        both += 1
        if is_nominal:
            apart += whole * (a != b)
        else:
            apart += abs(a - b)
    return apart, both
