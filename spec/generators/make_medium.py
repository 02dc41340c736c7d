"""Random tables of 7 to 60 objects, of many shapes, with every key within reach."""

from __future__ import annotations

import random

from .catalogue import all_encoded, clauses
from .tables import from_labels
from .writer import METRICS, VectorFile

SEED = 20240601
CASES = 60


def files() -> list[VectorFile]:
    """The file of medium tables."""
    file = VectorFile(
        "41-metrics/medium.json",
        METRICS,
        "Random tables of 7 to 60 objects",
        {
            "reach": "adjusted_bcubed_f and adjusted_jaccard only where all tables can be listed",
            "draw": "labels agree with a chance that differs from case to case",
        },
    )
    draw = random.Random(SEED)
    seen = set()
    while len(file.cases) < CASES:
        n = 7 + int(draw.random() * (14 if len(file.cases) % 3 else 54))
        r, k = 2 + int(draw.random() * 4), 2 + int(draw.random() * 4)
        agree = draw.random()
        true = [int(min(draw.random(), draw.random()) * k) for _ in range(n)]
        pred = [label % r if draw.random() < agree else int(draw.random() * r) for label in true]
        table = from_labels(true, pred)
        if len(table.rows) == len(table.columns) or table.cells in seen:
            continue
        seen.add(table.cells)
        expect = all_encoded(table)
        file.formulas = sorted({*file.formulas, *clauses(list(expect))})
        rows = [[int(cell) for cell in row] for row in table.cells]
        file.add(f"medium-{len(file.cases) + 1:02d}", {"table": [[*row] for row in rows]}, expect)
    return [file]
