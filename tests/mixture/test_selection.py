"""Choosing among models: the rules of the table, cross-validation by hand, mclust's choices."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from refclust.backends.session import Session
from refclust.data.accepting.door import dataset
from refclust.errors import BadOption, DegenerateCovariance, KOutOfRange
from refclust.fitting.splits import folds
from refclust.mixture.bayes.fit import variational_gaussian
from refclust.mixture.choosing.criteria import bic
from refclust.mixture.choosing.held_out import cross_validated
from refclust.mixture.choosing.selection import in_use, select
from refclust.mixture.choosing.table import Candidate, ranking, why
from refclust.mixture.covariance.models import MODELS
from refclust.mixture.families.named.gaussian import gaussian_mixture
from refclust.mixture.families.named.multinomial import multinomial_mixture
from refclust.mixture.results import MixtureFit
from refclust.numbers.sampling import shuffled, stream

MCLUST: Any = json.loads(
    (Path(__file__).parents[1] / "golden/peers/mixtures/mclust.json").read_text(encoding="utf-8")
)
LINE = [[0.0], [1.0], [2.0], [40.0], [41.0], [42.0]]
DOCS = [[4, 0], [5, 1], [3, 1], [0, 4], [1, 6], [0, 3]]


def valued(*values: tuple[float, int], criterion: str = "bic") -> list[Candidate]:
    return [
        Candidate(k, free_parameters=free, values={criterion: value})
        for k, (value, free) in enumerate(values, 1)
    ]


@pytest.mark.spec("MS-BIC")
def test_two_candidates_by_hand() -> None:
    """Six numbers around 1 and 41: one normal density of variance 400 + 2/3, or two of 2/3."""
    found = select(LINE, k=[1, 2], covariance="tied")
    one = -3 * (math.log(2 * math.pi) + math.log(400 + 2 / 3) + 1)
    two = -3 * (math.log(2 * math.pi) + math.log(2 / 3) + 1) + 6 * math.log(0.5)
    wanted = [bic(one, 2, 6.0), bic(two, 4, 6.0)]
    assert [one.values["bic"] for one in found.candidates] == pytest.approx(wanted, rel=1e-13)
    assert found.chosen == 1
    assert found.best is not None
    assert found.best.free_parameters == 4
    assert found.why == f"smallest BIC {wanted[1]:.2f}; next EEE with K = 1 at {wanted[0]:.2f}"
    assert isinstance(found.fit, MixtureFit)
    assert found.fit.labels.tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])


@pytest.mark.spec("MS-BIC", "MS-CVLL")
def test_ties_go_to_fewer_parameters_then_to_the_first() -> None:
    assert ranking(valued((5.0, 9), (5.0, 7), (6.0, 1), (5.0, 7)), "bic") == [1, 3, 0, 2]
    assert ranking(valued((5.0, 9), (6.0, 7), criterion="cv"), "cv") == [1, 0]
    alike = valued((5.0, 7), (5.0, 7))
    assert why(alike, "bic") == "smallest BIC 5.00; so has K = 2, which was named later"
    more = valued((5.0, 7), (5.0, 8))
    assert why(more, "bic") == "smallest BIC 5.00; so has K = 2, which has more parameters"
    endless = valued((-math.inf, 3), (-math.inf, 2), criterion="cv")
    assert ranking(endless, "cv") == [1, 0]


@pytest.mark.spec("MS-BIC")
def test_a_candidate_alone() -> None:
    assert why(valued((5.0, 7)), "bic") == "smallest BIC 5.00; no other was asked"
    two = [*valued((5.0, 7)), Candidate(9, error="k-out-of-range")]
    assert why(two, "bic") == "smallest BIC 5.00; none of the others could be fitted"


@pytest.mark.spec("MS-BIC", "GMM-COV")
def test_equal_models_of_one_column() -> None:
    """In one column EII and EEE are the same; the first one named is chosen."""
    for names in (["EII", "EEE"], ["EEE", "EII"]):
        found = select(LINE, k=2, covariance=names)
        first, second = (one.values["bic"] for one in found.candidates)
        assert first == pytest.approx(second, rel=1e-13)
        if first == second:
            assert found.best is not None
            assert found.best.covariance == names[0]


@pytest.mark.spec("MS-BIC", "GMM-COLLAPSE")
def test_failures_stay_in_the_table() -> None:
    """Two rows are one value: two components collapse there, and seven need more rows."""
    found = select(LINE, k=[1, 6, 7], covariance="full")
    assert [one.error for one in found.candidates] == [
        None,
        "degenerate-covariance",
        "k-out-of-range",
    ]
    assert found.chosen == 0
    assert found.candidates[2].message == "k is 7; from 1 to 6 clusters can be made of 6 rows"
    assert found.candidates[1].values == {}


@pytest.mark.spec("MS-BIC")
def test_if_all_fail_the_first_is_raised() -> None:
    with pytest.raises(DegenerateCovariance):
        select(LINE, k=[6, 7])
    with pytest.raises(KOutOfRange, match="k is 7"):
        select(LINE, k=[7, 6])


@pytest.mark.spec("MS-AIC", "MS-ICL")
def test_every_criterion_of_a_likelihood_is_in_the_table() -> None:
    for criterion in ("bic", "aic", "icl", "icl-soft"):
        found = select(LINE, k=[1, 2], covariance="tied", criterion=criterion)
        assert found.criterion == criterion
        assert all(set(one.values) == {"bic", "aic", "icl", "icl-soft"} for one in found.candidates)
        assert found.best is not None
        values = [one.values[criterion] for one in found.candidates]
        assert found.best.values[criterion] == min(values)


@pytest.mark.spec("GMM-COV")
def test_all_covariances() -> None:
    rows = [[0.0, 0.0], [1.0, 0.5], [0.5, 2.0], [2.0, 1.5], [1.0, 3.0]]
    found = select(rows, k=[1], covariance="all")
    assert [one.covariance for one in found.candidates] == list(MODELS)
    free = [one.free_parameters for one in found.candidates]
    assert free == [3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5]
    named = select(rows, k=[1], covariance=["tied", "EEE", "full"])
    assert [one.covariance for one in named.candidates] == ["EEE", "VVV"]


@pytest.mark.spec("MS-CVLL", "NUM-RAND")
def test_folds_are_dealt_in_shuffled_order() -> None:
    order = shuffled(stream(3), range(7))
    assert folds(7, 3, seed=3) == tuple(tuple(sorted(order[f::3])) for f in range(3))
    assert sorted(len(fold) for fold in folds(23, 4)) == [5, 6, 6, 6]
    assert len(folds(4)) == 4  # ten at most, and no more than rows
    assert len(folds(25)) == 10
    for count, n in ((1, 5), (6, 5), (0, 5)):
        with pytest.raises(BadOption, match=f"folds is {count}"):
            folds(n, count)
    with pytest.raises(BadOption):
        folds(1)


@pytest.mark.spec("MS-CVLL")
def test_cross_validation_by_hand() -> None:
    """Leave one out with one component: the density of each row under mean and variance of others.

    Four numbers 0, 1, 2, 5: the others of 0 have the mean 8/3 and the variance 26/9, and so on.
    """
    xs = [0.0, 1.0, 2.0, 5.0]
    terms = []
    for i, x in enumerate(xs):
        others = xs[:i] + xs[i + 1 :]
        mean = sum(others) / 3
        variance = sum((y - mean) ** 2 for y in others) / 3
        terms.append(-0.5 * (math.log(2 * math.pi * variance) + (x - mean) ** 2 / variance))
    found = select([[x] for x in xs], k=[1], criterion="cv", folds=4)
    assert found.candidates[0].values["cv"] == pytest.approx(math.fsum(terms) / 4, rel=1e-13)


@pytest.mark.spec("MS-CVLL")
def test_cross_validation_is_weighted() -> None:
    """Weights 2 and 1: twice the logarithm of the one, over the weight of all."""
    weights = [2.0, 1.0, 0.0, 1.0, 1.0]
    rows = dataset([[0.0], [1.0], [3.0], [7.0], [4.0]], weights=weights)
    dealt = ((0, 1), (2, 3, 4))
    session = Session("reference")

    def fitted(part: Any) -> Any:
        return gaussian_mixture(part, 1, session=session)

    found = cross_validated(rows, dealt, fitted, session)
    terms = []
    # Without the first fold 7 and 4: mean 5.5, variance 2.25. Without the second 0, 0, 1.
    for fold, mean, variance in ((dealt[0], 5.5, 2.25), (dealt[1], 1 / 3, 2 / 9)):
        for i in fold:
            x = rows.row(i)[0]
            density = -0.5 * (math.log(2 * math.pi * variance) + (x - mean) ** 2 / variance)
            terms.append(weights[i] * density)
    assert found == pytest.approx(math.fsum(terms) / 5.0, rel=1e-13)


@pytest.mark.spec("MS-CVLL")
def test_a_new_word_is_impossible_without_smoothing() -> None:
    docs = [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 1]]
    plain = select(docs, model="multinomial", k=[1], criterion="cv", folds=4)
    assert plain.candidates[0].values["cv"] == -math.inf
    smooth = select(docs, model="multinomial", k=[1], criterion="cv", folds=4, m=3.0)
    # Without the last document the others have counts 2, 1, 0: (3, 2, 1) / 6 with m p = 1; and so
    # on: 2, 2 or 3 of the other five words. Each document is a product of such shares.
    terms = [math.log(2 / 7), math.log(2 / 7), math.log(2 / 7), math.log(2 / 6) + math.log(1 / 6)]
    assert smooth.candidates[0].values["cv"] == pytest.approx(math.fsum(terms) / 4, rel=1e-13)
    rows = dataset(docs, weights=[1.0, 1.0, 1.0, 0.0])  # a row of weight 0 is not asked
    assert select(rows, model="multinomial", k=[1], criterion="cv", folds=4).why.startswith(
        "largest log-likelihood of a row not seen "
    )


@pytest.mark.spec("MS-CVLL")
def test_a_fold_without_weight_adds_nothing() -> None:
    rows = dataset([[0.0], [1.0], [3.0], [9.0]], weights=[1.0, 1.0, 1.0, 0.0])
    found = select(rows, k=[1], criterion="cv", folds=4)
    three = select(rows.select([0, 1, 2]), k=[1], criterion="cv", folds=3)
    values = [one.candidates[0].values["cv"] for one in (found, three)]
    assert values[0] == pytest.approx(values[1], rel=1e-13)


@pytest.mark.spec("MS-CVLL")
def test_cross_validation_finds_two_groups() -> None:
    found = select(DOCS, model="multinomial", k=[1, 2], criterion="cv", folds=3, m=1.0, restarts=3)
    assert found.best is not None
    assert found.best.k == 2


@pytest.mark.spec("MS-VISEL", "VB-GAUSS")
def test_the_largest_bound_is_chosen() -> None:
    rows = [[x + shift] for x in map(float, range(20)) for shift in (0.0, 400.0)]
    found = select(rows, k=[1, 2, 3], criterion="evidence", restarts=2, tolerance=1e-8)
    bounds = [
        variational_gaussian(rows, k, start="varied", restarts=2).objective for k in (1, 2, 3)
    ]
    assert [one.values["evidence"] for one in found.candidates] == bounds
    assert found.chosen == bounds.index(max(bounds)) == 1
    assert found.candidates[0].log_likelihood is None
    assert found.candidates[1].used == 2


@pytest.mark.spec("MS-VISEL", "VB-MULT")
def test_the_bound_of_documents() -> None:
    found = select(DOCS, model="multinomial", k=[1, 2, 3], criterion="evidence", restarts=3)
    assert found.best is not None
    assert found.best.k == 2
    assert found.why.startswith("largest bound on the log evidence ")


@pytest.mark.spec("MS-VISEL", "VB-COMMON", "VB-DIAG", "VB-BALL")
@pytest.mark.parametrize("criterion", ["evidence", "importance"])
@pytest.mark.long
def test_all_are_those_with_a_conjugate_prior(criterion: Any) -> None:
    """The first component is wide and the second narrow, in both columns: no common precision."""
    wide = [[4.0 * x, 4.0 * y] for x in range(-2, 3) for y in range(-1, 2)]
    rows = wide + [[100.0 + x / 4, 50.0 + y / 4] for x in range(-2, 3) for y in range(-1, 2)]
    options: Any = {"criterion": criterion, "restarts": 1}
    table = select(rows, k=[2], covariance="all", **options)
    assert [one.covariance for one in table.candidates] == [
        "EII",
        "VII",
        "EEI",
        "VVI",
        "EEE",
        "VVV",
    ]
    assert table.left_out == ("VEI", "EVI", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV")
    assert table.best is not None
    assert table.best.covariance in ("VII", "VVI", "VVV")
    assert table.best.values[criterion] == max(one.values[criterion] for one in table.candidates)
    assert [one.free_parameters for one in table.candidates] == [6, 7, 7, 9, 8, 11]
    for one in table.candidates:
        fit = variational_gaussian(
            rows, 2, covariance=one.covariance or "", start="varied", tolerance=1e-6
        )
        assert one.values["evidence"] == fit.objective
    assert select(rows, k=[2], covariance=["tied", "VII"], **options).left_out == ()


@pytest.mark.spec("MS-VISEL", "VB-BERN")
def test_the_bound_of_features() -> None:
    rows = [[1, 1, 0], [1, 1, 0], [1, 1, 1], [0, 0, 1], [0, 0, 1], [0, 0, 0]] * 3
    table = select(rows, model="bernoulli", k=[1, 2, 3], criterion="evidence")
    assert table.best is not None
    assert table.best.k == 2


@pytest.mark.spec("MS-VIPRUNE")
def test_superfluous_components_return_to_their_prior() -> None:
    """Of five components on two clear groups two stay; the mean share of others is the limit."""
    rows = [[x + 30.0 * (i % 2)] for i, x in enumerate([0.0, 0.5, 1.0, 1.5, 2.0, 2.5] * 4)]
    fit = variational_gaussian(rows, 5, alpha=1e-3, restarts=3, tolerance=1e-12, limit=5000)
    assert in_use(fit.sizes) == 2
    shares = sorted(fit.parameters.expected().weights)
    limit = 1e-3 / (5 * 1e-3 + 24)
    for size, share in zip(sorted(fit.sizes)[:3], shares[:3], strict=True):
        # alpha_k is alpha_0 + N_k of the pass before, which was no smaller by more than the stop.
        assert share == pytest.approx(limit + size / (5e-3 + 24), abs=1e-6)
        assert share < 1e-3


@pytest.mark.spec("MS-BIC", "MS-ICL")
@pytest.mark.parametrize(
    ("name", "other", "best"),
    [("faithful", "VEE", ("EEE", 3)), ("iris", "EEE", ("VEV", 2))],
)
@pytest.mark.long
def test_the_choices_of_mclust(name: str, other: str, best: tuple[str, int]) -> None:
    """Among the best of its table the same model wins, with the same numbers or better ones."""
    told = MCLUST["defaults"][name]
    found = select(
        MCLUST["data"][name],
        k=[2, 3],
        covariance=[best[0], other],
        start="points",
        tolerance=1e-5,
    )
    assert found.best is not None
    assert (found.best.covariance, found.best.k) == best == (told["model"], told["components"])
    # mclust stops at a relative gain of 1e-5, somewhat early; ours is allowed to be better.
    assert found.best.values["bic"] <= -told["bic"] + 0.01
    assert found.best.values["bic"] == pytest.approx(-told["bic"], rel=1e-4)
    assert found.best.values["icl"] == pytest.approx(-told["icl"], rel=1e-2)


@pytest.mark.spec("MS-BIC")
def test_progress_is_told() -> None:
    told: list[tuple[int, int, str]] = []
    select(
        LINE,
        k=[1, 7],
        covariance=["EII", "tied"],
        after_candidate=lambda done, whole, name: told.append((done, whole, name)),
    )
    assert told == [
        (1, 4, "EII with K = 1"),
        (2, 4, "EEE with K = 1"),
        (3, 4, "EII with K = 7"),
        (4, 4, "EEE with K = 7"),
    ]


@pytest.mark.spec("MS-BIC")
def test_given_weights_count() -> None:
    found = select([[0.0], [1.0], [3.0]], k=1, weights=[1.0, 2.0, 1.0])
    assert found.fit is not None
    same = gaussian_mixture([[0.0], [1.0], [1.0], [3.0]], 1)
    wanted = bic(same.log_likelihood, 2, 4.0)
    assert found.candidates[0].values["bic"] == pytest.approx(wanted, rel=1e-13)


@pytest.mark.spec("MS-BIC")
def test_the_same_options_reach_every_fit() -> None:
    found = select(DOCS, model="multinomial", k=[2], m=2.0, seed=5, restarts=2, tolerance=1e-8)
    plain = multinomial_mixture(DOCS, 2, m=2.0, seed=5, restarts=2)
    assert found.candidates[0].log_likelihood == plain.log_likelihood
    assert found.candidates[0].iterations == plain.iterations


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"model": "weibull"}, "model is 'weibull'"),
        ({"criterion": "dic"}, "criterion is 'dic'"),
        ({"k": []}, "k is empty"),
        ({"k": "1..3"}, "k is '1..3'"),
        ({"k": [0]}, "k is 0"),
        ({"k": [1.5]}, "k is 1.5"),
        ({"k": None}, "k is None"),
        ({"covariance": []}, "no covariance model"),
        ({"covariance": "XYZ"}, "'XYZ'"),
        ({"covariance": "tied", "model": "multinomial"}, "covariances belong"),
        (
            {"covariance": ["tied", "VEI"], "criterion": "evidence"},
            "model VEI has no conjugate prior, .* those of EII, VII, EEI, VVI, EEE, VVV are",
        ),
        ({"covariance": "EVV", "criterion": "importance"}, "model EVV has no conjugate prior"),
        ({"m": 1.0}, "no option m"),
        ({"model": "multinomial", "floor": 1.0}, "no option floor"),
        ({"labels": [0, 1] * 3}, "no option labels"),
        ({"folds": 3}, "folds belong"),
        ({"criterion": "cv", "folds": 7}, "folds is 7"),
        ({"floor": -1.0}, "the floor is -1.0"),
    ],
)
def test_what_is_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(BadOption, match=match):
        select(LINE, **options)
