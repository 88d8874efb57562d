"""The experiments of RCC (Wang, Huang and Qian, arXiv 2002.12664) and of DrTM+H (Wei et al., OSDI
2018) at their settings: four nodes, three copies of everything, 1 and 10 coroutines."""
from dataclasses import replace

from slimgraph.lab.figures import NOT_ENOUGH, Figure, Reference, bars
from slimgraph.lab.reports import find
from slimgraph.lab.spread import short_number
from slimgraph.lab.studies.support import (PROTOCOLS, THROUGHPUT, emulation, hybrids, line,
                                           median_over, txn_point)
from slimgraph.lab.study import Group, Study

NODES = 4
COPIES = ["--replicas", "3"]
FORMS = ["tcp", "rpc", "one-sided", "hybrid"]
BOTH = FORMS[1:3]
COMPUTE_US = ["1", "4", "16", "64", "256"]
TIMED = [protocol for protocol in PROTOCOLS if protocol != "calvin"]  # by stages
STAGES = ["read", "lock", "validate", "log", "commit", "release", "renew"]

# RCC, table 3: messages over RDMA against messages over TCP.
OVER_TCP = {"nowait": 308177 / 48394, "waitdie": 336514 / 51444, "occ": 257307 / 49949,
            "mvcc": 420000 / 63514, "sundial": 383237 / 38275}
# RCC, table 1: 10 threads against 5.
TWICE_THE_THREADS = {"nowait": (1.69, 1.89), "waitdie": (1.79, 1.78), "occ": (1.75, 1.76),
                     "mvcc": (1.76, 1.84), "sundial": (1.60, 1.98)}
# RCC, table 2: messages that leave the adapters, one-sided against rpc.
MORE_MESSAGES = {"nowait": 31.06 / 9.49, "waitdie": 30.77 / 9.25, "occ": 30.38 / 9.75,
                 "mvcc": 28.46 / 10.70, "sundial": 29.52 / 9.91}
# DrTM+H on SmallBank, against messages alone.
DRTM_H_OVER_RPC = 1.3

# DrTM+H's optimisations, switched on one after the other.
STEPS = [("none", ["--without", "outstanding,doorbells,passive,speculation,cache"], 1),
         ("coroutines", ["--without", "outstanding,doorbells,passive,speculation,cache"], 10),
         ("outstanding requests", ["--without", "doorbells,passive,speculation,cache"], 10),
         ("doorbells", ["--without", "passive,speculation,cache"], 10),
         ("passive ACK", ["--without", "speculation,cache"], 10),
         ("location cache", ["--without", "speculation"], 10),
         ("speculation", [], 10)]
# Codes of OCC's stages: read, lock, validate, log, commit, release.
PHASES = [("read", "100000"), ("lock", "010000"), ("validate", "001000"), ("log", "000100"),
          ("commit", "000010")]
SYSTEMS = ["farm", "fasst", "drtm-r", "drtm-h"]


def with_references(plot, name, categories, values):
    """A paper's value at each category that has one."""
    plot.references = [Reference(name, values[category], values[category], x=c)
                       for c, category in enumerate(categories) if category in values]
    return plot


def study(settings):
    settings = replace(settings, nodes=NODES, threads=1, node_memory=0)
    workloads = ["smallbank"] + ["ycsb", "tpcc-neworder"] * (not settings.small)
    busy = "smallbank" if settings.small else "ycsb"  # RCC's messages are those of ycsb
    compute_us = COMPUTE_US[::4] if settings.small else COMPUTE_US

    def point(workload, protocol, form, coroutines=10, more=(), threads=1, label=None):
        words = [*COPIES, "--coroutines", str(coroutines), *more]
        if workload == "tpcc-neworder":
            words += ["--rows", "16", "--population", "0.02"]
        command = "choose" if form == "hybrid" else "run"
        if form != "hybrid":
            words += ["--stages", form]
        # A thread has the same share of a processor whatever their number.
        return txn_point(replace(settings, threads=threads), command, workload, protocol, words,
                         label or f"{protocol} {form}", NODES, 2 * NODES // threads)

    def of(results, where, path, factor=1):
        below = "/result/run" if where.words[1] == "choose" else "/result"
        return results.of(where, below + path, factor)

    def ratio(results, one, other, path=THROUGHPUT):
        return results.ratio(one, other, path)

    def overall(results, workload):
        plot = bars(f"{workload}: throughput", PROTOCOLS, FORMS,
                    lambda c, s: of(results, point(workload, PROTOCOLS[c], FORMS[s]),
                                    "/throughput_per_s", 1e-3),
                    y_title="thousand transactions per second", log_y=True)
        faster = [ratio(results, *(point(workload, protocol, form) for form in reversed(BOTH)))
                  for protocol in PROTOCOLS]
        known = [one.median for one in faster if one]
        if known:
            plot.answer = (f"{sum(one >= 1 for one in known)} of {len(known)} protocols are at "
                           "least as fast one-sided as by messages. In RCC, all are but MVCC.")
        return plot

    def chosen(results, workload):
        plot = hybrids(f"{workload}: hybrids", PROTOCOLS,
                       lambda protocol, form, factor:
                           of(results, point(workload, protocol, form), "/throughput_per_s",
                              factor))
        codes = []
        for protocol in PROTOCOLS:
            reports = results.reports(point(workload, protocol, "hybrid").line)
            found = [find(report, "/result/choice") for report in reports]
            if found:
                codes.append(f"{protocol} {max(set(found), key=found.count)}")
        plot.answer = f"Chosen codes: {', '.join(codes)}." if codes else NOT_ENOUGH
        return plot

    def over_tcp(results):
        plot = bars("ycsb: messages over RDMA against TCP", TIMED, ["rpc over tcp"],
                    lambda c, _: ratio(results, point("ycsb", TIMED[c], "rpc"),
                                       point("ycsb", TIMED[c], "tcp")),
                    y_title="times the throughput", log_y=True)
        plot.answer = median_over(plot.series[0], "Messages over the fabric bring {m} times the "
                                  "throughput of TCP (median of {n} protocols, {l} to {h}).")
        return with_references(plot, "RCC", TIMED, OVER_TCP)

    def one_coroutine(form):
        return [point("smallbank", protocol, form, 1, label=f"{protocol} {form}, 1 coroutine")
                for protocol in TIMED]

    def stages(results, form):
        points = one_coroutine(form)
        plot = bars(f"smallbank, {form}, one coroutine: latency of each stage", TIMED, STAGES,
                    lambda c, s: results.of(points[c], f"/result/stage_us/{STAGES[s]}"),
                    y_title="microseconds, mean")
        longest = [max((results.of(one, f"/result/stage_us/{stage}").median, stage)
                       for stage in STAGES if results.of(one, f"/result/stage_us/{stage}"))
                   for one in points if results.rounds(one.line)]
        if longest:
            plot.answer = "The longest stage: " + ", ".join(
                f"{stage} ({protocol})" for protocol, (_, stage) in zip(TIMED, longest)) + "."
        return plot

    def messages(results):
        def value(c, _):
            per_s = []
            for form in BOTH:
                where = point(busy, TIMED[c], form)
                parts = [of(results, where, path) for path in
                         ("/per_transaction/messages", "/per_transaction/operations",
                          "/throughput_per_s")]
                if not all(parts):
                    return None
                per_s.append((parts[0].median + parts[1].median) * parts[2].median)
            where = point(busy, TIMED[c], "one-sided")
            return of(results, where, "/throughput_per_s",
                      per_s[1] / per_s[0] / of(results, where, "/throughput_per_s").median)
        plot = bars(f"{busy}: messages and operations per second, one-sided against rpc", TIMED,
                    ["ratio"], value, y_title="times as many")
        plot.answer = median_over(plot.series[0], "One-sided protocols send {m} times as many "
                                  "messages and operations per second (median of {n}, {l} to {h}).")
        return with_references(plot, "RCC", TIMED, MORE_MESSAGES)

    def threaded(protocol, form):
        return [point("ycsb", protocol, form, threads=threads, label=f"{form}, {threads} threads")
                for threads in (1, 2)]

    def threads(results):
        plot = bars("ycsb: two threads of each node against one", TIMED, BOTH,
                    lambda c, s: ratio(results, *reversed(threaded(TIMED[c], BOTH[s]))),
                    y_title="times the throughput")
        plot.references = [Reference("RCC, 10 threads against 5", value, value, x=c, series=s)
                           for c, protocol in enumerate(TIMED)
                           for s, value in enumerate(TWICE_THE_THREADS[protocol])]
        plot.answer = median_over(plot.series[1], "One-sided, twice the threads bring {m} times "
                                  "the throughput (median of {n} protocols, {l} to {h}).")
        return plot

    # Without speculation, the computation comes after the fetch.
    def computing(protocol, form):
        words = [*COPIES, "--coroutines", "10", "--stages", form, "--without", "speculation",
                 "--over", "compute-us", "--values", ",".join(compute_us)]
        return txn_point(settings, "sweep", "ycsb", protocol, words, f"{form}, computing", NODES,
                         2 * NODES)

    def computation(results, form):
        plot = Figure(f"ycsb, {form}: computation after the fetch", kind="lines", log_x=True,
                      log_y=True, x_title="microseconds that each transaction computes",
                      y_title="thousand transactions per second")
        for style, protocol in enumerate(PROTOCOLS):
            where = computing(protocol, form)
            plot.series.append(line(results, protocol, style, [], ""))
            plot.series[-1].marks = [mark for row, us in enumerate(compute_us) for mark in line(
                results, "", 0, [(float(us), where)], f"/result/rows/{row}/throughput_per_s",
                1e-3).marks]
        kept = [series.marks[-1].y.median / series.marks[0].y.median for series in plot.series
                if len(series.marks) == len(compute_us)]
        if kept:
            plot.answer = (f"With {compute_us[-1]} us, throughput is {short_number(min(kept))} to "
                           f"{short_number(max(kept))} times that with {compute_us[0]} us.")
        return plot

    def cumulative(workload, form):
        return [point(workload, "occ", form, coroutines, more, label=f"{form}: {name}")
                for name, more, coroutines in STEPS]

    def steps(results, workload):
        plot = bars(f"{workload}, occ: optimisations, one after the other",
                    [name for name, _, _ in STEPS], BOTH,
                    lambda c, s: ratio(results, cumulative(workload, BOTH[s])[c],
                                       cumulative(workload, BOTH[s])[0]),
                    y_title="times the throughput without any")
        ends = [series.marks[-1].y.median for series in plot.series if series.marks]
        if len(ends) == len(BOTH):
            plot.answer = (f"All together bring {short_number(ends[1])} times the throughput "
                           f"one-sided, and {short_number(ends[0])} times by messages.")
        return plot

    def phased(workload):
        return [point(workload, "occ", code, label=f"{name} one-sided") for name, code in PHASES] \
            + [point(workload, "occ", name, label=name) for name in SYSTEMS]

    def phases(results, workload):
        points = phased(workload)
        plot = bars(f"{workload}, occ: one phase one-sided, and published mixes",
                    [one.label for one in points], ["against messages alone"],
                    lambda c, _: ratio(results, points[c], point(workload, "occ", "rpc")),
                    y_title="times the throughput",
                    references=[Reference("no difference", 1, 1)])
        if workload == "smallbank":
            plot.references.append(Reference("DrTM+H's own figure", DRTM_H_OVER_RPC,
                                             DRTM_H_OVER_RPC, x=len(points) - 1))
        faster = [points[int(mark.x)].label for mark in plot.series[0].marks
                  if mark.y.median > 1 and mark.x < len(PHASES)]
        if plot.series[0].marks:
            plot.answer = "Faster than by message: " + (", ".join(faster) or "no phase alone") + "."
        return plot

    def figures(results):
        every = [figure(results, workload) for workload in workloads
                 for figure in (overall, chosen)]
        every += [stages(results, form) for form in BOTH] + [messages(results)]
        if not settings.small:
            every += [over_tcp(results), threads(results)]
            every += [computation(results, form) for form in BOTH]
        of_h = [workload for workload in workloads if workload != "ycsb"]
        return every + [figure(results, workload) for workload in of_h
                        for figure in (steps, phases)]

    groups = [Group(f"{protocol} on {workload}", [point(workload, protocol, form)
                                                  for form in FORMS[:3]], THROUGHPUT)
              for workload in workloads for protocol in PROTOCOLS]
    groups += [Group(f"{protocol} on {workload}, hybrid", [point(workload, protocol, "hybrid")],
                     "/result/run/throughput_per_s")
               for workload in workloads for protocol in PROTOCOLS]
    groups += [Group(f"{form}, one coroutine", one_coroutine(form), THROUGHPUT) for form in BOTH]
    if not settings.small:
        groups += [Group(f"{protocol} {form}, threads", threaded(protocol, form), THROUGHPUT)
                   for protocol in TIMED for form in BOTH]
        groups += [Group(f"{protocol}, computing", [computing(protocol, form) for form in BOTH],
                         "/result/rows/0/throughput_per_s") for protocol in PROTOCOLS]
    for workload in workloads:
        if workload == "ycsb":
            continue
        groups += [Group(f"{workload}, {form}, optimisations", cumulative(workload, form),
                         THROUGHPUT) for form in BOTH]
        groups += [Group(f"{workload}, phases", [point(workload, "occ", "rpc"), *phased(workload)],
                         THROUGHPUT)]
    return Study(
        "rcc", "RCC and DrTM+H: protocols, stages and optimisations at their settings",
        "What of RCC's and DrTM+H's findings holds here, with four nodes and three copies?",
        groups, figures,
        [emulation(settings, 2 * NODES),
         "The log stage writes to two backups. tcp goes through the kernel's sockets, and the "
         "network's delays come on top.",
         "RCC had eight machines of ten threads and 100 Gb/s adapters, DrTM+H sixteen."])
