"""The performance bars of D-Gemini.

GAPBS=DIR LIGRA=DIR GEMINI=DIR GEMINI_1=DIR NETWORKIT=PYTHON: each DIR holds an engine that is
already built; each is optional. GEMINI_1 is built for one thread per process, and runs as four
processes. PYTHON is an interpreter that has NetworKit. The column "serial" is the simple code that
results are verified against. APPLICATIONS (all), ROUNDS (5), THREADS (2) and SCALE (20) may be set
as well, and PERCENT (25) of a processor for each node in the part tax. A row that takes longer than
LIMIT_S (40) has fewer rounds, but at least one. Each run reports the median of three
computations."""
import math
import os
import subprocess
import time

from slimgraph.lab.bench import setting
from vertex_peers import (ITERATIONS, LABEL_ITERATIONS, Serial, peers_on_four_nodes,
                          peers_on_one_node)

ROUNDS = setting("ROUNDS", 5)
THREADS = setting("THREADS", 2)
SCALE = setting("SCALE", 20)
PERCENT = setting("PERCENT", 25)
LIMIT_S = setting("LIMIT_S", 40.0)
WEIGHTS = "1..255"
APPLICATIONS = setting("APPLICATIONS", "bfs,sssp,pagerank,cc,bc,cdlp,kcore,mis").split(",")
# How often each of these passes over all arcs, at most.
ITERATED = {"pagerank": ITERATIONS, "cdlp": LABEL_ITERATIONS, "kcore": 1}
PAPER_CACHES = {"bitmap": "1.24-2.37", "index": "1.91-4.62", "edge": "34-177"}


class Graph:
    def __init__(self, bench, name, words, gapbs_delta):
        self.bench, self.name, self.gapbs_delta = bench, name, str(gapbs_delta)
        self.plain, self.weighted = bench.file(f"{name}.slim"), bench.file(f"{name}-weighted.slim")
        bench.run("gen", *words, "--weights", WEIGHTS, "-o", self.weighted)
        bench.run("convert", self.weighted, self.plain, "--drop-weights")
        info = bench.report("info", self.plain)["graph"]
        self.vertices, self.edges = info["vertices"], info["edges"]
        self.export = os.path.join(os.path.dirname(bench.command), "bench", "export_graph")
        # Three sources, the same for all engines.
        self.source = subprocess.run(
            [self.export, self.plain, self.prefix("bfs")], check=True, text=True,
            capture_output=True).stdout.split()[0]

    def export_weighted(self):
        subprocess.run([self.export, self.weighted, self.prefix("sssp")], check=True,
                       stdout=subprocess.DEVNULL)

    def path(self, application):
        return self.weighted if application == "sssp" else self.plain

    def prefix(self, application):
        return self.path(application).removesuffix(".slim")

    def job(self, application, *options):
        words = [application, self.path(application), *options]
        words += {
            "bfs": ["--source", self.source],
            "sssp": ["--source", self.source],
            "bc": ["--sources", self.source],
            "pagerank": ["--iterations", str(ITERATIONS)],
            "cdlp": ["--iterations", str(LABEL_ITERATIONS)],
        }.get(application, [])
        return words

    def run(self, application, *options):
        return self.bench.report(*self.job(application, *options))

    def verify(self, application, *options):
        """Ends the bench if the result is wrong. Runs once for each row, outside measured times."""
        if not self.run(application, "--verify", *options).get("verified"):
            self.bench.end(f"{application} {' '.join(options)} was not verified")

    def seconds(self, application, *options):
        return self.run(application, "--repeat", "3", *options)["time"]["run_s"]


class Graphs:
    """Generates each graph when it is first used."""
    KINDS = {
        "kron": (["kron", "-s", str(SCALE)], 2),
        "uniform": (["uniform", "-s", str(SCALE)], 2),
        "grid": (["grid", "--width", "1024", "--height", "1024"], 128),
    }

    def __init__(self, bench):
        self.bench, self.made = bench, {}

    def __getitem__(self, name):
        if name not in self.made:
            words, gapbs_delta = self.KINDS[name]
            self.made[name] = Graph(self.bench, name, words, gapbs_delta)
        return self.made[name]


def compare(graph, peers, ours):
    """Prints a row for each application. `ours` has our configurations by name; peers are compared
    with the first. Returns the ratios of the first configuration to the fastest peer."""
    if peers:
        print("our results were verified; the peers' were not")
    print(f"{graph.name:10}" + "".join(f"{name:>12}" for name in ours)
          + "".join(f"{peer.name:>22}" for peer in peers))
    ratios = []
    for application in APPLICATIONS:
        for options in ours.values():
            graph.verify(application, *options)
        measures = {name: lambda o=options: graph.seconds(application, *o)
                    for name, options in ours.items()}
        for peer in peers:
            measures[peer.name] = lambda p=peer: p.seconds(graph, application)
        medians = graph.bench.in_turn(measures)
        first = medians[next(iter(ours))]
        row = "".join(f"{medians[name]:12.4f}" for name in ours)
        for peer in peers:
            theirs = medians[peer.name]
            row += f"{'-':>22}" if theirs is None else f"{theirs:12.4f} ({first / theirs:5.2f} x)"
        if application in ITERATED:
            row += f"  {2 * graph.edges * ITERATED[application] / first / 1e6:6.0f} M arcs/s"
        print(f"{application:10}{row}", flush=True)
        published = [medians[peer.name] for peer in peers
                     if peer.is_published and medians[peer.name] is not None]
        if published:
            ratios.append(first / min(published))
    return ratios


def single(graphs):
    published = peers_on_one_node(THREADS)
    peers = published + [Serial(os.path.dirname(graphs.bench.command))]
    print(f"== one node, {THREADS} threads: seconds, medians of {graphs.bench.rounds} rounds, and "
          "our time over theirs")
    if not published:
        print("no published engines: none of GAPBS, LIGRA, GEMINI, NETWORKIT is set")
    for name in ("kron", "uniform", "grid"):
        if published:
            graphs[name].export_weighted()
        ratios = compare(graphs[name], peers, {"slimgraph": ["--threads", str(THREADS)]})
        if ratios:
            mean = math.prod(ratios) ** (1 / len(ratios))
            print(f"{'':10}geometric mean of the ratios to the fastest peer: {mean:.2f} (bar 1.2)")


def cluster(graphs):
    print(f"== four nodes of one thread, kron {SCALE}: seconds as above")
    peers = peers_on_four_nodes()
    if peers:
        graphs["kron"].export_weighted()
    else:
        print("no peer: GEMINI_1 is not set")
    compare(graphs["kron"], peers, {"(4,4)": ["--nodes", "4"],
                                    "(4,2)": ["--nodes", "4", "--compute", "2"]})
    print("traffic between nodes, MB")
    for application in APPLICATIONS:
        row = f"{application:10}"
        for compute in (4, 2):
            report = graphs["kron"].run(application, "--nodes", "4", "--compute", str(compute),
                                        "--verify")
            row += f"   (4,{compute}) {report['traffic']['bytes'] / 1e6:9.2f}"
        print(row, flush=True)


def steps(graphs):
    print("== many small supersteps: BFS on the grid at (4,2)")
    grid = graphs["grid"]
    grid.verify("bfs", "--nodes", "4", "--compute", "2")
    grid.verify("bfs")
    medians = graphs.bench.in_turn(
        {"(4,2)": lambda: grid.seconds("bfs", "--nodes", "4", "--compute", "2"),
         "(1,1)": lambda: grid.seconds("bfs")}, limit_s=math.inf)
    count = grid.run("bfs")["result"]["steps"]
    each = medians["(4,2)"] / count * 1e6
    beyond = (medians["(4,2)"] - medians["(1,1)"] / 2) / count * 1e6
    print(f"{count} supersteps, {each:.1f} us each, {beyond:.1f} beyond the work in them (bar 60)")


def loading(graphs):
    print(f"== loading, kron {SCALE}: until all nodes are ready, against reading the file")
    kron = graphs["kron"]

    def read_file():
        start_s = time.monotonic()
        with open(kron.plain, "rb", buffering=0) as file:
            while file.read(1 << 24):
                pass
        return time.monotonic() - start_s

    for compute in (4, 2):
        kron.verify("bfs", "--nodes", "4", "--compute", str(compute))

        def load(c=compute):
            return kron.run("bfs", "--nodes", "4", "--compute", str(c))["time"]["load_s"]
        medians = graphs.bench.in_turn({"load": load, "read": read_file}, limit_s=math.inf)
        print(f"(4,{compute}) {medians['load']:.3f} s, {medians['read']:.3f} s to read: "
              f"{medians['load'] / medians['read']:.2f} x (bar 3)")
    print("memory of all nodes together, MB: the peak before the graph is ready and the application"
          " allocates its arrays (bar 222), the job's peak, and the largest ratio of a node's peak "
          "to its announced memory (bar 1.15)")
    shapes = {"(4,4)": ["--compute", "4"], "(4,2)": ["--compute", "2"],
              "(4,2) none": ["--compute", "2", "--cache", "none"]}
    for application in APPLICATIONS:
        row = f"{application:10}"
        for name, options in shapes.items():
            kron.verify(application, "--nodes", "4", *options)
            memory = kron.run(application, "--nodes", "4", *options)["memory"]
            over = max(p / a for p, a in zip(memory["peak_bytes"], memory["announced_bytes"]))
            row += (f"   {name} ready {sum(memory['loaded_bytes']) / 1e6:6.1f}"
                    f" peak {sum(memory['peak_bytes']) / 1e6:6.1f} {over:5.2f} x")
        print(row, flush=True)


def caches(graphs):
    print(f"== benefit of each cache: kron {SCALE}, (4,2), --network fdr: seconds, and the "
          "speed-up over none; with a warm edge cache")
    graph = graphs["kron"]
    print(f"{'':10}{'none':>10}" + "".join(f"{name:>18}" for name in PAPER_CACHES))
    for application in APPLICATIONS:
        def seconds(level):
            return graph.seconds(application, "--nodes", "4", "--compute", "2", "--network", "fdr",
                                 "--cache", level)
        for level in ("none", *PAPER_CACHES):
            graph.verify(application, "--nodes", "4", "--compute", "2", "--cache", level)
        medians = graphs.bench.in_turn({level: lambda l=level: seconds(l)
                                        for level in ("none", *PAPER_CACHES)})
        values = [medians[level] for level in ("none", *PAPER_CACHES)]
        row = f"{application:10}{values[0]:10.4f}"
        for value in values[1:]:
            row += f"{value:10.4f} {values[0] / value:5.2f} x"
        print(row + ("" if values == sorted(values, reverse=True) else "   not monotone"),
              flush=True)
    print("the paper's" + " ".join(f"   {name} {range_}" for name, range_ in PAPER_CACHES.items()))


def reduction(graphs):
    print(f"== reduction on memory nodes, kron {SCALE}, (4,2), no edge cache: MB in all, and over "
          "pushing at (4,4) in doubles")
    graph = graphs["kron"]
    cold = ["--nodes", "4", "--compute", "2", "--edge-cache", "0", "--memory-side"]

    def megabytes(application, *options):
        report = graph.run(application, "--verify", *options)
        if not report.get("verified"):
            graph.bench.end(f"{application} {' '.join(options)} was not verified")
        return report["traffic"]["bytes"] / 1e6
    pushing = megabytes("pagerank", "--nodes", "4", "--mode", "push")
    print(f"pagerank  pushing at (4,4) {pushing:8.1f}")
    for name, bar, options in (("reduce", .87, []), ("auto", .87, []),
                               ("reduce", .45, ["--precision", "float"]), ("strict", None, [])):
        moved = megabytes("pagerank", *cold, name, *options)
        print(f"pagerank  {' '.join([name, *options]):24} {moved:8.1f} {moved / pushing:5.2f} x"
              + (f" (bar {bar})" if bar else ""), flush=True)
    for application in ("bfs", "bc"):
        strict, reduced = (megabytes(application, *cold, side) for side in ("strict", "reduce"))
        print(f"{application:10}strict {strict:8.1f}   reduce {reduced:8.1f} "
              f"{reduced / strict:5.2f} x", flush=True)


def tax(graphs):
    kron = graphs["kron"]
    print(f"== zero tax, kron {SCALE}: nodes of {PERCENT} % of a processor each, --network fdr; "
          "time over that of (4,4)")
    def seconds(application, compute, budget):
        words = kron.job(application, "--compute", str(compute), "--network", "fdr",
                         "--edge-cache", budget, "--repeat", "3")
        return kron.bench.report_with_shares(4, PERCENT, words)["time"]["run_s"]
    for application in APPLICATIONS:
        for compute, budget in ((4, "100%"), (2, "100%"), (1, "100%"), (2, "5%"), (1, "5%")):
            kron.verify(application, "--nodes", "4", "--compute", str(compute),
                        "--edge-cache", budget)

        def measure(compute, budget):
            return lambda: seconds(application, compute, budget)
        medians = kron.bench.in_turn({
            "(4,4)": measure(4, "100%"), "(4,2) warm": measure(2, "100%"),
            "(4,1) warm": measure(1, "100%"), "(4,2) 5 %": measure(2, "5%"),
            "(4,1) 5 %": measure(1, "5%")})
        whole = medians["(4,4)"]
        print(f"{application:10}(4,4) {whole:7.4f} s" + "".join(
            f"   {name} {median / whole:5.2f}" for name, median in medians.items()
            if name != "(4,4)"), flush=True)
    print("bars, warm: 2.1 and 4.2")


def memory(graphs):
    kron = graphs["kron"]
    rows = [["scan"]]
    for application in APPLICATIONS:
        words = kron.job(application)
        rows += [[words[0], *words[2:]], [words[0], *words[2:], "--verify"]]
    # A computation from one source does not take memory for the parts that it does not reach.
    kron.bench.memory(f"kron {SCALE}, weighted", kron.weighted,
                      [(words, "--source" not in words) for words in rows])


def set_up(bench):
    bench.limit_s = LIMIT_S
    bench.graphs = Graphs(bench)


FUNCTIONS = {"single": single, "cluster": cluster, "steps": steps, "loading": loading,
             "caches": caches, "reduction": reduction, "tax": tax, "memory": memory}
PARTS = {name: lambda bench, part=part: part(bench.graphs) for name, part in FUNCTIONS.items()}
