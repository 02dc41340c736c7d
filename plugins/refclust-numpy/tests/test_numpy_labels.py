"""Labels in buffers are counted into buffers."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest
from support import NUMPY, REFERENCE, equal

from refclust import score
from refclust.kernels.contingency import CellTable, LabelPairs

random = np.random.default_rng(8)


def counted(clusters: Any, classes: Any) -> Any:
    pairs = LabelPairs(memoryview(clusters), memoryview(classes))  # type: ignore[arg-type]
    answer = NUMPY["contingency.table"](pairs)
    equal("contingency.table", REFERENCE["contingency.table"](pairs), answer)
    return answer


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_integers_of_any_width(kind: str) -> None:
    a = random.integers(0 if kind[0] == "u" else -9, 9, 1000).astype(kind)
    table = counted(a, random.integers(0, 5, 1000))
    assert isinstance(table, CellTable)
    assert {type(x) for cell in table for x in cell} == {int}


def test_many_cells_and_labels_far_apart() -> None:
    counted(random.integers(0, 3000, 4000), random.integers(0, 3000, 4000))
    apart = random.integers(-(2**62), 2**62, 500)
    counted(random.choice(apart, 3000), random.integers(0, 3, 3000))
    top = np.full(300, 2**64 - 1, np.uint64)
    assert type(counted(top, np.zeros(300, np.int64))) is dict
    assert type(counted(array("i", [1, 2]), array("i", [1, 1]))) is dict  # too few to bother


@pytest.mark.parametrize("key", ["nmi", "ari", "ami"])
def test_whole_calls_are_the_references(key: str) -> None:
    true, pred = random.integers(0, 6, 2000), random.integers(0, 9, 2000)
    ours = score(key, true, pred, backend="numpy")
    theirs = score(key, true.tolist(), pred.tolist(), backend="reference")
    assert (float(ours), ours.fraction) == (float(theirs), theirs.fraction)
    assert ours.certified
