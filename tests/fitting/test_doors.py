"""What is spelled otherwise elsewhere, numbers of NumPy, paths, and calls that make no sense."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refclust
from refclust.errors import BadOption, RefclustError, UnknownOption

X = [[0.0], [1.0], [5.0], [6.0]]
PLANE = [[0.0, 0.0], [1.0, 2.0], [2.0, 1.0], [5.0, 5.0], [6.0, 8.0], [8.0, 5.0]]
Call = Callable[..., Any]
api: Any = refclust  # callers have no types


@pytest.mark.parametrize(
    ("call", "name", "own"),
    [
        (api.kmeans, "n_clusters", "k"),
        (api.kmeans, "random_state", "seed"),
        (api.kmeans, "centers", "centres"),
        (api.kmeans, "n_init", "restarts"),
        (api.kmeans, "max_iter", "limit"),
        (api.kmeans, "tol", "tolerance"),
        (api.kmeans, "init", "start"),
        (api.kmeans, "sample_weight", "weights"),
        (api.gaussian_mixture, "n_components", "k"),
        (api.gaussian_mixture, "covariance_type", "covariance"),
        (api.gaussian_mixture, "reg_covar", "floor"),
        (api.gaussian_mixture, "means_init", "parameters"),
        (api.agglomerative, "n_clusters", "k"),
        (api.agglomerative, "method", "linkage"),
        (api.qda, "y", "labels"),
        (api.lda, "priors", "prior"),
        (api.select, "random_state", "seed"),
    ],
)
def test_options_that_are_spelled_otherwise_elsewhere(call: Call, name: str, own: str) -> None:
    with pytest.raises(BadOption, match=f"has no option {name}; here it is called {own}$"):
        call(X, **{name: 2})


@pytest.mark.parametrize(
    ("call", "name", "own"),
    [
        (api.ari, "y_true", "labels_true"),
        (api.nmi, "y_pred", "labels_pred"),
        (api.nmi, "average_method", "average"),
        (api.nmi, "sample_weight", "weights"),
        (api.score_all, "y_true", "labels_true"),
        (api.f1, "pos_label", "positive"),
        (api.silhouette, "X", "rows"),
        (api.crossval, "n_splits", "folds"),
        (api.sample, "n_samples", "n"),
        (api.contingency, "y_true", "labels_true"),
    ],
)
def test_metrics_that_are_spelled_otherwise_elsewhere(call: Call, name: str, own: str) -> None:
    with pytest.raises(UnknownOption, match=f"has no option {name}; here it is called {own}$"):
        call(**{name: "ab"})


def test_what_is_known_nowhere_is_listed() -> None:
    with pytest.raises(BadOption, match="kmeans has no option n_jobs; allowed are data, k, start"):
        api.kmeans(X, 2, n_jobs=2)
    with pytest.raises(BadOption, match="was given 2 values without names; only data may"):
        api.agglomerative(X, 2)
    with pytest.raises(BadOption, match=r"^kmeans was not given data$"):
        api.kmeans()


def test_numbers_of_numpy_are_numbers() -> None:
    two, seed = np.int64(2), np.int32(3)
    assert api.kmeans(X, two, seed=seed).labels == api.kmeans(X, 2, seed=3).labels
    fit = api.kmeans(X, two, seed=seed, restarts=np.int16(2), limit=np.uint8(9))
    assert (type(fit.k), type(fit.seed), fit.limit) == (int, int, 9)
    mixture = api.gaussian_mixture(X, two, covariance="tied", tolerance=np.float32(0.5))
    assert mixture.options["tolerance"] == 0.5
    assert api.sample(mixture, np.int64(3), seed=seed).rows == mixture.sample(3, seed=3).rows
    assert api.select(X, k=np.arange(1, 3), covariance="tied").candidates[1].k == 2
    rows = api.crossval("lda", PLANE, "aaabbb", folds=np.int64(3), seed=seed, repeats=two)
    assert rows.rates == api.crossval("lda", PLANE, "aaabbb", folds=3, seed=3, repeats=2).rates
    assert api.bisecting(X, two).k == 2
    assert api.nmi("aab", "xyx").digits(np.int64(5)) == "0.27402"
    with pytest.raises(BadOption, match="k is True; a whole number"):
        api.kmeans(X, True)


def test_paths_are_paths(tmp_path: Path) -> None:
    file, model = tmp_path / "x.csv", tmp_path / "m.json"
    file.write_text("a\n0\n1\n5\n6\n")
    rows = api.read(file)
    fit = api.kmeans(rows, 2, checkpoint=tmp_path / "c.json")
    fit.save(model)
    assert api.load_model(model).predict(rows).labels == fit.labels
    assert api.predict(model, rows).labels == fit.labels
    for place in (file, str(file)):
        with pytest.raises(RefclustError, match=r"refclust\.read\(path\) reads a file"):
            api.kmeans(place, 2)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: api.predict(5, X), "the model is 5; a fit, a classifier, a model or the"),
        (lambda: api.describe(5), "the fit is 5; a fit or a classifier is needed"),
        (lambda: api.distances(5, X, [0]), "the model is 5; a fit or a model of clusters"),
        (lambda: api.kl([0.5, 0.5], [1, 0]), "is infinite: q has mass where p has none"),
        (lambda: api.clause(5), "no clause 5; a clause is named by a text"),
        (lambda: api.sample(api.kmeans(X, 2), 3), "no densities to draw rows from"),
        (lambda: api.criteria(api.kmeans(X, 2), X), "the fit of a mixture is needed"),
    ],
)
def test_calls_that_make_no_sense(call: Call, words: str) -> None:
    with pytest.raises(RefclustError, match=words):
        call()


# -- where a mixture starts -----------------------------------------------------------------------

MEANS = [[0.0, 0.0], [6.0, 6.0]]


@pytest.mark.spec("EM-INIT")
@pytest.mark.parametrize("covariance", ["full", "diagonal", "spherical"])
@pytest.mark.parametrize("array", [list, np.array])
def test_start_covariances_are_matrices(covariance: str, array: Call) -> None:
    flat = {"full": [4, 0, 0, 4], "diagonal": [4, 4], "spherical": [4]}[covariance]
    known = {"weights": [0.5, 0.5], "means": MEANS}
    matrices = array([[[4.0, 0.0], [0.0, 4.0]]] * 2)
    options: dict[str, Any] = {"covariance": covariance, "limit": 0}
    due = api.gaussian_mixture(PLANE, parameters={**known, "spreads": [flat] * 2}, **options)
    for name in ("covariances", "spreads"):
        fit = api.gaussian_mixture(PLANE, parameters={**known, name: matrices}, **options)
        assert fit.parameters == due.parameters


def test_start_covariances_that_the_model_has_not() -> None:
    known = {"weights": [0.5, 0.5], "means": MEANS}
    tilted = {**known, "covariances": [[[4, 1], [1, 4]]] * 2}
    with pytest.raises(BadOption, match="covariance 0 is no diagonal matrix"):
        api.gaussian_mixture(PLANE, parameters=tilted, covariance="diagonal")
    oblong = {**known, "covariances": [[[4, 0], [0, 4]], [[4, 0], [0, 5]]]}
    with pytest.raises(BadOption, match="covariance 1 has several variances"):
        api.gaussian_mixture(PLANE, parameters=oblong, covariance="spherical")


@pytest.mark.spec("EM-INIT")
def test_responsibilities_to_start_from() -> None:
    hard = [[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 3
    due = api.gaussian_mixture(PLANE, labels="aaabbb", covariance="tied")
    for shares in (hard, np.array(hard)):
        fit = api.gaussian_mixture(PLANE, start=shares, covariance="tied")
        assert (fit.k, fit.start) == (2, "given")
        assert fit.runs[0].start == due.runs[0].start
        assert fit.parameters == due.parameters
    soft = [[0.75, 0.25]] * 3 + [[0.25, 0.75]] * 3
    start = api.gaussian_mixture(PLANE, start=soft, covariance="tied", limit=0).parameters
    assert start.weights == (0.5, 0.5)
    assert start.means[0] == (7 / 3, 2.25)


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ([[0.5, 0.5]], "1 rows of responsibilities to start from, for 6 rows"),
        ([[0.5, 0.6]] * 6, "the responsibilities of row 0 add up to 1.1, or one is negative"),
        ([[1.0, 0.0]] * 6, "component 1 of the responsibilities has weight 0"),
        (5, "start is 5; allowed are kmeans, random, points, varied, or a row of responsibil"),
        ("kmean", "start is 'kmean'; allowed are kmeans"),
    ],
)
def test_starts_that_are_none(start: Any, words: str) -> None:
    with pytest.raises(RefclustError, match=words):
        api.gaussian_mixture(PLANE, start=start, covariance="tied")


def test_one_start_is_enough() -> None:
    with pytest.raises(BadOption, match="a fit starts from responsibilities, labels or parameters"):
        api.gaussian_mixture(PLANE, start=[[0.5, 0.5]] * 6, labels="aaabbb")
    with pytest.raises(BadOption, match="k is 3, but 2 components were given to start from"):
        api.gaussian_mixture(PLANE, 3, start=[[0.5, 0.5]] * 6)
