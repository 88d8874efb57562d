"""A plot as data. plots.py draws it, and page.py prints it as a table."""
from dataclasses import dataclass, field

from slimgraph.lab.spread import Spread, short_number, spread_of

NOT_ENOUGH = "Not enough was measured to tell."


@dataclass
class Mark:
    x: float  # for bars, the index of the category
    y: Spread
    label: str = ""  # names the mark if x does not
    labelled: bool = False  # scatter plots: the label is drawn


@dataclass
class Series:
    name: str
    style: int  # colour and shape; the same for the same thing in all plots
    marks: list = field(default_factory=list)


@dataclass
class Reference:
    """A value for comparison that was not measured: an ideal, or a paper's result. It is a range if
    low and high differ."""
    name: str
    low: float
    high: float
    x: int | None = None  # bars: its category; otherwise all
    series: int | None = None  # bars: the series, of that category or of all


@dataclass
class Figure:
    """`kind`: "bars" has categories along x, each with a bar of each series; "lines" and "scatter"
    have numbers along x. `answer` is one sentence: the main finding."""
    title: str
    answer: str = NOT_ENOUGH
    kind: str = "bars"
    x_title: str = ""
    y_title: str = ""
    categories: list = field(default_factory=list)
    series: list = field(default_factory=list)
    references: list = field(default_factory=list)
    log_x: bool = False
    log_y: bool = False

    def is_empty(self):
        return not any(series.marks for series in self.series)

    def row_name(self, mark):
        """The table's row of a mark: its category, its number along x, or its label."""
        return {"bars": lambda: self.categories[int(mark.x)],
                "lines": lambda: short_number(mark.x)}.get(self.kind, lambda: mark.label)()


def bars(title, categories, series, value, **options):
    """A bar plot of the points that were measured; value(category, series), by their indices, is a
    Spread or None."""
    figure = Figure(title, categories=list(categories), **options)
    for s, name in enumerate(series):
        spreads = [(c, value(c, s)) for c in range(len(figure.categories))]
        figure.series.append(Series(name, s, [Mark(c, one) for c, one in spreads if one]))
    return figure


def over_marks(series):
    """The median over a series' categories, with their minimum and maximum; None if there is
    none."""
    medians = [mark.y.median for mark in series.marks]
    return Spread(spread_of(medians).median, min(medians), max(medians), len(medians)) \
        if medians else None
