"""The page of an experiment: one self-contained HTML file without scripts and network access, for
light mode, dark mode and print."""
import os
from dataclasses import dataclass, field

import jinja2

from slimgraph.lab.plots import to_svg
from slimgraph.lab.spread import short_number

# Okabe and Ito's colours, which colour-blind readers can tell apart; lighter ones for dark mode.
LIGHT = ["#0072b2", "#d55e00", "#009e73", "#b0628f", "#e69f00", "#3f97c9", "#5b5b5b"]
DARK = ["#4aa8e0", "#f08a4b", "#2fc79b", "#e09cc6", "#f2c04c", "#8fd0f5", "#b8b8b8"]


@dataclass
class Section:
    name: str
    title: str
    question: str
    notes: list = field(default_factory=list)  # how the runs were done
    figures: list = field(default_factory=list)
    missing: list = field(default_factory=list)  # what was not measured, and why
    verified: str = ""  # how many of the points were verified
    commands: list = field(default_factory=list)


@dataclass
class Page:
    title: str
    summary: list  # how it ended, how to read it
    facts: list  # pairs: the machine, the commit, …
    sections: list


def cell(spread):
    if spread.samples == 1:
        return short_number(spread.median), "once"
    return short_number(spread.median), (
        f"{short_number(spread.low)} – {short_number(spread.high)}, {spread.samples}")


def table(figure):
    """(head, rows): a row for each category or x, a column for each series; in a scatter plot also
    a column for x."""
    scatter = figure.kind == "scatter"
    rows = {}
    for s, series in enumerate(figure.series):
        for mark in series.marks:
            row = rows.setdefault(figure.row_name(mark), {})
            row[2 * s] = (short_number(mark.x), "")
            row[2 * s + 1] = cell(mark.y)
    head, columns = ["" if scatter else figure.x_title], []
    for s, series in enumerate(figure.series):
        head += [figure.x_title, f"{series.name}: {figure.y_title}"] if scatter else [series.name]
        columns += [2 * s, 2 * s + 1] if scatter else [2 * s + 1]
    return head, [[(name, ""), *(row.get(c, ("", "")) for c in columns)]
                  for name, row in rows.items()]


def _environment():
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(os.path.dirname(os.path.abspath(__file__))),
        autoescape=True, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    environment.globals.update(light=LIGHT, dark=DARK, table=table)
    return environment


def to_html(page, drawings=None):
    """`drawings`: of figures that are drawn already, by id(figure)."""
    draw = lambda figure: (drawings or {}).get(id(figure)) or to_svg(figure)
    return _environment().get_template("page.html").render(page=page, draw=draw)


def to_svg_file(drawing):
    """A plot as a separate file for any image viewer."""
    style = _environment().get_template("style.css").render()
    begin = drawing.index(">") + 1
    return f"{drawing[:begin]}\n<style>{style} svg {{ background: var(--paper); }}</style>" \
        f"{drawing[begin:]}\n"
