"""Golden vectors of chapter 55: rows dealt out to folds, rates of folds."""

from __future__ import annotations

import random
from fractions import Fraction

from .values import Json, encode
from .writer import VectorFile

F = Fraction
SUBJECT = "metrics.evidence"


def files() -> list[VectorFile]:
    """The file of chapter 55."""
    file = VectorFile("55-crossval/folds.json", SUBJECT, "Folds, plain and stratified; their rates")
    draw = random.Random(55)
    for i in range(24):
        n = 2 + int(draw.random() * 11)
        order = sorted(range(n), key=lambda _: draw.random())
        k = n if i % 6 == 0 else 2 + int(draw.random() * (n - 1))
        classes = [int(draw.random() * 3) for _ in range(n)]
        hands: list[list[int]] = [[] for _ in range(k)]
        for place, row in enumerate(order):
            hands[place - place // k * k].append(row)
        sorted_order: list[int] = []
        for label in sorted(set(classes)):
            sorted_order += [row for row in order if classes[row] == label]
        expect: dict[str, Json] = {
            "dealt": encode(tuple(tuple(F(row) for row in sorted(hand)) for hand in hands)),
            "by_class": encode(tuple(F(row) for row in sorted_order)),
        }
        given: dict[str, Json] = {"order": list(order), "folds": k, "classes": list(classes)}
        file.add(f"cv-folds-{i:02d}", given, expect, formulas=["CE-KFOLD", "CE-STRAT"])
    for i in range(12):
        sizes = [1 + int(draw.random() * 9) for _ in range(2 + i % 4)]
        rights = [int(draw.random() * (size + 1)) for size in sizes]
        answers = [int(j < right) for size, right in zip(sizes, rights, strict=True)
                   for j in range(size)]  # fmt: skip
        mean = F(0)
        for right, size in zip(rights, sizes, strict=True):
            mean += F(right, size * len(sizes))
        expect = {
            "pooled_rate": encode(F(sum(answers), len(answers))),
            "mean_rate": encode(mean),
        }
        given = {"rights": list(rights), "sizes": list(sizes)}
        file.add(f"cv-rates-{i:02d}", given, expect, formulas=["CE-POOLED", "CE-FOLDMEAN"])
    return [file]
