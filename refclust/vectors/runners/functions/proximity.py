"""What golden vectors ask about chapters 46 and 48 beside their metrics."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from refclust.formulas import density, proximity
from refclust.formulas.clustered import Clustered
from refclust.formulas.declared import INFINITY
from refclust.formulas.vectors import Exact
from refclust.vectors.runners.functions.table import WHOLE, Functions


def _paths(nodes: int, edges: Sequence[Sequence[Fraction]]) -> list[list[Exact | float]]:
    """Shortest paths, -1 where there is none."""
    lengths = proximity.shortest_paths(nodes, [(int(a), int(b), c) for a, b, c in edges])
    return [[-1 if length == INFINITY else length for length in row] for row in lengths]


def _dense(clustered: Clustered) -> list[density.Dense]:
    """The clusters of two objects or more, as trees."""
    d = density.columns(clustered)
    large = [k for k in range(clustered.k) if clustered.sizes[k] > 1]
    return [density.density(clustered, k, d) for k in large]


def _separations(clustered: Clustered) -> list[Exact]:
    """How far each cluster is from the next, to the power of the dimension."""
    d, trees = density.columns(clustered), _dense(clustered)
    return [
        min(density.density_separation(clustered, x, y, d) for y in trees if y is not x)
        for x in trees
    ]


FUNCTIONS: Functions = {
    "shortest_paths": (_paths, ("nodes", "edges")),
    "weight_inside": (
        lambda c: [proximity.weight_inside(c, k) for k in range(c.k)],
        (WHOLE,),
    ),
    "volumes": (lambda c: [proximity.volume(c, k) for k in range(c.k)], (WHOLE,)),
    "silhouettes": (proximity.silhouettes, (WHOLE,)),
    "medoids": (lambda c: [proximity.medoid(c, k) for k in range(c.k)], (WHOLE,)),
    "pair_counts": (proximity.pair_counts, (WHOLE,)),
    "orders": (proximity.orders, (WHOLE,)),
    "core_powers": (lambda c: list(_dense(c)[0].cores), (WHOLE,)),
    "sparsenesses": (lambda c: [part.sparseness for part in _dense(c)], (WHOLE,)),
    "separations": (_separations, (WHOLE,)),
}
