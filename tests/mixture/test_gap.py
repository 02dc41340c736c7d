"""The gap statistic and the elbow of k-means: by hand, and on the worked rule."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from refclust.backends.session import Session
from refclust.cluster.fit import kmeans
from refclust.cluster.options import KMeansCall
from refclust.cluster.results import KMeansFit
from refclust.data.accepting.door import dataset
from refclust.errors import BadOption, KOutOfRange
from refclust.fitting.rows import Rows
from refclust.formulas.selection import GAP_RULES
from refclust.mixture.choosing.gap import (
    Gap,
    chosen_gap,
    elbow,
    elbow_heights,
    gaps,
    log_rss,
    reference_curves,
)
from refclust.mixture.choosing.selection import select
from refclust.numbers.sampling import stream

LINE = [[0.0], [1.0], [10.0], [11.0], [50.0], [51.0]]
CORNERS = [(0.0, 0.0), (0.0, 5.0), (5.0, -3.0)]
THREE = [
    [x + i % 3 * 0.5, y + i % 4 * 0.25] for x, y in CORNERS for i in range(7)
]  # as the rule was shown first


@pytest.mark.spec("MS-GAP", "KM-BOX", "NUM-RAND")
def test_reference_sets_come_from_the_stream_of_the_seed() -> None:
    """Row after row, set after set, in the box of the data; with K = n every RSS is that of n."""
    data = dataset([[0.0, 2.0], [4.0, 2.5], [1.0, 6.0]])
    rng = stream(5)
    logs = list(
        reference_curves(Rows(data, Session("reference")), [1], 2, KMeansCall(data, seed=5), seed=5)
    )
    for (found,) in logs:
        made = []
        for _ in range(3):
            u, v = Fraction(rng.random()), Fraction(rng.random())
            made.append([float(4 * u), float(2 + 4 * v)])
        assert found == log_rss(kmeans(made, 1).runs[0].exact_rss)


@pytest.mark.spec("MS-GAP")
def test_the_formula() -> None:
    found = gaps([math.log(2.0), 0.0], [[1.0, 0.5], [3.0, 0.5]])
    assert found[0] is not None
    assert found[0].value == 2.0 - math.log(2.0)
    assert found[0].error == math.sqrt(1.5)  # the standard deviation is 1, with divisor B = 2
    assert found[1] == Gap(0.5, 0.0)


@pytest.mark.spec("MS-GAPRULE", "MS-GAP")
def test_the_rule_of_tibshirani() -> None:
    def first(*pairs: tuple[float, float] | None) -> int | None:
        listed = [None if pair is None else Gap(*pair) for pair in pairs]
        return chosen_gap(listed, "Tibs2001SEmax")

    assert first((0.0, 0.0), (1.0, 0.5), (1.25, 0.25), (9.0, 0.0)) == 1
    assert first((0.0, 0.0), (1.0, 0.5)) is None  # the last has no successor
    assert first((0.0, 0.0), None) is None
    assert first((1.0, 0.0), (1.0, 0.0)) == 0


@pytest.mark.spec("MS-GAPRULE")
@pytest.mark.parametrize(
    ("values", "errors", "chosen"),
    [
        # two humps: the second is higher, and the place before it within its error
        ([0.5, 0.6, 0.55, 0.9, 1.0, 0.8], [0.01, 0.2, 0.1, 0.1, 0.15, 0.1], (3, 0, 0, 4, 1)),
        # it falls from the first on
        ([0.6, 0.5, 0.7, 0.2], [0.1, 0.1, 0.05, 0.1], (2, 0, 0, 2, 0)),
        # it rises to the last
        ([0.1, 0.4, 0.9], [0.1, 0.1, 0.1], (2, 2, None, 2, 2)),
        # equal values: the first of them
        ([0.25, 0.5, 0.5, 0.125], [0.0, 0.0, 0.0, 0.0], (1, 1, 1, 1, 1)),
        # exactly at the edge of the error
        ([0.5, 0.75, 1.0, 0.0], [0.0, 0.25, 0.5, 0.0], (0, 0, 0, 2, 2)),
    ],
)
def test_all_rules(
    values: list[float], errors: list[float], chosen: tuple[int | None, ...]
) -> None:
    pairs = [Gap(*pair) for pair in zip(values, errors, strict=True)]
    assert tuple(chosen_gap(pairs, rule) for rule in GAP_RULES) == chosen
    with pytest.raises(BadOption, match="no rule of the gap is called 'tallest'"):
        chosen_gap(pairs, "tallest")


@pytest.mark.spec("MS-GAP")
def test_a_sum_of_squares_of_zero_ends_the_gaps() -> None:
    assert gaps([1.0, None, 1.0], [[1.0, 1.0, 1.0]]) == [Gap(0.0, 0.0), None, None]
    assert gaps([1.0, 1.0], [[1.0, 1.0], [1.0]]) == [Gap(0.0, 0.0), None]
    found = select(
        [[0.0], [1.0], [1.0]], model="kmeans", criterion="gap", k=range(1, 4), references=2
    )
    assert [one.error for one in found.candidates] == [None, None, "k-out-of-range"]
    assert [sorted(one.values) for one in found.candidates] == [
        ["gap", "gap-error", "rss"],
        ["rss"],
        [],
    ]
    assert found.chosen is None
    assert "none is chosen" in found.why


@pytest.mark.spec("MS-GAP", "KM-KSEL")
def test_three_clear_clusters() -> None:
    found = select(
        THREE, model="kmeans", criterion="gap", gap_rule="Tibs2001SEmax", k=range(1, 6),
        references=8, restarts=3, seed=2,
    )  # fmt: skip
    assert found.best is not None
    assert found.best.k == 3
    assert found.why.startswith("the first K whose gap, ")
    assert isinstance(found.fit, KMeansFit)
    assert found.fit.labels.tolist() == kmeans(THREE, 3, restarts=3, seed=2).labels.tolist()
    values = [one.values for one in found.candidates]
    ahead = values[3]["gap"] - values[3]["gap-error"]
    assert values[2]["gap"] >= ahead
    assert all(
        values[i]["gap"] < values[i + 1]["gap"] - values[i + 1]["gap-error"] for i in range(2)
    )


@pytest.mark.spec("MS-GAP")
def test_weights_of_rows_go_with_the_reference_sets() -> None:
    data = dataset([[0.0], [1.0], [9.0]], weights=[1.0, 0.0, 3.0])
    rng = stream(0)
    (found,) = next(
        reference_curves(Rows(data, Session("reference")), [1], 1, KMeansCall(data), seed=0)
    )
    made = [[float(9 * Fraction(rng.random()))] for _ in range(3)]
    same = kmeans(made, 1, weights=[1.0, 0.0, 3.0])
    assert found == log_rss(same.runs[0].exact_rss)


@pytest.mark.spec("MS-ELBOW")
def test_elbow_by_hand() -> None:
    curve = [(1, Fraction(10)), (2, Fraction(4)), (3, Fraction(3)), (5, Fraction(2))]
    # (10 - 4) / 8 - 1/4 = 1/2, (10 - 3) / 8 - 2/4 = 3/8
    assert elbow_heights(curve) == [0, Fraction(1, 2), Fraction(3, 8), 0]
    assert elbow(curve) == 2


@pytest.mark.spec("MS-ELBOW")
def test_the_smallest_of_equal_elbows() -> None:
    """Heights 1/12 twice, as rationals; in doubles they may differ."""
    curve = [(1, Fraction(1)), (2, Fraction(7, 12)), (3, Fraction(1, 4)), (4, Fraction(0))]
    assert elbow_heights(curve) == [0, Fraction(1, 12), Fraction(1, 12), 0]
    assert elbow(curve) == 2


@pytest.mark.spec("MS-ELBOW")
def test_no_elbow() -> None:
    flat = [(k, Fraction(1)) for k in (1, 2, 3)]
    assert elbow(flat) is None
    with pytest.raises(BadOption, match="three"):
        elbow(flat[:2])
    same = [[1.0], [1.0], [1.0]]
    with pytest.raises(BadOption, match="three"):
        select(same, model="kmeans", criterion="elbow", k=[1, 2])
    found = select(same, model="kmeans", criterion="elbow", k=[1, 2, 3])
    assert found.chosen is None
    assert found.fit is None
    assert [one.error for one in found.candidates] == [None, "k-out-of-range", "k-out-of-range"]


@pytest.mark.spec("MS-ELBOW", "KM-KSEL")
def test_elbow_of_three_pairs() -> None:
    found = select(LINE, model="kmeans", criterion="elbow", k=range(1, 6), restarts=5)
    # Around 20.5; of 0, 1, 10, 11 around 5.5 and of 50, 51; of three pairs; of two; of one.
    assert [one.values["rss"] for one in found.candidates] == [2801.5, 101.5, 1.5, 1.0, 0.5]
    assert found.candidates[1].values["elbow"] == 2700 / 2801 - 0.25
    assert found.best is not None
    assert found.best.k == 2
    assert found.fit is not None
    assert found.why == (
        f"RSS lies farthest below the line between its ends, by "
        f"{found.best.values['elbow']:.4f} of its fall"
    )


@pytest.mark.spec("MS-GAP", "MS-ELBOW")
@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"k": [2]}, "at least two numbers"),
        ({"k": [1, 3]}, "without a hole"),
        ({"references": 0}, "references is 0"),
        ({"criterion": "bic"}, "does not go with kmeans"),
        ({"model": "gaussian"}, "does not go with gaussian"),
        ({"floor": 0.5}, "no option floor"),
        ({"folds": 3}, "folds belong"),
    ],
)
def test_what_is_refused(options: dict[str, Any], match: str) -> None:
    asked: dict[str, Any] = {"model": "kmeans", "criterion": "gap", "k": [1, 2], **options}
    with pytest.raises(BadOption, match=match):
        select(LINE, **asked)


@pytest.mark.spec("MS-GAP")
def test_all_candidates_failed() -> None:
    with pytest.raises(KOutOfRange, match="k is 7"):
        select(LINE, model="kmeans", criterion="gap", k=[7, 8])
