"""The registry of kernels: one pass over the data each, with a contract to judge replacements.

``@kernel`` records a function and returns it unchanged, so that calling it is always the reference
(chapter 80, BK-KERNEL). Backends are chosen by a session, never here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

Function = Callable[..., Any]


class Contract(Protocol):
    """What a replacement of a kernel must keep."""

    @property
    def name(self) -> str:
        """The name by which the specification knows the contract."""

    def malformed(self, answer: Any) -> str | None:
        """Say why an answer is not of the right kind, whatever its value, or return ``None``."""

    def fault(self, reference: Any, answer: Any) -> str | None:
        """Say what is wrong with an answer, given the reference's, or return ``None``."""


@dataclass(frozen=True, slots=True)
class Merge:
    """How the answers for parts of the rows make the answer for all of them.

    ``join`` takes at least one answer and changes none. It is exact: what is summed is summed as
    rationals, what is told row by row stands one after another. ``ordered`` says that the order of
    the parts is then that of the rows; sums do not depend on it.

    Spec: BK-MERGE
    """

    join: Callable[[Sequence[Any]], Any]
    ordered: bool = False

    def __call__(self, parts: Sequence[Any]) -> Any:
        """The answer for the rows of all parts together."""
        return self.join(parts)


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel: its name, its reference function, its contract, and how parts are merged.

    Without a merge the answer is not made of answers for parts of the rows.
    """

    name: str
    reference: Function
    contract: Contract
    merge: Merge | None = None


_KERNELS: dict[str, Kernel] = {}

KERNELS: Mapping[str, Kernel] = MappingProxyType(_KERNELS)


def kernel(
    name: str, *, contract: Contract, merge: Merge | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Record the decorated function as the reference of a kernel and return it unchanged."""

    def record(function: Callable[P, R]) -> Callable[P, R]:
        if name in _KERNELS:
            raise ValueError(f"the kernel {name!r} is declared twice")
        _KERNELS[name] = Kernel(name, function, contract, merge)
        return function

    return record
