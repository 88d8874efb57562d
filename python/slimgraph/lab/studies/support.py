"""Shared by the studies: command lines of jobs, and figures over their points."""
from dataclasses import replace

from slimgraph.lab.figures import NOT_ENOUGH, Mark, Reference, Series, bars, over_marks
from slimgraph.lab.spread import format_bytes, short_number, spread_of
from slimgraph.lab.study import Group, Point

# The command of each job and its own options, on a graph.
VERTEX_JOBS = {
    "bfs": lambda g: ["bfs", g.path, "--source", g.source],
    "sssp": lambda g: ["sssp", g.path, "--source", g.source],
    "pagerank": lambda g: ["pagerank", g.path, "--iterations", "10"],
    "cc": lambda g: ["cc", g.path],
    "bc": lambda g: ["bc", g.path, "--sources", g.source],
}
MINING_JOBS = {
    "triangles": lambda g: ["triangles", g.path],
    "3-motifs": lambda g: ["motifs", g.path, "-k", "3"],
    "4-cliques": lambda g: ["cliques", g.path, "-k", "4"],
}
ALL_JOBS = VERTEX_JOBS | MINING_JOBS
REPEATED = ["--repeat", "3"]  # of vertex programs; caches are warm from the second on

PROTOCOLS = ["nowait", "waitdie", "occ", "mvcc", "sundial", "calvin"]
TXN_NODES = 2
THROUGHPUT = "/result/throughput_per_s"


def pair(nodes, compute):
    return f"({nodes},{compute})"


def half(settings):
    return max(1, settings.nodes // 2)


def repeated(job, graph):
    """The words of a job; vertex programs compute three times."""
    return ALL_JOBS[job](graph) + (REPEATED if job in VERTEX_JOBS else [])


def cpu_share(settings, most_nodes):
    """The processor share of a node in percent; 0 if no limit is needed or possible."""
    if not settings.limited or settings.processors >= most_nodes * settings.threads:
        return 0
    return int(100 * settings.processors / most_nodes)


def emulation(settings, most_nodes, no_limits="control groups cannot be used"):
    """A sentence for the page. `no_limits`: why, if processors are shared without limits."""
    plural = "s" * (settings.threads != 1)
    text = f"Nodes are processes of {settings.threads} thread{plural} on one machine" \
        if settings.processors else "Nodes are those of the launcher"
    share = cpu_share(settings, most_nodes)
    if share:
        text += f", each held to {share} % of a processor by control groups"
    elif 0 < settings.processors < most_nodes * settings.threads:
        text += (f", which share its processors without limits, because {no_limits}: up to "
                 f"{most_nodes} processes have {settings.processors} processors, so fewer compute "
                 "nodes look better than they are")
    text += "; no network is emulated between them" if settings.network == "none" else \
        f"; transfers between them take as long as over {settings.network} (--network)"
    if settings.node_memory:
        text += f"; each may hold {format_bytes(settings.node_memory)}"
    return text + "."


def job_point(settings, words, nodes, compute, most_nodes=None, graph=None, label=None):
    """The point that runs `words` on these nodes, with the emulation of the settings. `most_nodes`,
    the largest number of nodes in the study, determines the processor share."""
    share = cpu_share(settings, most_nodes or nodes)
    options = [("--nodes", nodes, True), ("--compute", compute, True),
               ("--threads", settings.threads, settings.threads != 1),
               ("--transport", settings.transport, settings.transport),
               ("--network", settings.network, settings.network != "none"),
               ("--cpu-share", share, share),
               ("--node-memory", settings.node_memory, settings.node_memory)]
    added = [str(part) for name, value, given in options if given for part in (name, value)]
    return Point(label or pair(nodes, compute), words + added, nodes,
                 graph.stamp if graph else "")


def groups_of_jobs(settings, jobs, points):
    """A group for each job on each graph; points(graph, job) are compared by time."""
    return [Group(f"{job} on {graph.name}", points(graph, job))
            for graph in settings.graphs for job in jobs]


def txn_settings(settings):
    """The studies of transactions run on two nodes. The size of their tables is fixed."""
    return replace(settings, nodes=TXN_NODES, node_memory=0)


def txn_point(settings, command, workload, protocol, more=(), label=None, nodes=TXN_NODES,
              most_nodes=None):
    """The point `txn COMMAND` for this workload and protocol. `most_nodes`: see job_point()."""
    words = ["txn", command, "--workload", workload, "--protocol", protocol, "--seconds",
             "0.02" if settings.small else "0.3", *more]
    return job_point(settings, words, nodes, nodes, most_nodes, label=label)


def line(results, name, style, points, path, factor=1):
    """A series of (x, point) pairs."""
    spreads = [(x, results.of(point, path, factor)) for x, point in points]
    return Series(name, style, [Mark(x, spread) for x, spread in spreads if spread])


def hybrids(title, protocols, throughput):
    """How many times the better of rpc and one-sided the mix of stages brings that `txn choose`
    finds; throughput(protocol, form, factor) is a Spread or None."""
    def ratio(c, _):
        pure = [throughput(protocols[c], form, 1) for form in ("rpc", "one-sided")]
        better = max((spread.median for spread in pure if spread), default=0)
        return better and throughput(protocols[c], "hybrid", 1 / better)
    return bars(title, protocols, ["hybrid"], ratio,
                y_title="times the better of rpc and one-sided",
                references=[Reference("no difference", 1, 1),
                            Reference("the most that RCC found", 1.178, 1.178)])


def median(values):
    return short_number(spread_of(values).median)


def median_over(series, form):
    """Fills in a sentence about the median over a series' categories, their range and number."""
    found = over_marks(series)
    if found is None:
        return NOT_ENOUGH
    return form.format(median=found.median, low=found.low, high=found.high, n=found.samples,
                       m=short_number(found.median), l=short_number(found.low),
                       h=short_number(found.high))
