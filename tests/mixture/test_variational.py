"""Beliefs about mixtures: closed forms, the bound, superfluous components (chapter 34)."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.errors import BadOption, DegenerateCovariance, DimensionMismatch
from refclust.mixture.bayes.beliefs import GaussianBeliefs
from refclust.mixture.bayes.precisions import CONJUGATE, precision
from refclust.mixture.covariance.models import MODELS
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.mixture.sample import sample
from tests.metrics.strategies import some
from tests.mixture.tools import (
    MONOTONE,
    STARTS,
    Case,
    beliefs,
    check_numbers,
    documents,
    feature_beliefs,
    points,
    standing,
    word_beliefs,
)

ROWS = [[0.0, 0.0], [2.0, 1.0], [4.0, 5.0], [6.0, 2.0], [1.0, -3.0]]


def log_gamma(nu: float, d: int) -> float:
    """The logarithm of the gamma function of d columns at nu / 2, without powers of pi."""
    return math.fsum(math.lgamma((nu + 1 - j) / 2) for j in range(1, d + 1))


def moments(rows: Any) -> tuple[list[float], list[list[float]]]:
    n, d = len(rows), len(rows[0])
    mean = [math.fsum(row[j] for row in rows) / n for j in range(d)]
    scatter = [
        [math.fsum((r[i] - mean[i]) * (r[j] - mean[j]) for r in rows) for j in range(d)]
        for i in range(d)
    ]
    return mean, scatter


def log_determinant(matrix: list[list[float]]) -> float:
    if len(matrix) == 1:
        return math.log(matrix[0][0])
    (a, b), (c, d) = matrix
    return math.log(a * d - b * c)


@pytest.mark.spec("VB-GAUSS", "MS-VIELBO", "PROP-MS-1")
@pytest.mark.parametrize("beta", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("nu", [None, 4.5])
@pytest.mark.parametrize("d", [1, 2])
def test_one_component_has_the_evidence_in_closed_form(
    beta: float, nu: float | None, d: int
) -> None:
    """The bound is tight: q is the exact posterior, and the evidence is known (normal-Wishart)."""
    rows = [row[:d] for row in ROWS]
    fit = beliefs(rows, 1, beta=beta, nu=nu)
    n, nu0 = len(rows), float(d) if nu is None else nu
    mean, scatter = moments(rows)
    prior = [[x / n for x in row] for row in scatter]
    # The prior mean is that of the data, so nothing pulls.
    after = [
        [a + b for a, b in zip(p, s, strict=True)] for p, s in zip(prior, scatter, strict=True)
    ]
    due = math.fsum(
        (
            -0.5 * n * d * math.log(math.pi),
            log_gamma(nu0 + n, d),
            -log_gamma(nu0, d),
            0.5 * nu0 * log_determinant(prior),
            -0.5 * (nu0 + n) * log_determinant(after),
            0.5 * d * (math.log(beta) - math.log(beta + n)),
        )
    )
    # Terms of up to 50, each within 1e-14 of itself.
    assert fit.objective == pytest.approx(due, abs=1e-11)
    assert fit.parameters.alpha == (1.0 + n,)
    assert fit.parameters.nu == (nu0 + n,)
    assert fit.parameters.means[0] == pytest.approx(mean, abs=1e-14)
    flat = [x for row in after for x in row]
    assert fit.parameters.scales[0] == pytest.approx(flat, rel=1e-13, abs=1e-13)
    expected = fit.parameters.expected()
    assert isinstance(expected, GaussianParameters)
    assert expected.spreads[0] == pytest.approx([x / (nu0 + n) for x in flat], rel=1e-13, abs=1e-13)


@pytest.mark.spec("VB-MULT", "MS-VIELBO", "PROP-MS-1")
@pytest.mark.parametrize("concentration", [0.5, 1.0, 7.0])
def test_one_component_of_words_has_its_evidence(concentration: float) -> None:
    rows = [[4, 0, 1], [5, 1, 0], [0, 3, 3]]
    fit = word_beliefs(rows, 1, concentration=concentration)
    totals = [9, 4, 4]

    def log_beta(values: list[float]) -> float:
        return math.fsum(map(math.lgamma, values)) - math.lgamma(math.fsum(values))

    due = log_beta([concentration + t for t in totals]) - log_beta([concentration] * 3)
    assert fit.objective == pytest.approx(due, abs=1e-12)
    assert fit.parameters.eta == (tuple(concentration + t for t in totals),)


@pytest.mark.spec("PROP-MS-1", "VB-GAUSS", "VB-DIAG", "VB-BALL", "VB-COMMON", "MS-VIE", "MS-VIM")
@some(40)
@given(
    points(),
    st.sampled_from(CONJUGATE),
    st.sampled_from(STARTS),
    st.sampled_from(MONOTONE[:2]),
    st.sampled_from([1e-3, 0.5, 10.0, 1e6]),
    st.sampled_from([1e-3, 1.0, 1e4]),
)
def test_the_bound_never_falls(
    case: Case, covariance: str, start: str, variation: str, alpha: float, beta: float
) -> None:
    from refclust.errors import RefclustError

    try:
        fit = beliefs(
            case.rows,
            case.k,
            covariance=covariance,
            weights=case.weights,
            start=start,
            variation=variation,
            alpha=alpha,
            beta=beta,
            limit=12,
        )
    except RefclustError as error:
        assert error.code in ("k-out-of-range", "degenerate-covariance")  # noqa: PT017
        return
    assert fit.monotone.standing == standing(fit)
    check_numbers(fit)
    assert math.fsum(fit.sizes) == pytest.approx(fit.weight, rel=1e-14)
    for alpha_k, size in zip(fit.parameters.alpha, fit.parameters.beta, strict=True):
        assert alpha_k - alpha == pytest.approx(size - beta, abs=1e-9 * (alpha + beta))


@pytest.mark.spec("PROP-MS-1", "VB-MULT")
@some(25)
@given(documents(), st.sampled_from(STARTS), st.sampled_from([1e-3, 1.0, 1e6]))
def test_the_bound_of_words_never_falls(case: Case, start: str, strength: float) -> None:
    from refclust.errors import RefclustError

    try:
        fit = word_beliefs(
            case.rows,
            case.k,
            weights=case.weights,
            start=start,
            concentration=strength,
            limit=12,
        )
    except RefclustError as error:
        assert error.code == "k-out-of-range"  # noqa: PT017
        return
    assert fit.monotone.holds
    check_numbers(fit)


@pytest.mark.spec("MS-VIPRUNE", "VB-GAUSS")
def test_superfluous_components_are_emptied() -> None:
    """Two groups like eruptions and waiting times; six components, small prior shares."""
    truth = GaussianParameters(
        (0.36, 0.64),
        ((2.04, 54.5), (4.29, 80.0)),
        ((0.07, 0.44, 0.44, 33.7), (0.17, 0.94, 0.94, 36.0)),
        "full",
    )
    rows = [list(row) for row in sample(truth, 120, family="gaussian", seed=4).rows]
    fit = beliefs(rows, 4, alpha=1e-3, limit=400, seed=1, tolerance=1e-7)
    used = [k for k, size in enumerate(fit.sizes) if size >= 1]
    assert len(used) == 2
    shares = fit.parameters.expected().weights
    for k in range(4):
        if k not in used:
            # Back to its prior: alpha / (K alpha + W), nearly nothing of its own.
            assert shares[k] == pytest.approx(1e-3 / (4e-3 + 120), rel=0.5)
    assert fit.monotone.holds
    means = sorted(fit.parameters.means[k][1] for k in used)
    assert means == pytest.approx([54.5, 80.0], abs=3.0)


@pytest.mark.spec("VB-GAUSS", "GMM-SCALE")
def test_the_units_of_the_data_do_not_matter() -> None:
    one = beliefs(ROWS, 2, start="random", seed=3)
    scaled = [[x * 2.0**40 for x in row] for row in ROWS]
    other = beliefs(scaled, 2, start="random", seed=3)
    assert other.labels == one.labels
    assert other.iterations == one.iterations
    assert other.sizes == one.sizes
    assert other.objective == pytest.approx(one.objective - 5 * 2 * 40 * math.log(2), rel=1e-13)


@pytest.mark.spec("VB-DIAG", "VB-BALL", "VB-COMMON")
@pytest.mark.parametrize("covariance", CONJUGATE)
@pytest.mark.parametrize("beta", [0.5, 3.0])
def test_the_units_of_each_column_do_not_matter(covariance: str, beta: float) -> None:
    """Every column in a unit of its own, where the model has no ball; powers of two are exact."""
    powers = (40, 40) if covariance.endswith("II") else (40, -7)
    first = beliefs(ROWS, 2, covariance=covariance, beta=beta, start="random", seed=3)
    moved = [[math.ldexp(x, p) for x, p in zip(row, powers, strict=True)] for row in ROWS]
    other = beliefs(moved, 2, covariance=covariance, beta=beta, start="random", seed=3)
    assert other.sizes == first.sizes
    assert other.iterations == first.iterations
    due = first.objective - 5 * sum(powers) * math.log(2)
    assert other.objective == pytest.approx(due, rel=1e-13, abs=1e-12)


@pytest.mark.spec("VB-COMMON", "VB-GAUSS", "VB-DIAG", "VB-BALL")
@pytest.mark.parametrize(("common", "own"), [("EEE", "VVV"), ("EEI", "VVI"), ("EII", "VII")])
def test_one_component_has_nothing_to_share(common: str, own: str) -> None:
    """To the bit: the same sums in the same order."""
    first, other = (beliefs(ROWS, 1, covariance=model, beta=0.5) for model in (common, own))
    assert first.objective == other.objective
    assert first.parameters.scales == other.parameters.scales
    assert first.parameters.nu == other.parameters.nu


@pytest.mark.spec("VB-BALL", "VB-COMMON")
def test_beliefs_by_hand() -> None:
    """Four rows at the corners of a rectangle, one component of each pair.

    The mean is (2, 1), the variances are 4 and 1. Each pair has the mean (0, 1) or (4, 1), the
    scatter 0 and 2, and beta N / (beta + N) = 2/3 of the square of 2 for the way to its mean.
    """
    rows = [[0.0, 0.0], [0.0, 2.0], [4.0, 0.0], [4.0, 2.0]]
    options: dict[str, Any] = {"labels": [0, 0, 1, 1], "limit": 0}
    pull = 2 / 3 * 4
    due = {
        "VVI": ((4 + pull, 1 + 2), 1 + 2),
        "VII": ((2.5 + 2 + pull,), 1 + 2 * 2),
        "EEI": ((4 + 2 * pull, 1 + 4), 1 + 4),
        "EII": ((2.5 + 4 + 2 * pull,), 1 + 2 * 4),
        "EEE": ((4 + 2 * pull, 0.0, 0.0, 1 + 4), 2 + 4),
        "VVV": ((4 + pull, 0.0, 0.0, 1 + 2), 2 + 2),
    }
    for covariance, (scale, nu) in due.items():
        fit = beliefs(rows, 2, covariance=covariance, **options)
        assert fit.parameters.nu == (nu, nu)
        assert fit.parameters.means == ((2 - 4 / 3, 1.0), (2 + 4 / 3, 1.0))
        for own in fit.parameters.scales:
            assert own == pytest.approx(scale, rel=1e-15)
        assert fit.settings["covariance"] == fit.parameters.covariance == covariance
        spreads = fit.parameters.expected().spreads
        assert spreads[0] == pytest.approx([x / nu for x in scale], rel=1e-15)


@pytest.mark.spec("VB-BERN", "MS-VIELBO", "PROP-MS-1")
@pytest.mark.parametrize("concentration", [0.5, 1.0, 7.0])
def test_one_component_of_features_has_its_evidence(concentration: float) -> None:
    rows = [[1, 0, 1], [1, 1, 1], [1, 0, 0]]
    fit = feature_beliefs(rows, 1, concentration=concentration)

    def log_beta(a: float, b: float) -> float:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)

    b = concentration
    due = [log_beta(b + t, b + 3 - t) - log_beta(b, b) for t in (3, 1, 2)]
    assert fit.objective == pytest.approx(math.fsum(due), abs=1e-12)
    assert fit.parameters.eta == ((b + 3, b, b + 1, b + 2, b + 2, b + 1),)
    shares = [(b + t) / (3 + 2 * b) for t in (3, 1, 2)]
    assert fit.parameters.expected().probabilities[0] == pytest.approx(shares, rel=1e-15)


@pytest.mark.spec("PROP-MS-1", "VB-BERN")
@some(25)
@given(documents(), st.sampled_from(STARTS), st.sampled_from([1e-3, 1.0, 1e6]))
def test_the_bound_of_features_never_falls(case: Case, start: str, strength: float) -> None:
    from refclust.errors import RefclustError

    rows = [[int(x > 0) for x in row] for row in case.rows]
    options: dict[str, Any] = {"weights": case.weights, "start": start, "limit": 12}
    try:
        fit = feature_beliefs(rows, case.k, concentration=strength, **options)
    except RefclustError as error:
        assert error.code == "k-out-of-range"  # noqa: PT017
        return
    assert fit.monotone.holds
    check_numbers(fit)


@pytest.mark.spec("VB-COMMON")
def test_models_without_a_conjugate_prior() -> None:
    assert set(CONJUGATE) < set(MODELS)
    for model in MODELS:
        if model in CONJUGATE:
            own = precision(model, 3)
            assert own.count * own.size * own.times == 3
        else:
            with pytest.raises(BadOption, match=f"{model} has no conjugate prior.*EII.*VVV are"):
                beliefs(ROWS, 2, covariance=model)


@pytest.mark.spec("VB-GAUSS", "VB-DIAG", "VB-BALL")
def test_priors_that_are_none() -> None:
    with pytest.raises(BadOption, match="nu is 1; a number above 1, columns less one, is due"):
        beliefs(ROWS, 1, covariance="EEE", nu=1)
    for covariance in ("VVI", "EII"):
        with pytest.raises(BadOption, match=r"nu is 0.0; a number above 0 is due"):
            beliefs(ROWS, 1, covariance=covariance, nu=0.0)
    constant = [[row[0], 3.0] for row in ROWS]
    with pytest.raises(DegenerateCovariance, match="column 1"):
        beliefs(constant, 1, covariance="EEI")
    assert beliefs(constant, 1, covariance="VII").monotone.holds
    for covariance in ("EII", "VII"):
        with pytest.raises(DegenerateCovariance):
            beliefs([[1.0, 3.0]] * 3, 1, covariance=covariance)


@pytest.mark.spec("VB-GAUSS", "EM-INIT")
def test_beliefs_to_start_from() -> None:
    start = beliefs(ROWS, 2, covariance="VVI", limit=1)
    again = beliefs(ROWS, 2, covariance="VVI", parameters=start.parameters)
    assert again.monotone.holds
    with pytest.raises(BadOption, match="another kind of mixture"):
        beliefs(ROWS, 2, covariance="EEI", parameters=start.parameters)
    short = GaussianBeliefs((1.0,), (1.0,), (2.0,), ((0.0, 0.0),), ((1.0,),), "VVI")
    with pytest.raises(DimensionMismatch, match="scales of another form"):
        beliefs(ROWS, 1, covariance="VVI", parameters=short)
