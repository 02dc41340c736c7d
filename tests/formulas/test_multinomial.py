"""Chapter 31 of the formula room: by hand, its golden cases, and what is held to it."""

from __future__ import annotations

import math
from array import array
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.classify.naive_bayes import naive_bayes
from refclust.classify.predict import predict
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
from refclust.formulas import mixtures, multinomial
from refclust.formulas.vectors import exact, total
from refclust.kernels.mixtures import multinomial as kernels
from refclust.kernels.mixtures import words
from refclust.kernels.mixtures.multinomial import Tallies
from refclust.kernels.mixtures.shared import EMStep, Posterior, Rule
from refclust.kernels.registry import KERNELS
from refclust.mixture.families.counts.coefficients import log_coefficient
from refclust.mixture.families.counts.parameters import probability_buffer, terms_of
from refclust.numbers.real import Real, exp, log
from tests.formulas import golden_mixtures as golden
from tests.formulas.small import (
    Problem,
    U,
    cases,
    exact_only,
    few,
    missed,
    near,
    problems,
    shares,
)

HALF = Fraction(1, 2)
TWO = ([0.5, 0.5], [[0.5, 0.5, 0], [0.25, 0.25, 0.5]])
LONG = {"mmix-long", "mmix-long-near", "nb-long"}  # powers to 100,000 as fractions: too large


# By hand.


@pytest.mark.spec("NB-LIK", "NB-SCORE", "NB-PRED", "NB-ZERO", "MMIX-IMPOSSIBLE")
def test_documents_by_hand() -> None:
    theta = [0.5, 0.25, 0.25]
    assert multinomial.probability([2, 0, 1], theta) == Fraction(1, 16)
    assert multinomial.document_log_likelihood([2, 0, 1], theta) == 4 * log(HALF)
    assert multinomial.document_log_likelihood([0, 0, 0], theta) == 0
    assert multinomial.document_log_likelihood({"a": 2}, {"a": 0.5, "b": 0.5}) == 2 * log(HALF)
    assert multinomial.document_log_likelihood({"c": 1}, {"a": 0.5, "b": 0.5}) == -math.inf
    assert multinomial.score([1, 1, 0], 0.25, theta) == 5 * log(HALF)
    assert multinomial.score([1, 1, 0], 0, theta) == -math.inf
    assert multinomial.predicted([2, 0, 0], TWO) == 0
    assert multinomial.predicted([1, 0, 1], TWO) == 1
    assert multinomial.predicted([0, 0, 0], TWO) == 0  # the first of equals
    with pytest.raises(ImpossibleRow):
        multinomial.predicted([0, 0, 1], ([1, 0], TWO[1]))
    with pytest.raises(DimensionMismatch):
        multinomial.document_log_likelihood([1], theta)
    with pytest.raises(NegativeCount):
        multinomial.probability([-1, 0, 0], theta)
    assert multinomial.probability([0.5, 0, 0], [0.25, 0.75, 0]) == exp(log(0.25) / 2)


@pytest.mark.spec("NB-PI", "NB-THETA", "NB-MEST", "NB-MEST1H", "NB-CDLL", "NB-COUNT")
def test_classes_by_hand() -> None:
    x, y, w = [[9, 0], [0, 1], [0, 0], [1, 2]], [0, 1, 2, 1], [1, 2, 1, 1]
    assert multinomial.class_prior(x, y, w, 3) == tuple(Fraction(a, 5) for a in (1, 3, 1))
    tokens = multinomial.class_prior(x, y, w, 3, "tokens")
    assert tokens == tuple(Fraction(a, 14) for a in (9, 5, 0))
    assert multinomial.class_prior(x, y, w, 3, "equal") == (Fraction(1, 3),) * 3
    with pytest.raises(EmptyInput):
        multinomial.class_prior([[0, 0]], [0], [1], 1, "tokens")
    theta = multinomial.class_probabilities(x, y, w, 3, [0.25, 0.75])
    assert theta == ((1, 0), (Fraction(1, 5), Fraction(4, 5)), (Fraction(1, 4), Fraction(3, 4)))
    assert multinomial.m_estimate(3, 5, 2, 0.25) == Fraction(1, 2)
    assert multinomial.m_estimate(0, 0, 0, 0.25) == Fraction(1, 4)
    assert multinomial.half_estimate(1, 1) == Fraction(3, 4)
    for m, p in ((-1, 0.5), (1, 1.5), (1, -0.5)):
        with pytest.raises(BadOption):
            multinomial.m_estimate(1, 1, m, p)
    two = ([0.25, 0.75], [[0.5, 0.5], [0.125, 0.875]])
    found = multinomial.complete_log_likelihood([[1, 1], [0, 1]], [0, 1], [2, 1], two)
    assert found == 2 * log(0.0625) + log(0.65625)
    for labels in ([0], [0, 1, 1]):
        with pytest.raises(LabelLengthMismatch):
            multinomial.complete_log_likelihood([[1, 1], [0, 1]], labels, [2, 1], two)


@pytest.mark.spec("MMIX-LL", "MMIX-COEF", "MMIX-ESTEP", "MMIX-PI", "MMIX-THETA", "MMIX-Q")
def test_mixtures_by_hand() -> None:
    x, w = [[1, 1, 0], [0, 0, 1], [0, 0, 0]], [2, 1, 1]
    # Joint 1/8 and 1/32; 0 and 1/4; 1/2 and 1/2.
    assert multinomial.responsibilities(x[0], TWO) == (Fraction(4, 5), Fraction(1, 5))
    assert list(multinomial.responsibilities(x[1], TWO)) == [0, 1]
    assert multinomial.responsibilities(x[2], TWO) == (HALF, HALF)
    assert list(multinomial.responsibilities([0, 0, 1], ([1, 0], TWO[1]))) == [0, 0]
    j = 2 * log(Fraction(5, 32)) + log(0.25)
    assert multinomial.log_likelihood(x, w, TWO) == j
    assert multinomial.count_log_likelihood(x, w, TWO) == j + 2 * log(2)
    assert multinomial.orders([3, 2, 1]) == 60
    with pytest.raises(FractionalCount):
        multinomial.orders([0.5, 1])
    q = [multinomial.responsibilities(row, TWO) for row in x]
    assert multinomial.weights(q, w) == (Fraction(21, 40), Fraction(19, 40))
    column = [row[1] for row in q]
    found = multinomial.word_probabilities(x, w, column, 1, [0.5, 0.25, 0.25])
    # T = (2/5, 2/5, 1) with one word more: (9/10, 13/20, 5/4) of 14/5.
    assert found == (Fraction(9, 28), Fraction(13, 56), Fraction(25, 56))
    assert multinomial.word_probabilities(x, w, [0, 0, 1], 0, [0.5, 0.25, 0.25]) == (
        HALF, Fraction(1, 4), Fraction(1, 4))  # fmt: skip
    with pytest.raises(DimensionMismatch):
        multinomial.word_probabilities(x, w, column, 0, [1])
    assert multinomial.bound(TWO, x, w, TWO) == j


@pytest.mark.spec("BMIX-LL", "BMIX-ESTEP", "BMIX-THETA", "MMIX-PRIOR")
def test_presences_by_hand() -> None:
    two = ([0.5, 0.5], [[0.25, 0.5], [0.75, 1]])
    assert multinomial.presence_probability([1, 0], two[1][0]) == Fraction(1, 8)
    assert multinomial.presence_probability({"a": 1}, {"a": 0.25, "b": 0.25}) == Fraction(3, 16)
    assert list(multinomial.presence_responsibilities([1, 0], two)) == [1, 0]
    assert multinomial.presence_responsibilities([1, 1], two) == (Fraction(1, 7), Fraction(6, 7))
    found = multinomial.presence_log_likelihood([[1, 0], [1, 1]], [2, 1], two)
    assert found == 2 * log(Fraction(1, 16)) + log(Fraction(7, 16))
    with pytest.raises(NotBinary):
        multinomial.presence_probability([2, 0], [0.5, 0.5])
    theta = multinomial.presence_probabilities([[1, 0], [1, 1]], [2, 1], [1, 0.5], 2, [0.5, 0.25])
    assert theta == (Fraction(7, 9), Fraction(2, 9))
    prior = multinomial.log_prior([[0.25, 0.5]], 4, [0.25, 0.75], "bernoulli")
    assert prior == log(0.25) + 3 * log(0.75) + 3 * log(0.5) + log(0.5)
    assert multinomial.log_prior([[0.25, 0.75]], 4, [0.25, 0.75]) == log(0.25) + 3 * log(0.75)
    assert multinomial.log_prior([[0, 1]], 4, [0.25, 0.75]) == -math.inf
    assert multinomial.log_prior([[0, 1]], 4, [0, 1]) == 0


@pytest.mark.spec("EM-INIT")
def test_starts_by_hand() -> None:
    x, w, half = [[2, 0, 0], [1, 1, 0]], [1, 3], [1 / 4] * 3
    # Of all words (5, 3, 0); the mean length is 2, b = (5/8, 3/8, 0), and 2 imagined words.
    found = multinomial.starting_probabilities([2, 0, 0], 2, x, w, 0, half)
    assert found == (Fraction(13, 16), Fraction(3, 16), 0)
    smooth = multinomial.starting_probabilities([2, 0, 0], 2, x, w, 4, half)
    # b = (6, 4, 1) / 12, and 6 imagined words: (2 + 3, 2, 1/2) of 8.
    assert smooth == (Fraction(5, 8), Fraction(1, 4), Fraction(1, 16))
    there = [[1, 0], [1, 0], [1, 0]]
    found = multinomial.starting_probabilities(
        [1, 0], 1, there, [1, 1, 1], 0, half[:2], "bernoulli"
    )
    # b = ((3 + 1/2) / 4, 0), one imagined row.
    assert found == (Fraction(15, 16), 0)


def test_floats_come_out_as_exact_numbers() -> None:
    x, y, w, p = [[1.0, 0.0], [2.0, 1.0]], [0, 1], [0.5, 2.0], [0.1, 0.9]
    mixture = ([0.1, 0.9], [[0.3, 0.7], [0.6, 0.4]])
    q = [[0.1, 0.9], [0.5, 0.5]]
    there = [[1.0, 0.0], [1.0, 1.0]]
    values = [
        multinomial.document_log_likelihood(x[0], mixture[1][0]),
        multinomial.complete_log_likelihood(x, y, w, mixture),
        multinomial.class_prior(x, y, w, 2),
        multinomial.class_prior(x, y, w, 2, "tokens"),
        multinomial.class_probabilities(x, y, w, 2, p),
        multinomial.class_probabilities([[0.0, 0.0]] * 2, y, w, 2, p),
        multinomial.m_estimate(1.0, 2.0, 0.1, 0.3),
        multinomial.half_estimate(1.0, 2.0),
        multinomial.score(x[0], 0.1, mixture[1][0]),
        multinomial.log_likelihood(x, w, mixture),
        multinomial.count_log_likelihood(x, w, mixture),
        multinomial.responsibilities(x[0], mixture),
        multinomial.bound(mixture, x, w, mixture),
        multinomial.weights(q, w),
        multinomial.word_probabilities(x, w, [0.1, 0.2], 0.1, p),
        multinomial.log_prior(mixture[1], 0.1, p),
        multinomial.presence_log_likelihood(there, w, mixture),
        multinomial.presence_responsibilities(there[0], mixture),
        multinomial.presence_probabilities(there, w, [0.1, 0.2], 0.1, p),
        multinomial.posteriors([0.1, 0.9], [0.2, 0.3]),
        multinomial.length_probability(2, 0.1),
        multinomial.word_probability(1, p),
        multinomial.starting_probabilities(x[0], 1.0, x, w, 0.1, p),
    ]
    assert all(map(exact_only, values))


@pytest.mark.spec("MMIX-Q", "MMIX-PI", "MMIX-PRIOR", "MMIX-HARD", "NB-MLECOUNT", "BMIX-LL")
@few
@given(problems("multinomial", possible=True), problems("multinomial", possible=True))
def test_second_lines_of_the_clauses(one: Problem, other: Problem) -> None:
    x, w = one.x, one.w
    if (other.k, other.d) != (one.k, one.d):
        other = one
    q = [multinomial.responsibilities(row, one.mixture) for row in x]
    pi, theta = other.mixture
    sums = [multinomial.word_counts(x, w, q_k) for q_k in zip(*q, strict=True)]
    sizes = [
        total(exact(a) * b for a, b in zip(w, q_k, strict=True)) for q_k in zip(*q, strict=True)
    ]
    entropy = total(exact(a) * mixtures.entropy(row) for a, row in zip(w, q, strict=True))
    from_sums = (
        total(n * log(a) for n, a in zip(sizes, pi, strict=True))
        + total(t_j * log(a) for t, row in zip(sums, theta, strict=True)
                for t_j, a in zip(t, row, strict=True))
        + entropy
    )  # fmt: skip
    found = multinomial.bound(one.mixture, x, w, other.mixture)
    assert float(Real(found)) == float(Real(from_sums))
    assert multinomial.weights(q, w) == mixtures.component_weights(q, w)
    labels = [i % one.k for i in range(len(x))]
    if all(any(w[i] for i in range(len(x)) if labels[i] == c) for c in range(one.k)):
        hard = [mixtures.one_hot(c, one.k) for c in labels]
        assert multinomial.weights(hard, w) == multinomial.class_prior(x, labels, w, one.k)
        p = [Fraction(1, one.d)] * one.d
        due = multinomial.class_probabilities(x, labels, w, one.k, p)
        columns = zip(*hard, strict=True)
        assert due == tuple(multinomial.word_probabilities(x, w, q_k, 0, p) for q_k in columns)


# Golden cases, to the nearest double.


@pytest.mark.spec(
    "MMIX-LL",
    "MMIX-COEF",
    "MMIX-ESTEP",
    "MMIX-Q",
    "MMIX-PI",
    "MMIX-THETA",
    "MMIX-PRIOR",
    "NB-LIK",
    "BMIX-LL",
    "BMIX-ESTEP",
    "BMIX-THETA",
    "EM-Q",
    "EM-EXPCDLL",
    "EM-CONV",
    "EM-CERT",
)
@pytest.mark.parametrize("name", sorted(cases("mixture.counts").keys() - LONG))
def test_golden_steps(name: str) -> None:
    assert missed(name) == []


@pytest.mark.spec("MMIX-ALG")
@pytest.mark.parametrize("name", ["run-words", "run-words-labels"])
def test_golden_runs(name: str) -> None:
    assert missed(name) == []


@pytest.mark.spec("EM-ELBO", "EM-ELBOFACT")
def test_golden_bound_over_all_components() -> None:
    """Of the first four rows: twelve have 4,096 ways to give components to them."""
    given_ = dict(cases("mixture.counts")["mmix-given"].input)
    given_ |= {"rows": given_["rows"][:4], "q": given_["q"][:4]}
    step = golden.Step(given_)
    assert float(step.joint_bound()) == float(golden.STEP["lower_bound"](step))


@pytest.mark.spec(
    "NB-PI", "NB-THETA", "NB-MEST", "NB-MEST1H", "NB-SCORE", "NB-PRED", "NB-CDLL", "BNB"
)
@pytest.mark.parametrize("name", sorted(cases("classify.counts").keys() - LONG))
def test_golden_classes(name: str) -> None:
    assert missed(name) == []


# What is held to the room.


def terms(problem: Problem) -> kernels.Terms:
    kind: Any = problem.kind
    found = words.logs(problem.points, probability_buffer(problem.parameters), kind)
    return terms_of(problem.parameters, found, kind)


def judged(
    kernel: str, problem: Problem, args: tuple[Any, ...], due: Any, answer: Any
) -> str | None:
    """What the contract says of the reference's answer beside that of the room."""
    contract: Any = KERNELS[kernel].contract
    found: str | None = contract.judged(problem.points, args, due, answer)
    return found


def double(value: Any) -> float:
    return value if isinstance(value, float) else float(Real(value))


@pytest.mark.spec("MMIX-ESTEP", "BMIX-ESTEP", "NB-LIK", "BMIX-LL", "EM-PRED")
@few
@given(problems())
def test_the_posterior_kernel(problem: Problem) -> None:
    joint = [mixtures.joint(x, problem.mixture, problem.p) for x in problem.x]
    rows = array("d", (double(mixtures.logs([(1, a)])) for row in joint for a in row))
    each = [mixtures.log_likelihood([x], [1], problem.mixture, problem.p) for x in problem.x]
    args = (terms(problem), True)
    answer = kernels.posterior(problem.points, *args)
    labels = array(
        "i", (mixtures.prediction(x, problem.mixture, problem.p, "prior")[0] for x in problem.x)
    )
    due = Posterior(labels, array("d", map(double, each)), rows)
    assert judged("multinomial.posterior", problem, args, due, answer) is None
    short = (args[0], False)
    bare = kernels.posterior(problem.points, *short)
    possible = [any(row) for row in joint]
    same = [a if ok else b for a, b, ok in zip(labels, bare.labels, possible, strict=True)]
    due = Posterior(array("i", same), due.log_likelihoods, None)
    assert judged("multinomial.posterior", problem, short, due, bare) is None


@pytest.mark.spec("MMIX-ESTEP", "MMIX-PI", "MMIX-THETA", "MMIX-LL", "BMIX-LL", "EM-VAR")
@few
@given(problems(), st.integers(0, 2))
def test_the_em_step_kernel(problem: Problem, top: int) -> None:
    rule = Rule(top=min(top, problem.k))
    args = (terms(problem), rule)
    answer = kernels.em_step(problem.points, *args)
    m = rule.top or problem.k
    possible = [bool(mixtures.density(x, problem.mixture, problem.p)) for x in problem.x]
    parts = [
        mixtures.restricted(x, m, problem.mixture, problem.p)
        if ok
        else ((Fraction(0),) * problem.k, -math.inf)
        for x, ok in zip(problem.x, possible, strict=True)
    ]
    q = [part[0] for part in parts]
    counted = [f for (_, f), w in zip(parts, problem.w, strict=True) if w]
    bound: Any = (
        -math.inf
        if -math.inf in counted
        else total(exact(w) * f for (_, f), w in zip(parts, problem.w, strict=True) if w)
    )
    entropy = total(exact(w) * mixtures.entropy(row) for w, row in zip(problem.w, q, strict=True))
    own = {
        "multinomial": multinomial.log_likelihood,
        "bernoulli": multinomial.presence_log_likelihood,
    }[problem.kind]
    due = EMStep(
        double(own(problem.x, problem.w, problem.mixture)),
        double(bound),
        double(entropy),
        tallies(problem, q),
    )
    assert judged("multinomial.em_step", problem, args, due, answer) is None


def tallies(problem: Problem, q: Any) -> Tallies:
    """N_k and T_kj in nearest doubles."""
    counts, sums = array("d"), array("d")
    for q_k in zip(*q, strict=True):
        counts.append(
            double(total(exact(a) * exact(b) for a, b in zip(problem.w, q_k, strict=True)))
        )
        sums.extend(map(double, multinomial.word_counts(problem.x, problem.w, q_k)))
    return Tallies(counts, sums)


@pytest.mark.spec(
    "MMIX-PI", "MMIX-THETA", "NB-COUNT", "BMIX-THETA", "MMIX-PRIOR", "NB-MEST", "NB-THETA"
)
@few
@given(problems(), st.sampled_from([0.0, 0.5, 3.0]), st.data())
def test_the_moments_and_the_m_step_kernel(problem: Problem, m: float, data: st.DataObject) -> None:
    q = [data.draw(shares(problem.k)) for _ in problem.x]
    flat = array("d", (a for row in q for a in row))
    args = (flat, problem.k)
    answer = kernels.moments(problem.points, *args)
    due = tallies(problem, q)
    assert judged("multinomial.moments", problem, args, due, answer) is None
    p = data.draw(shares(problem.d, least=1))
    kind: Any = problem.kind
    estimate = words.m_step(problem.points, due, m, p, kind)
    own = {
        "multinomial": multinomial.word_probabilities,
        "bernoulli": multinomial.presence_probabilities,
    }[problem.kind]
    columns = list(zip(*q, strict=True))
    theta = [own(problem.x, problem.w, q_k, m, p) for q_k in columns]
    probabilities = array("d", (double(a) for row in theta for a in row))
    assert all(
        abs(a - b) <= 2 * (problem.d + 8) * U * b
        for a, b in zip(estimate.probabilities, probabilities, strict=True)
    )
    used = _rows(estimate.probabilities, problem.d)
    prior = multinomial.log_prior(used, m, p, problem.kind)
    assert near(
        estimate.imagined, prior, 64 * problem.k * problem.d * U * (1 + abs(estimate.imagined))
    )
    expected = mixtures.logs(
        pair
        for n, t, row in zip(due.counts, _rows(due.sums, problem.d), used, strict=True)
        for pair in _terms(problem.kind, n, t, row)
    )
    assert near(estimate.expected, expected, 64 * U * (8 + abs(estimate.expected)))
    pi = (
        mixtures.component_weights(q, problem.w)
        if problem.kind == "bernoulli"
        else (multinomial.weights(q, problem.w))
    )
    whole = math.fsum(answer.counts)
    assert all(near(n / whole, a, 64 * U) for n, a in zip(answer.counts, pi, strict=True))


def _rows(flat: Any, d: int) -> list[list[float]]:
    listed = list(flat)
    return [listed[i : i + d] for i in range(0, len(listed), d)]


def _terms(kind: str, n: float, t: Any, theta: Any) -> list[tuple[Any, Any]]:
    """The terms a log b of a component's expected log-likelihood; what cannot be rounds apart."""
    pairs = [(exact(t_j), exact(a)) for t_j, a in zip(t, theta, strict=True) if a]
    if kind == "bernoulli":
        pairs += [(exact(n) - t_j, 1 - a) for t_j, a in pairs if a < 1]
        pairs += [(exact(n), Fraction(1)) for a in theta if not a]
    return pairs


@pytest.mark.spec("NB-LIK", "BMIX-LL")
@few
@given(problems())
def test_the_logs_kernel(problem: Problem) -> None:
    kind: Any = problem.kind
    found = words.logs(problem.points, probability_buffer(problem.parameters), kind)
    for theta, slopes, base in zip(
        problem.mixture[1], _rows(found.slopes, problem.d), found.bases, strict=True
    ):
        gone = [1 - exact(a) if kind == "bernoulli" and a < 1 else Fraction(1) for a in theta]
        due = mixtures.logs((1, a) for a in gone)
        assert near(base, due, (problem.d + 8) * U * abs(base))
        for j, (a, slope) in enumerate(zip(theta, slopes, strict=True)):
            one = (
                multinomial.document_log_likelihood([1], [a])
                if kind == "multinomial"
                else (mixtures.logs([(1, exact(a) / gone[j])]))
            )
            assert near(slope, one, 16 * U * (abs(slope) + abs(math.log(gone[j]))))


@pytest.mark.spec("MMIX-COEF")
@few
@given(problems("multinomial"))
def test_coefficients(problem: Problem) -> None:
    due = mixtures.logs(
        (w, multinomial.orders(x)) for w, x in zip(problem.w, problem.x, strict=True)
    )
    found = log_coefficient(problem.points.data)
    assert near(found, due, 256 * U * (1 + abs(found)))
    j = multinomial.log_likelihood(problem.x, problem.w, problem.mixture)
    whole = multinomial.count_log_likelihood(problem.x, problem.w, problem.mixture)
    assert whole == (-math.inf if j == -math.inf else j + due)


@pytest.mark.spec("NB-PI", "NB-THETA", "NB-MEST", "NB-MEST1H", "NB-SCORE", "NB-PRED", "NB-CDLL")
@few
@given(
    problems("multinomial", possible=True, most=5),
    st.sampled_from(["documents", "tokens", "equal"]),
    st.sampled_from(["mle", "laplace", "half"]),
)
def test_naive_bayes(problem: Problem, prior: Any, smoothing: Any) -> None:
    x, w = [(1.0,) * problem.d, *problem.x], [1.0, *problem.w]
    labels = [0, 1, *(i % 2 for i in range(len(x) - 2))]
    if not w[1]:
        w[1] = 1.0
    ours = naive_bayes(x, labels, prior=prior, smoothing=smoothing, weights=w, backend="reference")
    pi = multinomial.class_prior(x, labels, w, 2, prior)
    m = {"mle": 0, "laplace": problem.d, "half": 1}[smoothing]
    p = [HALF if smoothing == "half" else Fraction(1, problem.d)] * problem.d
    parts = [[i for i, y in enumerate(labels) if y == c] for c in (0, 1)]
    theta = [
        multinomial.word_probabilities(
            [x[i] for i in own], [w[i] for i in own], [1] * len(own), m, p
        )
        for own in parts
    ]
    if smoothing == "mle":
        assert tuple(theta) == multinomial.class_probabilities(x, labels, w, 2, p)
    for a, b in zip(ours.parameters.weights, pi, strict=True):
        assert near(a, b, 8 * U)
    for row, other in zip(ours.parameters.probabilities, theta, strict=True):
        assert all(near(a, b, (problem.d + 8) * 2 * U) for a, b in zip(row, other, strict=True))
    j = multinomial.complete_log_likelihood(x, labels, w, (pi, theta))
    assert near(ours.log_likelihood, j, 512 * U * (1 + abs(ours.log_likelihood)))
    found = predict(ours, x, full=True, impossible="prior", backend="reference")
    for i, row in enumerate(x):
        scores = [multinomial.score(row, a, t) for a, t in zip(pi, theta, strict=True)]
        for told_score, due in zip(found.scores(i), scores, strict=True):
            size = 1 + abs(told_score) if math.isfinite(told_score) else 0.0
            assert near(told_score, due, 512 * U * size)
        told = sorted(map(double, scores))
        if told[-1] - told[-2] > 2.0**-30:
            assert found.labels[i] == multinomial.predicted(row, (pi, theta))


@pytest.mark.spec("NB-MEST", "NB-MEST1H", "PROP-NB-2")
@given(st.integers(0, 50), st.integers(0, 50), st.floats(0, 2**20), st.floats(0, 1))
def test_the_m_estimate_in_doubles(count: int, more: int, m: float, p: float) -> None:
    due = multinomial.m_estimate(count, count + more, m, p)
    assert near(words.m_estimate(count, count + more, m, p), due, 8 * U * float(due) + 2.0**-1022)
    assert multinomial.half_estimate(count, count + more) == multinomial.m_estimate(
        count, count + more, 1, 0.5
    )
