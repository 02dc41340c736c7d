"""Chapter 48: one clustering judged by densities, and whether rows cluster at all.

Lengths stand to the power of the dimension wherever they are compared: that power is rational, or a
sum of square roots in odd dimensions, so that every choice of an edge is decided exactly. Only the
last step takes a root.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import TypeAlias

from refclust.formulas.clustered import Clustered, pairs
from refclust.formulas.declared import metric
from refclust.formulas.proximity import numbered, squared, squared_length, step
from refclust.formulas.undefined import Undefined, ratio
from refclust.formulas.vectors import Exact, Number, Vector, exact, total
from refclust.numbers.real import Real, enclosed, exp, log, plain_fraction, real, sqrt

Cell: TypeAlias = tuple[int, ...]


def core_power(clustered: Clustered, objects: Sequence[int], o: int, d: int) -> Exact:
    """The all-points core distance of one object among others, to the power of the dimension.

    Defines: INT-CORE

    >>> core_power(Clustered.of([[0, 0], [0, 1], [2, 0]], "aaa"), [0, 1, 2], 0, 2)
    Fraction(8, 5)
    """
    i = objects[o]
    powers = [length_power(clustered, i, j, d) for place, j in enumerate(objects) if place != o]
    if any(power == 0 for power in powers):
        return Fraction()
    return remembered(len(powers) / total(1 / power for power in powers))


def length_power(clustered: Clustered, i: int, j: int, d: int) -> Exact:
    """The distance of two objects to the power of the dimension, a root only where that is odd.

    Spec: INT-CORE
    """
    square = squared(clustered, i, j)
    power = square ** (d // 2)
    if d % 2 == 0:
        return power
    return remembered(power * sqrt(square))


def remembered(x: Exact) -> Exact:
    """The same number, as a fraction if it is one; else its enclosures are kept.

    Spec: INT-CORE

    >>> remembered(sqrt(4)), float(remembered(sqrt(2)))
    (Fraction(2, 1), 1.4142135623730951)
    """
    if isinstance(x, Fraction):
        return x
    fraction = plain_fraction(x)
    # It is compared with many others, and each comparison encloses it anew.
    return enclosed(x.enclosure, lambda: x) if fraction is None else fraction


def reach_power(a: Exact, b: Exact, length: Exact) -> Exact:
    """How far apart two objects are, at least as far as either is from its own cluster.

    Defines: INT-MREACH

    >>> reach_power(Fraction(2), Fraction(3), Fraction(1))
    Fraction(3, 1)
    """
    return max(a, b, length)


def spanning_tree(n: int, length: Callable[[int, int], Exact]) -> list[tuple[int, int]]:
    """The edges that join n nodes at the least cost, of equal ones the first.

    Defines: INT-TREE

    >>> spanning_tree(3, lambda i, j: Fraction([[0, 1, 5], [1, 0, 4], [5, 4, 0]][i][j]))
    [(0, 1), (1, 2)]
    """
    part = list(range(n))
    tree = []
    # Many edges have the length of one core: a tuple finds a number equal to itself at once.
    for i, j in sorted(pairs(n), key=lambda edge: (length(*edge),)):
        if part[i] != part[j]:
            tree.append((i, j))
            joined, kept = part[j], part[i]
            part = [kept if number == joined else number for number in part]
    return tree


@dataclass(frozen=True, slots=True)
class Dense:
    """A cluster as a tree of dense objects: cores, inner objects, and its sparsest inner edge."""

    objects: tuple[int, ...]  # copies written out
    cores: tuple[Exact, ...]  # to the power of the dimension
    inner: tuple[int, ...]  # places of objects with more than one edge, or all where none has
    sparseness: Exact  # to the power of the dimension


def density(clustered: Clustered, k: int, d: int) -> Dense:
    """The density sparseness of a cluster, and the objects inside of it.

    Defines: INT-DSC

    >>> density(Clustered.of([[0], [1], [3], [4]], "aaaa"), 0, 1).sparseness
    Fraction(2, 1)
    """
    objects = [i for i in clustered.members(k) for _ in range(int(clustered.weight(i)))]
    cores = [core_power(clustered, objects, o, d) for o in range(len(objects))]

    def reach(a: int, b: int) -> Exact:
        length = length_power(clustered, objects[a], objects[b], d)
        return reach_power(cores[a], cores[b], length)

    tree = spanning_tree(len(objects), reach)
    degrees = Counter(node for edge in tree for node in edge)
    inner = {o for o in range(len(objects)) if degrees[o] > 1} or set(range(len(objects)))
    edges = [edge for edge in tree if inner.issuperset(edge)] or tree
    widest = max(reach(a, b) for a, b in edges)
    return Dense(tuple(objects), tuple(cores), tuple(sorted(inner)), widest)


def density_separation(clustered: Clustered, x: Dense, y: Dense, d: int) -> Exact:
    """How far apart the inner objects of two clusters are at least, as densities see it.

    Defines: INT-DSPC
    """
    places = [(a, b) for a in x.inner for b in y.inner]
    lengths = [length_power(clustered, x.objects[a], y.objects[b], d) for a, b in places]
    return min(
        reach_power(x.cores[a], y.cores[b], length)
        for (a, b), length in zip(places, lengths, strict=True)
    )


@metric(
    "Density-based clustering validation",
    evidence="rows",
    range=(-1, 1),
    better="higher",
    integer=True,
    cost="heavy",
)
def dbcv(clustered: Clustered, *, dimension: Number | None = None) -> Real:
    """The mean validity of the clusters, by what separates them and how sparse they are inside.

    Defines: INT-DBCV

    >>> dbcv(Clustered.of([[0], [1], [2], [10], [11], [12]], "aaabbb")).fraction
    Fraction(13, 15)
    """
    d = columns(clustered) if dimension is None else numbered("dimension", dimension, None)
    dense = [k for k in range(clustered.k) if clustered.sizes[k] > 1]
    if len(dense) < 2:
        raise Undefined("0/0: there are no two clusters of two objects or more")
    trees = {k: density(clustered, k, d) for k in dense}
    valid = []
    for k in dense:
        apart = min(density_separation(clustered, trees[k], trees[m], d) for m in dense if m != k)
        validity = step(clustered, contrast(apart, trees[k].sparseness, d), "V", k)
        valid.append(clustered.sizes[k] * validity)
    return real(total(valid) / clustered.total).named("DBCV")


def contrast(apart: Exact, sparse: Exact, d: int) -> Real:
    """The difference of two lengths over the larger, given their powers.

    Spec: INT-DBCV

    >>> contrast(Fraction(4), Fraction(1), 2).fraction
    Fraction(1, 2)
    """
    if apart == sparse:
        return ratio(0, apart, undefined="clusters of equal objects lie in one place")
    if apart > sparse:
        return 1 - root(sparse / apart, d)
    return root(apart / sparse, d) - 1


def root(x: Exact, d: int) -> Real:
    """The d-th root of a number that is not negative.

    Spec: INT-DBCV

    >>> root(Fraction(9, 4), 2).fraction, float(root(Fraction(8), 3))
    (Fraction(3, 2), 2.0)
    """
    if d == 1 or x == 0:
        return real(x)
    return sqrt(x) if d == 2 else exp(log(x) / d)


def columns(clustered: Clustered) -> int:
    """How many columns the rows have, those of nothing but zeros among them.

    Spec: INT-CORE

    >>> columns(Clustered.of([{"a": 1}, {"b": 2}], "xx"))
    2
    """
    first = clustered.points[0]
    if clustered.columns is not None:
        return len(clustered.columns)
    if isinstance(first, Mapping):  # nothing says how many there are but what occurs
        return len({place for row in clustered.points for place in row})
    return len(first)


# -- tendency -------------------------------------------------------------------------------


def hopkins_ratio(
    rows: Sequence[Vector], places: Sequence[Vector], sample: Sequence[int], exponent: int
) -> Real:
    """How much farther random places are from the rows than some rows are from all others.

    Defines: TEND-HOPKINS

    >>> hopkins_ratio([[0], [1], [4]], [[2]], [2], 1).fraction
    Fraction(1, 4)
    """
    random = total(nearest_power(x, rows, exponent) for x in places)
    others = ([*rows[:i], *rows[i + 1 :]] for i in sample)
    real_ones = total(
        nearest_power(rows[i], rest, exponent) for i, rest in zip(sample, others, strict=True)
    )
    undefined = "every place and every object lies on another one"
    return ratio(random, random + real_ones, undefined=undefined).named("H")


def nearest_power(x: Vector, rows: Sequence[Vector], exponent: int) -> Exact:
    """The distance from a place to the nearest row, to a power.

    Spec: TEND-HOPKINS

    >>> nearest_power([2], [[0], [1], [4]], 2)
    Fraction(1, 1)
    """
    square = min(squared_length(x, row) for row in rows)
    power = square ** (exponent // 2)
    return remembered(power * sqrt(square)) if exponent % 2 else power


def grid_cell(
    x: Sequence[Fraction], low: Sequence[Fraction], high: Sequence[Fraction], bins: int
) -> Cell:
    """In which part of the box a place lies, column by column; a column without width has one part.

    Defines: TEND-SPATIAL

    >>> box = [Fraction(0), Fraction(0), Fraction(5)], [Fraction(4), Fraction(1), Fraction(5)]
    >>> grid_cell([Fraction(0), Fraction(1), Fraction(5)], *box, 2)
    (0, 1, 0)
    """
    return tuple(
        0 if a == b else min(int(bins * (x_c - a) / (b - a)), bins - 1)
        for x_c, a, b in zip(x, low, high, strict=True)
    )


def length_bin(square: Fraction, diagonal: Fraction, bins: int) -> int:
    """In which part of the way from 0 to the diagonal of the box a length lies, given both squared.

    Defines: TEND-DISTANCES

    >>> length_bin(Fraction(4), Fraction(16), 5), length_bin(Fraction(16), Fraction(16), 5)
    (2, 4)
    """
    return min(isqrt(int(bins**2 * square / diagonal)), bins - 1) if diagonal else 0


def divergence(
    f: Mapping[Hashable, int], samples: Sequence[Mapping[Hashable, int]], cells: int, added: Number
) -> Real:
    """The mean divergence of the shares of cells in some counts from those in null samples.

    Defines: TEND-KL

    >>> divergence({"a": 2}, [{"a": 1, "b": 1}, {"a": 2}], 2, 0) == log(2) / 2
    True
    """
    n, m = sum(f.values()), sum(samples[0].values()) + cells * exact(added)
    # A term depends on two counts alone, and the same two come often.
    counts = Counter((f_i, g.get(i, 0)) for g in samples for i, f_i in f.items())
    shares = [(t, Fraction(f_i, n), (g_i + exact(added)) / m) for (f_i, g_i), t in counts.items()]
    empty = "a cell of a null sample is empty"
    terms = total(t * p * log(ratio(p, q, undefined=empty)) for t, p, q in shares)
    return real(terms) / len(samples)
