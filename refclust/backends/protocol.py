"""What a backend is, in types (chapter 80).

A backend is any object with these members; nothing has to be inherited.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeAlias

API_VERSION: Final = 1

Accuracy: TypeAlias = Literal["exact", "bounded"]


@dataclass(frozen=True, slots=True)
class Problem:
    """The facts known before a kernel runs; enough to choose a backend, too few to validate."""

    kind: str  # what the data are: "labels", "margins", "dense", "sparse", "distances"
    n: int
    size: int = 0  # a second extent: distinct pairs of margins, numbers stored in the rows
    k: int = 0  # clusters or centres
    calls: int = 1  # how often the kernel will be called, more or less
    # Whether the estimate may look at nothing but this problem: as in a new process in which
    # nothing was imported, and on a machine where all that can be kept on the disk is there.
    steady: bool = False
    traits: frozenset[str] = frozenset()  # what else is special about it (see ``traits``)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A backend can run the kernel, in about this many seconds, getting ready included."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Refusal:
    """A backend cannot run the kernel on this problem."""

    reason: str


class Backend(Protocol):
    """A named set of kernels that keep their contracts.

    Optional members are ``threads(n)``, ``set_threads(n)``, ``decided(prepared)`` and ``build()``,
    which names the build in words: what else than the installed files the compiled code depends on.
    """

    @property
    def name(self) -> str:
        """The name by which users ask for it."""

    @property
    def api_version(self) -> int:
        """The version of this protocol it was written for."""

    @property
    def accuracy(self) -> Accuracy:
        """``exact`` if every kernel keeps its contract to the letter; ``auto`` takes no other."""

    def kernels(self) -> Mapping[str, Callable[..., Any]]:
        """Return its kernels by name; called once, when the first of them is needed."""

    def supports(self, kernel: str, problem: Problem) -> Estimate | Refusal:
        """Say how long the kernel would take on such a problem, or why it cannot run."""

    def prepare(self, data: Any) -> Any:
        """Convert the data once per session; kernels get what this returns."""

    def export(self, value: Any) -> Any:
        """Turn the result of a kernel into plain Python objects."""
