"""Options are checked at the door, each with a message of one line."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from refclust.classify.naive_bayes import naive_bayes
from refclust.cluster.bisecting import bisecting
from refclust.cluster.fit import kmeans
from refclust.cluster.options import KMeansOptions
from refclust.data.dataset import sparse
from refclust.errors import BadOption, KOutOfRange, TooLarge
from refclust.fitting.checks import clusters, named, whole
from refclust.limits import limits
from refclust.mixture.families.named.multinomial import multinomial_mixture

GOOD: dict[str, Any] = {
    "k": 2,
    "start": "greedy",
    "metric": "cosine",
    "seed": 7,
    "restarts": 3,
    "trials": 4,
    "empty": "split",
    "tolerance": 0.5,
    "limit": 9,
    "trace": "full",
}


def test_good_options() -> None:
    options = KMeansOptions(**GOOD)
    assert options.as_json() == GOOD
    assert list(options.as_json()) == list(GOOD)
    assert KMeansOptions(**{**GOOD, "tolerance": 0}).tolerance == 0


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"metric": "manhattan"}, "metric is 'manhattan'; allowed are euclidean, cosine"),
        ({"metric": None}, "metric is None"),
        ({"start": "best"}, "start is 'best'"),
        ({"empty": "ignore"}, "empty is 'ignore'; allowed are farthest, split, keep, drop, error"),
        ({"trace": "all"}, "trace is 'all'; allowed are none, scalars, centres, full"),
        ({"seed": -1}, "the seed is -1"),
        ({"seed": 1.0}, "the seed is 1.0"),
        ({"seed": None}, "the seed is None"),
        ({"seed": True}, "the seed is True"),
        ({"restarts": 0}, "restarts is 0; a whole number of at least 1"),
        ({"restarts": 2.0}, "restarts is 2.0"),
        ({"restarts": True}, "restarts is True"),
        ({"limit": 0}, "limit is 0; a whole number of at least 1"),
        ({"limit": math.inf}, "limit is inf"),
        ({"trials": 0}, "trials is 0"),
        ({"start": "random"}, "trials belong to the start 'greedy', not to 'random'"),
        ({"tolerance": -1e-9}, "the tolerance is -1e-09; a number of at least 0"),
        ({"tolerance": math.nan}, "the tolerance is nan"),
        ({"tolerance": math.inf}, "the tolerance is inf"),
        ({"tolerance": "0.1"}, "the tolerance is '0.1'"),
        ({"tolerance": False}, "the tolerance is False"),
        ({"start": "given", "trials": None}, "3 restarts from one given start"),
        ({"start": "labels", "trials": None}, "3 restarts from one given start"),
    ],
)
def test_bad_options(change: dict[str, Any], told: str) -> None:
    with pytest.raises(BadOption) as caught:
        KMeansOptions(**{**GOOD, **change})
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.spec("KM-INIT")
def test_the_number_of_clusters() -> None:
    assert [clusters(k, 3) for k in (1, 2, 3)] == [1, 2, 3]
    for k in (0, 4, -1):
        with pytest.raises(KOutOfRange, match="from 1 to 3"):
            clusters(k, 3)
    for odd in (2.0, "2", None, True, Fraction(2)):
        with pytest.raises(BadOption, match="from 1 to 3"):
            clusters(odd, 3)


@pytest.mark.spec("DATA-LIMIT")
@pytest.mark.long
def test_centres_fit_into_the_memory_allowed() -> None:
    wide = sparse(array("q", [0, 1, 2]), array("q", [0, 999]), array("d", [1.0, 1.0]), 1000)
    fits: tuple[Callable[[], object], ...] = (
        lambda: kmeans(wide, 2),
        lambda: kmeans(wide, labels=[0, 1]),
        lambda: bisecting(wide, 2),
        lambda: multinomial_mixture(wide, 2, m=1.0),
        lambda: naive_bayes(wide, ["a", "b"]),
    )
    for fit in fits:
        with limits(memory=48_000):
            fit()
        with limits(memory=47_999), pytest.raises(TooLarge) as caught:
            fit()
        assert " of 1,000 columns takes 48,000 bytes, and the limit is 47,999" in str(caught.value)


def test_whole_numbers_have_an_end() -> None:
    with pytest.raises(BadOption, match=r"restarts is above 2\*\*13287; it goes up to 2\*\*63"):
        KMeansOptions(**{**GOOD, "restarts": 10**4000})


@pytest.mark.parametrize("start", ["", "given", "labels", "kmeans++", None, 3, ["random"]])
def test_names_of_starts(start: Any) -> None:
    with pytest.raises(BadOption, match="start is"):
        kmeans([[0], [1]], 1, start=start)


def test_k_is_needed_without_a_given_start() -> None:
    with pytest.raises(BadOption, match="k is None"):
        kmeans([[0], [1]])
    assert kmeans([[0], [1]], centres=[[0]]).k == 1


def test_helpers() -> None:
    named("x", "a", ("a", "b"))
    whole("x", 3, 3)
    with pytest.raises(BadOption, match="x is 2; a whole number of at least 3 is needed"):
        whole("x", 2, 3)
    with pytest.raises(BadOption, match="x is 'c'; allowed are a, b"):
        named("x", "c", iter("ab"))
