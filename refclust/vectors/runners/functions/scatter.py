"""What golden vectors ask about chapter 45 beside its metrics."""

from __future__ import annotations

from refclust.formulas import scatter
from refclust.vectors.runners.functions.table import WHOLE, Functions

FUNCTIONS: Functions = {
    "cluster_sizes": (lambda c: [scatter.size(c, k) for k in range(c.k)], (WHOLE,)),
    "cluster_means": (lambda c: [scatter.cluster_mean(c, k) for k in range(c.k)], (WHOLE,)),
    "overall_mean": (scatter.overall_mean, (WHOLE,)),
    "cluster_scatters": (lambda c: [scatter.cluster_scatter(c, k) for k in range(c.k)], (WHOLE,)),
    "within_scatter": (scatter.within_scatter, (WHOLE,)),
    "between_scatter": (scatter.between_scatter, (WHOLE,)),
    "total_scatter": (scatter.total_scatter, (WHOLE,)),
    "traces": (scatter.traces, (WHOLE,)),
    "tss": (scatter.tss, (WHOLE,)),
}
