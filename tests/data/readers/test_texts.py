"""Folders of texts, one document a line, and lists of words."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refclust.data.readers.formats import Options
from refclust.data.readers.texts import (
    folder_corpus,
    lines_corpus,
    plan_folder,
    plan_lines,
    read_folder,
    read_lines,
    sniff_folder,
    sniff_lines,
)
from refclust.data.readers.words import read_words
from refclust.data.text import TextOptions
from refclust.errors import (
    BadFile,
    BadOption,
    EmptyFile,
    EmptyInput,
    FileNotReadable,
    MissingColumn,
    NotText,
    TooLarge,
)
from refclust.limits import limits
from refclust.notes import listen

Put = Callable[[str, bytes], str]


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Put:
    """Write a file into an empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, content: bytes) -> str:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content)
        return name

    return write


@pytest.mark.spec("DATA-FOLDER")
def test_a_folder_is_read_in_order_of_paths(put: Put) -> None:
    put("docs/b/2.txt", b"dog")
    put("docs/b.txt", b"cat dog")
    put("docs/a/z/1.txt.gz", gzip.compress(b"cat cat"))
    put("docs/a/.hidden", b"\xff")
    put("docs/.git/config", b"\xff")
    put("docs/a/0", b"")
    data = read_folder("docs", Options())
    assert data.ids == ("a/0", "a/z/1.txt.gz", "b.txt", "b/2.txt")
    assert data.features == ("cat", "dog")
    assert list(data.rows()) == [{}, {0: 2.0}, {0: 1.0, 1: 1.0}, {1: 1.0}]
    assert data.labels is None
    assert folder_corpus("docs/", Options()).empty == 1
    assert read_folder("docs/", Options()).ids == data.ids


@pytest.mark.spec("DATA-FOLDER")
def test_folders_can_be_labels(put: Put) -> None:
    put("docs/b/2.txt", b"dog")
    put("docs/a/z/1.txt", b"cat")
    data = read_folder("docs", Options(label_column="folder"))
    assert data.labels == ("a", "b")
    put("docs/c.txt", b"cow")
    with pytest.raises(MissingColumn, match=r"c\.txt lies in no folder, which is its label"):
        read_folder("docs", Options(label_column="folder"))


@pytest.mark.spec("DATA-FOLDER")
def test_links_to_folders_are_not_followed(put: Put) -> None:
    put("docs/1.txt", b"dog")
    os.symlink(".", "docs/round", target_is_directory=True)
    os.symlink("1.txt", "docs/2.txt")
    os.symlink("nowhere", "docs/3.txt")
    assert read_folder("docs", Options()).ids == ("1.txt", "2.txt")


@pytest.mark.spec("DATA-FOLDER")
def test_links_out_of_the_folder_are_refused(put: Put) -> None:
    put("docs/a/1.txt", b"dog")
    put("secret.txt", b"cat")
    os.symlink("../a/1.txt", "docs/a/2.txt")
    os.symlink(os.path.abspath("docs/a/2.txt"), "docs/3.txt")
    os.symlink("docs", "linked")
    for folder in ("docs", "linked"):
        assert read_folder(folder, Options()).ids == ("3.txt", "a/1.txt", "a/2.txt")
    put("docs2/1.txt", b"bird")  # its name only begins as that of the folder does
    for target in ("../secret.txt", os.path.abspath("secret.txt"), "../docs2/1.txt"):
        os.symlink(target, "docs/x.txt")
        place = os.path.realpath(os.path.join("docs", target))
        with pytest.raises(BadFile) as caught:
            read_folder("docs", Options())
        assert str(caught.value) == (
            f"docs/x.txt is a link out of the folder, to {place}; put a copy in its place"
        )
        os.unlink("docs/x.txt")


@pytest.mark.spec("DATA-FOLDER")
def test_what_is_no_file_is_never_opened_but_told(put: Put) -> None:
    put("docs/1.txt", b"dog")
    os.mkfifo("docs/pipe")  # to open it would wait for ever
    os.symlink("/dev/zero", "docs/zero")
    os.symlink("round", "docs/round")
    os.symlink("nowhere", "docs/gone")
    heard: list[str] = []
    listen(heard.append)
    try:
        assert read_folder("docs", Options()).ids == ("1.txt",)
    finally:
        listen(None)
    assert heard == ["left out below docs, being no files: gone, pipe, round, zero"]


def test_broken_folders_are_refused(put: Put) -> None:
    put("docs/1.txt", b"dog")
    put("docs/2.bin", b"\x7fELF\x00")
    place = os.path.join("docs", "2.bin")
    with pytest.raises(NotText) as caught:
        read_folder("docs", Options())
    assert str(caught.value).startswith(f"{place}:1: the byte 0x00 at offset 4 is not UTF-8 text")
    Path("empty").mkdir()
    with pytest.raises(EmptyFile, match=r"^the folder empty holds no file, hidden ones left aside"):
        read_folder("empty", Options())
    with pytest.raises(FileNotReadable, match=r"^cannot read the folder"):
        read_folder("missing", Options())
    with pytest.raises(BadOption, match="standard input is not a folder"):
        read_folder("-", Options())
    with pytest.raises(BadOption, match="the label of a file is 'x'; a folder of texts offers fol"):
        read_folder("docs", Options(label_column="x"))
    with pytest.raises(BadOption, match="the format folder cannot use the option id_column"):
        read_folder("docs", Options(id_column="x"))
    put("blank/1.txt", b"...")
    with pytest.raises(EmptyInput, match=r"^the folder \S+: no document holds a word$"):
        read_folder("blank", Options())


@pytest.mark.spec("DATA-FOLDER", "DATA-LIMIT")
@pytest.mark.parametrize("walk", [read_folder, plan_folder])
def test_a_tree_is_counted_while_it_is_walked(put: Put, walk: Callable[..., object]) -> None:
    put("docs/a/1.txt", b"dog")
    put("docs/a/2.txt", b"\xff")  # no text: whoever opened it would say so
    put("docs/.hidden", b"")
    for depth in range(1, 30):
        Path("docs", *["deep"] * depth).mkdir()
    told = "the folder docs goes on beyond 32 files, the limit; refclust --limit files=SIZE"
    with limits(files=32), pytest.raises(TooLarge, match=f"^{told}"):
        walk("docs", Options())
    os.unlink("docs/a/2.txt")
    with limits(files=32):  # a, 1.txt, .hidden and 29 folders
        walk("docs", Options())


def test_a_file_name_that_is_no_text_is_refused(put: Put) -> None:
    put("docs/1.txt", b"dog")
    name = os.fsencode("docs") + b"/\xff.txt"
    with open(name, "wb") as stream:
        stream.write(b"cat")
    with pytest.raises(NotText, match=r"the name of a file below docs is not UTF-8: '\\udcff"):
        read_folder("docs", Options())


@pytest.mark.spec("DATA-LINES")
def test_every_line_is_a_document(put: Put) -> None:
    path = put("a.txt", b"\xef\xbb\xbfThe cat\r\n\r\nthe dog\nthe")
    data = read_lines(path, Options())
    assert data.ids == ("1", "2", "3", "4")
    assert data.features == ("cat", "dog", "the")
    assert list(data.rows()) == [{0: 1.0, 2: 1.0}, {}, {1: 1.0, 2: 1.0}, {2: 1.0}]
    only = TextOptions(vocabulary=("the", "cat"))
    found = lines_corpus(path, Options(text=only))
    assert (found.empty, found.unseen, found.data.features) == (1, 1, ("the", "cat"))


def test_broken_lines_are_refused(put: Put) -> None:
    with pytest.raises(EmptyFile, match=r"^a\.txt is empty; it should hold one document a line$"):
        read_lines(put("a.txt", b""), Options())
    with pytest.raises(EmptyInput, match=r"^\S+: no document holds a word$"):
        read_lines(put("a.txt", b"\n\n"), Options())
    with pytest.raises(NotText, match=r"^a\.txt:2: the byte 0xff at offset 2"):
        read_lines(put("a.txt", b"a\n\xff\n"), Options())
    for options in (Options(label_column="1"), Options(id_column="1"), Options(delimiter=",")):
        with pytest.raises(BadOption, match="the format lines cannot use the option"):
            read_lines("a.txt", options)
    with pytest.raises(EmptyFile):
        plan_lines(put("a.txt", b""), Options())


@pytest.mark.spec("DATA-LINES")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.sampled_from("ab \t,"), max_size=6), min_size=1, max_size=6))
def test_line_i_is_row_i(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "lines.txt"
    path.write_text("".join(f"{line}\n" for line in lines), newline="")
    if not any(set(line) & set("ab") for line in lines):
        with pytest.raises(EmptyInput):
            read_lines(str(path), Options())
        return
    data = read_lines(str(path), Options())
    assert data.ids == tuple(str(i + 1) for i in range(len(lines)))
    for line, row in zip(lines, data.rows(), strict=True):
        words = line.replace(",", " ").split()
        assert isinstance(row, dict)
        assert {data.feature_name(j): v for j, v in row.items()} == {
            w: words.count(w) for w in words
        }


@pytest.mark.spec("DATA-FOLDER")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sets(st.text("ab-Z.", min_size=1, max_size=4), min_size=1, max_size=5))
def test_documents_are_in_code_point_order(
    tmp_path_factory: pytest.TempPathFactory, names: set[str]
) -> None:
    folder = tmp_path_factory.mktemp("documents")
    kept = sorted(name for name in names if not name.startswith("."))
    for name in names - {".", ".."}:
        (folder / name).write_text(f"word {name}")
    if kept:
        assert read_folder(str(folder), Options()).ids == tuple(kept)
    else:
        with pytest.raises(EmptyFile):
            read_folder(str(folder), Options())


def test_sniffs(put: Put) -> None:
    path = put("docs/1.txt", b"some words of a text\n")
    assert (sniff_folder("docs"), sniff_folder(path), sniff_folder("-")) == (1.0, 0.0, 0.0)
    assert (sniff_lines(path), sniff_lines("docs")) == (0.3, 0.0)
    assert sniff_lines(put("a", b"1 2 3\n")) == 0.05
    assert sniff_lines(put("b", b"a\x00")) == 0.0
    assert sniff_lines(put("c", b"a\xffbc")) == 0.0


def test_plans(put: Put) -> None:
    put("docs/x/1.txt", b"some words")
    put("docs/y/1.txt", b"some words")
    told = plan_folder("docs", Options())
    assert (told.format, told.kind) == ("folder", "text")
    assert told.facts == (
        ("documents", "2"),
        ("ids", "paths: x/1.txt, y/1.txt"),
        ("case", "folded"),
        ("values", "counts"),
    )
    assert told.notes == ("there are 2 folders (x, y); --label-column folder takes them as labels",)
    told = plan_folder("docs", Options(label_column="folder"))
    assert told.facts[2] == ("labels", "2: x, y")
    assert told.notes == ()
    text = TextOptions(lowercase=False, stop_words=frozenset(["the"]), tfidf=True)
    told = plan_lines(put("a.txt", b"The cat\n\n"), Options(text=text))
    assert told.facts == (
        ("ids", "line numbers from 1"),
        ("first words", "The, cat"),
        ("case", "kept"),
        ("words left out", "1"),
        ("values", "tf-idf"),
    )
    assert told.notes == ("1 of the first 2 lines hold no word",)


@pytest.mark.spec("DATA-TEXT")
def test_lists_of_words(put: Put) -> None:
    path = put("stop.txt", "# common words\nThe\n  and # comment\r\n\nSTRASSE\ndon’t\nthe".encode())
    assert read_words(path) == ("the", "and", "strasse", "don't")
    assert read_words(path, lowercase=False) == ("The", "and", "STRASSE", "don't", "the")
    assert read_words(put("cr.txt", b"# common\rthe\rand # comment\ror\r")) == ("the", "and", "or")
    with pytest.raises(BadFile, match=r"^a:2: 'e\.g\.' is not one word: it reads as e, g$"):
        read_words(put("a", b"x\ne.g.\n"))
    with pytest.raises(BadFile, match=r"^a:1: '!' is not one word: it holds no letter and no num"):
        read_words(put("a", b"!\n"))
    with pytest.raises(EmptyFile, match=r"^a holds no word; it should hold one a line$"):
        read_words(put("a", b"# nothing\n"))


def test_names_that_nobody_sees_are_shown(put: Put) -> None:
    put("data/\ufffe", b"a word")
    with pytest.raises(
        MissingColumn, match=r"^data/\\ufffe lies in no folder, which is its label$"
    ):
        read_folder("data", Options(label_column="folder"))
