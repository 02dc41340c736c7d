"""Calls into plugins under guard: whatever a plugin does, its caller gets an answer or a reason.

Caught are exceptions of every kind (``sys.exit`` and a ``KeyboardInterrupt`` of its own included),
what it prints, and, where a time limit is given, calls that do not end. Out of reach within one
process are ``os._exit``, a crash of compiled code, and compiled code that never lets go of the
interpreter.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from refclust.backends.plugins.capture import caught
from refclust.errors import BadOption

SECONDS_VARIABLE: Final = "REFCLUST_PLUGIN_SECONDS"
_SECONDS: Final = 10.0
_HEAVY: Final = 6  # how much longer what may import a heavy library may take
_MERCY: Final = 0.5  # seconds for a call that was told to stop
_LONGEST: Final = 300  # characters of a reason


@dataclass(frozen=True, slots=True)
class Attempt:
    """How a call into a plugin ended: with a value, or with trouble in words."""

    value: Any
    trouble: str
    error: BaseException | None
    printed: str


def limit(*, heavy: bool = False) -> float:
    """How many seconds a plugin has for loading, or for what may load a heavy library.

    >>> limit(), limit(heavy=True)
    (10.0, 60.0)
    """
    setting = os.environ.get(SECONDS_VARIABLE, "")
    try:
        seconds = float(setting) if setting else _SECONDS
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= 3600:
        raise BadOption(f"{SECONDS_VARIABLE}={setting!r}: use a number of seconds, at most 3600")
    return seconds * (_HEAVY if heavy else 1)


def attempt(
    call: Callable[[], Any], *, seconds: float | None = None, restore: bool = False
) -> Attempt:
    """Call a plugin; with a time limit in a thread of its own, so that it works in any thread.

    >>> import sys
    >>> attempt(lambda: 1 / 0).trouble
    'ZeroDivisionError: division by zero'
    >>> attempt(lambda: sys.exit(3), seconds=1).trouble
    'it tried to end the program (SystemExit: 3)'
    """
    if seconds is None:
        return _attempt(call, restore, own_thread=False)
    done: list[Attempt] = []
    thread = threading.Thread(
        target=lambda: done.append(_attempt(call, restore, own_thread=True)), daemon=True
    )
    thread.start()
    # An interrupt from the keyboard ends this waiting, as it should: only the main thread gets it.
    thread.join(seconds)
    if not done:
        _stop(thread)
        trouble = f"it was not done after {seconds:g} s, the time limit (see {SECONDS_VARIABLE})"
        return Attempt(None, trouble, None, "")
    return done[0]


def _attempt(call: Callable[[], Any], restore: bool, *, own_thread: bool) -> Attempt:
    value: Any = None
    error: BaseException | None = None
    with caught(restore=restore) as printed:
        try:
            value = call()
        except KeyboardInterrupt as interrupt:
            if not own_thread:
                raise  # most likely it is the user's
            error = interrupt
        except BaseException as trouble:
            # On purpose: ``sys.exit`` in a plugin is no reason to leave the program.
            error = trouble
    return Attempt(value, words(error) if error is not None else "", error, printed.text)


def _stop(thread: threading.Thread) -> None:
    """Ask a thread to end, so that a loop does not go on taking the processor."""
    import ctypes

    if thread.ident is not None:
        with suppress(Exception):
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit)
            )
        thread.join(_MERCY)


def words(error: BaseException) -> str:
    """Say in one line what was raised, even if it cannot say so itself."""
    kind = type(error).__name__
    try:
        text = str(error)
    except BaseException:
        text = "it cannot say what is wrong"
    named = f"{kind}: {text}" if text else kind
    if isinstance(error, SystemExit):
        named = f"it tried to end the program ({named})"
    return one_line(named)


def shown(value: Any) -> str:
    """Show an object in one short line, even if it cannot be shown.

    >>> shown([1, 2])
    '[1, 2]'
    """
    named = f"an object of the class {type(value).__name__}"
    try:
        text = repr(value)
    except BaseException:
        return named
    return named if " object at 0x" in text else one_line(text, 60)


def one_line(text: str, longest: int = _LONGEST) -> str:
    """Return a text without line breaks, cut where it becomes too long.

    >>> one_line("a\\n  b"), one_line("abcdef", 4)
    ('a b', 'abc…')
    """
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
