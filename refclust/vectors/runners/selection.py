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
from refclust.kernels.mixtures.shared import SOFT, plain, shares
from refclust.mixture.bayes.counts import VariationalCounts
from refclust.mixture.bayes.fit import variational_gaussian, variational_multinomial
from refclust.mixture.bayes.gaussian import VariationalGaussian
from refclust.mixture.bayes.importance import importance_estimate
from refclust.mixture.choosing.criteria import Criteria
from refclust.mixture.choosing.criteria import criteria as criteria_of
from refclust.mixture.choosing.gap import elbow, elbow_heights, first_gap, gaps
from refclust.mixture.choosing.held_out import folds
from refclust.mixture.choosing.selection import select
from refclust.mixture.covariance.models import mixture_parameters
from refclust.mixture.families.counts import CountFamily
from refclust.mixture.families.gaussian import GaussianFamily
from refclust.mixture.fit import bernoulli_mixture, gaussian_mixture, multinomial_mixture
from refclust.mixture.passes import CountPasses, GaussianPasses
from refclust.mixture.theory import row_entropy
from refclust.vectors.answers import Answer, Missing
from refclust.vectors.runners.mixtures import number, numbers, rows_of

_BELIEFS: Final = ("alpha", "beta", "nu", "means", "scales", "eta")
_CRITERIA: Final = ("bic", "aic", "icl", "icl_soft")


def criteria(given: dict[str, Any], key: str, session: Session) -> Answer:
    """Answer one key of a case of ``selection.criteria``."""
    name, _, model = key.rstrip("]").partition("[model=")
    if name == "free_parameters":
        return Fraction(_free(model, int(given["k"]), int(given["d"])))
    if key != "df" and key not in _CRITERIA:
        raise BadVectorFile(f"no criterion is called {key!r}")
    free, found = _charged(json.dumps(given), session.requested)
    return Fraction(free) if key == "df" else float(getattr(found, key))


def evidence(given: dict[str, Any], key: str, session: Session) -> Answer:
    """Answer one key of a case of ``selection.evidence``: with one component the bound is tight."""
    if key != "log_evidence":
        raise BadVectorFile(f"no reading of the evidence is called {key!r}")
    rows, backend = numbers(given["rows"]), session.requested
    if "concentration" in given:
        weight = number(given["concentration"])
        return variational_multinomial(rows, 1, concentration=weight, backend=backend).objective
    beta, nu = number(given["beta"]), number(given["nu"])
    return variational_gaussian(rows, 1, beta=beta, nu=nu, backend=backend).objective


def importance(given: dict[str, Any], key: str, session: Session) -> Answer:  # noqa: ARG001
    """Answer one key of a case of ``selection.importance``."""
    if key not in ("log_evidence", "effective_sample_size"):
        raise BadVectorFile(f"no reading of importance weights is called {key!r}")
    log_evidence, effective = importance_estimate(numbers(given["log_weights"]))
    return log_evidence if key == "log_evidence" else effective


def curve(given: dict[str, Any], key: str, session: Session) -> Answer:  # noqa: ARG001
    """Answer one key of a case of ``selection.curve``."""
    first, rss = int(given["first"]), [Fraction(x) for x in given["rss"]]
    points = list(enumerate(rss, first))
    if key == "heights":
        return elbow_heights(points) or Missing()
    if key == "elbow":
        return _place(elbow(points))
    if key not in ("gaps", "gap_errors", "gap_choice"):
        raise BadVectorFile(f"no reading of a curve is called {key!r}")
    logs = [[math.log(Fraction(x)) for x in line] for line in given["references"]]
    found = gaps([math.log(x) for x in rss], logs)
    if key == "gap_choice":
        place = first_gap(found)
        return _place(None if place is None else first + place)
    kept = [one for one in found if one is not None]
    return [one.value if key == "gaps" else one.error for one in kept]


def _place(k: int | None) -> Answer:
    return Missing() if k is None else Fraction(k)


def held_out(given: dict[str, Any], key: str, session: Session) -> Answer:
    """Answer one key of a case of ``selection.held_out``."""
    rows, seed = numbers(given["rows"]), int(given["seed"])
    count = int(given["folds"])
    if key == "folds":
        return [[Fraction(i) for i in fold] for fold in folds(len(rows), count, seed=seed)]
    if key != "cv":
        raise BadVectorFile(f"no reading of held-out rows is called {key!r}")
    options: dict[str, Any] = {"criterion": "cv", "folds": count, "seed": seed}
    if "model" in given:
        options["covariance"] = given["model"]
    else:
        options |= {"model": given["kind"], "m": number(given["m"])}
    found = select(rows, k=1, **options, backend=session.requested)
    return found.candidates[0].values["cv"]


def variational(given: dict[str, Any], key: str, session: Session) -> Answer:
    """Answer one key of a case of ``selection.variational``: one step from given shares."""
    name = key.removeprefix("beliefs.")
    if key not in ("bound", "responsibilities") and name not in _BELIEFS:
        raise BadVectorFile(f"no reading of a variational step is called {key!r}")
    step = _believed(json.dumps(given), session.requested)
    return step[key] if key in step else getattr(step["beliefs"], name)  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _believed(text: str, backend: str) -> dict[str, Any]:
    given = json.loads(text)
    rows, q = rows_of(given, backend), numbers(given["q"])
    alpha, k = number(given["alpha"]), len(q[0])
    family: Any
    if "concentration" in given:
        words = CountFamily(CountPasses(rows, k), given.get("kind", "multinomial"))
        family = VariationalCounts(words, alpha, number(given["concentration"]))
    else:
        normal = GaussianFamily(GaussianPasses(rows, k), given.get("model", "VVV"))
        family = VariationalGaussian(normal, alpha, number(given["beta"]), number(given["nu"]))
    moments = family.moments(array("d", (x for row in q for x in row)), k)
    point = family.following(moments, None).point
    expected = family.expected(moments, point.densities)
    constant = rows.data.n * float(family.constant)
    entropy = math.fsum(row_entropy(row) for row in q)
    joint = plain(family.posterior(point, full=True).joint)
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
    given = json.loads(text)
    weights = numbers(given["weights"]) if "weights" in given else None
    data = dataset(numbers(given["rows"]), weights=weights)
    options: dict[str, Any] = {
        "parameters": numbers(given["state"]),
        "limit": 0,  # the state given is the fit
        "backend": backend,
    }
    fit: Any
    if "model" in given:
        fit = gaussian_mixture(data, covariance=given["model"], **options)
    else:
        make = multinomial_mixture if given["kind"] == "multinomial" else bernoulli_mixture
        fit = make(data, **options)
    return fit.free_parameters, criteria_of(fit, data, backend=backend)
