"""Inputs of the benchmark: the same in every run, and what their names say."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from refclust.errors import BadOption
from refclust_bench import data, own, peers
from refclust_bench.workloads import WORKLOADS, BenchCase, chosen

CASES = [case for workload in WORKLOADS.values() for case in workload.cases(quick=True)]


def named(case: BenchCase) -> str:
    return f"{case.workload.id}-{case.sort}"


def test_random_bits_belong_to_their_name() -> None:
    assert data.words("a", 700_000)[:5] == data.words("a", 5)
    assert data.words("a", 5) != data.words("b", 5)
    assert len(data.words("a", 600_000, "I")) == 600_000
    assert max(data.words("a", 70_000)) <= data.STEPS - 1


@pytest.mark.parametrize("case", CASES, ids=named)
def test_inputs_are_repeatable_and_survive_a_file(case: BenchCase, tmp_path: Path) -> None:
    tiny = case.tiny()
    tiny.write(tmp_path)
    assert data.read(tmp_path).digest() == tiny.digest() == case.tiny().digest()
    assert dict(data.read(tmp_path).facts) == dict(tiny.facts)
    other = {name: values[:] for name, values in tiny.buffers.items()}
    first = next(iter(other.values()))
    first[0] += 1
    assert data.Input(tiny.kind, tiny.facts, other).digest() != tiny.digest()


@pytest.mark.parametrize("sort", sorted(data.DENSE))
def test_starting_centres_are_different_rows(sort: str) -> None:
    blobs = data.dense("test", sort, 50, 3, 7)
    rows = [tuple(blobs.buffers["rows"][i : i + 3]) for i in range(0, 150, 3)]
    centres = [tuple(blobs.buffers["centres"][i : i + 3]) for i in range(0, 21, 3)]
    assert len(rows) == 50
    assert len(set(centres)) == 7
    assert set(centres) <= set(rows)


def test_too_few_different_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="fewer than 5 different rows"):
        data._different("test", 9, 5, lambda i: i % 3)


def test_data_sets_are_what_they_are_called() -> None:
    duplicated = data.dense("test", "duplicated", 400, 2, 3).buffers["rows"]
    assert len(set(zip(duplicated[::2], duplicated[1::2], strict=True))) <= 50
    assert min(data.dense("test", "uncentred", 400, 2, 3).buffers["rows"]) > 900
    uniform = data.dense("test", "uniform", 400, 2, 3).buffers["rows"]
    assert 0 < min(uniform) < max(uniform) < 1
    pixels = data.dense("test", "pixels", 400, 8, 3).buffers["rows"]
    assert set(pixels) <= set(map(float, range(256)))
    assert 0.0 in pixels
    heavy = data.dense("test", "heavy-tailed", 4000, 2, 3).buffers["rows"]
    blobs = data.dense("test", "blobs", 4000, 2, 3).buffers["rows"]
    assert max(map(abs, heavy)) > 30 > max(map(abs, blobs))


@pytest.mark.parametrize("sort", ["tf-idf", "counts"])
def test_documents_are_ordered_rows_without_zeros(sort: str) -> None:
    documents = data.documents("test", sort, 40, 300, 4)
    starts, columns, values = (documents.buffers[name] for name in ("starts", "columns", "values"))
    assert (starts[0], starts[-1], len(starts)) == (0, len(columns), 41)
    for begin, end in pairwise(starts):
        row = columns[begin:end].tolist()
        assert row == sorted(set(row))
        assert 0 <= row[0] <= row[-1] < 300
    assert all(values)
    whole = all(value == int(value) for value in values)
    assert whole == (sort == "counts")


@pytest.mark.parametrize("sort", ["flat", "zipf", "distinct"])
def test_labels_fill_their_groups(sort: str) -> None:
    labels = data.labels("test", sort, 20_000, 30)
    true, pred = labels.buffers["true"], labels.buffers["pred"]
    assert set(true) == set(pred) == set(range(30))
    agreeing = sum(a == b for a, b in zip(true, pred, strict=True))
    assert 9_000 < agreeing < 13_000
    sizes = [true.count(group) for group in range(30)]
    assert (max(sizes) > 5 * min(sizes)) == (sort != "flat")


def test_workloads_are_chosen_by_name() -> None:
    assert [workload.id for workload in chosen([])] == list(WORKLOADS)
    assert [workload.id for workload in chosen(["sk-20"])] == ["SK-20"]
    with pytest.raises(BadOption, match="no workload is called 'KM-X'; there are: KM-A"):
        chosen(["km-x"])


def test_every_workload_has_two_data_sets_and_contenders() -> None:
    for workload in WORKLOADS.values():
        assert len(set(workload.sorts)) >= 2
        assert callable(getattr(own, own.TASKS[workload.task]))
        for entry in peers.TASKS[workload.task]:
            assert callable(getattr(peers, entry.place))
            assert entry.peer in peers.PEERS
    assert len(WORKLOADS["ST-1"].cases(quick=True)) == 1
    assert len(WORKLOADS["ST-1"].cases(quick=False)) == 2
