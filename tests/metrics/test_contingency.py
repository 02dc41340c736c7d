"""Contingency tables: building, order, weights, noise and every refusal (chapter 40)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from refclust.backends.protocol import Problem
from refclust.errors import (
    BackendFailure,
    BadLabel,
    BadOption,
    BadTable,
    BadWeight,
    EmptyInput,
    LabelLengthMismatch,
    NanLabel,
    NegativeCount,
    NotFinite,
    RaggedRows,
    RefclustError,
)
from refclust.kernels.contingency import LabelPairs
from refclust.metrics import Contingency, purity, rand
from refclust.metrics.contingency import NO_NOISE, Lonely, contingency

NAN = float("nan")


class Array:
    """What an array of another library looks like from here."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values

    def tolist(self) -> list[Any]:
        return self._values

    def __iter__(self) -> Iterable[Any]:
        raise AssertionError("arrays are read through tolist, not item by item")

    def __len__(self) -> int:
        raise AssertionError("arrays are read through tolist")


class WrapsAround(int):
    """An integer whose numerator is of its own kind, as fixed-width integers have it."""

    @property
    def numerator(self) -> WrapsAround:
        return self

    def __add__(self, other: object) -> int:
        raise AssertionError("the arithmetic of fixed-width integers must not be used")

    __radd__ = __add__
    __mul__ = __add__


def fault(kind: type[RefclustError], code: str, *parts: str) -> Any:
    """Expect an error, with its code and all these words in its message."""

    class Check:
        def __enter__(self) -> None:
            self.catch = pytest.raises(kind)
            self.caught = self.catch.__enter__()

        def __exit__(self, *exception: Any) -> bool:
            passed = self.catch.__exit__(*exception)
            assert self.caught.value.code == code
            for part in parts:
                assert part in str(self.caught.value)
            return bool(passed)

    return Check()


# -- building -------------------------------------------------------------------------------


@pytest.mark.spec("CT-TABLE")
def test_rows_are_clusters_and_columns_are_classes() -> None:
    table = contingency(["x", "x", "y", "y", "y"], [1, 1, 1, 2, 2])
    assert table.clusters == (1, 2)
    assert table.classes == ("x", "y")
    assert table.rows() == [[2, 1], [0, 2]]
    assert (table.row, table.col, table.total) == ((3, 2), (2, 3), 5)
    assert dict(table.cells()) == {(0, 0): 2, (0, 1): 1, (1, 1): 2}
    assert table.largest_in_row() == (2, 2)
    assert table.largest_in_column() == (2, 2)
    assert table.is_integer


@pytest.mark.spec("CT-TABLE")
def test_transposing_exchanges_everything() -> None:
    table = Contingency.of_rows([[5, 1, 0], [1, 4, 2]])
    turned = table.transposed()
    assert turned.rows() == [[5, 1], [1, 4], [0, 2]]
    assert (turned.row, turned.col, turned.total) == ((6, 5, 2), (6, 7), 13)
    assert (turned.clusters, turned.classes) == (table.classes, table.clusters)
    assert list(turned.counts) == sorted(turned.counts)
    assert turned.largest_in_row() == table.largest_in_column() == (5, 4, 2)
    assert table.largest_in_row() == (5, 4)


@pytest.mark.spec("CT-TABLE")
def test_groups_stand_in_natural_order_if_they_have_one() -> None:
    table = contingency(["b", "a", "c"], [10, 9, -1])
    assert table.classes == ("a", "b", "c")
    assert table.clusters == (-1, 9, 10)
    assert table.rows() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]


@pytest.mark.spec("CT-TABLE")
def test_groups_without_a_common_order_stand_as_first_met() -> None:
    table = contingency(["b", 1, None, (2,), "b"], [0, 0, 0, 0, 1])
    assert table.classes == ("b", 1, None, (2,))
    assert table.rows() == [[1, 1, 1, 1], [1, 0, 0, 0]]


@pytest.mark.spec("CT-TABLE")
def test_labels_are_the_same_when_python_says_so() -> None:
    table = contingency([1, 1.0, True, Fraction(1), Decimal(1), "1", b"1"], "aaaaaaa")
    assert table.rows() == [[5, 1, 1]]
    assert table.classes == (1, "1", b"1")


@pytest.mark.spec("CT-TABLE")
def test_strings_are_sequences_of_labels_and_nothing_is_trimmed() -> None:
    assert contingency("xxy", "aba").rows() == [[1, 1], [1, 0]]
    assert contingency(["a", " a", "A"], "uuu").col == (1, 1, 1)
    assert contingency(b"xxy", range(3)).classes == (ord("x"), ord("y"))


@pytest.mark.spec("CT-TABLE")
def test_any_iterable_of_labels_will_do() -> None:
    expected = [[1, 0], [1, 1]]
    true, pred = ["x", "x", "y"], [1, 2, 2]
    assert contingency(iter(true), iter(pred)).rows() == expected
    assert contingency(tuple(true), (label for label in pred)).rows() == expected
    assert contingency(Array(true), Array(pred)).rows() == expected  # type: ignore[arg-type]
    assert contingency(dict.fromkeys("xyz"), {"a": 0, "b": 0, "c": 0}.values()).row == (3,)


@pytest.mark.spec("CT-TABLE")
def test_tables_of_other_libraries_are_read_through_tolist() -> None:
    assert Contingency.of_rows(Array([[2, 1], [0, 2]])).rows() == [[2, 1], [0, 2]]
    assert Contingency.of_rows([Array([2, 1]), Array([0, 2])]).rows() == [[2, 1], [0, 2]]


@pytest.mark.spec("CT-TABLE")
def test_empty_rows_and_columns_are_dropped() -> None:
    table = Contingency.of_rows([[0, 0, 0], [0, 2, 1], [0, 0, 3]])
    assert table.rows() == [[2, 1], [0, 3]]
    assert (table.clusters, table.classes) == ((1, 2), (1, 2))


@pytest.mark.spec("CT-WEIGHT")
def test_cells_may_be_fractions_floats_and_text() -> None:
    table = Contingency.of_rows([["1/2", 0.25], [Fraction(3, 4), "2"]])
    assert table.rows() == [[Fraction(1, 2), Fraction(1, 4)], [Fraction(3, 4), 2]]
    assert table.total == Fraction(7, 2)
    assert not table.is_integer
    assert Contingency.of_rows([[2.0, "4/2"]]).rows() == [[2, 2]]
    assert Contingency.of_rows([[2.0, "4/2"]]).is_integer
    assert all(type(n) is int for n in Contingency.of_rows([[2.0, "4/2"]]).counts.values())


@pytest.mark.spec("CT-WEIGHT")
def test_integers_of_other_kinds_become_plain_ones() -> None:
    table = Contingency.of_rows([[WrapsAround(3), WrapsAround(4)]])
    assert (type(table.total), table.total) == (int, 7)
    weighted = contingency("ab", "ab", weights=[WrapsAround(3), WrapsAround(4)])
    assert {type(count) for count in weighted.counts.values()} == {int}


def test_the_smallest_tables_are_legal() -> None:
    assert contingency(["only"], [None]).rows() == [[1]]
    empty = contingency([], [])
    assert (empty.row, empty.col, empty.total, empty.rows()) == ((), (), 0, [])
    assert Contingency.of_rows([]).row == Contingency.of_rows([[], []]).row == ()
    assert Contingency.of_rows([[0, 0]]).total == 0


def test_a_table_cannot_be_changed() -> None:
    table = Contingency.of_rows([[1]])
    with pytest.raises(AttributeError):
        table.total = 2  # type: ignore[misc]
    assert {table: "tables are themselves"}[table]


# -- weights --------------------------------------------------------------------------------


@pytest.mark.spec("CT-WEIGHT")
def test_weights_add_up_exactly() -> None:
    table = contingency("aab", "xyx", weights=[0.1, Fraction(1, 3), "2/3"])
    assert table.counts == {(0, 0): Fraction(0.1), (1, 0): Fraction(1, 3), (0, 1): Fraction(2, 3)}
    tenths = contingency("a" * 10, "x" * 10, weights=[0.1] * 10)
    assert tenths.total == 10 * Fraction(0.1) != 1
    assert contingency("ab", "xx", weights=Array([2, 3])).rows() == [[2, 3]]  # type: ignore[arg-type]
    halves = contingency("aa", "xx", weights=[0.5, 0.5])
    assert halves.is_integer
    assert halves.rows() == [[1]]


@pytest.mark.spec("CT-WEIGHT")
def test_objects_of_weight_zero_are_as_if_absent() -> None:
    table = contingency("abc", "xyz", weights=[1, 0, 2.5])
    assert table.classes == ("a", "c")
    assert table.clusters == ("x", "z")
    assert contingency(["a", NAN], "xy", weights=[1, 0]).total == 1
    assert contingency("ab", "xy", weights=[0, 0.0]).total == 0


# -- noise ----------------------------------------------------------------------------------


@pytest.mark.spec("CT-NOISE")
def test_noise_policies() -> None:
    true, pred = [0, 0, 1, 1, -1], [5, -1, 6, -1, 6]
    ordinary = contingency(true, pred, noise=-1, noise_policy="ordinary")
    assert ordinary.rows() == contingency(true, pred).rows()
    ignored = contingency(true, pred, noise=-1, noise_policy="ignore")
    assert ignored.rows() == [[1, 0], [0, 1]]
    assert (ignored.clusters, ignored.classes) == ((5, 6), (0, 1))
    alone = contingency(true, pred, noise=-1, noise_policy="singletons")
    assert sorted(alone.row) == [1, 1, 1, 2]
    assert sorted(alone.col) == [1, 2, 2]
    assert alone.clusters == (5, Lonely(1), 6, Lonely(3))
    assert alone.classes == (0, 1, Lonely(4))


@pytest.mark.spec("CT-NOISE", "CT-WEIGHT")
def test_noise_with_weights() -> None:
    options: dict[str, Any] = {"noise": "?", "weights": [2, 3, 4]}
    assert contingency("a?b", "xxx", noise_policy="ignore", **options).rows() == [[2, 4]]
    alone = contingency("a??", "xxx", noise_policy="singletons", **options)
    assert alone.rows() == [[2, 3, 4]]
    assert contingency("a??", "xxx", noise_policy="ordinary", **options).col == (7, 2)


@pytest.mark.spec("CT-NOISE")
def test_none_may_be_the_noise_label() -> None:
    table = contingency(["a", None, "b"], "xyx", noise=None, noise_policy="ignore")
    assert table.rows() == [[1, 1]]
    assert repr(NO_NOISE) == "NO_NOISE"


@pytest.mark.spec("CT-NOISE")
def test_noise_must_be_named_together_with_a_policy() -> None:
    with fault(BadOption, "bad-option", "noise label -1", "None", "ordinary, singletons, ignore"):
        contingency("a", "x", noise=-1)
    with fault(BadOption, "bad-option", "no noise label with the noise policy 'ignore'"):
        contingency("a", "x", noise_policy="ignore")
    with fault(BadOption, "bad-option", "'drop'", "ordinary, singletons, ignore"):
        contingency("a", "x", noise=-1, noise_policy="drop")


@pytest.mark.spec("CT-NOISE")
def test_ignoring_everything_leaves_nothing_to_score() -> None:
    with fault(EmptyInput, "empty-input", "no object"):
        purity([-1, 0], [0, -1], noise=-1, noise_policy="ignore")


# -- refusals -------------------------------------------------------------------------------


@pytest.mark.spec("CT-TABLE")
def test_lengths_must_agree() -> None:
    with fault(LabelLengthMismatch, "label-length-mismatch", "2 true", "3 predicted"):
        contingency("ab", "xyz")
    with fault(LabelLengthMismatch, "label-length-mismatch", "3 weights for 2 objects"):
        contingency("ab", "xy", weights=[1, 2, 3])
    with pytest.raises(ValueError, match="label the same objects"):
        contingency([], "x")


@pytest.mark.spec("CT-TABLE")
@pytest.mark.parametrize("backend", ["reference", "loopback", "auto"])
def test_labels_that_cannot_be_hashed_are_refused_by_place(backend: str) -> None:
    with fault(BadLabel, "bad-label", "true label of object 1", "[2]", "list"):
        rand(["a", [2]], ["x", "y"], backend=backend)
    with fault(BadLabel, "bad-label", "predicted label of object 0", "{}", "dict"):
        rand(["a", "b"], [{}, "y"], backend=backend)
    with pytest.raises(TypeError):
        rand([{1}], ["x"], backend=backend)


@pytest.mark.spec("CT-TABLE")
def test_other_troubles_of_a_kernel_are_not_blamed_on_labels() -> None:
    class Session:
        def __init__(self, error: Exception) -> None:
            self.error = error

        def run(self, kernel: str, problem: Problem, data: LabelPairs) -> Any:
            assert (kernel, problem) == ("contingency.table", Problem("labels", 2))
            assert data == LabelPairs("xy", "ab", None)
            raise self.error

    for error in (TypeError("something else"), BackendFailure("out of memory")):
        with pytest.raises(type(error)) as caught:
            contingency("ab", "xy", session=Session(error))  # type: ignore[arg-type]
        assert caught.value is error


@pytest.mark.spec("CT-TABLE")
def test_nan_is_no_label() -> None:
    with fault(NanLabel, "nan-label", "true label of object 1"):
        contingency(["a", NAN, "b"], "xyx")
    with fault(NanLabel, "nan-label", "predicted label of object 2"):
        contingency("abc", [1.0, 2.0, NAN])
    with fault(NanLabel, "nan-label", "true label of object 0"):
        contingency([Decimal("NaN")], "x")
    with fault(BadLabel, "bad-label", "object 0"):
        contingency([Decimal("sNaN")], "x")
    assert contingency([math.inf, -math.inf], "xy").classes == (-math.inf, math.inf)


@pytest.mark.spec("CT-TABLE")
def test_tables_must_be_rectangles() -> None:
    with fault(RaggedRows, "ragged-rows", "row 1", "1 cells", "row 0 has 2"):
        Contingency.of_rows([[1, 2], [3]])
    with fault(RaggedRows, "ragged-rows", "row 1", "2 cells", "row 0 has 0"):
        Contingency.of_rows([[], [1, 2]])
    with fault(BadTable, "bad-table", "sequence of rows", "str"):
        Contingency.of_rows("12")
    with fault(BadTable, "bad-table", "int"):
        Contingency.of_rows(7)
    with fault(BadTable, "bad-table", "row 1", "'34'"):
        Contingency.of_rows([[1, 2], "34"])
    with fault(BadTable, "bad-table", "row 0", "5"):
        Contingency.of_rows([5, [1]])


@pytest.mark.spec("CT-TABLE")
@pytest.mark.parametrize("cell", [None, "many", True, 1j, [1], Decimal(1), "1/0", ""])
def test_cells_must_be_numbers(cell: Any) -> None:
    with fault(BadTable, "bad-table", "cell (1, 0) of the table", repr(cell), "not a number"):
        Contingency.of_rows([[1, 2], [cell, 3]])


@pytest.mark.spec("CT-WEIGHT")
@pytest.mark.parametrize("weight", [None, "heavy", False, 1j, [1], Decimal(1), "1/0", ""])
def test_weights_must_be_numbers(weight: Any) -> None:
    with fault(BadWeight, "bad-weight", "the weight of object 1", repr(weight), "not a number"):
        contingency("ab", "xy", weights=[1, weight])


@pytest.mark.spec("CT-TABLE", "CT-WEIGHT")
@pytest.mark.parametrize("number", [math.inf, -math.inf, NAN, "nan", "-inf", "Infinity"])
def test_counts_must_be_finite(number: Any) -> None:
    with fault(NotFinite, "not-finite", "cell (0, 1) of the table", "finite"):
        Contingency.of_rows([[1, number]])
    with fault(NotFinite, "not-finite", "the weight of object 0", "finite"):
        contingency("ab", "xy", weights=[number, 1])


@pytest.mark.spec("CT-TABLE", "CT-WEIGHT")
@pytest.mark.parametrize("number", [-1, -0.5, Fraction(-1, 3), "-2"])
def test_counts_must_not_be_negative(number: Any) -> None:
    with fault(NegativeCount, "negative-count", "cell (0, 0)", str(number), "negative"):
        Contingency.of_rows([[number]])
    with fault(NegativeCount, "negative-count", "the weight of object 1", str(number)):
        contingency("ab", "xy", weights=[1, number])


def test_minus_zero_is_zero() -> None:
    assert Contingency.of_rows([[-0.0, 1]]).rows() == [[1]]


@pytest.mark.parametrize("labels", [5, None, object()])
def test_labels_that_are_not_a_sequence_are_refused(labels: Any) -> None:
    with pytest.raises(BadLabel, match=r"^labels are a sequence, one label per object, not "):
        contingency(labels, [1])
