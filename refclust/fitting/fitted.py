"""What every fit can do beside holding its numbers: predict, describe, explain, be saved, be shown.

These rooms stand above the fits, so they are looked up by their names when they are called.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from refclust.data.frames import joined
from refclust.shown.page import Shown

if TYPE_CHECKING:
    import os


def above(place: str, name: str) -> Any:
    """A function of a room that stands above this one."""
    return getattr(importlib.import_module(f"refclust.{place}"), name)


class WithLabels(Shown):
    """What has a label for each row, and hands them to NumPy and pandas."""

    __slots__ = ()

    if TYPE_CHECKING:
        labels: Any

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """The labels, for NumPy: ``numpy.asarray(fit)``."""
        view = memoryview(self.labels).toreadonly()
        return {"version": 3, "shape": (len(view),), "typestr": f"=i{view.itemsize}", "data": view}

    def _columns(self) -> dict[str, Any]:
        """What is known of each row, by the names of columns."""
        return {"cluster": self.labels}


class Predicted(WithLabels):
    """What is said of rows: a sequence of their labels, with more around it."""

    __slots__ = ()

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, i: int) -> Any:
        return self.labels[i]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.labels)

    def to_frame(self, data: Any = None) -> Any:
        """A ``pandas.DataFrame`` of what is known of each row, beside the columns of a frame."""
        return joined(data, self._columns())


class Fitted(WithLabels):
    """What a fit offers to whoever has it in hand."""

    __slots__ = ()

    def predict(self, data: Any, **options: Any) -> Any:
        """Put rows into clusters, components or classes: ``refclust.predict``.

        Spec: MODEL-PREDICT
        """
        return above("models.predict", "predict")(self, data, **options)

    def describe(self, data: Any = None, **options: Any) -> Any:
        """Say what is in each cluster: ``refclust.describe``.

        Spec: DESC-SHARE, DESC-SPREAD, DESC-TOP, DESC-NEAR
        """
        return above("models.describe", "describe")(self, data, **options)

    def explain(self, data: Any, *, row: int = 0, **options: Any) -> Any:
        """Work one iteration through with the numbers of the data, from where the fit ended.

        Spec: KM-WORKED
        """
        return above("cli.commands.explain.fits", "explained")(self, data, row=row, **options)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the fit as a model file: ``refclust.save_model``.

        Spec: MODEL-DOC
        """
        above("models.classifiers", "save_model")(path, self, force=force)

    def to_frame(self, data: Any = None) -> Any:
        """A ``pandas.DataFrame`` with the cluster of each row; of data what is said of its rows.

        A frame of data comes back with all its columns, and with those of the fit behind them.

        Spec: MODEL-PREDICT
        """
        if data is None:
            return joined(None, self._columns())
        return self.predict(data).to_frame(data)
