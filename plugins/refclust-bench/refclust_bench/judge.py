"""Whose time counts: results are compared before any time does.

The results of refclust must be the same whatever the backend, to the last bit. A peer must have
done the same work: the same number of iterations, the same labels, the same value up to its
rounding. What differs is not comparable, and the reason is told.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Final

from refclust_bench.workloads import Workload

# Peers compute scores and heights in floats: twelve digits or so are theirs, nine are asked for.
CLOSE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Result:
    """What one contender's first run came to."""

    who: str
    own: bool
    labels: array[int] | None
    iterations: int | None
    value: float | None


def difference(workload: Workload, this: Result, anchor: Result) -> str | None:
    """Why two results are not those of the same work; ``None`` if they are."""
    same_iterations = this.iterations == anchor.iterations or workload.per_iteration
    if workload.equal == "none":
        return None
    if workload.equal in ("labels", "likelihood") and not same_iterations:
        return f"{this.iterations} iterations, {anchor.who} did {anchor.iterations}"
    if workload.equal == "rows" and not (this.own and anchor.own):
        return _not_rows(this, anchor)
    if workload.equal not in ("value", "bounded", "likelihood"):
        reason = _labels_differ(this, anchor)
        if reason is not None:
            return reason
    if workload.equal in ("value", "partition", "bounded", "likelihood"):
        # Logarithms, and sums of distances with a bound, are rounded differently everywhere, on our
        # own backends too.
        return _values_differ(this, anchor, own=workload.equal in ("bounded", "likelihood"))
    return None


def _labels_differ(this: Result, anchor: Result) -> str | None:
    if this.labels is None or anchor.labels is None:
        return "it gave no labels"
    if len(this.labels) != len(anchor.labels):
        return f"{len(this.labels):,} labels, {anchor.who} gave {len(anchor.labels):,}"
    if this.labels == anchor.labels:
        return None
    wrong = sum(a != b for a, b in zip(this.labels, anchor.labels, strict=True))
    return f"{wrong:,} of {len(this.labels):,} labels are not those of {anchor.who}"


def _values_differ(this: Result, anchor: Result, *, own: bool) -> str | None:
    if this.value is None or anchor.value is None:
        return "it gave no value"
    if this.value == anchor.value:
        return None
    close = abs(this.value - anchor.value) <= CLOSE * max(1.0, abs(anchor.value))
    if close and (own or not (this.own and anchor.own)):
        return None
    return f"{this.value!r}, {anchor.who} gave {anchor.value!r}"


def _not_rows(this: Result, anchor: Result) -> str | None:
    """Starts are drawn with other random numbers elsewhere: as many different rows are asked."""
    if this.labels is None or anchor.labels is None:
        return "it gave no rows"
    if len(this.labels) != len(anchor.labels):
        return f"{len(this.labels)} rows, {anchor.who} chose {len(anchor.labels)}"
    if len(set(this.labels)) != len(this.labels) or min(this.labels) < 0:
        return "the rows it chose are not different rows of the input"
    return None
