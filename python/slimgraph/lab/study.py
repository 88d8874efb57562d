"""A study: runs of slimgraph that answer one question, each given by its command line, and figures
of their reports."""
import re
from dataclasses import dataclass, field
from typing import Callable

from slimgraph.lab.reports import find, value_at
from slimgraph.lab.spread import spread_of

# The commands that have --verify, except those whose counts are compared with each other.
CAN_VERIFY = {"bfs", "khop", "sssp", "pagerank", "cc", "bc", "cdlp", "kcore", "mis", "local", "lcc",
              "ktruss"}
PLAIN_WORD = re.compile(r"""[^\s'"\\$&|;<>()*?\[\]#~`!{}]+""")


@dataclass
class Graph:
    path: str
    name: str  # the file's name without folder and ".slim"
    stamp: str  # changes when the file changes
    source: str  # the original id of the vertex of highest degree, where searches start
    edges: int = 0
    directed: bool = False
    weighted: bool = False
    store: str = ""  # a store of the same graph, for transactions; "": none


@dataclass
class Settings:
    """What all studies are measured with."""
    graphs: list = field(default_factory=list)
    small: bool = False
    nodes: int = 4
    threads: int = 1
    network: str = "fdr"
    transport: str = ""  # "": the default
    limited: bool = False  # whether nodes can be limited to shares of a processor
    processors: float = 1  # that the nodes share; 0: nodes are those of a launcher
    node_memory: int = 0  # 0: no limit
    plain_program: str = ""  # slimgraph whose engines are built without memory nodes
    plain_build: str = ""  # its stamp; "": it does not exist


def quoted(words):
    """As typed in a shell."""
    return " ".join(word if PLAIN_WORD.fullmatch(word) else "'" + word.replace("'", "'\\''") + "'"
                    for word in words)


@dataclass
class Point:
    label: str  # such as "(4,2)"
    words: list  # the command line, without the program and --json
    nodes: int = 1  # that the point asks for; a launcher must start as many
    inputs: str = ""  # stamp of its graph's file; runs on another are ignored
    program: str = ""  # instead of slimgraph itself
    at_once: int = 0  # so many such jobs at the same time (beside.py)

    @property
    def line(self):
        """As typed in a shell, without slimgraph; identifies a point."""
        return self._times + " ".join(filter(None, [self.program, quoted(self.words)]))

    @property
    def command(self):
        return f"{self._times}{self.program or 'slimgraph'} {quoted(self.words)}"

    @property
    def _times(self):
        return f"{self.at_once} at once: " if self.at_once else ""

    def can_verify(self):
        return bool(self.words) and self.words[0] in CAN_VERIFY

    def question(self):
        """What is counted on which graph: the words before the first long option, which include -k,
        and the options that choose the pattern."""
        first = next((i for i, word in enumerate(self.words) if word.startswith("--")),
                     len(self.words))
        chosen = [part for name in ("--pattern", "--induced") if name in self.words[first:-1]
                  for part in (name, self.words[self.words.index(name, first) + 1])]
        return " ".join(self.words[:first] + chosen)


@dataclass
class Group:
    """Points that are compared with each other. Each runs once per round, so all of them meet the
    same state of the machine. The first is the baseline."""
    name: str
    points: list
    measure: str = "/time/run_s"  # runs repeat until its median is tight
    once: bool = False  # each point gives the same figures at each run, and runs once


@dataclass
class Study:
    name: str
    title: str
    question: str
    groups: list
    figures: Callable  # of the Results: a list of Figures
    notes: list = field(default_factory=list)  # how the runs were done

    def points(self):
        return [(group, point) for group in self.groups for point in group.points]


class Results:
    """What was measured at the points of a study, by their lines."""

    def __init__(self):
        self.all_reports = {}  # in the order of the rounds
        self.failures = {}  # why a point has no reports
        self.verified = set()

    def reports(self, line):
        return self.all_reports.get(line, [])

    def rounds(self, line):
        return len(self.reports(line))

    def add(self, line, report, verified=False):
        """`verified`: an earlier run has verified the point."""
        if verified or report.get("verified") is True:
            self.verified.add(line)
        self.all_reports.setdefault(line, []).append(report)

    def of(self, point, path, factor=1):
        """The spread of the number at `path` (see value_at), or None."""
        values = [value_at(report, path) for report in self.reports(point.line)]
        samples = [value * factor for value in values if value is not None]
        return spread_of(samples) if samples else None

    def ratio(self, point, baseline, path):
        """The spread of the ratios to the baseline, taken round by round, so that disturbances of
        both cancel; None without a baseline other than zero."""
        ratios = []
        for report, base in zip(self.reports(point.line), self.reports(baseline.line)):
            value, base = value_at(report, path), value_at(base, path)
            if value is not None and base:
                ratios.append(value / base)
        return spread_of(ratios) if ratios else None


def compare_results(study, results):
    """Points that count the same on the same graph with different settings must agree. If they
    agree, they verify each other; otherwise all of them fail, and their reports are removed."""
    asked = {}
    for _, point in study.points():
        reports = results.reports(point.line)
        if reports and _count_of(reports[0]) is not None:
            asked.setdefault(point.question(), {})[point.line] = reports
    for question, lines in asked.items():
        counts = [_count_of(report) for reports in lines.values() for report in reports]
        for line in lines:
            if any(count != counts[0] for count in counts):
                results.failures[line] = f"runs of {question} count differently"
                del results.all_reports[line]
            elif len(lines) > 1:
                results.verified.add(line)


def _count_of(report):
    one = find(report, "/result/count")
    return one if one is not None else find(report, "/result/counts")


def verified_in_words(study, results):
    measured = {point.line for _, point in study.points() if results.rounds(point.line)}
    return (f"{len(measured & results.verified)} of {len(measured)} measured points were verified, "
            "outside the measured time.")
