"""Chapter 44, association of two nominal variables, by expected counts and by wrong guesses."""

from __future__ import annotations

from fractions import Fraction

from .information import entropy, mutual_information
from .matching import total
from .tables import Table
from .values import Value, divide, divide_info, divide_root


def chi_squared(table: Table) -> Fraction:
    """Pearson's statistic: squared distance from the counts expected under independence."""
    n, result = table.total, Fraction(0)
    for i, a in enumerate(table.rows):
        for j, b in enumerate(table.columns):
            expected = a * b / n
            result += (table.cells[i][j] - expected) ** 2 / expected
    return result


def cramers_v(table: Table) -> Value:
    """The root of chi-squared over its largest possible value."""
    statistic = chi_squared(table)
    largest = table.total * (min(len(table.rows), len(table.columns)) - 1)
    return divide_root(statistic, statistic * largest) if statistic else divide(statistic, largest)


def modal_errors(table: Table) -> tuple[Fraction, Fraction]:
    """Wrong guesses of the class when always naming the mode: blind, and knowing the cluster."""
    blind = table.total - max(table.columns)
    return blind, total([total(row) - max(row) for row in table.cells])


def proportional_errors(table: Table) -> tuple[Fraction, Fraction]:
    """Expected share of wrong guesses when guessing in proportion: blind, knowing the cluster."""
    n = table.total
    blind = 1 - total([(m / n) ** 2 for m in table.columns])
    informed = total(
        [total(row) / n * (1 - total([(x / total(row)) ** 2 for x in row])) for row in table.cells]
    )
    return blind, informed


def metrics(table: Table) -> dict[str, Value]:
    """Every association key of a table."""
    n, flipped = table.total, table.transposed()
    blind, informed = modal_errors(table)
    blind_t, informed_t = modal_errors(flipped)
    guess, better = proportional_errors(table)
    guess_t, better_t = proportional_errors(flipped)
    information = mutual_information(table)
    clusters = entropy(x / n for x in table.rows)
    classes = entropy(x / n for x in table.columns)
    lambda_key, tau_key, theil_key = "goodman_kruskal_lambda", "goodman_kruskal_tau", "theils_u"
    return {
        "chi_squared": chi_squared(table),
        "cramers_v": cramers_v(table),
        lambda_key: divide(blind - informed, blind),
        f"{lambda_key}[predict=clusters]": divide(blind_t - informed_t, blind_t),
        f"{lambda_key}[predict=both]": divide(
            blind + blind_t - informed - informed_t, blind + blind_t
        ),
        tau_key: divide(guess - better, guess),
        f"{tau_key}[predict=clusters]": divide(guess_t - better_t, guess_t),
        theil_key: divide_info(information, classes),
        f"{theil_key}[predict=clusters]": divide_info(information, clusters),
        f"{theil_key}[predict=both]": divide_info(
            information.times(Fraction(2)), clusters + classes
        ),
    }
