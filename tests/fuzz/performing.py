"""One input, from the files it needs to how it ended, inside the process that runs it."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from unicodedata import category

from refclust.errors import RefclustError
from refclust.escape import for_line, for_terminal
from tests.fuzz.cases import Broken, Case, Ended, Target, nothing

PACKAGE: Final = f"{os.sep}refclust{os.sep}"
OWN: Final = "own-error"  # an object that was handed over raised: that is its affair
_HOSTILE: Final = f"fuzz{os.sep}hostile.py"
_ADDRESS: Final = re.compile(r"0x[0-9a-f]{6,}")
_BRACKETS: Final = re.compile(r"\[[^][]*\]")
_SHARED: Final = Path("/dev/shm")


@dataclass(frozen=True, slots=True)
class Finding:
    """What went wrong with an input, and where; equal ones are the same fault."""

    what: str  # the exception or the promise
    where: str
    told: str

    @property
    def key(self) -> str:
        """What makes two findings the same."""
        return f"{self.what} at {self.where}"


def scratch() -> Path:
    """A new folder for the files of inputs, in memory if the system has such a place."""
    place = _SHARED if _SHARED.is_dir() and os.access(_SHARED, os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="refclust-fuzz-", dir=place))


def performed(
    target: Target, case: Case, *, twice: bool, clock: Callable[[], None] = nothing
) -> Ended | Finding:
    """Run an input in the current folder, which is empty before and after.

    ``clock`` is called when a run begins.
    """
    try:
        clock()
        ended = _once(target, case)
        if twice:
            clock()
            again = _once(target, case)
            if again.code != ended.code or _known(again.told) != _known(ended.told):
                told = f"{ended.code} {ended.told[:200]!r}, then {again.code} {again.told[:200]!r}"
                raise Broken("the same input ends in the same way", told)
        return ended
    except Broken as broken:
        return Finding(broken.promise, target.name, broken.told[:600])
    except BaseException as error:
        # MemoryError, RecursionError and SystemExit are no answers either.
        return _foreign(error)


def _known(told: str) -> str:
    """A text without the places of objects in memory."""
    return _ADDRESS.sub("0x", told)


def _once(target: Target, case: Case) -> Ended:
    try:
        for name, content in case.files.items():
            if "/" in name:
                os.makedirs(os.path.dirname(name), exist_ok=True)
            with open(name, "wb") as stream:
                stream.write(content)
        ended = target.run(case)
        tops = {name.partition("/")[0] for name in case.files}
        left = sorted(set(os.listdir(".")) - tops)
        if left:
            raise Broken("nothing is left behind", ", ".join(left)[:300])
        return ended
    finally:
        for entry in os.scandir("."):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.unlink(entry.path)


def is_line(text: str) -> bool:
    r"""Whether a message is one line of signs that can be seen, by Unicode's word and by ours.

    >>> is_line("no column 'x'"), is_line("a\xa0b"), is_line("a\u0378b"), is_line("a\nb")
    (True, False, False, False)
    """
    # Joiners and selectors stay inside words and pictures, where they belong (OUT-TERM).
    plain = "".join(sign for sign in text if category(sign) not in ("Cf", "Mn"))
    return for_line(text) == text and plain.isprintable()


def _without_names(told: str, names: tuple[str, ...]) -> str:
    """A message without the files it names, and the arrays in brackets behind them.

    Blanks of all scripts may be part of a name, and signs that Unicode has not given out yet.
    """
    below = [name for _, folders, found in os.walk(".") for name in (*folders, *found)]
    for name in sorted({*names, *below}, key=len, reverse=True):
        told = told.replace(for_terminal(name), "") if name and for_line(told) == told else told
    return _BRACKETS.sub("", told)


def refused(error: RefclustError, *names: str) -> Ended:
    """The end of an input that was refused: one line, with a code, that names the file."""
    told = str(error)
    if not told or not (is_line(told) or is_line(_without_names(told, names))):
        raise Broken("an error is one printable line", f"[{error.code}] {told!r}")
    if type(error).code == "error":
        raise Broken("an error has a code of its own", f"{type(error).__name__}: {told}")
    if names and error.exit_code == 3 and not any(for_terminal(name) in told for name in names):
        raise Broken("an error names the file", f"[{error.code}] {told}")
    return Ended(error.code, told)


def _foreign(error: BaseException) -> Ended | Finding:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f.filename for f in frames if PACKAGE in f.filename or f.filename.endswith(_HOSTILE)]
    if ours and ours[-1].endswith(_HOSTILE):
        return Ended(OWN, type(error).__name__)
    inside = [frame for frame in frames if PACKAGE in frame.filename]
    frame = inside[-1] if inside else frames[-1]
    place = frame.filename.rpartition(PACKAGE)[2] if inside else os.path.basename(frame.filename)
    told = f"line {frame.lineno}: {error}".replace("\n", " ")
    return Finding(type(error).__name__, f"{place}:{frame.name}", told[:600])
