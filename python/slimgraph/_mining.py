"""What a graph offers about patterns and triangles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .errors import UsageError
from .pattern import Pattern
from .values import EdgeValues, LocalCounts

_BUDGET = 64 << 20


class MiningCalls:
    """A part of the class Graph."""

    def count(
        self,
        pattern: Pattern | str | Iterable[tuple[int, int]],
        *,
        induced: bool = False,
        chunk_bytes: int = _BUDGET,
        cache_bytes: int = _BUDGET,
    ) -> int:
        """The number of matches of a pattern in an undirected graph.

        Matches that differ only by a symmetry of the pattern count once. `induced`: the graph may
        not have edges between a match's vertices that the pattern does not have. `chunk_bytes` is
        the memory of each thread for matches under way, `cache_bytes` that of each compute node
        for lists of other nodes.

        >>> import slimgraph as sg
        >>> square = sg.Graph.from_edges([1, 2, 3, 4, 1], [2, 3, 4, 1, 3])
        >>> square.count("wedge"), square.count("wedge", induced=True), square.count([(1, 2)])
        (8, 2, 5)
        """
        return self._match("count", pattern, induced, chunk_bytes, cache_bytes)

    def matches(
        self,
        pattern: Pattern | str | Iterable[tuple[int, int]],
        *,
        limit: int | None = None,
        induced: bool = False,
        chunk_bytes: int = _BUDGET,
        cache_bytes: int = _BUDGET,
    ) -> np.ndarray:
        """The matches: a row for each, in no particular order.

        The columns are the pattern's vertices in ascending order. `limit`: at most so many. Several
        compute nodes must be processes of `slimgraph launch`; each returns what it has found.

        >>> import slimgraph as sg
        >>> sorted(sg.Graph.from_edges([1, 2, 3, 3], [2, 3, 1, 4]).matches("triangle")[0].tolist())
        [1, 2, 3]
        """
        most = 2**63 if limit is None else limit
        if most < 0:
            raise UsageError(f"limit is {limit}: give 0 or more")
        return self._match("matches", pattern, induced, chunk_bytes, cache_bytes, limit=most)

    def _match(self, command, pattern, induced, chunk_bytes, cache_bytes, **more) -> Any:
        wanted = Pattern(pattern)
        value = self._call(
            command,
            wanted._native,
            induced=induced,
            chunk_bytes=chunk_bytes,
            cache_bytes=cache_bytes,
            **more,
        )
        self._session.last_report["options"]["pattern"] = wanted.name
        return value

    def triangles(self) -> int:
        """The number of triangles in an undirected graph."""
        return self.count("triangle")

    def local_counts(
        self, *, chunk_bytes: int = _BUDGET, cache_bytes: int = _BUDGET
    ) -> LocalCounts:
        """For each vertex of an undirected graph: degree, triangles, and local clustering."""
        return LocalCounts(
            self.ids,
            self._call("local_counts", chunk_bytes=chunk_bytes, cache_bytes=cache_bytes),
            self._session.last_report,
        )

    def trussness(
        self, *, chunk_bytes: int = _BUDGET, cache_bytes: int = _BUDGET
    ) -> EdgeValues:
        """For each edge of an undirected graph, the largest k such that it is in the k-truss.

        The k-truss is the largest subgraph in which every edge is in at least k - 2 triangles.

        >>> import slimgraph as sg
        >>> truss = sg.Graph.from_edges([1, 2, 3, 3], [2, 3, 1, 4]).trussness()
        >>> truss[2, 1], truss[3, 4]
        (3, 2)
        """
        columns = self._call("trussness", chunk_bytes=chunk_bytes, cache_bytes=cache_bytes)
        return EdgeValues(*columns, "trussness", self._session.last_report)
