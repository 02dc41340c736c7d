"""Counting label pairs, and the kernel that is the reference's own."""

from __future__ import annotations

from array import array
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from support import NUMPY, REFERENCE, equal

from refclust.kernels.contingency import LabelPairs
from refclust.kernels.information import Margins

random = np.random.default_rng(6)
A, B = random.integers(-3, 9, 2000), random.integers(0, 5, 2000)
WIDE = (A.astype(np.int64) * 10**12).tolist()


@pytest.mark.parametrize(
    "pairs",
    [
        LabelPairs(A.tolist(), B.tolist()),
        LabelPairs(tuple(A.tolist()), array("i", B.tolist())),
        LabelPairs(WIDE, B.tolist()),
        LabelPairs([10**30 + a for a in A.tolist()], B.tolist()),
        LabelPairs([str(a) for a in A], B.tolist()),
        LabelPairs([bool(a) for a in A], [float(b) for b in B]),
        LabelPairs(A.tolist(), B.tolist(), (A + 4).tolist()),
        LabelPairs(A.tolist(), B.tolist(), [10**16] * 2000),
        LabelPairs(A.tolist(), B.tolist(), [10**30] * 2000),
        LabelPairs(A.tolist(), B.tolist(), [Fraction(1, 3)] * 2000),
        LabelPairs([], []),
    ],
)
def test_tables_are_the_references(pairs: Any) -> None:
    due = REFERENCE["contingency.table"](pairs)
    got = NUMPY["contingency.table"](pairs)
    equal("contingency.table", due, got)
    assert list(got.items()) == list(due.items())  # in the same order, too
    assert {type(x) for cell in got for x in cell} == {type(x) for cell in due for x in cell}


def test_expected_mutual_information_is_the_references() -> None:
    margins = Margins(((3, 2), (4, 1)), ((5, 2),), 10)
    due = REFERENCE["information.expected_mi"](margins, 20)
    assert NUMPY["information.expected_mi"](margins, 20) == due
