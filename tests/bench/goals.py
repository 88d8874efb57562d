"""One table of ratios against their goals, also of an earlier build: BEFORE=FILE, its command.

GAPBS=DIR, LIGRA=DIR, GEMINI=DIR, NETWORKIT=PYTHON: engines for the part peers, as in graph.py;
each is optional. ROUNDS (3), THREADS (2), SCALE (20) and PERCENT (25) of a processor for each node
in the part elastic may be set. A value is a ratio of medians of runs in turn. Each row is verified
once."""
import os
import time

from graph import Graphs, THREADS
from slimgraph.lab.bench import setting
from vertex_peers import peers_on_one_node

ROUNDS = setting("ROUNDS", 3)
PERCENT = setting("PERCENT", 25)
EIGHT = ["bfs", "sssp", "pagerank", "cc", "bc", "cdlp", "kcore", "mis"]
# Our time over the fastest peer's.
OVER_PEERS = {
    "kron": {"bfs": .8, "sssp": .5, "cc": .6, "bc": .3, "pagerank": .9},
    "uniform": {"bfs": .8, "sssp": .5, "cc": .6, "bc": .3, "pagerank": .7},
    "grid": {"bfs": 1.0, "sssp": 1.0, "bc": 1.0},
}


def declare(parser):
    parser.add_argument("--before", help="the command of an earlier build")


def set_up(bench):
    bench.graphs = Graphs(bench)
    bench.builds = {"now": bench.command}
    if bench.options.before:
        bench.builds["before"] = os.path.abspath(bench.options.before)
    print(f"{'ratio':56}{'goal':>8}" + "".join(f"{name:>10}" for name in bench.builds))


def row(bench, name, goal, ours, over, verify=()):
    """Prints a row. `ours` and `over` measure a build's command; without a parameter for it, `over`
    measures something else. `verify`: command lines whose result must be right."""
    for words in verify:
        if not bench.report(*words, "--verify").get("verified"):
            bench.end(f"{' '.join(words)} was not verified")
    measures = {}
    for build, command in bench.builds.items():
        measures[build] = lambda c=command: ours(c)
        if isinstance(over, dict):
            measures.update(over)
        else:
            measures[f"over {build}"] = lambda c=command: over(c)
    medians = bench.in_turn(measures)
    line = f"{name:56}{goal:8.2f}"
    for build in bench.builds:
        below = (min(medians[other] for other in over if medians[other] is not None)
                 if isinstance(over, dict) else medians[f"over {build}"])
        ratio = medians[build] / below
        if build == "now":
            bench.missed += ratio > goal
            verdict = "MISSED" if ratio > goal else "met"
        line += f"{ratio:10.2f}"
    print(f"{line}  {verdict}", flush=True)


def peers(bench):
    engines = peers_on_one_node(THREADS)
    if not engines:
        print("no published engines: none of GAPBS, LIGRA, GEMINI, NETWORKIT is set")
        return
    for name, goals in OVER_PEERS.items():
        graph = bench.graphs[name]
        graph.export_weighted()
        for application, goal in goals.items():
            words = graph.job(application, "--threads", str(THREADS))
            them = {peer.name: lambda p=peer, g=graph, a=application: p.seconds(g, a)
                    for peer in engines}
            if all(peer.seconds(graph, application) is None for peer in engines):
                continue
            row(bench, f"{application} on {name}: time over the fastest peer", goal,
                lambda c, w=words: time_of(bench, c, "run_s", [*w, "--repeat", "3"]), them, [words])


def processors(bench):
    kron = bench.graphs["kron"]
    lines = {application: [*kron.job(application), "--repeat", "3"]
             for application in ("pagerank", "bc", "bfs", "cc")}
    lines["triangles"] = ["triangles", kron.plain]
    for application, words in lines.items():
        def seconds(command, *more, w=words):
            by_role = bench.report(*w, *more, command=command)["cpu_s"]
            return sum(sum(of_nodes) for of_nodes in by_role.values())
        row(bench, f"{application}: processor seconds at (4,4) over (1,1)", 1.2,
            lambda c, of=seconds: of(c, "--nodes", "4"), seconds, [[*words, "--nodes", "4"]])


def elastic(bench):
    """At (4,1), memory nodes do nothing (strict), or combine values where that saves bytes."""
    kron = bench.graphs["kron"]
    for application in EIGHT:
        for side in ("strict", "auto"):
            def seconds(command, compute, application=application, side=side):
                words = kron.job(application, "--nodes", "4", "--compute", str(compute),
                                 "--network", "fdr", "--edge-cache", "5%", "--cpu-share",
                                 str(PERCENT), "--memory-side", side if compute < 4 else "strict")
                return bench.report(*words, command=command,
                                    not_allowed="nodes cannot be limited here")["time"]["run_s"]
            row(bench, f"{application}, {side}: cold, fdr, equal nodes: (4,1) over (4,4)", 3.4,
                lambda c, of=seconds: of(c, 1), lambda c, of=seconds: of(c, 4),
                [kron.job(application, "--nodes", "4", "--compute", "1", "--edge-cache", "5%",
                          "--memory-side", side)])


def traffic(bench):
    kron = bench.graphs["kron"]

    def moved(command, *options):
        return kron.bench.report(*kron.job("pagerank", "--nodes", "4", *options),
                                 command=command)["traffic"]["bytes"]
    for goal, more in ((.87, []), (.45, ["--precision", "float"])):
        cold = ["--compute", "2", "--edge-cache", "0", "--memory-side", "auto", *more]
        row(bench, f"{' '.join(['pagerank', *more])}: bytes at (4,2), cold, over push", goal,
            lambda c, o=cold: moved(c, *o), lambda c: moved(c, "--mode", "push"),
            [kron.job("pagerank", "--nodes", "4", *cold)])


def steps(bench):
    grid = bench.graphs["grid"]
    words = grid.job("bfs", "--nodes", "4")

    def result_of(command):
        return bench.report(*words, command=command)["result"]
    row(bench, "bfs on grid, (4,4): steps over levels", .05,
        lambda c: result_of(c)["steps"], lambda c: result_of(c)["depth"] + 1, [words])


def cache(bench):
    kron = bench.graphs["kron"]

    def seconds(command, budget):
        return time_of(bench, command, "run_s", kron.job(
            "pagerank", "--nodes", "4", "--compute", "1", "--edge-cache", budget))
    row(bench, "pagerank: (4,1), 4 MB of edges cached, over all", 1.2,
        lambda c: seconds(c, "4M"), lambda c: seconds(c, "100%"),
        [kron.job("pagerank", "--nodes", "4", "--compute", "1", "--edge-cache", "4M")])


def loading(bench):
    kron = bench.graphs["kron"]

    def read_file(_):
        start_s = time.monotonic()
        with open(kron.plain, "rb", buffering=0) as file:
            while file.read(1 << 24):
                pass
        return time.monotonic() - start_s
    coded = bench.file("kron-coded.slim")
    bench.run("convert", kron.plain, coded, "--coded")

    def mining(path, compute):
        return ["triangles", path, "--nodes", "4", "--compute", compute]
    for compute in ("4", "2"):
        words = kron.job("bfs", "--nodes", "4", "--compute", compute)
        row(bench, f"loading for vertex programs, (4,{compute}), over reading the file", 2,
            lambda c, w=words: time_of(bench, c, "load_s", w), read_file, [words])
        for what, path in (("mining", kron.plain), ("mining, --coded", coded)):
            def load_s(command, n=compute, p=path):
                p = p if command == bench.command else kron.plain  # earlier builds read no others
                return time_of(bench, command, "load_s", mining(p, n))
            row(bench, f"loading for {what}, (4,{compute}), over vertex programs", 3, load_s,
                lambda c, w=words: time_of(bench, c, "load_s", w), [mining(path, compute)])


def time_of(bench, command, what, words):
    return bench.report(*words, command=command)["time"][what]


PARTS = {"peers": peers, "processors": processors, "elastic": elastic, "traffic": traffic,
         "steps": steps, "cache": cache, "loading": loading}
