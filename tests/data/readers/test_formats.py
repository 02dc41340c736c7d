"""The registry: which reader a file gets, and which options are refused."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.data.dataset import Dataset
from refclust.data.files import source
from refclust.data.readers import formats
from refclust.data.readers.formats import Options, Plan, Reader, builtin, choose
from refclust.errors import BadOption, EmptyFile, FileNotReadable, UnknownFormat
from tests.data.conftest import Put


def reader(name: str, score: float, *suffixes: str) -> Reader:
    def read(path: str, options: Options) -> Dataset:
        raise NotImplementedError

    def plan(path: str, options: Options) -> Plan:
        raise NotImplementedError

    return Reader(name, suffixes, name, read, lambda _: score, plan)


def test_names_and_suffixes_are_used_once() -> None:
    names = [one.name for one in builtin()]
    suffixes = [ending for one in builtin() for ending in one.suffixes]
    assert len(set(names)) == len(names)
    assert len(set(suffixes)) == len(suffixes)
    assert all(ending == ending.lower() and ending.startswith(".") for ending in suffixes)
    assert {"csv", "tsv", "jsonl", "folder", "lines", "npy", "npz", "svmlight"} <= set(names)


@pytest.mark.spec("DATA-READ")
@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.csv", "csv"),
        ("A.CSV.GZ", "csv"),
        ("a.tsv", "tsv"),
        ("a.tab", "tsv"),
        ("a.jsonl.gz", "jsonl"),
        ("a.ndjson", "jsonl"),
        ("a.npy", "npy"),
    ],
)
def test_the_suffix_decides(path: str, name: str) -> None:
    assert choose(path).name == name


@pytest.mark.spec("DATA-READ")
def test_the_name_decides_before_the_suffix() -> None:
    assert choose("a.csv", "lines").name == "lines"
    with pytest.raises(
        UnknownFormat, match=r"^there is no format 'xls'; there are: csv, tsv, arff, jsonl"
    ):
        choose("a.csv", "xls")


@pytest.mark.spec("DATA-READ")
@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"x,y\n1,2\n3,4\n", "csv"),
        (b"1 2\n3 4\n", "csv"),
        (b"1\t2\n3\t4\n", "csv"),
        (b"[1, 2]\n", "jsonl"),
        (b'{"a": 1}\n', "jsonl"),
        (b"0 1:2 3:4\n1 2:3\n0 1:7\n", "svmlight"),
    ],
)
def test_the_first_bytes_decide(put: Put, content: bytes, name: str) -> None:
    assert choose(put("a", content)).name == name
    assert choose(put("b.txt", content)).name == name
    assert choose(put("c.gz", gzip.compress(content))).name == name


@pytest.mark.spec("DATA-READ")
def test_a_folder_is_a_folder_whatever_its_name(put: Put, tmp_path: Path) -> None:
    (tmp_path / "a.csv").mkdir()
    put("a.csv/1.txt", b"x")
    assert choose("a.csv").name == "folder"
    assert formats.read("a.csv").ids == ("1.txt",)
    assert formats.plan("a.csv").format == "folder"


def test_no_reader_fits(put: Put) -> None:
    with pytest.raises(UnknownFormat) as caught:
        choose(put("a.txt", b"some words of a text\nand more words\n"))
    assert str(caught.value).startswith(
        "cannot tell the format of a.txt from its name or its first bytes; it looks most like "
        "lines; name one of: csv, tsv, arff, jsonl"
    )
    with pytest.raises(UnknownFormat, match=r"of b from its name or its first bytes; name one of"):
        choose(put("b", b"\x00\x01\x02"))
    with pytest.raises(EmptyFile, match=r"^c is empty$"):
        choose(put("c", b""))
    with pytest.raises(FileNotReadable, match=r"^cannot read d: no such file or directory$"):
        choose("d")
    with pytest.raises(FileNotReadable, match=r"^cannot read d\.csv: no such file or directory$"):
        formats.read("d.csv")


@pytest.mark.spec("DATA-READ")
def test_the_surest_reader_is_taken_and_the_first_of_equals(put: Put) -> None:
    path = put("a", b"x")
    known = [reader("p", 0.5), reader("q", 0.7), reader("r", 0.7), reader("s", 0.2, ".s")]
    assert choose(path, readers=known).name == "q"
    assert choose(path, readers=known[:1]).name == "p"
    assert choose("a.s", readers=known).name == "s"
    with pytest.raises(UnknownFormat, match="it looks most like s; name one of: s"):
        choose(path, readers=known[3:])


@pytest.mark.spec("DATA-READ")
def test_standard_input_is_peeked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    for content, name in ((b"[1, 2]\n", "jsonl"), (b"some words\n", "csv"), (b"", "csv")):
        stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(content)))
        monkeypatch.setattr(sys, "stdin", stdin)
        assert choose("-").name == name
        with source.opened("-") as stream:  # nothing of it is lost
            assert stream.read() == content
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1,2\n")))  # cannot peek
    assert formats.read("-").row(0) == (1.0, 2.0)
    monkeypatch.setattr(sys, "stdin", None)
    assert choose("-").name == "csv"
    with pytest.raises(FileNotReadable, match="cannot read standard input: it is closed"):
        formats.read("-")


def test_head_never_fails(put: Put, tmp_path: Path) -> None:
    packed = gzip.compress(b"1,2\n" * 100_000, mtime=0)
    assert formats.head(put("a.gz", packed)) == (b"1,2\n" * 100_000)[:65536]
    assert formats.head(put("b.gz", packed[:20])) == b""
    assert formats.head(put("c.gz", b"plain")) == b""
    assert formats.head(str(tmp_path)) == b""
    assert formats.head("missing") == b""
    assert formats.head("nul\0") == b""


def test_options_that_cannot_be_used_are_refused() -> None:
    formats.check_options("x", Options(), ())
    formats.check_options("x", Options(header=False), ("header",))
    with pytest.raises(BadOption) as caught:
        formats.check_options("x", Options(header=False), ("columns", "base"))
    assert str(caught.value) == (
        "the format x cannot use the option header; it takes base, columns"
    )


@pytest.mark.spec("DATA-READ")
@given(st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.6, 1.0]), min_size=1, max_size=6))
def test_choice_by_scores(scores: list[float]) -> None:
    known = [reader(str(i), score) for i, score in enumerate(scores)]
    if max(scores) < 0.5:
        with pytest.raises(UnknownFormat):
            choose(__file__, readers=known)
    else:
        assert choose(__file__, readers=known).name == str(scores.index(max(scores)))
