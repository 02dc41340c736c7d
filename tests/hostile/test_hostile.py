"""Whatever a checkpoint or a model holds, reading ends soon and with an error of ours, or well."""

from __future__ import annotations

import itertools
import json
import random
import resource
from pathlib import Path
from typing import Any

import pytest

from refclust.errors import BadCheckpoint, FileNotReadable, TooLarge
from refclust.fitting.checkpoint import Checkpoint
from refclust.limits import limits
from refclust.models.clusters import load_model
from tests.hostile import damage, documents

SOME = 60  # of many thousands; ``python -m tests.hostile`` tries all


@pytest.mark.spec("KM-CKPT", "EM-CKPT")
@pytest.mark.parametrize("name", documents.FITS)
def test_damaged_checkpoints(name: str, tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    content = documents.checkpoint_of(name, path)
    assert documents.resumed(name, path, content) == "fine"
    trials = [*damage.flipped(content, 1), *damage.cut(content[:-1])]
    for told, made in random.Random(name).sample(trials, SOME):
        ended = documents.resumed(name, path, made)
        # 1E-05 is 1e-05: some damage is none.
        assert ended == "bad-checkpoint" or json.loads(made) == json.loads(content), told


@pytest.mark.spec("KM-CKPT", "EM-CKPT")
@pytest.mark.parametrize("name", documents.FITS)
def test_forged_checkpoints(name: str, tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    document = json.loads(documents.checkpoint_of(name, path))
    ends = {
        documents.resumed(name, path, documents.sealed(forged()).encode())
        for _, forged in random.Random(name).sample(damage.forgeries(document), SOME)
    }
    # Numbers that a fit might have come to can lead to any of its errors.
    assert "bad-checkpoint" in ends


@pytest.mark.spec("MODEL-LOAD")
@pytest.mark.parametrize("name", documents.model_texts())
def test_damaged_and_forged_models(name: str) -> None:
    text = documents.model_texts()[name]
    content = text.encode()
    trials = [
        made.decode(errors="ignore")
        for _, made in itertools.chain(damage.flipped(content, 1), damage.cut(content[:-1]))
    ]
    rng = random.Random(name)
    some = rng.sample(damage.forgeries(json.loads(text)), SOME)
    for made in [*rng.sample(trials, SOME), *(damage.text(forged()) for _, forged in some)]:
        assert documents.loaded(made) in ("fine", "bad-model")


def forged(name: str, path: Path, change: dict[tuple[Any, ...], Any]) -> str:
    document = json.loads(documents.checkpoint_of(name, path))
    for place, value in change.items():
        document = damage.changed(document, place, value)
    path.write_text(documents.sealed(document), encoding="utf-8")
    with pytest.raises(BadCheckpoint) as caught:
        documents.FITS[name](backend="reference", checkpoint=Checkpoint(str(path), resume=True))
    return str(caught.value).removeprefix(f"{path}")


@pytest.mark.spec("KM-CKPT", "EM-CKPT")
@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        # Random numbers are passed over one by one: so many would take years.
        ("kmeans", {("progress", "draws"): 10**15}, "from 0 to 26 is needed"),
        ("bisecting", {("progress", "draws"): 10**15}, "an integer from 0 to"),
        ("sampled", {("progress", "draws"): 10**15}, "an integer from 0 to 74 is needed"),
        # A walk through this tree would not end.
        (
            "bisecting",
            {("progress", "nodes", 1, "children"): [0, 1]},
            ": progress.nodes",
        ),
        ("kmeans", {("progress", "done"): 10**15}, "from 0 to 300 is needed"),
        ("kmeans", {("progress", "centres"): [[0.0, 0.0]] * 4}, "4 centres; 3 are due"),
        ("kmeans", {("options", "k\x00"): 3}, "has the unknown option"),
        (
            "kmeans",
            {("ran", "kernels", 0, "calls"): damage.HUGE},
            ": ran.kernels[0].calls: inf; an integer from 0 to",
        ),
        ("gaussian", {("progress", "pending", "done"): 4}, "an integer from 0 to 3 is needed"),
        ("gaussian", {("progress", "finished", 0, "stopped"): "collapsed"}, "nothing; the run"),
    ],
    ids=repr,
)
def test_what_hung_or_asked_for_all_the_memory(
    name: str, change: dict[tuple[Any, ...], Any], told: str, tmp_path: Path
) -> None:
    found = forged(name, tmp_path / "fit.json", change)
    assert told in found


@pytest.mark.spec("KM-CKPT")
def test_an_option_whose_name_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    content = documents.checkpoint_of("kmeans", path).replace(b'"tolerance"', b'"tolerancd"')
    path.write_bytes(content)
    with pytest.raises(BadCheckpoint) as caught:
        documents.FITS["kmeans"](checkpoint=Checkpoint(str(path), resume=True))
    assert str(caught.value) == (f"{path} has no option 'tolerance'; it belongs to another version")


@pytest.mark.spec("KM-CKPT", "MODEL-LOAD")
def test_documents_are_of_bounded_length(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    path.write_bytes(documents.checkpoint_of("kmeans", path))
    length = path.stat().st_size
    model = tmp_path / "model.json"
    model.write_text(documents.model_texts()["kmeans"], encoding="utf-8")
    with limits(document=1000):
        with pytest.raises(TooLarge, match=rf"takes {length:,} bytes, and the limit is 1,000; "):
            documents.FITS["kmeans"](checkpoint=Checkpoint(str(path), resume=True))
        with pytest.raises(TooLarge, match=r" beyond 1,000 bytes, the limit; "):
            load_model(str(model))


@pytest.mark.spec("KM-CKPT")
def test_a_checkpoint_without_end_is_no_file() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FileNotReadable, match=r"cannot read the checkpoint /dev/zero: it is no"):
        documents.FITS["kmeans"](checkpoint=Checkpoint("/dev/zero", resume=True))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 18
