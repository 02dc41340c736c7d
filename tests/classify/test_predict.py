"""Classes of new rows: ties, unknown words, rows that no class can have made."""

from __future__ import annotations

import math

import pytest

from refclust.backends.session import Session
from refclust.classify.discriminants import qda
from refclust.classify.naive_bayes import naive_bayes
from refclust.classify.predict import predict
from refclust.errors import BadOption, FeatureMismatch, ImpossibleRow, NegativeCount

UNIT = 2.0**-53
MAIL = naive_bayes([{"cat": 3, "dog": 1}, {"dog": 4}], ["ham", "spam"])


@pytest.mark.spec("NB-PRED", "NB-SCORE", "EM-PRED")
def test_everything_that_is_said_of_a_row() -> None:
    found = predict(MAIL, [{"dog": 1}, {"cat": 1}], full=True)
    assert found.labels == ("spam", "ham")
    assert found.classes == ("ham", "spam")
    assert found.scores(0) == (math.log(0.5) + math.log(0.25), math.log(0.5))
    assert found.scores(1)[1] == -math.inf
    # The shares are 1/5 and 4/5: exp and log of numbers below 4 err by less than 16u.
    assert abs(found.responsibilities(0)[0] - 0.2) <= 16 * UNIT
    assert found.responsibilities(1) == (1.0, 0.0)
    due = -0.2 * math.log(0.2) - 0.8 * math.log(0.8)
    assert abs(found.entropy(0) - due) <= 16 * UNIT
    assert found.entropy(1) == 0.0
    assert abs(found.found.log_likelihoods[0] - math.log(0.625)) <= 8 * UNIT
    assert found.found.unseen == 0
    assert [run.kernel for run in found.found.provenance.kernels] == [
        "multinomial.logs",
        "multinomial.posterior",
    ]


@pytest.mark.spec("NB-PRED", "QDA-MAP")
def test_first_of_equals() -> None:
    words = naive_bayes([[2, 1], [1, 2]], ["b", "a"])
    assert predict(words, [[1, 1], [0, 0]]).labels == ("a", "a")
    line = qda([[-2], [0], [2], [4]], [1, 1, 0, 0])
    assert predict(line, [[1.0]], full=True).responsibilities(0) == (0.5, 0.5)
    assert predict(line, [[1.0]]).labels == (0,)


@pytest.mark.spec("MMIX-UNSEEN", "MMIX-COUNTS")
def test_unknown_words_are_left_out_and_counted() -> None:
    found = predict(MAIL, [{"dog": 1, "cow": 7}, {"owl": 1}, {}], full=True)
    assert found.found.unseen == 2
    assert found.labels[0] == "spam"
    assert found.responsibilities(1) == found.responsibilities(2) == MAIL.parameters.weights


@pytest.mark.spec("NB-ZERO", "MMIX-IMPOSSIBLE")
def test_rows_that_no_class_can_have_made() -> None:
    odd = naive_bayes([[9, 0, 1], [9, 0, 1], [0, 5, 0]], ["a", "a", "b"])
    rows = [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
    with pytest.raises(ImpossibleRow, match=r"row 1 .* 2 of 3 .*laplace"):
        predict(odd, rows)
    found = predict(odd, rows, impossible="prior", full=True)
    assert found.labels == ("a", "a", "a")
    assert found.found.log_likelihoods[1] == -math.inf
    assert found.responsibilities(1) == odd.parameters.weights
    due = -math.log(2 / 3) * 2 / 3 - math.log(1 / 3) / 3
    assert abs(found.entropy(2) - due) <= 8 * UNIT
    smooth = naive_bayes([[9, 0, 1], [9, 0, 1], [0, 5, 0]], ["a", "a", "b"], smoothing="laplace")
    # 2/3 (19/23)(1/23) against 1/3 (1/8)(6/8) for the second row.
    assert predict(smooth, rows).labels == ("a", "b", "b")


@pytest.mark.spec("QDA-MAP")
def test_numbers_beyond_all_measure() -> None:
    line = qda([[0], [2], [5], [9]], "aabb")
    with pytest.raises(ImpossibleRow, match="too far from every class"):
        predict(line, [[1e200]])
    assert predict(line, [[1e200]], impossible="prior").labels == ("a",)
    # A density of exp(-10^9) is none that a double can hold, but its logarithm is.
    assert predict(line, [[1e5]], full=True).responsibilities(0) == (0.0, 1.0)


@pytest.mark.spec("NB-LIK")
def test_a_long_document_does_not_underflow() -> None:
    found = predict(MAIL, [{"dog": 10**6}], full=True)
    assert found.scores(0)[0] == math.log(0.5) + 10**6 * math.log(0.25)
    assert found.responsibilities(0) == (0.0, 1.0)


@pytest.mark.spec("DATA-ALIGN")
def test_features_are_matched_by_name() -> None:
    assert predict(MAIL, [{"dog": 1}]).labels == ("spam",)
    line = qda([[0], [2], [5], [9]], "aabb")
    with pytest.raises(FeatureMismatch):
        predict(line, [[1, 2]])


def test_session_is_used_and_densities_only_on_request() -> None:
    session = Session("reference")
    found = predict(MAIL, [{"dog": 1}], session=session)
    assert session.provenance().kernels[0].calls == 1
    assert found.found.joint is None
    with pytest.raises(BadOption, match="full=True"):
        found.responsibilities(0)


def test_mistakes() -> None:
    with pytest.raises(BadOption, match="error, prior"):
        predict(MAIL, [{"dog": 1}], impossible="guess")  # type: ignore[arg-type]
    with pytest.raises(NegativeCount):
        predict(MAIL, [{"dog": -1}])
