"""Models as JSON text, always the same text for the same model (chapter 11, MODEL-DOC)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from refclust.data.files.document import Line, written
from refclust.data.readers.formats import Options
from refclust.models.records.clusters import (
    AgglomerativeModel,
    BisectingFitted,
    BisectingModel,
    ClassifierModel,
    DataFacts,
    FlatSplit,
    Kind,
    KMeansFitted,
    KMeansModel,
    MixtureModel,
    Model,
    Origin,
    Reading,
    RunFacts,
)
from refclust.models.writer.mixtures import (
    classifier_fitted,
    classifier_params,
    mixture_fitted,
    mixture_params,
)
from refclust.models.writer.parts import centre_line, plain

FORMAT: Final = "refclust-model"
VERSION: Final = 1


def to_json(model: Model) -> str:
    """The document of a model, one centre per line."""
    return written(
        {
            "format": FORMAT,
            "version": VERSION,
            "algorithm": model.algorithm,
            "params": _params(model),
            "fitted": _fitted(model),
            "data": _data(model.data),
            "provenance": _origin(model.provenance),
        }
    )


def _params(model: Model) -> dict[str, Any]:
    if isinstance(model, MixtureModel):
        return mixture_params(model.params)
    if isinstance(model, ClassifierModel):
        return classifier_params(model.params)
    params = plain(model.params)
    if isinstance(model, AgglomerativeModel) and model.params.cut is not None:
        cut = plain(model.params.cut)
        params["cut"] = Line({name: value for name, value in cut.items() if value is not None})
    return params


def _fitted(model: Model) -> dict[str, Any]:
    match model:
        case KMeansModel():
            return _kmeans(model.fitted, model.data.kind)
        case BisectingModel():
            return _bisecting(model.fitted, model.data.kind)
        case AgglomerativeModel():
            return {"merges": [Line(list(plain(merge).values())) for merge in model.fitted.merges]}
        case MixtureModel():
            return mixture_fitted(model.fitted, model.data.kind)
        case ClassifierModel():
            return classifier_fitted(model.fitted, model.data.kind)


def _kmeans(fitted: KMeansFitted, kind: Kind) -> dict[str, Any]:
    return {
        **plain(fitted),
        "sizes": Line([str(size) for size in fitted.sizes]),
        "within": Line(fitted.within),
        "centres": [centre_line(centre, kind) for centre in fitted.centres],
        "runs": [Line(_run(run)) for run in fitted.runs],
        "trace": [Line(plain(step)) for step in fitted.trace],
    }


def _bisecting(fitted: BisectingFitted, kind: Kind) -> dict[str, Any]:
    return {
        **plain(fitted),
        "sizes": Line([str(size) for size in fitted.sizes]),
        "within": Line(fitted.within),
        "centres": [centre_line(centre, kind) for centre in fitted.centres],
        "splits": [_split(split, kind) for split in fitted.splits],
    }


def _run(run: RunFacts) -> dict[str, Any]:
    return {**plain(run), "emptied": [plain(emptied) for emptied in run.emptied]}


def _split(split: FlatSplit, kind: Kind) -> dict[str, Any]:
    return {
        **plain(split),
        "children": Line([{child.kind: child.index} for child in split.children]),
        "centres": [centre_line(centre, kind) for centre in split.centres],
    }


def _data(data: DataFacts) -> dict[str, Any]:
    return {**plain(data), "features": Line(data.features), "reading": _reading(data.reading)}


def _reading(reading: Reading | None) -> dict[str, Any] | None:
    if reading is None:
        return None
    weighing = None if reading.weighing is None else Line(plain(reading.weighing))
    return {"format": reading.format, "options": _options(reading.options), "weighing": weighing}


def _options(options: Options) -> dict[str, Any]:
    """The options that were given; the words of a given vocabulary are the features already."""
    given = {name: value for name, value in plain(options).items() if value is not None}
    if options.columns is not None:
        given["columns"] = Line(options.columns)
    if options.text is not None:
        text = plain(options.text)
        del text["vocabulary"]
        text["stop_words"] = Line(sorted(options.text.stop_words))
        for name in ("min_df", "max_df"):
            if isinstance(text[name], Fraction):
                text[name] = str(text[name])
        given["text"] = text
    return given


def _origin(origin: Origin) -> dict[str, Any]:
    return {**plain(origin), "kernels": [Line(plain(kernel)) for kernel in origin.kernels]}
