"""What a saboteur is: a backend with one fault, made to be rejected (chapter 81)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from refclust.backends.builtin import Reference
from refclust.backends.protocol import API_VERSION, Accuracy, Estimate, Problem, Refusal

Functions: TypeAlias = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True, slots=True)
class Saboteur:
    """A backend with one fault, and a word of the message that must tell it."""

    name: str
    word: str
    functions: Functions
    make: Callable[[Any], Any] = Reference().prepare
    refusal: str = ""
    api_version: int = API_VERSION
    accuracy: Accuracy = "exact"
    set_threads: Callable[[int], None] = field(default=lambda _: None)

    def kernels(self) -> Functions:
        """The kernels that are wrong; the rest is left to the reference."""
        return self.functions

    def supports(self, kernel: str, problem: Problem) -> Estimate | Refusal:  # noqa: ARG002
        """Support everything, unless refusing is the fault."""
        return Refusal(self.refusal) if self.refusal else Estimate(math.inf)

    def prepare(self, data: Any) -> Any:
        """What the reference prepares, unless preparing is the fault."""
        return self.make(data)

    def export(self, value: Any) -> Any:
        """Hand over what the kernel made."""
        return value
