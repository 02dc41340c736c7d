"""What a fit of a mixture tells people."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from refclust.cli.output import columns, counted
from refclust.cli.show.clusters import (
    backend_facts,
    data_text,
    fact_lines,
    number,
    unfinished,
)
from refclust.escape import for_terminal

if TYPE_CHECKING:
    from refclust.data.dataset import Dataset, Features
    from refclust.data.preparing.record import Preparation
    from refclust.mixture.certified import Certified
    from refclust.mixture.course.certificate import Ascent
    from refclust.mixture.predict import Parameters
    from refclust.mixture.results import Event
    from refclust.models.mixtures import AnyFit

_MOST_ROWS: Final = 50  # of a table of components
_MOST_FEATURES: Final = 4
_MOST_WORDS: Final = 8
_MOST_TOLD: Final = 5
_REASONS: Final = {
    "tolerance": "the last gain was within the tolerance",
    "limit": "not converged, this is the limit; --limit N allows more",
    "collapsed": "a component collapsed",
    "caller": "it was stopped",
}
_STARTS: Final = {"given": "the parameters given", "labels": "the labels given"}


@dataclass(frozen=True, slots=True)
class Facts:
    """What is worked out for the summary alone."""

    aic: float
    bic: float
    coefficient: float | None  # of a multinomial mixture
    certified: Certified | None

    @classmethod
    def of(cls, fit: AnyFit, data: Dataset, *, certify: bool) -> Facts:
        """Work them out."""
        from refclust.mixture.certified import certified_log_likelihood
        from refclust.mixture.choosing.criteria import aic, bic
        from refclust.mixture.families.count_likelihood import log_coefficient

        free, likelihood = fit.free_parameters, fit.log_likelihood
        return cls(
            aic(likelihood, free),
            bic(likelihood, free, fit.weight),
            log_coefficient(data) if fit.family == "multinomial" else None,
            certified_log_likelihood(fit.parameters, data, family=fit.family) if certify else None,
        )


def mixture_lines(fit: AnyFit, data: Dataset, facts: Facts) -> Iterator[str]:
    """Tell about a fit of a mixture."""
    count = len(fit.sizes)  # the policy drop makes it smaller than k
    asked = f" ({fit.k} were asked for)" if fit.k != count else ""
    from refclust.mixture.families.named import record

    how = "" if fit.variation == "em" else f", variation {fit.variation}"
    model = f" ({fit.settings['covariance']})" if fit.family == "gaussian" else ""
    components = counted(count, "component")
    yield f"{data_text(data)}; {components}{asked} of {record(fit.family).title}{model}{how}"
    yield ""
    # Which rungs decided rows is known of the k-means of a start only, which is not the fit.
    backend = backend_facts(fit.provenance)[:1]
    rows = [*_likelihoods(fit, facts), *_course(fit), *backend]
    yield from fact_lines(rows)
    yield ""
    plan = data.preparation
    yield from component_lines(fit.parameters, fit.sizes, data.features, plan=plan)


def _likelihoods(fit: AnyFit, facts: Facts) -> Iterator[tuple[str, str]]:
    words = " (of the words in their order)" if facts.coefficient is not None else ""
    yield "log-likelihood", f"{number(fit.log_likelihood)}{words}"
    if facts.coefficient is not None:
        whole = fit.log_likelihood + facts.coefficient
        yield "of the counts", f"{number(whole)} (with the multinomial coefficients)"
    if facts.certified is not None:
        off = facts.certified.distance(fit.log_likelihood)
        yield (
            "certified",
            f"{digits_of(facts.certified)}; the one above is off by {off:.2g} at most",
        )
    prior = prior_text(fit.settings)
    if prior or fit.objective != fit.log_likelihood:
        yield "objective", f"{number(fit.objective)}{_objective_text(fit.variation, bool(prior))}"
    if prior:
        yield "prior", f"{prior}; its logarithm is {number(fit.log_prior)}"
    free = counted(fit.free_parameters, "free parameter")
    yield "AIC, BIC", f"{number(facts.aic)}, {number(facts.bic)} ({free}; smaller is better)"


def digits_of(certified: Certified) -> str:
    """The digits that both ends of an interval share."""
    low, high = (format(end, "f") for end in (certified.low, certified.high))
    same = 0
    while same < min(len(low), len(high)) and low[same] == high[same]:
        same += 1
    return f"{low[:same]}…"


def prior_text(settings: dict[str, Any]) -> str:
    """What a fit believed before it saw the rows; nothing, if nothing."""
    if settings.get("floor"):
        return f"a floor of {settings['floor']:g} times the variances in every scatter"
    if settings.get("m"):
        usual = "all alike" if "counts" in settings else "like all rows together"
        shares = usual if settings["p"] is None else "as given"
        return f"m = {settings['m']:g} imagined observations of each component, {shares}"
    return ""


def _objective_text(variation: str, prior: bool) -> str:
    bound = "the bound F" if variation in ("hard", "top") else "log-likelihood"
    return f" ({bound} and logarithm of the prior)" if prior else f" ({bound})"


def _course(fit: AnyFit) -> Iterator[tuple[str, str]]:
    iterations = counted(fit.iterations, "iteration")
    yield "stopped", f"after {iterations}: {_REASONS[fit.stopped]}"
    yield "monotone", certificate_text(fit)
    if len(fit.runs) > 1:
        low, high = fit.spread
        apart = f"log-likelihood {number(low)} to {number(high)}" if low != high else "all alike"
        yield (
            "runs",
            f"{len(fit.runs)}, the best is number {fit.best + 1}; {apart}{unfinished(fit.runs)}",
        )
        ended = sum(run.stopped == "collapsed" for run in fit.runs)
        if ended:
            yield "collapsed runs", f"{ended} of {len(fit.runs)}"
    events = fit.runs[fit.best].events
    if events:
        yield "collapsed", _events(events)
    yield "start", _STARTS.get(fit.start) or f"{fit.start}, seed {fit.options['seed']}"


def certificate_text(fit: AnyFit) -> str:
    """The monotone certificate in one line.

    Spec: EM-CONV

    >>> from refclust.mixture.families.named.gaussian import gaussian_mixture
    >>> certificate_text(gaussian_mixture([[0], [1], [5]], 1, limit=0))
    'not watched: no iteration was made'
    >>> certificate_text(gaussian_mixture([[0], [1], [5]], 1, trace="none"))
    'not watched: there is no trace'
    """
    ascents, bounded = fit.monotone.ascents, fit.variation in ("hard", "top")
    if fit.monotone.standing == "not watched":
        return f"not watched: {'there is no trace' if fit.iterations else 'no iteration was made'}"
    parts = [_gains(ascents, "F" if bounded else "J")] if ascents else []
    if not fit.monotone.guaranteed:
        why = "a component was moved or removed"
        if bounded:
            why = "what never falls is the bound F"
        elif fit.variation not in ("em", "generalized"):
            why = "components are drawn, and the best state seen is returned"
        parts.insert(0, f"not promised: {why}")
    return "; ".join(parts)


def _gains(ascents: Sequence[Ascent], letter: str) -> str:
    """In how many iterations an objective rose, and the smallest gain."""
    rose = sum(ascent.verdict == "rises" for ascent in ascents)
    fell = sum(ascent.verdict == "falls" for ascent in ascents)
    level = len(ascents) - rose - fell
    least = min(ascents, key=lambda ascent: ascent.after - ascent.before)
    gain, bound = least.after - least.before, least.rounding
    parts = [f"{letter} rose in {rose} of {counted(len(ascents), 'iteration')}"]
    parts += [f"{level} within rounding"] if level else []
    parts += [f"FELL IN {fell}"] if fell else []
    return f"{', '.join(parts)}; smallest gain {gain:.3g}, rounding bound {bound:.2g}"


def _size(weight: float) -> str:
    """The weight of a component: two places, or a power of ten if those would tell nothing.

    >>> _size(1234.5), _size(0.0), _size(3e-160), _size(3e300)
    ('1,234.50', '0.00', '3e-160', '3e+300')
    """
    usual = weight == 0.0 or 0.005 <= weight < 1e15
    return f"{weight:,.2f}" if usual else f"{weight:.3g}"


def _events(events: Sequence[Event]) -> str:
    lines = []
    for event in events[:_MOST_TOLD]:
        rows = f", most probable for rows {', '.join(map(str, event.rows))}" if event.rows else ""
        lines.append(f"{event.why} in iteration {event.iteration}{rows}: {event.done}")
    more = f" and {len(events) - _MOST_TOLD} more" if len(events) > _MOST_TOLD else ""
    return f"{'; '.join(lines)}{more}"


def component_lines(
    parameters: Parameters,
    sizes: Sequence[float],
    features: Features | None,
    *,
    names: Sequence[object] | None = None,
    plan: Preparation | None = None,
) -> list[str]:
    """A table of the components: share, size, and where they are, or which words they like.

    Means and deviations are in the units of the user (PREP-UNITS).
    """
    from refclust.mixture.families.gaussian_parameters import GaussianParameters
    from refclust.mixture.families.means import MeanParameters

    called = range(len(sizes)) if names is None else names
    head = ["component" if names is None else "class", "weight", "size"]
    shown = min(len(sizes), _MOST_ROWS)
    rows = [
        [for_terminal(called[k]), f"{parameters.weights[k]:.4f}", _size(sizes[k])]
        for k in range(shown)
    ]
    what = "means"
    if isinstance(parameters, GaussianParameters | MeanParameters):
        d = len(parameters.means[0])
        listed = range(min(d, _MOST_FEATURES))
        head += [_name(features, j) for j in listed]
        for row, mean in zip(rows, parameters.means, strict=False):
            row += [f"{_of_user(plan, j, mean[j]):.4g}" for j in listed]
        if isinstance(parameters, GaussianParameters):
            what = "means ± standard deviations"
            for row, covariance in zip(rows, parameters.spreads, strict=False):
                for j in listed:
                    deviation = math.sqrt(variance(covariance, j, d))
                    row[3 + j] += f" ± {_of_user(plan, j, deviation, wide=True):.3g}"
        left, right = d - len(listed), frozenset(range(1, len(head)))
    else:
        head.append("more probable here than elsewhere")
        for row, words in zip(rows, _words(parameters), strict=False):
            row.append(", ".join(_name(features, j) for j in words) or "-")
        left, right = 0, frozenset((1, 2))
    more = [f"{what}; {left} more features"] if left else []
    if len(sizes) > shown:
        more.append(f"… and {counted(len(sizes) - shown, 'component')} more; --json tells all")
    return columns([head, *rows], right=right) + more


def variance(covariance: Sequence[float], j: int, d: int) -> float:
    """The variance of column j, however a covariance is written."""
    return (
        covariance[0]
        if len(covariance) == 1
        else covariance[j * (d + 1) if len(covariance) > d else j]
    )


def _of_user(plan: Preparation | None, j: int, value: float, *, wide: bool = False) -> float:
    """A number of a feature, or how wide it is, in the units of the user."""
    if plan is None:
        return value
    centre, divisor = plan.unit(j)
    return float(divisor * Fraction(value) + (0 if wide else centre))


def _name(features: Features | None, j: int) -> str:
    return for_terminal(j if features is None else features[j])


def _words(parameters: Any) -> Iterator[list[int]]:
    """Of each component the words with the largest difference to the whole mixture."""
    from heapq import nlargest

    shares = parameters.weights
    overall = [
        math.fsum(w * theta for w, theta in zip(shares, column, strict=True))
        for column in zip(*parameters.probabilities, strict=True)
    ]
    for row in parameters.probabilities:
        gaps = [theta - whole for theta, whole in zip(row, overall, strict=True)]
        yield [
            j for j in nlargest(_MOST_WORDS, range(len(gaps)), key=gaps.__getitem__) if gaps[j] > 0
        ]


def trace_lines(fit: AnyFit) -> Iterator[str]:
    """The iterations of the best run as CSV, each with what is certified of the step before it."""
    yield "iteration,log_likelihood,objective,gain,maximisation,expectation,rounding,verdict"
    ascents = {ascent.iteration: ascent for ascent in fit.monotone.ascents}
    for iteration in fit.trace:
        gain = "" if iteration.gain is None else repr(iteration.gain)
        cells = f"{iteration.iteration},{iteration.log_likelihood!r},{iteration.objective!r},{gain}"
        ascent = ascents.get(iteration.iteration)
        if ascent is None:
            yield f"{cells},,,,"
        else:
            gains = f"{ascent.maximisation!r},{ascent.expectation!r}"
            yield f"{cells},{gains},{ascent.rounding!r},{ascent.verdict}"
