"""The catalogue of metrics: looking up what formulas declare, by name or by key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from refclust.errors import BadOption, UnknownMetric
from refclust.formulas.declared import ALIASES, ENTRIES, Entry, Formula
from refclust.numbers.reading import shown, written

<<<<<<< HEAD
__all__ = ["ENTRIES", "Entry", "Formula", "find", "format_key", "option_text", "parse_key"]
=======
Better: TypeAlias = Literal["higher", "lower", "neither"]
Cost: TypeAlias = Literal["linear", "table", "heavy"]
Formula: TypeAlias = Callable[..., Real | Estimate]
F = TypeVar("F", bound=Formula)

INFINITY = float("inf")


@dataclass(frozen=True, slots=True)
class Entry:
    """What the catalogue knows about one metric."""

    name: str
    title: str
    formula: Formula
    clauses: tuple[str, ...]
    low: float
    high: float
    better: Better
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
            if not any(isinstance(value, type(one)) and value == one for one in allowed):
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
            clauses[str(options[name])]
            for name, clauses in self.variants.items()
            if str(options[name]) in clauses
        ]
        varied = {clause for clauses in self.variants.values() for clause in clauses.values()}
        return (*chosen, *(clause for clause in self.clauses if clause not in varied))

    def needs_integers(self, options: Mapping[str, Any]) -> bool:
        """Tell whether the formula, with these options, is defined for whole counts only."""
        if isinstance(self.integer, str):
            name, _, value = self.integer.partition("=")
            return bool(options[name] != value)
        return self.integer


_ENTRIES: dict[str, Entry] = {}
_ALIASES: dict[str, str] = {}

ENTRIES: Mapping[str, Entry] = MappingProxyType(_ENTRIES)


def metric(
    title: str,
    *,
    range: tuple[float, float],  # noqa: A002  (the word of the specification)
    better: Better,
    symmetric: bool,
    integer: bool | str = False,
    cost: Cost = "linear",
    aliases: tuple[str, ...] = (),
    choices: Mapping[str, tuple[Any, ...]] = MappingProxyType({}),
    kernels: Mapping[str, str] = MappingProxyType({}),
    variants: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    matching: Callable[..., tuple[tuple[int, int], ...]] | None = None,
) -> Callable[[F], F]:
    """Record the decorated formula and return it unchanged.

    Its keyword-only parameters are the metric's options: those in ``choices`` take one of the
    values there, those in ``kernels`` are filled in by the session, all others take a number.
    """

    def record(formula: F) -> F:
        parameters = inspect.signature(formula).parameters.values()
        options = [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in kernels]
        entry = Entry(
            name=formula.__name__,
            title=title,
            formula=formula,
            clauses=_cited_clauses(formula),
            low=range[0],
            high=range[1],
            better=better,
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
        )
        for name in (entry.name, *aliases):
            if name in _ALIASES:
                raise ValueError(f"two metrics are called {shown(name)}")
            _ALIASES[name] = entry.name
        _ENTRIES[entry.name] = entry
        return formula

    return record
>>>>>>> fixb


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
    told = [
        f"{name}={option_text(options[name])}"
        for name in sorted(options)
        if name in entry.defaults and options[name] != entry.defaults[name]
    ]
    return f"{entry.name}[{','.join(told)}]" if told else entry.name


def option_text(value: Any) -> str:
    """Return the value of an option as a key holds it, numbers in full."""
    return written(value) if isinstance(value, int | Fraction) else str(value)
