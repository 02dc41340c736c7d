"""The files of chapter 32: densities, chains of steps, hard steps, traps, misprints."""

from __future__ import annotations

from dataclasses import replace

from .mixture_bounds import Matrix
from .mixture_cases import ESTEP, THEORY, cloud, tenths
from .mixture_gaussian import Problem, State
from .mixture_gaussian_family import GIVEN, HARD, MSTEP, STEP, identity, start, step
from .mixture_gaussian_wrong import WRONG
from .writer import VectorFile

NOTES = {
    "numbers": "strings: an integer or a double in C99 hexadecimal",
    "state": "shares, means and covariances of the components, as the model writes them",
    "next": "what belongs to the parameters after the M-step",
    "pass": "an answer passes when it is within bound of the true value",
}
SUBJECT = "mixture.gaussian"
DENSITY = ("densities", "row_log_likelihoods", "log_likelihood")
ONE = ("GAU-LL", "DIST-MAHA")  # what densities of one component come from
LIMIT = ("row_log_likelihoods", "responsibilities", "labels")


def _file(name: str, title: str) -> VectorFile:
    return VectorFile(f"32-gaussian/{name}.json", SUBJECT, title, dict(NOTES))


def densities() -> VectorFile:
    """Single densities and mixtures of a few, at rows."""
    file = _file("densities", "Densities of single rows")
    one = start("VVV", [1.0], [[0.0]])
    told = "the standard normal density at 0, 1 and 2: 0.3989, 0.2420, 0.0540"
    more = ("GAU-PDF1", "GAU-LL")
    problem = Problem([[0.0], [1.0], [2.0]], one)
    step(file, "gau-standard", problem, told, DENSITY, more=more)
    for name, number in (("sign", "ERR-01"), ("sign-sum", "ERR-02")):
        keys = DENSITY[:1] if name == "sign" else DENSITY[2:]
        told = "the printed sign makes the density grow with the distance"
        wrong = WRONG[number]
        step(file, f"gau-{name}", problem, told, keys, more=more, flags=[number], wrong=wrong)
    wide = State([1.0], [[0.1]], [[0.3]])
    step(file, "gau-line", Problem([[0.1], [0.2], [-4.7]], wide), "on the line", DENSITY, more=more)
    plane = State([1.0], [[1.0, -2.0]], [[2.0, 0.5, 0.5, 1.0]])
    rows = [[0.0, 0.0], [1.0, -2.0], [3.5, 1.25], [-40.0, 9.0]]
    step(file, "gau-plane", Problem(rows, plane), "correlated", DENSITY, more=ONE)
    five = [[4.0, 1.0, 0.5, 0.0, 0.25], [1.0, 3.0, -0.5, 0.125, 0.0], [0.5, -0.5, 2.0, 0.75, 0.5]]
    five += [[0.0, 0.125, 0.75, 1.5, -0.25], [0.25, 0.0, 0.5, -0.25, 1.0]]
    space = State([1.0], [[0.1, 0.2, 0.3, 0.4, 0.5]], [[x for line in five for x in line]])
    rows = [[0.0] * 5, [1.0, 2.0, 3.0, 4.0, 5.0], [-0.7, 0.3, 9.9, 0.1, 1e-3]]
    step(file, "gau-five", Problem(rows, space), "five columns", DENSITY, more=ONE)
    mixed = State(
        [0.25, 0.75], [[0.0, 0.0], [3.0, 1.0]], [[1.0, 0.0, 0.0, 1.0], [2.0, -1.0, -1.0, 3.0]]
    )
    rows = [[0.0, 0.0], [3.0, 1.0], [1.5, 0.5]]
    step(file, "gau-mixed", Problem(rows, mixed), "a mixture of two", DENSITY)
    uneven = State([1.0], [[0.0, 0.0]], [[1e-12, 0.0, 0.0, 1e12]])
    rows = [[1e-6, 1e6], [3e-6, -1e5]]
    told = "columns of very different scale do no harm: the condition is that of the scaled matrix"
    step(file, "gau-scales", Problem(rows, uneven), told, DENSITY, more=("DIST-MAHA",))
    return file


def steps() -> VectorFile:
    """Chains: the new state in nearest doubles is the next start."""
    file = _file("steps", "Chains of steps")
    rows = cloud(321, 18, [[0.0, 0.0], [2.5, 1.0]], 1.25)
    for model in ("VVV", "EEE", "VVI", "EEI", "VII", "EII"):
        state = start(model, [0.5, 0.5], [[0.0, 0.5], [2.0, 0.0]])
        for number in range(1, 4):
            told = f"step {number} of a chain, model {model}"
            keys = (*STEP, "certified_log_likelihood") if number < 3 else (*MSTEP, *THEORY)
            state = step(
                file, f"gmm-{model.lower()}-{number}", Problem(rows, state, model), told, keys
            )
    rows = tenths(cloud(322, 15, [[0.0, 0.0, 0.0], [3.0, 0.0, 1.0], [0.0, 3.0, -1.0]], 1.5))
    state = start("VVV", [0.2, 0.3, 0.5], [[0.0, 0.0, 0.1], [2.0, 0.0, 1.0], [0.0, 2.0, 0.0]], 2.0)
    for number in (1, 2):
        problem = Problem(rows, state, floor=0.0625)
        told = "three columns in tenths, three components, and a floor of 1/16"
        keys = (*STEP, "log_prior", "next.log_prior")
        state = step(file, f"gmm-floor-{number}", problem, told, keys)
    for model in ("EEE", "VVI", "VII", "EII"):
        state = start(model, [0.25, 0.75], [[0.0, 0.5], [2.0, 0.0]])
        problem = Problem(rows2(rows), state, model, floor=0.125)
        keys = ("log_likelihood", *MSTEP, "next.log_prior")
        step(file, f"gmm-floor-{model.lower()}", problem, f"a floor, model {model}", keys)
    line = [[0.1], [0.4], [0.5], [1.9], [2.2], [2.8], [3.0]]
    state = start("VVV", [0.5, 0.5], [[0.0], [3.0]])
    for number in range(1, 6):
        told = f"step {number} on the line"
        keys = (*STEP, "certified_log_likelihood")
        state = step(file, f"gmm-line-{number}", Problem(line, state), told, keys)
    alone = start("VVV", [1.0], [[1.0, 1.0]])
    told = "one component: the mean and the covariance of all rows, whatever the start"
    more = ("GAU-MLEMU", "GAU-MLESIG")
    step(file, "gmm-alone", Problem(rows2(rows), alone), told, more=more)
    single = Problem(line, start("VII", [1.0], [[7.0]], 9.0), "VII")
    step(file, "gmm-alone-line", single, "one component on the line", more=more)
    _weights(file)
    return file


def rows2(rows: Matrix) -> Matrix:
    """The first two columns."""
    return [row[:2] for row in rows]


def _weights(file: VectorFile) -> None:
    rows = cloud(323, 8, [[0.0, 0.0], [2.0, 1.0]], 1.5)
    counts = [1.0, 2.0, 3.0, 1.0, 2.0, 1.0, 1.0, 3.0]
    copies = [row for row, count in zip(rows, counts, strict=True) for _ in range(int(count))]
    keys = ("log_likelihood", *MSTEP, *THEORY)
    for model in ("VVV", "EII"):
        state = start(model, [0.5, 0.5], [[0.0, 0.0], [2.0, 1.5]])
        told = "integer weights, and in the twin case as many copies"
        name = model.lower()
        problem = Problem(rows, state, model, counts)
        step(file, f"gmm-weights-{name}", problem, told, keys)
        step(file, f"gmm-copies-{name}", Problem(copies, state, model), told, keys)
    state = start("VVV", [0.5, 0.5], [[0.0, 0.0], [2.0, 1.5]])
    parts = [0.0, 0.5, 0.1, 1e-3, 2.5, 1.0, 0.7, 4.0]
    step(file, "gmm-weights-parts", Problem(rows, state, "VVV", parts), "fractions and a zero")


def hard() -> VectorFile:
    """Classification EM."""
    file = _file("hard", "Hard steps")
    rows = cloud(331, 14, [[0.0, 0.0], [3.0, 1.0]], 1.5)
    for model in ("VVV", "EEE", "VVI", "VII", "EII"):
        state = start(model, [0.5, 0.5], [[0.0, 0.5], [2.0, 0.0]])
        for number in (1, 2):
            problem = Problem(rows, state, model, hard=True)
            told = f"hard step {number}, model {model}"
            state = step(file, f"cem-{model.lower()}-{number}", problem, told, HARD)
    weights = [1.0 + i % 3 / 2 for i in range(len(rows))]
    problem = Problem(
        rows, start("VVV", [0.5, 0.5], [[0.0, 0.0], [3.0, 1.0]]), "VVV", weights, hard=True
    )
    step(file, "cem-weights", problem, "weights of a half, one and three halves", HARD)
    line = [[-1.0], [0.0], [1.0], [2.0], [3.0], [7.0]]
    ties = Problem(line, start("EII", [0.5, 0.5], [[0.0], [2.0]]), "EII", hard=True)
    step(file, "cem-tie", ties, "the row 1 is equally probable in both: the first", HARD)
    return file


def traps() -> VectorFile:
    """Where careless evaluation goes wrong."""
    file = _file("traps", "Traps")
    near = cloud(341, 10, [[0.0, 0.0], [2.0, 1.0]], 1.5)
    for name, offset in (("1e6", 1e6), ("1e9", 1e9)):
        rows = [[x + offset for x in row] for row in tenths(near)]
        means = [[offset, offset], [offset + 2.0, offset + 1.0]]
        for model in ("VVV", "VII"):
            state = start(model, [0.5, 0.5], means, 0.7)
            problem = Problem(rows, state, model)
            told = f"an offset of {name}: squares of rows lose the spread"
            step(file, f"gmm-offset-{name}-{model.lower()}", problem, told, (*ESTEP, *MSTEP))
    slim = State(
        [0.5, 0.5], [[0.0, 0.0], [1.0, 1.0]], [[1.0, 0.99999999, 0.99999999, 1.0], identity(2)]
    )
    rows = [[0.5, 0.5001], [1.0, 0.9999], [-1.0, -1.0001], [0.25, 0.25], [2.0, 1.5], [0.0, 1.0]]
    told = "a covariance of condition 2e8: the bound grows with it"
    step(file, "gmm-slim", Problem(rows, slim), told, (*ESTEP, *MSTEP))
    far = start("VVV", [0.5, 0.5], [[0.0], [1.0]])
    rows = [[447.25], [-447.0], [0.5], [0.25], [1.5]]
    told = "log p near -1e5: every density of the first rows is zero in doubles"
    step(file, "gmm-far", Problem(rows, far), told)
    step(file, "gmm-farther", Problem([[30000.0], [0.0], [1.0]], far), "log p near -4.5e8", ESTEP)
    _under(file)
    _ties(file)
    _limits(file)
    moved = Problem(
        cloud(342, 9, [[100.0, 50.0]], 2.0),
        start("VVV", [0.5, 0.5], [[0.0, 0.0], [90.0, 60.0]], 400.0),
    )
    told = "means that move far: second moments around the old ones cancel"
    step(file, "gmm-moved", moved, told)
    small = [[x * 2.0**-60 for x in row] for row in near]
    state = start("VVV", [0.5, 0.5], [[0.0, 0.0], [2.0**-59, 2.0**-60]], 2.0**-120)
    step(file, "gmm-tiny", Problem(small, state), "everything times 2**-60", (*ESTEP, *MSTEP))
    return file


def _under(file: VectorFile) -> None:
    """The divergence from a posterior that underflows."""
    state = State([0.5, 0.5], [[0.0], [37.92033]], [[1.0], [1.0]])
    halves = [[0.5, 0.5], [0.5, 0.5], [0.25, 0.75]]
    problem = Problem([[0.0], [18.0], [37.5]], state, q=halves)
    told = "a posterior of 5.66e-313: the divergence comes from its logarithm, not from a ratio"
    step(file, "em-underflow", problem, told, (*GIVEN, "responsibilities"), flags=["PROP-EM-3"])
    rows = cloud(343, 6, [[0.0, 0.0], [2.0, 1.0]], 1.5)
    q = [[0.5, 0.5], [1.0, 0.0], [0.25, 0.75], [0.125, 0.875], [0.0, 1.0], [0.75, 0.25]]
    for model in ("VVV", "EEE", "VII"):
        state = start(model, [0.25, 0.75], [[0.0, 0.0], [2.0, 1.0]])
        told = "given shares: log-likelihood = bound + divergence; the M-step is rational"
        step(file, f"em-given-{model.lower()}", Problem(rows, state, model, q=q), told, GIVEN)


def _ties(file: VectorFile) -> None:
    rows = [[-1.0], [1.0], [3.0], [1.0]]
    twins = Problem(rows, start("EII", [0.25, 0.75], [[0.0], [2.0]]), "EII")
    told = "rows half-way between equal spheres are shared as the components are"
    step(file, "gmm-tie", twins, told, (*ESTEP, *MSTEP))
    same = Problem(rows, start("VVV", [0.5, 0.5], [[0.5], [0.5]]))
    step(file, "gmm-same", same, "two equal components share everything by halves and stay so")


def _limits(file: VectorFile) -> None:
    """Shares under vanishing equal spheres: the nearest mean, ties as the components are."""
    means = [[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]]
    rows = [[1.0, 1.0], [2.5, 0.5], [0.5, 2.0], [2.0, 0.0]]
    for power in (0, 4, 8, 12):
        state = start("EII", [0.5, 0.25, 0.25], means, 2.0**-power)
        told = f"shared variance 2**-{power}: shares go to the nearest mean, a tie stays 2 to 1"
        problem = Problem(rows, state, "EII")
        step(file, f"gmm-limit-{power}", problem, told, LIMIT, more=("KM-GMMLIM",))


def misprints() -> VectorFile:
    """Misprints: what the printed formula would give is beside the right value."""
    file = _file("misprints", "Misprints")
    file.notes |= {
        "ERR-14": "misprint: the bound Q and the expected log-likelihood taken for each other",
        "ERR-30": "misprint: one letter for the free and the bound index: every share is 1/K",
        "ERR-33": "misprint: a squared norm in the place of the outer product",
        "ERR-34": "misprint: the responsibilities left out",
        "old-mean": "mistake: squares around the old means",
        "divisor": "mistake: N - 1 in the place of N",
        "half": "mistake: the square root of the determinant left out",
    }
    rows = cloud(351, 10, [[0.0, 0.0], [2.5, 1.0]], 1.25)
    problem = Problem(rows, start("VVV", [0.25, 0.75], [[0.0, 0.25], [2.0, 0.5]], 1.5))
    sets: dict[str, tuple[Problem, tuple[str, ...]]] = {
        "ERR-14": (problem, ("next.lower_bound", "next.expected_complete")),
        "ERR-30": (problem, ("responsibilities",)),
        "ERR-33": (replace(problem, hard=True), HARD),
        "ERR-34": (problem, MSTEP),
        "old-mean": (problem, ("next.spreads",)),
        "divisor": (problem, ("next.spreads",)),
        "half": (problem, ("log_likelihood",)),
    }
    for name, (given, keys) in sets.items():
        slug = f"gmm-{name.lower()}"
        more = ("GAU-PDF",) if name == "half" else ()
        step(file, slug, given, "", keys, flags=[name], wrong=WRONG[name], more=more)
    return file
