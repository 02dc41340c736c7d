"""What the first call of a backend costs: imports and compilation, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from array import array
from dataclasses import dataclass
from typing import Any, Final

from refclust.backends.plugins import discovery
from refclust.backends.protocol import Backend, Estimate, Problem
from refclust.data.dataset import dense
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.contingency import LabelPairs

PATIENCE: Final = 5.0  # a backend that expects to compile for longer is believed, not waited for
_LIMIT: Final = 60.0
# What to call, the kernel that most backends are for first: its data, further arguments, the size.
_CALLS: Final[dict[str, tuple[Any, tuple[Any, ...], Problem]]] = {
    "kmeans.lloyd_step": (
        dense(array("d", range(64)), 2),
        (CentreMatrix.of([(0.0, 1.0), (40.0, 41.0)]), None, "euclidean"),
        Problem("dense", 32, 64, 2),
    ),
    "contingency.table": (LabelPairs([0, 1, 1], [0, 0, 1]), (), Problem("labels", 3)),
}


@dataclass(frozen=True, slots=True)
class FirstCall:
    """Seconds of the first and of the second call of a kernel; without a second, an estimate."""

    kernel: str
    seconds: float
    again: float | None

    def __str__(self) -> str:
        if self.again is None:
            return f"about {self.seconds:.0f} s, compiling once"
        return f"{self.seconds:.2f} s, then {self.again * 1e3:.2f} ms"


def first_call(backend: Backend) -> FirstCall | None:
    """Measure the first call of a backend; nothing if it has no kernel to try, or fails."""
    kernel = next((name for name in _CALLS if name in backend.kernels()), None)
    if kernel is None:
        return None
    expected = backend.supports(kernel, _CALLS[kernel][2])
    if isinstance(expected, Estimate) and PATIENCE < expected.seconds < float("inf"):
        return FirstCall(kernel, expected.seconds, None)
    code = f"from {__name__} import main; main({backend.name!r}, {kernel!r})"
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=False,
            timeout=_LIMIT,
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        return None
    # What the backend printed may stand before.
    return FirstCall(kernel, *json.loads(done.stdout.strip().rpartition("\n")[2]))


def main(name: str, kernel: str) -> None:
    """In the child: call the kernel twice and print the seconds of each."""
    backend = discovery.find(name).backend
    assert backend is not None
    data, args, _ = _CALLS[kernel]
    seconds = []
    for _ in range(2):
        started = time.perf_counter()
        backend.export(backend.kernels()[kernel](backend.prepare(data), *args))
        seconds.append(time.perf_counter() - started)
    print(json.dumps(seconds))
