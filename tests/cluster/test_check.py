"""A finished fit checked again: what is right passes, and every claim is looked at."""

from __future__ import annotations

from array import array
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

from refclust.cluster.bisecting import bisecting
from refclust.cluster.check import CheckReport, check_fit, sampled
from refclust.cluster.fit import kmeans
from refclust.data.accepting.door import dataset
from refclust.data.dataset import Dataset
from refclust.errors import BadOption
from tests.cluster.strategies import KINDS, Case, cases, data_of
from tests.metrics.strategies import some

ROWS = [(float(i % 7), float(i * i % 11)) for i in range(40)]


@pytest.fixture(params=["dense", "sparse"])
def data(request: pytest.FixtureRequest) -> Dataset:
    return data_of(ROWS, request.param)


@pytest.mark.spec("BK-CHECK")
def test_a_fit_that_is_right(data: Dataset) -> None:
    fit = kmeans(data, 3)
    assert check_fit(fit, data, sample=10, seed=3) == CheckReport(
        rows=10,
        n=40,
        seed=3,
        checked=(
            "the labels of 10 rows of 40, in integers against every centre",
            "the labels of all 40 rows, by one full step of the reference",
            "the size of every cluster",
            "the residual sum of squares of every cluster, exactly",
            "RSS",
            "that every centre is the mean of its rows",
        ),
        faults=(),
    )


@pytest.mark.spec("BK-CHECK")
@some(40)
@given(cases(directions=True), KINDS)
def test_every_fit_of_ours_passes(case: Case, kind: str) -> None:
    rows = case.data(kind)
    for metric in ("euclidean", "cosine"):
        for limit in (1, 300):
            given_centres = [list(centre) for centre in case.centres]
            options: dict[str, Any] = {"metric": metric, "empty": "keep", "limit": limit}
            if kind == "sparse":
                options["centres"] = data_of(case.centres, "sparse")
            else:
                options["centres"] = given_centres
            fit = kmeans(rows, **options)
            report = check_fit(fit, rows)
            assert report.faults == ()
            assert report.ok
            assert report.rows == rows.n


def wrong(fit: Any, data: Any, **change: Any) -> tuple[str, ...]:
    report = check_fit(replace(fit, **change), data)
    assert not report.ok
    return report.faults


@pytest.mark.spec("BK-CHECK")
def test_every_claim_is_looked_at(data: Dataset) -> None:
    fit = kmeans(data, 3)
    labels = array("i", fit.labels)
    due = labels[5]
    labels[5] = (due + 1) % 3
    assert wrong(fit, data, labels=labels) == (
        f"in integers: row 5 is nearest to centre {due}, not {labels[5]}",
        f"by a full step: row 5: centre {labels[5]} instead of {due}",
    )
    assert wrong(fit, data, labels=labels[:-1] + array("i", [9]))
    assert wrong(fit, data, rss=fit.rss + 1e-13 * fit.rss) == (
        f"RSS is {fit.rss + 1e-13 * fit.rss!r}, not {fit.rss!r}",
    )
    sizes = (fit.sizes[0] + 1, *fit.sizes[1:])
    assert wrong(fit, data, sizes=sizes) == (
        f"cluster 0: the size is {sizes[0]}, not {fit.sizes[0]}",
    )
    within = (*fit.exact_within[:-1], fit.exact_within[-1] + Fraction(1, 10**30))
    assert "cluster 2: the residual sum of squares is" in wrong(fit, data, exact_within=within)[0]


@pytest.mark.spec("BK-CHECK")
def test_centres_that_are_no_means(data: Dataset) -> None:
    fit = kmeans(data, 3, limit=1)
    assert fit.stopped == "limit"
    assert check_fit(fit, data).ok  # it does not claim to be done
    assert "is not the mean of its rows" in wrong(fit, data, stopped="unchanged")[0]


@pytest.mark.spec("BK-CHECK")
def test_the_total_cosine_is_looked_at() -> None:
    rows = dataset([[1, 2], [2, 1], [-1, 3], [-2, -1]])
    fit = kmeans(rows, 2, metric="cosine")
    assert "the total cosine" in check_fit(fit, rows).checked
    assert fit.cosine is not None
    assert wrong(fit, rows, cosine=fit.cosine * 1.5)[0].startswith("the total cosine is ")


def test_weights_belong_to_the_data() -> None:
    rows = dataset([[0], [1], [5]], weights=[1, 0.5, 3])
    fit = kmeans(rows, 2)
    assert check_fit(fit, rows).ok
    with pytest.raises(BadOption, match="the data are not those of the fit: 3 rows"):
        check_fit(fit, dataset([[0], [1], [5]]))


def test_no_sample_is_a_sample() -> None:
    fit = kmeans([[0], [1], [5]], 2)
    report = check_fit(fit, [[0], [1], [5]], sample=0)
    assert (report.rows, report.ok) == (0, True)
    assert report.checked[0] == "the labels of 0 rows of 3, in integers against every centre"


def test_large_problems_are_sampled_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refclust.cluster.check._MOST_PRODUCTS", 10)
    fit = kmeans([[0], [1], [5], [6], [9], [7]], 2)
    assert check_fit(fit, [[0], [1], [5], [6], [9], [7]]).rows == 5


@pytest.mark.parametrize("sample", [-1, 1.5, True, "10"])
def test_samples_that_are_none(sample: Any) -> None:
    with pytest.raises(BadOption, match="sample is "):
        check_fit(kmeans([[0], [1]], 2), [[0], [1]], sample=sample)


def test_other_fits_are_refused() -> None:
    with pytest.raises(BadOption, match="a BisectingFit cannot be checked"):
        check_fit(bisecting([[0], [1]], 2), [[0], [1]])  # type: ignore[arg-type]


@pytest.mark.spec("NUM-RAND")
def test_samples_are_sets_of_rows() -> None:
    for n, count in ((1, 0), (1, 1), (10, 10), (10, 12), (50, 49), (1000, 20)):
        chosen = sampled(n, count, 7)
        assert chosen == sorted(set(chosen))
        assert len(chosen) == min(n, count)
        assert all(0 <= i < n for i in chosen)
    assert sampled(1000, 20, 7) != sampled(1000, 20, 8)
    seen = {tuple(sampled(4, 2, seed)) for seed in range(60)}
    assert len(seen) == 6  # every pair comes up
