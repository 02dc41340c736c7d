"""The command line, run inside the test process: exit code, stdout and stderr."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from refclust.cli.app import run

TRUE = list("xxxxxoxoooodxxddd")
PRED = list("11111122222233333")


@dataclass(frozen=True, slots=True)
class Done:
    """How a run ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """What was printed, which must be one JSON value and nothing else."""
        return json.loads(self.out)


Cli = Callable[..., Done]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command in a folder that holds the example, as labels and as a table."""
    monkeypatch.chdir(tmp_path)
    for name in ("REFCLUST_BACKEND", "REFCLUST_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("REFCLUST_DISABLE_PLUGINS", "1")
    Path("true.txt").write_text("\n".join(TRUE) + "\n", encoding="utf-8")
    Path("pred.txt").write_text("\n".join(PRED) + "\n", encoding="utf-8")
    rows = zip(TRUE, PRED, strict=True)
    Path("both.csv").write_text(
        "id,species,cluster\n" + "".join(f"{i},{t},{p}\n" for i, (t, p) in enumerate(rows)),
        encoding="utf-8",
    )
    Path("table.csv").write_text("5,1,0\n1,4,1\n2,0,3\n", encoding="utf-8")

    def call(*arguments: str, stdin: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = run(list(arguments))
        printed = capsys.readouterr()
        return Done(code, printed.out, printed.err)

    return call
