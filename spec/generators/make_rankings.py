"""Golden vectors of rankings of labels: pairs of labels one by one, ranks by sorting."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

from .values import Json, encode
from .writer import VectorFile

F = Fraction
LABELS = ["a", "b", "c", "d"]


def files() -> list[VectorFile]:
    """The file of rankings."""
    file = VectorFile(
        "52-probabilities/rankings.json",
        "metrics.evidence",
        "Objects with several labels: ranking loss, coverage, average precision of rankings",
        formulas=["PB-RANKLOSS", "PB-COVERAGE", "PB-LRAP"],
    )
    draw = random.Random(5200)
    for i in range(16):
        n, k = 1 + int(draw.random() * 4), 2 + int(draw.random() * 3)
        truth = [[y for y in LABELS[:k] if draw.random() < 0.5] for _ in range(n)]
        scores = [[F(int(draw.random() * 5), 4) for _ in range(k)] for _ in range(n)]
        weights = [F(1 + int(draw.random() * 3), 2) if i % 2 else F(1) for _ in range(n)]
        _add(file, f"ranking-random-{i:02d}", truth, scores, weights)
    rows = [[F(3), F(2), F(1)], [F(1), F(2), F(3)], [F(1), F(1), F(1)]]
    _add(file, "ranking-right-wrong-tied", [["a"], ["a"], ["a"]], rows, [F(1)] * 3)
    _add(file, "ranking-none-and-all", [[], ["a", "b", "c"]], rows[:2], [F(1), F(2)])
    return [file]


def _add(
    file: VectorFile,
    slug: str,
    truth: Sequence[Sequence[str]],
    scores: Sequence[Sequence[Fraction]],
    weights: Sequence[Fraction],
) -> None:
    labels = LABELS[: len(scores[0])]
    sums = [F(0)] * 3
    for names, row, weight in zip(truth, scores, weights, strict=True):
        score = dict(zip(labels, row, strict=True))
        for place, value in enumerate(_of_object(list(names), score)):
            sums[place] += weight * value
    keys = ("ranking_loss", "coverage_error", "label_ranking_average_precision")
    whole = sum(weights, F(0))
    expect: dict[str, Json] = {
        key: encode(value / whole) for key, value in zip(keys, sums, strict=True)
    }
    given: dict[str, Json] = {
        "truth_sets": [list(names) for names in truth],
        "scores": [[str(s) for s in row] for row in scores],
        "labels": list(labels),
        "weights": [str(w) for w in weights],
    }
    file.add(slug, given, expect)


def _of_object(true: list[str], score: dict[str, Fraction]) -> tuple[Fraction, Fraction, Fraction]:
    """The loss, the coverage and the precision of one object."""
    false = [y for y in score if y not in true]
    # The ranking with equal scores at the end of their group: the worst place of each label.
    ordered = sorted(score.values(), reverse=True)
    place = {y: len(ordered) - ordered[::-1].index(s) for y, s in score.items()}
    pairs = [(y, z) for y in true for z in false]
    wrong = [pair for pair in pairs if place[pair[0]] >= place[pair[1]]]
    loss = F(len(wrong), len(pairs)) if pairs else F(0)
    coverage = F(max((place[y] for y in true), default=0))
    if not pairs:
        return loss, coverage, F(1)
    precisions = [F(sum(place[z] <= place[y] for z in true), place[y]) for y in true]
    return loss, coverage, sum(precisions, F(0)) / len(precisions)
