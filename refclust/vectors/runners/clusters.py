"""Refclust's own answers to the golden vectors of k-means (chapter 10)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from refclust.backends.session import Session
from refclust.cluster.bisecting import bisecting as fit_bisecting
from refclust.cluster.fit import kmeans as fit_kmeans
from refclust.cluster.results import BisectingFit, Iteration, KMeansFit
from refclust.errors import BadVectorFile
from refclust.vectors.answers import Answer, Input, Missing

# The page of the format gives reasons by number, since a value is a number.
STOPPED: Final = ("unchanged", "tolerance", "objective", "limit")


def kmeans(inputs: Input, key: str, session: Session) -> Answer:
    """Answer one key of a case of ``cluster.kmeans``."""
    if key not in _OF_A_FIT:
        raise BadVectorFile(f"no reading of a k-means fit is called {key!r}")
    return _OF_A_FIT[key](_fit(json.dumps(inputs), session.requested))


def seeding(inputs: Input, key: str, session: Session) -> Answer:
    """Answer one key of a case of ``cluster.seeding``: the start of every run."""
    if key != "starts":
        raise BadVectorFile(f"no reading of initial centres is called {key!r}")
    fit = _fit(json.dumps({**inputs, "limit": "1"}), session.requested)
    return [run.start for run in fit.runs]


def bisecting(inputs: Input, key: str, session: Session) -> Answer:
    """Answer one key of a case of ``cluster.bisecting``."""
    if key not in _OF_LEAVES:
        raise BadVectorFile(f"no reading of a bisecting fit is called {key!r}")
    return _OF_LEAVES[key](_leaves(json.dumps(inputs), session.requested))


# A case asks for a dozen keys of one fit; the last one is kept.
@lru_cache(maxsize=1)
def _fit(text: str, backend: str) -> KMeansFit:
    inputs = json.loads(text)
    options = _options(inputs)
    start = inputs["start"]
    if isinstance(start, dict):
        del options["start"]
        options |= {"centres": _rows(start["centres"])} if "centres" in start else start
    return fit_kmeans(_rows(inputs["rows"]), **options, trace="full", backend=backend)


@lru_cache(maxsize=1)
def _leaves(text: str, backend: str) -> BisectingFit:
    inputs = json.loads(text)
    return fit_bisecting(_rows(inputs["rows"]), **_options(inputs), backend=backend)


def _options(inputs: dict[str, Any]) -> dict[str, Any]:
    readings: dict[str, Callable[[Any], Any]] = {
        **dict.fromkeys(("k", "seed", "restarts", "trials", "limit"), int),
        **dict.fromkeys(("start", "metric", "empty", "by"), str),
        "weights": lambda texts: [_double(text) for text in texts],
        "tolerance": _double,
    }
    return {name: read(inputs[name]) for name, read in readings.items() if name in inputs}


def _rows(rows: Sequence[Any]) -> list[Any]:
    return [
        {key: _double(value) for key, value in row["sparse"]}
        if isinstance(row, dict)
        else [_double(value) for value in row]
        for row in rows
    ]


def _double(text: str) -> float:
    return float.fromhex(text) if "0x" in text else float(text)


def _whole(values: Sequence[Any]) -> list[Fraction]:
    return [Fraction(value) for value in values]


def _there(value: Answer | None) -> Answer:
    return Missing() if value is None else value


def _updates(fit: KMeansFit) -> Sequence[Iteration]:
    """The iterations that moved the centres: a run that ends unchanged did not in its last."""
    return fit.trace[:-1] if fit.stopped == "unchanged" else fit.trace


def _emptied(fit: KMeansFit) -> Answer:
    return [
        _whole((event.iteration, event.cluster, -1 if event.row is None else event.row))
        for event in fit.emptied
    ]


_OF_A_FIT: Final[Mapping[str, Callable[[KMeansFit], Answer]]] = {
    "labels": lambda fit: _whole(fit.labels),
    "centres": lambda fit: fit.centres,
    "rss": lambda fit: fit.rss,
    "exact_rss": lambda fit: fit.runs[fit.best].exact_rss,
    "mean_square": lambda fit: fit.mean_square,
    "cosine": lambda fit: _there(fit.cosine),
    "sizes": lambda fit: fit.sizes,
    "within": lambda fit: fit.within,
    "iterations": lambda fit: Fraction(fit.iterations),
    "stopped": lambda fit: Fraction(STOPPED.index(fit.stopped)),
    "start": lambda fit: fit.runs[fit.best].start,
    "best": lambda fit: Fraction(fit.best),
    "emptied": _emptied,
    "runs.rss": lambda fit: [run.rss for run in fit.runs],
    "runs.iterations": lambda fit: _whole([run.iterations for run in fit.runs]),
    "runs.stopped": lambda fit: _whole([STOPPED.index(run.stopped) for run in fit.runs]),
    "trace.labels": lambda fit: [_whole(iteration.labels or ()) for iteration in fit.trace],
    "trace.changed": lambda fit: _whole([iteration.changed for iteration in fit.trace]),
    "trace.rss": lambda fit: [_there(iteration.rss) for iteration in fit.trace],
    "trace.rss_updated": lambda fit: [_there(iteration.rss_updated) for iteration in _updates(fit)],
    "trace.centres": lambda fit: [_there(iteration.centres) for iteration in _updates(fit)],
}
_OF_LEAVES: Final[Mapping[str, Callable[[BisectingFit], Answer]]] = {
    "labels": lambda fit: _whole(fit.labels),
    "centres": lambda fit: fit.centres,
    "rss": lambda fit: fit.rss,
    "sizes": lambda fit: fit.sizes,
}
