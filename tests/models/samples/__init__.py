"""Models to test with: one of every kind, from real fits."""

from __future__ import annotations

import math
from fractions import Fraction

from refclust.cluster.bisecting import bisecting
from refclust.cluster.fit import kmeans
from refclust.cluster.hierarchical import agglomerative
from refclust.data.accepting.door import dataset
from refclust.data.readers.formats import Options
from refclust.data.text import TextOptions
from refclust.models.clusters import Cut, Model, model_of
from refclust.models.records.clusters import Reading, Weighing

FLOWERS = dataset(
    [[0.1, 1], [0.2, 1], [5, 1.5], [5, 2], [9, -0.0], [9.5, 0]], features=["width", "length"]
)
WORDS = dataset(
    [{"cat": 2, "dog": 1}, {"cat": 1}, {"fish": 3}, {"fish": 1, "sea": 2}, {"dog": 1}],
    weights=[1, 0.5, 1, 2, 0.1],
)
TEXTS = Reading(
    "lines",
    Options(
        text=TextOptions(tfidf=True, stop_words=frozenset(["the", "a"]), max_df=Fraction(1, 2))
    ),
    Weighing(5, (2, 2, 2, 1)),
)
TABLE = Reading("csv", Options(delimiter=";", header=True, columns=("width", "length"), base=1))


def models() -> dict[str, Model]:
    """Every algorithm, metric and kind of data."""
    return {
        "kmeans": model_of(
            kmeans(FLOWERS, 3, restarts=2, tolerance=0.25), data=FLOWERS, reading=TABLE
        ),
        "emptied": model_of(kmeans(FLOWERS, centres=[[0, 0], [0, 0]]), data=FLOWERS),
        "dropped": model_of(
            kmeans(FLOWERS, centres=[[0, 0], [0, 0], [9, 9]], empty="drop"), data=FLOWERS
        ),
        "cosine": model_of(kmeans(WORDS, 2, metric="cosine"), data=WORDS, reading=TEXTS),
        "without data": model_of(kmeans(WORDS, 2, seed=10**30)),
        "bisecting": model_of(bisecting(FLOWERS, 4), data=FLOWERS),
        "bisecting words": model_of(bisecting(WORDS, 3, metric="cosine", by="size"), data=WORDS),
        "one cluster": model_of(bisecting(FLOWERS, 1), data=FLOWERS),
        "tree": model_of(agglomerative(FLOWERS), data=FLOWERS),
        "cut": model_of(agglomerative(FLOWERS, linkage="single", k=2), data=FLOWERS),
        "height": model_of(
            agglomerative(distances=[3, 2, 1], linkage="single", height=1.5), cut=Cut(height=1.5)
        ),
    }


def is_nearest_cosine_distance(
    value: float, row: tuple[float, ...], centre: tuple[float, ...]
) -> bool:
    """1 - p/sqrt(q) lies between the midpoints around the value: decided with squares only."""
    x, c = [Fraction(a) for a in row], [Fraction(a) for a in centre]
    p = sum((a * b for a, b in zip(x, c, strict=True)), Fraction(0))
    q = sum((a * a for a in x), Fraction(0)) * sum((a * a for a in c), Fraction(0))
    beside = (math.nextafter(value, -math.inf), math.nextafter(value, math.inf))
    low, high = ((Fraction(value) + Fraction(end)) / 2 for end in beside)
    # low <= 1 - p/sqrt(q) <= high  <=>  1 - high <= p/sqrt(q) <= 1 - low
    return _signed(1 - high) * q <= _signed(p) <= _signed(1 - low) * q


def _signed(t: Fraction) -> Fraction:
    return t * abs(t)
