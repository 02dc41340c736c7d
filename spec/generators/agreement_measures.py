"""Agreement of raters from the definitions: loops over pairs of judgements of the same object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from .significance_tests import quotient
from .values import Undefined, Value

F = Fraction
Row = Sequence[int | None]


def said(row: Row) -> list[int]:
    """The judgements of an object that were made."""
    return [x for x in row if x is not None]


def shares(rows: Sequence[Row], q: int) -> list[Fraction]:
    """The mean over objects of the share of each category."""
    judged = [said(row) for row in rows if said(row)]
    return [
        sum((F(sum(x == k for x in row), len(row)) for row in judged), F(0)) / len(judged)
        for k in range(q)
    ]


def mean_agreement(rows: Sequence[Row], weight: Callable[[int, int], Fraction]) -> Value:
    """The mean over objects of the mean weight of two different judgements of it."""
    means = []
    for row in map(said, rows):
        pairs = [(i, j) for i in range(len(row)) for j in range(len(row)) if i != j]
        if pairs:
            means.append(sum((weight(row[i], row[j]) for i, j in pairs), F(0)) / len(pairs))
    return quotient(sum(means, F(0)), F(len(means)))


def beyond(observed: Value, chance: Value) -> Value:
    """What is reached of what chance leaves open."""
    if not isinstance(observed, Fraction) or not isinstance(chance, Fraction):
        return Undefined()
    return quotient(observed - chance, 1 - chance)


def same(a: int, b: int) -> Fraction:
    """1 for the same category."""
    return F(int(a == b))


def fleiss(rows: Sequence[Row], q: int) -> Value:
    """Chance: two draws from the shares give the same category."""
    return beyond(mean_agreement(rows, same), sum((p * p for p in shares(rows, q)), F(0)))


def scott(rows: Sequence[Row], q: int) -> Value:
    """Two raters, objects that both judged, the shares of all these judgements."""
    both = [said(row) for row in rows if len(said(row)) == 2]
    if not both:
        return Undefined()
    pool = [x for row in both for x in row]
    chance = sum((F(pool.count(k), len(pool)) ** 2 for k in range(q)), F(0))
    return beyond(F(sum(a == b for a, b in both), len(both)), chance)


def gwet(rows: Sequence[Row], q: int, weight: Callable[[int, int], Fraction]) -> Value:
    """Chance: the mean weight of two categories, times how far the shares are spread."""
    p = shares(rows, q)
    weights = sum((weight(k, j) for k in range(q) for j in range(q)), F(0)) / q
    spread = quotient(sum((x - x * x for x in p), F(0)), F(q - 1))
    chance = spread * weights if isinstance(spread, Fraction) else spread
    return beyond(mean_agreement(rows, weight), chance)


def near(q: int, exponent: int) -> Callable[[int, int], Fraction]:
    """Weights that fall with the distance of places."""
    return lambda a, b: 1 - F(abs(a - b) ** exponent, max(q - 1, 1) ** exponent)


def deltas(rows: Sequence[Row], values: Sequence[Fraction]) -> dict[str, Callable[..., Fraction]]:
    """The squared difference of two judgements on each scale."""
    pool = [x for row in map(said, rows) if len(row) > 1 for x in row]

    def ordinal(a: int, b: int) -> Fraction:
        low, high = min(a, b), max(a, b)
        between = sum(low <= x <= high for x in pool)
        return F(0) if a == b else (between - F(pool.count(a) + pool.count(b), 2)) ** 2

    def ratio(a: int, b: int) -> Fraction:
        gap = values[a] - values[b]
        return F(0) if gap == 0 else (gap / (values[a] + values[b])) ** 2

    return {
        "nominal": lambda a, b: F(int(a != b)),
        "ordinal": ordinal,
        "interval": lambda a, b: (values[a] - values[b]) ** 2,
        "ratio": ratio,
    }


def alpha(rows: Sequence[Row], delta: Callable[[int, int], Fraction]) -> Value:
    """One minus the mean squared difference within objects over that of all judgements."""
    units = [said(row) for row in rows if len(said(row)) > 1]
    pool = [x for row in units for x in row]
    n = len(pool)
    if not units:
        return Undefined()
    inside = sum(
        (delta(row[i], row[j]) / (len(row) - 1) for row in units for i in range(len(row))
         for j in range(len(row)) if i != j),
        F(0),
    ) / n  # fmt: skip
    overall = sum((delta(pool[i], pool[j]) for i in range(n) for j in range(n) if i != j), F(0)) / (
        n * (n - 1)
    )
    apart = quotient(inside, overall)
    return 1 - apart if isinstance(apart, Fraction) else apart


def light(rows: Sequence[Row], q: int) -> Value:
    """The mean over pairs of raters of Cohen's kappa."""
    raters, kappas = len(rows[0]), []
    for a in range(raters):
        for b in range(a):
            both = [(row[a], row[b]) for row in rows if row[a] is not None and row[b] is not None]
            if not both:
                return Undefined()
            n = len(both)
            observed = F(sum(x == y for x, y in both), n)
            first, second = zip(*both, strict=True)
            chance = sum((F(first.count(k) * second.count(k), n * n) for k in range(q)), F(0))
            kappa = beyond(observed, chance)
            if not isinstance(kappa, Fraction):
                return kappa
            kappas.append(kappa)
    return sum(kappas, F(0)) / len(kappas)
