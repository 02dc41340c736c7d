"""The kernel that scales rows to length one, each component rounded once (chapter 10)."""

from __future__ import annotations

from array import array
from operator import mul

from refclust.kernels.contracts.basic import Equal
from refclust.kernels.contracts.merging import IN_ROW_ORDER
from refclust.kernels.points import Points, binary
from refclust.kernels.registry import kernel
from refclust.numbers.nearest import nearest_sqrt


@kernel("kmeans.directions", contract=Equal(), merge=IN_ROW_ORDER)
def directions(points: Points) -> array[float]:
    """All stored numbers, each divided by the length of its row; those of a zero row stay 0.

    Spec: KM-COSROWS, KER-DIRECTIONS

    >>> from refclust.data.dataset import dense
    >>> directions(Points(dense(array("d", [3, -4, 0, 2]), 2)))
    array('d', [0.6, -0.8, 0.0, 1.0])
    """
    flat = array("d")
    for row in points.rows:
        integers, _ = binary(row)  # the power of two cancels
        square = sum(map(mul, integers, integers))
        roots = (nearest_sqrt(x * x, square) if x else 0.0 for x in integers)
        flat.extend(-root if x < 0 else root for x, root in zip(integers, roots, strict=True))
    return flat
