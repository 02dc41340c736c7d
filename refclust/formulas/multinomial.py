"""Chapter 31: counts. Naive Bayes with labels, multinomial and Bernoulli mixtures without them.

Letters: x documents (counts of words, dense or sparse), y classes, w weights, pi and theta the
parameters, q shares, m imagined words of which a share p_j is word j. The densities here are the p
of chapter 30.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from refclust.errors import (
    BadOption,
    DimensionMismatch,
    EmptyInput,
    FractionalCount,
    ImpossibleRow,
    LabelLengthMismatch,
    NegativeCount,
    NotBinary,
)
from refclust.formulas import mixtures
from refclust.formulas.kmeans import drawn
from refclust.formulas.mixtures import (
    Log,
    Mixture,
    Rows,
    Shares,
    Weights,
    above,
    added,
    component_weights,
    logs,
    one_hot,
)
from refclust.formulas.vectors import (
    Exact,
    Number,
    Vector,
    components,
    exact,
    product,
    scaled,
    sum_of,
    together,
    total,
)
from refclust.numbers.real import exp, log


def posteriors(prior: Sequence[Number], likelihoods: Sequence[Number]) -> tuple[Exact, ...]:
    """The probability of each class from its prior and from the likelihood of the row in it.

    Spec: BAYES-RULE, BAYES-PROD

    >>> posteriors([0.5, 0.5], [0.75, 0.25])
    (Fraction(3, 4), Fraction(1, 4))
    """
    joint = [exact(a) * exact(b) for a, b in zip(prior, likelihoods, strict=True)]
    if not any(joint):
        raise ImpossibleRow("the evidence Pr(x) is 0: no class can have made x")
    return tuple(p / total(joint) for p in joint)


def length_probability(length: int, rate: Number) -> Exact:
    """The probability that a document has so many words, if their mean number is the rate.

    Spec: NB-POISSON

    >>> length_probability(2, 3) == exp(-3) * 9 / 2, length_probability(3, 0) == 0
    (True, True)
    """
    if length < 0 or not 0 <= rate < math.inf:
        raise BadOption(f"length {length!r}, rate {rate!r}; both must be at least 0 and finite")
    return exp(-exact(rate)) * exact(rate) ** length / math.factorial(length)


def word_probability(v: int, theta: Sequence[Number]) -> Exact:
    """The probability of drawing one word, as a product over the vocabulary.

    Spec: NB-WORDPMF

    >>> word_probability(1, [0.25, 0.75])
    Fraction(3, 4)
    """
    return product(exact(theta_j) ** int(v == j) for j, theta_j in enumerate(theta))


def document_log_likelihood(x: Vector, theta: Vector) -> Log:
    """The logarithm of the probability of a document's words in their order.

    Defines: NB-LIK

    >>> document_log_likelihood([2, 0], [0.5, 0.5]) == 2 * log(0.5)
    True
    >>> document_log_likelihood([0, 1], [1, 0])
    -inf
    """
    counts, shares = together(x, theta)
    return logs((x_j, shares.get(j, 0)) for j, x_j in counts.items())


def complete_log_likelihood(x: Rows, y: Sequence[int], w: Weights, mixture: Mixture) -> Log:
    """The logarithm of the probability of documents together with their classes.

    Defines: NB-CDLL

    >>> two = ([0.5, 0.5], [[1], [1]])
    >>> complete_log_likelihood([[1], [2]], [0, 1], [1, 3], two) == 4 * log(0.5)
    True
    """
    if len(x) != len(y):
        raise LabelLengthMismatch(f"{len(y)} labels for {len(x)} documents; one for each is due")
    pi, theta = mixture
    return logs(
        (w_i, exact(pi[y_i]) * probability(x_i, theta[y_i]))
        for x_i, y_i, w_i in zip(x, y, w, strict=True)
    )


def class_prior(
    x: Rows, y: Sequence[int], w: Weights, k: int, by: str = "documents"
) -> tuple[Exact, ...]:
    """The prior of each class: its share of documents, of words, or the same for all.

    Defines: NB-PI

    >>> class_prior([[9, 0], [1, 0], [2, 0]], [0, 1, 1], [1, 1, 1], 2)
    (Fraction(1, 3), Fraction(2, 3))
    >>> class_prior([[9, 0], [1, 0], [2, 0]], [0, 1, 1], [1, 1, 1], 2, by="tokens")
    (Fraction(3, 4), Fraction(1, 4))
    """
    if by == "equal":
        return (Fraction(1, k),) * k
    counts = [
        exact(w_i) * (total(components(x_i).values()) if by == "tokens" else 1)
        for x_i, w_i in zip(x, w, strict=True)
    ]
    if not any(counts):
        raise EmptyInput("no word was counted, so no class has a share of the words")
    return component_weights([one_hot(y_i, k) for y_i in y], counts)


def class_probabilities(
    x: Rows, y: Sequence[int], w: Weights, k: int, p: Vector
) -> tuple[Any, ...]:
    """The probability of each word in each class, without smoothing; of a class without words p.

    Defines: NB-THETA

    >>> class_probabilities([[3, 1], [0, 0], [1, 0]], [0, 1, 0], [1, 1, 4], 2, [0.5, 0.5])
    ((Fraction(7, 8), Fraction(1, 8)), (Fraction(1, 2), Fraction(1, 2)))
    """
    sums = [word_counts(x, w, [int(y_i == c) for y_i in y]) for c in range(k)]
    return tuple(
        scaled(1 / words, t) if (words := total(components(t).values())) else scaled(1, p)
        for t in sums
    )


def m_estimate(count: Number, whole: Number, m: Number, p: Number) -> Exact:
    """A share, with m imagined observations of which m p are hits; without any of either, p.

    Defines: NB-MEST

    >>> m_estimate(3, 10, 1, 0.5), m_estimate(0, 0, 0, 0.25)
    (Fraction(7, 22), Fraction(1, 4))
    """
    if m < 0 or not 0 <= p <= 1:
        raise BadOption(f"m is {m!r} and p {p!r}; at least 0, and from 0 to 1, are needed")
    bottom = exact(whole) + exact(m)
    return (exact(count) + exact(m) * exact(p)) / bottom if bottom else exact(p)


def half_estimate(count: Number, whole: Number) -> Exact:
    """The m-estimate with one imagined word, half of it the one that is asked for.

    Defines: NB-MEST1H

    >>> half_estimate(3, 10), half_estimate(0, 0)
    (Fraction(7, 22), Fraction(1, 2))
    """
    return (exact(count) + Fraction(1, 2)) / (exact(whole) + 1)


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """How often each word is in each class, how many words each class has, and all together.

    Spec: NB-COUNT
    """

    words: Mapping[Hashable, Mapping[Hashable, int]]  # class, then word
    classes: Mapping[Hashable, int]
    tokens: int


def token_counts(
    documents: Iterable[Iterable[Hashable]], labels: Iterable[Hashable]
) -> TokenCounts:
    """Walk through documents word by word and count; nothing here counts documents.

    Spec: NB-COUNT

    >>> found = token_counts([["a", "b", "a"], ["c"]], ["x", "y"])
    >>> found.words["x"]["a"], found.classes, found.tokens
    (2, {'x': 3, 'y': 1}, 4)
    """
    words: dict[Hashable, Counter[Hashable]] = {}
    classes: dict[Hashable, int] = {}
    tokens = 0
    for document, y in zip(documents, labels, strict=True):
        words.setdefault(y, Counter())
        classes.setdefault(y, 0)
        for word in document:
            words[y][word] += 1
            classes[y] += 1
            tokens += 1
    return TokenCounts(words, classes, tokens)


def score(x: Vector, pi_y: Number, theta_y: Vector) -> Log:
    """The logarithm of the joint probability of a class and a document.

    Defines: NB-SCORE

    >>> score([2, 0], 0.25, [0.5, 0.5]) == 4 * log(0.5), score([0, 1], 0.5, [1, 0])
    (True, -inf)
    """
    return added(logs([(1, pi_y)]), document_log_likelihood(x, theta_y))


def binary_scores(
    counts: TokenCounts, words: Iterable[Hashable], *, m: Number = 1, p: Number = 0.5
) -> dict[Hashable, Log]:
    """The score of every class as the source has it: to the base 2, the prior a share of words.

    A word that was never seen counts like one with a count of 0.

    Spec: NB-SCORE, NB-MEST1H

    >>> found = token_counts([["a"], ["b"]], ["x", "y"])
    >>> binary_scores(found, ["a", "b"])["y"] == -3 + log(0.75) / log(2)
    True
    """
    if not counts.tokens:
        raise EmptyInput("no word was counted, so no class has a share of the words")
    seen, bit = list(words), 1 / log(2)
    return {
        y: logs(
            [
                (bit, Fraction(n, counts.tokens)),
                *((bit, m_estimate(counts.words[y].get(w, 0), n, m, p)) for w in seen),
            ]
        )
        for y, n in counts.classes.items()
    }


def predicted(x: Vector, mixture: Mixture) -> int:
    """The class with the largest score, the first of equals.

    Defines: NB-PRED

    >>> predicted([1, 2], ([0.5, 0.5], [[0.5, 0.5], [0.25, 0.75]]))
    1
    """
    scores = [score(x, pi_y, theta_y) for pi_y, theta_y in zip(*mixture, strict=True)]
    best = 0
    for y in range(1, len(scores)):
        best = y if above(scores[y], scores[best]) else best
    if scores[best] == -math.inf:
        raise ImpossibleRow("no class can have made the document; smoothing with m > 0 helps")
    return best


def log_likelihood(x: Rows, w: Weights, mixture: Mixture) -> Log:
    """The logarithm of the probability of documents as sequences of words.

    Defines: MMIX-LL

    >>> two = ([0.5, 0.5], [[0.5, 0.5], [0.25, 0.75]])
    >>> log_likelihood([[1, 0], [0, 0]], [2, 1], two) == 2 * log(0.375)
    True
    """
    return mixtures.log_likelihood(x, w, mixture, probability)


def count_log_likelihood(x: Rows, w: Weights, mixture: Mixture) -> Log:
    """The logarithm of the probability of documents as bags of words.

    Defines: MMIX-COEF

    >>> count_log_likelihood([[1, 1]], [2], ([1], [[0.5, 0.5]])) == 2 * log(0.5)
    True
    """
    ways = logs((w_i, orders(x_i)) for w_i, x_i in zip(w, x, strict=True))
    return added(log_likelihood(x, w, mixture), ways)


def responsibilities(x: Vector, mixture: Mixture) -> tuple[Exact, ...]:
    """The share of a document that goes to each component.

    Defines: MMIX-ESTEP

    >>> responsibilities([1, 0], ([0.5, 0.5], [[0.5, 0.5], [0.25, 0.75]]))
    (Fraction(2, 3), Fraction(1, 3))
    """
    joint = [exact(pi_k) * probability(x, theta_k) for pi_k, theta_k in zip(*mixture, strict=True)]
    return tuple(p_k / total(joint) if any(joint) else exact(0) for p_k in joint)


def bound(before: Mixture, x: Rows, w: Weights, after: Mixture) -> Log:
    """Q: the bound at one mixture, with the shares that another one gives.

    Defines: MMIX-Q

    >>> one = ([1], [[0.5, 0.5]])
    >>> bound(one, [[1, 2]], [2], ([1], [[0.25, 0.75]])) == 2 * log(0.25) + 4 * log(0.75)
    True
    """
    return mixtures.bound(before, x, w, after, probability)


def weights(q: Shares, w: Weights) -> tuple[Exact, ...]:
    """The weight of each component: its share of the rows.

    Defines: MMIX-PI

    >>> weights([[1, 0], [0.5, 0.5]], [1, 2])
    (Fraction(2, 3), Fraction(1, 3))
    """
    return tuple(
        total(exact(w_i) * exact(q_i[k]) for w_i, q_i in zip(w, q, strict=True)) / total(w)
        for k in range(len(q[0]))
    )


def word_probabilities(x: Rows, w: Weights, q: Sequence[Number], m: Number, p: Vector) -> Any:
    """The probability of each word in a component, from the shares of the rows that it has.

    Defines: MMIX-THETA

    >>> word_probabilities([[2, 0], [1, 1]], [1, 1], [1, 0.5], 0, [0.5, 0.5])
    (Fraction(5, 6), Fraction(1, 6))
    """
    t = word_counts(x, w, q)
    return estimates(t, total(components(t).values()), m, p)


def log_prior(theta: Sequence[Vector], m: Number, p: Vector, kind: str = "multinomial") -> Log:
    """The logarithm of the prior of which the m-estimate is the most probable value.

    Defines: MMIX-PRIOR

    >>> log_prior([[0.5, 0.5]], 2, [0.5, 0.5]) == 2 * log(0.5)
    True
    >>> log_prior([[0.25]], 2, [0.5], "bernoulli") == log(0.25) + log(0.75)
    True
    """
    of_words = [
        (theta_kj, components(p)[j])
        for theta_k in theta
        for j, theta_kj in components(theta_k).items()
    ]
    if kind == "bernoulli":
        of_words += [(1 - theta_kj, 1 - p_j) for theta_kj, p_j in of_words]
    return logs((exact(m) * p_j, theta_kj) for theta_kj, p_j in of_words)


def em(
    x: Rows, w: Weights, mixture: Mixture, m: Number, p: Vector
) -> Iterator[tuple[Mixture, Log]]:
    """The loop for documents; once an iteration each parameter is rounded to a nearest double.

    Defines: MMIX-ALG

    >>> steps = em([[2, 0], [1, 1]], [1, 1], ([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]]), 0, [0.5, 0.5])
    >>> next(steps)[0]
    ((0.5, 0.5), ((0.75, 0.25), (0.75, 0.25)))
    """

    def m_step(x: Rows, w: Weights, q: Shares) -> Mixture:
        columns = zip(*q, strict=True)
        return weights(q, w), [word_probabilities(x, w, q_k, m, p) for q_k in columns]

    return mixtures.em(x, w, mixture, probability, m_step)


def presence_log_likelihood(x: Rows, w: Weights, mixture: Mixture) -> Log:
    """The logarithm of the probability of rows of words that are there or not.

    Defines: BMIX-LL

    >>> presence_log_likelihood([[1, 0]], [2], ([1], [[0.25, 0.5]])) == 6 * log(0.5)
    True
    """
    return mixtures.log_likelihood(x, w, mixture, presence_probability)


def presence_responsibilities(x: Vector, mixture: Mixture) -> tuple[Exact, ...]:
    """The share of a row that goes to each component of a Bernoulli mixture.

    Defines: BMIX-ESTEP

    >>> presence_responsibilities([1, 0], ([0.5, 0.5], [[0.25, 0.5], [0.75, 0.5]]))
    (Fraction(1, 4), Fraction(3, 4))
    """
    return mixtures.responsibilities(x, mixture, presence_probability)


def presence_probabilities(x: Rows, w: Weights, q: Sequence[Number], m: Number, p: Vector) -> Any:
    """The probability that each word is there in a component.

    Defines: BMIX-THETA

    >>> presence_probabilities([[1, 0], [1, 1]], [1, 1], [1, 0.5], 2, [0.5, 0.5])
    (Fraction(5, 7), Fraction(3, 7))
    """
    rows = total(exact(w_i) * exact(q_i) for w_i, q_i in zip(w, q, strict=True))
    return estimates(word_counts(x, w, q), rows, m, p)


# What several clauses share.


def probability(x: Vector, theta: Vector) -> Exact:
    """The probability of a document's words in their order, a product of powers.

    Spec: NB-LIK

    >>> probability([2, 0, 1], [0.5, 0.25, 0.25])
    Fraction(1, 16)
    """
    counts, shares = together(x, theta)
    return product(power(shares.get(j, Fraction(0)), x_j) for j, x_j in counts.items() if x_j)


def presence_probability(x: Vector, theta: Vector) -> Exact:
    """The probability of a row of words that are there or not.

    Spec: BMIX-LL

    >>> presence_probability([1, 0], [0.25, 0.25]), presence_probability({}, {"a": 0.25})
    (Fraction(3, 16), Fraction(3, 4))
    """
    return product(t if x_j else 1 - t for t, x_j in presences(x, theta))


def presences(x: Vector, theta: Vector) -> list[tuple[Exact, Exact]]:
    """Of each word its probability, and whether it is there.

    Spec: BMIX-LL

    >>> presences([1, 0], [0.25, 0.5])
    [(Fraction(1, 4), Fraction(1, 1)), (Fraction(1, 2), Fraction(0, 1))]
    """
    counts, shares = together(x, theta)
    wrong = [x_j for x_j in counts.values() if x_j not in (0, 1)]
    if wrong:
        raise NotBinary(f"{wrong[0]} is neither 0 nor 1; a Bernoulli model takes these")
    return [(shares.get(j, Fraction(0)), counts.get(j, Fraction(0))) for j in {**shares, **counts}]


def power(theta: Exact, count: Exact) -> Exact:
    """A probability to the power of a count, which may be a fraction.

    Spec: MMIX-COUNTS

    >>> power(Fraction(1, 2), Fraction(3)), power(Fraction(1, 4), Fraction(1, 2)) == Fraction(1, 2)
    (Fraction(1, 8), True)
    """
    if count < 0:
        raise NegativeCount(f"a count is {count}; counts are at least 0")
    if isinstance(count, Fraction) and count.denominator == 1:
        return theta**count.numerator
    return exp(count * log(theta)) if theta else Fraction(0)


def word_counts(x: Rows, w: Weights, q: Sequence[Number]) -> Any:
    """How often each word is in a component, T_k.

    Spec: NB-COUNT

    >>> word_counts([[2, 0], [1, 1]], [1, 3], [1, 0.5])
    (Fraction(7, 2), Fraction(3, 2))
    """
    return sum_of(
        scaled(exact(w_i) * exact(q_i), x_i) for x_i, w_i, q_i in zip(x, w, q, strict=True)
    )


def estimates(t: Any, whole: Number, m: Number, p: Vector) -> Any:
    """The m-estimate of every word.

    Spec: NB-MEST

    >>> estimates([3, 1], 4, 1, [0.5, 0.5])
    (Fraction(7, 10), Fraction(3, 10))
    """
    if len(t) > len(p):
        raise DimensionMismatch(f"{len(t)} counts and {len(p)} shares of imagined words")
    counts, shares = together(t, p)
    probabilities = {j: m_estimate(counts.get(j, 0), whole, m, p_j) for j, p_j in shares.items()}
    return probabilities if isinstance(t, Mapping) else tuple(probabilities.values())


def orders(x: Vector) -> Exact:
    """How many sequences of words a bag of words stands for.

    Spec: MMIX-COEF

    >>> orders([2, 1, 0])
    Fraction(3, 1)
    """
    counts = [x_j for x_j in components(x).values() if isinstance(x_j, Fraction)]
    if any(x_j.denominator != 1 for x_j in counts) or len(counts) < len(x):
        raise FractionalCount("a count is no whole number: the room has no gamma function")
    whole = [x_j.numerator for x_j in counts]
    return Fraction(math.factorial(sum(whole)), math.prod(map(math.factorial, whole)))


def starting_probabilities(
    t: Any, whole: Number, x: Rows, w: Weights, m: Number, p: Vector, kind: str = "multinomial"
) -> Any:
    """The probabilities of a component that starts with counts t: with an imagined row like all.

    ``whole`` is the number of words, or of rows, that the counts come from.

    Spec: EM-INIT

    >>> starting_probabilities([2, 0], 2, [[2, 0], [1, 1]], [1, 1], 0, [0.5, 0.5])
    (Fraction(7, 8), Fraction(1, 8))
    """
    rows, everything = total(w), word_counts(x, w, [1] * len(x))
    words = total(components(everything).values())
    if kind == "multinomial":
        b = estimates(everything, words, m, p)
        return estimates(t, whole, exact(m) + (words / rows or 1), b)
    b = tuple(
        (rows * t_j + Fraction(1, 2)) / (rows + 1) if t_j else Fraction(0)
        for t_j in estimates(everything, rows, m, p)
    )
    return estimates(t, whole, exact(m) + 1, b)


def drawn_document(theta: Sequence[Number], u: Iterator[Number], length: Number) -> tuple[int, ...]:
    """A document: as many words as waiting times fit into the mean length, each drawn by itself.

    Spec: EM-SAMPLE, NB-POISSON

    >>> drawn_document([0.5, 0.5], iter([0.5, 0.5, 0.9, 0.25, 0.75]), 2)
    (1, 1)
    """
    reached, count = -log(1 - exact(next(u))), 0
    while reached <= exact(length):
        reached -= log(1 - exact(next(u)))
        count += 1
    words = [drawn(theta, next(u)) for _ in range(count)]
    return tuple(words.count(j) for j in range(len(theta)))


def drawn_presences(theta: Sequence[Number], u: Iterator[Number]) -> tuple[int, ...]:
    """Which words are there, each by its own random number.

    Spec: EM-SAMPLE

    >>> drawn_presences([0.5, 0.5], iter([0.25, 0.5]))
    (1, 0)
    """
    return tuple(int(exact(next(u)) < exact(theta_j)) for theta_j in theta)
