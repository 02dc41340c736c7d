"""What a file, a number or an option may claim: stated here, told when passed, raised by name.

A limit guards against input that asks for more memory or time than anybody meant to spend: a line
without end, a header that announces 10¹⁸ columns, an exponent of nine digits. It never changes a
result: work is done wholly or refused as ``too-large``, with the words that raise the limit.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from refclust.errors import BadOption, TooLarge

VARIABLE: Final = "REFCLUST_LIMITS"
_POWERS: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_DIGITS: Final = 18  # of a limit itself


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit: its name, its value unless it is raised, and what it counts."""

    name: str
    default: int
    unit: str
    meaning: str


LIMITS: Final[Mapping[str, Limit]] = {
    limit.name: limit
    for limit in (
        Limit("line", 64 << 20, "bytes", "the longest line of a text file, unpacked"),
        Limit(
            "document",
            512 << 20,
            "bytes",
            "a file read whole: a model, a checkpoint, answers",
        ),
        Limit("stream", 1 << 30, "bytes", "what comes from a pipe, or out of a packed file"),
        Limit("memory", 4 << 30, "bytes", "what a file or a model may ask for before it is read"),
        Limit("files", 1 << 18, "files", "what lies below a folder of texts, folders included"),
        Limit("columns", 1 << 26, "columns", "the columns that a sparse file may claim"),
        Limit("runs", 1_000_000, "runs", "restarts, samples, trials or references of one fit"),
        Limit("terms", 50_000_000, "terms", "of a sum or a random draw that one number needs"),
        Limit(
            "arithmetic",
            100_000,
            "long steps",
            "with exact numbers: (digits/77)² for each",
        ),
        Limit("digits", 10_000, "digits", "of a number written out in full, its exponent included"),
    )
}
_raised: ContextVar[Mapping[str, int] | None] = ContextVar("refclust_limits", default=None)


def limit(name: str) -> int:
    """Return a limit as it is in force here.

    >>> limit("digits")
    10000
    """
    inner = _raised.get()
    if inner is not None and name in inner:
        return inner[name]
    asked = os.environ.get(VARIABLE)
    return (parsed(asked, VARIABLE) if asked else {}).get(name, LIMITS[name].default)


@contextlib.contextmanager
def limits(**values: int) -> Iterator[None]:
    """Put other limits in force for a while.

    >>> with limits(digits=50):
    ...     limit("digits")
    50
    """
    for name in values:
        _known(name, "limits")
    token = _raised.set({**(_raised.get() or {}), **values})
    try:
        yield
    finally:
        _raised.reset(token)


def within(name: str, amount: int, what: str) -> None:
    """Refuse what asks for more than a limit allows; ``what`` names it and where it stands.

    >>> within("digits", 20_000, "w.txt:3: the weight")
    Traceback (most recent call last):
    refclust.errors.TooLarge: w.txt:3: the weight takes 20,000 digits, and the limit is 10,000; \
refclust --limit digits=20000 (or REFCLUST_LIMITS) raises it
    """
    allowed = limit(name)
    if amount > allowed:
        raise TooLarge(
            f"{what} takes {amount:,} {LIMITS[name].unit}, and the limit is {allowed:,}; "
            f"refclust --limit {name}={amount} (or {VARIABLE}) raises it"
        )


def beyond(name: str, what: str) -> TooLarge:
    """Return the error of what goes on beyond a limit, nobody knows how far.

    >>> str(beyond("digits", "w.txt:3: the weight goes on"))
    'w.txt:3: the weight goes on beyond 10,000 digits, the limit; refclust --limit digits=SIZE \
(or REFCLUST_LIMITS) raises it'
    """
    return TooLarge(
        f"{what} beyond {limit(name):,} {LIMITS[name].unit}, the limit; refclust --limit "
        f"{name}=SIZE (or {VARIABLE}) raises it"
    )


def parsed(text: str, source: str) -> dict[str, int]:
    """Read limits written as ``name=size``, several with commas between them.

    >>> parsed("line=1g,digits=100", "--limit")
    {'line': 1073741824, 'digits': 100}
    """
    sizes: dict[str, int] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        name, _, size = (part.strip() for part in entry.partition("="))
        _known(name, source)
        number, unit = (size, "") if size.isdecimal() else (size[:-1], size[-1:].lower())
        if not (number.isascii() and number.isdecimal()) or unit not in _POWERS:
            raise BadOption(
                f"{source} {entry!r}: a whole number is needed, maybe with k, m, g or t"
            )
        if len(number) > _DIGITS:
            raise BadOption(f"{source} {name}: at most {_DIGITS} digits")
        sizes[name] = int(number) * _POWERS[unit]
    return sizes


def _known(name: str, source: str) -> None:
    if name not in LIMITS:
        raise BadOption(f"{source}: there is no limit {name!r}; there are: {', '.join(LIMITS)}")
