"""Preparing columns: what is computed fast is what chapter 07 says, and predict repeats it."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import refclust
from refclust.cluster.fit import kmeans
from refclust.cluster.gower import gower_distances
from refclust.cluster.hierarchical import agglomerative, pairwise_distances
from refclust.data.accepting.door import dataset
from refclust.data.preparing.asked import Asked
from refclust.data.preparing.call import prepare
from refclust.data.preparing.reading import read_prepared
from refclust.data.preparing.record import Preparation, Scale
from refclust.data.preparing.scales import mean_of, measured, median_of, scale_of, scaled
from refclust.data.preparing.spread import deciding_column
from refclust.data.readers.formats import Options, choose
from refclust.data.readers.tables.choosing import split_list
from refclust.errors import (
    BadCell,
    BadOption,
    EmptyInput,
    MissingColumn,
    MissingValue,
    NoSpread,
    NotFinite,
    RefclustError,
    UnseenCategory,
)
from refclust.formulas import preparation as room
from refclust.models.classifiers import load_model, model_of, save_model
from refclust.models.document import from_json, to_json
from refclust.notes import listen

numbers = st.floats(-1e6, 1e6).map(lambda x: x + 0.0) | st.integers(-4, 4).map(float)
columns = st.lists(st.tuples(numbers, st.integers(0, 3)), min_size=1).filter(
    lambda pairs: any(w for _, w in pairs)
)
RULES = {"standard": room.standard, "range": room.span, "robust": room.robust}


@pytest.fixture(autouse=True)
def heard() -> object:
    """Notes are news in every test."""
    heard: list[str] = []
    listen(heard.append)
    yield heard
    listen(None)


def read(tmp_path: Path, text: str, options: Options | None = None, **asked: object):  # type: ignore[no-untyped-def]
    file = tmp_path / "table.csv"
    file.write_text(text, "utf-8")
    return read_prepared(
        choose(str(file)),
        str(file),
        options or Options(),
        Asked(**asked),  # type: ignore[arg-type]
    )


@pytest.mark.spec("PREP-STANDARD", "PREP-RANGE", "PREP-ROBUST", "PREP-QUANTILE")
@pytest.mark.parametrize("rule", RULES)
@given(columns)
def test_centres_and_divisors_are_nearest_doubles(
    rule: str, pairs: list[tuple[float, int]]
) -> None:
    values, weights = [x for x, _ in pairs], [w for _, w in pairs]
    centre, divisor = RULES[rule](values, weights)
    assert measured(rule, values, weights) == (float(centre), float(divisor))  # type: ignore[arg-type]


@pytest.mark.spec("PREP-STANDARD", "PREP-RANGE", "PREP-ROBUST", "PREP-FILL")
@pytest.mark.parametrize("rule", RULES)
@given(columns)
def test_a_weight_is_so_many_copies(rule: str, pairs: list[tuple[float, int]]) -> None:
    values, weights = [x for x, _ in pairs], [w for _, w in pairs]
    copies = [x for x, w in pairs for _ in range(w)]
    ones = [1] * len(copies)
    assert measured(rule, values, weights) == measured(rule, copies, ones)  # type: ignore[arg-type]
    assert mean_of(values, weights) == mean_of(copies, ones)
    assert median_of(values, weights) == median_of(copies, ones)
    assert mean_of(values, weights) == float(room.fill(values, weights, "mean"))
    assert median_of(values, weights) == float(room.fill(values, weights, "median"))


@pytest.mark.spec("PREP-SCALED", "PREP-STANDARD", "PREP-RANGE", "PREP-ROBUST")
@pytest.mark.parametrize("rule", RULES)
@given(st.lists(numbers, min_size=2, max_size=20, unique=True), st.integers(-20, 20))
def test_units_that_are_powers_of_two_do_not_matter(
    rule: str, column: list[float], exponent: int
) -> None:
    rows = dataset([[x] for x in column])
    others = dataset([[x * 2.0**exponent] for x in column])
    try:
        plan = scale_of(rows, rule)  # type: ignore[arg-type]
    except NoSpread:
        return
    ours = scaled(rows, plan)
    assert [*ours.rows()] == [*scaled(others, scale_of(others, rule)).rows()]  # type: ignore[arg-type]
    assert plan.centres is not None
    c, s = plan.centres[0], plan.divisors[0]
    assert [row[0] for row in ours.rows()] == [float(room.scaled(x, c, s)) for x in column]


@pytest.mark.spec("PREP-SCALED", "PREP-RANGE")
@given(st.lists(numbers, min_size=2, max_size=9, unique=True))
def test_the_range_is_from_zero_to_one(column: list[float]) -> None:
    rows = prepare([[x] for x in column], scale="range", columns=[0])
    low, high = Fraction(min(column)), Fraction(max(column))
    ends = {row[0] for row in rows.rows()}
    assert (min(ends), max(ends)) == (0.0, float((high - low) / Fraction(float(high - low))))


@pytest.mark.spec("PREP-SPARSE")
def test_sparse_rows_are_divided_and_never_centred() -> None:
    full = [[3.0, 0.0], [0.0, 0.0], [1.0, 0.0]]
    rows = dataset([{0: 3.0}, {}, {0: 1.0, 1: 0.0}], features=[0, 1])
    for rule in ("standard", "range"):
        plan = scale_of(rows, rule)
        dense = scale_of(dataset(full), rule)
        assert plan.centres is None
        assert plan.divisors == dense.divisors
        assert scaled(rows, plan).row(0) == {0: float(Fraction(3) / Fraction(plan.divisors[0]))}
        assert scaled(rows, plan).row(1) == {}
    with pytest.raises(NoSpread):
        scale_of(dataset([{0: 1.0}] + [{0: 0.0}] * 9, features=[0]), "robust")


@pytest.mark.spec("PREP-ROBUST", "PREP-CONSTANT")
def test_nothing_to_divide_by() -> None:
    flat = [[0.0], [0.0], [0.0], [0.0], [9.0]]
    with pytest.raises(NoSpread, match="no spread"):
        prepare(flat, scale="robust")
    constant = prepare([[3.0, 1.0], [3.0, 2.0]], scale="robust", constants="keep")
    assert [row[0] for row in constant.rows()] == [0.0, 0.0]
    assert prepare([[3.0, 1.0], [3.0, 2.0]], scale="standard").d == 1
    with pytest.raises(NotFinite, match="beyond the largest double"):
        scaled(dataset([[1e300]]), Scale("range", (0.0,), (1e-300,)))


@pytest.mark.spec("PREP-UNITS", "PREP-SCALED")
@given(numbers, numbers, numbers.filter(lambda s: s > 0))
def test_units_undo_the_scale(x: float, c: float, s: float) -> None:
    assert room.in_units(room.scaled(x, c, s), c, s) == Fraction(x)
    plan = Preparation(None, scale=Scale("standard", (c,), (s,)))
    assert plan.unit(0) == (Fraction(c), Fraction(s))


gappy = st.tuples(st.sampled_from(["1", "2.5", "-3", "", "NA", "?"]), st.sampled_from("ab?"))


@pytest.mark.spec("PREP-DROP", "PREP-MISSING")
@given(st.lists(gappy, min_size=3))
@settings(max_examples=40)
def test_drop_is_the_file_without_these_rows(
    tmp_path_factory: pytest.TempPathFactory, cells: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("drop")
    lines = [f"{x},{i % 3},{kind}\n" for i, (x, kind) in enumerate(cells)]
    whole = [line for line in lines if line[0] in "12-" and line[-2] != "?"]
    options = Options(columns=("x", "y"), categorical=("kind",))
    if not whole:
        return
    ours, theirs = (
        read(folder, "x,y,kind\n" + "".join(rows), options, missing="drop", scale="standard").data
        for rows in (lines, whole)
    )
    assert (ours.digest(), ours.features) == (theirs.digest(), theirs.features)
    assert ours.preparation == theirs.preparation


@pytest.mark.spec("PREP-DROP")
def test_rows_that_stay_keep_their_numbers_labels_and_weights(tmp_path: Path) -> None:
    text = "x,w,c\n1,2,a\n,1,b\n3,5,a\n"
    options = Options(label_column="c", weight_column="w")
    data = read(tmp_path, text, options, missing="drop").data
    assert data.weights is not None
    assert (data.ids, data.labels, [*data.weights]) == (("0", "2"), ("a", "a"), [2.0, 5.0])
    with pytest.raises(EmptyInput):
        read(tmp_path, "x,y\n1,\n,2\n", missing="drop")
    with pytest.raises(MissingValue, match=r"table.csv:3: column 1 .*--missing drop"):
        read(tmp_path, text, options)
    with pytest.raises(NotFinite, match="--missing drop"):
        read(tmp_path, "x\n1\nNaN\n2\n")


@pytest.mark.spec("PREP-FILL", "PREP-ONEHOT")
def test_gaps_get_the_mean_of_what_is_there(tmp_path: Path) -> None:
    text = "x,w,c\n1,2,a\n,7,b\n4,1,?\n"
    options = Options(weight_column="w", categorical=("c",))
    data = read(tmp_path, text, options, missing="mean").data
    assert data.features == ("x", "c=a", "c=b")
    assert [*data.rows()] == [(1.0, 1.0, 0.0), (2.0, 0.0, 1.0), (4.0, 2 / 9, 7 / 9)]
    median = read(tmp_path, text, options, missing="median").data
    assert [*median.rows()][1:] == [(1.0, 0.0, 1.0), (4.0, 0.0, 1.0)]
    assert median.preparation is not None
    assert median.preparation.fills == (1.0, 0.0, 1.0)


@pytest.mark.spec("PREP-ONEHOT")
@given(st.lists(st.sampled_from("abcd"), min_size=2), st.permutations("wxyz"))
def test_other_names_of_categories_permute_the_indicators(
    cells: list[str], names: list[str]
) -> None:
    other = dict(zip("abcd", names, strict=True))
    ours = prepare({"k": cells}, categorical=["k"], category_weight=0.5)
    theirs = prepare({"k": [other[c] for c in cells]}, categorical=["k"], category_weight=0.5)
    assert ours.features is not None
    assert theirs.features is not None
    place = {name: j for j, name in enumerate(theirs.features)}
    for i, cell in enumerate(cells):
        row = room.one_hot(cell, sorted(set(cells)), 0.5)
        assert ours.row(i) == tuple(map(float, row))
        for j, name in enumerate(ours.features):
            assert theirs.row(i)[place[f"k={other[str(name)[2:]]}"]] == ours.row(i)[j]


@pytest.mark.spec("PREP-UNSEEN", "PREP-MODEL")
def test_a_new_category_is_refused_or_none_of_all() -> None:
    table = {"k": ["a", "b", "a"], "x": [1, 2, 5]}
    fit = kmeans(prepare(table, categorical=["k"]), 2)
    with pytest.raises(UnseenCategory, match="'z'"):
        refclust.predict(fit, {"k": ["z"], "x": [1]})
    open_minded = kmeans(prepare(table, categorical=["k"], unseen="zeros"), 2)
    answer = refclust.predict(open_minded, {"x": [5], "k": ["z"], "more": ["?"]})
    assert answer.labels[0] == open_minded.labels[2]


@pytest.mark.spec("PREP-MODEL", "PREP-UNITS")
def test_a_model_prepares_new_rows_as_those_of_its_fit(tmp_path: Path) -> None:
    table = {"k": ["a", "b", None, "a"], "x": [1, None, 4, 9.5], "id": [7, 5, 6, 8]}
    rows = prepare(table, categorical=["k"], missing="mean", scale="standard", category_weight=2)
    fit = kmeans(rows, 2)
    assert rows.features == ("k=a", "k=b", "x")
    save_model(tmp_path / "m.json", fit)
    model = load_model(tmp_path / "m.json")
    assert model.data.preparation == rows.preparation
    assert from_json(to_json(model), "m") == model
    for fitted in (fit, model):
        assert refclust.predict(fitted, table).labels == fit.labels
        assert refclust.predict(fitted, rows).labels == fit.labels
    without = model_of(kmeans([[1.0], [2.0]], 1))
    assert '"preparation"' not in to_json(without)
    with pytest.raises(MissingColumn, match="'k'"):
        refclust.predict(fit, {"x": [1]})


@pytest.mark.spec("PREP-MODEL")
def test_unnamed_columns_are_found_by_their_numbers() -> None:
    rows = [[i, float(i % 3), float(i % 5) * 9] for i in range(1, 13)]
    prepared = prepare(rows)
    assert prepared.d == 2
    fit = kmeans(prepared, 2)
    assert refclust.predict(fit, rows).labels == fit.labels
    chosen = kmeans(prepare(rows, columns=[2, 1], scale="range"), 2)
    assert refclust.predict(chosen, rows).labels == chosen.labels


@pytest.mark.spec("PREP-DECIDES")
def test_one_column_decides() -> None:
    assert deciding_column(dataset([[0.0, 0.0], [3.0, 1.0]])) is None  # nine tenths, not more
    assert deciding_column(dataset([[0.0, 0.0], [4.0, 1.0]])) == (0, 16 / 17)
    assert deciding_column(dataset([[0.0], [5.0]])) is None
    assert deciding_column(dataset([[2.0, 2.0], [2.0, 2.0]])) is None
    many = dataset([[float(i), 1e-3 * (i % 2)] for i in range(3000)])
    assert deciding_column(many) is not None


# -- which columns --------------------------------------------------------------------------------

TABLE = "id,x,y,day,kind,class,note\n" + "".join(
    f"{i},{i * i % 7},{i % 4}.5,2024-01-{i:02d},{'ab'[i % 2]},{i % 3},a note of {i}\n"
    for i in range(1, 13)
)


@pytest.mark.spec("PREP-DEFAULT", "PREP-KIND")
def test_what_is_no_feature_is_left_out_or_refused(tmp_path: Path) -> None:
    with pytest.raises(BadCell, match="holds 2 categories: --categorical kind uses them"):
        read(tmp_path, TABLE)
    done = read(tmp_path, TABLE, Options(exclude=("kind",)))
    assert done.data.features == ("x", "y")
    assert done.options.columns == ("x", "y")
    assert done.options.exclude is None
    assert done.notes == (
        "not used as features: id (ids: --id-column id), day (dates), class (classes: "
        "--label-column class), note (text); --columns uses what it names",
    )
    named = read(tmp_path, TABLE, Options(columns=("id", "class")))
    assert named.data.features == ("id", "class")
    assert named.notes == ()
    with pytest.raises(BadCell, match="holds dates; --exclude day"):
        read(tmp_path, TABLE, Options(columns=("day",)))
    with pytest.raises(MissingColumn, match="no column left"):
        read(tmp_path, "id\n3\n4\n", Options())


@pytest.mark.spec("PREP-DEFAULT")
def test_a_plain_table_goes_as_before(tmp_path: Path) -> None:
    text = "x,y\n0.1,1e-3\n3,-0\n"
    done = read(tmp_path, text)
    file = str(tmp_path / "table.csv")
    assert done.data.digest() == choose(file).read(file, Options()).digest()
    assert done.data.preparation is None
    assert (done.options, done.notes) == (Options(), ())
    with pytest.raises(BadCell, match=r"table.csv:3: column 1 .'x'. is 'abc'"):
        read(tmp_path, "x,y\n1,2\nabc,3\n4,5\n")


@pytest.mark.spec("PREP-COLUMNS")
@pytest.mark.parametrize(
    ("columns", "exclude", "features"),
    [
        (("y", "x"), None, ("y", "x")),
        (("2", "3"), None, ("x", "y")),
        (("x:y",), None, ("x", "y")),
        (("2-3",), None, ("x", "y")),
        (("-3",), ("id",), ("x", "y")),
        (("y", "x:y"), None, ("y", "x")),
        (("[xy]",), None, ("x", "y")),
        (("*",), ("k*", "day:note"), ("id", "x", "y")),
        (None, ("id", "4:"), ("x", "y")),
        (("?",), None, ("x", "y")),
    ],
)
def test_columns_by_name_number_range_and_pattern(
    tmp_path: Path,
    columns: tuple[str, ...] | None,
    exclude: tuple[str, ...] | None,
    features: tuple[str, ...],
) -> None:
    done = read(tmp_path, TABLE, Options(columns=columns, exclude=exclude))
    assert done.data.features == features
    assert done.options.exclude is None
    assert read(tmp_path, TABLE, done.options).data.digest() == done.data.digest()


@pytest.mark.spec("PREP-COLUMNS")
@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        (Options(columns=("z",)), MissingColumn),
        (Options(columns=("z*",)), MissingColumn),
        (Options(columns=("9",)), MissingColumn),
        (Options(columns=("x:z",)), MissingColumn),
        (Options(columns=("y:x",)), BadOption),
        (Options(columns=("x", "x")), BadOption),
        (Options(columns=("x", "y"), exclude=("x:y",)), MissingColumn),
        (Options(columns=("x",), exclude=("w",)), MissingColumn),
        (Options(columns=("x",), label_column="x"), BadOption),
    ],
)
def test_columns_that_are_not_there(
    tmp_path: Path, options: Options, wrong: type[RefclustError]
) -> None:
    with pytest.raises(wrong):
        read(tmp_path, TABLE, options)


@pytest.mark.spec("PREP-COLUMNS")
def test_lists_as_typed() -> None:
    assert split_list('a, b*,"c,d"') == ["a", "b*", "c,d"]
    for text in ("", "a,,b", '"a'):
        with pytest.raises(BadOption):
            split_list(text)


@pytest.mark.spec("PREP-CONSTANT")
def test_constant_columns_change_no_distance(tmp_path: Path) -> None:
    text = "x,c,y\n1,5,2\n4,5,1\n2,5,9\n"
    kept, dropped = read(tmp_path, text), read(tmp_path, text, constants="drop")
    assert (kept.data.d, dropped.data.features) == (3, ("x", "y"))
    assert dropped.notes[0].startswith("not used as features: c (constant)")
    assert pairwise_distances(kept.data) == pairwise_distances(dropped.data)
    assert read(tmp_path, text, scale="range").data.d == 2
    assert read(tmp_path, text, scale="range", constants="keep").data.row(0)[1] == 0.0


# -- Gower ----------------------------------------------------------------------------------------

cells = st.tuples(
    st.none() | numbers, st.none() | st.sampled_from("abc"), numbers, st.sampled_from("xy")
)


@pytest.mark.spec("DIST-GOWER")
@given(st.lists(cells, min_size=2, max_size=8))
def test_gower_is_the_nearest_double_of_its_definition(rows: list[tuple[object, ...]]) -> None:
    kinds = [str(j) for j in range(4)]
    table = {name: [row[j] for row in rows] for j, name in enumerate(kinds)}
    from refclust.data.preparing.mixed import mixed
    from refclust.data.preparing.tables import frame_of

    options = Options(columns=("1", "3"), categorical=("2", "4"))
    try:
        seen = mixed(frame_of([*map(list, rows)]), options)
    except RefclustError:
        return  # a column without a cell
    order = (0, 2, 1, 3)
    there = [[x for x in table[str(j)] if x is not None] for j in order]
    ranges = [
        room.span(there[at], [1] * len(there[at]))[1] if at < 2 else None  # type: ignore[arg-type]
        for at in range(4)
    ]
    exact = [
        float(room.gower([x[j] for j in order], [y[j] for j in order], ranges))
        for x, y in combinations(rows, 2)
    ]
    assert [*gower_distances(seen)] == exact
    assert all(0 <= d <= 1 for d in exact)


@pytest.mark.spec("DIST-GOWER")
def test_trees_of_mixed_tables() -> None:
    table = {"size": [1, 2, 9, None], "colour": ["red", "red", "blue", "blue"]}
    tree = agglomerative(table, metric="gower", linkage="average", k=2)
    assert tree.labels == (0, 0, 1, 1)
    assert tree.metric == "gower"
    model = model_of(tree)
    assert from_json(to_json(model), "m") == model
    with pytest.raises(BadOption):
        agglomerative(table, metric="gower")  # Ward is about means
    with pytest.raises(MissingValue, match="rows 0 and 1"):
        gower_distances({"a": [1, None, 2], "b": [None, 3, 4]})


@pytest.mark.spec("PREP-MISSING", "PREP-KIND")
def test_tables_of_python_have_gaps_where_nothing_is() -> None:
    rows = prepare([[1, float("nan"), "3"], [None, 2, "4"]], missing="mean")
    assert [*rows.rows()] == [(1.0, 2.0, 3.0), (1.0, 2.0, 4.0)]
    with pytest.raises(MissingValue):
        prepare([[1, None], [2, 3]])
    with pytest.raises(BadOption, match=r"refclust\.read"):
        prepare("table.csv")


def test_reading_prepares_as_well(tmp_path: Path, heard: list[str]) -> None:
    file = tmp_path / "t.csv"
    file.write_text(TABLE, "utf-8")
    rows = refclust.read(file, exclude=("kind",), scale="range")
    assert rows.preparation is not None
    assert rows.features == ("x", "y")
    assert heard[0].startswith("not used as features: id")
    with pytest.raises(BadOption, match="no way of reading"):
        refclust.read(file, skale="range")  # type: ignore[call-arg]
    with pytest.raises(BadOption, match="scale is 'standart'"):
        refclust.read(file, scale="standart")  # type: ignore[arg-type]
