"""A pickled or copied score knows what the score knew: reason, fraction, clause, range."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import refclust
from refclust.kernels.contingency import CellTable
from refclust.metrics.contingency import Contingency
from refclust.metrics.score import Score

TRUE, PRED = "aaabbb", "xxyyyy"
ROWS = [[0.0], [1.0], [2.0], [10.0], [11.0], [13.0]]
FACTS = [
    "name",
    "exact",
    "fraction",
    "undefined",
    "certified",
    "bound",
    "spec",
    "range",
    "better",
    "provenance",
    "matching",
]

SCORES: dict[str, Callable[[], Score]] = {
    "rational": lambda: refclust.ari(TRUE, PRED),
    "irrational": lambda: refclust.nmi(TRUE, PRED, average="min"),
    "by a kernel": lambda: refclust.ami(TRUE, PRED),
    "undefined": lambda: refclust.ari("aaa", "xxx"),
    "infinite": lambda: refclust.calinski_harabasz([[0.0], [0.0], [1.0], [1.0]], "aabb"),
    "by a profile": lambda: refclust.ari("aaa", "xxx", profile="sklearn"),
    "of a confusion": lambda: refclust.mcc("xxyy", "xyyy"),
    "of probabilities": lambda: refclust.log_loss("nyy", [0.25, 0.5, 0.75], positive="y"),
    "of classifiers": lambda: refclust.mcnemar("xxyy", "xxyx", "xyyx"),
    "of trials": lambda: refclust.paired_t([1, 2, 4], [0, 2, 1]),
}


def facts(score: Score) -> list[object]:
    """All that a score tells."""
    return [getattr(score, name) for name in FACTS]


def again(score: Score) -> Score:
    """The score out of its pickle."""
    other = pickle.loads(pickle.dumps(score))
    assert isinstance(other, Score)
    return other


@pytest.mark.parametrize("name", SCORES)
def test_a_pickle_knows_what_the_score_knew(name: str) -> None:
    score = SCORES[name]()
    other = again(score)
    assert float(other).hex() == float(score).hex()
    assert facts(other) == facts(score)
    if name != "infinite":
        assert other.explain().text() == score.explain().text()
    assert facts(again(other)) == facts(score)


@pytest.mark.parametrize("name", SCORES)
def test_a_copy_is_the_score(name: str) -> None:
    score = SCORES[name]()
    assert copy.copy(score) is score
    assert copy.deepcopy([score]) == [score] or math.isnan(score)
    assert copy.deepcopy(score) is score


def test_rows_stay_behind() -> None:
    score = refclust.silhouette(ROWS, "aaabbb")
    other = again(score)
    assert (other, other.fraction, other.spec) == (score, score.fraction, score.spec)
    assert (other.range, other.better, other.certified) == ((-1.0, 1.0), "higher", True)
    assert other.evidence.size() == "6 objects in 2 clusters"
    assert len(pickle.dumps(refclust.silhouette(ROWS * 40, "aaabbb" * 40))) < 2000
    assert "6 objects in 2 clusters" in other.explain().text()


def test_an_irrational_score_of_rows_keeps_sixty_digits() -> None:
    score = refclust.silhouette([[0.0, 0.0], [1.0, 2.0], [5.0, 5.0], [6.0, 8.0]], "aabb")
    other = again(again(score))
    assert score.fraction is None
    assert other.fraction is None
    assert other.digits(50) == score.digits(50)
    assert f"{other.digits(40)}" in other.explain().text()


def test_a_pickle_is_read_by_another_process(tmp_path: Path) -> None:
    file = tmp_path / "score.pickle"
    file.write_bytes(pickle.dumps([refclust.ari(TRUE, PRED), refclust.ari("aaa", "xxx")]))
    code = (
        "import pickle, sys; a, b = pickle.load(open(sys.argv[1], 'rb')); "
        "print(a.fraction, a.spec[0], b.undefined)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True
    )
    assert run.stdout == f"12/37 ARI {refclust.ari('aaa', 'xxx').undefined}\n"


def test_cells_in_buffers_are_pickled_by_their_numbers() -> None:
    cells = CellTable.of_dict({(7, 1): 2, (5, 1): 1})
    other = pickle.loads(pickle.dumps(cells))
    assert other == cells
    assert (other.clusters, other.sizes, other.malformed()) == ([5, 7], cells.sizes, None)
    table = Contingency.of_rows([[2, 1], [0, 2]])
    assert pickle.loads(pickle.dumps(table)).counts == table.counts
