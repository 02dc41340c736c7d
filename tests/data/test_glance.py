"""What NumPy says at a glance is what the plain checks say, errors included."""

from __future__ import annotations

import math
import sys
from array import array
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.data.accepting import buffers as glance
from refclust.data.accepting.matrices import compressed
from refclust.data.dataset import first_not_finite, readonly
from refclust.errors import RefclustError

NUMBERS = st.floats(width=32) | st.sampled_from([0.0, -0.0, 1e200, -1e300, 1.7e308, 5e-324])


def without_numpy(call: Any, *args: Any) -> Any:
    kept = sys.modules.pop("numpy")
    try:
        return outcome(call, *args)
    finally:
        sys.modules["numpy"] = kept


def outcome(call: Any, *args: Any) -> Any:
    try:
        found = call(*args)
    except RefclustError as error:
        return type(error), str(error)
    if hasattr(found, "starts"):
        return [list(part) for part in (found.starts, found.columns, found.values)]
    return found


@given(st.lists(NUMBERS, min_size=1, max_size=9))
def test_the_first_number_that_is_not_finite_is_found_with_and_without_numpy(
    numbers: list[float],
) -> None:
    due = next((i for i, x in enumerate(numbers) if not math.isfinite(x)), None)
    values = readonly(array("d", numbers))
    assert outcome(first_not_finite, values) == due
    assert without_numpy(first_not_finite, values) == due


@pytest.mark.parametrize("code", ["d", "f"])
@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_a_place_beyond_many_glances(code: str, wrong: float) -> None:
    values = array(code, [1e38, -3e38] * 5_000)
    assert first_not_finite(readonly(values)) is None
    assert without_numpy(first_not_finite, readonly(values)) is None
    values[7_777] = wrong
    assert first_not_finite(readonly(values)) == 7_777
    assert without_numpy(first_not_finite, readonly(values)) == 7_777


def test_a_sum_beyond_doubles_warns_nobody() -> None:
    doubles: Any = np.full(100, 1.7e308)
    singles: Any = np.full(100, 3e38, np.float32)
    assert not glance.surely_finite(memoryview(doubles))
    assert first_not_finite(memoryview(doubles)) is None
    assert first_not_finite(memoryview(singles)) is None


@given(
    st.lists(st.integers(-1, 7), min_size=1, max_size=6),
    st.lists(st.integers(-1, 4), max_size=7),
    st.lists(st.sampled_from([0.0, 1.0, -2.5]), max_size=7),
    st.integers(1, 4),
)
def test_compressed_rows_come_out_the_same_with_and_without_numpy(
    starts: list[int], columns: list[int], values: list[float], d: int
) -> None:
    n = len(starts) - 1
    parts = (readonly(array("q", starts)), readonly(array("i", columns)))
    rest = (readonly(array("d", values)), n, d)
    assert outcome(compressed, *parts, *rest) == without_numpy(compressed, *parts, *rest)


def test_rows_in_order_are_taken_at_a_glance() -> None:
    starts, columns = array("i", [0, 2, 2, 3]), array("i", [0, 4, 1])
    values = array("d", [1.0, 2.0, 3.0])
    parts = (readonly(starts), readonly(columns), readonly(values))
    assert glance.surely_in_order(*parts, 5)
    assert not glance.surely_in_order(*parts, 4)
    assert without_numpy(glance.surely_in_order, *parts, 5) is False
    values[1] = 0.0
    assert not glance.surely_in_order(*parts, 5)
