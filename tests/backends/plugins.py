"""Plugins made up for the tests: distributions on disk with entry points, as pip leaves them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

from refclust.backends import discovery, formats, memory, offer

Install = Callable[[str, str], None]

GOOD = """
    from decimal import Decimal

    import pluggy

    from refclust.backends.protocol import Estimate, Refusal
    from refclust.kernels.registry import KERNELS

    class Quick:
        name = "quick"
        api_version = 1
        accuracy = "exact"

        def kernels(self):
            return {"contingency.table": self.table}

        def supports(self, kernel, problem):
            return Refusal("too many") if problem.n > 1000 else Estimate(0.0)

        def prepare(self, data):
            return data

        def export(self, value):
            return value

        def table(self, data):
            return KERNELS["contingency.table"].reference(data)

    @pluggy.HookimplMarker("refclust")
    def refclust_register_backends():
        return [Quick()]
"""


@contextmanager
def installed(folder: Path, **modules: str) -> Iterator[None]:
    """Install modules as distributions whose entry points name them."""
    for name, source in modules.items():
        (folder / f"{name}.py").write_text(dedent(source), encoding="utf-8")
        info = folder / f"{name}-1.2.3.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2.3\n")
        (info / "entry_points.txt").write_text(f"[refclust]\n{name} = {name}\n")
    sys.path.insert(0, str(folder))
    _look_again()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in modules:
            sys.modules.pop(name, None)
        _look_again()


def earned(name: str) -> None:
    """Let a backend have passed the short kit, without trying it."""
    record = discovery.find(name)
    passed = dict.fromkeys(offer.kernels(record), memory.Verdict(True, "2026-11-17 12:00"))
    assert memory.remember(record, passed) == ""


def _look_again() -> None:
    discovery.forget()
    formats.forget()
    memory.forget()
