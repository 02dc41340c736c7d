"""The registry of kernels (chapter 80, BK-KERNEL)."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from types import ModuleType

import pytest

from refclust import kernels, metrics
from refclust.kernels import contingency, information, registry
from refclust.kernels.contracts.basic import Exact
from refclust.kernels.registry import KERNELS, Kernel, kernel


@pytest.fixture
def spare(monkeypatch: pytest.MonkeyPatch) -> dict[str, Kernel]:
    """A registry of its own, so that a test may declare kernels."""
    kernels: dict[str, Kernel] = {}
    monkeypatch.setattr(registry, "_KERNELS", kernels)
    return kernels


@pytest.fixture
def every_kernel() -> None:
    """Kernels are declared when their modules are imported."""
    importlib.import_module("refclust.backends.builtin")


@pytest.mark.spec("BK-KERNEL")
def test_declaring_a_kernel_returns_the_function_unchanged(spare: dict[str, Kernel]) -> None:
    def double(x: int) -> int:
        return 2 * x

    contract = Exact()
    assert kernel("test.double", contract=contract)(double) is double
    assert spare == {"test.double": Kernel("test.double", double, contract)}
    assert spare["test.double"].reference(4) == 8


@pytest.mark.spec("BK-KERNEL")
def test_a_name_is_declared_once(spare: dict[str, Kernel]) -> None:
    declare = kernel("test.twice", contract=Exact())
    declare(len)
    with pytest.raises(ValueError, match=r"the kernel 'test\.twice' is declared twice"):
        declare(sum)
    assert spare["test.twice"].reference is len


@pytest.mark.spec("BK-KERNEL", "KER-CT", "KER-EMI", "KER-POSTERIOR", "KER-MOMENTS", "KER-EMSTEP")
@pytest.mark.usefixtures("every_kernel")
def test_the_kernels_there_are() -> None:
    assert KERNELS["contingency.table"].reference is contingency.table
    assert KERNELS["information.expected_mi"].reference is information.expected_mi
    assert {name: KERNELS[name].contract.name for name in sorted(KERNELS)} == {
        "contingency.table": "Exact",
        "distances.pairwise": "Equal",
        "gaussian.em_step": "EMStep",
        "gaussian.exact_moments": "Rationals",
        "gaussian.moments": "Moments",
        "gaussian.posterior": "LogProb",
        "gaussian.scatters": "Scatters",
        "gaussian.traces": "Traces",
        "gaussian.whitening": "Whitens",
        "information.expected_mi": "Enclosing",
        "kmeans.accumulate": "Sums",
        "kmeans.assign": "Argmin",
        "kmeans.cosine_terms": "Rationals",
        "kmeans.directions": "Equal",
        "kmeans.lloyd_step": "Argmin, Sums",
        "kmeans.means": "Equal",
        "kmeans.residual": "Rationals",
        "kmeans.squares": "Rationals",
        "linkage.agglomerate": "Equal",
        "multinomial.em_step": "EMStep",
        "multinomial.exact_tallies": "Rationals",
        "multinomial.logs": "Logarithms",
        "multinomial.m_step": "Estimates",
        "multinomial.moments": "Moments",
        "multinomial.posterior": "LogProb",
        "pairs.extremes": "Equal",
        "scatter.centre_distances": "FineLengths",
        "seeding.best_candidate": "Equal",
        "seeding.beyond": "Equal",
        "seeding.farthest": "Equal",
        "seeding.locate": "Equal",
        "seeding.mass": "Rationals",
        "seeding.potential": "Argmin",
        "silhouette.distance_sums": "Lengths",
        "silhouette.fine_sums": "FineLengths",
    }
    assert all(one.name == name for name, one in KERNELS.items())


@pytest.mark.parametrize("package", [kernels, metrics])
def test_data_and_results_are_frozen_and_slotted(package: ModuleType) -> None:
    classes = [
        value
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
        for value in vars(importlib.import_module(found.name)).values()
        if isinstance(value, type) and dataclasses.is_dataclass(value)
    ]
    assert classes
    for cls in classes:
        assert cls.__dataclass_params__.frozen, cls  # type: ignore[attr-defined]
        assert "__slots__" in vars(cls), cls


def test_the_registry_cannot_be_changed_from_outside() -> None:
    with pytest.raises(TypeError):
        KERNELS["new"] = KERNELS["contingency.table"]  # type: ignore[index]
