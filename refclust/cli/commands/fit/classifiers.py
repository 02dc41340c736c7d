"""``refclust fit naive-bayes``, ``qda``, ``lda`` and ``nearest-gaussian``: known classes."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from refclust.classify.options import (
    LdaCall,
    NaiveBayesCall,
    NearestGaussianCall,
    QdaCall,
    TrainingCall,
)
from refclust.cli import lazy
from refclust.cli.commands.fit import files as fit_files
from refclust.cli.options import data as dataio
from refclust.cli.options import fit as opt
from refclust.cli.options import label_files
from refclust.cli.options.groups import Command, together
from refclust.cli.options.labelings import BackendName, Json
from refclust.errors import BadOption

if TYPE_CHECKING:
    from refclust.models.classifiers import AnyClassifier


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


def _training(kind: type[TrainingCall]) -> Callable[[Command], Command]:
    """Give a command the options of a classifier, of its files and of the data."""

    def wrapped(command: Command) -> Command:
        return dataio.reads(together(Training, "training")(together(kind, "call")(command)))

    return wrapped


@_training(NaiveBayesCall)
def naive_bayes(
    data: dataio.DataFile,
    *,
    call: NaiveBayesCall,
    training: Training,
    reading: dataio.DataOptions,
) -> None:
    """Learn classes with independent columns: words, or numbers.

    \b
    refclust fit naive-bayes mails.jsonl --text-column text --labels kind --smoothing laplace
    refclust fit naive-bayes votes.csv --kind bernoulli --labels party --m 2 -o votes.model.json
    refclust fit naive-bayes iris.csv --kind gaussian --labels species.txt
    """
    _fit(data, "refclust.classify.naive_bayes:naive_bayes", call, training, reading)


@_training(QdaCall)
def qda(
    data: dataio.DataFile, *, call: QdaCall, training: Training, reading: dataio.DataOptions
) -> None:
    """Learn a normal density for every class, each with its own covariance.

    \b
    refclust fit qda iris.csv --labels species -o iris.model.json
    refclust fit qda iris.csv --labels species --covariance VVI --prior equal
    """
    _fit(data, "refclust.classify.discriminants:qda", call, training, reading)


@_training(LdaCall)
def lda(
    data: dataio.DataFile, *, call: LdaCall, training: Training, reading: dataio.DataOptions
) -> None:
    """Learn normal densities with one covariance for all classes: linear boundaries.

    \b
    refclust fit lda iris.csv --labels species -o iris.model.json
    """
    _fit(data, "refclust.classify.discriminants:lda", call, training, reading)


@_training(NearestGaussianCall)
def nearest_gaussian(
    data: dataio.DataFile,
    *,
    call: NearestGaussianCall,
    training: Training,
    reading: dataio.DataOptions,
) -> None:
    """Learn a normal density for every class; rows go to the largest, whatever the shares.

    \b
    refclust fit nearest-gaussian iris.csv --labels species -o iris.model.json
    """
    _fit(data, "refclust.classify.discriminants:nearest_gaussian", call, training, reading)


def _fit(
    path: str, rule: str, call: TrainingCall, training: Training, reading: dataio.DataOptions
) -> None:
    """Check, read, train by the rule at a place, write and tell."""
    file, asked = classes_of(training.labels, reading)
    outputs = fit_files.Outputs(training.model, force=training.force)
    outputs.check(
        inputs=[path, label_files.split(file)[0], reading.stop_words], as_json=training.as_json
    )
    from refclust.cli.show import classifiers as summary

    normal = "discriminants" in rule or getattr(call, "kind", None) == "gaussian"
    source = dataio.read(path, asked, constants="drop" if normal else None)
    labels = None if file is None else label_files.read(file, reading, source.data)
    known = source.data.labels if labels is None else labels
    if known is None:
        raise BadOption("which classes? --labels names a column of the data, or a file")
    call = replace(call, data=source.data, labels=labels, backend=training.backend)
    fit: AnyClassifier = lazy.at(rule)(**vars(call))
    fit_files.write(outputs, source, fit, (), None)
    right = summary.right(fit, source.data, known, training.backend)
    if training.as_json:
        fit_files.say_fit(summary.classifier_json(fit, right), [], outputs, source)
    else:
        fit_files.tell(summary.classifier_lines(fit, source.data, right), [], outputs)


def classes_of(
    labels: str | None, reading: dataio.DataOptions
) -> tuple[str | None, dataio.DataOptions]:
    """A file of classes if there is one of that name, else a column of the data."""
    if labels is None:
        return None, reading
    if reading.label_column is not None:
        raise BadOption("--labels and --label-column both say which classes; give one of them")
    path = label_files.split(labels)[0]
    if labels == dataio.STDIN or (path is not None and os.path.exists(path)):
        return labels, reading
    return None, replace(reading, label_column=labels)
