"""All algorithms on random graphs, against serial code."""

import numpy as np
import pytest
from serial import (
    betweenness_of,
    clustering_of,
    core_numbers_of,
    distances_from,
    hops_from,
    labels_after,
    lists_of,
    ranks_after,
    triangles_at,
    trussness_of,
)

import slimgraph as sg

SEEDS = [1, 2, 3]


def random_edges(seed, vertices=60, edges=150, most_id=10**6):
    random = np.random.default_rng(seed)
    ids = random.choice(most_id, vertices, replace=False)
    return random.choice(ids, edges), random.choice(ids, edges), random


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("directed", [False, True])
def test_vertex_programs_compute_what_serial_code_does(session, seed, directed):
    u, v, random = random_edges(seed)
    lone = [10**9, 10**9 + 5]
    lists = lists_of(u, v, directed, lone)
    graph = session.from_edges(u, v, directed=directed, vertices=lone)
    assert graph.vertices == len(lists)
    assert graph.ids.tolist() == sorted(lists)
    source = int(u[0])
    hops = {a: n for a, n in graph.bfs(source).to_dict().items() if n != sg.NO_HOPS}
    assert hops == hops_from(lists, source)
    assert graph.pagerank(iterations=7).to_dict() == pytest.approx(ranks_after(lists, 7))
    assert graph.betweenness().to_dict() == pytest.approx(betweenness_of(lists))
    both = lists_of(u, v, False, lone)
    counts = np.bincount(list(hops.values()))
    assert graph.hop_counts(source).tolist() == counts.tolist()
    assert graph.hop_counts(source, 2).tolist() == counts[:3].tolist()
    assert graph.core_numbers().to_dict() == core_numbers_of(both)
    assert graph.community_labels(5).to_dict() == labels_after(u, v, directed, lone, 5)
    assert graph.local_clustering().to_dict() == pytest.approx(clustering_of(lists, both))
    label = graph.connected_components().to_dict()
    for a in both:
        assert {b for b in both if label[b] == label[a]} == set(hops_from(both, a))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["int", "float"])
@pytest.mark.parametrize("directed", [False, True])
def test_shortest_paths_take_the_smallest_weight_of_each_edge(session, seed, kind, directed):
    u, v, random = random_edges(seed)
    weights = random.integers(0, 50, len(u)) if kind == "int" else random.random(len(u))
    arcs = {}
    for a, b, weight in zip(u.tolist(), v.tolist(), weights.tolist()):
        for arc in [(a, b)] if directed else [(a, b), (b, a)]:
            arcs[arc] = min(weight, arcs.get(arc, weight))
    graph = session.from_edges(u, v, weights, directed=directed)
    distances = graph.sssp(int(v[0]))
    reached = {a: d for a, d in distances.to_dict().items() if d != np.inf}
    assert reached == pytest.approx(distances_from(arcs, int(v[0])))


@pytest.mark.parametrize("seed", SEEDS)
def test_patterns_and_local_counts_are_those_of_serial_code(session, seed):
    u, v, _ = random_edges(seed, 40, 200)
    lists = lists_of(u, v, False)
    triangles = triangles_at(lists)
    graph = session.from_edges(u, v)
    counts = graph.local_counts()
    assert dict(zip(counts.ids.tolist(), counts.triangles.tolist())) == triangles
    assert dict(zip(counts.ids.tolist(), counts.degree.tolist())) == {
        a: len(out) for a, out in lists.items()
    }
    assert graph.triangles() == graph.count("triangle") == sum(triangles.values()) // 3
    truss = graph.trussness()
    ends = list(zip(truss.source.tolist(), truss.target.tolist()))
    assert ends == sorted(ends)
    assert dict(zip(ends, truss.values.tolist())) == trussness_of(lists)
    frame = truss.to_pandas()
    assert list(frame.columns) == ["source", "target", "trussness"] and len(frame) == graph.edges
    wedges = sum(len(out) * (len(out) - 1) // 2 for out in lists.values())
    assert graph.count("wedge") == wedges
    assert graph.count([(1, 2), (2, 3)], induced=True) == wedges - sum(triangles.values())
    if session.compute > 1:
        with pytest.raises(sg.UsageError, match="slimgraph launch"):
            graph.matches("triangle")
        return
    matches = graph.matches("triangle")
    assert len({tuple(sorted(match)) for match in matches.tolist()}) == len(matches)
    assert len(matches) == graph.triangles()
    for a, b, c in matches.tolist():
        assert b in lists[a] and c in lists[a] and c in lists[b]
    assert len(graph.matches("triangle", limit=3)) == 3
    assert graph.matches("triangle", limit=0).shape == (0, 3)


def test_pagerank_iterates_to_a_tolerance_or_says_that_it_did_not(session):
    u, v, _ = random_edges(7)
    graph = session.from_edges(u, v, directed=True)
    ranks = graph.pagerank(tolerance=1e-12, most_iterations=500).to_dict()
    assert ranks == pytest.approx(ranks_after(lists_of(u, v, True), 200), rel=1e-9)
    with pytest.raises(sg.VerificationError, match="after 3 iterations the ranks still change by"):
        graph.pagerank(tolerance=1e-12, most_iterations=3)
    assert graph.pagerank().to_dict()  # the session goes on


def test_a_graph_without_edges_has_its_vertices(session):
    graph = session.from_edges([], [], vertices=[3, 1])
    assert graph.bfs(3).to_dict() == {1: sg.NO_HOPS, 3: 0}
    assert graph.triangles() == 0
    assert graph.info()["without_edges"] == 2
