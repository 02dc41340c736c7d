"""How a fit runs: with a checkpoint, with progress on a terminal, and with an orderly interrupt."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, TypeVar

import typer

from refclust.cli.options.data import STDIN, refuse_same
from refclust.cli.output import Line, check_output, note
from refclust.errors import BadOption, FileExists, FileNotReadable, RefclustError
from refclust.escape import for_terminal

if TYPE_CHECKING:
    from refclust.cluster.kmeans import LloydSteps
    from refclust.cluster.results import Iteration, KMeansFit
    from refclust.data.dataset import Dataset
    from refclust.fitting.checkpoint import Checkpoint
    from refclust.mixture.em import EMSteps
    from refclust.mixture.results import Iteration as Climb
    from refclust.mixture.results import MixtureFit

Fit = TypeVar("Fit")
P = TypeVar("P")

INTERRUPTED: Final = 130
TERMINATED: Final = 143
ENDING: Final = ".checkpoint"
_PATIENCE = 1.0  # seconds before progress is shown
_REFRESH = 0.1


class Terminated(KeyboardInterrupt):
    """The signal to terminate, which ends a fit as Ctrl-C does."""


class Live:
    """One line on stderr that tells where a fit stands, from the second second, on a terminal."""

    def __init__(self) -> None:
        self.where = "at its beginning"  # for whoever is interrupted
        self._line = Line()
        self._next = time.monotonic() + _PATIENCE

    def tell(self, line: str) -> None:
        """Show a line in the place of the last one, unless that was a moment ago."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _REFRESH
            self._line.show(line)

    def clear(self) -> None:
        """Take the line away."""
        self._line.clear()


def check_checkpoint(
    path: str | None, every: float, *, resume: bool, force: bool, others: list[str | None]
) -> None:
    """Refuse to begin anew over a checkpoint, or to go on without one."""
    if not every >= 0:
        raise BadOption(f"--checkpoint-every {every}: a number of seconds of at least 0 is needed")
    if path is None:
        if resume:
            raise BadOption("--resume needs a checkpoint: give --checkpoint, or --model as before")
        return
    shown = for_terminal(path)
    if path == STDIN:
        raise BadOption("--checkpoint needs a file, not standard output")
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise BadOption(f"--checkpoint {shown}: this is a device or a pipe; a file is needed")
    check_output(path, force=True)
    refuse_same([path], [other for other in others if other is not None])
    from refclust.data.files.taken import take

    take(path)  # before anybody looks what is there: two fits may begin together
    there = os.path.lexists(path)
    if resume and not there:
        raise FileNotReadable(f"there is no checkpoint {shown}; leave out --resume to begin anew")
    if there and not resume and not force:
        raise FileExists(
            f"the checkpoint {shown} of an interrupted fit exists already; --resume goes on with "
            "it, --force begins anew"
        )


def checkpoint_of(path: str | None, every: float, *, resume: bool) -> Checkpoint | None:
    """The checkpoint of a fit that begins now; ``drop`` takes it away when files are written."""
    from refclust.data.files.atomic import remove
    from refclust.fitting.checkpoint import Checkpoint

    if path is None:
        return None
    if not resume:
        # An old one must not outlive this moment: who resumes wants the fit that begins here.
        remove(path)
    return Checkpoint(path, every=every, resume=resume, keep=True)


def drop(kept: str | None) -> None:
    """Take the checkpoint away: all files are there."""
    if kept is not None:
        from refclust.data.files.atomic import remove
        from refclust.data.files.taken import release

        remove(kept)
        release(kept)


def run(fit: Callable[[Live], Fit], kept: str | None, *, keeps: bool = True) -> Fit:
    """Run a fit to its end; an interrupt leaves its checkpoint and tells how to go on.

    What keeps nothing, such as a selection, advises nothing.
    """
    live = Live()
    try:
        with _orderly():
            return fit(live)
    except KeyboardInterrupt as stop:
        live.clear()
        if keeps:
            _tell_how_to_go_on(live.where, kept)
        else:
            note(f"interrupted {live.where}; nothing was written")
        raise typer.Exit(TERMINATED if isinstance(stop, Terminated) else INTERRUPTED) from None
    finally:
        live.clear()


def iterated(steps: LloydSteps, live: Live) -> KMeansFit:
    """Drive the iterations of k-means."""

    def line(iteration: Iteration) -> str:
        rss = "" if iteration.rss is None else f", RSS {iteration.rss:.8g}"
        return f"{iteration.changed:,} rows changed{rss}"

    fit: KMeansFit = _driven(steps, live, line)
    return fit


def climbed(steps: EMSteps[P, Any, Any], live: Live) -> MixtureFit[P]:
    """Drive the iterations of EM."""

    def line(iteration: Climb[P]) -> str:
        gain = "" if iteration.gain is None else f", gain {iteration.gain:.2g} a row"
        return f"log-likelihood {iteration.log_likelihood:.8g}{gain}"

    fit: MixtureFit[P] = _driven(steps, live, line)
    return fit


def _driven(steps: Any, live: Live, line: Callable[[Any], str]) -> Any:
    """Run a fit step by step, tell of each, and leave its checkpoint whatever happens."""
    try:
        for state in steps:
            number = state.iteration.iteration
            live.where = f"after iteration {number} of run {state.run + 1}"
            run = f"run {state.run + 1} of {steps.restarts}, " if steps.restarts > 1 else ""
            live.tell(f"{run}iteration {number}: {line(state.iteration)}")
        fit = steps.result()
        _save_whole(steps)
        return fit
    except KeyboardInterrupt:
        steps.save()
        raise


def _save_whole(steps: Any) -> None:
    """Write the checkpoint of a fit that is done, for the case that its files cannot be written."""
    try:
        steps.save()
    except RefclustError as error:  # no reason to lose the fit
        note(f"the checkpoint is not up to date: {error}")


@contextlib.contextmanager
def _orderly() -> Iterator[None]:
    """Let the signal to terminate end a fit as Ctrl-C does, and no second one spoil the ending."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may handle signals, and only it gets them
        return

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        for stopping in before:
            signal.signal(stopping, signal.SIG_IGN)
        raise Terminated if number == signal.SIGTERM else KeyboardInterrupt

    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    for each in before:
        signal.signal(each, stop)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _tell_how_to_go_on(where: str, kept: str | None) -> None:
    if kept is None:
        note(f"interrupted {where}; nothing is kept without --model or --checkpoint")
        return
    if not os.path.exists(kept):
        note(f"interrupted {where}; there is nothing to keep yet")
        return
    words = [word for word in sys.argv[1:] if word != "--resume"]
    command = shlex.join(["refclust", *words, "--resume"])
    note(f"interrupted {where}; this goes on from there: {command}")


def checked(fit: KMeansFit, data: Dataset) -> None:
    """Check a fit against the reference and tell what was checked; a fault is the backend's."""
    from refclust.cluster.check import check_fit
    from refclust.errors import BackendContract

    report = check_fit(fit, data)
    if not report.ok:
        raise BackendContract(f"the fit is wrong: {'; '.join(report.faults)}")
    for what in report.checked:
        note(f"checked, right: {what}")
