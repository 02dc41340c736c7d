"""Verifying: a wrong answer is a failure that says what was expected; strangers are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from refclust.backends.session import Session
from refclust.errors import BadAnswersFile, BadVectorFile, FileNotReadable
from refclust.vectors import verify
from refclust.vectors.answers import Refused
from refclust.vectors.runners import subjects


def answers(path: Path, content: Any) -> Path:
    path.write_text(json.dumps({"format": "refclust-answers/1", "answers": content}))
    return path


def test_right_and_wrong_answers_are_told_apart(tmp_path: Path) -> None:
    given = {
        "g-five": {"rand": "3/5", "nmi": 0.43253806776631254, "jaccard": 0.5},
        "deg-12": {"nmi": None, "purity": 1.0},
        "refuse-length": {"error": "label-length-mismatch"},
        "refuse-empty": {"error": "bad-table"},
    }
    report = verify.judge_answers(answers(tmp_path / "a.json", given))
    judged = {file.name: (file.values, file.passed) for file in report.files if file.values}
    assert judged == {
        "40-contingency/labels.json": (2, 1),
        "41-metrics/degenerate.json": (2, 2),
        "41-metrics/worked.json": (3, 2),
    }
    failures = [failure for file in report.files for failure in file.failures]
    assert failures == [
        verify.Failure("refuse-empty", "(the case)", "empty-input", "error bad-table"),
        verify.Failure("g-five", "jaccard", "1/3", "0.5"),
    ]
    assert not report.ok


def test_only_judges_some_files(tmp_path: Path) -> None:
    path = answers(tmp_path / "a.json", {"g-five": {"jaccard": 0.5}, "deg-12": {"purity": 1}})
    report = verify.judge_answers(path, "degenerate")
    assert report.ok
    assert [file.name for file in report.files] == ["41-metrics/degenerate.json"]


def test_no_answers_is_not_a_success(tmp_path: Path) -> None:
    assert not verify.judge_answers(answers(tmp_path / "a.json", {})).ok


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"no-such-case": {}}, "no case is called 'no-such-case'"),
        ({"g-five": {"rnad": 1}}, "the case 'g-five' has no key 'rnad'"),
        ({"g-five": {"rand": "three fifths"}}, "rand of g-five is 'three fifths'"),
        ({"g-five": 3}, '"answers" must map each case to an object of its keys'),
        (3, '"answers" must map each case to an object of its keys'),
    ],
)
def test_bad_answers_files(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(BadAnswersFile) as caught:
        verify.judge_answers(answers(tmp_path / "a.json", content))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "is not JSON"), ("[]", '"format": "refclust-answers/1" is expected')],
)
def test_files_that_are_no_answers(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(BadAnswersFile) as caught:
        verify.judge_answers(path)
    assert message in str(caught.value)
    with pytest.raises(FileNotReadable, match="no such file"):
        verify.judge_answers(tmp_path / "nothing.json")


def test_a_template_lists_every_case_and_key() -> None:
    made = verify.template("distributions")
    assert made["format"] == "refclust-answers/1"
    assert made["answers"]["kl-one-way"] == {"kl": None, "kl[base=2]": None}


def test_an_unknown_file_lists_the_known_ones() -> None:
    with pytest.raises(FileNotReadable, match=r"no vector file matches 'xyz'; there are: 05-num"):
        verify.load("xyz")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "JSONDecodeError"),
        ('{"format": "other"}', "format 'other', expected 'refclust-vectors/1'"),
        ('{"format": "refclust-vectors/1", "cases": [{}]}', "KeyError: 'id'"),
        ("[]", "TypeError"),
        ("[" * 10**5, "nested too deeply"),
    ],
)
def test_bad_vector_files(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "vectors").mkdir()
    (tmp_path / "vectors" / "a.json").write_text(text)
    with pytest.raises(BadVectorFile) as caught:
        verify.load(root=tmp_path)
    assert str(caught.value).startswith("a.json: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("subject", "key"),
    [
        ("no.subject", "rand"),
        ("information.distributions", "entropi"),
        ("numbers.real", "valu"),
        ("data.vectors", "dott"),
        ("numbers.sampling", "sample"),
    ],
)
def test_runners_refuse_what_they_do_not_know(subject: str, key: str) -> None:
    given = {"expression": "1", "seed": "1", "p": ["1"], "x": ["1"], "y": ["1"]}
    session = Session("reference")
    if subject == "no.subject":
        with pytest.raises(BadVectorFile, match=r"no runner for the subject 'no\.subject'"):
            subjects.answer(subject, given, key, session)
    else:
        answer = subjects.answer(subject, given, key, session)
        assert answer == Refused("bad-vector-file")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("1e400", "jaccard of g-five is beyond the largest double; write 'inf' for an infinity"),
        ("-1e400", "is beyond the largest double"),
        ("NaN", "jaccard of g-five: NaN is no finite number"),
        ("[1, Infinity]", "jaccard of g-five[1]: Infinity is no finite number"),
        ("9" * 5000, "jaccard of g-five: an integer of 5000 digits is too long"),
        ("[" * 900 + "]" * 900, "lists are nested more than 16 deep"),
        ("[" * 10**5 + "]" * 10**5, "nested too deeply"),
        ('{"a": 1, "a": 2}', "jaccard of g-five: the key 'a' occurs twice"),
        ('1, "jaccard": 2', "a.json: 'g-five': the key 'jaccard' occurs twice"),
        ("true", "jaccard of g-five is True; allowed are a number"),
        ("{}", "jaccard of g-five is an object; allowed are a number"),
        (json.dumps("a" * 10**6), "is 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'; allowed are"),
        ('"1e999999999/3"', "is '1e999999999/3'; allowed are"),
    ],
)
def test_answers_that_are_none(tmp_path: Path, value: str, message: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(
        f'{{"format": "refclust-answers/1", "answers": {{"g-five": {{"jaccard": {value}}}}}}}'
    )
    with pytest.raises(BadAnswersFile) as error:
        verify.judge_answers(path)
    assert message in str(error.value)
    assert "a.json" in str(error.value)


@pytest.mark.parametrize("value", ["1" + "0" * 400, '"' + "9" * 9000 + '/7"', '"1e400"'])
def test_answers_beyond_the_doubles_are_wrong(tmp_path: Path, value: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(
        f'{{"format": "refclust-answers/1", "answers": {{"g-five": {{"jaccard": {value}}}}}}}'
    )
    report = verify.judge_answers(path)
    assert sum(len(file.failures) for file in report.files) == 1
