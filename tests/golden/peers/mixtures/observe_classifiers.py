"""The sections of sklearn.json on naive Bayes, LDA and QDA; observe_mixtures.py calls this.

How to read the figures of scikit-learn 1.9.1
- MultinomialNB and BernoulliNB: theta = (T + alpha) / (T_total + alpha V) and
  (N_kj + alpha) / (N_k + 2 alpha): alpha counts per cell, so m = alpha V and m = 2 alpha.  alpha=0
  is kept as 0 (force_alpha) and 0 * log 0 becomes nan, in every row with an absent word.
- GaussianNB: divisor n_k; var_smoothing times the largest column variance is added to all.
- QuadraticDiscriminantAnalysis (solver svd): divisor n_k, as MASS with method "mle".  Releases
  before scikit-learn's pull request 33626 divided by n_k - 1, and LDA's solver svd by n - K: the
  divisor is a matter of the version.
- LinearDiscriminantAnalysis: `covariance_` is sum_k prior_k cov_k with divisor n_k inside cov_k.
  Solver lsqr uses it, so that priors which are given change the covariance; solver svd, the
  default, uses the pooled scatter over n whatever the priors.  With the priors of the data the
  two agree, and agree with MASS's method "mle".
- "joint" is predict_joint_log_proba.  LDA's and QDA's "posteriors" are predict_proba.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from .peer_values import encode, guarded

IRIS_ROWS = (0, 50, 70, 77, 83, 106, 133, 134)
COUNT_ROWS = (0, 1, 17, 30, 45)
DISCRETE = ("class_count_", "class_log_prior_", "feature_log_prob_")
NORMAL = ("class_count_", "class_prior_", "theta_", "var_", "epsilon_")
DISCRIMINANT = ("priors_", "means_", "covariance_")


def observed(
    model: Any, fitted: tuple[str, ...], data: Any, labels: Any, **given: Any
) -> dict[str, Any]:
    """What one classifier fits and predicts."""
    counts = fitted is DISCRETE
    shown = data[list(COUNT_ROWS if counts else IRIS_ROWS)]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # alpha = 0
        model.fit(data, labels, **given)
        result = {name: encode(getattr(model, name)) for name in fitted}
        if fitted is not DISCRIMINANT:
            result["joint"] = encode(model.predict_joint_log_proba(shown))
        result["posteriors"] = encode(model.predict_proba(shown))
    return {
        "classifier": str(model),
        "data": "counts" if counts else "iris",
        "weighted": bool(given),
        **result,
    }


def classifiers(iris: Any, species: Any, counts: Any, weights: Any) -> Iterator[dict[str, Any]]:
    """Every classifier with its settings; the class of document i is i mod 3."""
    from sklearn.discriminant_analysis import (
        LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis,
    )
    from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB

    topics = np.arange(len(counts)) % 3
    for maker in (MultinomialNB, BernoulliNB):
        for alpha in (0.0, 0.5, 1.0, 2.0):
            yield observed(maker(alpha=alpha), DISCRETE, counts, topics)
        uniform = maker(fit_prior=False)
        yield observed(uniform, DISCRETE, counts, topics, sample_weight=weights)
    cycle = np.resize(weights, len(iris))
    yield observed(GaussianNB(var_smoothing=0.0), NORMAL, iris, species)
    yield observed(GaussianNB(), NORMAL, iris, species)
    yield observed(GaussianNB(var_smoothing=0.0), NORMAL, iris, species, sample_weight=cycle)
    for priors in (None, [0.25, 0.25, 0.5]):
        for model in (
            QuadraticDiscriminantAnalysis(priors=priors, store_covariance=True),
            LinearDiscriminantAnalysis(priors=priors, store_covariance=True),
            LinearDiscriminantAnalysis(priors=priors, solver="lsqr"),
        ):
            yield observed(model, DISCRIMINANT, iris, species)


def poor_outcomes(case: dict[str, Any]) -> dict[str, Any]:
    """Posteriors of the first two rows of a poor data set, or what was said."""
    from sklearn.discriminant_analysis import (
        LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis,
    )
    from sklearn.naive_bayes import GaussianNB

    if len(set(case["labels"] or ())) < 2:
        return {}
    data = np.array(case["rows"], dtype=float)

    def predicted(model: Any) -> Any:
        return model.fit(data, case["labels"]).predict_proba(data[:2])

    models = (
        GaussianNB(var_smoothing=0.0),
        GaussianNB(),
        QuadraticDiscriminantAnalysis(),
        LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis(solver="lsqr"),
    )
    return {str(model): guarded(partial(predicted, model)) for model in models}
