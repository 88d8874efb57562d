#!/usr/bin/python3
"""What `slimgraph compare` says about made-up reports."""
import json
import os
import shutil
import tempfile
import unittest

import counted  # first: it finds the package

from slimgraph.lab.compare import ANSWER, BETTER, WORSE, as_report, compare, describe
from slimgraph.lab.failure import INPUT, Failure


class Comparisons(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="slimgraph-compare-")
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, reports):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(report) + "\n" for report in reports)
        return path

    def runs(self, name, times, count=7, vertices=10):
        """A file with a run for each time. All use the same graph, in a folder named after the
        file."""
        return self.write(name, [
            {"schema": 1, "command": "triangles", "options": {"GRAPH": f"/{name}/g"},
             "graph": {"vertices": vertices}, "result": {"count": count}, "time": {"run_s": run_s},
             "traffic": {"bytes": 100}} for run_s in times])

    def test_no_change_within_the_noise(self):
        same = compare(self.runs("a", [1, 1.1, 1.2]), self.runs("b", [1.15, 1.3, 1.1]), 0.05)
        self.assertEqual((same.points, same.measures, same.changes), (1, 2, []))
        self.assertEqual(same.failures(0.05), 0)

    def test_what_is_worse_and_by_how_much(self):
        a, b = self.runs("a", [1, 1.1, 1.2]), self.runs("b", [1.5, 1.3, 1.32])
        worse = compare(a, b, 0.05)
        self.assertEqual([(one.kind, one.measure) for one in worse.changes],
                         [(WORSE, "time/run_s")])
        self.assertAlmostEqual(worse.changes[0].by, 0.2)
        self.assertEqual([worse.failures(0.05), worse.failures(0.25)], [1, 0])
        self.assertIn("WORSE   triangles GRAPH=g\n        time/run_s: 1.1 (1..1.2 of 3) -> 1.32 "
                      "(1.3..1.5 of 3), +20.0 %\n", describe(worse, 0.05))
        self.assertEqual(as_report(worse, 0.05)["changes"][0]["before"]["median"], 1.1)
        faster = compare(b, a, 0.05)
        self.assertEqual((faster.changes[0].kind, faster.failures(0)), (BETTER, 0))

    def test_a_changed_answer_is_a_failure(self):
        other = compare(self.runs("a", [1], 7), self.runs("b", [1], 8), 10)
        self.assertEqual([one.kind for one in other.changes], [ANSWER])
        self.assertEqual(other.failures(10), 1)
        of_another_graph = compare(self.runs("a", [1], 7, 10), self.runs("b", [1], 8, 11), 10)
        self.assertEqual(of_another_graph.failures(10), 0)

    def test_single_runs_are_compared_with_the_threshold(self):
        self.assertEqual(compare(self.runs("a", [1]), self.runs("b", [1.04]), 0.05).changes, [])
        over = compare(self.runs("a", [1]), self.runs("b", [1.06]), 0.05)
        self.assertEqual((over.failures(0.05), over.single_runs), (1, True))

    def test_more_throughput_is_better(self):
        few, many = (self.write(str(rate), [{"command": "txn run",
                                             "result": {"throughput_per_s": rate}}])
                     for rate in (100, 200))
        self.assertEqual(compare(few, many, 0.05).failures(0.05), 0)
        self.assertEqual(compare(many, few, 0.05).failures(0.05), 1)

    def test_files_without_common_or_valid_runs_are_refused(self):
        x = self.write("x", [{"command": "bfs"}, {"command": "cc"}])
        y = self.write("y", [{"command": "bc"}, {"command": "sssp"}])
        bad = self.write("bad", [{"command": "bfs"}])
        with open(bad, "a", encoding="utf-8") as file:
            file.write('{"command":\n')
        for a, b, says in ((x, y, "no run in common"), (x, bad, "bad:2 is not JSON"),
                           (x, self.folder + "/none", "none: No such file"),
                           (self.folder, x, "not the folder of an experiment")):
            with self.assertRaisesRegex(Failure, says) as raised:
                compare(a, b, 0)
            self.assertEqual(raised.exception.code, INPUT)

    def test_both_schemas_are_read(self):
        """Options had no types and no defaults in schema 1."""
        def write(schema, every):
            return self.write(str(schema), [
                {"schema": schema, "command": "cliques", **one, "time": {"run_s": i + 1}}
                for i, one in enumerate(every)])
        one = write(1, [{"options": {"GRAPH": "/a/g", "k": 4, "json": "true", **more}} for more in (
            {"chunk-memory": "64K"}, {}, {"threads": "2"})])
        same = {"GRAPH": "/b/g", "k": 4, "verify": False, "json": True}
        two = write(2, [
            {"options": {**same, "chunk-memory": 65536, "threads": 1},
             "given": ["GRAPH", "k", "chunk-memory", "json"]},
            {"options": {**same, "chunk-memory": 1048576, "threads": 1},
             "given": ["GRAPH", "k", "json"]},
            {"options": {**same, "k": 5, "chunk-memory": 1048576, "threads": 2},
             "given": ["GRAPH", "k", "threads", "json"]}])
        for before, after in ((one, two), (two, one)):
            compared = compare(before, after, 0.05)
            self.assertEqual((compared.points, compared.changes), (2, []))
            self.assertEqual((len(compared.only_before), len(compared.only_after)), (1, 1))
        self.assertEqual(compare(two, two, 0.05).points, 3)


if __name__ == "__main__":
    counted.main()
