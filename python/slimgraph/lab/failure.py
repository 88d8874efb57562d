"""What ends the lab: one line, and an exit code."""

USAGE, INPUT, ENVIRONMENT = 2, 3, 4
KINDS = {1: "verification", USAGE: "usage", INPUT: "input", ENVIRONMENT: "environment"}


class Failure(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def os_failure(doing, reason):
    """The failure of a system call, such as ("cannot make DIR", the OSError)."""
    return Failure(ENVIRONMENT, f"{doing}: {reason.strerror}")
