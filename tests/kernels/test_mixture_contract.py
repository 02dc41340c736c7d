"""The contracts of mixtures: careless passes are rejected, and nothing makes them raise."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy
import pytest

from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures import gaussian, multinomial
from refclust.kernels.mixtures.gaussian import Gaussians, Moments
from refclust.kernels.mixtures.multinomial import Tallies, Terms
from refclust.kernels.mixtures.shared import HARD, SOFT, EMStep, Posterior, Rule, floats, shares
from refclust.kernels.registry import KERNELS
from refclust.testing.saboteurs.arithmetic.mixtures import (
    central,
    expanded_joint,
    in_singles,
    joint_of,
    naive_log,
    ones,
    posterior_by,
    raw,
    single_joint,
    step_by,
    weighted,
    without_last,
)
from tests.kernels import mixture_witness as witness
from tests.kernels.mixture_witness import judged

NONE = -math.inf
SIX = [
    f"{family}.{what}"
    for family in ("gaussian", "multinomial")
    for what in ("posterior", "moments", "em_step")
]


OFFSET = 1e6
ROWS = [(OFFSET + (i % 4) / 3, OFFSET - (i % 5) / 7) for i in range(12)]
WEIGHTS = [1.0, 0.0, 0.5, 2.0] * 3
POINTS = witness.points_of(ROWS, WEIGHTS)
MEANS = CentreMatrix.of([(OFFSET + 0.1, OFFSET - 0.2), (OFFSET + 0.7, OFFSET - 0.5)])
FULL = Gaussians(array("d", [-0.7, -0.9]), MEANS, array("d", [2, 0, 0.3, 1.5, 1, 0, -1, 3]), "full")
THREE = Gaussians(
    array("d", [-0.7, -0.9, -1.1]),
    CentreMatrix.of([*MEANS, MEANS[0]]),
    array("d", [*FULL.whitening, 1, 0, 0, 1]),
    "full",
)
FAR = Gaussians(
    array("d", [-0.7, -0.7]),
    CentreMatrix.of([(OFFSET + 300.1, OFFSET - 200.2)] * 2),
    array("d", [2, 0, 0.3, 1.5] * 2),
    "full",
)
LABELS = array("i", [0, -1, 1] * 4)

Change = Callable[[Any], Any]


@pytest.mark.spec("KER-POSTERIOR")
@pytest.mark.parametrize(
    ("joint", "told"),
    [
        (single_joint, "joint[0]"),
        (expanded_joint, "joint[0]"),
        (lambda p, g: [tuple(x - math.log(2 * math.pi) for x in row) for row in joint_of(p, g)],
         "1.8 apart"),
        (lambda p, g: [tuple(x + 1e-13 * (1 + abs(x)) for x in row) for row in joint_of(p, g)],
         "joint[0]"),
        (lambda p, g: joint_of(p, g)[:-1], "joint: 22 numbers instead of 24"),
    ],
    ids=["singles", "expanded", "a constant", "the thirteenth digit", "a row less"],
)  # fmt: skip
def test_densities_that_do_not_pass(joint: Any, told: str) -> None:
    assert told in (judged("gaussian.posterior", POINTS, (FULL, True),
                           posterior_by(joint)(POINTS, FULL, True)) or "")  # fmt: skip
    assert "log_likelihoods" in (judged("gaussian.posterior", POINTS, (FULL, False),
                           posterior_by(joint)(POINTS, FULL, False)) or "")  # fmt: skip


@pytest.mark.spec("KER-POSTERIOR")
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda a: replace(a, joint=None), "joint: missing"),
        (lambda a: replace(a, labels=a.labels[:-1]), "labels: 11 instead of 12"),
        (lambda a: replace(a, labels=array("i", [7]) + a.labels[1:]), "labels: row 0: 7"),
        (lambda a: replace(a, labels=array("i", [1]) + a.labels[1:]), "its own greatest"),
        (lambda a: replace(a, log_likelihoods=a.log_likelihoods[:-1]), "11 numbers instead of 12"),
        (lambda a: replace(a, log_likelihoods=in_singles(a.log_likelihoods)), "given its own"),
        (lambda a: replace(a, log_likelihoods=array("d", [math.nan] * 12)), "a NaN"),
        (lambda a: replace(a, joint=array("d", [math.nan] * 24)), "joint[0]: nan"),
        (lambda a: replace(a, labels=array("q", a.labels)), "labels: a buffer of format 'q'"),
        (lambda a: replace(a, joint=numpy.array(a.joint).reshape(12, 2)), "2-dimensional"),
        (lambda a: replace(a, joint=a.joint.tolist()), "joint: a list instead of a buffer"),
        (lambda a: a.labels, "a array instead of a Posterior"),
    ],
)  # fmt: skip
def test_posteriors_that_do_not_pass(change: Change, told: str) -> None:
    answer = change(gaussian.posterior(POINTS, FULL, True))
    assert told in (judged("gaussian.posterior", POINTS, (FULL, True), answer) or "")


@pytest.mark.spec("KER-POSTERIOR")
def test_labels_of_equals() -> None:
    """Of its own equal log p(x, k) the first is due; without them a tie may fall either way."""
    twice = replace(FULL, means=CentreMatrix.of([MEANS[0]] * 2), offsets=array("d", [0, 0]),
                    whitening=array("d", [2, 0, 0.3, 1.5] * 2))  # fmt: skip
    last = array("i", [1] * 12)
    right = gaussian.posterior(POINTS, twice, True)
    told = judged("gaussian.posterior", POINTS, (twice, True), replace(right, labels=last))
    assert told is not None and "first at 0" in told  # noqa: PT018
    short = replace(right, labels=last, joint=None)
    assert judged("gaussian.posterior", POINTS, (twice, False), short) is None
    assert "there is no component -1" in str(
        judged(
            "gaussian.posterior",
            POINTS,
            (twice, False),
            replace(short, labels=array("i", [-1] * 12)),
        )
    )
    assert judged("gaussian.posterior", POINTS, (twice, False), right) == (
        "joint: there, but not asked for"
    )
    wrong = replace(gaussian.posterior(POINTS, FULL, False), labels=last)
    assert "component 1 instead of 0" in str(
        judged("gaussian.posterior", POINTS, (FULL, False), wrong)
    )


@pytest.mark.spec("KER-POSTERIOR")
def test_densities_that_no_double_holds() -> None:
    right = gaussian.posterior(POINTS, FAR, False)
    assert max(floats(right.log_likelihoods)) < -1e5
    wrong = replace(right, log_likelihoods=array("d", map(naive_log, joint_of(POINTS, FAR))))
    assert "-inf instead of" in str(judged("gaussian.posterior", POINTS, (FAR, False), wrong))


@pytest.mark.spec("KER-MOMENTS")
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda a: central(a), "seconds[0]"),
        (lambda _: gaussian.moments(weighted(POINTS, ones), LABELS, 2, MEANS, "full"), "counts[0]"),
        (lambda _: gaussian.moments(weighted(POINTS, without_last), LABELS, 2, MEANS, "full"),
         "counts[1]"),
        (lambda _: gaussian.moments(POINTS, array("i", [x % 2 for x in LABELS]), 2, MEANS, "full"),
         "counts[1]"),
        (lambda _: raw(POINTS, LABELS, 2, MEANS, "full"), "firsts["),
        (lambda a: replace(a, seconds=in_singles(a.seconds)), "seconds[0]"),
        (lambda a: replace(a, counts=a.counts[:1]), "counts: 1 numbers instead of 2"),
        (lambda a: replace(a, seconds=array("d", [*a.seconds[:1], math.nextafter(a.seconds[1], 9),
                                                  *a.seconds[2:]])), "not symmetric at (1, 0)"),
        (lambda a: replace(a, seconds=array("d", [math.nan] * 8)), "seconds: a NaN"),
        (lambda a: replace(a, around=((0.0, 0.0),) * 2), "around: not the points"),
        (lambda a: replace(a, around=None), "around: not the points"),
        (lambda a: replace(a, around=3), "around: not the points"),
        (lambda a: replace(a, spread="diagonal"), "spread: 'diagonal' instead of 'full'"),
        (lambda a: replace(a, firsts=None), "firsts: a NoneType instead of a buffer"),
        (lambda a: replace(a, firsts=array("f", a.firsts)), "firsts: a buffer of format 'f'"),
        (lambda a: replace(a, firsts=numpy.array(["2001-01-01"], dtype="M8[D]")), "a ndarray"),
        (lambda _: Tallies(array("d"), array("d")), "a Tallies instead of Moments"),
    ],
)  # fmt: skip
def test_moments_that_do_not_pass(change: Change, told: str) -> None:
    args = (LABELS, 2, MEANS, "full")
    answer = change(gaussian.moments(POINTS, *args))  # type: ignore[arg-type]
    assert told in (judged("gaussian.moments", POINTS, args, answer) or "")


@pytest.mark.spec("KER-MOMENTS")
def test_moments_around_the_same_points_in_other_clothes() -> None:
    args = (LABELS, 2, MEANS, "full")
    right = gaussian.moments(POINTS, LABELS, 2, MEANS, "full")
    for around in (MEANS.rows(), [list(row) for row in MEANS], numpy.array(MEANS.rows())):
        assert judged("gaussian.moments", POINTS, args, replace(right, around=around)) is None  # type: ignore[arg-type]


@pytest.mark.spec("KER-EMSTEP")
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda a: replace(a, bound=a.bound - a.entropy), "bound: "),
        (lambda a: replace(a, entropy=0.0), "entropy: 0.0"),
        (lambda a: replace(a, log_likelihood=a.bound), "log_likelihood: "),
        (lambda a: replace(a, log_likelihood=a.log_likelihood * (1 + 1e-13)), "log_likelihood: "),
        (lambda a: replace(a, log_likelihood=NONE), "log_likelihood: -inf"),
        (lambda a: replace(a, log_likelihood=math.nan), "log_likelihood: nan, a float"),
        (lambda a: replace(a, entropy=numpy.float64(a.entropy)), "a float64, instead of a float"),
        (lambda a: replace(a, bound=None), "bound: None, a NoneType"),
        (lambda a: replace(a, moments=central(a.moments)), "seconds[0]"),
        (lambda a: replace(a, moments=None), "a NoneType instead of Moments"),
        (lambda _: None, "a NoneType instead of an EMStep"),
        (lambda _: gaussian.em_step(POINTS, THREE, SOFT), "bound: "),
        (lambda _: gaussian.em_step(POINTS, THREE, HARD), "bound: "),
        (lambda _: gaussian.em_step(POINTS, FULL, SOFT), "log_likelihood: "),
        (lambda _: gaussian.em_step(weighted(POINTS, ones), THREE, Rule(top=2)), "likelihood: "),
        (lambda _: gaussian.em_step(POINTS, THREE, Rule(top=2), CentreMatrix.of([(0.0, 0.0)] * 3)),
         "around: "),
    ],
)  # fmt: skip
def test_steps_that_do_not_pass(change: Change, told: str) -> None:
    rule = Rule(top=2)
    answer = change(gaussian.em_step(POINTS, THREE, rule))
    assert told in (judged("gaussian.em_step", POINTS, (THREE, rule), answer) or "")


@pytest.mark.spec("KER-EMSTEP")
def test_shares_add_up_to_one_however_small_densities_are() -> None:
    """exp(l - log p(x)) errs by u |log p(x)|, here 1e-11: as l does, but their sum must be one."""

    def unnormed(row: Any, rule: Rule, draws: Any) -> Any:
        whole = shares(row, rule, draws).log_likelihood
        return [math.exp(x - whole) for x in row]

    answer = step_by(joint_of, unnormed)(POINTS, FAR, SOFT)
    assert "do not add up to one" in str(judged("gaussian.em_step", POINTS, (FAR, SOFT), answer))
    right = step_by(joint_of)(POINTS, FAR, SOFT)
    assert judged("gaussian.em_step", POINTS, (FAR, SOFT), right) is None


COUNTS = witness.sparse_points([{0: 3.0, 2: 1.0}, {}, {1: 2.0}, {0: 1.0, 1: 1e5}], 3)
TERMS = Terms(array("d", [-1, -2]), array("d", [-1.5, -0.1, -3, -0.3, NONE, -2]), ((), (0,)))
NEVER = replace(TERMS, slopes=array("d", [-1.5, NONE, -3, -0.3, NONE, -2]))


@pytest.mark.spec("KER-POSTERIOR", "KER-EMSTEP")
@pytest.mark.parametrize(
    "wrong",
    [
        replace(TERMS, certain=None),
        replace(TERMS, slopes=in_singles(TERMS.slopes)),
        replace(TERMS, offsets=array("d", [-1, -2 + 1e-12])),
    ],
    ids=["certain", "singles", "offset"],
)
def test_counts_that_do_not_pass(wrong: Terms) -> None:
    for full in (True, False):
        answer = multinomial.posterior(COUNTS, wrong, full)
        assert judged("multinomial.posterior", COUNTS, (TERMS, full), answer) is not None
    step = multinomial.em_step(COUNTS, wrong)
    assert judged("multinomial.em_step", COUNTS, (TERMS, SOFT), step) is not None
    assert (
        judged("multinomial.em_step", COUNTS, (TERMS,), multinomial.em_step(COUNTS, TERMS)) is None
    )


@pytest.mark.spec("KER-POSTERIOR", "KER-EMSTEP")
def test_rows_that_nobody_can_have_made_have_to_be_told() -> None:
    finite = replace(NEVER, slopes=array("d", (max(x, -700.0) for x in NEVER.slopes)))
    for full in (True, False):
        answer = multinomial.posterior(COUNTS, finite, full)
        told = judged("multinomial.posterior", COUNTS, (NEVER, full), answer)
        assert "instead of -inf" in str(told)
    alone = replace(FULL, offsets=array("d", [NONE, NONE]))
    right = gaussian.em_step(POINTS, alone)
    assert judged("gaussian.em_step", POINTS, (alone, SOFT), right) is None
    told = judged("gaussian.em_step", POINTS, (alone, SOFT), replace(right, log_likelihood=-1e300))
    assert told is not None
    assert "-1e+300 instead of -inf" in told


# -- answers of any kind --------------------------------------------------------------------------

ODD = [None, 3, "x", (), {}, array("i"), array("d", [1.0]), object(), b"", numpy.zeros(3), [1],
       Posterior(None, None, None), Posterior(array("i"), array("d"), array("d")),  # type: ignore[arg-type]
       EMStep(0.0, 0.0, 0.0, None), EMStep(None, "", (), Tallies(array("d"), array("d"))),  # type: ignore[arg-type]
       Tallies(array("d"), array("d")), Tallies(None, 3),  # type: ignore[arg-type]
       Moments(array("d"), array("d"), array("d"), None, "full"),  # type: ignore[arg-type]
       EMStep(0.0, 0.0, 0.0, Moments(array("d"), array("d"), array("d"), MEANS, "full")),
       EMStep(0.0, 0.0, 0.0, Tallies(array("d", [0.0] * 2), array("d", [0.0] * 6)))]  # fmt: skip


@pytest.mark.spec("KER-POSTERIOR", "KER-MOMENTS", "KER-EMSTEP", "BK-KERNEL")
@pytest.mark.parametrize("kernel", SIX)
def test_a_contract_never_raises(kernel: str) -> None:
    family, what = kernel.split(".")
    points, densities = (POINTS, FULL) if family == "gaussian" else (COUNTS, TERMS)
    extra = (MEANS, "full") if family == "gaussian" else ()
    labels = array("i", [0] * points.n)
    args: tuple[Any, ...] = {
        "posterior": (densities, True),
        "moments": (labels, 2, *extra),
        "em_step": (densities, SOFT),
    }[what]
    contract: Any = KERNELS[kernel].contract
    due = KERNELS[kernel].reference(points, *args)
    assert contract.judged(points, args, due, due) is None
    assert contract.fault(due, due) is None
    for answer in ODD:
        assert isinstance(contract.judged(points, args, due, answer), str)
        assert isinstance(contract.fault(due, answer), str)
        assert contract.malformed(answer) is None or isinstance(contract.malformed(answer), str)


@pytest.mark.spec("BK-KERNEL")
def test_two_data_sets_are_told_apart_without_looking_at_them() -> None:
    other = witness.points_of([(x + 0.1, y) for x, y in ROWS], WEIGHTS)
    for kernel, args in (
        ("gaussian.posterior", (FULL, False)),
        ("gaussian.moments", (LABELS, 2, MEANS, "full")),
        ("gaussian.em_step", (FULL, SOFT, None)),
    ):
        one, two = (KERNELS[kernel].reference(points, *args) for points in (POINTS, other))
        assert KERNELS[kernel].contract.fault(one, two) is not None
        assert KERNELS[kernel].contract.fault(one, one) is None
