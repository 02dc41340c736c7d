"""Steps on counts: the mixtures of chapter 31."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from .mixture_cases import ESTEP, THEORY
from .mixture_count_family import HARD, MSTEP, STEP, WAYS, step
from .mixture_counts import Counts, CountState
from .mixture_numbers import BALLS
from .writer import VectorFile

NOTES = {
    "numbers": "strings: an integer, a double in C99 hexadecimal, or a fraction for m and p",
    "log_likelihood": "of sequences of words; with [coefficient=multinomial] of counts",
    "pass": "an answer passes when it is within bound of the true value",
}
SUBJECT = "mixture.counts"


def _file(name: str, title: str) -> VectorFile:
    return VectorFile(f"31-multinomial/{name}.json", SUBJECT, title, dict(NOTES))


def documents(seed: int, n: int, topics: list[list[int]], length: int) -> list[list[int]]:
    """Documents drawn from topics in turn; a topic is a list of whole masses of words."""
    draw = random.Random(seed)
    rows = []
    for i in range(n):
        topic = topics[i % len(topics)]
        row = [0] * len(topic)
        for _ in range(length):
            share, word = draw.random() * sum(topic), 0
            while share >= topic[word]:
                share -= topic[word]
                word += 1
            row[word] += 1
        rows.append(row)
    return rows


TOPICS = [[4, 2, 1, 1, 0], [0, 1, 1, 2, 4]]
TOY = CountState([0.5, 0.5], [[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]])


def steps() -> VectorFile:
    """Chains and special documents."""
    file = _file("steps", "Steps of multinomial and Bernoulli mixtures")
    keys = (*STEP[:2], WAYS, "certified_log_likelihood", *STEP[2:])
    toy = [[2, 1, 0], [0, 1, 1], [1, 0, 0], [0, 0, 3]]
    told = "halves and quarters: everything but logarithms is rational"
    step(file, "mmix-toy", Counts(toy, TOY, toy=True), told, keys)
    rows = documents(311, 12, TOPICS, 7)
    state = CountState([0.5, 0.5], [[0.3, 0.3, 0.2, 0.1, 0.1], [0.1, 0.1, 0.2, 0.3, 0.3]])
    first = state
    for number in range(1, 5):
        told = f"step {number} of a chain without smoothing"
        state = step(file, f"mmix-chain-{number}", Counts(rows, state), told, keys)
    state = first
    for number in range(1, 4):
        problem = Counts(rows, state, m=Fraction(1))
        told = f"step {number} with one imagined word, 1/5 of each"
        state = step(file, f"mmix-smooth-{number}", problem, told, (*keys, "next.log_prior"))
    parts = (Fraction(1, 2), Fraction(1, 8), Fraction(1, 8), Fraction(1, 8), Fraction(1, 8))
    problem = Counts(rows, first, m=Fraction(5, 2), p=parts)
    step(
        file, "mmix-smooth-own", problem, "m = 5/2, p = (1/2, 1/8, ...)", (*MSTEP, "next.log_prior")
    )
    binary = [[int(x > 1) for x in row] for row in rows]
    state = first
    for number in range(1, 4):
        problem = Counts(binary, state, "bernoulli", m=Fraction(0 if number < 3 else 1))
        state = step(file, f"bmix-chain-{number}", problem, f"step {number} of a Bernoulli chain")
    _special(file, rows, first)
    return file


def _special(file: VectorFile, rows: list[list[int]], first: CountState) -> None:
    empty = [[0, 0, 0], [2, 1, 0], [0, 1, 4]]
    told = "an empty document belongs to the components as they are shared"
    step(file, "mmix-empty", Counts(empty, CountState([0.25, 0.75], TOY.probabilities)), told)
    unseen = [[row[0], row[1], 0, row[3], row[4]] for row in rows]
    told = "a word that never occurs: its probability becomes zero, unless imagined words keep it"
    keys = (*ESTEP, *MSTEP, *THEORY)
    step(file, "mmix-unseen", Counts(unseen, first), told, keys)
    step(file, "mmix-unseen-smooth", Counts(unseen, first, m=Fraction(1)), told, keys)
    huge = [[50000, 30000, 20000], [20000, 30000, 50000], [33000, 33000, 34000]]
    close = CountState([0.5, 0.5], [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    told = "documents of 100,000 words: every density is far below the least double"
    step(file, "mmix-long", Counts(huge, close), told, (*ESTEP, WAYS, *MSTEP))
    near = CountState([0.5, 0.5], [[0.334, 0.333, 0.333], [0.333, 0.333, 0.334]])
    told = "long documents and nearly equal components: shares between 0 and 1"
    step(file, "mmix-long-near", Counts([huge[2], [33300, 33400, 33300]], near), told, ESTEP)
    zero = CountState([0.5, 0.5], [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    told = "a word of probability zero rules a component out; rows 1 and 2 are certain"
    sure = Counts([[1, 1, 0], [0, 1, 1], [0, 2, 0]], zero)
    step(file, "mmix-zero", sure, told, STEP, more=("NB-ZERO",))
    told = "no component can have made the first row: log p = -inf, and it belongs nowhere"
    never = Counts([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 2]], zero)
    step(
        file, "mmix-impossible", never, told, (*ESTEP, *MSTEP), more=("NB-ZERO", "MMIX-IMPOSSIBLE")
    )
    told = "the impossible row has no weight, so nothing happens"
    light = Counts(never.rows, zero, weights=[0.0, 1.0, 2.0, 0.5])
    step(file, "mmix-impossible-light", light, told, (*ESTEP, *MSTEP), more=("MMIX-IMPOSSIBLE",))
    alone = CountState([1.0], [[0.2, 0.3, 0.5]])
    told = "one component: the shares of all words"
    step(file, "mmix-alone", Counts([[2, 1, 0], [0, 1, 4]], alone), told)
    weights = [1.0, 2.0, 3.0, 1.0] * 3
    copies = [row for row, w in zip(rows, weights, strict=True) for _ in range(int(w))]
    keys = ("log_likelihood", WAYS, *MSTEP, *THEORY)
    told = "integer weights, and in the twin case as many copies"
    step(file, "mmix-weights", Counts(rows, first, weights=weights), told, keys)
    step(file, "mmix-copies", Counts(copies, first), told, keys)
    extremes = CountState([0.5, 0.5], [[1.0, 0.5, 0.0], [0.5, 0.5, 0.5]])
    told = "probabilities of one and zero: a word that must be there, a word that must not"
    flags = [[1, 0, 0], [0, 1, 0], [1, 1, 1], [1, 1, 0]]
    step(file, "bmix-extremes", Counts(flags, extremes, "bernoulli"), told, (*ESTEP, *MSTEP))
    rare = CountState([0.5, 0.5], [[1e-20, 0.5], [1e-9, 0.75]])
    told = "rare words: log(1 - theta) is nearly zero"
    step(file, "bmix-rare", Counts([[0, 1], [1, 0], [0, 0]], rare, "bernoulli"), told)
    hard = Counts(rows, first, hard=True)
    step(file, "mmix-hard", hard, "hard shares: naive Bayes with the labels found", HARD)
    smooth = Counts(rows, first, m=Fraction(1), hard=True)
    step(file, "mmix-hard-smooth", smooth, "the same with one imagined word", HARD)
    q = [[0.5, 0.5], [1.0, 0.0], [0.25, 0.75], [0.125, 0.875]] * 3
    given = Counts(rows, first, q=q)
    told = "given shares: a rational M-step"
    step(
        file,
        "mmix-given",
        given,
        told,
        ("entropy", "lower_bound", *MSTEP),
        more=("EM-ELBO", "EM-ELBOFACT"),
    )


def _stray(_: Counts, found: dict[str, Any]) -> dict[str, Any]:
    """ERR-15: one label of each document inside the sum over components."""
    terms = []
    for row, logs, log_q in zip(found["q"], found["next.joint"], found["log_q"], strict=True):
        chosen = max(range(len(row)), key=lambda k: float(row[k]))
        terms += [q * (logs[chosen] - y) for q, y in zip(row, log_q, strict=True)]
    return {"next.lower_bound": BALLS.total(terms)}


def _stuck(problem: Counts, found: dict[str, Any]) -> dict[str, Any]:
    """ERR-16: an index on the right side that does not depend on the left side."""
    k = len(problem.state.weights)
    return {name: [found[name][-1]] * k for name in ("next.weights", "next.probabilities")}


def _powers(problem: Counts, _: dict[str, Any]) -> dict[str, Any]:
    """ERR-17: no indicator in the exponent, so that every word counts once."""
    wrong = []
    for _row in problem.rows:
        whole = BALLS.of(Fraction(0))
        for share, theta in zip(problem.state.weights, problem.state.probabilities, strict=True):
            product = BALLS.of(Fraction(share))
            for value in theta:
                product *= BALLS.of(Fraction(value))
            whole += product
        wrong.append(whole.log())
    return {"row_log_likelihoods": wrong}


def misprints() -> VectorFile:
    """Misprints of the mixture."""
    file = _file("misprints", "Misprints")
    file.notes |= {
        "ERR-15": "misprint: the hidden label of a document inside the sum over components",
        "ERR-16": "misprint: an index on the right side that is not the one on the left",
        "ERR-17": "misprint: an exponent that is no indicator",
        "coefficient": "mistake: the likelihoods of sequences and of counts taken for each other",
    }
    rows = documents(312, 8, TOPICS, 6)
    state = CountState([0.4, 0.6], [[0.3, 0.3, 0.2, 0.1, 0.1], [0.1, 0.1, 0.2, 0.3, 0.3]])
    problem = Counts(rows, state)
    step(file, "mmix-err-15", problem, "", ("next.lower_bound",), flags=["ERR-15"], wrong=_stray)
    step(file, "mmix-err-16", problem, "", MSTEP, flags=["ERR-16"], wrong=_stuck)
    words = Counts([[1, 0, 0], [0, 0, 1]], TOY)
    keys, more = ("row_log_likelihoods",), ("NB-WORDPMF",)
    step(file, "mmix-err-17", words, "", keys, flags=["ERR-17"], wrong=_powers, more=more)
    step(
        file,
        "mmix-coefficient",
        problem,
        "",
        ("log_likelihood", WAYS),
        flags=["coefficient"],
        wrong=lambda _, found: {"log_likelihood": found[WAYS], WAYS: found["log_likelihood"]},
    )
    return file
