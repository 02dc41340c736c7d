"""The commands of LaTeX that formulas are written with, and the signs they stand for."""

from __future__ import annotations

from typing import Final

LETTERS: Final = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "epsilon": "ϵ",
    "varepsilon": "ε",
    "zeta": "ζ",
    "eta": "η",
    "theta": "θ",
    "iota": "ι",
    "kappa": "κ",
    "lambda": "λ",
    "mu": "μ",
    "nu": "ν",
    "xi": "ξ",
    "pi": "π",
    "rho": "ρ",
    "sigma": "σ",
    "tau": "τ",
    "upsilon": "υ",
    "phi": "ϕ",
    "varphi": "φ",
    "chi": "χ",
    "psi": "ψ",
    "omega": "ω",
    "ell": "ℓ",
    "infty": "∞",
    "partial": "∂",
    "nabla": "∇",
    "emptyset": "∅",
    "top": "⊤",
    "bot": "⊥",
    "square": "□",
    "triangle": "△",
    "forall": "∀",
    "exists": "∃",
    "dots": "…",
    "ldots": "…",
    "cdots": "⋯",
    "vdots": "⋮",
    "ddots": "⋱",
}
UPRIGHT: Final = {
    "Gamma": "Γ",
    "Delta": "Δ",
    "Theta": "Θ",
    "Lambda": "Λ",
    "Xi": "Ξ",
    "Pi": "Π",
    "Sigma": "Σ",
    "Upsilon": "Υ",
    "Phi": "Φ",
    "Psi": "Ψ",
    "Omega": "Ω",
}
OPERATORS: Final = {
    "cdot": "·",
    "times": "×",
    "pm": "±",
    "mp": "∓",
    "oplus": "⊕",
    "cup": "∪",
    "cap": "∩",
    "setminus": "∖",
    "wedge": "∧",
    "vee": "∨",
    "ast": "∗",
    "circ": "∘",
    "le": "≤",
    "leq": "≤",
    "ge": "≥",
    "geq": "≥",
    "ll": "≪",
    "gg": "≫",
    "ne": "≠",
    "neq": "≠",
    "in": "∈",
    "notin": "∉",
    "ni": "∋",
    "subset": "⊂",
    "subseteq": "⊆",
    "supseteq": "⊇",
    "sim": "∼",
    "approx": "≈",
    "equiv": "≡",
    "propto": "∝",
    "to": "→",
    "rightarrow": "→",
    "longrightarrow": "⟶",
    "leftarrow": "←",
    "leftrightarrow": "↔",
    "Rightarrow": "⇒",
    "implies": "⟹",
    "Longrightarrow": "⟹",
    "iff": "⟺",
    "mapsto": "↦",
    "longmapsto": "⟼",
    "mid": "∣",
    "parallel": "∥",
}
# Signs that their bounds stand below and above of, where a formula stands alone.
LARGE: Final = {"sum": "∑", "prod": "∏", "bigcup": "⋃", "bigcap": "⋂"}
INTEGRALS: Final = {"int": "∫"}
FUNCTIONS: Final = frozenset(
    ["log", "ln", "exp", "cos", "sin", "tan", "arctan", "arccos", "arcsin", "arg", "dim"]
)
LIMITED: Final = frozenset(["max", "min", "lim", "sup", "inf", "det", "Pr", "gcd"])
FENCES: Final = {
    "lvert": "|",
    "rvert": "|",
    "vert": "|",
    "lVert": "‖",
    "rVert": "‖",
    "Vert": "‖",
    "|": "‖",
    "lfloor": "⌊",
    "rfloor": "⌋",
    "lceil": "⌈",
    "rceil": "⌉",
    "langle": "⟨",
    "rangle": "⟩",
    "{": "{",
    "}": "}",
    "lbrace": "{",
    "rbrace": "}",
}
SPACES: Final = {
    ",": 0.167,
    ":": 0.222,
    ";": 0.278,
    "!": -0.167,
    " ": 0.25,
    "~": 0.25,
    "quad": 1.0,
    "qquad": 2.0,
}
ACCENTS: Final = {
    "hat": "^",
    "widehat": "^",
    "bar": "¯",
    "overline": "¯",
    "tilde": "~",
    "widetilde": "~",
    "vec": "→",
    "dot": "˙",
}
SIZES: Final = {
    **dict.fromkeys(("big", "bigl", "bigr"), 1.2),
    **dict.fromkeys(("Big", "Bigl", "Bigr"), 1.8),
    **dict.fromkeys(("bigg", "biggl", "biggr"), 2.4),
}
_SCRIPT: Final = {"B": "ℬ", "E": "ℰ", "F": "ℱ", "H": "ℋ", "I": "ℐ", "L": "ℒ", "M": "ℳ", "R": "ℛ"}
_DOUBLE: Final = {"C": "ℂ", "H": "ℍ", "N": "ℕ", "P": "ℙ", "Q": "ℚ", "R": "ℝ", "Z": "ℤ"}
_BOLD_GREEK: Final = {"α": 0x1D6C2, "Α": 0x1D6A8}


def bold(sign: str) -> str:
    """An upright bold letter or digit; what has no bold form stays.

    >>> bold("x"), bold("7"), bold("μ"), bold("+")
    ('𝐱', '𝟕', '𝛍', '+')
    """
    if "a" <= sign <= "z":
        return chr(0x1D41A + ord(sign) - ord("a"))
    if "A" <= sign <= "Z":
        return chr(0x1D400 + ord(sign) - ord("A"))
    if "0" <= sign <= "9":
        return chr(0x1D7CE + ord(sign) - ord("0"))
    for first, code in _BOLD_GREEK.items():
        if 0 <= ord(sign) - ord(first) < 25:
            return chr(code + ord(sign) - ord(first))
    return sign


def script(sign: str) -> str:
    """A calligraphic capital; what has no such form stays.

    >>> script("C"), script("L"), script("x")
    ('𝒞', 'ℒ', 'x')
    """
    if sign in _SCRIPT:
        return _SCRIPT[sign]
    return chr(0x1D49C + ord(sign) - ord("A")) if "A" <= sign <= "Z" else sign


def double(sign: str) -> str:
    """A capital with a double stroke, and the digit one; what has no such form stays.

    >>> double("R"), double("E"), double("1")
    ('ℝ', '𝔼', '𝟙')
    """
    if sign in _DOUBLE:
        return _DOUBLE[sign]
    if sign == "1":
        return "𝟙"
    return chr(0x1D538 + ord(sign) - ord("A")) if "A" <= sign <= "Z" else sign
