#!/usr/bin/env python3
"""Runs NetworkX's own tests with SlimGraph as the backend, on one node and on four, and compares
both on larger graphs. The last line has the sum: "N passed, N failed, N skipped"."""

import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
OF_NETWORKX = [
    "networkx.algorithms.centrality.tests.test_betweenness_centrality",
    "networkx.algorithms.components.tests.test_connected",
    "networkx.algorithms.components.tests.test_weakly_connected",
    "networkx.algorithms.link_analysis.tests.test_pagerank",
    "networkx.algorithms.shortest_paths.tests",
    "networkx.algorithms.tests.test_clique",
    "networkx.algorithms.tests.test_cluster",
    "networkx.algorithms.tests.test_core",
    "networkx.algorithms.tests.test_dag",
    "networkx.algorithms.traversal.tests.test_bfs",
]
SESSIONS = [(1, 1), (4, 2)]
COUNT = re.compile(r"(\d+) (passed|failed|error|errors|skipped|xfailed|xpassed)\b")


def pytest(arguments, **environment):
    """Runs pytest, prints the end of what it says, and returns its counts."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    run = subprocess.run(
        command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True, cwd=HERE
    )
    print(run.stdout[-20000 if run.returncode else -1500 :], flush=True)
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for number, what in COUNT.findall(run.stdout.rstrip().rpartition("\n")[2]):
        # Nothing is expected to fail, so an expected failure is one too.
        kind = {"passed": "passed", "skipped": "skipped"}.get(what, "failed")
        counts[kind] += int(number)
    if run.returncode != 0:
        counts["failed"] = max(1, counts["failed"])
    return counts


def main():
    sys.path.insert(0, str(HERE))
    from slimgraph.networkx.info import FUNCTIONS

    total = {"passed": 0, "failed": 0, "skipped": 0}
    runs = [[str(HERE / "test_large.py")]]
    for nodes, compute in SESSIONS:
        runs.append(
            [
                "-p",
                "counted",
                f"--nodes={nodes}",
                f"--compute={compute}",
                f"--must-run={','.join(sorted(FUNCTIONS))}",
                "--pyargs",
                *OF_NETWORKX,
            ]
        )
    for arguments in runs:
        of_networkx = "--pyargs" in arguments
        environment = {"PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"}
        if of_networkx:
            environment |= {
                "NETWORKX_TEST_BACKEND": "slimgraph",
                "NETWORKX_FALLBACK_TO_NX": "True",
            }
        for kind, number in pytest(arguments, **environment).items():
            total[kind] += number
    print(", ".join(f"{number} {kind}" for kind, number in total.items()))
    return 1 if total["failed"] or not total["passed"] else 0


sys.exit(main())
