"""``refclust describe``: what is in each cluster of a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from refclust.cli.options import data as dataio
from refclust.cli.options.labelings import BackendName, Json
from refclust.cli.output import columns, counted, say, say_json
from refclust.data.files.source import refuse_twice
from refclust.errors import BadOption
from refclust.escape import for_terminal

if TYPE_CHECKING:
    from refclust.data.dataset import Dataset
    from refclust.models.describe import Description, Portrait
    from refclust.models.records.clusters import Model

SCHEMA: Final = "refclust-describe/1"
_WIDTH = 96
_GLUE = "\x1f"  # holds a name and its number together; no name that is shown has it


@dataio.reads
def describe(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A model that `refclust fit` wrote; - is stdin.")
    ],
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATA]", help="Data to describe with it; they make differences comparable."
        ),
    ] = None,
    top: Annotated[
        int, typer.Option("--top", metavar="N", help="How many features or words of each cluster.")
    ] = 10,
    rows: Annotated[
        int, typer.Option("--rows", metavar="N", help="How many typical rows, if there are data.")
    ] = 3,
    backend: BackendName = None,
    as_json: Json = False,
    *,
    reading: dataio.DataOptions,
) -> None:
    """Tell what is in each cluster: size, spread, characteristic features or words, typical rows.

    \b
    refclust describe iris.model.json
    refclust describe iris.model.json iris.csv
    refclust describe texts.model.json texts/ --top 20 --rows 5
    """
    refuse_twice([model, data, reading.stop_words])
    for option, value in (("--top", top), ("--rows", rows)):
        if value < 0:
            raise BadOption(f"{option} {value}: a number of at least 0 is needed")
    if data is None and reading != dataio.DataOptions():
        raise BadOption("options for reading go with DATA, which is missing")
    from refclust.models import describe as portraits
    from refclust.models.clusters import load_model

    loaded = load_model(model)
    if data is not None and loaded.data.kind == "distances":
        origin = f"{for_terminal(model)} was made of distances"
        raise BadOption(f"{origin}; there are no data to describe it with")
    source: dataio.Source | None = None
    if data is not None:
        source, unseen = dataio.read_as(loaded, data, reading)
        dataio.note_unseen(unseen)
    shown = None if source is None else source.data
    labels = None if shown is None else _labels(loaded, shown, backend)
    description = portraits.describe(
        loaded, shown, top=top, typical=rows, labels=labels, backend=backend
    )
    if as_json:
        say_json(_json(loaded, shown, description))
    else:
        say("\n".join(_lines(loaded, shown, description)))


def _labels(model: Model, data: Dataset, backend: str | None) -> Sequence[int] | None:
    """Where densities put the rows; centres put them there by themselves."""
    from refclust.classify.predict import Classified
    from refclust.models.predict import predict
    from refclust.models.records.clusters import ClassifierModel, MixtureModel

    if not isinstance(model, MixtureModel | ClassifierModel):
        return None
    prediction = predict(model, data, backend=backend)
    return prediction.found.labels if isinstance(prediction, Classified) else prediction.labels


def _classes(model: Model) -> list[str | int] | None:
    from refclust.models.records.clusters import ClassifierModel

    return [*model.fitted.classes] if isinstance(model, ClassifierModel) else None


def _lines(model: Model, data: Dataset | None, description: Description) -> Iterator[str]:
    from refclust.cli.show.clusters import size_lines

    classes = _classes(model)
    clusters = counted(len(description.clusters), "cluster" if classes is None else "class")
    rows, features = counted(model.data.n, "row"), counted(model.data.d, "feature")
    how = f" ({description.metric})" if hasattr(model.params, "metric") else ""
    plan = model.data.preparation
    done = "" if plan is None else plan.said()
    yield f"{clusters} by {model.algorithm}{how} from {rows}, {features}" + (done and f" ({done})")
    if data is not None:
        same = data.digest() == model.data.digest
        yield f"described with {'these rows' if same else counted(data.n, 'other row')}"
    yield ""
    known = [portrait.rss for portrait in description.clusters if portrait.rss is not None]
    yield from size_lines([portrait.size for portrait in description.clusters], known or None)
    if plan is not None and plan.scale is not None and known:
        yield "RSS and mean square are those of the scaled rows; what follows is in your own units"
    if not any(portrait.traits for portrait in description.clusters):
        return
    yield ""
    sparse = model.data.kind == "sparse"
    yield from _about(sparse, data is not None)
    for portrait in description.clusters:
        yield ""
        named = "" if classes is None else f": {for_terminal(classes[portrait.cluster])}"
        yield f"cluster {portrait.cluster}{named}"
        yield from _portrait(portrait, words=sparse)


def _about(sparse: bool, scaled: bool) -> Iterator[str]:
    """Say what the order of the features is."""
    which = "features above their overall mean" if sparse else "features by their difference"
    if scaled:
        yield f"{which} (z: in overall standard deviations), then typical rows"
    else:
        yield f"{which}, in their own units; with DATA in standard deviations"


def _portrait(portrait: Portrait, *, words: bool) -> Iterator[str]:
    import textwrap

    from refclust.cli.show.clusters import number

    if not portrait.size:
        yield "  empty"
        return
    if words:
        words_text = ", ".join(
            f"{for_terminal(trait.name)}{_GLUE}({_score(trait.standardised, trait.difference)})"
            for trait in portrait.traits
        )
        for line in textwrap.wrap(words_text, _WIDTH, initial_indent="  ", subsequent_indent="  "):
            yield line.replace(_GLUE, " ")
    elif portrait.traits:
        scaled = portrait.traits[0].standardised is not None
        rows = [["feature", *(["z"] if scaled else []), "difference", "mean", "overall"]]
        for trait in portrait.traits:
            z = [f"{trait.standardised:+.2f}"] if trait.standardised is not None else []
            rows.append(
                [
                    for_terminal(trait.name),
                    *z,
                    f"{trait.difference:+.4g}",
                    f"{trait.mean:.4g}",
                    f"{trait.overall:.4g}",
                ]
            )
        yield from (f"  {line}" for line in columns(rows, right=frozenset(range(1, 5))))
    if portrait.typical:
        near = ", ".join(
            f"{for_terminal(row.name)} ({number(row.distance)})" for row in portrait.typical
        )
        yield f"  typical rows (distance): {near}"


def _score(standardised: float | None, difference: float) -> str:
    return f"{difference:.3g}" if standardised is None else f"{standardised:.2f}"


def _json(model: Model, data: Dataset | None, description: Description) -> dict[str, Any]:
    from dataclasses import asdict

    from refclust.cli.show.clusters import plain_weight
    from refclust.cli.show.scores import provenance_json
    from refclust.version import __version__

    return {
        "schema": SCHEMA,
        "refclust": __version__,
        "algorithm": model.algorithm,
        "metric": description.metric,
        "classes": _classes(model),
        "rows": model.data.n if data is None else data.n,
        "features": model.data.d,
        "data": None if data is None else data.digest(),
        "same_data": data is not None and data.digest() == model.data.digest,
        "clusters": [
            {**asdict(portrait), "size": plain_weight(portrait.size)}
            for portrait in description.clusters
        ],
        "provenance": provenance_json(description.provenance),
    }
