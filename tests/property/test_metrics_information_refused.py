"""What the measures of chapter 43 refuse."""

from __future__ import annotations

from fractions import Fraction

import pytest

from refclust.errors import BadOption, DimensionMismatch, WeightsNotInteger
from refclust.formulas import information
from refclust.formulas.information import joint_mutual_information, kl
from refclust.metrics import Contingency


@pytest.mark.spec("IT-KL")
@pytest.mark.parametrize(("q", "p"), [(["1"], ["1/2", "1/2"]), (["1/2", "1/2"], ["1"])])
def test_divergence_needs_distributions_over_the_same_values(q: list[str], p: list[str]) -> None:
    with pytest.raises(DimensionMismatch, match=f"over {len(q)} and {len(p)} values"):
        kl(q, p)


@pytest.mark.spec("IT-MI")
@pytest.mark.parametrize("joint", [[["1/2", "1/4"], ["1/4"]], [["1/4"], ["1/4", "1/2"]]])
def test_a_joint_distribution_has_rows_of_one_length(joint: list[list[str]]) -> None:
    with pytest.raises(DimensionMismatch, match=r"the lengths \[1, 2\]"):
        joint_mutual_information(joint)


@pytest.mark.spec("V-BETA")
@pytest.mark.parametrize("beta", [Fraction(-1, 2), -1, -2])
def test_v_measure_refuses_weights_below_zero(beta: Fraction | int) -> None:
    with pytest.raises(BadOption, match=r"^v_measure: beta=.* must not be negative$"):
        information.v_measure(Contingency.of_rows([[2, 1], [0, 2]]), beta=beta)


@pytest.mark.spec("EMI")
def test_parts_of_objects_are_not_permuted() -> None:
    with pytest.raises(WeightsNotInteger):
        information.expected_mutual_information(Contingency.of_rows([["3/2", 1], [0, "1/2"]]))
