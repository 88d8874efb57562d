"""The exceptions of the package. Their text is the line that the command prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._transactions import Outcome


class Error(Exception):
    """Any error of SlimGraph."""

    outcome: Outcome | None = None
    """Of the transaction, if it has not been committed."""


class VerificationError(Error):
    """A result is not what was asked for, such as ranks that do not converge."""


class UsageError(Error, ValueError):
    """A call has wrong arguments."""


class InputError(Error, ValueError):
    """A file or an array is not what the call needs."""


class JobError(Error, RuntimeError):
    """A node or the machine has failed. After it the session is over."""


class AbortedError(Error):
    """A transaction has met others, or its store has failed. Nothing has changed.

    In a transaction's function it says that the transaction begins anew. Let it pass.
    """


class UnknownOutcomeError(JobError):
    """A node has died, or a log could not be written, while a transaction was being committed."""
