"""Files that describe the same objects, on the command line: rows meet by their ids (DATA-PAIR)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli

pytestmark = pytest.mark.usefixtures("shuffled")


@pytest.fixture
def shuffled(tmp_path: Path) -> None:
    """The truth in one order, and clusters, weights and probabilities in others."""
    (tmp_path / "t.csv").write_text("id,y,w\n1,p,1\n2,p,1\n3,q,1\n4,q,5\n5,q,1\n", encoding="utf-8")
    (tmp_path / "p.csv").write_text("id,cluster\n5,1\n4,0\n3,1\n2,0\n1,0\n", encoding="utf-8")
    (tmp_path / "w.csv").write_text("weight,id\n5,4\n1,1\n1,2\n1,3\n1,5\n", encoding="utf-8")
    (tmp_path / "x.csv").write_text("id,x\n4,0\n5,9\n1,1\n2,2\n3,8\n", encoding="utf-8")
    (tmp_path / "sorted.csv").write_text(
        "id,y,cluster,w\n1,p,0,1\n2,p,0,1\n3,q,1,1\n4,q,0,5\n5,q,1,1\n", encoding="utf-8"
    )


def test_score_pairs_by_ids(cli: Cli) -> None:
    due = cli("score", "sorted.csv", "--column-true", "y", "--column-pred", "cluster", "-m", "nmi")
    done = cli("score", "t.csv:y", "p.csv", "-m", "nmi")
    assert (done.code, done.out) == (0, due.out)
    assert done.err == (
        "refclust: p.csv: rows are brought to the order of t.csv (column y) by their ids\n"
    )
    by_order = cli("score", "t.csv:y", "p.csv", "-m", "nmi", "--id-column", "")
    assert by_order.out != due.out
    assert by_order.err == ""


def test_weights_and_answers_meet_by_ids(cli: Cli) -> None:
    columns = ("--column-true", "y", "--column-pred", "cluster")
    due = cli("score", "sorted.csv", *columns, "--weights", "sorted.csv:w", "-m", "ari")
    assert cli("score", "t.csv:y", "p.csv", "--weights", "w.csv:weight", "-m", "ari").out == due.out
    answers = cli("compare", "t.csv:y", "t.csv:y", "p.csv:cluster")
    assert answers.code == 0
    assert "2 classifiers, 5 objects" in answers.out


def test_data_and_labels_meet_by_ids(cli: Cli) -> None:
    asked = ("score", "--data", "x.csv", "--id-column", "id", "p.csv", "-m", "wgss")
    done = cli(*asked)
    assert done.code == 0, done.err
    # {1, 2, 4} hold 1, 2, 0 and {3, 5} hold 8, 9: 2 + 1/2.
    assert "2.5" in done.out


@pytest.mark.parametrize("command", [("score",), ("explain", "ari"), ("compare",)])
def test_ids_that_differ_are_refused(cli: Cli, command: tuple[str, ...]) -> None:
    Path("p.csv").write_text("id,cluster\n5,1\n4,0\n3,1\n2,0\n0,0\n", encoding="utf-8")
    more = ("p.csv",) if command == ("compare",) else ()
    done = cli(*command, "t.csv:y", "p.csv", *more)
    assert done.code == 3
    assert done.err.endswith("[id-mismatch]\n")
    assert "such as '1' (row 1), while p.csv has '0'" in done.err


def test_a_column_of_ids_that_no_file_has(cli: Cli) -> None:
    done = cli("score", "t.csv:y", "p.csv", "--id-column", "who")
    assert (done.code, done.err) == (
        3,
        "refclust: no column 'who' for ids in t.csv, p.csv [missing-column]\n",
    )


def test_several_columns_are_several_clusterings(cli: Cli) -> None:
    done = cli("score", "t.csv:y", "sorted.csv", "--column-pred", "y", "--column-pred", "cluster")
    assert done.out.startswith("2 clusterings;")
    both = cli("score", "t.csv:y", "sorted.csv", "t.csv", "--column-pred", "y", "--column-pred=w")
    assert [line.split()[0] for line in both.out.splitlines()[1:5]] == [
        "sorted.csv:y",
        "sorted.csv:w",
        "t.csv:y",
        "t.csv:w",
    ]
    of_rows = cli(
        *("score", "--data", "x.csv", "--id-column", "id", "sorted.csv"),
        *("--column-pred", "y", "--column-pred", "cluster", "-m", "wgss"),
    )
    assert "sorted.csv:y" in of_rows.out
    assert "sorted.csv:cluster" in of_rows.out
