"""The overhead of supporting disaggregation when nothing is disaggregated: (N,N) against the same
engines built without the code for memory nodes."""
from dataclasses import replace

from slimgraph.lab.figures import Reference, bars
from slimgraph.lab.studies.support import (ALL_JOBS, emulation, groups_of_jobs, job_point,
                                           median_over, pair, repeated)
from slimgraph.lab.study import Study


def study(settings):
    n = settings.nodes
    jobs = list(ALL_JOBS)

    def points(graph, job):
        full = job_point(settings, repeated(job, graph), n, n, graph=graph)
        return [replace(full, label="plain", program=settings.plain_program,
                        inputs=full.inputs + settings.plain_build), full]

    def figure(results, graph):
        def ratio(c, _):
            plain, full = points(graph, jobs[c])
            return results.ratio(full, plain, "/time/run_s")
        shown = bars(f"{graph.name}: time", jobs, [pair(n, n)], ratio,
                     y_title="time over that of the plain engine",
                     references=[Reference("no difference", 1, 1)])
        alike = sum(mark.y.low <= 1 <= mark.y.high for mark in shown.series[0].marks)
        shown.answer = median_over(
            shown.series[0], pair(n, n) + " takes {median:.3f} times as long as without delegation "
            "(median of {n} applications, {low:.3f} to {high:.3f}); " + f"{alike} of them differ "
            "by no more than their spread.")
        return shown

    return Study(
        "overall", "Overall: the overhead of memory-node support",
        "What does disaggregation cost when nothing is disaggregated?",
        groups_of_jobs(settings, jobs, points),
        lambda results: [figure(results, graph) for graph in settings.graphs],
        [emulation(settings, n), "The plain engine is the same code, built by `make plain` without "
         "what works for memory nodes."])
