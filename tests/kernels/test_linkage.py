"""The kernel that merges: small trees by hand, ties, and sizes at the edge."""

from __future__ import annotations

import math
import random
from array import array
from itertools import pairwise
from typing import Any

import pytest

from refclust.errors import BadOption, NotFinite
from refclust.kernels.linkage import LARGEST, LINKAGES, SQUARED, agglomerate, offsets, ward
from refclust.kernels.registry import KERNELS


def line(values: list[float], *, squared: bool = False) -> array[float]:
    n = len(values)
    gaps = [abs(values[i] - values[j]) for i in range(n) for j in range(i + 1, n)]
    return array("d", [gap * gap for gap in gaps] if squared else gaps)


@pytest.mark.spec("KER-LINK", "HC-AGG")
@pytest.mark.parametrize("linkage", LINKAGES)
def test_one_and_two_rows(linkage: str) -> None:
    assert agglomerate(array("d"), 1, linkage) == ()
    assert agglomerate(array("d", [4.0]), 2, linkage) == (
        (0, 1, 2.0 if linkage in SQUARED else 4.0, 2),
    )


@pytest.mark.spec("HC-LW", "HC-SINGLE", "HC-COMPLETE", "HC-AVERAGE", "HC-WEIGHTED")
@pytest.mark.parametrize(
    ("linkage", "heights"),
    [
        ("single", [1.0, 2.0, 5.0]),
        ("complete", [1.0, 3.0, 8.0]),
        ("average", [1.0, 2.5, 20 / 3]),
        ("weighted", [1.0, 2.5, 6.25]),
    ],
)
def test_a_line_by_hand(linkage: str, heights: list[float]) -> None:
    merges = agglomerate(line([0, 1, 3, 8]), 4, linkage)
    assert [merge[:2] for merge in merges] == [(0, 1), (2, 4), (3, 5)]
    assert [merge[2] for merge in merges] == heights
    assert [merge[3] for merge in merges] == [2, 3, 4]


@pytest.mark.spec("HC-LW", "HC-CENTROID", "HC-MEDIAN", "HC-WARD")
@pytest.mark.parametrize(
    ("linkage", "squares"),
    [
        # Means: 0.5 to 3, then 4/3 to 8. Midpoints: 0.5 to 3, then 1.75 to 8.
        ("centroid", [1.0, 6.25, 400 / 9]),
        ("median", [1.0, 6.25, 39.0625]),
        ("ward", [1.0, 6.25 * 4 / 3, 400 / 9 * 1.5]),
    ],
)
def test_a_line_of_squares_by_hand(linkage: str, squares: list[float]) -> None:
    merges = agglomerate(line([0, 1, 3, 8], squared=True), 4, linkage)
    assert [merge[:2] for merge in merges] == [(0, 1), (2, 4), (3, 5)]
    # One update each for the second height, two for the third, of at most 6 roundings with values
    # below 512: far below 2**-38. Only sums of powers of two are exact.
    for merge, square in zip(merges, squares, strict=True):
        assert abs(merge[2] ** 2 - square) < 2.0**-38


@pytest.mark.spec("HC-TIE")
@pytest.mark.parametrize("linkage", LINKAGES)
def test_all_equal_rows_join_the_first_one(linkage: str) -> None:
    merges = agglomerate(array("d", [0.0] * 10), 5, linkage)
    assert merges == ((0, 1, 0.0, 2), (2, 5, 0.0, 3), (3, 6, 0.0, 4), (4, 7, 0.0, 5))


@pytest.mark.spec("HC-TIE")
def test_pairs_are_ordered_by_smallest_rows() -> None:
    # 1-3 and 0-2 are equally close; then {0, 2} and {1, 3} and 4: (0, 1) comes before (0, 4).
    distances = {(0, 2): 1.0, (1, 3): 1.0, (0, 1): 2.0, (0, 4): 2.0}
    condensed = array("d", [distances.get((i, j), 9.0) for i in range(5) for j in range(i + 1, 5)])
    assert agglomerate(condensed, 5, "single") == (
        (0, 2, 1.0, 2),
        (1, 3, 1.0, 2),
        (5, 6, 2.0, 4),
        (4, 7, 2.0, 5),
    )


@pytest.mark.spec("HC-TIE", "HC-SINGLE")
def test_groups_of_one_level_are_completed_one_after_the_other() -> None:
    # Two groups at one height: 0-5-3 and 1-4-2. All pairs with row 0 come before those with row 1.
    near = {(0, 5), (3, 5), (1, 4), (2, 4)}
    condensed = array(
        "d", [1.0 if (i, j) in near else 2.0 for i in range(6) for j in range(i + 1, 6)]
    )
    assert agglomerate(condensed, 6, "single") == (
        (0, 5, 1.0, 2),
        (3, 6, 1.0, 3),
        (1, 4, 1.0, 2),
        (2, 8, 1.0, 3),
        (7, 9, 2.0, 6),
    )


@pytest.mark.spec("HC-MONO")
def test_equal_distances_stay_equal() -> None:
    simplex = array("d", [0.1] * 21)
    assert {merge[2] for merge in agglomerate(simplex, 7, "average")} == {0.1}
    # Without its bound Ward's value of three equal squares is one unit below them.
    d = 1.7 * 1.7
    assert (2 * d + 2 * d - d) / 3 < d
    assert ward(d, d, d, 1, 1, 1) == d


@pytest.mark.spec("HC-INV")
@pytest.mark.parametrize("linkage", ["centroid", "median"])
def test_an_inversion(linkage: str) -> None:
    merges = agglomerate(array("d", [64.0, 65.0, 65.0]), 3, linkage)
    assert [merge[2] for merge in merges] == [8.0, 7.0]


@pytest.mark.parametrize("linkage", LINKAGES)
def test_sizes_at_the_edge(linkage: str) -> None:
    merges = agglomerate(array("d", [LARGEST] * 6), 4, linkage)
    assert all(math.isfinite(merge[2]) for merge in merges)
    beyond = array("d", [1.0, math.nextafter(LARGEST, math.inf), 1.0])
    if linkage in ("single", "complete"):
        assert len(agglomerate(beyond, 3, linkage)) == 2
    else:
        with pytest.raises(NotFinite, match=r"up to 2\*\*960"):
            agglomerate(beyond, 3, linkage)


def test_refusal_and_registration() -> None:
    with pytest.raises(BadOption, match="linkage='wards'; allowed: single, complete, average"):
        agglomerate(array("d"), 1, "wards")
    kernel = KERNELS["linkage.agglomerate"]
    assert kernel.reference is agglomerate
    answer = agglomerate(line([0, 1, 3]), 3, "single")
    assert kernel.contract.fault(answer, answer) is None
    assert kernel.contract.fault(answer, agglomerate(line([0, 1, 3]), 3, "complete")) is not None


@pytest.mark.spec("KER-LINK")
@pytest.mark.parametrize("linkage", LINKAGES)
def test_the_input_may_be_any_buffer_and_stays_as_it_was(linkage: str) -> None:
    distances = line([0, 1, 3, 8])
    before = distances.tobytes()
    view: Any = memoryview(distances)
    assert agglomerate(view, 4, linkage) == agglomerate(distances, 4, linkage)
    assert distances.tobytes() == before


def test_places_in_the_condensed_form() -> None:
    begin = offsets(7)
    places = [begin[i] + j for i in range(7) for j in range(i + 1, 7)]
    assert places == list(range(21))


@pytest.mark.spec("HC-MONO")
@pytest.mark.parametrize("linkage", LINKAGES)
def test_a_few_hundred_rows(linkage: str) -> None:
    rng, n = random.Random(5), 150
    distances = array("d", [1 + rng.random() for _ in range(n * (n - 1) // 2)])
    merges = agglomerate(distances, n, linkage)
    assert merges[-1][3] == n
    joined = [cluster for merge in merges for cluster in merge[:2]]
    assert sorted(joined) == list(range(2 * n - 2))
    if linkage not in ("centroid", "median"):
        assert all(x[2] <= y[2] for x, y in pairwise(merges))
