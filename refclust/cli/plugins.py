"""The whole program as a group of commands: ours, and those of plugins where somebody asks.

Plugins are looked at for the help, for completion, and for a name that is none of ours, so that our
own commands start as if there were none. One is loaded when its command is called, under guard.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, Final, cast

import typer
from typer.core import TyperCommand

from refclust.backends.plugins import commands
from refclust.backends.plugins.commands import PluginCommand
from refclust.cli import lazy
from refclust.cli.output import note, one_line
from refclust.errors import BackendFailure, BackendRefused, MissingPlugin, RefclustError

HEADING: Final = "Commands of plugins"
_LONGEST: Final = 60  # characters of a summary
# The base of the errors that typer shows and ends with; versions differ in what they call it.
_TYPER_ERROR: Final = cast("type[Exception]", typer.BadParameter.__mro__[2])
# How a command of ours may end, too.
_ENDS: Final = (
    *(KeyboardInterrupt, BrokenPipeError, MemoryError),
    *(RefclustError, typer.Abort, _TYPER_ERROR),
)
_COMPLETION: Final = ("install_completion", "show_completion")


class Program(lazy.LazyGroup):
    """The group of all commands, which finds those of plugins when they are asked for.

    Spec: BK-COMMAND
    """

    _theirs: dict[str, PluginCommand] | None = None

    def list_commands(self, ctx: Any) -> list[str]:
        """The names that the shell completes, or those of our own section of the help."""
        if ctx.resilient_parsing:
            self._look()
        return super().list_commands(ctx)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write our commands, then those of plugins in a section of their own."""
        super().format_commands(ctx, formatter)
        longest = max(map(len, self.commands))  # so that both sections have the same columns
        usable = [command for command in self._look().values() if not command.trouble]
        if usable:
            rows = [(command.name.ljust(longest), _short_help(command)) for command in usable]
            with formatter.section(HEADING):
                formatter.write_dl(rows)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Load the command that is called, if it is a plugin's."""
        name = args[0]
        if name not in self.commands:
            plugin = self._look(wanted=name).get(name)
            if plugin is not None:
                self.commands[name] = _loaded(plugin)
            elif name in commands.APART:
                raise MissingPlugin(_missing(name))
        return super().resolve_command(ctx, args)

    def _look(self, *, wanted: str | None = None) -> dict[str, PluginCommand]:
        """Add the commands of plugins, and tell of those left out, unless they are ``wanted``."""
        if self._theirs is not None:
            return self._theirs
        self._theirs = {}
        for command in commands.offered(frozenset(self.commands)):
            if not command.foreign:
                self._theirs[command.name] = command
            if not command.trouble:
                stub = TyperCommand(command.name, short_help=_short_help(command))
                self.commands[command.name] = stub
            elif command.foreign or command.name != wanted:
                who = f"the command {command.name!r} ({command.owner})"
                note(f"{who} is left out: {command.trouble}")
        return self._theirs


def _short_help(command: PluginCommand) -> str:
    """What the metadata say of the distribution, and its name, in one line that hides nothing.

    Spec: OUT-TERM
    """
    summary = one_line(command.summary)
    if len(summary) > _LONGEST:
        summary = f"{summary[: _LONGEST - 1]}…"
    return f"{summary} [{one_line(command.distribution)}]".lstrip()


def _missing(name: str) -> str:
    from refclust.backends.plugins.switch import DISABLE_VARIABLE, disabled

    keeper = commands.APART[name]
    if disabled():
        return f"{name!r} is a command of {keeper}, and {DISABLE_VARIABLE} switches plugins off"
    return (
        f"{name!r} is a command of {keeper}, which is not installed: pip install {keeper}, "
        f"or in a checkout pip install -e plugins/{keeper}"
    )


def _loaded(plugin: PluginCommand) -> Any:
    """Load a command and make it ready; whatever goes wrong is ``backend-refused``.

    Spec: BK-COMMANDGUARD
    """
    from refclust.backends.plugins.guard import Attempt, attempt, limit

    done = Attempt(None, plugin.trouble, None, "")
    if not plugin.trouble:
        done = attempt(lambda: _ready(plugin), seconds=limit(), restore=True)
    who = f"the command {plugin.name!r} ({plugin.owner})"
    if done.printed:
        note(f"{who} printed while it was loaded: {done.printed}")
    if done.trouble:
        raise BackendRefused(f"{who} cannot be used: {done.trouble}") from done.error
    return done.value


def _ready(plugin: PluginCommand) -> Any:
    from refclust.backends.plugins.guard import shown

    content = lazy.at(plugin.place)
    if not (isinstance(content, typer.Typer) or inspect.isfunction(content)):
        kind = "neither a function nor a typer application"
        raise TypeError(f"{plugin.place} is {shown(content)}, {kind}")
    command = lazy.built(content, plugin.name)
    _tame(command)
    # Options have code, too: both the reading of arguments and the command itself may fail.
    for method in ("make_context", "invoke"):
        setattr(command, method, _guarded(getattr(command, method), plugin))
    return command


def _tame(command: Any) -> None:
    """Let a command, and all below it, show its texts as ours are shown."""
    command.rich_markup_mode = None
    command.params = [option for option in command.params if option.name not in _COMPLETION]
    for method in ("get_help", "get_usage"):
        setattr(command, method, _escaped(getattr(command, method)))
    for below in getattr(command, "commands", {}).values():
        _tame(below)


def _escaped(text_of: Callable[..., str]) -> Callable[..., str]:
    """The same text, in which nothing is hidden.

    Spec: OUT-TERM
    """

    def escaped(*arguments: Any) -> str:
        from refclust.escape import for_lines

        return for_lines(text_of(*arguments))

    return escaped


def _guarded(method: Callable[..., Any], plugin: PluginCommand) -> Callable[..., Any]:
    """The same method; what it raises is told as the plugin's failure, no fault of refclust."""

    @functools.wraps(method)
    def guarded(*arguments: Any, **options: Any) -> Any:
        with _told_as_its_own(plugin):
            return method(*arguments, **options)

    return guarded


@contextlib.contextmanager
def _told_as_its_own(plugin: PluginCommand) -> Iterator[None]:
    """Let pass how a command may end, and turn everything else into ``backend-failure``.

    Spec: BK-COMMANDGUARD
    """
    from refclust.backends.plugins.guard import shown, words

    try:
        yield
    except _ENDS:
        raise
    except (SystemExit, typer.Exit) as end:
        code = end.code if isinstance(end, SystemExit) else end.exit_code
        if code is None or (isinstance(code, int) and 0 <= code <= 255):
            raise
        reason: BaseException = end
        trouble = f"it ended with {shown(code)}, which is no exit code"
    except BaseException as error:
        reason, trouble = error, words(error)
    else:
        return
    who = f"the command {plugin.name!r} ({plugin.owner})"
    raise BackendFailure(f"{who} failed: {trouble}") from reason
