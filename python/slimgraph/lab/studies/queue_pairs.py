"""One-sided transactions over verbs, by the number of queue pairs to each node. Many queue pairs
emulate a larger cluster, whose state may not fit into an adapter's caches."""
from dataclasses import replace

from slimgraph.lab.figures import Figure
from slimgraph.lab.studies.support import (PROTOCOLS, THROUGHPUT, line, median, txn_point,
                                           txn_settings)
from slimgraph.lab.study import Group, Study

PER_PEER = [1, 4, 16, 64, 256]


def study(settings):
    # verbs is a real network
    settings = replace(txn_settings(settings), transport="verbs", network="none")

    def points(protocol):
        return [txn_point(settings, "run", "smallbank", protocol, ["--qps-per-peer", str(count)],
                          str(count)) for count in PER_PEER]

    def figures(results):
        plot = Figure("one-sided: throughput", kind="lines", x_title="queue pairs to each node",
                      y_title="thousand transactions per second", log_x=True)
        ratios = []
        for style, protocol in enumerate(PROTOCOLS):
            every = points(protocol)
            plot.series.append(line(results, protocol, style, zip(PER_PEER, every), THROUGHPUT,
                                    1e-3))
            ratio = results.ratio(every[-1], every[0], THROUGHPUT)
            ratios += [ratio.median] if ratio else []
        if ratios:
            plot.answer = (f"{PER_PEER[-1]} queue pairs to each node bring {median(ratios)} times "
                           f"the throughput of one (median of {len(ratios)} protocols).")
        return [plot]

    return Study(
        "queue-pairs", "Queue pairs: the adapter's caches",
        "What becomes of throughput when an adapter has as many queue pairs to keep as in a larger "
        "cluster?", [Group(protocol, points(protocol), THROUGHPUT) for protocol in PROTOCOLS],
        figures, ["smallbank, all stages one-sided, over --transport verbs: this needs an RDMA "
                  "device on the machine."])
