"""Cases of chapter 34 about choosing K: rules of the gap, best values, stability of samples."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from .make_sampling import Twister
from .values import Json
from .writer import VectorFile

Labels = list[int | None]  # of all rows; None for one that is not in the sample

RULES = ("globalSEmax", "firstSEmax", "Tibs2001SEmax", "globalmax", "firstmax")


def rules() -> VectorFile:
    """Choices by gaps and their errors, and by values of which the best is wanted."""
    notes = {
        "numbers": "strings: an integer or a fraction; gaps and values belong to K = first, ...",
        "choice": "the K of a rule of the gap; undefined if the rule finds none",
        "best": "the K of the best value; ties=more: of equals the largest K, else the smallest",
    }
    file = VectorFile("34-selection/rules.json", "selection.rule", "Rules that choose K", notes)
    sets: list[tuple[str, str, str, str]] = [
        ("humps", "50 60 55 90 100 80", "1 20 10 10 15 10", "two humps, the second is higher"),
        ("falls", "60 50 70 20", "10 10 5 10", "it falls at once, then rises above the start"),
        ("rises", "10 40 90", "10 10 10", "it rises up to the last K"),
        ("equal", "25 50 50 12", "0 0 0 0", "equal values: the first of them"),
        ("edge", "2 3 4 0", "0 1 2 0", "exactly at the edge of the error"),
        ("beyond", "199/100 3 4 0", "0 1 2 0", "just below the edge of the error"),
        ("wide", "0 1 2 3 5 4", "9 9 9 9 9 9", "errors so large that the first K will do"),
        ("own", "0 5 8 1 0", "0 0 4 9 9", "the error of the maximum, not that of its neighbours"),
        ("two", "1 2", "1/2 1/2", "two values of K"),
        ("alone", "1", "1", "one value of K: nothing to compare"),
        ("below", "-5 -3 -4 -1 -2", "1/3 1/3 1/3 5/2 1", "negative gaps"),
        ("plateau", "1 4 4 4 6 6 2", "0 1/2 1/2 1/2 2 2 0", "flat parts"),
        ("late", "3 2 1 2 3 4 9 8", "1 1 1 1 1 1 5 1", "seven clusters after a first fall"),
    ]
    for name, gaps, errors, words in sets:
        values, widths = ([Fraction(x) for x in text.split()] for text in (gaps, errors))
        expect: dict[str, Json] = {
            f"choice[rule={rule.lower()}]": _place(2, chosen(rule, values, widths))
            for rule in RULES
        }
        given: dict[str, Json] = {
            "first": "2",
            "gaps": [str(x) for x in values],
            "errors": [str(x) for x in widths],
        }
        file.add(f"rule-{name}", given, expect, words, formulas=["MS-GAPRULE"])
    for name, text, words in (
        ("single", "1/2 3/4 2/3", "one is the best"),
        ("ties", "3 1 3 1 2", "two are the best, and two the worst"),
        ("same", "1 1 1", "all alike"),
    ):
        values = [Fraction(x) for x in text.split()]
        best: dict[str, Json] = {
            "best[better=higher]": _place(2, values.index(max(values))),
            "best[better=lower]": _place(2, values.index(min(values))),
            "best[better=higher,ties=more]": _place(
                2, len(values) - 1 - values[::-1].index(max(values))
            ),
        }
        told: dict[str, Json] = {"first": "2", "values": [str(x) for x in values]}
        file.add(f"best-{name}", told, best, words, formulas=["MS-BEST", "MS-STAB"])
    return file


def chosen(rule: str, gaps: list[Fraction], errors: list[Fraction]) -> int | None:
    """The place of a rule, by walking along the gaps."""
    last = len(gaps) - 1
    if last < 1:
        return None
    if rule == "Tibs2001SEmax":
        for place in range(last):
            if gaps[place] >= gaps[place + 1] - errors[place + 1]:
                return place
        return None
    peak = 0
    if rule.startswith("first"):
        while peak < last and gaps[peak + 1] > gaps[peak]:
            peak += 1
    else:
        for place in range(1, last + 1):
            if gaps[place] > gaps[peak]:
                peak = place
    if "SE" not in rule:
        return peak
    place = 0
    while gaps[place] < gaps[peak] - errors[peak]:
        place += 1
    return place


def _place(first: int, place: int | None) -> Json:
    return {"undefined": True} if place is None else {"exact": str(first + place)}


def stability() -> VectorFile:
    """The samples of seeds, and the agreement of given clusterings of samples."""
    notes = {
        "clusterings": "pairs; a cluster for every row, - for a row that is not in the sample",
        "weights": "how often each row counts",
        "samples": "the rows of each sample, two for each pair, in the order of drawing",
    }
    file = VectorFile(
        "34-selection/stability.json", "selection.stability", "Stability under resampling", notes
    )
    for n, pairs, seed in ((5, 2, 0), (6, 1, 1), (9, 2, 7), (12, 3, 20021), (1, 1, 3), (2, 2, 5)):
        given: dict[str, Json] = {"n": str(n), "pairs": str(pairs), "seed": str(seed)}
        drawn: list[Json] = [
            {"list": [{"exact": str(i)} for i in rows]} for rows in samples(n, 2 * pairs, seed)
        ]
        expect: dict[str, Json] = {"samples": {"list": drawn}}
        words = f"{pairs} pairs of samples of {n} rows"
        file.add(f"samples-{n}-{seed}", given, expect, words, formulas=["MS-STAB", "NUM-RAND"])
    for name, (clusterings, weights, words) in _clusterings().items():
        told: dict[str, Json] = {
            "clusterings": [
                [["-" if y is None else str(y) for y in side] for side in pair]
                for pair in clusterings
            ]
        }
        if weights is not None:
            told["weights"] = [str(w) for w in weights]
        value = _mean(clusterings, weights)
        found: Json = {"undefined": True} if value is None else {"exact": str(value)}
        file.add(f"stab-{name}", told, {"stability": found}, words, formulas=["MS-STAB", "ARI"])
    return file


def _clusterings() -> dict[str, tuple[list[tuple[Labels, Labels]], list[int] | None, str]]:
    same: tuple[Labels, Labels] = ([0, 0, 1, 1, 2, None], [2, 2, 0, 0, 1, 1])
    moved: tuple[Labels, Labels] = ([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, None])
    crossed: tuple[Labels, Labels] = ([0, 0, 1, 1, None, None], [0, 1, 0, 1, 0, 1])
    trivial: tuple[Labels, Labels] = ([0, 0, 0, 0, 0, None], [0, 0, 0, 0, None, 0])
    split: tuple[Labels, Labels] = ([0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, None])
    return {
        "same": ([same], None, "the same clusters under other names: 1"),
        "moved": ([moved], None, "a row has moved"),
        "crossed": ([crossed], None, "less than chance would give"),
        "mean": ([same, moved, crossed], None, "the mean of three"),
        "one": ([trivial], None, "one cluster both times: 0/0"),
        "spoiled": ([same, trivial], None, "one of two has no value, so there is no mean"),
        "lost": ([split], None, "a cluster of one that the other sample does not hold: 0/0"),
        "weights": ([same, moved], [3, 1, 2, 1, 1, 5], "weights count rows as copies"),
        "zero": ([moved], [1, 1, 0, 1, 1, 1], "a row of weight 0 does not count"),
    }


def samples(n: int, count: int, seed: int) -> list[list[int]]:
    """Rows shuffled again and again; each time the first four fifths of them."""
    stream, drawn = Twister(seed), []
    for _ in range(count):
        order = list(range(n))
        for last in range(n - 1, 0, -1):
            other = stream.below(last + 1)
            order[last], order[other] = order[other], order[last]
        size = next(m for m in range(n + 1) if 5 * m >= 4 * n)
        drawn.append(sorted(order[:size]))
    return drawn


def _mean(clusterings: list[tuple[Labels, Labels]], weights: list[int] | None) -> Fraction | None:
    indices = [_adjusted_rand(a, b, weights) for a, b in clusterings]
    known = [index for index in indices if index is not None]
    return sum(known, Fraction(0)) / len(known) if len(known) == len(indices) else None


def _adjusted_rand(a: Labels, b: Labels, weights: list[int] | None) -> Fraction | None:
    """(observed - expected) / (mean of both - expected), by looking at every pair of copies."""
    copies = [
        (x, y)
        for i, (x, y) in enumerate(zip(a, b, strict=True))
        if x is not None and y is not None
        for _ in range(1 if weights is None else weights[i])
    ]
    pairs = list(combinations(copies, 2))
    both = sum(p[0] == q[0] and p[1] == q[1] for p, q in pairs)
    left, right = (sum(p[side] == q[side] for p, q in pairs) for side in (0, 1))
    if not pairs:
        return None
    expected, middle = Fraction(left * right, len(pairs)), Fraction(left + right, 2)
    return None if middle == expected else (both - expected) / (middle - expected)
