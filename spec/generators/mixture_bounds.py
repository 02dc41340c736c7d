"""How far a careful evaluation in doubles may be from the truth: the bounds of chapters 31 to 34.

With u = 2**-53 the unit roundoff, these bounds hold to first order for any program that rounds
every operation to nearest, whose exp, log and lgamma err by at most 2 ulp (4 u of the value), that
adds up in whatever order (m terms: m u of their absolute sum), and that takes differences of row
and mean before it multiplies. A factor 1.1 covers the terms of second order; what is allowed for
underflow is 2**-1022. Sums are over rows n of weight w, components k, columns i, j.

Covariance S = L L', W the inverse of L, M = |W| |L|, G = M M':
  the factor computed by Cholesky belongs to S + D with |D| <= (d + 1) u |L| |L|', so z = W (x - m)
  gains at most (d + 1) u tril(G) |z|; a triangular solve or an explicit inverse adds d u M a, with
  a = |W| |x - m|; the product (d + 1) u a, the difference u a. Hence, with y the sum of these,
  D2 = |z|^2 errs by 2 |z|.y + (d + 2) u D2, and the inverse of S times a vector by
  |W|' (y + u ((d + 1) G + d M' + d + 2) |z|),
  log |L| errs by u ((d + 1) tr(G) / 2 + (d + 5) sum |log L_ii| + d).

Joint log-density l = log p(x, k): e is the sum of the errors of its parts (half of that of D2) and
  4 u of their absolute sum. Counts: 8 u |log pi| + (d + 10) u A, A the sum of |x_j log theta_j|
  over the words there; a Bernoulli model adds |log(1 - theta_j)| of all columns, and of those there
  once more, because its sums may be split into an offset and log-odds, and 2 u for each column.

Shares q and log p(x) of a row, g = peak - l, means over k weighted by q marked by <>:
  log p(x): r = <e> + u (<g> + K + 8 + 4 |log p - peak| + |log p|),
  q, relatively: t = (1 - q) e + <e of the others> + u (g + <g> + K + 12 + |log p| + |l|);
  so dq = t q, and zero where shares or labels are given.

Sums: J errs by sum w (r + n u |log p|); N by sum w dq + (n + 2) u N; pi by pi (dN / N + (n + 4) u);
  entropy by sum w (dq |log q| + dq + (n + K + 6) u q |log q|);
  expectations sum w q l by sum w (dq |l| + q e + (n + K + 6) u q |l|), where |l| is the sum of the
  absolute parts of l, with a in the place of z.

M-step, all quantities of one component, m its new mean, a its old one, dN1 = sum w dq:
  mean: dm = (sum w dq |x - m| + (n + 4) u sum w q |x|) / N + u |m|;
  scatter: dS_ij = sum w dq |x - m|_i |x - m|_j + |S_ij| dN1 / N + (n + 8) u B_ij + N dm_i dm_j
  + (n + 4) u |S_ij|,
  B_ij the largest of the absolute second moments around m, around a and around the mean of all
  rows, with those of the correction;
  the prior adds (n + 14) u f v_j. Pooled scatters add up their errors; division by N, pooling and
  means over the diagonal add (d + K + 4) u of the covariance;
  theta: (dT_j + theta dT) / (T + m) + (n + d + 8) u theta, dT as N above.

Values at computed parameters: l moves by
  dpi / pi + |P (x - m)| . dm + sum (|P_ij| + |P (x - m)|_i |P (x - m)|_j) dS_ij / 2, P the inverse
  of S, or by dpi / pi + sum x_j dtheta_j / theta_j; then as above. The new expectation and bound
  are stationary in the new parameters, so that only the gradient of a prior moves them; taken from
  scatters instead of rows, they err by N sum (|W|'|W|)_ij dS_ij / 2 more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb

Matrix = list[list[float]]

U = 2.0**-53
SECOND_ORDER = 1.1
UNDERFLOW = 2.0**-1022


def log(value: float) -> float:
    """The logarithm by balls: the same double on every machine."""
    return float(arb(value).log())


def exp(value: float) -> float:
    """The exponential by balls."""
    return float(arb(value).exp())


def total(terms: Sequence[float]) -> float:
    """The sum, rounded once."""
    return math.fsum(terms)


def allowed(bound: Any) -> Any:
    """Bounds, list by list, with their second order and the underflow."""
    if isinstance(bound, list):
        return [allowed(one) for one in bound]
    assert math.isfinite(bound)
    return SECOND_ORDER * bound + UNDERFLOW


def added(one: Matrix, other: Matrix) -> Matrix:
    """The sum of two matrices."""
    pairs = zip(one, other, strict=True)
    return [[x + y for x, y in zip(*pair, strict=True)] for pair in pairs]


@dataclass(frozen=True, slots=True)
class Triangle:
    """What the bounds need of a covariance, in doubles."""

    inverse: Matrix  # W
    grown: Matrix  # M
    gram: Matrix  # G
    precision: Matrix  # P
    log_diagonal: float  # the sum of |log L_ii|

    @staticmethod
    def of(matrix: Matrix) -> Triangle:
        """Factor a covariance; its conditions are far from the limits of doubles."""
        d = len(matrix)
        lower = [[0.0] * d for _ in range(d)]
        inverse = [[0.0] * d for _ in range(d)]
        for i in range(d):
            for j in range(i + 1):
                rest = matrix[i][j] - total([lower[i][t] * lower[j][t] for t in range(j)])
                lower[i][j] = math.sqrt(rest) if i == j else rest / lower[j][j]
            for j in range(i + 1):
                inner = total([lower[i][t] * inverse[t][j] for t in range(i)])
                inverse[i][j] = (float(i == j) - inner) / lower[i][i]
        grown = product(absolute(inverse), absolute(lower))
        logs = total([abs(log(lower[i][i])) for i in range(d)])
        precision = product(transposed(inverse), inverse)
        return Triangle(inverse, grown, product(grown, transposed(grown)), precision, logs)

    def _solved(self, away: Sequence[float]) -> tuple[list[float], list[float]]:
        """|z| for z = W (x - m), and its error in units of u."""
        d = len(away)
        z = [abs(x) for x in apply(self.inverse, away)]
        a = apply(absolute(self.inverse), [abs(x) for x in away])
        solved = apply(self.grown, a)
        slack = [
            (d + 1) * total([self.gram[i][j] * z[j] for j in range(i + 1)])
            + d * solved[i]
            + (d + 2) * a[i]
            for i in range(d)
        ]
        return z, slack

    def square_error(self, away: Sequence[float]) -> float:
        """The error of |W (x - m)|^2."""
        z, slack = self._solved(away)
        square = (len(z) + 2) * total([x * x for x in z])
        return U * (2 * total([x * y for x, y in zip(z, slack, strict=True)]) + square)

    def solution_error(self, vector: Sequence[float]) -> list[float]:
        """The error of W' W times a vector: that of z, that of W', that of the product."""
        z, slack = self._solved(vector)
        d = len(z)
        back = apply(transposed(self.grown), z)
        again = apply(self.gram, z)
        sums = [
            y + (d + 1) * g + d * b + (d + 2) * x
            for x, y, g, b in zip(z, slack, again, back, strict=True)
        ]
        return [U * x for x in apply(transposed(absolute(self.inverse)), sums)]

    def log_error(self) -> float:
        """The error of log |L|."""
        d = len(self.gram)
        trace = total([self.gram[i][i] for i in range(d)])
        return U * ((d + 1) * trace / 2 + (d + 5) * self.log_diagonal + d)


def absolute(matrix: Matrix) -> Matrix:
    """The matrix of absolute values."""
    return [[abs(x) for x in line] for line in matrix]


def transposed(matrix: Matrix) -> Matrix:
    """The transposed matrix."""
    return [list(column) for column in zip(*matrix, strict=True)]


def product(left: Matrix, right: Matrix) -> Matrix:
    """The product of two matrices."""
    columns = transposed(right)
    return [
        [total([x * y for x, y in zip(line, column, strict=True)]) for column in columns]
        for line in left
    ]


def apply(matrix: Matrix, vector: Sequence[float]) -> list[float]:
    """A matrix times a vector."""
    return [total([x * y for x, y in zip(line, vector, strict=True)]) for line in matrix]


@dataclass(frozen=True, slots=True)
class Shares:
    """Joint log-densities with their errors, and the shares made of them, in doubles."""

    weights: list[float]
    joint: Matrix
    errors: Matrix
    log_p: list[float]
    q: Matrix
    log_q: Matrix
    given: bool  # shares or labels that are part of the input

    def relative(self, n: int, k: int) -> float:
        """The relative error of one share."""
        q, e = self.q[n], self.errors[n]
        if self.given or not q[k] or self.joint[n][k] == -math.inf:
            return 0.0
        others = total([q[j] * e[j] for j in range(len(q)) if j != k and q[j]])
        apart = max(self.joint[n]) - self.joint[n][k]
        own = apart + self._gap(n) + len(q) + 12 + abs(self.log_p[n]) + abs(self.joint[n][k])
        found = (1 - q[k]) * e[k] + others + U * own
        assert found < 0.01, "too coarse for an analysis of first order"
        return found

    def _gap(self, n: int) -> float:
        peak = max(self.joint[n])
        return total([q * (peak - x) for q, x in zip(self.q[n], self.joint[n], strict=True) if q])

    def lost(self) -> Matrix:
        """dq of every row and component."""
        return [
            [self.relative(n, k) * q for k, q in enumerate(row)] for n, row in enumerate(self.q)
        ]

    def moved(self) -> Matrix:
        """The same times the weight of the row."""
        return [[w * x for x in row] for w, row in zip(self.weights, self.lost(), strict=True)]

    def row(self, n: int) -> float:
        """The error of log p(x), by posterior shares."""
        if self.log_p[n] == -math.inf:
            return 0.0
        peak = max(self.joint[n])
        post = [exp(x - self.log_p[n]) if x > -math.inf else 0.0 for x in self.joint[n]]
        mixed = total([q * e for q, e in zip(post, self.errors[n], strict=True) if q])
        gap = total([q * (peak - x) for q, x in zip(post, self.joint[n], strict=True) if q])
        excess = self.log_p[n] - peak
        return mixed + U * (gap + len(post) + 8 + 4 * abs(excess) + abs(self.log_p[n]))

    def log_likelihood(self) -> float:
        """The error of J."""
        n = len(self.weights)
        return total(
            [
                w * (self.row(i) + n * U * abs(self.log_p[i]))
                for i, w in enumerate(self.weights)
                if w and self.log_p[i] > -math.inf
            ]
        )

    def entropy(self) -> float:
        """The error of H(q)."""
        return self.expectation(self.log_q, None)

    def expectation(self, values: Matrix, errors: Matrix | None) -> float:
        """The error of the sum of w q times values; for log q the errors are those of q."""
        moved, n, k = self.moved(), len(self.q), len(self.q[0])
        terms = []
        for i, w in enumerate(self.weights):
            for j, q in enumerate(self.q[i]):
                if q and w:
                    own = self.relative(i, j) if errors is None else errors[i][j]
                    size = abs(values[i][j])
                    terms.append(moved[i][j] * size + w * q * (own + (n + k + 6) * U * size))
        return total(terms)

    def counts(self) -> list[float]:
        """The error of each N."""
        return [
            total(column) + (len(self.q) + 2) * U * size
            for column, size in zip(transposed(self.moved()), self.sizes(), strict=True)
        ]

    def sizes(self) -> list[float]:
        """The N themselves."""
        rows = zip(self.weights, self.q, strict=True)
        return [total(column) for column in transposed([[w * q for q in r] for w, r in rows])]

    def shares_of_all(self) -> list[float]:
        """The error of each pi."""
        whole, n = total(self.weights), len(self.q)
        pairs = zip(self.counts(), self.sizes(), strict=True)
        return [(lost + (n + 4) * U * size) / whole for lost, size in pairs]
