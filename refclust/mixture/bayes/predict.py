"""Rows under beliefs about a mixture: the variational E-step for new rows (chapter 34)."""

from __future__ import annotations

import math
from array import array
from typing import Any

from refclust.backends.session import Session
from refclust.data.accepting.door import dataset
from refclust.data.align import aligned
from refclust.data.dataset import Features
from refclust.errors import DegenerateCovariance
from refclust.fitting.memory import for_shares
from refclust.fitting.rows import Rows
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.mixtures.gaussian import Gaussians
from refclust.kernels.mixtures.multinomial import Terms
from refclust.kernels.mixtures.shared import Posterior
from refclust.mixture.bayes.beliefs import CountBeliefs, GaussianBeliefs
from refclust.mixture.bayes.counts import expected_logs, word_terms
from refclust.mixture.families.counts.parameters import check_counts
from refclust.mixture.families.gaussian.parameters import (
    constant_of,
    whitening_diagonal,
)
from refclust.mixture.families.named import record
from refclust.mixture.passes import CountPasses, GaussianPasses
from refclust.mixture.predict import Assignments, assigned
from refclust.numbers.special import expected_log_precision


def assignments(
    beliefs: GaussianBeliefs | CountBeliefs,
    data: Any,
    *,
    features: Features | None = None,
    full: bool = True,
    backend: str | None = None,
    session: Session | None = None,
) -> Assignments:
    """Find the component of every row under expected logarithms, as the last pass of the fit did.

    ``log_likelihoods`` are bounds: no larger than the logarithm of the expected density.

    Spec: MS-VIE, MODEL-PREDICT

    >>> believed = CountBeliefs((1.0, 1.0), ((9.0, 1.0), (1.0, 9.0)))
    >>> found = assignments(believed, [[3, 1], [0, 2], [1, 1]])
    >>> found.labels.tolist(), found.responsibilities(2)
    ([0, 1, 0], (0.5, 0.5))
    """
    expected = beliefs.expected()
    family = "gaussian" if isinstance(beliefs, GaussianBeliefs) else beliefs.kind
    rows, unseen = aligned(dataset(data), features, record(family).columns(expected))
    session = Session(backend) if session is None else session
    if full:
        for_shares(rows.n, len(beliefs.alpha))
    seen = Rows(rows, session)
    if isinstance(beliefs, GaussianBeliefs):
        posterior, constant = _normal(beliefs, seen, full=full)
    else:
        posterior, constant = _words(beliefs, seen, full=full)
    return assigned(posterior, constant, expected.weights, unseen, session)


def _normal(beliefs: GaussianBeliefs, rows: Rows, *, full: bool) -> tuple[Posterior, float]:
    """A pass under normal means and Wishart precisions, whatever the form of the covariances.

    Spec: VB-GAUSS
    """
    expected, d = beliefs.expected(), rows.data.d
    passes = GaussianPasses(rows, len(beliefs.alpha))
    white = passes.whitening(expected.spreads, expected.form)
    shares, offsets = expected_logs(beliefs.alpha), array("d")
    for k, (share, beta, nu) in enumerate(zip(shares, beliefs.beta, beliefs.nu, strict=True)):
        diagonal = whitening_diagonal(expected, white, k)
        if not all(diagonal):
            raise DegenerateCovariance(f"the expected covariance of component {k} is singular")
        # The whitening matrices are those of nu V: log |V| is log |nu V| less d log nu. Without
        # covariances between columns every column has a Wishart distribution of its own.
        logs = [2.0 * math.log(x) - math.log(nu) for x in diagonal]
        if expected.form == "full":
            precision = expected_log_precision(math.fsum(logs), nu, d)
        else:
            precision = math.fsum(expected_log_precision(log, nu, 1) for log in logs)
        offsets.append(math.fsum((share, 0.5 * precision, -0.5 * d / beta)))
    made = Gaussians(offsets, CentreMatrix.of(expected.means), white, expected.form)
    return passes.posterior(made, full=full), constant_of([0] * d)


def _words(beliefs: CountBeliefs, rows: Rows, *, full: bool) -> tuple[Posterior, float]:
    """A pass under Dirichlet words, or words that are there or not.

    Spec: VB-MULT, VB-BERN
    """
    check_counts(rows.data, beliefs.kind, "fractional")
    offsets, slopes = array("d", expected_logs(beliefs.alpha)), array("d")
    for c in range(len(beliefs.alpha)):
        logs = [expected_logs(eta) for eta in beliefs.dirichlets(c)]
        base, words = word_terms(logs, beliefs.kind)
        offsets[c] += base
        slopes.extend(words)
    passes = CountPasses(rows, len(beliefs.alpha))
    return passes.posterior(Terms(offsets, slopes), full=full), 0.0
