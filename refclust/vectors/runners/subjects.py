"""Refclust's own answers to the golden vectors, by the subject that a file names."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

from refclust.backends.session import Session
from refclust.errors import BadVectorFile, RefclustError
from refclust.formulas.undefined import Undefined
from refclust.vectors.answers import Answer, Input, Missing, Refused
from refclust.vectors.runners import (
    clusters,
    evidence,
    metrics,
    numbers,
    products,
    sums,
    texts,
    trees,
)
from refclust.vectors.runners.mixtures import choices, classify, families, runs, selection

Runner: TypeAlias = Callable[[Input, str, Session], Answer]


def answer(subject: str, inputs: Input, key: str, session: Session) -> Answer:
    """Return refclust's answer to one key of one case."""
    if subject not in RUNNERS:
        raise BadVectorFile(f"no runner for the subject {subject!r}; known: {', '.join(RUNNERS)}")
    try:
        return RUNNERS[subject](inputs, key, session)
    except RefclustError as refusal:
        return Refused(refusal.code)
    except Undefined as missing:
        return Missing() if math.isnan(missing.value) else missing.value


def refusal(subject: str, inputs: Input, session: Session) -> Answer:
    """Return the error with which refclust refuses the input of a whole case."""
    keys = {
        "metrics.external": ["purity"],
        "metrics.contingency": ["purity"],
        "information.distributions": [metrics.distribution_key(inputs)],
        "data.vectors": (
            ["distance_matrix", "similarity_matrix"]
            if "rows" in inputs
            else ["dot", "squared_distance", "distance", "cosine"]
        ),
        "data.text": list(texts.REFUSED_KEYS),
        "cluster.kmeans": ["labels"],
        "cluster.seeding": ["starts"],
        "cluster.bisecting": ["labels"],
        "cluster.hierarchical": ["merges"],
        "mixture.run": ["labels"],
    }[subject]
    answers = [answer(subject, inputs, key, session) for key in keys]
    return answers[0] if all(other == answers[0] for other in answers) else answers


RUNNERS: Mapping[str, Runner] = {
    "metrics.external": metrics.external,
    "metrics.contingency": metrics.external,
    "information.distributions": metrics.distribution,
    "metrics.evidence": evidence.evidence,
    "numbers.real": numbers.reals,
    "numbers.logspace": numbers.logarithms,
    "numbers.sampling": numbers.draws,
    "data.vectors": products.products,
    "data.text": texts.text,
    "cluster.kmeans": clusters.kmeans,
    "cluster.seeding": clusters.seeding,
    "cluster.bisecting": clusters.bisecting,
    "cluster.hierarchical": trees.hierarchical,
    "mixture.gaussian": families.gaussian,
    "mixture.counts": families.counts,
    "mixture.missing": families.missing,
    "mixture.run": runs.run,
    "mixture.sample": runs.sample,
    "mixture.sums": sums.sums,
    "classify.counts": classify.counts,
    "classify.gaussian": classify.gaussian,
    "selection.criteria": selection.criteria,
    "selection.evidence": selection.evidence,
    "selection.importance": selection.importance,
    "selection.variational": selection.variational,
    "selection.curve": selection.curve,
    "selection.held_out": selection.held_out,
    "selection.rule": choices.rule,
    "selection.stability": choices.stability,
}
