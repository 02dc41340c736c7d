"""Every way to break the seam: one line and exit 4 for who asks by name, a note for others.

Each is a real entry point of an installed distribution, seen through the command line in a process
of its own.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from refclust.backends.plugins import discovery
from tests.backends.plugins import GOOD, Run, command, installed, put

pytestmark = pytest.mark.long  # by `pytest -m long`

SCORE: Final = ("score", "true.txt", "pred.txt", "-m", "rand")
LIMIT: Final = "0.75"


class Way(NamedTuple):
    """One way to break: the module, and what is told of it."""

    source: str
    reason: str
    backend: str = "broken"  # the name in the notes
    asked: str = "broken"
    code: str = "backend-refused"


def edited(*edits: tuple[str, str]) -> str:
    """The good plugin, broken; each edit must find its place."""
    source = GOOD.replace('"quick"', '"broken"')
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    return source


def at_import(line: str) -> str:
    """The good plugin with a line that runs when it is imported."""
    return f"{line}\n" + "\n".join(one.removeprefix("    ") for one in edited().split("\n"))


HOOK: Final = "return [Quick()]"
KERNELS: Final = 'return {"contingency.table": self.table}'
SUPPORTS: Final = 'return Refusal("too many") if problem.n > 1000 else Estimate(0.0)'
TABLE: Final = "supports('contingency.table')"
LATE: Final = f"it was not done after {LIMIT} s, the time limit (see REFCLUST_PLUGIN_SECONDS)"

# Left out as a whole plugin, known by the name of its entry point.
PLUGINS: Final = {
    "exit": Way(
        at_import("import sys; sys.exit(3)"), "it tried to end the program (SystemExit: 3)"
    ),
    "exit-quietly": Way(at_import("raise SystemExit"), "it tried to end the program (SystemExit)"),
    "interrupt": Way(at_import("raise KeyboardInterrupt"), "KeyboardInterrupt"),
    "raise": Way(at_import("1 / 0"), "ZeroDivisionError: division by zero"),
    "cannot-say": Way(
        at_import("class Mute(Exception):\n    def __str__(self): raise self\nraise Mute"),
        "Mute: it cannot say what is wrong",
    ),
    "lines": Way(at_import("raise ValueError('one\\n two')"), "ValueError: one two"),
    "endless": Way(at_import("while True: pass"), LATE),
    "asleep": Way(at_import("import time; time.sleep(1e6)"), LATE),
    "hook-exits": Way(
        edited((HOOK, "raise SystemExit(0)")), "it tried to end the program (SystemExit: 0)"
    ),
    "hook-endless": Way(edited((HOOK, "while True: pass")), LATE),
    "hook-none": Way(
        edited((HOOK, "return None")),
        "refclust_register_backends returned None, not a list of backends",
    ),
    "hook-number": Way(
        edited((HOOK, "return 42")),
        "refclust_register_backends returned 42, not a list of backends",
    ),
    "hook-one": Way(
        edited((HOOK, "return Quick()")),
        "refclust_register_backends returned an object of the class Quick, not a list of backends",
    ),
    "nothing": Way(edited((HOOK, "return [None]")), "it offers None, which has no name"),
    "nameless": Way(
        edited(('name = "broken"', "")),
        "it offers an object of the class Quick, which has no name",
    ),
    "name-number": Way(
        edited(('name = "broken"', "name = 7")), "it offers a backend whose name is 7, not a word"
    ),
    "name-raises": Way(
        edited(('name = "broken"', "name = property(lambda self: 1 / 0)")),
        "ZeroDivisionError: division by zero",
    ),
    "versionless": Way(edited(("api_version = 1", "")), "it has no api_version"),
    "version-true": Way(
        edited(("api_version = 1", "api_version = True")),
        "it speaks version True of the kernel protocol, this refclust speaks 1",
    ),
    "accuracyless": Way(edited(('accuracy = "exact"', "")), "it has no accuracy"),
    "accuracy-list": Way(
        edited(('accuracy = "exact"', "accuracy = ['exact']")),
        "its accuracy is ['exact'], neither 'exact' nor 'bounded'",
    ),
    "no-export": Way(edited(("def export(", "def exports(")), "it has no export"),
    "no-method": Way(
        edited(("def export(self, value):\n            return value", "export = 1")),
        "its export is 1, not a function",
    ),
}

# Left out under a name of its own.
NAMES: Final = {
    "capitals": Way(
        edited(('"broken"', '"Fast One"')),
        "its name is 'Fast One'; a name is a word of small letters and digits",
        "Fast One",
        "Fast One",
    ),
    **{
        f"named-{name}": Way(
            edited(('"broken"', f'"{name}"')),
            f"the name {name!r} belongs to refclust itself",
            name,
        )
        for name in ("reference", "auto", "loopback")
    },
    "twice": Way(
        edited((HOOK, "return [Quick(), Quick()]"), ('"broken"', '"twin"')),
        "the name is offered twice, by broken 1.2.3 and broken 1.2.3",
        "twin",
        "twin",
    ),
}

# Found out when it is asked what it can do.
ANSWERS: Final = {
    "kernels-raise": Way(
        edited((KERNELS, "import no_such_library")),
        "kernels(): ModuleNotFoundError: No module named 'no_such_library'",
    ),
    "kernels-exit": Way(
        edited((KERNELS, "raise SystemExit(0)")),
        "kernels(): it tried to end the program (SystemExit: 0)",
    ),
    "kernels-endless": Way(
        edited((KERNELS, "while True: pass")),
        "kernels(): it was not done after 4.5 s, the time limit (see REFCLUST_PLUGIN_SECONDS)",
    ),
    "kernels-none": Way(edited((KERNELS, "return None")), "kernels() returned None, not a mapping"),
    "kernels-numbered": Way(
        edited((KERNELS, "return {1: self.table}")),
        "kernels() names a kernel 1, which is no word",
    ),
    "supports-raise": Way(edited((SUPPORTS, "raise KeyError('n')")), f"{TABLE}: KeyError: 'n'"),
    "supports-exit": Way(
        edited((SUPPORTS, "raise SystemExit")), f"{TABLE}: it tried to end the program (SystemExit)"
    ),
    "supports-none": Way(
        edited((SUPPORTS, "return None")), f"{TABLE} returned None, no Estimate and no Refusal"
    ),
    **{
        f"estimate-{name}": Way(
            edited((SUPPORTS, f"return Estimate({value})")),
            f"{TABLE} estimates {told} seconds, which is no duration",
        )
        for name, value, told in (
            ("nan", "float('nan')", "nan"),
            ("negative", "-1.0", "-1.0"),
            ("minus-infinity", "-float('inf')", "-inf"),
            ("text", "'5'", "'5'"),
            ("true", "True", "True"),
            ("nothing", "None", "None"),
            ("beyond", "10**400", f"1{'0' * 58}…"),
        )
    },
}

WAYS: Final = PLUGINS | NAMES | ANSWERS


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """A folder with two files of labels."""
    (tmp_path / "true.txt").write_text("a\na\nb\nb\n", encoding="utf-8")
    (tmp_path / "pred.txt").write_text("1\n1\n1\n2\n", encoding="utf-8")
    return tmp_path


def called(folder: Path, way: Way, *arguments: str) -> Run:
    """Install what is broken and run a command; only what never ends gets little time."""
    put(folder, broken=way.source)
    limit = {"REFCLUST_PLUGIN_SECONDS": LIMIT} if "the time limit" in way.reason else {}
    return command(folder, *arguments, **limit)


def lines_of(done: Run, name: str) -> list[str]:
    """What was told about one plugin; others may be installed, and may be broken, too."""
    return [line for line in done.err.splitlines() if f"{name} 1.2.3" in line]


@pytest.mark.spec("BK-GUARD")
@pytest.mark.parametrize("name", WAYS)
def test_a_note_for_those_who_did_not_ask(labels: Path, name: str) -> None:
    way = WAYS[name]
    done = called(labels, way, *SCORE, "--json")
    answer = json.loads(done.out)
    assert done.code == 0
    assert answer["scores"][0]["exact"] == "1/2"
    ran = answer["provenance"]["kernels"][0]
    assert (ran["backend"], ran["distribution"]) == ("reference", "refclust")
    if name in ANSWERS:
        told = f"refclust: the backend 'broken' of broken 1.2.3 cannot be used: {way.reason}"
        expected = f"{told}; it is left out"
    else:
        of = "" if way.backend == "broken" else f"backend {way.backend!r} of the "
        expected = f"refclust: the {of}plugin 'broken' (broken 1.2.3) is left out: {way.reason}"
    assert set(lines_of(done, "broken")) == {expected}
    assert "Traceback" not in done.err


@pytest.mark.spec("BK-GUARD")
@pytest.mark.parametrize("name", WAYS)
def test_one_line_and_exit_4_for_those_who_did(labels: Path, name: str) -> None:
    way = WAYS[name]
    done = called(labels, way, *SCORE, "--backend", way.asked)
    assert (done.code, done.out) == (4, "")
    assert lines_of(done, "broken") == [
        f"refclust: the backend {way.asked!r} of broken 1.2.3 cannot be used: {way.reason} "
        "[backend-refused]"
    ]


def test_all_of_them_are_listed(tmp_path: Path) -> None:
    # Without those that never end: each of them costs its time.
    ways = {name: way for name, way in WAYS.items() if "the time limit" not in way.reason}
    modules = {f"rc_{name.replace('-', '_')}": way.source for name, way in ways.items()}
    for module in modules:
        modules[module] = modules[module].replace('"broken"', f'"{module}"')
    put(tmp_path, **modules)
    done = command(tmp_path, "backends", "--json", "--no-measure")
    assert done.code == 0
    found = {
        row["distribution"]: (row["state"], row["reason"])
        for row in json.loads(done.out)["backends"]
    }
    for name, way in ways.items():
        module = f"rc_{name.replace('-', '_')}"
        state = "refused" if found[module][0] == "refused" else "failed"
        told = way.reason.replace("broken 1.2.3", f"{module} 1.2.3")
        assert found[module] == (state, told), name


@pytest.mark.spec("BK-GUARD")
@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            KERNELS,
            'return {"contingency.table": 42}',
            "failed: its kernel 'contingency.table' is 42, not a function",
        ),
        (
            "return data",
            "1 / 0",
            "failed in contingency.table: ZeroDivisionError: division by zero",
        ),
        (
            "return value",
            "raise SystemExit(0)",
            "failed in contingency.table: it tried to end the program (SystemExit: 0)",
        ),
        (
            'return KERNELS["contingency.table"].reference(data)',
            "raise MemoryError",
            "failed in contingency.table: MemoryError",
        ),
    ],
    ids=["no-function", "prepare", "export", "kernel"],
)
def test_what_fails_while_it_runs_is_named(labels: Path, old: str, new: str, told: str) -> None:
    put(labels, broken=edited((old, new)))
    done = command(labels, *SCORE, "--backend", "broken")
    assert (done.code, done.out) == (4, "")
    assert done.err == f"refclust: the backend 'broken' (broken 1.2.3) {told} [backend-failure]\n"
    # Nobody else is harmed.
    done = command(labels, *SCORE, "--json")
    assert (done.code, json.loads(done.out)["scores"][0]["exact"]) == (0, "1/2")


def test_an_answer_that_cannot_even_be_looked_at(labels: Path) -> None:
    strange = "return type('Odd', (), {'__class__': property(lambda self: 1 / 0)})()"
    source = edited(('return KERNELS["contingency.table"].reference(data)', strange))
    put(labels, broken=source)
    done = command(labels, *SCORE, "--backend", "broken")
    assert done.code == 4
    assert done.err == (
        "refclust: the backend 'broken' broke the contract of contingency.table: its answer an "
        "object of the class Odd cannot be read: ZeroDivisionError: division by zero "
        "[backend-contract]\n"
    )


@pytest.mark.spec("BK-GUARD")
@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("print('hello')", "hello"),
        ("import sys; sys.stderr.write('a\\nb')", "a b"),
        ("import sys; sys.stdout.buffer.write(b'bytes')", "bytes"),
        ("import sys; print('x' * 10**6)", "x" * 2000),
        ("import warnings; warnings.warn('old')", "UserWarning: old"),
        ("import io, sys; sys.stdout = io.StringIO(); print('hidden')", None),
    ],
)
def test_what_is_printed_at_import_is_a_note(labels: Path, line: str, told: str | None) -> None:
    put(labels, noisy=at_import(line).replace('"broken"', '"noisy"'))
    for name in ("auto", "noisy"):
        done = command(labels, *SCORE, "--json", "--backend", name)
        assert (done.code, json.loads(done.out)["scores"][0]["exact"]) == (0, "1/2")
        notes = [line for line in lines_of(done, "noisy") if "printed" in line]
        assert len(notes) == (told is not None)
        start = "refclust: the plugin 'noisy' (noisy 1.2.3) printed while it was loaded: "
        assert all(note.startswith(start) and str(told) in note for note in notes)


@pytest.mark.spec("BK-GUARD")
def test_compiled_code_and_children_cannot_reach_standard_output(labels: Path) -> None:
    line = "import os; os.write(1, b'low\\n'); os.system('echo child')"
    source = at_import(line).replace('"broken"', '"noisy"')
    inside = 'return KERNELS["contingency.table"].reference(data)'
    source = source.replace(inside, f"print('counting'); os.write(1, b'kernel\\n'); {inside}")
    ending = "import atexit; atexit.register(print, 'bye')"
    put(labels, noisy=f"{ending}\n{source}")
    done = command(labels, *SCORE, "--json", "--backend", "noisy")
    assert (done.code, json.loads(done.out)["scores"][0]["exact"]) == (0, "1/2")
    err = done.err.splitlines()
    assert [line for line in err if not line.startswith("refclust: ")] == [
        *("low", "child", "kernel", "bye")
    ]
    assert (
        "refclust: the backend 'noisy' (noisy 1.2.3) printed in contingency.table: counting" in err
    )


@pytest.mark.parametrize("where", ["hook", "kernels", "supports", "build"])
def test_what_is_printed_by_functions_is_a_note(labels: Path, where: str) -> None:
    old = {"hook": HOOK, "kernels": KERNELS, "supports": SUPPORTS}.get(where, "def export(")
    new = f"print('hello'); {old}"
    if where == "build":
        new = (
            "def build(self):\n            print('hello')\n            return ''\n\n        " + old
        )
    put(labels, noisy=edited((old, new)).replace('"broken"', '"noisy"'))
    done = command(labels, "backends", "--json", "--no-measure")
    rows = json.loads(done.out)["backends"]
    assert [row["state"] for row in rows if row["name"] == "noisy"] == ["ready"]
    called_in = "in refclust_register_backends" if where == "hook" else f"in {where}()"
    who = "plugin" if where == "hook" else "backend"
    assert lines_of(done, "noisy") == [
        f"refclust: the {who} 'noisy' (noisy 1.2.3) printed {called_in}: hello"
    ]


def test_a_broken_build_is_told(labels: Path) -> None:
    told = "def build(self):\n            return 7\n\n        def export("
    put(labels, broken=edited(("def export(", told)))
    done = command(labels, "backends", "--json", "--no-measure")
    rows = {row["name"]: row for row in json.loads(done.out)["backends"]}
    assert (rows["broken"]["state"], rows["broken"]["reason"]) == (
        "failed",
        "build(): it returned 7",
    )


def test_a_limit_that_is_no_number_of_seconds(labels: Path) -> None:
    for value in ("soon", "0", "-1", "nan", "inf"):
        done = command(labels, *SCORE, REFCLUST_PLUGIN_SECONDS=value)
        assert done.code == 2
        assert done.err == (
            f"refclust: REFCLUST_PLUGIN_SECONDS={value!r}: use a number of seconds, at most 3600 "
            "[bad-option]\n"
        )


def test_all_this_works_in_any_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFCLUST_PLUGIN_SECONDS", "3")
    found: list[dict[str, str]] = []

    def look() -> None:
        found.append({one.name: one.reason for one in discovery.discover()})

    with installed(
        tmp_path, rc_exits=WAYS["exit"].source, rc_endless=WAYS["endless"].source, rc_fine=GOOD
    ):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert found[0]["rc_exits"] == "it tried to end the program (SystemExit: 3)"
    assert found[0]["rc_endless"].startswith("it was not done after 3 s, the time limit")
    assert found[0]["quick"] == ""


def test_a_plugin_is_loaded_once_for_all_its_hooks(labels: Path) -> None:
    (labels / "t.unknown").write_text("?", encoding="utf-8")
    done = called(labels, WAYS["asleep"], "sniff", "t.unknown")
    assert done.code == 3
    assert lines_of(done, "broken") == [
        f"refclust: the plugin 'broken' (broken 1.2.3) is left out: {LATE}"
    ]


def test_our_own_reference_is_meant_by_its_name(labels: Path) -> None:
    put(labels, broken=NAMES["named-reference"].source)
    done = command(labels, *SCORE, "--backend", "reference", "--json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["provenance"]["kernels"][0]["distribution"] == "refclust"


def test_an_infinite_estimate_is_for_those_who_ask(labels: Path) -> None:
    put(labels, late=edited((SUPPORTS, "return Estimate(float('inf'))")))
    done = command(labels, *SCORE, "--backend", "broken")
    assert (done.code, done.err) == (
        0,
        "refclust: contingency.table ran on broken (late 1.2.3)\n",
    )
