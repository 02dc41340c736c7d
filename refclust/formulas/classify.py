"""Chapter 33: classifiers, which estimate with known labels what mixtures estimate without.

Letters: x rows, y the number of the class of each, w weights, pi, mu and sigma the parameters. What
chapter 32 defines is an argument: the density N(x, mu, sigma) and the squared distance D2 (GAU-PDF,
DIST-MAHA).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from refclust.errors import BadOption, DegenerateCovariance, KOutOfRange
from refclust.formulas.kmeans import centre
from refclust.formulas.mixtures import (
    Log,
    Rows,
    Weights,
    added,
    component_weights,
    logs,
    one_hot,
)
from refclust.formulas.multinomial import presence_probabilities, presence_probability
from refclust.formulas.vectors import (
    Exact,
    Matrix,
    Number,
    Vector,
    determinant,
    difference,
    dot,
    exact,
    outer,
    scaled,
    solution,
    sum_of,
    total,
)

Normal: TypeAlias = Callable[[Any, Any, Any], Exact]  # of a row, a mean and a covariance
Classes: TypeAlias = Sequence[tuple[Number, Vector, Matrix]]  # pi, mu and sigma of each


def estimates(x: Rows, y: Sequence[int], w: Weights) -> list[tuple[Exact, Any, Any]]:
    """Of every class its share of the rows, their mean and their covariance.

    Defines: QDA-PARAM

    >>> estimates([[0], [2], [5]], [0, 0, 1], [1, 1, 2])[0]
    (Fraction(1, 2), (Fraction(1, 1),), ((Fraction(1, 1),),))
    """
    k = classes(y)
    pi = component_weights([one_hot(y_i, k) for y_i in y], w)
    components = []
    for c in range(k):
        rows, weights = own(c, x, y, w)
        mu = centre(rows, weights)
        components.append((pi[c], mu, scaled(1 / total(weights), scatter(rows, weights, mu))))
    return components


def discriminant(x: Vector, pi: Number, mu: Vector, sigma: Matrix, distance: Normal) -> Log:
    """The logarithm of the joint density of a class and a row, without the constant of all.

    Defines: QDA-DISC

    >>> from refclust.numbers.real import log
    >>> discriminant([3], 0.5, [1], [[4]], lambda x, mu, sigma: 1) == -2 * log(2) - Fraction(1, 2)
    True
    """
    size = determinant(sigma)
    if size <= 0:
        raise DegenerateCovariance("the covariance is not positive definite")
    return added(logs([(1, pi), (Fraction(-1, 2), size)]), -exact(distance(x, mu, sigma)) / 2)


def most_probable(x: Vector, parameters: Classes, density: Normal) -> int:
    """The class of the largest joint density, the first of equals.

    Defines: QDA-MAP

    >>> flat = [(0.25, [0], [[1]]), (0.75, [0], [[1]])]
    >>> most_probable([0], flat, lambda x, mu, sigma: Fraction(1))
    1
    """
    joint = [exact(pi) * density(x, mu, sigma) for pi, mu, sigma in parameters]
    return max(range(len(joint)), key=lambda k: joint[k])


def pooled(x: Rows, y: Sequence[int], w: Weights) -> Any:
    """The covariance within classes, one for all.

    Defines: LDA-POOL

    >>> pooled([[0], [2], [5], [9]], [0, 0, 1, 1], [1, 1, 1, 1])
    ((Fraction(5, 2),),)
    """
    parts = [own(c, x, y, w) for c in range(classes(y))]
    scatters = [scatter(rows, weights, centre(rows, weights)) for rows, weights in parts]
    return scaled(1 / total(w), sum_of(scatters))


def linear_form(pi: Number, mu: Sequence[Number], sigma: Matrix) -> tuple[tuple[Exact, ...], Log]:
    """The slopes and the offset of the linear discriminant of a class.

    Defines: LDA-LIN

    >>> slopes, offset = linear_form(1, [2], [[4]])
    >>> slopes, offset == Fraction(-1, 2)
    ((Fraction(1, 2),), True)
    """
    if determinant(sigma) <= 0:
        raise DegenerateCovariance("the covariance is not positive definite")
    a = solution(sigma, mu)
    return a, added(logs([(1, pi)]), -dot(mu, a) / 2)


def nearest_gaussian(x: Vector, parameters: Classes, density: Normal) -> int:
    """The class under which a row is most likely, all being equally probable.

    Defines: NG-ASSIGN

    >>> two = [(0.75, [0], [[1]]), (0.25, [4], [[1]])]
    >>> nearest_gaussian([3], two, lambda x, mu, sigma: Fraction(1, 1 + abs(x[0] - mu[0])))
    1
    """
    return max(range(len(parameters)), key=lambda k: density(x, *parameters[k][1:]))


def gaussian_naive_bayes(x: Vector, pi: Number, rows: Rows, w: Weights, density: Normal) -> Log:
    """The logarithm of the joint density of a row and the class of some rows, column by column.

    Defines: GNB

    >>> def lorentz(x, mu, sigma):
    ...     return 1 / (1 + exact(x[0] - mu[0]) ** 2 / sigma[0][0])
    >>> gaussian_naive_bayes([3, 0], 0.5, [[0, 0], [2, 4]], [1, 1], lorentz) == logs(
    ...     [(1, 0.5), (1, Fraction(1, 5)), (1, 0.5)])
    True
    """
    mu = centre(rows, w)
    variances = [
        total(exact(w_i) * (exact(x_i[j]) - mu[j]) ** 2 for x_i, w_i in zip(rows, w, strict=True))
        / total(w)
        for j in range(len(mu))
    ]
    if not all(variances):
        flat = next(j for j, variance in enumerate(variances) if not variance)
        raise DegenerateCovariance(f"column {flat} is constant within a class")
    normal = [density([x[j]], [mu[j]], [[variances[j]]]) for j in range(len(mu))]
    return logs([(1, pi), *((1, factor) for factor in normal)])


def bernoulli_naive_bayes(
    x: Vector, pi: Number, rows: Rows, w: Weights, m: Number, p: Vector
) -> Log:
    """The logarithm of the joint probability of a row and the class of some rows, word by word.

    Defines: BNB

    >>> bernoulli_naive_bayes([1, 0], 0.5, [[1, 0], [1, 1]], [1, 1], 2, [0.5, 0.5]) == logs(
    ...     [(1, 0.5), (1, 0.75), (1, 0.5)])
    True
    """
    theta = presence_probabilities(rows, w, [1] * len(rows), m, p)
    return logs([(1, pi), (1, presence_probability(x, theta))])


# What several clauses share.


def classes(y: Sequence[int]) -> int:
    """The number of classes.

    Spec: QDA-PARAM

    >>> classes([0, 2, 1])
    3
    """
    k = max(y, default=-1) + 1
    if k < 2:
        raise KOutOfRange(f"the rows have {k} classes; there must be two to decide between")
    return k


def own(c: int, x: Rows, y: Sequence[int], w: Weights) -> tuple[list[Vector], list[Number]]:
    """The rows of a class, with their weights.

    Spec: QDA-PARAM

    >>> own(1, [[5], [6], [7]], [1, 0, 1], [1, 2, 3])
    ([[5], [7]], [1, 3])
    """
    places = [i for i, y_i in enumerate(y) if y_i == c]
    if not any(w[i] for i in places):
        raise BadOption(f"all rows of class {c} have weight 0; a class needs some weight")
    return [x[i] for i in places], [w[i] for i in places]


def scatter(x: Rows, w: Weights, mu: Vector) -> Any:
    """The weighted sum of the squares and products of deviations from a mean.

    Spec: QDA-PARAM, LDA-POOL

    >>> scatter([[0, 1], [2, 3]], [1, 2], [1, 2])
    ((Fraction(3, 1), Fraction(3, 1)), (Fraction(3, 1), Fraction(3, 1)))
    """
    return sum_of(scaled(w_i, outer(difference(x_i, mu))) for x_i, w_i in zip(x, w, strict=True))
