"""What a fit costs: the likelihood, and charges for parameters and for overlap (chapter 34)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

from refclust.backends.session import Session
from refclust.data.accepting.door import dataset
from refclust.data.dataset import Dataset
from refclust.errors import BadOption
from refclust.fitting.rows import Rows
from refclust.kernels.mixtures.shared import HARD, SOFT
from refclust.mixture.families.family import Family
from refclust.mixture.families.named import names, record
from refclust.mixture.results import MixtureFit
from refclust.numbers.reading import shown

AnyFit: TypeAlias = MixtureFit[Any]


@dataclass(frozen=True, slots=True)
class Criteria:
    """The criteria that one fit has; of all of them smaller is better.

    Spec: MS-BIC, MS-AIC, MS-ICL
    """

    bic: float
    aic: float
    icl: float
    icl_soft: float


def bic(log_likelihood: float, free: int, weight: float) -> float:
    """The Bayesian information criterion; weight is that of all rows together.

    Spec: MS-BIC

    >>> bic(-10.0, 3, 1.0)
    20.0
    """
    return -2.0 * log_likelihood + free * math.log(weight)


def aic(log_likelihood: float, free: int) -> float:
    """Akaike's information criterion.

    Spec: MS-AIC

    >>> aic(-10.0, 3)
    26.0
    """
    return -2.0 * log_likelihood + 2.0 * free


def icl(log_likelihood: float, free: int, weight: float, doubt: float) -> float:
    """BIC with a charge for doubt: the sum of -log of each row's largest responsibility.

    Spec: MS-ICL

    >>> icl(-10.0, 3, 1.0, 0.5)
    21.0
    """
    return bic(log_likelihood, free, weight) + 2.0 * doubt


def icl_soft(log_likelihood: float, free: int, weight: float, entropy: float) -> float:
    """BIC with a charge for the entropy of the responsibilities.

    Spec: MS-ICL

    >>> icl_soft(-10.0, 3, 1.0, 0.75)
    21.5
    """
    return bic(log_likelihood, free, weight) + 2.0 * entropy


def criteria(
    fit: AnyFit, data: Any, *, backend: str | None = None, session: Session | None = None
) -> Criteria:
    """All criteria of a fit, with one pass over its data for the largest responsibilities.

    Spec: MS-BIC, MS-AIC, MS-ICL

    >>> from refclust.mixture.families.named.multinomial import multinomial_mixture
    >>> docs = [[2, 0], [0, 2]]
    >>> fit = multinomial_mixture(docs, 2, labels=[0, 1])
    >>> found = criteria(fit, docs)
    >>> found.aic == 4 * math.log(2) + 6, found.icl == found.bic == found.icl_soft
    (True, True)
    """
    if not isinstance(fit, MixtureFit):
        raise BadOption(f"the fit is {shown(fit)}; the fit of a mixture is needed")
    rows = dataset(data, gaps=fit.settings.get("missing") == "integrate")
    if rows.digest() != fit.digest:
        raise BadOption("the data are not those of the fit: other numbers, or other weights")
    doubt, entropy = doubts(fit, rows, Session(backend) if session is None else session)
    known = (fit.log_likelihood, fit.free_parameters, fit.weight)
    return Criteria(
        bic(*known), aic(*known[:2]), icl(*known, doubt=doubt), icl_soft(*known, entropy=entropy)
    )


def doubts(fit: AnyFit, rows: Dataset, session: Session) -> tuple[float, float]:
    """The sum of -log of each row's largest responsibility, and the entropy of all of them.

    If every row goes to its most probable component, the bound of a pass is the sum of the largest
    log p(x, k), and what it is short of the log-likelihood is the sum asked for. So no table of
    responsibilities is needed.

    Spec: MS-ICL
    """
    family = family_of(fit, rows, session)
    point = family.point(fit.parameters)
    hard = family.passes.step(point.densities, HARD)
    entropy = fit.entropy
    if fit.variation not in ("em", "generalized"):  # its shares are not the posteriors
        entropy = family.passes.step(point.densities, SOFT).entropy
    # Other sums than the reference's may end a rounding below zero.
    return max(hard.log_likelihood - hard.bound, 0.0), entropy


def family_of(fit: AnyFit, rows: Dataset, session: Session) -> Family[Any, Any, Any]:
    """The family that a fit belongs to, on its own or on other rows.

    Spec: none (a change of clothes)
    """
    if fit.family not in names():
        raise BadOption(
            f"a fit of the family {fit.family} has no likelihood of its own to charge for"
        )
    return record(fit.family).on(Rows(rows, session), len(fit.sizes), fit.settings)
