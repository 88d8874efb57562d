#!/usr/bin/env python3
"""replay.py PROGRAM [OTHER…]: tests that seeds replay exactly, by trace hashes of all scenarios.

Each seed runs together with others in one process, alone in a process of its own, and in OTHER. An
OTHER is another build of PROGRAM, or a file with what it has printed elsewhere for the same --from
and --seeds. OTHER runs with other addresses of memory, another environment, folder, number of
processors and numbers of descriptors. Without OTHER, builds a copy of the tree in another folder.
The last line counts the scenarios.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
COPY = os.path.join(ROOT, "build/replay/a-folder-of-a-longer-name")
TOTAL = re.compile(r"^(\S+) +(\d+) seeds passed, trace hash ([0-9a-f]{16})$", re.M)
ALONE = re.compile(r"^trace hash ([0-9a-f]{16}), (.*)$", re.M)
MOST_SEEDS = 20  # that simulate runs in one process


def build_copy(make):
    """Builds a copy of the tree; returns its simulate. The objects of an earlier copy are used."""
    os.makedirs(os.path.join(COPY, "build"), exist_ok=True)
    for name in os.listdir(COPY):
        path = os.path.join(COPY, name)
        if not os.path.isdir(path):
            os.remove(path)
        elif name != "build":
            shutil.rmtree(path)
    shutil.copytree(ROOT, COPY, symlinks=True, dirs_exist_ok=True, ignore=lambda where, names: [
        name for name in names if where == ROOT and name in ("build", ".git")])
    for name in os.listdir(os.path.join(ROOT, "build")):  # which packages are installed
        if name.startswith("."):
            shutil.copy2(os.path.join(ROOT, "build", name), os.path.join(COPY, "build", name))
    program = "build/sim/tests/simulate"
    subprocess.run([*make.split(), "MODE=sim", program], cwd=COPY, check=True)
    return os.path.join(COPY, program)


class Simulate:
    """A build of simulate, called as if on another machine if `elsewhere`."""

    DESCRIPTORS = 200  # that are open when a program begins elsewhere

    def __init__(self, program, elsewhere):
        self.program = os.path.abspath(program)
        self.options = {}
        if not elsewhere:
            return
        self.folder = tempfile.TemporaryDirectory(prefix="slimgraph-replay-of-a-longer-name-")
        # Large blocks of memory lie elsewhere, and memory that is not initialised differs.
        self.options = {"cwd": self.folder.name, "env": {
            **os.environ, "TMPDIR": self.folder.name, "MALLOC_MMAP_THRESHOLD_": "4096",
            "MALLOC_PERTURB_": "85", "SOMETHING": "long " * 100}}
        self.options["pass_fds"] = [os.dup(0) for _ in range(self.DESCRIPTORS)]
        processor = min(os.sched_getaffinity(0))
        self.options["preexec_fn"] = lambda: os.sched_setaffinity(0, {processor})

    def run(self, *words):
        return subprocess.run([self.program, *map(str, words)], capture_output=True, text=True,
                              check=False, **self.options).stdout

    def totals(self, options):
        return totals_of(self.run("--from", options.start, "--seeds", options.seeds,
                                  *options.scenarios))

    def alone(self, scenario, seed):
        """The trace hash of one seed, and its figures in words."""
        found = ALONE.search(self.run("--seed", seed, scenario))
        return (int(found[1], 16), found[2]) if found else (0, "it has not ended")


def totals_of(text):
    return {name: (int(count), int(trace, 16)) for name, count, trace in TOTAL.findall(text)}


def check(scenario, first, here, others, start):
    """Says how the seeds of a scenario differ."""
    count, trace = first[scenario]
    alone = 0
    for seed in range(start, start + count):
        alone ^= here.alone(scenario, seed)[0] * seed % 2**64
    if alone != trace:
        return "its seeds run otherwise in processes of their own"
    for name, totals, simulate in others:
        if totals.get(scenario) == first[scenario]:
            continue
        for seed in range(start, start + count if simulate else start):
            mine, theirs = here.alone(scenario, seed), simulate.alone(scenario, seed)
            if mine != theirs:
                return f"seed {seed}: {mine[1]} here, but {theirs[1]} in {name}"
        return f"{totals.get(scenario)} in {name}, not {first[scenario]}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--make", default="make")
    parser.add_argument("--from", dest="start", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--scenario", dest="scenarios", action="append", default=[])
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("others", nargs="*", metavar="OTHER")
    options = parser.parse_args()
    if not 1 <= options.seeds <= MOST_SEEDS:
        parser.error(f"--seeds: 1 to {MOST_SEEDS}")
    here = Simulate(options.program, False)
    first = here.totals(options)
    others = []
    for name in options.others or [build_copy(options.make)]:
        if os.access(name, os.X_OK):
            other = Simulate(name, True)
            others.append((name, other.totals(options), other))
        else:
            with open(name, encoding="utf-8") as file:
                others.append((name, totals_of(file.read()), None))
    passed = 0
    for scenario in first:
        why = check(scenario, first, here, others, options.start)
        passed += not why
        if why:
            print(f"  FAILED  {scenario}: {why}", flush=True)
    print(f"{passed} passed, {len(first) - passed} failed")
    return 0 if 0 < passed == len(first) else 1


if __name__ == "__main__":
    sys.exit(main())
