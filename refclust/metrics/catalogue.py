"""The catalogue of metrics: looking up what formulas declare, by name or by key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from refclust.errors import BadOption, UnknownMetric
from refclust.formulas.declared import ALIASES, ENTRIES, Entry, Formula
from refclust.formulas.evidence import Kind
from refclust.numbers.reading import shown, written

__all__ = [
    "ALIASES",
    "ENTRIES",
    "NEEDS",
    "USES",
    "Entry",
    "Formula",
    "entries_for",
    "find",
    "format_key",
    "option_text",
    "parse_key",
]

NEEDS: Final[Mapping[Kind, str]] = {
    "labelings": "a clustering and the truth",
    "rows": "rows and their clusters",
    "proximities": "rows or proximities, and their clusters",
    "memberships": "shares of objects in clusters",
    "two_memberships": "shares of objects in the clusters of two clusterings",
    "confusion": "predicted classes and the truth",
    "probabilities": "scores or probabilities, and the truth",
    "label_sets": "sets of labels, predicted and true",
    "raters": "judgements of several raters",
    "classifiers": "two or more classifiers on one test set",
    "measurements": "what methods reached in several trials",
}
# Which kinds of evidence a metric that needs a kind can be computed from.
USES: Final[Mapping[Kind, frozenset[Kind]]] = {
    **{kind: frozenset([kind]) for kind in NEEDS},
    "proximities": frozenset(["proximities", "rows"]),
}


def entries_for(kind: Kind) -> list[Entry]:
    """Return the metrics that can be computed from evidence of a kind, as they are declared.

    Spec: CONV-EVIDENCE
    """
    return [entry for entry in ENTRIES.values() if kind in USES[entry.evidence]]


def find(name: str) -> Entry:
    """Return the entry of a metric by its name or one of its aliases."""
    plain = name.strip().lower().replace("-", "_")
    if plain not in ALIASES:
        import difflib  # only a mistyped name needs it

        close = difflib.get_close_matches(plain, ALIASES, n=3)
        hint = f"; did you mean {', '.join(close)}?" if close else ""
        raise UnknownMetric(f"no metric is called {shown(name)}{hint}")
    return ENTRIES[ALIASES[plain]]


def parse_key(key: str) -> tuple[Entry, dict[str, str]]:
    """Split a metric key such as ``nmi[average=min]`` into the metric and its options."""
    if not isinstance(key, str):
        raise UnknownMetric(f"{shown(key)} is not a metric; write name or name[option=value,…]")
    match = re.fullmatch(r"\s*([\w-]+)\s*(?:\[([^\]]*)\])?\s*", key)
    if match is None:
        raise UnknownMetric(f"{shown(key)} is not a metric; write name or name[option=value,…]")
    options: dict[str, str] = {}
    for part in filter(None, (match[2] or "").split(",")):
        name, equals, value = part.partition("=")
        if not equals:
            raise BadOption(f"{shown(key)}: {part!r} is not of the form option=value")
        options[name.strip()] = value.strip()
    return find(match[1]), options


def format_key(entry: Entry, options: Mapping[str, Any]) -> str:
    """Return the key of a metric, with the options that are not at their defaults."""
    changed = [
        f"{name}={option_text(options[name])}"
        for name in sorted(options)
        if name in entry.defaults and options[name] != entry.defaults[name]
    ]
    return f"{entry.name}[{','.join(changed)}]" if changed else entry.name


def option_text(value: Any) -> str:
    """Return the value of an option as a key holds it, numbers in full."""
    return written(value) if isinstance(value, int | Fraction) else str(value)
