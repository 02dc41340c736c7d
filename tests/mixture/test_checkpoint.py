"""A fit of a mixture that was stopped goes on to the same bits (EM-CKPT)."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import refclust as fits
from refclust.backends.protocol import Problem
from refclust.backends.session import Session
from refclust.errors import BadCheckpoint, RefclustError
from refclust.fitting.checkpoint import Checkpoint
from refclust.mixture.bayes import fit as bayes
from refclust.mixture.em import EMSteps
from refclust.mixture.families.counts.parameters import CountParameters
from refclust.mixture.families.counts.words import CountFamily
from tests.mixture.tools import told

POINTS = [[float(x), x * x / 7 % 3] for x in (0, 1, 2, 3, 4, 5, 9, 9, 14, 20, -4)]
WEIGHTS = [1, 2, 0, 1, 0.5, 3, 1, 1, 0.25, 1, 0]
WORDS = [[4, 0, 1], [5, 1, 0], [0, 3, 3], [1, 1, 1], [0, 4, 2], [2, 0, 0]]
BITS = [[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 0], [1, 0, 0]]
STEPS: dict[str, Callable[..., Any]] = {
    "gaussian": fits.gaussian_steps,
    "multinomial": fits.multinomial_steps,
    "bernoulli": fits.bernoulli_steps,
    "poisson": fits.poisson_steps,
}
BASE: dict[str, dict[str, Any]] = {
    "gaussian": {"data": POINTS, "floor": 0.05, "weights": WEIGHTS},
    "multinomial": {"data": WORDS, "m": 0.5},
    "bernoulli": {"data": BITS, "m": 1.0},
    "poisson": {"data": WORDS, "m": 0.5},
}
VARIATIONS: dict[str, dict[str, Any]] = {
    "em": {},
    "generalized": {"damping": 0.7},
    "hard": {"collapse": "drop"},
    "top": {"top": 2},
    "stochastic": {"collapse": "reset"},
    "monte-carlo": {"samples": 3},
}
FITS: dict[str, tuple[str, dict[str, Any]]] = {
    f"{family} {variation}": (
        family,
        {
            **BASE[family],
            "k": 3,
            "variation": variation,
            "start": start,
            "restarts": 2,
            "limit": 3,
            "tolerance": None,
            "trace": trace,
            "seed": 2,
            **more,
        },
    )
    for family, start in (
        ("gaussian", "kmeans"),
        ("multinomial", "random"),
        ("bernoulli", "points"),
    )
    for (variation, more), trace in zip(
        VARIATIONS.items(), ("parameters", "scalars", "none") * 2, strict=True
    )
}
FITS["drop"] = (
    "gaussian",
    {"data": [[0.0], [0.0], [0.0], [5.0], [6.0], [8.0]], "k": 3, "collapse": "drop", "limit": 40}
    | {"start": "random", "restarts": 2},
)
FITS["reset"] = ("gaussian", {**FITS["drop"][1], "collapse": "reset", "limit": 12})
FITS["excluded by the prior"] = (
    "multinomial",
    {
        "data": [[4, 0, 0], [5, 1, 0], [0, 3, 3], [1, 1, 1]],
        "parameters": CountParameters((0.5, 0.5), ((0.5, 0.5, 0.0), (0.25, 0.25, 0.5))),
        "m": 1.0,
        "trace": "parameters",
        "limit": 4,
    },
)
FITS["missing cells"] = (
    "gaussian",
    {
        "data": [
            *([0.0, 1.0], [None, 0.5], [1.0, None], [5.0, 4.0], [6.0, None], [None, None]),
            *([7.0, 5.5], [0.5, 0.25], [5.5, 5.0]),
        ],
        "k": 2,
        "covariance": "EEE",
        "missing": "integrate",
        "restarts": 2,
        "start": "varied",
        "limit": 4,
    },
)
FITS["labels"] = ("bernoulli", {"data": BITS, "labels": [0, 0, 1, 1, 1], "limit": 4})


def begin(name: str, **more: Any) -> Any:
    family, options = FITS[name]
    known = {"backend": "reference", **options, **more}
    return STEPS[family](known.pop("data"), **known)


def finish(name: str, **more: Any) -> Any:
    steps = begin(name, **more)
    for _ in steps:
        pass
    return told(steps.result())


@pytest.mark.spec("EM-CKPT")
@pytest.mark.parametrize("name", FITS)
def test_resuming_after_every_pass_gives_the_same_fit(name: str, tmp_path: Path) -> None:
    path = str(tmp_path / "fit.json")
    due = finish(name)
    passes = sum(1 for _ in begin(name))
    assert passes > 2
    for taken in range(passes + 1):
        steps = begin(name, checkpoint=Checkpoint(path))
        for _ in range(taken):
            next(steps)
        steps.save()
        assert finish(name, checkpoint=Checkpoint(path, resume=True)) == due
        assert not Path(path).exists()


@pytest.mark.spec("EM-CKPT")
@pytest.mark.parametrize(
    "name", ["gaussian stochastic", "multinomial em", "bernoulli monte-carlo", "reset", "labels"]
)
def test_every_iteration_in_a_process_of_its_own(name: str, tmp_path: Path) -> None:
    """Written, read, written again at once, read again: nothing is lost on the way."""
    path = str(tmp_path / "fit.json")
    begin(name, checkpoint=Checkpoint(path)).save()
    while True:
        begin(name, checkpoint=Checkpoint(path, resume=True)).save()
        steps = begin(name, checkpoint=Checkpoint(path, resume=True))
        ended = next(steps, None) is None or next(steps, None) is None
        if ended:
            for _ in steps:
                pass
            break
        steps.save()
    assert told(steps.result()) == finish(name)


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


@pytest.mark.spec("EM-CKPT")
@pytest.mark.parametrize("name", ["gaussian em", "multinomial top", "gaussian stochastic", "drop"])
def test_an_interrupt_in_any_kernel_call_loses_nothing(name: str, tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    due = finish(name)
    interrupted = 0
    for call in range(1, 10**6, 5):
        path.unlink(missing_ok=True)
        session = Interrupted(call)
        try:
            steps = begin(name, session=session, checkpoint=Checkpoint(str(path)))
            for _ in steps:
                pass
        except KeyboardInterrupt:
            if path.exists():  # before the first pass there is nothing to keep
                interrupted += 1
                assert finish(name, checkpoint=Checkpoint(str(path), resume=True)) == due
        else:
            break
    assert interrupted > 2


@pytest.mark.spec("EM-CKPT")
def test_files_are_written_when_it_is_time_and_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    steps = begin("gaussian em", checkpoint=Checkpoint(str(path), every=1000.0))
    next(steps)
    next(steps)
    assert not path.exists()
    steps = begin("gaussian em", checkpoint=Checkpoint(str(path), every=0.0))
    next(steps)
    next(steps)
    assert path.exists()
    for _ in steps:
        pass
    steps.result()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spec("EM-CKPT", "EM-STOP")
def test_a_caller_who_stops_early_keeps_the_file(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    steps = begin("multinomial em", checkpoint=Checkpoint(str(path), every=0.0))
    next(steps)
    next(steps)
    assert steps.result().stopped == "caller"
    resumed = finish("multinomial em", checkpoint=Checkpoint(str(path), resume=True))
    assert resumed == finish("multinomial em")


# -- files that cannot be taken -------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A checkpoint in the middle of the second run."""
    path = tmp_path / "fit.json"
    steps = begin("gaussian em", checkpoint=Checkpoint(str(path)))
    seen = 0
    for state in steps:
        seen += state.run
        if seen == 2:
            break
    steps.save()
    return path


def refused(path: Path, name: str = "gaussian em", **change: Any) -> str:
    before = path.read_bytes()
    with pytest.raises(BadCheckpoint) as caught:
        begin(name, checkpoint=Checkpoint(str(path), resume=True), **change)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before
    return str(caught.value)


@pytest.mark.spec("EM-CKPT")
@pytest.mark.parametrize(
    "change",
    [
        {"k": 2},
        {"start": "random"},
        {"seed": 1},
        {"restarts": 3},
        {"limit": 4},
        {"tolerance": 0.0},
        {"variation": "hard"},
        {"variation": "stochastic"},
        {"collapse": "drop"},
        {"trace": "none"},
        {"covariance": "EII"},
        {"floor": 0.06},
        {"weights": None},
        {"data": POINTS[::-1]},
        {"data": [*POINTS[:-1], [-4.0, 16 / 7 + 1e-15]]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_another_fit_is_refused(saved: Path, change: dict[str, Any]) -> None:
    refused(saved, **change)


@pytest.mark.spec("EM-CKPT")
def test_another_backend_is_refused(saved: Path) -> None:
    """Exponentials and sums differ in their last bits, so no other program may go on."""
    assert "made by" in refused(saved, backend="loopback")
    content = json.loads(saved.read_text(encoding="utf-8"))
    assert content["options"]["made by"]
    content["options"]["made by"] += "1"
    saved.write_text(json.dumps(content), encoding="utf-8")
    assert "made by" in refused(saved)


@pytest.mark.spec("EM-CKPT")
def test_another_given_start_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    steps = begin("labels", checkpoint=Checkpoint(str(path)))
    next(steps)
    steps.save()
    refused(path, "labels", labels=[0, 1, 1, 1, 0])
    refused(path, "labels", m=0.5)


@pytest.mark.spec("EM-CKPT")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", "refclust-model"),
        ("version", 99),
        ("algorithm", "kmeans"),
        ("data", "0" * 64),
        ("options", {}),
        ("options", None),
        ("progress", None),
        ("progress", {}),
        ("checksum", "0" * 64),
    ],
)
def test_another_file_is_refused(saved: Path, key: str, value: Any) -> None:
    content = json.loads(saved.read_text(encoding="utf-8"))
    saved.write_text(json.dumps({**content, key: value}), encoding="utf-8")
    refused(saved)


@pytest.mark.spec("EM-CKPT")
def test_a_changed_number_is_noticed(saved: Path) -> None:
    content = json.loads(saved.read_text(encoding="utf-8"))
    content["progress"]["pending"]["parameters"]["weights"][0] += 2.0**-53
    saved.write_text(json.dumps(content), encoding="utf-8")
    assert "checksum" in refused(saved)


@pytest.mark.spec("EM-CKPT")
def test_truncated_files_and_garbage_are_refused(saved: Path) -> None:
    whole = saved.read_bytes()
    for length in [*range(0, 40, 7), *range(60, len(whole) - 1, 397), len(whole) - 2]:
        saved.write_bytes(whole[:length])
        refused(saved)
    for garbage in (b"null", b"[]", b"{}", b"3", b"\x80\xff", b"[" * 10000, b'{"format": 1}'):
        saved.write_bytes(garbage)
        refused(saved)


@pytest.mark.spec("EM-CKPT")
def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(RefclustError) as caught:
        begin("labels", checkpoint=Checkpoint(str(tmp_path / "none.json"), resume=True))
    assert caught.value.code == "file-not-found"


@pytest.mark.spec("EM-CKPT")
def test_every_option_and_the_random_numbers_are_in_the_file(saved: Path) -> None:
    content = json.loads(saved.read_text(encoding="utf-8"))
    options = content["options"]
    for name in ("k", "start", "variation", "seed", "restarts", "tolerance", "limit", "collapse"):
        assert name in options
    assert options["covariance"] == "VVV"
    assert options["floor"] == 0.05
    assert content["progress"]["draws"] == 6  # K for the start of each of the two runs
    assert len(content["progress"]["finished"]) == 1


@pytest.mark.spec("EM-CKPT")
@pytest.mark.parametrize("name", ["multinomial em", "bernoulli em", "multinomial generalized"])
def test_the_prior_is_the_one_that_the_step_told(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backend may add up in another order than whoever works it out from the parameters."""
    plain = CountFamily._log_prior
    monkeypatch.setattr(
        CountFamily,
        "_log_prior",
        lambda self, parameters: math.nextafter(plain(self, parameters), math.inf),
    )
    path = str(tmp_path / "fit.json")
    due = finish(name)
    for taken in range(sum(1 for _ in begin(name)) + 1):
        steps = begin(name, checkpoint=Checkpoint(path))
        for _ in range(taken):
            next(steps)
        steps.save()
        assert finish(name, checkpoint=Checkpoint(path, resume=True)) == due


@pytest.mark.spec("EM-CKPT")
@pytest.mark.parametrize(
    ("fit", "data", "options"),
    [
        (bayes.variational_gaussian, POINTS, {"covariance": "EEE"}),
        (bayes.variational_gaussian, POINTS, {"covariance": "VVI"}),
        (bayes.variational_multinomial, WORDS, {}),
        (bayes.variational_bernoulli, BITS, {}),
    ],
)
def test_beliefs_go_on_after_a_stop(
    fit: Any, data: Any, options: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "beliefs.json")
    asked = {"seed": 1, "limit": 6, "tolerance": None, "backend": "reference", **options}
    whole, calls = fit(data, 2, **asked), itertools.count(1)
    maximised = EMSteps._maximised

    def stopping(self: Any, *args: Any) -> Any:
        if next(calls) == 3:
            raise KeyboardInterrupt
        return maximised(self, *args)

    with monkeypatch.context() as patch:
        patch.setattr(EMSteps, "_maximised", stopping)
        with pytest.raises(KeyboardInterrupt):
            fit(data, 2, checkpoint=Checkpoint(path), **asked)
    resumed = fit(data, 2, checkpoint=Checkpoint(path, resume=True), **asked)
    assert (resumed.parameters, resumed.objective) == (whole.parameters, whole.objective)
    assert resumed.trace == whole.trace
