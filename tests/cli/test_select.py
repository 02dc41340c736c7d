"""``refclust select``: the table it prints, the reason it gives, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from refclust.cli.commands.select import numbers
from refclust.errors import BadOption
from tests.cli.conftest import Cli

PAIRS = "x\n0\n1\n2\n40\n41\n42\n"
PLANE = "x,y,kind\n" + "".join(
    f"{x + 9 * (i % 2)},{x * x % 5},{'uv'[i % 2]}\n" for i, x in enumerate(range(14))
)
LINES = """\
6 rows, 1 feature; gaussian mixtures by bic

   K  log-likelihood  free  iterations    bic    aic    icl  icl-soft
   1          -26.49     2           1  56.57  56.99  56.57     56.57
*  2          -11.46     4           1  30.08  30.91  30.08     30.08
   7               -     -           -      -      -      -         -

* EEE with K = 2: smallest BIC 30.08; next EEE with K = 1 at 56.57
- EEE with K = 7 could not be fitted: k is 7; from 1 to 6 clusters can be made of 6 rows \
[k-out-of-range]
"""


@pytest.fixture(autouse=True)
def _files(cli: Cli) -> None:  # after cli, which goes to the folder
    assert callable(cli)
    Path("pairs.csv").write_text(PAIRS, encoding="utf-8")
    Path("plane.csv").write_text(PLANE, encoding="utf-8")
    Path("docs.csv").write_text("a,b\n4,0\n5,1\n3,1\n0,4\n1,6\n0,3\n", encoding="utf-8")


@pytest.mark.spec("MS-BIC")
def test_one_line_for_each_candidate(cli: Cli) -> None:
    done = cli("select", "pairs.csv", "-k", "1,2,7", "--covariance", "tied")
    assert done.code == 0
    assert done.err == ""
    assert done.out == LINES


@pytest.mark.spec("MS-BIC", "GMM-COV")
def test_components_down_and_models_across(cli: Cli) -> None:
    done = cli(
        "select", "plane.csv", "--label-column", "kind", "-k", "1..2", "--covariance", "all",
        "--tolerance", "1e-3",
    )  # fmt: skip
    lines = done.out.splitlines()
    assert done.code == 0
    assert lines[0] == "14 rows, 2 features; gaussian mixtures by bic"
    assert lines[2] == "BIC"
    assert lines[3].split() == ["K", "EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE"]
    assert lines[6].split() == ["K", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV"]
    assert [line.split()[0] for line in lines[4:6] + lines[7:9]] == ["1", "2", "1", "2"]
    assert sum(line.count("*") for line in lines[4:9]) == 1
    best = next(word for line in lines[4:9] for word in line.split() if "*" in word)
    assert lines[10].startswith("* ")
    assert f"smallest BIC {best.removesuffix('*')}; " in lines[10]


@pytest.mark.spec("MS-CVLL")
def test_json(cli: Cli) -> None:
    done = cli(
        "select", "docs.csv", "--model", "multinomial", "-k", "1..2", "--criterion", "cv",
        "--folds", "3", "--m", "1", "--restarts", "3", "--json",
    )  # fmt: skip
    told = done.json()
    assert done.code == 0
    assert told["schema"] == "refclust-selection/1"
    assert (told["model"], told["criterion"], told["chosen"]) == ("multinomial", "cv", 1)
    assert [one["k"] for one in told["candidates"]] == [1, 2]
    assert set(told["candidates"][0]["values"]) == {"bic", "aic", "icl", "icl-soft", "cv"}
    assert told["why"].startswith("largest log-likelihood of a row not seen ")


@pytest.mark.spec("MS-CVLL")
def test_minus_infinity_is_told_in_words(cli: Cli) -> None:
    Path("rare.csv").write_text("a,b\n1,0\n1,0\n0,1\n", encoding="utf-8")
    words = ("select", "rare.csv", "--model", "multinomial", "-k", "1", "--criterion", "cv")
    assert cli(*words, "--json").json()["candidates"][0]["values"]["cv"] == "-inf"
    assert "  -inf" in cli(*words).out


@pytest.mark.spec("MS-VISEL", "MS-VIPRUNE")
def test_evidence(cli: Cli) -> None:
    done = cli(
        "select", "docs.csv", "--model", "multinomial", "-k", "1..3", "--criterion", "evidence"
    )
    lines = done.out.splitlines()
    assert lines[2].split() == ["K", "free", "in", "use", "iterations", "evidence"]
    assert [line.split()[-5:][0] for line in lines[3:6]] == ["1", "2", "3"]
    assert lines[7].startswith("* K = 2: largest bound on the log evidence ")


@pytest.mark.spec("MS-VISEL", "VB-COMMON")
def test_evidence_of_all_covariances(cli: Cli) -> None:
    words = ("select", "plane.csv", "--label-column", "kind", "-k", "1", "--criterion", "evidence")
    done = cli(*words, "--covariance", "all")
    lines = done.out.splitlines()
    assert done.code == 0
    assert lines[2] == "bound on the log evidence"
    assert lines[3].split() == ["K", "EII", "VII", "EEI", "VVI", "EEE", "VVV"]
    assert lines[-1] == (
        "- VEI, EVI, VEE, EVE, VVE, EEV, VEV, EVV have no conjugate prior, so no evidence: left out"
    )
    told = cli(*words, "--covariance", "all", "--json").json()
    assert told["left_out"] == ["VEI", "EVI", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV"]
    assert cli(*words, "--covariance", "VII", "--json").json()["left_out"] == []


@pytest.mark.spec("MS-IS", "MS-PARETO")
def test_importance(cli: Cli) -> None:
    words = ("select", "docs.csv", "--model", "multinomial", "-k", "1..2", "--criterion")
    done = cli(*words, "importance")
    lines = done.out.splitlines()
    assert lines[2].split()[-4:] == ["evidence", "importance", "importance-error", "pareto-k"]
    assert lines[6].startswith("* K = ")
    assert "largest log evidence by importance sampling " in lines[6]
    told = cli(*words, "importance", "--json").json()["candidates"]
    bounds = cli(*words, "evidence", "--json").json()["candidates"]
    for one, bound in zip(told, bounds, strict=True):
        values = one["values"]
        assert values["evidence"] == bound["values"]["evidence"]
        assert values["importance"] > values["evidence"] - 1e-9
        assert values["importance-error"] < 0.2
        doubts = [f"- K = {one['k']} is in doubt: {reason}" for reason in one["doubts"]]
        assert [line for line in lines if line.startswith(f"- K = {one['k']} is")] == doubts
    assert bounds[0]["doubts"] == []


@pytest.mark.spec("MS-IS")
def test_doubts_about_the_evidence_are_printed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from refclust.mixture.bayes import importance

    monkeypatch.setattr(importance, "_LEAST_EFFECTIVE", 1e9)
    done = cli(
        "select", "docs.csv", "--model", "multinomial", "-k", "1", "--criterion", "importance"
    )
    assert done.code == 0
    assert "- K = 1 is in doubt: only 1e+03 of 1000 draws count" in done.out.splitlines()


@pytest.mark.spec("MS-GAP", "MS-ELBOW")
def test_kmeans(cli: Cli) -> None:
    words = ("select", "pairs.csv", "--model", "kmeans", "-k")
    elbow = cli(*words, "1..4", "--criterion", "elbow")
    assert elbow.out.splitlines()[2].split() == ["K", "iterations", "rss", "elbow"]
    assert "* K = 2: RSS lies farthest below the line between its ends, by " in elbow.out
    gap = cli(*words, "1..3", "--criterion", "gap", "--references", "3")
    assert gap.out.splitlines()[0] == "6 rows, 1 feature; k-means by gap"
    assert gap.out.splitlines()[2].split() == ["K", "iterations", "rss", "gap", "gap-error"]
    none = cli(
        *words, "5..6", "--criterion", "gap", "--gap-rule", "Tibs2001SEmax", "--references", "2"
    )
    assert none.code == 0
    assert none.out.splitlines()[-1].endswith("none is chosen (Tibs2001SEmax)")


SIDE_BY_SIDE = """\
6 rows, 1 feature; trees of merges by 3 criteria

   K      gap    error   stability    elbow
   1  -1.6870   0.0000           -   0.0000
*  2   2.7777*  0.0000      1.0000*  0.6654*
   3   1.9865   0.0000      0.7778   0.3327
   4   1.9184   0.0000      0.3333   0.0000

* K = 2: the largest gap, 2.7777 (globalSEmax)
  K = 2: largest stability 1.0000; next K = 3 at 0.7778
  K = 2: RSS lies farthest below the line between its ends, by 0.6654 of its fall
all 3 criteria choose K = 2
"""


@pytest.mark.spec("KM-KSEL", "MS-GAPRULE", "MS-STAB", "MS-ELBOW")
def test_criteria_side_by_side(cli: Cli) -> None:
    words = ("select", "pairs.csv", "--model", "agglomerative", "-k", "1..4")
    several = (*words, "--criterion", "gap, stability ,elbow", "--references", "1")
    done = cli(*several, "--pairs", "3", "-o", "tree.json", "--labels", "l.csv")
    assert (done.code, done.out) == (0, SIDE_BY_SIDE)
    assert max(map(len, done.out.partition("\n\n*")[0].splitlines())) <= 79
    told = cli(*several, "--pairs", "3", "--json").json()
    assert (told["criterion"], told["chosen"]) == ("gap", 1)
    assert [each["criterion"] for each in told["verdicts"]] == ["gap", "stability", "elbow"]
    assert [each["chosen"] for each in told["verdicts"]] == [1, 1, 1]
    assert told["why"] == told["verdicts"][0]["why"]
    assert told["notes"] == []
    keys = {"rss", "gap", "gap-error", "elbow", "stability"}
    assert [set(each["values"]) for each in told["candidates"][1:]] == [keys] * 3
    labels = Path("l.csv").read_text(encoding="utf-8").split()[1:]
    assert [line.partition(",")[2] for line in labels] == list("000111")
    model = cli("describe", "tree.json", "--json").json()
    assert model["algorithm"] == "agglomerative"


@pytest.mark.spec("KM-KSEL")
def test_criteria_that_disagree(cli: Cli) -> None:
    words = ("select", "pairs.csv", "--model", "kmeans", "-k", "1..4", "--seed", "1")
    done = cli(*words, "--criterion", "elbow,gap", "--gap-rule", "firstmax", "--references", "2")
    told = cli(
        *words, "--criterion", "elbow,gap", "--gap-rule", "firstmax", "--references", "2", "--json"
    ).json()
    first, second = (each["chosen"] for each in told["verdicts"])
    last = done.out.splitlines()[-1]
    if first == second:
        assert last == f"both criteria choose K = {first + 1}"
    else:
        assert last == (
            f"the criteria disagree, 1 for K = {first + 1}, 1 for K = {second + 1}; elbow decides"
        )


@pytest.mark.spec("KM-KSEL")
def test_candidates_that_did_not_converge(cli: Cli) -> None:
    words = ("select", "plane.csv", "--label-column", "kind", "-k", "3", "--limit", "1")
    done = cli(*words, "--model", "kmeans", "--criterion", "stability", "--pairs", "1")
    line = "- K = 3 did not converge: 1 iteration is the limit; --limit N allows more"
    assert line in done.out.splitlines()
    mixture = cli(*words, "--covariance", "EII", "--restarts", "1")
    assert f"- EII with {line[2:]}" in mixture.out.splitlines()
    told = cli(*words, "--covariance", "EII", "--restarts", "1", "--json").json()
    assert told["candidates"][0]["limit_reached"] == 1


@pytest.mark.spec("MODEL-DOC")
def test_model_and_labels_are_written(cli: Cli) -> None:
    done = cli(
        "select", "pairs.csv", "-k", "1..2", "--covariance", "tied", "-o", "best.json",
        "--labels", "labels.csv",
    )  # fmt: skip
    assert done.code == 0
    assert done.err.splitlines() == ["refclust: wrote best.json", "refclust: wrote labels.csv"]
    again = cli("predict", "best.json", "pairs.csv")
    assert again.code == 0
    written = Path("labels.csv").read_text(encoding="utf-8").split()[1:]
    assert [row.split(",")[1] for row in written] in (list("000111"), list("111000"))


def test_labels_to_standard_output(cli: Cli) -> None:
    done = cli("select", "pairs.csv", "-k", "2", "--covariance", "tied", "--labels", "-")
    assert done.out.splitlines()[0] == "id,cluster"
    assert "smallest BIC 30.08; no other was asked" in done.err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("-k", "1..x"), 2, "-k 1..x: give 1..10 for a range, 2,3,5 for some, or 4 for one"),
        (("-k", ""), 2, "-k : give 1..10"),
        (("-k", "3..1"), 2, "the smaller first"),
        (("-k", "0..2"), 2, "whole numbers from 1 to 10000"),
        (("-k", "1..99999"), 2, "whole numbers from 1 to 10000"),
        (("-k", "7"), 3, "k is 7; from 1 to 6 clusters can be made of 6 rows [k-out-of-range]"),
        (("-k", "2", "--covariance", "round"), 2, "the covariance model is 'round'"),
        (("-k", "2", "--criterion", "gap"), 2, "does not go with gaussian"),
        (("-k", "2", "--criterion", "gap,,"), 2, "does not go with gaussian"),
        (("-k", "2", "--criterion", ""), 2, "criterion is ''; allowed are bic, aic"),
        (("-k", "2", "--criterion", "bic,aic"), 2, "one criterion decides between mixtures"),
        (("-k", "2", "--model", "kmeans", "--criterion", "gap"), 2, "at least two numbers"),
        (("-k", "2", "--model", "kmeans", "--linkage", "ward"), 2, "has no option linkage"),
        (("-k", "2", "--m", "1"), 2, "has no option m"),
        (("-k", "2", "--folds", "3"), 2, "folds belong to the criterion cv"),
        (("-k", "2", "-o", "-"), 2, "--out needs a file"),
        (("-k", "2", "-o", "pairs.csv"), 2, "pairs.csv is read from"),
        (
            ("-k", "2", "--criterion", "evidence", "--covariance", "EII,EVE"),
            2,
            "the covariance model EVE has no conjugate prior, so its evidence is not known; those "
            "of EII, VII, EEI, VVI, EEE, VVV are [bad-option]",
        ),
    ],
)
def test_errors_are_one_line(cli: Cli, words: tuple[str, ...], code: int, told: str) -> None:
    done = cli("select", "pairs.csv", *words)
    assert done.code == code
    assert done.out == ""
    assert told in done.err
    assert len(done.err.splitlines()) == 1


def test_numbers() -> None:
    assert numbers("1..4") == [1, 2, 3, 4]
    assert numbers("2, 3,5") == [2, 3, 5]
    assert numbers("1..2,7 .. 8") == [1, 2, 7, 8]
    for text in ("a", "1..", "..3", "1,,2", "-1", "1.5", "²", "1...3"):
        with pytest.raises(BadOption, match="-k"):
            numbers(text)
