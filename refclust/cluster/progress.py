"""How far a k-means fit has come, and that as plain JSON values (KM-CKPT of chapter 10).

Labels are not kept: those before the last update follow from the centres before it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from refclust.cluster.results import Emptied, Iteration, Run
from refclust.kernels.centres import CentreMatrix


@dataclass(frozen=True, slots=True)
class Progress:
    """Finished runs, and the run under way after its last update."""

    finished: tuple[Run, ...] = ()
    draws: int = 0
    done: int = 0  # iterations of the run under way
    start: CentreMatrix | None = None
    previous: CentreMatrix | None = None
    dropped: tuple[int, ...] = ()  # clusters of the previous centres that are gone
    centres: CentreMatrix | None = None
    emptied: tuple[Emptied, ...] = ()
    trace: tuple[Iteration, ...] = ()


def told(progress: Progress) -> dict[str, Any]:
    """The progress as plain values."""
    content = asdict(replace(progress, start=None, previous=None, centres=None))
    for name in ("start", "previous", "centres"):
        content[name] = _lists(getattr(progress, name))
    for run in content["finished"]:
        run["centres"], run["start"] = _lists(run.pop("matrix")), _lists(run.pop("first"))
        run["exact_rss"] = str(run["exact_rss"])
        run["cosine_terms"] = list(map(str, run["cosine_terms"]))
    for step in [*content["trace"], *(i for run in content["finished"] for i in run["trace"])]:
        if step["labels"] is not None:
            step["labels"] = list(step["labels"])
    return content


def _lists(matrix: CentreMatrix | None) -> list[list[float]] | None:
    return None if matrix is None else [list(row) for row in matrix]
