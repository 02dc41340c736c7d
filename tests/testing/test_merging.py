"""The check of the merge law: whom it passes, whom it rejects, and why (chapter 80, BK-MERGE)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from refclust.backends.builtin import Loopback, Reference
from refclust.kernels.registry import KERNELS
from refclust.testing.checks.merging import merge_faults, merged_kernels
from refclust.testing.checks.stories import stories
from refclust.testing.saboteurs.obvious.merging import of_merging
from refclust.testing.saboteurs.saboteur import Saboteur

ALL = tuple(of_merging())


@pytest.mark.spec("BK-MERGE")
@pytest.mark.parametrize("quick", [True, False])
def test_the_reference_and_the_loopback_pass(quick: bool) -> None:
    for backend in (Reference(), Loopback()):
        found = merge_faults(backend, quick=quick)
        assert {kernel for kernel, _, _ in found} == merged_kernels()
        assert all(calls > 10 and fault is None for _, calls, fault in found)


@pytest.mark.spec("BK-MERGE")
@pytest.mark.parametrize("saboteur", ALL, ids=lambda saboteur: saboteur.name)
def test_this_check_alone_rejects_them(saboteur: Saboteur) -> None:
    faults = {kernel: fault for kernel, _, fault in merge_faults(saboteur, quick=True)}
    assert set(faults) == set(saboteur.kernels())
    for fault in faults.values():
        assert fault is not None
        assert "[merged: " in fault
        assert "do not add up to the whole" in fault or "malformed" in fault or "the draw" in fault


def test_an_error_is_told_with_the_cut() -> None:
    class Failing(Reference):
        def kernels(self) -> Mapping[str, Any]:
            return {"kmeans.squares": lambda *_: 1 / 0}

    [(kernel, _, fault)] = merge_faults(Failing(), quick=True)
    assert kernel == "kmeans.squares"
    assert fault is not None
    assert fault.startswith("it raised ZeroDivisionError: division by zero [merged: weighted rows")


def test_every_kernel_with_a_merge_is_in_some_story() -> None:
    asked: set[str] = set()
    for story in stories(quick=True):
        plain = Reference().prepare(story.data)

        def call(kernel: str, *args: Any, plain: Any = plain) -> Any:
            asked.add(kernel)
            return KERNELS[kernel].reference(plain, *args)

        story.tell(call, range(story.n))
    assert asked == {name for name, kernel in KERNELS.items() if kernel.merge}
