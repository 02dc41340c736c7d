"""Classifiers: what holds for all data, checked on small random ones."""

from __future__ import annotations

import math
from array import array
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from refclust.backends.session import Session
from refclust.classify.discriminants import discriminant, lda, linear_form, nearest_gaussian, qda
from refclust.classify.naive_bayes import naive_bayes
from refclust.classify.predict import predict
from refclust.data.accepting.door import dataset
from refclust.errors import DegenerateCovariance
from refclust.fitting.rows import Rows
from refclust.formulas.gaussian import density
from refclust.formulas.multinomial import (
    binary_scores,
    document_log_likelihood,
    posteriors,
    probability,
    token_counts,
)
from refclust.kernels.mixtures.words import CountModel, m_estimate
from refclust.mixture.families.counts.words import CountFamily
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.mixture.families.gaussian.steps import GaussianFamily
from refclust.mixture.passes import CountPasses, GaussianPasses
from refclust.numbers.linalg import exact_inverse
from refclust.numbers.real import log as log_of

UNIT = 2.0**-53
Labelled = tuple[list[list[int]], list[int]]


@st.composite
def corpora(draw: st.DrawFn, most: int = 4) -> Labelled:
    """Documents of counts with two or three classes, all of them there."""
    k, d = draw(st.integers(2, 3)), draw(st.integers(1, 4))
    labels = [*range(k), *draw(st.lists(st.integers(0, k - 1), max_size=6))]
    row = st.lists(st.integers(0, most), min_size=d, max_size=d)
    return [draw(row) for _ in labels], labels


@st.composite
def clouds(draw: st.DrawFn) -> Labelled:
    """Rows of small integers in two columns, two classes of three rows or more."""
    labels = [0, 0, 0, 1, 1, 1, *draw(st.lists(st.integers(0, 1), max_size=4))]
    row = st.lists(st.integers(-8, 8), min_size=2, max_size=2)
    return [draw(row) for _ in labels], labels


@pytest.mark.spec("PROP-NB-6", "MMIX-HARD", "PROP-CLASS-1", "NB-THETA", "BNB")
@settings(max_examples=60, deadline=None)
@given(
    corpora(most=1), st.sampled_from([0.0, 1.0, 2.5]), st.sampled_from(["multinomial", "bernoulli"])
)
def test_naive_bayes_is_the_m_step_with_labels(data: Labelled, m: float, kind: CountModel) -> None:
    rows, labels = data
    k = max(labels) + 1
    passes = CountPasses(Rows(dataset(rows), Session("reference")), k)
    family = CountFamily(passes, kind, m)
    one_hot = array("d", (float(label == c) for label in labels for c in range(k)))
    ours = naive_bayes(rows, labels, kind=kind, m=m, backend="reference")
    for q in (array("i", labels), one_hot):
        moments = family.moments(q, k)
        found = family.following(moments, None).point.parameters
        assert found.weights == ours.parameters.weights
        assert tuple(map(tuple, found.probabilities)) == tuple(ours.parameters.probabilities)
        assert family.started(moments, smooth=False) == ours.parameters


@pytest.mark.spec("PROP-CLASS-1", "QDA-PARAM", "LDA-POOL", "GNB")
@settings(max_examples=60, deadline=None)
@given(clouds(), st.sampled_from(["VVV", "EEE", "VVI", "VII"]), st.sampled_from([0.0, 0.25]))
def test_discriminants_are_the_m_step_with_labels(data: Labelled, model: str, floor: float) -> None:
    rows, labels = data
    try:
        ours = qda(rows, labels, covariance=model, floor=floor, backend="reference")
    except DegenerateCovariance:
        assume(False)
    family = GaussianFamily(
        GaussianPasses(Rows(dataset(rows), Session("reference")), 2), model, floor
    )
    one_hot = array("d", (float(label == c) for label in labels for c in range(2)))
    for q in (array("i", labels), one_hot):
        assert family.maximised(family.moments(q, 2), None) == ours.parameters
    if model == "VVI":
        twin = naive_bayes(rows, labels, kind="gaussian", floor=floor, backend="reference")
        assert twin.parameters == ours.parameters
    if model == "EEE":
        assert lda(rows, labels, floor=floor, backend="reference").parameters == ours.parameters


@pytest.mark.spec("PROP-NB-1", "NB-ZERO", "NB-MEST")
@settings(max_examples=60, deadline=None)
@given(corpora(), st.floats(2.0**-20, 2.0**20))
def test_smoothing_keeps_every_word_possible(data: Labelled, m: float) -> None:
    rows, labels = data
    document = [1] * len(rows[0])
    smooth = naive_bayes(rows, labels, m=m).parameters
    literal = naive_bayes(rows, labels).parameters
    for k in range(max(labels) + 1):
        own = [
            sum(column)
            for column in zip(
                *(r for r, y in zip(rows, labels, strict=True) if y == k), strict=True
            )
        ]
        assert document_log_likelihood(document, smooth.probabilities[k]) != -math.inf
        unseen = any(own) and 0 in own
        found = document_log_likelihood(document, literal.probabilities[k])
        assert (found == -math.inf) == unseen


@pytest.mark.spec("PROP-NB-2", "NB-MEST")
@given(
    st.integers(0, 50),
    st.integers(0, 50),
    st.fractions(0, 1, max_denominator=16),
    st.just(0.0) | st.floats(2.0**-20, 2.0**20),
)
def test_ends_of_the_m_estimate(count: int, more: int, p: Fraction, m: float) -> None:
    total, share = count + more, float(p)
    if total:
        literal = count / total
        assert m_estimate(count, total, 0.0, share) == literal
        # |estimate - count/total| = m |p - count/total| / (total + m), and likewise from p.
        assert abs(m_estimate(count, total, m, share) - literal) <= m / (total + m) + 8 * UNIT
        far = m_estimate(count, total, 2.0**60, share)
        assert abs(far - share) <= total / 2.0**60 + 8 * UNIT
    assert m_estimate(0, 0, m, share) == pytest.approx(share, rel=4 * UNIT, abs=0.0)


@pytest.mark.spec("PROP-NB-3", "NB-LIK", "NB-SCORE")
@settings(max_examples=60, deadline=None)
@given(corpora())
def test_only_words_that_are_there_count(data: Labelled) -> None:
    rows, labels = data
    wider = [[*row, 0] for row in rows]
    # m p_j is the same for the old words, and m too: their probabilities do not change.
    d = len(rows[0])
    one = naive_bayes(rows, labels, m=1.0, p=[0.25] * d)
    two = naive_bayes(wider, labels, m=1.0, p=[0.25] * (d + 1))
    first, second = predict(one, rows, full=True), predict(two, wider, full=True)
    for i in range(len(rows)):
        assert first.scores(i) == second.scores(i)


@pytest.mark.spec("PROP-NB-4", "BAYES-MAP", "NB-PRED", "BAYES-RULE")
@settings(max_examples=60, deadline=None)
@given(corpora())
def test_the_evidence_drops_out(data: Labelled) -> None:
    rows, labels = data
    ours = naive_bayes(rows, labels, smoothing="laplace")
    found = predict(ours, rows, full=True)
    for i, row in enumerate(rows):
        joint, shares = found.scores(i), found.responsibilities(i)
        assert found.labels[i] == joint.index(max(joint))
        # Shares of nearly equal scores may be rounded to the same number, never the other way.
        assert shares[found.found.labels[i]] == max(shares)
        assert abs(math.fsum(shares) - 1.0) <= 8 * UNIT
        likelihoods = [probability(row, t) for t in ours.parameters.probabilities]
        due = posteriors(ours.parameters.weights, likelihoods)
        # Scores are below 100 in size, sums of at most 5 terms: they err by less than 1000u.
        assert all(abs(a - float(b)) <= 1000 * UNIT for a, b in zip(shares, due, strict=True))


@pytest.mark.spec("PROP-NB-5", "NB-SCORE")
@settings(max_examples=60, deadline=None)
@given(corpora(), st.data())
def test_no_word_raises_a_score(data: Labelled, choice: st.DataObject) -> None:
    rows, labels = data
    ours = naive_bayes(rows, labels, smoothing="laplace")
    row = rows[0]
    longer = list(row)
    longer[choice.draw(st.integers(0, len(row) - 1))] += 1
    found = predict(ours, [row, longer], full=True)
    for before, after in zip(found.scores(0), found.scores(1), strict=True):
        assert after <= before


@pytest.mark.spec("NB-COUNT", "NB-SCORE", "NB-MEST1H", "NB-PI")
@settings(max_examples=60, deadline=None)
@given(corpora())
def test_scores_word_by_word_are_the_scores_from_sums(data: Labelled) -> None:
    rows, labels = data
    assume(any(map(any, rows)))
    documents = [[j for j, x in enumerate(row) for _ in range(x)] for row in rows]
    counts = token_counts(documents, labels)
    ours = naive_bayes(rows, labels, prior="tokens", smoothing="half")
    assert counts.tokens == sum(map(sum, rows))
    assert [counts.classes[k] / counts.tokens for k in ours.classes] == list(
        ours.parameters.weights
    )
    found = predict(ours, rows, impossible="prior", full=True)
    for i, words in enumerate(documents):
        told = binary_scores(counts, words)
        for k, score in enumerate(found.scores(i)):
            other = float(told[k])
            if other == -math.inf:
                assert score == -math.inf
            else:
                # At most 17 logarithms below 8, each within 4u of itself and 4u, and their sum.
                assert abs(score - other * math.log(2)) <= 17 * 40 * UNIT + 20 * UNIT * abs(score)


@pytest.mark.spec("PROP-QDA-1", "QDA-MAP", "QDA-DISC", "GAU-PDF")
@settings(max_examples=60, deadline=None)
@given(clouds(), st.lists(st.integers(-12, 12), min_size=2, max_size=2))
def test_posterior_joint_and_discriminant_choose_alike(data: Labelled, x: list[int]) -> None:
    rows, labels = data
    try:
        ours = qda(rows, labels)
    except DegenerateCovariance:
        assume(False)
    parameters = ours.parameters
    found = predict(ours, [x], full=True)
    joint, shares = found.scores(0), found.responsibilities(0)
    assert found.labels == (joint.index(max(joint)),)
    assert shares[found.found.labels[0]] == max(shares)
    for k in range(2):
        weight, mean = parameters.weights[k], parameters.means[k]
        covariance = parameters.covariances[k]
        delta = discriminant(x, weight, mean, covariance)
        log = float(log_of(density(x, mean, covariance)))
        # Kernel and formula use the same factor W; sums of at most two products and squares. With
        # A the square of |W||x - m|, at most 2 / (1 - r^2) times the square itself for two columns
        # of correlation r, both err by less than 16u A.
        variance = covariance[0][0] * covariance[1][1]
        slack = variance / (variance - covariance[0][1] ** 2)
        bound = 64 * UNIT * (1 + abs(delta) + abs(math.log(weight)) + 20) * slack**2
        assert abs(joint[k] - (delta - math.log(2 * math.pi))) <= bound
        assert abs(joint[k] - (math.log(weight) + log)) <= bound


@pytest.mark.spec("LDA-LIN", "LDA-POOL")
@settings(max_examples=60, deadline=None)
@given(clouds(), st.lists(st.integers(-12, 12), min_size=2, max_size=2))
def test_pooled_discriminants_are_linear(data: Labelled, x: list[int]) -> None:
    rows, labels = data
    try:
        parameters = lda(rows, labels).parameters
    except DegenerateCovariance:
        assume(False)
    form = linear_form(parameters)
    covariance = parameters.covariances[0]
    one, other = (
        discriminant(x, w, m, covariance)
        for w, m in zip(parameters.weights, parameters.means, strict=True)
    )
    first, second = form.values(x)
    # Terms are below |W|^2 (|x| + |m|)^2, with |W|^2 at most the trace of the inverse and the norms
    # of points below 30; some 20 operations, and the inverse errs like W, by its condition.
    variance = covariance[0][0] * covariance[1][1]
    determinant = variance - covariance[0][1] ** 2
    inverse = (covariance[0][0] + covariance[1][1]) / determinant
    slack = variance / determinant
    bound = 40 * UNIT * (30**2 * inverse * slack + 8)
    assert abs((one - other) - (first - second)) <= bound


@pytest.mark.spec("NG-ASSIGN")
@settings(max_examples=60, deadline=None)
@given(clouds())
def test_nearest_gaussian_is_the_largest_density(data: Labelled) -> None:
    rows, labels = data
    try:
        ours = nearest_gaussian(rows, labels)
    except DegenerateCovariance:
        assume(False)
    same = qda(rows, labels, prior="equal")
    assert ours.parameters == same.parameters
    assert predict(ours, rows).labels == predict(same, rows).labels


@pytest.mark.spec("NB-CDLL", "NB-PI", "NB-THETA")
@settings(max_examples=60, deadline=None)
@given(corpora(), st.data())
def test_estimates_are_the_most_likely(data: Labelled, choice: st.DataObject) -> None:
    rows, labels = data
    ours = naive_bayes(rows, labels)
    k = max(labels) + 1
    raw = [choice.draw(st.integers(1, 9)) for _ in range(k)]
    other = naive_bayes(rows, labels, prior=[x / sum(raw) for x in raw])
    smooth = naive_bayes(rows, labels, m=choice.draw(st.floats(0.0, 8.0)))
    # Each likelihood errs by less than 64u of its size: sums of at most 16 terms.
    slack = 64 * UNIT * (1 + abs(ours.log_likelihood))
    assert other.log_likelihood <= ours.log_likelihood + slack
    assert smooth.log_likelihood <= ours.log_likelihood + slack


def exact_squares(parameters: GaussianParameters, x: list[int]) -> list[Fraction]:
    """D^2 of a point from every class, exactly, under the covariance of the first."""
    inverse = exact_inverse(tuple(tuple(map(Fraction, row)) for row in parameters.covariances[0]))
    squares = []
    for mean in parameters.means:
        away = [xi - Fraction(m) for xi, m in zip(x, mean, strict=True)]
        squares.append(
            sum(
                (a * inverse[i][j] * b for i, a in enumerate(away) for j, b in enumerate(away)),
                Fraction(0),
            )
        )
    return squares


@pytest.mark.spec("LDA-POOL", "BL-LDISC")
@settings(max_examples=60, deadline=None)
@given(clouds(), st.sampled_from([Fraction(1, 4), Fraction(4), None]))
def test_a_divisor_changes_posteriors_and_with_equal_priors_no_labels(
    data: Labelled, factor: Fraction | None
) -> None:
    """The log odds are those of D^2 / s: nearer stays nearer, and surer where s is smaller.

    Scores of up to a million in doubles err by less than 2**-30 of a unit, so labels are asked
    where squares differ by more than 2**-20 of the larger.
    """
    rows, labels = data
    n, k = len(rows), 2
    s = float(factor or Fraction(n, n - k))  # None: the unbiased divisor
    try:
        plain = lda(rows, labels, prior="equal")
        inverse = exact_inverse(
            tuple(tuple(map(Fraction, row)) for row in plain.parameters.covariances[0])
        )
    except DegenerateCovariance:
        assume(False)
    assume(max(abs(x) for row in inverse for x in row) < 100)
    spreads = tuple(tuple(s * x for x in spread) for spread in plain.parameters.spreads)
    scaled = replace(plain, parameters=replace(plain.parameters, spreads=spreads))
    grid = [[x, y] for x in range(-9, 10, 6) for y in range(-9, 10, 6)]
    one, other = predict(plain, grid, full=True), predict(scaled, grid, full=True)
    for i, x in enumerate(grid):
        first, second = exact_squares(plain.parameters, x)
        if abs(first - second) <= max(first, second) / 2**20:
            continue
        assert one.labels[i] == other.labels[i] == plain.classes[int(second < first)]
        shares = [found.responsibilities(i) for found in (one, other)]
        odds = [math.log(p) - math.log(q) for p, q in shares if p and q]
        if len(odds) == 2:
            due = float(second - first) / 2.0
            assert odds[0] == pytest.approx(due, rel=2.0**-20, abs=2.0**-30)
            assert odds[1] == pytest.approx(due / s, rel=2.0**-20, abs=2.0**-30)
            if abs(due) > 2.0**-10:
                assert abs(odds[0] - odds[1]) > 2.0**-15  # the posteriors are others


@pytest.mark.spec("LDA-POOL")
def test_with_other_priors_a_divisor_changes_labels() -> None:
    """Means 0 and 2, pooled variance 1, priors 3/4 and 1/4: the border is at 1 + s log(3) / 2."""
    rows, labels = [[-1], [1], [-1], [1], [-1], [1], [1], [3]], "aaaaaabb"
    plain = lda(rows, labels)
    assert plain.parameters.spreads == ((1.0,), (1.0,))
    assert plain.parameters.means == ((0.0,), (2.0,))
    wide = replace(plain, parameters=replace(plain.parameters, spreads=((2.0,), (2.0,))))
    borders = 1 + math.log(3) / 2, 1 + math.log(3)
    for model, border in zip((plain, wide), borders, strict=True):
        assert predict(model, [[border - 2**-9], [border + 2**-9]]).labels == ("a", "b")


@pytest.mark.spec("BL-LDISC")
@settings(max_examples=40, deadline=None)
@given(clouds())
def test_three_ways_to_the_nearest_gaussian(data: Labelled) -> None:
    """Labels are those of the discriminant with the covariances and priors that each has."""
    rows, labels = data
    ways: list[tuple[Any, dict[str, Any]]] = [(lda, {}), (qda, {}), (nearest_gaussian, {})]
    for train, options in [*ways, (lda, {"prior": "equal"})]:
        try:
            model = train(rows, labels, **options)
        except DegenerateCovariance:
            continue
        own = model.parameters
        for x, label in zip(rows, predict(model, rows).labels, strict=True):
            scores = [
                discriminant(x, weight, mean, covariance)
                for weight, mean, covariance in zip(
                    own.weights, own.means, own.covariances, strict=True
                )
            ]
            size = 1 + max(map(abs, scores))
            if abs(scores[0] - scores[1]) > 2.0**-20 * size:
                assert label == model.classes[scores.index(max(scores))]
        pooled = own.covariances[0] == own.covariances[1]
        assert pooled or train is not lda
        if train is nearest_gaussian:
            assert own.weights == (0.5, 0.5)
