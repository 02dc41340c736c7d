"""Label files: what is read, and what every kind of broken file is told."""

from __future__ import annotations

import gzip
import io
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refclust.data.files import textfile
from refclust.data.labels import read_columns, read_labels, read_weights
from refclust.data.readers.formats import Options
from refclust.data.readers.tables.csvfile import read_csv
from refclust.errors import (
    BadWeight,
    EmptyFile,
    EmptyLabel,
    FileNotReadable,
    MissingColumn,
    NegativeCount,
    NotFinite,
    NotText,
    RaggedRows,
    RefclustError,
    TooLarge,
)
from tests.data.conftest import Put


@pytest.mark.parametrize(
    ("content", "labels"),
    [
        (b"a\nb\na\n", ["a", "b", "a"]),
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\rb\r", ["a", "b"]),
        (b"\xef\xbb\xbfa\nb\n", ["a", "b"]),
        (b" a\na \n\t\n", [" a", "a ", "\t"]),
        (b'"a"\na,b\n', ['"a"', "a,b"]),
        ("é\nΣ\n\u2028x\n\x0c\n".encode(), ["é", "Σ", "\u2028x", "\x0c"]),
        (b"1\n1.0\n01\n", ["1", "1.0", "01"]),
    ],
)
@pytest.mark.spec("CONV-LABEL")
def test_one_label_a_line(put: Put, content: bytes, labels: list[str]) -> None:
    assert read_labels(put("a.txt", content)) == labels


def test_equal_labels_are_one_object(put: Put) -> None:
    labels = read_labels(put("a.txt", b"some label\nother\nsome label\n"))
    assert labels[0] is labels[2]


def test_blocks_meet_at_line_ends(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textfile, "_BLOCK", 3)
    assert read_labels(put("a.txt", b"one\r\ntwo\r\nthree\r\n")) == ["one", "two", "three"]
    with pytest.raises(EmptyLabel, match=r"^b\.txt:3: "):
        read_labels(put("b.txt", b"one\ntwo\n\nfour\n"))
    with pytest.raises(NotText, match=r"^c\.txt:3: the byte 0xff at offset 9 "):
        read_labels(put("c.txt", b"one\ntwo\nx\xff\n"))


def test_a_packed_file(put: Put) -> None:
    assert read_labels(put("a.txt.gz", gzip.compress(b"a\nb\n", mtime=0))) == ["a", "b"]
    packed = gzip.compress(b"id,c\n1,x\n2,y\n", mtime=0)
    assert read_labels(put("A.CSV.GZ", packed), column="c") == ["x", "y"]


def test_a_file_of_labels_that_a_fit_wrote(put: Put) -> None:
    assert read_labels(put("a.csv", b"id,cluster\n7,1\n8,0\n")) == ["1", "0"]
    assert read_labels(put("b.tsv", b"id\tclass\tp_x\tp_y\n7\tx\t1\t0\n")) == ["x"]
    with pytest.raises(MissingColumn, match=r"so one must be named"):
        read_labels(put("c.csv", b"cluster,id\n1,7\n"))


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(b"a\nb\n"))
    monkeypatch.setattr(sys, "stdin", stream)
    assert read_labels("-") == ["a", "b"]
    assert not stream.closed
    with pytest.raises(EmptyFile, match=r"^standard input is empty"):
        read_labels("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(FileNotReadable, match=r"^cannot read standard input: it is closed$"):
        read_labels("-")


CSV = b'id,species,1\n7,x,a\n8,"y, ""z""",b\n9,x,a\n'


@pytest.mark.parametrize(
    ("column", "labels"),
    [
        ("species", ["x", 'y, "z"', "x"]),
        ("2", ["x", 'y, "z"', "x"]),
        ("1", ["a", "b", "a"]),  # a name of the header wins over a number
        ("3", ["a", "b", "a"]),
    ],
)
@pytest.mark.spec("CONV-LABEL")
def test_a_column_by_name_or_number(put: Put, column: str, labels: list[str]) -> None:
    assert read_labels(put("a.csv", CSV), column=column) == labels


def test_several_columns_in_one_pass(put: Put) -> None:
    name = put("a.csv", CSV)
    assert read_columns(name, ["id", "1"]) == [["7", "8", "9"], ["a", "b", "a"]]


@pytest.mark.parametrize(
    ("name", "content", "delimiter"),
    [
        ("a.csv", b"u,v\nx y,1\n", None),
        ("a.tsv", b"u\tv\nx y\t1\n", None),
        ("a.txt", b"u\tv\nx y\t1\n", None),
        ("a.txt", b"u,v\nx y,1\n", None),
        ("a.csv", b"u;v\nx y;1\n", ";"),
        ("a.csv", b"\xef\xbb\xbfu,v\r\nx y,1\r\n", None),
        ("a.csv", b"u,v\rx y,1\r", None),
    ],
)
def test_delimiters(put: Put, name: str, content: bytes, delimiter: str | None) -> None:
    assert read_labels(put(name, content), column="u", delimiter=delimiter) == ["x y"]


def test_line_ends_inside_quotes_belong_to_the_label(put: Put) -> None:
    name = put("a.csv", b'u,v\r\n"x\r\ny",1\r\nz,\r\n')
    assert read_labels(name, column="u") == ["x\r\ny", "z"]
    with pytest.raises(EmptyLabel, match=r"^a\.csv:4: the column 'v' is empty here$"):
        read_labels(name, column="v")


def test_the_only_column_needs_no_name(put: Put) -> None:
    assert read_labels(put("a.csv", b"cluster\nx\ny\n")) == ["x", "y"]


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("a.txt", b"", EmptyFile, "a.txt is empty; it should hold one label a line"),
        ("a.txt", b"\xef\xbb\xbf", EmptyFile, "a.txt is empty; it should hold one label a line"),
        ("a.csv", b"", EmptyFile, "a.csv is empty; it should hold a header and a row per object"),
        ("a.csv", b"u\n", EmptyFile, "a.csv has a header but no row below it"),
        ("a.csv", b"\nu\n", MissingColumn, "a.csv:1: the line is empty; it should hold the names"),
        ("a.txt", b"\n", EmptyLabel, "a.txt:1: the line is empty; every line holds one label"),
        ("a.txt", b"a\n\nb\n", EmptyLabel, "a.txt:2: the line is empty"),
        ("a.txt", b"a\n\n", EmptyLabel, "a.txt:2: the line is empty"),
        ("a.txt", b"a\r\n\r\nb", EmptyLabel, "a.txt:2: the line is empty"),
        ("a.csv", b"u\na\n\nb\n", EmptyLabel, "a.csv:3: the line is empty"),
        ("a.csv", b'u\na\n""\n', EmptyLabel, "a.csv:3: the column 'u' is empty here"),
        ("a.txt", b"a\nb\xe9\n", NotText, "a.txt:2: the byte 0xe9 at offset 3 is not UTF-8 text"),
        ("a.txt", b"a\n\0\n", NotText, "a.txt:2: the byte 0x00 at offset 2 is not UTF-8 text"),
        ("a.txt", b"\xef\xbb\xbfa\xff", NotText, "a.txt:1: the byte 0xff at offset 4 "),
        ("a.txt", b"a\xff\0", NotText, "a.txt:1: the byte 0xff at offset 1 "),
        ("a.txt", b"a\0\xff", NotText, "a.txt:1: the byte 0x00 at offset 1 "),
        ("a.txt", gzip.compress(b"a", mtime=0), NotText, "it looks packed by gzip"),
        ("a.csv", b"PK\x03\x04\0\0", NotText, "it looks like a spreadsheet or a zip archive"),
        ("a.txt", "ab".encode("utf-32"), NotText, "it looks like UTF-32: save it as UTF-8"),
        ("a.gz", b"plain", NotText, "a.gz ends in .gz but cannot be unpacked: "),
        (
            "a.gz",
            gzip.compress(b"abc" * 99, mtime=0)[:-9],
            NotText,
            "a.gz ends in .gz but cannot be",
        ),
        (
            "a.gz",
            gzip.compress(b"", mtime=0)[:10] + b"\xff\xff",
            NotText,
            "a.gz ends in .gz but cannot",
        ),
        ("a.csv", b"u,v\n1\n", MissingColumn, "a.csv has 2 columns, so one must be named; it has:"),
        ("a.csv", b"x\nx\ny\n", MissingColumn, "a.csv: the first line, 'x', is read as a header"),
    ],
)
def test_broken_files(
    put: Put, name: str, content: bytes, error: type[RefclustError], message: str
) -> None:
    put(name, content)
    with pytest.raises(error) as caught:
        read_labels(name)
    assert message in str(caught.value)
    assert str(caught.value).startswith(name)


@pytest.mark.parametrize(
    ("content", "column", "error", "message"),
    [
        (CSV, "genus", MissingColumn, "has no column 'genus'; it has: 'id', 'species', '1'"),
        (CSV, "4", MissingColumn, "has no column '4'"),
        (CSV, "0", MissingColumn, "has no column '0'"),
        (CSV, "-1", MissingColumn, "has no column '-1'"),
        (CSV, "²", MissingColumn, "has no column '²'"),
        (b"u v\n1 2\n", "u", MissingColumn, "has no column 'u'; it has: 'u v' (is the delimiter"),
        (b"u,u\n1,2\n", "u", MissingColumn, "has 2 columns called 'u'; use a number: 1 or 2"),
        (b"u,v\n1,2\n3\n", "u", RaggedRows, "a.csv:3: the row has 1 cell, the header has 2"),
        (b"u,v\n1,2,3\n", "u", RaggedRows, "a.csv:2: the row has 3 cells, the header has 2"),
        (b"u,v\n\n1,2\n", "u", RaggedRows, "a.csv:2: the line is empty, the header has 2"),
        (b'u,v\n1,2\n"3,4\n', "u", RaggedRows, "a.csv:3: a quote is opened and never closed"),
        (b'u,v\n"1"2,2\n', "u", RaggedRows, "a.csv:2: a quoted field is malformed"),
        (b"u,v\n" + b"1" * 131073 + b",2\n", "u", RaggedRows, "a.csv:2: a field is longer than"),
        (b",".join(b"%d" % i for i in range(20)), "x", MissingColumn, "'11' and 8 more"),
    ],
)
def test_broken_columns(
    put: Put, content: bytes, column: str, error: type[RefclustError], message: str
) -> None:
    put("a.csv", content)
    with pytest.raises(error) as caught:
        read_labels("a.csv", column=column)
    assert message in str(caught.value)
    assert str(caught.value).startswith("a.csv")


def test_a_header_that_is_also_a_label_is_fine_when_named(put: Put) -> None:
    assert read_labels(put("a.csv", b"x\nx\ny\n"), column="1") == ["x", "y"]


def test_files_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotReadable, match=r"^cannot read no\.txt: no such file or directory$"):
        read_labels("no.txt")
    Path("folder").mkdir()
    with pytest.raises(FileNotReadable, match=r"^cannot read folder: is a directory$"):
        read_labels("folder")
    with pytest.raises(FileNotReadable, match="null byte"):
        read_labels("a\0b")


def test_a_file_without_permission(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    # Permissions do not stop the superuser, who may run the tests.
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "a.txt")

    put("a.txt", b"a\n")
    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(FileNotReadable, match=r"^cannot read a\.txt: permission denied$"):
        read_labels("a.txt")


@pytest.mark.spec("CT-WEIGHT")
def test_weights_are_exact(put: Put) -> None:
    name = put("w.txt", b"3\n0.1\n1/3\n2e-1\n6/3\n")
    weights = read_weights(name)
    assert weights == [3, Fraction(1, 10), Fraction(1, 3), Fraction(1, 5), 2]
    assert type(weights[4]) is int
    assert read_weights(put("w.csv", b"id,w\n1,2\n2,0\n"), column="w") == [2, 0]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (b"heavy", BadWeight, "w.txt, line 2: the weight is 'heavy', which is not a number"),
        (b"1/0", BadWeight, "w.txt, line 2: the weight is '1/0', which is not a number"),
        (b"-1", NegativeCount, "w.txt, line 2: the weight is -1; it must not be negative"),
        (b"nan", NotFinite, "w.txt, line 2: the weight is nan; it must be finite"),
        (b"-Inf", NotFinite, "w.txt, line 2: the weight is -Inf; it must be finite"),
        (b"1e999999999", TooLarge, "w.txt, line 2: the weight takes 1,000,000,000 digits, and"),
        (b"1e-999999999", TooLarge, "w.txt, line 2: the weight takes 1,000,000,000 digits, and"),
        (b"1e000001000000000", TooLarge, "the weight takes 1,000,000,001 digits, and the limit is"),
        (b"9" * 10_001, TooLarge, "w.txt, line 2: the weight takes 10,001 digits"),
        (b"1e1_000_000_000", BadWeight, "not a number; numbers are written with the digits 0 to 9"),
        (
            "１ｅ９９９９９９９９９".encode(),
            BadWeight,
            "not a number; numbers are written with the digits",
        ),
    ],
)
def test_broken_weights(put: Put, text: bytes, error: type[RefclustError], message: str) -> None:
    with pytest.raises(error) as caught:
        read_weights(put("w.txt", b"1\n" + text + b"\n"))
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.tsv", "a.gz", "a.csv.gz"])
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    content=st.binary(max_size=60)
    | st.text(alphabet='ab,\t"\r\n\0é', max_size=30).map(str.encode)
    | st.binary(max_size=20).map(gzip.compress),
    column=st.none() | st.sampled_from(["a", "1", "2", ""]),
)
@pytest.mark.spec("CONV-LABEL")
def test_any_bytes_give_labels_or_a_clear_error(
    put: Put, name: str, content: bytes, column: str | None
) -> None:
    put(name, content)
    try:
        labels = read_labels(name, column=column)
    except RefclustError as error:
        assert name in str(error)  # noqa: PT017  (any of many classes)
    else:
        assert labels
        assert all(type(label) is str and label for label in labels)


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    labels=st.lists(
        st.text(st.characters(exclude_characters="\r\n\0", codec="utf-8"), min_size=1), min_size=1
    ).filter(lambda labels: not labels[0].startswith("\ufeff")),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    closed=st.booleans(),
)
@pytest.mark.spec("CONV-LABEL")
def test_labels_come_back_as_written(put: Put, labels: list[str], end: str, closed: bool) -> None:
    text = end.join(labels) + (end if closed else "")
    assert read_labels(put("a.txt", text.encode())) == labels


@pytest.mark.spec("DATA-CSV")
def test_a_number_of_a_column_has_an_end(tmp_path: Path) -> None:
    path = str(tmp_path / "x.csv")
    Path(path).write_text("a,b\n1,2\n", encoding="utf-8")
    assert read_labels(path, column="0002") == ["2"]
    for column in ("1" * 5000, "１", "²", "0", "3"):
        with pytest.raises(MissingColumn, match=r"has no column '.{1,40}'; it has"):
            read_labels(path, column=column)
        for role in ("columns", "label_column", "id_column", "weight_column"):
            given = Options(**{role: (column,) if role == "columns" else column})  # type: ignore[arg-type]
            with pytest.raises(MissingColumn, match=r"has no column '.{1,40}'; it has"):
                read_csv(path, given)


def test_what_a_malformed_quote_lacks_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "l.tsv"
    path.write_text('a\tb\n"x"y\tz\n', encoding="utf-8")
    with pytest.raises(RaggedRows) as caught:
        read_labels(str(path), column="a")
    assert "\t" not in str(caught.value)
