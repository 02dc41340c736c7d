"""Model files written by the first version: read to the same bytes and numbers for ever."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from refclust.errors import BadModel, CannotPredict
from refclust.mixture.bayes import predict as beliefs
from refclust.mixture.bayes.beliefs import CountBeliefs, GaussianBeliefs
from refclust.mixture.families.counts.means import MeanParameters
from refclust.mixture.families.counts.parameters import CountParameters
from refclust.mixture.families.gaussian.parameters import GaussianParameters
from refclust.mixture.predict import assignments
from refclust.models.clusters import from_json, load_model, save_model, to_json
from refclust.models.document import ALGORITHMS
from refclust.models.nearest import distances
from refclust.models.predict import predict
from refclust.models.records.clusters import ClassifierModel, MixtureModel, Model
from tests.models.samples.damage import damaged

SAMPLES = Path(__file__).parent / "samples"
FILES = sorted(path.name for path in (SAMPLES / "files").iterdir())
PREDICTED = json.loads((SAMPLES / "predicted.json").read_text("utf-8"))
REFUSED = json.loads((SAMPLES / "refused.json").read_text("utf-8"))


def content(name: str) -> bytes:
    found = (SAMPLES / "files" / name).read_bytes()
    return gzip.decompress(found) if name.endswith(".gz") else found


def test_every_sample_has_its_predictions() -> None:
    assert sorted(PREDICTED) == FILES
    algorithms = {json.loads(content(name))["algorithm"] for name in FILES}
    assert algorithms == set(ALGORITHMS)


@pytest.mark.spec("MODEL-LOAD", "MODEL-DOC")
@pytest.mark.parametrize("name", FILES)
def test_a_sample_is_written_as_it_was(name: str, tmp_path: Path) -> None:
    model = load_model(SAMPLES / "files" / name)
    assert to_json(model).encode() == content(name)
    save_model(tmp_path / name, model)
    assert load_model(tmp_path / name) == model


def rows_for(model: Model) -> list[Any]:
    """Some rows of the kind that the model takes."""
    d, family = model.data.d, getattr(model, "family", None)
    if family == "bernoulli":
        rows: list[list[float]] = [[(i >> j) & 1 for j in range(d)] for i in range(4)]
    elif family in ("multinomial", "poisson", "geometric"):
        rows = [[(i + 2 * j) % 3 for j in range(d)] for i in range(3)]
    else:
        rows = [[(3 * i + 5 * j) % 7 + 0.25 for j in range(d)] for i in range(5)]
    names = model.data.features
    if names is None or model.data.kind == "dense":
        return rows
    return [dict(zip(names, row, strict=True)) for row in rows]


def parameters_in(top: Any) -> Any:
    """The parameters of a document, or the beliefs in it, by plain look-ups."""
    told, d = top["fitted"]["parameters"], top["data"]["d"]

    def rows(table: Any) -> tuple[tuple[float, ...], ...]:
        if top["data"]["kind"] == "dense":
            return tuple(map(tuple, table))
        return tuple(tuple(dict(row).get(j, 0.0) for j in range(d)) for row in table)

    if "alpha" in told:
        parts = {key: part for key, part in told.items() if key != "covariance"}
        made: Any = {
            key: tuple(tuple(x) if isinstance(x, list) else x for x in parts[key]) for key in parts
        }
        if "nu" in told:
            return GaussianBeliefs(**made, covariance=told["covariance"])
        kind: Any = "bernoulli" if top["algorithm"].endswith("bernoulli") else "multinomial"
        return CountBeliefs(**made, kind=kind)
    if "means" in told and "covariances" not in told:
        return MeanParameters(tuple(told["weights"]), rows(told["means"]))
    if "probabilities" in told:
        return CountParameters(tuple(told["weights"]), rows(told["probabilities"]))
    covariances = tuple(map(tuple, told["covariances"]))
    return GaussianParameters(
        tuple(told["weights"]), rows(told["means"]), covariances, told["form"]
    )


@pytest.mark.spec("MODEL-PREDICT", "MODEL-DIST")
@pytest.mark.parametrize("name", FILES)
def test_a_sample_predicts_as_it_did(name: str) -> None:
    model, due = load_model(SAMPLES / "files" / name), PREDICTED[name]
    rows = rows_for(model)
    if isinstance(model, MixtureModel | ClassifierModel):
        answer: Any = predict(model, rows, impossible="prior", full=True, backend="reference")
        assert list(answer.labels) == due["labels"]
        found = answer.found if isinstance(model, ClassifierModel) else answer
        parameters = parameters_in(json.loads(content(name)))
        asked: Any = {"features": model.data.features, "backend": "reference"}
        if model.algorithm.startswith("variational-"):
            plain = beliefs.assignments(parameters, rows, **asked)
        else:
            asked |= {"family": model.family, "impossible": "prior"}
            plain = assignments(parameters, rows, **asked)
        assert (found.joint, found.log_likelihoods) == (plain.joint, plain.log_likelihoods)
    elif "refused" in due:
        with pytest.raises(CannotPredict) as refused:
            predict(model, rows)
        assert f"{refused.value.code}: {refused.value}" == due["refused"]
    else:
        labels = predict(model, rows).labels
        assert labels.tolist() == due["labels"]
        assert distances(model, rows, labels).tolist() == due["distances"]


@pytest.mark.spec("MODEL-LOAD")
@pytest.mark.parametrize("name", REFUSED)
def test_damage_is_refused_with_the_same_words(name: str) -> None:
    said: dict[str, str] = {}
    for what, top in damaged(json.loads(content(f"{name}.json")), (True,)):
        if what in REFUSED[name]:
            try:
                from_json(json.dumps(top), "m")
                said[what] = "taken"
            except BadModel as refused:
                said[what] = str(refused)
    assert said == REFUSED[name]
