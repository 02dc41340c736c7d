"""Tests of what results show of themselves, with the rows they are made of."""

from __future__ import annotations

import random

_DRAWS = random.Random(1)
ROWS = [
    [centre + _DRAWS.random(), centre + _DRAWS.random()] for centre in (0, 5, 9) for _ in range(50)
]
TRUTH = [name for name in "abc" for _ in range(50)]
