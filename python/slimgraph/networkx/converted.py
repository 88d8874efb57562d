"""A graph of NetworkX as arrays, and the graphs of SlimGraph that are made from them."""

from __future__ import annotations

from itertools import chain
from typing import Any

import networkx as nx
import numpy as np

from .. import Graph, Session

_MOST_EXACT = 2**53

_session: Session | None = None
_session_options: tuple | None = None


def session() -> Session:
    """The session that nx.config.backends.slimgraph describes."""
    global _session, _session_options
    config = nx.config.backends.slimgraph
    options = (config.nodes, config.compute, config.threads)
    if _session is None or options != _session_options:
        if _session is not None:
            _session.close()
        _session = Session(nodes=options[0], compute=options[1], threads=options[2])
        _session_options = options
    return _session


class ConvertedGraph:
    """The vertices are the positions of the nodes. Graphs are made when they are first needed."""

    __networkx_backend__ = "slimgraph"

    def __init__(self, graph: nx.Graph, weight: str | None, default: Any) -> None:
        self.original = graph
        self.nodes = list(graph)
        self.position = dict(zip(self.nodes, range(len(self.nodes))))
        self._directed = graph.is_directed()
        self._multigraph = graph.is_multigraph()
        self._weight = weight
        self._default = default
        self._graphs: dict[tuple[bool, bool], tuple[Session, Graph]] = {}
        self._arrays: tuple[np.ndarray, np.ndarray] | None = None
        self._weights: np.ndarray | None = None
        self.whole = False  # whether all weights are integers

    def is_directed(self) -> bool:
        return self._directed

    def is_multigraph(self) -> bool:
        return self._multigraph

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self):
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.position
        except TypeError:  # it cannot be hashed
            return False

    def position_of(self, node: object) -> int:
        """What NetworkX says about a node that is not in the graph is left to NetworkX."""
        if node not in self:
            raise NotImplementedError(f"{node!r} is not in the graph")
        return self.position[node]

    # ---- arrays

    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The ends of all arcs, in the order of the adjacency. Parallel edges count once."""
        if self._arrays is None:
            lists = self.original.adj.values()
            lengths = np.fromiter(map(len, lists), np.int64, len(self))
            targets = map(self.position.__getitem__, chain.from_iterable(lists))
            ends = np.fromiter(targets, np.int64, int(lengths.sum()))
            self._arrays = np.repeat(np.arange(len(self)), lengths), ends
        return self._arrays

    def has_self_loops(self) -> bool:
        u, v = self.ends()
        return bool((u == v).any())

    def weights(self) -> np.ndarray:
        """The weight of each arc: the smallest of parallel edges."""
        if self._weights is None:
            data: list[Any] = list(
                chain.from_iterable(a.values() for a in self.original.adj.values())
            )
            name, default = self._weight, self._default
            if self.is_multigraph():
                values = [min(d.get(name, default) for d in edges.values()) for edges in data]
            else:
                values = [d.get(name, default) for d in data]
            kinds = set(map(type, values))
            if not kinds <= {int, float, bool}:
                raise NotImplementedError("weights are not numbers of Python")
            self.whole = float not in kinds
            if self.whole and any(abs(value) > _MOST_EXACT for value in values):
                raise NotImplementedError("a weight is beyond 2^53")
            self._weights = np.array(values, np.float64)
        return self._weights

    # ---- graphs

    def graph(self, *, reverse: bool = False, weighted: bool = False) -> Graph:
        """The graph in the current session; `reverse`: with all edges turned around."""
        reverse = reverse and self._directed
        key = (reverse, weighted)
        made_in = session()
        if key in self._graphs and self._graphs[key][0] is made_in:
            return self._graphs[key][1]
        u, v = self.ends()
        weights = self.weights() if weighted else None
        if not self._directed:  # the adjacency has each edge at both ends
            once = u <= v
            u, v = u[once], v[once]
            weights = weights[once] if weighted else None
        if reverse:
            u, v = v, u
        graph = made_in.from_edges(
            u, v, weights, directed=self._directed, vertices=np.arange(len(self))
        )
        self._graphs[key] = (made_in, graph)
        return graph

    def require(self, *, undirected: bool = False, simple: bool = False) -> None:
        if undirected and self._directed:
            raise NotImplementedError("the graph is directed")
        if simple and self._multigraph:
            raise NotImplementedError("the graph may have parallel edges")
