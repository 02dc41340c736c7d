"""``refclust fit naive-bayes``, ``qda``, ``lda`` and ``nearest-gaussian``: known classes."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from refclust.cli.commands.fit import files as fit_files
from refclust.cli.options import data as dataio
from refclust.cli.options import fit as opt
from refclust.cli.options import label_files
from refclust.cli.options.groups import together
from refclust.cli.options.labelings import BackendName, Json
from refclust.errors import BadOption

if TYPE_CHECKING:
    from refclust.data.dataset import Dataset
    from refclust.models.classifiers import AnyClassifier

KindName: TypeAlias = Literal["multinomial", "bernoulli", "gaussian"]
SmoothingName: TypeAlias = Literal["mle", "m-estimate", "laplace", "half"]
PriorName: TypeAlias = Literal["documents", "equal"]
WordsPriorName: TypeAlias = Literal["documents", "tokens", "equal"]
CountsName: TypeAlias = Literal["whole", "fractional"]

Covariance = Annotated[
    str,
    typer.Option(
        "--covariance",
        metavar="C",
        help="full, tied, diagonal, spherical, shared-spherical, or one of EII to VVV.",
    ),
]
Floor = Annotated[
    float,
    typer.Option(
        "--floor",
        metavar="F",
        help="A prior against singular covariances: this share of the variances is added.",
    ),
]
Prior = Annotated[
    PriorName, typer.Option("--prior", help="Classes by their share of the rows, or all alike.")
]


@dataclass(frozen=True, slots=True)
class Training:
    """What the user said about training and its files, as typed."""

    labels: Annotated[
        str | None,
        typer.Option(
            "--labels",
            "--classes",
            metavar="COLUMN|FILE[:COLUMN]",
            help="The class of each row: a column of the data, or a file. [--label-column]",
        ),
    ] = None
    model: opt.ModelFile = None
    force: opt.Force = False
    backend: BackendName = None
    as_json: Json = False


@dataio.reads
@together(Training, "training")
def naive_bayes(
    data: dataio.DataFile,
    kind: Annotated[
        KindName, typer.Option("--kind", help="Words counted, words there or not, or numbers.")
    ] = "multinomial",
    prior: Annotated[
        WordsPriorName,
        typer.Option("--prior", help="Classes by their share of rows, of words, or all alike."),
    ] = "documents",
    smoothing: Annotated[
        SmoothingName | None,
        typer.Option("--smoothing", help="What is imagined beside the rows. [mle, or --m and --p]"),
    ] = None,
    m: Annotated[
        float | None, typer.Option("--m", metavar="M", help="Imagined observations of a class.")
    ] = None,
    p: Annotated[
        float | None, typer.Option("--p", metavar="P", help="Share of each word among them.")
    ] = None,
    counts: Annotated[
        CountsName, typer.Option("--counts", help="Whether fractions such as tf-idf are allowed.")
    ] = "whole",
    floor: Floor = 0.0,
    *,
    training: Training,
    given: dataio.Given,
) -> None:
    """Learn classes with independent columns: words, or numbers.

    \b
    refclust fit naive-bayes mails.jsonl --text-column text --labels kind --smoothing laplace
    refclust fit naive-bayes votes.csv --kind bernoulli --labels party --m 2 -o votes.model.json
    refclust fit naive-bayes iris.csv --kind gaussian --labels species.txt
    """

    def trained(rows: Dataset, labels: list[str] | None) -> AnyClassifier:
        from refclust.classify import naive_bayes as rule

        told: dict[str, Any] = {"kind": kind, "prior": prior, "backend": training.backend}
        if kind == "gaussian":
            if smoothing is not None or m is not None or p is not None or counts != "whole":
                raise BadOption("--smoothing, --m, --p and --counts belong to words, not numbers")
            return rule.naive_bayes(rows, labels, floor=floor, **told)
        if floor:
            raise BadOption("--floor belongs to --kind gaussian; words are smoothed by --m")
        return rule.naive_bayes(rows, labels, smoothing=smoothing, m=m, p=p, counts=counts, **told)

    _fit(data, trained, training, given)


@dataio.reads
@together(Training, "training")
def qda(
    data: dataio.DataFile,
    covariance: Covariance = "full",
    floor: Floor = 0.0,
    prior: Prior = "documents",
    *,
    training: Training,
    given: dataio.Given,
) -> None:
    """Learn a normal density for every class, each with its own covariance.

    \b
    refclust fit qda iris.csv --labels species -o iris.model.json
    refclust fit qda iris.csv --labels species --covariance VVI --prior equal
    """

    options = {"covariance": covariance, "floor": floor, "prior": prior}
    _fit(data, _discriminants("qda", options, training), training, given)


@dataio.reads
@together(Training, "training")
def lda(
    data: dataio.DataFile,
    covariance: Covariance = "tied",
    floor: Floor = 0.0,
    prior: Prior = "documents",
    *,
    training: Training,
    given: dataio.Given,
) -> None:
    """Learn normal densities with one covariance for all classes: linear boundaries.

    \b
    refclust fit lda iris.csv --labels species -o iris.model.json
    """

    options = {"covariance": covariance, "floor": floor, "prior": prior}
    _fit(data, _discriminants("lda", options, training), training, given)


@dataio.reads
@together(Training, "training")
def nearest_gaussian(
    data: dataio.DataFile,
    covariance: Covariance = "full",
    floor: Floor = 0.0,
    *,
    training: Training,
    given: dataio.Given,
) -> None:
    """Learn a normal density for every class; rows go to the largest, whatever the shares.

    \b
    refclust fit nearest-gaussian iris.csv --labels species -o iris.model.json
    """

    options = {"covariance": covariance, "floor": floor}
    _fit(data, _discriminants("nearest_gaussian", options, training), training, given)


def _discriminants(
    rule: Literal["qda", "lda", "nearest_gaussian"], options: dict[str, Any], training: Training
) -> Callable[[Dataset, list[str] | None], AnyClassifier]:
    """Train normal densities of classes by one of their rules."""

    def trained(rows: Dataset, labels: list[str] | None) -> AnyClassifier:
        from refclust.classify import discriminants

        found: AnyClassifier = getattr(discriminants, rule)(
            rows, labels, backend=training.backend, **options
        )
        return found

    return trained


def _fit(
    path: str,
    trained: Callable[[Dataset, list[str] | None], AnyClassifier],
    training: Training,
    given: dataio.Given,
) -> None:
    """Check, read, train, write and tell."""
    file, asked = _classes(training.labels, given)
    outputs = fit_files.Outputs(training.model, force=training.force)
    outputs.check(
        inputs=[path, label_files.split(file)[0], given.stop_words], as_json=training.as_json
    )
    from refclust.cli.show import classifiers as classifier_summary

    source = dataio.read(path, asked)
    labels = None if file is None else label_files.read(file, given)
    if labels is None and source.data.labels is None:
        raise BadOption("which classes? --labels names a column of the data, or a file")
    fit = trained(source.data, labels)
    fit_files.write(outputs, source, fit, (), None)
    known = source.data.labels if labels is None else labels
    assert known is not None
    right = classifier_summary.right(fit, source.data, known, training.backend)
    if training.as_json:
        told = classifier_summary.classifier_json(fit, right)
        fit_files.say_fit(told, [], outputs, source)
    else:
        fit_files.tell(classifier_summary.classifier_lines(fit, source.data, right), [], outputs)


def _classes(labels: str | None, given: dataio.Given) -> tuple[str | None, dataio.Given]:
    """A file of classes if there is one of that name, else a column of the data."""
    if labels is None:
        return None, given
    if given.label_column is not None:
        raise BadOption("--labels and --label-column both say which classes; give one of them")
    path = label_files.split(labels)[0]
    if labels == dataio.STDIN or (path is not None and os.path.exists(path)):
        return labels, given
    return None, replace(given, label_column=labels)
