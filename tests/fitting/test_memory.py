"""The memory of a fit is told and refused before any of it is asked for."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import pytest

from refclust.classify.discriminants import lda, nearest_gaussian, qda
from refclust.classify.naive_bayes import naive_bayes
from refclust.cluster.fit import kmeans
from refclust.cluster.hierarchical import agglomerative, pairwise_distances
from refclust.data.dataset import dense, sparse
from refclust.errors import TooLarge
from refclust.fitting.memory import for_covariances, for_distances
from refclust.limits import limits
from refclust.mixture.bayes.fit import variational_gaussian
from refclust.mixture.choosing.selection import select
from refclust.mixture.families.counts.parameters import CountParameters
from refclust.mixture.families.named.gaussian import gaussian_mixture
from refclust.mixture.families.named.multinomial import multinomial_mixture
from refclust.mixture.predict import assignments
from refclust.mixture.sample import sample

WIDE = dense(array("d", ((7 * j) % 11 for j in range(4 * 40_000))), 40_000)
LABELS = ["u", "v", "u", "v"]
# Three rows of 2²⁸ columns, one number each.
VAST = sparse(array("q", [0, 1, 2, 3]), array("q", [0, 7, 2**28 - 1]), array("d", [1, 2, 3]), 2**28)
PLAIN = [[0.0, 1.0], [1.0, 0.0], [5.0, 6.0], [6.0, 5.5], [5.5, 5.0]]


@pytest.mark.spec("GMM-ALG")
@pytest.mark.parametrize("backend", ["reference", "numpy", "numba"])
def test_full_covariances_of_many_columns_on_every_backend(backend: str) -> None:
    with pytest.raises(
        TooLarge, match="2 full covariances of 40,000 columns takes 102,401,920,000"
    ):
        gaussian_mixture(WIDE, 2, backend=backend)


@pytest.mark.spec("GMM-ALG")
@pytest.mark.parametrize(
    ("fit", "told"),
    [
        (lambda: gaussian_mixture(WIDE, 2, covariance="tied"), "one full covariance of 40,000"),
        (lambda: gaussian_mixture(VAST, 2), "2 full covariances of 268,435,456 columns"),
        (lambda: variational_gaussian(WIDE, 2), "2 full covariances of 40,000 columns"),
        (lambda: select(WIDE, k=[1, 2], backend="reference"), "1 full covariance of 40,000"),
        (lambda: qda(WIDE, LABELS), "2 full covariances of 40,000 columns"),
        (lambda: lda(WIDE, LABELS), "one full covariance of 40,000 columns"),
        (lambda: nearest_gaussian(WIDE, LABELS), "2 full covariances of 40,000 columns"),
        (lambda: multinomial_mixture(VAST, 2), "2 distributions of 268,435,456 columns"),
        (lambda: naive_bayes(VAST, ["u", "v", "v"]), "2 distributions of 268,435,456 columns"),
        (lambda: kmeans(VAST, 2), "k-means with 2 centres of 268,435,456 columns"),
    ],
)
def test_what_does_not_fit_is_refused(fit: Callable[[], Any], told: str) -> None:
    with pytest.raises(TooLarge) as error:
        fit()
    assert told in str(error.value)
    assert "bytes, and the limit is 4,294,967,296; refclust --limit memory=" in str(error.value)


@pytest.mark.spec("GMM-COV")
def test_each_form_of_covariance_needs_its_own_room() -> None:
    # Scatters of 3 components, then three times the covariances; and 3 · 3 rows of 100 columns.
    needs = {
        ("full", False): 12 * 10_000,
        ("full", True): 6 * 10_000,
        ("diagonal", False): 12 * 100,
        ("diagonal", True): 6 * 100,
        ("spherical", False): 12,
        ("spherical", True): 6,
    }
    for (form, common), numbers in needs.items():
        room = 8 * (numbers + 900)
        with limits(memory=room):
            for_covariances(3, 100, form, common=common)
        with limits(memory=room - 1), pytest.raises(TooLarge, match=f"takes {room:,} bytes"):
            for_covariances(3, 100, form, common=common)


@pytest.mark.spec("HC-AGG")
def test_distances_of_all_pairs() -> None:
    many = dense(array("d", range(100_000)), 1)
    for fit in (agglomerative, pairwise_distances):
        with pytest.raises(TooLarge, match="of 100,000 rows takes 79,999,200,000 bytes"):
            fit(many)
    with limits(memory=8 * 5 * 4):
        assert agglomerative(PLAIN, k=2).labels == (0, 0, 1, 1, 1)
    with limits(memory=8 * 5 * 4 - 1), pytest.raises(TooLarge):
        for_distances(5)


@pytest.mark.spec("EM-SAMPLE")
def test_rows_without_end_are_not_drawn() -> None:
    coin = CountParameters((1.0,), ((0.5, 0.5),))
    with pytest.raises(
        TooLarge, match=r"^drawing 1,000,000,000,000 rows of 2 columns takes 160,000,"
    ):
        sample(coin, 10**12, family="bernoulli")


@pytest.mark.spec("EM-PRED")
def test_shares_of_rows() -> None:
    coin = CountParameters((0.5, 0.5), ((0.5, 0.5), (0.1, 0.9)))
    with limits(memory=2 * 3 * 2 * 8 - 1):
        rows = [[1, 0], [0, 1], [1, 1]]
        with pytest.raises(
            TooLarge, match=r"^holding the shares of 3 rows in 2 components takes 96"
        ):
            assignments(coin, rows, family="bernoulli")
        assert len(assignments(coin, rows, family="bernoulli", full=False).labels) == 3


@pytest.mark.spec("EM-RESTART")
@pytest.mark.parametrize(
    "fit",
    [
        lambda: kmeans(PLAIN, 2, restarts=10**9),
        lambda: kmeans(PLAIN, 2, start="greedy", trials=10**9),
        lambda: gaussian_mixture(PLAIN, 2, restarts=10**9),
        lambda: gaussian_mixture(PLAIN, 2, variation="monte-carlo", samples=10**9),
        lambda: select(PLAIN, k=[1, 2], model="kmeans", criterion="gap", references=10**9),
    ],
)
def test_runs_without_end_are_refused(fit: Callable[[], Any]) -> None:
    with pytest.raises(TooLarge, match="takes 1,000,000,000 runs, and the limit is 1,000,000;"):
        fit()
