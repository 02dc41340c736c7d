"""Classes from labelled rows as cases: keys, clauses and input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from .mixture_bounds import allowed
from .mixture_cases import labels
from .mixture_classify import Labelled, both, bounds, trained
from .mixture_numbers import encode, encode_wrong, told, told_rows, use_precision
from .values import Json
from .writer import VectorFile

ALL = ("scores", "posteriors", "labels")
COUNTS = ("weights", "probabilities")
NORMAL = ("weights", "means", "spreads", "discriminants", *ALL)
CLAUSES = {
    "weights": ("NB-PI", "QDA-PARAM"),
    "probabilities": ("NB-THETA", ""),
    "means": ("", "QDA-PARAM"),
    "spreads": ("", "QDA-PARAM"),
    "discriminants": ("", "QDA-DISC"),
    "scores": ("NB-SCORE", "QDA-JOINT"),
    "posteriors": ("BAYES-RULE", "BAYES-RULE"),
    "labels": ("NB-PRED", "QDA-MAP"),
    "linear.slopes": ("", "LDA-LIN"),
    "linear.offsets": ("", "LDA-LIN"),
    "totals": ("NB-MEST1H", ""),
    "log_likelihood": ("NB-CDLL", "MLE-SUP"),
}
Wrong = Callable[[dict[str, Any]], dict[str, Any]]


def case(
    file: VectorFile,
    slug: str,
    problem: Labelled,
    description: str,
    keys: Sequence[str],
    *,
    more: Sequence[str] = (),
    flags: list[str] | None = None,
    wrong: Wrong | None = None,
) -> None:
    """Append a case of either kind."""
    use_precision()
    first, second, exact = both(problem)
    found = {key: allowed(value) for key, value in bounds(problem, first).items()}
    expect: dict[str, Json] = {
        key: labels(first["joint"], found["scores"])
        if key == "labels"
        else encode(*trained(problem))
        if key == "log_likelihood"
        else encode(first[key], second[key], found[key], _rational(key, exact))
        for key in keys
    }
    misprint: dict[str, Json] | None = None
    if wrong is not None:
        misprint = {
            key: encode_wrong(value, first[key], found[key]) for key, value in wrong(first).items()
        }
    cited = {CLAUSES[key][problem.normal] for key in keys} | set(more)
    cited |= {"NB-MEST"} if problem.m else set()
    cited |= {"LDA-POOL"} if problem.model == "EEE" else set()
    cited |= {"GNB"} if problem.model == "VVI" else set()
    cited |= {"NG-ASSIGN"} if problem.prior == "equal" else set()
    cited |= {"BNB"} if problem.model == "bernoulli" else set()
    file.add(
        slug,
        _input(problem),
        expect,
        description,
        flags=flags,
        formulas=sorted(cited - {""}),
        misprint=misprint,
    )


def _rational(key: str, exact: dict[str, Any]) -> Any:
    if key == "totals":
        return [sum(row, Fraction(0)) for row in exact["probabilities"]]
    return exact.get(key)


def _input(problem: Labelled) -> dict[str, Json]:
    given: dict[str, Json] = {
        "rows": told_rows(problem.rows),
        "labels": [*problem.labels],
        "queries": told_rows(problem.queries),
        "model" if problem.normal else "kind": problem.model,
    }
    if problem.weights is not None:
        given["weights"] = [told(x) for x in problem.weights]
    if problem.m:
        given["m"] = str(problem.m)
    if problem.p:
        given["p"] = [str(x) for x in problem.p]
    if problem.prior != "documents":
        given["prior"] = problem.prior
    return given
