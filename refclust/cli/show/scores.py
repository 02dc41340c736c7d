"""Scores as text for people and as JSON for programs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

from refclust.backends.session import Provenance
from refclust.escape import for_terminal
from refclust.metrics.contingency import Lonely
from refclust.metrics.score import Score
from refclust.numbers.real import plain_fraction

FAMILIES: Final = ("matching", "pairs", "information", "association")
ARROWS: Final = {"higher": "↑", "lower": "↓", "neither": " "}
LONGEST_FRACTION: Final = 25
MOST_DIGITS: Final = 1000
DIGITS: Final = 40


def value_text(score: Score) -> str:
    """Return the value as one word: the shortest digits that give back the same double."""
    if score.undefined is not None and math.isnan(score):
        return "undefined"
    if math.isinf(score):
        return "+inf" if score > 0 else "-inf"
    return str(score)


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


def score_lines(scores: Sequence[Score], *, grouped: bool, verbose: bool = False) -> list[str]:
    """Return a table of scores, by family if there are many."""
    names = max((len(score.name) for score in scores), default=0)
    values = max((len(_value(score)) for score in scores), default=0)

    def lines(score: Score) -> list[str]:
        arrow = ARROWS[score.better]
        line = f"  {score.name:<{names}}  {arrow} {_value(score):<{values}}  {remark_text(score)}"
        return [line.rstrip(), *(_detail_lines(score) if verbose else [])]

    if not grouped:
        return [line for score in scores for line in lines(score)]
    found: list[str] = []
    for family in _families(scores):
        found += ["", family]
        found += [
            line for score in scores if score.origin.entry.family == family for line in lines(score)
        ]
    return found[1:]


def _value(score: Score) -> str:
    word = value_text(score)
    return word if score.certified or score.undefined is not None else f"≈ {word}"


def _families(scores: Iterable[Score]) -> list[str]:
    present = {score.origin.entry.family for score in scores}
    return [*(name for name in FAMILIES if name in present), *sorted(present - set(FAMILIES))]


def _detail_lines(score: Score) -> list[str]:
    low, high = (_bound_text(end) for end in score.range)
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
    told = (f"{for_terminal(_label(a))} ↔ {for_terminal(_label(b))}" for a, b in pairs)
    return ", ".join(told) or "none"


def _bound_text(end: float) -> str:
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
            {"backend": one.backend, "rung": one.rung, "rows": one.rows}
            for one in provenance.decided
        ],
    }


def backend_note(provenance: Provenance) -> str:
    """Tell in one line which kernels did not run on the reference, or not where they should."""
    told = []
    for run in provenance.kernels:
        if run.backend != "reference":
            told.append(f"{run.kernel} ran on {run.backend} ({run.distribution} {run.version})")
        elif provenance.requested not in ("auto", "reference"):
            told.append(f"{run.kernel} ran on the reference ({run.reason})")
    return ", ".join(told)
