"""Missing cells: every pattern goes through the kernels of the plugin, and nothing else changes."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from refclust.mixture.covariance.models import MODELS
from refclust.mixture.families.named.gaussian import gaussian_mixture
from refclust.vectors.verify import verify

BACKEND = "numpy"


def rows_of(seed: int, share: float) -> list[list[float | None]]:
    """Rows of two groups, some cells of which are missing."""
    draw = random.Random(seed)
    return [
        [None if draw.random() < share else 4.0 * (i % 2) + draw.gauss(0, 1) for _ in range(3)]
        for i in range(40)
    ]


@pytest.mark.parametrize("model", MODELS)
def test_nothing_missing_is_the_fit_of_whole_rows(model: str) -> None:
    asked: Any = {"covariance": model, "seed": 1, "limit": 8, "backend": BACKEND}
    told = gaussian_mixture(rows_of(1, 0), 2, missing="integrate", **asked)
    usual = gaussian_mixture(rows_of(1, 0), 2, **asked)
    assert replace(told, settings=usual.settings, provenance=usual.provenance) == usual


@pytest.mark.parametrize("model", MODELS)
def test_missing_cells_give_the_fit_of_the_reference(model: str) -> None:
    asked: Any = {"covariance": model, "seed": 1, "limit": 5, "missing": "integrate"}
    ours = gaussian_mixture(rows_of(2, 0.2), 2, backend=BACKEND, **asked)
    due = gaussian_mixture(rows_of(2, 0.2), 2, backend="reference", **asked)
    used = {run.kernel: run.backend for run in ours.provenance.kernels}
    assert used["gaussian.em_step"] == BACKEND
    assert ours.labels == due.labels
    assert ours.monotone.standing == "holds"
    # What two careful programs may differ by is in the certificate of either.
    slack = sum(each.rounding for each in (*ours.monotone.ascents, *due.monotone.ascents))
    assert abs(ours.log_likelihood - due.log_likelihood) <= slack


def test_the_golden_steps_pass() -> None:
    [file] = verify(backend=BACKEND, only="36-missing").files
    assert (file.passed, file.failures) == (file.values, ())
