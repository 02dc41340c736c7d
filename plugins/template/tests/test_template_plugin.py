"""The whole kit on the backend, and what the kit cannot know: what this backend offers."""

from __future__ import annotations

import pytest
from refclust_template import refclust_register_backends
from refclust_template.backend import TemplateBackend

from refclust.backends.protocol import Backend, Estimate, Problem, Refusal
from refclust.testing.kit import Check, checks, conform


@pytest.mark.parametrize("check", checks(), ids=lambda check: check.name)
def test_every_check_of_the_kit(check: Check) -> None:
    faults = [outcome for outcome in check.run(TemplateBackend()) if outcome.fault is not None]
    assert faults == []


def test_the_kit_tried_both_kernels() -> None:
    report = conform(TemplateBackend(), quick=True)
    assert report.ok
    assert report.kernels == ("contingency.table", "kmeans.squares")


def test_registration() -> None:
    [backend] = refclust_register_backends()
    offered: Backend = backend
    assert offered.name == "template"


def test_support() -> None:
    backend = TemplateBackend()
    assert backend.supports("kmeans.squares", Problem("dense", 10, 20, 3)) == Estimate(float("inf"))
    assert isinstance(backend.supports("kmeans.assign", Problem("dense", 10, 20, 3)), Refusal)
    assert isinstance(backend.supports("kmeans.squares", Problem("dense", 2**32)), Refusal)
