"""Refclust's own answers to the golden vectors of choosing K (chapter 34)."""

from __future__ import annotations

from fractions import Fraction

from refclust.backends.session import Session
from refclust.data.accepting.door import dataset
from refclust.errors import BadVectorFile
from refclust.formulas.selection import GAP_RULES, best_number
from refclust.mixture.choosing.gap import Gap, chosen_gap
from refclust.mixture.choosing.stability import samples
from refclust.mixture.choosing.stability import stability as stability_of
from refclust.vectors.answers import Answer, Input, Missing


def rule(inputs: Input, key: str, session: Session) -> Answer:  # noqa: ARG001
    """Answer one key of a case of ``selection.rule``."""
    name, _, text = key.rstrip("]").partition("[")
    options = dict(part.split("=") for part in text.split(",") if part.count("=") == 1)
    first = int(inputs["first"])
    if name == "best":
        values = dict(enumerate(map(Fraction, inputs["values"]), first))
        return _number(best_number(values, **options))
    rules = {each.lower(): each for each in GAP_RULES}
    if name != "choice" or options.get("rule") not in rules:
        raise BadVectorFile(f"no choice of K is called {key!r}")
    pairs = zip(map(Fraction, inputs["gaps"]), map(Fraction, inputs["errors"]), strict=True)
    # Gaps are doubles elsewhere; the rules compare whatever they are exactly.
    place = chosen_gap([Gap(*pair) for pair in pairs], rules[options["rule"]])  # type: ignore[arg-type]
    return _number(None if place is None else first + place)


def stability(inputs: Input, key: str, session: Session) -> Answer:  # noqa: ARG001
    """Answer one key of a case of ``selection.stability``."""
    if key == "samples":
        pairs = samples(int(inputs["n"]), int(inputs["pairs"]), seed=int(inputs["seed"]))
        return [[Fraction(i) for i in rows] for pair in pairs for rows in pair]
    if key != "stability":
        raise BadVectorFile(f"no reading of samples is called {key!r}")
    clusterings = []
    for pair in inputs["clusterings"]:
        first, second = (
            {i: int(label) for i, label in enumerate(side) if label != "-"} for side in pair
        )
        clusterings.append((first, second))
    n = len(inputs["clusterings"][0][0])
    weights = [float(w) for w in inputs["weights"]] if "weights" in inputs else None
    value = stability_of(clusterings, dataset([[0.0]] * n, weights=weights))
    return Missing() if value is None else value


def _number(k: int | None) -> Answer:
    return Missing() if k is None else Fraction(k)
