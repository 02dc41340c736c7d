"""``refclust score``: all metrics, or the named ones, of whatever evidence there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias, cast

import typer

from refclust.cli.options.complete import complete_metric
from refclust.cli.options.data import DataOptions
from refclust.cli.options.evidence import labelings as shared
from refclust.cli.options.evidence.options import READING, EvidenceOptions
from refclust.cli.options.groups import together
from refclust.cli.options.scoring import Writing
from refclust.cli.output import Progress, note
from refclust.errors import BadOption

if TYPE_CHECKING:
    from refclust.backends.session import Session
    from refclust.cli.options.evidence.cases import EvidenceCase
    from refclust.cli.show.scores.tables import Scored
    from refclust.formulas.confusion import Confusion
    from refclust.metrics.catalogue import Entry
    from refclust.metrics.score import Score


Metrics: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        "-m",
        metavar="KEY",
        help="A metric such as nmi or nmi[average=min]; may be repeated. [all]",
        autocompletion=complete_metric,
    ),
]
Permutation: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--permutation",
        metavar="KEY",
        help="Instead: how likely permuted labels reach as good a value of this metric of two "
        "labelings; may be repeated.",
        autocompletion=complete_metric,
    ),
]
Samples: TypeAlias = Annotated[
    int,
    typer.Option(metavar="N", min=1, help="Tables that --permutation draws, if there are many."),
]


@together(Writing, "writing")
@together(DataOptions, "reading", leave_out=READING)
@together(EvidenceOptions, "evidence")
def score(
    metric: Metrics = None,
    all_metrics: Annotated[
        bool,
        typer.Option("--all", help="Also the metrics that are slow for many objects."),
    ] = False,
    permutation: Permutation = None,
    samples: Samples = 999,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of these draws.")] = 0,
    listed: Annotated[
        bool, typer.Option("--list", help="List all metrics, by what they need, and stop.")
    ] = False,
    profile: shared.Profile = None,
    backend: shared.BackendName = None,
    *,
    evidence: EvidenceOptions,
    reading: DataOptions,
    writing: Writing,
) -> None:
    """Score clusterings or classifiers: every metric, exact to the last bit.

    \b
    refclust score true.txt pred.txt
    refclust score true.txt a.txt b.txt c.txt -m nmi -m ari --format markdown
    refclust score iris.csv --column-true species --column-pred cluster
    refclust score --data iris.csv --label-column species kmeans.txt kmeans.model.json
    refclust score --classification true.txt pred.txt
    refclust score --table table.csv --profile sklearn
    refclust score true.txt pred.txt --permutation adjusted_rand
    """
    from refclust import metrics  # noqa: F401  (importing it fills the catalogue)
    from refclust.backends.session import Session
    from refclust.cli.options.evidence.cases import read_cases
    from refclust.cli.show.scores.tables import show
    from refclust.metrics import catalogue

    writing.check()
    if listed:
        from refclust.cli.show.catalogue import show_catalogue

        show_catalogue(evidence.said(), writing)
        return
    if permutation:
        if metric or all_metrics or profile or writing.draw or writing.verbose:
            raise BadOption("--permutation KEY names its metrics itself, and takes no profile")
        drawing = Drawing(samples, seed, backend)
        _permuted(permutation, drawing, evidence, reading, writing)
        return
    # Names are checked before files are read: a typing error should not cost a minute.
    named = [catalogue.parse_key(key) for key in metric or []]
    check_options(named, profile)
    kind = evidence.kind([entry for entry, _ in named])
    session = Session(backend)
    cases = read_cases(kind, evidence, reading, session)
    if kind == "confusion" and not named and not all_metrics and _reported(cases, writing, profile):
        return
    call = Call(named, profile, session, heavy=all_metrics or None)
    scored = call.scored(cases)
    show(scored, session, writing, named=bool(named), profile=profile)
    _say_notes(scored, session)


@dataclass(frozen=True, slots=True)
class Drawing:
    """How tables are drawn where there are too many to count."""

    samples: int
    seed: int
    backend: str | None


def _permuted(
    keys: list[str],
    drawing: Drawing,
    evidence: EvidenceOptions,
    reading: DataOptions,
    writing: Writing,
) -> None:
    """Show how likely permuted labels are to score as well."""
    from refclust.backends.session import Session
    from refclust.cli.options.evidence.cases import read_cases
    from refclust.cli.show.permuted import PermutedCase, show_permuted
    from refclust.metrics import catalogue

    named = [catalogue.parse_key(key) for key in keys]
    check_options(named, None)
    if (kind := evidence.kind([entry for entry, _ in named])) != "labelings":
        raise BadOption("--permutation permutes labels: give TRUE PRED, or --table FILE")
    cases = read_cases(kind, evidence, reading, Session(drawing.backend))
    say = (drawing.samples, drawing.seed, drawing.backend)
    show_permuted([PermutedCase.of(case, keys, *say) for case in cases], writing)


def _reported(cases: list[EvidenceCase], writing: Writing, profile: str | None) -> bool:
    """Show how well each class was predicted, if people asked about one prediction."""
    if len(cases) != 1 or writing.chosen == "json":
        return False
    from refclust.cli.show.scores.class_report import show_report

    show_report(cast("Confusion", cases[0].evidence), writing, profile)
    return True


def check_options(named: list[tuple[Entry, dict[str, str]]], profile: str | None) -> None:
    """Refuse options that metrics, or a library, do not have."""
    from refclust.metrics import profiles

    library = None if profile is None else profiles.find(profile)
    for entry, options in named:
        entry.checked(options) if library is None else library.options(entry, options)


@dataclass(frozen=True, slots=True)
class Call:
    """What is to be computed of every case: the named metrics, or all that can be."""

    named: list[tuple[Entry, dict[str, str]]]
    profile: str | None
    session: Session
    heavy: bool | None = None

    def scored(self, cases: list[EvidenceCase]) -> list[Scored]:
        """Score every case, telling how far it is."""
        from refclust.cli.show.scores.tables import Scored
        from refclust.metrics.score import selection

        chosen = [
            (self.named, {})
            if self.named
            else _without_options(selection(case.evidence, profile=self.profile, heavy=self.heavy))
            for case in cases
        ]
        progress = Progress(sum(len(entries) for entries, _ in chosen))
        try:
            scored = []
            for case, (entries, left_out) in zip(cases, chosen, strict=True):
                scores = self._of(case, entries, left_out, progress)
                scored.append(Scored(case.name, case.evidence, scores, left_out))
            return scored
        finally:
            progress.clear()

    def _of(
        self,
        case: EvidenceCase,
        entries: list[tuple[Entry, dict[str, str]]],
        left_out: dict[str, str],
        progress: Progress,
    ) -> list[Score]:
        from refclust.errors import RefclustError
        from refclust.metrics.catalogue import format_key
        from refclust.metrics.score import evaluate

        scores: list[Score] = []
        refused: RefclustError | None = None
        for entry, options in entries:
            progress.step(format_key(entry, options))
            try:
                scores.append(
                    evaluate(
                        entry,
                        case.evidence,
                        dict(options),
                        profile=self.profile,
                        session=self.session,
                    )
                )
            except RefclustError as error:
                if self.named:
                    raise
                left_out[entry.name] = f"{error} [{error.code}]"
                refused = error
        # One metric must not cost the others; where all are refused, the reason is the answer.
        if refused is not None and not scores:
            raise refused
        return scores


def _without_options(
    selected: tuple[list[Entry], dict[str, str]],
) -> tuple[list[tuple[Entry, dict[str, str]]], dict[str, str]]:
    entries, left_out = selected
    return [(entry, {}) for entry in entries], left_out


def _say_notes(scored: list[Scored], session: Session) -> None:
    from refclust.cli.show.scores.rendering import backend_note

    reasons: dict[str, list[str]] = {}
    for case in scored:
        for key, reason in case.left_out.items():
            keys = reasons.setdefault(reason, [])
            if key not in keys:
                keys.append(key)
    for reason, keys in reasons.items():
        shown = keys if len(keys) <= 6 else [f"{len(keys)} metrics"]
        note(f"left out: {', '.join(shown)} ({reason})")
    kernels = backend_note(session.provenance())
    if kernels:
        note(kernels)
