"""``refclust bench`` as the installed entry point gives it, run inside the test process."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Bench, Done

from refclust.cli.app import run


@pytest.fixture
def bench(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Bench:
    """Call the command in an empty folder, whatever the environment says."""
    monkeypatch.chdir(tmp_path)
    for name in ("REFCLUST_BACKEND", "REFCLUST_DEBUG", "REFCLUST_DISABLE_PLUGINS"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str) -> Done:
        code = run(["bench", *arguments])
        printed = capsys.readouterr()
        return Done(code, printed.out, printed.err)

    return call
