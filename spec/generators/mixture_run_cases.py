"""Cases of whole runs: variations, starts, stops."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from .make_sampling import Twister
from .mixture_bounds import allowed
from .mixture_cases import cloud, labels
from .mixture_count_cases import TOPICS, documents
from .mixture_counts import CountState
from .mixture_gaussian import MODELS, State
from .mixture_gaussian_bounds import flat
from .mixture_gaussian_family import start, told_state
from .mixture_numbers import encode, floats_of, told, told_rows, use_precision
from .mixture_run import Run
from .mixture_run_passes import SAMPLED, Done, done
from .values import Json
from .writer import VectorFile

OPTIONS = {"top": "top", "generalized": "damping", "monte-carlo": "samples"}
CLAUSES = {
    "em": "EM-ESTEP EM-MSTEP",
    "hard": "CEM-ALG",
    "top": "EM-VAR",
    "generalized": "EM-GEM",
    "stochastic": "EM-STOCH",
    "monte-carlo": "EM-MC",
}


def case(file: VectorFile, slug: str, run: Run, description: str) -> None:
    """Append a case."""
    use_precision()
    stream = Twister(run.seed)
    all_runs = [done(run, stream) for _ in range(run.restarts)]
    ends = [one.passes[one.best] for one in all_runs]
    pairs = [
        one.likelihood_and_prior()
        if run.variation in SAMPLED
        else (floats_of(one.objective[0]), one.errors[1])
        for one in ends
    ]
    values = [value for value, _ in pairs]
    best = values.index(max(values))
    slack = 8 * max(error for _, error in pairs)
    assert all(i == best or values[best] - x > slack for i, x in enumerate(values))
    found = all_runs[best]
    expect: dict[str, Json] = {
        "trace.log_likelihood": _trace(found, "log_likelihood", 0),
        "trace.objective": _trace(found, "objective", 1),
        "iterations": {"exact": str(len(found.passes) - 1)},
        "stopped": {"exact": "0" if found.stopped == "tolerance" else "1"},
        **_parameters(run, found),
    }
    last = found.passes[found.best]
    expect["labels"] = labels(last.logs, last.joint_errors)
    if run.variation in SAMPLED:
        del expect["trace.objective"]
    if run.restarts > 1:
        expect["best"] = {"exact": str(best)}
        expect["runs.log_likelihood"] = {
            "list": [encode(*one.log_likelihood, allowed(one.errors[0])) for one in ends]
        }
    cited = {"EM-ALG", "EM-STOP", *CLAUSES[run.variation].split(), "EM-PRED"}
    cited |= {"GMM-ALG"} if run.normal else {"MMIX-ALG"} if run.model == "multinomial" else set()
    cited |= {"EM-INIT"} if isinstance(run.start, list | str) else set()
    cited |= {"EM-RESTART"} if run.restarts > 1 else set()
    cited |= {"KM-INITMIX"} if run.start == "kmeans" else set()
    file.add(slug, _input(run), expect, description, formulas=sorted(cited))


def _trace(found: Done, name: str, place: int) -> dict[str, Json]:
    pairs = [(getattr(one, name), allowed(one.errors[place])) for one in found.passes]
    return {"list": [encode(first, second, bound) for (first, second), bound in pairs]}


def _parameters(run: Run, found: Done) -> dict[str, Json]:
    one = found.passes[found.best]
    (first, second), off = one.theta, one.off
    names = ("weights", "means", "spreads") if run.normal else ("weights", "probabilities")
    if run.normal:
        form = MODELS[run.model][0]
        first, second, off = (
            [theta[0], theta[1], [flat(form, matrix) for matrix in theta[2]]]
            for theta in (first, second, off)
        )
    return {
        name: encode(a, b, allowed(c))
        for name, a, b, c in zip(names, first, second, off, strict=True)
    }


def _input(run: Run) -> dict[str, Json]:
    given: dict[str, Json] = {
        "rows": told_rows(run.rows),
        "model" if run.normal else "kind": run.model,
        "k": str(run.k),
        "limit": str(run.limit),
    }
    if isinstance(run.start, State):
        given["start"] = told_state(run.start)
    elif isinstance(run.start, CountState):
        given["start"] = {
            "weights": [told(x) for x in run.start.weights],
            "probabilities": told_rows(run.start.probabilities),
        }
    else:
        given["start"] = [*run.start] if isinstance(run.start, list) else run.start
    if run.variation != "em":
        given["variation"] = run.variation
    if run.variation in OPTIONS:
        given[OPTIONS[run.variation]] = str(run.option)
    if run.tolerance:
        given["tolerance"] = str(run.tolerance)
    if run.seed:
        given["seed"] = str(run.seed)
    if run.weights is not None:
        given["weights"] = [told(x) for x in run.weights]
    if run.m:
        given["m"] = str(run.m)
    if run.restarts > 1:
        given["restarts"] = str(run.restarts)
    return given


def runs() -> VectorFile:
    """Whole runs."""
    notes = {
        "numbers": "strings: an integer, a double in C99 hexadecimal, or a fraction",
        "trace": "of each pass, the start included",
        "stopped": "0 tolerance, 1 limit",
        "pass": "an answer passes when it is within bound of the true value",
    }
    file = VectorFile("30-mixtures/runs.json", "mixture.run", "Whole runs", notes)
    rows = cloud(301, 12, [[0.0, 0.0], [2.0, 0.75]], 1.5)
    two = start("VVV", [0.5, 0.5], [[0.0, 0.5], [2.5, 0.0]])
    run = Run(rows, "VVV", two, 2)
    case(file, "run-em", run, "three iterations")
    case(file, "run-limit-0", replace(run, limit=0), "no iteration: the start with its objective")
    stop = replace(run, tolerance=Fraction(1, 4), limit=50)
    case(file, "run-tolerance", stop, "ends by a gain of at most a quarter for each row")
    apart = cloud(301, 12, [[0.0, 0.0], [3.0, 1.0]], 1.5)
    hard = replace(run, rows=apart, variation="hard", tolerance=Fraction(1, 2**20), limit=20)
    case(file, "run-hard", hard, "classification EM, until nothing changes")
    damped = replace(run, variation="generalized", option=Fraction(1, 2))
    case(file, "run-damped", damped, "half of the way in every step")
    three = cloud(302, 12, [[0.0], [3.0], [7.0]], 2.0)
    line = start("VII", [0.25, 0.25, 0.5], [[0.0], [3.0], [7.0]])
    kept = Run(three, "VII", line, 3, "top", Fraction(2))
    case(file, "run-top", kept, "two of three components for each row: the bound is below J")
    single = Run(rows, "EII", start("EII", [0.5, 0.5], [[0.0, 0.5], [2.5, 0.0]]), 2)
    drawn = replace(single, variation="stochastic", seed=8, limit=4)
    case(file, "run-stochastic", drawn, "one draw for each row")
    several = replace(drawn, variation="monte-carlo", option=Fraction(5), seed=3)
    case(file, "run-monte-carlo", several, "five draws for each row")
    given = [0, 0, 1, 1, 0, 1] * 2
    case(file, "run-labels", replace(single, start=given), "from labels, an M-step first")
    random = replace(single, start="random", seed=11, limit=2)
    case(file, "run-random", random, "from random responsibilities")
    several = replace(random, restarts=3, limit=1)
    case(file, "run-restarts", several, "three starts on one stream")
    case(file, "run-kmeans", replace(single, start="kmeans", seed=5), "from k-means")
    case(file, "run-points", replace(single, start="points", seed=4), "from random rows")
    flat_rows = [[0.0], [0.0], [0.0], [5.0], [7.0], [6.5]]
    line = start("VVV", [0.5, 0.5], [[0.0], [6.0]])
    collapsed = Run(flat_rows, "VVV", line, 2, "hard", limit=5)
    error: dict[str, Json] = {"error": "degenerate-covariance"}
    told_here = "a component of equal rows has lost its spread"
    file.add("run-collapsed", _input(collapsed), error, told_here, formulas=["GMM-COLLAPSE"])
    weights = [1.0 + i % 3 for i in range(12)]
    case(file, "run-weights", replace(run, weights=weights, limit=2), "weights of rows")
    words = documents(303, 8, TOPICS, 6)
    topics = CountState([0.4, 0.6], [[0.3, 0.3, 0.2, 0.1, 0.1], [0.1, 0.1, 0.2, 0.3, 0.3]])
    counts = Run(words, "multinomial", topics, 2)
    case(file, "run-words", counts, "documents")
    case(
        file,
        "run-words-labels",
        replace(counts, start=[0, 1] * 4, m=Fraction(1)),
        "from labels, smoothed",
    )
    binary = [[int(x > 0) for x in row] for row in words]
    case(
        file, "run-presences", replace(counts, rows=binary, model="bernoulli", limit=2), "presences"
    )
    _variations(file, counts, binary)
    _starts(file, single)
    return file


def _variations(file: VectorFile, counts: Run, binary: list[list[int]]) -> None:
    """The variations once more, on counts, with weights, and with other options."""
    smooth = replace(counts, m=Fraction(1))
    hard = replace(smooth, variation="hard", tolerance=Fraction(1, 2**20), limit=20)
    case(file, "run-hard-words", hard, "classification EM of documents, smoothed")
    uneven = replace(hard, rows=binary, model="bernoulli", weights=[1.0 + i % 2 for i in range(8)])
    case(file, "run-hard-presences", uneven, "classification EM of presences with weights")
    topics = CountState(
        [0.25, 0.25, 0.5],
        [[0.4, 0.3, 0.1, 0.1, 0.1], [0.1, 0.1, 0.2, 0.2, 0.4], [0.2, 0.1, 0.4, 0.2, 0.1]],
    )
    three = replace(smooth, start=topics, k=3, variation="top", option=Fraction(2))
    case(file, "run-top-words", three, "two of three components for each document")
    one = replace(three, option=Fraction(1), limit=1)
    case(file, "run-top-one", one, "one component for each document: classification EM")
    slow = replace(smooth, variation="generalized", option=Fraction(1, 4))
    case(file, "run-damped-words", slow, "a quarter of the way in every step, with a prior")
    there = replace(slow, rows=binary, model="bernoulli", option=Fraction(3, 4), limit=2)
    case(file, "run-damped-presences", there, "three quarters of the way, presences")
    drawn = replace(smooth, variation="stochastic", seed=6)
    case(file, "run-stochastic-words", drawn, "one draw for each document")
    again = replace(drawn, seed=9, limit=2, restarts=2)
    case(file, "run-stochastic-restarts", again, "two runs from one start, other draws")
    many = replace(drawn, variation="monte-carlo", option=Fraction(3), seed=2)
    case(file, "run-monte-carlo-words", many, "three draws for each document")
    weights = [1.0, 2.0] * 4
    weighted = replace(many, rows=binary, model="bernoulli", seed=5, weights=weights, limit=2)
    case(file, "run-monte-carlo-presences", weighted, "three draws, weights of rows")


def _starts(file: VectorFile, single: Run) -> None:
    """Starts from k-means and several runs, with other rows and weights."""
    rows = cloud(304, 10, [[0.0, 1.0], [2.0, 0.0]], 1.5)
    line = Run(rows, "EII", "kmeans", 2, seed=2, weights=[1.0 + i % 2 for i in range(10)], limit=2)
    case(file, "run-kmeans-weights", line, "from k-means, with weights")
    best = replace(line, start="random", k=2, seed=21, limit=2, restarts=4, tolerance=Fraction(0))
    case(file, "run-restarts-weights", best, "four starts on one stream, with weights")
    plain = replace(single, model="VVV", start="kmeans", seed=17, limit=0)
    case(file, "run-kmeans-0", plain, "k-means and one M-step, and no iteration")
