"""Chapter 34: choosing the model. Criteria, evidence, curves.

Letters: j the log-likelihood J, nu free parameters, w weights of rows (W their sum), q shares of a
row (one list a row), v importance weights, r residual sums of squares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from refclust.errors import BadOption
from refclust.formulas.gaussian import (
    component_weight,
    mahalanobis,
    mean,
    scatter,
)
from refclust.formulas.vectors import (
    Exact,
    Matrix,
    Number,
    determinant,
    difference,
    exact,
    outer,
    scaled,
    sum_of,
    total,
)
from refclust.numbers.real import Real, exp, log, sqrt
from refclust.numbers.reals.constants import pi
from refclust.numbers.reals.gamma import digamma, log_gamma

Row: TypeAlias = Sequence[Number]
Rows: TypeAlias = Sequence[Row]
Numbers: TypeAlias = Sequence[Number]


def held_out(
    x: Sequence[Any],
    w: Numbers,
    order: Sequence[int],
    folds: int,
    log_density_without: Callable[[list[int]], Callable[[Any], Number]],
) -> Exact:
    """The mean log-likelihood of rows under models that have not seen them.

    ``order`` are the rows shuffled; ``log_density_without`` fits without some rows.

    Defines: MS-CVLL

    >>> held_out([3, 5], [1, 1], [1, 0], 2, lambda left_out: lambda row: row + left_out[0])
    Fraction(9, 2)
    """
    if not 2 <= folds <= len(x):
        raise BadOption(f"{folds} folds of {len(x)} rows")
    parts = [[i for t, i in enumerate(order) if t % folds == f] for f in range(folds)]
    fitted = [(part, log_density_without(part)) for part in parts]
    return total(exact(w[i]) * exact(fit(x[i])) for part, fit in fitted for i in part) / total(w)


def bic(j: Number, nu: int, w: Number) -> Exact:
    """The Bayesian information criterion; smaller is better.

    Defines: MS-BIC

    >>> bic(-10, 3, 1).fraction
    Fraction(20, 1)
    """
    return -2 * exact(j) + nu * log(exact(w))


def aic(j: Number, nu: int) -> Exact:
    """Akaike's information criterion; smaller is better.

    Defines: MS-AIC

    >>> aic(-10, 3)
    Fraction(26, 1)
    """
    return -2 * exact(j) + 2 * nu


def icl(j: Number, nu: int, w: Numbers, q: Sequence[Numbers], *, soft: bool = False) -> Exact:
    """BIC with a charge for components that overlap; smaller is better.

    Defines: MS-ICL

    >>> icl(-10, 3, [1], [[0.25, 0.75]]) == 20 - 2 * log(Fraction(3, 4))
    True
    """
    doubt = row_entropy if soft else lambda shares: -log(max(map(exact, shares)))
    charge = total(exact(w_i) * doubt(q_i) for w_i, q_i in zip(w, q, strict=True))
    return bic(j, nu, total(w)) + 2 * charge


@dataclass(frozen=True, slots=True)
class Believed:
    """What variational Bayes believes of a component: α, β, ν, m and the inverse of V."""

    alpha: Exact
    beta: Exact
    nu: Exact
    m: Any
    v_inverse: Any


def variational_gaussian(
    x: Rows, w: Numbers, q: Sequence[Numbers], prior: Believed
) -> list[Believed]:
    """The beliefs about normal components that shares lead to.

    Defines: VB-GAUSS

    >>> prior = Believed(Fraction(1), Fraction(1), Fraction(1), (0,), ((2,),))
    >>> [found] = variational_gaussian([[1], [3]], [1, 1], [[1], [1]], prior)
    >>> found.alpha, found.m, found.v_inverse
    (Fraction(3, 1), (Fraction(4, 3),), ((Fraction(20, 3),),))
    """
    found = []
    for column in zip(*q, strict=True):
        n = component_weight(w, column)
        centre = mean(x, w, column) if n else prior.m
        away = difference(centre, prior.m)
        beta = prior.beta + n
        m = scaled(1 / beta, sum_of([scaled(prior.beta, prior.m), scaled(n, centre)]))
        spread = [scatter(x, w, column, centre), scaled(prior.beta * n / beta, outer(away))]
        v_inverse = sum_of([prior.v_inverse, *spread])
        found.append(Believed(prior.alpha + n, beta, prior.nu + n, m, v_inverse))
    return found


def variational_multinomial(
    x: Rows, w: Numbers, q: Sequence[Numbers], alpha: Number, b: Numbers
) -> list[tuple[Exact, Any]]:
    """The beliefs about components of words that shares lead to: α and β of each.

    Defines: VB-MULT

    >>> variational_multinomial([[2, 0]], [1], [[1]], 1, [1, 1])
    [(Fraction(2, 1), (Fraction(3, 1), Fraction(1, 1)))]
    """
    return [
        (
            exact(alpha) + component_weight(w, column),
            sum_of([b, *(scaled(exact(w_i) * exact(q_i), x_i)
                         for x_i, w_i, q_i in zip(x, w, column, strict=True))]),
        )
        for column in zip(*q, strict=True)
    ]  # fmt: skip


def importance(log_v: Numbers) -> tuple[Real, Real]:
    """The logarithm of the estimated evidence, and the effective sample size.

    Defines: MS-IS

    >>> [float(part) for part in importance([0, 0])]
    [0.0, 2.0]
    """
    if not log_v:
        raise BadOption("at least one draw is needed")
    v = [exp(exact(one)) for one in log_v]
    mean_weight = total(v) / len(v)
    return log(mean_weight), Real(0) + total(v) ** 2 / total(one**2 for one in v)


def gap(r: Number, references: Numbers) -> tuple[Exact, Real]:
    """How much better the data are clustered than data without clusters, and its error.

    Defines: MS-GAP

    >>> [float(part) for part in gap(1, [1, 1])]
    [0.0, 0.0]
    """
    logs = [log(exact(one)) for one in references]
    middle, b = total(logs) / len(logs), len(logs)
    spread = sqrt(total((one - middle) ** 2 for one in logs) / b)
    return middle - log(exact(r)), sqrt(1 + Fraction(1, b)) * spread


def first_gap(gaps: Sequence[tuple[Number, Number]]) -> int | None:
    """The first place whose gap the next one does not exceed by its error.

    Spec: MS-GAP

    >>> first_gap([(0, 0), (5, 1), (5.5, 1)])
    1
    """
    return next(
        (
            k
            for k in range(len(gaps) - 1)
            if exact(gaps[k][0]) >= exact(gaps[k + 1][0]) - exact(gaps[k + 1][1])
        ),
        None,
    )


def elbow(first: int, r: Numbers) -> int | None:
    """The K at which the curve lies farthest below the line between its ends.

    Defines: MS-ELBOW

    >>> elbow(1, [10, 3, 2, 1])
    2
    """
    heights = elbow_heights(r)
    if heights is None:
        return None
    return first + max(range(len(r)), key=lambda place: heights[place])


# What several clauses share.


def elbow_heights(r: Numbers) -> list[Exact] | None:
    """How far a curve lies below the line between its ends, both axes scaled.

    Spec: MS-ELBOW

    >>> elbow_heights([10, 3, 2, 1])[1]
    Fraction(4, 9)
    """
    if len(r) < 3:
        raise BadOption(f"{len(r)} values of K have no elbow; at least three are needed")
    start, end = exact(r[0]), exact(r[-1])
    if start <= end:
        return None
    steps = len(r) - 1
    return [(start - exact(r_k)) / (start - end) - Fraction(k, steps) for k, r_k in enumerate(r)]


def row_entropy(q: Numbers) -> Exact:
    """The entropy of the shares of a row.

    Spec: MS-ICL

    >>> row_entropy([0.5, 0.5]) == log(2)
    True
    """
    return -total(exact(share) * log(exact(share)) for share in q if share)


def gaussian_bound(w: Numbers, q: Sequence[Numbers], prior: Believed, v: list[Believed]) -> Exact:
    """The bound on the log evidence directly after the beliefs were renewed from shares.

    Spec: VB-GAUSS
    """
    d = len(prior.m)
    sharing = log_beta([one.alpha for one in v]) - log_beta([prior.alpha] * len(v))
    shapes = total(
        Fraction(d, 2) * log(prior.beta / one.beta)
        + log_wishart(one.v_inverse, one.nu)
        - log_wishart(prior.v_inverse, prior.nu)
        for one in v
    )
    entropy = total(exact(w_i) * row_entropy(q_i) for w_i, q_i in zip(w, q, strict=True))
    return sharing + shapes - d * total(w) / 2 * log(2 * pi) + entropy


def gaussian_log_rho(x: Row, v: list[Believed]) -> list[Exact]:
    """The logarithms of what the shares of a row are proportional to.

    Spec: VB-GAUSS
    """
    d, whole = len(x), total(one.alpha for one in v)
    return [
        digamma(_rational(one.alpha))
        - digamma(_rational(whole))
        + (
            total(digamma(_rational(one.nu + 1 - j) / 2) for j in range(1, d + 1))
            + d * log(2)
            - log(determinant(one.v_inverse))
            - d * log(2 * pi)
            - d / one.beta
            - one.nu * mahalanobis(x, one.m, one.v_inverse)
        )
        / 2
        for one in v
    ]


def multinomial_bound(
    w: Numbers, q: Sequence[Numbers], alpha: Number, b: Numbers, found: list[tuple[Exact, Any]]
) -> Exact:
    """The bound on the log evidence of documents, directly after the beliefs were renewed.

    Spec: VB-MULT
    """
    sharing = log_beta([one for one, _ in found]) - log_beta([alpha] * len(found))
    words = total(log_beta(beta) - log_beta(b) for _, beta in found)
    entropy = total(exact(w_i) * row_entropy(q_i) for w_i, q_i in zip(w, q, strict=True))
    return sharing + words + entropy


def multinomial_log_rho(x: Row, found: list[tuple[Exact, Any]]) -> list[Exact]:
    """The logarithms of what the shares of a document are proportional to.

    Spec: VB-MULT
    """
    whole = digamma(_rational(total(alpha for alpha, _ in found)))
    return [
        digamma(_rational(alpha))
        - whole
        + total(
            exact(x_j) * (digamma(_rational(beta_j)) - digamma(_rational(total(beta))))
            for x_j, beta_j in zip(x, beta, strict=True)
            if x_j
        )
        for alpha, beta in found
    ]


def log_beta(alpha: Numbers) -> Exact:
    """The logarithm of the normaliser of a Dirichlet distribution.

    Spec: VB-GAUSS

    >>> log_beta([1, 1]).fraction
    Fraction(0, 1)
    """
    return total(log_gamma(_rational(one)) for one in alpha) - log_gamma(_rational(total(alpha)))


def log_wishart(v_inverse: Matrix, nu: Number) -> Exact:
    """The logarithm of the normaliser of a Wishart distribution.

    Spec: VB-GAUSS
    """
    d, freedom = len(v_inverse), _rational(nu)
    return (
        -freedom / 2 * log(determinant(v_inverse))
        + freedom * d / 2 * log(2)
        + Fraction(d * (d - 1), 4) * log(pi)
        + total(log_gamma((freedom + 1 - j) / 2) for j in range(1, d + 1))
    )


def _rational(number: Number) -> Fraction:
    value = exact(number)
    if isinstance(value, Real):
        raise BadOption("a rational number is needed here")
    return value
