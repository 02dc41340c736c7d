"""Quadratic and linear discriminants and the nearest Gaussian, by hand and by identities."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from refclust.classify.discriminants import (
    LinearForm,
    discriminant,
    lda,
    linear_form,
    nearest_gaussian,
    qda,
)
from refclust.classify.naive_bayes import naive_bayes
from refclust.classify.predict import predict
from refclust.data.accepting.door import dataset
from refclust.errors import BadOption, DegenerateCovariance, NotFinite
from refclust.formulas.gaussian import log_likelihood_of_one
from refclust.mixture.covariance.models import MODELS
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.numbers.linalg import exact_inverse

UNIT = 2.0**-53
ROWS = [[0, 0], [2, 0], [0, 2], [2, 2], [7, 8], [11, 8], [7, 10], [11, 10]]
LABELS = ["near"] * 4 + ["far"] * 4


@pytest.mark.spec("QDA-PARAM")
def test_own_covariances_have_the_divisor_of_the_class() -> None:
    ours = qda(ROWS, LABELS)
    assert ours.kind == "qda"
    assert ours.classes == ("far", "near")
    assert ours.parameters.means == ((9.0, 9.0), (1.0, 1.0))
    assert ours.parameters.spreads == ((4.0, 0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 1.0))
    assert ours.parameters.weights == (0.5, 0.5)


@pytest.mark.spec("LDA-POOL")
def test_pooled_covariance_has_the_divisor_of_all_rows() -> None:
    # The scatters (4, 4) and (16, 4) over eight rows.
    assert lda(ROWS, LABELS).parameters.spreads == ((2.5, 0.0, 0.0, 1.0),) * 2
    assert lda(ROWS, LABELS, covariance="EEI").parameters.spreads == ((2.5, 1.0),) * 2
    assert lda(ROWS, LABELS, covariance="EII").parameters.spreads == ((1.75,),) * 2
    with pytest.raises(BadOption, match="one covariance for all"):
        lda(ROWS, LABELS, covariance="full")


@pytest.mark.spec("NG-ASSIGN")
def test_nearest_gaussian_has_no_prior() -> None:
    rows = [[-1], [1], [-1], [1], [-1], [1], [3], [5]]
    labels = "wwwwwwnn"
    ours, mapped = nearest_gaussian(rows, labels), qda(rows, labels)
    assert ours.parameters.means == mapped.parameters.means
    assert ours.parameters.spreads == mapped.parameters.spreads
    # Both variances are 1, so the border is at 2; with a prior of 3/4 it moves to 2 + log(3) / 4.
    assert predict(ours, [[1.9], [2.1]]).labels == ("w", "n")
    assert predict(mapped, [[1.9], [2.1], [2.3]]).labels == ("w", "w", "n")


@pytest.mark.spec("NG-ASSIGN")
def test_nearest_gaussian_pays_for_width() -> None:
    # Variances 1 and 100 around 0 and 10: at 3 the squares are 9 and 0.49, but the density of the
    # narrow class is exp(-4.5) and that of the wide one a tenth of exp(-0.245).
    ours = nearest_gaussian([[-1], [1], [0], [20]], "nnww")
    assert predict(ours, [[2.0], [3.0]]).labels == ("n", "w")


@pytest.mark.spec("LDA-LIN", "QDA-DISC")
def test_linear_discriminants_by_hand() -> None:
    one = GaussianParameters(
        (0.25, 0.75),
        ((4.0, 2.0), (0.0, 4.0)),
        ((4.0, 2.0, 2.0, 5.0),) * 2,
        "full",
    )
    form = linear_form(one)
    # The inverse is (5, -2; -2, 4) / 16.
    assert form.weights == ((1.0, 0.0), (-0.5, 1.0))
    assert form.intercepts == (math.log(0.25) - 2.0, math.log(0.75) - 2.0)
    for value, due in zip(form.values((2.0, 1.0)), (0.25, 0.75), strict=True):
        assert abs(value - math.log(due) + 2.0 * (due == 0.75)) <= 4 * UNIT


@pytest.mark.spec("LDA-LIN")
def test_linear_form_is_for_one_covariance() -> None:
    with pytest.raises(BadOption, match="not linear"):
        linear_form(qda(ROWS, LABELS).parameters)
    plain = linear_form(lda(ROWS, LABELS, covariance="EII").parameters)
    assert isinstance(plain, LinearForm)
    assert linear_form(
        GaussianParameters((1.0, 0.0), ((1.0,), (2.0,)), ((1.0,),) * 2, "spherical")
    ).intercepts == (-0.5, -math.inf)
    flat = GaussianParameters((0.5, 0.5), ((1.0,), (2.0,)), ((0.0,),) * 2, "spherical")
    with pytest.raises(DegenerateCovariance, match="column 0"):
        linear_form(flat)


@pytest.mark.spec("LDA-LIN", "QDA-DISC")
def test_linear_form_differs_by_a_common_term() -> None:
    ours = lda(
        [[1, 2], [2, 1], [3, 4], [7, 5], [9, 9], [8, 6], [1, 9], [2, 8], [4, 9]], "aaabbbccc"
    )
    parameters = ours.parameters
    form, covariance = linear_form(parameters), parameters.covariances[0]
    exact = exact_inverse(tuple(tuple(map(Fraction, row)) for row in covariance))
    for x in ([0.0, 0.0], [5.0, 5.0], [9.0, -3.0]):
        whole = math.fsum(float(exact[i][j]) * x[i] * x[j] for i in range(2) for j in range(2))
        quadratic = [
            discriminant(x, weight, mean, covariance)
            for weight, mean in zip(parameters.weights, parameters.means, strict=True)
        ]
        linear = form.values(x)
        terms = 1 + max(map(abs, (*quadratic, *linear, whole)))
        for k in range(3):
            one, other = quadratic[k] - quadratic[0], linear[k] - linear[0]
            # The condition number is below 8, and every term below the largest one here: each of
            # about 10 operations errs by u of a term times that number.
            assert abs(one - other) <= 2 * 8 * 16 * UNIT * terms


@pytest.mark.spec("QDA-JOINT", "NB-CDLL", "GAU-LL")
def test_likelihood_of_rows_and_classes() -> None:
    ours = qda(ROWS, LABELS)
    total = 0.0
    for k, name in enumerate(ours.classes):
        own = [row for row, label in zip(ROWS, LABELS, strict=True) if label == name]
        parameters = ours.parameters
        total += len(own) * math.log(parameters.weights[k])
        place = parameters.means[k], parameters.covariances[k]
        total += float(log_likelihood_of_one(own, [1] * len(own), *place))
    assert abs(ours.log_likelihood - total) <= 200 * UNIT * abs(total)


@pytest.mark.spec("QDA-PARAM", "PROP-CLASS-1")
@pytest.mark.parametrize("model", MODELS)
def test_every_covariance_model(model: str) -> None:
    rows = [[0, 0], [2, 1], [1, 3], [3, 2], [8, 8], [12, 9], [8, 11], [11, 6]]
    ours = qda(rows, LABELS, covariance=model)
    assert ours.settings["covariance"] == model
    assert predict(ours, rows).labels == tuple(LABELS)


@pytest.mark.spec("GNB")
def test_gaussian_naive_bayes_is_the_diagonal_model() -> None:
    assert (
        naive_bayes(ROWS, LABELS, kind="gaussian").parameters
        == qda(ROWS, LABELS, covariance="diagonal").parameters
    )


@pytest.mark.spec("GMM-FLOOR", "QDA-PARAM")
def test_floor_helps_a_class_of_one_row() -> None:
    rows, labels = [[0, 1], [2, 3], [1, 5], [7, 7]], "aaab"
    with pytest.raises(DegenerateCovariance, match=r"class 'b' \(1 row\) .* floor"):
        qda(rows, labels)
    ours = qda(rows, labels, floor=0.5)
    # Column variances of all rows are 29/4 and 5; half of them over one row.
    assert ours.parameters.spreads[1] == (3.625, 0.0, 0.0, 2.5)
    assert ours.settings["floor"] == 0.5


@pytest.mark.spec("QDA-PARAM", "GNB")
def test_class_and_column_without_spread_are_named() -> None:
    rows = dataset([[0, 1], [2, 3], [7, 4], [9, 4]], features=["width", "length"])
    with pytest.raises(DegenerateCovariance, match=r"class 'b' \(2 rows\) .* column length"):
        naive_bayes(rows, "aabb", kind="gaussian")
    with pytest.raises(DegenerateCovariance, match="column length has the same value in all rows"):
        naive_bayes(
            dataset([[0, 1], [2, 1], [3, 1]], features=["width", "length"]),
            "aab",
            kind="gaussian",
        )
    with pytest.raises(DegenerateCovariance, match="covariance that all classes share"):
        lda([[0, 0], [0, 1], [1, 0], [1, 1]], "aabb")


@pytest.mark.spec("GMM-SCALE", "QDA-PARAM")
@pytest.mark.parametrize("power", [-300, -10, 10, 300])
def test_units_do_not_matter(power: int) -> None:
    scaled = [[math.ldexp(x, power) for x in row] for row in ROWS]
    one, other = qda(ROWS, LABELS), qda(scaled, LABELS)
    assert other.parameters.means == tuple(
        tuple(math.ldexp(x, power) for x in mean) for mean in one.parameters.means
    )
    assert other.parameters.spreads == tuple(
        tuple(math.ldexp(x, 2 * power) for x in spread) for spread in one.parameters.spreads
    )
    assert predict(other, scaled).labels == predict(one, ROWS).labels


@pytest.mark.parametrize("train", [qda, lda, nearest_gaussian])
def test_common_mistakes(train: Any) -> None:
    with pytest.raises(BadOption, match="no labels"):
        train(ROWS)
    with pytest.raises(BadOption, match="covariance model"):
        train(ROWS, LABELS, covariance="round")
    with pytest.raises(BadOption, match="floor"):
        train(ROWS, LABELS, floor=math.nan)
    with pytest.raises(NotFinite, match="power of ten"):
        train([[1e300], [-1e300], [0], [1]], "aabb")
