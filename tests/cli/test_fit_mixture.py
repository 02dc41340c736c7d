"""``refclust fit`` of mixtures and classifiers: what is printed, written, refused and resumed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from refclust.mixture.em import EMSteps
from refclust.mixture.families.named.gaussian import gaussian_mixture
from refclust.mixture.families.named.multinomial import multinomial_mixture
from tests.cli.conftest import Cli

POINTS = "name,x,y,kind\n" + "".join(
    f"{name},{x},{y},{'u' if x < 5 else 'v'}\n"
    for name, x, y in (
        *(("a", 0, 0), ("b", 1, 0), ("c", 0, 2), ("d", 2, 1)),
        *(("e", 9, 9), ("f", 8, 9), ("g", 9, 7), ("h", 7, 8)),
    )
)
TEXTS = (
    "cat dog cat\tpet\ncat cat mouse\tpet\ndog dog cat\tpet\n"
    "sea fish sea\twater\nfish fish boat\twater\nboat sea fish\twater\n"
)
ROLES = ("--id-column", "name", "--label-column", "kind")
GAUSSIAN = ("fit", "gaussian", "points.csv", *ROLES, "-k", "2")
WORDS = ("docs.jsonl", "--text-column", "text", "--label-column", "kind")
ROWS = [[float(x) for x in line.split(",")[1:3]] for line in POINTS.splitlines()[1:]]


@pytest.fixture(autouse=True)
def _files(cli: Cli) -> None:  # after cli, which goes to the folder
    assert callable(cli)
    Path("points.csv").write_text(POINTS, encoding="utf-8")
    pairs = [line.split("\t") for line in TEXTS.splitlines()]
    docs = "".join(json.dumps({"text": text, "kind": kind}) + "\n" for text, kind in pairs)
    Path("docs.jsonl").write_text(docs, encoding="utf-8")
    Path("kinds.txt").write_text("".join(f"{kind}\n" for _, kind in pairs), encoding="utf-8")
    Path("bits.csv").write_text("a,b,k\n1,0,u\n1,0,u\n1,1,u\n0,1,v\n0,1,v\n", encoding="utf-8")


def content(name: str) -> Any:
    return json.loads(Path(name).read_text(encoding="utf-8"))


# -- mixtures -------------------------------------------------------------------------------------


@pytest.mark.spec("EM-ALG", "EM-CONV")
def test_summary(cli: Cli) -> None:
    done = cli(*GAUSSIAN, "--covariance", "tied")
    fit = gaussian_mixture(ROWS, 2, covariance="tied")
    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert lines[0] == "8 rows, 2 features; 2 components of a Gaussian mixture (EEE)"
    assert lines[2] == f"log-likelihood  {fit.log_likelihood:.9g}"
    aic, bic = -2 * fit.log_likelihood + 16, -2 * fit.log_likelihood + 8 * 2.0794415416798357
    told = f"AIC, BIC        {aic:.9g}, {bic:.9g} (8 free parameters; smaller is better)"
    assert lines[3] == told
    assert lines[4].startswith(f"stopped         after {fit.iterations} iteration")
    assert lines[5].startswith("monotone        J rose in ")
    assert "rounding bound" in lines[5]
    assert "objective" not in done.out
    assert "component  weight  size" in done.out
    assert "nmi            ↑ 1.0  = 1" in done.out


def test_priors_runs_and_certificates_are_told(cli: Cli) -> None:
    done = cli(*GAUSSIAN, "--floor", "0.1", "--restarts", "3", "--certify")
    assert "prior           a floor of 0.1 times the variances in every scatter" in done.out
    assert "objective       " in done.out
    assert "(log-likelihood and logarithm of the prior)" in done.out
    assert "runs            3, the best is number 1" in done.out
    fit = gaussian_mixture(ROWS, 2, floor=0.1, restarts=3)
    line = next(one for one in done.out.splitlines() if one.startswith("certified"))
    digits = line.split()[1].removesuffix("…;")
    assert len(digits) > 30
    assert float(digits) == pytest.approx(fit.log_likelihood, rel=1e-14)


def test_files(cli: Cli) -> None:
    call = (*GAUSSIAN, "-o", "m.json", "--labels", "l.csv", "--trace", "t.csv")
    done = cli(*call)
    assert done.err == "refclust: wrote m.json\nrefclust: wrote l.csv\nrefclust: wrote t.csv\n"
    fit = gaussian_mixture(ROWS, 2)
    assert content("m.json")["fitted"]["log_likelihood"] == fit.log_likelihood
    labels = Path("l.csv").read_text(encoding="utf-8").splitlines()
    assert labels == ["id,cluster", *map("{},{}".format, "abcdefgh", fit.labels)]
    head, first, *rest = Path("t.csv").read_text(encoding="utf-8").splitlines()
    assert head.split(",")[:4] == ["iteration", "log_likelihood", "objective", "gain"]
    assert first == f"0,{fit.trace[0].log_likelihood!r},{fit.trace[0].objective!r},,,,,"
    assert len(rest) == fit.iterations
    assert rest[0].endswith(fit.monotone.ascents[0].verdict)
    assert not list(Path().glob("*.checkpoint"))
    assert cli(*call).err.endswith("[exists]\n")


def test_json(cli: Cli) -> None:
    answer = cli(*GAUSSIAN, "--variation", "hard", "--json").json()
    fit = gaussian_mixture(ROWS, 2, variation="hard")
    assert answer["schema"] == "refclust-fit/1"
    assert (answer["algorithm"], answer["covariance"], answer["variation"]) == (
        *("gaussian", "VVV", "hard"),
    )
    assert answer["log_likelihood"] == fit.log_likelihood
    assert answer["objective"] == fit.objective
    assert answer["monotone"]["holds"] is None
    assert answer["monotone"]["standing"] == "not promised"
    assert {one["verdict"] for one in answer["monotone"]["ascents"]} <= {"rises", "within rounding"}
    soft = cli(*GAUSSIAN, "--json").json()["monotone"]
    assert (soft["standing"], soft["holds"], soft["guaranteed"]) == ("holds", True, True)
    assert [one["mean"] for one in answer["components"]] == [*map(list, fit.parameters.means)]
    assert answer["certified"] is None


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--variation", "hard"), "variation hard"),
        (
            ("--variation", "top", "--top", "1"),
            "not promised: what never falls is the bound F; F rose in ",
        ),
        (("--variation", "generalized", "--damping", "0.9"), "J rose in "),
        (
            ("--variation", "stochastic", "--limit", "3", "--floor", "1"),
            "not promised: components are drawn",
        ),
        (
            ("--variation", "monte-carlo", "--samples", "5", "--limit", "2", "--floor", "1"),
            "not promised: components",
        ),
        (("--start", "points"), "start           points, seed 0"),
        (("--limit", "0"), "monotone        not watched: no iteration was made"),
    ],
)
def test_variations(cli: Cli, options: tuple[str, ...], told: str) -> None:
    done = cli(*GAUSSIAN, *options)
    assert (done.code, done.err) == (0, "")
    assert told in done.out


@pytest.mark.spec("MMIX-COEF")
def test_both_likelihoods_of_words(cli: Cli) -> None:
    done = cli("fit", "multinomial", *WORDS, "-k", "2", "--m", "1", "-o", "m.json")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "6 rows, 6 features; 2 components of a multinomial mixture"
    assert lines[2].endswith("(of the words in their order)")
    assert lines[3].startswith("of the counts   ")
    assert lines[5].startswith("prior           m = 1 imagined observations of each component")
    words, counts = (float(line.split()[place]) for line, place in ((lines[2], 1), (lines[3], 3)))
    # Five of the documents, of two equal words and another, have 3 orders; the last has 3! = 6.
    assert counts - words == pytest.approx(5 * 1.0986122886681098 + 1.791759469228055, abs=1e-7)
    assert cli("describe", "m.json").code == 0
    assert cli("describe", "m.json", "docs.jsonl", "--json").json()["clusters"][0]["size"] == 3


def test_background_and_bernoulli(cli: Cli) -> None:
    call = ("fit", "multinomial", *WORDS, "-k", "2", "--m", "2", "--p", "background")
    answer = cli(*call, "--json").json()
    assert answer["p"] == [2 / 18, 5 / 18, 3 / 18, 4 / 18, 1 / 18, 3 / 18]
    bits = ("fit", "bernoulli", "bits.csv", "--label-column", "k", "-k", "2", "--m", "1")
    assert cli(*bits, "--p", "background", "--json").json()["p"] == [3 / 5, 3 / 5]
    assert cli(*bits).out.splitlines()[0].endswith("2 components of a Bernoulli mixture")


def test_starts_from_labels_and_models(cli: Cli) -> None:
    call = ("fit", "multinomial", *WORDS)
    done = cli(*call, "--start-labels", "kinds.txt", "-o", "m.json")
    assert "start           the labels given" in done.out
    # The labels have left zeros in the model, which the prior thinks impossible at first.
    again = cli(*call, "--start-model", "m.json", "--m", "1", "-o", "n.json", "--trace", "t.csv")
    assert (again.code, "start           the parameters given" in again.out) == (0, True)
    assert Path("t.csv").read_text(encoding="utf-8").splitlines()[1].split(",")[2] == "-inf"
    assert content("n.json")["fitted"]["trace"][0]["objective"] is None
    assert cli(*GAUSSIAN, "--start-model", "m.json").err.endswith(
        "one that is gaussian is needed [bad-option]\n"
    )
    Path("more.csv").write_text("x,z\n1,2\n3,5\n2,2\n", encoding="utf-8")
    assert cli(*GAUSSIAN, "-o", "g.json").code == 0
    other = cli("fit", "gaussian", "more.csv", "--start-model", "g.json")
    assert other.err.endswith("[feature-mismatch]\n")


@pytest.mark.parametrize(
    ("arguments", "code", "ending"),
    [
        (("gaussian", "points.csv", *ROLES), 2, "[bad-option]"),
        (("gaussian", "points.csv", *ROLES, "-k", "9"), 3, "[k-out-of-range]"),
        (("gaussian", "points.csv", *ROLES, "-k", "2", "--covariance", "X"), 2, "[bad-option]"),
        (("gaussian", "points.csv", *ROLES, "-k", "2", "--floor", "-1"), 2, "[bad-option]"),
        (("gaussian", "points.csv", *ROLES, "-k", "2", "--top", "1"), 2, "[bad-option]"),
        (("gaussian", "bits.csv", "-k", "2", "--label-column", "k"), 3, "[degenerate-covariance]"),
        (("multinomial", "points.csv", *ROLES, "-k", "2", "--m", "nan"), 2, "[bad-option]"),
        (("bernoulli", "points.csv", *ROLES, "-k", "2", "--p", "background"), 3, "[not-binary]"),
        (("gaussian", "points.csv", *ROLES, "-k", "2", "--resume"), 2, "[bad-option]"),
    ],
)
def test_what_is_refused(cli: Cli, arguments: tuple[str, ...], code: int, ending: str) -> None:
    done = cli("fit", *arguments)
    assert (done.code, done.out) == (code, "")
    assert done.err.endswith(ending + "\n")
    assert done.err.count("\n") == 1


@pytest.mark.spec("GMM-COLLAPSE")
def test_a_component_that_collapses_is_named(cli: Cli) -> None:
    Path("twins.csv").write_text("v\n0\n0\n5\n6\n7.5\n", encoding="utf-8")
    call = ("fit", "gaussian", "twins.csv", "-k", "2", "--start", "points")
    done = cli(*call)
    assert (done.code, done.out) == (3, "")
    assert done.err.endswith("[degenerate-covariance]\n")
    dropped = cli(*call, "--collapse", "drop", "-o", "m.json")
    assert dropped.out.startswith("5 rows, 1 feature; 1 component (2 were asked for) of a Gaussian")
    line = next(one for one in dropped.out.splitlines() if one.startswith("collapsed"))
    assert line.endswith(", most probable for rows 0, 1: dropped")
    (event,) = content("m.json")["fitted"]["runs"][0]["events"]
    assert (event["rows"], event["done"]) == ([0, 1], "dropped")


def test_two_starts_exclude_each_other(cli: Cli) -> None:
    done = cli(*GAUSSIAN, "--start", "random", "--start-labels", "kinds.txt")
    assert done.err.endswith("a fit starts from one of them [bad-option]\n")


@pytest.mark.spec("EM-CKPT")
def test_an_interrupted_fit_goes_on_to_the_same_file(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = (*GAUSSIAN, "--start", "random", "--seed", "3", "--covariance", "tied")
    assert cli(*call, "-o", "whole.json").code == 0
    plain = EMSteps.__next__
    left = iter(range(4))

    def interrupted(self: EMSteps[Any, Any, Any]) -> Any:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return plain(self)

    with monkeypatch.context() as patch:
        patch.setattr(EMSteps, "__next__", interrupted)
        done = cli(*call, "-o", "part.json")
    assert done.code == 130
    assert "interrupted after iteration 3 of run 1; this goes on from there: " in done.err
    assert Path("part.json.checkpoint").exists()
    assert cli(*call, "-o", "part.json").err.endswith("[exists]\n")
    assert cli(*call, "-o", "part.json", "--resume").code == 0
    assert Path("part.json").read_bytes() == Path("whole.json").read_bytes()
    assert not Path("part.json.checkpoint").exists()


# -- prediction -----------------------------------------------------------------------------------


def columns(text: str) -> Iterator[list[str]]:
    return (line.split(",") for line in text.splitlines())


@pytest.mark.spec("EM-PRED")
def test_probabilities_densities_and_entropies(cli: Cli) -> None:
    assert cli(*GAUSSIAN, "-o", "m.json").code == 0
    call = ("predict", "m.json", "points.csv", "--proba", "--log-density", "--entropy")
    head, *rows = columns(cli(*call).out)
    assert head == ["id", "cluster", "p_0", "p_1", "log_density", "entropy"]
    fit = gaussian_mixture(ROWS, 2)
    assert [int(row[1]) for row in rows] == fit.labels.tolist()
    for row in rows:
        assert float(row[2]) + float(row[3]) == pytest.approx(1, abs=2**-50)
    # The rows of the fit make up its log-likelihood: 8 rounded terms of a sum below 100.
    total = sum(float(row[4]) for row in rows)
    assert total == pytest.approx(fit.log_likelihood, abs=8 * 100 * 2**-52)
    answer = cli(*call, "--json").json()
    assert answer["names"] == ["0", "1"]
    assert answer["probabilities"][0] == [float(x) for x in rows[0][2:4]]
    assert answer["entropies"] == [float(row[5]) for row in rows]
    plain = cli("predict", "m.json", "points.csv", "--json").json()
    assert plain["probabilities"] is plain["entropies"] is plain["log_densities"] is None


def test_options_that_do_not_fit_the_model(cli: Cli) -> None:
    assert cli(*GAUSSIAN, "-o", "m.json").code == 0
    assert cli("predict", "m.json", "points.csv", "--distance").err.endswith("[bad-option]\n")
    call = ("fit", "kmeans", "points.csv", *ROLES, "-k", "2", "-o", "k.json")
    assert cli(*call).code == 0
    assert cli("predict", "k.json", "points.csv", "--proba").err.endswith("[bad-option]\n")


@pytest.mark.spec("MMIX-IMPOSSIBLE")
def test_impossible_rows(cli: Cli) -> None:
    call = ("fit", "bernoulli", "bits.csv", "--label-column", "k", "--start-labels", "bits.csv:k")
    assert cli(*call, "--limit", "0", "-o", "m.json").code == 0
    Path("new.csv").write_text("a,b\n0,0\n", encoding="utf-8")
    refused = cli("predict", "m.json", "new.csv", "--proba")
    assert (refused.code, refused.err[-17:]) == (3, "[impossible-row]\n")
    call = ("predict", "m.json", "new.csv", "--proba", "--log-density", "--impossible", "prior")
    assert cli(*call).out.splitlines()[1] == "0,0,0.6,0.4,-inf"
    assert cli(*call, "--json").json()["log_densities"] == [None]


def test_a_broken_model_is_refused(cli: Cli) -> None:
    assert cli(*GAUSSIAN, "-o", "m.json").code == 0
    model = content("m.json")
    model["fitted"]["parameters"]["weights"] = [0.5, 0.4]
    Path("m.json").write_text(json.dumps(model), encoding="utf-8")
    for call in (
        ("predict", "m.json", "points.csv"),
        ("sample", "m.json", "-n", "2"),
        ("explain", "em", "m.json", "points.csv"),
        ("describe", "m.json"),
        (*GAUSSIAN, "--start-model", "m.json"),
    ):
        done = cli(*call)
        assert (done.code, done.out) == (3, "")
        assert done.err.endswith("within rounding [bad-model]\n")


# -- classifiers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "named", "right"),
    [
        (("qda", "points.csv"), "quadratic discriminants (VVV)", "8 of 8"),
        (("lda", "points.csv"), "linear discriminants (EEE)", "8 of 8"),
        (("nearest-gaussian", "points.csv"), "nearest Gaussians (VVV)", "8 of 8"),
        (
            ("naive-bayes", "points.csv", "--kind", "gaussian"),
            "Gaussian naive Bayes (VVI)",
            "8 of 8",
        ),
    ],
)
def test_discriminants(cli: Cli, arguments: tuple[str, ...], named: str, right: str) -> None:
    call = ("fit", *arguments, "--id-column", "name", "--labels", "kind")
    done = cli(*call, "-o", "m.json")
    assert (done.code, done.err) == (0, "refclust: wrote m.json\n")
    assert done.out.splitlines()[0] == f"8 rows, 2 features; 2 classes by {named}"
    assert f"right           {right} rows of the training (100.0%)" in done.out
    head, *rows = columns(cli("predict", "m.json", "points.csv", "--proba").out)
    assert head == ["id", "class", "p_u", "p_v"]
    assert [row[1] for row in rows] == list("uuuuvvvv")
    answer = cli(*call, "--json").json()
    assert [one["class"] for one in answer["classes"]] == ["u", "v"]
    assert answer["right"] == 8
    told = cli("describe", "m.json", "points.csv").out
    assert "cluster 1: v" in told


@pytest.mark.parametrize("labels", [("--labels", "kinds.txt"), ("--classes", "docs.csv:kind")])
def test_naive_bayes_from_a_file_of_classes(cli: Cli, labels: tuple[str, str]) -> None:
    Path("docs.csv").write_text("kind\n" + Path("kinds.txt").read_text("utf-8"), encoding="utf-8")
    Path("docs.txt").write_text(
        "".join(line.split("\t")[0] + "\n" for line in TEXTS.splitlines()), encoding="utf-8"
    )
    call = ("fit", "naive-bayes", "docs.txt", "--format", "lines", "--smoothing", "laplace")
    done = cli(*call, *labels, "-o", "m.json")
    assert done.code == 0
    assert "smoothing       laplace (m = 6)" in done.out
    Path("new.txt").write_text("dog cat\nboat zebra\n", encoding="utf-8")
    answer = cli("predict", "m.json", "new.txt", "--format", "lines")
    assert answer.out == "id,class\n1,pet\n2,water\n"
    assert answer.err == "refclust: 1 feature of the data is unknown to the model\n"


@pytest.mark.parametrize(
    ("arguments", "code", "ending"),
    [
        (("qda", "points.csv", "--id-column", "name", "--column", "x"), 2, "[bad-option]"),
        (("qda", "points.csv", "--labels", "none"), 3, "[missing-column]"),
        (("qda", "points.csv", *ROLES, "--labels", "kind"), 2, "[bad-option]"),
        (("lda", "points.csv", *ROLES, "--covariance", "full"), 2, "[bad-option]"),
        (("naive-bayes", "points.csv", *ROLES, "--floor", "1"), 2, "[bad-option]"),
        (
            ("naive-bayes", "points.csv", *ROLES, "--kind", "gaussian", "--m", "1"),
            *(2, "[bad-option]"),
        ),
        (("naive-bayes", "points.csv", *ROLES, "--smoothing", "m-estimate"), 2, "[bad-option]"),
    ],
)
def test_classes_that_are_refused(
    cli: Cli, arguments: tuple[str, ...], code: int, ending: str
) -> None:
    done = cli("fit", *arguments)
    assert (done.code, done.out) == (code, "")
    assert done.err.endswith(ending + "\n")
    assert done.err.count("\n") == 1


def test_help_of_every_fit(cli: Cli) -> None:
    listed = cli("fit", "--help").out
    for name in ("gaussian", "multinomial", "bernoulli", "naive-bayes", "qda", "lda"):
        assert f"\n  {name} " in listed
        own = cli("fit", name, "-h").out
        assert own.startswith(f"Usage: refclust fit {name} [OPTIONS]")
        assert own.index("  refclust fit ") < own.index("Options:") < own.index("--label-column C")
    assert cli("gaussian").code == 2  # it belongs to fit


def test_a_multinomial_fit_is_the_one_of_the_library(cli: Cli) -> None:
    call = ("fit", "multinomial", *WORDS, "-k", "2", "--m", "1", "--seed", "5", "-o", "m.json")
    assert cli(*call).code == 0
    words = ["boat", "cat", "dog", "fish", "mouse", "sea"]
    docs = [line.split("\t")[0].split() for line in TEXTS.splitlines()]
    rows = [{word: doc.count(word) for word in words if word in doc} for doc in docs]
    fit = multinomial_mixture(rows, 2, m=1, seed=5)
    assert content("m.json")["fitted"]["log_likelihood"] == fit.log_likelihood
