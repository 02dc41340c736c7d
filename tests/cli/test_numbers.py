"""Numbers without end on the command line: one clear line, a code, and soon."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli

KEYS = ("-m", "purity")


@pytest.mark.spec("NUM-TEXT")
@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("1e1000000000", "too-large"),
        ("1e-1000000000", "too-large"),
        ("1e0000000001000000000", "too-large"),
        ("9" * 10_001, "too-large"),
        ("1e1_000_000_000", "bad-table"),
        ("１ｅ９９９９９９９９９", "bad-table"),
    ],
)
@pytest.mark.parametrize("name", ["t.csv", "t.json"])
def test_cells_without_end(cli: Cli, cell: str, code: str, name: str) -> None:
    rows = f"1,2\n3,{cell}\n" if name == "t.csv" else f'[[1, 2], [3, "{cell}"]]'
    Path(name).write_text(rows, encoding="utf-8")
    done = cli("score", "--table", name, *KEYS)
    place = "t.csv:2, column 2" if name == "t.csv" else "t.json, row 2, column 2"
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith(f"refclust: {place}: the cell ")
    assert done.err.endswith(f"[{code}]\n")
    assert done.err.count("\n") == 1


@pytest.mark.spec("NUM-TEXT")
@pytest.mark.parametrize("cell", ["1e9000", "1/" + "9" * 9000])
@pytest.mark.parametrize("more", [(), ("--json",), ("-v",)])
def test_long_cells_are_shown(cli: Cli, cell: str, more: tuple[str, ...]) -> None:
    Path("t.csv").write_text(f"1,2\n3,{cell}\n")
    done = cli("score", "--table", "t.csv", *KEYS, *more)
    assert done.code == 0, done.err
    assert cli("explain", "purity", "--table", "t.csv").code == 0


@pytest.mark.spec("NUM-TEXT", "CONV-SCORE")
def test_metrics_that_are_beyond_reach_are_left_out(cli: Cli) -> None:
    Path("t.csv").write_text("1,2\n3,1e9000\n")
    told = cli("score", "--table", "t.csv", "--json").json()
    assert told["n"] == "1" + "0" * 8999 + "6"
    reasons = {one["key"]: one["reason"] for one in told["left_out"]}
    assert reasons["mirkin"].endswith("[not-finite]")
    assert reasons["ami"].endswith("[too-large]")
    assert {"purity", "adjusted_rand"} <= {one["key"] for one in told["scores"]}


@pytest.mark.spec("NUM-TEXT")
@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("mutual_information[base=1e999999999]", 3),
        ("v_measure[beta=1e-999999999]", 3),
        ("pair_f[beta=1_0]", 2),
        ("mutual_information[base=１０]", 2),
        ("mutual_information[base=1e9000]", 0),
    ],
)
def test_options_of_metrics(cli: Cli, key: str, code: int) -> None:
    assert cli("score", "--table", "table.csv", "-m", key).code == code
    assert cli("explain", key, "--table", "table.csv").code == code


@pytest.mark.spec("NUM-TEXT")
@pytest.mark.parametrize(
    ("bound", "code"), [("1e999999999", "too-large"), ("1_0", "bad-option"), ("３", "bad-option")]
)
def test_document_frequencies(cli: Cli, bound: str, code: str) -> None:
    Path("texts.jsonl").write_text('{"text": "a b"}\n{"text": "b c"}\n')
    done = cli(
        "fit", "kmeans", "texts.jsonl", "-k", "1", "--text-column", "text", "--min-df", bound
    )
    assert done.err.startswith(f"refclust: --min-df '{bound}'")
    assert done.err.endswith(f"[{code}]\n")
