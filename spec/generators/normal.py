"""Exact normal form of expressions in logarithms, roots and powers of e, to find rational values.

An expression becomes a polynomial with rational coefficients in the letters log p, sqrt p (p prime)
and e^q. Two expressions with the same polynomial are equal; a constant polynomial is a rational
number. Where no such form is found the answer is None, and the number is left to the balls, whose
guard refuses anything that looks rational.
"""

from __future__ import annotations

from fractions import Fraction

from .exact import Expr, Logs, prime_powers, square_root

# A letter is ("log", p), ("root", p) or ("e", 1); a monomial maps letters to exponents.
Letter = tuple[str, int]
Monomial = tuple[tuple[Letter, Fraction], ...]
Poly = dict[Monomial, Fraction]
FACTOR_LIMIT = 10**25


def rational_value(expr: Expr) -> Fraction | None:
    """The value where the normal form shows it to be rational, else None."""
    poly = normal(expr)
    if poly is None or any(monomial for monomial in poly):
        return None
    return poly.get((), Fraction(0))


def normal(expr: Expr) -> Poly | None:
    """The polynomial of an expression, None where there is none."""
    if isinstance(expr, Fraction):
        return {(): expr} if expr else {}
    parts = [normal(arg) for arg in expr.args]
    polys = [part for part in parts if part is not None]
    if len(polys) != len(parts):
        return None
    match expr.op:
        case "+":
            result: Poly = {}
            for poly in polys:
                result = _add(result, poly, Fraction(1))
            return result
        case "-":
            if len(polys) == 1:
                return _add({}, polys[0], Fraction(-1))
            return _add(polys[0], polys[1], Fraction(-1))
        case "*":
            result = {(): Fraction(1)}
            for poly in polys:
                result = _times(result, poly)
            return result
        case "/":
            return _divide(polys[0], polys[1])
        case "^":
            return _power(polys[0], int(polys[1].get((), Fraction(0))))
        case "log":
            return _log(polys[0])
        case "exp":
            return _exp(polys[0])
        case "sqrt":
            return _root(polys[0])
    raise ValueError(expr.op)


def _add(left: Poly, right: Poly, factor: Fraction) -> Poly:
    result = dict(left)
    for monomial, coefficient in right.items():
        result[monomial] = result.get(monomial, Fraction(0)) + factor * coefficient
    return {monomial: k for monomial, k in result.items() if k}


def _monomial(letters: dict[Letter, Fraction], coefficient: Fraction) -> tuple[Monomial, Fraction]:
    """Put a product of letters in order; two equal roots make a whole number."""
    kept: dict[Letter, Fraction] = {}
    for letter, exponent in letters.items():
        if letter[0] == "root":
            whole, rest = divmod(exponent, 2)
            coefficient *= Fraction(letter[1]) ** int(whole)
            exponent = rest
        if exponent:
            kept[letter] = exponent
    return tuple(sorted(kept.items())), coefficient


def _times(left: Poly, right: Poly) -> Poly:
    result: Poly = {}
    for a, x in left.items():
        for b, y in right.items():
            letters = dict(a)
            for letter, exponent in b:
                letters[letter] = letters.get(letter, Fraction(0)) + exponent
            monomial, coefficient = _monomial(letters, x * y)
            result = _add(result, {monomial: coefficient}, Fraction(1))
    return result


def _inverse(poly: Poly) -> Poly | None:
    if len(poly) != 1:
        return None
    [(monomial, coefficient)] = poly.items()
    letters = {letter: -exponent for letter, exponent in monomial}
    turned, factor = _monomial(letters, 1 / coefficient)
    return {turned: factor}


def _divide(top: Poly, bottom: Poly) -> Poly | None:
    assert bottom, "division by an exact zero"
    inverse = _inverse(bottom)
    if inverse is not None:
        return _times(top, inverse)
    if top.keys() == bottom.keys():
        quotients = {top[monomial] / bottom[monomial] for monomial in top}
        if len(quotients) == 1:
            return {(): quotients.pop()}
    return None if top else {}


def _power(poly: Poly, exponent: int) -> Poly | None:
    base: Poly | None = poly if exponent >= 0 else _inverse(poly)
    if base is None:
        return None
    result: Poly = {(): Fraction(1)}
    for _ in range(abs(exponent)):
        result = _times(result, base)
    return result


def _log(poly: Poly) -> Poly | None:
    if len(poly) != 1:
        return None
    [(monomial, coefficient)] = poly.items()
    if coefficient <= 0 or _too_long(coefficient):
        return None
    result: Poly = {((("log", p), Fraction(1)),): k for p, k in Logs.of(coefficient).terms.items()}
    for (kind, base), exponent in monomial:
        if kind == "root":
            result = _add(result, {((("log", base), Fraction(1)),): exponent / 2}, Fraction(1))
        elif kind == "e":
            result = _add(result, {(): exponent}, Fraction(1))
        else:
            return None
    return result


def _too_long(value: Fraction) -> bool:
    """Whether factoring could take long; a power of ten and other smooth numbers never does."""
    for number in (value.numerator, value.denominator):
        for prime in (2, 3, 5, 7):
            while number % prime == 0:
                number //= prime
        if number > FACTOR_LIMIT:
            return True
    return False


def _exp(poly: Poly) -> Poly | None:
    result: Poly = {(): Fraction(1)}
    for monomial, coefficient in poly.items():
        if not monomial:
            factor: Poly = {((("e", 1), coefficient),): Fraction(1)}
        elif len(monomial) == 1 and monomial[0][0][0] == "log" and monomial[0][1] == 1:
            prime, twice = monomial[0][0][1], coefficient * 2
            if twice.denominator != 1:
                return None
            key, scale = _monomial({("root", prime): twice}, Fraction(1))
            factor = {key: scale}
        else:
            return None
        result = _times(result, factor)
    return result


def _root(poly: Poly) -> Poly | None:
    if not poly:
        return {}
    if len(poly) != 1:
        return None
    [(monomial, coefficient)] = poly.items()
    if coefficient < 0 or any(letter[0] != "e" for letter, _ in monomial):
        return None
    letters = {letter: exponent / 2 for letter, exponent in monomial}
    whole = square_root(coefficient)
    if whole is not None:
        key, factor = _monomial(letters, whole)
        return {key: factor}
    if _too_long(coefficient):
        return None
    for part, sign in ((coefficient.numerator, 1), (coefficient.denominator, -1)):
        for prime, power in prime_powers(part):
            letters[("root", prime)] = Fraction(power * sign)
    key, factor = _monomial(letters, Fraction(1))
    return {key: factor}
