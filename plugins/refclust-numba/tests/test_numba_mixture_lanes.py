"""Mixtures have the same bits whatever the lanes, fused operations or the number of threads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import mixture_grid
import pytest
from refclust_numba.lowlevel.build import CHECKED_VARIABLE

GRID = Path(__file__).with_name("mixture_grid.py")
# A block of 5 columns is read in whole vectors; its last one needs numbers behind it.
CUT_SHORT = """
from array import array
from refclust.data.dataset import dense
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures.gaussian import Gaussians
from refclust_numba.mixtures.gaussian import kernels
from refclust_numba.prepared import Rows

rows = Rows(dense(array("d", range(640)), 5))
one = Gaussians(array("d", [0.0]), CentreMatrix.of([[0.0] * 5]), array("d", [1.0]), "spherical")
kernels.posterior(rows, one, False)
print("whole")
blocks = rows.memory["gaussian"]
rows.memory["gaussian"] = blocks._replace(last_doubles=blocks.last_doubles[:640])
kernels.posterior(rows, one, False)
"""


@pytest.fixture(scope="module")
def digests() -> list[str]:
    return list(mixture_grid.lines())


def test_threads_change_no_digest(digests: list[str]) -> None:
    names = [line.partition(":")[0] for line in digests]
    assert len(set(digests)) == len(set(names)) < len(digests)


@pytest.mark.timeout(900)
def test_a_checked_build_sees_what_is_read_outside_of_an_array() -> None:
    answer = subprocess.run(
        [sys.executable, "-c", CUT_SHORT], env={**os.environ, CHECKED_VARIABLE: "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (answer.returncode, answer.stdout) == (1, "whole\n")
    last = answer.stderr.splitlines()[-1]
    assert last.startswith("IndexError: ")
    assert last.endswith("numbers at a place outside of the array (argument 0)")
