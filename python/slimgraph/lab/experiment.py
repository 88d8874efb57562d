"""A whole experiment: inspects the graphs, carries out the studies, and writes the results into a
folder: index.html, raw/*.jsonl, summary.json, svg/*.svg, csv/*.csv."""
import contextlib
import json
import os
import re
from dataclasses import dataclass, field

from slimgraph.lab.child import StopSignals
from slimgraph.lab.failure import Failure, os_failure
from slimgraph.lab.graphs import (StandingPool, inspect_graphs, machine_facts, make_graph,
                                  make_store, name_in_pool, processors, stamp)
from slimgraph.lab.runner import RunnerOptions, run_studies
from slimgraph.lab.spread import format_seconds
from slimgraph.lab.studies import make, makers
from slimgraph.lab.study import Settings, quoted, verified_in_words

ON_STORES = ("updates", "elastic-updates", "all")
ON_POOLS = ("pool", "all")
HOW_TO_READ = ("Plots show medians, each with the range that contains the true median with a "
               "probability of 0.9 (with fewer than five runs: the range of all). Ratios are of "
               "runs that followed each other.")


@dataclass
class Outcome:
    totals: object
    page: str  # the file's path
    answers: list = field(default_factory=list)  # a line for each figure
    warnings: list = field(default_factory=list)  # reasons to doubt the answers
    result: dict = field(default_factory=dict)  # for programs


def write_file(path, text):
    """Writes a file that is complete whenever it can be seen."""
    new = f"{path}.{os.getpid()}.new"
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(new, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(new, path)
    except OSError as reason:
        if os.path.exists(new):
            os.remove(new)
        raise os_failure(f"cannot write {path}", reason) from None


def _settings(options, program, graphs, limits_refused, outcome_warnings):
    """`limits_refused`: why control groups cannot be made; "" if they can."""
    launcher = options.get("launcher", "")
    settings = Settings(
        graphs, options["small"], options["nodes"], options["threads"], options["network"],
        options.get("transport", ""), processors=0 if launcher else processors(),
        node_memory=options.get("node-memory", 0))
    settings.plain_program = options.get("plain") or os.path.join(os.path.dirname(program),
                                                                  "plain/slimgraph")
    if os.path.exists(settings.plain_program):
        settings.plain_build = stamp(settings.plain_program)
    if not launcher and not options["no-shares"]:
        settings.limited = not limits_refused
        if limits_refused:
            settings.node_memory = 0
            outcome_warnings.append(f"{limits_refused}; nodes run without limits")
    return settings


def _section(study, results):
    from slimgraph.lab.page import Section
    section = Section(study.name, study.title, study.question, study.notes,
                      [figure for figure in study.figures(results) if not figure.is_empty()],
                      verified=verified_in_words(study, results))
    reported, not_reached = set(), 0
    for group, point in study.points():
        measured = results.rounds(point.line) > 0
        unsure = measured and point.line not in results.verified
        section.commands.append(point.command + "  # not verified" * unsure)
        if point.line in results.failures:
            why = results.failures[point.line]
            kind = re.sub(r"\d", "", why)  # those that differ only in numbers are reported once
            if kind not in reported:
                section.missing.append(f"{group.name}, {point.label}: {why}")
            reported.add(kind)
        else:
            not_reached += not measured
    if not_reached:
        section.missing.append(
            f"{not_reached} point{'s' * (not_reached != 1)}, because the budget was spent; the "
            "same command with a larger --budget measures the rest")
    return section


def _end_in_words(totals):
    why = {"tight": "all medians are tight, or all rounds are done", "spent": "the budget is spent",
           "stopped": "it was stopped"}[totals.end]
    text = (f"{totals.measured} of {totals.points} points were measured, in {totals.runs} runs "
            f"over {format_seconds(totals.spent_s)}; {why}.")
    if totals.earlier:
        text += f" {totals.earlier} runs are from earlier."
    if totals.left_out:
        text += f" {totals.left_out} earlier runs of another build or on other graphs are left out."
    return text


def _figure_as_dict(figure):
    def numbers(series, name):
        return [getattr(mark.y, name) for mark in series.marks]
    return {"title": figure.title, "answer": figure.answer, "series": [
        {"name": series.name, "x": [mark.x for mark in series.marks],
         "median": numbers(series, "median"), "low": numbers(series, "low"),
         "high": numbers(series, "high"), "runs": numbers(series, "samples")}
        for series in figure.series]}


def _fill(outcome, sections):
    totals = outcome.totals
    outcome.result = {"points": totals.points, "measured": totals.measured, "runs": totals.runs,
                      "page": outcome.page, "studies": {}}
    for section in sections:
        outcome.answers += [f"{section.name}, {figure.title}: {figure.answer}"
                            for figure in section.figures]
        outcome.warnings += [f"{section.name}: not measured: {missing}"
                             for missing in section.missing]
        outcome.result["studies"][section.name] = {
            "figures": [_figure_as_dict(figure) for figure in section.figures]}


def _file_name(section, figure, ending):
    title = re.sub(r"[^a-zA-Z0-9]+", "-", figure.title)
    return f"{ending}/{section.name}-{title.removesuffix('-')}.{ending}"


def _write(folder, outcome, page, summary, with_csv):
    from slimgraph.lab.page import to_html, to_svg_file
    from slimgraph.lab.plots import to_csv, to_svg
    drawings = {id(figure): to_svg(figure) for section in page.sections
                for figure in section.figures}
    write_file(outcome.page, to_html(page, drawings))
    write_file(os.path.join(folder, "summary.json"), to_json(summary) + "\n")
    for section in page.sections:
        for figure in section.figures:
            write_file(os.path.join(folder, _file_name(section, figure, "svg")),
                       to_svg_file(drawings[id(figure)]))
            if with_csv:
                write_file(os.path.join(folder, _file_name(section, figure, "csv")), to_csv(figure))


def to_json(report):
    return json.dumps(report, separators=(",", ":"), ensure_ascii=False)


def run_experiment(name, options, about, head):
    """`options` are those of `slimgraph experiment`, by their names; `about` tells of the program:
    its path, its version, its command line, and why nodes cannot be limited."""
    outcome = Outcome(None, os.path.join(options["output"], "index.html"))
    folder, program = options["output"], about["program"]
    makers(name)  # check the name before anything is made
    files = options.get("graphs") or [make_graph(folder, options["small"], program)]
    graphs = inspect_graphs([files] if isinstance(files, str) else files, program)
    for graph in graphs if name in ON_STORES else []:
        try:
            graph.store = make_store(folder, graph, program)
        except Failure as failure:
            if StopSignals.received:
                raise
            outcome.warnings.append(f"updates of {graph.name}: not measured: {failure}")
    settings = _settings(options, program, graphs, about["limits_refused"], outcome.warnings)
    studies = make(name, settings)
    with contextlib.ExitStack() as stack:
        if name in ON_POOLS:
            pool = stack.enter_context(StandingPool(settings.nodes, program))
            try:
                pool.load([(name_in_pool(graph), graph.path) for graph in graphs])
            except Failure as failure:
                if StopSignals.received:
                    raise
                outcome.warnings.append(f"pool: not measured: {failure}")
        outcome.totals = run_studies(studies, RunnerOptions(
            folder, program, about["budget_s"], options["rounds"],
            options.get("launcher", "").split(), stamp(program), head))
    from slimgraph.lab.page import Page
    sections = [_section(study, outcome.totals.results[study.name]) for study in studies]
    _fill(outcome, sections)
    facts = machine_facts([("slimgraph", about["version"]), ("compiler", about["compiler"])])
    facts += [("command", quoted(about["arguments"]))]
    facts += [(f"graph {graph.name}", f"{graph.path}, {graph.edges:,} edges") for graph in graphs]
    page = Page("SlimGraph, measured" + (f": {studies[0].name}" if len(studies) == 1 else ""),
                [_end_in_words(outcome.totals), HOW_TO_READ], facts, sections)
    summary = {**head, "result": outcome.result, "time": {"run_s": outcome.totals.spent_s}}
    _write(folder, outcome, page, summary, options["csv"])
    outcome.summary = summary
    return outcome
