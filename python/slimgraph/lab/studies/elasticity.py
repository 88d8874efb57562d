"""The cost of fewer compute nodes: all applications at (N, C) for C = N … 1. Vertex programs also
where caches do not help: cold, and with an edge cache that holds 5 % of the far edges."""
from slimgraph.lab.figures import NOT_ENOUGH, Reference, bars, over_marks
from slimgraph.lab.spread import short_number, spread_of
from slimgraph.lab.studies.support import (ALL_JOBS, REPEATED, VERTEX_JOBS, emulation,
                                           groups_of_jobs, job_point, pair)
from slimgraph.lab.study import Study

PAPER_WORST = 8.3  # the dissertation's largest slowdown of a vertex program from (4,4) to (4,2)
# The options that make a run warm, cold or short of cache. Mining computes once and has no caches
# that outlive a computation, so all its runs are of the first kind.
KINDS = {"warm": REPEATED, "cold": [], "5 %": ["--edge-cache", "5%", *REPEATED]}
OTHERS = [("seconds", "the time", "seconds", "/time/run_s", 1),
          ("bytes that cross between nodes", "the bytes", "MB", "/traffic/bytes", 1e-6),
          ("largest memory of a node", "the memory", "MB", "/memory/peak_bytes", 1e-6),
          ("processor time of all nodes, with loading", "the processor time", "seconds", "/cpu_s",
           1)]
TITLES = {"warm": "", "cold": ", cold", "5 %": ", edge cache of 5 %"}


def growth(plot, what, nodes):
    """What one compute node takes in proportion to what all take. There is no ratio for
    applications that take nothing in one of the two."""
    whole = {mark.x: mark.y.median for mark in plot.series[0].marks}
    pairs = [(mark.y.median, whole[mark.x]) for mark in plot.series[-1].marks if mark.x in whole]
    ratios = [one / every for one, every in pairs if one > 0 and every > 0]
    none = sum(one == 0 for one, _ in pairs)
    only_one = sum(one > 0 and every == 0 for one, every in pairs)
    parts = []
    if ratios:
        parts.append(f"takes {short_number(spread_of(ratios).median)} times {what} of all {nodes} "
                     f"(median of {len(ratios)} applications)")
    if none:
        parts.append(f"takes none of {what} in {none} application{'s' * (none != 1)}")
    if only_one:
        parts.append(f"takes some of {what} in {only_one} where all {nodes} take none")
    return f"One compute node of {nodes} {', and '.join(parts)}." if parts else NOT_ENOUGH


def slowdown_in_words(plot, nodes):
    parts = []
    for s, series in reversed(list(enumerate(plot.series))):
        found, ideal = over_marks(series), nodes / (nodes - 1 - s)
        if found:
            median, low, high = (value / ideal for value in (found.median, found.low, found.high))
            parts.append(f" {series.name} takes {median:.2f} x ({low:.2f} to {high:.2f} over "
                         f"{found.samples} applications)")
    return f"Against N/C times the time of {pair(nodes, nodes)},{';'.join(parts)}." if parts \
        else NOT_ENOUGH


def study(settings):
    n = settings.nodes
    computes = list(range(n, 0, -1))
    pairs = [pair(n, c) for c in computes]

    def row(graph, job, kind):
        """The points at C = N … 1. Without memory nodes nothing is cached, so the baseline of runs
        with a small cache is that of warm ones."""
        points = []
        for c in computes:
            small = kind == "5 %" and c < n
            more = KINDS["warm" if kind == "5 %" and not small else kind]
            words = ALL_JOBS[job](graph) + (more if job in VERTEX_JOBS else [])
            label = pair(n, c) + (f" {kind}" if kind == "cold" or small else "")
            points.append(job_point(settings, words, n, c, graph=graph, label=label))
        return points

    def points(graph, job):
        every = row(graph, job, "warm")
        if job in VERTEX_JOBS:
            every += row(graph, job, "cold") + row(graph, job, "5 %")[1:]
        return every

    def slowdown(results, graph, kind, jobs):
        def ratio(c, s):
            points = row(graph, jobs[c], kind)
            return results.ratio(points[s + 1], points[0], "/time/run_s")
        plot = bars(f"{graph.name}: time{TITLES[kind]}", jobs, pairs[1:], ratio,
                    y_title=f"time over {pairs[0]}")
        for s, series in enumerate(plot.series):
            series.style += 1
            plot.references.append(Reference("N/C", n / computes[s + 1], n / computes[s + 1],
                                             series=s))
            if series.name == pair(4, 2) and kind == "warm":
                plot.references += [Reference(
                    "the dissertation's worst at (4,2), of its own lists", PAPER_WORST, PAPER_WORST,
                    job, s) for job in range(len(VERTEX_JOBS))]
        plot.answer = slowdown_in_words(plot, n)
        return plot

    def other(results, graph, kind, jobs, title, what, y_title, path, factor):
        plot = bars(f"{graph.name}: {title}{TITLES[kind]}", jobs, pairs,
                    lambda c, s: results.of(row(graph, jobs[c], kind)[s], path, factor),
                    y_title=y_title, log_y=True)
        plot.answer = growth(plot, what, n)
        return plot

    def figures(results):
        every = []
        for graph in settings.graphs:
            for kind in KINDS:
                jobs = list(ALL_JOBS if kind == "warm" else VERTEX_JOBS)
                every.append(slowdown(results, graph, kind, jobs))
                every += [other(results, graph, kind, jobs, *one) for one in OTHERS
                          if kind == "warm" or one[3] == "/traffic/bytes"]
        return every

    return Study(
        "elasticity", "Elasticity: fewer compute nodes",
        f"How much longer does a job take on C of {n} nodes than on all of them, and what else "
        "does it take?", groups_of_jobs(settings, ALL_JOBS, points), figures,
        [emulation(settings, n), "Vertex programs compute three times in a run, and the median is "
         "shown: caches are warm by then. Mining computes once.",
         "Cold runs compute once, with empty caches. With an edge cache of 5 %, a compute node "
         "keeps 5 % of the edges that memory nodes hold for it, and programs compute three times."])
