"""Texts with traps for whoever cuts them into words.

Characters that cannot be seen, or that look like others, are written as escapes.
"""

from __future__ import annotations

from .text_witness import Options

# id, text, what it is about
TEXTS = [
    ("english", "The cat sat on the mat; the mat was flat.", "plain English"),
    ("case", "THE The the tHe", "case is folded"),
    ("nothing", "", "the empty text"),
    ("blanks", " \t\r\n ", "nothing but blanks"),
    ("signs", "?! -- ... () \u2014 \u2026 $ %", "nothing but signs"),
    ("apostrophe", "It's Peter's 'quoted' word, isn't it?", "inside a word only"),
    ("apostrophe-edges", "'tis the dogs' 'n' rock'n'roll o' '", "at its edge it is no part"),
    ("apostrophe-double", "a''b a'b''c ''d'' e'-f", "two in a row separate"),
    ("apostrophe-curly", "It\u2019s \u2018quoted\u2019 don\u2019t DON'T", "U+2019 is one"),
    ("apostrophe-letter", "o\u02bcclock O\u02bcCLOCK", "U+02BC is a letter, not an apostrophe"),
    (
        "apostrophe-others",
        "a\u2018b a`b a\u00b4b a\u2032b a\uff07b a\u201bb",
        "none of these joins",
    ),
    ("apostrophe-digits", "the '90s, 1990's 5'11", "digits are as good as letters"),
    ("hyphens", "well-known co\u2010op non\u2011stop 1914\u20131918 yes\u2014no", "they separate"),
    ("underscores", "snake_case _a_ __init__ a\u203fb", "they separate"),
    ("digits", "7 007 x2 2x 4th R2D2 1e10", "letters and digits mix"),
    ("decimals", "3.5 1,655.80 -7 +1 1986/87 50%", "a point or comma separates"),
    ("numbers", "x\u00b2 \u2167 \u00bd \u0663\u0664 \u2460 \u3007", "numbers that are no digits"),
    ("signs-inside", "C++ C# .NET AT&T a+b=c me@example.org", "signs are never part of a word"),
    ("soft-hyphens", "co\u00adop\u00ader\u00adate \u00adend\u00ad a\u00ad'\u00adb", "they vanish"),
    ("soft-hyphen-mark", "cafe\u00ad\u0301 \u00ad\u0301", "they vanish before composition"),
    ("soft-hyphen-alone", "\u00ad \u00ad\u00ad", "nothing is left"),
    ("nfc", "caf\u00e9 cafe\u0301 CAFE\u0301 CAF\u00c9", "four spellings of one word"),
    (
        "nfc-order",
        "Vi\u1ec7t Vie\u0323\u0302t Vie\u0302\u0323t Vi\u1eb9\u0302t Vi\u00ea\u0323t",
        "two marks in any order",
    ),
    ("nfc-rare", "q\u0307\u0323 q\u0323\u0307", "marks without a composed letter are ordered too"),
    (
        "nfc-hangul",
        "\ud55c\uad6d \u1112\u1161\u11ab\u1100\u116e\u11a8",
        "syllables and their parts",
    ),
    ("nfc-excluded", "\u0958 \u0915\u093c", "a letter that composition does not give back"),
    ("nfc-signs", "a=\u0338b c\u2260d", "a mark after a sign: nothing, composed or not"),
    ("not-compatible", "\uff21\uff22 AB \u00aa a x\u00b2 x2", "compatible forms stay different"),
    ("ligatures", "\ufb01le file \ufb00 ff o\ufb03ce", "full folding takes ligatures apart"),
    ("one-of-two", "\u212a k \u212b \u00e5 \u2126 \u03c9", "signs that equal letters"),
    ("german", "Stra\u00dfe STRASSE strasse STRA\u1e9eE", "sharp s, small and capital"),
    ("turkish", "\u0130 I\u0307 i\u0307 I i \u0131", "the dot stays as a mark, dotless i stays"),
    (
        "greek",
        "\u03a3\u0399\u03a3\u03a5\u03a6\u039f\u03a3 \u03c3\u03b9\u03c3\u03c5\u03c6\u03bf\u03c2",
        "final sigma is sigma",
    ),
    ("greek-iota", "\u1fb3 \u03b1\u0345 \u1fbc \u0391\u0345 \u03b1\u03b9", "iota subscript"),
    (
        "greek-iota-accent",
        "\u1fb4 \u03b1\u0301\u0345 \u03b1\u0345\u0301 \u03ac\u03b9",
        "decomposed first, the accent stays on alpha whatever the order of the marks",
    ),
    ("greek-micro", "\u00b5m \u03bcm \u03d1 \u03b8 \u03d5 \u03c6", "symbols that fold to letters"),
    ("folds", "\u017fo so \u01c5 \u01c4 \u01c6 \u01f0 J\u030c \u0149 \u0587", "odd foldings"),
    ("cherokee", "\u13a0 \uab70", "folds to the capital letter"),
    ("georgian", "\u10d0 \u1c90", "a capital of Unicode 11"),
    ("deseret", "\U00010400 \U00010428", "beyond 16 bits"),
    ("marks", "\u0301a \u0301 b'\u0301c d\u0301'e", "a mark begins no word"),
    ("marks-enclosing", "a\u20dd b\u20dd\u0301c", "enclosing marks are marks"),
    (
        "devanagari",
        "\u0939\u093f\u0928\u094d\u0926\u0940 \u092e\u0947\u0902\u0964",
        "vowel signs and virama are marks; the danda is a sign",
    ),
    (
        "devanagari-joiner",
        "\u0915\u094d\u200d\u0937 \u0915\u094d\u200c\u0937 \u0915\u094d\u0937 \u0915\u094d\u200d",
        "joiners after a virama, between letters and at the end",
    ),
    (
        "thai",
        "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 \u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22",
        "what is not separated is not cut",
    ),
    (
        "chinese",
        "\u6211\u7231\u5317\u4eac\u3002\u4f60\u597d\uff0c\u4e16\u754c",
        "cut at signs only",
    ),
    (
        "japanese",
        "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8\u3001\u30ab\u30fc \u304b\u3099 \u304c",
        "the length mark is a letter; a voiced sound in two spellings",
    ),
    ("hebrew", "\u05e6\u05d4\u05f4\u05dc \u05e9\u05c1\u05b8 \ufb2a\u05b8", "points, and a sign"),
    (
        "arabic",
        "\u0643\u064e\u062a\u064e\u0628 \u0643\u0640\u062a\u0628 \u0623 \u0627\u0654",
        "vowel marks and the lengthening letter stay; a composed hamza",
    ),
    (
        "persian",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 "
        "\u200c\u0627\u200c \u0627\u200c\u200c\u0628",
        "a non-joiner inside a word, at edges, and twice",
    ),
    ("joiners-mixed", "a'\u200db c\u200d'd e\u200cf g\u200dh'i", "one joiner at a time"),
    (
        "emoji-family",
        "hi \U0001f468\u200d\U0001f469\u200d\U0001f467 bye",
        "joined emoji are no word",
    ),
    ("emoji-heart", "\u2764\ufe0f love\u2764\ufe0f you \u2764\u200da", "a selector after a sign"),
    ("emoji-inside", "ok\U0001f44d\U0001f3fdyes", "emoji separate"),
    ("emoji-flag", "go \U0001f1e9\U0001f1ea go", "regional indicators are signs"),
    ("emoji-keycap", "2\ufe0f\u20e3 #\ufe0f\u20e3 2", "a digit keeps its marks, a sign does not"),
    ("selector", "a\ufe0fb \u845b\ufe00", "a selector after a letter is a mark of it"),
    ("blanks-of-all-kinds", "a\u2028b\u00a0c\td\x0ce\u3000f\x1cg\x85h", "all separate"),
    ("invisible", "a\u200bb\u2060c\ufeffd\u200ee", "these are no joiners"),
    (
        "review",
        "Great fun! I was laughing from the start; a great cast, and the laughs never stop. "
        "I'd love to see it again, and I'd recommend it.",
        "a bag of words as one is usually shown: laughing is not laugh",
    ),
]

NAMES = "The Stra\u00dfe isn\u2019t a STRASSE, isn't the cat."
# id, text, options, what it is about
CHOSEN = [
    ("kept-case", "The CAT e\u0301\u00c9 Stra\u00dfe \u0130", Options(lowercase=False), "as it is"),
    (
        "kept-signs",
        "Don\u2019t CO\u00adOP \u2018A\u2019",
        Options(lowercase=False),
        "with case kept, apostrophes and soft hyphens are still treated alike",
    ),
    (
        "stop-folded",
        NAMES,
        Options(stop_words=("THE", "Strasse", "isn\u2019t")),
        "stop words are folded as texts are",
    ),
    (
        "stop-kept-case",
        NAMES,
        Options(lowercase=False, stop_words=("the", "isn\u2019t")),
        "with case kept, stop words match their own case only",
    ),
    ("stop-nfd", "caf\u00e9 bar", Options(stop_words=("cafe\u0301",)), "equivalent spellings"),
    ("stop-parts", "it's it s", Options(stop_words=("it",)), "a word is left out as a whole"),
    ("stop-all", "to be or not to be", Options(stop_words=("be", "not", "or", "to")), "none left"),
    ("length", NAMES, Options(min_length=4), "words of four code points and more"),
    (
        "length-folded",
        "\u00df s e\u0301 \u00e9 \U00010400 \ufb03 q\u0323",
        Options(min_length=2),
        "code points are counted after folding and composition, not bytes or halves of pairs",
    ),
    ("length-marks", "a\u20dd ab a", Options(min_length=2), "marks count"),
    ("length-joiners", "a'b ab a", Options(min_length=3), "joiners count"),
    (
        "length-and-stop",
        "the then other these",
        Options(min_length=4, stop_words=("then",)),
        "both",
    ),
    (
        "vocabulary",
        "A rose is a rose, a thorn is not.",
        Options(vocabulary=("thorn", "rose", "bud")),
        "a bag holds words of the vocabulary only; tokens are all words",
    ),
    (
        "vocabulary-none",
        "one two",
        Options(vocabulary=("three",)),
        "no word of the vocabulary occurs",
    ),
]
