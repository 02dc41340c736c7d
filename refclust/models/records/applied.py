"""What every model can do: predict, describe, be saved, be shown (chapter 11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from refclust.fitting.fitted import above
from refclust.shown.page import Fact, Shown, Summary, sized

if TYPE_CHECKING:
    import os


class Applied(Shown):
    """A model in the hand of whoever loaded it."""

    __slots__ = ()

    if TYPE_CHECKING:
        params: Any
        data: Any

    @property
    def _algorithm(self) -> str:
        return str(getattr(self, "algorithm"))  # noqa: B009  (of the class or of the object)

    def _summary(self) -> Summary:
        size = sized(self.data.n, self.data.d)
        name = type(self).__name__
        facts: list[Fact] = [("algorithm", self._algorithm), ("data", size)]
        k = getattr(self.params, "k", None)
        facts += [] if k is None else [("k", k)]
        return Summary(name, f"{self._algorithm} of {size}", tuple(facts))

    def predict(self, data: Any, **options: Any) -> Any:
        """Put rows into clusters, components or classes: ``refclust.predict``.

        Spec: MODEL-PREDICT
        """
        return above("models.predict", "predict")(self, data, **options)

    def describe(self, data: Any = None, **options: Any) -> Any:
        """Say what is in each cluster: ``refclust.describe``.

        Spec: DESC-SHARE
        """
        return above("models.describe", "describe")(self, data, **options)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the model file: ``refclust.save_model``.

        Spec: MODEL-DOC
        """
        above("models.classifiers", "save_model")(path, self, force=force)
