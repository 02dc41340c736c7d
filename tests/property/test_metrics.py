"""What holds for every metric: symmetry, names and order, weights, ranges, perfect agreement."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.metrics import Contingency, score
from refclust.metrics.catalogue import parse_key
from refclust.metrics.contingency import contingency
from tests.metrics.keys import HOMOGENEOUS, KEYS, SYMMETRIC, bits, value
from tests.metrics.strategies import Pair, labelings, labels_of, rational_tables, some, tables

# All metrics at once take about 0.1 s a table, so a few dozen tables must do by default.
few = some(15)

# Metrics that exchanging clusters and classes turns into one another.
EXCHANGED = {
    "purity": "inverse_purity",
    "bcubed_precision": "bcubed_recall",
    "adjusted_bcubed_precision": "adjusted_bcubed_recall",
    "pair_precision": "pair_recall",
    "pair_precision[pairs=ordered]": "pair_recall[pairs=ordered]",
    "pair_f[beta=2]": "pair_f[beta=1/2]",
    "pair_f[beta=3/2,pairs=ordered]": "pair_f[beta=2/3,pairs=ordered]",
    "wallace": "wallace[given=classes]",
    "wallace[pairs=ordered]": "wallace[given=classes,pairs=ordered]",
    "adjusted_wallace": "adjusted_wallace[given=classes]",
    "entropy_clusters": "entropy_classes",
    "conditional_entropy": "conditional_entropy[of=clusters]",
    "information_ratio": "information_ratio[of=classes]",
    "homogeneity": "completeness",
    "v_measure[beta=2]": "v_measure[beta=1/2]",
    "goodman_kruskal_lambda": "goodman_kruskal_lambda[predict=clusters]",
    "goodman_kruskal_tau": "goodman_kruskal_tau[predict=clusters]",
    "theils_u": "theils_u[predict=clusters]",
}
SELF_EXCHANGED = ("goodman_kruskal_lambda[predict=both]", "theils_u[predict=both]")
ONE_WAY = ("f_macro", "f_measure", "nca", "adjusted_purity")


def test_every_key_is_symmetric_or_exchanged_or_known_to_be_neither() -> None:
    named = {*SYMMETRIC, *EXCHANGED, *EXCHANGED.values(), *SELF_EXCHANGED, *ONE_WAY}
    assert set(KEYS) <= named


@pytest.mark.spec("PUR-F", "MATCH", "NPA", "PSI", "BC-F", "VD", "BC-FADJ")
@pytest.mark.spec("RAND", "JAC", "PC-F", "FM", "HUB-COS", "HUB-STAT", "HUB-NORM", "ARI", "FM-ADJ")
@pytest.mark.spec("KULC", "ROGTAN", "SOKSN1", "SOKSN2", "MIRKIN", "JAC-ADJ", "PC-FADJ")
@pytest.mark.spec("ENT-JOINT", "MI-CT", "NMI-GEO", "NMI-SG", "NMI-ARI", "NMI-MIN", "NMI-MAX")
@pytest.mark.spec("NMI-JOINT", "V-BETA", "VI", "VI-NORM", "NID", "EMI", "AMI", "CHI2", "CRAMER")
@few
@given(labelings(most=9))
def test_symmetric_metrics_give_the_same_bits_either_way_round(pair: Pair) -> None:
    table = contingency(*pair)
    for key in (*SYMMETRIC, *SELF_EXCHANGED):
        there, back = value(key, table), value(key, table.transposed())
        assert bits(there) == bits(back), key
        assert there.exact == back.exact, key


@pytest.mark.spec("PUR", "PUR-INV", "BC-P", "BC-R", "BC-PADJ", "BC-RADJ", "PC-PREC", "PC-REC")
@pytest.mark.spec("PC-F", "WAL", "WAL-ADJ", "ENT-C", "ENT-T", "ENT-COND", "NMI-RATIO", "HOM")
@pytest.mark.spec("COMPL", "V-BETA", "GK-LAMBDA", "GK-TAU", "THEIL-U")
@few
@given(tables())
def test_exchanging_the_sides_exchanges_the_metrics(table: Contingency) -> None:
    for one, other in EXCHANGED.items():
        assert bits(value(one, table)) == bits(value(other, table.transposed())), one
        assert bits(value(other, table)) == bits(value(one, table.transposed())), other


@pytest.mark.spec("CT-TABLE")
@few
@given(labelings(most=9), st.randoms(use_true_random=False))
def test_names_and_the_order_of_objects_do_not_matter(pair: Pair, rng: random.Random) -> None:
    names: list[object] = ["x", "", ("t",), None, 3.5, -1, b"b", "ä", frozenset("q"), 10**30]
    rng.shuffle(names)
    order = list(range(len(pair.true)))
    rng.shuffle(order)
    true = [names[pair.true[x]] for x in order]
    pred = [names[pair.pred[x]] for x in order]
    for key in KEYS:
        before, after = score(key, pair.true, pair.pred), score(key, true, pred)
        assert bits(before) == bits(after), key
        assert before.undefined == after.undefined, key


@pytest.mark.spec("CT-WEIGHT")
@few
@given(labelings(most=6), st.data())
def test_an_integer_weight_is_that_many_equal_objects(pair: Pair, data: st.DataObject) -> None:
    n = len(pair.true)
    weights = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n).filter(any))
    repeated = [x for x, weight in enumerate(weights) for _ in range(weight)]
    true, pred = [pair.true[x] for x in repeated], [pair.pred[x] for x in repeated]
    for key in KEYS:
        weighted = score(key, *pair, weights=weights)
        assert bits(weighted) == bits(score(key, true, pred)), key


@pytest.mark.spec("CT-WEIGHT")
@some(10)
@given(rational_tables(), st.fractions(Fraction(1, 9), 9, max_denominator=9))
def test_rational_weights_may_be_rescaled(table: Contingency, factor: Fraction) -> None:
    degree = {"van_dongen": 1, "edit_distance": 1, "chi_squared": 1, "mirkin": 2}
    scaled = Contingency.of_rows([[factor * cell for cell in row] for row in table.rows()])
    for key in HOMOGENEOUS:
        before, after = value(key, table), value(key, scaled)
        if before.exact is None:
            assert (bits(before), before.undefined) == (bits(after), after.undefined), key
        else:
            assert after.exact == before.exact * factor ** degree.get(key, 0), key


@few
@given(tables(most_groups=3) | labelings(most=9).map(lambda pair: contingency(*pair)))
def test_values_lie_within_the_range_that_is_declared(table: Contingency) -> None:
    heavy = ("adjusted_bcubed_f", "adjusted_jaccard") if table.total > 30 else ()
    for key in KEYS:
        if key not in heavy:
            found = value(key, table)
            low, high = found.range
            assert math.isnan(found) or low <= found <= high, (key, found)
            assert math.isnan(found) == (found.undefined is not None and not math.isinf(found))


@pytest.mark.spec("CT-NOISE", "CT-WEIGHT")
@given(labelings(), st.data())
def test_noise_policies_by_hand(pair: Pair, data: st.DataObject) -> None:
    n = len(pair.true)
    weights = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    true, pred = ([-1 if label == 0 else label for label in side] for side in pair)
    found = {
        policy: contingency(true, pred, weights=weights, noise=-1, noise_policy=policy)
        for policy in ("ordinary", "singletons", "ignore")
    }
    alone = [
        [("noise", x) if label == 0 else label for x, label in enumerate(side)] for side in pair
    ]
    kept = [x for x in range(n) if -1 not in (true[x], pred[x])]
    expected = {
        "ordinary": contingency(true, pred, weights=weights),
        "singletons": contingency(*alone, weights=weights),
        "ignore": contingency(
            [true[x] for x in kept], [pred[x] for x in kept], weights=[weights[x] for x in kept]
        ),
    }
    for policy, table in expected.items():
        assert sorted(found[policy].row) == sorted(table.row), policy
        assert sorted(found[policy].col) == sorted(table.col), policy
        assert sorted(found[policy].counts.values()) == sorted(table.counts.values()), policy
    assert found["ordinary"].rows() == expected["ordinary"].rows()
    assert found["ignore"].rows() == expected["ignore"].rows()


# Not 1 for identical partitions, or without a greatest value: these only measure how much there is.
AMOUNTS = (
    *("mutual_information", "standardized_mutual_information"),
    *("chi_squared", "hubert_raw", "hubert_raw[pairs=ordered]"),
)


@pytest.mark.spec("PUR-I", "XM-PREC", "XM-REC", "XM-FI", "XM-F", "XM-FCLASS", "CLACC", "NCA")
@few
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_identical_partitions_get_the_best_value_or_none(
    sizes: list[int], rng: random.Random
) -> None:
    true = [group for group, size in enumerate(sizes) for _ in range(size)]
    names = list(range(len(sizes)))
    rng.shuffle(names)
    pred = [names[group] for group in true]
    for key in KEYS:
        entry, _ = parse_key(key)
        if entry.better == "neither" or key in AMOUNTS:
            continue
        best = 1.0 if entry.better == "higher" else 0.0
        found = score(key, true, pred)
        assert found == best or (math.isnan(found) and found.undefined), key
        assert found.undefined is None or min(len(sizes), max(sizes)) == 1, key


@pytest.mark.spec("PUR", "MATCH", "MI-CT", "NMI-GEO", "RAND", "ARI")
def test_relabelling_changes_plain_accuracy_but_no_metric() -> None:
    """PROP-MI-1, on the table of the sources that is printed both ways round."""
    truth = ["cat"] * 60 + ["dog"] * 30 + ["parrot"] * 10
    guess = ["cat"] * 50 + ["dog"] * 10 + ["dog"] * 25 + ["parrot"] * 5 + ["parrot"] * 10
    renamed = [{"cat": "dog", "dog": "parrot", "parrot": "cat"}[label] for label in guess]
    accuracy = [sum(a == b for a, b in zip(truth, side, strict=True)) for side in (guess, renamed)]
    assert accuracy == [85, 0]
    for key in KEYS:
        if key not in ("adjusted_bcubed_f", "adjusted_jaccard"):
            assert bits(score(key, truth, guess)) == bits(score(key, truth, renamed)), key


@some(5)
@given(tables())
def test_labels_and_table_give_the_same_score(table: Contingency) -> None:
    pair = labels_of(table)
    for key in ("purity", "rand", "nmi", "chi_squared", "matching_accuracy", "conditional_entropy"):
        assert bits(score(key, *pair)) == bits(score(key, table.rows())) == bits(value(key, table))
