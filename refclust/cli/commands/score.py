"""``refclust score``: all metrics, or the named ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from refclust.cli.options import labelings as inputs
from refclust.cli.options.complete import complete_metric
from refclust.cli.output import Progress, note, say, say_json

if TYPE_CHECKING:
    from refclust.backends.session import Session
    from refclust.metrics.catalogue import Entry
    from refclust.metrics.contingency import Contingency
    from refclust.metrics.score import Score

SCHEMA: Final = "refclust-score/1"
_MOST_BITS: Final = 12_000  # of an integer in JSON; Python writes no longer ones


def score(
    true: inputs.TrueFile = None,
    pred: inputs.PredFile = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            metavar="KEY",
            help="A metric such as nmi or nmi[average=min]; may be repeated. [all]",
            autocompletion=complete_metric,
        ),
    ] = None,
    table: inputs.Table = None,
    header: inputs.Header = False,
    column_true: inputs.ColumnTrue = None,
    column_pred: inputs.ColumnPred = None,
    delimiter: inputs.Delimiter = None,
    weights: inputs.Weights = None,
    noise: inputs.Noise = None,
    noise_policy: inputs.Policy = None,
    profile: inputs.Profile = None,
    backend: inputs.BackendName = None,
    all_metrics: Annotated[
        bool,
        typer.Option("--all", help="Also the metrics that are slow for many objects."),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Add clauses, 40 digits and matchings."),
    ] = False,
    as_json: inputs.Json = False,
) -> None:
    """Score a clustering against the truth: every metric, exact to the last bit.

    \b
    refclust score true.txt pred.txt
    refclust score iris.csv --column-true species --column-pred cluster
    refclust score true.txt pred.txt -m ari -m 'nmi[average=arithmetic]'
    refclust score --table table.csv --profile sklearn
    """
    labelings = inputs.Labelings(
        true=true,
        pred=pred,
        table=table,
        header=header,
        column_true=column_true,
        column_pred=column_pred,
        delimiter=delimiter,
        weights=weights,
        noise=noise,
        noise_policy=noise_policy,
    )
    from refclust import metrics  # noqa: F401  (importing it fills the catalogue)
    from refclust.backends.session import Session
    from refclust.metrics import catalogue, profiles

    # Names are checked before files are read: a typing error should not cost a minute.
    named = [catalogue.parse_key(key) for key in metric or []]
    library = None if profile is None else profiles.find(profile)
    for entry, options in named:
        entry.checked(options) if library is None else library.options(entry, options)
    session = Session(backend)
    counts = labelings.read(session)
    if named:
        scores = _evaluated(named, counts, profile, session)
        left_out: list[tuple[str, str]] = []
    else:
        scores, left_out = _catalogue(counts, profile, session, all_metrics)
    if as_json:
        _say_json(scores, left_out, counts, session)
    else:
        _say_text(scores, counts, profile, grouped=not named, verbose=verbose)
    _say_notes(left_out, session)


def _evaluated(
    named: list[tuple[Entry, dict[str, str]]],
    table: Contingency,
    profile: str | None,
    session: Session,
) -> list[Score]:
    from refclust.metrics.catalogue import format_key
    from refclust.metrics.score import evaluate

    progress = Progress(len(named))
    scores = []
    try:
        for entry, options in named:
            progress.step(format_key(entry, options))
            scores.append(evaluate(entry, table, options, profile=profile, session=session))
    finally:
        progress.clear()
    return scores


def _catalogue(
    table: Contingency, profile: str | None, session: Session, everything: bool
) -> tuple[list[Score], list[tuple[str, str]]]:
    """Evaluate what can be evaluated, and say why the rest is left out."""
    from refclust.errors import NotFinite, TooLarge, Undecided
    from refclust.metrics.score import selection

    chosen, left_out = selection(table, profile=profile, heavy=everything or None)
    scores: list[Score] = []
    progress = Progress(len(chosen))
    try:
        for entry in chosen:
            progress.step(entry.name)
            try:
                scores += _evaluated([(entry, {})], table, profile, session)
            except (TooLarge, NotFinite, Undecided) as error:  # one metric must not cost the others
                left_out[entry.name] = f"{error} [{error.code}]"
    finally:
        progress.clear()
    return scores, list(left_out.items())


def _say_text(
    scores: list[Score],
    table: Contingency,
    profile: str | None,
    *,
    grouped: bool,
    verbose: bool,
) -> None:
    from refclust.cli.show.scores import score_lines
    from refclust.metrics.profiles import find

    head = f"{table.size()}; ↑ higher is better, ↓ lower is better"
    if profile is not None:
        library = find(profile)
        head += f"\nby the rules of {library.library} {library.version}"
    say("\n".join([head, "", *score_lines(scores, grouped=grouped, verbose=verbose)]))


def _say_json(
    scores: list[Score], left_out: list[tuple[str, str]], table: Contingency, session: Session
) -> None:
    from refclust.cli.show.scores import provenance_json, score_json
    from refclust.numbers.reading import written
    from refclust.version import __version__

    total: Any = table.total
    if not isinstance(total, int) or total.bit_length() > _MOST_BITS:
        total = written(total)
    say_json(
        {
            "schema": SCHEMA,
            "refclust": __version__,
            "n": total,
            "clusters": len(table.row),
            "classes": len(table.col),
            "scores": [score_json(one) for one in scores],
            "left_out": [{"key": key, "reason": reason} for key, reason in left_out],
            "provenance": provenance_json(session.provenance()),
        }
    )


def _say_notes(left_out: list[tuple[str, str]], session: Session) -> None:
    from refclust.cli.show.scores import backend_note

    reasons: dict[str, list[str]] = {}
    for key, reason in left_out:
        reasons.setdefault(reason, []).append(key)
    for reason, keys in reasons.items():
        shown = keys if len(keys) <= 6 else [f"{len(keys)} metrics"]
        note(f"left out: {', '.join(shown)} ({reason})")
    told = backend_note(session.provenance())
    if told:
        note(told)
