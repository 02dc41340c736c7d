"""What tests of files share."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from refclust.data.files import source

Put = Callable[[str, bytes], str]


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Put:
    """Write a file into an empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, content: bytes) -> str:
        Path(name).write_bytes(content)
        return name

    return write


@contextmanager
def piped(content: bytes) -> Iterator[str]:
    """The path of a pipe through which the content comes, as the shell's ``<(…)`` gives it."""
    out, into = os.pipe()

    def feed() -> None:
        # A reader may refuse the rest.
        with suppress(BrokenPipeError), os.fdopen(into, "wb") as stream:
            stream.write(content)

    thread = threading.Thread(target=feed)
    thread.start()
    try:
        yield f"/dev/fd/{out}"
    finally:
        source.forget()
        os.close(out)
        thread.join()
