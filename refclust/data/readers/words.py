"""Lists of words in files: one word a line, ``#`` begins a comment (DATA-TEXT of chapter 09)."""

from __future__ import annotations

from refclust.data.files.textfile import display_name, line_lists
from refclust.data.readers.cells import listed, shown
from refclust.data.text import TextOptions, tokens
from refclust.errors import BadFile, EmptyFile


def read_words(path: str, *, lowercase: bool = True) -> tuple[str, ...]:
    """Read a list of words, such as words to leave out; each must be one word of the tokeniser.

    Spec: DATA-TEXT
    """
    name = display_name(path)
    options = TextOptions(lowercase=lowercase)
    words: dict[str, None] = {}  # in order, each once
    for first, lines in line_lists(path):
        for number, line in enumerate(lines, first):
            word = line.partition("#")[0].strip()
            if not word:
                continue
            parts = tokens(word, options)
            if len(parts) != 1:
                reading = f"reads as {listed(parts)}" if parts else "holds no letter and no number"
                raise BadFile(f"{name}:{number}: {shown(word)} is not one word: it {reading}")
            words[parts[0]] = None
    if not words:
        raise EmptyFile(f"{name} holds no word; it should hold one a line")
    return tuple(words)
