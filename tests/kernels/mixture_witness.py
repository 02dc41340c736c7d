"""Passes of mixtures from their definitions: rationals where they suffice, else 400 bits of mpmath.

Nothing is taken from the code under test but the records that hold doubles.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath

from refclust.data.dataset import Dataset, readonly
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures.gaussian import Form, Gaussians
from refclust.kernels.mixtures.multinomial import Terms
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS
from refclust.testing.rungs import dense_of, sparse_of

INF = float("inf")


def context(bits: int = 400) -> Any:
    """Numbers of 400 bits, whatever other tests have set."""
    own = mpmath.mp.clone()
    own.prec = bits
    return own


MP = context()


def points_of(rows: Sequence[Sequence[float]], weights: Sequence[float] | None = None) -> Points:
    return Points(dense_of([tuple(map(float, row)) for row in rows], weights))


def sparse_points(rows: Sequence[dict[int, float]], d: int) -> Points:
    return Points(sparse_of(rows, d))


def reweighted(points: Points, weights: Sequence[float]) -> Points:
    return Points(Dataset(points.data.matrix, weights=readonly(array("d", weights))))


def real(x: float | Fraction) -> Any:
    if isinstance(x, Fraction):
        return MP.mpf(x.numerator) / x.denominator
    return MP.mpf(x)


def square(row: Sequence[float], densities: Gaussians, k: int) -> Fraction:
    """|W (x - m)|^2 of one component."""
    d, flat = len(row), list(map(Fraction, densities.whitening.tolist()))
    away = [Fraction(x) - Fraction(m) for x, m in zip(row, densities.means[k], strict=True)]
    match densities.form:
        case "full":
            lines = [flat[(k * d + i) * d : (k * d + i + 1) * d] for i in range(d)]
            images = [sum(w * x for w, x in zip(line, away, strict=True)) for line in lines]
        case "diagonal":
            images = [w * x for w, x in zip(flat[k * d : (k + 1) * d], away, strict=True)]
        case _:
            images = [flat[k] * x for x in away]
    return Fraction(sum(image * image for image in images))


def joint(points: Points, densities: Gaussians | Terms) -> list[list[Any]]:
    """log p(x, k) of all rows and components."""
    rows = [points.whole_row(i) for i in range(points.n)]
    if isinstance(densities, Gaussians):
        return [
            [
                MP.ninf
                if offset == -INF
                else real(Fraction(offset) - square(row, densities, k) / 2)
                for k, offset in enumerate(densities.offsets)
            ]
            for row in rows
        ]
    return [[_linear(row, densities, k) for k in range(densities.k)] for row in rows]


def _linear(row: Sequence[float], terms: Terms, k: int) -> Any:
    slopes = terms.slopes.tolist()[k * len(row) : (k + 1) * len(row)]
    must = () if terms.certain is None else terms.certain[k]
    pairs = [(x, slope) for x, slope in zip(row, slopes, strict=True) if x]
    if (
        terms.offsets[k] == -INF
        or any(s == -INF for _, s in pairs)
        or not all(row[j] for j in must)
    ):
        return MP.ninf
    exact = Fraction(terms.offsets[k]) + sum(Fraction(x) * Fraction(slope) for x, slope in pairs)
    return real(exact)


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its shares, log p(x), the bound and the entropy."""

    q: list[Any]
    log_likelihood: Any
    bound: Any
    entropy: Any


def row(logs: Sequence[Any], top: int = 0) -> Row:
    """Shares by the posterior, or by the posterior of the first of the most probable components."""
    k = len(logs)
    if all(x == MP.ninf for x in logs):
        return Row([MP.mpf(0)] * k, MP.ninf, MP.ninf, MP.mpf(0))
    densities = [MP.exp(x) for x in logs]
    order = sorted(range(k), key=lambda c: (-logs[c], c))
    kept = set(order[:top] if 0 < top < k else order)
    mass = sum(densities[c] for c in kept)
    q = [densities[c] / mass if c in kept else MP.mpf(0) for c in range(k)]
    entropy = -sum(share * MP.log(share) for share in q if share)
    return Row(q, MP.log(sum(densities)), MP.log(mass), entropy)


def moments(
    points: Points, q: Sequence[Sequence[Any]], around: Sequence[Sequence[float]]
) -> tuple[list[Any], list[Any], list[Any]]:
    """The sums of w q, w q (x - a) and w q (x - a)(x - a)' of all components."""
    given = points.data.weights
    weights = [real(w) for w in ([1.0] * points.n if given is None else given.tolist())]
    counts, firsts, seconds = [], [], []
    for k, centre in enumerate(around):
        shares = [w * share[k] for w, share in zip(weights, q, strict=True)]
        away = [
            [
                real(Fraction(x) - Fraction(a))
                for x, a in zip(points.whole_row(i), centre, strict=True)
            ]
            for i in range(points.n)
        ]
        counts.append(sum(shares))
        for i in range(points.d):
            firsts.append(sum(s * x[i] for s, x in zip(shares, away, strict=True)))
            seconds += [
                sum(s * x[i] * x[j] for s, x in zip(shares, away, strict=True))
                for j in range(points.d)
            ]
    return counts, firsts, seconds


def some_gaussians(seed: int) -> tuple[Points, Gaussians]:
    """A few rows and densities, nasty ones: offsets, far rows, narrow and equal components."""
    rng = random.Random(seed)
    d, k, form = rng.choice([1, 2, 3, 5]), rng.choice([1, 2, 3, 4, 6]), rng.choice(FORMS)
    offset, far = rng.choice([0.0, 0.0, 1e3, 1e6, 1e9]), rng.choice([1.0, 1.0, 10.0, 1e3, 1e5])
    means = [[offset + 3 * rng.gauss(0, 1) for _ in range(d)] for _ in range(k)]
    rows = [[offset + far * rng.gauss(0, 1) for _ in range(d)] for _ in range(5)]
    rows[0] = list(means[0])
    if k > 1 and seed % 3 == 0:
        means[1] = means[0]
    whitening = array("d")
    for _ in range(k):
        scale = rng.choice([1.0, 1.0, 1e3])
        if form == "full":
            own = [[rng.gauss(0, 1) * scale if j <= i else 0.0 for j in range(d)] for i in range(d)]
            whitening.extend(x for line in own for x in line)
        else:
            size = d if form == "diagonal" else 1
            whitening.extend(abs(rng.gauss(0, 1)) * scale for _ in range(size))
    offsets = array(
        "d", (rng.choice([-1.0, -700.3, 0.0, -1e5, 5.0]) * rng.random() for _ in range(k))
    )
    if k > 2 and seed % 5 == 0:
        offsets[2] = -INF
    weights = [rng.choice([0.0, 1.0, 0.1, 3.0]) for _ in rows]
    weights[1] = 1.0
    points = points_of(rows, weights if seed % 2 else None)
    return points, Gaussians(offsets, CentreMatrix.of(means), whitening, form)


FORMS: tuple[Form, ...] = ("full", "diagonal", "spherical")


def some_terms(seed: int) -> tuple[Points, Terms]:
    """A few rows of counts and densities: long and empty rows, words that cannot be, offsets."""
    rng = random.Random(seed)
    d, k = rng.choice([1, 3, 6]), rng.choice([1, 2, 4])
    size = rng.choice([3, 3, 10**5])
    rows = [
        {
            j: rng.choice([1.0, 0.5, float(rng.randint(1, size))])
            for j in range(d)
            if rng.random() < 0.6
        }
        for _ in range(5)
    ]
    slopes = array("d", (-10 * rng.random() - 0.01 for _ in range(k * d)))
    if seed % 4 == 0:
        slopes[-1] = -INF
    offsets = array("d", (-rng.random() * rng.choice([1.0, 1e4]) for _ in range(k)))
    certain = tuple((rng.randrange(d),) if c else () for c in range(k)) if seed % 3 == 0 else None
    return sparse_points(rows, d), Terms(offsets, slopes, certain)


def judged(kernel: str, points: Points, args: tuple[Any, ...], answer: Any) -> str | None:
    """What a contract says to an answer; the reference's is due."""
    due = KERNELS[kernel].reference(points, *args)
    contract: Any = KERNELS[kernel].contract
    found: str | None = contract.judged(points, args, due, answer)
    return found
