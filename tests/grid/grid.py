#!/usr/bin/env python3
"""Runs random points: random graphs, commands and options, each in new processes, each verified.

  grid.py [--seconds S] [--seed N] [--family NAME,…]     as many points as the time allows
  grid.py --seed N --point K       that point alone, which is shrunk if it fails

Seed and number determine a point. A point that fails is shrunk, and its folder with the graph and
all command lines is kept. The last line counts the points.
"""
import argparse
import concurrent.futures
import copy
import os
import random
import secrets
import shutil
import sys
import threading
import time

import mining
import pools
import shrink
import stores
import transactions
import vertex
from command import Workshop, Wrong

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
FAMILIES = {"vertex": vertex, "mining": mining, "pools": pools, "transactions": transactions,
            "stores": stores}
SHARES = {"vertex": 39, "mining": 21, "pools": 10, "transactions": 18, "stores": 12}
MOST_FAILURES = 5  # stop after that many failures


class Grid:
    def __init__(self, options):
        self.options = options
        self.seed = options.seed if options.seed is not None else secrets.randbelow(10**9)
        self.until = time.monotonic() + options.seconds
        self.lock = threading.Lock()
        self.next = 0
        self.counts = dict.fromkeys(FAMILIES, 0)
        self.failed = []

    def family_of(self, chance):
        names = [name for name in self.options.family.split(",") if name] or list(FAMILIES)
        return chance.choices(names, [SHARES[name] for name in names])[0]

    def workshop(self, name):
        return Workshop(os.path.join(self.options.folder, name), self.options.command,
                        self.options.checker)

    def work(self):
        while True:
            with self.lock:
                if time.monotonic() >= self.until or len(self.failed) >= self.options.failures:
                    return
                number = self.next
                self.next += 1
            self.try_point(number)

    def try_point(self, number):
        chance = random.Random(f"{self.seed}/{number}")
        name = self.family_of(chance)
        spec = FAMILIES[name].draw(chance)
        workshop = self.workshop(f"point{number}")
        wrong = None
        try:
            FAMILIES[name].check(spec, workshop)
        except Wrong as error:
            wrong = str(error)
        except Exception as error:  # pylint: disable=broad-except
            wrong = f"{type(error).__name__}: {error}"
        with self.lock:
            self.counts[name] += 1
            if wrong:
                self.failed.append((number, name, spec))
                self.tell(number, name, wrong, workshop)
        if not wrong:
            shutil.rmtree(workshop.folder, ignore_errors=True)

    def tell(self, number, name, wrong, workshop):
        workshop.write("commands.txt", "".join(line + "\n" for line in workshop.lines))
        print(f"FAILED point {number} ({name}): {wrong}")
        for line in workshop.lines:
            print(f"    {line}")
        family = f" GRID_FAMILY={self.options.family}" if self.options.family else ""
        print(f"    again: make grid GRID_SEED={self.seed} GRID_POINT={number}{family}"
              f"  (in {os.path.relpath(workshop.folder)})", flush=True)

    def shrink_first(self):
        """Shrinks the first failure of each family."""
        told = set()
        for number, name, spec in self.failed:
            if name in told:
                continue
            told.add(name)
            folder = f"shrunk{number}"
            small, wrong = shrink.shrink(spec, FAMILIES[name], lambda f=folder: self.workshop(f),
                                         self.options.shrink_seconds)
            if wrong is None:
                print(f"point {number} was not made smaller, or does not always fail")
                continue
            workshop = self.workshop(folder)
            try:
                FAMILIES[name].check(copy.deepcopy(small), workshop)
            except Exception as error:  # pylint: disable=broad-except
                wrong = str(error)
            graph = small.get("graph") or {}
            if "edges" in graph:
                wrong += f"  [{len(graph['edges'])} edges]"
            print("made smaller:")
            self.tell(number, name, wrong, workshop)

    def run(self):
        print(f"grid: seed {self.seed}, {self.options.jobs} points at a time", flush=True)
        if self.options.point is not None:
            self.try_point(self.options.point)
        else:
            with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
                for worker in [pool.submit(self.work) for _ in range(self.options.jobs)]:
                    worker.result()
        if self.options.shrink_seconds > 0:
            self.shrink_first()
        print(", ".join(f"{count} of {name}" for name, count in self.counts.items() if count))
        total = sum(self.counts.values())
        print(f"{total - len(self.failed)} passed, {len(self.failed)} failed")
        return 1 if self.failed or total == 0 else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--seed", type=int, help="the same seed draws the same points")
    parser.add_argument("--point", type=int, help="run this point alone")
    parser.add_argument("--family", default="", help=f"some of {', '.join(FAMILIES)}")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--failures", type=int, default=MOST_FAILURES, help="stop after so many")
    parser.add_argument("--shrink-seconds", type=float, default=60, help="0: do not shrink")
    build = os.path.join(ROOT, "build/release")
    parser.add_argument("--command", default=os.path.join(build, "slimgraph"))
    parser.add_argument("--checker", default=os.path.join(build, "grid/check_history"))
    parser.add_argument("--folder", default=os.path.join(ROOT, "build/grid"))
    options = parser.parse_args()
    unknown = [name for name in options.family.split(",") if name and name not in FAMILIES]
    if unknown:
        parser.error(f"there is no family {unknown[0]}, only {', '.join(FAMILIES)}")
    options.command, options.checker = map(os.path.abspath, (options.command, options.checker))
    sys.exit(Grid(options).run())


if __name__ == "__main__":
    main()
