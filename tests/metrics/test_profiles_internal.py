"""Profiles of internal metrics against what the libraries printed (CONV-PROFILE, chapter 45).

``golden/peers/internal.json`` holds what scikit-learn, genieclust and permetrics print about fifty
clusterings; what clusterCrit, fpc and torchmetrics print is from the table of the survey. Where a
profile follows a convention the number must be met exactly, elsewhere within rounding.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import pytest

from refclust import metrics
from refclust.errors import ProfileLacksMetric
from refclust.metrics.profiles import PROFILES, internal

OBSERVED: Final[Any] = json.loads(
    (Path(__file__).parents[1] / "golden" / "peers" / "internal.json").read_text(encoding="utf-8")
)
CASES: Final[dict[str, Any]] = {case["id"]: case for case in OBSERVED["cases"]}
CALLS = [(library, key) for library, values in CASES["gen"]["values"].items() for key in values]


def score(name: str, case: str, library: str | None = None, **options: Any) -> metrics.Score:
    rows, labels = CASES[case]["rows"], CASES[case]["labels"]
    found: metrics.Score = getattr(metrics, name)(rows, labels, profile=library, **options)
    return found


@pytest.mark.spec("CONV-PROFILE")
@pytest.mark.parametrize(("library", "key"), CALLS)
def test_a_profile_prints_what_the_library_prints(library: str, key: str) -> None:
    for case in CASES:
        printed = CASES[case]["values"][library][key]
        found = score(key, case, library)
        if isinstance(printed, dict):
            assert math.isnan(found), case
            assert f"raises {printed['error']} here" in str(found.undefined)
            continue
        printed = float(printed)
        if accident(library, key, case):
            continue
        if math.isnan(printed):
            assert math.isnan(found), case
        elif math.isinf(printed) or printed in (1e10, -1e10):
            assert found == printed, case
        else:
            assert abs(found - printed) <= 1e-12 * max(1, abs(printed)), (case, found, printed)


def accident(library: str, key: str, case: str) -> bool:
    """Where a determinant that is zero comes out as rounding noise."""
    flat = not metrics.k_squared_det(CASES[case]["rows"], CASES[case]["labels"])
    return library == "permetrics" and key.endswith("det_ratio") and flat


@pytest.mark.spec("CONV-PROFILE")
def test_every_rule_of_these_libraries_was_observed() -> None:
    for library, version in OBSERVED["versions"].items():
        assert PROFILES[library].version == version
        assert set(internal.RULES[library]) == set(CASES["gen"]["values"][library])
    for rules in internal.RULES.values():
        for name, rule in rules.items():
            entry = getattr(metrics, name).entry
            assert entry.evidence in ("rows", "proximities")
            entry.checked(rule.defaults)


NAN, INF, ERR = math.nan, math.inf, "raises"
COLUMNS = ("gen", "sing", "k=1", "k=n", "same", "coin", "zero")
# The table of the survey: index, library, what it printed, in the order of the columns.
SURVEY: list[tuple[str, str | None, tuple[Any, ...]]] = [
    ("davies_bouldin", None, (0.0925, 0.0771, NAN, 0, NAN, INF, 0)),
    ("davies_bouldin", "sklearn", (0.0925, 0.0771, ERR, ERR, 0, 0, 0)),
    ("davies_bouldin", "torchmetrics", (0.0925, 0.0771, ERR, ERR, 0, 0, 0)),
    ("davies_bouldin", "genieclust", (0.0925, INF, ERR, INF, 0, INF, 0)),
    ("davies_bouldin", "permetrics", (0.0925, 0.0771, 1e10, 0, 1e10, 1e10, 0)),
    ("davies_bouldin", "clustercrit", (0.0925, 0.0771, 0, 0, 0, INF, 0)),
    ("calinski_harabasz", None, (450, "2671/7", NAN, NAN, NAN, 0, INF)),
    ("calinski_harabasz", "sklearn", (450, "2671/7", ERR, ERR, 1, 0, 1)),
    ("calinski_harabasz", "torchmetrics", (450, "2671/7", ERR, ERR, 1, 0, 1)),
    ("calinski_harabasz", "genieclust", (450, "2671/7", ERR, NAN, NAN, 0, INF)),
    ("calinski_harabasz", "permetrics", (450, "2671/7", 1, 1, 1, 0, 1)),
    ("calinski_harabasz", "clustercrit", (450, "2671/7", NAN, NAN, NAN, 0, INF)),
    ("calinski_harabasz", "fpc", (450, "2671/7", ERR, ERR, NAN, 0, INF)),
    ("ball_hall", None, ("4/9", "8/27", "283/8", 0, 0, 1, 0)),
    ("ball_hall", "clustercrit", ("4/9", "8/27", "283/8", 0, 0, 1, 0)),
    ("ball_hall", "genieclust", ("8/9", "8/9", ERR, 0, 0, 2, 0)),
    ("ball_hall", "permetrics", ("4/3", "8/9", "283/2", 0, 0, 2, 0)),
    ("xie_beni", None, ("1/450", "1/525", NAN, 0, NAN, INF, 0)),
    ("xie_beni", "clustercrit", ("4/1629", "8/3801", 0, 0, NAN, "1/2", 0)),
    ("xie_beni", "permetrics", ("1/450", "1/525", 1e10, 0, 1e10, 1e10, 0)),
    ("k_squared_det", None, ("16/3", 12, "281/2", 0, 0, 16, 0)),
    ("k_squared_det", "clustercrit", ("16/3", 12, "281/2", 0, 0, 16, 0)),
    ("k_squared_det", "permetrics", (4, 9, 0, 0, 0, 4, 0)),
]


@pytest.mark.spec("CONV-PROFILE", "INT-DB", "INT-CH", "INT-BALL", "INT-XB", "INT-KDET")
@pytest.mark.parametrize(("name", "library", "printed"), SURVEY)
def test_the_table_of_the_survey(name: str, library: str | None, printed: tuple[Any, ...]) -> None:
    """D07, D08 and D26 are in it: coinciding means, no scatter, two separations."""
    for case, due in zip(COLUMNS, printed, strict=True):
        found = score(name, case, library)
        if due == ERR:
            assert "raises" in str(found.undefined)
        elif isinstance(due, float) and not math.isfinite(due):
            assert repr(float(found)) == repr(due), case
            assert found.undefined
        elif isinstance(due, float) and due < 1:  # irrational, printed with four places
            assert round(found, 4) == due
        else:
            assert found.fraction == Fraction(due), case


@pytest.mark.spec("CONV-PROFILE", "INT-DB")
def test_two_of_three_means_are_equal() -> None:
    assert score("davies_bouldin", "two-equal") == math.inf
    for library in ("sklearn", "torchmetrics"):
        assert abs(score("davies_bouldin", "two-equal", library) - 0.1146) < 1e-4
    for library in ("clustercrit", "genieclust"):
        assert score("davies_bouldin", "two-equal", library) == math.inf
    assert score("davies_bouldin", "two-equal", "permetrics") == 1e10


@pytest.mark.spec("CONV-PROFILE", "INT-DETRATIO", "INT-LOGDET")
def test_the_determinant_ratio_of_clustercrit() -> None:
    """D18: an impossible sign is quoted, not imitated."""
    found = score("det_ratio", "two-equal", "clustercrit")
    assert found.fraction == Fraction(1547, 15)
    assert "−103.13" in score("det_ratio", "two-equal").explain().text()
    assert "wrong sign" in score("log_det_ratio", "two-equal").explain().text()
    assert "wrong sign" not in score("det_ratio", "misplaced").explain().text()


@pytest.mark.spec("CONV-PROFILE", "INT-DB", "INT-SDBW")
def test_accidents_are_quoted() -> None:
    rows = [[x / 2**40] for x in (0, 1, 8, 9)]
    found = metrics.davies_bouldin(rows, [0, 0, 1, 1])
    assert found.fraction == Fraction(1, 8)
    assert "spreads below 1e-8" in found.explain().text()
    assert "1e-8" not in score("davies_bouldin", "gen").explain().text()
    assert "single precision" in score("scott_symons", "misplaced").explain().text()
    text = "instead of averaging them"
    assert (
        text
        in metrics.s_dbw([[0], [1], [9], [10], [20], [21]], [0, 0, 1, 1, 2, 2]).explain().text()
    )
    assert text not in metrics.s_dbw([[0], [1], [9], [10]], [0, 0, 1, 1]).explain().text()


@pytest.mark.spec("CONV-PROFILE")
def test_what_a_library_lacks() -> None:
    with pytest.raises(ProfileLacksMetric, match="q can only be 1"):
        score("davies_bouldin", "gen", "sklearn", q=2)
    with pytest.raises(ProfileLacksMetric, match="has no pbm"):
        score("pbm", "gen", "sklearn")
    assert score("k_squared_det", "gen", "permetrics", entries="plain").fraction == Fraction(16, 3)
