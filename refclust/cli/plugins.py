"""Commands that plugins add; looked for only when a command is not one of ours."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand
from typer.models import CommandInfo, TyperInfo

from refclust.backends import plugins
from refclust.backends.guard import shown, words
from refclust.backends.plugins import Plugin
from refclust.cli.output import note
from refclust.cli.strict import Command
from refclust.errors import BackendFailure, RefclustError

_HOOK = "refclust_register_commands"


def add_commands(app: typer.Typer, wanted: str) -> None:
    """Let every plugin add its commands; one that fails is told of and stops nobody."""
    for plugin in plugins.installed():
        # An application of its own: a plugin may add commands, not touch those that are there.
        theirs = typer.Typer()
        trouble = plugin.call(_HOOK, app=theirs).trouble or _added(app, theirs, plugin)
        if trouble:
            note(
                f"looked for the command {wanted!r} in the plugin {plugin.name!r}, which failed: "
                f"{trouble}"
            )


def _added(app: typer.Typer, theirs: typer.Typer, plugin: Plugin) -> str:
    """Take over the commands whose names are free; tell the first that is not."""
    taken = {one.name for one in app.registered_commands}
    taken |= {one.name for one in app.registered_groups}
    commands: Any = theirs.registered_commands  # whatever the plugin left there
    groups: Any = theirs.registered_groups
    for listed in (commands, groups):
        if not isinstance(listed, list):
            return f"its commands are {shown(listed)}, not a list"
    trouble = ""
    for command in commands:
        if not isinstance(command, CommandInfo) or not callable(command.callback):
            trouble = trouble or f"it adds {shown(command)}, which is no command"
            continue
        name = command.name or str(getattr(command.callback, "__name__", "")).replace("_", "-")
        if name in taken:
            trouble = trouble or f"the command {name!r} is there already"
        else:
            command.name, command.callback = name, _guarded(command.callback, name, plugin)
            if command.cls is TyperCommand:  # a class of its own is its own affair
                command.cls = Command
            app.registered_commands.append(command)
    for group in groups:
        if not isinstance(group, TyperInfo) or not isinstance(group.name, str):
            trouble = trouble or f"it adds {shown(group)}, which is no group of commands"
        elif group.name in taken:
            trouble = trouble or f"the command {group.name!r} is there already"
        else:
            app.registered_groups.append(group)
    return trouble


def _guarded(callback: Callable[..., Any], name: str, plugin: Plugin) -> Callable[..., Any]:
    """The command; what it raises is told as its own failure, no fault of refclust."""

    @functools.wraps(callback)
    def run(*args: Any, **options: Any) -> Any:
        try:
            return callback(*args, **options)
        except (RefclustError, BrokenPipeError, typer.Exit, typer.Abort):
            raise
        except Exception as error:
            if hasattr(error, "exit_code"):
                raise  # a wrong argument, which typer tells
            raise BackendFailure(
                f"the command {name!r} ({plugin.owner}) failed: {words(error)}"
            ) from error

    return run
