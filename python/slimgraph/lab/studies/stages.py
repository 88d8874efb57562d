"""The latency of each stage of a protocol in both forms, and the throughput of every mix of
forms."""
from slimgraph.lab.figures import Figure, Mark, Series, bars
from slimgraph.lab.reports import find
from slimgraph.lab.studies.support import (PROTOCOLS, TXN_NODES, emulation, txn_point, txn_settings)
from slimgraph.lab.study import Group, Study

WORKLOAD = "smallbank"
ROWS = "/result/rows"
PROBED = "/result/probe_us"
FORMS = ["two_sided", "one_sided"]


def rate(mark):
    return mark.y.median


def study(settings):
    settings = txn_settings(settings)

    def probe(protocol):
        return txn_point(settings, "choose", WORKLOAD, protocol, label="each stage")

    def codes(protocol):
        return txn_point(settings, "sweep", WORKLOAD, protocol, ["--over", "stages"], "all codes")

    def stages_figure(results, protocol):
        every = [find(report, PROBED) for report in results.reports(probe(protocol).line)]
        probed = next(filter(None, every), {})
        # Some stages take no time in any form: without replicas nothing is logged.
        stages = [stage for stage, by_form in probed.items()
                  if sum(by_form.get(form) or 0 for form in FORMS) > 0]
        plot = bars(f"{protocol}: latency of each stage", stages, ["two-sided", "one-sided"],
                    lambda c, s: results.of(probe(protocol), f"{PROBED}/{stages[c]}/{FORMS[s]}"),
                    y_title="microseconds")
        two = {mark.x: mark.y.median for mark in plot.series[0].marks}
        sooner = sum(mark.y.median < two[mark.x] for mark in plot.series[1].marks if mark.x in two)
        plot.answer = f"{sooner} of {len(stages)} stages of {protocol} are faster one-sided."
        return plot

    def codes_figure(results, protocol):
        mixed, pure = Series("mixed", 0), Series("one form alone", 1)
        reports = results.reports(codes(protocol).line)
        for row in range(len(find(reports[0], ROWS) or []) if reports else 0):
            path = f"{ROWS}/{row}"
            code = find(reports[0], path + "/value") or ""
            spread = results.of(codes(protocol), path + "/throughput_per_s", 1e-3)
            latency = results.of(codes(protocol), path + "/latency_us/p50")
            if code and spread and latency:
                one_form = len(set(code)) == 1
                (pure if one_form else mixed).marks.append(
                    Mark(latency.median, spread, code, one_form))
        plot = Figure(f"{protocol}: every code", kind="scatter", series=[mixed, pure],
                      x_title="latency, microseconds (median)",
                      y_title="thousand transactions per second")
        if mixed.marks and pure.marks:
            best, best_pure = max(mixed.marks, key=rate), max(pure.marks, key=rate)
            best.labelled = True
            plot.answer = (f"The best mix, {best.label}, brings {rate(best) / rate(best_pure):.2f} "
                           f"times the throughput of {best_pure.label}, the better of one form "
                           "alone.")
        return plot

    def figures(results):
        # Calvin's stages do not run one after the other, so they are not timed.
        return [figure for protocol in PROTOCOLS
                for figure in (stages_figure(results, protocol), codes_figure(results, protocol))]

    return Study(
        "stages", "Stages: one-sided or by message",
        "How long does each stage of a protocol take in either form, and what does every mix of "
        "forms bring?",
        [group for protocol in PROTOCOLS for group in (
            Group(protocol, [probe(protocol)], "/result/run/throughput_per_s"),
            Group(protocol, [codes(protocol)], f"{ROWS}/0/throughput_per_s"))], figures,
        [emulation(settings, TXN_NODES),
         "smallbank. A code has a digit for each stage of the protocol: 0 by messages, 1 "
         "one-sided. Latencies of stages are from a run in which each transaction draws a random "
         "code."])
