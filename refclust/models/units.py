"""New rows given in Python, prepared as those of a fit were (chapter 07, PREP-MODEL)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from refclust.data.accepting.door import dataset
from refclust.data.align import aligned
from refclust.data.dataset import Dataset
from refclust.data.preparing import frames
from refclust.data.preparing.reading import places_of
from refclust.data.preparing.scales import scaled
from refclust.data.preparing.tables import frame_of
from refclust.models.clusters import preparation_of

_NOTHING: Final = frames.Beside()


def as_fitted(fit: object, data: Any) -> Any:
    """Rows in the units of the user brought to those of a fit or a model.

    Rows that carry the preparation already, and all rows of a fit without one, stay as they are.

    Spec: PREP-MODEL

    >>> from refclust.cluster.fit import kmeans
    >>> from refclust.data.preparing.call import prepare
    >>> fit = kmeans(prepare([[0, 10], [2, 30]], scale="range"), 1)
    >>> as_fitted(fit, [[1, 40]]).row(0)
    (0.5, 1.5)
    """
    plan = preparation_of(fit)
    if plan is None or (isinstance(data, Dataset) and data.preparation == plan):
        return data
    if plan.columns is not None:
        frame = frame_of(data)
        around = frames.Beside(data.ids, data.labels) if isinstance(data, Dataset) else _NOTHING
        return frames.applied(plan, frame, around, places_of(plan, frame))
    rows = dataset(data)
    facts: Any = getattr(fit, "data", None) or fit
    known, _ = aligned(rows, facts.features, facts.d)
    assert plan.scale is not None
    return replace(scaled(known, plan.scale), preparation=plan)
