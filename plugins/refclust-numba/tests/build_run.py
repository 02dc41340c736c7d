"""What a build of the compiled code has to stand, in one process: short kit, suite, grid, bits.

``test_numba_builds`` runs this with the environment of each build. The last lines are digests of
answers to a fixed set of problems: all builds must print the same.
"""

from __future__ import annotations

import hashlib
import sys
from array import array
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lane_grid
import mixture_grid
import numpy as np
import pairs_grid
import pytest
from refclust_numba.lowlevel import build
from refclust_numba.prepared import Rows
from refclust_numba.registry import FUNCTIONS

from refclust.backends.plugins.discovery import find
from refclust.cluster.fit import kmeans
from refclust.data.dataset import dense
from refclust.kernels.contingency import LabelPairs
from refclust.kernels.information import Margins
from refclust.testing.kit import conform

HERE = Path(__file__).parent
# What looks at builds or files itself, not at answers.
ELSEWHERE = ("builds", "compiling", "lanes", "mixture_lanes")
BITS = "bits: "


def suite() -> list[str]:
    """The files of the plugin's suite."""
    left_out = {f"test_numba_{name}.py" for name in ELSEWHERE}
    return [str(path) for path in sorted(HERE.glob("test_*.py")) if path.name not in left_out]


def kit() -> str | None:
    """The first fault that the short kit finds."""
    backend = find("numba").backend
    assert backend is not None
    report = conform(backend, quick=True)
    return None if report.ok else f"{[str(fault) for fault in report.faults]}"


def fits() -> Iterator[Any]:
    """What some fits and tables answer."""
    draw = np.random.default_rng(7)
    cloud = draw.integers(-(1 << 20), 1 << 20, size=(900, 7)) / 2.0**18
    words = draw.poisson(0.15, size=(300, 50))
    documents = [{int(j): float(row[j]) for j in np.nonzero(row)[0]} or {0: 1.0} for row in words]
    for data in (cloud, cloud.astype(np.float32), cloud[:, :2], documents):
        for k, metric in ((3, "euclidean"), (17, "euclidean"), (9, "cosine")):
            for start in ("greedy", "random", "farthest"):
                fit = kmeans(data, k, metric=metric, start=start, seed=k, backend="numba")
                yield fit.labels.tolist(), fit.centres, fit.exact_within, fit.iterations
    for most in (9, 4000):
        labels = draw.integers(0, most, (2, 5000))
        yield sorted(FUNCTIONS["contingency.table"](LabelPairs(*map(memoryview, labels))).items())
        sizes = [sorted(Counter(Counter(side.tolist()).values()).items()) for side in labels]
        yield FUNCTIONS["information.expected_mi"](Margins(*map(tuple, sizes), 5000), 30)
    points = dense(array("d", cloud[:80].ravel().tolist()), 7)
    distances = FUNCTIONS["distances.pairwise"](Rows(points), "euclidean")
    yield bytes(distances)
    for linkage in ("single", "average", "ward"):
        yield FUNCTIONS["linkage.agglomerate"](distances, 80, linkage)


def digests() -> Iterator[str]:
    """One line for each group of answers."""
    for number, answer in enumerate(fits()):
        yield f"fit {number}: {hashlib.sha256(repr(answer).encode()).hexdigest()}"
    yield from mixture_grid.lines()
    yield from pairs_grid.lines()


def main() -> int:
    """Run the parts asked for; all have to pass."""
    sys.stdout.write(f"{build.LANES} lanes{', checked' * build.CHECKED}\n")
    asked = set(sys.argv[1:])
    if "kit" in asked:
        fault = kit()
        if fault is not None:
            sys.stdout.write(f"{fault}\n")
            return 1
    if "suite" in asked:
        # Cold code is compiled in whatever test comes first.
        code = pytest.main(["-n", "0", "-q", "-p", "no:cacheprovider", "--timeout=900", *suite()])
        if code:
            return int(code)
    if "grid" in asked:
        lane_grid.main()
    if "bits" in asked:
        for line in digests():
            sys.stdout.write(f"{BITS}{line}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
