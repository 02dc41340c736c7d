"""How rows are dealt out to folds, as options of a command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from refclust.errors import BadOption


@dataclass(frozen=True, slots=True)
class Dealing:
    """What the user said about folds, as typed; every field is an option of its own."""

    folds: Annotated[
        int | None,
        typer.Option("--folds", metavar="K", min=2, help="How many folds. [10, or all rows]"),
    ] = None
    leave_one_out: Annotated[
        bool, typer.Option("--leave-one-out", help="As many folds as rows.")
    ] = False
    stratified: Annotated[
        bool, typer.Option("--stratified", help="Deal out every class evenly.")
    ] = False
    repeats: Annotated[
        int, typer.Option("--repeats", metavar="N", min=1, help="Shuffle and deal so often.")
    ] = 1
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Of the shuffles.")] = 0

    def check(self) -> None:
        """Refuse to be told twice how many folds there are."""
        if self.leave_one_out and self.folds is not None:
            raise BadOption("--folds and --leave-one-out both say how many folds; give one of them")
