"""Small graphs to search for."""

from __future__ import annotations

import os
from collections.abc import Iterable

from . import _native


class Pattern:
    """A connected graph of 2 to 8 vertices: a name, a file of edges, or edges.

    >>> import slimgraph as sg
    >>> sg.Pattern("diamond").edges
    [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)]
    >>> sg.Pattern([(1, 2), (2, 3), (3, 1)]).size
    3
    """

    def __init__(
        self, pattern: Pattern | str | os.PathLike[str] | Iterable[tuple[int, int]]
    ) -> None:
        if isinstance(pattern, Pattern):
            self._native = pattern._native
        elif isinstance(pattern, (str, os.PathLike)):
            self._native = _native.Pattern.find(os.fspath(pattern))
        else:
            edges = [(int(a), int(b)) for a, b in pattern]
            self._native = _native.Pattern.make(edges, "the pattern")

    @property
    def name(self) -> str:
        return self._native.name

    @property
    def size(self) -> int:
        """The number of vertices."""
        return self._native.size

    @property
    def edges(self) -> list[tuple[int, int]]:
        return self._native.edges

    def __repr__(self) -> str:
        return f"<slimgraph.Pattern {self.name!r}: {self.size} vertices, {len(self.edges)} edges>"


def pattern_names() -> list[str]:
    """The names of patterns that Pattern() knows.

    >>> import slimgraph as sg
    >>> "house" in sg.pattern_names()
    True
    """
    return _native.pattern_names().split(", ")
