"""Commands that plugins add; looked for only when a command is not one of ours."""

from __future__ import annotations

import importlib.metadata

import pluggy
import typer

from refclust.backends import hookspecs
from refclust.backends.discovery import DISABLE_VARIABLE
from refclust.cli.output import note, strict_boolean


def add_commands(app: typer.Typer, wanted: str) -> None:
    """Let every plugin add its commands; one that fails is told of and stops nobody."""
    if strict_boolean(DISABLE_VARIABLE):
        return
    found = importlib.metadata.entry_points(group=hookspecs.PROJECT)
    for entry in sorted(found, key=lambda one: (one.name, one.value)):
        try:
            manager = pluggy.PluginManager(hookspecs.PROJECT)
            manager.add_hookspecs(hookspecs)
            manager.register(entry.load(), name=entry.name)
            manager.hook.refclust_register_commands(app=app)
        except Exception as error:
            # Guarded on purpose: a plugin may fail in any way, and the command may be another's.
            note(
                f"looked for the command {wanted!r} in the plugin {entry.name!r}, which failed: "
                f"{type(error).__name__}: {error}"
            )
