"""K-means of scikit-learn from the same starts, on the data sets that come with it.

Where no row lies so near a border that rounding decides, both must give the same labels. In all the
runs on real data below they do, so there is no disagreement to list; the last test builds one.
"""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine

from refclust.backends.session import Session
from refclust.cluster.fit import kmeans
from refclust.cluster.seeding import STARTS
from refclust.data.accepting.door import dataset
from refclust.fitting.draws import Draws
from refclust.fitting.rows import Rows

UNIT = Fraction(1, 2**53)


def theirs(data: Any, centres: Any) -> Any:
    peer = KMeans(
        len(centres), init=numpy.array(centres), n_init=1, tol=0, max_iter=300, algorithm="lloyd"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it may warn of threads, which do not matter here
        return peer.fit(data)


def compare(data: Any, centres: list[tuple[float, ...]], sharp: int = 10**9) -> None:
    ours, peer = kmeans(data, centres=centres), theirs(data, centres)
    assert ours.labels.tolist() == peer.labels_.tolist()
    assert ours.iterations == peer.n_iter_
    n, d = data.shape
    # They subtract the means of the columns first and add up at most n rows, at most twice as large
    # as the largest number x: each difference of a row and a centre errs by at most
    # e = (n + 4) u 2 max|x|. Squared, n d of them err by n d e^2 + 2 e sqrt(n d RSS), by the
    # inequality of Cauchy and Schwarz; adding up n d squares is rounded n d + 3 times at most.
    largest = Fraction(float(numpy.abs(data).max()))
    e = (n + 4) * UNIT * 2 * largest
    rss = ours.runs[0].exact_rss
    root = Fraction(float(n * d * rss) ** 0.5) * 2
    bound = n * d * e * e + 2 * e * root + (n * d + 3) * UNIT * rss
    assert abs(Fraction(float(peer.inertia_)) - rss) <= bound
    assert bound < rss / sharp  # or the comparison would say nothing


def first_rows(data: Any, k: int) -> list[tuple[float, ...]]:
    return [tuple(row) for row in data[:k].tolist()]


def seeds(data: Any, k: int, seed: int) -> list[tuple[float, ...]]:
    rows = Rows(dataset(data), Session("reference"))
    return list(STARTS["k-means++"](rows, k, Draws(seed)))


@pytest.mark.spec("KM-ALG", "KM-ASSIGN", "KM-UPDATE", "KM-RSS", "KM-STOP")
@pytest.mark.parametrize("k", [2, 3, 5, 8])
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_flowers_and_wines(load: Any, k: int) -> None:
    data = load().data
    compare(data, first_rows(data, k))
    for seed in range(3):
        compare(data, seeds(data, k, seed))


@pytest.mark.spec("KM-ALG", "KM-RSS")
def test_digits() -> None:
    """Integers in 64 columns, 600 of 1797 rows for the sake of time."""
    data = load_digits().data[:600]
    compare(data, first_rows(data, 10))
    compare(data, seeds(data, 10, 2))


@pytest.mark.spec("KM-ASSIGN")
def test_iris_far_from_zero() -> None:
    """Rows moved by 2**30 are rounded, so they are other data, but both see the same ones."""
    data = load_iris().data + 2.0**30
    compare(data, first_rows(data, 3), sharp=10**3)


@pytest.mark.spec("KM-ASSIGN", "KM-STOP")
def test_a_tie_that_rounding_decides() -> None:
    """Rows 5, 7, 1 from the centres 5 and 7: the first update gives 3 and 7, and 5 is halfway.

    The rule says: to the lower index, so the labels do not change and the run ends. The peer
    subtracts the mean 13/3 before it begins; no row is a double any more, and rounding decides
    where 5 goes. Version 1.9.1 sends it to the higher index; both ways are nearest centres.
    """
    rows = [[5.0], [7.0], [1.0]]
    ours = kmeans(rows, centres=[[5], [7]])
    assert (ours.labels.tolist(), ours.centres, ours.rss) == ([0, 1, 0], ((3.0,), (7.0,)), 8.0)
    peer = theirs(numpy.array(rows), [[5.0], [7.0]])
    assert peer.labels_.tolist() in ([0, 1, 0], [1, 1, 0])
