"""``refclust score``: what it prints, what it leaves out, how inputs are named."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from refclust.cli.app import run
from refclust.cli.show.scores.rendering import score_json, score_lines
from refclust.metrics.contingency import Contingency
from refclust.metrics.score import HEAVY_LIMIT, Score, evaluate
from refclust.version import __version__
from tests.cli.conftest import PRED, TRUE, Cli
from tests.metrics.keys import EXTERNAL as ENTRIES

HEAD = "17 objects in 3 clusters and 3 classes; ↑ higher is better, ↓ lower is better\n\n"
ARI = HEAD + "  adjusted_rand  ↑ 0.242914979757085  = 60/247\n"


def test_named_metrics_in_the_order_given(cli: Cli) -> None:
    done = cli("score", "true.txt", "pred.txt", "-m", "ami", "-m", "mirkin", "--metric", "ari")
    assert (done.code, done.err) == (0, "")
    assert done.out == HEAD + (
        "  ami            ↑ 0.26018122538925065\n"
        "  mirkin         ↓ 88.0                 = 88\n"
        "  adjusted_rand  ↑ 0.242914979757085    = 60/247\n"
    )


def test_all_metrics_by_family(cli: Cli) -> None:
    done = cli("score", "true.txt", "pred.txt")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert [line for line in lines[1:] if line and not line.startswith(" ")] == [
        "matching",
        "pairs",
        "information",
        "association",
    ]
    assert {line.split()[0] for line in lines if line.startswith("  ")} == set(ENTRIES)
    assert "  entropy_clusters                       1.0950778621205006" in lines
    assert "  purity                               ↑ 0.7058823529411765   = 12/17" in lines
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize(
    "arguments",
    [
        ("true.txt", "pred.txt"),
        ("both.csv", "--column-true", "species", "--column-pred", "cluster"),
        ("both.csv", "--column-true", "2", "--column-pred", "3"),
        ("both.csv", "pred.txt", "--column-true", "species"),
        ("true.txt", "both.csv", "--column-pred", "cluster"),
        ("true.txt", "both.csv", "--column-pred", "cluster", "--delimiter", "comma"),
        ("--table", "table.csv"),
        ("--table", "table.csv", "--delimiter", ","),
    ],
)
def test_ways_to_name_the_same_input(cli: Cli, arguments: tuple[str, ...]) -> None:
    assert cli("score", *arguments, "-m", "ari").out == ARI


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [
        (("-", "pred.txt"), "\n".join(TRUE)),
        (("true.txt", "-"), "\n".join(PRED)),
        (("--table", "-"), "[[5, 1, 0], [1, 4, 1], [2, 0, 3]]"),
        (("-", "--column-true", "a", "--column-pred", "b"), None),
    ],
)
def test_standard_input(cli: Cli, arguments: tuple[str, ...], stdin: str | None) -> None:
    rows = zip(TRUE, PRED, strict=True)
    text = stdin or "a\tb\n" + "".join(f"{t}\t{p}\n" for t, p in rows)
    assert cli("score", *arguments, "-m", "ari", stdin=text.encode()).out == ARI


def test_undefined_infinite_and_lower(cli: Cli) -> None:
    Path("one.txt").write_text("a\na\n", encoding="utf-8")
    done = cli("score", "one.txt", "one.txt", "-m", "nmi", "-m", "homogeneity")
    assert done.out.splitlines()[2:] == [
        "  nmi          ↑ undefined  (0/0: the entropies that should normalise are zero)",
        "  homogeneity  ↑ 1.0        = 1",
    ]


def test_details_and_matching(cli: Cli) -> None:
    done = cli("score", "true.txt", "pred.txt", "-m", "matching_accuracy", "-v")
    assert done.out == HEAD + (
        "  matching_accuracy  ↑ 0.7058823529411765  = 12/17\n"
        "      Accuracy under the best one-to-one matching, from 0 to 1; clauses MATCH, CLACC\n"
        "      0.7058823529411764705882352941176470588235 (40 digits), 0x1.6969696969697p-1\n"
        "      matching (cluster ↔ class): 1 ↔ x, 2 ↔ o, 3 ↔ d\n"
    )


def test_names_of_a_table(cli: Cli) -> None:
    Path("named.csv").write_text(",a,b,none\nu,0,3,0\nv,2,0,0\nw,0,0,0\n", encoding="utf-8")
    done = cli("score", "--table", "named.csv", "--header", "-m", "acc", "--json")
    assert done.json()["scores"][0]["matching"] == [["u", "b"], ["v", "a"]]
    assert (done.json()["clusters"], done.json()["classes"]) == (2, 2)


def without_seconds(provenance: dict[str, Any]) -> dict[str, Any]:
    for kernel in provenance["kernels"]:
        assert kernel.pop("seconds") >= 0
    return provenance


def test_json(cli: Cli) -> None:
    done = cli("score", "true.txt", "pred.txt", "-m", "matching_accuracy", "--json")
    answer = done.json()
    assert done.err == ""
    assert without_seconds(answer.pop("provenance")) == {
        "refclust": __version__,
        "requested": "auto",
        "kernels": [
            {
                "kernel": "contingency.table",
                "backend": "reference",
                "distribution": "refclust",
                "version": __version__,
                "reason": "the fastest that supports the problem",
                "calls": 1,
            }
        ],
        "decided": [],
    }
    assert answer == {
        "schema": "refclust-score/1",
        "refclust": __version__,
        "evidence": "labelings",
        "n": 17,
        "clusters": 3,
        "classes": 3,
        "left_out": [],
        "scores": [
            {
                "key": "matching_accuracy",
                "value": 0.7058823529411765,
                "undefined": None,
                "infinite": None,
                "binary64": "0x1.6969696969697p-1",
                "exact": "12/17",
                "digits": "0.7058823529411764705882352941176470588235",
                "certified": True,
                "bound": 0.0,
                "clauses": ["MATCH", "CLACC"],
                "range": [0, 1],
                "better": "higher",
                "profile": None,
                "matching": [["1", "x"], ["2", "o"], ["3", "d"]],
            }
        ],
    }


def test_json_of_what_is_no_number(cli: Cli) -> None:
    Path("one.txt").write_text("a\na\n", encoding="utf-8")
    [score] = cli("score", "one.txt", "one.txt", "-m", "nmi", "--json").json()["scores"]
    assert (score["value"], score["binary64"], score["digits"]) == (None, None, None)
    assert score["undefined"] == "0/0: the entropies that should normalise are zero"
    assert score["infinite"] is None


def made(value: float, **changes: Any) -> Score:
    """A score that no small input gives, made of one that does."""
    origin = evaluate(ENTRIES["purity"], Contingency.of_rows([[2, 1]]), {}).origin
    return Score(value, replace(origin, exact=None, **changes))


def test_an_infinite_value() -> None:
    score = made(-math.inf, undefined="why")
    assert score_lines([score], grouped=False) == ["  purity  ↑ -inf  (why)"]
    answer = score_json(score)
    assert (answer["value"], answer["infinite"], answer["undefined"]) == (None, "-", "why")
    assert score_json(made(math.inf, undefined="why"))["infinite"] == "+"


def test_estimates_are_marked() -> None:
    score = made(0.25, certified=False, bound=0.0123)
    assert score_lines([score], grouped=False) == ["  purity  ↑ ≈ 0.25  ± 0.012 (not certified)"]
    answer = score_json(score)
    assert (answer["value"], answer["certified"], answer["bound"]) == (0.25, False, 0.0123)
    assert (answer["exact"], answer["digits"]) == (None, None)


def test_heavy_metrics_of_many_objects(cli: Cli) -> None:
    assert HEAVY_LIMIT == 2000
    heavy = {name for name, entry in ENTRIES.items() if entry.cost == "heavy"}
    Path("many.csv").write_text(f"{HEAVY_LIMIT - 1},1\n0,1\n", encoding="utf-8")
    done = cli("score", "--table", "many.csv")
    assert done.code == 0
    assert done.err == (
        "refclust: left out: standardized_mutual_information, adjusted_purity, "
        "adjusted_bcubed_f, adjusted_jaccard (slow above 2,000 objects; "
        "--all or -m computes them)\n"
    )
    assert not any(f"  {name} " in done.out for name in heavy)
    named = cli("score", "--table", "many.csv", "-m", "adjusted_purity")
    assert (named.code, named.err) == (0, "")
    everything = cli("score", "--table", "many.csv", "--all")
    assert everything.err == ""
    assert all(f"  {name} " in everything.out for name in heavy)
    answer = cli("score", "--table", "many.csv", "--json").json()
    assert {one["key"] for one in answer["left_out"]} == heavy


def test_a_profile(cli: Cli) -> None:
    done = cli("score", "true.txt", "pred.txt", "--profile", "sklearn", "-m", "nmi")
    assert done.out.splitlines() == [
        HEAD.strip(),
        "by the rules of scikit-learn 1.9.1",
        "",
        "  nmi[average=arithmetic]  ↑ 0.36456177185718985",
    ]
    done = cli("score", "true.txt", "pred.txt", "--profile", "mclust")
    assert done.out.splitlines()[3:] == ["pairs", ARI.splitlines()[2]]
    assert "does not have them" in done.err


def test_weights(cli: Cli) -> None:
    Path("w.txt").write_text("1/2\n" * 17, encoding="utf-8")
    done = cli("score", "true.txt", "pred.txt", "--weights", "w.txt", "-m", "purity")
    assert done.out.splitlines()[0].startswith("a weight of 17/2 in 3 clusters and 3 classes;")
    assert done.out.splitlines()[2] == "  purity  ↑ 0.7058823529411765  = 12/17"
    done = cli("score", "true.txt", "pred.txt", "--weights", "w.txt", "--json")
    assert done.json()["n"] == "17/2"
    assert "they need whole counts" in done.err
    assert "adjusted_rand" not in {one["key"] for one in done.json()["scores"]}
    refused = cli("score", "true.txt", "pred.txt", "--weights", "w.txt", "-m", "ari")
    assert (refused.code, refused.out) == (3, "")
    assert refused.err.endswith("[weights-not-integer]\n")


def test_weights_in_a_column(cli: Cli) -> None:
    Path("w.csv").write_text("id,w\n" + "0,2\n" * 17, encoding="utf-8")
    done = cli("score", "true.txt", "pred.txt", "--weights", "w.csv:w", "-m", "purity")
    assert done.out.startswith("34 objects")
    Path("w:w").write_text("3\n" * 17, encoding="utf-8")  # a file of that name comes first
    done = cli("score", "true.txt", "pred.txt", "--weights", "w:w", "-m", "purity")
    assert done.out.startswith("51 objects")


@pytest.mark.spec("CT-NOISE")
def test_noise(cli: Cli) -> None:
    Path("noisy.txt").write_text("-1\n" + "\n".join(PRED[1:]), encoding="utf-8")
    common = ("score", "true.txt", "noisy.txt", "-m", "acc", "--noise", "-1", "--noise-policy")
    assert cli(*common, "ignore").out.startswith("16 objects in 3 clusters")
    assert cli(*common, "ordinary").out.startswith("17 objects in 4 clusters")
    done = cli("score", "noisy.txt", "noisy.txt", *common[3:], "singletons", "--json")
    assert ["(noise, object 1)", "(noise, object 1)"] in done.json()["scores"][0]["matching"]
    done = cli("score", "true.txt", "pred.txt", *common[3:], "ignore")
    assert done.err == "refclust: no label is '-1', so nothing is noise\n"


def test_which_backend_ran(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    told = f"refclust: contingency.table ran on loopback (refclust {__version__})\n"
    done = cli("score", "true.txt", "pred.txt", "-m", "ari", "--backend", "loopback")
    assert (done.out, done.err) == (ARI, told)
    monkeypatch.setenv("REFCLUST_BACKEND", "loopback")
    assert cli("score", "true.txt", "pred.txt", "-m", "ari").err == told
    assert cli("score", "true.txt", "pred.txt", "-m", "ari", "--backend", "reference").err == ""


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "nothing to read: give the files TRUE and PRED, or --table FILE [bad-option]"),
        (("true.txt",), 2, "PRED is missing: give a second file, or two columns of true.txt with "),
        (("both.csv", "--column-true", "id"), 2, "PRED is missing"),
        (("-", "-"), 2, "standard input (-) can be read only once [bad-option]"),
        (("-", "pred.txt", "--weights", "-"), 2, "standard input (-) can be read only once"),
        (("--table", "table.csv", "true.txt", "--noise", "1"), 2, "so TRUE, --noise cannot go"),
        (("true.txt", "pred.txt", "--header"), 2, "--header goes with --table"),
        (("true.txt", "pred.txt", "--delimiter", ";"), 2, "--delimiter separates columns"),
        (("both.csv", "pred.txt", "--delimiter", ";;"), 2, "one character is needed, or the word"),
        (("true.txt", "pred.txt", "--noise", "1"), 2, "the noise label '1' with the noise policy"),
        (("true.txt", "pred.txt", "-m", "nmii"), 2, "did you mean nmi, mi, mirkin? [unknown-metri"),
        (("no.txt", "no.txt", "-m", "nmi[average=x]"), 2, "[bad-option]"),
        (("no.txt", "no.txt", "-m", "nmi[x=1]"), 2, "nmi has no option 'x'; it has: average [unkn"),
        (("no.txt", "no.txt", "--profile", "x"), 2, "no profile is called 'x'; there are: sklearn"),
        (("no.txt", "no.txt", "--profile", "mclust", "-m", "nmi"), 2, "[profile-lacks-metric]"),
        (
            ("no.txt", "no.txt", "--backend", "x"),
            4,
            "no backend is called 'x'; installed: auto, re",
        ),
        (
            ("no.txt", "pred.txt"),
            3,
            "cannot read no.txt: no such file or directory [file-not-found]",
        ),
        (("true.txt", "short.txt"), 3, "but true.txt has 17, short.txt has 1 [label-length-mism"),
        (
            ("both.csv", "short.txt", "--column-true", "id"),
            3,
            "but both.csv (column id) has 17, short.txt has 1 [label-length-mismatch]",
        ),
        (("true.txt", "pred.txt", "--weights", "short.txt"), 3, "short.txt, line 1: the weight"),
        (("--table", "zero.csv"), 3, "there is no object to score [empty-input]"),
    ],
)
def test_errors(cli: Cli, arguments: tuple[str, ...], code: int, message: str) -> None:
    Path("short.txt").write_text("a\n", encoding="utf-8")
    Path("zero.csv").write_text("0,0\n", encoding="utf-8")
    done = cli("score", *arguments)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert done.err.startswith("refclust: ")
    assert done.err.count("\n") == 1


def test_an_error_as_json(cli: Cli) -> None:
    done = cli("score", "no.txt", "pred.txt", "--json")
    assert (done.code, done.out) == (3, "")
    assert json.loads(done.err) == {
        "schema": "refclust-error/1",
        "code": "file-not-found",
        "message": "cannot read no.txt: no such file or directory",
    }


def test_permuted_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    true, first, second = (tmp_path / name for name in ("true", "first", "second"))
    true.write_text("\n".join("aaabbb"))
    first.write_text("\n".join("xxxyyy"))
    second.write_text("\n".join("xyxyxy"))
    asked = ["score", str(true), str(first), "--permutation", "adjusted_rand"]
    assert run(asked) == 0
    out = capsys.readouterr().out
    assert "adjusted_rand" in out
    assert "0.1" in out
    assert "dealt to the objects at random" in out
    both = ["score", str(true), str(first), str(second), "--permutation", "rand"]
    assert run([*both, "--permutation", "nmi[average=min]", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "refclust-permutation/1"
    p = [[test["exact"] for test in case["tests"]] for case in told["cases"]]
    assert p == [["1/10", "1/10"], ["1", "1"]]
    assert told["cases"][0]["tests"][1]["score"]["key"] == "nmi[average=min]"
    for form in ("csv", "markdown", "latex"):
        assert run([*both, "--format", form]) == 0
        assert "rand" in capsys.readouterr().out
    assert run([*asked, "-m", "rand"]) == 2
    assert run(["score", str(true), str(first), "--permutation", "accuracy"]) == 2
    assert run(["score", str(true), str(first), "--permutation", "none"]) == 2
