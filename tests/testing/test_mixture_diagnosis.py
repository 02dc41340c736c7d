"""Guesses at what is wrong with an answer of a mixture (chapter 81)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures import gaussian, multinomial
from refclust.kernels.mixtures.gaussian import Gaussians
from refclust.kernels.mixtures.multinomial import Terms
from refclust.kernels.mixtures.shared import SOFT, Rule
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS
from refclust.testing.diagnosis.mixtures import mixture_guesses
from refclust.testing.diagnosis.rows import diagnose
from refclust.testing.rungs import dense_of
from refclust.testing.saboteurs.arithmetic.mixtures import (
    central,
    expanded_joint,
    once,
    ones,
    posterior_by,
    raw,
    step_by,
    transposed,
    weighted,
    without_last,
    zeros_counted,
)

DATA = dense_of([(100.0 + i % 3, 90.0 + i % 4 / 3) for i in range(8)], [1.0, 0.0, 2.0, 0.5] * 2)
POINTS = Points(DATA)
MEANS = CentreMatrix.of([(100.5, 90.0), (101.5, 91.0)])
NORMAL = Gaussians(array("d", [-1, -1.5]), MEANS, array("d", [1, 0, 0.5, 2, 1, 0, 0, 1]), "full")
TERMS = Terms(array("d", [-1, -1.5]), array("d", [-0.5, -1, -0.7, -0.8]))
LABELS = array("i", [0, 1, -1, 0, 1, 0, 0, 1])
AROUND = CentreMatrix.of([(99.0, 89.0), (103.0, 93.0)])
DRAWS = Rule(draws=array("d", [(7 * i % 16) / 16 + 0.01 for i in range(16)]), samples=2)
MOMENTS = (LABELS, 2, MEANS, "full")
STEP = (NORMAL, Rule(top=1), AROUND)


@pytest.mark.parametrize(
    ("kernel", "args", "wrong", "told"),
    [
        ("gaussian.posterior", (NORMAL, True),
         lambda: posterior_by(expanded_joint)(POINTS, NORMAL, True), "expanded squares"),
        ("gaussian.moments", MOMENTS,
         lambda: gaussian.moments(weighted(POINTS, ones), LABELS, 2, MEANS, "full"), "are ignored"),
        ("gaussian.moments", MOMENTS,
         lambda: gaussian.moments(weighted(POINTS, zeros_counted), LABELS, 2, MEANS, "full"),
         "weight 0"),
        ("gaussian.moments", MOMENTS,
         lambda: gaussian.moments(weighted(POINTS, without_last), LABELS, 2, MEANS, "full"),
         "last row"),
        ("gaussian.moments", MOMENTS,
         lambda: gaussian.moments(POINTS, array("i", (k % 2 for k in LABELS)), 2, MEANS, "full"),
         "label -1"),
        ("gaussian.moments", MOMENTS, lambda: raw(POINTS, LABELS, 2, MEANS, "full"), "afterwards"),
        ("gaussian.moments", MOMENTS,
         lambda: gaussian.moments(POINTS, LABELS, 2, CentreMatrix.of([(0.0, 0.0)] * 2), "full"),
         "around the origin, not"),
        ("gaussian.moments", MOMENTS,
         lambda: central(gaussian.moments(POINTS, LABELS, 2, MEANS, "full")), "around the means"),
        ("gaussian.em_step", STEP, lambda: gaussian.em_step(POINTS, NORMAL, SOFT, AROUND),
         "rule is ignored"),
        ("gaussian.em_step", STEP, lambda: gaussian.em_step(POINTS, NORMAL, Rule(top=1)),
         "to sum around are ignored"),
        ("gaussian.em_step", (NORMAL, DRAWS, None),
         lambda: gaussian.em_step(POINTS, NORMAL, transposed(DRAWS)), "row after row"),
        ("gaussian.em_step", (NORMAL, SOFT, None),
         lambda: step_by(expanded_joint)(POINTS, NORMAL, SOFT), "expanded squares"),
        ("multinomial.moments", (LABELS, 2), lambda: multinomial.moments(once(POINTS), LABELS, 2),
         "every count were 1"),
        ("multinomial.em_step", (TERMS, SOFT),
         lambda: multinomial.em_step(weighted(POINTS, ones), TERMS), "are ignored"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_mistakes_are_named(
    kernel: str, args: tuple[Any, ...], wrong: Callable[[], Any], told: str
) -> None:
    due = KERNELS[kernel].reference(POINTS, *args)
    assert told in diagnose(kernel, DATA, args, due, wrong())


def test_objectives_and_constants() -> None:
    due = gaussian.em_step(POINTS, NORMAL, Rule(top=1))
    soft = gaussian.em_step(POINTS, NORMAL)

    def told(right: Any, rule: Rule, **change: float) -> str:
        return diagnose(
            "gaussian.em_step", DATA, (NORMAL, rule, None), right, replace(right, **change)
        )

    assert "place of the bound" in told(due, Rule(top=1), bound=due.log_likelihood)
    assert "entropy is missing" in told(soft, SOFT, bound=soft.bound - soft.entropy)
    assert "wrong sign" in told(soft, SOFT, entropy=-soft.entropy)
    weight = math.fsum(DATA.weights or ())
    more = {"log_likelihood": soft.log_likelihood + weight, "bound": soft.bound + weight}
    assert "a constant, 1, is added" in told(soft, SOFT, **more)
    near = {"log_likelihood": soft.log_likelihood * (1 + 1e-12), "bound": soft.bound}
    assert "any order of operations" in told(soft, SOFT, **near)
    assert "single precision" in told(soft, SOFT, log_likelihood=soft.log_likelihood * (1 + 1e-7))
    assert "digits are lost" in told(soft, SOFT, log_likelihood=soft.log_likelihood * (1 + 1e-3))


def test_infinities() -> None:
    args = (NORMAL, False)
    due = gaussian.posterior(POINTS, NORMAL, False)
    none = replace(due, log_likelihoods=array("d", [-math.inf] * 8))
    assert "underflows" in diagnose("gaussian.posterior", DATA, args, due, none)
    assert "-inf says so" in diagnose("gaussian.posterior", DATA, args, none, due)


def test_nothing_is_guessed_about_what_is_right() -> None:
    due = multinomial.em_step(POINTS, TERMS)
    guesses = list(mixture_guesses("multinomial.em_step", DATA, (TERMS, SOFT), due, due))
    assert not [words for words in guesses if "ignored" in words or "constant" in words]
