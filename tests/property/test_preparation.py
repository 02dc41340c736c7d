"""Properties of chapter 07: what columns hold, and what preparing them does."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.data.typed import MARKS, Frame, is_missing, kind_of_numbers, of_numbers, of_texts
from refclust.errors import LabelLengthMismatch

cells = st.sampled_from(["", "NA", "?", "1", "2", "2.5", "-3", "sunny", "rainy", "2024-01-31"])


@pytest.mark.spec("PREP-MISSING")
def test_marks_are_missing_in_any_case_and_between_blanks() -> None:
    for mark in MARKS:
        assert is_missing(mark)
        assert is_missing(f" {mark.upper()}\t")
    for cell in ("0", "no", "nah", "inf", "-1", "a.", "--- "):
        assert not is_missing(cell)


@pytest.mark.spec("PREP-MISSING")
@given(st.lists(cells, min_size=1))
def test_a_cell_is_missing_or_kept_as_written(column: list[str]) -> None:
    typed = of_texts("x", column)
    assert typed.missing() == [i for i, cell in enumerate(column) if is_missing(cell)]
    assert [*typed.names()] == [None if is_missing(cell) else cell for cell in column]


@pytest.mark.spec("PREP-KIND")
@given(st.lists(cells, min_size=1), st.randoms())
def test_only_running_numbers_depend_on_the_order_of_rows(column: list[str], random) -> None:  # type: ignore[no-untyped-def]
    shuffled = [*column]
    random.shuffle(shuffled)
    assert of_texts("x", column).kind == of_texts("x", shuffled).kind


@pytest.mark.spec("PREP-KIND")
@pytest.mark.parametrize(
    ("name", "column", "kind"),
    [
        ("x", ["", "?"], "missing-only"),
        ("x", ["1", "1.0", "NA"], "constant"),
        ("x", ["1"], "number"),
        ("x", ["a", "a"], "constant"),
        ("day", ["2024-01-31", "2024-2-1 12:30"], "date"),
        ("day", ["31.1.2024", ""], "date"),
        ("day", ["2024-01/31"], "nominal"),
        ("day", ["23:59:59", "0:00"], "date"),
        ("id", ["7", "3"], "id"),
        ("id", ["7", "7", "3"], "number"),
        ("id", ["7.5", "3"], "number"),
        ("Patient ID", ["p7", "p3"], "id"),
        ("customerId", ["7", "3"], "id"),
        ("acid", ["7", "3"], "number"),
        ("x", [str(i) for i in range(5, 15)], "id"),
        ("x", [str(i) for i in range(5, 14)], "number"),
        ("x", [*(str(i) for i in range(5, 15)), ""], "number"),
        ("x", [*(str(i) for i in range(5, 15)), "5"], "number"),
        ("x", [f"p{i}" for i in range(10)], "id"),
        ("x", [f"p{i}" for i in range(9)], "nominal"),
        ("x", [f"p {i}" for i in range(10)], "text"),
        ("x", [f"p{i}" for i in range(10)] + ["p0"], "text"),
        ("x", [f"p{i}" for i in range(10)] * 2, "nominal"),
        ("labels1", ["1", "0", "1"], "nominal"),
        ("labels1", ["1", "0", "2"], "number"),
        ("x", ["1", "0", "1"], "number"),
        ("x", ["1", "2", "abc"], "number"),
        ("x", ["1", "abc", "abc"], "nominal"),
    ],
)
def test_kinds(name: str, column: list[str], kind: str) -> None:
    typed = of_texts(name, column)
    assert typed.kind == kind
    if typed.numbers is not None and typed.no_number() is None:
        assert of_numbers(name, array("d", typed.numbers)).kind == kind


@pytest.mark.spec("PREP-KIND")
def test_categories_that_a_file_declares_stay() -> None:
    column = of_texts("size", ["1", "2", "1"], categories=("1", "2", "3"))
    assert column.kind == "nominal"
    assert column.cells == ("1", "2", "1")


@pytest.mark.spec("PREP-KIND")
def test_cells_that_are_no_number_are_found() -> None:
    column = of_texts("x", ["1", "", "2", "abc"])
    assert column.no_number() == 3
    assert column.missing() == [1]
    assert kind_of_numbers("x", [1.0, float("nan")]) == "number"


@pytest.mark.spec("PREP-KIND")
def test_a_frame_has_as_many_cells_in_every_column() -> None:
    column = of_texts("x", ["1", "2"])
    frame = Frame((column,), 2, "a.csv", [2, 3])
    assert frame.place(1, 0) == "a.csv:3: column 1 ('x')"
    with pytest.raises(LabelLengthMismatch):
        Frame((column,), 3)
