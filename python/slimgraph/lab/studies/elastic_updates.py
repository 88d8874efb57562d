"""The cost of fewer compute nodes for transactions: (N, C) for C = N … 1, by messages and
one-sided, with one copy of the data and with three, alone and beside analytics."""
from dataclasses import replace

from slimgraph.lab.figures import NOT_ENOUGH, bars
from slimgraph.lab.spread import spread_of
from slimgraph.lab.studies.support import THROUGHPUT, emulation, job_point, median_over, pair
from slimgraph.lab.study import Group, Study

PROTOCOL = "nowait"
WORKLOADS = {"smallbank": False, "linkbench": True, "edge-updates": True}  # whether on a store
ANALYTICS = "pagerank,triangles"
FORMS = ["rpc", "one-sided"]
COPIES = [1, 3]
# What is shown, alone and beside analytics: (title, unit, path, factor).
ALONE = [("throughput", "thousand transactions per second", THROUGHPUT, 1e-3),
         ("median latency", "microseconds", "/result/latency_us/p50", 1),
         ("99th percentile of latency", "microseconds", "/result/latency_us/p99", 1),
         ("aborts", "% of all attempts", "/result/abort_rate", 100),
         ("traffic", "bytes per transaction", "/result/per_transaction/bytes", 1),
         ("processor time of memory nodes", "seconds, with loading", "/cpu_s/memory", 1)]
BESIDE = ALONE[:3] + [("age of a result of analytics", "milliseconds, the longest",
                       "/snapshots/largest_staleness_s", 1e3)]


def study(settings):
    settings = replace(settings, node_memory=0)
    n = settings.nodes
    computes = list(range(n, 0, -1))
    kinds = [(form, copies) for copies in COPIES if copies <= n for form in FORMS]
    names = [form + (f", {copies} copies" if copies > 1 else "") for form, copies in kinds]

    def point(graph, workload, compute, kind, beside):
        form, copies = kind
        words = ["txn", "run", "--workload", workload, "--protocol", PROTOCOL, "--stages", form,
                 "--replicas", str(copies), "--seconds", "0.1" if settings.small else "1"]
        if graph:
            words += ["--store", graph.store]
        if beside:
            words += ["--analytics", ANALYTICS]
        label = f"{pair(n, compute)} {names[kinds.index(kind)]}"
        return job_point(settings, words, n, compute, graph=graph, label=label)

    # What is measured: (name, graph or None, workload, whether beside analytics).
    cases = []
    for workload, on_store in WORKLOADS.items():
        graphs = [graph for graph in settings.graphs if graph.store] if on_store else [None]
        for graph in graphs:
            name = f"{workload} on {graph.name}" if graph else workload
            cases.append((name, graph, workload, False))
            if on_store:
                cases.append((f"{name} beside analytics", graph, workload, True))

    def points(case, kind):
        _, graph, workload, beside = case
        return [point(graph, workload, compute, kind, beside) for compute in computes]

    def kept(results, case):
        """The share of the throughput of all nodes that one compute node has."""
        ratios = []
        for kind in kinds:
            every = points(case, kind)
            ratio = results.ratio(every[-1], every[0], THROUGHPUT)
            ratios += [ratio.median] if ratio else []
        if not ratios:
            return NOT_ENOUGH
        found = spread_of(ratios)
        return (f"One compute node of {n} commits {100 * found.median:.0f} % of what all commit "
                f"(median of {len(ratios)} forms).")

    def figure(results, case, title, unit, path, factor):
        plot = bars(f"{case[0]}: {title}", [pair(n, c) for c in computes], names,
                    lambda c, s: results.of(points(case, kinds[s])[c], path, factor), y_title=unit)
        plot.answer = kept(results, case) if path == THROUGHPUT else median_over(
            plot.series[-1], f"{names[-1]}: {{m}} {unit} (median of {{n}} numbers of compute "
            "nodes, {l} to {h}).")
        return plot

    return Study(
        "elastic-updates", "Elasticity of updates: fewer compute nodes for transactions",
        f"What do transactions lose on C of {n} nodes, alone and beside analytics?",
        [Group(f"{case[0]}, {name}", points(case, kind), THROUGHPUT)
         for case in cases for kind, name in zip(kinds, names)],
        lambda results: [figure(results, case, *one) for case in cases
                         for one in (BESIDE if case[3] else ALONE)],
        [emulation(settings, n), f"The protocol is {PROTOCOL}. Beside transactions, {ANALYTICS} "
         "run again and again, each time on a new snapshot.",
         "A compute node has as many threads at each C, so fewer nodes also have fewer "
         "processors."])
