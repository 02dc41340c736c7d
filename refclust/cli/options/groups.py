"""Options that belong together: a command gets them as one object.

Every field of a class is an option; the command asks for the object, and its signature, which typer
reads, lists the options instead.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeAlias

Command: TypeAlias = Callable[..., None]


def together(kind: type, name: str) -> Callable[[Command], Command]:
    """Give a command all options of a dataclass; it gets them together, under a name."""
    hints = inspect.get_annotations(kind, eval_str=True)
    only = inspect.Parameter.KEYWORD_ONLY
    options = [
        inspect.Parameter(one.name, only, default=one.default, annotation=hints[one.name])
        for one in fields(kind)
    ]

    def wrapped(command: Command) -> Command:
        plain = inspect.signature(command, eval_str=True)

        @functools.wraps(command)
        def called(**arguments: Any) -> None:
            given = kind(**{one.name: arguments.pop(one.name) for one in options})
            command(**arguments, **{name: given})

        own = [one.replace(kind=only) for one in plain.parameters.values() if one.name != name]
        signature = plain.replace(parameters=[*own, *options])
        called.__signature__ = signature  # type: ignore[attr-defined]
        return called

    return wrapped
