"""The options that all mixtures share: the start, the loop, and what is written where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from refclust.cli.commands.fit import running as fit_run
from refclust.cli.options import fit as opt
from refclust.cli.options import label_files
from refclust.cli.options.labelings import BackendName, Json
from refclust.cli.show.spreadsheets import SpreadsheetSafe
from refclust.errors import BadOption
from refclust.escape import for_terminal

if TYPE_CHECKING:
    from refclust.cli.options.data import Given
    from refclust.data.dataset import Dataset

StartName: TypeAlias = Literal["kmeans", "random", "points", "varied"]
VariationName: TypeAlias = Literal["em", "hard", "top", "generalized", "stochastic", "monte-carlo"]
PolicyName: TypeAlias = Literal["end", "drop", "reset"]

K = Annotated[
    int | None, typer.Option("-k", "--components", metavar="K", help="How many components.")
]


@dataclass(frozen=True, slots=True)
class EMGiven:
    """What the user said about the EM loop, as typed; every field is an option of its own."""

    start: Annotated[
        StartName | None,
        typer.Option("--start", help="Where to begin. [kmeans for numbers, points for counts]"),
    ] = None
    start_labels: Annotated[
        str | None,
        typer.Option(
            "--start-labels",
            metavar="FILE[:COLUMN]",
            help="Start from these groups, one label per row.",
        ),
    ] = None
    start_model: Annotated[
        str | None,
        typer.Option(
            "--start-model", metavar="MODEL", help="Start from the parameters of a model."
        ),
    ] = None
    variation: Annotated[
        VariationName, typer.Option("--variation", help="Which EM; hard is classification EM.")
    ] = "em"
    top: Annotated[
        int | None,
        typer.Option("--top", metavar="M", help="Components a row keeps under --variation top."),
    ] = None
    samples: Annotated[
        int | None,
        typer.Option("--samples", metavar="S", help="Draws for each row of monte-carlo. [10]"),
    ] = None
    damping: Annotated[
        float | None,
        typer.Option("--damping", metavar="D", help="Share of the way of generalized EM. [0.5]"),
    ] = None
    seed: opt.Seed = 0
    restarts: opt.Restarts = 1
    tolerance: Annotated[
        float | None,
        typer.Option(
            "--tolerance",
            metavar="T",
            help="Stop when the objective gains no more than this for each row. [1e-08]",
        ),
    ] = None
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            metavar="N",
            help="The largest number of iterations of a run. [1000; 100 if components are drawn]",
        ),
    ] = None
    collapse: Annotated[
        PolicyName, typer.Option("--collapse", help="What becomes of a component that collapses.")
    ] = "end"
    model: opt.ModelFile = None
    labels: opt.LabelsFile = None
    spreadsheet_safe: SpreadsheetSafe = False
    trace: opt.TraceFile = None
    checkpoint: opt.CheckpointFile = None
    checkpoint_every: opt.CheckpointEvery = 30.0
    resume: opt.Resume = False
    force: opt.Force = False
    backend: BackendName = None
    certify: Annotated[
        bool,
        typer.Option("--certify", help="Enclose the exact log-likelihood, to 30 digits."),
    ] = False
    as_json: Json = False

    @property
    def kept(self) -> str | None:
        """Where the checkpoint lies."""
        return fit_run.checkpoint_path(self.checkpoint, self.model)

    def arguments(self, data: Dataset, family: str, given: Given) -> dict[str, Any]:
        """What the loop is told; what was left out is left to it."""
        told: dict[str, Any] = {
            "start": self.start,
            "top": self.top,
            "samples": self.samples,
            "damping": self.damping,
            "tolerance": self.tolerance,
            "limit": self.limit,
        }
        if self.start_labels is not None:
            told["labels"] = label_files.read(self.start_labels, given)
        if self.start_model is not None:
            told["parameters"] = _parameters(self.start_model, data, family)
        return {
            **{name: value for name, value in told.items() if value is not None},
            "variation": self.variation,
            "seed": self.seed,
            "restarts": self.restarts,
            "collapse": self.collapse,
            "trace": "scalars",
            "backend": self.backend,
        }

    def check(self, k: int | None) -> None:
        """Refuse starts that exclude each other, and a fit without a number of components."""
        starts = {
            "--start": self.start,
            "--start-labels": self.start_labels,
            "--start-model": self.start_model,
        }
        chosen = [name for name, value in starts.items() if value is not None]
        if len(chosen) > 1:
            raise BadOption(f"{' and '.join(chosen)}: a fit starts from one of them")
        if k is None and self.start_labels is None and self.start_model is None:
            raise BadOption(
                "how many components? give -k K, or a start: --start-labels or --start-model"
            )


def _parameters(path: str, data: Dataset, family: str) -> Any:
    """The parameters of a mixture or classifier of the same family, over the same features."""
    from refclust.errors import FeatureMismatch
    from refclust.models.clusters import load_model
    from refclust.models.records.clusters import ClassifierModel, MixtureModel

    found = load_model(path)
    if not isinstance(found, MixtureModel | ClassifierModel) or found.family != family:
        held = f"{for_terminal(path)} holds a {found.algorithm} model"
        raise BadOption(f"{held}; one that is {family} is needed")
    known = found.data.features
    if found.data.d != data.d or (None not in (known, data.features) and known != data.features):
        raise FeatureMismatch(
            f"{for_terminal(path)} was fitted to other features than those of the data"
        )
    return found.fitted.parameters.mixture()
