"""Rows of several files meet by their ids, or are refused (DATA-PAIR)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.data.pairing import Described, id_place, paired
from refclust.errors import IdMismatch, LabelLengthMismatch

ROWS = st.lists(st.tuples(st.text(min_size=1, max_size=3), st.integers(0, 3)), min_size=1).map(
    lambda rows: list(dict(rows).items())
)


@pytest.mark.spec("DATA-PAIR")
@given(ROWS, st.randoms(use_true_random=False))
def test_any_order_of_rows_with_ids_is_the_same(
    rows: list[tuple[str, int]], random: object
) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    ids, values = zip(*rows, strict=True)
    other_ids, other_values = zip(*shuffled, strict=True)
    first = Described("a", values, ids)
    assert paired([first, Described("b", other_values, other_ids)]) == [list(values)] * 2
    # A file without ids is in the order of the first that has them.
    assert paired([Described("c", values), first])[0] == list(values)


def test_ids_that_come_twice_are_fine_only_in_the_same_order() -> None:
    truth = Described("a", [1, 2, 3], ["x", "x", "y"])
    assert paired([truth, Described("b", [4, 5, 6], ["x", "x", "y"])])[1] == [4, 5, 6]
    with pytest.raises(IdMismatch, match=r"^a: the id 'x' comes twice, in rows 1 and 2; rows are"):
        paired([truth, Described("b", [4, 5, 6], ["y", "x", "x"])])


def test_ids_that_do_not_match() -> None:
    truth = Described("a", [1, 2, 3], ["x", "y", "z"])
    with pytest.raises(IdMismatch) as caught:
        paired([truth, Described("b", [1, 2, 3], ["x", "v", "w"])])
    assert str(caught.value) == (
        "2 of the 3 ids of a are not in b, such as 'y' (row 2), while b has 'v'; rows are paired "
        "by their ids; --id-column '' pairs them by their order"
    )
    with pytest.raises(IdMismatch, match=r"^b: row 2 has no id"):
        paired([truth, Described("b", [1, 2, 3], ["x", "", "z"])])


def test_lengths_that_differ() -> None:
    with pytest.raises(LabelLengthMismatch, match=r"but a has 2, b has 1,000$"):
        paired([Described("a", "xx"), Described("b", "y" * 1000)])


@pytest.mark.parametrize(
    ("names", "asked", "taken", "place"),
    [
        (["x", " ID "], None, [], 1),
        (["id", "Id"], None, [], None),  # which?
        (["id", "x"], None, [0], None),  # it is read as labels
        (["id", "who"], "who", [], 1),
        (["id", "who"], "2", [], 1),
        (["id", "x"], "who", [], 0),  # another file has it
        (["id", "x"], "", [], None),
    ],
)
def test_which_column_holds_ids(
    names: list[str], asked: str | None, taken: list[int], place: int | None
) -> None:
    assert id_place(names, asked, taken) == place
