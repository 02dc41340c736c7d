"""Every command on hostile text: what comes from data is shown, never interpreted (chapter 06)."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from markdown_it import MarkdownIt

from refclust import notes
from refclust.cli import lazy
from refclust.cli.app import app
from refclust.cli.options.complete import complete_backend
from refclust.data.accepting.door import dataset
from refclust.data.writers.writing import WRITERS
from refclust.escape import for_terminal, is_formula
from refclust.numbers.real import log
from tests.backends.plugins import command
from tests.cli.conftest import Cli, Done
from tests.property.test_output import typeset

EVIL = "\x1b]0;t\x07\x9b31m\u202e<script>|$x$[a](http:b)\\input{x}=cmd()"
NAME = "e\x1b]0;t\x07\x9b31m\u202e|$x$"  # of files
FIRST, SECOND = f"=f1\n{EVIL}", f"@f2{EVIL}"
ONE, TWO = f"+A\n{EVIL}", f"-B{EVIL}"
ROWS = ((1, 2), (1.5, 2.5), (9, 8), (9.5, 8.5), (1.2, 2.1), (9.1, 8.8))
RAW = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
READ = ("--id-column", "id", "--label-column", "label")


def ids() -> list[str]:
    return [f"=r{i}\n{EVIL}" for i in range(len(ROWS))]


def classes() -> list[str]:
    return [ONE if row[0] < 5 else TWO for row in ROWS]


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the hostile files are kept, once they are made."""
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture
def hostile(cli: Cli, kept: Path) -> Cli:
    """The command line in a folder of hostile files, models of them included."""
    if not any(kept.iterdir()):
        make(cli)
        shutil.copytree(".", kept, dirs_exist_ok=True)
    else:
        shutil.copytree(kept, ".", dirs_exist_ok=True)
    return cli


def make(cli: Cli) -> None:
    table: Any = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow(["id", FIRST, SECOND, "label"])
    for name, row, label in zip(ids(), ROWS, classes(), strict=True):
        writer.writerow([name, *row, label])
    Path(f"{NAME}.csv").write_text(table.getvalue(), encoding="utf-8", newline="")
    lines = (
        json.dumps({"id": name, "label": label, FIRST: int(row[0]), SECOND: int(row[1])})
        for name, row, label in zip(ids(), ROWS, classes(), strict=True)
    )
    Path(f"{NAME}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    both = io.StringIO(newline="")
    csv.writer(both).writerows([[EVIL, f"p{EVIL}"], *([a, a] for a in classes())])
    Path(f"both{NAME}.csv").write_text(both.getvalue(), encoding="utf-8", newline="")
    names = io.StringIO(newline="")
    csv.writer(names).writerows([["", ONE, TWO], [FIRST, 3, 1], [SECOND, 0, 4]])
    Path(f"table{NAME}.csv").write_text(names.getvalue(), encoding="utf-8", newline="")
    array = b"".join(WRITERS["npy"].chunks(dataset(ROWS)))
    with zipfile.ZipFile(f"{NAME}.npz", "w") as archive:
        for member in (f"x{EVIL}.npy", f"y\n{EVIL}.npy"):
            archive.writestr(member, array)
    texts = Path(f"texts{NAME}\n")
    texts.mkdir()
    for number, words in enumerate(("cat cow cat", "dog eel", "cow cat", "eel dog dog")):
        (texts / f"{number}\n{NAME}.txt").write_text(words, encoding="utf-8")
    Path(f"stop{NAME}.txt").write_text("the\ndog\x9b\n", encoding="utf-8")
    Path("bad.json").write_text(json.dumps({"format": EVIL, EVIL: EVIL}), encoding="utf-8")
    answers = {"format": "refclust-answers/1", "answers": {"x-iir": {"nmi": EVIL}}}
    Path("answers.json").write_text(json.dumps(answers), encoding="utf-8")
    for arguments in (
        ("fit", "kmeans", f"{NAME}.csv", "-k", "2", *READ, "-o", f"k{NAME}.json"),
        ("fit", "gaussian", f"{NAME}.csv", "-k", "2", *READ, "--floor", "0.1", "-o", "g.json"),
        ("fit", "multinomial", f"{NAME}.jsonl", "-k", "2", *READ, "--m", "1", "-o", "m.json"),
        ("fit", "qda", f"{NAME}.csv", *READ, "--floor", "0.1", "-o", "q.json"),
        ("fit", "agglomerative", f"{NAME}.csv", *READ, "-o", "t.json"),
    ):
        done = cli(*arguments)
        assert done.code == 0, done.err
        safe(done)


def leaves() -> set[str]:
    """All commands there are, as the application has them."""

    def below(prefix: str, group: typer.Typer) -> Iterator[str]:
        names = [one.name for one in group.registered_commands]
        subgroups = [(one.name, one.typer_instance) for one in group.registered_groups]
        for name in filter(None, names):
            place = lazy.PLACES.get((prefix.strip(), name))
            found = None if place is None else lazy.at(place)
            if isinstance(found, typer.Typer):
                yield from below(f"{prefix}{name} ", found)
            else:
                yield f"{prefix}{name}"
        for group_name, inner in subgroups:
            assert inner is not None
            yield from below(f"{prefix}{group_name} ", inner)

    return set(below("", app))


FIT = (f"{NAME}.csv", *READ)
SPARSE = (f"{NAME}.jsonl", *READ)
PAIR = (f"both{NAME}.csv", "--column-true", EVIL, "--column-pred", f"p{EVIL}")
TABLE = ("--table", f"table{NAME}.csv", "--header")
RATERS = (f"both{NAME}.csv", "--column", f"p{EVIL}", "--column", f"p{EVIL}")
FORMS = ("text", "markdown", "latex", "json")
PAGES = ("text", "markdown", "latex")
# Of every command some runs that get far, and some that are refused.
RUNS: dict[str, list[tuple[str, ...]]] = {
    "demo": [(), (EVIL,)],
    "fit kmeans": [
        (*FIT, "-k", "2", "--force", "-o", f"k{NAME}.json", "--labels", f"l{NAME}.csv"),
        (*FIT, "-k", "2", "--json"),
        (f"texts{NAME}\n", "-k", "2", "--stop-words", f"stop{NAME}.txt", "--metric", "cosine"),
        (f"{NAME}.npz", "-k", "2", "--array", f"x{EVIL}"),
        (f"{NAME}.npz", "-k", "2"),
        (f"{NAME}.npz", "-k", "2", "--array", EVIL),
        (*FIT, "-k", "2", "--centres", NAME),
        (*FIT, "-k", "2", "-o", f"{NAME}/x"),
        (*FIT, "-k", "2", "-o", f"k{NAME}.json"),
        (*FIT, "-k", "2", "--backend", EVIL),
        (*FIT, "-k", EVIL),
        (*FIT, "-k", "2", "--start", EVIL),
        (NAME, "-k", "2", "--label-column", EVIL),
        (f"{NAME}.csv", "-k", "2", "--label-column", f"{EVIL}x"),
        (f"{NAME}.csv", "-k", "2", "--delimiter", EVIL),
    ],
    "fit bisecting": [(*FIT, "-k", "2"), (*FIT, "-k", "2", "--json"), (EVIL, "-k", "2")],
    "fit agglomerative": [(*FIT, "-k", "2"), (*FIT, "--json"), ("--distances", f"{NAME}.csv")],
    "fit gaussian": [
        (*FIT, "-k", "2", "--floor", "0.1"),
        (*FIT, "-k", "2", "--floor", "0.1", "--json"),
        (*FIT, "-k", "2", "--start-model", f"k{NAME}.json"),
        (*FIT, "-k", "2", "--covariance", EVIL),
    ],
    "fit multinomial": [(*SPARSE, "-k", "2", "--m", "1"), (*SPARSE, "-k", "2", "--json")],
    "fit bernoulli": [(*SPARSE, "-k", "2"), (f"texts{NAME}\n", "-k", "2", "--m", EVIL)],
    "fit geometric": [(*SPARSE, "-k", "2"), (f"texts{NAME}\n", "-k", "2", "--m", EVIL)],
    "fit poisson": [(*SPARSE, "-k", "2"), (f"texts{NAME}\n", "-k", "2", "--m", EVIL)],
    "fit naive-bayes": [(*SPARSE,), (*SPARSE, "--json"), (f"{NAME}.csv", "--labels", EVIL)],
    "fit qda": [(*FIT, "--floor", "0.1"), (*FIT, "--floor", "0.1", "--json"), (*FIT,)],
    "fit lda": [(*FIT, "--floor", "0.1"), (*FIT, "--floor", "0.1", "--json")],
    "fit nearest-gaussian": [(*FIT, "--floor", "0.1"), (*FIT, "--floor", "0.1", "--json")],
    "select": [
        (*FIT, "-k", "1..2", "--floor", "0.1"),
        (*FIT, "-k", "1..2", "--json"),
        (*FIT, "-k", EVIL),
        (*FIT, "--start", EVIL),
        (*FIT, "--covariance", EVIL),
    ],
    "predict": [
        (f"k{NAME}.json", f"{NAME}.csv", "--json"),
        ("q.json", f"{NAME}.csv", "--proba", "--json"),
        (f"k{NAME}.json", f"{NAME}.csv", "--labels", f"l{NAME}.csv"),
        (f"k{NAME}.json", f"{NAME}.csv", "--labels", NAME),
        ("bad.json", f"{NAME}.csv"),
        (NAME, NAME),
        ("t.json", f"{NAME}.csv"),
    ],
    "sample": [
        ("g.json", "-n", "2", "--out", f"s{NAME}.csv"),
        ("q.json", "-n", "2", "--labels", "--out", f"s{NAME}.npy"),
        (f"k{NAME}.json", "-n", "2"),
        ("g.json", "-n", "2", "--out", NAME),
    ],
    "describe": [
        (f"k{NAME}.json", f"{NAME}.csv"),
        (f"k{NAME}.json", f"{NAME}.csv", "--json"),
        ("m.json", f"{NAME}.jsonl"),
        ("q.json", f"{NAME}.csv"),
        ("bad.json",),
    ],
    "sniff": [
        (f"{NAME}.csv", *READ),
        (f"{NAME}.csv", *READ, "--json"),
        (f"{NAME}.jsonl", *READ),
        (f"{NAME}.npz", "--array", f"y\n{EVIL}"),
        (f"{NAME}.npz", "--json"),
        (f"{NAME}.npz",),
        (f"texts{NAME}\n",),
        (f"texts{NAME}\n", "--json"),
        (f"{NAME}.csv", "--format", EVIL),
        ("answers.json",),
        (NAME,),
    ],
    "convert": [
        (f"{NAME}.csv", f"c{NAME}.tsv", *READ),
        (f"{NAME}.csv", f"c{NAME}.npz", *READ, "--json"),
        (f"{NAME}.csv", f"{NAME}.csv"),
        (f"{NAME}.csv", f"c{NAME}"),
        (f"{NAME}.csv", "-", "--to", EVIL),
        (f"{NAME}.csv", f"c{NAME}.svmlight", *READ),
    ],
    "formats": [(), ("--json",), (EVIL,)],
    "conform": [(EVIL,), (f"-{EVIL}",)],
    "score": [
        PAIR,
        (*PAIR, "--json"),
        (*TABLE, "-m", "matching_accuracy", "--verbose"),
        (*TABLE, "-m", "matching_accuracy", "--json"),
        (*PAIR, "--noise", EVIL),
        (*PAIR, "--profile", EVIL),
        (*PAIR, "-m", EVIL),
        (*PAIR, "-m", f"nmi[{EVIL}={EVIL}]"),
        (*PAIR, "--weights", f"{NAME}.csv:{EVIL}x"),
        (f"both{NAME}.csv", NAME),
        ("--table", f"both{NAME}.csv"),
        (*PAIR, "--column-pred", PAIR[4], "--draw"),
        *((*PAIR, "--column-pred", PAIR[4], "--format", form) for form in FORMS),
        (*PAIR, "--format", EVIL),
        (*TABLE, "-m", "purity", "--draw"),
        (*PAIR, "--classification"),
        *((*PAIR, "--classification", "--format", form) for form in FORMS),
        (*PAIR, "--classification", "--positive", EVIL),
        (*PAIR, "--classification", "--classes", f"z{EVIL}"),
        (*PAIR, "--classification", "-m", "recall"),
        ("--classification", *TABLE),
        ("--data", *FIT, "-m", "nmi"),
        ("--data", *FIT, f"k{NAME}.json", "g.json", "q.json"),
        ("--data", *FIT, "--format", "latex"),
        ("--data", *FIT, "--json"),
        ("--data", *FIT, EVIL),
        ("--data", *FIT, f"{NAME}.json"),
        ("--data", *FIT, f"{NAME}.csv:{EVIL}"),
        ("--data", f"{NAME}.csv", "--data-format", EVIL),
        ("--data", f"{NAME}.npz", f"k{NAME}.json"),
        ("--proximity", f"{NAME}.csv", *READ),
        ("--proximity", f"{NAME}.csv", f"k{NAME}.json"),
        ("--proba", f"{NAME}.csv", "--column-true", "label", "--id-column", "id"),
        ("--proba", f"{NAME}.csv", "--column-true", EVIL),
        ("--proba", f"{NAME}.csv", NAME),
        ("--raters", *RATERS),
        ("--raters", *RATERS, "--json"),
        ("--raters", f"both{NAME}.csv", "--column", EVIL, "--column", NAME),
        ("--raters", f"both{NAME}.csv", "--counts"),
        ("--raters", f"both{NAME}.csv", "--classes", EVIL),
        ("--label-sets", f"both{NAME}.csv", f"both{NAME}.csv"),
        ("--memberships", f"{NAME}.csv"),
        ("--memberships", f"{NAME}.csv", "--column", FIRST, "--column", SECOND),
        ("--trials", f"{NAME}.csv", "--column", FIRST, "--column", SECOND),
        ("--trials", f"{NAME}.csv"),
        ("--trials", EVIL),
        ("--list", "--format", EVIL),
    ],
    "compare": [
        (*PAIR, PAIR[1]),
        (*PAIR, PAIR[1], "--json"),
        *((*PAIR, "--column-pred", PAIR[4], "--format", form) for form in FORMS),
        (*PAIR, PAIR[1], "--format", "latex"),
        (*PAIR, PAIR[1], "-m", EVIL),
        (*PAIR, PAIR[1], "--format", EVIL),
        (*PAIR, NAME),
        (f"both{NAME}.csv", "--column-true", EVIL, "--column-pred", NAME),
    ],
    "crossval": [
        ("lda", f"{NAME}.csv", "--labels", PAIR[0], "--folds", "2"),
        ("lda,qda", f"{NAME}.csv", "--labels", PAIR[0], "--folds", "2", "--json"),
        ("lda", f"{NAME}.csv", *READ, "--folds", "2", "--as", "latex"),
        (EVIL, f"{NAME}.csv"),
        ("lda", NAME),
        ("lda", f"{NAME}.csv", "--labels", EVIL),
        ("lda", f"{NAME}.csv", "--set", f"{EVIL}={EVIL}"),
        ("lda", f"{NAME}.csv", "--set", EVIL),
        ("lda", f"{NAME}.csv", "--set", f"{EVIL}:floor=1"),
        ("lda", f"{NAME}.csv", "--as", EVIL),
    ],
    "explain": [
        ("matching_accuracy", *TABLE),
        ("nmi", *PAIR),
        ("em", "g.json", f"{NAME}.csv"),
        ("em", "m.json", f"{NAME}.jsonl"),
        ("em", f"k{NAME}.json", f"{NAME}.csv"),
        ("kmeans", f"k{NAME}.json", f"{NAME}.csv"),
        ("kmeans", f"k{NAME}.json", f"{NAME}.csv", "--start", "--format", "markdown"),
        ("kmeans", f"k{NAME}.json", f"{NAME}.csv", "--start", "--format", "latex"),
        ("kmeans", f"k{NAME}.json", f"{NAME}.jsonl"),
        ("kmeans", "g.json", f"{NAME}.csv"),
        ("kmeans", f"k{NAME}.json", NAME),
        ("nmi", *PAIR, "--out", f"x{NAME}.md", "--format", "markdown"),
        (EVIL, *PAIR),
        ("nmi", *PAIR, "--format", EVIL),
        *(("mcnemar", *PAIR, "--column-pred", PAIR[4], "--format", form) for form in PAGES),
        *(("accuracy", "--classification", *TABLE, "--format", form) for form in PAGES),
        *(("sse", "--data", *FIT, "--format", form) for form in PAGES),
        *(("percent_agreement", "--raters", *RATERS, "--format", form) for form in PAGES),
        *(
            (
                "wilcoxon",
                "--trials",
                f"{NAME}.csv",
                "--column",
                FIRST,
                "--column",
                SECOND,
                "--format",
                f,
            )
            for f in PAGES
        ),
        ("sse", *PAIR),
    ],
    "spec": [(EVIL,), ("nmi[average=" + EVIL + "]",), ("OUT-TERM",)],
    "verify": [("--answers", "answers.json"), ("--answers", NAME), ("--answers", "bad.json")],
    "vectors list": [("--chapter", EVIL), ("--chapter", "43", "--json")],
    "vectors show": [(EVIL,), ("x-iir",)],
    "vectors template": [("--chapter", "43", "--out", f"v{NAME}.json"), ("--out", f"{NAME}/v")],
    "vectors export": [(f"k{NAME}.json",), (f"{NAME}.csv/x",)],
    "trace": [("--chapter", EVIL), (EVIL,)],
    "backends": [("--no-measure",), ("--no-measure", "--json"), (EVIL,)],
    "cite": [("nmi",), ("nmi", "--json"), (EVIL,), ("--json", EVIL)],
}


def safe(done: Done) -> None:
    """Nothing on either stream is anything but visible text, and no text breaks a line."""
    for stream in (done.out, done.err):
        found = RAW.search(stream)
        assert found is None, (found, stream)
        begun = re.search(r"^\s*\\x1b\]0;t", stream, re.MULTILINE)
        assert begun is None, stream


def strings(value: Any) -> set[str]:
    """All texts in a JSON value, keys included."""
    if isinstance(value, dict):
        return set().union(*map(strings, value.keys()), *map(strings, value.values()))
    if isinstance(value, list):
        return set().union(*map(strings, value))
    return {value} if isinstance(value, str) else set()


def test_every_command_has_a_hostile_run() -> None:
    assert set(RUNS) == leaves()


@pytest.mark.spec("OUT-TERM", "OUT-JSON")
@pytest.mark.parametrize("name", RUNS)
def test_nothing_raw_comes_out(name: str, hostile: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFCLUST_BACKEND", "")
    for arguments in RUNS[name]:
        done = hostile(*name.split(), *arguments)
        assert done.code in (0, 1, 2, 3, 4), (arguments, done)
        safe(done)
        assert "Traceback" not in done.err
        if "--json" in arguments and done.code == 0:
            assert done.json() is not None
        if done.code in (3, 4):
            told = [line for line in done.err.splitlines() if "not used as features" not in line]
            assert len(told) == (0 if done.out else 1)


@pytest.mark.spec("OUT-TERM")
def test_the_debugger_and_the_environment_are_no_way_round(
    hostile: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = hostile("--debug", "sniff", NAME)
    assert "Traceback" in done.err
    safe(done)
    done = hostile("--debug", "sniff", f"{NAME}.npz", "--array", EVIL, "--format", "jsonl")
    safe(done)
    done = hostile("--debug", "fit", "kmeans", f"{NAME}.npz", "-k", "2")
    assert "Traceback" in done.err
    safe(done)
    done = hostile("fit", "kmeans", NAME, "-k", "2", "--json")
    assert json.loads(done.err)["code"] == "file-not-found"
    safe(done)
    for variable in ("REFCLUST_BACKEND", "REFCLUST_DEBUG", "REFCLUST_LIMITS"):
        with monkeypatch.context() as patch:
            patch.setenv(variable, EVIL)
            safe(hostile("score", *PAIR))
            safe(hostile("backends", "--no-measure"))
    safe(hostile(EVIL))
    safe(hostile(f"--{EVIL}"))
    safe(hostile("fit", EVIL))


@pytest.mark.spec("OUT-TERM")
def test_labels_are_told_apart(hostile: Cli) -> None:
    done = hostile("explain", "matching_accuracy", *TABLE)
    assert for_terminal(ONE) in done.out
    assert f"{for_terminal(FIRST)} ↔ {for_terminal(ONE)}" in done.out
    lines = [line for line in done.out.splitlines() if "x0a" in line and "↔" not in line]
    assert len(lines) == 2  # the head, and the first cluster


@pytest.mark.spec("OUT-JSON")
def test_json_gives_back_the_text(hostile: Cli) -> None:
    done = hostile("sniff", *FIT, "--json")
    assert {ONE, *ids()[:5]} <= strings(done.json())
    done = hostile("describe", f"k{NAME}.json", f"{NAME}.csv", "--json")
    assert {FIRST, SECOND} <= strings(done.json())
    done = hostile("predict", "q.json", f"{NAME}.csv", "--proba", "--json")
    assert done.json()["ids"] == ids()
    assert done.json()["labels"] == classes()
    assert done.json()["names"] == [ONE, TWO]
    done = hostile("score", *TABLE, "-m", "matching_accuracy", "--json")
    assert done.json()["scores"][0]["matching"] == [[FIRST, ONE], [SECOND, TWO]]
    done = hostile("sniff", f"texts{NAME}\n", "--json")
    assert done.json()["first"][0]["id"] == f"0\n{NAME}.txt"


def table_of(path: str) -> list[list[str]]:
    with Path(path).open(encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines))


def rows_of(markdown: str) -> list[list[str]]:
    """The tables of a page as a renderer has them; nothing in it may be more than text."""
    tokens = MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse(markdown)
    rows: list[list[str]] = []
    for place, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        if token.type == "inline":
            kinds = {child.type for child in token.children or ()}
            assert kinds <= {"text", "softbreak", "code_inline", "strong_open", "strong_close"}
            if tokens[place - 1].type in ("th_open", "td_open"):
                rows[-1].append("".join(child.content for child in token.children or ()))
        assert token.type not in ("html_block", "code_block", "fence", "bullet_list_open", "hr")
    return rows


@pytest.mark.spec("OUT-MARKDOWN")
def test_markdown_shows_the_text(hostile: Cli) -> None:
    done = hostile("explain", "matching_accuracy", *TABLE, "--format", "markdown")
    first, second, one, two = map(for_terminal, (FIRST, SECOND, ONE, TWO))
    assert rows_of(done.out)[:4] == [
        ["", one, two, "Σ"],
        [first, "3", "1", "4"],
        [second, "0", "4", "4"],
        ["Σ", "3", "5", "8"],
    ]
    assert re.search(r"(?<![\\$])\$(?![$\\])[^\n$]*x", done.out) is None
    done = hostile("explain", "em", "g.json", f"{NAME}.csv", "--format", "markdown")
    rows = rows_of(done.out)
    assert ["", first, second] in rows
    assert [
        "",
        *(f"{name} {when}" for when in ("before", "after") for name in (first, second)),
    ] in rows
    assert f"row {for_terminal(ids()[0])}" in MarkdownIt().render(done.out).replace(
        "&lt;", "<"
    ).replace("&gt;", ">")
    done = hostile("explain", "kmeans", f"k{NAME}.json", f"{NAME}.csv", "--format", "markdown")
    rows = rows_of(done.out)
    assert ["cluster", "rows", "W", f"S {first}", f"S {second}"] in rows
    named = [f"row {for_terminal(name)}" for name in ids()[:5]]
    assert ["mass for centre", *named, "…", "all rows"] in rows
    done = hostile("explain", "em", "m.json", f"{NAME}.jsonl", "--format", "markdown")
    assert first in [row[0] for row in rows_of(done.out)]


@pytest.mark.spec("OUT-LATEX")
def test_latex_sets_the_text(hostile: Cli) -> None:
    first, second, one, two = map(for_terminal, (FIRST, SECOND, ONE, TWO))
    done = hostile("explain", "matching_accuracy", *TABLE, "--format", "latex")
    body = done.out.partition(r"\begin{tabular}{lrrr}")[2].partition(r"\end{tabular}")[0]
    rows = [
        [
            typeset(cell)
            for cell in line.replace(r"\hline", "").rstrip().removesuffix(r" \\").split(" & ")
        ]
        for line in body.strip("\n").splitlines()
    ]
    assert rows == [
        ["", one, two, "sum"],
        [first, "3", "1", "4"],
        [second, "0", "4", "4"],
        ["sum", "3", "5", "8"],
    ]
    done = hostile("explain", "em", "g.json", f"{NAME}.csv", "--format", "latex")
    found = [line.split(" & ")[0] for line in done.out.splitlines() if " & $" in line]
    assert {first, second} <= {typeset(name) for name in found if "textbackslash" in name}
    title = next(line for line in done.out.splitlines() if line.startswith(r"\subsection*{E-step"))
    assert (
        typeset(title.removeprefix(r"\subsection*{")[:-1])
        == f"E-step, row {for_terminal(ids()[0])}"
    )


@pytest.mark.spec("OUT-DATA", "DATA-FORMULA")
def test_data_are_exact_for_programs_and_shown_on_a_terminal(
    hostile: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = ("predict", f"k{NAME}.json", f"{NAME}.csv")
    printed = hostile(*call)
    rows = list(csv.reader(io.StringIO(printed.out, newline="")))
    assert [row[0] for row in rows] == ["id", *ids()]
    told = "refclust: 6 texts begin with =, +, - or @: a spreadsheet would run formulas; "
    assert printed.err == f"{told}--spreadsheet-safe puts ' before them\n"
    safer = hostile(*call, "--spreadsheet-safe")
    rows = list(csv.reader(io.StringIO(safer.out, newline="")))
    assert [row[0] for row in rows] == ["id", *(f"'{name}" for name in ids())]
    assert safer.err == ""
    calls = [call, ("sample", "q.json", "-n", "2", "--labels")]
    calls += [("fit", "kmeans", *FIT, "-k", "2", "--labels", "-")]
    several = (*PAIR, "--column-pred", PAIR[4], "--format", "csv")
    calls += [("score", *several), ("compare", *several)]
    calls += [("score", "--classification", *PAIR, "--format", "csv")]
    for arguments in calls[-3:]:  # none of whose texts is a formula
        cells = {cell for row in csv.reader(io.StringIO(hostile(*arguments).out)) for cell in row}
        assert any(EVIL in cell for cell in cells)
        assert not any(map(is_formula, cells))
    monkeypatch.setattr("refclust.cli.output._on_a_terminal", lambda: True)
    for arguments in calls:
        shown = hostile(*arguments).out  # a line end within quotes is one of the table
        assert for_terminal(EVIL) in shown
        assert RAW.search(shown) is None
    safe(hostile("convert", f"{NAME}.csv", "-", "--to", "jsonl", *READ))
    refused = hostile("convert", f"{NAME}.csv", "-", "--to", "npy", *READ)
    assert refused.code == 2
    assert refused.err == (
        "refclust: npy is no text, and a terminal cannot show it; name a file [bad-option]\n"
    )


@pytest.mark.spec("DATA-FORMULA")
def test_formulas_are_told_or_made_harmless(hostile: Cli) -> None:
    source = (f"{NAME}.csv", "out.csv", *READ)
    done = hostile("convert", *source)
    assert "14 texts begin with =, +, - or @" in done.err
    read = table_of("out.csv")
    assert read[0][:3] == ["id", FIRST, SECOND]
    assert [row[0] for row in read[1:]] == ids()
    done = hostile("convert", *source, "--force", "--spreadsheet-safe")
    assert "begin" not in done.err
    read = table_of("out.csv")
    assert read[0][:3] == ["id", f"'{FIRST}", f"'{SECOND}"]
    assert [row[-1] for row in read[1:]] == [f"'{label}" for label in classes()]
    assert [row[1] for row in read[1:]] == [repr(float(row[0])) for row in ROWS]
    refused = hostile("convert", f"{NAME}.csv", "out.npy", "--spreadsheet-safe")
    told = "refclust: --spreadsheet-safe goes with data or labels written as csv or tsv"
    assert (refused.code, refused.err) == (2, f"{told} [bad-option]\n")
    again = hostile("fit", "kmeans", *FIT, "-k", "2", "--spreadsheet-safe")
    assert (again.code, again.err) == (2, refused.err)


PLUGIN = """
    import pluggy

    from refclust.backends.protocol import Refusal

    EVIL = "\\x1b]0;t\\x07\\x9b31m\\u202e"

    class Odd:
        name = "odd" + EVIL
        api_version = 1
        accuracy = "exact"

        def kernels(self):
            raise ValueError("no\\n" + EVIL)

        def supports(self, kernel, problem):
            return Refusal("no\\n" + EVIL)

        def prepare(self, data):
            return data

        def export(self, value):
            return value

    class Broken(Odd):
        name = "broken"
        api_version = EVIL

    @pluggy.HookimplMarker("refclust")
    def refclust_register_backends():
        print(EVIL)
        return [Odd(), Broken()]
"""


@pytest.mark.spec("OUT-TERM")
def test_plugins_are_shown_too(tmp_path: Path) -> None:
    from tests.backends.plugins import put

    put(tmp_path, odd_plugin=PLUGIN)
    for arguments in (
        ("backends", "--no-measure"),
        ("backends", "--no-measure", "--json"),
        ("formats",),
        ("conform", "odd\x1b]0;t\x07\x9b31m\u202e"),
        ("conform", "broken"),
    ):
        done = command(tmp_path, *arguments, PYTHONIOENCODING="utf-8")
        assert done.code in (0, 2, 4), done
        safe(Done(*done))


@pytest.mark.spec("OUT-TERM")
def test_names_in_all_scripts_are_aligned(cli: Cli) -> None:
    names = ["東京", "محمّد", "می‌روم", "कृष्ण", "e\u0301", "👩‍💻", "❤️", "Ωmega"]
    for name in names:
        assert for_terminal(name) == name
    rows = "".join(f"{name},{i}\n" for i, name in enumerate(names))
    Path("names.csv").write_text(f"id,x\n{rows}", encoding="utf-8")
    done = cli("sniff", "names.csv", "--id-column", "id")
    assert "  東京   0\n  محمّد   1\n  می‌روم  2\n" in done.out


@pytest.mark.spec("OUT-TERM")
def test_what_nobody_listens_to_is_logged_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    notes.listen(None)
    notes.tell(f"a\n{EVIL}", warning=True)
    assert caplog.messages == [f"a\\x0a{for_terminal(EVIL)}"]
    notes.listen(None)


@pytest.mark.spec("OUT-TERM")
def test_the_shell_is_offered_no_hidden_names(monkeypatch: pytest.MonkeyPatch) -> None:
    class Found:
        state = "ready"

        def __init__(self, name: str) -> None:
            self.name = name

    monkeypatch.setattr(
        "refclust.backends.plugins.discovery.discover", lambda: [Found("quick"), Found(EVIL)]
    )
    assert complete_backend("") == ["auto", "quick"]


@pytest.mark.spec("OUT-LATEX", "OUT-TERM")
def test_a_number_may_have_any_name() -> None:
    steps = (log(2) / 3).named(f"a\n{EVIL}").steps()
    assert steps.text().splitlines()[0] == f"{for_terminal(f'a{chr(10)}{EVIL}')} = log(2) / 3"
    name = steps.steps[0].latex.removeprefix(r"\text{").removesuffix("}")
    assert typeset(name) == for_terminal(f"a\n{EVIL}")
    assert log(2).named("Σ_i F_i").steps().steps[0].latex == "Σ_i F_i"


def test_the_progress_line_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from refclust.cli.output import Line

    written = io.StringIO()
    monkeypatch.setattr(written, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stderr", written)
    line = Line()
    line.show(f"a\n{EVIL}")
    line.show("東")
    line.clear()
    assert RAW.search(written.getvalue().replace("\r", "")) is None
    shown = for_terminal(f"a\n{EVIL}")
    assert written.getvalue() == f"\r{shown}\r東{' ' * (len(shown) - 2)}\r  \r"


def test_hostile_files_are_really_there(hostile: Cli, tmp_path: Path) -> None:
    assert hostile is not None
    found = {name for _, folders, files in os.walk(tmp_path) for name in (*folders, *files)}
    assert sum(RAW.search(name) is not None for name in found) >= 10
