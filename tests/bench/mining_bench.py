#!/usr/bin/env python3
"""The measured bars of D-Kudu: processor seconds of its kernels beside those of published engines
in the same run and in turn with them, and what becomes of the time when fewer nodes compute.

    GAPBS=DIR GRAPHMINER=DIR KCLIST=DIR tests/bench/mining_bench.py

Each DIR has an engine that is built already, and each is optional. ROUNDS (5), THREADS of ours (2)
and PERCENT of a processor for each node (25) may be set as well. Peers run on one thread, where
they take the fewest processor seconds.
"""
import math
import os
import subprocess
import sys
import tempfile
import time

from cpu_shares import CpuShares, NotAllowed, command_path
from mining_peers import LIMIT_S, available_peers, processor_seconds
from turns import in_turn

ROUNDS = int(os.environ.get("ROUNDS", "5"))
THREADS = os.environ.get("THREADS", "2")
PERCENT = int(os.environ.get("PERCENT", "25"))
KERNEL_SCALE = int(os.environ.get("KERNEL_SCALE", "16"))
ELASTIC_SCALE = int(os.environ.get("ELASTIC_SCALE", "18"))

KERNELS = {
    "triangles": ["triangles"],
    "3-motifs": ["motifs", "-k", "3"],
    "4-cliques": ["cliques", "-k", "4"],
    "5-cliques": ["cliques", "-k", "5"],
    "4-motifs": ["motifs", "-k", "4"],
}
# Processor seconds of a plain reference with formulae and bitsets on kron 16.
REFERENCE_S = {"triangles": 0.036, "4-cliques": 0.19, "5-cliques": 0.84, "4-motifs": 2.9}
ELASTIC = ["triangles", "3-motifs", "4-cliques"]
NODES = 4
TAX = 1.1


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
    print(f"== kernels on kron {KERNEL_SCALE}: processor seconds, medians of {ROUNDS} in turn; "
          f"ours on {THREADS} threads")
    print(f"{'':12}{'slimgraph':>11}{'reference':>20}"
          + "".join(f"{peer.name:>20}" for peer in peers))
    for kernel, words in KERNELS.items():
        measures = {"slimgraph": lambda w=words: processor_seconds(slimgraph, w, graph, THREADS)}
        for peer in peers:
            measures[peer.name] = lambda p=peer, k=kernel: within_limit(p, k)
        medians = in_turn(measures, ROUNDS)
        ours = medians["slimgraph"]
        row = f"{kernel:12}{ours:11.3f}" + cell(REFERENCE_S.get(kernel), ours)
        print(row + "".join(cell(medians[peer.name], ours) for peer in peers), flush=True)
    if not peers:
        print("no peers: none of GAPBS, GRAPHMINER, KCLIST is set")


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
          f"processor each, medians of {ROUNDS} in turn; bar: {TAX} x {NODES}/C")
    missed = 0
    with CpuShares(NODES, PERCENT) as shares:
        for kernel in ELASTIC:
            def seconds(compute, words=KERNELS[kernel]):
                job = [words[0], graph, *words[1:], "--compute", str(compute)]
                return shares.run_job(job)["time"]["run_s"]
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


def main():
    start_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="slimgraph-bench-") as directory:
        compare_kernels(directory)
        try:
            missed = elasticity(directory)
        except NotAllowed as error:
            print(f"== elasticity: not measured, for nodes cannot be given shares here: {error}")
            missed = 0
    print(f"took {time.monotonic() - start_s:.0f} s; "
          + (f"{missed} bars missed" if missed else "no bar of elasticity missed"))


if __name__ == "__main__":
    main()
