"""Every error refclust raises on purpose: one base class, one leaf per code of chapter 90.

Callers match the ``code``, never the message. A leaf also derives from the built-in exception a
Python programmer would expect, so ``except ValueError`` keeps working.
"""

from __future__ import annotations

from typing import ClassVar


class RefclustError(Exception):
    """The base of every deliberate error; ``code`` is stable, the message is for people."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 3


class DataError(RefclustError, ValueError):
    """The data given cannot be used."""


class UsageError(RefclustError, ValueError):
    """The call itself is wrong: a name or an option that does not exist."""

    exit_code = 2


class EmptyInput(DataError):
    """There is no object at all."""

    code = "empty-input"


class LabelLengthMismatch(DataError):
    """Two sequences that describe the same objects have different lengths."""

    code = "label-length-mismatch"


class IdMismatch(DataError):
    """The ids of files that describe the same objects do not match one to one."""

    code = "id-mismatch"


class NotFinite(DataError):
    """A number is NaN or infinite, or a result is beyond the range of a double."""

    code = "not-finite"


class NegativeCount(DataError):
    """A cell of a table or a weight is below zero."""

    code = "negative-count"


class RaggedRows(DataError):
    """The rows of a table or matrix have different lengths."""

    code = "ragged-rows"


class NanLabel(DataError):
    """A label is NaN, which equals nothing, not even itself."""

    code = "nan-label"


class BadLabel(RefclustError, TypeError):
    """A label cannot be hashed, so it cannot name a group."""

    code = "bad-label"


class BadWeight(DataError):
    """A weight is not a number."""

    code = "bad-weight"


class WeightsNotInteger(DataError):
    """A formula that counts pairs or permutations was given fractional counts."""

    code = "weights-not-integer"


class BadNumber(RefclustError, TypeError):
    """Something that is not a number stands where a number is needed."""

    code = "bad-number"


class BadTable(DataError):
    """A contingency table is not a rectangle of numbers."""

    code = "bad-table"


class BadDistribution(DataError):
    """Probabilities are negative or do not add up to one."""

    code = "bad-distribution"


class MixedKeys(RefclustError, TypeError):
    """The keys of sparse vectors are neither all strings nor all integers."""

    code = "mixed-keys"


class ZeroVector(DataError):
    """A direction was asked of the zero vector."""

    code = "zero-vector"


class DimensionMismatch(DataError):
    """Two vectors have different lengths or different kinds."""

    code = "dimension-mismatch"


class Undecided(RefclustError, ArithmeticError):
    """A comparison of two exact reals could not be settled within the digits allowed."""

    code = "undecided"


class TooLarge(DataError):
    """An exact enumeration, a file or a fit would take more than a stated limit."""

    code = "too-large"


class UnknownMetric(UsageError):
    """No metric has this name."""

    code = "unknown-metric"


class UnknownOption(UsageError):
    """The metric has no such option."""

    code = "unknown-option"


class WrongEvidence(UsageError):
    """A metric was asked of something that it cannot be computed from."""

    code = "wrong-evidence"


class BadOption(UsageError):
    """The option exists but does not take this value."""

    code = "bad-option"


class UnknownProfile(UsageError):
    """No profile has this name."""

    code = "unknown-profile"


class ProfileLacksMetric(UsageError):
    """The library behind the profile does not offer this metric."""

    code = "profile-lacks-metric"


class UnknownBackend(UsageError):
    """No installed backend has this name."""

    code = "unknown-backend"
    exit_code = 4


class BackendRefused(RefclustError, RuntimeError):
    """The backend, format or command asked for is installed but cannot be used."""

    code = "backend-refused"
    exit_code = 4


class BackendFailure(RefclustError, RuntimeError):
    """A backend, or a reader or a command of a plugin, raised while it ran."""

    code = "backend-failure"
    exit_code = 4


class BackendContract(RefclustError, RuntimeError):
    """A backend returned something that its kernel's contract forbids."""

    code = "backend-contract"
    exit_code = 4


class FileNotReadable(DataError):
    """A file does not exist or cannot be opened."""

    code = "file-not-found"


class EmptyFile(DataError):
    """A file holds no label at all."""

    code = "empty-file"


class EmptyLabel(DataError):
    """A line or a cell that should hold a label is empty."""

    code = "empty-label"


class MissingColumn(DataError):
    """A file has no such column."""

    code = "missing-column"


class NotText(DataError):
    """A file holds bytes that are not UTF-8 text."""

    code = "not-text"


class KOutOfRange(DataError):
    """The number of clusters does not fit the data."""

    code = "k-out-of-range"


class EmptyCluster(DataError):
    """A cluster lost all its objects and the policy is to stop."""

    code = "empty-cluster"


class DegenerateCovariance(DataError):
    """A component of a Gaussian mixture, or a class, has no spread in some direction."""

    code = "degenerate-covariance"


class ImpossibleRow(DataError):
    """No component of a mixture, or no class, can have made a row."""

    code = "impossible-row"


class FractionalCount(DataError):
    """A count is not a whole number, and fractional counts were not chosen."""

    code = "fractional-count"


class NotBinary(DataError):
    """A number is neither 0 nor 1, where the model asks whether something is there."""

    code = "not-binary"


class NotSymmetric(DataError):
    """A distance matrix is not square, not symmetric, negative, or not zero on its diagonal."""

    code = "bad-distances"


class FeatureMismatch(DataError):
    """Feature names are missing, repeated, or differ from those of the model."""

    code = "feature-mismatch"


class MissingValue(DataError):
    """A cell that should hold a number is empty."""

    code = "missing-value"


class BadCell(DataError):
    """A cell of a file holds something else than the number that is due."""

    code = "bad-cell"


class UnseenCategory(DataError):
    """A row has a category that the fit has not seen."""

    code = "unseen-category"


class NoSpread(DataError):
    """A column cannot be scaled by a rule that finds nothing to divide by."""

    code = "no-spread"


class BadHeader(DataError):
    """The first lines of a file do not say what they must."""

    code = "bad-header"


class WrongCount(DataError):
    """A file holds more or fewer entries than its header announces."""

    code = "wrong-count"


class IndexOutOfRange(DataError):
    """A row or column number of a file lies outside what its header allows, or comes twice."""

    code = "index-out-of-range"


class BadFile(DataError):
    """A file does not follow its format."""

    code = "bad-file"


class UnknownFormat(UsageError):
    """No reader or writer has this name, or none fits the file."""

    code = "unknown-format"


class BadModel(DataError):
    """A model file does not follow its schema."""

    code = "bad-model"


class BadCheckpoint(DataError):
    """A checkpoint file does not follow its format, or belongs to another fit."""

    code = "bad-checkpoint"


class CheckpointInUse(DataError):
    """Another fit that runs writes its checkpoint under the same name."""

    code = "checkpoint-in-use"


class CannotPredict(UsageError):
    """The model has no rule for new objects."""

    code = "cannot-predict"


class FileExists(DataError):
    """Writing would overwrite a file, and ``--force`` was not given."""

    code = "exists"


class BadVectorFile(DataError):
    """A golden-vector file does not follow its schema."""

    code = "bad-vector-file"


class BadAnswersFile(DataError):
    """An answers file does not follow its format."""

    code = "bad-answers-file"


class UnknownClause(UsageError):
    """The specification has no clause with this ID."""

    code = "unknown-clause"


class BadSpec(DataError):
    """The specification itself is malformed: a duplicate ID, an unreadable heading."""

    code = "bad-spec"


class MissingPlugin(RefclustError, RuntimeError):
    """The command belongs to a plugin that is not installed, or plugins are switched off."""

    code = "missing-plugin"
    exit_code = 2


class NeedsCheckout(RefclustError, RuntimeError):
    """The command reads the tests and sources of a checkout and none is here."""

    code = "needs-checkout"
    exit_code = 2
