"""One random fit on a backend: the reference's result, or every call within its bound."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

from refclust.backends.plugins import discovery
from refclust.errors import RefclustError
from tests.fits.beside import Beside, Departure
from tests.fits.problems import Fit, drawn

_UNTOLD = ("provenance", "seconds", "session", "rows", "data")  # what may differ, or is given


def tried(backend: str, seed: int, number: int) -> dict[str, Any]:
    """How a fit went: its family, how it ended, and the fault if there is one.

    No fit is interrupted: an exception in the middle of a compilation leaves its locks taken.
    """
    fit = drawn(seed, number)
    try:
        ended, fault = (_same if fit.exact else _within)(fit, backend)
    except Exception as error:  # a fault of ours, or of the backend: never the user's
        ended, fault = "fault", f"{type(error).__name__}: {error}"
    return {
        "number": number,
        "family": fit.family,
        "ended": ended,
        "fault": fault,
        "told": fit.told,
    }


def _same(fit: Fit, backend: str) -> tuple[str, str]:
    due, made = _result(fit, "reference", 1), _result(fit, backend, fit.threads)
    ended = due if isinstance(due, str) else "fitted"
    return ended, "" if due == made else _difference(due, made)


def _within(fit: Fit, backend: str) -> tuple[str, str]:
    found = discovery.find(backend).backend
    assert found is not None
    session, limited = Beside(found), getattr(found, "threads", None)
    try:
        with limited(fit.threads) if limited else nullcontext():
            fit.call(*fit.data, **fit.options, session=session)
        ended = "fitted"
    except Departure as departure:
        return "fault", str(departure)
    except RefclustError as error:
        ended = error.code
    alone, many = (_result(fit, backend, threads) for threads in (1, max(2, fit.threads)))
    if alone != many:
        return "fault", f"threads change the result: {_difference(alone, many)}"
    if isinstance(alone, str) and alone.startswith("backend"):
        return "fault", alone
    return ended, ""


def _result(fit: Fit, backend: str, threads: int) -> Any:
    """All that a fit says, bit for bit, or the code of its error."""
    found = discovery.find(backend).backend
    limited = getattr(found, "threads", None)
    try:
        with limited(threads) if limited else nullcontext():
            return list(_told(fit.call(*fit.data, **fit.options, backend=backend)))
    except RefclustError as error:
        return error.code


def _told(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The numbers of a result one by one, doubles by their bits."""
    if isinstance(value, float):
        yield path, "nan" if math.isnan(value) else value.hex()
    elif value is None or isinstance(value, int | str | Fraction):
        yield path, value
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            if field.name.lstrip("_") not in _UNTOLD:
                yield from _told(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, dict):
        for key in value:
            yield from _told(value[key], f"{path}[{key!r}]")
    else:
        try:
            entries = list(memoryview(value)) if not isinstance(value, tuple | list) else value
        except TypeError:
            return
        for place, entry in enumerate(entries):
            yield from _told(entry, f"{path}[{place}]")


def _difference(due: Any, made: Any) -> str:
    if isinstance(due, str) or isinstance(made, str):
        return f"{_short(made)} instead of {_short(due)}"
    for (path, right), (other, wrong) in zip(due, made, strict=False):
        if (path, right) != (other, wrong):
            return f"{other}: {wrong} instead of {path}: {right}"
    return f"{len(made)} numbers instead of {len(due)}"


def _short(result: Any) -> str:
    return f"the error {result}" if isinstance(result, str) else "a fit"
