"""``refclust describe``: what is in each cluster of a model, without and with data."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli

POINTS = "name,x,y,kind\na,0,0,u\nb,0,1,u\nc,4,0,v\nd,4,1,v\n"
ROLES = ("--id-column", "name", "--label-column", "kind")


@pytest.fixture(autouse=True)
def _model(cli: Cli) -> None:
    Path("points.csv").write_text(POINTS, encoding="utf-8")
    Path("centres.csv").write_text("x,y\n0,0\n4,0\n", encoding="utf-8")
    call = ("fit", "kmeans", "points.csv", *ROLES, "--centres", "centres.csv", "-o", "m.json")
    assert cli(*call).code == 0


def test_without_data(cli: Cli) -> None:
    done = cli("describe", "m.json")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "2 clusters by kmeans (euclidean) from 4 rows, 2 features\n\n"
        "cluster  size  share  RSS  mean square\n"
        "      0     2  50.0%  0.5         0.25\n"
        "      1     2  50.0%  0.5         0.25\n\n"
        "features by their difference, in their own units; with DATA in standard deviations\n\n"
        "cluster 0\n"
        "  feature  difference  mean  overall\n"
        "  x                -2     0        2\n\n"
        "cluster 1\n"
        "  feature  difference  mean  overall\n"
        "  x                +2     4        2\n"
    )


def test_with_data(cli: Cli) -> None:
    done = cli("describe", "m.json", "points.csv", "--rows", "1")
    assert done.code == 0
    assert "\ndescribed with these rows\n" in done.out
    assert done.out.endswith(
        "cluster 1\n"
        "  feature      z  difference  mean  overall\n"
        "  x        +1.00          +2     4        2\n"
        "  typical rows (distance): c (0.5)\n"
    )


def test_other_data_and_an_empty_cluster(cli: Cli) -> None:
    Path("new.csv").write_text("name,x,y\np,0,0\nq,1,5\n", encoding="utf-8")
    done = cli("describe", "m.json", "new.csv")
    assert done.code == 0
    assert "described with 2 other rows\n" in done.out
    assert "      1     0    0.0%     0            -\n" in done.out
    answer = cli("describe", "m.json", "new.csv", "--json").json()
    assert (answer["same_data"], answer["rows"]) == (False, 2)
    assert (answer["clusters"][1]["size"], answer["clusters"][1]["mean_square"]) == (0, None)


def test_json(cli: Cli) -> None:
    answer = cli("describe", "m.json", "points.csv", "--top", "1", "--rows", "1", "--json").json()
    assert (answer["schema"], answer["algorithm"]) == ("refclust-describe/1", "kmeans")
    assert answer["same_data"] is True
    assert answer["clusters"][0] == {
        "cluster": 0,
        "size": 2,
        "share": 0.5,
        "rss": 0.5,
        "mean_square": 0.25,
        "root_mean_square": 0.5,
        "traits": [
            {
                "feature": 0,
                "name": "x",
                "mean": 0.0,
                "overall": 2.0,
                "difference": -2.0,
                "standardised": -1.0,
            }
        ],
        "typical": [{"row": 0, "name": "a", "distance": 0.5}],
    }


def test_words(cli: Cli) -> None:
    Path("texts.txt").write_text("cat dog\ncat mouse\nstock price\nstock fall\n", encoding="utf-8")
    call = ("fit", "kmeans", "texts.txt", "--format", "lines", "-k", "2", "--metric", "cosine")
    assert cli(*call, "--start", "farthest", "-o", "t.json").code == 0
    done = cli("describe", "t.json", "texts.txt", "--top", "2")
    assert "\n  cat (1.00), dog (0.58)\n" in done.out
    assert "\n  stock (1.00), fall (0.58)\n" in done.out
    done = cli("describe", "t.json", "--top", "1")
    assert "\n  cat (0.354)\n" in done.out
    assert "typical" not in done.out


def test_trees(cli: Cli) -> None:
    call = ("fit", "agglomerative", "points.csv", *ROLES)
    assert cli(*call, "-k", "2", "-o", "tree.json").code == 0
    done = cli("describe", "tree.json")
    assert done.out.splitlines()[2:] == [
        "cluster  size  share",
        "      0     2  50.0%",
        "      1     2  50.0%",
    ]
    assert (
        "x        -1.00          -2     0        2"
        in cli("describe", "tree.json", "points.csv").out
    )
    Path("other.csv").write_text(POINTS.replace("4,1", "4,2"), encoding="utf-8")
    assert cli("describe", "tree.json", "other.csv").err.endswith("[cannot-predict]\n")
    assert cli(*call, "-o", "uncut.json").code == 0
    assert cli("describe", "uncut.json").err.endswith("[bad-option]\n")


def test_a_tree_of_distances_has_no_data(cli: Cli) -> None:
    Path("matrix.csv").write_text("0,3,2\n3,0,1\n2,1,0\n", encoding="utf-8")
    call = ("fit", "agglomerative", "--distances", "matrix.csv", "-k", "2", "-o", "tree.json")
    assert cli(*call, "--linkage", "single").code == 0
    assert cli("describe", "tree.json").code == 0
    done = cli("describe", "tree.json", "missing.csv")
    assert (done.code, done.err[-13:]) == (2, "[bad-option]\n")


@pytest.mark.parametrize(
    ("arguments", "ending"),
    [
        (("m.json", "--top", "-1"), "[bad-option]"),
        (("m.json", "points.csv", "--rows", "-1"), "[bad-option]"),
        (("m.json", "--format", "csv"), "[bad-option]"),
        (("-", "-"), "[bad-option]"),
        (("missing.json",), "[file-not-found]"),
        (("points.csv",), "[bad-model]"),
        (("m.json", "missing.csv"), "[file-not-found]"),
    ],
)
def test_refused(cli: Cli, arguments: tuple[str, ...], ending: str) -> None:
    done = cli("describe", *arguments)
    assert done.code in (2, 3)
    assert done.out == ""
    assert done.err.endswith(f"{ending}\n")
    assert done.err.count("\n") == 1
