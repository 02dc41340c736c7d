"""Cases of naive Bayes (chapter 31) and of discriminants (chapter 33)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from .mixture_cases import cloud, tenths
from .mixture_classify import Labelled
from .mixture_classify_family import ALL, COUNTS, NORMAL, case
from .mixture_count_cases import TOPICS, documents
from .mixture_numbers import BALLS
from .writer import VectorFile

NOTES = {
    "numbers": "strings: an integer, a double in C99 hexadecimal, or a fraction for m and p",
    "labels": "in the input the class of each row, in the answer that of each query, from 0",
    "pass": "an answer passes when it is within bound of the true value",
}


def bayes() -> VectorFile:
    """Naive Bayes on counts and on presences."""
    notes = {
        **NOTES,
        "ERR-56": "misprint: two limits for one sum; every word once, not as often as it occurs",
        "ERR-57": "two priors under one name: shares of documents, shares of words",
        "ERR-58": "p = 1/2 for each of V words is no distribution, unless V = 2",
    }
    file = VectorFile(
        "31-multinomial/naive-bayes.json", "classify.counts", "Naive Bayes on counts", notes
    )
    half = (Fraction(1, 2),) * 2
    one = Fraction(1)
    table = Labelled(
        [[0, 0], [0, 1], [3, 7], [0, 10]],
        [0, 1, 2, 3],
        [[1, 0], [2, 5]],
        "multinomial",
        m=one,
        p=half,
    )
    told_here = "0 of 0, 0 and 1 of 1, 3 of 10, 0 and 10 of 10: 1/2, 1/4, 3/4, 7/22, 1/22, 21/22"
    case(file, "nb-table", table, told_here, (*COUNTS, "totals", *ALL), more=("NB-MEST1H",))
    tokens = Labelled(
        [[9, 0]] + [[0, 1]] * 9, [0] + [1] * 9, [[1, 1]], "multinomial", m=one, p=half
    )
    told_here = "one document of nine words, nine documents of one: 1/10 and 9/10, or halves"
    case(
        file,
        "nb-prior-documents",
        tokens,
        told_here,
        (*COUNTS, *ALL),
        flags=["ERR-57"],
        wrong=lambda _: {"weights": [Fraction(1, 2)] * 2},
    )
    by_words = replace(tokens, prior="tokens")
    case(
        file,
        "nb-prior-tokens",
        by_words,
        told_here,
        (*COUNTS, "scores"),
        flags=["ERR-57"],
        wrong=lambda _: {"weights": [Fraction(1, 10), Fraction(9, 10)]},
    )
    rows = documents(315, 10, TOPICS, 8)
    classes = [i % 2 for i in range(10)]
    queries = [[1, 0, 0, 0, 0], [0, 3, 1, 2, 0], [2, 2, 2, 2, 2], [0, 0, 0, 0, 0]]
    plain = Labelled(rows, classes, queries, "multinomial")
    case(
        file,
        "nb-likelihood",
        plain,
        "maximum likelihood",
        (*COUNTS, "log_likelihood", "scores"),
        more=("NB-LIK", "NB-ZERO", "NB-MLECOUNT"),
    )
    third = replace(plain, m=one)
    keys = (*COUNTS, "log_likelihood", *ALL)
    case(file, "nb-uniform", third, "one imagined word, 1/5 of each", keys)
    halves = replace(plain, m=one, p=(Fraction(1, 2),) * 5)
    told_here = "p = 1/2 for each of five words: the probabilities add up to (c + 5/2) / (c + 1)"
    case(
        file,
        "nb-halves",
        halves,
        told_here,
        ("probabilities", "totals", "scores"),
        flags=["ERR-58"],
        wrong=lambda _: {"totals": [Fraction(1)] * 2},
    )
    laplace = replace(plain, m=Fraction(5))
    case(file, "nb-laplace", laplace, "m = 5: one more of every word", (*COUNTS, *ALL))
    case(
        file,
        "nb-tokens",
        laplace,
        "every token counts",
        ("scores",),
        flags=["ERR-56"],
        wrong=lambda found: {"scores": _once(queries, found)},
    )
    parts = replace(plain, m=one, weights=[0.5, 1.0, 2.0, 0.25, 1.0, 0.1, 3.0, 1.0, 0.0, 1.0])
    case(file, "nb-weights", parts, "weights of rows", (*COUNTS, *ALL))
    zeros = Labelled([[1, 0, 2], [0, 3, 0]], [0, 1], [[1, 0, 0], [0, 1, 0]], "multinomial")
    told_here = "an unseen word rules a class out"
    case(file, "nb-zero", zeros, told_here, (*COUNTS, *ALL), more=("NB-ZERO",))
    binary = [[int(x > 1) for x in row] for row in rows]
    there = [[int(x > 0) for x in row] for row in queries]
    presences = Labelled(binary, classes, there, "bernoulli", m=Fraction(2))
    told_here = "words there or not, m = 2, p = 1/2: (n + 1) / (N + 2)"
    case(file, "nb-bernoulli", presences, told_here, (*COUNTS, *ALL))
    shares = tuple(Fraction(j, 8) for j in (1, 2, 3, 4, 5))
    uneven = replace(
        presences, m=Fraction(3, 2), p=shares, weights=[1.0 + i % 3 for i in range(10)]
    )
    told_here = "words there or not, m = 3/2, other shares, weights of rows"
    case(file, "nb-bernoulli-shares", uneven, told_here, (*COUNTS, "log_likelihood", *ALL))
    few = Labelled([[1, 0], [1, 1], [0, 1]], [0, 0, 1], [[1, 0], [1, 1], [0, 1]], "bernoulli")
    told_here = "without smoothing: an absent word rules a class out, and so does a present one"
    case(file, "nb-bernoulli-zero", few, told_here, (*COUNTS, "scores"), more=("NB-ZERO",))
    long = replace(laplace, queries=[[40000, 30000, 20000, 5000, 5000], [20000] * 5])
    told_here = "documents of 100,000 words"
    case(file, "nb-long", long, told_here, ALL)
    return file


def _once(queries: list[list[int]], found: dict[str, Any]) -> list[list[Any]]:
    return [
        [
            share.log() + BALLS.total([t.log() for x, t in zip(row, theta, strict=True) if x])
            for share, theta in zip(found["weights"], found["probabilities"], strict=True)
        ]
        for row in queries
    ]


def discriminants() -> VectorFile:
    """Quadratic and linear discriminants, Gaussian naive Bayes."""
    notes = {
        **NOTES,
        "divisor": "mistake: N - 1 in the place of N",
        "ERR-59": "loose: the most probable row is not the most probable class; the prior counts",
        "ERR-65": "one covariance for each class is quadratic, one for all is linear",
    }
    file = VectorFile(
        "33-classify/discriminants.json", "classify.gaussian", "Normal densities of classes", notes
    )
    rows = cloud(361, 16, [[0.0, 0.0], [2.5, 1.0]], 1.5)
    classes = [i % 2 for i in range(16)]
    queries = [[0.0, 0.0], [1.25, 0.5], [3.0, -2.0], [-40.0, 25.0]]
    plane = Labelled(rows, classes, queries, "VVV")
    told_here = {
        "VVV": "quadratic: one covariance for each class",
        "EEE": "linear: one covariance for all, divided by N",
        "VVI": "Gaussian naive Bayes: columns independent within a class",
        "EEI": "the same with shared variances",
        "EII": "shared spheres: the nearest mean, but for the prior",
    }
    for model, words in told_here.items():
        more = ("linear.slopes", "linear.offsets") if model == "EEE" else ()
        keys = ("log_likelihood", *NORMAL, *more)
        case(file, f"cl-{model.lower()}", replace(plane, model=model), words, keys)
    uneven = tenths(cloud(362, 13, [[0.0, 1.0, 2.0], [2.0, 1.0, 0.0], [1.0, 3.0, 1.0]], 2.0))
    three = Labelled(uneven, [i % 3 for i in range(13)], [[0.1, 0.2, 0.3], [1.0, 2.0, 1.0]], "EEE")
    case(
        file,
        "cl-three",
        three,
        "three classes, three columns in tenths",
        (*NORMAL, "linear.slopes", "linear.offsets"),
    )
    equal = replace(plane, prior="equal", labels=[int(i % 4 == 1) for i in range(16)])
    case(file, "cl-equal", equal, "nearest Gaussian: equal priors", ("weights", *NORMAL[3:]))
    wide = Labelled(
        [[0.0], [1.0], [2.0], [1.0], [5.0], [9.0]],
        [0, 0, 0, 0, 1, 1],
        [[3.0], [2.0], [-4.0], [100.0]],
        "VVV",
        prior="equal",
    )
    words = "nearest Gaussian: the prior would choose otherwise, and so would the distance"
    case(file, "cl-nearest-line", wide, words, ("weights", *NORMAL[3:]))
    near = replace(three, model="EEE", prior="equal")
    words = "nearest Gaussian with one covariance: the nearest mean by D2"
    case(file, "cl-nearest-three", near, words, ("weights", *NORMAL[3:]))
    naive = replace(three, model="VVI")
    case(file, "cl-naive-three", naive, "Gaussian naive Bayes, three classes in tenths", NORMAL)
    weighted = replace(plane, weights=[0.5 + i % 4 for i in range(16)])
    words = "Gaussian naive Bayes with weights of rows"
    case(file, "cl-naive-weights", replace(weighted, model="VVI"), words, NORMAL)
    case(file, "cl-weights", weighted, "weights of rows", NORMAL)
    offset = Labelled(
        [[x + 1e6 for x in row] for row in rows],
        classes,
        [[x + 1e6 for x in row] for row in queries],
        "VVV",
    )
    case(file, "cl-offset", offset, "an offset of 1e6", NORMAL)
    line = Labelled(
        [[0.0], [1.0], [2.0], [5.0], [7.0]], [0, 0, 0, 1, 1], [[3.0], [3.5], [1e3]], "VVV"
    )
    case(file, "cl-line", line, "on the line: far away the wider class wins", NORMAL)
    case(
        file,
        "cl-divisor",
        line,
        "divided by the number of rows",
        ("spreads",),
        flags=["divisor"],
        wrong=lambda found: {
            "spreads": [
                [x * n / (n - 1) for x in s] for s, n in zip(found["spreads"], (3, 2), strict=True)
            ]
        },
    )
    case(
        file,
        "cl-prior",
        line,
        "with the prior",
        ("discriminants",),
        flags=["ERR-59"],
        wrong=lambda found: {
            "discriminants": [
                [x - w.log() for x, w in zip(row, found["weights"], strict=True)]
                for row in found["discriminants"]
            ]
        },
    )
    return file
