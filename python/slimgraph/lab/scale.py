"""A page about `simulate scale`: engines on many simulated nodes. Passes its CSV on."""
import csv
import sys

from slimgraph.lab.experiment import write_file
from slimgraph.lab.figures import Figure, Mark, Series
from slimgraph.lab.page import Page, Section, to_html
from slimgraph.lab.spread import short_number, spread_of

# The title, the unit of the time, and what grows with the number of nodes, as the traffic shows.
WORKS = {
    "pagerank": ("PageRank", "a run of 20 iterations",
                 "in each iteration, a node sends a message to each other node, however few values "
                 "it has for it. With many nodes, this takes longer than the computation, and on a "
                 "slow network the latency of an iteration does."),
    "triangles": ("Triangles", "a run",
                  "with --fetch request, a compute node requests lists from each other node, each "
                  "of which has fewer and fewer of them. --fetch read takes the lists one-sided. "
                  "Idle engines also look at all other nodes for work that they can take over "
                  "(--steal off)."),
    "smallbank": ("SmallBank", "a run with as many transactions on each node",
                  "not the transactions, but the begin and the end of a run, for which each node "
                  "exchanges about eight messages with each other node. The shorter the run, the "
                  "more they count (--transactions)."),
}
TRAFFIC = [("Messages", "messages to send", "messages that a node sends", "messages_per_node"),
           ("One-sided operations", "one-sided operations", "operations of a node",
            "operations_per_node"),
           ("Bytes", "bytes to send and to read", "bytes that a node sends and reads",
            "bytes_per_node")]
SUMMARY = ["All times are simulated: nothing ran on so many nodes. A model of a network says how "
           "long messages and operations take, and figures measured on one node say how long "
           "computations take.",
           "All nodes compute. Traffic is counted in the run alone, without loading."]


def _by_network(points):
    lines = {}
    for point in points:
        lines.setdefault(point["network"], []).append(point)
    return lines


def _draw(title, points, y_title, name, answer):
    """A line for each network."""
    figure = Figure(title, answer, "lines", "nodes", y_title, log_x=True, log_y=True)
    for style, (network, line) in enumerate(_by_network(points).items()):
        marks = [Mark(one["nodes"], spread_of([one[name]])) for one in line if one[name] > 0]
        figure.series.append(Series(network, style, marks))
    return figure


def _times_in_words(points):
    words = []
    for network, line in _by_network(points).items():
        least = min(line, key=lambda point: point["simulated_ms"])
        first, last = line[0], line[-1]
        words.append(f"{network}: {first['simulated_ms']:.3g} ms on {first['nodes']} nodes, least "
                     f"{least['simulated_ms']:.3g} ms on {least['nodes']}, "
                     f"{last['simulated_ms']:.3g} ms on {last['nodes']}.")
    return " ".join(words)


def _section(work, points, command):
    title, unit, what_stops_it = WORKS[work]
    figures = [_draw("Simulated time", points, f"ms for {unit}", "simulated_ms",
                     _times_in_words(points))]
    first, last = points[0], max(points, key=lambda point: point["nodes"])
    for name, what, y_title, column in TRAFFIC:
        answer = (f"A node has {short_number(first[column])} {what} on {first['nodes']} nodes, and "
                  f"{short_number(last[column])} on {last['nodes']}.")
        figures.append(_draw(name, points, y_title, column, answer))
    return Section(
        work, title, f"How does the time of {unit} change with the number of nodes?",
        [f"What stops scaling: {what_stops_it}"],
        [figure for figure in figures if not figure.is_empty()],
        verified="The result of each point was the same as on the fewest nodes; SmallBank verifies "
        "its data.", commands=[command])


def scale_page(lines, path, command):
    """Writes the page about the CSV in `lines`, and prints them as they come. A work of fewer than
    two numbers of nodes has no plots. Nothing is written if no work has more."""
    told = []
    for line in lines:
        print(line, end="", flush=True)
        told.append(line)
    points = []
    for row in csv.DictReader(told):
        if row["outcome"] == "ok":
            points.append({name: value if name in ("work", "network") else int(value)
                           if name == "nodes" else float(value)
                           for name, value in row.items() if name != "outcome"})
    sections = []
    for work in WORKS:
        of_work = sorted((one for one in points if one["work"] == work),
                         key=lambda one: one["nodes"])
        if len({one["nodes"] for one in of_work}) > 1:
            sections.append(_section(work, of_work, command))
    if sections:
        write_file(path, to_html(Page("SlimGraph: simulated nodes", SUMMARY,
                                      [("command", command)], sections)))
        print(f"slimgraph: {path}", file=sys.stderr)
