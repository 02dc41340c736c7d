"""What golden vectors ask about chapter 54."""

from __future__ import annotations

from refclust.formulas import intervals
from refclust.vectors.runners.functions.table import Functions

RATE = ("successes", "rounds", "level")

FUNCTIONS: Functions = {
    "normal_quantile": (intervals.normal_quantile, ("level",)),
    "wald_interval": (intervals.wald_interval, RATE),
    "wilson_interval": (intervals.wilson_interval, RATE),
    "wilson_corrected_interval": (intervals.wilson_corrected_interval, RATE),
    "agresti_coull_interval": (intervals.agresti_coull_interval, RATE),
    "clopper_pearson_interval": (intervals.clopper_pearson_interval, RATE),
    "jeffreys_interval": (intervals.jeffreys_interval, RATE),
    "bootstrap_interval": (
        lambda k, n, level: intervals.percentile_interval(intervals.resampled_law(k, n), level),
        RATE,
    ),
    "resampled_law": (
        lambda k, n: [x for pair in intervals.resampled_law(k, n).items() for x in pair],
        ("successes", "rounds"),
    ),
}
