"""A fit that was stopped at any point ends in the same model file, byte for byte (KM-CKPT)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import refclust as mixtures
from refclust.backends.plugins import discovery
from refclust.backends.protocol import Problem
from refclust.backends.session import Decided, KernelRun, Provenance, Session
from refclust.cluster.bisecting import bisecting
from refclust.cluster.fit import kmeans
from refclust.data.files.document import Node
from refclust.errors import BadCheckpoint
from refclust.fitting.checkpoint import Checkpoint, Fitting
from refclust.models import clusters as model
from refclust.models import mixtures as mixture_model
from refclust.models.document import to_json

ROWS = [[(37 * i * i) % 101 / 8, (53 * i) % 89 / 4] for i in range(40)]
WORDS = [[(7 * i * j) % 5 + (i % 3 == j) * 4 for j in range(3)] for i in range(12)]
Fit = Callable[..., Any]


def kmeans_model(**more: Any) -> str:
    options: Any = {"k": 3, "start": "random", "restarts": 3, "seed": 3, **more}
    return to_json(model.model_of(kmeans(ROWS, **options)))


def emptied_model(**more: Any) -> str:
    """A cluster empties in the first iteration: a kernel that no later one calls."""
    options: Any = {"centres": [[0, 0], [500, 0], [5, 1]], "empty": "farthest", **more}
    return to_json(model.model_of(kmeans(ROWS, **options)))


def cosine_model(**more: Any) -> str:
    options: Any = {"k": 3, "metric": "cosine", "start": "greedy", "restarts": 2, **more}
    return to_json(model.model_of(kmeans(ROWS[1:], **options)))


def bisecting_model(**more: Any) -> str:
    return to_json(model.model_of(bisecting(ROWS, 6, seed=2, **more)))


def gaussian_model(**more: Any) -> str:
    options: Any = {"covariance": "VVI", "start": "varied", "restarts": 2, "limit": 4, **more}
    return to_json(mixture_model.model_of(mixtures.gaussian_mixture(ROWS, 2, **options)))


def sampled_model(**more: Any) -> str:
    options: Any = {"variation": "stochastic", "floor": 0.1, "limit": 4, "restarts": 2, **more}
    return to_json(mixture_model.model_of(mixtures.gaussian_mixture(ROWS, 2, **options)))


def multinomial_model(**more: Any) -> str:
    options: Any = {"m": 1.0, "restarts": 2, "limit": 5, **more}
    return to_json(mixture_model.model_of(mixtures.multinomial_mixture(WORDS, 2, **options)))


def started_model(**more: Any) -> str:
    """All of k-means lies before the first checkpoint."""
    options: Any = {"m": 1.0, "start": "kmeans", "limit": 5, **more}
    return to_json(mixture_model.model_of(mixtures.multinomial_mixture(WORDS, 2, **options)))


MODELS: dict[str, Fit] = {
    "kmeans": kmeans_model,
    "emptied": emptied_model,
    "cosine": cosine_model,
    "bisecting": bisecting_model,
    "gaussian": gaussian_model,
    "sampled": sampled_model,
    "multinomial": multinomial_model,
    "from k-means": started_model,
}


@dataclass(slots=True)
class Copied(Checkpoint):
    """A checkpoint after every iteration; what a kill would leave behind each time."""

    left: list[bytes] = field(default_factory=list)

    def write(self, fitting: Fitting, progress: dict[str, Any], provenance: Provenance) -> None:
        Checkpoint.write(self, fitting, progress, provenance)
        self.left.append(Path(self.path).read_bytes())


@pytest.mark.spec("KM-CKPT", "EM-CKPT", "MODEL-DOC")
@pytest.mark.parametrize("backend", ["reference", "auto"])
@pytest.mark.parametrize("name", MODELS)
def test_after_a_kill_at_any_checkpoint(name: str, backend: str, tmp_path: Path) -> None:
    fitted, path = MODELS[name], tmp_path / "fit.json"
    due = fitted(backend=backend)
    checkpoint = Copied(str(path), every=0.0)
    assert fitted(backend=backend, checkpoint=checkpoint) == due
    assert len(checkpoint.left) > 1
    for left in checkpoint.left:
        path.write_bytes(left)
        assert fitted(backend=backend, checkpoint=Checkpoint(str(path), resume=True)) == due


@pytest.mark.spec("KM-CKPT", "EM-CKPT")
@pytest.mark.parametrize("name", MODELS)
def test_after_a_kill_in_every_process(name: str, tmp_path: Path) -> None:
    """Each process comes one iteration further: what the first ones ran is handed on."""
    fitted, path = MODELS[name], tmp_path / "fit.json"
    due = fitted(backend="reference")

    @dataclass(slots=True)
    class Killed(Checkpoint):
        def write(self, fitting: Fitting, progress: dict[str, Any], provenance: Provenance) -> None:
            Checkpoint.write(self, fitting, progress, provenance)
            raise SystemExit

    for lives in range(1, 100):
        try:
            resumed = Killed(str(path), every=0.0, resume=lives > 1)
            found = fitted(backend="reference", checkpoint=resumed)
        except SystemExit:
            continue
        break
    assert lives > 2
    assert found == due


class Interrupted(Session):
    """A session in which somebody presses Ctrl-C during the call of that number."""

    def __init__(self, after: int) -> None:
        super().__init__("reference")
        self.left = after

    def run(self, kernel: str, problem: Problem, data: Any, *args: Any) -> Any:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return super().run(kernel, problem, data, *args)


def interrupts(fitted: Fit, path: Path) -> Iterator[None]:
    """Every call of a kernel in turn is interrupted; a checkpoint is there then."""
    for call in range(1, 10**6):
        path.unlink(missing_ok=True)
        try:
            fitted(session=Interrupted(call), checkpoint=Checkpoint(str(path)))
        except KeyboardInterrupt:
            if path.exists():
                yield
        else:
            return


@pytest.mark.spec("KM-CKPT", "EM-CKPT")
@pytest.mark.parametrize("name", MODELS)
def test_after_an_interrupt_in_any_kernel(name: str, tmp_path: Path) -> None:
    fitted, path = MODELS[name], tmp_path / "fit.json"
    due, seen = fitted(backend="reference"), 0
    for _ in interrupts(fitted, path):
        seen += 1
        resumed = Checkpoint(str(path), resume=True)
        assert fitted(backend="reference", checkpoint=resumed) == due
    assert seen > 3


@pytest.mark.spec("KM-CKPT")
def test_a_kernel_that_moved_to_another_backend_has_both(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    checkpoint = Copied(str(path), every=0.0)
    kmeans_model(backend="reference", checkpoint=checkpoint)
    path.write_bytes(checkpoint.left[0])
    found = json.loads(
        kmeans_model(backend="loopback", checkpoint=Checkpoint(str(path), resume=True))
    )
    ran = [(run["kernel"], run["backend"]) for run in found["provenance"]["kernels"]]
    assert ran.count(("kmeans.lloyd_step", "reference")) == 1
    assert ran.count(("kmeans.lloyd_step", "loopback")) == 1
    assert [kernel for kernel, _ in ran] == sorted(kernel for kernel, _ in ran)


@pytest.mark.spec("KM-CKPT")
def test_under_auto_a_kernel_stays_where_it_ran() -> None:
    """What ran before in a process changes what the next call is expected to cost."""
    problem, name = Problem("dense", 40, 80, 3), "kmeans.means"
    for backend in ("reference", "loopback"):
        told = Session(backend)
        told.bound_to(name, problem)
        record = discovery.find(backend)
        run = KernelRun(name, backend, record.distribution, record.version, "because", 1, 0.1)
        session = Session("auto")
        session.go_on([run])
        assert session.bound_to(name, problem) == told.bound_to(name, problem)
        # Another version is another backend, and who is asked for by name is asked.
        session = Session("auto")
        session.go_on([replace(run, version="0.0.0", backend="nobody")])
        assert session.bound_to(name, problem) == Session("auto").bound_to(name, problem)
        session = Session("reference")
        session.go_on([run])
        assert session.bound_to(name, problem).startswith("reference ")


def plain(told: Node) -> dict[str, Any]:
    return told.mapping()


@pytest.mark.spec("KM-CKPT")
def test_calls_seconds_and_rows_are_added(tmp_path: Path) -> None:
    run = KernelRun("kmeans.lloyd_step", "numba", "refclust-numba", "1", "why", 3, 0.5)
    other = replace(run, kernel="kmeans.means", calls=1, seconds=0.25)
    fitting = Fitting("kmeans", "digest", {})
    path = str(tmp_path / "fit.json")
    before = Provenance("1", "auto", (run,), (Decided("numba", "doubles", 7),))
    Checkpoint(path).write(fitting, {}, before)
    checkpoint = Checkpoint(path, resume=True)
    fresh: dict[str, Any] = {}
    assert checkpoint.begin(fitting, plain, fresh, Session("reference")) == fresh
    now = Provenance("2", "numba", (run, other), (Decided("numba", "doubles", 1),))
    twice = replace(run, calls=6, seconds=1.0)
    due = Provenance("2", "numba", (twice, other), (Decided("numba", "doubles", 8),))
    assert checkpoint.whole(now) == due
    checkpoint.write(fitting, {}, now)
    again = Checkpoint(path, resume=True)
    again.begin(fitting, plain, fresh, Session("reference"))
    assert again.whole(Provenance("3", "auto", ())) == replace(due, refclust="3", requested="auto")


@pytest.mark.spec("KM-CKPT", "EM-CKPT")
@pytest.mark.parametrize("name", ["kmeans", "bisecting", "gaussian"])
def test_checkpoints_without_provenance_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    checkpoint = Copied(str(path), every=0.0)
    MODELS[name](backend="reference", checkpoint=checkpoint)
    content = json.loads(checkpoint.left[0])
    path.write_text(json.dumps({**content, "version": 1}), encoding="utf-8")
    with pytest.raises(BadCheckpoint, match="version is 1; 3 is needed"):
        MODELS[name](backend="reference", checkpoint=Checkpoint(str(path), resume=True))
    content["ran"]["kernels"].pop()
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(BadCheckpoint, match="its contents do not match its checksum"):
        MODELS[name](backend="reference", checkpoint=Checkpoint(str(path), resume=True))
