"""What a caller hands over, taken at its word no further than it can be checked (chapter 90).

An object may say that it is a sequence and be none, or have a length that is not the number of its
items. What it really gives is taken or refused here. An exception that its own methods raise is the
caller's and comes out as it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from refclust.errors import BadOption, RefclustError
from refclust.numbers.reading import shown


def items(iterable: Any, refusal: Callable[[], RefclustError]) -> list[Any]:
    """Return what an iterable gives, whatever it says of its length; ``refusal`` if it is none.

    Spec: ERROR-DOOR

    >>> items(range(3), ValueError)
    [0, 1, 2]
    """
    if type(iterable) is list:
        return iterable.copy()
    return list(chain(iterator(iterable, refusal)))  # a chain has no length that could be a lie


def iterator(iterable: Any, refusal: Callable[[], RefclustError]) -> Iterator[Any]:
    """Begin to go through an iterable; ``refusal`` if it is none.

    Spec: ERROR-DOOR
    """
    try:
        return iter(iterable)
    except TypeError as error:
        trace = error.__traceback__
        if trace is not None and trace.tb_next is not None:
            raise  # out of the caller's own code
        raise refusal() from None


def path_of(source: Any, what: str) -> str:
    """Return the text of a path: a text itself, or what stands for one.

    Spec: ERROR-DOOR

    >>> from pathlib import PurePosixPath
    >>> path_of(PurePosixPath("a/b.csv"), "the file"), path_of("-", "the file")
    ('a/b.csv', '-')
    """
    path = source
    if not isinstance(source, str | bytes) and isinstance(source, os.PathLike):
        path = type(source).__fspath__(source)
    if not isinstance(path, str):
        raise BadOption(f"{what} is {shown(source)}; a path is needed, as text or as a path object")
    return str(path)
