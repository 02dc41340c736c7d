"""What fits of mixtures say of themselves at a glance (chapters 30 to 35)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from refclust.cluster.summary import feature_names, ran
from refclust.shown.page import Fact, Summary, counted, number, sized, table

if TYPE_CHECKING:
    from refclust.mixture.choosing.table import Selection
    from refclust.mixture.predict import Assignments
    from refclust.mixture.results import MixtureFit, Run

_ENDS: Final = {
    "tolerance": "the last gain was within the tolerance",
    "limit": "not converged: this is the limit",
    "collapsed": "a component collapsed",
    "caller": "it was stopped",
}


def of_fit(fit: MixtureFit[Any]) -> Summary:
    """A mixture at a glance."""
    components = counted(len(fit.sizes), "component")
    shape = fit.settings.get("covariance")
    model = fit.family if shape is None else f"{fit.family} {shape}"
    ended = f"{counted(fit.iterations, 'iteration')}, {_ENDS[fit.stopped]}"
    facts: list[Fact] = [
        ("data", sized(fit.n, fit.d)),
        ("components", f"{components}, {model}"),
        ("log-likelihood", repr(fit.log_likelihood)),
        *_criteria(fit),
        ("stopped", f"after {ended}"),
        (
            "start",
            f"{fit.start}, seed {fit.options.get('seed', 0)}, {counted(len(fit.runs), 'run')}",
        ),
        ("kernels", ran(fit.provenance)),
    ]
    line = f"{components} ({model}) of {sized(fit.n, fit.d)}"
    return Summary(
        "MixtureFit",
        f"{line}; log-likelihood {number(fit.log_likelihood)} after {ended}",
        tuple(facts),
        (component_table(fit.parameters, fit.sizes, fit.features),),
    )


def _criteria(fit: MixtureFit[Any]) -> list[Fact]:
    if fit.believed:
        return [("bound on the log evidence", repr(fit.objective))]
    free = counted(fit.free_parameters, "free parameter")
    return [("BIC, AIC", f"{number(fit.bic)}, {number(fit.aic)} ({free}; smaller is better)")]


def of_run(run: Run[Any]) -> Summary:
    """One run at a glance."""
    ended = f"{counted(run.iterations, 'iteration')}, {_ENDS[run.stopped]}"
    return Summary("Run", f"log-likelihood {number(run.log_likelihood)} after {ended}")


def of_assignments(made: Assignments) -> Summary:
    """What a mixture says of rows, at a glance."""
    rows, components = counted(len(made.labels), "row"), counted(made.k, "component")
    sizes = [0] * made.k
    for label in made.labels:
        sizes[label] += 1
    lines = [(k, number(size)) for k, size in enumerate(sizes)]
    return Summary(
        "Assignments",
        f"{rows} under {components}",
        (("rows", rows), ("responsibilities", "kept" if made.joint is not None else "full=True")),
        (table(["component", "rows"], lines, "rows by their most probable component"),),
    )


def of_selection(selection: Selection) -> Summary:
    """The candidates at a glance."""
    best = "none was chosen" if selection.best is None else f"{selection.best.name} was chosen"
    names = list(dict.fromkeys(name for each in selection.candidates for name in each.values))
    rows = [
        [
            f"{candidate.name}{' ←' if place == selection.chosen else ''}",
            number(candidate.log_likelihood),
            number(candidate.free_parameters),
            *(number(candidate.values.get(name)) for name in names),
            candidate.error or "",
        ]
        for place, candidate in enumerate(selection.candidates)
    ]
    return Summary(
        "Selection",
        f"{best} of {counted(len(selection.candidates), 'candidate')}: {selection.why}",
        (("model", selection.model), ("chosen", best), ("why", selection.why)),
        (table(["model", "log-likelihood", "parameters", *names, "error"], rows),),
    )


def component_table(
    parameters: Any,
    sizes: Sequence[float],
    features: Sequence[Any] | None,
    names: Sequence[Any] | None = None,
) -> str:
    """A line for each component: its share, its size and where it is."""
    if hasattr(parameters, "expected"):  # beliefs about parameters
        parameters = parameters.expected()
    middles = getattr(parameters, "means", None) or parameters.probabilities
    d = len(middles[0])
    columns = feature_names(features, d)
    what = "means" if hasattr(parameters, "means") else "probabilities"
    rows = [
        [called, number(share), number(float(size)), *(number(x) for x in row[: len(columns)])]
        for called, share, size, row in zip(
            range(len(sizes)) if names is None else names,
            parameters.weights,
            sizes,
            middles,
            strict=True,
        )
    ]
    more = f"; {d - len(columns)} more columns" if d > len(columns) else ""
    first = "component" if names is None else "class"
    return table([first, "share", "size", *columns], rows, f"{what} of the columns{more}")
