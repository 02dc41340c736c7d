"""Steps and runs of EM and their relatives: all files of chapters 30 to 36."""

from __future__ import annotations

from collections.abc import Callable

from . import (
    mixture_choice_cases,
    mixture_classify_cases,
    mixture_count_cases,
    mixture_curve_cases,
    mixture_gaussian_cases,
    mixture_mean_cases,
    mixture_missing_cases,
    mixture_run_cases,
    mixture_sample_cases,
    mixture_selection_cases,
    mixture_sums_cases,
    mixture_tied_cases,
    mixture_variational_cases,
)
from .writer import VectorFile

MAKERS: dict[str, Callable[[], VectorFile]] = {
    "30-mixtures/runs": mixture_run_cases.runs,
    "30-mixtures/samples": mixture_sample_cases.samples,
    "30-mixtures/sums": mixture_sums_cases.sums,
    "31-multinomial/steps": mixture_count_cases.steps,
    "31-multinomial/misprints": mixture_count_cases.misprints,
    "31-multinomial/naive-bayes": mixture_classify_cases.bayes,
    "32-gaussian/densities": mixture_gaussian_cases.densities,
    "32-gaussian/steps": mixture_gaussian_cases.steps,
    "32-gaussian/hard": mixture_gaussian_cases.hard,
    "32-gaussian/traps": mixture_gaussian_cases.traps,
    "32-gaussian/misprints": mixture_gaussian_cases.misprints,
    "32-gaussian/models": mixture_tied_cases.models,
    "33-classify/discriminants": mixture_classify_cases.discriminants,
    "34-selection/criteria": mixture_selection_cases.criteria,
    "34-selection/evidence": mixture_selection_cases.evidence,
    "34-selection/importance": mixture_selection_cases.samples,
    "34-selection/curves": mixture_curve_cases.curves,
    "34-selection/held-out": mixture_curve_cases.held_out,
    "34-selection/rules": mixture_choice_cases.rules,
    "34-selection/stability": mixture_choice_cases.stability,
    "34-selection/variational": mixture_variational_cases.steps,
    "35-counts/steps": mixture_mean_cases.steps,
    "36-missing/steps": mixture_missing_cases.steps,
}


def some(*names: str) -> list[VectorFile]:
    """The files of some makers."""
    return [MAKERS[name]() for name in names]


def files() -> list[VectorFile]:
    """The files of chapters 30 to 36."""
    return some(*MAKERS)
