"""Refclust's own answers to the golden vectors of criteria and evidence (chapter 34)."""

from __future__ import annotations

import json
import math
from array import array
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from refclust.backends.session import Session
from refclust.data.accepting.door import dataset
from refclust.errors import BadVectorFile
from refclust.fitting.splits import folds
from refclust.kernels.mixtures.shared import SOFT, floats, shares
from refclust.mixture.bayes.counts import VariationalCounts
from refclust.mixture.bayes.fit import variational_gaussian, variational_multinomial
from refclust.mixture.bayes.gaussian import VariationalGaussian
from refclust.mixture.bayes.importance import importance_estimate
from refclust.mixture.choosing.criteria import Criteria
from refclust.mixture.choosing.criteria import criteria as criteria_of
from refclust.mixture.choosing.gap import chosen_gap, elbow, elbow_heights, gaps
from refclust.mixture.choosing.selection import select
from refclust.mixture.covariance.models import mixture_parameters
from refclust.mixture.families.counts.words import CountFamily
from refclust.mixture.families.gaussian.steps import GaussianFamily
from refclust.mixture.families.named.bernoulli import bernoulli_mixture
from refclust.mixture.families.named.gaussian import gaussian_mixture
from refclust.mixture.families.named.multinomial import multinomial_mixture
from refclust.mixture.passes import CountPasses, GaussianPasses
from refclust.mixture.theory import row_entropy
from refclust.vectors.answers import Answer, Input, Missing
from refclust.vectors.runners.mixtures.families import number, numbers, rows_of

_BELIEFS: Final = ("alpha", "beta", "nu", "means", "scales", "eta")
_CRITERIA: Final = ("bic", "aic", "icl", "icl_soft")


def criteria(inputs: Input, key: str, session: Session) -> Answer:
    """Answer one key of a case of ``selection.criteria``."""
    name, _, model = key.rstrip("]").partition("[model=")
    if name == "free_parameters":
        return Fraction(_free(model, int(inputs["k"]), int(inputs["d"])))
    if key != "df" and key not in _CRITERIA:
        raise BadVectorFile(f"no criterion is called {key!r}")
    free, criteria_of_fit = _charged(json.dumps(inputs), session.requested)
    return Fraction(free) if key == "df" else float(getattr(criteria_of_fit, key))


def evidence(inputs: Input, key: str, session: Session) -> Answer:
    """Answer one key of a case of ``selection.evidence``: with one component the bound is tight."""
    if key != "log_evidence":
        raise BadVectorFile(f"no reading of the evidence is called {key!r}")
    rows, backend = numbers(inputs["rows"]), session.requested
    if "concentration" in inputs:
        weight = number(inputs["concentration"])
        return variational_multinomial(rows, 1, concentration=weight, backend=backend).objective
    beta, nu = number(inputs["beta"]), number(inputs["nu"])
    return variational_gaussian(rows, 1, beta=beta, nu=nu, backend=backend).objective


def importance(inputs: Input, key: str, session: Session) -> Answer:  # noqa: ARG001
    """Answer one key of a case of ``selection.importance``."""
    if key not in ("log_evidence", "effective_sample_size"):
        raise BadVectorFile(f"no reading of importance weights is called {key!r}")
    log_evidence, effective = importance_estimate(numbers(inputs["log_weights"]))
    return log_evidence if key == "log_evidence" else effective


def curve(inputs: Input, key: str, session: Session) -> Answer:  # noqa: ARG001
    """Answer one key of a case of ``selection.curve``."""
    first, rss = int(inputs["first"]), [Fraction(x) for x in inputs["rss"]]
    points = list(enumerate(rss, first))
    if key == "heights":
        return elbow_heights(points) or Missing()
    if key == "elbow":
        return _place(elbow(points))
    if key not in ("gaps", "gap_errors", "gap_choice"):
        raise BadVectorFile(f"no reading of a curve is called {key!r}")
    logs = [[math.log(Fraction(x)) for x in line] for line in inputs["references"]]
    gaps_of_k = gaps([math.log(x) for x in rss], logs)
    if key == "gap_choice":
        place = chosen_gap(gaps_of_k, "Tibs2001SEmax")
        return _place(None if place is None else first + place)
    defined = [gap for gap in gaps_of_k if gap is not None]
    return [gap.value if key == "gaps" else gap.error for gap in defined]


def _place(k: int | None) -> Answer:
    return Missing() if k is None else Fraction(k)


def held_out(inputs: Input, key: str, session: Session) -> Answer:
    """Answer one key of a case of ``selection.held_out``."""
    rows, seed = numbers(inputs["rows"]), int(inputs["seed"])
    count = int(inputs["folds"])
    if key == "folds":
        return [[Fraction(i) for i in fold] for fold in folds(len(rows), count, seed=seed)]
    if key != "cv":
        raise BadVectorFile(f"no reading of held-out rows is called {key!r}")
    options: dict[str, Any] = {"criterion": "cv", "folds": count, "seed": seed}
    if "model" in inputs:
        options["covariance"] = inputs["model"]
    else:
        options |= {"model": inputs["kind"], "m": number(inputs["m"])}
    selection = select(rows, k=1, **options, backend=session.requested)
    return selection.candidates[0].values["cv"]


def variational(inputs: Input, key: str, session: Session) -> Answer:
    """Answer one key of a case of ``selection.variational``: one step from given shares."""
    name = key.removeprefix("beliefs.")
    if key not in ("bound", "responsibilities") and name not in _BELIEFS:
        raise BadVectorFile(f"no reading of a variational step is called {key!r}")
    step = _believed(json.dumps(inputs), session.requested)
    return step[key] if key in step else getattr(step["beliefs"], name)  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _believed(text: str, backend: str) -> dict[str, Any]:
    inputs = json.loads(text)
    rows, q = rows_of(inputs, backend), numbers(inputs["q"])
    alpha, k = number(inputs["alpha"]), len(q[0])
    family: Any
    if "concentration" in inputs:
        words = CountFamily(CountPasses(rows, k), inputs.get("kind", "multinomial"))
        family = VariationalCounts(words, alpha, number(inputs["concentration"]))
    else:
        normal = GaussianFamily(GaussianPasses(rows, k), inputs.get("model", "VVV"))
        family = VariationalGaussian(normal, alpha, number(inputs["beta"]), number(inputs["nu"]))
    moments = family.moments(array("d", (x for row in q for x in row)), k)
    point = family.following(moments, None).point
    expected = family.passes.expected(moments, point.densities)
    constant = rows.data.n * float(family.constant)
    entropy = math.fsum(row_entropy(row) for row in q)
    joint = floats(family.passes.posterior(point.densities, full=True).joint)
    return {
        "beliefs": point.parameters,
        "bound": math.fsum((expected, constant, point.log_prior, entropy)),
        "responsibilities": [
            shares(joint[begin : begin + k], SOFT).q for begin in range(0, len(joint), k)
        ],
    }


def _free(model: str, k: int, d: int) -> int:
    if model not in ("multinomial", "bernoulli"):
        return mixture_parameters(model.upper(), k, d)
    rows = rows_of({"rows": [["0"] * d]}, "reference")
    return CountFamily(CountPasses(rows, k), model).free_parameters(k)  # type: ignore[arg-type]


# A case asks for several criteria of one state; the last one is kept.
@lru_cache(maxsize=1)
def _charged(text: str, backend: str) -> tuple[int, Criteria]:
    inputs = json.loads(text)
    weights = numbers(inputs["weights"]) if "weights" in inputs else None
    data = dataset(numbers(inputs["rows"]), weights=weights)
    options: dict[str, Any] = {
        "parameters": numbers(inputs["state"]),
        "limit": 0,  # the state given is the fit
        "backend": backend,
    }
    fit: Any
    if "model" in inputs:
        fit = gaussian_mixture(data, covariance=inputs["model"], **options)
    else:
        make = multinomial_mixture if inputs["kind"] == "multinomial" else bernoulli_mixture
        fit = make(data, **options)
    return fit.free_parameters, criteria_of(fit, data, backend=backend)
