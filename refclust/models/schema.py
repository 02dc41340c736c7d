"""The JSON Schema of model files, from the records that declare them (chapter 11, MODEL-DOC).

``python -m refclust.models.schema`` prints it; ``spec/schema/model.schema.json`` is what it prints.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any, Final, get_args

from refclust.cluster.results import Metric
from refclust.data.files.document import Line, written
from refclust.data.files.parts import Schema
from refclust.data.files.records import FAMILY, part_of
from refclust.models.document import (
    ALGORITHMS,
    CLUSTERS,
    FORMAT,
    KEYS,
    TRAINED,
    VERSION,
    records_of,
)
from refclust.models.records.common import DataFacts, DataOrigin
from refclust.models.records.families import FAMILIES

_WIDTH: Final = 90


def schema() -> Schema:
    """The schema of all model files.

    Spec: MODEL-DOC

    >>> schema()["properties"]["version"]
    {'const': 1}
    """
    defs: Schema = {}
    rules = [_rule(defs, known) for known in _kinds()]
    data, origin = (part_of(record).schema(defs, {}) for record in (DataFacts, DataOrigin))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"refclust model, version {VERSION}",
        "description": "What one key says about another (sizes, references, sums) is checked by "
        "the loader: MODEL-LOAD.",
        "type": "object",
        "required": list(KEYS),
        "additionalProperties": False,
        "properties": {
            "format": {"const": FORMAT},
            "version": {"const": VERSION},
            "algorithm": {"enum": list(ALGORITHMS)},
            "params": {"type": "object"},
            "fitted": {"type": "object"},
            "data": data,
            "provenance": origin,
        },
        "allOf": [*rules, *_narrowed(), *_RULES],
        "$defs": defs,
    }


def text() -> str:
    """The schema as its file has it.

    Spec: MODEL-DOC
    """
    return written(_laid(schema()))


def _kinds() -> Iterator[dict[str, str]]:
    """Every algorithm, with every family that it has."""
    for algorithm in ALGORITHMS:
        if algorithm in CLUSTERS:
            yield {"algorithm": algorithm}
        elif algorithm in FAMILIES:
            yield {"algorithm": algorithm, FAMILY: algorithm}
        elif algorithm != "naive-bayes":
            yield {"algorithm": algorithm, FAMILY: "gaussian"}
        else:
            for family in TRAINED:
                yield {"algorithm": algorithm, FAMILY: family}


def _rule(defs: Schema, known: dict[str, str]) -> Schema:
    """What params and fitted are for an algorithm, and for a kind of naive Bayes."""
    algorithm = known["algorithm"]
    when: Schema = {"algorithm": {"const": algorithm}}
    if algorithm == "naive-bayes":
        when["params"] = {"properties": {"kind": {"const": known[FAMILY]}}}
    _, asked, fitted = records_of(known)
    then = {"params": part_of(asked).schema(defs, known)}
    then["fitted"] = part_of(fitted).schema(defs, known)
    if algorithm != "agglomerative":
        then["data"] = {"properties": {"kind": {"enum": ["dense", "sparse"]}}}
    return {"if": _where(when), "then": {"properties": then}}


def _narrowed() -> Iterator[Schema]:
    """What the kind of the data and the metric say of what was found."""
    kinds = [("kind", "data", "kind", value) for value in ("dense", "sparse")]
    metrics = [("params.metric", "params", "metric", value) for value in get_args(Metric)]
    for name, part, key, value in (*kinds, *metrics):
        inner: Schema = {}
        for known in _kinds():
            _merge(inner, part_of(records_of(known)[2]).narrowed({**known, name: value}) or {})
        when = _where({part: _where({key: {"const": value}})})
        yield {"if": when, "then": {"properties": {"fitted": inner}}}


def _where(properties: Schema) -> Schema:
    return {"properties": properties, "required": list(properties)}


def _params(key: str, value: Schema) -> Schema:
    return {"properties": {"params": {"properties": {key: value}}}}


_RULES: Final[list[Schema]] = [
    {
        "if": _where({"algorithm": {"const": "naive-bayes"}}),
        "then": _params("kind", {"enum": list(TRAINED)}),
    },
    {
        "if": _where({"data": _where({"kind": {"const": "distances"}})}),
        "then": _params("metric", {"const": "given"}),
        "else": _params("metric", {"not": {"const": "given"}}),
    },
]


def _merge(whole: Schema, more: Schema) -> None:
    for key, value in more.items():
        if isinstance(value, dict) and key in whole:
            _merge(whole[key], value)
        else:
            whole[key] = value


def _laid(value: Any) -> Any:
    """What is short stands on one line."""
    if not isinstance(value, dict | list) or len(json.dumps(value)) <= _WIDTH:
        return Line(value)
    if isinstance(value, list):
        return [_laid(entry) for entry in value]
    return {key: _laid(entry) for key, entry in value.items()}


if __name__ == "__main__":
    sys.stdout.write(text())
