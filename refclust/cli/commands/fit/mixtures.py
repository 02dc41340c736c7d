"""``refclust fit gaussian``, ``multinomial`` and all other families: mixtures by EM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from refclust.cli.commands.fit import files as fit_files
from refclust.cli.commands.fit import running as fit_run
from refclust.cli.options import data as dataio
from refclust.cli.options import label_files
from refclust.cli.options.fit import Files
from refclust.cli.options.groups import Command, together
from refclust.errors import BadOption
from refclust.escape import for_terminal
from refclust.fitting.options import LEFT_OPEN
from refclust.mixture.options import BernoulliCall, GaussianCall, MixtureCall, MultinomialCall

if TYPE_CHECKING:
    from refclust.data.dataset import Dataset
    from refclust.fitting.checkpoint import Checkpoint
    from refclust.mixture.results import MixtureFit

Shares = Annotated[
    Literal["uniform", "background"],
    typer.Option("--p", help="What is imagined: all words alike, or as in all rows together."),
]


def _mixture(kind: type[MixtureCall]) -> Callable[[Command], Command]:
    """Give a command the options of a mixture, of its files and of the data."""

    def wrapped(command: Command) -> Command:
        filed = together(Files, "files", leave_out=("merges", "check"))
        return dataio.reads(filed(together(kind, "call")(command)))

    return wrapped


@_mixture(GaussianCall)
def gaussian(
    data: dataio.DataFile, *, call: GaussianCall, files: Files, reading: dataio.DataOptions
) -> None:
    """Fit a mixture of normal densities by EM; every iteration certified not to lose.

    \b
    refclust fit gaussian iris.csv -k 3 --label-column label
    refclust fit gaussian iris.csv -k 3 --label-column label --covariance EEE --restarts 20
    refclust fit gaussian big.npy -k 50 --covariance diagonal --floor 1e-6 -o big.model.json
    refclust fit gaussian big.npy --start-model big.model.json --variation hard --labels labels.csv
    """
    _fit(data, "gaussian", call, files, reading)


@_mixture(MultinomialCall)
def multinomial(
    data: dataio.DataFile,
    p: Shares = "uniform",
    *,
    call: MultinomialCall,
    files: Files,
    reading: dataio.DataOptions,
) -> None:
    """Fit a mixture of distributions of words by EM.

    \b
    refclust fit multinomial texts/ -k 8 --m 1 --stop-words stop.txt -o texts.model.json
    refclust fit multinomial texts/ -k 8 --m 100 --p background --restarts 10 --labels topics.csv
    """
    _fit(data, "multinomial", call, files, reading, background=p == "background")


@_mixture(BernoulliCall)
def bernoulli(
    data: dataio.DataFile,
    p: Shares = "uniform",
    *,
    call: BernoulliCall,
    files: Files,
    reading: dataio.DataOptions,
) -> None:
    """Fit a mixture of components that say which features are there, by EM; rows of 0 and 1.

    \b
    refclust fit bernoulli votes.csv -k 2 --label-column party --m 1
    """
    _fit(data, "bernoulli", call, files, reading, background=p == "background")


def __getattr__(name: str) -> Command:
    """The commands of all other families, made of their records."""
    from refclust.mixture.families.named import names, record

    if name not in names():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    known = record(name)

    def command(
        data: dataio.DataFile, *, call: MixtureCall, files: Files, reading: dataio.DataOptions
    ) -> None:
        _fit(data, name, call, files, reading)

    command.__doc__ = f"Fit {known.title} by EM.\n\n\b\nrefclust fit {name} {known.example}"
    return _mixture(known.call)(command)


def _fit(
    path: str,
    family: str,
    call: MixtureCall,
    files: Files,
    reading: dataio.DataOptions,
    *,
    background: bool = False,
) -> None:
    """Check, read, fit, write and tell."""
    labels, model = _starts(call)
    files.refuse([path, label_files.split(labels)[0], model, reading.stop_words])
    from refclust.cli.show import mixture_json
    from refclust.cli.show import mixtures as summary
    from refclust.mixture.families.named import record
    from refclust.mixture.fit import begun_by

    # A column that is constant has no variance, and no normal density.
    constants: Any = "drop" if family == "gaussian" else None
    source = dataio.read(path, reading, constants=constants)
    shares: dict[str, Any] = {"p": _background(source.data, family)} if background else {}
    asked = replace(
        call,
        data=source.data,
        labels=None if labels is None else label_files.read(labels, reading, source.data),
        parameters=None if model is None else _parameters(model, source.data, family),
        backend=files.backend,
        **shares,
    )

    def climbed(live: fit_run.Live, checkpoint: Checkpoint | None) -> MixtureFit[Any]:
        steps = begun_by(record(family), replace(asked, checkpoint=checkpoint))
        return fit_run.climbed(steps, live)

    fit = files.run(climbed)
    facts = summary.Facts.of(fit, source.data, certify=files.certify)
    lines = summary.trace_lines(fit)
    fit_files.write(files.outputs, source, fit, fit.labels, None, lines, files.backend)
    fit_run.drop(files.kept)
    scores = fit_files.scores(source.data, fit.labels)
    if files.as_json:
        fit_files.say_fit(mixture_json.mixture_json(fit, facts), scores, files.outputs, source)
    else:
        told = summary.mixture_lines(fit, source.data, facts)
        fit_files.tell(told, scores, files.outputs)


def _starts(call: MixtureCall) -> tuple[str | None, str | None]:
    """The files to start from, of labels and of a model; at most one, and then no other start."""
    files: tuple[Any, Any] = call.labels, call.parameters
    start = None if call.start is LEFT_OPEN else call.start
    spelled = ("--start", "--start-labels", "--start-model")
    chosen = [
        name for name, value in zip(spelled, (start, *files), strict=True) if value is not None
    ]
    if len(chosen) > 1:
        raise BadOption(f"{' and '.join(chosen)}: a fit starts from one of them")
    if call.k is None and files == (None, None):
        raise BadOption(
            "how many components? give -k K, or a start: --start-labels or --start-model"
        )
    return files


def _parameters(path: str, data: Dataset, family: str) -> Any:
    """The parameters of a mixture or classifier of the same family, over the same features."""
    from refclust.errors import FeatureMismatch
    from refclust.models.clusters import load_model
    from refclust.models.records.clusters import ClassifierModel, MixtureModel

    model = load_model(path)
    if not isinstance(model, MixtureModel | ClassifierModel) or model.family != family:
        held = f"{for_terminal(path)} holds a {model.algorithm} model"
        raise BadOption(f"{held}; one that is {family} is needed")
    known = model.data.features
    if model.data.d != data.d or (None not in (known, data.features) and known != data.features):
        raise FeatureMismatch(
            f"{for_terminal(path)} was fitted to other features than those of the data"
        )
    return model.fitted.parameters.mixture()


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
