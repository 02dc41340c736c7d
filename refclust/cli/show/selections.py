"""What a selection tells people: candidates in a table, the choice, and doubts about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from refclust.cli.output import columns, counted
from refclust.escape import for_line

if TYPE_CHECKING:
    from refclust.mixture.choosing.table import Candidate, Selection

_ABREAST: Final = 7  # covariance models in one line: half of them all
_FACTS: Final = {
    "log-likelihood": "log_likelihood",
    "free": "free_parameters",
    "in use": "used",
    "iterations": "iterations",
}
_SHORT: Final = {  # so that all criteria fit side by side
    "calinski_harabasz": "Calinski-H.",
    "davies_bouldin": "Davies-B.",
    "gap-error": "error",
}
_KINDS: Final = {
    "kmeans": "k-means",
    "bisecting": "bisecting k-means",
    "agglomerative": "trees of merges",
}


def table(selection: Selection) -> list[str]:
    """Return the candidates as a table: one a line, or K down and covariance models across."""
    names = list(dict.fromkeys(candidate.covariance for candidate in selection.candidates))
    if len(selection.verdicts) > 1:
        return _side_by_side(selection)
    return _square(selection, names) if len(names) > 1 else _lines(selection)


def verdict(selection: Selection) -> list[str]:
    """Return which candidate is the best and why, and what went wrong with others."""
    lines = [f"* {selection.best.name}: {selection.why}"] if selection.best else [selection.why]
    lines += _opinions(selection)
    wrong = [candidate for candidate in selection.candidates if candidate.error is not None]
    for code in dict.fromkeys(candidate.error for candidate in wrong):
        alike = [candidate for candidate in wrong if candidate.error == code]
        of = alike[0].name if len(alike) == 1 else f"{alike[0].name} and {len(alike) - 1} more"
        why = for_line(str(alike[0].message))
        lines.append(f"- {of} could not be fitted: {why} [{code}]")
    for candidate in selection.candidates:
        lines += [
            f"- {candidate.name} is in doubt: {for_line(reason)}" for reason in candidate.doubts
        ]
        if candidate.limit is not None:
            lines.append(
                f"- {candidate.name} did not converge: {counted(candidate.limit, 'iteration')} "
                f"{'is' if candidate.limit == 1 else 'are'} the limit; --limit N allows more"
            )
    lines += [f"- {for_line(note)}" for note in selection.notes]
    if selection.left_out:
        lines.append(
            f"- {', '.join(selection.left_out)} have no conjugate prior, so no evidence: left out"
        )
    return lines


def title(selection: Selection) -> str:
    """Return what was chosen among, and by what."""
    kind = _KINDS.get(selection.model, f"{selection.model} mixtures")
    several = f"{len(selection.verdicts)} criteria"
    return f"{kind} by {several if len(selection.verdicts) > 1 else selection.criterion}"


def _opinions(selection: Selection) -> list[str]:
    """What other criteria say, and where they disagree."""
    if len(selection.verdicts) < 2:
        return []
    from refclust.mixture.choosing.verdicts import agreed

    lines = []
    for verdict in selection.verdicts[1:]:
        chosen = None if verdict.chosen is None else selection.candidates[verdict.chosen]
        lines.append(f"  {verdict.why if chosen is None else f'{chosen.name}: {verdict.why}'}")
    ks = [candidate.k for candidate in selection.candidates]
    return [*lines, agreed(selection.verdicts, ks)]


def _side_by_side(selection: Selection) -> list[str]:
    """One column for each criterion, with a star at the number of clusters that it chooses."""
    keys = [
        key
        for verdict in selection.verdicts
        for key in (verdict.criterion, *(["gap-error"] if verdict.criterion == "gap" else []))
    ]
    stars = {verdict.criterion: verdict.chosen for verdict in selection.verdicts}
    rows = [["", "K", *(f"{_SHORT.get(key, key)} " for key in keys)]]
    for place, candidate in enumerate(selection.candidates):
        cells = [
            f"{_value(candidate, key)}{'*' if stars.get(key, -1) == place else ' '}" for key in keys
        ]
        rows.append(["*" if place == selection.chosen else "", str(candidate.k), *cells])
    return columns(rows, right=frozenset(range(1, len(rows[0]))))


def _square(selection: Selection, names: Sequence[str | None]) -> list[str]:
    from refclust.mixture.choosing.table import TITLES

    by_place = {
        (candidate.k, candidate.covariance): i for i, candidate in enumerate(selection.candidates)
    }
    lines = [TITLES[selection.criterion]]
    for begin in range(0, len(names), _ABREAST):
        some = names[begin : begin + _ABREAST]
        rows = [["K", *(f"{name} " for name in some)]]
        for k in dict.fromkeys(candidate.k for candidate in selection.candidates):
            rows.append([str(k), *(_cell(selection, by_place[k, name]) for name in some)])
        lines += columns(rows, right=frozenset(range(len(some) + 1)))
    return lines


def _cell(selection: Selection, place: int) -> str:
    value = _value(selection.candidates[place], selection.criterion)
    return f"{value}{'*' if place == selection.chosen else ' '}"


def _lines(selection: Selection) -> list[str]:
    keys = list(
        dict.fromkeys(key for candidate in selection.candidates for key in candidate.values)
    )
    heads = [
        (title, name)
        for title, name in _FACTS.items()
        if any(getattr(candidate, name) is not None for candidate in selection.candidates)
    ]
    rows = [["", "K", *(title for title, _ in heads), *keys]]
    for place, candidate in enumerate(selection.candidates):
        facts = [_fact(getattr(candidate, name)) for _, name in heads]
        values = [_value(candidate, key) for key in keys]
        rows.append(["*" if place == selection.chosen else "", str(candidate.k), *facts, *values])
    return columns(rows, right=frozenset(range(1, len(rows[0]))))


def _fact(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _value(candidate: Candidate, key: str) -> str:
    from refclust.mixture.choosing.table import shown

    if key not in candidate.values:
        return "-"
    return f"{candidate.values[key]:.6g}" if key == "rss" else shown(key, candidate.values[key])
