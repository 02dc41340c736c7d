"""Options that belong together: a command gets them as one object.

Every field of a dataclass is an option; the command asks for the object, and its signature, which
typer reads, lists the options instead. Options of the core tell of themselves how they are spelled
on the command line (``refclust.fitting.options``).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any, Literal, TypeAlias

import typer

from refclust.cli.options.complete import complete_covariance
from refclust.fitting.options import LEFT_OPEN, Member, Option, Options, members

Command: TypeAlias = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Group:
    """The options of a dataclass, as typer's parameters, by the names of its fields."""

    kind: type
    parameters: Mapping[str, inspect.Parameter]

    def made_of(self, arguments: dict[str, Any]) -> Any:
        """The object, of arguments that typer read; they are taken out."""
        values = {
            name: arguments.pop(parameter.name)
            for name, parameter in self.parameters.items()
            if parameter.name in arguments
        }
        if not issubclass(self.kind, Options):
            return self.kind(**values)
        for name, member in members(self.kind).items():
            if member.default is MISSING:
                values.setdefault(name, None)  # the command puts it in its place
            elif member.default is LEFT_OPEN and values.get(name) is None:
                values.pop(name, None)
        return self.kind(**values)


def together(
    kind: type, name: str, *, leave_out: Collection[str] = ()
) -> Callable[[Command], Command]:
    """Give a command all options of a dataclass but some; it gets them together, under a name.

    What the command declares itself, under the name of a field, stands in that field's place.
    """
    group = _of_core(kind, name) if issubclass(kind, Options) else _of_fields(kind)
    listed = {each: group.parameters[each] for each in group.parameters if each not in leave_out}

    def wrapped(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        own = {
            each.name: each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for each in signature.parameters.values()
            if each.name != name
        }
        taken = own.keys() & listed.keys() if issubclass(kind, Options) else set()
        options = Group(kind, {each: listed[each] for each in listed if each not in taken})

        @functools.wraps(command)
        def called(**arguments: Any) -> None:
            together = options.made_of(arguments)
            command(**arguments, **{name: together})

        first = [own[each] for each in own if each not in taken]
        then = [own[each] if each in taken else listed[each] for each in listed]
        called.__signature__ = signature.replace(parameters=[*first, *then])  # type: ignore[attr-defined]
        return called

    return wrapped


def _of_fields(kind: type) -> Group:
    hints = inspect.get_annotations(kind, eval_str=True)
    return Group(
        kind,
        {each.name: _parameter(each.name, hints[each.name], each.default) for each in fields(kind)},
    )


def _of_core(kind: type, prefix: str) -> Group:
    spelled = [member for member in members(kind).values() if member.option.cli]
    # Under another name than the field's own: a command may write what a fit begins from.
    return Group(kind, {each.name: _of_member(each, f"{prefix}_{each.name}") for each in spelled})


def _of_member(member: Member, name: str) -> inspect.Parameter:
    left_open = member.default in (MISSING, LEFT_OPEN)
    of_type = member.option.typed
    if of_type is None:
        of_type = Literal[member.choices] if member.choices else member.type
        of_type = of_type | None if left_open or member.default is None else of_type
    default = None if left_open else member.default
    return _parameter(name, Annotated[of_type, spelled(member.option)], default)


def spelled(option: Option, **more: Any) -> Any:
    """An option of the core as one of typer."""
    words = option.cli.split()
    names = [word for word in words if word.startswith("-")]
    metavar = None if names == words else words[-1]
    if "--covariance" in names:
        more.setdefault("autocompletion", complete_covariance)
    return typer.Option(*names, metavar=metavar, help=option.help, **more)


def _parameter(name: str, hint: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
