"""The registry of kernels: one pass over the data each, with a contract to judge replacements.

``@kernel`` records a function and returns it unchanged, so that calling it is always the reference
(chapter 80, BK-KERNEL). Backends are chosen by a session, never here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
class Kernel:
    """One kernel: its name, its reference function and its contract."""

    name: str
    reference: Function
    contract: Contract


_KERNELS: dict[str, Kernel] = {}

KERNELS: Mapping[str, Kernel] = MappingProxyType(_KERNELS)


def kernel(name: str, *, contract: Contract) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Record the decorated function as the reference of a kernel and return it unchanged."""

    def record(function: Callable[P, R]) -> Callable[P, R]:
        if name in _KERNELS:
            raise ValueError(f"the kernel {name!r} is declared twice")
        _KERNELS[name] = Kernel(name, function, contract)
        return function

    return record
