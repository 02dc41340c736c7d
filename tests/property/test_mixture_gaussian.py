"""What chapter 32 says about Gaussian mixtures, on arbitrary points."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from refclust.cluster.fit import kmeans
from refclust.errors import DegenerateCovariance, RefclustError
from refclust.formulas import gaussian as formulas
from refclust.formulas.vectors import total
from refclust.mixture.covariance.models import covariance_model, mixture_parameters
from refclust.mixture.density import half_log_precision, mahalanobis, whitened
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.mixture.predict import assignments
from refclust.mixture.results import MixtureFit
from refclust.mixture.theory import expected_log_likelihood, log_joint, posteriors
from tests.metrics.strategies import some
from tests.mixture.tools import (
    CONVEX,
    MODELS,
    Case,
    U,
    check_numbers,
    gaussian,
    lse,
    normal_logs,
    points,
    standing,
    told,
)

STABLE = 0.1  # a floor that keeps every component of small data alive


def fitted(case: Case, **options: Any) -> MixtureFit[GaussianParameters]:
    known: dict[str, Any] = {"weights": case.weights, "floor": STABLE}
    if "parameters" not in options and "start" not in options:
        known["labels"] = case.labels
    return gaussian(case.rows, **{**known, **options})


def exact_moments(
    case: Case, label: int | None = None
) -> tuple[Fraction, list[Fraction], list[list[Fraction]]]:
    """Weight, mean and scatter of a group in fractions; of all rows without a label."""
    rows = [
        (Fraction(w), list(map(Fraction, row)))
        for row, w, own in zip(case.rows, case.masses, case.labels, strict=True)
        if label is None or own == label
    ]
    d = len(case.rows[0])
    n = sum((w for w, _ in rows), Fraction(0))
    mean = [sum((w * x[j] for w, x in rows), Fraction(0)) / n for j in range(d)]
    scatter = [
        [
            sum((w * (x[i] - mean[i]) * (x[j] - mean[j]) for w, x in rows), Fraction(0))
            for j in range(d)
        ]
        for i in range(d)
    ]
    return n, mean, scatter


# -- densities ------------------------------------------------------------------------------------


@st.composite
def planes(draw: st.DrawFn) -> tuple[list[tuple[float, ...]], GaussianParameters]:
    """Rows of one or two columns and well-conditioned components."""
    d, k = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    number = st.integers(-12, 12).map(lambda i: i / 4)
    rows = draw(st.lists(st.tuples(*[number] * d), min_size=1, max_size=6))
    parts = [draw(st.integers(1, 5)) for _ in range(k)]
    spreads = []
    for _ in range(k):
        a, c = draw(st.sampled_from([0.5, 1.0, 4.0])), draw(st.sampled_from([0.25, 1.0, 9.0]))
        b = draw(st.sampled_from([0.0, 0.5, -0.5])) * math.sqrt(a * c)
        spreads.append((a,) if d == 1 else (a, b, b, c))
    means = tuple(draw(st.tuples(*[number] * d)) for _ in range(k))
    weights = tuple(part / sum(parts) for part in parts)
    return rows, GaussianParameters(weights, means, tuple(spreads), "full")


@pytest.mark.spec("GAU-PDF", "GAU-PDF1", "GAU-LL", "DIST-MAHA", "GMM-DENS", "GMM-LL", "GMM-ESTEP")
@some(50)
@given(planes())
def test_densities_are_those_of_the_formulas(
    drawn: tuple[list[tuple[float, ...]], GaussianParameters],
) -> None:
    """Correlations are at most one half, so inverting loses less than a factor of 4."""
    rows, parameters = drawn
    found = log_joint(parameters, rows, family="gaussian")
    shares = posteriors(parameters, rows, family="gaussian")
    told_of = assignments(parameters, rows, family="gaussian")
    for i, (row, one) in enumerate(zip(rows, found, strict=True)):
        due = normal_logs(parameters, row)
        allowed = 256 * U * (1 + math.fsum(map(abs, due)))
        assert one == pytest.approx(due, abs=allowed)
        assert told_of.log_likelihoods[i] == pytest.approx(lse(due), abs=allowed)
        for share, x in zip(shares[i], due, strict=True):
            assert share == pytest.approx(math.exp(x - lse(due)), abs=allowed)
    mean, covariance = parameters.means[0], parameters.covariances[0]
    single = GaussianParameters((1.0,), (mean,), (parameters.spreads[0],), "full")
    logs = [normal_logs(single, row)[0] for row in rows]
    scale = 256 * U * (1 + math.fsum(map(abs, logs)))
    whole = formulas.log_likelihood_of_one(rows, [1] * len(rows), mean, covariance)
    assert float(whole) == pytest.approx(math.fsum(logs), abs=scale)
    for row, log in zip(rows, logs, strict=True):
        density = formulas.density(row, mean, covariance)
        assert float(density) == pytest.approx(math.exp(log), rel=256 * U * (1 + abs(log)))
        square = formulas.mahalanobis(row, mean, covariance)
        assert square >= 0
        assert mahalanobis(row, mean, covariance) == pytest.approx(float(square), abs=scale)
        peak = half_log_precision(whitened(covariance)) - len(mean) * math.log(2 * math.pi) / 2
        assert peak - float(square) / 2 == pytest.approx(log, abs=scale)


@pytest.mark.spec("DIST-MAHA")
@some(50)
@given(planes())
def test_squared_distances_are_those_of_the_inverse(
    drawn: tuple[list[tuple[float, ...]], GaussianParameters],
) -> None:
    """In fractions: by the inverse written out, in other units, and added up column by column."""
    rows, parameters = drawn
    mean, covariance = parameters.means[0], parameters.covariances[0]
    for row in rows:
        away = [Fraction(x) - Fraction(m) for x, m in zip(row, mean, strict=True)]
        found = formulas.mahalanobis(row, mean, covariance)
        (a, *_), c = map(Fraction, covariance[0]), Fraction(covariance[-1][-1])
        if len(mean) == 1:
            assert found == away[0] ** 2 / a
        else:
            b, (x, y) = Fraction(covariance[0][1]), away
            assert found == (c * x * x - 2 * b * x * y + a * y * y) / (a * c - b * b)
        assert formulas.mahalanobis(mean, row, covariance) == found
        wide = [[4 * Fraction(x) for x in line] for line in covariance]
        assert formulas.mahalanobis(row, mean, wide) == found / 4
        alone = [[x if i == j else 0 for j, x in enumerate(line)] for i, line in enumerate(wide)]
        apart = [formulas.mahalanobis([x], [m], [[alone[j][j]]])
                 for j, (x, m) in enumerate(zip(row, mean, strict=True))]  # fmt: skip
        assert formulas.mahalanobis(row, mean, alone) == total(apart)
    flat = [[Fraction(1)] * 2] * 2
    for singular in (flat, [[1, 2], [2, 1]], [[-1, 0], [0, -1]]):
        with pytest.raises(DegenerateCovariance):
            formulas.mahalanobis([0, 0], [1, 1], singular)


@pytest.mark.spec("GMM-EXPCDLL", "EM-EXPCDLL")
@some(30)
@given(planes())
def test_the_expected_likelihood_follows_from_sums(
    drawn: tuple[list[tuple[float, ...]], GaussianParameters],
) -> None:
    """Row by row, and from counts and second moments around the means: the trace form."""
    rows, parameters = drawn
    q = posteriors(parameters, rows, family="gaussian")
    found = expected_log_likelihood(q, parameters, rows, family="gaussian")
    terms = []
    for c, covariance in enumerate(parameters.covariances):
        counts = [row[c] for row in q]
        n, mean = math.fsum(counts), parameters.means[c]
        peak = math.log(formulas.density(mean, mean, covariance)) + math.log(parameters.weights[c])
        squares = [mahalanobis(row, mean, covariance) for row in rows]
        terms += [n * peak, *(-0.5 * s * x for s, x in zip(counts, squares, strict=True))]
    assert found == pytest.approx(math.fsum(terms), abs=512 * U * (1 + math.fsum(map(abs, terms))))


# -- estimates ------------------------------------------------------------------------------------


@pytest.mark.spec("GAU-MLEMU", "GAU-MLESIG", "GMM-NK", "GMM-PI", "GMM-MU", "GMM-SIG", "GMM-FLOOR")
@pytest.mark.spec("CEM-NK", "CEM-MU", "CEM-SIG", "CEM-PI", "CEM-MSTEP", "GMM-SPH", "GMM-COVM")
@some(50)
@given(points(), st.sampled_from(CONVEX), st.sampled_from([0.0, 0.5]))
def test_estimates_from_labels_against_fractions(case: Case, model: str, floor: float) -> None:
    """One-hot shares: every number is a few roundings from the exact one."""
    try:
        fit = gaussian(
            case.rows,
            labels=case.labels,
            weights=case.weights,
            covariance=model,
            floor=floor,
            limit=0,
        )
    except DegenerateCovariance:
        return
    d, k = len(case.rows[0]), case.k
    whole, _, everything = exact_moments(case)
    psi = [Fraction(floor) * everything[j][j] / whole for j in range(d)]
    groups = [exact_moments(case, c) for c in range(k)]
    raised = [
        [[s + (psi[i] if i == j else 0) for j, s in enumerate(row)] for i, row in enumerate(one[2])]
        for one in groups
    ]
    for c, (n, mean, _) in enumerate(groups):
        assert fit.parameters.weights[c] == float(n / whole)
        top = max(abs(x) for row in case.rows for x in row)
        assert fit.parameters.means[c] == pytest.approx(list(map(float, mean)), abs=4 * U * top)
    pooled = [
        [sum((one[i][j] for one in raised), Fraction(0)) / whole for j in range(d)]
        for i in range(d)
    ]
    scale = float(everything[0][0] + sum(everything[j][j] for j in range(d))) * (1 + floor)
    found = fit.parameters.covariances
    if any(model_of(raised[c], model) is None for c in range(k)):
        return
    try:
        gaussian(
            case.rows,
            labels=case.labels,
            weights=case.weights,
            covariance=model,
            floor=floor,
            limit=1,
            tolerance=None,
        )
    except DegenerateCovariance:
        return  # a group without spread of its own begins with the pooled one
    for c in range(k):
        own = [[x / groups[c][0] for x in row] for row in raised[c]]
        base = pooled if model.startswith("E") else own
        trace = sum((base[j][j] for j in range(d)), Fraction(0)) / d
        for i in range(d):
            for j in range(d):
                if model in ("EII", "VII"):
                    due = trace if i == j else Fraction(0)
                elif model in ("EEI", "VVI"):
                    due = base[i][i] if i == j else Fraction(0)
                else:
                    due = base[i][j]
                assert found[c][i][j] == pytest.approx(float(due), abs=64 * U * scale)


def model_of(scatter: list[list[Fraction]], model: str) -> bool | None:
    """Nothing if a group has no spread in some column, so that the start pools."""
    d = len(scatter)
    variances = [scatter[j][j] for j in range(d)]
    if model.startswith("E"):
        return True
    if not all(variances):
        return None
    if model == "VVV" and d > 1:
        for i in range(d):
            for j in range(i):
                if scatter[i][j] ** 2 * 100 >= variances[i] * variances[j] * 99:
                    return None
        return True if d == 2 else None
    return True


@pytest.mark.spec("GMM-ALG", "GMM-ESTEP", "GMM-SIG", "GMM-MU", "EM-ALG")
@some(25)
@given(planes(), st.integers(1, 2))
def test_the_algorithm_step_by_step(
    drawn: tuple[list[tuple[float, ...]], GaussianParameters], limit: int
) -> None:
    rows, parameters = drawn
    d = len(rows[0])
    assume(len(rows) >= len(parameters.weights))
    try:
        fit = gaussian(rows, parameters=parameters, limit=limit, tolerance=None, floor=0.5)
    except DegenerateCovariance:
        return
    n = len(rows)
    centre = [math.fsum(row[j] for row in rows) / n for j in range(d)]
    psi = [0.5 * math.fsum((row[j] - centre[j]) ** 2 for row in rows) / n for j in range(d)]
    now = parameters
    for _ in range(limit):
        logs = [normal_logs(now, row) for row in rows]
        q = [[math.exp(x - lse(one)) for x in one] for one in logs]
        weights, means, spreads = [], [], []
        for c in range(len(parameters.weights)):
            mass = math.fsum(row[c] for row in q)
            mean = [
                math.fsum(s[c] * r[j] for s, r in zip(q, rows, strict=True)) / mass
                for j in range(d)
            ]
            spread = []
            for i in range(d):
                for j in range(d):
                    terms = [
                        s[c] * (r[i] - mean[i]) * (r[j] - mean[j])
                        for s, r in zip(q, rows, strict=True)
                    ]
                    spread.append((math.fsum(terms) + (psi[i] if i == j else 0.0)) / mass)
            weights.append(mass / n)
            means.append(tuple(mean))
            spreads.append(tuple(spread))
        now = GaussianParameters(tuple(weights), tuple(means), tuple(spreads), "full")
        assume(min(weights) > 1e-3)
    # Two steps of the same formulas in another order: roundings, magnified by conditions below 1e3.
    assert fit.parameters.weights == pytest.approx(now.weights, abs=1e-10)
    for one, other in zip(fit.parameters.means, now.means, strict=True):
        assert one == pytest.approx(other, abs=1e-9)
    for one, other in zip(fit.parameters.spreads, now.spreads, strict=True):
        assert one == pytest.approx(other, abs=1e-8)


@pytest.mark.spec("GMM-COV", "GMM-COVDF")
@pytest.mark.parametrize("model", MODELS)
@some(12)
@given(k=st.integers(1, 5), d=st.integers(1, 5))
def test_free_parameters_count_what_varies(model: str, k: int, d: int) -> None:
    volume, shape, axes = model[0], model[1], model[2]
    due = {"E": 1, "V": k}[volume]
    due += {"I": 0, "E": d - 1, "V": k * (d - 1)}[shape]
    due += {"I": 0, "E": d * (d - 1) // 2, "V": k * d * (d - 1) // 2}[axes]
    assert mixture_parameters(model, k, d) == k - 1 + k * d + due
    assert covariance_model(model).name == model


@pytest.mark.spec("GMM-COV", "GMM-COVM")
@pytest.mark.parametrize("model", MODELS)
@some(4)
@given(case=points())
def test_covariances_share_what_their_model_says(model: str, case: Case) -> None:
    """Volumes, shapes and axes, up to the tolerance of the iterated models."""
    try:
        fit = fitted(case, covariance=model, limit=3, floor=0.3)
    except DegenerateCovariance:
        return
    check_numbers(fit)
    d = len(case.rows[0])
    assume(d == 2)
    volumes, ratios, angles = [], [], []
    for (a, b), (_, c) in fit.parameters.covariances:
        determinant = a * c - b * b
        half = math.sqrt(((a - c) / 2) ** 2 + b * b)
        volumes.append(math.sqrt(determinant))
        ratios.append(((a + c) / 2 + half) / ((a + c) / 2 - half))
        angles.append(math.atan2(2 * b, a - c) if half > 1e-6 * (a + c) else None)
    if model[0] == "E":
        assert volumes == pytest.approx([volumes[0]] * len(volumes), rel=1e-8)
    if model[1] == "E":
        assert ratios == pytest.approx([ratios[0]] * len(ratios), rel=1e-7)
    if model[1] == "I":
        assert ratios == pytest.approx([1.0] * len(ratios), abs=1e-12)
    if model[2] == "I" and model[1] != "I":
        assert all(row[0][1] == 0 for row in fit.parameters.covariances)
    known = [angle for angle in angles if angle is not None]
    if model[2] == "E" and known:
        # The axes are the same: doubled angles agree up to half a turn.
        for angle in known:
            assert abs(math.sin(angle - known[0])) < 1e-5


@pytest.mark.spec("GMM-FLOOR", "EM-PRIOR")
@some(30)
@given(points(), st.sampled_from(MODELS), st.sampled_from([0.01, 1.0, 1e6]))
def test_the_floor_is_a_prior(case: Case, model: str, floor: float) -> None:
    """Its logarithm is -tr(Psi C^-1) / 2, and no covariance is below its share of the data."""
    try:
        fit = fitted(case, covariance=model, floor=floor, limit=2)
    except DegenerateCovariance:
        return
    whole, _, scatter = exact_moments(case)
    d = len(case.rows[0])
    psi = [floor * float(scatter[j][j] / whole) for j in range(d)]
    terms = []
    for covariance in fit.parameters.covariances:
        for j in range(d):
            unit = [math.sqrt(psi[j]) if i == j else 0.0 for i in range(d)]
            terms.append(mahalanobis(unit, [0.0] * d, covariance))
    assert fit.log_prior == pytest.approx(-0.5 * math.fsum(terms), rel=1e-9)
    if model == "VVV":
        for n, covariance in zip(fit.sizes, fit.parameters.covariances, strict=True):
            assert all(covariance[j][j] >= psi[j] / float(whole) * (1 - 1e-12) for j in range(d))
            assert n <= float(whole) * (1 + 4 * U)


@pytest.mark.spec("GMM-FLOOR")
@some(15)
@given(points(), st.integers(-20, 20))
def test_no_floor_is_no_prior(case: Case, seed: int) -> None:
    try:
        fit = gaussian(case.rows, labels=case.labels, weights=case.weights, limit=abs(seed) % 3)
    except DegenerateCovariance:
        return
    assert fit.log_prior == 0
    assert fit.objective == fit.log_likelihood


# -- scale and place ------------------------------------------------------------------------------


@pytest.mark.spec("GMM-SCALE")
@some(40)
@given(
    points(),
    st.sampled_from(MODELS),
    st.integers(-300, 300),
    st.sampled_from(["labels", "kmeans", "random", "points"]),
    st.sampled_from(["em", "hard", "stochastic"]),
)
def test_a_power_of_two_drops_out(
    case: Case, model: str, exponent: int, start: str, variation: str
) -> None:
    scale = 2.0**exponent
    scaled = Case(
        [tuple(x * scale for x in row) for row in case.rows], case.weights, case.labels, case.k
    )
    check_scaled(case, scaled, [scale] * len(case.rows[0]), model, start, variation)


@pytest.mark.spec("GMM-SCALE")
@some(30)
@given(
    points(),
    st.sampled_from(["EEI", "VEI", "EVI", "VVI", "EEE", "VVV"]),
    st.sampled_from(["labels", "random", "points"]),
    st.data(),
)
def test_so_does_one_for_each_column(
    case: Case, model: str, start: str, data: st.DataObject
) -> None:
    d = len(case.rows[0])
    scales = [2.0 ** data.draw(st.integers(-60, 60)) for _ in range(d)]
    rows = [tuple(x * s for x, s in zip(row, scales, strict=True)) for row in case.rows]
    check_scaled(case, Case(rows, case.weights, case.labels, case.k), scales, model, start, "em")


@pytest.mark.spec("GMM-RANGE")
@some(40)
@given(
    points(),
    st.sampled_from(MODELS),
    st.sampled_from(["labels", "random", "points", "kmeans"]),
    st.sampled_from(["em", "hard", "stochastic"]),
    st.integers(-535, 500),
)
def test_weights_have_no_unit(
    case: Case, model: str, start: str, variation: str, exponent: int
) -> None:
    """Times a power of four, with their floor: the same bits, and sums that many times as large."""
    unit = 4.0**exponent
    assume(all(w * unit / unit == w for w in (STABLE, *case.masses)))  # nothing is lost here
    known: dict[str, Any] = {"covariance": model, "limit": 4, "variation": variation, "seed": 5}
    known |= {"start": start} if start != "labels" else {"labels": case.labels}
    k = None if start == "labels" else case.k
    found: list[Any] = []
    for factor in (1.0, unit):
        weights = [w * factor for w in case.masses]
        try:
            fit = gaussian(case.rows, k, weights=weights, floor=STABLE * factor, **known)
        except RefclustError as error:
            found.append((error.code, str(error)))
            continue
        check_numbers(fit)
        shares = [(one.iteration, one.gain) for one in fit.trace]
        found.append((fit.labels.tolist(), fit.parameters, fit.iterations, shares))
        sums = (fit.log_likelihood, fit.objective, fit.log_prior, fit.entropy, *fit.sizes)
        if factor == 1.0:
            due = [x * unit for x in sums]
        else:
            assert list(sums) == due
    assert found[0] == found[1]


def check_scaled(
    case: Case, other: Case, scales: list[float], model: str, start: str, variation: str
) -> None:
    options: dict[str, Any] = {"covariance": model, "limit": 5, "variation": variation}
    if start != "labels":
        options |= {"start": start, "k": case.k, "seed": 3}
    try:
        one = fitted(case, **options)
    except Exception as error:
        with pytest.raises(type(error)):
            fitted(other, **options)
        return
    two = fitted(other, **options)
    assert two.labels == one.labels
    assert (two.iterations, two.stopped, two.best) == (one.iterations, one.stopped, one.best)
    assert two.parameters.weights == one.parameters.weights
    assert two.sizes == one.sizes
    assert [i.gain for i in two.trace] == [i.gain for i in one.trace]
    assert two.log_prior == one.log_prior
    for a, b in zip(one.parameters.means, two.parameters.means, strict=True):
        assert b == tuple(x * s for x, s in zip(a, scales, strict=True))
    for before, after in zip(one.parameters.covariances, two.parameters.covariances, strict=True):
        d = len(scales)
        due = tuple(tuple(before[i][j] * scales[i] * scales[j] for j in range(d)) for i in range(d))
        assert after == due
    shift = one.weight * math.fsum(map(math.log, scales))
    assert two.log_likelihood == pytest.approx(
        one.log_likelihood - shift, abs=16 * U * (1 + abs(one.log_likelihood) + abs(shift))
    )


@pytest.mark.spec("GMM-RECENTRE")
@some(30)
@given(points(), st.sampled_from([0.0, 1e9, -(2.0**40)]), st.sampled_from(["EII", "VVI", "VVV"]))
def test_an_offset_costs_no_digits(case: Case, offset: float, model: str) -> None:
    """Quarters plus 1e9 are exact, so the fit is the same but for its place.

    Differences from means near 1e9 carry the rounding of the mean, u 1e9: that, in units of the
    spread of a component, is all an offset may change.
    """
    rows = [tuple(round(4 * x) / 4 for x in row) for row in case.rows]
    near = Case(rows, case.weights, case.labels, case.k)
    counted = [row for row, w in zip(rows, case.masses, strict=True) if w]
    assume(all(len(set(column)) > 1 for column in zip(*counted, strict=True)))
    far = Case([tuple(x + offset for x in row) for row in rows], case.weights, case.labels, case.k)
    try:
        one = fitted(near, covariance=model, limit=2, floor=0.5, tolerance=None)
    except DegenerateCovariance:
        return
    other = fitted(far, covariance=model, limit=2, floor=0.5, tolerance=None)
    # The floor keeps deviations above 0.02; a mean is off by at most 2^-13 of 1.1e12 u < 2.5e-4.
    error = max(2 * U * abs(offset), 16 * U)
    assert other.log_likelihood == pytest.approx(
        one.log_likelihood, abs=3000 * error * len(rows) * len(rows[0])
    )
    for a, b in zip(one.parameters.spreads, other.parameters.spreads, strict=True):
        assert b == pytest.approx(a, abs=3000 * error)


@pytest.mark.spec("GMM-RECENTRE")
@pytest.mark.parametrize("model", ["EII", "VVI", "VVV"])
@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_a_component_that_begins_far_away_loses_nothing(model: str, offset: float) -> None:
    """A mean that moves by 1e6 deviations: squares around the old one would cancel 40 bits."""
    rows: list[tuple[float, ...]] = [(offset + x, offset - 2 * x) for x in (-1.1, 0.03, 0.27, 0.9)]
    away = offset + 2.0**20
    spread = {"EII": (2.0**38,), "VVI": (2.0**38,) * 2, "VVV": (2.0**38, 0.0, 0.0, 2.0**38)}[model]
    form: Any = {"EII": "spherical", "VVI": "diagonal", "VVV": "full"}[model]
    start = GaussianParameters((1.0,), ((away, away),), (spread,), form)
    # Collinear rows: with a floor of the data's own variance.
    fit = gaussian(rows, parameters=start, covariance=model, limit=1, floor=1.0, tolerance=None)
    case = Case(rows, None, [0] * 4, 1)
    _, mean, scatter = exact_moments(case)
    for i in range(2):
        assert fit.parameters.means[0][i] == pytest.approx(float(mean[i]), abs=4 * U * (1 + offset))
    variances = [float(scatter[j][j] / 4 * Fraction(5, 4)) for j in range(2)]
    if model == "EII":
        variances = [sum(variances) / 2] * 2
    found = fit.parameters.covariances[0]
    # Ten bits may be lost to a move (GMM-RECENTRE), and u 1e9 to the place of the mean.
    allowed = 2.0**12 * U + 8 * U * offset
    assert [found[j][j] for j in range(2)] == pytest.approx(variances, rel=allowed)


# -- collapse -------------------------------------------------------------------------------------


@pytest.mark.spec("GMM-COLLAPSE")
@some(40)
@given(
    points(),
    st.sampled_from(MODELS),
    st.sampled_from(["end", "drop", "reset"]),
    st.sampled_from(["em", "hard", "stochastic"]),
    st.integers(0, 9),
)
def test_a_collapse_is_told_and_dealt_with(
    case: Case, model: str, policy: str, variation: str, seed: int
) -> None:
    """Small data without a floor collapse all the time."""
    options: dict[str, Any] = {"covariance": model, "collapse": policy, "variation": variation}
    try:
        fit = gaussian(
            case.rows, labels=case.labels, weights=case.weights, limit=30, seed=seed, **options
        )
    except DegenerateCovariance as error:
        told_why = str(error)
        assert any(why in told_why for why in ("spread", "rows", "same value"))
        return
    check_numbers(fit)
    assert fit.monotone.standing == standing(fit)
    events = fit.runs[0].events
    assert len(events) <= 10
    assert policy != "end" or not events
    dropped = sum(event.done == "dropped" for event in events)
    if variation != "stochastic":
        assert len(fit.parameters.weights) == case.k - dropped
        assert fit.free_parameters == mixture_parameters(model, case.k - dropped, len(case.rows[0]))
    for event in events:
        assert event.done == {"drop": "dropped", "reset": "reset"}[policy]
        assert event.component is not None
        assert len(event.rows) <= 10
    assert min(fit.parameters.weights) > 0
    assert math.fsum(fit.parameters.weights) == pytest.approx(1.0, abs=8 * U)


# -- hard clustering and k-means ------------------------------------------------------------------


@pytest.mark.spec("CEM-ASSIGN", "CEM-ALG", "CEM-NK", "PROP-CEM-1", "CEM-MSTEP")
@some(30)
@given(points(), st.sampled_from(["EII", "VVI", "VVV", "EEE"]))
def test_classification_never_falls_and_ends_in_its_own_partition(case: Case, model: str) -> None:
    try:
        fit = fitted(case, covariance=model, variation="hard", trace="parameters", tolerance=0.0)
    except DegenerateCovariance:
        return
    assert fit.monotone.standing == standing(fit)
    assert fit.stopped == "tolerance"
    assert fit.entropy == 0
    for one, other in pairwise(fit.trace):
        assert other.objective >= one.objective - 2 * max(
            a.rounding for a in fit.monotone.ascents
        ) - 8 * U * abs(one.objective)
    # The labels are the most probable components, and the sizes count them.
    found = assignments(fit.parameters, case.rows, family="gaussian")
    joint = [found.log_joint(i) for i in range(len(case.rows))]
    for row, label in zip(joint, fit.labels, strict=True):
        assert row[label] >= max(row) - 64 * U * math.fsum(map(abs, row))
    for c, size in enumerate(fit.sizes):
        own = math.fsum(w for w, label in zip(case.masses, fit.labels, strict=True) if label == c)
        assert size == own


@pytest.mark.spec("PROP-KM-7", "CEM-ASSIGN")
@some(50)
@given(
    points(),
    st.sampled_from([1e-200, 1e-3, 0.7, 1.0, 1e6]),
    st.lists(st.tuples(*[st.integers(-6, 6).map(lambda i: i / 2)] * 3), min_size=2, max_size=4),
)
def test_a_fixed_round_covariance_assigns_as_kmeans(
    case: Case, variance: float, centres: list[tuple[float, ...]]
) -> None:
    d = len(case.rows[0])
    rows = [tuple(round(8 * x) / 8 for x in row) for row in case.rows]
    means = [tuple(c[:d]) for c in dict.fromkeys(tuple(c[:d]) for c in centres)]
    assume(len(means) <= len(rows))
    k = len(means)
    parameters = GaussianParameters((1.0 / k,) * k, tuple(means), ((variance,),) * k, "spherical")
    found = assignments(parameters, rows, family="gaussian")
    squares = [
        [sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(row, c, strict=True)) for c in means]
        for row in rows
    ]
    nearest = kmeans(rows, centres=[list(c) for c in means], limit=1, empty="keep", trace="full")
    labels = list(nearest.trace[0].labels or ())
    for row, one, kmeans_label in zip(squares, found.labels, labels, strict=True):
        assert one == kmeans_label == row.index(min(row))


@pytest.mark.spec("KM-GMMLIM")
@some(50)
@given(
    st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=1, max_size=5),
    st.lists(
        st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=1, max_size=4, unique=True
    ),
    st.lists(st.integers(1, 9), min_size=4, max_size=4),
)
def test_the_limit_of_a_vanishing_variance(
    rows: list[tuple[int, int]], means: list[tuple[int, int]], parts: list[int]
) -> None:
    """Shares tend to those of the nearest means, in proportion to their weights on a tie."""
    k = len(means)
    weights = tuple(part / sum(parts[:k]) for part in parts[:k])
    centres = tuple((float(a), float(b)) for a, b in means)
    for variance in (1e-3, 1e-30, 1e-200):
        parameters = GaussianParameters(weights, centres, ((variance,),) * k, "spherical")
        found = posteriors(parameters, [list(map(float, row)) for row in rows], family="gaussian")
        for row, q in zip(rows, found, strict=True):
            squares = [(row[0] - a) ** 2 + (row[1] - b) ** 2 for a, b in means]
            near = [c for c in range(k) if squares[c] == min(squares)]
            whole = math.fsum(weights[c] for c in near)
            for c, share in enumerate(q):
                due = weights[c] / whole if c in near else 0.0
                # Others are at least 1 farther in squared distance: e^-500 at 1e-3. The exponents
                # of equal distances are equal up to 4 u of themselves, at most 128 / variance.
                assert share == pytest.approx(due, abs=1e-9 if variance == 1e-3 else 1e-12)


@pytest.mark.spec("PROP-GMM-1")
def test_what_kmeans_cannot_do() -> None:
    """A narrow and a wide group around one centre; and two long ones side by side."""
    narrow = [[x / 16] for x in range(-8, 9)]
    wide = [[float(x)] for x in (-20, -16, -12, -9, 9, 12, 16, 20)]
    labels = [0] * len(narrow) + [1] * len(wide)
    fit = gaussian(narrow + wide, labels=labels)
    assert fit.converged
    assert fit.labels.tolist() == labels
    assert kmeans(narrow + wide, 2, restarts=10).labels.tolist() != labels
    long = [[float(x), y + 0.25 * ((x * x) % 3)] for y in (0.0, 2.0) for x in range(-12, 13)]
    sides = [0] * 25 + [1] * 25
    tied = gaussian(long, labels=sides, covariance="tied")
    assert tied.labels.tolist() == sides
    assert kmeans(long, 2, restarts=10).labels.tolist() not in (sides, [1 - s for s in sides])
    # Unequal weights: the border moves away from the heavier component.
    rows = [[x / 8] for x in range(-16, 17)] * 9 + [[4.0 + x / 8] for x in range(-8, 9)]
    heavy = gaussian(rows, parameters=two_equal(0.0, 4.0), covariance="EII")
    border = max(row[0] for row, label in zip(rows, heavy.labels, strict=True) if label == 0)
    assert border > sum(mean[0] for mean in heavy.parameters.means) / 2


def two_equal(a: float, b: float, variance: float = 1.0) -> GaussianParameters:
    return GaussianParameters((0.5, 0.5), ((a,), (b,)), ((variance,),) * 2, "spherical")


@pytest.mark.spec("PROP-GMM-2", "EM-INIT")
def test_the_start_decides() -> None:
    """Three groups and two components: either pair of neighbours is a local maximum."""
    rows = [[c + x / 4] for c in (0.0, 10.0, 20.0) for x in range(-4, 5)]
    left = gaussian(rows, labels=[0] * 18 + [1] * 9, covariance="VII")
    right = gaussian(rows, labels=[0] * 9 + [1] * 18, covariance="VII")
    assert left.converged
    assert right.converged
    assert left.labels.tolist() == [0] * 18 + [1] * 9
    assert right.labels.tolist() == [0] * 9 + [1] * 18
    assert left.log_likelihood == pytest.approx(right.log_likelihood, abs=1e-6)
    lopsided = [*rows, [20.0], [20.25], [19.75]]
    one = gaussian(lopsided, labels=[0] * 18 + [1] * 12, covariance="VII")
    two = gaussian(lopsided, labels=[0] * 9 + [1] * 21, covariance="VII")
    assert abs(one.log_likelihood - two.log_likelihood) > 0.1
    # If all components are equal at the start they stay equal, which is no maximum.
    same = gaussian(rows, parameters=two_equal(10.0, 10.0, 64.0), covariance="EII")
    assert same.parameters.means[0] == same.parameters.means[1]
    assert same.log_likelihood < left.log_likelihood - 1
    assert told(same.parameters.spreads[0]) == told(same.parameters.spreads[1])
