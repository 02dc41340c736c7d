"""Normal forms and case folding written out, a second road beside Python's own.

Canonical decomposition follows the fields of the character database, marks are ordered by their
combining class, and composition inverts the decompositions except for those that the standard
excludes (CompositionExclusions.txt, singletons, non-starters). Foldings that are not the plain
lower-case letter are listed by hand from CaseFolding.txt, statuses C and F.
"""

from __future__ import annotations

import sys
import unicodedata
from functools import cache

# Characters that came after Unicode 3.2, with the version that brought them. Everything in the
# vectors is either in 3.2 or here, so every Python in use knows it.
LATER = {
    "\u1e9e": "5.1",
    "\U0001f1e9": "6.0",
    "\U0001f1ea": "6.0",
    "\U0001f467": "6.0",
    "\U0001f468": "6.0",
    "\U0001f469": "6.0",
    "\U0001f44d": "6.0",
    "\U0001f3fd": "8.0",
    "\uab70": "8.0",
    "\u1c90": "11.0",
}
_EXCLUDED = [
    (0x0958, 0x095F),
    (0x09DC, 0x09DF),
    (0x0A33, 0x0A36),
    (0x0A59, 0x0A5E),
    (0x0B5C, 0x0B5D),
    # Of Tibetan some are, others are not.
    *((code, code) for code in (0x0F43, 0x0F4D, 0x0F52, 0x0F57, 0x0F5C, 0x0F69, 0x0F76, 0x0F78)),
    *((code, code) for code in (0x0F93, 0x0F9D, 0x0FA2, 0x0FA7, 0x0FAC, 0x0FB9)),
    (0x2ADC, 0x2ADC),
    (0xFB1D, 0xFB4E),
    (0x1D15E, 0x1D164),
    (0x1D1BB, 0x1D1C0),
]
_SYLLABLES, _LEADING, _VOWEL, _TRAILING = 0xAC00, 0x1100, 0x1161, 0x11A7
_VOWELS, _TRAILINGS, _SYLLABLE_COUNT = 21, 28, 11172
_FOLDINGS = {
    "\u00b5": "\u03bc",
    "\u00df": "ss",
    "\u0130": "i\u0307",
    "\u0149": "\u02bcn",
    "\u017f": "s",
    "\u0345": "\u03b9",
    "\u03c2": "\u03c3",
    "\u03d0": "\u03b2",
    "\u03d1": "\u03b8",
    "\u03d5": "\u03c6",
    "\u0587": "\u0565\u0582",
    "\u1e9e": "ss",
    "\uab70": "\u13a0",  # Cherokee folds to its capitals
    "\u13a0": "\u13a0",
    "\ufb00": "ff",
    "\ufb01": "fi",
    "\ufb03": "ffi",
}


def decomposed(text: str) -> str:
    """Canonical decomposition, marks in canonical order (NFD).

    >>> ascii(decomposed("\\u00e9"))
    "'e\\\\u0301'"
    """
    parts: list[str] = []
    for character in text:
        for part in _parts(character):
            parts.append(part)
            place = len(parts) - 1
            # A mark moves before marks of a higher class, never past a starter or an equal.
            while place and 0 < _class(part) < _class(parts[place - 1]):
                parts[place] = parts[place - 1]
                place -= 1
                parts[place] = part
    result = "".join(parts)
    assert result == unicodedata.normalize("NFD", text), "the two roads disagree"
    return result


def composed(text: str) -> str:
    """Canonical composition of the decomposed text (NFC).

    >>> ascii(composed("e\\u0301"))
    "'\\\\xe9'"
    """
    parts: list[str] = []
    starter = -1
    for character in decomposed(text):
        own = _class(character)
        near = starter == len(parts) - 1
        if starter >= 0 and (near or 0 < _class(parts[-1]) < own):
            pair = _pair(parts[starter], character)
            if pair:
                parts[starter] = pair
                continue
        if own == 0:
            starter = len(parts)
        parts.append(character)
    result = "".join(parts)
    assert result == unicodedata.normalize("NFC", text), "the two roads disagree"
    return result


def case_folded(text: str) -> str:
    """Full case folding.

    >>> case_folded("Stra\\u00dfe")
    'strasse'
    """
    result = "".join(_FOLDINGS.get(character, character.lower()) for character in text)
    assert result == text.casefold(), "the two roads disagree"
    return result


def settled(text: str) -> bool:
    """Whether all Unicode versions of the Pythons in use know every character."""
    old = unicodedata.ucd_3_2_0
    return all(old.category(one) != "Cn" or one in LATER for one in text)


def _class(character: str) -> int:
    return unicodedata.combining(character)


def _parts(character: str) -> list[str]:
    place = ord(character) - _SYLLABLES
    if 0 <= place < _SYLLABLE_COUNT:
        rest, trailing = divmod(place, _TRAILINGS)
        leading, vowel = divmod(rest, _VOWELS)
        codes = [_LEADING + leading, _VOWEL + vowel] + [_TRAILING + trailing] * (trailing > 0)
        return [chr(code) for code in codes]
    field = unicodedata.decomposition(character)
    if not field or field[0] == "<":
        return [character]
    return [part for code in field.split() for part in _parts(chr(int(code, 16)))]


def _pair(first: str, second: str) -> str:
    leading, vowel = ord(first) - _LEADING, ord(second) - _VOWEL
    if 0 <= leading < 19 and 0 <= vowel < _VOWELS:
        return chr(_SYLLABLES + (leading * _VOWELS + vowel) * _TRAILINGS)
    syllable, trailing = ord(first) - _SYLLABLES, ord(second) - _TRAILING
    if 0 <= syllable < _SYLLABLE_COUNT and not syllable % _TRAILINGS and 0 < trailing < _TRAILINGS:
        return chr(ord(first) + trailing)
    return _pairs().get(first + second, "")


@cache
def _pairs() -> dict[str, str]:
    found = {}
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        field = unicodedata.decomposition(character)
        if not field or field[0] == "<" or any(low <= code <= high for low, high in _EXCLUDED):
            continue
        parts = "".join(chr(int(part, 16)) for part in field.split())
        if len(parts) == 2 and not _class(character) and not _class(parts[0]):
            found[parts] = character
    return found
