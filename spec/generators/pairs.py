"""Chapter 42, pairs of objects, by looking at every pair."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

from .exact import Expr, Node, square_root
from .expectation import Counts, expected
from .tables import OBJECT_LIMIT, Table
from .values import Failure, Irrational, Undefined, Value, divide, divide_root

BETAS = (Fraction(1), Fraction(2), Fraction(1, 2))


@dataclass(frozen=True, slots=True)
class Pairs:
    """How many pairs are together in both, in the clustering only, in the truth only, in none."""

    both: Fraction
    cluster_only: Fraction
    class_only: Fraction
    none: Fraction


def _sorted_out(kinds: dict[tuple[bool, bool], Fraction]) -> Pairs:
    return Pairs(kinds[True, True], kinds[True, False], kinds[False, True], kinds[False, False])


def _no_pairs() -> dict[tuple[bool, bool], Fraction]:
    return {(a, b): Fraction(0) for a in (True, False) for b in (True, False)}


def unordered(table: Table) -> Pairs:
    """All pairs of two different objects, each once."""
    kinds = _no_pairs()
    for (i, j, x), (k, m, y) in combinations(list(table.filled()), 2):
        kinds[i == k, j == m] += x * y
    for _, _, x in table.filled():
        kinds[True, True] += x * (x - 1) / 2
    result = _sorted_out(kinds)
    if table.total <= OBJECT_LIMIT:
        kinds = _no_pairs()
        for (i, j), (k, m) in combinations(table.objects(), 2):
            kinds[i == k, j == m] += 1
        assert result == _sorted_out(kinds), "objects and cells disagree"
    return result


def ordered(table: Table) -> Pairs:
    """All ordered pairs, an object with itself included."""
    kinds = _no_pairs()
    for (i, j, x), (k, m, y) in product(list(table.filled()), repeat=2):
        kinds[i == k, j == m] += x * y
    return _sorted_out(kinds)


def hubert_normalized(pairs: Pairs) -> Value:
    """Pearson's correlation of the two co-membership indicators."""
    weights = (pairs.both, pairs.cluster_only, pairs.class_only, pairs.none)
    points = ((1, 1), (1, 0), (0, 1), (0, 0))
    count = weights[0] + weights[1] + weights[2] + weights[3]
    if not count:
        return Undefined()
    mean_x = (pairs.both + pairs.cluster_only) / count
    mean_y = (pairs.both + pairs.class_only) / count
    covariance = variance_x = variance_y = Fraction(0)
    for weight, (x, y) in zip(weights, points, strict=True):
        covariance += weight * (x - mean_x) * (y - mean_y)
        variance_x += weight * (x - mean_x) ** 2
        variance_y += weight * (y - mean_y) ** 2
    return divide_root(covariance, variance_x * variance_y)


def both_conventions(pairs: Pairs) -> dict[str, Value]:
    """The indices that exist for unordered and for ordered pairs."""
    tp, fp, fn, tn = pairs.both, pairs.cluster_only, pairs.class_only, pairs.none
    count = tp + fp + fn + tn
    result: dict[str, Value] = {
        "pair_counts": (tp, fp, fn, tn),
        "rand": divide(tp + tn, count),
        "jaccard": divide(tp, tp + fp + fn),
        "pair_precision": divide(tp, tp + fp),
        "pair_recall": divide(tp, tp + fn),
        "fowlkes_mallows": divide_root(tp, (tp + fp) * (tp + fn)),
        "hubert_cosine": divide_root(tp, (tp + fp) * (tp + fn)),
        "hubert_raw": divide(tp, count),
        "hubert_normalized": hubert_normalized(pairs),
        "wallace": divide(tp, tp + fp),
        "wallace[given=classes]": divide(tp, tp + fn),
        "kulczynski": (
            (tp / (tp + fp) + tp / (tp + fn)) / 2 if tp + fp and tp + fn else Undefined()
        ),
        "rogers_tanimoto": divide(tp + tn, tp + tn + 2 * (fp + fn)),
        "sokal_sneath_1": divide(tp, tp + 2 * (fp + fn)),
        "sokal_sneath_2": divide(tp + tn, tp + tn + (fp + fn) / 2),
    }
    for beta in BETAS:
        name = "pair_f" if beta == 1 else f"pair_f[beta={beta}]"
        square = beta * beta
        result[name] = divide((1 + square) * tp, (1 + square) * tp + square * fn + fp)
    return result


def ordered_key(key: str) -> str:
    """The key of the same index over ordered pairs.

    >>> ordered_key("pair_f[beta=2]")
    'pair_f[beta=2,pairs=ordered]'
    """
    return f"{key[:-1]},pairs=ordered]" if key.endswith("]") else f"{key}[pairs=ordered]"


def adjusted_fowlkes_mallows(tp: Fraction, p: Fraction, q: Fraction, count: Fraction) -> Value:
    """Fowlkes-Mallows minus its mean, over one minus its mean."""
    square = p * q
    if not square or square == count * count:
        return Undefined()
    root = square_root(square)
    if root is not None:
        return (tp / root - root / count) / (1 - root / count)
    if tp * count == square:
        return Fraction(0)
    radical: Expr = Node("sqrt", (square,))
    return Irrational(
        Node("/", (tp * count - square, Node("-", (Node("*", (count, radical)), square)))),
        Node(
            "/",
            (
                Node("-", (Node("/", (tp, radical)), Node("/", (radical, count)))),
                Node("-", (Fraction(1), Node("/", (radical, count)))),
            ),
        ),
    )


UNORDERED_ONLY = (
    "adjusted_rand",
    "adjusted_fowlkes_mallows",
    "adjusted_wallace",
    "adjusted_wallace[given=classes]",
    "adjusted_jaccard",
    "adjusted_pair_f",
)


def _jaccard(cells: Counts) -> Fraction:
    both, cluster_only, class_only = _whole(cells)
    return Fraction(both, both + cluster_only + class_only)


def _pair_f(cells: Counts) -> Fraction:
    both, cluster_only, class_only = _whole(cells)
    return Fraction(2 * both, 2 * both + cluster_only + class_only)


def _whole(cells: Counts) -> tuple[int, int, int]:
    """Pairs together in both, in the clustering only, in the truth only: two cells at a time."""
    both = sum(x * (x - 1) // 2 for row in cells for x in row)
    cluster_only = sum(x * y for row in cells for x, y in combinations(row, 2))
    columns = zip(*cells, strict=True)
    class_only = sum(x * y for column in columns for x, y in combinations(column, 2))
    return both, cluster_only, class_only


def chance_corrected(table: Table, pairs: Pairs) -> dict[str, Value]:
    """The indices corrected for chance; those whose mean is out of reach are left out."""
    tp, p, q = pairs.both, pairs.both + pairs.cluster_only, pairs.both + pairs.class_only
    count = p + pairs.class_only + pairs.none
    # Two objects drawn at random are together in the truth with chance q / count, whatever the
    # shuffled clustering does, so TP has the mean p q / count.
    mean = p * q / count if count else Fraction(0)
    result: dict[str, Value] = {
        "adjusted_rand": divide(tp - mean, (p + q) / 2 - mean),
        "adjusted_fowlkes_mallows": adjusted_fowlkes_mallows(tp, p, q, count),
        "adjusted_wallace": (divide(tp / p - q / count, 1 - q / count) if p else Undefined()),
        "adjusted_wallace[given=classes]": (
            divide(tp / q - p / count, 1 - p / count) if q else Undefined()
        ),
    }
    rows, columns = tuple(map(int, table.rows)), tuple(map(int, table.columns))
    if not p + q:
        result["adjusted_jaccard"] = result["adjusted_pair_f"] = Undefined()
        return result
    mean_f = 2 * mean / (p + q)
    reached = expected(rows, columns, _pair_f)
    assert reached is None or reached == mean_f, "all permutations and two objects disagree"
    result["adjusted_pair_f"] = divide(2 * tp / (p + q) - mean_f, 1 - mean_f)
    assert result["adjusted_pair_f"] == result["adjusted_rand"]
    mean_j = expected(rows, columns, _jaccard)
    if mean_j is not None:
        result["adjusted_jaccard"] = divide(tp / (p + q - tp) - mean_j, 1 - mean_j)
    return result


def metrics(table: Table) -> dict[str, Value]:
    """Every pair-counting key of a table."""
    every = ordered(table)
    result: dict[str, Value] = {
        ordered_key(key): value for key, value in both_conventions(every).items()
    }
    result["mirkin"] = every.cluster_only + every.class_only
    if table.integral:
        pairs = unordered(table)
        result |= both_conventions(pairs)
        result |= chance_corrected(table, pairs)
    else:
        refused = Failure("weights-not-integer")
        result |= dict.fromkeys(both_conventions(every), refused)
        result |= dict.fromkeys(UNORDERED_ONLY, refused)
    return result
