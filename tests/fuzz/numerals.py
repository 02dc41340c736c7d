"""A grammar of numbers and words as people, programs and attackers write them."""

from __future__ import annotations

from typing import Final

from tests.fuzz.cases import Draw

HOSTILE: Final = (
    *("nan", "NaN", "-inf", "Infinity", "1e400", "-1e400", "1e-400", "4.9e-324", "2e-324", "-0"),
    *("1.7976931348623157e308", "1.7976931348623159e308", "1e999999999", "1e-999999999", "0x1p3"),
    *("1_000", "1,5", "1e", "1e+", "--1", "+-1", "1d5", "1j", "True", "null", "None", "", " "),
    *("٣", "１２", "²", "Ⅷ", "½", "1/3", "1/0", "0/0", "-1/3", "1/1e3", "5%", "∞", "−1", "1 2"),
    *("9223372036854775807", "9223372036854775808", "18446744073709551616", "-9223372036854775809"),
    *("4294967296", "2147483648", "1e18", "1e309", "0.1e-323", "00012", "1.", ".5", "+.5e-3", "."),
    "0" * 60 + "1", "1" + "0" * 400, "0." + "0" * 400 + "1", "1e" + "0" * 50 + "1",
)  # fmt: skip
LONG: Final = ("9" * 5_000, "1." + "3" * 20_000, "1e" + "9" * 5_000, "1/" + "7" * 5_000)
WORDS: Final = (
    *("a", "b", "spam", "ham", "x", "label", "id", "weight", "Größe", "naïve", "e\u0301", "ﬁ"),
    *("नमस्ते", "ΣΊΣΥΦΟΣ", "İ", "ß", "don't", "don’t", "well-known", "\u00ad", "\u200d", "\ufeff"),
)  # fmt: skip
ODD: Final = (
    *("", " ", "\t", "\x00", "\x01", "\x1b[31m", "\x7f", "\x85", "\xa0", "\u2028", "\u202e"),
    *('"', '""', "'", ",", ";", ":", "#", "%", "\\", "\\n", "/", "[", "{", "=", "-", "--", "*"),
    "\ud7ff",
    *("\U0001f600", "\ufffe", "\uffff", "a\u0300" * 40, "x" * 3000, "\r", "\n", "\r\n", "\f", "\v"),
)  # fmt: skip


def whole(draw: Draw, most: int = 9) -> str:
    """A whole number from 0, mostly a small one."""
    return str(draw.upto(most))


def decimal(draw: Draw) -> str:
    """A number that every reader takes, in one of its spellings."""
    match draw.upto(7):
        case 0 | 1 | 2:
            return str(draw.upto(20, -9))
        case 3 | 4:
            return f"{draw.uniform(-50, 50):.{draw.upto(4)}f}"
        case 5:
            return repr(draw.uniform(-1, 1) * 10.0 ** draw.upto(300, -300))
        case 6:
            return f"{draw.upto(99)}e{draw.upto(6, -6)}"
        case _:
            return draw.pick(("0", "-0.0", "1", "0.1", "1e-300", "1e300", "5e-324", "0.5"))


def hostile(draw: Draw) -> str:
    """A number that should be refused, or read with care."""
    return draw.pick(LONG) if draw.chance(0.03) else draw.pick(HOSTILE)


def word(draw: Draw) -> str:
    """A word of letters."""
    return draw.pick(WORDS) if draw.chance(0.7) else f"w{draw.upto(30)}"


def odd(draw: Draw) -> str:
    """A piece of text that breaks what is careless."""
    return draw.pick(ODD)
