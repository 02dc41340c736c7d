"""The golden vectors of Gaussian mixtures through the formulas, and kernels held to them."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from refclust.formulas import gaussian as formulas
from refclust.formulas.selection import row_entropy
from refclust.formulas.vectors import exact, scaled, sum_of, total
from refclust.numbers.real import log
from tests.formulas.golden import cases, contents, judged, meets, number, numbers

FORMS = {"EII": 1, "VII": 1, "EEI": 2, "VEI": 2, "EVI": 2, "VVI": 2}  # spherical, diagonal


class Step:
    """The state of a case and what follows from it, by the formulas alone."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.model, self.x = given["model"], numbers(given["rows"])
        self.d, self.hard = len(self.x[0]), given.get("assign") == "hard"
        self.w = numbers(given.get("weights", ["1"] * len(self.x)))
        state = given["state"]
        spreads = [self.full(spread) for spread in numbers(state["spreads"])]
        self.mixture = list(zip(numbers(state["weights"]), numbers(state["means"]), spreads,
                                strict=True))  # fmt: skip
        self.floor = number(given.get("floor", "0"))
        self.k = len(self.mixture)
        self.given = numbers(given["q"]) if "q" in given else None

    def full(self, spread: Any) -> Any:
        form, d = FORMS.get(self.model), self.d
        if form == 1:
            value = spread[0] if isinstance(spread, list) else spread
            return scaled(value, formulas.identity(d))
        if form == 2:
            return [[spread[j] if i == j else 0 for j in range(d)] for i in range(d)]
        return [spread[i * d : (i + 1) * d] for i in range(d)]

    def plain(self, sigma: Any) -> list[Any]:
        form = FORMS.get(self.model)
        if form:
            return [sigma[j][j] for j in range(1 if form == 1 else self.d)]
        return [entry for row in sigma for entry in row]

    @property
    def q(self) -> list[Any]:
        if self.given is not None:
            return list(self.given)
        if not self.hard:
            return [formulas.responsibilities(x, self.mixture) for x in self.x]
        z = [formulas.hard_assignment(x, self.mixture) for x in self.x]
        return [[int(k == z_i) for k in range(self.k)] for z_i in z]

    @property
    def variances(self) -> list[Any]:
        whole = formulas.covariance_of_rows(self.x, self.w)
        return [whole[j][j] for j in range(self.d)]

    def following(self, q: list[Any]) -> list[Any]:
        """The mixture after the M-step; closed forms only."""
        columns = list(zip(*q, strict=True))
        if self.hard:
            z = [row.index(1) for row in q]
            n: list[Any] = [formulas.hard_weight(self.w, z, k) for k in range(self.k)]
            means = [formulas.hard_mean(self.x, self.w, z, k) for k in range(self.k)]
            shares = formulas.hard_shares(self.w, z, self.k)
        else:
            n = [formulas.component_weight(self.w, column) for column in columns]
            means = [formulas.mean(self.x, self.w, column) for column in columns]
            shares = formulas.shares(n)
        psi = [[self.floor * v if i == j else 0 for j in range(self.d)]
               for i, v in enumerate(self.variances)]  # fmt: skip
        s = [sum_of([formulas.scatter(self.x, self.w, column, mu), psi])
             for column, mu in zip(columns, means, strict=True)]  # fmt: skip
        return list(zip(shares, means, formulas.covariances(self.model, n, s), strict=True))

    def entropy(self, q: list[Any]) -> Any:
        return total(exact(w) * row_entropy(row) for w, row in zip(self.w, q, strict=True))

    def divergence(self, q: list[Any]) -> Any:
        posterior = [formulas.responsibilities(x, self.mixture) for x in self.x]
        return total(
            exact(w) * exact(share) * log(exact(share) / p)
            for w, row, right in zip(self.w, q, posterior, strict=True)
            for share, p in zip(row, right, strict=True)
            if share
        )

    def answer(self, key: str) -> Any:
        q = self.q
        of = self.following(q) if key.startswith("next.") else self.mixture
        name = key.removeprefix("next.")
        readings: dict[str, Callable[[], Any]] = {
            "responsibilities": lambda: [
                formulas.responsibilities(x, self.mixture) for x in self.x
            ],
            "kl": lambda: self.divergence(q),
            "labels": lambda: [formulas.hard_assignment(x, of) for x in self.x],
            "counts": lambda: [formulas.component_weight(self.w, c) for c in zip(*q, strict=True)],
            "densities": lambda: [formulas.mixture_density(x, of) for x in self.x],
            "row_log_likelihoods": lambda: [log(formulas.mixture_density(x, of)) for x in self.x],
            "log_likelihood": lambda: formulas.log_likelihood(self.x, self.w, of),
            "certified_log_likelihood": lambda: formulas.log_likelihood(self.x, self.w, of),
            "expected_complete": lambda: formulas.expected_complete(self.x, self.w, q, of),
            "entropy": lambda: self.entropy(q),
            "lower_bound": lambda: (
                formulas.expected_complete(self.x, self.w, q, of) + self.entropy(q)
            ),
            "log_prior": lambda: formulas.log_prior(
                self.floor, self.variances, [sigma for _, _, sigma in of]
            ),
            "weights": lambda: [share for share, _, _ in of],
            "means": lambda: [mu for _, mu, _ in of],
            "spreads": lambda: [self.plain(sigma) for _, _, sigma in of],
        }
        return readings[name]()


# Sums over rows of logarithms of sums of densities with such covariances: only where asked for.
FAR = ("next.log_likelihood", "next.lower_bound", "next.expected_complete")
FILES = [
    f"32-gaussian/{name}.json" for name in ("densities", "steps", "hard", "traps", "misprints")
]
NOT_JUDGED = {"gmm-slim": "exponents of a hundred thousand: intervals of exp take half a minute"}


def kind_of(case: dict[str, Any]) -> str:
    """What a case is about: each kind is judged by a test that cites its own clauses."""
    given = case["input"]
    if case["id"] in NOT_JUDGED:
        return "not judged"
    if not any(key.startswith("next.") for key in case["expect"]):
        return "density" if len(given["state"]["weights"]) < 2 else "mixture"
    if given.get("assign") == "hard":
        return "hard"
    if "floor" in given:
        return "floor"
    if len(given["state"]["weights"]) < 2:
        return "alone"
    return "round" if given["model"] == "EII" else "step"


def of_kind(*kinds: str) -> list[Any]:
    return cases(*FILES, where=lambda case: kind_of(case) in kinds)


def judge(case: dict[str, Any]) -> None:
    step = Step(case["input"])
    # What follows the M-step has sums of sums of exponentials in it: on small cases only.
    small = len(step.x) * step.d**2 <= 48
    quick = {
        key: expected
        for key, expected in case["expect"].items()
        if not key.startswith("next.") or (small and key not in FAR)
    }
    for key, expected in (quick or case["expect"]).items():
        assert meets(expected, step.answer(key)), key


@pytest.mark.spec("DIST-MAHA", "GAU-PDF", "GAU-LL", "GMM-DENS", "GMM-LL")
@pytest.mark.parametrize("case", of_kind("density"))
def test_densities(case: dict[str, Any]) -> None:
    judge(case)
    step = Step(case["input"])
    if "log_likelihood" in case["expect"]:
        [(_, mu, sigma)] = step.mixture
        alone = formulas.log_likelihood_of_one(step.x, step.w, mu, sigma)
        assert meets(case["expect"]["log_likelihood"], alone)


@pytest.mark.spec("GMM-DENS", "GMM-LL", "GMM-ESTEP", "GMM-EXPCDLL")
@pytest.mark.parametrize("case", of_kind("mixture"))
def test_mixtures(case: dict[str, Any]) -> None:
    judge(case)


@pytest.mark.spec("GMM-ESTEP", "GMM-NK", "GMM-PI", "GMM-MU", "GMM-SIG", "GMM-COVM", "GMM-EXPCDLL")
@pytest.mark.parametrize("case", of_kind("step"))
def test_steps(case: dict[str, Any]) -> None:
    judge(case)


@pytest.mark.spec("GMM-SPH", "GMM-COVM")
@pytest.mark.parametrize("case", of_kind("round"))
def test_round_steps(case: dict[str, Any]) -> None:
    judge(case)


@pytest.mark.spec("CEM-ASSIGN", "CEM-NK", "CEM-MU", "CEM-SIG", "CEM-PI")
@pytest.mark.parametrize("case", of_kind("hard"))
def test_hard_steps(case: dict[str, Any]) -> None:
    judge(case)
    step = Step(case["input"])
    if step.model == "VVV":
        z = [formulas.hard_assignment(x, step.mixture) for x in step.x]
        sigmas = [formulas.hard_covariance(step.x, step.w, z, k) for k in range(step.k)]
        assert meets(case["expect"]["next.spreads"], [step.plain(sigma) for sigma in sigmas])


@pytest.mark.spec("GMM-FLOOR")
@pytest.mark.parametrize("case", of_kind("floor"))
def test_floors(case: dict[str, Any]) -> None:
    judge(case)


@pytest.mark.spec("GAU-MLEMU", "GAU-MLESIG")
@pytest.mark.parametrize("case", of_kind("alone"))
def test_one_component(case: dict[str, Any]) -> None:
    judge(case)
    step, expect = Step(case["input"]), case["expect"]
    assert meets(expect["next.means"], [formulas.mean_of_rows(step.x, step.w)])
    whole = formulas.covariance_of_rows(step.x, step.w)
    assert meets(expect["next.spreads"], [step.plain(whole)])


def axes_of(sigma: Any) -> Any:
    """The axes of a covariance in the plane, the longer first; all of it must be rational."""
    (a, b), (_, c) = sigma
    longer = (a + c) / 2 + rational_root(((a - c) / 2) ** 2 + b * b)
    x, y = (b, longer - a) if b else (Fraction(a >= c), Fraction(a < c))
    length = rational_root(x * x + y * y)
    return ((x / length, -y / length), (y / length, x / length))


def rational_root(square: Fraction) -> Fraction:
    found = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    assert found * found == square
    return found


def golden_spreads(step: Step, expect: dict[str, Any]) -> list[Any]:
    return [
        tuple(map(tuple, step.full([Fraction(one["exact"]) for one in spread["list"]])))
        for spread in expect["next.spreads"]["list"]
    ]


def golden_axes(model: str, sigmas: list[Any]) -> list[Any]:
    if model[2] == "I":
        return [formulas.identity(2)] * len(sigmas)
    return [axes_of(sigmas[0] if model[2] == "E" else sigma) for sigma in sigmas]


@pytest.mark.spec("GMM-COVM", "GMM-NK", "GMM-PI", "GMM-MU")
@pytest.mark.parametrize("case", cases("32-gaussian/models.json"))
def test_tied_models(case: dict[str, Any]) -> None:
    """What no formula gives, axes and volumes, is read off the answer and must satisfy its own."""
    step, expect = Step(case["input"]), case["expect"]
    model, columns = step.model, list(zip(*step.q, strict=True))
    sigmas = golden_spreads(step, expect)
    n = [formulas.component_weight(step.w, q) for q in columns]
    means = [formulas.mean(step.x, step.w, q) for q in columns]
    s = [formulas.scatter(step.x, step.w, q, mu) for q, mu in zip(columns, means, strict=True)]
    assert meets(expect["counts"], n)
    assert meets(expect["next.weights"], formulas.shares(n))
    assert meets(expect["next.means"], means)
    axes = golden_axes(model, sigmas) if model in formulas.TURNED else []
    if axes and model[2] == "V":
        assert all(formulas.are_axes(s_k, d_k, 0) for s_k, d_k in zip(s, axes, strict=True))
    elif axes:
        assert formulas.turned(s, sigmas, axes[0], 0)
    before = [formulas.volume(sigma) for sigma in sigmas] if model in formulas.TURNS else []
    assert not before or formulas.balanced(model, n, s, sigmas, 0, axes)
    assert formulas.covariances(model, n, s, axes, before) == sigmas


@pytest.mark.spec("GMM-COV")
@pytest.mark.parametrize(
    "case",
    cases(
        "32-gaussian/models.json",
        # The axes of VEE and EVV are no fractions here.
        where=lambda case: case["input"]["model"] in (*formulas.TURNED, "VEI", "EVI"),
    ),
)
def test_covariances_of_a_model_have_its_parts(case: dict[str, Any]) -> None:
    step = Step(case["input"])
    sigmas = golden_spreads(step, case["expect"])
    axes = golden_axes(step.model, sigmas)
    volumes = [formulas.volume(sigma) for sigma in sigmas]
    shapes = [
        scaled(1 / v, formulas.seen_along(sigma, d))
        for v, sigma, d in zip(volumes, sigmas, axes, strict=True)
    ]
    assert [shape[0] * shape[1] for shape in shapes] == [1, 1]
    assert formulas.tied(step.model, volumes, shapes, axes) == sigmas


def test_every_golden_case_is_judged_or_has_its_reason() -> None:
    everything = contents(*FILES, "32-gaussian/models.json")
    tests = [
        test_densities,
        test_mixtures,
        test_steps,
        test_round_steps,
        test_hard_steps,
        test_floors,
        test_one_component,
        test_tied_models,
    ]
    assert sorted([*judged(tests), *NOT_JUDGED]) == sorted(everything)
    assert {case["input"]["model"] for case in everything.values()} == set(formulas.MODELS)


@pytest.mark.spec("GMM-ALG", "CEM-ALG")
@pytest.mark.parametrize("hard", [False, True])
def test_the_driver_is_the_loop(hard: bool) -> None:
    """Each state of the driver, begun where the loop's last one ended, is within 8 units of it.

    A mean or a variance of six rows errs by less than (n + 8) u in KER-MOMENTS, and by as much in
    the responsibilities of well separated components.
    """
    import refclust

    x = [[0.0, 1.0], [1.0, 0.5], [0.25, 0.0], [6.0, 5.0], [5.0, 6.5], [7.0, 6.0]]
    start = [
        (0.5, (0.5, 0.5), ((1.0, 0.25), (0.25, 1.0))),
        (0.5, (6.0, 6.0), ((2.0, 0.0), (0.0, 1.0))),
    ]
    loop = (formulas.classification_em if hard else formulas.em)(x, [1] * 6, start)
    mixture: list[Any] = start
    for _ in range(2):
        due = next(loop)
        parameters = {
            "weights": [share for share, _, _ in mixture],
            "means": [mu for _, mu, _ in mixture],
            "spreads": [[entry for row in sigma for entry in row] for _, _, sigma in mixture],
        }
        fit = refclust.gaussian_mixture(
            x,
            2,
            parameters=parameters,
            variation="hard" if hard else "em",
            limit=1,
            backend="reference",
        )
        found = fit.parameters
        for k, (share, mu, sigma) in enumerate(due):
            pairs = [
                (found.weights[k], share), *zip(found.means[k], mu, strict=True),
                *((a, b) for row, line in zip(found.covariances[k], sigma, strict=True)
                  for a, b in zip(row, line, strict=True)),
            ]  # fmt: skip
            for value, right in pairs:
                assert (
                    abs(Fraction(value) - Fraction(right)) <= 28 * Fraction(abs(right) + 1) / 2**53
                )
        mixture = due
