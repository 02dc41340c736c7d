"""What a profile is made of: rules by metric, special cases, accidents (CONV-PROFILE)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from refclust.errors import ProfileLacksMetric
from refclust.formulas.evidence import Evidence
from refclust.metrics.catalogue import Entry, option_text

Options: TypeAlias = Mapping[str, Any]
Condition: TypeAlias = Callable[[Any, Options], bool]  # of the evidence


@dataclass(frozen=True, slots=True)
class Case:
    """Where a condition on the evidence holds, the library prints this number, or raises."""

    when: Condition
    value: float
    raises: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """How one library computes one metric."""

    call: str
    undefined: float = math.nan
    empty: float = math.nan
    cases: tuple[Case, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    offers: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Profile:
    """The conventions of one library in one version."""

    name: str
    library: str
    version: str
    rules: Mapping[str, Rule]

    def rule(self, entry: Entry) -> Rule:
        """Return the rule for a metric, or say that the library lacks it."""
        if entry.name not in self.rules:
            offered = ", ".join(sorted(self.rules))
            raise ProfileLacksMetric(
                f"{self.library} {self.version} has no {entry.name}; it has: {offered}"
            )
        return self.rules[entry.name]

    def options(self, entry: Entry, chosen: Options) -> dict[str, Any]:
        """Return the options of a call, with the library's defaults where none are given."""
        rule = self.rule(entry)
        options = entry.checked({**rule.defaults, **chosen})
        for name, value in options.items():
            offered = rule.offers.get(name, (rule.defaults.get(name, entry.defaults[name]),))
            if offered and value not in offered:
                raise ProfileLacksMetric(
                    f"{self.library} {self.version} has no {entry.name} with "
                    f"{name}={option_text(value)}; {name} can only be "
                    f"{', '.join(map(str, offered))}"
                )
        return options

    def case(self, entry: Entry, evidence: Evidence, options: Options) -> Case | None:
        """Return the special case that some evidence falls under, if any."""
        cases = self.rule(entry).cases
        return next((case for case in cases if case.when(evidence, options)), None)


@dataclass(frozen=True, slots=True)
class Quirk:
    """Something a library really printed that no convention explains."""

    profile: str
    metric: str
    when: Condition
    text: str
