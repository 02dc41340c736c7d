"""Models as JSON text, and models from it (chapter 11, MODEL-DOC and MODEL-LOAD).

The same model gives always the same text. What comes back from a text is a model that could have
been written, or the error ``bad-model`` with the path of the first offending key.
"""

from __future__ import annotations

from typing import Any, Final, get_args

from refclust.data.files.document import LARGEST, Node, parse, written
from refclust.data.files.parts import Known
from refclust.data.files.records import FAMILY, plain, read, values_by_path
from refclust.models.records.clusters import (
    AgglomerativeFitted,
    AgglomerativeModel,
    AgglomerativeParams,
    BisectingFitted,
    BisectingModel,
    BisectingParams,
    KMeansFitted,
    KMeansModel,
    KMeansParams,
    Model,
)
from refclust.models.records.common import DataFacts, DataOrigin
from refclust.models.records.families import FAMILIES
from refclust.models.records.mixtures import (
    ClassifierFitted,
    ClassifierModel,
    MixtureFitted,
    MixtureModel,
    MixtureParams,
    Trained,
)

FORMAT: Final = "refclust-model"
VERSION: Final = 1
KEYS: Final = ("format", "version", "algorithm", "params", "fitted", "data", "provenance")
CLUSTERS: Final[dict[str, tuple[type[Any], type[Any], type[Any]]]] = {
    "kmeans": (KMeansModel, KMeansParams, KMeansFitted),
    "bisecting": (BisectingModel, BisectingParams, BisectingFitted),
    "agglomerative": (AgglomerativeModel, AgglomerativeParams, AgglomerativeFitted),
}
ALGORITHMS: Final = (*CLUSTERS, *FAMILIES, *get_args(Trained))
TRAINED: Final = tuple(name for name, family in FAMILIES.items() if family.trained is not None)


def to_json(model: Model) -> str:
    """The document of a model, one centre per line.

    Spec: MODEL-DOC
    """
    known = {"kind": model.data.kind}
    parts = {name: plain(getattr(model, name), known) for name in KEYS[3:]}
    head = {"format": FORMAT, "version": VERSION, "algorithm": model.algorithm}
    return written(head | parts)


def from_json(text: str, name: str) -> Model:
    """Read a model from the text of its document; ``name`` is what messages call it.

    Spec: MODEL-LOAD
    """
    top = parse(text, name)
    _check_version(top)
    _, _, algorithm, params, fitted, data, provenance = top.members(*KEYS)
    facts, origin = read(DataFacts, data, {}), read(DataOrigin, provenance, {})
    word = algorithm.one_of(ALGORITHMS)
    if facts.kind == "distances" and word != "agglomerative":
        data.entry("kind").fail("distances; this algorithm needs rows, dense or sparse")
    known = {
        "algorithm": word,
        FAMILY: word if word in FAMILIES else _trained(params, word),
        "kind": facts.kind,
        "n": facts.n,
        "d": facts.d,
        "k": facts.n,  # of clusters that were empty: params.k is less after a drop
        "limit": LARGEST,
    }
    made, asked, outcome = records_of(known)
    wanted = read(asked, params, known)
    model: Model = made(
        params=wanted,
        fitted=read(outcome, fitted, known | values_by_path(wanted, "params")),
        data=facts,
        provenance=origin,
        **({} if word in CLUSTERS else {"algorithm": word}),
    )
    return model


def records_of(known: Known) -> tuple[type[Any], type[Any], type[Any]]:
    """The classes of a model and of its two parts, by its algorithm and its family.

    Spec: none (a look-up)
    """
    algorithm = known["algorithm"]
    if algorithm in CLUSTERS:
        return CLUSTERS[algorithm]
    if algorithm in FAMILIES:
        return MixtureModel, MixtureParams, MixtureFitted
    trained: Any = FAMILIES[known[FAMILY]].trained
    return ClassifierModel, trained, ClassifierFitted


def _trained(params: Node, algorithm: str) -> str:
    """The family of a classifier: naive Bayes says which, the others are Gaussian."""
    if algorithm != "naive-bayes":
        return "gaussian"
    if "kind" not in params.mapping():
        return "multinomial"
    return params.entry("kind").one_of(TRAINED)


def _check_version(top: Node) -> None:
    """Before anything else: another version may well have other keys."""
    keys = top.mapping()
    if keys.get("format") != FORMAT:
        top.fail(f"this is no model file; those begin with the format {FORMAT!r}")
    if "version" in keys:
        version = top.entry("version")
        if version.whole(1) != VERSION:
            version.fail(f"version {version.value} of model files; this program reads {VERSION}")
