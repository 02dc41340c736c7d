"""The rows of a fit, as seen through the kernels of its session (chapter 80, BK-SESSION)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
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

    def problem(self, k: int = 1) -> Problem:
        """What is known of a call before it is made; k is how many centres there are."""
        return Problem(self.data.kind, self.data.n, len(self.data.matrix.values), k, self.calls)

    def kernel(self, name: str, k: int = 1) -> Callable[..., Any]:
        """A kernel on these rows: called with the arguments that follow them."""
        return partial(self.session.run, name, self.problem(k), self.data)

    def call(self, kernel: str, *args: Any, k: int = 1) -> Any:
        """Run a kernel on the rows once."""
        return self.session.run(kernel, self.problem(k), self.data, *args)

    def made_by(self, kernel: str, k: int) -> str:
        """Which backend, of which version, runs a kernel here: the one that will also run it."""
        return self.session.bound_to(kernel, self.problem(k))

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
