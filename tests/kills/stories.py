"""Stories of fits: begun, killed, resumed, killed again, and in the end compared byte for byte.

Each fit is a process of its own, forked from one that has made the same fit once and has no threads
(to start Python and to load compiled code takes longer than the fit). What it does to the disk is
slowed down, so that many kills come in the middle of a write.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.kills import fits

_PAUSE: Final = 0.0003  # seconds, before and after each call that changes what is on the disk
_SLOWED: Final = ("fsync", "replace", "link", "unlink", "open")
_PATIENCE: Final = 0.05
_MOST: Final = 6  # kills in a story
_ORDERLY: Final = {signal.SIGTERM: 143, signal.SIGINT: 130}


@dataclass(slots=True)
class Stories:
    """The stories of one kind of fit on one backend."""

    kind: str
    backend: str
    folder: Path  # holds the data
    rng: random.Random
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    _due: dict[str, bytes] = field(default_factory=dict)
    _seconds: float = 0.0

    def run(self, kills: int) -> None:
        """Tell stories until so many fits were killed."""
        place = self._place(0)
        self._due = self._warmed(place)
        self._check_end(place, "uninterrupted")
        place = self._place(0)
        started = time.monotonic()
        ended = os.waitpid(self._begun(place), 0)[1]
        self._seconds = time.monotonic() - started
        if ended:
            raise RuntimeError(f"{self.kind} on {self.backend} does not end well: {ended}")
        self._check_end(place, "not killed")
        number = 0
        while self.counts["killed"] < kills and len(self.faults) < 10:
            number += 1
            self._story(number, min(self.rng.randint(1, _MOST), kills - self.counts["killed"]))

    def _warmed(self, place: Path) -> dict[str, bytes]:
        """Make the fit here, so that all is loaded, and return the files that are due."""
        from refclust.cli.app import run

        before = os.getcwd()
        os.chdir(place)
        try:
            quiet = io.StringIO()
            with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
                code = run(fits.call(self.kind, self.backend, resume=False))
        finally:
            os.chdir(before)
        if code or threading.active_count() > 1:
            raise RuntimeError(f"{self.kind} on {self.backend}: {code}, {threading.enumerate()}")
        return self._files(place)

    def _story(self, number: int, most: int) -> None:
        place = self._place(number)
        told = [f"story {number}"]
        left = most
        while True:
            child = self._begun(place)
            sent = None
            if left:
                sent = self.rng.choice((signal.SIGKILL,) * 8 + tuple(_ORDERLY))
                time.sleep(self.rng.random() * self._seconds * 1.05)
                if self.rng.random() < 0.5:
                    self._await_write(place)
                os.kill(child, sent)
            status = os.waitpid(child, 0)[1]
            ended = os.waitstatus_to_exitcode(status)
            told.append(f"{sent.name if sent else 'left alone'}: {ended}")
            if ended == 0:
                self.counts["came too late"] += sent is not None
                self._seconds *= 0.9 if sent else 1.0  # the machine is less busy than it was
                if left and self._files(place) != self._due:
                    self.faults.append(f"{told}: other files")
                break
            left -= 1
            self._note(place, ended, sent, told)
            if self.faults:
                return
        self._check_end(place, str(told))
        shutil.rmtree(place, ignore_errors=True)

    def _await_write(self, place: Path) -> None:
        """Wait for a moment in which a file is being written, if one comes soon."""
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            if any(name.endswith(".new") for name in os.listdir(place)):
                return
            time.sleep(0.0001)

    def _note(self, place: Path, ended: int, sent: signal.Signals | None, told: list[str]) -> None:
        """Count a kill, and look at what it left: files that are whole, or none."""
        if sent is None or ended not in (-sent, _ORDERLY.get(sent)):
            self.faults.append(f"{told}: ended with {ended}")
            return
        self.counts["killed" if ended < 0 else "ended in order"] += 1
        self._seconds *= 1.02
        self.counts["while a file was written"] += any(
            name.endswith(".new") for name in os.listdir(place)
        )
        checkpoint = place / fits.CHECKPOINT
        self.counts["with a checkpoint"] += checkpoint.exists()
        if checkpoint.exists():
            try:
                json.loads(checkpoint.read_text(encoding="utf-8"))["progress"]
            except (ValueError, LookupError) as error:
                self.faults.append(f"{told}: a broken checkpoint: {error}")
        for name, content in self._files(place).items():
            if content != self._due[name]:
                self.faults.append(f"{told}: {name} is not whole, or another one")

    def _check_end(self, place: Path, told: str) -> None:
        for name, content in self._files(place).items():
            if content != self._due[name]:
                pair = zip(content.splitlines(), self._due[name].splitlines(), strict=False)
                first = next((lines for lines in pair if lines[0] != lines[1]), "its length")
                self.faults.append(f"{told}: {name} is another one than without kills: {first}")
        stray = set(os.listdir(place)) ^ set(fits.outputs(self.kind))
        if stray:
            self.faults.append(f"{told}: files that are left, or missing: {sorted(stray)}")

    def _files(self, place: Path) -> dict[str, bytes]:
        return {
            name: (place / name).read_bytes()
            for name in fits.outputs(self.kind)
            if (place / name).exists()
        }

    def _place(self, number: int) -> Path:
        place = self.folder / f"{self.kind}-{self.backend}-{number}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        return place

    def _begun(self, place: Path) -> int:
        """Begin or resume the fit in a child, and return its number."""
        words = fits.call(self.kind, self.backend, resume=(place / fits.CHECKPOINT).exists())
        child = os.fork()
        if child:
            return child
        code = 99
        try:
            code = _fit(place, words)
        except KeyboardInterrupt:  # before the fit began, or when it had ended
            code = _ORDERLY[signal.SIGINT]
        finally:
            os._exit(code)


def _fit(place: Path, words: list[str]) -> int:
    """In the child: the fit, with a slow disk."""
    from refclust.cli.app import run

    os.chdir(place)
    silent = os.open(os.devnull, os.O_WRONLY)
    errors = os.open(place.parent / f"{place.name}.err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(silent, 1)
    os.dup2(errors, 2)
    for name in _SLOWED:
        setattr(os, name, _slow(getattr(os, name)))
    return run(words)


def _slow(function: Callable[..., Any]) -> Callable[..., Any]:
    def called(*given: Any, **named: Any) -> Any:
        time.sleep(_PAUSE)
        result = function(*given, **named)
        time.sleep(_PAUSE)
        return result

    return called
