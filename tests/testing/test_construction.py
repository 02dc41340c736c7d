"""What is tried by construction: combinations, sizes, near-ties, what surrounds the data."""

from __future__ import annotations

import math
from array import array
from ctypes import c_float
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import pytest

from refclust.backends.traits import TRAITS, traits
from refclust.data.dataset import dense
from refclust.kernels.clusters.kmeans import assign
from refclust.kernels.contracts.basic import Equal
from refclust.kernels.mixtures.gaussian import Gaussians
from refclust.kernels.mixtures.shared import HARD, Rule
from refclust.kernels.points import Points
from refclust.numbers.sampling import stream
from refclust.testing.diagnosis.rows import diagnose
from refclust.testing.ladder import ladder
from refclust.testing.rungs import Rung, dense_of, sparse_of
from refclust.testing.rungs.centres.grid import LEVELS
from refclust.testing.rungs.centres.searched import RULES, searched, wrong_rows
from refclust.testing.rungs.design import orthogonal, sizes
from refclust.testing.saboteurs.arithmetic.rows import argmin, dot, expanded, rows_of, singles
from refclust.testing.scripts.facts import common, facts_in_words, facts_of
from refclust.testing.scripts.layouts import copied, guarded, surroundings
from refclust.testing.scripts.lockstep import script

pytestmark = pytest.mark.long  # by `pytest -m long`

RUNGS = {rung.name: rung for rung in ladder()}


@pytest.mark.parametrize(("levels", "strength", "factors"), [(7, 3, 8), (7, 2, 8), (5, 2, 6)])
def test_all_combinations_of_so_many_factors(levels: int, strength: int, factors: int) -> None:
    rows = list(orthogonal(levels, strength, factors))
    assert len(rows) == levels**strength
    for some in combinations(range(factors), strength):
        assert len({tuple(row[i] for i in some) for row in rows}) == levels**strength


def test_more_factors_than_an_orthogonal_array_has() -> None:
    with pytest.raises(ValueError, match="3 levels allow 4"):
        list(orthogonal(3, 2, 5))


def test_no_range_of_sizes_is_missed() -> None:
    found = sizes(1, 4200, each=66)
    assert found[:66] == list(range(1, 67))
    assert all(after <= 1.2 * before for before, after in pairwise(found[65:]))
    assert {255, 256, 257, 2047, 2048, 2049} < set(found)


@pytest.mark.spec("BK-KIT")
def test_the_grid_has_all_levels() -> None:
    assert all(len(levels) == 7 for levels in LEVELS)
    grid = RUNGS["triples-of-factors"]
    assert len(grid.data) == 343
    ks = {(one.data.n < len(one.centres), one.data.n) for one in grid.data}
    assert (True, 1) in ks
    assert {one.data.matrix.values.format for one in grid.data} == {"d", "f"}


@pytest.mark.spec("BK-KIT")
@pytest.mark.parametrize("d", [2, 5, 17])
def test_plain_arithmetic_is_wrong_on_rows_that_were_searched_for(d: int) -> None:
    rng = stream(d)
    a = tuple(3.0 * rng.random() for _ in range(d))
    b = tuple(x + 0.5 + rng.random() for x in a)
    rows = list(wrong_rows(a, b, rng))
    assert rows
    right = list(assign(Points(dense_of(rows)), (a, b)))
    for rule in RULES:
        given = [int(rule(row, b) < rule(row, a)) for row in rows]
        assert given != right or rule(rows[0], a) == rule(rows[0], b)


def test_every_rule_of_plain_arithmetic_fails_somewhere() -> None:
    wrong = dict.fromkeys(RULES, 0)
    for one in searched(quick=False).data:
        if one.kind != "steps":
            continue
        points = Points(one.data)
        rows = [points.whole_row(i) for i in range(points.n)]
        for rule in RULES:
            ks = range(len(one.centres))
            given = [min(ks, key=lambda k: (rule(row, one.centres[k]), k)) for row in rows]
            wrong[rule] += given != list(assign(points, one.centres))
    assert min(wrong.values()) >= 10


def _calls(rung: Rung, kernel: str) -> list[Any]:
    return [call for call in script(rung).calls if call.kernel == kernel]


@pytest.mark.spec("BK-KIT")
def test_causes_of_escapes_are_gone() -> None:
    table = RUNGS["full-cells"].data
    assert sum(isinstance(one.data.clusters, memoryview) for one in table) > 20
    assert isinstance(copied(table[0].data).clusters, memoryview)
    assert max(one.n for one in ladder() if one.kind == "distances") >= 256
    rules = [call.args[1] for call in _calls(RUNGS["pairs-of-mixtures"], "gaussian.em_step")]
    assert {rule.top for rule in rules} >= {0, 1, 2, 3, 4, 5}
    assert {rule.samples for rule in rules} >= {0, 1, 2, 3, 4, 5, 8, 9, 17}
    assert max(one.data.n for one in ladder() if one.kind == "mixture-calls") > 2**14
    sums = _calls(RUNGS["clusters-of-2^16"], "kmeans.accumulate")
    assert {65535, 65536, 65537} <= {w for call in sums for w in call.due.weights}


@pytest.mark.spec("BK-KIT")
def test_data_lie_between_numbers_that_are_none() -> None:
    data = copied(dense(array("d", [1.0, 2.0, 3.0]), 1))
    view = data.matrix.values
    whole = view.obj
    address = whole.buffer_info()[0] + 8 * next(i for i, x in enumerate(whole) if x == 1.0)
    assert address % 64 == 8
    assert sum(x != x for x in whole) == len(whole) - 3
    before = surroundings(data)
    assert len(before) == 1
    whole[len(whole) - 1] = 0.0
    assert surroundings(data) != before
    assert guarded(array("i", [1, 2])).tolist() == [1, 2]


def test_minus_zero_is_not_zero() -> None:
    assert Equal().fault(array("d", [0.0]), array("d", [-0.0])) == "at 0: -0.0 instead of 0.0"
    assert Equal().fault(array("d", [-0.0]), array("d", [-0.0])) is None
    assert Equal().fault(0.0, -0.0) == "-0.0 instead of 0.0"
    assert Equal().fault((Fraction(0), 0), (Fraction(0), 0)) is None


def test_traits_of_calls() -> None:
    rows = dense(array("f", [1.0, 2.0]), 1, weights=memoryview(array("d", [1.0, 2.0])))
    white = Gaussians(array("d", [0.0]), (), array("d", [1.0]), "full")  # type: ignore[arg-type]
    assert traits(rows, ("cosine",)) == {"weights", "float32", "cosine"}
    assert traits(None, (white, HARD)) == {"full", "hard"}
    assert traits(None, (Rule(top=3),)) == {"top-m"}
    assert traits(None, (Rule(draws=array("d", [0.5]), samples=1), "spherical")) == {
        "draws", "spherical",
    }  # fmt: skip
    assert traits(rows, ("cosine",)) < set(TRAITS)


def test_what_wrong_calls_have_in_common() -> None:
    def trial(n: int, rows: str, right: bool) -> Any:
        return {"n": n, "rows": rows}, right

    every = [trial(n, rows, not (rows == "sparse" and n > 3)) for n in range(6)
             for rows in ("dense", "sparse")]  # fmt: skip
    assert common(every) == "wrong in 2 of 12 calls, all with sparse rows"
    assert common([trial(1, "dense", True), trial(2, "sparse", False)]) == (
        "wrong in 1 of 2 calls: those with sparse rows, or n = 2"
    )
    assert common([trial(1, "dense", False)]) == ""
    assert common([]) == ""
    zeros = sparse_of([{0: 0.0}, {1: 2.0}], 2, indices="B", weights=[1.0, -0.0])
    facts = facts_of("kmeans.squares", zeros, (array("i", [0, 1]), 3))
    assert facts_in_words(facts) == (
        "n = 2, d = 2, sparse rows, weights with -0.0, columns of format 'B', stored zeros, K = 3, "
        "clusters more than rows"
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda labels: [labels[0], *labels[:-1]], "the label of the row before it"),
        (lambda labels: [*labels[1:], labels[0]], "the label of the row after it"),
        (lambda labels: labels[::-1], "rows in another order"),
        (lambda labels: [*labels[:8], *[0] * 12], "all rows from 9 on have one label"),
        (lambda labels: [*labels[:-1], labels[-1] - 1], "only the last row is wrong"),
        (lambda labels: [label - 256 for label in labels], "labels of 8 bits wrapped around"),
    ],
)
def test_wrong_labels_are_guessed(change: Any, words: str) -> None:
    labels = [0, 1, 1, 0, 2, 1, 0, 2, 0, 1, 2, 2, 1, 0, 1, 2, 0, 1, 1, 2]
    data = dense_of([(float(label),) for label in labels])
    args = (((0.0,), (1.0,), (2.0,)), "euclidean")
    told = diagnose("kmeans.assign", data, args, array("i", labels), array("i", change(labels)))
    assert words in told


@pytest.mark.spec("BK-KIT")
def test_rows_on_borders_defeat_single_precision() -> None:
    wheel, *_ = [rung for rung in RUNGS["borders"].data if rung.name.startswith("wheel")]
    points, centres = Points(wheel.data), wheel.centres
    right = assign(points, centres)

    def score(row: Any, centre: Any) -> float:
        """|c|²/2 - x·c, rounded to a single at every step."""
        total = c_float(dot(centre, centre) / 2).value
        for x, c in zip(*singles([row, centre]), strict=True):
            total = c_float(total - x * c).value
        return total

    plain = argmin(rows_of(points), centres, score)
    assert 10 < sum(a != b for a, b in zip(right, plain, strict=True)) < points.n // 2
    lengths = {round(math.hypot(*row), 5) for row in (*rows_of(points), *centres)}
    assert lengths == {1.0}


@pytest.mark.spec("BK-KIT")
def test_rows_far_along_a_border_defeat_expanded_squares() -> None:
    for rung in RUNGS["borders"].data:
        if rung.name.startswith("long rows"):
            points, centres = Points(rung.data), rung.centres
            plain = argmin(rows_of(points), centres, expanded)
            assert plain.tolist() != assign(points, centres).tolist()


@pytest.mark.spec("BK-KIT")
def test_crowds_move_one_by_one_and_together() -> None:
    for rung in RUNGS["crowds"].data:
        k = len(rung.path[0])
        moved = [
            sum(a != b for a, b in zip(before, after, strict=True))
            for before, after in pairwise(rung.path)
        ]
        assert any(0 < number <= k // 3 + 1 for number in moved)
        labels = [assign(Points(rung.data), centres).tolist() for centres in rung.path[:3]]
        assert labels[0] != labels[1]
    assert {len(rung.centres) > 16 for rung in RUNGS["crowds"].data} == {True}


@pytest.mark.spec("BK-KIT")
def test_some_means_are_subnormal_though_no_number_is() -> None:
    least = [rung for rung in RUNGS["quotients"].data if "tiny rows" in rung.name]
    for rung in least:
        assert all(not x or abs(x) > 2.0**-1000 for row in Points(rung.data).rows for x in row)
        [mean] = [call.due for call in script(rung).calls if call.kernel == "kmeans.means"]
        assert any(abs(x) < 2.0**-1000 for x in mean)
