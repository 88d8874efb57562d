"""Transactions while one parameter varies: coroutines, contention, computation."""
from slimgraph.lab.figures import Figure, Mark, Series
from slimgraph.lab.studies.support import (PROTOCOLS, TXN_NODES, emulation, median, txn_point,
                                           txn_settings)
from slimgraph.lab.study import Group, Study

SHOWN = {"throughput": ("thousand transactions per second", "/throughput_per_s", 1e-3),
         "latency": ("microseconds, the median", "/latency_us/p50", 1),
         "aborts": ("% of all attempts", "/abort_rate", 100)}
FORMS = ["rpc", "one-sided"]


def _sweep(settings, name, title, question, over, workload, values, x_title, log_x, shown):
    settings = txn_settings(settings)

    def point(protocol, form):
        more = ["--over", over, "--values", ",".join(values), "--stages", form]
        return txn_point(settings, "sweep", workload, protocol, more, f"{protocol} {form}")

    def answer(plot, what):
        """The change from the first to the last value, as the median of the protocols."""
        ends = [(series.marks[0].y.median, series.marks[-1].y.median) for series in plot.series
                if len(series.marks) > 1]
        ratios = [last / first for first, last in ends if first > 0]
        if not ratios:
            return plot.answer
        became = median(ratios)
        times = "nothing" if became == "0" else f"{became} times what it was"
        return (f"From {values[0]} to {values[-1]} ({x_title}), {what} becomes {times} (median of "
                f"{len(ratios)} protocols).")

    def figure(results, form, what):
        y_title, path, factor = SHOWN[what]
        plot = Figure(f"{form}: {what}", kind="lines", x_title=x_title, y_title=y_title,
                      log_x=log_x)
        for style, protocol in enumerate(PROTOCOLS):
            spreads = [(float(value), results.of(point(protocol, form),
                                                 f"/result/rows/{row}{path}", factor))
                       for row, value in enumerate(values)]
            plot.series.append(Series(protocol, style,
                                      [Mark(x, spread) for x, spread in spreads if spread]))
        plot.answer = answer(plot, what)
        return plot

    return Study(
        name, title, question,
        [Group(protocol, [point(protocol, form) for form in FORMS],
               "/result/rows/0/throughput_per_s") for protocol in PROTOCOLS],
        lambda results: [figure(results, form, what) for form in FORMS for what in shown],
        [emulation(settings, TXN_NODES), f"The workload is {workload}."])


def coroutines(settings):
    return _sweep(settings, "coroutines", "Coroutines: concurrent transactions",
                  "How do more concurrent transactions per thread change throughput and latency?",
                  "coroutines", "smallbank", ["1", "2", "4", "8", "16", "32"],
                  "coroutines per thread", True, ["throughput", "latency"])


def contention(settings):
    return _sweep(settings, "contention", "Contention: transactions that conflict",
                  "What becomes of throughput and aborts when more accesses go to few tuples?",
                  "hot", "ycsb", ["0", "0.25", "0.5", "0.75", "0.9", "0.99"],
                  "share of accesses to the hot area", False, ["throughput", "aborts"])


def computation(settings):
    return _sweep(settings, "computation", "Computation: transactions that compute",
                  "How much of the difference between forms is left when transactions compute?",
                  "compute-us", "ycsb", ["0", "1", "2", "4", "8", "16", "32"],
                  "microseconds that each transaction computes", False, ["throughput"])
