"""Calls under guard and what is printed meanwhile: nobody else is touched."""

from __future__ import annotations

import io
import logging
import subprocess
import sys
import threading
import time

import pytest

from refclust.backends.plugins.capture import caught
from refclust.backends.plugins.guard import attempt, limit, shown, words
from refclust.notes import listen, tell


def test_a_value_and_what_was_printed() -> None:
    def speak() -> int:
        print("a\n b")
        return 7

    done = attempt(speak)
    assert (done.value, done.trouble, done.error, done.printed) == (7, "", None, "a b")
    assert attempt(lambda: 7, seconds=60).value == 7


def test_an_interrupt_is_the_users_unless_the_thread_is_ours() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attempt(interrupt)
    assert attempt(interrupt, seconds=60).trouble == "KeyboardInterrupt"


def test_the_user_can_interrupt_what_does_not_end() -> None:
    code = (
        "import os, signal, threading, time\n"
        # A shell that runs tests in the background has it ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from refclust.backends.plugins.guard import attempt\n"
        "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "try:\n"
        "    attempt(lambda: time.sleep(1e6), seconds=600)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "interrupted\n")


def test_a_loop_that_was_given_up_ends() -> None:
    turns = [0]

    def loop() -> None:
        while True:
            turns[0] += 1

    before = threading.active_count()
    done = attempt(loop, seconds=0.2)
    assert done.trouble.startswith("it was not done after 0.2 s, the time limit")
    deadline = time.monotonic() + 30
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    reached = turns[0]
    time.sleep(0.05)
    assert turns[0] == reached


def test_other_threads_print_where_they_always_did(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stdout", screen)
    inside, go_on = threading.Event(), threading.Event()
    heard = []

    def plugin() -> None:
        with caught() as printed:
            print("the plugin")
            inside.set()
            go_on.wait(60)
            print("again")
        heard.append(printed.text)

    thread = threading.Thread(target=plugin)
    thread.start()
    assert inside.wait(60)
    print("somebody else")
    with caught() as ours:  # two at a time, and the first to begin is not the first to end
        go_on.set()
        thread.join(60)
        print("mine")
    print("after all")
    assert heard == ["the plugin again"]
    assert ours.text == "mine"
    assert sys.stdout is screen
    assert screen.getvalue() == "somebody else\nafter all\n"


def test_one_within_another(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    with caught() as outer:
        sys.stderr.writelines(["a", "b"])
        with caught() as inner:
            sys.stderr.write("c")
            sys.stderr.flush()
        sys.stderr.write("d")
    assert (outer.text, inner.text, screen.getvalue()) == ("abd", "c", "")
    assert sys.stderr is screen


def test_a_stream_that_was_kept_writes_through_later(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.TextIOWrapper(io.BytesIO(), write_through=True)
    monkeypatch.setattr(sys, "stdout", screen)
    with caught():
        kept = sys.stdout
        assert kept.encoding == screen.encoding  # anything else is that of the stream itself
    kept.write("late")
    kept.buffer.write(b"r")
    kept.flush()
    assert screen.buffer.getvalue() == b"later"


@pytest.mark.parametrize("restore", [False, True])
def test_streams_that_were_replaced(monkeypatch: pytest.MonkeyPatch, restore: bool) -> None:
    screen, theirs = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", screen)
    with caught(restore=restore):
        sys.stdout = theirs
    # While a kernel runs, somebody else may have replaced it, and then it is not ours to undo.
    assert sys.stdout is (screen if restore else theirs)


def test_without_any_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with caught() as printed:
        kept = sys.stdout
        print("to nowhere")
    kept.write("nor this")
    kept.flush()
    assert printed.text == "to nowhere"
    assert sys.stdout is None


def test_words() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise SystemExit

    assert words(Mute()) == "Mute: it cannot say what is wrong"
    assert words(ValueError("x" * 400)) == f"ValueError: {'x' * 287}…"
    assert words(SystemExit(1)) == "it tried to end the program (SystemExit: 1)"

    class Shy:
        def __repr__(self) -> str:
            raise KeyboardInterrupt

    assert shown(Shy()) == shown(object.__new__(Shy)) == "an object of the class Shy"
    assert shown(object()) == "an object of the class object"


def test_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFCLUST_PLUGIN_SECONDS", "2.5")
    assert (limit(), limit(heavy=True)) == (2.5, 15.0)


def test_notes_where_nobody_listens_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    listen(None)
    with caplog.at_level(logging.INFO, "refclust"):
        tell("by the way")
        tell("by the way")
        tell("look out", warning=True)
    assert [(one.levelname, one.message) for one in caplog.records] == [
        ("INFO", "by the way"),
        ("WARNING", "look out"),
    ]
    listen(None)
