"""The metrics once more, object by object, straight from their definitions.

Nothing here looks at a contingency table of refclust or at its formulas: labels go in, loops over
objects, pairs and permutations run, fractions come out. Irrational values come out as dictionaries
from integers c to the coefficients of log c.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction

from refclust.formulas.pairs import same_cluster
from refclust.numbers.real import Real, log, total

Labels = Sequence[Hashable]
LogSum = dict[int, Fraction]


def mean(values: Sequence[Fraction]) -> Fraction:
    """The mean of exact numbers."""
    return sum(values, Fraction()) / len(values)


def harmonic(a: Fraction, b: Fraction) -> Fraction:
    """The harmonic mean of two positive numbers."""
    return 2 / (1 / a + 1 / b)


def members(labels: Labels) -> dict[Hashable, set[int]]:
    """The objects of every group."""
    groups: dict[Hashable, set[int]] = {}
    for x, label in enumerate(labels):
        groups.setdefault(label, set()).add(x)
    return groups


def purity(true: Labels, pred: Labels) -> Fraction:
    """Each cluster is called by its most frequent class; count the objects called right."""
    right = 0
    for cluster in members(pred).values():
        right += max(sum(true[x] == label for x in cluster) for label in true)
    return Fraction(right, len(true))


def bcubed_precision(true: Labels, pred: Labels) -> Fraction:
    """For every object, the share of its cluster mates, itself included, that have its class."""
    n = range(len(true))
    shares = []
    for x in n:
        mates = [y for y in n if pred[y] == pred[x]]
        shares.append(Fraction(sum(true[y] == true[x] for y in mates), len(mates)))
    return mean(shares)


def bcubed_f(true: Labels, pred: Labels) -> Fraction:
    """The harmonic mean of the two averages."""
    return harmonic(bcubed_precision(true, pred), bcubed_precision(pred, true))


def best_injection(
    true: Labels, pred: Labels, worth: Callable[[set[int], set[int]], Fraction]
) -> Fraction:
    """The greatest sum of worths(class, cluster) over all one-to-one maps, tried one by one."""
    classes, clusters = list(members(true).values()), list(members(pred).values())
    if len(classes) > len(clusters):
        return best_injection(pred, true, lambda cluster, class_: worth(class_, cluster))
    return max(
        sum((worth(a, b) for a, b in zip(classes, chosen, strict=True)), Fraction())
        for chosen in itertools.permutations(clusters, len(classes))
    )


def pair_counts(true: Labels, pred: Labels, *, ordered: bool = False) -> tuple[int, int, int, int]:
    """Look at every pair: together in both, in the clusters only, in the classes only, apart."""
    n = range(len(true))
    every: Iterator[tuple[int, int]] = (
        itertools.product(n, n) if ordered else itertools.combinations(n, 2)
    )
    seen = Counter((same_cluster(pred, x, y), same_cluster(true, x, y)) for x, y in every)
    return seen[1, 1], seen[1, 0], seen[0, 1], seen[0, 0]


def jaccard(true: Labels, pred: Labels) -> Fraction:
    """The pairs together in both among those together in either."""
    tp, fp, fn, _ = pair_counts(true, pred)
    return Fraction(tp, tp + fp + fn)


def pair_f(true: Labels, pred: Labels) -> Fraction:
    """Twice the pairs together in both over all that are together on each side."""
    tp, fp, fn, _ = pair_counts(true, pred)
    return Fraction(2 * tp, 2 * tp + fp + fn)


def arrangements(labels: Labels) -> Iterator[tuple[Hashable, ...]]:
    """Every distinct order of the labels; each stands for equally many of the n! permutations."""
    left = Counter(labels)
    n = len(labels)

    def extend(prefix: tuple[Hashable, ...]) -> Iterator[tuple[Hashable, ...]]:
        if len(prefix) == n:
            yield prefix
            return
        for label in left:
            if left[label]:
                left[label] -= 1
                yield from extend((*prefix, label))
                left[label] += 1

    return extend(())


def mean_by_chance(
    score: Callable[[Labels, Labels], Fraction], true: Labels, pred: Labels
) -> Fraction:
    """The mean of a score over all permutations of the true labels."""
    return mean([score(shuffled, pred) for shuffled in arrangements(true)])


def sampling_error(values: Sequence[Fraction], samples: int, odds: float = 1e-9) -> float:
    """How far the mean of a sample may lie from the mean of equally likely values in [0, 1].

    Bernstein: P(|mean of B − e| > t) ≤ 2 exp(−B t²/(2σ² + 2t/3)); solved for t at the given odds.
    """
    variance = float(mean([v * v for v in values]) - mean(values) ** 2)
    rarity = math.log(2 / odds)
    return (rarity / 3 + math.sqrt(rarity**2 / 9 + 2 * samples * variance * rarity)) / samples


def add(into: LogSum, number: int, coefficient: Fraction) -> None:
    """Add a multiple of log(number)."""
    into[number] = into.get(number, Fraction()) + coefficient


def entropy(labels: Labels) -> LogSum:
    """Each object is surprising by log n minus the log of the size of its group."""
    n, surprise = len(labels), LogSum()
    size = Counter(labels)
    for label in labels:
        add(surprise, n, Fraction(1, n))
        add(surprise, size[label], Fraction(-1, n))
    return surprise


def mutual_information(true: Labels, pred: Labels) -> LogSum:
    """H(T) + H(C) − H(T, C), the last one of the pairs of labels."""
    information = LogSum()
    for part, sign in ((true, 1), (pred, 1), (list(zip(true, pred, strict=True)), -1)):
        for number, coefficient in entropy(part).items():
            add(information, number, sign * coefficient)
    return information


def expected_mutual_information(true: Labels, pred: Labels) -> LogSum:
    """The mean of mutual information over all permutations."""
    orders = list(arrangements(true))
    information = LogSum()
    for shuffled in orders:
        for number, coefficient in mutual_information(shuffled, pred).items():
            add(information, number, coefficient / len(orders))
    return information


def as_real(logs: LogSum) -> Real:
    """A sum of logarithms as an exact real."""
    return total(c * log(number) for number, c in sorted(logs.items()) if c and number > 1)


def as_float(logs: LogSum) -> float:
    """A sum of logarithms in floats, each product rounded twice."""
    return math.fsum(float(c) * math.log(number) for number, c in logs.items())
