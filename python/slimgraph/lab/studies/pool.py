"""Graphs that stand in a pool, against batch jobs that load them: the time until a job computes,
the time that it computes, what it reads, and jobs side by side."""
from dataclasses import replace

from slimgraph.lab.figures import Figure, Reference, bars
from slimgraph.lab.graphs import POOL, name_in_pool
from slimgraph.lab.studies.support import (ALL_JOBS, VERTEX_JOBS, emulation, groups_of_jobs, half,
                                           job_point, line, median_over, pair)
from slimgraph.lab.study import Group, Study

SIDE_BY_SIDE = "pagerank"
JOBS_PER_S = "/result/jobs_per_s"
TRAFFIC = "/traffic/payload_bytes"


def in_pool(graph):
    """The graph as jobs name it that attach to it."""
    return replace(graph, path=f"{POOL}:{name_in_pool(graph)}")


def study(settings):
    settings = replace(settings, limited=False, node_memory=0)
    computes = sorted({1, half(settings)})
    shapes = {compute: pair(settings.nodes + compute, compute) for compute in computes}
    names = [f"{kind} {shapes[compute]}" for compute in computes for kind in ("batch", "pool")]

    def both(graph, words_of, compute):
        """The same job on as many memory nodes: one that loads, and one that attaches."""
        batch = job_point(settings, words_of(graph), settings.nodes + compute, compute, graph=graph)
        attached = job_point(settings, words_of(in_pool(graph)), 0, compute, graph=graph)
        at = attached.words.index("--nodes")
        del attached.words[at:at + 2]
        return [replace(batch, label=f"batch {shapes[compute]}"),
                replace(attached, label=f"pool {shapes[compute]}", nodes=compute)]

    def points(graph, job):
        return [point for compute in computes for point in both(graph, ALL_JOBS[job], compute)]

    def over_tcp(graph, job):
        """A batch job, and one on the pool, where jobs share a cache of their host."""
        batch, attached = both(graph, ALL_JOBS[job], 1)[:2]
        return [replace(point, words=[*point.words, "--transport", "tcp"],
                        label=f"{point.label} over tcp") for point in (batch, attached)]

    def side_by_side(graph):
        """Pairs (jobs, point), of batch jobs and of those on the pool."""
        kinds = []
        for point in both(graph, VERTEX_JOBS[SIDE_BY_SIDE], 1):
            kinds.append([(jobs, replace(point, label=f"{jobs} x {point.label}", at_once=jobs))
                          for jobs in ((1, 2) if settings.small else (1, 2, 4, 8))])
        return kinds

    def loading(results, graph):
        jobs = list(ALL_JOBS)
        plot = bars(f"{graph.name}: time until a job computes", jobs, names,
                    lambda c, s: results.of(points(graph, jobs[c])[s], "/time/load_s", 1e3),
                    y_title="milliseconds", log_y=True)
        ratios = bars("", jobs, [""], lambda c, _: results.ratio(
            *reversed(points(graph, jobs[c])[:2]), "/time/load_s"))
        plot.answer = median_over(
            ratios.series[0], "Attaching with one compute node takes {m} times as long as loading "
            "(median of {n} applications, {l} to {h}).")
        return plot

    def reading(results, graph):
        jobs = list(ALL_JOBS)
        plot = bars(f"{graph.name}: what crosses the fabric over tcp, one compute node", jobs,
                    ["batch", "pool, with a cache of the host"],
                    lambda c, s: results.of(over_tcp(graph, jobs[c])[s], TRAFFIC, 1e-6),
                    y_title="megabytes")
        ratios = bars("", jobs, [""], lambda c, _: results.ratio(
            *reversed(over_tcp(graph, jobs[c])), TRAFFIC))
        plot.answer = median_over(
            ratios.series[0], "A job on the pool moves {m} times the bytes of a batch job if its "
            "host has a cache and ran it before (median of {n} applications, {l} to {h}).")
        return plot

    def running(results, graph):
        jobs = list(ALL_JOBS)

        def ratio(c, s):
            every = points(graph, jobs[c])
            return results.ratio(every[2 * s + 1], every[2 * s], "/time/run_s")
        plot = bars(f"{graph.name}: time of the computation", jobs,
                    [f"pool {shapes[compute]}" for compute in computes], ratio,
                    y_title="over that of the batch job", references=[Reference("batch", 1, 1)])
        plot.answer = median_over(
            plot.series[0], "On the pool, one compute node takes {m} times as long as in a batch "
            "job, where it has a part of the graph of its own (median of {n} applications, {l} to "
            "{h}).")
        return plot

    def beside(results, graph):
        batch, pool = side_by_side(graph)
        plot = Figure(f"{graph.name}: {SIDE_BY_SIDE} side by side", kind="lines",
                      x_title="jobs at once", y_title="jobs a second, from start to end",
                      series=[line(results, "batch", 0, batch, JOBS_PER_S),
                              line(results, "pool", 1, pool, JOBS_PER_S)])
        ratio = results.ratio(pool[-1][1], batch[-1][1], JOBS_PER_S)
        if ratio:
            plot.answer = (f"{batch[-1][0]} jobs at once on one pool are {ratio.median:.2g} times "
                           "as fast as batch jobs, each with memory nodes of its own.")
        return plot

    return Study(
        "pool", "A standing pool: graphs that are loaded once",
        "What does a job gain from a graph that stands in memory?",
        [replace(group, measure="/time/load_s")
         for group in groups_of_jobs(settings, ALL_JOBS, points)] +
        [Group(f"{job} over tcp on {graph.name}", over_tcp(graph, job), TRAFFIC)
         for graph in settings.graphs for job in ALL_JOBS] +
        [Group(f"{SIDE_BY_SIDE} side by side on {graph.name}",
               [point for kind in side_by_side(graph) for _, point in kind], JOBS_PER_S)
         for graph in settings.graphs],
        lambda results: [figure(results, graph) for graph in settings.graphs
                         for figure in (loading, reading, running, beside)],
        [emulation(settings, settings.nodes + computes[-1], "the nodes of a pool have none"),
         f"The pool has {settings.nodes} nodes; a batch job has as many memory nodes."])
