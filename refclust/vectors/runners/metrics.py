"""Refclust's own answers to the golden vectors: one runner per subject of vector file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from refclust.backends.session import Session
from refclust.data import vectors
from refclust.errors import BadVectorFile, EmptyInput, RefclustError
from refclust.formulas import information, matching
from refclust.formulas.pairs import pair_counts
from refclust.formulas.undefined import Undefined
from refclust.metrics import catalogue
from refclust.metrics.contingency import Contingency, contingency
from refclust.metrics.score import Score, evaluate
from refclust.numbers import logspace, real, sampling
from refclust.numbers.real import Real
from refclust.vectors.answers import Answer, Computed, Missing, Refused
from refclust.vectors.runners import classify as classify_runners
from refclust.vectors.runners import clusters as cluster_runners
from refclust.vectors.runners import mixtures as mixture_runners
from refclust.vectors.runners import runs as run_runners
from refclust.vectors.runners import selection as selection_runners
from refclust.vectors.runners import sums as sums_runners
from refclust.vectors.runners import texts as text_runners
from refclust.vectors.runners import trees as tree_runners

Input: TypeAlias = dict[str, Any]
Runner: TypeAlias = Callable[[Input, str, Session], Answer]

_PER_CLUSTER: Mapping[str, Callable[[Contingency], tuple[Real, ...]]] = {
    "cluster_purity": matching.cluster_purity,
    "cluster_recall": matching.cluster_recall,
    "cluster_f": matching.cluster_f,
}
_WHOLE_TABLE: Mapping[str, Callable[[Contingency], Any]] = {
    "table": Contingency.rows,
    "row_sums": lambda table: table.row,
    "column_sums": lambda table: table.col,
    "total": lambda table: table.total,
}


def answer(subject: str, given: Input, key: str, session: Session) -> Answer:
    """Return refclust's answer to one key of one case."""
    if subject not in RUNNERS:
        raise BadVectorFile(f"no runner for the subject {subject!r}; known: {', '.join(RUNNERS)}")
    try:
        return RUNNERS[subject](given, key, session)
    except RefclustError as refusal:
        return Refused(refusal.code)
    except Undefined as missing:
        return Missing() if math.isnan(missing.value) else missing.value


def refusal(subject: str, given: Input, session: Session) -> Answer:
    """Return the error with which refclust refuses the input of a whole case."""
    keys = {
        "metrics.external": ["purity"],
        "metrics.contingency": ["purity"],
        "information.distributions": [_distribution_key(given)],
        "data.vectors": (
            ["distance_matrix", "similarity_matrix"]
            if "rows" in given
            else ["dot", "squared_distance", "distance", "cosine"]
        ),
        "data.text": list(text_runners.REFUSED_KEYS),
        "cluster.kmeans": ["labels"],
        "cluster.seeding": ["starts"],
        "cluster.bisecting": ["labels"],
        "cluster.hierarchical": ["merges"],
        "mixture.run": ["labels"],
    }[subject]
    answers = [answer(subject, given, key, session) for key in keys]
    return answers[0] if all(one == answers[0] for one in answers) else answers


def _external(given: Input, key: str, session: Session) -> Answer:
    table = _table(given, session)
    name = key.partition("[")[0]
    if not table.row:
        raise EmptyInput("there is no object to score")
    if name in _PER_CLUSTER:
        return [Computed(value) for value in _PER_CLUSTER[name](table)]
    if name in _WHOLE_TABLE:
        return _fractions(_WHOLE_TABLE[name](table))
    if name == "pair_counts":
        convention = "ordered" if "ordered" in key else "unordered"
        return [Computed(value) for value in pair_counts(table, pairs=convention)]
    entry, options = catalogue.parse_key(key)
    return _of_score(evaluate(entry, table, options, session=session))


def _of_score(score: Score) -> Answer:
    if score.undefined is not None:
        return Missing() if math.isnan(score) else float(score)
    return float(score) if score.exact is None else Computed(score.exact)


def _table(given: Input, session: Session) -> Contingency:
    if "table" in given:
        return Contingency.of_rows(given["table"])
    keywords = {name: given[name] for name in ("weights", "noise", "noise_policy") if name in given}
    return contingency(given["labels_true"], given["labels_pred"], session=session, **keywords)


def _fractions(value: Any) -> Answer:
    return (
        [_fractions(item) for item in value] if isinstance(value, list | tuple) else Fraction(value)
    )


def _distribution(given: Input, key: str, session: Session) -> Answer:  # noqa: ARG001
    name, _, rest = key.partition("[base=")
    base = Fraction(rest.rstrip("]")) if rest else None
    if name == "entropy":
        value = information.entropy(given["p"], base=base)
    elif name == "kl":
        value = information.kl(given["q"], given["p"], base=base)
    elif name == "joint_mutual_information":
        value = information.joint_mutual_information(given["joint"], base=base)
    else:
        raise BadVectorFile(f"no distribution function is called {key!r}")
    return Computed(value)


def _distribution_key(given: Input) -> str:
    if "joint" in given:
        return "joint_mutual_information"
    return "kl" if "q" in given else "entropy"


def _real(given: Input, key: str, session: Session) -> Answer:  # noqa: ARG001
    x = build(given["expression"])
    if key == "value":
        return Computed(x)
    if key == "sign":
        return Fraction(x.sign())
    raise BadVectorFile(f"no reading of a real is called {key!r}")


_FUNCTIONS: Mapping[str, Callable[[Real], Real]] = {
    "log": real.log,
    "exp": real.exp,
    "sqrt": real.sqrt,
}


def build(expression: Any) -> Real:
    """Build a real from its tree in JSON: a rational as a string, or [operator, arguments…].

    >>> float(build(["/", ["log", "8"], ["log", "2"]]))
    3.0
    """
    if isinstance(expression, str):
        return Real(expression)
    operator, *arguments = expression
    if operator == "^":
        base, exponent = arguments
        return build(base) ** int(exponent)
    values = [build(argument) for argument in arguments]
    if operator in _FUNCTIONS:
        return _FUNCTIONS[operator](*values)
    if operator == "-" and len(values) == 1:
        return -values[0]
    result, *rest = values
    for value in rest:
        if operator == "+":
            result = result + value
        elif operator == "-":
            result = result - value
        elif operator == "*":
            result = result * value
        elif operator == "/":
            result = result / value
        else:
            raise BadVectorFile(f"no operator is called {operator!r}")
    return result


def _vectors(given: Input, key: str, session: Session) -> Answer:  # noqa: ARG001
    if key in ("distance_matrix", "similarity_matrix"):
        rows = [_vector(row) for row in given["rows"]]
        return getattr(vectors, key)(rows)  # type: ignore[no-any-return]
    if key == "norm":
        return vectors.norm(_vector(given["x"]))
    if key not in ("dot", "squared_distance", "distance", "cosine"):
        raise BadVectorFile(f"no operation on vectors is called {key!r}")
    return getattr(vectors, key)(_vector(given["x"]), _vector(given["y"]))  # type: ignore[no-any-return]


def _vector(given: Any) -> Any:
    if isinstance(given, dict):
        return {key: _number(value) for key, value in given["sparse"]}
    return [_number(value) for value in given]


def _number(text: Any) -> Any:
    """Read a number of a vector file; what is no number is passed on to be refused."""
    if not isinstance(text, str):
        return text
    if "0x" in text:
        return float.fromhex(text)
    return float(text) if text in ("nan", "inf", "-inf") else Fraction(text)


def _logspace(given: Input, key: str, session: Session) -> Answer:  # noqa: ARG001
    if key == "log1mexp":
        return logspace.log1mexp(_number(given["x"]))
    if key == "xlogy":
        return logspace.xlogy(_number(given["x"]), _number(given["y"]))
    weights = [_number(text) for text in given["log_weights"]]
    if key == "logsumexp":
        return logspace.logsumexp(weights)
    shares, total = logspace.normalise(weights)
    return shares if key == "log_shares" else total


def _sampling(given: Input, key: str, session: Session) -> Answer:  # noqa: ARG001
    rng = sampling.stream(int(given["seed"]))
    if key == "numbers":
        return [Fraction(rng.random()) for _ in range(5)]
    if key == "indices":
        return [Fraction(sampling.below(rng, int(given["k"]))) for _ in range(8)]
    if key == "order":
        return [Fraction(item) for item in sampling.shuffled(rng, range(int(given["s"])))]
    raise BadVectorFile(f"no reading of a random stream is called {key!r}")


RUNNERS: Mapping[str, Runner] = {
    "metrics.external": _external,
    "metrics.contingency": _external,
    "information.distributions": _distribution,
    "numbers.real": _real,
    "numbers.logspace": _logspace,
    "numbers.sampling": _sampling,
    "data.vectors": _vectors,
    "data.text": text_runners.text,
    "cluster.kmeans": cluster_runners.kmeans,
    "cluster.seeding": cluster_runners.seeding,
    "cluster.bisecting": cluster_runners.bisecting,
    "cluster.hierarchical": tree_runners.hierarchical,
    "mixture.gaussian": mixture_runners.gaussian,
    "mixture.counts": mixture_runners.counts,
    "mixture.run": run_runners.run,
    "mixture.sample": run_runners.sample,
    "mixture.sums": sums_runners.sums,
    "classify.counts": classify_runners.counts,
    "classify.gaussian": classify_runners.gaussian,
    "selection.criteria": selection_runners.criteria,
    "selection.evidence": selection_runners.evidence,
    "selection.importance": selection_runners.importance,
    "selection.variational": selection_runners.variational,
    "selection.curve": selection_runners.curve,
    "selection.held_out": selection_runners.held_out,
}
