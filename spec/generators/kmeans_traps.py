"""Data on which plain double arithmetic decides wrongly, and the plain formulas that do."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

from .kmeans_seeding import gap
from .make_sampling import Twister

Point = list[float]


def below(stream: random.Random, k: int) -> int:
    """An index below k, from the one method that never changes between versions."""
    return int(stream.random() * k)


def by_differences(x: Sequence[float], c: Sequence[float]) -> float:
    """The squared distance in doubles, by differences."""
    total = 0.0
    for a, b in zip(x, c, strict=True):
        total += (a - b) * (a - b)
    return total


def expanded(x: Sequence[float], c: Sequence[float]) -> float:
    """The squared distance in doubles, multiplied out: |x|^2 - 2xc + |c|^2."""
    square = cross = other = 0.0
    for a, b in zip(x, c, strict=True):
        square += a * a
        cross += a * b
        other += b * b
    return square - 2 * cross + other


Formula = Callable[[Sequence[float], Sequence[float]], float]


def plain_labels(
    rows: Sequence[Sequence[float]], centres: Sequence[Sequence[float]], formula: Formula
) -> list[int]:
    """The labels a plain program gives."""
    found = []
    for x in rows:
        values = [formula(x, c) for c in centres]
        found.append(values.index(min(values)))
    return found


def plain_run(rows: Sequence[Point], start: Sequence[Point], formula: Formula) -> list[int]:
    """The labels with which a plain program ends; empty clusters stay."""
    centres = [list(c) for c in start]
    labels: list[int] = []
    for _ in range(100):
        new = plain_labels(rows, centres, formula)
        if new == labels:
            break
        labels = new
        for k in range(len(centres)):
            members = [x for x, label in zip(rows, labels, strict=True) if label == k]
            if members:
                centres[k] = [
                    math.fsum(column) / len(members) for column in zip(*members, strict=True)
                ]
    return labels


def exact_labels(rows: Sequence[Sequence[float]], centres: Sequence[Sequence[float]]) -> list[int]:
    """The right labels."""
    found = []
    for x in rows:
        gaps = [gap(tuple(map(Fraction, x)), tuple(map(Fraction, c))) for c in centres]
        found.append(gaps.index(min(gaps)))
    return found


@dataclass(frozen=True, slots=True)
class Trap:
    """Rows and two centres such that both plain formulas send some rows to the wrong one."""

    rows: list[Point]
    centres: list[Point]
    wrong_expanded: int
    wrong_differences: int


def border_trap(offset: float, unit: float, bits: int, seed: int, count: int = 4) -> Trap:
    """Rows beside the border between two centres, nearer to one of them by one unit squared.

    Centres are offset + p and offset + q, rows offset + x, with integers p, q, x times the unit.
    |x-p|^2 - |x-q|^2 = 2x(q-p) + |p|^2 - |q|^2 is linear in x, so a row with any wanted
    difference of the right parity is found by a modular inverse; the smallest differences vanish
    in the rounding of squares of more than 53 bits.
    """
    stream = random.Random(seed)
    size = 1 << bits

    def at(point: Sequence[int]) -> Point:
        found = [offset + part * unit for part in point]
        exact = [Fraction(offset) + part * Fraction(unit) for part in point]
        assert [Fraction(value) for value in found] == exact, "the offset swallows the unit"
        return found

    while True:
        p, q = ([below(stream, size) for _ in range(3)] for _ in range(2))
        w = [b - a for a, b in zip(p, q, strict=True)]
        if min(map(abs, w)) > size // 8 and math.gcd(w[0], w[1]) == 1:
            break
    level = sum(b * b for b in q) - sum(a * a for a in p)
    found: list[Point] = []
    centres = [at(p), at(q)]
    while len(found) < count:
        third = (p[2] + q[2]) // 2 + below(stream, size) // 8
        difference = (2 - level % 2) * (1 if stream.random() < 0.8 else -1)
        right = (difference + level) // 2 - third * w[2]
        first = right * pow(w[0], -1, abs(w[1])) % abs(w[1])
        first += round(((p[0] + q[0]) / 2 - first) / abs(w[1])) * abs(w[1])
        second = (right - first * w[0]) // w[1]
        assert first * w[0] + second * w[1] == right
        if max(map(abs, (first, second, third))) >= 4 * size:
            continue
        x = at([first, second, third])
        truth = exact_labels([x], centres)
        if plain_labels([x], centres, by_differences) != truth:
            found.append(x)
    rows = [at([a + below(stream, size // 16) for a in c]) for c in (p, q, p, q)]
    rows = [rows[0], found[0], rows[1], *found[1:], *rows[2:]]
    truth = exact_labels(rows, centres)
    wrong = [
        sum(a != b for a, b in zip(truth, plain_labels(rows, centres, formula), strict=True))
        for formula in (expanded, by_differences)
    ]
    return Trap(rows, centres, *wrong)


def border_traps(offset: float, unit: float, bits: int, count: int) -> list[Trap]:
    """The first traps into which both plain formulas fall."""
    made = (border_trap(offset, unit, bits, seed) for seed in range(100))
    both = (trap for trap in made if trap.wrong_expanded and trap.wrong_differences)
    return list(islice(both, count))


def blobs(offset: float, n: int, d: int, k: int, seed: int) -> list[Point]:
    """Overlapping heaps of rows on an offset."""
    stream = random.Random(seed)
    heaps = [[2 * stream.random() for _ in range(d)] for _ in range(k)]
    return [[offset + heaps[i % k][j] + stream.random() - 0.5 for j in range(d)] for i in range(n)]


def draw_trap(seed: int) -> list[float] | None:
    """Two weights whose border is just above the drawn share, where the product rounds onto it."""
    number = Twister(seed).number()
    total = Fraction(2**60 + 2**40 + 2**8)
    share = number * total
    rounded = float(number) * float(total)
    rest = total - Fraction(rounded)
    if Fraction(rounded) > share and Fraction(float(rest)) == rest:
        return [rounded, float(rest)]
    return None
