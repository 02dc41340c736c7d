"""Copies the golden vectors into a folder, whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import Final

from refclust.cli.output import reason_of
from refclust.errors import FileExists, FileNotReadable
from refclust.escape import for_terminal
from refclust.trace.places import spec_root
from refclust.vectors.verify import load
from refclust.version import __version__

MARKER: Final = "REFCLUST-VECTORS"
_TAKEN: Final = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR)
_PARTS: Final = ("vectors", "schema")
_PAGES: Final = "85-*.md"  # the chapter on vector files and answers

_README: Final = """\
# Golden vectors of refclust {version}

{cases} cases in {files} files. Each case gives an input and, for every key, the certified value:
`exact` is a rational number, `decimal` with `radius` encloses a real one, `binary64` is the nearest
double in C99 hexadecimal, `undefined` means 0/0, `error` names the code with which the input is
refused. Contingency tables have clusters in the rows and classes in the columns.

- `vectors/` holds the cases, one JSON file per subject, one case a line.
- `schema/` holds the JSON Schemas of the files.
- Pages beside this one, if any, describe the formats at length.

To check a program in any language: write its answers to a file and have them judged.

    refclust vectors template --out answers.json
    refclust verify --answers answers.json

Numbers may be written as JSON numbers, as hexadecimal doubles ("0x1.8p+0"), as fractions ("1/3") or
as "inf"; null means undefined. Leave out what the program does not compute.
"""


def export_to(folder: str, *, force: bool) -> tuple[int, int]:
    """Write the export and return the numbers of cases and of files."""
    target = Path(folder)
    _refuse(target, force=force)
    beside = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            cases = _fill(beside)
            files = sum(1 for path in beside.rglob("*") if path.is_file())
            _refuse(target, force=force)  # somebody may have filled it meanwhile
            _swap(beside, target)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        name = for_terminal(folder)
        if error.errno in _TAKEN:  # in the meantime
            raise FileExists(f"{name} has come to exist meanwhile; nothing is replaced") from None
        raise FileNotReadable(f"cannot write {name}: {_reason(error)}") from None
    return cases, files


def _reason(error: OSError) -> str:
    """What the system says; of several files that could not be copied, of the first."""
    if isinstance(error, shutil.Error) and error.args and error.args[0]:
        reason = str(error.args[0][0][-1]).partition("] ")[2].partition(":")[0]
        return reason[:1].lower() + reason[1:]
    return reason_of(error)


def _refuse(target: Path, *, force: bool) -> None:
    if not os.path.lexists(target):
        return
    shown = for_terminal(target)
    if not target.is_dir():
        raise FileExists(f"{shown} exists already and is not a folder")
    if not any(target.iterdir()):
        return
    if not (target / MARKER).is_file():
        # Replacing a folder deletes what it holds, so it must be one that we made.
        raise FileExists(f"{shown} is not empty and no export of refclust; name a new folder")
    if not force:
        raise FileExists(f"{shown} holds an earlier export; --force replaces it")


def _fill(folder: Path) -> int:
    source = spec_root()
    folder.mkdir()
    for part in _PARTS:
        if (source / part).is_dir():
            shutil.copytree(source / part, folder / part)
    for page in sorted(source.glob(_PAGES)):
        shutil.copy(page, folder / page.name)
    files = load()
    cases = sum(len(file.cases) for file in files)
    readme = _README.format(version=__version__, cases=f"{cases:,}", files=len(files))
    (folder / "README.md").write_text(readme, encoding="utf-8", newline="\n")
    (folder / MARKER).write_text(f"{__version__}\n", encoding="utf-8", newline="\n")
    return cases


def _swap(new: Path, target: Path) -> None:
    """Put the new folder in the place of the old one, which goes only when the new one stands."""
    if not target.is_dir() or not any(target.iterdir()):
        os.replace(new, target)  # which fails if there is something by now
        return
    old = target.with_name(f".{target.name}.{os.getpid()}.old")
    os.replace(target, old)
    try:
        os.replace(new, target)
    except OSError:
        os.replace(old, target)
        raise
    shutil.rmtree(old, ignore_errors=True)
