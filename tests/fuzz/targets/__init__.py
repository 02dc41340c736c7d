"""The targets, in the order in which they run."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from tests.fuzz.cases import Target

_MODULES: Final = ("texts", "dialects", "mixed", "sparse", "arrays", "beside", "documents",
            "answers", "keys", "calls", "commands")  # fmt: skip


def targets() -> tuple[Target, ...]:
    """All targets."""
    found: list[Target] = []
    for name in _MODULES:
        found.extend(import_module(f"tests.fuzz.targets.{name}").TARGETS)
    return tuple(found)
