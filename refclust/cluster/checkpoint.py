"""Checkpoints: a fit that was stopped goes on to the same bits (KM-CKPT of chapter 10).

One JSON file, replaced as a whole or not at all. It holds no labels: those before the last update
follow from the centres before it.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from array import array
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from refclust.cluster.options import KMeansOptions
from refclust.cluster.results import Centres, Emptied, Iteration, Run
from refclust.data.atomic import write_atomically
from refclust.errors import BadCheckpoint, FileNotReadable

FORMAT: Final = "refclust-checkpoint"
VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a fit has come: finished runs, and the run under way after its last update."""

    finished: tuple[Run, ...] = ()
    draws: int = 0
    start: Centres | None = None
    previous: Centres | None = None
    centres: Centres | None = None
    emptied: tuple[Emptied, ...] = ()
    trace: tuple[Iteration, ...] = ()

    @staticmethod
    def fresh() -> Progress:
        """Nothing done yet."""
        return Progress()


@dataclass(slots=True)
class Checkpoint:
    """A file that a fit writes every so many seconds, and may begin from.

    Spec: KM-CKPT
    """

    path: str
    every: float = 30.0
    resume: bool = False
    _written: float = field(default_factory=time.monotonic, init=False, repr=False)

    def due(self) -> bool:
        """Tell whether it is time to write again."""
        return time.monotonic() - self._written >= self.every

    def begin(self, options: KMeansOptions, given: Centres | None, digest: str) -> Progress:
        """Return where to begin: where the file says, if the fit is to be resumed.

        Spec: KM-CKPT
        """
        if not self.resume:
            return Progress.fresh()
        try:
            text = Path(self.path).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise FileNotReadable(f"cannot read the checkpoint {self.path}: {error}") from None
        return _read(self.path, text, _header(options, given, digest))

    def write(
        self, options: KMeansOptions, given: Centres | None, digest: str, progress: Progress
    ) -> None:
        """Replace the file by one that tells how far the fit has come.

        Spec: KM-CKPT
        """
        content = {**_header(options, given, digest), "progress": _told(progress)}
        write_atomically(self.path, [json.dumps(content, allow_nan=False).encode(), b"\n"])
        self._written = time.monotonic()

    def done(self) -> None:
        """Take the file away: the result is there."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)


def _header(options: KMeansOptions, given: Centres | None, digest: str) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "algorithm": "kmeans",
        "data": digest,
        "options": options.as_json(),
        "given": None if given is None else [list(centre) for centre in given],
    }


def _told(progress: Progress) -> dict[str, Any]:
    told = asdict(progress)
    for run in told["finished"]:
        run["exact_rss"] = str(run["exact_rss"])
        run["cosine_terms"] = list(map(str, run["cosine_terms"]))
    for iteration in [*told["trace"], *(i for run in told["finished"] for i in run["trace"])]:
        if iteration["labels"] is not None:
            iteration["labels"] = list(iteration["labels"])
    return told


def _read(name: str, text: str, header: Mapping[str, Any]) -> Progress:
    try:
        content = json.loads(text)
        for key, due in header.items():
            _check(name, key, content[key], due)
        return _progress(content["progress"])
    except BadCheckpoint:
        raise
    except (ValueError, KeyError, TypeError, RecursionError, AttributeError) as error:
        raise BadCheckpoint(
            f"{name} is no checkpoint of refclust, or a damaged one: "
            f"{type(error).__name__}: {error}"
        ) from None


def _check(name: str, key: str, found: Any, due: Any) -> None:
    if found == due:
        return
    if key in ("format", "version", "algorithm"):
        raise BadCheckpoint(f"{name}: {key} is {found!r}; {due!r} is needed")
    if key == "data":
        raise BadCheckpoint(f"{name} belongs to a fit of other data than those given")
    if key == "options":
        which = next(option for option in due if found.get(option) != due[option])
        raise BadCheckpoint(
            f"{name} belongs to a fit with {which} = {found.get(which)!r}, not {due[which]!r}"
        )
    raise BadCheckpoint(f"{name} belongs to a fit from other given centres")


def _progress(told: dict[str, Any]) -> Progress:
    return Progress(
        finished=tuple(map(_run, told["finished"])),
        draws=int(told["draws"]),
        start=_centres(told["start"]),
        previous=_centres(told["previous"]),
        centres=_centres(told["centres"]),
        emptied=tuple(Emptied(**one) for one in told["emptied"]),
        trace=tuple(map(_iteration, told["trace"])),
    )


def _run(told: dict[str, Any]) -> Run:
    return Run(
        **{
            **told,
            "exact_rss": Fraction(told["exact_rss"]),
            "cosine_terms": tuple(map(Fraction, told["cosine_terms"])),
            "centres": _centres(told["centres"]),
            "start": _centres(told["start"]),
            "emptied": tuple(Emptied(**one) for one in told["emptied"]),
            "trace": tuple(map(_iteration, told["trace"])),
        }
    )


def _iteration(told: dict[str, Any]) -> Iteration:
    labels = told["labels"]
    return replace(
        Iteration(**{**told, "labels": None}),
        centres=_centres(told["centres"]),
        labels=None if labels is None else array("i", labels),
    )


def _centres(told: Any) -> Centres | None:
    if told is None:
        return None
    return tuple(tuple(map(float, centre)) for centre in told)
