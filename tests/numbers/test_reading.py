"""Exact numbers from text: what is one, what is none, and what would never end (NUM-TEXT)."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.errors import BadNumber, BadOption, TooLarge
from refclust.limits import limits
from refclust.numbers.reading import exact, exact_value, refuse_long, shown, told, written
from refclust.numbers.real import Real, log

BOMBS = [
    "1e1000000000",
    "1E+1000000000",
    "1e-1000000000",
    "1e0000000001000000000",
    "-1e999999999",
    "1e" + "9" * 5000,
    "0.1e999999999",
    ".5e-999999999",
    "9" * 10_001,
    "1/" + "9" * 10_000,
    "1e10000",
    "1e-10000",
]


@pytest.mark.spec("NUM-TEXT")
@given(st.from_regex(r"[+-]?([0-9]{1,9}/0{0,2}[1-9][0-9]{0,9})", fullmatch=True))
def test_ratios_are_read_as_python_reads_them(text: str) -> None:
    assert exact(text, "x") == Fraction(text)


@pytest.mark.spec("NUM-TEXT")
@given(
    st.from_regex(
        r"[+-]?([0-9]{1,9}(\.[0-9]{0,9})?|\.[0-9]{1,9})([eE][+-]?[0-9]{1,2})?", fullmatch=True
    )
)
def test_decimals_are_read_as_python_reads_them(text: str) -> None:
    assert exact(f" {text}\n", "x") == Fraction(text)


@pytest.mark.spec("NUM-TEXT")
@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "+", ".", "e5", "1e", "1_0", "1e1_0", "１", "1e９", "٣", "0x1", "1/0", "1/-2"),
        *("1 2", "nan", "inf", "1,5", "1.5/2", "1/2e3", "--1", "−1", "\u00a01", "1" + "_0" * 5000),
    ],
)
def test_what_is_no_number(text: str) -> None:
    assert exact(text, "x") is None


@pytest.mark.spec("NUM-TEXT")
@pytest.mark.parametrize("text", BOMBS)
def test_numbers_without_end_are_refused_before_they_are_made(text: str) -> None:
    with pytest.raises(TooLarge, match=r"^the cell takes [0-9,]+ digits, and the limit is 10,000;"):
        exact(text, "the cell")


@pytest.mark.spec("NUM-TEXT")
def test_the_limit_counts_digits_written_out() -> None:
    with limits(digits=5):
        assert exact("99999", "x") == 99999
        assert exact("1e4", "x") == 10000
        assert exact("12.345", "x") == Fraction(12345, 1000)
        assert exact("0.0001", "x") == Fraction(1, 10000)
        assert exact("10/100", "x") == Fraction(1, 10)
        assert exact("0000000000001.0000000000e0000", "x") == 1
        for text in ("100000", "1e5", "12.3456", "0.00001", "10/1000"):
            with pytest.raises(TooLarge, match=r"^x takes 6 digits, and the limit is 5;"):
                exact(text, "x")
        # Nothing is nothing, whatever its exponent.
        assert exact("0e999999999", "x") == exact("-0.000e-999999999", "x") == 0
    assert exact("9" * 10_000, "x") == 10**10_000 - 1
    assert exact("1e9999", "x") == 10**9999


@pytest.mark.spec("NUM-TEXT")
def test_values_of_python() -> None:
    assert exact_value(10**20_000, "x") == 10**20_000
    assert exact_value(Decimal("-1.50"), "x") == Fraction(-3, 2)
    assert exact_value(Decimal("0e999999999"), "x") == 0
    nothing: list[Any] = [None, True, 1j, [1], float("nan"), float("inf"), Decimal("nan"), b"1"]
    assert [exact_value(value, "x") for value in nothing] == [None] * len(nothing)
    for bomb in (Decimal("1e999999999"), Decimal("1e-999999999"), "1e999999999"):
        with pytest.raises(TooLarge, match=r"^x takes 1,000,000,000 digits"):
            exact_value(bomb, "x")


@pytest.mark.spec("NUM-TEXT", "NUM-REAL")
def test_reals_of_text() -> None:
    assert Real("1e3") == 1000
    with pytest.raises(TooLarge):
        Real("1e999999999")
    with pytest.raises(BadNumber, match=r"^'heavy' is not a number$"):
        Real("heavy")


@pytest.mark.spec("NUM-DIGITS")
@pytest.mark.parametrize("x", [log(2), Real("1/3")])
def test_digits_without_end_are_refused(x: Real) -> None:
    with pytest.raises(TooLarge, match=r"^the number asked for takes 1,000,000,000 digits"):
        x.digits(10**9)
    with pytest.raises(BadOption, match=r"^0 digits: at least one is needed$"):
        x.digits(0)


@pytest.mark.spec("NUM-TEXT")
def test_long_numbers_are_refused_by_the_steps_they_take() -> None:
    refuse_long([2**254 - 1] * 10**5, "x")  # below a word: free
    refuse_long([2**80_895 - 1], "x")  # 315 words
    with pytest.raises(TooLarge, match=r"^x takes 100,489 long steps, and the limit is 100,000;"):
        refuse_long([2 ** (317 * 256)], "x")
    # Two coprime denominators of 20,000 bits make every number one of 40,000.
    halves = [Fraction(1, 2**20_000), Fraction(1, 3**12_619)]
    refuse_long(halves, "x")
    with pytest.raises(TooLarge, match=r"^x takes 121,680 long steps"):
        refuse_long([*halves, 1, 2, 3], "x")
    with pytest.raises(TooLarge):
        refuse_long((Fraction(1, 10**9000 + i) for i in range(1000)), "x")


@pytest.mark.spec("NUM-TEXT")
def test_numbers_in_messages() -> None:
    assert shown(-(10**5000)) == "about -10^5000"
    assert shown(Fraction(1, 3)) == "1/3"
    assert told(Fraction(10**9000, 7)) == "about 10^9000/7"
    assert told(12) == "12"
    assert written(-(10**5000)) == "-1" + "0" * 5000
    assert written(Fraction(1, 10**5000)) == "1/1" + "0" * 5000
