"""Profiles against what the libraries really printed (chapter 00, CONV-PROFILE).

The files under golden/peers hold outputs of the libraries on 221 pairs of labelings: none, all
tables up to five objects, degenerate ones and random ones up to sixty. Where a profile follows a
convention the printed number must be met exactly; elsewhere within what rounding explains.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from refclust import metrics
from refclust.errors import BadOption, ProfileLacksMetric, UnknownOption, UnknownProfile
from refclust.formulas.information import mean_entropy
from refclust.metrics import Contingency, Score, catalogue, profiles, score
from refclust.metrics.adjusted.information import ami_is_undefined, expected_mutual_information
from refclust.metrics.contingency import contingency
from refclust.metrics.profiles import PROFILES, external
from refclust.metrics.score import evaluate
from tests.metrics.keys import EXTERNAL, bits
from tests.metrics.strategies import is_one, is_single

PEERS = Path(__file__).parents[1] / "golden" / "peers"
UNIT = {"binary64": 2.0**-53, "binary32": 2.0**-24}


@cache
def expectation_left(table_key: tuple[tuple[int, ...], ...], average: str) -> float:
    """The mean entropy less the expected mutual information."""
    table = Contingency.of_rows(table_key)
    return float(mean_entropy(table, average) - expected_mutual_information(table))


@cache
def observed(library: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PEERS / f"{library}.json").read_text(encoding="utf-8"))
    return found


def keys(library: str) -> list[str]:
    """The keys observed of a library that are metrics of ours."""
    return [key for key in observed(library)["functions"] if not key.startswith("x:")]


def asked(key: str, table: Contingency, library: str | None) -> Score:
    """Ask for exactly this key: every option is named, so that no default of a library steps in."""
    entry, options = catalogue.parse_key(key)
    return evaluate(entry, table, entry.checked(options), profile=library)


def tolerance(library: str, key: str, table: Contingency, value: float) -> float:
    """How far rounding may carry a library from the exact value.

    ARI, Rand and the like: counts are exact, and at most 16 operations on them round once each.
    Entropies and ratios of them: sums of at most 64 terms below log 64, hence 64 units of 4.2.
    Expected MI: its terms are exponentials of sums of nine log-factorials below ln 60! < 2⁸, each
    off by a unit of 2⁸; the terms add up to less than ln 60 < 4.2. Adjusted MI divides such an
    error, in numerator and denominator, by the mean entropy less the expectation.
    """
    precise = {"torchmetrics": "binary32", "clustercrit": "binary32"}
    unit = UNIT[precise.get(library, "binary64")]
    name = key.partition("[")[0]
    expectation = 9 * 2**8 * 4.2 * unit
    if name == "expected_mutual_information":
        return expectation
    if name == "ami":
        average = catalogue.parse_key(key)[1].get("average", "arithmetic")
        rows = tuple(tuple(int(cell) for cell in row) for row in table.rows())
        left = expectation_left(rows, average)
        return expectation * (1 + abs(value)) / left
    if catalogue.find(name).family in ("information", "association"):
        return 64 * 4.2 * unit
    return 16 * unit


def accident(library: str, key: str, table: Contingency) -> bool:
    """The cases in which a library prints a ratio of rounding errors, which nobody imitates."""
    if not key.startswith("ami"):
        return False
    average = catalogue.parse_key(key)[1].get("average", "arithmetic")
    one, single = ([f(side) for side in (table.row, table.col)] for f in (is_one, is_single))
    if library == "sklearn":
        return average == "min" and sum(single) == 1 and not any(one)
    undefined = ami_is_undefined(table, average)
    return undefined if library == "genieclust" else undefined and any(single) and not any(one)


LIBRARIES = external.RULES  # those that compare two labelings, with their rules for it
CALLS = [(library, key) for library in LIBRARIES for key in keys(library)]


@pytest.mark.spec("CONV-PROFILE")
@pytest.mark.parametrize(("library", "key"), CALLS)
def test_a_profile_prints_what_the_library_prints(library: str, key: str) -> None:
    skipped = 0
    for case in observed(library)["cases"]:
        printed = case["values"][key]
        table = contingency(case["labels_true"], case["labels_pred"])
        if table.row and accident(library, key, table):
            skipped += 1
            continue
        found = asked(key, table, library)
        assert found.origin.profile == library
        if isinstance(printed, dict):
            # The library raised: no number, and the reason names the exception where it is a rule.
            assert math.isnan(found), case
            assert found.undefined is not None
            assert not table.row or f"raises {printed['error']} here" in found.undefined
        elif printed == "nan":
            assert math.isnan(found), case
            assert found.undefined is not None
            assert "NaN" in found.undefined
        else:
            plain = asked(key, table, None) if table.row else None
            if plain is None or plain.exact is None or bits(plain) != bits(found):
                assert found == printed, (case, found, printed)
                assert found.exact == printed
            else:
                assert not math.isnan(found), case
                error = tolerance(library, key, table, found)
                assert abs(found - printed) <= error, (case, found, printed)
            assert found.certified
            assert found.undefined is None
    assert skipped <= 37


@pytest.mark.spec("CONV-PROFILE")
def test_every_rule_was_observed() -> None:
    """No profile offers a metric or an option that the files do not hold, betas apart."""
    for profile in map(PROFILES.__getitem__, LIBRARIES):
        seen: dict[str, list[dict[str, Any]]] = {}
        for key in keys(profile.name):
            entry, options = catalogue.parse_key(key)
            seen.setdefault(entry.name, []).append(entry.checked(options))
        assert set(LIBRARIES[profile.name]) == set(seen)
        assert observed(profile.name)["version"] == profile.version
        for name, rule in LIBRARIES[profile.name].items():
            for option, offered in rule.offers.items():
                values = {str(one[option]) for one in seen[name]}
                assert not offered or {str(value) for value in offered} == values
            entry = catalogue.find(name)
            for option in rule.defaults:
                assert option in entry.options


@pytest.mark.parametrize(("library", "key"), CALLS)
def test_rules_quote_the_call_that_was_made(library: str, key: str) -> None:
    made = observed(library)["functions"][key].rpartition("::")[2].replace("labels_", "")
    told = PROFILES[library].rules[key.partition("[")[0]].call
    if key in ("expected_mutual_information", "theils_u"):
        # One takes a table made on the spot; the other is asked the other way round by default.
        assert made.partition("(")[0] == told.partition("(")[0]
    else:
        assert made.replace('"', "'").startswith(re.sub(r"(, \w+=…)?\)$", "", told))


@pytest.mark.spec("CONV-PROFILE")
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", sorted(EXTERNAL))
def test_every_profile_with_every_metric_and_option(library: str, name: str) -> None:
    entry, profile = EXTERNAL[name], PROFILES[library]
    table = Contingency.of_rows([[3, 1, 0], [1, 2, 0], [0, 0, 2]])
    if name not in profile.rules:
        with pytest.raises(ProfileLacksMetric) as caught:
            evaluate(entry, table, {}, profile=library)
        assert caught.value.code == "profile-lacks-metric"
        message = str(caught.value)
        assert message.startswith(f"{profile.library} {profile.version} has no {name}; it has: ")
        assert message.endswith(f"; it has: {', '.join(sorted(profile.rules))}")
        return
    found = evaluate(entry, table, {}, profile=library)
    assert found.certified
    assert found.exact is not None
    rule = profile.rules[name]
    for option, allowed in entry.options.items():
        offered = rule.offers.get(option)
        for value in allowed:
            default = rule.defaults.get(option, entry.defaults[option])
            if value in (offered or (default,)):
                changed = evaluate(entry, table, {option: value}, profile=library)
                plain = evaluate(entry, table, {option: value})
                assert changed.exact == plain.exact
            else:
                with pytest.raises(ProfileLacksMetric, match=f"{option} can only be") as caught:
                    evaluate(entry, table, {option: value}, profile=library)
                assert f"{option}={value}" in str(caught.value)
    with pytest.raises(UnknownOption):
        evaluate(entry, table, {"colour": 1}, profile=library)


@pytest.mark.spec("CONV-PROFILE")
def test_defaults_of_the_libraries() -> None:
    rows = [[3, 1, 0], [1, 2, 1]]
    for library in ("sklearn", "genieclust", "torchmetrics"):
        found = metrics.nmi(rows, profile=library)
        assert found.exact == metrics.nmi(rows, average="arithmetic").exact
        assert found.exact != metrics.nmi(rows).exact
        assert found.name == "nmi[average=arithmetic]"
        assert found.spec == ("NMI-ARI",)
        assert metrics.ami(rows, profile=library).exact == metrics.ami(rows).exact
    theil = metrics.theils_u(rows, profile="torchmetrics")
    assert theil.exact == metrics.theils_u(rows, predict="clusters").exact
    assert theil.exact != metrics.theils_u(rows).exact
    assert theil.name == "theils_u[predict=clusters]"
    for library in ("sklearn", "torchmetrics"):
        for beta in (0, "1/3", 5):
            v = metrics.v_measure(rows, beta=beta, profile=library)
            assert v.exact == metrics.v_measure(rows, beta=beta).exact
    with pytest.raises(ProfileLacksMetric, match=r"average=geometric.*can only be arithmetic"):
        metrics.nmi(rows, average="geometric", profile="genieclust")
    with pytest.raises(ProfileLacksMetric, match="joint"):
        metrics.ami(rows, average="joint", profile="sklearn")
    with pytest.raises(ProfileLacksMetric, match="base can only be None"):
        metrics.mutual_information(rows, base=2, profile="sklearn")
    with pytest.raises(ProfileLacksMetric, match="pairs can only be unordered"):
        metrics.rand(rows, pairs="ordered", profile="clustercrit")
    with pytest.raises(ProfileLacksMetric, match="beta can only be 1"):
        metrics.pair_f(rows, beta=2, profile="clustercrit")
    with pytest.raises(BadOption):
        metrics.nmi(rows, average="median", profile="sklearn")


@pytest.mark.spec("CONV-PROFILE")
@pytest.mark.parametrize("name", ["sklearn", "SkLearn", "sk-learn", "sk_learn"])
def test_names_of_profiles(name: str) -> None:
    assert profiles.find(name) is PROFILES["sklearn"]
    assert score("rand", [1], [1], profile=name) == 1.0


@pytest.mark.spec("CONV-PROFILE")
def test_profiles_are_pinned_to_versions() -> None:
    pinned = {name: (one.library, one.version) for name, one in PROFILES.items()}
    assert pinned == {
        "sklearn": ("scikit-learn", "1.9.1"),
        "genieclust": ("genieclust", "1.3.0"),
        "torchmetrics": ("torchmetrics", "1.9.0"),
        "clustercrit": ("clusterCrit", "1.3.0"),
        "mclust": ("mclust", "6.0.0"),
        "permetrics": ("permetrics", "2.1.0"),
        "fpc": ("fpc", "2.2-10"),
        "cluster": ("cluster", "2.1.4"),
        "pycm": ("pycm", "4.6"),
    }


@pytest.mark.spec("CONV-PROFILE")
def test_unknown_profiles() -> None:
    with pytest.raises(UnknownProfile, match="'sklaern'; there are: sklearn, genie") as caught:
        score("rand", [1], [1], profile="sklaern")
    assert caught.value.code == "unknown-profile"
    with pytest.raises(UnknownProfile):
        profiles.find("")


EMPTY: dict[str, dict[str, float]] = {
    "sklearn": {
        **dict.fromkeys(
            (
                *("rand", "adjusted_rand", "entropy_classes", "entropy_clusters", "homogeneity"),
                *("completeness", "v_measure", "nmi", "ami"),
            ),
            1.0,
        ),
        "fowlkes_mallows": 0.0,
    },
    "torchmetrics": {
        **dict.fromkeys(("rand", "adjusted_rand", "completeness"), 1.0),
        **dict.fromkeys(
            (
                "fowlkes_mallows",
                "mutual_information",
                "nmi",
                "homogeneity",
                "v_measure",
                "theils_u",
            ),
            0.0,
        ),
    },
}


@pytest.mark.spec("CONV-PROFILE")
@pytest.mark.parametrize("library", LIBRARIES)
def test_no_objects(library: str) -> None:
    """Without a profile this is an error; with one it is what the library answers."""
    told = EMPTY.get(library, {})
    for name in LIBRARIES[library]:
        found = score(name, [], [], profile=library)
        if name in told:
            assert found == told[name]
            assert found.undefined is None
        else:
            assert math.isnan(found)
            assert found.undefined is not None
            assert found.undefined.startswith("there is no object; ")
            assert found.undefined.endswith(" refuses or prints NaN")


S12, HALVES12 = list(range(12)), [0] * 6 + [1] * 6


@pytest.mark.spec("CONV-PROFILE", "V-BETA", "AMI")
def test_decisions_on_what_to_imitate() -> None:
    """Beyond the observed cases: larger tables, other betas."""
    independent = [[2, 4, 6], [1, 2, 3]]
    for beta in (0, "1/7", 1, 3):
        # Written into the library: h + c = 0 gives 1 (D04). It is the exact 0 elsewhere.
        assert metrics.v_measure(independent, beta=beta, profile="torchmetrics") == 1.0
        assert metrics.v_measure(independent, beta=beta, profile="sklearn") == 0.0
        assert metrics.v_measure([[5]], beta=beta, profile="torchmetrics") == 1.0
        assert metrics.v_measure([[5]], beta=beta, profile="sklearn") == 1.0
    assert metrics.v_measure([[4, 3]], profile="torchmetrics") == 0.0
    assert metrics.v_measure([[4], [3]], profile="torchmetrics") == 0.0
    assert math.isnan(metrics.v_measure([[4], [3]], beta=0, profile="torchmetrics"))
    by_rule = metrics.v_measure([[5]], profile="sklearn")
    assert (by_rule.certified, by_rule.bound) == (True, 0.0)
    assert by_rule.fraction == 1
    raised = metrics.v_measure([[4], [3]], beta=0, profile="sklearn")
    assert (raised.certified, raised.bound, raised.exact) == (True, 0.0, None)
    assert raised.undefined == "scikit-learn 1.9.1 raises ZeroDivisionError here"
    assert metrics.v_measure([[4, 3]], beta=0, profile="sklearn") == 0.0
    for average in ("arithmetic", "geometric", "min", "max"):
        for n in (2, 3, 17, 70):
            single = (range(n), range(n))
            assert metrics.ami(*single, average=average, profile="torchmetrics") == 1.0
            assert metrics.ami(*single, average=average, profile="sklearn") == 1.0
        assert metrics.ami([[9]], average=average, profile="torchmetrics") == 0.0
        assert metrics.ami([[9]], average=average, profile="sklearn") == 1.0
        assert metrics.ami([1], [1], average=average, profile="torchmetrics") == 0.0
        assert metrics.ami([1], [1], average=average, profile="sklearn") == 1.0
        assert metrics.ami([[9, 1]], average=average, profile="sklearn") == 0.0
        assert metrics.ami([[9], [1]], average=average, profile="torchmetrics") == 0.0
    # D01: the library prints 1.25; its rule, with exact arithmetic, is 1.
    assert metrics.ami(HALVES12, S12, average="min", profile="sklearn") == 1.0
    assert metrics.ami(HALVES12, S12, average="min", profile="torchmetrics") == 0.0
    assert metrics.ami(HALVES12, S12, profile="sklearn") == 0.0
    assert math.isnan(metrics.ami(S12, S12, profile="genieclust"))


@pytest.mark.spec("CONV-PROFILE")
def test_other_conventions_beyond_the_observed_cases() -> None:
    single = (range(70), range(70))
    for library, rand, ari, fm in (
        ("sklearn", 1.0, 1.0, 0.0),
        ("torchmetrics", 1.0, 1.0, 0.0),
        ("genieclust", 1.0, math.nan, math.nan),
    ):
        assert metrics.rand(*single, profile=library) == rand
        assert metrics.adjusted_rand(*single, profile=library) == pytest.approx(
            ari, nan_ok=True, abs=0
        )
        assert metrics.fowlkes_mallows(*single, profile=library) == pytest.approx(
            fm, nan_ok=True, abs=0
        )
    assert math.isnan(metrics.adjusted_rand(*single, profile="mclust"))
    assert metrics.adjusted_rand([[80]], profile="mclust") == 1.0
    for average in ("arithmetic", "geometric", "min", "max"):
        assert metrics.nmi([[80]], average=average, profile="sklearn") == 1.0
        assert metrics.nmi([[80]], average=average, profile="torchmetrics") == 0.0
        assert metrics.nmi([[80, 7]], average=average, profile="sklearn") == 0.0
        assert metrics.nmi([[80, 7]], average=average, profile="torchmetrics") == 0.0
        assert metrics.nmi([[8, 4], [4, 2]], average=average, profile="sklearn") == 0.0
    for key in ("nca", "npa"):
        refused = score(key, [[30, 1, 2], [1, 30, 2]], profile="genieclust")
        assert math.isnan(refused)
        assert refused.undefined == "genieclust 1.3.0 raises RuntimeError here"
        assert (
            score(key, [[30, 1], [2, 20]], profile="genieclust").exact
            == score(key, [[30, 1], [2, 20]]).exact
        )
        assert score(key, [[9]], profile="genieclust").undefined == (
            f"genieclust 1.3.0 prints NaN here ({score(key, [[9]]).undefined})"
        )
    assert score("psi", [[9]], profile="genieclust").undefined == "genieclust 1.3.0 prints NaN here"
    assert score("psi", [[9, 1]], profile="genieclust").exact == score("psi", [[9, 1]]).exact
    assert math.isnan(score("cramers_v", [[9, 1]], profile="torchmetrics"))
    assert score("theils_u", [[9, 1]], profile="torchmetrics") == 0.0
    for name in LIBRARIES["clustercrit"]:
        assert math.isnan(score(name, [1], [1], profile="clustercrit"))


class TestQuirks:
    """Accidents that an explanation quotes."""

    def quirk(self, profile: str) -> Callable[..., bool]:
        found = [one for one in external.QUIRKS if one.profile == profile]
        assert len(found) == 1
        assert found[0].metric in PROFILES[profile].rules
        assert found[0].text
        return found[0].when

    def test_adjusted_information_in_sklearn(self) -> None:
        when = self.quirk("sklearn")
        table = contingency(HALVES12, S12)
        assert when(table, {"average": "min"})
        assert when(table.transposed(), {"average": "min"})
        assert not when(table, {"average": "max"})
        assert not when(contingency(S12, S12), {"average": "min"})
        assert not when(contingency([0] * 12, S12), {"average": "min"})
        assert not when(contingency(HALVES12, HALVES12), {"average": "min"})

    @pytest.mark.parametrize(("profile", "n"), [("torchmetrics", 65_536), ("clustercrit", 400)])
    def test_overflows(self, profile: str, n: int) -> None:
        when = self.quirk(profile)
        assert when(Contingency.of_rows([[n]]), {})
        assert not when(Contingency.of_rows([[n - 1]]), {})
