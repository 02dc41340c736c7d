"""The backend ``template``: what every backend has, and nothing more."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from refclust.backends.protocol import API_VERSION, Accuracy, Estimate, Problem, Refusal
from refclust.data.dataset import Dataset

# About how long one label or one number takes here. Measure yours: ``auto`` takes the fastest
# backend by these figures, and getting ready (importing, compiling, copying) belongs to them.
_SECONDS: Final = {"contingency.table": 2e-7, "kmeans.squares": 2e-6}


class TemplateBackend:
    """Two kernels in plain Python; refclust runs the others on the reference."""

    name: Final = "template"
    api_version: Final = API_VERSION
    accuracy: Final[Accuracy] = "exact"

    def kernels(self) -> Mapping[str, Callable[..., Any]]:
        """Return the kernels by name; import a heavy library here, not above."""
        from refclust_template import kernels

        return {"contingency.table": kernels.table, "kmeans.squares": kernels.squares}

    def supports(self, kernel: str, problem: Problem) -> Estimate | Refusal:
        """Say how long a kernel will take; a refusal is for what cannot be done at all."""
        if kernel not in _SECONDS:
            return Refusal("it has no such kernel")
        if problem.n > 2**31:
            return Refusal("it counts rows with 31 bits")
        # An honest estimate would be _SECONDS[kernel] times the size of the problem. A template is
        # not there to be chosen, so it says that it takes for ever.
        return Estimate(math.inf)

    def prepare(self, data: Any) -> Any:
        """Convert the data once; every kernel of a fit gets what this returns."""
        if isinstance(data, Dataset):
            from refclust_template.kernels import PreparedRows

            return PreparedRows(data)
        return data  # labels, margins and distances are fine as they are

    def export(self, value: Any) -> Any:
        """Return plain results; results that live on another device are fetched here."""
        return value
