"""What golden vectors ask about chapter 51 beside its metrics."""

from __future__ import annotations

from refclust.formulas import agreement
from refclust.formulas.raters import Ratings
from refclust.vectors.runners.functions.table import Functions

FUNCTIONS: Functions = {
    "category_shares": (
        lambda counts: agreement.category_shares(Ratings.of_counts(counts)),
        ("rated",),
    ),
    "coincidences": (lambda counts: agreement.coincidences(Ratings.of_counts(counts)), ("rated",)),
}
