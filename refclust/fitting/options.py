"""Options that stand once: the fields of a dataclass feed a call, its help and the command line.

A field says all about an option: its name, type and default, and as ``Option`` one line of help,
the check of its value and its spelling on the command line. ``takes`` gives a function the fields
as its parameters: type checkers see them, and so does ``help``.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import types
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, field
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    ParamSpec,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from refclust.data.accepting.spellings import here
from refclust.errors import BadOption
from refclust.fitting.checks import named, plain_number, runs
from refclust.numbers.sampling import stream

if TYPE_CHECKING:
    from refclust.backends.session import Session
    from refclust.fitting.checkpoint import Checkpoint

OptionsType = TypeVar("OptionsType", bound="Options")
P = ParamSpec("P")
R = TypeVar("R")


class _LeftOpen:
    def __repr__(self) -> str:
        return "usual"


LEFT_OPEN: Final[Any] = _LeftOpen()  # a default that other options decide; its help tells how


@dataclass(frozen=True, slots=True)
class Option:
    """What is told of an option beside its name, type and default."""

    help: str  # one line; in brackets at its end what is usual, where that is not the default
    cli: str = ""  # how it is spelled on the command line: "-k --clusters K"; empty: not there
    check: Callable[[str, Any], object] | None = None  # of its name and value; else by the type
    names: tuple[str, ...] = ()  # the texts allowed, where the type says any
    typed: Any = None  # the type on the command line, where it differs: a file instead of rows


@dataclass(frozen=True, slots=True)
class Member:
    """An option of a dataclass: its name, its type, its default and what is told of it."""

    name: str
    type: Any
    default: Any  # ``MISSING`` if it must be given
    positional: bool
    option: Option

    @property
    def choices(self) -> tuple[str, ...]:
        """The names that are allowed, if its values are names."""
        if self.option.names:
            return self.option.names
        parts = get_args(self.type) if _is_union(self.type) else (self.type,)
        return tuple(
            name for part in parts if get_origin(part) is Literal for name in get_args(part)
        )

    def check(self, value: Any) -> None:
        """Refuse a value that has no meaning."""
        optional = _is_union(self.type) and type(None) in get_args(self.type)
        if value is LEFT_OPEN or (value is None and optional):
            return
        if self.option.check is not None:
            self.option.check(self.name, value)
        elif self.choices:
            named(self.name, value, self.choices)

    def is_default(self, value: Any) -> bool:
        """Whether a value says no more than to leave the option out."""
        return value is self.default or (
            type(value) is type(self.default) and bool(value == self.default)
        )

    @property
    def line(self) -> str:
        """Its help, with the names that are allowed and with its default."""
        text, bracket, usual = self.option.help.partition(" [")
        names = f" <{'|'.join(self.choices)}>" if self.choices else ""
        if not bracket and self.default not in (None, MISSING, LEFT_OPEN):
            bracket, usual = " [", f"{self.default}]"
        return f"{text}{names}{bracket}{usual}"


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in (Union, types.UnionType)


def unchecked(_name: str, _value: object) -> None:
    """Leave a value to whoever knows more of the call."""


class Options:
    """The base of all dataclasses of options."""

    def __post_init__(self) -> None:
        """Refuse what has no meaning, each option by itself, then all of them together."""
        for member in members(type(self)).values():
            value = plain_number(getattr(self, member.name))
            object.__setattr__(self, member.name, value)  # a number of NumPy is a number
            member.check(value)
        self.check()

    def check(self) -> None:
        """Refuse options that do not go together."""

    def as_json(self) -> dict[str, Any]:
        """The values of all options, by name, in a fixed order."""
        return {name: getattr(self, name) for name in members(type(self))}

    def become(self, kind: type[OptionsType], **values: Any) -> OptionsType:
        """These options as another dataclass, as far as it has them, with some values anew."""
        shared = members(kind).keys() & members(type(self)).keys()
        return kind(**{name: getattr(self, name) for name in shared} | values)


def _members(kind: type) -> dict[str, Member]:
    """The options of a dataclass: those given by place, then its own, then those of its bases."""
    fields = {each.name: each for each in dataclasses.fields(kind)}
    layers = [inspect.get_annotations(owner, eval_str=True) for owner in kind.__mro__]
    declared: dict[str, Member] = {}
    for place, layer in enumerate(layers):
        for name in layer:
            # What is declared anew keeps the place of its first declaration.
            if name in fields and not any(name in deeper for deeper in layers[place + 1 :]):
                hints = [each[name] for each in layers if name in each]
                declared[name] = _member(fields[name], hints)
    by_place = [name for name in fields if declared[name].positional]
    return {name: declared[name] for name in dict.fromkeys([*by_place, *declared])}


members: Callable[[type], dict[str, Member]] = functools.cache(_members)


def _member(declared: dataclasses.Field[Any], hints: list[Any]) -> Member:
    """An option by its declarations: the newest has the type, and what it tells is told."""
    of_type = get_args(hints[0])[0] if get_origin(hints[0]) is Annotated else hints[0]
    options = [each for hint in hints for each in get_args(hint)[1:] if isinstance(each, Option)]
    assert options, f"nothing is told of the option {declared.name}"
    return Member(declared.name, of_type, declared.default, not declared.kw_only, options[0])


def takes(kind: Callable[P, OptionsType]) -> Callable[[Callable[[OptionsType], R]], Callable[P, R]]:
    """Give a function of a call, an object of a dataclass, the options of it as its parameters."""
    assert isinstance(kind, type)
    allowed = ", ".join(members(kind))

    def decorated(function: Callable[[OptionsType], R]) -> Callable[P, R]:
        signature = _signature(kind, function)
        by_place = [each.name for each in members(kind).values() if each.positional]

        @functools.wraps(function)
        def called(*arguments: P.args, **options: P.kwargs) -> R:
            for name in options:
                if name not in signature.parameters:
                    own = here(name, signature.parameters)
                    told = f"here it is called {own}" if own else f"allowed are {allowed}"
                    raise BadOption(f"{function.__name__} has no option {name}; {told}")
            if len(arguments) > len(by_place):
                raise BadOption(
                    f"{function.__name__} was given {len(arguments)} values without names; only "
                    f"{', '.join(by_place)} may come without, all others by name"
                )
            lacking = [
                name
                for place, (name, each) in enumerate(signature.parameters.items())
                if each.default is each.empty and name not in options and place >= len(arguments)
            ]
            if lacking:
                raise BadOption(f"{function.__name__} was not given {' and '.join(lacking)}")
            return function(kind(**signature.bind(*arguments, **options).arguments))

        shown: Any = called
        shown.__signature__ = signature
        shown.__annotations__ = {
            name: each.annotation for name, each in signature.parameters.items()
        } | {"return": signature.return_annotation}
        shown.__doc__ = "\n".join([inspect.cleandoc(function.__doc__ or ""), "", *lines(kind)])
        return called

    return decorated


def lines(kind: type) -> list[str]:
    """The options of a dataclass for readers, one line each."""
    listed = members(kind).values()
    width = max(len(each.name) for each in listed)
    return ["Options:", *(f"    {each.name:<{width}}  {each.line}" for each in listed)]


def _signature(kind: type, function: Callable[..., Any]) -> inspect.Signature:
    # Both take long to import, and the command line reads options without them.
    from refclust.backends.session import Session
    from refclust.fitting.checkpoint import Checkpoint

    hints = get_type_hints(kind, localns={"Session": Session, "Checkpoint": Checkpoint})
    by_place, by_name = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(
            each.name,
            by_place if each.positional else by_name,
            default=inspect.Parameter.empty if each.default is MISSING else each.default,
            annotation=hints[each.name],
        )
        for each in members(kind).values()
    ]
    return inspect.Signature(
        parameters, return_annotation=get_type_hints(function).get("return", Any)
    )


# The options that many fits share.
Backend: TypeAlias = Annotated[
    str | None,
    Option("Who runs the kernels: auto, reference or a plugin. [$REFCLUST_BACKEND, else auto]"),
]
Running: TypeAlias = Annotated[
    "Session | None", Option("Backends that are bound already, instead.")
]
Resuming: TypeAlias = Annotated[
    "Checkpoint | None",
    Option("Where a fit that is stopped is kept, to go on: a Checkpoint, or its path."),
]
Rows: TypeAlias = Annotated[Any, Option("The rows: lists, arrays, tables, sparse ones, a Dataset.")]
Weights: TypeAlias = Annotated[
    Iterable[Any] | None, Option("A weight for each row. [those of the data, else 1]")
]
SEED: Final = Option(
    "Which random numbers: any whole number from 0.", "--seed S", lambda _, seed: stream(seed)
)
Seed: TypeAlias = Annotated[int, SEED]
Restarts: TypeAlias = Annotated[
    int, Option("Runs from other starts; the best is kept.", "--restarts R", runs)
]


@dataclass(frozen=True, kw_only=True)
class Call(Options):
    """What every fit of rows takes."""

    data: Rows = field(kw_only=False)
    weights: Weights = None
    backend: Backend = None
    session: Running = None


@dataclass(frozen=True, kw_only=True)
class LongCall(Call):
    """What a fit takes that can be stopped and go on."""

    checkpoint: Resuming = None

    def __post_init__(self) -> None:
        """Take a path for a checkpoint there."""
        place: Any = self.checkpoint
        if isinstance(place, str | os.PathLike):
            from refclust.fitting.checkpoint import Checkpoint

            object.__setattr__(self, "checkpoint", Checkpoint(os.fspath(place)))
        super().__post_init__()
