"""Other threads run while native code works; Ctrl-C ends it and leaves nothing behind."""

import faulthandler
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import children, open_files

import slimgraph as sg


def complete(vertices):
    return np.triu_indices(vertices, 1)


PATH = [(i, i + 1) for i in range(7)]  # in a complete graph of 300 vertices: more than 10^18


def processor_seconds():
    """Of this process and of the threads that it has."""
    return time.process_time()


def main_thread_is_in_a_call():
    """Whether it is in a call of the package, or waits for a future."""
    frame = sys._current_frames()[threading.main_thread().ident]
    while frame is not None:
        if frame.f_globals["__name__"].startswith(("slimgraph.", "concurrent.futures.")):
            return True
        frame = frame.f_back
    return False


def interrupt_when_busy(seconds=0.3):
    """Sends SIGINT to this process when native code has taken some processor time and the main
    thread is in a call.
    """
    start = processor_seconds()

    def watch():
        while processor_seconds() < start + seconds or not main_thread_is_in_a_call():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


CALLS = {
    "paths": lambda graph: graph.count(PATH),
    "cliques": lambda graph: graph.count([(i, j) for i in range(8) for j in range(i)]),
    "centrality": lambda graph: graph.betweenness(np.tile(graph.ids, 2000)),
    "ranks": lambda graph: graph.pagerank(iterations=2**40),
}


@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_ends_a_call_and_the_next_call_works(session, call):
    graph = session.from_edges(*complete(300))
    expected = graph.triangles()
    before = open_files()
    watch = interrupt_when_busy()
    with pytest.raises(KeyboardInterrupt):
        CALLS[call](graph)
    stopped = processor_seconds()
    watch.join()
    assert children() == []
    time.sleep(0.2)
    assert processor_seconds() < stopped + 0.1, "native code still works"
    assert open_files() <= before
    assert graph.triangles() == expected  # in nodes that have started anew


@pytest.mark.parametrize("source", ["arrays", "file"])
def test_ctrl_c_ends_the_making_of_a_graph(session, source, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    edges = np.random.default_rng(1).integers(0, 2**18, (2, 1_000_000))
    path = tmp_path / "edges.txt"
    if source == "file":
        path.write_text("\n".join(f"{u} {v}" for u, v in edges.T[:300_000].tolist()))
    session.from_edges([1], [2])
    watch = interrupt_when_busy(0.02)
    with pytest.raises(KeyboardInterrupt):
        while True:
            if source == "arrays":
                session.from_edges(*edges)
            else:
                session.open(path, directed=False)
    watch.join()
    path.unlink(missing_ok=True)
    assert list(tmp_path.iterdir()) == [], "a temporary file is left"
    assert session.from_edges([1], [2]).edges == 1


def test_other_threads_run_while_native_code_works():
    """The call ends only because a thread of Python runs a thousand times during it."""
    graph = sg.Graph.from_edges(*complete(300))
    turns = 0

    def count_and_end():
        nonlocal turns
        start = processor_seconds()
        while processor_seconds() < start + 0.1:  # until native code works
            time.sleep(0.01)
        while turns < 1000:
            turns += 1
            time.sleep(0)  # gives the GIL away
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=count_and_end)
    # Without the GIL, only another process or this can end a test that hangs.
    faulthandler.dump_traceback_later(300, exit=True)
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            graph.count(PATH)
        thread.join()
    finally:
        faulthandler.cancel_dump_traceback_later()
    assert turns == 1000


def test_threads_share_a_session(session):
    graph = session.from_edges(*complete(50))
    results = []

    def work(source):
        for _ in range(5):
            results.append(int(graph.bfs(source).values.sum()))

    threads = [threading.Thread(target=work, args=(source,)) for source in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [49] * 20


def test_graphs_are_freed_while_another_thread_is_in_a_call(session):
    graph = session.from_edges(*complete(60))
    expected = graph.triangles()
    done = threading.Event()

    def make_and_drop():
        while not done.is_set():
            session.from_edges([1, 2], [2, 3])

    thread = threading.Thread(target=make_and_drop)
    thread.start()
    try:
        for _ in range(20):
            assert graph.triangles() == expected
    finally:
        done.set()
        thread.join()


def test_import_changes_no_signal_handler():
    script = """
def caught():
    lines = open("/proc/self/status").read().splitlines()
    signals = [line.split() for line in lines if line.startswith(("SigCgt", "SigIgn"))]
    return [int(bits, 16) & 0x7FFFFFFF for _, bits in signals]
before = caught()
import slimgraph as sg
sg.Graph.from_edges([1], [2]).bfs(1)
with sg.Session(nodes=2) as session:
    session.from_edges([1], [2]).bfs(1)
assert caught() == before, (before, caught())
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_program_that_ends_without_closing_leaves_no_process():
    script = """
import slimgraph as sg
session = sg.Session(nodes=3)
graph = session.from_edges([1], [2])
graph.bfs(1)
print(*open("/proc/self/task/%d/children" % __import__("os").getpid()).read().split())
"""
    run = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert run.stderr == ""
    for process in run.stdout.split():
        assert not pathlib.Path(f"/proc/{process}").exists()


def test_the_lab_needs_no_native_module():
    script = (
        "import sys, slimgraph; assert 'slimgraph._native' not in sys.modules; slimgraph.Graph"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
