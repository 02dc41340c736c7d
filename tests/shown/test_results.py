"""Results in a notebook: a short line, HTML that holds no foreign markup, frames and arrays."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
from array import array
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import refclust
from refclust.errors import BadOption, IndexOutOfRange, MissingPlugin
from refclust.fitting.labels import Labels
from tests.shown import ROWS, TRUTH

EVIL = "<script>alert('x')</script>"


def results() -> dict[str, Any]:
    """One result of every kind."""
    kmeans = refclust.kmeans(ROWS, 3)
    gaussian = refclust.gaussian_mixture(ROWS, 3)
    qda = refclust.qda(ROWS, TRUTH)
    score = refclust.nmi(TRUTH, kmeans.labels)
    return {
        "kmeans": kmeans,
        "run": kmeans.runs[0],
        "bisecting": refclust.bisecting(ROWS, 3),
        "tree": refclust.agglomerative(ROWS, k=3),
        "gaussian": gaussian,
        "gaussian run": gaussian.runs[0],
        "multinomial": refclust.multinomial_mixture([[3, 0, 1], [0, 2, 2]] * 50, 2),
        "beliefs": refclust.variational_gaussian(ROWS, 2),
        "classifier": qda,
        "naive Bayes": refclust.naive_bayes([[3, 1], [0, 4]], ["ham", EVIL]),
        "prediction": kmeans.predict(ROWS),
        "assignments": gaussian.predict(ROWS, full=True),
        "classified": qda.predict(ROWS),
        "sample": gaussian.sample(50),
        "description": kmeans.describe(ROWS),
        "selection": refclust.select(ROWS, k=[1, 2, 3]),
        "crossval": refclust.crossval("lda", ROWS, TRUTH, folds=3),
        "validated": refclust.crossval("lda", ROWS, TRUTH, folds=3).models[0],
        "model": refclust.model_of(kmeans),
        "mixture model": refclust.model_of(gaussian),
        "score": score,
        "undefined": refclust.ari("aaa", "xxx"),
        "scores": refclust.score_all([EVIL, "a", "a"], "xyx"),
        "internal scores": refclust.score_clustering(ROWS[:30], TRUTH[:10] * 3),
        "explanation": refclust.nmi([EVIL, "a", "a"], ["x", EVIL, EVIL]).explain(),
        "report": refclust.classification_report([EVIL, "a"], ["a", EVIL]),
        "clause": refclust.clause("NMI-GEO"),
        "bare clause": refclust.clause("NMI-GEO").clause,
        "worked k-means": kmeans.explain(ROWS),
        "worked EM": gaussian.explain(ROWS),
    }


RESULTS = results()


@pytest.mark.parametrize("name", RESULTS)
def test_a_line_and_html(name: str) -> None:
    result = RESULTS[name]
    if name not in ("scores", "internal scores"):
        assert len(repr(result)) < 300
        assert "\n" not in repr(result)
    shown = result._repr_html_()
    assert "<script" not in shown
    assert " src=" not in shown
    ElementTree.fromstring(f"<all>{shown}</all>")


@pytest.mark.parametrize("name", ["scores", "explanation", "report", "naive Bayes"])
def test_foreign_text_is_text(name: str) -> None:
    shown = RESULTS[name]._repr_html_()
    if name != "scores":
        assert "&lt;script&gt;" in shown
    assert EVIL not in shown


def test_lines() -> None:
    assert repr(RESULTS["classifier"]) == "<Classifier: qda, 3 classes of 150 rows, 2 columns>"
    assert repr(RESULTS["prediction"]) == "<Prediction: 150 rows in 3 clusters>"
    assert repr(RESULTS["model"]) == "<KMeansModel: kmeans of 150 rows, 2 columns>"
    assert repr(RESULTS["clause"]) == "<Clause NMI-GEO: Normalised mutual information>"
    assert repr(RESULTS["kmeans"]).startswith("<KMeansFit: 3 clusters of 150 rows, 2 columns; RSS ")


def test_a_fit_of_two_thousand_rows_is_a_line() -> None:
    draws = random.Random(3)
    rows = [[draws.random() + 5 * (i % 2)] for i in range(2000)]
    fit = refclust.gaussian_mixture(rows, 2)
    assert len(repr(fit)) < 200
    assert len(repr(fit.labels)) < 200
    assert len(fit._repr_html_()) < 5000


def test_scores_are_a_dict() -> None:
    scores = refclust.score_all("aab", "xyx")
    assert isinstance(scores, dict)
    assert scores.to_frame().loc["rand", "value"] == float(scores["rand"])


# -- what people look for -------------------------------------------------------------------------


@pytest.mark.spec("MS-BIC", "MS-AIC")
def test_criteria_of_a_fit() -> None:
    fit = RESULTS["gaussian"]
    due = refclust.criteria(fit, ROWS)
    assert (fit.bic, fit.aic) == (due.bic, due.aic)
    with pytest.raises(BadOption, match="BIC belongs to a fit by maximum likelihood"):
        _ = RESULTS["beliefs"].bic


def test_a_fit_predicts_describes_and_draws() -> None:
    kmeans, gaussian = RESULTS["kmeans"], RESULTS["gaussian"]
    assert kmeans.predict(ROWS).labels == kmeans.labels
    assert gaussian.predict(ROWS).labels == gaussian.labels
    assert kmeans.describe().clusters == refclust.describe(kmeans).clusters
    assert [each.size for each in gaussian.describe(ROWS).clusters] == [50, 50, 50]
    assert gaussian.sample(4, seed=2).rows == (
        refclust.sample(gaussian.parameters, 4, family="gaussian", seed=2).rows
    )
    assert refclust.sample(gaussian, 4, seed=2).rows == gaussian.sample(4, seed=2).rows


@pytest.mark.spec("EM-PRED")
def test_responsibilities_are_rows() -> None:
    fit, made = RESULTS["gaussian"], RESULTS["assignments"]
    rows = fit.responsibilities(ROWS)
    assert len(rows) == 150
    assert rows == made.responsibilities()
    assert rows[7] == made.responsibilities(7)
    assert rows[7] == made.responsibilities(np.int64(7))
    classes = RESULTS["classifier"].responsibilities(ROWS)
    assert classes[3] == RESULTS["classifier"].predict(ROWS, full=True).responsibilities(3)


@pytest.mark.parametrize("row", [-1, 150, np.int64(-1)])
def test_a_row_that_is_not_there(row: Any) -> None:
    message = f"there is no row {int(row)}; the rows are 0 to 149"
    for call in (RESULTS["assignments"].responsibilities, RESULTS["assignments"].entropy):
        with pytest.raises(IndexOutOfRange, match=message):
            call(row)
    classified = RESULTS["classifier"].predict(ROWS, full=True)
    with pytest.raises(IndexOutOfRange, match=message):
        classified.responsibilities(row)


def test_a_row_that_is_no_number() -> None:
    with pytest.raises(BadOption, match="the row is 'a'; a whole number from 0 to 149"):
        RESULTS["assignments"].responsibilities("a")


def test_explanations_of_fits() -> None:
    worked = RESULTS["kmeans"].explain(ROWS, row=3, start=True)
    assert "Assignment, row 3" in str(worked)
    assert r"\subsection*{Update}" in worked.latex()
    assert "## M-step" in RESULTS["gaussian"].explain(ROWS).markdown()
    with pytest.raises(BadOption, match="no iteration to work through"):
        RESULTS["tree"].explain(ROWS)
    with pytest.raises(BadOption, match="start=True belongs to k-means"):
        RESULTS["gaussian"].explain(ROWS, start=True)
    with pytest.raises(IndexOutOfRange):
        RESULTS["kmeans"].explain(ROWS, row=150)


# -- NumPy and pandas -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kmeans", "bisecting", "gaussian", "prediction", "tree"])
def test_a_fit_is_an_array_of_labels(name: str) -> None:
    result = RESULTS[name]
    labels = np.asarray(result)
    assert labels.dtype == np.int32
    assert labels.tolist() == list(result.labels)
    assert labels.flags.writeable is False
    assert np.eye(3)[np.asarray(result)].shape == (150, 3)


def test_an_uncut_tree_is_no_array() -> None:
    tree = refclust.agglomerative(ROWS[:5])
    with pytest.raises(AttributeError, match="the tree was not cut"):
        _ = tree.__array_interface__


def test_labels_group_rows() -> None:
    fit = RESULTS["kmeans"]
    rows = pd.DataFrame(ROWS, columns=["a", "b"], index=[f"r{i}" for i in range(150)])
    sizes = rows.groupby(fit.labels).size()
    assert sizes.tolist() == [int(size) for size in fit.sizes]
    assert rows.a.groupby(fit.labels).mean().tolist() == pytest.approx(
        [centre[0] for centre in fit.centres], rel=1e-12
    )
    assert rows.assign(c=fit.labels).c.tolist() == fit.labels.tolist()
    rows["c"] = fit.predict(ROWS)
    assert rows.c.tolist() == fit.labels.tolist()
    assert np.asarray(ROWS)[fit.labels].shape == (150, 2)
    assert pd.crosstab(fit.labels, TRUTH).to_numpy().sum() == 150


def test_labels_are_an_array_all_the_same() -> None:
    labels = Labels([2, 0, 1])
    assert labels == array("i", [2, 0, 1])
    assert (memoryview(labels).format, labels[1:]) == ("i", array("i", [0, 1]))
    for other in (pickle.loads(pickle.dumps(labels)), copy.copy(labels), copy.deepcopy(labels)):
        assert type(other) is Labels
        assert other == labels
    assert (
        repr(Labels(range(2000))) == "array('i', [0, 1, 2, ..., 1997, 1998, 1999])  # 2,000 labels"
    )
    with pytest.raises(TypeError):
        labels.__class__ = list


def test_frames() -> None:
    rows = pd.DataFrame(ROWS, columns=["a", "cluster"], index=[f"r{i}" for i in range(150)])
    whole = RESULTS["gaussian"].to_frame(rows)
    assert list(whole.columns) == ["a", "cluster", "cluster_", "p0", "p1", "p2", "log_likelihood"]
    assert whole.index.equals(rows.index)
    assert whole.cluster_.tolist() == RESULTS["gaussian"].labels.tolist()
    assert whole[["p0", "p1", "p2"]].to_numpy().tolist() == [
        list(row) for row in RESULTS["gaussian"].responsibilities(ROWS)
    ]
    assert RESULTS["kmeans"].to_frame().shape == (150, 1)
    assert list(RESULTS["tree"].to_frame().columns) == ["a", "b", "height", "size"]
    assert list(RESULTS["tree"].to_frame(rows).columns) == ["a", "cluster", "cluster_"]
    assert RESULTS["classified"].to_frame()["class"].tolist() == list(RESULTS["classified"].labels)
    assert RESULTS["selection"].to_frame().k.tolist() == [1, 2, 3]
    assert RESULTS["crossval"].to_frame().rate.tolist() == [
        float(rate) for rate in RESULTS["crossval"].models[0].rates
    ]
    assert RESULTS["report"].to_frame().loc["micro", "support"] == 2.0
    assert RESULTS["description"].to_frame()["size"].tolist() == [50.0, 50.0, 50.0]
    assert RESULTS["sample"].to_frame().shape == (50, 3)


def test_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPlugin, match="pandas is not installed"):
        RESULTS["kmeans"].to_frame()


def test_importing_loads_nothing() -> None:
    code = (
        "import sys, refclust\n"
        "ours = sorted(name for name in sys.modules if name.startswith('refclust'))\n"
        "assert ours == ['refclust', 'refclust.version'], ours\n"
        "refclust.kmeans([[0], [1], [5]], 2)._repr_html_()\n"
        "assert not {'numpy', 'pandas', 'typer'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"REFCLUST_BACKEND": "reference"})


def test_everything_is_importable_from_refclust() -> None:
    for name in dir(refclust):
        assert getattr(refclust, name) is not None
    assert refclust.ari is refclust.adjusted_rand
    with pytest.raises(AttributeError, match="did you mean kmeans"):
        _ = refclust.kmean
