"""The evidence: against conjugate closed forms, and against sums over all assignments."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import permutations, product
from typing import Any

import pytest

from refclust.backends.session import Session
from refclust.data.accepting.door import dataset
from refclust.errors import BadOption, TooLarge
from refclust.fitting.draws import Draws
from refclust.mixture.bayes import importance
from refclust.mixture.bayes.beliefs import CountBeliefs, GaussianBeliefs
from refclust.mixture.bayes.draws import (
    CountDraws,
    GaussianDraw,
    GaussianDraws,
    dirichlet_log_density,
    log_dirichlet_variate,
    log_gamma_variate,
)
from refclust.mixture.bayes.fit import (
    variational_bernoulli,
    variational_gaussian,
    variational_multinomial,
)
from refclust.mixture.bayes.importance import (
    importance_estimate,
    importance_sampling,
    log_permanent,
)
from refclust.mixture.bayes.precisions import CONJUGATE
from refclust.mixture.bayes.proposals import model_of
from refclust.mixture.covariance.models import MODELS
from refclust.mixture.fit import gaussian_mixture
from refclust.numbers.logspace import logsumexp
from tests.mixture.evidence_witness import (
    assignments_of_documents,
    assignments_of_rows,
    evidence_of_documents,
    evidence_of_line,
    evidence_of_presences,
    evidence_of_rows,
    log_beta,
)

LINE = [[0.0], [0.5], [1.5], [6.0], [6.5], [8.0], [7.0]]
PLANE = [[0.0, 1.0], [0.5, 0.0], [1.5, 2.0], [6.0, 1.0], [6.5, 3.5], [8.0, 2.0]]
DOCS = [[8, 0, 2], [9, 1, 0], [0, 7, 6], [1, 8, 3], [0, 6, 7]]
CROSSED = [[6, 0, 6, 0], [6, 0, 0, 6], [0, 6, 6, 0], [0, 6, 0, 6]]


@pytest.mark.spec("MS-IS", "MS-VIID", "VB-GAUSS")
def test_one_component_is_conjugate() -> None:
    """Every weight is the evidence, and the bound is equal to it."""
    fit = variational_gaussian(LINE, 1)
    found = importance_sampling(fit, LINE, samples=50)
    wanted = evidence_of_line(LINE, 1, 1.0)
    assert found.effective_size == pytest.approx(50, rel=1e-12)
    assert found.log_evidence == pytest.approx(wanted, rel=1e-12)
    assert fit.objective == pytest.approx(wanted, rel=1e-12)
    assert found.standard_error == pytest.approx(0, abs=1e-7)
    assert found.trustworthy


@pytest.mark.spec("MS-IS", "MS-VIID")
def test_one_component_in_several_columns() -> None:
    """The evidence by the chain rule: bounds of n rows do not depend on the draws."""
    fit = variational_gaussian(PLANE, 1, beta=0.5, nu=3.5)
    found = importance_sampling(fit, PLANE, samples=40, seed=3)
    assert found.effective_size == pytest.approx(40, rel=1e-12)
    assert found.log_evidence == pytest.approx(fit.objective, rel=1e-12)


@pytest.mark.spec("MS-IS", "MS-VIID", "VB-MULT")
def test_one_component_of_documents() -> None:
    fit = variational_multinomial(DOCS, 1)
    found = importance_sampling(fit, DOCS, samples=30)
    wanted = log_beta([19.0, 23.0, 19.0]) - log_beta([1.0, 1.0, 1.0])
    assert found.log_evidence == pytest.approx(wanted, rel=1e-12)
    assert fit.objective == pytest.approx(wanted, rel=1e-12)
    assert found.effective_size == pytest.approx(30, rel=1e-12)


@pytest.mark.spec("MS-IS", "MS-VIELBO", "MS-EVID", "PROP-MS-1", "MS-VISEL")
@pytest.mark.parametrize("k", [2, 3])
def test_several_components_of_documents(k: int) -> None:
    """The estimate is near the sum over all assignments, and the bound is below it."""
    wanted = evidence_of_documents(DOCS, k, 1.0 / k)
    fit = variational_multinomial(DOCS, k, restarts=3)
    found = importance_sampling(fit, DOCS, samples=1000)
    assert fit.objective < wanted
    assert fit.objective < found.log_evidence
    assert found.effective_size > 600
    # Four standard errors: on fixed random numbers, once and for all.
    assert abs(found.log_evidence - wanted) < 4 * found.standard_error


@pytest.mark.spec("MS-IS")
def test_two_ways_to_share_out_documents_are_both_counted() -> None:
    """By their first two words or by their last two: each way, with its mirror image, is half."""
    fit = variational_multinomial(CROSSED, 2, restarts=3)
    found = importance_sampling(fit, CROSSED, samples=1000)
    parts = assignments_of_documents(CROSSED, 2, 0.5)
    wanted = logsumexp(parts.values())
    usual = logsumexp([parts[tuple(fit.labels)], parts[tuple(1 - z for z in fit.labels)]])
    assert usual < wanted - 0.69
    assert abs(found.log_evidence - wanted) < 3 * found.standard_error < 0.06
    assert found.doubts == ()


@pytest.mark.spec("MS-CHAIN", "MS-IS")
def test_a_chain_sees_what_the_proposal_has_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the beliefs alone nearly all draws count, and half of the evidence is missing."""
    monkeypatch.setattr(importance, "kept", lambda _: [])
    fit = variational_multinomial(CROSSED, 2, restarts=3)
    found = importance_sampling(fit, CROSSED, samples=1000)
    wanted = evidence_of_documents(CROSSED, 2, 0.5)
    assert found.effective_size > 950
    assert found.log_evidence < wanted - 100 * found.standard_error
    assert not found.trustworthy
    assert any(reason.startswith("a chain of parameters tells") for reason in found.doubts)


def short_documents(seed: int) -> tuple[list[list[int]], int]:
    """A few short documents of two or three words, and a number of components."""
    draws = Draws(seed)
    k, d, n = 2 + seed % 2, 3, 4 + seed % 2
    docs = [[int(draws.next() * 3) for _ in range(d)] for _ in range(n)]
    return [doc if any(doc) else [1] * d for doc in docs], k


@pytest.mark.spec("MS-IS", "MS-PARETO", "MS-CHAIN")
def test_errors_cover_the_exact_evidence() -> None:
    """Twelve estimates on fixed random numbers, each against the sum over all assignments.

    By the beliefs alone three of them are 2.3 to 4.0 of their errors too low.
    """
    away, trusted = [], 0
    for seed in range(12):
        docs, k = short_documents(seed)
        fit = variational_multinomial(docs, k, restarts=2)
        found = importance_sampling(fit, docs, samples=300, seed=seed)
        gap = found.log_evidence - evidence_of_documents(docs, k, 1 / k)
        away.append(gap / found.standard_error)
        trusted += found.trustworthy
    assert max(map(abs, away)) < 3.0
    assert sum(abs(z) < 2.0 for z in away) >= 11
    assert trusted >= 8


@pytest.mark.spec("MS-CHAIN", "MIX-JOINT", "VB-DIAG", "VB-BALL", "VB-COMMON")
@pytest.mark.parametrize("covariance", [None, *CONJUGATE])
def test_a_chain_spends_its_time_where_the_posterior_is(covariance: str | None) -> None:
    """The shares of all partitions of three rows, against their exact probabilities."""
    rows: Any = [[2, 0], [1, 1], [0, 2]]
    fit: Any
    if covariance is None:
        fit = variational_multinomial(rows, 2)
        parts = assignments_of_documents(rows, 2, 0.5)
    else:
        rows = [[0.0, 1.0], [1.0, 0.0], [5.0, 3.0]]
        fit = variational_gaussian(rows, 2, covariance=covariance)
        parts = assignments_of_rows(rows, 2, 0.5, covariance)
    model = model_of(fit, dataset(rows), Session("reference"))
    chain, steps = model.chain(fit.parameters, Draws(3)), 4000 if covariance is None else 2000
    times: Counter[tuple[bool, ...]] = Counter()
    for _ in range(steps):
        first = list(chain.step().shares[::2])
        times[tuple(x == first[0] for x in first)] += 1
    whole = logsumexp(parts.values())
    due: Counter[tuple[bool, ...]] = Counter()
    for labels, log_p in parts.items():
        due[tuple(z == labels[0] for z in labels)] += math.exp(log_p - whole)  # type: ignore[assignment]
    for partition, share in due.items():
        # Five errors of independent states; a chain may need a few steps for one of those.
        error = math.sqrt(share * (1 - share) * 4 / steps)
        assert abs(times[partition] / steps - share) < 5 * error


@pytest.mark.spec("MS-CHAIN")
def test_weights_of_a_chain() -> None:
    """Copies have components of their own; what is no number of copies has no chain."""
    docs = [[3, 0], [1, 1], [0, 2]]
    rows = dataset(docs, weights=[2.0, 1.0, 2.0])
    found = importance_sampling(variational_multinomial(rows, 2), rows, samples=400)
    copied = [docs[0], docs[0], docs[1], docs[2], docs[2]]
    wanted = evidence_of_documents(copied, 2, 0.5)
    assert abs(found.log_evidence - wanted) < 4 * found.standard_error
    assert len(found.chains) == 2
    model = model_of(variational_multinomial(rows, 2), rows, Session("reference"))
    chain = model.chain(model.strewn(Draws(0)), Draws(1))
    shares = {x for _ in range(50) for x in chain.step().shares}
    assert shares == {0.0, 0.5, 1.0}
    half = dataset(docs, weights=[0.5, 1.0, 2.0])
    found = importance_sampling(variational_multinomial(half, 2), half, samples=200)
    assert found.chains == ()
    assert "no chain can follow weights that are no small whole numbers" in found.doubts


@pytest.mark.spec("MS-IS", "MS-VIELBO", "MS-EVID", "PROP-MS-1")
@pytest.mark.parametrize("k", [2, 3])
def test_several_components_on_a_line(k: int) -> None:
    wanted = evidence_of_line(LINE[:6], k, 1.0 / k)
    fit = variational_gaussian(LINE[:6], k, restarts=3)
    found = importance_sampling(fit, LINE[:6], samples=300)
    assert fit.objective < wanted
    assert fit.objective < found.log_evidence
    assert found.trustworthy
    assert abs(found.log_evidence - wanted) < 4 * found.standard_error


@pytest.mark.spec("MS-IS", "MS-CHAIN", "VB-DIAG", "VB-BALL", "VB-COMMON", "PROP-MS-1")
@pytest.mark.parametrize("covariance", CONJUGATE)
def test_several_components_of_every_covariance(covariance: str) -> None:
    """The estimate is near the sum over all assignments, and the bound is below it."""
    wanted = evidence_of_rows(PLANE, 2, 0.5, covariance)
    fit = variational_gaussian(PLANE, 2, covariance=covariance, restarts=3)
    found = importance_sampling(fit, PLANE, samples=300)
    assert fit.objective < wanted
    assert fit.objective < found.log_evidence
    # Four standard errors: on fixed random numbers, once and for all.
    assert abs(found.log_evidence - wanted) < 4 * found.standard_error < 0.6
    assert len(found.chains) == 2


@pytest.mark.spec("MS-IS", "MS-CHAIN", "VB-BERN")
def test_several_components_of_features() -> None:
    rows = [[1, 1, 0], [1, 0, 0], [0, 1, 1], [0, 0, 1], [1, 1, 1]]
    wanted = evidence_of_presences(rows, 2, 0.5, 1.0)
    fit = variational_bernoulli(rows, 2, restarts=3)
    found = importance_sampling(fit, rows, samples=600)
    assert fit.objective < wanted
    assert abs(found.log_evidence - wanted) < 4 * found.standard_error < 0.3
    assert len(found.chains) == 2


@pytest.mark.spec("VB-DIAG", "VB-BALL", "VB-COMMON", "MS-IS")
@pytest.mark.parametrize("covariance", CONJUGATE)
def test_draws_of_every_covariance_have_their_moments(covariance: str) -> None:
    """E[precision] = nu V, and the means are centred: within five standard errors."""
    size = {"full": 4, "diagonal": 2, "spherical": 1}[MODELS[covariance].form]
    scale = (2.0, 0.0, 0.0, 1.0) if size == 4 else (2.0, 1.0)[:size]
    places = ((1.0, -1.0), (0.0, 4.0))
    beliefs = GaussianBeliefs(
        (3.0, 2.0), (2.0, 5.0), (6.0, 6.0), places, (scale, scale), covariance
    )
    maker, draws, n = GaussianDraws(beliefs), Draws(4), 2000
    drawn = [maker.draw(draws) for _ in range(n)]
    common = covariance.startswith("E")
    assert all((one.whitenings[0] is one.whitenings[1]) == common for one in drawn)
    inverse = [2.0, 2.0 if size == 1 else 1.0]  # of V, on the diagonal
    for k, j in product(range(2), range(2)):
        squares = []
        for one in drawn:
            white = list(one.densities().whitening)[k * size : (k + 1) * size]
            lines = [white[:2], white[2:]] if size == 4 else [white * 2]
            squares.append(math.fsum(line[j] ** 2 for line in lines))
        # The variance of a diagonal entry of a Wishart matrix is 2 nu V^2.
        error = math.sqrt(12.0 / n) / inverse[j]
        assert abs(math.fsum(squares) / n - 6.0 / inverse[j]) < 5 * error
        # E[1 / precision] is V^-1 / (nu - size - 1), so the variance of a mean is that over beta.
        spread = inverse[j] / (6.0 - (3 if size == 4 else 2)) / beliefs.beta[k]
        middle = math.fsum(one.means[k][j] for one in drawn) / n
        assert abs(middle - places[k][j]) < 5 * math.sqrt(spread / n)


@pytest.mark.spec("MS-IS")
def test_renaming_components_changes_nothing() -> None:
    """The same draws, with the beliefs renamed: r is symmetric, so each weight is the same."""
    fit = variational_multinomial(DOCS, 2, restarts=2)
    beliefs = CountDraws(fit.parameters)
    drawn = beliefs.draw(Draws(5))
    matrix = [[beliefs.log_density(c, drawn, j) for j in range(2)] for c in range(2)]
    assert log_permanent(matrix) == pytest.approx(log_permanent(matrix[::-1]), rel=1e-14)


@pytest.mark.spec("MS-IS")
def test_weights_are_copies() -> None:
    rows = dataset([[0.0], [1.0], [4.0], [5.0]], weights=[2.0, 1.0, 1.0, 2.0])
    copies = [[0.0], [0.0], [1.0], [4.0], [5.0], [5.0]]
    one = importance_sampling(variational_gaussian(rows, 1), rows, samples=5)
    other = importance_sampling(variational_gaussian(copies, 1), copies, samples=5)
    assert one.log_evidence == pytest.approx(other.log_evidence, rel=1e-12)


@pytest.mark.spec("MS-IS")
def test_estimates_from_weights() -> None:
    log_mean, size = importance_estimate([math.log(1.0), math.log(3.0)])
    assert log_mean == pytest.approx(math.log(2.0), rel=1e-15)
    assert size == pytest.approx(16 / 10, rel=1e-15)
    low, all_count = importance_estimate([-1e5] * 7)
    assert low == pytest.approx(-1e5, rel=1e-15)
    assert all_count == 7.0
    assert importance_estimate([-math.inf, -math.inf]) == (-math.inf, 1.0)
    assert importance_estimate([0.0, -2000.0]) == (-math.log(2.0), 1.0)
    few = importance_sampling(variational_gaussian(LINE, 1), LINE, samples=4)
    assert not few.trustworthy  # however equal the weights are
    assert few.doubts == (
        "only 4 of 4 draws count",
        "4 draws are too few to see the tail of their weights",
    )


@pytest.mark.spec("MS-IS")
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_permanent_by_all_permutations(size: int) -> None:
    draws = Draws(size)
    matrix = [[20.0 * draws.next() - 10.0 for _ in range(size)] for _ in range(size)]
    parts = [
        math.fsum(matrix[i][j] for i, j in enumerate(order)) for order in permutations(range(size))
    ]
    assert log_permanent(matrix) == pytest.approx(logsumexp(parts), rel=1e-13)


@pytest.mark.spec("MS-IS")
@pytest.mark.parametrize("shape", [0.05, 0.5, 1.0, 2.5, 40.0])
def test_gamma_variates_have_their_moments(shape: float) -> None:
    """Mean and mean logarithm of 4,000 draws, within five of their standard errors."""
    from refclust.numbers.special import digamma

    draws, n = Draws(1), 4000
    logs = [log_gamma_variate(draws, shape) for _ in range(n)]
    mean = math.fsum(map(math.exp, logs)) / n
    assert abs(mean - shape) < 5 * math.sqrt(shape / n)
    middle = math.fsum(logs) / n
    spread = math.fsum((x - middle) ** 2 for x in logs) / n
    assert abs(middle - digamma(shape)) < 5 * math.sqrt(spread / n)


@pytest.mark.spec("MS-IS", "NUM-RAND")
def test_the_order_of_random_numbers() -> None:
    """A shape of 1 or more takes two numbers and one, for each trial; one below takes one more."""
    draws = Draws(0)
    log_gamma_variate(draws, 3.0)
    assert draws.used % 3 == 0
    before = draws.used
    log_gamma_variate(draws, 0.5)
    assert (draws.used - before) % 3 == 1
    again, other = Draws(9), Draws(9)
    assert log_dirichlet_variate(again, [0.5, 2.0]) == log_dirichlet_variate(other, [0.5, 2.0])


@pytest.mark.spec("MS-IS")
def test_tiny_shapes_do_not_underflow() -> None:
    draws = Draws(2)
    for _ in range(50):
        shares = log_dirichlet_variate(draws, [1e-3, 1e-3])
        assert all(math.isfinite(x) and x <= 0 for x in shares)


@pytest.mark.spec("MS-IS", "VB-GAUSS")
def test_precisions_and_means_have_their_moments() -> None:
    """E[L] = nu V for a Wishart matrix, and the mean is centred: within five standard errors."""
    scale = (2.0, 0.5, 0.5, 1.0)  # the inverse of V, of determinant 7/4
    beliefs = GaussianBeliefs((3.0,), (2.0,), (5.0,), ((1.0, -1.0),), (scale,))
    v = [[1.0 / 1.75, -0.5 / 1.75], [-0.5 / 1.75, 2.0 / 1.75]]
    maker, draws, n = GaussianDraws(beliefs), Draws(4), 3000
    drawn = [maker.draw(draws) for _ in range(n)]
    for i, j in product(range(2), repeat=2):
        values = [sum(line[i] * line[j] for line in one.whitenings[0][0]) for one in drawn]
        # The variance of an entry of a Wishart matrix is nu (V_ij^2 + V_ii V_jj).
        error = math.sqrt(5.0 * (v[i][j] ** 2 + v[i][i] * v[j][j]) / n)
        assert abs(math.fsum(values) / n - 5.0 * v[i][j]) < 5 * error
    for j, centre in enumerate((1.0, -1.0)):
        # E[L^-1] = V^-1 / (nu - d - 1), so the variance of the mean is that over beta.
        error = math.sqrt(scale[3 * j] / 2.0 / 2.0 / n)
        assert abs(math.fsum(one.means[0][j] for one in drawn) / n - centre) < 5 * error


@pytest.mark.spec("MS-IS", "VB-GAUSS")
def test_density_of_one_precision() -> None:
    """In one column, the density of the mean alone is that of Student, with nu degrees."""
    beliefs = GaussianBeliefs((1.0,), (2.0,), (4.0,), ((0.0,),), ((3.0,),))
    maker = GaussianDraws(beliefs)

    def density(mean: float, precision: float) -> float:
        drawn = GaussianDraw((0.0,), ((mean,),), ((((math.sqrt(precision),),),),))
        return math.exp(maker.log_density(0, drawn, 0))

    for mean in (0.0, 1.0, -3.0):
        # The rule of midpoints up to 30, with 1,500 steps: its error is of the order of h^2 / 24
        # times the change of the slope, and the rest of the integral is below 1e-18.
        whole = math.fsum(density(mean, (i + 0.5) / 50.0) for i in range(1500)) / 50.0
        square = 3.0 / (2.0 * 4.0)
        student = (
            math.gamma(2.5)
            / math.gamma(2.0)
            / math.sqrt(4.0 * math.pi * square)
            * (1.0 + mean * mean / (4.0 * square)) ** -2.5
        )
        assert whole == pytest.approx(student, rel=1e-3)


@pytest.mark.spec("MS-IS", "VB-DIAG", "VB-BALL", "VB-COMMON")
@pytest.mark.parametrize("covariance", ["VVI", "EEI", "VII", "EII"])
def test_densities_of_gamma_precisions(covariance: str) -> None:
    """Gamma densities of the precisions times normal densities of the means, written out."""
    scales = (2.0,) if covariance.endswith("II") else (2.0, 3.0)
    places, betas, nu = ((1.0, -1.0), (0.0, 4.0)), (2.0, 5.0), 5.5
    beliefs = GaussianBeliefs((3.0, 2.0), betas, (nu, nu), places, (scales,) * 2, covariance)
    maker = GaussianDraws(beliefs)
    drawn = maker.draw(Draws(8))

    def gamma(x: float, scale: float) -> float:
        shape, rate = nu / 2, scale / 2
        return shape * math.log(rate) - math.lgamma(shape) + (shape - 1) * math.log(x) - rate * x

    def normal(x: float, mean: float, precision: float) -> float:
        return 0.5 * (math.log(precision / (2 * math.pi)) - precision * (x - mean) ** 2)

    squares = [[white[0][0] ** 2 for white in factors] for factors in drawn.whitenings]
    own = [math.fsum(map(gamma, line, scales)) for line in squares]
    for k, j in product(range(2), repeat=2):
        precisions = squares[j] * (2 // len(scales))
        due = [normal(drawn.means[j][i], places[k][i], betas[k] * precisions[i]) for i in range(2)]
        due += [] if covariance.startswith("E") else [own[j]]
        assert maker.log_density(k, drawn, j) == pytest.approx(math.fsum(due), rel=1e-12)
    common = own[0] if covariance.startswith("E") else 0.0
    assert maker.log_common(drawn) == pytest.approx(common, rel=1e-12)


@pytest.mark.spec("MS-IS", "VB-COMMON")
def test_density_of_one_common_precision() -> None:
    """Of one component, a common precision is its own."""
    scale = (2.0, 0.5, 0.5, 1.0)
    beliefs = GaussianBeliefs((1.0,), (2.0,), (5.0,), ((1.0, -1.0),), (scale,))
    own, common = GaussianDraws(beliefs), GaussianDraws(replace(beliefs, covariance="EEE"))
    drawn = own.draw(Draws(1))
    both = common.log_density(0, drawn, 0) + common.log_common(drawn)
    assert both == pytest.approx(own.log_density(0, drawn, 0), rel=1e-13)


@pytest.mark.spec("VB-MULT")
def test_density_of_words() -> None:
    assert dirichlet_log_density([1.0, 1.0, 1.0], [math.log(x) for x in (0.5, 0.25, 0.25)]) == (
        pytest.approx(math.log(2.0), rel=1e-15)
    )
    beliefs = CountBeliefs((1.0,), ((2.0, 1.0),))
    drawn = CountDraws(beliefs).draw(Draws(0))
    assert math.fsum(map(math.exp, drawn.log_words[0][0])) == pytest.approx(1.0, rel=1e-14)


@pytest.mark.spec("MS-IS")
def test_what_is_refused() -> None:
    fit = variational_gaussian(LINE, 1)
    with pytest.raises(BadOption, match="samples is 0"):
        importance_sampling(fit, LINE, samples=0)
    with pytest.raises(BadOption, match="not those of the fit"):
        importance_sampling(fit, PLANE)
    plain: Any = gaussian_mixture(LINE, 1)
    with pytest.raises(BadOption, match="no beliefs"):
        importance_sampling(plain, LINE)
    many = [[float(i)] for i in range(14)]
    with pytest.raises(TooLarge, match="13 components"):
        importance_sampling(variational_gaussian(many, 13), many)
