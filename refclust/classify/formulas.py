"""The formulas of naive Bayes as they are written, for single documents (chapter 31).

Training and prediction of many documents are kernels; these functions are for reading, for tests
and for worked examples. Words are anything that can be compared for equality.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from refclust.data.labels import same_length
from refclust.errors import BadOption, DimensionMismatch, EmptyInput, ImpossibleRow
from refclust.kernels.mixture import total
from refclust.kernels.words import m_estimate
from refclust.numbers.logspace import xlogy


def posteriors(prior: Sequence[float], likelihoods: Sequence[float]) -> tuple[float, ...]:
    """Pr(y | x) of every class from Pr(y) and Pr(x | y), each rounded once.

    Spec: BAYES-RULE, BAYES-PROD

    >>> posteriors([0.5, 0.5], [0.75, 0.25]), posteriors([0.5, 0.5], [1e-300, 3e-300])
    ((0.75, 0.25), (0.25, 0.75))
    """
    joint = [Fraction(p) * Fraction(x) for p, x in zip(prior, likelihoods, strict=True)]
    evidence = sum(joint)
    if not evidence > 0:
        raise ImpossibleRow("the evidence Pr(x) is 0: no class can have made x")
    return tuple(float(x / evidence) for x in joint)


def word_probability(word: int, theta: Sequence[float]) -> float:
    """The probability of drawing one word, as a product over the vocabulary.

    Spec: NB-WORDPMF

    >>> word_probability(1, [0.25, 0.75])
    0.75
    """
    return math.prod(share ** (word == j) for j, share in enumerate(theta))


def length_probability(length: int, rate: float) -> float:
    """The probability that a document has so many words, if their mean number is the rate.

    Spec: NB-POISSON

    >>> length_probability(0, 1.0) == math.exp(-1.0), length_probability(3, 0.0)
    (True, 0.0)
    """
    if length < 0 or not 0 <= rate < math.inf:
        raise BadOption(f"length {length!r}, rate {rate!r}; both must be at least 0 and finite")
    return math.exp(math.fsum([xlogy(length, rate), -rate, -math.lgamma(length + 1)]))


def document_log_likelihood(counts: Sequence[float], theta: Sequence[float]) -> float:
    """log Pr(w_1, ..., w_n | y) from the counts of the words, without a multinomial coefficient.

    Spec: NB-LIK, NB-ZERO, NB-CCDOC

    >>> document_log_likelihood([2, 0], [0.5, 0.5]) == 2 * math.log(0.5)
    True
    >>> document_log_likelihood([0, 1], [1.0, 0.0])
    -inf
    """
    if len(counts) != len(theta):
        raise DimensionMismatch(f"{len(counts)} counts and {len(theta)} probabilities of words")
    return total([xlogy(x, share) for x, share in zip(counts, theta, strict=True)])


def complete_log_likelihood(
    documents: Sequence[Sequence[float]],
    labels: Sequence[int],
    prior: Sequence[float],
    theta: Sequence[Sequence[float]],
) -> float:
    """The logarithm of the probability of documents together with their classes.

    Spec: NB-CDLL

    >>> complete_log_likelihood([[1], [2]], [0, 1], [0.5, 0.5], [[1.0], [1.0]]) == 2 * math.log(0.5)
    True
    """
    same_length([("documents", documents), ("labels", labels)])
    terms = []
    for counts, y in zip(documents, labels, strict=True):
        terms += [xlogy(1.0, prior[y]), document_log_likelihood(counts, theta[y])]
    return total(terms)


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
        for w in document:
            words[y][w] += 1
            classes[y] += 1
            tokens += 1
    return TokenCounts(words, classes, tokens)


def binary_scores(
    counts: TokenCounts, words: Iterable[Hashable], *, m: float = 1.0, p: float = 0.5
) -> dict[Hashable, float]:
    """lg(count[y] / count) + the sum of lg((count[w][y] + m p) / (count[y] + m)), of every class.

    Base 2, the prior is the share of words, and by default m p is a half. A word that was never
    seen counts like one with a count of 0.

    Spec: NB-SCORE, NB-MEST1H

    >>> found = token_counts([["a"], ["b"]], ["x", "y"])
    >>> binary_scores(found, ["a", "b", "b"])["y"] == -1 - 2 + 2 * math.log2(0.75)
    True
    """
    if not counts.tokens:
        raise EmptyInput("no word was counted, so no class has a share of the words")
    seen = list(words)
    return {
        y: total(
            [
                _lg(n / counts.tokens),
                *(_lg(m_estimate(counts.words[y].get(w, 0), n, m, p)) for w in seen),
            ]
        )
        for y, n in counts.classes.items()
    }


def _lg(x: float) -> float:
    return math.log2(x) if x else -math.inf
