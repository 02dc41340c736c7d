"""Where output goes: results to stdout, notes to stderr, files whole or not at all.

Nothing else writes to the two streams. Whoever puts text from data into a layout escapes it there
(``refclust.escape``); what was forgotten is shown as an escape here, as the last net.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from refclust.errors import BadOption, FileExists, FileNotReadable

_PATIENCE, _REFRESH = 1.0, 0.1  # seconds before a line is shown, and until it is shown anew
_LONG = 1 << 26  # bytes that surely take more than a second
_NARROWEST = 40  # columns of a terminal; nothing is laid out for less
_STARTED = time.monotonic()  # as good as the start of the program
_STDOUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
_TRUE, _FALSE = {"1", "true", "yes"}, {"0", "false", "no", ""}


def say(text: str) -> None:
    """Print a result: lines that are laid out.

    Spec: OUT-TERM
    """
    with _writing():
        sys.stdout.write(_safe(text) + "\n")


def say_beside(text: str) -> None:
    """Print lines that would be the result, if that were not something else; to stderr.

    Spec: OUT-TERM
    """
    if sys.stderr is not None:
        sys.stderr.write(_safe(text) + "\n")
        sys.stderr.flush()


def say_data(text: str) -> None:
    """Print data, exact for whoever reads them; a terminal gets them like any other text.

    Spec: OUT-DATA
    """
    with _writing():
        sys.stdout.write(_for_eyes(text) if _on_a_terminal() else text)


def say_bytes(chunks: Iterable[bytes], *, what: str, is_text: bool) -> None:
    """Print a file as it is; a terminal gets text only, like any other text.

    Spec: OUT-DATA
    """
    shown = _on_a_terminal()
    if shown and not is_text:
        raise BadOption(f"{what} is no text, and a terminal cannot show it; name a file")
    for chunk in chunks:
        if shown:
            say_data(chunk.decode("utf-8", "backslashreplace"))
        else:
            with _writing():
                sys.stdout.buffer.write(chunk)
    flush()


def _on_a_terminal() -> bool:
    return sys.stdout.isatty()


def room() -> int | None:
    """How many columns the terminal has; nothing if the output goes elsewhere.

    Spec: OUT-TERM
    """
    import shutil  # start-up is quicker without it

    said = os.environ.get("COLUMNS", "").isdecimal()
    if not said and (sys.stdout is None or not _on_a_terminal()):
        return None
    return max(_NARROWEST, shutil.get_terminal_size().columns)


def can_show(signs: str) -> bool:
    """Whether the output has these signs; what it lacks would be shown as an escape.

    Spec: OUT-TERM
    """
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    try:
        signs.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _safe(text: str) -> str:
    if text.isascii() and text.replace("\n", "").isprintable():
        return text  # start-up is quicker without the rest
    from refclust.escape import for_lines

    return for_lines(text)


def _for_eyes(text: str) -> str:
    return "\t".join(map(_safe, text.split("\t")))


def flush() -> None:
    """Hand over what was printed, so that trouble shows up while it can still be told."""
    if sys.stdout is not None:
        with _writing():
            sys.stdout.flush()


@contextlib.contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise FileNotReadable(f"cannot write standard output: {reason_of(error)}") from None


def note(text: str) -> None:
    """Print something worth knowing that is not the result, in one line.

    Spec: OUT-TERM
    """
    say_beside(f"refclust: {one_line(text)}")


def one_line(text: str) -> str:
    """Return a message in one line: a line end in it came with some text from outside.

    Spec: OUT-TERM

    >>> print(one_line("wrote a\\nb.csv"))
    wrote a\\x0ab.csv
    """
    if text.isascii() and text.isprintable():
        return text  # the help is quicker without the rest
    from refclust.escape import for_line

    return for_line(text)


def say_json(content: Any) -> None:
    """Print one JSON object; what is NaN or infinite must have been told in words before."""
    encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
    say(json_text(content, ascii_only=encoding != "utf8", indent=2))


def json_text(content: Any, *, ascii_only: bool = False, indent: int | None = None) -> str:
    """Return JSON for a terminal or a program, maybe in ASCII only.

    Spec: OUT-JSON
    """
    import json  # start-up is quicker without it

    from refclust.escape import for_json

    return for_json(json.dumps(content, ensure_ascii=ascii_only, indent=indent, allow_nan=False))


def columns(rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> list[str]:
    """Align rows of text in columns; those in ``right`` end at the same place.

    Spec: OUT-TERM

    >>> columns([["a", "10"], ["bb", "9"]], right=frozenset([1]))
    ['a   10', 'bb   9']
    """
    from refclust import escape

    shown = [[escape.for_line(cell) for cell in row] for row in rows]
    widths = [max(map(escape.width, column)) for column in zip(*shown, strict=True)]
    return [
        "  ".join(
            (escape.right if place in right else escape.left)(cell, width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in shown
    ]


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "class"), counted(2, "class"), counted(1200, "object")
    ('1 class', '2 classes', '1,200 objects')
    """
    from refclust.numbers.reading import counted as phrase  # start-up is quicker without it

    return phrase(number, noun)


def check_output(path: str, *, force: bool) -> None:
    """Refuse to overwrite a file, or to write where none can be, before any work is done for it."""
    if path == "-":
        return
    from refclust.data.files.atomic import check_place  # start-up is quicker without it
    from refclust.escape import for_terminal

    if os.path.normpath(path) in _STDOUT:
        # Compiled code of plugins may write there; results go where ``-`` leads.
        raise BadOption(f"{path}: the name of standard output is -")
    if not force and os.path.lexists(path):
        raise FileExists(f"{for_terminal(path)} exists already; --force replaces it")
    check_place(path)


def write_file(path: str, text: str, *, force: bool) -> None:
    """Write a whole file or nothing: first beside it, then in its place; ``-`` is stdout."""
    if path == "-":
        say(text.removesuffix("\n"))
        return
    check_output(path, force=force)
    from refclust.data.files.atomic import write_atomically  # start-up is quicker without it

    content = text if text.endswith("\n") else text + "\n"
    write_atomically(path, content.encode("utf-8"), replace=force)


def reason_of(error: Exception) -> str:
    """Return what the system says about a failure, without its number."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return reason[:1].lower() + reason[1:]


def strict_boolean(variable: str) -> bool:
    """Read an environment variable that is true or false; anything else is refused."""
    value = os.environ.get(variable, "")
    if value.lower() in _TRUE:
        return True
    if value.lower() in _FALSE:
        return False
    raise BadOption(f"{variable}={value!r}: use 1 or 0, true or false, yes or no")


class Line:
    """One line on stderr that is written over and over, on a terminal only."""

    def __init__(self) -> None:
        self._shown = 0
        self._enabled = sys.stderr is not None and sys.stderr.isatty()

    def show(self, text: str) -> None:
        """Put a text in the place of the last one."""
        if self._enabled:
            from refclust.escape import left, width

            line = one_line(text)
            sys.stderr.write(f"\r{left(line, self._shown)}")
            sys.stderr.flush()
            self._shown = width(line)

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write(f"\r{'':<{self._shown}}\r")
            sys.stderr.flush()
            self._shown = 0


class ReadingLine:
    """Tells how far a file is read, from the second second on."""

    def __init__(self) -> None:
        self._line = Line()
        self._name = ""
        self._next = 0.0

    def __call__(self, name: str, done: int | None, size: int | None) -> None:
        """Show how far it is, unless that was shown a moment ago; take it away at the end."""
        if done is None:
            self._line.clear()
            self._name = ""
            return
        now = time.monotonic()
        if name != self._name:
            # Nobody tells how far it is while another library reads: then at once, or never.
            alone = done == 0 and (size or 0) > _LONG
            self._name, self._next = name, now if alone else now + _PATIENCE
        if now < self._next:
            return
        self._next = now + _REFRESH
        whole = "" if size is None else f" of {size / 1e6:,.0f}"
        share = "" if not size else f", {100 * done // size}%"
        self._line.show(f"reading {name}: {done / 1e6:,.0f}{whole} MB{share}")


class Progress:
    """Tells which of several pieces of work is going on, from the second second."""

    def __init__(self, count: int) -> None:
        self._count, self._done = count, 0
        self._line = Line()

    def step(self, name: str) -> None:
        """Tell that the next piece of work begins."""
        self._done += 1
        if time.monotonic() - _STARTED > 1:
            self._line.show(f"{self._done}/{self._count} {name}")

    def clear(self) -> None:
        """Take the line away."""
        self._line.clear()
