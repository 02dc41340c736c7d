"""Saboteurs: backends with one fault each, made to be rejected (chapter 81).

A kit that finds nothing proves nothing. Each saboteur is the reference but for one mistake that
real backends make, and the kit must reject it with a message that names the mistake. Nothing else
uses this package, and nothing here is an example to follow.
"""

from __future__ import annotations

from refclust.testing.saboteurs.hidden.drifts import hidden_drifts
from refclust.testing.saboteurs.hidden.edges import hidden_edges, of_edges
from refclust.testing.saboteurs.hidden.mixtures import hidden_mixtures
from refclust.testing.saboteurs.hidden.rows import hidden_rows
from refclust.testing.saboteurs.hidden.sessions import hidden_sessions
from refclust.testing.saboteurs.hidden.tables import hidden_tables
from refclust.testing.saboteurs.obvious.assorted import assorted
from refclust.testing.saboteurs.obvious.bounds import of_bounds
from refclust.testing.saboteurs.obvious.counts import of_counts
from refclust.testing.saboteurs.obvious.gaussian import of_gaussians
from refclust.testing.saboteurs.obvious.kmeans import of_kmeans
from refclust.testing.saboteurs.obvious.merging import of_merging
from refclust.testing.saboteurs.obvious.passes import hidden_passes, of_passes
from refclust.testing.saboteurs.saboteur import Saboteur


def saboteurs() -> tuple[Saboteur, ...]:
    """Those that the short kit rejects.

    >>> len(saboteurs()) >= 90
    True
    """
    return (
        *(*of_kmeans(), *assorted(), *of_gaussians(), *of_counts(), *of_merging()),
        *(*of_edges(), *of_passes(), *of_bounds()),
    )


def hidden_saboteurs() -> tuple[Saboteur, ...]:
    """Those that only the long kit rejects, since their fault shows on few calls.

    >>> len(hidden_saboteurs()) >= 90
    True
    """
    return (
        *hidden_rows(),
        *hidden_tables(),
        *hidden_mixtures(),
        *hidden_sessions(),
        *hidden_drifts(),
        *hidden_edges(),
        *hidden_passes(),
    )
