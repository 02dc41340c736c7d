"""What a name means to the specification: a clause, a metric or a method (chapters 10 to 55)."""

from __future__ import annotations

from typing import Any, Final

from refclust.errors import UnknownClause, UnknownMetric
from refclust.metrics.catalogue import ALIASES, Entry, parse_key
from refclust.numbers.reading import shown
from refclust.trace import clauses

# Methods by the names that people and the command line have for them.
METHODS: Final[dict[str, tuple[str, ...]]] = {
    "kmeans": ("KM-ALG",),
    "lloyd": ("KM-ALG",),
    "kmeans++": ("KM-PP",),
    "greedy": ("KM-GREEDY",),
    "farthest-first": ("KM-FARTHEST",),
    "spherical-kmeans": ("KM-COSROWS",),
    "bisecting": ("HC-BISECT",),
    "agglomerative": ("HC-AGG", "HC-LW"),
    "hierarchical": ("HC-AGG", "HC-LW"),
    "single": ("HC-SINGLE",),
    "complete": ("HC-COMPLETE",),
    "average": ("HC-AVERAGE",),
    "weighted": ("HC-WEIGHTED",),
    "centroid": ("HC-CENTROID",),
    "median": ("HC-MEDIAN",),
    "ward": ("HC-WARD",),
    "cophenetic": ("HC-COPH",),
    "em": ("EM-ALG",),
    "stochastic-em": ("EM-STOCH",),
    "monte-carlo-em": ("EM-MC",),
    "classification-em": ("CEM-ALG",),
    "gaussian": ("GMM-ALG", "EM-ALG"),
    "gmm": ("GMM-ALG", "EM-ALG"),
    "multinomial": ("MMIX-ALG", "EM-ALG"),
    "bernoulli": ("BMIX-LL", "EM-ALG"),
    "poisson": ("PMIX-LL", "EM-ALG"),
    "geometric": ("GEO-LL", "EM-ALG"),
    "variational": ("VB-GAUSS",),
    "naive-bayes": ("NB-PRED",),
    "gaussian-naive-bayes": ("GNB",),
    "lda": ("LDA-POOL", "LDA-LIN"),
    "qda": ("QDA-PARAM", "QDA-MAP"),
    "nearest-gaussian": ("NG-ASSIGN",),
    "bic": ("MS-BIC",),
    "aic": ("MS-AIC",),
    "icl": ("MS-ICL",),
    "gap": ("MS-GAP",),
    "stability": ("MS-STAB",),
    "elbow": ("MS-ELBOW",),
    "crossval": ("CE-KFOLD",),
    "kl": ("IT-KL",),
    "entropy": ("IT-ENT",),
}
_SPELLED: Final = {"k-means": "kmeans", "k-means++": "kmeans++", "gaussian-mixture": "gaussian"}


def meant(name: Any) -> tuple[list[str], Entry | None, dict[str, Any]]:
    """The clauses that a name stands for, and the metric with its options if it is one.

    Raises ``unknown-clause``, with the nearest names, if it is none of them.

    >>> from refclust import metrics
    >>> meant("kmeans")[0], meant("nmi[average=min]")[0], meant("ARI")[0]
    (['KM-ALG'], ['NMI-MIN'], ['ARI'])
    """
    if not isinstance(name, str):
        raise UnknownClause(f"{shown(name)} is no name of a clause, a metric or a method")
    known = clauses.load(clauses.spec_root())
    if name.strip().upper() in known:
        return [name.strip().upper()], None, {}
    plain = name.strip().lower().replace("_", "-").removesuffix("-mixture")
    plain = _SPELLED.get(plain, plain)
    try:
        entry, asked = parse_key(name)
    except UnknownMetric:
        if plain in METHODS:
            return list(METHODS[plain]), None, {}
        raise UnknownClause(_unknown(name, plain)) from None
    options = entry.checked(asked)
    return list(entry.cited(options)), entry, options


def _unknown(name: str, plain: str) -> str:
    """Say that a name is nothing known, and what it could be."""
    import difflib

    spec = clauses.spec_root()
    wanted, to_come = name.strip().upper(), clauses.planned(spec)
    if wanted in to_come:
        return f"{wanted} has no clause ({to_come[wanted].status}): {to_come[wanted].what}"
    close = [
        *difflib.get_close_matches(plain, METHODS, n=2),
        *difflib.get_close_matches(plain.replace("-", "_"), ALIASES, n=2),
        *difflib.get_close_matches(wanted, [*clauses.load(spec), *to_come], n=2),
    ]
    hint = f"did you mean {', '.join(close)}?" if close else "`refclust spec` lists all clauses"
    return f"{name!r} is neither a clause nor a metric nor a method; {hint}"
