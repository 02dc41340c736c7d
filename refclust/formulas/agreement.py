"""Chapter 51: agreement. How far several raters say the same of the same objects."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from typing import Final

from refclust.errors import BadNumber, WrongCount, WrongEvidence
from refclust.formulas.contingency import Count
from refclust.formulas.declared import INFINITY, metric
from refclust.formulas.raters import Ratings
from refclust.formulas.undefined import Undefined, ratio
from refclust.numbers.reading import shown
from refclust.numbers.real import Real, real

SCALES: Final = ("nominal", "ordinal", "interval", "ratio")
WEIGHTINGS: Final = ("identity", "linear", "quadratic")


def category_shares(ratings: Ratings) -> tuple[Fraction, ...]:
    """The share of each category: the mean over objects of its share of their judgements.

    Defines: AG-SHARES

    >>> category_shares(Ratings.of_counts([[2, 0], [1, 3]]))
    (Fraction(5, 8), Fraction(3, 8))
    """
    judged = {unit: w for unit, w in ratings.units.items() if sum(unit)}
    n = sum(judged.values())
    if n == 0:
        raise Undefined("0/0: there is no judgement")
    sums = (
        sum(w * Fraction(unit[k], sum(unit)) for unit, w in judged.items())
        for k in range(ratings.q)
    )
    return tuple(Fraction(share) / n for share in sums)


@metric("Percent agreement", evidence="raters", range=(0, 1), better="higher")
def percent_agreement(ratings: Ratings) -> Real:
    """The mean over objects of the share of pairs of judgements that are the same.

    Defines: AG-PERCENT

    >>> percent_agreement(Ratings.of_counts([[3, 0], [2, 1]])).fraction
    Fraction(2, 3)
    """
    pairs = paired(ratings)
    same = sum(
        (w * Fraction(sum(n_k * (n_k - 1) for n_k in unit), r * (r - 1))) for unit, r, w in pairs
    )
    n = sum(w for _, _, w in pairs)
    return ratio(same, n, undefined="no object has two judgements").named("P", "P_a")


def beyond_chance(observed: Real, chance: Real) -> Real:
    """The share of what chance leaves open that is reached.

    Defines: AG-CHANCE

    >>> beyond_chance(real("3/4"), real("1/2")).fraction
    Fraction(1, 2)
    """
    p_e = chance.named("P_e")
    return ratio(observed - p_e, 1 - p_e, undefined="all judgements are one category")


@metric("Scott's pi", evidence="raters", range=(-1, 1), better="higher")
def scott_pi(ratings: Ratings) -> Real:
    """The agreement of two raters beyond that of judgements drawn from both together.

    Defines: AG-SCOTT

    >>> scott_pi(Ratings.of([["x", "x"], ["x", "y"], ["y", "y"]])).fraction
    Fraction(1, 3)
    """
    both = Ratings(ratings.categories, {unit: w for unit, r, w in paired(ratings) if two_only(r)})
    return fleiss_kappa(both)


@metric("Fleiss' kappa", evidence="raters", range=(-INFINITY, 1), better="higher")
def fleiss_kappa(ratings: Ratings) -> Real:
    """The agreement of several raters beyond that of judgements drawn from all of them together.

    Defines: AG-FLEISS

    >>> fleiss_kappa(Ratings.of_counts([[3, 0], [0, 3], [1, 2]])).fraction
    Fraction(11, 20)
    """
    p_e = sum((p_k**2 for p_k in category_shares(ratings)), Fraction())
    return beyond_chance(percent_agreement(ratings), real(p_e))


@metric("Gwet's AC1", evidence="raters", range=(-1, 1), better="higher")
def gwet_ac1(ratings: Ratings) -> Real:
    """The agreement beyond that of the objects which raters are expected to judge at random.

    Defines: AG-AC1

    >>> gwet_ac1(Ratings.of_counts([[2, 0], [2, 0], [1, 1], [2, 0]])).fraction
    Fraction(17, 25)
    """
    q, shares = ratings.q, category_shares(ratings)
    spread = sum((p_k * (1 - p_k) for p_k in shares), Fraction())
    p_e = ratio(spread, q - 1, undefined="there is one category")
    return beyond_chance(percent_agreement(ratings), p_e)


def agreement_weight(k: int, l: int, q: int, *, weighting: str) -> Fraction:  # noqa: E741
    """How far two of q categories in a row agree: 1 if they are the same, 0 if farthest apart.

    Defines: AG-WEIGHTS

    >>> agreement_weight(0, 1, 3, weighting="quadratic")
    Fraction(3, 4)
    """
    if weighting == "identity" or q == 1:
        return Fraction(k == l)
    return 1 - Fraction(abs(k - l), q - 1) ** (1 if weighting == "linear" else 2)


@metric(
    "Gwet's AC2",
    evidence="raters",
    range=(-5, 1),
    better="higher",
    choices={"weighting": WEIGHTINGS},
)
def gwet_ac2(ratings: Ratings, *, weighting: str = "linear") -> Real:
    """Gwet's agreement where near categories agree in part.

    Defines: AG-AC2

    >>> gwet_ac2(Ratings.of_counts([[2, 0, 0], [0, 1, 1], [0, 0, 2]])).fraction
    Fraction(35, 53)
    """
    q, shares, pairs = ratings.q, category_shares(ratings), paired(ratings)
    w = [[agreement_weight(k, l, q, weighting=weighting) for l in range(q)] for k in range(q)]  # noqa: E741
    partly = sum(times * (weighted_pairs(unit, w) - r) / (r * (r - 1)) for unit, r, times in pairs)
    n = sum(times for _, _, times in pairs)
    p_a = ratio(partly, n, undefined="no object has two judgements").named("P", "P_a")
    spread = sum((p_k * (1 - p_k) for p_k in shares), Fraction()) * sum(map(sum, w))
    p_e = ratio(spread, q * (q - 1), undefined="there is one category")
    return beyond_chance(p_a, p_e)


def coincidences(ratings: Ratings) -> tuple[tuple[Fraction, ...], ...]:
    """How often two categories were said of the same object, each object by its judgements.

    Defines: AG-COINC

    >>> coincidences(Ratings.of_counts([[2, 1], [0, 1]]))[0]
    (Fraction(1, 1), Fraction(1, 1))
    """
    o = [[Fraction()] * ratings.q for _ in range(ratings.q)]
    for unit, m, w in paired(ratings):
        for c, n_c in enumerate(unit):
            for k, n_k in enumerate(unit):
                o[c][k] += w * Fraction(n_c * (n_k - (c == k)), m - 1)
    return tuple(map(tuple, o))


def squared_difference(
    c: int, k: int, sizes: tuple[Fraction, ...], values: tuple[Fraction, ...], *, scale: str
) -> Fraction:
    """How far two categories are apart on a scale, squared.

    Defines: AG-DELTA

    >>> sizes, values = (Fraction(2), Fraction(4), Fraction(6)), (Fraction(1), Fraction(3))
    >>> squared_difference(0, 2, sizes, values, scale="ordinal")
    Fraction(64, 1)
    >>> squared_difference(0, 1, sizes, values, scale="ratio")
    Fraction(1, 4)
    """
    if c == k:
        return Fraction()
    if scale == "nominal":
        return Fraction(1)
    if scale == "ordinal":
        c, k = min(c, k), max(c, k)
        return (sum(sizes[c : k + 1], Fraction()) - (sizes[c] + sizes[k]) / 2) ** 2
    away = values[c] - values[k]
    if scale == "interval" or away == 0:
        return away**2
    return (away / (values[c] + values[k])) ** 2


@metric(
    "Krippendorff's alpha",
    evidence="raters",
    range=(-INFINITY, 1),
    better="higher",
    integer=True,
    choices={"scale": SCALES},
)
def krippendorff_alpha(ratings: Ratings, *, scale: str = "nominal") -> Real:
    """One minus the disagreement within objects over that of all judgements paired at random.

    Defines: AG-ALPHA

    >>> krippendorff_alpha(Ratings.of([["x", "x"], ["x", "y"], ["y", "y"]])).fraction
    Fraction(4, 9)
    """
    values = scale_values(ratings, scale)
    o = coincidences(ratings)
    sizes = tuple(sum(row, Fraction()) for row in o)
    pairs = list(combinations(range(ratings.q), 2))
    delta = {(c, k): squared_difference(c, k, sizes, values, scale=scale) for c, k in pairs}
    inside = sum((o[c][k] * delta[c, k] for c, k in pairs), Fraction())
    overall = sum((sizes[c] * sizes[k] * delta[c, k] for c, k in pairs), Fraction())
    apart = ratio((sum(sizes) - 1) * inside, overall, undefined="all judgements are one category")
    return 1 - apart.named("D_o/D_e")


@metric(
    "Mean Cohen's kappa of all pairs of raters",
    evidence="raters",
    range=(-1, 1),
    better="higher",
    aliases=("light_kappa",),
)
def mean_pairwise_kappa(ratings: Ratings) -> Real:
    """The mean over pairs of raters of their agreement beyond that of their own habits.

    Defines: AG-LIGHT

    >>> mean_pairwise_kappa(Ratings.of(["xxy", "xyy", "yyy", "xxx"])).fraction
    Fraction(2, 5)
    """
    if not ratings.names:
        raise WrongEvidence("this metric needs to know who said what; a table of counts is silent")
    pairs = list(combinations(range(len(ratings.names)), 2))
    kappas = [cohen_of_pair(ratings, a, b) for a, b in pairs]
    return sum(kappas, real(0)) / len(pairs)


# What several clauses share.


def paired(ratings: Ratings) -> list[tuple[tuple[int, ...], int, Count]]:
    """The objects with two judgements or more: by category, how many, and how many such objects.

    Spec: AG-PERCENT
    """
    return [(unit, sum(unit), w) for unit, w in ratings.units.items() if sum(unit) >= 2]


def two_only(judgements: int) -> bool:
    """Refuse an object with more than two judgements.

    Spec: AG-SCOTT
    """
    if judgements > 2:
        raise WrongCount(f"an object has {judgements} judgements; Scott's pi compares two raters")
    return True


def weighted_pairs(unit: tuple[int, ...], w: list[list[Fraction]]) -> Fraction:
    """The weights of all ordered pairs of judgements of an object, each with itself too.

    Spec: AG-AC2
    """
    cells = range(len(unit))
    return sum((unit[k] * unit[l] * w[k][l] for k in cells for l in cells), Fraction())  # noqa: E741


def scale_values(ratings: Ratings, scale: str) -> tuple[Fraction, ...]:
    """The categories as numbers where the scale measures them; on a ratio scale none is negative.

    Spec: AG-DELTA
    """
    if scale not in ("interval", "ratio"):
        return ()
    values = ratings.values
    if scale == "ratio" and min(values, default=0) < 0:
        raise BadNumber(f"a category is {shown(min(values))}; a ratio scale has none below 0")
    return values


def cohen_of_pair(ratings: Ratings, a: int, b: int) -> Real:
    """Cohen's kappa of two of the raters, over the objects that both judged.

    Spec: AG-LIGHT
    """
    both: dict[tuple[object, object], Count] = {}
    for pattern, w in ratings.patterns.items():
        if pattern[a] is not None and pattern[b] is not None:
            both[pattern[a], pattern[b]] = both.get((pattern[a], pattern[b]), 0) + w
    n = sum(both.values())
    first, second = habits(both, 0), habits(both, 1)
    p_o = ratio(
        sum(w for (x, y), w in both.items() if x == y),
        n,
        undefined=f"no object was judged by both {ratings.names[a]} and {ratings.names[b]}",
    )
    p_e = Fraction(sum(first[x] * second.get(x, 0) for x in first)) / n**2
    return beyond_chance(p_o, real(p_e))


def habits(both: Mapping[tuple[object, object], Count], side: int) -> dict[object, Count]:
    """How often a rater said each category.

    Spec: AG-LIGHT
    """
    sums: dict[object, Count] = {}
    for cell, w in both.items():
        sums[cell[side]] = sums.get(cell[side], 0) + w
    return sums
