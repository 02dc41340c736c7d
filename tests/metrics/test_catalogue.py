"""The catalogue: names, aliases, options, and agreement with what the chapters say."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from refclust import metrics
from refclust.errors import BadOption, UnknownMetric, UnknownOption
from refclust.formulas import declared
from refclust.formulas.declared import metric
from refclust.kernels.registry import KERNELS
from refclust.metrics import catalogue, score
from refclust.metrics.catalogue import Entry, find, format_key, parse_key
from refclust.metrics.contingency import Contingency
from refclust.numbers.real import Real, real
from tests.metrics.keys import EXTERNAL as ENTRIES
from tests.metrics.keys import KEYS

SPEC = Path(__file__).parents[2] / "spec"


def clause_texts() -> dict[str, str]:
    """The text of every clause of the chapters on metrics, by its ID."""
    chapters = "".join(
        path.read_text(encoding="utf-8") for path in sorted(SPEC.glob("4[0-4]-*.md"))
    )
    parts = re.split(r"^## ([A-Z0-9-]+) ", chapters, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


CLAUSES = clause_texts()


def end(text: str) -> float:
    """One end of a range: a number, or infinity where it depends on the table."""
    text = text.strip().replace("−", "-")
    if re.search(r"[a-zA-Z]", text):
        return 0.0 if text.startswith("1/") else float("inf")
    return float(Fraction(text))


# Ranges that are too long to be read by a pattern.
RANGES = {
    "joint_entropy": (0, math.inf),
    "matching_accuracy": (0, 1),
    "nca": (-math.inf, 1),
    "standardized_mutual_information": (-math.inf, math.inf),
}


def test_ranges_of_long_clauses() -> None:
    for name, limits in RANGES.items():
        assert (ENTRIES[name].low, ENTRIES[name].high) == limits


@pytest.mark.parametrize("name", ENTRIES)
def test_entries_say_what_their_clauses_say(name: str) -> None:
    entry = ENTRIES[name]
    assert entry.clauses
    for clause in entry.clauses:
        told = CLAUSES[clause]
        better = re.search(r"Better: (higher|lower)", told)
        assert entry.better == (better[1] if better else "neither")
        symmetric = re.search(r"Symmetric: (yes|no|for β = 1|`both` only)", told)
        assert entry.symmetric == (symmetric is not None and symmetric[1] in ("yes", "for β = 1"))
        limits = re.search(r"Range: (?:at most (\d)|[\[(]([^,]+), ([^\])]+))", told)
        if limits is not None and name not in RANGES:
            low = float("-inf") if limits[1] else end(limits[2])
            assert (entry.low, entry.high) == (low, end(limits[1] or limits[3]))
        assert f"`{name}" in told or name in ("adjusted_bcubed_f",)


def test_the_package_offers_every_entry_under_its_name() -> None:
    offered = {
        name for name in metrics.__all__ if isinstance(getattr(metrics, name), metrics.Metric)
    }
    assert offered == set(ENTRIES)
    for name in offered:
        found = getattr(metrics, name)
        assert found.entry is ENTRIES[name]
        assert repr(found) == f"<refclust metric {name}>"
        assert found.entry.formula.__name__ == name
        assert found.entry.title
    assert {"Contingency", "Metric", "Score", "score"} <= set(metrics.__all__)


def test_families_costs_and_kernels() -> None:
    assert {entry.family for entry in ENTRIES.values()} == {
        "matching",
        "pairs",
        "information",
        "association",
    }
    heavy = {name for name, entry in ENTRIES.items() if entry.cost == "heavy"}
    assert heavy == {
        *("adjusted_purity", "adjusted_bcubed_f", "adjusted_jaccard"),
        "standardized_mutual_information",
    }
    table = {name for name, entry in ENTRIES.items() if entry.cost == "table"}
    matched = {"matching_accuracy", "nca", "npa", "psi", "simplified_psi", "edit_distance"}
    assert table == {*matched, "expected_mutual_information", "ami"}
    for entry in ENTRIES.values():
        assert set(entry.kernels.values()) <= set(KERNELS)
        assert not set(entry.kernels) & set(entry.options)
    assert dict(ENTRIES["ami"].kernels) == {"expected_mi": "information.expected_mi"}
    assert matched == {name for name, entry in ENTRIES.items() if entry.matching is not None}


@pytest.mark.spec("CT-WEIGHT")
def test_which_metrics_need_whole_counts() -> None:
    whole = {key for key in KEYS if needs(key)}
    assert whole == {
        *("adjusted_purity", "adjusted_bcubed_precision", "adjusted_bcubed_recall"),
        *("adjusted_bcubed_f", "adjusted_rand", "adjusted_fowlkes_mallows", "adjusted_pair_f"),
        *("adjusted_wallace", "adjusted_wallace[given=classes]", "adjusted_jaccard"),
        *("rand", "jaccard", "pair_precision", "pair_recall", "pair_f", "fowlkes_mallows"),
        *("hubert_cosine", "hubert_raw", "hubert_normalized", "wallace", "wallace[given=classes]"),
        *("kulczynski", "rogers_tanimoto", "sokal_sneath_1", "sokal_sneath_2"),
        *("expected_mutual_information", "ami", "ami[average=geometric]", "ami[average=min]"),
        *("ami[average=max]", "ami[average=joint]", "standardized_mutual_information"),
    }


def needs(key: str) -> bool:
    entry, options = parse_key(key)
    return entry.needs_integers(entry.checked(options))


@pytest.mark.spec("CONV-KEY")
@pytest.mark.parametrize("key", KEYS)
def test_keys_are_read_and_written(key: str) -> None:
    entry, options = parse_key(key)
    assert format_key(entry, entry.checked(options)) == key
    assert format_key(entry, options) == key


@pytest.mark.spec("CONV-KEY")
def test_keys_with_numbers_and_spaces() -> None:
    entry, options = parse_key(" pair_f [ pairs = ordered , beta = 1/2 ] ")
    assert (entry.name, options) == ("pair_f", {"pairs": "ordered", "beta": "1/2"})
    assert format_key(entry, entry.checked(options)) == "pair_f[beta=1/2,pairs=ordered]"
    assert format_key(entry, entry.checked({"beta": 0.5})) == "pair_f[beta=1/2]"
    assert format_key(entry, entry.checked({"beta": 1.0})) == "pair_f"
    assert parse_key("nmi[]")[1] == {}
    assert parse_key("nmi[average=min,]")[1] == {"average": "min"}
    entropy, _ = parse_key("mi")
    assert format_key(entropy, entropy.checked({"base": 2})) == "mutual_information[base=2]"
    assert format_key(entropy, {"base": None, "other": 1}) == "mutual_information"


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("ARI", "adjusted_rand"),
        ("adjusted-rand-index", "adjusted_rand"),
        (" nmi ", "nmi"),
        ("Normalized_Mutual_Information", "nmi"),
        ("emi", "expected_mutual_information"),
        ("vi", "variation_of_information"),
        ("acc", "matching_accuracy"),
        ("split-join", "van_dongen"),
        ("russel_rao", "hubert_raw"),
        ("fm", "fowlkes_mallows"),
        ("pair_mcc", "hubert_normalized"),
    ],
)
def test_aliases(alias: str, name: str) -> None:
    assert find(alias).name == name
    assert parse_key(alias)[0] is ENTRIES[name]


def test_every_alias_leads_home() -> None:
    for entry in ENTRIES.values():
        for alias in entry.aliases:
            assert find(alias) is entry


@pytest.mark.spec("CONV-KEY")
def test_unknown_names_come_with_a_hint() -> None:
    with pytest.raises(UnknownMetric, match=r"no metric is called 'nmii'; did you mean .*nmi.*[?]"):
        find("nmii")
    with pytest.raises(UnknownMetric, match="did you mean jaccard"):
        score("jacard", [1], [1])
    with pytest.raises(UnknownMetric) as caught:
        find("qqqqq")
    assert str(caught.value) == "no metric is called 'qqqqq'"
    assert caught.value.code == "unknown-metric"
    for key in ("", "nmi[", "nmi]x", "a b", "nmi[average=min]x"):
        with pytest.raises(UnknownMetric, match=re.escape(repr(key)) + r" is not a metric; write"):
            parse_key(key)


@pytest.mark.spec("CONV-KEY")
def test_unknown_options() -> None:
    with pytest.raises(UnknownOption, match="nmi has no option 'avg'; it has: average") as caught:
        score("nmi", [1], [1], avg="min")
    assert caught.value.code == "unknown-option"
    with pytest.raises(UnknownOption, match=r"purity has no option 'base'; it has: none$"):
        score("purity[base=2]", [1], [1])
    with pytest.raises(UnknownOption, match="it has: given, pairs"):
        score("wallace[side=left]", [1], [1])
    with pytest.raises(UnknownOption, match="'expected_mi'"):
        score("ami", [1], [1], expected_mi=None)


@pytest.mark.spec("CONV-KEY")
@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("nmi[average=median]", "nmi: average='median'; allowed: 'geometric', 'arithmetic'"),
        ("rand[pairs=none]", "rand: pairs='none'; allowed: 'unordered', 'ordered'"),
        ("wallace[given=Clusters]", "allowed: 'clusters', 'classes'"),
        ("pair_f[beta=x]", "pair_f: beta='x' is not a finite number"),
        ("pair_f[beta=1/0]", "pair_f: beta='1/0' is not a finite number"),
        ("pair_f[beta=-1]", "pair_f: beta=-1 must not be negative"),
        ("v_measure[beta=-1/2]", "v_measure: beta=-1/2 must not be negative"),
        ("mi[base=1]", "base=1: the base of a logarithm must be above 1"),
        ("vi[base=1/2]", "base=1/2: the base of a logarithm must be above 1"),
        ("emi[base=0]", "base=0: the base"),
        ("nmi[average]", "'nmi[average]': 'average' is not of the form option=value"),
    ],
)
def test_bad_options(key: str, words: str) -> None:
    with pytest.raises(BadOption) as caught:
        score(key, [[2, 1], [0, 2]])
    assert words in str(caught.value)
    assert caught.value.code == "bad-option"


@pytest.mark.parametrize("value", [None, True, "nan", float("inf"), [1], 1j, ""])
def test_numbers_among_the_options_are_finite_and_exact(value: Any) -> None:
    with pytest.raises(BadOption, match="is not a finite number"):
        metrics.v_measure([[2, 1], [0, 2]], beta=value)
    if value is not None:
        with pytest.raises(BadOption, match="is not a finite number"):
            metrics.joint_entropy([[2, 1], [0, 2]], base=value)


def test_options_that_may_be_left_open() -> None:
    assert ENTRIES["joint_entropy"].checked({"base": None}) == {"base": None}
    assert ENTRIES["joint_entropy"].checked({"base": "2"}) == {"base": Fraction(2)}
    assert ENTRIES["pair_f"].checked({}) == {"beta": 1, "pairs": "unordered"}
    assert ENTRIES["pair_f"].checked({"beta": 0.1})["beta"] == Fraction(0.1)


def test_cited_clauses_follow_the_options() -> None:
    nmi = ENTRIES["nmi"]
    for average, clause in (
        ("geometric", "NMI-GEO"),
        ("arithmetic", "NMI-ARI"),
        ("min", "NMI-MIN"),
        ("max", "NMI-MAX"),
        ("joint", "NMI-JOINT"),
    ):
        assert nmi.cited({"average": average}) == (clause,)
    assert ENTRIES["matching_accuracy"].cited({}) == ("MATCH", "CLACC")


@pytest.fixture
def spare_entry(monkeypatch: pytest.MonkeyPatch) -> dict[str, Entry]:
    """A catalogue of its own, so that a test may declare metrics."""
    entries: dict[str, Entry] = {}
    monkeypatch.setattr(declared, "_ENTRIES", entries)
    aliases: dict[str, str] = {}
    monkeypatch.setattr(declared, "_ALIASES", aliases)
    monkeypatch.setattr(catalogue, "ENTRIES", entries)
    monkeypatch.setattr(catalogue, "ALIASES", aliases)
    return entries


def test_declaring_a_metric_returns_the_formula_unchanged(spare_entry: dict[str, Entry]) -> None:
    def share(_: Contingency, *, size: int = 3, side: str = "a", run: Any = None) -> Real:
        """Nothing much."""
        return real(size + len(side) + bool(run))

    found = metric(
        "Share",
        range=(0, 1),
        better="neither",
        symmetric=False,
        aliases=("part",),
        choices={"side": ("a", "b")},
        kernels={"run": "some.kernel"},
    )(share)
    assert found is share
    entry = spare_entry["share"]
    assert (entry.clauses, entry.integer, entry.cost, entry.family) == ((), False, "linear", "test")
    assert dict(entry.options) == {"size": (), "side": ("a", "b")}
    assert dict(entry.defaults) == {"size": 3, "side": "a"}
    assert entry.matching is None
    assert find("part") is entry
    with pytest.raises(ValueError, match="two metrics are called 'share'"):
        metric("Again", range=(0, 1), better="neither", symmetric=False)(share)
    share.__name__ = "other"
    with pytest.raises(ValueError, match="two metrics are called 'part'"):
        metric("Again", range=(0, 1), better="neither", symmetric=False, aliases=("part",))(share)
