"""The record of a mixture of counts given by means: its law says the rest (chapter 35)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from refclust.data.dataset import Dataset
from refclust.fitting.draws import Draws
from refclust.fitting.rows import Rows
from refclust.kernels.mixtures.shared import Posterior
from refclust.mixture.families.counts.means import (
    Law,
    MeanFamily,
    MeanParameters,
    check_means,
    terms_of,
)
from refclust.mixture.families.counts.parameters import check_whole, shares_of
from refclust.mixture.families.exact import Cell, CountJoint
from refclust.mixture.families.record import FamilyRecord, RowDraw
from refclust.mixture.options import MeansCall
from refclust.mixture.passes import CountPasses


def mean_record(
    law: Law,
    cell: Cell,
    draw: Callable[[Draws, float], int],  # a count of a given mean
    *,
    title: str,
    example: str,
) -> FamilyRecord:
    """The record of a law, with its exact logarithms and its random counts.

    Spec: CM-LL
    """

    def on(rows: Rows, k: int, settings: Mapping[str, Any]) -> MeanFamily:
        return MeanFamily(CountPasses(rows, k), law, settings["m"], shares_of(settings["p"]))

    def posterior(parameters: MeanParameters, rows: Rows, full: bool) -> Posterior:
        check_whole(rows.data)
        passes = CountPasses(rows, len(parameters.weights))
        return passes.posterior(terms_of(parameters, law), full=full)

    def left_out(_: MeanParameters, rows: Dataset) -> list[float]:
        counts = (row.values() if isinstance(row, dict) else row for row in rows.rows())
        return [law.left_out(list(row)) for row in counts]

    def drawn(parameters: MeanParameters, draws: Draws, _length: float | None) -> RowDraw:
        return lambda k: tuple(float(draw(draws, mu)) for mu in parameters.means[k])

    return FamilyRecord(
        name=law.name,
        title=title,
        call=MeansCall,
        parameters=MeanParameters,
        on=on,
        columns=lambda parameters: len(parameters.means[0]),
        check=check_means,
        posterior=posterior,
        left_out=left_out,
        exact=lambda parameters, arithmetic: CountJoint(
            parameters.weights, parameters.means, cell, arithmetic
        ),
        rows=drawn,
        example=example,
        law=law,
    )
