"""What a backend says of itself, asked under guard: its kernels, and how long they would take.

The first time it is asked it has a time limit, since it may import a heavy library then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

from refclust.backends.plugins.discovery import Record
from refclust.backends.plugins.guard import Attempt, attempt, limit, one_line, shown
from refclust.backends.protocol import Backend, Estimate, Problem, Refusal
from refclust.errors import BackendFailure, BackendRefused
from refclust.notes import tell

Functions = Mapping[str, Callable[..., Any]]


def kernels(record: Record) -> Functions:
    """The kernels of a backend by name, asked for once in a process."""
    backend = _backend(record)
    if record.own:
        return backend.kernels()
    if "functions" not in record.seen:
        record.seen["functions"] = _functions(record, backend)
    functions: Functions = record.seen["functions"]
    return functions


def support(record: Record, kernel: str, problem: Problem) -> Estimate | Refusal:
    """What the backend says about such a problem: a number of seconds, or why it cannot."""
    backend = _backend(record)
    if kernel not in kernels(record):
        return Refusal("it has no such kernel")
    if record.own:
        return backend.supports(kernel, problem)
    asked = f"supports({kernel!r})"
    done = _ask(record, "supports", lambda: backend.supports(kernel, problem))
    if done.trouble:
        raise _refused(record, f"{asked}: {done.trouble}")
    answer = done.value
    if isinstance(answer, Refusal):
        reason: Any = answer.reason  # whatever the plugin put there
        return Refusal(one_line(reason) if isinstance(reason, str) else shown(reason))
    if not isinstance(answer, Estimate):
        raise _refused(record, f"{asked} returned {shown(answer)}, no Estimate and no Refusal")
    seconds = _duration(answer.seconds)
    if seconds is None:
        complaint = f"{asked} estimates {shown(answer.seconds)} seconds, which is no duration"
        raise _refused(record, complaint)
    return Estimate(seconds)


def build(record: Record) -> str:
    """How the backend was built, in its own words, if it has any."""
    name_build = getattr(_backend(record), "build", None)
    if not callable(name_build):
        return ""
    done = _ask(record, "build", name_build)
    if done.trouble or not isinstance(done.value, str):
        raise _refused(record, f"build(): {done.trouble or f'it returned {shown(done.value)}'}")
    return done.value


def tell_printed(record: Record, printed: str, when: str) -> None:
    """Tell what a backend printed, which went nowhere."""
    if printed:
        who = f"the backend {record.name!r} ({record.owner})"
        tell(f"{who} printed in {when}: {one_line(printed)}")


def _functions(record: Record, backend: Backend) -> Functions:
    def ask() -> Any:
        answer: Any = backend.kernels()
        return dict(answer) if isinstance(answer, Mapping) else answer

    done = _ask(record, "kernels", ask)
    if done.trouble:
        raise _refused(record, f"kernels(): {done.trouble}")
    functions = done.value
    if not isinstance(functions, dict):
        raise _refused(record, f"kernels() returned {shown(functions)}, not a mapping")
    for name, function in functions.items():
        if not isinstance(name, str):
            raise _refused(record, f"kernels() names a kernel {shown(name)}, which is no word")
        if not callable(function):
            raise BackendFailure(
                f"the backend {record.name!r} ({record.owner}) failed: its kernel {name!r} is "
                f"{shown(function)}, not a function"
            )
    return functions


def _ask(record: Record, method: str, question: Callable[[], Any]) -> Attempt:
    """Ask a backend; the first answer may take its time, but not for ever."""
    key = f"asked {method}"
    before: Attempt | None = record.seen.get(key)
    if before is not None and before.trouble and before.error is None:
        return before  # it was waited for in vain; once is enough
    done = attempt(question, seconds=None if before is not None else limit(heavy=True))
    record.seen[key] = done
    tell_printed(record, done.printed, f"{method}()")
    return done


def _duration(seconds: Any) -> float | None:
    """Seconds as a double; infinity is one, and says «only if I am asked for by name»."""
    if isinstance(seconds, bool) or not isinstance(seconds, Real):
        return None
    try:
        length = float(seconds)
    except (ArithmeticError, TypeError, ValueError):
        return None
    return None if math.isnan(length) or length < 0 else length


def _backend(record: Record) -> Backend:
    assert record.backend is not None, record.reason
    return record.backend


def _refused(record: Record, reason: str) -> BackendRefused:
    return BackendRefused(f"the backend {record.name!r} of {record.owner} cannot be used: {reason}")
