"""Chapter 32: Gaussian mixtures. Densities and estimates over exact reals.

Letters: x rows, w their weights, q the responsibilities of one component (one number a row), n the
weight N of a component, mu and sigma mean and covariance, s a scatter matrix; a mixture is a list
of (share, mu, sigma). All covariances are full matrices here, whatever form a model gives them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

from refclust.errors import BadOption, DegenerateCovariance, EmptyInput
from refclust.formulas.vectors import (
    Exact,
    Matrix,
    Number,
    absolute,
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
from refclust.numbers.real import Real, exp, log, sqrt
from refclust.numbers.reals.constants import pi

Row: TypeAlias = Sequence[Number]
Rows: TypeAlias = Sequence[Row]
Numbers: TypeAlias = Sequence[Number]
Component: TypeAlias = tuple[Number, Row, Matrix]  # share, mean, covariance
UNIT: Final = Fraction(1, 2**53)
MODELS: Final = (
    "EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE",
    "EVE", "VEE", "VVE", "EEV", "VEV", "EVV", "VVV",
)  # fmt: skip
TURNED: Final = ("EEV", "VEV", "EVE", "VVE")  # estimated along axes
TURNS: Final = ("VEI", "VEE", "VEV")  # volumes and shape, each the best for the other


def mahalanobis(x: Row, mu: Row, sigma: Matrix) -> Exact:
    """The squared distance to a mean, in units of the spread in each direction.

    Defines: DIST-MAHA

    >>> mahalanobis([3, 1], [1, 1], [[4, 0], [0, 1]])
    Fraction(1, 1)
    """
    away = difference(x, mu)
    return dot(away, solution(positive_definite(sigma), away))


def density(x: Row, mu: Row, sigma: Matrix) -> Real:
    """The normal density, with the minus sign that one source lost (ERR-01).

    Defines: GAU-PDF

    >>> float(density([1], [0], [[1]]))
    0.24197072451914334
    """
    return exp(-mahalanobis(x, mu, sigma) / 2) / sqrt((2 * pi) ** len(mu) * determinant(sigma))


def log_likelihood_of_one(x: Rows, w: Numbers, mu: Row, sigma: Matrix) -> Exact:
    """The log-likelihood of rows under one Gaussian.

    Defines: GAU-LL

    >>> float(log_likelihood_of_one([[0], [1]], [1, 1], [0], [[1]]))
    -2.3378770664093453
    """
    return total(exact(w_i) * log(density(x_i, mu, sigma)) for x_i, w_i in zip(x, w, strict=True))


def mean_of_rows(x: Rows, w: Numbers) -> Any:
    """The mean of all rows.

    Defines: GAU-MLEMU

    >>> mean_of_rows([[1], [4]], [1, 2])
    (Fraction(3, 1),)
    """
    if not any(w):
        raise EmptyInput("the rows have no weight")
    return mean(x, w, [1] * len(x))


def covariance_of_rows(x: Rows, w: Numbers) -> Any:
    """The covariance of all rows; the divisor is their whole weight.

    Defines: GAU-MLESIG

    >>> covariance_of_rows([[1], [4]], [1, 2])
    ((Fraction(2, 1),),)
    """
    away = [difference(x_i, mean_of_rows(x, w)) for x_i in x]
    return scaled(
        1 / total(w), sum_of(scaled(w_i, outer(y_i)) for y_i, w_i in zip(away, w, strict=True))
    )


def mixture_density(x: Row, mixture: Sequence[Component]) -> Exact:
    """The density of a mixture.

    Defines: GMM-DENS

    >>> float(mixture_density([0], [(0.5, [0], [[1]]), (0.5, [0], [[4]])]))
    0.2992067103010745
    """
    return total(exact(share) * density(x, mu, sigma) for share, mu, sigma in mixture)


def log_likelihood(x: Rows, w: Numbers, mixture: Sequence[Component]) -> Exact:
    """The log-likelihood of rows under a mixture.

    Defines: GMM-LL

    >>> one = [(1, [0], [[1]])]
    >>> log_likelihood([[0], [1]], [1, 1], one) == log_likelihood_of_one([[0], [1]], [1, 1],
    ...                                                                  [0], [[1]])
    True
    """
    return total(
        exact(w_i) * log(mixture_density(x_i, mixture)) for x_i, w_i in zip(x, w, strict=True)
    )


def responsibilities(x: Row, mixture: Sequence[Component]) -> tuple[Exact, ...]:
    """The share of each component in a row.

    Defines: GMM-ESTEP

    >>> [q.fraction for q in responsibilities([1], [(0.5, [0], [[1]]), (0.5, [2], [[1]])])]
    [Fraction(1, 2), Fraction(1, 2)]
    """
    joint = [exact(share) * density(x, mu, sigma) for share, mu, sigma in mixture]
    return tuple(p / total(joint) for p in joint)


def component_weight(w: Numbers, q: Numbers) -> Exact:
    """How much weight a component has.

    Defines: GMM-NK

    >>> component_weight([1, 2], [0.5, 0.25])
    Fraction(1, 1)
    """
    return total(exact(w_i) * exact(q_i) for w_i, q_i in zip(w, q, strict=True))


def shares(n: Numbers) -> tuple[Exact, ...]:
    """The shares of the components.

    Defines: GMM-PI

    >>> shares([1, 3])
    (Fraction(1, 4), Fraction(3, 4))
    """
    return tuple(exact(n_k) / total(n) for n_k in n)


def mean(x: Rows, w: Numbers, q: Numbers) -> Any:
    """The mean of a component.

    Defines: GMM-MU

    >>> mean([[0], [4]], [1, 1], [0.75, 0.25])
    (Fraction(1, 1),)
    """
    n = component_weight(w, q)
    return scaled(
        1 / n,
        sum_of(scaled(exact(w_i) * exact(q_i), x_i) for x_i, w_i, q_i in zip(x, w, q, strict=True)),
    )


def covariance(x: Rows, w: Numbers, q: Numbers, mu: Row) -> Any:
    """The covariance of a component around its new mean.

    Defines: GMM-SIG

    >>> covariance([[0], [4]], [1, 1], [0.75, 0.25], [1])
    ((Fraction(3, 1),),)
    """
    return scaled(1 / component_weight(w, q), scatter(x, w, q, mu))


def expected_complete(
    x: Rows, w: Numbers, q: Sequence[Numbers], mixture: Sequence[Component]
) -> Exact:
    """What the M-step makes large; without the entropy of q (ERR-14). ``q[i][k]`` are shares.

    Defines: GMM-EXPCDLL

    >>> float(expected_complete([[0]], [2], [[1]], [(1, [0], [[1]])]))
    -1.8378770664093456
    """
    return total(
        exact(w_i) * exact(q_ik) * (log(exact(share)) + log(density(x_i, mu, sigma)))
        for x_i, w_i, q_i in zip(x, w, q, strict=True)
        for q_ik, (share, mu, sigma) in zip(q_i, mixture, strict=True)
        if q_ik
    )


def em(x: Rows, w: Numbers, mixture: Sequence[Component]) -> Iterator[list[Any]]:
    """E-step, M-step, and so on with full covariances; parameters are rounded once an iteration.

    Defines: GMM-ALG

    >>> start = [(0.5, [0], [[1]]), (0.5, [4], [[1]])]
    >>> next(em([[-1], [1], [3], [5]], [1] * 4, start))[0]
    (0.5, (0.0180046424858982,), ((1.071694402792548,),))
    """
    while True:
        table = [responsibilities(x_i, mixture) for x_i in x]
        columns = list(zip(*table, strict=True))
        weights = shares([component_weight(w, q) for q in columns])
        means = [mean(x, w, q) for q in columns]
        sigmas = [covariance(x, w, q, mu) for q, mu in zip(columns, means, strict=True)]
        mixture = [rounded(component) for component in zip(weights, means, sigmas, strict=True)]
        yield mixture


def shared_variance(n: Numbers, s: Sequence[Matrix]) -> Exact:
    """The one variance of round components of one size.

    Defines: GMM-SPH

    >>> shared_variance([1, 3], [[[2, 0], [0, 2]], [[8, 0], [0, 4]]])
    Fraction(2, 1)
    """
    return total(map(trace, s)) / (len(s[0]) * total(n))


def tied(model: str, volumes: Numbers, shapes: Sequence[Numbers], axes: Sequence[Matrix]) -> Any:
    """The covariances of a model, from volumes, shapes and axes (the columns of matrices).

    Of each the first belongs to all components (E), or every component has its own (V), or it is
    trivial (I).

    Defines: GMM-COV

    >>> upright, across = [[1, 0], [0, 1]], [[0, 1], [1, 0]]
    >>> tied("VEV", [1, 3], [[2, 0.5]], [upright, across])[1]
    ((Fraction(3, 2), Fraction(0, 1)), (Fraction(0, 1), Fraction(6, 1)))
    """
    d, letters = len(axes[0]), known(model)
    count = max(map(len, (volumes, shapes, axes)))

    def each(letter: str, parts: Sequence[Any], trivial: Any = None) -> Sequence[Any]:
        return parts if letter == "V" else [parts[0] if letter == "E" else trivial] * count

    sizes = each(letters[0], volumes)
    forms = each(letters[1], shapes, [1] * d)
    turns = each(letters[2], axes, identity(d))
    return [composed(a, b, c) for a, b, c in zip(sizes, forms, turns, strict=True)]


def covariances(
    model: str,
    n: Numbers,
    s: Sequence[Matrix],
    axes: Sequence[Matrix] = (),
    volumes: Numbers = (),
) -> Any:
    """The covariances that make the bound largest, for the scatters of the components.

    Models ending in EV take the axes of every scatter (``are_axes``), those ending in VE common
    ones for which no turn gains anything (``turned``). VEI, VEE and VEV have no closed form: from
    the volumes before this is one turn, which no longer changes what ``balanced`` calls theirs.

    Defines: GMM-COVM

    >>> covariances("VVI", [2, 4], [[[2, 1], [1, 6]], [[4, 0], [0, 8]]])[0]
    ((Fraction(1, 1), Fraction(0, 1)), (Fraction(0, 1), Fraction(3, 1)))
    """
    d, (size, form, turn) = len(s[0]), known(model)
    if (model in TURNED) != bool(axes) or (model in TURNS) != bool(volumes):
        raise BadOption(f"{model} is worked out from other things: axes {axes}, volumes {volumes}")
    m = list(s)
    if form == "I":
        m = [scaled(trace(s_k) / d, identity(d)) for s_k in s]
    elif turn == "I":
        m = [diagonal_part(s_k) for s_k in s]
    elif axes:
        m = [diagonal(seen_along(s_k, d_k)) for s_k, d_k in zip(s, axes, strict=True)]
    if size == "E" and form == "V":
        v = [volume(m_k) for m_k in m]
        sigmas = [scaled(total(v) / (total(n) * v_k), m_k) for v_k, m_k in zip(v, m, strict=True)]
    elif size == "E":
        sigmas = [scaled(1 / total(n), sum_of(m))] * len(m)
    elif form == "E":  # the scale of the shape drops out
        a = sum_of(scaled(1 / exact(v_k), m_k) for v_k, m_k in zip(volumes, m, strict=True))
        sigmas = [
            scaled(trace(times(m_k, inverse(a))) / (exact(n_k) * d), a)
            for n_k, m_k in zip(n, m, strict=True)
        ]
    else:
        sigmas = [scaled(1 / exact(n_k), m_k) for n_k, m_k in zip(n, m, strict=True)]
    if not axes:
        return sigmas
    return [
        composed(1, [sigma[j][j] for j in range(d)], d_k)
        for sigma, d_k in zip(sigmas, axes, strict=True)
    ]


def free_parameters(model: str, k: int, d: int) -> int:
    """How many numbers a mixture is free to choose.

    Defines: GMM-COVDF

    >>> free_parameters("VVV", 3, 2), free_parameters("EII", 3, 2)
    (17, 9)
    """
    size, shape, axes = known(model)
    own = {"E": 1, "V": k}
    shapes = {"E": d - 1, "V": k * (d - 1), "I": 0}
    turns = {"E": d * (d - 1) // 2, "V": k * d * (d - 1) // 2, "I": 0}
    return (k - 1) + k * d + own[size] + shapes[shape] + turns[axes]


def log_prior(f: Number, v: Numbers, sigmas: Sequence[Matrix]) -> Exact:
    """The logarithm of the prior that keeps covariances from vanishing, but for a constant.

    Defines: GMM-FLOOR

    >>> log_prior(0.5, [4], [[[1]], [[2]]])
    Fraction(-3, 2)
    """
    psi = [exact(f) * exact(v_j) for v_j in v]
    return (
        -total(psi_j * inverse(sigma)[j][j] for sigma in sigmas for j, psi_j in enumerate(psi)) / 2
    )


def collapsed(sigma: Matrix, m: Numbers, v: Numbers) -> bool:
    """Whether a component has no spread beyond what rounding makes.

    Defines: GMM-COLLAPSE

    >>> collapsed([[1, 1], [1, 1]], [0, 0], [1, 1]), collapsed([[1, 0], [0, 1]], [0, 0], [1, 1])
    (True, False)
    """
    d = len(sigma)
    minors = [determinant([row[:j] for row in sigma[:j]]) for j in range(d + 1)]
    for j in range(d):
        left = minors[j + 1] / minors[j]  # the square of l_jj; without a factor not above 0
        rounding = (4 * UNIT * (absolute(m[j]) + sqrt(exact(v[j])))) ** 2
        if left <= d * exact(sigma[j][j]) / 2**46 or rounding >= left:
            return True
    return False


def hard_assignment(x: Row, mixture: Sequence[Component]) -> int:
    """The most probable component of a row.

    Defines: CEM-ASSIGN

    >>> hard_assignment([1], [(0.5, [0], [[1]]), (0.5, [2], [[1]])])
    0
    """
    joint = [exact(share) * density(x, mu, sigma) for share, mu, sigma in mixture]
    return max(range(len(joint)), key=joint.__getitem__)


def hard_weight(w: Numbers, z: Sequence[int], k: int) -> Exact:
    """The weight of the rows of a component.

    Defines: CEM-NK

    >>> hard_weight([1, 2, 4], [0, 1, 1], 1)
    Fraction(6, 1)
    """
    return total(exact(w_i) * (z_i == k) for w_i, z_i in zip(w, z, strict=True))


def hard_mean(x: Rows, w: Numbers, z: Sequence[int], k: int) -> Any:
    """The mean of the rows of a component.

    Defines: CEM-MU

    >>> hard_mean([[0], [1], [4]], [1, 2, 1], [0, 1, 1], 1)
    (Fraction(2, 1),)
    """
    return mean(x, w, [int(z_i == k) for z_i in z])


def hard_covariance(x: Rows, w: Numbers, z: Sequence[int], k: int) -> Any:
    """The covariance of the rows of a component: outer products, not norms (ERR-33).

    Defines: CEM-SIG

    >>> hard_covariance([[0], [1], [4]], [1, 2, 1], [0, 1, 1], 1)
    ((Fraction(2, 1),),)
    """
    return covariance(x, w, [int(z_i == k) for z_i in z], hard_mean(x, w, z, k))


def hard_shares(w: Numbers, z: Sequence[int], count: int) -> tuple[Exact, ...]:
    """The shares of the components.

    Defines: CEM-PI

    >>> hard_shares([1, 2, 1], [0, 1, 1], 2)
    (Fraction(1, 4), Fraction(3, 4))
    """
    return shares([hard_weight(w, z, k) for k in range(count)])


def classification_em(x: Rows, w: Numbers, mixture: Sequence[Component]) -> Iterator[list[Any]]:
    """Assign, estimate, and so on with full covariances; parameters are rounded once an iteration.

    Defines: CEM-ALG

    >>> start = [(0.5, [0], [[1]]), (0.5, [4], [[1]])]
    >>> next(classification_em([[-1], [1], [3], [5]], [1] * 4, start))[0]
    (0.5, (0.0,), ((1.0,),))
    """
    while True:
        z, count = [hard_assignment(x_i, mixture) for x_i in x], len(mixture)
        weights = hard_shares(w, z, count)
        means = [hard_mean(x, w, z, k) for k in range(count)]
        sigmas = [hard_covariance(x, w, z, k) for k in range(count)]
        mixture = [rounded(component) for component in zip(weights, means, sigmas, strict=True)]
        yield mixture


# Answers that no formula gives: what they must satisfy.


def balanced(
    model: str,
    n: Numbers,
    s: Sequence[Matrix],
    sigmas: Sequence[Matrix],
    slack: Number,
    axes: Sequence[Matrix] = (),
) -> bool:
    """Whether a turn between volumes and a common shape changes no volume, but for some slack.

    Spec: GMM-COVM

    >>> balanced("VEE", [1, 1], [[[1]], [[4]]], [[[1]], [[4]]], 0)
    True
    """
    before = [volume(sigma) for sigma in sigmas]
    after = map(volume, covariances(model, n, s, axes, before))
    return all(absolute(b - v) <= exact(slack) * v for b, v in zip(after, before, strict=True))


def are_axes(s: Matrix, axes: Matrix, slack: Number) -> bool:
    """Whether the columns of a matrix are the axes of another, by falling spread.

    Spec: GMM-COVM

    >>> are_axes([[1, 0], [0, 3]], [[0, 1], [1, 0]], 0)
    True
    """
    d = len(s)
    along = times(times(transposed(axes), s), axes)
    whole = times(transposed(axes), axes)
    small = exact(slack) * trace(s)
    orthogonal = all(
        absolute(whole[i][j] - (i == j)) <= exact(slack) for i in range(d) for j in range(d)
    )
    crossed = all(absolute(along[i][j]) <= small for i in range(d) for j in range(d) if i != j)
    falling = all(along[j][j] + small >= along[j + 1][j + 1] for j in range(d - 1))
    return orthogonal and crossed and falling


def turned(s: Sequence[Matrix], sigmas: Sequence[Matrix], axes: Matrix, slack: Number) -> bool:
    """Whether no small turn of common axes in a plane raises the bound, but for some slack.

    Spec: GMM-COVM

    >>> turned([[[2, 0], [0, 5]]], [[[2, 0], [0, 5]]], [[1, 0], [0, 1]], 0)
    True
    """
    along = [times(times(transposed(axes), s_k), axes) for s_k in s]
    spread = [seen_along(sigma, axes) for sigma in sigmas]
    planes = [(a, b) for a in range(len(axes)) for b in range(a)]
    return all(
        absolute(total((1 / v[a] - 1 / v[b]) * m[a][b] for m, v in zip(along, spread, strict=True)))
        <= exact(slack)
        for a, b in planes
    )


# What several clauses share.


def scatter(x: Rows, w: Numbers, q: Numbers, mu: Row) -> Any:
    """The sum of outer products around a point.

    Spec: GMM-SIG

    >>> scatter([[0], [4]], [1, 1], [0.75, 0.25], [1])
    ((Fraction(3, 1),),)
    """
    return sum_of(
        scaled(exact(w_i) * exact(q_i), outer(difference(x_i, mu)))
        for x_i, w_i, q_i in zip(x, w, q, strict=True)
    )


def positive_definite(sigma: Matrix) -> Matrix:
    """The matrix itself, if all its leading minors are positive.

    Spec: GAU-PDF
    """
    for j in range(1, len(sigma) + 1):
        if determinant([row[:j] for row in sigma[:j]]) <= 0:
            raise DegenerateCovariance(
                f"a covariance is not positive definite: column {j - 1} is a combination of others"
            )
    return sigma


def trace(matrix: Matrix) -> Exact:
    """The sum of the diagonal.

    Spec: GMM-COVM
    """
    return total(row[j] for j, row in enumerate(matrix))


def identity(d: int) -> tuple[tuple[int, ...], ...]:
    """The matrix of ones on the diagonal.

    Spec: GMM-COVM
    """
    return tuple(tuple(int(i == j) for j in range(d)) for i in range(d))


def diagonal_part(matrix: Matrix) -> Any:
    """A matrix with zeros beside its diagonal.

    Spec: GMM-COVM
    """
    return tuple(
        tuple(exact(x) if i == j else Fraction() for j, x in enumerate(row))
        for i, row in enumerate(matrix)
    )


def diagonal(numbers: Numbers) -> tuple[tuple[Exact, ...], ...]:
    """The matrix of some numbers on the diagonal.

    Spec: GMM-COVM

    >>> diagonal([2, 3])
    ((Fraction(2, 1), Fraction(0, 1)), (Fraction(0, 1), Fraction(3, 1)))
    """
    return tuple(
        tuple(exact(x) if i == j else Fraction() for j in range(len(numbers)))
        for i, x in enumerate(numbers)
    )


def known(model: str) -> tuple[str, str, str]:
    """The letters of a model for volume, shape and axes; one that there is.

    Spec: GMM-COV

    >>> known("VEI")
    ('V', 'E', 'I')
    """
    if model not in MODELS:
        raise BadOption(f"the covariance model is {model!r}; allowed are {', '.join(MODELS)}")
    size, form, turn = tuple(model)
    return size, form, turn


def composed(size: Number, shape: Numbers, axes: Matrix) -> Any:
    """A covariance from its volume, its shape and its axes (the columns of a matrix).

    Spec: GMM-COV

    >>> composed(3, [2, 0.5], [[0, 1], [1, 0]])
    ((Fraction(3, 2), Fraction(0, 1)), (Fraction(0, 1), Fraction(6, 1)))
    """
    columns = transposed(axes)
    return scaled(size, sum_of(scaled(a, outer(d)) for a, d in zip(shape, columns, strict=True)))


def transposed(matrix: Matrix) -> Any:
    """Rows as columns.

    Spec: GMM-COVM
    """
    return tuple(zip(*matrix, strict=True))


def times(left: Matrix, right: Matrix) -> Any:
    """The product of two matrices.

    Spec: GMM-COVM
    """
    return tuple(tuple(dot(row, column) for column in transposed(right)) for row in left)


def seen_along(matrix: Matrix, axes: Matrix) -> tuple[Exact, ...]:
    """The diagonal of D'SD: how wide a matrix is along each axis.

    Spec: GMM-COVM
    """
    return tuple(dot(axis, [dot(row, axis) for row in matrix]) for axis in transposed(axes))


def root(value: Number, d: int) -> Exact:
    """The d-th root of a positive number.

    Spec: GMM-COVM

    >>> root(9, 2).fraction
    Fraction(3, 1)
    """
    return exact(value) if d == 1 else sqrt(value) if d == 2 else exp(log(value) / d)


def volume(matrix: Matrix) -> Exact:
    """The d-th root of the determinant.

    Spec: GMM-COVM
    """
    return root(determinant(matrix), len(matrix))


def rounded(parameters: Any) -> Any:
    """Parameters as doubles, each the nearest.

    Spec: GMM-ALG
    """
    if isinstance(parameters, tuple):
        return tuple(rounded(part) for part in parameters)
    return float(Real(0) + parameters)
