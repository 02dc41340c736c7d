"""What the shell may complete; everything is looked up only when the shell asks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from refclust.formulas.evidence import Kind

_LONGEST_LINE = 1 << 16  # of a file whose columns are completed


def complete_metric(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Complete the names of metrics that the evidence named so far is enough for."""
    from refclust.cli.options.evidence.options import kind_said

    return metric_offers(incomplete, kind_said(context.params))


def metric_offers(incomplete: str, kind: Kind | None = None) -> list[tuple[str, str]]:
    """Metric names with what they are and need, and options once a bracket is open."""
    from refclust import metrics  # noqa: F401  (importing it fills the catalogue)
    from refclust.metrics.catalogue import ENTRIES, NEEDS, entries_for

    offers = []
    for entry in ENTRIES.values() if kind is None else entries_for(kind):
        words = f"{entry.title} ({NEEDS[entry.evidence]})"
        offers.append((entry.name, words))
        if incomplete.startswith(f"{entry.name}["):
            offers += [
                (f"{entry.name}[{option}={value}]", words)
                for option, values in entry.options.items()
                for value in values
                if value != entry.defaults[option]
            ]
    return [(key, words) for key, words in offers if key.startswith(incomplete)]


def complete_profile(incomplete: str) -> list[str]:
    """Complete the names of profiles."""
    from refclust.metrics.profiles import PROFILES

    return _starting(incomplete, PROFILES)


def complete_backend(incomplete: str) -> list[str]:
    """Complete the names of backends that are ready."""
    from refclust.backends.plugins.discovery import discover

    ready = [record.name for record in discover() if record.state == "ready"]
    return _starting(incomplete, ["auto", *filter(_can_be_shown, ready)])


def complete_format(incomplete: str) -> list[tuple[str, str]]:
    """Complete the names of formats that can be read."""
    from refclust.backends.plugins.formats import readers
    from refclust.escape import for_terminal

    return [
        (reader.name, for_terminal(reader.summary))
        for reader in readers()
        if reader.name.startswith(incomplete) and _can_be_shown(reader.name)
    ]


def complete_written(incomplete: str) -> list[str]:
    """Complete the names of formats that can be written."""
    from refclust.data.writers.writing import WRITERS

    return _starting(incomplete, WRITERS)


def complete_clause(incomplete: str) -> list[tuple[str, str]]:
    """Complete clause IDs and metric names."""
    from refclust.trace.clauses import load, spec_root

    wanted = incomplete.upper()
    clauses = [clause for clause in load(spec_root()).values() if clause.id.startswith(wanted)]
    return [(clause.id, clause.title) for clause in clauses] + metric_offers(incomplete)


def complete_citable(incomplete: str) -> list[tuple[str, str]]:
    """Complete what can be cited: methods, metrics and clauses."""
    from refclust.metrics.named import METHODS

    methods = [(name, "a method") for name in _starting(incomplete, METHODS)]
    return methods + complete_clause(incomplete)


def complete_covariance(incomplete: str) -> list[str]:
    """Complete the names of covariance models."""
    from refclust.mixture.covariance.models import MODELS

    words = ("full", "tied", "diagonal", "spherical", "shared-spherical")
    return _starting(incomplete, [*words, *MODELS])


def complete_column(context: typer.Context, incomplete: str) -> list[str]:
    """Complete the names of columns of the file that stands before on the command line."""
    return [
        name
        for value in context.params.values()
        for name in _columns_of(value)
        if name.startswith(incomplete) and _can_be_shown(name)
    ]


def _columns_of(value: object) -> list[str]:
    """The names in the first line of a file of text, if this is the path of one."""
    import csv
    import gzip
    import json
    from pathlib import Path

    if isinstance(value, list | tuple):
        return [name for each in value for name in _columns_of(each)]
    if not isinstance(value, str) or not Path(value).is_file():
        return []
    opened = gzip.open if value.endswith(".gz") else open
    try:
        with opened(value, "rt", encoding="utf-8-sig") as lines:
            first = lines.readline(_LONGEST_LINE).rstrip("\r\n")
        if first.startswith("{"):
            return list(json.loads(first))
    except (OSError, ValueError, EOFError):
        return []
    delimiter = max(",;\t", key=first.count)
    return [name for name in next(csv.reader([first], delimiter=delimiter), []) if name]


def complete_chapter(incomplete: str) -> list[str]:
    """Complete the names of chapters."""
    from refclust.trace.clauses import load, spec_root

    chapters = {clause.chapter: None for clause in load(spec_root()).values()}
    return _starting(incomplete, chapters)


def complete_case(incomplete: str) -> list[tuple[str, str]]:
    """Complete the names of golden cases."""
    from refclust.vectors.verify import load

    cases = (case for file in load() for case in file.cases)
    return [(case.id, case.description) for case in cases if case.id.startswith(incomplete)]


def _can_be_shown(name: str) -> bool:
    """Whether a name that a plugin chose can stand on a command line as it is."""
    from refclust.escape import for_terminal

    return for_terminal(name) == name


def _starting(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
