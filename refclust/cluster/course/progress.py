"""How far a k-means fit has come, and that as plain JSON values (KM-CKPT of chapter 10).

Labels are not kept: those before the last update follow from the centres before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from refclust.cluster.results import Emptied, Iteration, Matrix, Run
from refclust.data.files.parts import whole, wholes
from refclust.data.files.records import plain


@dataclass(frozen=True, slots=True)
class Progress:
    """Finished runs, and the run under way after its last update."""

    finished: tuple[Run, ...] = ()
    draws: Annotated[int, whole(0, "draws allowed")] = 0
    done: Annotated[int, whole(0, "limit")] = 0  # iterations of the run under way
    start: Matrix | None = None
    previous: Matrix | None = None
    # Clusters of the previous centres that are gone.
    dropped: Annotated[tuple[int, ...], wholes(None, 0, "k", less=1)] = ()
    centres: Matrix | None = None
    emptied: tuple[Emptied, ...] = ()
    trace: tuple[Iteration, ...] = ()


def content_of(progress: Progress) -> dict[str, Any]:
    """The progress as plain values."""
    content: dict[str, Any] = plain(progress, {}, line=True)
    return content
