"""``refclust vectors``: list, show and export the golden vectors, for any program to use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from refclust.cli.options.complete import complete_case
from refclust.cli.options.evidence.labelings import Json
from refclust.cli.output import (
    check_output,
    columns,
    counted,
    json_text,
    note,
    say,
    say_json,
    write_file,
)
from refclust.cli.strict import App
from refclust.errors import BadOption

if TYPE_CHECKING:
    from refclust.vectors.verify import GoldenCase, VectorFile

SCHEMA: Final = "refclust-vector-list/1"
LONGEST_LIST: Final = 40

app = App(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="List, show and export the golden vectors: certified values for any implementation.",
)

Chapter = Annotated[
    str | None,
    typer.Option(metavar="C", help="Only vector files whose path contains this, such as 43."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace what an earlier run wrote.")]


@app.command("list")
def list_files(chapter: Chapter = None, as_json: Json = False) -> None:
    """List the vector files and how much they hold."""
    from refclust.vectors.verify import load

    files = load(chapter)
    if as_json:
        say_json(
            {
                "schema": SCHEMA,
                "files": [
                    {
                        "name": file.name,
                        "subject": file.subject,
                        "title": file.title,
                        "cases": [case.id for case in file.cases],
                        "values": _values(file),
                    }
                    for file in files
                ],
            }
        )
        return
    rows = [["file", "cases", "values", "title"]]
    rows += [
        [file.name, f"{len(file.cases):,}", f"{_values(file):,}", file.title] for file in files
    ]
    say("\n".join(columns(rows, right=frozenset([1, 2]))))
    cases = sum(len(file.cases) for file in files)
    values = sum(map(_values, files))
    say(
        f"\n{counted(values, 'value')} in {counted(cases, 'case')}; "
        "`refclust vectors show CASE` shows one, `export DIR` copies all"
    )


@app.command("show")
def show_case(
    case: Annotated[
        str, typer.Argument(metavar="CASE", help="Its name.", autocompletion=complete_case)
    ],
    as_json: Json = False,
) -> None:
    """Show one case: what goes in and what must come out."""
    file, shown = _find(case)
    if as_json:
        say_json(
            {
                "schema": "refclust-vector-case/1",
                "id": shown.id,
                "file": file.name,
                "subject": file.subject,
                "description": shown.description,
                "formulas": list(shown.formulas),
                "input": shown.input,
                "expect": shown.expect,
            }
        )
        return
    lines = [f"{shown.id}  {shown.description}".rstrip(), f"{file.name}, {file.subject}", ""]
    lines += ["input", *_input_lines(shown.input), "", "expected"]
    lines += (
        [f"  {line}" for line in columns([[key, *_told(v)] for key, v in shown.expect.items()])]
        if not isinstance(shown.expect.get("error"), str)
        else [f"  the error {shown.expect['error']}"]
    )
    say("\n".join(lines))


@app.command("template")
def template(
    out: Annotated[
        str, typer.Option(metavar="FILE", help="Where to write it; - is standard output.")
    ] = "-",
    chapter: Chapter = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Write an empty answers file, for another program to fill in.

    \b
    refclust vectors template --out answers.json
    refclust verify --answers answers.json
    """
    from refclust.escape import for_terminal
    from refclust.vectors import verify

    check_output(out, force=force)
    form = verify.template(chapter)
    write_file(out, json_text(form, indent=1), force=force)
    if as_json and out != "-":
        told = {"schema": "refclust-vector-template/1", "out": out, "cases": len(form["answers"])}
        say_json(told)
    elif out != "-":
        cases = counted(len(form["answers"]), "case")
        note(f"wrote {for_terminal(out)}: {cases}; delete what you do not answer")


@app.command("export")
def export(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="A new or empty folder.")],
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Copy vectors, schema and instructions into a folder."""
    from refclust.cli.commands.proof.export import export_to
    from refclust.escape import for_terminal

    count, files = export_to(folder, force=force)
    if as_json:
        told = {"schema": "refclust-vector-export/1", "folder": folder}
        say_json({**told, "files": files, "cases": count})
        return
    note(f"wrote {counted(files, 'file')} with {counted(count, 'case')} to {for_terminal(folder)}")


def _values(file: VectorFile) -> int:
    return sum(
        1 if isinstance(case.expect.get("error"), str) else len(case.expect) for case in file.cases
    )


def _find(name: str) -> tuple[VectorFile, GoldenCase]:
    from refclust.vectors.verify import load

    files = load()
    for file in files:
        for case in file.cases:
            if case.id == name:
                return file, case
    import difflib

    known = [case.id for file in files for case in file.cases]
    close = difflib.get_close_matches(name, known, n=3)
    hint = f"; did you mean {', '.join(close)}?" if close else ""
    raise BadOption(f"no case is called {name!r}{hint}")


def _input_lines(inputs: dict[str, Any]) -> Iterator[str]:
    for name, value in inputs.items():
        if name == "table" and value:
            yield "  table (rows are clusters, columns are classes)"
            cells = [[str(cell) for cell in row] for row in value]
            if all(len(row) == len(cells[0]) for row in cells) and cells[0]:
                right = frozenset(range(len(cells[0])))
                yield from (f"    {line}" for line in columns(cells, right=right))
                continue
        text = json_text(value)
        shown = text if len(text) <= 400 else f"{text[:400]}… (--json shows all)"
        yield f"  {name}  {shown}"


def _told(value: Any) -> tuple[str, str]:
    """Return an expected value as two columns: the exact or decimal one, and the double."""
    if "list" in value:
        items = [_told(item)[0] for item in value["list"]]
        shown = items if len(items) <= LONGEST_LIST else [*items[:LONGEST_LIST], "…"]
        return f"[{', '.join(shown)}]", ""
    if "error" in value:
        return f"the error {value['error']}", ""
    if "undefined" in value:
        return "undefined", ""
    if "infinite" in value:
        return f"{value['infinite']}inf", ""
    exact = str(value.get("exact", value.get("decimal", "")))
    return exact if len(exact) <= 48 else f"{exact[:45]}...", str(value.get("binary64", ""))
