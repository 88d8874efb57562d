"""Every mistake is one exception with one line that names it."""

import numpy as np
import pyarrow
import pytest
import scipy.sparse

import slimgraph as sg

GRAPH = [1, 2], [2, 3]
MISTAKES = {
    "negative id": (lambda: sg.Graph.from_edges([1, -2], [2, 3]), sg.InputError, r"u\[1\] is -2"),
    "ids of floats": (lambda: sg.Graph.from_edges([1.0], [2]), sg.UsageError, "u .*float64"),
    "ids of text": (lambda: sg.Graph.from_edges(["a"], ["b"]), sg.UsageError, "u .*integers"),
    "a matrix as ids": (lambda: sg.Graph.from_edges([[1]], [2]), sg.UsageError, "2 dimensions"),
    "lengths": (lambda: sg.Graph.from_edges([1], [2, 3]), sg.UsageError, "1 sources .* 2 dest"),
    "few weights": (
        lambda: sg.Graph.from_edges([1], [2], [1, 2]),
        sg.UsageError,
        "1 edges, but 2",
    ),
    "a weight of nan": (
        lambda: sg.Graph.from_edges([1], [2], [np.nan]),
        sg.UsageError,
        "edge 0 is nan",
    ),
    "a huge integer weight": (
        lambda: sg.Graph.from_edges([1], [2], [2**53 + 1]),
        sg.InputError,
        r"2\^53",
    ),
    "missing values": (
        lambda: sg.Graph.from_edges(pyarrow.array([1, None]), [2, 3]),
        sg.InputError,
        "1 missing",
    ),
    "a column": (
        lambda: sg.Graph.from_arrow(pyarrow.table({"a": [1]})),
        sg.UsageError,
        "'source': the col",
    ),
    "not square": (
        lambda: sg.Graph.from_scipy(scipy.sparse.coo_array((2, 3))),
        sg.UsageError,
        "square",
    ),
    "indptr": (lambda: sg.Graph.from_csr([0, 1], [0, 0]), sg.UsageError, "from 0 to 2"),
    "indices": (lambda: sg.Graph.from_csr([0, 1], [5]), sg.UsageError, "has 5, but .* 0 to 0"),
    "no file": (lambda: sg.Graph.open("/no/file.txt", False), sg.InputError, "no such file"),
    "no vertex": (lambda: sg.Graph.from_edges(*GRAPH).bfs(7), sg.InputError, "7 is no vertex"),
    "no integer": (
        lambda: sg.Graph.from_edges(*GRAPH).bfs("x"),
        sg.UsageError,
        "'x' is no vertex",
    ),
    "no weights": (lambda: sg.Graph.from_edges(*GRAPH).sssp(1), sg.InputError, "no weights"),
    "damping": (lambda: sg.Graph.from_edges(*GRAPH).pagerank(2), sg.UsageError, "damping 2"),
    "a pattern": (lambda: sg.Pattern("squid"), sg.Error, "squid"),
    "a split pattern": (lambda: sg.Pattern([(1, 2), (3, 4)]), sg.Error, "connected"),
    "directed": (
        lambda: sg.Graph.from_edges(*GRAPH, directed=True).triangles(),
        sg.UsageError,
        "directed",
    ),
    "compute": (lambda: sg.Session(2, 4).start(), sg.UsageError, "compute"),
    "transport": (lambda: sg.Session(2, transport="mpi").start(), sg.UsageError, "mpi"),
    "cache": (
        lambda: sg.Session(2, cache="big"),
        sg.UsageError,
        "'big' is unknown; there are naive, none",
    ),
    "edge cache": (lambda: sg.Session(2, edge_cache="much"), sg.Error, "much"),
    "limit": (lambda: sg.Graph.from_edges(*GRAPH).matches("edge", limit=-1), sg.Error, "-1"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line(mistake):
    call, kind, line = MISTAKES[mistake]
    with pytest.raises(kind, match=line) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_errors_are_also_what_python_calls_them():
    assert issubclass(sg.UsageError, ValueError) and issubclass(sg.InputError, ValueError)
    assert issubclass(sg.JobError, RuntimeError)


def test_a_closed_session_refuses_calls_and_keeps_results():
    session = sg.Session(nodes=2)
    graph = session.from_edges(*GRAPH)
    hops = graph.bfs(1)
    session.close()
    session.close()
    with pytest.raises(sg.UsageError, match="the session is closed"):
        graph.bfs(1)
    assert hops[3] == 2 and graph.vertices == 3


def test_a_dead_memory_node_is_named():
    import os
    import signal

    from conftest import children

    session = sg.Session(nodes=3, threads=1)
    graph = session.from_edges(*GRAPH)
    os.kill(children()[-1], signal.SIGKILL)
    with pytest.raises(sg.JobError, match="node [12]"):
        for _ in range(100):
            graph.pagerank()
    with pytest.raises(sg.JobError, match="node [12]"):
        session.close()
    assert children() == []
