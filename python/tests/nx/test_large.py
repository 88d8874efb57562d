"""The backend's functions on random graphs of 10^3 to 10^5 nodes, against NetworkX itself.

NetworkX's own tests have tiny graphs.
"""

import functools
import math
import random

import networkx as nx
import pytest

from slimgraph.networkx import backend
from slimgraph.networkx.info import FUNCTIONS

SIZES = [(1000, 4000), (10_000, 30_000), (100_000, 150_000)]
SESSIONS = [(1, 1), (4, 2)]
GRAPHS = [(size, seed) for size in SIZES for seed in (1, 2) if size != SIZES[2] or seed == 1]
of_networkx = {}


@functools.lru_cache(maxsize=None)
def graph_of(kind, size, seed):
    nodes, edges = size
    directed = kind != "undirected"
    graph = nx.gnm_random_graph(nodes, edges, seed=seed, directed=directed, backend="networkx")
    chance = random.Random(seed)
    # Names that are no integers, in an order of their own.
    names = [f"n{i}" for i in range(nodes)]
    chance.shuffle(names)
    graph = nx.relabel_nodes(graph, dict(enumerate(names)), backend="networkx")
    whole = chance.random() < 0.5
    for _, _, data in graph.edges(data=True):
        data["km"] = chance.randrange(20) if whole else chance.random()
    return graph


def check(name, graph, *args, **kwargs):
    """Compares one call."""
    before = backend.calls[name]
    ours = getattr(nx, name)(graph, *args, backend="slimgraph", **kwargs)
    key = (graph, name, repr(args), repr(kwargs))
    if key not in of_networkx:  # is the same for all sessions
        of_networkx[key] = listed(getattr(nx, name)(graph, *args, backend="networkx", **kwargs))
    theirs = of_networkx[key]
    assert backend.calls[name] == before + 1, f"{name} ran in NetworkX"
    same(listed(ours), theirs)


def listed(result):
    if hasattr(result, "__next__"):
        return list(result)
    return result


def same(ours, theirs):
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for key, value in theirs.items():
            same(ours[key], value)
    elif isinstance(theirs, float):
        assert math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12) or (
            math.isnan(ours) and math.isnan(theirs)
        )
    else:
        assert ours == theirs
        assert type(ours) is type(theirs)


@pytest.fixture(params=SESSIONS, ids=lambda s: f"{s[0]}nodes{s[1]}compute", autouse=True)
def nodes(request):
    nx.config.warnings_to_ignore.add("cache")
    config = nx.config.backends.slimgraph
    config.nodes, config.compute, config.threads = *request.param, 1


@pytest.mark.parametrize(("size", "seed"), GRAPHS, ids=str)
@pytest.mark.parametrize("kind", ["undirected", "directed"])
def test_paths(kind, size, seed):
    graph = graph_of(kind, size, seed)
    nodes = list(graph)
    a, b = nodes[0], nodes[1]
    check("single_source_shortest_path_length", graph, a)
    check("single_source_shortest_path_length", graph, a, cutoff=3)
    check("single_target_shortest_path_length", graph, b)
    check("descendants", graph, a)
    check("ancestors", graph, a)
    check("descendants_at_distance", graph, a, 2)
    for node in nodes[1:4]:
        check("has_path", graph, a, node)
    check("single_source_dijkstra_path_length", graph, a, weight="km")
    check("single_source_dijkstra_path_length", graph, a, weight="km", cutoff=9)
    check("single_source_bellman_ford_path_length", graph, b, weight="km")
    check("shortest_path_length", graph, a)
    check("shortest_path_length", graph, None, b, weight="km")
    check("shortest_path_length", graph, b, weight="km")
    near = next(iter(graph[a]), a)
    check("shortest_path_length", graph, a, near, weight="km")
    check("dijkstra_path_length", graph, a, near, weight="km")
    check("bellman_ford_path_length", graph, a, near, weight="km")


@pytest.mark.parametrize(("size", "seed"), GRAPHS, ids=str)
def test_components_of_both_kinds(size, seed):
    graph = graph_of("undirected", size, seed)
    for name in ("connected_components", "number_connected_components", "is_connected"):
        check(name, graph)
    check("node_connected_component", graph, next(iter(graph)))
    graph = graph_of("directed", size, seed)
    for name in ("components", "connected"):
        check(
            {"components": "weakly_connected_components", "connected": "is_weakly_connected"}[
                name
            ],
            graph,
        )
    check("number_weakly_connected_components", graph)


@pytest.mark.parametrize(("size", "seed"), GRAPHS, ids=str)
@pytest.mark.parametrize("kind", ["undirected", "directed"])
def test_pagerank(kind, size, seed):
    graph = graph_of(kind, size, seed)
    check("pagerank", graph)
    check("pagerank", graph, 0.5, tol=1e-9)
    for which in ("slimgraph", "networkx"):
        with pytest.raises(nx.PowerIterationFailedConvergence):
            nx.pagerank(graph, tol=1e-14, max_iter=2, backend=which)


@pytest.mark.parametrize(("size", "seed"), GRAPHS, ids=str)
def test_triangles_clustering_and_cores(size, seed):
    graph = graph_of("undirected", size, seed)
    some = list(graph)[5:50]
    for name in ("triangles", "clustering", "average_clustering"):
        check(name, graph)
        check(name, graph, some)
    check("transitivity", graph)
    check("core_number", graph)


@pytest.mark.parametrize("kind", ["undirected", "directed"])
def test_betweenness(kind):
    graph = graph_of(kind, (1000, 2500), 3)
    check("betweenness_centrality", graph)
    for normalized in (True, False):
        check("betweenness_centrality", graph, 20, normalized, seed=5)
    check("betweenness_centrality", graph_of(kind, SIZES[1], 1), 3, seed=6)
    check("betweenness_centrality", graph_of(kind, SIZES[2], 1), 1, seed=6)


def test_all_pairs():
    graph = graph_of("undirected", (60, 90), 4)
    check("all_pairs_shortest_path_length", graph)
    check("all_pairs_dijkstra_path_length", graph, weight="km")
    check("all_pairs_bellman_ford_path_length", graph, weight="km")


def test_every_function_of_the_backend_is_compared():
    import pathlib

    text = pathlib.Path(__file__).read_text()
    assert [name for name in FUNCTIONS if f'"{name}"' not in text] == []


def test_what_the_backend_cannot_do_runs_in_networkx():
    with nx.config(backend_priority=["slimgraph"], fallback_to_nx=True):
        graph = nx.gnm_random_graph(1200, 3000, seed=1)
        before = backend.calls["pagerank"]
        nx.pagerank(graph)
        assert backend.calls["pagerank"] == before + 1
        weights = nx.pagerank(nx.Graph([(1, 2, {"weight": 5}), (2, 3)]))
        assert backend.calls["pagerank"] == before + 1
        assert weights[2] > weights[1] > weights[3]
        with pytest.raises(nx.NodeNotFound):
            nx.single_source_dijkstra_path_length(graph, "nobody")
