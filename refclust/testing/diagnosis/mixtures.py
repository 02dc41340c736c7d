"""Guesses at the faults behind wrong answers of mixtures, as ``diagnosis`` makes them (chapter 81).

Each guess is an answer that would come of one mistake. It is told if what was answered is far
closer to it than to what is due. Realises no clause.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, Final, TypeAlias

from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures import multinomial
from refclust.kernels.mixtures.gaussian import Gaussians, Moments
from refclust.kernels.mixtures.shared import SOFT, EMStep, Posterior, floats
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS
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

Parts: TypeAlias = list[list[float]]
Mistake: TypeAlias = tuple[str, Callable[[], Any]]

_CLOSER: Final = 64.0


def mixture_guesses(
    kernel: str, data: Any, args: Sequence[Any], due: Any, answer: Any
) -> Iterator[str]:
    """Name mistakes that would give this answer."""
    actual, right = _parts(answer), _parts(due)
    yield from _infinite(actual, right)
    apart = _gap(actual, right, right)
    for words, make in _mistakes(kernel, Points(data), args, due):
        try:
            wrong = _parts(make())
        except Exception:  # a mistake may be impossible here
            continue
        if _closer(0.0, _gap(actual, wrong, right), apart):
            yield words
    if isinstance(due, EMStep):
        yield from _objectives(due, answer)
    yield from _constant(data, due, answer)
    if apart < 2.0**-35:
        yield "rounded more than any order of operations on doubles explains"
    if apart < 2.0**-18:
        yield "only right to single precision"
    if apart < 2.0**-4:
        yield "digits are lost: do large numbers cancel?"


def _mistakes(kernel: str, points: Points, args: Sequence[Any], due: Any) -> Iterator[Mistake]:
    reference = KERNELS[kernel].reference
    family, what = kernel.split(".")
    if what != "posterior":
        if points.weighted:
            yield (
                "as if every weight were 1: the weights are ignored",
                lambda: reference(weighted(points, ones), *args),
            )
            counted = lambda: reference(weighted(points, zeros_counted), *args)  # noqa: E731
            yield "rows of weight 0 are counted", counted
        yield "the last row is left out", lambda: reference(weighted(points, without_last), *args)
    if what == "moments":
        yield from _of_moments(family, points, args, due)
    elif isinstance(args[0], Gaussians):
        by = posterior_by if what == "posterior" else step_by
        words = "so come expanded squares, |x|² + |m|² − 2 x·m, whose digits cancel"
        yield words, lambda: by(expanded_joint)(points, *args)
    if what == "em_step":
        yield from _of_steps(reference, points, args, due)


def _of_moments(family: str, points: Points, args: Sequence[Any], due: Any) -> Iterator[Mistake]:
    q, k, *rest = args
    reference = KERNELS[f"{family}.moments"].reference
    if memoryview(q).format == "i":
        wrapped = array("i", (label % k for label in q))
        words = "rows of label -1 are counted: they belong to no component"
        yield words, lambda: reference(points, wrapped, k, *rest)
    if family == "multinomial":
        yield (
            "as if every count were 1",
            lambda: multinomial.moments(once(points), q, k),
        )
        return
    yield (
        "so come sums around the origin that are moved afterwards: large numbers cancel",
        (lambda: raw(points, q, k, *rest)),
    )
    zeros = CentreMatrix.of([(0.0,) * points.d] * k)
    yield (
        "sums around the origin, not around the points given",
        (lambda: replace(reference(points, q, k, zeros, rest[1]), around=rest[0])),
    )
    yield "second moments around the means, not around the points given", lambda: central(due)


def _of_steps(
    reference: Callable[..., Any], points: Points, args: Sequence[Any], due: EMStep[Any]
) -> Iterator[Mistake]:
    densities, rule, *around = args
    if rule.top or rule.draws is not None:
        yield "the rule is ignored", lambda: reference(points, densities, SOFT, *around)
    if rule.samples > 1:
        turned = lambda: reference(points, densities, transposed(rule), *around)  # noqa: E731
        yield "the random numbers of a row lie side by side, row after row", turned
    if around and around[0] is not None:
        yield "the points to sum around are ignored", lambda: reference(points, densities, rule)
    if isinstance(due.moments, Moments):
        yield (
            "second moments around the means, not around the points given",
            (lambda: replace(due, moments=central(due.moments))),
        )


def _objectives(due: EMStep[Any], answer: EMStep[Any]) -> Iterator[str]:
    """What the three objectives look like beside those that are due."""
    if _closer(answer.bound, due.log_likelihood, due.bound):
        yield "log p(x) stands in the place of the bound"
    if _closer(answer.bound, due.bound - due.entropy, due.bound):
        yield "the entropy is missing from the bound"
    if _closer(answer.entropy, -due.entropy, due.entropy):
        yield "the entropy has the wrong sign"


def _closer(actual: float, wrong: float, right: float) -> bool:
    return abs(actual - wrong) * _CLOSER < abs(actual - right)


def _infinite(actual: Parts, right: Parts) -> Iterator[str]:
    """Where one of two numbers is infinite."""
    for ours, theirs in zip(right, actual, strict=True):
        for x, y in zip(ours, theirs, strict=True):
            if x == -math.inf != y:
                yield "no component can have made such a row, and -inf says so"
            if y == -math.inf != x:
                yield "exp underflows: the greatest log p(x, k) has to be taken out first"


def _constant(data: Any, due: Any, answer: Any) -> Iterator[str]:
    """Whether something is added to log p(x) of every row."""
    if isinstance(due, Posterior):
        ours, theirs = (floats(posterior.log_likelihoods) for posterior in (due, answer))
        gaps = [y - x for x, y in zip(ours, theirs, strict=True) if math.isfinite(x)]
    elif isinstance(due, EMStep):
        weight = math.fsum(data.weights) if data.weights is not None else float(data.n)
        pairs = ((due.log_likelihood, answer.log_likelihood), (due.bound, answer.bound))
        sums = _parts(due.moments)
        same = _gap(_parts(answer.moments), sums, sums) < 2.0**-30
        gaps = [(y - x) / weight for x, y in pairs] if same else []
    else:
        return
    if gaps and abs(gaps[0]) > 2.0**-10 and max(gaps) - min(gaps) < 2.0**-16 * abs(gaps[0]):
        yield f"a constant, {gaps[0]:.6g}, is added to every log p(x): that is the driver's task"


def _parts(answer: Any) -> Parts:
    """All doubles of an answer, buffer by buffer."""
    if isinstance(answer, EMStep):
        objectives = [answer.log_likelihood, answer.bound, answer.entropy]
        return [*([x] for x in objectives), *_parts(answer.moments)]
    if isinstance(answer, Posterior):
        buffers = [answer.log_likelihoods, *([] if answer.joint is None else [answer.joint])]
    else:
        names = (field.name for field in fields(answer) if field.name not in ("around", "spread"))
        buffers = [getattr(answer, name) for name in names]
    return list(map(floats, buffers))


def _gap(buffers: Parts, others: Parts, right: Parts) -> float:
    """The greatest difference of two answers, each buffer measured by its greatest number."""
    most = 0.0
    for a, b, c in zip(buffers, others, right, strict=True):
        scale = max((abs(x) for x in c if math.isfinite(x)), default=0.0) or 1.0
        for x, y in zip(a, b, strict=True):
            if x != y:
                most = max(most, abs(x - y) / scale)
    return most
