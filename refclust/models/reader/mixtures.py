"""The parts of a model file that belong to mixtures and classifiers (chapter 11, MODEL-LOAD)."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Final, get_args

from refclust.data.files.document import Node
from refclust.models.reader.kmeans import MOST_CLUSTERS
from refclust.models.reader.numbers import (
    log_double,
    positive,
    read_numbers,
    read_probabilities,
)
from refclust.models.records.common import DataFacts
from refclust.models.records.mixtures import (
    AscentFacts,
    Collapse,
    CollapseFacts,
    CountSettings,
    CountsName,
    Covariance,
    Done,
    End,
    Family,
    GaussianSettings,
    MixtureFitted,
    MixtureParams,
    MixtureRun,
    MixtureStart,
    MixtureStep,
    Variation,
    Verdict,
    form_of,
)

COVARIANCES: Final[tuple[Covariance, ...]] = get_args(Covariance)
COUNTS: Final[tuple[CountsName, ...]] = get_args(CountsName)
_STARTS: Final[tuple[MixtureStart, ...]] = get_args(MixtureStart)
_VARIATIONS: Final[tuple[Variation, ...]] = get_args(Variation)
_POLICIES: Final[tuple[Collapse, ...]] = get_args(Collapse)
_ENDS: Final[tuple[End, ...]] = get_args(End)
_DONE: Final[tuple[Done, ...]] = get_args(Done)
_VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)
_FITTED: Final = tuple(field.name for field in fields(MixtureFitted))
_COMMON: Final = (
    "start",
    "variation",
    "top",
    "samples",
    "damping",
    "seed",
    "restarts",
    "tolerance",
    "limit",
    "collapse",
)


def read_mixture_params(node: Node, family: Family, data: DataFacts) -> MixtureParams:
    """Read what a fit of a mixture was asked for.

    Spec: MODEL-LOAD
    """
    own = ("covariance", "floor") if family == "gaussian" else ("m", "p", "counts")
    k, *rest = node.members("k", *own, *_COMMON)
    settings = _settings(rest[: len(own)], data)
    start, variation, top, samples, damping, seed, restarts, tolerance, limit, collapse = rest[
        len(own) :
    ]
    count, kept = k.whole(1, MOST_CLUSTERS), variation.one_of(_VARIATIONS)
    if (kept == "top") != (top.whole(0, count) > 0):
        top.fail(f"{top.value} components for the variation {kept}; only 'top' keeps some")
    if samples.whole(1, None) > 1 and kept != "monte-carlo":
        samples.fail(f"{samples.value} samples for the variation {kept}; 1 is due")
    share = damping.double(0)
    if not 0 < share <= 1 or (share < 1 and kept != "generalized"):
        damping.fail(
            f"{share!r} for the variation {kept}; it is above 0, and 1 but for generalized"
        )
    return MixtureParams(
        count,
        settings,
        start.one_of(_STARTS),
        kept,
        top.value,
        samples.value,
        share,
        seed.whole(0, None),
        restarts.whole(1, None),
        tolerance.maybe(lambda told: told.double(0)),
        limit.whole(0, None),
        collapse.one_of(_POLICIES),
    )


def _settings(nodes: list[Node], data: DataFacts) -> GaussianSettings | CountSettings:
    if len(nodes) == 2:
        return GaussianSettings(nodes[0].one_of(COVARIANCES), nodes[1].double(0))
    m, p, counts = nodes
    shares = p.maybe(lambda given: read_probabilities(given, data.d))
    return CountSettings(m.double(0), shares, counts.one_of(COUNTS))


def read_mixture(
    node: Node, params: MixtureParams, family: Family, data: DataFacts
) -> MixtureFitted:
    """Read what a fit of a mixture found.

    Spec: MODEL-LOAD
    """
    nodes = dict(zip(_FITTED, node.members(*_FITTED), strict=True))
    form = None
    if isinstance(params.settings, GaussianSettings):
        form = form_of(params.settings.covariance)
    parameters, runs = nodes["parameters"], nodes["runs"]
    found = read_numbers(parameters, data, form=form, sums=family == "multinomial")
    k = len(found.weights)
    if not 1 <= k <= params.k or (k < params.k and params.collapse != "drop"):
        parameters.fail(f"{k} components; params.k is {params.k}")
    ends = tuple(_run(run, params, data) for run in runs.items())
    if not 1 <= len(ends) <= params.restarts:
        runs.fail(f"{len(ends)} runs; params.restarts is {params.restarts}")
    chosen = nodes["best"].whole(0, len(ends) - 1)
    fitted = MixtureFitted(
        log_likelihood=log_double(nodes["log_likelihood"]),
        objective=log_double(nodes["objective"]),
        log_prior=log_double(nodes["log_prior"]),
        entropy=nodes["entropy"].double(),
        free_parameters=nodes["free_parameters"].whole(0, None),
        iterations=nodes["iterations"].whole(0),
        stopped=nodes["stopped"].one_of(_ENDS),
        best=chosen,
        weight=positive(nodes["weight"]),
        sizes=nodes["sizes"].doubles(k, 0),
        parameters=found,
        runs=ends,
        trace=tuple(_step(step, place) for place, step in enumerate(nodes["trace"].items())),
        certificate=tuple(map(_ascent, nodes["certificate"].items())),
    )
    for name in ("log_likelihood", "objective", "log_prior", "entropy", "iterations", "stopped"):
        own, of_run = getattr(fitted, name), getattr(ends[chosen], name)
        if own != of_run:
            node.entry(name).fail(f"{own!r}; the best run, runs[{chosen}], has {of_run!r}")
    return fitted


def _run(node: Node, params: MixtureParams, data: DataFacts) -> MixtureRun:
    likelihood, objective, prior, entropy, iterations, stopped, events = node.members(
        "log_likelihood", "objective", "log_prior", "entropy", "iterations", "stopped", "events"
    )
    return MixtureRun(
        log_double(likelihood),
        log_double(objective),
        log_double(prior),
        entropy.double(),
        iterations.whole(0),
        stopped.one_of(_ENDS),
        tuple(_event(event, params, data) for event in events.items()),
    )


def _event(node: Node, params: MixtureParams, data: DataFacts) -> CollapseFacts:
    iteration, component, why, rows, done = node.members(
        "iteration", "component", "why", "rows", "done"
    )
    return CollapseFacts(
        iteration.whole(0),
        component.maybe(lambda given: given.whole(0, params.k - 1)),
        why.text(),
        tuple(row.whole(0, data.n - 1) for row in rows.items()),
        done.one_of(_DONE),
    )


def _step(node: Node, due: int) -> MixtureStep:
    iteration, likelihood, objective = node.members("iteration", "log_likelihood", "objective")
    if iteration.whole(0) != due:
        iteration.fail(f"iteration {iteration.value}; {due} comes next")
    return MixtureStep(due, log_double(likelihood), log_double(objective))


def _ascent(node: Node) -> AscentFacts:
    iteration, maximisation, expectation, rounding, verdict = node.members(
        "iteration", "maximisation", "expectation", "rounding", "verdict"
    )
    gained = maximisation.maybe(Node.double)
    return AscentFacts(
        iteration.whole(1),
        math.inf if gained is None else gained,
        expectation.double(),
        rounding.double(0),
        verdict.one_of(_VERDICTS),
    )
