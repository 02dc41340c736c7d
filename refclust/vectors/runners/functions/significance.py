"""What golden vectors ask about chapter 53 beside its metrics."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Final

from refclust.formulas import information, matching, pairs, significance
from refclust.formulas.contingency import Contingency, table
from refclust.formulas.outcomes import Outcomes
from refclust.numbers.real import Real
from refclust.vectors.runners.functions.table import Functions

_SCORES: Final[Mapping[str, Callable[[Contingency], Real]]] = {
    "purity": matching.purity,
    "rand": pairs.rand,
    "mutual_information": information.mutual_information,
}


def _label_p(
    score: Callable[[Contingency], Real], truth: Sequence[Hashable], clusters: Sequence[Hashable]
) -> Fraction:
    return significance.label_permutation_p(score, table(clusters, truth))


FUNCTIONS: Functions = {
    **{
        f"label_permutation_p.{name}": (partial(_label_p, score), ("labels_true", "labels_pred"))
        for name, score in _SCORES.items()
    },
    "smi_over_tables": (
        lambda truth, clusters: information.standardized_mutual_information(table(clusters, truth)),
        ("labels_true", "labels_pred"),
    ),
    "normal_tails": (significance.normal_tails, ("z",)),
    "chi_squared_tail": (significance.chi_squared_tail, ("x", "df")),
    "beta_share": (significance.beta_share, ("x", "a", "b")),
    "student_tails": (significance.student_tails, ("t_squared", "df")),
    "fisher_tail": (significance.fisher_tail, ("f", "df", "df_below")),
    "range_tail": (significance.range_tail, ("q", "methods")),
    "permutation_p": (significance.permutation_p, ("differences",)),
    "sign_flip_law": (
        lambda d: [x for pair in sorted(significance.sign_flip_law(d).items()) for x in pair],
        ("differences",),
    ),
    "mid_ranks": (significance.mid_ranks, ("values",)),
    "holm": (significance.holm, ("p",)),
    "sampled_p": (significance.sampled_p, ("observed", "drawn")),
    "bootstrap_p": (significance.bootstrap_p, ("observed", "drawn")),
    "wald_squared": (significance.wald_squared, ("estimate", "value", "variance")),
    "mcnemar_table": (
        lambda counts: significance.mcnemar_table(Outcomes.of_counts(*counts)),
        ("counts",),
    ),
    "fewer_wins": (lambda counts: significance.fewer_wins(counts[1], counts[2]), ("counts",)),
}
