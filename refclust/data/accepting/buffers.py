"""Checks of whole buffers by NumPy, if the program has loaded it anyway; it is never imported here.

Each function says yes only where that is certain; otherwise the plain check decides, and finds the
place that an error names.
"""

from __future__ import annotations

import math
import sys
from typing import Any


def _arrays(*buffers: memoryview) -> tuple[Any, ...] | None:
    """NumPy and an array over each buffer, or nothing if the program does without NumPy."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not hasattr(numpy, "frombuffer"):  # not there, or still being imported
        return None
    views = [memoryview(buffer) for buffer in buffers]
    if not all(len(view) and view.contiguous for view in views):
        return None
    return numpy, *(numpy.frombuffer(view, view.format) for view in views)


def surely_finite(values: memoryview) -> bool:
    """Whether the sum is finite: then so is every number.

    Whatever is added to an infinity or a NaN, the sum is one of them, in any order of additions.
    """
    arrays = _arrays(values)
    if arrays is None:
        return False
    numpy, flat = arrays
    with numpy.errstate(all="ignore"):
        return math.isfinite(flat.sum())


def surely_weights(values: memoryview) -> bool:
    """Whether the numbers are finite, not negative, and not all zero."""
    arrays = _arrays(values)
    if arrays is None:
        return False
    least, greatest = arrays[1].min(), arrays[1].max()  # NaN if there is one
    return bool(least >= 0 and 0 < greatest < math.inf)


def surely_numbers(values: memoryview) -> bool:
    """Whether no number is a NaN: the greatest of them would be one."""
    arrays = _arrays(values)
    return arrays is not None and not math.isnan(arrays[1].max())


def surely_counts(values: memoryview) -> bool:
    """Whether all numbers are whole and not negative."""
    arrays = _arrays(values)
    if arrays is None:
        return False
    numpy, flat = arrays
    return bool(flat.min() >= 0 and (numpy.floor(flat) == flat).all())


def surely_shares(values: memoryview, d: int, *, whole: bool) -> bool:
    """Whether all numbers are from 0 to 1 and, if asked, every d of them add up to one."""
    arrays = _arrays(values)
    if arrays is None:
        return False
    flat = arrays[1]
    if not (flat.min() >= 0 and flat.max() <= 1):
        return False
    # The pairwise sum of NumPy errs by far less than half the slack that is allowed.
    return not whole or bool((abs(flat.reshape(-1, d).sum(axis=1) - 1) <= d * 2.0**-41).all())


def surely_in_order(starts: memoryview, columns: memoryview, values: memoryview, d: int) -> bool:
    """Whether compressed rows rise from 0, hold columns below d in order, and no zeros."""
    arrays = _arrays(starts, columns, values)
    if arrays is None:
        return False
    numpy, begins, places, numbers = arrays
    if begins[0] != 0 or begins[-1] != len(places) or len(numbers) != len(places):
        return False
    if (begins[1:] < begins[:-1]).any() or places.min() < 0 or places.max() >= d:
        return False
    falls = numpy.flatnonzero(places[1:] <= places[:-1]) + 1
    return bool(numpy.isin(falls, begins).all() and numbers.all())
