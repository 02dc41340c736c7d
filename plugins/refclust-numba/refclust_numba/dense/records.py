"""What the pass over dense rows is given, and what it writes down: records of arrays."""

from __future__ import annotations

from typing import Any, NamedTuple


class Centres(NamedTuple):
    """The centres for each rung, and what bounds the errors of scores in single precision."""

    group: Any  # float32, groups x d x GROUP
    first: Any  # float32
    slope: Any
    start: Any
    drift: Any  # what rows of each cluster lose of their margin, if it is known
    by_columns: Any  # float64, d x K
    cosine: bool
    names: Any  # int32, where centres are not numbered as they are


class Labels(NamedTuple):
    """The labels before and after, and the margins that prove them."""

    old: Any
    new: Any
    margins: Any
    limit: int  # how many rows of a block may be read apart if their margins prove nothing


class Share(NamedTuple):
    """What a thread takes of the blocks."""

    turn: Any  # the next chunk, counted by all threads
    chunk: int  # blocks
    listed: int  # rows that changed, before they are moved


class BlockLabels(NamedTuple):
    """The labels of the rows of one block with their margins, and room to work in."""

    index: Any  # int32
    margin: Any  # float32
    rows: Any  # int64
    squares: Any
    lows: Any


class Moves(NamedTuple):
    """Rows that change clusters, and from where to where."""

    rows: Any
    was: Any
    now: Any
