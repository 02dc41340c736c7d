"""The ladder of data sets on which backends are tried (chapter 81).

Plain random data find nearly nothing: a kernel in single precision passes them. Each rung here
makes one kind of carelessness visible: large offsets, exact ties, equal rows, empty rows, weights,
numbers at both ends of the doubles. All is made from seeds, so every run sees the same.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from refclust.kernels.points import Vector
from refclust.testing.rungs import Rung, blobs_of, dense_of, weights_of
from refclust.testing.rungs.assorted import assorted
from refclust.testing.rungs.bulk import cells, long
from refclust.testing.rungs.centres.borders import borders
from refclust.testing.rungs.centres.candidates import candidates
from refclust.testing.rungs.centres.crowds import crowds, fits
from refclust.testing.rungs.centres.drifts import drifts
from refclust.testing.rungs.centres.edges import edges
from refclust.testing.rungs.centres.grid import grid
from refclust.testing.rungs.centres.lines import few_lines, lines
from refclust.testing.rungs.centres.quotients import quotients
from refclust.testing.rungs.centres.rows import bulk, directions, rows, sparse_rows
from refclust.testing.rungs.centres.searched import searched
from refclust.testing.rungs.mixtures.grid import mixture_grid, mixture_lines
from refclust.testing.rungs.mixtures.rows import counts, gaussians, made_up
from refclust.testing.rungs.passes import passes
from refclust.testing.rungs.tables import labels, margins
from refclust.testing.rungs.trees import distances


def ladder(*, quick: bool = False) -> tuple[Rung, ...]:
    """All rungs, or the few that find most faults.

    >>> [rung.name for rung in ladder() if rung.kind == "margins"]
    ['margins', 'sizes-on-both-sides', 'large-margins', 'sizes-of-margins']
    """
    if quick:
        return tuple(rung for rung in _first() if rung.quick)
    return _first() + _others()


def named(names: Collection[str]) -> tuple[Rung, ...]:
    """The rungs of these names, in the order of the ladder.

    >>> [rung.name for rung in named(["distances", "plain"])]
    ['plain', 'distances']
    """
    rungs = tuple(rung for rung in _first() if rung.name in names)
    if len(rungs) < len(names):
        rungs += tuple(rung for rung in _others() if rung.name in names)
    return rungs


def twins() -> tuple[Rung, Rung]:
    """Two data sets of one shape and other numbers.

    >>> [(rung.data.n, rung.data.d) for rung in twins()]
    [(40, 3), (40, 3)]
    """
    why = "data of one shape must not be taken for each other"
    rung, twin = (
        Rung(
            "twins",
            why,
            "all-rows",
            dense_of(sorted(_counted(blobs_of(40, 3, seed)), reverse=seed > 21), weights),
        )
        for seed, weights in ((21, weights_of(40, 21)), (22, weights_of(40, 22)))
    )
    return rung, twin


def _counted(rows: list[Vector]) -> list[Vector]:
    """Rows that may be counts, too: none of their numbers is negative."""
    return [tuple(round(x + 1.0, 4) for x in row) for row in rows]


@lru_cache(maxsize=1)
def _first() -> tuple[Rung, ...]:
    """Groups of rungs with some for the short kit, which makes no others: that would take long."""
    return (
        *rows(),
        *sparse_rows(),
        *directions(),
        *assorted(),
        *bulk(),
        *labels(),
        *margins(),
        *distances(),
        *passes(),
        *gaussians(),
        *counts(),
        few_lines(),
        searched(quick=True),
        drifts(quick=True),
        crowds(quick=True),
        fits(),
        borders(quick=True),
        *quotients(),
        *made_up(),
        grid(quick=True),
        mixture_grid(quick=True),
        *cells(),
    )


@lru_cache(maxsize=1)
def _others() -> tuple[Rung, ...]:
    """Rungs of the whole kit alone."""
    return (
        candidates(),
        *edges(),
        *lines(),
        *long(),
        searched(quick=False),
        drifts(quick=False),
        crowds(quick=False),
        borders(quick=False),
        grid(quick=False),
        *mixture_lines(),
        mixture_grid(quick=False),
    )
