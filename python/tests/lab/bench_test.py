#!/usr/bin/python3
"""How benches run: rows in turn, bars, verification, and their ends."""
import contextlib
import io
import os
import tempfile
import types
import unittest
from unittest import mock

import counted  # first: it finds the package

from slimgraph.lab.bench import Bench, run_bench
from slimgraph.lab.failure import Failure

# Prints its first word as the count, and a peak that depends on the shape.
FAKE = """#!/bin/sh
case "$*" in *limited*) echo 'slimgraph: nodes cannot be limited here: why' >&2; exit 4 ;; esac
peak=10; case "$*" in *'--nodes 4 --compute 2'*) peak=100 ;; esac
echo "{\\"result\\":{\\"count\\":\\"$1\\"},\\"verified\\":false,
  \\"memory\\":{\\"announced_bytes\\":[10000000],\\"peak_bytes\\":[${peak}00000]}}"
"""
BENCH = """
def declare(parser):
    parser.add_argument("--claim", default="a")
def one(bench):
    bench.tell(bench.options.claim, 2.5, 2, True, "/s")
    bench.tell("b", 2.5, 2, False)
def limited(bench):
    bench.report_with_shares(4, 25, ["limited"])
PARTS = {"one": one, "limited": limited}
"""


class Benches(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="slimgraph-bench-test-")
        self.addCleanup(self.scratch.cleanup)
        fake = self.file("fake", FAKE)
        os.chmod(fake, 0o755)
        environment = mock.patch.dict(os.environ, {"TEST_SLIMGRAPH_COMMAND": fake})
        environment.start()
        self.addCleanup(environment.stop)
        self.bench = Bench("b", types.SimpleNamespace(rounds=3), self.scratch.name)

    def file(self, name, text):
        path = os.path.join(self.scratch.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_measures_alternate_and_medians_are_taken(self):
        calls, values = [], {"a": [3, 1, 2], "b": [5, 9, 7]}

        def measure(name):
            calls.append(name)
            return values[name].pop(0)
        medians = self.bench.in_turn({"a": lambda: measure("a"), "b": lambda: measure("b"),
                                      "none": lambda: None})
        self.assertEqual((calls, medians), (list("ababab"), {"a": 2, "b": 7, "none": None}))

    def test_slow_measures_run_once_and_the_limit_ends_the_rounds(self):
        slow, fast = [], []
        self.bench.in_turn({"slow": lambda: slow.append(1) or 11, "f": lambda: fast.append(1) or 1})
        self.assertEqual((len(slow), len(fast)), (1, 3))
        self.bench.in_turn({"f": lambda: fast.append(1) or 1}, limit_s=0)
        self.assertEqual(len(fast), 4)

    def test_different_results_end_the_bench(self):
        self.bench.verify_same(["x", "1"], ["x", "2"])
        with self.assertRaisesRegex(Failure, "'count': 'y'"):
            self.bench.verify_same(["x"], ["y"])
        with self.assertRaisesRegex(Failure, "was not verified"):
            self.bench.report("txn", "run")

    def test_memory_bars(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.bench.memory("t", "g", [(["bfs"], True), (["cc"], False)])
        rows = out.getvalue().splitlines()[1:]
        self.assertEqual(len(rows), 8)
        self.assertEqual(sum("ANNOUNCED FAR MORE" in row for row in rows), 3)
        self.assertNotIn("TOOK MORE", out.getvalue())
        self.assertEqual(self.bench.missed, 3)

    def run_bench(self, *words):
        with contextlib.redirect_stdout(io.StringIO()) as out, \
                contextlib.redirect_stderr(io.StringIO()) as errors:
            code = run_bench([*words])
        return code, out.getvalue(), errors.getvalue()

    def test_a_file_has_parts_options_and_bars(self):
        file = self.file("mine.py", BENCH)
        code, out, _ = self.run_bench(file, "--claim", "c")
        self.assertEqual(code, 0)
        self.assertIn("met    c: 2.5/s, bar at least 2/s\nMISSED b: 2.5, bar at most 2\n", out)
        self.assertIn("limited: not measured, because nodes cannot be limited here", out)
        self.assertIn("1 bars missed", out)
        self.assertNotIn("not measured", self.run_bench(file, "one")[1])
        self.assertEqual(self.run_bench(self.file("f.py", BENCH + "FAILS = True\n"), "one")[0], 1)

    def test_wrong_usage_is_one_line(self):
        file = self.file("mine.py", BENCH)
        for code, words in ((2, []), (2, [file, "luck"]), (3, ["/none.py"])):
            end = self.run_bench(*words)
            self.assertEqual((end[0], end[2].count("\n")), (code, 1), end)


if __name__ == "__main__":
    counted.main()
