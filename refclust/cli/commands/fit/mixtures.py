"""``refclust fit gaussian``, ``multinomial`` and ``bernoulli``: mixtures by EM."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from refclust.cli.commands.fit import files as fit_files
from refclust.cli.commands.fit import running as fit_run
from refclust.cli.options import data as dataio
from refclust.cli.options import label_files
from refclust.cli.options.groups import together
from refclust.cli.options.mixtures import EMGiven, K

if TYPE_CHECKING:
    from refclust.data.dataset import Dataset
    from refclust.mixture.em import EMSteps

CountsName: TypeAlias = Literal["whole", "fractional"]
ShareName: TypeAlias = Literal["uniform", "background"]

M = Annotated[
    float,
    typer.Option("--m", metavar="M", help="Imagined observations of each component; 0 is none."),
]
P = Annotated[
    ShareName,
    typer.Option("--p", help="What is imagined: all words alike, or as in all rows together."),
]


@dataio.reads
@together(EMGiven, "em")
def gaussian(
    data: dataio.DataFile,
    k: K = None,
    covariance: Annotated[
        str,
        typer.Option(
            "--covariance",
            metavar="C",
            help="full, tied, diagonal, spherical, shared-spherical, or one of EII to VVV.",
        ),
    ] = "full",
    floor: Annotated[
        float,
        typer.Option(
            "--floor",
            metavar="F",
            help="A prior against collapse: this share of the variances joins every scatter.",
        ),
    ] = 0.0,
    *,
    em: EMGiven,
    given: dataio.Given,
) -> None:
    """Fit a mixture of normal densities by EM; every iteration certified not to lose.

    \b
    refclust fit gaussian iris.csv -k 3 --label-column label
    refclust fit gaussian iris.csv -k 3 --label-column label --covariance EEE --restarts 20
    refclust fit gaussian big.npy -k 50 --covariance diagonal --floor 1e-6 -o big.model.json
    refclust fit gaussian big.npy --start-model big.model.json --variation hard --labels labels.csv
    """

    def begun(rows: Dataset, options: dict[str, Any]) -> EMSteps[Any, Any, Any]:
        from refclust.mixture.fit import gaussian_steps

        return gaussian_steps(rows, k, covariance=covariance, floor=floor, **options)

    _fit(data, k, "gaussian", begun, em, given)


@dataio.reads
@together(EMGiven, "em")
def multinomial(
    data: dataio.DataFile,
    k: K = None,
    m: M = 0.0,
    p: P = "uniform",
    counts: Annotated[
        CountsName, typer.Option("--counts", help="Whether fractions such as tf-idf are allowed.")
    ] = "whole",
    *,
    em: EMGiven,
    given: dataio.Given,
) -> None:
    """Fit a mixture of distributions of words by EM.

    \b
    refclust fit multinomial texts/ -k 8 --m 1 --stop-words stop.txt -o texts.model.json
    refclust fit multinomial texts/ -k 8 --m 100 --p background --restarts 10 --labels topics.csv
    """

    def begun(rows: Dataset, options: dict[str, Any]) -> EMSteps[Any, Any, Any]:
        from refclust.mixture.fit import multinomial_steps

        shares = _background(rows, "multinomial") if p == "background" else None
        return multinomial_steps(rows, k, m=m, p=shares, counts=counts, **options)

    _fit(data, k, "multinomial", begun, em, given)


@dataio.reads
@together(EMGiven, "em")
def bernoulli(
    data: dataio.DataFile,
    k: K = None,
    m: M = 0.0,
    p: P = "uniform",
    *,
    em: EMGiven,
    given: dataio.Given,
) -> None:
    """Fit a mixture of components that say which features are there, by EM; rows of 0 and 1.

    \b
    refclust fit bernoulli votes.csv -k 2 --label-column party --m 1
    """

    def begun(rows: Dataset, options: dict[str, Any]) -> EMSteps[Any, Any, Any]:
        from refclust.mixture.fit import bernoulli_steps

        shares = _background(rows, "bernoulli") if p == "background" else None
        return bernoulli_steps(rows, k, m=m, p=shares, **options)

    _fit(data, k, "bernoulli", begun, em, given)


def _fit(
    path: str,
    k: int | None,
    family: str,
    begun: Callable[[Dataset, dict[str, Any]], EMSteps[Any, Any, Any]],
    em: EMGiven,
    given: dataio.Given,
) -> None:
    """Check, read, fit, write and tell."""
    outputs = fit_files.Outputs(em.model, em.labels, em.trace, em.force, em.spreadsheet_safe)
    read_from = [path, label_files.split(em.start_labels)[0], em.start_model, given.stop_words]
    outputs.check(inputs=read_from, as_json=em.as_json)
    fit_run.check_checkpoint(
        em.kept,
        em.checkpoint_every,
        resume=em.resume,
        force=em.force,
        others=[*read_from, em.model, em.labels, em.trace],
    )
    em.check(k)
    from refclust.cli.show import mixture_json
    from refclust.cli.show import mixtures as mixture_summary

    source = dataio.read(path, given)
    options = em.arguments(source.data, family, given)

    def climbed(live: fit_run.Live) -> Any:
        kept = fit_run.checkpoint_of(em.kept, em.checkpoint_every, resume=em.resume)
        return fit_run.climbed(begun(source.data, {**options, "checkpoint": kept}), live)

    fit = fit_run.run(climbed, em.kept)
    facts = mixture_summary.Facts.of(fit, source.data, certify=em.certify)
    fit_files.write(outputs, source, fit, fit.labels, None, mixture_summary.trace_lines(fit))
    fit_run.drop(em.kept)
    scores = fit_files.scores(source.data, fit.labels)
    if em.as_json:
        fit_files.say_fit(mixture_json.mixture_json(fit, facts), scores, outputs, source)
    else:
        fit_files.tell(mixture_summary.mixture_lines(fit, source.data, facts), scores, outputs)


def _background(data: Dataset, family: str) -> list[float] | None:
    """The share of each word among all words, or among all rows, by weight."""
    import math

    terms: list[list[float]] = [[] for _ in range(data.d)]
    weights = [1.0] * data.n if data.weights is None else data.weights.tolist()
    for weight, row in zip(weights, data.rows(), strict=True):
        for j, x in row.items() if isinstance(row, dict) else enumerate(row):
            terms[j].append(weight * x)
    sums = [math.fsum(column) for column in terms]
    whole = math.fsum(sums if family == "multinomial" else weights)
    shares = [x / whole for x in sums] if whole > 0 else []
    # What is no count is told by whoever checks the counts.
    return shares if shares and all(0 <= share <= 1 for share in shares) else None
