"""Chapter 41, set matching, by looking at sets of objects and at every injective map."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from math import perm, prod

from .expectation import URN_LIMIT, Counts, Margin, checkable, expected, expected_row, urn
from .tables import Table
from .values import Failure, Value, divide

MAP_LIMIT = 6_000
ROW_LIMIT = 100_000


def total(numbers: Sequence[Fraction]) -> Fraction:
    """The exact sum."""
    result = Fraction(0)
    for number in numbers:
        result += number
    return result


def purity(table: Table) -> Fraction:
    """Share of objects in the most frequent class of their cluster."""
    return total([max(row) for row in table.cells]) / table.total


def bcubed(table: Table) -> tuple[Fraction, Fraction]:
    """Mean over objects of the share of their cluster, and of their class, that is like them."""
    rows, columns = table.rows, table.columns
    precision = recall = Fraction(0)
    for i, j, weight in table.filled():
        alike = table.cells[i][j]
        precision += weight * alike / rows[i]
        recall += weight * alike / columns[j]
    return precision / table.total, recall / table.total


def harmonic(left: Fraction, right: Fraction) -> Fraction:
    """The harmonic mean of two positive numbers."""
    return 2 / (1 / left + 1 / right)


def best_matching(gain: Sequence[Sequence[Fraction]]) -> Fraction:
    """The largest total gain of a one-to-one map between rows and columns (some may stay alone).

    All injective maps are tried where they are few; the search over subsets of the shorter side
    gives the same and goes further.
    """
    if len(gain) < len(gain[0]):
        gain = list(zip(*gain, strict=True))
    long, short = len(gain), len(gain[0])
    best: dict[int, Fraction] = {0: Fraction(0)}
    for row in gain:
        following = dict(best)
        for used, value in best.items():
            for j in range(short):
                bit = 1 << j
                if not used & bit and value + row[j] > following.get(used | bit, Fraction(-1)):
                    following[used | bit] = value + row[j]
        best = following
    result = max(best.values())
    if perm(long, short) <= MAP_LIMIT:
        brute = max(
            total([gain[i][j] for j, i in enumerate(chosen)])
            for chosen in permutations(range(long), short)
        )
        assert brute == result, "the two searches disagree"
    return result


def optimal_matchings(table: Table) -> list[list[list[int]]]:
    """Every optimal set of (row, column) pairs, pairs without objects left out."""
    long, short = (
        max(len(table.cells), len(table.cells[0])),
        min(len(table.cells), len(table.cells[0])),
    )
    flipped = len(table.cells) < len(table.cells[0])
    cells = table.transposed().cells if flipped else table.cells
    best = best_matching(table.cells)
    found = set()
    for chosen in permutations(range(long), short):
        pairs = [(i, j) for j, i in enumerate(chosen) if cells[i][j]]
        if total([cells[i][j] for i, j in pairs]) == best:
            found.add(tuple(sorted((j, i) if flipped else (i, j) for i, j in pairs)))
    return [[list(pair) for pair in pairs] for pairs in sorted(found)]


def pair_sets_index(table: Table, *, simplified: bool = False) -> Fraction:
    """The pair sets index of Rezaei and Fränti; simplified, chance is worth one pair."""
    rows, columns, n = table.rows, table.columns, table.total
    if len(rows) == len(columns) == 1:
        return Fraction(1)
    score = best_matching(
        [
            [cell / max(rows[i], columns[j]) for j, cell in enumerate(row)]
            for i, row in enumerate(table.cells)
        ]
    )
    by_size = zip(sorted(rows, reverse=True), sorted(columns, reverse=True), strict=False)
    chance = total([a * b / (n * max(a, b)) for a, b in by_size])
    if simplified:
        chance = Fraction(1)
    if score <= chance:
        return Fraction(0)
    return (score - chance) / (max(len(rows), len(columns)) - chance)


def class_of(table: Table, i: int) -> int:
    """The most frequent class of a cluster; of tied ones the smallest class."""
    columns = table.columns
    return min(range(len(columns)), key=lambda j: (-table.cells[i][j], columns[j]))


def plain(table: Table) -> dict[str, Value]:
    """The matching metrics that need no expectation."""
    rows, columns, n = table.rows, table.columns, table.total
    p, q = purity(table), purity(table.transposed())
    majority = [class_of(table, i) for i in range(len(rows))]
    hits = [table.cells[i][j] for i, j in enumerate(majority)]
    per_cluster = [
        harmonic(hits[i] / rows[i], hits[i] / columns[j]) for i, j in enumerate(majority)
    ]
    # Larsen and Aone: each class takes the cluster with the best F.
    best_f = []
    for j, size in enumerate(columns):
        scores = [
            harmonic(row[j] / rows[i], row[j] / size) for i, row in enumerate(table.cells) if row[j]
        ]
        best_f.append(size / n * max(scores))
    accuracy = best_matching(table.cells) / n
    recalls = best_matching([[c / columns[j] for j, c in enumerate(row)] for row in table.cells])
    widest = max(len(rows), len(columns))
    precision, recall = bcubed(table)
    together = [max(row) for row in table.cells]
    together_t = [max(column) for column in table.transposed().cells]
    return {
        "purity": p,
        "inverse_purity": q,
        "purity_f": harmonic(p, q),
        "cluster_purity": tuple(hit / rows[i] for i, hit in enumerate(hits)),
        "cluster_recall": tuple(hits[i] / columns[j] for i, j in enumerate(majority)),
        "cluster_f": tuple(per_cluster),
        "f_macro": total(per_cluster) / len(rows),
        "f_measure": total(best_f),
        "matching_accuracy": accuracy,
        "nca": normalized_accuracy(recalls, len(columns)),
        "npa": divide(accuracy - Fraction(1, widest), 1 - Fraction(1, widest)),
        "psi": pair_sets_index(table),
        "simplified_psi": pair_sets_index(table, simplified=True),
        "bcubed_precision": precision,
        "bcubed_recall": recall,
        "bcubed_f": harmonic(precision, recall),
        "van_dongen": (n - total(together)) + (n - total(together_t)),
    }


def normalized_accuracy(best: Fraction, classes: int) -> Value:
    """Mean recall under the best matching, rescaled so that a blind guess is 0."""
    return divide(best - 1, Fraction(classes - 1))


def adjusted(value: Fraction, chance: Fraction) -> Value:
    """``(value - chance) / (1 - chance)``."""
    return divide(value - chance, 1 - chance)


def _purity_of(cells: Counts) -> Fraction:
    return Fraction(sum(max(row) for row in cells), sum(map(sum, cells)))


def _alike_in_rows(cells: Counts) -> Fraction:
    shares = [Fraction(sum(x * x for x in row), sum(row)) for row in cells]
    return total(shares) / sum(map(sum, cells))


def _alike_in_columns(cells: Counts) -> Fraction:
    return _alike_in_rows(tuple(zip(*cells, strict=True)))


def _bcubed_f_of(cells: Counts) -> Fraction:
    return harmonic(_alike_in_rows(cells), _alike_in_columns(cells))


def _mean_purity(rows: Margin, columns: Margin) -> Fraction | None:
    """The mean of a sum over rows is the sum of the means; a row is a draw from all classes."""
    cost = 0
    for size in rows:
        cost += prod(min(size, m) + 1 for m in sorted(columns)[:-1])
    if cost > ROW_LIMIT or sum(rows) > URN_LIMIT:
        return None
    ordered = tuple(sorted(columns))
    return total([expected_row(size, ordered, max) for size in rows]) / sum(rows)


def _mean_alike(rows: Margin, columns: Margin) -> Fraction | None:
    """The mean BCubed precision, cell by cell with urns."""
    if sum(rows) > URN_LIMIT:
        return None
    result = Fraction(0)
    for size in rows:
        for other in columns:
            large, small = max(size, other), min(size, other)
            chances = urn(large, sum(rows) - large, small)
            squares = total([chance * count * count for count, chance in enumerate(chances)])
            result += squares / size
    return result / sum(rows)


def chance_corrected(table: Table) -> dict[str, Value]:
    """The metrics corrected by their exact mean over all permutations, where within reach."""
    names = (
        "adjusted_purity",
        "adjusted_bcubed_precision",
        "adjusted_bcubed_recall",
        "adjusted_bcubed_f",
    )
    if not table.integral:
        return {name: Failure("weights-not-integer") for name in names}
    rows, columns = tuple(map(int, table.rows)), tuple(map(int, table.columns))
    means: dict[str, Fraction | None] = {
        "adjusted_purity": _mean_purity(rows, columns),
        "adjusted_bcubed_precision": _mean_alike(rows, columns),
        "adjusted_bcubed_recall": _mean_alike(columns, rows),
        "adjusted_bcubed_f": expected(rows, columns, _bcubed_f_of),
    }
    precision, recall = bcubed(table)
    values = {
        "adjusted_purity": purity(table),
        "adjusted_bcubed_precision": precision,
        "adjusted_bcubed_recall": recall,
        "adjusted_bcubed_f": harmonic(precision, recall),
    }
    if checkable(rows, columns):
        _check_roads(rows, columns, means)
    return {name: adjusted(values[name], mean) for name, mean in means.items() if mean is not None}


def _check_roads(rows: Margin, columns: Margin, means: dict[str, Fraction | None]) -> None:
    """Whole tables and single rows must give the same means."""
    roads = {
        "adjusted_purity": _purity_of,
        "adjusted_bcubed_precision": _alike_in_rows,
        "adjusted_bcubed_recall": _alike_in_columns,
    }
    for name, what in roads.items():
        assert means[name] == expected(rows, columns, what), name
