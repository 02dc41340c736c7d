"""The options that fits share: what is written where, how a fit is kept, and how it is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from refclust.cli.commands.fit import running
from refclust.cli.commands.fit.files import Outputs
from refclust.cli.options.evidence.labelings import BackendName, Json
from refclust.cli.options.groups import spelled
from refclust.cli.show.spreadsheets import SpreadsheetSafe
from refclust.fitting.options import SEED

if TYPE_CHECKING:
    from refclust.fitting.checkpoint import Checkpoint

Fit = TypeVar("Fit")

Seed = Annotated[int, spelled(SEED)]
ModelFile = Annotated[
    str | None, typer.Option("--model", "-o", metavar="FILE", help="Write the model, as JSON.")
]
LabelsFile = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="Write the cluster of each row: .csv, .tsv or .jsonl; - is standard output.",
    ),
]
OutputFile = Annotated[
    str | None,
    typer.Option(
        "--output",
        metavar="FILE",
        help="Write your own rows with cluster and distance, or probabilities, added: .csv, .tsv "
        "or .jsonl; - is standard output.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]


@dataclass(frozen=True, slots=True)
class Files:
    """What a fit writes and where it is kept, as typed; a command leaves out what it has not."""

    model: ModelFile = None
    labels: LabelsFile = None
    output: OutputFile = None
    spreadsheet_safe: SpreadsheetSafe = False
    merges: Annotated[
        str | None,
        typer.Option("--merges", metavar="FILE", help="Write the table of merges, as CSV."),
    ] = None
    trace: Annotated[
        str | None,
        typer.Option(
            "--trace", metavar="FILE", help="Write the iterations of the best run, as CSV."
        ),
    ] = None
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint",
            metavar="FILE",
            help="Where a fit that is interrupted is kept. [the name of --model and .checkpoint]",
        ),
    ] = None
    checkpoint_every: Annotated[
        float, typer.Option("--checkpoint-every", metavar="SECONDS", help="How often it is kept.")
    ] = 30.0
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where the checkpoint ends, to the same result.")
    ] = False
    force: Force = False
    backend: BackendName = None
    check: Annotated[
        bool,
        typer.Option("--check", help="Check the fit again: a sample of rows and one full step."),
    ] = False
    certify: Annotated[
        bool, typer.Option("--certify", help="Enclose the exact log-likelihood, to 30 digits.")
    ] = False
    as_json: Json = False

    @property
    def outputs(self) -> Outputs:
        """The files to write."""
        table = self.trace if self.merges is None else self.merges
        return Outputs(
            self.model, self.labels, table, self.force, self.spreadsheet_safe, self.output
        )

    @property
    def kept(self) -> str | None:
        """Where the checkpoint lies: where it was said, else beside the model."""
        beside = None if self.model is None else self.model + running.ENDING
        return beside if self.checkpoint is None else self.checkpoint

    def refuse(self, inputs: list[str | None]) -> None:
        """Refuse what could not be written at the end, or would destroy something."""
        self.outputs.check(inputs=inputs, as_json=self.as_json)
        running.check_checkpoint(
            self.kept,
            self.checkpoint_every,
            resume=self.resume,
            force=self.force,
            others=[*inputs, self.model, self.labels, self.trace, self.output],
        )

    def run(self, fit: Callable[[running.Live, Checkpoint | None], Fit]) -> Fit:
        """Run a fit to its end; an interrupt leaves its checkpoint and tells how to go on."""

        def begun(live: running.Live) -> Fit:
            every, resume = self.checkpoint_every, self.resume
            return fit(live, running.checkpoint_of(self.kept, every, resume=resume))

        return running.run(begun, self.kept)
