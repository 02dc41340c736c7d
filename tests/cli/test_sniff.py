"""``refclust sniff`` and ``refclust formats``: how a file would be read, and what can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from refclust.cli.options.complete import complete_format, complete_written
from refclust.data.readers.formats import builtin
from tests.backends.test_formats import READER, fresh
from tests.cli.conftest import Cli

TABLE = "x,y,kind\n1,2,u\n3,4,v\n"


def test_a_file_that_can_be_read(cli: Cli) -> None:
    Path("t.csv").write_text(TABLE, encoding="utf-8")
    done = cli("sniff", "t.csv", "--label-column", "kind")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "t.csv"
    assert "delimiter  comma" in lines
    assert "read       2 rows, 2 features, dense" in lines
    assert "classes    2: u, v" in lines
    assert lines[-1] == "it can be read"
    place = lines.index("the first 2 rows")
    assert lines[place + 1 : place + 4] == ["  label  x  y", "  u      1  2", "  v      3  4"]


def test_a_file_that_cannot_be_read(cli: Cli) -> None:
    Path("t.csv").write_text(TABLE, encoding="utf-8")
    done = cli("sniff", "t.csv")
    assert (done.code, done.err) == (3, "")
    last = done.out.splitlines()[-1]
    assert last.startswith("it cannot be read: t.csv:2: column 3 ('kind') is 'u'")
    assert last.endswith("[bad-cell]")
    assert done.out.count("t.csv:2:") == 1
    answer = cli("sniff", "t.csv", "--json").json()
    assert (answer["readable"], answer["error"]["code"], answer["rows"]) == (
        False,
        "bad-cell",
        None,
    )
    assert answer["format"] == "csv"


def test_json(cli: Cli) -> None:
    Path("t.csv").write_text(TABLE, encoding="utf-8")
    done = cli("sniff", "t.csv", "--label-column", "kind", "--json")
    answer = done.json()
    assert answer["schema"] == "refclust-sniff/1"
    assert (answer["readable"], answer["format"], answer["kind"]) == (True, "csv", "dense")
    assert (answer["rows"], answer["features"], answer["error"]) == (2, 2, None)
    assert answer["facts"]["delimiter"] == "comma"
    assert answer["first"][1] == {"id": "1", "label": "v", "row": [3.0, 4.0]}
    assert len(answer["digest"]) == 64


def test_sparse_rows(cli: Cli) -> None:
    Path("t.svm").write_text("1 1:2 3:0.5\n2 2:1\n", encoding="utf-8")
    done = cli("sniff", "t.svm", "--base", "1")
    assert done.code == 0
    assert "  2 rows, 3 features, sparse\n" in done.out
    assert "  3, 50% of the cells\n" in done.out
    first = cli("sniff", "t.svm", "--base", "1", "--json").json()["first"]
    assert [list(one["row"].values()) for one in first] == [[2.0, 0.5], [1.0]]


def test_standard_input(cli: Cli) -> None:
    done = cli("sniff", "-", "--label-column", "kind", stdin=TABLE.encode())
    assert done.code == 0
    assert done.out.startswith("standard input\n\nformat     csv (dense)\n")
    assert "\nread       2 rows, 2 features, dense\n" in done.out


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("t.dat", b"\x00\x01\x02", "unknown-format"),
        ("t.csv", b"", "empty-file"),
        ("t.csv", b"a,b\n\xff,1\n", "not-text"),
        ("t.npy", b"no", "bad-file"),
    ],
)
def test_unreadable_is_always_3(cli: Cli, name: str, content: bytes, code: str) -> None:
    Path(name).write_bytes(content)
    done = cli("sniff", name)
    assert done.code == 3
    assert done.out.splitlines()[-1].endswith(f"[{code}]")
    assert done.err == ""


def test_what_says_nothing_about_the_content_is_an_error(cli: Cli) -> None:
    done = cli("sniff", "missing.csv")
    assert (done.code, done.out) == (3, "")
    assert done.err.endswith("[file-not-found]\n")
    Path("t.csv").write_text(TABLE, encoding="utf-8")
    done = cli("sniff", "t.csv", "--base", "1")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("[bad-option]\n")


def test_completion() -> None:
    assert [name for name, _ in complete_format("np")] == ["npy", "npz"]
    assert complete_written("ma") == ["matrixmarket"]


def test_formats(cli: Cli) -> None:
    done = cli("formats")
    assert (done.code, done.err) == (0, "")
    listed = [line.split()[0] for line in done.out.splitlines()[1:] if line]
    assert listed[:-1] == [reader.name for reader in builtin()]
    answer = cli("formats", "--json").json()
    assert answer["schema"] == "refclust-formats/1"
    assert [one["name"] for one in answer["formats"]] == listed[:-1]
    written = {one["name"] for one in answer["formats"] if one["written"]}
    assert {"csv", "npy", "svmlight"} <= written


def test_formats_of_plugins(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFCLUST_DISABLE_PLUGINS", "0")
    with fresh(tmp_path, goodreader=READER, nobody="import no_such_library"):
        done = cli("formats")
        Path("one.stars").write_text("***\n*\n", encoding="utf-8")
        sniffed = cli("sniff", "one.stars")
        fitted = cli("fit", "kmeans", "one.stars", "-k", "2", "--json")
    assert done.code == 0
    assert "rows of stars (goodreader 1.2.3)" in done.out
    assert "failed: ModuleNotFoundError: No module named 'no_such_library'" in done.out
    assert sniffed.code == 0
    assert "format  stars (dense)" in sniffed.out
    assert fitted.json()["format"] == "stars"
