"""Pair metrics against loops over all pairs and permutations (chapter 42)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import refclust
from refclust.errors import BadOption, LabelLengthMismatch, NegativeCount
from refclust.formulas import pairs
from refclust.formulas.memberships import Memberships
from refclust.formulas.pairs import pair_counts, pair_metric, same_cluster
from refclust.formulas.undefined import Undefined
from refclust.metrics import Contingency
from refclust.metrics.adjusted import pairs as pairs_adjusted
from refclust.metrics.contingency import contingency
from refclust.numbers.real import Real, log, real, sqrt
from tests.metrics import witness
from tests.metrics.keys import or_none
from tests.metrics.strategies import (
    Pair,
    is_one,
    is_single,
    labelings,
    number_of_pairs,
    proper_labelings,
    rational_tables,
    some,
    tables,
)

CONVENTIONS = ("unordered", "ordered")


def exactly(value: object) -> Fraction:
    assert isinstance(value, Real)
    assert value.fraction is not None
    return value.fraction


def quotient(top: Fraction | int, bottom: Fraction | int) -> Fraction | None:
    return Fraction(top) / bottom if bottom else None


@pytest.mark.spec("PC-IND")
@given(labelings())
def test_the_indicator_tells_the_members_of_each_group(pair: Pair) -> None:
    for labels in pair:
        for objects in witness.members(labels).values():
            for x in objects:
                together = [same_cluster(labels, x, y) for y in range(len(labels))]
                assert together == [int(y in objects) for y in range(len(labels))]


@pytest.mark.spec("PC-UNORD", "PC-ORD", "PC-NPAIRS")
@given(labelings())
def test_counts_by_looking_at_every_pair(pair: Pair) -> None:
    table, n = contingency(*pair), len(pair.true)
    for convention in CONVENTIONS:
        counts = [int(exactly(c)) for c in pair_counts(table, pairs=convention)]
        ordered = convention == "ordered"
        assert counts == list(witness.pair_counts(*pair, ordered=ordered))
        assert sum(counts) == (n * n if ordered else n * (n - 1) // 2)


@pytest.mark.spec("PC-ORD", "RAND")
@given(tables())
def test_ordered_counts_from_unordered_ones(table: Contingency) -> None:
    """PROP-PC-1."""
    n = table.total
    tp, fp, fn, tn = (exactly(c) for c in pair_counts(table))
    ordered = tuple(exactly(c) for c in pair_counts(table, pairs="ordered"))
    assert ordered == (2 * tp + n, 2 * fp, 2 * fn, 2 * tn)
    if n > 1:
        rand, wider = (exactly(pairs.rand(table, pairs=c)) for c in CONVENTIONS)
        assert wider == ((n - 1) * rand + 1) / n
        assert wider >= rand


@pytest.mark.spec("PC-ORD")
@given(rational_tables())
def test_ordered_counts_of_weights(table: Contingency) -> None:
    rows = table.rows()
    cells = [(i, j, w) for i, row in enumerate(rows) for j, w in enumerate(row)]
    together = {(same, alike): Fraction() for same in (0, 1) for alike in (0, 1)}
    for (i, j, v), (a, b, w) in itertools.product(cells, repeat=2):
        together[int(i == a), int(j == b)] += v * w
    counts = tuple(exactly(c) for c in pair_counts(table, pairs="ordered"))
    assert counts == (together[1, 1], together[1, 0], together[0, 1], together[0, 0])


def coefficients(a: int, b: int, c: int, d: int) -> dict[Callable[..., Real], Fraction | None]:
    """The scores by the four counts TP, FP, FN, TN of a 2×2 table."""
    return {
        pairs.rand: quotient(a + d, a + b + c + d),
        pairs.jaccard: quotient(a, a + b + c),
        pairs.pair_precision: quotient(a, a + b),
        pairs.pair_recall: quotient(a, a + c),
        pairs.pair_f: quotient(2 * a, 2 * a + b + c),
        pairs.hubert_raw: quotient(a, a + b + c + d),
        pairs.wallace: quotient(a, a + b),
        pairs.kulczynski: quotient(a * (2 * a + b + c), 2 * (a + b) * (a + c)),
        pairs.rogers_tanimoto: quotient(a + d, a + 2 * b + 2 * c + d),
        pairs.sokal_sneath_1: quotient(a, a + 2 * b + 2 * c),
        pairs.sokal_sneath_2: quotient(2 * a + 2 * d, 2 * a + b + c + 2 * d),
    }


@pytest.mark.spec("PAIR-OP", "RAND", "JAC", "PC-PREC", "PC-REC", "PC-F", "HUB-STAT", "WAL", "KULC")
@pytest.mark.spec("ROGTAN", "SOKSN1", "SOKSN2")
@given(labelings(), st.sampled_from(CONVENTIONS))
def test_coefficients_of_the_counted_pairs(pair: Pair, convention: str) -> None:
    table = contingency(*pair)
    counted = witness.pair_counts(*pair, ordered=convention == "ordered")
    for metric, expected in coefficients(*counted).items():
        found = or_none(metric, table, pairs=convention)
        assert (None if found is None else found.fraction) == expected, metric
    given_classes = or_none(pairs.wallace, table, given="classes", pairs=convention)
    recall = or_none(pairs.pair_recall, table, pairs=convention)
    assert given_classes == recall


@pytest.mark.spec("PAIR-OP", "ARI")
@given(labelings(least=2))
def test_any_coefficient_of_two_by_two_tables_becomes_a_score(pair: Pair) -> None:
    """Cohen's kappa on the pairs is the adjusted Rand index (Warrens 2008a)."""

    def kappa(tp: Fraction, fp: Fraction, fn: Fraction, tn: Fraction) -> Fraction:
        n = tp + fp + fn + tn
        agree = (tp + tn) / n
        by_chance = ((tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)) / n**2
        return (agree - by_chance) / (1 - by_chance)

    table = contingency(*pair)
    try:
        found = pair_metric(kappa, table)  # type: ignore[arg-type]
    except Undefined:
        assert or_none(pairs.adjusted_rand, table) is None
    else:
        assert found == pairs.adjusted_rand(table)


@pytest.mark.spec("PC-F")
@given(tables(), st.fractions(0, 4, max_denominator=5), st.sampled_from(CONVENTIONS))
def test_pair_f_is_the_weighted_harmonic_mean(
    table: Contingency, beta: Fraction, convention: str
) -> None:
    precision = or_none(pairs.pair_precision, table, pairs=convention)
    recall = or_none(pairs.pair_recall, table, pairs=convention)
    f = or_none(pairs.pair_f, table, beta=beta, pairs=convention)
    if precision and recall:
        weighted = (1 + beta**2) / (1 / exactly(precision) + beta**2 / exactly(recall))
        assert exactly(f) == weighted
    tp, fp, fn, _ = (exactly(c) for c in pair_counts(table, pairs=convention))
    assert (f is None) == (tp == fp == beta * fn == 0)
    assert f is None or 0 <= exactly(f) <= 1


@pytest.mark.spec("PC-F")
@pytest.mark.parametrize("beta", [Fraction(-1, 2), -1, -2])
def test_pair_f_refuses_weights_below_zero(beta: Fraction | int) -> None:
    with pytest.raises(BadOption, match=r"^pair_f: beta=.* must not be negative$"):
        pairs.pair_f(Contingency.of_rows([[2, 1], [0, 2]]), beta=beta)


@pytest.mark.spec("JAC", "PC-F", "FM", "HUB-COS", "KULC", "ROGTAN", "SOKSN1", "SOKSN2")
@given(tables(), st.sampled_from(CONVENTIONS))
def test_order_of_the_pair_scores(table: Contingency, convention: str) -> None:
    """PROP-PC-3: Jaccard ≤ F ≤ Fowlkes–Mallows ≤ Kulczyński."""
    jaccard, f, fm, cosine, mean, tanimoto, rand, ss1, ss2 = (
        or_none(metric, table, pairs=convention)
        for metric in (
            pairs.jaccard,
            pairs.pair_f,
            pairs.fowlkes_mallows,
            pairs.hubert_cosine,
            pairs.kulczynski,
            pairs.rogers_tanimoto,
            pairs.rand,
            pairs.sokal_sneath_1,
            pairs.sokal_sneath_2,
        )
    )
    assert cosine == fm
    if fm is not None:
        assert jaccard is not None
        assert f is not None
        assert mean is not None
        assert jaccard <= f <= fm <= mean
    if jaccard is not None:
        j = exactly(jaccard)
        assert exactly(f) == 2 * j / (1 + j)
        assert exactly(ss1) == j / (2 - j)
    if rand is not None:
        r = exactly(rand)
        assert exactly(tanimoto) == r / (2 - r)
        assert exactly(ss2) == 2 * r / (1 + r)


@pytest.mark.spec("HUB-COS", "HUB-NORM", "HUB-STAT", "FM")
@given(labelings(least=2, most=8), st.sampled_from(CONVENTIONS))
def test_correlations_of_the_indicators(pair: Pair, convention: str) -> None:
    """PROP-PC-4, with the vectors written out."""
    n, table = range(len(pair.true)), contingency(*pair)
    every = list(
        itertools.product(n, n) if convention == "ordered" else itertools.combinations(n, 2)
    )
    t = [same_cluster(pair.true, x, y) for x, y in every]
    c = [same_cluster(pair.pred, x, y) for x, y in every]
    product = sum(a * b for a, b in zip(t, c, strict=True))
    cosine = or_none(pairs.hubert_cosine, table, pairs=convention)
    if any(t) and any(c):
        assert cosine == product / sqrt(sum(t) * sum(c))
    else:
        assert cosine is None
    assert exactly(pairs.hubert_raw(table, pairs=convention)) == Fraction(product, len(every))
    mean_t, mean_c = Fraction(sum(t), len(t)), Fraction(sum(c), len(c))
    covariance = sum((a - mean_t) * (b - mean_c) for a, b in zip(t, c, strict=True))
    spread = sum((a - mean_t) ** 2 for a in t) * sum((b - mean_c) ** 2 for b in c)
    found = or_none(pairs.hubert_normalized, table, pairs=convention)
    if spread:
        assert found == covariance / sqrt(spread)
        assert -1 <= real(found or 0) <= 1
    else:
        assert found is None


@pytest.mark.spec("RAND", "JAC")
@given(st.integers(1, 60))
def test_many_small_groups_drive_rand_to_one_but_not_jaccard(couples: int) -> None:
    """PROP-PC-2: all singletons against true pairs."""
    table = contingency([x // 2 for x in range(2 * couples)], range(2 * couples))
    n = 2 * couples
    assert exactly(pairs.rand(table)) == 1 - Fraction(1, n - 1)
    assert exactly(pairs.jaccard(table)) == 0


@pytest.mark.spec("MIRKIN")
@given(labelings(), st.data())
def test_mirkin_is_a_metric_that_counts_disagreements(pair: Pair, data: st.DataObject) -> None:
    n = len(pair.true)
    third = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))

    def distance(a: list[int], b: list[int]) -> Fraction:
        return exactly(pairs.mirkin(contingency(a, b)))

    _, sd, ds, _ = witness.pair_counts(*pair, ordered=True)
    assert distance(*pair) == sd + ds <= n * (n - 1)
    assert distance(*pair) <= distance(pair.true, third) + distance(third, pair.pred)
    if n > 1:
        assert distance(*pair) == n * (n - 1) * (1 - exactly(pairs.rand(contingency(*pair))))


@pytest.mark.spec("ARI", "PC-FADJ", "WAL-ADJ", "FM-ADJ", "JAC-ADJ")
@some(30)
@given(labelings(least=2, most=6))
def test_adjusted_scores_against_all_permutations(pair: Pair) -> None:
    table = contingency(*pair)
    counts = [
        witness.pair_counts(shuffled, pair.pred) for shuffled in witness.arrangements(pair.true)
    ]
    tp, fp, fn, tn = witness.pair_counts(*pair)
    n, p, q = tp + fp + fn + tn, tp + fp, tp + fn
    expected_tp = witness.mean([Fraction(c[0]) for c in counts])
    assert expected_tp == Fraction(p * q, n)

    def rescaled(value: Fraction, expected: Fraction) -> Fraction | None:
        return quotient(value - expected, 1 - expected)

    expected_rand = witness.mean([Fraction(c[0] + c[3], n) for c in counts])
    ari = or_none(pairs.adjusted_rand, table)
    rand = rescaled(Fraction(tp + tn, n), expected_rand)
    assert (None if ari is None else ari.fraction) == rand
    if p + q:
        expected_f = witness.mean([Fraction(2 * c[0], p + q) for c in counts])
        f = or_none(pairs.adjusted_pair_f, table)
        assert (None if f is None else f.fraction) == rescaled(Fraction(2 * tp, p + q), expected_f)
        expected_j = witness.mean([Fraction(c[0], sum(c[:3])) for c in counts])
        j = or_none(pairs_adjusted.adjusted_jaccard, table)
        assert pairs_adjusted.expected_jaccard(table) == expected_j
        assert (None if j is None else j.fraction) == rescaled(Fraction(tp, p + q - tp), expected_j)
    else:
        assert or_none(pairs.adjusted_pair_f, table) is None
        assert or_none(pairs_adjusted.adjusted_jaccard, table) is None
    for side, together in (("clusters", p), ("classes", q)):
        w = or_none(pairs.adjusted_wallace, table, given=side)
        if together:
            expected = expected_tp / together
            assert (None if w is None else w.fraction) == rescaled(Fraction(tp, together), expected)
        else:
            assert w is None
    fm = or_none(pairs.adjusted_fowlkes_mallows, table)
    if p * q and expected_tp**2 != p * q:
        expected_fm = expected_tp / sqrt(p * q)
        assert fm == (tp / sqrt(p * q) - expected_fm) / (1 - expected_fm)
    else:
        assert fm is None


@pytest.mark.spec("ARI", "PC-FADJ", "WAL-ADJ", "FM-ADJ", "JAC-ADJ")
@some(15)
@given(proper_labelings(most=5))
def test_adjusted_scores_are_zero_on_average(pair: Pair) -> None:
    adjusted = (
        pairs.adjusted_rand,
        pairs.adjusted_pair_f,
        pairs.adjusted_wallace,
        pairs_adjusted.adjusted_jaccard,
        pairs.adjusted_fowlkes_mallows,
    )
    shuffles = [contingency(s, pair.pred) for s in witness.arrangements(pair.true)]
    for metric in adjusted:
        values = [or_none(metric, table) for table in shuffles]
        assert sum((v for v in values if v is not None), real(0)) == 0
        assert None not in values


@pytest.mark.spec("ARI", "WAL-ADJ", "PC-FADJ", "FM-ADJ")
@given(tables())
def test_relations_between_the_adjusted_scores(table: Contingency) -> None:
    """ARI is the harmonic mean of the adjusted Wallace coefficients, and the adjusted pair F."""
    ari = or_none(pairs.adjusted_rand, table)
    assert or_none(pairs.adjusted_pair_f, table) == ari
    there, back = (
        or_none(pairs.adjusted_wallace, table, given=side) for side in ("clusters", "classes")
    )
    if there and back:
        assert exactly(ari) == witness.harmonic(exactly(there), exactly(back))
    elif there is not None and back is not None:
        assert there == back == ari == 0
    fm = or_none(pairs.adjusted_fowlkes_mallows, table)
    if fm is not None:
        # The same numerator N·TP − pq: same sign, and both 1 only together.
        assert ari is not None
        assert fm.sign() == ari.sign()
        assert (fm == 1) == (ari == 1)
        assert fm <= 1
    assert ari is None or Fraction(-1, 2) <= exactly(ari) <= 1


@pytest.mark.spec("ARI", "PC-FADJ", "FM-ADJ", "WAL-ADJ", "JAC-ADJ", "FM", "KULC", "JAC", "HUB-NORM")
@given(labelings())
def test_where_the_pair_scores_are_undefined(pair: Pair) -> None:
    table = contingency(*pair)
    one, single = ([f(side) for side in (table.row, table.col)] for f in (is_one, is_single))
    no_pair = number_of_pairs(table) == 0
    for metric, options, undefined in (
        (pairs.rand, {}, no_pair),
        (pairs.jaccard, {}, all(single)),
        (pairs.fowlkes_mallows, {}, any(single)),
        (pairs.kulczynski, {}, any(single)),
        (pairs.hubert_normalized, {}, any(one) or any(single)),
        (pairs.hubert_normalized, {"pairs": "ordered"}, any(one)),
        (pairs.adjusted_rand, {}, all(one) or all(single)),
        (pairs.adjusted_pair_f, {}, all(one) or all(single)),
        (pairs.adjusted_fowlkes_mallows, {}, any(single) or all(one)),
        (pairs.adjusted_wallace, {}, single[0] or one[1]),
        (pairs.adjusted_wallace, {"given": "classes"}, single[1] or one[0]),
        (pairs_adjusted.adjusted_jaccard, {}, all(single) or all(one)),
    ):
        assert (or_none(metric, table, **options) is None) == undefined, (metric, options)


@pytest.mark.spec("FM")
def test_fowlkes_mallows_may_be_irrational_and_is_still_compared_exactly() -> None:
    table = Contingency.of_rows([[3, 1], [0, 2]])
    fm = pairs.fowlkes_mallows(table)
    assert fm.fraction is None
    assert fm * fm == real(Fraction(4 * 4, 7 * 6))
    assert fm != log(2)


HARD = st.integers(2, 6).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 2), min_size=n, max_size=n)] * 2)
)
SHARES = st.integers(2, 5).flatmap(
    lambda n: st.tuples(
        *[st.lists(st.tuples(st.integers(1, 4), st.integers(0, 4)), min_size=n, max_size=n)] * 2
    )
)


def _hard(labels: list[int]) -> list[list[int]]:
    return [[int(label == k) for k in range(3)] for label in labels]


@pytest.mark.spec("PC-SAME", "RAND-SOFT", "ARI-SOFT")
@given(HARD)
def test_soft_indices_of_hard_clusters(sides: tuple[list[int], list[int]]) -> None:
    first, second = map(_hard, sides)
    for i, j in itertools.combinations(range(len(first)), 2):
        assert pairs.sameness(Memberships.of(first), i, j) == same_cluster(sides[0], i, j)
    assert refclust.soft_rand(first, second).fraction == refclust.rand(*sides).fraction
    soft, plain = refclust.soft_adjusted_rand(first, second), refclust.adjusted_rand(*sides)
    assert (soft.fraction, soft.undefined is None) == (plain.fraction, plain.undefined is None)


@settings(deadline=None, max_examples=25)
@pytest.mark.spec("PC-SAME", "RAND-SOFT", "ARI-SOFT")
@given(SHARES)
def test_soft_indices(sides: tuple[list[tuple[int, int]], list[tuple[int, int]]]) -> None:
    first, second = ([list(row) for row in side] for side in sides)
    x, y = ([Fraction(u, sum(row)) for u in row] for row in first[:2])
    common = sum(map(min, x, y), Fraction())  # what both have in common
    assert pairs.sameness(Memberships.of(first), 0, 1) == common
    rand = refclust.soft_rand(first, second)
    assert rand.fraction == refclust.soft_rand(second, first).fraction
    assert 0 <= rand <= 1
    assert refclust.soft_rand(first, first) == 1
    # Shares count by their proportions, and clusters have no order.
    scaled = [[3 * u for u in reversed(row)] for row in second]
    assert refclust.soft_rand(first, scaled).fraction == rand.fraction
    # Copies are weights.
    weights = [2] + [1] * (len(first) - 1)
    doubled = refclust.soft_adjusted_rand(first[:1] + first, second[:1] + second)
    weighted = refclust.soft_adjusted_rand(first, second, weights=weights)
    assert weighted.fraction == doubled.fraction
    # The mean over all permutations of one side is what chance gives.
    orders = list(itertools.permutations(second))
    values = [refclust.soft_rand(first, list(order)).fraction for order in orders]
    mean = sum(value for value in values if value is not None) / len(orders)
    adjusted = refclust.soft_adjusted_rand(first, second)
    assert rand.fraction is not None
    if mean == 1:
        assert adjusted.undefined is not None
    else:
        assert adjusted.fraction == (rand.fraction - mean) / (1 - mean)


def test_soft_calls_are_checked() -> None:
    with pytest.raises(LabelLengthMismatch):
        refclust.soft_rand([[1, 0]], [[1, 0], [0, 1]])
    with pytest.raises(NegativeCount):
        refclust.soft_rand([[1, 0], [0, 1]], [[1, 0], [-1, 1]])
    assert refclust.soft_rand([[1, 0], [0, 0]], [[1, 0], [0, 1]]).undefined is not None
    assert (
        "R = " in refclust.soft_adjusted_rand([[1, 0], [0, 1]], [[1, 1], [0, 1]]).explain().text()
    )
