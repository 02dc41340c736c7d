"""Entropy, divergence and mutual information of distributions with rational probabilities."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

from .information import entropy, weighted_logs
from .values import Infinite, Info, Json, Value, divide_info, encode, log
from .writer import VectorFile

F = Fraction


def divergence(q: Sequence[Fraction], p: Sequence[Fraction]) -> Info | None:
    """The sum of q log(q/p), or None where q > 0 and p = 0: infinite."""
    if any(a and not b for a, b in zip(q, p, strict=True)):
        return None
    return weighted_logs((a, a / b) for a, b in zip(q, p, strict=True) if a)


def joint_information(joint: Sequence[Sequence[Fraction]]) -> Info:
    """The divergence of a joint distribution from the product of its margins."""
    rows = [_add(row) for row in joint]
    columns = [_add(column) for column in zip(*joint, strict=True)]
    return weighted_logs(
        (x, x / (rows[i] * columns[j]))
        for i, row in enumerate(joint)
        for j, x in enumerate(row)
        if x
    )


def _add(numbers: Sequence[Fraction]) -> Fraction:
    result = F(0)
    for number in numbers:
        result += number
    return result


def _both(key: str, value: Info | None) -> dict[str, Json]:
    two = log(F(2))
    values: dict[str, Value] = {key: Infinite(), f"{key}[base=2]": Infinite()}
    if value is not None:
        values = {key: value.value(), f"{key}[base=2]": divide_info(value, two)}
    return {name: encode(found) for name, found in values.items()}


def _listed(numbers: Sequence[Fraction]) -> list[Json]:
    return [str(number) for number in numbers]


def _shares(text: str) -> list[Fraction]:
    return [F(part) for part in text.split()]


ENTROPIES = [
    ("ent-coin", "1/2 1/2", "a fair coin: log 2, one bit"),
    ("ent-certain", "1", "no doubt: zero"),
    ("ent-certain-zeros", "0 1 0", "zeros add nothing"),
    ("ent-die", "1/6 1/6 1/6 1/6 1/6 1/6", "a die"),
    ("ent-dyadic", "1/2 1/4 1/8 1/8", "7/4 bits exactly"),
    ("ent-skew", "999999/1000000 1/1000000", "nearly certain"),
    (
        "ent-skewer",
        "999999999999999999/1000000000000000000 1/1000000000000000000",
        "so nearly certain that 1 - p is 1 in doubles",
    ),
    ("ent-thirds", "1/3 2/3", "thirds"),
    ("ent-mixed", "1/2 1/3 1/6 0", "a zero among others"),
    ("ent-1000", " ".join(["1/1000"] * 1000), "a thousand equal parts"),
]

DIVERGENCES = [
    ("kl-one-way", "1/2 1/2", "1/4 3/4", ["ERR-38"]),
    ("kl-other-way", "1/4 3/4", "1/2 1/2", ["ERR-38"]),
    ("kl-equal", "1/3 1/6 1/2", "1/3 1/6 1/2", []),
    ("kl-infinite", "1/2 1/2 0", "1/2 0 1/2", []),
    ("kl-zero-in-q", "0 1/2 1/2", "1/3 1/3 1/3", ["ERR-39"]),
    ("kl-mass-off-support", "1 0", "1/2 1/2", ["ERR-39"]),
    ("kl-both-zero", "1/2 0 1/2", "1/4 0 3/4", []),
    ("kl-tiny", "500000000001/1000000000000 499999999999/1000000000000", "1/2 1/2", []),
    ("kl-bits", "1/2 1/4 1/4", "1/4 1/4 1/2", []),
]

JOINTS = [
    (
        "joint-catdog",
        ["39/100 6/100 1/100", "8/100 31/100 1/100", "2/100 1/100 11/100"],
        "cat, dog, parrot",
    ),
    ("joint-independent", ["1/6 1/12", "1/3 1/6", "1/6 1/12"], "independent: exactly zero"),
    ("joint-identity", ["1/2 0", "0 1/2"], "one determines the other"),
    ("joint-function", ["1/4 0", "1/4 0", "0 1/2"], "many to one"),
    ("joint-zero-row", ["1/2 1/4", "0 0", "0 1/4"], "a row without mass"),
    (
        "joint-nearly",
        ["250000000001/1000000000000 249999999999/1000000000000", "1/4 1/4"],
        "nearly independent",
    ),
    ("joint-tenths", ["1/10 2/10", "3/10 4/10"], "tenths, which no double holds"),
]


def files() -> list[VectorFile]:
    """The file of distributions."""
    file = VectorFile(
        "43-information/distributions.json",
        "information.distributions",
        "Entropy, divergence and mutual information of rational distributions",
        {
            "ERR-38": "misprint: the divergence taken to be symmetric",
            "ERR-39": "mass of p off the support of q is allowed; the last step of the proof is <=",
        },
    )
    for slug, text, words in ENTROPIES:
        p = _shares(text)
        file.add(slug, {"p": _listed(p)}, _both("entropy", entropy(p)), words, formulas=["IT-ENT"])
    for slug, first, second, flags in DIVERGENCES:
        _add_divergence(file, slug, _shares(first), _shares(second), flags)
    for slug, lines, words in JOINTS:
        joint = [_shares(line) for line in lines]
        _add_joint(file, slug, joint, words)
    draw = random.Random(43)
    for number in range(20):
        size = 2 + int(draw.random() * 5)
        q, p = _random(draw, size, number % 3 == 0), _random(draw, size, False)
        file.add(
            f"ent-random-{number + 1:02d}",
            {"p": _listed(q)},
            _both("entropy", entropy(q)),
            formulas=["IT-ENT"],
        )
        _add_divergence(file, f"kl-random-{number + 1:02d}", q, p, [])
        cells = _random(draw, size * 3, number % 2 == 0)
        joint = [cells[i : i + 3] for i in range(0, len(cells), 3)]
        _add_joint(file, f"joint-random-{number + 1:02d}", joint, "")
    for slug, refused, words in (
        ("ent-refuse-sum", {"p": _listed(_shares("1/2 1/3"))}, "the parts do not add up to one"),
        ("ent-refuse-negative", {"p": _listed(_shares("3/2 -1/2"))}, "a part below zero"),
    ):
        given: dict[str, Json] = {**refused}
        file.add(slug, given, {"error": "bad-distribution"}, words, formulas=["IT-ENT"])
    return [file]


def _random(draw: random.Random, size: int, zeros: bool) -> list[Fraction]:
    parts = [1 + int(draw.random() * 30) for _ in range(size)]
    if zeros:
        parts[int(draw.random() * size)] = 0
    whole = sum(parts)
    return [F(part, whole) for part in parts]


def _add_divergence(
    file: VectorFile, slug: str, q: list[Fraction], p: list[Fraction], flags: list[str]
) -> None:
    expect = _both("kl", divergence(q, p))
    misprint: dict[str, Json] | None = None
    if "ERR-38" in flags:
        misprint = _both("kl", divergence(p, q))
        assert all(misprint[key] != expect[key] for key in misprint)
    given: dict[str, Json] = {"q": _listed(q), "p": _listed(p)}
    file.add(slug, given, expect, flags=flags, formulas=["IT-KL"], misprint=misprint)


def _add_joint(file: VectorFile, slug: str, joint: list[list[Fraction]], words: str) -> None:
    given: dict[str, Json] = {"joint": [_listed(row) for row in joint]}
    expect = _both("joint_mutual_information", joint_information(joint))
    file.add(slug, given, expect, words, formulas=["IT-MI"])
