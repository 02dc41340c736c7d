"""Chapter 30: mixtures and EM. What a component's density is, is an argument: p(x, theta_k).

Letters: x rows, w weights, pi and theta the parameters, p the density, q shares, z components, u
random numbers of [0, 1). Minus infinity is the value of some clauses, and the one float that comes
out. Nothing is rounded but by ``em``, once per iteration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any, Final, TypeAlias

from refclust.errors import BadDistribution, BadOption, DimensionMismatch, ImpossibleRow
from refclust.formulas.kmeans import drawn, lloyd, plus_plus, random_rows
from refclust.formulas.vectors import Exact, Number, Vector, exact, product, scaled, sum_of, total
from refclust.numbers.real import Real, log

Rows: TypeAlias = Sequence[Vector]
Weights: TypeAlias = Sequence[Number]
Shares: TypeAlias = Sequence[Sequence[Number]]  # of each row those of the components
Density: TypeAlias = Callable[[Any, Any], Exact]
Mixture: TypeAlias = tuple[Sequence[Number], Sequence[Any]]  # pi, theta
MStep: TypeAlias = Callable[[Rows, Weights, Shares], Any]
Log: TypeAlias = Exact | float  # a float is minus infinity
SLACK: Final = Fraction(1, 2**40)  # shares that come as doubles may add up to something near 1


def log_likelihood(x: Rows, w: Weights, mixture: Mixture, p: Density) -> Log:
    """The logarithm of the density of all rows.

    Defines: MIX-MARGLL

    >>> log_likelihood([[0], [1]], [1, 2], ([0.5, 0.5], [0.25, 0.75]), coin) == 3 * log(0.5)
    True
    """
    return logs((w_i, density(x_i, mixture, p)) for w_i, x_i in zip(w, x, strict=True))


def jensen(q: Sequence[Number], f: Sequence[Number]) -> tuple[Log, Log]:
    """Both sides of Jensen's inequality: the logarithm of the mean, the mean of the logarithms.

    Spec: EM-JENSEN

    >>> mean, below = jensen([0.5, 0.5], [1, 4])
    >>> mean == log(2.5), below == log(2)
    (True, True)
    """
    _distribution(q)
    if len(q) != len(f):
        raise DimensionMismatch(f"{len(q)} shares for {len(f)} numbers")
    if not all(f_k > 0 for f_k in f):
        raise BadDistribution("a number is not positive: it has no logarithm")
    return log(total(exact(a) * exact(b) for a, b in zip(q, f, strict=True))), logs(
        zip(q, f, strict=True)
    )


def lower_bound(q: Mapping[tuple[int, ...], Number], x: Rows, mixture: Mixture, p: Density) -> Log:
    """The bound for any distribution of the components of all rows together.

    Defines: EM-ELBO

    >>> one = ([0.5, 0.5], [0.25, 0.75])
    >>> lower_bound({(0,): 0.5, (1,): 0.5}, [[1]], one, coin) == log(3 / 64) / 2 + log(2)
    True
    """
    _distribution(list(q.values()))
    return logs((q_z, complete(x, z, mixture, p) / exact(q_z)) for z, q_z in q.items() if q_z)


def lower_bound_by_rows(q: Shares, x: Rows, w: Weights, mixture: Mixture, p: Density) -> Log:
    """The bound for rows that are shared out one by one.

    Defines: EM-ELBOFACT

    >>> one = ([0.5, 0.5], [0.25, 0.75])
    >>> lower_bound_by_rows([[0.5, 0.5]], [[1]], [2], one, coin) == log(3 / 64) + 2 * log(2)
    True
    """
    for q_i in q:
        _distribution(q_i)
    return logs(
        (exact(w_i) * exact(q_ik), p_k / exact(q_ik))
        for x_i, w_i, q_i in zip(x, w, q, strict=True)
        for p_k, q_ik in zip(joint(x_i, mixture, p), q_i, strict=True)
        if q_ik
    )


def bound(before: Mixture, x: Rows, w: Weights, after: Mixture, p: Density) -> Log:
    """Q: the bound at one mixture, with the shares that another one gives.

    Defines: EM-Q

    >>> one = ([0.5, 0.5], [0.25, 0.75])
    >>> bound(one, [[0], [1]], [1, 2], one, coin) == log_likelihood([[0], [1]], [1, 2], one, coin)
    True
    """
    q = [responsibilities(x_i, before, p) for x_i in x]
    return lower_bound_by_rows(q, x, w, after, p)


def expected_log_likelihood(q: Shares, x: Rows, w: Weights, mixture: Mixture, p: Density) -> Log:
    """The mean of the logarithm of the joint density, which lacks the entropy of the shares.

    Defines: EM-EXPCDLL

    >>> one = ([0.5, 0.5], [0.25, 0.75])
    >>> expected_log_likelihood([[0.5, 0.5]], [[1]], [2], one, coin) == log(3 / 64)
    True
    """
    return logs(
        (exact(w_i) * exact(q_ik), p_k)
        for x_i, w_i, q_i in zip(x, w, q, strict=True)
        for p_k, q_ik in zip(joint(x_i, mixture, p), q_i, strict=True)
    )


def divergence(q: Shares, x: Rows, w: Weights, mixture: Mixture, p: Density) -> Log:
    """What the bound is short of: how far the shares are from the posteriors.

    Defines: EM-DECOMP

    >>> one = ([0.5, 0.5], [0.25, 0.75])
    >>> divergence([[0.5, 0.5]], [[1]], [2], one, coin) == log(4) - log(3)
    True
    """
    minus_divergence = logs(
        (exact(w_i) * exact(q_ik), post / exact(q_ik))
        for x_i, w_i, q_i in zip(x, w, q, strict=True)
        for post, q_ik in zip(responsibilities(x_i, mixture, p), q_i, strict=True)
        if q_ik
    )
    return -minus_divergence


def responsibilities(x: Vector, mixture: Mixture, p: Density) -> tuple[Exact, ...]:
    """The share of a row that goes to each component; none of a row that nothing can have made.

    Defines: EM-ESTEP

    >>> responsibilities([1], ([0.5, 0.5], [0.25, 0.75]), coin)
    (Fraction(1, 4), Fraction(3, 4))
    """
    whole = density(x, mixture, p)
    return tuple(p_k / whole if whole else exact(0) for p_k in joint(x, mixture, p))


def is_m_step(
    after: Mixture,
    q: Shares,
    x: Rows,
    w: Weights,
    p: Density,
    rivals: Iterable[Mixture],
    log_prior: Callable[[Mixture], Log] = lambda _: Fraction(0),
    slack: Number = 0,
) -> bool:
    """Whether a mixture is the M-step: its weights are shares of rows, and no rival is better.

    Defines: EM-MSTEP

    >>> rows, halves = [[0], [1]], [[0.5, 0.5], [0.5, 0.5]]
    >>> one, other = ([0.5, 0.5], [0.5, 0.5]), ([0.5, 0.5], [0.25, 0.75])
    >>> is_m_step(one, halves, rows, [1, 1], coin, [other])
    True
    >>> is_m_step(other, halves, rows, [1, 1], coin, [one])
    False
    """

    def value(mixture: Mixture) -> Log:
        return added(expected_log_likelihood(q, x, w, mixture, p), log_prior(mixture))

    best = added(value(after), slack)
    near = all(
        -exact(slack) <= exact(a) - b <= exact(slack)
        for a, b in zip(after[0], component_weights(q, w), strict=True)
    )
    return near and not any(above(value(rival), best) for rival in rivals)


def penalised(
    x: Rows, w: Weights, mixture: Mixture, p: Density, log_prior: Callable[[Mixture], Log]
) -> Log:
    """The objective of a model with a prior.

    Defines: EM-PRIOR

    >>> one = ([1], [0.5])
    >>> penalised([[1]], [1], one, coin, lambda mixture: log(mixture[1][0])) == 2 * log(0.5)
    True
    """
    return added(log_likelihood(x, w, mixture, p), log_prior(mixture))


def slacks(before: Mixture, x: Rows, w: Weights, after: Mixture, p: Density) -> tuple[Log, Log]:
    """What an iteration gains by its M-step, and what by the E-step after it.

    Defines: EM-CONV

    >>> gains = slacks(([1], [0.25]), [[0], [1]], [1, 1], ([1], [0.5]), coin)
    >>> gains[0] == log(Fraction(4, 3)), gains[1] == 0
    (True, True)
    """
    middle = bound(before, x, w, after, p)
    return (
        added(middle, -log_likelihood(x, w, before, p)),
        added(log_likelihood(x, w, after, p), -middle),
    )


def em(
    x: Rows,
    w: Weights,
    mixture: Mixture,
    p: Density,
    m_step: MStep,
    shares: Callable[[Vector, Mixture, Density], Sequence[Exact]] = responsibilities,
) -> Iterator[tuple[Mixture, Log]]:
    """E-step, M-step, and so on; once an iteration each parameter is rounded to a nearest double.

    ``shares`` is the E-step of one row: posteriors, or what a variation has in their place.

    Defines: EM-ALG

    >>> def m_step(x, w, q):
    ...     return component_weights(q, w), [0.25, 0.75]
    >>> steps = em([[0], [1]], [1, 2], ([0.5, 0.5], [0.25, 0.75]), coin, m_step)
    >>> next(steps)[0]
    ((0.4166666666666667, 0.5833333333333334), (0.25, 0.75))
    """
    while True:
        q = [shares(x_i, mixture, p) for x_i in x]
        mixture = in_doubles(m_step(x, w, q))
        yield mixture, log_likelihood(x, w, mixture, p)


def stopped(objectives: Sequence[Number], w: Weights, tau: Number, limit: int) -> str | None:
    """Why a run ends after these passes, the start included; nothing if it goes on.

    Defines: EM-STOP

    >>> stopped([-9, -8], [1, 1], 0.5, 5), stopped([-9, -7], [1, 1], 0.5, 1)
    ('tolerance', 'limit')
    """
    if not 0 <= tau < math.inf:
        raise BadOption(f"the tolerance is {tau!r}; a number of at least 0 is needed")
    iterations = len(objectives) - 1
    if iterations:
        gain = exact(objectives[-1]) - exact(objectives[-2])
        if gain / total(w) <= exact(tau):
            return "tolerance"
    return "limit" if iterations >= limit else None


def best_run(objectives: Sequence[Number | Exception]) -> int:
    """The best of several runs by their objectives; one that collapsed has its error instead.

    Defines: EM-RESTART

    >>> best_run([-3, ValueError("collapsed"), -1, -1])
    2
    """
    runs = [
        (r, objective)
        for r, objective in enumerate(objectives)
        if not isinstance(objective, Exception)
    ]
    if not runs:
        raise next(objective for objective in objectives if isinstance(objective, Exception))
    return max(runs, key=lambda run: exact(run[1]))[0]


def start(
    name: str | Sequence[Any],
    x: Rows,
    w: Weights,
    k: int,
    u: Sequence[Number],
    m_step: MStep,
    around: Callable[[Rows], Any] | None = None,
) -> Any:
    """The mixture that a run begins with: a name, or labels.

    ``m_step`` makes parameters of shares, ``around`` equal components around some rows.

    Defines: EM-INIT

    >>> start("ba", [[0], [1]], [1, 3], 2, [], lambda x, w, q: component_weights(q, w))
    (Fraction(3, 4), Fraction(1, 4))
    """
    if name == "points" and around is not None:
        return around([x[i] for i in random_rows(x, w, u[:k])])
    if name == "kmeans":
        return m_step(x, w, kmeans_shares(x, w, k, u))
    if name == "random":
        e = [-log(1 - exact(u_i)) for u_i in u[: len(x) * k]]
        rows = [e[i : i + k] for i in range(0, len(e), k)]
        return m_step(x, w, [scaled(1 / total(row), row) for row in rows])
    return m_step(x, w, [one_hot(sorted(set(name)).index(y), k) for y in name])


def kmeans_shares(
    x: Rows, w: Weights, k: int, u: Sequence[Number], limit: int = 100
) -> list[tuple[int, ...]]:
    """The labels of a run of k-means as shares.

    Defines: KM-INITMIX

    >>> kmeans_shares([[0], [1], [9]], [1, 1, 1], 2, [0, 0.5])
    [(1, 0), (1, 0), (0, 1)]
    """
    y: list[int] = []
    for labels, _, _ in islice(lloyd(x, [x[i] for i in plus_plus(x, w, u[:k])], w), limit + 1):
        if labels == y:
            break
        y = labels
    return [one_hot(y_i, k) for y_i in y]


def damped(
    before: Mixture, m_step: Mixture, eta: Number, value: Callable[[Mixture], Log], trials: int = 20
) -> Any:
    """Parameters on the way to those of the M-step whose bound is not below that of the old ones.

    ``value`` is the bound, with the prior, for the shares of the old parameters.

    Defines: EM-GEM

    >>> damped(([0.5, 0.5], [0]), ([0.25, 0.75], [1]), 0.5, lambda mixture: mixture[0][1])
    ((Fraction(3, 8), Fraction(5, 8)), (Fraction(1, 2),))
    """
    if not 0 < eta <= 1:
        raise BadOption(f"the damping is {eta!r}; a number above 0 and up to 1 is needed")
    share = exact(eta)
    for _ in range(trials):
        between = sum_of([scaled(1 - share, before), scaled(share, m_step)])
        if not above(value(before), value(between)):
            return between
        share = (1 + share) / 2
    return m_step


def drawn_component(x: Vector, u: Number, mixture: Mixture, p: Density) -> tuple[int, ...]:
    """The share of a row that goes to each component if one is drawn from the posterior.

    Defines: EM-STOCH

    >>> drawn_component([1], 0.25, ([0.5, 0.5], [0.25, 0.75]), coin)
    (0, 1)
    """
    return one_hot(drawn(responsibilities(x, mixture, p), u), len(mixture[0]))


def drawn_shares(x: Vector, u: Sequence[Number], mixture: Mixture, p: Density) -> tuple[Exact, ...]:
    """The shares of several draws from the posterior.

    Defines: EM-MC

    >>> drawn_shares([1], [0.2, 0.3, 0.9], ([0.5, 0.5], [0.25, 0.75]), coin)
    (Fraction(1, 3), Fraction(2, 3))
    """
    if not u:
        raise BadOption("0 samples; at least one is needed")
    shares: tuple[Exact, ...] = scaled(
        Fraction(1, len(u)), sum_of(drawn_component(x, u_s, mixture, p) for u_s in u)
    )
    return shares


def restricted(x: Vector, m: int, mixture: Mixture, p: Density) -> tuple[tuple[Exact, ...], Log]:
    """Shares among the m most probable components of a row, and the bound of the row.

    Defines: EM-VAR

    >>> three = ([0.25, 0.25, 0.5], [0.5, 0.25, 0.25])
    >>> q, f = restricted([1], 2, three, coin)
    >>> q, f == log(0.25)
    ((Fraction(1, 2), Fraction(0, 1), Fraction(1, 2)), True)
    """
    if not 1 <= m <= len(mixture[0]):
        raise BadOption(f"{m} components are to be kept; from 1 to {len(mixture[0])} can be")
    joint_x = joint(x, mixture, p)
    kept = sorted(range(len(joint_x)), key=lambda k: joint_x[k], reverse=True)[:m]
    whole = total(joint_x[k] for k in kept)
    q = tuple(joint_x[k] / whole if k in kept else exact(0) for k in range(len(joint_x)))
    return q, logs([(1, whole)])


def certified(
    x: Rows, w: Weights, mixture: Mixture, p: Density, digits: int = 30
) -> tuple[Decimal, Decimal]:
    """Decimals below and above the log-likelihood, worked out with so many digits.

    Defines: EM-CERT

    >>> low, high = certified([[1]], [1], ([1], [0.5]), coin)
    >>> str(low)[:8], str(high)[:8], low < high
    ('-0.69314', '-0.69314', True)
    """
    if digits > 1000:
        raise BadOption(f"{digits} digits; at most 1000 can be had")
    exact_value = log_likelihood(x, w, mixture, p)
    if isinstance(exact_value, float):
        raise ImpossibleRow("no component can have made some row: its logarithm is -infinity")
    return Real(exact_value).enclosure(digits)


def prediction(
    x: Vector, mixture: Mixture, p: Density, impossible: str = "error"
) -> tuple[int, tuple[Exact, ...], Log]:
    """The label of a row, its shares and their entropy.

    Defines: EM-PRED

    >>> label, q, h = prediction([1], ([0.5, 0.5], [0.5, 0.5]), coin)
    >>> label, q, h == log(2)
    (0, (Fraction(1, 2), Fraction(1, 2)), True)
    """
    joint_x = joint(x, mixture, p)
    if not any(joint_x):
        if impossible != "prior":
            raise ImpossibleRow("no component can have made the row")
        joint_x = list(map(exact, mixture[0]))
    q = scaled(1 / total(joint_x), joint_x)
    return max(range(len(joint_x)), key=lambda k: joint_x[k]), q, entropy(q)


def sample(u: Iterator[Number], mixture: Mixture, draw: Callable[[Any, Any], Any]) -> Any:
    """A component and a row of it; ``draw`` makes a row with further random numbers.

    Defines: EM-SAMPLE

    >>> sample(iter([0.5, 0.9]), ([0.5, 0.5], [0.25, 0.75]), lambda c, u: int(next(u) < c))
    (1, 0)
    """
    z = drawn(mixture[0], next(u))
    return z, draw(mixture[1][z], u)


# What several clauses share.


def joint(x: Vector, mixture: Mixture, p: Density) -> list[Exact]:
    """The density of a row together with each component.

    Spec: MIX-JOINT

    >>> joint([1], ([0.5, 0.5], [0.25, 0.75]), coin)
    [Fraction(1, 8), Fraction(3, 8)]
    """
    return [exact(pi_k) * p(x, theta_k) for pi_k, theta_k in zip(*mixture, strict=True)]


def density(x: Vector, mixture: Mixture, p: Density) -> Exact:
    """The density of a row under the mixture.

    Spec: MIX-MODEL

    >>> density([1], ([0.5, 0.5], [0.25, 0.75]), coin)
    Fraction(1, 2)
    """
    return total(joint(x, mixture, p))


def complete(x: Rows, z: Sequence[int], mixture: Mixture, p: Density) -> Exact:
    """The density of all rows together with their components.

    Spec: MIX-JOINT

    >>> complete([[1], [0]], (1, 0), ([0.5, 0.5], [0.25, 0.75]), coin)
    Fraction(9, 64)
    """
    return product(joint(x_i, mixture, p)[z_i] for x_i, z_i in zip(x, z, strict=True))


def component_weights(q: Shares, w: Weights) -> tuple[Exact, ...]:
    """The share of each component in the weight of all rows.

    Spec: EM-MSTEP

    >>> component_weights([[1, 0], [0.5, 0.5]], [1, 2])
    (Fraction(2, 3), Fraction(1, 3))
    """
    sizes: tuple[Exact, ...] = sum_of(scaled(w_i, q_i) for w_i, q_i in zip(w, q, strict=True))
    return tuple(size / total(sizes) for size in sizes)


def entropy(q: Sequence[Number]) -> Exact:
    """How uncertain the component of a row is.

    Spec: EM-PRED, EM-EXPCDLL

    >>> entropy([0.25] * 4) == log(4)
    True
    """
    return total(-exact(q_k) * log(q_k) for q_k in q if q_k)


def one_hot(label: int, k: int) -> tuple[int, ...]:
    """A label as shares.

    Spec: TASK-HARDSOFT

    >>> one_hot(1, 3)
    (0, 1, 0)
    """
    return tuple(int(c == label) for c in range(k))


def logs(terms: Iterable[tuple[Number, Number]]) -> Log:
    """The sum of a log b, where 0 log b = 0; minus infinity if something impossible counts.

    Spec: NUM-XLOGY

    >>> logs([(2, 3), (0, 0)]) == log(9), logs([(1, 0)])
    (True, -inf)
    """
    counted = [(exact(a), exact(b)) for a, b in terms if a]
    return total(a * log(b) for a, b in counted) if all(b for _, b in counted) else -math.inf


def added(first: Log, other: Log) -> Log:
    """A sum of two numbers, of which one may be infinite.

    Spec: MIX-MARGLL

    >>> added(1, 0.5), added(-math.inf, 2)
    (Fraction(3, 2), -inf)
    """
    ends = [x for x in (first, other) if isinstance(x, float) and math.isinf(x)]
    return ends[0] if ends else total([first, other])


def above(first: Log, other: Log) -> bool:
    """Whether a number, or minus infinity, is greater than another.

    Spec: MIX-MARGLL

    >>> above(1, -math.inf), above(-math.inf, 1), above(2, 1)
    (True, False, True)
    """
    if -math.inf in (first, other):
        return first != -math.inf
    return exact(first) > exact(other)


def in_doubles(numbers: Any) -> Any:
    """Parameters in nearest doubles.

    Spec: EM-ALG

    >>> in_doubles(([Fraction(1, 3)], {"a": 1}))
    ((0.3333333333333333,), {'a': 1.0})
    """
    if isinstance(numbers, Mapping):
        return {place: in_doubles(number) for place, number in numbers.items()}
    if isinstance(numbers, Sequence):
        return tuple(map(in_doubles, numbers))
    return float(Real(exact(numbers)))


def coin(x: Vector, theta_k: Number) -> Exact:
    """The probability of heads or tails, a component for examples.

    Spec: BMIX-LL

    >>> coin([1], 0.25), coin([0], 0.25)
    (Fraction(1, 4), Fraction(3, 4))
    """
    return exact(theta_k) if x[0] else 1 - exact(theta_k)


def _distribution(q: Sequence[Number]) -> None:
    if any(q_k < 0 for q_k in q) or not -SLACK <= total(q) - 1 <= SLACK:
        raise BadDistribution(f"the shares {q} are negative or do not add up to 1")
