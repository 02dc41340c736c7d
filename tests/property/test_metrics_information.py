"""Information metrics against their definitions, compared as exact reals (chapter 43)."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.formulas import information
from refclust.formulas.information import entropy, joint_mutual_information, kl
from refclust.formulas.undefined import Undefined
from refclust.metrics import Contingency
from refclust.metrics.adjusted import information as information_adjusted
from refclust.metrics.contingency import contingency
from refclust.numbers.real import Real, log, maximum, minimum, real, sqrt, total
from tests.metrics import witness
from tests.metrics.keys import bits, or_none
from tests.metrics.strategies import (
    Pair,
    distributions,
    is_one,
    is_single,
    labelings,
    proper_labelings,
    rational_tables,
    some,
    tables,
)

AVERAGES = information.AVERAGES


def entropies(table: Contingency) -> tuple[Real, Real, Real, Real]:
    """H(C), H(T), H(C,T) and I."""
    return (
        information.entropy_clusters(table),
        information.entropy_classes(table),
        information.joint_entropy(table),
        information.mutual_information(table),
    )


@st.composite
def joints(draw: st.DrawFn) -> list[list[Fraction]]:
    """A joint distribution, row by row."""
    rows, columns = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    shares = draw(distributions(size=rows * columns))
    return [shares[start : start + columns] for start in range(0, rows * columns, columns)]


def margins(joint: list[list[Fraction]]) -> tuple[list[Fraction], list[Fraction]]:
    return [sum(row, Fraction()) for row in joint], [
        sum(column, Fraction()) for column in zip(*joint, strict=True)
    ]


# -- distributions --------------------------------------------------------------------------


@pytest.mark.spec("IT-ENT")
@given(distributions())
def test_entropy_lies_between_zero_and_the_logarithm_of_the_outcomes(p: list[Fraction]) -> None:
    found = entropy(p)
    assert 0 <= found <= log(len(p))
    assert (found == 0) == (1 in p)
    assert (found == log(len(p))) == (len(set(p)) == 1)
    assert entropy(p[::-1]) == found
    assert entropy([*p, Fraction()]) == found
    assert entropy(p, base=2) == found / log(2)


@pytest.mark.spec("IT-KL")
@given(st.integers(1, 4).flatmap(lambda n: st.tuples(*[distributions(size=n)] * 2)))
def test_divergence_is_not_negative_and_zero_only_for_equals(
    both: tuple[list[Fraction], list[Fraction]],
) -> None:
    """PROP-KL-1."""
    q, p = both
    if any(a > 0 == b for a, b in zip(q, p, strict=True)):
        with pytest.raises(Undefined, match="mass") as missing:
            kl(q, p)
        assert missing.value.value == float("inf")
    else:
        found = kl(q, p)
        assert found >= 0
        assert (found == 0) == (q == p)
        assert kl(q, p, base=10) == found / log(10)
    assert kl(q, q) == 0


@pytest.mark.spec("IT-KL")
def test_divergence_is_not_symmetric() -> None:
    q, p = ["1/2", "1/2"], ["1/4", "3/4"]
    assert kl(q, p) == log(2) - log(3) / 2
    assert kl(p, q) == 3 * log(3) / 4 - log(2)
    assert (float(kl(q, p)), float(kl(p, q))) == (0.14384103622589045, 0.13081203594113697)


@pytest.mark.spec("IT-MI", "IT-MIHDIFF", "IT-MIKL", "IT-MIINDEP")
@some(25)
@given(joints())
def test_information_of_a_joint_distribution(joint: list[list[Fraction]]) -> None:
    """PROP-MI-3, and IT-MIINDEP both ways."""
    flat = [share for row in joint for share in row]
    rows, columns = margins(joint)
    found = joint_mutual_information(joint)
    assert found == entropy(rows) + entropy(columns) - entropy(flat)
    given_rows = total(
        rows[i] * entropy([share / rows[i] for share in row])
        for i, row in enumerate(joint)
        if rows[i]
    )
    assert found == entropy(columns) - given_rows
    product = [a * b for a in rows for b in columns]
    assert found == kl(flat, product)
    assert (found == 0) == (flat == product)
    assert 0 <= found <= minimum(entropy(rows), entropy(columns))
    assert joint_mutual_information(list(map(list, zip(*joint, strict=True)))) == found
    assert joint_mutual_information(joint, base=2) == found / log(2)


@pytest.mark.spec("IT-MIINDEP", "IT-MI")
@given(distributions(), distributions())
def test_independence_carries_no_information(p: list[Fraction], q: list[Fraction]) -> None:
    """PROP-MI-2, first half."""
    assert joint_mutual_information([[a * b for b in q] for a in p]) == 0


@pytest.mark.spec("IT-MIPERF", "IT-MI")
@given(distributions(), st.randoms(use_true_random=False))
def test_perfect_agreement_carries_all(p: list[Fraction], rng: random.Random) -> None:
    """PROP-MI-2, second half; one side may be renamed."""
    order = list(range(len(p)))
    rng.shuffle(order)
    joint = [[share if j == order[i] else Fraction() for j in order] for i, share in enumerate(p)]
    renamed = [[row[j] for j in sorted(range(len(p)), key=lambda j: order[j])] for row in joint]
    assert joint_mutual_information(joint) == joint_mutual_information(renamed) == entropy(p)


# -- tables ---------------------------------------------------------------------------------


@pytest.mark.spec("ENT-C", "ENT-T", "ENT-JOINT", "ENT-COND", "MI-CT", "IT-MIHDIFF")
@given(labelings())
def test_entropies_by_the_surprise_of_objects(pair: Pair) -> None:
    table = contingency(*pair)
    of_clusters, of_classes, joint, mutual = entropies(table)
    both = list(zip(*pair, strict=True))
    assert of_clusters == witness.as_real(witness.entropy(pair.pred))
    assert of_classes == witness.as_real(witness.entropy(pair.true))
    assert joint == witness.as_real(witness.entropy(both))
    assert mutual == witness.as_real(witness.mutual_information(*pair))
    assert information.conditional_entropy(table) == joint - of_clusters
    assert information.conditional_entropy(table, of="clusters") == joint - of_classes


@pytest.mark.spec("ENT-C", "ENT-T", "ENT-JOINT", "ENT-COND", "MI-CT", "IT-MI", "IT-MIINDEP")
@some(25)
@given(tables() | rational_tables())
def test_tables_are_joint_distributions(table: Contingency) -> None:
    n = table.total
    joint = [[Fraction(cell) / n for cell in row] for row in table.rows()]
    of_clusters, of_classes, both, mutual = entropies(table)
    assert of_clusters == entropy([Fraction(size) / n for size in table.row])
    assert of_classes == entropy([Fraction(size) / n for size in table.col])
    assert both == entropy([share for row in joint for share in row])
    assert mutual == joint_mutual_information(joint)
    assert 0 <= mutual <= minimum(of_clusters, of_classes)
    assert maximum(of_clusters, of_classes) <= both <= of_clusters + of_classes
    independent = all(
        n * cell == table.row[i] * table.col[j]
        for i, row in enumerate(table.rows())
        for j, cell in enumerate(row)
    )
    assert (mutual == 0) == independent
    nothing_left = information.conditional_entropy(table)
    assert (nothing_left == 0) == all(sum(map(bool, row)) == 1 for row in table.rows())
    assert of_clusters <= log(len(table.row))


@pytest.mark.spec("ENT-C", "ENT-T", "ENT-JOINT", "ENT-COND", "MI-CT", "VI", "EMI")
@some(20)
@given(labelings(most=8), st.fractions(1, 12, max_denominator=6).filter(lambda b: b > 1))
def test_another_base_divides_by_its_logarithm(pair: Pair, base: Fraction) -> None:
    table = contingency(*pair)
    for metric in (
        information.entropy_clusters,
        information.entropy_classes,
        information.joint_entropy,
        information.conditional_entropy,
        information.mutual_information,
        information.variation_of_information,
        information_adjusted.expected_mutual_information,
    ):
        assert metric(table, base=base) == metric(table) / log(base)


@pytest.mark.spec("NMI-RATIO", "NMI-GEO", "NMI-ARI", "NMI-MIN", "NMI-MAX", "NMI-JOINT", "NMI-SG")
@some(20)
@given(tables() | rational_tables())
def test_normalised_information(table: Contingency) -> None:
    """PROP-NMI-1 and PROP-NMI-2."""
    of_clusters, of_classes, joint, mutual = entropies(table)
    one = [is_one(table.row), is_one(table.col)]
    means = {
        "geometric": sqrt(of_clusters * of_classes),
        "arithmetic": (of_clusters + of_classes) / 2,
        "min": minimum(of_clusters, of_classes),
        "max": maximum(of_clusters, of_classes),
        "joint": joint,
    }
    coincide = all(
        sum(map(bool, line)) == 1 for side in (table, table.transposed()) for line in side.rows()
    )
    values = {}
    for average, mean in means.items():
        found = or_none(information.nmi, table, average=average)
        undefined = any(one) if average in ("geometric", "min") else all(one)
        assert (found is None) == undefined
        if found is not None:
            assert found == mutual / mean
            assert 0 <= found <= 1
            assert (found == 0) == (mutual == 0)
            if average != "min":
                assert (found == 1) == coincide
            values[average] = found
    order = [
        values[name]
        for name in ("joint", "max", "arithmetic", "geometric", "min")
        if name in values
    ]
    assert all(a <= b for a, b in itertools.pairwise(order))
    strehl_ghosh = or_none(information.nmi_strehl_ghosh, table)
    assert strehl_ghosh == values.get("geometric")
    if strehl_ghosh is not None:
        assert bits(float(strehl_ghosh)) == bits(float(values["geometric"]))
    for side, entropy_below in (("clusters", of_clusters), ("classes", of_classes)):
        share = or_none(information.information_ratio, table, of=side)
        if entropy_below == 0:
            assert share is None
        else:
            assert share == mutual / entropy_below


@pytest.mark.spec("NMI-GEO")
def test_random_partitions_have_little_information_but_some() -> None:
    """PROP-NMI-3 (ERR-32): near 0 for many objects, and hardly ever 0.

    For r×k random labels 2n·I is about χ² with (r−1)(k−1) = 4 degrees of freedom, so that
    I ≈ 2/n, and NMI ≈ 2/(n ln 3); P(χ²₄ > 60) < 1e-11 bounds it by 30/(n ln 3).
    """
    for n in (20, 200, 2000):
        for seed in range(5):
            rng = random.Random(1000 * n + seed)
            true, pred = ([int(3 * rng.random()) for _ in range(n)] for _ in range(2))
            found = information.nmi(contingency(true, pred))
            assert 0 < found <= 30 / (n * log(3))


@pytest.mark.spec("HOM", "COMPL", "V-BETA", "NMI-ARI")
@some(20)
@given(tables() | rational_tables(), st.fractions(0, 4, max_denominator=4))
def test_homogeneity_completeness_and_their_mean(table: Contingency, beta: Fraction) -> None:
    of_clusters, of_classes, _, mutual = entropies(table)
    h, c = information.homogeneity(table), information.completeness(table)
    lost = information.conditional_entropy(table)
    gained = information.conditional_entropy(table, of="clusters")
    assert h == (1 if is_one(table.col) else 1 - lost / of_classes)
    assert c == (1 if is_one(table.row) else 1 - gained / of_clusters)
    assert (h == 1) == all(sum(map(bool, row)) == 1 for row in table.rows())
    assert (c == 1) == all(sum(map(bool, row)) == 1 for row in table.transposed().rows())
    v = or_none(information.v_measure, table, beta=beta)
    if beta * of_clusters + of_classes == 0:
        assert v is None
    elif mutual == 0:
        assert v == 0
    else:
        assert v == (1 + beta) * h * c / (beta * h + c)
        assert v is not None
        assert 0 <= v <= 1
    one, arithmetic = (
        or_none(information.v_measure, table),
        or_none(information.nmi, table, average="arithmetic"),
    )
    assert one == arithmetic
    if one is not None and arithmetic is not None:
        assert bits(float(one)) == bits(float(arithmetic))


@pytest.mark.spec("VI", "VI-NORM", "NID", "NMI-MAX", "NMI-JOINT")
@some(25)
@given(tables() | rational_tables())
def test_information_distances(table: Contingency) -> None:
    of_clusters, of_classes, joint, mutual = entropies(table)
    distance = information.variation_of_information(table)
    assert distance == of_clusters + of_classes - 2 * mutual
    assert distance == 2 * joint - of_clusters - of_classes
    assert distance >= 0
    normalised = or_none(information.normalized_variation_of_information, table)
    shared = or_none(information.normalized_information_distance, table)
    if is_one(table.row) and is_one(table.col):
        assert normalised is None
        assert shared is None
    else:
        assert normalised == 1 - information.nmi(table, average="joint") == distance / joint
        assert shared == 1 - information.nmi(table, average="max")


@pytest.mark.spec("VI", "VI-NORM", "NID")
@some(25)
@given(labelings(), st.data())
def test_information_distances_are_metrics(pair: Pair, data: st.DataObject) -> None:
    n = len(pair.true)
    third = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    for metric in (
        information.variation_of_information,
        information.normalized_variation_of_information,
        information.normalized_information_distance,
    ):
        # Both sides one group is 0/0 for the normalised ones; as a distance it is none.
        there, left, right = (
            or_none(metric, contingency(a, b)) or real(0)
            for a, b in ((pair.true, pair.pred), (pair.true, third), (third, pair.pred))
        )
        assert there <= left + right
        same = contingency(*pair)
        coincide = len(same.counts) == len(same.row) == len(same.col)
        assert (there == 0) == coincide
    assert information.variation_of_information(contingency(*pair)) <= log(n)


@pytest.mark.spec("EMI", "AMI")
@some(30)
@given(labelings(most=6))
def test_expected_information_is_the_mean_over_all_permutations(pair: Pair) -> None:
    table = contingency(*pair)
    expected = witness.as_real(witness.expected_mutual_information(*pair))
    found = information_adjusted.expected_mutual_information(table)
    assert found == expected
    assert (found == 0) == (is_one(table.row) or is_one(table.col))
    of_clusters, of_classes, _, mutual = entropies(table)
    assert found <= minimum(of_clusters, of_classes)
    for average in AVERAGES:
        bound = information.mean_entropy(table, average)
        value = or_none(information_adjusted.ami, table, average=average)
        if bound == expected:
            assert mutual == expected
            assert value is None
        else:
            assert value == (mutual - expected) / (bound - expected)
            assert value is not None
            assert value <= 1


@pytest.mark.spec("AMI")
@some(25)
@given(labelings())
def test_adjusted_information_is_undefined_by_shape(pair: Pair) -> None:
    table = contingency(*pair)
    one, single = ([f(side) for side in (table.row, table.col)] for f in (is_one, is_single))
    for average in AVERAGES:
        undefined = all(one) or all(single)
        if average == "min":
            undefined = any(one) or any(single)
        if average == "geometric":
            undefined = any(one) or all(single)
        assert information_adjusted.ami_is_undefined(table, average) == undefined
        assert (or_none(information_adjusted.ami, table, average=average) is None) == undefined


@pytest.mark.spec("AMI")
@some(8)
@given(proper_labelings(most=5))
def test_adjusted_information_is_zero_on_average(pair: Pair) -> None:
    """Except for the joint entropy, which changes from table to table."""
    shuffles = [contingency(shuffled, pair.pred) for shuffled in witness.arrangements(pair.true)]
    for average in ("arithmetic", "geometric", "min", "max"):
        values = [information_adjusted.ami(table, average=average) for table in shuffles]
        assert total(values) == 0


@pytest.mark.spec("AMI", "NMI-ARI")
@some(25)
@given(labelings(most=9))
def test_adjusted_information_is_at_most_the_normalised_one(pair: Pair) -> None:
    table = contingency(*pair)
    for average in AVERAGES:
        plain = or_none(information.nmi, table, average=average)
        adjusted = or_none(information_adjusted.ami, table, average=average)
        if plain is not None and adjusted is not None:
            assert adjusted <= plain
