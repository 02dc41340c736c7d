"""Tables of counts drawn in a terminal."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from refclust.cli.show.scores.shading import BLOCKS, SIGNS, drawn, shaded
from refclust.metrics.contingency import Contingency
from tests.cli.conftest import Cli

GRID = Contingency.of_rows([[8, 0], [5, 3], [1, 7]]).grid()


def test_shades_are_shares_of_the_row() -> None:
    assert list(shaded(GRID, BLOCKS)) == [
        "        0     1   Σ",
        "  0  ██ 8     0   8",
        "  1  ▓▓ 5  ▒▒ 3   8",
        "  2  ░░ 1  ██ 7   8",
        "  Σ    14    10  24",
    ]


def test_where_shades_change() -> None:
    eighths = Contingency.of_rows([[n, 8 - n] for n in range(1, 9)])
    lines = list(shaded(eighths.grid(), BLOCKS))[1:-1]
    assert [line.split()[1] for line in lines] == ["░░", "░░", "▒▒", "▒▒", "▓▓", "▓▓", "██", "██"]
    little = list(shaded(Contingency.of_rows([[1, 15]]).grid(), BLOCKS))[1]
    assert little.split()[1] == "░░"  # little is not nothing


def test_signs_where_there_are_no_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    monkeypatch.delenv("COLUMNS", raising=False)
    assert list(drawn(Contingency.of_rows([[8, 0], [5, 3], [1, 7]]))) == [
        "rows are clusters, columns are classes",
        "          0     1  sum",
        "  0    ## 8     0    8",
        "  1    ++ 5  :: 3    8",
        "  2    .. 1  ## 7    8",
        "  sum    14    10   24",
        "  shade by share of the row: .. :: ++ ##",
    ]
    assert len(SIGNS) == len(BLOCKS)


def test_a_narrow_terminal_continues_below() -> None:
    lines = list(shaded(GRID, BLOCKS, most=16))
    assert lines == [
        "        0   Σ",
        "  0  ██ 8   8",
        "  1  ▓▓ 5   8",
        "  2  ░░ 1   8",
        "  Σ    14  24",
        "",
        "        1   Σ",
        "  0     0   8",
        "  1  ▒▒ 3   8",
        "  2  ██ 7   8",
        "  Σ    10  24",
    ]


def test_many_classes_are_told_in_words() -> None:
    table = Contingency.of_rows([[int(i == j) for j in range(16)] for i in range(16)])
    assert list(drawn(table)) == ["16 rows and 16 columns: too many to draw"]


def test_long_and_hostile_names(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    Path("t.txt").write_text(f"a\x1b[1m\n{'long name ' * 5}\n", encoding="utf-8")
    done = cli("score", "t.txt", "t.txt", "-m", "purity", "--draw")
    assert "a\\x1b[1m" in done.out
    assert "long name long name lon…" in done.out
    assert max(map(len, done.out.splitlines())) < 90
