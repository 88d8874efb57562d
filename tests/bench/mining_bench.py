#!/usr/bin/env python3
"""The performance bars of D-Kudu: processor seconds of its kernels, alternating with those of
published engines; the run time with fewer compute nodes; and whether runs keep within the memory
that they announce.

    GAPBS=DIR GRAPHMINER=DIR KCLIST=DIR NETWORKIT=PYTHON tests/bench/mining_bench.py [PART …]

Each DIR holds an engine that is already built; each is optional. PYTHON is an interpreter that has
NetworKit. PART is kernels, elasticity or
memory; the default is all. ROUNDS (5), our THREADS (2), PERCENT of a processor for each node (25)
and MEMORY_SCALES (16,18) may be set as well. Peers run on one thread, where they take the fewest
processor seconds.
"""
import json
import math
import os
import subprocess
import sys
import tempfile
import time

from command import NotAllowed, command_path, run_with_shares
from memory_bars import print_memory
from mining_peers import LIMIT_S, available_peers, processor_seconds
from turns import in_turn

ROUNDS = int(os.environ.get("ROUNDS", "5"))
THREADS = os.environ.get("THREADS", "2")
PERCENT = int(os.environ.get("PERCENT", "25"))
KERNEL_SCALE = int(os.environ.get("KERNEL_SCALE", "16"))
ELASTIC_SCALE = int(os.environ.get("ELASTIC_SCALE", "18"))
MEMORY_SCALES = [int(scale) for scale in os.environ.get("MEMORY_SCALES", "16,18").split(",")]

KERNELS = {
    "triangles": ["triangles"],
    "3-motifs": ["motifs", "-k", "3"],
    "4-cliques": ["cliques", "-k", "4"],
    "5-cliques": ["cliques", "-k", "5"],
    "4-motifs": ["motifs", "-k", "4"],
    "lcc": ["lcc"],
}
# Processor seconds of a simple reference program with formulas and bit sets on kron 16.
REFERENCE_S = {"triangles": 0.036, "4-cliques": 0.19, "5-cliques": 0.84, "4-motifs": 2.9}
ELASTIC = ["triangles", "3-motifs", "4-cliques"]
NODES = 4
TAX = 1.1


def verify(graph, kernel, shapes):
    """Ends the bench if the shapes count differently. Runs once for each row, before measuring."""
    words = KERNELS[kernel]
    results = [json.loads(slimgraph(words[0], graph, *words[1:], *shape, "--json"))["result"]
               for shape in shapes]
    if any(result != results[0] for result in results):
        sys.exit(f"mining_bench: {kernel} counts {results}")


def slimgraph(*words):
    done = subprocess.run([command_path(), *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"mining_bench: slimgraph {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def generate(directory, scale):
    graph = os.path.join(directory, f"kron{scale}.slim")
    slimgraph("gen", "kron", "-s", str(scale), "--seed", "1", "-o", graph)
    return graph


def compare_kernels(directory):
    graph = generate(directory, KERNEL_SCALE)
    peers = available_peers(graph, directory, slimgraph)
    print(f"== kernels on kron {KERNEL_SCALE}: processor seconds, medians of {ROUNDS} rounds; "
          f"ours on {THREADS} threads")
    print("our counts were verified by another shape; the peers' results were not verified")
    print(f"{'':12}{'slimgraph':>11}{'reference':>20}"
          + "".join(f"{peer.name:>20}" for peer in peers))
    for kernel, words in KERNELS.items():
        verify(graph, kernel, [["--threads", THREADS], ["--nodes", "3", "--compute", "2"]])
        measures = {"slimgraph": lambda w=words: processor_seconds(slimgraph, w, graph, THREADS)}
        for peer in peers:
            measures[peer.name] = lambda p=peer, k=kernel: within_limit(p, k)
        medians = in_turn(measures, ROUNDS)
        ours = medians["slimgraph"]
        row = f"{kernel:12}{ours:11.3f}" + cell(REFERENCE_S.get(kernel), ours)
        print(row + "".join(cell(medians[peer.name], ours) for peer in peers), flush=True)
    if not peers:
        print("no peers: none of GAPBS, GRAPHMINER, KCLIST, NETWORKIT is set")


def within_limit(peer, kernel):
    try:
        return peer.seconds(kernel)
    except subprocess.TimeoutExpired:
        return math.inf


def cell(theirs, ours):
    if theirs is None:
        return f"{'-':>20}"
    if theirs == math.inf:
        return f"{f'more than {LIMIT_S}':>20}"
    return f"{theirs:11.3f} ({theirs / ours:5.1f}x)"


def elasticity(directory):
    graph = generate(directory, ELASTIC_SCALE)
    print(f"== elasticity on kron {ELASTIC_SCALE}: seconds on {NODES} nodes of {PERCENT} % of a "
          f"processor each, medians of {ROUNDS} rounds; bar: {TAX} x {NODES}/C")
    missed = 0
    for kernel in ELASTIC:
        verify(graph, kernel, [["--nodes", str(NODES), "--compute", str(compute)]
                               for compute in range(NODES, 0, -1)])

        def seconds(compute, words=KERNELS[kernel]):
            job = [words[0], graph, *words[1:], "--compute", str(compute)]
            return run_with_shares(NODES, PERCENT, job)["time"]["run_s"]
        medians = in_turn({c: lambda c=c: seconds(c) for c in range(NODES, 0, -1)}, ROUNDS)
        row = f"{kernel:12}"
        for compute, median in medians.items():
            ratio = median / medians[NODES] / (NODES / compute)
            kept = ratio <= TAX
            missed += not kept
            row += f"   ({NODES},{compute}) {median:6.3f} s = {ratio:5.3f} x {NODES}/{compute}"
            row += "" if kept else " MISSED"
        print(row, flush=True)
    return missed


def memory(directory):
    local = ["local", "--triangles", "-o", os.path.join(directory, "local.txt")]
    plans = [["match", "--pattern", name, "--no-formulae"] for name in ("diamond", "4-clique")]
    rows = [*KERNELS.values(), local, *plans, ["match", "--pattern", "house"]]
    missed = 0
    for scale in MEMORY_SCALES:
        missed += print_memory(f"kron {scale}", generate(directory, scale),
                               [(words, True) for words in rows])
    return missed


PARTS = {"kernels": compare_kernels, "elasticity": elasticity, "memory": memory}


def main():
    start_s = time.monotonic()
    unknown = [part for part in sys.argv[1:] if part not in PARTS]
    if unknown:
        sys.exit(f"mining_bench: no part is called {unknown[0]}; there are {', '.join(PARTS)}")
    missed = 0
    with tempfile.TemporaryDirectory(prefix="slimgraph-bench-") as directory:
        for part in sys.argv[1:] or PARTS:
            try:
                missed += PARTS[part](directory) or 0
            except NotAllowed as error:
                print(f"== {part}: not measured, because nodes cannot be limited here: {error}")
    print(f"took {time.monotonic() - start_s:.0f} s; {missed} bars missed")


if __name__ == "__main__":
    main()
