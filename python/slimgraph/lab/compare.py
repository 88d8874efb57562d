"""What has changed between two sets of runs, beyond the noise between runs of the same set."""
import math
from dataclasses import dataclass, field

from slimgraph.lab.failure import INPUT, Failure
from slimgraph.lab.raw import read_runs
from slimgraph.lab.reports import answers_of, find, is_number, measures_of
from slimgraph.lab.spread import Spread, parse_bytes, plain_number, spread_of

BETTER, WORSE, ANSWER = "better", "worse", "answer"  # answer: the result itself differs
WHERE = ("json", "output", "trace", "history")  # options that do not identify a run
ROW_OF_SWEEP = ("/over", "/value", "/workload", "/protocol")


@dataclass
class Change:
    kind: str
    point: str  # which run: the command and its options
    measure: str  # a path in the report, such as time/run_s
    before: Spread
    after: Spread
    by: float = 0  # relative change of the median: 0.1 for a tenth more

    def fails(self, threshold):
        return self.kind == ANSWER or (self.kind == WORSE and abs(self.by) > threshold)


@dataclass
class Comparison:
    points: int = 0  # that both sets have
    measures: int = 0  # of these points, in total
    only_before: list = field(default_factory=list)
    only_after: list = field(default_factory=list)
    other_options: bool = False  # two single runs with different options
    single_runs: bool = False  # some points have one run, so their noise is unknown
    changes: list = field(default_factory=list)

    def failures(self, threshold):
        """The number of measures that are worse by more than `threshold`, plus changed answers."""
        return sum(change.fails(threshold) for change in self.changes)


def _has_all_options(report):
    """Reports of schema 1 have the given options alone, as texts; those of schema 2 have all
    options with their types, and name the given ones."""
    return (report.get("schema") or 0) >= 2


def _text(value):
    if isinstance(value, str):
        return value
    return plain_number(value) if is_number(value) else "true" if value is True else "false"


def _without_folders(words):
    """Removes folders from paths, because each experiment has its graphs in its own folder."""
    return " ".join(word.rpartition("/")[2] for word in words.split(" "))


def _name_of(run):
    report = run.report
    if run.point:
        return f"{run.study}: {_without_folders(run.point)}"
    name = report.get("command", "")
    for option, value in (report.get("options") or {}).items():
        given = option in report.get("given", []) if _has_all_options(report) \
            else isinstance(value, str)
        if given and option not in WHERE:
            name += f" {option}={_without_folders(_text(value))}"
    if report.get("over"):  # a row of `txn sweep`
        name += " {workload} {protocol} {over}={value}".format_map(report)
    return name


def _same_value(old, new):
    """Whether an option of a report of schema 1 has the value that one of schema 2 has."""
    text = _without_folders(_text(old))
    return text == _without_folders(_text(new)) or (is_number(new) and parse_bytes(text) == new)


def _same_run(old, new):
    """Whether a report of schema 1 and one of schema 2 are of the same command and options."""
    if old.get("command") != new.get("command") or \
            any(find(old, path) != find(new, path) for path in ROW_OF_SWEEP):
        return False
    before, after = old.get("options"), new.get("options")
    if before is None or after is None:
        return before is after
    return all(option in after and _same_value(value, after[option])
               for option, value in before.items() if option not in WHERE) and \
        all(option in before for option in new.get("given", [])
            if option not in WHERE and option in after)


def _same_point(name, reports, other, others):
    if name == other:
        return True
    a, b = reports[0], others[0]
    if _has_all_options(a) == _has_all_options(b):
        return False
    return _same_run(a, b) if _has_all_options(b) else _same_run(b, a)


def _read_points(path):
    """All reports of each point, by its name."""
    points = {}
    for run in read_runs(path):
        points.setdefault(_name_of(run), []).append(run.report)
    if not points:
        raise Failure(INPUT, f"{path}: it contains no run")
    return points


def _gather(reports):
    """Each measure's samples, and whether less is better. If there are several runs, each counts as
    one sample."""
    every = {}
    for report in reports:
        for one in measures_of(report):
            less, samples = every.setdefault(one.path, (one.less_is_better, []))
            samples += one.samples if len(reports) == 1 else [spread_of(one.samples).median]
    return every


def _compare_points(name, before, after, threshold, to):
    to.points += 1
    theirs = _gather(after)
    for path, (less_is_better, samples) in sorted(_gather(before).items()):
        if path not in theirs:
            continue
        to.measures += 1
        a, b = spread_of(samples), spread_of(theirs[path][1])
        single = 1 in (a.samples, b.samples)
        to.single_runs |= single
        by = b.median / a.median - 1 if a.median else math.inf
        if a.overlaps(b) or (single and abs(by) <= threshold):
            continue
        kind = BETTER if (b.median < a.median) == less_is_better else WORSE
        to.changes.append(Change(kind, name, path, a, b, by))


def _compare_answers(name, before, after, to):
    for path in ("/graph/vertices", "/graph/edges", "/graph/directed"):
        if find(before, path) != find(after, path):
            return
    answers = answers_of(after)
    for path, value in answers_of(before).items():
        # Sums of floating-point numbers depend on their order, which depends on the nodes.
        if path in answers and abs(value - answers[path]) > 1e-6 * max(abs(value),
                                                                       abs(answers[path])):
            to.changes.append(Change(ANSWER, name, path, spread_of([value]),
                                     spread_of([answers[path]])))


def compare(before, after, threshold):
    """`before` and `after` are files with one report or with one JSON object per line, or folders
    of an experiment. Runs are matched by command and options; two files of one run each always
    match. For points with a single run, changes up to `threshold` are ignored."""
    a, b = _read_points(before), _read_points(after)
    two_runs = len(a) == 1 and len(b) == 1
    found = Comparison(other_options=two_runs and list(a) != list(b) and not _same_point(
        *next(iter(a.items())), *next(iter(b.items()))))

    def partner(name, reports, others):
        if name in others:  # the quick way to what _same_point finds too
            return name
        return next((other for other, theirs in others.items()
                     if two_runs or _same_point(name, reports, other, theirs)), None)

    for name, reports in a.items():
        other = partner(name, reports, b)
        if other is None:
            found.only_before.append(name)
            continue
        _compare_points(other, reports, b[other], threshold, found)
        _compare_answers(other, reports[0], b[other][0], found)
    found.only_after = [name for name, reports in b.items() if partner(name, reports, a) is None]
    if found.points == 0:
        raise Failure(INPUT, f"{before} and {after} have no run in common: no command with the "
                      "same options")
    return found


def _spread_in_words(spread):
    if spread.samples == 1:
        return f"{spread.median:.6g}"
    return f"{spread.median:.4g} ({spread.low:.4g}..{spread.high:.4g} of {spread.samples})"


def describe(found, threshold):
    lines = ["the two runs have different options"] * found.other_options
    for change in found.changes:
        kind = "DIFFERS" if change.kind == ANSWER else \
            "WORSE" if change.fails(threshold) else change.kind
        by = "" if change.kind == ANSWER else f", {change.by * 100:+.1f} %"
        lines += [f"{kind:<8}{change.point}", f"        {change.measure}: "
                  f"{_spread_in_words(change.before)} -> {_spread_in_words(change.after)}{by}"]
    lines += [f"only before: {point}" for point in found.only_before]
    lines += [f"only after:  {point}" for point in found.only_after]
    if found.single_runs:
        lines.append("some points were run once, so their noise is unknown: only changes beyond "
                     "the threshold are listed")
    lines.append(f"{found.points} points, {found.measures} measures: {len(found.changes)} changed, "
                 f"{found.failures(threshold)} worse by more than {threshold * 100:g} %")
    return "\n".join(lines) + "\n"


def as_report(found, threshold):
    return {"points": found.points, "measures": found.measures,
            "failures": found.failures(threshold), "changed": len(found.changes),
            "changes": [{"kind": change.kind, "point": change.point, "measure": change.measure,
                         "by": change.by if math.isfinite(change.by) else None,
                         "before": vars(change.before), "after": vars(change.after)}
                        for change in found.changes]}
