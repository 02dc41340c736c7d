"""A few kills of a few fits; ``python -m tests.kills`` has all of them."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest


@pytest.mark.spec("KM-CKPT", "EM-CKPT", "DATA-FILE")
@pytest.mark.parametrize("kind", ["kmeans-cosine", "bisecting", "gaussian-sampled", "multinomial"])
def test_a_few_kills(kind: str) -> None:
    command = [sys.executable, "-m", "tests.kills", "--kills", "4", "--jobs", "1"]
    done = subprocess.run(
        [*command, "--kind", kind, "--backend", "reference"],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert (done.returncode, done.stderr) == (0, "")
    last = done.stdout.splitlines()[-1]
    assert re.search(r"\b4 killed\b", last)
    assert " 0 faults, " in last
