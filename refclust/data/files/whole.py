"""Whole numbers in words of a user: digits 0 to 9, and no more of them than 64 bits hold.

Python's own ``int`` takes the digits of every script and refuses more than 4,300 of them with an
error that belongs to nobody; ``isdigit`` takes signs that ``int`` does not.
"""

from __future__ import annotations

from typing import Final

DIGITS: Final = 18  # so many fit into 64 bits


def is_whole(text: str) -> bool:
    """Tell whether a text is a whole number of at least 0, however large.

    >>> is_whole("007"), is_whole("+7"), is_whole("٣"), is_whole("²"), is_whole("")
    (True, False, False, False, False)
    """
    return text.isascii() and text.isdigit()


def whole(text: str) -> int | None:
    """Return the whole number that a text is; none if it is another thing, or above 64 bits.

    Spec: none (reads a word)

    >>> whole("12"), whole("000000000000000000012"), whole("9" * 5000), whole("twelve")
    (12, 12, None, None)
    """
    if not is_whole(text):
        return None
    digits = text.lstrip("0") or "0"
    return int(digits) if len(digits) <= DIGITS else None
