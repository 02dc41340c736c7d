"""``explain``, ``spec``, ``trace``, ``backends`` and ``demo``: what they print and refuse."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from refclust.backends.choosing.firstcall import FirstCall
from refclust.kernels.registry import KERNELS
from refclust.trace import check, matrix, scan, show
from refclust.trace.locks import lock
from refclust.version import __version__
from tests.backends.plugins import GOOD, installed
from tests.cli.conftest import Cli


@pytest.fixture(autouse=True)
def one_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading all sources takes seconds; no test here changes them."""
    monkeypatch.setattr(show, "scan", scanned)


scanned = cache(scan.scan)

# -- explain ----------------------------------------------------------------------------------


def test_explain_shows_the_derivation(cli: Cli) -> None:
    done = cli("explain", "purity", "true.txt", "pred.txt")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "purity: Purity"
    assert "  1  0  1  5   6" in lines
    assert any("12/17" in line for line in lines)


@pytest.mark.parametrize(
    ("form", "sign"), [("text", "rows are clusters"), ("markdown", "| --"), ("latex", "\\begin")]
)
def test_explain_writes_files(cli: Cli, form: str, sign: str) -> None:
    call = ("explain", "nmi", "--table", "table.csv", "--format", form, "--out", "x.out")
    done = cli(*call)
    assert (done.code, done.out, done.err) == (0, "", "refclust: wrote x.out\n")
    text = Path("x.out").read_text(encoding="utf-8")
    assert sign.replace("| --", "|---") in text
    assert text.endswith("\n")
    Path("x.out").write_text("mine", encoding="utf-8")
    refused = cli(*call)
    assert refused.code == 3
    assert refused.err == "refclust: x.out exists already; --force replaces it [exists]\n"
    assert Path("x.out").read_text(encoding="utf-8") == "mine"
    assert cli(*call, "--force").code == 0
    assert Path("x.out").read_text(encoding="utf-8") == text
    assert sorted(path.name for path in Path().iterdir()) == [
        "both.csv",
        "pred.txt",
        "table.csv",
        "true.txt",
        "x.out",
    ]


def test_explain_refuses(cli: Cli) -> None:
    assert cli("explain", "nmii", "true.txt", "pred.txt").code == 2
    assert cli("explain", "nmi[base=2]", "no.txt", "no.txt").err.endswith("[unknown-option]\n")
    assert cli("explain", "nmi").err.endswith("[bad-option]\n")
    done = cli("explain", "nmi", "true.txt", "pred.txt", "--out", "no/x.md")
    assert (done.code, done.err) == (
        3,
        "refclust: cannot write no/x.md: there is no folder no [file-not-found]\n",
    )
    Path("folder").mkdir()
    done = cli("explain", "nmi", "true.txt", "pred.txt", "--out", "folder", "--force")
    assert (done.code, list(Path("folder").iterdir())) == (3, [])


def test_explain_tells_the_backend(cli: Cli) -> None:
    done = cli("explain", "ami", "true.txt", "pred.txt", "--backend", "loopback")
    assert done.code == 0
    assert done.err == (
        f"refclust: contingency.table ran on loopback (refclust {__version__}), "
        f"information.expected_mi ran on loopback (refclust {__version__})\n"
    )


# -- spec -------------------------------------------------------------------------------------


@pytest.mark.long
def test_spec_shows_a_clause(cli: Cli) -> None:
    done = cli("spec", "ari")
    assert done.code == 0
    assert done.out.startswith("ARI  Adjusted Rand index\nnormative clause of chapter 42-pairs, ")
    assert "def adjusted_rand(" in done.out


def test_spec_of_a_metric(cli: Cli) -> None:
    lines = cli("spec", "nmi").out.splitlines()
    assert lines[:5] == [
        "Metric  nmi: Normalised mutual information",
        "Also    normalized_mutual_information",
        "Forms   nmi[average=arithmetic] (NMI-ARI), nmi[average=min] (NMI-MIN), "
        "nmi[average=max] (NMI-MAX), nmi[average=joint] (NMI-JOINT)",
        "",
        "NMI-GEO  Normalised mutual information",
    ]
    answer = cli("spec", "nmi[average=max]", "--json").json()
    assert [one["id"] for one in answer["clauses"]] == ["NMI-MAX"]
    answer = cli("spec", "acc", "--json").json()
    assert [one["id"] for one in answer["clauses"]] == ["MATCH", "CLACC"]
    lines = cli("spec", "rand_index").out.splitlines()
    assert lines[2] == "Options pairs=unordered|ordered"


def test_spec_lists_everything(cli: Cli) -> None:
    done = cli("spec")
    assert done.code == 0
    assert "00 Conventions\n  CONV-READ " in done.out
    answer = cli("spec", "--json").json()
    count = sum(len(one["clauses"]) for one in answer["chapters"])
    assert f"\n{count} clauses in {len(answer['chapters'])} chapters; " in done.out


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "purr",
            "'purr' is neither a clause nor a metric nor a method; did you mean purity, PUR",
        ),
        (
            "%%%",
            "'%%%' is neither a clause nor a metric nor a method; `refclust spec` lists all",
        ),
        ("rep-cooc", "REP-COOC has no clause (planned): words as vectors of co-occurrence counts"),
    ],
)
def test_spec_of_what_does_not_exist(cli: Cli, name: str, message: str) -> None:
    done = cli("spec", name)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"refclust: {message}")
    assert done.err.endswith("[unknown-clause]\n")


# -- trace ------------------------------------------------------------------------------------

PROBLEMS = [
    check.TraceProblem("no-golden", "spec/41-matching.md", 7, "normative clause PUR has no golden"),
    check.TraceProblem("code-drift", "refclust/x.py", 3, "x changed since the lock of ARI"),
]


@pytest.mark.long
def test_trace_shows_the_matrix(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    built = matrix.build()
    monkeypatch.setattr(matrix, "build", lambda: built)  # it takes seconds
    done = cli("trace")
    assert done.code == 0
    assert done.out == built.text() + "\n"
    part = cli("trace", "--chapter", "43")
    assert "NMI-GEO" in part.out
    assert "PUR-INV" not in part.out
    answer = cli("trace", "--chapter", "43-information", "--json").json()
    assert {row["chapter"] for row in answer["clauses"]} == {"43-information"}


def test_trace_check(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "problems", lambda: PROBLEMS)
    done = cli("trace", "--check")
    assert (done.code, done.err) == (1, "")
    assert done.out == (
        "spec/41-matching.md:7: normative clause PUR has no golden [no-golden]\n"
        "refclust/x.py:3: x changed since the lock of ARI [code-drift]\n"
        "\n2 problems: 1 code-drift, 1 no-golden\n"
    )
    assert cli("trace", "--check", "--chapter", "42", "--json").json() == {
        "schema": "refclust-trace/1",
        "updated": None,
        "problems": [PROBLEMS[1].plain()],
    }
    assert cli("trace", "--check", "--chapter", "44").code == 0
    monkeypatch.setattr(check, "problems", list)
    done = cli("trace", "--check")
    assert (done.code, done.out) == (0, "every clause is traced: no problem found\n")


def test_trace_update(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(matrix.__file__).parents[2]
    monkeypatch.setattr(lock, "update", lambda: [root / "spec" / "locks" / "x.lock"])
    done = cli("trace", "--update")
    assert (done.code, done.out, done.err) == (0, "", "refclust: renewed spec/locks/x.lock\n")
    assert cli("trace", "--update", "--json").json()["updated"] == ["spec/locks/x.lock"]
    monkeypatch.setattr(lock, "update", list)
    assert cli("trace", "--update").err == "refclust: all locks are as they should be\n"


def test_trace_refuses_a_chapter(cli: Cli) -> None:
    assert "--chapter '77' is no chapter; there are: 00-" in cli("trace", "--chapter", "77").err
    assert "--chapter '4' is not one chapter" in cli("trace", "--chapter", "4").err


# -- backends ---------------------------------------------------------------------------------


def test_backends(cli: Cli) -> None:
    done = cli("backends")
    assert (done.code, done.err) == (0, "")
    kernels = f"all {len(KERNELS)}"
    assert done.out == (
        "backend    state  from            accuracy  kernels\n"
        f"reference  ready  refclust {__version__}  exact     {kernels}\n"
        f"loopback   ready  refclust {__version__}  exact     {kernels}\n"
        "\nused unless --backend says otherwise: auto (the default)\n"
        "auto takes, for each kernel, the fastest exact backend that supports the problem\n"
        f"kernels: {', '.join(sorted(KERNELS))}\n"
    )


def test_the_first_call_of_a_plugin_is_told(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFCLUST_DISABLE_PLUGINS", "0")
    asked = []

    def measured(backend: Any) -> FirstCall | None:
        asked.append(backend.name)
        return FirstCall("contingency.table", 1.5, 0.0025) if backend.name == "quick" else None

    monkeypatch.setattr("refclust.backends.choosing.firstcall.first_call", measured)
    with installed(tmp_path, rc_quick=GOOD):
        done = cli("backends")
        answer = cli("backends", "--json").json()
    assert "reference" not in asked
    # How wide a column is depends on what others have checked here.
    words = " ".join(done.out.split())
    assert "accuracy checked first call kernels" in words
    assert "exact not yet 1.50 s, then 2.50 ms contingency.table" in words
    found = {one["name"]: one["first_call"] for one in answer["backends"]}
    assert found["reference"] is None
    assert found["quick"] == {
        "text": "1.50 s, then 2.50 ms",
        "kernel": "contingency.table",
        "seconds": 1.5,
        "again": 0.0025,
    }


def test_backends_of_plugins(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFCLUST_DISABLE_PLUGINS", "0")
    monkeypatch.setenv("REFCLUST_BACKEND", "quick")
    lazy = GOOD.replace('"quick"', '"lazy"').replace(
        'return {"contingency.table": self.table}', "import refclust_has_no_such_library"
    )
    with installed(tmp_path, rc_broken="1 / 0", rc_lazy=lazy, rc_quick=GOOD):
        done = cli("backends", "--no-measure")
        answer = cli("backends", "--no-measure", "--json").json()
        ran = cli("score", "true.txt", "pred.txt", "-m", "ami")
    ours = ("rc_broken", "lazy", "quick")
    lines = [line.split(maxsplit=6) for line in done.out.splitlines() if line.startswith(ours)]
    assert [line[:2] for line in lines] == [
        ["rc_broken", "failed"],
        ["lazy", "failed"],
        ["quick", "ready"],
    ]
    assert lines[0][6] == "ZeroDivisionError: division by zero"
    assert lines[1][6].startswith("kernels(): ModuleNotFoundError: ")
    assert "used unless --backend says otherwise: quick ($REFCLUST_BACKEND)\nkernels: " in done.out
    assert answer["default"] == "quick"
    assert next(one for one in answer["backends"] if one["name"] == "quick") == {
        "name": "quick",
        "distribution": "rc_quick",
        "version": "1.2.3",
        "state": "ready",
        "reason": "",
        "accuracy": "exact",
        "kernels": ["contingency.table"],
        "checked": {"state": "not yet", "passed": [], "when": None, "fault": None},
        "first_call": None,
    }
    assert ran.err == (
        "refclust: contingency.table ran on quick (rc_quick 1.2.3), "
        "information.expected_mi ran on the reference (quick: it has no such kernel)\n"
    )


# -- demo -------------------------------------------------------------------------------------


def test_demo(cli: Cli) -> None:
    done = cli("demo")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 100
    for line in (
        "     cluster 1      5       1        0    6",
        "     adjusted_rand      ↑ 0.242914979757085    = 60/247",
        "     --profile genieclust    nan",
        "     nmi = I / √(H(C) · H(T))",
        "             1  -11.109695691  -10.270310247  -9.812432320  rises",
        "   def mutual_information(table: Contingency, *, base: Rational | None = None) -> Real:",
    ):
        assert line in lines
    assert any(line.endswith("values are equal, bit for bit.") for line in lines)


def test_demo_notices_a_broken_installation(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refclust.vectors.answers.passes", lambda expected, _: "exact" in expected)
    out = cli("demo").out
    assert "values are WRONG: " in out
    assert "This installation is broken; `refclust verify` tells more." in out
