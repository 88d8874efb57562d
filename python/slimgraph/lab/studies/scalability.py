"""Doubles both the nodes and the compute nodes: the same job on (2,1), (4,2) and (8,4)."""
from slimgraph.lab.figures import Reference, bars
from slimgraph.lab.studies.support import (ALL_JOBS, emulation, groups_of_jobs, job_point,
                                           median_over, repeated)
from slimgraph.lab.study import Study

NODES = [2, 4, 8]


def study(settings):
    jobs = list(ALL_JOBS)

    def points(graph, job):
        return [job_point(settings, repeated(job, graph), nodes, nodes // 2, NODES[-1], graph)
                for nodes in NODES]

    def figure(results, graph):
        def ratio(c, s):
            every = points(graph, jobs[c])
            return results.ratio(every[0], every[s + 1], "/time/run_s")
        plot = bars(f"{graph.name}: speed-up", jobs, ["(4,2)", "(8,4)"], ratio,
                    y_title="times as fast as (2,1)",
                    references=[Reference("as many times the nodes", times, times, series=s)
                                for s, times in enumerate((2, 4))])
        plot.answer = median_over(
            plot.series[1], "Four times the nodes make jobs {median:.2f} times as fast (median of "
            "{n} applications, {low:.2f} to {high:.2f}).")
        return plot

    return Study(
        "scalability", "Scalability: more nodes",
        "How much faster is a job on more nodes, half of which compute?",
        groups_of_jobs(settings, jobs, points),
        lambda results: [figure(results, graph) for graph in settings.graphs],
        [emulation(settings, NODES[-1])])
