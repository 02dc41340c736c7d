"""Properties of chapter 07: what columns hold, and what preparing them does."""

from __future__ import annotations

from array import array
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import refclust
from refclust.cluster.fit import kmeans
from refclust.cluster.hierarchical import pairwise_distances
from refclust.data.accepting.door import dataset
from refclust.data.preparing.asked import Asked
from refclust.data.preparing.call import prepare
from refclust.data.preparing.reading import prepared_frame
from refclust.data.preparing.scales import scale_of, scaled
from refclust.data.preparing.spread import deciding_column
from refclust.data.readers.formats import Options
from refclust.data.typed import MARKS, Frame, is_missing, kind_of_numbers, of_numbers, of_texts
from refclust.errors import LabelLengthMismatch
from refclust.models.clusters import model_of
from refclust.models.document import from_json, to_json

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
        ("x", [f"{i}.5" for i in range(5, 15)], "number"),
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


# -- which columns --------------------------------------------------------------------------------

LETTERS = "abcdef"
doubles = st.floats(-1e9, 1e9).map(lambda x: x + 0.0)
rows = st.integers(2, 5).flatmap(
    lambda d: st.lists(st.lists(doubles, min_size=d, max_size=d), min_size=2, max_size=9)
)


def numbered(names: str, n: int = 3) -> Frame:
    """A table whose cell in row i and column j is 10 j + i squared."""
    columns = (array("d", [10.0 * j + i * i for i in range(n)]) for j in range(len(names)))
    typed = (of_numbers(name, column) for name, column in zip(names, columns, strict=True))
    return Frame(tuple(typed), n, "a.csv")


@pytest.mark.spec("PREP-COLUMNS")
@given(st.integers(0, 5), st.integers(0, 5), st.sets(st.sampled_from(LETTERS)))
def test_a_range_is_its_columns_one_by_one(first: int, last: int, gone: set[str]) -> None:
    first, last = min(first, last), max(first, last)
    names = tuple(name for name in LETTERS[first : last + 1] if name not in gone)
    if not names:
        return
    exclude = tuple(sorted(gone)) or None
    items = (
        (f"{LETTERS[first]}:{LETTERS[last]}",),
        (f"{first + 1}-{last + 1}",),
        tuple(str(j) for j in range(first + 1, last + 2)),
        (f"[{LETTERS[first : last + 1]}]",),
    )
    for columns in items:
        done = prepared_frame(numbered(LETTERS), Options(columns=columns, exclude=exclude), Asked())
        assert done.data.features == names
        assert done.options.columns == names
        again = prepared_frame(numbered(LETTERS), done.options, Asked())
        assert again.data.digest() == done.data.digest()


HELD = {
    "x": ["1", "5", "2"],
    "id": ["7", "5", "6"],
    "labels1": ["0", "1", "0"],
    "class": ["u", "v", "u"],
    "when": ["2024-01-31", "1.2.2024", "23:59"],
    "gone": ["", "NA", "?"],
    "flat": ["4", "4", "4"],
    "same": ["s", "s", "s"],
}


@pytest.mark.spec("PREP-DEFAULT")
@given(st.permutations([*HELD]), st.integers(0, 7))
def test_features_follow_from_the_kinds(names: list[str], count: int) -> None:
    names = [*names[:count], *(["y"])]
    held = {**HELD, "y": ["0.5", "-1", "2"]}
    frame = Frame(tuple(of_texts(name, held[name]) for name in names), 3, "a.csv", [2, 3, 4])
    done = prepared_frame(frame, Options(), Asked())
    kept = tuple(name for name in names if name in ("x", "y", "flat"))
    assert done.data.features == kept
    for name in names:
        assert (name in kept) != any(f" {name} (" in note for note in done.notes)
    used = Options(columns=kept)
    assert done.options == (used if done.notes else Options())
    assert prepared_frame(frame, used, Asked()).data.digest() == done.data.digest()


@pytest.mark.spec("PREP-CONSTANT")
@given(rows, doubles, st.integers(0, 2))
def test_constant_columns_say_nothing(table: list[list[float]], value: float, place: int) -> None:
    wider = [[*row[:place], value, *row[place:]] for row in table]
    assert pairwise_distances(wider) == pairwise_distances(table)
    names = [f"x{j}" for j in range(len(wider[0]))]
    columns = {name: [row[j] for row in wider] for j, name in enumerate(names)}
    if all(len({row[j] for row in table}) > 1 for j in range(len(table[0]))):
        dropped = prepare(columns, constants="drop")
        assert dropped.features == tuple(name for name in names if name != f"x{place}")
        assert [*map(list, dropped.rows())] == table


@pytest.mark.spec("PREP-SPARSE")
@given(st.lists(st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.5, -3.0]), min_size=3, max_size=3)))
def test_zeros_stay_zeros_and_divisors_are_those_of_full_rows(table: list[list[float]]) -> None:
    if not table:
        return
    sparse = dataset([{j: x for j, x in enumerate(row) if x} for row in table], features=[0, 1, 2])
    for rule in ("standard", "range"):
        ours = scale_of(sparse, rule)
        full = scale_of(dataset(table), rule)
        assert ours.centres is None
        assert ours.divisors == full.divisors
        for row, given_row in zip(scaled(sparse, ours).rows(), table, strict=True):
            divided = [
                float(Fraction(x) / Fraction(s))
                for x, s in zip(given_row, ours.divisors, strict=True)
            ]
            assert row == {j: x for j, x in enumerate(divided) if x}


@pytest.mark.spec("PREP-DECIDES")
@given(rows)
def test_a_column_decides_with_more_than_nine_tenths(table: list[list[float]]) -> None:
    n = len(table)
    columns = [[Fraction(row[j]) for row in table] for j in range(len(table[0]))]
    variances = [sum(x * x for x in c) / n - (sum(c) / n) ** 2 for c in columns]
    largest = max(variances)
    due = None
    if largest > Fraction(9, 10) * sum(variances):
        due = (variances.index(largest), float(largest / sum(variances)))
    assert deciding_column(dataset(table)) == due


# -- the model ------------------------------------------------------------------------------------

mixed = st.lists(
    st.tuples(st.none() | doubles, st.none() | st.sampled_from("abc")), min_size=3, max_size=9
).filter(lambda table: all(any(row[j] is not None for row in table) for j in range(2)))


@pytest.mark.spec("PREP-MODEL")
@given(mixed, st.sampled_from(["none", "standard", "range"]), st.sampled_from(["mean", "median"]))
def test_the_model_puts_the_rows_of_the_fit_where_they_were(
    table: list[tuple[float | None, str | None]], scale: str, missing: str
) -> None:
    columns = {"k": [row[1] for row in table], "x": [row[0] for row in table]}
    options = {"categorical": ["k"], "missing": missing, "scale": scale, "constants": "keep"}
    ready = prepare(columns, **options)  # type: ignore[arg-type]
    fit = kmeans(ready, min(2, len({*ready.rows()})))
    model = from_json(to_json(model_of(fit)), "m")
    assert model.data.preparation == fit.fingerprint.preparation
    for fitted in (fit, model):
        assert refclust.predict(fitted, columns).labels == fit.labels
    more = {"other": ["?"] * len(table), **dict(reversed(columns.items()))}
    assert refclust.predict(model, more).labels == fit.labels


@pytest.mark.spec("PREP-UNSEEN")
@given(mixed, st.sampled_from("dxyz"))
def test_an_unseen_category_is_equally_far_from_all(
    table: list[tuple[float | None, str | None]], new: str
) -> None:
    columns = {"k": [row[1] for row in table], "x": [row[0] for row in table]}
    ready = prepare(columns, categorical=["k"], missing="mean", unseen="zeros", constants="keep")
    fit = kmeans(ready, 1)
    from refclust.models.units import as_fitted

    row = as_fitted(fit, {"k": [new], "x": [1.0]}).row(0)
    assert row == (*(0.0 for _ in range(len(row) - 1)), 1.0)
