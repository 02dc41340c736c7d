"""Every metric key of a table, and the clauses each key evidences."""

from __future__ import annotations

from . import association, information, matching, pairs
from .tables import Table
from .values import Json, Value, encode

CLAUSES = {
    "purity": "PUR",
    "inverse_purity": "PUR-INV",
    "purity_f": "PUR-F",
    "cluster_purity": "PUR-I XM-PREC",
    "cluster_recall": "XM-REC",
    "cluster_f": "XM-FI",
    "f_macro": "XM-F",
    "f_measure": "XM-FCLASS",
    "matching_accuracy": "MATCH CLACC",
    "nca": "NCA",
    "npa": "NPA",
    "psi": "PSI",
    "simplified_psi": "PSI-SIMPLE",
    "bcubed_precision": "BC-P",
    "bcubed_recall": "BC-R",
    "bcubed_f": "BC-F",
    "van_dongen": "VD",
    "adjusted_purity": "PUR-ADJ PUR-EXP",
    "adjusted_bcubed_precision": "BC-PADJ BC-PEXP",
    "adjusted_bcubed_recall": "BC-RADJ BC-PEXP",
    "adjusted_bcubed_f": "BC-FADJ",
    "pair_counts": "PC-UNORD PC-NPAIRS",
    "pair_counts[pairs=ordered]": "PC-ORD",
    "rand": "RAND",
    "jaccard": "JAC",
    "pair_precision": "PC-PREC",
    "pair_recall": "PC-REC",
    "pair_f": "PC-F",
    "fowlkes_mallows": "FM",
    "hubert_cosine": "HUB-COS",
    "hubert_raw": "HUB-STAT",
    "hubert_normalized": "HUB-NORM",
    "adjusted_rand": "ARI",
    "adjusted_fowlkes_mallows": "FM-ADJ",
    "wallace": "WAL",
    "adjusted_wallace": "WAL-ADJ",
    "kulczynski": "KULC",
    "rogers_tanimoto": "ROGTAN",
    "sokal_sneath_1": "SOKSN1",
    "sokal_sneath_2": "SOKSN2",
    "mirkin": "MIRKIN",
    "adjusted_jaccard": "JAC-ADJ",
    "adjusted_pair_f": "PC-FADJ",
    "entropy_clusters": "ENT-C",
    "entropy_classes": "ENT-T",
    "joint_entropy": "ENT-JOINT",
    "conditional_entropy": "ENT-COND",
    "mutual_information": "MI-CT",
    "information_ratio": "NMI-RATIO",
    "nmi": "NMI-GEO",
    "nmi[average=arithmetic]": "NMI-ARI",
    "nmi[average=min]": "NMI-MIN",
    "nmi[average=max]": "NMI-MAX",
    "nmi[average=joint]": "NMI-JOINT",
    "nmi_strehl_ghosh": "NMI-SG",
    "homogeneity": "HOM",
    "completeness": "COMPL",
    "v_measure": "V-BETA",
    "variation_of_information": "VI",
    "normalized_variation_of_information": "VI-NORM",
    "normalized_information_distance": "NID",
    "expected_mutual_information": "EMI",
    "ami": "AMI",
    "chi_squared": "CHI2",
    "cramers_v": "CRAMER",
    "goodman_kruskal_lambda": "GK-LAMBDA",
    "goodman_kruskal_tau": "GK-TAU",
    "theils_u": "THEIL-U",
}


def clauses(keys: list[str]) -> list[str]:
    """The clause IDs that values under these keys evidence, sorted."""
    found = {"CT-TABLE"}
    for key in keys:
        found.update(CLAUSES.get(key, CLAUSES.get(key.split("[")[0], "")).split())
    return sorted(found)


def all_values(table: Table, bases: tuple[int, ...] = (2,)) -> dict[str, Value]:
    """Every key that is within reach for this table."""
    return {
        **matching.plain(table),
        **matching.chance_corrected(table),
        **pairs.metrics(table),
        **information.metrics(table, bases),
        **association.metrics(table),
    }


def all_encoded(table: Table, bases: tuple[int, ...] = (2,)) -> dict[str, Json]:
    """Every key that is within reach, as JSON."""
    return {key: encode(value) for key, value in sorted(all_values(table, bases).items())}
