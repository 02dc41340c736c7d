"""Every build of the compiled code keeps its promises, and all of them answer the same bits.

The number of lanes is a parameter of the build, so every machine tries all of them, each in a
process of its own: without vector extensions beyond the baseline, with 4, 8 and 16 lanes, one of
which are the machine's, and once with every access to memory checked.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import build_run
import pytest
from refclust_numba import checked
from refclust_numba.lowlevel import build
from refclust_numba.lowlevel.build import CHECKED_VARIABLE, LANES, LANES_VARIABLE

from refclust.errors import BadOption

HERE = Path(__file__).parent
# A generic processor has four lanes and no fused operations: the C library's are called.
BUILDS: dict[str, tuple[dict[str, str], str]] = {
    "checked": (dict(checked.ENVIRONMENT), f"{LANES} lanes, checked"),
    "baseline": ({"NUMBA_CPU_NAME": "generic"}, "4 lanes"),
    **{
        f"{width} lanes": ({LANES_VARIABLE: str(width)}, f"{width} lanes")
        for width in (4, 8, 16)
        if width != LANES
    },
}
ALLOCATE = """
import ctypes
c = ctypes.CDLL(None)
c.malloc.restype, c.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
c.free.argtypes = [ctypes.c_void_p]
place = c.malloc(136)
fresh = ctypes.string_at(place, 136)
ctypes.memset(place, 0x55, 136)
c.free(place)
freed = ctypes.string_at(place, 136)
print(fresh[32:40].hex(), freed[32:40].hex())
"""


def output(environment: dict[str, str], *command: str) -> list[str]:
    """What a process of a build prints, if it ends well."""
    switches = {LANES_VARIABLE, CHECKED_VARIABLE}
    plain = {name: text for name, text in os.environ.items() if name not in switches}
    answer = subprocess.run(
        [sys.executable, *command],
        env={**plain, **environment},
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, f"{answer.stdout}\n{answer.stderr}"
    return answer.stdout.splitlines()


@pytest.fixture(scope="module")
def bits() -> list[str]:
    return [f"{build_run.BITS}{line}" for line in build_run.digests()]


@pytest.mark.spec("KER-POSTERIOR", "KER-EMSTEP", "KER-MOMENTS", "KER-WORDS")
@pytest.mark.timeout(1800)  # each build compiles everything anew
@pytest.mark.parametrize(("environment", "name"), BUILDS.values(), ids=BUILDS)
def test_a_build_keeps_its_promises_and_the_bits(
    environment: dict[str, str], name: str, bits: list[str]
) -> None:
    lines = output(environment, "build_run.py", "kit", "suite", "grid", "bits")
    assert lines[0] == name
    assert [line for line in lines if line.startswith(build_run.BITS)] == bits


def test_a_checked_build_sees_what_it_should() -> None:
    due = ["outside", "before", "wide", "beyond", "unaligned", "unwritten", "fine"]
    assert output(dict(checked.ENVIRONMENT), "checked_faults.py") == due


def test_a_checked_process_believes_neither_fresh_nor_freed_memory() -> None:
    if platform.libc_ver()[0] != "glibc":
        return  # other libraries have no such switch
    assert output(dict(checked.ENVIRONMENT), "-c", ALLOCATE) == [f"{'fe' * 8} {'01' * 8}"]


def test_the_command_for_the_full_kit(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        calls.append((command[2:], options["env"]))
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(sys, "argv", ["checked", "--quick"])
    assert checked.main() == 1
    ((command, environment),) = calls
    assert command[1:] == ["conform", "numba", "--quick"]
    assert checked.ENVIRONMENT.items() <= environment.items()


@pytest.mark.parametrize(
    ("variable", "function"), [(LANES_VARIABLE, build._lanes), (CHECKED_VARIABLE, build._checked)]
)
@pytest.mark.parametrize("wrong", ["5", "yes", "-1"])
def test_a_build_that_there_is_not(
    variable: str, function: Any, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, wrong)
    with pytest.raises(BadOption, match=f"{variable}='{wrong}': use"):
        function()


@pytest.mark.parametrize(
    ("features", "lanes"), [("", 4), ("+sse4.2", 4), ("+avx,+avx2", 8), ("+avx2,+avx,+avx512f", 16)]
)
def test_lanes_are_those_of_the_machine(
    features: str, lanes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(LANES_VARIABLE, raising=False)
    monkeypatch.setattr(build.config, "CPU_FEATURES", features)
    assert build._lanes() == lanes
