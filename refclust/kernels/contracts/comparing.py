"""Comparing what kernels of mixtures answer, buffer by buffer: what is malformed, what is apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final

from refclust.data.accepting.buffers import surely_numbers

TINY: Final = 2.0**-1000  # far above all underflow
_COARSE: Final = 2.0**-20


def malformed_moments(kind: type, answer: Any) -> str | None:
    """Say why an answer is no record of sums in flat buffers of doubles."""
    if not isinstance(answer, kind):
        return f"a {type(answer).__name__} instead of {kind.__name__}"
    for name in _buffers(kind):
        wrong = not_numbers(name, getattr(answer, name))
        if wrong:
            return wrong
    return None


def apart_moments(due: Any, answer: Any, allowed: Any) -> str | None:
    """Where two records of sums are further apart than a third one allows; coarsely without it."""
    if not _same_points(getattr(due, "around", ()), getattr(answer, "around", ())):
        return "around: not the points that were given"
    spread = getattr(due, "spread", None)
    if spread is not None and answer.spread != spread:
        return f"spread: {answer.spread!r} instead of {spread!r}"
    for name in _buffers(type(due)):
        right, actual = getattr(due, name), getattr(answer, name)
        most = coarse(right) if allowed is None else memoryview(getattr(allowed, name)).tolist()
        wrong = apart(name, right, actual, most)
        if wrong:
            return wrong
    return _lopsided(answer) if spread == "full" else None


def _same_points(due: Any, actual: Any) -> bool:
    try:
        return [tuple(row) for row in due] == [tuple(row) for row in actual]
    except TypeError:
        return False


def _lopsided(moments: Any) -> str | None:
    """Where second moments are not symmetric."""
    seconds, d = memoryview(moments.seconds).tolist(), len(moments.firsts) // len(moments.counts)
    for k in range(len(moments.counts)):
        block = seconds[k * d * d : (k + 1) * d * d]
        for i in range(d):
            for j in range(i):
                if block[i * d + j] != block[j * d + i]:
                    return f"seconds: component {k} is not symmetric at ({i}, {j})"
    return None


def _buffers(kind: type) -> list[str]:
    """The names of the fields that hold sums."""
    return [field.name for field in fields(kind) if field.name not in ("around", "spread")]


def not_flat(name: str, value: Any, format_: str = "d") -> str | None:
    """Say why a value is no flat buffer of the format."""
    try:
        view = memoryview(value)
    except (TypeError, ValueError, BufferError):
        return f"{name}: a {type(value).__name__} instead of a buffer"
    if view.ndim != 1 or not view.contiguous or view.format != format_:
        return f"{name}: a buffer of format {view.format!r}, {view.ndim}-dimensional"
    return None


def not_numbers(name: str, value: Any) -> str | None:
    """Say why a value is no flat buffer of doubles that are numbers."""
    wrong = not_flat(name, value)
    if not wrong and surely_numbers(memoryview(value)):
        return None
    # Built-in sum on floats, for once: a sum with a NaN is one, and +inf does not belong here.
    return wrong or (f"{name}: a NaN" if math.isnan(sum(memoryview(value))) else None)


def apart(name: str, due: Any, actual: Any, allowed: Sequence[float]) -> str | None:
    """Where two buffers are further apart than allowed."""
    right, numbers = memoryview(due).tolist(), memoryview(actual).tolist()
    if len(right) != len(numbers):
        return f"{name}: {len(numbers)} numbers instead of {len(right)}"
    for place, (x, y, most) in enumerate(zip(right, numbers, allowed, strict=True)):
        if x != y and not abs(x - y) <= most:
            return f"{name}[{place}]: {y!r} instead of {x!r}, {abs(x - y):.2g} apart, " + (
                f"{most:.2g} allowed"
            )
    return None


def coarse(values: Any) -> list[float]:
    """Bounds that tell two data sets apart, without looking at either.

    Spec: none (far wider than any contract)
    """
    numbers = [abs(x) for x in memoryview(values).tolist() if math.isfinite(x)]
    return [_COARSE * (1.0 + max(numbers, default=0.0))] * len(memoryview(values))
