"""The application: which commands there are, and how every run ends.

Exit codes: 0 fine, 1 a check failed, 2 usage, 3 bad data, 4 backend trouble, 70 a fault of
refclust itself, 130 interrupted, 141 nobody reads the output any more, 143 terminated. No traceback
without ``--debug``.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import sys
from typing import Annotated

import typer

from refclust.cli import lazy, output
from refclust.cli.commands import backends, demo
from refclust.cli.commands.proof import spec, trace, vectors, verify
from refclust.cli.plugins import Program
from refclust.cli.strict import App
from refclust.errors import RefclustError, TooLarge
from refclust.notes import listen, watch

DEBUG_VARIABLE = "REFCLUST_DEBUG"
LIMIT = "--limit"
FAULT, INTERRUPTED, BROKEN_PIPE = 70, 130, 141

app = App(
    name="refclust",
    cls=Program,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"max_content_width": 100, "help_option_names": ["--help", "-h"]},
    epilog="Start with `refclust demo`. Every command has its own --help.",
)

app.command("demo", short_help="Take the tour; start here.")(demo.demo)
for _name, _place, _help in (
    ("fit", "fit.clusters:app", "Fit clusters, mixtures, classifiers."),
    ("select", "select:select", "Choose how many clusters, and which model."),
    ("predict", "predict:predict", "Put new rows into clusters or classes."),
    ("sample", "sample:sample", "Draw rows from a mixture or a classifier."),
    ("describe", "describe:describe", "Tell what is in each cluster of a model."),
    ("score", "score:score", "Score clusterings or classifiers."),
    ("explain", "explain.scores:explain", "Derive a score, or a step of EM."),
    ("compare", "compare:compare", "Tell whether one classifier is better."),
    ("crossval", "crossval:crossval", "Judge classifiers on rows they have not seen."),
    ("sniff", "sniff:sniff", "Tell how a file would be read."),
    ("convert", "convert:convert", "Convert data from one format to another."),
    ("formats", "sniff:formats", "List the formats of data."),
    ("cite", "cite:cite", "Print BibTeX of who defined it first."),
    ("conform", "proof.conform:conform", "Hold a backend against the contracts."),
):
    lazy.command(app, _name, f"refclust.cli.commands.{_place}", _help)
app.command("spec", short_help="Read a clause: formula, code, evidence.")(spec.spec)
app.command("verify", short_help="Check against the golden vectors.")(verify.verify)
app.add_typer(vectors.app, name="vectors", short_help="List, show, export the golden vectors.")
app.command("trace", short_help="Show or check what backs each clause.")(trace.trace)
app.command("backends", short_help="List the installed backends.")(backends.backends)


def _version(wanted: bool) -> None:
    if not wanted:
        return
    import platform

    from refclust.backends.protocol import API_VERSION
    from refclust.version import SPEC_VERSION, __version__

    output.say(
        f"refclust {__version__} (specification {SPEC_VERSION}, backend API {API_VERSION}, "
        f"Python {platform.python_version()})"
    )
    from refclust.backends.plugins.commands import distributions
    from refclust.backends.plugins.switch import disabled
    from refclust.escape import for_line

    if not disabled() and (plugins := distributions()):
        output.say(f"plugins: {', '.join(map(for_line, plugins))}")
    raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 — its callback has done all
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show versions and exit."),
    ] = False,
    debug: Annotated[  # noqa: ARG001 — `run` looks for it
        bool, typer.Option("--debug", help="Show a traceback when something goes wrong.")
    ] = False,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            LIMIT,
            metavar="NAME=SIZE",
            help="Raise or lower a limit; may be repeated. [`refclust formats --limits` has all]",
        ),
    ] = None,
) -> None:
    """Clustering and its metrics, right to the last bit, with the proof.

    Results go to stdout, notes to stderr. Exit codes: 0 fine, 1 a check failed, 2 usage, 3 bad
    data, 4 backend trouble.
    """
    if limit:
        from refclust.limits import limits, parsed

        context.with_resource(limits(**parsed(",".join(limit), LIMIT)))


def main() -> None:
    """Run the command line and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that lacks a sign shows its number; it never ends the run.
            stream.reconfigure(errors="backslashreplace")
    _keep_stdout()
    code = run(sys.argv[1:])
    # What anybody prints from now on, while the program ends, is no result.
    results, sys.stdout = sys.stdout, sys.stderr
    if code == BROKEN_PIPE:
        # It is flushed once more at the end; give it somewhere to write to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), results.fileno())
    if results is not None:
        with contextlib.suppress(OSError):
            results.flush()
    sys.exit(code)


def _keep_stdout() -> None:
    """Keep standard output for results: what compiled code of plugins writes there goes to stderr.

    The descriptor 1 becomes another name for stderr; ``sys.stdout`` writes to a private one.
    """
    old = sys.stdout
    if os.name != "posix" or not isinstance(old, io.TextIOWrapper):
        return
    with contextlib.suppress(OSError):  # without stdout or stderr there is nothing to keep apart
        os.fstat(2)
        old.flush()
        private = os.dup(1)
        os.dup2(2, 1)
        sys.stdout = io.TextIOWrapper(
            os.fdopen(private, "wb"),
            encoding=old.encoding,
            errors=old.errors,
            line_buffering=old.line_buffering,
            write_through=old.write_through,
        )


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; whatever goes wrong is told in one line."""
    debug = False
    listen(output.note)
    watch(output.ReadingLine())
    try:
        debug = _debugging(arguments)
        return _called(arguments)
    except BrokenPipeError:
        return BROKEN_PIPE
    except KeyboardInterrupt:
        output.note("interrupted")
        return INTERRUPTED
    except MemoryError:
        message = "this takes more memory than there is; fewer rows, columns or clusters take less"
        _tell(arguments, TooLarge.code, message, debug=debug)
        return TooLarge.exit_code
    except RefclustError as error:
        _tell(arguments, error.code, str(error), debug=debug)
        return error.exit_code
    except Exception as error:
        words = " ".join(str(error).split("\n"))
        message = f"a fault of refclust itself, {type(error).__name__}: {words}"
        _tell(arguments, "fault", f"{message} (--debug shows where)", debug=debug)
        return FAULT
    finally:
        if "refclust.data.files.source" in sys.modules:
            from refclust.data.files import source

            source.forget()
        if "refclust.data.files.taken" in sys.modules:
            from refclust.data.files import taken

            taken.release_all()
        listen(None)
        watch(None)


def _called(arguments: list[str]) -> int:
    """Call typer, which turns some exceptions into exit codes, and turn them back."""
    try:
        app(arguments, prog_name="refclust")
    except SystemExit as end:
        before = end.__context__
        for kind in (BrokenPipeError, KeyboardInterrupt):
            if isinstance(before, kind) or isinstance(getattr(before, "__cause__", None), kind):
                raise kind from None
        code = end.code
        output.flush()
        return code if isinstance(code, int) else 0 if code is None else 1
    output.flush()
    return 0


def _debugging(arguments: list[str]) -> bool:
    return "--debug" in _before(arguments) or output.strict_boolean(DEBUG_VARIABLE)


def _before(arguments: list[str]) -> list[str]:
    """The options of the application itself, which stand before the command."""
    options: list[str] = []
    for word in arguments:
        if not word.startswith("-") and options[-1:] != [LIMIT]:
            break
        options.append(word)
    return options


def _tell(arguments: list[str], code: str, message: str, *, debug: bool) -> None:
    """Print the current error in one line, as an object if the user asked for JSON."""
    if debug:
        import traceback

        output.say_beside(traceback.format_exc().removesuffix("\n"))
    line = output.one_line(message)
    if _asks_for_json(arguments):
        content = {"schema": "refclust-error/1", "code": code, "message": line}
        text = output.json_text(content, ascii_only=True)
    else:
        text = f"refclust: {line} [{code}]"
    with contextlib.suppress(OSError):
        output.say_beside(text)


def _asks_for_json(arguments: list[str]) -> bool:
    words = list(itertools.takewhile(lambda word: word != "--", arguments))
    pairs = itertools.pairwise(words)
    return "--json" in words or "--format=json" in words or ("--format", "json") in pairs
