"""All metrics, each callable on its evidence: labels, a table, rows, answers, measurements.

>>> adjusted_rand(["x", "x", "y"], [1, 1, 2])
Score(1.0)
"""

from refclust.formulas import (
    agreement,
    association,
    classification,
    density,
    information,
    matching,
    pairs,
    probabilities,
    proximity,
    scatter,
    significance,
)
from refclust.formulas.contingency import Contingency
from refclust.metrics.adjusted import information as information_adjusted
from refclust.metrics.adjusted import information_standardized
from refclust.metrics.adjusted import matching as matching_adjusted
from refclust.metrics.adjusted import pairs as pairs_adjusted
from refclust.metrics.calls.classifiers import (
    classifier_test,
    trial_test,
)
from refclust.metrics.calls.clusterings import internal_scorer
from refclust.metrics.calls.confusions import confusion_metric
from refclust.metrics.calls.label_sets import label_set_metric
from refclust.metrics.calls.labelings import Metric, score, scorer
from refclust.metrics.calls.memberships import fuzzy_pair_scorer, fuzzy_scorer
from refclust.metrics.calls.probabilities import probability_metric
from refclust.metrics.calls.raters import rater_metric
from refclust.metrics.calls.silhouettes import Silhouettes, silhouettes
from refclust.metrics.calls.tendency import tendency_scorer
from refclust.metrics.intervals import RateInterval, rate_interval
from refclust.metrics.sampled import significance as significance_sampled
from refclust.metrics.sampled import tendency
from refclust.metrics.sampled.permuted_labels import LabelTest, label_permutation
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

sse = internal_scorer(scatter.sse)
bss = internal_scorer(scatter.bss)
r_squared = internal_scorer(scatter.r_squared)
trace_ratio = internal_scorer(scatter.trace_ratio)
log_trace_ratio = internal_scorer(scatter.log_trace_ratio)
calinski_harabasz = internal_scorer(scatter.calinski_harabasz)
rmsstd = internal_scorer(scatter.rmsstd)
ball_hall = internal_scorer(scatter.ball_hall)
banfield_raftery = internal_scorer(scatter.banfield_raftery)
ratkowsky_lance = internal_scorer(scatter.ratkowsky_lance)
relative_trace = internal_scorer(scatter.relative_trace)
residual_trace = internal_scorer(scatter.residual_trace)
det_ratio = internal_scorer(scatter.det_ratio)
log_det_ratio = internal_scorer(scatter.log_det_ratio)
k_squared_det = internal_scorer(scatter.k_squared_det)
scott_symons = internal_scorer(scatter.scott_symons)
davies_bouldin = internal_scorer(scatter.davies_bouldin)
ray_turi = internal_scorer(scatter.ray_turi)
xie_beni = internal_scorer(scatter.xie_beni)
pbm = internal_scorer(scatter.pbm)
sd_scattering = internal_scorer(scatter.sd_scattering)
sd_distances = internal_scorer(scatter.sd_distances)
sd = internal_scorer(scatter.sd)
s_dbw = internal_scorer(scatter.s_dbw)
wemmert_gancarski = internal_scorer(scatter.wemmert_gancarski)
simplified_silhouette = internal_scorer(scatter.simplified_silhouette)
size_entropy = internal_scorer(scatter.size_entropy)
partition_coefficient = fuzzy_scorer(scatter.partition_coefficient)
partition_entropy = fuzzy_scorer(scatter.partition_entropy)
modified_partition_coefficient = fuzzy_scorer(scatter.modified_partition_coefficient)
soft_rand = fuzzy_pair_scorer(pairs.soft_rand)
soft_adjusted_rand = fuzzy_pair_scorer(pairs.soft_adjusted_rand)
accuracy = confusion_metric(classification.accuracy)
error_rate = confusion_metric(classification.error_rate)
majority_share = confusion_metric(classification.majority_share)
expected_cost = confusion_metric(classification.expected_cost)
accuracy_variance = confusion_metric(classification.accuracy_variance)
precision = confusion_metric(classification.precision)
recall = confusion_metric(classification.recall)
specificity = confusion_metric(classification.specificity)
negative_predictive_value = confusion_metric(classification.negative_predictive_value)
false_positive_rate = confusion_metric(classification.false_positive_rate)
false_negative_rate = confusion_metric(classification.false_negative_rate)
false_discovery_rate = confusion_metric(classification.false_discovery_rate)
false_omission_rate = confusion_metric(classification.false_omission_rate)
f1 = confusion_metric(classification.f1)
f_beta = confusion_metric(classification.f_beta)
class_jaccard = confusion_metric(classification.class_jaccard)
positive_likelihood_ratio = confusion_metric(classification.positive_likelihood_ratio)
negative_likelihood_ratio = confusion_metric(classification.negative_likelihood_ratio)
diagnostic_odds_ratio = confusion_metric(classification.diagnostic_odds_ratio)
youden = confusion_metric(classification.youden)
markedness = confusion_metric(classification.markedness)
macro_f1 = confusion_metric(classification.macro_f1)
f1_of_means = confusion_metric(classification.f1_of_means)
balanced_accuracy = confusion_metric(classification.balanced_accuracy)
g_mean = confusion_metric(classification.g_mean)
kappa = confusion_metric(classification.kappa)
mcc = confusion_metric(classification.mcc)

hamming_loss = label_set_metric(classification.hamming_loss)
subset_accuracy = label_set_metric(classification.subset_accuracy)
set_precision = label_set_metric(classification.set_precision)
set_recall = label_set_metric(classification.set_recall)
set_f = label_set_metric(classification.set_f)
set_jaccard = label_set_metric(classification.set_jaccard)

roc_auc = probability_metric(probabilities.roc_auc)
average_precision = probability_metric(probabilities.average_precision)
top_k_accuracy = probability_metric(probabilities.top_k_accuracy)
ranking_loss = probability_metric(probabilities.ranking_loss)
coverage_error = probability_metric(probabilities.coverage_error)
label_ranking_average_precision = probability_metric(probabilities.label_ranking_average_precision)
log_loss = probability_metric(probabilities.log_loss)
brier_score = probability_metric(probabilities.brier_score)
hinge_loss = probability_metric(probabilities.hinge_loss)
expected_calibration_error = probability_metric(probabilities.expected_calibration_error)
maximum_calibration_error = probability_metric(probabilities.maximum_calibration_error)
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
hopkins = tendency_scorer(tendency.hopkins)
spatial_histogram = tendency_scorer(tendency.spatial_histogram)
distance_distribution = tendency_scorer(tendency.distance_distribution)

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
nemenyi = trial_test(significance.nemenyi)
critical_difference = trial_test(significance.critical_difference)

percent_agreement = rater_metric(agreement.percent_agreement)
scott_pi = rater_metric(agreement.scott_pi)
fleiss_kappa = rater_metric(agreement.fleiss_kappa)
gwet_ac1 = rater_metric(agreement.gwet_ac1)
gwet_ac2 = rater_metric(agreement.gwet_ac2)
krippendorff_alpha = rater_metric(agreement.krippendorff_alpha)
mean_pairwise_kappa = rater_metric(agreement.mean_pairwise_kappa)

__all__ = [name for name, value in dict(globals()).items() if hasattr(value, "entry")]
__all__ += ["Contingency", "Metric", "Score", "score"]
__all__ += ["LabelTest", "RateInterval", "label_permutation", "rate_interval"]
__all__ += ["Silhouettes", "silhouettes"]
