"""Runs a bench: rows of measures that are compared, each verified once, and bars.

    python3 -m slimgraph.lab bench FILE.py [PART …] [--rounds N] …

The file defines PARTS, functions of a Bench by name. It may define ROUNDS (the default of
--rounds), FAILS (then a missed bar is exit code 1), declare(parser) with own options, and
set_up(bench). The variable TEST_SLIMGRAPH_COMMAND names the command that is measured."""
import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from slimgraph.lab.failure import ENVIRONMENT, USAGE, Failure
from slimgraph.lab.raw import parse_json
from slimgraph.lab.studies import load_file

SLOW_S = 10  # measures that take longer are run once
SHAPES = [(1, 1), (4, 4), (4, 2), (4, 1)]
MIB = 1 << 20


class NotAllowed(Failure):
    """Nodes cannot be limited to shares of processors here; the message says why."""


def setting(name, default):
    """A number from the environment."""
    return type(default)(os.environ.get(name, default))


def seconds_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Bench:
    def __init__(self, name, options, folder):
        self.name, self.options, self.folder, self.missed = name, options, folder, 0
        self.rounds, self.limit_s = options.rounds, float("inf")
        self.command = os.path.abspath(
            os.environ.get("TEST_SLIMGRAPH_COMMAND", "build/release/slimgraph"))

    def file(self, name):
        return os.path.join(self.folder, name)

    def end(self, why):
        raise Failure(ENVIRONMENT, f"{self.name}: {why}")

    def run(self, *words, command=None, timeout_s=1200, not_allowed=""):
        """What a command line prints, and the processor seconds that it took on all nodes."""
        before_s = seconds_of_children()
        try:
            done = subprocess.run([command or self.command, *words], cwd=self.folder, text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s,
                                  check=False)
        except OSError as reason:
            self.end(f"cannot start {command or self.command}: {reason.strerror}")
        if done.returncode != 0:
            why = f"slimgraph {' '.join(words)}: {done.stderr.strip()}"
            if not_allowed and not_allowed in done.stderr:
                raise NotAllowed(ENVIRONMENT, done.stderr.strip())
            self.end(why)
        return done.stdout, seconds_of_children() - before_s

    def cost(self, *words, **how):
        """The report of a command line, and its processor seconds. Transactions must have verified
        their data."""
        text, cpu_s = self.run(*words, "--json", **how)
        report = parse_json(text, f"what {words[0]} printed") if text else {}
        if words[0] == "txn" and report.get("verified") is not True:
            self.end(f"slimgraph {' '.join(words)}: its data was not verified")
        return report, cpu_s

    def report(self, *words, **how):
        return self.cost(*words, **how)[0]

    def report_with_shares(self, nodes, percent, words):
        """The report of a job whose nodes each have the same share of a processor. So a node's
        speed does not depend on the number of compute nodes, even on one machine."""
        return self.report(*words, "--nodes", str(nodes), "--cpu-share", str(percent),
                           not_allowed="nodes cannot be limited here")

    def verify_same(self, *commands):
        """Ends the bench if command lines have different results."""
        results = [self.report(*words)["result"] for words in commands]
        if any(result != results[0] for result in results):
            self.end(f"{' and '.join(' '.join(words) for words in commands)}: {results}")

    def in_turn(self, measures, rounds=None, limit_s=None):
        """Calls each measure once per round, under the same conditions, and returns the medians. A
        measure returns None if it is not supported. No round starts that would exceed the limit if
        it took as long as the one before."""
        taken = {name: [] for name in measures}
        limit_s, start_s = self.limit_s if limit_s is None else limit_s, time.monotonic()
        for number in range(rounds or self.rounds):
            round_s = time.monotonic()
            for name, measure in measures.items():
                if number == 0 or (taken[name][0] is not None and taken[name][0] <= SLOW_S):
                    taken[name].append(measure())
            now_s = time.monotonic()
            if now_s - start_s + (now_s - round_s) > limit_s:
                break
        return {name: None if values[0] is None else statistics.median(values)
                for name, values in taken.items()}

    def tell(self, claim, value, bar, at_least, unit="", more=""):
        """Prints a row with a bar."""
        met = value >= bar if at_least else value <= bar
        self.missed += not met
        print(f"{'met' if met else 'MISSED':<7}{claim}: {value:,.4g}{unit}, bar at "
              f"{'least' if at_least else 'most'} {bar:,.4g}{unit}{more}", flush=True)

    def memory(self, title, graph, rows):
        """Compares the memory that runs announce with their peaks: on each node, the peak must be
        at most 1.1 x the announced memory plus 8 MiB. If a run visits all lists, it must announce
        at most twice the peak. `rows`: a command's words without its graph, and whether it visits
        all lists. Prints a line for each command and shape, with the nodes nearest to the two
        bars."""
        print(f"== memory, {title}: MiB announced and peak MiB, of the node that exceeds its "
              "announced memory most (bar 1.1 x + 8 MiB), and of the one that announces too much "
              "(bar 2 x)")
        limit_s = setting("MEMORY_LIMIT_S", 180)  # a longer run is aborted
        for words, visits_all in rows:
            for nodes, compute in SHAPES:
                name = " ".join(word for word in words if not os.path.isabs(word))
                name = f"{name:40} ({nodes},{compute})"
                try:
                    memory = self.report(words[0], graph, *words[1:], "--nodes", str(nodes),
                                         "--compute", str(compute), timeout_s=limit_s)["memory"]
                except subprocess.TimeoutExpired:
                    print(f"{name}   takes more than {limit_s} s", flush=True)
                    continue
                held = list(zip(memory["announced_bytes"], memory["peak_bytes"]))
                most = max(held, key=lambda one: one[1] - 1.1 * one[0])
                least = max(held, key=lambda one: one[0] / one[1])
                kept = most[1] <= 1.1 * most[0] + 8 * MIB
                close = not visits_all or least[0] <= 2 * least[1]
                self.missed += (not kept) + (not close)
                print(name + "".join(f"   {announced / MIB:8.1f} {peak / MIB:8.1f} = "
                                     f"{announced / peak:5.2f}"
                                     for announced, peak in (most, least))
                      + "   TOOK MORE" * (not kept) + "   ANNOUNCED FAR MORE" * (not close),
                      flush=True)


def run_bench(words):
    """Returns the exit code."""
    start_s = time.monotonic()
    try:
        if not words:
            raise Failure(USAGE, "bench needs the file of a bench")
        module, name = load_file(words[0]), os.path.basename(words[0]).removesuffix(".py")
        parser = argparse.ArgumentParser(prog=f"bench {name}", description=module.__doc__)
        parser.add_argument("parts", nargs="*", metavar="PART",
                            help=f"{', '.join(module.PARTS)}; by default all")
        parser.add_argument("--rounds", type=int, default=getattr(module, "ROUNDS", 5))
        getattr(module, "declare", lambda _: None)(parser)
        options = parser.parse_args(words[1:])
        unknown = [part for part in options.parts if part not in module.PARTS]
        if unknown:
            raise Failure(USAGE, f"{name}: no part is called {unknown[0]}; there are "
                          f"{', '.join(module.PARTS)}")
        with tempfile.TemporaryDirectory(prefix="slimgraph-bench-") as folder:
            bench = Bench(name, options, folder)
            getattr(module, "set_up", lambda _: None)(bench)
            for part in options.parts or module.PARTS:
                try:
                    module.PARTS[part](bench)
                except NotAllowed as failure:
                    print(f"== {part}: not measured, because nodes cannot be limited here: "
                          f"{failure}")
        print(f"took {time.monotonic() - start_s:.0f} s; {bench.missed} bars missed")
        return 1 if bench.missed and getattr(module, "FAILS", False) else 0
    except Failure as failure:
        print(f"slimgraph: {failure}", file=sys.stderr)
        return failure.code
