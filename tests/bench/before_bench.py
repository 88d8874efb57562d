#!/usr/bin/env python3
"""Compares the cost of this build with that of an earlier one, to see what a change costs.

    before_bench.py COMMAND BEFORE [--instructions] [--rows TEXT] [--rounds N]

COMMAND and BEFORE are two builds of the slimgraph command. Each row is a command line that both
builds run in turn. A row shows the median processor seconds of all nodes, and their ratio; the bar
is 1.05. Rows that take long have fewer rounds. With --instructions, valgrind counts instructions
instead, which do not depend on other load: only rows on one node are run, and once. --rows runs
only the rows whose name contains TEXT. Each row's result is verified before it is measured.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

from turns import in_turn

BAR = 1.05
LIMIT_S = 20  # for the rounds of a row
SHAPES = {"(1,1)": [], "(4,4)": ["--nodes", "4"], "(4,1)": ["--nodes", "4", "--compute", "1"],
          "(4,1) serve": ["--nodes", "4", "--compute", "1", "--memory-side", "serve"]}
PROTOCOLS = ["nowait", "waitdie", "occ", "mvcc", "sundial", "calvin"]


class Row:
    def __init__(self, name, words, check=(), store=None):
        self.name, self.words, self.check, self.store = name, words, list(check), store
        self.on_one_node = "--nodes" not in words


def rows(folder, scale, make_graph):
    """The command lines. `make_graph` calls a build of the command."""
    plain, weighted = (os.path.join(folder, name) for name in ("plain.slim", "weighted.slim"))
    small = os.path.join(folder, "small.slim")
    make_graph("gen", "kron", "-s", str(scale), "--seed", "1", "-o", plain)
    make_graph("gen", "kron", "-s", str(scale), "--seed", "1", "--weights", "1..255", "-o",
               weighted)
    make_graph("gen", "kron", "-s", str(scale - 5), "--seed", "1", "-o", small)
    vertex = {"bfs": [plain, "--source", "1"], "sssp": [weighted, "--source", "1"],
              "pagerank": [plain], "cc": [plain], "bc": [plain, "--sources", "1"]}
    mining = {"triangles": [plain], "cliques -k 4": [plain], "motifs -k 3": [plain],
              "motifs -k 4": [small], "match --pattern house": [small]}
    for application, words in vertex.items():
        for shape, options in SHAPES.items():
            yield Row(f"{application} {shape}", [application, *words, *options], ["--verify"])
    for application, words in mining.items():
        name, *more = application.split()
        for shape, options in SHAPES.items():
            if "serve" not in shape:
                yield Row(f"{application} {shape}", [name, *words, *more, *options])
    for protocol in PROTOCOLS:
        for workload, transactions in (("smallbank", 20_000), ("ycsb", 5_000)):
            run = ["txn", "run", "--workload", workload, "--protocol", protocol,
                   "--transactions", str(transactions), "--seconds", "60"]
            yield Row(f"{workload} {protocol} (1,1)", run)
            yield Row(f"{workload} {protocol} (2,2)", [*run, "--nodes", "2"])
    for workload in ("linkbench", "edge-updates"):
        yield Row(f"{workload} occ (1,1)",
                  ["txn", "run", "--workload", workload, "--protocol", "occ",
                   "--transactions", "10000", "--seconds", "60"], store=small)


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder, self.builds = options, folder, [options.command, options.before]

    def run(self, build, words, wrapper=()):
        """The processor seconds of a command line, and its report."""
        # wait4 tells the time of this process and of those that it has waited for: its nodes.
        output = os.path.join(self.folder, "output")
        with open(output, "w+", encoding="utf-8") as out:
            child = subprocess.Popen([*wrapper, build, *words], cwd=self.folder, stdout=out,
                                     stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
            _, errors = child.communicate(timeout=1200) if wrapper else (None, child.stderr.read())
            if not wrapper:
                _, status, usage = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode != 0:
                raise RuntimeError(f"{build} {' '.join(words)}: {errors.strip()}")
            out.seek(0)
            text = out.read()
        if wrapper:
            return sum(int(count) for count in re.findall(r"Collected : (\d+)", errors)), None
        report = json.loads(text) if text.startswith("{") else None
        return usage.ru_utime + usage.ru_stime, report

    def words_of(self, row, build):
        if row.store is None:
            return [*row.words, "--json"]
        # A store of its own for each build, since a run changes it.
        store = os.path.join(self.folder, f"store{self.builds.index(build)}")
        if not os.path.exists(store):
            self.run(build, ["store", "create", row.store, "-o", store])
        return [*row.words, "--json", "--store", store]

    def cost(self, row, build):
        if not self.options.instructions:
            return self.run(build, self.words_of(row, build))[0]
        return self.run(build, [*self.words_of(row, build), "--threads", "1"],
                        ["valgrind", "--tool=callgrind", "--trace-children=yes",
                         "--callgrind-out-file=/dev/null"])[0]

    def verify(self, row):
        """Raises an exception if the result of this build is wrong, or counts differ."""
        now, before = self.builds
        report = self.run(now, [*self.words_of(row, now), *row.check])[1]
        if row.words[0] == "txn":
            right = report["verified"] is True
        elif row.check:
            right = True  # otherwise the command has ended with exit code 1
        else:
            right = report["result"] == self.run(before, self.words_of(row, before))[1]["result"]
        if not right:
            raise RuntimeError(f"{row.name}: the result is wrong")

    def compare(self, row):
        self.verify(row)
        rounds = 1 if self.options.instructions else self.options.rounds
        now, before = self.builds
        costs = in_turn({now: lambda: self.cost(row, now),
                         before: lambda: self.cost_if_possible(row, before)}, rounds, LIMIT_S)
        return costs[now], costs[before]

    def cost_if_possible(self, row, build):
        try:
            return self.cost(row, build)
        except RuntimeError:
            return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command")
    parser.add_argument("before")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--rows", default="")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--scale", type=int, default=0,
                        help="default 18, or 14 with --instructions")
    options = parser.parse_args()
    options.command, options.before = map(os.path.abspath, (options.command, options.before))
    unit = "instructions" if options.instructions else "processor seconds"
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        print(f"{unit:34}{'now':>16}{'before':>16}{'ratio':>8}")
        scale = options.scale or (14 if options.instructions else 18)
        for row in rows(folder, scale, lambda *words: bench.run(options.command, words)):
            if options.rows not in row.name or options.instructions and not row.on_one_node:
                continue
            try:
                now, before = bench.compare(row)
            except RuntimeError as reason:
                sys.exit(f"before_bench: {reason}")
            form = ",.0f" if options.instructions else ".3f"
            print(f"{row.name:34}{now:16{form}}", end="")
            if before is None:
                print(f"{'fails':>16}", flush=True)
                continue
            verdict = "  MISSED" if now > before * BAR else ""
            print(f"{before:16{form}}{now / before:8.3f}{verdict}", flush=True)
            missed += now > before * BAR
    print(f"{missed} bars missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
