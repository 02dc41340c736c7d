"""Mixtures have the same bits whatever the lanes, fused operations or the number of threads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import mixture_grid
import pytest
from refclust_numba.lowlevel.build import LANES_VARIABLE

GRID = Path(__file__).with_name("mixture_grid.py")


@pytest.fixture(scope="module")
def digests() -> list[str]:
    return list(mixture_grid.lines())


def test_threads_change_no_digest(digests: list[str]) -> None:
    names = [line.partition(":")[0] for line in digests]
    assert len(set(digests)) == len(set(names)) < len(digests)


@pytest.mark.spec("KER-POSTERIOR", "KER-EMSTEP", "KER-MOMENTS", "KER-WORDS")
@pytest.mark.timeout(900)  # code for another build may have to be compiled
@pytest.mark.parametrize(("lanes", "cpu"), [("4", ""), ("8", ""), ("16", ""), ("4", "generic")])
def test_every_build_gives_the_same_bits(lanes: str, cpu: str, digests: list[str]) -> None:
    # A generic processor has no fused operations: the C library's are called.
    settings = {**os.environ, LANES_VARIABLE: lanes} | ({"NUMBA_CPU_NAME": cpu} if cpu else {})
    answer = subprocess.run(
        [sys.executable, str(GRID)], env=settings, capture_output=True, text=True, check=False
    )
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout.splitlines() == digests
