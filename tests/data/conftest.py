"""What tests of files share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Put = Callable[[str, bytes], str]


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Put:
    """Write a file into an empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, content: bytes) -> str:
        Path(name).write_bytes(content)
        return name

    return write
