"""Whole command lines: a call that works, with options of the command as the program declares them.

Commands and options are asked of the program itself, so that a new one is fuzzed from its first
day on. Calls that only take long (whole kits) or change the checkout are left out.
"""

from __future__ import annotations

import functools
import io
import json
import os
import re
import sys
from collections.abc import Mapping
from typing import Any, Final

import typer

from refclust.cli import lazy
from refclust.cli.app import app, run
from refclust.vectors import verify
from tests.fuzz.cases import ACCEPTED, Broken, Case, Draw, Ended, Target
from tests.fuzz.mutations import changed_bytes
from tests.fuzz.numerals import hostile, odd, word
from tests.fuzz.targets import answers, files

_LEFT_OUT: Final = ("conform", "demo", "trace", "vectors export")
_NEVER: Final = ("--install-completion", "--show-completion", "--help")
_FIXED: Final = ("verify", "backends")  # without its arguments it does far more
_CODES: Final = (0, 1, 2, 3, 4)
_FAULT: Final = 70
_PLACE: Final = re.compile(r'File "[^"]*[/\\](refclust[/\\][^"]*)", line \d+, in (\w+)')

CALLS: Final[Mapping[str, str]] = {
    "fit kmeans": "rows.csv -k 2",
    "fit bisecting": "rows.csv -k 2",
    "fit agglomerative": "rows.csv -k 2",
    "fit gaussian": "rows.csv -k 2 --floor 0.1",
    "fit multinomial": "counts.svm -k 2 --m 1",
    "fit bernoulli": "bits.csv -k 2 --m 1",
    "fit geometric": "bits.csv -k 2 --m 1",
    "fit poisson": "bits.csv -k 2 --m 1",
    "fit naive-bayes": "counted.csv --label-column label --smoothing laplace",
    "fit qda": "labelled.csv --label-column label --floor 0.1",
    "fit lda": "labelled.csv --label-column label --floor 0.1",
    "fit nearest-gaussian": "labelled.csv --label-column label --floor 0.1",
    "select": "rows.csv -k 1..2 --restarts 1 --floor 0.1",
    "predict": "kmeans.json rows.csv",
    "sample": "gaussian.json -n 3",
    "describe": "kmeans.json",
    "sniff": "rows.csv",
    "convert": "rows.csv out.jsonl",
    "formats": "",
    "score": "true.txt pred.txt -m ari",
    "explain": "nmi true.txt pred.txt",
    "spec": "no-such-clause",  # a clause that exists has all sources read
    "verify": "--answers answers.json",
    "backends": "--no-measure",
    "vectors list": "--chapter 41",
    "vectors show": "refused",
    "vectors template": "--chapter 43",
}
_RARE: Final = ("spec", "formats", "backends", "verify", "vectors list", "vectors show",
                "vectors template", "select")  # fmt: skip
_INPUTS: Final = {
    "centres": ("centres.csv", "rows.csv"),
    "stop_words": ("stop.txt", "true.txt"),
    "start_labels": ("start.txt", "both.csv:true", "both.csv:9"),
    "table": ("table.csv", "table.json", "rows.csv"),
    "weights": ("weights.txt", "both.csv:weight", "true.txt"),
    "start_model": ("gaussian.json", "kmeans.json", "multinomial.json"),
    "answers": ("answers.json", "table.json"),
    "distances": ("distances.csv", "rows.csv"),
}
_OUTPUTS: Final = ("model", "out", "trace", "checkpoint", "dendrogram", "newick")
# What only asks for more of the same work is kept small: whoever asks for a year of it gets it.
_WORK: Final = ("restarts", "trials", "references", "folds", "samples", "rows", "n", "limit", "top")
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "covariance": ("full", "tied", "diagonal", "EII", "VVV", "VEV", "all", "full,tied", "XXX"),
    "columns": ("x", "y,x", "x:y", "1-2", "*", "z*", "", ",", '"x', "y:x", "x,x", "2-", "x*,[y]"),
    "exclude": ("x", "y", "*", "2-", "label", "z", "", "1:1"),
    "categorical": ("x", "label", "y,x", "*", "z", ""),
    "delimiter": (",", "tab", ";", "comma", ";;", "\\t", "é"),
    "format": ("csv", "tsv", "jsonl", "svmlight", "lines", "npy", "nosuch", "folder", "ldac"),
    "to": ("csv", "jsonl", "npy", "npz", "svmlight", "matrixmarket", "nosuch"),
    "min_df": ("1", "2", "50%", "1/2", "0.5", "0", "-1", "1/0", "101%", "%", "1e9", "1e999999999"),
    "max_df": ("1", "2", "50%", "1/2", "0", "٣", "1e-999999999%", "nan", "inf"),
    "k": ("1..3", "2", "2,3", "1..", "..", "3..1", "1..999999", "1..1,1", "0", "a..b", "1,,2"),
    "metric": ("ari", "nmi", "nmi[average=min]", "nmi[", "ami", "nosuch", "v_measure[beta=2]"),
    "profile": ("sklearn", "mclust", "torchmetrics", "nosuch"),
    "backend": ("reference", "auto", "nosuch", "numpy"),
    "labels": (
        "out.csv",
        "out.jsonl",
        "out.tsv.gz",
        "-",
        "label",
        "true.txt",
        "out.nosuch",
        "both.csv:true",
    ),
    "noise": ("1", "x", ""),
    "limit": (
        "digits=100",
        "line=1k",
        "memory=1m",
        "nosuch=1",
        "line=",
        "digits=٣",
        "columns=9g,line=1",
    ),
    "start": ("kmeans", "points", "random", "varied", "k-means++", "nosuch"),
    "array": ("X", "y", "0"),
    "chapter": ("41", "43", "nosuch"),
    "length": ("3", "0.5", "nan", "-1", "1e300"),
}
_INTEGERS: Final = ("1", "2", "3", "5", "0", "-1", "x", "1.5", "", "٣", "1_0", "+3", " 3 ", "0x10")
_LARGE: Final = ("99999999999999999999", "9" * 5000, "9223372036854775808", "4294967296")
_FLOATS: Final = ("0", "1", "0.5", "1e-3", "nan", "inf", "-1", "1e400", "", "1e-400", "0.1.2", "٣")


@functools.cache
def commands() -> Mapping[str, tuple[Any, ...]]:
    """The parameters of every command, by its words; those of the program itself under no words."""
    root = typer.main.get_command(app)
    found: dict[str, tuple[Any, ...]] = {"": _usable(root)}
    todo: list[tuple[str, Any, Any]] = [("", root, root.context_class(root, info_name="refclust"))]
    for path, command, context in todo:
        if not hasattr(command, "commands"):
            found[path] = _usable(command)
            continue
        for name in list(command.commands):
            _, inner, _ = command.resolve_command(context, [name])
            below = inner.context_class(inner, info_name=name, parent=context)
            todo.append((f"{path} {name}".strip(), inner, below))
    return {path: found[path] for path in found if path not in _LEFT_OUT}


def _usable(command: Any) -> tuple[Any, ...]:
    options = [one for one in command.params if one.param_type_name == "option"]
    return tuple(one for one in options if not set(one.opts) & set(_NEVER))


def _made(draw: Draw) -> Case:
    known = [path for path in commands() if path]
    path = draw.pick(known)
    if path in _RARE and draw.chance(0.8):
        path = draw.pick([one for one in known if one not in _RARE])
    # A command that nobody has described here yet is still called, with a file and options.
    arguments = CALLS.get(path, "rows.csv").split()
    for _ in range(draw.pick((0, 1, 1, 2, 3))):
        if commands()[path]:
            arguments += _given(draw, draw.pick(commands()[path]))
    if draw.chance(0.3) and any("--json" in one.opts for one in commands()[path]):
        arguments.append("--json")
    if draw.chance(0.15) and path not in _FIXED:
        arguments = _shaken(draw, arguments)
    if path == "convert" and draw.chance(0.5):
        arguments[:2] = [draw.pick(files.DATA), f"out{draw.pick(files.ENDINGS)}"]
    elif path == "sniff" and draw.chance(0.7):
        arguments[:1] = [draw.pick(files.DATA)]
    elif path in ("predict", "describe") and draw.chance(0.6):
        arguments[:1] = [draw.pick(files.MODELS)]
    before = _given(draw, draw.pick(commands()[""])) if draw.chance(0.06) else []
    words = [one.replace("\x00", "") for one in (*before, *path.split(), *arguments)]
    named = {word.partition(":")[0] for word in words} | {"rows.csv"}
    given = {name: content for name, content in files.pool().items() if name in named}
    if draw.chance(0.15):
        name = draw.pick(tuple(given))
        given[name] = changed_bytes(draw, given[name])
    return Case(given, {"arguments": words})


def _given(draw: Draw, option: Any) -> list[str]:
    name = draw.pick([*option.opts, *option.secondary_opts])
    if option.is_flag:
        return [name]
    value = _value(draw, option)
    return [f"{name}={value}"] if name.startswith("--") and draw.chance(0.3) else [name, value]


def _value(draw: Draw, option: Any) -> str:
    if draw.chance(0.04):
        return draw.pick((odd, hostile, word))(draw).replace("\x00", "")
    choices = getattr(option.type, "choices", None)
    if choices:
        return str(draw.pick(tuple(choices)))
    kind, name = getattr(option.type, "name", ""), option.name
    if kind.startswith("integer"):
        large = name not in _WORK and draw.chance(0.1)
        return draw.pick(_LARGE if large else _INTEGERS)
    if kind.startswith("float"):
        return draw.pick(_FLOATS)
    if name in _INPUTS:
        return draw.pick(_INPUTS[name])
    if name in _OUTPUTS:
        return draw.pick(("out.json", "out.csv", "out", "-", "rows.csv", "no/such/out", "."))
    if name in _WORDS:
        return draw.pick(_WORDS[name])
    return draw.pick(("x", "y", "1", "2", "9", "label", word(draw)))


def _shaken(draw: Draw, arguments: list[str]) -> list[str]:
    found = list(arguments)
    at = draw.upto(len(found))
    match draw.upto(3):
        case 0 if found:
            del found[at - 1]
        case 1 if found:
            found.insert(at, draw.pick(found))
        case 2 if found:
            found[at - 1] = draw.pick(("-", "--", "-x", "--nosuch", ".", "nosuch.csv", odd(draw)))
        case _:
            found.insert(at, draw.pick(("-", "--", "--nosuch", "-9", "@rows.csv", "*", odd(draw))))
    return found


@functools.cache
def _hurry() -> None:
    """In the process of a worker, build and read once what every start builds and reads anew."""
    verify.load = answers.load_few
    typer.main.get_command = functools.cache(typer.main.get_command)
    lazy.built = functools.cache(lazy.built)


def _run(case: Case) -> Ended:
    _hurry()
    arguments = list(case.call["arguments"])
    code, out, err = called(arguments)
    _tidied(code, arguments)
    if code == _FAULT:
        _, _, shown = called(["--debug", *arguments])
        _tidied(code, arguments)
        places = _PLACE.findall(shown) or [("refclust", "?")]
        what = re.search(r"itself, (\w+)", err)
        kind = what[1] if what else "Exception"
        raise Broken(f"{kind} in {':'.join(places[-1])}", f"{arguments}: {err[-300:]}")
    if code not in _CODES:
        raise Broken("exit codes are 0 to 4", f"{code}: {arguments}: {err[-300:]}")
    if ("Traceback" in err or "Traceback" in out) and "--debug" not in arguments:
        raise Broken("no traceback", f"{arguments}: {err[-300:]}")
    elsewhere = {"--", "-", "--help", "-h", "--version"} & set(arguments)
    if "--json" in arguments and code in (0, 1) and not elsewhere:
        _check_json(out, arguments)
    return Ended(ACCEPTED if code in (0, 1) else f"exit {code}", err[:2000] if code > 1 else "")


def called(arguments: list[str]) -> tuple[int, str, str]:
    """Run a command in this process; return its exit code, its output and its errors."""
    streams = sys.stdin, sys.stdout, sys.stderr
    given = io.BytesIO(files.pool()["rows.csv"])
    out, err = io.BytesIO(), io.BytesIO()
    try:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(given), encoding="utf-8")
        sys.stdout = io.TextIOWrapper(out, encoding="utf-8", errors="backslashreplace")
        sys.stderr = io.TextIOWrapper(err, encoding="utf-8", errors="backslashreplace")
        code = run(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        return code, out.getvalue().decode("utf-8", "replace"), err.getvalue().decode()
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams


def _check_json(out: str, arguments: list[str]) -> None:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no JSON")

    try:
        json.loads(out, parse_constant=refuse)
    except ValueError as error:
        raise Broken("--json prints JSON", f"{arguments}: {error}: {out[:200]!r}") from None


def _tidied(code: int, arguments: list[str]) -> None:
    """Take away what was asked for; a checkpoint of a fit that ended well was not."""
    asked = {word.partition("=")[2] or word for word in arguments}
    for name in os.listdir("."):
        if name.startswith("out") or (name in asked and name not in files.pool()):
            if code == 0 and name.endswith(".checkpoint"):
                raise Broken("a fit that ended leaves no checkpoint", name)
            os.unlink(name)


def _prepare() -> None:
    commands(), files.pool(), answers.few()


TARGETS: Final[tuple[Target, ...]] = (Target("commands", _made, _run, 8, prepare=_prepare),)
