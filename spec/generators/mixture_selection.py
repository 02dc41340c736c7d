"""Numbers that choose a model (chapter 34): criteria, conjugate evidence, importance sampling.

Evidence is found in two ways: the first witness takes the closed form with gamma functions, the
second multiplies predictive probabilities row by row. For the bounds see ``mixture_bounds``;
a logarithm of the gamma function is allowed 16 u of its value and 4 u.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, arb_mat

from .mixture_bounds import Matrix, Shares, Triangle, U, log, total
from .mixture_gaussian import lifted
from .mixture_numbers import BALLS, EXACT, INTERVALS, floats_of, prepared
from .vectors_common import ball, mpmath

SHAPES = (
    *("EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE"),
    *("VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV"),
)


def free_parameters(model: str, k: int, d: int) -> int:
    """How many numbers a mixture is free to choose.

    The letters of a covariance model are those of its volume, shape and orientation: E equal in all
    components, V varying, I the identity.
    """
    if model == "multinomial":
        return k - 1 + k * (d - 1)
    if model == "bernoulli":
        return k - 1 + k * d
    free = (1, d - 1, d * (d - 1) // 2)
    times = {"E": 1, "V": k, "I": 0}
    own = sum(times[letter] * one for letter, one in zip(model, free, strict=True))
    return k - 1 + k * d + own


def dirichlet_balls(counts: list[int], alpha: list[Fraction]) -> Any:
    """log p of sequences of words under a Dirichlet prior, by gamma functions."""
    whole = sum(alpha, Fraction(0))
    value = ball(whole).lgamma() - ball(whole + sum(counts)).lgamma()
    for x, a in zip(counts, alpha, strict=True):
        value += ball(a + x).lgamma() - ball(a).lgamma()
    return value


def dirichlet_intervals(counts: list[int], alpha: list[Fraction]) -> Any:
    """The same word by word: each is as probable as it is common among those before it."""
    whole, product, seen = sum(alpha, Fraction(0)), Fraction(1), 0
    for x, a in zip(counts, alpha, strict=True):
        for before in range(x):
            product *= (a + before) / (whole + seen)
            seen += 1
    return INTERVALS.log(INTERVALS.of(product))


def dirichlet_error(counts: list[int], alpha: list[Fraction]) -> float:
    """The error of the closed form."""
    whole = sum(alpha, Fraction(0))
    points = [whole, whole + sum(counts), *alpha]
    points += [a + x for a, x in zip(alpha, counts, strict=True)]
    sizes = [abs(float(ball(x).lgamma())) for x in points]
    n = len(points)
    # A rounded argument x moves the logarithm by at most u x times the digamma function there.
    moved = [float(x) * abs(float(ball(x).digamma())) for x in points]
    # From the variational bound: digamma functions, 128 u of max(1, |psi|, 1 / x), times counts.
    psi = [max(1.0, abs(float(ball(x).digamma()))) for x in points]
    bound = 128 * sum(counts) * max(psi) * 2
    return U * (4 * n + (16 + n) * total(sizes) + total(moved) + bound)


@dataclass(frozen=True, slots=True)
class Wishart:
    """A normal-Wishart prior: mean, strength beta, freedom nu, inverse of the scale matrix."""

    mean: list[Fraction]
    beta: Fraction
    nu: Fraction
    scale: list[list[Fraction]]

    @staticmethod
    def of(rows: Matrix, beta: Fraction, nu: Fraction) -> Wishart:
        """The prior in the units of the data: around their mean, as wide as they are."""
        n, exact = len(rows), lifted(EXACT, rows)
        flat = Wishart([Fraction(0)] * len(rows[0]), Fraction(0), Fraction(0), _zeros(rows))
        after = flat.after(exact)
        return Wishart(after.mean, beta, nu, [[x / n for x in line] for line in after.scale])

    def after(self, rows: list[list[Fraction]]) -> Wishart:
        """The posterior."""
        n, d = len(rows), len(self.mean)
        if not n:
            return self
        average = [sum(column, Fraction(0)) / n for column in zip(*rows, strict=True)]
        away = [a - m for a, m in zip(average, self.mean, strict=True)]
        pull = self.beta * n / (self.beta + n)
        mean = [m + n * x / (self.beta + n) for m, x in zip(self.mean, away, strict=True)]
        scale = [
            [
                self.scale[i][j]
                + sum(((x[i] - average[i]) * (x[j] - average[j]) for x in rows), Fraction(0))
                + pull * away[i] * away[j]
                for j in range(d)
            ]
            for i in range(d)
        ]
        return Wishart(mean, self.beta + n, self.nu + n, scale)

    def evidence_balls(self, rows: list[list[Fraction]]) -> Any:
        """log p of rows by the closed form."""
        n, d, after = len(rows), len(self.mean), self.after(rows)
        value = -(arb(n * d) / 2) * arb.pi().log()
        for j in range(d):
            value += ball((after.nu - j) / 2).lgamma() - ball((self.nu - j) / 2).lgamma()
        value += ball(self.nu / 2) * _log_det(self.scale)
        value -= ball(after.nu / 2) * _log_det(after.scale)
        return value + arb(d) / 2 * ball(self.beta / after.beta).log()

    def evidence_intervals(self, rows: list[list[Fraction]]) -> Any:
        """The same as a product of Student densities, each row given those before it."""
        d, iv = len(self.mean), mpmath.iv
        value = INTERVALS.of(Fraction(0))
        for i, row in enumerate(rows):
            known = self.after(rows[:i])
            matrix = [[INTERVALS.of(x) for x in line] for line in known.scale]
            quadratic, log_det = prepared(INTERVALS, matrix)
            away = [INTERVALS.of(x - m) for x, m in zip(row, known.mean, strict=True)]
            share = known.beta / (known.beta + 1)
            far = 1 + INTERVALS.of(share) * quadratic(away)
            value += iv.loggamma(INTERVALS.of((known.nu + 1) / 2))
            value -= iv.loggamma(INTERVALS.of((known.nu + 1 - d) / 2))
            logs = INTERVALS.log(INTERVALS.of(share)) - iv.log(INTERVALS.pi())
            value += (d * logs - log_det) / 2
            value -= INTERVALS.of((known.nu + 1) / 2) * INTERVALS.log(far)
        return value

    def error(self, rows: Matrix) -> float:
        """The error of the closed form, or of the variational bound, which is equal to it.

        The bound has digamma functions, each allowed 128 u of max(1, |psi|), times at most n + nu.
        """
        n, d, after = len(rows), len(self.mean), self.after(lifted(EXACT, rows))
        ends = Triangle.of(floats_of(self.scale)), Triangle.of(floats_of(after.scale))
        nus = float(self.nu), float(after.nu)
        points = [(nu - j) / 2 for nu in (self.nu, after.nu) for j in range(d)]
        gammas = [abs(float(ball(x).lgamma())) for x in points]
        psi = total([max(1.0, abs(float(ball(x).digamma()))) for x in points])
        centre = floats_of(self.mean)
        # The covariance of the rows errs by (n + 12) u of its absolute terms.
        pull = ends[0].precision
        spread = total(
            [
                abs(pull[i][j]) * (n + 12) * U * 2 * _moment(rows, centre, i, j) / n
                for i in range(d)
                for j in range(d)
            ]
        )
        logs = total([nu * (one.log_error() + spread) for nu, one in zip(nus, ends, strict=True)])
        sizes = total([nu * one.log_diagonal for nu, one in zip(nus, ends, strict=True)])
        sizes += n * d * 2 + d * total([abs(log(float(x))) for x in (self.beta, after.beta)])
        own = (4 * d + 16) * (total(gammas) + sizes + 4 * d)
        return U * (own + 128 * psi * (n + nus[0])) + logs


def _zeros(rows: Matrix) -> list[list[Fraction]]:
    return [[Fraction(0)] * len(rows[0]) for _ in rows[0]]


def _moment(rows: Matrix, centre: list[float], i: int, j: int) -> float:
    return total([abs(x[i] - centre[i]) * abs(x[j] - centre[j]) for x in rows])


def _log_det(matrix: Any) -> Any:
    d = len(matrix)
    return arb_mat(d, d, [ball(x) for line in matrix for x in line]).det().log()


def importance(field: Any, logs: list[float]) -> dict[str, Any]:
    """The estimate of the logarithm, and the effective sample size."""
    weights = [field.exp(field.of(Fraction(x))) for x in logs]
    whole, squares = field.total(weights), field.total([w * w for w in weights])
    if field is not BALLS:
        # A second road: the sum over pairs instead of the square of a sum.
        square = field.total([a * b for a in weights for b in weights])
    else:
        square = whole * whole
    return {
        "log_evidence": field.log(whole / field.of(Fraction(len(logs)))),
        "effective_sample_size": square / squares,
    }


def importance_errors(logs: list[float], found: dict[str, Any]) -> dict[str, float]:
    """The errors: each weight relative to the largest is off by u (gap + 4)."""
    peak, s = max(logs), len(logs)
    weights = [float(arb(x - peak).exp()) for x in logs]
    gaps = [peak - x for x in logs]
    mean = total([w * g for w, g in zip(weights, gaps, strict=True)]) / total(weights)
    squares = total([w * w for w in weights])
    second = 2 * total([w * w * g for w, g in zip(weights, gaps, strict=True)]) / squares
    size, value = floats_of(found["effective_sample_size"]), floats_of(found["log_evidence"])
    ends = abs(value) + 4 * abs(value - peak) + 4 * abs(log(float(s))) + abs(peak)
    return {
        "log_evidence": U * (mean + s + 8 + ends),
        "effective_sample_size": U * size * (2 * mean + second + 3 * s + 24),
    }


def charged(shares: Shares, bound: float, nu: int, weight: float) -> dict[str, float]:
    """The errors of criteria from that of the log-likelihood."""
    n = len(shares.q)
    size = abs(total([w * p for w, p in zip(shares.weights, shares.log_p, strict=True)]))
    plain = 2 * bound + U * (8 * size + 8 * nu * (1 + abs(log(weight))))
    chosen = [max(range(len(row)), key=row.__getitem__) for row in shares.q]
    sure = total(
        [
            w * (shares.relative(i, k) + (n + 4) * U * (1 + abs(shares.log_q[i][k])))
            for i, (w, k) in enumerate(zip(shares.weights, chosen, strict=True))
        ]
    )
    return {
        "aic": plain,
        "bic": plain,
        # Also as the difference of two sums over all rows.
        "icl": plain + 2 * sure + 4 * bound,
        "icl_soft": plain + 2 * shares.entropy(),
    }
