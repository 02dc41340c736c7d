"""Checks of options that every fit shares, made once, at the door (chapter 90)."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, Final

from refclust.errors import BadOption, KOutOfRange
from refclust.limits import within
from refclust.numbers.reading import shown

_BITS: Final = 63  # of a whole number: what any backend can count


def plain_number(value: Any) -> Any:
    """A number of another library, such as NumPy, as Python's own; all else as it is.

    >>> from fractions import Fraction
    >>> plain_number(3), plain_number("3"), plain_number(Fraction(1, 2))
    (3, '3', Fraction(1, 2))
    """
    if isinstance(value, int | float | str | Fraction) or value is None:
        return value
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else value


def clusters(k: Any, n: int) -> int:
    """The number of clusters, from 1 to the number of rows.

    Spec: KM-INIT

    >>> clusters(3, 10)
    3
    """
    k = plain_number(k)
    if not isinstance(k, int) or isinstance(k, bool):
        raise BadOption(f"k is {shown(k)}; a whole number from 1 to {n} is needed")
    if not 1 <= k <= n:
        raise KOutOfRange(f"k is {shown(k)}; from 1 to {n} clusters can be made of {n} rows")
    return k


def named(option: str, value: Any, allowed: Iterable[str]) -> None:
    """Refuse a value that is not one of the names allowed."""
    names = list(allowed)
    if not isinstance(value, str) or value not in names:
        raise BadOption(f"{option} is {shown(value)}; allowed are {', '.join(names)}")


def whole(option: str, value: Any, least: int) -> None:
    """Refuse what is not a whole number of at least ``least``."""
    value = plain_number(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise BadOption(f"{option} is {shown(value)}; a whole number of at least {least} is needed")
    if value.bit_length() > _BITS:
        raise BadOption(f"{option} is above 2**{value.bit_length() - 1}; it goes up to 2**{_BITS}")


def runs(option: str, value: Any) -> None:
    """Refuse what is not a number of runs, or more of them than anybody waits for."""
    whole(option, value, 1)
    value = int(value)
    within("runs", value, f"{option}={shown(value)}")


def is_number(value: Any) -> bool:
    """Whether a value is a finite number, and no truth value."""
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return known and abs(value) <= sys.float_info.max  # exact for an int of any size


def not_negative(option: str, value: Any, article: str = "the ") -> None:
    """Refuse what is not a finite number of at least 0."""
    if not is_number(value) or value < 0:
        raise BadOption(f"{article}{option} is {shown(value)}; a number of at least 0 is needed")
