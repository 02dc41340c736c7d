"""Log-likelihood of rows that a fit has not seen (MS-CVLL, chapter 34)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from refclust.backends.session import Session
from refclust.data.dataset import Dataset
from refclust.kernels.mixtures.shared import total
from refclust.mixture.choosing.criteria import AnyFit
from refclust.mixture.predict import assignments


def cross_validated(
    rows: Dataset,
    dealt: Sequence[Sequence[int]],
    fitted: Callable[[Dataset], AnyFit],
    session: Session,
) -> float:
    """The mean log-likelihood of a row under the fit without its fold; -inf if one is impossible.

    Spec: MS-CVLL
    """
    terms: list[float] = []
    weights = [1.0] * rows.n if rows.weights is None else rows.weights.tolist()
    for fold in dealt:
        counting = [i for i in fold if weights[i]]
        if not counting:
            continue  # nothing in it could add anything
        out = frozenset(fold)
        fit = fitted(rows.select([i for i in range(rows.n) if i not in out]))
        held_out = assignments(
            fit.parameters,
            rows.select(counting),
            family=fit.family,
            full=False,
            impossible="prior",
            missing=fit.settings.get("missing", "refuse"),
            session=session,
        )
        terms += [
            weights[i] * each for i, each in zip(counting, held_out.log_likelihoods, strict=True)
        ]
    return total(terms) / math.fsum(weights)
