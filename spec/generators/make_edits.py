"""Golden vectors of MATCH-EDIT and SMI: every relabelling, every permutation of the labels."""

from __future__ import annotations

import importlib
import itertools
import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from .significance_tests import _mp, number
from .values import Json, Undefined, encode
from .vectors_common import ball
from .writer import VectorFile

# Loaded by name because mpmath ships no types: everything from it is Any.
mpmath: Any = importlib.import_module("mpmath")

F = Fraction
SUBJECT = "metrics.evidence"


def files() -> list[VectorFile]:
    """One file for both."""
    file = VectorFile(
        "41-metrics/edits.json", SUBJECT, "Edit distance, standardised mutual information"
    )
    draw = random.Random(4143)
    for i in range(40):
        n = 1 + i % 6
        true = [int(draw.random() * (1 + i % 4)) for _ in range(n)]
        said = [int(draw.random() * 3) for _ in range(n)]
        smi = _standardized(true, said)
        expect: dict[str, Json] = {
            "edit_distance": encode(F(_edits(true, said))),
            "standardized_mutual_information": smi,
            "smi_over_tables": smi,
        }
        given: dict[str, Json] = {"labels_true": list(true), "labels_pred": list(said)}
        file.add(f"edits-{i:02d}", given, expect, formulas=["MATCH-EDIT", "SMI"])
    return [file]


def _edits(true: Sequence[int], said: Sequence[int]) -> int:
    """The fewest objects that differ under any way to call the clusters by names of classes."""
    names = [*sorted(set(true)), *range(100, 100 + len(set(said)))]  # new ones, too
    clusters = sorted(set(said))
    least = len(true)
    for chosen in itertools.permutations(names, len(clusters)):
        called = dict(zip(clusters, chosen, strict=True))
        least = min(least, sum(called[s] != t for s, t in zip(said, true, strict=True)))
    return least


def _standardized(true: Sequence[int], said: Sequence[int]) -> dict[str, Json]:
    """The mean and variance over all permutations, by both witnesses."""
    tables = [Counter(zip(order, said, strict=True)) for order in itertools.permutations(true)]
    products = set()
    for cells in tables:
        product = 1
        for count in cells.values():
            product *= count**count
        products.add(product)
    if len(products) == 1:
        return encode(Undefined())
    ctx.prec, mpmath.mp.dps = 2000, 200
    kinds = Counter(tuple(sorted(cells.items())) for cells in tables)
    pair = []
    for log, share, root in (
        (lambda x: ball(x).log(), ball, arb.sqrt),
        (lambda x: mpmath.log(_mp(x)), _mp, mpmath.sqrt),
    ):
        values = {kind: _information(dict(kind), len(true), log, share) for kind in kinds}
        chances = {kind: share(F(ways, len(tables))) for kind, ways in kinds.items()}
        mean = sum(chances[kind] * values[kind] for kind in kinds)
        variance = sum(chances[kind] * (values[kind] - mean) ** 2 for kind in kinds)
        observed = values[tuple(sorted(tables[0].items()))]
        pair.append((observed - mean) / root(variance))
    return number(pair[0], pair[1])


def _information(cells: dict[tuple[int, int], int], n: int, log: Any, share: Any) -> Any:
    rows, columns = Counter[int](), Counter[int]()
    for (t, s), count in cells.items():
        rows[t] += count
        columns[s] += count
    return sum(
        share(F(count, n)) * log(F(n * count, rows[t] * columns[s]))
        for (t, s), count in cells.items()
    )
