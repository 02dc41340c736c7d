"""JSON Lines: arrays, objects and texts, and what every kind of broken line is told."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refclust.data.readers.formats import Options
from refclust.data.readers.jsonl import plan, read, sniff
from refclust.data.text import TextOptions
from refclust.errors import (
    BadCell,
    BadFile,
    BadOption,
    BadWeight,
    EmptyFile,
    EmptyInput,
    EmptyLabel,
    MissingColumn,
    MissingValue,
    NegativeCount,
    NotFinite,
    NotText,
    RaggedRows,
    RefclustError,
)
from tests.data.conftest import Put


@pytest.mark.spec("DATA-JSONL")
@pytest.mark.parametrize(
    "content",
    [
        b"[1, 2]\n[3.0, 4e0]\n",
        b"[1,2]\r\n[3,4]\r\n\r\n",
        b"\xef\xbb\xbf[1,2]\n [3,4] \n\n \n",
        b"[1,2]\n[3,4]",
    ],
)
def test_arrays_are_dense_rows(put: Put, content: bytes) -> None:
    data = read(put("a.jsonl", content), Options())
    assert data.kind == "dense"
    assert list(data.rows()) == [(1.0, 2.0), (3.0, 4.0)]
    assert data.features is None


@pytest.mark.spec("DATA-JSONL")
def test_objects_are_sparse_rows_with_names_in_code_point_order(put: Put) -> None:
    path = put("a.jsonl", '{"b": 2, "é": 1}\n{}\n{"Z": 0.5, "b": 0}\n'.encode())
    data = read(path, Options())
    assert data.kind == "sparse"
    assert data.features == ("Z", "b", "é")
    assert list(data.rows()) == [{1: 2.0, 2: 1.0}, {}, {0: 0.5}]


@pytest.mark.spec("DATA-JSONL")
def test_fields_have_roles(put: Put) -> None:
    path = put(
        "a.jsonl",
        b'{"n": 1, "k": "a", "w": 2, "x": 7}\n{"w": 0.5, "n": "1.0", "k": true, "y": -1}\n',
    )
    data = read(path, Options(id_column="n", label_column="k", weight_column="w"))
    assert (data.ids, data.labels, data.features) == (("1", "1.0"), ("a", "true"), ("x", "y"))
    assert data.weights is not None
    assert data.weights.tolist() == [2.0, 0.5]
    assert list(data.rows()) == [{0: 7.0}, {1: -1.0}]


@pytest.mark.spec("DATA-JSONL")
def test_an_id_keeps_the_spelling_of_the_file(put: Put) -> None:
    path = put("a.jsonl", b'{"n": 1.50, "x": 1}\n{"n": 1e2, "x": 1}\n{"n": -0, "x": 1}\n')
    assert read(path, Options(id_column="n")).ids == ("1.50", "1e2", "-0")


@pytest.mark.spec("DATA-JSONL")
def test_columns_select_fields(put: Put) -> None:
    path = put("a.jsonl", b'{"x": 1, "y": 2, "t": "no number"}\n{"t": null, "y": 3}\n')
    data = read(path, Options(columns=("y", "x")))
    assert data.features == ("x", "y")
    assert list(data.rows()) == [{0: 1.0, 1: 2.0}, {1: 3.0}]


@pytest.mark.spec("DATA-JSONL")
def test_a_text_field_becomes_words(put: Put) -> None:
    path = put(
        "a.jsonl.gz",
        gzip.compress(
            '{"t": "The cat, the dog", "k": 1, "other": [null]}\n{"k": 2, "t": "…"}\n'.encode()
        ),
    )
    data = read(path, Options(text_column="t", label_column="k"))
    assert data.features == ("cat", "dog", "the")
    assert (list(data.rows()), data.labels) == ([{0: 1.0, 1: 1.0, 2: 2.0}, {}], ("1", "2"))
    kept = TextOptions(stop_words=frozenset(["THE"]), min_length=3)
    data = read(path, Options(text_column="t", text=kept))
    assert data.features == ("cat", "dog")


@pytest.mark.spec("DATA-JSONL")
def test_numbers_become_the_nearest_double(put: Put) -> None:
    written = ["9007199254740993", "0.1", "1" + "0" * 300, "1e-400", "0." + "3" * 6000]
    doubles = tuple(float(number) for number in written)
    data = read(put("a.jsonl", f"[{','.join(written)}]".encode()), Options())
    assert data.row(0) == doubles
    fields = ",".join(f'"{i}": {number}' for i, number in enumerate(written))
    data = read(put("b.jsonl", f"{{{fields}}}".encode()), Options())
    assert data.row(0) == {i: value for i, value in enumerate(doubles) if value}


ROLES = Options(id_column="n")
BROKEN: list[tuple[bytes, Options, type[RefclustError], str]] = [
    (b"", Options(), EmptyFile, "a.jsonl is empty; it should hold one JSON value a line"),
    (b"\n \n", Options(), EmptyFile, "a.jsonl is empty; it should hold one JSON value a line"),
    (b"[1]\n\n[2]\n", Options(), BadFile, "a.jsonl:2: the line is empty, though lines follow"),
    (b"\n[2]\n", Options(), BadFile, "a.jsonl:1: the line is empty, though lines follow"),
    (b"[1]\n[2\n", Options(), BadFile, "a.jsonl:2: not JSON at character 3: expecting ',' delimi"),
    (b"[1] [2]\n", Options(), BadFile, "a.jsonl:1: not JSON at character 5: extra data"),
    (b"1\n", Options(), BadFile, "a.jsonl:1: this is a number; an array of numbers is due in ev"),
    (b'"a"\n', Options(), BadFile, "a.jsonl:1: this is the text 'a'; an array of numbers is due"),
    (b"null\n", Options(), BadFile, "a.jsonl:1: this is null; an array of numbers is due"),
    (b"[1]\n{}\n", Options(), BadFile, "a.jsonl:2: this is an object; an array of numbers is due"),
    (b'{"a":1}\n[]\n', Options(), BadFile, "a.jsonl:2: this is an array; an object is due"),
    (b"[]\n", Options(), BadFile, "a.jsonl:1: the array is empty; at least one number is due"),
    (b"[1]\n[]\n", Options(), RaggedRows, "a.jsonl:2: 0 numbers; the first line has 1"),
    (b"[1]\n[1, 2]\n", Options(), RaggedRows, "a.jsonl:2: 2 numbers; the first line has 1"),
    (b"[1, true]\n", Options(), BadCell, "a.jsonl:1: number 2 is true; a number is needed"),
    (b"[1, false]\n", Options(), BadCell, "a.jsonl:1: number 2 is false; a number is needed"),
    (b'[1, "2"]\n', Options(), BadCell, "a.jsonl:1: number 2 is the text '2'; a number is needed"),
    (b"[1, [2]]\n", Options(), BadCell, "a.jsonl:1: number 2 is an array; a number is needed"),
    (b"[1, null]\n", Options(), MissingValue, "a.jsonl:1: number 2 is null; a number is needed"),
    (b"[1, NaN]\n", Options(), NotFinite, "a.jsonl:1: NaN is not a finite number; only finite"),
    (b'{"a": -Infinity}', Options(), NotFinite, "a.jsonl:1: -Infinity is not a finite number"),
    (b"[1e999]\n", Options(), NotFinite, "a.jsonl:1: number 1 is beyond the largest double"),
    (b"[" + b"9" * 5000 + b"]\n", Options(), NotFinite, "a.jsonl:1: number 1 is beyond the large"),
    (b'{"a": ' + b"9" * 5000 + b"}\n", Options(), NotFinite, "a.jsonl:1: the field 'a' is beyond"),
    (b"[" * 100_000 + b"\n", Options(), BadFile, "a.jsonl:1: JSON is nested too deeply for a row"),
    (b'{"a":' * 100_000, Options(), BadFile, "a.jsonl:1: JSON is nested too deeply for a row"),
    (b'{"a":1,"a":1}', Options(), BadFile, "a.jsonl:1: the name 'a' occurs twice in one object"),
    (b'{"a": null}', Options(), MissingValue, "a.jsonl:1: the field 'a' is null; leave the field"),
    (b'{"a": true}', Options(), BadCell, "a.jsonl:1: the field 'a' is true; a number is needed"),
    (b'{"a": {"b":1,"b":2}}', Options(), BadCell, "a.jsonl:1: the field 'a' is an object; a num"),
    (b'{"a": "b"}', Options(), BadCell, "a number is needed; if it is a label, say so: --label"),
    (b'{"n": 1}', ROLES, MissingColumn, "a.jsonl: no object has a field left for a feature"),
    (b'{"a": 1}', ROLES, MissingColumn, "a.jsonl:1: no field 'n' here; there is: a"),
    (b'{"n": null}', ROLES, EmptyLabel, "a.jsonl:1: the field 'n' is null"),
    (b'{"n": ""}', ROLES, EmptyLabel, "a.jsonl:1: the field 'n' is empty"),
    (b'{"n": [1]}', ROLES, BadCell, "a.jsonl:1: the field 'n' is an array; a text or a number"),
    (b'{"n": "\\ud800"}', ROLES, BadCell, "a.jsonl:1: the field 'n' holds \\ud800, half of a ch"),
    (b'{"\\ud800": 1}', Options(), BadCell, "holds \\ud800, half of a character"),
    (b"[1]", ROLES, BadOption, "a.jsonl:1: fields were named (n), but only objects have fields"),
    (b'{"x":1}', Options(columns=("y",)), MissingColumn, "a.jsonl has no field 'y' in any line"),
    (b'{"w":"1"}', Options(weight_column="w"), BadCell, "the field 'w' is the text '1'; a number"),
    (b'{"w":null}', Options(weight_column="w"), MissingValue, "the field 'w' is null"),
    (b'{"w":-1,"x":1}', Options(weight_column="w"), NegativeCount, "the field 'w' is -1; a weight"),
    (b'{"w":0,"x":1}', Options(weight_column="w"), BadWeight, "a.jsonl: all weights are 0"),
    (b'{"t":1}', Options(text_column="t"), BadCell, "the field 't' is a number; a text is needed"),
    (b'{"t":null}', Options(text_column="t"), BadCell, "the field 't' is null; a text is needed"),
    (b'{"u":"a"}', Options(text_column="t"), MissingColumn, "a.jsonl:1: no field 't' here; there "),
    (b'{"t":"?"}', Options(text_column="t"), EmptyInput, "a.jsonl: no document holds a word"),
    (b'{"t":"\\udfff"}', Options(text_column="t"), BadCell, "holds \\udfff, half of a character"),
    (b'{"t":"a"}', Options(text=TextOptions()), BadOption, "options for texts need a text_column"),
    (b"{}", Options(text_column="t", columns=("t",)), BadOption, "from the text_column or from co"),
    (b"{}", Options(text_column="t", id_column="t"), BadOption, "each field has one role; asked f"),
    (b"[1]", Options(delimiter=","), BadOption, "the format jsonl cannot use the option delimiter"),
    (b"[1]\n[\xff]", Options(), NotText, "a.jsonl:2: the byte 0xff at offset 5 is not UTF-8 text"),
]


@pytest.mark.spec("DATA-JSONL")
@pytest.mark.parametrize(("content", "options", "error", "message"), BROKEN)
def test_broken_lines_are_refused_with_their_place(
    put: Put, content: bytes, options: Options, error: type[RefclustError], message: str
) -> None:
    with pytest.raises(error) as caught:
        read(put("a.jsonl", content), options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert type(caught.value) is error


def test_finite_numbers_whose_sum_overflows_are_fine(put: Put) -> None:
    assert read(put("a.jsonl", b"[1.5e308, 1e308]"), Options()).row(0) == (1.5e308, 1e308)


def test_lines_cross_blocks(put: Put) -> None:
    content = b"".join(b"[%d, %d.5]\n" % (i, i) for i in range(120_000))
    data = read(put("a.jsonl", content + b"\n\n"), Options())
    assert (data.n, data.row(119_999)) == (120_000, (119_999.0, 119_999.5))
    with pytest.raises(BadFile, match=r"^a\.jsonl:120001: the line is empty, though lines follow"):
        read(put("a.jsonl", content + b"\n[1, 2]\n"), Options())


def test_plan(put: Put) -> None:
    told = plan(put("a.jsonl", b"[1,2]\n[3,4]\n"), Options())
    assert (told.kind, told.facts) == ("dense", (("lines", "arrays"), ("columns", "2")))
    path = put("b.jsonl.gz", gzip.compress(b'{"x":1,"k":"a"}\n{"y":1,"k":"b"}\n'))
    told = plan(path, Options(label_column="k", id_column="n"))
    assert told.kind == "sparse"
    assert told.facts == (
        ("lines", "objects"),
        ("fields", "3 in the first lines: x, k, y"),
        ("id", "n"),
        ("label", "k"),
        ("packed", "gzip"),
    )
    assert told.notes == ("the first lines have no field 'n'",)
    assert plan(path, Options(text_column="k")).kind == "text"
    told = plan(put("c.jsonl", b"[1]\n[1\n"), Options())
    assert told.notes[0].startswith("c.jsonl:2: not JSON at character 3")


@pytest.mark.parametrize(
    ("content", "score"),
    [
        (b"[1, 2]\n", 0.95),
        (b'\xef\xbb\xbf {"a": 1}\n', 0.95),
        (b"[" + b"9" * 5000 + b"]", 0.95),
        (b"[1, 2\n", 0.0),
        (b"[1, 2", 0.3),
        (b"1,2\n", 0.0),
        (b"", 0.0),
        (b"[" * 90_000 + b"\n", 0.3),
    ],
)
def test_sniffs(put: Put, content: bytes, score: float) -> None:
    assert sniff(put("a", content)) == score


number = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(10**30), 10**30))
key = st.text(st.characters(codec="utf-8"), max_size=5)


@pytest.mark.spec("DATA-JSONL", "DATA-SET")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.dictionaries(key, number, max_size=5), min_size=1, max_size=5), st.booleans())
def test_objects_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, objects: list[dict[str, float]], ascii_only: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "written.jsonl"
    lines = (json.dumps(one, ensure_ascii=ascii_only) for one in objects)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")
    features = sorted({name for one in objects for name in one})
    if not features:
        with pytest.raises(MissingColumn):
            read(str(path), Options())
        return
    data = read(str(path), Options())
    assert data.features == tuple(features)
    for row, one in zip(data.rows(), objects, strict=True):
        assert isinstance(row, dict)
        assert {features[column]: value for column, value in row.items()} == {
            name: float(value) for name, value in one.items() if float(value)
        }
        assert list(row) == sorted(row)
