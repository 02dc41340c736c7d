"""``refclust predict``: new rows into the clusters of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from refclust.cli import dataio
from refclust.cli.fit_files import Outputs
from refclust.cli.fit_options import Force
from refclust.cli.inputs import BackendName, Json
from refclust.cli.output import note, say, say_json
from refclust.errors import CannotPredict

if TYPE_CHECKING:
    from refclust.cluster.predict import Prediction
    from refclust.data.dataset import Dataset

SCHEMA: Final = "refclust-predict/1"

ModelFile = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model that `refclust fit` wrote; - is stdin.")
]


@dataio.reads
def predict(
    model: ModelFile,
    data: dataio.DataFile,
    labels: Annotated[
        str | None,
        typer.Option(
            "--labels",
            metavar="FILE",
            help="Write the cluster of each row to .csv, .tsv or .jsonl. [CSV on stdout]",
        ),
    ] = None,
    distance: Annotated[
        bool, typer.Option("--distance", help="Add how far each row is from its centre.")
    ] = False,
    force: Force = False,
    backend: BackendName = None,
    as_json: Json = False,
    *,
    given: dataio.Given,
) -> None:
    """Put new rows into the clusters of a model, read as the data of the model were read.

    \b
    refclust predict iris.model.json new.csv
    refclust predict iris.model.json new.csv --labels new.labels.csv --distance
    cat new.csv | refclust predict iris.model.json - > labels.csv
    """
    outputs = Outputs(labels=labels, force=force)
    outputs.check(inputs=[model, data, given.stop_words], as_json=as_json)
    from refclust.cluster import predict as rule
    from refclust.cluster.model import load_model
    from refclust.data.writers import label_chunks, write_labels

    found = load_model(model)
    if found.algorithm == "agglomerative":
        raise CannotPredict(
            "a tree of merges has no rule for new rows; write the labels of its cut and start "
            "k-means from them: refclust fit kmeans DATA --start-labels LABELS.csv:cluster"
        )
    source, unseen = dataio.read_as(found, data, given)
    prediction = rule.predict(found, source.data, backend=backend)
    dataio.note_unseen(unseen)
    extra = {}
    if distance:
        extra["distance"] = rule.distances(found, source.data, prediction.labels)
    if as_json:
        _say_json(source.data, prediction, unseen, list(extra.get("distance", [])) or None)
    elif labels is None or labels == "-":
        for chunk in label_chunks(source.data, prediction.labels, extra=extra):
            say(chunk.removesuffix("\n"))
    if labels is not None and labels != "-":
        write_labels(labels, source.data, prediction.labels, extra=extra)
        note(f"wrote {labels}")


def _say_json(
    data: Dataset, prediction: Prediction, unseen: int, distances: list[float] | None
) -> None:
    from refclust.cli.render import provenance_json
    from refclust.version import __version__

    say_json(
        {
            "schema": SCHEMA,
            "refclust": __version__,
            "rows": data.n,
            "unknown_features": unseen,
            "ids": None if data.ids is None else list(data.ids),
            "labels": prediction.labels.tolist(),
            "distances": distances,
            "provenance": provenance_json(prediction.provenance),
        }
    )
