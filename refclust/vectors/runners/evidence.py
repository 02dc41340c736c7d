"""Answers about metrics of every other kind of evidence (chapters 45 to 53)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import refclust.metrics  # noqa: F401  (importing it fills the catalogue)
from refclust.backends.session import Session
from refclust.errors import BadVectorFile
from refclust.formulas.clustered import Clustered
from refclust.formulas.evidence import Evidence
from refclust.formulas.memberships import Memberships, TwoMemberships
from refclust.formulas.outcomes import Measurements, Outcomes
from refclust.metrics import catalogue
from refclust.metrics.calls.classifiers import outcomes
from refclust.metrics.calls.confusions import confusion
from refclust.metrics.calls.label_sets import label_sets
from refclust.metrics.calls.probabilities import probabilities
from refclust.metrics.calls.raters import ratings, ratings_of_counts
from refclust.metrics.contingency import contingency
from refclust.metrics.score import Score, evaluate
from refclust.numbers.real import real
from refclust.vectors.answers import Answer, Computed, Input, Missing
from refclust.vectors.runners.functions import FUNCTIONS
from refclust.vectors.runners.functions.table import WHOLE


def evidence(inputs: Input, key: str, session: Session) -> Answer:
    """Answer one key of a case about a metric, or about a function beside the metrics."""
    if key in FUNCTIONS:
        function, names = FUNCTIONS[key]
        return _answer(
            function(
                *(evidence_of(inputs) if name == WHOLE else _exact(inputs[name]) for name in names)
            )
        )
    entry, options = catalogue.parse_key(key)
    return _of_score(evaluate(entry, evidence_of(inputs), dict(options), session=session))


def evidence_of(inputs: Input) -> Evidence:
    """What a case gives, as the evidence it is."""
    if "counts" in inputs:
        return Outcomes.of_counts(*inputs["counts"])
    if "answers" in inputs:
        return outcomes(inputs["labels_true"], *inputs["answers"])
    if "trials" in inputs:
        return Measurements.of(_exact(inputs["trials"]))
    if "rows" in inputs:
        return Clustered.of(_exact(inputs["rows"]), inputs["labels"], inputs.get("weights"))
    if "second_shares" in inputs:
        sides = _exact(inputs["shares"]), _exact(inputs["second_shares"])
        return TwoMemberships.of(*sides, inputs.get("weights"))
    if "shares" in inputs:
        return Memberships.of(_exact(inputs["shares"]), weights=inputs.get("weights"))
    if "confusion" in inputs:
        return confusion(inputs["confusion"], costs=inputs.get("costs"))
    if "sets_true" in inputs:
        return label_sets(
            *_sides(inputs), labels=inputs["labels"], weights=_exact(inputs["weights"])
        )
    if "truth_sets" in inputs:
        scores, weights = _exact(inputs["scores"]), _exact(inputs["weights"])
        return probabilities(
            inputs["truth_sets"], scores, labels=inputs["labels"], weights=weights, several=True
        )
    if "scores" in inputs:
        scores, weights = _exact(inputs["scores"]), _exact(inputs["weights"])
        labels = inputs.get("labels")
        return probabilities(inputs["truth"], scores, labels=labels, weights=weights)
    if "judgements" in inputs:
        return ratings(inputs["judgements"], categories=inputs["categories"])
    if "rated" in inputs:
        return ratings_of_counts(inputs["rated"])
    if "proximity" in inputs:
        return Clustered.of_proximities(
            _exact(inputs["proximity"]), inputs["labels"], similarities=inputs["similarities"]
        )
    if "labels_pred" in inputs:
        return contingency(inputs["labels_true"], inputs["labels_pred"])
    raise BadVectorFile(f"no evidence among the inputs {', '.join(inputs)}")


def _sides(inputs: Input) -> tuple[Any, Any]:
    return inputs["sets_true"], inputs["sets_pred"]


def _exact(value: Any) -> Any:
    """Numbers as the rationals they are written as; whole ones stay integers."""
    if isinstance(value, list):
        return [_exact(part) for part in value]
    return Fraction(value) if isinstance(value, str) else value


def _answer(value: Any) -> Answer:
    if isinstance(value, list | tuple):
        return [_answer(part) for part in value]
    return Computed(real(value))


def _of_score(score: Score) -> Answer:
    if score.undefined is not None:
        return Missing() if math.isnan(score) else float(score)
    return float(score) if score.exact is None else Computed(score.exact)
