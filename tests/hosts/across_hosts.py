#!/usr/bin/env python3
"""Jobs across four hosts give the same answers as on one machine, and end with one clear error when
a host or a link fails. Needs root, since the hosts are network namespaces. Skips all tests if these
cannot be made."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback

from hosts import Hosts
from pools import Failed, PoolTests, expect
from slurm import Skipped, SlurmTests

COMMAND = os.environ["TEST_SLIMGRAPH_COMMAND"]
LIMIT_S = 10  # from a fault to the end of the job
JOBS = {
    "bfs": ["bfs", "GRAPH", "--source", "1"],
    "pagerank": ["pagerank", "GRAPH", "--iterations", "5"],
    "cc": ["cc", "GRAPH"],
    "triangles": ["triangles", "GRAPH"],
}


def on_one_machine(words):
    done = subprocess.run([COMMAND, *words, "--json"], capture_output=True, text=True, check=True)
    return answer(done.stdout)


def answer(out):
    """The result without fields that depend on push or pull, and rounded, since the order of
    additions varies."""
    result = json.loads(out)["result"]
    for field in ("steps", "pulls"):
        result.pop(field, None)
    return {name: round(value, 9) if isinstance(value, float) else value
            for name, value in result.items()}


class Tests(PoolTests, SlurmTests):
    def __init__(self, graph):
        self.graph = graph
        self.count = on_one_machine(["triangles", graph])["count"]

    def words(self, name):
        return [self.graph if word == "GRAPH" else word for word in JOBS[name]]

    def right_answer(self, hosts, name, transport, per_host=1):
        words = self.words(name)
        job = hosts.start([*words, "--compute", "2", "--transport", transport, "--json"], per_host)
        code = job.wait()
        expect(code == 0, f"{name} over {transport} ended with {code}: {job.err}")
        found, expected = answer(job.out), on_one_machine(words)
        expect(found == expected, f"{name} over {transport} says {found}, not {expected}")

    def clear_errors(self, fault):
        for transport in ("tcp", "mpi"):
            self.clear_error(fault, transport,
                             ["scan", self.graph, "--repeat", "1000000000", "--compute", "2"])

    def clear_error(self, fault, transport, words):
        """Starts a job that would run for hours, and injects a fault while it works."""
        with Hosts(4) as hosts:
            job = hosts.start([*words, "--transport", transport])
            job.await_error("the job takes")
            time.sleep(0.5)
            start_s = time.monotonic()
            fault(hosts)
            while hosts.nodes() and time.monotonic() < start_s + LIMIT_S:
                time.sleep(0.1)
            took_s = time.monotonic() - start_s
            code = job.wait(1)  # mpiexec itself waits for a host that it cannot reach
            expect(not hosts.nodes(), f"not over {LIMIT_S} s after the fault: {job.err}")
            expect(code != 0, "ended with 0")
            lines = re.findall(r"^slimgraph: node \d.*", job.err, re.M)
            expect(len(lines) == 1, f"said {lines or job.err}")
            print(f"    {transport}, {took_s:.1f} s: {lines[0]}")

    def test_answers_over_tcp(self):
        with Hosts(4) as hosts:
            for name in JOBS:
                self.right_answer(hosts, name, "tcp")

    def test_answers_of_several_nodes_on_each_host(self):
        with Hosts(2) as hosts:
            for name in ("bfs", "triangles"):
                self.right_answer(hosts, name, "tcp", per_host=2)

    def test_answers_over_mpi(self):
        with Hosts(4) as hosts:
            for name in ("bfs", "triangles"):
                self.right_answer(hosts, name, "mpi")

    def test_answers_over_a_slow_link(self):
        with Hosts(4, rate="100mbit") as hosts:
            self.right_answer(hosts, "pagerank", "tcp")

    def test_answers_with_a_slow_host(self):
        with Hosts(4, slow=3) as hosts:
            self.right_answer(hosts, "bfs", "tcp")

    def test_store_of_a_program(self):
        """All checks of a GraphStore, by a program that runs on two of four hosts."""
        if "TEST_SESSION" not in os.environ:
            raise Failed("TEST_SESSION names no program")
        with Hosts(4) as hosts, tempfile.TemporaryDirectory() as folder:
            job = hosts.start(
                ["--gtest_also_run_disabled_tests", "--gtest_filter=*LaunchedStore.Everything"],
                program=os.environ["TEST_SESSION"], TEST_STORE_SEED="7", TEST_STORE_FOLDER=folder,
                TEST_STORE_PROTOCOL="occ", TEST_STORE_COMPUTE="2")
            code = job.wait()
            expect(code == 0, f"ended with {code}: {job.out} {job.err}")
            expect(os.listdir(folder), "it has made no store")  # its nodes print only failures

    def test_link_of_a_memory_host_is_cut(self):
        self.clear_errors(lambda hosts: hosts.cut(4))

    def test_link_of_a_compute_host_is_cut(self):
        self.clear_errors(lambda hosts: hosts.cut(2))

    def test_messages_between_two_hosts_are_cut(self):
        """Node 0 still reaches all hosts, so that the job learns of it from these two alone."""
        self.clear_error(lambda hosts: hosts.cut_between(3, 4), "tcp",
                         ["pagerank", self.graph, "--iterations", "1000000000", "--compute", "4"])

    def test_node_is_killed(self):
        self.clear_errors(lambda hosts: hosts.signal(3, signal.SIGKILL, only="slimgraph"))

    def test_host_stops_and_is_killed(self):
        def fault(hosts):
            hosts.signal(4, signal.SIGSTOP)
            time.sleep(6)
            hosts.kill(4)
        self.clear_errors(fault)


NAMES = [name for name in dir(Tests) if name.startswith("test_")]


def main():
    try:
        with Hosts(1):
            pass
    except (OSError, RuntimeError) as error:
        print(f"skipped: hosts cannot be made here: {error}")
        print(f"0 passed, 0 failed, {len(NAMES)} skipped")
        return 0
    wanted = sys.argv[1:]
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory(prefix="slimgraph-hosts-") as directory:
        graph = os.path.join(directory, "kron.slim")
        subprocess.run([COMMAND, "gen", "kron", "-s", "13", "-o", graph], check=True,
                       stdout=subprocess.DEVNULL)
        tests = Tests(graph)
        for name in NAMES:
            if wanted and name not in wanted:
                continue
            start_s = time.monotonic()
            try:
                getattr(tests, name)()
                passed += 1
                print(f"ok      {name} ({time.monotonic() - start_s:.1f} s)", flush=True)
            except Skipped as reason:
                skipped += 1
                print(f"skipped {name}: {reason}", flush=True)
            except Failed as reason:
                failed += 1
                print(f"FAILED  {name}: {reason}", flush=True)
            except (OSError, RuntimeError):
                failed += 1
                print(f"FAILED  {name}: {traceback.format_exc()}", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
