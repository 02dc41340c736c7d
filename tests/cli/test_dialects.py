"""Files of other places and packings on the command line."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

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
