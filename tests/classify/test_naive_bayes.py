"""Naive Bayes on small corpora whose estimates can be worked out by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from refclust.classify.naive_bayes import naive_bayes
from refclust.classify.predict import predict
from refclust.classify.results import Classifier
from refclust.data.accepting.door import dataset
from refclust.errors import (
    BadNumber,
    BadOption,
    DegenerateCovariance,
    DimensionMismatch,
    EmptyInput,
    EmptyLabel,
    FractionalCount,
    KOutOfRange,
    LabelLengthMismatch,
    NanLabel,
    NegativeCount,
    NotBinary,
    RefclustError,
)

UNIT = 2.0**-53

# A corpus of weather: words of four documents.
WEATHER = [
    {"rain": 2, "wind": 1},
    {"rain": 1},
    {"sun": 3, "wind": 1},
    {"sun": 1, "rain": 1, "calm": 2},
]
SKIES = ["grey", "grey", "blue", "blue"]


@pytest.mark.spec("NB-PI")
def test_two_priors() -> None:
    # One document of nine words in class A, nine documents of one word in class B.
    rows = [[9, 0], *[[0, 1]] * 9]
    labels = ["A", *["B"] * 9]
    assert naive_bayes(rows, labels).parameters.weights == (0.1, 0.9)
    assert naive_bayes(rows, labels, prior="tokens").parameters.weights == (0.5, 0.5)
    assert naive_bayes(rows, labels, prior="equal").parameters.weights == (0.5, 0.5)
    for given in ([0.25, 0.75], {"B": 0.75, "A": 0.25}, (Fraction(1, 4), Fraction(3, 4))):
        chosen = naive_bayes(rows, labels, prior=given)  # type: ignore[arg-type]
        assert chosen.parameters.weights == (0.25, 0.75)
        assert chosen.settings["prior"] == [0.25, 0.75]


@pytest.mark.spec("NB-THETA", "NB-MLECOUNT", "NB-CDLL")
def test_maximum_likelihood() -> None:
    ours = naive_bayes(WEATHER, SKIES)
    assert ours.features == ("calm", "rain", "sun", "wind")
    assert ours.classes == ("blue", "grey")
    assert ours.parameters.probabilities == ((0.25, 0.125, 0.5, 0.125), (0.0, 0.75, 0.0, 0.25))
    assert (ours.sizes, ours.weight, ours.n, ours.d) == ((2.0, 2.0), 4.0, 4, 4)
    assert ours.settings == {
        "smoothing": "mle",
        "m": 0.0,
        "p": None,
        "counts": "whole",
        "prior": "documents",
    }
    logs = [4 * math.log(0.5), 2 * math.log(0.25), math.log(0.125), 4 * math.log(0.5)]
    logs += [math.log(0.125), 3 * math.log(0.75), math.log(0.25)]
    assert abs(ours.log_likelihood - math.fsum(logs)) <= 8 * UNIT * abs(ours.log_likelihood)


@pytest.mark.spec("NB-MEST", "NB-MEST1H")
@pytest.mark.parametrize(
    ("options", "m", "p"),
    [
        ({"smoothing": "mle"}, 0, Fraction(1, 4)),
        ({"smoothing": "laplace"}, 4, Fraction(1, 4)),
        ({"smoothing": "half"}, 1, Fraction(1, 2)),
        ({"smoothing": "m-estimate", "m": 3}, 3, Fraction(1, 4)),
        ({"m": 2.5, "p": 0.125}, Fraction(5, 2), Fraction(1, 8)),
        ({"m": 1, "p": Fraction(1, 8)}, 1, Fraction(1, 8)),
        ({"m": 2, "p": [0.25] * 4}, 2, Fraction(1, 4)),
    ],
)
def test_smoothing(options: dict[str, Any], m: Fraction, p: Fraction) -> None:
    ours = naive_bayes(WEATHER, SKIES, **options)
    counts = ((2, 1, 4, 1), (0, 3, 0, 1))
    for row, found in zip(counts, ours.parameters.probabilities, strict=True):
        # All products and sums here are exact, so there is one rounding.
        assert found == tuple(float((x + m * p) / (sum(row) + m)) for x in row)


@pytest.mark.spec("NB-MEST1H")
def test_half_is_no_distribution_over_more_than_two_words() -> None:
    ours = naive_bayes(WEATHER, SKIES, smoothing="half")
    # (c + V/2) / (c + 1), with c = 8 and 4 words and V = 4.
    for theta, c in zip(ours.parameters.probabilities, (8, 4), strict=True):
        assert abs(math.fsum(theta) - (c + 2) / (c + 1)) <= 8 * UNIT
    two = naive_bayes([[3, 1], [0, 2]], "ab", smoothing="half")
    for theta in two.parameters.probabilities:
        assert abs(math.fsum(theta) - 1) <= 4 * UNIT


@pytest.mark.spec("NB-THETA")
def test_class_without_words() -> None:
    ours = naive_bayes([[0, 0], [1, 3]], ["empty", "full"])
    assert ours.parameters.probabilities == ((0.5, 0.5), (0.25, 0.75))
    # It has no share of the words: its prior is 0, and so is the probability of its documents.
    words = naive_bayes([[0, 0], [1, 3]], ["empty", "full"], prior="tokens")
    assert words.parameters.weights == (0.0, 1.0)
    assert words.log_likelihood == -math.inf
    assert predict(words, [[0, 0]]).labels == ("full",)


@pytest.mark.spec("BNB", "BMIX-THETA")
def test_presences() -> None:
    rows = [[1, 0, 1], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
    ours = naive_bayes(rows, "aabb", kind="bernoulli")
    assert ours.parameters.probabilities == ((1.0, 0.0, 0.5), (0.5, 1.0, 0.0))
    laplace = naive_bayes(rows, "aabb", kind="bernoulli", smoothing="laplace")
    assert laplace.parameters.probabilities == ((0.75, 0.25, 0.5), (0.5, 0.75, 0.25))
    assert laplace.settings["m"] == 2.0
    found = predict(laplace, [[0, 0, 0]], full=True)
    # Absence counts: 1/2 (1/4 3/4 1/2) against 1/2 (1/2 1/4 3/4).
    assert abs(found.responsibilities(0)[0] - 0.5) <= 16 * UNIT
    only = predict(laplace, [[1, 0, 1]], full=True)
    # 3/4 3/4 1/2 = 9/32 against 1/2 1/4 1/4 = 1/32.
    assert abs(only.responsibilities(0)[0] - 0.9) <= 32 * UNIT


@pytest.mark.spec("GNB")
def test_numbers() -> None:
    ours = naive_bayes([[0, 1], [2, 5], [7, 1], [9, 3]], "aabb", kind="gaussian")
    assert ours.kind == "gaussian"
    assert ours.parameters.means == ((1.0, 3.0), (8.0, 2.0))
    assert ours.parameters.spreads == ((1.0, 4.0), (1.0, 1.0))
    assert ours.settings == {"covariance": "VVI", "floor": 0.0, "prior": "documents"}
    due = 4 * (math.log(0.5) - math.log(2 * math.pi) - 1) - 2 * math.log(2)
    assert abs(ours.log_likelihood - due) <= 16 * UNIT * abs(due)


@pytest.mark.spec("NB-PI", "NB-THETA", "GNB")
def test_weights_count_as_copies() -> None:
    once = naive_bayes([[2, 1], [0, 3], [1, 1]], "aba", weights=[2, 1, 0])
    copied = naive_bayes([[2, 1], [2, 1], [0, 3]], "aab")
    assert once.parameters == copied.parameters
    assert once.sizes == (2.0, 1.0)
    line = naive_bayes([[0], [3], [5], [9]], "aabb", kind="gaussian", weights=[1, 2, 1, 1])
    assert line.parameters.means[0] == (2.0,)
    assert line.parameters.spreads[0] == (2.0,)


@pytest.mark.spec("MMIX-COUNTS")
def test_fractions_only_if_chosen() -> None:
    with pytest.raises(FractionalCount, match="row 0, column 0 is 1"):
        naive_bayes([[1.5, 0], [0, 1]], "ab")
    chosen = naive_bayes([[1.5, 0.5], [0, 1]], "ab", counts="fractional")
    assert chosen.parameters.probabilities[0] == (0.75, 0.25)


@pytest.mark.spec("QDA-PARAM")
def test_labels_may_come_with_the_rows() -> None:
    rows = dataset([[1, 0], [0, 1]], labels=[True, False])
    assert naive_bayes(rows).classes == (False, True)
    assert naive_bayes(rows, ["x", "y"]).classes == ("x", "y")


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        ({"labels": None}, BadOption, "no labels"),
        ({"labels": "abc"}, LabelLengthMismatch, "3 labels for 2 rows"),
        ({"labels": "aa"}, KOutOfRange, "all rows are of class 'a'"),
        ({"labels": ["a", None]}, EmptyLabel, "row 1 has no label"),
        ({"labels": ["a", math.nan]}, NanLabel, "row 1"),
        ({"labels": ["a", 1]}, BadOption, "order"),
        ({"weights": [1, 0]}, BadOption, "class 'b' have weight 0"),
        ({"weights": [1]}, LabelLengthMismatch, "weights"),
        ({"kind": "poisson"}, BadOption, "bernoulli"),
        ({"smoothing": "add-one"}, BadOption, "laplace"),
        ({"smoothing": "half", "m": 1}, BadOption, "its own m"),
        ({"smoothing": "m-estimate"}, BadOption, "needs m"),
        ({"p": 0.5}, BadOption, "needs m"),
        ({"m": -1}, BadOption, "m is -1"),
        ({"m": math.inf}, BadOption, "m is inf"),
        ({"m": 1, "p": 2}, BadOption, "below 0 or above 1"),
        ({"m": 1, "p": [0.5]}, DimensionMismatch, "1 numbers, the rows 2"),
        ({"m": 1, "p": True}, BadNumber, "truth value"),
        ({"prior": "words"}, BadOption, "documents, tokens, equal"),
        ({"prior": [0.5, 0.6]}, BadOption, "add up to 1"),
        ({"prior": [1.5, -0.5]}, BadOption, "at least"),
        ({"prior": [1]}, DimensionMismatch, "1 numbers for 2 classes"),
        ({"prior": {"a": 1}}, BadOption, r"due are \['a', 'b'\]"),
        ({"prior": 0.5}, BadOption, "the prior is 0.5"),
        ({"floor": 1.0}, BadOption, "gaussian"),
        ({"counts": "half"}, BadOption, "fractional"),
        ({"kind": "gaussian", "m": 1}, BadOption, "floor"),
        ({"kind": "gaussian", "prior": "tokens"}, BadOption, "documents, equal"),
        ({"kind": "gaussian", "floor": -1}, BadOption, "the floor is -1"),
        ({"kind": "gaussian"}, DegenerateCovariance, r"class 'a' \(1 row\)"),
        ({"data": [[1, 2], [0, 1]], "kind": "bernoulli"}, NotBinary, "row 0, column 1 is 2.0"),
        ({"data": [[1, 2], [-1, 1]]}, NegativeCount, "row 1, column 0"),
        ({"data": [[0, 0], [0, 0]], "prior": "tokens"}, EmptyInput, "no document has a word"),
    ],
)
def test_mistakes(call: dict[str, Any], error: type[RefclustError], told: str) -> None:
    options = {"data": [[1, 0], [0, 1]], "labels": "ab", **call}
    with pytest.raises(error, match=told):
        naive_bayes(**options)


def test_result_is_frozen_and_knows_its_data() -> None:
    ours = naive_bayes([[1, 0], [0, 1]], "ab")
    assert isinstance(ours, Classifier)
    assert ours.digest == dataset([[1, 0], [0, 1]]).digest()
    assert ours.family == "multinomial"
    assert [run.kernel for run in ours.provenance.kernels] == [
        "multinomial.logs",
        "multinomial.m_step",
        "multinomial.moments",
    ]
    with pytest.raises(AttributeError):
        ours.n = 3  # type: ignore[misc]
