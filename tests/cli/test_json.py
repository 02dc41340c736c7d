"""``--json`` on every command: one object, which says its schema and keeps to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from refclust.trace.clauses import spec_root
from tests.cli.conftest import Cli
from tests.cli.test_hostile import leaves

SCHEMAS = spec_root() / "schema" / "output"
FILES = {
    "x.csv": "a,b,c\n1,2,x\n2,3,x\n8,9,y\n9,8,y\n4,6,y\n1,1,x\n",
    "words.csv": "a,b,c\n3,0,x\n0,2,y\n4,1,x\n1,5,y\n",
    "bits.csv": "a,b,c\n1,0,x\n0,1,y\n1,1,x\n0,1,y\n",
    "true.txt": "x\nx\ny\ny\ny\nx\n",
    "pred.txt": "x\nx\ny\ny\nx\nx\n",
    "other.txt": "x\ny\ny\ny\nx\nx\n",
}
X = ("x.csv", "--label-column", "c")
WORDS = ("words.csv", "--label-column", "c")
RUNS: dict[str, list[tuple[str, ...]]] = {
    "demo": [()],
    "fit kmeans": [(*X, "-k", "2"), (*X, "-k", "2", "--metric", "cosine")],
    "fit bisecting": [(*X, "-k", "2")],
    "fit agglomerative": [(*X, "-k", "2"), X],
    "fit gaussian": [(*X, "-k", "2", "--covariance", "tied")],
    "fit multinomial": [(*WORDS, "-k", "2")],
    "fit bernoulli": [("bits.csv", "--label-column", "c", "-k", "1")],
    "fit geometric": [(*WORDS, "-k", "1")],
    "fit poisson": [(*WORDS, "-k", "1")],
    "fit naive-bayes": [WORDS],
    "fit qda": [(*X, "--floor", "0.1")],
    "fit lda": [X],
    "fit nearest-gaussian": [(*X, "--floor", "0.1")],
    "select": [
        (*X, "--k", "1..2", "--covariance", "tied"),
        (*X, "--model", "kmeans", "--k", "2..3"),
    ],
    "predict": [("k.json", "x.csv"), ("g.json", "x.csv")],
    "sample": [("g.json", "-n", "3"), ("g.json", "-n", "3", "--out", "drawn.csv", "--force")],
    "describe": [("k.json",), ("k.json", "x.csv")],
    "score": [("true.txt", "pred.txt"), ("true.txt", "pred.txt", "other.txt"), ("--list",)],
    "explain": [
        ("nmi", "true.txt", "pred.txt"),
        ("em", "g.json", "x.csv"),
        ("kmeans", "k.json", "x.csv"),
    ],
    "compare": [("true.txt", "pred.txt", "other.txt")],
    "crossval": [("lda", "x.csv", "--labels", "c", "--folds", "3")],
    "sniff": [X],
    "convert": [("x.csv", "y.jsonl", "--label-column", "c", "--force")],
    "formats": [(), ("--limits",)],
    "conform": [("loopback", "--quick")],
    "spec": [(), ("NMI-GEO",), ("kmeans",)],
    "verify": [("--chapter", "55")],
    "vectors list": [()],
    "vectors show": [("x-iir",)],
    "vectors template": [("--out", "answers.json", "--chapter", "55", "--force")],
    "vectors export": [("vectors", "--force")],
    "trace": [("--chapter", "44")],
    "backends": [("--no-measure",)],
    "cite": [("nmi", "adjusted_purity")],
}  # fmt: skip


@pytest.fixture
def ready(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line in a folder with data and models."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    for family, more in (("kmeans", ()), ("gaussian", ("--covariance", "tied"))):
        done = cli("fit", family, *X, "-k", "2", *more, "-o", f"{family[0]}.json")
        assert done.code == 0, done
    return cli


def schema(name: str) -> Any:
    """The schema that an object says it keeps to."""
    stem, _, version = name.removeprefix("refclust-").partition("/")
    assert version == "1"
    return json.loads((SCHEMAS / f"{stem}.schema.json").read_text(encoding="utf-8"))


def test_every_command_is_here() -> None:
    assert set(RUNS) == leaves()


@pytest.mark.parametrize("name", RUNS)
def test_json_keeps_to_its_schema(name: str, ready: Cli) -> None:
    for arguments in RUNS[name]:
        done = ready(*name.split(), *arguments, "--json")
        assert done.code == 0, (arguments, done)
        told = json.loads(done.out)
        jsonschema.Draft202012Validator(schema(told["schema"])).validate(told)


def test_errors_keep_to_theirs(ready: Cli) -> None:
    done = ready("fit", "kmeans", "nowhere.csv", "-k", "2", "--json")
    told = json.loads(done.err.splitlines()[-1])
    jsonschema.Draft202012Validator(schema(told["schema"])).validate(told)


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.json")), ids=lambda path: path.stem)
def test_schemas_are_schemas(path: Path) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(content)
    stem = path.name.removesuffix(".schema.json")
    assert content["properties"]["schema"] == {"const": f"refclust-{stem}/1"}
    assert content["description"]
    broken = {"schema": f"refclust-{stem}/1"}
    assert list(jsonschema.Draft202012Validator(content).iter_errors(broken))
