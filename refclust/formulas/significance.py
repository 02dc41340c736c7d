"""Chapter 53: significance. Is one classifier better than another, or is it chance?

P-values are rational where a law is counted out; the tails of continuous laws are exact reals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from math import comb, factorial, prod
from typing import Final

from refclust.errors import BadOption, WrongCount
from refclust.formulas.contingency import Contingency
from refclust.formulas.declared import INFINITY, metric
from refclust.formulas.matching import permuted
from refclust.formulas.outcomes import Measurements, Outcomes
from refclust.formulas.proximity import numbered
from refclust.formulas.undefined import Undefined, ratio
from refclust.formulas.vectors import Exact, Number, absolute, exact, total
from refclust.numbers.real import Real, exp, real, sqrt
from refclust.numbers.reals.constants import pi
from refclust.numbers.reals.functions import arctan, erfc
from refclust.numbers.reals.ranges import normal_range_point, normal_range_tail

HALF: Final = Fraction(1, 2)
MCNEMAR_FORMS: Final = ("exact", "midp", "chi2", "corrected")
ZEROS: Final = ("drop", "pratt")
LEAST_LEVEL: Final = Fraction(1, 10**30)

# -- tails of laws --------------------------------------------------------------------------


def normal_tails(z: Number) -> Real:
    """The chance that a standard normal number lies as far from 0 as z, or farther.

    Defines: ST-NORMAL

    >>> normal_tails(0) == 1, float(normal_tails(2))
    (True, 0.04550026389635842)
    """
    return erfc(abs(real(z)) / sqrt(2))


def chi_squared_tail(x: Number, df: int) -> Real:
    """The chance that χ² with so many degrees of freedom is x or more.

    Defines: ST-CHI2

    >>> float(chi_squared_tail(4, 1)), chi_squared_tail(4, 2) == exp(-2)
    (0.04550026389635842, True)
    """
    half = real(x) / 2
    if df % 2 == 0:
        return exp(-half) * total(half**j / factorial(j) for j in range(df // 2))
    terms = total(half ** (j - 1) / gamma_of_half(j) for j in range(1, (df - 1) // 2 + 1))
    return erfc(sqrt(half)) + exp(-half) * sqrt(half) * terms


def beta_share(x: Number, a: Fraction, b: Fraction) -> Exact:
    """The share of the beta law with parameters a and b, whole or half, that lies below x.

    Defines: ST-BETA

    >>> beta_share(Fraction(1, 4), Fraction(1), Fraction(2))
    Fraction(7, 16)
    """
    x = exact(x)
    if x in (0, 1):
        return x
    if b.denominator == 1:
        rising = (prod((a + i for i in range(j)), start=Fraction(1)) for j in range(int(b)))
        return power(x, a) * total(r / factorial(j) * (1 - x) ** j for j, r in enumerate(rising))
    if a.denominator == 1:
        return 1 - beta_share(1 - x, b, a)
    m, l = int(a - HALF), int(b - HALF)  # noqa: E741  (the letter of the clause)
    odd = sqrt(x * (1 - x))
    first = total(x**i / ((i + HALF) * beta_over_pi(i, 0)) for i in range(m))
    second = total((1 - x) ** j / ((j + HALF) * beta_over_pi(m, j)) for j in range(l))
    return (2 * arctan(sqrt(x / (1 - x))) - odd * first + odd * x**m * second) / pi


def student_tails(t_squared: Number, df: int) -> Exact:
    """The chance that Student's t lies as far from 0 as t, or farther.

    Defines: ST-STUDENT

    >>> float(student_tails(1, 1)), student_tails(2, 2) == 1 - sqrt(Fraction(1, 2))
    (0.5, True)
    """
    return beta_share(df / (df + exact(t_squared)), Fraction(df, 2), HALF)


def fisher_tail(f: Number, df: int, df_below: int) -> Exact:
    """The chance that Fisher's F is f or more.

    Defines: ST-FISHER

    >>> fisher_tail(1, 2, 2)
    Fraction(1, 2)
    """
    x = df_below / (df_below + df * exact(f))
    return beta_share(x, Fraction(df_below, 2), Fraction(df, 2))


def range_tail(q: Number, k: int) -> Real:
    """The chance that the largest and the least of k standard normal numbers are over q apart.

    Defines: ST-RANGE

    >>> range_tail(0, 3).fraction, float(range_tail(2, 2)) == float(erfc(1))
    (Fraction(1, 1), True)
    """
    return normal_range_tail(q, k)


def gamma_of_half(j: int) -> Real:
    """Γ at j + 1/2.

    Spec: ST-CHI2

    >>> gamma_of_half(1) == sqrt(pi) / 2
    True
    """
    return Fraction(factorial(2 * j), 4**j * factorial(j)) * sqrt(pi)


def beta_over_pi(i: int, j: int) -> Fraction:
    """The beta function at i + 1/2 and j + 1/2, over π.

    Spec: ST-BETA

    >>> beta_over_pi(0, 0), beta_over_pi(1, 0)
    (Fraction(1, 1), Fraction(1, 2))
    """
    halves = [Fraction(factorial(2 * k), 4**k * factorial(k)) for k in (i, j)]
    return halves[0] * halves[1] / factorial(i + j)


def power(x: Exact, a: Fraction) -> Exact:
    """x to a whole or half power.

    Spec: ST-BETA

    >>> power(Fraction(1, 4), Fraction(3, 2)) == Fraction(1, 8)
    True
    """
    return x ** int(a) if a.denominator == 1 else x ** int(a - HALF) * sqrt(x)


# -- two classifiers ------------------------------------------------------------------------


def mcnemar_table(outcomes: Outcomes) -> tuple[int, int, int, int]:
    """Both wrong, only the first right, only the second right, both right.

    Defines: ST-MCNTAB

    >>> mcnemar_table(Outcomes.of("xxyy", ["xxyx", "xyyx"]))
    (1, 1, 0, 2)
    """
    two_only(outcomes.names)
    order = ((False, False), (True, False), (False, True), (True, True))
    a, b, c, d = (int(outcomes.patterns.get(pattern, 0)) for pattern in order)
    return a, b, c, d


def fair_binomial(j: int, n: int) -> Fraction:
    """The chance of j heads among n throws of a fair coin.

    Defines: ST-BINOM

    >>> fair_binomial(1, 2)
    Fraction(1, 2)
    """
    return Fraction(comb(n, j), 2**n)


def fewer_wins(b: int, c: int) -> int:
    """The smaller number of objects that only one of two classifiers got right.

    Defines: ST-MCNK

    >>> fewer_wins(10, 2)
    2
    """
    return min(b, c)


def mcnemar_p(b: int, c: int) -> Fraction:
    """The chance of wins as uneven as b and c, or more, if both classifiers are equally good.

    Defines: ST-MCNP

    >>> mcnemar_p(10, 2), mcnemar_p(3, 3)
    (Fraction(79, 2048), Fraction(1, 1))
    """
    k = fewer_wins(b, c)
    return min(Fraction(1), 2 * sum((fair_binomial(j, b + c) for j in range(k + 1)), Fraction()))


def mcnemar_mid_p(b: int, c: int) -> Fraction:
    """The exact p-value with half of the chance of what was observed.

    Defines: ST-MCNMID

    >>> mcnemar_mid_p(10, 2), mcnemar_mid_p(3, 3)
    (Fraction(23, 1024), Fraction(1, 1))
    """
    k = fewer_wins(b, c)
    tails = 2 * sum(fair_binomial(j, b + c) for j in range(k + 1))
    return tails - fair_binomial(k, b + c)


@metric(
    "McNemar's chi-squared",
    evidence="classifiers",
    range=(0, INFINITY),
    better="neither",
    integer=True,
    choices={"corrected": ("no", "yes")},
)
def mcnemar_chi_squared(outcomes: Outcomes, *, corrected: str = "no") -> Real:
    """The squared difference of the wins of two classifiers over their sum.

    Defines: ST-MCNCHI

    >>> mcnemar_chi_squared(Outcomes.of_counts(0, 10, 2, 0)).fraction
    Fraction(16, 3)
    """
    _, b, c, _ = mcnemar_table(outcomes)
    gap = max(abs(b - c) - 1, 0) if corrected == "yes" else b - c
    return ratio(gap**2, b + c, undefined="the classifiers never disagree").named("χ²", r"\chi^2")


@metric(
    "McNemar's test, p-value",
    evidence="classifiers",
    range=(0, 1),
    better="neither",
    integer=True,
    choices={"form": MCNEMAR_FORMS},
    variants={"form": {"exact": "ST-MCNP", "midp": "ST-MCNMID", "chi2": "ST-MCNCHI"}},
)
def mcnemar(outcomes: Outcomes, *, form: str = "exact") -> Real:
    """The p-value of McNemar's test.

    Spec: ST-MCNP, ST-MCNMID, ST-MCNCHI

    >>> mcnemar(Outcomes.of_counts(5, 10, 2, 80)).fraction
    Fraction(79, 2048)
    """
    _, b, c, _ = mcnemar_table(outcomes)
    if form in ("exact", "midp"):
        return real(mcnemar_p(b, c) if form == "exact" else mcnemar_mid_p(b, c))
    corrected = "yes" if form == "corrected" else "no"
    return chi_squared_tail(mcnemar_chi_squared(outcomes, corrected=corrected), 1)


def wald_squared(estimate: Number, value: Number, variance: Number) -> Real:
    """The squared distance of an estimate from a value, in variances of the estimate.

    Defines: ST-WALD

    >>> wald_squared(3, 1, 4).fraction
    Fraction(1, 1)
    """
    away = exact(estimate) - exact(value)
    return ratio(away**2, exact(variance), undefined="the estimate does not vary")


@metric(
    "Wald's test of two accuracies, p-value",
    evidence="classifiers",
    range=(0, 1),
    better="neither",
    integer=True,
)
def wald(outcomes: Outcomes) -> Real:
    """The p-value of the difference of two accuracies against its standard error.

    Defines: ST-WALDACC

    >>> float(wald(Outcomes.of_counts(0, 8, 0, 8))) == float(normal_tails(4))
    True
    """
    a, b, c, d = mcnemar_table(outcomes)
    n = a + b + c + d
    gap = Fraction(b - c, n)
    variance = (Fraction(b + c, n) - gap**2) / n
    return tail_of(lambda: normal_tails(sqrt(wald_squared(gap, 0, variance))))


def sign_flip_law(differences: Sequence[Number]) -> Counter[Exact]:
    """How often each sum comes out when every difference gets every sign.

    Defines: ST-FLIPS

    >>> sign_flip_law([1, 1, 2])[Fraction(0)]
    2
    """
    sums: Counter[Exact] = Counter({Fraction(): 1})
    for d in map(exact, differences):
        flipped: Counter[Exact] = Counter()
        for so_far, ways in sums.items():
            flipped[so_far + d] += ways
            flipped[so_far - d] += ways
        sums = flipped
    return sums


def permutation_p(differences: Sequence[Number]) -> Fraction:
    """The chance of a sum of differences as far from 0, if every sign was a fair coin.

    Defines: ST-PERM

    >>> permutation_p([1, 1, 1]), permutation_p([1, -1])
    (Fraction(1, 4), Fraction(1, 1))
    """
    law, observed = sign_flip_law(differences), absolute(total(differences))
    extreme = sum(ways for value, ways in law.items() if absolute(value) >= observed)
    return Fraction(extreme, 2 ** len(differences))


def sampled_p(observed: Number, drawn: Sequence[Number]) -> Fraction:
    """The share of draws as far from 0 as what was observed, itself counted as one draw.

    Defines: ST-MC

    >>> sampled_p(2, [0, 1, -2])
    Fraction(1, 2)
    """
    extreme = sum(absolute(draw) >= absolute(observed) for draw in drawn)
    return Fraction(1 + extreme, 1 + len(drawn))


def bootstrap_p(observed: Number, resampled: Sequence[Number]) -> Fraction:
    """The share of resampled differences that moved from the observed one as far as it is from 0.

    Defines: ST-BOOT

    >>> bootstrap_p(2, [2, 4, 0, 1])
    Fraction(3, 5)
    """
    return sampled_p(observed, [exact(draw) - exact(observed) for draw in resampled])


def label_permutation_p(score: Callable[[Contingency], Number], table: Contingency) -> Fraction:
    """The chance that a table with the same margins scores as high.

    Defines: ST-LABELS

    >>> from refclust.formulas.matching import purity
    >>> label_permutation_p(purity, Contingency.of_rows([[3, 0], [0, 3]]))
    Fraction(1, 10)
    """
    observed = exact(score(table))
    chances = (chance for other, chance in permuted(table) if exact(score(other)) >= observed)
    return sum(chances, Fraction())


# -- several classifiers --------------------------------------------------------------------


@metric(
    "Cochran's Q",
    evidence="classifiers",
    range=(0, INFINITY),
    better="neither",
    integer=True,
)
def cochran_q(outcomes: Outcomes) -> Real:
    """How unevenly right answers fall on classifiers, given how hard the objects are.

    Defines: ST-COCHRAN

    >>> cochran_q(Outcomes.of("1111", ["1111", "1100", "0010"])).fraction
    Fraction(7, 2)
    """
    k = len(outcomes.names)
    g = outcomes.rights
    by_object = [(sum(pattern), count) for pattern, count in outcomes.patterns.items()]
    top = (k - 1) * (k * total(g_j**2 for g_j in g) - total(g) ** 2)
    bottom = total(count * (k * l_i - l_i**2) for l_i, count in by_object)
    return ratio(top, bottom, undefined="the classifiers never disagree").named("Q")


@metric(
    "Cochran's test, p-value",
    evidence="classifiers",
    range=(0, 1),
    better="neither",
    integer=True,
)
def cochran(outcomes: Outcomes) -> Real:
    """The p-value of Cochran's test that all classifiers are equally good.

    Spec: ST-COCHRAN, ST-CHI2

    >>> cochran(Outcomes.of("1111", ["1111", "1100", "0010"])) == exp(Fraction(-7, 4))
    True
    """
    return chi_squared_tail(cochran_q(outcomes), len(outcomes.names) - 1)


# -- paired measurements --------------------------------------------------------------------


def mean_and_variance(d: Sequence[Number]) -> tuple[Exact, Exact]:
    """The mean of differences and their variance, over one less than their number.

    Spec: ST-TTEST

    >>> mean_and_variance([1, 2, 3])
    (Fraction(2, 1), Fraction(1, 1))
    """
    n = len(d)
    if n < 2:
        raise WrongCount(f"{n} trial has no variance; at least 2 are needed")
    mean = total(d) / n
    return mean, total((exact(d_i) - mean) ** 2 for d_i in d) / (n - 1)


@metric("Paired t-test, p-value", evidence="measurements", range=(0, 1), better="neither")
def paired_t(measurements: Measurements) -> Real:
    """The p-value of the mean difference against its standard error.

    Defines: ST-TTEST

    >>> paired_t(Measurements.of([[2, 1], [3, 1], [4, 1]])) == 1 - sqrt(Fraction(6, 7))
    True
    """
    d = paired(measurements)
    mean, variance = mean_and_variance(d)
    return tail_of(lambda: student_tails(wald_squared(mean, 0, variance / len(d)), len(d) - 1))


@metric(
    "Corrected resampled t-test, p-value",
    evidence="measurements",
    range=(0, 1),
    better="neither",
)
def corrected_t(measurements: Measurements, *, test_share: Number = Fraction(1, 9)) -> Real:
    """The p-value of the mean difference over resampled trials that share training objects.

    Defines: ST-RESAMPLED

    >>> trials = Measurements.of([[2, 1], [3, 1], [4, 1]])
    >>> corrected_t(trials, test_share=Fraction(2, 3)) == student_tails(4, 2)
    True
    """
    d = paired(measurements)
    mean, variance = mean_and_variance(d)
    widened = (Fraction(1, len(d)) + exact(test_share)) * variance
    return tail_of(lambda: student_tails(wald_squared(mean, 0, widened), len(d) - 1))


@metric("5×2cv t-test, p-value", evidence="measurements", range=(0, 1), better="neither")
def five_by_two_t(measurements: Measurements) -> Real:
    """The p-value of the first difference against the variances of five halvings.

    Defines: ST-5X2T

    >>> trials = Measurements.of([[1, 0], [0, 0]] * 5)
    >>> float(five_by_two_t(trials)) == float(student_tails(2, 5))
    True
    """
    d = ten(measurements)
    t_squared = ratio(
        d[0] ** 2, total(halving_variances(d)) / 5, undefined="the differences never vary"
    )
    return tail_of(lambda: student_tails(t_squared, 5))


@metric("5×2cv F-test, p-value", evidence="measurements", range=(0, 1), better="neither")
def five_by_two_f(measurements: Measurements) -> Real:
    """The p-value of all ten differences against the variances of five halvings.

    Defines: ST-5X2F

    >>> trials = Measurements.of([[1, 0], [0, 0]] * 5)
    >>> float(five_by_two_f(trials)) == float(fisher_tail(1, 10, 5))
    True
    """
    d = ten(measurements)
    f = ratio(
        total(d_ij**2 for d_ij in d),
        2 * total(halving_variances(d)),
        undefined="the differences never vary",
    )
    return tail_of(lambda: fisher_tail(f, 10, 5))


def halving_variances(d: Sequence[Exact]) -> list[Exact]:
    """The variance of the two differences of each halving.

    Spec: ST-5X2T

    >>> halving_variances([Fraction(1), Fraction(0)])
    [Fraction(1, 2)]
    """
    means = [(first + second) / 2 for first, second in zip(d[::2], d[1::2], strict=True)]
    return [(d[2 * i] - mean) ** 2 + (d[2 * i + 1] - mean) ** 2 for i, mean in enumerate(means)]


def mid_ranks(values: Sequence[Number]) -> list[Fraction]:
    """The ranks from 1, equal values sharing the mean of theirs.

    Defines: ST-RANKS

    >>> mid_ranks([5, 1, 5])
    [Fraction(5, 2), Fraction(1, 1), Fraction(5, 2)]
    """
    ordered = sorted(range(len(values)), key=lambda i: exact(values[i]))
    edges = [0]
    edges += [
        place + 1
        for place, (i, j) in enumerate(pairwise(ordered))
        if exact(values[i]) != exact(values[j])
    ]
    ranks = [Fraction()] * len(values)
    for begin, end in pairwise([*edges, len(values)]):
        for i in ordered[begin:end]:
            ranks[i] = Fraction(begin + 1 + end, 2)
    return ranks


@metric(
    "Wilcoxon's signed-rank test, p-value",
    evidence="measurements",
    range=(0, 1),
    better="neither",
    choices={"zeros": ZEROS},
)
def wilcoxon(measurements: Measurements, *, zeros: str = "drop") -> Real:
    """The exact p-value of the sum of signed ranks of the differences.

    Defines: ST-WILCOXON

    >>> wilcoxon(Measurements.of([[2, 1], [3, 1], [4, 1]])).fraction
    Fraction(1, 4)
    """
    d = paired(measurements)
    kept = [d_i for d_i in d if d_i or zeros == "pratt"]
    ranks = mid_ranks([absolute(d_i) for d_i in kept])
    signed = [r if d_i > 0 else -r for r, d_i in zip(ranks, kept, strict=True) if d_i]
    if not signed:
        raise Undefined("0/0: all differences are zero")
    return real(permutation_p(signed))


@metric("Friedman's statistic", evidence="measurements", range=(0, INFINITY), better="neither")
def friedman_chi_squared(measurements: Measurements) -> Real:
    """How far the mean ranks of methods are apart, over what chance would give.

    Defines: ST-FRIEDMAN

    >>> friedman_chi_squared(Measurements.of([[1, 2, 3], [1, 2, 3]])).fraction
    Fraction(4, 1)
    """
    n, k = len(measurements.values), len(measurements.names)
    ranks = [mid_ranks(row) for row in measurements.values]
    sums = [total(column) for column in zip(*ranks, strict=True)]
    middle = Fraction(k + 1, 2)
    spread = total((r - middle) ** 2 for row in ranks for r in row)
    top = (k - 1) * total((r_j - n * middle) ** 2 for r_j in sums)
    return ratio(top, spread, undefined="all methods are equal in every trial").named("χ²_F")


@metric(
    "Friedman's test, p-value",
    evidence="measurements",
    range=(0, 1),
    better="neither",
    choices={"form": ("chi2", "f")},
    variants={"form": {"chi2": "ST-FRIEDMAN", "f": "ST-IMAN"}},
)
def friedman(measurements: Measurements, *, form: str = "chi2") -> Real:
    """The p-value of Friedman's test that all methods are equally good.

    Spec: ST-FRIEDMAN, ST-IMAN

    >>> friedman(Measurements.of([[1, 2, 3], [1, 2, 3]])) == exp(-2)
    True
    """
    n, k = len(measurements.values), len(measurements.names)
    if form == "chi2":
        return chi_squared_tail(friedman_chi_squared(measurements), k - 1)
    return tail_of(lambda: fisher_tail(iman_davenport(measurements), k - 1, (k - 1) * (n - 1)))


@metric("Iman and Davenport's F", evidence="measurements", range=(0, INFINITY), better="neither")
def iman_davenport(measurements: Measurements) -> Real:
    """Friedman's statistic as an F, which keeps the level better.

    Defines: ST-IMAN

    >>> iman_davenport(Measurements.of([[1, 2], [1, 2], [2, 1]])).fraction
    Fraction(1, 4)
    """
    n, k = len(measurements.values), len(measurements.names)
    q = friedman_chi_squared(measurements)
    return ratio((n - 1) * q, n * (k - 1) - q, undefined="there is one trial").named("F_F")


def mean_ranks(measurements: Measurements) -> tuple[Exact, ...]:
    """The mean rank of each method over the trials, the least value ranking first.

    Spec: ST-FRIEDMAN

    >>> mean_ranks(Measurements.of([[1, 2, 3], [2, 1, 3]]))
    (Fraction(3, 2), Fraction(3, 2), Fraction(3, 1))
    """
    ranks = [mid_ranks(row) for row in measurements.values]
    return tuple(total(column) / len(ranks) for column in zip(*ranks, strict=True))


@metric("Nemenyi's test, p-value", evidence="measurements", range=(0, 1), better="neither")
def nemenyi(
    measurements: Measurements, *, first: Number | None = None, second: Number | None = None
) -> Real:
    """The p-value of the distance of two mean ranks, all pairs of methods allowed for.

    Defines: ST-NEMENYI

    >>> trials = Measurements.of([[1, 2, 3]] * 4)  # the deviation of a mean rank is 1/2
    >>> float(nemenyi(trials)) == float(range_tail(4, 3))
    True
    """
    n, k = len(measurements.values), len(measurements.names)
    ranks = mean_ranks(measurements)
    if first is None and second is None:
        gap = max(ranks) - min(ranks)
    elif first is None or second is None:
        raise BadOption("first and second name two methods by their numbers: give both or neither")
    else:
        gap = absolute(ranks[numbered("first", first, k)] - ranks[numbered("second", second, k)])
    return range_tail(gap / sqrt(Fraction(k * (k + 1), 12 * n)), k)


@metric(
    "Nemenyi's critical difference",
    evidence="measurements",
    range=(0, INFINITY),
    better="neither",
)
def critical_difference(measurements: Measurements, *, alpha: Number = Fraction(1, 20)) -> Real:
    """How far apart two mean ranks must be to differ at a level, all pairs allowed for.

    Defines: ST-CRITICAL

    >>> float(critical_difference(Measurements.of([[1, 2]])))  # of two methods 1.96 deviations
    1.9599639845400543
    """
    n, k = len(measurements.values), len(measurements.names)
    level = exact(alpha)
    if not isinstance(level, Fraction) or not LEAST_LEVEL <= level < 1:
        raise BadOption(f"alpha={alpha}; allowed: from {float(LEAST_LEVEL)} to 1")
    return normal_range_point(level, k) * sqrt(Fraction(k * (k + 1), 12 * n))


def holm(p: Sequence[Number]) -> tuple[Exact, ...]:
    """P-values of several tests, adjusted so that all rejections together keep the level.

    Defines: ST-HOLM

    >>> holm([Fraction(1, 100), Fraction(1, 2), Fraction(1, 50)])
    (Fraction(3, 100), Fraction(1, 2), Fraction(1, 25))
    """
    m = len(p)
    ordered = sorted(range(m), key=lambda i: exact(p[i]))
    steps = [min(Fraction(1), (m - place) * exact(p[i])) for place, i in enumerate(ordered)]
    adjusted = dict(zip(ordered, accumulate(steps, max), strict=True))
    return tuple(adjusted[i] for i in range(m))


# What several clauses share.


def two_only(names: Sequence[str]) -> None:
    """Refuse other than two classifiers or methods."""
    if len(names) != 2:
        raise WrongCount(f"{len(names)} are compared; this test compares two")


def paired(measurements: Measurements) -> tuple[Exact, ...]:
    """The differences of two methods.

    Spec: ST-TTEST
    """
    two_only(measurements.names)
    return measurements.differences


def ten(measurements: Measurements) -> tuple[Exact, ...]:
    """The ten differences of five halvings, two by two.

    Spec: ST-5X2T
    """
    d = paired(measurements)
    if len(d) != 10:
        raise WrongCount(f"{len(d)} trials; five halvings have 10, two by two")
    return d


def tail_of(tail: Callable[[], Exact]) -> Real:
    """The chance beyond a statistic: none at all beyond an infinite one.

    Spec: ST-PVAL
    """
    try:
        return real(tail())
    except Undefined as missing:
        if missing.value == INFINITY:
            return real(0)
        raise
