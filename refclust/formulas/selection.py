"""Chapter 34: choosing the model. Criteria, evidence, curves.

Letters: j the log-likelihood J, nu free parameters, w weights of rows (W their sum), q shares of a
row (one list a row), v importance weights, r residual sums of squares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, TypeAlias

from refclust.errors import BadOption
from refclust.formulas.contingency import Contingency
from refclust.formulas.gaussian import (
    component_weight,
    diagonal_part,
    identity,
    mahalanobis,
    mean,
    scatter,
    trace,
)
from refclust.formulas.pairs import adjusted_rand
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

GAP_RULES: Final = ("globalSEmax", "firstSEmax", "Tibs2001SEmax", "globalmax", "firstmax")


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
    >>> [belief] = variational_gaussian([[1], [3]], [1, 1], [[1], [1]], prior)
    >>> belief.alpha, belief.m, belief.v_inverse
    (Fraction(3, 1), (Fraction(4, 3),), ((Fraction(20, 3),),))
    """
    beliefs = []
    for column in zip(*q, strict=True):
        n = component_weight(w, column)
        centre = mean(x, w, column) if n else prior.m
        away = difference(centre, prior.m)
        beta = prior.beta + n
        m = scaled(1 / beta, sum_of([scaled(prior.beta, prior.m), scaled(n, centre)]))
        added = [scatter(x, w, column, centre), scaled(prior.beta * n / beta, outer(away))]
        v_inverse = sum_of([prior.v_inverse, *added])
        beliefs.append(Believed(prior.alpha + n, beta, prior.nu + n, m, v_inverse))
    return beliefs


def variational_diagonal(
    x: Rows, w: Numbers, q: Sequence[Numbers], prior: Believed
) -> list[Believed]:
    """The beliefs about components with one precision for each column: no other number counts.

    Defines: VB-DIAG

    >>> prior = Believed(Fraction(1), Fraction(1), Fraction(1), (0, 0), ((2, 0), (0, 2)))
    >>> [belief] = variational_diagonal([[1, 0], [3, 2]], [1, 1], [[1], [1]], prior)
    >>> belief.v_inverse[0]
    (Fraction(20, 3), Fraction(0, 1))
    """
    beliefs = variational_gaussian(x, w, q, prior)
    return [replace(belief, v_inverse=diagonal_part(belief.v_inverse)) for belief in beliefs]


def variational_ball(x: Rows, w: Numbers, q: Sequence[Numbers], prior: Believed) -> list[Believed]:
    """The beliefs about components with one precision: every column of a row counts for it.

    Defines: VB-BALL

    >>> prior = Believed(Fraction(1), Fraction(1), Fraction(1), (0, 0), ((2, 0), (0, 2)))
    >>> [belief] = variational_ball([[1, 0], [3, 2]], [1, 1], [[1], [1]], prior)
    >>> belief.nu, belief.v_inverse[0]
    (Fraction(5, 1), (Fraction(28, 3), Fraction(0, 1)))
    """
    d = len(prior.m)
    beliefs = []
    for belief in variational_gaussian(x, w, q, prior):
        added = trace(belief.v_inverse) - trace(prior.v_inverse)
        number = exact(prior.v_inverse[0][0]) + added
        nu = prior.nu + d * (belief.nu - prior.nu)
        beliefs.append(replace(belief, nu=nu, v_inverse=scaled(number, identity(d))))
    return beliefs


def variational_common(prior: Believed, own: list[Believed]) -> list[Believed]:
    """The beliefs with one precision for all components, from those with a precision of each.

    Defines: VB-COMMON

    >>> prior = Believed(Fraction(1), Fraction(1), Fraction(1), (0,), ((2,),))
    >>> own = variational_gaussian([[1], [3]], [1, 1], [[1, 0], [0, 1]], prior)
    >>> variational_common(prior, own)[1].v_inverse  # 2 + 1/2 + 9/2
    ((Fraction(7, 1),),)
    """
    more = len(own) - 1  # times that the prior is in the sums too often
    nu = total(belief.nu for belief in own) - more * prior.nu
    v_inverse = sum_of([*(belief.v_inverse for belief in own), scaled(-more, prior.v_inverse)])
    return [replace(belief, nu=nu, v_inverse=v_inverse) for belief in own]


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


def variational_bernoulli(
    x: Rows, w: Numbers, q: Sequence[Numbers], alpha: Number, b: Number
) -> list[tuple[Exact, list[tuple[Exact, Exact]]]]:
    """The beliefs about components of features that are there or not: α, and β of each feature.

    Defines: VB-BERN

    >>> variational_bernoulli([[1, 0]], [1], [[1]], 1, 1)
    [(Fraction(2, 1), [(Fraction(2, 1), Fraction(1, 1)), (Fraction(1, 1), Fraction(2, 1))])]
    """
    nothing = [0] * len(x[0])
    components = variational_multinomial(x, w, q, alpha, nothing)
    return [
        (own, [(exact(b) + t, exact(b) + (own - exact(alpha)) - t) for t in sums])
        for own, sums in components
    ]


def importance(log_v: Numbers) -> tuple[Real, Real]:
    """The logarithm of the estimated evidence, and the effective sample size.

    Defines: MS-IS

    >>> [float(part) for part in importance([0, 0])]
    [0.0, 2.0]
    """
    if not log_v:
        raise BadOption("at least one draw is needed")
    v = [exp(exact(weight)) for weight in log_v]
    mean_weight = total(v) / len(v)
    return log(mean_weight), Real(0) + total(v) ** 2 / total(weight**2 for weight in v)


def gap(r: Number, references: Numbers) -> tuple[Exact, Real]:
    """How much better the data are clustered than data without clusters, and its error.

    Defines: MS-GAP

    >>> [float(part) for part in gap(1, [1, 1])]
    [0.0, 0.0]
    """
    logs = [log(exact(reference)) for reference in references]
    middle, b = total(logs) / len(logs), len(logs)
    spread = sqrt(total((reference - middle) ** 2 for reference in logs) / b)
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


def gap_choice(gaps: Sequence[tuple[Number, Number]], rule: str = "globalSEmax") -> int | None:
    """The first place whose gap is that of a maximum, or below it by no more than its error.

    Defines: MS-GAPRULE

    >>> gaps = [(0, 1), (4, 1), (5, 2), (3, 1), (9, 1)]
    >>> [gap_choice(gaps, rule) for rule in GAP_RULES]
    [4, 1, 1, 4, 2]
    """
    if rule not in GAP_RULES:
        raise BadOption(f"no rule of the gap is called {rule!r}; there are {', '.join(GAP_RULES)}")
    if rule == "Tibs2001SEmax" or len(gaps) < 2:
        return first_gap(gaps)
    values, last = [exact(value) for value, _ in gaps], len(gaps) - 1
    falls = (k for k in range(last) if values[k] >= values[k + 1])
    peak = values.index(max(values)) if rule.startswith("global") else next(falls, last)
    least = values[peak] - (exact(gaps[peak][1]) if rule.endswith("SEmax") else 0)
    return next(k for k, value in enumerate(values) if value >= least)


def subsample(order: Sequence[int]) -> list[int]:
    """Four fifths of the rows: those that a shuffle puts first, in their own order.

    Spec: MS-STAB

    >>> subsample([3, 0, 4, 1, 2, 5])
    [0, 1, 2, 3, 4]
    """
    return sorted(order[: -(-4 * len(order) // 5)])


def stability(
    clusterings: Sequence[tuple[Mapping[int, Hashable], Mapping[int, Hashable]]],
    w: Sequence[int] | None = None,
) -> Exact:
    """The mean agreement of two clusterings of samples about the rows that both samples hold.

    Each clustering tells the cluster of every row of its sample.

    Defines: MS-STAB

    >>> same, moved = {0: "a", 1: "a", 2: "b"}, {1: "x", 2: "y", 0: "x", 3: "y"}
    >>> other = {0: 0, 1: 1, 2: 1}
    >>> stability([(same, moved), (same, other)])  # 1 and -1/2
    Real('1/4')
    """
    if not clusterings:
        raise BadOption("at least one pair of samples is needed")
    return total(_agreement(*pair, w) for pair in clusterings) / len(clusterings)


def best_number(values: Mapping[int, Number], better: str, ties: str = "fewer") -> int | None:
    """The number of clusters with the best value; of equals that of fewer, or of more, clusters.

    Defines: MS-BEST

    >>> best_number({2: 5, 3: 7, 4: 7}, "higher"), best_number({2: 5, 3: 7, 4: 7}, "lower")
    (3, 2)
    """
    least = min if better == "lower" else max
    best = [k for k in values if exact(values[k]) == least(map(exact, values.values()))]
    return (max if ties == "more" else min)(best, default=None)


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


def _agreement(
    a: Mapping[int, Hashable], b: Mapping[int, Hashable], w: Sequence[int] | None
) -> Real:
    """The adjusted Rand index of two clusterings on the rows that both hold."""
    cells: Counter[tuple[Hashable, Hashable]] = Counter()
    for i in a.keys() & b.keys():
        cells[a[i], b[i]] += 1 if w is None else w[i]
    return adjusted_rand(Contingency.of_cells(cells))


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


def gaussian_bound(
    w: Numbers, q: Sequence[Numbers], prior: Believed, beliefs: list[Believed], model: str = "VVV"
) -> Exact:
    """The bound on the log evidence directly after the beliefs were renewed from shares.

    Spec: VB-GAUSS, VB-DIAG, VB-BALL, VB-COMMON
    """
    d = len(prior.m)
    means = total(Fraction(d, 2) * log(prior.beta / belief.beta) for belief in beliefs)
    precisions = total(
        log_wishart(own, belief.nu) - log_wishart(before, prior.nu)
        for belief in (beliefs[:1] if model.startswith("E") else beliefs)
        for own, before in zip(
            wisharts(belief.v_inverse, model), wisharts(prior.v_inverse, model), strict=True
        )
    )
    sharing = log_beta([belief.alpha for belief in beliefs]) - log_beta(
        [prior.alpha] * len(beliefs)
    )
    return sharing + means + precisions - d * total(w) / 2 * log(2 * pi) + entropy(w, q)


def gaussian_log_rho(x: Row, beliefs: list[Believed], model: str = "VVV") -> list[Exact]:
    """The logarithms of what the shares of a row are proportional to.

    Spec: VB-GAUSS, VB-DIAG, VB-BALL, VB-COMMON
    """
    d, whole = len(x), total(belief.alpha for belief in beliefs)
    falls = [j - 1 if model[2] != "I" else 0 for j in range(1, d + 1)]
    return [
        digamma(_rational(belief.alpha))
        - digamma(_rational(whole))
        + (
            total(digamma(_rational(belief.nu - fall) / 2) for fall in falls)
            + d * log(2)
            - log(determinant(belief.v_inverse))
            - d * log(2 * pi)
            - d / belief.beta
            - belief.nu * mahalanobis(x, belief.m, belief.v_inverse)
        )
        / 2
        for belief in beliefs
    ]


def wisharts(v_inverse: Matrix, model: str) -> list[Matrix]:
    """The inverse scales of the Wishart matrices that a precision of this model consists of.

    Spec: VB-DIAG, VB-BALL

    >>> wisharts([[2, 0], [0, 2]], "VVI"), wisharts([[2, 0], [0, 2]], "EII")
    ([[[2]], [[2]]], [[[2]]])
    """
    if model[2] != "I":
        return [v_inverse]
    columns = range(1 if model[1] == "I" else len(v_inverse))
    return [[[v_inverse[j][j]]] for j in columns]


def multinomial_bound(
    w: Numbers, q: Sequence[Numbers], alpha: Number, b: Numbers, components: list[tuple[Exact, Any]]
) -> Exact:
    """The bound on the log evidence of documents, directly after the beliefs were renewed.

    Spec: VB-MULT
    """
    sharing = log_beta([own for own, _ in components]) - log_beta([alpha] * len(components))
    words = total(log_beta(beta) - log_beta(b) for _, beta in components)
    return sharing + words + entropy(w, q)


def multinomial_log_rho(x: Row, components: list[tuple[Exact, Any]]) -> list[Exact]:
    """The logarithms of what the shares of a document are proportional to.

    Spec: VB-MULT
    """
    whole = digamma(_rational(total(alpha for alpha, _ in components)))
    return [
        digamma(_rational(alpha))
        - whole
        + total(
            exact(x_j) * (digamma(_rational(beta_j)) - digamma(_rational(total(beta))))
            for x_j, beta_j in zip(x, beta, strict=True)
            if x_j
        )
        for alpha, beta in components
    ]


def bernoulli_bound(
    w: Numbers, q: Sequence[Numbers], alpha: Number, b: Number, components: list[tuple[Exact, Any]]
) -> Exact:
    """The bound on the log evidence of features, directly after the beliefs were renewed.

    Spec: VB-BERN
    """
    sharing = log_beta([own for own, _ in components]) - log_beta([alpha] * len(components))
    features = total(log_beta(pair) - log_beta([b, b]) for _, pairs in components for pair in pairs)
    return sharing + features + entropy(w, q)


def bernoulli_log_rho(x: Row, components: list[tuple[Exact, Any]]) -> list[Exact]:
    """The logarithms of what the shares of a row of features are proportional to.

    Spec: VB-BERN
    """
    whole = digamma(_rational(total(alpha for alpha, _ in components)))
    return [
        digamma(_rational(alpha))
        - whole
        + total(
            digamma(_rational(pair[0] if x_j else pair[1])) - digamma(_rational(total(pair)))
            for x_j, pair in zip(x, pairs, strict=True)
        )
        for alpha, pairs in components
    ]


def entropy(w: Numbers, q: Sequence[Numbers]) -> Exact:
    """The entropy of the shares of all rows.

    Spec: EM-ELBO, VB-GAUSS

    >>> entropy([2], [[0.5, 0.5]]) == 2 * log(2)
    True
    """
    return total(exact(w_i) * row_entropy(q_i) for w_i, q_i in zip(w, q, strict=True))


def log_beta(alpha: Numbers) -> Exact:
    """The logarithm of the normaliser of a Dirichlet distribution.

    Spec: VB-GAUSS

    >>> log_beta([1, 1]).fraction
    Fraction(0, 1)
    """
    return total(log_gamma(_rational(a)) for a in alpha) - log_gamma(_rational(total(alpha)))


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
