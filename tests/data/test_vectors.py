"""Vectors: exact values, both kinds, arrays by protocol, and every refusal with its place."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from refclust.data.exact import read_vector
from refclust.data.vectors import (
    cosine,
    distance,
    distance_matrix,
    dot,
    norm,
    similarity_matrix,
    squared_distance,
)
from refclust.errors import (
    BadNumber,
    DimensionMismatch,
    EmptyInput,
    MixedKeys,
    NotFinite,
    RaggedRows,
    ZeroVector,
)

THIRD = Fraction(1, 3)
PAIRS: list[Callable[[Any, Any], float]] = [dot, squared_distance, distance, cosine]
MATRICES: list[Callable[[Any], object]] = [distance_matrix, similarity_matrix]


class Array:
    """Stands for an array of another library: it has ``tolist`` and nothing else."""

    def __init__(self, content: Any) -> None:
        self.content = content

    def tolist(self) -> Any:
        return self.content


class Scalar(Array):
    """Stands for a number or key taken from such an array."""

    def __hash__(self) -> int:
        return hash(self.content)

    def __eq__(self, other: object) -> bool:
        return bool(self.content == other)


@pytest.mark.spec("VEC-DOT")
def test_dot() -> None:
    assert dot([1, 2, 3], [4, 5, 6]) == 32.0
    assert dot([1e16, 1.0, -1e16], [1, 1, 1]) == 1.0
    assert dot([1e200, 1e-200], [1e-200, 1e200]) == float(2 * Fraction(1e200) * Fraction(1e-200))
    assert dot([THIRD, THIRD, THIRD], [1, 1, 1]) == 1.0
    assert dot([1e200, -1e200, 7], [1e200, 1e200, 1]) == 7.0
    assert dot([], []) == 0.0
    assert type(dot([1], [1])) is float


@pytest.mark.spec("VEC-DOT", "REP-VEC")
def test_sparse_dot_needs_only_common_keys() -> None:
    assert dot({"cat": 2, "dog": 1}, {"dog": 3, "cow": 9}) == 3.0
    assert dot({1: 2, 2: 1}, {2: 3, 5: 9}) == 3.0
    assert dot({}, {"a": 1}) == 0.0
    assert dot({}, {}) == 0.0
    assert dot({"a": 1e-200}, {"a": 1e-200}) == 0.0


@pytest.mark.spec("VEC-NORM")
def test_norm() -> None:
    assert norm([3, 4]) == 5.0
    assert norm({"a": -3, "b": 4}) == 5.0
    assert norm([3 * 2.0**600, 4 * 2.0**600]) == 5 * 2.0**600  # the square is no double
    assert norm([5e-324]) == 5e-324
    assert norm([5e-324, 5e-324]) == 5e-324  # 1.41 steps from zero, so one
    assert norm([5e-324] * 3) == 1e-323  # 1.73 steps, so two
    assert norm([1, 1]) == math.sqrt(2)
    assert norm([]) == 0.0
    assert norm([Fraction(3, 7), Fraction(4, 7)]) == 5 / 7
    assert norm([10**200 * 3, 10**200 * 4]) == 5e200


@pytest.mark.spec("VEC-SQDIST", "DIST-L2")
def test_distances() -> None:
    assert squared_distance([1, 2], [4, 6]) == 25.0
    assert distance([1, 2], [4, 6]) == 5.0
    assert squared_distance({"a": 1, "b": 2}, {"a": 4, "c": 6}) == 49.0
    assert distance({"a": 3}, {}) == 3.0
    # An offset of 1e8 costs nothing: x.x - 2 x.y + y.y in floats would print 0 here.
    assert squared_distance([1e8 + 2**-20], [1e8]) == 2**-40
    assert distance([1e8 + 2**-20], [1e8]) == 2**-20
    assert distance([1e300], [-1e300]) == 2e300
    assert distance([THIRD], [Fraction(1, 4)]) == 1 / 12
    assert distance([0.1], [Fraction(1, 10)]) == float(Fraction(0.1) - Fraction(1, 10))


@pytest.mark.spec("DIST-L2")
def test_distance_is_not_the_root_of_the_rounded_square() -> None:
    # The square needs 54 bits; rounding it first moves the root to the next double.
    x, y = [94906266.0, 5.0], [0.0, 0.0]
    square = 94906266**2 + 5**2
    assert squared_distance(x, y) == float(square) != square
    assert distance(x, y) == 94906266.00000013
    assert math.sqrt(float(square)) == 94906266.00000012


@pytest.mark.spec("SIM-COS")
def test_cosine() -> None:
    assert cosine([1, 0], [0, 1]) == 0.0
    assert cosine([3, 4], [4, 3]) == 0.96
    assert cosine([3, 4], [-4, -3]) == -0.96
    assert cosine([0.1, 0.2, 0.3], [0.1, 0.2, 0.3]) == 1.0
    assert cosine({"a": 0.1}, {"a": -7}) == -1.0
    assert cosine([1e300, 1e300], [1e-300, 1e-300]) == 1.0
    assert cosine([5e-324], [1.7e308]) == 1.0
    assert cosine([1, 1], [1, 0]) == math.sqrt(0.5)
    # Orthogonal to within less than the least double, on either side: the zero has no sign.
    assert cosine([1e300, 1e-300], [-1e-300, 1e300 * (1 - 2**-53)]) <= 0
    assert math.copysign(1.0, cosine([1e300, 0], [-(2.0**-1074), 1e300])) == 1.0


@pytest.mark.spec("SIM-COS")
@pytest.mark.parametrize("zero", [[0, 0], [0.0, -0.0], {}, {"a": 0}, []])
def test_the_zero_vector_has_no_cosine(zero: Any) -> None:
    other: Any = {"a": 1} if isinstance(zero, dict) else [1] * len(zero)
    with pytest.raises(ZeroVector, match="y is the zero vector" if other else "zero vector"):
        cosine(other, zero)
    with pytest.raises(ZeroVector, match="x is the zero vector") as caught:
        cosine(zero, other)
    assert caught.value.code == "zero-vector"


@pytest.mark.spec("DIST-MAT")
def test_distance_matrix() -> None:
    assert distance_matrix([[0, 0], [3, 4], [0, 8]]) == (
        (0.0, 5.0, 8.0),
        (5.0, 0.0, 5.0),
        (8.0, 5.0, 0.0),
    )
    assert distance_matrix([{}, {"a": 3}, {"b": 4}]) == (
        (0.0, 3.0, 4.0),
        (3.0, 0.0, 5.0),
        (4.0, 5.0, 0.0),
    )
    assert distance_matrix([[7]]) == ((0.0,),)
    assert distance_matrix(iter([[1], [2]])) == ((0.0, 1.0), (1.0, 0.0))


@pytest.mark.spec("SIM-MAT")
def test_similarity_matrix() -> None:
    assert similarity_matrix([[1, 0], [0, 2], [3, 4]]) == (
        (1.0, 0.0, 0.6),
        (0.0, 1.0, 0.8),
        (0.6, 0.8, 1.0),
    )
    assert similarity_matrix([{1: 0.1, 2: 0.7}]) == ((1.0,),)
    with pytest.raises(ZeroVector, match=r"rows\[1\] is the zero vector"):
        similarity_matrix([[1, 0], [0, 0]])


@pytest.mark.spec("REP-VEC")
def test_arrays_are_read_by_protocol() -> None:
    assert dot(Array([1, 2]), (3, 4)) == 11.0
    assert dot(array("d", [1.5, 2]), range(2)) == 2.0
    assert norm([Scalar(3), Scalar(4.0)]) == 5.0  # type: ignore[list-item]
    assert dot({Scalar(7): Scalar(2)}, {7: 3}) == 6.0  # type: ignore[arg-type]
    assert distance_matrix(Array([[0, 0], [3, 4]])) == ((0.0, 5.0), (5.0, 0.0))
    assert distance_matrix([Array([0, 0]), [3, 4]]) == ((0.0, 5.0), (5.0, 0.0))


@pytest.mark.spec("REP-VEC")
def test_reading_loses_nothing() -> None:
    read = read_vector([0.1, THIRD, 10**30, -5e-324], "x")
    assert isinstance(read.entries, tuple)
    given = [Fraction(0.1), THIRD, Fraction(10**30), Fraction(-5e-324)]
    assert [Fraction(entry, read.denominator) for entry in read.entries] == given
    words: dict[str, int | float | Fraction] = {"a": 0.1, "b": 0, "c": -0.0, "d": THIRD}
    sparse = read_vector(words, "x")
    assert isinstance(sparse.entries, dict)
    assert {k: Fraction(v, sparse.denominator) for k, v in sparse.entries.items()} == {
        "a": Fraction(0.1),
        "d": THIRD,
    }


@pytest.mark.spec("REP-VEC")
@pytest.mark.parametrize("bad", [True, False, "1", None, 1j, [1], b"1", Scalar(True), Array([1])])
def test_what_is_not_a_number_is_refused_with_its_place(bad: Any) -> None:
    for function in PAIRS:
        with pytest.raises(BadNumber, match=r"y\[2\] is .*int, float or Fraction") as caught:
            function([1, 2, 3], [1, 2, bad])
        assert caught.value.code == "bad-number"
        with pytest.raises(BadNumber, match=r"x\['w'\] is "):
            function({"v": 1, "w": bad}, {"v": 1})
    with pytest.raises(BadNumber, match=r"x\[0\]"):
        norm([bad])
    for matrix in MATRICES:
        with pytest.raises(BadNumber, match=r"rows\[1\]\[0\] is "):
            matrix([[1], [bad]])


@pytest.mark.spec("REP-VEC")
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, Scalar(math.nan)])
def test_nan_and_infinity_are_refused_with_their_place(bad: Any) -> None:
    for function in PAIRS:
        with pytest.raises(NotFinite, match=r"x\[1\] is (nan|-?inf)") as caught:
            function([1, bad], [1, 2])
        assert caught.value.code == "not-finite"
        with pytest.raises(NotFinite, match=r"y\[8\] is "):
            function({8: 1}, {7: 1, 8: bad})
    for matrix in MATRICES:
        with pytest.raises(NotFinite, match=r"rows\[0\]\['w'\] is "):
            matrix([{"w": bad}])


@pytest.mark.spec("REP-VEC")
@pytest.mark.parametrize("bad", ["12", b"12", 7, None, {1, 2}, Array(3.0), iter([1]), 1.5])
def test_what_is_not_a_vector_is_refused(bad: Any) -> None:
    for function in PAIRS:
        with pytest.raises(BadNumber, match=r"y is .*a vector is a sequence of numbers"):
            function([1, 2], bad)
    for matrix in MATRICES:
        with pytest.raises(BadNumber, match=r"rows\[1\] is "):
            matrix([[1, 2], bad])


@pytest.mark.spec("DIST-MAT", "SIM-MAT")
@pytest.mark.parametrize("bad", ["12", 7, None, {"a": 1}, Array(3)])
def test_what_is_not_a_sequence_of_rows_is_refused(bad: Any) -> None:
    for matrix in MATRICES:
        with pytest.raises(BadNumber, match="a sequence of vectors is needed"):
            matrix(bad)


@pytest.mark.spec("DIST-MAT", "SIM-MAT")
def test_no_rows() -> None:
    for matrix in MATRICES:
        with pytest.raises(EmptyInput) as caught:
            matrix([])
        assert caught.value.code == "empty-input"


@pytest.mark.spec("REP-VEC")
def test_lengths_and_kinds_must_agree() -> None:
    for function in PAIRS:
        with pytest.raises(DimensionMismatch, match="x has 2 components and y has 3") as caught:
            function([1, 2], [1, 2, 3])
        assert caught.value.code == "dimension-mismatch"
        with pytest.raises(DimensionMismatch, match="x is dense and y is sparse"):
            function([1, 2], {0: 1})
        with pytest.raises(DimensionMismatch, match="x is sparse and y is dense"):
            function({}, [])
    for matrix in MATRICES:
        with pytest.raises(RaggedRows, match=r"rows\[0\] has 2 components and rows\[2\] has 1"):
            matrix([[1, 2], [3, 4], [5]])
        with pytest.raises(DimensionMismatch, match=r"rows\[1\] is sparse and rows\[0\] is dense"):
            matrix([[1], {0: 1}])


@pytest.mark.spec("REP-VEC")
def test_keys_are_all_strings_or_all_integers() -> None:
    mixed: list[Any] = [{"a": 1, 1: 1}, {1: 1, "a": 0}, {1.0: 1}, {True: 1}, {None: 1}, {(1,): 1}]
    for vector in mixed:
        with pytest.raises(MixedKeys, match=r"x has .*all strings or all integers") as caught:
            norm(vector)
        assert caught.value.code == "mixed-keys"
    # The keys count even where the value is zero; an empty mapping goes with both.
    with pytest.raises(MixedKeys, match="x has str keys and y has int keys"):
        dot({"a": 0}, {1: 1})
    with pytest.raises(MixedKeys, match=r"rows\[1\] has str keys and rows\[2\] has int keys"):
        distance_matrix([{}, {"a": 1}, {1: 1}])


@pytest.mark.spec("VEC-DOT", "VEC-NORM", "VEC-SQDIST", "DIST-L2", "DIST-MAT")
def test_beyond_the_largest_double_is_an_error() -> None:
    big = 1.7976931348623157e308
    with pytest.raises(NotFinite, match=r"about 2\*\*13\d\d; the largest double"):
        dot([1e200], [1e200])
    with pytest.raises(NotFinite, match="about -2"):
        dot([1e200], [-1e200])
    with pytest.raises(NotFinite):
        squared_distance([1e200], [0])
    with pytest.raises(NotFinite):
        norm([big, big])
    with pytest.raises(NotFinite):
        distance([big], [-big])
    with pytest.raises(NotFinite):
        norm([10**400])
    with pytest.raises(NotFinite, match=r"rows\[2\] and a row before it: the exact result"):
        distance_matrix([[0.0], [big], [-big]])
    # The numbers themselves may be as large as they like.
    assert dot([10**400], [Fraction(1, 10**400)]) == 1.0
    assert norm([big, 1]) == big


@pytest.mark.spec("REP-VEC")
def test_messages_stay_short() -> None:
    with pytest.raises(BadNumber) as caught:
        norm(["x" * 10_000])  # type: ignore[list-item]
    assert len(str(caught.value)) < 200
