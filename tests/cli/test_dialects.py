"""Files of other places and packings on the command line."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
from pathlib import Path

import pytest

from refclust.cli.output import ReadingLine
from refclust.data.readers.formats import read
from refclust.notes import watch
from tests.cli.conftest import Cli


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


EXPORT = "Kunde;Größe;Umsatz;Art\r\n" + "".join(
    f"K{i};{i % 5},5;{1000 * (i % 2) + i},25;{'groß' if i % 2 else 'klein'}\r\n" for i in range(12)
)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_standard_input(cli: Cli, pack: object) -> None:
    done = cli("convert", "-", "-", "--to", "csv", stdin=pack(b"x,y\n1,2\n"))  # type: ignore[operator]
    assert (done.code, done.out) == (0, "x,y\n1.0,2.0\n")
    for name in ("a.csv.bz2", "a.csv.xz"):
        assert cli("convert", "-", name, stdin=pack(b"x,y\n1,2\n")).code == 0  # type: ignore[operator]
        assert cli("convert", name, "-", "--to", "csv").out == "x,y\n1.0,2.0\n"


def test_an_export_of_a_german_spreadsheet(cli: Cli) -> None:
    Path("export.csv").write_bytes(EXPORT.encode("cp1252"))
    asked = ("--id-column", "Kunde", "--label-column", "Art", "--encoding", "cp1252")
    done = cli(
        "fit", "kmeans", "export.csv", "-k", "2", *asked, "--labels", "l.csv", "-o", "m.json"
    )
    assert done.code == 0, done.err
    assert "adjusted_rand  ↑ 1.0" in done.out
    Path("new.csv").write_bytes(EXPORT.encode("cp1252"))
    again = cli("predict", "m.json", "new.csv")  # its encoding is known from the model
    assert again.out == Path("l.csv").read_text("utf-8")
    truth = ("export.csv:Art", "l.csv", "--id-column", "Kunde", "-m", "ari")
    refused = cli("score", *truth)
    assert refused.code == 3
    assert "--encoding cp1252 [not-text]" in refused.err
    scored = cli("score", *truth, "--encoding", "cp1252")
    assert (scored.code, scored.out.splitlines()[-1]) == (0, "  adjusted_rand  ↑ 1.0  = 1")


def test_reading_is_told_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        line = ReadingLine()
        line("a.csv", 1, 4_000_000)
        assert stream.getvalue() == ""  # the first second is silent
        monkeypatch.setattr(line, "_next", 0.0)
        line("a.csv", 2_000_000, 4_000_000)
        line("a.csv", 3_000_000, 4_000_000)  # a moment later: not worth it
        said = "\rreading a.csv: 2 of 4 MB, 50%"
        assert stream.getvalue() == (said if shown else "")
        line("a.csv", None, None)
        blank = " " * (len(said) - 1)
        assert stream.getvalue() == (f"{said}\r{blank}\r" if shown else "")
        line("b.csv", 0, 500_000_000)  # another library reads
        assert stream.getvalue().endswith("reading b.csv: 0 of 500 MB, 0%" if shown else "")


def test_whoever_reads_tells_how_far(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x\n" + "1.5\n" * 600_000, encoding="utf-8")
    seen: list[tuple[int | None, int | None]] = []
    watch(lambda _, done, size: seen.append((done, size)))
    assert read(str(path)).n == 600_000
    watch(None)
    size = path.stat().st_size
    steps = [done for done, _ in seen if done is not None]
    assert steps == sorted(steps)
    assert (len(steps) > 2, steps[-1], seen[-1]) == (True, size, (None, None))


def test_a_workbook_without_the_distribution_that_reads_it(cli: Cli) -> None:
    Path("a.xlsx").write_bytes(b"PK\x03\x04 and more")
    done = cli("fit", "kmeans", "a.xlsx", "-k", "2")
    assert done.code == 2
    assert "the distribution refclust-arrow reads it; name one of: csv, " in done.err
