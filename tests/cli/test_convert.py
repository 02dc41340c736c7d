"""``refclust convert``: the same doubles in another format, and what is lost is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from refclust.backends.plugins.formats import ReadArguments, read
from refclust.data.dataset import Dataset
from tests.cli.conftest import Cli

TABLE = "id,x,y,label\na,0.1,1e-300,u\nb,-0.0,2,v\nc,0,12345678901234567,u\n"
ROLES = ("--id-column", "id", "--label-column", "label")
OPTIONS: ReadArguments = {"id_column": "id", "label_column": "label"}


@pytest.fixture(autouse=True)
def _table(cli: Cli) -> None:
    assert callable(cli)
    Path("t.csv").write_text(TABLE, encoding="utf-8")


def original() -> Dataset:
    return read("t.csv", **OPTIONS)


@pytest.mark.parametrize("target", ["o.npy", "o.npz", "o.mtx", "o.mtx.gz", "o.jsonl", "o.npy.gz"])
def test_numbers_stay_the_same(cli: Cli, target: str) -> None:
    done = cli("convert", "t.csv", target, *ROLES)
    assert (done.code, done.out) == (0, "")
    first, second = done.err.splitlines()
    assert first.startswith(f"refclust: wrote {target}: 3 rows, 2 features, csv to ")
    assert second.endswith(
        "has no place for ids and names of features and labels; they are left out"
    )
    assert [*read(target).rows()] == [*original().rows()]


@pytest.mark.parametrize("target", ["o.tsv", "o.csv.gz"])
def test_everything_stays_in_a_table(cli: Cli, target: str) -> None:
    done = cli("convert", "t.csv", target, *ROLES)
    assert done.err.count("\n") == 1
    found, due = read(target, **OPTIONS), original()
    assert found.digest() == due.digest()
    assert (found.ids, found.features, found.labels) == (due.ids, due.features, due.labels)


def test_labels_stay_in_svmlight(cli: Cli) -> None:
    done = cli("convert", "t.csv", "-", "--to", "svmlight", *ROLES)
    assert done.code == 0
    assert done.out.splitlines()[1] == "v 2:2"
    assert done.err == (
        "refclust: svmlight has no place for ids and names of features; they are left out\n"
    )


def test_pipes(cli: Cli) -> None:
    done = cli("convert", "-", "-", "--to", "tsv", *ROLES, stdin=TABLE.encode())
    assert done.out == TABLE.replace(",", "\t").replace("2\tv", "2.0\tv").replace(
        "c\t0\t12345678901234567", "c\t0.0\t1.2345678901234568e+16"
    )
    assert done.err == ""


def test_json(cli: Cli) -> None:
    done = cli("convert", "t.csv", "o.npy", *ROLES, "--json")
    assert done.json() == {
        "schema": "refclust-convert/1",
        "rows": 3,
        "features": 2,
        "from": "csv",
        "to": "npy",
        "lost": ["ids", "features", "labels"],
        "file": "o.npy",
    }


def test_texts_become_counts(cli: Cli) -> None:
    Path("texts.txt").write_text("a cat a dog\ncat\n", encoding="utf-8")
    done = cli("convert", "texts.txt", "-", "--to", "jsonl", "--format", "lines")
    assert done.out.splitlines() == [
        '{"id": "1", "a": 2.0, "cat": 1.0, "dog": 1.0}',
        '{"id": "2", "cat": 1.0}',
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "ending"),
    [
        (("t.csv", "o.xls", *ROLES), 2, "[unknown-format]"),
        (("t.csv", "-", *ROLES), 2, "[unknown-format]"),
        (("t.csv", "o.npy", "--to", "xls"), 2, "[unknown-format]"),
        (("t.csv", "t.csv", "--force", *ROLES), 2, "[bad-option]"),
        (("t.csv", "there.csv", *ROLES), 3, "[exists]"),
        (("missing.csv", "there.csv"), 3, "[exists]"),
        (("missing.csv", "o.csv"), 3, "[file-not-found]"),
        (("t.csv", "no/o.csv", *ROLES), 3, "[file-not-found]"),
        (("t.csv", "-", "--to", "csv", "--json"), 2, '"bad-option"'),
        (("words.jsonl", "o.csv"), 2, "[bad-option]"),
        (("words.jsonl", "-", "--to", "csv"), 2, "[bad-option]"),
    ],
)
def test_refused(cli: Cli, arguments: tuple[str, ...], code: int, ending: str) -> None:
    Path("there.csv").write_text("mine", encoding="utf-8")
    Path("words.jsonl").write_text('{"cat": 1}\n', encoding="utf-8")
    before = sorted(path.name for path in Path().iterdir())
    done = cli("convert", *arguments)
    assert (done.code, done.out) == (code, "")
    assert ending in done.err
    assert done.err.count("\n") == 1
    assert sorted(path.name for path in Path().iterdir()) == before
    assert Path("there.csv").read_text(encoding="utf-8") == "mine"


def test_force(cli: Cli) -> None:
    Path("o.tsv").write_text("mine", encoding="utf-8")
    assert cli("convert", "t.csv", "o.tsv", *ROLES, "--force").code == 0
    assert Path("o.tsv").read_text(encoding="utf-8").startswith("id\tx\ty\tlabel\n")
