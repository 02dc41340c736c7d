"""What the machine does at most, measured in the same run: matrix products, reading memory.

The floor under every kernel is one of the two, so a time is best read beside them. Needs NumPy.
"""

from __future__ import annotations

import importlib
import importlib.util
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from refclust_bench.data import Input
from refclust_bench.outcome import Outcome, Work
from refclust_bench.processes.process import Askable, Ended

RUNS: Final = 4
KINDS: Final = {
    "dgemm": "GFLOP/s, product of double matrices",
    "sgemm": "GFLOP/s, product of float matrices",
    "read": "GB/s, reading doubles from memory",
}
_SIDE, _LENGTH = 1536, 20_000_000
_SECONDS: Final = 60.0


def product(inputs: Input, options: Mapping[str, Any]) -> Work:
    """A product of square matrices, or the product of a long vector with itself."""
    del inputs
    numpy = importlib.import_module("numpy")
    if options["kind"] == "read":
        x = numpy.ones(options.get("length", _LENGTH))
    else:
        side = options.get("side", _SIDE)
        x = numpy.ones((side, side), "f4" if options["kind"] == "sgemm" else "f8")
    return Work(lambda: numpy.dot(x, x), lambda _: Outcome(value=_work(options)))


def _work(options: Mapping[str, Any]) -> float:
    """Billions of operations, or of bytes, that one run takes."""
    if options["kind"] == "read":
        return 8 * float(options.get("length", _LENGTH)) / 1e9
    return 2 * float(options.get("side", _SIDE)) ** 3 / 1e9


def possible() -> bool:
    """Whether NumPy is installed."""
    return importlib.util.find_spec("numpy") is not None


def measured(launch: Any, threads: Sequence[int], **sizes: int) -> list[dict[str, Any]]:
    """The best of some runs, for every kind and number of threads; what fails is left out."""
    rates: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="refclust-bench-") as folder:
        Input("none", {}, {}).write(Path(folder))
        for count in threads:
            child: Askable = launch(count)
            try:
                for kind in KINDS:
                    best = _best(child, folder, {"kind": kind, **sizes})
                    rates.append({"kind": kind, "threads": count, "rate": best})
            except Ended:
                continue
            finally:
                child.close()
    return rates


def _best(child: Askable, folder: str, options: Mapping[str, Any]) -> float:
    place = f"{__name__}:{product.__name__}"
    _asked(
        child,
        do="open",
        place=place,
        options=dict(options),
        warm_up=[],
        folder=folder,
        tiny=folder,
    )
    rates: list[float] = []
    for _ in range(RUNS):
        answer = _asked(child, do="run")
        rates.append(float.fromhex(answer["value"]) / answer["seconds"])
    return max(rates)


def _asked(child: Askable, **request: Any) -> dict[str, Any]:
    answer = child.ask({"key": "limit", **request}, _SECONDS)
    if not answer["ok"]:
        raise Ended(answer["error"])
    return answer


def told(measurements: Sequence[Mapping[str, Any]]) -> list[str]:
    """One line for each kind.

    >>> told([{"kind": "read", "threads": 1, "rate": 20.04}, {"kind": "read", "threads": 2,
    ...        "rate": 31.0}])
    ['limit: 20.0 (1), 31.0 (2 threads) GB/s, reading doubles from memory']
    """
    lines: list[str] = []
    for kind, unit in KINDS.items():
        rates = [
            (measurement["rate"], measurement["threads"])
            for measurement in measurements
            if measurement["kind"] == kind
        ]
        if rates:
            text = ", ".join(f"{rate:.1f} ({count})" for rate, count in rates)
            lines.append(f"limit: {text.removesuffix(')')} threads) {unit}")
    return lines
