"""The benefit of each cache for vertex programs, and how it depends on the edge cache's size."""
from slimgraph.lab.figures import Figure, Reference, bars
from slimgraph.lab.studies.support import (REPEATED, VERTEX_JOBS, emulation, groups_of_jobs, half,
                                           job_point, line, median, median_over)
from slimgraph.lab.study import Study

LEVELS = ["naive", "none", "bitmap", "index", "edge"]
BUDGETS = [100, 75, 50, 25, 10, 0]  # percent; first the baseline
# The dissertation's speed-ups (section 3.7.6): of each cache on top of the one before, and of all.
PAPER = {"bitmap": (1.24, 2.37), "index": (1.91, 4.62), "edge": (34, 177)}
PAPER_ALL = (164, 587)


def monotone(plot):
    """The number of programs for which each level is at least as fast as the one before."""
    return sum(all(mark.y.high >= 1 for series in plot.series[:-1] for mark in series.marks
                   if mark.x == c) for c in range(len(plot.categories)))


def study(settings):
    def points(graph, job, option, values):
        return [job_point(settings, VERTEX_JOBS[job](graph) + [option, value] +
                          (REPEATED if value != "naive" else []),
                          settings.nodes, half(settings), graph=graph, label=value)
                for value in values]

    def levels(graph, job):
        return points(graph, job, "--cache", LEVELS)

    def budgets(graph, job):
        return points(graph, job, "--edge-cache", [f"{percent}%" for percent in BUDGETS])

    def levels_figure(results, graph):
        jobs = list(VERTEX_JOBS)

        def ratio(c, s):
            every = levels(graph, jobs[c])
            before, after = (s, s + 1) if s < len(every) - 1 else (0, -1)
            return results.ratio(every[before], every[after], "/time/run_s")
        names = ["many lists at once", *(f"and the {level}" for level in LEVELS[2:]), "all of it"]
        plot = bars(f"{graph.name}: levels of caches", jobs, names, ratio, log_y=True,
                    y_title="times as fast as the level before; all: as naive fetching")
        plot.references = [
            Reference("the dissertation's range, of its own lists and caches", *found, series=s + 1)
            for s, found in enumerate([*PAPER.values(), PAPER_ALL])]
        plot.answer = median_over(
            plot.series[-1], "All caches make vertex programs {m} times as fast as naive fetching "
            f"({{l}} to {{h}}); each level is no slower than the one below, within the spread, for "
            f"{monotone(plot)} of {len(jobs)}.")
        return plot

    def budgets_figure(results, graph, path, what, y_title, factor):
        plot = Figure(f"{graph.name}: the edge cache's room and the {what}", kind="lines",
                      x_title="room for edges of memory nodes, % of what they take",
                      y_title=y_title)
        ratios = []
        for style, job in enumerate(VERTEX_JOBS):
            every = budgets(graph, job)
            plot.series.append(line(results, job, style, reversed(list(zip(BUDGETS, every))), path,
                                    factor))
            ratio = results.ratio(every[-1], every[0], path)
            ratios += [ratio.median] if ratio else []
        if ratios:
            plot.answer = (f"Without room for edges, {what} is {median(ratios)} times that with "
                           f"room for all (median of {len(ratios)} applications).")
        elif not plot.is_empty():
            plot.answer = f"No ratio can be given: with room for all edges, {what} is zero."
        return plot

    def figures(results):
        return [figure for graph in settings.graphs for figure in (
            levels_figure(results, graph),
            budgets_figure(results, graph, "/time/run_s", "time", "milliseconds", 1e3),
            budgets_figure(results, graph, "/traffic/bytes", "traffic", "MB between nodes", 1e-6))]

    groups = [group for pair in zip(groups_of_jobs(settings, VERTEX_JOBS, levels),
                                    groups_of_jobs(settings, VERTEX_JOBS, budgets))
              for group in pair]
    return Study(
        "caches", "Caches: what is kept of far memory",
        "How much faster do vertex programs become by each cache, and how large must the edge "
        "cache be?", groups, figures,
        [emulation(settings, settings.nodes),
         f"Half of {settings.nodes} nodes compute. Programs compute three times in a run, and the "
         "median is shown: the edge cache is warm by then."])
