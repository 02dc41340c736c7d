"""Chapter 36: Gaussian mixtures with missing cells. Densities and estimates over exact reals.

Letters as in chapter 32; a cell of a row x that is missing is None. o are the columns that are
seen. A component is (share, mu, sigma), a mixture a list of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from refclust.formulas.gaussian import (
    Component,
    Numbers,
    Row,
    component_weight,
    density,
    mean,
    rounded,
    scatter,
    shares,
    times,
    trace,
)
from refclust.formulas.vectors import (
    Exact,
    Matrix,
    Number,
    determinant,
    difference,
    dot,
    exact,
    inverse,
    outer,
    scaled,
    solution,
    sum_of,
    total,
)
from refclust.numbers.real import Real, exp, log
from refclust.numbers.reals.constants import pi

Gapped: TypeAlias = Sequence[Number | None]


def seen_density(x: Gapped, mu: Row, sigma: Matrix) -> Real:
    """The normal density of the cells that are seen; 1 if none is.

    Defines: MISS-PDF

    >>> float(seen_density([None, 3], [7, 3], [[1, 1], [1, 4]])), float(density([3], [3], [[4]]))
    (0.19947114020071635, 0.19947114020071635)
    """
    o = seen(x)
    return density(at(x, o), at(mu, o), block(sigma, o, o))


def log_likelihood(x: Sequence[Gapped], w: Numbers, mixture: Sequence[Component]) -> Exact:
    """The log-likelihood of all cells that are seen.

    Defines: MISS-LL

    >>> float(log_likelihood([[None]], [1], [(1, [0], [[1]])]))
    0.0
    """
    return total(
        exact(w_i)
        * log(total(exact(share) * seen_density(x_i, mu, sigma) for share, mu, sigma in mixture))
        for x_i, w_i in zip(x, w, strict=True)
    )


def responsibilities(x: Gapped, mixture: Sequence[Component]) -> tuple[Exact, ...]:
    """The share of each component in a row, judged by the cells that are seen.

    Defines: MISS-ESTEP

    >>> two = [(0.25, [0, 5], [[1, 0], [0, 1]]), (0.75, [0, 9], [[1, 0], [0, 1]])]
    >>> [float(q) for q in responsibilities([1, None], two)]
    [0.25, 0.75]
    """
    joint = [exact(share) * seen_density(x, mu, sigma) for share, mu, sigma in mixture]
    return tuple(p / total(joint) for p in joint)


def expected_row(x: Gapped, mu: Row, sigma: Matrix) -> tuple[Exact, ...]:
    """What is expected of a row in a component; the cells that are seen are themselves.

    Defines: MISS-FILL

    >>> expected_row([None, 5], [1, 3], [[2, 1], [1, 2]])
    (Fraction(2, 1), Fraction(5, 1))
    """
    o = seen(x)
    pull = solution(block(sigma, o, o), difference(at(x, o), at(mu, o)))
    return tuple(exact(mu_j) + dot(at(line, o), pull) for mu_j, line in zip(mu, sigma, strict=True))


def uncertainty(x: Gapped, sigma: Matrix) -> Any:
    """What is left of a covariance once the cells that are seen are known.

    Defines: MISS-COV

    >>> uncertainty([None, 5], [[2, 1], [1, 2]])[0]
    (Fraction(3, 2), Fraction(0, 1))
    """
    o = seen(x)
    known = inverse(block(sigma, o, o))
    return tuple(
        tuple(
            exact(sigma[i][j])
            - dot(at(sigma[i], o), [dot(line, at(sigma[j], o)) for line in known])
            for j in range(len(sigma))
        )
        for i in range(len(sigma))
    )


def expected_mean(x: Sequence[Gapped], w: Numbers, q: Numbers, mu: Row, sigma: Matrix) -> Any:
    """The new mean of a component, from the one it had.

    Defines: MISS-MU

    >>> expected_mean([[None, 5], [0, 1]], [1, 1], [1, 1], [1, 3], [[2, 1], [1, 2]])
    (Fraction(1, 1), Fraction(3, 1))
    """
    return mean([expected_row(x_i, mu, sigma) for x_i in x], w, q)


def expected_scatter(
    x: Sequence[Gapped], w: Numbers, q: Numbers, mu: Row, sigma: Matrix, around: Row
) -> Any:
    """The scatter that is expected around a new mean: of expected rows, and what is uncertain.

    Defines: MISS-SIG

    >>> expected_scatter([[None, 5], [0, 1]], [1, 1], [1, 1], [1, 3], [[2, 1], [1, 2]], [1, 3])
    ((Fraction(7, 2), Fraction(4, 1)), (Fraction(4, 1), Fraction(8, 1)))
    """
    rows = [expected_row(x_i, mu, sigma) for x_i in x]
    left = sum_of(
        scaled(exact(w_i) * exact(q_i), uncertainty(x_i, sigma))
        for x_i, w_i, q_i in zip(x, w, q, strict=True)
    )
    return sum_of([scatter(rows, w, q, around), left])


def hidden_entropy(x: Gapped, sigma: Matrix) -> Exact:
    """The entropy of the missing cells of a row, given those that are seen; 0 if none is missing.

    Defines: MISS-ENT

    >>> float(hidden_entropy([None, 5], [[1, 0], [0, 1]]))
    1.4189385332046727
    """
    m = [j for j in range(len(x)) if x[j] is None]
    left = block(uncertainty(x, sigma), m, m)
    return log((2 * pi * exp(1)) ** len(m) * determinant(left)) / 2


def bound(
    x: Sequence[Gapped],
    w: Numbers,
    q: Sequence[Numbers],
    before: Sequence[Component],
    after: Sequence[Component],
) -> Exact:
    """What E- and M-step raise by turns: shares and missing cells as before, densities after.

    Defines: MISS-BOUND

    >>> one = [(1, [0], [[1]])]
    >>> float(bound([[2]], [1], [[1]], one, one)), float(log_likelihood([[2]], [1], one))
    (-2.9189385332046727, -2.9189385332046727)
    """
    return total(
        exact(w_i)
        * exact(q_ik)
        * (
            log(exact(share))
            + expected_log_density(x_i, old, (share, mu, sigma))
            + hidden_entropy(x_i, old[2])
            - log(exact(q_ik))
        )
        for x_i, w_i, q_i in zip(x, w, q, strict=True)
        for q_ik, old, (share, mu, sigma) in zip(q_i, before, after, strict=True)
        if q_ik
    )


def em(x: Sequence[Gapped], w: Numbers, mixture: Sequence[Component]) -> Iterator[list[Any]]:
    """E-step, M-step, and so on with full covariances; parameters are rounded once an iteration.

    Defines: MISS-EM

    >>> next(em([[1, 1], [3, None]], [1, 1], [(1, [0, 0], [[1, 0], [0, 1]])]))[0][1]
    (2.0, 0.5)
    """
    while True:
        columns = list(zip(*[responsibilities(x_i, mixture) for x_i in x], strict=True))
        weights = shares([component_weight(w, q) for q in columns])
        means = [
            expected_mean(x, w, q, mu, sigma)
            for q, (_, mu, sigma) in zip(columns, mixture, strict=True)
        ]
        sigmas = [
            scaled(1 / component_weight(w, q), expected_scatter(x, w, q, mu, sigma, around))
            for q, (_, mu, sigma), around in zip(columns, mixture, means, strict=True)
        ]
        mixture = [rounded(component) for component in zip(weights, means, sigmas, strict=True)]
        yield mixture


# The vocabulary.


def seen(x: Gapped) -> list[int]:
    """The columns of a row that are seen.

    Spec: MISS-PDF

    >>> seen([None, 5, 0])
    [1, 2]
    """
    return [j for j, cell in enumerate(x) if cell is not None]


def at(x: Sequence[Any], places: Sequence[int]) -> list[Any]:
    """The components of a vector at some places.

    Spec: MISS-PDF

    >>> at([7, 8, 9], [2, 0])
    [9, 7]
    """
    return [x[j] for j in places]


def block(matrix: Matrix, lines: Sequence[int], columns: Sequence[int]) -> list[list[Number]]:
    """The part of a matrix in some lines and columns.

    Spec: MISS-PDF

    >>> block([[1, 2], [3, 4]], [1], [0, 1])
    [[3, 4]]
    """
    return [at(matrix[i], columns) for i in lines]


def expected_log_density(x: Gapped, before: Component, after: Component) -> Exact:
    """The logarithm of a new density, expected over the missing cells under the old one.

    Spec: MISS-BOUND

    >>> float(expected_log_density([2], (1, [0], [[1]]), (1, [2], [[1]])))
    -0.9189385332046728
    """
    (_, old, spread), (_, mu, sigma) = before, after
    away = difference(expected_row(x, old, spread), mu)
    square = sum_of([outer(away), uncertainty(x, spread)])
    deviance = trace(times(inverse(sigma), square))
    return -(deviance + log((2 * pi) ** len(mu) * determinant(sigma))) / 2
