"""The executable specification: one file per chapter of ``spec/``, one plain function per clause.

A function here is the formula of its clause and nothing else: numbers, vectors, sparse dicts and
tables in, a ``Fraction`` where the clause is rational and a ``Real`` otherwise out. A float is the
rational number it is; nothing is rounded. What is fast stands elsewhere and is held to these lines.

>>> CHAPTERS[:3]
('vectors', 'data', 'kmeans')
"""

from typing import Final

CHAPTERS: Final = (
    "vectors",
    "data",
    "kmeans",
    "hierarchical",
    "mixtures",
    "multinomial",
    "gaussian",
    "classify",
    "selection",
    "counts",
    "contingency",
    "matching",
    "pairs",
    "information",
    "association",
    "scatter",
    "proximity",
    "density",
    "classification",
    "agreement",
    "probabilities",
    "significance",
    "intervals",
    "crossval",
)
