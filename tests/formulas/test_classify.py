"""Chapter 33 of the formula room: by hand, its golden cases, and what is held to it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from refclust.classify import discriminants
from refclust.classify.naive_bayes import naive_bayes
from refclust.classify.predict import predict
from refclust.errors import BadOption, DegenerateCovariance, KOutOfRange, NotBinary
from refclust.formulas import classify, mixtures
from refclust.formulas.vectors import determinant, exact, total
from refclust.numbers.real import Real, log
from tests.formulas.golden_mixtures import distance, normal
from tests.formulas.small import U, cases, exact_only, few, missed, near

ROWS = [[0, 0], [2, 0], [0, 2], [2, 2], [6, 0], [6, 4]]
CLASSES = [0, 0, 0, 0, 1, 1]
ONES = [1] * 6
BORDER = 2.0**-20


# By hand.


@pytest.mark.spec("QDA-PARAM", "LDA-POOL")
def test_estimates_by_hand() -> None:
    (first, mu, sigma), (second, other, flat) = classify.estimates(ROWS, CLASSES, ONES)
    assert (first, second) == (Fraction(2, 3), Fraction(1, 3))
    assert (mu, other) == ((1, 1), (6, 2))
    assert sigma == ((1, 0), (0, 1))
    assert flat == ((0, 0), (0, 4))
    assert classify.pooled(ROWS, CLASSES, ONES) == ((Fraction(2, 3), 0), (0, 2))
    # Weights are copies.
    weighted = classify.estimates([*ROWS, [9, 9]], [*CLASSES, 1], [*ONES, 0])
    assert weighted == classify.estimates(ROWS, CLASSES, ONES)
    twice = classify.estimates([*ROWS, ROWS[1]], [*CLASSES, 0], [*ONES, 1])
    assert twice == classify.estimates(ROWS, CLASSES, [1, 2, 1, 1, 1, 1])
    slanted = classify.estimates([[0, 0], [2, 4], [1, 1], [1, 1]], [0, 0, 1, 1], [1] * 4)
    assert slanted[0][2] == ((1, 2), (2, 4))
    with pytest.raises(KOutOfRange):
        classify.estimates(ROWS, [0] * 6, ONES)
    with pytest.raises(BadOption):
        classify.estimates(ROWS, CLASSES, [1, 1, 1, 1, 0, 0])


@pytest.mark.spec("QDA-DISC", "LDA-LIN", "QDA-MAP", "NG-ASSIGN")
def test_discriminants_by_hand() -> None:
    sigma = [[4, 2], [2, 5]]  # determinant 16
    found = classify.discriminant([3, 4], 0.25, [1, 1], sigma, distance)
    assert found == -2 * log(4) - 1
    assert classify.discriminant([3, 4], 0, [1, 1], sigma, distance) == -math.inf
    slopes, offset = classify.linear_form(0.25, [8, 12], sigma)
    assert list(slopes) == [1, 2]
    assert offset == -log(4) - 16
    for flat in ([[1, 1], [1, 1]], [[-1, 0], [0, 1]]):
        with pytest.raises(DegenerateCovariance):
            classify.discriminant([3, 4], 1, [1, 1], flat, distance)
        with pytest.raises(DegenerateCovariance):
            classify.linear_form(1, [1, 1], flat)
    # The row comes first, then the mean.
    lopsided = classify.discriminant([3, 4], 1, [1, 1], sigma, lambda x, mu, _: exact(x[0] - mu[1]))
    assert lopsided == -log(4) - 1
    pair = [(0.5, [1], [[1]]), (0.5, [2], [[1]])]
    assert classify.most_probable([5], pair, lambda x, mu, _: exact(9 * x[0] - mu[0])) == 0
    narrow, wide = (0.5, [0], [[1]]), (0.5, [4], [[16]])
    # Nearer by D2 to the wide one, but more likely under the narrow one.
    assert distance([1.5], [0], [[1]]) > distance([1.5], [4], [[16]])
    assert classify.nearest_gaussian([1.5], [narrow, wide], normal) == 0
    assert classify.nearest_gaussian([-9], [narrow, wide], normal) == 1
    assert classify.nearest_gaussian([0], [narrow, narrow], normal) == 0
    # The prior decides for the one, and does not count for the other.
    uneven = [(0.1, [0], [[1]]), (0.9, [2], [[1]])]
    assert classify.most_probable([0.5], uneven, normal) == 1
    assert classify.nearest_gaussian([0.5], uneven, normal) == 0
    assert classify.most_probable([1], [(0.5, [0], [[1]]), (0.5, [2], [[1]])], normal) == 0


@pytest.mark.spec("GNB", "BNB")
def test_naive_bayes_by_hand() -> None:
    rows, w = [[0, 0], [2, 4], [2, 4]], [1, 0.5, 0.5]
    found = classify.gaussian_naive_bayes([3, 0], 0.25, rows, w, normal)
    # Means 1 and 2, variances 1 and 4.
    due = normal([3, 0], [1, 2], [[1, 0], [0, 4]])
    assert float(found) == float(log(due) + log(0.25))
    assert classify.gaussian_naive_bayes([3, 0], 0, rows, w, normal) == -math.inf
    with pytest.raises(DegenerateCovariance, match="column 1"):
        classify.gaussian_naive_bayes([3, 0], 0.25, [[0, 1], [2, 1]], [1, 1], normal)
    there = [[1, 0], [1, 1]]
    # (2 + 1) / 5 and (1 + 1) / 5 with weights 2 and 1, m = 2.
    score = classify.bernoulli_naive_bayes([1, 0], 0.5, there, [2, 1], 2, [0.5, 0.5])
    assert score == log(0.5) + log(Fraction(4, 5)) + log(Fraction(3, 5))
    literal = classify.bernoulli_naive_bayes([0, 0], 0.5, there, [2, 1], 0, [0.5, 0.5])
    assert literal == -math.inf
    shares = classify.bernoulli_naive_bayes([0, 1], 0.5, there, [2, 1], 1, [0.25, 0.75])
    assert shares == log(0.5) + log(Fraction(3, 16)) + log(Fraction(7, 16))
    with pytest.raises(NotBinary):
        classify.bernoulli_naive_bayes([2, 0], 0.5, there, [2, 1], 2, [0.5, 0.5])


def test_floats_come_out_as_exact_numbers() -> None:
    x, y, w = [[0.1, 0.2], [0.3, 1.2], [0.9, 0.7], [0.4, 0.1]], [0, 0, 1, 1], [0.5, 2.0, 1.0, 0.1]
    sigma = [[1.5, 0.25], [0.25, 0.75]]
    values = [
        classify.estimates(x, y, w),
        classify.pooled(x, y, w),
        classify.discriminant([0.1, 0.2], 0.3, [0.0, 0.1], sigma, distance),
        classify.linear_form(0.3, [0.0, 0.1], sigma),
        classify.gaussian_naive_bayes([0.1, 0.2], 0.3, x, w, normal),
        classify.bernoulli_naive_bayes([1.0, 0.0], 0.3, [[1.0, 0.0]], [0.1], 0.1, [0.1, 0.2]),
    ]
    assert all(map(exact_only, values))


# Golden cases, to the nearest double.


@pytest.mark.spec("QDA-PARAM", "QDA-DISC", "QDA-MAP")
@pytest.mark.parametrize(
    "name",
    ["cl-vvv", "cl-eei", "cl-eii", "cl-weights", "cl-offset", "cl-line", "cl-divisor", "cl-prior"],
)
def test_golden_discriminants(name: str) -> None:
    assert missed(name) == []


@pytest.mark.spec("LDA-POOL", "LDA-LIN")
@pytest.mark.parametrize("name", ["cl-eee", "cl-three"])
def test_golden_linear_discriminants(name: str) -> None:
    assert missed(name) == []


@pytest.mark.spec("NG-ASSIGN")
@pytest.mark.parametrize("name", ["cl-equal", "cl-nearest-line", "cl-nearest-three"])
def test_golden_nearest_gaussians(name: str) -> None:
    assert missed(name) == []


@pytest.mark.spec("GNB")
@pytest.mark.parametrize("name", ["cl-vvi", "cl-naive-three", "cl-naive-weights"])
def test_golden_gaussian_naive_bayes(name: str) -> None:
    assert missed(name) == []


@pytest.mark.spec("BNB")
@pytest.mark.parametrize("name", ["nb-bernoulli", "nb-bernoulli-shares", "nb-bernoulli-zero"])
def test_golden_bernoulli_naive_bayes(name: str) -> None:
    assert missed(name) == []


def test_every_golden_discriminant_is_judged_above() -> None:
    marks = [
        mark
        for name, value in globals().items()
        if name.startswith("test_golden")
        for mark in value.pytestmark
        if mark.name == "parametrize"
    ]
    judged = {name for mark in marks for name in mark.args[1]}
    assert cases("classify.gaussian").keys() <= judged


# What is held to the room.


@st.composite
def clouds(draw: st.DrawFn) -> Any:
    """Rows in quarters of one or two columns, two classes, with weights."""
    d = draw(st.integers(1, 2))
    y = [0, 0, 0, 1, 1, 1, *draw(st.lists(st.integers(0, 1), max_size=2))]
    row = st.lists(st.integers(-8, 8).map(lambda i: i / 4), min_size=d, max_size=d)
    x = [draw(row) for _ in y]
    w = [1.0] * 6 + [draw(st.sampled_from([0.0, 0.5, 2.0])) for _ in y[6:]]
    return x, y, w


def condition(parameters: Any) -> float:
    """How much a solution may magnify an error: the squared sizes over determinants."""
    return max(
        float(total(exact(s[i][i]) for i in range(len(s))) ** len(s) / determinant(s))
        for _, _, s in parameters
    )


@pytest.mark.spec("QDA-PARAM", "QDA-DISC", "QDA-MAP", "NG-ASSIGN", "LDA-POOL", "LDA-LIN", "GNB")
@few
@given(clouds(), st.lists(st.integers(-12, 12).map(lambda i: i / 4), min_size=2, max_size=2))
def test_discriminants_in_doubles(drawn: Any, point: list[float]) -> None:
    x, y, w = drawn
    d = len(x[0])
    query = point[:d]
    found = classify.estimates(x, y, w)
    assume(all(determinant(sigma) > Fraction(1, 64) for _, _, sigma in found))
    # Sums of a few squares below 64; a solution magnifies by the condition of the covariance.
    slack = 4096 * U * condition(found)
    ours = discriminants.qda(x, y, weights=w, backend="reference")
    told = ours.parameters
    for k, (pi, mu, sigma) in enumerate(found):
        assert near(told.weights[k], pi, 8 * U)
        assert all(near(a, b, 64 * U) for a, b in zip(told.means[k], mu, strict=True))
        for line, other in zip(told.covariances[k], sigma, strict=True):
            assert all(near(a, b, 1024 * U) for a, b in zip(line, other, strict=True))
        delta = classify.discriminant(query, pi, mu, sigma, distance)
        mine = discriminants.discriminant(
            query, told.weights[k], told.means[k], told.covariances[k]
        )
        assert near(mine, delta, slack * (8 + abs(mine)))
    deltas = [float(classify.discriminant(query, *one, distance)) for one in found]
    answer = predict(ours, [query], full=True, backend="reference")
    if abs(deltas[0] - deltas[1]) > BORDER:
        label = classify.most_probable(query, found, normal)
        assert label == deltas.index(max(deltas))
        assert answer.labels == (label,)
    near_one = discriminants.nearest_gaussian(x, y, weights=w, backend="reference")
    logs = [float(classify.discriminant(query, 1, mu, sigma, distance)) for _, mu, sigma in found]
    if abs(logs[0] - logs[1]) > BORDER:
        label = classify.nearest_gaussian(query, found, normal)
        assert label == logs.index(max(logs))
        assert predict(near_one, [query], backend="reference").labels == (label,)
    pooled = classify.pooled(x, y, w)
    linear = discriminants.lda(x, y, weights=w, backend="reference")
    for line, other in zip(linear.parameters.covariances[0], pooled, strict=True):
        assert all(near(a, b, 1024 * U) for a, b in zip(line, other, strict=True))
    form = discriminants.linear_form(linear.parameters)
    for k, (pi, mu, _) in enumerate(found):
        slopes, offset = classify.linear_form(pi, mu, pooled)
        assert all(near(a, b, slack * 64) for a, b in zip(form.weights[k], slopes, strict=True))
        assert near(form.intercepts[k], offset, slack * 256)
        # The linear form and the quadratic one differ by what all classes share.
        first, second = (
            classify.discriminant(query, one[0], one[1], pooled, distance) for one in found
        )
        a, b = (classify.linear_form(one[0], one[1], pooled) for one in found)
        lines = [
            form_[1] + total(exact(s) * exact(v) for s, v in zip(form_[0], query, strict=True))
            for form_ in (a, b)
        ]
        assert float(Real(first - second)) == float(Real(lines[0] - lines[1]))
    twin = naive_bayes(x, y, kind="gaussian", weights=w, backend="reference")
    scores = predict(twin, [query], full=True, backend="reference").scores(0)
    for k in (0, 1):
        rows, own = classify.own(k, x, y, w)
        due = classify.gaussian_naive_bayes(query, found[k][0], rows, own, normal)
        assert near(scores[k], due, slack * (8 + abs(scores[k])))


@pytest.mark.spec("BNB")
@few
@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=6),
    st.sampled_from([0.0, 1.0, 2.5]),
    st.tuples(st.integers(0, 1), st.integers(0, 1)),
)
def test_bernoulli_naive_bayes_in_doubles(rows: Any, m: float, query: Any) -> None:
    y = [i % 2 for i in range(len(rows))]
    w = [1.0 + i % 3 for i in range(len(rows))]
    ours = naive_bayes(
        rows, y, kind="bernoulli", m=m, p=[0.25, 0.5], weights=w, backend="reference"
    )
    found = predict(ours, [query], full=True, impossible="prior", backend="reference").scores(0)
    pi = mixtures.component_weights([mixtures.one_hot(c, 2) for c in y], w)
    for k in (0, 1):
        own = classify.own(k, rows, y, w)
        due = classify.bernoulli_naive_bayes(query, pi[k], *own, m, [0.25, 0.5])
        assert near(
            found[k], due, 256 * U * (1 + abs(found[k])) if math.isfinite(found[k]) else 0.0
        )
