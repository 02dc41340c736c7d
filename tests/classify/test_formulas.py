"""Densities and the formulas of naive Bayes, value by value."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest

from refclust.classify.discriminants import discriminant
from refclust.classify.naive_bayes import naive_bayes
from refclust.classify.predict import predict
from refclust.errors import (
    BadOption,
    DegenerateCovariance,
    DimensionMismatch,
    EmptyInput,
    ImpossibleRow,
    LabelLengthMismatch,
)
from refclust.formulas import gaussian
from refclust.formulas.multinomial import (
    binary_scores,
    complete_log_likelihood,
    document_log_likelihood,
    half_estimate,
    length_probability,
    posteriors,
    token_counts,
    word_probability,
)
from refclust.kernels.mixtures.words import m_estimate
from refclust.mixture.density import mahalanobis, whitened
from refclust.numbers.real import Real, exp, log, sqrt
from refclust.numbers.reals.constants import pi

UNIT = 2.0**-53
ROUND_TABLE = ((4.0, 2.0), (2.0, 5.0))  # Cholesky factor (2, 0; 1, 2), determinant 16


@pytest.mark.spec("GAU-PDF1", "GAU-PDF")
def test_density_on_the_line() -> None:
    # The sign of the exponent is minus: with the sign as printed the second would be 0.6577...
    due = {
        0: "0.398942280401432677939946059934",
        1: "0.241970724519143349797830192936",
    }
    for x, digits in due.items():
        found = Fraction(gaussian.density([x], [0], [[1]]).digits(32))
        assert abs(found - Fraction(digits)) <= Fraction(1, 10**30)
    assert gaussian.density([3], [1], [[4]]) == gaussian.density([-1], [1], [[4]])
    # GAU-PDF1 as it is written.
    written = exp(-Fraction(1, 2) * Fraction(2, 3) ** 2) / (3 * sqrt(2 * pi))
    assert gaussian.density([3], [1], [[9]]) == written


@pytest.mark.spec("GAU-PDF", "GAU-LIK1", "GAU-LL")
def test_densities_agree() -> None:
    values, logs = [-1.0, 0.25, 3.0], []
    for x in values:
        # Half the square of the distance over 2.25, the logarithm of 1.5 and that of 2 pi.
        square = (Fraction(x) - Fraction(1, 2)) ** 2 / Fraction(9, 4)
        logs.append(-square / 2 - log(1.5) - log(2 * pi) / 2)
    whole = gaussian.log_likelihood_of_one([[x] for x in values], [1] * 3, [0.5], [[2.25]])
    assert Real(whole).digits(40) == (logs[0] + logs[1] + logs[2]).digits(40)


@pytest.mark.spec("GAU-PDF", "DIST-MAHA", "QDA-DISC")
def test_density_in_two_columns() -> None:
    x, mean = (3.0, 4.0), (1.0, 1.0)
    # L y = (2, 3) has y = (1, 1): every step is exact.
    assert mahalanobis(x, mean, ROUND_TABLE) == 2.0
    assert gaussian.mahalanobis(x, mean, ROUND_TABLE) == 2
    with mpmath.workdps(40):
        due = mpmath.exp(-1) / (2 * mpmath.pi * 4)
        assert gaussian.density(x, mean, ROUND_TABLE).digits(30) == mpmath.nstr(due, 30)
    assert discriminant(x, 0.25, mean, ROUND_TABLE) == -2 * math.log(4.0) - 1.0
    assert discriminant(x, 0.0, mean, ROUND_TABLE) == -math.inf


@pytest.mark.spec("GAU-LL")
def test_weighted_rows_count_as_often() -> None:
    rows = [(0.0, 1.0), (2.0, -1.0)]
    copies = [rows[0], rows[0], rows[1]]
    twice = gaussian.log_likelihood_of_one(copies, [1] * 3, (0.0, 0.0), ROUND_TABLE)
    assert gaussian.log_likelihood_of_one(rows, [2, 1], (0.0, 0.0), ROUND_TABLE) == twice
    alone = gaussian.log_likelihood_of_one(rows, [1, 0], (0.0, 0.0), ROUND_TABLE)
    assert alone == log(gaussian.density(rows[0], (0.0, 0.0), ROUND_TABLE))


@pytest.mark.spec("GAU-PDF", "GAU-PDF1", "DIST-MAHA")
def test_flat_covariances_are_refused() -> None:
    for variance in (0.0, -1.0):
        with pytest.raises(DegenerateCovariance, match="column 0"):
            gaussian.density([0], [0], [[variance]])
    for distance in (gaussian.mahalanobis, mahalanobis):
        with pytest.raises(DegenerateCovariance, match="column 1"):
            distance((0.0, 0.0), (0.0, 0.0), ((1.0, 1.0), (1.0, 1.0)))
    with pytest.raises(DimensionMismatch, match="rows"):
        whitened(((1.0, 1.0),))
    with pytest.raises(DimensionMismatch, match="3 numbers"):
        mahalanobis((1.0, 2.0, 3.0), (0.0, 0.0), ROUND_TABLE)


@pytest.mark.spec("NB-MEST1H", "NB-MEST")
@pytest.mark.parametrize(
    ("count", "total", "due"),
    [
        (0, 0, Fraction(1, 2)),
        (0, 1, Fraction(1, 4)),
        (1, 1, Fraction(3, 4)),
        (0, 10, Fraction(1, 22)),
        (3, 10, Fraction(7, 22)),
        (10, 10, Fraction(21, 22)),
    ],
)
def test_half_a_word_more(count: int, total: int, due: Fraction) -> None:
    assert half_estimate(count, total) == due
    assert m_estimate(count, total, 1.0, 0.5) == float(due)


@pytest.mark.spec("BAYES-RULE")
def test_rule_of_bayes() -> None:
    # A test that is right 99 times of 100, for something that one of 1000 has.
    due = Fraction(0.001) * Fraction(0.99)
    rest = Fraction(0.999) * Fraction(0.01)
    assert posteriors([0.001, 0.999], [0.99, 0.01])[0] == due / (due + rest)
    # Products that would underflow: their shares do not.
    assert posteriors([0.5, 0.5], [5e-324, 5e-324]) == (Fraction(1, 2), Fraction(1, 2))
    with pytest.raises(ImpossibleRow):
        posteriors([0.5, 0.5], [0.0, 0.0])


@pytest.mark.spec("NB-WORDPMF", "NB-LIK", "NB-ZERO")
def test_words() -> None:
    theta = [0.5, 0.25, 0.25, 0.0]
    assert [word_probability(j, theta) for j in range(4)] == theta
    assert document_log_likelihood([1, 2, 0, 0], theta) == 5 * log(0.5)
    assert document_log_likelihood([0, 0, 0, 0], theta) == 0
    assert document_log_likelihood([9, 9, 9, 1], theta) == -math.inf
    assert document_log_likelihood([100_000, 0, 0, 0], theta) == 100_000 * log(0.5)
    with pytest.raises(DimensionMismatch):
        document_log_likelihood([1], theta)


@pytest.mark.spec("NB-POISSON")
def test_lengths() -> None:
    for length in range(30):
        with mpmath.workdps(40):
            due = mpmath.exp(-7) * mpmath.mpf(7) ** length / mpmath.factorial(length)
        assert float(length_probability(length, 7.0)) == float(due)
    assert length_probability(0, 0.0) == 1
    for length, rate in ((-1, 1.0), (1, -1.0), (1, math.inf), (1, math.nan)):
        with pytest.raises(BadOption):
            length_probability(length, rate)


@pytest.mark.spec("NB-CDLL")
def test_likelihood_of_documents_and_classes() -> None:
    documents, labels = [[2, 0], [1, 1], [0, 4]], [0, 0, 1]
    ours = naive_bayes(documents, labels)
    parameters = ours.parameters
    assert parameters.probabilities == ((0.75, 0.25), (0.0, 1.0))
    two = (parameters.weights, parameters.probabilities)
    due = complete_log_likelihood(documents, labels, [1, 1, 1], two)
    # Sums of a few terms below 8 in doubles: 16u of less than 8.
    assert abs(ours.log_likelihood - float(due)) <= 128 * UNIT
    assert complete_log_likelihood([[1, 0]], [1], [1], two) == -math.inf
    with pytest.raises(LabelLengthMismatch):
        complete_log_likelihood(documents, [0], [1, 1, 1], two)


DOCUMENTS = [
    ["goal", "match", "goal", "team"],
    ["match", "win"],
    ["vote", "law", "vote"],
    ["law"],
    ["team", "vote", "law", "law", "law"],
]
TOPICS = ["sport", "sport", "politics", "politics", "politics"]


@pytest.mark.spec("NB-COUNT", "NB-SCORE", "NB-MEST1H", "NB-PI")
def test_counting_and_scoring_word_by_word() -> None:
    counts = token_counts(DOCUMENTS, TOPICS)
    assert counts.tokens == 15
    assert counts.classes == {"sport": 6, "politics": 9}
    assert counts.words["sport"] == {"goal": 2, "match": 2, "team": 1, "win": 1}
    scores = binary_scores(counts, ["goal", "law", "law"])
    due = {
        "sport": [Fraction(6, 15), Fraction(5, 14), Fraction(1, 14), Fraction(1, 14)],
        "politics": [Fraction(9, 15), Fraction(1, 20), Fraction(11, 20), Fraction(11, 20)],
    }
    for y, factors in due.items():
        whole = math.prod(factors)
        with mpmath.workdps(40):
            exact = mpmath.log(mpmath.mpf(whole.numerator) / whole.denominator, 2)
        assert float(scores[y]) == float(exact)

    # The same numbers from the classifier, in natural logarithms and with the words as columns.
    bags = [{w: words.count(w) for w in words} for words in DOCUMENTS]
    ours = naive_bayes(bags, TOPICS, prior="tokens", smoothing="half")
    found = predict(ours, [{"goal": 1, "law": 2}], full=True)
    for name, score in zip(found.classes, found.scores(0), strict=True):
        assert abs(score / math.log(2) - float(scores[name])) <= 100 * UNIT * 4
    assert found.labels == (max(scores, key=lambda y: scores[y]),) == ("politics",)


@pytest.mark.spec("NB-SCORE", "NB-ZERO")
def test_scores_without_smoothing_and_without_words() -> None:
    counts = token_counts([["a"], []], ["x", "y"])
    assert binary_scores(counts, ["a"], m=0)["x"] == 0
    assert binary_scores(counts, ["b"], m=0)["x"] == -math.inf
    assert binary_scores(counts, [])["y"] == -math.inf  # no word, so no share of the words
    with pytest.raises(EmptyInput):
        binary_scores(token_counts([[]], ["x"]), ["a"])
