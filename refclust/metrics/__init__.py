"""All metrics, each callable on its evidence: labels, a table, rows, answers, measurements.

>>> adjusted_rand(["x", "x", "y"], [1, 1, 2])
Score(1.0)
"""

from refclust.formulas import (
    association,
    density,
    information,
    matching,
    pairs,
    proximity,
    significance,
)
from refclust.formulas.contingency import Contingency
from refclust.metrics import (
    information_adjusted,
    matching_adjusted,
    pairs_adjusted,
    significance_sampled,
    tendency_sampled,
)
from refclust.metrics.calls.classifiers import (
    ClassifierTest,
    TrialTest,
    classifier_test,
    trial_test,
)
from refclust.metrics.calls.clusterings import InternalMetric, internal_scorer
from refclust.metrics.calls.labelings import Metric, score, scorer
from refclust.metrics.calls.tendency import TendencyMetric, tendency_scorer
from refclust.metrics.score import Score

purity = scorer(matching.purity)
inverse_purity = scorer(matching.inverse_purity)
purity_f = scorer(matching.purity_f)
f_macro = scorer(matching.f_macro)
f_measure = scorer(matching.f_measure)
matching_accuracy = scorer(matching.matching_accuracy)
nca = scorer(matching.nca)
npa = scorer(matching.npa)
psi = scorer(matching.psi)
simplified_psi = scorer(matching.simplified_psi)
bcubed_precision = scorer(matching.bcubed_precision)
bcubed_recall = scorer(matching.bcubed_recall)
bcubed_f = scorer(matching.bcubed_f)
van_dongen = scorer(matching.van_dongen)
adjusted_purity = scorer(matching_adjusted.adjusted_purity)
adjusted_bcubed_precision = scorer(matching.adjusted_bcubed_precision)
adjusted_bcubed_recall = scorer(matching.adjusted_bcubed_recall)
adjusted_bcubed_f = scorer(matching_adjusted.adjusted_bcubed_f)

rand = scorer(pairs.rand)
jaccard = scorer(pairs.jaccard)
pair_precision = scorer(pairs.pair_precision)
pair_recall = scorer(pairs.pair_recall)
pair_f = scorer(pairs.pair_f)
fowlkes_mallows = scorer(pairs.fowlkes_mallows)
hubert_cosine = scorer(pairs.hubert_cosine)
hubert_raw = scorer(pairs.hubert_raw)
hubert_normalized = scorer(pairs.hubert_normalized)
wallace = scorer(pairs.wallace)
kulczynski = scorer(pairs.kulczynski)
rogers_tanimoto = scorer(pairs.rogers_tanimoto)
sokal_sneath_1 = scorer(pairs.sokal_sneath_1)
sokal_sneath_2 = scorer(pairs.sokal_sneath_2)
mirkin = scorer(pairs.mirkin)
adjusted_rand = scorer(pairs.adjusted_rand)
adjusted_fowlkes_mallows = scorer(pairs.adjusted_fowlkes_mallows)
adjusted_wallace = scorer(pairs.adjusted_wallace)
adjusted_pair_f = scorer(pairs.adjusted_pair_f)
adjusted_jaccard = scorer(pairs_adjusted.adjusted_jaccard)

entropy_clusters = scorer(information.entropy_clusters)
entropy_classes = scorer(information.entropy_classes)
joint_entropy = scorer(information.joint_entropy)
conditional_entropy = scorer(information.conditional_entropy)
mutual_information = scorer(information.mutual_information)
information_ratio = scorer(information.information_ratio)
nmi = scorer(information.nmi)
nmi_strehl_ghosh = scorer(information.nmi_strehl_ghosh)
homogeneity = scorer(information.homogeneity)
completeness = scorer(information.completeness)
v_measure = scorer(information.v_measure)
variation_of_information = scorer(information.variation_of_information)
normalized_variation_of_information = scorer(information.normalized_variation_of_information)
normalized_information_distance = scorer(information.normalized_information_distance)
expected_mutual_information = scorer(information_adjusted.expected_mutual_information)
ami = scorer(information_adjusted.ami)

chi_squared = scorer(association.chi_squared)
cramers_v = scorer(association.cramers_v)
goodman_kruskal_lambda = scorer(association.goodman_kruskal_lambda)
goodman_kruskal_tau = scorer(association.goodman_kruskal_tau)
theils_u = scorer(association.theils_u)

weight_within = internal_scorer(proximity.weight_within)
weight_between = internal_scorer(proximity.weight_between)
normalized_cut = internal_scorer(proximity.normalized_cut)
ratio_cut = internal_scorer(proximity.ratio_cut)
modularity = internal_scorer(proximity.modularity)
silhouette = internal_scorer(proximity.silhouette)
medoid_silhouette = internal_scorer(proximity.medoid_silhouette)
dunn = internal_scorer(proximity.dunn)
c_index = internal_scorer(proximity.c_index)
beta_cv = internal_scorer(proximity.beta_cv)
baker_hubert_gamma = internal_scorer(proximity.baker_hubert_gamma)
tau_index = internal_scorer(proximity.tau_index)
g_plus = internal_scorer(proximity.g_plus)
point_biserial = internal_scorer(proximity.point_biserial)
point_biserial_unscaled = internal_scorer(proximity.point_biserial_unscaled)
internal_hubert_raw = internal_scorer(proximity.internal_hubert_raw)
internal_hubert_normalized = internal_scorer(proximity.internal_hubert_normalized)
dbcv = internal_scorer(density.dbcv)
hopkins = tendency_scorer(tendency_sampled.hopkins)

mcnemar = classifier_test(significance.mcnemar)
mcnemar_chi_squared = classifier_test(significance.mcnemar_chi_squared)
wald = classifier_test(significance.wald)
cochran = classifier_test(significance.cochran)
cochran_q = classifier_test(significance.cochran_q)
permutation = classifier_test(significance_sampled.permutation)
bootstrap = classifier_test(significance_sampled.bootstrap)

paired_t = trial_test(significance.paired_t)
corrected_t = trial_test(significance.corrected_t)
five_by_two_t = trial_test(significance.five_by_two_t)
five_by_two_f = trial_test(significance.five_by_two_f)
wilcoxon = trial_test(significance.wilcoxon)
friedman = trial_test(significance.friedman)
friedman_chi_squared = trial_test(significance.friedman_chi_squared)
iman_davenport = trial_test(significance.iman_davenport)

CALLS = (Metric, InternalMetric, TendencyMetric, ClassifierTest, TrialTest)
__all__ = [name for name, value in dict(globals()).items() if isinstance(value, CALLS)]
__all__ += ["Contingency", "Metric", "Score", "score"]
