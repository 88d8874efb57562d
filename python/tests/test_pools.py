"""Graphs of a standing pool, which are attached to and not loaded."""

import os
import pathlib
import subprocess

import numpy as np
import pytest
from conftest import children

import slimgraph as sg
from slimgraph import _native

COMMAND = pathlib.Path(_native.__file__).parent / "bin" / "slimgraph"


def command(*words):
    done = subprocess.run(
        [COMMAND, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pools")
    os.environ["SLIMGRAPH_POOLS"] = str(folder / "pools")
    graph = folder / "g.slim"
    command("gen", "kron", "-s", "9", "--weights", "1..50", "-o", graph)
    command("pool", "start", "p", "--nodes", "2")
    command("pool", "load", "p", graph)
    yield graph
    command("pool", "stop", "p", "--now")
    del os.environ["SLIMGRAPH_POOLS"]


@pytest.mark.parametrize("compute", [1, 2])
@pytest.mark.parametrize("transport", ["shm", "tcp"])
@pytest.mark.parametrize("lists", [{}, {"access": "read"}, {"host_of": 1}])
def test_results_are_those_of_the_file(path, compute, transport, lists):
    if transport == "tcp" and "host_of" in lists:
        with pytest.raises(sg.UsageError, match="over tcp, nothing is used in place"):
            sg.attach("p:g", compute, transport=transport, threads=1, **lists)
        return
    whole = sg.Graph.open(path)
    source = int(whole.ids[0])
    expected = [
        whole.sssp(source).values,
        whole.pagerank().values,
        whole.connected_components().values,
        whole.core_numbers().values,
    ]
    graph = sg.attach("p:g", compute, transport=transport, threads=1, **lists)
    assert (graph.vertices, graph.edges) == (whole.vertices, whole.edges)
    assert graph.session.nodes == compute + 2
    found = [
        graph.sssp(source).values,
        graph.pagerank().values,
        graph.connected_components().values,
        graph.core_numbers().values,
    ]
    for one, right in zip(found, expected):
        np.testing.assert_allclose(one, right, rtol=1e-9)
    graph.session.close()
    assert children() == []


def test_patterns_are_counted(path):
    expected = sg.Graph.open(path).triangles()
    graph = sg.attach("p:g", compute=2)
    assert graph.triangles() == expected
    assert graph.connected_components().values.size == graph.vertices
    graph.session.close()


def test_two_at_once_and_one_after_the_other(path):
    one, other = sg.attach("p:g"), sg.attach("p:g")
    assert one.pagerank().values.sum() == pytest.approx(other.pagerank().values.sum())
    one.session.close()
    assert other.connected_components().values.size == other.vertices
    other.session.close()
    assert children() == []


def test_a_pool_of_somebody_else(path):
    shared = path.parent / "shared"
    command("pool", "share", "p", shared)
    command("pool", "add", shared, "--as", "theirs")
    try:
        graph = sg.attach("theirs:g")
    except sg.JobError as error:
        if "no Landlock" in str(error):
            pytest.skip("this kernel has no Landlock")
        raise
    expected = sg.Graph.open(path).connected_components().values
    assert (graph.connected_components().values == expected).all()
    assert graph.triangles() == sg.Graph.open(path).triangles()
    graph.session.close()
    with pytest.raises(sg.UsageError, match="shared with you for reading"):
        sg.attach("theirs:g", transport="shm")
    command("pool", "forget", "theirs")


def test_what_cannot_be_done_is_said(path):
    with pytest.raises(sg.InputError, match="has no graph 'other'"):
        sg.attach("p:other")
    with pytest.raises(sg.UsageError, match="NAME:GRAPH"):
        sg.attach("p")
