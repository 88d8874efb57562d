"""The lab: studies of SlimGraph, their statistics and their pages.

A study is a Python file that defines `study(settings)`, which returns a Study: groups of points,
each a command line of slimgraph, and figures of their reports. The command `slimgraph experiment
FILE.py -o DIR` runs it. `load(DIR)` opens the results of an experiment as a DataFrame:

    runs = slimgraph.lab.load("DIR")
    runs.groupby("point")["time/run_s"].median()
"""
from slimgraph.lab.figures import Figure, Mark, Reference, Series, bars
from slimgraph.lab.raw import read_runs
from slimgraph.lab.reports import flatten
from slimgraph.lab.spread import Spread, spread_of
from slimgraph.lab.study import Graph, Group, Point, Results, Settings, Study

__all__ = ["Figure", "Graph", "Group", "Mark", "Point", "Reference", "Results", "Series",
           "Settings", "Spread", "Study", "bars", "load", "spread_of"]


def load(path):
    """The runs of an experiment's folder, or of a file of reports, as a DataFrame with a row for
    each run. Columns are `study`, `point`, `round`, `began`, `seconds`, `verified`, `build`, and
    the paths of the report, such as `time/run_s` or `options/nodes`. Lists by node are combined:
    the maximum of memory peaks, and the sum of everything else."""
    import pandas
    rounds, rows = {}, []
    for run in read_runs(path):
        key = (run.study, run.point, run.build, run.inputs)
        rounds[key] = rounds.get(key, 0) + 1
        rows.append({"study": run.study, "point": run.point, "round": rounds[key],
                     "began": run.began, "seconds": run.seconds, "verified": run.verified,
                     "build": run.build, **dict(flatten(run.report))})
    return pandas.DataFrame.from_records(rows)
