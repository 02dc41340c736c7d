"""Covariances of the eight models that tie volumes, shapes or axes: two components in the plane.

The first witness finds them in sixty digits: roots, eigenvectors, a quadratic for two volumes, a
search for the angle of common axes. The second, in fractions, knows nothing of that way: it checks
the equations that hold at the maximum.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath

Pair = tuple[Any, Any, Any]  # of a symmetric matrix xx, xy, yy
DIAGONAL = ("VEI", "EVI")
PLACES = ((0, 0), (0, 1), (1, 1))
DIGITS = 60
COARSE = 256  # angles among which the search begins


def estimated(model: str, scatters: list[Pair], counts: list[Fraction]) -> list[Pair]:
    """The covariances of the M-step."""
    n = list(map(real, counts))
    own: list[Pair] = [tuple(map(real, one)) for one in scatters]
    s = as_seen(model, own)
    if model in ("EVI", "EVV"):
        return _equal_volumes(s, n)
    if model in ("VEI", "VEE"):
        return _equal_shapes(s, n)
    if model in ("EEV", "VEV"):
        pooled: Any = tuple(sum(part) / sum(n) for part in zip(*s, strict=True))
        common = _equal_shapes(s, n) if model == "VEV" else [pooled] * 2
        return [turned(one, angle_of(scatter)) for one, scatter in zip(common, own, strict=True)]
    return spread_along(model, s, n, common_angle(model, s, n))


def spread_along(model: str, s: list[Pair], n: list[Any], angle: Any) -> list[Pair]:
    return [turned(one, angle) for one in variances_along(model, s, n, angle)]


def variances_along(model: str, s: list[Pair], n: list[Any], angle: Any) -> list[Pair]:
    along = [(a, mpmath.mpf(0), c) for a, _, c in (turned(one, -angle) for one in s)]
    if model == "EVE":
        return _equal_volumes(along, n)
    return [(a / m, b, c / m) for (a, b, c), m in zip(along, n, strict=True)]


def as_seen(model: str, s: list[Pair]) -> list[Pair]:
    """Scatters as a model looks at them: diagonals, or spreads along their own axes."""
    if model in DIAGONAL:
        return [(a, mpmath.mpf(0), c) for a, _, c in s]
    if model not in ("EEV", "VEV"):
        return s
    found = [turned(one, -angle_of(one)) for one in s]
    assert all(a > c for a, _, c in found)
    return [(a, mpmath.mpf(0), c) for a, _, c in found]


def angle_of(one: Pair) -> Any:
    a, b, c = one
    return mpmath.atan2(2 * b, a - c) / 2


def _equal_volumes(s: list[Pair], n: list[Any]) -> list[Pair]:
    volumes = [mpmath.sqrt(a * c - b * b) for a, b, c in s]
    size = sum(volumes) / sum(n)
    return [
        (a * size / v, b * size / v, c * size / v) for (a, b, c), v in zip(s, volumes, strict=True)
    ]


def _equal_shapes(s: list[Pair], n: list[Any]) -> list[Pair]:
    """With T = S_1 + r S_2 the best ratio r of the volumes makes log|T| - 2 n_2/n log r least."""
    (a, b, c), (x, y, z) = s
    share = n[1] / sum(n)
    p = (x * z - y * y) * (2 - 2 * share)
    q = (a * z + c * x - 2 * b * y) * (1 - 2 * share)
    ratio = (-q + mpmath.sqrt(q * q + 8 * p * share * (a * c - b * b))) / (2 * p)
    whole = sum(n)
    first = tuple((one + ratio * other) / whole for one, other in zip(*s, strict=True))
    return [first, tuple(one / ratio for one in first)]


def common_angle(model: str, s: list[Pair], n: list[Any]) -> Any:
    """The angle that makes the product, or the sum, of the volumes along the axes least."""

    def value(angle: Any) -> Any:
        sizes = [a * c for a, _, c in (turned(one, -angle) for one in s)]
        if model == "EVE":
            return sum(map(mpmath.sqrt, sizes))
        return sum(m * mpmath.log(size) for m, size in zip(n, sizes, strict=True))

    grid = [mpmath.pi / 2 * i / COARSE for i in range(COARSE)]
    values = [value(angle) for angle in grid]
    lows = [
        i
        for i, here in enumerate(values)
        if here <= values[i - 1] and here < values[(i + 1) % COARSE]
    ]
    assert len(lows) == 1, "several maxima: which one is found would depend on the start"

    def slope(angle: Any) -> Any:
        return mpmath.diff(value, angle)

    return mpmath.findroot(slope, grid[lows[0]], tol=mpmath.mpf(10) ** (5 - DIGITS))


def turned(one: Pair, angle: Any) -> Pair:
    a, b, c = one
    cos, sin = mpmath.cos(angle), mpmath.sin(angle)
    return (
        a * cos * cos - 2 * b * cos * sin + c * sin * sin,
        (a - c) * cos * sin + b * (cos * cos - sin * sin),
        a * sin * sin + 2 * b * cos * sin + c * cos * cos,
    )


def real(value: Any) -> Any:
    if isinstance(value, Fraction):
        return mpmath.mpf(value.numerator) / value.denominator
    return mpmath.mpf(value)


def recognised(one: Pair) -> Pair:
    """The fractions of small denominators that the digits stand for."""
    found = []
    for x in one:
        guess = Fraction(int(mpmath.nint(x * 2**120)), 2**120).limit_denominator(10**9)
        assert abs(real(guess) - x) < mpmath.mpf(10) ** -28
        found.append(guess)
    return tuple(found)  # type: ignore[return-value]


# The second witness: equations of the maximum, in fractions.


def check(model: str, s: list[Pair], n: list[Fraction], sigmas: list[Pair]) -> None:
    """The covariances belong to the model, and no change within it gains anything."""
    if model in DIAGONAL:
        s = [(a, Fraction(0), c) for a, _, c in s]
        assert all(b == 0 for _, b, _ in sigmas)
    first, second = sigmas
    if model[0] == "E":
        assert size_of(first) == size_of(second)
    if model[1] == "E":  # traces over roots of determinants are equal
        assert trace_of(first) ** 2 * size_of(second) == trace_of(second) ** 2 * size_of(first)
    if model in ("VEI", "VEE"):
        assert first[0] * second[1] == second[0] * first[1]
    if model in ("EVE", "VVE"):
        assert _crossed(first, second) == 0
    if model in ("EEV", "VEV"):
        assert all(_crossed(one, scatter) == 0 for one, scatter in zip(sigmas, s, strict=True))
    pulls = [product_of(one, scatter) for one, scatter in zip(sigmas, s, strict=True)]
    along = [trace_of(pull) for pull in pulls]
    # A volume of one's own, or one for all: tr(S/Sigma) = N d for each, or together.
    if model[0] == "V":
        assert along == [2 * one for one in n]
    else:
        assert sum(along) == 2 * sum(n)
    # A shape of one's own: the same along both axes; a common one: so together.
    tilts = [_tilt(one, scatter) for one, scatter in zip(sigmas, s, strict=True)]
    if model[1] == "V":
        assert tilts == [0, 0]
    elif model != "VEE":
        assert sum(tilts) == 0
    else:
        parts = [sum(part, Fraction(0)) for part in zip(*pulls, strict=True)]
        assert parts[:2] == [sum(n), 0]
        assert parts[2] == sum(n)
    if model in ("EVE", "VVE"):  # a turn of common axes: the commutators cancel
        assert sum(_commutator(one, scatter) for one, scatter in zip(sigmas, s, strict=True)) == 0


def size_of(one: Pair) -> Fraction:
    found: Fraction = one[0] * one[2] - one[1] * one[1]
    return found


def trace_of(one: Pair) -> Fraction:
    found: Fraction = one[0] + one[2]
    return found


def _crossed(one: Pair, other: Pair) -> Fraction:
    """Zero where two matrices have the same axes."""
    found: Fraction = one[1] * (other[0] - other[2]) - other[1] * (one[0] - one[2])
    return found


def _inverse(one: Pair) -> Pair:
    size = size_of(one)
    return one[2] / size, -one[1] / size, one[0] / size


def product_of(sigma: Pair, scatter: Pair) -> Pair:
    """Of the product of the inverse covariance and the scatter: xx, xy, yy."""
    p, s = _inverse(sigma), scatter
    return (
        p[0] * s[0] + p[1] * s[1],
        p[0] * s[1] + p[1] * s[2],
        p[1] * s[1] + p[2] * s[2],
    )


def _tilt(sigma: Pair, scatter: Pair) -> Fraction:
    """The scatter along the one axis less that along the other, in units of the covariance.

    With variances v and w along the axes and m and n those of the scatter, this is m/v - n/w, but
    for the factor (v - w)/(v + w), which is the same for equal shapes.
    """
    p = _inverse(sigma)
    square = (p[0] * p[0] + p[1] * p[1], p[1] * trace_of(p), p[1] * p[1] + p[2] * p[2])
    plain, twice = (
        one[0] * scatter[0] + 2 * one[1] * scatter[1] + one[2] * scatter[2] for one in (p, square)
    )
    found: Fraction = plain - 2 * twice * size_of(sigma) / trace_of(sigma)
    return found


def _commutator(sigma: Pair, scatter: Pair) -> Fraction:
    return _crossed(_inverse(sigma), scatter)
