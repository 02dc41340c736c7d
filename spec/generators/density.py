"""Density-based validation from its definitions, edge by edge, all lengths to one power.

In one and two dimensions these powers are fractions; in three they are expressions, compared by
Arb balls of 1,600 bits, and taken for equal where the balls meet.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from fractions import Fraction

from . import surds
from .balls import arb_enclosure
from .exact import Expr, Node, square_root
from .information import weighted_logs
from .surds import Surd, divide, value_of
from .values import Infinite, Irrational, Undefined, Value

F = Fraction
Row = Sequence[Fraction]
BITS = 1600


def power(x: Row, y: Row) -> Expr:
    """The distance of two rows to the power of their dimension."""
    d = len(x)
    square = sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), F(0))
    if d % 2 == 0:
        return F(square ** (d // 2))
    root = square_root(square)
    if root is not None:
        return F(root**d)
    return Node("*", (F(square ** (d // 2)), Node("sqrt", (square,))))


def _less(x: Expr, y: Expr) -> bool:
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return x < y
    low, high = arb_enclosure(Node("-", (x, y)), BITS)
    return high < 0 and low < 0


def _largest(numbers: Sequence[Expr]) -> Expr:
    best = numbers[0]
    for number in numbers[1:]:
        best = number if _less(best, number) else best
    return best


def core(rows: Sequence[Row], o: int) -> Expr:
    """The harmonic mean of the powers of the distances to all others, 0 if one of them is."""
    powers = [power(rows[o], row) for i, row in enumerate(rows) if i != o]
    if any(p == 0 for p in powers if isinstance(p, Fraction)):
        return F(0)
    plain = [p for p in powers if isinstance(p, Fraction)]
    if len(plain) == len(powers):
        return F(len(plain)) / sum((1 / p for p in plain), F(0))
    inverses = tuple(Node("/", (F(1), p)) for p in powers)
    return Node("/", (F(len(powers)), Node("+", inverses)))


def tree(n: int, lengths: dict[tuple[int, int], Expr]) -> list[tuple[int, int]]:
    """The shortest edge that joins two parts, the first of equals, until all are joined."""
    part = {i: {i} for i in range(n)}
    edges: list[tuple[int, int]] = []
    while len(edges) < n - 1:
        open_edges = [e for e in sorted(lengths) if part[e[0]] is not part[e[1]]]
        best = open_edges[0]
        for edge in open_edges[1:]:
            best = edge if _less(lengths[edge], lengths[best]) else best
        edges.append(best)
        whole = part[best[0]] | part[best[1]]
        for i in whole:
            part[i] = whole
    return edges


def sparseness(rows: Sequence[Row]) -> tuple[list[Expr], list[int], Expr]:
    """The cores of a cluster, its inner objects, and its longest inner edge."""
    n = len(rows)
    cores = [core(rows, o) for o in range(n)]
    reach = {
        (i, j): _largest([cores[i], cores[j], power(rows[i], rows[j])])
        for i, j in itertools.combinations(range(n), 2)
    }
    edges = tree(n, reach)
    degree = [sum(i in edge for edge in edges) for i in range(n)]
    inner = [i for i in range(n) if degree[i] > 1] or list(range(n))
    kept = [edge for edge in edges if edge[0] in inner and edge[1] in inner] or edges
    return cores, inner, _largest([reach[edge] for edge in kept])


def separation(
    x: tuple[Sequence[Row], list[Expr], list[int]], y: tuple[Sequence[Row], list[Expr], list[int]]
) -> Expr:
    """The least reachability between inner objects of two clusters."""
    values: Expr | None = None
    for a, b in itertools.product(x[2], y[2]):
        reach = _largest([x[1][a], y[1][b], power(x[0][a], y[0][b])])
        values = reach if values is None or _less(reach, values) else values
    assert values is not None
    return values


def dbcv(rows: Sequence[Row], labels: Sequence[int]) -> dict[str, Value]:
    """The validity, and where powers are fractions the parts it is made of."""
    d = len(rows[0])
    groups = [[r for r, y in zip(rows, labels, strict=True) if y == k] for k in sorted(set(labels))]
    groups = [group for group in groups if len(group) > 1]
    if len(groups) < 2:
        return {"dbcv": Undefined()}
    parts = [sparseness(group) for group in groups]
    whole = [(group, part[0], part[1]) for group, part in zip(groups, parts, strict=True)]
    apart: list[Expr] = []
    for x in whole:
        gaps = [separation(x, y) for y in whole if y is not x]
        least = gaps[0]
        for gap in gaps[1:]:
            least = gap if _less(gap, least) else least
        apart.append(least)
    inside = [part[2] for part in parts]
    shares = [F(len(group), len(rows)) for group in groups]
    values: dict[str, Value] = {"dbcv": _mean(d, shares, apart, inside)}
    if d < 3:
        values["core_powers"] = tuple(_fraction(c) for c in parts[0][0])
        values["sparsenesses"] = tuple(map(_fraction, inside))
        values["separations"] = tuple(map(_fraction, apart))
    return values


def _fraction(value: Expr) -> Fraction:
    assert isinstance(value, Fraction)
    return value


def _mean(
    d: int, shares: Sequence[Fraction], apart: Sequence[Expr], inside: Sequence[Expr]
) -> Value:
    if d < 3:
        root = Surd.of if d == 1 else Surd.root
        quotients = []
        for share, s, c in zip(shares, apart, inside, strict=True):
            gap, inner = root(_fraction(s)), root(_fraction(c))
            larger = inner if _less(s, c) else gap
            quotients.append(divide((gap - inner).times(share), larger))
        return value_of(quotients)
    first: list[Expr] = []
    second: list[Expr] = []
    for share, s, c in zip(shares, apart, inside, strict=True):
        sign = -1 if _less(s, c) else 1
        low, high = (s, c) if sign < 0 else (c, s)
        by_quotient = Node("exp", (Node("/", (Node("log", (Node("/", (low, high)),)), F(d))),))
        logs = Node("-", (Node("log", (low,)), Node("log", (high,))))
        by_difference = Node("exp", (Node("/", (logs, F(d))),))
        for target, part in ((first, by_quotient), (second, by_difference)):
            target.append(Node("*", (share * sign, Node("-", (F(1), part)))))
    return Irrational(Node("+", tuple(first)), Node("+", tuple(second)))


# -- tendency -------------------------------------------------------------------------------


def hopkins(rows: Sequence[Row], m: int, exponent: int, seed: int) -> Value:
    """Hopkins' statistic of the draws of a seed: an exchange from the last place down, then u's."""
    stream = random.Random(seed)
    order = list(range(len(rows)))
    for last in range(len(order) - 1, 0, -1):
        chosen = int(F(stream.random()) * (last + 1))
        order[last], order[chosen] = order[chosen], order[last]
    places = []
    for _ in range(m):
        box = [(min(column), max(column)) for column in zip(*rows, strict=True)]
        places.append([low + F(stream.random()) * (high - low) for low, high in box])
    far = [_nearest(place, rows, exponent) for place in places]
    near = [_nearest(rows[i], [*rows[:i], *rows[i + 1 :]], exponent) for i in order[:m]]
    return value_of([divide(surds.total(far), surds.total(far + near))])


def _nearest(x: Row, rows: Sequence[Row], exponent: int) -> Surd:
    squares = [sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), F(0)) for y in rows]
    return Surd.root(min(squares) ** exponent)


def histograms(
    rows: Sequence[Row], bins: int, samples: int, added: Fraction, seed: int, *, by_pairs: bool
) -> Value:
    """The mean divergence of rows from evenly drawn samples, in cells or by distances of pairs."""
    box = [(min(column), max(column)) for column in zip(*rows, strict=True)]
    wide = [(low, high) for low, high in box if low < high]
    diagonal = sum(((high - low) ** 2 for low, high in wide), F(0))
    if by_pairs and len(rows) < 2:
        return Undefined()

    def things(places: Sequence[Row]) -> list[object]:
        if not by_pairs:
            return [
                tuple(_part(x, *ends, bins) for x, ends in zip(p, box, strict=True)) for p in places
            ]
        return [_length_part(x, y, diagonal, bins) for x, y in itertools.combinations(places, 2)]

    stream = random.Random(seed)
    terms: list[tuple[Fraction, Fraction]] = []
    counted = things(rows)
    cells = min(bins, bins ** len(wide)) if by_pairs else bins ** len(wide)
    for _ in range(samples):
        drawn = [[low + F(stream.random()) * (high - low) for low, high in box] for _ in rows]
        null = things(drawn)
        for cell in set(counted):
            p = F(counted.count(cell), len(counted))
            q = (null.count(cell) + added) / (len(null) + cells * added)
            if q == 0:
                return Infinite()
            terms.append((p / samples, p / q))
    return weighted_logs(terms).value()


def _part(x: Fraction, low: Fraction, high: Fraction, bins: int) -> int:
    # How many inner edges lie at x or before it.
    return sum(low + j * (high - low) / bins <= x for j in range(1, bins)) if low < high else 0


def _length_part(x: Row, y: Row, diagonal: Fraction, bins: int) -> int:
    square = sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), F(0))
    return sum(F(j, bins) ** 2 * diagonal <= square for j in range(1, bins)) if diagonal else 0
