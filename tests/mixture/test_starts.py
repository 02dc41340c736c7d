"""Where EM starts: every start by hand (EM-INIT, KM-INITMIX)."""

from __future__ import annotations

import math
from typing import Any

import pytest

from refclust.cluster.fit import kmeans
from refclust.errors import BadOption, DegenerateCovariance, RefclustError
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.numbers.sampling import stream
from tests.mixture.tools import FITS, bernoulli, gaussian, multinomial, told

LINE = [[0.0], [1.0], [2.0], [10.0], [11.0], [13.0]]
PLANE = [[0.0, 0.0], [1.0, 3.0], [2.0, 1.0], [10.0, 5.0], [11.0, 9.0], [13.0, 4.0]]
WORDS = [[4, 0, 1], [5, 1, 0], [0, 3, 3], [1, 1, 1]]


@pytest.mark.spec("KM-INITMIX", "EM-INIT")
@pytest.mark.parametrize("seed", range(5))
def test_kmeans(seed: int) -> None:
    fit = gaussian(LINE, 2, covariance="VII", seed=seed, limit=0)
    clusters = kmeans(LINE, 2, seed=seed, limit=100)
    assert fit.start == "kmeans"
    due = gaussian(LINE, labels=clusters.labels.tolist(), covariance="VII", limit=0)
    assert fit.parameters == due.parameters
    by_means = dict(zip(fit.parameters.means, fit.parameters.spreads, strict=True))
    assert by_means[(1.0,)] == (2 / 3,)
    assert by_means[(34 / 3,)][0] == pytest.approx(14 / 9, rel=1e-15)


@pytest.mark.spec("EM-INIT")
def test_points_have_equal_weights_and_the_covariance_of_all_rows() -> None:
    fit = gaussian(PLANE, 3, start="points", seed=2, limit=0, floor=0.5)
    assert fit.parameters.weights == (1 / 3,) * 3
    assert len(set(fit.parameters.means)) == 3
    assert all(list(mean) in PLANE for mean in fit.parameters.means)
    n = len(PLANE)
    mean = [math.fsum(row[j] for row in PLANE) / n for j in range(2)]
    for spread in fit.parameters.spreads:
        for i in range(2):
            for j in range(2):
                terms = [(row[i] - mean[i]) * (row[j] - mean[j]) for row in PLANE]
                due = math.fsum(terms) / n
                if i == j:
                    due += 0.5 * due / n  # the floor: half of the variance, as scatter
                assert spread[i * 2 + j] == pytest.approx(due, rel=1e-14)


@pytest.mark.spec("EM-INIT")
def test_points_of_words_are_like_their_rows_and_one_imagined_row() -> None:
    """theta = (x + (m + L) b) / (|x| + m + L), b and L those of all rows."""
    for m in (0.0, 1.5):
        fit = multinomial(WORDS, 2, start="points", seed=1, limit=0, m=m)
        total = [10, 5, 5]
        mean_length = 20 / 4
        b = [(x + m / 3) / (20 + m) for x in total]
        rows = []
        for row in WORDS:
            whole = sum(row) + m + mean_length
            rows.append([(x + (m + mean_length) * p) / whole for x, p in zip(row, b, strict=True)])
        assert fit.parameters.weights == (0.5, 0.5)
        for found in fit.parameters.probabilities:
            assert any(found == pytest.approx(row, rel=1e-14) for row in rows)


@pytest.mark.spec("EM-INIT")
def test_points_of_presences() -> None:
    """theta = (x + (m + 1) b) / (m + 2), b = (W t + 1/2) / (W + 1), and 0 without the word."""
    bits = [[1, 0, 0], [1, 1, 0], [1, 0, 0], [1, 1, 0]]
    fit = bernoulli(bits, 2, start="points", seed=1, limit=0)
    b = [4.5 / 5, 2.5 / 5, 0.0]
    rows = [[(x + p) / 2 for x, p in zip(row, b, strict=True)] for row in bits]
    for found in fit.parameters.probabilities:
        assert any(found == pytest.approx(row, rel=1e-14) for row in rows)
        assert found[2] == 0.0


@pytest.mark.spec("EM-INIT")
def test_random_shares_of_words_take_the_imagined_row() -> None:
    fit = multinomial(WORDS, 2, start="random", seed=7, limit=0)
    rng = stream(7)
    q = []
    for _ in WORDS:
        parts = [-math.log1p(-rng.random()) for _ in range(2)]
        q.append([part / math.fsum(parts) for part in parts])
    b = [0.5, 0.25, 0.25]
    for c, found in enumerate(fit.parameters.probabilities):
        counts = [
            math.fsum(s[c] * row[j] for s, row in zip(q, WORDS, strict=True)) for j in range(3)
        ]
        whole = math.fsum(counts) + 5.0
        due = [(x + 5.0 * p) / whole for x, p in zip(counts, b, strict=True)]
        assert found == pytest.approx(due, rel=1e-13)


@pytest.mark.spec("EM-INIT")
def test_given_labels_are_taken_as_they_are() -> None:
    fit = multinomial(WORDS, labels=["x", "x", "a", "a"], limit=0)
    assert tuple(fit.parameters.probabilities) == ((1 / 9, 4 / 9, 4 / 9), (9 / 11, 1 / 11, 1 / 11))
    assert (fit.k, fit.start) == (2, "labels")
    with pytest.raises(BadOption, match="group 1 of the labels"):
        multinomial(WORDS, labels=[0, 0, 1, 0], weights=[1, 1, 0, 1])


@pytest.mark.spec("KM-INITMIX", "EM-INIT")
def test_a_cluster_without_spread_begins_with_the_pooled_covariance() -> None:
    rows = [[0.0], [1.0], [2.0], [50.0]]
    fit = gaussian(rows, labels=[0, 0, 0, 1], limit=0)
    assert fit.parameters.spreads == ((0.5,), (0.5,))
    assert fit.parameters.means == ((1.0,), (50.0,))
    with pytest.raises(DegenerateCovariance, match="the start has no mixture"):
        gaussian([[0.0, 1.0], [0.0, 2.0], [5.0, 1.0], [5.0, 7.0]], labels=[0, 0, 1, 1])


@pytest.mark.spec("EM-INIT")
@pytest.mark.parametrize("start", ["kmeans", "points"])
@pytest.mark.parametrize("name", FITS)
def test_starts_need_different_rows_that_count(start: str, name: str) -> None:
    rows = [[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    options: dict[str, Any] = {"start": start, "weights": [1, 1, 1, 0]}
    with pytest.raises(RefclustError) as caught:
        FITS[name](rows, 3, **options)
    assert caught.value.code == "k-out-of-range"


@pytest.mark.spec("EM-INIT", "EM-RESTART")
@pytest.mark.parametrize("start", ["kmeans", "random", "points"])
def test_one_stream_runs_through_all_restarts(start: str) -> None:
    """The second run begins where the first one stopped drawing: after K or n K numbers."""
    fit = gaussian(PLANE, 2, start=start, seed=5, restarts=3, floor=0.1, limit=0)
    used = {"kmeans": 2, "random": 12, "points": 2}[start]
    starts = [told(run.start) for run in fit.runs]
    assert len(set(starts)) > 1 or start == "kmeans"  # two clusters leave it no choice
    for run, drawn in zip(fit.runs, (0, used, 2 * used), strict=True):
        rng = stream(5)
        for _ in range(drawn):
            rng.random()
        if start == "random":
            q = [[-math.log1p(-rng.random()) for _ in range(2)] for _ in PLANE]
            shares = [one[0] / math.fsum(one) for one in q]
            assert run.start.weights[0] == pytest.approx(math.fsum(shares) / 6, rel=1e-14)
        elif start == "points":
            # The first row: the least whose cumulated weight is above u of the whole.
            assert list(run.start.means[0]) == PLANE[math.floor(6 * rng.random())]


@pytest.mark.spec("EM-INIT")
def test_given_parameters_are_themselves() -> None:
    start = GaussianParameters((0.25, 0.75), ((0.0,), (9.0,)), ((1.0,), (2.0,)), "spherical")
    fit = gaussian(LINE, parameters=start, covariance="VII", limit=0)
    assert fit.parameters == start
    assert fit.runs[0].start == start
    with pytest.raises(BadOption, match="k is 3, but 2 components"):
        gaussian(LINE, 3, parameters=start, covariance="VII")
    with pytest.raises(BadOption, match="have spherical covariances"):
        gaussian(LINE, parameters=start)
    with pytest.raises(BadOption, match="would all be the same"):
        gaussian(LINE, parameters=start, covariance="VII", restarts=2)
    sampled = gaussian(
        LINE, parameters=start, covariance="EII", restarts=2, variation="stochastic", limit=2
    )
    assert len(sampled.runs) == 2


@pytest.mark.spec("EM-INIT")
def test_weights_of_zero_are_allowed_and_stay() -> None:
    start = GaussianParameters((1.0, 0.0), ((5.0,), (9.0,)), ((30.0,), (2.0,)), "spherical")
    fit = gaussian(LINE, parameters=start, covariance="VII", limit=0)
    assert fit.sizes == (6.0, 0.0)
    dropped = gaussian(LINE, parameters=start, covariance="VII", collapse="drop")
    assert len(dropped.parameters.weights) == 1
    assert dropped.runs[0].events[0].why == "component 1 has no rows any more"
    assert dropped.k == 2
