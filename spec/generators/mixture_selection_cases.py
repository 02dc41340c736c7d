"""Cases of chapter 34: criteria of a state, free parameters, evidence, importance sampling."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from flint import arb

from . import mixture_count_family as counted
from . import mixture_gaussian_family as normal
from .mixture_bounds import Matrix, Shares, allowed, total
from .mixture_cases import Family, cloud, tenths
from .mixture_count_cases import TOPICS, documents
from .mixture_counts import Counts, CountState
from .mixture_gaussian import Problem, State, lifted
from .mixture_numbers import (
    EXACT,
    NEVER,
    WITNESSES,
    encode,
    encode_wrong,
    floats_of,
    told,
    told_rows,
    use_precision,
)
from .mixture_selection import (
    SHAPES,
    Wishart,
    charged,
    dirichlet_balls,
    dirichlet_error,
    dirichlet_intervals,
    free_parameters,
    importance,
    importance_errors,
)
from .values import Json
from .writer import VectorFile

NOTES = {
    "numbers": "strings: an integer, a double in C99 hexadecimal, or a fraction",
    "pass": "an answer passes when it is within bound of the true value",
}
CRITERIA = ("bic", "aic", "icl", "icl_soft")


def _file(name: str, subject: str, title: str) -> VectorFile:
    return VectorFile(f"34-selection/{name}.json", subject, title, dict(NOTES))


def criteria() -> VectorFile:
    """Criteria of given states, and free parameters of all models."""
    file = _file("criteria", "selection.criteria", "Information criteria")
    file.notes |= {
        "criteria": "smaller is better: bic = df log W - 2 J, aic = 2 df - 2 J, W the whole weight",
        "icl": "bic - 2 sum w log max q; icl_soft = bic + 2 H(q)",
        "sign": "mistake: the opposite sign, larger is better, as mclust prints it",
        "rows": "mistake: the number of rows in the place of the sum of weights",
    }
    rows = cloud(371, 14, [[0.0, 0.0], [2.5, 1.0]], 1.5)
    for model in ("VVV", "EEE", "VVI", "VII", "EII"):
        state = normal.start(model, [0.25, 0.75], [[0.0, 0.0], [2.5, 1.0]])
        case(file, f"ms-{model.lower()}", Problem(rows, state, model), f"model {model}")
    weights = [1.0 + i % 3 for i in range(14)]
    state = normal.start("VVV", [0.25, 0.75], [[0.0, 0.0], [2.5, 1.0]])
    told_here = "weights count as copies: log of their sum"
    case(
        file,
        "ms-weights",
        Problem(rows, state, weights=weights),
        told_here,
        flags=["rows"],
        wrong=lambda found: {"bic": found["aic"] + 11 * (arb(14).log() - 2)},
    )
    alone = State([1.0], [[1.0, 0.5]], [[2.0, 0.5, 0.5, 1.0]])
    case(file, "ms-alone", Problem(rows, alone), "one component: icl is bic", CRITERIA[:2])
    far = normal.start("VVV", [0.5, 0.5], [[0.0, 0.0], [300.0, 0.0]])
    apart = [*rows[::2], *([x + 300.0, y] for x, y in rows[::2])]
    case(file, "ms-apart", Problem(apart, far), "components far apart: icl is bic but for 1e-19000")
    words = documents(372, 8, TOPICS, 6)
    topics = CountState([0.4, 0.6], [[0.3, 0.3, 0.2, 0.1, 0.1], [0.1, 0.1, 0.2, 0.3, 0.3]])
    case(file, "ms-multinomial", Counts(words, topics), "counts: (K - 1) + K (V - 1)")
    binary = [[int(x > 1) for x in row] for row in words]
    told_here = "presences: (K - 1) + K V"
    case(file, "ms-bernoulli", Counts(binary, topics, "bernoulli"), told_here)
    case(
        file,
        "ms-sign",
        Problem(rows, state),
        "smaller is better",
        CRITERIA[:2],
        flags=["sign"],
        wrong=lambda found: {key: -found[key] for key in CRITERIA[:2]},
    )
    for k, d in ((1, 1), (2, 3), (5, 4)):
        expect: dict[str, Json] = {
            f"free_parameters[model={name.lower()}]": {"exact": str(free_parameters(name, k, d))}
            for name in (*SHAPES, "multinomial", "bernoulli")
        }
        given: dict[str, Json] = {"k": str(k), "d": str(d)}
        file.add(
            f"ms-free-{k}-{d}", given, expect, f"K = {k}, d = {d}", formulas=["GMM-COVDF", "MS-BIC"]
        )
    return file


def case(
    file: VectorFile,
    slug: str,
    problem: Any,
    description: str,
    keys: tuple[str, ...] = CRITERIA,
    *,
    flags: list[str] | None = None,
    wrong: Any = None,
) -> None:
    """Append the criteria of a state."""
    use_precision()
    family = normal.GAUSSIAN if isinstance(problem, Problem) else counted.COUNTS
    name = problem.model if isinstance(problem, Problem) else problem.kind
    nu = free_parameters(name, len(problem.state.weights), len(problem.rows[0]))
    first, second = (_charged(family, field, problem, nu) for field in WITNESSES)
    flat = {key: floats_of(first[key]) for key in ("joint", "row_log_likelihoods", "q", "log_q")}
    shares = Shares(
        problem.masses,
        flat["joint"],
        family.errors(problem),
        flat["row_log_likelihoods"],
        flat["q"],
        flat["log_q"],
        False,
    )
    errors = charged(shares, shares.log_likelihood(), nu, total(problem.masses))
    bounds = {key: allowed(errors[key]) for key in keys}
    expect: dict[str, Json] = {key: encode(first[key], second[key], bounds[key]) for key in keys}
    expect["df"] = {"exact": str(nu)}
    misprint: dict[str, Json] | None = None
    if wrong is not None:
        misprint = {
            key: encode_wrong(x, first[key], bounds[key]) for key, x in wrong(first).items()
        }
    clauses = {"MS-BIC", "MS-AIC"} | ({"MS-ICL"} if "icl" in keys else set())
    file.add(
        slug,
        family.told(problem),
        expect,
        description,
        flags=flags,
        formulas=sorted(clauses),
        misprint=misprint,
    )


def _charged(family: Family, field: Any, problem: Any, nu: int) -> dict[str, Any]:
    found = family.evaluated(field, problem)
    weight = field.of(sum(map(Fraction, problem.masses), Fraction(0)))
    plain = -2 * found["log_likelihood"]
    bic = plain + nu * field.log(weight)
    sure = []
    for w, row in zip(problem.masses, found["log_q"], strict=True):
        likely = max((x for x in row if x is not NEVER), key=floats_of)
        sure.append(field.of(Fraction(w)) * likely)
    return {
        **found,
        "bic": bic,
        "aic": plain + 2 * nu,
        "icl": bic - 2 * field.total(sure),
        "icl_soft": bic + 2 * found["entropy"],
    }


def evidence() -> VectorFile:
    """Evidence with one component and conjugate priors."""
    file = _file("evidence", "selection.evidence", "Evidence of conjugate models")
    file.notes |= {
        "concentration": "one component, a Dirichlet prior with this number for every word",
        "beta": "one component, a normal-Wishart prior around the mean of the rows, its inverse "
        "scale their covariance (divisor n), of strength beta and freedom nu",
    }
    use_precision()
    sets: list[tuple[str, list[list[int]], str, str]] = [
        ("coin", [[1, 0], [0, 1]], "1", "a head and a tail under a uniform prior: 1/6"),
        ("words", documents(381, 6, TOPICS, 7), "1", "six documents of seven words"),
        ("sparse", documents(382, 4, TOPICS, 5), "1/8", "a sparse prior"),
        ("sure", [[3, 0, 2], [1, 1, 1]], "50", "a prior that is sure of itself"),
        ("many", [[500, 300, 200]], "1", "a thousand words"),
    ]
    for name, rows, alpha, words in sets:
        counts = [sum(column) for column in zip(*rows, strict=True)]
        prior = [Fraction(alpha)] * len(counts)
        value = dirichlet_balls(counts, prior), dirichlet_intervals(counts, prior)
        expect: dict[str, Json] = {
            "log_evidence": encode(*value, allowed(dirichlet_error(counts, prior)))
        }
        given: dict[str, Json] = {
            "rows": [[str(x) for x in row] for row in rows],
            "concentration": alpha,
        }
        file.add(f"ev-{name}", given, expect, words, formulas=["MS-EVID", "MS-VIID", "VB-MULT"])
    line = [[0.5], [1.5], [-0.25], [3.0]]
    _wishart(file, "line", line, "1", "1", "on the line: a normal-gamma prior")
    _wishart(file, "line-sure", line, "16", "21/2", "the same, a prior that is sure of itself")
    _wishart(file, "two", [[2.0], [5.0]], "1/2", "3", "two rows")
    plane = cloud(383, 9, [[1.0, 2.0]], 2.0)
    _wishart(file, "plane", plane, "1", "2", "two columns")
    space = tenths(cloud(384, 12, [[0.0, 1.0, 2.0]], 3.0))
    _wishart(file, "space", space, "1/4", "7/2", "three columns in tenths")
    return file


def _wishart(file: VectorFile, name: str, rows: Matrix, beta: str, nu: str, words: str) -> None:
    prior, exact = Wishart.of(rows, Fraction(beta), Fraction(nu)), lifted(EXACT, rows)
    value = prior.evidence_balls(exact), prior.evidence_intervals(exact)
    expect: dict[str, Json] = {"log_evidence": encode(*value, allowed(prior.error(rows)))}
    given: dict[str, Json] = {"rows": told_rows(rows), "beta": beta, "nu": nu}
    file.add(f"ev-{name}", given, expect, words, formulas=["MS-EVID", "MS-VIID", "VB-GAUSS"])


def samples() -> VectorFile:
    """Estimates from given weights."""
    file = _file("importance", "selection.importance", "Importance sampling from given weights")
    use_precision()
    draw = random.Random(391)
    sets = {
        "even": ([-3.0] * 8, "equal weights: as many effective samples as samples"),
        "one": ([0.0], "one sample"),
        "lone": ([-1.0, -801.0, -900.5, -1000.0], "one weight has it all: an effective size of 1"),
        "low": ([-1e5, -1e5 - 0.5, -1e5 - 1.25], "weights far below the least double"),
        "high": ([2000.0, 1999.5, 1990.0, 2000.25], "weights beyond the largest double"),
        "many": ([-100.0 + 4 * draw.random() for _ in range(40)], "forty weights"),
        "tail": ([-50.0 - 30 * draw.random() for _ in range(40)], "a few weights decide"),
    }
    for name, (logs, words) in sets.items():
        first, second = (importance(field, logs) for field in WITNESSES)
        errors = importance_errors(logs, first)
        exact: dict[str, Any] = {}
        if len(set(logs)) == 1:
            exact = {
                "log_evidence": Fraction(logs[0]),
                "effective_sample_size": Fraction(len(logs)),
            }
        expect: dict[str, Json] = {
            key: encode(first[key], second[key], allowed(errors[key]), exact.get(key))
            for key in first
        }
        given: dict[str, Json] = {"log_weights": [told(x) for x in logs]}
        file.add(f"is-{name}", given, expect, words, formulas=["MS-IS"])
    return file
