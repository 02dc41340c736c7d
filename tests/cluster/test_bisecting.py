"""Bisecting k-means: which leaf is split, how clusters are numbered, what cannot be split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from refclust.cluster.bisecting import bisecting
from refclust.cluster.fit import kmeans
from refclust.cluster.results import Split
from refclust.errors import BadCheckpoint, BadOption, KOutOfRange, ZeroVector
from refclust.fitting.checkpoint import Checkpoint

LINE = [[0], [1], [10], [11], [30]]


@pytest.mark.spec("HC-BISECT")
def test_a_tree_of_two_splits() -> None:
    fit = bisecting(LINE, 3)
    assert fit.labels.tolist() == [1, 1, 2, 2, 0]
    assert fit.centres == ((30.0,), (0.5,), (10.5,))
    assert list(fit.sizes) == [1, 2, 2]
    assert fit.within == (0.0, 0.5, 0.5)
    assert (fit.rss, fit.mean_square) == (1.0, 0.2)
    root = fit.root
    assert isinstance(root, Split)
    # The mean of all is 10.4: 108.16 + 88.36 + 0.16 + 0.36 + 384.16, in the doubles that they are.
    mean = Fraction(10.4)
    assert root.rss == float(sum((x - mean) ** 2 for [x] in LINE))
    assert root.centres == ((30.0,), (5.5,))
    assert root.rss_after == 101.0
    assert root.children[0] == 0
    assert root.children[1] == Split(((0.5,), (10.5,)), (1, 2), 101.0, 1.0)


@pytest.mark.spec("HC-BISECT")
def test_one_cluster_is_the_mean_of_all() -> None:
    fit = bisecting(LINE, 1)
    assert fit.root == 0
    assert fit.centres == ((10.4,),)
    assert fit.labels.tolist() == [0] * 5


@pytest.mark.spec("HC-BISECT")
def test_every_row_its_own_cluster() -> None:
    fit = bisecting(LINE, 5)
    assert fit.rss == 0.0
    assert sorted(fit.labels) == [0, 1, 2, 3, 4]
    assert sorted(fit.centres) == [(0.0,), (1.0,), (10.0,), (11.0,), (30.0,)]


@pytest.mark.spec("HC-BISECT")
def test_size_and_spread_choose_different_leaves() -> None:
    # Six rows close together, two rows far apart: by size the six are split next, by sum the two.
    data = [[0], [1], [2], [3], [4], [5], [1000], [1100]]
    by_size = bisecting(data, 3, by="size")
    by_sum = bisecting(data, 3, by="rss")
    assert by_size.labels[6] == by_size.labels[7]
    assert by_sum.labels[6] != by_sum.labels[7]


@pytest.mark.spec("HC-BISECT")
def test_equal_leaves_go_by_their_first_row() -> None:
    # Both halves have the same sum of squares; the one that holds row 0 is split first.
    fit = bisecting([[100], [102], [0], [2]], 3)
    assert fit.labels[0] != fit.labels[1]
    assert fit.labels[2] == fit.labels[3]


@pytest.mark.spec("HC-BISECT")
def test_weights_count_as_copies() -> None:
    weighted = bisecting(LINE, 3, weights=[1, 2, 1, 3, 1], seed=4)
    copied = bisecting([[0], [1], [1], [10], [11], [11], [11], [30]], 3, seed=4)
    assert weighted.centres == copied.centres
    assert weighted.sizes == copied.sizes
    assert weighted.rss == copied.rss
    assert [copied.labels[i] for i in (0, 1, 3, 4, 7)] == weighted.labels.tolist()


@pytest.mark.spec("HC-BISECT")
def test_rows_that_are_all_equal_cannot_be_split() -> None:
    with pytest.raises(KOutOfRange, match="only 2 can be told apart"):
        bisecting([[1], [1], [2], [2]], 3)


def test_the_first_split_is_plain_k_means() -> None:
    data = [[0, 0], [1, 0], [7, 5], [8, 5], [7, 6]]
    split = bisecting(data, 2, seed=11)
    plain = kmeans(data, 2, seed=11)
    assert split.labels == plain.labels
    assert split.centres == plain.centres
    assert split.rss == plain.rss


def test_directions() -> None:
    fit = bisecting([[1, 0], [5, 0], [0, 1], [0, 9], [1, 1]], 3, metric="cosine", seed=2)
    assert fit.labels[0] == fit.labels[1]
    assert fit.labels[2] == fit.labels[3]
    assert len(set(fit.labels)) == 3
    with pytest.raises(ZeroVector):
        bisecting([[1, 0], [0, 0]], 2, metric="cosine")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"by": "height"}, "by is 'height'; allowed are rss, size"),
        ({"start": "given"}, "start is 'given'"),
        ({"metric": "cityblock"}, "metric is 'cityblock'"),
        ({"restarts": 0}, "restarts is 0"),
    ],
)
def test_options_are_checked(options: dict[str, object], told: str) -> None:
    with pytest.raises(BadOption, match=told):
        bisecting(LINE, 2, **options)  # type: ignore[arg-type]


def test_the_backend_does_not_matter() -> None:
    here, there = bisecting(LINE, 3, restarts=3), bisecting(LINE, 3, restarts=3, backend="loopback")
    assert here.labels == there.labels
    assert here.root == there.root
    assert {run.backend for run in there.provenance.kernels} == {"loopback"}


@pytest.mark.spec("KM-CKPT")
def test_an_interrupted_fit_goes_on_to_the_same_tree(tmp_path: Path) -> None:
    path = str(tmp_path / "fit.checkpoint")
    data = [[(7 * i * i) % 101, (3 * i) % 17] for i in range(40)]
    whole = bisecting(data, 9, seed=5, restarts=2)

    def interrupt_at(stop: int) -> Callable[[int], None]:
        def told(leaves: int) -> None:
            if leaves == stop:
                raise KeyboardInterrupt

        return told

    for stop in (2, 5, 8):
        checkpoint = Checkpoint(path, resume=stop > 2)
        with pytest.raises(KeyboardInterrupt):
            bisecting(
                data, 9, seed=5, restarts=2, checkpoint=checkpoint, after_split=interrupt_at(stop)
            )
    backend = "loopback"
    resumed = bisecting(
        data, 9, seed=5, restarts=2, backend=backend, checkpoint=Checkpoint(path, resume=True)
    )
    assert replace(resumed, provenance=whole.provenance) == whole
    assert not Path(path).exists()


@pytest.mark.spec("KM-CKPT")
def test_a_checkpoint_of_another_fit_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "fit.checkpoint")

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bisecting(LINE, 3, checkpoint=Checkpoint(path), after_split=stop)
    with pytest.raises(BadCheckpoint, match="by = 'rss', not 'size'"):
        bisecting(LINE, 3, by="size", checkpoint=Checkpoint(path, resume=True))
    with pytest.raises(BadCheckpoint, match="algorithm is 'bisecting'; 'kmeans' is needed"):
        kmeans(LINE, 3, checkpoint=Checkpoint(path, resume=True))
