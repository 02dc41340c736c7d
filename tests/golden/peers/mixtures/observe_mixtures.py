"""Record what scikit-learn computes for Gaussian mixtures, naive Bayes and discriminants.

The observations are evidence, not truth.  To rerun with scikit-learn 1.9.1, numpy 2.4.6 and
scipy 1.17.1, after observe_mixtures.R (data, start labels and poor data come from mclust.json) and
multinomial_mixture.py (the counts come from multinomial.json), in the folder above this one:

    python -m mixtures.observe_mixtures [--out FOLDER]

File format of sklearn.json
  data        the synthetic rows; faithful, iris and its classes are in mclust.json, counts and
              row_weights in multinomial.json (GaussianNB repeats the weights along iris)
  starts      per data set: weights, means, variances (diagonal, or one number for spherical),
              the same variances for every component
  mixtures    GaussianMixture(reg_covar=0, tol=0) from "starts" after 1, 2, 5 and 50 iterations
  bayesian    one BayesianGaussianMixture, for information: its start is random (random_state=0)
  classifiers see observe_classifiers.py
  offset      one M-step of the synthetic data moved by a constant, all posteriors 1/2
  degenerate  what is said about the poor data of mclust.json: score per row, posteriors, failures
Rows are 0-based.  Special floats are "nan", "inf", "-inf"; a failure is {"error": class, "text"};
what came with warnings is {"result", "warnings"}.

How to read the figures
- One iteration is an E-step with the old parameters, then an M-step.  tol=0 never stops early.
  `lower_bound_` is the mean log-likelihood per row of the parameters BEFORE the last M-step;
  `score` is that of the final ones.  Where tol > 0, it bounds the change of lower_bound_, which
  is per row and absolute.
- The start has diagonal covariances that are powers of two, so precisions_init is exact.
- The M-step adds 10 eps to every component's mass, then divides the weights by their sum.
- full covariances come from centred rows; tied and diagonal (and spherical, the mean of the
  diagonal) from second moments minus products of means, which cancels far from the origin: see
  "offset".  A variance that should be 0 may come out as a positive rounding error, and the fit
  then succeeds with a huge score: see "one component of equal rows" and "K = n".
- spherical is VII (the mean of a component's variances), tied is EEE, diag VVI, full VVV.
- bic and aic: smaller is better, -2 loglik + df log n, the opposite sign of mclust.
- reg_covar (default 1e-6) is added to the diagonal in the unit of the data, after the M-step.
- BayesianGaussianMixture.lower_bound_ drops constants and is not per row: compare it between
  runs of it only.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from .observe_classifiers import COUNT_ROWS, IRIS_ROWS, classifiers, poor_outcomes
from .peer_values import encode, guarded

FORMS = ("full", "tied", "diag", "spherical")
ITERATIONS = (1, 2, 5, 50)
COMPONENTS = {"faithful": 2, "iris": 3, "synthetic": 2}
WEIGHTS = {2: (0.375, 0.625), 3: (0.25, 0.25, 0.5)}
ROWS = {"faithful": (1, 48, 140, 211), "iris": (50, 70, 77, 133), "synthetic": (0, 7, 12, 23)}
VARIATIONAL = {
    "n_components": 4,
    "weight_concentration_prior_type": "dirichlet_distribution",
    "weight_concentration_prior": 0.01,
    "tol": 1e-10,
    "max_iter": 20000,
    "random_state": 0,
}


def synthetic() -> Any:
    """Twenty-four rows of eighths in three columns, two overlapping clouds."""
    i = np.arange(24)
    rows = np.stack([i * 7 % 24, i * i * 5 % 29, (i * 11 + i * i) % 17], axis=1) / 8
    rows[12:] += np.array([2.5, -1.0, 0.75])
    return rows


def starting_point(data: Any, labels: Any, components: int, form: str) -> dict[str, Any]:
    """Rounded means of the start labels, uneven weights and powers of two as variances."""
    means = np.array([data[labels == k].mean(axis=0) for k in range(components)]).round(2)
    exponents = np.round(np.log2(data.var(axis=0))) - 1
    if form == "spherical":
        exponents = np.round(exponents.mean())
    return {"weights": WEIGHTS[components], "means": means, "variances": 2.0**exponents}


def mixture(form: str, start: dict[str, Any], iterations: int) -> Any:
    """An unfitted GaussianMixture that does so many iterations from the start."""
    from sklearn.mixture import GaussianMixture

    components, inverse = len(start["weights"]), 1 / start["variances"]
    diagonal = inverse if form in ("diag", "spherical") else np.diag(inverse)
    return GaussianMixture(
        components,
        covariance_type=form,
        reg_covar=0.0,
        tol=0.0,
        max_iter=iterations,
        weights_init=start["weights"],
        means_init=start["means"],
        precisions_init=diagonal if form == "tied" else np.array([diagonal] * components),
        random_state=0,
    )


def trajectory(data: Any, name: str, form: str, start: dict[str, Any]) -> dict[str, Any]:
    """The states of one GaussianMixture after some iterations."""
    states = []
    for iterations in ITERATIONS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tol=0 never converges
            model = mixture(form, start, iterations).fit(data)
        states.append(
            {
                "iterations": model.n_iter_,
                "lower_bound": encode(model.lower_bound_),
                "score": encode(model.score(data)),
                "bic": encode(model.bic(data)),
                "aic": encode(model.aic(data)),
                "weights": encode(model.weights_),
                "means": encode(model.means_),
                "covariances": encode(model.covariances_),
                "posteriors": encode(model.predict_proba(data[list(ROWS[name])])),
            }
        )
    return {"data": name, "form": form, "df": int(model._n_parameters()), "states": states}


def bayesian(data: Any) -> dict[str, Any]:
    """One variational fit with a Dirichlet prior on the weights."""
    from sklearn.mixture import BayesianGaussianMixture

    model = BayesianGaussianMixture(**VARIATIONAL).fit(data)
    names = "weights_ means_ covariances_ weight_concentration_ mean_precision_ lower_bound_"
    names += " degrees_of_freedom_ n_iter_"
    fitted = {name: encode(getattr(model, name)) for name in names.split()}
    return {"settings": VARIATIONAL, "fitted": fitted, "score": encode(model.score(data))}


def offsets() -> Iterator[dict[str, Any]]:
    """Covariances of data far from the origin after one M-step with equal components."""
    for offset in (0.0, 2.0**20, 2.0**26, 2.0**30):
        moved = synthetic() + offset

        def covariances(form: str, moved: Any = moved) -> Any:
            variances = np.float64(1) if form == "spherical" else np.ones(3)
            centre = [moved.mean(axis=0)] * 2
            start = {"weights": (0.5, 0.5), "means": np.array(centre), "variances": variances}
            found = mixture(form, start, 1).fit(moved).covariances_
            return found if form == "tied" else found[0]

        found = {form: guarded(partial(covariances, form)) for form in FORMS}
        yield {"offset": offset, "covariances": found}


def degenerate(cases: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Mixtures from scikit-learn's own start, and classifiers, on poor data."""
    from sklearn.mixture import GaussianMixture

    for case in cases:
        data = np.array(case["rows"], dtype=float)

        def score(model: Any, data: Any = data) -> Any:
            return model.fit(data).score(data)

        outcomes: dict[str, Any] = {}
        for floor in (0.0, 1e-6):
            for form in FORMS:
                model = GaussianMixture(
                    case["components"], covariance_type=form, reg_covar=floor, random_state=0
                )
                outcomes[f"{form} reg_covar={floor:g}"] = guarded(partial(score, model))
        yield {"case": case["case"], "outcomes": outcomes | poor_outcomes(case)}


def main() -> None:
    """Write sklearn.json beside this script."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    folder = parser.parse_args().out
    known = json.loads((folder / "mclust.json").read_text(encoding="utf-8"))
    texts = json.loads((folder / "multinomial.json").read_text(encoding="utf-8"))
    data = {name: np.array(rows, dtype=float) for name, rows in known["data"].items()}
    labels = {
        name: np.array(found[str(COMPONENTS[name])]) for name, found in known["starts"].items()
    }
    data["synthetic"], labels["synthetic"] = synthetic(), np.arange(24) // 12
    starts: dict[str, dict[str, Any]] = {}
    mixtures = []
    for name, rows in data.items():
        for form in FORMS:
            start = starting_point(rows, labels[name], COMPONENTS[name], form)
            kind = "spherical" if form == "spherical" else "diagonal"
            starts.setdefault(name, {})[kind] = {key: encode(value) for key, value in start.items()}
            mixtures.append(trajectory(rows, name, form, start))
    counts, weights = np.array(texts["counts"], dtype=float), np.array(texts["row_weights"])
    species = np.array(known["classes"]["iris"])
    head = {
        "library": "sklearn",
        "versions": {name: version(name) for name in ("scikit-learn", "numpy", "scipy")},
        "precision": "binary64",
        "rows": ROWS | {"iris_classified": IRIS_ROWS, "counts": COUNT_ROWS},
        "data": {"synthetic": encode(data["synthetic"])},
        "starts": starts,
    }
    sections: dict[str, list[Any]] = {
        "mixtures": mixtures,
        "bayesian": [bayesian(data["faithful"])],
        "classifiers": list(classifiers(data["iris"], species, counts, weights)),
        "offset": list(offsets()),
        "degenerate": list(degenerate(known["degenerate"])),
    }
    dumps = partial(json.dumps, separators=(",", ":"))
    parts = [f"{dumps(key)}:{dumps(value)}" for key, value in head.items()]
    parts += [
        f"{dumps(key)}:[\n" + ",\n".join(map(dumps, section)) + "\n]"
        for key, section in sections.items()
    ]
    (folder / "sklearn.json").write_text("{" + ",\n".join(parts) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
