"""Runs a program as a child process until it ends, a time limit is reached, or a signal arrives."""
import ctypes
import os
import selectors
import signal
import subprocess
import time
from dataclasses import dataclass

from slimgraph.lab.failure import ENVIRONMENT, INPUT, Failure

GRACE_S = 3  # from SIGTERM to SIGKILL: a job's launcher needs up to a second to end by itself
KEPT_OF_ERRORS = 4096
PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


@dataclass
class ChildEnd:
    code: int = 0  # exit code, or 128 + signal
    timed_out: bool = False
    stopped: bool = False  # this process received a signal that asks it to stop
    seconds: float = 0
    out: str = ""
    last_line: str = ""  # of standard error: normally the error message


class StopSignals:
    """Within this context, SIGINT, SIGTERM and SIGHUP are recorded, and run_child ends its child in
    an orderly way."""
    received = 0
    wakes = None  # readable once a signal has arrived

    def __enter__(self):
        StopSignals.received = 0
        StopSignals.wakes, self.write = os.pipe()
        os.set_blocking(self.write, False)
        signal.set_wakeup_fd(self.write, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._record)
        return self

    def __exit__(self, *_):
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)

    @staticmethod
    def _record(number, _):
        StopSignals.received = number


class _Watched:
    """The process group of one child, until the child has ended."""

    def __init__(self, child, limit_s, begin_s):
        self.child, self.limit_s, self.begin_s = child, limit_s, begin_s
        self.end, self.end_at_s, self.killed = ChildEnd(), None, False
        self.texts = {child.stdout: b"", child.stderr: b""}

    def wait(self):
        with selectors.DefaultSelector() as selector, \
                os.fdopen(os.pidfd_open(self.child.pid)) as ended:
            for source in (*self.texts, ended):
                selector.register(source, selectors.EVENT_READ)
            if StopSignals.wakes is not None:
                selector.register(StopSignals.wakes, selectors.EVENT_READ, "signal")
            left = {*self.texts, ended}
            # Descendants of a child that was killed may still hold its pipes open.
            while left and not (self.killed and ended not in left):
                for key, _ in selector.select(self._time_left_s()):
                    if key.data == "signal":
                        if StopSignals.received:
                            selector.unregister(key.fileobj)
                    elif key.fileobj is ended or not self._read(key.fileobj):
                        selector.unregister(key.fileobj)
                        left.discard(key.fileobj)
                self._supervise()
        code = self.child.wait()
        self.end.code = code if code >= 0 else 128 - code
        self.end.seconds = time.monotonic() - self.begin_s
        self.end.out = self.texts[self.child.stdout].decode(errors="replace")
        errors = self.texts[self.child.stderr].decode(errors="replace").rstrip("\n")
        self.end.last_line = errors.rpartition("\n")[2].removeprefix("slimgraph: ")
        for pipe in self.texts:
            pipe.close()
        return self.end

    def _read(self, pipe):
        piece = os.read(pipe.fileno(), 1 << 16)
        self.texts[pipe] += piece
        if pipe is self.child.stderr:
            self.texts[pipe] = self.texts[pipe][-KEPT_OF_ERRORS:]
        return piece

    def _time_left_s(self):
        if self.killed:
            return None
        at_s = self.begin_s + self.limit_s if self.end_at_s is None else self.end_at_s + GRACE_S
        return max(0, at_s - time.monotonic())

    def _supervise(self):
        now_s = time.monotonic()
        if self.end_at_s is None:
            if not StopSignals.received and now_s < self.begin_s + self.limit_s:
                return
            self.end.stopped = StopSignals.received != 0
            self.end.timed_out = not self.end.stopped
            self.end_at_s = now_s
            self._kill(signal.SIGTERM)
        elif not self.killed and now_s >= self.end_at_s + GRACE_S:
            self.killed = True
            self._kill(signal.SIGKILL)

    def _kill(self, number):
        try:
            os.killpg(self.child.pid, number)
        except ProcessLookupError:
            pass


def run_child(words, limit_s):
    """`words` starts with the program. When the limit is reached or a signal arrives, the child's
    whole process group is ended. The child does not survive this process, and Ctrl-C reaches only
    this process."""
    if StopSignals.received:
        return ChildEnd(stopped=True)
    begin_s = time.monotonic()
    try:
        child = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            process_group=0, preexec_fn=lambda: _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM))
    except OSError as reason:
        return ChildEnd(ENVIRONMENT, last_line=f"cannot start {words[0]}: {reason.strerror}")
    return _Watched(child, limit_s, begin_s).wait()


def run_slimgraph(words):
    """Runs slimgraph and returns what it prints."""
    end = run_child(words, 3600)
    if end.stopped:
        raise Failure(128 + StopSignals.received, "stopped")
    if end.code != 0:
        raise Failure(end.code if end.code == INPUT else ENVIRONMENT, end.last_line)
    return end.out
