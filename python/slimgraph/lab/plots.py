"""Draws figures as SVG by matplotlib. Colours are variables of the page's style sheet, so one
drawing serves light mode, dark mode and print."""
import io
import logging
import re
import textwrap
import xml.etree.ElementTree as ElementTree

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from slimgraph.lab.spread import plain_number, short_number

STYLES = 7  # further series would repeat a colour and shape
# A shape and a hatching for each series, so that colour is not the only difference.
SHAPES = "os^DvPX"
HATCHES = ["", "//", "\\\\", "--", "||", "++", "xx"]
# matplotlib knows no variables, so it draws with these colours, which become variables afterwards.
INK, SOFT, PAPER, GRID = "#010101", "#010102", "#010103", "#010104"
VARIABLES = {INK: "ink", SOFT: "soft", PAPER: "paper", GRID: "grid",
             **{f"#02020{i}": f"c{i}" for i in range(STYLES)}}
WIDTH, HEIGHT, DPI = 760, 400, 72
SVG = "http://www.w3.org/2000/svg"
XLINK = "{http://www.w3.org/1999/xlink}href"
CLASSES = [("mark~", "mark"), ("label~", "label"), ("titlex", "title x"), ("titley", "title y"),
           ("xtick", "tick x"), ("ytick", "tick y"), ("legend", "legend")]
LABEL_HEIGHT, LETTER_WIDTH = 15, 7.5
SIDES, BELOW = 86, 56  # pixels beside and below the axes
logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it announces that it looks for fonts
ElementTree.register_namespace("", SVG)


def _colour(style):
    return f"#02020{style % STYLES}"


def _spread_in_words(spread):
    text = short_number(spread.median)
    if spread.samples > 1:
        text += (f" ({short_number(spread.low)} to {short_number(spread.high)}, {spread.samples} "
                 "runs)")
    return text


class _Drawing:
    def __init__(self, figure):
        self.figure, self.titles = figure, []
        self.canvas = Canvas(figsize=(WIDTH / DPI, HEIGHT / DPI), dpi=DPI)
        FigureCanvasSVG(self.canvas)
        self.axes = self.canvas.add_axes([0.1, 0.14, 0.88, 0.72])
        self.category_lines = 1
        self.width = min(0.07 * max(1, len(figure.categories)), 0.8 / max(1, len(figure.series)))

    def draw(self):
        self._scales()
        for reference in self.figure.references:
            self._reference(reference)
        for s, series in enumerate(self.figure.series):
            self._series(s, series)
        self._labels()
        self._legend()
        return self._svg()

    def _left(self, category, s):
        return category + (s - len(self.figure.series) / 2) * self.width

    def _scales(self):
        figure, axes = self.figure, self.axes
        marks = [mark for series in figure.series for mark in series.marks]
        values = [value for mark in marks for value in (mark.y.low, mark.y.high)]
        values += [value for one in figure.references for value in (one.low, one.high)]
        positive = [value for value in values if value > 0]
        log_y = figure.log_y and bool(positive)
        if log_y:
            axes.set_yscale("log")
            least, most = min(positive), max(positive)
            # Bars start at the bottom, which must be below the smallest value.
            axes.set_ylim(least * (0.7 if figure.kind == "bars" else 0.9),
                          max(most, 2 * least) * 1.1)
            few = most / least < 1000
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,), numticks=9))
        else:
            least, most = min(values, default=0), max(values, default=1)
            least = least if figure.kind == "scatter" else min(least, 0)
            margin = 0.05 * (most - least) or 0.5 * abs(most) or 1
            axes.set_ylim(least - margin if least < 0 or figure.kind == "scatter" else 0,
                          most + margin)
            axes.yaxis.set_major_locator(MaxNLocator(6))
        self._x_scale(sorted({mark.x for mark in marks}))
        short = FuncFormatter(lambda value, _: short_number(value))
        axes.yaxis.set_major_formatter(short)
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_axisbelow(True)
        axes.grid(axis="y", color=GRID, linewidth=1)
        for side in ("left", "right", "top"):
            axes.spines[side].set_visible(False)
        axes.spines["bottom"].set_color(SOFT)
        axes.tick_params(axis="both", labelcolor=INK, color=SOFT, labelsize=12)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(figure.x_title, color=INK, fontsize=13, gid="titlex")
        axes.set_ylabel(figure.y_title, color=INK, fontsize=13, gid="titley")

    def _x_scale(self, places):
        figure, axes = self.figure, self.axes
        if figure.kind == "bars":
            axes.set_xlim(-0.5, len(figure.categories) - 0.5)
            letters = int((WIDTH - SIDES) / max(1, len(figure.categories)) / LETTER_WIDTH)
            names = [textwrap.wrap(name, max(1, letters), break_long_words=False,
                                   break_on_hyphens=False)
                     for name in figure.categories]
            self.category_lines = max(map(len, names), default=1)
            axes.set_xticks(range(len(names)), ["\n".join(lines) for lines in names])
            axes.tick_params(axis="x", length=0)
            return
        if figure.log_x and places and places[0] > 0:
            axes.set_xscale("log")
            edge = (places[-1] / places[0]) ** 0.04 if len(places) > 1 else 2
            axes.set_xlim(places[0] / edge, places[-1] * edge)
        elif places:
            edge = 0.04 * (places[-1] - places[0]) or 0.5 * abs(places[0]) or 1
            axes.set_xlim(places[0] - edge, places[-1] + edge)
        pixels = [axes.transData.transform((x, 1))[0] for x in places]
        if figure.kind == "lines" and all(b - a >= 42 for a, b in zip(pixels, pixels[1:])):
            axes.xaxis.set_major_locator(FixedLocator(places))
        elif axes.get_xscale() == "linear":
            axes.xaxis.set_major_locator(MaxNLocator(8))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))

    def _reference(self, reference):
        axes, bars = self.axes, self.figure.kind == "bars"
        spans = [axes.get_xlim()]
        if bars and (reference.x is not None or reference.series is not None):
            chosen = range(len(self.figure.categories)) if reference.x is None else [reference.x]
            spans = [(self._left(c, reference.series), self._left(c, reference.series + 1))
                     if reference.series is not None else (c - 0.45, c + 0.45) for c in chosen]
        for span in spans:
            if reference.low != reference.high:
                axes.fill_between(span, reference.low, reference.high, color=INK, alpha=0.16,
                                  linewidth=0)
            for value in {reference.low, reference.high}:
                axes.plot(span, [value, value], color=INK, linewidth=1.8, linestyle="--")

    def _name(self, series, mark):
        where = self.figure.categories[int(mark.x)] if self.figure.kind == "bars" else \
            short_number(mark.x)
        self.titles.append(f"{' '.join(filter(None, [series.name, mark.label]))}, {where}: "
                           f"{_spread_in_words(mark.y)}")
        return f"mark~{len(self.titles) - 1}"

    def _series(self, s, series):
        axes, colour = self.axes, _colour(series.style)
        if self.figure.kind == "lines":
            axes.plot([mark.x for mark in series.marks], [mark.y.median for mark in series.marks],
                      color=colour, linewidth=2)
        bottom, top = axes.get_ylim()
        for mark in series.marks:
            x = mark.x
            if self.figure.kind == "bars":
                left = self._left(mark.x, s)
                x = left + self.width / 2
                # A bar of a value that is zero is still to be seen.
                pixel = axes.transData.inverted().transform(
                    axes.transData.transform((0, bottom)) + (0, 1.5))[1]
                value = max(mark.y.median, pixel)
                axes.bar(left + 0.02 * self.width, value - bottom, 0.96 * self.width, bottom,
                         align="edge", color=colour, edgecolor=PAPER, linewidth=0.5,
                         hatch=HATCHES[series.style % STYLES])[0].set_gid(self._name(series, mark))
            else:
                size = 7 if self.figure.kind == "lines" else 6
                axes.plot([mark.x], [mark.y.median], SHAPES[series.style % STYLES], color=colour,
                          markersize=size, markeredgewidth=0, clip_on=False,
                          gid=self._name(series, mark))
            if mark.y.low != mark.y.high:
                low, high = max(mark.y.low, bottom), min(mark.y.high, top)
                axes.errorbar([x], [low], yerr=[[0], [high - low]], fmt="none", ecolor=INK,
                              elinewidth=1.4, capsize=4, capthick=1.4)

    def _labels(self):
        """Puts labels beside their marks, on the side with room, where they cover no other."""
        taken, box = [], self.axes.get_window_extent()
        for series in self.figure.series:
            for mark in series.marks:
                if not mark.labelled:
                    continue
                x, y = self.axes.transData.transform((mark.x, mark.y.median))
                length = 8.5 * len(mark.label)
                on_left = x + 10 + length > box.x1
                begin = x - 10 - length if on_left else x + 10

                def free(at):
                    return box.y0 <= at <= box.y1 - 8 and not any(
                        begin < other + other_length and other < begin + length
                        and abs(at - other_y) < LABEL_HEIGHT
                        for other, other_length, other_y in taken)
                places = (y + sign * step for step in range(0, HEIGHT, 4) for sign in (1, -1))
                at = next(filter(free, places), y)
                taken.append((begin, length, at))
                self.axes.annotate(
                    mark.label, (begin + length * on_left, at), xycoords="figure pixels",
                    ha="right" if on_left else "left", va="center", color=INK, fontsize=12,
                    gid="label~", annotation_clip=False)

    def _legend(self):
        handles = []
        for series in self.figure.series:
            style = series.style % STYLES
            handles.append(
                Patch(facecolor=_colour(style), edgecolor=PAPER, hatch=HATCHES[style],
                      label=series.name) if self.figure.kind == "bars" else
                Line2D([], [], color=_colour(style), marker=SHAPES[style], markeredgewidth=0,
                       linestyle="none", markersize=8, label=series.name))
        for one in {one.name: one for one in self.figure.references}.values():
            handles.append(
                Line2D([], [], color=INK, linestyle="--", linewidth=1.8, label=one.name)
                if one.low == one.high else
                Patch(facecolor=INK, alpha=0.3, linewidth=0, label=one.name))
        longest = max((len(handle.get_label()) for handle in handles), default=1)
        columns = max(1, min(len(handles), int(WIDTH * 0.9 / (8 * longest + 46))))
        lines = -(-len(handles) // columns)
        room = 12 + 20 * lines
        below = BELOW + LABEL_HEIGHT * (self.category_lines - 1)
        height = self.axes.get_window_extent().height + below + room
        self.canvas.set_size_inches(WIDTH / DPI, height / DPI)
        self.axes.set_position([70 / WIDTH, below / height, (WIDTH - SIDES) / WIDTH,
                                (height - below - room) / height])
        self.canvas.legend(handles=handles, loc="upper left", ncol=columns, frameon=False,
                           labelcolor=INK, fontsize=12, bbox_to_anchor=(62 / WIDTH, 1),
                           borderaxespad=0.2).set_gid("legend")

    def _svg(self):
        out = io.StringIO()
        settings = {"svg.fonttype": "none", "svg.hashsalt": self.figure.title,
                    "font.family": "DejaVu Sans", "hatch.linewidth": 1.4}
        with matplotlib.rc_context(settings):
            self.canvas.savefig(out, format="svg", transparent=True, metadata={"Date": None})
        root = ElementTree.fromstring(out.getvalue())
        for parent in list(root.iter()):
            for child in list(parent):
                if child.tag.endswith("metadata"):
                    parent.remove(child)
        for element in root.iter():
            self._finish(element)
        for name in ("width", "height", "version"):
            root.attrib.pop(name, None)
        root.attrib.update({"role": "img", "aria-label": self.figure.answer})
        text = ElementTree.tostring(root, encoding="unicode")
        text = re.sub(r"'DejaVu Sans'(, '[\w ]+')*", "'DejaVu Sans'", text)
        return re.sub(r"#0[12]0[12]0\d", lambda colour: f"var(--{VARIABLES[colour[0]]})", text)

    def _finish(self, element):
        """Gives classes to what a reader looks for, and removes names that occur in many plots."""
        name = element.attrib.get("id", "")
        if element.tag == f"{{{SVG}}}g":
            element.attrib.pop("id", None)
        for begin, css_class in CLASSES:
            if name.startswith(begin):
                element.set("class", css_class)
        if name.startswith("mark~"):
            title = ElementTree.Element(f"{{{SVG}}}title")
            title.text = self.titles[int(name[5:])]
            element.insert(0, title)
        if XLINK in element.attrib:
            element.set("href", element.attrib.pop(XLINK))


def to_svg(figure):
    """An SVG element for a page, whose style sheet defines the colours. The figure's answer is the
    text alternative for screen readers."""
    return _Drawing(figure).draw()


def to_csv(figure):
    """A figure's numbers, with a row for each mark."""
    import csv
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["series", "place", "x", "median", "low", "high", "runs"])
    for series in figure.series:
        for mark in series.marks:
            rows.writerow([series.name, figure.row_name(mark), *map(plain_number, (
                mark.x, mark.y.median, mark.y.low, mark.y.high)), mark.y.samples])
    return out.getvalue()
