"""Graphs, and what can be computed on them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _inputs, _native
from ._mining import MiningCalls
from .errors import UsageError
from .session import Session, default_session
from .values import VertexValues

if TYPE_CHECKING:
    import pandas

NO_HOPS: int = _native.NO_HOPS
"""The value of bfs() for a vertex that no path leads to."""


class Graph(MiningCalls):
    """A graph in the memory of a session's nodes.

    Make one by from_edges(), from_pandas(), from_arrow(), from_scipy(), from_csr() or open().
    Vertices are integers from 0 to 2^64-1, those of the input. Self-loops are dropped. Of several
    edges between the same vertices, the one with the smallest weight is kept.
    """

    def __init__(self, native: _native.Graph, session: Session) -> None:
        self._native = native
        self._session = session

    @classmethod
    def from_edges(
        cls,
        u: Any,
        v: Any,
        weights: Any = None,
        *,
        directed: bool = False,
        vertices: Any = None,
        session: Session | None = None,
    ) -> Graph:
        """A graph from the ends of its edges: NumPy or Arrow arrays, Series, or sequences.

        `vertices` names vertices that may have no edge. Arrays of 64-bit integers are not copied.

        >>> import slimgraph as sg
        >>> sg.Graph.from_edges([5, 7], [7, 9], weights=[0.5, 2], directed=True, vertices=[11])
        <slimgraph.Graph: 4 vertices, 2 edges, directed, weighted>
        """
        session = session or default_session()
        arrays = (
            _inputs.as_ids(u, "u"),
            _inputs.as_ids(v, "v"),
            None if weights is None else _inputs.as_weights(weights),
            bool(directed),
            None if vertices is None else _inputs.as_ids(vertices, "vertices"),
        )
        native = session._call(
            "from_edges",
            {"directed": bool(directed)},
            lambda: _native.Graph.from_edges(session._native, *arrays),
        )
        return cls(native, session)

    @classmethod
    def from_pandas(
        cls,
        frame: pandas.DataFrame,
        source: str = "source",
        target: str = "target",
        weight: str | None = None,
        *,
        directed: bool = False,
        session: Session | None = None,
    ) -> Graph:
        """A graph from a frame with a row for each edge.

        >>> import pandas, slimgraph as sg
        >>> frame = pandas.DataFrame({"source": [1, 2], "target": [2, 3], "km": [1.5, 4.0]})
        >>> sg.Graph.from_pandas(frame, weight="km").sssp(1)[3]
        5.5
        """
        return cls._from_table(frame, source, target, weight, directed, session)

    @classmethod
    def from_arrow(
        cls,
        table: Any,
        source: str = "source",
        target: str = "target",
        weight: str | None = None,
        *,
        directed: bool = False,
        session: Session | None = None,
    ) -> Graph:
        """A graph from an Arrow table with a row for each edge.

        >>> import pyarrow, slimgraph as sg
        >>> sg.Graph.from_arrow(pyarrow.table({"source": [1, 2], "target": [2, 3]}))
        <slimgraph.Graph: 3 vertices, 2 edges, undirected>
        """
        return cls._from_table(table, source, target, weight, directed, session)

    @classmethod
    def _from_table(cls, table, source, target, weight, directed, session) -> Graph:
        names = [source, target] + ([] if weight is None else [weight])
        return cls.from_edges(
            *_inputs.columns_of(table, names), directed=directed, session=session
        )

    @classmethod
    def from_csr(
        cls,
        indptr: Any,
        indices: Any,
        weights: Any = None,
        *,
        directed: bool = False,
        session: Session | None = None,
    ) -> Graph:
        """A graph from compressed sparse rows; the vertices are the rows, from 0.

        >>> import slimgraph as sg
        >>> sg.Graph.from_csr([0, 2, 2, 3], [1, 2, 0], directed=True)
        <slimgraph.Graph: 3 vertices, 3 edges, directed>
        """
        sources, destinations, rows = _inputs.edges_of_csr(indptr, indices)
        if destinations.size > 0 and (largest := int(destinations.max())) >= rows:
            raise UsageError(f"indices has {largest}, but there are only the rows 0 to {rows - 1}")
        vertices = np.arange(rows)
        return cls.from_edges(
            sources, destinations, weights, directed=directed, vertices=vertices, session=session
        )

    @classmethod
    def from_scipy(
        cls,
        matrix: Any,
        *,
        directed: bool = False,
        weighted: bool = False,
        session: Session | None = None,
    ) -> Graph:
        """A graph from a square sparse matrix of SciPy in any format: an edge for each entry.

        >>> import scipy.sparse, slimgraph as sg
        >>> matrix = scipy.sparse.csr_array([[0, 2, 0], [2, 0, 3], [0, 3, 0]])
        >>> sg.Graph.from_scipy(matrix, weighted=True).sssp(0).to_dict()
        {0: 0.0, 1: 2.0, 2: 5.0}
        """
        if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
            raise UsageError(f"the matrix has the shape {matrix.shape}: give a square one")
        entries = matrix.tocoo()
        return cls.from_edges(
            entries.row,
            entries.col,
            entries.data if weighted else None,
            directed=directed,
            vertices=np.arange(matrix.shape[0]),
            session=session,
        )

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        directed: bool | None = None,
        *,
        weighted: bool = False,
        format: str = "",
        session: Session | None = None,
    ) -> Graph:
        """A graph from a .slim file, or from any file that `slimgraph convert` reads.

        Edge lists need `directed`, and `weighted` if their lines have weights. `format` is "snap",
        "mtx", "metis", "sg", "wsg", "webgraph" or "slim"; by default what the file's name says.
        """
        session = session or default_session()
        options = {"directed": directed, "weighted": weighted, "format": format}
        native = session._call(
            "open",
            {"path": os.fspath(path), **options},
            lambda: _native.Graph.open(session._native, os.fspath(path), *options.values()),
        )
        return cls(native, session)

    session = property(lambda self: self._session)

    @property
    def vertices(self) -> int:
        """How many vertices there are."""
        return self._native.vertices

    @property
    def edges(self) -> int:
        """How many edges there are. An undirected edge counts once."""
        return self._native.edges

    @property
    def directed(self) -> bool:
        return self._native.directed

    @property
    def weighted(self) -> bool:
        return self._native.weighted

    @property
    def ids(self) -> np.ndarray:
        """The vertices in ascending order."""
        return self._native.ids()

    def info(self) -> dict[str, Any]:
        """What `slimgraph info` tells about the graph.

        >>> import slimgraph as sg
        >>> sg.Graph.from_edges([1, 1, 1], [2, 3, 4]).info()["largest_degree"]
        3
        """
        return self._native.info()

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        weighted = ", weighted" if self.weighted else ""
        size = f"{self.vertices:,} vertices, {self.edges:,} edges"
        return f"<slimgraph.Graph: {size}, {kind}{weighted}>"

    # ---- vertex programs

    def _call(self, command: str, *arguments: Any, **options: Any) -> Any:
        """Makes a native call about this graph. Options are arguments that the report names."""
        session = self._session
        call = getattr(_native, command)
        value = session._call(command, options, lambda: call(self._native, *arguments, **options))
        about = {"vertices": self.vertices, "edges": self.edges, "directed": self.directed}
        session.last_report["graph"] = about
        if (traffic := self._native.traffic_bytes) is not None:
            session.last_report["traffic"] = {"bytes": traffic}
        return value

    def _values(self, name: str, command: str, *arguments: Any, **options: Any) -> VertexValues:
        values = self._call(command, *arguments, **options)
        return VertexValues(self.ids, values, name, self._session.last_report)

    def bfs(self, source: int) -> VertexValues:
        """The number of edges on a shortest path from the source; NO_HOPS without a path.

        >>> import slimgraph as sg
        >>> hops = sg.Graph.from_edges([1, 2, 8], [2, 3, 9]).bfs(1)
        >>> hops[3], hops[9] == sg.NO_HOPS
        (2, True)
        """
        return self._values("hops", "bfs", source=_inputs.as_vertex(source))

    def sssp(self, source: int) -> VertexValues:
        """The length of a shortest path from the source; infinity without a path.

        The graph needs weights, none of them negative.

        >>> import slimgraph as sg
        >>> sg.Graph.from_edges([1, 2, 1], [2, 3, 3], [1, 1, 5]).sssp(1)[3]
        2.0
        """
        return self._values("distance", "sssp", source=_inputs.as_vertex(source))

    def pagerank(
        self,
        damping: float = 0.85,
        iterations: int = 20,
        tolerance: float | None = None,
        most_iterations: int | None = None,
        source: int | None = None,
    ) -> VertexValues:
        """The PageRank of each vertex. Ranks sum to one.

        With a source, the ranks are personalised: all that edges do not give goes to this vertex.

        With a tolerance, iterates until the sum of all changes of an iteration is at most that.
        If this takes more than `most_iterations`, raises VerificationError.

        >>> import slimgraph as sg
        >>> graph = sg.Graph.from_edges([1, 2, 3], [4, 4, 4], directed=True)
        >>> ranks = graph.pagerank(tolerance=1e-10)
        >>> round(ranks[4], 4), round(float(ranks.values.sum()), 4)
        (0.542, 1.0)
        """
        return self._values(
            "pagerank",
            "pagerank",
            damping=damping,
            iterations=iterations,
            tolerance=tolerance,
            most_iterations=most_iterations,
            source=None if source is None else _inputs.as_vertex(source),
        )

    def connected_components(self) -> VertexValues:
        """For each vertex, the same number as for all others of its connected component.

        In a directed graph, the components are the weakly connected ones.

        >>> import slimgraph as sg
        >>> sg.Graph.from_edges([1, 8], [2, 9]).connected_components().to_dict()
        {1: 1, 2: 1, 8: 8, 9: 8}
        """
        return self._values("component", "connected_components")

    def betweenness(self, sources: Any = None) -> VertexValues:
        """Betweenness centrality from these sources; None: from all vertices.

        For each vertex, the sum over all pairs of a source and another vertex of the share of
        their shortest paths that lead through it. So each pair of an undirected graph counts
        twice if all vertices are sources.

        >>> import slimgraph as sg
        >>> sg.Graph.from_edges([1, 2], [2, 3]).betweenness()[2]
        2.0
        """
        wanted = self.ids if sources is None else _inputs.as_ids(sources, "sources")
        return self._values("betweenness", "betweenness", wanted)

    def hop_counts(self, source: int, most_hops: int = NO_HOPS) -> np.ndarray:
        """For each number of hops from 0 on, how many vertices are that far from the source.

        >>> import slimgraph as sg
        >>> sg.Graph.from_edges([1, 1, 3], [2, 3, 4]).hop_counts(1)
        array([1, 2, 1], dtype=uint64)
        """
        return self._call("hop_counts", source=_inputs.as_vertex(source), most_hops=most_hops)

    def community_labels(self, iterations: int = 10) -> VertexValues:
        """Communities by label propagation, as LDBC Graphalytics defines it (cdlp).

        Each vertex begins with its id as its label. In each iteration all vertices at once take
        the most frequent label of their neighbours, and the smallest of several such labels.

        >>> import slimgraph as sg
        >>> sg.Graph.from_edges([1, 2, 3], [2, 3, 1]).community_labels().to_dict()
        {1: 1, 2: 1, 3: 1}
        """
        return self._values("community", "community_labels", iterations=iterations)

    def core_numbers(self) -> VertexValues:
        """For each vertex, the largest k such that it is in the k-core. Directions do not count.

        >>> import slimgraph as sg
        >>> sg.Graph.from_edges([1, 2, 3, 3], [2, 3, 1, 4]).core_numbers().to_dict()
        {1: 2, 2: 2, 3: 2, 4: 1}
        """
        return self._values("core", "core_numbers")

    def maximal_independent_set(self, *, seed: int = 1) -> VertexValues:
        """1 for the vertices of a maximal independent set, 0 for others. Directions do not count.

        >>> import slimgraph as sg
        >>> sg.Graph.from_edges([1, 2], [2, 1]).maximal_independent_set(seed=5).values.sum().item()
        1
        """
        number = _inputs.as_integer(seed, "seed", 2**64)
        return self._values("independent", "maximal_independent_set", seed=number)

    def local_clustering(self) -> VertexValues:
        """The share of the ordered pairs of a vertex's neighbours that an edge joins (lcc).

        In a directed graph, the neighbours are those in either direction.

        >>> import slimgraph as sg
        >>> sg.Graph.from_edges([1, 2, 3], [2, 3, 1], directed=True).local_clustering()[1]
        0.5
        """
        return self._values("clustering", "local_clustering")
