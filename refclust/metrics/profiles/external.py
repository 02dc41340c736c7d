"""How other libraries compare two labelings (chapters 40 to 44)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from refclust.formulas.information import mutual_information
from refclust.metrics.contingency import Contingency
from refclust.metrics.profiles.rules import Case, Options, Quirk, Rule

# -- conditions on a table ------------------------------------------------------------------


def _both_one(table: Contingency, _: Options) -> bool:
    return len(table.row) == len(table.col) == 1


def _either_one(table: Contingency, _: Options) -> bool:
    return len(table.row) == 1 or len(table.col) == 1


def _both_single(table: Contingency, _: Options) -> bool:
    return len(table.row) == len(table.col) == table.total > 1


def _independent(table: Contingency, _: Options) -> bool:
    return mutual_information(table).sign() == 0


def _independent_groups(table: Contingency, options: Options) -> bool:
    return not _either_one(table, options) and _independent(table, options)


def _not_square(table: Contingency, _: Options) -> bool:
    return len(table.row) != len(table.col)


def _no_weight_on_clusters(table: Contingency, options: Options) -> bool:
    return options["beta"] == 0 and len(table.col) == 1 < len(table.row)


# -- the libraries --------------------------------------------------------------------------

_FOUR: Final = ("arithmetic", "geometric", "max", "min")
_ANY: Final[tuple[Any, ...]] = ()  # every value of the option

_SKLEARN: Final[Mapping[str, Rule]] = {
    "rand": Rule("rand_score(true, pred)", undefined=1, empty=1),
    "adjusted_rand": Rule("adjusted_rand_score(true, pred)", undefined=1, empty=1),
    "fowlkes_mallows": Rule("fowlkes_mallows_score(true, pred)", undefined=0, empty=0),
    "mutual_information": Rule("mutual_info_score(true, pred)"),
    "expected_mutual_information": Rule("expected_mutual_information(contingency, n)"),
    "entropy_classes": Rule("entropy(true)", empty=1),
    "entropy_clusters": Rule("entropy(pred)", empty=1),
    "homogeneity": Rule("homogeneity_score(true, pred)", empty=1),
    "completeness": Rule("completeness_score(true, pred)", empty=1),
    "v_measure": Rule(
        "v_measure_score(true, pred, beta=…)",
        empty=1,
        cases=(
            Case(_both_one, 1),
            Case(_no_weight_on_clusters, math.nan, "ZeroDivisionError"),
        ),
        offers={"beta": _ANY},
    ),
    "nmi": Rule(
        "normalized_mutual_info_score(true, pred, average_method=…)",
        empty=1,
        cases=(Case(_both_one, 1), Case(_independent, 0)),
        defaults={"average": "arithmetic"},
        offers={"average": _FOUR},
    ),
    "ami": Rule(
        "adjusted_mutual_info_score(true, pred, average_method=…)",
        undefined=1,
        empty=1,
        cases=(Case(_both_one, 1), Case(_either_one, 0)),
        offers={"average": _FOUR},
    ),
}

_RAISES_UNLESS_SQUARE = Case(_not_square, math.nan, "RuntimeError")

_GENIECLUST: Final[Mapping[str, Rule]] = {
    "rand": Rule("rand_score(true, pred)"),
    "adjusted_rand": Rule("adjusted_rand_score(true, pred)"),
    "fowlkes_mallows": Rule("fm_score(true, pred)"),
    "adjusted_fowlkes_mallows": Rule("adjusted_fm_score(true, pred)"),
    "mutual_information": Rule("mi_score(true, pred)"),
    "nmi": Rule(
        "normalized_mi_score(true, pred)",
        defaults={"average": "arithmetic"},
        offers={"average": ("arithmetic",)},
    ),
    "ami": Rule("adjusted_mi_score(true, pred)"),
    "nca": Rule("normalized_clustering_accuracy(true, pred)", cases=(_RAISES_UNLESS_SQUARE,)),
    "npa": Rule("normalized_pivoted_accuracy(true, pred)", cases=(_RAISES_UNLESS_SQUARE,)),
    "psi": Rule("pair_sets_index(true, pred)", cases=(Case(_both_one, math.nan),)),
    "simplified_psi": Rule(
        "pair_sets_index(true, pred, simplified=True)", cases=(Case(_both_one, math.nan),)
    ),
}

_TORCHMETRICS: Final[Mapping[str, Rule]] = {
    "rand": Rule("rand_score(pred, true)", undefined=1, empty=1),
    "adjusted_rand": Rule("adjusted_rand_score(pred, true)", undefined=1, empty=1),
    "fowlkes_mallows": Rule("fowlkes_mallows_index(pred, true)", undefined=0, empty=0),
    "matching_accuracy": Rule("cluster_accuracy(pred, true, num_classes=…)"),
    "mutual_information": Rule("mutual_info_score(pred, true)", empty=0),
    "homogeneity": Rule("homogeneity_score(pred, true)", empty=0),
    "completeness": Rule("completeness_score(pred, true)", empty=1),
    "v_measure": Rule(
        "v_measure_score(pred, true, beta=…)",
        empty=0,
        # The second case is written into version 1.9.0 (h + c = 0 gives 1); later ones drop it.
        cases=(Case(_both_one, 1), Case(_independent_groups, 1)),
        offers={"beta": _ANY},
    ),
    "nmi": Rule(
        "normalized_mutual_info_score(pred, true, average_method=…)",
        undefined=0,
        empty=0,
        defaults={"average": "arithmetic"},
        offers={"average": _FOUR},
    ),
    "ami": Rule(
        "adjusted_mutual_info_score(pred, true, average_method=…)",
        undefined=0,
        # Numerator and denominator carry the same rounding error there, in nearly every size.
        cases=(Case(_both_single, 1),),
        offers={"average": _FOUR},
    ),
    "cramers_v": Rule("cramers_v(pred, true, bias_correction=False)"),
    "theils_u": Rule(
        "theils_u(pred, true)",
        undefined=0,
        empty=0,
        defaults={"predict": "clusters"},
        offers={"predict": ("clusters", "classes")},
    ),
}

_CLUSTERCRIT: Final[Mapping[str, Rule]] = {
    name: Rule(f"extCriteria(true, pred, '{criterion}')")
    for name, criterion in {
        "pair_f": "Czekanowski_Dice",
        "fowlkes_mallows": "Folkes_Mallows",
        "hubert_normalized": "Hubert",
        "jaccard": "Jaccard",
        "kulczynski": "Kulczynski",
        "pair_precision": "Precision",
        "rand": "Rand",
        "pair_recall": "Recall",
        "rogers_tanimoto": "Rogers_Tanimoto",
        "hubert_raw": "Russel_Rao",
        "sokal_sneath_1": "Sokal_Sneath1",
        "sokal_sneath_2": "Sokal_Sneath2",
    }.items()
}

_MCLUST: Final[Mapping[str, Rule]] = {
    "adjusted_rand": Rule("adjustedRandIndex(true, pred)", cases=(Case(_both_one, 1),))
}

RULES: Final[Mapping[str, Mapping[str, Rule]]] = {
    "sklearn": _SKLEARN,
    "genieclust": _GENIECLUST,
    "torchmetrics": _TORCHMETRICS,
    "clustercrit": _CLUSTERCRIT,
    "mclust": _MCLUST,
}


def _single_side_min(table: Contingency, options: Options) -> bool:
    sides = (len(table.row), len(table.col))
    return options["average"] == "min" and table.total in sides and 1 not in sides


QUIRKS: Final[tuple[Quirk, ...]] = (
    Quirk(
        "sklearn",
        "ami",
        lambda table, options: (
            _single_side_min(table, options) and not _both_single(table, options)
        ),
        "prints a ratio of two rounding errors here: from −1.5 to 1.375 for two equal classes "
        "against singletons, 1.25 at n = 12 (D01)",
    ),
    Quirk(
        "torchmetrics",
        "adjusted_rand",
        lambda table, _: table.total >= 65_536,
        "overflows 64-bit integers at this size: −60.6 was seen at n = 80 000 where the value "
        "is 0.808 (D03)",
    ),
    Quirk(
        "clustercrit",
        "hubert_normalized",
        lambda table, _: table.total >= 400,
        "overflows 32-bit integers at about this size: 0.081 was seen at n = 600 where the value "
        "is 0.613; its index Phi, of the same name elsewhere, lacks the square root (D16)",
    ),
)
