"""Texts: a folder of files, or one document a line; words become columns (chapter 09).

Realises DATA-FOLDER and DATA-LINES. Documents are read one after another, so that only counts
stay in memory.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Final

from refclust.data.dataset import Dataset
from refclust.data.files.source import comes_once
from refclust.data.files.textfile import (
    STDIN,
    display_name,
    encoding_of,
    line_lists,
    read_text,
    readable,
    written_in,
)
from refclust.data.readers.cells import listed
from refclust.data.readers.formats import Options, Plan, Reader, check_options, head, packing
from refclust.data.text import PLAIN, Corpus, TextOptions, counted_corpus, tokens
from refclust.errors import (
    BadFile,
    BadOption,
    EmptyFile,
    FileNotReadable,
    MissingColumn,
    NotText,
)
from refclust.limits import beyond, limit
from refclust.notes import tell

FOLDER: Final = "folder"  # the only label a folder of files offers
_SAMPLE = 20


def read_folder(path: str, options: Options) -> Dataset:
    """Read all files below a folder, each as one document.

    Spec: DATA-FOLDER
    """
    return folder_corpus(path, options).data


def folder_corpus(path: str, options: Options) -> Corpus:
    """Read a folder of documents, and count empty ones and words without a column.

    Spec: DATA-FOLDER
    """
    _check_folder(path, options)
    names = _files(path)
    labels = None if options.label_column is None else [_label(path, name) for name in names]
    encoding = encoding_of(path)  # of the folder: all that is in it
    texts = (_document(os.path.join(path, *name.split("/")), encoding) for name in names)
    return counted_corpus(
        texts, options.text or PLAIN, ids=names, labels=labels, name=f"the folder {path}"
    )


def read_lines(path: str, options: Options) -> Dataset:
    """Read one document a line; an empty line is an empty document.

    Spec: DATA-LINES
    """
    return lines_corpus(path, options).data


def lines_corpus(path: str, options: Options) -> Corpus:
    """Read one document a line, and count empty ones and words without a column.

    Spec: DATA-LINES
    """
    check_options("lines", options, ("text",))
    ids: list[str] = []

    def texts() -> Iterator[str]:
        for number, line in enumerate(_documents(path), start=1):
            ids.append(str(number))
            yield line
        if not ids:
            raise EmptyFile(f"{display_name(path)} is empty; it should hold one document a line")

    # The ids grow while the texts are taken and are complete when the rows are.
    return counted_corpus(texts(), options.text or PLAIN, ids=ids, name=display_name(path))


def sniff_folder(path: str) -> float:
    """Whether the path is a folder.

    Spec: DATA-READ
    """
    return 1.0 if path != STDIN and os.path.isdir(path) else 0.0


def sniff_lines(path: str) -> float:
    """How much a file looks like text; never sure, for every format of text is text.

    Spec: DATA-READ
    """
    start = head(path)
    text = start.decode("utf-8-sig", errors="replace")
    if not text.strip() or 0 in start or "\ufffd" in text[:-1]:
        return 0.0
    words = tokens(text[:4096])
    return 0.3 if 2 * sum(word.isalpha() for word in words) > len(words) else 0.05


def plan_folder(path: str, options: Options) -> Plan:
    """Tell how many files would be read and what their labels would be."""
    _check_folder(path, options)
    names = _files(path)
    facts = [("documents", str(len(names))), ("ids", f"paths: {listed(names[:3])}")]
    notes: list[str] = []
    labels = sorted({name.partition("/")[0] for name in names if "/" in name})
    if options.label_column is not None:
        folders = sorted({_label(path, name) for name in names})
        facts.append(("labels", f"{len(folders)}: {listed(folders)}"))
    elif labels:
        notes.append(
            f"there are {len(labels)} folders ({listed(labels)}); --label-column folder takes "
            "them as labels"
        )
    return Plan("folder", "text", (*facts, *_told(options.text or PLAIN)), tuple(notes))


def plan_lines(path: str, options: Options) -> Plan:
    """Tell how texts would be cut into words."""
    check_options("lines", options, ("text",))
    first = list(islice(_documents(path), _SAMPLE))
    if not first:
        raise EmptyFile(f"{display_name(path)} is empty; it should hold one document a line")
    text = options.text or PLAIN
    empty = sum(not tokens(line, text) for line in first)
    notes = [f"{empty} of the first {len(first)} lines hold no word"] if empty else []
    words = listed(tokens(first[0], text)[:8])
    facts = (("ids", "line numbers from 1"), ("first words", words), *_told(text), *packing(path))
    return Plan("lines", "text", facts, tuple(notes))


def _check_folder(path: str, options: Options) -> None:
    check_options("folder", options, ("text", "label_column"))
    if options.label_column not in (None, FOLDER):
        raise BadOption(
            f"the label of a file is {options.label_column!r}; a folder of texts offers {FOLDER}"
        )
    if path == STDIN:
        raise BadOption("standard input is not a folder; use the format lines or jsonl")


def _files(path: str) -> list[str]:
    """Return the paths of all files below a folder, with slashes, in code-point order."""
    names: list[str] = []
    strange: list[str] = []  # pipes, devices, links to folders and to nowhere
    waiting = [""]
    left = limit("files")
    with readable(f"the folder {path}", BadFile):
        inside = os.path.join(os.path.realpath(path), "")
        while waiting:
            folder = waiting.pop()
            with os.scandir(os.path.join(path, folder)) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:  # long before a tree that nobody meant is walked to its end
                        raise beyond("files", f"the folder {path} goes on")
                    if entry.name.startswith("."):
                        continue
                    name = f"{folder}{entry.name}"
                    # Links to folders are not followed: they may lead round in a circle.
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(f"{name}/")
                    elif _is_file(entry):
                        _check_link(entry, inside)
                        names.append(name)
                    else:
                        strange.append(name)
    if not names:
        raise EmptyFile(f"the folder {path} holds no file, hidden ones left aside")
    for name in (*names, *strange):
        try:
            name.encode()
        except UnicodeEncodeError:
            raise NotText(f"the name of a file below {path} is not UTF-8: {name!a}") from None
    if strange:
        left_out = listed(sorted(strange))
        tell(f"left out below {path}, being no files: {left_out}")
    return sorted(names)


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a file, or a link to one: the system is asked again for links only."""
    return entry.is_file(follow_symlinks=False) or (
        entry.is_symlink() and os.path.isfile(entry.path)
    )


def _check_link(entry: os.DirEntry[str], inside: str) -> None:
    """Refuse a link to a file that nobody put into the folder.

    Spec: DATA-FOLDER
    """
    target = os.path.realpath(entry.path) if entry.is_symlink() else inside
    if not target.startswith(inside):
        raise BadFile(
            f"{display_name(entry.path)} is a link out of the folder, to {display_name(target)}; "
            "put a copy in its place"
        )


def _document(path: str, encoding: str | None) -> str:
    if comes_once(path):  # it was a file just now
        raise FileNotReadable(f"cannot read {display_name(path)}: it is no file any more")
    with written_in(encoding, [path]):
        return read_text(path)


def _label(path: str, name: str) -> str:
    folder, slash, _ = name.partition("/")
    if not slash:
        file = display_name(os.path.join(path, name))
        raise MissingColumn(f"{file} lies in no folder, which is its label")
    return sys.intern(folder)


def _documents(path: str) -> Iterator[str]:
    for _, lines in line_lists(path):
        yield from lines


def _told(text: TextOptions) -> tuple[tuple[str, str], ...]:
    facts = [("case", "folded" if text.lowercase else "kept")]
    if text.stop_words:
        facts.append(("words left out", str(len(text.stop_words))))
    facts.append(("values", "tf-idf" if text.tfidf else "counts"))
    return tuple(facts)


READERS: Final = (
    Reader(
        "folder",
        (),
        "a folder of text files, one document each",
        read_folder,
        sniff_folder,
        plan_folder,
    ),
    Reader("lines", (), "one document a line", read_lines, sniff_lines, plan_lines),
)
