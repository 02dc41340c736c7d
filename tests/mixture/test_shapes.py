"""The M-steps of the 14 covariance models, and what is said of them.

Maximality is tested against a second description of every model (``shape_witness``), in which
random changes and SciPy's optimisers look for something better. The witness computes an objective
of about N in doubles, with matrices whose condition is below 1e4: it is right to 1e-10 N.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy.optimize import minimize

from refclust.errors import BadOption
from refclust.mixture.covariance.closed import equal_volume_diagonal
from refclust.mixture.covariance.models import (
    LIMIT,
    MODELS,
    covariance_model,
    free_parameters,
    maximised,
    mixture_parameters,
)
from refclust.mixture.covariance.parts import Degenerate, Diagonal, geometric_mean, square_matrix
from refclust.numbers.linalg import NotPositive, cholesky
from tests.mixture.shape_witness import Case, Description, case, whole

NAMES = tuple(MODELS)
ITERATED = tuple(name for name, model in MODELS.items() if not model.closed_form)
COMMON_AXES = ("EVE", "VVE")
CASES = (case(2, 2, 1), case(3, 3, 2))
U = 2.0**-53


def best(model: str, given_case: Case, **options: Any) -> Any:
    """The covariances found, as matrices."""
    found = maximised(model, given_case.counts, given_case.scatters(model), **options)
    return whole(model, found.covariances, given_case.d)


@pytest.mark.spec("GMM-COVM")
@pytest.mark.parametrize("given_case", CASES)
@pytest.mark.parametrize("model", NAMES)
@pytest.mark.long
def test_nothing_better_in_the_model(model: str, given_case: Case) -> None:
    covariances = best(model, given_case)
    reached = given_case.objective(covariances)
    described = Description(model, covariances)
    # It is a member of the model, to the rounding of eigenvectors ...
    again = described.covariances(described.start)
    assert np.abs(again - covariances).max() <= 1e-11 * np.abs(covariances).max()
    # ... no change of its free numbers improves on it ...
    random = np.random.default_rng(5)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(20):
            other = described.start + size * random.normal(size=len(described.start))
            value = given_case.objective(described.covariances(other))
            assert value <= reached + 1e-10 * given_case.weight
    # ... and a search that begins near ends there.
    start = described.start + 0.05 * random.normal(size=len(described.start))
    searched = minimize(
        lambda x: -given_case.objective(described.covariances(x)), start, method="BFGS"
    )
    assert -searched.fun <= reached + 1e-10 * given_case.weight
    assert -searched.fun >= reached - 1e-6 * given_case.weight


@pytest.mark.spec("GMM-COVDF")
@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("d", [1, 2, 4])
def test_free_parameters(k: int, d: int) -> None:
    # As tabulated in the literature, not by the three letters.
    triangle = d * (d + 1) // 2
    turns = d * (d - 1) // 2
    due = {
        "EII": 1,
        "VII": k,
        "EEI": d,
        "VEI": k + d - 1,
        "EVI": 1 + k * (d - 1),
        "VVI": k * d,
        "EEE": triangle,
        "VEE": triangle + k - 1,
        "EVE": 1 + k * (d - 1) + turns,
        "VVE": k * d + turns,
        "EEV": k * triangle - (k - 1) * d,
        "VEV": k * triangle - (k - 1) * (d - 1),
        "EVV": k * triangle - (k - 1),
        "VVV": k * triangle,
    }
    assert {name: free_parameters(name, k, d) for name in NAMES} == due
    assert mixture_parameters("full", k, d) == k - 1 + k * d + due["VVV"]
    if d > 1:
        random = np.random.default_rng(0).normal(size=(k, 3 * d, d))
        matrices = np.einsum("kni,knj->kij", random, random)
        for name in NAMES:
            assert len(Description(name, matrices).start) == due[name]


@pytest.mark.spec("GMM-COV")
def test_names() -> None:
    assert len(MODELS) == 14
    aliases = {model.alias: name for name, model in MODELS.items() if model.alias}
    assert aliases == {
        "shared-spherical": "EII",
        "spherical": "VII",
        "diagonal": "VVI",
        "tied": "EEE",
        "full": "VVV",
    }
    assert all(covariance_model(alias) is MODELS[name] for alias, name in aliases.items())
    forms = {name: model.form for name, model in MODELS.items()}
    assert {n for n, f in forms.items() if f == "spherical"} == {"EII", "VII"}
    assert {n for n, f in forms.items() if f == "diagonal"} == {"EEI", "VEI", "EVI", "VVI"}
    with pytest.raises(BadOption, match="'EIE'; allowed are EII, VII"):
        covariance_model("EIE")


@pytest.mark.spec("GMM-COV", "GMM-COVM")
@pytest.mark.parametrize("model", NAMES)
def test_one_column_has_a_volume_only(model: str) -> None:
    counts, scatters = (2.0, 3.0), ((4.0,), (12.0,))
    found = maximised(model, counts, scatters)
    due = (16.0 / 5.0,) * 2 if model[0] == "E" else (2.0, 4.0)
    # Volumes of closed forms are quotients; products with roots and shapes of 1 add little.
    assert [v for (v,) in found.covariances] == pytest.approx(due, rel=8 * U)
    assert found.converged
    assert free_parameters(model, 2, 1) == (1 if model[0] == "E" else 2)


@pytest.mark.spec("GMM-COVM")
@pytest.mark.parametrize(
    ("model", "formula"),
    [
        ("EII", lambda n, s: [sum(map(sum, s)) / (sum(n) * 3)]),
        ("VII", lambda n, s: [sum(s[1]) / (n[1] * 3)]),
        ("EEI", lambda n, s: [sum(x) / sum(n) for x in zip(*s, strict=True)]),
        ("VVI", lambda n, s: [x / n[1] for x in s[1]]),
        ("EEE", lambda n, s: [sum(x) / sum(n) for x in zip(*s, strict=True)]),
        ("VVV", lambda n, s: [x / n[1] for x in s[1]]),
    ],
)
def test_rational_forms(model: str, formula: Callable[[Any, Any], list[Fraction]]) -> None:
    given_case = CASES[1]
    scatters = given_case.scatters(model)
    exact_scatters = [list(map(Fraction, s)) for s in scatters]
    due = formula(list(map(Fraction, given_case.counts)), exact_scatters)
    found = maximised(model, given_case.counts, scatters)
    assert (found.iterations, found.converged) == (0, True)
    # At most four roundings: of two sums, of the product N d, of the quotient.
    for ours, theirs in zip(found.covariances[1], due, strict=True):
        assert abs(Fraction(ours) - theirs) <= Fraction(5 * U) * abs(theirs)


@pytest.mark.spec("GMM-COVM")
def test_roots_against_fifty_digits() -> None:
    given_case = CASES[1]
    scatters = given_case.scatters("EVI")
    with mp.workdps(50):
        exact_scatters = [[mpf(x) for x in s] for s in scatters]
        means = [mp.root(mp.fprod(s), 3) for s in exact_scatters]
        common = mp.fsum(means) / mp.fsum(given_case.counts)
        found = equal_volume_diagonal(given_case.counts, scatters)
        for ours, s, mean in zip(found, exact_scatters, means, strict=True):
            # Two means of 4u each, their sum, that of the counts, two quotients, the product.
            for x, y in zip(ours, s, strict=True):
                assert abs(x / (y * common / mean) - 1) <= 13 * U


@pytest.mark.spec("GMM-COVM")
@settings(max_examples=100)
@given(st.lists(st.floats(1e-150, 1e150), min_size=1, max_size=9), st.integers(-400, 400))
def test_geometric_mean(values: list[float], e: int) -> None:
    found = geometric_mean(values)
    with mp.workdps(40):
        due = mp.root(mp.fprod(map(mpf, values)), len(values))
        assert abs(found / due - 1) <= 4 * U
    assert geometric_mean([math.ldexp(x, e) for x in values]) == math.ldexp(found, e)


@pytest.mark.spec("GMM-COVM")
@given(st.lists(st.floats(5e-324, 1e308), min_size=1, max_size=30), st.integers(1, 30))
def test_a_diagonal_that_changes_has_the_mean_of_its_numbers(
    values: list[float], times: int
) -> None:
    """To the last bit, whichever numbers were there before."""
    every = values * times
    diagonal = Diagonal([1.0] * len(every))
    for j in reversed(range(len(every))):
        diagonal.put(j, every[j])
    assert diagonal.geometric_mean() == geometric_mean(every)
    assert Diagonal(every).geometric_mean() == geometric_mean(every)


@pytest.mark.spec("GMM-COVM")
@pytest.mark.parametrize("e", [-20, 1, 33])
@pytest.mark.parametrize("model", NAMES)
def test_powers_of_two_change_nothing_else(model: str, e: int) -> None:
    # Data multiplied by 2**e have scatters multiplied by 4**e, and so have the covariances: to the
    # last bit, with the same iterations, from any start.
    given_case = CASES[1]
    scatters = given_case.scatters(model)
    scaled = tuple(tuple(math.ldexp(x, 2 * e) for x in s) for s in scatters)
    plain = maximised(model, given_case.counts, scatters)
    large = maximised(model, given_case.counts, scaled)
    due = tuple(tuple(math.ldexp(x, 2 * e) for x in c) for c in plain.covariances)
    assert (large.covariances, large.iterations) == (due, plain.iterations)
    once = maximised(model, given_case.counts, scaled, before=due, limit=1)
    again = maximised(model, given_case.counts, scatters, before=plain.covariances, limit=1)
    assert once.covariances == tuple(
        tuple(math.ldexp(x, 2 * e) for x in c) for c in again.covariances
    )


@pytest.mark.spec("GMM-COVM")
@pytest.mark.parametrize("model", NAMES)
def test_the_order_of_components_does_not_matter(model: str) -> None:
    given_case = CASES[1]
    counts, scatters = given_case.counts, given_case.scatters(model)
    start = maximised(model, counts, scatters).covariances
    for order in itertools.permutations(range(3)):

        def moved(items: Any, order: tuple[int, ...] = order) -> Any:
            return tuple(items[i] for i in order)

        found = maximised(model, moved(counts), moved(scatters), before=moved(start))
        assert found.covariances == moved(
            maximised(model, counts, scatters, before=start).covariances
        )
        if model not in COMMON_AXES:  # whose starts are tried one after the other
            assert maximised(model, moved(counts), moved(scatters)).covariances == moved(start)


@pytest.mark.spec("GMM-COVM")
@pytest.mark.parametrize("model", [name for name in NAMES if name[2] != "I" or name[1] == "I"])
def test_turned_data_have_turned_covariances(model: str) -> None:
    given_case = CASES[1]
    rotation = np.linalg.qr(np.random.default_rng(8).normal(size=(3, 3)))[0]
    turned = Case(given_case.counts, rotation @ given_case.matrices @ rotation.T)
    turned = Case(turned.counts, (turned.matrices + turned.matrices.transpose(0, 2, 1)) / 2)
    due = rotation @ best(model, given_case) @ rotation.T
    # Iterations end 2**-40 from where they lead, times what a slow one leaves to follow.
    assert np.abs(best(model, turned) - due).max() <= 1e-9 * np.abs(due).max()


def contains(larger: str, smaller: str) -> bool:
    """Whether a model is a special case of another, letter by letter."""
    return all("IEV".index(x) >= "IEV".index(y) for x, y in zip(larger, smaller, strict=True))


@pytest.mark.spec("GMM-COV", "GMM-COVM")
@pytest.mark.parametrize("given_case", CASES)
def test_larger_models_are_no_worse(given_case: Case) -> None:
    reached = {name: given_case.objective(best(name, given_case)) for name in NAMES}
    slack = 1e-10 * given_case.weight
    for larger, smaller in itertools.permutations(NAMES, 2):
        if not contains(larger, smaller):
            continue
        assert reached[larger] >= reached[smaller] - slack
        if MODELS[larger].form == MODELS[smaller].form:
            # From the best of a smaller model, one iteration of a larger one can only gain.
            found = maximised(smaller, given_case.counts, given_case.scatters(smaller))
            step = best(larger, given_case, before=found.covariances, limit=1)
            assert given_case.objective(step) >= reached[smaller] - slack


@pytest.mark.spec("GMM-COVM")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("model", ITERATED)
def test_no_iteration_lowers_the_objective(model: str, seed: int) -> None:
    given_case = case(3, 4, seed + 20)
    # Begin with covariances of the model that fit other data.
    before = maximised(model, case(3, 4, seed).counts, case(3, 4, seed).scatters(model))
    value = given_case.objective(whole(model, before.covariances, 4))
    scatters = given_case.scatters(model)
    for _ in range(LIMIT):
        after = maximised(model, given_case.counts, scatters, before=before.covariances, limit=1)
        gained = given_case.objective(whole(model, after.covariances, 4))
        assert after.iterations == 1
        assert gained >= value - 1e-10 * given_case.weight
        before, value = after, gained
        if after.converged:
            break
    # The same, made in one go, for models with one maximum.
    if model not in COMMON_AXES:
        due = best(model, given_case)
        close = np.abs(whole(model, before.covariances, 4) - due).max()
        assert close <= 1e-8 * np.abs(due).max()
    assert before.converged


@pytest.mark.spec("GMM-COVM")
def test_a_limit_is_kept_and_told() -> None:
    given_case = CASES[1]
    for model in ITERATED:
        found = maximised(model, given_case.counts, given_case.scatters(model), limit=1)
        assert (found.iterations, found.converged) == (1, False)
        loose = maximised(model, given_case.counts, given_case.scatters(model), tolerance=1e300)
        assert (loose.iterations, loose.converged) == (1, True)


@pytest.mark.spec("GMM-COVM")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("model", COMMON_AXES)
def test_no_better_axes_on_a_fine_grid(model: str, seed: int) -> None:
    # In the plane an angle says everything, so that all axes can be tried.
    given_case = case(3, 2, seed + 50)
    reached = given_case.objective(best(model, given_case))
    counts = np.array(given_case.counts)
    values = []
    for angle in np.linspace(0, np.pi / 2, 2001):
        c, s = np.cos(angle), np.sin(angle)
        axes = np.array([[c, -s], [s, c]])
        along = np.einsum("ij,kil,lj->kj", axes, given_case.matrices, axes)
        if model == "VVE":
            values.append(-0.5 * (counts @ np.log(along / counts[:, None]).sum(axis=1)))
        else:
            volume = np.sqrt(along.prod(axis=1)).sum() / counts.sum()
            values.append(-0.5 * 2 * counts.sum() * np.log(volume))
    assert max(values) - given_case.weight <= reached + 1e-10 * given_case.weight


FLAT = (1.0, 1.0, 1.0, 1.0)  # one column twice
ROUND = (2.0, 0.0, 0.0, 3.0)


@pytest.mark.spec("GMM-COVM")
@pytest.mark.parametrize(
    ("model", "scatters", "component", "column"),
    [
        ("EII", ((0.0, 0.0), (0.0, 0.0)), None, None),
        ("VII", ((1.0, 2.0), (0.0, 0.0)), 1, None),
        ("EEI", ((1.0, 0.0), (2.0, 0.0)), None, 1),
        ("VVI", ((1.0, 1.0), (2.0, 0.0)), 1, 1),
        ("EVI", ((1.0, 1.0), (0.0, 3.0)), 1, 0),
        ("VEI", ((0.0, 0.0), (1.0, 3.0)), 0, None),
        ("VEI", ((1.0, 0.0), (1.0, 0.0)), None, 1),
        ("EEV", ((0.0,) * 4, (0.0,) * 4), None, None),
        ("VEV", ((0.0,) * 4, ROUND), 0, None),
        ("EVV", (ROUND, FLAT), 1, 1),
        ("VEE", (FLAT, FLAT), None, 1),
        ("EVE", (ROUND, FLAT), 1, 1),
        ("VVE", (FLAT, ROUND), 0, 1),
    ],
)
def test_degenerate_scatters(
    model: str, scatters: Any, component: int | None, column: int | None
) -> None:
    with pytest.raises(Degenerate) as caught:
        maximised(model, (2.0, 3.0), scatters)
    assert (caught.value.component, caught.value.column) == (component, column)


@pytest.mark.spec("GMM-COVM")
@pytest.mark.parametrize("model", NAMES)
def test_a_component_without_rows(model: str) -> None:
    given_case = CASES[1]
    with pytest.raises(Degenerate, match="component 1") as caught:
        maximised(model, (3.0, 0.0, 5.0), given_case.scatters(model))
    assert caught.value.component == 1


@pytest.mark.spec("GMM-COVM")
def test_no_maximum_is_never_called_one() -> None:
    # Two components on two lines: the larger weight can always gain by a longer shape.
    scatters = ((1.0, 0.0), (0.0, 1.0))
    assert not maximised("VEI", (1.0, 1.001), scatters, limit=200).converged
    with pytest.raises(Degenerate):
        maximised("VEI", (1.0, 100.0), scatters)


@pytest.mark.spec("GMM-COVM", "LIN-CHOL")
@pytest.mark.parametrize("model", ["EEE", "EEV", "VEV", "VVV"])
def test_what_rounding_leaves_of_a_singular_covariance_has_no_factor(model: str) -> None:
    for covariance in maximised(model, (2.0, 3.0), (FLAT, FLAT)).covariances:
        with pytest.raises(NotPositive):
            cholesky(square_matrix(covariance))


@pytest.mark.spec("GMM-COVM")
@pytest.mark.parametrize("model", ["VEE", "EEV", "VEV"])
def test_a_singular_component_does_no_harm_where_another_outweighs_it(model: str) -> None:
    found = maximised(model, (4.0, 2.0), (ROUND, FLAT))
    assert found.converged
    assert np.linalg.eigvalsh(whole(model, found.covariances, 2)).min() > 0.05
    # With the weights exchanged an ever longer shape gains without end, unless volumes are equal;
    # rounding of the eigenvalue 0 puts an end to it for VEV, where nothing but rounding is left.
    try:
        other = maximised(model, (2.0, 4.0), (ROUND, FLAT))
    except Degenerate:
        assert model == "VEE"
        return
    conditions = np.linalg.cond(whole(model, other.covariances, 2))
    assert conditions.max() < 10 if model == "EEV" else conditions.min() > 1e15
