"""How other libraries judge one clustering of rows (chapter 45)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from refclust.formulas import scatter
from refclust.formulas.clustered import Clustered
from refclust.metrics.profiles.rules import Case, Options, Quirk, Rule

# -- conditions on a clustering -------------------------------------------------------------


def _one_cluster(clustered: Clustered, _: Options) -> bool:
    return clustered.k == 1


def _all_single(clustered: Clustered, _: Options) -> bool:
    return clustered.k == clustered.total


def _some_single(clustered: Clustered, _: Options) -> bool:
    return any(scatter.size(clustered, k) == 1 for k in range(clustered.k))


def _no_scatter(clustered: Clustered, _: Options) -> bool:
    return all(scatter.cluster_sse(clustered, k) == 0 for k in range(clustered.k))


def _equal_means(clustered: Clustered, _: Options) -> bool:
    return scatter.bss(clustered).sign() == 0


def _some_means_equal(clustered: Clustered, _: Options) -> bool:
    return any(
        scatter.between_means(clustered, k, m) == 0
        for k, m in scatter.pairs_of(clustered, scatter.LONELY)
    )


def _flat(clustered: Clustered, _: Options) -> bool:
    return scatter.determinant(scatter.within_scatter(clustered)) == 0


# -- the libraries --------------------------------------------------------------------------

_ONE_RAISES: Final = Case(_one_cluster, math.nan, "ValueError")
_SINGLE_RAISES: Final = Case(_all_single, math.nan, "ValueError")
_IGNORED: Final = {"coincident": "ignored"}
_ZERO: Final = {"coincident": "zero"}
_LARGE: Final = 1e10  # what permetrics prints in place of the worst value

_SKLEARN: Final[Mapping[str, Rule]] = {
    "calinski_harabasz": Rule(
        "calinski_harabasz_score(X, labels)",
        cases=(_ONE_RAISES, _SINGLE_RAISES, Case(_no_scatter, 1)),
    ),
    "davies_bouldin": Rule(
        "davies_bouldin_score(X, labels)", cases=(_ONE_RAISES, _SINGLE_RAISES), defaults=_IGNORED
    ),
}

_TORCHMETRICS: Final[Mapping[str, Rule]] = {
    "calinski_harabasz": Rule(
        "calinski_harabasz_score(X, labels)",
        cases=(_ONE_RAISES, _SINGLE_RAISES, Case(_no_scatter, 1)),
    ),
    "davies_bouldin": Rule(
        "davies_bouldin_score(X, labels)", cases=(_ONE_RAISES, _SINGLE_RAISES), defaults=_IGNORED
    ),
}

_GENIECLUST: Final[Mapping[str, Rule]] = {
    "sse": Rule("-negated_wcss_index(X, y)", cases=(_ONE_RAISES,)),
    "calinski_harabasz": Rule("calinski_harabasz_index(X, y)", cases=(_ONE_RAISES,)),
    "davies_bouldin": Rule(
        "-negated_davies_bouldin_index(X, y)",
        cases=(_ONE_RAISES, Case(_some_single, math.inf)),
        defaults=_ZERO,
    ),
    "ball_hall": Rule(
        "-negated_ball_hall_index(X, y)", cases=(_ONE_RAISES,), defaults={"form": "sum"}
    ),
}

_CLUSTERCRIT: Final[Mapping[str, Rule]] = {
    **{
        name: Rule(f"intCriteria(X, part, '{criterion}')")
        for name, criterion in {
            "sse": "Trace_W",
            "log_trace_ratio": "Log_SS_Ratio",
            "calinski_harabasz": "Calinski_Harabasz",
            "ball_hall": "Ball_Hall",
            "banfield_raftery": "Banfeld_Raftery",
            "ratkowsky_lance": "Ratkowsky_Lance",
            "relative_trace": "Trace_WiB",
            "det_ratio": "Det_Ratio",
            "log_det_ratio": "Log_Det_Ratio",
            "k_squared_det": "Ksq_DetW",
            "scott_symons": "Scott_Symons",
            "pbm": "PBM",
            "sd_scattering": "SD_Scat",
            "sd_distances": "SD_Dis",
            "s_dbw": "S_Dbw",
            "wemmert_gancarski": "Wemmert_Gancarski",
        }.items()
    },
    "davies_bouldin": Rule(
        "intCriteria(X, part, 'Davies_Bouldin')", cases=(Case(_one_cluster, 0),), defaults=_ZERO
    ),
    "ray_turi": Rule("intCriteria(X, part, 'Ray_Turi')", cases=(Case(_one_cluster, 0),)),
    "xie_beni": Rule(
        "intCriteria(X, part, 'Xie_Beni')",
        cases=(Case(_one_cluster, 0),),
        defaults={"separation": "points"},
    ),
}

_FPC: Final[Mapping[str, Rule]] = {
    "calinski_harabasz": Rule(
        "cluster.stats(d, clustering)$ch",
        cases=(Case(_one_cluster, math.nan, "an error"), Case(_all_single, math.nan, "an error")),
    ),
}

_PERMETRICS: Final[Mapping[str, Rule]] = {
    "sse": Rule("ClusteringMetric(X, y).SSEI()"),
    "r_squared": Rule("ClusteringMetric(X, y).RSI()", undefined=1),
    "log_trace_ratio": Rule(
        "ClusteringMetric(X, y).LSRI()",
        cases=(Case(_no_scatter, -_LARGE), Case(_equal_means, -_LARGE)),
    ),
    "calinski_harabasz": Rule(
        "ClusteringMetric(X, y).CHI()", cases=(Case(_one_cluster, 1), Case(_no_scatter, 1))
    ),
    "davies_bouldin": Rule(
        "ClusteringMetric(X, y).DBI()",
        cases=(Case(_one_cluster, _LARGE), Case(_some_means_equal, _LARGE)),
    ),
    "ball_hall": Rule("ClusteringMetric(X, y).BHI()", defaults={"form": "pooled"}),
    "banfield_raftery": Rule("ClusteringMetric(X, y).BRI()", cases=(Case(_some_single, _LARGE),)),
    "xie_beni": Rule(
        "ClusteringMetric(X, y).XBI()",
        cases=(Case(_one_cluster, _LARGE), Case(_some_means_equal, _LARGE)),
        defaults={"centre": "nearest"},
    ),
    "k_squared_det": Rule(
        "ClusteringMetric(X, y).KDI()",
        undefined=0,
        cases=(Case(_one_cluster, 0),),
        defaults={"entries": "scaled"},
        offers={"entries": ("scaled", "plain")},
    ),
    "det_ratio": Rule("ClusteringMetric(X, y).DRI()", cases=(Case(_flat, 0),)),
    "log_det_ratio": Rule("ClusteringMetric(X, y).LDRI()", cases=(Case(_flat, -_LARGE),)),
}

RULES: Final[Mapping[str, Mapping[str, Rule]]] = {
    "sklearn": _SKLEARN,
    "genieclust": _GENIECLUST,
    "torchmetrics": _TORCHMETRICS,
    "clustercrit": _CLUSTERCRIT,
    "fpc": _FPC,
    "permetrics": _PERMETRICS,
}


def _tight(clustered: Clustered, _: Options) -> bool:
    """Whether the largest spread is that small: squares below 1e-16 are enough for it."""
    return clustered.k > 1 and all(
        0 < scatter.cluster_sse(clustered, k) / scatter.size(clustered, k) < 1e-16
        for k in range(clustered.k)
    )


QUIRKS: Final[tuple[Quirk, ...]] = (
    Quirk(
        "sklearn",
        "davies_bouldin",
        _tight,
        "prints 0 here, since it takes spreads below 1e-8 for none, whatever the unit",
    ),
    Quirk(
        "sklearn",
        "davies_bouldin",
        lambda clustered, _: clustered.k > 1 and _some_single(clustered, _),
        "has a distance of about 1e-8 between an object alone and its own centre, for rounding: "
        "seven digits are right",
    ),
    Quirk(
        "permetrics",
        "det_ratio",
        _flat,
        "prints 0 only where its determinant in doubles is 0: else a number of about 1e16, of "
        "either sign",
    ),
    Quirk(
        "clustercrit",
        "det_ratio",
        lambda clustered, _: len(scatter.coordinates(clustered)) > 1,
        "may print it with the wrong sign: −103.13 was seen where the value is 103.13 (D18)",
    ),
    Quirk(
        "clustercrit",
        "log_det_ratio",
        lambda clustered, _: len(scatter.coordinates(clustered)) > 1,
        "prints NaN where its determinant ratio has the wrong sign (D18)",
    ),
    Quirk(
        "clustercrit",
        "scott_symons",
        lambda *_: True,
        "takes the logarithms of sizes in single precision: eight digits are right",
    ),
    Quirk(
        "clustercrit",
        "s_dbw",
        lambda clustered, _: clustered.k > 2,
        "adds the quotients of densities up over pairs instead of averaging them, says its source",
    ),
)
