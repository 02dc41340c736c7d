"""Shared by the linear and log-space vectors: exact input numbers, rounding, encoding, writing.

A double is called nearest only after exact comparison with the midpoints on both sides of it; the
comparison is in rationals for rationals and roots, and in Arb balls for logarithms.
"""

from __future__ import annotations

import importlib
import json
import math
import struct
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from flint import arb, ctx, fmpq

# Loaded by name because mpmath ships no types: everything from it is Any.
mpmath: Any = importlib.import_module("mpmath")

Json = dict[str, "Json"] | list["Json"] | str | int | bool
Compare = Callable[[Fraction], int]

# exp(-745) beside 1 needs 1075 bits before its first digit.
PRECISION = 1600
DIGITS = 40
LARGEST = math.nextafter(math.inf, 0)


def use_precision() -> None:
    """Set both witnesses to the precision of this module."""
    ctx.prec = mpmath.iv.prec = PRECISION


def ball(value: Fraction) -> arb:
    """The ball of a rational."""
    return arb(fmpq(value.numerator, value.denominator))


def interval(value: Fraction) -> Any:
    """The mpmath interval of a rational."""
    return mpmath.iv.mpf(value.numerator) / mpmath.iv.mpf(value.denominator)


def middle(value: arb) -> Fraction:
    """The midpoint of a ball."""
    mantissa, exponent = value.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def witnesses_meet(first: arb, second: Any) -> bool:
    """Whether a ball and an mpmath interval have a number in common, and both are narrow."""
    low, high = (_end(raw) for raw in second._mpi_)
    mantissa, exponent = first.rad().man_exp()
    radius = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    centre = middle(first)
    narrow = abs(centre) * Fraction(1, 10**60)
    meet = low <= centre + radius and centre - radius <= high
    return meet and radius <= narrow and high - low <= narrow


def _end(raw: tuple[int, Any, int, int]) -> Fraction:
    sign, mantissa, exponent, _ = raw
    value = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -value if sign else value


def sign(value: Fraction) -> int:
    """-1, 0 or 1."""
    return (value > 0) - (value < 0)


def ball_compare(value: arb) -> Compare:
    """Compare a number known by its ball with rationals; fails when the ball is too wide."""

    def compare(other: Fraction) -> int:
        if value > ball(other):
            return 1
        assert value < ball(other), "not decided: a wider precision is needed"
        return -1

    return compare


def nearest_double(guess: float, compare: Compare) -> float | None:
    """Walk from a guess to the nearest double; None beyond the largest."""
    double = max(-LARGEST, min(guess, LARGEST))
    while True:
        low, high = _midpoints(double)
        above, below = compare(high), compare(low)
        if above > 0 or (above == 0 and not _even(double)):
            double = math.nextafter(double, math.inf)
        elif below < 0 or (below == 0 and not _even(double)):
            double = math.nextafter(double, -math.inf)
        else:
            return double + 0.0
        if math.isinf(double):
            return None


def _midpoints(double: float) -> tuple[Fraction, Fraction]:
    ends = math.nextafter(double, -math.inf), math.nextafter(double, math.inf)
    low, high = (
        Fraction(2**1024 if end > 0 else -(2**1024)) if math.isinf(end) else Fraction(end)
        for end in ends
    )
    return (Fraction(double) + low) / 2, (Fraction(double) + high) / 2


def _even(double: float) -> bool:
    bits: int = struct.unpack("<q", struct.pack("<d", double))[0]
    return bits % 2 == 0


def encode_rational(value: Fraction) -> dict[str, Json]:
    """A rational as JSON; beyond the doubles it is the error ``not-finite``."""
    nearest = nearest_double(float(ball(value)), lambda other: sign(value - other))
    if nearest is None:
        return {"error": "not-finite"}
    result: dict[str, Json] = {"exact": str(value)}
    if Fraction(nearest) != value:
        result["binary64"] = nearest.hex()
    return result


def encode_irrational(value: arb, compare: Compare) -> dict[str, Json]:
    """Forty digits, their radius and the nearest double."""
    nearest = nearest_double(float(value), compare)
    if nearest is None:
        return {"error": "not-finite"}
    centre = middle(value)
    exponent = _leading(centre) - DIGITS + 1
    digits = round(centre / Fraction(10) ** exponent)
    decimal = Decimal(digits).scaleb(exponent, Context(prec=DIGITS + 2))
    return {"decimal": str(decimal), "radius": f"1e{exponent}", "binary64": nearest.hex()}


def _leading(value: Fraction) -> int:
    value = abs(value)
    guess = len(str(value.numerator)) - len(str(value.denominator))
    return guess if value >= Fraction(10) ** guess else guess - 1


def rounded_up(value: Fraction) -> str:
    """Three significant digits that are not below the value."""
    exponent = _leading(value) - 2
    return f"{math.ceil(value / Fraction(10) ** exponent)}e{exponent}"


def dumps(value: Json) -> str:
    """Compact JSON with sorted keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def file_text(subject: str, title: str, notes: dict[str, str], cases: list[Json]) -> str:
    """A vector file, one case a line."""
    head: dict[str, Json] = {
        "format": "refclust-vectors/1",
        "subject": subject,
        "title": title,
        "notes": {**notes},
    }
    lines = ["{"]
    lines += [f'"{key}":{dumps(value)},' for key, value in sorted(head.items())]
    lines += ['"cases":[', ",\n".join(dumps(case) for case in cases), "]}"]
    return "\n".join(lines) + "\n"


def write(folder: Path, name: str, text: str) -> Path:
    """Write one file below the folder of vectors."""
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8", newline="\n")
    return target
