"""Commands that are built when they are called: the start should not wait for options of others.

Typer builds every command it knows at every start, which takes longer the more options there are.
A lazy command is known by its name and its one-line help, and takes its place when it is resolved.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from importlib import import_module
from operator import attrgetter
from typing import Any, Final

import typer
from typer.core import TyperGroup

from refclust.cli.output import one_line
from refclust.cli.strict import App, refuse_options_as_values

PLACES: Final[dict[tuple[str, str], str]] = {}  # group and command: "module:attribute"


class LazyGroup(TyperGroup):
    """A group of commands some of which are built on demand; its messages repeat nothing raw."""

    def make_context(self, *args: Any, **options: Any) -> Any:
        """Read the arguments that stand before the command."""
        with _safe_messages():
            return super().make_context(*args, **options)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Split them into options of the group and the rest."""
        refuse_options_as_values(ctx, args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Read the other arguments and call the command."""
        with _safe_messages():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Build the command that is called, if it is a lazy one."""
        group = "" if ctx.parent is None else ctx.info_name
        if args and (group, args[0]) in PLACES:
            self.commands[args[0]] = built(at(PLACES[group, args[0]]), args[0])
        return super().resolve_command(ctx, args)


@contextlib.contextmanager
def _safe_messages() -> Iterator[None]:
    """Show what is hidden in wrong arguments, which typer's own messages repeat.

    Spec: OUT-TERM
    """
    try:
        yield
    except Exception as error:
        typers_own: Any = error
        if hasattr(error, "format_message") and not _is_help(error):
            # Also what it adds to its message: names of options and arguments may be a plugin's.
            message = one_line(typers_own.format_message())
            typers_own.format_message = lambda: message
        raise


def _is_help(error: Exception) -> bool:
    return type(error).__name__ == "NoArgsIsHelpError"


def command(app: typer.Typer, name: str, place: str, short_help: str, *, group: str = "") -> None:
    """Register a command that ``place`` tells where to find: a function, or a typer application.

    ``group`` is the name of the group it belongs to, if that is not the whole program.
    """

    def stub() -> None:
        raise AssertionError(f"{name} was called without being resolved")

    PLACES[group, name] = place
    app.command(name, short_help=short_help)(stub)


def at(place: str) -> Any:
    """Import what stands at a place: a function, or a typer application."""
    module, _, attribute = place.partition(":")
    return attrgetter(attribute)(import_module(module))


def built(content: Any, name: str) -> Any:
    """Make a command of that name out of a function or a typer application."""
    app = content
    if not isinstance(content, typer.Typer):
        app = App(add_completion=False, rich_markup_mode=None)
        app.command(name)(content)
    command = typer.main.get_command(app)
    command.name = name
    return command
