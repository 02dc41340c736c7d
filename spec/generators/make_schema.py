"""The JSON Schema of the vector files."""

from __future__ import annotations

import json
from typing import Any

MODELS = ("VVV", "EEE", "VVI", "EEI", "VII", "EII")
TIED = ("VEI", "EVI", "VEE", "EVV", "EEV", "VEV", "EVE", "VVE")
RATIONAL = "^-?[0-9]+(/[1-9][0-9]*)?$"
HEX = "^-?0x[01](\\.[0-9a-f]+)?p[+-][0-9]+$"
DECIMAL = "^-?[0-9]+(\\.[0-9]+)?(E[+-]?[0-9]+)?$"

BOUND: dict[str, Any] = {"type": "string", "pattern": "^[0-9]+e-?[0-9]+$"}
CODE: dict[str, Any] = {"type": "string", "pattern": "^[a-z]+(-[a-z]+)*$"}
LABELS: dict[str, Any] = {"type": "array", "items": {"type": ["integer", "string"]}}
CELL: dict[str, Any] = {
    "anyOf": [
        {"type": "integer"},
        {"type": "string", "pattern": "^(nan|-?inf|-?[0-9]+(/[1-9][0-9]*)?)$"},
    ]
}
SHARES: dict[str, Any] = {"type": "array", "items": {"type": "string", "pattern": RATIONAL}}
WHOLE: dict[str, Any] = {"type": "string", "pattern": "^-?[0-9]+$"}
DOUBLES: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
# A number, a dense vector, or a sparse one; true stands for an entry that must be refused.
VECTOR: dict[str, Any] = {
    "anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"type": ["string", "boolean"]}},
        {
            "type": "object",
            "required": ["sparse"],
            "additionalProperties": False,
            "properties": {"sparse": {"type": "array", "items": {"type": "array"}}},
        },
    ]
}

ROWS: dict[str, Any] = {"type": "array", "items": VECTOR}


def _object(required: list[str], optional: list[str], properties: dict[str, Any]) -> dict[str, Any]:
    assert set(required) | set(optional) == set(properties)
    return {
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": False,
    }


def _value() -> dict[str, Any]:
    text, flag = {"type": "string", "pattern": HEX}, {"const": True}
    matching = _object(["either"], [], {"either": {"type": "array"}})
    return {
        "oneOf": [
            _object(
                ["exact"],
                ["binary64", "bound", "matching"],
                {
                    "exact": {"type": "string", "pattern": RATIONAL},
                    "binary64": text,
                    "bound": BOUND,
                    "matching": matching,
                },
            ),
            _object(
                ["decimal", "radius", "binary64"],
                ["rational", "bound"],
                {
                    "decimal": {"type": "string", "pattern": DECIMAL},
                    "radius": {"type": "string", "pattern": "^1e-?[0-9]+$"},
                    "binary64": text,
                    "rational": flag,
                    "bound": BOUND,
                },
            ),
            _object(["undefined"], [], {"undefined": flag}),
            _object(["binary64"], [], {"binary64": text}),
            _object(["infinite"], [], {"infinite": {"enum": ["+", "-"]}}),
            _object(["list"], [], {"list": {"type": "array", "items": {"$ref": "#/$defs/value"}}}),
            _object(["error"], [], {"error": CODE}),
        ]
    }


def _input() -> dict[str, Any]:
    return {
        "oneOf": [
            _object(
                ["table"],
                [],
                {"table": {"type": "array", "items": {"type": "array", "items": CELL}}},
            ),
            _object(
                ["labels_true", "labels_pred"],
                ["weights", "noise", "noise_policy"],
                {
                    "labels_true": LABELS,
                    "labels_pred": LABELS,
                    "weights": {"type": "array", "items": CELL},
                    "noise": {"type": ["integer", "string"]},
                    "noise_policy": {"enum": ["ordinary", "singletons", "ignore"]},
                },
            ),
            _object(["p"], ["q"], {"p": SHARES, "q": SHARES}),
            _object(["joint"], [], {"joint": {"type": "array", "items": SHARES}}),
            _object(["expression"], [], {"expression": {"$ref": "#/$defs/expr"}}),
            _object(["seed"], ["k", "s"], {"seed": WHOLE, "k": WHOLE, "s": WHOLE}),
            _object(["log_weights"], [], {"log_weights": DOUBLES}),
            _object(["x"], ["y"], {"x": VECTOR, "y": VECTOR}),
            _object(["rows"], [], {"rows": ROWS}),
            _clustering(),
            *_texts(),
            *_hierarchies(),
            *_mixtures(),
            *_evidence(),
        ]
    }


def _evidence() -> list[dict[str, Any]]:
    """What the metrics of other kinds of evidence, and the functions beside them, are given."""
    ratio = {"type": "string", "pattern": RATIONAL}
    answers = {"type": "array", "items": LABELS}
    table = {"type": "array", "items": SHARES}
    rated = {
        "type": "array",
        "items": {"type": "array", "items": {"type": ["integer", "string", "null"]}},
    }
    counts = {"type": "array", "items": {"type": "integer"}, "minItems": 4, "maxItems": 4}
    count = {"type": "integer", "minimum": 0}
    degrees = {"type": "integer", "minimum": 1}
    weights = {"type": "array", "items": {"type": "integer", "minimum": 1}}
    return [
        _object(
            ["rows", "labels"], ["weights"], {"rows": table, "labels": LABELS, "weights": weights}
        ),
        _object(["shares"], ["weights"], {"shares": table, "weights": weights}),
        _object(
            ["shares", "second_shares"],
            ["weights"],
            {"shares": table, "second_shares": table, "weights": weights},
        ),
        _object(["labels_true", "answers"], [], {"labels_true": LABELS, "answers": answers}),
        _object(["counts"], [], {"counts": counts}),
        _object(["trials"], [], {"trials": table}),
        _object(["judgements", "categories"], [], {"judgements": rated, "categories": LABELS}),
        _object(
            ["rated"],
            [],
            {"rated": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}},
        ),
        _object(
            ["proximity", "labels", "similarities"],
            [],
            {"proximity": table, "labels": LABELS, "similarities": {"type": "boolean"}},
        ),
        _object(["nodes", "edges"], [], {"nodes": degrees, "edges": table}),
        _object(
            ["level"],
            ["successes", "rounds"],
            {"level": ratio, "successes": count, "rounds": count},
        ),
        _object(
            ["order", "folds", "classes"],
            [],
            {"order": LABELS, "folds": degrees, "classes": LABELS},
        ),
        _object(["rights", "sizes"], [], {"rights": LABELS, "sizes": LABELS}),
        _object(["z"], [], {"z": ratio}),
        _object(["x", "df"], [], {"x": ratio, "df": degrees}),
        _object(["x", "a", "b"], [], {"x": ratio, "a": ratio, "b": ratio}),
        _object(["t_squared", "df"], [], {"t_squared": ratio, "df": degrees}),
        _object(["f", "df", "df_below"], [], {"f": ratio, "df": degrees, "df_below": degrees}),
        _object(["q", "methods"], [], {"q": ratio, "methods": degrees}),
        _object(["differences"], [], {"differences": SHARES}),
        _object(["values"], [], {"values": SHARES}),
        _object(["observed", "drawn"], [], {"observed": ratio, "drawn": SHARES}),
        _object(
            ["estimate", "value", "variance"],
            [],
            {"estimate": ratio, "value": ratio, "variance": ratio},
        ),
        *_preparation(),
        *_classification(),
    ]


def _preparation() -> list[dict[str, Any]]:
    """What the functions of chapter 07 are given: a column, a category, a table with gaps."""
    ratio = {"type": "string", "pattern": RATIONAL}
    cells = {"type": "array", "items": {"anyOf": [ratio, {"type": "null"}]}}
    counts = {"type": "array", "items": {"type": "integer", "minimum": 0}}
    cell = {"anyOf": [ratio, {"type": ["integer", "null"]}]}
    table = {"type": "array", "items": {"type": "array", "items": cell}}
    return [
        _object(
            ["cells", "weights"], ["share"], {"cells": cells, "weights": counts, "share": ratio}
        ),
        _object(
            ["cells", "centre", "divisor"],
            [],
            {"cells": SHARES, "centre": ratio, "divisor": ratio},
        ),
        _object(
            ["category", "categories", "weight"],
            [],
            {"category": {"type": "integer"}, "categories": counts, "weight": ratio},
        ),
        _object(["table", "nominal"], [], {"table": table, "nominal": counts}),
    ]


def _classification() -> list[dict[str, Any]]:
    """What the metrics of chapters 50 and 52, and the functions beside them, are given."""
    whole = {"type": "integer"}
    counts = {"type": "array", "items": {"type": "array", "items": CELL}}
    costs = {"type": "array", "items": SHARES}
    sets = {"type": "array", "items": LABELS}
    scores = {"anyOf": [SHARES, {"type": "array", "items": SHARES}]}
    law = {"type": "array", "items": {"type": "array", "prefixItems": [whole, whole, CELL]}}
    return [
        _object(["confusion"], ["costs"], {"confusion": counts, "costs": costs}),
        _object(["law", "decisions"], [], {"law": law, "decisions": LABELS}),
        _object(
            ["sets_true", "sets_pred", "labels", "weights"],
            [],
            {"sets_true": sets, "sets_pred": sets, "labels": LABELS, "weights": SHARES},
        ),
        _object(
            ["truth", "scores", "weights"],
            ["labels"],
            {"truth": LABELS, "scores": scores, "labels": LABELS, "weights": SHARES},
        ),
        _object(
            ["truth_sets", "scores", "labels", "weights"],
            [],
            {"truth_sets": sets, "scores": scores, "labels": LABELS, "weights": SHARES},
        ),
        _object(["confidences", "bins"], [], {"confidences": SHARES, "bins": whole}),
    ]


def _texts() -> list[dict[str, Any]]:
    words = {"type": "array", "items": {"type": "string"}}
    bound = {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": RATIONAL}]}
    options: dict[str, Any] = {
        "lowercase": {"type": "boolean"},
        "stop_words": words,
        "min_length": {"type": "integer"},
        "vocabulary": words,
    }
    corpus: dict[str, Any] = {
        **options,
        "min_df": bound,
        "max_df": bound,
        "frequencies": {"type": "array", "items": {"type": "integer"}},
        "documents": {"type": "integer"},
    }
    return [
        _object(["text"], [*options], {"text": {"type": "string"}, **options}),
        _object(["texts"], [*corpus], {"texts": words, **corpus}),
    ]


def _clustering() -> dict[str, Any]:
    start = {
        "anyOf": [
            {"enum": ["k-means++", "greedy", "random", "random-centres", "farthest"]},
            _object(["centres"], [], {"centres": ROWS}),
            _object(["labels"], [], {"labels": LABELS}),
        ]
    }
    options: dict[str, Any] = {
        "weights": DOUBLES,
        "metric": {"enum": ["euclidean", "cosine"]},
        "empty": {"enum": ["farthest", "split", "keep", "drop", "error"]},
        "by": {"enum": ["rss", "size"]},
        "tolerance": {"type": "string"},
        **dict.fromkeys(("k", "seed", "restarts", "trials", "limit"), WHOLE),
    }
    return _object(["rows", "start"], [*options], {"rows": ROWS, "start": start, **options})


def _hierarchies() -> list[dict[str, Any]]:
    text = {"type": "string"}
    options: dict[str, Any] = {"linkage": text, "metric": text, "k": WHOLE, "height": text}
    optional = ["metric", "k", "height"]
    matrix = {"type": "array", "items": {"anyOf": [text, DOUBLES]}}
    return [
        _object(["rows", "linkage"], optional, {"rows": ROWS, **options}),
        _object(["distances", "linkage"], optional, {"distances": matrix, **options}),
        _object(["rows", "metric"], [], {"rows": ROWS, "metric": text}),
    ]


def _mixtures() -> list[dict[str, Any]]:
    matrix = {"type": "array", "items": DOUBLES}
    cell = {"anyOf": [{"type": "null"}, DOUBLES["items"]]}
    holes = {"type": "array", "items": {"type": "array", "items": cell}}
    shared: dict[str, Any] = {"weights": DOUBLES, "assign": {"const": "hard"}, "q": matrix}
    normal = {"weights": DOUBLES, "means": matrix, "spreads": matrix}
    counts = {"weights": DOUBLES, "probabilities": matrix}
    ratio = {"type": "string", "pattern": RATIONAL}
    smooth: dict[str, Any] = {"m": ratio, "p": SHARES}
    kind = {"enum": ["multinomial", "bernoulli"]}
    model = {"enum": [*MODELS, *TIED]}
    gaussian = {"rows": matrix, "model": model, "state": _object([*normal], [], normal)}
    gapped = {**gaussian, "rows": holes, "missing": {"const": "integrate"}}
    step = {"rows": matrix, "kind": kind, "state": _object([*counts], [], counts)}
    means = {name: normal[name] for name in ("weights", "means")}
    by_means = {
        "rows": matrix,
        "kind": {"enum": ["poisson", "geometric"]},
        "state": _object([*means], [], means),
    }
    return [
        _object(
            [*gaussian], ["floor", *shared], {**gaussian, "floor": {"type": "string"}, **shared}
        ),
        _object([*gapped], ["weights"], {**gapped, "weights": DOUBLES}),
        _object([*step], [*smooth, *shared], {**step, **smooth, **shared}),
        _object([*by_means], [*smooth, *shared], {**by_means, **smooth, **shared}),
        *_runs(matrix, normal, counts),
        *_samples(gaussian, step),
        _object(
            ["rows", "q", "around", "parts"],
            ["weights"],
            {
                **dict.fromkeys(("rows", "q", "around"), matrix),
                "parts": {"type": "array", "items": WHOLE},
                "weights": DOUBLES,
            },
        ),
        *_curves(matrix),
        *_classes(matrix, {"weights": DOUBLES, **smooth}),
        _object(["k", "d"], [], {"k": WHOLE, "d": WHOLE}),
        _object(["rows", "concentration"], [], {"rows": matrix, "concentration": ratio}),
        _object(["rows", "beta", "nu"], [], {"rows": matrix, "beta": ratio, "nu": ratio}),
        *_beliefs(matrix, ratio),
    ]


def _runs(
    matrix: dict[str, Any], normal: dict[str, Any], counts: dict[str, Any]
) -> list[dict[str, Any]]:
    start = {
        "anyOf": [
            {"enum": ["random", "kmeans", "points"]},
            {"type": "array", "items": {"type": "integer"}},
            _object([*normal], [], normal),
            _object([*counts], [], counts),
        ]
    }
    known: dict[str, Any] = {"rows": matrix, "k": WHOLE, "limit": WHOLE, "start": start}
    text = {"type": "string", "pattern": RATIONAL}
    options: dict[str, Any] = {
        "variation": {"enum": ["hard", "top", "generalized", "stochastic", "monte-carlo"]},
        "weights": DOUBLES,
        **dict.fromkeys(("top", "samples", "seed", "restarts"), WHOLE),
        **dict.fromkeys(("damping", "tolerance", "m"), text),
    }
    return [
        _object([*known, name], [*options], {**known, name: {"enum": allowed}, **options})
        for name, allowed in (("model", [*MODELS]), ("kind", ["multinomial", "bernoulli"]))
    ]


def _samples(gaussian: dict[str, Any], step: dict[str, Any]) -> list[dict[str, Any]]:
    drawn = {"n": WHOLE, "seed": WHOLE}
    rows = {name: gaussian[name] for name in ("model", "state")} | drawn
    words = {name: step[name] for name in ("kind", "state")} | drawn
    return [
        _object([*rows], [], rows),
        _object([*words], ["length"], {**words, "length": WHOLE}),
    ]


def _curves(matrix: dict[str, Any]) -> list[dict[str, Any]]:
    curve: dict[str, Any] = {"first": WHOLE, "rss": SHARES}
    dealt: dict[str, Any] = {"rows": matrix, "folds": WHOLE, "seed": WHOLE}
    ratio = {"type": "string", "pattern": RATIONAL}
    kind = {**dealt, "kind": {"const": "multinomial"}, "m": ratio}
    model = {**dealt, "model": {"enum": list(MODELS)}}
    return [
        _object(
            [*curve], ["references"], {**curve, "references": {"type": "array", "items": SHARES}}
        ),
        _object([*kind], [], kind),
        _object([*model], [], model),
        *_choices({"type": "array", "items": ratio}),
    ]


def _choices(ratios: dict[str, Any]) -> list[dict[str, Any]]:
    gaps: dict[str, Any] = {"first": WHOLE, "gaps": ratios, "errors": ratios}
    values: dict[str, Any] = {"first": WHOLE, "values": ratios}
    drawn: dict[str, Any] = {"n": WHOLE, "pairs": WHOLE, "seed": WHOLE}
    side = {"type": "array", "items": {"type": "string", "pattern": "^(-|[0-9]+)$"}}
    pair = {"type": "array", "items": side, "minItems": 2, "maxItems": 2}
    clusterings: dict[str, Any] = {"clusterings": {"type": "array", "items": pair}}
    return [
        _object([*gaps], [], gaps),
        _object([*values], [], values),
        _object([*drawn], [], drawn),
        _object([*clusterings], ["weights"], {**clusterings, "weights": ratios}),
    ]


def _beliefs(matrix: dict[str, Any], ratio: dict[str, Any]) -> list[dict[str, Any]]:
    known = {"rows": matrix, "q": matrix, "alpha": ratio}
    normal = {**known, "beta": ratio, "nu": ratio}
    words = {**known, "concentration": ratio}
    model = {"model": {"enum": ["EII", "VII", "EEI", "VVI", "EEE", "VVV"]}}
    kind = {"kind": {"const": "bernoulli"}}
    return [
        _object([*normal], ["model"], {**normal, **model}),
        _object([*words], ["kind"], {**words, **kind}),
    ]


def _classes(matrix: dict[str, Any], options: dict[str, Any]) -> list[dict[str, Any]]:
    known: dict[str, Any] = {
        "rows": matrix,
        "labels": {"type": "array", "items": {"type": "integer"}},
        "queries": matrix,
    }
    normal = {**known, "model": {"enum": list(MODELS)}}
    counts = {**known, "kind": {"enum": ["multinomial", "bernoulli"]}}
    options = {**options, "prior": {"const": "tokens"}}
    own: dict[str, Any] = {"weights": DOUBLES, "prior": {"const": "equal"}}
    return [
        _object([*normal], [*own], {**normal, **own}),
        _object([*counts], [*options], {**counts, **options}),
    ]


def schema() -> dict[str, Any]:
    """The schema as a Python object."""
    ids = {
        "type": "array",
        "items": {"type": "string", "pattern": "^[A-Z][A-Z0-9]*(-[A-Z0-9]+)*$"},
        "uniqueItems": True,
    }
    values = {
        "type": "object",
        "propertyNames": {"pattern": "^[a-z0-9_]+(\\.[a-z0-9_]+)?(\\[[a-z0-9_=,/]+\\])?$"},
        "additionalProperties": {"$ref": "#/$defs/value"},
    }
    case = _object(
        ["id", "input", "expect"],
        ["formulas", "description", "flags", "misprint"],
        {
            "id": {"type": "string", "pattern": "^[a-z0-9]+([-+.]+[a-z0-9]+)*$"},
            "formulas": ids,
            "description": {"type": "string"},
            "flags": {"type": "array", "items": {"type": "string"}},
            "input": {"$ref": "#/$defs/input"},
            "expect": {"anyOf": [_object(["error"], [], {"error": CODE}), values]},
            "misprint": values,
        },
    )
    top = _object(
        ["format", "subject", "title", "notes", "cases"],
        ["formulas"],
        {
            "format": {"const": "refclust-vectors/1"},
            "subject": {
                "enum": [
                    "metrics.external",
                    "metrics.contingency",
                    "information.distributions",
                    "metrics.evidence",
                    "numbers.real",
                    "numbers.logspace",
                    "numbers.sampling",
                    "data.vectors",
                    "data.text",
                    "cluster.kmeans",
                    "cluster.seeding",
                    "cluster.bisecting",
                    "cluster.hierarchical",
                    "mixture.gaussian",
                    "mixture.counts",
                    "mixture.missing",
                    "mixture.run",
                    "mixture.sample",
                    "mixture.sums",
                    "classify.counts",
                    "classify.gaussian",
                    "selection.criteria",
                    "selection.evidence",
                    "selection.importance",
                    "selection.variational",
                    "selection.curve",
                    "selection.held_out",
                    "selection.rule",
                    "selection.stability",
                ]
            },
            "title": {"type": "string"},
            "notes": {"type": "object", "additionalProperties": {"type": "string"}},
            "formulas": ids,
            "cases": {"type": "array", "items": {"$ref": "#/$defs/case"}, "minItems": 1},
        },
    )
    expr = {
        "anyOf": [
            {"type": "string", "pattern": RATIONAL},
            {
                "type": "array",
                "minItems": 2,
                "prefixItems": [{"enum": ["+", "-", "*", "/", "^", "log", "exp", "sqrt"]}],
                "items": {"$ref": "#/$defs/expr"},
            },
        ]
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "refclust golden vectors",
        **top,
        "$defs": {"case": case, "input": _input(), "value": _value(), "expr": expr},
    }


def text() -> str:
    """The schema as the file holds it."""
    return json.dumps(schema(), indent=1, sort_keys=True) + "\n"
