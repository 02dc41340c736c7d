"""What becomes of a component that collapsed, and of rows that nobody made (GMM-COLLAPSE).

Policies belong to the driver, never to a kernel: every backend ends, drops and resets alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, Literal, TypeVar

from refclust.errors import DegenerateCovariance, ImpossibleRow
from refclust.fitting.rows import Rows
from refclust.kernels.mixtures.shared import Posterior, floats
from refclust.mixture.families.family import Collapsed, Densities, Family, Point
from refclust.mixture.families.gaussian.ranges import lost_row
from refclust.mixture.results import Event, Policy, Run

P = TypeVar("P")
D = TypeVar("D", bound=Densities)
M = TypeVar("M")

_MOST_RESETS: Final = 10
_SHOWN_ROWS: Final = 10
_DONE: Final[dict[Policy, Literal["ended", "dropped", "reset"]]] = {
    "end": "ended",
    "drop": "dropped",
    "reset": "reset",
}


def repaired(
    family: Family[P, D, M],
    rows: Rows,
    point: Point[P, D],
    collapsed: Collapsed,
    policy: Policy,
    place: tuple[int, int],  # the iteration, and how many components collapsed before
) -> tuple[Event, Point[P, D] | None]:
    """What a policy does with a collapsed component: what happened, and where to go on, if so.

    Spec: GMM-COLLAPSE
    """
    component, k = collapsed.component, point.densities.k
    posterior = family.passes.posterior(point.densities, full=False)
    labels = memoryview(posterior.labels).tolist()
    members = [i for i, label in enumerate(labels) if label == component]
    iteration, before = place
    if k == 1 or component is None or before >= _MOST_RESETS:
        policy = "end"
    following = None
    if policy != "end" and component is not None:
        try:
            following = family.point(
                family.without(point.parameters, component)
                if policy == "drop"
                else family.replaced(point.parameters, component, rows.row(_worst(rows, posterior)))
            )
        except Collapsed:
            policy = "end"
    shown = tuple(members[:_SHOWN_ROWS])
    return Event(iteration, component, str(collapsed), shown, _DONE[policy]), following


def _worst(rows: Rows, posterior: Posterior) -> int:
    """The row, among those that count, that the mixture explains least."""
    weights, values = rows.data.weights, floats(posterior.log_likelihoods)
    counted = [i for i in range(len(values)) if weights is None or weights[i]]
    return min(counted, key=values.__getitem__)


def impossible(family: Family[P, D, M], rows: Rows, point: Point[P, D]) -> ImpossibleRow:
    """The error for parameters under which some row has probability zero."""
    likelihoods = floats(family.passes.posterior(point.densities, full=False).log_likelihoods)
    i = likelihoods.index(-math.inf)
    why, advice = lost_row(family.name)
    return ImpossibleRow(
        f"row {rows.data.row_name(i)} {why}, {likelihoods.count(-math.inf)} of {len(likelihoods)} "
        f"rows in all; start elsewhere, or {advice}"
    )


def best_run(runs: Sequence[Run[Any]]) -> int:
    """The run of the largest objective among those that did not collapse, the first of equals.

    Spec: EM-RESTART
    """
    return max(
        range(len(runs)),
        key=lambda i: (runs[i].stopped != "collapsed", runs[i].objective, -i),
    )


def all_collapsed(runs: Sequence[Run[Any]]) -> DegenerateCovariance:
    """The error for a fit of which no run is left."""
    event = runs[0].events[-1]
    rows = ", ".join(map(str, event.rows))
    of = f" (most probable for rows {rows})" if event.rows else ""
    many = f" in all {len(runs)} runs; in the first" if len(runs) > 1 else ""
    flat = "spread" in event.why
    choices = "a simpler covariance, a floor (floor=1e-6)" if flat else "another start"
    return DegenerateCovariance(
        f"a component collapsed{many}: in iteration {event.iteration} {event.why}{of}; choose "
        f"fewer components, {choices}, or the policy drop or reset"
    )
