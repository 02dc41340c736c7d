"""How a run of ``refclust bench`` inside the test process ended."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Done:
    """Exit code, stdout and stderr."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """What was printed, which must be one JSON value and nothing else."""
        return json.loads(self.out)


Bench = Callable[..., Done]
