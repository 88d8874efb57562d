"""Carries out studies. In each round, every point runs next to the points that it is compared with,
until all medians are tight or the time is up. Earlier runs in the folder are reused."""
import sys
import time
from dataclasses import dataclass, field

from slimgraph.lab.child import run_child
from slimgraph.lab.failure import Failure
from slimgraph.lab.raw import RawRun, RunLog, parse_json
from slimgraph.lab.spread import format_seconds
from slimgraph.lab.study import Results, compare_results

LEAST_LIMIT_S = 10


@dataclass
class RunnerOptions:
    folder: str
    program: str  # what runs a point's words
    budget_s: float = 600  # including the time spent in this folder earlier
    rounds: int = 15  # the most per point
    launcher: list = field(default_factory=list)  # before the program; {nodes}: their number
    build: str = ""  # stamp of the program; runs of other builds are ignored
    head: dict = field(default_factory=dict)  # how each report of this program begins


@dataclass
class RunTotals:
    end: str = "tight"  # or "spent", "stopped"
    points: int = 0
    measured: int = 0  # points with at least one run
    runs: int = 0  # valid runs, including earlier ones
    earlier: int = 0  # valid runs from earlier invocations
    too_long: int = 0  # points whose runs took too long
    left_out: int = 0  # runs of another build or on other graphs
    spent_s: float = 0
    results: dict = field(default_factory=dict)  # by study


class _Runner:
    def __init__(self, studies, options):
        self.studies, self.options, self.totals = studies, options, RunTotals()
        self.logs, self.progress_shown = {}, False

    def run(self):
        for study in self.studies:
            self._load_earlier_runs(study)
        self.totals.points = sum(len(study.points()) for study in self.studies)
        while (step := self._next_step()) is not None:
            if self.totals.spent_s >= self.options.budget_s:
                self.totals.end = "spent"
                break
            self._show(*step)
            if not self._run_point(step[0], step[2]):
                self.totals.end = "stopped"
                break
        if self.progress_shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        for study in self.studies:
            self.logs[study.name].close()
            results = self.totals.results[study.name]
            compare_results(study, results)
            self.totals.measured += sum(
                results.rounds(point.line) > 0 for _, point in study.points())
        return self.totals

    def _load_earlier_runs(self, study):
        self.logs[study.name] = log = RunLog(self.options.folder, study.name)
        results = self.totals.results[study.name] = Results()
        inputs = {point.line: point.inputs for _, point in study.points()}
        for run in log.runs:
            if run.point not in inputs:
                continue
            if run.build != self.options.build or run.inputs != inputs[run.point]:
                self.totals.left_out += 1
                continue
            self.totals.spent_s += run.seconds
            self.totals.runs += 1
            self.totals.earlier += 1
            results.add(run.point, run.report, run.verified)

    def _is_done(self, study, group):
        results = self.totals.results[study.name]

        def done(point):
            if point.line in results.failures or \
                    results.rounds(point.line) >= self.options.rounds:
                return True
            spread = results.of(point, group.measure)
            return spread is not None and (group.once or spread.is_tight())
        return all(map(done, group.points))

    def _next_step(self):
        """The next point to run: from the group with the fewest rounds, unless its medians are
        tight. None when all groups are done."""
        step, fewest = None, self.options.rounds
        for study in self.studies:
            results = self.totals.results[study.name]
            for group in study.groups:
                left = [point for point in group.points if point.line not in results.failures]
                rounds = min((results.rounds(point.line) for point in left), default=fewest)
                if rounds < fewest and not self._is_done(study, group):
                    point = next(one for one in left if results.rounds(one.line) == rounds)
                    step, fewest = (study, group, point), rounds
        return step

    def _show(self, study, group, point):
        """Shows a progress line if standard error is a terminal."""
        if not sys.stderr.isatty():
            return
        self.progress_shown = True
        measured = tight = 0
        for one in self.studies:
            results = self.totals.results[one.name]
            measured += sum(results.rounds(of.line) > 0 or of.line in results.failures
                            for _, of in one.points())
            tight += sum(len(of.points) for of in one.groups if self._is_done(one, of))
        number = self.totals.results[study.name].rounds(point.line) + 1
        left_s = format_seconds(max(0.0, self.options.budget_s - self.totals.spent_s))
        print(f"\r\x1b[Kexperiment: {measured} of {self.totals.points} points measured, {tight} "
              f"tight; {study.name}: {group.name} {point.label}, round {number}; at most {left_s} "
              "left", end="", file=sys.stderr, flush=True)

    def _words_of(self, point, *more):
        launcher = [str(point.nodes) if word == "{nodes}" else word
                    for word in self.options.launcher]
        words = [*launcher, point.program or self.options.program, *point.words, "--json", *more]
        if point.at_once:
            return [sys.executable, "-m", "slimgraph.lab", "beside", str(point.at_once), *words]
        return words

    def _verify(self, point, results):
        """Verifies the point with a separate run before the measured ones. Returns False if a
        signal asks to stop."""
        left_s = max(0.0, self.options.budget_s - self.totals.spent_s)
        end = run_child(self._words_of(point, "--verify"), left_s)
        if end.stopped:
            return False
        self.totals.spent_s += end.seconds
        if end.timed_out:
            return True  # not verified; the page says so
        if end.code == 0:
            results.verified.add(point.line)
        else:
            results.failures[point.line] = end.last_line
        return True

    def _run_point(self, study, point):
        """Returns False if a signal asks to stop."""
        results, line = self.totals.results[study.name], point.line
        if point.can_verify() and results.rounds(line) == 0 and line not in results.verified:
            if not self._verify(point, results):
                return False
            if line in results.failures:
                return True
        began = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        # A point that takes too long must not use up the time of all others.
        left_s = self.options.budget_s - self.totals.spent_s
        limit_s = min(left_s, max(LEAST_LIMIT_S, left_s / 4))
        end = run_child(self._words_of(point), limit_s)
        if end.stopped:
            return False
        self.totals.spent_s += end.seconds
        if end.timed_out:
            # If only the remaining budget cut the run off, the point counts as not reached.
            if limit_s < left_s or self.totals.runs == 0:
                self.totals.too_long += 1
                results.failures[line] = (f"not done in {format_seconds(limit_s)}; a larger "
                                          "--budget allows more time")
            return True
        text = end.out.rstrip("\n")
        if end.code != 0:
            results.failures[line] = end.last_line
            return True
        try:
            report = parse_json(text, "what it printed")
        except Failure as failure:
            results.failures[line] = str(failure)
            return True
        run = RawRun(study.name, line, self.options.build, point.inputs, began, end.seconds,
                     line in results.verified)
        self.logs[study.name].add(self.options.head, run, text)
        self.totals.runs += 1
        results.add(line, report)
        return True


def run_studies(studies, options):
    """Runs until all medians are tight, the budget is spent, or a signal asks to stop. Fails if
    runs cannot be stored; runs stored before are kept."""
    return _Runner(studies, options).run()
