"""Scores: a metric applied to its evidence (chapter 00, CONV-SCORE).

A ``Score`` is a ``float``, the nearest double, and carries the exact number behind it, the reason
where there is none, the clauses that define it and where it was computed.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from refclust.backends.protocol import Problem
from refclust.backends.session import Provenance, Session
from refclust.errors import (
    EmptyInput,
    NotFinite,
    TooLarge,
    Undecided,
    WeightsNotInteger,
    WrongEvidence,
)
from refclust.formulas.evidence import Evidence
from refclust.formulas.undefined import Undefined
from refclust.kernels.information import Margins
from refclust.metrics import catalogue, profiles
from refclust.metrics.adjusted.estimates import Estimate
from refclust.metrics.catalogue import Entry
from refclust.metrics.contingency import Contingency
from refclust.metrics.drawn import Scores
from refclust.metrics.passes.silhouette_intervals import Between
from refclust.metrics.passes.silhouettes import Bounded
from refclust.metrics.passes.source import FIRST
from refclust.numbers.real import Interval, Real, enclosed, real

if TYPE_CHECKING:
    from refclust.metrics.explain import Explanation

HEAVY_LIMIT: Final = 2000  # objects; above, metrics that enumerate tables must be asked for


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Everything a score knows about how it came about."""

    entry: Entry
    options: dict[str, Any]
    evidence: Evidence
    exact: Real | None
    undefined: str | None
    certified: bool
    bound: float
    profile: str | None
    provenance: Provenance


class Score(float):
    """The nearest double of a metric's exact value, with everything known about it."""

    origin: Evaluation

    def __new__(cls, value: float, origin: Evaluation) -> Score:
        """Make a score of a double and its origin."""
        made = super().__new__(cls, value)
        made.origin = origin
        return made

    @property
    def name(self) -> str:
        """The metric's key, with the options that are not at their defaults."""
        return catalogue.format_key(self.origin.entry, self.origin.options)

    @property
    def exact(self) -> Real | None:
        """The exact number, or ``None`` where the value is undefined or an estimate."""
        origin = self.origin
        if origin.exact is None and origin.certified and origin.undefined is None:
            # It came out of a pickle, which holds what it is worked out from again.
            again = evaluate(origin.entry, origin.evidence, origin.options, profile=origin.profile)
            self.origin = replace(origin, exact=again.origin.exact)
        return self.origin.exact

    @property
    def fraction(self) -> Fraction | None:
        """The exact number as a fraction, or ``None`` where it is not shown to be rational."""
        return None if self.exact is None else self.exact.fraction

    def digits(self, count: int = 40) -> str:
        """Return certified decimal digits; of an estimate or a missing value, what there is."""
        return str(self) if self.exact is None else self.exact.digits(int(count))

    @property
    def undefined(self) -> str | None:
        """Why there is no value, where the float is NaN or infinite."""
        return self.origin.undefined

    @property
    def certified(self) -> bool:
        """Whether the float is proven to be the nearest double."""
        return self.origin.certified

    @property
    def bound(self) -> float:
        """How far the float may be off: 0 if certified, else a bound or a standard error."""
        return self.origin.bound

    @property
    def spec(self) -> tuple[str, ...]:
        """The clauses that define the value."""
        return self.origin.entry.cited(self.origin.options)

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest value the metric can take."""
        return self.origin.entry.low, self.origin.entry.high

    @property
    def better(self) -> str:
        """Which direction is better: ``higher``, ``lower`` or ``neither``."""
        entry = self.origin.entry
        return (_similar(self.origin.evidence) and entry.similarities) or entry.better

    @property
    def evidence(self) -> Evidence:
        """What the metric was given."""
        return self.origin.evidence

    @property
    def table(self) -> Contingency:
        """The contingency table behind the value of a metric that compares two labelings."""
        table = self.origin.evidence
        if not isinstance(table, Contingency):
            raise AttributeError(f"{self.name} is no comparison of labelings; see .evidence")
        return table

    @property
    def provenance(self) -> Provenance:
        """Which backend ran which kernel."""
        return self.origin.provenance

    @property
    def matching(self) -> tuple[tuple[Hashable, Hashable], ...] | None:
        """The matched pairs (cluster, class) of a metric that matches, else ``None``."""
        matcher = self.origin.entry.matching
        if matcher is None or self.origin.evidence.is_empty:
            return None
        table = self.table
        return tuple((table.clusters[i], table.classes[j]) for i, j in matcher(table))

    def explain(self) -> Explanation:
        """Return the derivation of the value with its own numbers in it."""
        from refclust.metrics.explain import explain  # explanations are built on scores

        return explain(self)

    def __repr__(self) -> str:
        return f"Score({float.__repr__(self)})"

    def __str__(self) -> str:
        return float.__repr__(self)

    def _repr_html_(self) -> str:
        """The score for a notebook, its formula drawn.

        Spec: OUT-HTML
        """
        from refclust.metrics.drawn import score_html

        return score_html(self)

    def __copy__(self) -> Score:
        return self

    def __deepcopy__(self, _memo: object) -> Score:
        return self

    def __reduce__(self) -> tuple[Callable[..., Score], tuple[Any, ...]]:
        from refclust.metrics.pickled import parts, restored  # which makes scores

        return restored, parts(self)


def selection(
    evidence: Evidence, *, profile: str | None = None, heavy: bool | None = None
) -> tuple[list[Entry], dict[str, str]]:
    """Return the metrics that make sense for some evidence, and why each other one is left out."""
    library = None if profile is None else profiles.find(profile)
    wanted = evidence.total <= HEAVY_LIMIT if heavy is None else heavy
    chosen: list[Entry] = []
    left_out: dict[str, str] = {}
    for entry in catalogue.entries_for(evidence.kind):
        if library is not None and entry.name not in library.rules:
            left_out[entry.name] = f"{library.library} {library.version} does not have them"
        elif entry.cost == "heavy" and not wanted:
            left_out[entry.name] = f"slow above {HEAVY_LIMIT:,} objects; --all or -m computes them"
        elif _similar(evidence) and entry.similarities is None:
            left_out[entry.name] = "they need distances"
        elif entry.needs_integers(entry.defaults) and not evidence.is_integer:
            left_out[entry.name] = "they need whole counts"
        elif (lack := entry.lacks(evidence, entry.defaults)) is not None:
            left_out[entry.name] = lack
        else:
            chosen.append(entry)
    return chosen, left_out


def evaluate_all(
    evidence: Evidence,
    *,
    profile: str | None = None,
    heavy: bool | None = None,
    session: Session | None = None,
) -> Scores:
    """Evaluate every metric that makes sense for some evidence, at its default options.

    Spec: CONV-SCORE

    >>> evaluate_all(Contingency.of_rows([[2, 1], [0, 2]]))["rand"].fraction
    Fraction(3, 5)
    """
    session = session or Session()
    chosen, _ = selection(evidence, profile=profile, heavy=heavy)
    scores = Scores()
    for entry in chosen:
        # One metric must not cost the others.
        with contextlib.suppress(TooLarge, NotFinite, Undecided):
            scores[entry.name] = evaluate(entry, evidence, {}, profile=profile, session=session)
    return scores


def evaluate(
    entry: Entry,
    evidence: Evidence,
    options: dict[str, Any],
    *,
    profile: str | None = None,
    session: Session | None = None,
) -> Score:
    """Evaluate a metric on its evidence.

    Spec: CONV-SCORE, CONV-PROFILE

    >>> evaluate(catalogue.find("ari"), Contingency.of_rows([[2, 1], [0, 2]]), {}).fraction
    Fraction(1, 6)
    """
    session = session or Session()
    library = None if profile is None else profiles.find(profile)
    chosen = entry.checked(options) if library is None else library.options(entry, options)
    refuse_other_evidence(entry, evidence)
    if library is None and evidence.is_empty:
        raise EmptyInput("there is no object to score")
    if entry.needs_integers(chosen) and not evidence.is_integer:
        raise WeightsNotInteger(
            f"{catalogue.format_key(entry, chosen)} counts objects, pairs or permutations, so "
            "its weights must be whole numbers; with fractional weights use the matching or "
            "entropy metrics, or pairs=ordered"
        )
    value, exact, undefined, bound = _value(entry, evidence, chosen, library, session)
    origin = Evaluation(
        entry=entry,
        options=chosen,
        evidence=evidence,
        exact=exact,
        undefined=undefined,
        certified=bound == 0,
        bound=bound,
        profile=profile,
        provenance=session.provenance(),
    )
    return Score(value, origin)


def refuse_other_evidence(entry: Entry, evidence: Evidence) -> None:
    """Refuse evidence that a metric cannot be computed from."""
    if evidence.kind not in catalogue.USES[entry.evidence]:
        raise WrongEvidence(
            f"{entry.name} needs {catalogue.NEEDS[entry.evidence]}, "
            f"not {catalogue.NEEDS[evidence.kind]}"
        )
    if _similar(evidence) and entry.similarities is None:
        raise WrongEvidence(f"{entry.name} needs distances, and similarities were given")


def _similar(evidence: Evidence) -> bool:
    """Whether large proximities mean close."""
    return bool(getattr(evidence, "similarities", False))


def _value(
    entry: Entry,
    evidence: Evidence,
    options: dict[str, Any],
    library: profiles.Profile | None,
    session: Session,
) -> tuple[float, Real | None, str | None, float]:
    """Return the double, the exact number, the reason if there is none, and the error bound."""
    release = None if library is None else f"{library.library} {library.version}"
    if library is not None:
        rule = library.rule(entry)
        if evidence.is_empty:
            return _by_convention(
                rule.empty, f"there is no object; {release} refuses or prints NaN"
            )
        case = library.case(entry, evidence, options)
        if case is not None:
            number = "NaN" if math.isnan(case.value) else case.value
            happens = f"raises {case.raises}" if case.raises else f"prints {number}"
            return _by_convention(case.value, f"{release} {happens} here")
    try:
        answer = _result(entry, evidence, options, session)
    except Undefined as missing:
        if library is not None and not math.isinf(missing.value):
            return _by_convention(rule.undefined, f"{release} prints NaN here ({missing.reason})")
        return missing.value, None, missing.reason, 0.0
    if isinstance(answer, Estimate):
        return answer.value, None, None, answer.standard_error or math.ulp(answer.value)
    if isinstance(answer, Bounded):
        return answer.value, None, None, answer.bound
    try:
        return float(answer), answer, None, 0.0
    except Undecided:
        low, high = _enclosure(answer)
        middle = float((low + high) / 2)
        return middle, None, None, max(float(high - low), math.ulp(middle))


def _result(
    entry: Entry, evidence: Evidence, options: dict[str, Any], session: Session
) -> Estimate | Bounded | Real:
    """What the formula says; of a large clustering maybe in doubles with a bound.

    Passes in doubles may leave open which of two numbers is the greater. Then exact ones are made,
    whatever they cost; if even these do not settle it, a value with a bound is better than none.
    """
    passes: Any = getattr(evidence, "passes", None)
    if not hasattr(passes, "estimate"):  # none, or such as have nothing but exact values
        return _formula(entry, evidence, options, session)
    quick: Bounded | None = passes.estimate(entry.name, options)
    if quick is not None:
        return quick
    ends: Between | None = passes.between(entry.name, options)
    if ends is not None:
        short = _by_ends(ends, lambda: _insisting(entry, evidence, options, session))
        with contextlib.suppress(Undecided):
            float(short)
            return short
    try:
        return _insisting(entry, evidence, options, session)
    except Undecided:
        rough: Bounded | None = passes.estimate(entry.name, options, undecided=True)
        if rough is None:
            raise
        return rough


def _by_ends(ends: Between, formula: Callable[[], Estimate | Real]) -> Real:
    """A number between two ends that are close; whoever wants more of it asks the formula."""

    @cache
    def written() -> Real:
        value = formula()
        assert isinstance(value, Real)
        return value

    def interval(digits: int) -> Interval:
        return ends.interval(digits) if digits <= FIRST else written().enclosure(digits)

    return enclosed(interval, written)


def _insisting(
    entry: Entry, evidence: Evidence, options: dict[str, Any], session: Session
) -> Estimate | Real:
    """What the formula says, if need be with exact passes."""
    try:
        return _formula(entry, evidence, options, session)
    except Undecided:
        passes: Any = getattr(evidence, "passes", None)
        if not passes.insist():
            raise
        return _formula(entry, evidence, options, session)


def _formula(
    entry: Entry, evidence: Evidence, options: dict[str, Any], session: Session
) -> Estimate | Real:
    value = entry.formula(evidence, **options, **_kernels(entry, session))
    return value if isinstance(value, Estimate) else real(value)


def _enclosure(value: Real) -> Interval:
    """Decimals around a number that has no nearest double yet: of sums in doubles few digits."""
    try:
        return value.enclosure(60)
    except Undecided:
        return value.enclosure()


def _by_convention(value: float, reason: str) -> tuple[float, Real | None, str | None, float]:
    if not math.isfinite(value):
        return value, None, reason, 0.0
    return float(value), Real(value), None, 0.0


def _kernels(entry: Entry, session: Session) -> dict[str, Any]:
    """Bind the kernels that a formula asks for to the backends of the session."""
    return {name: _bound(kernel, session) for name, kernel in entry.kernels.items()}


def _bound(kernel: str, session: Session) -> Any:
    def run(margins: Margins, digits: int) -> Interval:
        problem = Problem("margins", margins.total, len(margins.rows) * len(margins.columns))
        low, high = session.run(kernel, problem, margins, digits)
        assert isinstance(low, Decimal)
        return low, high

    return run
