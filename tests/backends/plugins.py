"""Plugins made up for the tests: distributions on disk with entry points, as pip leaves them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

from refclust.backends.choosing import memory, offer
from refclust.backends.plugins import discovery, formats
from refclust.cli.plugins import HEADING

Install = Callable[[str, str], None]


class Run(NamedTuple):
    """How a process ended."""

    code: int
    out: str
    err: str


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


def put(folder: Path, **modules: str) -> None:
    """Leave modules in a folder as distributions whose entry points name them."""
    for name, source in modules.items():
        (folder / f"{name}.py").write_text(dedent(source), encoding="utf-8")
        info = folder / f"{name}-1.2.3.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2.3\n")
        (info / "entry_points.txt").write_text(f"[refclust]\n{name} = {name}\n")


def greeting(line: str = "pass") -> str:
    """A module with the command ``greet``, in which one line is another one."""
    return f"""
    import typer

    def greet(name: str, loud: bool = False) -> None:
        "Say hello."
        {line}
        print(f"hello {{name}}")
"""


def listed_by_plugins(help_text: str) -> list[str]:
    """The lines of the help that list commands of plugins."""
    _, _, after = help_text.partition(f"\n{HEADING}:\n")
    return after.partition("\n\n")[0].splitlines()


def put_command(
    folder: Path,
    distribution: str,
    source: str,
    *,
    entries: str = "greet = {module}:greet",
    metadata: str = "Name: {distribution}\nVersion: 1.2.3\nSummary: Say hello.\n",
) -> None:
    """Leave a distribution in a folder whose entry points offer commands."""
    names = {"distribution": distribution, "module": distribution.replace("-", "_")}
    (folder / f"{names['module']}.py").write_text(dedent(source), encoding="utf-8")
    info = folder / f"{names['module']}-1.2.3.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(metadata.format(**names), encoding="utf-8")
    lines = f"[refclust.commands]\n{entries.format(**names)}\n"
    (info / "entry_points.txt").write_text(lines, encoding="utf-8")


def command(folder: Path, *arguments: str, **variables: str) -> Run:
    """Run the command line in a process of its own that finds the plugins of a folder."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("REFCLUST_") or name == "REFCLUST_CACHE_DIR"
    }
    done = subprocess.run(
        [sys.executable, "-c", "from refclust.cli.app import main; main()", *arguments],
        env=environment | {"PYTHONPATH": str(folder)} | variables,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return Run(done.returncode, done.stdout, done.stderr)


@contextmanager
def installed(folder: Path, **modules: str) -> Iterator[None]:
    """Install modules as distributions whose entry points name them."""
    put(folder, **modules)
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
