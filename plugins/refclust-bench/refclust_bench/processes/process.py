"""Child processes of the benchmark, as the parent sees them: asked, waited for, ended."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from typing import Any, Final, Protocol

_START: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from refclust_bench.processes.child import main; main()"
)
_THREADS: Final = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
    "REFCLUST_THREADS",
)


class Ended(Exception):
    """A child died, or took longer than it may and was ended; the text says which."""


class TookTooLong(Ended):
    """A child did not answer in time."""


class Askable(Protocol):
    """Whatever answers requests as a child does."""

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Return the answer; raises ``Ended`` if there is none within the time."""

    def close(self) -> None:
        """End it; nothing is asked any more."""


class Child:
    """A Python process with a fixed number of threads that answers requests."""

    def __init__(self, threads: int) -> None:
        environment = {**os.environ, **dict.fromkeys(_THREADS, str(threads))}
        environment.pop("REFCLUST_BACKEND", None)
        # A session of its own: an interrupt at the terminal is the parent's to handle.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the child)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(ValueError, OSError):  # closed while it was read
            for line in self._process.stdout:
                self._lines.put(line)
        self._lines.put("")

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Return the answer; raises ``Ended`` if there is none within the time."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it died: the end of its lines tells so below
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            self.close()
            raise TookTooLong(f"no result within {seconds:g} s") from None
        if not line:
            self._lines.put("")  # whoever asks again must not wait
            raise Ended(self._last_words())
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self._process.kill()  # one that only closed its output
        code = self._process.wait()
        death = f"the process died with code {code}"
        with contextlib.suppress(OSError, ValueError):
            self._errors.seek(0)
            lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
            return f"{death}: {lines[-1][:300]}" if lines else death
        return death

    def close(self) -> None:
        """End the process at once; there is nothing it could lose."""
        self._process.kill()
        self._process.wait()
        self._reader.join(5)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._errors.close()
