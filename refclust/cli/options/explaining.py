"""What is explained, and where it is written, as options of ``refclust explain``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

import typer

from refclust.cli.options.evidence.labelings import Json
from refclust.cli.output import check_output, note, write_file

ExplainedForm: TypeAlias = Literal["text", "markdown", "latex", "json"]


@dataclass(frozen=True, slots=True)
class Page:
    """What the user said about the explanation, as typed; every field is an option of its own."""

    row: Annotated[
        int | None,
        typer.Option("--row", metavar="I", help="Which row em and kmeans follow, from 0. [0]"),
    ] = None
    start: Annotated[
        bool,
        typer.Option("--start", help="kmeans: from the centres that the best run started with."),
    ] = False
    style: Annotated[ExplainedForm, typer.Option("--format", help="How to write it.")] = "text"
    out: Annotated[
        str, typer.Option(metavar="FILE", help="Where to write it; - is standard output.")
    ] = "-"
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it exists.")] = False

    as_json: Json = False

    @property
    def form(self) -> ExplainedForm:
        """How to write it: --json is short for --format json."""
        return "json" if self.as_json else self.style

    def check(self) -> None:
        """Refuse to replace a file before any work is done for it."""
        check_output(self.out, force=self.force)

    def write(self, text: str) -> None:
        """Write the explanation."""
        write_file(self.out, text, force=self.force)
        if self.out != "-":
            from refclust.escape import for_terminal

            note(f"wrote {for_terminal(self.out)}")
