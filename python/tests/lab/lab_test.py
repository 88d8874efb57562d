#!/usr/bin/python3
"""Statistics, stored runs, verification, the runner, and how the command starts the lab."""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import counted  # first: it finds the package

from slimgraph import lab
from slimgraph.lab import __main__ as command
from slimgraph.lab.child import run_child
from slimgraph.lab.failure import ENVIRONMENT, INPUT, USAGE, Failure
from slimgraph.lab.raw import RawRun, RunLog, read_runs
from slimgraph.lab.reports import answers_of, measures_of, value_at
from slimgraph.lab.runner import RunnerOptions, run_studies
from slimgraph.lab.spread import parse_bytes, short_number, spread_of
from slimgraph.lab.studies import STUDIES, make, makers
from slimgraph.lab.study import Graph, Group, Point, Results, Settings, Study, compare_results

# A command that prints a report; its words choose what happens. It logs each call.
FAKE = """#!/bin/sh
echo "$*" >>"$0.log"
case "$*" in
  *fail*) echo "slimgraph: it fails" >&2; exit 3 ;;
  *slow*) exec sleep 60 ;;
  *broken*) echo 'no JSON' ;;
  *) echo '{"schema":2,"time":{"run_s":1},"result":{"count":7}}' ;;
esac
"""


class Scratch(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="slimgraph-lab-")
        self.addCleanup(shutil.rmtree, self.folder)

    def file(self, name, text=None, mode=0o644):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(path, mode)
        return path

    def read(self, name):
        with open(self.file(name), encoding="utf-8") as file:
            return file.read()


class Spreads(unittest.TestCase):
    def test_of_few_samples_it_is_their_range(self):
        self.assertEqual(spread_of([3, 1, 2]), lab.Spread(2, 1, 3, 3))
        self.assertEqual(spread_of([4, 2]).median, 3)

    def test_contains_the_true_median_nine_times_in_ten(self):
        seed = random.randrange(1 << 32)
        draw = random.Random(seed)
        for count in (5, 7, 10, 15, 31):
            held = of_less = 0
            for _ in range(2000):
                samples = [draw.lognormvariate(0, 1) for _ in range(count)]  # the median is 1
                spread = spread_of(samples)
                held += spread.low <= 1 <= spread.high
                of_less += spread.low > min(samples)
            self.assertGreaterEqual(held, 2000 * 0.87, f"{count} samples, seed {seed}")
            if count >= 10:
                self.assertGreater(of_less, 1000, f"{count} samples, seed {seed}: outliers count")

    def test_is_tight_from_three_samples_on(self):
        self.assertFalse(spread_of([1, 1]).is_tight())
        self.assertTrue(spread_of([1, 1, 1.05]).is_tight())
        self.assertFalse(spread_of([1, 1, 1.2]).is_tight())
        self.assertTrue(spread_of([0, 0, 0]).is_tight())

    def test_numbers_are_short(self):
        self.assertEqual([short_number(n) for n in (1234567, 0.00012, 1e-7, 0, 1234, 12345, 2.5e9)],
                         ["1.23 M", "0.00012", "1.0e-07", "0", "1234", "12.3 k", "2.5 G"])
        self.assertEqual([parse_bytes(text) for text in ("64K", "1.5GiB", "4096", "5B", "x", "")],
                         [65536, 1.5 * 2 ** 30, 4096, 5, None, None])


class Reports(unittest.TestCase):
    def test_lists_by_node_are_combined(self):
        report = {"memory": {"peak_bytes": [3, 5]}, "cpu_s": {"compute": [1, 2], "memory": [4]}}
        self.assertEqual(value_at(report, "/memory/peak_bytes"), 5)
        self.assertEqual(value_at(report, "/cpu_s/compute"), 3)
        self.assertEqual(value_at(report, "/cpu_s"), 7)
        self.assertIsNone(value_at(report, "/time/run_s"))

    def test_repeated_computations_are_samples(self):
        report = {"time": {"run_s": 2, "runs_s": [1, 2, 3]}, "traffic": {"bytes": 9}}
        self.assertEqual({one.path: one.samples for one in measures_of(report)},
                         {"time/run_s": [1, 2, 3], "traffic/bytes": [9]})

    def test_results_of_transactions_are_no_answers(self):
        result = {"result": {"count": 3, "steps": 4}}
        self.assertEqual(answers_of({"command": "bfs", **result}), {"result/count": 3})
        self.assertEqual(answers_of({"command": "txn run", **result}), {})


class RawRuns(Scratch):
    def test_an_incomplete_last_line_is_cut_off(self):
        run = RawRun("s", "bfs g", "b", "i", "now", 2)
        head = {"schema": 2, "command": "experiment"}
        log = RunLog(self.folder, "s")
        log.add(head, run, '{"command":"bfs","time":{"run_s":1}}')
        log.add(head, run, '{"command":"bfs","time":{"run_s":3}}')
        whole = self.read("raw/s.jsonl")
        for cut in range(1, len(whole) // 2, 7):
            self.file("raw/s.jsonl", whole[:-cut])
            self.assertEqual(len(read_runs(self.folder)), 1)
            log.close()
            log = RunLog(self.folder, "s")
            self.assertEqual([(run.point, run.seconds, run.report["time"]) for run in log.runs],
                             [("bfs g", 2, {"run_s": 1})])
            log.add(head, run, '{"command":"bfs","time":{"run_s":3}}')
            self.assertEqual(self.read("raw/s.jsonl"), whole)
        log.close()

    @unittest.skipUnless(not command.missing_packages(), "packages are missing")
    def test_open_as_a_data_frame(self):
        log = RunLog(self.folder, "s")
        for seconds in (1, 3):
            log.add({"schema": 2}, RawRun("s", "bfs g", "b", verified=True),
                    json.dumps({"time": {"run_s": seconds}, "memory": {"peak_bytes": [4, 6]}}))
        log.close()
        frame = lab.load(self.folder)
        self.assertEqual(frame.groupby("point")["time/run_s"].median()["bfs g"], 2)
        self.assertEqual(list(frame["round"]), [1, 2])
        self.assertEqual(list(frame["memory/peak_bytes"]), [6, 6])
        self.assertTrue(frame["verified"].all())


class Verification(unittest.TestCase):
    def setUp(self):
        self.study, self.results = Study("s", "", "", [], lambda _: []), Results()

    def counted(self, line, count):
        point = Point("", line.split())
        self.study.groups.append(Group("", [point]))
        self.results.add(point.line, {"result": {"count": count}})
        return point.line

    def test_points_that_agree_verify_each_other(self):
        self.counted("match g.slim --pattern wedge --nodes 1", 5)
        last = self.counted("match g.slim --pattern wedge --nodes 4", 5)
        compare_results(self.study, self.results)
        self.assertEqual(self.results.failures, {})
        self.assertIn(last, self.results.verified)

    def test_points_that_disagree_are_withdrawn(self):
        self.counted("match g.slim --pattern wedge --nodes 1", 5)
        last = self.counted("match g.slim --nodes 4 --pattern wedge", 6)
        compare_results(self.study, self.results)
        self.assertEqual(len(self.results.failures), 2)
        self.assertEqual(self.results.rounds(last), 0)

    def test_other_patterns_sizes_and_graphs_are_other_questions(self):
        lines = ["match g.slim --pattern triangle", "match g.slim --pattern diamond",
                 "match g.slim --pattern diamond --induced vertex",
                 "match h.slim --pattern diamond",
                 "cliques g.slim -k 4", "cliques g.slim -k 5"]
        for count, line in enumerate(lines):
            self.counted(line, count)
        compare_results(self.study, self.results)
        self.assertEqual((self.results.failures, self.results.verified), ({}, set()))

    def test_commands_with_verify_are_known(self):
        said = subprocess.run([counted.COMMAND, "--help"], capture_output=True, text=True,
                              check=True).stdout
        for name in ("bfs", "sssp", "pagerank", "cc", "bc", "cdlp", "lcc", "kcore"):
            self.assertIn(f"\n  {name} ", said)
            self.assertTrue(Point("", [name]).can_verify())
        self.assertFalse(Point("", ["triangles"]).can_verify())


class Running(Scratch):
    def run_points(self, *lines, budget_s=30, rounds=2, build="b"):
        fake = self.file("fake", FAKE, 0o755)
        groups = [Group("g", [Point("", line.split()) for line in lines])]
        study = Study("s", "", "", groups, lambda _: [])
        totals = run_studies([study], RunnerOptions(self.folder, fake, budget_s, rounds, [], build))
        return totals, totals.results["s"]

    def calls(self):
        return self.read("fake.log").splitlines()

    def test_points_alternate_and_are_verified_once(self):
        totals, results = self.run_points("bfs g", "lcc g", "txn run")
        self.assertEqual(self.calls(), [
            "bfs g --json --verify", "bfs g --json", "lcc g --json --verify", "lcc g --json",
            "txn run --json", "bfs g --json", "lcc g --json", "txn run --json"])
        self.assertEqual((totals.measured, totals.runs, totals.end), (3, 6, "tight"))
        self.assertEqual(results.verified, {"bfs g", "lcc g"})

    def test_earlier_runs_count_unless_the_build_has_changed(self):
        self.run_points("bfs g")
        before = len(self.calls())
        totals, results = self.run_points("bfs g")
        self.assertEqual((len(self.calls()), totals.earlier), (before, 2))
        self.assertEqual(results.verified, {"bfs g"})
        totals, _ = self.run_points("bfs g", build="other")
        self.assertEqual((totals.earlier, totals.left_out, totals.runs), (0, 2, 2))

    def test_a_tight_group_ends_before_its_last_round(self):
        totals, _ = self.run_points("triangles g", rounds=9)
        self.assertEqual(totals.runs, 3)

    def test_failures_are_told_and_others_go_on(self):
        totals, results = self.run_points("txn fail", "txn broken", "txn run")
        self.assertEqual(results.failures["txn fail"], "it fails")
        self.assertIn("is not JSON", results.failures["txn broken"])
        self.assertEqual(totals.measured, 1)

    def test_a_program_that_does_not_exist_fails_its_point_alone(self):
        none = self.file("none")
        end = run_child([none], 1)
        self.assertEqual((end.code, end.last_line),
                         (ENVIRONMENT, f"cannot start {none}: No such file or directory"))

    def test_a_slow_point_does_not_outlast_the_budget(self):
        begin_s = time.monotonic()
        totals, results = self.run_points("txn slow", budget_s=0.3)
        self.assertLess(time.monotonic() - begin_s, 30)  # not the 60 s that it would take
        self.assertEqual((totals.too_long, totals.measured), (1, 0))
        self.assertIn("a larger --budget", results.failures["txn slow"])

    def test_a_child_ends_with_all_its_processes(self):
        end = run_child(["sh", "-c", "sleep 60 & echo $!; trap '' TERM; wait; sleep 60"], 0.2)
        self.assertTrue(end.timed_out)
        self.assertEqual(end.code, 128 + 9)  # it ignores SIGTERM
        with open(f"/proc/{int(end.out)}/stat", encoding="ascii") if os.path.exists(
                f"/proc/{int(end.out)}") else open(os.devnull, encoding="ascii") as stat:
            self.assertIn(stat.read().split(")")[-1].split()[:1], ([], ["Z"]))


class Studies(Scratch):
    GRAPH = Graph("/g.slim", "g", "s", "1", 10, store="/g.store")

    def test_the_help_of_the_command_names_them(self):
        said = subprocess.run([counted.COMMAND, "experiment", "--help"], capture_output=True,
                              text=True, check=True).stdout
        places = [said.find(f"{name}: ") for name in STUDIES]
        self.assertNotIn(-1, places)
        self.assertEqual(places, sorted(places))

    def test_lines_of_points_are_unique_in_a_group_and_figures_need_no_results(self):
        for study in make("all", Settings([self.GRAPH], plain_program="plain")):
            self.assertTrue(study.groups, study.name)
            for group in study.groups:
                lines = [point.line for point in group.points]
                self.assertEqual(len(set(lines)), len(lines), f"{study.name}, {group.name}")
            self.assertTrue(all(one.answer.endswith(".") for one in study.figures(Results())))

    def test_elasticity_is_also_cold_and_short_of_cache(self):
        study = make("elasticity", Settings([self.GRAPH]))[0]
        lines = [point.line for point in study.groups[0].points]
        self.assertEqual(len(lines), 11)
        self.assertEqual(sum("--repeat" not in line for line in lines), 4)
        self.assertEqual(sum("--edge-cache 5%" in line for line in lines), 3)

    def test_nothing_is_no_ratio(self):
        study = make("elasticity", Settings([self.GRAPH], nodes=2))[0]
        results = Results()
        for group in study.groups:
            for point in group.points:
                alone = "--compute 1" in point.line
                results.add(point.line, {"time": {"run_s": 1},
                                         "traffic": {"bytes": 0 if alone else 100}})
        answers = {figure.title: figure.answer for figure in study.figures(results)}
        self.assertEqual(answers["g: bytes that cross between nodes"],
                         "One compute node of 2 takes none of the bytes in 8 applications.")
        self.assertEqual(answers["g: time"], "Against N/C times the time of (2,2), (2,1) takes "
                         "0.50 x (0.50 to 0.50 over 8 applications).")

    def test_a_file_can_define_one(self):
        mine = self.file("mine.py", """
from slimgraph.lab import Group, Point, Study
def study(settings):
    return Study("mine", "", "", [Group("g", [Point("", ["info"])])], lambda results: [])
""")
        self.assertEqual(make(mine, Settings())[0].name, "mine")
        for text, says in (("1 +", "SyntaxError"), ("", "no function study")):
            with self.assertRaisesRegex(Failure, says) as raised:
                makers(self.file("bad.py", text))
            self.assertEqual(raised.exception.code, INPUT)
        with self.assertRaises(Failure) as raised:
            makers("luck")
        self.assertEqual(raised.exception.code, USAGE)


class Starting(Scratch):
    def compare(self, program, **environment):
        runs = self.file("runs", '{"command":"bfs","time":{"run_s":1}}')
        return subprocess.run([program, "compare", runs, runs], capture_output=True, text=True,
                              check=False, env={**os.environ, **environment})

    def test_without_python_one_line_says_so(self):
        done = self.compare(counted.COMMAND, PATH=self.folder)
        self.assertEqual(done.returncode, ENVIRONMENT)
        self.assertIn("install Python 3", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_files_of_the_current_folder_are_no_modules(self):
        self.file("json.py", "raise SystemExit('the wrong module')")
        there = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, there)
        self.assertEqual(self.compare(counted.COMMAND).stderr, "")

    def test_without_the_package_one_line_says_so(self):
        program = shutil.copy(counted.COMMAND, self.file("slimgraph"))
        done = self.compare(program)
        self.assertEqual(done.returncode, ENVIRONMENT)
        self.assertIn("slimgraph.lab is neither near", done.stderr)

    def test_finds_the_package_in_a_prefix_and_in_a_virtual_environment(self):
        source = f"{counted.TREE}/python/slimgraph"
        for place in ("share/slimgraph/python", "lib/python3.11/site-packages"):
            prefix = tempfile.mkdtemp(dir=self.folder)
            shutil.copytree(source, f"{prefix}/{place}/slimgraph")
            os.mkdir(f"{prefix}/bin")
            os.symlink(sys.executable, f"{prefix}/bin/python3")
            done = self.compare(shutil.copy(counted.COMMAND, f"{prefix}/bin/slimgraph"),
                                **({"PATH": self.folder} if "lib" in place else {}))
            self.assertEqual((done.returncode, done.stderr), (0, ""), place)
            os.unlink(f"{prefix}/bin/slimgraph")

    def test_missing_packages_are_named(self):
        with mock.patch.dict(command.NEEDED, {"no_such_module": "python3-none"}), \
                mock.patch.object(command, "SYSTEM_PYTHON", sys.executable), \
                self.assertRaisesRegex(Failure, "no_such_module.*python3-none") as raised:
            command.check_packages("the test")
        self.assertEqual(raised.exception.code, ENVIRONMENT)

    def test_a_failure_is_an_object_too(self):
        done = subprocess.run([counted.COMMAND, "compare", "/none", "/none", "--json"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, INPUT)
        self.assertEqual(json.loads(done.stdout)["error"]["kind"], "input")


if __name__ == "__main__":
    counted.main()
