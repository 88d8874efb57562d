#!/usr/bin/env python3
"""The performance bars of graphs that change: `make bench-store`, or store_bench.py COMMAND.

Runs that are compared alternate, and medians are shown. Rates are per second of wall-clock time.
Beside each rate is the rate per second of processor time, which other load hardly affects. Some
bars are the speed of another engine, measured on two cores: GDI-RMA 242,000 LinkBench queries/s on
two ranks (kron 16), LiveGraph 22,000 single-edge transactions/s.
"""
import argparse
import filecmp
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from turns import in_turn

GDI_RMA_QUERIES = 242_000
LIVEGRAPH_EDGES = 22_000
UPDATES = 2_000_000


class Bench:
    def __init__(self, options, folder):
        self.command, self.options, self.folder, self.missed = options.command, options, folder, 0

    def file(self, name):
        return os.path.join(self.folder, name)

    def run(self, *words):
        """Returns what the command prints with --json, and the processor time that it took."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([self.command, *words, "--json"], capture_output=True, text=True,
                              timeout=600, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            sys.exit(f"store_bench: slimgraph {' '.join(words)}: {done.stderr.strip()}")
        cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        report = json.loads(done.stdout) if done.stdout else {}
        if words[0] == "txn" and report.get("verified") is not True:
            sys.exit(f"store_bench: slimgraph {' '.join(words)}: its data was not verified")
        return report, cpu_s

    def create(self, graph, store, *more):
        words = [self.file(graph) if graph else "--empty", "-o", self.file(store), *more]
        subprocess.run([self.command, "store", "create", *words], check=True,
                       stdout=subprocess.DEVNULL)

    def tell(self, claim, value, bar, at_least, unit="", more=""):
        met = value >= bar if at_least else value <= bar
        self.missed += not met
        print(f"{'met' if met else 'MISSED':<7}{claim}: {value:,.4g}{unit}, bar at "
              f"{'least' if at_least else 'most'} {bar:,.4g}{unit}{more}", flush=True)

    # --- analytics on a store that was folded and exported, compared with the same graph's plain
    # file
    def instructions(self, words):
        """The instructions of the command on one node: by the processor's counters, or else under
        valgrind, which is deterministic."""
        out = self.file("counted")
        if shutil.which("perf") is not None:
            done = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", "-o", out,
                                   self.command, *words], capture_output=True, check=False)
            with open(out, encoding="utf-8") as file:
                counts = [line.split(",")[0] for line in file if "instructions" in line]
            if done.returncode == 0 and counts and counts[0].isdigit():
                return int(counts[0])
        if shutil.which("valgrind") is None:
            return None
        done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}",
                               self.command, *words], capture_output=True, timeout=600, check=False)
        if done.returncode != 0:
            return None
        with open(out, encoding="utf-8") as file:
            counts = [line.split()[1] for line in file if line.startswith(("summary:", "totals:"))]
        return int(counts[0]) if counts else None

    def verify(self, commands):
        """Runs once, outside the measured time: with --verify, or by comparing the counts."""
        verifies = [words[0] == "pagerank" for words in commands]
        reports = [self.run(*words, *(["--verify"] if verifies[0] else []))[0]
                   for words in commands]
        if verifies[0]:
            right = all(report.get("verified") for report in reports)
        else:
            right = all(report["result"] == reports[0]["result"] for report in reports)
        if not right:
            sys.exit(f"store_bench: {' and '.join(' '.join(words) for words in commands)}: "
                     "a result is wrong")

    def analytics(self):
        chooser, vertices = random.Random(2), 1 << self.options.scale
        names = ("all.txt", "most.txt", "rest.txt")
        with open(self.file(names[0]), "w", encoding="utf-8") as everything, \
                open(self.file(names[1]), "w", encoding="utf-8") as most, \
                open(self.file(names[2]), "w", encoding="utf-8") as rest:
            for _ in range(16 * vertices):  # degrees are skewed
                one, other = int(vertices * chooser.random() ** 3), chooser.randrange(vertices)
                line = f"{one} {other if other != one else (one + 1) % vertices}\n"
                everything.write(line)
                if chooser.randrange(10) == 0:
                    rest.write("+ " + line)
                else:
                    most.write(line)
        for text, slim in (("all.txt", "plain.slim"), ("most.txt", "most.slim")):
            self.run("convert", "--undirected", self.file(text), self.file(slim))
        self.create("most.slim", "grown")
        self.run("store", "apply", self.file("grown"), "--from", self.file("rest.txt"))
        self.run("store", "export", self.file("grown"), "-o", self.file("grown.slim"))
        same = filecmp.cmp(self.file("plain.slim"), self.file("grown.slim"), shallow=False)
        print(f"       the exported file is {'' if same else 'not '}identical to the plain file")
        for name, more in (("pagerank", ["--iterations", "100"]), ("triangles", [])):
            words = {which: [name, self.file(which), *more, "--nodes", "2"]
                     for which in ("plain.slim", "grown.slim")}
            self.verify(words.values())
            times = in_turn({which: lambda w=w: self.run(*w)[0]["time"]["run_s"]
                             for which, w in words.items()}, 3 * self.options.rounds)
            self.tell(f"{name} on a folded store against the plain file, time",
                      times["grown.slim"] / times["plain.slim"], 1.05, False)
            # Instruction counts hardly vary between runs and take long, so one run suffices.
            few = ["--iterations", "3"] if more else []
            counts = {which: self.instructions([name, self.file(which), *few, "--nodes", "1"])
                      for which in words}
            if None in counts.values():
                print(f"       {name}, instructions: neither perf nor valgrind counts them here")
                continue
            self.tell(f"{name} on a folded store against the plain file, instructions",
                      counts["grown.slim"] / counts["plain.slim"], 1.05, False)

    # --- analytics on snapshots of a graph in memory that has changed or is changing
    def snapshots(self, workload, *more):
        """The results on snapshots during the run, and on the last one, whose graph is exported."""
        result = self.transactions(workload, "bare", "--analytics", "pagerank,triangles",
                                   "--export", self.file("changed.slim"), *more)
        found = result[5]["analytics"]
        if isinstance(found, dict):
            found = list(found.values())
        return ([one for one in found if one["in_run"]],
                [one for one in found if not one["in_run"]])

    @staticmethod
    def expect_same(found, report):
        """Triangles on a snapshot and on its export must agree. Ranks are not compared, because
        their last digits vary; the data that they are computed from was verified."""
        if found["name"] == "triangles" and found["result"]["count"] != report["result"]["count"]:
            sys.exit(f"store_bench: {found['result']} triangles on a snapshot, and on its export "
                     f"{report['result']}")

    def unfolded(self):
        each = self.edges_of_graph() // 320
        taken = {}
        for _ in range(self.options.rounds):
            last = self.snapshots("edge-updates", "--seconds", "60", "--transactions", str(each),
                                  "--rows", str(320 * each), "--fold", "0")[1]
            for one in last:
                report = self.run(one["name"], self.file("changed.slim"), "--nodes", "2")[0]
                plain = report["time"]
                self.expect_same(one, report)
                changed = one["gather_s"] + one["load_s"] + one["run_s"]
                taken.setdefault(one["name"], []).append(
                    (one["run_s"] / plain["run_s"], changed / (plain["load_s"] + plain["run_s"])))
        for name, ratios in taken.items():
            claim = f"{name} with 10 % of the edges rewritten, not folded, against the plain file"
            self.tell(f"{claim}, running", statistics.median(r[0] for r in ratios), 1.3, False)
            self.tell(f"{claim}, with the snapshot and loading",
                      statistics.median(r[1] for r in ratios), 1.3, False)

    def beside(self):
        """Two nodes write at full speed while two run analytics, on the available processors. Times
        are divided by the number of edges, because the graph grows."""
        processors = len(os.sched_getaffinity(0))
        share = (2 + 2) / min(processors, 4)  # slowdown if all threads get equal time
        taken = {}
        for _ in range(self.options.rounds):
            meanwhile, after = self.snapshots("edge-updates", "--seconds",
                                              str(2 * self.options.seconds))
            for one in after:
                each = [other["run_s"] / other["edges"] for other in meanwhile
                        if other["name"] == one["name"]]
                taken.setdefault(one["name"], []).append(
                    statistics.median(each) / (one["run_s"] / one["edges"]))
        for name, ratios in taken.items():
            self.tell(f"{name} beside writers of a thread on each node, against none, running",
                      statistics.median(ratios), share, False, " x",
                      f"; {processors} processors for four threads")

    # --- transactions
    def transactions(self, workload, store, *more):
        """Commits/s, commits per second of processor time, retries, commits, result, report."""
        report, cpu_s = self.run(
            "txn", "run", "--workload", workload, "--store", self.file(store), "--protocol",
            self.options.protocol, "--nodes", "2", "--coroutines", "16", *more)
        result = report["result"]
        return (result["throughput_per_s"], result["committed"] / cpu_s, result["aborted"],
                result["committed"], result, report)

    def rates(self, measures):
        """The medians of the first four values of each measure, by name."""
        taken = {name: [] for name in measures}
        for _ in range(self.options.rounds):
            for name, measure in measures.items():
                taken[name].append(measure())
        return {name: [statistics.median(one[i] for one in runs) for i in range(4)]
                for name, runs in taken.items()}

    def linkbench(self):
        seconds = ["--seconds", str(self.options.seconds)]
        rate = self.rates({"mix": lambda: self.transactions("linkbench", "linked", *seconds)})
        a_second, a_cpu_second, aborted, committed = rate["mix"]
        # A transaction that conflicts is retried until it commits, so none fails.
        self.tell("LinkBench mix on two nodes", a_second, 2 * GDI_RMA_QUERIES, True, "/s",
                  f"; {a_cpu_second:,.0f} for each second of processor time, 0 failed, "
                  f"{100 * aborted / committed:.2f} % retried")

    def edges(self):
        each = ["--transactions", "20000", "--seconds", "60", "--rows", "2000000"]
        rate = self.rates({hot: lambda hot=hot: self.transactions(
            "edge-updates", "linked", *each, "--hot", hot) for hot in ("0", "0.99")})
        a_second, a_cpu_second, *_ = rate["0"]
        self.tell("single-edge transactions on two nodes", a_second, 10 * LIVEGRAPH_EDGES, True,
                  "/s", f"; {a_cpu_second:,.0f} for each second of processor time")
        self.tell("the slowdown with 99 % of them at one vertex, by time",
                  a_second / rate["0.99"][0], 2, False, " x",
                  f"; by processor time {a_cpu_second / rate['0.99'][1]:.2f} x")

    @staticmethod
    def edge(one, other):
        one, other = int(one), int(other)
        return min(one, other) << 32 | max(one, other)

    def edges_of(self, graph):
        self.run("match", self.file(graph), "--pattern", "edge", "--list", self.file("edges.txt"))
        with open(self.file("edges.txt"), encoding="ascii") as file:
            return {self.edge(*line.split()) for line in file if line[0] != "#"}

    def apply(self):
        chooser, path = random.Random(1), self.file("updates.txt")
        vertices = 1 << self.options.scale
        with open(path, "w", encoding="utf-8") as file:
            for _ in range(UPDATES):
                file.write(f"+ {chooser.randrange(vertices)} {chooser.randrange(vertices)}\n")

        def once(*words):
            start, cpu_s = time.monotonic(), self.run("store", *words)[1]
            return UPDATES / (time.monotonic() - start), UPDATES / cpu_s, 0, UPDATES

        def verify():
            """Checks that the updates added each of their edges, and no other edge."""
            apply()
            self.run("store", "export", self.file("applied"), "-o", self.file("applied.slim"))
            self.run("info", self.file("applied.slim"), "--check")
            wanted = self.edges_of("g.slim")
            with open(path, encoding="ascii") as file:
                wanted |= {self.edge(*line.split()[1:]) for line in file}
            loops = {self.edge(v, v) for v in range(vertices)}  # not in the list of edges
            if self.edges_of("applied.slim") != wanted - loops:
                sys.exit("store_bench: store apply: the edges afterwards are wrong")

        def apply():
            shutil.rmtree(self.file("applied"), ignore_errors=True)
            self.create("g.slim", "applied")
            return once("apply", self.file("applied"), "--from", path)

        verify()
        rates = self.rates({"apply": apply, "merge": lambda: once(
            "export", self.file("applied"), "-o", self.file("applied.slim"))})
        a_second, a_cpu_second, *_ = rates["apply"]
        self.tell("store apply of 2 million edges", a_second, 2_000_000, True, "/s",
                  f"; {a_cpu_second:,.0f} for each second of processor time")
        both, by_cpu = (1 / (1 / rates["apply"][i] + 1 / rates["merge"][i]) for i in range(2))
        self.tell("the same, merged with the base too", both, 2_000_000, True, "/s",
                  f"; {by_cpu:,.0f} for each second of processor time")

    # --- memory, without properties
    def edges_of_graph(self):
        return self.run("info", self.file("g.slim"))[0]["graph"]["edges"]

    def memory(self):
        edges = self.edges_of_graph()
        for claim, each, more in (("as loaded", 1, []),
                                  ("with 10 % of the edges rewritten", edges // 320, []),
                                  ("the same, never folded", edges // 320, ["--fold", "0"])):
            result = self.transactions("edge-updates", "bare", "--seconds", "60", "--transactions",
                                       str(each), "--rows", str(edges // 10), *more)[4]
            ratio, parts = self.against_csr(result)
            if more:
                print(f"       {claim}: {ratio:.3g} x; {parts}", flush=True)
                continue
            folds = result["folding"]
            self.tell(f"memory of the store, {claim}, against CSR", ratio, 1.5, False, " x",
                      f"; {parts}; {folds['folds']} folds, which stopped transactions for "
                      f"{1e3 * folds['longest_pause_s']:.1f} ms at most")


        # A read of an absent key leaves a tuple behind, because absence is protected like any
        # value.
        seconds = str(5 * self.options.seconds)
        result = self.transactions("tao", "bare", "--seconds", seconds)[4]
        ratio, parts = self.against_csr(result)
        count = result["committed"]
        print(f"       under TAO's mix, {count:,} transactions: {ratio:.3g} x; {parts}",
              flush=True)

    @staticmethod
    def against_csr(result):
        taken = dict(result["memory_bytes"])
        csr = taken.pop("csr")
        parts = ", ".join(f"{what} {part / csr:.2f}" for what, part in taken.items() if part)
        return sum(taken.values()) / csr, parts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--scale", type=int, default=16)
    parser.add_argument("--protocol", default="occ")
    parser.add_argument("--only",
                        help="analytics, unfolded, beside, linkbench, edges, apply, memory")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="slimgraph-bench-") as folder:
        bench = Bench(options, folder)
        bench.run("gen", "kron", "-s", str(options.scale), "-o", bench.file("g.slim"))
        bench.create("g.slim", "bare")
        bench.create("g.slim", "linked", "--vertex-bytes", "128", "--edge-bytes", "8")
        for part in (bench.analytics, bench.unfolded, bench.beside, bench.linkbench, bench.edges,
                     bench.apply, bench.memory):
            if options.only in (None, part.__name__):
                part()
        print(f"{bench.missed} bars missed")


main()
