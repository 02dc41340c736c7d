"""The list of all metrics, by what they need."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from refclust.cli.output import room, say, say_data, say_json
from refclust.cli.show import tables
from refclust.cli.show.scores.rendering import ARROWS, bound_text
from refclust.cli.show.tables import Table

if TYPE_CHECKING:
    from refclust.cli.options.scoring import Writing
    from refclust.formulas.evidence import Kind
    from refclust.metrics.catalogue import Entry

SCHEMA: Final = "refclust-metrics/1"
_WIDTH: Final = 140  # one line a metric, unless the terminal is narrower


def show_catalogue(kind: Kind | None, writing: Writing) -> None:
    """List all metrics, or those of one kind of evidence."""
    from refclust.metrics.catalogue import ENTRIES, NEEDS, entries_for

    entries = {
        need: [entry for entry in ENTRIES.values() if entry.evidence == need]
        for need in NEEDS
        if kind is None or any(entry.evidence == need for entry in entries_for(kind))
    }
    form = writing.chosen
    if form == "json":
        say_json(_json(entries))
    elif form == "text":
        say("\n".join(_lines(entries)).removeprefix("\n"))
    else:
        (say_data if form == "csv" else say)(
            tables.csv(_table(entries)) if form == "csv" else tables.written(_table(entries), form)
        )


def _lines(entries: dict[Kind, list[Entry]]) -> Iterator[str]:
    from refclust.cli.options.evidence.options import GIVEN_BY
    from refclust.metrics.catalogue import NEEDS

    most = room() or _WIDTH
    for kind, members in entries.items():
        if not members:
            continue
        yield ""
        yield f"{NEEDS[kind]}: refclust score {GIVEN_BY[kind]}"
        names = max(len(entry.name) for entry in members)
        ranges = max(len(_range(entry)) for entry in members)
        for entry in members:
            first = f"  {entry.name:<{names}}  {ARROWS[entry.better]} {_range(entry):<{ranges}}  "
            options = [f"[{option}]" for option in _options(entry)]
            line = " ".join([first + entry.title, *options])
            if len(line) <= most:
                yield line
            else:
                yield first + entry.title
                yield f"      {' '.join(options)}"


def _range(entry: Entry) -> str:
    return f"{bound_text(entry.low)} … {bound_text(entry.high)}"


def _options(entry: Entry) -> Iterator[str]:
    """Every option with the values it takes, the default first."""
    from refclust.metrics.catalogue import option_text

    for name, allowed in entry.options.items():
        default = entry.defaults[name]
        values = [default, *(value for value in allowed if value != default)]
        texts = ["none" if value is None else option_text(value) for value in values]
        yield f"{name}={'|'.join(texts)}" + ("" if allowed else " or a number")


def _table(entries: dict[Kind, list[Entry]]) -> Table:
    head = ["metric", "title", "evidence", "low", "high", "better", "options", "clauses"]
    rows = [
        [
            entry.name,
            entry.title,
            entry.evidence,
            f"{entry.low:g}",
            f"{entry.high:g}",
            entry.better,
            "; ".join(_options(entry)),
            " ".join(entry.clauses),
        ]
        for members in entries.values()
        for entry in members
    ]
    return Table(head, rows, words=frozenset((0, 1, 2, 5, 6, 7)))


def _json(entries: dict[Kind, list[Entry]]) -> dict[str, Any]:
    from refclust.metrics.catalogue import option_text
    from refclust.version import __version__

    return {
        "schema": SCHEMA,
        "refclust": __version__,
        "metrics": [
            {
                "key": entry.name,
                "title": entry.title,
                "evidence": entry.evidence,
                "range": [end if math.isfinite(end) else None for end in (entry.low, entry.high)],
                "better": entry.better,
                "aliases": list(entry.aliases),
                "options": {
                    name: {
                        "default": None
                        if entry.defaults[name] is None
                        else option_text(entry.defaults[name]),
                        "values": list(map(option_text, allowed)) or None,
                    }
                    for name, allowed in entry.options.items()
                },
                "clauses": list(entry.clauses),
            }
            for members in entries.values()
            for entry in members
        ],
    }
