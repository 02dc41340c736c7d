"""An iteration worked through by the definitions is the one that a fit makes from its start."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refclust.cli.commands.explain.kmeans import Iteration
from refclust.cli.commands.explain.kmeans import SeenRows as Rows
from refclust.cli.commands.explain.kmeans_start import drawn_again, missing
from refclust.cluster.fit import kmeans
from refclust.cluster.results import KMeansFit
from refclust.data.dataset import Dataset
from refclust.errors import KOutOfRange
from refclust.models.clusters import model_of
from refclust.models.records.clusters import KMeansModel
from refclust.numbers.real import Real
from tests.cluster.strategies import DECIMALS, KINDS, POLICIES, STARTS, TIES, Case, cases
from tests.metrics.strategies import some

METRICS = st.sampled_from(["euclidean", "cosine"])
ROWS = cases(st.sampled_from([TIES, DECIMALS]), most=6, directions=True)


def worked(fit: KMeansFit, data: Dataset) -> tuple[KMeansModel, Rows]:
    model = model_of(fit, data=data)
    assert isinstance(model, KMeansModel)
    return model, Rows.of(model, data)


def nonzero(vector: Any) -> dict[int, float]:
    places = vector.items() if isinstance(vector, dict) else enumerate(vector)
    return {j: x for j, x in places if x}


@pytest.mark.spec("KM-WORKED", "KM-INIT", "KM-RESTART")
@some(25)
@given(ROWS, KINDS, METRICS, st.sampled_from(STARTS), st.integers(0, 99), st.integers(1, 3))
def test_a_start_can_be_drawn_again(
    case: Case, kind: str, metric: Any, start: str, seed: int, restarts: int
) -> None:
    """What a model file tells is enough to find the first centres of the best run."""
    data = case.data(kind)
    told: Any = {"start": start, "metric": metric, "seed": seed, "restarts": restarts}
    try:
        fit = kmeans(data, len(case.centres), **told)
    except KOutOfRange:
        return
    model, rows = worked(fit, data)
    assert missing(model, same=True) == ""
    begun = drawn_again(model, rows.seen, rows.x, rows.w)
    assert begun.centres == rows.vectors(fit.runs[fit.best].first.rows())


@pytest.mark.spec("KM-WORKED", "KM-ALG", "KM-EMPTY", "KM-RSS", "KM-COSOBJ")
@some(25)
@given(ROWS, KINDS, METRICS, st.sampled_from(POLICIES))
def test_the_iteration_is_that_of_a_fit(case: Case, kind: str, metric: Any, empty: Any) -> None:
    """Labels, centres, sums of squares and the labels after them, bit for bit."""
    data = case.data(kind)
    given_rows = Case(case.centres, None, case.centres).data(kind)
    told: Any = {"centres": given_rows, "metric": metric, "empty": empty, "trace": "full"}
    fit = kmeans(data, limit=1, **told)
    model, rows = worked(fit, data)
    one = Iteration.of(model, rows, 0, rows.vectors(case.centres))
    made = fit.trace[0]
    assert made.labels is not None
    assert [*made.labels] == [*one.labels]
    assert [*map(nonzero, one.after)] == [*map(nonzero, fit.centres)]
    assert [*fit.labels] == [*one.following]
    before, kept = one.objective(one.labels, one.before), [one.kept[y] for y in one.labels]
    after = one.objective(kept, one.after)
    if metric == "cosine":
        assert float(Real(before)) == made.cosine
        assert float(Real(one.objective(one.following, one.after))) == fit.cosine
    else:
        assert (float(Real(before)), float(Real(after))) == (made.rss, made.rss_updated)
        assert before >= after >= one.objective(one.following, one.after)
