"""Agreement with mclust, scikit-learn and an independent multinomial mixture, from the same starts.

What peers computed is recorded in ``tests/golden/peers/mixtures``. All run the same number of
M-steps from the same start, so nothing but rounding lies between them. Every iteration may shift an
objective by the rounding bound of its certificate; near a maximum a later one does not magnify the
shift. Two implementations may therefore differ by twice the sum of these bounds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from refclust.mixture.families.counts.parameters import CountParameters
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.mixture.families.named.bernoulli import bernoulli_mixture
from refclust.mixture.families.named.gaussian import gaussian_mixture
from refclust.mixture.families.named.multinomial import multinomial_mixture
from refclust.mixture.predict import assignments
from refclust.mixture.results import MixtureFit

PEERS = Path(__file__).parents[1] / "golden" / "peers" / "mixtures"
ITERATED = ("VEI", "VEE", "VEV", "EVE")  # with inner iterations, which end at a tolerance
MOST_ITERATIONS = 130  # longer runs take seconds each and show nothing new
U = 2.0**-53


@cache
def recorded(name: str) -> Any:
    return json.loads((PEERS / name).read_text(encoding="utf-8"))


def allowance(fit: MixtureFit[Any]) -> float:
    return 2.0 * math.fsum(one.rounding for one in fit.runs[fit.best].ascents)


def runs() -> list[Any]:
    return [
        pytest.param(run, id=f"{run['data']}-{run['model']}-{run['components']}")
        for run in recorded("mclust.json")["runs"]
        if run["model"] != "VVE"  # mclust's step for it is no maximum: see test_vve
        and abs(run["em"]["iterations"]) <= MOST_ITERATIONS
    ]


def flat(matrices: Any) -> list[float]:
    return [x for matrix in matrices for row in matrix for x in row]


@pytest.mark.spec("GMM-COVM", "GMM-COVDF", "GMM-ALG", "MS-BIC")
@pytest.mark.parametrize("run", runs())
def test_mclust_from_the_same_labels(run: dict[str, Any]) -> None:
    peers = recorded("mclust.json")
    data, k = peers["data"][run["data"]], run["components"]
    fit = gaussian_mixture(
        data,
        k,
        covariance=run["model"],
        labels=peers["starts"][run["data"]][str(k)],
        tolerance=None,
        limit=max(abs(run["em"]["iterations"]) - 1, 0),
        backend="reference",
    )
    theirs = run["em"]["log_likelihood"]
    inner = 1e-10 * (1.0 + abs(theirs)) if run["model"] in ITERATED else 0.0
    assert fit.monotone.holds
    assert abs(fit.log_likelihood - theirs) <= allowance(fit) + inner
    assert fit.free_parameters == run["df"]
    bic = fit.free_parameters * math.log(len(data)) - 2.0 * fit.log_likelihood
    assert abs(bic + run["em"]["bic"]) <= 2.0 * (allowance(fit) + inner) + 8 * U * abs(bic)


@pytest.mark.spec("GMM-COVM")
@pytest.mark.parametrize(
    "case", recorded("vve.json")["cases"], ids=lambda case: f"{case['data']}-{case['components']}"
)
def test_vve(case: dict[str, Any]) -> None:
    # The maximum was found by two other methods from 24 starts; mclust's value lies below it.
    peers = recorded("mclust.json")
    fit = gaussian_mixture(
        peers["data"][case["data"]],
        covariance="VVE",
        labels=peers["starts"][case["data"]][str(case["components"])],
        limit=0,
        backend="reference",
    )
    # Its gradient ends near 1e-12 and enters the maximum with its square.
    assert abs(fit.log_likelihood - case["log_likelihood"]) <= 1e-10
    assert case["criterion"] < case["mclust_criterion"]


def started(name: str, form: str) -> GaussianParameters:
    start = recorded("sklearn.json")["starts"][name][
        "spherical" if form == "spherical" else "diagonal"
    ]
    k, d = len(start["weights"]), len(start["means"][0])
    if form == "spherical":
        spread: Any = (start["variances"],)
    elif form == "diag":
        spread = tuple(
            start["variances"][0] if isinstance(start["variances"][0], list) else start["variances"]
        )
    else:
        variances = (
            start["variances"][0] if isinstance(start["variances"][0], list) else start["variances"]
        )
        spread = tuple(variances[i] if i == j else 0.0 for i in range(d) for j in range(d))
    means = tuple(map(tuple, start["means"]))
    kind: Any = {"full": "full", "tied": "full", "diag": "diagonal", "spherical": "spherical"}[form]
    return GaussianParameters(tuple(start["weights"]), means, (spread,) * k, kind)


@pytest.mark.spec("GMM-ALG", "GMM-ESTEP", "GMM-SIG", "MS-AIC")
@pytest.mark.parametrize(
    "case", recorded("sklearn.json")["mixtures"], ids=lambda case: f"{case['data']}-{case['form']}"
)
def test_scikit_learn_from_the_same_parameters(case: dict[str, Any]) -> None:
    peers = recorded("sklearn.json")
    data = peers["data"].get(case["data"]) or recorded("mclust.json")["data"][case["data"]]
    model = {"full": "full", "tied": "tied", "diag": "diagonal", "spherical": "spherical"}
    for state in case["states"]:
        fit = gaussian_mixture(
            data,
            covariance=model[case["form"]],
            parameters=started(case["data"], case["form"]),
            tolerance=None,
            limit=state["iterations"],
            backend="reference",
        )
        # It adds 10 eps to every N_k, and subtracts squares of means from mean squares.
        scale = max(abs(x) for row in data for x in row) ** 2 / min(map(min, _variances(fit)))
        relative = (len(data) + 32) * U * state["iterations"] * scale * 4
        n = len(data)
        assert abs(fit.log_likelihood - n * state["score"]) <= allowance(fit) + n * relative
        assert fit.free_parameters == case["df"]
        _close(fit.parameters.weights, state["weights"], relative)
        for mine, theirs in zip(fit.parameters.means, state["means"], strict=True):
            _close(mine, theirs, relative * max(map(abs, theirs)))
        rows = peers["rows"][case["data"]]
        found = assignments(fit.parameters, [data[i] for i in rows], family="gaussian")
        for i, theirs in enumerate(state["posteriors"]):
            _close(found.responsibilities(i), theirs, relative * 100)


def _variances(fit: MixtureFit[GaussianParameters]) -> list[list[float]]:
    return [[c[j][j] for j in range(len(c))] for c in fit.parameters.covariances]


def _close(mine: Any, theirs: Any, most: float) -> None:
    assert max(abs(a - b) for a, b in zip(mine, theirs, strict=True)) <= most


@pytest.mark.spec("MMIX-ALG", "MMIX-LL", "BMIX-LL", "BMIX-THETA", "NB-MEST")
@pytest.mark.parametrize(
    "case",
    recorded("multinomial.json")["cases"],
    ids=lambda case: f"{case['family']}-{case['smoothing']}-{case['weighted']}",
)
def test_counts_with_60_digits(case: dict[str, Any]) -> None:
    peers = recorded("multinomial.json")
    counts = peers["counts"]
    fit_of: Callable[..., MixtureFit[CountParameters]] = multinomial_mixture
    if case["family"] == "bernoulli":
        counts = [[float(x > 0) for x in row] for row in counts]
        fit_of = bernoulli_mixture
    weights = peers["row_weights"] if case["weighted"] else None
    start = CountParameters(
        tuple(peers["start"]["weights"]), tuple(map(tuple, peers["start"]["probabilities"]))
    )
    for state in case["states"]:
        fit = fit_of(
            counts,
            parameters=start,
            m=float(case["smoothing"]),
            weights=weights,
            tolerance=None,
            limit=state["iteration"],
            backend="reference",
        )
        assert fit.iterations == state["iteration"]
        # One step: q errs by twice the error of a log density, sums and quotients by n u.
        words = max(math.fsum(row) for row in counts) + len(counts[0])
        step = 2 * (len(counts[0]) + 4) * 8 * words * U + (len(counts) + 40) * U
        most = step * state["iteration"]
        assert abs(fit.log_likelihood - state["log_likelihood"]) <= allowance(fit) + most * 100
        _close(fit.parameters.weights, state["weights"], most)
        for mine, theirs in zip(fit.parameters.probabilities, state["probabilities"], strict=True):
            _close(mine, theirs, most)
