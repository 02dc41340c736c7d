"""Golden vectors of chapter 53: laws, classifiers on one test set, methods over several trials."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

from . import significance_tests as tests
from .values import Json, Undefined, encode
from .writer import VectorFile

F = Fraction
SUBJECT = "metrics.evidence"


def files() -> list[VectorFile]:
    """The files of chapter 53."""
    return [_laws(), _classifiers(), _trials(), _ranges(), _labels()]


def _laws() -> VectorFile:
    file = VectorFile(
        "53-significance/laws.json",
        SUBJECT,
        "Tails of laws, ranks, signs, adjusted p-values",
    )
    for i, z in enumerate(["0", "1/2", "1", "49/25", "-3", "8", "30"]):
        expect: dict[str, Json] = {"normal_tails": tests.normal(F(z))}
        file.add(f"law-normal-{i}", {"z": z}, expect, formulas=["ST-NORMAL"])
    for x, df in itertools.product(["1/10", "3841/1000", "20", "300"], [1, 2, 3, 4, 7, 10]):
        slug = f"law-chi2-{x.replace('/', '.')}-{df}"
        expect = {"chi_squared_tail": tests.chi_squared(F(x), df)}
        file.add(slug, {"x": x, "df": df}, expect, formulas=["ST-CHI2"])
    for x, a, b in itertools.product(
        ["0", "1/7", "1/2", "99/100", "1"], [1, 2, 3, 5, 8], [1, 2, 5]
    ):
        slug = f"law-beta-{x.replace('/', '.')}-{a}-{b}"
        expect = {"beta_share": tests.beta(F(x), F(a, 2), F(b, 2))}
        given: dict[str, Json] = {"x": x, "a": str(F(a, 2)), "b": str(F(b, 2))}
        file.add(slug, given, expect, formulas=["ST-BETA"])
    for t, df in itertools.product(["0", "1/3", "4", "100"], [1, 2, 5, 9, 30]):
        expect = {"student_tails": tests.student(F(t), df)}
        slug = f"law-student-{t.replace('/', '.')}-{df}"
        file.add(slug, {"t_squared": t, "df": df}, expect, formulas=["ST-STUDENT"])
    for f, df, below in itertools.product(["1/2", "3", "40"], [1, 3, 10], [2, 5]):
        expect = {"fisher_tail": tests.fisher(F(f), df, below)}
        slug = f"law-fisher-{f.replace('/', '.')}-{df}-{below}"
        file.add(slug, {"f": f, "df": df, "df_below": below}, expect, formulas=["ST-FISHER"])
    _small_laws(file)
    return file


def _small_laws(file: VectorFile) -> None:
    for i, text in enumerate(["1 1 2", "3 -1 1/2 0", "0 0", "-5", "1/3 1/3 -1/3 2 2 -7"]):
        d = [F(part) for part in text.split()]
        law = Counter(
            sum((s * x for s, x in zip(signs, d, strict=True)), F(0))
            for signs in itertools.product((1, -1), repeat=len(d))
        )
        expect: dict[str, Json] = {
            "permutation_p": encode(tests.flips(d)),
            "sign_flip_law": encode(
                tuple(v for value in sorted(law) for v in (value, F(law[value])))
            ),
        }
        given: dict[str, Json] = {"differences": [str(x) for x in d]}
        file.add(f"law-flips-{i}", given, expect, formulas=["ST-PERM", "ST-FLIPS"])
        ranked: dict[str, Json] = {"mid_ranks": encode(tuple(tests.ranks(d)))}
        file.add(f"law-ranks-{i}", {"values": [str(x) for x in d]}, ranked, formulas=["ST-RANKS"])
    for i, text in enumerate(["1/100 1/2 1/50", "1/10 1/10 1/10", "1", "1/1000 1/25 1/30 9/10"]):
        p = [F(part) for part in text.split()]
        expect = {"holm": encode(tuple(tests.holm(p)))}
        file.add(f"law-holm-{i}", {"p": [str(x) for x in p]}, expect, formulas=["ST-HOLM"])
    draws: list[tuple[int, list[int]]] = [(3, [1, -3, 5, 2]), (-2, [0, 0, 2]), (0, [1, 0])]
    for i, (observed, drawn) in enumerate(draws):
        far = sum(abs(x) >= abs(observed) for x in drawn)
        moved = sum(abs(x - observed) >= abs(observed) for x in drawn)
        expect = {
            "sampled_p": encode(F(1 + far, 1 + len(drawn))),
            "bootstrap_p": encode(F(1 + moved, 1 + len(drawn))),
        }
        given = {"observed": str(observed), "drawn": [str(x) for x in drawn]}
        file.add(f"law-draws-{i}", given, expect, formulas=["ST-MC", "ST-BOOT"])
    for i, (estimate, value, variance) in enumerate(
        [("3", "1", "4"), ("1", "1", "0"), ("1", "0", "0")]
    ):
        top = (F(estimate) - F(value)) ** 2
        expect = {"wald_squared": encode(tests.quotient(top, F(variance)))}
        given = {"estimate": estimate, "value": value, "variance": variance}
        file.add(f"law-wald-{i}", given, expect, formulas=["ST-WALD"])


MCNEMAR = [
    *((b, c) for b in range(5) for c in range(5)),
    (5, 0), (6, 0), (6, 1), (8, 2), (10, 2), (10, 3), (9, 4), (10, 10), (12, 5), (15, 5), (20, 10),
]  # fmt: skip


WINS = [
    "ST-MCNTAB",
    "ST-MCNK",
    "ST-MCNP",
    "ST-MCNMID",
    "ST-MCNCHI",
    "ST-WALDACC",
    "ST-WALD",
    "ST-PERM",
    "ST-BINOM",
    "ST-CHI2",
    "ST-NORMAL",
]


def _classifiers() -> VectorFile:
    file = VectorFile(
        "53-significance/classifiers.json",
        SUBJECT,
        "Classifiers on one test set: McNemar, Wald, Cochran, exchanges",
        {
            "ERR-10": "misprint: the same binomial summed k + 1 times",
            "ERR-11": "misprint: not clipped, above 1 where b = c",
        },
    )
    for b, c in MCNEMAR:
        _add_wins(file, 3, b, c, 4)
    draw = random.Random(53)
    for i in range(25):
        n, classifiers = 1 + int(draw.random() * 9), 2 + i % 3
        truth = ["xyz"[int(draw.random() * 3)] for _ in range(n)]
        answers = [["xyz"[int(draw.random() * 3)] for _ in range(n)] for _ in range(classifiers)]
        _add_answers(file, f"cls-random-{i:02d}", truth, answers)
    return file


def _add_wins(file: VectorFile, a: int, b: int, c: int, d: int) -> None:
    n, k = a + b + c + d, min(b, c)
    p = tests.two_tailed_wins(b, c)
    gap, n_squared = F(b - c, n), F(n * n)
    variance = (F(b + c, n) - gap * gap) / n
    expect: dict[str, Json] = {
        "mcnemar_table": encode((F(a), F(b), F(c), F(d))),
        "fewer_wins": encode(F(k)),
        "mcnemar": encode(p),
        "permutation": encode(p),
        "mcnemar[form=midp]": encode(tests.mid_p(b, c)),
    }
    undefined = encode(Undefined())
    for key, edge in (("chi2", 0), ("corrected", 1)):
        gap_squared = F(max(abs(b - c) - edge, 0) ** 2)
        if b + c == 0:
            expect[f"mcnemar[form={key}]"] = undefined
        else:
            x = gap_squared / (b + c)
            expect[f"mcnemar[form={key}]"] = tests.chi_squared(x, 1)
            name = "mcnemar_chi_squared" + ("[corrected=yes]" if edge else "")
            expect[name] = encode(x)
    if b + c == 0:
        expect["wald"] = undefined
    else:
        assert variance * n_squared > 0
        expect["wald"] = tests.normal_of_square(gap * gap / variance)
    misprint: dict[str, Json] = {}
    flags = []
    wrong = 2 * (k + 1) * F(_choose(b + c, k), 2 ** (b + c))
    if wrong != p:
        misprint, flags = {"mcnemar": encode(wrong)}, ["ERR-10"]
    elif b == c:
        unclipped = 2 * sum((F(_choose(b + c, j), 2 ** (b + c)) for j in range(k + 1)), F(0))
        misprint, flags = {"mcnemar": encode(unclipped)}, ["ERR-11"]
    file.add(
        f"cls-wins-{b}-{c}",
        {"counts": [a, b, c, d]},
        expect,
        flags=flags,
        formulas=WINS,
        misprint=misprint,
    )


def _choose(n: int, k: int) -> int:
    result = 1
    for i in range(k):
        result = result * (n - i) // (i + 1)
    return result


def _add_answers(file: VectorFile, slug: str, truth: list[str], answers: list[list[str]]) -> None:
    k, n = len(answers), len(truth)
    right = [[int(z == y) for z, y in zip(side, truth, strict=True)] for side in answers]
    columns = [sum(side) for side in right]
    heights = [sum(side[i] for side in right) for i in range(n)]
    # Q by variances: between classifiers, over the mean variance within objects.
    mean = F(sum(columns), k)
    top = sum(((g - mean) ** 2 for g in columns), F(0)) * k * (k - 1)
    bottom = F(sum(h * (k - h) for h in heights))
    q = tests.quotient(top, bottom)
    expect: dict[str, Json] = {"cochran_q": encode(q)}
    expect["cochran"] = tests.chi_squared(q, k - 1) if isinstance(q, Fraction) else encode(q)
    formulas = ["ST-COCHRAN", "ST-CHI2"]
    if k == 2:
        d = [F(a - b) for a, b in zip(*right, strict=True)]
        expect["permutation"] = encode(tests.flips(d))
        formulas += ["ST-PERM"]
    given: dict[str, Json] = {"labels_true": list(truth), "answers": [list(a) for a in answers]}
    file.add(slug, given, expect, formulas=formulas)


def _labels() -> VectorFile:
    file = VectorFile(
        "53-significance/labels.json", SUBJECT, "Permuted labels: every permutation is made"
    )
    draw = random.Random(5300)
    for i in range(24):
        n = 2 + i % 5
        true = [int(draw.random() * 3) for _ in range(n)]
        said = [int(draw.random() * 3) for _ in range(n)]
        expect: dict[str, Json] = {}
        for name, score in PERMUTED.items():
            observed = score(true, said)
            every = [score(list(order), said) for order in itertools.permutations(true)]
            p = F(sum(value >= observed for value in every), len(every))
            expect[f"label_permutation_p.{name}"] = encode(p)
        given: dict[str, Json] = {"labels_true": list(true), "labels_pred": list(said)}
        file.add(f"labels-permuted-{i:02d}", given, expect, formulas=["ST-LABELS"])
    return file


def _purity(true: Sequence[int], said: Sequence[int]) -> int:
    groups = [[t for t, s in zip(true, said, strict=True) if s == k] for k in set(said)]
    return sum(max(group.count(t) for t in group) for group in groups)


def _rand(true: Sequence[int], said: Sequence[int]) -> int:
    pairs = itertools.combinations(range(len(true)), 2)
    return sum((true[i] == true[j]) == (said[i] == said[j]) for i, j in pairs)


def _information(true: Sequence[int], said: Sequence[int]) -> Fraction:
    # n times mutual information is the logarithm of a rational: of this product, up to the margins.
    cells = Counter(zip(true, said, strict=True))
    product = F(1)
    for count in cells.values():
        product *= F(count) ** count
    return product


PERMUTED: dict[str, Callable[[Sequence[int], Sequence[int]], int | Fraction]] = {
    "purity": _purity,
    "rand": _rand,
    "mutual_information": _information,
}


def _trials() -> VectorFile:
    file = VectorFile(
        "53-significance/trials.json",
        SUBJECT,
        "Methods over several trials: t-tests, signed ranks, Friedman",
    )
    draw = random.Random(530)
    for i in range(30):
        n, methods = 2 + int(draw.random() * 7), 2 if i % 2 else 3
        rows = [[F(int(draw.random() * 9), 4) for _ in range(methods)] for _ in range(n)]
        _add_trials(file, f"trials-random-{i:02d}", rows)
    _add_trials(file, "trials-equal", [[F(1), F(1)]] * 3)
    _add_trials(file, "trials-constant-gap", [[F(2), F(1)]] * 4)
    _add_trials(file, "trials-agree", [[F(1), F(2), F(3)]] * 4)
    for i in range(6):
        rows = [[F(int(draw.random() * 9), 8), F(int(draw.random() * 9), 8)] for _ in range(10)]
        _add_trials(file, f"trials-halvings-{i}", rows)
    return file


def _ranges() -> VectorFile:
    file = VectorFile(
        "53-significance/ranges.json",
        SUBJECT,
        "The range of normal numbers, Nemenyi's test and critical difference",
    )
    for q, k in (("0", 3), ("2", 2), ("1/3", 3), ("3314/1000", 3), ("5", 4), ("9", 6)):
        expect: dict[str, Json] = {"range_tail": tests.range_tail(F(q) ** 2, k)}
        slug = f"law-range-{q.replace('/', '.')}-{k}"
        file.add(slug, {"q": q, "methods": k}, expect, formulas=["ST-RANGE"])
    draw = random.Random(531)
    for i, (n, k) in enumerate([(5, 2), (4, 3), (9, 4), (6, 5)]):
        rows = [[F(int(draw.random() * 9), 4) for _ in range(k)] for _ in range(n)]
        ranked = [tests.ranks(row) for row in rows]
        means = [sum(column, F(0)) / n for column in zip(*ranked, strict=True)]
        squared = F(k * (k + 1), 12 * n)

        def tail(a: Fraction, b: Fraction, squared: Fraction = squared, k: int = k) -> Json:
            return tests.range_tail((a - b) ** 2 / squared, k)

        expect = {
            "nemenyi": tail(max(means), min(means)),
            f"nemenyi[first={k - 1},second=0]": tail(means[0], means[k - 1]),
        }
        formulas = ["ST-NEMENYI", "ST-RANGE"]
        if i != 3:
            key, alpha = [("", "1/20"), ("[alpha=1/10]", "1/10"), ("", "1/20")][i]
            expect[f"critical_difference{key}"] = tests.range_point(F(alpha), k, squared)
            formulas.append("ST-CRITICAL")
        given: dict[str, Json] = {"trials": [[str(x) for x in row] for row in rows]}
        file.add(f"trials-nemenyi-{i}", given, expect, formulas=formulas)
    return file


def _tail_of_t(top: Fraction, bottom: Fraction, df: int) -> dict[str, Json]:
    if bottom:
        return tests.student(top / bottom, df)
    return encode(F(0)) if top else encode(Undefined())


def _add_trials(file: VectorFile, slug: str, rows: Sequence[Sequence[Fraction]]) -> None:
    expect: dict[str, Json] = {}
    formulas = []
    if len(rows[0]) == 2:
        expect |= _of_pairs(rows)
        formulas += ["ST-TTEST", "ST-RESAMPLED", "ST-WILCOXON", "ST-RANKS", "ST-STUDENT"]
        if len(rows) == 10:
            formulas += ["ST-5X2T", "ST-5X2F", "ST-FISHER"]
    expect |= _of_ranks(rows)
    formulas += ["ST-FRIEDMAN", "ST-IMAN"]
    given: dict[str, Json] = {"trials": [[str(x) for x in row] for row in rows]}
    file.add(slug, given, expect, formulas=formulas)


def _of_pairs(rows: Sequence[Sequence[Fraction]]) -> dict[str, Json]:
    d = [a - b for a, b in rows]
    n = len(d)
    # The variance by pairs: half of the mean squared difference of two of them.
    variance = sum(((x - y) ** 2 for x in d for y in d), F(0)) / (2 * n * (n - 1))
    mean_squared = (sum(d, F(0)) / n) ** 2
    expect: dict[str, Json] = {
        "paired_t": _tail_of_t(mean_squared, variance / n, n - 1),
        "corrected_t": _tail_of_t(mean_squared, variance * (F(1, n) + F(1, 9)), n - 1),
        "corrected_t[test_share=1/4]": _tail_of_t(
            mean_squared, variance * (F(1, n) + F(1, 4)), n - 1
        ),
    }
    for key, kept in (("wilcoxon", [x for x in d if x]), ("wilcoxon[zeros=pratt]", d)):
        ranked = zip(kept, tests.ranks([abs(x) for x in kept]), strict=True)
        signed = [r if x > 0 else -r for x, r in ranked if x]
        expect[key] = encode(tests.flips(signed)) if signed else encode(Undefined())
    if n == 10:
        halves = [(d[2 * i] - d[2 * i + 1]) ** 2 / 2 for i in range(5)]
        expect["five_by_two_t"] = _tail_of_t(d[0] ** 2, sum(halves, F(0)) / 5, 5)
        f = tests.quotient(sum((x * x for x in d), F(0)), 2 * sum(halves, F(0)))
        assert isinstance(f, Fraction)
        expect["five_by_two_f"] = tests.fisher(f, 10, 5)
    return expect


def _of_ranks(rows: Sequence[Sequence[Fraction]]) -> dict[str, Json]:
    n, k = len(rows), len(rows[0])
    ranked = [tests.ranks(row) for row in rows]
    sums = [sum(column, F(0)) for column in zip(*ranked, strict=True)]
    squares = sum((r * r for row in ranked for r in row), F(0))
    middle = F(n * k * (k + 1) ** 2, 4)
    q = tests.quotient((k - 1) * (sum((r * r for r in sums), F(0)) - n * middle), squares - middle)
    if not isinstance(q, Fraction):
        keys = ("friedman_chi_squared", "friedman", "iman_davenport", "friedman[form=f]")
        return {key: encode(q) for key in keys}
    f = tests.quotient((n - 1) * q, n * (k - 1) - q)
    tail = tests.fisher(f, k - 1, (k - 1) * (n - 1)) if isinstance(f, Fraction) else encode(F(0))
    return {
        "friedman_chi_squared": encode(q),
        "friedman": tests.chi_squared(q, k - 1),
        "iman_davenport": encode(f),
        "friedman[form=f]": tail,
    }
