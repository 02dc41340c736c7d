"""How many clusters there should be: the gap statistic and the elbow (chapter 34)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, pairwise, takewhile
from typing import Final

from refclust.cluster.seeding import random_centres
from refclust.data.dataset import dense
from refclust.errors import BadOption
from refclust.fitting.draws import Draws
from refclust.fitting.rows import Rows
from refclust.formulas.selection import GAP_RULES, gap_choice
from refclust.mixture.choosing.partitions import ClusterCall, Partition, partitions

USUAL_RULE: Final = GAP_RULES[0]


@dataclass(frozen=True, slots=True)
class Gap:
    """How much better K clusters fit the data than data without clusters, and what that may err by.

    Spec: MS-GAP
    """

    value: float
    error: float


def log_rss(rss: Fraction) -> float | None:
    """The logarithm of a sum of squares, however large or small; nothing if it is zero.

    Spec: MS-GAP

    >>> log_rss(Fraction(1)), log_rss(Fraction(0))
    (0.0, None)
    >>> log_rss(Fraction(1, 2**2000)) == -2000 * math.log(2)
    True
    """
    if not rss:
        return None
    power = rss.numerator.bit_length() - rss.denominator.bit_length()
    return math.log(float(rss / Fraction(2) ** power)) + power * math.log(2.0)


def reference_curves(
    rows: Rows, ks: Sequence[int], references: int, call: ClusterCall, *, seed: int
) -> Iterator[list[float]]:
    """log RSS for every K, of one reference set after another, as far as there is one.

    Spec: MS-GAP
    """
    data, draws = rows.data, Draws(seed)
    for _ in range(references):
        made = dense(
            array("d", chain.from_iterable(random_centres(rows, data.n, draws))),
            data.d,
            weights=data.weights,
        )
        logs = (
            log_rss(each.rss) if isinstance(each, Partition) else None
            for each in partitions(call, made, ks, alone=False)
        )
        yield [log for log in takewhile(lambda log: log is not None, logs) if log is not None]


def gaps(curve: Sequence[float | None], references: Sequence[Sequence[float]]) -> list[Gap | None]:
    """The gap of every K, from log RSS of the data and of the reference sets; none from a zero on.

    Spec: MS-GAP

    >>> gaps([1.0, 0.5], [[2.0, 2.0], [2.0, 1.0]])
    [Gap(value=1.0, error=0.0), Gap(value=1.0, error=0.6123724356957945)]
    """
    known = list(takewhile(lambda log: log is not None, curve))
    reached = min(len(known), *(len(reference) for reference in references))
    all_gaps: list[Gap | None] = []
    for place, own in enumerate(known[:reached]):
        assert own is not None
        logs = [reference[place] for reference in references]
        b = len(logs)
        mean = math.fsum(logs) / b
        deviation = math.sqrt(math.fsum((x - mean) ** 2 for x in logs) / b)
        all_gaps.append(Gap(mean - own, math.sqrt(1.0 + 1.0 / b) * deviation))
    return all_gaps + [None] * (len(curve) - len(all_gaps))


def chosen_gap(gaps_in_order: Sequence[Gap | None], rule: str = USUAL_RULE) -> int | None:
    """The K, by its place, that a rule chooses among those that have a gap.

    Spec: MS-GAPRULE

    >>> gaps = [Gap(0.1, 0.0), Gap(0.5, 0.1), Gap(0.55, 0.1), Gap(0.2, 0.1), Gap(0.7, 0.1)]
    >>> chosen_gap(gaps), chosen_gap(gaps, "firstSEmax")
    (4, 1)
    """
    known = takewhile(lambda gap: gap is not None, gaps_in_order)
    return gap_choice([(gap.value, gap.error) for gap in known if gap is not None], rule)


def is_range(ks: Sequence[int]) -> bool:
    """Whether the gap statistic can compare these numbers of clusters."""
    return len(ks) > 1 and all(b - a == 1 for a, b in pairwise(ks))


def check_range(ks: Sequence[int]) -> None:
    """Refuse numbers of clusters that the gap statistic cannot compare."""
    if not is_range(ks):
        raise BadOption(
            f"k is {', '.join(map(str, ks))}; the gap statistic needs at least two numbers of "
            "clusters without a hole between them"
        )


def elbow_heights(curve: Sequence[tuple[int, Fraction]]) -> list[Fraction] | None:
    """How far RSS lies below the line between its ends, both axes scaled to 1; none if it is flat.

    Spec: MS-ELBOW

    >>> [str(x) for x in elbow_heights([(1, Fraction(9)), (2, Fraction(2)), (3, Fraction(1))])]
    ['0', '3/8', '0']
    """
    (a, first), (b, last) = curve[0], curve[-1]
    if not first > last:
        return None
    return [(first - rss) / (first - last) - Fraction(k - a, b - a) for k, rss in curve]


def elbow(curve: Sequence[tuple[int, Fraction]]) -> int | None:
    """The K at which RSS lies farthest below the line between its ends, the smallest of equals.

    Spec: MS-ELBOW

    >>> elbow([(1, Fraction(9)), (2, Fraction(2)), (3, Fraction(1))])
    2
    """
    if len(curve) < 3:
        raise BadOption(
            f"an elbow needs at least three numbers of clusters; {len(curve)} are there"
        )
    heights = elbow_heights(curve)
    if heights is None:
        return None
    return min(zip(heights, curve, strict=True), key=lambda point: (-point[0], point[1][0]))[1][0]
