"""What chapter 31 says about words: naive Bayes, multinomial and Bernoulli mixtures."""

from __future__ import annotations

import math
from array import array
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from refclust.classify.naive_bayes import naive_bayes
from refclust.data.accepting.door import dataset
from refclust.errors import ImpossibleRow, RefclustError
from refclust.kernels.mixtures.multinomial import Tallies
from refclust.kernels.mixtures.words import m_estimate, m_step
from refclust.kernels.points import Points
from refclust.mixture.families.counts.coefficients import log_coefficient
from refclust.mixture.families.counts.parameters import CountParameters, estimated
from refclust.mixture.predict import assignments
from refclust.mixture.theory import expected_log_likelihood, log_joint, posteriors
from tests.metrics.strategies import some
from tests.mixture.tools import (
    FITS,
    Case,
    U,
    bernoulli,
    distributions,
    documents,
    lse,
    multinomial,
    presences,
    told,
    word_logs,
)

KINDS = st.sampled_from(["multinomial", "bernoulli"])
M = st.sampled_from([0.0, 0.25, 1.0, 3.0, 1e6])


def drawn_case(kind: str, most: int = 8) -> st.SearchStrategy[Case]:
    return documents(most) if kind == "multinomial" else presences(most)


EITHER = KINDS.flatmap(lambda kind: st.tuples(st.just(kind), drawn_case(kind)))


def total(case: Case, label: int, j: int) -> Fraction:
    """The exact count of a word in a group."""
    terms = zip(case.rows, case.masses, case.labels, strict=True)
    return sum(
        (Fraction(w) * Fraction(row[j]) for row, w, own in terms if own == label), Fraction(0)
    )


def weight(case: Case, label: int) -> Fraction:
    terms = zip(case.masses, case.labels, strict=True)
    return sum((Fraction(w) for w, own in terms if own == label), Fraction(0))


@pytest.mark.spec("MMIX-PI", "MMIX-THETA", "BMIX-THETA", "NB-MLECOUNT", "NB-THETA", "NB-MEST")
@some(60)
@given(EITHER, M)
def test_the_m_step_is_the_m_estimate(drawn: tuple[str, Case], m: float) -> None:
    """Against fractions: counts are exact, then three roundings in the quotient."""
    kind, case = drawn
    fit = FITS[kind](case.rows, labels=case.labels, weights=case.weights, m=m, limit=0)
    d, whole = len(case.rows[0]), sum(map(Fraction, case.masses), Fraction(0))
    for c in range(case.k):
        counts = [total(case, c, j) for j in range(d)]
        share = weight(case, c) / whole
        assert fit.parameters.weights[c] == float(share)
        base = sum(counts, Fraction(0)) if kind == "multinomial" else weight(case, c)
        for j, theta in enumerate(fit.parameters.probabilities[c]):
            p = Fraction(1, d) if kind == "multinomial" else Fraction(1, 2)
            below = base + Fraction(m)
            due = (counts[j] + Fraction(m) * p) / below if below else p
            assert theta == pytest.approx(float(due), rel=6 * U, abs=0)
            if not m and below:
                assert theta == float(due)  # the quotient of two exact sums, rounded once


@pytest.mark.spec("MMIX-HARD", "PROP-NB-6", "MMIX-PI", "MMIX-THETA", "NB-MEST")
@some(40)
@given(EITHER, M)
def test_naive_bayes_is_an_m_step(drawn: tuple[str, Case], m: float) -> None:
    """Bit for bit: one-hot shares, labels and training give the same numbers."""
    kind, case = drawn
    assume(case.k > 1)
    started = FITS[kind](case.rows, labels=case.labels, weights=case.weights, m=m, limit=0)
    classes = [f"class {label}" for label in case.labels]
    data = dataset(case.rows) if case.weights is None else dataset(case.rows, weights=case.weights)
    smoothing: dict[str, Any] = {"smoothing": "m-estimate", "m": m} if m else {"smoothing": "mle"}
    smoothing |= {"kind": kind, "backend": "reference"}
    trained = naive_bayes(data, classes, **smoothing)
    assert told(trained.parameters) == told(started.parameters)
    counts, sums = array("d"), array("d")
    for c in range(case.k):
        counts.append(float(weight(case, c)))
        sums.extend(float(total(case, c, j)) for j in range(len(case.rows[0])))
    p = started.settings["p"] or [1.0 / len(case.rows[0]) if kind == "multinomial" else 0.5] * len(
        case.rows[0]
    )
    tallies = Tallies(counts, sums)
    made = m_step(Points(data), tallies, m, p, kind)  # type: ignore[arg-type]
    assert told(estimated(tallies, made)) == told(started.parameters)


@st.composite
def models(draw: st.DrawFn) -> tuple[str, Case, CountParameters]:
    kind, case = draw(EITHER)
    d, k = len(case.rows[0]), draw(st.integers(1, 3))
    weights = draw(distributions(k).filter(lambda shares: min(shares) > 1e-9))
    rows: list[tuple[float, ...]] = [
        draw(distributions(d).filter(lambda shares: min(shares) > 1e-9)) for _ in range(k)
    ]
    if kind == "bernoulli" and d == 1:
        rows = [(x,) for x in (0.25, 0.75, 0.5)[:k]]
    return kind, case, CountParameters(weights, tuple(rows))


@pytest.mark.spec("MMIX-LL", "BMIX-LL", "MMIX-ESTEP", "BMIX-ESTEP", "MMIX-Q", "MMIX-COEF")
@some(60)
@given(models())
def test_likelihood_and_shares_are_those_of_the_formulas(
    drawn: tuple[str, Case, CountParameters],
) -> None:
    kind, case, parameters = drawn
    data = dataset(case.rows) if case.weights is None else dataset(case.rows, weights=case.weights)
    due = [word_logs(parameters, row, presence=kind == "bernoulli") for row in case.rows]
    found = log_joint(parameters, data, family=kind)
    q = posteriors(parameters, data, family=kind)
    longest = int(max(map(sum, case.rows))) + len(case.rows[0])
    for one, other, shares in zip(due, found, q, strict=True):
        allowed = 8 * (longest + 2) * U * (1 + math.fsum(map(abs, one)))
        assert other == pytest.approx(one, abs=allowed)
        for x, share in zip(one, shares, strict=True):
            assert share == pytest.approx(math.exp(x - lse(one)), abs=4 * allowed)
    # The bound needs the sums of a pass only.
    k, d = len(parameters.weights), len(case.rows[0])
    mass = list(zip(case.masses, q, strict=True))
    terms = [w * s[c] * math.log(parameters.weights[c]) for w, s in mass for c in range(k)]
    for (w, own), numbers in zip(mass, case.rows, strict=True):
        for c in range(k):
            for j in range(d):
                theta = parameters.probabilities[c][j]
                if kind == "bernoulli":
                    terms.append(w * own[c] * math.log(theta if numbers[j] else 1.0 - theta))
                elif numbers[j]:
                    terms.append(w * own[c] * numbers[j] * math.log(theta))
    size = 1 + math.fsum(map(abs, terms))
    expected = expected_log_likelihood(q, parameters, data, family=kind)
    assert expected == pytest.approx(math.fsum(terms), abs=(len(terms) + 64) * U * size)


@pytest.mark.spec("MMIX-COEF")
@some(40)
@given(documents())
def test_the_coefficient_counts_sequences(case: Case) -> None:
    """The number of orders of the words of each document, in integers."""
    data = dataset(case.rows) if case.weights is None else dataset(case.rows, weights=case.weights)
    terms = []
    for row, w in zip(case.rows, case.masses, strict=True):
        orders = math.factorial(int(sum(row)))
        for x in row:
            orders //= math.factorial(int(x))
        terms.append(w * math.log(orders))
    # lgamma errs by a few units in its last place; the largest is log(36!) < 96.
    assert log_coefficient(data) == pytest.approx(math.fsum(terms), abs=2e-12)


@pytest.mark.spec("MMIX-PRIOR", "EM-PRIOR")
@some(40)
@given(EITHER, st.sampled_from([0.5, 2.0]), st.integers(0, 3))
def test_the_prior_is_what_makes_the_m_estimate_a_maximum(
    drawn: tuple[str, Case], m: float, limit: int
) -> None:
    """No nearby parameters have a larger expected likelihood with the prior."""
    kind, case = drawn
    fit = FITS[kind](case.rows, labels=case.labels, weights=case.weights, m=m, limit=limit)
    d = len(case.rows[0])
    thetas = [theta for row in fit.parameters.probabilities for theta in row]
    if kind == "multinomial":
        due = [m / d * math.log(theta) for theta in thetas]
    else:
        due = [m / 2 * (math.log(theta) + math.log(1.0 - theta)) for theta in thetas]
    assert fit.log_prior == pytest.approx(math.fsum(due), rel=16 * U)
    # As if m more words (rows) had been seen in each group, a share p of them each word.
    start = FITS[kind](case.rows, labels=case.labels, weights=case.weights, m=m, limit=0)
    for c in range(case.k):
        counts = [float(total(case, c, j)) for j in range(d)]
        n = float(weight(case, c))
        row = start.parameters.probabilities[c]

        def value(x: float, theta: float, n: float = n) -> float:
            share = m / d if kind == "multinomial" else m / 2
            absent = (n - x + m / 2) * math.log(1.0 - theta) if kind == "bernoulli" else 0.0
            return (x + share) * math.log(theta) + absent

        best = math.fsum(map(value, counts, row))
        for step in (1e-3, -1e-3):
            if kind == "bernoulli":
                moved = [
                    min(max(theta + step * theta * (1 - theta), 1e-9), 1 - 1e-9) for theta in row
                ]
            elif d == 1:
                moved = list(row)
            else:
                bent = [row[0] * (1 + step), *row[1:]]
                moved = [x / math.fsum(bent) for x in bent]
            assert math.fsum(map(value, counts, moved)) <= best + 1e-12 * (1 + abs(best))


@pytest.mark.spec("MMIX-ALG", "EM-ALG")
@some(30)
@given(models(), st.integers(1, 3))
def test_the_algorithm_step_by_step(drawn: tuple[str, Case, CountParameters], limit: int) -> None:
    """Shares by the formulas, then the estimates from them, as often as asked for."""
    kind, case, parameters = drawn
    fit = FITS[kind](
        case.rows, parameters=parameters, weights=case.weights, limit=limit, tolerance=None, m=0.5
    )
    now, d = parameters, len(case.rows[0])
    for _ in range(limit):
        logs = [word_logs(now, row, presence=kind == "bernoulli") for row in case.rows]
        q = [
            [w * math.exp(x - lse(one)) for x in one]
            for w, one in zip(case.masses, logs, strict=True)
        ]
        sizes = [math.fsum(column) for column in zip(*q, strict=True)]
        rows = []
        for c in range(len(sizes)):
            sums = [
                math.fsum(share[c] * row[j] for share, row in zip(q, case.rows, strict=True))
                for j in range(d)
            ]
            below = (math.fsum(sums) if kind == "multinomial" else sizes[c]) + 0.5
            p = 1 / d if kind == "multinomial" else 0.5
            rows.append(tuple((x + 0.5 * p) / below for x in sums))
        now = CountParameters(tuple(n / math.fsum(sizes) for n in sizes), tuple(rows))
    # Shares differ by roundings of exponents below 200; three steps magnify them little.
    assert fit.parameters.weights == pytest.approx(now.weights, abs=1e-9)
    for one, other in zip(fit.parameters.probabilities, now.probabilities, strict=True):
        assert one == pytest.approx(other, abs=1e-9)


@pytest.mark.spec("MMIX-COUNTS")
@some(40)
@given(
    documents(),
    st.sampled_from([-1.0, 0.5, 2.0, -0.5]),
    KINDS,
    st.sampled_from(["whole", "fractional"]),
    st.data(),
)
def test_what_counts_as_counts(
    case: Case, wrong: float, kind: str, counts: str, data: st.DataObject
) -> None:
    i = data.draw(st.integers(0, len(case.rows) - 1))
    j = data.draw(st.integers(0, len(case.rows[0]) - 1))
    rows = [list(row) for row in case.rows]
    if kind == "bernoulli":
        rows = [[float(x > 0) for x in row] for row in rows]
    rows[i][j] = wrong
    options: dict[str, Any] = {"counts": counts} if kind == "multinomial" else {}
    due = None
    if kind == "bernoulli":
        due = "not-binary"
    elif wrong < 0:
        due = "negative-count"
    elif wrong == 0.5 and counts == "whole":
        due = "fractional-count"
    if due is None:
        assert FITS[kind](rows, 1, **options).monotone.holds
        return
    with pytest.raises(RefclustError) as caught:
        FITS[kind](rows, 1, **options)
    assert caught.value.code == due
    assert f"row {i}, column {j} is {wrong!r}" in str(caught.value)


@pytest.mark.spec("MMIX-COUNTS")
@some(30)
@given(models())
def test_empty_documents_and_words_that_never_occur(
    drawn: tuple[str, Case, CountParameters],
) -> None:
    _, case, parameters = drawn
    d = len(parameters.probabilities[0])
    found = assignments(parameters, [[0.0] * d], family="multinomial")
    total_weight = math.fsum(parameters.weights)
    assert found.responsibilities(0) == pytest.approx(parameters.weights, abs=8 * U)
    assert found.log_likelihoods[0] == pytest.approx(math.log(total_weight), abs=8 * U)
    # A column of zeros changes nothing without smoothing but has the probability zero.
    rows = [tuple(map(float, row)) for row in case.rows]
    wider = [(*row, 0.0) for row in rows]
    one = multinomial(rows, labels=case.labels, weights=case.weights, limit=0)
    other = multinomial(wider, labels=case.labels, weights=case.weights, limit=0)
    for narrow, wide in zip(
        one.parameters.probabilities, other.parameters.probabilities, strict=True
    ):
        if any(narrow) and wide[-1] == 0:
            assert wide[:-1] == narrow
    if all(any(total(case, c, j) for j in range(len(rows[0]))) for c in range(case.k)):
        assert one.log_likelihood == pytest.approx(other.log_likelihood, abs=1e-12)


@pytest.mark.spec("MMIX-UNSEEN", "EM-PRED", "PROP-NB-3")
@some(30)
@given(
    st.lists(
        st.dictionaries(st.sampled_from("abcxyz"), st.integers(1, 4), max_size=4),
        min_size=1,
        max_size=4,
    )
)
def test_unknown_words_are_left_out(rows: list[dict[str, int]]) -> None:
    two = CountParameters((0.25, 0.75), ((0.5, 0.25, 0.25), (0.125, 0.125, 0.75)))
    features = ("a", "b", "c")
    assume(any(rows))
    found = assignments(two, rows, family="multinomial", features=features)
    known = [{word: x for word, x in row.items() if word in features} for row in rows]
    dense = [[float(row.get(word, 0)) for word in features] for row in known]
    assert found.unseen == len({word for row in rows for word in row} - set(features))
    again = assignments(two, dense, family="multinomial")
    assert found.labels == again.labels
    assert found.log_likelihoods == again.log_likelihoods


@pytest.mark.spec("MMIX-IMPOSSIBLE", "EM-PRED", "EM-ESTEP")
@some(40)
@given(models(), st.integers(0, 2), st.booleans())
def test_impossible_rows(
    drawn: tuple[str, Case, CountParameters], word: int, present: bool
) -> None:
    kind, case, parameters = drawn
    d, k = len(case.rows[0]), len(parameters.weights)
    j = word % d
    value = 0.0 if kind == "multinomial" or present else 1.0

    def bent(row: tuple[float, ...]) -> tuple[float, ...]:
        moved = [value if i == j else theta for i, theta in enumerate(row)]
        if kind == "multinomial":
            rest = math.fsum(moved)
            return tuple(theta / rest for theta in moved)
        return tuple(moved)

    assume(d > 1 or kind == "bernoulli")
    changed = CountParameters(parameters.weights, tuple(map(bent, parameters.probabilities)))
    impossible = [bool(row[j]) if value == 0.0 else not row[j] for row in case.rows]
    lost = assignments(changed, case.rows, family=kind, impossible="prior")
    for i, gone in enumerate(impossible):
        assert (lost.log_likelihoods[i] == -math.inf) == gone
        if gone:
            assert lost.responsibilities(i) == parameters.weights
            assert lost.labels[i] == parameters.weights.index(max(parameters.weights))
    counted = [gone and w > 0 for gone, w in zip(impossible, case.masses, strict=True)]
    if any(impossible):
        with pytest.raises(ImpossibleRow, match=f"row {impossible.index(True)} has probability"):
            assignments(changed, case.rows, family=kind)
    try:
        fit = FITS[kind](
            case.rows, parameters=changed, weights=case.weights, limit=1, collapse="drop"
        )
    except ImpossibleRow:
        assert any(counted)
    else:
        assert not any(counted)
        assert math.isfinite(fit.log_likelihood)
    assert k == len(changed.weights)


@pytest.mark.spec("NB-ZERO", "PROP-NB-1", "PROP-NB-2")
@some(40)
@given(st.integers(0, 50), st.integers(0, 50), M, st.sampled_from([0.0, 0.25, 1.0]))
def test_the_m_estimate_has_its_ends(count: int, more: int, m: float, p: float) -> None:
    whole = count + more
    found = m_estimate(count, whole, m, p)
    due = Fraction(count) + Fraction(m) * Fraction(p)
    below = whole + Fraction(m)
    assert found == pytest.approx(float(due / below) if below else p, rel=4 * U)
    assert (found == 0) == (due == 0 if below else p == 0)
    assert m_estimate(count, whole, 1e300, p) == pytest.approx(p, abs=1e-290)


@pytest.mark.spec("BMIX-THETA", "BMIX-LL")
@some(30)
@given(presences(), st.sampled_from([0.0, 2.0]), st.integers(1, 4))
def test_presences_stay_probabilities(case: Case, m: float, limit: int) -> None:
    """Sums are rounded, so a word of all rows could get more than one: it gets one."""
    fit = bernoulli(
        case.rows, labels=case.labels, weights=case.weights, m=m, limit=limit, collapse="drop"
    )
    assert all(0.0 <= theta <= 1.0 for row in fit.parameters.probabilities for theta in row)
    assert fit.monotone.holds
