"""The functions of the backend, with the arguments and results of NetworkX's own.

What a function cannot do is a NotImplementedError, after which NetworkX computes by itself.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from ..errors import VerificationError
from .converted import ConvertedGraph

NO_HOPS = 2**32 - 1
_LEAST_TOLERANCE = 1e-14
_LEAST_NODES = 1000  # below, converting a graph takes longer than NetworkX does
_EXACT = 2**53

calls: Counter[str] = Counter()
"""How often SlimGraph has computed something for each function."""


# ---- what NetworkX asks of a backend


def convert_from_nx(
    graph: Any,
    edge_attrs: dict[str, Any] | None = None,
    node_attrs: dict[str, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    preserve_graph_attrs: bool = False,
    name: str | None = None,
    graph_name: str | None = None,
) -> ConvertedGraph:
    if isinstance(graph, ConvertedGraph):
        return graph
    weight, default = next(iter((edge_attrs or {}).items()), (None, 1))
    return ConvertedGraph(graph, weight, default)


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    return result.original if isinstance(result, ConvertedGraph) else result


def can_run(name: str, args: tuple, kwargs: dict[str, Any]) -> bool:
    return True


def should_run(name: str, args: tuple, kwargs: dict[str, Any]) -> bool | str:
    graph = args[0] if args else kwargs.get("G")
    if graph is not None and len(graph) < _LEAST_NODES:
        return f"graphs of less than {_LEAST_NODES} nodes are faster in NetworkX"
    return True


def _counted(function: Callable) -> Callable:
    """Counts the calls that have not been left to NetworkX."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        calls[function.__name__] += 1
        return result

    return call


# ---- breadth-first search


def _within(distances: np.ndarray, graph: ConvertedGraph, kept: np.ndarray) -> dict:
    """The distances of the nodes in `kept`, the nearest first."""
    order = kept[np.argsort(distances[kept], kind="stable")]
    nodes = graph.nodes
    return dict(zip((nodes[i] for i in order.tolist()), distances[order].tolist()))


def _hops(graph: ConvertedGraph, node: Any, reverse: bool = False) -> np.ndarray:
    position = graph.position_of(node)
    return graph.graph(reverse=reverse).bfs(position).values


def _hops_within(graph: ConvertedGraph, node: Any, cutoff: Any, reverse: bool = False) -> dict:
    hops = _hops(graph, node, reverse)
    most = NO_HOPS - 1 if cutoff is None or cutoff >= NO_HOPS else max(0, math.ceil(cutoff))
    return _within(hops, graph, np.flatnonzero(hops <= most))


@_counted
def single_source_shortest_path_length(G, source, cutoff=None):
    return _hops_within(G, source, cutoff)


@_counted
def single_target_shortest_path_length(G, target, cutoff=None):
    return _hops_within(G, target, cutoff, reverse=True)


@_counted
def all_pairs_shortest_path_length(G, cutoff=None):
    return ((node, _hops_within(G, node, cutoff)) for node in G.nodes)


def _reached(graph: ConvertedGraph, node: Any, hops: np.ndarray, kept: np.ndarray) -> set:
    return {graph.nodes[i] for i in np.flatnonzero(kept).tolist()}


@_counted
def descendants(G, source):
    hops = _hops(G, source)
    return _reached(G, source, hops, (hops != NO_HOPS) & (hops != 0))


@_counted
def ancestors(G, source):
    hops = _hops(G, source, reverse=True)
    return _reached(G, source, hops, (hops != NO_HOPS) & (hops != 0))


@_counted
def descendants_at_distance(G, source, distance):
    hops = _hops(G, source)
    if not 0 <= distance < NO_HOPS:
        return set()
    return _reached(G, source, hops, hops == distance)


@_counted
def has_path(G, source, target):
    position = G.position_of(target)
    return bool(_hops(G, source)[position] != NO_HOPS)


# ---- shortest paths


def _distances(graph: ConvertedGraph, node: Any, weight: Any, reverse: bool = False) -> np.ndarray:
    if callable(weight):
        raise NotImplementedError("the weight is a function")
    position = graph.position_of(node)
    if weight is None or len(graph.ends()[0]) == 0:
        hops = graph.graph(reverse=reverse).bfs(position).values
        distances = hops.astype(np.float64)
        distances[hops == NO_HOPS] = np.inf
        return distances
    weights = graph.weights()
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise NotImplementedError("weights are negative or infinite")
    return graph.graph(reverse=reverse, weighted=True).sssp(position).values


def _as_weights(graph: ConvertedGraph, weight: Any, distances: np.ndarray) -> np.ndarray:
    """Distances are integers if all weights are."""
    if not (weight is None or graph.whole):
        return distances
    finite = distances[np.isfinite(distances)]
    if finite.size > 0 and finite.max() >= _EXACT:
        raise NotImplementedError("a distance is beyond 2^53")
    return np.where(np.isfinite(distances), distances, -1).astype(np.int64)


def _paths(
    graph: ConvertedGraph, node: Any, weight: Any, cutoff: Any = None, reverse=False
) -> dict:
    distances = _distances(graph, node, weight, reverse)
    kept = np.isfinite(distances)
    if cutoff is not None:
        kept &= distances <= cutoff
        kept[graph.position[node]] = True
    paths = _within(_as_weights(graph, weight, distances), graph, np.flatnonzero(kept))
    paths[node] = 0  # also where the others are floats
    return paths


def _path(graph: ConvertedGraph, source: Any, target: Any, weight: Any) -> Any:
    distances = _distances(graph, source, weight)
    position = graph.position_of(target)
    if source == target:
        return 0
    if not np.isfinite(distances[position]):
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return _as_weights(graph, weight, distances)[position].item()


@_counted
def single_source_dijkstra_path_length(G, source, cutoff=None, weight="weight"):
    return _paths(G, source, weight, cutoff)


@_counted
def single_source_bellman_ford_path_length(G, source, weight="weight"):
    return _paths(G, source, weight)


@_counted
def dijkstra_path_length(G, source, target, weight="weight"):
    return _path(G, source, target, weight)


@_counted
def bellman_ford_path_length(G, source, target, weight="weight"):
    return _path(G, source, target, weight)


@_counted
def all_pairs_dijkstra_path_length(G, cutoff=None, weight="weight"):
    _check_all_pairs(G, weight)
    return ((node, _paths(G, node, weight, cutoff)) for node in G.nodes)


@_counted
def all_pairs_bellman_ford_path_length(G, weight="weight"):
    _check_all_pairs(G, weight)
    return ((node, _paths(G, node, weight)) for node in G.nodes)


def _check_all_pairs(graph: ConvertedGraph, weight: Any) -> None:
    """What an iterator cannot leave to NetworkX any more, once it has begun."""
    if len(graph) == 0:
        return
    distances = _distances(graph, graph.nodes[0], weight)
    _as_weights(graph, weight, distances)
    if weight is not None and graph.whole and len(graph.ends()[0]) > 0:
        if graph.weights().sum() >= _EXACT:
            raise NotImplementedError("a distance may be beyond 2^53")


@_counted
def shortest_path_length(G, source=None, target=None, weight=None, method="dijkstra"):
    if method not in ("dijkstra", "bellman-ford"):
        raise NotImplementedError(f"the method {method!r}")
    if source is None and target is None:
        _check_all_pairs(G, weight)
        return ((node, _paths(G, node, weight)) for node in G.nodes)
    if source is None:
        return _paths(G, target, weight, reverse=True)
    if target is None:
        return _paths(G, source, weight)
    return _path(G, source, target, weight)


# ---- components


def _components(graph: ConvertedGraph) -> list[set]:
    """The components, by their first node."""
    if len(graph) == 0:
        return []
    labels = graph.graph().connected_components().values
    _, first, label = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(label, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(label))[:-1])
    nodes = graph.nodes
    return [{nodes[i] for i in parts[c].tolist()} for c in np.argsort(first).tolist()]


def _number_of_components(graph: ConvertedGraph) -> int:
    if len(graph) == 0:
        return 0
    return len(np.unique(graph.graph().connected_components().values))


def _is_one_component(graph: ConvertedGraph) -> bool:
    if len(graph) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return _number_of_components(graph) == 1


@_counted
def connected_components(G) -> Iterator[set]:
    return iter(_components(G))


@_counted
def weakly_connected_components(G) -> Iterator[set]:
    return iter(_components(G))


@_counted
def number_connected_components(G):
    return _number_of_components(G)


@_counted
def number_weakly_connected_components(G):
    return _number_of_components(G)


@_counted
def is_connected(G):
    return _is_one_component(G)


@_counted
def is_weakly_connected(G):
    return _is_one_component(G)


@_counted
def node_connected_component(G, n):
    position = G.position_of(n)
    labels = G.graph().connected_components().values
    return {G.nodes[i] for i in np.flatnonzero(labels == labels[position]).tolist()}


# ---- centrality


@_counted
def pagerank(
    G,
    alpha=0.85,
    personalization=None,
    max_iter=100,
    tol=1.0e-6,
    nstart=None,
    weight="weight",
    dangling=None,
):
    if personalization is not None or nstart is not None or dangling is not None:
        raise NotImplementedError("ranks of a given distribution")
    G.require(simple=True)
    if len(G) == 0:
        return {}
    if not 0 <= alpha <= 1 or not len(G) * tol >= _LEAST_TOLERANCE or max_iter < 0:
        raise NotImplementedError("alpha, tol or max_iter are out of range")
    if weight is not None and not (G.weights() == 1).all():
        raise NotImplementedError("edges have weights")
    if G.has_self_loops():
        raise NotImplementedError("the graph has self-loops")
    try:
        ranks = G.graph().pagerank(alpha, tolerance=len(G) * tol, most_iterations=max_iter)
    except VerificationError as error:
        raise nx.PowerIterationFailedConvergence(max_iter) from error
    return dict(zip(G.nodes, ranks.values.tolist()))


@_counted
def betweenness_centrality(G, k=None, normalized=True, weight=None, endpoints=False, seed=None):
    if weight is not None or endpoints or k == 0:
        raise NotImplementedError("weights, endpoints, and no sources")
    if len(G) == 0:
        return {}
    sampled = None
    if k is not None and k != len(G):
        sampled = np.array([G.position[node] for node in seed.sample(list(G.nodes), k)], np.int64)
    values = G.graph().betweenness(sampled).values * _scales(
        len(G), sampled, normalized, G.is_directed()
    )
    return dict(zip(G.nodes, values.tolist()))


def _scales(
    count: int, sampled: np.ndarray | None, normalized: bool, directed: bool
) -> np.ndarray | float:
    """Sampled sources estimate the sums over all others; a source knows one of these less."""
    others = count - 1
    if others < 2:
        return 1.0
    whole = 1 / (others * (others - 1)) if normalized else 1.0 if directed else 0.5
    if sampled is None:
        return whole
    scales = np.full(count, whole * others / len(sampled)) if len(sampled) > 0 else np.ones(count)
    scales[sampled] = whole * others / (len(sampled) - 1) if len(sampled) > 1 else math.nan
    return scales


# ---- triangles and cores


def _chosen(graph: ConvertedGraph, nodes: Any, values: list) -> Any:
    """The value of a node, or a dictionary of those that `nodes` names."""
    if nodes is None:
        return dict(zip(graph.nodes, values))
    if nodes in graph:
        return values[graph.position[nodes]]
    return {node: values[graph.position[node]] for node in graph.original.nbunch_iter(nodes)}


def _local(graph: ConvertedGraph):
    graph.require(undirected=True, simple=True)
    if len(graph) == 0:
        raise NotImplementedError("the graph is empty")
    return graph.graph().local_counts()


@_counted
def triangles(G, nodes=None):
    return _chosen(G, nodes, _local(G).triangles.tolist())


def _clustering(graph: ConvertedGraph, weight: Any) -> list:
    if weight is not None:
        raise NotImplementedError("clustering by weights")
    return [share or 0 for share in _local(graph).clustering.tolist()]


@_counted
def clustering(G, nodes=None, weight=None):
    return _chosen(G, nodes, _clustering(G, weight))


@_counted
def average_clustering(G, nodes=None, weight=None, count_zeros=True):
    chosen = _chosen(G, nodes, _clustering(G, weight))
    if not isinstance(chosen, dict):
        raise NotImplementedError("the average of one node")
    shares = [share for share in chosen.values() if count_zeros or share != 0]
    return sum(shares) / len(shares)


@_counted
def transitivity(G):
    counts = _local(G)
    corners = 2 * int(counts.triangles.sum())
    degrees = counts.degree.astype(object)
    return 0 if corners == 0 else corners / int((degrees * (degrees - 1)).sum())


@_counted
def core_number(G):
    G.require(undirected=True, simple=True)
    if len(G) == 0 or G.has_self_loops():
        raise NotImplementedError("no nodes, or self-loops")
    return dict(zip(G.nodes, G.graph().core_numbers().values.tolist()))
