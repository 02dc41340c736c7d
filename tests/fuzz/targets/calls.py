"""The Python interface, called with values of every kind that Python has."""

from __future__ import annotations

import functools
import math
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import refclust
from refclust.errors import RefclustError
from refclust.formulas.undefined import Undefined
from refclust.limits import limits
from refclust.metrics import catalogue
from refclust.metrics.calls.labelings import score
from tests.fuzz import hostile
from tests.fuzz.cases import ACCEPTED, Broken, Case, Draw, Ended, Target
from tests.fuzz.performing import OWN, refused
from tests.fuzz.targets import fits

# What only asks for more of the same work is kept small: whoever asks for a year of it gets it.
_WORK: Final = ("restarts", "trials", "samples", "limit")
_MOST_WORK: Final = 50
_MOST_FILES: Final = 2000  # below a folder: some names lead out of that of this input
_LARGE: Final = {"int": "1" + "0" * 400}
_TRUE, _PRED = [0, 0, 1, 1, 2, 2, 2], [1, 1, 1, 0, 0, 2, 2]
_STARTS: Final = {"array": ["q", [0, 1, 1, 2, 3]]}
_ROWS: Final[tuple[Any, ...]] = (
    fits.POINTS,
    {"numpy": ["f8", fits.POINTS]},
    {"numpy": ["f4", fits.POINTS]},
    {"csr": [[4, 2], _STARTS, {"array": ["q", [0, 1, 0]]}, {"array": ["d", [5, 1.5, 2]]}]},
)
_SPARSE: Final = [{"dict": [list(pair) for pair in row.items()]} for row in fits.NAMED]
_WEIGHTS: Final = [1, 2, 1, 1, 0.5, 1, 3, 1]
_EM: Final[Mapping[str, tuple[Any, ...]]] = {
    "seed": (0, 1, 7),
    "restarts": (1, 2),
    "tolerance": (None, 1e-3, 0),
    "limit": (0, 1, 5, 20),
    "start": ("points", "random"),
    "variation": ("em", "hard", "top", "generalized", "stochastic", "monte-carlo"),
    "top": (1, 2),
    "samples": (1, 3),
    "damping": (0.5, 1),
    "collapse": ("end", "drop", "reset"),
    "trace": ("scalars", "none", "parameters"),
}
# A function, arguments that work, options that may be added.
_CALLS: Final[tuple[tuple[str, list[tuple[Any, ...]], Mapping[str, tuple[Any, ...]]], ...]] = (
    ("kmeans", [_ROWS, (2, 3)], {
        "start": ("k-means++", "greedy", "random", "farthest", "random-centres"),
        "metric": ("euclidean", "cosine"), "weights": (_WEIGHTS,), "seed": (0, 3),
        "restarts": (1, 2), "trials": (None, 2), "empty": ("farthest", "split", "keep", "drop"),
        "tolerance": (None, 0.1), "limit": (0, 5), "trace": ("centres", "none"),
        "centres": (fits.POINTS[:2],), "labels": (fits.SIDES,)}),
    ("kmeans", [(_SPARSE,), (2,)], {"metric": ("cosine",), "centres": (_SPARSE[:2],)}),
    ("bisecting", [_ROWS, (2, 3)], {"metric": ("euclidean", "cosine"), "seed": (1,)}),
    ("agglomerative", [_ROWS], {
        "linkage": ("single", "complete", "average", "ward", "centroid", "median", "weighted"),
        "metric": ("euclidean", "cosine"), "k": (1, 2), "height": (0.5, 3)}),
    ("agglomerative", [], {"distances": ([3, 2, 1], [[0, 3, 2], [3, 0, 1], [2, 1, 0]])}),
    ("gaussian_mixture", [_ROWS, (1, 2)], {
        **_EM, "covariance": ("full", "tied", "EII", "VVI", "VEV"), "floor": (0, 0.1),
        "weights": (_WEIGHTS,), "labels": (fits.SIDES,)}),
    ("multinomial_mixture", [(fits.COUNTS, _SPARSE), (2,)], {
        **_EM, "m": (0, 1), "p": (None, [0.25, 0.25, 0.5]), "counts": ("whole", "fractional")}),
    ("bernoulli_mixture", [(fits.BITS,), (2,)], {**_EM, "m": (1,), "p": ([0.5, 0.5, 0.5],)}),
    ("naive_bayes", [(fits.COUNTS, _SPARSE), (fits.KINDS, fits.KINDS[:5])], {
        "smoothing": ("laplace",), "weights": ([1, 2, 1, 1, 1, 0],), "m": (1,)}),
    ("qda", [_ROWS, (fits.SIDES,)], {"floor": (0.1,), "weights": (_WEIGHTS,)}),
    ("lda", [_ROWS, (fits.SIDES,)], {"floor": (0, 0.1), "prior": ([0.5, 0.25, 0.25],)}),
    ("nearest_gaussian", [_ROWS, (fits.SIDES,)], {"floor": (0.1,)}),
    ("select", [_ROWS], {
        "k": ([1, 2], 2, {"range": 3}), "covariance": ("tied", ["EII", "tied"]),
        "criterion": ("bic", "aic", "icl"), "limit": (3,), "restarts": (1,)}),
    ("dataset", [_ROWS], {
        "weights": (_WEIGHTS,), "labels": (fits.SIDES,), "features": (["x", "y"],),
        "ids": (list("abcdefgh"),)}),
    ("contingency", [(_TRUE,), (_PRED,)], {
        "weights": ([1, 2, 1, 1, 1, 1, {"fraction": "1/3"}],), "noise": (0,),
        "noise_policy": ("ignore", "singletons", "ordinary")}),
    ("score", [("?",), (_TRUE,), (_PRED,)], {
        "weights": ([1, 2, 1, 1, 1, 1, 3],), "profile": ("sklearn",), "noise": (0,)}),
    ("score", [("?",), ([[5, 1, 0], [1, 4, 1]], [[2]], {"numpy": ["i8", [[1, 2], [3, 4]]]})], {}),
    ("score_all", [(_TRUE,), (_PRED,)], {"profile": ("sklearn",), "weights": ([1] * 7,)}),
    ("entropy", [([0.5, 0.25, 0.25], [{"fraction": "1/3"}, {"fraction": "2/3"}])], {}),
    ("kl", [([0.5, 0.5],), ([0.25, 0.75],)], {}),
    ("joint_mutual_information", [([[0.25, 0.25], [0.5, 0]],)], {}),
    ("predict", [("kmeans", "gaussian", "bayes"), (fits.POINTS[:3], fits.COUNTS[:2])], {}),
    ("load_model", [("nosuch.json", "-x", ".")], {}),
    ("read", [("nosuch.csv", ".", "nosuch")], {
        "delimiter": (",",), "header": (True,), "base": (1,)}),
)  # fmt: skip


def _made(draw: Draw) -> Case:
    name, given, known = draw.pick(_CALLS)
    arguments = [draw.pick(choices) for choices in given]
    if name == "score":
        arguments[0] = draw.pick(tuple(catalogue.ENTRIES))
    wanted = [option for option in known if draw.chance(min(0.25, 2.5 / len(known)))]
    if {"centres", "labels"} <= set(wanted):
        wanted.remove("labels")
    if name == "select" or (name == "agglomerative" and not given):
        wanted = [*known]
    options = {option: draw.pick(known[option]) for option in wanted}
    for _ in range(draw.pick((0, 0, 0, 1, 1, 1, 2))):
        place = draw.upto(len(arguments) + len(options) - 1)
        if place < len(arguments):
            arguments[place] = hostile.changed(draw, arguments[place])
        else:
            option = wanted[place - len(arguments)]
            value = hostile.changed(draw, options[option])
            large = value == _LARGE or (isinstance(value, int) and value > _MOST_WORK)
            options[option] = -1 if large and option in _WORK else value
    return Case({}, {"function": name, "arguments": arguments, "options": options})


@functools.cache
def _fitted(name: str) -> Any:
    match name:
        case "kmeans":
            return refclust.kmeans(fits.POINTS, 2)
        case "gaussian":
            return refclust.gaussian_mixture(fits.POINTS, 2, covariance="tied")
        case "bayes":
            return refclust.naive_bayes(fits.COUNTS, fits.KINDS, smoothing="laplace")
    raise ValueError(name)


def _run(case: Case) -> Ended:
    call = case.call
    try:
        arguments = [hostile.built(one) for one in call["arguments"]]
        options = {name: hostile.built(one) for name, one in call["options"].items()}
    except Exception as error:  # an array library that makes no array of this
        return Ended(OWN, type(error).__name__)
    name = call["function"]
    if name == "predict":
        if not isinstance(arguments[0], str) or arguments[0] not in ("kmeans", "gaussian", "bayes"):
            return Ended(OWN, "no fit")
        arguments[0] = _fitted(arguments[0])
    paths = _paths(arguments) if name in ("read", "load_model") else ()
    function = score if name == "score" else getattr(refclust, name)
    try:
        with warnings.catch_warnings(), limits(files=_MOST_FILES):
            warnings.simplefilter("ignore")
            found = function(*arguments, **options)
    except RefclustError as error:
        # What lies elsewhere changes while others work there: only that it is refused counts.
        return Ended(error.code) if any(map(_elsewhere, paths)) else refused(error, *paths)
    except Undefined as undefined:
        # No error, but a value that is no real number: one function has such a value.
        if (name, undefined.value) != ("kl", math.inf):
            raise Broken("only a divergence is infinite", f"{name}: {undefined}") from None
        return Ended("infinite", undefined.reason)
    return Ended(ACCEPTED, "" if any(map(_elsewhere, paths)) else _told(found))


def _paths(arguments: list[Any]) -> tuple[str, ...]:
    """The path that is read, if it is one."""
    given = arguments[0] if arguments else None
    return (str(given),) if isinstance(given, str | Path) and str(given) else ()


def _elsewhere(path: str) -> bool:
    """Whether there is such a place outside the folder of this input."""
    try:
        place = os.path.realpath(path)
        return os.path.exists(place) and not place.startswith(os.path.join(os.getcwd(), ""))
    except ValueError:  # no path at all
        return False


def _told(found: Any) -> str:
    labels = getattr(found, "labels", None)
    if labels is not None:
        return repr(list(labels))[:1000]
    return repr(float(found)) if isinstance(found, float) else type(found).__name__


def _prepare() -> None:
    for name in ("kmeans", "gaussian", "bayes"):
        _fitted(name)


TARGETS: Final[tuple[Target, ...]] = (Target("calls", _made, _run, 40, prepare=_prepare),)
