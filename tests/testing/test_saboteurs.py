"""Every saboteur is rejected, with a message that names its fault (chapter 81)."""

from __future__ import annotations

import pytest

from refclust.kernels.registry import KERNELS
from refclust.testing.kit import conform
from refclust.testing.saboteur import Saboteur
from refclust.testing.saboteurs import saboteurs

ALL = saboteurs()


@pytest.mark.spec("BK-SABOTEURS")
@pytest.mark.parametrize("saboteur", ALL, ids=lambda saboteur: saboteur.name)
def test_it_is_rejected_by_name(saboteur: Saboteur) -> None:
    report = conform(saboteur, quick=True, stop=True)
    assert not report.ok
    fault = report.faults[0].fault
    assert fault is not None
    assert saboteur.word in fault


def test_there_are_enough_of_them() -> None:
    assert len(ALL) >= 90
    assert len({saboteur.name for saboteur in ALL}) == len(ALL)
    assert {kernel for one in ALL for kernel in one.kernels() if kernel in KERNELS} == set(KERNELS)
