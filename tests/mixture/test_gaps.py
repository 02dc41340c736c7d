"""Fits on rows with missing cells beside their formulas: variations, files, policies, refusals."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest

import refclust
from refclust.data.accepting.door import dataset
from refclust.errors import BadOption, DegenerateCovariance, MissingValue
from refclust.formulas import missing as room
from refclust.mixture.bayes.fit import variational_gaussian
from refclust.mixture.certified import certified_log_likelihood
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.mixture.families.named.gaussian import gaussian_mixture
from refclust.mixture.predict import assignments
from refclust.mixture.theory import decomposition
from refclust.models.clusters import load_model, save_model
from refclust.models.mixtures import model_of
from refclust.models.predict import predict


def holed(seed: int, n: int, share: float = 0.2) -> list[list[float | None]]:
    """Two groups on a line of slope one."""
    draw = random.Random(seed)
    rows: list[list[float | None]] = []
    for i in range(n):
        t = draw.gauss(0, 1)
        x = [6.0 * (i % 2) + t, 6.0 * (i % 2) + t + 0.3 * draw.gauss(0, 1)]
        rows.append([None if draw.random() < share else round(y, 3) for y in x])
    return rows


@pytest.mark.spec("MISS-EM")
@pytest.mark.parametrize(
    ("variation", "standing"),
    [
        ("hard", "not promised"),
        ("top", "not promised"),
        ("generalized", "holds"),
        ("stochastic", "not promised"),
        ("monte-carlo", "not promised"),
    ],
)
def test_every_variation_takes_missing_cells(variation: Any, standing: str) -> None:
    more: Any = {"top": 1} if variation == "top" else {}
    fit = gaussian_mixture(
        [*holed(3, 40), [None, None]],
        2,
        missing="integrate",
        variation=variation,
        seed=2,
        limit=10,
        backend="reference",
        **more,
    )
    assert fit.monotone.standing == standing
    assert min(fit.labels[:40].count(k) for k in (0, 1)) >= 18


@pytest.mark.spec("MISS-SIG")
def test_without_its_uncertainty_a_missing_column_would_be_too_narrow() -> None:
    """What a mean or a regression filled in once would lose is kept."""
    rows = holed(5, 400, 0.4)
    fit = gaussian_mixture(rows, 2, missing="integrate", seed=1, backend="reference")
    for covariance in fit.parameters.covariances:
        assert 0.8 < covariance[0][0] < 1.25
        assert 0.9 < covariance[0][1] / math.sqrt(covariance[0][0] * covariance[1][1]) < 0.99


@pytest.mark.spec("MISS-PRED", "MODEL-DOC")
def test_a_model_file_says_it(tmp_path: Path) -> None:
    fit = gaussian_mixture(holed(7, 30), 2, missing="integrate", seed=1, backend="reference")
    path = str(tmp_path / "m.json")
    save_model(path, model_of(fit))
    assert '"missing": "integrate"' in Path(path).read_text(encoding="utf-8")
    model: Any = load_model(path)
    new: list[list[float | None]] = [[0.0, None], [None, 6.0], [None, None]]
    ours, due = predict(model, new, full=True), predict(fit, new, full=True)
    assert (ours.labels, ours.joint) == (due.labels, due.joint)
    again = str(tmp_path / "again.json")
    save_model(again, model)
    assert Path(again).read_bytes() == Path(path).read_bytes()
    plain = gaussian_mixture([[0.0], [1.0], [5.0]], 1, backend="reference")
    save_model(again, model_of(plain), force=True)
    assert "missing" not in Path(again).read_text(encoding="utf-8")


@pytest.mark.spec("MISS-EM")
@pytest.mark.parametrize("policy", ["drop", "reset", "end"])
def test_policies_for_components_that_collapse(policy: Any) -> None:
    rows: Any = [[0.0, 1.0], [0.0, None], [None, 1.0], [0.0, 1.0]]
    rows += [[6.0, 4.0], [7.0, None], [8.0, 6.0], [None, 5.0], [6.5, 5.5]]
    asked: Any = {"missing": "integrate", "covariance": "VVI", "backend": "reference"}
    labels = [0] * 4 + [1] * 5
    if policy == "end":
        with pytest.raises(DegenerateCovariance, match="a component collapsed"):
            gaussian_mixture(rows, labels=labels, collapse=policy, **asked)
        return
    fit = gaussian_mixture(rows, labels=labels, collapse=policy, limit=200, **asked)
    assert fit.runs[0].events[0].done == {"drop": "dropped", "reset": "reset"}[policy]
    assert all(math.isfinite(x) for mean in fit.parameters.means for x in mean)


@pytest.mark.spec("MISS-LL")
def test_data_far_from_the_origin_lose_no_digits() -> None:
    rows = holed(11, 30)
    far = [[None if x is None else x + 2.0**30 for x in row] for row in rows]
    back = [[None if x is None else x - 2.0**30 for x in row] for row in far]
    asked: Any = {"missing": "integrate", "seed": 1, "limit": 6, "backend": "reference"}
    ours, due = gaussian_mixture(far, 2, **asked), gaussian_mixture(back, 2, **asked)
    assert ours.labels == due.labels
    assert abs(ours.log_likelihood - due.log_likelihood) < 1e-6
    enclosed = certified_log_likelihood(
        ours.parameters, far, family="gaussian", missing="integrate"
    )
    assert enclosed.distance(ours.log_likelihood) < 1e-9


@pytest.mark.spec("MISS-LL", "MISS-FILL")
def test_nearly_singular_covariances() -> None:
    """Ten digits of correlation: what is seen decides nearly all of what is missing."""
    sigma = ((1.0, 1.0 - 2.0**-30), (1.0 - 2.0**-30, 1.0))
    state = GaussianParameters((1.0,), ((0.0, 0.0),), (sigma[0] + sigma[1],), "full")
    rows: Any = [[1.0, None], [None, -2.0], [0.5, 0.5], [-1.0, -1.0]]
    fit = gaussian_mixture(
        rows, parameters=state, missing="integrate", limit=1, trace="parameters",
        backend="reference",
    )  # fmt: skip
    exact = room.log_likelihood(rows, [1] * 4, [(1, [0, 0], sigma)])
    assert abs(fit.trace[0].log_likelihood - float(exact)) <= fit.monotone.ascents[0].rounding
    [due] = next(room.em(rows, [1] * 4, [(1, [0, 0], sigma)]))
    for ours, right in zip(fit.parameters.covariances[0], due[2], strict=True):
        assert all(abs(a - b) < 1e-14 for a, b in zip(ours, right, strict=True))


@pytest.mark.spec("MISS-CELL", "MISS-PRED")
def test_who_was_not_told_refuses() -> None:
    rows = holed(13, 12, 0.4)
    gapped = dataset(rows, gaps=True)
    with pytest.raises(MissingValue):
        gaussian_mixture(rows, 1)
    fit = gaussian_mixture(rows, 1, missing="integrate", backend="reference")
    with pytest.raises(MissingValue):
        assignments(fit.parameters, rows, family="gaussian")
    with pytest.raises(MissingValue):
        decomposition([[1.0]] * 12, fit.parameters, gapped, family="gaussian")
    with pytest.raises(MissingValue):
        variational_gaussian(rows, 1)
    with pytest.raises(BadOption, match="missing is 'drop'"):
        gaussian_mixture(rows, 1, missing="drop")  # type: ignore[arg-type]
    with pytest.raises(BadOption, match="kmeans has no option missing"):
        refclust.kmeans(rows, 1, missing="integrate")  # type: ignore[call-arg]


@pytest.mark.spec("MISS-EM")
def test_one_column_of_which_cells_are_missing() -> None:
    """Rows without a cell change neither means nor variances, only how much each share is worth."""
    seen = [[0.0], [1.0], [9.0], [11.0]]
    asked: Any = {"labels": [0, 0, 1, 1], "limit": 0, "backend": "reference"}
    due = gaussian_mixture(seen, **asked)
    state = due.parameters
    fits = [
        gaussian_mixture(rows, parameters=state, missing="integrate", limit=3, backend="reference")
        for rows in (seen, [*seen, [None], [None]])
    ]
    assert fits[0].log_likelihood == pytest.approx(fits[1].log_likelihood, abs=1e-13)
    for a, b in zip(fits[0].parameters.spreads, fits[1].parameters.spreads, strict=True):
        assert b == pytest.approx(a, rel=0.5)
