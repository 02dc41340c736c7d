"""Chapter 32 of the formula room by hand: small fractions, each worked out beside its formula."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice
from typing import Any

import pytest

from refclust.errors import BadOption, DegenerateCovariance, EmptyInput
from refclust.formulas import gaussian as formulas
from refclust.formulas.vectors import Number, determinant, exact, total
from refclust.numbers.real import Real, exp, log, sqrt
from refclust.numbers.reals.constants import pi

U = formulas.UNIT
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
UPRIGHT = ((1, 0), (0, 1))
TURNED = ((Fraction(3, 5), Fraction(-4, 5)), (Fraction(4, 5), Fraction(3, 5)))


@pytest.mark.spec("DIST-MAHA", "GAU-PDF", "GAU-LL", "GMM-DENS", "GMM-LL", "GMM-ESTEP", "CEM-ASSIGN")
def test_densities() -> None:
    sigma = [[2, 1], [1, 2]]  # determinant 3, inverse (2, -1; -1, 2)/3
    square = formulas.mahalanobis([3, 1], [1, 2], sigma)
    assert square == Fraction(2 * 4 + 2 * 2 + 2, 3)
    assert formulas.density([3, 1], [1, 2], sigma) == exp(-square / 2) / (2 * pi * sqrt(3))
    for flat in ([[1, 1], [1, 1]], [[1, 2], [2, 1]], [[0, 0], [0, 1]]):
        with pytest.raises(DegenerateCovariance):
            formulas.density([3, 1], [1, 2], flat)
    # Equal peaks, so that shares depend on distances alone.
    mixture = [(0.25, [0], [[1]]), (0.75, [2], [[1]])]
    one, other = formulas.density([0], [0], [[1]]), formulas.density([0], [2], [[1]])
    whole = formulas.mixture_density([0], mixture)
    assert whole == one / 4 + 3 * other / 4
    assert formulas.responsibilities([1], mixture) == (Fraction(1, 4), Fraction(3, 4))
    assert formulas.log_likelihood([[0], [1]], [2, 0], mixture) == 2 * log(whole)
    alone = formulas.log_likelihood_of_one([[0], [2]], [2, 3], [0], [[1]])
    assert alone == 2 * log(one) + 3 * log(formulas.density([2], [0], [[1]]))
    assert [formulas.hard_assignment([x], mixture) for x in (-5, 0, 1, 5)] == [0, 0, 1, 1]
    assert formulas.hard_assignment([1], [(0.5, [0], [[1]]), (0.5, [2], [[1]])]) == 0


@pytest.mark.spec("GMM-NK", "GMM-PI", "GMM-MU", "GMM-SIG", "GAU-MLEMU", "GAU-MLESIG", "GMM-SPH")
def test_estimates() -> None:
    x, w, q = [[0, 1], [4, 3], [2, 8]], [1, 2, 3], [0.5, 0.5, 0]
    assert formulas.component_weight(w, q) == Fraction(3, 2)
    assert formulas.shares([1, 2, 5]) == (Fraction(1, 8), Fraction(1, 4), Fraction(5, 8))
    assert formulas.mean(x, w, q) == (Fraction(8, 3), Fraction(7, 3))
    # Around (1, 1): 1/2 of (-1, 0), 1 of (3, 2).
    assert formulas.covariance(x, w, q, [1, 1]) == ((Fraction(19, 3), 4), (4, Fraction(8, 3)))
    assert formulas.mean_of_rows(x, [1, 2, 1]) == (Fraction(5, 2), Fraction(15, 4))
    rows = [[0, 0], [2, 4], [4, 2]]
    assert formulas.mean_of_rows(rows, [1, 0, 3]) == (3, Fraction(3, 2))
    assert formulas.covariance_of_rows(rows, [1, 1, 1]) == (
        (Fraction(8, 3), Fraction(4, 3)),
        (Fraction(4, 3), Fraction(8, 3)),
    )
    assert formulas.covariance_of_rows(rows[:2], [1, 3]) == (
        (Fraction(3, 4), Fraction(3, 2)),
        (Fraction(3, 2), 3),
    )
    for estimate in (formulas.mean_of_rows, formulas.covariance_of_rows):
        with pytest.raises(EmptyInput):
            estimate(rows, [0, 0, 0])
    # Traces 3 and 9 over two columns and a weight of 4.
    assert formulas.shared_variance([1, 3], [[[2, 5], [5, 1]], [[4, 0], [0, 5]]]) == Fraction(3, 2)


@pytest.mark.spec("CEM-NK", "CEM-MU", "CEM-SIG", "CEM-PI")
def test_hard_estimates() -> None:
    x, w, z = [[0, 1], [4, 3], [2, 8], [6, 6]], [1, 2, 5, 1], [1, 1, 0, 1]
    assert [formulas.hard_weight(w, z, k) for k in (0, 1, 2)] == [5, 4, 0]
    assert formulas.hard_mean(x, w, z, 1) == (Fraction(7, 2), Fraction(13, 4))
    # Deviations (-7/2, -9/4), (1/2, -1/4) twice, (5/2, 11/4); the outer product (ERR-33).
    assert formulas.hard_covariance(x, w, z, 1) == (
        (Fraction(19, 4), Fraction(29, 8)),
        (Fraction(29, 8), Fraction(51, 16)),
    )
    assert formulas.hard_shares(w, z, 2) == (Fraction(5, 9), Fraction(4, 9))
    assert formulas.hard_shares(w, z, 3)[2] == 0


@pytest.mark.spec("GMM-EXPCDLL")
def test_the_expected_log_likelihood() -> None:
    x, w, q = [[0], [2]], [1, 3], [[0.25, 0.75], [1.0, 0.0]]
    mixture = [(0.5, [1], [[4]]), (0.5, [3], [[1]])]
    # w q = 1/4, 3/4 and 3: squares 1/4, 9 and 1/4, roots of determinants 2, 1 and 2.
    due = total(
        [
            4 * log(0.5),
            -Fraction(1, 4) * (Fraction(1, 8) + log(2)),
            -Fraction(3, 4) * Fraction(9, 2),
            -3 * (Fraction(1, 8) + log(2)),
            -2 * log(2 * pi),
        ]
    )
    found = formulas.expected_complete(x, w, q, mixture)
    assert Real(found).digits(40) == Real(due).digits(40)
    # What has no share does not count, even where its weight is 0.
    never = [(1, [1], [[4]]), (0, [3], [[1]])]
    found = formulas.expected_complete([[2]], [1], [[1, 0]], never)
    assert found == log(formulas.density([2], [1], [[4]]))


@pytest.mark.spec("GMM-FLOOR")
def test_the_prior_of_a_floor() -> None:
    # Inverses (1, -1; -1, 2) and (1, 0; 0, 1/2), psi (2, 1).
    sigmas = [[[2, 1], [1, 1]], [[1, 0], [0, 2]]]
    assert formulas.log_prior(0.5, [4, 2], sigmas) == Fraction(-13, 4)
    assert formulas.log_prior(0, [4, 2], sigmas) == 0


@pytest.mark.spec("GMM-COLLAPSE")
def test_the_border_of_a_collapse() -> None:
    """On the border a component has collapsed, and a little beside it it has not."""
    little = 1 + Fraction(1, 2**40)
    # Rounding: (4u (|m| + sqrt v))^2 with m = -3 and v = 16.
    edge = (28 * U) ** 2
    for m, v in ((-3, 16), (3, 16)):
        assert formulas.collapsed([[edge]], [m], [v])
        assert formulas.collapsed([[edge / little]], [m], [v])
        assert not formulas.collapsed([[edge * little]], [m], [v])
    # In either of two columns by its own mean and variance.
    for j in (0, 1):
        means, variances = (
            [-3 if i == j else 0 for i in (0, 1)],
            [16 if i == j else 1 for i in (0, 1)],
        )
        thin = [
            [edge if a == j else 1, 0] if a == 0 else [0, edge if a == j else 1] for a in (0, 1)
        ]
        assert formulas.collapsed(thin, means, variances)
        assert not formulas.collapsed(thin, means[::-1], variances[::-1])
    # Unexplained: t of 1 + t, with t = d (1 + t) / 2^46 on the border.
    for d, border in ((2, Fraction(2, 2**46 - 2)), (3, Fraction(3, 2**46 - 3))):
        for t, due in ((border, True), (border / little, True), (border * little, False)):
            sigma = [[int(i == j) for j in range(d)] for i in range(d)]
            whole: list[list[Any]] = [list(map(exact, line)) for line in sigma]
            whole[d - 2][d - 1] = whole[d - 1][d - 2] = Fraction(1)
            whole[d - 1][d - 1] = 1 + t
            assert determinant(whole) == t
            assert formulas.collapsed(whole, [0] * d, [1] * d) is due
    # What has no Cholesky factor.
    for flat in ([[0]], [[-1]], [[1, 2], [2, 1]], [[1, 1], [1, 1]], [[-1, 0], [0, 1]]):
        assert formulas.collapsed(flat, [0] * len(flat), [1] * len(flat))
    assert not formulas.collapsed([[4, 2], [2, 5]], [0, 0], [1, 1])


@pytest.mark.spec("CEM-ALG")
def test_classification_em() -> None:
    x, w = [[-1], [1], [3], [7]], [1, 3, 1, 1]
    start = [(0.5, [0], [[1]]), (0.5, [4], [[1]])]
    # Two rows each: weights 4 and 2, means 1/2 and 5, variances 3/4 and 4; and so they stay.
    due = [(2 / 3, (0.5,), ((0.75,),)), (1 / 3, (5.0,), ((4.0,),))]
    assert list(islice(formulas.classification_em(x, w, start), 2)) == [due, due]
    # A start that needs two iterations: the row 1 changes sides once.
    slow = formulas.classification_em(x, w, [(0.5, [-1], [[1]]), (0.5, [2.5], [[1]])])
    assert next(slow)[0] == (1 / 6, (-1.0,), ((0.0,),))


@pytest.mark.spec("GMM-ALG")
def test_em_as_it_is_written() -> None:
    x, w = [[0, 0], [1, 0], [0, 2], [3, 3]], [1, 2, 1, 0.5]
    mixture: list[Any] = [(0.25, [0, 0], UPRIGHT), (0.75, [2, 1], ((2, 1), (1, 2)))]
    loop = formulas.em(x, w, mixture)
    for _ in range(2):
        found = next(loop)
        joint = [[exact(a) * formulas.density(x_i, m, s) for a, m, s in mixture] for x_i in x]
        q = [[p / (row[0] + row[1]) for p in row] for row in joint]
        for k in (0, 1):
            mass = [exact(w_i) * row[k] for w_i, row in zip(w, q, strict=True)]
            n = total(mass)
            mu = [total(m * x_i[j] for m, x_i in zip(mass, x, strict=True)) / n for j in (0, 1)]
            sigma = tuple(
                tuple(
                    float(total(m * (x_i[a] - mu[a]) * (x_i[b] - mu[b])
                                for m, x_i in zip(mass, x, strict=True)) / n)
                    for b in (0, 1)
                )
                for a in (0, 1)
            )  # fmt: skip
            assert found[k] == (float(n / exact(4.5)), tuple(map(float, mu)), sigma)
        mixture = found


PARTS: dict[str, tuple[Any, Any]] = {
    # Volumes 2 and 3, shapes (4, 1/4) and (9, 1/9), axes turned and upright.
    "EII": (((2, 0), (0, 2)), ((2, 0), (0, 2))),
    "VII": (((2, 0), (0, 2)), ((3, 0), (0, 3))),
    "EEI": (((8, 0), (0, HALF)), ((8, 0), (0, HALF))),
    "VEI": (((8, 0), (0, HALF)), ((12, 0), (0, Fraction(3, 4)))),
    "EVI": (((8, 0), (0, HALF)), ((18, 0), (0, Fraction(2, 9)))),
    "VVI": (((8, 0), (0, HALF)), ((27, 0), (0, THIRD))),
}


@pytest.mark.spec("GMM-COV")
@pytest.mark.parametrize("model", formulas.MODELS)
def test_what_a_model_ties(model: str) -> None:
    volumes: list[Number] = [2, 3]
    shapes: list[list[Number]] = [[4, 0.25], [9, Fraction(1, 9)]]
    axes: list[Any] = [TURNED, UPRIGHT]
    found = formulas.tied(model, volumes, shapes, axes)
    if model in PARTS:
        assert found == list(PARTS[model])
        return
    for k, sigma in enumerate(found):
        size = volumes[k if model[0] == "V" else 0]
        long, short = (size * exact(a) for a in shapes[k if model[1] == "V" else 0])
        if model[2] == "V" and k == 1:
            assert sigma == ((long, 0), (0, short))
        else:  # the longer axis along (3, 4)/5
            across = 12 * (long - short) / 25
            due = (((9 * long + 16 * short) / 25, across), (across, (16 * long + 9 * short) / 25))
            assert sigma == due


@pytest.mark.spec("GMM-COV")
def test_what_is_common_is_told_once() -> None:
    long, short = ((8, 0), (0, HALF)), ((HALF, 0), (0, 8))
    across = ((0, 1), (1, 0))
    assert formulas.tied("EEV", [2], [[4, 0.25]], [UPRIGHT, across]) == [long, short]
    assert formulas.tied("EVE", [2], [[4, 0.25], [0.25, 4]], [UPRIGHT]) == [long, short]
    assert formulas.tied("VEE", [2, 4], [[4, 0.25]], [UPRIGHT])[1] == ((16, 0), (0, 1))


@pytest.mark.spec("GMM-COV", "GMM-COVM", "GMM-COVDF")
@pytest.mark.parametrize("name", ["VIV", "vvv", "full", "EIE", ""])
def test_other_names_are_no_models(name: str) -> None:
    for call in (
        lambda: formulas.tied(name, [1], [[1]], [[[1]]]),
        lambda: formulas.covariances(name, [1], [[[1]]]),
        lambda: formulas.free_parameters(name, 1, 1),
    ):
        with pytest.raises(BadOption):
            call()


@pytest.mark.spec("GMM-COVM")
def test_best_covariances() -> None:
    n, s = [2, 4], [((2, 1), (1, 8)), ((18, 3), (3, 2))]
    best = formulas.covariances
    assert best("EII", n, s)[1] == ((Fraction(5, 2), 0), (0, Fraction(5, 2)))
    assert best("VII", n, s) == [((HALF * 5, 0), (0, HALF * 5)), ((HALF * 5, 0), (0, HALF * 5))]
    assert best("VII", [1, 4], s)[0] == ((5, 0), (0, 5))
    assert best("EEI", n, s) == [((Fraction(10, 3), 0), (0, Fraction(5, 3)))] * 2
    assert best("VVI", n, s)[1] == ((Fraction(9, 2), 0), (0, HALF))
    assert (
        best("EEE", n, s)
        == [((Fraction(10, 3), Fraction(2, 3)), (Fraction(2, 3), Fraction(5, 3)))] * 2
    )
    assert best("VVV", n, s)[0] == ((1, HALF), (HALF, 4))
    # Volumes 4 and 6, together 10 over 6.
    assert best("EVI", n, s) == [
        ((Fraction(5, 6), 0), (0, Fraction(10, 3))),
        ((5, 0), (0, Fraction(5, 9))),
    ]
    even = [((5, 3), (3, 5)), ((13, 12), (12, 13))]  # determinants 16 and 25, volumes 4 and 5
    assert best("EVV", [1, 2], even)[1] == (
        (Fraction(39, 5), Fraction(36, 5)),
        (Fraction(36, 5), Fraction(39, 5)),
    )
    # One turn from volumes 1 and 2: the shape diag(11, 9), its scale drops out.
    turn = best("VEI", n, s, volumes=[1, 2])
    first = (Fraction(2, 11) + Fraction(8, 9)) / 4
    second = (Fraction(18, 11) + Fraction(2, 9)) / 8
    assert turn == [((11 * a, 0), (0, 9 * a)) for a in (first, second)]
    # The shape (11, 5/2; 5/2, 9), determinant 371/4; tr(S T^-1) = (9 xx - 5 xy + 11 yy) / (371/4).
    turn = best("VEE", n, s, volumes=[1, 2])
    size = Fraction(371, 4)
    first, second = (18 - 5 + 88) / (size * 2 * 2), (162 - 15 + 22) / (size * 4 * 2)
    assert turn == [((11 * a, HALF * 5 * a), (HALF * 5 * a, 9 * a)) for a in (first, second)]


@pytest.mark.spec("GMM-COVM")
def test_what_is_missing_is_told() -> None:
    n, s = [1, 1], [UPRIGHT, ((2, 0), (0, 1))]
    for model in formulas.MODELS:
        with pytest.raises(BadOption):
            formulas.covariances(
                model,
                n,
                s,
                [] if model in formulas.TURNED else [UPRIGHT] * 2,
                [1, 1] if model in formulas.TURNS else [],
            )
        with pytest.raises(BadOption):
            formulas.covariances(
                model,
                n,
                s,
                [UPRIGHT] * 2 if model in formulas.TURNED else [],
                [] if model in formulas.TURNS else [1, 1],
            )


@pytest.mark.spec("GMM-COVDF")
def test_numbers_that_are_free() -> None:
    # K = 3 in d = 4: 2 shares and 12 numbers of means; volumes 1 or 3, shapes 3 or 9, axes 6 or 18.
    own = {"E": 1, "V": 3}
    shape, turn = {"I": 0, "E": 3, "V": 9}, {"I": 0, "E": 6, "V": 18}
    for model in formulas.MODELS:
        due = 14 + own[model[0]] + shape[model[1]] + turn[model[2]]
        assert formulas.free_parameters(model, 3, 4) == due
