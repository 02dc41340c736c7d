"""What a formula says about itself when it is a metric: a light declaration, no machinery.

``@metric`` records what a user may want to know about a formula: which evidence it needs, its
range, its direction, whether it is symmetric, which kernels it needs and whether it counts (so that
weights must be integers). The formula itself is returned unchanged; ``refclust.metrics`` looks the
declarations up.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, TypeVar

from refclust.errors import BadOption, UnknownOption
from refclust.formulas.evidence import Kind
from refclust.numbers.reading import exact_value, refuse_long, shown

Better: TypeAlias = Literal["higher", "lower", "neither"]
Cost: TypeAlias = Literal["linear", "table", "heavy"]
Formula: TypeAlias = Callable[..., Any]  # of evidence: a number, or an estimate of one
F = TypeVar("F", bound=Formula)

INFINITY = float("inf")
ANY = "*"  # in ``variants``: every value of an option but none
NEEDS: Mapping[str, str] = {  # what evidence of a kind may have or not, and what to say then
    "has_positive": "they need a positive class, or average=macro",
    "has_columns": "they need a column of scores for each class, one of them right",
    "has_ranking": "they need a column of scores for each class",
    "exclusive": "they need one true class for each object",
    "are_probabilities": "they need probabilities, between 0 and 1",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """What the catalogue knows about one metric."""

    name: str
    title: str
    formula: Formula
    evidence: Kind
    clauses: tuple[str, ...]
    low: float
    high: float
    better: Better
    similarities: Better | None  # the direction where large proximities mean close, if any
    symmetric: bool
    integer: bool | str  # whether counts must be whole; a string names the option value freeing it
    cost: Cost
    family: str
    aliases: tuple[str, ...]
    options: Mapping[str, tuple[Any, ...]]
    defaults: Mapping[str, Any]
    kernels: Mapping[str, str]
    variants: Mapping[str, Mapping[str, str]]
    matching: Callable[..., tuple[tuple[int, int], ...]] | None = field(default=None)
    needs: Mapping[str, str] = field(default_factory=dict)  # of evidence: if which option is so

    def checked(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return all options of a call, defaults filled in, or say which one is wrong."""
        for name in options:
            if name not in self.options:
                known = ", ".join(self.options) or "none"
                raise UnknownOption(f"{self.name} has no option {shown(name)}; it has: {known}")
        return {
            name: self._checked(name, options.get(name, default))
            for name, default in self.defaults.items()
        }

    def _checked(self, name: str, value: Any) -> Any:
        allowed = self.options[name]
        if allowed:
            if not any(isinstance(value, type(choice)) and value == choice for choice in allowed):
                raise BadOption(
                    f"{self.name}: {name}={shown(value)}; allowed: {', '.join(map(repr, allowed))}"
                )
            return value
        if value is None and self.defaults[name] is None:
            return None
        return _number_option(self.name, name, value)

    def cited(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the clauses behind a call with these options."""
        chosen = [
            clauses[value]
            for name, clauses in self.variants.items()
            for value in (str(options[name]), ANY if options[name] is not None else "")
            if value in clauses
        ]
        varied = {clause for clauses in self.variants.values() for clause in clauses.values()}
        return (*chosen, *(clause for clause in self.clauses if clause not in varied))

    def needs_integers(self, options: Mapping[str, Any]) -> bool:
        """Tell whether the formula, with these options, is defined for whole counts only."""
        if isinstance(self.integer, str):
            name, _, value = self.integer.partition("=")
            return bool(options[name] != value)
        return self.integer

    def lacks(self, evidence: object, options: Mapping[str, Any]) -> str | None:
        """Say what evidence of the right kind still lacks for a call with these options, if any."""
        for need, condition in self.needs.items():
            name, _, value = condition.partition("=")
            if (not name or options[name] == value) and not getattr(evidence, need):
                return NEEDS[need]
        return None


_ENTRIES: dict[str, Entry] = {}
_ALIASES: dict[str, str] = {}

ENTRIES: Mapping[str, Entry] = MappingProxyType(_ENTRIES)
ALIASES: Mapping[str, str] = MappingProxyType(_ALIASES)


def metric(
    title: str,
    *,
    evidence: Kind = "labelings",
    range: tuple[float, float],  # noqa: A002  (the word of the specification)
    better: Better,
    similarities: Better | None = None,
    symmetric: bool = False,
    integer: bool | str = False,
    cost: Cost = "linear",
    aliases: tuple[str, ...] = (),
    choices: Mapping[str, tuple[Any, ...]] = MappingProxyType({}),
    kernels: Mapping[str, str] = MappingProxyType({}),
    variants: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    matching: Callable[..., tuple[tuple[int, int], ...]] | None = None,
    needs: Mapping[str, str] = MappingProxyType({}),
) -> Callable[[F], F]:
    """Record the decorated formula and return it unchanged.

    Its keyword-only parameters are the metric's options: those in ``choices`` take one of the
    values there, those in ``kernels`` are filled in by the session, all others take a number.
    ``similarities`` says which direction is better where proximities are similarities; a metric
    that does not say so needs distances.
    """

    def record(formula: F) -> F:
        parameters = inspect.signature(formula).parameters.values()
        options = [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in kernels]
        entry = Entry(
            name=formula.__name__,
            title=title,
            formula=formula,
            evidence=evidence,
            clauses=_cited_clauses(formula),
            low=range[0],
            high=range[1],
            better=better,
            similarities=similarities,
            symmetric=symmetric,
            integer=integer,
            cost=cost,
            family=formula.__module__.rpartition(".")[2].partition("_")[0],
            aliases=aliases,
            options={p.name: choices.get(p.name, ()) for p in options},
            defaults={p.name: p.default for p in options},
            kernels=kernels,
            variants=variants,
            matching=matching,
            needs=needs,
        )
        for name in (entry.name, *aliases):
            if name in _ALIASES:
                raise ValueError(f"two metrics are called {name!r}")
            _ALIASES[name] = entry.name
        _ENTRIES[entry.name] = entry
        return formula

    return record


def _number_option(metric_name: str, name: str, value: Any) -> Fraction:
    number = exact_value(value, f"{metric_name}: {name}={shown(value)}")
    if number is None:
        raise BadOption(f"{metric_name}: {name}={shown(value)} is not a finite number")
    refuse_long([number], f"{metric_name}: {name}={shown(value)}")
    return number


def _cited_clauses(formula: Formula) -> tuple[str, ...]:
    cited = re.search(r"^\s*(?:Defines|Spec): (.+)$", inspect.getdoc(formula) or "", re.MULTILINE)
    return tuple(part.strip() for part in cited[1].split(",")) if cited else ()
