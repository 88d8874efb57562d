"""What graphs are made from, and that arrays come out without a copy."""

import gc

import numpy as np
import pandas
import pyarrow
import pytest
import scipy.sparse

import slimgraph as sg

U, V, W = [1, 2, 5], [2, 5, 9], [0.5, 1.5, 2.0]


def edges_of(graph):
    """All edges, as matches of the pattern of one edge, or None of a directed graph."""
    return {tuple(sorted(match)) for match in graph.matches([(0, 1)]).tolist()}


@pytest.mark.parametrize("dtype", "uint8 int16 uint16 int32 uint32 int64 uint64".split())
@pytest.mark.parametrize("order", ["<", ">"])
def test_ids_of_every_integer_type_are_the_same_vertices(dtype, order):
    kind = np.dtype(dtype).newbyteorder(order)
    graph = sg.Graph.from_edges(np.array(U, kind), np.array(V, kind))
    assert edges_of(graph) == {(1, 2), (2, 5), (5, 9)}


def test_ids_keep_all_64_bits():
    most = 2**64 - 1
    graph = sg.Graph.from_edges(np.array([most, 0], np.uint64), np.array([0, 2**63], np.uint64))
    assert graph.ids.tolist() == [0, 2**63, most]
    assert graph.bfs(most)[2**63] == 2


def test_arrays_with_a_stride_are_read_at_their_stride():
    both = np.array([[1, 2], [2, 5], [5, 9]])
    assert edges_of(sg.Graph.from_edges(both[:, 0], both[::1, 1])) == {(1, 2), (2, 5), (5, 9)}
    assert edges_of(sg.Graph.from_edges(both[::-1, 0], both[::-1, 1])) == {(1, 2), (2, 5), (5, 9)}


def test_every_source_makes_the_same_graph():
    frame = pandas.DataFrame({"source": U, "target": V, "km": W})
    table = pyarrow.Table.from_pandas(frame)
    chunked = pyarrow.concat_tables([table.slice(0, 1), table.slice(1)])
    matrix = scipy.sparse.coo_array((W, (U, V)), shape=(10, 10))
    graphs = [
        sg.Graph.from_edges(U, V, W),
        sg.Graph.from_edges(frame["source"], frame["target"], frame["km"]),
        sg.Graph.from_edges(
            *(table[name].combine_chunks() for name in ("source", "target", "km"))
        ),
        sg.Graph.from_pandas(frame, weight="km"),
        sg.Graph.from_arrow(chunked, weight="km"),
        sg.Graph.from_scipy(matrix, weighted=True),
        sg.Graph.from_scipy(matrix.tocsc(), weighted=True),
        sg.Graph.from_csr(matrix.tocsr().indptr, matrix.tocsr().indices, W),
    ]
    for graph in graphs:
        assert graph.edges == 3 and graph.weighted and not graph.directed
        assert graph.sssp(1)[9] == 4.0
    assert graphs[0].vertices == 4
    assert graphs[5].vertices == graphs[7].vertices == 10


def test_files_are_read_as_the_command_reads_them(tmp_path):
    (tmp_path / "roads.txt").write_text("# roads\n1 2 5\n2 3 7\n")
    graph = sg.Graph.open(tmp_path / "roads.txt", directed=True, weighted=True)
    assert graph.directed and graph.sssp(1)[3] == 12
    (tmp_path / "broken.txt").write_text("1 2\n2 x\n")
    with pytest.raises(sg.InputError, match=r"broken.txt:2: "):
        sg.Graph.open(tmp_path / "broken.txt", directed=True)


def test_results_are_views_that_outlive_graph_and_session():
    with sg.Session(nodes=2) as session:
        graph = session.from_edges(U, V)
        hops = graph.bfs(1)
        counts = graph.local_counts()
        matches = graph.matches("wedge")
        assert hops.values is hops.values
        for array in (hops.values, hops.ids, counts.degree, counts.clustering, matches):
            assert not array.flags.owndata and not array.flags.writeable
        # Columns of one result lie side by side.
        assert counts.degree.strides == counts.clustering.strides == (24,)
        triangles_at = counts.triangles.__array_interface__["data"][0]
        assert triangles_at == counts.degree.__array_interface__["data"][0] + 8
        assert np.shares_memory(np.asarray(hops.values), hops.values)
        assert np.shares_memory(hops.to_pandas().to_numpy(), hops.values)
    values, degree = hops.values, counts.degree
    del graph, session, hops, counts
    gc.collect()
    trash = [np.full(4096, 255, np.uint8) for _ in range(100)]  # reuses memory that was freed
    assert values.tolist() == [0, 1, 2, 3] and degree.tolist() == [1, 2, 2, 1]
    assert sorted(map(sorted, matches.tolist())) == [[1, 2, 5], [2, 5, 9]]
    assert len(trash) == 100


def test_types_of_results():
    graph = sg.Graph.from_edges(U, V, W)
    assert graph.bfs(1).values.dtype == np.uint32
    assert graph.sssp(1).values.dtype == np.float64
    assert graph.pagerank().values.dtype == np.float64
    assert graph.connected_components().values.dtype == np.uint64
    series = graph.pagerank().to_pandas()
    assert series.index.tolist() == [1, 2, 5, 9] and series.name == "pagerank"
    frame = graph.local_counts().to_pandas()
    assert list(frame.columns) == ["degree", "triangles", "clustering"]
    assert frame.index.name == "vertex"
    hops = graph.bfs(1)
    assert 9 in hops and 3 not in hops and -1 not in hops and "9" not in hops
    assert np.asarray(hops, dtype=float).tolist() == [0, 1, 2, 3]
