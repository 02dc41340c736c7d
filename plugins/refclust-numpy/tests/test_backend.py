"""The plugin as refclust sees it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from refclust_numpy.backend import NumpyBackend

from refclust.backends.choosing import memory
from refclust.backends.plugins.discovery import find
from refclust.backends.protocol import Estimate, Problem
from refclust.backends.session import Session
from refclust.cluster.fit import kmeans
from refclust.kernels.registry import KERNELS
from refclust.testing.kit import conform


def test_it_is_found_and_has_every_kernel() -> None:
    record = find("numpy")
    assert record.distribution == "refclust-numpy"
    assert record.state == "ready"
    assert set(NumpyBackend().kernels()) == set(KERNELS)


def test_it_keeps_every_contract_of_the_kit() -> None:
    report = conform(NumpyBackend(), quick=True)
    assert report.faults == ()
    assert report.ok
    assert report.absent == ()


def test_numpy_is_not_imported_before_a_kernel_runs() -> None:
    code = (
        "import sys\n"
        "import refclust_numpy\n"
        "from refclust.backends.protocol import Problem\n"
        "[backend] = refclust_numpy.refclust_register_backends()\n"
        "table = backend.kernels()['contingency.table']\n"
        "seconds = backend.supports('kmeans.assign', Problem('dense', 100, 200, 3)).seconds\n"
        "print('numpy' in sys.modules, seconds > 0.1)\n"
        "from refclust.kernels.contingency import LabelPairs\n"
        "table(LabelPairs([1], [2]))\n"
        "later = backend.supports('kmeans.assign', Problem('dense', 100, 200, 3)).seconds\n"
        "print('numpy' in sys.modules, later < seconds)\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.split() == ["False", "True", "True", "True"]


@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_estimates_grow_with_the_problem(kernel: str) -> None:
    sizes = [Problem("dense", n, n * 8, 8) for n in (10, 10_000, 10_000_000)]
    seconds = []
    for problem in sizes:
        support = NumpyBackend().supports(kernel, problem)
        assert isinstance(support, Estimate)
        seconds.append(support.seconds)
    assert seconds == sorted(seconds)
    assert len(set(seconds)) == 3


def test_auto_takes_it_for_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    monkeypatch.delenv("REFCLUST_BACKEND", raising=False)
    monkeypatch.setenv("REFCLUST_CACHE_DIR", str(tmp_path))
    memory.forget()
    verdict = memory.Verdict(True, "2026-11-17 12:00")
    memory.remember(find("numpy"), dict.fromkeys(KERNELS, verdict))
    cloud = np.random.default_rng(0).random((20_000, 4))
    fit = kmeans(cloud, centres=cloud[:4], limit=2, session=Session("auto"))
    memory.forget()
    assert "reference" not in {run.backend for run in fit.provenance.kernels}


@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_steady_estimates_know_nothing_but_the_problem(
    kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numpy  # noqa: F401

    problem = Problem("dense", 100, 400, 3, 20)
    steady = replace(problem, steady=True)
    imported = [NumpyBackend().supports(kernel, wanted) for wanted in (problem, steady)]
    monkeypatch.delitem(sys.modules, "numpy")
    new = [NumpyBackend().supports(kernel, wanted) for wanted in (problem, steady)]
    assert imported[0] != imported[1] == new[0] == new[1]


MIXTURE = """
import sys
if "warm" in sys.argv:
    import numpy, refclust
    refclust.kmeans([[float(i)] for i in range(50)], 2, backend="numpy")
    refclust.rand([0, 1], [0, 1])
from refclust.mixture.families.named.gaussian import gaussian_mixture
rows = [[(i * 7919 % 1009) / 64, (i * 104729 % 997) / 32 + i % 3 * 40] for i in range(4000)]
fit = gaussian_mixture(rows, 3, restarts=3, limit=4, seed=1)
ran = sorted({run.backend for run in fit.provenance.kernels if run.kernel.startswith("gaussian")})
print(ran, fit.log_likelihood.hex(), [x.hex() for mean in fit.parameters.means for x in mean])
"""


def test_a_mixture_is_the_same_from_cold_and_warm_caches(tmp_path: Path) -> None:
    """Which backend fits a mixture shows in its last bits; no cache and no past may show."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("REFCLUST_")}
    environment["REFCLUST_CACHE_DIR"] = str(tmp_path / "cache")
    runs = [
        subprocess.run(
            [sys.executable, "-c", MIXTURE, *how],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for how in ([], [], ["warm"])
    ]
    assert runs[0].startswith("['numpy'] ")
    assert runs[1:] == [runs[0]] * 2
    assert list((tmp_path / "cache" / "earned").glob("numpy-*.json"))


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_every_row_of_every_pass_is_decided_on_some_rung(offset: float) -> None:
    rows = [[offset + (i * 7) % 13 / 8, offset + i % 5 / 4] for i in range(40)]
    fit = kmeans(rows, centres=rows[:3], backend="numpy")
    calls = {run.kernel: run.calls for run in fit.provenance.kernels}
    assert {rung.backend for rung in fit.provenance.decided} == {"numpy"}
    assert sum(rung.rows for rung in fit.provenance.decided) == 40 * calls["kmeans.lloyd_step"]
    again = kmeans(rows, centres=rows[:3], backend="reference")
    assert again.provenance.decided == ()
    assert (again.labels, again.centres, again.rss) == (fit.labels, fit.centres, fit.rss)
