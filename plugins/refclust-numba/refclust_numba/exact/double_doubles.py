"""Sums of exact terms as two doubles: what the high one loses, the low one keeps."""

from __future__ import annotations

from refclust_numba.lowlevel.compiling import inlined
from refclust_numba.lowlevel.scalars import two_product, two_sum


@inlined
def plus_square(high, low, a, b):  # type: ignore[no-untyped-def]
    """Add (a - b)**2; a - b is exact as s + e, and e**2 is left out."""
    s, e = two_sum(a, -b)
    p, f = two_product(s, s)
    high, g = two_sum(high, p)
    return high, low + (g + (f + 2.0 * s * e))


@inlined
def plus_product(high, low, a, b):  # type: ignore[no-untyped-def]
    """Add a * b."""
    p, f = two_product(a, b)
    high, g = two_sum(high, p)
    return high, low + (g + f)
