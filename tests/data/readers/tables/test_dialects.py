"""Tables as other places write them: semicolons, decimal commas, encodings, packings."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.data.files.delimiters import recognised, said_delimiter
from refclust.data.labels import read_columns
from refclust.data.readers.formats import Options, plan, read
from refclust.data.readers.tables.decimals import may_be_group
from refclust.errors import BadCell, BadFile, BadOption, NotText, RefclustError
from tests.data.conftest import Put

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
GERMAN = "Kunde;Größe;Umsatz;Art\r\nMüller;1,5;1234,5;klein\r\nŁoś & Söhne;2;-0,25;groß\r\n"


def rows(path: str, **options: object) -> list[object]:
    return list(read(path, options=Options(**options)).rows())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lines", "sign"),
    [
        ("x;y\n1;2\n", ";"),
        ("x;y\n1,5;2,5\n", ";"),
        ("1,5;2,5\n3,5;4,5\n", ";"),
        ("x,y\n1,a;b\n", ","),
        ('name,x\n"a;b",1\n"c;d",2\n', ","),
        ("x\ty\n1,5\t2,5\n", "\t"),
        ("x|y\n1|2\n", "|"),
        ("x\n1\n2\n", ","),
        ("x;y\n1;2\n3\n", ";"),  # ragged; reading tells where
        ("x,y;z\n1,2\n3\n", ","),
        ("", ","),
        ('x;text, more\n1;"a\nb;c', ";"),  # a cell goes on beyond the lines that are seen
    ],
)
def test_delimiters_are_recognised(lines: str, sign: str) -> None:
    assert recognised("a.csv", lines.splitlines(keepends=True)) == sign


def test_a_doubtful_delimiter_is_refused(put: Put) -> None:
    doubtful = put("a.csv", b"x;1,5\ny;2,5\n")
    with pytest.raises(BadFile) as caught:
        read(doubtful)
    assert str(caught.value) == (
        "a.csv: the delimiter may be a semicolon or a comma, for each cuts the first lines evenly; "
        "say which one: --delimiter"
    )
    assert rows(doubtful, delimiter=";", id_column="1") == [(1.5,), (2.5,)]


def test_a_line_that_names_the_delimiter(put: Put) -> None:
    assert said_delimiter('"sep=|"\n') == "|"
    path = put("a.csv", b"sep=;\r\na,b;c\r\n1;2\r\n3;x\r\n")
    with pytest.raises(BadCell, match=r"^a\.csv:4: column 2 \('c'\) is 'x'"):
        read(path)
    assert rows(put("b.csv", b"sep=;\n1,5;2\n3;4\n")) == [(1.5, 2.0), (3.0, 4.0)]
    assert read_columns(put("c.csv", b"sep=;\nu;v\n1;2\n"), ["v"]) == [["2"]]


@pytest.mark.spec("DATA-DECIMAL")
@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=5))
def test_decimal_commas_give_the_same_doubles(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[tuple[float, float]]
) -> None:
    path = tmp_path_factory.mktemp("t") / "a.csv"
    lines = [f"{x!r};{y!r}".replace(".", ",") for x, y in numbers]
    path.write_text("x;y\n" + "\n".join(lines) + "\n", encoding="utf-8")
    commas = [cell for line in lines for cell in line.split(";") if "," in cell]
    if commas and all(map(may_be_group, commas)):  # like 1,234, which nobody can know
        with pytest.raises(BadCell, match="before three digits"):
            rows(str(path))
    else:
        assert rows(str(path)) == numbers
    assert rows(str(path), decimal="comma") == numbers


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("x;y\n1,234;2,567\n", {}, "a.csv:2 holds '1,234': every comma of the file stands before"),
        ("x;y\n1.5;2\n3;4,5\n", {}, "a.csv:3 holds '4,5', with a comma, while a.csv:2 has a deci"),
        ("x;y\n1,5;2\n3;4.5\n", {}, "a.csv:3 holds '4.5', with a point, though decimals are writ"),
        ("x;y\n1,5;2\n3;1.234,5\n", {}, "a.csv:3 holds '1.234,5'; digits are not grouped"),
        ("x;y\n1;2.5\n", {"decimal": "comma"}, "a.csv:2 holds '2.5', with a point, though decim"),
        ("x;y\n1;2,5\n", {"decimal": "point"}, "a.csv:2: column 2 ('y') is '2,5', which is not"),
        ("x;y\n1,5;2,5,5\n", {}, "a.csv:2: column 2 ('y') is '2,5,5', which is not a number"),
        ("x;y\n1,5;a\n", {}, "a.csv:2: column 2 ('y') is 'a', which is not a number"),
    ],
)
def test_doubtful_decimals_are_refused(
    put: Put, text: str, options: dict[str, str], words: str
) -> None:
    with pytest.raises(BadCell) as caught:
        rows(put("a.csv", text.encode()), **options)
    assert str(caught.value).startswith(words)


@pytest.mark.spec("DATA-DECIMAL")
def test_where_decimal_commas_count(put: Put) -> None:
    # No header: the first row is one of numbers; a later cell settles what 1,234 is.
    assert rows(put("a.csv", b"1,234;2\n3,5;4\n")) == [(1.234, 2.0), (3.5, 4.0)]
    quoted = put("b.csv", b'"1,5","2"\n"3","4,25"\n')
    assert rows(quoted, decimal="comma") == [(1.5, 2.0), (3.0, 4.25)]
    data = read(
        put("c.csv", b"1,5;0,5;1,5\n2;2;2,5\n"),
        options=Options(label_column="3", weight_column="2"),
    )
    assert data.labels == ("1,5", "2,5")  # as they stand
    assert list(data.weights or ()) == [0.5, 2.0]
    facts = dict(plan(put("d.csv", b"x;y\n1,5;2\n")).facts)
    assert (facts["delimiter"], facts["decimals"]) == ("semicolon", "comma")
    assert rows(put("e.tsv", b"x\ty\n1,5\t-,5e1\n")) == [(1.5, -5.0)]


@pytest.mark.spec("DATA-ENCODING")
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "cp1250", "utf-8-sig"])
def test_every_encoding_gives_the_same_data(put: Put, encoding: str) -> None:
    plain = put("a.csv", GERMAN.encode())
    other = put("b.csv", GERMAN.encode(encoding))
    asked = {"id_column": "Kunde", "label_column": "Art"}
    by_mark = encoding in ("utf-16", "utf-8-sig")
    due = read(plain, options=Options(**asked))  # type: ignore[arg-type]
    data = read(other, options=Options(**asked, encoding=None if by_mark else encoding))  # type: ignore[arg-type]
    assert data.digest() == due.digest()
    assert (data.ids, data.labels, data.features) == (due.ids, due.labels, due.features)
    assert data.ids == ("Müller", "Łoś & Söhne")


def test_bytes_that_are_no_text(put: Put) -> None:
    latin = put("a.csv", "x,größe\n1,2\n".encode("latin-1"))
    with pytest.raises(NotText) as caught:
        read(latin)
    assert str(caught.value) == (
        "a.csv:1: the byte 0xf6 at offset 4 is not UTF-8 text; a table from Windows or Excel is "
        "often cp1252: --encoding cp1252"
    )
    assert read(latin, options=Options(encoding="latin-1")).features == ("x", "größe")
    with pytest.raises(NotText, match=r"^b\.csv:2: the byte 0x81 at offset 6 is no cp1252 text$"):
        read(put("b.csv", b"x,y\n1,\x81\n"), options=Options(encoding="cp1252"))
    with pytest.raises(NotText, match=r"^c\.csv:1: the byte 0x31 at offset 4 is no utf-16-le text"):
        read(put("c.csv", b"\xff\xfex\x001"))
    with pytest.raises(BadOption, match=r"^no encoding is called 'klingon'"):
        Options(encoding="klingon")
    with pytest.raises(BadOption, match=r"^no encoding is called 'base64'"):
        Options(encoding="base64")


def test_folders_and_lines_have_an_encoding(put: Put, tmp_path: Path) -> None:
    put("words.txt", "größe\nhöhe\n".encode("cp1252"))
    lines = read("words.txt", format="lines", options=Options(encoding="cp1252"))
    assert lines.features == ("grösse", "höhe")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a").write_bytes("höhe".encode("cp1252"))
    folder = read(str(tmp_path / "docs"), options=Options(encoding="cp1252"))
    assert folder.features == ("höhe",)


@pytest.mark.parametrize(
    ("ending", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_packed_files_of_several_pieces(put: Put, ending: str, pack: object) -> None:
    packed = pack(b"x,y\n1,2\n") + pack(b"3,4\n")  # type: ignore[operator]
    assert rows(put("a.csv" + ending, packed)) == [(1.0, 2.0), (3.0, 4.0)]
    for broken in (packed[:-3], packed + b"more"):
        with pytest.raises(RefclustError, match="cannot be unpacked"):
            read(put("b.csv" + ending, broken))


@pytest.mark.spec("DATA-ENCODING")
@given(
    st.lists(st.text("abcäößÿ€ é", min_size=1, max_size=6).map(str.strip).filter(bool), min_size=1),
    st.sampled_from(["cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-8", "utf-8-sig"]),
)
def test_texts_of_any_encoding_are_the_same(
    tmp_path_factory: pytest.TempPathFactory, ids: list[str], encoding: str
) -> None:
    path = tmp_path_factory.mktemp("e") / "a.csv"
    text = "id,x\r\n" + "".join(f"{name},{i}\r\n" for i, name in enumerate(ids))
    path.write_bytes(text.encode(encoding))
    data = read(str(path), options=Options(id_column="id", encoding=encoding))
    assert data.ids == tuple(ids)
    assert [*data.matrix.values] == [*range(len(ids))]
