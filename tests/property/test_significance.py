"""Significance: laws against independent arithmetic, tests against enumeration (chapter 53)."""

from __future__ import annotations

import itertools
import math
import statistics
from fractions import Fraction
from typing import Any
from unittest import mock

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import refclust
from refclust.errors import (
    BadOption,
    EmptyInput,
    LabelLengthMismatch,
    WeightsNotInteger,
    WrongCount,
    WrongEvidence,
)
from refclust.formulas import matching, pairs
from refclust.formulas import significance as room
from refclust.formulas.contingency import table
from refclust.formulas.outcomes import Measurements, Outcomes
from refclust.formulas.undefined import Undefined
from refclust.metrics.sampled import permuted_labels as permuting
from refclust.metrics.sampled import significance as sampled
from refclust.numbers.real import sqrt

small = st.integers(0, 12)
positive = st.fractions(Fraction(1, 50), 60, max_denominator=50)
degrees = st.integers(1, 24)
trials = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=8)


def mp(x: Fraction | int) -> Any:
    x = Fraction(x)
    return mpmath.mpf(x.numerator) / x.denominator


def nearest(value: Any) -> float:
    """The double nearest to a number of 60 digits."""
    return float(mpmath.nstr(value, 50))


@pytest.fixture(autouse=True)
def sixty_digits() -> Any:
    with mpmath.workdps(60):
        yield


@pytest.mark.spec("ST-NORMAL")
@given(positive)
def test_normal_tails(z: Fraction) -> None:
    with mpmath.workdps(60 + int(z * z)):
        assert float(room.normal_tails(z)) == nearest(mpmath.erfc(mp(z) / mpmath.sqrt(2)))
    assert float(room.normal_tails(-z)) == float(room.normal_tails(z))


@pytest.mark.spec("ST-CHI2")
@given(positive, degrees)
def test_chi_squared_tail(x: Fraction, df: int) -> None:
    due = mpmath.gammainc(mpmath.mpf(df) / 2, mp(x) / 2, regularized=True)
    assert float(room.chi_squared_tail(x, df)) == nearest(due)


@pytest.mark.spec("ST-BETA")
@given(st.fractions(0, 1, max_denominator=60), degrees, degrees)
def test_beta_share(x: Fraction, a: int, b: int) -> None:
    due = mpmath.betainc(mpmath.mpf(a) / 2, mpmath.mpf(b) / 2, 0, mp(x), regularized=True)
    share = room.beta_share(x, Fraction(a, 2), Fraction(b, 2))
    assert float(share) == nearest(due)


@pytest.mark.spec("ST-STUDENT", "ST-FISHER")
@given(positive, degrees, degrees)
def test_student_and_fisher(f: Fraction, df: int, below: int) -> None:
    with mpmath.workdps(80):
        inside = mp(Fraction(df) / (df + f))
        due = mpmath.betainc(mpmath.mpf(df) / 2, mpmath.mpf(1) / 2, 0, inside, regularized=True)
        assert float(room.student_tails(f, df)) == nearest(due)
        inside = mp(Fraction(below) / (below + df * f))
        due = mpmath.betainc(mpmath.mpf(below) / 2, mpmath.mpf(df) / 2, 0, inside, regularized=True)
        assert float(room.fisher_tail(f, df, below)) == nearest(due)


@pytest.mark.spec("ST-STUDENT", "ST-FISHER")
def test_laws_at_their_ends() -> None:
    assert room.student_tails(0, 3) == 1
    assert room.fisher_tail(0, 3, 4) == 1
    assert room.chi_squared_tail(0, 2) == 1
    assert float(room.chi_squared_tail(0, 3)) == 1.0
    assert float(room.normal_tails(200)) == 0.0  # below the least double, and never an error


# The table of the inventory: b, c, the clipped p-value, the misprinted first form (ERR-10).
MCNEMAR = [
    (0, 0, "1", "2"),
    (1, 1, "1", "2"),
    (2, 1, "1", "3/2"),
    (5, 0, "1/16", "1/16"),
    (6, 1, "1/8", "7/32"),
    (8, 2, "7/64", "135/512"),
    (10, 2, "79/2048", "99/1024"),
    (10, 3, "189/2048", "143/512"),
    (9, 4, "1093/4096", "3575/4096"),
    (10, 10, "1", "508079/131072"),
    (12, 5, "4701/32768", "4641/8192"),
    (15, 5, "5425/131072", "2907/16384"),
    (20, 10, "26504551/268435456", "330495165/536870912"),
]


@pytest.mark.spec("ST-MCNP", "ST-MCNK", "ST-BINOM")
@pytest.mark.parametrize(("b", "c", "p", "misprint"), MCNEMAR)
def test_mcnemar_of_the_inventory(b: int, c: int, p: str, misprint: str) -> None:
    assert room.mcnemar_p(b, c) == room.mcnemar_p(c, b) == Fraction(p)
    k = room.fewer_wins(b, c)
    assert (k + 1) * 2 * room.fair_binomial(k, b + c) == Fraction(misprint)
    unclipped = Fraction(sum(math.comb(b + c, j) for j in range(k + 1)), 1) / Fraction(2) ** (
        b + c - 1
    )
    assert (unclipped > 1) == (b == c)  # PROP-MCN-1, ERR-11


@pytest.mark.spec("ST-MCNTAB", "ST-MCNP")
@given(small, small, small, small)
def test_mcnemar_looks_only_at_disagreements(a: int, b: int, c: int, d: int) -> None:
    if a + b + c + d == 0:
        return
    outcomes = Outcomes.of_counts(a, b, c, d)
    assert room.mcnemar_table(outcomes) == (a, b, c, d)
    assert outcomes.rights == (b + d, c + d)
    assert room.mcnemar(outcomes).fraction == room.mcnemar_p(b, c)


@pytest.mark.spec("ST-MCNMID")
@given(small, small)
def test_mid_p_counts_half_of_what_was_observed(b: int, c: int) -> None:
    n, k = b + c, min(b, c)
    chances = [Fraction(math.comb(n, j), 2**n) for j in range(n + 1)]
    beyond = sum(p for j, p in enumerate(chances) if min(j, n - j) < k)
    level = sum(p for j, p in enumerate(chances) if min(j, n - j) == k)
    # Where b = c the observed value is its own mirror image and counts once.
    assert room.mcnemar_mid_p(b, c) == (beyond + level / 2 if b != c else beyond + level)


@pytest.mark.spec("ST-MCNCHI", "ST-COCHRAN", "ST-WALDACC", "ST-WALD")
@given(small, small, small, small)
def test_chi_squared_of_disagreements(a: int, b: int, c: int, d: int) -> None:
    if a + b + c + d == 0:
        return
    outcomes, n = Outcomes.of_counts(a, b, c, d), a + b + c + d
    if b + c == 0:
        for test in (room.mcnemar_chi_squared, room.cochran_q, room.wald):
            with pytest.raises(Undefined):
                test(outcomes)
        return
    plain = room.mcnemar_chi_squared(outcomes)
    assert plain.fraction == Fraction((b - c) ** 2, b + c) == room.cochran_q(outcomes).fraction
    corrected = room.mcnemar_chi_squared(outcomes, corrected="yes").fraction
    assert corrected == (0 if abs(b - c) <= 1 else Fraction((abs(b - c) - 1) ** 2, b + c))
    differences = [1] * b + [-1] * c + [0] * (a + d)
    mean = Fraction(sum(differences), n)
    variance = sum(((x - mean) ** 2 for x in differences), Fraction()) / n
    if variance:
        z = mpmath.sqrt(mp(mean**2 / (variance / n)))
        assert float(room.wald(outcomes)) == nearest(mpmath.erfc(z / mpmath.sqrt(2)))
        assert room.wald_squared(mean, 0, variance / n).fraction == mean**2 / (variance / n)
    else:
        assert room.wald(outcomes) == 0


@pytest.mark.spec("ST-PERM", "ST-FLIPS")
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8))
def test_permutations_are_counted(differences: list[int]) -> None:
    sums = [
        sum(s * d for s, d in zip(signs, differences, strict=True))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    assert sorted(room.sign_flip_law(differences).elements()) == sorted(sums)
    extreme = sum(abs(s) >= abs(sum(differences)) for s in sums)
    assert room.permutation_p(differences) == Fraction(extreme, len(sums))


@pytest.mark.spec("ST-PERM", "ST-MCNP")
@given(st.integers(0, 7), st.integers(0, 7))
def test_permutation_of_accuracy_is_mcnemar(b: int, c: int) -> None:
    # PROP-MCN-2
    assert room.permutation_p([1] * b + [-1] * c) == room.mcnemar_p(b, c)
    assert sampled.permutation(Outcomes.of_counts(1, b, c, 2)) == room.mcnemar_p(b, c)


answers = st.lists(st.tuples(*[st.sampled_from("xyz")] * 3), min_size=1, max_size=6)


@pytest.mark.spec("ST-PERM")
@given(answers, st.sampled_from(sorted(sampled.STATISTICS)))
def test_exchanges_of_any_statistic_are_counted(rows: list[Any], statistic: str) -> None:
    measure = sampled.STATISTICS[statistic]

    def gap(turned: tuple[bool, ...]) -> Fraction:
        sides: list[dict[Any, int]] = [{}, {}]
        for (y, a, b), turn in zip(rows, turned, strict=True):
            for side, answer in zip(sides, (b, a) if turn else (a, b), strict=True):
                side[y, answer] = side.get((y, answer), 0) + 1
        return measure(sides[0]) - measure(sides[1])

    turns = list(itertools.product((False, True), repeat=len(rows)))
    extreme = sum(abs(gap(turned)) >= abs(gap(turns[0])) for turned in turns)
    y, a, b = zip(*rows, strict=True)
    score = refclust.permutation(y, a, b, statistic=statistic)
    assert score.fraction == Fraction(extreme, len(turns))


@pytest.mark.spec("ST-MC", "ST-BOOT")
def test_sampled_p_values_count_what_was_observed() -> None:
    assert room.sampled_p(3, [1, -3, 5, 2]) == Fraction(3, 5)
    assert room.sampled_p(3, [0] * 9) == Fraction(1, 10)
    assert room.bootstrap_p(3, [3, 6, 0, 1]) == Fraction(3, 5)
    assert room.bootstrap_p(-1, [-1, -1, 0]) == Fraction(2, 4)


@pytest.mark.spec("ST-MC", "ST-BOOT")
def test_draws_are_seeded_and_say_that_they_are_draws() -> None:
    truth = "xyz" * 60
    first = "xyzxyyxzz" * 20
    second = "xyzyyzzxz" * 20
    drawn = refclust.permutation(truth, first, second, statistic="macro_f1", samples=199)
    again = refclust.permutation(truth, first, second, statistic="macro_f1", samples=199)
    other = refclust.permutation(truth, first, second, statistic="macro_f1", samples=199, seed=1)
    assert not drawn.certified
    assert drawn.bound >= 0
    assert float(drawn) == float(again)
    assert Fraction(round(float(drawn) * 200), 200) == Fraction(float(drawn)).limit_denominator(200)
    boot = refclust.bootstrap(truth, first, second, samples=99)
    assert not boot.certified
    assert isinstance(float(other), float)
    rows = list(zip(truth, first, second, strict=True))[::-1]
    turned = refclust.bootstrap(*zip(*rows, strict=True), samples=99)
    assert float(turned) == float(boot)  # not by the order of the objects


@pytest.mark.spec("ST-COCHRAN")
@given(st.lists(st.tuples(*[st.booleans()] * 3), min_size=1, max_size=8))
def test_cochran(rows: list[tuple[bool, bool, bool]]) -> None:
    columns = [sum(column) for column in zip(*rows, strict=True)]
    heights = [sum(row) for row in rows]
    top = 2 * (3 * sum(g * g for g in columns) - sum(columns) ** 2)
    bottom = 3 * sum(heights) - sum(h * h for h in heights)
    outcomes = Outcomes.of([True] * len(rows), list(zip(*rows, strict=True)))
    if bottom == 0:
        with pytest.raises(Undefined):
            room.cochran_q(outcomes)
    else:
        assert room.cochran_q(outcomes).fraction == Fraction(top, bottom)


@pytest.mark.spec("ST-TTEST", "ST-RESAMPLED")
@given(trials)
def test_t_of_paired_measurements(rows: list[tuple[int, int]]) -> None:
    d = [Fraction(a - b) for a, b in rows]
    n, mean = len(d), sum(d, Fraction()) / len(d)
    variance = sum(((x - mean) ** 2 for x in d), Fraction()) / (n - 1)
    measured = Measurements.of(rows)
    if variance == 0:
        if mean == 0:
            with pytest.raises(Undefined):
                room.paired_t(measured)
        else:
            assert room.paired_t(measured) == 0
        return
    for p, scale in (
        (room.paired_t(measured), Fraction(1, n)),
        (room.corrected_t(measured), Fraction(1, n) + Fraction(1, 9)),
    ):
        inside = mp((n - 1) / (n - 1 + mean**2 / (variance * scale)))
        due = mpmath.betainc(mpmath.mpf(n - 1) / 2, mpmath.mpf(1) / 2, 0, inside, regularized=True)
        assert float(p) == nearest(due)


@pytest.mark.spec("ST-5X2T", "ST-5X2F")
@given(st.lists(st.integers(-4, 4), min_size=10, max_size=10))
def test_five_halvings(d: list[int]) -> None:
    measured = Measurements.of([(x, 0) for x in d])
    halves = [(d[2 * i], d[2 * i + 1]) for i in range(5)]
    variance = sum((Fraction((a - b) ** 2, 2) for a, b in halves), Fraction())
    if variance == 0:
        return
    t_squared = d[0] ** 2 / (variance / 5)
    assert float(room.five_by_two_t(measured)) == float(room.student_tails(t_squared, 5))
    f = sum(x * x for x in d) / (2 * variance)
    assert float(room.five_by_two_f(measured)) == float(room.fisher_tail(f, 10, 5))
    with pytest.raises(WrongCount):
        room.five_by_two_t(Measurements.of([(x, 0) for x in d[:8]]))


@pytest.mark.spec("ST-RANKS")
@given(st.lists(st.integers(0, 5), min_size=1, max_size=9))
def test_ranks(values: list[int]) -> None:
    due = [
        sum(y < x for y in values) + Fraction(sum(y == x for y in values) + 1, 2) for x in values
    ]
    assert room.mid_ranks(values) == due
    assert sum(due) == Fraction(len(values) * (len(values) + 1), 2)


@pytest.mark.spec("ST-WILCOXON")
@given(trials, st.sampled_from(room.ZEROS))
def test_signed_ranks_are_counted(rows: list[tuple[int, int]], zeros: str) -> None:
    d = [a - b for a, b in rows]
    kept = [x for x in d if x or zeros == "pratt"]
    ranks = [
        sum(abs(y) < abs(x) for y in kept) + Fraction(sum(abs(y) == abs(x) for y in kept) + 1, 2)
        for x in kept
    ]
    pairs = [(x, r) for x, r in zip(kept, ranks, strict=True) if x]
    measured = Measurements.of(rows)
    if not pairs:
        with pytest.raises(Undefined):
            room.wilcoxon(measured, zeros=zeros)
        return
    observed = abs(sum((r if x > 0 else -r for x, r in pairs), Fraction()))
    flips = list(itertools.product((1, -1), repeat=len(pairs)))
    extreme = sum(
        abs(sum((s * r for s, (_, r) in zip(signs, pairs, strict=True)), Fraction())) >= observed
        for signs in flips
    )
    assert room.wilcoxon(measured, zeros=zeros).fraction == Fraction(extreme, len(flips))


@pytest.mark.spec("ST-FRIEDMAN", "ST-IMAN")
@given(st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=2, max_size=7))
def test_friedman(rows: list[tuple[int, int, int]]) -> None:
    n, k = len(rows), 3
    ranks = [
        [sum(y < x for y in row) + Fraction(sum(y == x for y in row) + 1, 2) for x in row]
        for row in rows
    ]
    sums = [sum(column) for column in zip(*ranks, strict=True)]
    measured = Measurements.of(rows)
    # Conover's form: sums of squared ranks instead of centred ones.
    squares = sum(r * r for row in ranks for r in row)
    bottom = squares - Fraction(n * k * (k + 1) ** 2, 4)
    if bottom == 0:
        with pytest.raises(Undefined):
            room.friedman_chi_squared(measured)
        return
    top = sum(r * r for r in sums) - Fraction(n * n * k * (k + 1) ** 2, 4)
    due = (k - 1) * top / bottom
    assert room.friedman_chi_squared(measured).fraction == due
    if n * (k - 1) != due:
        f = (n - 1) * due / (n * (k - 1) - due)
        assert room.iman_davenport(measured).fraction == f
        p = room.friedman(measured, form="f")
        assert float(p) == float(room.fisher_tail(f, k - 1, (k - 1) * (n - 1)))
    else:
        assert room.friedman(measured, form="f") == 0


@settings(deadline=None, max_examples=6)
@pytest.mark.spec("ST-RANGE")
@given(st.fractions(Fraction(1, 10), 7, max_denominator=10), st.integers(2, 5))
def test_the_range_of_normal_numbers(q: Fraction, k: int) -> None:
    tail = room.range_tail(q, k)
    # The largest stands at z, all others within q below it.
    normal, steps = statistics.NormalDist(), [j / 8 for j in range(-8 * 9, 8 * 9 + 1)]
    inside = [(normal.cdf(z) - normal.cdf(z - float(q))) ** (k - 1) for z in steps]
    due = 1 - k * math.fsum(normal.pdf(z) * p for z, p in zip(steps, inside, strict=True)) / 8
    assert abs(float(tail) - due) <= 1e-14
    low, high = tail.enclosure(20)
    assert 0 < low < high < 1
    if k == 2:
        assert float(tail) == float(room.normal_tails(q / 2 * sqrt(2)))
    else:  # more numbers spread farther, but not beyond one of their pairs
        assert low > room.range_tail(q, k - 1).enclosure(20)[1]
        pairs = k * (k - 1) // 2
        assert low < pairs * room.range_tail(q, 2).enclosure(20)[1]


@pytest.mark.spec("ST-RANGE")
def test_a_range_far_out_is_bounded() -> None:
    score = refclust.nemenyi(*([value] * 150 for value in (1, 2, 3)))
    low, high = (float(room.range_tail(Fraction(24494, 1000), 2)) * pairs for pairs in (1, 3))
    assert not score.certified
    assert low / 2 < float(score) < high * 2
    assert high - low < 3 * score.bound


@settings(deadline=None, max_examples=5)
@pytest.mark.spec("ST-NEMENYI")
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=2, max_size=6))
def test_nemenyi(rows: list[tuple[int, int, int]]) -> None:
    n, k = len(rows), 3
    measured = Measurements.of(rows)
    ranks: list[Fraction] = [
        sum(
            (sum(y < row[j] for y in row) + Fraction(row.count(row[j]) + 1, 2) for row in rows),
            Fraction(),
        )
        / n
        for j in range(k)
    ]
    unit = sqrt(Fraction(12 * n, k * (k + 1)))
    gaps = {(i, j): abs(ranks[i] - ranks[j]) for i, j in itertools.combinations(range(k), 2)}
    i, j = max(gaps, key=lambda pair: gaps[pair])
    due = float(room.range_tail(gaps[i, j] * unit, k))
    assert float(room.nemenyi(measured)) == due
    assert float(room.nemenyi(measured, first=j, second=i)) == due
    assert float(room.nemenyi(measured, first=1, second=1)) == 1


@pytest.mark.spec("ST-CRITICAL", "ST-NEMENYI")
def test_the_critical_difference_is_where_nemenyi_rejects() -> None:
    # Demšar's table: 2.343 for three methods and 3.164 for ten, at the level 1/20.
    for k, printed in ((3, 2.343), (10, 3.164)):
        rows = Measurements.of([list(range(k))] * 6)
        due = room.critical_difference(rows)
        scale = sqrt(Fraction(k * (k + 1), 36))
        assert abs(float(due / scale) - printed) < 0.001
        q = Fraction(float(due / sqrt(Fraction(k * (k + 1), 72))))
        assert abs(float(room.range_tail(q, k)) - 0.05) < 1e-15
    wide = room.critical_difference(Measurements.of([[1, 2]]), alpha=Fraction(1, 100))
    assert abs(float(room.normal_tails(Fraction(float(wide)))) - 0.01) < 1e-16
    for alpha in (0, 1, 2, Fraction(1, 10**31)):
        with pytest.raises(BadOption):
            room.critical_difference(Measurements.of([[1, 2]]), alpha=alpha)
    with pytest.raises(BadOption, match="both or neither"):
        refclust.nemenyi([1, 2], [2, 1], first=0)
    with pytest.raises(BadOption, match="allowed: 0 to 1"):
        refclust.nemenyi([1, 2], [2, 1], first=0, second=2)


@pytest.mark.spec("ST-HOLM")
@given(st.lists(st.fractions(0, 1, max_denominator=40), min_size=1, max_size=6))
def test_holm(p: list[Fraction]) -> None:
    adjusted = room.holm(p)
    m = len(p)
    for i, value in enumerate(adjusted):
        # The least level at which the step-down procedure rejects hypothesis i.
        order = sorted(range(m), key=lambda j: p[j])
        upto = order[: order.index(i) + 1]
        assert value == max(min(Fraction(1), (m - place) * p[j]) for place, j in enumerate(upto))
        assert p[i] <= value <= 1


def test_calls_are_checked() -> None:
    with pytest.raises(WrongCount):
        refclust.mcnemar("xy", "xy")
    with pytest.raises(WrongCount):
        refclust.mcnemar("xy", "xy", "xy", "xx")
    with pytest.raises(LabelLengthMismatch):
        refclust.mcnemar("xy", "xy", "x")
    with pytest.raises(EmptyInput):
        refclust.mcnemar("", "", "")
    with pytest.raises(LabelLengthMismatch):
        refclust.paired_t([1, 2], [1])
    assert refclust.cochran("xy", "xy", "xx", "yy").spec == ("ST-COCHRAN", "ST-CHI2")


def test_a_p_value_explains_itself() -> None:
    text = refclust.mcnemar("xxxxy", "xxxxy", "yyyxy").explain().text()
    assert "A right" in text
    assert "1/4" in text
    score = refclust.mcnemar("xxxxy", "xxxxy", "yyyxy", form="chi2")
    assert score.certified
    assert "χ²" in score.explain().text()


labelings = st.integers(2, 5).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 2), min_size=n, max_size=n)] * 2)
)
PERMUTED = [
    *("purity", "rand", "adjusted_rand", "nmi", "variation_of_information", "van_dongen"),
    *("matching_accuracy", "bcubed_f", "chi_squared", "wallace[given=classes]"),
]


@settings(deadline=None, max_examples=40)
@pytest.mark.spec("ST-LABELS")
@given(labelings, st.sampled_from(PERMUTED))
def test_permuted_labels_are_counted(sides: tuple[list[int], list[int]], key: str) -> None:
    truth, clusters = sides
    score = refclust.score(key, truth, clusters)
    sign = -1 if score.better == "lower" else 1

    def is_as_good(order: tuple[int, ...]) -> bool:
        other = refclust.score(key, order, clusters)
        if other.exact is None or score.exact is None:
            return math.isnan(other) or math.isnan(score) or sign * other >= sign * score
        return (sign * (other.exact - score.exact)).sign() >= 0

    orders = list(itertools.permutations(truth))
    due = Fraction(sum(map(is_as_good, orders)), len(orders))
    tested = refclust.label_permutation(key, truth, clusters)
    assert (tested.p, tested.certified, tested.bound) == (due, True, 0)
    assert tested.observed.name == score.name


@settings(deadline=None, max_examples=30)
@pytest.mark.spec("ST-LABELS")
@given(labelings)
def test_permuted_labels_by_the_definition(sides: tuple[list[int], list[int]]) -> None:
    truth, clusters = sides
    counted = table(clusters, truth)
    for key, formula in (("purity", matching.purity), ("rand", pairs.rand)):
        due = room.label_permutation_p(formula, counted)
        assert refclust.label_permutation(key, truth, clusters).p == due
    # Under fixed margins these rise with one another.
    alike = {refclust.label_permutation(key, truth, clusters).p for key in ("rand", "mirkin")}
    assert len(alike) == 1


@pytest.mark.spec("ST-LABELS", "ST-MC")
def test_drawn_tables_come_near_the_count() -> None:
    truth, clusters = [0, 1, 2] * 6, [0, 0, 1, 1, 2, 2, 0, 1, 2] * 2
    counted = refclust.label_permutation("rand", truth, clusters)
    assert counted.certified
    with mock.patch.object(permuting, "MOST_TABLES", 10):
        drawn = refclust.label_permutation("rand", truth, clusters, samples=499, seed=2)
        again = refclust.label_permutation("rand", truth, clusters, samples=499, seed=2)
        other = refclust.label_permutation("rand", truth, clusters, samples=99, seed=3)
    assert (drawn.p, drawn.tables, drawn.seed) == (again.p, 500, 2)
    assert (drawn.p * 500).denominator == (other.p * 100).denominator == 1
    assert not drawn.certified
    assert abs(float(drawn) - float(counted)) < 5 * drawn.bound


@pytest.mark.spec("ST-LABELS")
def test_label_permutation_refuses() -> None:
    with pytest.raises(WrongEvidence):
        refclust.label_permutation("mcnemar", "ab", "ab")
    with pytest.raises(WeightsNotInteger):
        refclust.label_permutation("purity", "ab", "ab", weights=[0.5, 1])
    with pytest.raises(BadOption), mock.patch.object(permuting, "MOST_TABLES", 1):
        refclust.label_permutation("purity", "abab", "aabb", samples=0)
    assert refclust.label_permutation("nmi", "aa", "aa").p == 1  # no value, nothing to be better
