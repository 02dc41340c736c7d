"""The M-step is the arg max of the bound: nothing around it, and nothing elsewhere, is better.

The bound is computed anew, in fifty digits, from the rows and shares as the rationals they are. It
is compared at the parameters of the M-step and at others: along every direction in which the model
can go, in steps of many sizes, along random directions, and far away.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

import mpmath
import pytest
from mpmath import mp

from refclust.backends.session import Session
from refclust.data.accepting.door import dataset
from refclust.fitting.rows import Rows
from refclust.mixture.covariance import models as shapes
from refclust.mixture.covariance.models import MODELS
from refclust.mixture.families.counts.parameters import CountParameters
from refclust.mixture.families.counts.words import CountFamily
from refclust.mixture.families.gaussian import steps as gaussian
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.mixture.families.gaussian.steps import GaussianFamily
from refclust.mixture.passes import CountPasses, GaussianPasses

STEPS = [mpmath.mpf(2) ** -e for e in (1, 4, 8, 12, 16)]
# No constraint binds the numbers of a covariance beside being equal or zero, bit for bit.
FREE = ("EII", "VII", "EEI", "VVI", "EEE", "VVV")
SEVERAL_MAXIMA = ("EVE", "VVE")
K = 2

Point = list[Any]  # coordinates along all directions
Bound = Callable[[Point], Any]


@dataclass(frozen=True)
class Case:
    """Rows of whole numbers with weights, and shares that are multiples of 1/64."""

    rows: list[list[int]]
    weights: list[int]
    q: list[list[Fraction]]

    @property
    def weight(self) -> int:
        return sum(self.weights)

    def shares(self, k: int) -> list[Fraction]:
        """The weight of every row in component k."""
        return [w * row[k] for w, row in zip(self.weights, self.q, strict=True)]

    def read(self) -> tuple[Rows, array[float]]:
        data = dataset(self.rows, weights=[float(w) for w in self.weights])
        flat = array("d", (float(x) for row in self.q for x in row))
        return Rows(data, Session("reference")), flat


def case_of(seed: int, d: int, most: int) -> Case:
    random = Random(seed)
    n = 9
    first = [Fraction(random.randint(1, 63), 64) for _ in range(n)]
    rows = [[random.randint(0, most) for _ in range(d)] for _ in range(n)]
    weights = [random.randint(1, 3) for _ in range(n)]
    return Case(rows, weights, [[x, 1 - x] for x in first])


def check(bound: Bound, size: int, slack: Any, seed: int, *, near: bool = False) -> None:
    """Nothing is better than the origin, which is where the M-step is, by more than the slack."""
    random = Random(seed)
    with mp.workdps(50):
        here = bound([mpmath.mpf(0)] * size)
        for point in points(size, random, near=near):
            assert bound(point) <= here + slack


def points(size: int, random: Random, *, near: bool) -> Iterator[Point]:
    for h in STEPS:
        if near and h > 2**-6:
            continue
        for j in range(size):
            for sign in (1, -1):
                yield [sign * h if i == j else mpmath.mpf(0) for i in range(size)]
        for _ in range(4):
            yield [h * random.uniform(-1, 1) for _ in range(size)]
    for _ in range(0 if near else 10):
        yield [mpmath.mpf(random.uniform(-3, 3)) for _ in range(size)]


def rational(value: Any) -> Any:
    exact = Fraction(value)
    return mpmath.mpf(exact.numerator) / exact.denominator


def normalised(values: Sequence[Any]) -> list[Any]:
    """Values as shares: the M-step rounds each of them, so that they miss 1 by a few bits."""
    whole = mpmath.fsum(values)
    return [x / whole for x in values]


def times_log(weight: Any, value: Any) -> Any:
    return weight * mpmath.log(value) if weight else mpmath.mpf(0)


# -- words ----------------------------------------------------------------------------------------


def of_counts(case: Case, kind: Any, m: float, found: CountParameters) -> tuple[Bound, int]:
    """The bound around parameters: logarithms of shares and of words, or logits, are moved."""
    d = len(case.rows[0])
    p = Fraction(1, d) if kind == "multinomial" else Fraction(1, 2)
    sizes = [sum(case.shares(k)) for k in range(K)]
    tallies = [
        [
            sum(s * row[j] for s, row in zip(case.shares(k), case.rows, strict=True))
            for j in range(d)
        ]
        for k in range(K)
    ]

    def bound(point: Point) -> Any:
        moves = iter(point)
        pi = normalised([rational(x) * mpmath.exp(next(moves)) for x in found.weights])
        terms = [times_log(rational(n), x) for n, x in zip(sizes, pi, strict=True)]
        for k in range(K):
            row = [rational(x) for x in found.probabilities[k]]
            if kind == "multinomial":
                row = normalised([x * mpmath.exp(next(moves)) for x in row])
            else:
                grown = [(x * mpmath.exp(next(moves)), 1 - x) for x in row]
                row = [a / (a + b) for a, b in grown]
            for j, theta in enumerate(row):
                terms.append(times_log(rational(tallies[k][j] + Fraction(m) * p), theta))
                if kind == "bernoulli":
                    absent = sizes[k] - tallies[k][j] + Fraction(m) * (1 - p)
                    terms.append(times_log(rational(absent), 1 - theta))
        return mpmath.fsum(terms)

    return bound, K + K * d


def counted(case: Case, kind: Any, m: float) -> CountParameters:
    rows, q = case.read()
    family = CountFamily(CountPasses(rows, K), kind, m=m)
    return family.following(family.moments(q, K), None).point.parameters


def slack_of(case: Case, relative: int) -> Any:
    """What rounding costs: of a maximum only the square of it, a few words for each row."""
    return case.weight * 64 * mpmath.mpf(2) ** -relative


@pytest.mark.spec("EM-MSTEP", "EM-PRIOR", "MMIX-PI", "MMIX-THETA", "BMIX-THETA", "MMIX-PRIOR")
@pytest.mark.parametrize("kind", ["multinomial", "bernoulli"])
@pytest.mark.parametrize("m", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("seed", range(4))
def test_no_words_are_better(kind: Any, m: float, seed: int) -> None:
    """Each number of the M-step is rounded a few times: less than 2**-45 off, and that squared."""
    case = case_of(seed, 3, 4 if kind == "multinomial" else 1)
    bound, size = of_counts(case, kind, m, counted(case, kind, m))
    check(bound, size, slack_of(case, 90), seed)


@pytest.mark.parametrize("kind", ["multinomial", "bernoulli"])
@pytest.mark.parametrize("broken", range(8))
def test_words_that_are_a_little_wrong_are_seen(kind: Any, broken: int) -> None:
    """Each coordinate of an M-step moved by 2**-10: the check has to fail."""
    case = case_of(1, 3, 4 if kind == "multinomial" else 1)
    bound, size = of_counts(case, kind, 1.0, counted(case, kind, 1.0))

    def moved(point: Point) -> Any:
        return bound([x + 2.0**-10 * (i == broken) for i, x in enumerate(point)])

    with pytest.raises(AssertionError):
        check(moved, size, slack_of(case, 90), 1)


# -- normal densities -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Shape:
    """A covariance in the terms of the models: volume, logarithms of the shape, axes."""

    log_volume: Any
    logs: list[Any]  # of the shape: they add up to 0
    axes: Any

    def matrix(self) -> Any:
        sizes = [mpmath.exp(self.log_volume + x) for x in self.logs]
        return self.axes * mpmath.diag(sizes) * self.axes.T


def shapes_of(model: str, covariances: Sequence[Any]) -> list[Shape]:
    """Covariances by what the model lets vary; axes that are common come from the first."""
    found: list[Shape] = []
    d = len(covariances[0])
    for covariance in covariances:
        matrix = mpmath.matrix([[rational(x) for x in row] for row in covariance])
        if model[2] == "I":
            axes = mpmath.eye(d)
        elif model[2] == "E" and found:
            axes = found[0].axes
        else:
            axes = mp.eigsy(matrix)[1]
        along = axes.T * matrix * axes
        logs = [mpmath.log(along[j, j]) for j in range(d)]
        volume = mpmath.fsum(logs) / d
        shape = [x - volume for x in logs]
        first = found[0] if found else None
        found.append(
            Shape(
                first.log_volume if first and model[0] == "E" else volume,
                first.logs if first and model[1] == "E" else shape,
                axes,
            )
        )
    return found


def turned(axes: Any, i: int, j: int, angle: Any) -> Any:
    turn = mpmath.eye(axes.rows)
    turn[i, i] = turn[j, j] = mpmath.cos(angle)
    turn[j, i], turn[i, j] = mpmath.sin(angle), -mpmath.sin(angle)
    return axes * turn


def varied(model: str, d: int) -> list[tuple[str, list[int], tuple[int, ...]]]:
    """Every way a model can go: what moves, of which components, and where."""
    every, each = [list(range(K))], [[k] for k in range(K)]
    groups = {"E": every, "V": each, "I": []}
    moves: list[tuple[str, list[int], tuple[int, ...]]] = []
    moves += [("volume", some, ()) for some in groups[model[0]]]
    moves += [("shape", some, (j, j + 1)) for some in groups[model[1]] for j in range(d - 1)]
    planes = list(combinations(range(d), 2))
    moves += [("axes", some, plane) for some in groups[model[2]] for plane in planes]
    return moves


def moved_shapes(before: list[Shape], moves: Any, point: Point) -> list[Shape]:
    made = list(before)
    for (what, some, place), x in zip(moves, point, strict=True):
        for k in some:
            own = made[k]
            if what == "volume":
                made[k] = replace(own, log_volume=own.log_volume + x)
            elif what == "shape":
                logs = [a + x * ((j == place[0]) - (j == place[1])) for j, a in enumerate(own.logs)]
                made[k] = replace(own, logs=logs)
            else:
                made[k] = replace(own, axes=turned(own.axes, place[0], place[1], x))
    return made


def scattered(case: Case, k: int) -> tuple[Any, list[Any], Any]:
    """The weight of a component, its mean, and the squares around that, all of them exact."""
    shares, d = case.shares(k), len(case.rows[0])
    size = sum(shares)
    mean = [sum(s * x[j] for s, x in zip(shares, case.rows, strict=True)) / size for j in range(d)]
    squares = [
        [
            sum(
                s * (x[i] - mean[i]) * (x[j] - mean[j])
                for s, x in zip(shares, case.rows, strict=True)
            )
            for j in range(d)
        ]
        for i in range(d)
    ]
    table = mpmath.matrix([[rational(x) for x in line] for line in squares])
    return rational(size), list(map(rational, mean)), table


def of_gaussians(
    case: Case, model: str, floor: Sequence[float], found: GaussianParameters
) -> tuple[Bound, int]:
    """The bound around parameters: shares, means, and whatever the model lets vary."""
    d = len(case.rows[0])
    with mp.workdps(50):
        given = shapes_of(model, found.covariances)
        prior = mpmath.diag([rational(x) for x in floor])
        sums = [scattered(case, k) for k in range(K)]
    moves = varied(model, d)

    def bound(point: Point) -> Any:
        pi = normalised(
            [rational(x) * mpmath.exp(y) for x, y in zip(found.weights, point[:K], strict=True)]
        )
        steps = point[K : K + K * d]
        terms = []
        for k, shape in enumerate(moved_shapes(given, moves, point[K + K * d :])):
            covariance, inverse = shape.matrix(), shape.matrix() ** -1
            mean = [
                rational(found.means[k][j]) + steps[k * d + j] * mpmath.sqrt(covariance[j, j])
                for j in range(d)
            ]
            size, centre, scatter = sums[k]
            away = mpmath.matrix([a - b for a, b in zip(centre, mean, strict=True)])
            scatter = prior + scatter + size * (away * away.T)
            trace = mpmath.fsum((inverse * scatter)[j, j] for j in range(d))
            terms += [size * (mpmath.log(pi[k]) - d * shape.log_volume / 2), -trace / 2]
        return mpmath.fsum(terms)

    return bound, K + K * d + len(moves)


def fitted(case: Case, model: str, floor: float) -> tuple[GaussianParameters, tuple[float, ...]]:
    rows, q = case.read()
    family = GaussianFamily(GaussianPasses(rows, K), model, floor=floor)
    found = family.following(family.moments(q, K), None).point.parameters
    return found, family.prior if floor else (0.0,) * len(case.rows[0])


def slack_of_model(case: Case, model: str) -> Any:
    """Numbers are off by less than 2**-35 (nine rows, scatters that cancel by three digits).

    That squared, where they are free. Else rounding alone takes a matrix out of its model, by a few
    units of 2**-53, and the inner iterations stop at a change of 2**-40.
    """
    return slack_of(case, 70 if model in FREE else 46)


def check_gaussian(case: Case, model: str, floor: float, seed: int) -> None:
    found, prior = fitted(case, model, floor)
    bound, size = of_gaussians(case, model, prior, found)
    check(bound, size, slack_of_model(case, model), seed, near=model in SEVERAL_MAXIMA)


@pytest.mark.spec("EM-MSTEP", "EM-PRIOR", "GMM-PI", "GMM-MU", "GMM-SIG", "GMM-COVM", "GMM-FLOOR")
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("seed", "d", "floor"), [(1, 2, 0.0), (2, 2, 0.25), (3, 3, 0.0)])
def test_no_gaussians_are_better(model: str, seed: int, d: int, floor: float) -> None:
    check_gaussian(case_of(seed, d, 9), model, floor, seed)


@pytest.mark.parametrize("model", MODELS)
def test_gaussians_that_are_a_little_wrong_are_seen(model: str) -> None:
    """Every coordinate of an M-step in turn moved by 2**-10: the check has to fail."""
    case = case_of(1, 2, 9)
    found, prior = fitted(case, model, 0.0)
    bound, size = of_gaussians(case, model, prior, found)
    for broken in range(size):

        def moved(point: Point, broken: int = broken) -> Any:
            return bound([x + 2.0**-10 * (i == broken) for i, x in enumerate(point)])

        with pytest.raises(AssertionError):
            check(moved, size, slack_of_model(case, model), 1, near=model in SEVERAL_MAXIMA)


@pytest.mark.parametrize("model", MODELS)
def test_a_broken_m_step_is_seen(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code itself, with a divisor that is a thousandth too large."""
    right = shapes.maximised

    def wrong(name: str, counts: tuple[float, ...], *more: Any, **options: Any) -> Any:
        return right(name, tuple(1.001 * n for n in counts), *more, **options)

    monkeypatch.setattr(gaussian, "maximised", wrong)
    with pytest.raises(AssertionError):
        check_gaussian(case_of(1, 2, 9), model, 0.0, 1)


@pytest.mark.parametrize("kind", ["multinomial", "bernoulli"])
def test_a_broken_m_step_of_words_is_seen(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code itself, with a thousandth of an imagined observation too many."""
    right = CountPasses.estimated

    def wrong(self: CountPasses, moments: Any, m: float, *more: Any) -> Any:
        return right(self, moments, m + 0.001, *more)

    monkeypatch.setattr(CountPasses, "estimated", wrong)
    case = case_of(1, 3, 4 if kind == "multinomial" else 1)
    bound, size = of_counts(case, kind, 1.0, counted(case, kind, 1.0))
    with pytest.raises(AssertionError):
        check(bound, size, slack_of(case, 90), 1)
