"""How a function becomes the body of a transaction, and how its future learns the end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Any

from . import _native
from .errors import AbortedError, Error, InputError, UnknownOutcomeError, UsageError

_KINDS = {2: UsageError, 3: InputError}  # of ErrorKind; an aborted transaction has 4
_running = threading.local()


@dataclass(frozen=True)
class Outcome:
    """How a transaction has ended."""

    end: str
    """"committed", "aborted": nothing has changed, or "unknown": a node has died in the commit."""
    time: int
    """Of the commit: later than that of every transaction whose effects it has seen or overwritten.
    The upper 48 bits are milliseconds since 1970. 0 unless it was committed."""
    attempts: int
    """How often the function has run, or was about to."""
    cause: str = ""
    """Why it was not committed; empty if the function has raised an exception."""

    @property
    def committed(self) -> bool:
        return self.end == "committed"


class TransactionFuture(Future):
    """The future of a transaction. Its result is what the function has returned.

    cancel() works until the function runs for the first time.
    """

    _outcome: Outcome | None = None

    def outcome(self, timeout: float | None = None) -> Outcome:
        """Waits for the end and tells about it, also if the transaction was not committed."""
        if self.cancelled():
            return Outcome("aborted", 0, 0, "cancelled")
        if not wait([self], timeout).done:
            raise TimeoutError
        return self._outcome or Outcome("aborted", 0, 0, "cancelled")


def submit(
    store: _native.Store,
    session: Any,
    handle: Callable[[Any], Any],
    body: Callable[[Any], Any],
    only_reads: bool,
) -> TransactionFuture:
    """Runs body(handle(transaction)) in a transaction of the store."""
    future = TransactionFuture()
    run = _Run(future, session, handle, body)
    store.submit(run.attempt, run.ended, only_reads)
    return future


class _Run:
    """The attempts of one transaction. Threads of the store call attempt() and ended()."""

    def __init__(self, future, session, handle, body) -> None:
        self._future = future
        self._session = session
        self._handle = handle
        self._body = body
        self._value: Any = None
        self._raised: BaseException | None = None

    def attempt(self, native: _native.Transaction) -> bool:
        """Whether the transaction may commit. It runs again if it has met another."""
        if not self._future.running() and not self._future.set_running_or_notify_cancel():
            return False
        self._value = self._raised = None
        _running.session = self._session
        try:
            self._value = self._body(self._handle(native))
        except BaseException as raised:
            self._raised = raised
            return False
        finally:
            _running.session = None
        return True

    def ended(self, end: str, time: int, attempts: int, kind: int, cause: str) -> None:
        future = self._future
        future._outcome = Outcome(end, time, attempts, cause)
        value, raised = self._value, self._raised
        self._value = self._raised = None
        if future.cancelled() or (
            not future.running() and not future.set_running_or_notify_cancel()
        ):
            return
        if end == "committed":
            future.set_result(value)
        elif raised is not None and not cause:
            future.set_exception(raised)
        else:
            future.set_exception(_error(end, kind, cause, future._outcome))


def _error(end: str, kind: int, cause: str, outcome: Outcome) -> Error:
    error_class = UnknownOutcomeError if end == "unknown" else _KINDS.get(kind, AbortedError)
    error = error_class(cause)
    error.outcome = outcome
    return error


def refuse_in_body(session: Any, call: str) -> None:
    """A session's call in the body of one of its transactions could wait for that body."""
    if getattr(_running, "session", None) is session:
        raise UsageError(
            f"{call} was called in a transaction: a transaction's function cannot call its session"
        )
