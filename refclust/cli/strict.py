"""Commands that take no option for the value of another: ``--chapter --json`` lacks a chapter.

Typer hands whatever follows an option to it, so that a forgotten value swallows the next option and
the command does something else than was asked for, without a word. Here that is a wrong call, and
``--chapter=--json`` is how such a value is given if it is meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import typer
from typer.core import TyperCommand


class Command(TyperCommand):
    """A command that refuses an option in the place of a value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        refuse_options_as_values(ctx, args)
        return super().parse_args(ctx, args)


class App(typer.Typer):
    """An application whose commands are such."""

    def command(
        self, name: str | None = None, *, cls: type[TyperCommand] | None = Command, **options: Any
    ) -> Callable[..., Any]:
        """Register a command."""
        return super().command(name, cls=cls, **options)


def refuse_options_as_values(ctx: Any, args: Sequence[str]) -> None:
    """Refuse a call in which an option stands where the value of another is due.

    Spec: none (reads arguments)
    """
    if ctx.resilient_parsing:  # for completion, which looks at calls that are not complete
        return
    options = {
        name: option
        for option in ctx.command.get_params(ctx)
        if option.param_type_name == "option"
        for name in (*option.opts, *option.secondary_opts)
    }
    for name, value in _taken(args, options, first=not ctx.allow_interspersed_args):
        if value.partition("=")[0] in options:
            ctx.fail(
                f"Option {name!r} needs a value, and {value!r} is an option; if it is meant, "
                f"write {name}{'=' if name.startswith('--') else ''}{value}."
            )


def _taken(
    args: Sequence[str], options: dict[str, Any], *, first: bool
) -> Iterator[tuple[str, str]]:
    """Which words options take for their values, as typer does; ``first``: up to an argument."""
    words = iter(args)
    for word in words:
        if word == "--" or (first and not (word.startswith("-") and word != "-")):
            return
        name = _last(word, options)
        if name is not None:
            for _ in range(options[name].nargs):
                value = next(words, None)
                if value is not None:
                    yield name, value


def _last(word: str, options: dict[str, Any]) -> str | None:
    """The option that ends a word and needs the next one, if there is one: ``-k`` of ``-vk``."""
    if word in options:
        return None if _is_flag(options[word]) else word
    if word.startswith("--") or not word.startswith("-"):
        return None
    for place, sign in enumerate(word[1:], start=1):
        option = options.get(f"-{sign}")
        if option is None:
            return None
        if not _is_flag(option):
            return f"-{sign}" if place == len(word) - 1 else None
    return None


def _is_flag(option: Any) -> bool:
    return bool(option.is_flag or option.count)
