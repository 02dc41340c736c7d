"""The loopback backend must pass everything: no driver may look inside prepared data."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import refclust
from refclust.backends.builtin import Loopback, Opaque
from refclust.backends.plugins.discovery import find
from refclust.backends.protocol import Backend, Estimate, Problem
from refclust.kernels.contingency import LabelPairs
from refclust.kernels.information import Margins
from refclust.kernels.registry import KERNELS


def backends() -> list[Backend]:
    return [backend for name in ("reference", "loopback") if (backend := find(name).backend)]


@pytest.mark.spec("KER-CT")
@pytest.mark.parametrize("backend", backends(), ids=lambda backend: backend.name)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from("xyz"), st.fractions(0, 5)), max_size=30)
)
def test_counting_keeps_its_contract(
    backend: Backend, objects: list[tuple[int, str, Fraction]]
) -> None:
    clusters, classes = [row[0] for row in objects], [row[1] for row in objects]
    weights = [row[2] for row in objects]
    for weighed in (None, weights):
        data = LabelPairs(clusters, classes, weighed)
        kernel = KERNELS["contingency.table"]
        answer = backend.export(backend.kernels()[kernel.name](backend.prepare(data)))
        assert kernel.contract.fault(kernel.reference(data), answer) is None


@pytest.mark.spec("KER-EMI")
@pytest.mark.parametrize("backend", backends(), ids=lambda backend: backend.name)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_expected_mutual_information_keeps_its_contract(backend: Backend, sizes: list[int]) -> None:
    n = sum(sizes)
    rows = tuple(sorted((size, sizes.count(size)) for size in set(sizes)))
    margins = Margins(rows, ((1, n),) if n > 1 else ((1, 1),), n)
    kernel = KERNELS["information.expected_mi"]
    wide = backend.export(backend.kernels()[kernel.name](backend.prepare(margins), 20))
    assert kernel.contract.fault(kernel.reference(margins, 60), wide) is None


def test_loopback_scores_like_the_reference() -> None:
    true, pred = [0, 0, 1, 1, 2, 2, 2], [0, 1, 1, 1, 2, 2, 0]
    ours = refclust.score_all(true, pred, backend="reference")
    theirs = refclust.score_all(true, pred, backend="loopback")
    assert [(name, repr(score)) for name, score in ours.items()] == [
        (name, repr(score)) for name, score in theirs.items()
    ]
    ran = {run.kernel: run.backend for run in theirs["ami"].provenance.kernels}
    assert ran == {"contingency.table": "loopback", "information.expected_mi": "loopback"}


def test_loopback_is_never_chosen_by_auto() -> None:
    assert Loopback().supports("contingency.table", Problem("labels", 10**9)) == Estimate(
        float("inf")
    )


def test_opaque_data_cannot_be_read() -> None:
    sealed = Loopback().prepare(LabelPairs("ab", "xy"))
    assert isinstance(sealed, Opaque)
    with pytest.raises(AttributeError):
        sealed.clusters  # type: ignore[attr-defined]  # noqa: B018
