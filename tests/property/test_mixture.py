"""What chapter 30 proves about EM holds for every family, on arbitrary data."""

from __future__ import annotations

import math
from itertools import pairwise
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import refclust as fits
from refclust.cluster.fit import kmeans_steps
from refclust.errors import DegenerateCovariance, KOutOfRange, NotFinite
from refclust.fitting.checkpoint import Checkpoint
from refclust.fitting.draws import chosen
from refclust.kernels.mixtures.shared import HARD, SOFT, Rule, shares
from refclust.mixture.certified import certified_log_likelihood
from refclust.mixture.course.repair import best_run
from refclust.mixture.families.counts.parameters import CountParameters
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.mixture.predict import assignments
from refclust.mixture.results import MixtureFit
from refclust.mixture.sample import sample
from refclust.mixture.starts import numbered
from refclust.mixture.theory import (
    decomposition,
    expected_log_likelihood,
    log_joint,
    lower_bound,
    posteriors,
    row_bound,
    row_divergence,
    row_entropy,
    row_log_likelihood,
)
from refclust.numbers.sampling import stream
from tests.metrics.strategies import some
from tests.mixture.tools import (
    CONVEX,
    FITS,
    MODELS,
    MONOTONE,
    STARTS,
    Case,
    U,
    check_numbers,
    distributions,
    lse,
    of_family,
    points,
    smoothed,
    standing,
    told,
)

FAMILIES = st.sampled_from(["gaussian", "multinomial", "bernoulli"])
STEPS: dict[str, Any] = {
    "gaussian": fits.gaussian_steps,
    "multinomial": fits.multinomial_steps,
    "bernoulli": fits.bernoulli_steps,
}


def fitted(name: str, case: Case, **options: Any) -> MixtureFit[Any]:
    """A fit from the labels of the case unless a start is named."""
    known: dict[str, Any] = {"weights": case.weights, **smoothed(name)}
    if "start" in options:
        known["k"] = case.k
    elif "parameters" not in options:
        known["labels"] = case.labels
    return FITS[name](case.rows, **{**known, **options})


def size(values: Any) -> float:
    """A scale for rounding errors of sums: one, and the absolute values."""
    return math.fsum((1.0, *(abs(x) for x in values if math.isfinite(x))))


# -- the objective never falls --------------------------------------------------------------------


@pytest.mark.spec("EM-CONV", "EM-GEM", "EM-PRIOR", "EM-ALG")
@some(70)
@given(
    FAMILIES.flatmap(lambda name: st.tuples(st.just(name), of_family(name))),
    st.sampled_from(MONOTONE),
    st.sampled_from(["labels", *STARTS]),
    st.sampled_from([0.0, 1e-3, 0.5, 30.0, 1e9]),
    st.sampled_from(MODELS),
    st.sampled_from(["end", "drop", "reset"]),
    st.integers(0, 9),
)
def test_no_iteration_falls(
    drawn: tuple[str, Case],
    variation: str,
    start: str,
    strength: float,
    model: str,
    collapse: str,
    seed: int,
) -> None:
    """Every family, start, variation that promises it, prior and covariance model."""
    name, case = drawn
    options: dict[str, Any] = {"variation": variation, "collapse": collapse, "limit": 12}
    if variation == "top":
        options["top"] = 1 + seed % case.k
    if name == "gaussian":
        options |= {"floor": strength, "covariance": model}
        if variation == "generalized":
            options["covariance"] = CONVEX[seed % len(CONVEX)]
    else:
        options["m"] = strength
    if start != "labels":
        options |= {"start": start, "seed": seed}
    try:
        fit = fitted(name, case, **options)
    except (DegenerateCovariance, KOutOfRange):
        return
    check_numbers(fit)
    assert fit.monotone.standing == standing(fit)
    repaired = {event.iteration for event in fit.runs[0].events}
    ascents = {one.iteration: one for one in fit.monotone.ascents}
    # Every M-step has its judgement, but those that a policy changed by hand.
    assert set(ascents) | repaired >= set(range(1, fit.iterations + 1))
    for one, other in pairwise(fit.trace):
        if other.iteration not in ascents:
            continue
        ascent = ascents[other.iteration]
        assert other.objective - one.objective >= -2 * ascent.rounding - 4 * U * size(
            [one.objective, fit.weight * fit.constant]
        )
        assert ascent.maximisation + ascent.expectation == pytest.approx(
            ascent.after - ascent.before, abs=8 * U * size([ascent.before, ascent.bound])
        )
    assert fit.objective == fit.trace[-1].objective
    assert [one.iteration for one in fit.trace] == list(range(fit.iterations + 1))


@pytest.mark.spec("EM-PRIOR", "EM-ALG", "EM-STOP")
@some(25)
@given(FAMILIES.flatmap(lambda name: st.tuples(st.just(name), of_family(name))), st.integers(0, 4))
def test_what_is_returned_is_what_is_reported(drawn: tuple[str, Case], limit: int) -> None:
    """The objective, the labels, the sizes and the prior belong to the parameters returned."""
    name, case = drawn
    try:
        fit = fitted(name, case, limit=limit)
        again = fitted(name, case, parameters=fit.parameters, limit=0)
    except DegenerateCovariance:
        return
    for one in ("labels", "log_likelihood", "objective", "log_prior", "entropy", "sizes"):
        assert getattr(fit, one) == getattr(again, one)
    assert fit.objective == pytest.approx(
        fit.log_likelihood + fit.log_prior, abs=4 * U * size([fit.log_likelihood, fit.log_prior])
    )
    assert again.iterations == 0
    assert again.stopped == "limit"
    assert fit.iterations <= limit


@pytest.mark.spec("EM-STOP")
@some(25)
@given(
    FAMILIES.flatmap(lambda name: st.tuples(st.just(name), of_family(name))),
    st.sampled_from([0.0, 1e-9, 1e-3, 0.1, 10.0]),
    st.integers(1, 8),
)
def test_the_first_small_gain_stops(drawn: tuple[str, Case], tolerance: float, limit: int) -> None:
    name, case = drawn
    try:
        fit = fitted(name, case, tolerance=tolerance, limit=limit)
    except DegenerateCovariance:
        return
    gains = [one.gain for one in fit.trace]
    assert gains[0] is None
    assert all(gain is not None and gain > tolerance for gain in gains[1:-1])
    last = gains[-1]
    if last is not None and last <= tolerance:
        assert fit.stopped == "tolerance"
        assert fit.converged
    else:
        assert (fit.stopped, fit.iterations) == ("limit", limit)
    for one, other in pairwise(fit.trace):
        assert other.gain is not None
        due = (other.objective - one.objective) / fit.weight
        assert other.gain == pytest.approx(due, abs=8 * U * size([one.objective]) / fit.weight)


# -- the bound ------------------------------------------------------------------------------------


@st.composite
def theory_cases(draw: st.DrawFn) -> tuple[str, Case, Any, list[tuple[float, ...]]]:
    name = draw(FAMILIES)
    case = draw(of_family(name, 6))
    d, k = len(case.rows[0]), draw(st.integers(1, 3))
    weights = draw(distributions(k).filter(lambda shares: min(shares) > 0))
    if name == "gaussian":
        number = st.sampled_from([-1.0, 0.0, 0.5, 30.0])
        means = tuple(draw(st.tuples(*[number] * d)) for _ in range(k))
        spreads = tuple((draw(st.sampled_from([0.25, 1.0, 7.0])),) for _ in range(k))
        parameters: Any = GaussianParameters(weights, means, spreads, "spherical")
    else:
        rows = [draw(distributions(d).filter(lambda shares: min(shares) > 0)) for _ in range(k)]
        parameters = CountParameters(weights, tuple(rows))
        if name == "bernoulli" and d == 1:
            parameters = CountParameters(weights, ((0.5,),) * k)
    q = [draw(distributions(k)) for _ in case.rows]
    return name, case, parameters, q


def data_of(case: Case) -> Any:
    from refclust.data.accepting.door import dataset

    return dataset(case.rows) if case.weights is None else dataset(case.rows, weights=case.weights)


@pytest.mark.spec("EM-DECOMP", "EM-ELBO", "EM-ELBOFACT", "EM-EXPCDLL")
@pytest.mark.spec("EM-Q", "EM-TIGHT", "EM-ESTEP", "MIX-MARGLL")
@some(60)
@given(theory_cases())
def test_the_likelihood_is_the_bound_and_the_divergence(
    drawn: tuple[str, Case, Any, list[tuple[float, ...]]],
) -> None:
    name, case, parameters, q = drawn
    data = data_of(case)
    joint = log_joint(parameters, data, family=name)
    # Every term is a product of a share and logarithms: a few roundings of each, and their sum.
    allowed = 32 * U * size([w * x for w, row in zip(case.masses, joint, strict=True) for x in row])
    found = decomposition(q, parameters, data, family=name)
    assert abs(found.gap) <= allowed
    assert found.lower_bound <= found.log_likelihood + allowed
    assert found.divergence >= -allowed
    assert found.expected + found.entropy == pytest.approx(found.lower_bound, abs=allowed)
    exact = math.fsum(w * lse(row) for w, row in zip(case.masses, joint, strict=True) if w)
    assert found.log_likelihood == pytest.approx(exact, abs=allowed)
    assert lower_bound(q, parameters, data, family=name) == found.lower_bound
    assert expected_log_likelihood(q, parameters, data, family=name) == found.expected
    # With the posteriors the bound is tight: Q(theta, theta) = J(theta).
    own = posteriors(parameters, data, family=name)
    tight = decomposition(own, parameters, data, family=name)
    assert tight.lower_bound == pytest.approx(tight.log_likelihood, abs=allowed)
    assert abs(tight.divergence) <= allowed
    # A bound that is tight has the posteriors: Pinsker, 2 (sum of |q - p|/2)^2 <= KL.
    for w, one, other in zip(case.masses, q, own, strict=True):
        if w:
            distance = math.fsum(abs(a - b) for a, b in zip(one, other, strict=True))
            assert w * distance * distance / 2 <= found.divergence + allowed


@pytest.mark.spec("EM-DECOMP")
def test_a_posterior_that_underflows_has_a_divergence() -> None:
    """The posterior is 5e-313; q / p overflows, log q - log p is about 719."""
    joint = [0.0, -719.0]
    assert 0 < math.exp(-719.0) < 2.3e-308  # a number without its digits
    q = (0.5, 0.5)
    found = row_divergence(q, joint)
    assert found == pytest.approx(719.0 / 2 - math.log(2.0), rel=4 * U)
    assert row_bound(q, joint) + found == pytest.approx(0.0, abs=719 * 4 * U)
    far = row_divergence((0.0, 1.0), [0.0, -1e5])
    assert far == 1e5
    assert row_divergence((0.5, 0.5), [0.0, -math.inf]) == math.inf
    assert row_bound((0.5, 0.5), [0.0, -math.inf]) == -math.inf
    assert row_bound((1.0, 0.0), [0.0, -math.inf]) == 0.0


@pytest.mark.spec("EM-ELBO", "EM-DECOMP")
def test_the_bound_where_something_is_impossible() -> None:
    two = CountParameters((0.5, 0.5), ((1.0, 0.0), (0.5, 0.5)))
    found = decomposition([(0.5, 0.5)], two, [[0, 1]], family="multinomial")
    assert (found.lower_bound, found.divergence) == (-math.inf, math.inf)
    assert found.log_likelihood == math.log(0.25)
    with pytest.raises(NotFinite):
        _ = found.gap
    none = CountParameters((0.5, 0.5), ((1.0, 0.0), (1.0, 0.0)))
    assert lower_bound([(0.5, 0.5)], none, [[0, 1]], family="multinomial") == -math.inf


@pytest.mark.spec("PROP-EM-8", "EM-ESTEP", "EM-VAR", "CEM-ASSIGN")
@some(80)
@given(
    st.lists(
        st.sampled_from([0.0, 0.0, -1.0, -0.3, -800.0, -1e5, -math.inf, 1e4]),
        min_size=1,
        max_size=5,
    ),
    st.integers(0, 5),
)
def test_shares_are_probabilities(joint: list[float], top: int) -> None:
    k = len(joint)
    found = shares(joint, Rule(top=min(top, k)))
    if max(joint) == -math.inf:
        assert found.q == (0.0,) * k
        return
    assert all(0 <= share <= 1 for share in found.q)
    assert math.fsum(found.q) == pytest.approx(1.0, abs=2 * k * U)
    assert -4 * U <= found.entropy <= math.log(k) + 4 * k * U
    assert found.bound <= found.log_likelihood
    if 0 < top < k:
        order = sorted(range(k), key=lambda i: (-joint[i], i))
        assert all(found.q[i] == 0 for i in order[top:])
        kept = [joint[i] for i in order[:top]]
        assert found.bound == pytest.approx(lse(kept), abs=8 * U * size(kept))
    hard = shares(joint, HARD)
    best = joint.index(max(joint))
    assert hard.q == tuple(float(i == best) for i in range(k))
    assert hard.bound == max(joint)
    assert hard.entropy == 0


@pytest.mark.spec("PROP-EM-9", "EM-MSTEP")
@some(50)
@given(
    FAMILIES.flatmap(lambda name: st.tuples(st.just(name), of_family(name))),
    st.sampled_from(MODELS),
    st.integers(1, 3),
)
def test_what_an_m_step_gives(drawn: tuple[str, Case], model: str, limit: int) -> None:
    name, case = drawn
    options: dict[str, Any] = {"limit": limit}
    if name == "gaussian":
        options["covariance"] = model
    try:
        fit = fitted(name, case, **options)
    except DegenerateCovariance:
        return
    k = case.k
    assert math.fsum(fit.parameters.weights) == pytest.approx(1.0, abs=2 * k * U)
    assert all(0 < w <= 1 for w in fit.parameters.weights)
    if name == "gaussian":
        for covariance in fit.parameters.covariances:
            d = len(covariance)
            assert all(covariance[i][j] == covariance[j][i] for i in range(d) for j in range(d))
            assert all(covariance[i][i] > 0 for i in range(d))
    else:
        for row in fit.parameters.probabilities:
            assert all(0 <= theta <= 1 for theta in row)
            if name == "multinomial":
                assert math.fsum(row) == pytest.approx(1.0, abs=8 * len(row) * U)


# -- weights, order, names ------------------------------------------------------------------------


@pytest.mark.spec("PROP-EM-W")
@some(30)
@given(FAMILIES.flatmap(lambda name: st.tuples(st.just(name), of_family(name))), st.data())
def test_weights_are_copies(drawn: tuple[str, Case], data: st.DataObject) -> None:
    """Sums are rounded once, so a row of weight two and two rows differ by roundings only."""
    name, case = drawn
    n = len(case.rows)
    weights = data.draw(st.lists(st.integers(0, 3), min_size=n - case.k, max_size=n - case.k))
    masses = [1] * case.k + weights
    rows = [row for row, w in zip(case.rows, masses, strict=True) for _ in range(w)]
    labels = [label for label, w in zip(case.labels, masses, strict=True) for _ in range(w)]
    assume(name != "gaussian" or all(len(set(column)) > 1 for column in zip(*rows, strict=True)))
    weighted = Case(case.rows, [float(w) for w in masses], case.labels, case.k)
    copied = Case(rows, None, labels, case.k)
    try:
        one = (
            fitted(name, weighted, limit=3, tolerance=None, covariance="VVI")
            if (name == "gaussian")
            else fitted(name, weighted, limit=3, tolerance=None)
        )
        other = (
            fitted(name, copied, limit=3, tolerance=None, covariance="VVI")
            if (name == "gaussian")
            else fitted(name, copied, limit=3, tolerance=None)
        )
    except DegenerateCovariance:
        return
    # A rounding of relative size u in shares moves an objective by the bound of the certificate.
    allowed = math.fsum(a.rounding for a in (*one.monotone.ascents, *other.monotone.ascents))
    assert one.objective == pytest.approx(other.objective, abs=4 * allowed)
    assert one.sizes == pytest.approx(other.sizes, abs=1e-9)
    assert one.weight == other.weight == sum(masses)
    assert one.iterations == other.iterations


@pytest.mark.spec("EM-ALG", "EM-STOP")
@some(30)
@given(FAMILIES.flatmap(lambda name: st.tuples(st.just(name), of_family(name))), st.data())
def test_the_order_of_rows_does_not_matter(drawn: tuple[str, Case], data: st.DataObject) -> None:
    """From given parameters, bit for bit: every sum over rows is rounded once."""
    name, case = drawn
    try:
        start = fitted(name, case, limit=0).parameters
        one = fitted(name, case, parameters=start, limit=4)
    except DegenerateCovariance:
        return
    order = data.draw(st.permutations(range(len(case.rows))))
    weights = None if case.weights is None else [case.weights[i] for i in order]
    mixed = Case([case.rows[i] for i in order], weights, [case.labels[i] for i in order], case.k)
    # The floor comes from variances around the first row, so the prior is left out here.
    plain = {"floor": 0.0} if name == "gaussian" else {}
    try:
        one = fitted(name, case, parameters=start, limit=4, **plain)
        other = fitted(name, mixed, parameters=start, limit=4, **plain)
    except DegenerateCovariance:
        return
    assert other.labels.tolist() == [one.labels[i] for i in order]
    assert told(other.parameters) == told(one.parameters)
    assert (other.objective, other.iterations) == (one.objective, one.iterations)


@pytest.mark.spec("EM-ALG", "EM-INIT")
@some(25)
@given(FAMILIES.flatmap(lambda name: st.tuples(st.just(name), of_family(name))), st.data())
def test_components_have_no_order(drawn: tuple[str, Case], data: st.DataObject) -> None:
    """The same start with its components in another order ends in the same ones, in that order."""
    name, case = drawn
    order = data.draw(st.permutations(range(case.k)))
    place = {old: new for new, old in enumerate(order)}
    renamed = Case(case.rows, case.weights, [place[label] for label in case.labels], case.k)
    options: dict[str, Any] = {"limit": 3, "tolerance": None}
    if name == "gaussian":
        options["covariance"] = "VVI"
    try:
        one, other = fitted(name, case, **options), fitted(name, renamed, **options)
    except DegenerateCovariance:
        return
    allowed = 4 * math.fsum(a.rounding for a in one.monotone.ascents) + U * size([one.objective])
    assert other.objective == pytest.approx(one.objective, abs=allowed)
    assert other.sizes == pytest.approx([one.sizes[c] for c in order], abs=1e-9)


@pytest.mark.spec("EM-INIT")
@some(30)
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=8))
def test_labels_are_numbered_in_order(labels: list[str]) -> None:
    numbers, names = numbered(labels, len(labels))
    assert names == sorted(set(labels))
    assert [names[i] for i in numbers] == labels


@pytest.mark.spec("EM-INIT", "KM-INITMIX")
@some(20)
@given(points(), st.integers(0, 20))
def test_the_start_of_kmeans_is_its_clusters(case: Case, seed: int) -> None:
    try:
        fit = fitted("gaussian", case, start="kmeans", seed=seed, limit=0)
    except (KOutOfRange, DegenerateCovariance):
        return
    steps = kmeans_steps(
        case.rows,
        case.k,
        start="k-means++",
        weights=case.weights,
        seed=seed,
        limit=100,
        empty="farthest",
    )
    for _ in steps:
        pass
    labels = steps.result().labels.tolist()
    # A row of weight 0 belongs to no mean: the clusters are those of rows that count.
    same = fitted("gaussian", Case(case.rows, case.weights, labels, case.k), limit=0)
    assert told(fit.parameters) == told(same.parameters)


@pytest.mark.spec("EM-INIT")
@some(20)
@given(points(), st.integers(0, 20))
def test_the_random_start_uses_n_k_numbers_in_order(case: Case, seed: int) -> None:
    """Exponential numbers, row after row, divided by their sum; means follow from them."""
    try:
        fit = fitted("gaussian", case, start="random", seed=seed, limit=0, covariance="EII")
    except DegenerateCovariance:
        return
    rng = stream(seed)
    q = []
    for _ in case.rows:
        parts = [-math.log1p(-rng.random()) for _ in range(case.k)]
        q.append([part / math.fsum(parts) for part in parts])
    for c in range(case.k):
        shares_of = [w * row[c] for w, row in zip(case.masses, q, strict=True)]
        whole = math.fsum(shares_of)
        assert fit.parameters.weights[c] == pytest.approx(
            whole / math.fsum(case.masses), abs=16 * U
        )
        for j, mean in enumerate(fit.parameters.means[c]):
            due = math.fsum(s * row[j] for s, row in zip(shares_of, case.rows, strict=True))
            assert mean == pytest.approx(due / whole, abs=64 * U * 8)


@pytest.mark.spec("EM-RESTART")
@some(20)
@given(
    FAMILIES.flatmap(lambda name: st.tuples(st.just(name), of_family(name))),
    st.integers(0, 9),
    st.integers(2, 4),
)
def test_the_best_run_is_kept(drawn: tuple[str, Case], seed: int, restarts: int) -> None:
    name, case = drawn
    fit = fitted(name, case, start="random", seed=seed, restarts=restarts, limit=3)
    assert len(fit.runs) == restarts
    objectives = [run.objective for run in fit.runs]
    assert fit.best == objectives.index(max(objectives)) == best_run(fit.runs)
    assert fit.objective == max(objectives)
    assert fit.spread == (
        min(run.log_likelihood for run in fit.runs),
        max(run.log_likelihood for run in fit.runs),
    )
    # One stream runs through all restarts: the first run is that of a single one.
    alone = fitted(name, case, start="random", seed=seed, limit=3)
    assert told(alone.runs[0]) == told(fit.runs[0])


# -- variations -----------------------------------------------------------------------------------


@pytest.mark.spec("EM-VAR", "EM-ALG", "CEM-ALG")
@some(25)
@given(FAMILIES.flatmap(lambda name: st.tuples(st.just(name), of_family(name))))
def test_the_ends_of_the_restriction(drawn: tuple[str, Case]) -> None:
    """All components kept is EM; one kept is classification EM; bit for bit."""
    name, case = drawn
    pairs = [("em", {}), ("hard", {"top": 1})]
    for variation, option in pairs:
        top = {"top": case.k, **option}
        try:
            one = fitted(name, case, variation=variation, limit=4)
            other = fitted(name, case, variation="top", limit=4, **top)
        except DegenerateCovariance:
            continue
        assert told(one.runs) == told(other.runs)


@pytest.mark.spec("EM-VAR")
def test_the_bound_rises_while_the_likelihood_falls() -> None:
    rng = stream(0)
    rows = [[6 * rng.random() - 3 * (i % 2)] for i in range(8)]
    seen = False
    for seed in range(12):
        fit = FITS["gaussian"](
            rows, 2, covariance="EII", variation="hard", start="random", seed=seed, collapse="drop"
        )
        assert fit.monotone.standing == "not promised"
        assert fit.monotone.holds is None
        values = [one.log_likelihood for one in fit.trace]
        bounds = [one.objective for one in fit.trace]
        assert all(b <= v + 1e-12 for b, v in zip(bounds, values, strict=True))
        falls = any(b < a - 1e-3 for a, b in pairwise(values))
        seen = seen or (falls and not fit.runs[0].events)
    assert seen


@pytest.mark.spec("EM-GEM")
@some(25)
@given(
    FAMILIES.flatmap(lambda name: st.tuples(st.just(name), of_family(name))),
    st.sampled_from(CONVEX),
    st.sampled_from([0.01, 0.3, 0.9, 1.0]),
)
def test_a_damped_step_goes_a_share_of_the_way(
    drawn: tuple[str, Case], model: str, damping: float
) -> None:
    name, case = drawn
    options = {"covariance": model} if name == "gaussian" else {}
    try:
        start = fitted(name, case, limit=0, **options).parameters
        whole = fitted(name, case, parameters=start, limit=1, **options).parameters
        found = fitted(
            name,
            case,
            parameters=start,
            limit=1,
            variation="generalized",
            damping=damping,
            **options,
        )
    except DegenerateCovariance:
        return
    assert found.monotone.holds
    for a, b, c in zip(start.weights, whole.weights, found.parameters.weights, strict=True):
        # Near a maximum rounding may refuse a trial, and the step is longer.
        least, most = sorted((a + damping * (b - a), b))
        assert least - 4 * U <= c <= most + 4 * U


@pytest.mark.spec("EM-STOCH", "EM-MC")
@some(25)
@given(
    FAMILIES.flatmap(lambda name: st.tuples(st.just(name), of_family(name))),
    st.sampled_from([("stochastic", None), ("monte-carlo", 1), ("monte-carlo", 5)]),
    st.integers(0, 9),
)
def test_draws_are_seeded_and_the_best_state_is_returned(
    drawn: tuple[str, Case], way: tuple[str, int | None], seed: int
) -> None:
    name, case = drawn
    variation, samples = way
    options: dict[str, Any] = {"variation": variation, "samples": samples, "seed": seed}
    options |= {"limit": 6, "collapse": "drop", "trace": "parameters"}
    try:
        fit = fitted(name, case, **options)
    except DegenerateCovariance:
        return
    assert told(fitted(name, case, **options)) == told(fit)
    check_numbers(fit)
    objectives = [one.objective for one in fit.trace]
    assert len(objectives) == 7
    assert fit.stopped == "limit"
    best = objectives.index(max(objectives))
    assert told(fit.parameters) == told(fit.trace[best].parameters)
    assert fit.objective == pytest.approx(max(objectives), abs=4 * U * size(objectives))
    assert fit.monotone.standing == "not promised"
    assert fit.monotone.ascents == ()
    if samples == 1:
        one = fitted(name, case, **{**options, "variation": "stochastic", "samples": None})
        assert [r.objective for r in one.trace] == objectives


@pytest.mark.spec("EM-MC", "EM-STOCH")
@some(30)
@given(
    st.lists(st.sampled_from([0.0, -1.0, -0.5, -3.0, -math.inf]), min_size=1, max_size=4).filter(
        lambda joint: max(joint) > -math.inf
    ),
    st.integers(0, 99),
)
def test_shares_of_many_draws_are_near_the_posterior(joint: list[float], seed: int) -> None:
    """A share of S draws has the variance p (1 - p) / S; six deviations are never seen here."""
    s = 400
    rng = stream(seed)
    us = [rng.random() for _ in range(s)]
    found = shares(joint, Rule(samples=s), us)
    exact = shares(joint, SOFT)
    for one, p in zip(found.q, exact.q, strict=True):
        assert abs(one - p) <= 6 * math.sqrt(p * (1 - p) / s) + 4 * U
        assert p > 0 or one == 0
    assert found.log_likelihood == exact.log_likelihood
    # Each draw is the least component whose cumulated share is above u.
    for u in us[:20]:
        q = shares(joint, Rule(samples=1), [u]).q
        reached = 0.0
        for share, p in zip(q, exact.q, strict=True):
            if share:
                assert reached - 8 * U <= u <= reached + p + 8 * U
            reached += p


# -- assignments, sampling, certificates, checkpoints ---------------------------------------------


@pytest.mark.spec("EM-PRED", "EM-ESTEP")
@some(40)
@given(theory_cases())
def test_what_is_said_of_rows(drawn: tuple[str, Case, Any, list[tuple[float, ...]]]) -> None:
    name, case, parameters, _ = drawn
    found = assignments(parameters, case.rows, family=name)
    joint = log_joint(parameters, case.rows, family=name)
    k = len(parameters.weights)
    for i, row in enumerate(joint):
        assert found.log_joint(i) == row
        assert found.labels[i] == row.index(max(row))
        assert found.log_likelihoods[i] == pytest.approx(
            row_log_likelihood(row), abs=8 * U * size(row)
        )
        q = found.responsibilities(i)
        assert math.fsum(q) == pytest.approx(1.0, abs=2 * k * U)
        assert max(q) == pytest.approx(q[found.labels[i]], abs=4 * U)
        assert found.entropy(i) == pytest.approx(row_entropy(q), abs=1e-12)
        assert -4 * U <= found.entropy(i) <= math.log(k) + 1e-12
    short = assignments(parameters, case.rows, family=name, full=False)
    assert short.labels == found.labels
    assert short.joint is None


@pytest.mark.spec("EM-SAMPLE")
@some(30)
@given(theory_cases(), st.integers(0, 99))
def test_samples_are_seeded_and_begin_alike(
    drawn: tuple[str, Case, Any, list[tuple[float, ...]]], seed: int
) -> None:
    name, case, parameters, _ = drawn
    length = 2.5 if name == "multinomial" else None
    some_rows = sample(parameters, 4, family=name, seed=seed, length=length)
    more = sample(parameters, 7, family=name, seed=seed, length=length)
    assert more.rows[:4] == some_rows.rows
    assert more.labels[:4] == some_rows.labels
    rng = stream(seed)
    weights = [math.fsum(parameters.weights[: c + 1]) for c in range(len(parameters.weights))]
    assert some_rows.labels[0] == chosen(weights, rng.random())
    assert all(len(row) == len(case.rows[0]) for row in more.rows)
    if name == "bernoulli":
        assert {x for row in more.rows for x in row} <= {0.0, 1.0}
        thetas = parameters.probabilities[some_rows.labels[0]]
        assert some_rows.rows[0] == tuple(float(rng.random() < theta) for theta in thetas)
    if name == "multinomial":
        assert all(x >= 0 and x.is_integer() for row in more.rows for x in row)


@pytest.mark.spec("EM-CERT", "MIX-MARGLL")
@some(30)
@given(theory_cases())
def test_the_exact_likelihood_is_enclosed(
    drawn: tuple[str, Case, Any, list[tuple[float, ...]]],
) -> None:
    name, case, parameters, q = drawn
    data = data_of(case)
    found = decomposition(q, parameters, data, family=name).log_likelihood
    enclosed = certified_log_likelihood(parameters, data, family=name)
    joint = log_joint(parameters, data, family=name)
    sizes = [w * x for w, row in zip(case.masses, joint, strict=True) for x in row]
    # log p(x, k) errs by less than (1.5 d + 9) u of its terms (KER-POSTERIOR), sums by u.
    assert enclosed.distance(found) <= 64 * U * size(sizes)
    assert enclosed.width <= 1e-28 * size(sizes)
    finer = certified_log_likelihood(parameters, data, family=name, digits=60)
    assert enclosed.low <= finer.low <= finer.high <= enclosed.high
    assert float(finer) == float(enclosed)


@pytest.mark.spec("EM-CKPT")
@some(20)
@given(
    FAMILIES.flatmap(lambda name: st.tuples(st.just(name), of_family(name, 6))),
    st.sampled_from([*MONOTONE, "stochastic", "monte-carlo"]),
    st.integers(0, 6),
)
def test_a_checkpoint_anywhere_changes_nothing(
    drawn: tuple[str, Case], variation: str, taken: int
) -> None:
    name, case = drawn
    options: dict[str, Any] = {
        "k": case.k,
        "weights": case.weights,
        "start": "random",
        "restarts": 2,
        "limit": 2,
        "variation": variation,
        "backend": "reference",
        "trace": "parameters",
        "collapse": "drop",
        **smoothed(name),
    }
    if variation == "top":
        options["top"] = 1
    try:
        whole = FITS[name](case.rows, **options)
    except DegenerateCovariance:
        return
    with TemporaryDirectory() as folder:
        path = f"{folder}/fit.json"
        steps = STEPS[name](case.rows, checkpoint=Checkpoint(path), **options)
        for _ in range(taken):
            next(steps, None)
        steps.save()
        resumed = FITS[name](case.rows, checkpoint=Checkpoint(path, resume=True), **options)
    assert told(resumed) == told(whole)
