"""Lock tables on thousands of simulated cores, and two-phase locking on real nodes: the experiments
of Barthels et al., "Strong consistency is not hard to get" (PVLDB 12, 2019)."""
from slimgraph.lab.figures import NOT_ENOUGH, Figure, Reference, bars
from slimgraph.lab.spread import short_number
from slimgraph.lab.studies.support import (THROUGHPUT, TXN_NODES, emulation, line, txn_point,
                                           txn_settings)
from slimgraph.lab.study import Group, Point, Study

# A name, and the options of `txn replay`.
VARIANTS = [("bounded wait", ["--protocol", "boundedwait"]),
            ("wait die", ["--protocol", "waitdie"]),
            ("no wait", ["--protocol", "nowait"]),
            ("timestamp order", ["--protocol", "to"]),
            ("bounded wait, read committed",
             ["--protocol", "boundedwait", "--isolation", "read-committed"]),
            ("timestamp order, read committed",
             ["--protocol", "to", "--isolation", "read-committed"])]
BOUNDED = VARIANTS[0][1]
PHASES = [("locks", "/result/mean_us/locks"), ("rows", "/result/mean_us/rows"),
          ("vote", "/result/mean_us/vote"), ("end", "/result/mean_us/end"),
          ("aborted attempts", "/result/mean_us/aborted_attempts")]
DELAYS_US = [0, 1, 3, 16, 100, 1000]
SEPARATE = ["--separate-servers"]  # as on memory nodes
ESCALATE = [0, 100, 20, 5]
# What the paper's text says of 4,096 cores and 2,048 warehouses, in million transactions per
# second.
PAPER_AT_4096 = [("two-phase locking, in the paper", 21), ("timestamp order, in the paper", 24.5),
                 ("two-phase locking, read committed, in the paper", 32),
                 ("timestamp order, read committed, in the paper", 38)]
PAPER_SLOWER_AT_1_MS = 44
BRIEFLY = ["boundedwait", "--lock-timeout", "500us"]
REAL = [("bounded wait", BRIEFLY), ("wait die", ["waitdie"]), ("no wait", ["nowait"]),
        ("timestamp order", ["to"]),
        ("bounded wait, read committed", [*BRIEFLY, "--isolation", "read-committed"])]


class Sizes:
    """How large the machines and the traces are."""

    def __init__(self, small):
        self.cores = [8, 32] if small else [64, 256, 1024, 4096]
        self.recorded = 4 if small else 64  # warehouses
        self.record = 800 if small else 20_000  # transactions
        self.copies = 4 if small else 32
        self.half_contended = 2 if small else 16  # copies
        # Simulated, by copies. Where transactions wait, many times as long as a wait may be.
        self.seconds = {self.copies: 0.002, self.half_contended: 0.005, 1: 0.02}
        self.delay_cores, self.of_a_node = (8, 2) if small else (256, 32)
        self.warehouses = [1, 4] if small else [1, 4, 16, 64]


def replay(sizes, options, cores, copies, seconds, label):
    words = ["txn", "replay", "--rows", sizes.recorded, "--population", 0.05, "--record",
             sizes.record, "--copies", copies, "--cores", cores, "--seconds", seconds, *options]
    return Point(label, [str(word) for word in words])


def times(one, other):
    """How many times `other` one is, in words; "" if one of them was not measured."""
    return short_number(one.median / other.median) if one and other and other.median else ""


def study(settings):
    sizes = Sizes(settings.small)
    wide, most = sizes.copies, sizes.cores[-1]
    warehouses = sizes.recorded * wide

    def scaling(copies):
        """The points of each variant, by cores."""
        return [[replay(sizes, options, cores, copies, sizes.seconds[copies],
                        f"{name}, {cores} cores")
                 for cores in sizes.cores] for name, options in VARIANTS]

    def delayed(more=()):
        return [replay(sizes, [*BOUNDED, "--delay", f"{us}us", "--cores-per-node", sizes.of_a_node,
                               *more], sizes.delay_cores, 2, 0.1 if us > 100 else 0.01,
                       " ".join([f"{us} us", *more])) for us in DELAYS_US]

    def escalated():
        return [[replay(sizes, [*BOUNDED, "--escalate", rows], cores, 1, sizes.seconds[1],
                        f"more than {rows} rows, {cores} cores" if rows else f"rows, {cores} cores")
                 for rows in ESCALATE] for cores in (2 * sizes.recorded, 8 * sizes.recorded)]

    def real():
        return [[txn_point(txn_settings(settings), "run", "tpcc", words[0],
                           [*words[1:], "--rows", str(rows), "--population", "0.02",
                            "--coroutines", "8"], f"{name}, {rows} warehouses")
                 for rows in sizes.warehouses] for name, words in REAL]

    def by_cores(results, title, points, path, factor, y_title, **more):
        plot = Figure(title, kind="lines", x_title="cores, half of them servers", y_title=y_title,
                      log_x=True, **more)
        for style, ((name, _), row) in enumerate(zip(VARIANTS, points)):
            plot.series.append(line(results, name, style, zip(sizes.cores, row), path, factor))
        return plot

    def throughput(results, copies):
        points = scaling(copies)
        plot = by_cores(results, f"{sizes.recorded * copies} warehouses: throughput", points,
                        THROUGHPUT, 1e-6, "million transactions per second", log_y=True)
        first, last = (results.of(points[0][i], THROUGHPUT) for i in (0, -1))
        grown = times(last, first)
        if copies == wide and grown:
            plot.answer = (f"{most // sizes.cores[0]} times the cores bring {grown} times the "
                           "throughput (bounded wait).")
        elif grown:
            none = times(last, results.of(points[2][-1], THROUGHPUT))
            plot.answer = (f"From {sizes.cores[0]} to {most} cores, bounded wait brings {grown} "
                           f"times the throughput. At {most} it is {none} times no wait's.")
        if copies == wide and not settings.small:
            plot.references = [Reference(name, value, value) for name, value in PAPER_AT_4096]
        return plot

    def requests(results):
        points = scaling(wide)
        plot = by_cores(results, f"{warehouses} warehouses: requests of locks", points,
                        "/result/requests_per_s", 1e-6, "million per second", log_y=True)
        each = [results.of(points[i][-1], "/result/per_transaction/requests") for i in (0, 4)]
        if all(each):
            plot.answer = (f"A transaction requests {short_number(each[0].median)} locks, and "
                           f"{short_number(each[1].median)} under read committed; in the paper, "
                           "52.6 and 27.6.")
        return plot

    def breakdown(results, copies):
        points = scaling(copies)[0]
        plot = bars(f"{sizes.recorded * copies} warehouses: where the time goes, bounded wait",
                    [f"{cores} cores" for cores in sizes.cores], [name for name, _ in PHASES],
                    lambda c, s: results.of(points[c], PHASES[s][1]), y_title="microseconds")
        found = [results.of(points[-1], path) for _, path in PHASES]
        if all(found) and sum(one.median for one in found) > 0:
            share = 100 * found[0].median / sum(one.median for one in found)
            plot.answer = f"At {most} cores, {share:.0f} % of the time goes to locks."
            if copies == wide:
                plot.answer += " In the paper, three quarters do."
        return plot

    def aborts(results):
        points = scaling(1)
        plot = by_cores(results, f"{sizes.recorded} warehouses: aborts", points,
                        "/result/abort_rate", 100, "% of all attempts")
        rates = [(results.of(points[i][-1], "/result/abort_rate", 100), name)
                 for i, (name, _) in enumerate(VARIANTS[:3])]
        if all(rate for rate, _ in rates):
            fewest = min(rates, key=lambda pair: pair[0].median)
            plot.answer = (f"At {most} cores, {fewest[1]} aborts least of the three: "
                           f"{short_number(fewest[0].median)} % of attempts. In the paper, that "
                           "is bounded wait.")
        return plot

    def delays(results):
        points = delayed()
        plot = Figure(f"{2 * sizes.recorded} warehouses: delay between nodes", kind="lines",
                      x_title="microseconds, one way", y_title="thousand transactions per second",
                      log_y=True)
        plot.series.append(line(results, "servers beside transactions", 0, zip(DELAYS_US, points),
                                THROUGHPUT, 1e-3))
        plot.series.append(line(results, "servers on nodes of their own", 1,
                                zip(DELAYS_US, delayed(SEPARATE)), THROUGHPUT, 1e-3))
        slower = times(results.of(points[0], THROUGHPUT), results.of(points[-1], THROUGHPUT))
        if slower:
            plot.answer = (f"With a delay of 1 ms, throughput is {slower} times lower; in the "
                           f"paper, {PAPER_SLOWER_AT_1_MS} times.")
            apart = times(results.of(delayed(SEPARATE)[0], THROUGHPUT),
                          results.of(points[0], THROUGHPUT))
            if apart:
                plot.answer += (f" Without a delay, servers on nodes of their own bring {apart} "
                                "times the throughput.")
        return plot

    def granularity(results):
        points = escalated()
        names = ["rows alone"] + [f"a part from {rows + 1} rows on" for rows in ESCALATE[1:]]
        cores = [2 * sizes.recorded, 8 * sizes.recorded]
        plot = bars(f"{sizes.recorded} warehouses: what is locked",
                    [f"{count} cores" for count in cores], names,
                    lambda c, s: results.of(points[c][s], THROUGHPUT, 1e-3),
                    y_title="thousand transactions per second", log_y=True)
        with_few, with_many = (
            times(results.of(row[2], THROUGHPUT), results.of(row[0], THROUGHPUT))
            for row in points)
        if with_few and with_many:
            plot.answer = (f"Locks on parts of tables bring {with_few} times the throughput with "
                           f"an agent for each warehouse, and {with_many} times with four.")
        return plot

    def on_nodes(results, title, path, factor, y_title):
        plot = Figure(f"real nodes: {title}", kind="lines", x_title="warehouses", y_title=y_title,
                      log_x=True)
        points = real()
        for style, ((name, _), row) in enumerate(zip(REAL, points)):
            plot.series.append(line(results, name, style, zip(sizes.warehouses, row), path, factor))
        bounded, none = (results.of(points[i][0], path) for i in (0, 2))
        ratio = times(bounded, none)
        plot.answer = (f"With {sizes.warehouses[0]} warehouse, bounded wait has {ratio} times no "
                       f"wait's {title}.") if ratio else NOT_ENOUGH
        return plot

    def figures(results):
        return [throughput(results, wide), requests(results), breakdown(results, wide),
                throughput(results, sizes.half_contended), throughput(results, 1),
                breakdown(results, 1), aborts(results), delays(results), granularity(results),
                on_nodes(results, "throughput", THROUGHPUT, 1e-3,
                         "thousand transactions per second"),
                on_nodes(results, "aborts", "/result/abort_rate", 100, "% of all attempts")]

    simulated = [Group(f"{sizes.recorded * copies} warehouses, {name}", row, THROUGHPUT, once=True)
                 for copies in (wide, sizes.half_contended, 1)
                 for (name, _), row in zip(VARIANTS, scaling(copies))]
    simulated += [Group("delay", [*delayed(), *delayed(SEPARATE)], THROUGHPUT, once=True)]
    simulated += [Group(row[0].label, row, THROUGHPUT, once=True) for row in escalated()]
    return Study(
        "locks", "Locks: two-phase locking on thousands of cores",
        "Does two-phase locking scale, and what do contention, weaker isolation and a slow network "
        "cost?",
        simulated + [Group(f"real nodes, {name}", row, THROUGHPUT)
                     for (name, _), row in zip(REAL, real())], figures,
        [f"The figures with numbers of cores are simulated: {sizes.record} transactions of TPC-C "
         f"on {sizes.recorded} warehouses are run and recorded, and their locks replayed. More "
         "warehouses are copies of these. The durations of messages and servers are chosen to "
         "give the paper's throughput at 4,096 cores; everything else follows from them.",
         "A simulation gives the same figures each time, so each of its points runs once.",
         "In the figures with few warehouses, each belongs to several agents. A wait is bounded "
         "by 1 ms; the paper has 100 ms, with which deadlocks cost most of the throughput here.",
         "The figures of real nodes run TPC-C on two nodes, with their data. There a wait is "
         "bounded by 0.5 ms. " +
         emulation(txn_settings(settings), TXN_NODES)])
