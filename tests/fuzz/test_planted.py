"""The fuzzer finds what is planted, and what it found comes back by name and from its file."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.cases import Case
from tests.fuzz.minimising import minimised

pytestmark = pytest.mark.long  # by `pytest -m long`

ROOT = Path(__file__).parents[2]
FOUND = {
    "raises": "KeyError at ",
    "hangs": "too slow at ",
    "hoards": "MemoryError at ",
    "dies": "died of SIGSEGV at csv",
    "loses": "a valid document is read as it is at csv",
    "wavers": "the same input ends in the same way at csv",
    "litters": "nothing is left behind at csv",
}


def fuzz(module: str, *arguments: str) -> tuple[int, str]:
    """Run the fuzzer in a process of its own."""
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=200
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout


# To see each of them come back takes some seconds in five processes: all of them in the deep
# profile, one in every run. That each is found takes one process, and is seen in every run.
DEEP = os.environ.get("REFCLUST_TEST_PROFILE") == "deep"
LIMITS = ("--seconds", "1", "--memory", "1g")


@pytest.mark.parametrize("fault", FOUND)
def test_a_planted_fault_is_found(fault: str, tmp_path: Path) -> None:
    inputs = {"wavers": "720"}.get(fault, "25")  # it wavers where something is read twice only
    code, out = fuzz(
        "tests.fuzz.planted", fault, "csv", "--inputs", inputs, "--no-pipes", *LIMITS,
        "--save", str(tmp_path),
    )  # fmt: skip
    assert (code, f"FINDING {FOUND[fault]}" in out) == (1, True)


@pytest.mark.parametrize("fault", FOUND if DEEP else ("loses",))
def test_a_planted_fault_is_found_and_comes_back(fault: str, tmp_path: Path) -> None:
    limits = ("--seconds", "2", "--memory", "1g")
    inputs = {"hangs": "60", "wavers": "2000"}.get(fault, "200")
    code, out = fuzz(
        "tests.fuzz.planted", fault, "csv", "--inputs", inputs, "--no-pipes", *limits,
        "--save", str(tmp_path),
    )  # fmt: skip
    assert code == 1
    place = out.index(f"FINDING {FOUND[fault]}")
    again = re.findall(r"--replay (\S+)", out[place:])[:2]
    assert re.fullmatch(r"csv:1:\d+", again[0])
    assert Path(again[1]).is_file()
    for name in again:
        code, out = fuzz("tests.fuzz.planted", fault, "--replay", name, *limits)
        assert (code, FOUND[fault] in out) == (1, True)
        code, out = fuzz("tests.fuzz", "--replay", name, "--no-pipes", *limits)
        assert (code, "FINDING" in out) == (0, False)


def test_a_finding_is_saved_small(tmp_path: Path) -> None:
    fuzz("tests.fuzz.planted", "raises", "csv", "--inputs", "60", "--save", str(tmp_path))
    saved = [json.loads(path.read_text(encoding="utf-8")) for path in tmp_path.glob("*.json")]
    (document,) = (one for one in saved if one["found"].startswith("KeyError"))
    content = document["files"][document["call"]["file"]]
    if "expected" not in document["call"]:
        assert content == {"text": "spam"}


def test_a_case_shrinks_to_what_matters() -> None:
    case = Case({"a": b"1\n2\nneedle\n4\n", "b": b"hay"}, {"k": 2, "deep": [1, {"x": 5}]})

    def same(smaller: Case) -> bool:
        return b"needle" in smaller.files.get("a", b"") and "deep" in smaller.call

    assert minimised(case, same) == Case({"a": b"needle"}, {"deep": []})


def test_a_document_of_json_shrinks_by_its_nodes() -> None:
    case = Case({"a": b'{"x": [1, 2, {"y": NaN}], "z": {"w": 3}}'}, {})

    def same(smaller: Case) -> bool:
        try:
            return "NaN" in json.dumps(json.loads(smaller.files.get("a", b"")))
        except ValueError:
            return False

    assert minimised(case, same).files["a"] == b'{"":[{"":NaN}]}'
