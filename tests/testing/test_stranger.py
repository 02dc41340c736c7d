"""A backend that a stranger might write: C through ctypes, with what chapter 81 tells, no more."""

from __future__ import annotations

import ctypes
import subprocess
from array import array
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from refclust.backends.protocol import API_VERSION, Accuracy, Estimate, Problem, Refusal
from refclust.data.dataset import Dataset
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.kmeans import ClusterSums
from refclust.kernels.registry import KERNELS
from refclust.testing.kit import checks, conform

pytestmark = pytest.mark.long  # by `pytest -m long`

SOURCE = Path(__file__).parent / "stranger.c"
LIMBS, LOWEST = 72, 1126


@cache
def library(folder: Path, fault: int) -> ctypes.CDLL:
    made = folder / f"stranger{fault}.so"
    command = ["gcc", "-O2", "-fPIC", "-shared", f"-DFAULT={fault}", str(SOURCE), "-lm"]
    subprocess.run([*command, "-o", str(made)], check=True)
    return ctypes.CDLL(str(made))


class Rows:
    """What is prepared once: the numbers as doubles, in memory that C can read."""

    def __init__(self, data: Dataset) -> None:
        self.data, self.n, self.d = data, data.n, data.d
        numbers = array("d", data.matrix.values)
        self.numbers = (ctypes.c_double * len(numbers)).from_buffer(numbers)


class Stranger:
    """Two kernels, for dense rows; the rest is left to the reference."""

    name = "stranger"
    api_version = API_VERSION
    accuracy: Accuracy = "exact"

    def __init__(self, folder: Path, fault: int = 0) -> None:
        self._c = library(folder, fault)

    def kernels(self) -> Mapping[str, Callable[..., Any]]:
        return {"kmeans.assign": self._assign, "kmeans.accumulate": self._accumulate}

    def supports(self, kernel: str, problem: Problem) -> Estimate | Refusal:
        if problem.kind == "sparse":
            return Refusal("dense rows only")
        if "cosine" in problem.traits:
            return Refusal("distances only")
        if kernel == "kmeans.accumulate" and "weights" in problem.traits:
            return Refusal("rows without weights only")
        return Estimate(1e-9 * problem.size * max(problem.k, 1))

    def prepare(self, data: Any) -> Any:
        return Rows(data) if isinstance(data, Dataset) and data.kind == "dense" else data

    def export(self, value: Any) -> Any:
        return value

    def _assign(self, rows: Rows, centres: Any, metric: str) -> array[int]:
        matrix = CentreMatrix.of(centres)
        values = (ctypes.c_double * len(matrix.values)).from_buffer_copy(matrix.values)
        labels, doubtful = array("i", bytes(4 * rows.n)), (ctypes.c_ubyte * rows.n)()
        into = (ctypes.c_int32 * rows.n).from_buffer(labels)
        self._c.assign(rows.numbers, ctypes.c_long(rows.n), ctypes.c_long(rows.d), values,
                       ctypes.c_long(matrix.k), into, doubtful)  # fmt: skip
        some = [i for i, doubt in enumerate(doubtful) if doubt]
        if some:
            from refclust.kernels.points import Points

            # Without their weights: a data set must not be of weight 0, but these rows may be.
            alone = Dataset(rows.data.matrix).select(some)
            exact = KERNELS["kmeans.assign"].reference(Points(alone), matrix, metric)
            for i, label in zip(some, exact, strict=True):
                labels[i] = label
        return labels

    def _accumulate(self, rows: Rows, labels: Any, k: int) -> ClusterSums:
        given = (ctypes.c_int32 * rows.n).from_buffer_copy(memoryview(labels).cast("B"))
        limbs, counts = (ctypes.c_int64 * (k * rows.d * LIMBS))(), (ctypes.c_int64 * k)()
        self._c.accumulate(rows.numbers, ctypes.c_long(rows.n), ctypes.c_long(rows.d), given,
                           limbs, counts)  # fmt: skip
        flat = list(limbs)
        numbers = [
            sum(limb << (32 * place) for place, limb in enumerate(flat[i : i + LIMBS]) if limb)
            for i in range(0, len(flat), LIMBS)
        ]
        sums = tuple(tuple(numbers[c * rows.d : (c + 1) * rows.d]) for c in range(k))
        return ClusterSums(tuple(counts), 0, sums, LOWEST)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stranger")


@pytest.mark.spec("BK-KIT", "BK-CALLS")
def test_it_passes_and_what_it_declined_is_told(folder: Path) -> None:
    report = conform(Stranger(folder), quick=True)
    assert report.faults == ()
    assert report.ok
    assert report.kernels == ("kmeans.accumulate", "kmeans.assign")
    assert "sparse: dense rows only" in report.declined["kmeans.assign"]
    assert "dense, cosine: distances only" in report.declined["kmeans.assign"]
    assert "dense, weights: rows without weights only" in report.declined["kmeans.accumulate"]


@pytest.mark.parametrize(
    ("fault", "check", "word"),
    [
        (1, "searched", "doubles alone"),
        (2, "clusters-of-2^8", "the weight is 0, not 256"),
        (3, "memory", "memory grows with every call"),
    ],
)
def test_faults_in_c_are_found(folder: Path, fault: int, check: str, word: str) -> None:
    [judge] = [one for one in checks() if one.name == check]
    assert all(one.fault is None for one in judge.run(Stranger(folder)))
    faults = [one.fault for one in judge.run(Stranger(folder, fault)) if one.fault is not None]
    assert any(word in told for told in faults)


def test_rows_that_go_to_the_reference_are_counted(folder: Path) -> None:
    [judge] = [one for one in checks() if one.name == "reference"]
    notes = {one.kernel: one.note for one in judge.run(Stranger(folder))}
    assert "calls ran a kernel of the reference" in notes["kmeans.assign"]
    assert notes["kmeans.accumulate"] == ""
