"""Models from JSON text: every key, type, size and reference is checked (chapter 11, MODEL-LOAD).

What comes back is a model that could have been written, or the error ``bad-model`` with the path
of the first offending key.
"""

from __future__ import annotations

from typing import Final, get_args

from refclust.data.dataset import Features
from refclust.data.files.document import Node, parse
from refclust.models.reader.classifiers import read_classifier, read_classifier_params
from refclust.models.reader.kmeans import read_kmeans, read_kmeans_params
from refclust.models.reader.mixtures import read_mixture, read_mixture_params
from refclust.models.reader.trees import (
    read_agglomerative,
    read_agglomerative_params,
    read_bisecting,
    read_bisecting_params,
)
from refclust.models.reading import read_reading
from refclust.models.records.clusters import (
    AgglomerativeModel,
    Algorithm,
    BisectingModel,
    ClassifierModel,
    DataFacts,
    KernelFacts,
    Kind,
    KMeansModel,
    MixtureModel,
    Model,
    Origin,
)
from refclust.models.writer.document import FORMAT, VERSION

_ALGORITHMS: Final[tuple[Algorithm, ...]] = get_args(Algorithm)
_KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


def from_json(text: str, name: str) -> Model:
    """Read a model from the text of its document; ``name`` is what messages call it."""
    top = parse(text, name)
    _check_version(top)
    _, _, algorithm, params, fitted, data, provenance = top.members(
        "format", "version", "algorithm", "params", "fitted", "data", "provenance"
    )
    known, origin = _data(data), _origin(provenance)
    chosen_algorithm = algorithm.one_of(_ALGORITHMS)
    if chosen_algorithm != "agglomerative":
        _check_rows(data, known)
    match chosen_algorithm:
        case "kmeans":
            asked = read_kmeans_params(params)
            return KMeansModel(asked, read_kmeans(fitted, asked, known), known, origin)
        case "bisecting":
            wanted = read_bisecting_params(params)
            return BisectingModel(wanted, read_bisecting(fitted, wanted, known), known, origin)
        case "agglomerative":
            chosen = read_agglomerative_params(params, known)
            return AgglomerativeModel(chosen, read_agglomerative(fitted, known), known, origin)
        case "gaussian" | "multinomial" | "bernoulli" as family:
            options = read_mixture_params(params, family, known)
            mixture = read_mixture(fitted, options, family, known)
            return MixtureModel(family, options, mixture, known, origin)
        case trained:
            settings = read_classifier_params(params, trained, known)
            classes = read_classifier(fitted, settings, trained, known)
            return ClassifierModel(trained, settings, classes, known, origin)


def _check_version(top: Node) -> None:
    """Before anything else: another version may well have other keys."""
    given = top.mapping()
    if given.get("format") != FORMAT:
        top.fail(f"this is no model file; those begin with the format {FORMAT!r}")
    if "version" in given:
        version = top.entry("version")
        if version.whole(1) != VERSION:
            version.fail(f"version {version.value} of model files; this program reads {VERSION}")


def _data(node: Node) -> DataFacts:
    kind, n, d, digest, features, reading = node.members(
        "kind", "n", "d", "digest", "features", "reading"
    )
    found, columns = kind.one_of(_KINDS), d.whole(0)
    if found == "distances":
        if columns or features.value is not None:
            node.fail("distances have no features; d is 0 and features null")
        checked = digest.maybe(_digest)
    else:
        checked = _digest(digest)
    return DataFacts(
        found,
        n.whole(1),
        columns,
        checked,
        features.maybe(lambda given: _features(given, columns)),
        reading.maybe(lambda given: read_reading(given, columns)),
    )


def _check_rows(node: Node, data: DataFacts) -> None:
    if data.kind == "distances":
        node.entry("kind").fail("distances; this algorithm needs rows, dense or sparse")


def _digest(node: Node) -> str:
    digest = node.text()
    if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
        node.wrong("a SHA-256 of 64 hexadecimal digits")
    return digest


def _features(node: Node, d: int) -> Features:
    names = node.items(d)
    found: dict[str | int, int] = {}
    for place, item in enumerate(names):
        # All are of the kind of the first: numbers and strings that look like them never meet.
        if type(names[0].value) is int:
            name: str | int = item.whole(-(2**63), 2**63 - 1)
        else:
            name = item.text()
        if name in found:
            item.fail(f"the feature {name!r} occurs twice")
        found[name] = place
    return tuple(found)  # type: ignore[return-value]


def _origin(node: Node) -> Origin:
    refclust, requested, kernels = node.members("refclust", "requested", "kernels")
    return Origin(refclust.text(), requested.text(), tuple(map(_kernel, kernels.items())))


def _kernel(node: Node) -> KernelFacts:
    words = node.members("kernel", "backend", "distribution", "version", "reason")
    kernel, backend, distribution, version, reason = (word.text() for word in words)
    return KernelFacts(kernel, backend, distribution, version, reason)
