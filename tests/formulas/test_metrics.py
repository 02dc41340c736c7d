"""Chapters 40 to 44: golden vectors through the formulas, and what is fast held to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.errors import RefclustError, WeightsNotInteger
from refclust.formulas import information, matching, pairs
from refclust.formulas.contingency import Contingency, table, weighted_table, without_noise
from refclust.formulas.undefined import Undefined
from refclust.kernels.contingency import LabelPairs
from refclust.kernels.contingency import table as counted
from refclust.metrics.adjusted import information as information_adjusted
from refclust.metrics.adjusted import matching as matching_adjusted
from refclust.metrics.adjusted import pairs as pairs_adjusted
from refclust.metrics.catalogue import parse_key
from refclust.metrics.contingency import contingency
from refclust.numbers.real import Real, total
from refclust.numbers.reals.log_terms import log, total_of_logs
from tests.formulas.golden import cases, meets, numbers
from tests.metrics.strategies import Pair, labelings, some

# Where a metric is machinery around its formula, the formula itself.
ROOM: Final[Mapping[str, Callable[..., Real]]] = {
    "expected_mutual_information": information.expected_mutual_information,
    "ami": information.ami,
    "adjusted_purity": matching.adjusted_purity,
    "adjusted_bcubed_f": matching.adjusted_bcubed_f,
    "adjusted_jaccard": pairs.adjusted_jaccard,
}
LISTS: Final[Mapping[str, Callable[[Contingency], Any]]] = {
    "cluster_purity": matching.cluster_purity,
    "cluster_recall": matching.cluster_recall,
    "cluster_f": matching.cluster_f,
    "pair_counts": pairs.unordered_pairs,
    "pair_counts[pairs=ordered]": pairs.ordered_pairs,
    "table": Contingency.rows,
    "row_sums": lambda found: found.row,
    "column_sums": lambda found: found.col,
    "total": lambda found: found.total,
}


def value(key: str, found: Contingency) -> Any:
    """What the formula of a key gives, or the value of ``Undefined``."""
    try:
        if key in LISTS:
            return LISTS[key](found)
        entry, options = parse_key(key)
        assert entry.name in ROOM or entry.formula.__module__.startswith("refclust.formulas.")
        checked = entry.checked(options)
        taken = {name: checked[name] for name in checked if name not in ("samples", "seed")}
        return ROOM.get(entry.name, entry.formula)(found, **taken)
    except Undefined as missing:
        return missing.value
    except RefclustError as refusal:
        return refusal.code


def flat(given: Any) -> list[Any]:
    """The numbers of a list of lists, of a golden one or ours."""
    parts = given.get("list") or given["exact"] if isinstance(given, dict) else given
    return [x for part in parts for x in flat(part)] if isinstance(parts, list | tuple) else [parts]


def judged(case: dict[str, Any], found: Contingency) -> list[str]:
    """The keys of a case for which the formula does not give what is expected."""
    wrong = []
    for key, expected in case["expect"].items():
        given = value(key, found)
        if "undefined" in expected:
            right = isinstance(given, float) and math.isnan(given)
        elif "infinite" in expected:
            right = given == float(f"{expected['infinite']}inf")
        elif "error" in expected:
            right = given == expected["error"]
        elif key in ("table", "row_sums", "column_sums"):  # groups may stand in another order
            right = sorted(numbers(flat(expected))) == sorted(flat(given))
        else:
            right = meets(expected, given)
        if not right:
            wrong.append(key)
    return wrong


@pytest.mark.spec(
    "AMI", "ARI", "BC-F", "BC-FADJ", "BC-P", "BC-PADJ", "BC-PEXP", "BC-R", "BC-RADJ", "CHI2",
    "CLACC", "COMPL", "CRAMER", "CT-TABLE", "EMI", "ENT-C", "ENT-COND", "ENT-JOINT", "ENT-T", "FM",
    "FM-ADJ", "GK-LAMBDA", "GK-TAU", "HOM", "HUB-COS", "HUB-NORM", "HUB-STAT", "JAC", "JAC-ADJ",
    "KULC", "MATCH", "MI-CT", "MIRKIN", "NCA", "NID", "NMI-ARI", "NMI-GEO", "NMI-JOINT",
    "NMI-MAX", "NMI-MIN", "NMI-RATIO", "NMI-SG", "NPA", "PC-F", "PC-FADJ", "PC-ORD", "PC-PREC",
    "PC-REC", "PC-UNORD", "PSI", "PUR", "PUR-ADJ", "PUR-EXP", "PUR-F", "PUR-I", "PUR-INV", "RAND",
    "ROGTAN", "SOKSN1", "SOKSN2", "THEIL-U", "V-BETA", "VD", "VI", "VI-NORM", "WAL", "WAL-ADJ",
    "XM-F", "XM-FCLASS", "XM-FI", "XM-PREC", "XM-REC",
)  # fmt: skip
@pytest.mark.parametrize("case", cases("41-metrics/exhaustive-1-4.json"))
def test_all_small_tables(case: dict[str, Any]) -> None:
    assert judged(case, Contingency.of_rows(case["input"]["table"])) == []


# Refusals of labels are those of the reader (tests/metrics/test_contingency.py).
LABELED: Final = [
    case
    for case in cases("40-contingency/labels.json")
    if "table" not in case.values[0]["input"] and "error" not in case.values[0]["expect"]
]


@pytest.mark.spec("CT-TABLE", "CT-WEIGHT", "CT-NOISE")
@pytest.mark.parametrize("case", LABELED)
def test_labels(case: dict[str, Any]) -> None:
    told = case["input"]
    clusters, classes = told["labels_pred"], told["labels_true"]
    weights = [Fraction(w) for w in told["weights"]] if "weights" in told else None
    if "noise" in told:
        policy = told["noise_policy"]
        clusters, classes, weights = without_noise(  # type: ignore[assignment]
            clusters, classes, weights, noise=told["noise"], policy=policy
        )
    made = table(clusters, classes)
    found = made if weights is None else weighted_table(clusters, classes, weights)
    assert judged(case, found) == []


@pytest.mark.spec("IT-ENT", "IT-KL", "IT-MI")
@pytest.mark.parametrize("case", cases("43-information/distributions.json"))
def test_distributions(case: dict[str, Any]) -> None:
    told = case["input"]
    for key, expected in case["expect"].items():
        name, _, rest = key.partition("[base=")
        base = Fraction(rest.rstrip("]")) if rest else None
        arguments = [told[letter] for letter in ("joint", "q", "p") if letter in told]
        if key == "error":
            refused = {"joint": "joint_mutual_information", "q": "kl", "p": "entropy"}
            name = next(refused[letter] for letter in refused if letter in told)
            with pytest.raises(RefclustError) as refusal:
                getattr(information, name)(*arguments)
            assert refusal.value.code == expected
            continue
        try:
            found: Any = getattr(information, name)(*arguments, base=base)
        except Undefined as missing:
            found = missing.value
        if isinstance(found, float):
            assert (found, expected) == (math.inf, {"infinite": "+"})
        else:
            assert meets(expected, found)


@pytest.mark.spec("PAIR-OP")
@pytest.mark.parametrize(("way", "counts"), [("unordered", 14_02_07_05), ("ordered", 28_04_14_18)])
def test_any_coefficient_of_pairs(way: str, counts: int) -> None:
    found = Contingency.of_rows([[3, 1, 0], [0, 2, 2]])

    def written(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        return tp + 100 * fp + 100**2 * fn + 100**3 * tn

    assert pairs.pair_metric(written, found, pairs=way) == counts
    with pytest.raises(Undefined):
        pairs.pair_metric(lambda tp, *_: tp / 0, found, pairs=way)


# -- what is fast, held to the formulas -----------------------------------------------------


def same(fast: Callable[..., Any], formula: Callable[..., Any], found: Contingency) -> bool:
    """Whether two functions of a table give equal numbers, or both none."""
    given = []
    for one in (fast, formula):
        try:
            given.append(one(found))
        except Undefined as missing:
            given.append(missing.value)
    if any(isinstance(one, float) for one in given):
        return repr(given[0]) == repr(given[1])
    return bool(given[0] == given[1]) and float(given[0]).hex() == float(given[1]).hex()


@pytest.mark.spec("CT-TABLE", "CT-WEIGHT", "KER-CT")
@some(60)
@given(labelings(most=20), st.data())
def test_the_kernel_that_counts(pair: Pair, data: st.DataObject) -> None:
    due = table(pair.pred, pair.true)
    assert Contingency.of_cells(counted(LabelPairs(pair.pred, pair.true))).rows() == due.rows()
    assert due.rows() == [
        [
            sum((a, b) == (i, j) for a, b in zip(pair.pred, pair.true, strict=True))
            for j in sorted(set(pair.true))
        ]
        for i in sorted(set(pair.pred))
    ]
    share = st.fractions(0, 3, max_denominator=6)
    size = len(pair.true)
    weights = data.draw(st.lists(share, min_size=size, max_size=size).filter(any))
    fast = contingency(pair.true, pair.pred, weights=weights)
    weighed = weighted_table(pair.pred, pair.true, weights)
    assert (fast.clusters, fast.classes) == (weighed.clusters, weighed.classes)
    assert fast.rows() == weighed.rows()


@pytest.mark.spec("CT-NOISE")
@some(40)
@given(labelings(most=12), st.sampled_from(["ordinary", "singletons", "ignore"]))
def test_noise(pair: Pair, policy: str) -> None:
    clusters, classes, _ = without_noise(pair.pred, pair.true, None, noise=0, policy=policy)
    kept = [(a, b) for a, b in zip(pair.pred, pair.true, strict=True) if a and b]
    if policy == "ignore":
        assert list(zip(clusters, classes, strict=True)) == kept
    elif policy == "ordinary":
        assert (clusters, classes) == (pair.pred, pair.true)
    else:
        for side, before in ((clusters, pair.pred), (classes, pair.true)):
            new: list[Hashable] = [b for a, b in zip(before, side, strict=True) if a == 0]
            assert len(set(new)) == before.count(0)
            assert not set(new) & set(before)
            assert [b for a, b in zip(before, side, strict=True) if a] == [a for a in before if a]
    if kept or policy != "ignore":
        fast = contingency(pair.true, pair.pred, noise=0, noise_policy=policy)
        assert fast.rows() == table(clusters, classes).rows()


@pytest.mark.spec("PUR-ADJ", "PUR-EXP", "BC-PEXP", "BC-PADJ", "BC-RADJ", "BC-FADJ", "JAC-ADJ")
@some(30)
@given(labelings(most=8))
def test_means_by_chance(pair: Pair) -> None:
    found = table(pair.pred, pair.true)
    mean = matching.expected
    assert mean(lambda _: Real(1), found) == 1
    assert mean(matching.purity, found) == matching.expected_purity(found)
    assert matching.expected_purity(found) == matching_adjusted.expected_purity(found)
    assert mean(matching.bcubed_precision, found) == matching.expected_bcubed_precision(found)
    assert mean(matching.bcubed_f, found) == matching_adjusted.expected_bcubed_f(found)
    for fast, formula in (
        (matching_adjusted.adjusted_purity, matching.adjusted_purity),
        (matching_adjusted.adjusted_bcubed_f, matching.adjusted_bcubed_f),
        (pairs_adjusted.adjusted_jaccard, pairs.adjusted_jaccard),
        (matching.adjusted_bcubed_recall, lambda t: matching.adjusted(
            matching.bcubed_recall(t), mean(matching.bcubed_recall, t))),
    ):  # fmt: skip
        assert same(fast, formula, found)


@pytest.mark.spec("PUR-EXP", "BC-PEXP")
def test_objects_that_are_permuted_are_whole() -> None:
    halves = Contingency.of_rows([[Fraction(1, 2), 1], [1, Fraction(1, 2)]])
    for mean in (matching.expected_purity, matching.expected_bcubed_precision):
        with pytest.raises(WeightsNotInteger):
            mean(halves)
        assert mean(Contingency.of_rows([[1]])) == 1


@pytest.mark.spec("EMI", "AMI", "KER-EMI")
@some(15)
@given(labelings(most=5))
def test_expected_information(pair: Pair) -> None:
    found = table(pair.pred, pair.true)
    due = information.expected_mutual_information
    assert same(information_adjusted.expected_mutual_information, due, found)
    assert due(found) == matching.expected(information.mutual_information, found)
    for average in information.AVERAGES:

        def fast(t: Contingency, average: str = average) -> Real:
            return information_adjusted.ami(t, average=average)

        def formula(t: Contingency, average: str = average) -> Real:
            return information.ami(t, average=average)

        assert same(fast, formula, found)


@pytest.mark.spec("EMI")
def test_expected_information_of_larger_tables() -> None:
    for rows in ([[39, 6, 1], [8, 31, 1], [2, 1, 11]], [[20, 3], [4, 40]], [[7, 7, 7], [1, 30, 2]]):
        found = Contingency.of_rows(rows)
        fast = information_adjusted.expected_mutual_information(found)
        due = information.expected_mutual_information(found)
        assert float(fast).hex() == float(due).hex()
        assert fast.digits(40) == due.digits(40)


@pytest.mark.spec("MI-CT", "ENT-C", "ENT-T", "ENT-JOINT", "ENT-COND", "NUM-REAL")
@some(40)
@given(labelings(most=15))
def test_a_sum_collected_by_counts_is_the_sum_that_is_written(pair: Pair) -> None:
    found = table(pair.pred, pair.true)
    n, row, col = found.total, found.row, found.col
    cells = [tuple(map(Fraction, (c, row[i], col[j]))) for (i, j), c in found.cells()]
    terms: tuple[Callable[..., Any], ...] = (
        lambda n_ij, n_i, m_j: n_ij / n * log(n * n_ij / (n_i * m_j)),
        lambda n_ij, n_i, m_j: -2 * n_ij * log(n_i * n_i / m_j / 3),
        lambda n_ij, _, m_j: n_ij / 7 * log(m_j / n_ij * Fraction(5, 2)),
    )
    for term in terms:
        assert information.over_cells(found, term) == total(term(*cell) for cell in cells)
    plain = total(-Fraction(a, n) * log(Fraction(a, n)) for a in row)
    assert information.entropy_clusters(found) == plain
    assert information.entropy_classes(found) == information.entropy_clusters(found.transposed())


@pytest.mark.spec("NUM-REAL")
@pytest.mark.parametrize(
    "term",
    [
        lambda a, b: b * log(a),
        lambda a, b: a * b * log(a),
        lambda a, b: log(a / b),
        lambda a, _: a,
    ],
)
def test_terms_of_another_form_are_refused(term: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match="not a multiple of its first argument"):
        total_of_logs(term, lambda: [(1, 1)], [lambda: {1: 1}, lambda: {1: 1}], 1)
