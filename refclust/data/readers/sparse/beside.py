"""Names that stand beside a matrix: vocabularies of columns, labels of rows (DATA-BESIDE)."""

from __future__ import annotations

import os
from typing import Final

from refclust.data.files.packing import PACKINGS, without_ending
from refclust.data.files.source import comes_once
from refclust.data.files.textfile import display_name, line_lists
from refclust.data.readers.cells import shown
from refclust.data.readers.formats import Options
from refclust.errors import BadFile, EmptyFile, FeatureMismatch, RefclustError, WrongCount
from refclust.notes import tell

_DOCWORD: Final = "docword"
_WITHOUT: Final = "--vocabulary '' does without"


def column_names(path: str, options: Options, columns: int, *, fixed: bool) -> tuple[str, ...]:
    """The words of the vocabulary that was given or stands beside a file; none if there is none.

    There must be as many as there are columns; where the file does not say how many there are,
    and they are not ``fixed``, there may be more.

    Spec: DATA-BESIDE
    """
    file = options.vocabulary
    if file == "":
        return ()  # asked for
    if file is None:
        file = found_beside(path, vocabularies(path))
        if file is None:
            return ()
        tell(f"columns are named by {display_name(file)}; {_WITHOUT}")
    words = _read_for(path, file)
    seen: dict[str, int] = {}
    for line, word in enumerate(words, 1):
        if seen.setdefault(word, line) != line:
            raise FeatureMismatch(
                f"{display_name(file)}:{line}: {shown(word)} stands in line {seen[word]} already; "
                f"columns of {display_name(path)} need different names"
            )
    if len(words) < columns or (fixed and len(words) != columns):
        raise WrongCount(
            f"{display_name(file)} has {len(words):,} names, {display_name(path)} has {columns:,} "
            f"columns; {_WITHOUT}"
        )
    return words


def row_names(path: str, ending: str, rows: int) -> tuple[str, ...] | None:
    """The names of rows in the file with a further ending beside a file, if there is one.

    Spec: DATA-BESIDE
    """
    file = found_beside(path, _with_ending(path, ending))
    if file is None:
        return None
    names = _read_for(path, file)
    if len(names) != rows:
        raise WrongCount(
            f"{display_name(file)} has {len(names):,} names, {display_name(path)} has {rows:,} rows"
        )
    return names


def read_names(file: str) -> tuple[str, ...]:
    """Read names, one a line, as they stand.

    Spec: DATA-BESIDE
    """
    names: list[str] = []
    for first, lines in line_lists(file):
        if "" in lines:
            raise BadFile(f"{display_name(file)}:{first + lines.index('')}: the line is empty")
        names += lines
    if not names:
        raise EmptyFile(f"{display_name(file)} is empty; it should hold a name a line")
    return tuple(names)


def _read_for(path: str, file: str) -> tuple[str, ...]:
    try:
        return read_names(file)
    except RefclustError as error:
        raise type(error)(f"{error} (it stands beside {display_name(path)})") from None


def found_beside(path: str, candidates: list[str]) -> str | None:
    """The first of some files that is there, maybe packed; nothing stands beside a pipe.

    Spec: DATA-BESIDE
    """
    if comes_once(path):
        return None
    endings = ("", *(packing.ending for packing in PACKINGS))
    files = (f"{candidate}{ending}" for candidate in candidates for ending in endings)
    return next((file for file in files if os.path.isfile(file)), None)


def vocabularies(path: str) -> list[str]:
    """Where the vocabulary of a file may stand.

    >>> vocabularies("uci/docword.kos.txt.gz")[0]
    'uci/vocab.kos.txt'
    >>> vocabularies("a.mat")[:2]
    ['a.mat.vocab', 'a.vocab']
    """
    folder, name = os.path.split(without_ending(path))
    places: list[str] = []
    if name.lower().startswith(_DOCWORD):
        places.append(os.path.join(folder, "vocab" + name[len(_DOCWORD) :]))
    places += _with_ending(path, ".vocab")
    places += [f"{place}.txt" for place in places[-2:]]
    return [*places, *_with_ending(path, ".clabel")]


def _with_ending(path: str, ending: str) -> list[str]:
    whole = without_ending(path)
    return [f"{whole}{ending}", f"{os.path.splitext(whole)[0]}{ending}"]
