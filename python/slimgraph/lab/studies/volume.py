"""The bytes that pattern mining moves per edge of the graph, by what it reuses."""
from dataclasses import replace

from slimgraph.lab.figures import NOT_ENOUGH, bars, over_marks
from slimgraph.lab.spread import short_number
from slimgraph.lab.studies.support import half, job_point, pair
from slimgraph.lab.study import Group, Study

REUSE = ["none", "chunk", "global"]
JOBS = {"triangle": lambda g: ["match", g.path, "--pattern", "triangle", "--no-formulae"],
        "diamond": lambda g: ["match", g.path, "--pattern", "diamond", "--no-formulae"],
        "4-motifs": lambda g: ["motifs", g.path, "-k", "4"]}


def study(settings):
    # The bytes are the same over any network, and runs are faster without emulation.
    settings = replace(settings, network="none")
    n, computes = settings.nodes, [settings.nodes, half(settings)]

    def points(graph, job, compute):
        return [job_point(settings, JOBS[job](graph) + ["--reuse", reuse], n, compute, graph=graph,
                          label=f"{pair(n, compute)} reuse {reuse}") for reuse in REUSE]

    def figure(results, graph, compute):
        jobs = list(JOBS)
        plot = bars(f"{graph.name} on {pair(n, compute)}", jobs,
                    ["no reuse", "within a chunk", "global"],
                    lambda c, s: results.of(points(graph, jobs[c], compute)[s], "/traffic/bytes",
                                            1 / graph.edges),
                    y_title="bytes per edge of the graph", log_y=True)
        without, reused = over_marks(plot.series[0]), over_marks(plot.series[2])
        plot.answer = NOT_ENOUGH if not (without and reused) else (
            f"With global reuse {short_number(reused.median)} bytes cross for each edge, without "
            f"any {short_number(without.median)} (median of {reused.samples} patterns).")
        return plot

    return Study(
        "volume", "Volume: what mining moves",
        "How many bytes cross between nodes for each edge of the graph, depending on which lists "
        "are reused?",
        [Group(f"{job} on {graph.name}", points(graph, job, compute), "/traffic/bytes")
         for graph in settings.graphs for job in JOBS for compute in computes],
        lambda results: [figure(results, graph, compute)
                         for graph in settings.graphs for compute in computes],
        ["Headers are counted. Patterns are matched by their plans, without formulae."])
