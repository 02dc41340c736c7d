"""What golden vectors ask about chapter 53 beside its metrics."""

from __future__ import annotations

from refclust.formulas import significance
from refclust.formulas.outcomes import Outcomes
from refclust.vectors.runners.functions.table import Functions

FUNCTIONS: Functions = {
    "normal_tails": (significance.normal_tails, ("z",)),
    "chi_squared_tail": (significance.chi_squared_tail, ("x", "df")),
    "beta_share": (significance.beta_share, ("x", "a", "b")),
    "student_tails": (significance.student_tails, ("t_squared", "df")),
    "fisher_tail": (significance.fisher_tail, ("f", "df", "df_below")),
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
