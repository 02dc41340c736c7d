"""Random fits: rows of many kinds of numbers, a family, its options; all from one seed."""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import refclust

Rows = list[list[float]]

LEAST = 5e-324
COVARIANCES = (
    *("EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE"),
    *("VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV"),
)
SLOW = ("VEE", "EVE", "VVE", "VEV")  # models whose M-step is an iteration of its own


@dataclass(frozen=True, slots=True)
class Fit:
    """One fit: what to call, with what, and with how many threads."""

    family: str
    exact: bool  # the same bits on every backend; else every kernel keeps its bound
    call: Callable[..., Any]
    data: tuple[Any, ...]
    options: dict[str, Any]
    threads: int
    told: str


def drawn(seed: int, number: int) -> Fit:
    """The fit with a number."""
    rng = random.Random(f"{seed}/{number}")
    family = rng.choices(list(_FAMILIES), [weight for weight, _ in _FAMILIES.values()])[0]
    return _FAMILIES[family][1](rng)


def _size(rng: random.Random) -> tuple[int, int]:
    """Rows and columns: mostly few, sometimes around the sizes of blocks and vectors."""
    edges = (1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 47, 48, 49, 63, 64, 65, 127, 128, 129, 257)
    n = rng.choice(edges) if rng.random() < 0.5 else rng.randint(1, 150)
    d = rng.choice((1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 25, 33)) if rng.random() < 0.9 else 70
    return n, d if n * d < 6000 else max(1, 6000 // n)


def _numbers(rng: random.Random) -> tuple[str, Callable[[], float]]:
    """A kind of number, and a source of such numbers."""
    mixed = (1e300, -1e300, 1e-300, 1.0, -1.0, 0.0, -0.0, 0.1, 1e9, LEAST, 1e155)
    kinds: dict[str, Callable[[], float]] = {
        "normal": lambda: rng.gauss(0.0, 1.0),
        "tenths": lambda: rng.randint(-20, 20) / 10,
        "whole": lambda: float(rng.randint(-3, 3)),
        "offset": lambda: 1e9 + rng.randint(-40, 40) / 16,
        "far": lambda: 1e15 + rng.randint(-9, 9),
        "huge": lambda: rng.uniform(-1.7, 1.7) * 1e308,
        "tiny": lambda: rng.uniform(-2.0, 2.0) * 1e-300,
        "least": lambda: LEAST * rng.randint(-5, 5),
        "mixed": lambda: rng.choice(mixed),
    }
    weights = (30, 15, 15, 10, 5, 3, 3, 3, 4)
    name = rng.choices(list(kinds), weights)[0]
    return name, kinds[name]


def _table(rng: random.Random, n: int, d: int) -> tuple[str, Rows]:
    name, number = _numbers(rng)
    groups = [[number() for _ in range(d)] for _ in range(rng.randint(1, 5))]
    rows = [[number() for _ in range(d)] for _ in range(n)]
    if name in ("normal", "offset", "tenths") and rng.random() < 0.6:
        middles = rng.choices(groups, k=n)
        rows = [
            [8 * (m - 1e9) + 1e9 + x if name == "offset" else 8 * m + x for m, x in pairs]
            for pairs in (
                zip(middle, (rng.gauss(0, 1) for _ in row), strict=True)
                for middle, row in zip(middles, rows, strict=True)
            )
        ]
    for _ in range(rng.choice((0, 0, n // 3))):
        rows[rng.randrange(n)] = list(rows[rng.randrange(n)])
    return name, rows


def _dressed(rng: random.Random, rows: Rows) -> tuple[str, Any]:
    """The rows as people have them: lists, arrays of both precisions, sparse dicts and matrices."""
    form = rng.choice(("list", "float64", "float32", "fortran", "dict", "csr"))
    limit = max((abs(x) for row in rows for x in row), default=0.0)
    if form == "float32" and limit > 1e38:
        form = "float64"
    if form == "list":
        return form, rows
    if form == "dict":
        return form, [{j: x for j, x in enumerate(row) if x or j == 0} for row in rows]
    matrix = np.array(rows, np.float32 if form == "float32" else np.float64)
    if form == "fortran":
        return form, np.asfortranarray(matrix)
    if form == "csr":
        holes = np.array([[rng.random() < 0.4 for _ in row] for row in rows])
        made = csr_array(matrix)
        # Zeros that are stored: the pattern stays, the numbers go.
        keep = np.repeat(np.arange(len(rows)), np.diff(made.indptr)), made.indices
        made.data[holes[keep]] = 0.0
        return form, made
    return form, matrix


def _weights(rng: random.Random, n: int) -> tuple[str, list[float] | None]:
    kind = rng.choices(("none", "ones", "fractions", "zeros", "wild"), (60, 5, 20, 10, 5))[0]
    if kind == "none":
        return kind, None
    choices = {
        "ones": (1.0,),
        "fractions": (0.5, 1.0, 1 / 3, 2.75, 0.1),
        "zeros": (0.0, 1.0, 2.0, 0.25),
        "wild": (1e-300, 1.0, 1e300, 0.0, LEAST, 1e155),
    }[kind]
    weights = [rng.choice(choices) for _ in range(n)]
    weights[rng.randrange(n)] = 1.0
    return kind, weights


def _rows(rng: random.Random) -> tuple[str, Any, int, int]:
    n, d = _size(rng)
    name, rows = _table(rng, n, d)
    form, data = _dressed(rng, rows)
    return f"{n}x{d} {name} {form}", data, n, d


def _centres(rng: random.Random, data: Any, n: int, k: int) -> Any:
    places = [rng.randrange(n) for _ in range(k)]
    if isinstance(data, list):
        chosen = [data[i] for i in places]
        if chosen and isinstance(chosen[0], dict):
            return chosen
        return [[float(x) for x in row] for row in chosen]
    dense = data.toarray() if hasattr(data, "toarray") else data
    return np.ascontiguousarray(dense[places]).astype(np.float64)


def _kmeans(rng: random.Random) -> Fit:
    told, data, n, _ = _rows(rng)
    k = rng.randint(1, min(n, rng.choice((3, 8, 20, 50))))
    kind, weights = _weights(rng, n)
    start = rng.choice(("k-means++", "greedy", "random", "farthest", "centres", "centres"))
    metric = rng.choices(("euclidean", "cosine"), (4, 1))[0]
    options: dict[str, Any] = {
        "metric": metric,
        "weights": weights,
        "seed": rng.randrange(1000),
        "empty": rng.choice(("farthest", "split", "keep", "drop", "error")),
        "limit": rng.choice((1, 3, 30)),
        "trace": rng.choice(("none", "centres", "full")),
    }
    if start == "centres":
        options["centres"] = _centres(rng, data, n, k)
    else:
        options |= {"k": k, "start": start, "restarts": rng.choice((1, 1, 2))}
    told = f"kmeans {told}, K={k}, {metric}, {start}, weights {kind}"
    return Fit("kmeans", True, refclust.kmeans, (data,), options, rng.randint(1, 4), told)


def _bisecting(rng: random.Random) -> Fit:
    told, data, n, _ = _rows(rng)
    kind, weights = _weights(rng, n)
    options = {
        "k": rng.randint(1, min(n, 9)),
        "by": rng.choice(("rss", "size")),
        "metric": rng.choices(("euclidean", "cosine"), (4, 1))[0],
        "weights": weights,
        "seed": rng.randrange(1000),
        "limit": 20,
    }
    told = f"bisecting {told}, weights {kind}"
    return Fit("bisecting", True, refclust.bisecting, (data,), options, rng.randint(1, 4), told)


def _trees(rng: random.Random) -> Fit:
    told, data, n, _ = _rows(rng)
    linkages = ("single", "complete", "average", "weighted", "ward", "centroid", "median")
    linkage = rng.choice(linkages)
    euclid = linkage in ("ward", "centroid", "median")
    metrics = ("euclidean",) if euclid else ("euclidean", "sqeuclidean", "cosine")
    options = {"linkage": linkage, "metric": rng.choice(metrics), "k": rng.randint(1, n)}
    told = f"agglomerative {told}, {options}"
    return Fit("trees", True, refclust.agglomerative, (data,), options, rng.randint(1, 4), told)


def _tables(rng: random.Random) -> Fit:
    n = rng.choice((1, 2, 10, 100, 600, 3000))
    sides = []
    for _ in range(2):
        values = rng.choice(([0, 1], list(range(7)), [-3, 5, 2**40], list(range(-60, 60))))
        labels = rng.choices(values, k=n)
        codes = "q" if max(map(abs, values)) > 2**31 else rng.choice("bhiq")
        words = rng.random() < 0.2
        sides.append([f"w{x}" for x in labels] if words else array(codes, labels))
    name = rng.choice(("adjusted_rand", "nmi", "purity", "ami"))
    told = f"{name} of {n} labels"
    return Fit("tables", True, getattr(refclust, name), tuple(sides), {}, rng.randint(1, 4), told)


def _em_options(rng: random.Random, n: int, k: int) -> dict[str, Any]:
    variation = rng.choice(("em", "em", "em", "hard", "top", "stochastic", "monte-carlo"))
    options: dict[str, Any] = {
        "variation": variation,
        "seed": rng.randrange(1000),
        "limit": rng.choice((1, 4, 12)),
        "weights": _weights(rng, n)[1],
        "start": rng.choice(("kmeans", "random", "points", "varied")),
        "collapse": rng.choice(("end", "drop", "reset")),
        "trace": rng.choice(("none", "parameters")),
    }
    if variation == "top":
        options["top"] = rng.randint(1, k)
    if variation == "monte-carlo":
        options["samples"] = rng.randint(1, 5)
    return options


def _gaussian(rng: random.Random) -> Fit:
    n, d = _size(rng)
    n, d = max(n, 3), min(d, rng.choice((1, 2, 3, 5, 9, 26)))
    covariance = rng.choice(COVARIANCES)
    if covariance in SLOW:
        d = min(d, 4)
    name, rows = _table(rng, n, d)
    form, data = _dressed(rng, rows)
    if form in ("dict", "csr"):
        form, data = "list", rows
    k = rng.randint(1, min(n, rng.choice((2, 4, 9, 20))))
    options = {
        "k": k,
        "covariance": covariance,
        "floor": rng.choice((0.0, 0.0, 1e-3, 0.1)),
        **_em_options(rng, n, k),
    }
    told = f"gaussian {n}x{d} {name} {form}, K={k}, {options['covariance']}, {options['variation']}"
    return Fit(
        "gaussian", False, refclust.gaussian_mixture, (data,), options, rng.randint(1, 4), told
    )


def _counts(rng: random.Random, most: int) -> tuple[str, Any, int]:
    n, d = _size(rng)
    high = rng.choice((1, 1, 3, 40, 100_000)) if most > 1 else 1
    density = rng.choice((0.05, 0.3, 0.9))
    rows = [
        [float(rng.randint(1, high)) if rng.random() < density else 0.0 for _ in range(d)]
        for _ in range(n)
    ]
    form, data = _dressed(rng, rows)
    return f"{n}x{d} up to {high} {form}", data, n


def _words(rng: random.Random) -> Fit:
    bernoulli = rng.random() < 0.4
    told, data, n = _counts(rng, 1 if bernoulli else 2)
    k = rng.randint(1, min(n, rng.choice((2, 5, 17, 40))))
    options = {"k": k, "m": rng.choice((0.0, 1.0, 0.5)), **_em_options(rng, n, k)}
    family = "bernoulli" if bernoulli else "multinomial"
    call = refclust.bernoulli_mixture if bernoulli else refclust.multinomial_mixture
    told = f"{family} {told}, K={k}, m={options['m']}, {options['variation']}"
    return Fit(family, False, call, (data,), options, rng.randint(1, 4), told)


def _twins(rng: random.Random) -> Fit:
    n, d = _size(rng)
    n = max(n, 4)
    labels = [f"c{rng.randrange(3)}" for _ in range(n)]
    kind = rng.choice(("qda", "lda", "nearest_gaussian", "naive_bayes"))
    if kind == "naive_bayes":
        data: Any = [[float(rng.randint(0, 4)) for _ in range(d)] for _ in range(n)]
        options: dict[str, Any] = {"smoothing": rng.choice(("laplace", "none"))}
        if rng.random() < 0.3:
            options["kind"] = "gaussian"
    else:
        _, data = _table(rng, n, min(d, 4))
        options = {}
    call = getattr(refclust, kind)
    return Fit(kind, False, call, (data, labels), options, rng.randint(1, 4), f"{kind} {n} rows")


_FAMILIES: dict[str, tuple[int, Callable[[random.Random], Fit]]] = {
    "kmeans": (40, _kmeans),
    "bisecting": (6, _bisecting),
    "trees": (9, _trees),
    "tables": (10, _tables),
    "gaussian": (18, _gaussian),
    "words": (12, _words),
    "twins": (5, _twins),
}
