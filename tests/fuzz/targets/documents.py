"""Documents that refclust wrote once and reads again: models and checkpoints, forged ones too."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any, Final

import refclust
from refclust.errors import BadCheckpoint, RefclustError
from refclust.fitting.checkpoint import Checkpoint
from refclust.mixture.sample import sample
from refclust.models.clusters import from_json, load_model, to_json
from refclust.models.describe import describe
from refclust.models.records.clusters import MixtureModel
from tests.fuzz.cases import ACCEPTED, Broken, Case, Draw, Ended, Target
from tests.fuzz.mutations import changed_bytes, packed
from tests.fuzz.performing import refused
from tests.fuzz.targets import fits
from tests.fuzz.trees import changed, dumped

_MODEL, _CHECKPOINT = "model.json", "fit.checkpoint"


def _model_made(draw: Draw) -> Case:
    kind = draw.pick(tuple(fits.models()))
    tree = fits.models()[kind]
    for _ in range(draw.pick((0, 0, 1, 1, 1, 2, 3))):
        tree = changed(draw, tree)
    content = dumped(draw, tree)
    if draw.chance(0.05):
        other = json.dumps(fits.models()[draw.pick(tuple(fits.models()))]).encode()
        content = changed_bytes(draw, content, other)
    name = _MODEL
    if draw.chance(0.05):
        name, content = f"{name}.gz", packed(draw, content)
    width = draw.pick((2, 2, 2, 3, 3, 1))
    rows = [[draw.pick((0, 1, 2, 5, 0.5)) for _ in range(width)] for _ in range(draw.upto(3, 1))]
    if kind == "cosine":
        rows = [{"a": 1, "z": 2.0}, {"b": 1}]  # type: ignore[list-item]
    return Case({name: content}, {"file": name, "rows": rows, "draws": draw.upto(4)})


def _model_run(case: Case) -> Ended:
    path = case.call["file"]
    try:
        model = load_model(path)
    except RefclustError as error:
        return refused(error, path)
    text = to_json(model)
    if to_json(from_json(text, path)) != text:
        raise Broken("a model that was read is written and read again", text[:300])
    told = [hashlib.sha256(text.encode()).hexdigest()]
    rows = case.call["rows"]
    calls: tuple[Callable[[], str], ...] = (
        lambda: repr(list(refclust.predict(model, rows).labels)),
        lambda: repr(describe(model).clusters),
        lambda: repr(describe(model, rows).clusters),
        lambda: _sampled(model, case.call["draws"]),
    )
    for call in calls:
        try:
            told.append(call())
        except RefclustError as error:
            told.append(refused(error).code)
    return Ended(ACCEPTED, " ".join(told))


def _sampled(model: Any, n: int) -> str:
    if not isinstance(model, MixtureModel):
        return ""
    length = 5.0 if model.family == "multinomial" else None
    drawn = sample(model.fitted.parameters.mixture(), n, family=model.family, length=length)
    return repr(drawn.rows)


def _checkpoint_made(draw: Draw) -> Case:
    name = draw.pick(tuple(fits.RESUMED))
    tree = draw.pick(fits.checkpoints()[name])
    whole = True
    for _ in range(draw.pick((0, 0, 1, 1, 1, 2))):
        whole = False
        part = draw.pick(("progress", "progress", "progress", "ran", None))
        if part is not None and isinstance(tree, dict) and part in tree:
            tree = {**tree, part: changed(draw, tree[part])}
        else:
            tree = changed(draw, tree)
    if (not whole and draw.chance(0.85)) or whole:
        tree = summed(tree)
    content = json.dumps(tree).encode()
    if draw.chance(0.05):
        whole, content = False, changed_bytes(draw, content)
    return Case({_CHECKPOINT: content}, {"fit": name, "whole": whole})


def summed(tree: Any) -> Any:
    """A checkpoint with its check sum renewed: whoever forges one does that, too."""
    if not isinstance(tree, dict) or not {"ran", "progress"} <= set(tree):
        return tree
    told = json.dumps([tree["ran"], tree["progress"]])
    return {**tree, "checksum": hashlib.sha256(told.encode()).hexdigest()}


def _checkpoint_run(case: Case) -> Ended:
    name = case.call["fit"]
    try:
        under_way = fits.steps(name, Checkpoint(_CHECKPOINT, every=1e9, resume=True))
    except BadCheckpoint as error:
        return refused(error, _CHECKPOINT)
    except RefclustError as error:
        return refused(error)
    try:
        for _ in under_way:
            pass
        told = fits.finished(under_way.result())
    except RefclustError as error:
        return refused(error)
    if case.call["whole"] and told != fits.results()[name]:
        raise Broken("a resumed fit is the same fit", name)
    return Ended(ACCEPTED, told)


def _prepare() -> None:
    fits.models(), fits.checkpoints(), fits.results()


TARGETS: Final[tuple[Target, ...]] = (
    Target("models", _model_made, _model_run, 40, prepare=_prepare),
    Target("checkpoints", _checkpoint_made, _checkpoint_run, 20, prepare=_prepare),
)
