"""Delimited tables: what is read, and what every kind of broken file is told."""

from __future__ import annotations

import csv
import gzip
import io
import math
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refclust.data.dataset import Dataset
from refclust.data.readers.cells import is_number, number_in
from refclust.data.readers.formats import Options
from refclust.data.readers.tables.csvfile import (
    plan_csv,
    plan_tsv,
    read_csv,
    read_tsv,
    sniff_csv,
    sniff_tsv,
)
from refclust.data.readers.tables.delimited import guessed_delimiter
from refclust.errors import (
    BadCell,
    BadFile,
    BadHeader,
    BadOption,
    BadWeight,
    EmptyFile,
    EmptyLabel,
    FeatureMismatch,
    FileNotReadable,
    MissingColumn,
    MissingValue,
    NegativeCount,
    NotFinite,
    NotText,
    RaggedRows,
    RefclustError,
)
from tests.data.conftest import Put


def rows(data: Dataset) -> list[object]:
    return list(data.rows())


@pytest.mark.spec("DATA-CSV")
@pytest.mark.parametrize(
    ("content", "features"),
    [
        (b"x,y\n1,2\n3,4\n", ("x", "y")),
        (b"1,2\n3,4\n", None),
        (b"1,2\n3,4", None),
        (b"1,2\r\n3,4\r\n", None),
        (b"1,2\r3,4\r", None),
        (b"\xef\xbb\xbfx,y\r\n1,2\r\n3,4\r\n", ("x", "y")),
        (b"\xef\xbb\xbf1,2\n3,4\n", None),
        (b"1,2\n3,4\n\n\n  \n", None),
        (b' x , y\t\n 1 ,\t2\n"3"," 4 "\n', ("x", "y")),
        (b'"x","y"\n"1","2"\n"3","4"\n', ("x", "y")),
        (b'"a, ""b""","c\nd"\n1,2\n3,4\n', ('a, "b"', "c\nd")),
        (b"x,y\n+1.0,.2e1\n3e0,4.\n", ("x", "y")),
        ("é,日本\n1,2\n3,4\n".encode(), ("é", "日本")),
    ],
)
def test_reads_tables(put: Put, content: bytes, features: tuple[str, ...] | None) -> None:
    data = read_csv(put("a.csv", content), Options())
    assert rows(data) == [(1.0, 2.0), (3.0, 4.0)]
    assert data.features == features
    assert (data.ids, data.labels, data.weights) == (None, None, None)


@pytest.mark.spec("DATA-CSV")
@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("a.csv", b"1;2\n3;4\n", Options(delimiter=";")),
        ("a.csv.gz", gzip.compress(b"1,2\n3,4\n", mtime=0), Options()),
        ("a.tsv", b"1\t2\n3\t4\n", Options()),
        ("a.TAB", b"1\t2\n3\t4\n", Options()),
        ("a", b"1\t2\n3\t4\n", Options()),
        ("a", b"1;2\n3;4\n", Options()),
        ("a", b"1|2\n3|4\n", Options()),
        ("a", b"1,2\n3,4\n", Options()),
        ("a", b"1 2\n3 4\n", Options()),
        ("a.dat", b"  1   2  \n 3 4\n\n", Options()),
        ("a.dat", b'1 " 2 "\n 3 "4"\n\n', Options()),
        ("a.dat", b"1 2\n3 4\n", Options(delimiter=" ")),
        ("a.dat", b"1:2\n3:4\n", Options(delimiter=":")),
    ],
)
def test_finds_the_delimiter(put: Put, name: str, content: bytes, options: Options) -> None:
    assert rows(read_csv(put(name, content), options)) == [(1.0, 2.0), (3.0, 4.0)]


@pytest.mark.spec("DATA-CSV")
@pytest.mark.parametrize(
    ("lines", "delimiter"),
    [
        (["1,5;2,5", "3,5;4,5"], ";"),
        (["a b,c d", "e f,g h"], ","),
        (["a\tb c", "d\te f"], "\t"),
        (["1", "2"], ","),
        (["1 2", "3"], " "),
        ([], ","),
        (["", "1|2", "", "3|4"], "|"),
        (['"a,b";1', '"c";2'], ";"),
    ],
)
def test_guesses_the_delimiter(lines: list[str], delimiter: str) -> None:
    assert guessed_delimiter(lines) == delimiter


@pytest.mark.spec("DATA-CSV")
def test_columns_have_roles_by_name_or_number(put: Put) -> None:
    path = put("a.csv", b"name,x,w,kind,y\nn1,1,0.5,a b,2\nn2,3,2,c_d,4\n")
    named = Options(id_column="name", label_column="kind", weight_column="w")
    numbered = Options(id_column="1", label_column="4", weight_column="3")
    for options in (named, numbered):
        data = read_csv(path, options)
        assert rows(data) == [(1.0, 2.0), (3.0, 4.0)]
        assert data.features == ("x", "y")
        assert data.ids == ("n1", "n2")
        assert data.labels == ("a b", "c_d")
        assert data.weights is not None
        assert data.weights.tolist() == [0.5, 2.0]


@pytest.mark.spec("DATA-CSV")
def test_columns_select_and_order_features(put: Put) -> None:
    path = put("a.csv", b"text,x,y,z\nfoo,1,2,3\nbar,4,5,6\n")
    data = read_csv(path, Options(columns=("z", "x")))
    assert (data.features, rows(data)) == (("z", "x"), [(3.0, 1.0), (6.0, 4.0)])
    only = read_csv(path, Options(columns=("3",), label_column="text"))
    assert (only.features, rows(only), only.labels) == (("y",), [(2.0,), (5.0,)], ("foo", "bar"))


@pytest.mark.spec("DATA-CSV")
def test_a_number_is_a_position_unless_a_header_has_that_name(put: Put) -> None:
    path = put("a.csv", b"2,1,x\n5,6,7\n")
    assert read_csv(path, Options(header=True, label_column="2")).labels == ("5",)
    assert read_csv(path, Options(header=True, label_column="3")).labels == ("7",)
    plain = read_csv(put("b.csv", b"5,1,a\n6,2,b\n"), Options(label_column="3"))
    assert (plain.labels, plain.features) == (("a", "b"), None)
    assert rows(plain) == [(5.0, 1.0), (6.0, 2.0)]


@pytest.mark.spec("DATA-CSV")
def test_header_can_be_said(put: Put) -> None:
    path = put("a.csv", b"2019,2020\n1,2\n")
    assert rows(read_csv(path, Options())) == [(2019.0, 2020.0), (1.0, 2.0)]
    said = read_csv(path, Options(header=True))
    assert (said.features, rows(said)) == (("2019", "2020"), [(1.0, 2.0)])
    with pytest.raises(BadCell, match=r"b\.csv:1: column 1 is 'x', which is not a number"):
        read_csv(put("b.csv", b"x,y\n1,2\n"), Options(header=False))


@pytest.mark.spec("DATA-CSV")
def test_labels_are_taken_as_they_stand_and_are_one_object(put: Put) -> None:
    data = read_csv(put("a.csv", b"1, a \n2, a \n3,01\n"), Options(label_column="2"))
    assert data.labels == (" a ", " a ", "01")
    assert data.labels is not None
    assert data.labels[0] is data.labels[1]


BROKEN: list[tuple[bytes, Options, type[RefclustError], str]] = [
    (b"", Options(), EmptyFile, "a.csv is empty; it should hold a row per object"),
    (b"\n\n \n", Options(), EmptyFile, "a.csv holds nothing but empty lines"),
    (b"x,y\n", Options(), EmptyFile, "a.csv has a header but no row below it"),
    (b"\n1,2\n", Options(), BadHeader, "a.csv:1: the line is empty; it should hold names or nu"),
    (b",\n1,2\n", Options(), BadHeader, "a.csv:1: all cells are empty"),
    (b"1,2\n3\n", Options(), RaggedRows, "a.csv:2: the row has 1 cell, the first row has 2"),
    (b"x,y\n1,2\n3,4,5\n", Options(), RaggedRows, "a.csv:3: the row has 3 cells, the header has 2"),
    (b"1,2\n\n3,4\n", Options(), RaggedRows, "a.csv:2: the line is empty, though rows follow"),
    (b"1,2\n\n \n3,4\n", Options(), RaggedRows, "a.csv:2: the line is empty, though rows follow"),
    (b"1\n\n3\n", Options(), RaggedRows, "a.csv:2: the line is empty, though rows follow"),
    (b"x,y\n1,2\n3,\n", Options(), MissingValue, "a.csv:3: column 2 ('y') is empty; a number"),
    (b"1,2\n ,4\n", Options(), MissingValue, "a.csv:2: column 1 is empty; a number is needed"),
    (b"1,,3\n", Options(), MissingValue, "a.csv:1: column 2 is empty; a number is needed"),
    (b'1\n""\n', Options(), MissingValue, "a.csv:2: column 1 is empty"),
    (b"1,2\n3,NA\n", Options(), MissingValue, "a.csv:2: column 2 is 'NA', a missing value"),
    (b"1,2\n3,?\n", Options(), MissingValue, "a.csv:2: column 2 is '?', a missing value"),
    (b"1,2\n3,nan\n", Options(), NotFinite, "a.csv:2: column 2 is nan; only finite numbers"),
    (b"1,nan\n3,4\n", Options(), NotFinite, "a.csv:1: column 2 is nan; only finite numbers"),
    (b"1,2\n-Inf,4\n", Options(), NotFinite, "a.csv:2: column 1 is -Inf; only finite"),
    (b"1,2\n3,+infinity\n", Options(), NotFinite, "a.csv:2: column 2 is +infinity; only"),
    (b"1,2\n1e400,4\n", Options(), NotFinite, "a.csv:2: column 1 is '1e400', which is beyond the"),
    (
        b"1,2\n3,1_000\n",
        Options(),
        BadCell,
        "a.csv:2: column 2 is '1_000', which is not a number; ",
    ),
    (b"1,2\n3,0x10\n", Options(), BadCell, "a.csv:2: column 2 is '0x10', which is not a number"),
    (b"1,2\n3,1e\n", Options(), BadCell, "a.csv:2: column 2 is '1e', which is not a number"),
    (
        b'1,2\n3,"4,5"\n',
        Options(),
        BadCell,
        "is '4,5', which is not a number; decimals are written",
    ),
    ("1,2\n3,\u0664\n".encode(), Options(), BadCell, "is '\u0664', which is not a number; numbers"),
    ("1,2\n3,\u22124\n".encode(), Options(), BadCell, "the minus sign is written -, not U+2212"),
    (
        "1,2\n3,\u00a04\n".encode(),
        Options(),
        BadCell,
        "column 2 is '\\xa04', which is not a number",
    ),
    (b"1,2\n3,\x1d4\n", Options(), BadCell, "a.csv:2: column 2 is '\\x1d4', which is not a num"),
    (b"x,y\n1,a\n", Options(), BadCell, "a.csv:2: column 2 ('y') is 'a', which is not a number; i"),
    (b"x,y\n1;2\n", Options(), RaggedRows, "a.csv:2: the row has 1 cell, the header has 2"),
    (b"x\n1;2\n", Options(), BadCell, "is '1;2', which is not a number (is the delimiter a semi"),
    (b"1,2,a\n3,4,b\n", Options(), BadHeader, "a.csv:1: column 3 is 'a' while others are numbers;"),
    (b"a,2,b\n3,4,b\n", Options(), BadHeader, "a.csv:1: column 1 is 'a' while others are numbers;"),
    (b",x\n0,1\n", Options(), BadHeader, "column 1 has no name; if it only numbers the rows, say"),
    (b"x,x\n0,1\n", Options(), FeatureMismatch, "a.csv:1: columns 1 and 2 are both called 'x'"),
    (
        b"x,y\n0,1\n",
        Options(label_column="z"),
        MissingColumn,
        "a.csv has no column 'z'; it has: x,",
    ),
    (b"x y\n0 1\n", Options(label_column="y"), MissingColumn, "it has: x y (is the delimiter bla"),
    (b"x,y\n0,1\n", Options(label_column="3"), MissingColumn, "a.csv has no column '3'"),
    (b"x,y\n0,1\n", Options(label_column="0"), MissingColumn, "a.csv has no column '0'"),
    (b"1,2\n", Options(label_column="9" * 5000), MissingColumn, "it has: 2 columns without names"),
    (b"x,y\n0,1\n", Options(header=False, id_column="x"), MissingColumn, "2 columns without names"),
    (b"x,k,k\n0,1,2\n", Options(label_column="k"), MissingColumn, "called 'k'; use a number: 2 or"),
    (b"x\n1\n", Options(label_column="x"), MissingColumn, "a.csv has no column left for a feature"),
    (b"x,y\n0,1\n", Options(label_column="x", id_column="1"), BadOption, "must differ; asked for"),
    (b"x,y\n0,1\n", Options(columns=("x", "x")), BadOption, "must differ; asked for: x, x"),
    (b"x,y\n0,1\n", Options(columns=("x",), label_column="x"), BadOption, "must differ"),
    (b"x,y\n0,\n", Options(label_column="y"), EmptyLabel, "a.csv:2: column 2 ('y') is empty; it n"),
    (b"x,y\n0,\n", Options(id_column="y"), EmptyLabel, "a.csv:2: column 2 ('y') is empty; it name"),
    (b"x,w\n0,-1\n", Options(weight_column="w"), NegativeCount, "a.csv:2: column 2 ('w') is -1; a"),
    (b"x,w\n0,a\n", Options(weight_column="w"), BadWeight, "a.csv:2: column 2 ('w') is 'a', which"),
    (b"x,w\n0,\n", Options(weight_column="w"), MissingValue, "a.csv:2: column 2 ('w') is empty"),
    (b"x,w\n0,inf\n", Options(weight_column="w"), NotFinite, "a.csv:2: column 2 ('w') is inf"),
    (b"x,w\n0,0\n", Options(weight_column="w"), BadWeight, "a.csv: all weights are 0"),
    (b'1,2\n3,"4\n5,6\n', Options(), BadFile, "a.csv:2: a quote is opened here and never closed"),
    (b'1,"2"\n"3\n","4\n5,6\n', Options(), BadFile, "a.csv:3: a quote is opened here and never c"),
    (b'1,"2""\n3,4\n', Options(), BadFile, "a.csv:1: a quote is opened here and never closed"),
    (b'1,2\n3,"4"5\n', Options(), BadFile, "a.csv:2: a quoted cell is malformed"),
    (b'1,2\n"' + b"3,4\n" * 40000, Options(), BadFile, "a.csv:2: a quote is opened here and not c"),
    (
        b"1,2\n3," + b"4" * 140000,
        Options(),
        BadFile,
        "a.csv:2: a cell is longer than 131072 charac",
    ),
    (b"1,2\n3,\xff\n", Options(), NotText, "a.csv:2: the byte 0xff at offset 6 is not UTF-8 text"),
    (b"1,2\n3,\x00\n", Options(), NotText, "a.csv:2: the byte 0x00 at offset 6 is not UTF-8 text"),
    (b"\x93NUMPY\x01\x00v\x00", Options(), NotText, "a.csv:1: the byte 0x93 at offset 0"),
    (b"1,2\n", Options(delimiter=";;"), BadOption, "the delimiter is ';;'; one character that is"),
    (b"1,2\n", Options(delimiter="."), BadOption, "the delimiter is '.'; one character that is"),
    (b"1,2\n", Options(delimiter="e"), BadOption, "the delimiter is 'e'; one character that is"),
    (b"1,2\n", Options(base=1), BadOption, "the format csv cannot use the option base; it takes c"),
]


@pytest.mark.spec("DATA-CSV")
@pytest.mark.parametrize(("content", "options", "error", "message"), BROKEN)
def test_broken_tables_are_refused_with_their_place(
    put: Put, content: bytes, options: Options, error: type[RefclustError], message: str
) -> None:
    with pytest.raises(error) as caught:
        read_csv(put("a.csv", content), options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert type(caught.value) is error


def test_messages_suggest_the_option_for_a_text_column(put: Put) -> None:
    path = put("a.csv", b"x,kind of,k2\n1,a,b\n")
    with pytest.raises(BadCell) as caught:
        read_csv(path, Options())
    assert str(caught.value) == (
        "a.csv:2: column 2 ('kind of') is 'a', which is not a number; if it is a label or a name, "
        "say so: --label-column 2 or --id-column 2"
    )
    with pytest.raises(BadCell, match=r"say so: --label-column k2$"):
        read_csv(path, Options(id_column="kind of"))
    path = put("b.csv", b"x,a,b,c\n1,a,b,c\n")
    with pytest.raises(BadCell, match=r"; --column C reads only the columns it names$"):
        read_csv(path, Options(id_column="a", label_column="b"))


def test_a_line_number_is_that_of_the_beginning_of_the_row(put: Put) -> None:
    path = put("a.csv", b'n,x\n"a\nb\nc",1\n"d\ne",y\n')
    with pytest.raises(BadCell, match=r"^a\.csv:5: column 2 \('x'\) is 'y'"):
        read_csv(path, Options(id_column="n"))
    with pytest.raises(FileNotReadable, match=r"^cannot read b\.csv: no such file or directory$"):
        read_csv("b.csv", Options())


def test_truncated_gzip_is_refused(put: Put) -> None:
    packed = gzip.compress(b"1,2\n" * 5000)
    for length in (5, len(packed) // 2, len(packed) - 4):
        with pytest.raises(NotText, match=r"a\.csv\.gz ends in \.gz but cannot be unpacked"):
            read_csv(put("a.csv.gz", packed[:length]), Options())
    with pytest.raises(NotText, match="cannot be unpacked"):
        read_csv(put("b.csv.gz", b"1,2\n3,4\n"), Options())


def test_finite_numbers_whose_sum_overflows_are_fine(put: Put) -> None:
    data = read_csv(put("a.csv", b"1e308,1.5e308,-3\n"), Options())
    assert rows(data) == [(1e308, 1.5e308, -3.0)]


def test_weights_that_are_all_0_name_their_file(put: Put) -> None:
    told = r"^w\.tsv: all weights are 0; at least one row must count$"
    with pytest.raises(BadWeight, match=told):
        read_tsv(put("w.tsv", b"x\tw\n1\t0\n2\t0.0\n"), Options(weight_column="w"))


def test_tsv_has_tabs_only(put: Put) -> None:
    path = put("a.txt", b"x y\tz,w\n1\t2\n")
    data = read_tsv(path, Options())
    assert (data.features, rows(data)) == (("x y", "z,w"), [(1.0, 2.0)])
    assert plan_tsv(path, Options(delimiter="\t")).facts[0] == ("delimiter", "tab")
    with pytest.raises(BadOption, match="the delimiter of tsv is the tab, not ','"):
        read_tsv(path, Options(delimiter=","))


def test_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"x;y\n1;2\n")))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert rows(read_csv("-", Options())) == [(1.0, 2.0)]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1\nz\n")))
    with pytest.raises(BadCell, match=r"^standard input:2: column 1 is 'z'"):
        read_csv("-", Options())


def test_rows_cross_blocks(put: Put) -> None:
    lines = b"".join(b"%d,%d.5,lab_%d\n" % (i, i, i % 3) for i in range(100_000))
    data = read_csv(put("a.csv", b"x,y,l\n" + lines), Options(label_column="l"))
    assert (data.n, data.d) == (100_000, 2)
    assert data.row(99_999) == (99_999.0, 99_999.5)
    assert data.labels is not None
    assert data.labels[99_998] == "lab_2"


def test_plan_tells_what_would_be_read(put: Put) -> None:
    path = put("a.csv.gz", gzip.compress(b"id,x,label0\n1,2,3\n4,5,6\n"))
    plan = plan_csv(path, Options(label_column="label0"))
    assert plan.kind == "dense"
    assert plan.facts == (
        ("delimiter", "comma"),
        ("header", "yes: id, x, label0"),
        ("columns", "3"),
        ("features", "2: id, x"),
        ("label", "column 3, label0"),
        ("packed", "gzip"),
    )
    assert plan.notes == (
        "read as features, but maybe ids or labels: id",
        "the first line is a header if it holds names instead of numbers where features are",
    )
    doubtful = plan_csv(put("b", b"1 2\n3 x\n"), Options(header=False))
    assert dict(doubtful.facts)["delimiter"] == "blanks"
    assert dict(doubtful.facts)["header"] == "no"
    assert doubtful.notes[0].startswith("b:2: column 2 is 'x', which is not a number")
    assert doubtful.notes[1] == "the delimiter is judged by the first 20 lines"
    ragged = plan_csv(put("c.csv", b"1,2\n3,4,5\n"), Options(header=False))
    assert ragged.notes == ("c.csv:2: the row has 3 cells, the first row has 2",)


@pytest.mark.parametrize(
    ("content", "sure"),
    [
        (b"x,y\n1,2\n3,4\n", True),
        (b"1 2\n3 4\n", True),
        (b"x,y,l\n1,2,a\n3,4,b\n", True),
        (b"1\n2\n3\n", True),
        (b"one two three\nfour five six\n", False),
        (b"some words\n", False),
        (b"", False),
        (b"1,2\n3\n", True),
        (b"1,2\na\n", False),
        (b"1,2\x00\n", False),
        (b"1,2\xff,\n3,4\n", False),
        (b'"1,2\n3,4\n', False),
        (b"0 1:2 3:4\n1 2:3\n", False),
    ],
)
def test_sniffs(put: Put, content: bytes, sure: bool) -> None:
    assert (sniff_csv(put("a", content)) >= 0.5) is sure


def test_sniffs_tables_with_tabs_as_csv(put: Put) -> None:
    path = put("a", b"1\t2\n3\t4\n")
    assert sniff_csv(path) == 0.9
    assert sniff_tsv(path) == 0.45
    assert sniff_csv("missing") == 0.0


@pytest.mark.parametrize(
    "text", ["1", "-1.5", "+.5", "5.", "1e5", "1E-5", " 7\t", "nan", "-inf", "Infinity"]
)
def test_numbers(text: str) -> None:
    assert is_number(text)


@pytest.mark.parametrize(
    "text", ["", " ", "1_0", "0x1", "e5", ".", "1e", "--1", "1 2", "1,5", "٣", "nano", "+-inf"]
)
def test_no_numbers(text: str) -> None:
    assert not is_number(text)


@pytest.mark.spec("DATA-CSV")
@given(st.text(alphabet="0123456789+-.eE_ \t\x0b\x1c\x1f xXnaif,\u0663\u00a0", max_size=8))
def test_a_cell_is_a_number_exactly_if_python_reads_it_and_it_is_plain(cell: str) -> None:
    try:
        expected = float(cell)
        plain = "_" not in cell and cell.isascii()
    except ValueError:
        plain = False
    assert is_number(cell) == plain
    if plain and math.isfinite(expected):
        assert number_in(cell, "here") == expected
    else:
        with pytest.raises(RefclustError):
            number_in(cell, "here")


finite = st.floats(allow_nan=False, allow_infinity=False)
# Python's writer leaves a bare carriage return unquoted when lines end in a line feed alone.
names = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1, max_size=6
).filter(lambda name: name.strip(" \t") == name and not name.isdigit())


@pytest.mark.spec("DATA-CSV", "DATA-SET")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(1, 4).flatmap(
        lambda d: st.tuples(
            st.lists(st.lists(finite, min_size=d, max_size=d), min_size=1, max_size=5),
            st.lists(names, min_size=d + 1, max_size=d + 1, unique=True),
        )
    ),
    st.lists(names, min_size=5, max_size=5),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    table: tuple[list[list[float]], list[str]],
    labels: list[str],
    delimiter: str,
    end: str,
    quoting: int,
) -> None:
    values, header = table
    path = tmp_path_factory.getbasetemp() / "written.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=delimiter, lineterminator=end, quoting=quoting)  # type: ignore[arg-type]
        writer.writerow(header)
        for row, label in zip(values, labels, strict=False):
            writer.writerow([*map(repr, row), label])
    options = Options(delimiter=delimiter, header=True, label_column=header[-1])
    data = read_csv(str(path), options)
    assert rows(data) == [tuple(row) for row in values]
    assert data.features == tuple(header[:-1])
    assert data.labels == tuple(labels[: len(values)])
