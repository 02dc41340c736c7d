"""Do data cluster at all? Places and objects drawn from a seeded stream (chapter 48)."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from refclust.errors import BadOption
from refclust.formulas.clustered import Clustered
from refclust.formulas.declared import metric
from refclust.formulas.density import columns, hopkins_ratio
from refclust.formulas.proximity import numbered
from refclust.formulas.undefined import Undefined
from refclust.formulas.vectors import Number, Vector, components
from refclust.limits import within
from refclust.numbers.real import Real
from refclust.numbers.sampling import shuffled, stream


@metric("Hopkins' statistic", evidence="rows", range=(0, 1), better="neither", integer=True)
def hopkins(
    clustered: Clustered,
    *,
    exponent: Number | None = None,
    objects: Number | None = None,
    seed: Number = 0,
) -> Real:
    """How much farther random places are from the data than objects are from each other.

    Spec: TEND-HOPKINS, NUM-RAND

    >>> from refclust.formulas.clustered import Clustered
    >>> float(hopkins(Clustered.of([[0], [1], [2], [3]], "aaaa"), objects=2))
    0.25634677860453475
    """
    copies = [i for i in range(clustered.n) for _ in range(int(clustered.weight(i)))]
    if len(copies) < 2:
        raise Undefined("0/0: an object alone has no nearest other")
    m = max(1, len(copies) // 10) if objects is None else numbered("objects", objects, None)
    if m > len(copies):
        raise BadOption(f"objects={m} of {len(copies)}; allowed: 1 to {len(copies)}")
    within("terms", 2 * m * len(copies), f"{m:,} places and as many objects")
    power = columns(clustered) if exponent is None else numbered("exponent", exponent, None)
    rows = [clustered.points[i] for i in copies]
    rng = stream(numbered("seed", seed, None) if seed else 0)
    sample = shuffled(rng, range(len(rows)))[:m]
    places = [random_place(rows, rng) for _ in range(m)]
    return hopkins_ratio(rows, places, sample, power)


def random_place(rows: Sequence[Vector], rng: random.Random) -> Vector:
    """A place drawn evenly from the box around the rows, column by column.

    Spec: TEND-HOPKINS
    """
    known = [components(row) for row in rows]
    sparse = isinstance(rows[0], Mapping)
    # Of sparse rows what is left out is zero; the order of columns must not depend on rows.
    places = sorted({place for row in known for place in row}, key=_by_name)
    drawn: dict[Any, Number] = {}
    for place in places:
        column = [row.get(place, Fraction()) for row in known]
        low, high = min(column), max(column)
        drawn[place] = low + Fraction(rng.random()) * (high - low)
    return drawn if sparse else tuple(drawn.values())


def _by_name(place: Any) -> tuple[bool, Any]:
    return isinstance(place, str), place
