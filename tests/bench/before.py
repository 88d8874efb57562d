"""Compares the cost of this build with that of an earlier one, to see what a change costs.

Each row is a command line that both builds run in turn. A row shows the median processor seconds of
all nodes, and their ratio; the bar is 1.05. Rows that take long have fewer rounds. With
--instructions, valgrind counts instructions instead, which do not depend on other load. Then only
rows on one node are run, and once. Each row's result is verified before it is measured."""
import os
import re
import subprocess

from slimgraph.lab.failure import Failure

ROUNDS = 15
FAILS = True
BAR = 1.05
LIMIT_S = 20  # for the rounds of a row
SHAPES = {"(1,1)": [], "(4,4)": ["--nodes", "4"], "(4,1)": ["--nodes", "4", "--compute", "1"],
          "(4,1) serve": ["--nodes", "4", "--compute", "1", "--memory-side", "serve"]}
# Lists do not all fit into the edge cache.
VERTEX_SHAPES = SHAPES | {"(4,1) half cached": [*SHAPES["(4,1)"], "--edge-cache", "50%"]}
PROTOCOLS = ["nowait", "waitdie", "occ", "mvcc", "sundial", "calvin"]


def declare(parser):
    parser.add_argument("--before", required=True, help="the command of an earlier build")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--rows", default="", help="only the rows whose name contains this")
    parser.add_argument("--scale", type=int, default=0,
                        help="default 18, or 14 with --instructions")


class Row:
    def __init__(self, name, words, check=(), store=None):
        self.name, self.words, self.check, self.store = name, words, list(check), store
        self.on_one_node = "--nodes" not in words


def rows(bench):
    scale = bench.options.scale or (14 if bench.options.instructions else 18)
    plain, weighted, small = map(bench.file, ("plain.slim", "weighted.slim", "small.slim"))
    for graph, size, more in ((plain, scale, []), (weighted, scale, ["--weights", "1..255"]),
                              (small, scale - 5, [])):
        bench.run("gen", "kron", "-s", str(size), "--seed", "1", *more, "-o", graph)
    vertex = {"bfs": [plain, "--source", "1"], "sssp": [weighted, "--source", "1"],
              "pagerank": [plain], "cc": [plain], "bc": [plain, "--sources", "1"]}
    mining = {"triangles": [plain], "cliques -k 4": [plain], "motifs -k 3": [plain],
              "motifs -k 4": [small], "match --pattern house": [small]}
    for application, words in vertex.items():
        for shape, options in VERTEX_SHAPES.items():
            yield Row(f"{application} {shape}", [application, *words, *options], ["--verify"])
    for application, words in mining.items():
        name, *more = application.split()
        for shape, options in SHAPES.items():
            if "serve" not in shape:
                yield Row(f"{application} {shape}", [name, *words, *more, *options])
    for protocol in PROTOCOLS:
        for workload, transactions in (("smallbank", 20_000), ("ycsb", 5_000)):
            run = ["txn", "run", "--workload", workload, "--protocol", protocol,
                   "--transactions", str(transactions), "--seconds", "60"]
            yield Row(f"{workload} {protocol} (1,1)", run)
            yield Row(f"{workload} {protocol} (2,2)", [*run, "--nodes", "2"])
    for workload in ("linkbench", "edge-updates"):
        yield Row(f"{workload} occ (1,1)",
                  ["txn", "run", "--workload", workload, "--protocol", "occ",
                   "--transactions", "10000", "--seconds", "60"], store=small)


def words_of(bench, row, build):
    if row.store is None:
        return row.words
    store = bench.file(f"store-of-{build.replace('/', '-')}")  # a run changes it
    if not os.path.exists(store):
        bench.run("store", "create", row.store, "-o", store, command=build)
    return [*row.words, "--store", store]


def cost(bench, row, build):
    words = words_of(bench, row, build)
    if not bench.options.instructions:
        return bench.cost(*words, command=build)[1]
    done = subprocess.run(["valgrind", "--tool=callgrind", "--trace-children=yes",
                           "--callgrind-out-file=/dev/null", build, *words, "--threads", "1"],
                          cwd=bench.folder, capture_output=True, text=True, timeout=1200,
                          check=False)
    if done.returncode != 0:
        bench.end(f"{build} {' '.join(words)}: {done.stderr.strip()}")
    return sum(int(count) for count in re.findall(r"Collected : (\d+)", done.stderr))


def cost_if_possible(bench, row, build):
    try:
        return cost(bench, row, build)
    except Failure:
        return None


def verify(bench, row, builds):
    """Ends the bench if the result of this build is wrong, or if the builds count differently.
    Transactions verify themselves, and with --verify a wrong result is an exit code."""
    report, *others = [bench.report(*words_of(bench, row, build), *row.check, command=build)
                       for build in builds[:1 if row.check or row.words[0] == "txn" else 2]]
    if any(other["result"] != report["result"] for other in others):
        bench.end(f"{row.name}: the result is wrong")


def compare(bench):
    options, builds = bench.options, [bench.command, os.path.abspath(bench.options.before)]
    form = ",.0f" if options.instructions else ".3f"
    unit = "instructions" if options.instructions else "processor seconds"
    print(f"{unit:34}{'now':>16}{'before':>16}{'ratio':>8}")
    for row in rows(bench):
        if options.rows not in row.name or options.instructions and not row.on_one_node:
            continue
        verify(bench, row, builds)
        medians = bench.in_turn({builds[0]: lambda r=row: cost(bench, r, builds[0]),
                                 "before": lambda r=row: cost_if_possible(bench, r, builds[1])},
                                1 if options.instructions else None, LIMIT_S)
        now, before = medians[builds[0]], medians["before"]
        print(f"{row.name:34}{now:16{form}}", end="")
        if before is None:
            print(f"{'fails':>16}", flush=True)
            continue
        missed = now > before * BAR
        bench.missed += missed
        print(f"{before:16{form}}{now / before:8.3f}{'  MISSED' * missed}", flush=True)


PARTS = {"compare": compare}
