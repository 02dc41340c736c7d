"""A session that runs on the reference and lets a backend make every call beside it.

Each answer of the backend is judged by the contract of its kernel, in the very state in which the
fit is. So a fit whose last bits may differ between backends is held to account call by call.
"""

from __future__ import annotations

from typing import Any

from refclust.backends.protocol import Backend, Problem, Refusal
from refclust.backends.session import Session
from refclust.data.dataset import Dataset
from refclust.errors import RefclustError
from refclust.kernels.points import Points
from refclust.kernels.registry import KERNELS


class Departure(Exception):
    """A kernel of the backend broke its contract in the middle of a fit."""


class Beside(Session):
    """The reference, and beside it a backend under judgement."""

    def __init__(self, backend: Backend) -> None:
        super().__init__("reference")
        self._judged = backend
        self._made: dict[int, tuple[Any, Any]] = {}
        self.calls = 0

    def run(self, kernel: str, problem: Problem, data: Any, *args: Any) -> Any:
        """Answer as the reference does; the backend's answer must keep the contract."""
        try:
            due: Any = super().run(kernel, problem, data, *args)
        except RefclustError as error:
            due = error
        self._judge(kernel, problem, data, args, due)
        if isinstance(due, RefclustError):
            raise due
        return due

    def _judge(self, kernel: str, problem: Problem, data: Any, args: Any, due: Any) -> None:
        backend = self._judged
        function = backend.kernels().get(kernel)
        if function is None or isinstance(backend.supports(kernel, problem), Refusal):
            return
        if id(data) not in self._made:
            self._made[id(data)] = data, backend.prepare(data)
        self.calls += 1
        try:
            answer = backend.export(function(self._made[id(data)][1], *args))
        except RefclustError as error:
            if not isinstance(due, RefclustError) or due.code != error.code:
                raise Departure(
                    f"{kernel}: {error.code} ({error}) instead of {due!r:.200}"
                ) from error
            return
        if isinstance(due, RefclustError):
            raise Departure(f"{kernel}: an answer instead of the error {due.code}")
        contract = KERNELS[kernel].contract
        judged = getattr(contract, "judged", None)
        fault = contract.malformed(answer) or (
            judged(Points(data) if isinstance(data, Dataset) else data, args, due, answer)
            if judged
            else contract.fault(due, answer)
        )
        if fault:
            raise Departure(f"{kernel}: {fault}")
