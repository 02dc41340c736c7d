"""All metrics, each callable on its evidence: labels, a table, rows, answers, measurements.

>>> adjusted_rand(["x", "x", "y"], [1, 1, 2])
Score(1.0)
"""

from refclust.formulas import (
    agreement,
    association,
    information,
    matching,
    pairs,
    significance,
)
from refclust.formulas.contingency import Contingency
from refclust.metrics import (
    information_adjusted,
    information_standardized,
    matching_adjusted,
    pairs_adjusted,
    significance_sampled,
)
from refclust.metrics.calls.classifiers import (
    ClassifierTest,
    TrialTest,
    classifier_test,
    trial_test,
)
from refclust.metrics.calls.clusterings import InternalMetric
from refclust.metrics.calls.labelings import Metric, score, scorer
from refclust.metrics.calls.raters import RaterMetric, rater_metric
from refclust.metrics.intervals import RateInterval, rate_interval
from refclust.metrics.permuted_labels import LabelTest, label_permutation
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
edit_distance = scorer(matching.edit_distance)
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
standardized_mutual_information = scorer(information_standardized.standardized_mutual_information)

chi_squared = scorer(association.chi_squared)
cramers_v = scorer(association.cramers_v)
goodman_kruskal_lambda = scorer(association.goodman_kruskal_lambda)
goodman_kruskal_tau = scorer(association.goodman_kruskal_tau)
theils_u = scorer(association.theils_u)

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

percent_agreement = rater_metric(agreement.percent_agreement)
scott_pi = rater_metric(agreement.scott_pi)
fleiss_kappa = rater_metric(agreement.fleiss_kappa)
gwet_ac1 = rater_metric(agreement.gwet_ac1)
gwet_ac2 = rater_metric(agreement.gwet_ac2)
krippendorff_alpha = rater_metric(agreement.krippendorff_alpha)
mean_pairwise_kappa = rater_metric(agreement.mean_pairwise_kappa)

CALLS = (Metric, InternalMetric, ClassifierTest, TrialTest, RaterMetric)
__all__ = [name for name, value in dict(globals()).items() if isinstance(value, CALLS)]
__all__ += ["Contingency", "Metric", "Score", "score"]
__all__ += ["LabelTest", "RateInterval", "label_permutation", "rate_interval"]
