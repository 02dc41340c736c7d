"""What golden vectors ask about chapter 55."""

from __future__ import annotations

from refclust.formulas import crossval
from refclust.vectors.runners.functions.table import Functions

FUNCTIONS: Functions = {
    "dealt": (crossval.dealt, ("order", "folds")),
    "by_class": (crossval.by_class, ("order", "classes")),
    "pooled_rate": (crossval.pooled_rate, ("rights", "sizes")),
    "mean_rate": (crossval.mean_rate, ("rights", "sizes")),
}
