"""The exceptions of the package. Their text is the line that the command prints."""


class Error(Exception):
    """Any error of SlimGraph."""


class VerificationError(Error):
    """A result is not what was asked for, such as ranks that do not converge."""


class UsageError(Error, ValueError):
    """A call has wrong arguments."""


class InputError(Error, ValueError):
    """A file or an array is not what the call needs."""


class JobError(Error, RuntimeError):
    """A node or the machine has failed. After it the session is over."""
