"""``refclust verify`` and ``refclust vectors``: judging answers, exporting without loss."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from refclust.cli.commands.proof.export import MARKER
from refclust.vectors.verify import load
from refclust.version import __version__
from tests.cli.conftest import Cli


def test_verify(cli: Cli) -> None:
    done = cli("verify", "--chapter", "errata", "--backend", "loopback")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("41-metrics/errata.json ")
    assert lines[0].endswith("  ok")
    assert lines[2].startswith("all ")
    assert lines[2].endswith(" values right, to the last bit")
    answer = cli("verify", "--chapter", "errata", "--json").json()
    assert (answer["ok"], answer["files"][0]["failures"]) == (True, [])


def answer_to(expected: dict[str, Any]) -> Any:
    """An expected value as a program would write it."""
    if "list" in expected:
        return [answer_to(one) for one in expected["list"]]
    return expected.get("exact") or expected.get("binary64")


def fill_in(cli: Cli) -> dict[str, dict[str, Any]]:
    """Write an answers file to one vector file, filled in with what is expected."""
    assert cli("vectors", "template", "--chapter", "errata", "--out", "a.json").code == 0
    form = json.loads(Path("a.json").read_text(encoding="utf-8"))
    [file] = load("errata")
    assert list(form["answers"]) == [case.id for case in file.cases]
    for case in file.cases:
        for key in form["answers"][case.id]:
            form["answers"][case.id][key] = answer_to(case.expect[key])
    write(form["answers"])
    return form["answers"]  # type: ignore[no-any-return]


def write(answers: dict[str, dict[str, Any]]) -> None:
    form = {"format": "refclust-answers/1", "answers": answers}
    Path("a.json").write_text(json.dumps(form), encoding="utf-8")


def test_answers_of_another_program(cli: Cli) -> None:
    answers = fill_in(cli)
    call = ("verify", "--answers", "a.json", "--chapter", "errata")
    assert cli(*call).code == 0
    case, keys = next(iter(answers.items()))
    key = next(iter(keys))
    keys[key] = "12345/7"
    write({case: keys})
    done = cli(*call)
    assert (done.code, done.err) == (1, "")
    lines = done.out.splitlines()
    assert lines[0].endswith("  1 WRONG")
    assert lines[2] == f"{case}  {key}  (41-metrics/errata.json)"
    assert lines[4] == "  got       12345/7"
    failure = cli(*call, "--json").json()["files"][0]["failures"][0]
    assert (failure["case"], failure["key"], failure["got"]) == (case, key, "12345/7")


def test_many_failures_are_cut_short(cli: Cli) -> None:
    answers = fill_in(cli)
    write({case: dict.fromkeys(keys, "12345/7") for case, keys in answers.items()})
    lines = cli("verify", "--answers", "a.json").out.splitlines()
    assert sum(line == "  got       12345/7" for line in lines) == 20
    assert any(line.startswith("and ") and line.endswith(" more") for line in lines)
    assert lines[0].endswith("  not judged")


def test_verify_refuses(cli: Cli) -> None:
    write({})
    done = cli("verify", "--answers", "a.json")
    assert done.code == 1
    assert done.out.endswith("\nno value was judged: the answers are empty\n")
    assert cli("verify", "--answers", "a.json", "--backend", "reference").code == 2
    assert cli("verify", "--answers", "no.json").err.endswith("[file-not-found]\n")
    Path("a.json").write_text("{", encoding="utf-8")
    assert cli("verify", "--answers", "a.json").err.endswith("[bad-answers-file]\n")
    assert cli("verify", "--chapter", "nothing").code == 3
    assert cli("verify", "--backend", "gpu").code == 4


def test_vectors_list(cli: Cli) -> None:
    done = cli("vectors", "list", "--chapter", "41")
    assert (done.code, done.err) == (0, "")
    files = cli("vectors", "list", "--chapter", "41", "--json").json()["files"]
    values = sum(file["values"] for file in files)
    cases = sum(len(file["cases"]) for file in files)
    assert f"\n{values:,} values in {cases:,} cases; " in done.out
    assert all(f"\n{file['name']} " in done.out for file in files)


def test_vectors_show(cli: Cli) -> None:
    lines = cli("vectors", "show", "x-iir").out.splitlines()
    assert lines[0].startswith("x-iir  the 17 objects of the purity figure")
    assert lines[4:8] == [
        "  table (rows are clusters, columns are classes)",
        "    5  1  0",
        "    1  4  1",
        "    2  0  3",
    ]
    assert [line.split() for line in lines if line.startswith("  adjusted_rand ")] == [
        ["adjusted_rand", "60/247", "0x1.f17d68ae1f17dp-3"]
    ]
    assert [line.split("  ")[-1] for line in lines if line.startswith("  cluster_purity ")] == [
        "[5/6, 2/3, 3/5]"
    ]
    assert cli("vectors", "show", "deg-e").out.endswith("\nexpected\n  the error empty-input\n")
    done = cli("vectors", "show", "x-iirr")
    assert done.code == 2
    assert done.err == "refclust: no case is called 'x-iirr'; did you mean x-iir? [bad-option]\n"


def test_vectors_template_prints_and_refuses(cli: Cli) -> None:
    form = cli("vectors", "template", "--chapter", "errata").json()
    assert form["format"] == "refclust-answers/1"
    Path("a.json").write_text("mine", encoding="utf-8")
    assert cli("vectors", "template", "--out", "a.json").err.endswith("[exists]\n")
    assert Path("a.json").read_text(encoding="utf-8") == "mine"


def test_vectors_export(cli: Cli) -> None:
    done = cli("vectors", "export", "deep/out")
    assert (done.code, done.out) == (0, "")
    out = Path("deep/out")
    assert done.err.startswith("refclust: wrote ")
    assert (out / "vectors" / "41-metrics" / "worked.json").is_file()
    assert (out / "schema" / "vectors.schema.json").is_file()
    assert f"Golden vectors of refclust {__version__}" in (out / "README.md").read_text(
        encoding="utf-8"
    )
    assert [path.name for path in Path("deep").iterdir()] == ["out"]

    (out / "mine.txt").write_text("kept until forced", encoding="utf-8")
    assert cli("vectors", "export", "deep/out").err == (
        "refclust: deep/out holds an earlier export; --force replaces it [exists]\n"
    )
    assert (out / "mine.txt").is_file()
    assert cli("vectors", "export", "deep/out", "--force").code == 0
    assert not (out / "mine.txt").exists()
    assert (out / MARKER).is_file()
    assert [path.name for path in Path("deep").iterdir()] == ["out"]


def test_vectors_export_never_deletes_what_it_did_not_write(cli: Cli) -> None:
    Path("home").mkdir()
    assert cli("vectors", "export", "home").code == 0  # an empty folder is as good as none
    Path("other").mkdir()
    Path("other/thesis.tex").write_text("years of work", encoding="utf-8")
    for arguments in ((), ("--force",)):
        done = cli("vectors", "export", "other", *arguments)
        assert (done.code, done.err) == (
            3,
            "refclust: other is not empty and no export of refclust; name a new folder [exists]\n",
        )
        assert [path.name for path in Path("other").iterdir()] == ["thesis.tex"]
    assert cli("vectors", "export", "table.csv").err.endswith("is not a folder [exists]\n")


def test_vectors_export_leaves_nothing_half_done(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    before = sorted(Path().iterdir())
    monkeypatch.setattr("shutil.copytree", full)
    done = cli("vectors", "export", "out")
    assert (done.code, done.err) == (
        3,
        "refclust: cannot write out: no space left on device [file-not-found]\n",
    )
    assert sorted(Path().iterdir()) == before


def test_vectors_needs_a_command(cli: Cli) -> None:
    assert cli("vectors").code == 2
