"""Classifiers against what scikit-learn and R's MASS were seen to compute for the same rows.

The observations are in tests/golden/peers/mixtures; the peers themselves are not needed. Each bound
is derived where it stands: how far two careful computations of the same quantity can be apart.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import pytest

from refclust.classify.discriminants import lda, qda
from refclust.classify.naive_bayes import naive_bayes
from refclust.classify.predict import predict
from refclust.classify.results import CountClassifier, GaussianClassifier
from refclust.errors import DegenerateCovariance, KOutOfRange
from refclust.mixture.predict import assignments

FOLDER = Path(__file__).parents[1] / "golden" / "peers" / "mixtures"
UNIT = 2.0**-53


@cache
def seen(library: str) -> Any:
    return json.loads((FOLDER / f"{library}.json").read_text(encoding="utf-8"))


def iris() -> tuple[list[list[float]], list[int]]:
    return seen("mclust")["data"]["iris"], seen("mclust")["classes"]["iris"]


def cases(prefix: str) -> list[Any]:
    return [
        pytest.param(case, id=f"{case['classifier']}{' weighted' if case['weighted'] else ''}")
        for case in seen("sklearn")["classifiers"]
        if case["classifier"].startswith(prefix)
    ]


def near(one: float, other: float, bound: float) -> None:
    assert abs(one - other) <= bound, (one, other, bound)


def count_twin(case: Any) -> tuple[CountClassifier, list[list[float]]]:
    rows = seen("multinomial")["counts"]
    topics = [i % 3 for i in range(len(rows))]
    bernoulli = case["classifier"].startswith("Bernoulli")
    if bernoulli:
        rows = [[float(x > 0) for x in row] for row in rows]
    given = re.search(r"alpha=([0-9.]+)", case["classifier"])
    alpha = float(given[1]) if given else 1.0
    # They add alpha to every cell: to each of V words, or to there and not there.
    m = alpha * (2 if bernoulli else len(rows[0]))
    weights = seen("multinomial")["row_weights"] if case["weighted"] else None
    twin = naive_bayes(
        rows,
        topics,
        kind="bernoulli" if bernoulli else "multinomial",
        m=m,
        prior="equal" if "fit_prior=False" in case["classifier"] else "documents",
        weights=weights,
    )
    return twin, [rows[i] for i in seen("sklearn")["rows"]["counts"]]


@pytest.mark.spec("NB-THETA", "NB-MEST", "NB-PI", "NB-SCORE", "BNB")
@pytest.mark.parametrize("case", cases("MultinomialNB") + cases("BernoulliNB"))
def test_counts(case: Any) -> None:
    ours, rows = count_twin(case)
    assert list(ours.sizes) == case["class_count_"]
    for weight, log in zip(ours.parameters.weights, case["class_log_prior_"], strict=True):
        near(math.log(weight), log, 8 * UNIT * (1 + abs(log)))
    for theta, logs in zip(ours.parameters.probabilities, case["feature_log_prob_"], strict=True):
        for share, log in zip(theta, logs, strict=True):
            if log == "-inf":
                assert share == 0
            else:
                # They take the difference of two logarithms of numbers below 2^10, each within 2u
                # of itself; our quotient errs by 4u and its logarithm by 2u of itself.
                near(math.log(share), log, UNIT * (8 + 4 * math.log(2**10)))
    if ours.settings["m"] == 0:
        assert "nan" in case["joint"][0]  # 0 log 0; here it is 0
        return
    found = predict(ours, rows, full=True)
    for i, row in enumerate(rows):
        # Every logarithm errs by at most 40u (above), twice for the log-odds of a presence. Adding
        # up V + 1 terms errs by V + 1 units of the sum of their sizes: |joint| for words, which all
        # have one sign; log-odds and their common offset may cancel by as much again.
        words = sum(row) + 2 * len(row)
        joint = zip(found.scores(i), case["joint"][i], strict=True)
        bounds = []
        for one, other in joint:
            bounds.append(UNIT * (80 * words + 2 * (len(row) + 2) * (abs(one) + words)))
            near(one, other, bounds[-1])
        for one, other in zip(found.responsibilities(i), case["posteriors"][i], strict=True):
            near(one, other, 3 * max(bounds) * one)


@pytest.mark.spec("GNB", "QDA-PARAM")
@pytest.mark.parametrize("case", cases("GaussianNB"))
def test_gaussian_naive_bayes(case: Any) -> None:
    rows, classes = iris()
    cycle = seen("multinomial")["row_weights"]
    weights = [cycle[i % len(cycle)] for i in range(len(rows))] if case["weighted"] else None
    ours = naive_bayes(rows, classes, kind="gaussian", weights=weights)
    smoothed = case["epsilon_"]
    parameters = ours.parameters
    # A sum of n numbers in any order errs by (n - 1)u of their absolute sum.
    each = (len(rows) + 8) * UNIT
    for k, (mean, variances) in enumerate(zip(parameters.means, parameters.spreads, strict=True)):
        near(parameters.weights[k], case["class_prior_"][k], each)
        for j, (m, v) in enumerate(zip(mean, variances, strict=True)):
            near(m, case["theta_"][k][j], each * 8.0)  # iris is below 8
            near(v + smoothed, case["var_"][k][j], 4 * each * (v + smoothed))
    shown = [rows[i] for i in seen("sklearn")["rows"]["iris_classified"]]
    twin = replace(
        parameters, spreads=tuple(tuple(v + smoothed for v in row) for row in parameters.spreads)
    )
    found = predict(replace(ours, parameters=twin), shown, full=True)
    for i, row in enumerate(shown):
        for k, other in enumerate(case["joint"][i]):
            terms = [
                ((x - m) ** 2 / v, abs(x - m) / v, abs(math.log(2 * math.pi * v)))
                for x, m, v in zip(row, twin.means[k], twin.spreads[k], strict=True)
            ]
            # With a mean that errs by 8e and a variance by 4e of itself, half a square errs by
            # 2e of it and 8e |x - m| / v, half a logarithm by 2e; sums of d terms by (d + 4)u.
            bound = math.fsum(each * (2 * s + 8 * a + 2 + log) for s, a, log in terms)
            near(found.scores(i)[k], other, 2 * bound)


def judge_posteriors(
    ours: GaussianClassifier, shown: list[list[float]], theirs: Sequence[Any], n: int
) -> None:
    """Compare posteriors within what rounding in estimates and in decompositions can do.

    Each covariance C errs by at most n d u |C| in norm, from adding up n rows and from a backward
    stable decomposition. With g = C^-1 (x - m), squares change by n d u |C| |g|^2 and logarithms of
    determinants by n d u |C| |C^-1|; a mean that errs by n u |m| changes a square by 2 n u |m| |g|.
    Half of all that, for each of two classes, changes the logarithm of a posterior.
    """
    found = predict(ours, shown, full=True)
    d = len(shown[0])
    for i, row in enumerate(shown):
        errors = []
        for mean, covariance in zip(
            ours.parameters.means, ours.parameters.covariances, strict=True
        ):
            c = numpy.array(covariance)
            g = numpy.linalg.solve(c, numpy.array(row) - numpy.array(mean))
            size, away = float(numpy.linalg.norm(c)), float(numpy.linalg.norm(g))
            inverse = float(numpy.linalg.norm(numpy.linalg.inv(c)))
            errors.append(
                n * d * UNIT * size * (away**2 + inverse)
                + 2 * n * UNIT * float(numpy.linalg.norm(mean)) * away
            )
        bound = 2 * max(errors)
        assert bound < 1e-6  # or the comparison would say nothing
        for share, other in zip(found.responsibilities(i), theirs[i], strict=True):
            near(share, other, 2 * bound * max(share, other) + 4 * UNIT * max(share, other))


def discriminant_twin(rule: str, prior: Any) -> GaussianClassifier:
    rows, classes = iris()
    return (qda if rule == "qda" else lda)(rows, classes, prior=prior or "documents")


@pytest.mark.spec("QDA-PARAM", "QDA-MAP", "LDA-POOL")
@pytest.mark.parametrize("case", cases("Quadratic") + cases("Linear"))
def test_discriminants_of_scikit_learn(case: Any) -> None:
    rows, _ = iris()
    rule = "qda" if case["classifier"].startswith("Quadratic") else "lda"
    prior = [0.25, 0.25, 0.5] if "priors=" in case["classifier"] else None
    ours = discriminant_twin(rule, prior)
    shown = [rows[i] for i in seen("sklearn")["rows"]["iris_classified"]]
    weighted_by_prior = prior is not None and "lsqr" in case["classifier"]
    theirs = case["covariance_"] if rule == "qda" else [case["covariance_"]] * 3
    if prior is not None and rule == "lda":
        # What they store is the mean of the covariances by prior; only the solver lsqr uses it.
        assert abs(ours.parameters.covariances[0][0][0] - theirs[0][0][0]) > 1e-3
    else:
        for block, other in zip(ours.parameters.covariances, theirs, strict=True):
            size = float(numpy.abs(other).max())
            for line, their_line in zip(block, other, strict=True):
                for x, y in zip(line, their_line, strict=True):
                    near(x, y, 4 * len(rows) * UNIT * size)
    if weighted_by_prior:
        return
    judge_posteriors(ours, shown, case["posteriors"], len(rows))


@pytest.mark.spec("QDA-PARAM", "QDA-MAP", "LDA-POOL")
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(one, id=f"{one['rule']} {one['method']} {one['prior']}")
        for one in seen("masslda")["cases"]
    ],
)
def test_discriminants_of_mass(case: Any) -> None:
    rows, classes = iris()
    ours = discriminant_twin(case["rule"], case["prior"])
    if case["method"] == "moment":
        # Unbiased: the scatter over n - K, or of a class over n_k - 1.
        n, k = len(rows), len(ours.classes)
        factor = n / (n - k) if case["rule"] == "lda" else 50 / 49
        spreads = tuple(tuple(x * factor for x in spread) for spread in ours.parameters.spreads)
        ours = replace(ours, parameters=replace(ours.parameters, spreads=spreads))
    shown = [rows[i] for i in seen("masslda")["rows"]]
    judge_posteriors(ours, shown, case["posteriors"], len(rows))
    labels = assignments(ours.parameters, rows, family="gaussian", full=False).labels
    wrong = sum(ours.classes[c] != y for c, y in zip(labels, classes, strict=True))
    assert wrong == case["errors"]


@pytest.mark.spec("QDA-PARAM", "LDA-POOL")
@pytest.mark.parametrize(
    "case",
    [pytest.param(one, id=one["case"]) for one in seen("mclust")["degenerate"] if one["labels"]],
)
def test_poor_data(case: Any) -> None:
    # MASS finds columns below a standard deviation of 1e-4 constant, and goes on with collinear
    # ones; a judgement here depends on no unit, and what is singular is an error.
    singular = {
        "constant column": {"qda", "lda"},
        "collinear columns": {"qda", "lda"},
        "one component of equal rows": {"qda"},
        "all rows equal": {"qda", "lda"},
        "component of one row": {"qda"},
        "K = n": {"qda", "lda"},
        "K > n": {"qda", "lda"},
    }.get(case["case"], set())
    for name, train in (("qda", qda), ("lda", lda)):
        if case["case"] == "n < d":  # one class
            with pytest.raises(KOutOfRange):
                train(case["rows"], case["labels"])
        elif name in singular:
            with pytest.raises(DegenerateCovariance):
                train(case["rows"], case["labels"])
        else:
            found = predict(train(case["rows"], case["labels"]), case["rows"][:2])
            assert list(found.labels) == case["labels"][:2]
