"""What a call that takes long shows, on a terminal or in a notebook: its name, its time, and how
much of it is done, if that is known."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

AFTER_S = 2.0  # shorter calls show nothing

_current = threading.local()


class _Line:
    """The line of one call."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._cell: Any = None
        self._drawn = False

    def show(self, seconds: float, done: float | None) -> None:
        share = "" if done is None else f", {100 * done:.0f} % done"
        self._draw(f"{self._name}: {seconds:.0f} s{share}")

    def clear(self) -> None:
        if self._drawn:
            self._draw("")

    def _draw(self, text: str) -> None:
        if _in_notebook():
            from IPython.display import display

            data = {"text/plain": text}
            if self._cell is None:
                self._cell = display(data, raw=True, display_id=True)
            else:
                self._cell.update(data, raw=True)
        elif sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write(f"\r\033[K{text}")
            sys.stderr.flush()
        else:
            return
        self._drawn = True


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


@contextmanager
def shown(name: str, on: bool) -> Iterator[None]:
    """While it is active, ticks of this thread show the progress of a call."""
    line = _Line(name) if on else None
    before = getattr(_current, "line", None)
    _current.line = line
    try:
        yield
    finally:
        _current.line = before
        if line is not None:
            line.clear()


def tick(seconds: float, done: float | None) -> None:
    """Native code calls this from time to time while the calling thread waits for it."""
    line = getattr(_current, "line", None)
    if line is not None and seconds >= AFTER_S:
        line.show(seconds, done)
