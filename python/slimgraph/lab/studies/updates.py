"""Transactions that change a graph while analytics run on snapshots of it."""
from slimgraph.lab.figures import bars, over_marks
from slimgraph.lab.studies.support import (PROTOCOLS, THROUGHPUT, TXN_NODES, emulation, job_point,
                                           median, median_over, txn_settings)
from slimgraph.lab.study import Group, Study

WORKLOAD = "linkbench"
ANALYTICS = ["pagerank", "triangles"]
MODES = ["alone", "beside analytics"]
SNAPSHOTS = ["/snapshots/longest_pause_s", "/snapshots/largest_staleness_s"]


def study(settings):
    settings = txn_settings(settings)
    graphs = [graph for graph in settings.graphs if graph.store]

    def point(graph, protocol, mode):
        words = ["txn", "run", "--workload", WORKLOAD, "--protocol", protocol, "--store",
                 graph.store, "--seconds", "0.3" if settings.small else "1"]
        words += ["--analytics", ",".join(ANALYTICS)] if mode == MODES[1] else []
        return job_point(settings, words, TXN_NODES, TXN_NODES, graph=graph,
                         label=f"{protocol} {mode}")

    def alone(graph, name):
        return job_point(settings, [name, graph.path], TXN_NODES, TXN_NODES, graph=graph,
                         label=f"{name} alone")

    def beside(graph, c):
        return point(graph, PROTOCOLS[c], MODES[1])

    def throughput(results, graph):
        plot = bars(f"{graph.name}: throughput", PROTOCOLS, MODES,
                    lambda c, s: results.of(point(graph, PROTOCOLS[c], MODES[s]), THROUGHPUT, 1e-3),
                    y_title="thousand transactions per second")
        kept = bars("kept", PROTOCOLS, ["kept"], lambda c, _: results.ratio(
            beside(graph, c), point(graph, PROTOCOLS[c], MODES[0]), THROUGHPUT))
        found = over_marks(kept.series[0])
        if found:
            plot.answer = (
                "Beside analytics, which take processors too, transactions keep "
                f"{100 * found.median:.0f} % of their throughput (median of {found.samples} "
                f"protocols, {100 * found.low:.0f} to {100 * found.high:.0f} %).")
        return plot

    def times(results, graph):
        def of(c, s):
            if c == 0:
                return results.of(alone(graph, ANALYTICS[s]), "/time/run_s", 1e3)
            return results.of(beside(graph, c - 1), f"/analytics/{s}/run_s", 1e3)
        plot = bars(f"{graph.name}: time of analytics", ["alone", *PROTOCOLS], ANALYTICS, of,
                    y_title="milliseconds")
        marks = plot.series[0].marks
        if len(marks) > 1 and marks[0].x == 0:
            ratios = [mark.y.median / marks[0].y.median for mark in marks[1:]]
            plot.answer = (f"{ANALYTICS[0]} on a snapshot, beside transactions, takes "
                           f"{median(ratios)} times as long as alone on the file (median of "
                           f"{len(ratios)} protocols).")
        return plot

    def snapshots(results, graph):
        plot = bars(f"{graph.name}: snapshots", PROTOCOLS,
                    ["pause of commits", "age of a result"],
                    lambda c, s: results.of(beside(graph, c), SNAPSHOTS[s], 1e3),
                    y_title="milliseconds, the longest", log_y=True)
        plot.answer = median_over(
            plot.series[0], "For a snapshot, commits wait for {m} ms at the longest "
            "(median of {n} protocols).")
        return plot

    groups = []
    for graph in graphs:
        groups += [Group(f"{protocol} on {graph.name}",
                         [point(graph, protocol, mode) for mode in MODES], THROUGHPUT)
                   for protocol in PROTOCOLS]
        groups.append(Group(f"analytics on {graph.name}",
                            [alone(graph, name) for name in ANALYTICS]))
    return Study(
        "updates", "Updates: transactions beside analytics",
        "What do transactions that change a graph and analytics on snapshots of it cost each "
        "other?",
        groups, lambda results: [make(results, graph) for graph in graphs
                                 for make in (throughput, times, snapshots)],
        [emulation(settings, TXN_NODES),
         f"The workload is {WORKLOAD}; beside it {','.join(ANALYTICS)} run again and again, each "
         "time on a new snapshot.", "Only undirected graphs have triangles; weights are left out."])
