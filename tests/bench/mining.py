"""The performance bars of D-Kudu: processor seconds of its kernels, alternating with those of
published engines; the run time with fewer compute nodes; and whether runs keep within the memory
that they announce.

GAPBS=DIR GRAPHMINER=DIR KCLIST=DIR NETWORKIT=PYTHON: each DIR holds an engine that is already
built; each is optional. PYTHON is an interpreter that has NetworKit. ROUNDS (5), our THREADS (2),
PERCENT of a processor for each node (25) and MEMORY_SCALES (16,18) may be set as well. Peers run on
one thread, where they take the fewest processor seconds."""
import math
import subprocess

from mining_peers import LIMIT_S, available_peers
from slimgraph.lab.bench import setting

ROUNDS = setting("ROUNDS", 5)
THREADS = setting("THREADS", "2")
PERCENT = setting("PERCENT", 25)
KERNEL_SCALE = setting("KERNEL_SCALE", 16)
ELASTIC_SCALE = setting("ELASTIC_SCALE", 18)
MEMORY_SCALES = setting("MEMORY_SCALES", "16,18").split(",")

KERNELS = {
    "triangles": ["triangles"],
    "3-motifs": ["motifs", "-k", "3"],
    "4-cliques": ["cliques", "-k", "4"],
    "5-cliques": ["cliques", "-k", "5"],
    "4-motifs": ["motifs", "-k", "4"],
    "lcc": ["lcc"],
    "ktruss": ["ktruss"],
}
# Processor seconds of a simple reference program with formulas and bit sets on kron 16.
REFERENCE_S = {"triangles": 0.036, "4-cliques": 0.19, "5-cliques": 0.84, "4-motifs": 2.9}
ELASTIC = ["triangles", "3-motifs", "4-cliques"]
NODES = 4
TAX = 1.1


def job(kernel, graph, *options):
    words = KERNELS[kernel]
    return [words[0], graph, *words[1:], *options]


def verify(bench, kernel, graph, shapes):
    """Ends the bench if the shapes count differently, or count wrongly in ktruss, whose rounds
    depend on the shape."""
    if kernel == "ktruss":
        for shape in shapes:
            if not bench.report(*job(kernel, graph, "--verify", *shape)).get("verified"):
                bench.end(f"ktruss {' '.join(shape)} was not verified")
        return
    bench.verify_same(*(job(kernel, graph, *shape) for shape in shapes))


def generate(bench, scale):
    graph = bench.file(f"kron{scale}.slim")
    bench.run("gen", "kron", "-s", str(scale), "--seed", "1", "-o", graph)
    return graph


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


def kernels(bench):
    graph = generate(bench, KERNEL_SCALE)
    peers = available_peers(graph, bench)
    print(f"== kernels on kron {KERNEL_SCALE}: processor seconds, medians of {bench.rounds} "
          f"rounds; ours on {THREADS} threads")
    print("our counts were verified by another shape, trusses by serial code; the peers' results "
          "were not verified")
    print(f"{'':12}{'slimgraph':>11}{'reference':>20}"
          + "".join(f"{peer.name:>20}" for peer in peers))
    for kernel in KERNELS:
        verify(bench, kernel, graph, [["--threads", THREADS], ["--nodes", "3", "--compute", "2"]])
        words = job(kernel, graph, "--threads", THREADS)
        measures = {"slimgraph": lambda w=words: bench.report(*w)["engines"]["cpu_s"]}
        for peer in peers:
            measures[peer.name] = lambda p=peer, k=kernel: within_limit(p, k)
        medians = bench.in_turn(measures)
        ours = medians["slimgraph"]
        row = f"{kernel:12}{ours:11.3f}" + cell(REFERENCE_S.get(kernel), ours)
        print(row + "".join(cell(medians[peer.name], ours) for peer in peers), flush=True)
    if not peers:
        print("no peers: none of GAPBS, GRAPHMINER, KCLIST, NETWORKIT is set")


def elasticity(bench):
    graph = generate(bench, ELASTIC_SCALE)
    print(f"== elasticity on kron {ELASTIC_SCALE}: seconds on {NODES} nodes of {PERCENT} % of a "
          f"processor each, medians of {bench.rounds} rounds; bar: {TAX} x {NODES}/C")
    computes = range(NODES, 0, -1)
    for kernel in ELASTIC:
        verify(bench, kernel, graph, [["--nodes", str(NODES), "--compute", str(compute)]
                                      for compute in computes])

        def seconds(compute, kernel=kernel):
            words = job(kernel, graph, "--compute", str(compute))
            return bench.report_with_shares(NODES, PERCENT, words)["time"]["run_s"]
        medians = bench.in_turn({c: lambda c=c: seconds(c) for c in computes})
        row = f"{kernel:12}"
        for compute, median in medians.items():
            ratio = median / medians[NODES] / (NODES / compute)
            bench.missed += ratio > TAX
            row += f"   ({NODES},{compute}) {median:6.3f} s = {ratio:5.3f} x {NODES}/{compute}"
            row += " MISSED" if ratio > TAX else ""
        print(row, flush=True)


def memory(bench):
    local = ["local", "--triangles", "-o", bench.file("local.txt")]
    plans = [["match", "--pattern", name, "--no-formulae"] for name in ("diamond", "4-clique")]
    rows = [*KERNELS.values(), local, *plans, ["match", "--pattern", "house"]]
    for scale in MEMORY_SCALES:
        bench.memory(f"kron {scale}", generate(bench, scale), [(words, True) for words in rows])


PARTS = {"kernels": kernels, "elasticity": elasticity, "memory": memory}
