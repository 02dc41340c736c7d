"""``fit.explain(data)``: one iteration worked through, from the fit in hand."""

from __future__ import annotations

from typing import Any

from refclust.cli.commands.explain.em import em_pieces
from refclust.cli.commands.explain.kmeans import kmeans_pieces
from refclust.cli.show.pieces import Worked
from refclust.cluster.results import KMeansFit
from refclust.data.accepting.door import dataset
from refclust.data.align import aligned
from refclust.errors import BadOption
from refclust.mixture.predict import row_number
from refclust.mixture.results import MixtureFit
from refclust.models.classifiers import model_of
from refclust.models.records.clusters import KMeansModel, MixtureModel


def explained(
    fit: Any, data: Any, *, row: int = 0, start: bool = False, backend: str | None = None
) -> Worked:
    """Work one iteration of k-means or EM through, with the numbers of the data.

    ``row`` is the row that is followed; ``start`` begins with the centres that the best run of
    k-means started from.

    Spec: KM-WORKED
    """
    rows = dataset(data)
    if not isinstance(fit, KMeansFit | MixtureFit):
        raise BadOption(
            f"a {type(fit).__name__} has no iteration to work through; k-means and mixtures have"
        )
    model = model_of(fit, data=rows if rows.digest() == fit.digest else None)
    rows, _ = aligned(rows, fit.features, fit.d)
    row_number(row, rows.n)
    if isinstance(model, KMeansModel):
        return Worked(tuple(kmeans_pieces(model, rows, row, start, "start=True")))
    assert isinstance(model, MixtureModel)
    if start:
        raise BadOption(
            "start=True belongs to k-means; the start of a mixture is fit.runs[i].start"
        )
    return Worked(tuple(em_pieces(model, rows, row, backend)))
