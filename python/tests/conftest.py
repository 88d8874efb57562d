"""Sessions of all kinds that this process can have, and a look at what it has left behind."""

import os
import pathlib

import pytest

import slimgraph as sg


def pytest_unconfigure(config):
    """The last line counts the tests as tests/run does."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    passed, failed, errors, skipped = (
        len(reporter.stats.get(kind, [])) for kind in ("passed", "failed", "error", "skipped")
    )
    print(f"{passed} passed, {failed + errors} failed, {skipped} skipped")


KINDS = [(1, 1, 1), (1, 1, 2), (4, 1, 2), (4, 2, 1)]  # nodes, compute nodes, threads of each


@pytest.fixture(params=KINDS, ids=lambda kind: "nodes{}compute{}threads{}".format(*kind))
def session(request):
    nodes, compute, threads = request.param
    with sg.Session(nodes, compute, threads=threads) as opened:
        yield opened
    assert children() == []


def children() -> list[int]:
    """The processes that this one has started."""
    found: list[int] = []
    for task in pathlib.Path("/proc/self/task").iterdir():
        try:
            found += map(int, (task / "children").read_text().split())
        except (FileNotFoundError, ProcessLookupError):  # a thread that has just ended
            continue
    return found


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))
