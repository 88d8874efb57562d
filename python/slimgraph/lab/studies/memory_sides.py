"""What memory nodes may do: nothing, serve lists, or reduce. Against pushing without memory nodes,
where every node computes and no list crosses."""
from slimgraph.lab.figures import Reference, bars
from slimgraph.lab.studies.support import (VERTEX_JOBS, emulation, groups_of_jobs, half, job_point,
                                           median_over, pair)
from slimgraph.lab.study import Study

SIDES = ["strict", "serve", "reduce", "auto"]
JOBS = VERTEX_JOBS | {
    "pagerank, 4 bytes": lambda g: VERTEX_JOBS["pagerank"](g) + ["--precision", "float"]}


def study(settings):
    nodes, compute = settings.nodes, half(settings)
    names = [f"{side} at {pair(nodes, compute)}" for side in SIDES]

    def points(graph, job):
        """First pushing, which is the baseline, and the better of both directions, on all nodes."""
        words = JOBS[job](graph)
        whole = [job_point(settings, words + ["--mode", mode], nodes, nodes, graph=graph,
                           label=f"{mode} at {pair(nodes, nodes)}") for mode in ("push", "auto")]
        return whole + [job_point(settings, words + ["--memory-side", side, "--edge-cache", "0"],
                                  nodes, compute, graph=graph, label=name)
                        for side, name in zip(SIDES, names)]

    def figure(results, graph, path, what):
        jobs = list(JOBS)

        def ratio(c, s):
            every = points(graph, jobs[c])
            return results.ratio(every[s + 1], every[0], path)
        plot = bars(f"{graph.name}: {what}", jobs, [f"auto at {pair(nodes, nodes)}", *names], ratio,
                    y_title=f"{what} over pushing at {pair(nodes, nodes)}", log_y=True,
                    references=[Reference(f"pushing at {pair(nodes, nodes)}", 1, 1)])
        plot.answer = median_over(
            plot.series[1 + SIDES.index("reduce")],
            f"Where memory nodes reduce, {what} is {{m}} times that of pushing on all {nodes} "
            "nodes (median of {n} applications, {l} to {h}).")
        return plot

    return Study(
        "memory-sides", "Memory nodes: what they do",
        "How many bytes cross, and how long does a job take, if memory nodes only hold lists, "
        "serve them, or reduce along them?",
        groups_of_jobs(settings, JOBS, points),
        lambda results: [figure(results, graph, *one) for graph in settings.graphs
                         for one in (("/traffic/bytes", "traffic"), ("/time/run_s", "time"))],
        [emulation(settings, nodes),
         "The edge cache has no room, so lists cross whenever they are read. Programs compute "
         "once."])
