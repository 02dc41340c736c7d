"""Small fits of every kind: what models and checkpoints are made from."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import refclust
from refclust.data.readers.formats import Options
from refclust.data.text import TextOptions
from refclust.fitting.checkpoint import Checkpoint
from refclust.mixture.bayes.fit import variational_gaussian
from refclust.models.classifiers import model_of
from refclust.models.clusters import to_json
from refclust.models.records.clusters import Reading

POINTS: Final[list[list[float]]] = [
    [0, 0.5],
    [1, 0],
    [0.25, 1],
    [8, 9],
    [9, 8.5],
    [8.5, 9.5],
    [4, 4],
    [5, 4.5],
]
COUNTS: Final = [[3, 0, 1], [4, 1, 0], [0, 2, 5], [1, 0, 4], [2, 2, 2], [5, 0, 0]]
BITS: Final = [[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1], [1, 1, 1], [1, 0, 0]]
NAMED: Final[list[dict[str, float]]] = [
    {"a": 1, "b": 2},
    {"b": 3},
    {"a": 4, "c": 1},
    {"c": 5},
    {"a": 2, "c": 2},
]
SIDES: Final = ["l", "l", "l", "r", "r", "r", "m", "m"]
KINDS: Final = ["x", "x", "y", "y", "x", "x"]
_REFERENCE: Final[dict[str, Any]] = {"backend": "reference"}
_READING: Final = Reading(
    "lines", Options(text=TextOptions(stop_words=frozenset(["und"]), max_df=5)), None
)


@functools.cache
def models() -> Mapping[str, Any]:
    """The documents of models of every kind, as trees; the same in every process."""
    rows, named = refclust.dataset(POINTS, features=["x", "y"]), refclust.dataset(NAMED)
    fits: dict[str, tuple[Any, dict[str, Any]]] = {
        "kmeans": (refclust.kmeans(rows, 3, restarts=2, **_REFERENCE), {"data": rows}),
        "cosine": (
            refclust.kmeans(named, 2, metric="cosine", **_REFERENCE),
            {"data": named, "reading": _READING},
        ),
        "bisecting": (refclust.bisecting(rows, 3, **_REFERENCE), {"data": rows}),
        "agglomerative": (refclust.agglomerative(rows, k=3, **_REFERENCE), {"data": rows}),
        "distances": (refclust.agglomerative(distances=[3, 2, 1], k=2, **_REFERENCE), {}),
        "gaussian": (refclust.gaussian_mixture(POINTS, 2, covariance="tied", **_REFERENCE), {}),
        "diagonal": (refclust.gaussian_mixture(POINTS, 2, covariance="VVI", **_REFERENCE), {}),
        "full": (refclust.gaussian_mixture(POINTS, 2, floor=0.1, **_REFERENCE), {}),
        "multinomial": (refclust.multinomial_mixture(COUNTS, 2, m=1.0, **_REFERENCE), {}),
        "bernoulli": (refclust.bernoulli_mixture(BITS, 2, m=1.0, **_REFERENCE), {}),
        "beliefs": (variational_gaussian(POINTS, 2, **_REFERENCE), {}),
        "naive-bayes": (refclust.naive_bayes(COUNTS, KINDS, smoothing="laplace", **_REFERENCE), {}),
        "qda": (refclust.qda(POINTS, SIDES, floor=0.1, **_REFERENCE), {}),
        "lda": (refclust.lda(POINTS, [0, 0, 0, 1, 1, 1, 1, 0], **_REFERENCE), {}),
        "nearest": (refclust.nearest_gaussian(POINTS, SIDES, floor=0.1, **_REFERENCE), {}),
    }
    return {name: json.loads(to_json(model_of(fit, **more))) for name, (fit, more) in fits.items()}


RESUMED: Final[Mapping[str, tuple[str, list[Any], dict[str, Any]]]] = {
    "kmeans": ("kmeans_steps", POINTS, {"k": 3, "restarts": 3, "seed": 2}),
    "cosine": ("kmeans_steps", NAMED, {"k": 2, "metric": "cosine", "restarts": 2}),
    "given": ("kmeans_steps", POINTS, {"centres": [[0, 0], [0, 1], [9, 9]], "empty": "split"}),
    "gaussian": ("gaussian_steps", POINTS, {"k": 2, "covariance": "tied", "restarts": 2}),
    "full": ("gaussian_steps", POINTS, {"k": 2, "floor": 0.1, "trace": "parameters", "limit": 6}),
    "multinomial": ("multinomial_steps", COUNTS, {"k": 2, "m": 1.0, "restarts": 2, "limit": 5}),
    "sampled": ("bernoulli_steps", BITS, {"k": 2, "m": 1.0, "variation": "stochastic", "limit": 4}),
}


def steps(name: str, checkpoint: Checkpoint | None) -> Any:
    """Begin one of the fits that are stopped and resumed."""
    function, rows, options = RESUMED[name]
    begin: Callable[..., Any] = getattr(refclust, function)
    return begin(rows, **options, **_REFERENCE, checkpoint=checkpoint)


def finished(fit: Any) -> str:
    """What a fit found, without what ran for it."""
    return repr((list(fit.labels), getattr(fit, "centres", None), fit.stopped, fit.iterations))


@functools.cache
def checkpoints() -> Mapping[str, list[Any]]:
    """Documents of checkpoints after one, two and more steps, as trees without measured times."""
    found: dict[str, list[Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint"
        for name in RESUMED:
            found[name] = []
            under_way = steps(name, Checkpoint(str(path), every=1e9))
            for _, _ in zip(range(4), under_way, strict=False):
                under_way.save()
                tree = json.loads(path.read_text(encoding="utf-8"))
                for run in tree["ran"]["kernels"]:
                    run["seconds"] = 0.0
                found[name].append(tree)
    return found


@functools.cache
def results() -> Mapping[str, str]:
    """What each of these fits finds if nobody stops it."""
    found: dict[str, str] = {}
    for name in RESUMED:
        under_way = steps(name, None)
        for _ in under_way:
            pass
        found[name] = finished(under_way.result())
    return found
