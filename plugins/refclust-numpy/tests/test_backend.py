"""The plugin as refclust sees it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from refclust_numpy.backend import NumpyBackend

from refclust.backends.discovery import find
from refclust.backends.protocol import Estimate, Problem
from refclust.backends.session import Session
from refclust.cluster.kmeans import kmeans
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
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["False", "True", "True", "True"]


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


def test_auto_takes_it_for_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    monkeypatch.delenv("REFCLUST_BACKEND", raising=False)
    cloud = np.random.default_rng(0).random((20_000, 4))
    fit = kmeans(cloud, centres=cloud[:4], limit=2, session=Session("auto"))
    assert "reference" not in {run.backend for run in fit.provenance.kernels}


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_every_row_of_every_pass_is_decided_on_some_rung(offset: float) -> None:
    rows = [[offset + (i * 7) % 13 / 8, offset + i % 5 / 4] for i in range(40)]
    fit = kmeans(rows, centres=rows[:3], backend="numpy")
    calls = {run.kernel: run.calls for run in fit.provenance.kernels}
    assert {one.backend for one in fit.provenance.decided} == {"numpy"}
    assert sum(one.rows for one in fit.provenance.decided) == 40 * calls["kmeans.lloyd_step"]
    again = kmeans(rows, centres=rows[:3], backend="reference")
    assert again.provenance.decided == ()
    assert (again.labels, again.centres, again.rss) == (fit.labels, fit.centres, fit.rss)
