"""A function of the room that is no metric, and the names of its arguments in the input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

Functions: TypeAlias = Mapping[str, tuple[Callable[..., Any], tuple[str, ...]]]

WHOLE: Final = "the evidence"  # in place of names: what the case gives, as a metric gets it
