"""A plugin of pytest for NetworkX's own tests: chooses the session of the backend, and fails unless
every function that is expected to run in SlimGraph has done so."""

import networkx as nx
import pytest


def pytest_addoption(parser):
    parser.addoption("--nodes", type=int, default=1)
    parser.addoption("--compute", type=int, default=1)
    parser.addoption("--must-run", default="", help="functions, separated by commas")


def pytest_collection_finish(session):
    nx.config.backends.slimgraph.nodes = session.config.getoption("--nodes")
    nx.config.backends.slimgraph.compute = session.config.getoption("--compute")
    nx.config.backends.slimgraph.threads = 1


def missing(config):
    from slimgraph.networkx.backend import calls

    return [name for name in config.getoption("--must-run").split(",") if name and not calls[name]]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    if missing(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    from slimgraph.networkx import backend, converted

    counts = ", ".join(f"{name} {count}" for name, count in sorted(backend.calls.items()))
    ran_in = converted.session()
    terminalreporter.write_line(
        f"SlimGraph on {ran_in.nodes} nodes, {ran_in.compute} compute, has run: {counts}"
    )
    for name in missing(config):
        terminalreporter.write_line(f"FAILED: SlimGraph has never run {name}")
