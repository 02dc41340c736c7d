"""Names that other libraries have for what is asked here: an error says how it is spelled here."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from typing import Any, Final, ParamSpec, TypeVar

from refclust.errors import UnknownOption

P = ParamSpec("P")
R = TypeVar("R")

# What other libraries say, and the names it may have here: the first that a call has.
SPELLINGS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("n_clusters", "n_components", "num_clusters", "nclusters", "G"), ("k",)),
    **dict.fromkeys(("random_state", "random_seed", "rng"), ("seed",)),
    **dict.fromkeys(("n_init", "nstart", "n_restarts"), ("restarts",)),
    **dict.fromkeys(("max_iter", "maxiter", "iter_max", "n_iter"), ("limit",)),
    **dict.fromkeys(("tol", "eps"), ("tolerance",)),
    **dict.fromkeys(("init", "init_params"), ("start",)),
    **dict.fromkeys(("centers", "initial_centers", "cluster_centers"), ("centres",)),
    **dict.fromkeys(("means_init", "weights_init", "precisions_init"), ("parameters",)),
    **dict.fromkeys(("resp", "z", "responsibilities"), ("start",)),
    **dict.fromkeys(("covariance_type", "modelNames", "model_names"), ("covariance",)),
    **dict.fromkeys(("reg_covar", "var_smoothing", "shrinkage"), ("floor",)),
    **dict.fromkeys(("sample_weight", "sample_weights"), ("weights",)),
    **dict.fromkeys(("affinity", "distance"), ("metric",)),
    **dict.fromkeys(("method",), ("linkage", "start")),
    **dict.fromkeys(("distance_threshold",), ("height",)),
    **dict.fromkeys(("n_splits", "cv", "n_folds"), ("folds",)),
    **dict.fromkeys(("n_repeats",), ("repeats",)),
    **dict.fromkeys(("n_samples", "size"), ("n",)),
    **dict.fromkeys(("priors", "class_prior"), ("prior",)),
    **dict.fromkeys(("X", "x"), ("data", "rows")),
    **dict.fromkeys(("y", "target"), ("labels", "labels_true")),
    **dict.fromkeys(("y_true", "true", "truth"), ("labels_true", "truth")),
    **dict.fromkeys(("y_pred", "pred", "predicted"), ("labels_pred", "predicted")),
    **dict.fromkeys(("y_score", "y_prob", "y_proba"), ("scores", "labels_pred")),
    **dict.fromkeys(("average_method",), ("average",)),
    **dict.fromkeys(("pos_label",), ("positive",)),
    **dict.fromkeys(("normalized", "adjusted"), ("profile",)),
    **dict.fromkeys(("labels",), ("classes",)),
    **dict.fromkeys(("alpha",), ("m",)),
}


def here(name: str, known: Collection[str]) -> str:
    """What an option of another library is called in a call that knows some names, if anything.

    >>> here("n_clusters", ["data", "k"]), here("n_jobs", ["data", "k"])
    ('k', '')
    """
    return next((own for own in SPELLINGS.get(name, ()) if own in known), "")


def spelled(function: Callable[P, R]) -> Callable[P, R]:
    """Have a function refuse the names of other libraries with an error that says its own."""
    names = [*inspect.signature(function).parameters]

    @functools.wraps(function)
    def called(*arguments: P.args, **options: P.kwargs) -> R:
        owner: Any = arguments[0] if arguments else None
        entry = getattr(owner, "entry", None)  # of a metric
        known = [*names, *getattr(entry, "options", ())]
        for name in options:
            if name not in known and (own := here(name, known)):
                title = getattr(entry, "name", function.__name__)
                raise UnknownOption(f"{title} has no option {name}; here it is called {own}")
        return function(*arguments, **options)

    return called
