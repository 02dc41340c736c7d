"""Dense rows: the reference's answers for every number of lanes, for small pieces, and checked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import lane_grid
import pytest
from refclust_numba.blocks import Blocks, blocks, sizes, tiny
from refclust_numba.dense.screening import ROWS
from refclust_numba.lowlevel.build import CHECKED_VARIABLE, LANES_VARIABLE
from refclust_numba.lowlevel.threads import limited

GRID = Path(__file__).with_name("lane_grid.py")

# What passes the end of an array, is read before it is written, or stays inside.
CHECKS = """
import numpy as np
from refclust_numba.dense.lanes import squared_gap
from refclust_numba.dense.reading import shift
from refclust_numba.lowlevel.build import DOUBLES
from refclust_numba.lowlevel.compiling import compiled, room

@compiled
def read(x, place, centre):
    return squared_gap(x, place, centre, 1)

@compiled
def write(x, out, place):
    shift(x, 0, DOUBLES, x, 1.0, out, place)

@compiled
def index(x, place):
    return x[place]

@compiled
def unwritten():
    return room(1, np.int64)[0]

def answer(function, *args):
    try:
        return function(*args)
    except IndexError as error:
        return type(error).__name__

x, centre, out = np.ones(DOUBLES + 1), np.zeros(DOUBLES), np.zeros(DOUBLES + 1, np.float32)
print([answer(read, x, place, centre) == DOUBLES for place in (0, 1)])
print([answer(read, x, place, centre) for place in (-1, 2, 1 << 40)])
print([answer(write, x, out, place) for place in (-1, 0, 1, 2)])
print([answer(index, x, place) for place in (0, DOUBLES + 1)])
print(hex(unwritten() & 0xFFFFFFFFFFFFFFFF))
"""


def run(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Another process with some settings; glibc fills what is freed there with rubbish."""
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "MALLOC_PERTURB_": "1", **settings},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.timeout(900)  # the other widths are tried by ``test_numba_builds``
def test_rows_columns_and_clusters_around_the_lanes_are_the_references() -> None:
    answer = run(str(GRID))
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout == "2814 cases are equal\n"


@pytest.mark.timeout(900)
@pytest.mark.parametrize("lanes", ["4", "8", "16"])
def test_a_checked_build_tells_what_is_outside(lanes: str) -> None:
    answer = run("-c", CHECKS, **{LANES_VARIABLE: lanes, CHECKED_VARIABLE: "1"})
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout.splitlines() == [
        "[True, True]",
        "['IndexError', 'IndexError', 'IndexError']",
        "['IndexError', None, None, 'IndexError']",
        "[1.0, 'IndexError']",
        "0xfefefefefefefefe",
    ]


@pytest.mark.parametrize("threads", [1, 3])
def test_small_pieces_change_nothing(threads: int) -> None:
    with tiny(), limited(threads):
        assert blocks == Blocks(*[1] * len(Blocks.__dataclass_fields__))
        assert sizes()["rows of a chunk of blocks"] == ROWS
        for kind in "df":
            assert lane_grid.steps(kind, "euclidean") == 279
            assert lane_grid.starts(kind) > 50
    assert blocks == Blocks()
