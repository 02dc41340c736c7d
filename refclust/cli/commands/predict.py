"""``refclust predict``: new rows into the clusters, components or classes of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

import typer

from refclust.cli.commands.fit.files import Outputs, write_joined
from refclust.cli.options import data as dataio
from refclust.cli.options.evidence.labelings import BackendName, Json
from refclust.cli.options.fit import Force, OutputFile
from refclust.cli.output import note, say_data, say_json
from refclust.cli.show.spreadsheets import SpreadsheetSafe, labelled
from refclust.errors import BadOption, CannotPredict
from refclust.escape import for_terminal

if TYPE_CHECKING:
    from refclust.backends.session import Provenance
    from refclust.data.dataset import Dataset
    from refclust.models.records.clusters import ClassifierModel, MixtureModel, Model

SCHEMA: Final = "refclust-predict/1"

ModelFile = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model that `refclust fit` wrote; - is stdin.")
]
ImpossibleName: TypeAlias = Literal["error", "prior"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for besides labels."""

    distance: bool = False
    proba: bool = False
    log_density: bool = False
    entropy: bool = False
    impossible: ImpossibleName = "error"

    @property
    def soft(self) -> bool:
        """Whether only densities can answer."""
        return self.proba or self.log_density or self.entropy or self.impossible != "error"


@dataclass(frozen=True, slots=True)
class Answer:
    """The label of every row, and further columns."""

    labels: Sequence[Any]
    extra: dict[str, Sequence[float]]
    names: tuple[str, str]  # of the first two columns
    provenance: Provenance


LabelsFile: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="Write the cluster of each row to .csv, .tsv or .jsonl. [CSV on stdout]",
    ),
]


@dataio.reads
def predict(
    model: ModelFile,
    data: dataio.DataFile,
    labels: LabelsFile = None,
    output: OutputFile = None,
    distance: Annotated[
        bool, typer.Option("--distance", help="Add how far each row is from its centre.")
    ] = False,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of every component or class.")
    ] = False,
    log_density: Annotated[
        bool, typer.Option("--log-density", help="Add the log-likelihood of each row.")
    ] = False,
    entropy: Annotated[
        bool, typer.Option("--entropy", help="Add how undecided each row is, in nats.")
    ] = False,
    impossible: Annotated[
        ImpossibleName,
        typer.Option(
            "--impossible",
            help="Rows that no component allows: an error, or decided by shares alone.",
        ),
    ] = "error",
    spreadsheet_safe: SpreadsheetSafe = False,
    force: Force = False,
    backend: BackendName = None,
    as_json: Json = False,
    *,
    reading: dataio.DataOptions,
) -> None:
    """Put new rows into clusters, components or classes, read as the data of the model were read.

    \b
    refclust predict iris.model.json new.csv
    refclust predict iris.model.json new.csv --labels new.labels.csv --distance
    refclust predict mixture.model.json new.csv --proba --entropy
    cat new.csv | refclust predict iris.model.json - > labels.csv
    """
    printed = None if as_json or output is not None else "-"
    path = printed if labels is None else labels
    outputs = Outputs(labels=path, force=force, spreadsheet_safe=spreadsheet_safe, output=output)
    outputs.check(inputs=[data, model, reading.stop_words], as_json=as_json)
    from refclust.models.clusters import load_model

    loaded = load_model(model)
    wanted = Wanted(distance, proba, log_density, entropy, impossible)
    check_has_rule(loaded)
    source, unseen = dataio.read_as(loaded, data, reading)
    answer = answered(loaded, source.data, wanted, backend)
    dataio.note_unseen(unseen)
    if as_json:
        _say_json(source.data, answer, unseen)
    if outputs.labels is not None:
        _write(outputs.labels, outputs, source.data, answer)
    if output is not None:
        both = replace(wanted, distance=True, proba=True)
        more = answered(loaded, source.data, both, backend, either=True)
        write_joined(outputs, source, {more.names[1]: more.labels, **more.extra})


def check_has_rule(model: Model) -> None:
    """Refuse a model that has no rule for new rows."""
    if model.algorithm == "agglomerative":
        raise CannotPredict(
            "a tree of merges has no rule for new rows; write the labels of its cut and start "
            "k-means from them: refclust fit kmeans DATA --start-labels LABELS.csv:cluster"
        )


def _write(path: str, outputs: Outputs, data: Dataset, answer: Answer) -> None:
    """Write the labels and their further columns to a file, or print them."""
    from refclust.data.writers.writing import label_chunks, write_labels

    rows, labels = labelled(
        data, answer.labels, form=outputs.form or "", safe=outputs.spreadsheet_safe
    )
    if path == "-":
        for chunk in label_chunks(rows, labels, names=answer.names, extra=answer.extra):
            say_data(chunk)
    else:
        columns: dict[str, Any] = {"names": answer.names, "extra": answer.extra}
        write_labels(path, rows, labels, force=outputs.force, **columns)
        note(f"wrote {for_terminal(path)}")


def answered(
    model: Model,
    data: Dataset,
    wanted: Wanted,
    backend: str | None,
    *,
    either: bool = False,
) -> Answer:
    """What a model says of rows; with ``either`` distances or probabilities, whichever it has."""
    from refclust.models.records.clusters import ClassifierModel, MixtureModel

    if isinstance(model, MixtureModel | ClassifierModel):
        if wanted.distance and not either:
            raise BadOption("--distance belongs to clusters with centres; --log-density tells more")
        return _soft(model, data, wanted, backend)
    if either:
        wanted = replace(wanted, proba=False)
    if wanted.soft:
        raise BadOption(
            f"a {model.algorithm} model has no densities; --proba, --log-density, --entropy and "
            "--impossible belong to mixtures and classifiers"
        )
    from refclust.models import nearest as rule

    prediction = rule.predict(model, data, backend=backend)
    extra: dict[str, Sequence[float]] = {}
    if wanted.distance:
        extra["distance"] = rule.distances(model, data, prediction.labels)
    return Answer(prediction.labels, extra, ("id", "cluster"), prediction.provenance)


def _soft(
    model: MixtureModel | ClassifierModel, data: Dataset, wanted: Wanted, backend: str | None
) -> Answer:
    import math

    from refclust.classify.predict import Classified
    from refclust.models.predict import predict as rule

    full = wanted.proba or wanted.entropy
    answer = rule(model, data, full=full, impossible=wanted.impossible, backend=backend)
    posterior = answer.found if isinstance(answer, Classified) else answer
    weights = model.fitted.parameters.weights
    lost = [x == -math.inf for x in posterior.log_likelihoods]
    extra: dict[str, Sequence[float]] = {}
    if wanted.proba:
        names = answer.classes if isinstance(answer, Classified) else range(len(weights))
        # A row that nothing can have made goes by shares alone.
        shares = [weights if lost[i] else posterior.responsibilities(i) for i in range(data.n)]
        extra |= {f"p_{name}": [row[k] for row in shares] for k, name in enumerate(names)}
    if wanted.log_density:
        extra["log_density"] = posterior.log_likelihoods
    if wanted.entropy:
        prior = math.fsum(-p * math.log(p) for p in weights if p)
        extra["entropy"] = [prior if lost[i] else posterior.entropy(i) for i in range(data.n)]
    column = "class" if isinstance(answer, Classified) else "cluster"
    return Answer(answer.labels, extra, ("id", column), posterior.provenance)


def _say_json(data: Dataset, answer: Answer, unseen: int) -> None:
    from refclust.cli.show.mixture_json import finite
    from refclust.cli.show.scores.rendering import provenance_json
    from refclust.version import __version__

    extra = {name: [finite(x) for x in column] for name, column in answer.extra.items()}
    columns = [name for name in extra if name.startswith("p_")]
    say_json(
        {
            "schema": SCHEMA,
            "refclust": __version__,
            "rows": data.n,
            "unknown_features": unseen,
            "ids": None if data.ids is None else list(data.ids),
            "labels": list(answer.labels),
            "distances": extra.get("distance"),
            "names": [name.removeprefix("p_") for name in columns] or None,
            "probabilities": [list(row) for row in zip(*map(extra.get, columns), strict=True)]
            or None,
            "log_densities": extra.get("log_density"),
            "entropies": extra.get("entropy"),
            "provenance": provenance_json(answer.provenance),
        }
    )
