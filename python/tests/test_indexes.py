"""Indexes of a store's vertices."""

import struct

import numpy as np

import slimgraph as sg


def test_transactions_find_vertices_by_indexes(session, tmp_path):
    path = tmp_path / "graph.store"
    indexes = {"age": (0, "u32"), "born": (4, "i64"), "height": (12, "f32")}
    people = {1: (30, -(2**62) - 1, 1.5), 2: (30, -(2**62), 1.75), 3: (41, 2**62 + 1, 1.5)}
    with sg.Store.create(
        path, vertices=[1, 2, 3], vertex_bytes=16, indexes=indexes, session=session
    ) as store:

        def change(t):
            assert t.find_vertices("age", 0).tolist() == [1, 2, 3]
            for person, values in people.items():
                t.set_vertex(person, struct.pack("<Iqf", *values))
            t.add_vertex(9, struct.pack("<Iqf", 7, 0, float("nan")))
            return t.find_vertices("age", 30)

        found = store.run(change)
        assert found.tolist() == [1, 2] and found.dtype == np.uint64

    with session.open_store(path) as store:

        def read(t):
            assert t.find_vertices("age", 7.5, 30.5).tolist() == [1, 2]
            assert t.find_vertices("born", -(2**62)).tolist() == [2]
            assert t.find_vertices("born", 2**62, 2**62 + 1).tolist() == [3]
            assert t.find_vertices("born", -(10**400), 10**400).tolist() == [1, 2, 3, 9]
            assert t.find_vertices("height", 1.5, float("inf")).tolist() == [1, 2, 3]
            assert t.find_vertices("height", np.float32(1.75)).tolist() == [2]
            assert t.find_vertices("age", 31, 30).tolist() == []

        store.run_read_only(read)
