"""Six protocols in four forms of access to other nodes' tuples, on three workloads."""
from slimgraph.lab.figures import NOT_ENOUGH, bars
from slimgraph.lab.spread import short_number
from slimgraph.lab.studies.support import (PROTOCOLS, THROUGHPUT, TXN_NODES, emulation, hybrids,
                                           median_over, txn_point, txn_settings)
from slimgraph.lab.study import Group, Study

# The last form runs `txn choose`, which finds a stage code and runs with it.
FORMS = ["tcp", "rpc", "one-sided", "hybrid"]
# The path is below /result; for `choose`, below /result/run.
SHOWN = [("throughput", "thousand transactions per second", "/throughput_per_s", 1e-3, True),
         ("latency", "microseconds, the median", "/latency_us/p50", 1, True),
         ("aborts", "% of all attempts", "/abort_rate", 100, False),
         ("round trips", "round trips per transaction", "/per_transaction/round_trips", 1, False)]


def point(settings, workload, protocol, form):
    label = f"{protocol} {form}"
    if form == "hybrid":
        return txn_point(settings, "choose", workload, protocol, label=label)
    return txn_point(settings, "run", workload, protocol, ["--stages", form], label)


def rate(of_mark):
    return of_mark[0]


def best(plot, most):
    marks = [(mark.y.median, mark, series.name) for series in plot.series for mark in series.marks]
    if not marks:
        return NOT_ENOUGH
    value, mark, form = max(marks, key=rate) if most else min(reversed(marks), key=rate)
    return (f"The {'most' if most else 'least'} is that of {plot.row_name(mark)}, {form}: "
            f"{short_number(value)}.")


def study(settings):
    settings = txn_settings(settings)
    # Loading tpcc-neworder takes longer than a small run.
    workloads = ["smallbank", "ycsb"] + ["tpcc-neworder"] * (not settings.small)

    def of(results, workload, protocol, form, path, factor):
        return results.of(point(settings, workload, protocol, form),
                          ("/result/run" if form == "hybrid" else "/result") + path, factor)

    def hybrids_of(results, workload):
        plot = hybrids(f"{workload}: hybrids", PROTOCOLS,
                       lambda protocol, form, factor:
                           of(results, workload, protocol, form, SHOWN[0][2], factor))
        plot.answer = median_over(
            plot.series[0], "The chosen mix brings {median:.2f} times the better of rpc and "
            "one-sided (median of {n} protocols, {low:.2f} to {high:.2f}).")
        return plot

    def figures(results):
        every = []
        for workload in workloads:
            for title, y_title, path, factor, log_y in SHOWN:
                every.append(bars(
                    f"{workload}: {title}", PROTOCOLS, FORMS,
                    lambda c, s, p=path, f=factor, w=workload:
                        of(results, w, PROTOCOLS[c], FORMS[s], p, f),
                    y_title=y_title, log_y=log_y))
                every[-1].answer = best(every[-1], title == "throughput")
            every.append(hybrids_of(results, workload))
        return every

    return Study(
        "protocols", "Protocols: how transactions are isolated",
        "What do six protocols bring by messages over TCP (tcp), by messages over the fabric "
        "(rpc), one-sided, and with the mix of stages that measured latencies choose (hybrid)?",
        [Group(f"{protocol} on {workload}",
               [point(settings, workload, protocol, form) for form in FORMS], THROUGHPUT)
         for workload in workloads for protocol in PROTOCOLS], figures,
        [emulation(settings, TXN_NODES),
         "tcp goes through the kernel's sockets, and the network's delays come on top.",
         "RCC is that of Wang, Huang and Qian (arXiv 2002.12664), on a cluster with adapters."])
