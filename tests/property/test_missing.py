"""Gaussian mixtures with missing cells: what must hold whatever the numbers are."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from refclust.backends.session import Session
from refclust.data.accepting.door import dataset
from refclust.errors import BadOption, MissingValue
from refclust.fitting.rows import Rows
from refclust.formulas import gaussian as whole_room
from refclust.formulas import missing as room
from refclust.formulas.vectors import inverse, scaled, solution
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures.gaussian import Moments
from refclust.kernels.mixtures.scatters import central_scatters
from refclust.kernels.mixtures.shared import HARD, SOFT
from refclust.mixture.certified import certified_log_likelihood
from refclust.mixture.choosing.selection import select
from refclust.mixture.covariance.models import MODELS
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.mixture.families.gaussian.recentre import centres_of
from refclust.mixture.families.gaussian.steps import GaussianFamily
from refclust.mixture.families.named.gaussian import gaussian_mixture
from refclust.mixture.gaps.family import GappedFamily
from refclust.mixture.gaps.passes import GappedPasses
from refclust.mixture.passes import GaussianPasses
from refclust.mixture.predict import assignments, takes_gaps
from refclust.models.predict import predict

Row = list[float | None]
BACKENDS = ("reference", "loopback")  # others: beside the plugins


def rows_of(seed: int, n: int, d: int, share: float) -> list[Row]:
    """Rows of two groups in eighths, some cells of which are missing."""
    draw = random.Random(seed)
    rows: list[Row] = []
    for i in range(n):
        z = [draw.gauss(0, 1) for _ in range(d)]
        row = [round(8 * (4 * (i % 2) + z[j] + z[j - 1] / 2)) / 8 for j in range(d)]
        rows.append([None if draw.random() < share else x for x in row])
    return rows


def mixture_of(seed: int, k: int, d: int) -> list[Any]:
    """A mixture in small rationals; every covariance is A A' + I."""
    draw = random.Random(seed)
    mixture = []
    for _ in range(k):
        a = [[Fraction(draw.randrange(-4, 5), 4) for _ in range(d)] for _ in range(d)]
        sigma = [
            [sum(x * y for x, y in zip(a[i], a[j], strict=True)) + (i == j) for j in range(d)]
            for i in range(d)
        ]
        mixture.append((Fraction(1, k), [Fraction(draw.randrange(-8, 9), 4) for _ in a], sigma))
    return mixture


def parameters_of(mixture: list[Any]) -> GaussianParameters:
    shares, means, sigmas = zip(*mixture, strict=True)
    return GaussianParameters(
        tuple(map(float, shares)),
        tuple(tuple(map(float, mean)) for mean in means),
        tuple(tuple(float(x) for line in sigma for x in line) for sigma in sigmas),
        "full",
    )


def near(left: float, right: float, slack: float = 2.0**-40) -> bool:
    return abs(left - right) <= slack * max(1.0, abs(left), abs(right))


# -- the room -------------------------------------------------------------------------------------


@pytest.mark.spec("MISS-PDF", "MISS-FILL", "MISS-COV")
@pytest.mark.parametrize("gaps", [(0,), (1,), (0, 2), (1, 2), (0, 1, 2), ()])
def test_a_density_is_that_of_what_is_seen_times_the_rest(gaps: tuple[int, ...]) -> None:
    [(_, mu, sigma)] = mixture_of(3, 1, 3)
    x = [Fraction(1, 2), Fraction(-3, 4), Fraction(2)]
    holed = [None if j in gaps else x_j for j, x_j in enumerate(x)]
    filled, left = room.expected_row(holed, mu, sigma), room.uncertainty(holed, sigma)
    rest = whole_room.density(room.at(x, gaps), room.at(filled, gaps), room.block(left, gaps, gaps))
    product = room.seen_density(holed, mu, sigma) * rest
    assert float(product) == float(whole_room.density(x, mu, sigma))


@pytest.mark.spec("MISS-FILL", "MISS-COV")
def test_what_is_seen_is_certain() -> None:
    for seed in range(5):
        [(_, mu, sigma)] = mixture_of(seed, 1, 3)
        for row in rows_of(seed, 4, 3, 0.4):
            filled, left = room.expected_row(row, mu, sigma), room.uncertainty(row, sigma)
            for j in room.seen(row):
                assert filled[j] == row[j]
                assert not any(left[j])
                assert not any(line[j] for line in left)


@pytest.mark.spec("MISS-COV", "MISS-FILL")
def test_what_is_left_is_the_inverse_of_a_part_of_the_precision() -> None:
    for seed in range(5):
        [(_, mu, sigma)] = mixture_of(seed, 1, 4)
        row = [1, None, Fraction(1, 3), None]
        m, o, precision = [1, 3], [0, 2], inverse(sigma)
        left = room.uncertainty(row, sigma)
        due = inverse(room.block(precision, m, m))
        assert [tuple(line) for line in room.block(left, m, m)] == list(due)
        # The most probable missing cells are those at which the density is flat.
        away = [row[j] - mu[j] for j in o]
        pull = [-sum(precision[i][j] * y for j, y in zip(o, away, strict=True)) for i in m]
        filled = room.expected_row(row, mu, sigma)
        step = solution(room.block(precision, m, m), pull)
        assert [filled[j] for j in m] == [mu[j] + s for j, s in zip(m, step, strict=True)]


@pytest.mark.spec("MISS-ENT", "MISS-COV")
def test_the_entropies_of_seen_and_missing_cells_add_up() -> None:
    [(_, _, sigma)] = mixture_of(7, 1, 3)
    nothing, one = [None] * 3, [None, 5, None]
    seen = room.hidden_entropy([None], [[sigma[1][1]]])
    both = seen + room.hidden_entropy(one, sigma)
    assert float(both) == float(room.hidden_entropy(nothing, sigma))
    assert float(room.hidden_entropy([1, 2, 3], sigma)) == 0.0


@pytest.mark.spec("MISS-ESTEP", "MISS-PDF", "MISS-LL")
def test_a_row_without_cells_has_the_shares_and_the_likelihood_one() -> None:
    (_, *one), (_, *two) = mixture_of(1, 2, 2)
    mixture = [(Fraction(1, 4), *one), (Fraction(3, 4), *two)]
    assert list(map(float, room.responsibilities([None, None], mixture))) == [0.25, 0.75]
    rows: list[Any] = [[1, None], [2, 3]]
    alone = room.log_likelihood(rows, [1, 1], mixture)
    assert float(room.log_likelihood([*rows, [None] * 2], [1, 1, 5], mixture)) == float(alone)


@pytest.mark.spec("MISS-LL", "MISS-ESTEP")
def test_a_column_missing_in_a_row_is_the_model_without_that_column() -> None:
    mixture = mixture_of(11, 2, 3)
    smaller = [
        (share, room.at(mu, [0, 2]), room.block(sigma, [0, 2], [0, 2]))
        for share, mu, sigma in mixture
    ]
    rows: list[Any] = [[1, None, 2], [Fraction(1, 8), None, -1]]
    cut = [[row[0], row[2]] for row in rows]
    assert float(room.log_likelihood(rows, [1, 2], mixture)) == float(
        whole_room.log_likelihood(cut, [1, 2], smaller)
    )
    shares = room.responsibilities(rows[0], mixture)
    due = whole_room.responsibilities(cut[0], smaller)
    assert list(map(float, shares)) == list(map(float, due))


@pytest.mark.spec("MISS-MU", "MISS-SIG", "MISS-EM")
def test_weights_are_copies_and_nothing_missing_is_chapter_32() -> None:
    [(_, mu, sigma)] = mixture_of(5, 1, 3)
    rows = rows_of(5, 4, 3, 0.4)
    q = [Fraction(1, 3), Fraction(1), Fraction(1, 7), Fraction(0)]
    weighted = room.expected_mean(rows, [1, 3, 1, 2], q, mu, sigma)
    order = [0, 1, 1, 1, 2, 3, 3]
    copies, shares = [rows[i] for i in order], [q[i] for i in order]
    assert room.expected_mean(copies, [1] * 7, shares, mu, sigma) == weighted
    scatter = room.expected_scatter(rows, [1, 3, 1, 2], q, mu, sigma, weighted)
    assert room.expected_scatter(copies, [1] * 7, shares, mu, sigma, weighted) == scatter
    full: Any = rows_of(6, 4, 3, 0)
    mean = whole_room.mean(full, [1] * 4, q)
    assert room.expected_mean(full, [1] * 4, q, mu, sigma) == mean
    assert room.expected_scatter(full, [1] * 4, q, mu, sigma, mean) == whole_room.scatter(
        full, [1] * 4, q, mean
    )
    start = [(1, [0.0] * 3, whole_room.identity(3))]
    assert next(room.em(full, [1] * 4, start)) == next(whole_room.em(full, [1] * 4, start))


@pytest.mark.spec("MISS-BOUND", "MISS-LL", "MISS-SIG", "MISS-MU")
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_touches_the_likelihood_and_is_raised_by_the_m_step(seed: int) -> None:
    rows, w = rows_of(seed, 4, 2, 0.4), [1, 2, 1, 1]
    before = mixture_of(seed, 2, 2)
    q = [room.responsibilities(row, before) for row in rows]
    here = room.bound(rows, w, q, before, before)
    assert float(here) == float(room.log_likelihood(rows, w, before))
    columns = list(zip(*q, strict=True))
    n = [whole_room.component_weight(w, column) for column in columns]
    means = [
        room.expected_mean(rows, w, column, mu, sigma)
        for column, (_, mu, sigma) in zip(columns, before, strict=True)
    ]
    scatters = [
        room.expected_scatter(rows, w, column, mu, sigma, around)
        for column, (_, mu, sigma), around in zip(columns, before, means, strict=True)
    ]
    sigmas = [scaled(1 / n_k, s) for n_k, s in zip(n, scatters, strict=True)]
    after = list(zip(whole_room.shares(n), means, sigmas, strict=True))
    raised = room.bound(rows, w, q, before, after)
    assert float(here) < float(raised) <= float(room.log_likelihood(rows, w, after))
    for other in (mixture_of(seed + 50, 2, 2), mixture_of(seed + 60, 2, 2)):
        there = float(room.bound(rows, w, q, before, other))
        assert there <= float(raised)
        assert there <= float(room.log_likelihood(rows, w, other))


# -- fits -----------------------------------------------------------------------------------------


@pytest.mark.spec("MISS-NONE")
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_nothing_missing_is_the_fit_of_whole_rows(model: str, backend: str) -> None:
    rows = rows_of(21, 40, 3, 0)
    asked: Any = {"covariance": model, "seed": 1, "limit": 8, "backend": backend, "floor": 0.01}
    told = gaussian_mixture(rows, 2, missing="integrate", **asked)
    usual = gaussian_mixture(rows, 2, **asked)
    assert told.settings == {**usual.settings, "missing": "integrate"}
    same = replace(told, settings=usual.settings, provenance=usual.provenance)
    assert same == usual
    # The passes for patterns themselves, made to go over rows of which none lacks a cell.
    data, session = dataset(rows), Session(backend)
    gapped = GappedFamily(GappedPasses(Rows(data, session), 2, data), model, 0.01)
    plain = GaussianFamily(GaussianPasses(Rows(data, session), 2), model, 0.01)
    vars(gapped.passes)["_facts"] = plain.passes.mean, plain.passes.variances
    parameters = usual.parameters
    for rule in (SOFT, HARD):
        ours = gapped.passes.step(gapped.point(parameters).densities, rule)
        due = plain.passes.step(plain.point(parameters).densities, rule)
        assert (ours.log_likelihood, ours.bound, ours.entropy) == (
            due.log_likelihood,
            due.bound,
            due.entropy,
        )
        assert _sums(ours.moments) == _sums(due.moments)
        point = gapped.point(parameters).densities
        assert gapped.passes.expected(ours.moments, point) == plain.passes.expected(
            due.moments, point
        )
        assert gapped.passes.rounding(ours.moments, point, 0.0) == plain.passes.rounding(
            due.moments, point, 0.0
        )
    assert gapped.constant == plain.constant


def _sums(moments: Moments) -> list[list[float]]:
    return [list(moments.counts), list(moments.firsts), list(moments.seconds)]


@pytest.mark.spec("MISS-EM", "MISS-LL", "MISS-BOUND")
@pytest.mark.parametrize("model", MODELS)
def test_the_likelihood_of_what_is_seen_never_falls(model: str) -> None:
    rows = [*rows_of(31, 60, 3, 0.25), [None] * 3]
    fit = gaussian_mixture(
        rows, 2, covariance=model, missing="integrate", seed=1, limit=40, backend="reference"
    )
    assert fit.monotone.standing == "holds"
    assert len(fit.monotone.ascents) == fit.iterations
    likelihoods = [each.log_likelihood for each in fit.trace]
    assert likelihoods == sorted(likelihoods)
    exact = certified_log_likelihood(fit.parameters, rows, family="gaussian", missing="integrate")
    assert exact.distance(fit.log_likelihood) <= 2.0**-44 * abs(fit.log_likelihood)
    assert all(each.rounding < 1e-6 for each in fit.monotone.ascents)


@pytest.mark.spec("MISS-EM", "MISS-MU", "MISS-SIG", "MISS-LL")
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_fit_makes_the_steps_of_the_formulas(backend: str) -> None:
    rows = rows_of(41, 9, 2, 0.3)
    mixture = mixture_of(41, 2, 2)
    fit = gaussian_mixture(
        rows,
        parameters=parameters_of(mixture),
        missing="integrate",
        limit=3,
        trace="parameters",
        backend=backend,
    )
    states = [each.parameters for each in fit.trace]
    for before, after, each in zip(states, states[1:], fit.trace, strict=False):
        assert before is not None
        assert after is not None
        state = list(zip(before.weights, before.means, before.covariances, strict=True))
        assert near(each.log_likelihood, float(room.log_likelihood(rows, [1] * 9, state)))
        due = parameters_of(next(room.em(rows, [1] * 9, state)))
        for ours, theirs in zip(
            (after.weights, *after.means, *after.spreads),
            (due.weights, *due.means, *due.spreads),
            strict=True,
        ):
            assert all(map(near, ours, theirs))


@pytest.mark.spec("MISS-LL", "MISS-EM")
def test_scaling_a_column_shifts_the_likelihood_by_the_cells_that_are_seen() -> None:
    rows = rows_of(51, 40, 3, 0.2)
    seen = sum(row[1] is not None for row in rows)
    scaled_rows = [[x if j != 1 or x is None else 4096 * x for j, x in enumerate(r)] for r in rows]
    asked: Any = {"missing": "integrate", "backend": "reference", "start": "points", "seed": 3}
    ours, due = gaussian_mixture(scaled_rows, 2, **asked), gaussian_mixture(rows, 2, **asked)
    assert ours.labels == due.labels
    assert ours.iterations == due.iterations
    assert ours.parameters.weights == due.parameters.weights
    assert [m[1] for m in ours.parameters.means] == [4096 * m[1] for m in due.parameters.means]
    assert near(ours.log_likelihood, due.log_likelihood - 12 * seen * math.log(2))


@pytest.mark.spec("MISS-EM", "MISS-INIT")
def test_the_order_of_columns_and_of_rows_does_not_matter() -> None:
    rows = rows_of(61, 30, 3, 0.2)
    mixture = mixture_of(61, 2, 3)
    order = [2, 0, 1]
    turned = [(s, room.at(mu, order), room.block(c, order, order)) for s, mu, c in mixture]
    asked: Any = {"missing": "integrate", "backend": "reference", "limit": 5}
    due = gaussian_mixture(rows, parameters=parameters_of(mixture), **asked)
    ours = gaussian_mixture(
        [room.at(row, order) for row in rows], parameters=parameters_of(turned), **asked
    )
    assert near(ours.log_likelihood, due.log_likelihood)
    for mine, other in zip(ours.parameters.means, due.parameters.means, strict=True):
        assert all(map(near, mine, room.at(other, order)))
    back = gaussian_mixture(rows[::-1], parameters=parameters_of(mixture), **asked)
    assert back.parameters == due.parameters
    assert back.log_likelihood == due.log_likelihood


@pytest.mark.spec("MISS-EM")
@pytest.mark.parametrize("model", ["VVV", "EEI", "VII"])
def test_weights_count_as_copies(model: str) -> None:
    rows: list[Any] = [*rows_of(71, 20, 2, 0.25), [None, None]]
    weights = [1 + i % 3 for i in range(21)]
    copies = [row for row, w in zip(rows, weights, strict=True) for _ in range(w)]
    asked: Any = {"missing": "integrate", "covariance": model, "backend": "reference", "limit": 4}
    labels = [int((row[0] or 0) > 2) for row in rows]
    many = [label for label, w in zip(labels, weights, strict=True) for _ in range(w)]
    ours = gaussian_mixture(rows, weights=weights, labels=labels, **asked)
    due = gaussian_mixture(copies, labels=many, **asked)
    assert near(ours.log_likelihood, due.log_likelihood)
    for mine, other in zip(ours.parameters.spreads, due.parameters.spreads, strict=True):
        assert all(map(near, mine, other))
    # A row of weight 0 counts for nothing, whatever it lacks.
    more = gaussian_mixture(
        [*rows, [7.0, None], [None, 9.0]], weights=[*weights, 0, 0], labels=[*labels, 0, 1], **asked
    )
    assert more.parameters == ours.parameters


@pytest.mark.spec("PROP-MISS-1", "MISS-MU", "MISS-SIG", "MISS-FILL", "MISS-COV")
def test_a_monotone_pattern_ends_in_its_closed_form() -> None:
    first = [Fraction(x) for x in (1, 3, 4, 7, 10, 2, 6)]
    second = [Fraction(x) for x in (2, 3, 7, 6, 12)]
    n, r = len(first), len(second)
    rows: list[Any] = [[x, second[i] if i < r else None] for i, x in enumerate(first)]

    def covariance(x: list[Fraction], y: list[Fraction]) -> Any:
        a, b = sum(x) / len(x), sum(y) / len(y)
        return sum((u - a) * (v - b) for u, v in zip(x, y, strict=True)) / len(x)

    early = first[:r]
    slope = covariance(early, second) / covariance(early, early)
    s11, spread = sum(first) / n, covariance(first, first)
    s22 = covariance(second, second) + slope**2 * (spread - covariance(early, early))
    mu = [s11, sum(second) / r + slope * (s11 - sum(early) / r)]
    sigma = [[spread, slope * spread], [slope * spread, s22]]
    ones = [1] * n
    assert list(room.expected_mean(rows, ones, ones, mu, sigma)) == mu
    scatter = room.expected_scatter(rows, ones, ones, mu, sigma, mu)
    assert [list(line) for line in scaled(Fraction(1, n), scatter)] == sigma
    fit = gaussian_mixture(
        [[float(x), None if y is None else float(y)] for x, y in rows],
        1,
        missing="integrate",
        tolerance=1e-15,
        backend="reference",
    )
    assert fit.converged
    assert all(near(a, float(b), 1e-6) for a, b in zip(fit.parameters.means[0], mu, strict=True))
    due = [float(x) for line in sigma for x in line]
    assert all(near(a, b, 1e-6) for a, b in zip(fit.parameters.spreads[0], due, strict=True))


MURRAY: list[Row] = [
    [1.0, 1.0],
    [1.0, -1.0],
    [-1.0, 1.0],
    [-1.0, -1.0],
    *([x, None] for x in (2.0, 2.0, -2.0, -2.0)),
    *([None, x] for x in (2.0, 2.0, -2.0, -2.0)),
]


@pytest.mark.spec("PROP-MISS-2", "MISS-SIG", "MISS-LL")
def test_murrays_rows_have_two_maxima_and_a_saddle() -> None:
    ones, centre = [1] * 12, [0, 0]
    likelihoods = []
    for variance, correlation in (
        (Fraction(8, 3), Fraction(1, 2)),
        (Fraction(8, 3), Fraction(-1, 2)),
        (Fraction(5, 2), Fraction(0)),
    ):
        sigma = [[variance, correlation * variance], [correlation * variance, variance]]
        assert room.expected_mean(MURRAY, ones, ones, centre, sigma) == (0, 0)
        scatter = room.expected_scatter(MURRAY, ones, ones, centre, sigma, centre)
        assert [list(line) for line in scaled(Fraction(1, 12), scatter)] == sigma
        likelihoods.append(float(room.log_likelihood(MURRAY, ones, [(1, centre, sigma)])))
    assert likelihoods[0] == likelihoods[1] > likelihoods[2]
    assert [round(x, 6) for x in likelihoods] == [-29.974286, -29.974286, -30.033342]


@pytest.mark.spec("PROP-MISS-2", "MISS-EM")
@pytest.mark.parametrize(("begin", "end"), [(0.1, 0.5), (-0.1, -0.5), (0.9, 0.5), (0.0, 0.0)])
def test_which_of_murrays_maxima_is_found_depends_on_the_start(begin: float, end: float) -> None:
    start = GaussianParameters((1.0,), ((0.0, 0.0),), ((2.0, 2 * begin, 2 * begin, 2.0),), "full")
    fit = gaussian_mixture(
        MURRAY, parameters=start, missing="integrate", tolerance=1e-16, backend="reference"
    )
    variance = 8 / 3 if end else 5 / 2
    due = (variance, end * variance, end * variance, variance)
    assert all(near(a, b, 1e-5) for a, b in zip(fit.parameters.spreads[0], due, strict=True))
    assert fit.monotone.standing == "holds"


@pytest.mark.spec("MISS-COST")
def test_every_pattern_is_one_call_for_each_pass() -> None:
    rows = rows_of(81, 50, 3, 0.3)
    patterns = {tuple(x is None for x in row) for row in rows}
    assert len(patterns) > 5
    data = dataset(rows, gaps=True)
    passes = GappedPasses.on(Rows(data, Session("reference")), 2)
    assert len(passes.patterns) == len(patterns)
    assert sorted(i for each in passes.patterns for i in each.rows) == list(range(50))
    for each in passes.patterns:
        for place, i in enumerate(each.rows):
            cells = [rows[i][j] for j in each.seen]
            assert each.data is None or list(each.data.row(place)) == cells
            assert all(rows[i][j] is None for j in each.missing)
    fit = gaussian_mixture(rows, 2, missing="integrate", limit=3, backend="reference")
    calls = {run.kernel: run.calls for run in fit.provenance.kernels}
    some = [each for each in passes.patterns if each.seen]
    assert calls["gaussian.em_step"] == len(some) * (fit.iterations + 1)


@pytest.mark.spec("MISS-COST", "MISS-MU", "MISS-SIG")
@pytest.mark.parametrize("model", ["VVV", "EEI"])
def test_sums_may_be_taken_around_any_points(model: str) -> None:
    """Means and scatters are the same; only rounding may differ."""
    data = dataset([*rows_of(85, 20, 3, 0.3), [None] * 3], gaps=True)
    family = GappedFamily(GappedPasses.on(Rows(data, Session("reference")), 2), model)
    parameters = parameters_of(mixture_of(85, 2, 3))
    if model == "EEI":
        diagonals = tuple(spread[::4] for spread in parameters.spreads)
        parameters = replace(parameters, spreads=diagonals, form="diagonal")
    densities = family.point(parameters).densities
    points = CentreMatrix.of([(0.5, -3.0, 2.25), (7.0, 1.5, -4.0)])
    due = family.passes.em_step(densities, SOFT, None).moments
    ours = family.passes.em_step(densities, SOFT, points).moments
    assert list(ours.counts) == list(due.counts)
    for mine, other in zip(centres_of(ours), centres_of(due), strict=True):
        assert all(map(near, mine, other))
    for flat, right in zip(central_scatters(ours), central_scatters(due), strict=True):
        assert all(near(x, y, 2.0**-36) for x, y in zip(flat, right, strict=True))


@pytest.mark.spec("MISS-EM", "MISS-COST")
def test_a_start_far_away_does_no_harm() -> None:
    rows = rows_of(86, 12, 2, 0.25)
    [(_, mu, sigma)] = mixture_of(86, 1, 2)
    start = [(1, [m + 2**20 for m in mu], sigma)]
    fit = gaussian_mixture(
        rows, parameters=parameters_of(start), missing="integrate", limit=1, backend="reference"
    )
    due = parameters_of(next(room.em(rows, [1] * 12, start)))
    assert all(
        near(a, b, 2.0**-30) for a, b in zip(fit.parameters.means[0], due.means[0], strict=True)
    )
    pairs = zip(fit.parameters.spreads[0], due.spreads[0], strict=True)
    assert all(near(a, b, 2.0**-20) for a, b in pairs)


@pytest.mark.spec("MISS-INIT")
def test_columns_are_known_by_their_seen_cells() -> None:
    rows: list[Row] = [[1.0, None], [3.0, 10.0], [None, 30.0], [5.0, 20.0]]
    data = dataset(rows, weights=[1, 1, 2, 2], gaps=True)
    passes = GappedPasses.on(Rows(data, Session("reference")), 1)
    assert passes.mean == (3.5, 22.0)
    assert passes.variances == (2.75, 56.0)
    assert list(passes.rows.data.rows()) == [(1, 22), (3, 10), (3.5, 30), (5, 20)]
    family = GappedFamily(passes, "VVV", 0.5)
    assert family.prior == (1.375, 28.0)
    labelled = gaussian_mixture(
        rows, weights=[1, 1, 2, 2], labels="aabb", missing="integrate", covariance="EII", limit=0
    )
    assert labelled.parameters.means == ((2.0, 16.0), (4.25, 25.0))


@pytest.mark.spec("MISS-INIT", "MISS-CELL")
def test_a_column_that_nobody_has_seen_is_refused_by_name() -> None:
    rows: list[Row] = [[1.0, None], [2.0, None], [4.0, 3.0]]
    with pytest.raises(MissingValue, match="column b is missing in all rows that count"):
        gaussian_mixture(
            dataset(rows, features=["a", "b"], gaps=True), 1, missing="integrate",
            weights=[1, 1, 0],
        )  # fmt: skip
    with pytest.raises(MissingValue, match="column 0 is missing in all rows"):
        gaussian_mixture([[None], [None]], 1, missing="integrate")


@pytest.mark.spec("MISS-INIT")
@pytest.mark.parametrize("start", ["kmeans", "points", "random", "varied"])
def test_every_start_begins_with_filled_rows(start: str) -> None:
    rows = rows_of(91, 30, 2, 0.2)
    asked: Any = {"start": start, "seed": 5, "limit": 0, "backend": "reference"}
    begun = gaussian_mixture(rows, 2, missing="integrate", **asked)
    means = GappedPasses.on(Rows(dataset(rows, gaps=True), Session("reference")), 2).rows.data
    filled = gaussian_mixture(means, 2, **asked)
    assert begun.parameters.weights == filled.parameters.weights
    for ours, due in zip(begun.parameters.means, filled.parameters.means, strict=True):
        assert all(map(near, ours, due))
    for ours, due in zip(begun.parameters.spreads, filled.parameters.spreads, strict=True):
        assert all(map(near, ours, due))


@pytest.mark.spec("MISS-EM")
def test_a_component_that_collapses_is_reset_to_a_filled_row() -> None:
    rows: list[Row] = [[0.0, 0.0], [0.0, 0.0], [None, 9.0], [5.0, None], [6.0, 7.0], [7.0, 5.5]]
    fit = gaussian_mixture(
        rows, labels=[0, 0, 1, 1, 1, 1], missing="integrate", collapse="reset", covariance="VVI",
        limit=4, backend="reference",
    )  # fmt: skip
    assert all(map(math.isfinite, fit.parameters.means[0] + fit.parameters.means[1]))


@pytest.mark.spec("MISS-PRED")
def test_rows_are_judged_by_the_cells_they_have() -> None:
    rows = rows_of(101, 40, 2, 0.2)
    fit = gaussian_mixture(rows, 2, missing="integrate", seed=1, backend="reference")
    new: list[Row] = [[0.5, None], [None, 4.0], [None, None], [1.0, 2.0]]
    told = predict(fit, new, full=True)
    state = list(
        zip(fit.parameters.weights, fit.parameters.means, fit.parameters.covariances, strict=True)
    )
    for i, row in enumerate(new):
        shares = room.responsibilities(row, state)
        assert all(near(a, float(b)) for a, b in zip(told.responsibilities(i), shares, strict=True))
        exact = room.log_likelihood([row], [1], state)
        assert abs(told.log_likelihoods[i] - float(exact)) < 1e-12
    assert predict(fit, rows).labels == fit.labels
    plain = gaussian_mixture(rows_of(101, 40, 2, 0), 2, seed=1, backend="reference")
    with pytest.raises(MissingValue, match="row 0, column 1 is missing"):
        predict(plain, new)
    whole = predict(fit, [[1.0, 2.0]], full=True)
    usual = assignments(fit.parameters, [[1.0, 2.0]], family="gaussian")
    assert whole.joint == usual.joint
    with pytest.raises(BadOption, match="belongs to gaussian mixtures"):
        takes_gaps("poisson", "integrate")


@pytest.mark.spec("MISS-LL")
def test_models_are_chosen_by_the_likelihood_of_what_is_seen() -> None:
    rows = rows_of(111, 60, 2, 0.15)
    for i in range(1, 60, 2):
        rows[i][0] = None if rows[i][0] is None else 40.0 + i % 5
    asked: Any = {"missing": "integrate", "covariance": ["VVV", "EII"], "backend": "reference"}
    chosen = select(rows, k=[1, 2], restarts=1, **asked)
    assert chosen.best is not None
    assert chosen.best.k == 2
    for candidate in chosen.candidates:
        assert candidate.log_likelihood is not None
        free = whole_room.free_parameters(str(candidate.covariance), candidate.k, 2)
        assert candidate.values["bic"] == -2 * candidate.log_likelihood + free * math.log(60)
    folds = select(rows, k=[1, 2], criterion="cv", folds=3, restarts=1, **asked)
    assert folds.best is not None
    assert folds.best.k == 2
    with pytest.raises(BadOption, match="belongs to gaussian mixtures, not to kmeans"):
        select(rows, k=[2], model="kmeans", missing="integrate")


@pytest.mark.spec("MISS-CELL")
@pytest.mark.parametrize("seed", range(5))
def test_marks_of_missing_cells_are_one_and_the_same(seed: int) -> None:
    rows = rows_of(seed, 6, 3, 0.4)
    marks = [[math.nan if x is None else x for x in row] for row in rows]
    ours, due = dataset(marks, gaps=True), dataset(rows, gaps=True)
    assert ours.digest() == due.digest()
    assert ours.gaps == any(None in row for row in rows)
