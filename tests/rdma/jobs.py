#!/usr/bin/env python3
"""tests/rdma/jobs.py: jobs of four nodes, two of them compute nodes, over verbs. They are verified,
or compared with the same job over tcp.

`make test-rdma` starts it where there is an RDMA device; TEST_SLIMGRAPH_COMMAND names the command.
"""
import json, os, subprocess, sys, tempfile

COMMAND = os.environ["TEST_SLIMGRAPH_COMMAND"]
# (command, options, steady). Steady: the traffic depends on the graph alone, so result and traffic
# must equal those over tcp, to the byte.
JOBS = [("scan", [], True), ("bfs", ["--source", "1", "--verify"], False),
        ("pagerank", ["--iterations", "5", "--verify"], False),
        ("triangles", ["--steal", "off"], True)]
PROTOCOLS = ["nowait", "waitdie", "occ", "to", "mvcc", "sundial", "calvin"]
LIMIT_S = 120


def run(*arguments):
    command = [COMMAND, *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"not done after {LIMIT_S} s")


def report_of(name, options, graph, transport):
    done = run(name, graph, "--nodes", "4", "--compute", "2", "--threads", "1", "--transport",
               transport, "--json", *options)
    if done.returncode:
        return None, f"exit code {done.returncode}: {done.stderr.strip()}"
    return json.loads(done.stdout), ""


def stable(part):
    """A part of the report without fields that differ from run to run."""
    if isinstance(part, dict):
        return {key: stable(value) for key, value in part.items()
                if not key.endswith(("_s", "_ns", "_us")) and "per_s" not in key}
    return [stable(value) for value in part] if isinstance(part, list) else part


def complaint_about(name, options, steady, graph):
    verbs, failure = report_of(name, options, graph, "verbs")
    if failure:
        return failure
    if not steady:
        return ""
    tcp, failure = report_of(name, options, graph, "tcp")
    if failure:
        return failure
    for part in ["result", "traffic"]:
        if stable(verbs[part]) != stable(tcp[part]):
            return f"{part} over verbs {verbs[part]}, over tcp {tcp[part]}"
    return ""


def complaint_about_transactions(protocol):
    """Runs SmallBank, which verifies that no money is lost."""
    done = run("txn", "run", "--workload", "smallbank", "--protocol", protocol, "--rows", "1000",
               "--seconds", "0.5", "--nodes", "4", "--compute", "2", "--transport", "verbs",
               "--json")
    if done.returncode:
        return f"exit code {done.returncode}: {done.stderr.strip()}"
    committed = json.loads(done.stdout)["result"]["committed"]
    return "" if committed > 0 else "no transaction committed"


def complaint_about_a_store(graph, scratch):
    """Runs transactions on a store with folds, and checks that the graph was verified."""
    store = os.path.join(scratch, "store")
    made = run("store", "create", graph, "--edge-bytes", "8", "-o", store)
    if made.returncode:
        return made.stderr.strip()
    done = run("txn", "run", "--workload", "edge-updates", "--store", store, "--protocol", "occ",
               "--transactions", "200", "--seconds", "60", "--fold", "0.01", "--nodes", "4",
               "--compute", "2", "--transport", "verbs", "--analytics", "cc", "--json")
    if done.returncode:
        return f"exit code {done.returncode}: {done.stderr.strip()}"
    report = json.loads(done.stdout)
    if not report["verified"]:
        return "it was not verified"
    return "" if report["result"]["folding"]["folds"] > 0 else "nothing was folded"


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        graph = os.path.join(scratch, "kron.slim")
        made = run("gen", "kron", "-s", "11", "--seed", "1", "-o", graph)
        if made.returncode:
            sys.exit(made.stderr)
        for name, options, steady in JOBS:
            complaint = complaint_about(name, options, steady, graph)
            print(f"{name} over verbs at (4, 2): {complaint or 'ok'}", flush=True)
            failed += complaint != ""
        complaint = complaint_about_a_store(graph, scratch)
        print(f"a store over verbs at (4, 2): {complaint or 'ok'}", flush=True)
        failed += complaint != ""
    for protocol in PROTOCOLS:
        complaint = complaint_about_transactions(protocol)
        print(f"txn, {protocol}, over verbs at (4, 2): {complaint or 'ok'}", flush=True)
        failed += complaint != ""
    print(f"{len(JOBS) + 1 + len(PROTOCOLS) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
