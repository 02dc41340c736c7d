"""Scores as text for people and as JSON for programs."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, Final

from refclust.backends.session import Provenance
from refclust.cli.output import room
from refclust.escape import for_terminal
from refclust.metrics.contingency import Lonely
from refclust.metrics.explain import Explanation
from refclust.metrics.score import Score
from refclust.numbers.real import plain_fraction

FAMILIES: Final = (
    *("matching", "pairs", "information", "association"),  # two labelings
    *("scatter", "proximity", "density"),  # one, with rows or proximities
)
ARROWS: Final = {"higher": "↑", "lower": "↓", "neither": " "}
LONGEST_FRACTION: Final = 25
MOST_DIGITS: Final = 1000
DIGITS: Final = 40
EXPLANATION: Final = "refclust-explanation/1"
WIDTH: Final = 96
P_VALUE: Final = (
    "p is the chance of a difference at least as large if both are equally good. It is not the "
    "chance that they are equally good, nor the size of the difference; a large p proves nothing."
)


def value_text(score: Score, *, digits: int | None = None) -> str:
    """Return the value as one word: the shortest digits that give back the same double, or few.

    What was not computed to the last bit is marked.
    """
    word = plain_value(score, digits)
    return word if score.certified or score.undefined is not None else f"≈ {word}"


def plain_value(score: Score, digits: int | None = None) -> str:
    """Return the value as one word, without a mark."""
    if score.undefined is not None and math.isnan(score):
        return "undefined"
    if math.isinf(score):
        return "+inf" if score > 0 else "-inf"
    return str(score) if digits is None else rounded(score, digits)


def rounded(value: float, digits: int) -> str:
    """Return a number in so many significant digits, all digits before the point kept.

    >>> rounded(0.70588, 3), rounded(12345.6, 3), rounded(2.5e-7, 3), rounded(1.0, 3)
    ('0.706', '12346', '2.50e-07', '1.00')
    """
    whole = len(str(int(abs(value)))) if 1 <= abs(value) < 1e15 else 0
    return f"{value:#.{max(digits, whole)}g}".removesuffix(".")


def wrapped(words: str) -> str:
    """Return a sentence or two in lines that can be read."""
    return "\n".join(textwrap.wrap(words, min(WIDTH, room() or WIDTH)))


def gives_p_value(score: Score) -> bool:
    """Whether a score is a p-value, of which must be said what it is not."""
    return score.origin.entry.title.endswith("p-value")


def remark_text(score: Score) -> str:
    """Return what stands beside the value: the exact fraction, the reason, or the error."""
    if score.undefined is not None:
        return f"({score.undefined})"
    if not score.certified:
        return f"± {score.bound:.2g} (not certified)"
    fraction = _fraction_text(score, LONGEST_FRACTION)
    return "" if fraction is None else f"= {fraction}"


def _fraction_text(score: Score, most_digits: int) -> str | None:
    """Return the exact fraction behind a score, unless it is too long or too dear to find.

    Rational arithmetic is always read; that logarithms cancel is looked for in small tables only,
    since it takes far longer than the value itself.
    """
    if score.exact is None:
        return None
    small = score.evidence.is_small
    fraction = score.fraction if small else plain_fraction(score.exact)
    # Counted in bits first: Python refuses to print integers of more than 4300 digits.
    if fraction is None or fraction.numerator.bit_length() > 4 * most_digits:
        return None
    if fraction.denominator.bit_length() > 4 * most_digits:
        return None
    text = str(fraction)
    return text if len(text) <= most_digits else None


def score_lines(
    scores: Sequence[Score], *, grouped: bool, verbose: bool = False, digits: int | None = None
) -> list[str]:
    """Return a table of scores, by family if there are many."""
    texts = {id(score): value_text(score, digits=digits) for score in scores}
    names = max((len(score.name) for score in scores), default=0)
    values = max((len(word) for word in texts.values()), default=0)

    def lines(score: Score) -> list[str]:
        value = f"{ARROWS[score.better]} {texts[id(score)]:<{values}}"
        line = f"  {score.name:<{names}}  {value}  {remark_text(score)}"
        return [line.rstrip(), *(_detail_lines(score) if verbose else [])]

    if not grouped:
        return [line for score in scores for line in lines(score)]
    grouped_lines: list[str] = []
    for family in families(scores):
        grouped_lines += ["", family]
        grouped_lines += [
            line for score in scores if score.origin.entry.family == family for line in lines(score)
        ]
    return grouped_lines[1:]


def families(scores: Iterable[Score]) -> list[str]:
    """Return the families that metrics belong to, in the order of their chapters."""
    present = {score.origin.entry.family for score in scores}
    return [*(name for name in FAMILIES if name in present), *sorted(present - set(FAMILIES))]


def _detail_lines(score: Score) -> list[str]:
    low, high = (bound_text(end) for end in score.range)
    details = [
        f"{score.origin.entry.title}, from {low} to {high}; clauses {', '.join(score.spec)}",
    ]
    if score.exact is not None:
        details.append(f"{score.digits(DIGITS)} ({DIGITS} digits), {float(score).hex()}")
        exact = _fraction_text(score, MOST_DIGITS)
        if exact is not None and len(exact) > LONGEST_FRACTION:
            details.append(f"exactly {exact}")
    if score.matching is not None:
        details.append(f"matching (cluster ↔ class): {matching_text(score)}")
    return [f"      {detail}" for detail in details]


def matching_text(score: Score) -> str:
    """Return the matched pairs of clusters and classes."""
    pairs = score.matching or ()
    shown = (f"{for_terminal(_label(a))} ↔ {for_terminal(_label(b))}" for a, b in pairs)
    return ", ".join(shown) or "none"


def bound_text(end: float) -> str:
    """Return an end of a range."""
    if math.isinf(end):
        return "∞" if end > 0 else "−∞"
    return f"{end:g}".replace("-", "−")


def _label(label: object) -> str:
    return f"(noise, object {label.position + 1})" if isinstance(label, Lonely) else str(label)


def score_json(score: Score) -> dict[str, Any]:
    """Return everything a program may want to know about a score."""
    finite = math.isfinite(score)
    matching = score.matching
    return {
        "key": score.name,
        "value": float(score) if finite else None,
        "undefined": score.undefined,
        "infinite": None if not math.isinf(score) else "+" if score > 0 else "-",
        "binary64": float(score).hex() if finite else None,
        "exact": _fraction_text(score, MOST_DIGITS),
        "digits": None if score.exact is None else score.digits(DIGITS),
        "certified": score.certified,
        "bound": score.bound if math.isfinite(score.bound) else None,
        "clauses": list(score.spec),
        "range": [end if math.isfinite(end) else None for end in score.range],
        "better": score.better,
        "profile": score.origin.profile,
        "matching": None
        if matching is None
        else [[_label(cluster), _label(label)] for cluster, label in matching],
    }


def explanation_json(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation for programs: formulas, the derivation, what others print."""
    score, derivation = explanation.score, explanation.derivation
    return {
        "schema": EXPLANATION,
        "title": score.origin.entry.title,
        "evidence": {"kind": score.evidence.kind, "size": score.evidence.size()},
        "score": score_json(score),
        "formulas": [
            {"clause": formula.clause, "title": formula.title, "latex": list(formula.latex)}
            for formula in explanation.formulas
        ],
        "derivation": None if derivation is None else derivation.text().split("\n"),
        "others": [
            {"library": other.library, "call": other.call, "prints": other.prints}
            for other in explanation.others
        ],
        "p_value": P_VALUE if gives_p_value(score) else None,
    }


def provenance_json(provenance: Provenance) -> dict[str, Any]:
    """Return which backend was asked for and which one ran each kernel."""
    return {
        "refclust": provenance.refclust,
        "requested": provenance.requested,
        "kernels": [
            {
                "kernel": run.kernel,
                "backend": run.backend,
                "distribution": run.distribution,
                "version": run.version,
                "reason": run.reason,
                "calls": run.calls,
                "seconds": run.seconds,
            }
            for run in provenance.kernels
        ],
        "decided": [
            {"backend": decided.backend, "rung": decided.rung, "rows": decided.rows}
            for decided in provenance.decided
        ],
    }


def backend_note(provenance: Provenance) -> str:
    """Tell in one line which kernels did not run on the reference, or not where they should."""
    runs = []
    for run in provenance.kernels:
        if run.backend != "reference":
            runs.append(f"{run.kernel} ran on {run.backend} ({run.distribution} {run.version})")
        elif provenance.requested not in ("auto", "reference"):
            runs.append(f"{run.kernel} ran on the reference ({run.reason})")
    return ", ".join(runs)
