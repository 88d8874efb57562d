"""What long calls show, and what reports have."""

import io
import json
import re
import signal

import nbclient
import nbformat
import numpy as np
import pytest
from test_threads import PATH, complete

import slimgraph as sg
from slimgraph import _progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


class TimeOver(Exception):
    pass


@pytest.fixture
def time_over(monkeypatch):
    """A signal ends the call that has begun; it shows progress from its beginning."""

    def end(*_):
        raise TimeOver

    monkeypatch.setattr(_progress, "AFTER_S", 0.0)
    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, 0.8)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("shown", [True, False])
def test_a_long_call_shows_its_name_and_time_on_a_terminal(monkeypatch, time_over, shown):
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    graph = sg.Session(progress=shown).from_edges(*complete(300))
    with pytest.raises(TimeOver):
        graph.count(PATH)
    text = terminal.getvalue()
    assert ("count: 0 s" in text) == shown
    assert text.endswith("\r\033[K") == shown


CALLS = {
    "pagerank": lambda graph: graph.pagerank(iterations=10**8),
    "betweenness": lambda graph: graph.betweenness(np.arange(400).repeat(300)),
    "count": lambda graph: graph.count([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)]),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_whose_end_is_known_show_how_much_is_done(monkeypatch, time_over, name):
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    graph = sg.Session().from_edges(*complete(400))
    with pytest.raises(TimeOver):
        CALLS[name](graph)
    assert re.search(name + r": \d+ s, \d+ % done", terminal.getvalue())


def test_the_share_that_is_done_grows_to_the_end(monkeypatch):
    shares = []
    monkeypatch.setattr(_progress, "AFTER_S", 0.0)
    monkeypatch.setattr(_progress._Line, "show", lambda line, seconds, done: shares.append(done))
    graph = sg.Graph.from_edges(*complete(300))
    iterations = 1000
    while len(shares) < 4:  # until it is long enough on this machine
        shares.clear()
        graph.pagerank(iterations=iterations)
        iterations *= 2
    assert shares == sorted(shares) and 0 < shares[0] < 0.7 and 0.3 < shares[-1] <= 1


def test_a_call_within_another_gives_the_line_back(monkeypatch):
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    with _progress.shown("outer", True):
        with _progress.shown("inner", True):
            _progress.tick(3, None)
        _progress.tick(4, 0.5)
    _progress.tick(5, None)
    drawn = terminal.getvalue().split("\r\033[K")
    assert drawn == ["", "inner: 3 s", "", "outer: 4 s, 50 % done", ""]


def test_nothing_is_shown_in_a_pipe(monkeypatch, time_over):
    monkeypatch.setattr("sys.stderr", pipe := io.StringIO())
    with pytest.raises(TimeOver):
        sg.Graph.from_edges(*complete(300)).count(PATH)
    assert pipe.getvalue() == ""


def test_a_long_call_shows_its_name_and_time_in_a_notebook():
    cell = f"""
import signal
import numpy as np
import slimgraph as sg
from slimgraph import _progress
_progress.AFTER_S = 0.0
def end(*_):
    raise TimeoutError("over")
graph = sg.Graph.from_edges(*np.triu_indices(300, 1))
_line = _progress._Line.show
seen = []
def show(line, seconds, done):
    _line(line, seconds, done)
    seen.append((line._cell is not None, seconds))
_progress._Line.show = show
signal.signal(signal.SIGALRM, end)
signal.setitimer(signal.ITIMER_REAL, 0.8)
try:
    graph.count({PATH})
except TimeoutError:
    pass
assert seen and all(cell for cell, _ in seen)
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    nbclient.NotebookClient(notebook, timeout=60).execute()
    shown = [out for out in notebook.cells[0].outputs if out.output_type == "display_data"]
    assert [out.data["text/plain"] for out in shown] == [""]  # cleared at the end


def test_reports_have_what_the_session_knows(session):
    graph = session.from_edges(*complete(20))
    ranks = graph.pagerank(damping=0.5, iterations=3)
    report = ranks.report
    assert report == json.loads(json.dumps(report))
    assert report["command"] == "pagerank" and report["schema"] == 2
    assert report["options"]["damping"] == 0.5 and report["options"]["iterations"] == 3
    assert report["graph"] == {"vertices": 20, "edges": 190, "directed": False}
    assert report["cluster"]["nodes"] == session.nodes
    assert report["cluster"]["compute"] == session.compute
    assert 0 < report["time"]["call_s"] < 60
    assert (report["traffic"]["bytes"] > 0) == (session.nodes > 1)
    graph.count("house")
    assert session.last_report["options"]["pattern"] == "house"
    assert (session.last_report["traffic"]["bytes"] > 0) == (session.nodes > 1)
    assert ranks.report is report
