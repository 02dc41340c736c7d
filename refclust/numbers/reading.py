"""Exact numbers from text and from Python's values, none of them without end (chapter 05).

Nine characters such as ``1e9999999`` can stand for an integer that fills the memory. So a text is
measured before it becomes a number: written out in full, its exponent worked in, it must stay
within the limit ``digits``.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from numbers import Rational as RationalNumber
from typing import Final

from refclust.escape import for_line
from refclust.limits import limit, within

_BLANKS: Final = " \t\n\v\f\r"
_NUMERAL: Final = re.compile(
    r"(?P<sign>[+-]?)(?:(?P<top>[0-9]+)/(?P<bottom>[0-9]+)"
    r"|(?=\.?[0-9])(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?(?:[eE](?P<power>[+-]?[0-9]+))?)"
)
_PYTHON_DIGITS: Final = 4000  # int() and str() refuse a little more
_POWER_DIGITS: Final = 18  # a longer exponent is beyond every limit
_WORD: Final = 256
_SHORT: Final = 40


def exact(text: str, what: str) -> Fraction | None:
    """Read ``3``, ``0.25``, ``1e-3`` or ``1/3`` exactly; ``None`` if the text is no such number.

    Digits are 0 to 9, without anything between them. ``what`` opens the message if the number
    takes more digits than the limit allows.

    Spec: NUM-TEXT

    >>> exact("0.25", "x"), exact(" -6/4 ", "x"), exact("1e2", "x"), exact("1_0", "x")
    (Fraction(1, 4), Fraction(-3, 2), Fraction(100, 1), None)
    """
    numeral = _NUMERAL.fullmatch(text.strip(_BLANKS))
    if numeral is None:
        return None
    top, bottom, power = numeral["top"], numeral["bottom"], 0
    if top is None:
        part, power_text = numeral["part"] or "", numeral["power"] or "0"
        top, bottom, power = numeral["whole"] + part, "1", _power(power_text) - len(part)
    top, bottom = top.lstrip("0"), bottom.lstrip("0")
    if not bottom:
        return None
    if not top:
        return Fraction()
    digits = top.rstrip("0") if power < 0 else top
    power += len(top) - len(digits)
    below = len(bottom) if numeral["bottom"] else 0
    within("digits", _written(len(digits), power) + below, what)
    number = Fraction(
        _integer(digits) * 10 ** max(power, 0), _integer(bottom) * 10 ** max(-power, 0)
    )
    return -number if numeral["sign"] == "-" else number


def exact_value(value: object, what: str) -> Fraction | None:
    """Return a number of Python, or a text, exactly; ``None`` if it is no finite number.

    A truth value is no number. Integers and fractions are taken as they are, however long.

    Spec: NUM-TEXT

    >>> exact_value(0.5, "x"), exact_value("1/3", "x"), exact_value(True, "x")
    (Fraction(1, 2), Fraction(1, 3), None)
    """
    if type(value) is int or type(value) is Fraction:
        return Fraction(value)
    if isinstance(value, str):
        return exact(value, what)
    if isinstance(value, float):
        return Fraction(value) if math.isfinite(value) else None
    if isinstance(value, Decimal):
        if not value.is_finite():
            return None
        _, digits, power = value.as_tuple()
        assert isinstance(power, int)
        within("digits", _written(len(digits), power) if value else 1, what)
        return Fraction(value) if value else Fraction()
    if isinstance(value, bool) or not isinstance(value, RationalNumber):
        return None
    return Fraction(int(value.numerator), int(value.denominator))


def refuse_long(numbers: Iterable[int | Fraction], what: str) -> None:
    """Refuse numbers with which exact arithmetic would take too long.

    Over their common denominator, each takes the square of its length in words of 256 bits: shorter
    numbers are free, however many there are. ``what`` opens the message.
    """
    limit_steps, common = limit("arithmetic"), 1
    sizes: Counter[int] = Counter()
    for number in numbers:
        if number.denominator != 1:
            common = math.lcm(common, number.denominator)
            if (common.bit_length() // _WORD) ** 2 > limit_steps:
                within("arithmetic", (common.bit_length() // _WORD) ** 2, what)
        sizes[number.numerator.bit_length()] += 1
    longer = common.bit_length() - 1
    steps = sum(count * ((size + longer) // _WORD) ** 2 for size, count in sizes.items())
    within("arithmetic", steps, what)


def shown(value: object) -> str:
    """Return a value as a message quotes it: on one line, long ones cut, huge ones by their size.

    >>> shown(12), shown(10**5000), shown("9" * 50), shown(Fraction(1, 10**50))
    ('12', 'about 10^5000', "'9999999999999999999999999999999999999...'", '1/about 10^50')
    """
    if isinstance(value, Fraction):
        top, bottom = shown(value.numerator), shown(value.denominator)
        return top if value.denominator == 1 else f"{top}/{bottom}"
    if isinstance(value, int) and value.bit_length() > _SHORT * 3:
        return f"about {'-' if value < 0 else ''}10^{round(math.log10(abs(value)))}"
    if isinstance(value, str):
        return repr(value if len(value) <= _SHORT else value[: _SHORT - 3] + "...")
    try:
        text = for_line(" ".join(repr(value).split()))
    except (ValueError, RecursionError):  # an integer without end somewhere inside, or no bottom
        text = f"a {type(value).__name__}"
    return text if len(text) <= _SHORT + 20 else text[: _SHORT + 17] + "..."


def told(value: int | Fraction) -> str:
    """Return a number in full as long as Python writes it so, and by its size beyond.

    >>> told(Fraction(-2, 3)), told(10**5000)
    ('-2/3', 'about 10^5000')
    """
    if isinstance(value, Fraction) and value.denominator != 1:
        return f"{told(value.numerator)}/{told(value.denominator)}"
    short = value.numerator.bit_length() <= 3 * _PYTHON_DIGITS
    return str(value) if short else shown(value.numerator)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "class"), counted(2, "class"), counted(1200, "object")
    ('1 class', '2 classes', '1,200 objects')
    """
    plural = "" if number == 1 else "es" if noun.endswith("s") else "s"
    # Python refuses to write a number that is longer.
    words = f"{number:,}" if number.bit_length() <= 3 * _PYTHON_DIGITS else shown(number)
    return f"{words} {noun}{plural}"


def written(value: int | Fraction) -> str:
    """Return a number in full, where ``str`` refuses integers of more than 4300 digits.

    >>> written(Fraction(-2, 3)), len(written(10**5000))
    ('-2/3', 5001)
    """
    # Decimals have no such limit, and the conversion is exact.
    top = f"{Decimal(value.numerator):f}"
    return top if value.denominator == 1 else f"{top}/{Decimal(value.denominator):f}"


def _power(text: str) -> int:
    digits = text.lstrip("+-").lstrip("0")
    size = int(digits or "0") if len(digits) <= _POWER_DIGITS else 10 ** (_POWER_DIGITS - 1)
    return -size if text.startswith("-") else size


def _written(digits: int, power: int) -> int:
    """How many digits a number takes when its exponent is worked in: 12e3 takes 5, 12e-3 four."""
    return max(digits + power, 1) + max(-power, 0)


def _integer(digits: str) -> int:
    return int(digits) if len(digits) <= _PYTHON_DIGITS else int(Decimal(digits))
