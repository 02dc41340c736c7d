"""``refclust demo``: the tour a newcomer runs first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from refclust.cli.options.evidence.labelings import Json
from refclust.cli.output import columns, say, say_json

if TYPE_CHECKING:
    from refclust.metrics.contingency import Contingency
    from refclust.metrics.score import Score

WIDTH: Final = 96
# Rows are clusters, columns are classes: the 17 objects of the purity figure, golden case x-iir.
ROWS: Final = ((5, 1, 0), (1, 4, 1), (2, 0, 3))
CLUSTERS: Final = ("cluster 1", "cluster 2", "cluster 3")
CLASSES: Final = ("cross", "circle", "diamond")
CASE: Final = "x-iir"
SHOWN: Final = ("purity", "matching_accuracy", "adjusted_rand", "nmi", "ami", "van_dongen")


def demo(as_json: Json = False) -> None:
    """Take the tour: a small example, from a table to certified scores and their proof.

    It needs no files and takes about a second.
    """
    from refclust.version import __version__

    if as_json:
        say_json(_told(__version__))
        return
    say(
        f"refclust {__version__}: clustering and its metrics, right to the last bit, with the proof"
    )
    parts = (
        ("A clustering to judge", _the_table()),
        ("Its scores: the nearest double, and the exact number behind it", _the_scores()),
        ("Nothing is made up: 0/0 is undefined, with its reason", _the_undefined()),
        ("Why? Every step, with your own numbers", _the_derivation()),
        ("K-means decides exactly, where plain floats guess", _the_clusters()),
        ("EM comes with its proof: J(t+1) ≥ Q ≥ J(t), and certified digits", _the_mixture()),
        ("The formula is the code: clause MI-CT of the specification", _the_clause()),
        ("Proof: golden values, computed by another program from the definitions", _the_check()),
        ("What next", _what_next()),
    )
    for number, (title, lines) in enumerate(parts, start=1):
        say(f"\n{number}. {title}\n")
        for line in lines:
            say(f"   {line}".rstrip())


def _told(version: str) -> dict[str, object]:
    """The table of the tour and its scores, for programs."""
    from refclust.cli.show.scores.rendering import score_json

    table = _table()
    return {
        "schema": "refclust-demo/1",
        "refclust": version,
        "case": CASE,
        "clusters": list(CLUSTERS),
        "classes": list(CLASSES),
        "table": [list(row) for row in ROWS],
        "scores": [score_json(_score(key, table)) for key in SHOWN],
    }


def _table() -> Contingency:
    from dataclasses import replace

    from refclust.metrics.contingency import Contingency

    return replace(Contingency.of_rows(ROWS), clusters=CLUSTERS, classes=CLASSES)


def _the_table() -> Iterator[str]:
    table = _table()
    yield "17 objects of three true classes (columns) were put into three clusters (rows):"
    yield ""
    cells = [["", *CLASSES, "all"]]
    for name, row, size in zip(CLUSTERS, ROWS, table.row, strict=True):
        cells.append([name, *map(str, row), str(size)])
    cells.append(["all", *map(str, table.col), str(table.total)])
    yield from (f"  {line}" for line in columns(cells, right=frozenset(range(1, 5))))


def _score(key: str, table: Contingency, profile: str | None = None) -> Score:
    from refclust.metrics.catalogue import parse_key
    from refclust.metrics.score import evaluate

    entry, options = parse_key(key)
    return evaluate(entry, table, dict(options), profile=profile)


def _the_scores() -> Iterator[str]:
    from refclust import metrics  # noqa: F401  (importing it fills the catalogue)
    from refclust.cli.show.scores.rendering import matching_text, score_lines

    table = _table()
    scores = [_score(key, table) for key in SHOWN]
    yield from score_lines(scores, grouped=False)
    yield ""
    yield f"The best matching: {matching_text(scores[1])}."
    yield f"As many digits of nmi as you like: {scores[3].digits(60)}"
    yield ""
    yield "`nmi` divides by the geometric mean of two entropies. Others prefer another mean:"
    rows = [["refclust", str(scores[3])]]
    for name in ("sklearn", "genieclust", "torchmetrics"):
        theirs = _score("nmi", table, name)
        rows.append([f"--profile {name}", f"{theirs}  {theirs.name}"])
    yield from (f"  {line}" for line in columns(rows))


def _the_undefined() -> Iterator[str]:
    from refclust.cli.show.scores.rendering import remark_text, value_text
    from refclust.metrics.contingency import Contingency

    table = Contingency.of_rows([[17]])
    yield "All 17 objects in one cluster, and only one class: what is the nmi of that?"
    rows = []
    for name in (None, "sklearn", "genieclust", "torchmetrics"):
        score = _score("nmi", table, name)
        answer = f"{value_text(score)} {remark_text(score)}" if name is None else str(score)
        rows.append(["refclust" if name is None else f"--profile {name}", answer])
    yield from (f"  {line}" for line in columns(rows))


def _the_derivation() -> Iterator[str]:
    import textwrap

    score = _score("nmi", _table())
    assert score.exact is not None
    for line in score.exact.named("nmi").steps().text().split("\n"):
        indent = " " * (len(line.partition("=")[0]) + 4)
        # Products stay on one line: textwrap does not break at no-break spaces.
        glued = line.replace(" · ", "\xa0·\xa0")
        for piece in textwrap.wrap(glued, WIDTH, initial_indent="  ", subsequent_indent=indent):
            yield piece.replace("\xa0", " ")


def _the_clusters() -> Iterator[str]:
    from refclust.cluster.fit import kmeans

    offset = 100_000_000
    places = [float(offset + x) for x in range(8)]
    start = [float(offset + 3), float(offset + 4)]
    fit = kmeans([[x] for x in places], centres=[[c] for c in start], trace="full")
    exact = fit.trace[0].labels
    assert exact is not None
    yield f"Rows {offset:,} + 0 … 7, centres at + 3 and + 4. Which centre is nearest? Many programs"
    yield "expand the square, x² - 2xc + c², and lose all digits that matter:"
    yield ""
    rows = [["row", "expanded, to + 3", "to + 4", "so they say", "refclust"]]
    for x, label in zip(places, exact, strict=True):
        far = [x * x - 2 * x * c + c * c for c in start]
        theirs = f"+ {3 + far.index(min(far))}"
        rows.append([f"+ {x - offset:g}", *(f"{v:g}" for v in far), theirs, f"+ {3 + label}"])
    yield from (f"  {line}" for line in columns(rows, right=frozenset(range(5))))
    yield ""
    trace = ", ".join(f"{step.rss:g}" for step in fit.trace)
    yield f"The whole fit: RSS {trace}; stopped after {fit.iterations} iterations, {fit.stopped}."


def _the_mixture() -> Iterator[str]:
    from refclust.mixture.certified import certified_log_likelihood
    from refclust.mixture.families.named.gaussian import gaussian_mixture

    waits = [[x] for x in (1.8, 2.0, 2.2, 1.9, 3.1, 4.3, 4.5, 4.4, 4.7, 4.1)]
    fit = gaussian_mixture(waits, 2, labels=[0] * 3 + [1] * 7, tolerance=1e-3, backend="reference")
    yield "Ten waiting times, two normal densities. Of every iteration the log-likelihood J before,"
    yield "the bound Q that the M-step reached, and J after it; what rounding may do is proven:"
    yield ""
    rows = [["iteration", "J before", "Q", "J after", "verdict"]]
    shift = fit.weight * fit.constant
    for ascent in fit.monotone.ascents:
        numbers = [f"{x + shift:.9f}" for x in (ascent.before, ascent.bound, ascent.after)]
        rows.append([f"{ascent.iteration}", *numbers, ascent.verdict])
    yield from (f"  {line}" for line in columns(rows, right=frozenset(range(4))))
    yield ""
    exact = certified_log_likelihood(fit.parameters, waits, family="gaussian", digits=40)
    yield f"The last one to 30 digits: {exact.low:.30}…"
    yield f"The double above is within {exact.distance(fit.log_likelihood):.1e} of it."


def _the_clause() -> Iterator[str]:
    import ast
    import inspect
    import textwrap

    from refclust.formulas.information import mutual_information
    from refclust.trace.clauses import load, spec_root
    from refclust.trace.code.source import bare_text

    clause = load(spec_root())["MI-CT"]
    for formula in clause.formulas:
        yield from textwrap.wrap(formula, WIDTH)
    yield ""
    text = inspect.getsource(mutual_information)
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    bare = bare_text(text, node)
    yield from bare[bare.index("def ") :].split("\n")


def _the_check() -> Iterator[str]:
    from refclust.backends.session import Session
    from refclust.vectors import answers, verify
    from refclust.vectors.runners import subjects

    session = Session()
    [(subject, case)] = [
        (file.subject, case)
        for file in verify.load("worked")
        for case in file.cases
        if case.id == CASE
    ]
    wrong = [
        key
        for key, expected in case.expect.items()
        if not answers.passes(expected, subjects.answer(subject, case.input, key, session))
    ]
    count = len(case.expect)
    if wrong:
        yield f"{len(wrong)} of {count} values are WRONG: {', '.join(wrong)}"
        yield "This installation is broken; `refclust verify` tells more."
    else:
        yield f"This table is the golden case {CASE}: all {count} values are equal, bit for bit."


def _what_next() -> Iterator[str]:
    yield from columns(
        [
            ["refclust fit kmeans data.csv -k 3", "cluster a CSV, a sparse file or a text folder"],
            ["refclust select data.csv --covariance all", "how many components, which covariances"],
            ["refclust explain em model.json data.csv", "one iteration of EM with your numbers"],
            ["refclust score true.txt pred.txt", "your own labels, one a line or in CSV columns"],
            ["refclust explain ari true.txt pred.txt", "every step of one score; also as LaTeX"],
            ["refclust spec nmi", "the clause behind a metric, its code, its evidence"],
            ["refclust verify", "run all golden values here"],
            ["refclust vectors template", "have your own program judged, in any language"],
        ]
    )
