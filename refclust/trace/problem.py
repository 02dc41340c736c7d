"""One thing that tracing finds wrong (tracing, no chapter)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TraceProblem:
    """One hole, wrong citation or drift; ``code`` is stable, ``message`` is one clear line.

    ``clauses`` are those it concerns, as far as the message does not name them.
    """

    code: str
    file: str
    line: int
    message: str
    clauses: tuple[str, ...] = ()

    def text(self) -> str:
        """The problem as one line that editors can jump to."""
        return f"{self.file}:{self.line}: {self.message} [{self.code}]"

    def plain(self) -> dict[str, object]:
        """The problem as JSON can hold it."""
        return {
            "code": self.code,
            "file": self.file,
            "line": self.line,
            "message": self.message,
        }
