"""How other libraries judge one clustering by pairs of objects (chapters 46 and 48)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from refclust.formulas.clustered import Clustered
from refclust.formulas.proximity import diameter, nearest_squared, orders, pair_counts
from refclust.metrics.profiles.rules import Case, Options, Quirk, Rule

# -- conditions on a clustering -------------------------------------------------------------


def _one_cluster(clustered: Clustered, _: Options) -> bool:
    return clustered.k == 1


def _all_single(clustered: Clustered, _: Options) -> bool:
    return clustered.k == clustered.total


def _some_single(clustered: Clustered, _: Options) -> bool:
    return 1 in clustered.sizes


def _in_one_place(clustered: Clustered) -> list[int]:
    """The clusters of two objects or more that lie in one place."""
    return [
        k
        for k in range(clustered.k)
        if clustered.sizes[k] > 1 and diameter(clustered, k, "farthest").sign() == 0
    ]


def _all_in_one_place(clustered: Clustered, _: Options) -> bool:
    large = sum(size > 1 for size in clustered.sizes)
    return len(_in_one_place(clustered)) == large


def _some_in_one_place(clustered: Clustered, options: Options) -> bool:
    return bool(_in_one_place(clustered)) and not _all_in_one_place(clustered, options)


def _zero_over_zero(clustered: Clustered, _: Options) -> bool:
    """Whether an object that is not alone has two clusters at distance 0."""
    points = [k for k in range(clustered.k) if diameter(clustered, k, "farthest").sign() == 0]
    return any(
        nearest_squared(clustered, k, m) == 0
        for k in _in_one_place(clustered)
        for m in points
        if m != k
    )


def _only_ties(clustered: Clustered, _: Options) -> bool:
    return all(pair_counts(clustered)) and not any(orders(clustered))


def _some_ties(clustered: Clustered, _: Options) -> bool:
    inside, between = pair_counts(clustered)
    return 0 < sum(orders(clustered)) < inside * between


# -- the libraries --------------------------------------------------------------------------

_ANY: Final[tuple[Any, ...]] = ()  # every value of the option
_SIX: Final = ("nearest", "farthest", "mean", "centres", "own_centres", "hausdorff")
_ONE_RAISES: Final = Case(_one_cluster, math.nan, "ValueError")
_SINGLE_RAISES: Final = Case(_all_single, math.nan, "ValueError")
_ABORTS: Final = "an assertion that ends the interpreter"

_SKLEARN: Final[Mapping[str, Rule]] = {
    "silhouette": Rule(
        "silhouette_score(X, labels), silhouette_samples(X, labels)",
        cases=(_ONE_RAISES, _SINGLE_RAISES),
        offers={"point": _ANY},
    ),
}


def _lacks_mean(clustered: Clustered, options: Options) -> bool:
    return options["average"] == "larger" and _all_single(clustered, options)


_GENIECLUST: Final[Mapping[str, Rule]] = {
    "silhouette": Rule(
        "silhouette_index(X, y), silhouette_w_index(X, y)",
        cases=(
            _ONE_RAISES,
            Case(_zero_over_zero, math.nan, _ABORTS),
            Case(_lacks_mean, math.nan, _ABORTS),
        ),
        offers={"average": ("points", "larger")},
    ),
    "dunn": Rule(
        "generalised_dunn_index(X, y, d, D)",
        cases=(_ONE_RAISES,),
        offers={"between": _SIX, "within": ("farthest", "centre")},
    ),
}

_TORCHMETRICS: Final[Mapping[str, Rule]] = {
    "dunn": Rule(
        "dunn_index(X, labels)",
        cases=(_ONE_RAISES,),
        defaults={"between": "centres", "within": "radius"},
    ),
}

_PERMETRICS: Final[Mapping[str, Rule]] = {
    "silhouette": Rule(
        "silhouette_index()", cases=(Case(_one_cluster, -1), Case(_all_in_one_place, 0))
    ),
    "dunn": Rule(
        "dunn_index(use_modified=…)",
        cases=(Case(_one_cluster, 0), Case(_all_in_one_place, 0)),
        defaults={"between": "to_centre"},
        offers={"between": ("to_centre", "nearest")},
    ),
}

_CLUSTERCRIT: Final[Mapping[str, Rule]] = {
    "silhouette": Rule(
        "intCriteria(X, labels, 'Silhouette')",
        cases=(
            Case(_one_cluster, 1),
            Case(_some_single, math.nan),
            Case(_zero_over_zero, math.nan),
        ),
        defaults={"average": "clusters"},
    ),
    "dunn": Rule(
        "intCriteria(X, labels, 'Dunn'), 'GDI11' to 'GDI53'",
        offers={"between": _SIX[:5], "within": ("farthest", "centre")},
    ),
    "c_index": Rule("intCriteria(X, labels, 'C_index')"),
    "beta_cv": Rule("intCriteria(X, labels, 'McClain_Rao')"),
    "baker_hubert_gamma": Rule("intCriteria(X, labels, 'Gamma')", cases=(Case(_only_ties, 1),)),
    "g_plus": Rule("intCriteria(X, labels, 'G_plus')"),
    "tau_index": Rule("intCriteria(X, labels, 'Tau')"),
    "point_biserial_unscaled": Rule("intCriteria(X, labels, 'Point_biserial')"),
}

_R_REFUSES: Final = (
    Case(_one_cluster, math.nan, "an error"),
    Case(_all_single, math.nan, "an error"),
)

_FPC: Final[Mapping[str, Rule]] = {
    "silhouette": Rule("cluster.stats(d, labels)$avg.silwidth", cases=_R_REFUSES),
    "dunn": Rule("cluster.stats(d, labels)$dunn", cases=_R_REFUSES),
    "baker_hubert_gamma": Rule("cluster.stats(d, labels, G2=TRUE)$g2", cases=_R_REFUSES),
    "point_biserial": Rule("cluster.stats(d, labels)$pearsongamma", cases=_R_REFUSES),
}

_CLUSTER: Final[Mapping[str, Rule]] = {
    "silhouette": Rule(
        "mean(silhouette(labels, d)[, 3])",
        cases=(Case(_one_cluster, math.nan), Case(_all_single, math.nan)),
        offers={"point": _ANY},
    ),
}

RULES: Final[Mapping[str, Mapping[str, Rule]]] = {
    "sklearn": _SKLEARN,
    "genieclust": _GENIECLUST,
    "torchmetrics": _TORCHMETRICS,
    "permetrics": _PERMETRICS,
    "clustercrit": _CLUSTERCRIT,
    "fpc": _FPC,
    "cluster": _CLUSTER,
}

QUIRKS: Final[tuple[Quirk, ...]] = (
    Quirk(
        "permetrics",
        "silhouette",
        _some_in_one_place,
        "gives every object whose cluster lies in one place the silhouette 0, the worst of the "
        "good values in place of the best (D28)",
    ),
    Quirk(
        "clustercrit",
        "dunn",
        _one_cluster,
        "prints the largest double over the diameter here: 1.27e307 was seen",
    ),
    Quirk(
        "clustercrit",
        "baker_hubert_gamma",
        _some_ties,
        "counts equal distances as comparisons that speak for the clusters",
    ),
    Quirk(
        "clustercrit",
        "tau_index",
        lambda clustered, options: _some_ties(clustered, options) or _only_ties(clustered, options),
        "counts equal distances as comparisons that speak for the clusters",
    ),
    Quirk(
        "clustercrit",
        "point_biserial_unscaled",
        lambda *_: True,
        "has bestCriterion look for the largest value, although good clusters have the least (D19)",
    ),
)
