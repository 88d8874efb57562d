#!/usr/bin/env python3
"""calibration.py SIMULATE SLIMGRAPH [--rounds R]: simulated runs beside real ones.

For each work of `simulate scale`, on 1, 2 and 4 nodes over fdr: the time, and the bytes that a node
sends, in the simulation and in a real job on this machine, as the median of R. A real job with more
nodes than there are processors takes longer than on machines of their own, so its time is not
compared. Fails if the bytes differ by more than 5 %.
"""
import argparse
import csv
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile

SCALE, NODES, NETWORK = 16, (1, 2, 4), "fdr"
MOST_DIFFERENCE = 0.05


def run(words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


def simulated(simulate):
    """(work, nodes): milliseconds for a unit of work of a node, and the bytes that it sends."""
    text = run([simulate, "scale", "--nodes", ",".join(map(str, NODES)), "--network", NETWORK,
                "--scale", SCALE, "--transactions", 2000])
    found = {}
    for row in csv.DictReader(io.StringIO(text)):
        nodes, work = int(row["nodes"]), row["work"]
        units = int(row["units"]) / nodes if work == "smallbank" else 1
        found[work, nodes] = (float(row["simulated_ms"]) / units,
                              float(row["bytes_per_node"]) / units)
    return found


def real(slimgraph, graph, work, nodes):
    where = ["--nodes", nodes, "--network", NETWORK, "--threads", 1, "--json"]
    if work == "smallbank":
        report = json.loads(run([slimgraph, "txn", "run", "--workload", work, "--protocol", "occ",
                                 "--coroutines", 4, "--rows", 1000 * nodes, "--seconds", 0.3,
                                 *where]))
        result = report["result"]
        return 1e3 * nodes / result["throughput_per_s"], result["per_transaction"]["bytes"]
    words = ["pagerank", graph] if work == "pagerank" else ["triangles", graph]
    report = json.loads(run([slimgraph, *words, *where]))
    return report["time"]["run_s"] * 1e3, report["traffic"]["bytes"] / nodes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("simulate")
    parser.add_argument("slimgraph")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    of_simulation = simulated(options.simulate)
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        graph = os.path.join(folder, "kron.slim")
        run([options.slimgraph, "gen", "kron", "-s", SCALE, "-o", graph])
        print("work        nodes   bytes: simulated / real     ms: simulated / real")
        for (work, nodes), (time_ms, sent) in of_simulation.items():
            rounds = [real(options.slimgraph, graph, work, nodes) for _ in range(options.rounds)]
            real_ms, real_sent = (statistics.median(column) for column in zip(*rounds))
            differs = abs(sent - real_sent) > MOST_DIFFERENCE * max(sent, real_sent)
            bad += differs
            times = "-" if nodes > (os.cpu_count() or 1) else \
                f"{time_ms:.4g} / {real_ms:.4g} = {time_ms / real_ms:.2f}"
            print(f"{work:11} {nodes:5}   {sent:.5g} / {real_sent:.5g}{' DIFFER' * differs:12} "
                  f"{times}", flush=True)
    print(f"{len(of_simulation) - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
