"""The rows of a fit, as seen through the kernels of its session (chapter 80, BK-SESSION)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from refclust.backends.protocol import Problem
from refclust.backends.session import Session
from refclust.data.dataset import Dataset


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows, as seen through the kernels of a session."""

    data: Dataset
    session: Session
    calls: int = 1  # how often a kernel will be called, for whoever chooses a backend

    def call(self, kernel: str, *args: Any, k: int = 1) -> Any:
        """Run a kernel on the rows; k is how many centres they are compared with."""
        size = len(self.data.matrix.values)
        problem = Problem(self.data.kind, self.data.n, size, k, self.calls)
        return self.session.run(kernel, problem, self.data, *args)

    def made_by(self, kernel: str, k: int) -> str:
        """Which backend, of which version, runs a kernel here: the one that will also run it."""
        size = len(self.data.matrix.values)
        problem = Problem(self.data.kind, self.data.n, size, k, self.calls)
        return self.session.bound_to(kernel, problem)

    def row(self, i: int) -> tuple[float, ...]:
        """One row with all its zeros.

        Spec: DATA-SET
        """
        row = self.data.row(i)
        if not isinstance(row, dict):
            return row
        full = [0.0] * self.data.d
        for j, x in row.items():
            full[j] = x
        return tuple(full)
