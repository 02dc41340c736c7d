"""Documents of every kind, and what becomes of them when they are read."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import refclust as mixtures
from refclust.cluster.bisecting import bisecting
from refclust.cluster.fit import kmeans
from refclust.errors import BadModel, RefclustError
from refclust.fitting.checkpoint import Checkpoint, _checksum
from refclust.models.clusters import from_json, to_json
from tests.hostile.damage import text
from tests.models.samples import models as cluster_models
from tests.models.test_mixtures import models as mixture_models
from tests.models.test_resumed_models import Copied

ROWS = [[(37 * i * i) % 101 / 8, (53 * i) % 89 / 4] for i in range(12)]
WORDS = [[(7 * i * j) % 5 + (i % 3 == j) * 4 for j in range(3)] for i in range(8)]
BITS = [[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 0], [1, 0, 0]]
LONGEST = 20.0  # seconds for what takes milliseconds
Fit = Callable[..., Any]

FITS: dict[str, Fit] = {
    "kmeans": functools.partial(kmeans, ROWS, 3, start="random", restarts=2, trace="full"),
    "drop": functools.partial(
        kmeans,
        ROWS,
        centres=[[0, 0], [500, 0], [5, 1], [6, 9]],
        empty="drop",
        trace="scalars",
    ),
    "cosine": functools.partial(kmeans, ROWS[1:], 2, metric="cosine", start="greedy", restarts=2),
    "bisecting": functools.partial(bisecting, ROWS, 5, seed=2),
    "gaussian": functools.partial(
        mixtures.gaussian_mixture, ROWS, 2, floor=0.1, limit=3, restarts=2, trace="parameters"
    ),
    "sampled": functools.partial(
        mixtures.gaussian_mixture,
        ROWS,
        2,
        covariance="EII",
        variation="stochastic",
        floor=0.1,
        limit=3,
        collapse="drop",
    ),
    "multinomial": functools.partial(mixtures.multinomial_mixture, WORDS, 2, m=1.0, limit=4),
    "bernoulli": functools.partial(
        mixtures.bernoulli_mixture, BITS, 2, m=1.0, limit=4, restarts=2, start="random"
    ),
}


def checkpoint_of(name: str, path: Path) -> bytes:
    """A checkpoint in the middle of a fit: the largest that has a run under way."""
    kept = Copied(str(path), every=0.0)
    FITS[name](backend="reference", checkpoint=kept)
    under_way = [one for one in kept.left if _under_way(json.loads(one)["progress"])]
    return max(under_way, key=len)


def _under_way(progress: dict[str, Any]) -> bool:
    return bool(progress.get("centres") or progress.get("pending") or progress.get("nodes"))


def sealed(document: dict[str, Any]) -> str:
    """The document with a checksum that is right, if one can be made."""
    plain = text(document)
    try:
        read = json.loads(plain)
        return text({**document, "checksum": _checksum([read["ran"], read["progress"]])})
    except (ValueError, LookupError, TypeError, RecursionError):
        return plain


def resumed(name: str, path: Path, content: bytes) -> str:
    """How a fit that goes on from this checkpoint ends: well, or with the code of an error."""
    path.write_bytes(content)
    started = time.monotonic()
    try:
        FITS[name](backend="reference", checkpoint=Checkpoint(str(path), resume=True))
        ended = "fine"
    except RefclustError as error:
        ended = _told(error)
    assert time.monotonic() - started < LONGEST
    return ended


def _told(error: RefclustError) -> str:
    """The code of an error that is told in one line of some length."""
    line = str(error)
    assert "\n" not in line
    assert len(line) < 1000
    return error.code


@functools.cache
def model_texts() -> dict[str, str]:
    """A model file of every kind."""
    return {name: to_json(one) for name, one in {**cluster_models(), **mixture_models()}.items()}


def loaded(content: str) -> str:
    """Whether a model can be read, or the code of the error."""
    started = time.monotonic()
    try:
        from_json(content, "model.json")
        ended = "fine"
    except BadModel as error:
        ended = _told(error)
    assert time.monotonic() - started < LONGEST
    return ended
