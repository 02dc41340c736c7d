"""What the records of multinomial and Bernoulli mixtures share: distributions of words (31)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refclust.data.dataset import Dataset
from refclust.fitting.rows import Rows
from refclust.kernels.mixtures.shared import Posterior
from refclust.kernels.mixtures.words import CountModel
from refclust.mixture.families.counts.parameters import (
    CountParameters,
    check_counts,
    check_parameters,
    shares_of,
)
from refclust.mixture.families.counts.words import CountFamily
from refclust.mixture.passes import CountPasses


def words_on(kind: CountModel, rows: Rows, k: int, settings: Mapping[str, Any]) -> CountFamily:
    """The family on rows.

    Spec: MIX-MODEL
    """
    shares, counts = shares_of(settings["p"]), settings.get("counts", "whole")
    return CountFamily(CountPasses(rows, k), kind, settings["m"], shares, counts)


def words_posterior(
    kind: CountModel, parameters: CountParameters, rows: Rows, full: bool
) -> Posterior:
    """A pass under given probabilities.

    Spec: MMIX-ESTEP, BMIX-ESTEP
    """
    passes = CountPasses(rows, len(parameters.weights))
    check_counts(rows.data, kind, "fractional")
    return passes.posterior(passes.terms(parameters, kind), full=full)


def columns_of(parameters: CountParameters) -> int:
    """The number of words.

    Spec: none (a size)
    """
    return len(parameters.probabilities[0])


def check_scores(parameters: CountParameters, d: int) -> None:
    """Refuse what are no probabilities; scores of naive Bayes need not add up (NB-MEST1H)."""
    check_parameters(parameters, "bernoulli", d)


def nothing_left_out(_: CountParameters, _rows: Dataset) -> float:
    """Likelihoods are those of sequences of words, whole.

    Spec: MMIX-LL
    """
    return 0.0
