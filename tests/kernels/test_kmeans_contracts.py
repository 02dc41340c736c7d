"""The contracts of k-means: saboteurs are found out (chapters 10 and 80)."""

from __future__ import annotations

from array import array
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy
import pytest

from refclust.kernels.clusters.kmeans import ClusterSums, LloydStep, StepContract, SumsContract
from refclust.kernels.clusters.seeding import (
    Potential,
    PotentialContract,
    best_candidate,
    farthest,
    place,
    potential,
)
from refclust.kernels.contracts.basic import Argmin, Equal
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS
from tests.cluster.strategies import data_of

LABELS = array("i", [0, 0, 1])
SUMS = ClusterSums((2, 1), 0, ((3, 4), (5, 6)), 1)
STEP = LloydStep(LABELS, 3, SUMS)
POTENTIAL = Potential(((0.0,), (1.0,)), LABELS, array("d", [0.0, 1.0, 2.0]))


@pytest.mark.spec("KER-ASSIGN", "KER-SUMS", "KER-STEP", "KER-SQUARES", "KER-POTENTIAL")
def test_each_kernel_has_its_contract() -> None:
    names = {name: one.contract.name for name, one in KERNELS.items()}
    due = {
        "kmeans.assign": "Argmin",
        "kmeans.accumulate": "Sums",
        "kmeans.lloyd_step": "Argmin, Sums",
        "kmeans.squares": "Rationals",
        "seeding.potential": "Argmin",
        "seeding.locate": "Equal",
        "seeding.best_candidate": "Equal",
        "seeding.farthest": "Equal",
    }
    assert {name: names[name] for name in due} == due


@pytest.mark.spec("KER-ASSIGN", "BK-KERNEL")
def test_labels_that_are_right() -> None:
    right = [LABELS, memoryview(LABELS), numpy.array([0, 0, 1], dtype=numpy.int32)]
    for answer in right:
        assert Argmin().fault(LABELS, answer) is None


@pytest.mark.spec("KER-ASSIGN", "BK-KERNEL")
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (array("i", [0, 1, 1]), "row 1: centre 1 instead of 0"),  # ties to the highest index
        (array("i", [0, 0]), "2 rows instead of 3"),
        (array("i", [0, 0, 1, 1]), "4 rows instead of 3"),
        (array("i", [0, 0, -1]), "row 2: centre -1 instead of 1"),
        (array("q", [0, 0, 1]), "format 'q'"),
        (array("I", [0, 0, 1]), "format 'I'"),
        (array("d", [0, 0, 1]), "format 'd'"),
        (numpy.array([0, 0, 1], dtype=numpy.int64), "format 'l'"),
        (numpy.array([0, 0, 1], dtype=">i4"), "format '>i'"),
        (numpy.array([[0, 0, 1]], dtype=numpy.int32), "2-dimensional"),
        (numpy.array([0, 9, 0, 9, 1, 9], dtype=numpy.int32)[::2], "is not a flat one"),
        (numpy.int32(0), "0-dimensional"),
        ([0, 0, 1], "a list instead of a buffer"),
        ((0, 0, 1), "a tuple instead of a buffer"),
        (None, "a NoneType instead of a buffer"),
        (b"abc", "format 'B'"),
    ],
)
def test_labels_that_are_wrong(answer: Any, told: str) -> None:
    fault = Argmin().fault(LABELS, answer)
    assert fault is not None
    assert told in fault
    step, potential = replace(STEP, labels=answer), replace(POTENTIAL, nearest=answer)
    assert StepContract().fault(STEP, step) == fault
    assert PotentialContract().fault(POTENTIAL, potential) == fault


@pytest.mark.spec("KER-SUMS", "BK-KERNEL")
def test_sums_are_equal_as_rationals() -> None:
    assert SumsContract().fault(SUMS, SUMS) is None
    finer = ClusterSums((8, 4), 2, ((12, 16), (20, 24)), 3)
    assert SumsContract().fault(SUMS, finer) is None
    assert SumsContract().fault(finer, SUMS) is None
    assert (
        SumsContract().fault(SUMS, replace(SUMS, shift=2))
        == "cluster 0, column 0: the sum is not exact"
    )
    assert SumsContract().fault(SUMS, replace(SUMS, weight_shift=1)) == (
        "cluster 0: the weight is 1, not 2"
    )


@pytest.mark.spec("KER-SUMS", "BK-KERNEL")
def test_a_sum_off_by_one_bit_of_its_last_place() -> None:
    exact = ClusterSums((3,), 0, ((3 << 60, 1),), 60)
    rounded = ClusterSums((3,), 0, ((3 << 60, 0),), 60)  # 3 + 2**-60 rounded like a double
    assert SumsContract().fault(exact, rounded) == "cluster 0, column 1: the sum is not exact"
    assert SumsContract().fault(exact, exact) is None


@pytest.mark.spec("KER-SUMS", "BK-KERNEL")
@pytest.mark.parametrize(
    "answer",
    [
        replace(SUMS, weights=(2, 2)),
        replace(SUMS, weights=(2,)),
        replace(SUMS, weights=(2, 1, 0)),
        replace(SUMS, sums=((3, 4),)),
        replace(SUMS, sums=((3, 4), (5, 6), (0, 0))),
        replace(SUMS, sums=((3, 4), (5, 7))),
        replace(SUMS, sums=((3, 4), (5,))),
        replace(SUMS, sums=((3, 4, 0), (5, 6, 0))),
        replace(SUMS, shift=True),
        replace(SUMS, weights=(2.0, 1.0)),  # type: ignore[arg-type]
        replace(SUMS, sums=((3.0, 4.0), (5.0, 6.0))),  # type: ignore[arg-type]
        replace(SUMS, sums=tuple(map(tuple, numpy.array([[3, 4], [5, 6]])))),
        replace(SUMS, shift=numpy.int64(1)),  # type: ignore[arg-type]
        replace(SUMS, shift=-1),
        replace(SUMS, weight_shift=-1),
        replace(SUMS, weights=None),  # type: ignore[arg-type]
        replace(SUMS, sums=None),  # type: ignore[arg-type]
        replace(SUMS, sums=(3, 4)),  # type: ignore[arg-type]
        None,
        (SUMS,),
        {"weights": (2, 1)},
    ],
    ids=repr,
)
def test_sums_that_are_wrong(answer: Any) -> None:
    assert SumsContract().fault(SUMS, answer) is not None
    assert StepContract().fault(STEP, replace(STEP, sums=answer)) is not None


@pytest.mark.spec("KER-STEP", "BK-KERNEL")
def test_steps() -> None:
    contract = StepContract()
    assert contract.fault(STEP, STEP) is None
    assert contract.fault(STEP, replace(STEP, changed=2)) == "2 changed labels instead of 3"
    assert contract.malformed(replace(STEP, changed=numpy.int64(3))) == (  # type: ignore[arg-type]
        "changed: a int64, not a plain int"
    )
    assert contract.malformed(replace(STEP, changed=True)) is not None
    assert contract.malformed((LABELS, 3, SUMS)) == "a tuple instead of a LloydStep"
    assert contract.malformed(None) is not None


@pytest.mark.spec("KER-POTENTIAL", "BK-KERNEL")
def test_potentials() -> None:
    contract = PotentialContract()
    assert contract.fault(POTENTIAL, POTENTIAL) is None
    assert contract.malformed((LABELS,)) == "a tuple instead of a Potential"


@pytest.mark.spec("KER-POTENTIAL", "BK-KERNEL", "KM-DRAW")
@pytest.mark.parametrize("squares", [[9.0, 0.0, 0.0], [0.0, 0.0], [0.0, 5.0, 1.0], [0.0] * 3])
def test_bad_estimates_of_a_backend_decide_nothing(squares: list[float]) -> None:
    """One backend may bring the potential and the reference draw from it: both must fit together.

    Either the contract finds the estimates out, or whoever uses them does not rely on them.
    """
    points = Points(data_of([(0.0,), (1.0,), (2.0,)], "dense"))
    right = potential(points, (0.0,))
    answer = replace(right, squares=array("d", squares), made_by=None)
    if PotentialContract().fault(right, answer) is None:
        numbers = (0.0, 0.1, 0.3, 0.5, 0.9)
        assert [place(points, answer, r) for r in numbers] == [
            place(points, right, r) for r in numbers
        ]
        assert farthest(points, answer) == farthest(points, right)
        assert best_candidate(points, answer, (1, 2)) == best_candidate(points, right, (1, 2))


@pytest.mark.spec("KER-POTENTIAL", "BK-KERNEL")
@pytest.mark.parametrize(
    "answer",
    [2, 3.0, True, numpy.int64(3), numpy.float64(3), (3,), array("i", [3]), None, "3", [3]],
    ids=repr,
)
def test_a_row_is_one_plain_integer(answer: Any) -> None:
    """3.0 equals 3, but no row has the number 3.0."""
    for name in ("seeding.locate", "seeding.best_candidate", "seeding.farthest"):
        contract = KERNELS[name].contract
        assert contract.fault(3, 3) is None
        assert contract.fault(3, answer) is not None


@pytest.mark.spec("KER-SQUARES", "BK-KERNEL")
@pytest.mark.parametrize(
    "answer",
    [
        (Fraction(1, 2), Fraction(4)),
        (Fraction(1, 2),),
        (Fraction(1, 2), Fraction(3), Fraction(0)),
        (0.5, 3.0),  # equal numbers, but sums of doubles would follow
        (numpy.float64(0.5), Fraction(3)),
        array("d", [0.5, 3.0]),
        [Fraction(1, 2), Fraction(3)],
        0.5,
        3,
        None,
    ],
    ids=repr,
)
def test_squares_are_rationals(answer: Any) -> None:
    contract = KERNELS["kmeans.squares"].contract
    reference = (Fraction(1, 2), Fraction(3))
    assert contract.fault(reference, reference) is None
    assert contract.fault(reference, answer) is not None


@pytest.mark.spec("BK-KERNEL")
def test_equal_compares_flat_buffers_and_tuples() -> None:
    contract = Equal()
    doubles = array("d", [0.0, 0.5])
    assert contract.fault(doubles, array("d", [0.0, 0.5])) is None
    assert contract.fault(doubles, array("d", [0.0])) == "1 entries instead of 2"
    assert contract.fault((1, (2, 3)), (1, (2, 3))) is None
    assert contract.fault((1, (2, 3)), (1, (2, 4))) == "at 1: at 1: 4 instead of 3"
    assert contract.malformed((1, (numpy.int64(2), 3))) == "at 1: at 0: a int64, not a plain number"
