"""Answers about labelings, tables and distributions: the metrics of chapters 40 to 44."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from refclust.backends.session import Session
from refclust.errors import BadVectorFile, EmptyInput
from refclust.formulas import information, matching
from refclust.formulas.pairs import pair_counts
from refclust.metrics import catalogue
from refclust.metrics.contingency import Contingency, contingency
from refclust.metrics.score import Score, evaluate
from refclust.numbers.real import Real
from refclust.vectors.answers import Answer, Computed, Input, Missing

_PER_CLUSTER: Mapping[str, Callable[[Contingency], tuple[Real, ...]]] = {
    "cluster_purity": matching.cluster_purity,
    "cluster_recall": matching.cluster_recall,
    "cluster_f": matching.cluster_f,
}
_WHOLE_TABLE: Mapping[str, Callable[[Contingency], Any]] = {
    "table": Contingency.rows,
    "row_sums": lambda table: table.row,
    "column_sums": lambda table: table.col,
    "total": lambda table: table.total,
}


def external(inputs: Input, key: str, session: Session) -> Answer:
    """Answer one key of a case about two labelings or their table."""
    table = _table(inputs, session)
    name = key.partition("[")[0]
    if not table.row:
        raise EmptyInput("there is no object to score")
    if name in _PER_CLUSTER:
        return [Computed(value) for value in _PER_CLUSTER[name](table)]
    if name in _WHOLE_TABLE:
        return _fractions(_WHOLE_TABLE[name](table))
    if name == "pair_counts":
        convention = "ordered" if "ordered" in key else "unordered"
        return [Computed(value) for value in pair_counts(table, pairs=convention)]
    entry, options = catalogue.parse_key(key)
    return _of_score(evaluate(entry, table, options, session=session))


def _of_score(score: Score) -> Answer:
    if score.undefined is not None:
        return Missing() if math.isnan(score) else float(score)
    return float(score) if score.exact is None else Computed(score.exact)


def _table(inputs: Input, session: Session) -> Contingency:
    if "table" in inputs:
        return Contingency.of_rows(inputs["table"])
    keywords = {
        name: inputs[name] for name in ("weights", "noise", "noise_policy") if name in inputs
    }
    return contingency(inputs["labels_true"], inputs["labels_pred"], session=session, **keywords)


def _fractions(value: Any) -> Answer:
    return (
        [_fractions(item) for item in value] if isinstance(value, list | tuple) else Fraction(value)
    )


def distribution(inputs: Input, key: str, session: Session) -> Answer:  # noqa: ARG001
    """Answer one key of a case about probabilities."""
    name, _, rest = key.partition("[base=")
    base = Fraction(rest.rstrip("]")) if rest else None
    if name == "entropy":
        value = information.entropy(inputs["p"], base=base)
    elif name == "kl":
        value = information.kl(inputs["q"], inputs["p"], base=base)
    elif name == "joint_mutual_information":
        value = information.joint_mutual_information(inputs["joint"], base=base)
    else:
        raise BadVectorFile(f"no distribution function is called {key!r}")
    return Computed(value)


def distribution_key(inputs: Input) -> str:
    """The key that refuses probabilities of this kind."""
    if "joint" in inputs:
        return "joint_mutual_information"
    return "kl" if "q" in inputs else "entropy"
